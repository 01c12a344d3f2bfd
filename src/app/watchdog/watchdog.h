// watchdog.h - who carries out the records of a workspace's files: actions of ACTION.md, sessions of SESSIONS.md.
#pragma once

#include "app/workspace/which_robot.h"
#include "pons/ext/tool.h"

#include <signal.h>

typedef struct app_watchdog_options {
    bool once;        // it ends when nothing is pending
    const char *only; // actions of this robot, sessions of this target; NULL: all
    double speed;     // of a body that has to be started, as the seed
    uint64_t seed;
    const volatile sig_atomic_t *ended;
    // An action's or a session's state has changed: its record as the file has it.
    void (*record)(void *user, const char *id, const char *status, const pons_value *record);
    // So many sessions that had ended are gone from the store, and of those that failed.
    void (*pruned)(void *user, int64_t sessions, int64_t failed);
    void *user;
} app_watchdog_options;

// action_runner.c: `pons watchdog hal`. One at a time a workspace: PONS_EENV names the pid that has it.
int app_actions_run(const app_context *c, const app_watchdog_options *o, pons_error *err);
// session_runner.c: `pons watchdog runtime`.
int app_sessions_run(const app_context *c, const app_watchdog_options *o, pons_error *err);

// action_runner.c: the robot's critic, of an action that is to be done: PONS_EREFUSED and why. PONS_EAGAIN: no body is
// connected whose skills could be asked.
int app_watchdog_judge(const pons_tools *robot, const char *skill, const pons_value *args,
                       char *why, size_t cap);

// picture_child.c: pictures of cameras for who must not wait, by `pons body camera` in processes of their own.
// A provider of "picture", one call at a time, of the body of this workspace. Arguments: {cameras: [{name, device?,
// resolution?: [w, h], fps?}], depth?: bool}; without cameras all of the body's world. The answer's data: {dir, pictures:
// [{name, rgb, depth?} | {name, error}]}, files by their paths below dir. PONS_ENOTFOUND: there are no cameras.
int app_pictures_open(const app_context *c, pons_tools *ret, pons_error *err);

// text_tasks.c: actions that are tasks in words, real_execute{nl_task}, each a run of its own.
// A provider of "real_execute". A call is `pons run TASK` on a thread that its key names, in this workspace and with
// its body: the rules or the model plan it, each step is judged, approved and kept as in every run. Killed, the
// next life resumes that thread. Other tasks are refused by name.
int app_text_tasks_open(const app_context *c, pons_tools *ret, pons_error *err);
