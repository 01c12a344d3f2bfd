// session_threads.c - sessions with the planning agent: one thread each, for as long as somebody needs it.
//
//     worker --order--> [session's queue] --wake--> its thread: pons_agent_say, _answer, …
//       ^                                              |  pons_agent_poll
//       +------------- heard, or refused --------------+--events--> listeners; pons_serve_event
//
// A session is a thread of the store that this process holds while it is open (the lease). It opens
// with the first order, and closes when nobody listens and nothing is under way for LINGER_MS: also
// when it waits for a person, since a question outlives its process anyway. So an answer after a
// restart of the server is nothing special: it opens the session, and the turn goes on.
//
// What a session's thread does with an order is in chat_session.c. Lists and queues are under the desk's lock; an agent is its session's thread's alone. A thread that
// ends puts its session on `dead`, and whoever opens or stops next joins it.
#include "serve/chat/session_threads.h"

#include "pons/buf.h"
#include "pons/out_of_memory.h"
#include "serve/chat/chat_session.h"
#include "serve/chat/session_lookup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SESSIONS_MAX 16
#define WAITING_MAX  4 // workers that wait for sessions at once: the others serve everybody else
#define LINGER_MS    60000

struct pons__chat_host {
    pons_serve *s;
    pthread_mutex_t mtx;
    pthread_cond_t news;
    pons__session *sessions, *dead; // [mtx]
    pons__order *later;             // [mtx] posted, for sessions that there is no room for
    size_t n, waiting;              // [mtx]
    bool closing;                   // [mtx]
};

// ---- the session's thread -----------------------------------------------------------------------

static pons__order *next_order(pons__session *s)
{
    pthread_mutex_lock(&s->d->mtx);
    pons__order *o = s->first;
    if (o) {
        s->first = o->next;
        s->last = s->first ? s->last : NULL;
        o->renews = s->renew;
    }
    pthread_mutex_unlock(&s->d->mtx);
    return o;
}

static void free_posted(pons__order *o)
{
    free((char *)(uintptr_t)o->text);
    free((char *)(uintptr_t)o->question);
    pons_value_unref(o->answer);
    free(o);
}

static void received(pons__session *s, pons__order *o)
{
    if (o->posted) {
        free_posted(o);
        return;
    }
    pthread_mutex_lock(&s->d->mtx);
    o->done = true;
    pthread_cond_broadcast(&s->d->news);
    pthread_mutex_unlock(&s->d->mtx);
}

// Whether the session is over: nobody needs it, the server ends, or it is to be opened anew.
static bool is_over(pons__session *s, int64_t now)
{
    pthread_mutex_lock(&s->d->mtx);
    const bool closing = s->d->closing, orders = s->first != NULL;
    const bool renew = s->renew || s->d->later; // somebody waits for its place
    pthread_mutex_unlock(&s->d->mtx);
    s->used_ms = pons__session_rests(s) ? s->used_ms : now;
    return closing ||
           (!orders && pons__session_rests(s) && (renew || now - s->used_ms > LINGER_MS));
}

static void push(pons__session *s, pons__order *o)
{
    if (s->last) {
        s->last->next = o;
    } else {
        s->first = o;
    }
    s->last = o;
    eventfd_write(s->wake, 1);
}

static pons__session *find(pons__chat_host *d, const char *name, pons_error *err);

// Under the lock: there is room for another session.
static void begin_later(pons__chat_host *d)
{
    pons_error none = PONS_ERROR_INIT;
    pons__order *o = d->later;
    pons__session *s = o && !d->closing ? find(d, o->session, &none) : NULL;
    if (s) {
        d->later = o->next;
        o->next = NULL;
        push(s, o);
    }
}

// The store is given back before anybody can open the session anew. An order that came at the last
// moment is refused when the server ends, and else brings the session back. False: it goes on.
static bool leave(pons__session *s)
{
    pons__chat_host *d = s->d;
    pons_error err = PONS_ERROR_INIT;
    const pons_serve_host *h = &d->s->o.host;
    pons_error_set(&err, PONS_ECLOSED, PONS__SERVE, "the server ends");
    pons__session_end(s, PONS_ECLOSED, &err);
    if (s->a.agent) {
        h->agent_close(h->user, &s->a);
        s->a = (pons_serve_agent){0};
    }
    pthread_mutex_lock(&d->mtx);
    s->renew = false;
    const bool stays = s->first && !d->closing;
    if (!stays) {
        pons__session **at = &d->sessions;
        while (*at != s) {
            at = &(*at)->next;
        }
        *at = s->next;
        s->next = d->dead;
        d->dead = s;
        d->n--;
        begin_later(d);
    }
    pthread_cond_broadcast(&d->news);
    pthread_mutex_unlock(&d->mtx);
    while (!stays && s->first) { // nobody finds it any more
        pons__order *o = next_order(s);
        o->rc = PONS_ECLOSED;
        o->err = err;
        pons__session_deaf(o->listener, o->rc, &o->err);
        received(s, o);
    }
    return !stays;
}

static void *run(void *user)
{
    pons__session *s = user;
    s->used_ms = s->beat_ms = pons_now_ms(&s->d->s->o.clock);
    for (;;) {
        pons__order *o;
        while ((o = next_order(s))) {
            pons__session_do(s, o);
            s->used_ms = pons_now_ms(&s->d->s->o.clock);
            received(s, o);
        }
        pons__session_work(s);
        const int64_t now = pons_now_ms(&s->d->s->o.clock);
        pons__session_beat(s, now);
        if (is_over(s, now) && leave(s)) {
            return NULL;
        }
        pons__session_wait(s);
    }
}

// ---- the desk -----------------------------------------------------------------------------------

int pons__chat_host_open(pons_serve *s, pons__chat_host **ret, pons_error *err)
{
    if (!s->o.host.agent_open) {
        return PONS_OK;
    }
    pons__chat_host *d = calloc(1, sizeof *d);
    if (!d) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for sessions");
    }
    d->s = s;
    pthread_mutex_init(&d->mtx, NULL);
    pthread_cond_init(&d->news, NULL);
    *ret = d;
    return PONS_OK;
}

static void bury(pons__session *dead)
{
    while (dead) {
        pons__session *next = dead->next;
        pthread_join(dead->thread, NULL);
        close(dead->wake);
        free(dead);
        dead = next;
    }
}

static void refuse(pons__order *o, int status, const char *why)
{
    pons_error err = PONS_ERROR_INIT;
    pons_error_set(&err, status, PONS__SERVE, "%s", why);
    if (o->listener) {
        o->listener->end(o->listener, status, &err);
    }
    free_posted(o);
}

void pons__chat_host_stop(pons__chat_host *d)
{
    if (!d) {
        return;
    }
    pthread_mutex_lock(&d->mtx);
    d->closing = true;
    for (const pons__session *s = d->sessions; s; s = s->next) {
        eventfd_write(s->wake, 1);
    }
    while (d->sessions) {
        pthread_cond_wait(&d->news, &d->mtx);
    }
    pons__session *dead = d->dead;
    pons__order *later = d->later;
    d->dead = NULL;
    d->later = NULL;
    pthread_mutex_unlock(&d->mtx);
    bury(dead);
    while (later) {
        pons__order *o = later;
        later = o->next;
        refuse(o, PONS_ECLOSED, "the server ends");
    }
}

void pons__chat_host_close(pons__chat_host *d)
{
    if (d) {
        pons__chat_host_stop(d);
        pthread_cond_destroy(&d->news);
        pthread_mutex_destroy(&d->mtx);
        free(d);
    }
}

void pons__chat_host_renew(pons__chat_host *d)
{
    pthread_mutex_lock(&d->mtx);
    for (pons__session *s = d->sessions; s; s = s->next) {
        s->renew = true;
        eventfd_write(s->wake, 1);
    }
    pthread_mutex_unlock(&d->mtx);
}

// Under the lock: the session, which is there or begins. NULL: there is no room.
static pons__session *find(pons__chat_host *d, const char *name, pons_error *err)
{
    for (pons__session *s = d->sessions; s; s = s->next) {
        if (strcmp(s->name, name) == 0) {
            return s;
        }
    }
    pons__session *s = d->n < SESSIONS_MAX ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        pons_error_set(err, PONS_EAGAIN, PONS__SERVE, "%d sessions are open already", SESSIONS_MAX);
        return NULL;
    }
    s->d = d;
    s->serve = d->s;
    snprintf(s->name, sizeof s->name, "%s", name);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0 || pthread_create(&s->thread, NULL, run, s) != 0) {
        if (s->wake >= 0) {
            close(s->wake);
        }
        free(s);
        pons_error_set(err, PONS_EENV, PONS__SERVE, "no thread for a session");
        return NULL;
    }
    s->next = d->sessions;
    d->sessions = s;
    d->n++;
    return s;
}

static int give(pons__chat_host *d, const char *name, pons__order *o, pons_error *err)
{
    pthread_mutex_lock(&d->mtx);
    pons__session *dead = d->dead;
    d->dead = NULL;
    pons__session *s = NULL;
    if (d->closing || d->waiting >= WAITING_MAX) {
        pons_error_set(err, PONS_EAGAIN, PONS__SERVE,
                       d->closing ? "the server ends" : "too many sessions begin at once");
    } else {
        s = find(d, name, err);
    }
    if (s) {
        push(s, o);
        d->waiting++;
        while (!o->done) {
            pthread_cond_wait(&d->news, &d->mtx);
        }
        d->waiting--;
    }
    pthread_mutex_unlock(&d->mtx);
    bury(dead);
    if (!s) {
        pons__session_deaf(o->listener, err->status, err);
        return err->status;
    }
    *err = o->err;
    return o->rc;
}

int pons__chat_pictures(const pons_serve *s, const pons_value *urls, pons_value **ret,
                        pons_error *err)
{
    static const char *const heads[] = {"data:image/jpeg;base64,", "data:image/png;base64,"};
    pons_autovalue list = json_array();
    if (json_array_size(urls) > 0 && !s->o.host.picture) {
        return pons_error_set(err, PONS_EINVAL, PONS__SERVE, "no pictures are taken here");
    }
    for (size_t i = 0; i < json_array_size(urls); i++) {
        const char *url = json_string_value(json_array_get(urls, i));
        pons_autobuf bytes = PONS_BUF_INIT;
        pons_value *picture = NULL;
        int rc = PONS_EINVAL;
        for (size_t k = 0; url && k < 2 && rc < 0; k++) {
            const size_t n = strlen(heads[k]);
            rc = strncmp(url, heads[k], n) == 0
                     ? pons_buf_unbase64(&bytes, url + n, strlen(url + n))
                     : PONS_EINVAL;
        }
        if (rc < 0) {
            return pons_error_set(err, rc, PONS__SERVE,
                                  "picture %zu is no data: URL with the base64 of a JPEG or PNG; "
                                  "none is fetched from elsewhere",
                                  i + 1);
        }
        rc = s->o.host.picture(s->o.host.user, bytes.data, bytes.len, &picture, err);
        if (rc < 0) {
            return pons_error_context(err, "picture %zu", i + 1);
        }
        json_array_append_new(list, picture);
    }
    *ret = pons_value_ref(list);
    return PONS_OK;
}

int pons__chat_host_say(pons__chat_host *d, const char *name, const char *text,
                        const pons_value *pictures, bool acts, pons__listener *l, pons_error *err)
{
    pons__order o = {
        .what = PONS__ORDER_SAY, .text = text, .pictures = pictures, .acts = acts, .listener = l};
    return give(d, name, &o, err);
}

int pons__chat_host_join(pons__chat_host *d, const char *name, pons__listener *l, pons_error *err)
{
    pons__order o = {.what = PONS__ORDER_JOIN, .listener = l};
    return give(d, name, &o, err);
}

int pons__chat_host_halt(pons__chat_host *d, const char *name, pons_error *err)
{
    pons__order o = {.what = PONS__ORDER_HALT};
    return give(d, name, &o, err);
}

int pons__chat_host_answer(pons__chat_host *d, const char *name, const char *question,
                           const pons_value *answer, pons_error *err)
{
    char found[PONS_NAME_MAX];
    pons__order o = {.what = PONS__ORDER_ANSWER, .question = question, .answer = answer};
    if (!name) {
        const int rc = pons__chat_find(d->s->o.store, question, found, err);
        if (rc < 0) {
            return rc;
        }
        name = found;
    }
    return give(d, name, &o, err);
}

// Under the lock: what of a session has not begun.
static pons__order *take_later(pons__chat_host *d, const char *name)
{
    pons__order *taken = NULL;
    for (pons__order **at = &d->later; *at;) {
        pons__order *o = *at;
        if (strcmp(o->session, name) == 0) {
            *at = o->next;
            o->next = taken;
            taken = o;
        } else {
            at = &o->next;
        }
    }
    return taken;
}

// Asks those that rest to leave when there is no room.
static void post(pons__chat_host *d, pons__order *o)
{
    pons_error err = PONS_ERROR_INIT;
    pthread_mutex_lock(&d->mtx);
    pons__session *dead = d->dead;
    d->dead = NULL;
    pons__order *given_up = o->what == PONS__ORDER_HALT ? take_later(d, o->session) : NULL;
    pons__session *s = d->closing ? NULL : find(d, o->session, &err);
    const bool later =
        !s && !d->closing && err.status == PONS_EAGAIN && o->what != PONS__ORDER_HALT;
    if (s) {
        push(s, o);
    } else if (later) {
        pons__order **at = &d->later;
        while (*at) {
            at = &(*at)->next;
        }
        *at = o;
        for (const pons__session *one = d->sessions; one; one = one->next) {
            eventfd_write(one->wake, 1);
        }
    }
    pthread_mutex_unlock(&d->mtx);
    bury(dead);
    while (given_up) {
        pons__order *gone = given_up;
        given_up = gone->next;
        refuse(gone, PONS_ECANCELED, "it was canceled");
    }
    if (!s && !later) {
        refuse(o, err.status < 0 ? err.status : PONS_ECLOSED,
               err.status < 0 ? err.message : "the server ends");
    }
}

static pons__order *posted(const char *name, pons__order_kind kind)
{
    pons__order *o = pons_need_zeroed(1, sizeof *o);
    o->what = kind;
    o->posted = true;
    snprintf(o->session, sizeof o->session, "%s", name);
    return o;
}

void pons__chat_host_turn(pons__chat_host *d, const char *name, const pons__turn *t,
                          pons__listener *l)
{
    pons__order *o = posted(name, PONS__ORDER_TURN);
    o->text = pons_need_text(t->text);
    o->question = pons_need_text(t->question);
    o->answer = pons_value_ref(t->answer);
    o->again = t->again;
    o->after = t->after;
    o->acts = true;
    o->listener = l;
    post(d, o);
}

void pons__chat_host_turn_leave(pons__chat_host *d, const char *name, const char *thread)
{
    pons__order o = {.what = PONS__ORDER_LEAVE, .text = thread};
    pthread_mutex_lock(&d->mtx);
    pons__order *waiting = take_later(d, name); // no session has heard it
    for (pons__order *w = waiting; w; w = w->next) {
        pons__session_forget(&w->listener, thread);
    }
    pons__session *s = d->sessions;
    while (s && strcmp(s->name, name) != 0) {
        s = s->next;
    }
    if (s && !d->closing) {
        push(s, &o);
        while (!o.done) {
            pthread_cond_wait(&d->news, &d->mtx);
        }
    }
    pthread_mutex_unlock(&d->mtx);
    while (waiting) {
        pons__order *gone = waiting;
        waiting = gone->next;
        if (gone->listener) { // another run's, of the same session
            post(d, gone);
        } else {
            free_posted(gone);
        }
    }
}

void pons__chat_host_turn_halt(pons__chat_host *d, const char *name)
{
    post(d, posted(name, PONS__ORDER_HALT));
}

int pons__chat_host_name(const pons__chat_host *d, const char *name, pons_error *err)
{
    int64_t last = 0;
    const pons_store store = d->s->o.store;
    const size_t n = strlen(name);
    if (n == 0 || n >= PONS_NAME_MAX || n > 100 ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != n) {
        return pons_error_set(err, PONS_EINVAL, PONS__SERVE,
                              "session_id: letters, digits and ._- , at most 100");
    }
    const int rc = store.ops->event_last(store.self, name, &last, err);
    if (rc < 0) {
        return rc;
    }
    if ((d->s->o.thread && strcmp(name, d->s->o.thread) == 0) ||
        (last > 0 && !pons_agent_thread_is(store, name))) {
        return pons_error_set(err, PONS_EBUSY, PONS__SERVE, "%s is no session of an agent", name);
    }
    return PONS_OK;
}
