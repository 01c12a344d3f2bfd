// onboarded_workspace.h - a workspace that has protocol files: which robot it is, and who runs its actions.
#pragma once

#include "app/workspace/context.h"
#include "pons/workspace.h"

// run/hal.lock, which who runs the workspace's actions holds. *ret: its descriptor. PONS_EBUSY: another has it;
// its pid is in `pid` then.
int app_hal_lock(const app_context *c, int *ret, char pid[32], pons_error *err);
// Which robot the workspace has, by its config.json: {id, driver, world}; and its dialect. Absent: *ret NULL.
int app_workspace_config(const app_context *c, pons_value **ret, pons_ws_dialect *ret_dialect,
                         pons_error *err);

bool app_onboarded(const app_context *c);  // the workspace has protocol files
bool app_hal_served(const app_context *c); // somebody has that lock now
