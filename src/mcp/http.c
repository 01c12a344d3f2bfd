// http.c - the module mcp-http: a server behind a URL, by streamable HTTP.
//
// Every message is a POST of its own. Its answer is one JSON text, or a stream of events of which
// one is the answer; what is not an answer goes up as it comes. A stream that ends before the
// answer is taken up again where it ended (GET with Last-Event-ID), as often as RESUMES allows.
// Beside the POSTs one GET stands open for what the server says by itself, where it has such a
// stream at all.
//
// A thread owns libcurl, because a name look-up may take seconds; the provider's thread and it meet
// in two queues:
//
//     send, begun, hang_up ──► outgoing (curl_multi_wakeup) ──► transfers
//     fds, next            ◄── incoming (eventfd)           ◄── messages, the end of the session
//
// A session that the server has forgotten (404, or 400 that says so) is the end of the wire: the
// provider begins again with initialize.
#include "mcp/mcp_internal.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pons/module.h"

#define CONNECT_MS     10000L
#define RESUMES        5
#define RETRY_MS       1000
#define RETRY_MAX_MS   30000
#define TRANSFERS      300 // at a time
#define ERROR_BYTES    2048
#define HEADER_MAX     256
#define CLOSE_MS       1000 // for the DELETE of the session
#define IDLE_MS        60000
#define AGENT          "pons/" PONS_VERSION
#define HTTP_OK        200
#define HTTP_ACCEPTED  202
#define HTTP_BAD       400
#define HTTP_UNAUTH    401
#define HTTP_FORBIDDEN 403
#define HTTP_NOT_FOUND 404
#define HTTP_CLASS     100

typedef enum transfer_kind { POST, STREAM, RESUME, DELETE } transfer_kind;

typedef struct events { // text/event-stream, in whatever pieces it comes
    pons_buf line, data;
    bool after_cr;
    char id[HEADER_MAX];
    long retry_ms; // 0: not said
} events;

typedef struct wire wire;

typedef struct transfer {
    struct transfer *next;
    wire *w;
    transfer_kind kind;
    int64_t id; // of the request; 0: none
    bool initialize, answered, is_stream;
    unsigned resumes;
    int64_t due_ms; // easy NULL: begins then
    CURL *easy;
    struct curl_slist *headers;
    char *text;
    size_t n;
    pons_buf body;
    events ev;
    char type[HEADER_MAX], last_id[HEADER_MAX];
    char detail[CURL_ERROR_SIZE];
} transfer;

typedef struct incoming {
    struct incoming *next;
    pons_value *message; // NULL: the end
    pons_error error;
} incoming;

typedef struct outgoing {
    struct outgoing *next;
    char *text;
    size_t n;
    int64_t id;
} outgoing;

struct wire {
    // const after open
    char *url;
    pons_value *headers;
    bool loopback;
    pons_clock clock;
    CURLM *multi;
    int event_fd;
    pthread_t thread;
    // [mtx]
    pthread_mutex_t mtx;
    outgoing *out, **out_end;
    incoming *in, **in_end;
    char version[16];
    bool begun, hung_up;
    // the thread's
    transfer *transfers;
    size_t n_transfers;
    char session[HEADER_MAX];
    bool has_stream, no_stream, over;
    long stream_wait_ms;
    int64_t stream_due_ms;
    char stream_last[HEADER_MAX];
    bool deleting;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

// ---- to the provider ----

static void deliver(wire *w, pons_value *message, const pons_error *end)
{
    incoming *i = calloc(1, sizeof *i);
    if (!i) {
        abort();
    }
    i->message = message;
    if (end) {
        i->error = *end;
    }
    pthread_mutex_lock(&w->mtx);
    *w->in_end = i;
    w->in_end = &i->next;
    eventfd_write(w->event_fd, 1);
    pthread_mutex_unlock(&w->mtx);
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
    if (pons_value_parse(text, n, &m, &bad) < 0) {
        if (t->id > 0 && !t->answered) {
            t->answered = true;
            answer_for(t->w, t->id, PONS__RPC_WIRE, "the server's answer is not JSON");
        }
        return;
    }
    t->answered |= !pons_get(m, "method") && pons_get_int(m, "id", 0) == t->id;
    deliver(t->w, m, NULL);
}

// ---- streams of events ----

static void end_event(transfer *t)
{
    events *e = &t->ev;
    if (e->data.len > 0) {
        snprintf(t->last_id, sizeof t->last_id, "%s", e->id);
        take_message(t, e->data.data, e->data.len - (e->data.data[e->data.len - 1] == '\n'));
    } else if (e->id[0]) {
        snprintf(t->last_id, sizeof t->last_id, "%s", e->id); // an empty event primes the stream
    }
    pons_buf_clear(&e->data);
}

static void end_line(transfer *t)
{
    events *e = &t->ev;
    const char *line = e->line.data ? e->line.data : "";
    if (e->line.len == 0) {
        end_event(t);
        return;
    }
    const char *colon = strchr(line, ':');
    const size_t field = colon ? (size_t)(colon - line) : e->line.len;
    const char *value = colon ? colon + 1 + (colon[1] == ' ') : "";
    if (field == 4 && memcmp(line, "data", 4) == 0) {
        pons_buf_str(&e->data, value);
        pons_buf_byte(&e->data, '\n');
    } else if (field == 2 && memcmp(line, "id", 2) == 0) {
        snprintf(e->id, sizeof e->id, "%s", value);
    } else if (field == 5 && memcmp(line, "retry", 5) == 0) {
        const long ms = strtol(value, NULL, 10);
        e->retry_ms = ms < 1 ? 1 : ms > RETRY_MAX_MS ? RETRY_MAX_MS : ms;
    }
    pons_buf_clear(&e->line);
}

static bool feed(transfer *t, const char *s, size_t n)
{
    events *e = &t->ev;
    for (size_t i = 0; i < n; i++) {
        if (e->after_cr && s[i] == '\n') {
            e->after_cr = false;
            continue;
        }
        e->after_cr = s[i] == '\r';
        if (s[i] == '\r' || s[i] == '\n') {
            end_line(t);
        } else {
            pons_buf_byte(&e->line, (uint8_t)s[i]);
        }
    }
    return !e->line.failed && !e->data.failed && e->line.len + e->data.len <= PONS__MCP_MESSAGE_MAX;
}

// ---- libcurl's callbacks ----

static void header_value(const char *line, size_t n, const char *name, char *ret)
{
    const size_t len = strlen(name);
    if (n <= len || strncasecmp(line, name, len) != 0 || line[len] != ':') {
        return;
    }
    const char *at = line + len + 1, *end = line + n;
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    while (end > at && strchr(" \t\r\n", end[-1])) {
        end--;
    }
    snprintf(ret, HEADER_MAX, "%.*s", (int)(end - at), at);
}

static size_t on_header(char *line, size_t one, size_t n, void *user)
{
    transfer *t = user;
    (void)one;
    if (n > 5 && strncasecmp(line, "HTTP/", 5) == 0) { // another reply begins
        t->type[0] = '\0';
    }
    header_value(line, n, "Content-Type", t->type);
    if (t->initialize) {
        header_value(line, n, "Mcp-Session-Id", t->w->session);
    }
    return n;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    transfer *t = user;
    long status = 0;
    (void)one;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    t->is_stream = status == HTTP_OK && strncasecmp(t->type, "text/event-stream", 17) == 0;
    if (t->is_stream) {
        return feed(t, bytes, n) ? n : CURL_WRITEFUNC_ERROR;
    }
    const size_t most = status == HTTP_OK ? PONS__MCP_MESSAGE_MAX : ERROR_BYTES;
    const size_t room = most - t->body.len;
    pons_buf_bytes(&t->body, bytes, n < room ? n : room);
    return n <= room || status != HTTP_OK ? n : CURL_WRITEFUNC_ERROR;
}

// ---- transfers ----

static void add_header(transfer *t, const char *name, const char *value)
{
    char *line = NULL;
    if (asprintf(&line, "%s: %s", name, value) >= 0) {
        struct curl_slist *more = curl_slist_append(t->headers, line);
        t->headers = more ? more : t->headers;
        free(line);
    }
}

static void make_headers(transfer *t)
{
    wire *w = t->w;
    const char *key;
    json_t *v;
    json_object_foreach(w->headers, key, v)
    {
        add_header(t, key, json_string_value(v));
    }
    add_header(t, "Accept",
               t->kind == POST ? "application/json, text/event-stream" : "text/event-stream");
    if (t->kind == POST) {
        add_header(t, "Content-Type", "application/json");
        add_header(t, "Expect", ""); // a body is sent at once
    }
    pthread_mutex_lock(&w->mtx);
    if (w->version[0]) {
        add_header(t, "MCP-Protocol-Version", w->version);
    }
    pthread_mutex_unlock(&w->mtx);
    if (w->session[0] && !t->initialize) {
        add_header(t, "Mcp-Session-Id", w->session);
    }
    if ((t->kind == STREAM || t->kind == RESUME) && t->last_id[0]) {
        add_header(t, "Last-Event-ID", t->last_id);
    }
}

static bool set_up(transfer *t)
{
    CURL *e = t->easy;
    bool ok = curl_easy_setopt(e, CURLOPT_URL, t->w->url) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_USERAGENT, AGENT) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->headers) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_HEADERDATA, t) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_WRITEDATA, t) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->detail) == CURLE_OK &&
              curl_easy_setopt(e, CURLOPT_PRIVATE, t) == CURLE_OK;
    if (t->w->loopback) {
        ok = ok && curl_easy_setopt(e, CURLOPT_PROXY, "") == CURLE_OK;
    }
    if (t->kind == POST) {
        ok = ok && curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->text) == CURLE_OK &&
             curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->n) == CURLE_OK;
    } else if (t->kind == DELETE) {
        ok = ok && curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, "DELETE") == CURLE_OK &&
             curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)CLOSE_MS) == CURLE_OK;
    }
    return ok;
}

static void transfer_free(transfer *t)
{
    transfer **at = &t->w->transfers;
    while (*at != t) {
        at = &(*at)->next;
    }
    *at = t->next;
    t->w->n_transfers--;
    if (t->easy) {
        curl_multi_remove_handle(t->w->multi, t->easy);
        curl_easy_cleanup(t->easy);
    }
    curl_slist_free_all(t->headers);
    pons_buf_fini(&t->body);
    pons_buf_fini(&t->ev.line);
    pons_buf_fini(&t->ev.data);
    free(t->text);
    free(t);
}

static transfer *add(wire *w, transfer_kind kind)
{
    transfer *t = calloc(1, sizeof *t);
    if (!t) {
        abort();
    }
    t->w = w;
    t->kind = kind;
    t->next = w->transfers;
    w->transfers = t;
    w->n_transfers++;
    return t;
}

static void begin(transfer *t)
{
    make_headers(t);
    t->easy = curl_easy_init();
    if (!t->easy || !set_up(t) || curl_multi_add_handle(t->w->multi, t->easy) != CURLM_OK) {
        if (t->id > 0) {
            answer_for(t->w, t->id, PONS__RPC_INTERNAL, "no room for a request");
        }
        transfer_free(t);
    }
}

// ---- ends of transfers ----

static void refused(transfer *t, long status)
{
    char why[ERROR_BYTES + 128];
    const char *body = t->body.data ? t->body.data : "";
    wire *w = t->w;
    // Many servers say 400 for a session that they do not know.
    if (w->session[0] && !t->initialize &&
        (status == HTTP_NOT_FOUND || (status == HTTP_BAD && strcasestr(body, "session")))) {
        end_session(w, PONS_ECLOSED, "the server has forgotten the session");
        return;
    }
    pons_value *m = NULL;
    pons_error bad = PONS_ERROR_INIT;
    const char *says = body;
    if (pons_value_parse(body, t->body.len, &m, &bad) >= 0) {
        says = pons_get_str(pons_get(m, "error"), "message",
                            pons_get_str(m, "message", pons_get_str(m, "error", "")));
    }
    snprintf(why, sizeof why, "HTTP status %ld%s%s%.300s", status,
             status == HTTP_UNAUTH || status == HTTP_FORBIDDEN
                 ? ": put what it wants into \"headers\" of mcp.json"
                 : "",
             *says ? ": " : "", says);
    pons_value_unref(m);
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

// The stream of an answer that has not come: taken up again, or given up.
static void resume(transfer *t, const char *why)
{
    wire *w = t->w;
    if (!t->last_id[0] || t->resumes >= RESUMES || w->over) {
        answer_for(w, t->id, PONS__RPC_WIRE, why);
        return;
    }
    transfer *again = add(w, RESUME);
    again->id = t->id;
    again->resumes = t->resumes + 1;
    again->due_ms =
        pons_now_ms(&w->clock) + (t->ev.retry_ms ? t->ev.retry_ms : back_off(t->resumes));
    snprintf(again->last_id, sizeof again->last_id, "%s", t->last_id);
}

static void stream_ended(transfer *t, bool accepted, long status)
{
    wire *w = t->w;
    w->has_stream = false;
    if (t->last_id[0]) {
        snprintf(w->stream_last, sizeof w->stream_last, "%s", t->last_id);
    }
    if (status == HTTP_NOT_FOUND && w->session[0]) {
        end_session(w, PONS_ECLOSED, "the server has forgotten the session");
    } else if (!accepted && status >= HTTP_BAD) {
        w->no_stream = true; // it has none: 405
    } else {
        w->stream_wait_ms = accepted ? t->ev.retry_ms ? t->ev.retry_ms : RETRY_MS
                            : w->stream_wait_ms < RETRY_MAX_MS ? 2 * w->stream_wait_ms
                                                               : RETRY_MAX_MS;
        w->stream_due_ms = pons_now_ms(&w->clock) + w->stream_wait_ms;
    }
}

static void finished(transfer *t, CURLcode code)
{
    long status = 0;
    wire *w = t->w;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    const bool got = status == HTTP_OK || status == HTTP_ACCEPTED;
    const char *why = t->detail[0] ? t->detail : curl_easy_strerror(code);
    if (t->kind == DELETE) {
        w->deleting = false;
    } else if (t->kind == STREAM) {
        stream_ended(t, status == HTTP_OK && t->is_stream, status);
    } else if (status != 0 && !got && status / HTTP_CLASS != 2) {
        refused(t, status);
    } else if (t->is_stream || (t->kind == RESUME && code != CURLE_OK)) {
        if (!t->answered && t->id > 0) {
            resume(t, code == CURLE_OK ? "the stream ended before the answer" : why);
        }
    } else if (code != CURLE_OK) {
        const bool unsent = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
        if (t->id > 0) {
            answer_for(w, t->id, unsent ? PONS__RPC_INTERNAL : PONS__RPC_WIRE, why);
        }
    } else if (status == HTTP_OK && t->body.len > 0) {
        take_message(t, t->body.data, t->body.len);
        if (t->id > 0 && !t->answered) {
            answer_for(w, t->id, PONS__RPC_WIRE, "the server answered something else");
        }
    } else if (t->id > 0) {
        answer_for(w, t->id, PONS__RPC_WIRE, "the server gave no answer");
    }
    transfer_free(t);
}

// ---- the thread ----

static void take_outgoing(wire *w)
{
    pthread_mutex_lock(&w->mtx);
    outgoing *list = w->out;
    w->out = NULL;
    w->out_end = &w->out;
    const bool begun = w->begun;
    pthread_mutex_unlock(&w->mtx);
    while (list) {
        outgoing *o = list;
        list = o->next;
        if (w->n_transfers >= TRANSFERS) {
            if (o->id > 0) {
                answer_for(w, o->id, PONS__RPC_INTERNAL, "too many requests at a time");
            }
            free(o->text);
        } else {
            transfer *t = add(w, POST);
            t->text = o->text;
            t->n = o->n;
            t->id = o->id;
            t->initialize = !begun && o->id > 0;
            begin(t);
        }
        free(o);
    }
    const int64_t now = pons_now_ms(&w->clock);
    if (begun && !w->has_stream && !w->no_stream && !w->over && now >= w->stream_due_ms) {
        transfer *t = add(w, STREAM);
        snprintf(t->last_id, sizeof t->last_id, "%s", w->stream_last);
        w->has_stream = true;
        begin(t);
    }
    for (transfer *t = w->transfers, *next = NULL; t; t = next) {
        next = t->next;
        if (!t->easy && now >= t->due_ms) {
            begin(t);
        }
    }
}

static int patience_ms(const wire *w)
{
    const int64_t now = pons_now_ms(&w->clock);
    int64_t due = now + IDLE_MS;
    for (const transfer *t = w->transfers; t; t = t->next) {
        due = !t->easy && t->due_ms < due ? t->due_ms : due;
    }
    if (!w->has_stream && !w->no_stream && w->stream_due_ms > now && w->stream_due_ms < due) {
        due = w->stream_due_ms;
    }
    return due > now ? (int)(due - now) : 0;
}

static void turn(wire *w, int wait_ms)
{
    int running = 0, left = 0;
    CURLMsg *msg;
    curl_multi_perform(w->multi, &running);
    while ((msg = curl_multi_info_read(w->multi, &left))) {
        transfer *t = NULL;
        const CURLcode code = msg->data.result;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        finished(t, code);
        wait_ms = 0;
    }
    curl_multi_poll(w->multi, NULL, 0, wait_ms, NULL);
}

static void *run(void *arg)
{
    wire *w = arg;
    for (;;) {
        pthread_mutex_lock(&w->mtx);
        const bool quit = w->hung_up;
        pthread_mutex_unlock(&w->mtx);
        if (quit) {
            break;
        }
        take_outgoing(w);
        turn(w, patience_ms(w));
    }
    if (w->session[0] && !w->over) { // says that it is over
        const int64_t until = pons_now_ms(&w->clock) + CLOSE_MS;
        w->deleting = true;
        begin(add(w, DELETE));
        while (w->deleting && pons_now_ms(&w->clock) < until) {
            turn(w, (int)(until - pons_now_ms(&w->clock)));
        }
    }
    while (w->transfers) {
        transfer_free(w->transfers);
    }
    return NULL;
}

// ---- the contract ----

static void wire_free(wire *w)
{
    while (w->out) {
        outgoing *o = w->out;
        w->out = o->next;
        free(o->text);
        free(o);
    }
    while (w->in) {
        incoming *i = w->in;
        w->in = i->next;
        pons_value_unref(i->message);
        free(i);
    }
    if (w->multi) {
        curl_multi_cleanup(w->multi);
    }
    if (w->event_fd >= 0) {
        close(w->event_fd);
    }
    pthread_mutex_destroy(&w->mtx);
    pons_value_unref(w->headers);
    free(w->url);
    free(w);
}

static int http_open(const pons_value *spec, const char *workspace, pons__mcp_log *log, void **ret,
                     pons_error *err)
{
    (void)workspace;
    (void)log;
    pthread_once(&once, init);
    wire *w = calloc(1, sizeof *w);
    if (!w) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a server");
    }
    pthread_mutex_init(&w->mtx, NULL);
    w->out_end = &w->out;
    w->in_end = &w->in;
    w->clock = pons_clock_real();
    w->url = strdup(pons_get_str(spec, "url", ""));
    w->headers = pons_value_ref(pons_get(spec, "headers"));
    w->stream_wait_ms = RETRY_MS;
    w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->multi = curl_multi_init();
    w->loopback = w->url && (strncasecmp(w->url, "http://127.", 11) == 0 ||
                             strncasecmp(w->url, "http://localhost", 16) == 0 ||
                             strncasecmp(w->url, "http://[::1]", 12) == 0);
    const int rc =
        w->url && w->multi && w->event_fd >= 0 ? pthread_create(&w->thread, NULL, run, w) : ENOMEM;
    if (rc != 0) {
        wire_free(w);
        return pons_error_set(err, PONS_EENV, PONS__MCP, "cannot start a connection: %s",
                              strerror(rc));
    }
    *ret = w;
    return PONS_OK;
}

static void http_hang_up(void *self)
{
    wire *w = self;
    pthread_mutex_lock(&w->mtx);
    w->hung_up = true;
    pthread_mutex_unlock(&w->mtx);
    curl_multi_wakeup(w->multi);
}

static void http_close(void *self)
{
    wire *w = self;
    if (w) {
        http_hang_up(w);
        pthread_join(w->thread, NULL);
        wire_free(w);
    }
}

static int http_send(void *self, const char *text, size_t n, int64_t id, pons_error *err)
{
    wire *w = self;
    outgoing *o = calloc(1, sizeof *o);
    char *own = malloc(n + 1);
    if (!o || !own) {
        free(o);
        free(own);
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a message");
    }
    memcpy(own, text, n);
    own[n] = '\0';
    *o = (outgoing){.text = own, .n = n, .id = id};
    pthread_mutex_lock(&w->mtx);
    *w->out_end = o;
    w->out_end = &o->next;
    pthread_mutex_unlock(&w->mtx);
    curl_multi_wakeup(w->multi);
    return PONS_OK;
}

static void http_begun(void *self, const char *version)
{
    wire *w = self;
    pthread_mutex_lock(&w->mtx);
    snprintf(w->version, sizeof w->version, "%s", version);
    w->begun = true;
    pthread_mutex_unlock(&w->mtx);
}

static int http_fds(void *self, struct pollfd *p)
{
    p[0] = (struct pollfd){.fd = ((wire *)self)->event_fd, .events = POLLIN};
    return 1;
}

static int http_next(void *self, pons_value **ret, pons_error *err)
{
    wire *w = self;
    pthread_mutex_lock(&w->mtx);
    incoming *i = w->in;
    if (i) {
        w->in = i->next;
        w->in_end = w->in ? w->in_end : &w->in;
    }
    if (!w->in) {
        eventfd_t ignored;
        eventfd_read(w->event_fd, &ignored);
    }
    pthread_mutex_unlock(&w->mtx);
    if (!i) {
        return 0;
    }
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

static const pons__wire_ops ops = {
    .name = "http",
    .open = http_open,
    .hang_up = http_hang_up,
    .close = http_close,
    .send = http_send,
    .begun = http_begun,
    .fds = http_fds,
    .next = http_next,
};
PONS_MODULE_EXPORT(PONS__MCP_KIND, PONS__MCP_HTTP, &ops);
