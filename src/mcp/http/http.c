// http.c - a server behind a URL, by streamable HTTP.
//
// Every message is a POST of its own. Its answer is one JSON text, or a stream of events of which
// one is the answer; what is not an answer goes up as it comes. A stream that ends before the
// answer is taken up again where it ended (GET with Last-Event-ID), as often as RESUMES allows.
// Beside the POSTs one GET stands open for what the server says by itself, where it has such a
// stream at all.
//
// The provider's thread does all of it; the bytes are the HTTP client's (pons/ext/http.h), whose
// descriptor is one of the wire's two. The other is a timer for what is to be asked again later:
//
//     send, begun, hang_up --> transfers --> HTTP client
//     fds, next --> pump:      transfers <-- its events; due ones begin
//                   incoming <-- messages, the end of the session
//
// A session that the server has forgotten (404, or 400 that says so) is the end of the wire: the
// provider begins again with initialize.
#include "pons/ext/http.h"

#include "mcp/json_rpc.h"
#include "mcp/wire.h"
#include "pons/buf.h"
#include "pons/clock.h"
#include "pons/out_of_memory.h"
#include "pons/sse.h"
#include "pons/surrogates.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CONNECT_MS     10000L
#define RESUMES        5
#define RETRY_MS       1000
#define RETRY_MAX_MS   30000
#define TRANSFERS      300 // at a time
#define ERROR_BYTES    2048
#define HEADER_MAX     256
#define CLOSE_MS       1000 // for the DELETE of the session
#define HEADERS        6    // of a request, beside those that mcp.json gives
#define PUMP_EVENTS    256  // of all transfers, before others have their turn
#define HTTP_OK        200
#define HTTP_ACCEPTED  202
#define HTTP_BAD       400
#define HTTP_UNAUTH    401
#define HTTP_FORBIDDEN 403
#define HTTP_NOT_FOUND 404
#define HTTP_CLASS     100

typedef enum transfer_kind { POST, STREAM, RESUME, DELETE } transfer_kind;

typedef struct wire wire;

typedef struct transfer {
    struct transfer *next;
    wire *w;
    transfer_kind kind;
    int64_t id; // of the request; 0: none
    bool initialize, answered, is_stream;
    unsigned resumes;
    int64_t due_ms; // call 0: begins then
    uint64_t call;  // of the HTTP client
    int status;
    char *text;
    size_t n;
    pons_buf body;
    pons_sse sse;
    char type[HEADER_MAX], last_id[HEADER_MAX];
} transfer;

typedef struct incoming {
    struct incoming *next;
    pons_value *message; // NULL: the end
    pons_error error;
} incoming;

struct wire {
    // const after open
    char *url;
    bool is_sse; // by its entry it is of the transport of 2024: it is tried all the same
    pons_value *headers;
    pons_clock clock;
    const pons_http_ops *http;
    void *client; // of http
    int timer_fd;
    uint64_t calls;
    incoming *in, **in_end;
    char version[16];
    bool begun;
    int64_t hang_up_ms; // when the server was told; 0: not yet
    transfer *transfers;
    size_t n_transfers;
    char session[HEADER_MAX];
    bool has_stream, no_stream, over;
    long stream_wait_ms;
    int64_t stream_due_ms;
    char stream_last[HEADER_MAX];
    bool deleting;
};

// ---- to the provider ----------------------------------------------------------------------------

static void deliver(wire *w, pons_value *message, const pons_error *end)
{
    incoming *i = pons_need_zeroed(1, sizeof *i);
    i->message = message;
    if (end) {
        i->error = *end;
    }
    *w->in_end = i;
    w->in_end = &i->next;
}

static void end_session(wire *w, int status, const char *why)
{
    pons_error err = PONS_ERROR_INIT;
    if (!w->over) {
        w->over = true;
        pons_error_set(&err, status, PONS__MCP, "%s", why);
        deliver(w, NULL, &err);
    }
}

// The answer that a request does not get from its server.
static void answer_for(wire *w, int64_t id, int code, const char *why)
{
    deliver(w,
            pons_object("jsonrpc", json_string("2.0"), "id", json_integer(id), "error",
                        pons_object("code", json_integer(code), "message", json_string(why), NULL),
                        NULL),
            NULL);
}

static void take_message(transfer *t, const char *text, size_t n)
{
    pons_value *m = NULL;
    pons_error bad = PONS_ERROR_INIT;
    if (n == 0) {
        return;
    }
    if (pons_surrogates_parse(text, n, &m, &bad) < 0) {
        if (t->id > 0 && !t->answered) {
            t->answered = true;
            answer_for(t->w, t->id, PONS__RPC_WIRE, "the server's answer is not JSON");
        }
        return;
    }
    t->answered |= !pons_get(m, "method") && pons_get_int(m, "id", 0) == t->id;
    deliver(t->w, m, NULL);
}

// ---- what comes ---------------------------------------------------------------------------------

static int on_event(void *user, const char *event, const char *data, size_t n)
{
    transfer *t = user;
    snprintf(t->last_id, sizeof t->last_id, "%s", t->sse.id);
    take_message(t, data, n);
    return PONS_OK;
}

static bool feed(transfer *t, const char *s, size_t n)
{
    const bool ok = pons_sse_feed(&t->sse, s, n, on_event, t) == PONS_OK;
    if (t->sse.last_id[0]) { // an empty event primes the stream
        snprintf(t->last_id, sizeof t->last_id, "%s", t->sse.last_id);
    }
    return ok;
}

// False: too long.
static bool take_body(transfer *t, const char *bytes, size_t n)
{
    t->is_stream = t->status == HTTP_OK && strncasecmp(t->type, "text/event-stream", 17) == 0;
    if (t->is_stream) {
        return feed(t, bytes, n);
    }
    const size_t most = t->status == HTTP_OK ? PONS__MCP_MESSAGE_MAX : ERROR_BYTES;
    const size_t room = most - t->body.len;
    pons_buf_bytes(&t->body, bytes, n < room ? n : room);
    return n <= room || t->status != HTTP_OK;
}

// ---- transfers ----------------------------------------------------------------------------------

typedef struct headers {
    char **lines; // NULL at the end
    size_t n;
} headers;

static void add_header(headers *h, const char *name, const char *value)
{
    if (asprintf(&h->lines[h->n], "%s: %s", name, value) < 0) {
        pons_end_no_memory("a request");
    }
    h->n++;
}

static void make_headers(const transfer *t, headers *h)
{
    const wire *w = t->w;
    h->lines = pons_need_zeroed(json_object_size(w->headers) + HEADERS, sizeof *h->lines);
    pons_each_member(key, v, w->headers) {
        add_header(h, key, json_string_value(v));
    }
    add_header(h, "Accept",
               t->kind == POST ? "application/json, text/event-stream" : "text/event-stream");
    if (t->kind == POST) {
        add_header(h, "Content-Type", "application/json");
    }
    if (w->version[0]) {
        add_header(h, "MCP-Protocol-Version", w->version);
    }
    if (w->session[0] && !t->initialize) {
        add_header(h, "Mcp-Session-Id", w->session);
    }
    if ((t->kind == STREAM || t->kind == RESUME) && t->last_id[0]) {
        add_header(h, "Last-Event-ID", t->last_id);
    }
}

static void transfer_free(transfer *t)
{
    transfer **at = &t->w->transfers;
    while (*at != t) {
        at = &(*at)->next;
    }
    *at = t->next;
    t->w->n_transfers--;
    t->w->deleting &= t->kind != DELETE;
    if (t->call) {
        t->w->http->cancel(t->w->client, t->call);
    }
    pons_buf_fini(&t->body);
    pons_sse_fini(&t->sse);
    free(t->text);
    free(t);
}

static transfer *add(wire *w, transfer_kind kind)
{
    transfer *t = pons_need_zeroed(1, sizeof *t);
    t->w = w;
    t->kind = kind;
    pons_sse_init(&t->sse, PONS__MCP_MESSAGE_MAX);
    t->next = w->transfers;
    w->transfers = t;
    w->n_transfers++;
    return t;
}

static void begin(transfer *t)
{
    static const char *const want[] = {"Content-Type", "Mcp-Session-Id", NULL};
    wire *w = t->w;
    headers h = {.n = 0};
    make_headers(t, &h);
    const pons_http_request r = {.user = t,
                                 .method = t->kind == DELETE ? "DELETE" : NULL,
                                 .url = w->url,
                                 .headers = (const char *const *)h.lines,
                                 .body = t->text,
                                 .body_n = t->n,
                                 .want = want,
                                 .connect_ms = CONNECT_MS,
                                 .whole_ms = t->kind == DELETE ? CLOSE_MS : 0};
    t->call = ++w->calls;
    if (w->http->start(w->client, t->call, &r, NULL) < 0) {
        t->call = 0;
        if (t->id > 0) {
            answer_for(w, t->id, PONS__RPC_INTERNAL, "no room for a request");
        }
        transfer_free(t);
    }
    for (size_t i = 0; i < h.n; i++) {
        free(h.lines[i]);
    }
    free(h.lines);
}

// ---- ends of transfers --------------------------------------------------------------------------

static void refused(transfer *t)
{
    char why[ERROR_BYTES + 128];
    const char *body = t->body.data ? t->body.data : "";
    const int status = t->status;
    wire *w = t->w;
    // Many servers say 400 for a session that they do not know.
    if (w->session[0] && !t->initialize &&
        (status == HTTP_NOT_FOUND || (status == HTTP_BAD && strcasestr(body, "session")))) {
        end_session(w, PONS_ECLOSED, "the server has forgotten the session");
        return;
    }
    pons_autovalue m = NULL;
    const char *says = body;
    if (pons_value_parse(body, t->body.len, &m, NULL) >= 0) {
        says = pons_get_str(pons_get(m, "error"), "message",
                            pons_get_str(m, "message", pons_get_str(m, "error", "")));
    }
    const char *advice = "";
    if (status == HTTP_UNAUTH || status == HTTP_FORBIDDEN) {
        advice = ": put what it wants into \"headers\" of mcp.json";
    } else if (t->initialize && w->is_sse) {
        advice = ": the transport sse, of 2024, is not spoken; give the url of its streamable HTTP";
    }
    snprintf(why, sizeof why, "HTTP status %d%s%s%.300s", status, advice, *says ? ": " : "", says);
    if (t->id > 0) {
        answer_for(w, t->id, t->kind == RESUME ? PONS__RPC_WIRE : PONS__RPC_INTERNAL, why);
    }
}

static long back_off(unsigned n)
{
    long ms = RETRY_MS;
    while (n-- > 0 && ms < RETRY_MAX_MS) {
        ms *= 2;
    }
    return ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS;
}

// How long the stream asked to wait; 0: it did not say.
static long asked_wait(const transfer *t)
{
    return t->sse.retry_ms < RETRY_MAX_MS ? t->sse.retry_ms : RETRY_MAX_MS;
}

// The stream of an answer that has not come: taken up again, or given up.
static void resume(transfer *t, const char *why)
{
    wire *w = t->w;
    if (!t->last_id[0] || t->resumes >= RESUMES || w->over) {
        answer_for(w, t->id, PONS__RPC_WIRE, why);
        return;
    }
    const long asked = asked_wait(t);
    transfer *again = add(w, RESUME);
    again->id = t->id;
    again->resumes = t->resumes + 1;
    again->due_ms = pons_now_ms(&w->clock) + (asked ? asked : back_off(t->resumes));
    snprintf(again->last_id, sizeof again->last_id, "%s", t->last_id);
}

static void stream_ended(transfer *t, bool accepted)
{
    wire *w = t->w;
    w->has_stream = false;
    if (t->last_id[0]) {
        snprintf(w->stream_last, sizeof w->stream_last, "%s", t->last_id);
    }
    if (t->status == HTTP_NOT_FOUND && w->session[0]) {
        end_session(w, PONS_ECLOSED, "the server has forgotten the session");
    } else if (!accepted && t->status >= HTTP_BAD) {
        w->no_stream = true; // it has none: 405
    } else {
        const long asked = asked_wait(t);
        w->stream_wait_ms = accepted                           ? asked ? asked : RETRY_MS
                            : w->stream_wait_ms < RETRY_MAX_MS ? 2 * w->stream_wait_ms
                                                               : RETRY_MAX_MS;
        w->stream_due_ms = pons_now_ms(&w->clock) + w->stream_wait_ms;
    }
}

// A response that is no stream.
static void body_ended(transfer *t, pons_http_fault fault, const char *why)
{
    const int code = why && fault == PONS_HTTP_UNREACHABLE ? PONS__RPC_INTERNAL : PONS__RPC_WIRE;
    if (!why && t->status == HTTP_OK && t->body.len > 0) {
        take_message(t, t->body.data, t->body.len);
        why = t->answered ? NULL : "the server answered something else";
    } else if (!why) {
        why = "the server gave no answer";
    }
    if (why && t->id > 0) {
        answer_for(t->w, t->id, code, why);
    }
}

// why NULL: the transfer has ended well.
static void finished(transfer *t, pons_http_fault fault, const char *why)
{
    const int status = t->status;
    const bool got = status == HTTP_OK || status == HTTP_ACCEPTED;
    if (t->kind == DELETE) {
        // whatever it says to that
    } else if (t->kind == STREAM) {
        stream_ended(t, status == HTTP_OK && t->is_stream);
    } else if (status != 0 && !got && status / HTTP_CLASS != 2) {
        refused(t);
    } else if (t->is_stream || (t->kind == RESUME && why)) {
        if (!t->answered && t->id > 0) {
            resume(t, why ? why : "the stream ended before the answer");
        }
    } else {
        body_ended(t, fault, why);
    }
    transfer_free(t);
}

static void take_event(transfer *t, const pons_http_event *ev)
{
    switch (ev->kind) {
    case PONS_HTTP_HEAD:
        t->status = ev->status;
        pons_http_header(ev, "Content-Type", t->type, sizeof t->type);
        if (t->initialize) {
            pons_http_header(ev, "Mcp-Session-Id", t->w->session, sizeof t->w->session);
        }
        break;
    case PONS_HTTP_DATA:
        if (!take_body(t, ev->data, ev->n)) {
            finished(t, PONS_HTTP_LONG_BODY, "the answer is too long");
        }
        break;
    case PONS_HTTP_END:
        t->call = 0;
        finished(t, PONS_HTTP_BROKEN, NULL);
        break;
    case PONS_HTTP_FAILED:
        t->call = 0;
        finished(t, ev->fault, ev->data);
        break;
    }
}

// ---- time ---------------------------------------------------------------------------------------

static bool stream_wanted(const wire *w)
{
    return w->begun && !w->has_stream && !w->no_stream && !w->over && !w->hang_up_ms;
}

// Sets the timer for what is due next.
static void set_timer(wire *w)
{
    const int64_t now = pons_now_ms(&w->clock);
    int64_t due = w->in ? now : stream_wanted(w) ? w->stream_due_ms : INT64_MAX;
    for (const transfer *t = w->transfers; t; t = t->next) {
        due = !t->call && t->due_ms < due ? t->due_ms : due;
    }
    struct itimerspec at = {.it_value = {0}};
    if (due != INT64_MAX) { // a time of zero would stop the timer
        const int64_t left = due > now ? due - now : 1;
        at.it_value = (struct timespec){.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
    }
    timerfd_settime(w->timer_fd, 0, &at, NULL); // also makes it quiet
}

static void begin_due(wire *w)
{
    const int64_t now = pons_now_ms(&w->clock);
    if (stream_wanted(w) && now >= w->stream_due_ms) {
        transfer *t = add(w, STREAM);
        snprintf(t->last_id, sizeof t->last_id, "%s", w->stream_last);
        w->has_stream = true;
        begin(t);
    }
    for (transfer *t = w->transfers, *next = NULL; t; t = next) {
        next = t->next;
        if (!t->call && now >= t->due_ms) {
            begin(t);
        }
    }
}

// Takes what has come and begins what is due.
static void pump(wire *w)
{
    pons_http_event ev;
    for (int i = 0; i < PUMP_EVENTS && w->http->next(w->client, &ev); i++) {
        take_event(ev.user, &ev);
        pons_http_event_clear(&ev);
    }
    begin_due(w);
    set_timer(w);
}

// ---- the contract -------------------------------------------------------------------------------

static void wire_free(wire *w)
{
    while (w->transfers) {
        transfer_free(w->transfers);
    }
    while (w->in) {
        incoming *i = w->in;
        w->in = i->next;
        pons_value_unref(i->message);
        free(i);
    }
    if (w->client) {
        w->http->close(w->client);
    }
    if (w->timer_fd >= 0) {
        close(w->timer_fd);
    }
    pons_value_unref(w->headers);
    free(w->url);
    free(w);
}

static int http_open(const pons_value *spec, const char *workspace, pons__mcp_log *log, void **ret,
                     pons_error *err)
{
    wire *w = calloc(1, sizeof *w);
    if (!w) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a server");
    }
    w->in_end = &w->in;
    w->clock = pons_clock_real();
    w->url = strdup(pons_get_str(spec, "url", ""));
    w->headers = pons_value_ref(pons_get(spec, "headers"));
    const char *last = w->url ? strrchr(w->url, '/') : NULL;
    w->is_sse =
        strcmp(pons_get_str(spec, "type", pons_get_str(spec, "transport", "")), "sse") == 0 ||
        (last && strcmp(last, "/sse") == 0);
    w->stream_wait_ms = RETRY_MS;
    w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int rc = w->url && w->timer_fd >= 0
                 ? PONS_OK
                 : pons_error_set(err, PONS_EENV, PONS__MCP, "cannot start a connection: %s",
                                  strerror(errno));
    rc = rc == PONS_OK ? pons_http_load(&w->http, err) : rc;
    rc = rc == PONS_OK ? w->http->open(NULL, NULL, &w->client, err) : rc;
    if (rc != PONS_OK) {
        wire_free(w);
        return rc;
    }
    *ret = w;
    return PONS_OK;
}

static void http_hang_up(void *self)
{
    wire *w = self;
    if (w->hang_up_ms) {
        return;
    }
    w->hang_up_ms = pons_now_ms(&w->clock);
    if (w->session[0] && !w->over) { // says that it is over
        w->deleting = true;
        begin(add(w, DELETE));
    }
}

static void http_close(void *self)
{
    wire *w = self;
    if (!w) {
        return;
    }
    http_hang_up(w);
    const int64_t until = w->hang_up_ms + CLOSE_MS;
    struct pollfd p = {.fd = w->http->event_fd(w->client), .events = POLLIN};
    for (int64_t now = w->hang_up_ms; w->deleting && now < until; now = pons_now_ms(&w->clock)) {
        poll(&p, 1, (int)(until - now));
        pump(w);
    }
    wire_free(w);
}

static int http_send(void *self, const char *text, size_t n, int64_t id, pons_error *err)
{
    wire *w = self;
    char *own = malloc(n + 1);
    if (!own) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a message");
    }
    memcpy(own, text, n);
    own[n] = '\0';
    if (w->n_transfers >= TRANSFERS) {
        free(own);
        if (id > 0) {
            answer_for(w, id, PONS__RPC_INTERNAL, "too many requests at a time");
        }
    } else {
        transfer *t = add(w, POST);
        t->text = own;
        t->n = n;
        t->id = id;
        t->initialize = !w->begun && id > 0;
        begin(t);
    }
    begin_due(w);
    set_timer(w);
    return PONS_OK;
}

static void http_begun(void *self, const char *version)
{
    wire *w = self;
    snprintf(w->version, sizeof w->version, "%s", version);
    w->begun = true;
}

static int http_fds(void *self, struct pollfd *p)
{
    const wire *w = self;
    p[0] = (struct pollfd){.fd = w->http->event_fd(w->client), .events = POLLIN};
    p[1] = (struct pollfd){.fd = w->timer_fd, .events = POLLIN};
    return 2;
}

static int http_next(void *self, pons_value **ret, pons_error *err)
{
    wire *w = self;
    if (!w->in) {
        pump(w);
    }
    incoming *i = w->in;
    if (!i) {
        return 0;
    }
    w->in = i->next;
    w->in_end = w->in ? w->in_end : &w->in;
    int rc = 1;
    if (i->message) {
        *ret = i->message;
    } else {
        *err = i->error;
        rc = err->status;
    }
    free(i);
    return rc;
}

const pons__wire_ops pons__wire_http = {
    .name = "http",
    .open = http_open,
    .hang_up = http_hang_up,
    .close = http_close,
    .send = http_send,
    .begun = http_begun,
    .fds = http_fds,
    .next = http_next,
};
