// arm_gate.c - the last gate before an arm's motors.
//
//     wish (joint velocities) --> numbers? --> speeds --> ends of joints --> acceleration
//                                  | zero       | all joints alike: the way stays, only slower
//                                  v
//         --> where would it stand if it braked from here? --> nearer to something than the margin,
//                                                              and nearer than now: slower, down to
//                                                              a stop
//
// "Something" is what stands (the table, walls, the floor) and the arm's own links, by balls along
// them (pons/arm.h); loose things are not, for who grasps touches them. The tool also stays in its
// workspace box. Motion away from what is too near is always allowed, so an arm that was pushed
// there gets out. A joint that pushes hard for a while has met something that the gate does not know:
// all others stop and it gives way until it pushes no more than half of that.
//
// A stop writes zeroes at once, and the driver holds the position; who is merely out of control is
// braked. The gripper is no part of this: it keeps what it holds.
#include "body/safety/arm_gate.h"

#include "body/safety/velocity_filter.h"

#include <math.h>
#include <string.h>

#define SLOWER  5    // halvings of the speed that are tried before a stop
#define YIELD   0.25 // [rad/s] with which a joint gives way
#define END_RAD 0.01 // kept from the end of a joint

const char *pons__arm_zone_word(pons__arm_zone z)
{
    static const char *const words[] = {
#define ZONE_WORD(sym, word) [sym] = word,
        PONS__ARM_ZONE_TABLE(ZONE_WORD)
#undef ZONE_WORD
    };
    return words[z];
}

void pons__arm_gate_init(pons__arm_gate *g, const pons__arm_params *p)
{
    *g = (pons__arm_gate){.p = *p, .status.clearance_m = INFINITY};
}

static void worse(pons__arm_gate *g, pons__arm_zone z)
{
    g->status.zone = z > g->status.zone ? z : g->status.zone;
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static void scale(double *v, int n, double share)
{
    for (int i = 0; i < n; i++) {
        v[i] *= share;
    }
}

static bool are_numbers(const double *v, int n)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(v[i])) {
            return false;
        }
    }
    return true;
}

static bool stands_still(const double *v, int n)
{
    for (int i = 0; i < n; i++) {
        if (v[i] != 0.0) {
            return false;
        }
    }
    return true;
}

// By the joints' speeds, and by what braking needs before their ends.
static void limit(pons__arm_gate *g, const double *q, double *v)
{
    const pons_arm *a = g->p.model;
    const double pace = pons__pace_share(g->taken_pct);
    double share = 1.0;
    for (int i = 0; i < a->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(a, i);
        const double most = pace * g->p.speed_share * j->speed_max;
        const double left = v[i] > 0.0 ? j->upper - END_RAD - q[i] : q[i] - j->lower - END_RAD;
        const double end = left <= 0.0 ? 0.0 : sqrt(2.0 * 0.5 * g->p.brake * left);
        if (fabs(v[i]) > end) {
            v[i] = copysign(end, v[i]);
            worse(g, PONS__ARM_LIMITED);
        }
        share = fabs(v[i]) > most ? fmin(share, most / fabs(v[i])) : share;
    }
    if (share < 1.0) {
        scale(v, a->n, share);
        worse(g, PONS__ARM_LIMITED);
    }
}

static void ramp(const pons__arm_gate *g, double *v, double dt_s)
{
    for (int i = 0; i < g->p.model->n; i++) {
        const double from = g->last[i];
        const double to = from * v[i] < 0.0 ? 0.0 : v[i]; // through standstill
        const double rate = (fabs(to) < fabs(from) ? g->p.brake : g->p.accel) * dt_s;
        v[i] = from + clamp(to - from, -rate, rate);
    }
}

// How far the tool is out of its box.
static double outside(const pons__arm_gate *g, const double *q)
{
    pons_pose3 tool;
    double most = 0.0;
    pons_arm_forward(g->p.model, q, &tool);
    for (int i = 0; i < 3; i++) {
        most =
            fmax(most, fmax(g->p.workspace_min[i] - tool.p[i], tool.p[i] - g->p.workspace_max[i]));
    }
    return most;
}

// What is wrong with where the arm would stand if it braked from here, or on the way there, which is
// no straight line.
static pons__arm_zone ends_in(const pons__arm_gate *g, const pons_arm_room *room, const double *q,
                              const double *v, double now, double out_now)
{
    const pons_arm *a = g->p.model;
    static const double shares[] = {0.0, 0.5, 1.0}; // of the braking
    for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
        double stands[PONS_ARM_JOINTS];
        for (int i = 0; i < a->n; i++) {
            const double brakes = 0.5 * v[i] * fabs(v[i]) / g->p.brake;
            stands[i] = q[i] + v[i] * g->p.react_s + shares[k] * brakes;
        }
        pons_arm_clamp(a, stands);
        const double then = pons_arm_clearance(a, stands, room, NULL), out = outside(g, stands);
        if (then < g->p.margin_m && then < now) {
            return PONS__ARM_NEAR;
        }
        if (out > 0.0 && out > out_now) {
            return PONS__ARM_WORKSPACE;
        }
    }
    return PONS__ARM_CLEAR;
}

static void keep_clear(pons__arm_gate *g, const pons_arm_room *room, const double *q, double *v)
{
    const pons_arm *a = g->p.model;
    if (stands_still(v, a->n)) { // and gets no nearer
        return;
    }
    const double now = g->status.clearance_m, out_now = outside(g, q);
    for (int tries = 0; tries <= SLOWER; tries++) {
        const pons__arm_zone z = ends_in(g, room, q, v, now, out_now);
        if (z == PONS__ARM_CLEAR) {
            return;
        }
        worse(g, z);
        scale(v, a->n, tries == SLOWER - 1 ? 0.0 : 0.5);
    }
}

// Does a joint push too hard, or has it not given way enough yet?
static bool pushes(pons__arm_gate *g, const pons_robot_arm_state *s, double dt_s)
{
    double most = 0.0; // share of what is allowed
    for (int i = 0; i < g->p.model->n; i++) {
        const double allowed = g->p.effort_share * pons_arm_joint_of(g->p.model, i)->effort_max;
        most = fmax(most, fabs(s->effort[i]) / allowed);
    }
    g->pushed_s = most > 1.0 ? g->pushed_s + dt_s : 0.0;
    g->gives_way = g->gives_way ? most > 0.5 : g->pushed_s > g->p.effort_s;
    return g->gives_way;
}

void pons__arm_gate_step(pons__arm_gate *g, pons__arm_zone why, const double *want,
                         const pons_robot_arm_state *state, double dt_s, double *ret)
{
    const pons_arm *a = g->p.model;
    const pons_arm_room room = {.boxes = g->p.boxes,
                                .n = g->p.n_boxes,
                                .floor = g->p.floor,
                                .others = 0.5 * state->width_m};
    double v[PONS_ARM_JOINTS] = {0};
    g->status.zone = why;
    g->status.clearance_m = pons_arm_clearance(a, state->q, &room, NULL);
    if (why == PONS__ARM_CLEAR && are_numbers(want, a->n)) {
        memcpy(v, want, (size_t)a->n * sizeof *v);
    }
    const bool hard = pushes(g, state, dt_s);
    if (why == PONS__ARM_LATCHED) {
        memset(v, 0, sizeof v); // at once
    } else if (hard) {
        worse(g, PONS__ARM_FORCE);
        for (int i = 0; i < a->n; i++) {
            const double allowed = g->p.effort_share * pons_arm_joint_of(a, i)->effort_max;
            v[i] =
                fabs(state->effort[i]) > 0.5 * allowed ? -copysign(YIELD, state->effort[i]) : 0.0;
        }
    } else {
        limit(g, state->q, v);
        ramp(g, v, dt_s);
        keep_clear(g, &room, state->q, v);
    }
    memcpy(g->last, v, sizeof v);
    memcpy(g->status.out, v, sizeof v);
    memcpy(ret, v, (size_t)a->n * sizeof *v);
}
