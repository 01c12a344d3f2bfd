// menu.c - what may be decided now, as the form of a model's answer.
//
// schemas/decision.json says what a decision is; the menu says which of them R4 would let through at
// this moment, so that a server which forces answers into a schema leaves even a weak model nothing to
// do wrong but the wrong thing:
//
//     something may be started ....... CONTINUE, REPLAN (after a failure RETRY) with one operation: a
//                                      skill with arguments that the critic has passed
//     something runs ................. CONTINUE, and a REPLAN that cancels it
//     the goals are met .............. FINISH, and nothing is started any more
//     nothing was understood ......... FINISH with what is true of the place, ABORT, a plan_patch
//     something has failed ........... ABORT
//     others wait .................... SWITCH_TASK to those that the priorities allow
//     always ......................... ASK_HUMAN
//
// Arguments are enumerated: zones, objects and places by what the world has and the critic allows; what
// the goal at hand names (a zone until something fails, a pose, a text, a time, a skill's arguments) by
// that; other numbers by round ones between their bounds. Optional arguments are not in it: makers of grammars write every property
// that there is. Whoever is not forced may use them; the critic judges what comes, not the menu.
//
// Such makers know oneOf, const and enum best, so nothing else is used to choose.
#include "brain/ask/menu.h"

#include "brain/guard.h"
#include "pons/buf.h"

#include <math.h>
#include <string.h>

#define REASON_MAX 200 // characters of a reason
#define TEXT_MAX   300 // of a text that is said
#define STOPS_MAX  6   // zones of one journey
#define ID_MAX     40  // zones and objects in one enumeration

typedef struct cook { // who makes the menu, of what
    pons_brain *b;
    const pons__react *react;
    const pons__skills *skills;
    const pons__goal *goal; // at hand; NULL: none was understood, or all are met
    int goal_index;
    pons_value *running, *none; // lists, as the critic takes them
} cook;

static void add_moves(cook *c, pons_value *form);
static void add_ends(cook *c, pons_value *form);
static void add_switch(const cook *c, pons_value *form);
static pons_value *moves_of(cook *c);

// ---- parts of a schema --------------------------------------------------------------------------

static pons_value *constant(const char *text)
{
    return json_pack("{s:s}", "const", text);
}

static pons_value *one_of(pons_value *list)
{
    return pons_object("enum", list, NULL);
}

static pons_value *text_of(int max)
{
    return json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1, "maxLength", max);
}

// An object with exactly these members (taken).
static pons_value *exactly(pons_value *properties)
{
    pons_value *required = json_array();
    const char *name;
    json_t *unused;
    json_object_foreach(properties, name, unused)
    {
        json_array_append_new(required, json_string(name));
    }
    return pons_object("type", json_string("object"), "properties", properties, "required",
                       required, "additionalProperties", json_false(), NULL);
}

// A decision of one of these types, with what else it says (taken; NULL: nothing).
static void add(pons_value *form, pons_value *types, const char *name, pons_value *with)
{
    pons_value *properties = pons_object("type", one_of(types), "reason", text_of(REASON_MAX),
                                         name ? name : "", with, NULL);
    json_array_append_new(form, exactly(properties));
}

// A list of exactly one.
static pons_value *list_of_one(pons_value *items)
{
    return json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", 1, "maxItems", 1, "items",
                     items);
}

// ---- the menu -----------------------------------------------------------------------------------

pons_value *pons__menu(pons_brain *b, const pons__react *react, const pons__skills *skills)
{
    cook c = {.b = b,
              .react = react,
              .skills = skills,
              .goal_index = react->task ? pons__goal_open(react->task) : -1,
              .running = pons__list_write(&pons__running_record, &skills->running),
              .none = json_array()};
    pons_value *form = json_array();
    if (c.goal_index >= 0) {
        c.goal = react->task->goals.at[c.goal_index];
    }
    if (json_array_size(b->port.greeting.as.hello.skills) > 0) {
        add_moves(&c, form);
        add_ends(&c, form);
        add_switch(&c, form);
    }
    pons_value_unref(c.running);
    pons_value_unref(c.none);
    if (json_array_size(form) == 0) {
        pons_value_unref(form);
        return NULL;
    }
    return pons_object("oneOf", form, NULL);
}

// Without what may be given to a skill: for a budget that the menu does not fit.
pons_value *pons__menu_short(const pons_brain *b)
{
    pons_value *types = json_array(), *names = json_array();
    size_t i;
    json_t *skill;
    for (int type = PONS_CONTINUE; type <= PONS_ABORT; type++) {
        json_array_append_new(types, json_string(pons__decision_words[type]));
    }
    json_array_foreach(b->port.greeting.as.hello.skills, i, skill)
    {
        json_array_append_new(names, json_string(pons_get_str(skill, "name", "")));
    }
    pons_value *op = exactly(pons_object("op", constant("dispatch"), "skill", one_of(names), "args",
                                         json_pack("{s:s}", "type", "object"), NULL));
    return pons_object("type", json_string("object"), "properties",
                       pons_object("type", one_of(types), "reason", text_of(REASON_MAX), "ops",
                                   list_of_one(op), NULL),
                       "required", json_pack("[s,s]", "type", "reason"), "additionalProperties",
                       json_false(), NULL);
}

// ---- decisions ----------------------------------------------------------------------------------

static bool all_met(const cook *c)
{
    const pons__task *task = c->react->task;
    return task && task->goals.n > 0 && !c->goal;
}

static bool has_failed(const cook *c)
{
    const pons__result *last = c->skills->last_result;
    const pons__ladder *l = c->react->task ? c->react->task->ladder : NULL;
    return (l && l->failures > 0) || (last && last->status != PONS_END_DONE);
}

static void add_moves(cook *c, pons_value *form)
{
    pons_value *moves = all_met(c) ? json_array() : moves_of(c);
    if (json_array_size(moves) > 0) {
        pons_value *types = json_pack("[s,s]", "CONTINUE", "REPLAN");
        if (has_failed(c)) {
            json_array_append_new(types, json_string("RETRY"));
        }
        add(form, types, "ops", list_of_one(pons_object("oneOf", moves, NULL)));
    } else {
        pons_value_unref(moves);
    }
    pons_value *ids = json_array();
    for (size_t i = 0; i < c->skills->running.n; i++) {
        const pons__running *r = c->skills->running.at[i];
        json_array_append_new(ids, json_string(r->goal_id));
    }
    if (json_array_size(ids) > 0) {
        pons_value *cancel = exactly(
            pons_object("op", constant("cancel"), "goal_id", one_of(pons_value_ref(ids)), NULL));
        add(form, json_pack("[s]", "CONTINUE"), NULL, NULL);
        add(form, json_pack("[s]", "REPLAN"), "ops", list_of_one(cancel));
    }
    pons_value_unref(ids);
}

static void add_ends(cook *c, pons_value *form)
{
    const pons__task *task = c->react->task;
    const bool understood = task && task->goals.n > 0;
    const pons_value *published = pons__door_schema(c->b, PONS_DOOR_DECISION);
    pons_autovalue unmet = pons__guard_finish(c->b, task, c->skills);
    const char *zone = c->b->seen ? c->b->seen->zone : NULL;
    if (!unmet) {
        add(form, json_pack("[s]", "FINISH"), NULL, NULL);
    }
    if (!unmet && !understood && zone && pons__place_sure(c->b)) {
        add(form, json_pack("[s]", "FINISH"), "claims",
            list_of_one(exactly(pons_object("in_zone", constant(zone), NULL))));
    }
    if (!understood && published) {
        const pons_value *patch = pons_get(pons_get(published, "properties"), "plan_patch");
        pons_value *steps = exactly(pons_object(
            "steps", pons_value_ref(pons_get(pons_get(patch, "properties"), "steps")), NULL));
        add(form, json_pack("[s,s]", "CONTINUE", "REPLAN"), "plan_patch", steps);
    }
    if (!understood || has_failed(c)) {
        add(form, json_pack("[s]", "ABORT"), NULL, NULL);
    }
    if (!all_met(c) || unmet) {
        add(form, json_pack("[s]", "ASK_HUMAN"), NULL, NULL);
    }
}

static void add_switch(const cook *c, pons_value *form)
{
    const pons__tasks *tasks = c->b->tasks;
    pons_value *ids = json_array();
    for (size_t i = 0; i < tasks->queue.n && json_array_size(ids) < ID_MAX; i++) {
        const pons__task *task = tasks->queue.at[i], *to = NULL;
        char why[160];
        if (strcmp(task->id, tasks->active_task_id) != 0 &&
            !pons__tasks_switch(tasks, task->id, &to, why, sizeof why)) {
            json_array_append_new(ids, json_string(task->id));
        }
    }
    if (json_array_size(ids) > 0) {
        add(form, json_pack("[s]", "SWITCH_TASK"), "task_id", one_of(pons_value_ref(ids)));
    }
    pons_value_unref(ids);
}

// ---- arguments ----------------------------------------------------------------------------------

// What has just ended well has met nothing, else it would not be asked again; and who stands in a room
// needs no way to it, but for a goal that says so.
static bool is_idle(const cook *c, const char *skill, const pons_value *args)
{
    const pons__result *last = c->skills->last_result;
    const char *zone = pons_get_str(args, "zone", NULL);
    const char *here =
        pons__place_sure(c->b) && c->b->seen && c->b->seen->zone ? c->b->seen->zone : "";
    const bool again = last && last->status == PONS_END_DONE && strcmp(last->skill, skill) == 0 &&
                       json_equal((json_t *)last->args, (json_t *)args);
    return c->goal && (again || (zone && strcmp(zone, here) == 0 &&
                                 strcmp(zone, c->goal->zone ? c->goal->zone : "") != 0));
}

// Whether R4 would let it out, and it is not for nothing.
static bool passes(cook *c, const char *skill, const pons_value *args)
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
    size_t i;
    json_t *thing;
    json_array_foreach(things, i, thing)
    {
        if (json_array_size(list) < ID_MAX) {
            json_array_append_new(list, json_string(pons_get_str(thing, "id", "")));
        }
    }
}

static const pons_value *zones_of(const cook *c)
{
    return c->b->around ? c->b->around->zones : NULL;
}

// The zones that a way may lead to: until something fails those that the goal at hand is about, else all.
static void add_zones(const cook *c, pons_value *list)
{
    const pons__goal *goal = has_failed(c) ? NULL : c->goal;
    if (goal && *goal->zone) {
        json_array_append_new(list, json_string(goal->zone));
        return;
    }
    size_t i;
    json_t *stop;
    json_array_foreach(goal ? goal->zones : NULL, i, stop)
    {
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

// What an argument of this name may be now, by value; empty: the goal and the world do not say.
static pons_value *values_of(const cook *c, const char *name, const pons_value *schema)
{
    const pons__goal *goal = c->goal;
    const pons_value *own = goal ? pons_get(goal->args, name) : NULL;
    pons_value *list = json_array();
    const bool place = strcmp(name, "place") == 0;
    const char *type = pons_get_str(schema, "type", "");
    if (own) {
        json_array_append(list, (json_t *)own);
    } else if (pons_get(schema, "enum")) {
        json_array_extend(list, (json_t *)pons_get(schema, "enum"));
    } else if (strcmp(name, "pose") == 0 && goal && goal->pose) {
        json_array_append(list, (json_t *)goal->pose);
    } else if (strcmp(name, "text") == 0 && goal && strcmp(goal->intent, "say") == 0) {
        json_array_append_new(list, json_string(goal->text));
    } else if (strcmp(name, "s") == 0 && goal && goal->seconds > 0.0) {
        json_array_append_new(list, json_real(goal->seconds));
    } else if (strcmp(name, "zone") == 0) {
        add_zones(c, list);
    } else if (place) {
        add_ids(list, zones_of(c));
    }
    if (!own && (strcmp(name, "object") == 0 || place)) {
        add_ids(list, c->b->around ? c->b->around->objects : NULL);
    }
    if (json_array_size(list) == 0 &&
        (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0)) {
        add_numbers(list, schema);
    }
    return list;
}

// A value as a schema: a constant, or, of an object, one that has exactly these members.
static pons_value *as_schema(const pons_value *value)
{
    if (!json_is_object(value)) {
        return pons_object("const", pons_value_ref(value), NULL);
    }
    pons_value *properties = json_object();
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)value, key, member)
    {
        json_object_set_new(properties, key, as_schema(member));
    }
    return exactly(properties);
}

// An argument that nothing enumerates: its schema, in a form that grammars take; NULL: it cannot be
// filled in sensibly, as a pose that nobody named while something else will do.
static pons_value *free_argument(const cook *c, const char *name, const pons_value *schema,
                                 pons_value **ret_sample)
{
    const char *type = pons_get_str(schema, "type", "");
    if (strcmp(type, "string") == 0) {
        *ret_sample = json_string("x");
        return text_of(TEXT_MAX);
    }
    if (strcmp(name, "zones") == 0) {
        pons_value *ids = json_array();
        add_zones(c, ids);
        *ret_sample = json_pack("[O]", json_array_get(ids, 0));
        return json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", 1, "maxItems",
                         STOPS_MAX, "items", one_of(ids));
    }
    if (strcmp(name, "pose") == 0 && !c->goal) {
        const pons_value *pose = c->b->seen ? c->b->seen->pose : NULL;
        *ret_sample = json_pack("{s:f, s:f}", "x", pons_get_num(pose, "x", 0.0), "y",
                                pons_get_num(pose, "y", 0.0));
        return exactly(pons_object("x", json_pack("{s:s}", "type", "number"), "y",
                                   json_pack("{s:s}", "type", "number"), NULL));
    }
    return NULL;
}

// One way to give a skill its arguments: those that are required. NULL: it would not pass.
static pons_value *arguments(cook *c, const char *skill, const pons_value *schema,
                             const pons_value *required)
{
    pons_value *properties = json_object();
    pons_autovalue sample = json_object(); // of the arguments before
    bool good = true;
    size_t i;
    json_t *name;
    json_array_foreach(required, i, name)
    {
        const char *key = json_string_value(name);
        const pons_value *of = pons_get(pons_get(schema, "properties"), key);
        pons_autovalue values = values_of(c, key, of);
        pons_value *some = NULL;
        if (json_array_size(values) == 0) {
            pons_value *free = free_argument(c, key, of, &some);
            good = good && free;
            json_object_set_new(properties, key, free ? free : json_null());
        } else {
            some = pons_value_ref(json_array_get(values, 0));
            json_object_set_new(properties, key, one_of(pons_value_ref(values)));
        }
        json_object_set_new(sample, key, some ? some : json_null());
    }
    // Each enumerated value by itself, the others as they came first.
    const char *key;
    json_t *property;
    void *next;
    json_object_foreach_safe(properties, next, key, property)
    {
        const pons_value *values = pons_get(property, "enum");
        pons_value *passed = json_array(), *schemas = json_array();
        json_t *value;
        bool objects = false;
        json_array_foreach(good ? values : NULL, i, value)
        {
            pons_autovalue args = pons__with(sample, key, pons_value_ref(value));
            if (passes(c, skill, args)) {
                json_array_append(passed, value);
                json_array_append_new(schemas, as_schema(value));
                objects = objects || json_is_object(value);
            }
        }
        if (values) {
            good = good && json_array_size(passed) > 0;
            json_object_set(sample, key, json_array_get(passed, 0));
            json_object_set_new(properties, key,
                                objects ? pons_object("oneOf", pons_value_ref(schemas), NULL)
                                        : one_of(pons_value_ref(passed)));
        }
        pons_value_unref(passed);
        pons_value_unref(schemas);
    }
    if (!good || !passes(c, skill, sample)) {
        pons_value_unref(properties);
        return NULL;
    }
    return exactly(properties);
}

static void add_move(cook *c, pons_value *moves, const pons_value *skill,
                     const pons_value *required)
{
    const char *name = pons_get_str(skill, "name", "");
    pons_value *args = arguments(c, name, pons_get(skill, "args_schema"), required);
    if (args) {
        json_array_append_new(
            moves, exactly(pons_object("op", constant("dispatch"), "skill", constant(name), "args",
                                       args, "goal_index",
                                       c->goal ? json_pack("{s:i}", "const", c->goal_index) : NULL,
                                       NULL)));
    }
}

// Any of its arguments will do: each alone.
static void add_any(cook *c, pons_value *moves, const pons_value *skill)
{
    const char *name;
    json_t *unused;
    json_object_foreach((json_t *)pons_get(pons_get(skill, "args_schema"), "properties"), name,
                        unused)
    {
        pons_autovalue required = json_pack("[s]", name);
        add_move(c, moves, skill, required);
    }
}

static pons_value *moves_of(cook *c)
{
    pons_value *moves = json_array();
    size_t i, k;
    json_t *skill, *way;
    json_array_foreach(c->b->port.greeting.as.hello.skills, i, skill)
    {
        const pons_value *schema = pons_get(skill, "args_schema");
        const pons_value *ways = pons_get(schema, "oneOf");
        pons_autovalue held = pons__guard_kernel(c->b, pons_get_str(skill, "name", ""));
        if (held || !schema) {
            continue;
        }
        json_array_foreach(ways, k, way)
        {
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

// ---- as words -----------------------------------------------------------------------------------

static void write_arguments(pons_buf *out, const pons_value *schema);

static void write_argument(pons_buf *out, const char *name, const pons_value *schema, bool optional)
{
    pons_buf_printf(out, "%s", name);
    if (pons_get(schema, "properties")) {
        pons_buf_printf(out, "{");
        write_arguments(out, schema);
        pons_buf_printf(out, "}");
    } else if (strcmp(pons_get_str(schema, "type", ""), "array") == 0) {
        pons_buf_printf(out, "[…]");
    }
    pons_buf_printf(out, "%s", optional ? "?" : "");
    const pons_value *min = pons_get(schema, "minimum"), *max = pons_get(schema, "maximum");
    if (!optional && min && max) {
        pons_buf_printf(out, " %g..%g", json_number_value(min), json_number_value(max));
    }
}

// Whether every way, or one of them (some), needs an argument.
static bool is_needed(const pons_value *schema, const char *name, bool *ret_some)
{
    size_t i;
    json_t *way;
    *ret_some = false;
    json_array_foreach(pons_get(schema, "oneOf"), i, way)
    {
        *ret_some = *ret_some || pons__has(pons_get(way, "required"), name);
    }
    return pons__has(pons_get(schema, "required"), name);
}

// Those that are needed, those of which one is, and the others.
static void write_arguments(pons_buf *out, const pons_value *schema)
{
    const char *const before[] = {", ", " | ", ", "};
    bool any = false;
    for (int round = 0; round < 3; round++) {
        const char *name;
        json_t *property;
        bool first = true;
        json_object_foreach((json_t *)pons_get(schema, "properties"), name, property)
        {
            bool some;
            const bool needed = is_needed(schema, name, &some);
            const int own = needed ? 0 : some ? 1 : 2;
            if (own == round) {
                pons_buf_printf(out, "%s", !any ? "" : first ? "; " : before[round]);
                write_argument(out, name, property, round == 2);
                any = true;
                first = false;
            }
        }
    }
}

char *pons__menu_arguments(const pons_value *schema)
{
    pons_autobuf out = PONS_BUF_INIT;
    write_arguments(&out, schema);
    return strdup(out.data ? out.data : "");
}
