// answer_schema.c - what may be decided now, as the form of a model's answer.
//
// schemas/decision.json says what a decision is; the menu says which of them R4 would let through at
// this moment, so that a server which forces answers into a schema leaves even a weak model nothing to
// do wrong but the wrong thing:
//
//     something may be started ....... CONTINUE, REPLAN (after a failure RETRY) with one operation: a
//                                      skill with arguments that the critic has passed; or what drives,
//                                      and words beside it
//     something runs ................. CONTINUE, and a REPLAN that cancels it
//     the goals are met .............. FINISH, and nothing is started any more
//     nothing was understood ......... FINISH with what is true of the place, ABORT, a plan_patch
//     something has failed ........... ABORT
//     others wait .................... SWITCH_TASK to those that the priorities allow
//     always ......................... ASK_HUMAN
//
// Which operations, with which arguments, is possible_calls.c; what a schema is made of, schema_words.c.
//
// Makers of grammars know oneOf, const, enum and lists of fixed places (prefixItems) best, so nothing else is used to
// choose.
#include "brain/model/answer_schema.h"

#include "brain/critic/critic_check.h"
#include "brain/model/possible_calls.h"
#include "brain/model/schema_words.h"
#include "brain/tasks/tasks.h"

#include <string.h>

#define REASON_MAX 200 // characters of a reason
#define WORDS_MAX  200 // of what is said while it drives
#define SHORT_OPS_MAX                                                                              \
    3 // operations of the short form: one is cancelled, one is begun, and words beside it

// A decision of one of these types, with what else it says (taken; NULL: nothing).
static void add(pons_value *form, pons_value *types, const char *name, pons_value *with)
{
    pons_value *properties = pons_object("type", pons__form_one_of(types), "reason",
                                         pons__form_text(REASON_MAX), name ? name : "", with, NULL);
    json_array_append_new(form, pons__form_exactly(properties));
}

static pons_value *speak_form(void)
{
    return pons__form_exactly(pons_object("op", pons__form_constant(pons__op_words[PONS_OP_SPEAK]),
                                          "text", pons__form_text(WORDS_MAX), NULL));
}

// Of what runs; there is something.
static pons_value *cancel_form(const pons__skills *skills)
{
    pons_value *ids = json_array();
    for (size_t i = 0; i < skills->running.n; i++) {
        const pons__running *r = skills->running.at[i];
        json_array_append_new(ids, json_string(r->goal_id));
    }
    return pons__form_exactly(pons_object("op", pons__form_constant(pons__op_words[PONS_OP_CANCEL]),
                                          "goal_id", pons__form_one_of(ids), NULL));
}

// ---- decisions ----------------------------------------------------------------------------------

static bool all_met(const pons__cook *c)
{
    const pons__task *task = c->react->task;
    return task && task->goals.n > 0 && !c->goal;
}

static void add_moves(pons__cook *c, pons_value *form)
{
    pons_value *moves = all_met(c) ? json_array() : pons__moves_of(c);
    if (json_array_size(moves) > 0) {
        pons_value *types = json_pack("[s,s]", "CONTINUE", "REPLAN"),
                   *spoken = pons__moves_spoken(c, moves);
        if (pons__cook_failed(c)) {
            json_array_append_new(types, json_string("RETRY"));
        }
        if (json_array_size(spoken) > 0) {
            add(form, pons_value_ref(types), "ops",
                pons__form_pair(pons_object("oneOf", spoken, NULL), speak_form()));
        } else {
            pons_value_unref(spoken);
        }
        add(form, types, "ops", pons__form_list_of_one(pons_object("oneOf", moves, NULL)));
    } else {
        pons_value_unref(moves);
    }
    if (c->skills->running.n > 0) {
        add(form, json_pack("[s]", "CONTINUE"), NULL, NULL);
        add(form, json_pack("[s]", "REPLAN"), "ops",
            pons__form_list_of_one(cancel_form(c->skills)));
    }
}

static void add_ends(pons__cook *c, pons_value *form)
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
            pons__form_list_of_one(
                pons__form_exactly(pons_object("in_zone", pons__form_constant(zone), NULL))));
    }
    if (!understood && published) {
        const pons_value *patch = pons_get(pons_get(published, "properties"), "plan_patch");
        pons_value *steps = pons__form_exactly(pons_object(
            "steps", pons_value_ref(pons_get(pons_get(patch, "properties"), "steps")), NULL));
        add(form, json_pack("[s,s]", "CONTINUE", "REPLAN"), "plan_patch", steps);
    }
    if (!understood || pons__cook_failed(c)) {
        add(form, json_pack("[s]", "ABORT"), NULL, NULL);
    }
    if (!all_met(c) || unmet) {
        add(form, json_pack("[s]", "ASK_HUMAN"), NULL, NULL);
    }
}

static void add_switch(const pons__cook *c, pons_value *form)
{
    const pons__tasks *tasks = c->b->tasks;
    pons_autovalue ids = json_array();
    for (size_t i = 0; i < tasks->queue.n && json_array_size(ids) < PONS__MENU_IDS_MAX; i++) {
        const pons__task *task = tasks->queue.at[i], *to = NULL;
        char why[160];
        if (strcmp(task->id, tasks->active_task_id) != 0 &&
            !pons__tasks_switch(tasks, task->id, &to, why, sizeof why)) {
            json_array_append_new(ids, json_string(task->id));
        }
    }
    if (json_array_size(ids) > 0) {
        add(form, json_pack("[s]", "SWITCH_TASK"), "task_id",
            pons__form_one_of(pons_value_ref(ids)));
    }
}

// ---- the menu -----------------------------------------------------------------------------------

pons_value *pons__menu(pons_brain *b, const pons__react *react, const pons__skills *skills)
{
    pons__cook c = {.b = b,
                    .react = react,
                    .skills = skills,
                    .goal_index = react->task ? pons__goal_open(react->task) : -1,
                    .running = pons__list_write(&pons__running_record, &skills->running),
                    .none = json_array()};
    pons_value *form = json_array();
    if (c.goal_index >= 0) {
        c.goal = react->task->goals.at[c.goal_index];
    }
    if (b->port.skills.n > 0) {
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

// Without what may be given to a skill: for a budget that the menu does not fit. What drives may have words beside it, or
// what runs be cancelled first: which of those go together the guard says.
pons_value *pons__menu_short(const pons_brain *b, const pons__skills *skills)
{
    pons_value *types = json_array(), *names = json_array(), *ops = json_array();
    for (int type = PONS_CONTINUE; type <= PONS_ABORT; type++) {
        json_array_append_new(types, json_string(pons__decision_words[type]));
    }
    for (size_t i = 0; i < b->port.skills.n; i++) {
        const pons__registered *skill = b->port.skills.at[i];
        json_array_append_new(names, json_string(skill->name));
    }
    json_array_append_new(
        ops, pons__form_exactly(pons_object(
                 "op", pons__form_constant(pons__op_words[PONS_OP_DISPATCH]), "skill",
                 pons__form_one_of(names), "args", json_pack("{s:s}", "type", "object"), NULL)));
    json_array_append_new(ops, speak_form());
    if (skills->running.n > 0) {
        json_array_append_new(ops, cancel_form(skills));
    }
    pons_value *list = json_pack("{s:s, s:i, s:i, s:{s:o}}", "type", "array", "minItems", 1,
                                 "maxItems", SHORT_OPS_MAX, "items", "oneOf", ops);
    return pons_object("type", json_string("object"), "properties",
                       pons_object("type", pons__form_one_of(types), "reason",
                                   pons__form_text(REASON_MAX), "ops", list, NULL),
                       "required", json_pack("[s,s]", "type", "reason"), "additionalProperties",
                       json_false(), NULL);
}
