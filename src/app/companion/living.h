// living.h - a companion's life in this process, by the clock or simulated.
#pragma once

#include "app/workspace/context.h"
#include "pons/companion.h"

typedef struct app_living_options {
    const char *view, *tree; // files; NULL: the workspace's, else what pons ships
    const char *llm;
    bool simulated;
    double days;          // 0: no end
    const char *from;     // where the simulation begins; NULL: where the life is, else now
    const uint64_t *seed; // NULL: that of the life that is there, else 1
    double speed;         // simulated minutes a real minute; 0: as fast as it goes
    bool waits;           // for a store that cannot write, as long as it takes
    const volatile sig_atomic_t *ended;
    void (*event)(void *user, const pons_world_view *view, const pons_value *ev);
    // The world view has changed: why NULL: it is lived by from here on; else the old one stays.
    void (*changed)(void *user, const pons_error *why);
    void (*idle)(void *user); // before it sleeps
    void (*end)(void *user, const pons_world_view *view, const pons_value *state);
    void *user;
} app_living_options;

// Until it is over or is to end. A simulated life that was cut short goes on where it was; one that stands elsewhere than
// where `from` says is begun anew. A life in real time is never replaced: PONS_EBUSY.
int app_living_run(const app_context *c, const app_living_options *o, pons_error *err);
// A file of the workspace when it has its own, else a person's, else the one that pons ships. given NULL: none is named.
int app_world_view_load(const app_context *c, const char *given, pons_world_view **ret,
                        pons_error *err);
