// live_pose.c - where the robot is, many times a second; and the map that it is on.
//
//     GET /v1/map              {name, bounds, zones, charger, objects, skills, driver, …}
//     GET /v1/live?hz=10       telemetry as it comes, at most so often; not stored
//                  &view=1     and the way ahead, the scan and the tree, for pictures
//                              `world {}`: names in the world have changed; read /v1/map again
//
//     body.sock --observer--> the body's thread: newest telemetry, newest hello --> clients
//
// The thread connects when the first client comes, and again when the body was gone (BACK_OFF_MS);
// it leaves the body alone when nobody has listened for LINGER_MS. While no body answers clients get
// `body {"link":false}` instead, once a second.
#include "pons/buf.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "serve/access/reply.h"
#include "serve/access/worker_thread.h"
#include "serve/metrics/metrics.h"
#include "serve/robot/robot.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define BACK_OFF_MS 1000
#define LINGER_MS   10000
#define HELLO_MS    2000 // that a map is waited for
#define UNSENT_MAX  16384
#define CLIENTS_MAX 1024
#define JITTER_MS   30 // by which a view may come early
#define TREE_MS     200

typedef struct viewer {
    struct viewer *next;
    pons_http_stream *stream;
    int64_t every_ms, next_ms;
    bool blind; // the last it was told is that no body answers
    bool view;  // wants to see the way, the scan and the tree
    uint64_t tree_seen, worlds_seen;
    int64_t next_view_ms;
} viewer;

struct pons__live {
    pons_serve *s;
    pons__thread t;
    pthread_cond_t news;   // [mtx] a hello came, or the link failed, or it closes
    viewer *coming;        // [mtx]
    size_t n;              // [mtx] viewers
    int64_t asked_ms;      // [mtx] when somebody last wanted to know
    pons_report hello;     // [mtx] of the body that is there; NONE: there is none
    unsigned tries;        // [mtx] connections that were tried
    int64_t failed_ms;     // [mtx] when the last one failed; 0: it did not
    bool by_hand;          // [mtx] a goal of drive_by_hand runs, by the newest telemetry
    bool steers;           // [mtx] this waits for the thread:
    pons_message steer;    // [mtx]
    viewer *viewers;       // the thread
    pons_link *link;       // the thread
    pons_value *telemetry; // the thread: the newest
    int64_t tried_ms;      // the thread
    pons_value *view;      // the thread: the newest, as far as it was not told
    bool fresh;            // the thread: telemetry that was not told yet
    pons_value *tree;      // the thread: as it stands
    uint64_t tree_n;       // the thread: how often it has changed
    int64_t tree_ms;       // the thread: when it was last told
    uint64_t worlds;       // the thread: number of hellos that bodies have sent
};

// ---- the thread ---------------------------------------------------------------------------------

static void lost(pons__live *l)
{
    pons_link_close(l->link);
    l->link = NULL;
    pons_value_unref(l->telemetry);
    l->telemetry = NULL;
    pons_value_unref(l->view);
    l->view = NULL;
    pons_value_unref(l->tree);
    l->tree = NULL;
    pthread_mutex_lock(&l->t.mtx);
    l->by_hand = false;
    pons_report_clear(&l->hello);
    pthread_mutex_unlock(&l->t.mtx);
}

static void try_link(pons__live *l, int64_t now)
{
    pons_error none = PONS_ERROR_INIT;
    if (now - l->tried_ms < BACK_OFF_MS) {
        return;
    }
    l->tried_ms = now;
    if (l->s->o.host.observe(l->s->o.host.user, false, &l->link, &none) < 0) {
        l->link = NULL;
    }
    pthread_mutex_lock(&l->t.mtx);
    l->failed_ms = l->link ? 0 : now;
    l->tries++;
    pthread_cond_broadcast(&l->news);
    pthread_mutex_unlock(&l->t.mtx);
}

// A message, as the link's tables read it. Clients get telemetry, the view and the tree as they came.
static void received(pons__live *l, pons_value *message)
{
    pons_error none = PONS_ERROR_INIT;
    pons_report r;
    pons_report_decode(message, &r, &none); // what is wrong in it has its default
    switch (r.type) {
    case PONS_REPORT_TELEMETRY:
        pons_value_unref(l->telemetry);
        l->telemetry = pons_value_ref(message);
        l->fresh = true;
        pthread_mutex_lock(&l->t.mtx);
        l->by_hand = strcmp(r.as.telemetry.goal.skill, "drive_by_hand") == 0;
        pthread_mutex_unlock(&l->t.mtx);
        break;
    case PONS_REPORT_VIEW:
        pons_value_unref(l->view);
        l->view = pons_value_ref(message);
        break;
    case PONS_REPORT_TREE:
        l->tree_n += pons__tree_hear(&l->tree, message);
        break;
    case PONS_REPORT_HELLO:
        l->worlds++;
        pthread_mutex_lock(&l->t.mtx);
        pons_report_clear(&l->hello);
        l->hello = pons_report_share(&r);
        pthread_cond_broadcast(&l->news);
        pthread_mutex_unlock(&l->t.mtx);
        break;
    default:
        break;
    }
    pons_report_clear(&r);
}

static void listen_to_body(pons__live *l)
{
    pons_error none = PONS_ERROR_INIT;
    for (;;) {
        pons_value *message = NULL;
        const int rc = pons_link_recv(l->link, &message, &none);
        if (rc == PONS_EPROTOCOL) {
            continue;
        }
        if (rc <= 0) {
            if (rc < 0) {
                lost(l);
            }
            return;
        }
        received(l, message);
        pons_value_unref(message);
    }
}

// One event as text; a value of NULL is none.
static void put_event(pons_buf *b, const char *name, const pons_value *value)
{
    if (value) {
        pons_buf_printf(b, "event: %s\ndata: ", name);
        pons__buf_value(b, value);
        pons_buf_str(b, "\n\n");
    }
}

// What is due for a viewer, as far as it keeps up. False: it is gone.
static bool tell_viewer(pons__live *l, viewer *v, const pons_buf *state, const pons_buf *view,
                        int64_t now)
{
    const pons_http_server_ops *http = l->s->http;
    bool there = true;
    if (http->stream_unsent(v->stream) >= UNSENT_MAX) {
        return true;
    }
    if (state->len > 0 && (now >= v->next_ms || (v->blind && l->telemetry))) {
        there = http->stream_write(v->stream, state->data, state->len) >= 0;
        v->blind = !l->telemetry;
        v->next_ms = now + (v->blind ? BACK_OFF_MS : v->every_ms);
    }
    if (there && v->view && now >= v->next_view_ms && view->len > 0) {
        there = http->stream_write(v->stream, view->data, view->len) >= 0;
        v->next_view_ms = now + v->every_ms - JITTER_MS;
    }
    return there;
}

// The tree as it stands, to those who have not seen it so; a few times a second.
static void tell_tree(pons__live *l, int64_t now)
{
    pons_autobuf b = PONS_BUF_INIT;
    if (!l->tree || now - l->tree_ms < TREE_MS) {
        return;
    }
    l->tree_ms = now;
    for (viewer *v = l->viewers; v; v = v->next) {
        if (!v->view || v->tree_seen == l->tree_n ||
            l->s->http->stream_unsent(v->stream) >= UNSENT_MAX) {
            continue;
        }
        if (b.len == 0) {
            put_event(&b, "tree", l->tree);
        }
        // Who is gone is found at the next telemetry.
        if (b.len > 0 && l->s->http->stream_write(v->stream, b.data, b.len) >= 0) {
            v->tree_seen = l->tree_n;
        }
    }
}

// Tells clients to read the map again: names in the world have changed, or it is another world.
static void tell_world(pons__live *l)
{
    static const char text[] = "event: world\ndata: {}\n\n";
    for (viewer *v = l->viewers; v; v = v->next) {
        if (v->worlds_seen != l->worlds && l->s->http->stream_unsent(v->stream) < UNSENT_MAX &&
            l->s->http->stream_write(v->stream, text, sizeof text - 1) >= 0) {
            v->worlds_seen = l->worlds;
        }
    }
}

static void tell(pons__live *l, int64_t now)
{
    pons_autobuf state = PONS_BUF_INIT;
    pons_autobuf view = PONS_BUF_INIT;
    put_event(&state, "telemetry", l->fresh ? l->telemetry : NULL);
    put_event(&view, "view", l->view);
    if (!l->telemetry) {
        pons_buf_str(&state, "event: body\ndata: {\"link\":false}\n\n");
    }
    l->fresh = false;
    pons_value_unref(l->view);
    l->view = NULL;
    for (viewer **at = &l->viewers; *at;) {
        viewer *v = *at;
        if (tell_viewer(l, v, &state, &view, now)) {
            at = &v->next;
            continue;
        }
        *at = v->next;
        l->s->http->stream_end(v->stream);
        free(v);
        pons__metrics_stream(l->s->metrics, "live", -1);
        pthread_mutex_lock(&l->t.mtx);
        l->n--;
        pthread_mutex_unlock(&l->t.mtx);
    }
}

// What a hand wants goes out; to no body it goes nowhere.
static void steer(pons__live *l)
{
    pthread_mutex_lock(&l->t.mtx);
    const pons_message message = l->steer;
    const bool wanted = l->steers;
    l->steers = false;
    pthread_mutex_unlock(&l->t.mtx);
    if (wanted && l->link && pons_message_send(l->link, &message, NULL) < 0) {
        lost(l);
    }
}

// Takes who came; whether anybody wants to know.
static bool take_who_came(pons__live *l, int64_t now, bool *ret_closing)
{
    pthread_mutex_lock(&l->t.mtx);
    viewer *coming = l->coming;
    l->coming = NULL;
    *ret_closing = l->t.closing;
    pthread_mutex_unlock(&l->t.mtx);
    while (coming) {
        viewer *next = coming->next;
        coming->worlds_seen = l->worlds;
        coming->next = l->viewers;
        l->viewers = coming;
        coming = next;
    }
    pthread_mutex_lock(&l->t.mtx);
    l->asked_ms = l->viewers ? now : l->asked_ms;
    const bool wanted = l->asked_ms && now - l->asked_ms < LINGER_MS;
    pthread_mutex_unlock(&l->t.mtx);
    return wanted;
}

static void *run(void *user)
{
    pons__live *l = user;
    bool closing = false;
    while (!closing) {
        struct pollfd p[] = {{.fd = l->t.wake, .events = POLLIN},
                             {.fd = l->link ? pons_link_fd(l->link) : -1, .events = POLLIN}};
        poll(p, 2, l->viewers ? (l->link ? 50 : 250) : l->link ? 1000 : -1);
        pons__thread_awake(&l->t);
        const int64_t now = pons_now_ms(&l->s->o.clock);
        const bool wanted = take_who_came(l, now, &closing);
        if (l->link && p[1].revents) {
            listen_to_body(l);
        }
        if (wanted && !l->link) {
            try_link(l, now);
        } else if (!wanted && l->link) {
            lost(l);
        }
        steer(l);
        if (l->fresh || l->view || !l->telemetry) {
            tell(l, now);
        }
        tell_tree(l, now);
        tell_world(l);
    }
    while (l->viewers) {
        viewer *next = l->viewers->next;
        l->s->http->stream_end(l->viewers->stream);
        free(l->viewers);
        l->viewers = next;
    }
    lost(l);
    pthread_mutex_lock(&l->t.mtx);
    pthread_cond_broadcast(&l->news);
    pthread_mutex_unlock(&l->t.mtx);
    return NULL;
}

// ---- opening ------------------------------------------------------------------------------------

int pons__live_open(pons_serve *s, pons__live **ret, pons_error *err)
{
    pthread_condattr_t monotonic;
    pons__live *l = calloc(1, sizeof *l);
    if (!l) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for the body's thread");
    }
    l->s = s;
    l->tried_ms = -BACK_OFF_MS;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&l->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    const int rc = pons__thread_begin(&l->t, run, l, "for the body", err);
    if (rc < 0) {
        pons__live_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

void pons__live_stop(pons__live *l)
{
    if (l) {
        pons__thread_stop(&l->t);
    }
}

void pons__live_close(pons__live *l)
{
    if (!l) {
        return;
    }
    pons__live_stop(l);
    while (l->coming) {
        viewer *next = l->coming->next;
        l->s->http->stream_end(l->coming->stream);
        free(l->coming);
        l->coming = next;
    }
    pons__thread_fini(&l->t);
    pthread_cond_destroy(&l->news);
    free(l);
}

bool pons__live_steer(pons__live *l, double v, double w, bool let_go)
{
    pthread_mutex_lock(&l->t.mtx);
    l->asked_ms = pons_now_ms(&l->s->o.clock);
    const bool by_hand = l->by_hand && !l->t.closing;
    if (by_hand) {
        l->steer = (pons_message){.type = PONS_MESSAGE_STEER,
                                  .as.steer = {.v = v, .w = w, .let_go = let_go}};
        l->steers = true;
    }
    pthread_mutex_unlock(&l->t.mtx);
    pons__thread_wake(&l->t);
    return by_hand;
}

// ---- the routes: workers ------------------------------------------------------------------------

// The hello of the body that is there; waits for one that may be about to come. The caller clears
// it; NONE: there is none.
static pons_report body_hello(pons__live *l)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += HELLO_MS / 1000;
    pthread_mutex_lock(&l->t.mtx);
    l->asked_ms = pons_now_ms(&l->s->o.clock);
    const unsigned tries = l->tries;
    const bool just_failed = l->failed_ms && l->asked_ms - l->failed_ms < BACK_OFF_MS;
    pons__thread_wake(&l->t);
    // Until there is a hello, or a connection was tried in vain.
    while (l->hello.type == PONS_REPORT_NONE && !l->t.closing && !just_failed &&
           !(l->tries != tries && l->failed_ms) &&
           pthread_cond_timedwait(&l->news, &l->t.mtx, &until) == 0) {
    }
    const pons_report hello = pons_report_share(&l->hello);
    pthread_mutex_unlock(&l->t.mtx);
    return hello;
}

// The body tells zones and things; walls and cameras are in the world's file, where that can be found.
static pons_value *with_walls(const pons_serve *s, const pons_value *world)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue file = NULL;
    pons_value *all = json_copy((json_t *)(uintptr_t)world);
    if (!all ||
        s->o.host.world(s->o.host.user, pons_get_str(world, "name", ""), &file, &none) < 0) {
        return all;
    }
    const pons_value *boxes = pons_get(pons_get(file, "map"), "boxes");
    const pons_value *cameras = pons_get(file, "cameras");
    if (boxes) {
        json_object_set(all, "boxes", (json_t *)(uintptr_t)boxes);
    }
    if (pons_get_bool(pons_get(file, "map"), "grows", false)) {
        json_object_set_new(all, "grows", json_true());
    }
    if (cameras && s->o.host.camera) {
        json_object_set(all, "cameras", (json_t *)(uintptr_t)cameras);
    }
    return all;
}

// What a picture of the robot's place needs of a hello, by the link's own table.
static pons_value *map_of(const pons_serve *s, const pons_report *hello)
{
    static const char *const reported[] = {"skills",  "limits",     "driver",   "robot_id",
                                           "boot_id", "started_ms", "simulated"};
    size_t n = 0;
    const pons_field *fields = pons_report_fields(PONS_REPORT_HELLO, &n);
    pons_value *map = pons_object("world", with_walls(s, hello->as.hello.world), NULL);
    for (size_t i = 0; map && i < n; i++) {
        const bool wanted =
            pons__word_at(reported, sizeof reported / sizeof reported[0], fields[i].name) >= 0;
        if (wanted && pons_fields_encode(&fields[i], 1, hello, map) < 0) {
            pons_value_unref(map);
            map = NULL;
        }
    }
    return map;
}

static int map(pons__request *r)
{
    pons_report hello = body_hello(r->s->live);
    if (hello.type == PONS_REPORT_NONE) {
        return pons__reply_error(r, 503, "no body answers");
    }
    pons_value *map = map_of(r->s, &hello);
    pons_report_clear(&hello);
    return pons__reply_json(r, 200, map);
}

static int live(pons__request *r)
{
    pons__live *l = r->s->live;
    pthread_mutex_lock(&l->t.mtx);
    const bool room = l->n < CLIENTS_MAX && !l->t.closing;
    l->n += room;
    pthread_mutex_unlock(&l->t.mtx);
    viewer *v = room ? calloc(1, sizeof *v) : NULL;
    if (!v) {
        pons__reply_error(r, 503, "%d clients look already", CLIENTS_MAX);
    } else if (!(v->stream = pons__reply_events(r, NULL))) {
        free(v);
        v = NULL;
    }
    pthread_mutex_lock(&l->t.mtx);
    if (v) {
        v->every_ms = 1000 / pons_get_int(r->query, "hz", 10);
        v->view = pons_get_bool(r->query, "view", false);
        v->next = l->coming;
        l->coming = v;
        pons__metrics_stream(l->s->metrics, "live", 1);
    } else if (room) {
        l->n--;
    }
    pthread_mutex_unlock(&l->t.mtx);
    pons__thread_wake(&l->t);
    return PONS_OK;
}

const pons__route pons__live_routes[] = {
    {"GET", "/v1/map", PONS__VIEWER, map},
    {"GET", "/v1/live", PONS__VIEWER, live},
    {NULL, NULL, PONS__NOBODY, NULL},
};
