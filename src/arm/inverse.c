// inverse.c - a configuration that puts the tool where it is wanted.
//
// Damped least squares: with the error e of the tool (metres, and radians of the turn that is left)
// and the Jacobian J,
//
//     dq = Jᵀ (J Jᵀ + λ² 1)⁻¹ e  +  (1 − J⁺J) k (rest − q)          λ² = 4e-4 + 0.05 |e|²
//
// Far away the damping keeps the steps sensible, also where the arm is stretched; near the target it
// all but vanishes. What the target leaves free (an arm of seven joints has one freedom to spare, and
// one more where the turn about the tool's axis does not matter) goes towards `rest`. No joint moves
// more than a step's limit at a time, and none beyond its range: the joint stays at its limit, and
// the next step is made with what is left. A start that ends in a corner is given up; the next ones
// begin at rest and at configurations that are spread by a fixed sequence, so the same question has
// the same answer.
//
// liborocos-kdl has such solvers too; they are C++, know no limits in the solver for position and
// orientation (ChainIkSolverPos_NR_JL clamps after the fact), and their trees come from another XML
// reader. What is needed here are two hundred lines.
#include "pons/arm.h"

#include <math.h>
#include <string.h>

#define MODULE   "arm"
#define STEP_MAX 0.2 // of a joint at a time [rad or m]
#define DAMPING  4e-4
#define DAMPED_E 0.05
#define REST     0.1 // share of the way to rest, a step

static double error_of(const pons_arm *a, const pons_pose3 *target, const double *q, bool any_yaw,
                       double e[6])
{
    pons_pose3 at;
    pons_arm_forward(a, q, &at);
    for (int i = 0; i < 3; i++) {
        e[i] = target->p[i] - at.p[i];
    }
    if (any_yaw) { // only the tool's z: the shortest turn from one to the other
        const double z[3] = {at.r[2], at.r[5], at.r[8]};
        const double w[3] = {target->r[2], target->r[5], target->r[8]};
        double c[3] = {z[1] * w[2] - z[2] * w[1], z[2] * w[0] - z[0] * w[2],
                       z[0] * w[1] - z[1] * w[0]};
        const double s = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        const double angle = atan2(s, z[0] * w[0] + z[1] * w[1] + z[2] * w[2]);
        for (int i = 0; i < 3; i++) { // opposite: about the tool's x
            e[3 + i] = s > 1e-9 ? c[i] / s * angle : angle > 1.0 ? angle * at.r[3 * i] : 0.0;
        }
    } else {
        pons_pose3_turn(&at, target, e + 3);
    }
    double sum = 0.0;
    for (int i = 0; i < 6; i++) {
        sum += e[i] * e[i];
    }
    return sqrt(sum);
}

// Solves the symmetric positive m (6×6, overwritten) for b, in place.
static void solve6(double m[36], double b[6])
{
    for (int k = 0; k < 6; k++) { // Cholesky
        for (int j = 0; j < k; j++) {
            m[6 * k + k] -= m[6 * k + j] * m[6 * k + j];
        }
        m[6 * k + k] = sqrt(fmax(m[6 * k + k], 1e-12));
        for (int i = k + 1; i < 6; i++) {
            for (int j = 0; j < k; j++) {
                m[6 * i + k] -= m[6 * i + j] * m[6 * k + j];
            }
            m[6 * i + k] /= m[6 * k + k];
        }
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            b[i] -= m[6 * i + j] * b[j];
        }
        b[i] /= m[6 * i + i];
    }
    for (int i = 5; i >= 0; i--) {
        for (int j = i + 1; j < 6; j++) {
            b[i] -= m[6 * j + i] * b[j];
        }
        b[i] /= m[6 * i + i];
    }
}

// ret = Jᵀ (J Jᵀ + λ²)⁻¹ e, with the columns of joints that stand at their limit left out.
static void pull(const double *j, int n, const bool *still, double lambda2, const double e[6],
                 double *ret)
{
    double m[36], b[6];
    memcpy(b, e, sizeof b);
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            double s = r == c ? lambda2 : 0.0;
            for (int k = 0; k < n; k++) {
                s += still[k] ? 0.0 : j[r * n + k] * j[c * n + k];
            }
            m[6 * r + c] = s;
        }
    }
    solve6(m, b);
    for (int k = 0; k < n; k++) {
        ret[k] = 0.0;
        for (int r = 0; r < 6 && !still[k]; r++) {
            ret[k] += j[r * n + k] * b[r];
        }
    }
}

static double rest_of(const pons_arm *a, const pons_arm_ik_options *o, int i)
{
    const pons_arm_joint *j = pons_arm_joint_of(a, i);
    return o->rest ? o->rest[i] : isfinite(j->lower) ? 0.5 * (j->lower + j->upper) : 0.0;
}

double pons_arm_towards(const pons_arm *a, const pons_pose3 *target, const pons_arm_ik_options *o,
                        double step_max, double *q)
{
    const int n = a->n;
    double jac[6 * PONS_ARM_JOINTS], e[6], dq[PONS_ARM_JOINTS], free_[PONS_ARM_JOINTS];
    bool still[PONS_ARM_JOINTS] = {false};
    const double left = error_of(a, target, q, o->any_yaw, e);
    pons_arm_jacobian(a, q, jac);
    const double lambda2 = DAMPING * fmin(1.0, left * 50.0) + DAMPED_E * left * left + 1e-8;
    for (int tries = 0; tries < n; tries++) {
        double wish[PONS_ARM_JOINTS], seen[6];
        pull(jac, n, still, lambda2, e, dq);
        for (int i = 0; i < n; i++) {
            wish[i] = still[i] ? 0.0 : REST * (rest_of(a, o, i) - q[i]);
        }
        for (int r = 0; r < 6; r++) { // less what the wish would do to the tool
            seen[r] = 0.0;
            for (int i = 0; i < n; i++) {
                seen[r] += jac[r * n + i] * wish[i];
            }
        }
        pull(jac, n, still, 1e-8, seen, free_);
        double most = 0.0;
        for (int i = 0; i < n; i++) {
            dq[i] += wish[i] - free_[i];
            most = fmax(most, fabs(dq[i]));
        }
        const double share = most > step_max ? step_max / most : 1.0;
        bool again = false;
        for (int i = 0; i < n; i++) {
            const pons_arm_joint *j = pons_arm_joint_of(a, i);
            dq[i] *= share;
            const double to = q[i] + dq[i];
            const bool out = to < j->lower + o->limit_margin || to > j->upper - o->limit_margin;
            if (out && !still[i]) {
                q[i] = fmin(fmax(to, j->lower + o->limit_margin), j->upper - o->limit_margin);
                still[i] = again = true;
            }
        }
        if (!again) {
            for (int i = 0; i < n; i++) {
                q[i] += still[i] ? 0.0 : dq[i];
            }
            break;
        }
    }
    return error_of(a, target, q, o->any_yaw, e);
}

static bool near_enough(const pons_arm *a, const pons_pose3 *target, const double *q,
                        const pons_arm_ik_options *o)
{
    double e[6];
    error_of(a, target, q, o->any_yaw, e);
    return sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) <= o->position_m &&
           sqrt(e[3] * e[3] + e[4] * e[4] + e[5] * e[5]) <= o->angle_rad;
}

// The start of a number: 0 is the caller's, 1 rest, the others spread over the joints' ranges.
static void begin_at(const pons_arm *a, const pons_arm_ik_options *o, const double *from,
                     int number, double *q)
{
    static const double steps[PONS_ARM_JOINTS] = {0.7548776662, 0.5698402910, 0.8191725134,
                                                  0.6710436067, 0.5497004779, 0.8566748838,
                                                  0.7338918566, 0.6287067210}; // of no ratio
    for (int i = 0; i < a->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(a, i);
        const double low = isfinite(j->lower) ? j->lower : -M_PI;
        const double high = isfinite(j->upper) ? j->upper : M_PI;
        const double share = 0.5 + number * steps[i];
        q[i] = number == 0   ? from[i]
               : number == 1 ? rest_of(a, o, i)
                             : low + (high - low) * (share - floor(share));
        q[i] = fmin(fmax(q[i], j->lower + o->limit_margin), j->upper - o->limit_margin);
    }
}

int pons_arm_inverse(const pons_arm *a, const pons_pose3 *target, const double *from,
                     const pons_arm_ik_options *o, double *ret, pons_error *err)
{
    double best = INFINITY, q[PONS_ARM_JOINTS];
    bool finite = true;
    for (int i = 0; i < 9; i++) {
        finite = finite && isfinite(target->r[i]) && (i >= 3 || isfinite(target->p[i]));
    }
    for (int i = 0; i < a->n; i++) {
        finite = finite && isfinite(from[i]);
    }
    if (!finite) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "a pose needs numbers");
    }
    for (int s = 0; s < o->starts; s++) {
        begin_at(a, o, from, s, q);
        for (int i = 0; i < o->iterations; i++) {
            best = fmin(best, pons_arm_towards(a, target, o, STEP_MAX, q));
            if (near_enough(a, target, q, o)) {
                memcpy(ret, q, (size_t)a->n * sizeof *q);
                return PONS_OK;
            }
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, MODULE,
                          "(%.3f, %.3f, %.3f) is out of the arm's reach: %.3f m from it", //
                          target->p[0], target->p[1], target->p[2], best);
}
