// fleet.h - the commands of `pons fleet`.
#ifndef PONS_CLI_FLEET_H
#define PONS_CLI_FLEET_H

#include "cli/cli.h"

int cli_fleet_simulate(cli *c, pons_error *err); // fleet_play.c

#endif
