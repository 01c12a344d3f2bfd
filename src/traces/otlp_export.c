// otlp_export.c - spans on their way to a collector: OTLP over HTTP, as JSON.
//
//     any thread --span--> [list, SPANS_MAX] --a second, or BATCH of them--> POST --> collector
//
// A thread of its own, one request at a time. Nobody waits for a collector: when it is away, slow or
// wrong, spans are dropped, the newest first once the list is full, and a line in the log says so, once
// a minute. What 429 and 5xx refused is sent once more.
#include "traces/otlp_export.h"

#include "pons/log.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SPANS_MAX 4096
#define BATCH     256
#define EVERY_MS  1000
#define WHOLE_MS  10000 // of a request
#define LAST_S    1     // of all requests, from close on
#define AGAIN_MS  300   // until what was refused is sent once more
#define TELL_MS   60000
#define HEADERS   18 // beside the content type

struct pons__export {
    const pons_http_ops *http; // const, as the next four
    pons_clock clock;
    char *url, *service;
    char *headers[HEADERS + 2];
    void *client; // the thread
    pthread_t thread;
    bool has_thread;
    int wake;
    int end; // a timer: readable when close has waited long enough
    pthread_mutex_t mtx;
    pons_value *spans;   // [mtx] a list
    size_t dropped;      // [mtx]
    bool closing;        // [mtx]
    uint64_t calls;      // the thread
    int64_t reported_ms; // the thread
};

// ---- the thread ---------------------------------------------------------------------------------

static int post(pons__export *x, const char *body, size_t n)
{
    const pons_http_request r = {.method = "POST",
                                 .url = x->url,
                                 .headers = (const char *const *)x->headers,
                                 .body = body,
                                 .body_n = n,
                                 .body_max = 65536,
                                 .connect_ms = WHOLE_MS,
                                 .whole_ms = WHOLE_MS};
    return pons_http_status(x->http, x->client, ++x->calls, &r, x->end);
}

static void send_batch(pons__export *x, pons_value *spans)
{
    char *text = NULL;
    pons_value *scopes = json_array(), *resources = json_array(), *attributes = json_array();
    json_array_append_new(
        attributes, pons_object("key", json_string("service.name"), "value",
                                pons_object("stringValue", json_string(x->service), NULL), NULL));
    json_array_append_new(scopes,
                          pons_object("scope", pons_object("name", json_string("pons"), NULL),
                                      "spans", pons_value_ref(spans), NULL));
    json_array_append_new(resources,
                          pons_object("resource", pons_object("attributes", attributes, NULL),
                                      "scopeSpans", scopes, NULL));
    pons_autovalue all = pons_object("resourceSpans", resources, NULL);
    const long n = pons_value_line(all, &text);
    int status = n > 0 ? post(x, text, (size_t)n) : 0;
    if (status == 429 || status >= 500) {
        struct pollfd p = {.fd = x->end, .events = POLLIN};
        poll(&p, 1, AGAIN_MS);
        status = post(x, text, (size_t)n);
    }
    free(text);
    const int64_t now = pons_now_ms(&x->clock);
    if ((status < 200 || status > 299) && (x->reported_ms == 0 || now - x->reported_ms > TELL_MS)) {
        x->reported_ms = now;
        pons_log(PONS_LOG_WARN, PONS__TRACES, "the collector took no spans (%d): %zu are lost",
                 status, json_array_size(spans));
    }
}

static pons_value *take(pons__export *x, bool *ret_closing)
{
    pthread_mutex_lock(&x->mtx);
    pons_value *spans = x->spans;
    const size_t dropped = x->dropped;
    *ret_closing = x->closing;
    x->spans = json_array();
    x->dropped = 0;
    pthread_mutex_unlock(&x->mtx);
    if (dropped > 0) {
        pons_log(PONS_LOG_WARN, PONS__TRACES, "%zu spans found no room and are lost", dropped);
    }
    return spans;
}

static void *run(void *user)
{
    pons__export *x = user;
    bool closing = false;
    while (!closing) {
        struct pollfd p = {.fd = x->wake, .events = POLLIN};
        uint64_t n = 0;
        poll(&p, 1, EVERY_MS);
        if (p.revents && read(x->wake, &n, sizeof n) < 0) {
            n = 0;
        }
        pons_autovalue spans = take(x, &closing);
        if (json_array_size(spans) > 0) {
            send_batch(x, spans);
        }
    }
    return NULL;
}

// ---- outside ------------------------------------------------------------------------------------

static bool copy(pons__export *x, const pons_traces_options *o)
{
    x->url = strdup(o->url);
    x->service = strdup(o->service ? o->service : "pons");
    x->headers[0] = strdup("Content-Type: application/json");
    bool ok = x->url && x->service && x->headers[0];
    for (size_t i = 0; o->headers && o->headers[i] && i < HEADERS && ok; i++) {
        x->headers[i + 1] = strdup(o->headers[i]);
        ok = x->headers[i + 1] != NULL;
    }
    return ok;
}

int pons__export_open(const pons_traces_options *o, pons__export **ret, pons_error *err)
{
    pons__export *x = calloc(1, sizeof *x);
    if (!x) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TRACES, "no memory for traces");
    }
    x->http = o->http;
    x->clock = o->clock;
    x->spans = json_array();
    pthread_mutex_init(&x->mtx, NULL);
    x->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    x->end = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    int rc = copy(x, o) && x->spans
                 ? x->http->open(NULL, NULL, &x->client, err)
                 : pons_error_set(err, PONS_ENOMEM, PONS__TRACES, "no memory for traces");
    x->has_thread =
        rc >= 0 && x->wake >= 0 && x->end >= 0 && pthread_create(&x->thread, NULL, run, x) == 0;
    if (!x->has_thread) {
        rc = rc < 0 ? rc : pons_error_set(err, PONS_EENV, PONS__TRACES, "no thread for traces");
        pons__export_close(x);
        return rc;
    }
    *ret = x;
    return PONS_OK;
}

void pons__export_span(pons__export *x, pons_value *span)
{
    pthread_mutex_lock(&x->mtx);
    const size_t n = json_array_size(x->spans);
    if (n < SPANS_MAX) {
        json_array_append(x->spans, span);
    } else {
        x->dropped++;
    }
    pthread_mutex_unlock(&x->mtx);
    pons_value_unref(span);
    if (n + 1 == BATCH) {
        eventfd_write(x->wake, 1);
    }
}

void pons__export_close(pons__export *x)
{
    if (!x) {
        return;
    }
    if (x->has_thread) {
        pthread_mutex_lock(&x->mtx);
        x->closing = true;
        pthread_mutex_unlock(&x->mtx);
        eventfd_write(x->wake, 1);
        timerfd_settime(x->end, 0, &(struct itimerspec){.it_value.tv_sec = LAST_S}, NULL);
        pthread_join(x->thread, NULL);
    }
    if (x->client) {
        x->http->close(x->client);
    }
    for (size_t i = 0; i < HEADERS + 2; i++) {
        free(x->headers[i]);
    }
    free(x->url);
    free(x->service);
    if (x->wake >= 0) {
        close(x->wake);
    }
    if (x->end >= 0) {
        close(x->end);
    }
    pons_value_unref(x->spans);
    pthread_mutex_destroy(&x->mtx);
    free(x);
}
