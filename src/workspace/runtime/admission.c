// admission.c - what a session is held against before anything moves, and the names that mean code.
//
// A target's adapter and a skill's runtime are names; the two tables here are all there are. A session's
// routing chooses among them, else the target and the skill do. Then, in this order:
//
//     TARGET_UNKNOWN, SKILL_UNKNOWN        no such record
//     TARGET_DISABLED                      enabled: false
//     SKILL_NOT_SUPPORTED_BY_TARGET        supported_skills, supported_target_types, the body's skills
//     ADAPTER_UNKNOWN, RUNTIME_UNKNOWN     no such name; an adapter of the other kind of target
//     REQUIRED_SENSOR_MISSING              requires.sensors       with strict_environment_contract only:
//     ENVIRONMENT_OUTPUT_MISSING           requires.environment_outputs     without it they are wishes
//     ACTION_CONTRACT_UNSATISFIED          the arguments, or what a policy's actions need, do not fit the body
#include "pons/schema.h"
#include "workspace/runtime/runtime_common.h"

#include <string.h>

static const rt_adapter adapters[] = {
    {"SimTargetAdapter", "sim"},
    {"RealRobotTargetAdapter", "real_robot"},
};
static const rt_kind *const kinds[] = {&pons__rt_builtin, &pons__rt_vla, &pons__rt_rekep};

// ---- the target and the skill -------------------------------------------------------------------

static const char *type_of(const pons_value *target)
{
    return pons_get_str(target, "type", "sim");
}

static void check_supported(const rt_contract *c, rt_refusal *why)
{
    const char *skill = pons_get_str(c->session, "skill_ref", "");
    const pons_value *supported = pons_get(c->target, "supported_skills");
    const pons_value *types = pons_get(c->skill, "supported_target_types");
    if (supported && !pons_list_has(supported, skill)) {
        pons__rt_refuse(why, "SKILL_NOT_SUPPORTED_BY_TARGET",
                        "%.60s is not among the target's supported_skills", skill);
    } else if (types && !pons_list_has(types, type_of(c->target))) {
        pons__rt_refuse(why, "SKILL_NOT_SUPPORTED_BY_TARGET",
                        "%.60s is not for targets of type %.20s", skill, type_of(c->target));
    }
}

static void check_adapter(const rt_contract *c, rt_refusal *why)
{
    const char *type = type_of(c->target);
    const char *usual = strcmp(type, "sim") == 0 ? adapters[0].name : adapters[1].name;
    const char *name = pons_get_str(pons_get(c->session, "routing"), "target_adapter", NULL);
    name = name ? name : pons_get_str(pons_get(c->target, "adapter"), "class", usual);
    for (size_t i = 0; i < sizeof adapters / sizeof *adapters; i++) {
        if (strcmp(adapters[i].name, name) == 0) {
            if (strcmp(adapters[i].type, type) != 0) {
                pons__rt_refuse(why, "ADAPTER_UNKNOWN", "%s is for targets of type %s, not %.20s",
                                name, adapters[i].type, type);
            }
            return;
        }
    }
    pons__rt_refuse(why, "ADAPTER_UNKNOWN", "there is no target adapter %.60s", name);
}

static const rt_kind *kind_of(const rt_contract *c, rt_refusal *why)
{
    const char *name = pons_get_str(pons_get(c->session, "routing"), "skill_runtime", NULL);
    const char *kind = pons_get_str(c->skill, "runtime_kind", "builtin");
    const char *usual = strcmp(kind, "policy") == 0 ? pons__rt_vla.name
                        : strcmp(kind, "builtin") == 0
                            ? pons__rt_builtin.name
                            : kind; // which a paos2 of before had as its name
    name = name ? name : pons_get_str(c->skill, "runtime", usual);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i]->name, name) == 0) {
            return kinds[i];
        }
    }
    pons__rt_refuse(why, "RUNTIME_UNKNOWN", "there is no skill runtime %.60s", name);
    return NULL;
}

// ---- what the skill requires --------------------------------------------------------------------

// A simulated camera is drawn with its depth; a real one has what its entry says.
static bool has_camera(const pons_value *target, bool depth)
{
    const bool sim = strcmp(type_of(target), "sim") == 0;
    pons_each(camera, json_object_get(pons_get(target, "perception"), "cameras")) {
        const char *name = pons_get_str(camera, "name", "");
        if (!depth || sim || pons_get_bool(camera, "depth", false) || strstr(name, "depth")) {
            return true;
        }
    }
    return false;
}

static bool has_sensor(const rt_contract *c, const char *sensor)
{
    if (strcmp(sensor, "rgb_camera") == 0) {
        return has_camera(c->target, false);
    }
    if (strcmp(sensor, "depth_camera") == 0) {
        return has_camera(c->target, true);
    }
    if (strcmp(sensor, "joint_states") == 0) {
        return !c->tools || c->arm; // known once the body is there
    }
    return strcmp(sensor, "odometry") == 0 || strcmp(sensor, "lidar") == 0 ||
           strcmp(sensor, "battery") == 0; // each body has them
}

static bool has_any(const pons_ws_doc *d, const char *kind)
{
    size_t n = 0;
    const pons_ws_record *all = d ? pons_ws_records(d, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].kind, kind) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_output(const pons_ws_doc *d, const char *output)
{
    const pons_ws_record *scene = d ? pons_ws_find(d, "scene", "scene") : NULL;
    if (strcmp(output, "scene_graph") == 0) {
        return has_any(d, "node");
    }
    if (strcmp(output, "objects") == 0) {
        return has_any(d, "object");
    }
    if (strcmp(output, "robots") == 0 || strcmp(output, "robot_state") == 0) {
        return has_any(d, "robot_state");
    }
    const char *key = strcmp(output, "perception_data") == 0 ? "perception" : output;
    const pons_value *v = scene ? pons_get(scene->value, key) : NULL;
    return v && !json_is_null(v) && !(json_is_object(v) && json_object_size(v) == 0);
}

static void check_required(const rt_contract *c, rt_refusal *why)
{
    const pons_value *
        requires
    = pons_get(c->skill, "requires");
    if (!pons_get_bool(requires, "strict_environment_contract", false)) {
        return;
    }
    pons_each(v, json_object_get(requires, "sensors")) {
        const char *word = json_string_value(v);
        if (word && !has_sensor(c, word)) {
            pons__rt_refuse(why, "REQUIRED_SENSOR_MISSING", "the target has no %.60s", word);
            return;
        }
    }
    pons_each(v, json_object_get(requires, "environment_outputs")) {
        const char *word = json_string_value(v);
        if (word && !has_output(c->environment, word)) {
            pons__rt_refuse(why, "ENVIRONMENT_OUTPUT_MISSING", "ENVIRONMENT.md has no %.60s", word);
            return;
        }
    }
}

void pons__rt_check(const rt_contract *c, const rt_kind **ret_kind, rt_refusal *why)
{
    *ret_kind = NULL;
    if (!c->target) {
        pons__rt_refuse(why, "TARGET_UNKNOWN", "TARGETS.md has no %.60s",
                        pons_get_str(c->session, "target_ref", ""));
    } else if (!c->skill) {
        pons__rt_refuse(why, "SKILL_UNKNOWN", "neither SKILLS.md nor SKILLRUNTIME.md has %.60s",
                        pons_get_str(c->session, "skill_ref", ""));
    } else if (!pons_get_bool(c->target, "enabled", true)) {
        pons__rt_refuse(why, "TARGET_DISABLED", "the target is not enabled");
    }
    if (!why->code) {
        check_supported(c, why);
    }
    if (!why->code) {
        check_adapter(c, why);
    }
    if (!why->code) {
        *ret_kind = kind_of(c, why);
    }
    if (!why->code) {
        check_required(c, why);
    }
}

// ---- the body -----------------------------------------------------------------------------------

static void check_arguments(const pons_value *tool, const pons_value *args, rt_refusal *why)
{
    pons_schema *schema = NULL;
    pons_error err = PONS_ERROR_INIT;
    const pons_value *none = json_object(), *held = args ? args : none;
    if (pons_schema_compile(pons_get(tool, "parameters"), &schema, &err) == PONS_OK &&
        pons_schema_check(schema, held, &err) < 0) {
        pons__rt_refuse(why, "ACTION_CONTRACT_UNSATISFIED", "execution.params: %.300s",
                        err.message);
    }
    pons_schema_destroy(schema);
    pons_value_unref(none);
}

void pons__rt_check_body(const rt_contract *c, const rt_kind *kind, rt_refusal *why)
{
    const char *skill = pons_get_str(c->session, "skill_ref", "");
    check_required(c, why); // joint_states are known now
    if (why->code) {
        return;
    }
    if (kind == &pons__rt_builtin) {
        const pons_value *tool = pons__rt_tool(c->tools, skill);
        if (json_array_size(pons_get(pons_get(c->session, "execution"), "steps")) > 0) {
            pons__rt_refuse(
                why, "ACTION_CONTRACT_UNSATISFIED",
                "execution.steps is not read: a session is one skill, with execution.params");
        } else if (!tool) {
            pons__rt_refuse(why, "SKILL_NOT_SUPPORTED_BY_TARGET",
                            "the body of this target has no skill %.60s", skill);
        } else {
            check_arguments(tool, pons_get(pons_get(c->session, "execution"), "params"), why);
        }
    } else if (kind == &pons__rt_vla && !pons__rt_follow(c->target, c->tools)) {
        const char *mode = pons_get_str(pons_get(c->target, "config"), "control_mode", NULL);
        pons__rt_refuse(why, "ACTION_CONTRACT_UNSATISFIED",
                        "the body of this target takes no actions of a policy%s%.40s",
                        mode ? " by control_mode " : "", mode ? mode : "");
    }
}
