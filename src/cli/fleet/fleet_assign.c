// fleet_assign.c - a task for a fleet, from the command line (`pons fleet assign`) or the page, by its stops or in
// words (fleet_text_task.c). What cannot be done
// by any of its robots, or leads to a zone that there is not, is told to who asks for it, at once.
#include "cli/fleet/fleet.h"

#include <string.h>

// "kitchen:pick{\"object\": \"cup\"},desk": zones, and what is done there.
static int read_stops(const char *text, pons_value *zones, pons_value *work, pons_error *err)
{
    for (const char *at = text; *at;) {
        const char *stop = at;
        const size_t n_zone = strcspn(at, ",:");
        pons_value *what = json_null();
        json_array_append_new(zones, json_stringn(stop, n_zone));
        at += n_zone;
        if (*at == ':') {
            const size_t n_skill = strcspn(++at, ",{");
            const char *skill = at;
            pons_value *parameters = NULL;
            at += n_skill;
            if (*at == '{') {
                json_error_t wrong;
                parameters =
                    json_loads(at, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &wrong);
                if (!parameters) {
                    return cli_bad(err,
                                   "fleet assign: --stops: what '%.*s' is given is no JSON: %s",
                                   (int)n_skill, skill, wrong.text);
                }
                at += wrong.position;
            }
            what = pons_object("skill", json_stringn(skill, n_skill), "parameters",
                               parameters ? parameters : json_object(), NULL);
            if (n_skill == 0 || !json_is_string(pons_get(what, "skill"))) {
                pons_value_unref(what);
                return cli_bad(err, "fleet assign: --stops: which skill at '%.*s'?", (int)n_zone,
                               stop);
            }
        }
        json_array_append_new(work, what);
        if (*at == ',') {
            at++;
        } else if (*at) {
            return cli_bad(err, "fleet assign: --stops: what is '%s'?", at);
        }
    }
    return PONS_OK;
}

// {id, name, stops, needs?, payload_kg?, priority?, deadline_s?} as the orchestrator has it.
static int task_of(const cli *c, const cli_fleet_file *file, const pons_fleet_map *map,
                   const pons_value *wanted, pons_value **ret, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    const int64_t now = pons_wall_ms(&clock);
    const char *stops = pons_get_str(wanted, "stops", "");
    char needs[256];
    pons_autobuf said = PONS_BUF_INIT;
    bool arm = false;
    int rc = PONS_OK;
    if (!*stops) {
        rc = cli_fleet_wish(c, file, map, pons_get_str(wanted, "name", ""), &said, &arm, err);
        stops = rc < 0 || pons_buf_byte(&said, 0) < 0 ? "" : said.data;
    }
    snprintf(needs, sizeof needs, "%.200s%s", pons_get_str(wanted, "needs", ""),
             arm ? "+manipulation" : "");
    const double s = json_number_value(pons_get(wanted, "deadline_s"));
    pons_autovalue zones = json_array();
    pons_autovalue work = json_array();
    pons_fleet_task t;
    uint32_t bits = 0;
    rc = rc < 0 ? rc : cli_fleet_needs(file, needs, &bits, err);
    rc = rc < 0 ? rc : read_stops(stops, zones, work, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue v =
        pons_object("id", pons_value_ref(pons_get(wanted, "id")), "name",
                    pons_value_ref(pons_get(wanted, "name")), "stops", pons_value_ref(zones), "do",
                    pons_value_ref(work), "requirements", json_string(needs), "payload_kg",
                    json_real(json_number_value(pons_get(wanted, "payload_kg"))), "priority",
                    json_string(pons_get_str(wanted, "priority", "normal")), "deadline_ms",
                    json_integer(s > 0.0 ? now + (int64_t)(s * 1000.0) : 0), "created_ms",
                    json_integer(now), NULL);
    rc = cli_fleet_task_read(file, map, NULL, 0, v, &t, err);
    *ret = rc < 0 ? NULL : pons_value_ref(v);
    return rc;
}

int cli_fleet_task_of(const cli *c, const pons_value *wanted, pons_value **ret, pons_error *err)
{
    cli_fleet_file file = {0};
    pons_fleet_map *map = NULL;
    *ret = NULL;
    int rc = cli_fleet_load(c, &file, err);
    rc = rc < 0 ? rc : pons_fleet_map_load(file.map, &map, err);
    rc = rc < 0 ? rc : task_of(c, &file, map, wanted, ret, err);
    pons_fleet_map_destroy(map);
    cli_fleet_free(&file);
    return rc;
}

int cmd_fleet_assign(cli *c, pons_error *err)
{
    const char *stops = NULL, *needs = "", *payload = "0", *priority = "normal", *deadline = NULL;
    const cli_option options[] = {
        {"--stops", "ZONE[:SKILL{…}],…",
         "where it is done, one after the other, and what: a skill with its arguments; else it "
         "waits there 2 s. Without: NAME says it in words",
         &stops},
        {"--needs", "A+B", "capabilities that its robot must have", &needs},
        {"--payload", "KG", "that its robot must carry", &payload},
        {"--priority", "WORD", "high, normal (the default) or low", &priority},
        {"--deadline", "SECONDS", "from now", &deadline},
        {NULL, NULL, NULL, NULL}};
    double kg = 0.0, s = 0.0;
    int rc = cli_parse(c, options, err);
    if (rc >= 0 && c->argc != 1) {
        return cli_bad(err, "fleet assign: use `pons fleet assign NAME --stops ZONE,…`, or `pons "
                            "fleet assign \"go to the desk and say hello\"`");
    }
    rc = rc < 0 ? rc : cli_number(payload, "--payload", 0, 1e6, &kg, err);
    rc = rc < 0 || !deadline ? rc : cli_number(deadline, "--deadline", 0.001, 1e8, &s, err);
    rc = rc < 0 ? rc : cli_workspace(c, false, err);
    if (rc < 0) {
        return rc;
    }
    char id[PONS_NAME_MAX];
    cli_new_thread(id);
    pons_autovalue wanted = pons_object("id", json_string(id), "name", pons_string(c->argv[0]),
                                        "stops", pons_string(stops ? stops : ""), "needs",
                                        pons_string(needs), "payload_kg", json_real(kg), "priority",
                                        pons_string(priority), "deadline_s", json_real(s), NULL);
    pons_autovalue v = NULL;
    rc = cli_fleet_task_of(c, wanted, &v, err);
    rc = rc < 0 ? rc : cli_fleet_post(c, "task", v, err);
    if (rc >= 0 && c->json) {
        pons_autovalue row =
            pons_object("type", json_string("assigned"), "id", json_string(id), NULL);
        cli_print_json(row);
    } else if (rc >= 0) {
        cli_out("%s\n", id);
    }
    return rc;
}
