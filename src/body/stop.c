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
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "body/body_internal.h"
#include "link/link_internal.h"

#define WORD       "stop"
#define ANSWER     "stopped"
#define BATCH_MAX  16 // datagrams in one wake: a flood of stops must not starve the gate
#define PACKET_MAX 512

static int connect_to(const char *run_dir, pons_error *err);
static int await_answer(int fd, int timeout_ms, pons_error *err);

int pons__stop_open(const char *path, pons_error *err)
{
    unlink(path); // the lock of body.sock is held: what is here is stale
    return pons__unix_bind(path, SOCK_DGRAM, err);
}

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
    const int fd = connect_to(run_dir, err);
    if (fd < 0)
        return fd;
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

static int connect_to(const char *run_dir, pons_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/stop.sock", run_dir);
    pons__unix_address a;
    int rc = pons__unix_address_init(&a, path, err);
    if (rc < 0)
        return rc;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    // Binding to no name gives the socket a name of its own to be answered at (unix(7), autobind).
    const struct sockaddr_un self = {.sun_family = AF_UNIX};
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&self, sizeof(sa_family_t)) == 0 &&
        connect(fd, (struct sockaddr *)&a.sa, a.len) == 0) {
        pons__unix_address_fini(&a);
        return fd;
    }
    const int why = errno;
    pons__unix_address_fini(&a);
    if (fd >= 0)
        close(fd);
    rc = why == ENOENT ? PONS_ENOTFOUND : why == ECONNREFUSED ? PONS_ECLOSED : PONS_EIO;
    pons_error_set(err, rc, "body", "no body answers at the stop socket");
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", strerror(why));
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
