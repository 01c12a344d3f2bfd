// onboarded_workspace.h - a workspace that has protocol files: which robot it is, and who runs its actions.
#ifndef CLI_ONBOARDED_H
#define CLI_ONBOARDED_H

#include "cli/cli.h"
#include "pons/workspace.h"

// run/hal.lock, which who runs the workspace's actions holds. *ret: its descriptor. PONS_EBUSY: another has it;
// its pid is in `pid` then.
int cli_hal_lock(const cli *c, int *ret, char pid[32], pons_error *err);
// Which robot the workspace has, by its config.json: {id, driver, world}; and its dialect. Absent: *ret NULL.
int cli_workspace_config(const cli *c, pons_value **ret, pons_ws_dialect *ret_dialect,
                         pons_error *err);

bool cli_onboarded(const cli *c);  // the workspace has protocol files
bool cli_hal_served(const cli *c); // somebody has that lock now

#endif
