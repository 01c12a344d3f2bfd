// workspace_profile.h - a workspace's EMBODIED.md, made from the profile of the driver that has the robot.
#pragma once

#include "app/workspace/context.h"
#include "app/workspace/onboarded_workspace.h"
#include "pons/workspace_live.h"

// An EMBODIED.md that says nothing yet becomes the profile: profiles/DRIVER-WORLD.md or profiles/DRIVER.md of the
// workspace, else of the installation. What a person has written there stays. No profile: it stays empty.
int app_profile_apply(const app_context *c, const char *driver, const char *world,
                      pons_ws_dialect dialect, pons_error *err);
// The same from a profile's file.
int app_profile_apply_file(const app_context *c, const char *path, pons_ws_dialect dialect,
                           pons_error *err);

// Beside a run. *ret_lock: it runs the workspace's actions too; -1: somebody else does, or there are none.
int app_files_lock(const app_context *c, int *ret_lock, pons_error *err);
// The files of a workspace that was onboarded, beside a run with a body of this driver and world; o has the
// rest. *ret NULL: it was not, and nothing is written.
int app_files_open(const app_context *c, const char *driver, const char *world,
                   pons_ws_live_options *o, pons_ws_live **ret, pons_error *err);
void app_files_close(pons_ws_live **files, int *lock);
