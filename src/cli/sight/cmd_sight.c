// cmd_sight.c - `pons sight`, the process that remembers what the robot sees, and `pons seen`, which asks.
//
//     pons seen                        pons seen cup --near kitchen --since 2h
#include "app/sight/sight.h"
#include "cli/sight/sight_cli.h"

#include <string.h>
#include <sys/prctl.h>

int cmd_sight(cli *c, pons_error *err)
{
    const char *for_run = NULL, *once = NULL, *out = NULL;
    double pixels = 800.0;
    const cli_option options[] = {
        {"--for-run", NULL, "started by a run, and ends with it", &for_run},
        {"--once", NULL, "of detect: one picture only", &once},
        {"--out", "FILE", "of tag: the picture, a PNG file", &out},
        {"--pixels", "N", "of tag: about so many a side; default 800",
         CLI_NUMBER(&pixels, 10.0, 8000.0)},
        CLI_ROBOT_OPTIONS(c),
        {NULL, NULL, NULL, NULL}};
    const int rc = cli_parse(c, options, err);
    if (rc < 0) {
        return rc;
    }
    if (c->argc == 2 && strcmp(c->argv[0], "detect") == 0) {
        return cli_detect(c, c->argv[1], once != NULL, for_run != NULL, err);
    }
    if (c->argc == 2 && strcmp(c->argv[0], "tag") == 0 && out) {
        return cli_tag(c, c->argv[1], out, (int)pixels, err);
    }
    if (c->argc > 0) {
        return app_bad(err, "sight takes nothing more, or detect NAME, or tag IDENTITY --out FILE");
    }
    if (for_run) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    }
    cli_end_on_signals(0);
    return app_sight_run(&c->app, &cli_ended, err);
}

// A zone's id, by it or by one of its names in the world.
static int zone_of(cli *c, const char *name, char ret[PONS_OBJECT_TEXT], pons_error *err)
{
    pons_autovalue world = NULL;
    pons_autovalue known = json_array();
    app_robot robot;
    int rc = app_robot_meant(&c->app, NULL, NULL, &robot, err);
    rc = rc < 0 ? rc : app_world(robot.world, &world, err);
    pons_each(z, rc < 0 ? NULL : pons_get(world, "zones")) {
        const char *id = pons_get_str(z, "id", "");
        bool meant = strcmp(id, name) == 0;
        pons_each_member(language, words, pons_get(z, "names")) {
            meant = meant || pons_list_has(words, name);
        }
        if (meant) {
            snprintf(ret, PONS_OBJECT_TEXT, "%s", id);
            return PONS_OK;
        }
        app_name_add(known, id, strlen(id));
    }
    return rc < 0 ? rc : app_no_such_of(known, "zone", name, err);
}

static void show(const cli *c, const pons_value *object)
{
    char line[256];
    const pons_value *at = pons_get(object, "position");
    if (c->json) {
        pons_autovalue row = json_copy((pons_value *)(uintptr_t)object);
        json_object_set_new(row, "type", json_string("object"));
        cli_print_json(row);
        return;
    }
    cli_out("%s  %s  (%.2f, %.2f, %.2f) ±%.2f m%s\n", pons_get_str(object, "id", ""),
            pons_object_line(object, line, sizeof line), json_number_value(json_array_get(at, 0)),
            json_number_value(json_array_get(at, 1)), json_number_value(json_array_get(at, 2)),
            pons_get_num(object, "sd_m", 0.0),
            pons_get_bool(object, "known", false) ? "" : "; may not be there any more");
}

static int ask(cli *c, const pons_object_query *q, pons_error *err)
{
    pons_items it = {.clock = pons_clock_real()};
    char space[64];
    pons_autovalue found = NULL;
    app_objects_space(&c->app, space);
    int rc = app_store_read(&c->app, &it.store, err);
    rc = rc < 0 ? rc : pons_objects_find(&it, space, q, &found, err);
    pons_each(object, found) {
        show(c, object);
    }
    pons_store_close(&it.store);
    if (rc < 0 || json_array_size(found) > 0) {
        return rc;
    }
    if (!c->json) {
        cli_err("pons: nothing of that kind was seen\n");
    }
    return APP_NO_SUCCESS;
}

int cmd_seen(cli *c, pons_error *err)
{
    const char *near = NULL, *since = NULL, *limit = NULL;
    const cli_option options[] = {
        {"--near", "ZONE", "only what is there", &near},
        {"--since", "TIME", "only what was seen in that time: 90s, 40min, 2h, 3d", &since},
        {"--limit", "N", "so many at most; default 20", &limit},
        CLI_ROBOT_OPTIONS(c),
        {NULL, NULL, NULL, NULL}};
    char zone[PONS_OBJECT_TEXT] = "";
    pons_autobuf what = PONS_BUF_INIT;
    pons_object_query q = {.zone = zone};
    double most = 20.0;
    int rc = cli_parse(c, options, err);
    rc = rc < 0 ? rc : cli_words(c, 0, 255, &what, err);
    rc = rc >= 0 && near ? zone_of(c, near, zone, err) : rc;
    const pons_clock clock = pons_clock_real();
    double since_s = 0.0;
    rc = rc >= 0 && since ? cli_duration(since, "--since", &since_s, err) : rc;
    q.since_ms = since ? pons_wall_ms(&clock) - (int64_t)(since_s * 1e3) : 0;
    rc = rc >= 0 && limit ? cli_number(limit, "--limit", 1, 10000, &most, err) : rc;
    q.what = what.data;
    q.limit = (size_t)most;
    return rc < 0 ? rc : ask(c, &q, err);
}
