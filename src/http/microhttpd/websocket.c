// websocket.c - a WebSocket: messages both ways on a connection that began as a request.
//
//     worker: socket_begin --> 101 --> MHD's thread: upgraded(fd) --> the socket's thread:
//                                                                       poll fd and bell
//     any thread: socket_send --> waiting messages, bell -------------> wslay: frames, pings --> fd
//                                       message(), over() to the owner <--'
//
// MHD gives the connection away when the 101 is out; wslay does the framing, on one thread alone.
// A client is asked whether it is there (a ping) every PING_MS, and dropped when nothing came from it
// for SILENCE_MS. Two hold a socket: its owner, until socket_end, and its thread (before it has begun,
// the request), until `over` was called; the last one frees it.
//
// Locks: the server's before a socket's.
#include "http/microhttpd/websocket.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wslay/wslay.h>

#define SOCKETS_MAX 64
#define MESSAGE_MAX (64UL * 1024UL)
#define UNSENT_MAX  (4UL * 1024UL * 1024UL)
#define PING_MS     15000
#define SILENCE_MS  45000
#define FAREWELL_MS 2000  // for what waits to go out, and the client's goodbye
#define AHEAD_MAX   65536 // bytes that wslay holds; the rest waits where it is counted
#define MAGIC       "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" // of RFC 6455
#define KEY_LEN     24                                     // 16 bytes in base64
#define ACCEPT_MAX  64

typedef struct waiting {
    struct waiting *next;
    bool binary;
    size_t n;
    char data[];
} waiting;

struct pons_http_socket {
    pons__server *server;
    pons_http_socket *next;     // [server's]
    pons_http_exchange *x;      // until it has begun; MHD's thread
    pons_http_socket_options o; // const
    int bell;                   // const
    // The thread's:
    struct MHD_UpgradeResponseHandle *handle;
    int fd;
    char *extra; // that came behind the request
    size_t extra_n, extra_at;
    int64_t received_ms;
    bool eof;
    pthread_mutex_t mtx;
    waiting *first, **last; // [mtx]
    size_t unsent;          // [mtx] bytes of them, and of those wslay holds
    bool ended, gone;       // [mtx] by its owner or the server; the client
    unsigned holders;       // [mtx]
};

static void let_go(pons_http_socket *s)
{
    pthread_mutex_lock(&s->mtx);
    const bool last = --s->holders == 0;
    pthread_mutex_unlock(&s->mtx);
    if (!last) {
        return;
    }
    while (s->first) {
        waiting *next = s->first->next;
        free(s->first);
        s->first = next;
    }
    pthread_mutex_destroy(&s->mtx);
    close(s->bell);
    free(s->extra);
    free(s);
}

// The owner hears of the end, and the server no longer waits for it.
static void finish(pons_http_socket *s)
{
    pons__server *sv = s->server;
    pthread_mutex_lock(&s->mtx);
    s->gone = true;
    pthread_mutex_unlock(&s->mtx);
    s->o.over(s->o.user, s);
    if (s->handle) {
        MHD_upgrade_action(s->handle, MHD_UPGRADE_ACTION_CLOSE);
    }
    pthread_mutex_lock(&sv->mtx);
    pons_http_socket **at = &sv->sockets;
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    if (--sv->n_sockets == 0) {
        pthread_cond_broadcast(&sv->quiet);
    }
    pthread_mutex_unlock(&sv->mtx);
    let_go(s);
}

// ---- the socket's thread ------------------------------------------------------------------------

static ssize_t receive(wslay_event_context_ptr ctx, uint8_t *buf, size_t len, int flags, void *user)
{
    pons_http_socket *s = user;
    const size_t left = s->extra_n - s->extra_at;
    if (left > 0) {
        const size_t n = left < len ? left : len;
        memcpy(buf, s->extra + s->extra_at, n);
        s->extra_at += n;
        return (ssize_t)n;
    }
    const ssize_t n = recv(s->fd, buf, len, MSG_DONTWAIT);
    if (n > 0) {
        s->received_ms = pons__server_now_ms();
        return n;
    }
    const bool later = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    s->eof |= !later;
    wslay_event_set_error(ctx, later ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static ssize_t transmit(wslay_event_context_ptr ctx, const uint8_t *data, size_t len, int flags,
                        void *user)
{
    pons_http_socket *s = user;
    const int more = flags & WSLAY_MSG_MORE ? MSG_MORE : 0;
    const ssize_t n = send(s->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL | more);
    if (n >= 0) {
        return n;
    }
    const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    s->eof |= !later;
    wslay_event_set_error(ctx, later ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static bool is_ended(pons_http_socket *s)
{
    pthread_mutex_lock(&s->mtx);
    const bool yes = s->ended;
    pthread_mutex_unlock(&s->mtx);
    return yes;
}

static void came(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *a,
                 void *user)
{
    pons_http_socket *s = user;
    if (wslay_is_ctrl_frame(a->opcode) || is_ended(s)) {
        return;
    }
    char *text = malloc(a->msg_length + 1);
    if (!text) {
        s->eof = true;
        return;
    }
    if (a->msg_length > 0) {
        memcpy(text, a->msg, a->msg_length);
    }
    text[a->msg_length] = '\0';
    s->o.message(s->o.user, s, a->opcode == WSLAY_BINARY_FRAME, text, a->msg_length);
    free(text);
}

// Hands wslay what waits, as far as it should hold it. False: without memory.
static bool load(pons_http_socket *s, wslay_event_context_ptr ctx)
{
    bool ok = true;
    while (ok && wslay_event_get_queued_msg_length(ctx) < AHEAD_MAX) {
        pthread_mutex_lock(&s->mtx);
        waiting *w = s->first;
        if (w) {
            s->first = w->next;
            s->last = s->first ? s->last : &s->first;
        }
        pthread_mutex_unlock(&s->mtx);
        if (!w) {
            return true;
        }
        const struct wslay_event_msg m = {.opcode =
                                              w->binary ? WSLAY_BINARY_FRAME : WSLAY_TEXT_FRAME,
                                          .msg = (const uint8_t *)w->data,
                                          .msg_length = w->n};
        const int rc = wslay_event_queue_msg(ctx, &m);
        ok = rc == 0 || rc == WSLAY_ERR_NO_MORE_MSG;
        free(w);
    }
    return ok;
}

// Whether something waits that wslay could hold.
static bool count_unsent(pons_http_socket *s, wslay_event_context_ptr ctx)
{
    const size_t held = wslay_event_get_queued_msg_length(ctx);
    size_t n = held;
    pthread_mutex_lock(&s->mtx);
    for (const waiting *w = s->first; w; w = w->next) {
        n += w->n;
    }
    s->unsent = n;
    const bool more = s->first && held < AHEAD_MAX;
    pthread_mutex_unlock(&s->mtx);
    return more;
}

static void wait_for_answer(pons_http_socket *s, wslay_event_context_ptr ctx, int64_t ms)
{
    uint64_t n = 0;
    struct pollfd p[] = {
        {.fd = s->fd,
         .events = (short)((wslay_event_want_read(ctx) ? POLLIN : 0) |
                           (wslay_event_want_write(ctx) ? POLLOUT : 0))},
        {.fd = s->bell, .events = POLLIN},
    };
    poll(p, 2, (int)(ms < 0 ? 0 : ms));
    if (p[1].revents && read(s->bell, &n, sizeof n) < 0) {
        n = 0;
    }
}

static void speak(pons_http_socket *s, wslay_event_context_ptr ctx)
{
    int64_t now = pons__server_now_ms(), ping_ms = now + PING_MS, until_ms = 0;
    bool farewell = false, more = s->extra_n > 0;
    s->received_ms = now;
    while (!s->eof && (wslay_event_want_read(ctx) || wslay_event_want_write(ctx))) {
        const int64_t due = until_ms ? until_ms : ping_ms;
        wait_for_answer(s, ctx, more ? 0 : due - now);
        now = pons__server_now_ms();
        if (!load(s, ctx) || wslay_event_recv(ctx) != 0 || wslay_event_send(ctx) != 0) {
            return;
        }
        more = count_unsent(s, ctx);
        const bool ended = is_ended(s);
        until_ms = ended && !until_ms ? now + FAREWELL_MS : until_ms;
        if (ended && !farewell && s->unsent == 0) {
            farewell = true;
            wslay_event_queue_close(ctx, WSLAY_CODE_GOING_AWAY, NULL, 0);
        }
        if ((until_ms && now >= until_ms) || now - s->received_ms > SILENCE_MS) {
            return;
        }
        if (now >= ping_ms) {
            const struct wslay_event_msg ping = {.opcode = WSLAY_PING};
            ping_ms = now + PING_MS;
            wslay_event_queue_msg(ctx, &ping);
        }
    }
}

static void *run(void *user)
{
    pons_http_socket *s = user;
    const struct wslay_event_callbacks calls = {
        .recv_callback = receive, .send_callback = transmit, .on_msg_recv_callback = came};
    wslay_event_context_ptr ctx = NULL;
    if (wslay_event_context_server_init(&ctx, &calls, s) == 0) {
        wslay_event_config_set_max_recv_msg_length(ctx, s->o.message_max);
        speak(s, ctx);
        wslay_event_context_free(ctx);
    }
    finish(s);
    return NULL;
}

// ---- MHD's thread -------------------------------------------------------------------------------

static void upgraded(void *user, struct MHD_Connection *connection, void *exchange,
                     const char *extra, size_t extra_n, MHD_socket fd,
                     struct MHD_UpgradeResponseHandle *handle)
{
    pons_http_socket *s = user;
    pthread_t thread;
    s->x->socket = NULL;
    s->x = NULL;
    s->handle = handle;
    s->fd = fd;
    s->extra = extra_n > 0 ? malloc(extra_n) : NULL;
    if (s->extra) {
        memcpy(s->extra, extra, extra_n);
        s->extra_n = extra_n;
    }
    if ((extra_n > 0 && !s->extra) || pthread_create(&thread, NULL, run, s) != 0) {
        finish(s);
        return;
    }
    pthread_detach(thread); // the server counts it
}

// ---- a worker: the handshake --------------------------------------------------------------------

static const char *header(const pons_http_exchange *x, const char *name)
{
    const char *value = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

// Whether a list of words, with commas between, has this one.
static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    while (*list) {
        list += strspn(list, ", \t");
        const size_t len = strcspn(list, ", \t");
        if (len == n && strncasecmp(list, word, n) == 0) {
            return true;
        }
        list += len;
    }
    return false;
}

static bool accept_of(const char *key, char ret[ACCEPT_MAX])
{
    char both[KEY_LEN + sizeof MAGIC];
    unsigned char digest[20], raw[32];
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)key, KEY_LEN}, out = {NULL, 0};
    size_t raw_n = sizeof raw;
    if (strlen(key) != KEY_LEN || gnutls_base64_decode2(&text, &out) < 0) {
        return false;
    }
    raw_n = out.size;
    gnutls_free(out.data);
    out = (gnutls_datum_t){NULL, 0};
    memcpy(both, key, KEY_LEN);
    memcpy(both + KEY_LEN, MAGIC, sizeof MAGIC);
    const gnutls_datum_t hash = {digest, sizeof digest};
    if (raw_n != 16 || gnutls_hash_fast(GNUTLS_DIG_SHA1, both, sizeof both - 1, digest) < 0 ||
        gnutls_base64_encode2(&hash, &out) < 0) {
        return false;
    }
    const bool fits = out.size < ACCEPT_MAX;
    if (fits) {
        memcpy(ret, out.data, out.size);
        ret[out.size] = '\0';
    }
    gnutls_free(out.data);
    return fits;
}

// NULL: what asks is a WebSocket's beginning, and *ret_accept answers its key.
static const char *not_asked(const pons_http_exchange *x, char ret_accept[ACCEPT_MAX],
                             int *ret_status)
{
    *ret_status = MHD_HTTP_UPGRADE_REQUIRED;
    if (!has_word(header(x, "Upgrade"), "websocket") ||
        !has_word(header(x, "Connection"), "upgrade")) {
        return "this address speaks WebSocket";
    }
    if (strcmp(header(x, "Sec-WebSocket-Version"), "13") != 0) {
        return "WebSocket's version is 13";
    }
    *ret_status = MHD_HTTP_BAD_REQUEST;
    if (strcmp(x->method, "GET") != 0 || x->body_n > 0) {
        return "a WebSocket begins with GET, without a body";
    }
    return accept_of(header(x, "Sec-WebSocket-Key"), ret_accept)
               ? NULL
               : "a Sec-WebSocket-Key is 16 bytes";
}

static void refuse(pons_http_exchange *x, int status, const char *why)
{
    static const char *const headers[] = {"Sec-WebSocket-Version: 13", NULL};
    pons__exchange_refuse(x, status, headers, why);
}

// False: the server closes, or has enough of them.
static bool list(pons_http_socket *s)
{
    pons__server *sv = s->server;
    pthread_mutex_lock(&sv->mtx);
    const bool room = !sv->closing && sv->n_sockets < SOCKETS_MAX;
    if (room) {
        sv->n_sockets++;
        s->next = sv->sockets;
        sv->sockets = s;
    }
    pthread_mutex_unlock(&sv->mtx);
    return room;
}

pons_http_socket *pons__socket_begin(pons_http_exchange *x, const pons_http_socket_options *o)
{
    char accept[ACCEPT_MAX], line[ACCEPT_MAX + 32], protocol[128];
    int status = 0;
    const char *why = not_asked(x, accept, &status);
    if (why) {
        refuse(x, status, why);
        return NULL;
    }
    pons_http_socket *s = calloc(1, sizeof *s);
    struct MHD_Response *r = s ? MHD_create_response_for_upgrade(upgraded, s) : NULL;
    const int bell = r ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (s) {
        s->server = x->server;
        s->o = *o;
        s->o.message_max = o->message_max ? o->message_max : MESSAGE_MAX;
        s->o.unsent_max = o->unsent_max ? o->unsent_max : UNSENT_MAX;
        s->bell = bell;
        s->fd = -1;
        s->last = &s->first;
        s->holders = 2;
    }
    if (bell < 0 || !list(s)) {
        if (bell >= 0) {
            close(bell);
        }
        if (r) {
            MHD_destroy_response(r);
        }
        free(s);
        refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE, "there are too many sockets");
        return NULL;
    }
    pthread_mutex_init(&s->mtx, NULL);
    s->x = x;
    x->socket = s;
    x->never = finish;
    snprintf(line, sizeof line, "Sec-WebSocket-Accept: %s", accept);
    snprintf(protocol, sizeof protocol, "Sec-WebSocket-Protocol: %s",
             o->protocol ? o->protocol : "");
    const char *const headers[] = {"Upgrade: websocket", line, o->protocol ? protocol : NULL, NULL};
    pons__exchange_answer(x, MHD_HTTP_SWITCHING_PROTOCOLS, r, headers);
    return s;
}

// ---- its owner ----------------------------------------------------------------------------------

int pons__socket_send(pons_http_socket *s, bool binary, const void *data, size_t n)
{
    waiting *w = malloc(sizeof *w + n);
    if (!w) {
        return PONS_EAGAIN;
    }
    *w = (waiting){.binary = binary, .n = n};
    memcpy(w->data, data, n);
    pthread_mutex_lock(&s->mtx);
    const bool there = !s->ended && !s->gone;
    const bool room = s->unsent + n <= s->o.unsent_max;
    if (there && room) {
        *s->last = w;
        s->last = &w->next;
        s->unsent += n;
    }
    pthread_mutex_unlock(&s->mtx);
    if (!there || !room) {
        free(w);
        return there ? PONS_EAGAIN : PONS_ECANCELED;
    }
    eventfd_write(s->bell, 1);
    return PONS_OK;
}

void pons__socket_end(pons_http_socket *s)
{
    if (!s) {
        return;
    }
    pthread_mutex_lock(&s->mtx);
    s->ended = true;
    pthread_mutex_unlock(&s->mtx);
    eventfd_write(s->bell, 1);
    let_go(s);
}

void pons__sockets_close(pons__server *sv)
{
    pthread_mutex_lock(&sv->mtx);
    for (pons_http_socket *s = sv->sockets; s; s = s->next) {
        pthread_mutex_lock(&s->mtx);
        s->ended = true;
        pthread_mutex_unlock(&s->mtx);
        eventfd_write(s->bell, 1);
    }
    while (sv->n_sockets > 0) {
        pthread_cond_wait(&sv->quiet, &sv->mtx);
    }
    pthread_mutex_unlock(&sv->mtx);
}
