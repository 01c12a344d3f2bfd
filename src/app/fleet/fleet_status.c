// fleet_status.c - how a fleet stands, from the store: for `pons fleet status` and the page.
//
//     {running, pid, host, map, robots: [{id, state, zone, next, x, y, task, battery_pct, latched, why, …}],
//      held: [[zone, robot]], tasks: [{id, name, state, robot, stops, …}]}
//
// What the orchestrator said last (fleet_page.c) stays when it has ended: `running` says which it is.
#include "app/fleet/fleet.h"
#include "pons/items.h"

#include <string.h>

static bool over(const pons_value *task)
{
    const char *state = pons_get_str(task, "state", "");
    return strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0;
}

// A task that was asked for, and that no orchestrator has taken yet.
static int add_unheard(void *user, const pons_inbox_row *row)
{
    pons_autovalue v = NULL;
    if (strcmp(row->kind, "task") == 0 &&
        pons_value_read(row->value.data, row->value.len, &v, NULL) >= 0) {
        json_object_set_new(v, "state", json_string("kept"));
        json_object_set_new(v, "reason", json_string("no orchestrator has taken it yet"));
        json_array_insert(user, 0, v); // newest first
    }
    return 0;
}

int app_fleet_look(pons_store store, size_t ended_max, pons_value **ret, pons_error *err)
{
    const pons_items items = {.store = store, .clock = pons_clock_real()};
    const pons_items_query q = {.prefix = APP_FLEET_TASKS, .limit = -1};
    pons_autovalue list = NULL;
    pons_autovalue now = NULL;
    pons_error none = PONS_ERROR_INIT;
    pons_lease holder = {0};
    const int rc = pons_items_search(&items, &q, &list, err);
    if (rc < 0) {
        return rc;
    }
    const bool runs = store.ops->lease_peek(store.self, APP_FLEET_THREAD, &holder, &none) >= 0;
    pons_items_get(&items, APP_FLEET_NOW, "now", &now, &none);
    pons_value *all = json_copy((json_t *)pons_get(now, "value"));
    all = all ? all : pons_object("robots", json_array(), NULL);
    pons_value *tasks = json_array();
    size_t ended = 0;
    for (size_t i = 0; i < json_array_size(list); i++) { // newest put first
        const pons_value *t = pons_get(json_array_get(list, i), "value");
        if (!over(t) || ended++ < ended_max) {
            json_array_append(tasks, (json_t *)t);
        }
    }
    store.ops->inbox_read(store.self, APP_FLEET_THREAD, "fleet", 0, add_unheard, tasks, &none);
    json_object_set_new(all, "running", json_boolean(runs));
    json_object_set_new(all, "pid", json_integer(runs ? (json_int_t)holder.pid : 0));
    json_object_set_new(all, "host", pons_string(runs ? holder.host : ""));
    json_object_set_new(all, "tasks", tasks);
    *ret = all;
    return PONS_OK;
}

int app_fleet_look_map(pons_store store, pons_value **ret, pons_error *err)
{
    const pons_items items = {.store = store, .clock = pons_clock_real()};
    pons_autovalue item = NULL;
    const int rc = pons_items_get(&items, APP_FLEET_NOW, "map", &item, err);
    if (rc < 0) {
        return rc == PONS_ENOTFOUND
                   ? pons_error_set(err, rc, "fleet",
                                    "no orchestrator has run here yet: `pons fleet run`")
                   : rc;
    }
    *ret = json_copy((json_t *)pons_get(item, "value"));
    return PONS_OK;
}

int app_fleet_say(pons_store store, const char *word, const pons_value *value, pons_error *err)
{
    return pons_inbox_post(store, APP_FLEET_THREAD, "fleet", word, value, err);
}

int app_fleet_post(const app_context *c, const char *kind, const pons_value *value, pons_error *err)
{
    pons_store store = {0};
    int rc = app_store(c, &store, err);
    rc = rc < 0 ? rc : app_fleet_say(store, kind, value, err);
    pons_store_close(&store);
    return rc;
}
