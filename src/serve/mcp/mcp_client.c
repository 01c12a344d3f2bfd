// mcp_client.c - what a client of /mcp has: streams, and what was said in them.
//
//     stream 0     the session's own, listened to by GET: what belongs to no request
//     stream 1…    one a request: its progress, questions to the person, and at last its answer
//
// An event's id is "STREAM-NUMBER". A connection that breaks takes nothing with it: the call goes on,
// what is said is kept (SAID_MAX events, SAID_BYTES), and a GET with Last-Event-ID goes on behind that
// event, in the stream that it was of. What is kept no longer cannot be gone on from, and the client
// is told so, rather than being given a stream with a hole in it. An answer that nobody could be given
// is an event like the others.
#include "serve/mcp/mcp_client.h"

#include "pons/buf.h"
#include "pons/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAID_MAX   1024
#define SAID_BYTES (2 * 1024 * 1024)
#define OUTS_MAX   256

pons__mcp_session *pons__mcp_session_new(const pons_http_server_ops *http, int64_t now_ms)
{
    pons_rand rand;
    pons__mcp_session *s = calloc(1, sizeof *s);
    if (!s || !(s->outs = calloc(1, sizeof *s->outs))) {
        free(s);
        return NULL;
    }
    s->http = http;
    s->used_ms = now_ms;
    s->next_number = 1;
    pons_rand_seed_os(&rand);
    snprintf(s->id, sizeof s->id, "%016" PRIx64 "%016" PRIx64, pons_rand_u64(&rand),
             pons_rand_u64(&rand));
    return s;
}

static void out_free(const pons__mcp_session *s, pons__mcp_out *o)
{
    s->http->stream_end(o->stream);
    pons_value_unref(o->of);
    free(o);
}

void pons__mcp_session_free(pons__mcp_session *s)
{
    while (s->outs) {
        pons__mcp_out *o = s->outs;
        s->outs = o->next;
        out_free(s, o);
    }
    while (s->said) {
        pons__mcp_said *e = s->said;
        s->said = e->next;
        free(e);
    }
    while (s->first) {
        pons__mcp_message *m = s->first;
        s->first = m->next;
        pons_value_unref(m->value);
        free(m);
    }
    free(s);
}

// ---- streams ------------------------------------------------------------------------------------

void pons__mcp_out_drop(pons__mcp_session *s, pons__mcp_out *o)
{
    pons__mcp_out **at = &s->outs;
    while (*at != o) {
        at = &(*at)->next;
    }
    *at = o->next;
    out_free(s, o);
}

// Streams whose answer was said stay as long as there is room, for who comes back for it.
static void drop_oldest(pons__mcp_session *s)
{
    pons__mcp_out *oldest = NULL;
    size_t n = 0;
    for (pons__mcp_out *o = s->outs; o; o = o->next) {
        n++;
        if (o->over && o->of && (!oldest || o->number < oldest->number)) {
            oldest = o;
        }
    }
    if (oldest && n >= OUTS_MAX) {
        pons__mcp_out_drop(s, oldest);
    }
}

pons__mcp_out *pons__mcp_out_new(pons__mcp_session *s, const pons_value *of, bool json)
{
    size_t n = 0;
    drop_oldest(s);
    for (const pons__mcp_out *o = s->outs; o; o = o->next) {
        n++;
        if (!o->over && o->of && json_equal(o->of, of)) {
            return NULL; // an id is one request's
        }
    }
    pons__mcp_out *o = n < OUTS_MAX ? calloc(1, sizeof *o) : NULL;
    if (o) {
        o->of = pons_value_ref(of);
        o->json = json;
        o->number = s->next_number++;
        o->next = s->outs;
        s->outs = o;
    }
    return o;
}

static pons__mcp_out *of_number(const pons__mcp_session *s, unsigned number)
{
    for (pons__mcp_out *o = s->outs; o; o = o->next) {
        if (o->number == number) {
            return o;
        }
    }
    return NULL;
}

static pons__mcp_out *of_request(const pons__mcp_session *s, const pons_value *id)
{
    for (pons__mcp_out *o = s->outs; o && id; o = o->next) {
        if (o->of && !o->over && json_equal(o->of, id)) {
            return o;
        }
    }
    return NULL;
}

// ---- saying -------------------------------------------------------------------------------------

static void forget_first(pons__mcp_session *s)
{
    pons__mcp_said *e = s->said;
    s->said = e->next;
    s->said_last = s->said ? s->said_last : NULL;
    s->n_said--;
    s->said_bytes -= e->n;
    free(e);
}

static void give(pons__mcp_session *s, pons__mcp_out *o, const char *text, size_t n)
{
    if (o->stream && s->http->stream_write(o->stream, text, n) < 0) {
        s->http->stream_end(o->stream); // it may come back
        o->stream = NULL;
    }
}

static void keep(pons__mcp_session *s, pons__mcp_out *o, const char *data)
{
    pons_autobuf b = PONS_BUF_INIT;
    o->seq++;
    pons_buf_printf(&b, "id: %u-%lld\n%sdata: %s\n\n", o->number, (long long)o->seq,
                    *data ? "event: message\n" : "", data);
    pons__mcp_said *e = b.failed ? NULL : malloc(sizeof *e + b.len);
    if (!e) {
        return; // a hole, which who comes back is told of
    }
    *e = (pons__mcp_said){.stream = o->number, .seq = o->seq, .n = b.len};
    memcpy(e->text, b.data, b.len);
    if (s->said_last) {
        s->said_last->next = e;
    } else {
        s->said = e;
    }
    s->said_last = e;
    s->n_said++;
    s->said_bytes += e->n;
    while (s->said != e && (s->n_said > SAID_MAX || s->said_bytes > SAID_BYTES)) {
        forget_first(s);
    }
    give(s, o, e->text, e->n);
}

void pons__mcp_say(pons__mcp_session *s, const pons_value *m, const pons_value *of)
{
    char *text = NULL;
    pons__mcp_out *o = of_request(s, of);
    const bool answer = o && !pons_get(m, "method");
    if (!o || (o->json && !answer)) {
        o = of_number(s, 0);
    }
    if (!o || pons_value_line(m, &text) < 0) {
        return;
    }
    if (o->json) {
        give(s, o, text, strlen(text));
    } else {
        keep(s, o, text);
    }
    free(text);
    if (answer) {
        o->over = true;
        s->http->stream_end(o->stream);
        o->stream = NULL;
        if (o->json) {
            pons__mcp_out_drop(s, o);
        }
    }
}

void pons__mcp_prime(pons__mcp_session *s, pons__mcp_out *o)
{
    keep(s, o, "");
}

// ---- coming back --------------------------------------------------------------------------------

int pons__mcp_find(pons__mcp_session *s, const char *id, pons__mcp_out **ret, int64_t *ret_seq)
{
    char *end = NULL;
    const unsigned long number = strtoul(id, &end, 10);
    if (end == id || *end != '-' || number > UINT32_MAX || id[0] == '-' || id[0] == '+') {
        return PONS_EINVAL;
    }
    const char *rest = end + 1;
    const long long seq = strtoll(rest, &end, 10);
    if (end == rest || *end || seq < 0) {
        return PONS_EINVAL;
    }
    pons__mcp_out *o = of_number(s, (unsigned)number);
    if (!o || o->json || seq > o->seq) {
        return PONS_ENOTFOUND;
    }
    int64_t want = seq + 1;
    for (const pons__mcp_said *e = s->said; e; e = e->next) {
        want += e->stream == o->number && e->seq == want;
    }
    if (want != o->seq + 1) {
        return PONS_ENOTFOUND; // some of it went
    }
    *ret = o;
    *ret_seq = seq;
    return PONS_OK;
}

void pons__mcp_attach(pons__mcp_session *s, pons__mcp_out *o, int64_t after,
                      pons_http_stream *stream)
{
    s->http->stream_end(o->stream); // one connection a stream: the newest
    o->stream = stream;
    for (const pons__mcp_said *e = s->said; e; e = e->next) {
        if (e->stream == o->number && e->seq > after) {
            give(s, o, e->text, e->n);
        }
    }
    if (o->over) {
        s->http->stream_end(o->stream);
        o->stream = NULL;
    }
}

void pons__mcp_beat(pons__mcp_session *s)
{
    static const char beat[] = ": \n\n";
    for (pons__mcp_out *o = s->outs; o; o = o->next) {
        give(s, o, o->json ? "\n" : beat, o->json ? 1 : sizeof beat - 1);
    }
}

bool pons__mcp_received(const pons__mcp_session *s)
{
    for (const pons__mcp_out *o = s->outs; o; o = o->next) {
        if (o->stream) {
            return true;
        }
    }
    return false;
}
