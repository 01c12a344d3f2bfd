// sse_events.c - the log of a run as LangGraph's server-sent events.
//
//     run.started          metadata {run_id, attempt}
//     stream.MODE          MODE, or MODE|namespace of a subgraph
//     run.ended            values with what is asked; error {error, message}
//
// It is a function of the log alone: whoever reads it again from the run's start, and leaves out what
// it has said, says the rest to the byte. So a client can lose its connection anywhere, and the server
// its memory. An event's id is its number in the log, with "-1", "-2" … where one row says several.
#include "serve/run_events/sse_events.h"

#include "serve/runs/run_begin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM "stream."

void pons__speaker_fini(pons__speaker *s)
{
    free(s->values);
    pons_value_unref(s->whole);
    pons_value_unref(s->input);
    s->input = NULL;
    pons__callbacks_fini(&s->callbacks);
    s->values = NULL;
    s->whole = NULL;
}

// ---- what is wanted -----------------------------------------------------------------------------

static void add_mode(pons__speaker *s, const char *word)
{
    s->tuple |= strcmp(word, "messages-tuple") == 0;
    s->full |= strcmp(word, "messages") == 0;
    s->events |= strcmp(word, "events") == 0;
    s->modes |= s->tuple ? PONS_STREAM_MESSAGES : 0;
    s->modes |= pons_stream_mode(word);
}

void pons__speaker_modes(pons__speaker *s, const pons_value *modes)
{
    if (json_is_string(modes)) {
        pons_autovalue list = NULL; // of a query: ["values","updates"]
        const char *text = json_string_value(modes);
        if (*text == '[' && pons_value_parse(text, strlen(text), &list, NULL) >= 0) {
            pons__speaker_modes(s, list);
            return;
        }
        char words[256];
        snprintf(words, sizeof words, "%s", text);
        char *rest = NULL;
        for (char *w = strtok_r(words, ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
            add_mode(s, w);
        }
    }
    pons_each(one, modes) {
        if (json_is_string(one)) {
            add_mode(s, json_string_value(one));
        }
    }
    if (!s->modes && !s->events) {
        s->modes = PONS_STREAM_VALUES;
    }
}

bool pons__speaker_place(pons__speaker *s, const char *text)
{
    char *end = NULL;
    const long long n = strtoll(text, &end, 10);
    if (end == text) {
        return false;
    }
    s->skip_seq = n < 0 ? -1 : n;
    s->skip_sub = 0;
    if (*end == '-') {
        s->skip_sub = (int)strtol(end + 1, &end, 10);
    }
    return *end == '\0';
}

// ---- saying -------------------------------------------------------------------------------------

static void say(pons__speaker *s, pons_buf *out, const char *event, const char *ns,
                const char *data)
{
    const int sub = s->sub++;
    if (s->seq < s->skip_seq || (s->seq == s->skip_seq && sub <= s->skip_sub)) {
        return;
    }
    pons_buf_printf(out, sub ? "id: %lld-%d\n" : "id: %lld\n", (long long)s->seq, sub);
    pons_buf_printf(out, *ns ? "event: %s|%s\ndata: " : "event: %s%s\ndata: ", event, ns);
    pons_buf_str(out, data);
    pons_buf_str(out, "\n\n");
}

static void say_value(pons__speaker *s, pons_buf *out, const char *event, const char *ns,
                      pons_value *v)
{
    char *text = NULL;
    if (pons_value_line(v, &text) >= 0) {
        say(s, out, event, ns, text);
    }
    free(text);
    pons_value_unref(v);
}

// ---- messages -----------------------------------------------------------------------------------

static pons_value *about(const pons__speaker *s, const pons_value *given)
{
    pons_value *m =
        json_is_object(given) ? json_copy((pons_value *)(uintptr_t)given) : json_object();
    json_object_set_new(m, "run_id", json_string(s->run_now));
    json_object_del(m, PONS__RUN_MEMBER);
    return m;
}

// What a chunk adds to what came of its message so far; *ret_first: nothing had.
static pons_value *grown(pons__speaker *s, const pons_value *chunk, const char *id, bool *ret_first)
{
    s->whole = s->whole ? s->whole : json_object();
    pons_value *so_far = json_object_get(s->whole, id);
    *ret_first = !so_far;
    if (!so_far) {
        so_far = json_deep_copy(chunk);
        json_object_set_new(s->whole, id, so_far);
        return so_far;
    }
    const char *more = pons_get_str(chunk, "content", NULL),
               *old = pons_get_str(so_far, "content", NULL);
    const pons_value *calls = pons_get(chunk, "tool_calls");
    if (more && old) {
        json_object_set_new(so_far, "content", json_sprintf("%s%s", old, more));
    }
    if (json_array_size(calls) > 0) {
        json_object_set_new(so_far, "tool_calls", json_deep_copy(calls));
    }
    return so_far;
}

static void say_message(pons__speaker *s, pons_buf *out, const char *ns, const char *payload)
{
    pons_autovalue pair = NULL;
    if (pons_value_parse(payload, strlen(payload), &pair, NULL) < 0) {
        return;
    }
    const pons_value *chunk = json_array_get(pair, 0);
    pons_autovalue meta = about(s, json_array_get(pair, 1));
    if (s->tuple) {
        say_value(s, out, "messages", ns, json_pack("[OO]", chunk, meta));
    }
    const char *id = pons_get_str(chunk, "id", NULL);
    if (!s->full || !id) {
        return;
    }
    bool first = false;
    const pons_value *whole = grown(s, chunk, id, &first);
    const char *type = pons_get_str(chunk, "type", "");
    const bool part = strstr(type, "Chunk") != NULL;
    if (first) {
        say_value(s, out, "messages/metadata", ns,
                  pons_object(id, pons_object("metadata", pons_value_ref(meta), NULL), NULL));
    }
    say_value(s, out, part ? "messages/partial" : "messages/complete", ns,
              json_pack("[O]", part ? whole : chunk));
}

// ---- callbacks ----------------------------------------------------------------------------------

static void say_callback(void *user, pons_value *event)
{
    pons__speaker *s = user;
    say_value(s, s->out, "events", "", event);
}

static void call_back(pons__speaker *s, pons_buf *out, const char *mode, const char *ns,
                      const char *payload)
{
    pons_autovalue v = NULL;
    if (pons_value_parse(payload, strlen(payload), &v, NULL) >= 0) {
        s->out = out;
        pons__callbacks_streamed(&s->callbacks, mode, ns, v);
    }
}

// ---- the log ------------------------------------------------------------------------------------

static void started(pons__speaker *s, pons_buf *out, const pons_value *v)
{
    const char *run = pons_get_str(v, "run_id", "");
    if (*s->run && strcmp(s->run, run) != 0) {
        return;
    }
    s->inside = true;
    snprintf(s->run_now, sizeof s->run_now, "%s", run);
    say_value(s, out, "metadata", "",
              pons_object("run_id", json_string(run), "attempt",
                          pons_value_ref(pons_get(v, "attempt")), NULL));
    if (s->events) {
        s->out = out;
        s->callbacks.say = say_callback;
        s->callbacks.user = s;
        s->callbacks.input = s->callbacks.input ? s->callbacks.input : pons_value_ref(s->input);
        pons__callbacks_started(&s->callbacks, v);
    }
}

static bool ended(pons__speaker *s, pons_buf *out, const pons_value *v)
{
    const pons_value *error = pons_get(v, "error"), *asked = pons_get(v, "interrupts");
    pons_autovalue values = NULL;
    const bool mine = !*s->run || strcmp(pons_get_str(v, "run_id", ""), s->run) == 0;
    if (!s->inside || !mine) {
        return false;
    }
    if (asked && (s->modes & PONS_STREAM_VALUES) && s->values &&
        pons_value_parse(s->values, strlen(s->values), &values, NULL) >= 0 &&
        json_is_object(values) && !pons_get(values, "__interrupt__")) {
        json_object_set_new(values, "__interrupt__", pons_value_ref(asked));
        say_value(s, out, "values", "", pons_value_ref(values));
    }
    if (s->events) {
        pons_autovalue last = NULL;
        if (s->values) {
            pons_value_parse(s->values, strlen(s->values), &last, NULL);
        }
        s->out = out;
        pons__callbacks_ended(&s->callbacks, last, error != NULL);
    }
    if (error) {
        say_value(s, out, "error", "", pons_value_ref(error));
    }
    s->inside = !*s->run;
    return *s->run != '\0';
}

// A namespace as a client sees it: below the graph's own.
static const char *below(const pons__speaker *s, const char *ns)
{
    const size_t n = s->root ? strlen(s->root) : 0;
    if (!s->root || strncmp(ns, s->root, n) != 0) {
        return ns;
    }
    return ns[n] == '|' ? ns + n + 1 : ns[n] == '\0' ? "" : ns;
}

static void streamed(pons__speaker *s, pons_buf *out, const pons_event_row *row,
                     const char *payload)
{
    const char *word = row->type + strlen(STREAM), *ns = below(s, row->ns ? row->ns : "");
    const uint32_t mode = pons_stream_mode(word);
    if (mode == PONS_STREAM_VALUES && !*ns) {
        free(s->values);
        s->values = strdup(payload);
    }
    const bool words = mode == PONS_STREAM_MESSAGES || mode == PONS_STREAM_CUSTOM;
    if (s->events && (mode & PONS__CALLBACK_MODES) && (!*ns || s->subgraphs || words)) {
        call_back(s, out, word, ns, payload);
    }
    if (!(s->modes & mode) || (*ns && !s->subgraphs && !words)) {
        return;
    }
    ns = s->subgraphs ? ns : "";
    if (mode == PONS_STREAM_MESSAGES) {
        say_message(s, out, ns, payload);
    } else {
        say(s, out, word, ns, payload);
    }
}

bool pons__speak(pons__speaker *s, const pons_event_row *row, pons_buf *out)
{
    const bool start = strcmp(row->type, PONS__RUN_STARTED) == 0;
    const bool end = strcmp(row->type, PONS__RUN_ENDED) == 0;
    const bool stream = s->inside && strncmp(row->type, STREAM, strlen(STREAM)) == 0;
    bool over = false;
    if (!start && !end && !stream) {
        return false;
    }
    pons_autobuf payload = PONS_BUF_INIT;
    pons_buf_bytes(&payload, row->payload.data, row->payload.len);
    pons_buf_byte(&payload, 0);
    s->seq = row->seq;
    s->sub = 0;
    if (stream) {
        streamed(s, out, row, payload.data);
        return false;
    }
    pons_autovalue v = NULL;
    if (pons_value_read(row->payload.data, row->payload.len, &v, NULL) < 0) {
        return false;
    }
    if (start) {
        started(s, out, v);
    } else {
        over = ended(s, out, v);
    }
    return over;
}
