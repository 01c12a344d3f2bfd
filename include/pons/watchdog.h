// watchdog.h - the HAL watchdog: actions of ACTION.md done by a body, one after the other.
//
// What is pending is taken in the file's order: running is written and synced, then the skill is asked
// for under a key that is the action's own, then its end is written, and what is true now goes into
// ENVIRONMENT.md. The critic holds each action against EMBODIED.md first; what it refuses, and what fails, is a
// lesson in LESSONS.md. What somebody else has claimed is left alone. Killed anywhere, the next life asks the body what became of the key: nothing is done
// twice, and what cannot be known is failed with OUTCOME_UNKNOWN.
#pragma once

#include "pons/clock.h"
#include "pons/ext/tool.h"
#include "pons/linkage.h"
#include "pons/workspace.h"

PONS_C_BEGIN

typedef struct pons_hal pons_hal; // one thread

typedef struct pons_hal_options {
    pons_ws_place *place; // opened as PONS_WS_BY_HAL; outlives it
    pons_tools robot;     // the body's skills, and query_world
    pons_clock clock;
    const char *robot_id; // the body's; NULL: "robot_001"
    const char *only;     // actions of this robot alone (and of none); NULL: all
    // What is not one skill: real_execute{nl_task}. Calls of it are named by the
    // action's type, their arguments are its params. ops NULL: such actions are ACTION_NOT_SUPPORTED.
    pons_tools errands;
    // The same of strategy{tree} (watchdog_trees.h): started under the same key, it finds what an earlier life did.
    pons_tools trees;
    // Pictures of the body's cameras: "picture" {depth: true}, answered with {pictures: [{name, rgb, depth?}]}. Taken when
    // the body is there and after each action, into ENVIRONMENT's perception. ops NULL: none.
    pons_tools pictures;
    // The body's own critic, after the workspace's (workspace_critic.h); PONS_EREFUSED and why,
    // PONS_EAGAIN while there is no body. NULL: nobody.
    int (*judge)(void *user, const char *skill, const pons_value *args, char *why, size_t cap);
    // An action's state: started, completed, failed. NULL: nobody asks.
    void (*reported)(void *user, const char *action_id, const char *status,
                     const pons_value *action);
    void *user;
} pons_hal_options;

int pons_hal_open(const pons_hal_options *options, pons_hal **ret, pons_error *err);
void pons_hal_close(pons_hal *h); // NULL-safe; what runs goes on in the body
// Does what can be done without waiting. Returns in how many ms to call it again at the latest.
int pons_hal_step(pons_hal *h);
bool pons_hal_idle(const pons_hal *h); // nothing runs, nothing is pending, the body was observed
size_t pons_hal_failed(const pons_hal *h); // actions that failed in this life

PONS_C_END
