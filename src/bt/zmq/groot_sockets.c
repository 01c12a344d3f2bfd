// groot_sockets.c - the sockets of Groot2's protocol, by libzmq: requests on one port, what nobody asked for on
// the next. A body that is a value goes out as MessagePack, by msgpack-c.
#include "pons/groot.h"
#include "pons/module.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { PARTS_MAX = 2, TRIES = 20 };

struct pons_groot_socket {
    void *context, *server, *publisher;
};

static void close_sockets(pons_groot_socket *s)
{
    if (s->server) {
        zmq_close(s->server);
    }
    if (s->publisher) {
        zmq_close(s->publisher);
    }
    if (s->context) {
        zmq_ctx_term(s->context);
    }
    free(s);
}

static void *bound(void *context, int type, const char *address, unsigned port, pons_error *err)
{
    const int none = 0, wait_ms = 1000;
    const int64_t size = 2 << 20; // [bytes] a longer message ends its connection
    char where[128];
    void *s = zmq_socket(context, type);
    if (port == 0) {
        snprintf(where, sizeof where, "tcp://%.100s:*", address);
    } else {
        snprintf(where, sizeof where, "tcp://%.100s:%u", address, port);
    }
    if (s) {
        zmq_setsockopt(s, ZMQ_LINGER, &none, sizeof none);
        zmq_setsockopt(s, ZMQ_SNDTIMEO, &wait_ms, sizeof wait_ms);
        zmq_setsockopt(s, ZMQ_MAXMSGSIZE, &size, sizeof size);
    }
    if (s && zmq_bind(s, where) == 0) {
        return s;
    }
    pons_error_set(err, PONS_EENV, "groot", "cannot listen at %s: %s", where,
                   zmq_strerror(zmq_errno()));
    if (s) {
        zmq_close(s);
    }
    return NULL;
}

// The port that the system has chosen for a socket.
static uint16_t port_of(void *socket)
{
    char where[160] = "";
    size_t len = sizeof where;
    zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, where, &len);
    const char *colon = strrchr(where, ':');
    return colon ? (uint16_t)strtoul(colon + 1, NULL, 10) : 0;
}

static int open_sockets(const char *address, uint16_t *port, pons_groot_socket **ret,
                        pons_error *err)
{
    pons_groot_socket *s = calloc(1, sizeof *s);
    if (!s || !(s->context = zmq_ctx_new())) {
        free(s);
        return pons_error_set(err, PONS_ENOMEM, "groot", "no memory for sockets");
    }
    for (int i = 0; i < TRIES && !s->publisher; i++) { // of a free port the next one may be taken
        if (s->server) {
            zmq_close(s->server);
        }
        s->server = bound(s->context, ZMQ_REP, address, *port, err);
        const unsigned own = s->server ? port_of(s->server) : 0;
        s->publisher = own ? bound(s->context, ZMQ_PUB, address, own + 1, err) : NULL;
        if (*port) {
            break;
        }
    }
    if (!s->publisher) {
        close_sockets(s);
        return PONS_EENV;
    }
    *port = port_of(s->server);
    *ret = s;
    return PONS_OK;
}

// ---- MessagePack --------------------------------------------------------------------------------

static void pack(msgpack_packer *p, const pons_value *v)
{
    switch (v ? json_typeof(v) : JSON_NULL) {
    case JSON_OBJECT:
        msgpack_pack_map(p, json_object_size(v));
        pons_each_member(key, item, v) {
            msgpack_pack_str_with_body(p, key, strlen(key));
            pack(p, item);
        }
        break;
    case JSON_ARRAY:
        msgpack_pack_array(p, json_array_size(v));
        pons_each(item, v) {
            pack(p, item);
        }
        break;
    case JSON_STRING:
        msgpack_pack_str_with_body(p, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        msgpack_pack_int64(p, json_integer_value(v));
        break;
    case JSON_REAL:
        msgpack_pack_double(p, json_real_value(v));
        break;
    case JSON_TRUE:
        msgpack_pack_true(p);
        break;
    case JSON_FALSE:
        msgpack_pack_false(p);
        break;
    default:
        msgpack_pack_nil(p);
        break;
    }
}

// ---- messages -----------------------------------------------------------------------------------

static int send_all(void *socket, const pons_groot_reply *m, pons_error *err)
{
    msgpack_sbuffer packed;
    msgpack_sbuffer_init(&packed);
    const void *body = m->body.data ? m->body.data : "";
    size_t len = m->body.len;
    if (m->packed) {
        msgpack_packer p;
        msgpack_packer_init(&p, &packed, msgpack_sbuffer_write);
        pack(&p, m->packed);
        body = packed.data;
        len = packed.size;
    }
    int sent = zmq_send(socket, m->head.data, m->head.len, m->has_body ? ZMQ_SNDMORE : 0);
    if (sent >= 0 && m->has_body) {
        sent = zmq_send(socket, body, len, 0);
    }
    msgpack_sbuffer_destroy(&packed);
    return sent >= 0 ? PONS_OK
                     : pons_error_set(err, PONS_EIO, "groot", "cannot send: %s",
                                      zmq_strerror(zmq_errno()));
}

// One request, whole: parts beyond the second are taken and count.
static int receive(void *socket, zmq_msg_t *parts, pons_groot_part *ret, size_t *ret_n)
{
    int more = 1;
    size_t n = 0;
    for (; more; n++) {
        zmq_msg_t beyond;
        zmq_msg_t *m = n < PARTS_MAX ? &parts[n] : &beyond;
        zmq_msg_init(m);
        if (zmq_msg_recv(m, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(m);
            break;
        }
        more = zmq_msg_more(m);
        if (n < PARTS_MAX) {
            ret[n] = (pons_groot_part){zmq_msg_data(m), zmq_msg_size(m)};
        } else {
            zmq_msg_close(m);
        }
    }
    *ret_n = n;
    return n > 0;
}

static int serve(pons_groot_socket *s, int timeout_ms, pons_groot *g, pons_error *err)
{
    zmq_pollitem_t item = {.socket = s->server, .events = ZMQ_POLLIN};
    zmq_msg_t messages[PARTS_MAX];
    pons_groot_part parts[PARTS_MAX];
    size_t n = 0;
    if (zmq_poll(&item, 1, timeout_ms) <= 0 || !receive(s->server, messages, parts, &n)) {
        return 0; // a signal ends the wait, too
    }
    pons_groot_reply r;
    int rc = pons_groot_answer(g, parts, n, &r);
    rc = rc < 0 ? pons_error_set(err, rc, "groot", "no memory for a reply")
                : send_all(s->server, &r, err);
    pons_groot_reply_fini(&r);
    for (size_t i = 0; i < n && i < PARTS_MAX; i++) {
        zmq_msg_close(&messages[i]);
    }
    return rc < 0 ? rc : 1;
}

static int publish(pons_groot_socket *s, const pons_groot_reply *message, pons_error *err)
{
    return send_all(s->publisher, message, err);
}

static const pons_groot_socket_ops ops = {
    .open = open_sockets, .close = close_sockets, .serve = serve, .publish = publish};

PONS_MODULE_EXPORT("groot", "zmq", &ops);
