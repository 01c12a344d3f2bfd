// test_gazebo_conformance.c - the robot in Gazebo keeps the contract of drivers (conformance.c), through a peer that
// speaks Gazebo's topics: each robot that is opened has a peer of its own, in a partition of its own.
//
// Without the module (Ignition Transport was not there at build time) everything is skipped, with a message.
#include "conformance.h"
#include "gazebo_server.h"

#include <stdio.h>

static gazebo_server *servers; // of the robots that are open

static int open_with_peer(const pons_value *world, const pons_value *config, void **ret,
                          pons_error *err)
{
    char x[32], y[32], yaw[32], seed[32];
    const pons_value *start = pons_get(config, "start");
    snprintf(x, sizeof x, "%.9f", pons_get_num(start, "x", 2.0));
    snprintf(y, sizeof y, "%.9f", pons_get_num(start, "y", 1.6));
    snprintf(yaw, sizeof yaw, "%.9f", pons_get_num(start, "yaw", 0.0));
    snprintf(seed, sizeof seed, "%lld", (long long)pons_get_int(config, "seed", 1));
    const char *const more[] = {"--start", x, y, yaw, "--seed", seed, "--iteration-ms", "5", NULL};
    if (!start) { // it is only refused
        return gazebo_ops->open(world, config, ret, err);
    }
    gazebo_server *s = gazebo_serve(world, more, "clock: pons\nlimits: {step_s: 30}");
    pons_autovalue with = json_deep_copy(config);
    json_object_set_new(with, "workspace", json_string(s->workspace));
    const int rc = gazebo_ops->open(world, with, ret, err);
    if (rc < 0) {
        gazebo_unserve(s);
        return rc;
    }
    s->robot = *ret;
    s->next = servers;
    servers = s;
    return rc;
}

static void close_with_peer(void *robot)
{
    gazebo_server **at = &servers;
    while (*at && (*at)->robot != robot) {
        at = &(*at)->next;
    }
    gazebo_ops->close(robot);
    if (robot && *at) {
        gazebo_server *s = *at;
        *at = s->next;
        gazebo_unserve(s);
    }
}

int main(void)
{
    int code = 0;
    if (!gazebo_load(&code)) {
        return code;
    }
    if (!gazebo_begin()) {
        return 1;
    }
    pons_robot_ops with_peer = *gazebo_ops;
    with_peer.open = open_with_peer;
    with_peer.close = close_with_peer;
    const driver_traits traits = {.ops = &with_peer,
                                  .depth_m = 0.001,
                                  .odom_m = 0.06,
                                  .odom_rad = 0.06,
                                  .brake_more_m = 0.04,
                                  .remote = true,
                                  .battery_pct = 0.01};
    const int failed = conformance_run(&traits);
    return failed + gazebo_end();
}
