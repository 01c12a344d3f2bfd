// openai.c - chat completions over HTTP(S): the client that most servers understand.
//
// One thread owns libcurl, because aborting a transfer may block for seconds while a name is being
// looked up, and the brain's loop must never wait. The two threads meet in two queues under one
// lock:
//
//     host                       [mtx]                     curl thread
//     start, cancel ──► commands (and curl_multi_wakeup) ──► calls, deadlines, retries
//     event_fd, next ◄── events  (and the eventfd)       ◄── tokens, the answer, or the error
//
// A call lives in this way; every edge is in advance() or finished():
//
//     start ─► WAITING ──due──► RUNNING ──whole message──► DONE
//                 ▲                │ ├─ 400, another dialect: again at once
//                 └── back-off ◄───┤ ├─ 408 409 429 5xx, no connection: again later, twice
//                                  │ └─ deadline, malformed, anything else ──► ERROR
//                                  └── cancel: the connection is closed, and nothing is said any
//                                  more
//
// A call whose tokens have been handed on is never tried again: its reader has seen them. `live`
// holds the calls that may still speak, and is emptied by cancel under the lock, so that no event
// comes after cancel has returned.
//
// Secrets: the key goes into one header. It is not in any message: what a server says is searched
// for it, and addresses are shown without user, password and query.
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "llm/openai_internal.h"
#include "pons/module.h"
#include "pons/rand.h"

#define WHERE              "llm"
#define ERROR_BODY_MAX     (64 * 1024)  // bytes of a refusal that are read
#define HEADERS_MAX        (256 * 1024) // bytes of all headers of a reply
#define RETRIES_MAX        2
#define BACKOFF_MAX_S      8.0
#define CLOSE_WAIT_S       2 // for the thread; then it is left to end by itself
#define IDLE_POLL_MS       60000
#define HEADER_MAX         128
#define TIMEOUT_MAX_S      86400.0
#define HTTP_OK            200
#define HTTP_BAD           400
#define HTTP_UNPROCESSABLE 422
#define HTTP_INTERNAL      500

typedef struct timeouts {
    double connect_s, first_byte_s, between_tokens_s, total_s, backoff_s, retry_after_max_s;
} timeouts;

typedef struct provider provider;

typedef struct call { // curl thread alone
    struct call *next;
    provider *p;
    uint64_t id;
    pons_value *request;
    pons__dialect dialect;
    unsigned retries;
    CURL *easy; // NULL: waiting until due_ns
    int64_t due_ns;
    int64_t total_until_ns; // of all attempts; moved by what a server asks to wait
    char *body;
    // of the present attempt
    int64_t started_ns, last_ns; // last_ns: of the last event
    bool got_event, is_stream, is_stream_known;
    size_t received, header_bytes;
    char content_type[HEADER_MAX], retry_after[HEADER_MAX];
    char curl_error[CURL_ERROR_SIZE];
    pons_buf raw; // what is not a stream
    pons__sse sse;
    pons__reply reply;
    pons_error error;
} call;

typedef struct command {
    struct command *next;
    uint64_t call;
    pons_value *request; // NULL: cancel
} command;

typedef struct queued {
    struct queued *next;
    pons_llm_event event;
} queued;

struct provider {
    // const after open
    pons_clock clock;
    char *endpoint, *shown_url, *model, *key;
    char *ca_file; // or NULL: the system's
    bool loopback;
    struct curl_slist *headers;
    timeouts t;
    CURLM *multi; // the curl thread's, but for curl_multi_wakeup
    int event_fd;
    pthread_t thread;
    // [mtx]
    pthread_mutex_t mtx;
    pthread_cond_t ended_cond;
    command *commands, **commands_end;
    queued *events, **events_end;
    uint64_t *live; // (live_n), ascending
    size_t live_n, live_cap;
    bool quit, ended, abandoned;
    // curl thread
    call *calls;
    pons__dialect dialect; // what worked last
    pons_rand rand;
};

static int configure(provider *p, const pons_value *config, pons_error *err);
static void provider_free(provider *p);
static void *run(void *arg);
static bool take_commands(provider *p);
static void advance(provider *p);
static int poll_timeout_ms(const provider *p);
static void finished(call *c, CURLcode code);
static void begin(call *c);
static void call_free(call *c);
static void emit(provider *p, pons_llm_event ev, bool last);

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static void init_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

// ---- the contract ----

static int start_thread(provider *p, pons_error *err)
{
    // Signals are the host's; the thread takes none.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&p->thread, NULL, run, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0
               ? PONS_OK
               : pons_error_set(err, PONS_EENV, WHERE, "cannot start a thread: %s", strerror(rc));
}

static int openai_open(const pons_value *config, const pons_clock *clock, void **ret_self,
                       pons_error *err)
{
    pthread_once(&curl_once, init_curl);
    provider *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot open the model");
    }
    p->clock = *clock;
    p->commands_end = &p->commands;
    p->events_end = &p->events;
    pthread_mutex_init(&p->mtx, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->ended_cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pons_rand_seed_os(&p->rand);
    p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = configure(p, config, err);
    if (rc == PONS_OK && (p->event_fd < 0 || !(p->multi = curl_multi_init()))) {
        rc = pons_error_set(err, PONS_EENV, WHERE, "cannot open the model: %s", strerror(errno));
    }
    if (rc == PONS_OK) {
        rc = start_thread(p, err);
    }
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
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CLOSE_WAIT_S;
    pthread_mutex_lock(&p->mtx);
    p->quit = true;
    p->live_n = 0;
    curl_multi_wakeup(p->multi);
    int rc = 0;
    while (!p->ended && rc == 0) {
        rc = pthread_cond_timedwait(&p->ended_cond, &p->mtx, &until);
    }
    bool ended = p->ended;
    p->abandoned = !ended; // a name is being looked up: the thread frees all when that is over
    pthread_t thread = p->thread;
    pthread_mutex_unlock(&p->mtx);
    if (ended) {
        pthread_join(thread, NULL);
        provider_free(p);
    } else {
        pthread_detach(thread);
    }
}

// [mtx] Where the call is among the live ones, or would be.
static size_t live_find(const provider *p, uint64_t id, bool *ret_is)
{
    size_t from = 0, to = p->live_n;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (p->live[mid] < id) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    *ret_is = from < p->live_n && p->live[from] == id;
    return from;
}

// [mtx]
static int live_add(provider *p, uint64_t id)
{
    bool is;
    size_t at = live_find(p, id, &is);
    if (is) {
        return PONS_EEXIST;
    }
    if (p->live_n == p->live_cap) {
        size_t cap = p->live_cap ? 2 * p->live_cap : 4;
        uint64_t *grown = realloc(p->live, cap * sizeof *grown);
        if (!grown) {
            return PONS_ENOMEM;
        }
        p->live = grown;
        p->live_cap = cap;
    }
    memmove(p->live + at + 1, p->live + at, (p->live_n - at) * sizeof *p->live);
    p->live[at] = id;
    p->live_n++;
    return PONS_OK;
}

// [mtx]
static void live_remove(provider *p, uint64_t id)
{
    bool is;
    size_t at = live_find(p, id, &is);
    if (is) {
        memmove(p->live + at, p->live + at + 1, (p->live_n - at - 1) * sizeof *p->live);
        p->live_n--;
    }
}

static int add_command(provider *p, command cmd)
{
    command *c = malloc(sizeof *c);
    if (!c) {
        return PONS_ENOMEM;
    }
    *c = cmd;
    pthread_mutex_lock(&p->mtx);
    int rc = cmd.request ? live_add(p, cmd.call) : PONS_OK;
    if (rc == PONS_OK) {
        *p->commands_end = c;
        p->commands_end = &c->next;
    }
    pthread_mutex_unlock(&p->mtx);
    if (rc == PONS_OK) {
        curl_multi_wakeup(p->multi);
    } else {
        free(c);
    }
    return rc;
}

static int openai_start(void *self, uint64_t id, const pons_value *request, pons_error *err)
{
    int rc = pons__openai_check(request, err);
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
    pthread_mutex_lock(&p->mtx);
    live_remove(p, id);
    for (queued **at = &p->events; *at;) {
        queued *q = *at;
        if (q->event.call == id) {
            *at = q->next;
            pons_llm_event_clear(&q->event);
            free(q);
        } else {
            at = &q->next;
        }
    }
    p->events_end = &p->events;
    while (*p->events_end) {
        p->events_end = &(*p->events_end)->next;
    }
    pthread_mutex_unlock(&p->mtx);
    (void)add_command(p, (command){.call = id}); // no memory: it ends by itself, unheard
}

static int openai_event_fd(void *self)
{
    return ((provider *)self)->event_fd;
}

static bool openai_next(void *self, pons_llm_event *ret)
{
    provider *p = self;
    pthread_mutex_lock(&p->mtx);
    queued *q = p->events;
    if (q) {
        p->events = q->next;
        p->events_end = q->next ? p->events_end : &p->events;
    }
    if (!p->events) {
        uint64_t drained;
        ssize_t n = read(p->event_fd, &drained, sizeof drained);
        (void)n; // EAGAIN: it was not readable
    }
    pthread_mutex_unlock(&p->mtx);
    if (q) {
        *ret = q->event;
        free(q);
    }
    return q != NULL;
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

// ---- configuration ----

// Makes the endpoint from the base, and the address that messages may show.
static int configure_url(provider *p, const char *url, pons_error *err)
{
    static const char tail[] = "/chat/completions";
    CURLU *u = curl_url();
    char *scheme = NULL, *host = NULL, *path = NULL, *full = NULL, *shown = NULL;
    int rc = pons_error_set(err, PONS_EINVAL, WHERE,
                            "the model's URL should be like http://127.0.0.1:8080/v1");
    char joined[2048];
    if (!u || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK ||
        curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        curl_url_get(u, CURLUPART_PATH, &path, 0) != CURLUE_OK ||
        (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)) {
        goto done;
    }
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] == '/') {
        n--;
    }
    bool whole = n >= strlen(tail) && memcmp(path + n - strlen(tail), tail, strlen(tail)) == 0;
    if (n + sizeof tail > sizeof joined) {
        goto done;
    }
    snprintf(joined, sizeof joined, "%.*s%s", (int)n, path, whole ? "" : tail);
    curl_url_set(u, CURLUPART_PATH, joined, 0);
    curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
    if (curl_url_get(u, CURLUPART_URL, &full, 0) != CURLUE_OK) {
        goto done;
    }
    curl_url_set(u, CURLUPART_USER, NULL, 0);
    curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
    curl_url_set(u, CURLUPART_QUERY, NULL, 0);
    if (curl_url_get(u, CURLUPART_URL, &shown, 0) != CURLUE_OK) {
        goto done;
    }
    p->endpoint = strdup(full);
    p->shown_url = strdup(shown);
    p->loopback = strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
                  strcmp(host, "[::1]") == 0;
    rc = PONS_OK;
    if (err) {
        *err = (pons_error)PONS_ERROR_INIT;
    }
done:
    curl_free(scheme);
    curl_free(host);
    curl_free(path);
    curl_free(full);
    curl_free(shown);
    curl_url_cleanup(u);
    return rc;
}

static int configure_headers(provider *p, const char *key, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    for (const char *c = key; *c; c++) {
        if (*c <= ' ' || *c == 0x7F || *c == '"' ||
            *c == '\\') { // also what is not ASCII, where char is signed
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "the model's key has a character that no key has");
        }
    }
    const char *fixed[] = {"Content-Type: application/json",
                           "Accept: text/event-stream, application/json", "Expect:"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        p->headers = curl_slist_append(p->headers, fixed[i]);
    }
    if (*key) {
        pons_buf_printf(&b, "Authorization: Bearer %s", key);
        p->headers = b.failed ? NULL : curl_slist_append(p->headers, b.data);
        p->key = strdup(key);
    }
    return p->headers ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory");
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
    json_object_foreach((pons_value *)given, key, v)
    {
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
        rc = configure_headers(p, pons_get_str(config, "api_key", ""), err);
    }
    if (rc == PONS_OK) {
        rc = configure_ca(p, config, err);
    }
    p->model = strdup(*model ? model : "default");
    return rc == PONS_OK && !p->model ? pons_error_set(err, PONS_ENOMEM, WHERE, "no memory") : rc;
}

static void provider_free(provider *p)
{
    while (p->events) {
        queued *q = p->events;
        p->events = q->next;
        pons_llm_event_clear(&q->event);
        free(q);
    }
    while (p->commands) {
        command *c = p->commands;
        p->commands = c->next;
        pons_value_unref(c->request);
        free(c);
    }
    curl_slist_free_all(p->headers);
    if (p->multi) {
        curl_multi_cleanup(p->multi);
    }
    if (p->event_fd >= 0) {
        close(p->event_fd);
    }
    if (p->key) {
        explicit_bzero(p->key, strlen(p->key));
    }
    free(p->key);
    free(p->endpoint);
    free(p->shown_url);
    free(p->model);
    free(p->ca_file);
    free(p->live);
    pthread_cond_destroy(&p->ended_cond);
    pthread_mutex_destroy(&p->mtx);
    free(p);
}

// ---- the curl thread ----

static void *run(void *arg)
{
    provider *p = arg;
    while (!take_commands(p)) {
        int still_running;
        curl_multi_perform(p->multi, &still_running);
        CURLMsg *m;
        int left;
        while ((m = curl_multi_info_read(p->multi, &left))) {
            call *c;
            CURLcode code = m->data.result;
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&c);
            finished(c, code); // *m is gone with its handle
        }
        advance(p);
        curl_multi_poll(p->multi, NULL, 0, poll_timeout_ms(p), NULL);
    }
    while (p->calls) {
        call_free(p->calls);
    }
    pthread_mutex_lock(&p->mtx);
    p->ended = true;
    bool abandoned = p->abandoned;
    pthread_cond_signal(&p->ended_cond);
    pthread_mutex_unlock(&p->mtx);
    if (abandoned) {
        provider_free(p);
    }
    return NULL;
}

static int64_t after(int64_t from_ns, double s)
{
    return from_ns + (int64_t)(s * (double)PONS_NS_PER_S);
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
    p->calls = c;
    c->due_ns = pons_now_ns(&p->clock);
    c->total_until_ns = after(c->due_ns, p->t.total_s);
}

// Takes what the host has asked for; whether it wants the thread to end.
static bool take_commands(provider *p)
{
    pthread_mutex_lock(&p->mtx);
    command *list = p->commands;
    p->commands = NULL;
    p->commands_end = &p->commands;
    bool quit = p->quit;
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
    return quit;
}

// Hands an event on, unless the call was cancelled. Takes it.
static void emit(provider *p, pons_llm_event ev, bool last)
{
    queued *q = malloc(sizeof *q);
    pthread_mutex_lock(&p->mtx);
    bool live;
    live_find(p, ev.call, &live);
    if (last) {
        live_remove(p, ev.call);
    }
    if (q && live) {
        const bool first = !p->events; // else it is readable already
        *q = (queued){.event = ev};
        *p->events_end = q;
        p->events_end = &q->next;
        const uint64_t one = 1;
        ssize_t n = first ? write(p->event_fd, &one, sizeof one) : 0;
        (void)n; // it cannot fail: the count is 0
    }
    pthread_mutex_unlock(&p->mtx);
    if (!q || !live) {
        pons_llm_event_clear(&ev);
        free(q);
    }
}

// ---- one call ----

static void attempt_clear(call *c)
{
    if (c->easy) {
        curl_multi_remove_handle(c->p->multi, c->easy);
        curl_easy_cleanup(c->easy);
        c->easy = NULL;
        pons__sse_fini(&c->sse);
        pons__reply_fini(&c->reply);
    }
    pons_buf_fini(&c->raw);
    free(c->body);
    c->body = NULL;
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
    emit(c->p, (pons_llm_event){.call = c->id, .kind = PONS_LLM_DONE, .value = v}, true);
    call_free(c);
}

static void on_piece(void *user, pons_llm_event_kind kind, const char *text)
{
    call *c = user;
    char *copy = strdup(text);
    if (copy) {
        emit(c->p, (pons_llm_event){.call = c->id, .kind = kind, .text = copy}, false);
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

static size_t take_header(char *line, size_t n, const char *name, char *ret)
{
    size_t k = strlen(name);
    if (n > k && strncasecmp(line, name, k) == 0 && line[k] == ':') {
        const char *v = line + k + 1;
        size_t len = n - k - 1;
        while (len && (*v == ' ' || *v == '\t')) {
            v++;
            len--;
        }
        while (len && (v[len - 1] == '\r' || v[len - 1] == '\n' || v[len - 1] == ' ')) {
            len--;
        }
        len = len < HEADER_MAX ? len : HEADER_MAX - 1;
        memcpy(ret, v, len);
        ret[len] = '\0';
    }
    return n;
}

static size_t on_header(char *line, size_t size, size_t n, void *user)
{
    call *c = user;
    n *= size;
    if ((c->header_bytes += n) > HEADERS_MAX) {
        pons_error_set(&c->error, PONS_EPROTOCOL, WHERE,
                       "the headers of the answer are longer than %d bytes", HEADERS_MAX);
        return 0;
    }
    if (n > 5 && memcmp(line, "HTTP/", 5) == 0) { // a new reply: what an interim one said is over
        c->content_type[0] = c->retry_after[0] = '\0';
    }
    take_header(line, n, "content-type", c->content_type);
    return take_header(line, n, "retry-after", c->retry_after);
}

#define ENOUGH       1 // what the rest of a body says is of no interest
#define STREAM_TELLS 6 // bytes after which a body without a type has told what it is

// Whether the body is a stream: by its type, or where that says nothing, by its first bytes.
static bool looks_like_stream(const call *c, const char *bytes, size_t n)
{
    if (strncasecmp(c->content_type, "text/event-stream", strlen("text/event-stream")) == 0) {
        return true;
    }
    return (n >= 5 && memcmp(bytes, "data:", 5) == 0) ||
           (n >= 6 && memcmp(bytes, "event:", 6) == 0);
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
}

static int take_body(call *c, const char *bytes, size_t n)
{
    long status = 0;
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != HTTP_OK) {
        size_t room = ERROR_BODY_MAX - c->raw.len;
        int rc = pons_buf_bytes(&c->raw, bytes, n < room ? n : room);
        return rc == PONS_OK && n > room ? ENOUGH : rc;
    }
    if (c->received == 0) { // it was understood, whatever the answer is worth
        c->dialect.format_settled |= pons_get(c->request, "schema") != NULL;
        learn(c);
    }
    if ((c->received += n) > PONS__REPLY_MAX) {
        return pons_error_set(&c->error, PONS_EPROTOCOL, WHERE,
                              "the answer is longer than %d bytes", PONS__REPLY_MAX);
    }
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
    int rc = pons__sse_feed(&c->sse, bytes, n, on_sse_event, c);
    pons_buf_clear(&c->raw);
    if (rc == PONS_EPROTOCOL && c->error.status == PONS_OK) {
        pons_error_set(&c->error, rc, WHERE, "an event of the answer is longer than %d bytes",
                       PONS__EVENT_MAX);
    }
    return rc;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *user)
{
    call *c = user;
    n *= size;
    int rc = take_body(c, bytes, n);
    if (rc < 0 && c->error.status == PONS_OK) {
        pons_error_set(&c->error, rc, WHERE, "cannot read the answer");
    }
    return rc == PONS_OK ? n : CURL_WRITEFUNC_ERROR; // also with ENOUGH, which is no error
}

static void begin(call *c)
{
    provider *p = c->p;
    attempt_clear(c);
    c->error = (pons_error)PONS_ERROR_INIT;
    c->got_event = c->is_stream = c->is_stream_known = false;
    c->received = c->header_bytes = 0;
    c->content_type[0] = c->retry_after[0] = c->curl_error[0] = '\0';
    c->started_ns = pons_now_ns(&p->clock);
    c->body = pons__openai_body(c->request, p->model, &c->dialect);
    c->easy = c->body ? curl_easy_init() : NULL;
    if (!c->easy) {
        pons_error_set(&c->error, PONS_ENOMEM, WHERE, "cannot ask the model");
        fail(c);
        return;
    }
    pons__sse_init(&c->sse, PONS__EVENT_MAX);
    pons__reply_init(&c->reply, c->request, on_piece, c, p->key, &c->error);
    CURL *e = c->easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, c);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, c->curl_error);
    curl_easy_setopt(e, CURLOPT_URL, p->endpoint);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(e, CURLOPT_USERAGENT, "pons/" PONS_VERSION);
    curl_easy_setopt(e, CURLOPT_POSTFIELDS, c->body);
    curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(c->body));
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)(p->t.connect_s * 1000) + 1);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, c);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, c);
    if (p->ca_file) {
        curl_easy_setopt(e, CURLOPT_CAINFO, p->ca_file);
        curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
    }
    if (p->loopback) {
        curl_easy_setopt(e, CURLOPT_PROXY, ""); // a proxy cannot reach this machine's own servers
    }
    curl_multi_add_handle(p->multi, e);
}

static bool is_connection_error(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_OPERATION_TIMEDOUT: // of the connection: no other time-out is curl's
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static bool is_passing_status(long status)
{
    return status == 408 || status == 409 || status == 429 || (status >= 500 && status < 600);
}

// "Retry-After: 7" or a date: seconds from now, 0 when it says nothing useful, at most max_s.
static double retry_after(const char *value, int64_t wall_ms, double max_s)
{
    char *end;
    double s = strtod(value, &end);
    if (end == value) {
        time_t when = curl_getdate(value, NULL);
        s = when < 0 ? 0 : (double)when - (double)wall_ms / 1000.0;
    }
    return !(s > 0) ? 0 : s < max_s ? s : max_s;
}

// Waits and tries again, unless that was done often enough or somebody has seen a part.
static bool try_again(call *c)
{
    if (c->retries >= RETRIES_MAX || c->reply.any_token) {
        return false;
    }
    provider *p = c->p;
    const int64_t now = pons_now_ns(&p->clock);
    double wait_s = retry_after(c->retry_after, pons_wall_ms(&p->clock), p->t.retry_after_max_s);
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

static void finished_status(call *c, long status)
{
    if ((status == HTTP_BAD || status == HTTP_UNPROCESSABLE || status == HTTP_INTERNAL) &&
        (status != HTTP_INTERNAL || (c->raw.data && strstr(c->raw.data, "tools with stream"))) &&
        ask_otherwise(c)) {
        return;
    }
    if (is_passing_status(status) && try_again(c)) {
        return;
    }
    if (status >= 300 && status < 400) {
        pons_error_set(&c->error, PONS_EIO, WHERE,
                       "the server redirects (HTTP %ld), and redirects are not followed; use the "
                       "address it redirects to",
                       status);
    } else {
        pons__openai_http_error(&c->error, status, c->raw.data, c->raw.len, c->p->key);
    }
    fail(c);
}

static void finished_badly(call *c, CURLcode code)
{
    if (is_connection_error(code) && try_again(c)) {
        return;
    }
    const char *what = code == CURLE_PEER_FAILED_VERIFICATION ? "cannot trust the model's server"
                       : c->reply.any_token ? "the connection was lost in the middle of the answer"
                                            : "cannot reach the model";
    pons_error_set(&c->error, PONS_ECLOSED, WHERE, "%s: %s", what,
                   c->curl_error[0] ? c->curl_error : curl_easy_strerror(code));
    fail(c);
}

// A transfer has ended.
static void finished(call *c, CURLcode code)
{
    long status = 0;
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    if (c->error.status != PONS_OK) {
        fail(c);
        return;
    }
    if (c->reply.done || c->reply.finish_reason[0]) { // whole, however the connection ended
        complete(c);
        return;
    }
    if (status >= 300 || (code == CURLE_OK && status != HTTP_OK)) {
        finished_status(c, status); // it has spoken, however the connection ended
        return;
    }
    if (code != CURLE_OK) {
        finished_badly(c, code);
        return;
    }
    bool stream = c->is_stream || looks_like_stream(c, "", 0);
    if (!stream &&
        pons__reply_json(&c->reply, c->raw.data ? c->raw.data : "", c->raw.len) != PONS_OK) {
        fail(c);
        return;
    }
    complete(c);
}

// ---- time ----

// When the call is next to be looked at, and what is to be said when it is then still not done.
static int64_t deadline(const call *c, const char **ret_what, double *ret_s)
{
    const timeouts *t = &c->p->t;
    if (!c->easy) {
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
    if (c->easy && c->reply.done) {
        complete(c); // without waiting for the connection's end
    } else if (deadline(c, &what, &s) <= pons_now_ns(&c->p->clock)) {
        if (!c->easy) {
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
