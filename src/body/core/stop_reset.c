// stop_reset.c - stop and reset over a link: each is answered when what it says has happened; and
// set_pose, by which a person tells a robot that has lost itself where it is; steer, a person's hand; and
// pace, by which a person takes a part of every speed limit away.
//
//   stop  -> gate: zero is written -> stopped -> disk -> latched
//                                                 +-fails-> unsaved{message}, once; latched later
//   reset -> ledger: reset -> gate -> disk: not latched -> gate: free -> ok
//                               |        +- 2 s -> taken back, error{unsaved}
//                               +- another stop came -> error{latched}
//   pace  -> ledger: pace -> gate: slower at once -> disk -> ok, and faster
//                                                      +-fails-> error{unsaved}; what is faster is taken back
//
// The answers wait with their clients and are looked after in each poll. The ledger is a second
// witness of the latch: a line when a stop latched, a line before a reset goes to the gate, so that
// whatever the state file says, a stop that no reset followed latches the next boot.
#include "body/core/stop_reset.h"

#include "body/core/body.h"
#include "body/core/gate_command.h"
#include "body/core/goal_reports.h"
#include "body/core/link_clients.h"
#include "body/core/pose_estimate.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define NOTE_RETRY_NS PONS_NS_PER_S // host time

// ---- stop ---------------------------------------------------------------------------------------

static void answer_stops(pons_body *b, pons__client *c)
{
    if (c->stops > 0 && b->safety.stops_seen >= c->stop_seq) {
        c->latch_gen = b->safety.gen;
        c->reported_unsaved = false;
        for (; c->stops > 0; c->stops--) {
            pons__client_say(c, &(pons_report){.type = PONS_REPORT_STOPPED});
            c->latches++;
        }
    }
    if (c->latches > 0 && b->safety.saved_gen < c->latch_gen && b->safety.unsaved[0] &&
        !c->reported_unsaved) {
        c->reported_unsaved = true;
        pons__client_say(c, &(pons_report){.type = PONS_REPORT_UNSAVED,
                                           .as.unsaved = {.message = b->safety.unsaved}});
    }
    while (c->latches > 0 && b->safety.saved_gen >= c->latch_gen) {
        c->latches--;
        pons__client_say(c, &(pons_report){.type = PONS_REPORT_LATCHED});
    }
}

// ---- small --------------------------------------------------------------------------------------

static int witness(pons_body *b, pons_ledger_kind kind, pons_error *err)
{
    const pons_ledger_note note = {.kind = kind,
                                   .origin = pons__origin_word(b->safety.origin),
                                   .reason = b->safety.reason,
                                   .boot_id = b->boot_id,
                                   .ts_ms = pons_wall_ms(&b->clock)};
    return pons__ledger_note(b->ledger, &note, err);
}

// ---- reset --------------------------------------------------------------------------------------

// It has closed its end; who has only said all that it has to say still reads.
static bool gone(const pons__client *c)
{
    struct pollfd end = {.fd = pons_link_fd(c->link)};
    return end.fd >= 0 && poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)) != 0;
}

// Once the gate has seen the stops that were sent before it.
static void send_reset(pons_body *b, pons__client *c)
{
    if (!c->resets || c->reset_sent || b->cmd.stop_count != b->safety.stops_seen) {
        return;
    }
    pons__note_latch(b);
    if (pons__ledger_witness(b->ledger)->latched) {
        pons_error err = PONS_ERROR_INIT;
        if (witness(b, PONS_LEDGER_RESET, &err) < 0) {
            c->resets = false;
            pons__client_error(c, "reset", "unsaved", "the reset cannot be recorded: %s: %s",
                               err.message, err.cause);
            return;
        }
    }
    b->cmd.reset_count++;
    b->cmd.reset_latch = c->reset_latch;
    b->cmd.reset_goal_seq = b->goal_seq;
    c->reset_sent = true;
    c->reset_seq = b->cmd.reset_count;
    pons__body_send_command(b);
}

// No latch has the number 0: the gate drops the reset that it has, and the ledger is told.
static void take_back(pons_body *b)
{
    b->cmd.reset_count++;
    b->cmd.reset_latch = 0;
    pons__body_send_command(b);
    b->noted_latch = 0;
    pons__note_latch(b);
}

static void answer_reset(pons_body *b, pons__client *c)
{
    if (!c->resets || !c->reset_sent || b->safety.resets_seen < c->reset_seq) {
        if (c->resets && b->host_ns > c->reset_until_ns) {
            c->resets = false;
            pons__client_error(c, "reset", "busy", "the gate does not answer");
        }
        return;
    }
    if (!b->safety.latched) {
        b->note[0] = '\0';
        pons__client_say(c, &(pons_report){.type = PONS_REPORT_OK, .as.ok = {.re = "reset"}});
    } else if (b->safety.latch_count != c->reset_latch) {
        pons__client_error(c, "reset", "latched", "another stop came: %s", b->safety.reason);
    } else if (b->host_ns > c->reset_until_ns) {
        pons__client_error(c, "reset", "unsaved", "the reset cannot be saved, the latch stays: %s",
                           b->safety.unsaved);
        take_back(b);
    } else {
        return;
    }
    c->resets = false;
}

// ---- pace ---------------------------------------------------------------------------------------

__attribute__((format(printf, 4, 5))) static void
refuse_pace(pons__client *c, int taken, const char *code, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_ERROR,
                                       .as.error = {code, text, "pace", 100 - taken}});
}

static void want_pace(pons_body *b, int taken_pct)
{
    b->cmd.taken_pct = taken_pct;
    b->cmd.pace_count++;
    pons__body_send_command(b);
}

// The ledger's witness of a pace.
static int note_pace(pons_body *b, int taken_pct, pons_error *err)
{
    const pons_ledger_note note = {.kind = PONS_LEDGER_PACE,
                                   .percent = 100 - taken_pct,
                                   .boot_id = b->boot_id,
                                   .ts_ms = pons_wall_ms(&b->clock)};
    const int last = pons__ledger_pace(b->ledger);
    return note.percent == (last ? last : 100) ? PONS_OK : pons__ledger_note(b->ledger, &note, err);
}

// The ledger had its line before the gate heard of a pace, so it differs where one was taken back, or where it
// had no room for the line.
static void tell_pace(pons_body *b)
{
    if (b->host_ns >= b->pace_retry_ns && note_pace(b, b->cmd.taken_pct, NULL) < 0) {
        b->pace_retry_ns = b->host_ns + NOTE_RETRY_NS;
    }
}

// What is faster, and is not on the disk, is wanted no more. The file's word goes before the ledger's, which
// is told when it can be.
static void stay_slow(pons_body *b)
{
    want_pace(b, b->safety.taken_pct);
    b->pace_retry_ns = b->host_ns;
    tell_pace(b);
}

static void answer_pace(pons_body *b, pons__client *c)
{
    const pons__safety_status *s = &b->safety;
    if (!c->paces) {
        return;
    }
    // Of the same number there may have been one before, which the gate has seen.
    const bool seen = s->paces_seen >= c->pace_seq, late = b->host_ns > c->pace_until_ns;
    if (b->cmd.taken_pct != c->pace_taken) {
        refuse_pace(c, c->pace_taken, "changed", "another pace came: %d %% of every speed limit",
                    100 - b->cmd.taken_pct);
    } else if (seen && s->taken_pct == c->pace_taken && s->saved_gen == s->gen) {
        pons__client_say(
            c, &(pons_report){.type = PONS_REPORT_OK, .as.ok = {"pace", 100 - c->pace_taken}});
    } else if (seen && (s->unsaved[0] || late)) {
        const bool slower = s->taken_pct == c->pace_taken;
        refuse_pace(c, c->pace_taken, "unsaved",
                    slower ? "it is slower now, which is not saved yet: %s"
                           : "it does not become faster, as that cannot be saved: %s",
                    s->unsaved[0] ? s->unsaved : "the disk does not answer");
        if (!slower) {
            stay_slow(b);
        }
    } else if (late) {
        refuse_pace(c, c->pace_taken, "busy", "the gate does not answer");
    } else {
        return;
    }
    c->paces = false;
}

// ---- public functions ---------------------------------------------------------------------------

// The socket's mode admits its owner only. But a mode can be changed and a descriptor passed on, so
// the kernel is asked which user connected.
bool pons__client_may_reset(const pons_body *b, const pons__client *c)
{
    return b->controller == c || pons_link_peer_uid(c->link) == (int64_t)geteuid();
}

// Whatever is wrong with its reason, a stop is a stop.
void pons__stop_asked(pons_body *b, pons__client *c, const pons_message *msg)
{
    pons__body_stop_request(b, PONS__ORIGIN_STOP, msg->as.stop.reason);
    c->stops++;
    c->own_stops++;
    c->stop_seq = b->cmd.stop_count;
    answer_stops(b, c);
}

// It lifts the latch that was in force when all that its sender had said was read, and what its sender has stopped
// since. A body that stood still may read it long after its sender has given up, and was told that nothing
// answered: that lifts nothing.
void pons__reset_asked(pons_body *b, pons__client *c, const pons_message *msg)
{
    b->safety = *pons__gate_status(&b->guard);
    if (!pons__client_may_reset(b, c)) {
        pons__client_error(c, "reset", "not_permitted",
                           "a reset needs the controller, or the user that the body runs as");
        return;
    }
    if (gone(c)) {
        return;
    }
    // A stop that is on its way to the gate makes a boot's latch somebody's.
    const bool somebodys =
        b->safety.origin != PONS__ORIGIN_BOOT || b->cmd.stop_count != b->safety.stops_seen;
    if (msg->as.reset.automatic && pons__body_latched(b) && somebodys) {
        pons__client_error(c, "reset", "latched", "only a person lifts this latch: %s",
                           b->safety.reason);
        return;
    }
    const uint64_t number = pons__body_latch_number(b);
    // A reset without a number, and meanwhile another's stop: nobody knows which was said first.
    const uint64_t meant =
        msg->as.reset.number != 0 ? (uint64_t)msg->as.reset.number : c->seen_latch + c->own_stops;
    if (meant != number) {
        pons__client_error(c, "reset", "latched", "another stop came: %s", b->safety.reason);
        return;
    }
    c->resets = true;
    c->reset_sent = false;
    c->reset_latch = number;
    c->reset_until_ns = b->host_ns + PONS__RESET_NS;
    send_reset(b, c);
    answer_reset(b, c);
}

// Only what may be: in the map, and where the robot has room by the map. Whether it is true, the
// scans say.
void pons__pose_reported(pons_body *b, pons__client *c, const pons_message *msg)
{
    const pons_pose2 at = {msg->as.set_pose.x, msg->as.set_pose.y,
                           pons_wrap_angle(msg->as.set_pose.yaw)};
    if (!pons__client_may_reset(b, c)) {
        pons__client_error(c, "set_pose", "not_permitted",
                           "set_pose needs the controller, or the user that the body runs as");
    } else if (!isfinite(at.x + at.y + at.yaw) ||
               !(pons__costmap_clearance(b->grid, at.x, at.y) > 0.0)) {
        pons__client_error(c, "set_pose", "bad_args",
                           "(%.2f, %.2f) is outside the map or in a wall", at.x, at.y);
    } else {
        pons__place_reported(b, at);
        pons__client_say(c, &(pons_report){.type = PONS_REPORT_OK, .as.ok = {.re = "set_pose"}});
    }
}

// Only while a goal of drive_by_hand runs, which a brain has sent like any other; nothing is answered
// to what is obeyed, for it comes ten times a second.
void pons__steered(pons_body *b, pons__client *c, const pons_message *msg)
{
    const pons__goal *base = pons__goal_base(b);
    if (!pons__client_may_reset(b, c)) {
        pons__client_error(c, "steer", "not_permitted",
                           "steer needs the controller, or the user that the body runs as");
    } else if (!base || base->skill != &pons__skill_by_hand || base->state == PONS_GOAL_HELD) {
        pons__client_error(c, "steer", "not_by_hand", "no goal of drive_by_hand runs");
    } else {
        b->steer.v = isnan(msg->as.steer.v) ? 0.0 : msg->as.steer.v;
        b->steer.w = isnan(msg->as.steer.w) ? 0.0 : msg->as.steer.w;
        b->steer.let_go = msg->as.steer.let_go;
        b->steer.n++;
        b->steer_host_ns = b->host_ns;
    }
}

// Slower holds at once, faster when it is on the disk (the gate sees to both): ok comes when either is so.
void pons__pace_asked(pons_body *b, pons__client *c, const pons_message *msg)
{
    const int taken = 100 - (int)msg->as.pace.percent, wanted = b->cmd.taken_pct;
    // What is wanted may be faster than what is in force, until it is saved; slower it is in force already.
    const int now = wanted > b->safety.taken_pct ? wanted : b->safety.taken_pct;
    const int64_t from = msg->as.pace.from;
    pons_error err = PONS_ERROR_INIT;
    if (!pons__client_may_reset(b, c)) {
        refuse_pace(c, taken, "not_permitted",
                    "pace needs the controller, or the user that the body runs as");
        return;
    }
    if (taken < wanted && from != 0 && from != 100 - now) {
        refuse_pace(c, taken, "changed", "another pace came: %d %% of every speed limit",
                    100 - now);
        return;
    }
    const int rc = note_pace(b, taken, &err);
    if (rc < 0 && taken < wanted) {
        refuse_pace(c, taken, "unsaved", "it stays at %d %%, as that cannot be saved: %s: %s",
                    100 - now, err.message, err.cause);
        return;
    }
    if (c->paces) { // whatever became of it, this one goes before it
        refuse_pace(c, c->pace_taken, "changed", "another pace came: %d %% of every speed limit",
                    100 - taken);
        c->paces = false;
    }
    want_pace(b, taken);
    if (rc < 0) {
        refuse_pace(c, taken, "unsaved",
                    "it is no faster than that now, which is not saved: %s: %s", err.message,
                    err.cause);
        return;
    }
    c->paces = true;
    c->pace_seq = b->cmd.pace_count;
    c->pace_taken = taken;
    c->pace_until_ns = b->pace_until_ns = b->host_ns + PONS__RESET_NS;
    answer_pace(b, c);
}

void pons__requests_step(pons_body *b)
{
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        if (!c->link || c->gone) {
            continue;
        }
        answer_stops(b, c);
        send_reset(b, c);
        answer_reset(b, c);
        answer_pace(b, c);
    }
    if (b->cmd.taken_pct < b->safety.taken_pct && b->host_ns > b->pace_until_ns) {
        stay_slow(b); // also when who asked is gone: nobody would hear that it is saved after all
    }
    tell_pace(b);
}

bool pons__requests_owed(const pons__client *c)
{
    return c->stops > 0 || c->latches > 0 || c->resets || c->paces;
}

void pons__note_latch(pons_body *b)
{
    if (b->safety.latch_count == b->noted_latch || b->host_ns < b->note_retry_ns) {
        return;
    }
    const pons__witness *w = pons__ledger_witness(b->ledger);
    // One line says it; of a flood of stops the others add nothing.
    if (!w->latched && witness(b, PONS_LEDGER_LATCH, NULL) < 0) {
        b->note_retry_ns = b->host_ns + NOTE_RETRY_NS;
        return;
    }
    b->noted_latch = b->safety.latch_count;
}
