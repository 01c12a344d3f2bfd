// module_skill.c - a skill of a module (pons/ext/skill.h) as one of the body's own.
//
// Its record is checked whole before the body serves anybody: whatever is wrong with it is said once,
// at the start. Each call gets a view made of the environment; what it answers is bounded here, so
// that a module's mistake is the failure of its goal and no more.
#include "body/skills/skills.h"
#include "pons/schema.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define MODULE     "body"
#define NAME_MAX_B 63   // bytes of a name
#define BODYS_LOW  9900 // error numbers that are the body's
#define BODYS_HIGH 9999

// ---- its functions ------------------------------------------------------------------------------

// run NULL: none has begun.
static pons_skill_view view_of(const pons__skill_run *r, const pons_value *args,
                               const pons__skill_env *env)
{
    const int64_t now_ns = r && r->held_ns >= 0 ? r->held_ns : env->robot_ns;
    return (pons_skill_view){.robot_ns = env->robot_ns,
                             .run_ns = r ? now_ns - r->start_ns : 0,
                             .args = args,
                             .pose = env->pose,
                             .odom = env->odom,
                             .twist = env->twist,
                             .out = env->safety->out,
                             .stopped = env->safety->latched,
                             .scan = env->scan,
                             .scans = env->scans,
                             .battery_pct = env->battery_pct,
                             .battery = env->battery,
                             .on_charger = env->on_charger,
                             .world = env->world,
                             .caps = env->caps};
}

static bool check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret)
{
    const pons_skill_view now = view_of(NULL, args, env);
    if (!k->module->check || k->module->check(&now, ret->text, sizeof ret->text)) {
        return true;
    }
    ret->text[sizeof ret->text - 1] = '\0';
    return false;
}

static void start(pons__skill_run *r, const pons__skill_env *env)
{
    const pons_skill_view now = view_of(r, r->args, env);
    if (r->skill->module->start) {
        r->skill->module->start(r->state, &now);
    }
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const pons_skill *m = r->skill->module;
    const pons_skill_view now = view_of(r, r->args, env);
    pons_skill_answer a = {.status = PONS_SKILL_RUNNING, .distance_m = NAN, .eta_s = NAN};
    m->step(r->state, &now, &a);
    ret->distance_m = a.distance_m;
    ret->eta_s = a.eta_s;
    if (a.status == PONS_SKILL_DONE) {
        ret->status = PONS__SKILL_DONE;
    } else if (a.status == PONS_SKILL_FAILED) {
        const int c = a.error_code;
        if (c <= 0 || (c >= BODYS_LOW && c <= BODYS_HIGH)) {
            pons__skill_fail(ret, PONS__SKILL_FAULT, "SKILL_FAULT: %s failed with %d, %.*s",
                             m->name, c, (int)sizeof a.error_msg - 1, a.error_msg);
        } else {
            pons__skill_fail(ret, c, "%.*s", (int)sizeof a.error_msg - 1, a.error_msg);
        }
    } else if (a.status != PONS_SKILL_RUNNING) {
        pons__skill_fail(ret, PONS__SKILL_FAULT, "SKILL_FAULT: %s answered no status", m->name);
    } else if (!isfinite(a.want.v) || !isfinite(a.want.w)) {
        pons__skill_fail(ret, PONS__SKILL_FAULT, "SKILL_FAULT: %s wanted no velocity", m->name);
    } else if (m->moves) {
        ret->cmd = a.want;
    }
}

static void hold(pons__skill_run *r, const pons__skill_env *env)
{
    const pons_skill_view now = view_of(r, r->args, env);
    if (r->skill->module->hold) {
        r->skill->module->hold(r->state, &now);
    }
}

static void resume(pons__skill_run *r, const pons__skill_env *env)
{
    const pons_skill_view now = view_of(r, r->args, env);
    if (r->skill->module->resume) {
        r->skill->module->resume(r->state, &now);
    }
}

static void stop(pons__skill_run *r, const pons__skill_env *env)
{
    const pons_skill_view now = view_of(r, r->args, env);
    if (r->skill->module->stop) {
        r->skill->module->stop(r->state, &now);
    }
}

// ---- its record ---------------------------------------------------------------------------------

static const char *reported_of(const pons_skill *m)
{
    return m->abi >= 2 ? m->reported : NULL;
}

static int refuse(pons_error *err, const char *what)
{
    return pons_error_set(err, PONS_EINVAL, MODULE, "%s", what);
}

// It adds to what the record says, and says nothing else of it.
static int check_reported(const char *text, pons_error *err)
{
    static const char *const record[] = {
        "name",           "description",      "args_schema",      "resources_required",
        "timeout_s",      "success_criteria", "error_map",        "requires_approval",
        "ask_on_unknown", "phrases",          "cancel_supported", "preemptible"};
    pons_autovalue reported = NULL;
    if (!text) {
        return PONS_OK;
    }
    if (pons_value_parse(text, strlen(text), &reported, NULL) < 0 || !json_is_object(reported)) {
        return refuse(err, "what it tells is no JSON object");
    }
    for (size_t i = 0; i < sizeof record / sizeof record[0]; i++) {
        if (pons_get(reported, record[i])) {
            return refuse(err, "what it tells is said in its record already");
        }
    }
    const char *interface = pons_get(reported, "interface_type")
                                ? pons_get_str(reported, "interface_type", "")
                                : "ros2_action";
    if (strcmp(interface, "ros2_action") != 0 && strcmp(interface, "ros2_service") != 0) {
        return refuse(err, "its interface_type is ros2_action or ros2_service");
    }
    const char *name;
    json_t *amount;
    json_object_foreach((json_t *)pons_get(reported, "resources_counted"), name, amount) {
        if (!json_is_integer(amount) || json_integer_value(amount) < 1) {
            return refuse(err, "its resources_counted are whole numbers from 1");
        }
    }
    return PONS_OK;
}

static int check_args_schema(const char *text, pons_error *err)
{
    pons_autovalue v = NULL;
    if (!text || pons_value_parse(text, strlen(text), &v, NULL) < 0) {
        return refuse(err, "its args_schema is no JSON");
    }
    if (strcmp(pons_get_str(v, "type", ""), "object") != 0 ||
        !json_is_false(pons_get(v, "additionalProperties"))) {
        return refuse(err, "its args_schema is of an object with additionalProperties: false");
    }
    pons_schema *compiled = NULL;
    const int rc = pons_schema_compile(v, &compiled, err);
    pons_schema_destroy(compiled);
    return rc;
}

static int check_error_map(const char *text, pons_error *err)
{
    pons_autovalue map = NULL;
    if (!text || pons_value_parse(text, strlen(text), &map, NULL) < 0 || !json_is_object(map)) {
        return refuse(err, "its error_map is no JSON object");
    }
    pons_each_member(key, word, map) {
        const char *w = json_string_value(word);
        if (!w || (strcmp(w, "retry") != 0 && strcmp(w, "replan") != 0 &&
                   strcmp(w, "ask_human") != 0 && strcmp(w, "abort") != 0)) {
            return refuse(err, "its error_map says retry, replan, ask_human or abort");
        }
        if (strcmp(key, "default") != 0 && key[strspn(key, "0123456789")] != '\0') {
            return refuse(err, "its error_map has numbers, and default");
        }
    }
    return pons_get(map, "default") ? PONS_OK : refuse(err, "its error_map has no default");
}

static bool is_name(const char *name)
{
    const size_t n = strnlen(name, NAME_MAX_B + 1);
    for (size_t i = 0; i < n && n <= NAME_MAX_B; i++) {
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') {
            return false;
        }
    }
    return n > 0 && n <= NAME_MAX_B && isalpha((unsigned char)name[0]);
}

static int check_record(const pons_skill *m, pons_error *err)
{
    if (!m->name || !is_name(m->name)) {
        return refuse(err, "its name is no word of letters, digits and _");
    }
    if (!m->description || !*m->description || !m->success_criteria || !*m->success_criteria) {
        return refuse(err, "it has a description and success_criteria");
    }
    if (!m->step) {
        return refuse(err, "it has no step");
    }
    if (m->state_size > PONS_SKILL_STATE_MAX) {
        return refuse(err, "its state_size is over 1024");
    }
    if (m->moves && !m->needs_base) {
        return refuse(err, "what moves needs the base");
    }
    if (!isfinite(m->timeout_s) || m->timeout_s <= 0.0) {
        return refuse(err, "its timeout_s is no time");
    }
    pons_autovalue phrases = NULL;
    if (m->phrases && (pons_value_parse(m->phrases, strlen(m->phrases), &phrases, NULL) < 0 ||
                       !json_is_array(phrases))) {
        return refuse(err, "its phrases are no JSON list");
    }
    int rc = check_args_schema(m->args_schema, err);
    rc = rc < 0 ? rc : check_error_map(m->error_map, err);
    return rc < 0 ? rc : check_reported(reported_of(m), err);
}

int pons__skill_adapt(const pons_skill *m, pons__skill *ret, pons_error *err)
{
    if (!m || m->abi < PONS_SKILL_ABI_FIRST ||
        m->abi > PONS_SKILL_ABI) { // nothing else of it can be read
        return pons_error_set(err, PONS_EUNSUPPORTED, MODULE,
                              "a skill's contract is version %u, this body's is %u", m ? m->abi : 0,
                              PONS_SKILL_ABI);
    }
    const int rc = check_record(m, err);
    if (rc < 0) {
        pons_error_context(err, "skill %s", m->name && is_name(m->name) ? m->name : "?");
        return rc;
    }
    *ret = (pons__skill){.name = m->name,
                         .description = m->description,
                         .args_schema = m->args_schema,
                         .needs_base = m->needs_base,
                         .moves = m->moves,
                         .preemptible = m->preemptible,
                         .cancel_supported = m->cancel_supported,
                         .requires_approval = m->requires_approval,
                         .ask_on_unknown = m->ask_on_unknown,
                         .timeout_s = m->timeout_s,
                         .success = m->success_criteria,
                         .error_map = m->error_map,
                         .phrases = m->phrases,
                         .reported = reported_of(m),
                         .module = m,
                         .check = check,
                         .start = start,
                         .step = step,
                         .hold = hold,
                         .resume = resume,
                         .stop = stop};
    return PONS_OK;
}
