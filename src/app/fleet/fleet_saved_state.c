// fleet_saved_state.c - what a fleet that runs keeps: tasks, legs, what each robot was given, zones that people have
// closed; and how the next life begins with it.
#include "app/fleet/running.h"
#include "pons/items.h"
#include "pons/out_of_memory.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_TRIES   100
#define OPEN_WAIT_MS 200
#define ENDED_MS     (7 * 24 * 3600 * 1000LL) // an ended task's item stays that long

// ---- what is kept -------------------------------------------------------------------------------

int app_fleet_put(app_fleet_running *r, const char *ns, const char *key, const pons_value *value,
                  int64_t ttl_ms, bool full, int64_t taken, pons_error *err)
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

void app_fleet_must(app_fleet_running *r, const char *ns, const char *key, const pons_value *value,
                    int64_t ttl_ms, bool full)
{
    const int rc = app_fleet_put(r, ns, key, value, ttl_ms, full, 0, &r->why);
    if (rc < 0 && r->failed >= 0) {
        r->failed = rc;
    }
}

void app_fleet_on_command(void *user, const pons_fleet_command *c)
{
    app_fleet_running *r = user;
    app_unit *u = &r->units[c->robot];
    app_unit_note(u, c, c->task ? json_array_get(pons_get(r->works, c->task->id), c->stop) : NULL);
    pons_autovalue v = app_unit_value(u, r->map);
    app_fleet_must(r, APP_FLEET_ROBOTS, u->robot->is.id, v, -1, true);
}

void app_fleet_on_task(void *user, const pons_fleet_task *t)
{
    app_fleet_running *r = user;
    const bool over = t->state >= PONS_FLEET_DONE;
    pons_autovalue v = app_fleet_task_value(&r->file, r->map, r->robots, t);
    const pons_value *work = pons_get(r->works, t->id);
    if (t->state == PONS_FLEET_FAILED && t->robot >= 0) {
        json_object_set_new(v, "reason", pons_string(r->units[t->robot].why));
    }
    if (work) {
        json_object_set(v, "do", (pons_value *)work);
    }
    app_fleet_must(r, APP_FLEET_TASKS, t->id, v, over ? ENDED_MS : -1, true);
    r->live -= over;
    if (over) {
        json_object_del(r->works, t->id);
    }
    r->how->task(r->how->user, v);
}

void app_fleet_on_leg(void *user, int32_t robot, const int32_t *zones, size_t n)
{
    app_fleet_running *r = user;
    pons_value *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_string(pons_fleet_map_zone(r->map, (size_t)zones[i])->id));
    }
    pons_autovalue v = pons_object("zones", list, NULL);
    app_fleet_must(r, APP_FLEET_LEGS, r->robots[robot].id, v, -1, false);
}

// Where a robot begins that has never been anywhere: its `start`, else the park of its number.
static int32_t start_of(const app_fleet_running *r, const app_fleet_robot *e, size_t number,
                        pons_error *err)
{
    if (*e->start) {
        const int32_t zone = pons_fleet_map_find(r->map, e->start);
        if (zone < 0) {
            app_bad(err, "robot %s starts in '%s', which map %s has not", e->is.id, e->start,
                    r->file.map);
        } else if (pons_fleet_map_zone(r->map, (size_t)zone)->kind == PONS_FLEET_LANE) {
            return app_bad(err, "robot %s starts in '%s', a lane: in others' way", e->is.id,
                           e->start);
        }
        for (size_t i = 0; i < number; i++) {
            if (strcmp(r->units[i].robot->start, e->start) == 0) {
                return app_bad(err, "robots %s and %s start in one zone, '%s'",
                               r->units[i].robot->is.id, e->is.id, e->start);
            }
        }
        return zone;
    }
    for (size_t z = 0; z < pons_fleet_map_size(r->map); z++) {
        if (pons_fleet_map_zone(r->map, z)->kind == PONS_FLEET_PARK && number-- == 0) {
            return (int32_t)z;
        }
    }
    return app_bad(err, "robot %s: there is no park left to start in", e->is.id);
}

static int by_created(const void *a, const void *b)
{
    const pons_fleet_task *x = a, *y = b;
    return (x->created_ms > y->created_ms) - (x->created_ms < y->created_ms);
}

static int restore_tasks(app_fleet_running *r, const pons_items *items, pons_error *err)
{
    pons_autovalue list = NULL;
    const pons_items_query q = {.prefix = APP_FLEET_TASKS, .limit = -1};
    int rc = pons_items_search(items, &q, &list, err);
    pons_fleet_task *tasks = pons_need_zeroed(json_array_size(list) + 1, sizeof *tasks);
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list) && rc >= 0; i++) {
        rc = app_fleet_task_read(&r->file, r->map, r->robots, r->n,
                                 pons_get(json_array_get(list, i), "value"), &tasks[n], err);
        const pons_value *work = pons_get(pons_get(json_array_get(list, i), "value"), "do");
        if (rc >= 0 && tasks[n].state < PONS_FLEET_DONE) {
            if (json_is_array(work)) {
                json_object_set(r->works, tasks[n].id, (pons_value *)work);
            }
            n++;
        }
    }
    qsort(tasks, n, sizeof *tasks, by_created);
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = pons_fleet_restore_task(r->fleet, &tasks[i], err);
        r->live++;
    }
    free(tasks);
    return rc;
}

static int restore_blocks(app_fleet_running *r, const pons_items *items, pons_error *err)
{
    pons_autovalue list = NULL;
    const pons_items_query q = {.prefix = APP_FLEET_BLOCKS, .limit = -1};
    const int rc = pons_items_search(items, &q, &list, err);
    for (size_t i = 0; i < json_array_size(list) && rc >= 0; i++) {
        const pons_value *v = pons_get(json_array_get(list, i), "value");
        const int32_t zone = pons_fleet_map_find(r->map, pons_get_str(v, "zone", ""));
        if (zone >= 0 && pons_get_bool(v, "blocked", false)) {
            pons_fleet_block(r->fleet, zone, true, pons_wall_ms(&r->clock));
        }
    }
    return rc;
}

// The leases of the robots' threads end with that of the fleet, but not in the same instant.
static int open_unit(app_fleet_running *r, size_t at, const app_fleet_robot *e, int32_t start,
                     const pons_value *before, pons_error *err)
{
    int rc = PONS_EBUSY;
    for (int i = 0; rc == PONS_EBUSY && i < OPEN_TRIES; i++) {
        if (i > 0) {
            app_unit_close(&r->units[at], false);
            poll(NULL, 0, OPEN_WAIT_MS);
        }
        rc = app_unit_open(&r->units[at], r->c, e, r->store, r->map, start, before, r->config,
                           r->policy, r->how->speed, err);
    }
    return rc;
}

int app_fleet_restore(app_fleet_running *r, pons_error *err)
{
    const pons_items items = {.store = r->store, .clock = r->clock};
    r->works = json_object();
    int rc = restore_tasks(r, &items, err);
    rc = rc < 0 ? rc : restore_blocks(r, &items, err);
    for (size_t i = 0, k = 0; i < r->file.n && rc >= 0; i++) {
        const app_fleet_robot *e = &r->file.robots[i];
        if (!e->enabled) {
            continue;
        }
        pons_autovalue leg = NULL;
        pons_autovalue before = NULL;
        pons_error none = PONS_ERROR_INIT;
        pons_items_get(&items, APP_FLEET_LEGS, e->is.id, &leg, &none);
        pons_items_get(&items, APP_FLEET_ROBOTS, e->is.id, &before, &none);
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
        rc = start < 0 ? PONS_EINVAL : open_unit(r, k, e, start, pons_get(before, "value"), err);
        r->opened = ++k;
    }
    return rc;
}
