// run_files.h - the protocol files of a workspace that was onboarded, beside a run.
#pragma once

#include "app/workspace/which_robot.h"
#include "app/workspace/workspace_profile.h"

typedef struct run_files {
    pons_store store;
    const char *thread;
    pons_brain *brain;
    void (*note)(void *user, const char *line);
    void *user;
    int hal_lock;       // -1: somebody else runs the workspace's actions
    pons_ws_live *live; // NULL: the workspace has none
} run_files;

// With the lock, the store, the thread and the brain set.
int run_files_open(run_files *f, const app_context *c, const app_robot *meant,
                   const pons_clock *clock, pons_error *err);
void run_files_close(run_files *f);
