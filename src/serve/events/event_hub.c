// event_hub.c - the events of threads, to every client that listens.
//
//     GET /v1/events?thread=T     Last-Event-ID: N
//
//     store ---- as the host says, 4 looks a second ----> feed of T: the newest events as text, shared by all
//     host's live events (never stored) ------> all clients of T                     |
//     clock ------ a heartbeat a second ------> all clients                          v
//     worker: hello, then it joins  ------------------------------------------> clients, each with
//                                                                               the number it has
//
// One thread, the hub's, writes to clients. A client has a number: every stored event up to it was
// written. What it lacks comes from the feed's ring, or from the store when that has gone on too
// far; so nothing is left out or said twice, whether a client comes new, comes back with the number
// it had (Last-Event-ID), or was slow for a while. A slow one is simply not written to until it has
// taken what it has; if that takes SLOW_MS it is told so, and dropped. Live events and heartbeats
// have no number and are for whoever keeps up.
#include "serve/events/event_hub.h"

#include "pons/buf.h"
#include "pons/log.h"
#include "serve/access/reply.h"
#include "serve/access/worker_thread.h"
#include "serve/metrics/metrics.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING        512 // events that a feed keeps as text
#define BATCH       256 // events read from the store at once
#define LOOK_MS     250 // a store without a descriptor, or another process's commit
#define BEAT_MS     500 // heartbeats
#define UNSENT_MAX  (64 * 1024)
#define SLOW_MS     20000
#define CLIENTS_MAX 1024
#define LIVE_MAX    1024  // live events that wait for the hub's thread
#define LINGER_MS   60000 // a feed without a client

typedef struct said { // an event as text
    int64_t seq;
    char *text;
    size_t n;
} said;

typedef struct feed { // of a thread; the hub's thread alone
    struct feed *next;
    char thread[PONS_NAME_MAX];
    int64_t last; // the newest event that is known
    said ring[RING];
    size_t n; // filled; the oldest is at `first`
    size_t first;
    int64_t used_ms;
} feed;

typedef struct client {
    struct client *next;
    char thread[PONS_NAME_MAX];
    int64_t at; // the hub's thread: the newest event it has
    pons_http_stream *stream;
    int64_t slow_since_ms; // 0: it keeps up
} client;

typedef struct live {
    struct live *next;
    char thread[PONS_NAME_MAX];
    size_t n;
    char text[];
} live;

struct pons__hub {
    pons_serve *s;
    pons__thread t;
    client *coming;     // [mtx]
    live *first, *last; // [mtx]
    size_t n_live;      // [mtx]
    size_t n_clients;   // [mtx]
    client *clients;    // the hub's thread
    feed *feeds;        // the hub's thread
    int64_t beat_ms, look_ms;
};

// ---- text ---------------------------------------------------------------------------------------

// One event of a stream. payload is JSON already; the event is told with it as `pons threads events --json` shows it.
static void write_row(pons_buf *b, const char *thread, int64_t seq, const char *ns, int64_t ts_ms,
                      const char *type, pons_bytes payload)
{
    pons_autobuf data = PONS_BUF_INIT;
    pons_autovalue known = pons_object("seq", json_integer(seq), "thread", json_string(thread),
                                       "ns", json_string(ns ? ns : ""), "ts_ms",
                                       json_integer(ts_ms), "type", json_string(type), NULL);
    pons__buf_value(&data, known);
    if (data.failed) {
        return;
    }
    data.len--; // the object goes on
    pons_buf_str(&data, ",\"payload\":");
    const pons_bytes shown = payload.len ? payload : (pons_bytes){"null", 4};
    pons_buf_bytes(&data, shown.data, shown.len);
    pons_buf_str(&data, "}");
    if (seq > 0) {
        pons_buf_printf(b, "id: %lld\n", (long long)seq);
    }
    // A type that is no word would end the line.
    pons_buf_printf(b, "event: %.*s\ndata: %s\n\n", (int)strcspn(type, "\r\n"), type, data.data);
}

// ---- feeds: the hub's thread --------------------------------------------------------------------

static void forget(feed *f)
{
    for (size_t i = 0; i < RING; i++) {
        free(f->ring[i].text);
    }
    free(f);
}

static int keep_row(void *user, const pons_event_row *row)
{
    feed *f = user;
    pons_buf b = PONS_BUF_INIT;
    write_row(&b, f->thread, row->seq, row->ns, row->ts_ms, row->type, row->payload);
    said *place = &f->ring[(f->first + f->n) % RING];
    if (f->n == RING) {
        f->first = (f->first + 1) % RING;
    } else {
        f->n++;
    }
    free(place->text);
    place->seq = row->seq;
    place->text = pons_buf_take(&b, &place->n);
    f->last = row->seq;
    return 0;
}

static feed *feed_of(pons__hub *h, const char *thread)
{
    const pons_store store = h->s->o.store;
    pons_error none = PONS_ERROR_INIT;
    feed *f = h->feeds;
    while (f && strcmp(f->thread, thread) != 0) {
        f = f->next;
    }
    if (!f) {
        f = calloc(1, sizeof *f);
        if (!f) {
            return NULL;
        }
        snprintf(f->thread, sizeof f->thread, "%s", thread);
        // From now on: what went before is read from the store by who lacks it.
        if (store.ops->event_last(store.self, thread, &f->last, &none) < 0) {
            free(f); // the store is away: the next look tries again
            return NULL;
        }
        f->next = h->feeds;
        h->feeds = f;
    }
    f->used_ms = pons_now_ms(&h->s->o.clock);
    return f;
}

static void look(pons__hub *h)
{
    const pons_store store = h->s->o.store;
    for (feed *f = h->feeds; f; f = f->next) {
        pons_error err = PONS_ERROR_INIT;
        int64_t before = -1;
        while (before != f->last) {
            before = f->last;
            if (store.ops->events(store.self, f->thread, f->last, BATCH, keep_row, f, &err) < 0) {
                pons_log(PONS_LOG_WARN, PONS__SERVE, "%s", err.message);
                break;
            }
        }
    }
}

static void drop_unused(pons__hub *h, int64_t now)
{
    for (feed **at = &h->feeds; *at;) {
        feed *f = *at;
        if (now - f->used_ms > LINGER_MS) {
            *at = f->next;
            forget(f);
        } else {
            at = &f->next;
        }
    }
}

// ---- clients: the hub's thread ------------------------------------------------------------------

typedef struct catching_up {
    client *c;
    const pons_http_server_ops *http;
    bool gone;
} catching_up;

static int catch_up(void *user, const pons_event_row *row)
{
    catching_up *u = user;
    pons_autobuf b = PONS_BUF_INIT;
    if (u->http->stream_unsent(u->c->stream) > UNSENT_MAX) {
        return 1;
    }
    write_row(&b, u->c->thread, row->seq, row->ns, row->ts_ms, row->type, row->payload);
    u->gone = u->http->stream_write(u->c->stream, b.data, b.len) < 0;
    u->c->at = row->seq;
    return u->gone;
}

// Writes what the client lacks, as far as it takes it. False: it is gone.
static bool serve_client(pons__hub *h, client *c, int64_t now)
{
    const pons_http_server_ops *http = h->s->http;
    feed *f = feed_of(h, c->thread);
    if (!f) {
        return true;
    }
    const size_t waiting = http->stream_unsent(c->stream);
    if (waiting > UNSENT_MAX) {
        static const char late[] =
            "event: dropped\ndata: {\"reason\":\"too slow: come back with Last-Event-ID\"}\n\n";
        c->slow_since_ms = c->slow_since_ms ? c->slow_since_ms : now;
        if (now - c->slow_since_ms < SLOW_MS) {
            return true;
        }
        http->stream_write(c->stream, late, sizeof late - 1);
        return false;
    }
    c->slow_since_ms = 0;
    const int64_t oldest = f->n > 0 ? f->ring[f->first].seq : f->last + 1;
    if (c->at + 1 < oldest && c->at < f->last) {
        catching_up u = {.c = c, .http = http};
        pons_error err = PONS_ERROR_INIT;
        const pons_store store = h->s->o.store;
        const int64_t had = c->at;
        if (store.ops->events(store.self, c->thread, c->at, BATCH, catch_up, &u, &err) < 0) {
            pons_log(PONS_LOG_WARN, PONS__SERVE, "%s", err.message);
        } else if (c->at == had && !u.gone && http->stream_unsent(c->stream) == 0) {
            c->at = oldest - 1; // those in between were pruned
        }
        return !u.gone;
    }
    for (size_t i = 0; i < f->n; i++) {
        const said *e = &f->ring[(f->first + i) % RING];
        if (e->seq <= c->at || !e->text) {
            continue;
        }
        if (http->stream_write(c->stream, e->text, e->n) < 0) {
            return false;
        }
        c->at = e->seq;
        if (http->stream_unsent(c->stream) > UNSENT_MAX) {
            break;
        }
    }
    return true;
}

static void unseat(pons__hub *h)
{
    pthread_mutex_lock(&h->t.mtx);
    h->n_clients--;
    pthread_mutex_unlock(&h->t.mtx);
    pons__metrics_stream(h->s->metrics, "events", -1);
}

static void leave(pons__hub *h, client *c)
{
    h->s->http->stream_end(c->stream);
    free(c);
    unseat(h);
}

// Whether somebody who takes it lacks more than one batch gave.
static bool serve_clients(pons__hub *h, int64_t now)
{
    bool more = false;
    for (client **at = &h->clients; *at;) {
        client *c = *at;
        const int64_t had = c->at;
        if (serve_client(h, c, now)) {
            more |= c->at - had >= BATCH && !c->slow_since_ms;
            at = &c->next;
        } else {
            *at = c->next;
            leave(h, c);
        }
    }
    return more;
}

// To all clients of a thread (NULL: of any) that keep up.
static void tell(pons__hub *h, const char *thread, const char *text, size_t n)
{
    for (client **at = &h->clients; *at;) {
        client *c = *at;
        const bool meant = !thread || strcmp(thread, c->thread) == 0;
        const bool keeps_up = meant && h->s->http->stream_unsent(c->stream) <= UNSENT_MAX;
        if (keeps_up && h->s->http->stream_write(c->stream, text, n) < 0) {
            *at = c->next;
            leave(h, c);
        } else {
            at = &c->next;
        }
    }
}

static void beat(pons__hub *h, int64_t now)
{
    char text[128];
    const int n = snprintf(text, sizeof text, "event: hb\ndata: {\"ts_ms\":%lld}\n\n",
                           (long long)pons_wall_ms(&h->s->o.clock));
    h->beat_ms = now;
    tell(h, NULL, text, (size_t)n);
}

// ---- the hub's thread ---------------------------------------------------------------------------

static void take_what_came(pons__hub *h)
{
    pthread_mutex_lock(&h->t.mtx);
    client *coming = h->coming;
    live *said_now = h->first;
    h->coming = NULL;
    h->first = h->last = NULL;
    h->n_live = 0;
    pthread_mutex_unlock(&h->t.mtx);
    while (coming) {
        client *next = coming->next;
        coming->next = h->clients;
        h->clients = coming;
        coming = next;
    }
    while (said_now) {
        live *next = said_now->next;
        tell(h, said_now->thread, said_now->text, said_now->n);
        free(said_now);
        said_now = next;
    }
}

static void *run(void *user)
{
    pons__hub *h = user;
    bool more = false;
    while (!pons__thread_closing(&h->t)) {
        struct pollfd p = {.fd = h->t.wake, .events = POLLIN};
        poll(&p, 1, more ? 0 : LOOK_MS);
        pons__thread_awake(&h->t);
        const int64_t now = pons_now_ms(&h->s->o.clock);
        take_what_came(h);
        look(h);
        more = serve_clients(h, now);
        if (now - h->beat_ms >= BEAT_MS) {
            beat(h, now);
            drop_unused(h, now);
        }
    }
    take_what_came(h);
    while (h->clients) {
        client *next = h->clients->next;
        leave(h, h->clients);
        h->clients = next;
    }
    return NULL;
}

int pons__hub_open(pons_serve *s, pons__hub **ret, pons_error *err)
{
    pons__hub *h = calloc(1, sizeof *h);
    if (!h) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for the hub");
    }
    h->s = s;
    const int rc = pons__thread_begin(&h->t, run, h, "for the hub", err);
    if (rc < 0) {
        pons__hub_close(h);
        return rc;
    }
    *ret = h;
    return PONS_OK;
}

void pons__hub_stop(pons__hub *h)
{
    if (h) {
        pons__thread_stop(&h->t);
    }
}

void pons__hub_close(pons__hub *h)
{
    if (!h) {
        return;
    }
    pons__hub_stop(h);
    while (h->coming) { // a request that was being answered while the hub stopped
        client *next = h->coming->next;
        h->s->http->stream_end(h->coming->stream);
        free(h->coming);
        h->coming = next;
    }
    while (h->first) {
        live *next = h->first->next;
        free(h->first);
        h->first = next;
    }
    while (h->feeds) {
        feed *next = h->feeds->next;
        forget(h->feeds);
        h->feeds = next;
    }
    pons__thread_fini(&h->t);
    free(h);
}

void pons__hub_event(pons__hub *h, const pons_event *ev)
{
    if (ev->seq == 0) {
        char *payload = NULL;
        pons_autobuf b = PONS_BUF_INIT;
        const long n = pons_value_line(ev->payload, &payload);
        if (n < 0) {
            return;
        }
        write_row(&b, ev->thread, 0, ev->ns, ev->ts_ms, ev->type, (pons_bytes){payload, (size_t)n});
        free(payload);
        live *l = malloc(sizeof *l + b.len);
        if (!l) {
            return;
        }
        l->next = NULL;
        l->n = b.len;
        snprintf(l->thread, sizeof l->thread, "%s", ev->thread);
        memcpy(l->text, b.data, b.len);
        pthread_mutex_lock(&h->t.mtx);
        const bool room = h->n_live < LIVE_MAX && !h->t.closing;
        if (room) {
            if (h->last) {
                h->last->next = l;
            } else {
                h->first = l;
            }
            h->last = l;
            h->n_live++;
        }
        pthread_mutex_unlock(&h->t.mtx);
        if (!room) {
            free(l);
        }
    }
    pons__thread_wake(&h->t);
}

// ---- the route: a worker ------------------------------------------------------------------------

static bool seat(pons__hub *h)
{
    pthread_mutex_lock(&h->t.mtx);
    const bool free_one = h->n_clients < CLIENTS_MAX && !h->t.closing;
    h->n_clients += free_one;
    pthread_mutex_unlock(&h->t.mtx);
    pons__metrics_stream(h->s->metrics, "events", free_one);
    return free_one;
}

// Of Last-Event-ID, or of the query; whatever else than a number is no place in a stream. -1 is from the
// first on.
static bool place_of(pons__request *r, int64_t newest, int64_t *ret)
{
    const char *text = r->s->http->header(r->x, "Last-Event-ID");
    char *end = NULL;
    const int64_t back = pons_get_int(r->query, "last", 0); // so many before what comes from now on
    const int64_t after = pons_get_int(r->query, "after", back <= 0 ? newest : newest - back);
    const int64_t n = text ? strtoll(text, &end, 10) : after;
    *ret = n < 0 ? 0 : n > newest ? newest : n;
    return !text || (end != text && *end == '\0');
}

static int events(pons__request *r)
{
    pons_serve *s = r->s;
    pons__hub *h = s->hub;
    pons_error none = PONS_ERROR_INIT;
    const char *thread = pons_get_str(r->query, "thread", s->o.thread);
    int64_t newest = 0, at = 0;
    if (!thread || strlen(thread) >= PONS_NAME_MAX) {
        return pons__reply_error(r, 422, "which thread? (?thread=NAME)");
    }
    if (s->o.store.ops->event_last(s->o.store.self, thread, &newest, &r->err) < 0) {
        return r->err.status;
    }
    if (!place_of(r, newest, &at)) {
        return pons__reply_error(r, 422, "Last-Event-ID is an event's number");
    }
    client *c = calloc(1, sizeof *c);
    if (!c || !seat(h)) {
        free(c);
        return pons__reply_error(r, 503, "%d clients listen already", CLIENTS_MAX);
    }
    pons_value *status = NULL;
    s->o.host.status(s->o.host.user, thread, &status, &none);
    pons_http_stream *stream = pons__reply_events(r, NULL);
    if (!stream) {
        pons_value_unref(status);
        free(c);
        unseat(h);
        return PONS_OK;
    }
    pons_value *hello = pons_object(
        "boot_id", json_string(s->boot_id), "seq", json_integer(at), "newest", json_integer(newest),
        "thread", json_string(thread), "role", json_string(pons__role_name(r->role)), "stop_port",
        json_integer(s->stop_port), "snapshot", status ? status : json_null(), NULL);
    pons__stream_value(s, stream, "event: hello\ndata: ", hello, "\n\n");
    snprintf(c->thread, sizeof c->thread, "%s", thread);
    c->at = at;
    c->stream = stream;
    pthread_mutex_lock(&h->t.mtx);
    c->next = h->coming;
    h->coming = c;
    pthread_mutex_unlock(&h->t.mtx);
    pons__thread_wake(&h->t);
    return PONS_OK;
}

const pons__route pons__hub_routes[] = {
    {"GET", "/v1/events", PONS__VIEWER, events},
    {NULL, NULL, PONS__NOBODY, NULL},
};
