// test_websocket.c - WebSockets of the HTTP server: how one begins, what messages may be, how it ends.
#include "http/ws_client.h"
#include "pons/buf.h"
#include "pons/ext/http_server.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#define PROTOCOL "test.v1"

static const pons_http_server_ops *http;

typedef struct bench {
    void *server;
    int port;
    sem_t began, over;
    pthread_mutex_t mtx;
    pons_http_socket *s; // [mtx] the newest
    int overs;           // [mtx]
    size_t unsent_max;
} bench;

static void wait_for(sem_t *s)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += WS_HANG_MS / 1000;
    while (sem_timedwait(s, &ts) < 0) {
        assert_int_equal(errno, EINTR);
    }
}

// Sends back what comes.
static void message(void *user, pons_http_socket *s, bool binary, const char *data, size_t n)
{
    (void)user;
    http->socket_send(s, binary, data, n);
}

static void over(void *user, pons_http_socket *s)
{
    bench *b = user;
    pthread_mutex_lock(&b->mtx);
    b->overs++;
    pthread_mutex_unlock(&b->mtx);
    (void)s;
    sem_post(&b->over);
}

static void handle(void *user, pons_http_exchange *x)
{
    bench *b = user;
    const char *asked = http->header(x, "Sec-WebSocket-Protocol");
    const pons_http_socket_options o = {.protocol = asked ? PROTOCOL : NULL,
                                        .message_max = 200000,
                                        .unsent_max = b->unsent_max,
                                        .message = message,
                                        .over = over,
                                        .user = b};
    pons_http_socket *s = http->socket(x, &o);
    if (s) {
        pthread_mutex_lock(&b->mtx);
        b->s = s;
        pthread_mutex_unlock(&b->mtx);
        sem_post(&b->began);
    }
}

static void bench_open(bench *b, size_t unsent_max)
{
    pons_error err = PONS_ERROR_INIT;
    *b = (bench){.unsent_max = unsent_max};
    sem_init(&b->began, 0, 0);
    sem_init(&b->over, 0, 0);
    pthread_mutex_init(&b->mtx, NULL);
    const pons_http_server_options o = {.address = "127.0.0.1",
                                        .workers = 2,
                                        .idle_ms = 200,
                                        .head_ms = 200,
                                        .handle = handle,
                                        .user = b};
    assert_int_equal(http->open(&o, &b->server, &err), PONS_OK);
    b->port = http->port(b->server);
}

static void bench_close(bench *b)
{
    http->close(b->server);
    sem_destroy(&b->began);
    sem_destroy(&b->over);
    pthread_mutex_destroy(&b->mtx);
}

// A client whose socket has begun, and the server's side of it.
static int begin(bench *b, pons_http_socket **ret)
{
    char reply[4096];
    const int fd = ws_connect(b->port);
    ws_ask(fd, "GET /ws HTTP/1.1\r\nHost: x\r\n" WS_UPGRADE "\r\n", reply);
    assert_non_null(strstr(reply, "HTTP/1.1 101 "));
    wait_for(&b->began);
    pthread_mutex_lock(&b->mtx);
    *ret = b->s;
    pthread_mutex_unlock(&b->mtx);
    return fd;
}

static void ends_with(bench *b, pons_http_socket *s, int fd, int code)
{
    ws_frame f = ws_next(fd);
    assert_int_equal(ws_code(&f), code);
    free(f.data);
    wait_for(&b->over);
    http->socket_end(s);
    close(fd);
}

static void how_one_begins(void **state)
{
    static const struct {
        const char *head, *says;
    } wrong[] = {
        {"", "426"},
        {"Upgrade: websocket\r\nConnection: Upgrade\r\n", "426"},
        {"Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n", "426"},
        {"Upgrade: websocket\r\nConnection: close\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: " WS_KEY "\r\n",
         "426"},
        {"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 8\r\n"
         "Sec-WebSocket-Key: " WS_KEY "\r\n",
         "Sec-WebSocket-Version: 13"},
        {"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n", "400"},
        {"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: c2hvcnQ=\r\n",
         "400"},
        {"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!!!\r\n",
         "400"},
    };
    bench b;
    char reply[4096], request[1024];
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const int fd = ws_connect(b.port);
        snprintf(request, sizeof request, "GET /ws HTTP/1.1\r\nHost: x\r\n%s\r\n", wrong[i].head);
        ws_ask(fd, request, reply);
        if (!strstr(reply, wrong[i].says) || strstr(reply, " 101 ")) {
            fail_msg("%zu: no '%s' in %s", i, wrong[i].says, reply);
        }
        close(fd);
    }
    const int fd = ws_connect(b.port);
    ws_ask(fd,
           "GET /ws HTTP/1.1\r\nHost: x\r\nSec-WebSocket-Protocol: other, " PROTOCOL
           "\r\n" WS_UPGRADE "\r\n",
           reply);
    assert_non_null(strstr(reply, "Sec-WebSocket-Accept: " WS_ACCEPT "\r\n"));
    assert_non_null(strstr(reply, "Sec-WebSocket-Protocol: " PROTOCOL "\r\n"));
    wait_for(&b.began);
    close(fd);
    wait_for(&b.over);
    http->socket_end(b.s);
    assert_int_equal(b.overs, 1);
    bench_close(&b);
}

static void messages_come_whole(void **state)
{
    bench b;
    pons_http_socket *s;
    char *big = malloc(150000);
    (void)state;
    assert_non_null(big);
    memset(big, 'x', 150000);
    bench_open(&b, 0);
    const int fd = begin(&b, &s);
    ws_send(fd, WS_TEXT, true, "h\xc3\xa9", 3);
    ws_frame f = ws_next(fd);
    assert_int_equal(f.opcode, WS_TEXT);
    assert_string_equal(f.data, "h\xc3\xa9");
    free(f.data);
    // In three pieces, with a ping between them.
    ws_send(fd, WS_BINARY, false, big, 50000);
    ws_send(fd, 0, false, big, 50000);
    ws_send(fd, WS_PING, true, "?", 1);
    ws_send(fd, 0, true, big, 50000);
    f = ws_next(fd);
    assert_int_equal(f.opcode, WS_PONG);
    assert_string_equal(f.data, "?");
    free(f.data);
    f = ws_next(fd);
    assert_int_equal(f.opcode, WS_BINARY);
    assert_int_equal(f.n, 150000);
    assert_memory_equal(f.data, big, f.n);
    free(f.data);
    // A client that says goodbye is answered so.
    ws_send(fd, WS_CLOSE, true, "\x03\xe8", 2);
    ends_with(&b, s, fd, 1000);
    bench_close(&b);
    free(big);
}

static void nonsense_ends_it(void **state)
{
    bench b;
    pons_http_socket *s;
    char *big = calloc(1, 200001);
    (void)state;
    assert_non_null(big);
    bench_open(&b, 0);
    int fd = begin(&b, &s);
    ws_put(fd, "\x81\x01x", 3); // not masked
    ends_with(&b, s, fd, 1002);
    fd = begin(&b, &s);
    ws_send(fd, WS_TEXT, true, "\xff\xfe", 2);
    ends_with(&b, s, fd, 1007);
    fd = begin(&b, &s);
    ws_send(fd, WS_BINARY, true, big, 200001);
    ends_with(&b, s, fd, 1009);
    fd = begin(&b, &s);
    ws_send(fd, 3, true, "x", 1); // no such opcode
    ends_with(&b, s, fd, 1002);
    bench_close(&b);
    free(big);
}

// The limits of a request's time are not those of a socket, and what came right behind the request is
// its first message.
static void it_outlives_its_request(void **state)
{
    bench b;
    char reply[4096];
    (void)state;
    bench_open(&b, 0);
    const int fd = ws_connect(b.port);
    const char request[] = "GET /ws HTTP/1.1\r\nHost: x\r\n" WS_UPGRADE "\r\n\x81\x82\0\0\0\0hi";
    ws_put(fd, request, sizeof request - 1);
    ws_ask(fd, "", reply);
    ws_frame f = ws_next(fd);
    assert_string_equal(f.data, "hi");
    free(f.data);
    // Three times as long as a kept connection may be silent; another client's end says that it passed.
    for (int i = 0; i < 3; i++) {
        char one;
        const int other = ws_connect(b.port);
        assert_false(ws_get(other, &one, 1)); // let go after head_ms
        close(other);
    }
    ws_send(fd, WS_TEXT, true, "still", 5);
    f = ws_next(fd);
    assert_string_equal(f.data, "still");
    free(f.data);
    wait_for(&b.began);
    http->socket_end(b.s); // by its owner
    f = ws_next(fd);
    assert_int_equal(ws_code(&f), 1001);
    free(f.data);
    wait_for(&b.over);
    close(fd);
    bench_close(&b);
}

static void a_slow_client_has_so_much_room(void **state)
{
    bench b;
    pons_http_socket *s;
    char *big = calloc(1, 100000);
    int sent = 0, rc;
    (void)state;
    assert_non_null(big);
    bench_open(&b, 1000000);
    const int fd = begin(&b, &s);
    while ((rc = http->socket_send(s, true, big, 100000)) == PONS_OK) {
        assert_in_range(++sent, 1, 10000); // the kernel's buffers, and ours
    }
    assert_int_equal(rc, PONS_EAGAIN);
    for (int i = 0; i < sent; i++) { // all that was taken comes
        ws_frame f = ws_next(fd);
        i -= f.opcode == WS_PING; // whether anybody is there
        assert_int_equal(f.n, f.opcode == WS_PING ? 0 : 100000);
        free(f.data);
    }
    close(fd);
    wait_for(&b.over);
    assert_int_equal(http->socket_send(s, true, big, 1), PONS_ECANCELED);
    http->socket_end(s);
    bench_close(&b);
    free(big);
}

static void a_server_ends_its_sockets(void **state)
{
    enum { MANY = 70 };
    bench b;
    int fds[MANY], n = 0;
    pons_http_socket *s[MANY];
    char reply[4096];
    (void)state;
    bench_open(&b, 0);
    for (int i = 0; i < MANY; i++) {
        fds[i] = ws_connect(b.port);
        ws_ask(fds[i], "GET /ws HTTP/1.1\r\nHost: x\r\n" WS_UPGRADE "\r\n", reply);
        if (strstr(reply, " 101 ")) {
            wait_for(&b.began);
            s[n++] = b.s;
        } else {
            assert_non_null(strstr(reply, " 503 "));
        }
    }
    assert_int_equal(n, 64);
    http->close(b.server);
    assert_int_equal(b.overs, n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(http->socket_send(s[i], false, "x", 1), PONS_ECANCELED);
        http->socket_end(s[i]);
    }
    for (int i = 0; i < MANY; i++) {
        close(fds[i]);
    }
    sem_destroy(&b.began);
    sem_destroy(&b.over);
    pthread_mutex_destroy(&b.mtx);
}

int main(void)
{
    pons_error err = PONS_ERROR_INIT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_one_begins),
        cmocka_unit_test(messages_come_whole),
        cmocka_unit_test(nonsense_ends_it),
        cmocka_unit_test(it_outlives_its_request),
        cmocka_unit_test(a_slow_client_has_so_much_room),
        cmocka_unit_test(a_server_ends_its_sockets),
    };
    if (pons_http_server_load(&http, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
