// compile.c - R3: a decision becomes operations: what to cancel, to send, to ask.
//
// A patch of the goals may add sub-goals and put goals in another order; it can neither take away a
// goal that a person gave nor say that one is met. What runs, and the last result, serve a goal by its
// place: they follow it to its new one.
#include "brain/goals/means.h"
#include "brain/react/nodes.h"
#include "brain/react/observe.h"
#include "brain/task_plan.h"

#include <string.h>

#define QUESTIONS_MAX 8 // of one decision

static void compile_op(const pons__turn *t, pons__proposed *p, const pons__asked *op);
static void compile_words(const pons_brain *b, pons__proposed *p);
static void ask(pons__proposed *p, const char *question, const pons_value *options);
static void patch_goals(pons__turn *t, const pons_value *patch);
static void propose_plan(pons__turn *t, const pons_value *patch);

int pons__compile_ops_from_decision(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons__turn t;
    pons__turn_begin(&t, cx, user);
    pons__react *r = t.react;
    pons__proposed *p = pons__record_new(&pons__proposed_record);
    pons_value *to_cancel = json_array();
    pons__json(&p->to_cancel, to_cancel);
    pons__json(&p->to_speak, json_array());
    for (size_t i = 0; pons__releases_all(pons__decided(r)) && i < t.skills->running.n; i++) {
        const pons__running *running = t.skills->running.at[i];
        json_array_append_new(to_cancel, json_string(running->goal_id));
    }
    pons__list ops = {0};
    pons__list_read(&pons__asked_record, r->decision ? r->decision->ops : NULL, &ops);
    for (size_t i = 0; i < ops.n; i++) {
        compile_op(&t, p, ops.at[i]);
    }
    pons__list_clear(&pons__asked_record, &ops);
    if (!p->need_approval && pons__decided(r) == PONS_ASK_HUMAN) {
        ask(p, r->decision->reason, NULL);
    }
    compile_words(t.b, p);
    pons__record_free(&pons__proposed_record, r->proposed_ops);
    r->proposed_ops = p;
    const pons_value *patch = r->decision ? r->decision->plan_patch : NULL;
    if (json_is_array(pons_get(patch, "goals")) && r->task) {
        patch_goals(&t, pons_get(patch, "goals"));
    }
    if (json_is_array(pons_get(patch, "steps"))) {
        propose_plan(&t, patch);
    }
    return pons__turn_end(&t, PONS_OK);
}

// ---- operations ---------------------------------------------------------------------------------

// "all": whatever runs; a small model copies no ids.
static void cancel(const pons__turn *t, pons__proposed *p, const char *goal_id)
{
    const bool all = strcmp(goal_id, "all") == 0;
    if (pons__releases_all(pons__decided(t->react))) {
        return; // it lets go of everything anyway
    }
    if (!all) {
        json_array_append_new((json_t *)p->to_cancel, json_string(goal_id));
    }
    for (size_t i = 0; all && i < t->skills->running.n; i++) {
        const pons__running *running = t->skills->running.at[i];
        json_array_append_new((json_t *)p->to_cancel, json_string(running->goal_id));
    }
}

static void dispatch(const pons__turn *t, pons__proposed *p, const pons__asked *op)
{
    pons__op *send = pons__record_new(&pons__op_record);
    pons__set_text(&send->skill, op->skill);
    pons__json(&send->args, op->args ? pons_value_ref(op->args) : json_object());
    send->goal_index =
        op->goal_index == PONS__GOAL_AT_HAND ? pons__goal_open(t->react->task) : op->goal_index;
    pons__json(&send->step_id, pons_value_ref(op->step_id));
    pons__json(&send->fallback, pons_value_ref(op->fallback));
    pons__list_add(&p->to_dispatch, send);
}

static void compile_op(const pons__turn *t, pons__proposed *p, const pons__asked *op)
{
    switch ((pons__op_kind)op->op) {
    case PONS_OP_CANCEL:
        cancel(t, p, op->goal_id);
        break;
    case PONS_OP_DISPATCH:
        dispatch(t, p, op);
        break;
    case PONS_OP_SPEAK:
        json_array_append_new((json_t *)p->to_speak, json_string(op->text));
        break;
    case PONS_OP_APPROVAL:
        ask(p, op->question ? op->question : t->react->decision->reason, op->options);
        break;
    case PONS_OP_OTHER:
        break;
    }
}

static void ask(pons__proposed *p, const char *question, const pons_value *options)
{
    pons__payload *payload = pons__record_new(&pons__payload_record);
    pons__set_text(&payload->question, question);
    if (json_array_size(options) > 0) {
        pons__json(&payload->options, pons_value_ref(options));
    }
    if (!p->need_approval) {
        p->need_approval = true;
        p->approval_payload = payload;
    } else if (p->more.n + 1 < QUESTIONS_MAX) {
        pons__list_add(&p->more, payload);
    } else {
        pons__record_free(&pons__payload_record, payload);
    }
}

// Words go out like every other operation: as a goal of the skill that says.
static void compile_words(const pons_brain *b, pons__proposed *p)
{
    size_t i;
    json_t *text;
    json_array_foreach(p->to_speak, i, text)
    {
        pons__op *send = pons__record_new(&pons__op_record);
        pons__means *say = pons__means_for(b, "say", "text", pons_value_ref(text));
        pons__set_text(&send->skill, say ? say->skill : "say");
        pons__json(&send->args, say ? pons_value_ref(say->args)
                                    : pons_object("text", pons_value_ref(text), NULL));
        pons__record_free(&pons__means_record, say);
        pons__list_add(&p->to_dispatch, send);
    }
}

// A model's steps become a plan of the protocol, or the reason why not; R4 holds either against the
// rules.
static void propose_plan(pons__turn *t, const pons_value *patch)
{
    pons__proposed *p = t->react->proposed_ops;
    pons_error why = PONS_ERROR_INIT;
    if (pons__task_plan_of_patch(t->b, t->cx, t->react->task, patch, &p->plan, &why) < 0) {
        pons__set_text(&p->plan_fault, why.message);
    }
}

// ---- patches of the goals -----------------------------------------------------------------------

// The same wish, however far it is met. Of `say` the text counts; of the others it is how it was said.
static bool same_goal(const pons__goal *a, const pons__goal *b)
{
    const bool say = strcmp(a->intent, "say") == 0; // of the intents, not of the skills
    return strcmp(a->intent, b->intent) == 0 && strcmp(a->zone, b->zone) == 0 &&
           strcmp(a->object, b->object) == 0 && strcmp(a->place, b->place) == 0 &&
           strcmp(a->skill, b->skill) == 0 && !(a->seconds < b->seconds) &&
           !(a->seconds > b->seconds) &&
           (a->zones ? b->zones && json_equal(a->zones, b->zones) : !b->zones) &&
           (a->args ? b->args && json_equal(a->args, b->args) : !b->args) &&
           (!say || strcmp(a->text, b->text) == 0);
}

static pons__goal *copy_of(const pons__goal *goal)
{
    return pons__record_copy(&pons__goal_record, goal);
}

static bool has_from(const pons__list *list, size_t from, const pons__goal *goal)
{
    for (size_t k = from; k < list->n; k++) {
        if (same_goal(goal, list->at[k])) {
            return true;
        }
    }
    return false;
}

// The goals met so far, then the patch's, then what it left out of a person's. Sub-goals of an
// earlier patch that are not in this one are gone, so that patches without end leave no more than
// one does.
static pons__list patched(const pons__list *goals, const pons_value *patch)
{
    pons__list list = {0};
    for (size_t i = 0; i < goals->n; i++) {
        const pons__goal *goal = goals->at[i];
        if (goal->done && !goal->added) {
            pons__list_add(&list, copy_of(goal));
        }
    }
    const size_t met = list.n;
    size_t i;
    json_t *asked;
    json_array_foreach(patch, i, asked)
    {
        pons__goal *fresh = pons__record_read(&pons__goal_record, asked);
        fresh->done = false;
        fresh->added = true; // by a model: its end is no progress
        pons__json(&fresh->visited, NULL);
        for (size_t k = 0; k < goals->n; k++) { // one of the task's own keeps what it has reached
            if (!((pons__goal *)goals->at[k])->done && same_goal(goals->at[k], fresh)) {
                pons__record_free(&pons__goal_record, fresh);
                fresh = copy_of(goals->at[k]);
                break;
            }
        }
        pons__list_add(&list, fresh);
    }
    for (size_t k = 0; k < goals->n; k++) {
        const pons__goal *goal = goals->at[k];
        if (!goal->done && !goal->added && !has_from(&list, met, goal)) {
            pons__list_add(&list, copy_of(goal));
        }
    }
    return list;
}

static int64_t new_place(int64_t old, const pons__list *from, const pons__list *to)
{
    const pons__goal *goal = old >= 0 && (size_t)old < from->n ? from->at[old] : NULL;
    for (size_t i = 0; goal && i < to->n; i++) {
        const pons__goal *there = to->at[i];
        if (goal->done == there->done && same_goal(goal, there)) {
            return (int64_t)i;
        }
    }
    return -1;
}

static void patch_goals(pons__turn *t, const pons_value *patch)
{
    pons__task *task = t->react->task;
    pons__list list = patched(&task->goals, patch);
    for (size_t i = 0; i < t->skills->running.n; i++) {
        pons__running *r = t->skills->running.at[i];
        r->goal_index = new_place(r->goal_index, &task->goals, &list);
    }
    if (t->skills->last_result) {
        pons__result *last = t->skills->last_result;
        last->goal_index = new_place(last->goal_index, &task->goals, &list);
    }
    t->skills_changed = true;
    pons__list_clear(&pons__goal_record, &task->goals);
    task->goals = list;
}
