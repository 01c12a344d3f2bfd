// config.c - config/ros2.yaml: schemas/ros2.json says what may be in it, this what it means.
#include "drivers/dds/config.h"

#include "pons/config_file.h"
#include "pons/schema.h"
#include "pons/yaml.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

static const struct {
    const char *skill, *usual;
} actions[ROS2_NAV2] = {[ROS2_TO_POSE] = {"navigate_to_pose", "navigate_to_pose"},
                        [ROS2_THROUGH_POSES] = {"navigate_through_poses", "navigate_through_poses"},
                        [ROS2_SPIN] = {"spin", "spin"},
                        [ROS2_BACK_UP] = {"back_up", "backup"},
                        [ROS2_DRIVE] = {"drive_on_heading", "drive_on_heading"},
                        [ROS2_DOCK] = {"dock_to_charger", "dock_robot"},
                        [ROS2_UNDOCK] = {"undock", "undock_robot"},
                        [ROS2_WAYPOINTS] = {"follow_waypoints", "follow_waypoints"},
                        [ROS2_PATH] = {"compute_path_to_pose", "compute_path_to_pose"}};

static int check(const pons_yaml *yaml, pons_error *err)
{
    pons_schema *schema = NULL;
    int rc = pons_schema_shipped("schemas/ros2.json", &schema, err);
    rc = rc < 0 ? rc : pons_schema_check_yaml(schema, yaml, err);
    pons_schema_destroy(schema);
    return rc;
}

static void whole(const char *ns, const char *name, char ret[ROS2_NAME_MAX])
{
    if (*name == '/') {
        snprintf(ret, ROS2_NAME_MAX, "%s", name);
    } else {
        ns += *ns == '/';
        snprintf(ret, ROS2_NAME_MAX, "%s%s/%s", *ns ? "/" : "", ns, name);
    }
}

// qos: {KEY: {reliability?, durability?, depth?}}
static ros2_qos qos_said(const pons_value *v, const char *key, ros2_qos qos)
{
    const pons_value *q = pons_get(pons_get(v, "qos"), key);
    const char *r = pons_get_str(q, "reliability", ""), *d = pons_get_str(q, "durability", "");
    qos.reliable = *r ? strcmp(r, "reliable") == 0 : qos.reliable;
    qos.transient = *d ? strcmp(d, "transient_local") == 0 : qos.transient;
    qos.depth = (int)pons_get_int(q, "depth", qos.depth);
    return qos;
}

// topics: {KEY: name or null}
static void stream(const pons_value *v, const char *key, const char *usual, ros2_qos qos,
                   ros2_stream *ret)
{
    const pons_value *name = json_object_get(pons_get(v, "topics"), key);
    ret->qos = qos_said(v, key, qos);
    ret->name[0] = '\0';
    if (!name || !json_is_null(name)) {
        whole(pons_get_str(v, "namespace", ""), name ? json_string_value(name) : usual, ret->name);
    }
}

static void take_shown(const pons_value *v, ros2_config *c)
{
    const ros2_qos sure = {.reliable = true, .depth = 10},
                   kept = {.reliable = true, .transient = true, .depth = 1};
    const pons_value *names = pons_get(v, "actions");
    const char *ns = pons_get_str(v, "namespace", "");
    snprintf(c->shown.ns, sizeof c->shown.ns, "%s%s", *ns && *ns != '/' ? "/" : "", ns);
    snprintf(c->shown.node, sizeof c->shown.node, "%s", pons_get_str(v, "node", "pons"));
    snprintf(c->shown.laser, sizeof c->shown.laser, "%s",
             pons_get_str(pons_get(v, "frames"), "laser", "laser"));
    stream(v, "odom", "odom", sure, &c->shown.odom);
    stream(v, "scan", "scan", sure, &c->shown.scan);
    stream(v, "battery", "battery_state", sure, &c->shown.battery);
    stream(v, "tf", "/tf", (ros2_qos){.reliable = true, .depth = 100}, &c->shown.tf);
    stream(v, "tf_static", "/tf_static", kept, &c->shown.tf_static);
    stream(v, "clock", "/clock", sure, &c->shown.clock);
    stream(v, "map", "map", kept, &c->shown.map);
    stream(v, "amcl_pose", "amcl_pose", kept, &c->shown.amcl_pose);
    stream(v, "goal_pose", "goal_pose", sure, &c->shown.goal_pose);
    whole(ns, pons_get_str(names, "navigate_to_pose", "navigate_to_pose"),
          c->shown.navigate_to_pose);
    whole(ns, pons_get_str(names, "spin", "spin"), c->shown.spin);
    whole(ns, pons_get_str(names, "back_up", "backup"), c->shown.back_up);
    whole(ns, pons_get_str(names, "drive_on_heading", "drive_on_heading"),
          c->shown.drive_on_heading);
}

static int from_environment(ros2_config *c, pons_error *err)
{
    const char *domain = getenv("ROS_DOMAIN_ID"), *distro = getenv("ROS_DISTRO");
    if (domain && *domain) {
        char *end;
        const unsigned long n = strtoul(domain, &end, 10);
        if (*end || n > 232) {
            return pons_error_set(err, PONS_EINVAL, MODULE,
                                  "ROS_DOMAIN_ID is a number from 0 to 232, not '%.20s'", domain);
        }
        c->domain = (uint32_t)n;
    }
    if (distro && *distro) { // of those between and after, the nearest that is spoken here
        const bool known = strcmp(distro, "humble") == 0 || strcmp(distro, "jazzy") == 0 ||
                           strcmp(distro, "kilted") == 0;
        snprintf(c->distro, sizeof c->distro, "%s",
                 known                          ? distro
                 : strcmp(distro, "humble") < 0 ? "humble" // their names follow the alphabet
                 : strcmp(distro, "kilted") < 0 ? "jazzy"
                                                : "lyrical");
    }
    return PONS_OK;
}

// Nav2's, when it navigates; whichever the file names. Humble's nav2_msgs has no docking.
static void name_actions(const pons_value *v, ros2_config *c)
{
    const pons_value *names = pons_get(v, "actions"), *dock = pons_get(v, "dock");
    const bool humble = strcmp(c->distro, "humble") == 0;
    for (int i = 0; i < ROS2_NAV2; i++) {
        const pons_value *said = json_object_get(names, actions[i].skill);
        const bool usual = c->nav2 && !(humble && (i == ROS2_DOCK || i == ROS2_UNDOCK));
        const char *name = said ? json_string_value(said) : usual ? actions[i].usual : NULL;
        if (name) {
            whole(c->ns, name, c->actions[i]);
        }
    }
    snprintf(c->dock_id, sizeof c->dock_id, "%s", pons_get_str(dock, "id", ""));
    snprintf(c->dock_type, sizeof c->dock_type, "%s", pons_get_str(dock, "type", ""));
    c->skills = pons_value_ref(pons_get(v, "skills"));
    c->interfaces = pons_value_ref(pons_get(v, "interfaces"));
}

// As the actions: Nav2's, when it navigates; whichever the file names.
static void name_services(const pons_value *v, ros2_config *c)
{
    static const char *const nodes[] = {"bt_navigator", "controller_server", "planner_server",
                                        "behavior_server"};
    const struct {
        const char *key, *usual;
        char *ret;
    } all[] = {
        {"clear_local_costmap", "local_costmap/clear_entirely_local_costmap", c->clear_local},
        {"clear_global_costmap", "global_costmap/clear_entirely_global_costmap", c->clear_global},
        {"lifecycle_manager", "lifecycle_manager_navigation", c->lifecycle_manager}};
    const pons_value *names = pons_get(v, "services"), *said = pons_get(v, "lifecycle_nodes");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const pons_value *name = json_object_get(names, all[i].key);
        const char *is = name ? json_string_value(name) : c->nav2 ? all[i].usual : NULL;
        if (is) {
            whole(c->ns, is, all[i].ret);
        }
    }
    const size_t n = said ? json_array_size(said) : sizeof nodes / sizeof nodes[0];
    for (size_t i = 0; i < n && c->n_lifecycle < ROS2_LIFECYCLE_MAX; i++) {
        snprintf(c->lifecycle_nodes[c->n_lifecycle++], sizeof c->lifecycle_nodes[0], "%s",
                 said ? json_string_value(json_array_get(said, i)) : nodes[i]);
    }
}

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static void take_cameras(const pons_value *v, ros2_config *c)
{
    static const char *const topics[] = {"image", "info", "depth"};
    const ros2_qos qos = qos_said(v, "cameras", (ros2_qos){.depth = 1});
    const char *name;
    json_t *said;
    json_object_foreach((json_t *)(uintptr_t)pons_get(v, "cameras"), name, said) {
        ros2_camera *k = &c->cameras[c->n_cameras++];
        ros2_stream *all[] = {&k->image, &k->info, &k->depth};
        snprintf(k->name, sizeof k->name, "%s", name);
        k->compressed = ends_with(pons_get_str(said, "image", ""), "/compressed");
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            const char *topic = pons_get_str(said, topics[i], NULL);
            all[i]->qos = qos;
            if (topic) {
                whole(c->ns, topic, all[i]->name);
            }
        }
    }
}

static int check_topics(const pons_yaml *yaml, const ros2_config *c, pons_error *err)
{
    const char *wrong = NULL, *why = "the robot cannot do without it";
    if (!*c->t_odom.name) {
        wrong = "/topics/odom";
    } else if (!*c->t_scan.name) {
        wrong = "/topics/scan";
    } else if (!*c->t_cmd_vel.name) {
        wrong = "/topics/cmd_vel";
    } else if (c->nav2 && !*c->t_cmd_vel_in.name) {
        wrong = "/topics/cmd_vel_in";
        why = "navigation: nav2 needs the topic that Nav2's last velocity was remapped to";
    } else if (c->nav2 && strcmp(c->t_cmd_vel.name, c->t_cmd_vel_in.name) == 0) {
        wrong = "/topics/cmd_vel_in";
        why = "it is cmd_vel itself: Nav2 would reach the wheels past the gate";
    }
    if (!wrong) {
        return PONS_OK;
    }
    char where[PONS_ERROR_SOURCE_MAX];
    pons_error_set(err, PONS_EINVAL, MODULE, "%s: %s", wrong + 1, why);
    return pons_error_source(err, "%s", pons_yaml_position(yaml, wrong, where, sizeof where));
}

static int take(const pons_yaml *yaml, ros2_config *c, pons_error *err)
{
    const ros2_qos sensor = {.depth = 5}, sure = {.reliable = true, .depth = 10},
                   tf = {.reliable = true, .depth = 100},
                   kept = {.reliable = true, .transient = true, .depth = 1};
    const pons_value *v = pons_yaml_value(yaml), *frames = pons_get(v, "frames"),
                     *limits = pons_get(v, "limits");
    snprintf(c->distro, sizeof c->distro, "%s", pons_get_str(v, "distro", "jazzy"));
    c->domain = (uint32_t)pons_get_int(v, "domain", 0);
    const int rc = from_environment(c, err); // whose release the actions are
    if (rc < 0) {
        return rc;
    }
    c->jazzy = strcmp(c->distro, "humble") != 0;
    snprintf(c->ns, sizeof c->ns, "%s", pons_get_str(v, "namespace", ""));
    c->sim_time = json_is_true(pons_get(v, "use_sim_time"));
    c->stamped = json_is_true(pons_get(v, "cmd_vel_stamped"));
    c->nav2 = strcmp(pons_get_str(v, "navigation", "nav2"), "nav2") == 0;
    c->place = strcmp(pons_get_str(v, "localization", "ros"), "ros") == 0;
    snprintf(c->robot_id, sizeof c->robot_id, "%s", pons_get_str(v, "robot_id", ""));
    snprintf(c->map, sizeof c->map, "%s", pons_get_str(frames, "map", "map"));
    snprintf(c->odom, sizeof c->odom, "%s", pons_get_str(frames, "odom", "odom"));
    snprintf(c->base, sizeof c->base, "%s", pons_get_str(frames, "base", "base_link"));
    c->odom_s = pons_get_num(limits, "odom_s", 0.5);
    c->scan_s = pons_get_num(limits, "scan_s", 0.5);
    c->tf_s = pons_get_num(limits, "tf_s", 2.0);
    c->server_s = pons_get_num(limits, "server_s", 10.0);
    c->answer_s = pons_get_num(limits, "answer_s", 5.0);
    c->discovery_s = pons_get_num(limits, "discovery_s", 1.0);
    stream(v, "odom", "odom", sensor, &c->t_odom);
    stream(v, "scan", "scan", sensor, &c->t_scan);
    stream(v, "battery", "battery_state", sensor, &c->t_battery);
    stream(v, "tf", "/tf", tf, &c->t_tf);
    stream(v, "tf_static", "/tf_static", kept, &c->t_tf_static);
    c->t_tf_static.qos.depth = 100;
    stream(v, "clock", "/clock", sensor, &c->t_clock);
    stream(v, "cmd_vel", "cmd_vel", sure, &c->t_cmd_vel);
    stream(v, "cmd_vel_in", "cmd_vel_nav2", (ros2_qos){.depth = 1}, &c->t_cmd_vel_in);
    stream(v, "initialpose", "initialpose", sure, &c->t_initialpose);
    stream(v, "amcl_pose", "amcl_pose", kept, &c->t_amcl_pose);
    stream(v, "map", "map", kept, &c->t_map);
    name_actions(v, c);
    name_services(v, c);
    take_cameras(v, c);
    take_shown(v, c);
    return check_topics(yaml, c, err);
}

int ros2_config_load(const char *workspace, ros2_config *ret, pons_error *err)
{
    char path[PATH_MAX] = "";
    int rc = pons_config_find(workspace, "config/ros2.yaml", path, sizeof path, NULL, err);
    pons_yaml *yaml = NULL;
    rc = rc < 0 ? rc : pons_yaml_load(path, &yaml, err);
    rc = rc < 0 ? rc : check(yaml, err);
    *ret = (ros2_config){0};
    rc = rc < 0 ? rc : take(yaml, ret, err);
    pons_yaml_destroy(yaml);
    if (rc < 0) {
        ros2_config_fini(ret);
    }
    return rc;
}

void ros2_config_fini(ros2_config *c)
{
    pons_value_unref(c->skills);
    pons_value_unref(c->interfaces);
    c->skills = c->interfaces = NULL;
}

bool ros2_config_outside(const ros2_config *c)
{
    bool any = json_array_size(c->skills) > 0;
    any = any || *c->clear_local || *c->clear_global || *c->lifecycle_manager;
    for (int i = 0; i < ROS2_NAV2; i++) {
        any = any || *c->actions[i];
    }
    return any;
}

void ros2_config_name(const ros2_config *c, const char *name, char ret[ROS2_NAME_MAX])
{
    whole(c->ns, name, ret);
}
