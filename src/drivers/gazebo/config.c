// config.c - config/gazebo.yaml: schemas/gazebo.json says what may be in it, this what it means.
#include "drivers/gazebo/config.h"

#include "pons/config_file.h"
#include "pons/schema.h"
#include "pons/yaml.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MODULE "gazebo"

static int check(const pons_yaml *yaml, pons_error *err)
{
    pons_schema *schema = NULL;
    int rc = pons_schema_shipped("schemas/gazebo.json", &schema, err);
    rc = rc < 0 ? rc : pons_schema_check_yaml(schema, yaml, err);
    pons_schema_destroy(schema);
    return rc;
}

// A name that does not begin with / is the model's.
static void topic(const pons_value *v, const char *key, const char *usual, const gazebo_config *c,
                  char ret[GAZEBO_NAME_MAX])
{
    const pons_value *said = json_object_get(pons_get(v, "topics"), key);
    const char *name = !said ? usual : json_is_null(said) ? "" : json_string_value(said);
    snprintf(ret, GAZEBO_NAME_MAX, *name && *name != '/' ? "/model/%s/%.100s" : "%.0s%.100s",
             c->model, name);
}

static int take(const pons_yaml *yaml, const char *world, gazebo_config *c, pons_error *err)
{
    const pons_value *v = pons_yaml_value(yaml), *limits = pons_get(v, "limits"),
                     *lidar = pons_get(v, "lidar"), *battery = json_object_get(v, "battery"),
                     *name = pons_get(battery, "name");
    const char *said = pons_get_str(v, "world", "");
    snprintf(c->partition, sizeof c->partition, "%s", pons_get_str(v, "partition", ""));
    snprintf(c->world, sizeof c->world, "%s", *said ? said : world);
    snprintf(c->model, sizeof c->model, "%s", pons_get_str(v, "model", "robot"));
    c->steps = strcmp(pons_get_str(v, "clock", "server"), "pons") == 0;
    c->percent = strcmp(pons_get_str(battery, "percentage", "percent"), "percent") == 0;
    c->has_lidar = lidar != NULL;
    c->lidar = (pons_pose2){pons_get_num(lidar, "x", 0), pons_get_num(lidar, "y", 0),
                            pons_get_num(lidar, "yaw", 0)};
    c->odom_s = pons_get_num(limits, "odom_s", 0.5);
    c->scan_s = pons_get_num(limits, "scan_s", 0.5);
    c->step_s = pons_get_num(limits, "step_s", 1.0);
    c->open_s = pons_get_num(limits, "open_s", 5.0);
    topic(v, "cmd_vel", "cmd_vel", c, c->cmd_vel);
    topic(v, "odom", "odometry", c, c->odom);
    topic(v, "scan", "scan", c, c->scan);
    topic(v, "contacts", "contacts", c, c->contacts);
    if (!battery || json_is_object(battery)) {
        const char *of = name ? json_string_value(name) : "battery";
        snprintf(c->battery, sizeof c->battery, "/model/%s/battery/%.60s/state", c->model, of);
        snprintf(c->recharge, sizeof c->recharge, "/model/%s/battery/%.60s/recharge", c->model, of);
    }
    const char *wrong = !*c->cmd_vel ? "/topics/cmd_vel"
                        : !*c->odom  ? "/topics/odom"
                        : !*c->scan  ? "/topics/scan"
                                     : NULL;
    if (wrong) {
        char where[PONS_ERROR_SOURCE_MAX];
        pons_error_set(err, PONS_EINVAL, MODULE, "%s: the robot cannot do without it", wrong + 1);
        return pons_error_source(err, "%s", pons_yaml_position(yaml, wrong, where, sizeof where));
    }
    return PONS_OK;
}

int gazebo_config_load(const char *workspace, const char *world, gazebo_config *ret,
                       pons_error *err)
{
    char path[PATH_MAX] = "";
    int rc = pons_config_find(workspace, "config/gazebo.yaml", path, sizeof path, NULL, err);
    pons_yaml *yaml = NULL;
    rc = rc < 0 ? rc : pons_yaml_load(path, &yaml, err);
    rc = rc < 0 ? rc : check(yaml, err);
    *ret = (gazebo_config){0};
    rc = rc < 0 ? rc : take(yaml, world, ret, err);
    pons_yaml_destroy(yaml);
    return rc;
}
