// fleet.h - fleet.yaml, and the robots of a fleet that a shared workspace names.
#pragma once

#include "app/workspace/context.h"
#include "pons/fleet.h"

#include <signal.h>

#define APP_FLEET_CAPABILITIES 32
#define APP_FLEET_THREAD       "fleet" // of the store: words to the orchestrator, who has it
#define APP_FLEET_TASKS        "fleet.tasks"
#define APP_FLEET_LEGS         "fleet.legs"
#define APP_FLEET_NOW          "fleet.now" // "now" and "map": what others may see

typedef struct app_fleet_robot {
    pons_fleet_robot is;
    char driver[64], world[PATH_MAX], profile[PATH_MAX], dir[PATH_MAX], start[PONS_FLEET_NAME_MAX];
    bool enabled;
} app_fleet_robot;

typedef struct app_fleet_file {
    char dir[PATH_MAX]; // the shared workspace
    char map[PATH_MAX];
    app_fleet_robot *robots;
    size_t n;
    char capabilities[APP_FLEET_CAPABILITIES][PONS_FLEET_NAME_MAX];
    size_t n_capabilities;
} app_fleet_file;

// fleet_file.c: reads fleet.yaml of the workspace; faults with file:line:col.
int app_fleet_load(const app_context *c, app_fleet_file *ret, pons_error *err);
void app_fleet_free(app_fleet_file *f);
// "mobile+arm" as bits; PONS_EINVAL: no robot has one of them.
int app_fleet_needs(const app_fleet_file *f, const char *text, uint32_t *ret, pons_error *err);
void app_fleet_needs_text(const app_fleet_file *f, uint32_t bits, char *buf, size_t cap);

// fleet_task.c: a task as its item has it.
pons_value *app_fleet_task_value(const app_fleet_file *f, const pons_fleet_map *map,
                                 const pons_fleet_robot *robots, const pons_fleet_task *t);
int app_fleet_task_read(const app_fleet_file *f, const pons_fleet_map *map,
                        const pons_fleet_robot *robots, size_t n, const pons_value *v,
                        pons_fleet_task *ret, pons_error *err);

// fleet_stop.c: app_reset_body, and pons_stop_send, to every robot of the fleet where the workspace is a fleet's; PONS_OK
// when all whose bodies run have stopped, their latches on the disk.
bool app_fleet_here(const app_context *c);
// The same at the robot of the fleet whose thread this is; *c as it is where it is none.
app_context app_fleet_at(const app_context *c, const char *thread);
int app_stop_robots(const app_context *c, const char *reason, int timeout_ms, pons_error *err);
int app_reset_robots(const app_context *c, pons_error *err);

// orchestrator_page.c: ORCHESTRATOR.md and ROBOTS.md of the shared workspace say how things stand.
typedef struct app_fleet_files app_fleet_files;
int app_fleet_files_open(const app_fleet_file *f, app_fleet_files **ret, pons_error *err);
void app_fleet_files_close(app_fleet_files *files); // NULL-safe
// At most once a second, and only what has changed.
int app_fleet_files_show(app_fleet_files *files, const pons_fleet *fleet, const pons_fleet_map *map,
                         int64_t wall_ms, pons_error *err);

// fleet_status.c: how a fleet stands, from the store, with at most so many ended tasks; and its map.
// PONS_ENOTFOUND: no orchestrator has run here yet.
int app_fleet_look(pons_store store, size_t ended_max, pons_value **ret, pons_error *err);
int app_fleet_look_map(pons_store store, pons_value **ret, pons_error *err);
// fleet_text_task.c: of {id, name, stops?: "kitchen,desk:speak{…}", needs?, payload_kg?, priority?, deadline_s?} the value of
// the word "task", checked. Without stops its name is what is wanted, in words.
int app_fleet_task_of(const app_context *c, const pons_value *wanted, pons_value **ret,
                      pons_error *err);
// fleet_status.c: a word to the orchestrator, durable when it returns: "cancel", "settle", "clear", "block" with an
// `id`.
int app_fleet_say(pons_store store, const char *word, const pons_value *value, pons_error *err);
int app_fleet_post(const app_context *c, const char *kind, const pons_value *value,
                   pons_error *err); // into the store of the workspace

// fleet_run.c: an orchestrator, and a brain for each robot, in this process.
typedef struct app_fleet_run_options {
    bool once; // it ends when no task is left and all robots stand in bays
    bool
        standby; // where another orchestrator leads it waits, and takes over; who has lost the lead waits again
    double speed; // of bodies that have to be started: robot seconds in a second
    const volatile sig_atomic_t *ended;
    // A task, whose state has changed, as its item has it.
    void (*task)(void *user, pons_value *task);
    void *user;
} app_fleet_run_options;
int app_fleet_run(const app_context *c, const app_fleet_run_options *o, pons_error *err);
