// doctor_ros2.c - `pons doctor` on a robot of ROS 2 that is configured: which RMW its nodes have, whether what speaks
// with them is installed, and whether anybody publishes where Nav2 should. It listens for WAIT_MS at most.
#include "cli/maintenance/doctor.h"
#include "pons/config_file.h"
#include "pons/ext/topics.h"
#include "pons/module.h"

#include <limits.h>
#include <stdio.h>

enum { WAIT_MS = 3000 };

static bool say_rmw(doctor *d, const pons_topics_network *n)
{
    char detail[160];
    if (n->rmw_cyclonedds + n->rmw_fastrtps + n->rmw_other == 0) {
        snprintf(detail, sizeof detail, "nobody was heard in domain %u for %d s", n->domain,
                 WAIT_MS / 1000);
        doctor_say(d, "ros2 network", "absent", detail,
                   "start the robot; it needs this ROS_DOMAIN_ID and this network");
        return false;
    }
    snprintf(detail, sizeof detail,
             "domain %u, participants: rmw_cyclonedds_cpp %d, rmw_fastrtps_cpp %d, others %d",
             n->domain, n->rmw_cyclonedds, n->rmw_fastrtps, n->rmw_other);
    doctor_say(d, "ros2 network", "ok", detail, NULL);
    return true;
}

// Topics need no module; what goes by a service does: goals, Nav2's state, a robot's own skills.
static void say_services(doctor *d, const pons_topics_network *n)
{
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    char line[512];
    if (n->rmw_fastrtps + n->rmw_other == 0) {
        return;
    }
    if (pons_module_load("dds", "fast", &ops, &err) >= 0) {
        doctor_say(d, "dds fast", "ok", "loads: services of rmw_fastrtps_cpp work", NULL);
        return;
    }
    doctor_say(d, "dds fast", "absent",
               err.status == PONS_ENOTFOUND ? "the module dds-fast is not installed"
                                            : pons_error_line(&err, line, sizeof line),
               "without it no goal, no service and no parameter of this robot works, only topics: "
               "install pons-ros2, or libfastrtps-dev and g++ and build again, or start the robot "
               "with RMW_IMPLEMENTATION=rmw_cyclonedds_cpp");
}

static void say_velocity(doctor *d, const pons_topics_network *n)
{
    char detail[320];
    if (!*n->wants) {
        return;
    }
    if (!n->nav2) {
        doctor_say(d, "ros2 nav2", "absent", "nobody serves navigate_to_pose",
                   "start Nav2 on the robot, or set `navigation: pons` in config/ros2.yaml");
        return;
    }
    if (n->publishers > 0) {
        snprintf(detail, sizeof detail, "%s is published", n->wants);
        doctor_say(d, "ros2 nav2", "ok", detail, NULL);
        return;
    }
    snprintf(detail, sizeof detail, "%s: nobody publishes it, Nav2 should", n->wants);
    doctor_say(d, "ros2 nav2", "absent", detail,
               "no goal moves the robot: `pons ros2 setup` writes nav2.launch.py, then `ros2 "
               "launch nav2.launch.py robot:=nav2` on the robot");
}

void doctor_ros2(doctor *d)
{
    char path[PATH_MAX];
    pons_error err = PONS_ERROR_INIT;
    pons_config_place place = PONS_CONFIG_SHIPPED;
    const void *found = NULL;
    const int there =
        pons_config_find(d->c->app.workspace, "config/ros2.yaml", path, sizeof path, &place, &err);
    if (there < 0 || place == PONS_CONFIG_SHIPPED ||
        pons_module_load_of("topics", "ros2", PONS_TOPICS_ABI, &found, &err) <
            0) { // the line about the module says it already
        return;
    }
    const pons_topics_ops *ops = found;
    pons_topics_network n = {0};
    char line[512];
    cli_busy("listening to the robot's ROS 2", 0);
    err = (pons_error)PONS_ERROR_INIT;
    if (ops->look(d->c->app.workspace, WAIT_MS, &n, &err) < 0) {
        doctor_say(d, "ros2 network", "missing", pons_error_line(&err, line, sizeof line),
                   "`pons config check ros2.yaml`");
    } else if (say_rmw(d, &n)) {
        say_services(d, &n);
        say_velocity(d, &n);
    }
    cli_busy("looking at what there is", 0);
}
