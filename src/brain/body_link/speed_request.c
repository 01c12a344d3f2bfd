// speed_request.c - "slower", "half speed", "at 0.2 m/s": how fast a person wants the robot from now on.
//
//     words --K5--> tasks.tempo {percent, from}, committed --loop--> pace{percent, from} --body--> ok
//                                                                                          |
//                        event tempo.set <--K5-- tasks.tempo is gone, committed <----------+
//
// The body holds it: its gate lets nothing pass that is faster, and its disk keeps it. The kernel keeps a
// wish only until the body has said ok, which it says when the disk has it; so a death at any point of
// this leaves either the wish in the inbox, or it in `tasks`, or the body with it. Sent twice it is the same.
//
// "Yes, at half speed" is a yes to that and no other: what sets something free is kept with the wish
// (`then`), and heard when the body has said ok; where that refuses, or is silent, it is dropped and told.
//
// Nobody but a person makes it faster: what a model says, or a goal of a time, may only slow down. What is
// faster says from where (`from`): where somebody, at another terminal, has said another pace meanwhile,
// the body refuses it.
#include "brain/body_link/speed_request.h"

#include "brain/body_link/body_port.h"
#include "brain/records/event_fields.h"
#include "brain/records/inbox_fields.h"
#include "pons/brain_pace.h"

#include <math.h>
#include <string.h>

#define AGAIN_MS   1000
#define UNSAVED_MS 5000  // for which the body may try to save what is slower
#define ANSWER_MS  30000 // after which nobody waits for it any more, whatever it said
#define FULL       100

static const int steps[] = {10, 25, 50, 75, FULL}; // of every speed limit [%]

// The next step above (up) or below; the same at an end.
static int64_t next_step(int64_t percent, bool up)
{
    int64_t next = percent;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (up && steps[i] > percent) {
            return steps[i];
        }
        next = !up && steps[i] < percent ? steps[i] : next;
    }
    return next;
}

// In force as far as the body has said; 0: it knows of none, which the report's table does not tell from 100.
static int64_t in_force(const pons_brain *b)
{
    return b->speed_request.taken ? b->speed_request.taken
                                  : pons_get_int(b->port.telemetry, "pace_percent", 0);
}

static void refused(pons_brain *b, pons_cx *cx, const char *reason)
{
    PONS__EMIT(b, cx, speed_request_refused, .reason = reason);
}

// *ret_met: it is so already, where that is why nothing is to be done.
static int wanted(const pons__hurry *said, int64_t now_percent, double top_mps,
                  int64_t *ret_percent, bool *ret_met, pons_error *err)
{
    const char *word = said->word;
    double percent = said->number;
    *ret_met = true;
    if (strcmp(word, "slower") == 0 || strcmp(word, "faster") == 0) {
        const bool up = *word == 'f';
        const int64_t next = next_step(now_percent, up);
        if (next == now_percent) {
            return pons_error_set(err, PONS_EINVAL, "pace", "it is as %s already: %lld %%",
                                  up ? "fast as it may be" : "slow as it goes",
                                  (long long)now_percent);
        }
        *ret_percent = next;
        return PONS_OK;
    }
    if (strcmp(word, "normal") == 0) {
        percent = FULL;
    } else if (strcmp(word, "mps") == 0) {
        percent = top_mps > 0.0 ? FULL * said->number / top_mps : NAN;
    }
    percent = floor(percent + 1e-9); // never faster than was said
    if (!(percent >= steps[0] && percent <= FULL)) {
        *ret_met = false;
        return top_mps > 0.0
                   ? pons_error_set(err, PONS_EINVAL, "pace",
                                    "it may be from %d to %d %% of its speed, %.2f to %.2f m/s",
                                    steps[0], FULL, steps[0] * top_mps / FULL, top_mps)
                   : pons_error_set(err, PONS_EINVAL, "pace",
                                    "it may be from %d to %d %% of its speed", steps[0], FULL);
    }
    if (said->at_most && (int64_t)percent > now_percent) {
        return pons_error_set(err, PONS_EINVAL, "pace", "it is slower than that already: %lld %%",
                              (long long)now_percent);
    }
    *ret_percent = (int64_t)percent;
    return PONS_OK;
}

// These letters as well, behind those that it has. NULL: none.
static void also_then(pons__speed_request *speed_request, const pons_value *letters)
{
    pons_value *all = speed_request->then ? json_copy((json_t *)speed_request->then) : json_array();
    json_array_extend(all, (json_t *)letters);
    const bool any = json_array_size(all) > 0;
    pons__json(&speed_request->then, any ? all : NULL);
    if (!any) {
        pons_value_unref(all);
    }
}

int pons_pace_wanted(const pons_value *said, int64_t now_percent, double top_mps,
                     int64_t *ret_percent, pons_error *err)
{
    bool met = false;
    PONS__AUTO(hurry) hurry = pons__record_read(&pons__hurry_record, said);
    return wanted(hurry, now_percent, top_mps, ret_percent, &met, err);
}

// Nothing of it is answered yet; sent_ms: when another one was sent that is not either.
static void begin(pons_brain *b, int64_t sent_ms)
{
    b->speed_request.since_ms = 0;
    b->speed_request.sent_ms = sent_ms;
    b->speed_request.answer = PONS__TEMPO_OPEN;
}

void pons__speed_request_drop_words(pons_brain *b, pons_cx *cx, pons__tasks *t)
{
    if (t->speed_request && t->speed_request->then) {
        pons__json(&t->speed_request->then, NULL);
        t->changed = true;
        PONS__EMIT(b, cx, control_reported, .word = "pace",
                   .ignored = "what was said since goes before what was said with the pace");
    }
}

pons__speed_request_word pons__speed_request_hear(pons_brain *b, pons_cx *cx, pons__tasks *t,
                                                  const pons__hurry *said, const char *by,
                                                  bool person, const pons_value *then)
{
    pons_error why = PONS_ERROR_INIT;
    bool met = false;
    const int64_t reported = in_force(b);
    if (reported < steps[0]) {
        refused(b, cx, "this body cannot be told how fast to be");
        return PONS__TEMPO_NOT;
    }
    const int64_t now = t->speed_request ? t->speed_request->percent : reported;
    int64_t percent = now;
    if (wanted(said, now, b->port.greeting.as.hello.limits.speed_max_mps, &percent, &met, &why) <
        0) {
        refused(b, cx, why.message);
        if (met && t->speed_request) { // it will be, when the body has what was said before
            also_then(t->speed_request, then);
            t->changed = true;
            return PONS__TEMPO_KEPT;
        }
        return met ? PONS__TEMPO_MET : PONS__TEMPO_NOT;
    }
    if (!person && percent > now) {
        refused(b, cx, "only a person may make it faster");
        return PONS__TEMPO_NOT;
    }
    // What was not sent yet is replaced; what was, the body may have taken.
    const bool sent = t->speed_request && b->speed_request.sent == t->speed_request->percent;
    const int64_t from = !t->speed_request ? reported
                         : sent            ? t->speed_request->percent
                                           : t->speed_request->from;
    pons__speed_request *next = pons__record_new(&pons__speed_request_record);
    next->percent = percent;
    next->from = from;
    pons__set_text(&next->by, by);
    if (percent > now) { // that was said for a slower one
        pons__speed_request_drop_words(b, cx, t);
    }
    also_then(next, t->speed_request ? t->speed_request->then : NULL);
    also_then(next, then);
    pons__record_free(&pons__speed_request_record, t->speed_request);
    t->speed_request = next;
    t->changed = true;
    begin(b, b->speed_request.sent ? b->speed_request.sent_ms : 0);
    return PONS__TEMPO_KEPT;
}

pons_value *pons__speed_request_look(pons_brain *b, pons_cx *cx, pons__tasks *t, bool *ret_taken)
{
    if (!t->speed_request || b->speed_request.answer == PONS__TEMPO_OPEN) {
        return NULL;
    }
    *ret_taken = b->speed_request.answer == PONS__TEMPO_TAKEN;
    if (*ret_taken) {
        PONS__EMIT(b, cx, speed_request_set, .percent = t->speed_request->percent,
                   .by = t->speed_request->by);
    } else {
        refused(b, cx, b->speed_request.why);
    }
    pons_value *then = t->speed_request->then ? pons_value_ref(t->speed_request->then) : NULL;
    pons__record_free(&pons__speed_request_record, t->speed_request);
    t->speed_request = NULL;
    t->changed = true;
    begin(b, 0);
    return then;
}

pons_value *pons__speed_request_answer(const pons__tasks *t, const char *question)
{
    pons_value *answer = NULL;
    pons_each(one, t->speed_request ? t->speed_request->then : NULL) {
        PONS__AUTO(inbox_message)
        inbox_message = pons__record_read(&pons__inbox_message_record, one);
        if (!answer && inbox_message->kind == PONS_LETTER_ANSWER &&
            strcmp(pons_get_str(inbox_message->value, "id", ""), question) == 0) {
            answer = pons_value_ref(inbox_message->value);
        }
    }
    return answer;
}

static void decide(pons_brain *b, const char *refused_for)
{
    b->speed_request.answer = refused_for ? PONS__TEMPO_REFUSED : PONS__TEMPO_TAKEN;
    snprintf(b->speed_request.why, sizeof b->speed_request.why, "%s",
             refused_for ? refused_for : "");
    b->tick_now = true;
}

void pons__speed_request_send(pons_brain *b)
{
    const pons__speed_request *speed_request = b->tasks->speed_request;
    const int64_t now = pons_now_ms(&b->opts.clock);
    if (!speed_request || b->speed_request.answer != PONS__TEMPO_OPEN) {
        return;
    }
    b->speed_request.since_ms = b->speed_request.since_ms ? b->speed_request.since_ms : now;
    if (now - b->speed_request.since_ms >= ANSWER_MS) {
        decide(b, "the body does not answer");
    } else if (b->port.ready &&
               (!b->speed_request.sent_ms || now - b->speed_request.sent_ms >= AGAIN_MS)) {
        b->speed_request.sent_ms = now;
        b->speed_request.sent = speed_request->percent;
        pons__port_send(&b->port,
                        &(pons_message){.type = PONS_MESSAGE_PACE,
                                        .as.pace = {speed_request->percent, speed_request->from}});
    }
}

void pons__speed_request_answered(pons_brain *b, int64_t percent, const char *code,
                                  const char *message)
{
    const pons__speed_request *speed_request = b->tasks->speed_request;
    const int64_t now = pons_now_ms(&b->opts.clock), sent = b->speed_request.sent;
    b->speed_request.taken = code ? b->speed_request.taken : percent ? percent : sent;
    if (!sent || (percent && percent != sent)) { // of one that was sent before; this one's comes
        return;
    }
    b->speed_request.sent = 0;
    if (!speed_request || speed_request->percent != sent) { // another one was said meanwhile
        b->speed_request.sent_ms = 0;
        return;
    }
    if (code && speed_request->percent <= in_force(b) && strcmp(code, "unsaved") == 0) {
        message = "it is slower, but the body could not save it";
        if (now - b->speed_request.since_ms < UNSAVED_MS) {
            return; // it is slower all the same: asked again until it is saved
        }
    }
    decide(b, code ? message : NULL);
}
