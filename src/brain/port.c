// port.c - the brain's end of the body link.
//
// The port keeps one controller connection, follows every goal that is out, and tells the inner loop of
// them (port_wait.c).
//
// After every hello, whether of the same body or of another, each goal that is out is *asked* about
// before anything else (ARCHITECTURE.md, "Killed at any point"):
//
//   known, finished                      → its result
//   known, of this boot                  → adopt
//   known, of another boot               → outcome_unknown
//   unknown, sent to this boot, fresh    → the same id again (the ledger makes that harmless)
//   unknown otherwise                    → outcome_unknown
//
// Nothing here decides: the port carries words between the ledger's two ends.
#include "brain/port.h"

#include "brain/event.h"
#include "brain/guard.h"
#include "brain/news.h"
#include "brain/self.h"
#include "pons/log.h"
#include "pons/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_FIRST_MS           20
#define RETRY_MAX_MS             500
#define MESSAGES_PER_POLL        256
#define FINISHED_GOALS_KEPT      32   // a node that runs again may ask for them
#define FEEDBACK_SHOWN_EVERY_MS  500  // spec: skill.feedback at most 2 Hz
#define TELEMETRY_SHOWN_EVERY_MS 1000 // spec: telemetry at most 1 Hz

static void port_connect(pons__port *p);
static void port_disconnect(pons__port *p, const char *why);
static void on_line(pons__port *p, const pons_value *json);
static void on_report(pons__port *p, const pons_report *r);
static void on_hello(pons__port *p, const pons_report *r);
static void on_telemetry(pons__port *p, const pons_report *r);
static void on_held(pons__port *p, const char *goal_id);
static void on_error(pons__port *p, const char *code, const char *message);
static void on_accepted(pons__body_goal *g, int state);
static void on_rejected(pons__body_goal *g, const char *code, const char *message);
static void on_status(pons__port *p, pons__body_goal *g, const pons_report_status *s);
static void on_feedback(pons__port *p, pons__body_goal *g, const pons_report *r);
static void show(pons__port *p, const char *ns, const char *event, const pons_report *r);
static void ask_about(pons__port *p, pons__body_goal *g);
static void send_about(pons__port *p, pons_message_type type, const char *goal_id);
static void goal_finish(pons__body_goal *g, const char *status, const pons_report_end *end);
static void goal_unknown(pons__body_goal *g, const char *why);
static void goal_free(pons__body_goal *g);
static void drop_finished(pons__port *p);
static void show_stop(pons__port *p, const pons_report_stop *stop);

void pons__port_init(pons__port *p, pons_brain *b)
{
    *p = (pons__port){.brain = b};
}

void pons__port_fini(pons__port *p)
{
    pons__heart_detach(&p->brain->heart);
    pons_link_close(p->link);
    pons_value_unref(p->hello);
    pons_report_clear(&p->greeting);
    pons_report_clear(&p->newest);
    for (pons__body_goal *g = p->goals; g;) {
        pons__body_goal *next = g->next;
        goal_free(g);
        g = next;
    }
    pons__port_waits_clear(p);
    *p = (pons__port){0};
}

int pons__port_load(pons__port *p, pons_error *err)
{
    const uint32_t open_states = 1U << PONS_EFFECT_DISPATCHED | 1U << PONS_EFFECT_ACCEPTED;
    pons_autovalue effects = NULL;
    int rc =
        pons_effects_read(p->brain->opts.store, p->brain->opts.thread, open_states, &effects, err);
    if (rc < 0) {
        return rc == PONS_ENOTFOUND ? PONS_OK : rc;
    }
    size_t i;
    json_t *e;
    json_array_foreach(effects, i, e)
    {
        pons__body_goal *g = pons__port_track(p, pons_get_str(e, "id", ""));
        const pons_value *details = pons_get(e, "details");
        const pons_value *tag = pons_get(e, "tag");
        const pons_message_goal goal = {.goal_id = g->id,
                                        .epoch = pons_get_int(details, "epoch", 0),
                                        .expires_ms = pons_get_int(details, "expires_ms", 0),
                                        .robot_id = pons_get_str(details, "robot_id", ""),
                                        .skill = pons_get_str(e, "skill", ""),
                                        .args = pons_get(e, "args"),
                                        .args_hash = pons_get_str(e, "args_hash", ""),
                                        .thread = p->brain->opts.thread,
                                        .task_id = pons_get_str(tag, "task_id", ""),
                                        .attempt = pons_get_int(e, "attempt", 1)};
        pons__port_keep(g, &goal, pons_get_str(details, "boot_id", ""));
        g->accepted = strcmp(pons_get_str(e, "state", ""), "accepted") == 0;
        g->recovering = true;
        g->old = true;
    }
    return PONS_OK;
}

int pons__port_poll(pons__port *p, pons_error *err)
{
    const int64_t now = pons_now_ns(&p->brain->opts.clock);
    int progressed = 0;
    if (!p->link && now >= p->retry_ns) {
        port_connect(p);
    }
    for (int n = 0; p->link && n < MESSAGES_PER_POLL; n++) {
        pons_autovalue msg = NULL;
        pons_error bad = PONS_ERROR_INIT;
        const int rc = pons_link_recv(p->link, &msg, &bad);
        if (rc == 0) {
            break;
        }
        if (rc > 0) {
            on_line(p, msg);
            progressed = 1;
        } else if (rc == PONS_EPROTOCOL && n + 1 < MESSAGES_PER_POLL) {
            pons_log(PONS_LOG_WARN, "link", "%s", bad.message);
        } else {
            port_disconnect(p, bad.message);
        }
    }
    p->looked_ns = pons_now_ns(&p->brain->opts.clock);
    if (p->link && pons_link_wants_write(p->link)) {
        pons_error ignored = PONS_ERROR_INIT;
        pons_link_flush(p->link, &ignored);
    }

    const int answered =
        pons__port_answer(p, err); // after all messages: a result waits behind no look
    return answered < 0 ? answered : progressed || answered;
}

void pons__port_bye(pons__port *p, bool stop_body)
{
    if (p->link) {
        pons__heart_detach(&p->brain->heart); // nothing comes after it
        pons__port_send(
            p, &(pons_message){.type = PONS_MESSAGE_BYE, .as.bye = {.stop_body = stop_body}});
    }
}

int pons__port_send(pons__port *p, const pons_message *m)
{
    pons_error err = PONS_ERROR_INIT;
    if (!p->link) {
        return PONS_ECLOSED;
    }
    const int rc = pons_message_send(p->link, m, &err);
    if (rc < 0) {
        port_disconnect(p, err.message);
    }
    return rc;
}

void pons__port_cancel(pons__port *p, const char *goal_id)
{
    send_about(p, PONS_MESSAGE_CANCEL, goal_id);
}

// Cancel, adopt, status.
static void send_about(pons__port *p, pons_message_type type, const char *goal_id)
{
    pons__port_send(
        p, &(pons_message){.type = type,
                           .as.about = {.goal_id = goal_id, .epoch = pons__port_epoch(p)}});
}

// Of its own: what goal points to may go.
void pons__port_keep(pons__body_goal *g, const pons_message_goal *goal, const char *boot_id)
{
    pons_autovalue json =
        pons_message_encode(&(pons_message){.type = PONS_MESSAGE_GOAL, .as.goal = *goal});
    pons_message_clear(&g->message);
    pons_message_decode(json, &g->message, NULL); // whether it is a good one, the body decides
    snprintf(g->boot_id, sizeof g->boot_id, "%s", boot_id);
}

pons__body_goal *pons__port_track(pons__port *p, const char *id)
{
    pons__body_goal *g = pons__port_goal(p, id);
    if (!g) {
        g = pons_need_zeroed(1, sizeof *g);
        snprintf(g->id, sizeof g->id, "%s", id);
        g->window_distance = -1.0;
        g->left_m = g->driven_m = NAN;
        g->next = p->goals;
        p->goals = g;
        drop_finished(p);
    }
    return g;
}

int64_t pons__port_next_due_ns(const pons__port *p)
{
    return p->link ? INT64_MAX : p->retry_ns;
}

// ---- connection ---------------------------------------------------------------------------------

static void port_connect(pons__port *p)
{
    pons_error err = PONS_ERROR_INIT;
    pons_brain *b = p->brain;
    int wait_ms = RETRY_FIRST_MS << (p->retries > 5 ? 5 : p->retries);
    if (wait_ms > RETRY_MAX_MS) {
        wait_ms = RETRY_MAX_MS;
    }
    p->retries++;
    p->retry_ns = pons_now_ns(&b->opts.clock) + wait_ms * PONS_NS_PER_MS;
    if (b->opts.connect(b->opts.user, &p->link, &err) < 0) {
        p->link = NULL;
        return;
    }
    pons__port_send(p, &(pons_message){.type = PONS_MESSAGE_HELLO,
                                       .as.hello = {.protocol = PONS_LINK_PROTOCOL,
                                                    .role = "controller",
                                                    .name = "pons run"}});
}

static void port_disconnect(pons__port *p, const char *why)
{
    if (!p->link) {
        return;
    }
    pons_log(PONS_LOG_INFO, "link", "the body is gone: %s", why);
    pons__heart_detach(&p->brain->heart);
    pons_link_close(p->link);
    p->link = NULL;
    p->ready = false;
    p->reset_sent = false;
    p->retries = 0;
    p->retry_ns = pons_now_ns(&p->brain->opts.clock) + RETRY_FIRST_MS * PONS_NS_PER_MS;
    for (pons__body_goal *g = p->goals; g; g = g->next) {
        g->recovering = !g->result;
    }
    p->brain->tick_now = true;
}

// ---- messages -----------------------------------------------------------------------------------

// A bad report is of no use, and no reason to let go of the body; nothing is done by it.
static void on_line(pons__port *p, const pons_value *json)
{
    pons_report r;
    pons_error bad = PONS_ERROR_INIT;
    const int rc = pons_report_decode(json, &r, &bad);
    if (rc == PONS_OK) {
        on_report(p, &r);
    } else {
        pons_log(rc == PONS_ENOTFOUND ? PONS_LOG_INFO : PONS_LOG_WARN, "link", "%s", bad.message);
    }
    pons_report_clear(&r);
}

static void on_report(pons__port *p, const pons_report *r)
{
    const char *id = pons_report_goal_id(r);
    pons__body_goal *g = *id ? pons__port_goal(p, id) : NULL;
    pons_error ignored = PONS_ERROR_INIT;
    switch (r->type) {
    case PONS_REPORT_TELEMETRY:
        on_telemetry(p, r);
        return;
    case PONS_REPORT_HELLO:
        on_hello(p, r);
        return;
    case PONS_REPORT_SPEAK:
        pons__event_now(p->brain, PONS_NS_REACT, &pons__spoken_record,
                        &(pons__spoken){.text = r->as.speak.text}, &ignored);
        return;
    case PONS_REPORT_ERROR:
        on_error(p, r->as.error.code, r->as.error.message);
        return;
    default:
        break;
    }
    if (!g) {
        return;
    }
    switch (r->type) {
    case PONS_REPORT_FEEDBACK:
        on_feedback(p, g, r);
        return;
    case PONS_REPORT_STATUS:
        on_status(p, g, &r->as.status);
        return;
    case PONS_REPORT_ACCEPTED:
    case PONS_REPORT_ADOPTED:
        on_accepted(g, r->as.answer.state);
        return;
    case PONS_REPORT_REJECTED:
        on_rejected(g, r->as.rejected.code, r->as.rejected.message);
        return;
    case PONS_REPORT_RESULT:
        goal_finish(g, pons_goal_states[r->as.result.status], &r->as.result.end);
        p->brain->tick_now = true; // it is judged by the world as it is now, not a tick ago
        return;
    default:
        return;
    }
}

static void on_error(pons__port *p, const char *code, const char *message)
{
    pons_log(p->ready ? PONS_LOG_WARN : PONS_LOG_INFO, "link", "the body says %s: %s", code,
             message);
    if (!p->ready) { // it has another controller: wait for it to go
        const int64_t now_ms = pons_now_ms(&p->brain->opts.clock);
        p->busy_since_ms = p->busy_since_ms ? p->busy_since_ms : now_ms;
        snprintf(p->busy, sizeof p->busy, "%s", *message ? message : code);
        port_disconnect(p, p->busy);
        p->retry_ns = pons_now_ns(&p->brain->opts.clock) + RETRY_MAX_MS * PONS_NS_PER_MS;
    }
}

static void on_accepted(pons__body_goal *g, int state)
{
    g->accepted = true;
    g->recovering = false;
    if (!g->accept) {
        g->accept =
            pons__record_write(&pons__word_record, &(pons__word){.state = pons_goal_states[state]});
    }
}

static void on_rejected(pons__body_goal *g, const char *code, const char *message)
{
    g->recovering = false;
    pons_value_unref(g->accept);
    g->accept = pons__word_rejected(code, message);
    if (!g->result) { // nothing more will come of it, and it must never be sent again
        g->result = pons_value_ref(g->accept);
    }
}

static void on_hello(pons__port *p, const pons_report *r)
{
    pons_value_unref(p->hello);
    pons_report_clear(&p->greeting);
    p->greeting = pons_report_share(r);
    p->hello = pons__with(r->held, "skills", pons__door_skills(p->brain, r->as.hello.skills));
    p->greeting.as.hello.skills = pons_get(p->hello, "skills");
    p->ready = true;
    pons__heart_attach(&p->brain->heart, p->link);
    p->busy_since_ms = 0;
    p->retries = 0;
    if (p->brain->heard) {
        pons__port_heard(p);
    }
    p->brain->tick_now = true;
}

void pons__port_heard(pons__port *p)
{
    for (pons__body_goal *g = p->goals; g; g = g->next) {
        if (!g->result) {
            ask_about(p, g);
        }
    }
}

static void on_telemetry(pons__port *p, const pons_report *r)
{
    pons_brain *b = p->brain;
    const pons_report_telemetry *t = &r->as.telemetry;
    pons_report_clear(&p->newest);
    p->newest = pons_report_share(r);
    p->telemetry = r->held;
    p->telemetry_ns = pons_now_ns(&b->opts.clock);
    if (t->stop.latched != p->latched) {
        show_stop(p, &t->stop);
    }
    b->tick_now = b->tick_now || t->collision_risk != (b->seen && b->seen->collision_risk);
    // The latch of an unclean boot lifts itself in simulation when the rules say so.
    if (p->latched && !p->reset_sent && p->ready && pons__latch_lifts_itself(b)) {
        p->reset_sent = true;
        pons__port_send(
            p, &(pons_message){.type = PONS_MESSAGE_RESET, .as.reset = {.automatic = true}});
    }
    if (t->goal.state == PONS_GOAL_HELD) {
        on_held(p, t->goal.goal_id);
    }
    if (p->telemetry_ns - p->telemetry_shown_ns >= TELEMETRY_SHOWN_EVERY_MS * PONS_NS_PER_MS) {
        p->telemetry_shown_ns = p->telemetry_ns;
        show(p, PONS_NS_KERNEL, "telemetry", r);
    }
}

// After a pause of this process the body holds a goal that is still ours: take it up again.
static void on_held(pons__port *p, const char *goal_id)
{
    pons__body_goal *g = pons__port_goal(p, goal_id);
    if (g && !g->recovering && !g->result) {
        ask_about(p, g);
    } else if (!g && p->ready) {
        // Held for a brain that is gone, and this one is in control now: let go of it. When
        // that brain comes back, the ledger tells it that the goal was canceled.
        pons__port_cancel(p, goal_id);
    }
}

// As it came, for who watches.
static void show(pons__port *p, const char *ns, const char *event, const pons_report *r)
{
    pons_value *shown = json_copy((json_t *)r->held);
    json_object_del(shown, "type");
    pons_thread_emit_live(p->brain->thread, ns, event, shown);
}

static void show_stop(pons__port *p, const pons_report_stop *stop)
{
    pons_error err = PONS_ERROR_INIT;
    p->latched = stop->latched;
    p->reset_sent = p->latched && p->reset_sent;
    p->brain->tick_now = true;
    pons__event_now(p->brain, PONS_NS_KERNEL, &pons__stop_told_record,
                    &(pons__stop_told){.latched = p->latched, .reason = stop->reason}, &err);
}

static void on_feedback(pons__port *p, pons__body_goal *g, const pons_report *r)
{
    pons_value_unref(g->feedback);
    g->feedback = pons_value_ref(r->held);

    // Progress: the remaining distance must change by no_progress_m within no_progress_s.
    const pons__rules_kernel *rules = &p->brain->rules;
    const int64_t robot_ms = r->as.feedback.robot_ms;
    const double d = r->as.feedback.distance_remaining_m;
    g->left_m = d;
    g->driven_m = r->as.feedback.distance_m;
    if (isnan(d)) {
        g->window_distance = -1.0; // no way is followed now (a recovery): nothing to measure
    } else if (g->window_distance < 0.0 || fabs(d - g->window_distance) >= rules->no_progress_m) {
        g->window_distance = d;
        g->window_robot_ms = robot_ms;
    } else if ((double)(robot_ms - g->window_robot_ms) >= rules->no_progress_s * 1e3) {
        g->no_progress = true;
        g->window_robot_ms = robot_ms; // say it again only after another such time
    }
    const int64_t now_ms = pons_now_ms(&p->brain->opts.clock);
    if (now_ms - p->feedback_shown_ms >= FEEDBACK_SHOWN_EVERY_MS) {
        p->feedback_shown_ms = now_ms;
        show(p, PONS_NS_REACT, "skill.feedback", r);
    }
}

static void on_status(pons__port *p, pons__body_goal *g, const pons_report_status *s)
{
    if (g->result) {
        return;
    }
    if (s->known) {
        if (pons_goal_over((pons_goal_state)s->state)) {
            goal_finish(g, pons_goal_states[s->state], &s->end);
        } else if (s->same_boot && pons__stands(p->brain->tasks)) {
            // A stop or a pause was said meanwhile: it is not set in motion again for a moment.
            g->recovering = false;
            g->accepted = true;
            pons__port_cancel(p, g->id);
        } else if (s->same_boot) {
            send_about(p, PONS_MESSAGE_ADOPT, g->id);
            g->recovering = false;
        } else {
            goal_unknown(g, "the body restarted while the goal was under way");
        }
        return;
    }
    const int64_t boot_ms = p->brain->opts.clock.boot_ns(p->brain->opts.clock.ctx) / PONS_NS_PER_MS;
    if (!g->accepted && strcmp(pons__port_boot(p), g->boot_id) == 0 &&
        boot_ms < g->message.as.goal.expires_ms) {
        pons_message again = g->message;
        again.as.goal.epoch = pons__port_epoch(p);
        g->recovering = false;
        pons_autovalue broken = pons__guard_now(p->brain, &g->message.as.goal);
        if (json_array_size(broken) > 0) { // much has happened since: it was never started
            pons__port_refuse(g, pons_get_str(json_array_get(broken, 0), "message", ""));
            return;
        }
        pons__port_send(p, &again);
        return;
    }
    goal_unknown(g, "the body does not know the goal");
}

void pons__port_refuse(pons__body_goal *g, const char *why)
{
    if (!g->result) {
        pons_value_unref(g->accept);
        g->accept = pons__word_rejected(PONS__REARBITRATED, why);
        g->result = pons_value_ref(g->accept);
    }
}

static void ask_about(pons__port *p, pons__body_goal *g)
{
    g->recovering = true;
    send_about(p, PONS_MESSAGE_STATUS, g->id);
}

// ---- goals --------------------------------------------------------------------------------------

// status: done, failed, canceled or outcome_unknown.
static void goal_finish(pons__body_goal *g, const char *status, const pons_report_end *end)
{
    if (!g->result) {
        pons_autovalue none = json_object();
        g->result = pons__record_write(
            &pons__ended_record, &(pons__ended){.goal_id = g->id,
                                                .status = status,
                                                .error_code = end->error_code,
                                                .error_msg = end->error_msg,
                                                .metrics = end->metrics ? end->metrics : none});
    }
    g->recovering = false;
    if (!g->accept) {
        g->accept = pons_value_ref(g->result);
    }
}

static void goal_unknown(pons__body_goal *g, const char *why)
{
    goal_finish(g, pons__end_words[PONS_END_UNKNOWN], &(pons_report_end){.error_msg = why});
}

// The list is newest first: what is finished and beyond the count is old enough to forget.
static void drop_finished(pons__port *p)
{
    int finished = 0;
    for (pons__body_goal **at = &p->goals; *at;) {
        pons__body_goal *g = *at;
        if (g->result && ++finished > FINISHED_GOALS_KEPT) {
            *at = g->next;
            goal_free(g);
        } else {
            at = &g->next;
        }
    }
}

static void goal_free(pons__body_goal *g)
{
    pons_message_clear(&g->message);
    pons_value_unref(g->accept);
    pons_value_unref(g->result);
    pons_value_unref(g->feedback);
    free(g);
}
