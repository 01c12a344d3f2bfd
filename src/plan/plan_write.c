// plan_write.c - plans, steps and results as canonical text: keys sorted, every field, no blanks.
//
// The keys of the protocol are constant, so their order is written down here once, and a step is
// written by one function without a look at any table. Free objects are canonical already.
#include "plan/internal.h"
#include "plan/json_tokens.h"
#include "pons/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP_BYTES = 512,
    HEAD_BYTES = 1024, // first guesses
    STEP_FIXED_BYTES = 320,
    HEAD_FIXED_BYTES = 320 // keys, marks, words and numbers of a step, of a plan or a result
};

typedef struct out {
    char *data, *at, *end;
    bool failed; // no memory; what is written from then on is of no use
} out;

// Makes room for n more bytes.
static bool room(out *o, size_t n)
{
    if ((size_t)(o->end - o->at) >= n) {
        return true;
    }
    const size_t used = (size_t)(o->at - o->data), cap = 2 * (size_t)(o->end - o->data) + n;
    char *data = o->failed ? NULL : malloc(cap);
    if (!data) {
        o->failed = true;
        return false;
    }
    memcpy(data, o->data, used);
    free(o->data);
    o->data = data;
    o->at = data + used;
    o->end = data + cap;
    return true;
}

// What follows writes without a look at the room: each public function has made it beforehand.
static inline void put(out *o, const char *s, size_t n)
{
    memcpy(o->at, s, n);
    o->at += n;
}
#define PUT(o, literal) put((o), (literal), sizeof(literal) - 1)

static void put_word(out *o, const char *s)
{
    put(o, s, strlen(s));
}

static void put_text(out *o, const char *s)
{
    o->at = pons__put_string(o->at, s ? s : "", s ? strlen(s) : 0);
}

static void put_text_or_null(out *o, const char *s)
{
    if (s) {
        put_text(o, s);
    } else {
        PUT(o, "null");
    }
}

static void put_object(out *o, const char *text)
{
    put_word(o, text && *text ? text : "{}");
}

static void put_bool(out *o, bool b)
{
    if (b) {
        PUT(o, "true");
    } else {
        PUT(o, "false");
    }
}

static void put_integer(out *o, int64_t v)
{
    char digits[24], *end = digits + sizeof digits, *p = end;
    uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (v < 0) {
        *--p = '-';
    }
    put(o, p, (size_t)(end - p));
}

// The most that a text, or an object that is copied, takes.
static size_t text_room(const char *s)
{
    return s ? 6 * strlen(s) + 2 : 4;
}

static size_t object_room(const char *s)
{
    return s ? strlen(s) + 2 : 2;
}

static void put_step(out *o, const pons_plan_step *s)
{
    if (!room(o, STEP_FIXED_BYTES + text_room(s->action) + text_room(s->confirmation_message) +
                     text_room(s->description) + text_room(s->fallback) + object_room(s->metadata) +
                     object_room(s->parameters) + object_room(s->preconditions))) {
        return;
    }
    PUT(o, "{\"action\":");
    put_text(o, s->action);
    PUT(o, ",\"confirmation_message\":");
    put_text_or_null(o, s->confirmation_message);
    PUT(o, ",\"description\":");
    put_text(o, s->description);
    PUT(o, ",\"fallback\":");
    put_text_or_null(o, s->fallback);
    PUT(o, ",\"metadata\":");
    put_object(o, s->metadata);
    PUT(o, ",\"parameters\":");
    put_object(o, s->parameters);
    PUT(o, ",\"preconditions\":");
    put_object(o, s->preconditions);
    PUT(o, ",\"requires_confirmation\":");
    put_bool(o, s->requires_confirmation);
    PUT(o, ",\"status\":\"");
    put_word(o, pons_step_status_word(s->status));
    PUT(o, "\",\"step_id\":");
    put_integer(o, s->step_id);
    PUT(o, ",\"tool_call_type\":\"");
    put_word(o, pons_tool_call_word(s->tool_call_type));
    PUT(o, "\"}");
}

static long finish(out *o, char **ret)
{
    if (!room(o, 1) || o->failed) {
        free(o->data);
        return PONS_ENOMEM;
    }
    *o->at = '\0';
    *ret = o->data;
    return (long)(o->at - o->data);
}

static bool start(out *o, size_t cap)
{
    *o = (out){.data = malloc(cap)};
    o->at = o->data;
    o->end = o->data ? o->data + cap : NULL;
    return o->data;
}

// A number as it was given, or as the double says; not finite: 0, which no plan of ours has.
static void put_number(out *o, const char *given, double number)
{
    char made[PONS__NUMBER_MAX];
    if (!given && pons__number_text(number, "", made, NULL) < 0) {
        snprintf(made, sizeof made, "0.0");
    }
    put_object(o, given ? given : made);
}

long pons_plan_text(const pons_plan *p, char **ret)
{
    out o;
    if (!start(&o, HEAD_BYTES + p->n_steps * STEP_BYTES)) {
        return PONS_ENOMEM;
    }
    if (!room(&o, HEAD_FIXED_BYTES + text_room(p->confirmation_message) +
                      object_room(p->created_at_text) + text_room(p->goal) +
                      object_room(p->metadata) + text_room(p->plan_id) + text_room(p->reasoning) +
                      text_room(p->source))) {
        return finish(&o, ret);
    }
    PUT(&o, "{\"confirmation_message\":");
    put_text_or_null(&o, p->confirmation_message);
    PUT(&o, ",\"created_at\":");
    put_number(&o, p->created_at_text, p->created_at);
    PUT(&o, ",\"goal\":");
    put_text(&o, p->goal);
    PUT(&o, ",\"metadata\":");
    put_object(&o, p->metadata);
    PUT(&o, ",\"plan_id\":");
    put_text(&o, p->plan_id);
    PUT(&o, ",\"reasoning\":");
    put_text(&o, p->reasoning);
    PUT(&o, ",\"requires_confirmation\":");
    put_bool(&o, p->requires_confirmation);
    PUT(&o, ",\"risk_level\":\"");
    put_word(&o, pons_risk_level_word(p->risk_level));
    PUT(&o, "\",\"source\":");
    put_text(&o, p->source ? p->source : "llm");
    PUT(&o, ",\"status\":\"");
    put_word(&o, pons_plan_status_word(p->status));
    PUT(&o, "\",\"steps\":[");
    for (size_t i = 0; i < p->n_steps && !o.failed; i++) {
        if (i > 0 && room(&o, 1)) {
            PUT(&o, ",");
        }
        put_step(&o, &p->steps[i]);
    }
    if (room(&o, 2)) {
        PUT(&o, "]}");
    }
    return finish(&o, ret);
}

long pons_plan_step_text(const pons_plan_step *step, char **ret)
{
    out o;
    if (!start(&o, STEP_BYTES)) {
        return PONS_ENOMEM;
    }
    put_step(&o, step);
    return finish(&o, ret);
}

long pons_execution_result_text(const pons_execution_result *r, char **ret)
{
    out o;
    if (!start(&o, STEP_BYTES)) {
        return PONS_ENOMEM;
    }
    if (!room(&o, HEAD_FIXED_BYTES + text_room(r->message) + object_room(r->output) +
                      text_room(r->plan_id) + object_room(r->timestamp_text))) {
        return finish(&o, ret);
    }
    PUT(&o, "{\"message\":");
    put_text(&o, r->message);
    PUT(&o, ",\"output\":");
    put_object(&o, r->output);
    PUT(&o, ",\"plan_id\":");
    put_text(&o, r->plan_id);
    PUT(&o, ",\"status\":\"");
    put_word(&o, pons_step_status_word(r->status));
    PUT(&o, "\",\"step_id\":");
    put_integer(&o, r->step_id);
    PUT(&o, ",\"success\":");
    put_bool(&o, r->success);
    PUT(&o, ",\"timestamp\":");
    put_number(&o, r->timestamp_text, r->timestamp);
    PUT(&o, "}");
    return finish(&o, ret);
}

static int to_value(long len, char *text, pons_value **ret, pons_error *err)
{
    if (len < 0) {
        return pons_error_set(err, (int)len, "plan", "out of memory");
    }
    const int rc = pons_value_parse(text, (size_t)len, ret, err);
    free(text);
    return rc;
}

int pons_plan_to_value(const pons_plan *p, pons_value **ret, pons_error *err)
{
    char *text = NULL;
    const long len = pons_plan_text(p, &text);
    return to_value(len, text, ret, err);
}

int pons_plan_step_to_value(const pons_plan_step *step, pons_value **ret, pons_error *err)
{
    char *text = NULL;
    const long len = pons_plan_step_text(step, &text);
    return to_value(len, text, ret, err);
}

int pons_execution_result_to_value(const pons_execution_result *r, pons_value **ret,
                                   pons_error *err)
{
    char *text = NULL;
    const long len = pons_execution_result_text(r, &text);
    return to_value(len, text, ret, err);
}
