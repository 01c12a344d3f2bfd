// desk.c - sessions with the planning agent: one thread each, for as long as somebody needs it.
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
// Lists and queues are under the desk's lock; an agent is its session's thread's alone. A thread that
// ends puts its session on `dead`, and whoever opens or stops next joins it.
#include "serve/chat/desk.h"

#include "pons/log.h"
#include "pons/memory.h"
#include "serve/chat/find.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SESSIONS_MAX 16
#define WAITING_MAX  4 // workers that wait for sessions at once: the others serve everybody else
#define LINGER_MS    60000
#define BEAT_MS      15000
#define FDS_MAX      24

typedef enum what { SAY, JOIN, ANSWER, HALT, TURN, LEAVE } what;

typedef struct order { // on the stack of the worker that waits for it, or posted: on the heap
    struct order *next;
    what what;
    const char *text, *question; // words; whose answer
    const pons_value *answer;
    pons__listener *listener;
    bool acts; // of SAY
    bool again;
    int64_t after;
    bool done; // [mtx]
    int rc;
    pons_error err;
    // Of one that was posted: it owns its texts.
    bool posted;
    char session[PONS_NAME_MAX];
} order;

typedef struct session {
    struct session *next; // [mtx]
    pons__desk *d;
    char name[PONS_NAME_MAX];
    pthread_t thread;
    int wake;
    order *first, *last; // [mtx]
    bool renew;          // [mtx]
    // The rest is the thread's.
    pons_serve_agent a;
    pons__listener *listeners;
    int64_t used_ms, beat_ms;
    bool failed; // the engine is done for; open it anew
    bool looks;  // a is open with those tools alone that change nothing
} session;

struct pons__desk {
    pons_serve *s;
    pthread_mutex_t mtx;
    pthread_cond_t news;
    session *sessions, *dead; // [mtx]
    order *later;             // [mtx] posted, for sessions that there is no room for
    size_t n, waiting;        // [mtx]
    bool closing;             // [mtx]
};

// ---- the session's thread -----------------------------------------------------------------------

static void end_listeners(session *s, int rc, const pons_error *err)
{
    while (s->listeners) {
        pons__listener *l = s->listeners;
        s->listeners = l->next;
        l->end(l, rc, err);
    }
}

static void on_event(void *user, const pons_event *ev)
{
    session *s = user;
    pons_error none = PONS_ERROR_INIT;
    const bool over = strcmp(ev->type, "done") == 0;
    const pons_serve_options *opts = &s->d->s->o;
    pons_serve_event(s->d->s, ev);
    if (opts->on_chat) {
        opts->on_chat(opts->chat_user, ev);
    }
    for (pons__listener **at = &s->listeners; *at;) {
        pons__listener *l = *at;
        if (l->hear(l, ev) && !over) {
            at = &l->next;
        } else {
            *at = l->next;
            l->end(l, PONS_OK, &none);
        }
    }
}

// What a turn may do is settled when it begins; what is left of one that was cut short may no more
// than its session may by itself.
static int open_agent(session *s, const order *o, pons_error *err)
{
    const pons_serve_host *h = &s->d->s->o.host;
    const bool looks =
        strncmp(s->name, PONS__DESK_LOOKS, strlen(PONS__DESK_LOOKS)) == 0 && !o->acts;
    const bool other = (o->what == SAY || (o->what == TURN && o->text)) && s->a.agent &&
                       looks != s->looks && pons_agent_state_get(s->a.agent) != PONS_AGENT_WORKING;
    if ((s->failed || other) && s->a.agent) {
        h->agent_close(h->user, &s->a);
        s->a = (pons_serve_agent){0};
    }
    s->failed = false;
    if (s->a.agent) {
        return PONS_OK;
    }
    s->looks = looks;
    return h->agent_open(h->user, s->name, looks, on_event, s, &s->a, err);
}

typedef struct replaying {
    session *s;
    pons__listener *l;
} replaying;

static int replay(void *user, const pons_event_row *row)
{
    const replaying *r = user;
    pons_autovalue payload = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (pons_value_read(row->payload.data, row->payload.len, &payload, &none) < 0) {
        return 0;
    }
    const pons_event ev = {.seq = row->seq,
                           .thread = r->s->name,
                           .ns = row->ns,
                           .ts_ms = row->ts_ms,
                           .type = row->type,
                           .payload = payload};
    return !r->l->hear(r->l, &ev);
}

static void deaf(pons__listener *l, int rc, const pons_error *err)
{
    if (l) {
        l->end(l, rc, err);
    }
}

static int join(session *s, pons__listener *l, pons_error *err)
{
    int64_t begun = 0;
    replaying r = {s, l};
    const pons_store store = s->d->s->o.store;
    const bool idle = pons_agent_state_get(s->a.agent) == PONS_AGENT_IDLE;
    if (!l) {
        return PONS_OK; // it is open: that was all
    }
    int rc = pons__chat_turn(store, s->name, idle, &begun, err);
    rc = rc < 0 ? rc : store.ops->events(store.self, s->name, begun, 0, replay, &r, err);
    if (rc < 0 || idle) {
        l->end(l, rc, err);
    } else {
        l->next = s->listeners;
        s->listeners = l;
    }
    return rc;
}

static int say(session *s, const char *text, pons__listener *l, pons_error *err)
{
    if (pons_agent_state_get(s->a.agent) == PONS_AGENT_WORKING) {
        const int rc =
            pons_error_set(err, PONS_EBUSY, PONS__SERVE, "a turn is under way in %s", s->name);
        deaf(l, rc, err);
        return rc;
    }
    if (pons_agent_state_get(s->a.agent) ==
        PONS_AGENT_WAITING) { // given up; those who heard it hear its end
        const int rc = pons_agent_stop(s->a.agent, err);
        if (rc < 0) {
            deaf(l, rc, err);
            return rc;
        }
    }
    if (l) {
        l->next = s->listeners;
        s->listeners = l;
    }
    const int rc = pons_agent_say(s->a.agent, text, err);
    if (rc < 0 && l && s->listeners == l) {
        s->listeners = l->next;
        l->end(l, rc, err);
    }
    return rc;
}

static int answer(session *s, const char *question, const pons_value *answer, pons_error *err)
{
    pons_autovalue open = pons_agent_questions(s->a.agent);
    for (size_t i = 0; i < json_array_size(open); i++) {
        const pons_value *q = json_array_get(open, i);
        if (pons__chat_is(q, question)) {
            return pons_agent_answer(s->a.agent, pons_get_str(q, "id", ""), answer, err);
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE, "nobody asks %.100s", question);
}

// Whether words that were posted may have been said by a server before this one.
static bool was_said(const session *s, const order *o, pons_error *err)
{
    int64_t last = 0;
    const pons_store store = s->d->s->o.store;
    return o->again &&
           (pons_agent_state_get(s->a.agent) == PONS_AGENT_WORKING ||
            (store.ops->event_last(store.self, s->name, &last, err) >= 0 && last > o->after));
}

// One that cannot be answered so stays open, and whoever asked for it hears why.
static int turn(session *s, order *o, pons_error *err)
{
    if (o->text && !was_said(s, o, err)) {
        return say(s, o->text, o->listener, err);
    }
    const int rc = o->question ? answer(s, o->question, o->answer, err) : PONS_OK;
    if (rc == PONS_EINVAL) {
        o->listener->end(o->listener, rc, err);
        return rc;
    }
    *err = (pons_error)PONS_ERROR_INIT;
    return join(s, o->listener, err);
}

// Those who listen for a thread's run, told nothing more, not even that.
static void forget(pons__listener **list, const char *thread)
{
    while (*list) {
        pons__listener *l = *list, *next = l->next;
        if (l->leaves && l->leaves(l, thread)) {
            *list = next;
        } else {
            list = &l->next;
        }
    }
}

static void carry_out(session *s, order *o)
{
    if (o->what == LEAVE) {
        forget(&s->listeners, o->text);
        return;
    }
    o->rc = open_agent(s, o, &o->err);
    if (o->rc < 0) {
        deaf(o->listener, o->rc, &o->err);
    } else if (o->what == SAY) {
        o->rc = say(s, o->text, o->listener, &o->err);
    } else if (o->what == JOIN) {
        o->rc = join(s, o->listener, &o->err);
    } else if (o->what == ANSWER) {
        o->rc = answer(s, o->question, o->answer, &o->err);
    } else if (o->what == TURN) {
        o->rc = turn(s, o, &o->err);
    } else {
        o->rc = pons_agent_stop(s->a.agent, &o->err);
    }
}

static order *next_order(session *s)
{
    pthread_mutex_lock(&s->d->mtx);
    order *o = s->first;
    if (o) {
        s->first = o->next;
        s->last = s->first ? s->last : NULL;
    }
    pthread_mutex_unlock(&s->d->mtx);
    return o;
}

static void free_posted(order *o)
{
    free((char *)(uintptr_t)o->text);
    free((char *)(uintptr_t)o->question);
    pons_value_unref(o->answer);
    free(o);
}

static void heard(session *s, order *o)
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

static void work(session *s)
{
    pons_error err = PONS_ERROR_INIT;
    if (s->a.agent && !s->failed && pons_agent_poll(s->a.agent, &err) < 0) {
        char line[512];
        pons_log(PONS_LOG_WARN, PONS__SERVE, "session %s: %s", s->name,
                 pons_error_line(&err, line, sizeof line));
        end_listeners(s, err.status, &err);
        s->failed = true;
    }
}

static void beat(session *s, int64_t now)
{
    pons_error none = PONS_ERROR_INIT;
    if (now - s->beat_ms < BEAT_MS) {
        return;
    }
    s->beat_ms = now;
    for (pons__listener **at = &s->listeners; *at;) {
        pons__listener *l = *at;
        if (l->beat(l)) {
            at = &l->next;
        } else {
            *at = l->next;
            l->end(l, PONS_OK, &none);
        }
    }
}

static void wait_for_more(session *s)
{
    struct pollfd fds[FDS_MAX];
    uint64_t n = 0;
    const pons_clock *clock = &s->d->s->o.clock;
    const bool runs = s->a.agent && !s->failed;
    size_t count = runs ? pons_agent_fds(s->a.agent, fds, FDS_MAX - 1) : 0;
    fds[count++] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    int64_t ns = runs ? pons_agent_next_due_ns(s->a.agent) - pons_now_ns(clock) : PONS_NS_PER_S;
    ns = ns < 0 ? 0 : ns > PONS_NS_PER_S ? PONS_NS_PER_S : ns;
    const struct timespec ts = {.tv_sec = ns / PONS_NS_PER_S, .tv_nsec = ns % PONS_NS_PER_S};
    ppoll(fds, count, &ts, NULL);
    if (fds[count - 1].revents && read(s->wake, &n, sizeof n) < 0) {
        n = 0;
    }
}

static bool rests(const session *s)
{
    return !s->a.agent || s->failed ||
           (pons_agent_state_get(s->a.agent) != PONS_AGENT_WORKING && !s->listeners);
}

// Whether the session is over: nobody needs it, the server ends, or it is to be opened anew.
static bool is_over(session *s, int64_t now)
{
    pthread_mutex_lock(&s->d->mtx);
    const bool closing = s->d->closing, orders = s->first != NULL;
    const bool renew = s->renew || s->d->later; // somebody waits for its place
    pthread_mutex_unlock(&s->d->mtx);
    s->used_ms = rests(s) ? s->used_ms : now;
    return closing || (!orders && rests(s) && (renew || now - s->used_ms > LINGER_MS));
}

static session *find(pons__desk *d, const char *name, pons_error *err);
static void push(session *s, order *o);

// Under the lock: there is room for another session.
static void begin_later(pons__desk *d)
{
    pons_error none = PONS_ERROR_INIT;
    order *o = d->later;
    session *s = o && !d->closing ? find(d, o->session, &none) : NULL;
    if (s) {
        d->later = o->next;
        o->next = NULL;
        push(s, o);
    }
}

// The store is given back before anybody can open the session anew. An order that came at the last
// moment is refused when the server ends, and else brings the session back. False: it goes on.
static bool leave(session *s)
{
    pons__desk *d = s->d;
    pons_error err = PONS_ERROR_INIT;
    const pons_serve_host *h = &d->s->o.host;
    pons_error_set(&err, PONS_ECLOSED, PONS__SERVE, "the server ends");
    end_listeners(s, PONS_ECLOSED, &err);
    if (s->a.agent) {
        h->agent_close(h->user, &s->a);
        s->a = (pons_serve_agent){0};
    }
    pthread_mutex_lock(&d->mtx);
    s->renew = false;
    const bool stays = s->first && !d->closing;
    if (!stays) {
        session **at = &d->sessions;
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
        order *o = next_order(s);
        o->rc = PONS_ECLOSED;
        o->err = err;
        deaf(o->listener, o->rc, &o->err);
        heard(s, o);
    }
    return !stays;
}

static void *run(void *user)
{
    session *s = user;
    s->used_ms = s->beat_ms = pons_now_ms(&s->d->s->o.clock);
    for (;;) {
        order *o;
        while ((o = next_order(s))) {
            carry_out(s, o);
            s->used_ms = pons_now_ms(&s->d->s->o.clock);
            heard(s, o);
        }
        work(s);
        const int64_t now = pons_now_ms(&s->d->s->o.clock);
        beat(s, now);
        if (is_over(s, now) && leave(s)) {
            return NULL;
        }
        wait_for_more(s);
    }
}

// ---- the desk -----------------------------------------------------------------------------------

int pons__desk_open(pons_serve *s, pons__desk **ret, pons_error *err)
{
    if (!s->o.host.agent_open) {
        return PONS_OK;
    }
    pons__desk *d = calloc(1, sizeof *d);
    if (!d) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for sessions");
    }
    d->s = s;
    pthread_mutex_init(&d->mtx, NULL);
    pthread_cond_init(&d->news, NULL);
    *ret = d;
    return PONS_OK;
}

static void bury(session *dead)
{
    while (dead) {
        session *next = dead->next;
        pthread_join(dead->thread, NULL);
        close(dead->wake);
        free(dead);
        dead = next;
    }
}

static void ring(const session *s)
{
    const uint64_t one = 1;
    const ssize_t n = write(s->wake, &one, sizeof one);
    (void)n; // full: it is awake
}

static void refuse(order *o, int status, const char *why)
{
    pons_error err = PONS_ERROR_INIT;
    pons_error_set(&err, status, PONS__SERVE, "%s", why);
    if (o->listener) {
        o->listener->end(o->listener, status, &err);
    }
    free_posted(o);
}

void pons__desk_stop(pons__desk *d)
{
    if (!d) {
        return;
    }
    pthread_mutex_lock(&d->mtx);
    d->closing = true;
    for (const session *s = d->sessions; s; s = s->next) {
        ring(s);
    }
    while (d->sessions) {
        pthread_cond_wait(&d->news, &d->mtx);
    }
    session *dead = d->dead;
    order *later = d->later;
    d->dead = NULL;
    d->later = NULL;
    pthread_mutex_unlock(&d->mtx);
    bury(dead);
    while (later) {
        order *o = later;
        later = o->next;
        refuse(o, PONS_ECLOSED, "the server ends");
    }
}

void pons__desk_close(pons__desk *d)
{
    if (d) {
        pons__desk_stop(d);
        pthread_cond_destroy(&d->news);
        pthread_mutex_destroy(&d->mtx);
        free(d);
    }
}

void pons__desk_renew(pons__desk *d)
{
    pthread_mutex_lock(&d->mtx);
    for (session *s = d->sessions; s; s = s->next) {
        s->renew = true;
        ring(s);
    }
    pthread_mutex_unlock(&d->mtx);
}

// Under the lock: the session, which is there or begins. NULL: there is no room.
static session *find(pons__desk *d, const char *name, pons_error *err)
{
    for (session *s = d->sessions; s; s = s->next) {
        if (strcmp(s->name, name) == 0) {
            return s;
        }
    }
    session *s = d->n < SESSIONS_MAX ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        pons_error_set(err, PONS_EAGAIN, PONS__SERVE, "%d sessions are open already", SESSIONS_MAX);
        return NULL;
    }
    s->d = d;
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

static void push(session *s, order *o)
{
    if (s->last) {
        s->last->next = o;
    } else {
        s->first = o;
    }
    s->last = o;
    ring(s);
}

static int give(pons__desk *d, const char *name, order *o, pons_error *err)
{
    pthread_mutex_lock(&d->mtx);
    session *dead = d->dead;
    d->dead = NULL;
    session *s = NULL;
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
        deaf(o->listener, err->status, err);
        return err->status;
    }
    *err = o->err;
    return o->rc;
}

int pons__desk_say(pons__desk *d, const char *name, const char *text, bool acts, pons__listener *l,
                   pons_error *err)
{
    order o = {.what = SAY, .text = text, .acts = acts, .listener = l};
    return give(d, name, &o, err);
}

int pons__desk_join(pons__desk *d, const char *name, pons__listener *l, pons_error *err)
{
    order o = {.what = JOIN, .listener = l};
    return give(d, name, &o, err);
}

int pons__desk_halt(pons__desk *d, const char *name, pons_error *err)
{
    order o = {.what = HALT};
    return give(d, name, &o, err);
}

int pons__desk_answer(pons__desk *d, const char *name, const char *question,
                      const pons_value *answer, pons_error *err)
{
    char found[PONS_NAME_MAX];
    order o = {.what = ANSWER, .question = question, .answer = answer};
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
static order *take_later(pons__desk *d, const char *name)
{
    order *taken = NULL;
    for (order **at = &d->later; *at;) {
        order *o = *at;
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
static void post(pons__desk *d, order *o)
{
    pons_error err = PONS_ERROR_INIT;
    pthread_mutex_lock(&d->mtx);
    session *dead = d->dead;
    d->dead = NULL;
    order *given_up = o->what == HALT ? take_later(d, o->session) : NULL;
    session *s = d->closing ? NULL : find(d, o->session, &err);
    const bool later = !s && !d->closing && err.status == PONS_EAGAIN && o->what != HALT;
    if (s) {
        push(s, o);
    } else if (later) {
        order **at = &d->later;
        while (*at) {
            at = &(*at)->next;
        }
        *at = o;
        for (const session *one = d->sessions; one; one = one->next) {
            ring(one);
        }
    }
    pthread_mutex_unlock(&d->mtx);
    bury(dead);
    while (given_up) {
        order *gone = given_up;
        given_up = gone->next;
        refuse(gone, PONS_ECANCELED, "it was canceled");
    }
    if (!s && !later) {
        refuse(o, err.status < 0 ? err.status : PONS_ECLOSED,
               err.status < 0 ? err.message : "the server ends");
    }
}

static order *posted(const char *name, what kind)
{
    order *o = pons_need_zeroed(1, sizeof *o);
    o->what = kind;
    o->posted = true;
    snprintf(o->session, sizeof o->session, "%s", name);
    return o;
}

void pons__desk_turn(pons__desk *d, const char *name, const pons__turn *t, pons__listener *l)
{
    order *o = posted(name, TURN);
    o->text = pons_need_text(t->text);
    o->question = pons_need_text(t->question);
    o->answer = pons_value_ref(t->answer);
    o->again = t->again;
    o->after = t->after;
    o->acts = true;
    o->listener = l;
    post(d, o);
}

void pons__desk_turn_leave(pons__desk *d, const char *name, const char *thread)
{
    order o = {.what = LEAVE, .text = thread};
    pthread_mutex_lock(&d->mtx);
    order *waiting = take_later(d, name); // no session has heard it
    for (order *w = waiting; w; w = w->next) {
        forget(&w->listener, thread);
    }
    session *s = d->sessions;
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
        order *gone = waiting;
        waiting = gone->next;
        if (gone->listener) { // another run's, of the same session
            post(d, gone);
        } else {
            free_posted(gone);
        }
    }
}

void pons__desk_turn_halt(pons__desk *d, const char *name)
{
    post(d, posted(name, HALT));
}

int pons__desk_name(const pons__desk *d, const char *name, pons_error *err)
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
