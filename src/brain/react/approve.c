// approve.c - R5: a question to a person, and which answer to it counts.
//
// A question is an object in `react.approval`, stored with the step that asks, and has an id of its
// own:
//
//     {id, question, reason, ops: [{skill, args, goal_index, reason, asks: [{rule, message}]}…],
//      cancels: [skill…], options?: [text…], deadline_ms?, refused?}
//
// ops are all that would be sent, in their order, numbered from 1 by whoever shows them; asks says
// which rule wants a person's word for that one. refused: why the edit before was none. A question with
// options, or of a model that wants to know something, is answered with words: they reach the decision
// maker as observation.human. One with a deadline is answered with no when that has passed.
//
// The first answer binds. Answers come through the kernel's inbox, which is ordered and durable, so
// whoever posted first has answered, whether a brain lives or not; K5 writes it down in `hci`:
//
//     answers  {question, action, by, at_ms, reason}      what counts, the newest KEPT questions
//     heard    {nonce, question, verdict}                 what became of each message
//
//     verdict  bound      it is the answer
//              late       another one was, and it counts
//              overrides  a reject, while what was approved had not started: it counts instead
//              closed     the question is not open (the kernel took over, or it is another's)
//
// An edit is an approval of what it says, if R4 lets it pass. If not it is no answer: the inner loop
// is put back to where it asked, and asks anew with the reason. Where an edit changes the place that
// a goal of the task is about, that is the goal from then on.
#include "brain/approve.h"

#include "brain/goals/means.h"
#include "brain/guard.h"
#include "brain/ladder.h"
#include "brain/react/nodes.h"
#include "brain/task_plan.h"
#include "pons/geometry.h"

#include <math.h>
#include <string.h>

#define ANSWERS_KEPT 20
#define HEARD_KEPT   40
#define SAME_PLACE_M 0.05

static const char *edited_ops(const pons_value *answer, const pons__list *old, pons__list *ret);
static void approve(pons__turn *t, const char *id);
static void reject(pons__turn *t, const pons_value *answer);
static void resolve(pons__turn *t, const char *id, const char *action, const pons_value *answer);
static bool about(pons_brain *b, const pons__goal *goal, const pons_value *args);
static void replace_goal(pons_brain *b, pons__goal *goal, const pons_value *old,
                         const pons_value *args);
static bool started(pons_store store, const char *thread, const pons_value *react,
                    const pons_value *skills, const char *question, pons_error *err);
static void keep(pons_value *hci, const char *list, pons_value *entry, size_t most);

// ---- the question -------------------------------------------------------------------------------

// What would be sent, and which rules want a word for it.
static pons_value *shown_op(pons_brain *b, const pons__op *op, const char *reason, bool wanted)
{
    pons_value *asks = pons__guard_approvals(b, op->skill, op->args);
    if (wanted) {
        json_array_append_new(
            asks, pons_object("rule", json_string("decision"), "message",
                              json_string("the decision itself asks for a person's word"), NULL));
    }
    pons_value *shown = pons__record_write(&pons__op_record, op);
    json_object_set_new(shown, "reason", json_string(reason));
    json_object_set_new(shown, "asks", asks);
    return shown;
}

pons__question *pons__approval_question(pons_brain *b, pons_cx *cx, const pons__react *react,
                                        const pons__skills *skills)
{
    char id[PONS_ID_MAX];
    const pons__proposed *p = react->proposed_ops;
    const pons__payload *payload = p->approval_payload;
    const char *reason = react->decision ? react->decision->reason : "";
    pons_value *ops = json_array(), *cancels = json_array();
    for (size_t i = 0; i < p->to_dispatch.n; i++) {
        json_array_append_new(ops, shown_op(b, p->to_dispatch.at[i], reason, p->need_approval));
    }
    size_t i;
    json_t *goal;
    json_array_foreach(p->to_cancel, i, goal)
    {
        const pons__running *running = pons__running_find(skills, json_string_value(goal));
        json_array_append_new(cancels, json_string(running ? running->skill : ""));
    }
    pons_cx_id(cx, id);
    pons__question *q = pons__record_new(&pons__question_record);
    pons__set_text(&q->id, id);
    pons__set_text(&q->question, payload ? payload->question : "may I do this?");
    pons__set_text(&q->reason, reason);
    pons__set_text(&q->refused, react->edit_refused);
    pons__json(&q->ops, ops);
    pons__json(&q->cancels, cancels);
    pons__json(&q->options, payload ? pons_value_ref(payload->options) : NULL);
    // A model that asks, and nothing waits to be sent, wants to know something.
    q->words = payload && react->source == PONS_SOURCE_LLM && p->to_dispatch.n == 0;
    if (b->rules.approval_deadline_s > 0.0) {
        q->deadline_ms = pons_cx_wall_ms(cx) + (int64_t)(b->rules.approval_deadline_s * 1e3);
    }
    return q;
}

// ---- R5 -----------------------------------------------------------------------------------------

// The answer: {action: approve|edit|reject, reason?, answer?, by?, at_ms?}, and for an edit either
// {op: N, args} (N from 1; absent where there is one operation) or {ops: [{skill, args}…]} for all.
int pons__human_approval_interrupt(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__turn_begin(&t, cx, user);
    pons__react *r = t.react;
    const pons_value *answer = NULL;
    const int rc =
        pons_interrupt(cx, pons__record_write(&pons__question_record, r->approval), &answer, err);
    if (rc < 0) {
        return pons__turn_end(&t, rc);
    }
    char id[PONS_ID_MAX];
    snprintf(id, sizeof id, "%s", r->approval ? r->approval->id : "");
    pons_autovalue question = json_string(r->approval ? r->approval->question : "");
    const char *action = pons_get_str(answer, "action", "reject");
    const bool edit = strcmp(action, "edit") == 0;
    // Words are for whoever asked: they are no yes to operations that wait with the question.
    const bool words = pons_get(answer, "answer") && r->proposed_ops->to_dispatch.n > 0;
    const bool no = (strcmp(action, "approve") != 0 && !edit) || (words && !edit);
    if (edit) {
        pons__list list = {0};
        const char *fault = edited_ops(answer, &r->proposed_ops->to_dispatch, &list);
        if (fault) { // no answer: R4 asks again
            pons__record_free(&pons__question_record, r->approval);
            r->approval = NULL;
            pons__set_text(&r->edit_refused, fault);
            resolve(&t, id, "edit", answer);
            return pons__turn_end(&t, PONS_OK);
        }
        pons_autovalue before = pons__record_write(&pons__react_record, r);
        pons__list_clear(&pons__op_record, &r->proposed_ops->to_dispatch);
        r->proposed_ops->to_dispatch = list;
        pons__json(&r->edit_before, pons_value_ref(before));
    }
    if (!no) {
        approve(&t, id);
    }
    r->proposed_ops->need_approval = false;
    r->approval_rejected = no;
    pons__record_free(&pons__question_record, r->approval); // nobody is asked any more
    r->approval = NULL;
    pons__set_text(&r->edit_refused, "");
    pons__human_say(r, json_string_value(question),
                    pons_get_str(answer, "answer", no ? "no" : "yes"),
                    pons_get_str(answer, "reason", ""));
    if (no) {
        reject(&t, answer);
    }
    pons__task_plan_note_answer(r, answer);
    pons__ladder_answered(t.b, r, answer);
    resolve(&t, id, no ? "reject" : action, answer);
    return pons__turn_end(&t, PONS_OK);
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
    pons__set_text(&r->answered, id);
}

// The refusal is the last result; nothing is sent.
static void reject(pons__turn *t, const pons_value *answer)
{
    pons__react *r = t->react;
    pons__list *ops = &r->proposed_ops->to_dispatch;
    const pons__op *first = ops->n ? ops->at[0] : NULL;
    pons__result *last = pons__record_new(&pons__result_record);
    pons__set_text(&last->skill, first ? first->skill : "");
    pons__json(&last->args, json_object());
    pons__json(&last->metrics, json_object());
    last->goal_index = pons_get_int(pons_get(r->observation, "task"), "goal_index", -1);
    last->status = PONS_END_REFUSED;
    last->recovery = PONS_RECOVER_ASK;
    pons__set_textf(&last->error_msg, "a person said no: %s", pons_get_str(answer, "reason", ""));
    if (!pons_get_bool(answer, "detached", false)) { // the kernel's word refuses no step
        pons__task_plan_note_result(r, first ? first->step_id : NULL,
                                    first ? first->fallback : NULL, last, NULL);
    }
    pons__record_free(&pons__result_record, t->skills->last_result);
    t->skills->last_result = last;
    t->skills_changed = true;
    pons__list_clear(&pons__op_record, ops);
}

int pons__after_approval(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *react = pons_cx_get(cx, "react");
    const bool rejected = pons_get_bool(react, "approval_rejected", false) &&
                          !json_is_string(pons_get(react, "edit_refused"));
    pons_cx_goto(cx, rejected ? "react_stop_or_loop" : "guardrails_and_resource_check");
    return PONS_OK;
}

static void resolve(pons__turn *t, const char *id, const char *action, const pons_value *answer)
{
    const bool kernel = pons_get_bool(answer, "detached", false);
    const int64_t at_ms = pons_get_int(answer, "at_ms", pons_cx_wall_ms(t->cx));
    const char *words = pons_get_str(answer, "answer", NULL);
    pons_cx_emit(
        t->cx, "approval.resolved",
        pons__event(
            t->b,
            pons_object("id", json_string(id), "action", json_string(action), "reason",
                        json_string(pons_get_str(answer, "reason", "")), "by",
                        json_string(kernel ? "the kernel" : pons_get_str(answer, "by", "a person")),
                        "at_ms", json_integer(at_ms), "answer", words ? json_string(words) : NULL,
                        NULL)));
}

// The operations as the answer wants them; or why it names none. Static text.
static const char *edited_ops(const pons_value *answer, const pons__list *old, pons__list *ret)
{
    const pons_value *edited = pons_get(answer, "ops"), *args = pons_get(answer, "args");
    const int64_t at = pons_get_int(answer, "op", old->n == 1 ? 1 : 0);
    size_t i;
    json_t *op;
    if (json_is_array(edited) && json_array_size(edited) == 0) {
        return "the edit names no operation";
    }
    if (json_is_array(edited)) {
        json_array_foreach(edited, i, op)
        {
            // What a person says instead of an operation stands in its place: for its goal, as its
            // plan's step.
            pons__op *next = i < old->n ? pons__record_copy(&pons__op_record, old->at[i])
                                        : pons__record_new(&pons__op_record);
            pons__set_text(&next->skill, pons_get_str(op, "skill", ""));
            pons__json(&next->args,
                       pons_get(op, "args") ? pons_value_ref(pons_get(op, "args")) : json_object());
            pons__list_add(ret, next);
        }
        return NULL;
    }
    if (old->n == 0) {
        return "there is no operation to edit";
    }
    if (!json_is_object(args) || at < 1 || at > (int64_t)old->n) {
        return at == 0 ? "there are several operations: the edit names none"
                       : "the edit names an operation that there is not";
    }
    pons__list_copy(&pons__op_record, ret, old);
    pons__op *changed = ret->at[at - 1];
    pons__json(&changed->args, pons_value_ref(args));
    return NULL;
}

// ---- R4's side of an edit -----------------------------------------------------------------------

// The inner loop as it was when it asked, with the reason why the edit was none.
void pons__edit_undo(pons__react **react, const pons_value *rules)
{
    pons__react *next = pons__record_read(&pons__react_record, (*react)->edit_before);
    pons_autovalue says = pons__guard_says(rules);
    pons__record_free(&pons__question_record, next->approval);
    next->approval = NULL;
    pons__set_text(&next->edit_refused, json_string_value(says));
    pons__record_free(&pons__react_record, *react);
    *react = next;
}

// The edit has passed: goals whose place it changed are about the new one.
void pons__edit_keep(pons_brain *b, pons_cx *cx, pons__react *react)
{
    if (!react->edit_before) {
        return;
    }
    pons__react *before = pons__record_read(&pons__react_record, react->edit_before);
    const pons__list *old = before->proposed_ops ? &before->proposed_ops->to_dispatch : NULL;
    const pons__list *ops = &react->proposed_ops->to_dispatch;
    for (size_t i = 0; old && react->task && i < ops->n && i < old->n; i++) {
        const pons__op *op = ops->at[i], *was = old->at[i];
        const int64_t at = op->goal_index;
        pons__goal *goal =
            at >= 0 && (size_t)at < react->task->goals.n ? react->task->goals.at[at] : NULL;
        if (!goal || json_equal(was->args, op->args) || !pons__means_leads(b, goal, op->skill) ||
            !about(b, goal, was->args)) {
            continue;
        }
        pons_value *from = pons__record_write(&pons__goal_record, goal);
        replace_goal(b, goal, was->args, op->args);
        pons_cx_emit(
            cx, "goal.replaced",
            pons__event(b, pons_object("goal_index", json_integer(at), "from", from, "to",
                                       pons__record_write(&pons__goal_record, goal), NULL)));
    }
    pons__record_free(&pons__react_record, before);
    pons__json(&react->edit_before, NULL);
}

static double apart_m(const pons_value *a, const pons_value *b)
{
    return hypot(pons_get_num(a, "x", 0.0) - pons_get_num(b, "x", 0.0),
                 pons_get_num(a, "y", 0.0) - pons_get_num(b, "y", 0.0));
}

// Whether a motion with these arguments is the goal itself, and not a step towards it.
static bool about(pons_brain *b, const pons__goal *goal, const pons_value *args)
{
    const char *to = pons_get_str(args, "zone", NULL);
    const pons_value *pose = pons_get(args, "pose"), *zone = to ? pons__zone(b, to) : NULL;
    size_t i;
    json_t *name;
    if (strcmp(goal->intent, "patrol") == 0) {
        json_array_foreach(goal->zones, i, name)
        {
            if (zone && pons__zone(b, json_string_value(name)) == zone) {
                return true;
            }
        }
        return false;
    }
    if (strcmp(goal->intent, "go_to") != 0) {
        return false;
    }
    if (goal->pose) {
        return pose && apart_m(pose, goal->pose) < SAME_PLACE_M;
    }
    const pons_value *target = pons__zone(b, goal->zone);
    return zone ? zone == target
                : target && pose &&
                      pons_polygon_contains(pons_get(target, "polygon"),
                                            pons_get_num(pose, "x", 0.0),
                                            pons_get_num(pose, "y", 0.0));
}

static void replace_goal(pons_brain *b, pons__goal *goal, const pons_value *old,
                         const pons_value *args)
{
    const char *to = pons_get_str(args, "zone", NULL);
    const pons_value *pose = pons_get(args, "pose");
    const pons_value *world = b->port.greeting.as.hello.world;
    const char *zone =
        to ? pons_get_str(pons__zone(b, to), "id", to)
           : pons__zone_at(world, pons_get_num(pose, "x", 0.0), pons_get_num(pose, "y", 0.0));
    goal->done = false;
    pons__set_textf(&goal->text, "%s, as a person edited it", goal->text);
    if (strcmp(goal->intent, "patrol") == 0) {
        pons_value *zones = json_array();
        const pons_value *left = pons__zone(b, pons_get_str(old, "zone", ""));
        size_t i;
        json_t *name;
        json_array_foreach(goal->zones, i, name)
        {
            const bool same = pons__zone(b, json_string_value(name)) == left;
            json_array_append_new(zones,
                                  same ? json_string(zone ? zone : "") : pons_value_ref(name));
        }
        pons__json(&goal->zones, zones);
        return;
    }
    pons__set_text(&goal->zone, zone);
    pons__json(&goal->pose, pons_value_ref(pose));
}

// ---- which answer counts ------------------------------------------------------------------------

// K5: a message is heard. hci is the next value of the channel, not published yet.
void pons__answer_hear(pons_brain *b, pons_cx *cx, pons_value *hci, const pons_value *answer)
{
    pons_error none = PONS_ERROR_INIT;
    const char *question = pons_get_str(answer, "id", b->approval_id);
    const char *action = pons_get_str(answer, "action", "reject");
    const pons_value *first = pons__last_of(pons_get(hci, "answers"), "question", question);
    const bool open = *question && strcmp(question, b->approval_id) == 0;
    const pons_value *react = b->react_run ? pons_run_get(b->react_run, "react") : NULL;
    const pons_value *skills = b->react_run ? pons_run_get(b->react_run, "skills") : NULL;
    const char *verdict = first ? "late" : open ? "bound" : "closed";
    if (first && strcmp(action, "reject") == 0 &&
        strcmp(pons_get_str(first, "action", ""), "reject") != 0 &&
        (open || !started(b->opts.store, b->opts.thread, react, skills, question, &none))) {
        verdict = "overrides";
    }
    keep(hci, "heard",
         pons_object("nonce", json_string(pons_get_str(answer, "nonce", "")), "question",
                     json_string(question), "verdict", json_string(verdict), NULL),
         HEARD_KEPT);
    if (strcmp(verdict, "late") == 0 || strcmp(verdict, "closed") == 0) {
        pons_cx_emit(
            cx, "approval.late",
            pons__event(b, pons_object("id", json_string(question), "action", json_string(action),
                                       "verdict", json_string(verdict), "first",
                                       first ? pons_value_ref(first) : json_null(), NULL)));
        return;
    }
    pons_value *entry =
        pons_object("question", json_string(question), "action", json_string(action), "reason",
                    json_string(pons_get_str(answer, "reason", "")), "by",
                    json_string(pons_get_str(answer, "by", "a person")), "at_ms",
                    json_integer(pons_get_int(answer, "at_ms", pons_cx_wall_ms(cx))), NULL);
    pons_autovalue bound = pons__with(answer, "id", json_string(question));
    keep(hci, "answers", entry, ANSWERS_KEPT);
    json_object_set_new(hci, "approval_response",
                        pons__with(bound, "at_ms", pons_value_ref(pons_get(entry, "at_ms"))));
}

// Whether what this question's answer approved has left the brain, or is no matter any more.
bool pons__answer_started(pons_store store, const char *thread, const pons__react *react,
                          const pons__skills *skills, const char *question, pons_error *err)
{
    const uint32_t sent =
        ~(1U << PONS_EFFECT_INTENDED | 1U << PONS_EFFECT_REFUSED) & ((1U << 16) - 1);
    pons_autovalue effects = NULL;
    if (react && react->approval && strcmp(react->approval->id, question) == 0) {
        return false;
    }
    if (!react || strcmp(react->answered, question) != 0 ||
        pons_effects_read(store, thread, sent, &effects, err) < 0) {
        return true;
    }
    for (size_t i = 0; skills && i < skills->to_dispatch.n; i++) {
        if (pons__find(effects, "id", ((const pons__op *)skills->to_dispatch.at[i])->goal_id)) {
            return true;
        }
    }
    return false;
}

// The same, from the channels as they are stored.
static bool started(pons_store store, const char *thread, const pons_value *react,
                    const pons_value *skills, const char *question, pons_error *err)
{
    pons__react *r = react ? pons__record_read(&pons__react_record, react) : NULL;
    pons__skills *s = skills ? pons__record_read(&pons__skills_record, skills) : NULL;
    const bool yes = pons__answer_started(store, thread, r, s, question, err);
    pons__record_free(&pons__react_record, r);
    pons__record_free(&pons__skills_record, s);
    return yes;
}

// ---- for whoever has posted one -----------------------------------------------------------------

typedef struct letters {
    const char *question;
    pons_value *list; // answers to the question, in the order of the inbox
} letters;

static int read_letter(void *user, const pons_inbox_row *row)
{
    letters *l = user;
    pons_autovalue value = NULL;
    if (strcmp(row->kind, "answer") == 0 &&
        pons_value_parse(row->value.data, row->value.len, &value, NULL) >= 0 &&
        strcmp(pons_get_str(value, "id", ""), l->question) == 0) {
        json_array_append(l->list, value);
    }
    return 0;
}

// The inbox is read before the state: what is not in the one any more is in the other.
int pons_answer_read(pons_store store, const char *thread, const char *question, const char *nonce,
                     pons_value **ret, pons_error *err)
{
    pons_autovalue waiting = json_array();
    pons_autovalue kernel = NULL;
    pons_autovalue inner = NULL;
    pons_error none = PONS_ERROR_INIT;
    letters l = {.question = question, .list = waiting};
    int rc = store.ops->inbox_read(store.self, thread, PONS_NS_KERNEL, 0, read_letter, &l, err);
    if (rc >= 0) {
        rc = pons_state_read(store, thread, PONS_NS_KERNEL, &kernel, err);
    }
    if (rc < 0) {
        return rc;
    }
    pons_state_read(store, thread, PONS_NS_REACT, &inner, &none); // none yet is no fault
    const pons_value *hci = pons_get(kernel, "hci");
    const pons_value *heard = pons__last_of(pons_get(hci, "heard"), "nonce", nonce);
    const pons_value *first = pons__last_of(pons_get(hci, "answers"), "question", question);
    const char *verdict = pons_get_str(heard, "verdict", NULL);
    pons_autovalue all = json_array(); // taken by a tick that was cut short, then what waits
    size_t i;
    json_t *msg;
    json_array_foreach(pons_get(hci, "pending"), i, msg)
    {
        const pons_value *value = pons_get(msg, "value");
        if (strcmp(pons_get_str(msg, "kind", ""), "answer") == 0 &&
            strcmp(pons_get_str(value, "id", ""), question) == 0) {
            json_array_append(all, (json_t *)value);
        }
    }
    json_array_extend(all, waiting);
    const pons_value *own = pons__find(all, "nonce", nonce);
    if (!first && json_array_size(all) > 0) {
        first = json_array_get(all, 0);
    }
    if (!verdict) {
        const bool mine = strcmp(pons_get_str(first, "nonce", ""), nonce) == 0;
        const bool takes_back = strcmp(pons_get_str(own, "action", ""), "reject") == 0 &&
                                strcmp(pons_get_str(first, "action", ""), "reject") != 0;
        verdict = mine ? "bound"
                  : takes_back && !started(store, thread, pons_get(inner, "react"),
                                           pons_get(inner, "skills"), question, &none)
                      ? "overrides"
                      : "late";
    }
    *ret = pons_object("verdict", json_string(verdict), "heard", json_boolean(heard != NULL),
                       "first", first ? pons_value_ref(first) : json_null(), NULL);
    return PONS_OK;
}

// ---- small things -------------------------------------------------------------------------------

// Appends to a list of a value that is not published yet, and drops the oldest beyond so many.
static void keep(pons_value *hci, const char *list, pons_value *entry, size_t most)
{
    const pons_value *old = pons_get(hci, list);
    const size_t n = json_array_size(old);
    pons_value *next = json_array();
    for (size_t i = n >= most ? n - most + 1 : 0; i < n; i++) {
        json_array_append(next, json_array_get(old, i));
    }
    json_array_append_new(next, entry);
    json_object_set_new(hci, list, next);
}
