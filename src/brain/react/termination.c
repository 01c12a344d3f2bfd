// termination.c - R8: is the task over, and what all nodes share.
//
// A task is over when the decision says FINISH (R4 has held it against the world) or ABORT, when it is
// let go of for another one (SWITCH_TASK, and R4 has asked the priorities), or when the kernel wants
// the inner loop back and nothing runs any more. The kernel is told with one message, in the step that
// ends the run.
#include "brain/plan/task_plan.h"
#include "brain/react/nodes.h"
#include "brain/react/outcome_unknown.h"
#include "brain/records/event_fields.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_KEPT  40 // older ones are removed from the channel in halves
#define STEPS_LEFT_MIN 16 // a run with fewer supersteps left hands over to a fresh one

typedef struct ending {
    const char *status, *stop; // NULL: it goes on
} ending;

// Whether something that this decision let go of has not ended: the body has not said so, or is gone.
static bool let_go_and_runs(const pons__react *r, const pons__skills *skills)
{
    pons_each(id, r->proposed_ops ? r->proposed_ops->to_cancel : NULL) {
        if (pons__running_find(skills, json_string_value(id))) {
            return true;
        }
    }
    return false;
}

// How a task ends whose plan it was; NULL: it was not the plan that ended it.
static const char *plan_status(const pons__task_plan *state)
{
    const int status = pons__task_plan_status(state);
    return !state || strcmp(state->kind, "given") != 0 ? NULL
           : status == PONS_PLAN_FAILED || status == PONS_PLAN_CANCELLED
               ? pons_plan_status_word(status)
               : NULL;
}

static ending ending_of(const pons__react *r, const pons__skills *skills)
{
    const pons__decision_type type = pons__decided(r);
    if (r->preempt) {
        const bool safe = r->preempt->mode == PONS_MODE_SAFE;
        const bool asks = r->task && r->task->asks.n > 0; // it was put aside with them
        return (ending){skills->running.n == 0 ? "preempted" : NULL, safe   ? "safety_override"
                                                                     : asks ? "need_human"
                                                                            : "preempted"};
    }
    if (r->stage !=
        PONS_STAGE_SETTLED) { // what a person said no to is not done, nor is an end: its cancels were not sent
        return (ending){NULL, NULL};
    }
    if (let_go_and_runs(r, skills)) {
        return (ending){NULL, NULL}; // its cancel has had no answer yet
    }
    if (pons__unsettled_bars(r, skills)) {
        return (ending){NULL, NULL}; // what was let go of with it ended so that nobody knows
    }
    if (type == PONS_FINISH) {
        return (ending){"succeeded", "done"};
    }
    if (type == PONS_ABORT) {
        const char *of_plan = plan_status(r->plan);
        return (ending){of_plan ? of_plan : "aborted", "impossible"};
    }
    if (type == PONS_SWITCH_TASK && skills->running.n == 0) {
        return (ending){"switched", "preempted"};
    }
    return (ending){NULL, NULL};
}

// Whether one of them says something: below safe_pct no task goes on, so a battery that has no more than that to be
// is a claim of nothing.
static bool claims_something(const pons_brain *b, const pons_value *claims)
{
    pons_each(said, claims) {
        PONS__AUTO(claim) claim = pons__record_read(&pons__claim_record, said);
        if (claim->in_zone || claim->holding || claim->battery > b->rules.battery_safe_pct) {
            return true;
        }
    }
    return false;
}

static void tell_kernel(const pons_brain *b, pons_cx *cx, const pons__react *r, const char *status)
{
    static const pons__list none = {0};
    const pons__task *task = r->task;
    const bool finished = pons__decided(r) == PONS_FINISH && !r->preempt;
    const pons_value *verified = NULL;
    if (finished && task) {
        const bool claimed = claims_something(b, r->decision->claims);
        verified = json_boolean(!task->unverified || claimed);
    }
    pons__outcome o = {.activation = r->activation,
                       .task_id = task ? task->id : "",
                       .status = status,
                       .reason = r->decision ? r->decision->reason : "",
                       .mode = r->preempt ? r->preempt->mode : r->mode,
                       .iterations = r->iter,
                       .replans = r->replans,
                       .distance_m = r->distance_m,
                       .switch_to = r->decision ? r->decision->task_id : "",
                       .verified = verified,
                       .goals = task ? task->goals : none,
                       .asks = task ? task->asks : none,
                       .recovery = task ? task->recovery : NULL,
                       .spent = task ? task->spent : NULL,
                       .plan = r->plan};
    pons_cx_post(cx, PONS_NS_KERNEL, "task_result", pons__record_write(&pons__outcome_record, &o));
    pons_value_unref(verified);
}

int pons__react_stop_or_loop(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__turn_begin(&t, cx, user, PONS_R8, err);
    const ending end = ending_of(t.react, t.skills);
    const bool is_long = !end.status && pons_cx_remaining_steps(cx) < STEPS_LEFT_MIN;
    if (is_long) {
        // A long task outlives a run: the state stays, and a message to itself begins the next one.
        pons_cx_post(cx, PONS_NS_REACT, "go_on", json_object());
    }
    if (end.status) {
        const bool over =
            strcmp(end.status, "preempted") != 0 && strcmp(end.status, "switched") != 0;
        if (over) {
            pons__task_plan_end(t.b, cx, t.react, end.status);
        }
        tell_kernel(t.b, cx, t.react, end.status);
        pons__set_text(&t.react->stop_reason, end.stop);
    }
    const pons__decision_event on = is_long ? PONS_ON_RUN_IS_LONG : PONS_ON_GOES_ON;
    pons__decision_move(&t, end.status ? PONS_ON_ENDS : on);
    return pons__turn_end(&t, PONS_OK);
}

// ---- what the nodes share -----------------------------------------------------------------------

bool pons__releases_all(pons__decision_type type)
{
    return type == PONS_FINISH || type == PONS_ABORT || type == PONS_SWITCH_TASK;
}

void pons__say_message(pons_cx *cx, const char *role, const pons_value *content)
{
    char *text = NULL;
    if (!content || pons_value_line(content, &text) < 0) {
        return;
    }
    const pons_value *old = pons_cx_get(cx, "messages");
    const size_t n = json_array_size(old);
    pons_value *update = json_array();
    for (size_t i = 0; n > MESSAGES_KEPT && i < n / 2; i++) {
        PONS__AUTO(message) gone = pons__record_read(&pons__message_record, json_array_get(old, i));
        json_array_append_new(
            update, pons_object("type", json_string("remove"), "id", json_string(gone->id), NULL));
    }
    char id[PONS_ID_MAX];
    pons_cx_id(cx, id);
    json_array_append_new(update, PONS__WRITE(message, .id = id, .role = role, .content = text));
    free(text);
    pons_cx_put(cx, "messages", update);
}

void pons__effect_event(pons_brain *b, pons_cx *cx, const char *id, const char *skill,
                        const pons_value *args, const char *state, const char *why)
{
    PONS__AUTO(react) react = pons__react_read(cx);
    pons_autovalue empty = json_object();
    const pons__effect_reported reported = {.goal_id = id,
                                            .task_id = react->task ? react->task->id : NULL,
                                            .skill = skill,
                                            .args = args ? args : empty,
                                            .state = state,
                                            .reason = why ? why : ""};
    pons_autovalue shown = pons__record_write(&pons__effect_reported_record, &reported);
    pons_cx_custom(cx, pons__with(shown, "node", json_string("effect")));
    pons__event_emit(b, cx, &pons__effect_reported_record, &reported);
}
