// stop.c - the stop socket: RUN_DIR/stop.sock, a datagram socket that can do one thing.
//
//     "stop REASON"  ──▶  zero is written to the driver, the stop latches  ──▶  "stopped NS"
//
// NS is CLOCK_MONOTONIC at the return of that write, so a sender on the same host can measure from
// its own send to the write. The safety thread owns the socket and serves it itself: by way of
// another thread the answer would take as long as that thread takes to wake. A sender that has no
// address gets no answer but is obeyed. Anything that is not "stop…" is dropped.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "body/body_internal.h"

#define WORD       "stop"
#define ANSWER     "stopped"
#define BATCH_MAX  16 // datagrams in one wake: a flood of stops must not starve the gate
#define PACKET_MAX 512

static int await_answer(int fd, int timeout_ms, pons_error *err);

bool pons__stop_serve(int fd, pons__guard *g)
{
    bool stopped = false;
    for (int i = 0; i < BATCH_MAX; i++) {
        char text[PACKET_MAX];
        struct sockaddr_un from;
        socklen_t from_len = sizeof from;
        const ssize_t n =
            recvfrom(fd, text, sizeof text - 1, MSG_DONTWAIT, (struct sockaddr *)&from, &from_len);
        if (n < 0)
            break;
        text[n] = '\0';
        if (strncmp(text, WORD, strlen(WORD)) != 0)
            continue;
        const char *reason = text + strlen(WORD);
        reason += strspn(reason, " \t\r\n");
        const int64_t written_ns = pons__guard_stop(g, reason);
        stopped = true;
        // snprintf of an integer neither allocates nor locks.
        const int len = snprintf(text, sizeof text, ANSWER " %lld", (long long)written_ns);
        if (from_len > sizeof(sa_family_t))
            (void)sendto(fd, text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL,
                         (struct sockaddr *)&from, from_len);
    }
    return stopped;
}

int pons_stop_send(const char *run_dir, const char *reason, int timeout_ms, pons_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/stop.sock", run_dir) >= (int)sizeof path)
        return pons_error_set(err, PONS_EINVAL, "body", "the run directory's path is too long");
    const int fd = pons_datagram_connect(path, err);
    if (fd < 0) {
        pons_error_context(err, "no body answers at the stop socket");
        return fd;
    }
    char text[PACKET_MAX];
    int n = snprintf(text, sizeof text, WORD " %s", reason ? reason : "");
    if (n >= (int)sizeof text)
        n = (int)sizeof text - 1;
    int rc;
    if (send(fd, text, (size_t)n, MSG_NOSIGNAL) < 0) {
        rc = pons_error_set(err, PONS_EIO, "body", "cannot send the stop");
        pons_error_cause(err, "%s", strerror(errno));
    } else {
        rc = await_answer(fd, timeout_ms, err);
    }
    close(fd);
    return rc;
}

static int await_answer(int fd, int timeout_ms, pons_error *err)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;
    while ((ready = poll(&p, 1, timeout_ms)) < 0 && errno == EINTR) {
    }
    if (ready == 0)
        return pons_error_set(err, PONS_ETIMEOUT, "body",
                              "the stop was sent, but not acknowledged within %d ms", timeout_ms);
    char text[PACKET_MAX];
    const ssize_t n = ready < 0 ? -1 : recv(fd, text, sizeof text - 1, 0);
    if (n < 0) {
        pons_error_set(err, PONS_EIO, "body", "no acknowledgement of the stop");
        pons_error_cause(err, "%s", strerror(errno));
        return PONS_EIO;
    }
    text[n] = '\0';
    if (strncmp(text, ANSWER, strlen(ANSWER)) != 0)
        return pons_error_set(err, PONS_EPROTOCOL, "body", "a strange answer to a stop: %.60s",
                              text);
    return PONS_OK;
}
