// configured_skills.c - see configured_skills.h. What an entry does not say: the arguments are the goal's members that it does not fix, as
// the type has them; whatever goes wrong is a person's to look at.
#include "drivers/ros2/configured_skills.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

static const pons_value *entry(const ros2_config *c, size_t i)
{
    return json_array_get(c->skills, i);
}

int ros2_owns_define(const ros2_config *c, ros2_types *t, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < json_array_size(c->skills) && rc >= 0; i++) {
        const char *text = pons_get_str(entry(c, i), "definition", NULL);
        char where[128];
        snprintf(where, sizeof where, "the definition of %.63s",
                 pons_get_str(entry(c, i), "name", ""));
        rc = text ? ros2_texts_define(ros2_types_texts(t), pons_get_str(entry(c, i), "type", ""),
                                      text, where, err)
                  : rc;
    }
    return rc;
}

// Never called: the robot carries them out.
static void nobody_steps(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    pons_skill_fail(ret, PONS_SKILL_OWN_ERRORS, "the robot's own software carries this out");
}

static char *dumped(const pons_value *v)
{
    return v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
}

// The members of the goal without those that are fixed.
static pons_value *usual_args(const ros2_shape *goal, const pons_value *fixed)
{
    pons_value *v = ros2_shape_schema(goal);
    json_t *required = json_object_get(v, "required");
    pons_each_member(key, item, fixed) {
        json_object_del(json_object_get(v, "properties"), key);
        for (size_t i = json_array_size(required); i-- > 0;) {
            if (strcmp(json_string_value(json_array_get(required, i)), key) == 0) {
                json_array_remove(required, i);
            }
        }
    }
    return v;
}

// What is fixed must be a goal of that type, whatever the arguments are.
static int check_fixed(const ros2_shape *goal, const ros2_own *o, const char *map, pons_error *err)
{
    void *mem = calloc(1, goal->size);
    if (!mem) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a skill");
    }
    const int rc = ros2_value_from(goal, o->fixed, map, mem, err);
    if (rc >= 0) {
        ros2_value_fini(goal, mem);
    }
    free(mem);
    return rc;
}

static int open_one(ros2_own *o, const ros2_config *c, const pons_value *v, ros2_types *t,
                    pons_error *err)
{
    const pons_value *map = pons_get(v, "error_map");
    const ros2_shape *goal;
    char part[ROS2_TYPE_MAX + 16];
    o->type = pons_get_str(v, "type", "");
    o->fixed = pons_get(v, "goal");
    o->service = strcmp(pons_get_str(v, "interface_type", ""), "ros2_service") == 0;
    const char *key = o->service ? "service" : "action";
    if (pons_get(v, o->service ? "action" : "service") ||
        (strstr(o->type, "/srv/") != NULL) != o->service) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "with interface_type: %s its type is package/%s/X, and its name `%s`",
                              pons_get_str(v, "interface_type", ""), o->service ? "srv" : "action",
                              key);
    }
    ros2_config_name(c, pons_get_str(v, key, pons_get_str(v, "name", "")), o->name);
    snprintf(part, sizeof part, "%s_%s", o->type, o->service ? "Request" : "Goal");
    int rc = ros2_types_get(t, part, &goal, err);
    rc = rc < 0 ? rc : check_fixed(goal, o, c->map, err);
    if (rc < 0) {
        return rc;
    }
    const pons_value *given = pons_get(v, "args_schema"),
                     *counted = pons_get(v, "resources_counted");
    pons_autovalue args = given ? json_deep_copy(given) : usual_args(goal, o->fixed);
    pons_autovalue reported =
        pons_object("resources_counted", counted ? json_deep_copy(counted) : NULL, "interface_type",
                    o->service ? json_string("ros2_service") : NULL, NULL);
    o->texts[0] = dumped(args);
    o->texts[1] = map ? dumped(map) : strdup("{\"default\":\"ask_human\"}");
    o->texts[2] = dumped(pons_get(v, "phrases"));
    o->texts[3] = dumped(reported);
    if (!o->texts[0] || !o->texts[1]) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a skill");
    }
    const bool base = pons_list_has(pons_get(v, "resources_required"), "base");
    const pons_value *cancel = pons_get(v, "cancel_supported"), *moves = pons_get(v, "moves");
    o->record = (pons_skill){.abi = PONS_SKILL_ABI,
                             .name = pons_get_str(v, "name", ""),
                             .description = pons_get_str(v, "description", ""),
                             .success_criteria = pons_get_str(v, "success_criteria", ""),
                             .timeout_s = pons_get_num(v, "timeout_s", 0.0),
                             .needs_base = base,
                             .moves = moves ? json_is_true(moves) : base,
                             .preemptible = json_is_true(pons_get(v, "preemptible")),
                             .cancel_supported = cancel ? json_is_true(cancel) : !o->service,
                             .requires_approval = json_is_true(pons_get(v, "requires_approval")),
                             .ask_on_unknown = json_is_true(pons_get(v, "ask_on_unknown")),
                             .args_schema = o->texts[0],
                             .error_map = o->texts[1],
                             .phrases = o->texts[2],
                             .reported = o->texts[3],
                             .step = nobody_steps};
    return PONS_OK;
}

int ros2_owns_open(ros2_owns *o, const ros2_config *c, ros2_types *t, pons_error *err)
{
    int rc = PONS_OK;
    *o = (ros2_owns){.n = 0};
    for (size_t i = 0; i < json_array_size(c->skills) && rc >= 0; i++) {
        rc = open_one(&o->at[o->n++], c, entry(c, i), t, err);
        if (rc < 0) {
            pons_error_context(err, "skill %.63s of config/ros2.yaml",
                               pons_get_str(entry(c, i), "name", ""));
        }
    }
    return rc;
}

void ros2_owns_close(ros2_owns *o)
{
    for (size_t i = 0; i < o->n; i++) {
        for (size_t k = 0; k < sizeof o->at[i].texts / sizeof o->at[i].texts[0]; k++) {
            free(o->at[i].texts[k]);
        }
    }
    o->n = 0;
}

pons_value *ros2_own_goal(const ros2_own *o, const pons_value *args)
{
    pons_value *v = o->fixed ? json_deep_copy(o->fixed) : json_object();
    if (args) {
        json_object_update_missing(v, (json_t *)args);
    }
    return v;
}
