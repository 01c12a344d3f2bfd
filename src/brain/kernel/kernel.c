// kernel.c - the outer loop: nodes K1 to K6, ten times a second and on every event.
//
// The kernel decides what may be done, never a prompt:
//
//        SAFE      a stop that was said or is latched, collision risk, or a battery at its end
//          >
//        IDLE      a stop was reset, and nobody has said continue yet (stop_state.c)
//          >
//        CHARGE    the battery is low (with hysteresis)
//          >
//        EXEC      there is a task
//          >
//        IDLE      there is none, or people said pause
//
// It never waits: a tick runs from K1 to K6 and ends. A tick in which nothing changed writes
// nothing to the store; a change of mode, a new task or a word from a person is committed with the
// very step that made it. The kernel speaks to the inner loop through its inbox only:
//
//     kernel -- activate{activation, mode, task, reason} --> react        start on this task
//     kernel -- preempt{reason, mode, end} ----------------> react        let go of it
//     react  -- task_result{activation, task_id, status, …} > kernel      it is over, or let go
//                                                                         (task_queue.c)
//
//        idle --activate--> active --preempt--> stopping
//         ^                   |                    |
//         +----task_result----+--------------------+
#include "brain/body_link/telemetry_sync.h"
#include "brain/kernel/task_queue.h"
#include "brain/records/event_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/records/intent_fields.h"
#include "brain/state/effect_history.h"
#include "brain/state/graphs.h"
#include "brain/state/self.h"
#include "brain/tasks/questions.h"
#include "brain/tasks/tasks.h"

#include <string.h>

#define UNCHARGED "no skill of this body charges it: a person must"

// ---- K1 hci_ingress -----------------------------------------------------------------------------

static int interrupt_word(const char *control)
{
    return strcmp(control, "stop") == 0    ? PONS_SAID_STOP
           : strcmp(control, "pause") == 0 ? PONS_SAID_PAUSE
                                           : PONS_SAID_NOTHING;
}

// What a control word of the policy is; a goal where there is none.
static int interrupt_of(pons_brain *b, const char *said)
{
    pons_autovalue parsed = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (b->opts.policy.ops->parse(b->opts.policy.self, said, b->port.greeting.as.hello.world,
                                  &parsed, &ignored) < 0) {
        return PONS_SAID_GOAL;
    }
    PONS__AUTO(understood) u = pons__record_read(&pons__understood_record, parsed);
    return u->control && *u->control ? interrupt_word(u->control) : PONS_SAID_GOAL;
}

// The newest that a person wants: words, or a control that was typed as a command. What the inner loop sends
// is nobody's wish, and changes nothing of it.
static void note_wish(pons_brain *b, pons__hci *h, const pons__inbox_message *l)
{
    const char *said = pons__inbox_message_says(l);
    if (said) {
        h->user_interrupt->type = interrupt_of(b, said);
        pons__set_text(&h->user_interrupt->payload, said);
        pons__set_text(&h->user_utterance, said);
    } else if (l->kind == PONS_LETTER_CONTROL) {
        PONS__AUTO(said) control = pons__said_read(l->value);
        h->user_interrupt->type = interrupt_word(control->word);
        pons__set_text(&h->user_interrupt->payload, control->word);
    }
}

// Takes what people and the inner loop have sent. Recognises stop, pause and new goals; acts on
// none.
static int hci_ingress(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    const pons_value *inbox = pons_cx_inbox(cx, err);
    if (json_array_size(inbox) == 0) {
        return PONS_OK;
    }
    pons__hci *h = pons__hci_of(b, pons_cx_get(cx, "hci"));
    if (!h->user_interrupt) {
        h->user_interrupt = pons__record_new(&pons__interrupt_record);
    }
    pons_each(msg, inbox) {
        PONS__AUTO(inbox_message) l = pons__record_read(&pons__inbox_message_record, msg);
        note_wish(b, h, l);
    }
    pons__json(&h->pending, pons_value_ref(inbox));
    h->changed = true;
    return pons__hci_put(b, cx);
}

// ---- K4 event_detect_and_mode_arbitrate ---------------------------------------------------------

// Why SAFE, or NULL. Static text.
static const char *safe_reason(pons_brain *b, int mode_now)
{
    const pons__robot *robot = b->seen;
    if (!robot) {
        return NULL;
    }
    if (pons__latched(b)) {
        return "protective stop is latched";
    }
    const int64_t now = pons_now_ns(&b->opts.clock);
    if (robot->collision_risk) {
        b->collision_seen_ns = now;
        return "collision risk";
    }
    if (mode_now == PONS_MODE_SAFE && b->collision_seen_ns &&
        (double)(now - b->collision_seen_ns) < b->rules.collision_clear_s * 1e9) {
        return "collision risk";
    }
    // By the last look: a loop that was away itself says nothing of the body.
    if ((double)(b->port.looked_ns - b->port.telemetry_ns) > b->rules.telemetry_age_max_ms * 1e6) {
        return "the body is silent";
    }
    if (!pons__charges_now(robot) && robot->battery_pct <= b->rules.battery_safe_pct) {
        return "battery at its end";
    }
    return NULL;
}

static int arbitrate(pons_brain *b, const pons__tasks *t, const char **reason)
{
    *reason = t->stopped && t->stopped->wanted ? "a person said stop" : safe_reason(b, t->mode);
    if (*reason) {
        return PONS_MODE_SAFE;
    }
    if (t->stopped) {
        *reason = "stopped: waits for continue";
        return PONS_MODE_IDLE;
    }
    const bool low = pons__charge_wanted(&b->rules, b->seen, t->mode == PONS_MODE_CHARGE);
    if (low && pons__means_charges(b)) {
        *reason = "battery low";
        return PONS_MODE_CHARGE;
    }
    if (t->paused) {
        *reason = "paused";
        return PONS_MODE_IDLE;
    }
    if (t->queue.n > 0) {
        *reason = low ? "a task is waiting; battery low, and " UNCHARGED : "a task is waiting";
        return PONS_MODE_EXEC;
    }
    *reason = low ? "no task; battery low, and " UNCHARGED : "no task";
    return PONS_MODE_IDLE;
}

static int event_detect_and_mode_arbitrate(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    pons__tasks *t = pons__tasks_of(b, pons_cx_get(cx, "tasks"));
    const char *reason = "";
    const int before = t->mode, mode = arbitrate(b, t, &reason);
    if (mode == before && strcmp(reason, t->mode_reason) == 0) {
        return PONS_OK;
    }
    pons__set_text(&t->mode_reason,
                   reason); // the same for another reason: what a person reads is true
    t->changed = true;
    if (mode != before || strstr(reason, UNCHARGED)) { // a person must know
        t->safe_handled = t->safe_handled && mode == before;
        t->mode = mode;
        pons__set_text(&t->preempt_flag, mode == PONS_MODE_SAFE     ? "SAFETY"
                                         : mode == PONS_MODE_CHARGE ? "BATTERY"
                                                                    : "");
        const char *from = pons__mode_words[before], *to = pons__mode_words[mode];
        PONS__EMIT(b, cx, mode_reported, .mode = to, .reason = reason, .from = from);
        pons_autovalue change = json_sprintf("%s → %s: %s", from, to, reason);
        pons__trace_put(b, cx, (pons__entry){.arbitration = json_string_value(change)});
    }
    return pons__tasks_put(b, cx);
}

// ---- K6 kernel_route ----------------------------------------------------------------------------

// Why the inner loop must let go of its task: of two tasks, both priorities.
static void let_go_reason(const pons__tasks *t, const pons__task *wanted, char *ret, size_t cap)
{
    const pons__task *reported = pons__queue_find(t, t->react->task_id);
    if (*t->react->task_id && !reported) {
        snprintf(ret, cap, "the task was ended");
    } else if (reported && wanted && strcmp(t->asking, reported->id) == 0) {
        snprintf(ret, cap, "%s waits for a person's answer, and %s goes on meanwhile", reported->id,
                 wanted->id);
    } else if (reported && wanted && t->mode == PONS_MODE_EXEC) {
        snprintf(ret, cap, "%s has priority %lld, %s has %lld", wanted->id,
                 (long long)wanted->priority, reported->id, (long long)reported->priority);
    } else if (reported && wanted) {
        snprintf(ret, cap, "%s: %s has priority %lld, %s has %lld", t->mode_reason, wanted->id,
                 (long long)wanted->priority, reported->id, (long long)reported->priority);
    } else {
        snprintf(ret, cap, "%s", t->mode_reason);
    }
}

static void preempt(pons_cx *cx, pons__tasks *t, const pons__task *wanted)
{
    char reason[PONS_ERROR_MESSAGE_MAX];
    const bool safe = t->mode == PONS_MODE_SAFE;
    const bool ended = *t->react->task_id && !pons__queue_find(t, t->react->task_id);
    let_go_reason(t, wanted, reason, sizeof reason);
    const pons__preempt mail = {.activation = t->react->activation,
                                .mode = t->mode,
                                .reason = reason,
                                .stop_base = safe || ended};
    pons_cx_post(cx, PONS_NS_REACT, pons__mail_words[PONS_MAIL_PREEMPT],
                 pons__record_write(&pons__preempt_record, &mail));
    t->react->state = PONS_INNER_STOPPING;
    t->react->mode = t->mode;
    pons__set_text(&t->preempt_flag, safe                          ? "SAFETY"
                                     : t->mode == PONS_MODE_CHARGE ? "BATTERY"
                                                                   : "USER");
    t->changed = true;
}

static void activate(pons_cx *cx, pons__tasks *t, pons__task *task)
{
    t->react->activation++;
    const pons__activate mail = {.activation = t->react->activation,
                                 .mode = t->mode,
                                 .reason = t->mode_reason,
                                 .task = task};
    pons_cx_post(cx, PONS_NS_REACT, pons__mail_words[PONS_MAIL_ACTIVATE],
                 pons__record_write(&pons__activate_record, &mail));
    pons__list_clear(&pons__question_record, &t->react->asks);
    if (task) { // they are the inner loop's now, which has them in its mail
        t->react->asks = task->asks;
        task->asks = (pons__list){0};
    }
    t->react->state = PONS_INNER_ACTIVE;
    t->react->mode = t->mode;
    pons__set_text(&t->react->task_id, task ? task->id : "");
    pons__set_text(&t->preempt_flag, "");
    t->changed = true;
}

static bool waits(const void *user, const char *task)
{
    const pons__tasks *t = user;
    return pons__tasks_place(t, task) < t->queue.n;
}

// Where tasks ended: what they leave can be cut off there (keep/).
static void note_ends(pons_brain *b, pons_cx *cx, const pons__tasks *t)
{
    const pons__keep_facts facts = {.ended = t->next - 1 - (int64_t)t->queue.n,
                                    .active = t->active_task_id,
                                    .waits = waits,
                                    .user = t};
    pons_value *next = pons__keep_note(&b->keep, pons_cx_get(cx, "keep"), &facts);
    if (next) {
        pons_cx_put(cx, "keep", next);
    }
}

// Compares what the inner loop should be doing with what it was told last, and tells it.
static int kernel_route(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    pons__tasks *t = pons__tasks_of(b, pons_cx_get(cx, "tasks"));
    const bool safe = t->mode == PONS_MODE_SAFE;
    const bool works = t->mode == PONS_MODE_EXEC || t->mode == PONS_MODE_CHARGE;
    pons__task *active = works ? pons__queue_active(t) : NULL;
    if (t->react->state == PONS_INNER_ACTIVE) {
        const bool same_mode = (t->react->mode == PONS_MODE_SAFE) == safe;
        const bool same_task = strcmp(active ? active->id : "", t->react->task_id) == 0;
        if (!same_mode || (!safe && !same_task)) {
            preempt(cx, t, active);
        }
    } else if (t->react->state == PONS_INNER_IDLE && ((safe && !t->safe_handled) || active)) {
        activate(cx, t, active);
    }
    note_ends(b, cx, t);
    return pons__tasks_put(b, cx);
}

// ---- graph --------------------------------------------------------------------------------------

int pons__kernel_graph(pons_brain *b, pons_graph **ret, pons_error *err)
{
    pons_graph_builder *g = pons_graph_builder_create("kernel");
    pons__tasks *initial = pons__tasks_initial();
    pons_autovalue tasks = pons__record_write(&pons__tasks_record, initial);
    pons__record_free(&pons__tasks_record, initial);
    const pons_channel_options last = PONS_CHANNEL_OPTIONS_INIT;
    const pons_channel_options untracked = {.kind = PONS_CHANNEL_UNTRACKED};
    const pons_channel_options queue = {.kind = PONS_CHANNEL_LAST, .initial = tasks};
    const pons_channel_options trace = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons__trace_reduce};
    pons_graph_channel(g, "hci", &last);
    pons_graph_channel(g, "world", &untracked);
    pons_graph_channel(g, "robot", &untracked);
    pons_graph_channel(g, "tasks", &queue);
    pons_graph_channel(g, "keep", &last);
    pons_graph_channel(g, "trace", &trace);
    pons_graph_node(g, "hci_ingress", hci_ingress, b);
    pons_graph_node(g, "sim_telemetry_sync", pons__sim_telemetry_sync, b);
    pons_graph_node(g, "world_model_update", pons__world_model_update, b);
    pons_graph_node(g, "event_detect_and_mode_arbitrate", event_detect_and_mode_arbitrate, b);
    pons_graph_node(g, "task_queue_update", pons__task_queue_update, b);
    pons_graph_node(g, "kernel_route", kernel_route, b);
    pons_graph_edge(g, PONS_START, "hci_ingress");
    pons_graph_edge(g, "hci_ingress", "sim_telemetry_sync");
    pons_graph_edge(g, "sim_telemetry_sync", "world_model_update");
    pons_graph_edge(g, "world_model_update", "event_detect_and_mode_arbitrate");
    pons_graph_edge(g, "event_detect_and_mode_arbitrate", "task_queue_update");
    pons_graph_edge(g, "task_queue_update", "kernel_route");
    pons_graph_edge(g, "kernel_route", PONS_END);
    const pons_graph_options opts = {.recursion_limit = 20, .quiet = true};
    const int rc = pons_graph_compile(g, &opts, ret, err);
    pons_graph_builder_destroy(g);
    return rc;
}
