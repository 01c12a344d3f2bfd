// curl.c - the module http-curl: the one thread of a process that speaks HTTP, and its clients.
//
//     open, close                [shared.mtx]  the loop, made by the first client
//     start --> loop's calls     [loop's mtx]  new ones in front; only the thread takes them away
//     cancel, close --> call.cancelled (atomic), and a wake-up
//     next <-- client's queue                  <-- the thread (curl_options.c)
//     turn <-- the thread, of a client that wants to live on it; wake asks for one
//
// A call on the thread: begin --> on its way --> finished, out of time, or cancelled. One that is
// cancelled while its name is looked up stays, unheard, until the look-up is over (curl_options.c), so
// that nobody else's bytes wait for that. Only the loop's own end can wait for a look-up: whoever
// closes the last client waits CLOSE_WAIT_S, and then leaves thread and loop to end by themselves.
#include "http/curl/curl_options.h"
#include "pons/clock.h"
#include "pons/module.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOSE_WAIT_S  2
#define IDLE_MS       60000
#define UNREAD_RESUME (PONS_HTTP_UNREAD_MAX / 2)

typedef pons__http_loop loop;
typedef pons__http_client client;
typedef pons__transfer transfer;

struct pons__http_loop {
    CURLM *multi; // the thread's, but for curl_multi_wakeup
    pons_clock clock;
    pthread_t thread;
    pthread_mutex_t mtx;
    pthread_cond_t ended_cond;
    pthread_cond_t turn_cond;    // in_turn has changed
    transfer *calls;             // [mtx]
    client *turns;               // [mtx] the clients that have turns
    const client *in_turn;       // [mtx] whose it is, or NULL
    bool quit, ended, abandoned; // [mtx]
};

static struct {
    pthread_mutex_t mtx;
    loop *loop;    // [mtx] or NULL
    unsigned refs; // [mtx] its clients
} shared = {.mtx = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

// ---- the loop, from outside ---------------------------------------------------------------------

static void loop_free(loop *l)
{
    curl_multi_cleanup(l->multi);
    pthread_cond_destroy(&l->ended_cond);
    pthread_cond_destroy(&l->turn_cond);
    pthread_mutex_destroy(&l->mtx);
    free(l);
}

static void client_free(client *c)
{
    pons_event_queue_fini(&c->events);
    free(c);
}

// Takes the transfer out of curl's hands and the list.
static void drop(loop *l, transfer *t)
{
    client *c = t->client;
    if (t->added) {
        curl_multi_remove_handle(l->multi, t->easy);
    }
    pthread_mutex_lock(&l->mtx);
    transfer **at = &l->calls;
    while (*at != t) {
        at = &(*at)->next;
    }
    *at = t->next;
    const bool last = --c->refs == 0;
    pthread_mutex_unlock(&l->mtx);
    pons__transfer_free(t);
    if (last) {
        client_free(c);
    }
}

static void fail(loop *l, transfer *t, pons_http_fault fault, const char *why)
{
    pons__transfer_fail(t, fault, why);
    drop(l, t);
}

static void begin(loop *l, transfer *t)
{
    t->hop_ms = pons_now_ms(&l->clock);
    t->resolving = true;
    if (curl_multi_add_handle(l->multi, t->easy) != CURLM_OK) {
        fail(l, t, PONS_HTTP_BROKEN, "no room for a request");
        return;
    }
    t->added = true;
}

static void follow(loop *l, transfer *t)
{
    curl_multi_remove_handle(l->multi, t->easy);
    if (t->redirects >= t->redirects_max) {
        char why[64];
        t->added = false;
        snprintf(why, sizeof why, "Maximum (%u) redirects followed", t->redirects_max);
        fail(l, t, PONS_HTTP_REDIRECTS, why);
    } else if (pons__transfer_redirect(t)) {
        begin(l, t);
    } else {
        t->added = false;
        fail(l, t, PONS_HTTP_BROKEN, "no room for a request");
    }
}

static void finished(loop *l, transfer *t, CURLcode code)
{
    const char *to = NULL;
    const char *why = t->detail[0] ? t->detail : curl_easy_strerror(code);
    if (t->cancelled) {
        drop(l, t);
        return;
    }
    if (t->is_redirect && code == CURLE_OK &&
        curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &to) == CURLE_OK && to) {
        follow(l, t);
        return;
    }
    pons__transfer_flush(t);
    if (!t->has_fault || t->fault != PONS_HTTP_LONG_HEAD) {
        pons__transfer_head(t);
    }
    if (code == CURLE_OK) {
        pons__transfer_emit(t, (pons_http_event){.kind = PONS_HTTP_END}, true);
        drop(l, t);
    } else if (t->has_fault) {
        fail(l, t, t->fault, t->fault == PONS_HTTP_ADDRESS ? t->address : why);
    } else {
        fail(l, t, pons__transfer_fault(code), why);
    }
}

// Hands on what has come, after the ends of other calls that came in the same turn.
static void flush(loop *l)
{
    pthread_mutex_lock(&l->mtx);
    transfer *t = l->calls;
    pthread_mutex_unlock(&l->mtx);
    for (; t; t = t->next) {
        pons__transfer_flush(t);
    }
}

static int64_t sooner(int64_t due, int64_t from_ms, int64_t limit_ms, pons_http_fault fault,
                      pons_http_fault *ret)
{
    if (limit_ms == 0 || from_ms + limit_ms >= due) {
        return due;
    }
    *ret = fault;
    return from_ms + limit_ms;
}

static int64_t deadline(const transfer *t, pons_http_fault *ret)
{
    int64_t due = sooner(INT64_MAX, t->begun_ms, t->whole_ms, PONS_HTTP_SLOW_WHOLE, ret);
    if (!t->connected) {
        due = sooner(due, t->hop_ms, t->connect_ms, PONS_HTTP_SLOW_CONNECT, ret);
    }
    if (!t->got_byte) {
        due = sooner(due, t->begun_ms, t->start_ms, PONS_HTTP_SLOW_START, ret);
    } else if (!t->paused) { // else it is the reader who is slow
        due = sooner(due, t->last_ms, t->next_ms, PONS_HTTP_SLOW_NEXT, ret);
    }
    return due;
}

static void out_of_time(transfer *t, pons_http_fault fault)
{
    static const char *const words[] = {[PONS_HTTP_SLOW_CONNECT] = "no connection within",
                                        [PONS_HTTP_SLOW_START] = "no answer began within",
                                        [PONS_HTTP_SLOW_NEXT] = "nothing more came for",
                                        [PONS_HTTP_SLOW_WHOLE] = "not whole within"};
    const int64_t ms = fault == PONS_HTTP_SLOW_CONNECT ? t->connect_ms
                       : fault == PONS_HTTP_SLOW_START ? t->start_ms
                       : fault == PONS_HTTP_SLOW_NEXT  ? t->next_ms
                                                       : t->whole_ms;
    char why[64];
    snprintf(why, sizeof why, "%s %g s", words[fault], (double)ms / 1000);
    pons__transfer_head(t);
    pons__transfer_fail(t, fault, why);
    t->cancelled = true; // nothing more is said; advance takes it away when that does not wait
}

static bool may_resume(const transfer *t)
{
    return t->paused && t->client->unread < UNREAD_RESUME;
}

static void advance_call(loop *l, transfer *t)
{
    pons_http_fault fault = PONS_HTTP_BROKEN;
    if (!t->cancelled && !t->added) {
        begin(l, t);
        return;
    }
    if (!t->cancelled && deadline(t, &fault) <= pons_now_ms(&l->clock)) {
        out_of_time(t, fault);
    }
    if (t->cancelled) {
        if (!t->added || !t->resolving) {
            drop(l, t);
        } else { // curl's own end of the attempt would wait for the look-up, too
            curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)INT32_MAX);
        }
    } else if (may_resume(t)) {
        t->paused = false;
        t->client->paused = false;
        t->last_ms = pons_now_ms(&l->clock);
        curl_easy_pause(t->easy, CURLPAUSE_CONT);
    } else if (t->paused) {
        t->client->paused = true; // another one that went on may have cleared it
    }
}

// Looks at every call; whether the thread is to end.
static bool advance(loop *l)
{
    pthread_mutex_lock(&l->mtx);
    transfer *t = l->calls;
    const bool quit = l->quit;
    pthread_mutex_unlock(&l->mtx);
    for (transfer *next; t && !quit; t = next) {
        next = t->next; // t may be freed, and no other is
        advance_call(l, t);
    }
    return quit;
}

// Gives their turns to those who want one.
static void give_turns(loop *l)
{
    pthread_mutex_lock(&l->mtx);
    for (client *c = l->turns; c; c = c->next_turn) {
        if (!atomic_exchange(&c->wants_turn, false) && c->turn_ms > pons_now_ms(&l->clock)) {
            continue;
        }
        l->in_turn = c; // it is in the list for as long as this is so
        pthread_mutex_unlock(&l->mtx);
        const int ms = c->turn(c->turn_user);
        c->turn_ms = ms < 0 ? INT64_MAX : pons_now_ms(&l->clock) + ms;
        pthread_mutex_lock(&l->mtx);
        l->in_turn = NULL;
        pthread_cond_broadcast(&l->turn_cond);
    }
    pthread_mutex_unlock(&l->mtx);
}

static int patience_ms(loop *l)
{
    pons_http_fault ignored;
    const int64_t now = pons_now_ms(&l->clock);
    int64_t due = now + IDLE_MS;
    pthread_mutex_lock(&l->mtx);
    const transfer *t = l->calls;
    for (const client *c = l->turns; c; c = c->next_turn) {
        const int64_t at = c->wants_turn ? now : c->turn_ms;
        due = at < due ? at : due;
    }
    pthread_mutex_unlock(&l->mtx);
    for (; t; t = t->next) {
        const int64_t at = may_resume(t) ? now : t->cancelled ? due : deadline(t, &ignored);
        due = at < due ? at : due;
    }
    return due > now ? (int)(due - now) : 0;
}

static void *run(void *arg)
{
    loop *l = arg;
    while (!advance(l)) {
        int running, left;
        CURLMsg *m;
        curl_multi_perform(l->multi, &running);
        while ((m = curl_multi_info_read(l->multi, &left))) {
            transfer *t;
            const CURLcode code = m->data.result;
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
            finished(l, t, code); // *m is gone with its handle
        }
        flush(l);
        give_turns(l);
        curl_multi_poll(l->multi, NULL, 0, patience_ms(l), NULL);
    }
    while (l->calls) { // nobody adds any more
        drop(l, l->calls);
    }
    pthread_mutex_lock(&l->mtx);
    l->ended = true;
    const bool abandoned = l->abandoned;
    pthread_cond_signal(&l->ended_cond);
    pthread_mutex_unlock(&l->mtx);
    if (abandoned) {
        loop_free(l);
    }
    return NULL;
}

static int start_thread(loop *l)
{
    // Signals are the host's; the thread takes none.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&l->thread, NULL, run, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static loop *loop_create(pons_error *err)
{
    loop *l = calloc(1, sizeof *l);
    if (!l) {
        pons_error_set(err, PONS_ENOMEM, PONS__HTTP, "no room for a thread");
        return NULL;
    }
    l->clock = pons_clock_real();
    pthread_mutex_init(&l->mtx, NULL);
    pthread_cond_init(&l->turn_cond, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&l->ended_cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    l->multi = curl_multi_init();
    const int rc = l->multi ? start_thread(l) : ENOMEM;
    if (rc != 0) {
        loop_free(l);
        pons_error_set(err, PONS_EENV, PONS__HTTP, "cannot start a thread: %s", strerror(rc));
        return NULL;
    }
    return l;
}

// Ends the thread of a loop that has no client any more.
static void loop_end(loop *l)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CLOSE_WAIT_S;
    pthread_mutex_lock(&l->mtx);
    l->quit = true;
    curl_multi_wakeup(l->multi);
    int rc = 0;
    while (!l->ended && rc == 0) {
        rc = pthread_cond_timedwait(&l->ended_cond, &l->mtx, &until);
    }
    const bool ended = l->ended;
    l->abandoned = !ended; // a name is being looked up: the thread frees all when that is over
    const pthread_t thread = l->thread;
    pthread_mutex_unlock(&l->mtx);
    if (ended) {
        pthread_join(thread, NULL);
        loop_free(l);
    } else {
        pthread_detach(thread);
    }
}

static loop *loop_take(pons_error *err)
{
    pthread_mutex_lock(&shared.mtx);
    if (!shared.loop) {
        shared.loop = loop_create(err);
    }
    loop *l = shared.loop;
    shared.refs += l != NULL;
    pthread_mutex_unlock(&shared.mtx);
    return l;
}

static void loop_give(void)
{
    pthread_mutex_lock(&shared.mtx);
    loop *last = --shared.refs == 0 ? shared.loop : NULL;
    shared.loop = last ? NULL : shared.loop;
    pthread_mutex_unlock(&shared.mtx);
    if (last) {
        loop_end(last);
    }
}

// ---- clients ------------------------------------------------------------------------------------

// What the queue clears, and what next takes, lies unread no more.
static void forget_bytes(const pons__http_queued *q)
{
    if (q->event.kind == PONS_HTTP_DATA) {
        q->of->unread -= q->event.n;
    }
}

static void clear_queued(void *event)
{
    pons__http_queued *q = event;
    forget_bytes(q);
    pons_http_event_clear(&q->event);
}

static int http_open(int (*turn)(void *user), void *user, void **ret, pons_error *err)
{
    pthread_once(&curl_once, init_curl);
    client *c = calloc(1, sizeof *c);
    if (!c) {
        return pons_error_set(err, PONS_ENOMEM, PONS__HTTP, "no room for a client");
    }
    *c = (client){.refs = 1, .turn = turn, .turn_user = user, .turn_ms = INT64_MAX};
    int rc = pons_event_queue_init(&c->events, sizeof(pons__http_queued), clear_queued, err);
    if (rc == PONS_OK && !(c->loop = loop_take(err))) {
        rc = PONS_EENV;
    }
    if (rc != PONS_OK) {
        client_free(c);
        return rc;
    }
    if (turn) {
        pthread_mutex_lock(&c->loop->mtx);
        c->next_turn = c->loop->turns;
        c->loop->turns = c;
        pthread_mutex_unlock(&c->loop->mtx);
    }
    *ret = c;
    return PONS_OK;
}

// [loop's mtx] Waits for the client's turn to end; it gets no other.
static void end_turns(loop *l, client *c)
{
    while (l->in_turn == c) {
        pthread_cond_wait(&l->turn_cond, &l->mtx);
    }
    client **at = &l->turns;
    while (*at && *at != c) {
        at = &(*at)->next_turn;
    }
    if (*at) {
        *at = c->next_turn;
    }
}

static void http_close(void *self)
{
    client *c = self;
    if (!c) {
        return;
    }
    loop *l = c->loop;
    pons_event_queue_end_all(&c->events);
    pthread_mutex_lock(&l->mtx);
    end_turns(l, c);
    for (transfer *t = l->calls; t; t = t->next) {
        if (t->client == c) {
            t->cancelled = true;
        }
    }
    const bool last = --c->refs == 0; // else the thread frees it with its last transfer
    curl_multi_wakeup(l->multi);
    pthread_mutex_unlock(&l->mtx);
    if (last) {
        client_free(c);
    }
    loop_give();
}

static int http_start(void *self, uint64_t call, const pons_http_request *r, pons_error *err)
{
    client *c = self;
    transfer *t = NULL;
    int rc = pons__transfer_make(r, &t, err);
    if (rc == PONS_OK && (rc = pons_event_queue_begin(&c->events, call)) != PONS_OK) {
        pons_error_set(err, rc, PONS__HTTP,
                       rc == PONS_EEXIST ? "a call of this number is running"
                                         : "no room for a call");
    }
    if (rc != PONS_OK) {
        pons__transfer_free(t);
        return rc;
    }
    t->client = c;
    t->id = call;
    t->begun_ms = pons_now_ms(&c->loop->clock);
    pthread_mutex_lock(&c->loop->mtx);
    c->refs++;
    t->next = c->loop->calls;
    c->loop->calls = t;
    pthread_mutex_unlock(&c->loop->mtx);
    curl_multi_wakeup(c->loop->multi);
    return PONS_OK;
}

static void http_cancel(void *self, uint64_t call)
{
    client *c = self;
    pons_event_queue_end(&c->events, call);
    pthread_mutex_lock(&c->loop->mtx);
    for (transfer *t = c->loop->calls; t; t = t->next) {
        if (t->client == c && t->id == call) {
            t->cancelled = true;
        }
    }
    pthread_mutex_unlock(&c->loop->mtx);
    curl_multi_wakeup(c->loop->multi);
}

static int http_event_fd(void *self)
{
    return ((client *)self)->events.fd;
}

static bool http_next(void *self, pons_http_event *ret)
{
    client *c = self;
    pons__http_queued q;
    if (!pons_event_queue_next(&c->events, &q)) {
        return false;
    }
    forget_bytes(&q);
    if (c->paused && c->unread < UNREAD_RESUME) {
        curl_multi_wakeup(c->loop->multi);
    }
    *ret = q.event;
    return true;
}

static void http_wake(void *self)
{
    client *c = self;
    c->wants_turn = true;
    curl_multi_wakeup(c->loop->multi);
}

static int64_t http_date(const char *text)
{
    return (int64_t)curl_getdate(text, NULL);
}

static const pons_http_ops ops = {.abi = PONS_HTTP_ABI,
                                  .open = http_open,
                                  .close = http_close,
                                  .wake = http_wake,
                                  .start = http_start,
                                  .cancel = http_cancel,
                                  .event_fd = http_event_fd,
                                  .next = http_next,
                                  .url = pons__http_url,
                                  .date = http_date};
PONS_MODULE_EXPORT("http", "curl", &ops);
