// fleet_run.c - `pons fleet run`: the orchestrator, and a brain for each robot, in one process.
//
// The store's thread "fleet" is whose lease it has: one orchestrator leads, others wait (--standby) or are
// refused. What the core wants kept is committed under that lease before the command that follows from
// it: tasks, legs, what each robot was given. Words of other processes (assign, cancel, settle, clear)
// come by the thread's inbox, and are taken in the commit that makes them true.
#include "cli/fleet/unit.h"
#include "pons/items.h"
#include "pons/memory.h"
#include "pons/policy.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS    500
#define WAIT_MS    50
#define STANDBY_MS 1000
#define FDS_MAX    256
#define ENDED_MS   (7 * 24 * 3600 * 1000LL) // an ended task's item stays that long
#define OFF_M      1.0                      // from the zone where it is said to be

typedef struct running {
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
    pons_fleet *fleet;
    cli_fleet_files *files;
    int64_t ticked_ms;
    double speed;
    size_t live; // tasks that have not ended
    int failed;  // a commit that failed: nothing goes on
    pons_error why;
    char *now_text; // how things stand, as it was put last
} running;

static volatile sig_atomic_t ended;

static int lead(running *r, bool standby, pons_error *err);
static int open_parts(running *r, pons_error *err);
static int restore(running *r, pons_error *err);
static int loop(running *r, bool once, pons_error *err);
static void close_parts(running *r);
static int take_words(running *r, pons_error *err);
static int put_now(running *r, pons_error *err);
static int put(running *r, const char *ns, const char *key, const pons_value *value, int64_t ttl_ms,
               bool full, int64_t taken, pons_error *err);

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

int cli_fleet_run(cli *c, pons_error *err)
{
    const char *once = NULL, *standby = NULL, *speed = NULL;
    running r = {.c = c, .clock = pons_clock_real(), .speed = 1.0};
    const cli_option options[] = {
        {"--once", NULL, "end when no task is left and all robots stand in bays", &once},
        {"--standby", NULL, "where another orchestrator leads: wait, and take over", &standby},
        {"--speed", "X", "of bodies that have to be started: robot seconds in a second", &speed},
        {NULL, NULL, NULL, NULL}};
    int rc = cli_parse(c, options, err);
    rc = rc < 0 || !speed ? rc : cli_number(speed, "--speed", 0.01, 1000.0, &r.speed, err);
    if (rc >= 0 && c->argc > 0) {
        return cli_bad(err, "fleet run: what is '%s'?", c->argv[0]);
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    rc = rc < 0 ? rc : cli_workspace(c, false, err);
    rc = rc < 0 ? rc : cli_fleet_load(c, &r.file, err);
    rc = rc < 0 ? rc : pons_fleet_map_load(r.file.map, &r.map, err);
    rc = rc < 0 ? rc : cli_store(c, &r.store, err);
    rc = rc < 0 ? rc : lead(&r, standby != NULL, err);
    if (rc >= 0 && !ended) {
        rc = open_parts(&r, err);
        rc = rc < 0 ? rc : restore(&r, err);
        rc = rc < 0 ? rc : loop(&r, once != NULL, err);
    }
    close_parts(&r);
    return rc;
}

static int lead(running *r, bool standby, pons_error *err)
{
    for (bool said = false; !ended; said = true) {
        const int rc = r->store.ops->lease_acquire(r->store.self, CLI_FLEET_THREAD, &r->lease, err);
        if (rc >= 0) {
            r->leads = true;
            return rc;
        }
        if (rc != PONS_EBUSY || !standby) {
            return rc == PONS_EBUSY ? cli_unreached(err) : rc;
        }
        if (!said) {
            cli_err("another orchestrator leads: %s; this one waits\n", err->message);
        }
        poll(NULL, 0, STANDBY_MS);
    }
    return PONS_OK;
}

// ---- what is kept -------------------------------------------------------------------------------

static int put(running *r, const char *ns, const char *key, const pons_value *value, int64_t ttl_ms,
               bool full, int64_t taken, pons_error *err)
{
    const pons_items_options opts = {0};
    const pons_item_put how = {.ttl_ms = ttl_ms, .unsearched = true};
    pons_item_write *w = NULL;
    int rc =
        value ? pons_items_write_put(&opts, pons_wall_ms(&r->clock), ns, key, value, &how, &w, err)
              : PONS_OK;
    if (rc >= 0) {
        const pons_commit commit = {.lease = &r->lease,
                                    .ns = "fleet",
                                    .sync = full ? PONS_SYNC_FULL : PONS_SYNC_NORMAL,
                                    .inbox_taken = &taken,
                                    .n_inbox_taken = taken > 0,
                                    .items = w,
                                    .n_items = w ? 1 : 0};
        rc = r->store.ops->commit(r->store.self, &commit, err);
    }
    free(w);
    return rc;
}

static void must(running *r, int rc)
{
    if (rc < 0 && r->failed >= 0) {
        r->failed = rc;
    }
}

static void on_command(void *user, const pons_fleet_command *c)
{
    running *r = user;
    cli_unit *u = &r->units[c->robot];
    cli_unit_note(u, c);
    pons_autovalue v = cli_unit_value(u, r->map);
    must(r, put(r, CLI_FLEET_ROBOTS, u->robot->is.id, v, -1, true, 0, &r->why));
}

static void on_task(void *user, const pons_fleet_task *t)
{
    running *r = user;
    const bool over = t->state >= PONS_FLEET_DONE;
    pons_autovalue v = cli_fleet_task_value(&r->file, r->map, r->robots, t);
    must(r, put(r, CLI_FLEET_TASKS, t->id, v, over ? ENDED_MS : -1, true, 0, &r->why));
    r->live -= over;
    if (r->c->json) {
        json_object_set_new(v, "type", json_string("task"));
        cli_print_json(v);
    } else {
        cli_out("%s  %s%s%s\n", *t->name ? t->name : t->id, pons_fleet_task_states[t->state],
                t->robot >= 0 ? " " : "", t->robot >= 0 ? r->robots[t->robot].id : "");
    }
    cli_flush();
}

static void on_leg(void *user, int32_t robot, const int32_t *zones, size_t n)
{
    running *r = user;
    pons_value *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_string(pons_fleet_map_zone(r->map, (size_t)zones[i])->id));
    }
    pons_autovalue v = pons_object("zones", list, NULL);
    must(r, put(r, CLI_FLEET_LEGS, r->robots[robot].id, v, -1, false, 0, &r->why));
}

// ---- begun --------------------------------------------------------------------------------------

static int open_parts(running *r, pons_error *err)
{
    r->robots = pons_need_zeroed(r->file.n + 1, sizeof *r->robots);
    r->units = pons_need_zeroed(r->file.n + 1, sizeof *r->units);
    for (size_t i = 0; i < r->file.n; i++) {
        if (r->file.robots[i].enabled) {
            r->robots[r->n++] = r->file.robots[i].is;
        }
    }
    pons_fleet_options o = PONS_FLEET_OPTIONS_INIT;
    o.map = r->map;
    o.moving_max = 1.0;
    o.command = on_command;
    o.task = on_task;
    o.leg = on_leg;
    o.user = r;
    int rc = pons_fleet_create(&o, r->robots, r->n, &r->fleet, err);
    rc = rc < 0 ? rc : cli_config(r->c, &r->config, err);
    rc = rc < 0 ? rc : cli_policy(r->c, &r->policy, err);
    return rc < 0 ? rc : cli_fleet_files_open(&r->file, &r->files, err);
}

// Where a robot begins that has never been anywhere: its `start`, else the park of its number.
static int32_t start_of(const running *r, const cli_fleet_robot *e, size_t number, pons_error *err)
{
    if (*e->start) {
        const int32_t zone = pons_fleet_map_find(r->map, e->start);
        if (zone < 0) {
            cli_bad(err, "robot %s starts in '%s', which map %s has not", e->is.id, e->start,
                    r->file.map);
        }
        return zone;
    }
    for (size_t z = 0; z < pons_fleet_map_size(r->map); z++) {
        if (pons_fleet_map_zone(r->map, z)->kind == PONS_FLEET_PARK && number-- == 0) {
            return (int32_t)z;
        }
    }
    return cli_bad(err, "robot %s: there is no park left to start in", e->is.id);
}

static int by_created(const void *a, const void *b)
{
    const pons_fleet_task *x = a, *y = b;
    return (x->created_ms > y->created_ms) - (x->created_ms < y->created_ms);
}

static int restore_tasks(running *r, const pons_items *items, pons_error *err)
{
    pons_autovalue list = NULL;
    const pons_items_query q = {.prefix = CLI_FLEET_TASKS, .limit = -1};
    int rc = pons_items_search(items, &q, &list, err);
    pons_fleet_task *tasks = pons_need_zeroed(json_array_size(list) + 1, sizeof *tasks);
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list) && rc >= 0; i++) {
        rc = cli_fleet_task_read(&r->file, r->map, r->robots, r->n,
                                 pons_get(json_array_get(list, i), "value"), &tasks[n], err);
        n += rc >= 0 && tasks[n].state < PONS_FLEET_DONE;
    }
    qsort(tasks, n, sizeof *tasks, by_created);
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = pons_fleet_restore_task(r->fleet, &tasks[i], err);
        r->live++;
    }
    free(tasks);
    return rc;
}

static int restore(running *r, pons_error *err)
{
    const pons_items items = {.store = r->store, .clock = r->clock};
    int rc = restore_tasks(r, &items, err);
    for (size_t i = 0, k = 0; i < r->file.n && rc >= 0; i++) {
        const cli_fleet_robot *e = &r->file.robots[i];
        if (!e->enabled) {
            continue;
        }
        pons_autovalue leg = NULL;
        pons_autovalue before = NULL;
        pons_error none = PONS_ERROR_INIT;
        pons_items_get(&items, CLI_FLEET_LEGS, e->is.id, &leg, &none);
        pons_items_get(&items, CLI_FLEET_ROBOTS, e->is.id, &before, &none);
        const pons_value *zones = pons_get(pons_get(leg, "value"), "zones");
        int32_t leg_zones[1024];
        size_t n = 0;
        for (size_t z = 0; z < json_array_size(zones) && n < 1024; z++) {
            const char *id = json_string_value(json_array_get(zones, z));
            const int32_t zone = id ? pons_fleet_map_find(r->map, id) : -1;
            if (zone >= 0) {
                leg_zones[n++] = zone;
            }
        }
        rc = pons_fleet_restore_leg(r->fleet, (int32_t)k, leg_zones, n, err);
        const int32_t start = rc < 0 ? rc : start_of(r, e, k, err);
        rc = start < 0
                 ? PONS_EINVAL
                 : cli_unit_open(&r->units[k], r->c, e, r->store, r->map, start,
                                 pons_get(before, "value"), r->config, r->policy, r->speed, err);
        r->opened = ++k;
    }
    return rc;
}

static void close_parts(running *r)
{
    for (size_t i = 0; i < r->opened; i++) {
        cli_unit_close(&r->units[i]);
    }
    cli_fleet_files_close(r->files);
    pons_fleet_destroy(r->fleet);
    pons_fleet_map_destroy(r->map);
    pons_rules_close(&r->policy);
    pons_value_unref(r->config);
    if (r->leads) {
        r->store.ops->lease_release(r->store.self, &r->lease);
    }
    pons_store_close(&r->store);
    cli_fleet_free(&r->file);
    free(r->robots);
    free(r->units);
    free(r->now_text);
}

// ---- at work ------------------------------------------------------------------------------------

// Where it is by its own word, unless its pose is somewhere else.
static void hear(running *r, size_t i)
{
    const cli_unit *u = &r->units[i];
    const pons_fleet_zone *at = pons_fleet_map_zone(r->map, (size_t)u->at);
    const bool moves = u->open && u->kind == PONS_FLEET_MOVE;
    pons_fleet_report report = {.robot = (int32_t)i,
                                .now_ms = pons_wall_ms(&r->clock),
                                .zone = u->at,
                                .next = moves ? u->to : -1,
                                .battery_pct = u->battery_pct};
    double m = 0.0;
    if (!moves && hypot(u->x - at->x, u->y - at->y) > OFF_M) {
        report.zone = pons_fleet_map_near(r->map, u->x, u->y, &m);
    }
    pons_fleet_hear(r->fleet, &report);
}

static int step_units(running *r, pons_error *err)
{
    for (size_t i = 0; i < r->n; i++) {
        cli_unit *u = &r->units[i];
        const int rc = cli_unit_poll(u, r->map, err);
        if (rc < 0) {
            return rc;
        }
        if (!u->told) {
            continue;
        }
        u->told = false;
        pons_autovalue v = cli_unit_value(u, r->map);
        must(r, put(r, CLI_FLEET_ROBOTS, u->robot->is.id, v, -1, true, 0, &r->why));
        if (u->kind == PONS_FLEET_MOVE) {
            hear(r, i);
        } else {
            pons_fleet_worked(r->fleet, (int32_t)i, u->task, u->stop, u->ok,
                              pons_wall_ms(&r->clock));
        }
    }
    return PONS_OK;
}

static bool at_rest(const running *r)
{
    for (size_t i = 0; i < r->n; i++) {
        pons_fleet_view v;
        pons_fleet_look(r->fleet, (int32_t)i, &v);
        if (v.state != PONS_FLEET_IDLE || v.next >= 0 ||
            pons_fleet_map_zone(r->map, (size_t)v.zone)->kind != PONS_FLEET_PARK) {
            return false;
        }
    }
    return r->live == 0;
}

static int loop(running *r, bool once, pons_error *err)
{
    int rc = PONS_OK;
    while (!ended && rc >= 0) {
        const int64_t now = pons_wall_ms(&r->clock);
        rc = step_units(r, err);
        if (rc >= 0 && (now - r->ticked_ms >= TICK_MS || now < r->ticked_ms)) {
            r->ticked_ms = now;
            rc = take_words(r, err);
            for (size_t i = 0; i < r->n && rc >= 0; i++) {
                if (r->units[i].connected) {
                    hear(r, i);
                }
            }
            pons_fleet_tick(r->fleet, now);
            rc = rc < 0 ? rc : cli_fleet_files_show(r->files, r->fleet, r->map, now, err);
            rc = rc < 0 ? rc : put_now(r, err);
            if (once && rc >= 0 && at_rest(r)) {
                break;
            }
        }
        if (r->failed < 0) {
            *err = r->why;
            return r->failed;
        }
        struct pollfd fds[FDS_MAX];
        size_t n = 0;
        for (size_t i = 0; i < r->n && n + 8 < FDS_MAX; i++) {
            n += pons_brain_fds(r->units[i].brain, fds + n, 8);
        }
        poll(fds, n, WAIT_MS);
    }
    return rc;
}

// How things stand, for `pons fleet status` and pages: at most twice a second, when it has changed.
static int put_now(running *r, pons_error *err)
{
    pons_value *list = json_array();
    for (size_t i = 0; i < r->n; i++) {
        pons_fleet_view v;
        char why[256];
        pons_fleet_look(r->fleet, (int32_t)i, &v);
        pons_fleet_why(r->fleet, (int32_t)i, why, sizeof why);
        json_array_append_new(
            list,
            pons_object("id", json_string(r->robots[i].id), "state",
                        json_string(pons_fleet_robot_states[v.state]), "zone",
                        v.zone >= 0 ? json_string(pons_fleet_map_zone(r->map, (size_t)v.zone)->id)
                                    : json_null(),
                        "next",
                        v.next >= 0 ? json_string(pons_fleet_map_zone(r->map, (size_t)v.next)->id)
                                    : json_null(),
                        "task", v.task ? json_string(v.task->id) : json_null(), "battery_pct",
                        json_integer((json_int_t)v.battery_pct), "why", pons_string(why), NULL));
    }
    pons_autovalue v = pons_object("pid", json_integer(r->lease.pid), "robots", list, NULL);
    char *text = NULL;
    if (pons_value_dump(v, &text) < 0 || (r->now_text && strcmp(text, r->now_text) == 0)) {
        free(text);
        return PONS_OK;
    }
    free(r->now_text);
    r->now_text = text;
    return put(r, "fleet.now", "now", v, -1, false, 0, err);
}

// ---- words --------------------------------------------------------------------------------------

typedef struct word {
    int64_t seq;
    char kind[16];
    pons_value *value;
    bool found;
} word;

static int first_word(void *user, const pons_inbox_row *row)
{
    word *w = user;
    pons_error none = PONS_ERROR_INIT;
    w->found = true;
    w->seq = row->seq;
    snprintf(w->kind, sizeof w->kind, "%s", row->kind);
    pons_value_parse(row->value.data, row->value.len, &w->value, &none);
    return 1;
}

static int obey(running *r, const word *w, pons_error *err)
{
    const int64_t now = pons_wall_ms(&r->clock);
    const char *id = pons_get_str(w->value, "id", "");
    if (strcmp(w->kind, "task") == 0) {
        pons_fleet_task t;
        pons_autovalue there = NULL;
        pons_error none = PONS_ERROR_INIT;
        const pons_items items = {.store = r->store, .clock = r->clock};
        if (pons_items_get(&items, CLI_FLEET_TASKS, id, &there, &none) >= 0) {
            return PONS_OK; // a life was killed between making it and taking the word
        }
        int rc = cli_fleet_task_read(&r->file, r->map, r->robots, r->n, w->value, &t, err);
        r->live += rc >= 0;
        rc = rc < 0 ? rc : pons_fleet_add(r->fleet, &t, err);
        r->live -= rc < 0 && r->live > 0;
        return rc;
    }
    if (strcmp(w->kind, "cancel") == 0) {
        return pons_fleet_cancel(r->fleet, id, now, err);
    }
    if (strcmp(w->kind, "settle") == 0) {
        return pons_fleet_settle(r->fleet, id, pons_get_bool(w->value, "done", false), err);
    }
    for (size_t i = 0; i < r->n && strcmp(w->kind, "clear") == 0; i++) {
        if (strcmp(r->robots[i].id, id) == 0) {
            pons_fleet_clear(r->fleet, (int32_t)i, now);
        }
    }
    return PONS_OK;
}

static int take_words(running *r, pons_error *err)
{
    for (;;) {
        word w = {0};
        int rc = r->store.ops->inbox_read(r->store.self, CLI_FLEET_THREAD, "fleet", 0, first_word,
                                          &w, err);
        if (rc < 0 || !w.found) {
            return rc;
        }
        pons_error why = PONS_ERROR_INIT;
        if (obey(r, &w, &why) < 0) {
            char line[1024];
            cli_err("%s\n", pons_error_line(&why, line, sizeof line));
        }
        pons_value_unref(w.value);
        rc = r->failed < 0 ? r->failed : put(r, NULL, NULL, NULL, 0, true, w.seq, err);
        if (rc < 0) {
            return rc;
        }
    }
}
