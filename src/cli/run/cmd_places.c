// cmd_places.c - `pons places`: places that a person has named where the robot stood (pons/brain_places.h).
//
//     pons say "remember this place as the corner"      pons say 记住这里叫充电角
//     pons places list                                  pons places forget "the corner"
#include "app/workspace/workspace_scope.h"
#include "cli/run/places.h"
#include "pons/brain_places.h"

#include <math.h>
#include <string.h>

static int open_items(cli *c, bool change, pons_items *it, pons_error *err)
{
    *it = (pons_items){.clock = pons_clock_real()};
    const int rc = change ? app_workspace(&c->app, false, err) : PONS_OK;
    return rc < 0   ? rc
           : change ? app_store(&c->app, &it->store, err)
                    : app_store_read(&c->app, &it->store, err);
}

pons_value *cli_places_in(cli *c, const pons_value *world)
{
    pons_items it;
    char space[64];
    pons_value *with = NULL;
    pons_error none = PONS_ERROR_INIT;
    app_places_space(&c->app, space);
    if (open_items(c, false, &it, &none) < 0 ||
        pons_places_in(&it, space, world, &with, &none) < 0) {
        with = json_copy((pons_value *)(uintptr_t)world);
    }
    pons_store_close(&it.store);
    return with;
}

static void show(const cli *c, const pons_value *row)
{
    const pons_value *p = pons_get(row, "value");
    if (c->json) {
        pons_autovalue line = json_copy((pons_value *)(uintptr_t)p);
        json_object_set_new(line, "type", json_string("place"));
        cli_print_json(line);
        return;
    }
    cli_out("%s  %.2f, %.2f m, %.0f° in %s\n", pons_get_str(row, "key", ""),
            pons_get_num(p, "x", 0.0), pons_get_num(p, "y", 0.0),
            pons_get_num(p, "yaw", 0.0) * 180.0 / M_PI, pons_get_str(p, "world", ""));
}

int cmd_places(cli *c, pons_error *err)
{
    pons_items it;
    char space[64];
    pons_autovalue all = NULL;
    int rc = cli_parse(c, NULL, err);
    const bool list = c->argc == 0 || (c->argc == 1 && strcmp(c->argv[0], "list") == 0);
    if (rc >= 0 && !list) {
        rc = app_bad(err, "places list takes nothing more");
    }
    if (rc < 0) {
        return rc;
    }
    app_places_space(&c->app, space);
    rc = open_items(c, false, &it, err);
    rc = rc < 0
             ? rc
             : pons_items_search(&it, &(pons_items_query){.prefix = space, .limit = -1}, &all, err);
    for (size_t i = json_array_size(all); i-- > 0;) { // the oldest first
        show(c, json_array_get(all, i));
    }
    if (rc >= 0 && json_array_size(all) == 0 && !c->json) {
        cli_err("pons: no named places; say \"remember this place as …\" where the robot stands\n");
    }
    pons_store_close(&it.store);
    return rc;
}

int cmd_places_forget(cli *c, pons_error *err)
{
    pons_items it = {0};
    char space[64];
    int rc = cli_parse(c, NULL, err);
    if (rc >= 0 && c->argc == 0) {
        rc = app_bad(err, "places forget needs a name; `pons places` has them");
    }
    if (rc < 0) {
        return rc;
    }
    app_places_space(&c->app, space);
    rc = open_items(c, true, &it, err);
    for (int i = 0; i < c->argc && rc >= 0; i++) { // all of them, or none
        pons_autovalue had = NULL;
        pons_error none = PONS_ERROR_INIT;
        if (pons_items_get(&it, space, c->argv[i], &had, &none) < 0) {
            rc = app_bad(err, "places: there is no '%s'; `pons places` has them", c->argv[i]);
        }
    }
    for (int i = 0; i < c->argc && rc >= 0; i++) {
        rc = pons_items_delete(&it, space, c->argv[i], err);
    }
    pons_store_close(&it.store);
    return rc;
}
