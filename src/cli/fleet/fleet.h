// fleet.h - between the commands of `pons fleet`.
#ifndef PONS_CLI_FLEET_H
#define PONS_CLI_FLEET_H

#include "cli/cli.h"

int cli_fleet_onboard(cli *c, int dialect, pons_error *err); // fleet_onboard.c; a pons_ws_dialect

#endif
