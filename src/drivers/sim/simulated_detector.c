// simulated_detector.c - the simulated detector: what a camera on the robot, with a detector behind it, would report.
//
// Each object of the world that lies in the field of view, with nothing on the line of sight, is found but for the share
// that is missed; its place has noise. Now and then it reports something where nothing is. It draws from a generator
// of its own, so that a run with a detector moves as one without.
#include "drivers/sim/sim.h"

#include <math.h>
#include <string.h>

static const double NEAREST_M = 0.05;
static const double RIM = 0.95; // a false alarm lies somewhat before what ends the view

static bool is_clear(const pons__sim *s, const double eye[3], const double at[3])
{
    if (!pons_boxes_clear(s->p.boxes, s->p.heights, (size_t)s->p.n_boxes, eye, at)) {
        return false;
    }
    for (int i = 0; i < PONS__SIM_OBSTACLES_MAX; i++) {
        const pons__obstacle *o = &s->v.obstacles[i];
        if (*o->id && !pons_boxes_clear(&o->box, &o->height_m, 1, eye, at)) {
            return false;
        }
    }
    return true;
}

static void add(pons__sim *s, pons_robot_sight *r, pons_pose2 truth, const double at[3],
                const struct pons__sim_object *o, double score)
{
    pons_robot_detection *d = &r->found[r->n++];
    const pons_pose2 there = {at[0], at[1], 0.0};
    const pons_pose2 in_base = pons_pose_between(truth, there);
    const double place[3] = {in_base.x, in_base.y, at[2]};
    memcpy(d->label, o->label, sizeof d->label);
    for (int i = 0; i < 3; i++) {
        d->position[i] = pons_rand_normal(&s->v.sight_rand, place[i], s->p.sight.noise_m);
    }
    d->sd_m = s->p.sight.noise_m;
    d->score = score;
}

// Something of a label that the world has, in view, before the first thing that hides it.
static void add_false_alarm(pons__sim *s, pons_robot_sight *r, pons_pose2 truth,
                            const double eye[3])
{
    pons_rand *rand = &s->v.sight_rand;
    const struct pons__sim_object *like =
        &s->p.objects[pons_rand_below(rand, (uint64_t)s->p.n_objects)];
    const double a = truth.yaw + (pons_rand_unit(rand) - 0.5) * RIM * s->p.sight.fov_rad;
    double far =
        s->p.sight.near_m + pons_rand_unit(rand) * RIM * (s->p.sight.far_m - s->p.sight.near_m);
    double at[3];
    for (;; far *= 0.8) {
        at[0] = eye[0] + far * cos(a), at[1] = eye[1] + far * sin(a), at[2] = like->at[2];
        if (far < s->p.sight.near_m) {
            return; // its nose is at a wall
        }
        if (is_clear(s, eye, at)) {
            break;
        }
    }
    add(s, r, truth, at, like, 0.3 + 0.4 * pons_rand_unit(rand));
}

static bool is_in_view(const pons__sim *s, pons_pose2 truth, const double at[3])
{
    const double r = hypot(at[0] - truth.x, at[1] - truth.y);
    const double off = pons_wrap_angle(atan2(at[1] - truth.y, at[0] - truth.x) - truth.yaw);
    return r >= fmax(s->p.sight.near_m, NEAREST_M) && r <= s->p.sight.far_m &&
           fabs(off) <= 0.5 * s->p.sight.fov_rad;
}

void pons__sim_look(pons__sim *s, pons_pose2 truth)
{
    const int64_t period = s->p.sight.period_ns;
    if (!period || s->v.time_ns < s->v.next_sight_ns) {
        return;
    }
    s->v.next_sight_ns = (s->v.time_ns / period + 1) * period;
    const double eye[3] = {truth.x, truth.y, s->p.sight.height_m};
    pons_robot_sight r;
    memset(&r, 0, sizeof r); // padding too: equal sights are equal bytes
    r.stamp_ns = s->v.time_ns;
    memcpy(r.camera, "eye", sizeof "eye");
    r.eye[2] = s->p.sight.height_m;
    r.fov_rad = s->p.sight.fov_rad, r.near_m = s->p.sight.near_m, r.far_m = s->p.sight.far_m;
    r.miss = s->p.sight.miss;
    for (int i = 0; i < s->p.n_objects && r.n < PONS_ROBOT_OBJECTS; i++) {
        const double *at = s->v.objects_at[i];
        if (is_in_view(s, truth, at) && is_clear(s, eye, at) &&
            pons_rand_unit(&s->v.sight_rand) >= s->p.sight.miss) {
            const double score = 0.6 + 0.35 * pons_rand_unit(&s->v.sight_rand);
            add(s, &r, truth, at, &s->p.objects[i], score);
            memcpy(r.found[r.n - 1].identity, s->p.objects[i].identity, PONS__SIM_ID_MAX);
        }
    }
    if (s->p.n_objects && r.n < PONS_ROBOT_OBJECTS &&
        pons_rand_unit(&s->v.sight_rand) < s->p.sight.false_alarm) {
        add_false_alarm(s, &r, truth, eye);
    }
    pons__seqlock_write(&s->sight, &r);
}

bool pons__sim_see(void *self, pons_robot_sight *ret)
{
    pons__sim *s = self;
    pons_robot_sight newest;
    if (!pons__seqlock_read(&s->sight, &newest) || newest.fov_rad == 0.0) {
        return false; // 0: restored, not yet seen again
    }
    memcpy(ret, &newest, sizeof *ret);
    return true;
}

int pons__sim_move_object(pons__sim *s, const pons_value *what, pons_error *err)
{
    const char *id = pons_get_str(what, "id", "");
    int i = 0;
    while (i < s->p.n_objects && strcmp(s->p.objects[i].id, id) != 0) {
        i++;
    }
    if (i == s->p.n_objects) {
        return PONS_ENOTFOUND;
    }
    const double x = pons_get_num(what, "x", NAN), y = pons_get_num(what, "y", NAN);
    const double z = pons_get_num(what, "height", s->v.objects_at[i][2]);
    if (!isfinite(x) || !isfinite(y) || !isfinite(z) || pons_get_bool(what, "remove", false)) {
        return pons_error_set(err, PONS_EINVAL, s->module,
                              "cannot move %s: an object of the world needs x and y, and stays",
                              id);
    }
    s->v.objects_at[i][0] = x, s->v.objects_at[i][1] = y, s->v.objects_at[i][2] = z;
    return i;
}
