// cmd_scenario.c - `pons scenario run`: what each must show, as a table.
#include "cli/cli.h"

int cmd_scenario(cli *c)
{
    (void)c;
    return cli_bad("scenario: not yet");
}
