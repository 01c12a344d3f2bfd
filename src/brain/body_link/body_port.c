// body_port.c - the brain's end of the body link.
//
// The port keeps one controller connection, follows every goal that is out, and tells the inner loop of
// them (body_port_awaits.c).
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
#include "brain/body_link/body_port.h"

#include "brain/body_link/heartbeat.h"
#include "brain/body_link/speed_request.h"
#include "brain/critic/critic_check.h"
#include "brain/records/await_fields.h"
#include "brain/records/effect_fields.h"
#include "brain/records/event_fields.h"
#include "brain/state/self.h"
#include "pons/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MESSAGES_PER_POLL        256
#define FEEDBACK_SHOWN_EVERY_MS  500  // spec: skill.feedback at most 2 Hz
#define TELEMETRY_SHOWN_EVERY_MS 1000 // spec: telemetry at most 1 Hz

// ---- messages -----------------------------------------------------------------------------------

static void on_error(pons__port *p, const char *code, const char *message)
{
    pons_log(p->ready ? PONS_LOG_WARN : PONS_LOG_INFO, "link", "the body says %s: %s", code,
             message);
    if (!p->ready) { // it has another controller: wait for it to go
        const int64_t now_ms = pons_now_ms(&p->brain->opts.clock);
        p->busy_since_ms = p->busy_since_ms ? p->busy_since_ms : now_ms;
        snprintf(p->busy, sizeof p->busy, "%s", *message ? message : code);
        pons__port_disconnect(p, p->busy);
        pons__port_rest(p);
    }
}

static void on_accepted(pons__body_goal *g, int state)
{
    g->accepted = true;
    g->recovering = false;
    if (!g->accept) {
        g->accept = PONS__WRITE(word, .state = pons_goal_states[state]);
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

// A name that no skill of this body has holds nothing back: the skill that was meant would run unasked.
static void tell_doubts(pons__port *p)
{
    uint64_t doubts = 0; // by their place, as far as 64
    pons_each(name, p->brain->rules.approval_skills) {
        doubts |= pons__skill(p->brain, json_string_value(name)) ? 0 : (uint64_t)1 << name_at % 64;
    }
    const bool await_answer = doubts != p->doubts;
    p->doubts = doubts;
    pons_each(name, p->brain->rules.approval_skills) {
        char path[48], message[PONS_NAME_MAX + 96];
        pons_error ignored = PONS_ERROR_INIT;
        if (!await_answer || pons__skill(p->brain, json_string_value(name))) {
            continue;
        }
        snprintf(path, sizeof path, "approval.skills[%zu]", name_at);
        snprintf(message, sizeof message, "this robot has no skill '%.64s': nothing asks for it",
                 json_string_value(name));
        pons_log(PONS_LOG_WARN, "brain", "%s: %s", path, message);
        pons__event_now(p->brain, PONS_NS_KERNEL, &pons__config_doubt_record,
                        &(pons__config_doubt){.path = path, .message = message}, &ignored);
    }
}

static void on_hello(pons__port *p, const pons_report *r)
{
    const bool anew = p->ready; // a hello after names have changed: effects in flight continue
    pons_value_unref(p->hello);
    pons_report_clear(&p->greeting);
    p->greeting = pons_report_share(r);
    p->hello = pons__with(r->held, "skills", pons__door_skills(p->brain, r->as.hello.skills));
    p->greeting.as.hello.skills = pons_get(p->hello, "skills");
    pons__registry_read(p->greeting.as.hello.skills, &p->skills);
    pons__list_read(&pons__zone_record, pons_get(r->as.hello.world, "zones"), &p->zones);
    p->ready = true;
    tell_doubts(p);
    p->brain->tick_now = true;
    if (anew) {
        return;
    }
    pons__heart_attach(&p->brain->heart, p->link);
    p->busy_since_ms = 0;
    p->retries = 0;
    if (p->brain->received) {
        pons__port_inbox_read(p);
    }
}

static void ask_about(pons__port *p, pons__body_goal *g)
{
    g->recovering = true;
    pons__port_about(p, PONS_MESSAGE_STATUS, g->id);
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
    pons__event_now(p->brain, PONS_NS_KERNEL, &pons__stop_reported_record,
                    &(pons__stop_reported){.latched = p->latched, .reason = stop->reason}, &err);
}

static void on_telemetry(pons__port *p, const pons_report *r)
{
    pons_brain *b = p->brain;
    const pons_report_telemetry *t = &r->as.telemetry;
    pons_report_clear(&p->newest);
    p->newest = pons_report_share(r);
    p->telemetry = r->held;
    b->speed_request.taken = 0; // this is newer than what the body has taken
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
    g->remaining = isfinite(r->as.feedback.remaining) ? r->as.feedback.remaining : g->remaining;
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
            pons__goal_finish(g, pons_goal_states[s->state], &s->end);
        } else if (s->same_boot && pons__stands(p->brain->tasks)) {
            // A stop or a pause was said meanwhile: it is not set in motion again for a moment.
            g->recovering = false;
            g->accepted = true;
            pons__port_cancel(p, g->id);
        } else if (s->same_boot) {
            pons__port_about(p, PONS_MESSAGE_ADOPT, g->id);
            g->recovering = false;
        } else {
            pons__goal_unknown(g, "the body restarted while the goal was under way");
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
    pons__goal_unknown(g, "the body does not know the goal");
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
        if (strcmp(r->as.error.re, "pace") == 0) {
            pons__speed_request_answered(p->brain, r->as.error.percent, r->as.error.code,
                                         r->as.error.message);
        }
        return;
    case PONS_REPORT_OK:
        if (strcmp(r->as.ok.re, "pace") == 0) {
            pons__speed_request_answered(p->brain, r->as.ok.percent, NULL, "");
        }
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
        pons__goal_finish(g, pons_goal_states[r->as.result.status], &r->as.result.end);
        p->brain->tick_now = true; // it is judged by the world as it is now, not a tick ago
        return;
    default:
        return;
    }
}

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

void pons__port_inbox_read(pons__port *p)
{
    for (pons__body_goal *g = p->goals; g; g = g->next) {
        if (!g->result) {
            ask_about(p, g);
        }
    }
}

void pons__port_init(pons__port *p, pons_brain *b)
{
    *p = (pons__port){.brain = b};
}

void pons__port_fini(pons__port *p)
{
    pons__heart_detach(&p->brain->heart);
    pons_link_close(p->link);
    pons_value_unref(p->hello);
    pons__list_clear(&pons__registered_record, &p->skills);
    pons__list_clear(&pons__zone_record, &p->zones);
    pons_report_clear(&p->greeting);
    pons_report_clear(&p->newest);
    pons__goals_clear(p);
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
    pons_each(e, effects) {
        PONS__AUTO(effect) effect = pons__record_read(&pons__effect_record, e);
        pons__body_goal *g = pons__port_track(p, effect->id);
        const pons_message_goal goal = pons__effect_goal(effect, p->brain->opts.thread);
        pons__port_keep(g, &goal, effect->details ? effect->details->boot_id : "");
        g->accepted = strcmp(effect->state, pons_effect_state_word(PONS_EFFECT_ACCEPTED)) == 0;
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
        pons__port_connect(p);
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
            pons__port_disconnect(p, bad.message);
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

int64_t pons__port_next_due_ns(const pons__port *p)
{
    return p->link ? INT64_MAX : p->retry_ns;
}
