// skill_common.c - what the files that implement skills have in common: phases, failures, arguments.
#include "body/skills/skills.h"
#include "pons/clock.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#define STUCK_OUT 1e-3 // an output below this is no motion [m/s, rad/s]

void pons__skill_fail(pons__skill_output *out, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->error_msg, sizeof out->error_msg, fmt, ap);
    va_end(ap);
    out->status = PONS__SKILL_FAILED;
    out->error_code = code;
    out->cmd = (pons_twist2){0};
}

void pons__skill_phase(pons__skill_run *r, const pons__skill_env *env, int phase)
{
    r->phase = phase;
    r->phase_ns = env->robot_ns;
    r->from = env->odom;
    r->stuck_since_ns = -1;
}

double pons__skill_in_phase_s(const pons__skill_run *r, const pons__skill_env *env)
{
    return (double)(env->robot_ns - r->phase_ns) / (double)PONS_NS_PER_S;
}

double pons__skill_stuck_s(pons__skill_run *r, const pons__skill_env *env, pons_twist2 cmd)
{
    const pons_twist2 out = env->safety->out;
    const bool wants = fabs(cmd.v) > STUCK_OUT || fabs(cmd.w) > STUCK_OUT;
    const bool moves = fabs(out.v) > STUCK_OUT || fabs(out.w) > STUCK_OUT;
    if (!wants || moves) {
        r->stuck_since_ns = -1;
        return 0.0;
    }
    if (r->stuck_since_ns < 0) {
        r->stuck_since_ns = env->robot_ns;
    }
    return (double)(env->robot_ns - r->stuck_since_ns) / (double)PONS_NS_PER_S;
}

static bool names_match(const pons_value *names, const char *name)
{
    pons_each_member(language, list, names) {
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *word = json_string_value(json_array_get(list, i));
            if (word && strcasecmp(word, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

const pons_value *pons__world_zone(const pons_value *world, const char *name)
{
    const pons_value *zones = pons_get(world, "zones");
    pons_each(z, zones) {
        if (strcasecmp(pons_get_str(z, "id", ""), name) == 0 ||
            names_match(pons_get(z, "names"), name)) {
            return z;
        }
    }
    return NULL;
}

bool pons__pose_read(const pons_value *v, pons_pose2 *ret)
{
    const double x = pons_get_num(v, "x", NAN), y = pons_get_num(v, "y", NAN);
    if (!isfinite(x) || !isfinite(y)) {
        return false;
    }
    *ret = (pons_pose2){x, y, pons_wrap_angle(pons_get_num(v, "yaw", 0.0))};
    return true;
}
