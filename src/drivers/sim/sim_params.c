// sim_params.c - a world's value and a config's into the numbers that a simulated robot needs.
//
// World files are checked against their schema by whoever loads them (pons_world_load), but a
// driver can be opened with any value, so what would make it misbehave is checked again here.
#include "drivers/sim/sim.h"
#include "pons/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pons__sim_params_fini(pons__sim_params *p)
{
    free(p->boxes);
    free(p->heights);
    free(p->objects);
    p->boxes = NULL;
    p->heights = NULL;
    p->objects = NULL;
    p->n_boxes = p->n_objects = 0;
}

static bool positive(double v)
{
    return isfinite(v) && v > 0.0;
}

static bool not_negative(double v)
{
    return isfinite(v) && v >= 0.0;
}

static const char *read_robot(pons__sim_params *p, const pons_value *world)
{
    const pons_value *robot = pons_get(world, "robot");
    pons_robot_caps *c = &p->caps;
    const struct {
        const char *key;
        double *into;
        const char *complaint;
    } keys[] = {
        {"radius_m", &c->radius_m, "robot.radius_m must be > 0"},
        {"wheel_radius_m", &p->wheel_radius_m, "robot.wheel_radius_m must be > 0"},
        {"track_m", &p->track_m, "robot.track_m must be > 0"},
        {"speed_max_mps", &c->speed_max_mps, "robot.speed_max_mps must be > 0"},
        {"yaw_rate_max_radps", &c->yaw_rate_max_radps, "robot.yaw_rate_max_radps must be > 0"},
        {"accel_max_mps2", &c->accel_max_mps2, "robot.accel_max_mps2 must be > 0"},
        {"brake_max_mps2", &c->brake_max_mps2, "robot.brake_max_mps2 must be > 0"},
        {"yaw_accel_max_radps2", &c->yaw_accel_max_radps2,
         "robot.yaw_accel_max_radps2 must be > 0"},
    };
    const bool stands = pons_get(robot, "arm"); // it has no wheels
    const pons_value *shape = pons_get(robot, "footprint");
    if (shape) {
        const char *bad = pons_footprint_read(shape, &c->footprint);
        if (bad) {
            return bad;
        }
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        *keys[i].into = pons_get_num(robot, keys[i].key, stands ? 0.0 : NAN);
        if (shape && keys[i].into == &c->radius_m) {
            c->radius_m = c->footprint.circumscribed_m;
        }
        if (!positive(*keys[i].into) && !(stands && keys[i].into != &c->radius_m)) {
            return keys[i].complaint;
        }
    }
    c->reverse_max_mps = pons_get_num(robot, "reverse_max_mps", stands ? 0.0 : NAN);
    if (!not_negative(c->reverse_max_mps)) {
        return "robot.reverse_max_mps must be ≥ 0";
    }
    c->turning_radius_m = pons_get_num(robot, "turning_radius_m", 0.0);
    if (!not_negative(c->turning_radius_m)) {
        return "robot.turning_radius_m must be ≥ 0";
    }
    if (!shape) {
        c->footprint = pons_footprint_circle(c->radius_m);
    }
    snprintf(c->robot_id, sizeof c->robot_id, "%s", pons_get_str(robot, "id", "robot"));
    c->simulated = true;
    c->can_charge = true;
    return NULL;
}

static const char *read_battery(pons__sim_params *p, const pons_value *world,
                                const pons_value *config)
{
    const pons_value *b = pons_get(world, "battery");
    p->battery.initial_pct =
        pons_get_num(config, "battery_pct", pons_get_num(b, "initial_pct", NAN));
    p->battery.idle_pct_per_s = pons_get_num(b, "idle_pct_per_s", NAN);
    p->battery.motion_pct_per_m = pons_get_num(b, "motion_pct_per_m", NAN);
    p->battery.charge_pct_per_s = pons_get_num(b, "charge_pct_per_s", NAN);
    if (!not_negative(p->battery.initial_pct) || p->battery.initial_pct > 100.0) {
        return "battery.initial_pct must be 0 to 100";
    }
    if (!not_negative(p->battery.idle_pct_per_s) || !not_negative(p->battery.motion_pct_per_m) ||
        !not_negative(p->battery.charge_pct_per_s)) {
        return "battery rates must be ≥ 0";
    }
    return NULL;
}

static const char *read_pose(const pons_value *v, pons_pose2 *ret, const char *what)
{
    *ret = (pons_pose2){pons_get_num(v, "x", NAN), pons_get_num(v, "y", NAN),
                        pons_wrap_angle(pons_get_num(v, "yaw", NAN))};
    return isfinite(ret->x) && isfinite(ret->y) && isfinite(ret->yaw) ? NULL : what;
}

static const char *read_lidar(pons__sim_params *p, const pons_value *world)
{
    const pons_value *l = pons_get(world, "lidar");
    const int64_t beams = pons_get_int(l, "beams", 0);
    if (beams < 1 || beams > PONS_SCAN_MAX) {
        return "lidar.beams must be 1 to 360";
    }
    p->lidar.beams = (int)beams;
    const pons_value *at = pons_get(l, "pose");
    const char *bad =
        at ? read_pose(at, &p->lidar.pose, "lidar.pose must have x, y and yaw") : NULL;
    if (bad) {
        return bad;
    }
    p->lidar.angle_min = pons_get_num(l, "angle_min", NAN);
    const double span = pons_get_num(l, "angle_max", NAN) - p->lidar.angle_min;
    if (!positive(span) || span > 2.0 * M_PI + 1e-6) {
        return "lidar.angle_min and angle_max must span more than 0 and at most a full turn";
    }
    p->lidar.angle_increment = span / (double)beams;
    p->lidar.range_min = pons_get_num(l, "range_min", NAN);
    p->lidar.range_max = pons_get_num(l, "range_max", NAN);
    if (!not_negative(p->lidar.range_min) || !isfinite(p->lidar.range_max) ||
        p->lidar.range_max <= p->lidar.range_min) {
        return "lidar.range_min must be ≥ 0 and below range_max";
    }
    p->lidar.noise_m = pons_get_num(l, "noise_m", 0.0);
    if (!not_negative(p->lidar.noise_m)) {
        return "lidar.noise_m must be ≥ 0";
    }
    const double hz = pons_get_num(l, "hz", NAN);
    if (!positive(hz) || hz > 1000.0) {
        return "lidar.hz must be above 0 and at most 1000";
    }
    p->caps.scan_hz = hz;
    p->lidar.period_ns = llround(1e9 / hz);
    return NULL;
}

static const char *read_odometry(pons__sim_params *p, const pons_value *world)
{
    const pons_value *o = pons_get(world, "odometry");
    p->odometry.scale_std = pons_get_num(o, "scale_std", 0.005);
    p->odometry.yaw_scale_std = pons_get_num(o, "yaw_scale_std", 0.01);
    p->odometry.noise_m = pons_get_num(o, "noise_m", 0.005);
    p->odometry.noise_rad = pons_get_num(o, "noise_rad", 0.01);
    if (!not_negative(p->odometry.scale_std) || !not_negative(p->odometry.yaw_scale_std) ||
        !not_negative(p->odometry.noise_m) || !not_negative(p->odometry.noise_rad)) {
        return "odometry errors must be ≥ 0";
    }
    return NULL;
}

static const char *read_places(pons__sim_params *p, const pons_value *world,
                               const pons_value *config)
{
    const pons_value *start = pons_get(config, "start");
    const pons_value *charger = pons_get(world, "charger");
    const char *bad = read_pose(start ? start : pons_get(world, "start"), &p->start,
                                "start must have x, y and yaw");
    p->contact_m = NAN; // nothing is that near
    if (bad || !charger) {
        return bad;
    }
    bad = read_pose(pons_get(charger, "pose"), &p->charger, "charger.pose must have x, y and yaw");
    p->contact_m = pons_get_num(charger, "contact_m", NAN);
    if (!bad && !positive(p->contact_m)) {
        bad = "charger.contact_m must be > 0";
    }
    return bad;
}

static const char *read_boxes(pons__sim_params *p, const pons_value *world)
{
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    const size_t n = json_array_size(boxes);
    if (!json_is_array(boxes)) {
        return "map.boxes must be a list";
    }
    p->boxes = calloc(n ? n : 1, sizeof *p->boxes);
    p->heights = calloc(n ? n : 1, sizeof *p->heights);
    if (!p->boxes || !p->heights) {
        return "too many boxes for the memory";
    }
    for (size_t i = 0; i < n; i++) {
        const pons_value *b = json_array_get(boxes, i);
        const pons_box2 box = {.x = pons_get_num(b, "x", NAN),
                               .y = pons_get_num(b, "y", NAN),
                               .yaw = pons_get_num(b, "yaw", 0.0),
                               .sx = pons_get_num(b, "sx", NAN),
                               .sy = pons_get_num(b, "sy", NAN)};
        if (!isfinite(box.x) || !isfinite(box.y) || !isfinite(box.yaw) || !positive(box.sx) ||
            !positive(box.sy)) {
            return "map.boxes need x, y and sizes sx, sy > 0";
        }
        const bool wall = strcmp(pons_get_str(b, "kind", "wall"), "wall") == 0;
        p->heights[p->n_boxes] =
            pons_get_num(b, "height_m", wall ? INFINITY : PONS__SIM_FURNITURE_HEIGHT_M);
        p->boxes[p->n_boxes++] = box;
    }
    return NULL;
}

static const char *read_objects(pons__sim_params *p, const pons_value *world)
{
    const pons_value *all = pons_get(world, "objects");
    const size_t n = json_array_size(all);
    p->objects = calloc(n ? n : 1, sizeof *p->objects);
    if (!p->objects) {
        return "too many objects for the memory";
    }
    pons_each(o, all) {
        struct pons__sim_object *to = &p->objects[p->n_objects];
        if (pons_get_bool(o, "fixed", false) || p->n_objects == PONS__SIM_OBJECTS_MAX) {
            continue; // a surface: the map has it
        }
        snprintf(to->id, sizeof to->id, "%s", pons_get_str(o, "id", ""));
        pons_utf8_copy(to->label, sizeof to->label, pons_get_str(o, "class", "thing"));
        snprintf(to->identity, sizeof to->identity, "%s", pons_get_str(o, "tag", ""));
        for (size_t i = 0; i < 3; i++) {
            to->at[i] = json_number_value(json_array_get(pons_get(o, "position"), i));
        }
        p->n_objects++;
    }
    return NULL;
}

static const char *read_sight(pons__sim_params *p, const pons_value *world)
{
    const pons_value *v = pons_get(world, "sight");
    if (!v) {
        return NULL;
    }
    const double hz = pons_get_num(v, "hz", 2.0), fov_deg = pons_get_num(v, "fov_deg", 90.0);
    p->sight.height_m = pons_get_num(v, "height_m", 1.0);
    p->sight.near_m = pons_get_num(v, "near_m", 0.3);
    p->sight.far_m = pons_get_num(v, "range_m", 4.0);
    p->sight.miss = pons_get_num(v, "miss", 0.0);
    p->sight.false_alarm = pons_get_num(v, "false_alarm", 0.0);
    p->sight.noise_m = pons_get_num(v, "noise_m", 0.0);
    if (!positive(hz) || hz > 1000.0 || !positive(fov_deg) || fov_deg > 360.0 ||
        !not_negative(p->sight.height_m) || !not_negative(p->sight.near_m) ||
        !isfinite(p->sight.far_m) || p->sight.far_m <= p->sight.near_m) {
        return "sight needs hz > 0, fov_deg 0 to 360, and range_m above near_m ≥ 0";
    }
    if (!not_negative(p->sight.miss) || p->sight.miss > 1.0 ||
        !not_negative(p->sight.false_alarm) || p->sight.false_alarm > 1.0 ||
        !not_negative(p->sight.noise_m)) {
        return "sight.miss and false_alarm must be 0 to 1, noise_m ≥ 0";
    }
    p->sight.fov_rad = fov_deg * M_PI / 180.0;
    p->sight.period_ns = llround(1e9 / hz);
    return NULL;
}

int pons__sim_params_init(pons__sim_params *p, const char *module, const pons_value *world,
                          const pons_value *config, pons_error *err)
{
    memset(p, 0, sizeof *p);
    const char *bad = NULL; // what is wrong, by its key
    (void)((bad = read_robot(p, world)) || (bad = read_battery(p, world, config)) ||
           (bad = read_lidar(p, world)) || (bad = read_odometry(p, world)) ||
           (bad = read_places(p, world, config)) || (bad = read_boxes(p, world)) ||
           (bad = read_objects(p, world)) || (bad = read_sight(p, world)));
    if (bad) {
        pons__sim_params_fini(p);
        pons_error_set(err, PONS_EINVAL, module, "bad world: %s", bad);
        return pons_error_source(err, "%s", pons_get_str(world, "path", "world"));
    }
    snprintf(p->world, sizeof p->world, "%s", pons_get_str(world, "name", ""));
    p->seed = (uint64_t)pons_get_int(config, "seed", 1);
    return PONS_OK;
}
