// fleet_assign.c - a task for a fleet, from the command line (`pons fleet assign`) or the page, by its stops or in
// words (fleet_text_task.c). What cannot be done
// by any of its robots, or leads to a zone that there is not, is told to who asks for it, at once.
#include "cli/fleet/fleet.h"

int cmd_fleet_assign(cli *c, pons_error *err)
{
    const char *stops = NULL, *needs = "", *priority = "normal";
    double kg = 0.0, s = 0.0;
    const cli_option options[] = {
        {"--stops", "ZONE[:SKILL{…}],…",
         "where it is done, one after the other, and what: a skill with its arguments; else it "
         "waits there 2 s. Without: NAME says it in words",
         &stops},
        {"--needs", "A+B", "capabilities that its robot must have", &needs},
        {"--payload", "KG", "that its robot must carry", CLI_NUMBER(&kg, 0, 1e6)},
        {"--priority", "WORD", "high, normal (the default) or low", &priority},
        {"--deadline", "SECONDS", "from now", CLI_NUMBER(&s, 0.001, 1e8)},
        {NULL, NULL, NULL, NULL}};
    int rc = cli_parse(c, options, err);
    if (rc >= 0 && c->argc != 1) {
        return app_bad(err, "fleet assign: use `pons fleet assign NAME --stops ZONE,…`, or `pons "
                            "fleet assign \"go to the desk and say hello\"`");
    }
    rc = rc < 0 ? rc : app_workspace(&c->app, false, err);
    if (rc < 0) {
        return rc;
    }
    char id[PONS_NAME_MAX];
    app_new_thread(id);
    pons_autovalue wanted = pons_object("id", json_string(id), "name", pons_string(c->argv[0]),
                                        "stops", pons_string(stops ? stops : ""), "needs",
                                        pons_string(needs), "payload_kg", json_real(kg), "priority",
                                        pons_string(priority), "deadline_s", json_real(s), NULL);
    pons_autovalue v = NULL;
    rc = app_fleet_task_of(&c->app, wanted, &v, err);
    rc = rc < 0 ? rc : app_fleet_post(&c->app, "task", v, err);
    if (rc >= 0 && c->json) {
        pons_autovalue row =
            pons_object("type", json_string("assigned"), "id", json_string(id), NULL);
        cli_print_json(row);
    } else if (rc >= 0) {
        cli_out("%s\n", id);
    }
    return rc;
}
