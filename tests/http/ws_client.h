// ws_client.h - a WebSocket's client for tests, which sends the bytes that it is told to.
//
// Frames are masked with zeros: what goes out can be read in the test.
#ifndef WS_CLIENT_H
#define WS_CLIENT_H

#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WS_HANG_MS 120000
#define WS_KEY     "dGhlIHNhbXBsZSBub25jZQ==" // of RFC 6455, 1.3
#define WS_ACCEPT  "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
#define WS_UPGRADE                                                                                 \
    "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: "             \
    "13\r\nSec-WebSocket-Key: " WS_KEY "\r\n"

enum { WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };

typedef struct ws_frame { // of the server
    int opcode;           // 0: the connection ended instead
    size_t n;
    char *data; // the caller's, ends with a zero
} ws_frame;

static inline int ws_connect(int port)
{
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static inline void ws_put(int fd, const void *data, size_t n)
{
    for (size_t at = 0; at < n;) {
        const ssize_t k = send(fd, (const char *)data + at, n - at, MSG_NOSIGNAL);
        if (k <= 0) {
            return; // the server has had enough
        }
        at += (size_t)k;
    }
}

// Whether n bytes came before the end.
static inline bool ws_get(int fd, void *data, size_t n)
{
    for (size_t at = 0; at < n;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, WS_HANG_MS), 1);
        const ssize_t k = recv(fd, (char *)data + at, n - at, 0);
        if (k <= 0) {
            return false;
        }
        at += (size_t)k;
    }
    return true;
}

// Sends the request, reads the reply's head into ret (a string).
static inline void ws_ask(int fd, const char *request, char ret[4096])
{
    size_t n = 0;
    ws_put(fd, request, strlen(request));
    ret[0] = '\0';
    while (n < 4095 && ws_get(fd, ret + n, 1)) {
        ret[++n] = '\0';
        if (n >= 4 && strcmp(ret + n - 4, "\r\n\r\n") == 0) {
            return;
        }
    }
}

// One frame; fin: the message ends with it.
static inline void ws_send(int fd, int opcode, bool fin, const void *data, size_t n)
{
    uint8_t head[14] = {(uint8_t)((fin ? 0x80 : 0) | opcode)};
    size_t at = 2;
    head[1] = 0x80 | (n < 126 ? (uint8_t)n : n < 65536 ? 126 : 127);
    for (int bytes = n < 126 ? 0 : n < 65536 ? 2 : 8; bytes-- > 0;) {
        head[at++] = (uint8_t)(n >> 8 * bytes);
    }
    at += 4; // the mask
    ws_put(fd, head, at);
    ws_put(fd, data, n);
}

static inline ws_frame ws_next(int fd)
{
    uint8_t head[2], more[8];
    ws_frame f = {0};
    if (!ws_get(fd, head, 2)) {
        return f;
    }
    assert_false(head[1] & 0x80); // a server masks nothing
    assert_true(head[0] & 0x80);
    const int bytes = head[1] < 126 ? 0 : head[1] == 126 ? 2 : 8;
    f.n = bytes ? 0 : head[1];
    assert_true(ws_get(fd, more, (size_t)bytes));
    for (int i = 0; i < bytes; i++) {
        f.n = f.n << 8 | more[i];
    }
    f.data = calloc(1, f.n + 1);
    assert_non_null(f.data);
    if (!ws_get(fd, f.data, f.n)) {
        free(f.data);
        return (ws_frame){0};
    }
    f.opcode = head[0] & 15;
    return f;
}

// The code of a frame that closes.
static inline int ws_code(const ws_frame *f)
{
    return f->opcode == WS_CLOSE && f->n >= 2 ? (uint8_t)f->data[0] << 8 | (uint8_t)f->data[1] : 0;
}

#endif
