// fleet_commands.c - `pons fleet run|status|cancel|settle|clear|block|unblock`: what is said to the orchestrator, from
// any process, and how things stand. A word is durable when the command ends; it is heard when an
// orchestrator runs.
#include "cli/fleet/fleet.h"
#include "pons/items.h"

// ---- run ----------------------------------------------------------------------------------------

static void show_change(void *user, pons_value *task)
{
    const cli *c = user;
    if (c->json) {
        json_object_set_new(task, "type", json_string("task"));
        cli_print_json(task);
    } else {
        const char *name = pons_get_str(task, "name", ""),
                   *robot = pons_get_str(task, "robot", NULL);
        cli_out("%s  %s%s%s\n", *name ? name : pons_get_str(task, "id", ""),
                pons_get_str(task, "state", ""), robot ? " " : "", robot ? robot : "");
    }
    cli_flush();
}

int cmd_fleet_run(cli *c, pons_error *err)
{
    const char *once = NULL, *standby = NULL;
    app_fleet_run_options o = {.speed = 1.0, .ended = &cli_ended, .task = show_change, .user = c};
    const cli_option options[] = {
        {"--once", NULL, "end when no task is left and all robots stand in bays", &once},
        {"--standby", NULL,
         "where another orchestrator leads: wait, and take over; who has lost the lead waits again",
         &standby},
        {"--speed", "X", "of bodies that have to be started: robot seconds in a second",
         CLI_NUMBER(&o.speed, 0.01, 1000.0)},
        {NULL, NULL, NULL, NULL}};
    int rc = cli_parse(c, options, err);
    if (rc >= 0 && c->argc > 0) {
        return app_bad(err, "fleet run: what is '%s'?", c->argv[0]);
    }
    o.once = once != NULL;
    o.standby = standby != NULL;
    cli_end_on_signals(SA_RESTART);
    return rc < 0 ? rc : app_fleet_run(&c->app, &o, err);
}

// ---- what is said to it -------------------------------------------------------------------------

static int about(cli *c, const char *verb, const char *kind, pons_value *more, pons_error *err)
{
    pons_autovalue value = more;
    if (c->argc != 1) {
        return app_bad(err, "fleet %s takes one name", verb);
    }
    json_object_set_new(value, "id", json_string(c->argv[0]));
    const int rc = app_workspace(&c->app, false, err);
    return rc < 0 ? rc : app_fleet_post(&c->app, kind, value, err);
}

int cmd_fleet_cancel(cli *c, pons_error *err)
{
    const int rc = cli_parse(c, NULL, err);
    return rc < 0 ? rc : about(c, "cancel", "cancel", json_object(), err);
}

int cmd_fleet_clear(cli *c, pons_error *err)
{
    const int rc = cli_parse(c, NULL, err);
    return rc < 0 ? rc : about(c, "clear", "clear", json_object(), err);
}

static int block(cli *c, bool blocked, pons_error *err)
{
    app_fleet_file file = {0};
    pons_fleet_map *map = NULL;
    int rc = cli_parse(c, NULL, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, false, err);
    rc = rc < 0 ? rc : app_fleet_load(&c->app, &file, err);
    rc = rc < 0 ? rc : pons_fleet_map_load(file.map, &map, err);
    if (rc >= 0 && c->argc == 1 && pons_fleet_map_find(map, c->argv[0]) < 0) {
        rc = app_bad(err, "%s has no zone '%s'", file.map, c->argv[0]);
    }
    rc = rc < 0 ? rc
                : about(c, blocked ? "block" : "unblock", "block",
                        pons_object("blocked", json_boolean(blocked), NULL), err);
    pons_fleet_map_destroy(map);
    app_fleet_free(&file);
    return rc;
}

int cmd_fleet_block(cli *c, pons_error *err)
{
    return block(c, true, err);
}

int cmd_fleet_unblock(cli *c, pons_error *err)
{
    return block(c, false, err);
}

int cmd_fleet_settle(cli *c, pons_error *err)
{
    const char *done = NULL, *failed = NULL;
    const cli_option options[] = {{"--done", NULL, "it was done", &done},
                                  {"--failed", NULL, "it was not", &failed},
                                  {NULL, NULL, NULL, NULL}};
    const int rc = cli_parse(c, options, err);
    if (rc >= 0 && !done == !failed) {
        return app_bad(err, "fleet settle: say --done or --failed");
    }
    return rc < 0 ? rc
                  : about(c, "settle", "settle",
                          pons_object("done", json_boolean(done != NULL), NULL), err);
}

// ---- how things stand ---------------------------------------------------------------------------

static void show_task(const cli *c, const pons_value *t)
{
    const pons_value *stops = pons_get(t, "stops");
    if (c->json) {
        pons_autovalue row = json_copy((json_t *)t);
        json_object_set_new(row, "type", json_string("task"));
        cli_print_json(row);
        return;
    }
    cli_out("%-10s %-16s %-8s %s%s%s  ", pons_get_str(t, "id", ""), pons_get_str(t, "state", ""),
            pons_get_str(t, "priority", ""), pons_get_str(t, "name", ""),
            pons_get_str(t, "robot", NULL) ? " by " : "", pons_get_str(t, "robot", ""));
    for (size_t i = 0; i < json_array_size(stops); i++) {
        cli_out("%s%s", i ? " > " : "", json_string_value(json_array_get(stops, i)));
    }
    cli_out("%s%-s\n", pons_get(t, "reason") ? ": " : "", pons_get_str(t, "reason", ""));
}

int cmd_fleet_status(cli *c, pons_error *err)
{
    const char *all = NULL;
    const cli_option options[] = {{"--all", NULL, "tasks that have ended, too", &all},
                                  {NULL, NULL, NULL, NULL}};
    pons_store store = {0};
    pons_autovalue is = NULL;
    int rc = cli_parse(c, options, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, false, err);
    rc = rc < 0 ? rc : app_store_read(&c->app, &store, err);
    rc = rc < 0 ? rc : app_fleet_look(store, all ? SIZE_MAX : 0, &is, err);
    if (rc >= 0) {
        const bool runs = pons_get_bool(is, "running", false);
        const pons_value *robots = pons_get(is, "robots"), *tasks = pons_get(is, "tasks");
        if (!c->json) {
            cli_out(runs ? "orchestrator: pid %lld on %s\n" : "orchestrator: none runs\n",
                    (long long)pons_get_int(is, "pid", 0), pons_get_str(is, "host", ""));
        }
        pons_each(r, robots) {
            if (c->json) {
                pons_autovalue row = json_copy((json_t *)r);
                json_object_set_new(row, "type", json_string("robot"));
                json_object_set_new(row, "running", json_boolean(runs));
                cli_print_json(row);
            } else {
                cli_out("%-10s %-16s %-8s %3lld %%  %s\n", pons_get_str(r, "id", ""),
                        pons_get_str(r, "state", ""), pons_get_str(r, "zone", "-"),
                        (long long)pons_get_int(r, "battery_pct", 0), pons_get_str(r, "why", ""));
            }
        }
        for (size_t i = json_array_size(tasks); i-- > 0;) { // newest put last
            show_task(c, json_array_get(tasks, i));
        }
    }
    pons_store_close(&store);
    return rc;
}
