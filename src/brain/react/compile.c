// compile.c - R3: a decision becomes operations: what to cancel, to send, to ask. Its patch of the goals
// (goals_patch.c) counts where R4 lets all of it pass.
#include "brain/goals/goal_skills.h"
#include "brain/plan/task_plan.h"
#include "brain/react/goals_patch.h"
#include "brain/react/nodes.h"
#include "brain/tasks/tasks.h"

#include <string.h>

#define QUESTIONS_MAX 8 // of one decision

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

// The goal that it serves: the one that it names; the one at hand where it names none that there is, or one that is met
// while that at hand is met by such a call as well ("go forward 1 m, turn around, go forward 1 m").
static int64_t goal_of(const pons__turn *t, const pons__asked *op, bool planned)
{
    const pons__task *task = t->react->task;
    const int64_t n = task ? (int64_t)task->goals.n : 0, open = pons__goal_open(task);
    const int64_t at = op->goal_index;
    if (at >= n || at < (planned ? -1 : 0)) {
        return open;
    }
    const bool met = at >= 0 && open >= 0 && ((const pons__goal *)task->goals.at[at])->done;
    return met && pons__means_own(t->b, task->goals.at[open], op->skill, op->args) ? open : at;
}

static void dispatch(const pons__turn *t, pons__proposed *p, const pons__asked *op)
{
    pons__op *send = pons__record_new(&pons__op_record);
    pons__set_text(&send->skill, op->skill);
    pons__json(&send->args, op->args ? pons_value_ref(op->args) : json_object());
    const bool planned = t->react->source == PONS_SOURCE_PLAN; // a model says no step's part
    send->goal_index = goal_of(t, op, planned);
    pons__json(&send->step_id, planned ? pons_value_ref(op->step_id) : NULL);
    pons__json(&send->fallback, planned ? pons_value_ref(op->fallback) : NULL);
    pons__list_add(&p->to_dispatch, send);
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

// Words go out like every other operation: as a goal of the skill that says.
static void compile_words(const pons_brain *b, pons__proposed *p)
{
    pons_each(text, p->to_speak) {
        pons__op *send = pons__record_new(&pons__op_record);
        PONS__AUTO(means) say = pons__means_for(b, "say", "text", pons_value_ref(text));
        pons__set_text(&send->skill, say ? say->skill : "say");
        pons__json(&send->args, say ? pons_value_ref(say->args)
                                    : pons_object("text", pons_value_ref(text), NULL));
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

int pons__compile_ops_from_decision(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__turn_begin(&t, cx, user, PONS_R3, err);
    pons__react *r = t.react;
    pons__proposed *p = pons__record_new(&pons__proposed_record);
    pons_value *to_cancel = json_array();
    pons__json(&p->to_cancel, to_cancel);
    pons__json(&p->to_speak, json_array());
    for (size_t i = 0; pons__releases_all(pons__decided(r)) && i < t.skills->running.n; i++) {
        const pons__running *running = t.skills->running.at[i];
        json_array_append_new(to_cancel, json_string(running->goal_id));
    }
    PONS__AUTO_LIST(asked) ops = {0};
    pons__list_read(&pons__asked_record, r->decision ? r->decision->ops : NULL, &ops);
    pons__patched was = pons__goals_patch(&t); // a goal's place is that by the patch
    for (size_t i = 0; i < ops.n; i++) {
        compile_op(&t, p, ops.at[i]);
    }
    pons__goals_put_back(&t, &was);
    pons__patched_free(&was);
    if (!p->need_approval && pons__decided(r) == PONS_ASK_HUMAN) {
        ask(p, r->decision->reason, NULL);
    }
    compile_words(t.b, p);
    pons__record_free(&pons__proposed_record, r->proposed_ops);
    r->proposed_ops = p;
    const pons_value *said = r->decision ? r->decision->plan_patch : NULL;
    PONS__AUTO(patch) patch = pons__record_read(&pons__patch_record, said);
    if (json_is_array(patch->steps)) {
        propose_plan(&t, said);
    }
    pons__decision_move(&t, PONS_ON_COMPILES);
    return pons__turn_end(&t, PONS_OK);
}
