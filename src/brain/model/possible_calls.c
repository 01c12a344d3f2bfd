// possible_calls.c - what may be started now: each skill with those arguments that the critic lets through.
//
// Arguments are enumerated: zones, objects and places by what the world has and the critic allows; what
// the goal at hand names (a zone until something fails, a pose, a text, a time, a skill's arguments) by
// that; other numbers by round ones between their bounds. What an argument is about, the skill's registry item
// says (goals/argument_slots.c). Optional arguments are not in it: makers of grammars write every property
// that there is. Whoever is not forced may use them; the critic judges what comes, not the menu.
#include "brain/model/possible_calls.h"

#include "brain/critic/critic_check.h"
#include "brain/goals/argument_slots.h"
#include "brain/goals/goal_skills.h"
#include "brain/model/schema_words.h"

#include <math.h>
#include <string.h>

#define TEXT_MAX  300 // characters of a text that is said
#define STOPS_MAX 6   // zones of one journey

bool pons__cook_failed(const pons__cook *c)
{
    const pons__result *last = c->skills->last_result;
    const pons__recovery_state *l = c->react->task ? c->react->task->recovery : NULL;
    return (l && l->failures > 0) || (last && last->status != PONS_END_DONE);
}

// What has just ended well has met nothing, else it would not be asked again; and who stands in a room
// needs no way to it, but for a goal that says so.
static bool is_idle(const pons__cook *c, const char *skill, const pons_value *args)
{
    const pons__result *last = c->skills->last_result;
    const char *zone = pons__about_zone(c->b, skill, args);
    const char *here =
        pons__place_sure(c->b) && c->b->seen && c->b->seen->zone ? c->b->seen->zone : "";
    const bool again = last && last->status == PONS_END_DONE && strcmp(last->skill, skill) == 0 &&
                       json_equal((json_t *)last->args, (json_t *)args);
    return c->goal && (again || (zone && strcmp(zone, here) == 0 &&
                                 strcmp(zone, c->goal->zone ? c->goal->zone : "") != 0));
}

// Whether R4 would let it out, and it is not for nothing.
static bool passes(pons__cook *c, const char *skill, const pons_value *args)
{
    if (is_idle(c, skill, args)) {
        return false;
    }
    pons_autovalue batch =
        json_pack("[{s:s, s:O, s:i}]", "skill", skill, "args", args, "goal_index", c->goal_index);
    pons_autovalue broken = pons__guard_would(c->b, c->react->mode, skill, args, c->running, batch);
    return json_array_size(broken) == 0;
}

static void add_ids(pons_value *list, const pons_value *things)
{
    pons_each(thing, things) {
        if (json_array_size(list) < PONS__MENU_IDS_MAX) {
            json_array_append_new(list, json_string(pons_get_str(thing, "id", "")));
        }
    }
}

static const pons_value *zones_of(const pons__cook *c)
{
    return c->b->around ? c->b->around->zones : NULL;
}

// The zones that a way may lead to: until something fails those that the goal at hand is about, else all.
static void add_zones(const pons__cook *c, pons_value *list)
{
    const pons__goal *goal = pons__cook_failed(c) ? NULL : c->goal;
    if (goal && *goal->zone) {
        json_array_append_new(list, json_string(goal->zone));
        return;
    }
    pons_each(stop, goal ? goal->zones : NULL) {
        if (!pons__has(goal->visited, json_string_value(stop))) {
            json_array_append(list, stop);
        }
    }
    if (json_array_size(list) == 0) {
        add_ids(list, zones_of(c));
    }
}

// Round numbers between the bounds of a number; none when it has no bounds.
static void add_numbers(pons_value *list, const pons_value *schema)
{
    static const double round[] = {-3.14, -1.57, 0.2, 0.5, 1.0, 1.57, 2.0, 3.14, 5.0, 20.0, 60.0};
    const double min = pons_get_num(schema, "minimum", NAN);
    const double max = pons_get_num(schema, "maximum", NAN);
    const bool whole = strcmp(pons_get_str(schema, "type", ""), "integer") == 0;
    for (size_t i = 0; i < sizeof round / sizeof round[0]; i++) {
        if (round[i] >= min && round[i] <= max && (!whole || round[i] == floor(round[i]))) {
            json_array_append_new(list,
                                  whole ? json_integer((json_int_t)round[i]) : json_real(round[i]));
        }
    }
}

// What the goal at hand and the world say of an argument, by value.
static void add_known(const pons__cook *c, pons__about about, pons_value *list)
{
    const pons__goal *goal = c->goal;
    const pons_value *objects = c->b->around ? c->b->around->objects : NULL;
    switch (about) {
    case PONS_ABOUT_POSE:
        if (goal && goal->pose) {
            json_array_append(list, (json_t *)goal->pose);
        }
        break;
    case PONS_ABOUT_TEXT:
        if (goal &&
            strcmp(goal->intent, "say") == 0) { // the words of others are how they were said
            json_array_append_new(list, json_string(goal->text));
        }
        break;
    case PONS_ABOUT_SECONDS:
        if (goal && goal->seconds > 0.0) {
            json_array_append_new(list, json_real(goal->seconds));
        }
        break;
    case PONS_ABOUT_ZONE:
        add_zones(c, list);
        break;
    case PONS_ABOUT_PLACE:
        add_ids(list, zones_of(c));
        add_ids(list, objects);
        break;
    case PONS_ABOUT_OBJECT:
        add_ids(list, objects);
        break;
    case PONS_ABOUT_ZONES:
    case PONS_ABOUT_NOTHING:
        break;
    }
}

// What an argument may be now, by value; empty: the goal and the world do not say.
static pons_value *values_of(const pons__cook *c, const char *skill, const char *name,
                             const pons_value *schema)
{
    const pons_value *own = c->goal ? pons_get(c->goal->args, name) : NULL;
    pons_value *list = json_array();
    const char *type = pons_get_str(schema, "type", "");
    if (own) {
        json_array_append(list, (json_t *)own);
    } else if (pons_get(schema, "enum")) {
        json_array_extend(list, (json_t *)pons_get(schema, "enum"));
    } else {
        add_known(c, pons__about_of(c->b, skill, name), list);
    }
    if (json_array_size(list) == 0 &&
        (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0)) {
        add_numbers(list, schema);
    }
    return list;
}

// An argument that nothing enumerates: its schema, in a form that grammars take; NULL: it cannot be
// filled in sensibly, as a pose that nobody named while something else will do.
static pons_value *free_argument(const pons__cook *c, const char *skill, const char *name,
                                 const pons_value *schema, pons_value **ret_sample)
{
    const pons__about about = pons__about_of(c->b, skill, name);
    if (strcmp(pons_get_str(schema, "type", ""), "string") == 0) {
        *ret_sample = json_string("x");
        return pons__form_text(TEXT_MAX);
    }
    if (about == PONS_ABOUT_ZONES) {
        pons_value *ids = json_array();
        add_zones(c, ids);
        *ret_sample = json_pack("[O]", json_array_get(ids, 0));
        return json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", 1, "maxItems",
                         STOPS_MAX, "items", pons__form_one_of(ids));
    }
    if (about == PONS_ABOUT_POSE && !c->goal) {
        const pons_value *pose = c->b->seen ? c->b->seen->pose : NULL;
        *ret_sample = json_pack("{s:f, s:f}", "x", pons_get_num(pose, "x", 0.0), "y",
                                pons_get_num(pose, "y", 0.0));
        return pons__form_exactly(pons_object("x", json_pack("{s:s}", "type", "number"), "y",
                                              json_pack("{s:s}", "type", "number"), NULL));
    }
    return NULL;
}

// One way to give a skill its arguments: those that are required. NULL: it would not pass.
static pons_value *arguments(pons__cook *c, const char *skill, const pons_value *schema,
                             const pons_value *required)
{
    pons_value *properties = json_object();
    pons_autovalue sample = json_object(); // of the arguments before
    bool good = true;
    pons_each(name, required) {
        const char *key = json_string_value(name);
        const pons_value *of = pons_get(pons_get(schema, "properties"), key);
        pons_autovalue values = values_of(c, skill, key, of);
        pons_value *some = NULL;
        if (json_array_size(values) == 0) {
            pons_value *free = free_argument(c, skill, key, of, &some);
            good = good && free;
            json_object_set_new(properties, key, free ? free : json_null());
        } else {
            some = pons_value_ref(json_array_get(values, 0));
            json_object_set_new(properties, key, pons__form_one_of(pons_value_ref(values)));
        }
        json_object_set_new(sample, key, some ? some : json_null());
    }
    // Each enumerated value by itself, the others as they came first.
    const char *key;
    json_t *property;
    void *next;
    json_object_foreach_safe(properties, next, key, property) {
        const pons_value *values = pons_get(property, "enum");
        pons_value *passed = json_array(), *schemas = json_array();
        bool objects = false;
        pons_each(value, good ? values : NULL) {
            pons_autovalue args = pons__with(sample, key, pons_value_ref(value));
            if (passes(c, skill, args)) {
                json_array_append(passed, value);
                json_array_append_new(schemas, pons__form_of(value));
                objects = objects || json_is_object(value);
            }
        }
        if (values) {
            good = good && json_array_size(passed) > 0;
            json_object_set(sample, key, json_array_get(passed, 0));
            json_object_set_new(properties, key,
                                objects ? pons_object("oneOf", pons_value_ref(schemas), NULL)
                                        : pons__form_one_of(pons_value_ref(passed)));
        }
        pons_value_unref(passed);
        pons_value_unref(schemas);
    }
    if (!good || !passes(c, skill, sample)) {
        pons_value_unref(properties);
        return NULL;
    }
    return pons__form_exactly(properties);
}

static void add_move(pons__cook *c, pons_value *moves, const pons__registered *skill,
                     const pons_value *required)
{
    pons_value *args = arguments(c, skill->name, skill->args_schema, required);
    if (args) {
        json_array_append_new(
            moves, pons__form_exactly(pons_object(
                       "op", pons__form_constant(pons__op_words[PONS_OP_DISPATCH]), "skill",
                       pons__form_constant(skill->name), "args", args, "goal_index",
                       c->goal ? json_pack("{s:i}", "const", c->goal_index) : NULL, NULL)));
    }
}

// Any of its arguments will do: each alone.
static void add_any(pons__cook *c, pons_value *moves, const pons__registered *skill)
{
    pons_each_member(name, unused, pons_get(skill->args_schema, "properties")) {
        pons_autovalue required = json_pack("[s]", name);
        add_move(c, moves, skill, required);
    }
}

pons_value *pons__moves_of(pons__cook *c)
{
    pons_value *moves = json_array();
    for (size_t i = 0; i < c->b->port.skills.n; i++) {
        const pons__registered *skill = c->b->port.skills.at[i];
        const pons_value *schema = skill->args_schema;
        const pons_value *ways = pons_get(schema, "oneOf");
        pons_autovalue held = pons__guard_kernel(c->b, skill->name);
        if (held || !schema) {
            continue;
        }
        pons_each(way, ways) {
            add_move(c, moves, skill, pons_get(way, "required"));
        }
        if (json_array_size(ways) > 0) {
            continue;
        }
        if (pons_get_int(schema, "minProperties", 0) > 0 && !pons_get(schema, "required")) {
            add_any(c, moves, skill);
        } else {
            add_move(c, moves, skill, pons_get(schema, "required"));
        }
    }
    return moves;
}

// What drives the robot, and leaves it free to speak. Others are over before words are, or say them themselves.
static bool may_speak(pons__cook *c, const pons__registered *skill, const pons__means *say)
{
    pons_autovalue batch = json_pack("[{s:s, s:{}}, {s:s, s:O}]", "skill", skill->name, "args",
                                     "skill", say->skill, "args", say->args);
    pons_autovalue broken =
        pons__guard_would(c->b, c->react->mode, say->skill, say->args, c->running, batch);
    return pons__has(skill->resources, "base") && json_array_size(broken) == 0;
}

pons_value *pons__moves_spoken(pons__cook *c, const pons_value *moves)
{
    pons_value *list = json_array();
    PONS__AUTO(means) say = pons__means_for(c->b, "say", "text", json_string("…"));
    pons_each(move, moves) {
        const pons_value *name = pons_get(pons_get(move, "properties"), "skill");
        const pons__registered *skill = pons__skill(c->b, pons_get_str(name, "const", ""));
        if (say && skill && may_speak(c, skill, say)) {
            json_array_append(list, move);
        }
    }
    return list;
}
