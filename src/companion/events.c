// events.c - the event bus and the record of a decision.
//
// Events are made while a minute is lived, wait until it has been committed, and are then shown to
// the subscribers in the order they were made. A decision is recorded when it differs in anything
// but its time from the one before it; so the record in force at a minute is the latest one that is
// not after it.
#include "companion/events.h"

#include "pons/growing_list.h"
#include "pons/printable.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int pons_companion_subscribe(pons_companion *c, const char *type, pons_companion_event_fn fn,
                             void *user, pons_error *err)
{
    if (c->n_subscribers == PONS__CO_SUBSCRIBERS_MAX) {
        return pons_error_set(err, PONS_EBUSY, PONS__COMPANION, "there are %d subscribers already",
                              PONS__CO_SUBSCRIBERS_MAX);
    }
    pons__co_subscriber *s = &c->subscribers[c->n_subscribers++];
    *s = (pons__co_subscriber){.fn = fn, .user = user};
    snprintf(s->type, sizeof s->type, "%s", type ? type : "");
    return PONS_OK;
}

bool pons__co_wanted(const pons_companion *c, const char *type)
{
    for (size_t i = 0; i < c->n_subscribers; i++) {
        if (!*c->subscribers[i].type || strcmp(c->subscribers[i].type, type) == 0) {
            return true;
        }
    }
    return false;
}

void pons__co_publish(pons_companion *c, const pons_value *ev)
{
    const char *type = pons_get_str(ev, "type", "");
    for (size_t i = 0; i < c->n_subscribers; i++) {
        const pons__co_subscriber *s = &c->subscribers[i];
        if (!*s->type || strcmp(s->type, type) == 0) {
            s->fn(s->user, ev);
        }
    }
}

// Borrowed: it waits with the others for the commit. NULL on no memory, which fails the minute.
pons_value *pons__co_event(pons_companion *c, const char *type, ...)
{
    char time[32];
    pons_value *ev = json_object();
    va_list ap;
    json_object_set_new(ev, "time",
                        json_string(pons_world_view_time(c->view, c->minute, time, sizeof time)));
    json_object_set_new(ev, "type", json_string(type));
    va_start(ap, type);
    for (const char *key; (key = va_arg(ap, const char *));) {
        pons_value *v = va_arg(ap, pons_value *);
        if (v) {
            json_object_set_new(ev, key, v);
        }
    }
    va_end(ap);
    if (!pons_list_reserve(&c->events, &c->cap_events, c->n_events + 1, sizeof *c->events)) {
        c->nomem = true;
        pons_value_unref(ev);
        return NULL;
    }
    c->nomem = c->nomem || !ev;
    c->events[c->n_events] = ev;
    c->n_events += ev != NULL;
    return ev;
}

pons_value *pons__co_action_json(const pons__co_activity *a)
{
    return pons_object("type", json_string(a->id), NULL);
}

// Whether the same was so a minute ago: then it has been told.
static bool waits_on(pons_companion *c, const char *type, const char *by, const char *rule)
{
    pons__co_waits *all = c->board.policy.waits, *oldest = all;
    char key[sizeof all->key];
    snprintf(key, sizeof key, "%s|%s|%s", type, by, rule);
    for (size_t i = 0; i < sizeof c->board.policy.waits / sizeof *all; i++) {
        if (strcmp(all[i].key, key) == 0) {
            const bool on = c->minute - all[i].at <= 1;
            all[i].at = c->minute;
            return on;
        }
        oldest = all[i].at < oldest->at ? &all[i] : oldest;
    }
    memcpy(oldest->key, key, sizeof key);
    oldest->at = c->minute;
    return false;
}

void pons__co_note_filtered(pons_companion *c, const char *type, const char *by, const char *rule,
                            const char *reason)
{
    pons__co_board *b = &c->board;
    if (strcmp(by, "model") != 0 && waits_on(c, type, by, rule)) {
        return;
    }
    if (b->n_filtered == sizeof b->filtered / sizeof *b->filtered) {
        return;
    }
    pons__co_filtered *f = &b->filtered[b->n_filtered++];
    *f = (pons__co_filtered){.rule = rule, .by = by};
    snprintf(f->type, sizeof f->type, "%s", type);
    snprintf(f->reason, sizeof f->reason, "%s", reason);
}

void pons__co_board_clear(pons_companion *c)
{
    pons__co_board *b = &c->board;
    free(b->said);
    b->said = NULL;
    b->n_trace = b->n_filtered = 0;
    b->branch = "";
    b->action = NULL;
    b->has_proposal = false;
    *b->model_note = '\0';
    b->model_from = NULL;
}

// ---- the record ---------------------------------------------------------------------------------

static void mix(uint64_t h[2], const char *s)
{
    for (; *s; s++) { // FNV-1a, twice
        h[0] = (h[0] ^ (unsigned char)*s) * 0x100000001b3u;
        h[1] = (h[1] ^ (unsigned char)*s) * 0x100000001b3u + 0x9e3779b97f4a7c15u;
    }
    h[0] = (h[0] ^ 0xff) * 0x100000001b3u;
}

static void signature_of(const pons_companion *c, char ret[33])
{
    const pons__co_board *b = &c->board;
    uint64_t h[2] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};
    for (size_t i = 0; i < b->n_trace; i++) {
        const char result[] = {b->trace[i].result, 0};
        mix(h, b->trace[i].name);
        mix(h, b->trace[i].arg ? b->trace[i].arg : "");
        mix(h, result);
    }
    for (size_t i = 0; i < b->n_filtered; i++) {
        mix(h, b->filtered[i].type);
        mix(h, b->filtered[i].rule);
        mix(h, b->filtered[i].reason);
    }
    mix(h, b->model_note);
    snprintf(ret, 33, "%016llx%016llx", (unsigned long long)h[0], (unsigned long long)h[1]);
}

static pons_value *path_json(const pons__co_board *b)
{
    static const char *const words[] = {"yes", "no"};
    pons_value *path = json_array();
    for (size_t i = 0; i < b->n_trace; i++) {
        const pons__co_step *s = &b->trace[i];
        char text[160];
        if (s->result == '>') {
            snprintf(text, sizeof text, "%s", s->name);
        } else {
            snprintf(text, sizeof text, "%s%s%s%s: %s", s->name, s->arg ? "(" : "",
                     s->arg ? s->arg : "", s->arg ? ")" : "", words[s->result == 'n']);
        }
        json_array_append_new(path, json_string(text));
    }
    return path;
}

static pons_value *model_json(const pons_companion *c)
{
    const pons__co_board *b = &c->board;
    if (!b->model_from) {
        return NULL;
    }
    char said[PONS__CO_TEXT_MAX + 1] = "";
    if (b->said) {
        const size_t n = pons_text_whole(b->said, PONS__CO_TEXT_MAX);
        memcpy(said, b->said, n);
        said[n] = '\0';
    }
    return pons_object("from", json_string(b->model_from), "said",
                       b->said ? json_string(said) : NULL, "outcome", json_string(b->model_note),
                       NULL);
}

static pons_value *filtered_json(const pons__co_filtered *f)
{
    return pons_object("action", *f->type ? pons_object("type", json_string(f->type), NULL) : NULL,
                       "by", json_string(f->by), "rule", json_string(f->rule), "reason",
                       json_string(f->reason), NULL);
}

// Did the tick pass exactly what the last recorded one has passed, and nothing else? Most have.
static bool passed_the_same(const pons_companion *c)
{
    const pons__co_board *b = &c->board;
    bool same = b->n_trace == c->n_passed && c->n_passed > 0 && b->n_filtered == 0 && !b->action &&
                !*b->model_note;
    for (size_t i = 0; same && i < b->n_trace; i++) {
        same = b->trace[i].name == c->passed[i].name && b->trace[i].arg == c->passed[i].arg &&
               b->trace[i].result == c->passed[i].result;
    }
    return same;
}

void pons__co_record_decision(pons_companion *c)
{
    const pons__co_board *b = &c->board;
    char signature[sizeof c->signature];
    if (passed_the_same(c)) {
        return;
    }
    const bool plain = b->n_filtered == 0 && !b->action && !*b->model_note;
    c->n_passed = plain ? b->n_trace : 0;
    memcpy(c->passed, b->trace, c->n_passed * sizeof *c->passed);
    signature_of(c, signature);
    const bool asked = b->model_from && strcmp(b->model_from, "request") == 0;
    if (strcmp(signature, c->signature) == 0 && !b->action && !asked) {
        return;
    }
    memcpy(c->signature, signature, sizeof signature);
    pons_value *filtered = json_array();
    for (size_t i = 0; i < b->n_filtered; i++) {
        json_array_append_new(filtered, filtered_json(&b->filtered[i]));
        pons_value *ev = pons__co_event(c, "filtered", NULL), *f = filtered_json(&b->filtered[i]);
        json_object_update(ev, f);
        pons_value_unref(f);
    }
    pons_value *action = b->action ? pons__co_action_json(b->action) : json_null();
    if (b->action && b->proposal.preemptive) {
        json_object_set_new(action, "preemptive", json_true());
    }
    const pons__co_activity *now = c->world.current.what;
    pons__co_event(c, "decision", "action", action, "branch", json_string(b->branch), "path",
                   path_json(b), "filtered", filtered, "model", model_json(c), "during",
                   now ? json_string(now->id) : json_null(), "rationale",
                   b->has_proposal && *b->proposal.rationale ? json_string(b->proposal.rationale)
                                                             : NULL,
                   NULL);
}
