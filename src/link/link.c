// link.c - one end of the body link.
//
// A message is one JSON object with a string member "type"; on a socket it is one line. There are
// two kinds of end behind the same functions:
//
//   socket   bytes in:  read() → [in: partial line…] → '\n' found → parse → check → value
//            bytes out: value → line → [out: what the socket did not take] → send()
//   pair     two ends share a `pipe_pair` with a queue of values each way; a value sent at one end
//            comes out at the other's next recv. No bytes, no threads, no time: what makes a
//            simulated run repeatable.
//
// A line is bad when it is not JSON, not an object, has no "type", or is longer than
// PONS_LINK_LINE_MAX. A bad line is consumed and reported with its reason, and the link goes on;
// only a line that is too long ends it, since where the next one starts is then a guess. Input
// never makes more memory than one longest line, output never more than OUT_MAX.
//
// A bad line may still be a stop, and then that is all that counts: its bytes are looked through for
// a "type" that is "stop" (stop_scan.h), those of a line that is too long as they come, without
// keeping them, up to its end or DRAIN_MAX.
//
// Two threads may send on a socket's end: a brain's loop, and its heart, which must not wait for the
// loop. A line is made outside the lock and appended whole under it, and what is appended goes out
// in order by whoever flushes: lines never mix. Nothing under the lock blocks (MSG_DONTWAIT), so
// neither thread waits for the other longer than one such call takes.
#include "pons/link.h"

#include "link/stop_scan.h"
#include "link/unix_socket.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUT_MAX        (4u * 1024u * 1024u) // bytes that a slow reader may owe us
#define SERVED_OUT_MAX (512u * 1024u)       // the same of one of many, who came to a listener
#define SERVED_VALUES_MAX                                                                          \
    16384 // in a message of his: each takes a hundred times the room of its text
#define BYTES_STEP (64u * 1024u) // more is made by steps, not by doubling
#define READ_CHUNK (16u * 1024u) // bytes for each read()
#define DRAIN_MAX                                                                                  \
    (16u * 1024u * 1024u) // bytes of a line that is too long, looked through for a stop
#define DRAIN_RECV 8      // pieces of them, in one recv

typedef struct bytes {
    char *data;
    size_t len, cap;
    size_t start; // of what is not consumed yet
} bytes;

typedef struct queue { // of values, first in first out
    pons_value **items;
    size_t head, len, cap; // a ring
} queue;

typedef struct pipe_pair { // shared by the two ends in process
    queue to[2];           // messages for end 0, for end 1
    bool closed[2];
} pipe_pair;

struct pons_link {
    // socket
    int fd; // const; -1 in process
    pthread_mutex_t out_mtx;
    bytes out; // [out_mtx]
    bytes in;
    size_t scanned; // bytes of `in` after start that hold no newline
    bool eof;       // nothing more will be read
    bool served;    // const: it came to a listener
    bool drains;    // a line was too long: it is looked through, then the link ends
    size_t drained; // bytes of it that came after that
    pons__stop_scan scan;
    bool asks_stop; // the newest bad line does
    // in process
    pipe_pair *pair;
    int side;
};

// ---- small --------------------------------------------------------------------------------------

static int check_message(const pons_value *v, pons_error *err)
{
    if (!json_is_object(v)) {
        return pons_error_set(err, PONS_EPROTOCOL, "link", "a message must be an object");
    }
    if (!json_is_string(json_object_get(v, "type"))) {
        return pons_error_set(err, PONS_EPROTOCOL, "link", "a message needs a string \"type\"");
    }
    return PONS_OK;
}

static int closed(pons_error *err)
{
    return pons_error_set(err, PONS_ECLOSED, "link", "the other end is gone");
}

// Room for `more` bytes after len; consumed bytes at the front are dropped first.
static bool bytes_reserve(bytes *b, size_t more)
{
    if (b->start > 0) {
        memmove(b->data, b->data + b->start, b->len - b->start);
        b->len -= b->start;
        b->start = 0;
    }
    if (b->len + more <= b->cap) {
        return true;
    }
    size_t cap = b->cap ? b->cap : 4096;
    while (cap < b->len + more) {
        cap = cap < BYTES_STEP ? 2 * cap : cap + BYTES_STEP;
    }
    char *p = realloc(b->data, cap);
    if (!p) {
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

static bool queue_push(queue *q, pons_value *v)
{
    if (q->len == q->cap) {
        const size_t cap = q->cap ? q->cap * 2 : 16;
        pons_value **p = malloc(cap * sizeof(pons_value *));
        if (!p) {
            return false;
        }
        for (size_t i = 0; i < q->len; i++) {
            p[i] = q->items[(q->head + i) % q->cap];
        }
        free(q->items);
        q->items = p;
        q->head = 0;
        q->cap = cap;
    }
    q->items[(q->head + q->len++) % q->cap] = v;
    return true;
}

static pons_value *queue_pop(queue *q)
{
    if (q->len == 0) {
        return NULL;
    }
    pons_value *v = q->items[q->head];
    q->head = (q->head + 1) % q->cap;
    q->len--;
    return v;
}

static void queue_fini(queue *q)
{
    for (pons_value *v; (v = queue_pop(q));) {
        pons_value_unref(v);
    }
    free(q->items);
    *q = (queue){0};
}

// ---- in process ---------------------------------------------------------------------------------

static int send_value(pons_link *l, pons_value *msg, pons_error *err)
{
    pipe_pair *p = l->pair;
    if (p->closed[1 - l->side]) {
        pons_value_unref(msg);
        return closed(err);
    }
    queue *to = l->side ? &p->to[0] : &p->to[1];
    if (!queue_push(to, msg)) {
        pons_value_unref(msg);
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a message");
    }
    return PONS_OK;
}

static int recv_value(pons_link *l, pons_value **ret, pons_error *err)
{
    pons_value *v = queue_pop(&l->pair->to[l->side]);
    if (!v) {
        return l->pair->closed[1 - l->side] ? closed(err) : 0;
    }
    const int rc = check_message(v, err);
    if (rc < 0) {
        pons_value_unref(v);
        return rc;
    }
    *ret = v;
    return 1;
}

// ---- socket -------------------------------------------------------------------------------------

static int flush_out(pons_link *l, pons_error *err)
{
    while (l->fd >= 0 && l->out.start < l->out.len) {
        const ssize_t n = send(l->fd, l->out.data + l->out.start, l->out.len - l->out.start,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            l->out.start += (size_t)n;
            continue;
        }
        if (errno == EINTR) {
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return PONS_OK;
        }
        // Nobody will read the rest.
        l->out.start = l->out.len = 0;
        return closed(err);
    }
    l->out.start = l->out.len = 0;
    return PONS_OK;
}

static int append_line(pons_link *l, const char *line, size_t n, pons_error *err)
{
    const size_t pending = l->out.len - l->out.start;
    if (n + 1 > PONS_LINK_LINE_MAX) {
        return pons_error_set(err, PONS_EPROTOCOL, "link", "a message of %zu bytes is too long", n);
    }
    if (pending + n + 1 > (l->served ? SERVED_OUT_MAX : OUT_MAX)) {
        return pons_error_set(err, PONS_EBUSY, "link",
                              "the other end does not read: %zu bytes wait", pending);
    }
    if (!bytes_reserve(&l->out, n + 1)) {
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a message");
    }
    memcpy(l->out.data + l->out.len, line, n);
    l->out.data[l->out.len + n] = '\n';
    l->out.len += n + 1;
    return PONS_OK;
}

static int send_line(pons_link *l, const pons_value *msg, pons_error *err)
{
    char *line = NULL;
    const long n = pons_value_line(msg, &line);
    if (n < 0) {
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a message");
    }
    pthread_mutex_lock(&l->out_mtx);
    int rc = append_line(l, line, (size_t)n, err);
    if (rc == PONS_OK) {
        rc = flush_out(l, err);
    }
    pthread_mutex_unlock(&l->out_mtx);
    free(line);
    return rc;
}

// So that many who send what is all brackets leave a process its memory.
static int check_size(const char *line, size_t n, pons_error *err)
{
    size_t values = 0;
    for (size_t i = 0; i < n; i++) { // also those within a string: a count that is too high by them
        values += line[i] == ',' || line[i] == '[' || line[i] == '{';
    }
    return values <= SERVED_VALUES_MAX
               ? PONS_OK
               : pons_error_set(err, PONS_EPROTOCOL, "link",
                                "a message of more than %d values; at most %d are read",
                                SERVED_VALUES_MAX, SERVED_VALUES_MAX);
}

// What came of it is looked through at once, the rest as it comes.
static int too_long(pons_link *l, pons_error *err)
{
    bytes *in = &l->in;
    const char *from = in->data + in->start;
    const size_t have = in->len - in->start;
    const char *newline = memchr(from, '\n', have);
    l->scan = (pons__stop_scan){0};
    l->asks_stop = pons__stop_seen(&l->scan, from, newline ? (size_t)(newline - from) : have);
    l->drains = true;
    l->eof = l->eof || newline;
    l->scanned = in->start = in->len = 0;
    return pons_error_set(err, PONS_EPROTOCOL, "link",
                          "a line is longer than %d bytes; the link is closed", PONS_LINK_LINE_MAX);
}

// 1 and the next whole line as a message, 0 when there is no whole line; PONS_EPROTOCOL, PONS_ENOMEM.
static int take_line(pons_link *l, pons_value **ret, pons_error *err)
{
    bytes *in = &l->in;
    const char *from = in->data ? in->data + in->start : NULL;
    const size_t have = in->len - in->start;
    const char *newline =
        have > l->scanned ? memchr(from + l->scanned, '\n', have - l->scanned) : NULL;
    const size_t n = newline ? (size_t)(newline - from) : have;
    if (n + 1 > PONS_LINK_LINE_MAX) {
        return too_long(l, err);
    }
    if (!newline) {
        l->scanned = have;
        return 0;
    }
    in->start += n + 1;
    l->scanned = 0;
    pons_value *v = NULL;
    int rc = l->served ? check_size(from, n, err) : PONS_OK;
    rc = rc < 0 ? rc : pons_value_parse(from, n, &v, err);
    if (rc == PONS_EINVAL) {
        rc = PONS_EPROTOCOL;
        if (err) {
            err->status = rc;
        }
    }
    rc = rc < 0 ? rc : check_message(v, err);
    if (rc < 0) {
        l->asks_stop = pons__stop_in(from, n);
        pons_value_unref(v);
        return rc;
    }
    *ret = v;
    return 1;
}

// Reads what is there: 1 when bytes came or the end was seen, 0 when there is nothing.
static int fill(pons_link *l, pons_error *err)
{
    if (!bytes_reserve(&l->in, READ_CHUNK)) {
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a line");
    }
    const ssize_t n = recv(l->fd, l->in.data + l->in.len, READ_CHUNK, MSG_DONTWAIT);
    if (n > 0) {
        l->in.len += (size_t)n;
        return 1;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return 0;
    }
    if (n < 0 && errno == EINTR) {
        return 1;
    }
    l->eof = true; // an orderly end, or a peer that died
    return 1;
}

// PONS_EPROTOCOL once more when the rest of it asks for a stop; PONS_ECLOSED at its end.
static int drain(pons_link *l, pons_error *err)
{
    for (int i = 0; i < DRAIN_RECV && !l->eof; i++) {
        const int rc = fill(l, err);
        if (rc <= 0) {
            return rc;
        }
        const char *newline = l->in.len ? memchr(l->in.data, '\n', l->in.len) : NULL;
        const size_t n = newline ? (size_t)(newline - l->in.data) : l->in.len;
        const bool before = l->scan.seen;
        l->asks_stop = n > 0 && pons__stop_seen(&l->scan, l->in.data, n) && !before;
        l->drained += n;
        l->in.start = l->in.len = 0;
        l->eof = l->eof || newline || l->drained > DRAIN_MAX;
        if (l->asks_stop) {
            return pons_error_set(err, PONS_EPROTOCOL, "link",
                                  "a line that is too long asks for a stop");
        }
    }
    return l->eof ? closed(err) : 0;
}

static int recv_line(pons_link *l, pons_value **ret, pons_error *err)
{
    for (;;) {
        if (l->drains) {
            return drain(l, err);
        }
        int rc = take_line(l, ret, err);
        if (rc != 0) {
            return rc;
        }
        if (l->eof) {
            const size_t rest = l->in.len - l->in.start;
            if (rest == 0) {
                return closed(err);
            }
            l->asks_stop = pons__stop_in(l->in.data + l->in.start, rest);
            l->in.start = l->in.len = 0;
            return pons_error_set(err, PONS_EPROTOCOL, "link",
                                  "the last line ends after %zu bytes without a newline", rest);
        }
        rc = fill(l, err);
        if (rc <= 0) {
            return rc;
        }
    }
}

// ---- public functions ---------------------------------------------------------------------------

int pons_link_send(pons_link *l, pons_value *msg, pons_error *err)
{
    if (!msg) {
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a message");
    }
    if (l->pair) {
        return send_value(l, msg, err);
    }
    const int rc = send_line(l, msg, err);
    pons_value_unref(msg);
    return rc;
}

int pons_link_recv(pons_link *l, pons_value **ret, pons_error *err)
{
    l->asks_stop = false;
    return l->pair ? recv_value(l, ret, err) : recv_line(l, ret, err);
}

bool pons_link_asks_stop(const pons_link *l)
{
    return l->asks_stop;
}

int pons_link_flush(pons_link *l, pons_error *err)
{
    pthread_mutex_lock(&l->out_mtx);
    const int rc = flush_out(l, err);
    pthread_mutex_unlock(&l->out_mtx);
    return rc;
}

int pons_link_fd(const pons_link *l)
{
    return l->fd;
}

bool pons_link_wants_write(const pons_link *end)
{
    pons_link *l = (pons_link *)(uintptr_t)end; // the lock changes, what it guards does not
    pthread_mutex_lock(&l->out_mtx);
    const bool wants = l->out.start < l->out.len;
    pthread_mutex_unlock(&l->out_mtx);
    return wants;
}

void pons_link_close(pons_link *l)
{
    if (!l) {
        return;
    }
    if (l->pair) {
        pipe_pair *p = l->pair;
        p->closed[l->side] = true;
        queue_fini(&p->to[l->side]);
        if (p->closed[1 - l->side]) {
            queue_fini(&p->to[1 - l->side]);
            free(p);
        }
    }
    if (l->fd >= 0) {
        pons_link_flush(l, NULL);
        close(l->fd);
    }
    free(l->in.data);
    free(l->out.data);
    pthread_mutex_destroy(&l->out_mtx);
    free(l);
}

int pons_link_pair(pons_link **ret_a, pons_link **ret_b, pons_error *err)
{
    pons_link *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    pipe_pair *p = calloc(1, sizeof *p);
    if (!a || !b || !p) {
        free(a);
        free(b);
        free(p);
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a pair of links");
    }
    *a = (pons_link){.fd = -1, .pair = p, .side = 0};
    *b = (pons_link){.fd = -1, .pair = p, .side = 1};
    pthread_mutex_init(&a->out_mtx, NULL);
    pthread_mutex_init(&b->out_mtx, NULL);
    *ret_a = a;
    *ret_b = b;
    return PONS_OK;
}

int pons_link_connect(const char *path, pons_link **ret, pons_error *err)
{
    pons__unix_address a;
    int rc = pons__unix_address_init(&a, path, err);
    if (rc < 0) {
        return rc;
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int connected = fd < 0 ? -1 : 0;
    while (fd >= 0 && (connected = connect(fd, (struct sockaddr *)&a.sa, a.len)) < 0 &&
           errno == EINTR) {
    }
    const int why = errno;
    pons__unix_address_fini(&a);
    if (connected == 0) {
        pons_link *l = pons_link_from_fd(fd);
        if (!l) {
            return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a link");
        }
        *ret = l;
        return PONS_OK;
    }
    if (fd >= 0) {
        close(fd);
    }
    rc = why == ENOENT || why == ENOTDIR ? PONS_ENOTFOUND
         : why == ECONNREFUSED           ? PONS_ECLOSED
         : why == EAGAIN                 ? PONS_EAGAIN
                                         : PONS_EIO;
    pons_error_set(err, rc, "link", "%s",
                   rc == PONS_ENOTFOUND ? "there is no socket"
                   : rc == PONS_ECLOSED ? "nobody listens at the socket"
                   : rc == PONS_EAGAIN  ? "the listener's queue is full"
                                        : "cannot connect");
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", strerror(why));
    return rc;
}

pons_link *pons_link_from_fd(int fd)
{
    pons_link *l = calloc(1, sizeof *l);
    if (!l) {
        close(fd);
        return NULL;
    }
    l->fd = fd;
    pthread_mutex_init(&l->out_mtx, NULL);
    return l;
}

pons_link *pons__link_served(int fd)
{
    pons_link *l = pons_link_from_fd(fd);
    if (l) {
        l->served = true;
    }
    return l;
}

int64_t pons_link_peer_pid(const pons_link *l)
{
    struct ucred cred;
    socklen_t len = sizeof cred;
    if (l->fd < 0 || getsockopt(l->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
        return 0;
    }
    return cred.pid;
}

int64_t pons_link_peer_uid(const pons_link *l)
{
    struct ucred cred;
    socklen_t len = sizeof cred;
    if (l->pair) {
        return (int64_t)geteuid();
    }
    if (l->fd < 0 || getsockopt(l->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 ||
        len != sizeof cred) {
        return -1;
    }
    return (int64_t)cred.uid;
}
