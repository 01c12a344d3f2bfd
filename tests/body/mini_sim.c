// mini_sim.c - see mini_sim.h.
#include "body/mini_sim.h"

#include "pons/drivers.h"
#include "pons/yaml.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t ROBOT_STEP_NS = 10 * PONS_NS_PER_MS;
static const int ROBOT_STEPS = 5; // to a tick

pons_value *mini_sim_world(const char *name, const double (*boxes)[4], int n, pons_pose2 start)
{
    char path[512];
    snprintf(path, sizeof path, "%s/worlds/%s", PONS_SOURCE_DIR, name);
    pons_yaml *y = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_yaml_load(path, &y, &err) != PONS_OK) {
        fail_msg("%s: %s", path, err.message);
    }
    pons_value *world = json_deep_copy(pons_yaml_value(y));
    pons_yaml_destroy(y);
    json_t *list = json_object_get(json_object_get(world, "map"), "boxes");
    for (int i = 0; i < n; i++) {
        char id[32];
        snprintf(id, sizeof id, "test_box_%d", i);
        json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:f, s:f, s:s}", "id", id, "x",
                                              boxes[i][0], "y", boxes[i][1], "sx", boxes[i][2],
                                              "sy", boxes[i][3], "kind", "wall"));
    }
    json_object_set_new(world, "start",
                        json_pack("{s:f, s:f, s:f}", "x", start.x, "y", start.y, "yaw", start.yaw));
    return world;
}

void mini_sim_open(mini_sim *m, const pons_value *world, uint64_t seed)
{
    memset(m, 0, sizeof *m);
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 0); // trees/
    pons_error err = PONS_ERROR_INIT;
    pons_value *config = json_pack("{s:I, s:f}", "seed", (json_int_t)seed, "battery_pct", 100.0);
    if (pons_robot_kinematic.open(world, config, &m->robot, &err) != PONS_OK ||
        pons__costmap_from_world(world, &m->grid, &err) != PONS_OK) {
        fail_msg("%s: %s", err.module, err.message);
    }
    pons_value_unref(config);
    pons__nav_params params = PONS_NAV_PARAMS_INIT;
    pons_robot_caps caps = {0};
    pons_robot_kinematic.caps(m->robot, &caps);
    params.footprint = caps.footprint;
    params.radius_m = caps.radius_m;
    params.turning_radius_m = caps.turning_radius_m;
    m->nav = pons__nav_create(m->grid, &params);
    m->localizer = pons__localizer_create(m->grid, mini_sim_truth(m));
    assert_non_null(m->nav);
    assert_non_null(m->localizer);
    m->nearest_m = INFINITY;
    m->share = 1.0;
    m->digest = 14695981039346656037u; // FNV-1a
}

void mini_sim_close(mini_sim *m)
{
    pons__localizer_destroy(m->localizer);
    pons__nav_destroy(m->nav);
    pons__costmap_destroy(m->grid);
    pons_robot_kinematic.close(m->robot);
}

pons_pose2 mini_sim_truth(mini_sim *m)
{
    pons_pose2 p;
    pons_robot_kinematic.truth(m->robot, &p);
    return p;
}

pons_pose2 mini_sim_pose(mini_sim *m)
{
    return m->use_truth ? mini_sim_truth(m) : pons__localizer_pose(m->localizer);
}

int64_t mini_sim_now(mini_sim *m)
{
    return pons_robot_kinematic.time_ns(m->robot);
}

static void digest(mini_sim *m, const void *data, size_t n)
{
    const unsigned char *b = data;
    for (size_t i = 0; i < n; i++) {
        m->digest = (m->digest ^ b[i]) * 1099511628211u;
    }
}

static void judge(mini_sim *m, pons_pose2 before)
{
    const pons_pose2 truth = mini_sim_truth(m), at = pons__localizer_pose(m->localizer);
    m->truth_m += hypot(truth.x - before.x, truth.y - before.y);
    m->worst_m = fmax(m->worst_m, hypot(truth.x - at.x, truth.y - at.y));
    m->worst_rad = fmax(m->worst_rad, fabs(pons_wrap_angle(truth.yaw - at.yaw)));
    m->nearest_m = fmin(m->nearest_m, pons__costmap_clearance(m->grid, truth.x, truth.y));
    digest(m, &at.x, sizeof at.x);
    digest(m, &at.y, sizeof at.y);
    digest(m, &at.yaw, sizeof at.yaw);
}

void mini_sim_tick(mini_sim *m)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_pose2 before = mini_sim_truth(m);
    for (int i = 0; i < ROBOT_STEPS; i++) {
        assert_int_equal(pons_robot_kinematic.step(m->robot, ROBOT_STEP_NS, &err), PONS_OK);
        pons_robot_kinematic.read(m->robot, &m->state);
        pons__localizer_predict(m->localizer, m->state.odom_from_base);
        const int64_t seen_ns = m->scan.n > 0 ? m->scan.stamp_ns : -1;
        if (pons_robot_kinematic.scan(m->robot, &m->scan) && m->scan.stamp_ns != seen_ns) {
            pons__localizer_correct(m->localizer, &m->scan, m->state.odom_from_base);
            pons__costmap_observe(m->grid, mini_sim_pose(m), &m->scan);
        }
    }
    judge(m, before);
    if (m->idle) {
        return;
    }
    pons__nav_step(m->nav, mini_sim_now(m), mini_sim_pose(m), m->state.twist, &m->scan, &m->out);
    digest(m, &m->out, sizeof m->out);
    const double v = m->backwards ? -m->out.cmd.v : m->out.cmd.v;
    const pons_twist2 to_wheels = {m->share * v, m->share * m->out.cmd.w};
    pons_robot_kinematic.write_velocity(m->robot, to_wheels);
    if (m->out.cmd.v > 0.1 && fabs(m->out.cmd.w) > 0.1) {
        m->reversals += m->out.cmd.w * m->last_w < 0.0 ? 1.0 : 0.0;
        m->last_w = m->out.cmd.w;
    }
}

void mini_sim_run(mini_sim *m, double seconds)
{
    for (int i = 0; i < (int)(seconds * 20.0 + 0.5); i++) {
        mini_sim_tick(m);
    }
}

pons__nav_status mini_sim_go(mini_sim *m, pons_pose2 goal, bool with_yaw, double seconds)
{
    pons__nav_start(m->nav, goal, with_yaw, mini_sim_now(m));
    for (int i = 0; i < (int)(seconds * 20.0); i++) {
        mini_sim_tick(m);
        if (m->out.status != PONS_NAV_RUNNING) {
            break;
        }
    }
    return m->out.status;
}

void mini_sim_spawn(mini_sim *m, const char *id, double x, double y, double sx, double sy)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *what =
        json_pack("{s:s, s:f, s:f, s:f, s:f}", "id", id, "x", x, "y", y, "sx", sx, "sy", sy);
    assert_int_equal(pons_robot_kinematic.spawn(m->robot, what, &err), PONS_OK);
    pons_value_unref(what);
}

void mini_sim_remove(mini_sim *m, const char *id)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *what = json_pack("{s:s, s:b}", "id", id, "remove", 1);
    assert_int_equal(pons_robot_kinematic.spawn(m->robot, what, &err), PONS_OK);
    pons_value_unref(what);
}

pons_scan mini_scan(int n, float r, int64_t stamp_ns)
{
    pons_scan s = {.stamp_ns = stamp_ns,
                   .n = n,
                   .angle_min = (float)-M_PI,
                   .angle_increment = (float)(2.0 * M_PI / n),
                   .range_min = 0.05f,
                   .range_max = 10.0f};
    for (int i = 0; i < n; i++) {
        s.ranges[i] = r;
    }
    return s;
}
