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
    return b->tempo.taken ? b->tempo.taken : pons_get_int(b->port.telemetry, "pace_percent", 0);
}

static void refused(pons_brain *b, pons_cx *cx, const char *reason)
{
    PONS__EMIT(b, cx, tempo_refused, .reason = reason);
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
static void also_then(pons__tempo *tempo, const pons_value *letters)
{
    pons_value *all = tempo->then ? json_copy((json_t *)tempo->then) : json_array();
    json_array_extend(all, (json_t *)letters);
    const bool any = json_array_size(all) > 0;
    pons__json(&tempo->then, any ? all : NULL);
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
    b->tempo.since_ms = 0;
    b->tempo.sent_ms = sent_ms;
    b->tempo.answer = PONS__TEMPO_OPEN;
}

void pons__tempo_drop_words(pons_brain *b, pons_cx *cx, pons__tasks *t)
{
    if (t->tempo && t->tempo->then) {
        pons__json(&t->tempo->then, NULL);
        t->changed = true;
        PONS__EMIT(b, cx, control_told, .word = "pace",
                   .ignored = "what was said since goes before what was said with the pace");
    }
}

pons__tempo_word pons__tempo_hear(pons_brain *b, pons_cx *cx, pons__tasks *t,
                                  const pons__hurry *said, const char *by, bool person,
                                  const pons_value *then)
{
    pons_error why = PONS_ERROR_INIT;
    bool met = false;
    const int64_t told = in_force(b);
    if (told < steps[0]) {
        refused(b, cx, "this body cannot be told how fast to be");
        return PONS__TEMPO_NOT;
    }
    const int64_t now = t->tempo ? t->tempo->percent : told;
    int64_t percent = now;
    if (wanted(said, now, b->port.greeting.as.hello.limits.speed_max_mps, &percent, &met, &why) <
        0) {
        refused(b, cx, why.message);
        if (met && t->tempo) { // it will be, when the body has what was said before
            also_then(t->tempo, then);
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
    const bool sent = t->tempo && b->tempo.sent == t->tempo->percent;
    const int64_t from = !t->tempo ? told : sent ? t->tempo->percent : t->tempo->from;
    pons__tempo *next = pons__record_new(&pons__tempo_record);
    next->percent = percent;
    next->from = from;
    pons__set_text(&next->by, by);
    if (percent > now) { // that was said for a slower one
        pons__tempo_drop_words(b, cx, t);
    }
    also_then(next, t->tempo ? t->tempo->then : NULL);
    also_then(next, then);
    pons__record_free(&pons__tempo_record, t->tempo);
    t->tempo = next;
    t->changed = true;
    begin(b, b->tempo.sent ? b->tempo.sent_ms : 0);
    return PONS__TEMPO_KEPT;
}

pons_value *pons__tempo_look(pons_brain *b, pons_cx *cx, pons__tasks *t, bool *ret_taken)
{
    if (!t->tempo || b->tempo.answer == PONS__TEMPO_OPEN) {
        return NULL;
    }
    *ret_taken = b->tempo.answer == PONS__TEMPO_TAKEN;
    if (*ret_taken) {
        PONS__EMIT(b, cx, tempo_set, .percent = t->tempo->percent, .by = t->tempo->by);
    } else {
        refused(b, cx, b->tempo.why);
    }
    pons_value *then = t->tempo->then ? pons_value_ref(t->tempo->then) : NULL;
    pons__record_free(&pons__tempo_record, t->tempo);
    t->tempo = NULL;
    t->changed = true;
    begin(b, 0);
    return then;
}

pons_value *pons__tempo_answer(const pons__tasks *t, const char *question)
{
    pons_value *answer = NULL;
    size_t i;
    json_t *one;
    json_array_foreach(t->tempo ? t->tempo->then : NULL, i, one) {
        PONS__AUTO(letter) letter = pons__record_read(&pons__letter_record, one);
        if (!answer && letter->kind == PONS_LETTER_ANSWER &&
            strcmp(pons_get_str(letter->value, "id", ""), question) == 0) {
            answer = pons_value_ref(letter->value);
        }
    }
    return answer;
}

static void decide(pons_brain *b, const char *refused_for)
{
    b->tempo.answer = refused_for ? PONS__TEMPO_REFUSED : PONS__TEMPO_TAKEN;
    snprintf(b->tempo.why, sizeof b->tempo.why, "%s", refused_for ? refused_for : "");
    b->tick_now = true;
}

void pons__tempo_send(pons_brain *b)
{
    const pons__tempo *tempo = b->tasks->tempo;
    const int64_t now = pons_now_ms(&b->opts.clock);
    if (!tempo || b->tempo.answer != PONS__TEMPO_OPEN) {
        return;
    }
    b->tempo.since_ms = b->tempo.since_ms ? b->tempo.since_ms : now;
    if (now - b->tempo.since_ms >= ANSWER_MS) {
        decide(b, "the body does not answer");
    } else if (b->port.ready && (!b->tempo.sent_ms || now - b->tempo.sent_ms >= AGAIN_MS)) {
        b->tempo.sent_ms = now;
        b->tempo.sent = tempo->percent;
        pons__port_send(&b->port, &(pons_message){.type = PONS_MESSAGE_PACE,
                                                  .as.pace = {tempo->percent, tempo->from}});
    }
}

void pons__tempo_answered(pons_brain *b, int64_t percent, const char *code, const char *message)
{
    const pons__tempo *tempo = b->tasks->tempo;
    const int64_t now = pons_now_ms(&b->opts.clock), sent = b->tempo.sent;
    b->tempo.taken = code ? b->tempo.taken : percent ? percent : sent;
    if (!sent || (percent && percent != sent)) { // of one that was sent before; this one's comes
        return;
    }
    b->tempo.sent = 0;
    if (!tempo || tempo->percent != sent) { // another one was said meanwhile
        b->tempo.sent_ms = 0;
        return;
    }
    if (code && tempo->percent <= in_force(b) && strcmp(code, "unsaved") == 0) {
        message = "it is slower, but the body could not save it";
        if (now - b->tempo.since_ms < UNSAVED_MS) {
            return; // it is slower all the same: asked again until it is saved
        }
    }
    decide(b, code ? message : NULL);
}
