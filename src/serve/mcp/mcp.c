// mcp.c - the Model Context Protocol over HTTP (streamable HTTP of 2025-03-26 and later).
//
//     POST /mcp     a message of the client: a request is answered as a stream of events, or as JSON;
//                   an answer or a notification with 202
//     GET /mcp      the session's own stream; with Last-Event-ID, a stream goes on behind that event
//     DELETE /mcp   the end of a session, and of its calls
//
//     worker --message--> [session: queue] --wake--> the thread: pons_mcp_session_take
//                                                       |  (mcp/mcp_session.c: the core that stdio uses)
//     client <------------ [session: streams] <--say----+
//
// The thread owns the core and what it calls; workers and the thread share the sessions' queues and
// streams under one lock, which nobody holds while the core is at work, and the core says things
// without it. A session is its client's who shows its name (128 random bits) and an operator's token:
// calls move the robot. One that nobody uses for IDLE_MS, with nothing under way, is forgotten; its
// client gets 404 and begins anew, as the protocol has it.
#include "serve/mcp/mcp.h"

#include "serve/access/reply.h"
#include "serve/access/worker_thread.h"
#include "serve/mcp/mcp_client.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS_MAX 64
#define MESSAGES_MAX 256 // that wait, of one session
#define IDLE_MS      (30 * 60 * 1000LL)
#define BEAT_MS      15000
#define FDS_MAX      18

struct pons__mcp {
    pons_serve *s;
    pons_mcp_host *host; // the thread
    pons__thread t;
    pons__mcp_session *sessions; // [mtx]; entries are freed by the thread alone
    size_t n;                    // [mtx]
    int64_t beat_ms;             // the thread
};

typedef struct speaker { // what the core knows of a session
    pons__mcp *m;
    pons__mcp_session *s;
} speaker;

// ---- the thread ---------------------------------------------------------------------------------

static void say(void *user, const pons_value *message, const pons_value *of)
{
    const speaker *to = user;
    pthread_mutex_lock(&to->m->t.mtx);
    pons__mcp_say(to->s, message, of);
    pthread_mutex_unlock(&to->m->t.mtx);
}

// One message, or NULL: there is none.
static pons_value *next_message(pons__mcp *m, pons__mcp_session *s)
{
    pthread_mutex_lock(&m->t.mtx);
    pons__mcp_message *first = s->first;
    if (first) {
        s->first = first->next;
        s->last = s->first ? s->last : NULL;
        s->n_messages--;
    }
    pthread_mutex_unlock(&m->t.mtx);
    pons_value *value = first ? first->value : NULL;
    free(first);
    return value;
}

static bool begin_core(pons__mcp *m, pons__mcp_session *s)
{
    pons_error none = PONS_ERROR_INIT;
    speaker *to = s->core ? NULL : malloc(sizeof *to);
    if (to) {
        *to = (speaker){m, s};
        if (pons_mcp_session_open(m->host, say, to, &s->core, &none) < 0) {
            free(to);
        } else {
            s->speaker = to;
        }
    }
    return s->core != NULL;
}

static void take_messages(pons__mcp *m, pons__mcp_session *s)
{
    pons_value *v;
    while (begin_core(m, s) && (v = next_message(m, s))) {
        pons_mcp_session_take(s->core, v);
        pons_value_unref(v);
    }
    if (s->core) {
        pthread_mutex_lock(&m->t.mtx);
        snprintf(s->version, sizeof s->version, "%s", pons_mcp_session_version(s->core));
        pthread_mutex_unlock(&m->t.mtx);
    }
}

static void end_session(pons__mcp *m, pons__mcp_session *s)
{
    pons_mcp_session_close(s->core);
    free(s->speaker);
    pthread_mutex_lock(&m->t.mtx);
    pons__mcp_session_free(s);
    pthread_mutex_unlock(&m->t.mtx);
}

// Takes those out of the list that are over: nobody finds them any more.
static void end_sessions(pons__mcp *m, int64_t now, bool all)
{
    pons__mcp_session *gone = NULL;
    pthread_mutex_lock(&m->t.mtx);
    for (pons__mcp_session **at = &m->sessions; *at;) {
        pons__mcp_session *s = *at;
        const bool busy =
            pons__mcp_received(s) || s->first || (s->core && pons_mcp_session_busy(s->core));
        s->used_ms = busy ? now : s->used_ms;
        if (all || s->ending || now - s->used_ms > IDLE_MS) {
            *at = s->next;
            s->next = gone;
            gone = s;
            m->n--;
        } else {
            at = &s->next;
        }
    }
    pthread_mutex_unlock(&m->t.mtx);
    while (gone) {
        pons__mcp_session *next = gone->next;
        end_session(m, gone);
        gone = next;
    }
}

static void beat(pons__mcp *m, int64_t now)
{
    if (now - m->beat_ms < BEAT_MS) {
        return;
    }
    m->beat_ms = now;
    pthread_mutex_lock(&m->t.mtx);
    for (pons__mcp_session *s = m->sessions; s; s = s->next) {
        pons__mcp_beat(s);
    }
    pthread_mutex_unlock(&m->t.mtx);
}

// Entries leave the list on this thread alone, so that it may be gone through without the lock; new
// ones come to its head, which is read under it.
static pons__mcp_session *first_session(pons__mcp *m, bool *ret_closing)
{
    pthread_mutex_lock(&m->t.mtx);
    pons__mcp_session *s = m->sessions;
    *ret_closing = m->t.closing;
    pthread_mutex_unlock(&m->t.mtx);
    return s;
}

static void *run(void *user)
{
    pons__mcp *m = user;
    bool closing = false;
    while (!closing) {
        struct pollfd p[FDS_MAX];
        int wait_ms = 0;
        p[0] = (struct pollfd){.fd = m->t.wake, .events = POLLIN};
        const size_t fds = pons_mcp_host_fds(m->host, p + 1, FDS_MAX - 1, &wait_ms);
        poll(p, (nfds_t)(1 + fds), wait_ms < BEAT_MS ? wait_ms : BEAT_MS);
        pons__thread_awake(&m->t);
        for (pons__mcp_session *s = first_session(m, &closing); s; s = s->next) {
            take_messages(m, s);
        }
        pons_mcp_host_poll(m->host);
        const int64_t now = pons_now_ms(&m->s->o.clock);
        beat(m, now);
        end_sessions(m, now, closing);
    }
    return NULL;
}

// ---- opening ------------------------------------------------------------------------------------

int pons__mcp_open(pons_serve *s, pons__mcp **ret, pons_error *err)
{
    if (!s->o.mcp) {
        return PONS_OK;
    }
    pons__mcp *m = calloc(1, sizeof *m);
    if (!m) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for MCP");
    }
    m->s = s;
    m->beat_ms = pons_now_ms(&s->o.clock);
    int rc = pons_mcp_host_open(s->o.mcp, &m->host, err);
    if (rc < 0) {
        free(m);
        return rc;
    }
    rc = pons__thread_begin(&m->t, run, m, "for MCP", err);
    if (rc < 0) {
        pons__mcp_close(m);
        return rc;
    }
    *ret = m;
    return PONS_OK;
}

void pons__mcp_stop(pons__mcp *m)
{
    if (m) {
        pons__thread_stop(&m->t);
    }
}

void pons__mcp_close(pons__mcp *m)
{
    if (!m) {
        return;
    }
    pons__mcp_stop(m);
    end_sessions(m, 0, true);
    pons_mcp_host_close(m->host);
    pons__thread_fini(&m->t);
    free(m);
}

// ---- the routes: workers ------------------------------------------------------------------------

static pons__mcp_session *find(pons__mcp *m, const char *id)
{
    for (pons__mcp_session *s = m->sessions; s; s = s->next) {
        if (!s->ending && strcmp(s->id, id) == 0) {
            return s;
        }
    }
    return NULL;
}

// Under the lock when it returns a session; else it is answered, and there is no lock.
static pons__mcp_session *enter(pons__request *r)
{
    pons__mcp *m = r->s->mcp;
    const char *id = r->s->http->header(r->x, "Mcp-Session-Id");
    const char *version = r->s->http->header(r->x, "MCP-Protocol-Version");
    if (!m) {
        pons__reply_error(r, 404, "this server offers no tools");
        return NULL;
    }
    if (!id) {
        pons__reply_error(r, 400, "Mcp-Session-Id is missing: initialize comes first");
        return NULL;
    }
    if (version && !pons_mcp_version_known(version)) {
        pons__reply_error(r, 400, "MCP-Protocol-Version %.32s is not spoken here", version);
        return NULL;
    }
    pthread_mutex_lock(&m->t.mtx);
    pons__mcp_session *s = find(m, id);
    if (!s) {
        pthread_mutex_unlock(&m->t.mtx);
        pons__reply_error(r, 404, "there is no such session: initialize begins a new one");
        return NULL;
    }
    s->used_ms = pons_now_ms(&r->s->o.clock);
    return s;
}

static bool accepts(const pons__request *r, const char *type)
{
    const char *list = r->s->http->header(r->x, "Accept");
    return !list || strstr(list, "*/*") || strcasestr(list, type);
}

static pons__mcp_session *begin(pons__request *r)
{
    pons__mcp *m = r->s->mcp;
    if (!m) {
        pons__reply_error(r, 404, "this server offers no tools");
        return NULL;
    }
    pthread_mutex_lock(&m->t.mtx);
    const bool room = m->n < SESSIONS_MAX && !m->t.closing;
    pons__mcp_session *s =
        room ? pons__mcp_session_new(r->s->http, pons_now_ms(&r->s->o.clock)) : NULL;
    if (!s) {
        pthread_mutex_unlock(&m->t.mtx);
        pons__reply_error(r, 503, "%d clients have a session already", SESSIONS_MAX);
        return NULL;
    }
    s->next = m->sessions;
    m->sessions = s;
    m->n++;
    return s;
}

static bool queue(pons__mcp_session *s, const pons_value *value)
{
    pons__mcp_message *e = s->n_messages < MESSAGES_MAX ? calloc(1, sizeof *e) : NULL;
    if (!e) {
        return false;
    }
    e->value = pons_value_ref(value);
    if (s->last) {
        s->last->next = e;
    } else {
        s->first = e;
    }
    s->last = e;
    s->n_messages++;
    return true;
}

// Under the lock, which it gives back.
static int request(pons__request *r, pons__mcp_session *s, bool first)
{
    pons__mcp *m = r->s->mcp;
    char name[64];
    const char *const headers[] = {name, NULL};
    snprintf(name, sizeof name, "Mcp-Session-Id: %s", s->id);
    // What takes long, or asks, is a stream; all else is an answer.
    const bool call = strcmp(pons_get_str(r->body, "method", ""), "tools/call") == 0;
    const bool json = accepts(r, "application/json") && !(call && accepts(r, "text/event-stream"));
    pons__mcp_out *o = pons__mcp_out_new(s, pons_get(r->body, "id"), json);
    if (!o || !queue(s, r->body)) {
        if (o) {
            pons__mcp_out_drop(s, o);
        }
        s->ending |= first;
        pthread_mutex_unlock(&m->t.mtx);
        pons__thread_wake(&m->t);
        return pons__reply_error(r, o ? 503 : 409,
                                 "this id is under way already, or there is no room");
    }
    o->stream =
        json ? pons__reply_stream(r, "application/json", headers) : pons__reply_events(r, headers);
    // A client of 2025-11-25 can come back before anything was said; older ones take no empty event.
    if (!json && strcmp(s->version, "2025-11-25") >= 0) {
        pons__mcp_prime(s, o);
    }
    pthread_mutex_unlock(&m->t.mtx);
    pons__thread_wake(&m->t);
    return PONS_OK;
}

static int post(pons__request *r)
{
    const pons_value *id = pons_get(r->body, "id");
    const char *method = pons_get_str(r->body, "method", NULL);
    const bool first = method && id && strcmp(method, "initialize") == 0;
    if (first && r->s->http->header(r->x, "Mcp-Session-Id")) {
        return pons__reply_error(r, 400, "a session is initialized once");
    }
    if (!accepts(r, "application/json") && !accepts(r, "text/event-stream")) {
        return pons__reply_error(r, 406, "Accept: application/json, text/event-stream");
    }
    pons__mcp_session *s = first ? begin(r) : enter(r);
    if (!s) {
        return PONS_EREFUSED;
    }
    if (method && id) {
        return request(r, s, first);
    }
    const bool room = queue(s, r->body);
    pthread_mutex_unlock(&r->s->mcp->t.mtx);
    if (!room) {
        return pons__reply_error(r, 503, "too much waits already");
    }
    pons__thread_wake(&r->s->mcp->t);
    return pons__reply_bytes(r, 202, "application/json", NULL, "", 0);
}

static int listen_to(pons__request *r)
{
    const char *last = r->s->http->header(r->x, "Last-Event-ID");
    pons__mcp_out *o = NULL;
    int64_t after = 0;
    if (!accepts(r, "text/event-stream")) {
        return pons__reply_error(r, 406, "Accept: text/event-stream");
    }
    pons__mcp_session *s = enter(r);
    if (!s) {
        return PONS_EREFUSED;
    }
    const int rc = last ? pons__mcp_find(s, last, &o, &after) : PONS_OK;
    if (rc >= 0 && !last) { // from now on
        for (o = s->outs; o->number != 0; o = o->next) {
        }
        after = o->seq;
    }
    pons_http_stream *stream = NULL;
    if (rc >= 0 && (stream = pons__reply_events(r, NULL))) {
        pons__mcp_attach(s, o, after, stream);
        if (!last && strcmp(s->version, "2025-11-25") >= 0) {
            pons__mcp_prime(s, o);
        }
    }
    pthread_mutex_unlock(&r->s->mcp->t.mtx);
    return rc >= 0 ? PONS_OK
           : rc == PONS_EINVAL
               ? pons__reply_error(r, 400, "Last-Event-ID is none of this session")
               : pons__reply_error(r, 404, "what came after that event is not kept any more");
}

static int goodbye(pons__request *r)
{
    pons__mcp_session *s = enter(r);
    if (!s) {
        return PONS_EREFUSED;
    }
    s->ending = true;
    pthread_mutex_unlock(&r->s->mcp->t.mtx);
    pons__thread_wake(&r->s->mcp->t);
    return pons__reply_done(r);
}

const pons__route pons__mcp_routes[] = {
    {"POST", "/mcp", PONS__OPERATOR, post},
    {"GET", "/mcp", PONS__OPERATOR, listen_to},
    {"DELETE", "/mcp", PONS__OPERATOR, goodbye},
    {NULL, NULL, PONS__NOBODY, NULL},
};
