// motion_invariants.c - what holds of the wheels at every step, by what the gate wrote and where the robot is.
//
//     latched     zero is written from the step in which a stop was said, and after it has braked it stands
//     lost        without a brain nothing is begun, and after the heartbeat's time and the brakes it stands
//     limits      no more than the robot's, less what a person has taken of them; no faster than it may
//                 speed up
//     touched     it drives into nothing. What came to it is excused, and what its wheels did that
//                 were stuck
#include "scenario/checks/invariants_internal.h"

#include <math.h>

#define BRAKES_S      0.7                    // from full speed to standstill, and some more
#define STANDS_M      0.02                   // and what that may still be off
#define LOST_NS       (350 * PONS_NS_PER_MS) // the heartbeat is good for 300 ms, and a step
#define LOST_STILL_NS (LOST_NS + PONS_NS_PER_S)
#define PACE_S        1.0                    // from one pace to another
#define TOLD_NS       (100 * PONS_NS_PER_MS) // two times telemetry
#define HELD_S        0.03                   // the gate has had its turn
#define RAMP_S        0.05                   // the gate's steps are not longer, however late it is
#define SAME          1e-6
#define STILL_MPS     0.02
#define STILL_RADPS   0.05

// A stop counts from the moment at which it was said to the body; from the next telemetry on that
// says what is so.
static void look_at_latch(pons__watch *w, const pons__watch_step *step)
{
    const bool before = w->latched;
    if (step->reported) {
        w->latched = step->latched;
        w->said = false;
    }
    w->latched = w->latched || w->said;
    if (!w->latched) {
        w->stands = false;
        return;
    }
    if (!before) {
        w->latched_s = step->robot_s;
    }
    if (step->written.v != 0.0 || step->written.w != 0.0) {
        pons__watch_broken(w, "latched", "latched, and the wheels are told %.3f m/s, %.3f rad/s",
                           step->written.v, step->written.w);
    }
    if (step->robot_s - w->latched_s < BRAKES_S) {
        return;
    }
    const char *goes_on = json_object_iter_key(json_object_iter(w->moving));
    if (goes_on) {
        pons__watch_broken(w, "goes on", "latched, and goal %s has not ended", goes_on);
    }
    if (!w->stands) {
        w->stands = true;
        w->stood_at = step->truth;
    }
    if (hypot(step->truth.x - w->stood_at.x, step->truth.y - w->stood_at.y) > STANDS_M) {
        pons__watch_broken(w, "moved", "latched, and the robot moved");
    }
}

static void look_at_lost(pons__watch *w, const pons__watch_step *step)
{
    const pons_twist2 now = step->written, was = w->wrote;
    w->lost_ns = step->minded && !step->awake ? w->lost_ns + step->dt_ns : 0;
    if (w->lost_ns > LOST_NS &&
        (fabs(now.v) > fabs(was.v) + SAME || fabs(now.w) > fabs(was.w) + SAME)) {
        pons__watch_broken(w, "lost",
                           "there is no brain, and the wheels are told %.3f m/s, %.3f rad/s", now.v,
                           now.w);
    }
    const bool faster = fabs(now.v) > fabs(was.v) + SAME || fabs(now.w) > fabs(was.w) + SAME;
    pons_each_member(goal, task, w->moving) {
        const bool held = pons_get(w->held, goal) != NULL;
        if (held && faster && w->now_s - pons_get_num(w->held, goal, 0.0) > HELD_S) {
            pons__watch_broken(w, "held", "goal %s is held, and the wheels are told %.3f m/s", goal,
                               now.v);
        }
        if (!held && w->lost_ns > LOST_STILL_NS) {
            pons__watch_broken(w, "unheld", "there is no brain, and goal %s is not held", goal);
        }
    }
    if (w->lost_ns > LOST_STILL_NS && (now.v != 0.0 || now.w != 0.0)) {
        pons__watch_broken(w, "drives", "there is no brain for %.2f s, and the robot drives",
                           (double)w->lost_ns / 1e9);
    }
}

// A pace that is told holds at once; what was faster brakes first.
static void look_at_limits(pons__watch *w, const pons__watch_step *step)
{
    const pons_robot_caps *c = &step->caps;
    const pons_twist2 now = step->written, was = w->wrote;
    if (step->reported && step->pace_pct != w->pace_pct) {
        w->pace_pct = step->pace_pct;
        w->pace_s = step->robot_s;
    }
    const bool paced = w->pace_pct > 0 && step->robot_s - w->pace_s > PACE_S;
    const double share = paced ? (double)w->pace_pct / 100.0 : 1.0;
    const double most = share * (now.v < 0.0 ? c->reverse_max_mps : c->speed_max_mps);
    if (c->speed_max_mps <= 0.0) { // of no robot
        return;
    }
    const bool over =
        fabs(now.v) > most + SAME || fabs(now.w) > share * c->yaw_rate_max_radps + SAME;
    w->over_ns = over ? w->over_ns + step->dt_ns : 0;
    if (w->over_ns >
        (share < 1.0 ? TOLD_NS : 0)) { // a pace that was given back may not be told yet
        pons__watch_broken(
            w, "limit", "the wheels are told %.3f m/s, %.3f rad/s, and %.0f %% of %.2f are allowed",
            now.v, now.w, 100.0 * share, c->speed_max_mps);
    }
    const double faster = fabs(now.v) - fabs(was.v);
    if (now.v * was.v >= 0.0 && faster > c->accel_max_mps2 * RAMP_S + SAME) {
        pons__watch_broken(w, "ramp", "from %.3f to %.3f m/s in a step", was.v, now.v);
    }
}

static void look_at_touch(pons__watch *w, const pons__watch_step *step)
{
    if (step->bumps < 0) {
        return;
    }
    const bool excused = step->excused && !pons_get_bool(w->always, "untouched", false);
    if (w->bumps >= 0 && step->bumps > w->bumps && !excused) {
        pons__watch_broken(w, "touched", "it drove into something, near %.2f, %.2f", step->truth.x,
                           step->truth.y);
    }
    w->bumps = step->bumps;
}

void pons__watch_motion(pons__watch *w, const pons__watch_step *step)
{
    look_at_latch(w, step);
    look_at_lost(w, step);
    look_at_limits(w, step);
    look_at_touch(w, step);
    const bool stands = fabs(step->written.v) < STILL_MPS && fabs(step->written.w) < STILL_RADPS;
    w->stood_ns = stands && json_object_size(w->moving) > 0 ? w->stood_ns + step->dt_ns : 0;
    w->stood_most_ns = w->stood_ns > w->stood_most_ns ? w->stood_ns : w->stood_most_ns;
    w->wrote = step->written;
}
