// cmd_fleet.c - `pons fleet …`: many robots, one orchestrator.
#include "cli/fleet/fleet.h"

#include <string.h>

static const struct {
    const char *name;
    int (*run)(cli *c, pons_error *err);
} words[] = {
    {"run", cli_fleet_run},       {"status", cli_fleet_status},   {"assign", cli_fleet_assign},
    {"cancel", cli_fleet_cancel}, {"settle", cli_fleet_settle},   {"clear", cli_fleet_clear},
    {"block", cli_fleet_block},   {"unblock", cli_fleet_unblock}, {"simulate", cli_fleet_simulate},
    {"map", cli_fleet_map},
};

int cmd_fleet(cli *c, pons_error *err)
{
    const char *word = c->argc > 0 ? c->argv[0] : "";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].name) == 0) {
            c->argc--;
            c->argv++;
            return words[i].run(c, err);
        }
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return cli_parse(c, NULL, err);
    }
    return cli_bad(err,
                   "fleet: use run, status, assign, cancel, settle, clear, block, unblock, "
                   "simulate or map, not '%s'",
                   word);
}
