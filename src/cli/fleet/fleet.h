// fleet.h - between the commands of `pons fleet`.
#pragma once

#include "cli/cli.h"

int cli_fleet_onboard(cli *c, int dialect, pons_error *err); // fleet_onboard.c; a pons_ws_dialect
