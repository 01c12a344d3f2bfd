// chunk_blending.c - what follow_actions and follow_joints have in common: the period of each action of a chunk, and
// how a chunk takes over from the one before.
//
//     robot time   from_ms                    now
//     chunk k      -----a5------a6------a7----|--a8------a9-->
//     chunk k+1         b0------b1------b2----|--b3------b4------b5-->
//                                             |~~~~~~~| both, less and less of k
//
// A policy answers about what it saw at from_ms, and the robot does not wait for it: the chunk before runs on. So the
// first action belongs to from_ms, and the periods that have passed until now are left out. Where the chunk before ended
// before the answer came, the robot has stood since: only the periods that it still ran are left out. For BLEND periods
// the speed goes from what the chunk before wanted last to what this one wants, so that there is no jump.
#include "body/skills/skills.h"
#include "pons/clock.h"

#include <math.h>
#include <string.h>

#define HZ_DEFAULT  10.0
#define ALLOWANCE_S 5.0 // more than the chunk takes
#define BLEND       2.0 // periods

double pons__chunk_hz(const pons_value *args)
{
    return pons_get_num(args, "hz", HZ_DEFAULT);
}

// Robot time for which the body has moved since what the policy saw.
static int64_t passed_ns(const pons_value *args, const pons__skill_env *env)
{
    const int64_t from_ms = pons_get_int(args, "from_ms", -1);
    const int64_t until_ns = env->before ? env->robot_ns : env->before_end_ns;
    const int64_t ran_ns = until_ns - from_ms * PONS_NS_PER_MS;
    return from_ms >= 0 && ran_ns > 0 ? ran_ns : 0;
}

double pons__chunk_passed(const pons_value *args, const pons__skill_env *env)
{
    return (double)passed_ns(args, env) / (double)PONS_NS_PER_S * pons__chunk_hz(args);
}

void pons__chunk_start(pons__skill_run *r, const pons__skill_env *env)
{
    r->timeout_s = (double)json_array_size(pons_get(r->args, "actions")) / pons__chunk_hz(r->args) +
                   ALLOWANCE_S;
    r->phase = -1; // the action that is under way
    r->phase_ns -= passed_ns(r->args, env);
    r->chunk.joined_ns = -1;
    if (env->before) {
        r->chunk.joined_ns = env->robot_ns;
        r->chunk.cmd = env->before->cmd;
        memcpy(r->chunk.qd, env->before->qd, sizeof r->chunk.qd);
    }
}

int pons__chunk_at(const pons__skill_run *r, const pons__skill_env *env, double *ret_left_s)
{
    const double n = (double)json_array_size(pons_get(r->args, "actions"));
    const double hz = pons__chunk_hz(r->args), at = fmax(pons__skill_in_phase_s(r, env) * hz, 0.0);
    *ret_left_s = fmax(n - at, 0.0) / hz;
    return at >= n ? -1 : (int)at;
}

double pons__chunk_joined(const pons__skill_run *r, const pons__skill_env *env, double before,
                          double wants)
{
    const double s = (double)(env->robot_ns - r->chunk.joined_ns) / (double)PONS_NS_PER_S;
    const double share = s * pons__chunk_hz(r->args) / BLEND;
    return r->chunk.joined_ns < 0 || share >= 1.0 ? wants : before + share * (wants - before);
}
