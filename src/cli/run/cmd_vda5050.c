// cmd_vda5050.c - `pons vda5050`: a brain and a body whose work comes from a master control.
#include "app/vda5050/vda5050.h"
#include "app/workspace/which_robot.h"
#include "cli/cli.h"
#include "pons/schema.h"

#include <string.h>

#define THREAD "vda5050"

typedef struct words { // the options as they were typed; NULL: not given
    const char *broker, *serial, *map, *thread, *skills;
} words;

// What the file leaves open, and what the command line says instead of it.
static int complete(const words *w, const char *world_name, pons_value *config, pons_error *err)
{
    pons_autovalue world = NULL;
    const int rc = app_world(world_name, &world, err);
    if (rc < 0) {
        return rc;
    }
    const struct {
        const char *key, *said, *usual;
    } texts[] = {{"broker", w->broker, "mqtt://127.0.0.1:1883"},
                 {"serial", w->serial, pons_get_str(pons_get(world, "robot"), "id", "robot-1")},
                 {"map", w->map, pons_get_str(world, "name", world_name)},
                 {"interface", NULL, "uagv"},
                 {"manufacturer", NULL, "pons"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].said || !pons_get(config, texts[i].key)) {
            pons_value *v = json_string(texts[i].said ? texts[i].said : texts[i].usual);
            if (!v || json_object_set_new(config, texts[i].key, v) < 0) {
                return app_bad(err, "--%s is not valid UTF-8", texts[i].key);
            }
        }
    }
    pons_schema *schema = NULL;
    int bad = pons_schema_shipped("schemas/vda5050.json", &schema, err);
    bad = bad < 0 ? bad : pons_schema_check(schema, config, err);
    pons_schema_destroy(schema);
    return bad;
}

int cmd_vda5050(cli *c, pons_error *err)
{
    words w = {.thread = THREAD};
    app_robot meant = {0};
    cli_session_options o = {.run = {.speed = 1.0, .priority = "background"}, .serve = true};
    double seed = 0.0;
    const cli_option options[] = {
        {"--broker", "URL", "mqtt://HOST[:PORT] or mqtts://HOST[:PORT]; default: the file's",
         &w.broker},
        {"--serial", "NAME", "the vehicle's serialNumber; default: the file's, else the robot's id",
         &w.serial},
        {"--map", "NAME", "mapId; default: the file's, else the world's name", &w.map},
        {"--thread", "ID", "of the brain; default vda5050", &w.thread},
        CLI_ROBOT_OPTIONS(c),
        {"--skills", "NAME,…", "the body that this starts has these too, of modules skill-NAME",
         &w.skills},
        {"--speed", "X", "robot clock over host clock, 0.1 to 100; default 1",
         CLI_NUMBER(&o.run.speed, 0.1, 100.0)},
        {"--seed", "N", "of everything random; default: from the system",
         CLI_NUMBER(&seed, 0.0, 9007199254740991.0)},
        {NULL, NULL, NULL, NULL}};
    int rc = cli_parse(c, options, err);
    if (rc >= 0 && c->argc > 0) {
        rc = app_bad(err, "vda5050: what is '%s'?", c->argv[0]);
    }
    rc = rc < 0 ? rc : app_thread_name(w.thread, err);
    const pons_robot_ops *robot = NULL;
    rc = rc < 0 ? rc : app_robot_meant(&c->app, NULL, NULL, &meant, err);
    if (rc >= 0 && strcmp(meant.driver, APP_DRIVER_USUAL) != 0) {
        rc = app_driver(meant.driver, &robot, err);
    }
    pons_autovalue file = NULL;
    rc = rc < 0 ? rc : app_yaml(&c->app, "config/vda5050.yaml", "schemas/vda5050.json", &file, err);
    pons_autovalue config = json_deep_copy(file);
    rc = rc < 0 ? rc : complete(&w, meant.world, config, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, true, err);
    app_vda5050 *v = NULL;
    rc = rc < 0 ? rc : app_vda5050_create(&c->app, config, w.thread, &v, err);
    if (rc < 0) {
        return rc;
    }
    o.run.thread = w.thread;
    o.run.skills = w.skills;
    o.run.seed = (uint64_t)seed;
    o.run.llm = "rules";
    o.run.guests[o.run.n_guests++] = app_vda5050_guest(v);
    rc = cli_session_run(c, &o, err);
    return app_vda5050_destroy(v, rc, err);
}
