// stop_state.c - what a protective stop leaves behind in the kernel: a reset permits motion, and starts
// none.
//
// The body latches; the brain remembers. From the moment at which somebody said stop, or a latch was
// seen, `tasks.stopped` is an object, stored with the step that made it:
//
//     {reason, wanted, reset, reset_boot, reset_number, released_ms}
//
//     wanted       said here, not yet seen latched: the loop sends `stop` until the body's telemetry
//                  says so, over reconnects and lives of the brain
//     reset        a person said reset since
//     reset_boot, reset_number
//                  the latch that this meant, which the body has numbered, and whoever posted the word has seen:
//                  the loop sends `reset` for it until the telemetry shows it lifted, over lives of the brain;
//                  never for another latch, so a stop that came later stays, also one that came before the
//                  word was heard
//     released_ms  wall: a person let it go on (continue, resume), and the telemetry that shows the
//                  latch lifted is still to come; 0: not yet
//
//                  stop, a latch                reset               continue, resume
//        nothing ---------------> SAFE, latched -----> IDLE, waits ----------------> nothing
//                                       ^  a stop             |
//                                       +---------------------+
//
// While it is an object no goal but stop_base leaves the brain: not of a task, not for the battery.
// A stop that came and was lifted while the brain hung, was dead, or between two lines of telemetry is seen by the
// body's number, which has risen (`tasks.seen_number`): it stands for `stop`, reset, and waits as well.
// A `continue` that was said before the reset is none. The latch of an unclean boot that lifts itself
// (auto_reset: sim) is nobody's stop, and leaves nothing.
#include "brain/kernel/stop_state.h"

#include "brain/body_link/body_port.h"
#include "brain/body_link/telemetry_sync.h"
#include "brain/state/self.h"

#include <string.h>

#define STOP_AGAIN_MS 200 // host time between two stops that are sent for one word
#define STOP_SEEN_MS  150 // after which telemetry has the number of the last: three times its period
#define RESET_AGAIN_MS                                                                             \
    3000             // between two resets for one word: the body takes two seconds to give up
#define STALE_MS 500 // telemetry that is this much younger than a release is not stale

static const char LIFTED[] = "a stop that was lifted again"; // before it was seen

// The newest telemetry is of a body before the one that is there, or none is there.
static bool telemetry_is_old(const pons_brain *b)
{
    return !b->port.ready ||
           strcmp(pons__port_boot(&b->port), b->port.newest.as.telemetry.boot_id) != 0;
}

// What a letter's look at the body is of, beside the newest telemetry.
static enum {
    OF_NOBODY,
    OF_BEFORE,
    OF_NOW,
    OF_LATER
} inbox_message_of(const pons_brain *b, const pons__said *said)
{
    const pons_report_telemetry *now = &b->port.newest.as.telemetry;
    if (!*said->stop_boot || !b->port.telemetry) {
        return OF_NOBODY;
    }
    if (strcmp(said->stop_boot, now->boot_id) !=
        0) { // a body that is gone, or one that is not heard yet
        return telemetry_is_old(b) ? OF_NOBODY : OF_BEFORE;
    }
    return said->stop_number < now->stop.number   ? OF_BEFORE
           : said->stop_number > now->stop.number ? OF_LATER
                                                  : OF_NOW;
}

bool pons__stopped_since(const pons_brain *b, const pons__said *said)
{
    const int of = inbox_message_of(b, said);
    return of == OF_BEFORE || (of != OF_NOBODY && said->stop_latched);
}

static pons__stopped *fresh(pons__tasks *t, const char *reason, bool wanted)
{
    pons__stopped *s = pons__record_new(&pons__stopped_record);
    pons__set_text(&s->reason, reason);
    s->wanted = wanted;
    pons__record_free(&pons__stopped_record, t->stopped);
    t->stopped = s;
    t->changed = true;
    return s;
}

// A latch that telemetry shows may be one that is being lifted: it is this stop's only where whoever posted the word
// has stopped the body first. Who has seen that latched as well needs no other one, also if it is lifted by now; what
// somebody else has said, and nobody has sent yet, is sent all the same.
void pons__stopped_say(pons_brain *b, pons__tasks *t, const pons__said *said, const char *reason)
{
    const bool owed = t->stopped && t->stopped->wanted;
    const bool sent = said->stop_sent && (said->stop_latched || pons__latched(b));
    b->stop_sent_ms = b->reset_sent_ms = 0;
    fresh(t, reason, owed || !sent);
}

// Results of this activation that are still to come are of the stop that is over.
static void let_go(pons__tasks *t)
{
    t->let_go = t->react->activation;
    pons__record_free(&pons__stopped_record, t->stopped);
    t->stopped = NULL;
    t->changed = true;
}

// A goal ended by a stop that may have been lifted again before any telemetry showed it.
void pons__stopped_hear(pons__tasks *t, int64_t activation, const char *reason)
{
    if (!t->stopped && activation > t->let_go) {
        fresh(t, reason, false);
    }
}

static void bind_reset(pons__tasks *t, const char *boot, int64_t number)
{
    pons__set_text(&t->stopped->reset_boot, boot);
    t->stopped->reset_number = number;
    t->changed = true;
}

// What was said is latched now; what was said after it comes next.
static void seen(pons_brain *b, pons_cx *cx, pons__tasks *t)
{
    t->stopped->wanted = false;
    t->changed = true;
    if (t->stopped->reset) {
        const pons_report_telemetry *now = &b->port.newest.as.telemetry;
        bind_reset(t, now->boot_id, now->stop.number);
    }
    if (t->stopped->released_ms > 0) {
        t->stopped->released_ms = pons_cx_wall_ms(cx);
    }
}

// Whoever said reset has seen a latch that telemetry has yet to show here.
static bool reset_ahead(const pons_brain *b, const pons__stopped *s)
{
    const pons_report_telemetry *now = &b->port.newest.as.telemetry;
    if (!s->reset || !*s->reset_boot || !b->port.telemetry) {
        return false;
    }
    return strcmp(now->boot_id, s->reset_boot) == 0 ? s->reset_number > now->stop.number
                                                    : telemetry_is_old(b);
}

// What is latched is not what the reset meant, which is free, or of another number.
static bool superseded(const pons_brain *b, const pons__stopped *s)
{
    const pons_report_telemetry *now = &b->port.newest.as.telemetry;
    return s->reset && !s->wanted && b->port.telemetry && now->stop.latched && !reset_ahead(b, s) &&
           (strcmp(now->boot_id, s->reset_boot) != 0 || now->stop.number != s->reset_number);
}

// What it meant is free: the next latch is another one, also where the body does not number them.
static bool reset_over(const pons_brain *b, const pons__stopped *s)
{
    const pons_report_telemetry *now = &b->port.newest.as.telemetry;
    return s->reset && *s->reset_boot && b->port.telemetry && !now->stop.latched &&
           !reset_ahead(b, s);
}

// Whether the body has had a stop since the newest telemetry that this or an earlier life saw.
static bool missed(const pons_brain *b, pons__tasks *t)
{
    const pons_report_telemetry *now = &b->port.newest.as.telemetry;
    if (!b->port.telemetry) {
        return false;
    }
    const bool same = strcmp(now->boot_id, t->seen_boot) == 0;
    const bool came = same && now->stop.number > t->seen_number;
    if (!same) {
        pons__set_text(&t->seen_boot, now->boot_id);
    }
    if (!same || came) { // a person may have seen more than telemetry has shown
        t->seen_number = now->stop.number;
    }
    return came;
}

// K5, each tick: what the newest telemetry makes of it.
// had: there were tasks before what was heard in it.
void pons__stopped_look(pons_brain *b, pons_cx *cx, pons__tasks *t, bool battery_low, bool had)
{
    const bool held = t->stopped, wanted = held && t->stopped->wanted;
    const int64_t released_ms = held ? t->stopped->released_ms : 0;
    if (!b->seen) {
        return;
    }
    const bool came = missed(b, t);
    if (pons__latched(b)) {
        const bool stale = released_ms && !came && pons_cx_wall_ms(cx) - released_ms < STALE_MS;
        const bool another = held && superseded(b, t->stopped);
        if (pons__latch_lifts_itself(b) ||
            (held && !wanted && !another && (!released_ms || stale))) {
            return;
        }
        if (wanted) { // what was sent last makes a number of its own, which is to be seen as well
            if (b->stop_sent_ms && pons_now_ms(&b->opts.clock) - b->stop_sent_ms >= STOP_SEEN_MS) {
                seen(b, cx, t);
            }
        } else {
            fresh(t, *b->seen->stop->reason ? b->seen->stop->reason : "stop", false);
        }
        return;
    }
    const bool idle = t->queue.n == 0 && !battery_low;
    if (came && (held ? released_ms > 0 : had || battery_low)) {
        fresh(t, LIFTED, false);
        return;
    }
    if (held && reset_over(b, t->stopped)) {
        pons__set_text(&t->stopped->reset_boot, "");
        t->changed = true;
    }
    // What was under way lets go first, and with it what it asked; so does a latch that its reset has seen before this.
    const bool busy = t->react->state != PONS_INNER_IDLE || (held && reset_ahead(b, t->stopped));
    if (held && !wanted && !busy && (released_ms || idle || b->rules.after_reset_continue)) {
        let_go(t);
    }
}

// A person says that it may go on. A word that comes before the reset is not kept for after it: whoever posted it has
// looked whether the body was latched.
// One that was said before another stop is of an earlier one.
const char *pons__stopped_release(pons_brain *b, pons_cx *cx, pons__tasks *t,
                                  const pons__said *said)
{
    const int of = inbox_message_of(b, said);
    const bool typed = !*said->stop_boot && strcmp(said->word, "resume") == 0 && b->opts.resumed;
    // What was over before the word is let go of by it, also where telemetry has yet to show it.
    bool came = (typed || (of == OF_NOW && !said->stop_latched)) && missed(b, t);
    if (of == OF_LATER && !said->stop_latched && said->stop_number > t->seen_number) {
        came = true;
        t->seen_number = said->stop_number;
    }
    t->changed = t->changed || came;
    if (t->stopped && !*said->stop_boot && !typed) {
        return "the body did not answer when it was said: say it again";
    }
    if (!t->stopped) {
        if (came) { // what was approved before it is taken back, and then it goes on
            fresh(t, LIFTED, false)->released_ms = pons_cx_wall_ms(cx);
        }
        return NULL;
    }
    if (of == OF_BEFORE) {
        return "another stop came after it: say it again";
    }
    const pons__stopped *is = t->stopped;
    const bool reset = is->reset && (!is->reset_number || is->reset_number >= said->stop_number);
    if (of != OF_NOBODY && said->stop_latched && !reset) {
        return "a stop is in force: reset comes first"; // when it was said
    }
    const bool lifted = !pons__latched(b) && !t->stopped->wanted; // this tick lets it go
    const bool seen_free = *said->stop_boot && !said->stop_latched;
    if (!lifted && !is->reset && (is->wanted || !seen_free)) {
        return "a stop is in force: reset comes first";
    }
    t->stopped->released_ms = pons_cx_wall_ms(cx);
    t->changed = true;
    return NULL;
}

// A person says reset: the loop sends it, and not before the stop that was said first is seen. It means the latch that
// was in force when it was said. after_stop: a stop was heard with it.
const char *pons__stopped_reset(pons_brain *b, pons__tasks *t, const pons__said *said,
                                bool after_stop)
{
    if (!*said->stop_boot) {
        return "the body did not answer when it was said: `pons reset`, or say it again";
    }
    if (!t->stopped) {
        if (!said->stop_latched) {
            return "no stop was in force when it was said";
        }
        const int of = inbox_message_of(b, said);
        if (!pons__latched(b) && (of == OF_BEFORE || of == OF_NOW)) {
            return "it is lifted already";
        }
        fresh(t, "stop", false); // the telemetry that shows it is still to come
    }
    t->stopped->reset = true;
    t->changed = true;
    // The stop that was said here first is sent until it is seen, and makes a number of its own.
    if (t->stopped->wanted && (!said->stop_latched || b->stop_sent_ms)) {
        return NULL;
    }
    t->stopped->wanted = false;
    if (said->stop_latched || !after_stop) {
        bind_reset(t, said->stop_boot, said->stop_number);
    } else { // in one breath: whoever posted both had not seen it yet, and it is the next
        bind_reset(t, said->stop_boot, said->stop_number ? said->stop_number + 1 : 0);
    }
    return NULL;
}

static bool reset_due(const pons_brain *b, const pons__stopped *s)
{
    const pons_report_telemetry *now = &b->port.newest.as.telemetry;
    return *s->reset_boot && b->port.telemetry && now->stop.latched &&
           strcmp(now->boot_id, s->reset_boot) == 0 && now->stop.number == s->reset_number;
}

// The loop: a stop that was said is sent until it is seen, a reset while its latch is in force.
void pons__stopped_send(pons_brain *b)
{
    const pons__stopped *stopped = b->tasks->stopped;
    const int64_t now = pons_now_ms(&b->opts.clock);
    if (!b->port.ready) { // what was sent may be lost with the link
        b->stop_sent_ms = b->reset_sent_ms = 0;
    }
    if (!b->port.ready || !stopped) {
        return;
    }
    if (stopped->wanted) {
        if (b->stop_sent_ms && pons__latched(b)) {
            return; // it is there
        }
        if (!b->stop_sent_ms || now - b->stop_sent_ms >= STOP_AGAIN_MS) {
            b->stop_sent_ms = now;
            pons__port_send(&b->port, &(pons_message){.type = PONS_MESSAGE_STOP,
                                                      .as.stop = {.reason = stopped->reason}});
        }
    } else if (reset_due(b, stopped) &&
               (!b->reset_sent_ms || now - b->reset_sent_ms >= RESET_AGAIN_MS)) {
        b->reset_sent_ms = now;
        pons__port_send(&b->port, &(pons_message){.type = PONS_MESSAGE_RESET,
                                                  .as.reset = {.number = stopped->reset_number}});
    }
}
