#include "llm/fake_server.h"

#include "pons/buf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUESTS_MAX 64
#define AGAIN_BLOCK  (64 * 1024)
#define REQUEST_MAX  (256 * 1024)

struct fake_server {
    int fd, port;
    int wake[2]; // a byte ends the thread
    const fake_step *steps;
    size_t n_steps;
    pthread_t thread;
    pthread_mutex_t mtx;
    pthread_cond_t cond;
    size_t requests, hangups, sent;                // [mtx]
    char *head[REQUESTS_MAX], *body[REQUESTS_MAX]; // [mtx]
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

// Whether fd is readable before the server is stopped.
static bool readable(fake_server *s, int fd)
{
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = s->wake[0], .events = POLLIN}};
    while (poll(p, 2, -1) < 0 && errno == EINTR) {
    }
    return p[1].revents == 0;
}

// Reads one request into buf; false when the client is gone or the server stops.
static bool read_request(fake_server *s, int fd, char *buf, size_t *ret_head)
{
    size_t n = 0;
    for (;;) {
        buf[n] = '\0';
        char *end = strstr(buf, "\r\n\r\n");
        if (end) {
            const char *length = strcasestr(buf, "content-length:");
            size_t head = (size_t)(end - buf) + 4;
            size_t body = length && length < end ? strtoul(length + 15, NULL, 10) : 0;
            if (n >= head + body) {
                *ret_head = head;
                return true;
            }
        }
        if (n + 1 >= REQUEST_MAX || !readable(s, fd)) {
            return false;
        }
        ssize_t got = recv(fd, buf + n, REQUEST_MAX - 1 - n, 0);
        if (got <= 0) {
            return false;
        }
        n += (size_t)got;
    }
}

static void count(fake_server *s, size_t *counter)
{
    pthread_mutex_lock(&s->mtx);
    ++*counter;
    pthread_cond_broadcast(&s->cond);
    pthread_mutex_unlock(&s->mtx);
}

// False when the client is gone or the server stops.
static bool send_bytes(fake_server *s, int fd, const char *bytes, size_t n, size_t piece)
{
    for (size_t at = 0; at < n;) {
        // A client that neither reads nor closes must not keep the server from being stopped.
        struct pollfd p[2] = {{.fd = fd, .events = POLLOUT}, {.fd = s->wake[0], .events = POLLIN}};
        while (poll(p, 2, -1) < 0 && errno == EINTR) {
        }
        size_t m = n - at < piece ? n - at : piece;
        ssize_t sent = p[1].revents ? -1 : send(fd, bytes + at, m, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR) && !p[1].revents) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += (size_t)sent;
        pthread_mutex_lock(&s->mtx);
        s->sent += (size_t)sent;
        pthread_mutex_unlock(&s->mtx);
    }
    return true;
}

static bool send_again(fake_server *s, int fd, const fake_step *step)
{
    pons_buf b = PONS_BUF_INIT; // many at once, to be quick
    while (b.len < AGAIN_BLOCK && pons_buf_str(&b, step->again) == PONS_OK) {
    }
    bool good = !b.failed;
    for (size_t sent = 0; good && sent < step->again_max; sent += b.len) {
        good = send_bytes(s, fd, b.data, b.len, b.len);
    }
    pons_buf_fini(&b);
    return good;
}

static void send_step(fake_server *s, int fd, const fake_step *step)
{
    size_t n = step->bytes ? step->n ? step->n : strlen(step->bytes) : 0;
    if (!send_bytes(s, fd, step->bytes, n, step->piece ? step->piece : n) ||
        (step->again && !send_again(s, fd, step))) {
        count(s, &s->hangups);
        return;
    }
    if (step->hold && readable(s, fd)) { // only a close makes it readable
        count(s, &s->hangups);
    }
    if (step->reset) {
        const struct linger now = {.l_onoff = 1, .l_linger = 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
}

static void serve(fake_server *s, int fd, char *buf)
{
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    size_t head;
    if (!read_request(s, fd, buf, &head)) {
        count(s, &s->hangups);
        return;
    }
    pthread_mutex_lock(&s->mtx);
    size_t i = s->requests;
    if (i < REQUESTS_MAX) {
        s->head[i] = strndup(buf, head);
        s->body[i] = strdup(buf + head);
        s->requests++;
    }
    pthread_cond_broadcast(&s->cond);
    pthread_mutex_unlock(&s->mtx);
    send_step(s, fd, &s->steps[i < s->n_steps ? i : s->n_steps - 1]);
}

static void *run(void *arg)
{
    fake_server *s = arg;
    char *buf = malloc(REQUEST_MAX);
    while (buf && readable(s, s->fd)) {
        int fd = accept(s->fd, NULL, NULL);
        if (fd >= 0) {
            serve(s, fd, buf);
            close(fd);
        }
    }
    free(buf);
    return NULL;
}

fake_server *fake_server_start(const fake_step *steps, size_t n)
{
    fake_server *s = calloc(1, sizeof *s);
    if (!s) {
        die("calloc");
    }
    s->steps = steps;
    s->n_steps = n;
    pthread_mutex_init(&s->mtx, NULL);
    pthread_cond_init(&s->cond, NULL);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(s->fd, 16) != 0 ||
        getsockname(s->fd, (struct sockaddr *)&a, &len) != 0 || pipe(s->wake) != 0 ||
        pthread_create(&s->thread, NULL, run, s) != 0) {
        die("fake server");
    }
    s->port = ntohs(a.sin_port);
    return s;
}

void fake_server_stop(fake_server *s)
{
    if (write(s->wake[1], "x", 1) != 1) {
        die("write");
    }
    pthread_join(s->thread, NULL);
    for (size_t i = 0; i < s->requests; i++) {
        free(s->head[i]);
        free(s->body[i]);
    }
    close(s->fd);
    close(s->wake[0]);
    close(s->wake[1]);
    pthread_cond_destroy(&s->cond);
    pthread_mutex_destroy(&s->mtx);
    free(s);
}

int fake_server_port(const fake_server *s)
{
    return s->port;
}

size_t fake_server_requests(fake_server *s)
{
    pthread_mutex_lock(&s->mtx);
    size_t n = s->requests;
    pthread_mutex_unlock(&s->mtx);
    return n;
}

size_t fake_server_sent(fake_server *s)
{
    pthread_mutex_lock(&s->mtx);
    size_t n = s->sent;
    pthread_mutex_unlock(&s->mtx);
    return n;
}

static const char *kept(fake_server *s, char **list, size_t i)
{
    pthread_mutex_lock(&s->mtx);
    const char *text = i < s->requests ? list[i] : NULL;
    pthread_mutex_unlock(&s->mtx);
    return text;
}

const char *fake_server_body(fake_server *s, size_t i)
{
    return kept(s, s->body, i);
}

const char *fake_server_head(fake_server *s, size_t i)
{
    return kept(s, s->head, i);
}

static void wait_for(fake_server *s, const size_t *counter, size_t n)
{
    pthread_mutex_lock(&s->mtx);
    while (*counter < n) {
        pthread_cond_wait(&s->cond, &s->mtx);
    }
    pthread_mutex_unlock(&s->mtx);
}

void fake_server_wait_requests(fake_server *s, size_t n)
{
    wait_for(s, &s->requests, n);
}

void fake_server_wait_hangups(fake_server *s, size_t n)
{
    wait_for(s, &s->hangups, n);
}
