// connection_timeouts.c - breaks connections that take too long, and those that take another one's place.
//
// MHD knows one limit, for silence, which a client that sends a byte a second never meets. So every
// connection has a moment until which it must have got where it is going:
//
//     accepted ----------- head_ms ---> its first request's line
//     request's line ----- head_ms ---> its headers are whole
//     headers ------------ body_ms ---> its body is whole
//     handled, streaming - none
//     reply made --------- REPLY_MS --> taken by the client
//     reply taken -------- idle_ms ---> the next request's line
//
// There is always room for one more: when there are as many as there may be, a new one shuts the one
// that has been quiet the longest, of those that have no request in hand. So whoever holds connections
// without asking, and however many, keeps nobody out. (MHD itself would stop to accept, and let the
// newest wait for a deadline.)
//
// The janitor's thread looks at all of them and shuts a late one's socket; MHD notices at once and
// does the rest. A socket is shut under the server's lock, and MHD closes it only after it has told
// us (the same lock), so the number is never another's.
#include "http/microhttpd/connection_timeouts.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define LOOK_MS  250
#define SETTLE_S 1

int64_t pons__server_now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

// ---- under the server's lock --------------------------------------------------------------------

static void shut(pons__server *sv, pons__connection *c)
{
    if (!c->shut && c->fd >= 0) {
        shutdown(c->fd, SHUT_RDWR);
        sv->n_open--;
    }
    c->shut = true;
}

static void make_newest(pons__server *sv, pons__connection *c)
{
    c->prev = NULL;
    c->next = sv->newest;
    if (c->next) {
        c->next->prev = c;
    } else {
        sv->oldest = c;
    }
    sv->newest = c;
}

static void take_out(pons__server *sv, pons__connection *c)
{
    if (c->next) {
        c->next->prev = c->prev;
    } else {
        sv->oldest = c->prev;
    }
    if (c->prev) {
        c->prev->next = c->next;
    } else {
        sv->newest = c->next;
    }
}

// The newest is one of those that may go: it does when all others have a request in hand.
static void make_room(pons__server *sv)
{
    pons__connection *c = sv->oldest;
    while (c && (c->shut || c->until_ms == 0)) {
        c = c->prev;
    }
    if (c && sv->n_open > sv->o.connections_max) {
        shut(sv, c);
    }
}

void pons__connection_break(pons__server *sv, pons__connection *c, const char *text, size_t n)
{
    (void)!send(c->fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    shut(sv, c);
}

// ---- MHD's thread -------------------------------------------------------------------------------

bool pons__connection_thread(const pons__server *sv)
{
    return atomic_load(&sv->mhd_thread) == pthread_self();
}

void pons__connection_notify(void *server, struct MHD_Connection *connection, void **context,
                             enum MHD_ConnectionNotificationCode what)
{
    pons__server *sv = server;
    pons__connection *c = *context;
    atomic_store(&sv->mhd_thread, pthread_self());
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        c = calloc(1, sizeof *c);
        *context = c;
        if (!c) {
            if (info) {
                shutdown(info->connect_fd, SHUT_RDWR);
            }
            return;
        }
        c->fd = info ? info->connect_fd : -1;
        c->until_ms = pons__server_now_ms() + sv->o.head_ms;
        pthread_mutex_lock(&sv->mtx);
        sv->n_open++;
        make_newest(sv, c);
        make_room(sv);
        pthread_mutex_unlock(&sv->mtx);
        return;
    }
    if (!c) {
        return;
    }
    pthread_mutex_lock(&sv->mtx);
    sv->n_open -= !c->shut;
    take_out(sv, c);
    if (sv->closing) {
        pthread_cond_broadcast(&sv->bell);
    }
    pthread_mutex_unlock(&sv->mtx);
    free(c);
    *context = NULL;
}

void pons__connection_within(pons__server *sv, pons__connection *c, int64_t ms)
{
    if (!c) {
        return;
    }
    pthread_mutex_lock(&sv->mtx);
    c->until_ms = ms > 0 ? pons__server_now_ms() + ms : 0;
    take_out(sv, c);
    make_newest(sv, c);
    pthread_mutex_unlock(&sv->mtx);
}

void pons__connections_settle(pons__server *sv)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SETTLE_S;
    pthread_mutex_lock(&sv->mtx);
    for (const pons__connection *c = sv->newest; c;) {
        const bool waits = c->shut && pthread_cond_timedwait(&sv->bell, &sv->mtx, &until) == 0;
        c = waits ? sv->newest : c->shut ? NULL : c->next;
    }
    pthread_mutex_unlock(&sv->mtx);
}

void *pons__janitor(void *server)
{
    pons__server *sv = server;
    pthread_mutex_lock(&sv->mtx);
    while (!sv->closing) {
        struct timespec ts;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        ts.tv_nsec += LOOK_MS * 1000000L;
        ts.tv_sec += ts.tv_nsec / 1000000000L;
        ts.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&sv->bell, &sv->mtx, &ts);
        const int64_t now = pons__server_now_ms();
        for (pons__connection *c = sv->newest; c; c = c->next) {
            if (c->until_ms && now > c->until_ms) {
                shut(sv, c);
            }
        }
    }
    pthread_mutex_unlock(&sv->mtx);
    return NULL;
}
