// running.h - a fleet that runs, as the files of `pons fleet run` share it.
#pragma once

#include "app/fleet/other_robots.h"
#include "app/fleet/robot_unit.h"
#include "pons/rule_policy.h"

#define APP_FLEET_BLOCKS "fleet.blocks" // items: zones that people have closed

typedef struct app_fleet_running {
    const app_context *c;
    const app_fleet_run_options *how;
    app_fleet_file file;
    pons_fleet_map *map;
    pons_store store;
    pons_lease lease;
    bool leads;
    pons_clock clock;
    pons_value *config;
    pons_policy policy;
    pons_fleet_robot *robots; // those that are enabled
    app_unit *units;
    size_t n, opened;
    app_others *others;
    pons_fleet *fleet;
    app_fleet_files *files;
    int64_t ticked_ms;
    size_t live;       // tasks that have not ended
    pons_value *works; // {task: what it does at each stop}
    int failed;        // a commit that failed: nothing goes on
    pons_error why;
    char *now_text; // how things stand, as it was put last
} app_fleet_running;

// running_store.c: what outlives the process. One commit under the lease: an item (value NULL: none; ttl_ms < 0: for
// ever), and with it a word that was taken (0: none).
int app_fleet_put(app_fleet_running *r, const char *ns, const char *key, const pons_value *value,
                  int64_t ttl_ms, bool full, int64_t taken, pons_error *err);
// The same, where the caller cannot stop: r->failed says it, and nothing goes on.
void app_fleet_must(app_fleet_running *r, const char *ns, const char *key, const pons_value *value,
                    int64_t ttl_ms, bool full);
// The core's words: to be kept.
void app_fleet_on_command(void *user, const pons_fleet_command *c);
void app_fleet_on_task(void *user, const pons_fleet_task *t);
void app_fleet_on_leg(void *user, int32_t robot, const int32_t *zones, size_t n);
// Tasks, legs, blocks and units as they were kept.
int app_fleet_restore(app_fleet_running *r, pons_error *err);

// running_requests.c: words of other processes, and how things stand, for them.
int app_fleet_take_words(app_fleet_running *r, pons_error *err);
int app_fleet_put_now(app_fleet_running *r, pons_error *err);
int app_fleet_put_map(app_fleet_running *r, pons_error *err); // once
