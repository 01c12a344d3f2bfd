// running.h - a fleet that runs, as the files of `pons fleet run` share it.
#ifndef PONS_CLI_FLEET_RUNNING_H
#define PONS_CLI_FLEET_RUNNING_H

#include "cli/fleet/other_robots.h"
#include "cli/fleet/robot_unit.h"
#include "pons/rule_policy.h"

#define CLI_FLEET_BLOCKS "fleet.blocks" // items: zones that people have closed

typedef struct cli_fleet_running {
    cli *c;
    cli_fleet_file file;
    pons_fleet_map *map;
    pons_store store;
    pons_lease lease;
    bool leads;
    pons_clock clock;
    pons_value *config;
    pons_policy policy;
    pons_fleet_robot *robots; // those that are enabled
    cli_unit *units;
    size_t n, opened;
    cli_others *others;
    pons_fleet *fleet;
    cli_fleet_files *files;
    int64_t ticked_ms;
    double speed;
    size_t live;       // tasks that have not ended
    pons_value *works; // {task: what it does at each stop}
    int failed;        // a commit that failed: nothing goes on
    pons_error why;
    char *now_text; // how things stand, as it was put last
} cli_fleet_running;

// running_store.c: what outlives the process. One commit under the lease: an item (value NULL: none; ttl_ms < 0: for
// ever), and with it a word that was taken (0: none).
int cli_fleet_put(cli_fleet_running *r, const char *ns, const char *key, const pons_value *value,
                  int64_t ttl_ms, bool full, int64_t taken, pons_error *err);
// The same, where the caller cannot stop: r->failed says it, and nothing goes on.
void cli_fleet_must(cli_fleet_running *r, const char *ns, const char *key, const pons_value *value,
                    int64_t ttl_ms, bool full);
// The core's words: to be kept.
void cli_fleet_on_command(void *user, const pons_fleet_command *c);
void cli_fleet_on_task(void *user, const pons_fleet_task *t);
void cli_fleet_on_leg(void *user, int32_t robot, const int32_t *zones, size_t n);
// Tasks, legs, blocks and units as they were kept.
int cli_fleet_restore(cli_fleet_running *r, pons_error *err);

// running_requests.c: words of other processes, and how things stand, for them.
int cli_fleet_take_words(cli_fleet_running *r, pons_error *err);
int cli_fleet_put_now(cli_fleet_running *r, pons_error *err);
int cli_fleet_put_map(cli_fleet_running *r, pons_error *err); // once

#endif
