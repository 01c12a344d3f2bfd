// foxglove.c - the robot's topics, live, to those who speak Foxglove's WebSocket protocol.
//
//     GET /foxglove            (Upgrade: websocket, subprotocol foxglove.websocket.v1)
//
//     body.sock --observer--> the room's thread --.
//     the store's events -----------------------> topics (record.h) --> who has subscribed
//     cameras, a round a second --> photographer --'
//
// The topics are those of a recording (docs/reference/recording.md), and so are their schemas. The room's thread
// listens to the body while a client is there. Who comes later is given the newest of what is told
// once: the map, the zones, the hello. A client that reads too slowly misses messages, and is told how
// many. What clients say is in foxglove_client.c, how it is said in foxglove_protocol.c; what they are told is in foxglove_channels.c.
#include "serve/foxglove/foxglove.h"

#include "pons/record.h"
#include "serve/access/reply.h"
#include "serve/foxglove/foxglove_protocol.h"
#include "serve/foxglove/room.h"
#include "serve/metrics/metrics.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CLIENTS_MAX 16
#define LOOK_MS     250  // at the store's events
#define BACK_OFF_MS 1000 // between two tries to reach the body
#define PICTURE_MS  1000
#define BATCH       256

typedef struct listening { // the room's thread
    pons__foxglove *f;
    pons_link *link;
    int64_t tried_ms, looked_ms;
    int64_t event; // the newest that was told
    bool follows;  // the events, from `event` on
} listening;

// ---- the room's thread --------------------------------------------------------------------------

static void lost(listening *l)
{
    pons_link_close(l->link);
    l->link = NULL;
}

static void on_hello(pons__foxglove *f, const pons_value *hello)
{
    const pons_serve_host *host = &f->s->o.host;
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    const char *name = pons_get_str(pons_get(hello, "world"), "name", "");
    if (host->world(host->user, name, &world, &none) >= 0) {
        pons_record_world(world, pons__fox_wall_ns(f), pons__fox_put, f);
    }
    const pons_value *cameras = host->camera ? pons_get(world, "cameras") : NULL;
    pthread_mutex_lock(&f->mtx);
    pons_value_unref(f->cameras);
    f->cameras = cameras ? pons_value_ref(cameras) : NULL;
    for (size_t i = 0; i < json_array_size(cameras); i++) { // there before the first picture is
        char topic[128];
        snprintf(topic, sizeof topic, "/camera/%s",
                 pons_get_str(json_array_get(cameras, i), "name", ""));
        pons__fox_channel_of(f, topic, "foxglove.CompressedImage");
    }
    pthread_mutex_unlock(&f->mtx);
}

static void listen_to_body(listening *l)
{
    pons__foxglove *f = l->f;
    for (;;) {
        pons_autovalue message = NULL;
        pons_error none = PONS_ERROR_INIT;
        const int rc = pons_link_recv(l->link, &message, &none);
        if (rc > 0) {
            pons_record_report(message, pons__fox_wall_ns(f), pons__fox_put, f);
            if (strcmp(pons_get_str(message, "type", ""), "hello") == 0) {
                on_hello(f, message);
            }
        } else if (rc != PONS_EPROTOCOL) {
            if (rc < 0) {
                lost(l);
            }
            return;
        }
    }
}

static int tell_event(void *user, const pons_event_row *row)
{
    listening *l = user;
    pons_autovalue payload = NULL;
    l->event = row->seq;
    if (pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        pons_record_event_tell(&(pons_record_event){.thread = l->f->s->o.thread,
                                                    .ns = row->ns ? row->ns : "",
                                                    .type = row->type,
                                                    .seq = row->seq,
                                                    .ts_ms = row->ts_ms,
                                                    .payload = payload},
                               pons__fox_put, l->f);
    }
    return 0;
}

// Stored events, from those on that come after the first client.
static void look_at_events(listening *l, int64_t now)
{
    const pons_store store = l->f->s->o.store;
    const char *thread = l->f->s->o.thread;
    pons_error none = PONS_ERROR_INIT;
    if (!thread || now - l->looked_ms < LOOK_MS) {
        return;
    }
    l->looked_ms = now;
    if (!l->follows) {
        l->follows = store.ops->event_last(store.self, thread, &l->event, &none) >= 0;
        return;
    }
    for (int64_t before = -1; before != l->event;) {
        before = l->event;
        if (store.ops->events(store.self, thread, l->event, BATCH, tell_event, l, &none) < 0) {
            return; // the store is away: the next look tries again
        }
    }
}

static void free_client(pons__fox_client *c)
{
    c->f->s->http->socket_end(c->s);
    pons__metrics_stream(c->f->s->metrics, "foxglove", -1);
    free(c);
}

// Those who are gone leave, the others hear what they lack. Whether anybody is there.
static bool see_to_clients(pons__foxglove *f, int64_t now, bool *ret_closing)
{
    pons__fox_client *left = NULL;
    pthread_mutex_lock(&f->mtx);
    for (pons__fox_client **at = &f->clients; *at;) {
        pons__fox_client *c = *at;
        if (c->s && c->over) {
            *at = c->next;
            c->next = left;
            left = c;
            f->n_clients--;
            continue;
        }
        if (c->s) {
            pons__fox_see_to(c, now);
        }
        at = &c->next;
    }
    const bool any = f->clients != NULL;
    *ret_closing = f->closing;
    pthread_mutex_unlock(&f->mtx);
    while (left) {
        pons__fox_client *next = left->next;
        free_client(left);
        left = next;
    }
    return any;
}

static void *run(void *user)
{
    pons__foxglove *f = user;
    const pons_serve_host *host = &f->s->o.host;
    listening l = {.f = f, .tried_ms = -BACK_OFF_MS, .looked_ms = -LOOK_MS};
    bool closing = false, any = false;
    while (!closing) {
        struct pollfd p[] = {{.fd = f->wake, .events = POLLIN},
                             {.fd = l.link ? pons_link_fd(l.link) : -1, .events = POLLIN}};
        uint64_t n = 0;
        pons_error none = PONS_ERROR_INIT;
        poll(p, 2, any ? LOOK_MS : -1);
        if (p[0].revents && read(f->wake, &n, sizeof n) < 0) {
            n = 0;
        }
        const int64_t now = pons_now_ms(&f->s->o.clock);
        any = see_to_clients(f, now, &closing);
        if (!any) {
            lost(&l);
            l.follows = false;
            continue;
        }
        if (l.link && p[1].revents) {
            listen_to_body(&l);
        }
        if (!l.link && now - l.tried_ms >= BACK_OFF_MS) {
            l.tried_ms = now;
            if (host->observe(host->user, true, &l.link, &none) < 0) {
                l.link = NULL;
            }
        }
        look_at_events(&l, now);
    }
    lost(&l);
    return NULL;
}

// ---- the photographer's thread ------------------------------------------------------------------

// The i-th camera that somebody who may has subscribed to.
static bool wanted_camera(pons__foxglove *f, size_t *i, char ret[64])
{
    bool found = false;
    pthread_mutex_lock(&f->mtx);
    for (; *i < json_array_size(f->cameras) && !found; (*i)++) {
        char topic[128];
        snprintf(ret, 64, "%s", pons_get_str(json_array_get(f->cameras, *i), "name", ""));
        snprintf(topic, sizeof topic, "/camera/%s", ret);
        for (const pons__fox_client *c = f->clients; c; c = c->next) {
            for (size_t k = 0; k < c->n && !c->over; k++) {
                found = found || strcmp(f->channels[c->subs[k].channel].topic, topic) == 0;
            }
        }
    }
    pthread_mutex_unlock(&f->mtx);
    return found;
}

static void *take_pictures(void *user)
{
    pons__foxglove *f = user;
    const pons_serve_host *host = &f->s->o.host;
    bool closing = false;
    while (!closing) {
        char name[64];
        for (size_t i = 0; wanted_camera(f, &i, name);) {
            char *data = NULL;
            size_t n = 0;
            pons_error none = PONS_ERROR_INIT;
            if (host->camera(host->user, name, &data, &n, &none) >= 0) {
                pons_record_picture(name, data, n, pons__fox_wall_ns(f), pons__fox_put, f);
            }
            free(data);
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += PICTURE_MS / 1000;
        pthread_mutex_lock(&f->mtx);
        while (!f->closing && pthread_cond_timedwait(&f->news, &f->mtx, &until) == 0) {
        }
        closing = f->closing;
        pthread_mutex_unlock(&f->mtx);
    }
    return NULL;
}

// ---- opening ------------------------------------------------------------------------------------

int pons__foxglove_open(pons_serve *s, pons__foxglove **ret, pons_error *err)
{
    pthread_condattr_t monotonic;
    pons__foxglove *f = calloc(1, sizeof *f);
    if (!f) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for Foxglove's clients");
    }
    f->s = s;
    pthread_mutex_init(&f->mtx, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&f->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (f->wake < 0) {
        pons__foxglove_close(f);
        return pons_error_set(err, PONS_EENV, PONS__SERVE, "no descriptor for Foxglove's clients");
    }
    // There before the first event is, so that none is missed by who has to subscribe first.
    pons__fox_channel_of(f, "/events", "pons.event");
    pons__fox_channel_of(f, "/log", "foxglove.Log");
    *ret = f;
    return PONS_OK;
}

// Under the lock: the threads are there from the first client on.
static bool begin_threads(pons__foxglove *f)
{
    f->has_thread = f->has_thread || pthread_create(&f->thread, NULL, run, f) == 0;
    f->has_photographer =
        f->has_photographer || !f->s->o.host.camera ||
        (f->has_thread && pthread_create(&f->photographer, NULL, take_pictures, f) == 0);
    return f->has_thread && f->has_photographer;
}

void pons__foxglove_stop(pons__foxglove *f)
{
    if (!f) {
        return;
    }
    pthread_mutex_lock(&f->mtx);
    f->closing = true;
    pthread_cond_broadcast(&f->news);
    pthread_mutex_unlock(&f->mtx);
    pons__fox_wake(f);
    if (f->has_thread) {
        pthread_join(f->thread, NULL);
    }
    if (f->has_photographer && f->s->o.host.camera) {
        pthread_join(f->photographer, NULL);
    }
    f->has_thread = f->has_photographer = false;
}

void pons__foxglove_close(pons__foxglove *f)
{
    if (!f) {
        return;
    }
    pons__foxglove_stop(f);
    while (f->clients) {
        pons__fox_client *next = f->clients->next;
        free_client(f->clients);
        f->clients = next;
    }
    for (size_t i = 0; i < f->n_channels; i++) {
        free(f->channels[i].topic);
        free(f->channels[i].schema);
        free(f->channels[i].json);
    }
    pons_value_unref(f->cameras);
    if (f->wake >= 0) {
        close(f->wake);
    }
    pthread_cond_destroy(&f->news);
    pthread_mutex_destroy(&f->mtx);
    free(f);
}

// ---- the route: a worker ------------------------------------------------------------------------

// Whether one of the words that the client speaks, with commas between, is ours.
static bool speaks_it(const char *list)
{
    static const char ours[] = PONS__FOXGLOVE_SUBPROTOCOL;
    for (const char *at = list; at && (at = strstr(at, ours)); at += sizeof ours - 1) {
        const char before = at == list ? ',' : at[-1], after = at[sizeof ours - 1];
        if (strchr(", ", before) && (!after || strchr(", ", after))) {
            return true;
        }
    }
    return false;
}

static pons__fox_client *seat(pons__foxglove *f, pons__role role)
{
    pons__fox_client *c = calloc(1, sizeof *c);
    pthread_mutex_lock(&f->mtx);
    const bool room = c && !f->closing && f->n_clients < CLIENTS_MAX && begin_threads(f);
    if (room) {
        c->f = f;
        c->role = role;
        c->next = f->clients;
        f->clients = c;
        f->n_clients++;
    }
    pthread_mutex_unlock(&f->mtx);
    if (!room) {
        free(c);
    }
    return room ? c : NULL;
}

static void unseat(pons__foxglove *f, pons__fox_client *c)
{
    pthread_mutex_lock(&f->mtx);
    pons__fox_client **at = &f->clients;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    f->n_clients--;
    pthread_mutex_unlock(&f->mtx);
    free(c);
}

static int foxglove(pons__request *r)
{
    pons__foxglove *f = r->s->foxglove;
    if (!speaks_it(r->s->http->header(r->x, "Sec-WebSocket-Protocol"))) {
        return pons__reply_error(r, 400, "this address speaks the WebSocket subprotocol %s",
                                 PONS__FOXGLOVE_SUBPROTOCOL);
    }
    pons__fox_client *c = seat(f, r->role);
    if (!c) {
        return pons__reply_error(r, 503, "%d clients look already", CLIENTS_MAX);
    }
    const pons_http_socket_options o = {.protocol = PONS__FOXGLOVE_SUBPROTOCOL,
                                        .message = pons__fox_message,
                                        .over = pons__fox_over,
                                        .user = c};
    r->status = 101;
    pons_http_socket *s = r->s->http->socket(r->x, &o);
    if (!s) {
        r->status = 400;
        unseat(f, c);
        return PONS_OK;
    }
    pons__metrics_stream(r->s->metrics, "foxglove", 1);
    pthread_mutex_lock(&f->mtx);
    c->s = s;
    pthread_mutex_unlock(&f->mtx);
    pons__fox_wake(f);
    return PONS_OK;
}

const pons__route pons__foxglove_routes[] = {
    {"GET", "/foxglove", PONS__VIEWER, foxglove},
    {NULL, NULL, PONS__NOBODY, NULL},
};
