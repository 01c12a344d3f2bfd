// stop_socket.c - the stop socket: RUN_DIR/stop.sock, a datagram socket that can do one thing.
//
//     "stop REASON"  -->  zero is written to the driver, the stop latches  -->  "stopped NS"
//                         the latch is on the disk                         -->  "latched NS"
//                         … cannot be written there                        -->  "unsaved NS WHY"
//
// NS is CLOCK_MONOTONIC at the return of that write, so a sender on the same host can measure from
// its own send to the write. `unsaved` comes at most once, and `latched` whenever it could be
// written after all. A stop that finds a latch which is on the disk already gets both answers at
// once.
//
// The safety thread owns the socket and serves it itself: by way of another thread the answer would
// take as long as that thread takes to wake. What is on the disk it hears from the latch thread
// through a mailbox. A sender that has no address gets no answer but is obeyed, and so is one too
// many for the list of those who are owed a `latched`. Anything that is not "stop…" is dropped.
#include "body/safety/stop_socket.h"

#include "pons/body.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define WORD       "stop"
#define STOPPED    "stopped"
#define LATCHED    "latched"
#define UNSAVED    "unsaved"
#define BATCH_MAX  16 // datagrams in one wake: a flood of stops must not starve the gate
#define PACKET_MAX 512

static void remember(pons__stop_senders *who, const struct sockaddr_un *to, socklen_t len,
                     int64_t ns, uint64_t gen)
{
    for (int i = 0; i < PONS__STOPS_MAX; i++) {
        struct pons__stop_sender *s = &who->all[i];
        if (s->len == 0) {
            *s = (struct pons__stop_sender){.to = *to, .len = len, .ns = ns, .gen = gen};
            return;
        }
    }
}

// snprintf of integers and words neither allocates nor locks.
static void answer(int fd, const struct sockaddr_un *to, socklen_t len, const char *word,
                   int64_t ns, const char *more)
{
    char text[PACKET_MAX];
    const int n =
        snprintf(text, sizeof text, "%s %lld%s%s", word, (long long)ns, *more ? " " : "", more);
    (void)sendto(fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)to,
                 len);
}

bool pons__stop_serve(int fd, pons__gate *g, pons__stop_senders *who)
{
    bool stopped = false;
    for (int i = 0; i < BATCH_MAX; i++) {
        char text[PACKET_MAX];
        struct sockaddr_un from;
        socklen_t from_len = sizeof from;
        const ssize_t n =
            recvfrom(fd, text, sizeof text - 1, MSG_DONTWAIT, (struct sockaddr *)&from, &from_len);
        if (n < 0) {
            break;
        }
        text[n] = '\0';
        if (strncmp(text, WORD, strlen(WORD)) != 0) {
            continue;
        }
        const char *reason = text + strlen(WORD);
        reason += strspn(reason, " \t\r\n");
        const int64_t written_ns = pons__gate_stop(g, reason);
        stopped = true;
        if (from_len > sizeof(sa_family_t)) {
            answer(fd, &from, from_len, STOPPED, written_ns, "");
            remember(who, &from, from_len, written_ns, g->safety.status.gen);
        }
    }
    return stopped;
}

void pons__stop_rehearse(const pons__gate *g)
{
    pons__gate *copy = malloc(sizeof *copy);
    if (!copy) {
        return; // the first stop is slower then
    }
    *copy = *g;
    copy->wake_saver = NULL;
    const struct sockaddr_un nobody = {.sun_family = AF_UNIX};
    const int64_t written_ns = pons__gate_stop(copy, "rehearsed");
    answer(-1, &nobody, sizeof(sa_family_t), STOPPED, written_ns, "");
    free(copy);
}

void pons__stop_answer(int fd, const pons__gate *g, pons__stop_senders *who)
{
    const pons__safety_status *st = &g->safety.status;
    for (int i = 0; i < PONS__STOPS_MAX; i++) {
        struct pons__stop_sender *s = &who->all[i];
        if (s->len == 0) {
            continue;
        }
        if (st->saved_gen >= s->gen) {
            answer(fd, &s->to, s->len, LATCHED, s->ns, "");
            s->len = 0;
        } else if (st->unsaved[0] && !s->reported) {
            answer(fd, &s->to, s->len, UNSAVED, s->ns, st->unsaved);
            s->reported = true;
        }
    }
}

// ---- who asks -----------------------------------------------------------------------------------

static int receive(int fd, int timeout_ms, char *text, size_t cap, pons_error *err)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;
    while ((ready = poll(&p, 1, timeout_ms)) < 0 && errno == EINTR) {
    }
    if (ready == 0) {
        return PONS_ETIMEOUT;
    }
    const ssize_t n = ready < 0 ? -1 : recv(fd, text, cap - 1, 0);
    if (n < 0) {
        pons_error_set(err, PONS_EIO, "body", "no acknowledgement of the stop");
        pons_error_cause(err, "%s", strerror(errno));
        return PONS_EIO;
    }
    text[n] = '\0';
    return PONS_OK;
}

static int await_stopped(int fd, int timeout_ms, pons_error *err)
{
    char text[PACKET_MAX];
    const int rc = receive(fd, timeout_ms, text, sizeof text, err);
    if (rc == PONS_ETIMEOUT) {
        return pons_error_set(err, rc, "body",
                              "the stop was sent, but not acknowledged within %d ms", timeout_ms);
    }
    if (rc == PONS_OK && strncmp(text, STOPPED, strlen(STOPPED)) != 0) {
        return pons_error_set(err, PONS_EPROTOCOL, "body", "a strange answer to a stop: %.60s",
                              text);
    }
    return rc;
}

static int await_latched(int fd, int timeout_ms, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    const int64_t until_ms = pons_now_ms(&clock) + timeout_ms;
    char text[PACKET_MAX], why[PACKET_MAX] = "the disk is slow";
    for (int64_t left; (left = until_ms - pons_now_ms(&clock)) >= 0;) {
        const int rc = receive(fd, (int)left, text, sizeof text, err);
        if (rc == PONS_ETIMEOUT) {
            break;
        }
        if (rc < 0) {
            return rc;
        }
        if (strncmp(text, LATCHED, strlen(LATCHED)) == 0) {
            return PONS_OK;
        }
        if (strncmp(text, UNSAVED, strlen(UNSAVED)) == 0) {
            const char *more = text + strlen(UNSAVED);
            more += strspn(more, " 0123456789");
            snprintf(why, sizeof why, "%s", more);
        }
    }
    pons_error_set(err, PONS_EIO, "body",
                   "the robot is stopped, but the latch is not saved after %d ms; the body goes on "
                   "trying, a restart before that may forget the stop",
                   timeout_ms);
    pons_error_cause(err, "%s", why);
    return PONS_EIO;
}

int pons_stop_send(const char *run_dir, const char *reason, int timeout_ms, pons_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/stop.sock", run_dir) >= (int)sizeof path) {
        return pons_error_set(err, PONS_EINVAL, "body", "the run directory's path is too long");
    }
    const int fd = pons_datagram_connect(path, err);
    if (fd < 0) {
        pons_error_context(err,
                           access(path, W_OK) < 0 && errno == EACCES
                               ? "you may not stop it: the stop socket is for its owner and group"
                               : "no body answers at the stop socket");
        return fd;
    }
    char text[PACKET_MAX];
    int n = snprintf(text, sizeof text, WORD " %s", reason ? reason : "");
    if (n >= (int)sizeof text) {
        n = (int)sizeof text - 1;
    }
    // A body that does not read, and a queue that is full: that is said, too.
    const struct timeval most = {.tv_sec = timeout_ms / 1000,
                                 .tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    int rc;
    if (send(fd, text, (size_t)n, MSG_NOSIGNAL) < 0) {
        const bool full = errno == EAGAIN || errno == EWOULDBLOCK;
        rc = full ? pons_error_set(err, PONS_ETIMEOUT, "body",
                                   "the body has not read the stops before this one for %d ms",
                                   timeout_ms)
                  : pons_error_set(err, PONS_EIO, "body", "cannot send the stop");
        pons_error_cause(err, "%s", strerror(errno));
    } else {
        rc = await_stopped(fd, timeout_ms, err);
        rc = rc < 0 ? rc : await_latched(fd, PONS_STOP_LATCH_MS, err);
    }
    close(fd);
    return rc;
}
