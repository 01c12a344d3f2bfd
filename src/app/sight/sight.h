// sight.h - what the robot sees, remembered: the process `pons sight`, and who starts it beside a run.
#pragma once

#include "app/workspace/context.h"
#include "pons/object_memory.h"

// Pictures of what was seen, WORKSPACE/run/seen (pons/picture.h).
void app_seen_folder(const app_context *c, char *ret, size_t cap);
// Namespace of the objects in this workspace's store.
void app_objects_space(const app_context *c, char ret[64]);
// config/sight.yaml, checked; the caller's.
int app_sight_config(const app_context *c, pons_value **ret, pons_error *err);
// Detectors of the configuration that have something to look at in this world: the simulated one needs a world with `sight`.
size_t app_sight_detectors(const pons_value *config, const pons_value *world);

// Whether a thing is believed to be there (in the zone, or NULL), seen within this time (negative: ever). line: of the one
// that fits best, as pons_object_line has it, "" where none does; NULL: nobody wants it. Blocks for a read of the store,
// which stays open in *store; the caller's, to begin with all zero and to close.
bool app_seen(const app_context *c, pons_store *store, const char *what, const char *zone,
              double within_s, char *line, size_t cap);

// `pons sight`: hears the workspace's body and tells the memory, until *quit is set. Waits for a body, and for the next when
// one has gone. APP_LACKING, and that was told: there is nothing to look with. PONS_EBUSY: another one is at work here.
int app_sight_run(const app_context *c, const volatile sig_atomic_t *quit, pons_error *err);

// The process as a run's child; what it says goes to run/sight.log.
typedef struct app_sight_child {
    pid_t pid;                  // 0: none runs
    bool wanted;                // there is something to look with
    char space[64];             // where what is seen is kept
    pons_value *config, *world; // read
    int64_t again_ms;           // when it may be started (again)
    int64_t wait_ms;            // for which it was waited the last time
} app_sight_child;

// Whether this workspace's robot looks at anything in this world, and remembers it; what is wrong with the files is no.
bool app_sight_wanted(const app_context *c, const char *world);
// Whether the run's world and configuration have something to look with; a fault of the file is the error.
int app_sight_child_open(app_sight_child *s, const app_context *c, const char *world,
                         pons_error *err);
// Starts it when it does not run and it is time: after a death 1 s later, then 2, 4 … 60.
void app_sight_child_look(app_sight_child *s, const app_context *c, int64_t now_ms);
void app_sight_child_end(app_sight_child *s); // and waits for it; none is fine
