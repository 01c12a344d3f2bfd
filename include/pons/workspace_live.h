// workspace_live.h - a workspace's files beside a run: what it does is shown in them, and what people write into
// them is said to it.
//
//     the run's events ---> ACTION.md   each skill that is asked for, pending, running, then its end
//                           TASK.md     the goals of the task that is under way, and the progress
//                           ENVIRONMENT.md  the robot's own entry, once a second and at each end
//     its judge ----------> LESSONS.md  (workspace_critic.h)
//     people's edits -----> words       a pending action or subtask is said to the run as a goal
//
// What a run shows is claimed by it, so that a watchdog of the same workspace leaves it alone. Two may write in a
// folder at the same time. One thread.
#pragma once

#include "pons/clock.h"
#include "pons/linkage.h"
#include "pons/workspace.h"

PONS_C_BEGIN

typedef struct pons_ws_live pons_ws_live;

typedef struct pons_ws_live_options {
    const char *dir;
    const char *robot_id;    // the body's entry of ENVIRONMENT
    const char *who;         // in claimed_by: the thread
    pons_ws_dialect dialect; // of files that are made
    pons_clock clock;
    bool hal;     // this process runs the workspace's actions: what the body says of itself and
                  // people's pending actions are its business
    bool no_wait; // as of a place: nobody who is just writing is waited for
    const pons_value *world; // what the body's world has, for ENVIRONMENT; NULL: nothing
    // A person's edit, as a goal in words. NULL: edits are kept and nothing is said.
    int (*say)(void *user, const char *words, pons_error *err);
    int (*cancel)(void *user, const char *task_id, pons_error *err);
    void (*notice)(void *user, const char *file, const char *text); // or NULL
    void *user;
} pons_ws_live_options;

int pons_ws_live_open(const pons_ws_live_options *o, pons_ws_live **ret, pons_error *err);
void pons_ws_live_close(pons_ws_live *l); // writes what is left to write; NULL-safe

// An event of the run, by its type, with what it carries; others are passed over.
void pons_ws_live_event(pons_ws_live *l, const char *type, const pons_value *payload);
// Looks at what people have written, and writes what has changed. When to call it next, in ms.
int pons_ws_live_poll(pons_ws_live *l);
int pons_ws_live_fd(const pons_ws_live *l); // as pons_ws_place_fd

// Holds a skill against the files. Adds to rules ([{rule, message, …}]) what is broken. asked: it is to be done, so
// a refusal is a lesson.
void pons_ws_live_judge(pons_ws_live *l, const char *skill, const pons_value *args, bool asked,
                        pons_value *rules);
bool pons_ws_live_suspended(const pons_ws_live *l,
                            pons_ws_file file); // as pons_ws_place_suspended
// What whoever plans should know, by title: {"…": [items]}; new reference.
pons_value *pons_ws_live_context(pons_ws_live *l);

PONS_C_END
