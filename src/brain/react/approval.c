// approval.c - R5: what a person has answered, and what comes of it (approval_question.c has the question).
//
// Meanwhile other tasks may run: where one waits for its turn, the kernel puts this one aside. Its
// questions stay open, in the task (`asks`), each with what was decided. When all have their answers and
// the task is at work again, R2 takes up that decision, R4 holds it against the world as it is by then,
// and R5 has the answers at hand. A stop closes them: it wins over what was approved before.
#include "brain/react/approval.h"

#include "brain/plan/task_plan.h"
#include "brain/react/outcome_unknown.h"
#include "brain/react/results.h"
#include "brain/records/await_fields.h"
#include "brain/recovery/recovery.h"
#include "brain/tasks/questions.h"
#include "brain/tasks/tasks.h"
#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

// A no that came after the yes, and before anybody acted on that, counts.
static const pons_value *taken_back(const pons_brain *b, const pons__question *q,
                                    const pons_value *answer)
{
    const pons__answer *newest = q ? pons__answer_find(b->hci, q->id) : NULL;
    const bool no = newest && newest->said && strcmp(newest->action, "reject") == 0;
    return no && !pons__await_detached(answer) ? newest->said : answer;
}

// One interrupt a question, all at once; what a person has said while the task was put aside is at hand.
// PONS_EPARKED while one is not answered.
static int hear_all(pons__turn *t, const pons_value **answers, pons_error *err)
{
    const pons__react *r = t->react;
    int rc = PONS_OK;
    for (size_t i = 0; i <= r->asking.also.n; i++) {
        const pons__question *q = pons__approval_question(r, i);
        answers[i] = q ? q->answer : NULL;
        if (answers[i]) {
            continue;
        }
        const int one =
            pons_interrupt(t->cx, pons__record_write(&pons__question_record, q), &answers[i], err);
        if (one < 0 && one != PONS_EPARKED) {
            return one;
        }
        rc = one < 0 ? one : rc;
    }
    for (size_t i = 0; rc >= 0 && i <= r->asking.also.n; i++) {
        answers[i] = taken_back(t->b, pons__approval_question(r, i), answers[i]);
    }
    return rc;
}

// The kernel wants others to run: the questions go into the task, with the answers that are there.
static void put_aside(pons__turn *t, const pons_value *const *answers)
{
    pons__react *r = t->react;
    for (size_t i = 0; i <= r->asking.also.n; i++) {
        pons__question *q =
            pons__record_copy(&pons__question_record, pons__approval_question(r, i));
        const bool open = pons__await_detached(answers[i]);
        pons__json(&q->answer, open ? NULL : pons_value_ref(answers[i]));
        pons__json(&q->decision, pons__record_write(&pons__decision_record, r->decision));
        q->source = r->source;
        pons__list_add(&r->task->asks, q);
    }
    pons__list_clear(&pons__op_record, &r->proposed_ops->to_dispatch);
    r->proposed_ops->need_approval = false;
    pons__decision_move(t, PONS_ON_OTHERS_FIRST);
}

// Whether something waits for the word beside the answer itself: operations, an end, another task, goals or steps of the model's,
// what is to be let go of.
static bool carries(const pons__react *r)
{
    const pons__decision_type type = pons__decided(r);
    return type == PONS_FINISH || type == PONS_ABORT || type == PONS_SWITCH_TASK ||
           r->proposed_ops->to_dispatch.n > 0 || json_array_size(r->proposed_ops->to_cancel) > 0 ||
           (r->decision && json_object_size(r->decision->plan_patch) > 0);
}

static bool edits(const pons__reply *reply)
{
    return strcmp(reply->action, "edit") == 0;
}

// Whether an answer to a question beside the first holds up what waits: a no does, an edit, as there is nothing to edit,
// and words, which whoever asked must have before it is sent.
static bool holds_up(const pons__turn *t, const pons__reply *reply)
{
    const pons__meant is = pons__reply_meant(t->b, reply);
    return is == PONS_MEANT_NO || edits(reply) || (is == PONS_MEANT_WORDS && carries(t->react));
}

// Whether one of the questions beside the first holds it up.
static bool any_other_no(const pons__turn *t, const pons_value *const *answers)
{
    bool no = false;
    for (size_t i = 1; i <= t->react->asking.also.n; i++) {
        PONS__AUTO(reply) reply = pons__reply_read(answers[i]);
        no = holds_up(t, reply) || no;
    }
    return no;
}

static const char *word_of(const pons__reply *reply, bool no)
{
    return reply->answer ? reply->answer : no ? "no" : "yes";
}

// What was said to the questions beside the first; whether one of the answers holds up what waits.
static bool hear_also(pons__turn *t, const pons_value *const *answers)
{
    pons__react *r = t->react;
    const bool again = r->asking.question && *r->asking.question->refused;
    if (r->asking.also.n == 0 && again && r->proposed_ops->more.n > 0) {
        return false; // the first was asked again, and these have been heard
    }
    pons_value *also = json_array();
    bool any_no = false;
    for (size_t i = 1; i <= r->asking.also.n; i++) {
        const pons__question *q = pons__approval_question(r, i);
        PONS__AUTO(reply) reply = pons__reply_read(answers[i]);
        const bool no = edits(reply) || pons__reply_meant(t->b, reply) == PONS_MEANT_NO;
        any_no = holds_up(t, reply) || any_no;
        json_array_append_new(also, pons_object("question", json_string(q->question), "answer",
                                                json_string(word_of(reply, no)), "reason",
                                                json_string(reply->reason), NULL));
        pons__approval_resolve(t, q->id, no ? "reject" : reply->action, reply);
    }
    pons__json(&r->human->also, json_array_size(also) > 0 ? also : NULL);
    if (json_array_size(also) == 0) {
        pons_value_unref(also);
    }
    return any_no;
}

// Those that are and were asked beside the first: a no to one of them counts until R6, also where the first is asked
// again. NULL: there is none.
static pons_value *asked_beside(const pons__react *r)
{
    const pons_value *before = r->asking.question ? r->asking.question->beside : NULL;
    pons_value *ids = before ? json_copy((json_t *)before) : json_array();
    for (size_t i = 0; i < r->asking.also.n; i++) {
        json_array_append_new(ids, json_string(((const pons__question *)r->asking.also.at[i])->id));
    }
    if (json_array_size(ids) == 0) {
        pons_value_unref(ids);
        ids = NULL;
    }
    return ids;
}

// No answer: R4 asks again, and says why.
static void ask_again(pons__turn *t, const pons_value *const *answers, const pons__reply *reply,
                      const char *why)
{
    pons__react *r = t->react;
    char id[PONS_ID_MAX];
    snprintf(id, sizeof id, "%s", r->asking.question ? r->asking.question->id : "");
    if (r->asking.also.n > 0) {
        pons__human_say(r, r->asking.question->question, "", ""); // not answered yet
        hear_also(t, answers);
    }
    pons_value *ids = asked_beside(r);
    ids = ids ? ids : json_array();
    json_array_append_new(ids, json_string(id)); // and to what is asked again
    pons__json(&r->answered.also, ids);
    pons__set_text(&r->answered.again, why);
    pons__approval_resolve(t, id, edits(reply) ? "edit" : "answer", reply);
    pons__decision_move(t, PONS_ON_NO_ANSWER);
}

static void approve(pons__turn *t, const char *id)
{
    pons__react *r = t->react;
    pons_value *approved = json_copy((json_t *)r->approved);
    for (size_t i = 0; i < r->proposed_ops->to_dispatch.n; i++) {
        char hash[33];
        pons_autovalue op =
            pons__record_write(&pons__op_record, r->proposed_ops->to_dispatch.at[i]);
        pons_value_hash(op, hash);
        json_array_append_new(approved, json_string(hash));
    }
    pons__json(&r->approved, approved);
    r->failures = 0;
    pons__set_text(&r->answered.question, id);
    pons__json(&r->answered.also, asked_beside(r));
}

// The refusal is the last result; nothing is sent.
static void reject(pons__turn *t, const pons__reply *reply, const char *what)
{
    pons__react *r = t->react;
    pons__list *ops = &r->proposed_ops->to_dispatch;
    const pons__op *first = ops->n ? ops->at[0] : NULL;
    pons__result *last = pons__record_new(&pons__result_record);
    pons__set_text(&last->skill, first ? first->skill : "");
    pons__json(&last->args, first ? pons_value_ref(first->args) : json_object());
    pons__json(&last->metrics, json_object());
    last->goal_index = r->task ? pons__goal_open(r->task) : -1;
    last->status = PONS_END_REFUSED;
    last->recovery = PONS_RECOVER_ASK;
    pons__set_textf(&last->error_msg, "%s: %s", what, reply->reason);
    if (!reply->detached) { // the kernel's word refuses no step
        pons__task_plan_note_result(r, first ? first->step_id : NULL,
                                    first ? first->fallback : NULL, last, NULL);
    }
    pons__result_note(t, last);
    t->skills_changed = true;
    pons__list_clear(&pons__op_record, ops);
}

static int act_on(pons__turn *t, const pons_value *const *answers, const pons__reply *reply)
{
    pons__react *r = t->react;
    char id[PONS_ID_MAX];
    snprintf(id, sizeof id, "%s", r->asking.question ? r->asking.question->id : "");
    pons_autovalue asked = json_string(r->asking.question ? r->asking.question->question : "");
    const char *action = reply->action;
    const bool edit = edits(reply);
    // An option is for whoever asked: it is no yes to operations that wait with the question, unless it is a yes.
    const bool words = reply->answer && r->proposed_ops->to_dispatch.n > 0 &&
                       pons__reply_meant(t->b, reply) != PONS_MEANT_YES;
    bool no = (strcmp(action, "approve") != 0 && !edit) || (words && !edit);
    if (edit) {
        pons__list list = {0};
        const char *fault = pons__edit_ops(reply, &r->proposed_ops->to_dispatch, &list);
        if (fault && !any_other_no(t, answers)) {
            ask_again(t, answers, reply, fault);
            return PONS_OK;
        }
        no = fault;
        if (!fault) {
            pons_autovalue before = pons__record_write(&pons__react_record, r);
            pons__list_clear(&pons__op_record, &r->proposed_ops->to_dispatch);
            r->proposed_ops->to_dispatch = list;
            pons__json(&r->answered.edit_before, pons_value_ref(before));
        }
    }
    pons__human_say(r, json_string_value(asked), word_of(reply, no), reply->reason);
    const bool first = no;
    no = hear_also(t, answers) || no;
    if (!no) {
        approve(t, id);
        if (pons__reply_meant(t->b, reply) == PONS_MEANT_YES) {
            pons__unsettled_allowed(t);
        }
    }
    r->proposed_ops->need_approval = false;
    const pons__decision_event yes = edit ? PONS_ON_EDITS : PONS_ON_YES;
    pons__decision_move(t, no ? PONS_ON_NO : yes);
    if (no) {
        const bool nobody = strcmp(reply->by, PONS__DEADLINE) == 0;
        reject(t, reply,
               !first   ? "a person has answered what was asked beside"
               : nobody ? "no answer"
                        : "a person said no");
    }
    pons_autovalue received = pons__record_write(&pons__reply_record, reply);
    pons__task_plan_note_answer(r, reply->detached ? answers[0] : received);
    pons__recovery_answered(t->b, r, reply);
    pons__approval_resolve(t, id, no ? "reject" : action, reply);
    return PONS_OK;
}

// Words to a question that is answered with yes or no: they are the one or the other, or no answer. To one that wants
// words they are the answer; what waits with it goes on by an outright yes alone. False: they are none.
static bool read_words(const pons__turn *t, pons__reply *reply)
{
    const pons__question *q = t->react->asking.question;
    if (!reply->answer || strcmp(reply->action, "approve") != 0 || !q) {
        return true;
    }
    const bool wants_words = q->words || q->options;
    const pons__meant is = pons__reply_meant(t->b, reply);
    if (wants_words ? carries(t->react) && is != PONS_MEANT_YES : is == PONS_MEANT_NO) {
        pons__set_text(&reply->action, "reject");
        pons__set_text(&reply->reason, reply->answer);
    }
    if (wants_words) {
        return true;
    }
    if (is == PONS_MEANT_WORDS) {
        return false;
    }
    free((void *)reply->answer);
    reply->answer = NULL; // it is a yes or a no like any other
    return true;
}

static int act(pons__turn *t, const pons_value *const *answers)
{
    int rc = PONS_OK;
    PONS__AUTO(reply) reply = pons__reply_read(answers[0]);
    if (!read_words(t, reply) && !any_other_no(t, answers)) {
        ask_again(t, answers, reply, "these words are neither a yes nor a no");
    } else {
        rc = act_on(t, answers, reply);
    }
    return rc;
}

// The answer: {action: approve|edit|reject, reason?, answer?, by?, at_ms?}, and for an edit either
// {op: N, args} (N from 1; absent where there is one operation) or {ops: [{skill, args}…]} for all.
// The kernel's: {detached}, and aside where the question stays open.
int pons__human_approval_interrupt(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__turn_begin(&t, cx, user, PONS_R5, err);
    const pons_value **answers = pons_need_zeroed(t.react->asking.also.n + 1, sizeof *answers);
    bool aside = false;
    int rc = hear_all(&t, answers, err);
    for (size_t i = 0; rc >= 0 && i <= t.react->asking.also.n; i++) {
        PONS__AUTO(reply) reply = pons__reply_read(answers[i]);
        aside = aside || reply->aside;
    }
    if (rc >= 0 && aside && t.react->task && t.react->asking.question) {
        put_aside(&t, answers);
    } else if (rc >= 0) {
        rc = act(&t, answers);
    }
    free((void *)answers);
    return pons__turn_end(&t, rc);
}
