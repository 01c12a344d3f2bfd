// approve.c - R5: a question to a person, and which answer to it counts.
//
// A question is an object in `react.approval`, stored with the step that asks, and has an id of its
// own:
//
//     {id, question, reason, ops: [{skill, args, goal_index, reason, asks: [{rule, message}]}…],
//      cancels: [skill…], refused?}
//
// ops are all that would be sent, in their order, numbered from 1 by whoever shows them; asks says
// which rule wants a person's word for that one. refused: why the edit before was none.
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
#include "brain/brain_internal.h"
#include "pons/geometry.h"

#include <math.h>
#include <string.h>

#define ANSWERS_KEPT 20
#define HEARD_KEPT   40
#define SAME_PLACE_M 0.05

static const char *edited_ops(const pons_value *answer, const pons_value *old, pons_value **ret);
static pons_value *like(const pons_value *op, const pons_value *old);
static pons_value *rejected_result(const pons_value *react, const pons_value *answer);
static void resolve(pons_brain *b, pons_cx *cx, const char *id, const char *action,
                    const pons_value *answer);
static bool about(pons_brain *b, const pons_value *goal, const pons_value *args);
static pons_value *goal_instead(pons_brain *b, const pons_value *goal, const pons_value *old,
                                const pons_value *args);
static void keep(pons_value *hci, const char *list, pons_value *entry, size_t most);
static void set(pons_value **obj, const char *key, pons_value *value);

// ---- the question -------------------------------------------------------------------------------

pons_value *pons__approval_question(pons_brain *b, pons_cx *cx, const pons_value *react,
                                    const pons_value *running)
{
    char id[PONS_ID_MAX];
    const pons_value *proposed = pons_get(react, "proposed_ops");
    const char *reason = pons_get_str(pons_get(react, "decision"), "reason", "");
    const pons_value *payload = pons_get(proposed, "approval_payload");
    const bool wanted = pons_get_bool(proposed, "need_approval", false);
    pons_value *ops = json_array(), *cancels = json_array();
    size_t i;
    json_t *op, *goal;
    json_array_foreach(pons_get(proposed, "to_dispatch"), i, op)
    {
        pons_value *asks = pons__guard_approvals(b, op);
        if (wanted) {
            json_array_append_new(
                asks,
                pons_object("rule", json_string("decision"), "message",
                            json_string("the decision itself asks for a person's word"), NULL));
        }
        pons_value *shown = json_copy(op);
        json_object_set_new(shown, "reason", json_string(reason));
        json_object_set_new(shown, "asks", asks);
        json_array_append_new(ops, shown);
    }
    json_array_foreach(pons_get(proposed, "to_cancel"), i, goal)
    {
        const pons_value *entry = pons__find(running, "goal_id", json_string_value(goal));
        json_array_append_new(cancels, json_string(pons_get_str(entry, "skill", "")));
    }
    pons_cx_id(cx, id);
    pons_value *question =
        pons_object("id", json_string(id), "question",
                    json_string(pons_get_str(payload, "question", "may I do this?")), "reason",
                    json_string(reason), "ops", ops, "cancels", cancels, NULL);
    const char *refused = pons_get_str(react, "edit_refused", NULL);
    if (refused) {
        json_object_set_new(question, "refused", json_string(refused));
    }
    return question;
}

// ---- R5 -----------------------------------------------------------------------------------------

// The answer: {action: approve|edit|reject, reason?, answer?, by?, at_ms?}, and for an edit either
// {op: N, args} (N from 1; absent where there is one operation) or {ops: [{skill, args}…]} for all.
int pons__human_approval_interrupt(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    const pons_value *react = pons_cx_get(cx, "react"), *approval = pons_get(react, "approval");
    const pons_value *answer = NULL;
    const int rc = pons_interrupt(cx, pons_value_ref(approval), &answer, err);
    if (rc < 0) {
        return rc;
    }
    const char *id = pons_get_str(approval, "id", "");
    const char *action = pons_get_str(answer, "action", "reject");
    const bool edit = strcmp(action, "edit") == 0;
    const bool reject = strcmp(action, "approve") != 0 && !edit;
    pons_value *next = pons_value_ref(react);
    pons_value *ops = pons_value_ref(pons_get(react, "proposed_ops"));
    if (edit) {
        pons_value *list = NULL;
        const char *fault = edited_ops(answer, pons_get(ops, "to_dispatch"), &list);
        if (fault) { // no answer: R4 asks again
            set(&next, "approval", json_null());
            set(&next, "edit_refused", json_string(fault));
            pons_value_unref(ops);
            resolve(b, cx, id, "edit", answer);
            return pons_cx_put(cx, "react", next);
        }
        set(&ops, "to_dispatch", list);
        set(&next, "edit_before", pons_value_ref(react));
    }
    pons_value *approved = json_copy((json_t *)pons_get(react, "approved"));
    size_t i;
    json_t *op;
    if (!reject) {
        json_array_foreach(pons_get(ops, "to_dispatch"), i, op)
        {
            char hash[33];
            pons_value_hash(op, hash);
            json_array_append_new(approved, json_string(hash));
        }
        set(&next, "failures", json_integer(0));
        set(&next, "answered", json_string(id));
    }
    set(&ops, "need_approval", json_false());
    set(&next, "approved", approved);
    set(&next, "approval_rejected", json_boolean(reject));
    set(&next, "approval", json_null()); // answered: nobody is asked any more
    set(&next, "edit_refused", json_null());
    set(&next, "human",
        pons_object("question", json_string(pons_get_str(approval, "question", "")), "answer",
                    json_string(pons_get_str(answer, "answer", reject ? "no" : "yes")), "reason",
                    json_string(pons_get_str(answer, "reason", "")), NULL));
    if (reject) {
        pons_value *skills =
            pons__with(pons_cx_get(cx, "skills"), "last_result", rejected_result(react, answer));
        if (!pons_get_bool(answer, "detached", false)) { // the kernel's word refuses no step
            next =
                pons__task_plan_note_result(next, json_array_get(pons_get(ops, "to_dispatch"), 0),
                                            pons_get(skills, "last_result"), NULL);
        }
        set(&ops, "to_dispatch", json_array());
        pons_cx_put(cx, "skills", skills);
    }
    next = pons__task_plan_note_answer(next, answer);
    next = pons__ladder_answered(b, next, answer);
    set(&next, "proposed_ops", ops);
    resolve(b, cx, id, reject ? "reject" : action, answer);
    return pons_cx_put(cx, "react", next);
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

static void resolve(pons_brain *b, pons_cx *cx, const char *id, const char *action,
                    const pons_value *answer)
{
    const bool kernel = pons_get_bool(answer, "detached", false);
    pons_cx_emit(
        cx, "approval.resolved",
        pons__event(
            b,
            pons_object("id", json_string(id), "action", json_string(action), "reason",
                        json_string(pons_get_str(answer, "reason", "")), "by",
                        json_string(kernel ? "the kernel" : pons_get_str(answer, "by", "a person")),
                        "at_ms", json_integer(pons_get_int(answer, "at_ms", pons_cx_wall_ms(cx))),
                        NULL)));
}

static pons_value *rejected_result(const pons_value *react, const pons_value *answer)
{
    const pons_value *first =
        json_array_get(pons_get(pons_get(react, "proposed_ops"), "to_dispatch"), 0);
    return pons_object("skill", json_string(pons_get_str(first, "skill", "")), "args",
                       json_object(), "goal_id", json_string(""), "goal_index",
                       json_integer(pons_get_int(pons_get(pons_get(react, "observation"), "task"),
                                                 "goal_index", -1)),
                       "status", json_string("refused"), "error_code", json_integer(0), "error_msg",
                       json_sprintf("a person said no: %s", pons_get_str(answer, "reason", "")),
                       "recovery", json_string("ask_human"), "metrics", json_object(), NULL);
}

// The operations as the answer wants them; or why it names none. Static text.
static const char *edited_ops(const pons_value *answer, const pons_value *old, pons_value **ret)
{
    const pons_value *edited = pons_get(answer, "ops"), *args = pons_get(answer, "args");
    const size_t n = json_array_size(old);
    const int64_t at = pons_get_int(answer, "op", n == 1 ? 1 : 0);
    size_t i;
    json_t *op;
    if (json_is_array(edited) && json_array_size(edited) == 0) {
        return "the edit names no operation";
    }
    if (json_is_array(edited)) {
        *ret = json_array();
        json_array_foreach(edited, i, op)
        {
            json_array_append_new(*ret, like(op, json_array_get(old, i)));
        }
        return NULL;
    }
    if (n == 0) {
        return "there is no operation to edit";
    }
    if (!json_is_object(args) || at < 1 || at > (int64_t)n) {
        return at == 0 ? "there are several operations: the edit names none"
                       : "the edit names an operation that there is not";
    }
    *ret = json_copy((json_t *)old);
    json_array_set_new(
        *ret, (size_t)at - 1,
        pons__with(json_array_get(old, (size_t)at - 1), "args", pons_value_ref(args)));
    return NULL;
}

// What a person says instead of an operation stands in its place: for its goal, as its plan's step.
static pons_value *like(const pons_value *op, const pons_value *old)
{
    static const char *const keys[] = {"goal_index", "step_id", "fallback"};
    const pons_value *args = pons_get(op, "args");
    pons_value *next = pons_object("skill", json_string(pons_get_str(op, "skill", "")), "args",
                                   args ? pons_value_ref(args) : json_object(), NULL);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const pons_value *v = pons_get(old, keys[i]);
        if (v) {
            json_object_set(next, keys[i], (json_t *)v);
        }
    }
    return next;
}

// ---- R4's side of an edit -----------------------------------------------------------------------

// The inner loop as it was when it asked, with the reason why the edit was none.
pons_value *pons__edit_undo(const pons_value *react, const pons_value *rules)
{
    pons_value *next = json_copy((json_t *)pons_get(react, "edit_before"));
    json_object_set_new(next, "approval", json_null());
    json_object_set_new(next, "edit_refused", pons__guard_says(rules));
    return next;
}

// The edit has passed: goals whose place it changed are about the new one. Takes react.
pons_value *pons__edit_keep(pons_brain *b, pons_cx *cx, pons_value *react)
{
    const pons_value *before = pons_get(react, "edit_before"), *task = pons_get(react, "task");
    const pons_value *old = pons_get(pons_get(before, "proposed_ops"), "to_dispatch");
    const pons_value *ops = pons_get(pons_get(react, "proposed_ops"), "to_dispatch");
    if (!json_is_object(before)) {
        return react;
    }
    pons_autovalue goals = json_copy((json_t *)pons_get(task, "goals"));
    bool changed = false;
    size_t i;
    json_t *op;
    json_array_foreach(ops, i, op)
    {
        const int64_t at = pons_get_int(op, "goal_index", -1);
        const pons_value *was = pons_get(json_array_get(old, i), "args"),
                         *is = pons_get(op, "args");
        const pons_value *goal = at >= 0 ? json_array_get(goals, (size_t)at) : NULL;
        if (!goal || !was || json_equal(was, is) ||
            strcmp(pons_get_str(op, "skill", ""), "navigate_to_pose") != 0 ||
            !about(b, goal, was)) {
            continue;
        }
        pons_value *fresh = goal_instead(b, goal, was, is);
        pons_cx_emit(
            cx, "goal.replaced",
            pons__event(b, pons_object("goal_index", json_integer(at), "from", pons_value_ref(goal),
                                       "to", pons_value_ref(fresh), NULL)));
        json_array_set_new(goals, (size_t)at, fresh);
        changed = true;
    }
    if (changed) {
        set(&react, "task", pons__with(task, "goals", pons_value_ref(goals)));
    }
    set(&react, "edit_before", json_null());
    return react;
}

// Whether a motion with these arguments is the goal itself, and not a step towards it.
static bool about(pons_brain *b, const pons_value *goal, const pons_value *args)
{
    const char *intent = pons_get_str(goal, "intent", "");
    const char *to = pons_get_str(args, "zone", NULL);
    const pons_value *pose = pons_get(args, "pose"), *own = pons_get(goal, "pose");
    const pons_value *zone = to ? pons__zone(b, to) : NULL;
    size_t i;
    json_t *name;
    if (strcmp(intent, "patrol") == 0) {
        json_array_foreach(pons_get(goal, "zones"), i, name)
        {
            if (zone && pons__zone(b, json_string_value(name)) == zone) {
                return true;
            }
        }
        return false;
    }
    if (strcmp(intent, "go_to") != 0) {
        return false;
    }
    if (json_is_object(own)) {
        return pose &&
               hypot(pons_get_num(pose, "x", 0.0) - pons_get_num(own, "x", 0.0),
                     pons_get_num(pose, "y", 0.0) - pons_get_num(own, "y", 0.0)) < SAME_PLACE_M;
    }
    const pons_value *target = pons__zone(b, pons_get_str(goal, "zone", ""));
    return zone ? zone == target
                : target && pose &&
                      pons_polygon_contains(pons_get(target, "polygon"),
                                            pons_get_num(pose, "x", 0.0),
                                            pons_get_num(pose, "y", 0.0));
}

static pons_value *goal_instead(pons_brain *b, const pons_value *goal, const pons_value *old,
                                const pons_value *args)
{
    const char *to = pons_get_str(args, "zone", NULL);
    const pons_value *pose = pons_get(args, "pose");
    const pons_value *world = pons_get(b->port.hello, "world");
    const char *zone =
        to ? pons_get_str(pons__zone(b, to), "id", to)
           : pons__zone_at(world, pons_get_num(pose, "x", 0.0), pons_get_num(pose, "y", 0.0));
    pons_value *next = json_copy((json_t *)goal);
    json_object_set_new(next, "done", json_false());
    json_object_set_new(next, "text",
                        json_sprintf("%s, as a person edited it", pons_get_str(goal, "text", "")));
    if (strcmp(pons_get_str(goal, "intent", ""), "patrol") == 0) {
        pons_value *zones = json_array();
        const pons_value *left = pons__zone(b, pons_get_str(old, "zone", ""));
        size_t i;
        json_t *name;
        json_array_foreach(pons_get(goal, "zones"), i, name)
        {
            const bool same = pons__zone(b, json_string_value(name)) == left;
            json_array_append_new(zones,
                                  same ? json_string(zone ? zone : "") : pons_value_ref(name));
        }
        json_object_set_new(next, "zones", zones);
        return next;
    }
    json_object_set_new(next, "zone", json_string(zone ? zone : ""));
    if (pose) {
        json_object_set(next, "pose", (json_t *)pose);
    } else {
        json_object_del(next, "pose");
    }
    return next;
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
        (open ||
         !pons__answer_started(b->opts.store, b->opts.thread, react, skills, question, &none))) {
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
bool pons__answer_started(pons_store store, const char *thread, const pons_value *react,
                          const pons_value *skills, const char *question, pons_error *err)
{
    const uint32_t sent =
        ~(1U << PONS_EFFECT_INTENDED | 1U << PONS_EFFECT_REFUSED) & ((1U << 16) - 1);
    pons_autovalue effects = NULL;
    if (strcmp(pons_get_str(pons_get(react, "approval"), "id", ""), question) == 0) {
        return false;
    }
    if (strcmp(pons_get_str(react, "answered", ""), question) != 0 ||
        pons_effects_read(store, thread, sent, &effects, err) < 0) {
        return true;
    }
    size_t i;
    json_t *op;
    json_array_foreach(pons_get(skills, "to_dispatch"), i, op)
    {
        if (pons__find(effects, "id", pons_get_str(op, "goal_id", ""))) {
            return true;
        }
    }
    return false;
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
                  : takes_back && !pons__answer_started(store, thread, pons_get(inner, "react"),
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

// *obj becomes a copy with key = value (taken).
static void set(pons_value **obj, const char *key, pons_value *value)
{
    pons_value *next = pons__with(*obj, key, value);
    pons_value_unref(*obj);
    *obj = next;
}
