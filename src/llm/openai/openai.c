// openai.c - chat completions over HTTP(S): the client that most servers understand.
//
// All of it is done in the turns that the HTTP client's thread gives to its users
// (pons/ext/http.h), so that the brain's loop waits neither for bytes nor for reading them. The
// host and that thread meet in two queues under one lock:
//
//     host                       [mtx]                  HTTP thread
//     start, cancel --> commands (and wake)    --> turn: calls, deadlines, retries --> attempts
//     event_fd, next <-- events  (and its fd)  <-- tokens, the answer, the error   <-- heads, bytes
//
// A call lives in this way; every edge is in advance() or finished():
//
//     start --> WAITING --due--> RUNNING --whole message--> DONE
//                  ^                |
//                  |                +-- 400, another dialect: again at once
//                  +--- back-off ---+-- 408 409 429 5xx, no connection: again later, twice
//                                   +-- deadline, malformed, anything else --> ERROR
//                                   +-- cancel: the attempt is cancelled, nothing more is said
//
// A call whose tokens have been handed on is never tried again: its reader has seen them. No event
// comes after cancel has returned (pons/event_queue.h).
//
// Secrets: the key goes into one header. It is not in any message: what a server says is searched
// for it, and addresses are shown without user, password and query.
#include "llm/chat/chat.h"
#include "pons/event_queue.h"
#include "pons/ext/http.h"
#include "pons/module.h"
#include "pons/random.h"
#include "pons/sse.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define WHERE              "llm"
#define ERROR_BODY_MAX     (64 * 1024) // bytes of a refusal that are read
#define RETRIES_MAX        2
#define BACKOFF_MAX_S      8.0
#define IDLE_POLL_MS       60000
#define HEADER_MAX         128
#define FROM_MAX           512 // bytes of a model's name and its address
#define HEADERS            4   // of a request, with the NULL at the end
#define TIMEOUT_MAX_S      86400.0
#define HTTP_OK            200
#define HTTP_BAD           400
#define HTTP_UNPROCESSABLE 422
#define HTTP_INTERNAL      500

typedef struct timeouts {
    double connect_s, first_byte_s, between_tokens_s, total_s, backoff_s, retry_after_max_s;
} timeouts;

typedef struct provider provider;

typedef struct call { // HTTP thread alone
    struct call *next;
    provider *p;
    uint64_t id;
    pons_value *request;
    char from[FROM_MAX]; // the model and its address
    pons__dialect dialect;
    unsigned retries;
    uint64_t attempt; // of the HTTP client; 0: waiting until due_ns
    int64_t due_ns;
    int64_t total_until_ns; // of all attempts; moved by what a server asks to wait
    // of the present attempt
    int64_t started_ns, last_ns; // last_ns: of the last event
    bool got_event, is_stream, is_stream_known;
    int status; // 0: no reply yet
    size_t received;
    char content_type[HEADER_MAX], retry_after[HEADER_MAX];
    pons_buf raw; // what is not a stream
    pons_sse sse;
    pons__reply reply;
    pons_error error;
} call;

typedef struct command {
    struct command *next;
    uint64_t call;
    pons_value *request; // NULL: cancel
} command;

struct provider {
    // const after open
    pons_clock clock;
    char *endpoint, *models, *shown_url, *model, *key;
    char *ca_file;       // or NULL: the system's
    char *authorization; // the header with the key, or NULL
    timeouts t;
    const pons_http_ops *http;
    pons_event_queue events;
    // [mtx]
    pthread_mutex_t mtx;
    command *commands, **commands_end;
    // HTTP thread
    void *client; // of http; made at open, NULL when it is closed
    uint64_t attempts;
    call *calls;
    pons__dialect dialect; // what worked last
    pons_rand rand;
};

// ---- the HTTP thread ----------------------------------------------------------------------------

static int64_t after(int64_t from_ns, double s)
{
    return from_ns + (int64_t)(s * (double)PONS_NS_PER_S);
}

// Hands an event on, unless the call was cancelled. Takes it.
static void emit(provider *p, pons_llm_event ev, bool last)
{
    pons_event_queue_push(&p->events, ev.call, &ev, last);
}

static void start_call(provider *p, uint64_t id, pons_value *request)
{
    call *c = calloc(1, sizeof *c);
    if (!c) {
        pons_llm_event ev = {.call = id, .kind = PONS_LLM_ERROR};
        pons_error_set(&ev.error, PONS_ENOMEM, WHERE, "cannot ask the model");
        emit(p, ev, true);
        pons_value_unref(request);
        return;
    }
    *c = (call){.next = p->calls, .p = p, .id = id, .request = request, .dialect = p->dialect};
    snprintf(c->from, sizeof c->from, "%s at %s", pons_get_str(request, "model", p->model),
             p->shown_url);
    p->calls = c;
    c->due_ns = pons_now_ns(&p->clock);
    c->total_until_ns = after(c->due_ns, p->t.total_s);
}

static void attempt_clear(call *c)
{
    if (c->attempt) {
        if (c->p->client) {
            c->p->http->cancel(c->p->client, c->attempt);
        }
        c->attempt = 0;
        pons_sse_fini(&c->sse);
        pons__reply_fini(&c->reply);
    }
    pons_buf_fini(&c->raw);
}

static void call_free(call *c)
{
    call **at = &c->p->calls;
    while (*at && *at != c) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = c->next;
    }
    attempt_clear(c);
    pons_value_unref(c->request);
    free(c);
}

// Takes what the host has asked for.
static void take_commands(provider *p)
{
    pthread_mutex_lock(&p->mtx);
    command *list = p->commands;
    p->commands = NULL;
    p->commands_end = &p->commands;
    pthread_mutex_unlock(&p->mtx);
    while (list) {
        command *cmd = list;
        list = cmd->next;
        if (cmd->request) {
            start_call(p, cmd->call, cmd->request);
        } else {
            for (call *c = p->calls; c; c = c->next) {
                if (c->id == cmd->call) {
                    call_free(c); // closes its connection
                    break;
                }
            }
        }
        free(cmd);
    }
}

// "Retry-After: 7" or a date: seconds from now, 0 when it says nothing useful, at most max_s.
static double retry_after(const pons_http_ops *http, const char *value, int64_t wall_ms,
                          double max_s)
{
    char *end;
    double s = strtod(value, &end);
    if (end == value) {
        const int64_t when = http->date(value);
        s = when < 0 ? 0 : (double)when - (double)wall_ms / 1000.0;
    }
    return !(s > 0) ? 0 : s < max_s ? s : max_s;
}

// The end with c->error; frees the call.
static void fail(call *c)
{
    pons__redact(c->error.message, c->p->key);
    pons__redact(c->error.cause, c->p->key);
    pons_error_source(&c->error, "%s", c->p->shown_url);
    emit(c->p, (pons_llm_event){.call = c->id, .kind = PONS_LLM_ERROR, .error = c->error}, true);
    call_free(c);
}

static void complete(call *c)
{
    pons_value *v = NULL;
    if (pons__reply_finish(&c->reply, pons_rand_u64(&c->p->rand), &v) != PONS_OK) {
        fail(c);
        return;
    }
    if (c->dialect.no_images) {
        const char *model = pons_get_str(c->request, "model", c->p->model);
        json_object_set_new(v, "pictures_refused", json_string(model));
    }
    emit(c->p, (pons_llm_event){.call = c->id, .kind = PONS_LLM_DONE, .value = v}, true);
    call_free(c);
}

// What the server has, and how much each takes, where it says so.
static void complete_list(call *c)
{
    pons_value *v = NULL;
    pons__redact(c->raw.data, c->p->key);
    if (pons__models_read(c->raw.data ? c->raw.data : "", c->raw.len, &v, &c->error) < 0) {
        fail(c);
        return;
    }
    emit(c->p, (pons_llm_event){.call = c->id, .kind = PONS_LLM_DONE, .value = v}, true);
    call_free(c);
}

// Whether the body is a stream: by its type, or where that says nothing, by its first bytes.
static bool looks_like_stream(const call *c, const char *bytes, size_t n)
{
    if (strncasecmp(c->content_type, "text/event-stream", strlen("text/event-stream")) == 0) {
        return true;
    }
    return (n >= 1 && bytes[0] == ':') || (n >= 5 && memcmp(bytes, "data:", 5) == 0) ||
           (n >= 6 && memcmp(bytes, "event:", 6) == 0);
}

// Waits and tries again, unless that was done often enough or somebody has seen a part.
static bool try_again(call *c)
{
    if (c->retries >= RETRIES_MAX || c->reply.any_token) {
        return false;
    }
    provider *p = c->p;
    const int64_t now = pons_now_ns(&p->clock);
    double wait_s =
        retry_after(p->http, c->retry_after, pons_wall_ms(&p->clock), p->t.retry_after_max_s);
    if (wait_s > 0) {
        c->total_until_ns = after(c->total_until_ns, wait_s); // the server's wish, not our time
    } else {
        wait_s = p->t.backoff_s * (double)(1u << c->retries);
        wait_s = wait_s < BACKOFF_MAX_S ? wait_s : BACKOFF_MAX_S;
        wait_s *= 0.5 + 0.5 * pons_rand_unit(&p->rand);
    }
    if (after(now, wait_s) >= c->total_until_ns) {
        return false;
    }
    c->retries++;
    c->due_ns = after(now, wait_s);
    attempt_clear(c);
    return true;
}

static bool is_passing_status(int status)
{
    return status == 408 || status == 409 || status == 429 || (status >= 500 && status < 600);
}

// What this call has found out about the server, added to what others have.
static void learn(const call *c)
{
    pons__dialect *all = &c->p->dialect;
    const pons__dialect *d = &c->dialect;
    all->format = d->format > all->format ? d->format : all->format;
    all->format_settled |= d->format_settled;
    all->no_temperature |= d->no_temperature;
    all->max_completion_tokens |= d->max_completion_tokens;
    all->no_stream_options |= d->no_stream_options;
    all->no_tool_choice |= d->no_tool_choice;
    all->no_stream_with_tools |= d->no_stream_with_tools;
    all->no_extra |= d->no_extra;
    all->wants_thought |= d->wants_thought;
    all->wants_signature |= d->wants_signature;
}

static void on_piece(void *user, pons_llm_event_kind kind, const char *text)
{
    call *c = user;
    char *copy = strdup(text);
    if (copy) {
        emit(c->p, (pons_llm_event){.call = c->id, .kind = kind, .text = copy}, false);
    }
}

static void begin(call *c)
{
    static const char *const want[] = {"Content-Type", "Retry-After", NULL};
    provider *p = c->p;
    attempt_clear(c);
    c->error = (pons_error)PONS_ERROR_INIT;
    c->got_event = c->is_stream = c->is_stream_known = false;
    c->received = 0;
    c->status = 0;
    c->content_type[0] = c->retry_after[0] = '\0';
    c->started_ns = pons_now_ns(&p->clock);
    const bool lists = pons_get_bool(c->request, "models", false);
    const char *const headers[HEADERS] = {"Content-Type: application/json",
                                          "Accept: text/event-stream, application/json",
                                          p->authorization};
    char *body = lists ? NULL : pons__openai_body(c->request, p->model, c->from, &c->dialect);
    const pons_http_request r = {.user = c,
                                 .url = lists ? p->models : p->endpoint,
                                 .headers = headers,
                                 .body = body,
                                 .body_n = body ? strlen(body) : 0,
                                 .want = want,
                                 .ca_file = p->ca_file,
                                 .body_max = PONS__REPLY_MAX,
                                 .connect_ms = (int64_t)(p->t.connect_s * 1000 + 0.999)};
    if ((!body && !lists) || p->http->start(p->client, ++p->attempts, &r, NULL) != PONS_OK) {
        pons_error_set(&c->error, PONS_ENOMEM, WHERE, "cannot ask the model");
        fail(c);
    } else {
        c->attempt = p->attempts;
        pons_sse_init(&c->sse, PONS__EVENT_MAX);
        pons__reply_init(&c->reply, c->request, on_piece, c, p->key, &c->error);
        c->reply.from = c->from;
    }
    free(body);
}

// Asks at once in another way, where the refusal may be about how it was asked.
static bool ask_otherwise(call *c)
{
    switch (pons__openai_adapt(&c->dialect, c->request, c->raw.data)) {
    case ADAPTED_NAMED:
        learn(c); // for every call from now on
        begin(c);
        return true;
    case ADAPTED_GUESS:
        begin(c);
        return true;
    default:
        // Not about the form, then: the next refusal without a reason is not asked about thrice.
        c->p->dialect.format_settled = true;
        return false;
    }
}

// Whether a refusal may be about how it was asked; that of images has many numbers (404, 415, 500).
static bool may_ask_otherwise(const call *c)
{
    const bool tools =
        c->status == HTTP_INTERNAL && c->raw.data && strstr(c->raw.data, "tools with stream");
    return c->status == HTTP_BAD || c->status == HTTP_UNPROCESSABLE || tools ||
           (c->status > HTTP_BAD && (c->status == HTTP_INTERNAL || !is_passing_status(c->status)) &&
            pons__openai_refuses_images(c->request, c->raw.data));
}

static void finished_status(call *c)
{
    const int status = c->status;
    if (may_ask_otherwise(c) && ask_otherwise(c)) {
        return;
    }
    if (is_passing_status(status) && try_again(c)) {
        return;
    }
    if (status >= 300 && status < 400) {
        pons_error_set(&c->error, PONS_EIO, WHERE,
                       "the server redirects (HTTP %d), and redirects are not followed; use the "
                       "address it redirects to",
                       status);
    } else {
        pons__openai_http_error(&c->error, status, c->raw.data, c->raw.len, c->p->key);
    }
    fail(c);
}

static bool is_connection_error(pons_http_fault fault)
{
    return fault == PONS_HTTP_UNREACHABLE || fault == PONS_HTTP_TLS || fault == PONS_HTTP_LOST ||
           fault == PONS_HTTP_SLOW_CONNECT;
}

static void finished_badly(call *c, pons_http_fault fault, const char *why)
{
    if (is_connection_error(fault) && try_again(c)) {
        return;
    }
    if (fault == PONS_HTTP_LONG_HEAD) {
        pons_error_set(&c->error, PONS_EPROTOCOL, WHERE,
                       "the headers of the answer are longer than %d bytes", PONS_HTTP_HEAD_MAX);
    } else if (fault == PONS_HTTP_LONG_BODY) {
        pons_error_set(&c->error, PONS_EPROTOCOL, WHERE, "the answer is longer than %d bytes",
                       PONS__REPLY_MAX);
    } else {
        pons_error_set(&c->error, PONS_ECLOSED, WHERE, "%s: %s",
                       fault == PONS_HTTP_UNTRUSTED ? "cannot trust the model's server"
                       : c->reply.any_token ? "the connection was lost in the middle of the answer"
                       : c->status == HTTP_OK && fault == PONS_HTTP_BROKEN
                           ? "cannot read the answer"
                           : "cannot reach the model",
                       why);
    }
    fail(c);
}

// An attempt has ended; why NULL: well, or what else it would say is of no interest.
static void finished(call *c, pons_http_fault fault, const char *why)
{
    if (c->error.status != PONS_OK) {
        fail(c);
    } else if (c->reply.done || c->reply.finish_reason[0]) { // whole, however the connection ended
        complete(c);
    } else if (c->status >= 300 || (!why && c->status != HTTP_OK)) {
        finished_status(c); // it has spoken, however the connection ended
    } else if (why) {
        finished_badly(c, fault, why);
    } else if (pons_get_bool(c->request, "models", false)) {
        complete_list(c);
    } else if (!c->is_stream && !looks_like_stream(c, "", 0) &&
               pons__reply_object(&c->reply, c->raw.data ? c->raw.data : "", c->raw.len) !=
                   PONS_OK) {
        fail(c);
    } else if (c->reply.done || !try_again(c)) { // a stream that just ends is a lost connection
        complete(c);
    }
}

// Only what is a part of the answer moves the deadline on: a server that pings is not answering.
static int on_sse_event(void *user, const char *event, const char *data, size_t len)
{
    call *c = user;
    const int64_t came_ns = pons_now_ns(&c->p->clock); // before anybody hears of it
    c->reply.progress = false;
    int rc = pons__reply_event(&c->reply, event, data, len);
    if (c->reply.progress) {
        c->got_event = true;
        c->last_ns = came_ns;
    }
    return rc;
}

#define ENOUGH       1 // what the rest of a body says is of no interest
#define STREAM_TELLS 6 // bytes after which a body without a type has told what it is

static int take_body(call *c, const char *bytes, size_t n)
{
    if (c->status != HTTP_OK) {
        size_t room = ERROR_BODY_MAX - c->raw.len;
        int rc = pons_buf_bytes(&c->raw, bytes, n < room ? n : room);
        return rc == PONS_OK && n > room ? ENOUGH : rc;
    }
    if (pons_get_bool(c->request, "models", false)) {
        return pons_buf_bytes(&c->raw, bytes, n);
    }
    if (c->received == 0) { // it was understood, whatever the answer is worth
        c->dialect.format_settled |= pons_get(c->request, "schema") != NULL;
        learn(c);
    }
    c->received += n;
    if (!c->is_stream) { // not one, or not known yet: a first piece may be a single byte
        int rc = pons_buf_bytes(&c->raw, bytes, n);
        c->is_stream = !c->is_stream_known && looks_like_stream(c, c->raw.data, c->raw.len);
        c->is_stream_known = c->is_stream || c->raw.len >= STREAM_TELLS;
        if (rc != PONS_OK || !c->is_stream) {
            c->got_event = true;
            c->last_ns = pons_now_ns(&c->p->clock);
            return rc;
        }
        bytes = c->raw.data;
        n = c->raw.len;
    }
    int rc = pons_sse_feed(&c->sse, bytes, n, on_sse_event, c);
    pons_buf_clear(&c->raw);
    if (rc == PONS_EPROTOCOL && c->error.status == PONS_OK) {
        pons_error_set(&c->error, rc, WHERE, "an event of the answer is longer than %d bytes",
                       PONS__EVENT_MAX);
    }
    return rc;
}

static void take_data(call *c, const char *bytes, size_t n)
{
    const int rc = take_body(c, bytes, n);
    if (rc < 0 && c->error.status == PONS_OK) {
        pons_error_set(&c->error, rc, WHERE, "cannot read the answer");
    }
    if (rc != PONS_OK || c->reply.done) { // without waiting for the connection's end
        finished(c, PONS_HTTP_BROKEN, NULL);
    }
}

static void take_event(call *c, const pons_http_event *ev)
{
    switch (ev->kind) {
    case PONS_HTTP_HEAD:
        c->status = ev->status;
        pons_http_header(ev, "Content-Type", c->content_type, sizeof c->content_type);
        pons_http_header(ev, "Retry-After", c->retry_after, sizeof c->retry_after);
        break;
    case PONS_HTTP_DATA:
        take_data(c, ev->data, ev->n);
        break;
    case PONS_HTTP_END:
        finished(c, PONS_HTTP_BROKEN, NULL);
        break;
    case PONS_HTTP_FAILED:
        finished(c, ev->fault, ev->data);
        break;
    }
}

static void take_http(provider *p)
{
    pons_http_event ev;
    while (p->http->next(p->client, &ev)) {
        take_event(ev.user, &ev);
        pons_http_event_clear(&ev);
    }
}

// When the call is next to be looked at, and what is to be said when it is then still not done.
static int64_t deadline(const call *c, const char **ret_what, double *ret_s)
{
    const timeouts *t = &c->p->t;
    if (!c->attempt) {
        return c->due_ns;
    }
    double s = c->got_event ? t->between_tokens_s : t->first_byte_s;
    int64_t at = after(c->got_event ? c->last_ns : c->started_ns, s);
    int64_t total = c->total_until_ns;
    *ret_what = c->got_event ? "no token came for" : "no answer began within";
    *ret_s = s;
    if (total < at) {
        *ret_what = "the answer was not whole within";
        *ret_s = t->total_s;
        at = total;
    }
    return at;
}

static void advance_call(call *c)
{
    const char *what = "";
    double s = 0;
    if (deadline(c, &what, &s) <= pons_now_ns(&c->p->clock)) {
        if (!c->attempt) {
            begin(c);
        } else if (c->reply.finish_reason[0]) {
            complete(c); // only the stream's end is missing
        } else {
            pons_error_set(&c->error, PONS_ETIMEOUT, WHERE, "%s %g s", what, s);
            fail(c);
        }
    }
}

static void advance(provider *p)
{
    for (call *c = p->calls, *next; c; c = next) {
        next = c->next; // it may be freed, and no other is
        advance_call(c);
    }
}

static int poll_timeout_ms(const provider *p)
{
    int64_t now = pons_now_ns(&p->clock), least = (int64_t)IDLE_POLL_MS * PONS_NS_PER_MS;
    for (const call *c = p->calls; c; c = c->next) {
        const char *what;
        double s;
        int64_t left = deadline(c, &what, &s) - now;
        least = left < least ? left : least;
    }
    return least <= 0 ? 0 : (int)(least / PONS_NS_PER_MS) + 1;
}

static int turn(void *user)
{
    provider *p = user;
    take_commands(p);
    take_http(p);
    advance(p);
    return poll_timeout_ms(p);
}

static void clear_event(void *event)
{
    pons_llm_event_clear(event);
}

// ---- configuration ------------------------------------------------------------------------------

// Makes the endpoint from the base, and the address that messages may show.
static int configure_url(provider *p, const char *url, pons_error *err)
{
    pons_http_url u = {0};
    const int rc = p->http->url(url, "/chat/completions", &u, err);
    p->endpoint = u.url;
    p->shown_url = u.shown;
    if (rc >= 0) {
        pons_http_url list = {0};
        const int listed = p->http->url(url, "/models", &list, err);
        p->models = list.url;
        free(list.shown);
        return listed;
    }
    return rc != PONS_EINVAL ? rc
                             : pons_error_set(err, rc, WHERE,
                                              "the model's URL should be like "
                                              "http://127.0.0.1:8080/v1");
}

static int configure_key(provider *p, const char *key, pons_error *err)
{
    for (const char *c = key; *c; c++) {
        if (*c <= ' ' || *c == 0x7F || *c == '"' ||
            *c == '\\') { // also what is not ASCII, where char is signed
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "the model's key has a character that no key has");
        }
    }
    if (*key && (!(p->key = strdup(key)) ||
                 asprintf(&p->authorization, "Authorization: Bearer %s", key) < 0)) {
        p->authorization = NULL;
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory");
    }
    return PONS_OK;
}

static int configure_timeouts(provider *p, const pons_value *config, pons_error *err)
{
    p->t = (timeouts){.connect_s = 5,
                      .first_byte_s = 30,
                      .between_tokens_s = 15,
                      .total_s = 120,
                      .backoff_s = 0.5,
                      .retry_after_max_s = 120};
    const struct {
        const char *key;
        double *value;
    } known[] = {{"connect_s", &p->t.connect_s},
                 {"first_byte_s", &p->t.first_byte_s},
                 {"between_tokens_s", &p->t.between_tokens_s},
                 {"total_s", &p->t.total_s},
                 {"backoff_s", &p->t.backoff_s},
                 {"retry_after_max_s", &p->t.retry_after_max_s}};
    const pons_value *given = pons_get(config, "timeouts");
    const char *key;
    pons_value *v;
    json_object_foreach((pons_value *)given, key, v) {
        bool is = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            is |= strcmp(known[i].key, key) == 0;
        }
        if (!is || !json_is_number(v)) {
            return pons_error_set(err, PONS_EINVAL, WHERE, "timeouts/%s: %s", key,
                                  is ? "expected a number of seconds" : "unknown key");
        }
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double s = pons_get_num(given, known[i].key, *known[i].value);
        if (!(s > 0) || s > TIMEOUT_MAX_S) {
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "timeouts/%s: %g is not a number of seconds above 0",
                                  known[i].key, s);
        }
        *known[i].value = s;
    }
    return PONS_OK;
}

// Who signs servers' certificates: the configuration's file, else SSL_CERT_FILE's, else the
// system's.
static int configure_ca(provider *p, const pons_value *config, pons_error *err)
{
    const char *given = pons_get_str(config, "ca_file", NULL);
    const char *path = given && *given ? given : getenv("SSL_CERT_FILE");
    if (!path || !*path) {
        return PONS_OK;
    }
    if (access(path, R_OK) != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "cannot read the CA file %s: %s", path,
                              strerror(errno));
    }
    p->ca_file = strdup(path);
    return p->ca_file ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory");
}

static int configure(provider *p, const pons_value *config, pons_error *err)
{
    const char *model = pons_get_str(config, "model", "");
    int rc = configure_timeouts(p, config, err);
    if (rc == PONS_OK) {
        rc = configure_url(p, pons_get_str(config, "url", ""), err);
    }
    if (rc == PONS_OK) {
        rc = configure_key(p, pons_get_str(config, "api_key", ""), err);
    }
    if (rc == PONS_OK) {
        rc = configure_ca(p, config, err);
    }
    p->model = strdup(*model ? model : "default");
    return rc == PONS_OK && !p->model ? pons_error_set(err, PONS_ENOMEM, WHERE, "no memory") : rc;
}

static void provider_free(provider *p)
{
    if (p->client) {
        p->http->close(p->client); // no turn comes after that, and nothing is left to cancel
        p->client = NULL;
    }
    while (p->calls) {
        call_free(p->calls);
    }
    pons_event_queue_fini(&p->events);
    while (p->commands) {
        command *c = p->commands;
        p->commands = c->next;
        pons_value_unref(c->request);
        free(c);
    }
    if (p->key) {
        explicit_bzero(p->key, strlen(p->key));
    }
    if (p->authorization) {
        explicit_bzero(p->authorization, strlen(p->authorization));
    }
    free(p->key);
    free(p->authorization);
    free(p->endpoint);
    free(p->models);
    free(p->shown_url);
    free(p->model);
    free(p->ca_file);
    pthread_mutex_destroy(&p->mtx);
    free(p);
}

// ---- the contract -------------------------------------------------------------------------------

static int openai_open(const pons_value *config, const pons_clock *clock, void **ret_self,
                       pons_error *err)
{
    provider *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot open the model");
    }
    p->clock = *clock;
    p->commands_end = &p->commands;
    pthread_mutex_init(&p->mtx, NULL);
    pons_rand_seed_os(&p->rand);
    int rc = pons_event_queue_init(&p->events, sizeof(pons_llm_event), clear_event, err);
    rc = rc == PONS_OK ? pons_http_load(&p->http, err) : rc;
    rc = rc == PONS_OK ? configure(p, config, err) : rc;
    rc = rc == PONS_OK ? p->http->open(turn, p, &p->client, err) : rc;
    if (rc != PONS_OK) {
        provider_free(p);
        return rc;
    }
    *ret_self = p;
    return PONS_OK;
}

static void openai_close(void *self)
{
    provider *p = self;
    if (!p) {
        return;
    }
    pons_event_queue_end_all(&p->events);
    provider_free(p);
}

static int add_command(provider *p, command cmd)
{
    command *c = malloc(sizeof *c);
    if (!c) {
        return PONS_ENOMEM;
    }
    *c = cmd;
    int rc = cmd.request ? pons_event_queue_begin(&p->events, cmd.call) : PONS_OK;
    if (rc != PONS_OK) {
        free(c);
        return rc;
    }
    pthread_mutex_lock(&p->mtx);
    *p->commands_end = c;
    p->commands_end = &c->next;
    pthread_mutex_unlock(&p->mtx);
    p->http->wake(p->client);
    return PONS_OK;
}

static int openai_start(void *self, uint64_t id, const pons_value *request, pons_error *err)
{
    int rc = pons_get_bool(request, "models", false) ? PONS_OK : pons__openai_check(request, err);
    if (rc != PONS_OK) {
        return rc;
    }
    rc = add_command(self, (command){.call = id, .request = pons_value_ref(request)});
    if (rc != PONS_OK) {
        pons_value_unref(request);
        return pons_error_set(err, rc, WHERE,
                              rc == PONS_EEXIST ? "a call of this number is running"
                                                : "cannot ask the model");
    }
    return PONS_OK;
}

static void openai_cancel(void *self, uint64_t id)
{
    provider *p = self;
    pons_event_queue_end(&p->events, id);
    (void)add_command(p, (command){.call = id}); // no memory: it ends by itself, unheard
}

static int openai_event_fd(void *self)
{
    return ((provider *)self)->events.fd;
}

static bool openai_next(void *self, pons_llm_event *ret)
{
    return pons_event_queue_next(&((provider *)self)->events, ret);
}

static const pons_llm_ops openai_ops = {.abi = PONS_LLM_ABI,
                                        .name = "openai",
                                        .open = openai_open,
                                        .close = openai_close,
                                        .start = openai_start,
                                        .cancel = openai_cancel,
                                        .event_fd = openai_event_fd,
                                        .next = openai_next};
PONS_MODULE_EXPORT("llm", "openai", &openai_ops);
