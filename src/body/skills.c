// skills.c - the registry of skills, and what they have in common.
//
// A skill is a record of functions over a pons__skill_run, the small state of one goal. It sees an
// environment that was filled just now and answers with a velocity it would like and whether it is
// done. It never waits, never writes to the wheels (the safety gate does), and never knows who
// asked for it.
//
//     start ─▶ step … step ─▶ done | failed ─▶ stop
//                │ ▲
//      hold: stop│ │resume        (brain lost, adopted again)
//                ▼ │
//               held
//
// Times are robot time. While a goal is held its clocks stand still: resume moves them forward by
// the time that was spent.
//
// error_map answers what a decision maker should try for an error number: retry, replan, ask_human
// or abort; "default" is for all others.
#include "body/skills.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pons/clock.h"

#define STUCK_OUT   1e-3 // an output below this is no motion [m/s, rad/s]
#define SCAN_WAIT_S 3.0  // a silent lidar ends a motion after this long

static const pons__skill *const skills[] = {
    &pons__skill_navigate,  &pons__skill_navigate_through,
    &pons__skill_stop_base, &pons__skill_dock,
    &pons__skill_undock,    &pons__skill_speak,
    &pons__skill_wait,      &pons__skill_spin,
    &pons__skill_back_up,   &pons__skill_drive,
    &pons__skill_look,
};
#define N_SKILLS (sizeof skills / sizeof skills[0])

static pons_value *registry_item(const pons__skill *k);
static pons_value *parse_constant(const char *text);
static bool names_match(const pons_value *names, const char *name);

const pons__skill *pons__skill_find(const char *name)
{
    for (size_t i = 0; i < N_SKILLS; i++) {
        if (strcmp(skills[i]->name, name) == 0)
            return skills[i];
    }
    return NULL;
}

pons_value *pons__skill_registry(void)
{
    pons_value *all = json_array();
    for (size_t i = 0; all && i < N_SKILLS; i++) {
        if (json_array_append_new(all, registry_item(skills[i])) < 0) {
            pons_value_unref(all);
            return NULL;
        }
    }
    return all;
}

void pons__skill_start(const pons__skill *k, pons__skill_run *r, const pons_value *args,
                       const pons__skill_env *env)
{
    *r = (pons__skill_run){.args = args,
                           .start_ns = env->robot_ns,
                           .phase_ns = env->robot_ns,
                           .held_ns = -1,
                           .stuck_since_ns = -1,
                           .from = env->odom,
                           .last_yaw = env->odom.yaw,
                           .first_scan = env->scans};
    if (k->start)
        k->start(r, env);
}

void pons__skill_step(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env,
                      pons__skill_output *ret)
{
    *ret = (pons__skill_output){.status = PONS__SKILL_RUNNING, .distance_m = NAN, .eta_s = NAN};
    k->step(r, env, ret);
    if (ret->status == PONS__SKILL_RUNNING) {
        const double run_s = (double)(env->robot_ns - r->start_ns) / (double)PONS_NS_PER_S;
        if (run_s > k->timeout_s)
            pons__skill_fail(ret, k->timeout_code ? k->timeout_code : PONS__TIMED_OUT,
                             "not done after %.0f s", k->timeout_s);
        else if (k->moves && env->safety->zone == PONS__ZONE_OLD_SCAN &&
                 pons__skill_stuck_s(r, env, ret->cmd) > SCAN_WAIT_S)
            pons__skill_fail(ret, PONS__NO_SCAN, "no scan for %.1f s",
                             (double)env->safety->scan_age_ns / (double)PONS_NS_PER_S);
    }
    if (ret->status != PONS__SKILL_RUNNING) {
        ret->cmd = (pons_twist2){0};
        pons__skill_stop(k, r, env);
    }
}

void pons__skill_hold(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env)
{
    r->held_ns = env->robot_ns;
    if (k->hold)
        k->hold(r, env);
    else
        pons__skill_stop(k, r, env);
}

void pons__skill_resume(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env)
{
    const int64_t away_ns = r->held_ns < 0 ? 0 : env->robot_ns - r->held_ns;
    r->away_ns = away_ns;
    r->start_ns += away_ns;
    r->phase_ns += away_ns;
    r->held_ns = r->stuck_since_ns = -1;
    if (k->resume)
        k->resume(r, env);
}

void pons__skill_stop(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env)
{
    if (k->stop)
        k->stop(r, env);
}

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
    if (r->stuck_since_ns < 0)
        r->stuck_since_ns = env->robot_ns;
    return (double)(env->robot_ns - r->stuck_since_ns) / (double)PONS_NS_PER_S;
}

const pons_value *pons__world_zone(const pons_value *world, const char *name)
{
    const pons_value *zones = pons_get(world, "zones");
    for (size_t i = 0; i < json_array_size(zones); i++) {
        const pons_value *z = json_array_get(zones, i);
        if (strcasecmp(pons_get_str(z, "id", ""), name) == 0 ||
            names_match(pons_get(z, "names"), name))
            return z;
    }
    return NULL;
}

bool pons__pose_read(const pons_value *v, pons_pose2 *ret)
{
    const double x = pons_get_num(v, "x", NAN), y = pons_get_num(v, "y", NAN);
    if (!isfinite(x) || !isfinite(y))
        return false;
    *ret = (pons_pose2){x, y, pons_wrap_angle(pons_get_num(v, "yaw", 0.0))};
    return true;
}

static pons_value *registry_item(const pons__skill *k)
{
    pons_value *resources = json_array();
    if (resources && k->needs_base)
        json_array_append_new(resources, json_string("base"));
    return pons_object(
        "name", json_string(k->name), "description", json_string(k->description), "interface_type",
        json_string("internal"), "args_schema", parse_constant(k->args_schema),
        "resources_required", resources, "preemptible", json_boolean(k->preemptible),
        "cancel_supported", json_boolean(k->cancel_supported), "timeout_s", json_real(k->timeout_s),
        "success_criteria", json_string(k->success), "error_map", parse_constant(k->error_map),
        "requires_approval", json_boolean(k->requires_approval), "ask_on_unknown",
        json_boolean(k->ask_on_unknown), NULL);
}

static pons_value *parse_constant(const char *text)
{
    pons_value *v = NULL;
    pons_value_parse(text, strlen(text), &v, NULL);
    return v;
}

static bool names_match(const pons_value *names, const char *name)
{
    const char *language;
    pons_value *list;
    json_object_foreach((pons_value *)(uintptr_t)names, language, list)
    {
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *word = json_string_value(json_array_get(list, i));
            if (word && strcasecmp(word, name) == 0)
                return true;
        }
    }
    return false;
}
