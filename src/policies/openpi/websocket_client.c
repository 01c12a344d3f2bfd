// websocket_client.c - libcurl connects, with TLS for wss; the handshake is a request and its answer; wslay does the frames.
//
//     ws_connect --GET, Upgrade--> 101, Sec-WebSocket-Accept --> frames both ways
//
// A frame's length is looked at before memory is taken for it.
#include "policies/openpi/websocket_client.h"

#include "pons/buf.h"
#include "pons/redact.h"

#include <curl/curl.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

#define WHERE      "websocket"
#define CONNECT_S  5L
#define ANSWER_MS  10000 // for the handshake
#define HEAD_MAX   16384
#define MAGIC      "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" // of RFC 6455
#define KEY_BYTES  16
#define ACCEPT_MAX 64
#define FRAMES_MAX 10000 // of a message, with the pings between: each is memory of wslay's

struct ws_client {
    CURL *curl;
    curl_socket_t fd;
    wslay_event_context_ptr frames;
    char url[256];       // as it is shown
    char head[HEAD_MAX]; // of the answer; what came behind it
    size_t head_n, head_at;
    size_t message_max, frames_n;
    bool gone, text, has; // the connection; of the message
    char *message;
    size_t n;
};

static bool wait_for(const ws_client *c, short events, int ms)
{
    struct pollfd p = {.fd = c->fd, .events = events};
    return poll(&p, 1, ms) > 0;
}

// ---- bytes --------------------------------------------------------------------------------------

static ssize_t receive(wslay_event_context_ptr frames, uint8_t *buf, size_t len, int flags,
                       void *user)
{
    ws_client *c = user;
    size_t n = 0;
    if (c->frames_n > FRAMES_MAX) {
        wslay_event_set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
        return -1;
    }
    if (c->head_at < c->head_n) {
        n = c->head_n - c->head_at < len ? c->head_n - c->head_at : len;
        memcpy(buf, c->head + c->head_at, n);
        c->head_at += n;
        return (ssize_t)n;
    }
    const CURLcode rc = curl_easy_recv(c->curl, buf, len, &n);
    if (rc == CURLE_OK && n > 0) {
        return (ssize_t)n;
    }
    c->gone = c->gone || rc != CURLE_AGAIN;
    wslay_event_set_error(frames,
                          rc == CURLE_AGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static ssize_t transmit(wslay_event_context_ptr frames, const uint8_t *data, size_t len, int flags,
                        void *user)
{
    ws_client *c = user;
    size_t n = 0;
    const CURLcode rc = curl_easy_send(c->curl, data, len, &n);
    if (rc == CURLE_OK) {
        return (ssize_t)n;
    }
    c->gone = c->gone || rc != CURLE_AGAIN;
    wslay_event_set_error(frames,
                          rc == CURLE_AGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static int mask(wslay_event_context_ptr frames, uint8_t *buf, size_t len, void *user)
{
    return gnutls_rnd(GNUTLS_RND_NONCE, buf, len) < 0 ? -1 : 0;
}

static void frame_began(wslay_event_context_ptr frames,
                        const struct wslay_event_on_frame_recv_start_arg *a, void *user)
{
    ((ws_client *)user)->frames_n++;
}

static void came(wslay_event_context_ptr frames, const struct wslay_event_on_msg_recv_arg *a,
                 void *user)
{
    ws_client *c = user;
    if (wslay_is_ctrl_frame(a->opcode) || c->has) {
        return;
    }
    char *copy = malloc(a->msg_length + 1);
    c->gone = c->gone || !copy;
    if (copy) {
        memcpy(copy, a->msg, a->msg_length);
        copy[a->msg_length] = '\0';
        free(c->message);
        c->message = copy;
        c->n = a->msg_length;
        c->text = a->opcode == WSLAY_TEXT_FRAME;
        c->has = true;
        c->frames_n = 0;
    }
}

// ---- the handshake ------------------------------------------------------------------------------

static int away(const ws_client *c, pons_error *err, const char *why)
{
    return pons_error_set(err, PONS_EIO, WHERE, "%.120s: %.200s", c->url, why);
}

static bool base64(const void *bytes, size_t n, char ret[ACCEPT_MAX])
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_base64(&b, bytes, n);
    snprintf(ret, ACCEPT_MAX, "%s", b.failed ? "" : b.data);
    return !b.failed;
}

// The key of a handshake, and what has to answer it.
static bool make_key(char ret_key[ACCEPT_MAX], char ret_accept[ACCEPT_MAX])
{
    unsigned char nonce[KEY_BYTES], digest[20];
    char both[ACCEPT_MAX + sizeof MAGIC];
    if (gnutls_rnd(GNUTLS_RND_NONCE, nonce, sizeof nonce) < 0 ||
        !base64(nonce, sizeof nonce, ret_key)) {
        return false;
    }
    snprintf(both, sizeof both, "%s%s", ret_key, MAGIC);
    return gnutls_hash_fast(GNUTLS_DIG_SHA1, both, strlen(both), digest) >= 0 &&
           base64(digest, sizeof digest, ret_accept);
}

static int send_all(ws_client *c, const char *text, pons_error *err)
{
    for (size_t at = 0, all = strlen(text); at < all;) {
        size_t n = 0;
        const CURLcode rc = curl_easy_send(c->curl, text + at, all - at, &n);
        if (rc != CURLE_OK && (rc != CURLE_AGAIN || !wait_for(c, POLLOUT, ANSWER_MS))) {
            return away(c, err, "the connection broke");
        }
        at += n;
    }
    return PONS_OK;
}

// The answer's head, and whatever came behind it.
static int read_head(ws_client *c, const char **ret_end, pons_error *err)
{
    *ret_end = NULL;
    while (!*ret_end) {
        size_t n = 0;
        const CURLcode rc =
            curl_easy_recv(c->curl, c->head + c->head_n, sizeof c->head - 1 - c->head_n, &n);
        if ((rc == CURLE_OK && n == 0) || c->head_n + n >= sizeof c->head - 1 ||
            (rc != CURLE_OK && rc != CURLE_AGAIN)) {
            return away(c, err, "it closes before it has answered");
        }
        c->head_n += n;
        c->head[c->head_n] = '\0';
        *ret_end = strstr(c->head, "\r\n\r\n");
        if (!*ret_end && rc == CURLE_AGAIN && !wait_for(c, POLLIN, ANSWER_MS)) {
            return away(c, err, "it does not answer");
        }
    }
    return PONS_OK;
}

static int handshake(ws_client *c, CURLU *url, const char *authorization, pons_error *err)
{
    char key[ACCEPT_MAX], accept[ACCEPT_MAX], wanted[ACCEPT_MAX + 4], request[2048];
    char *host = NULL, *port = NULL, *path = NULL, *query = NULL, field_line[1024] = "",
         asks[512] = "";
    const char *end = NULL;
    if (!make_key(key, accept)) {
        return pons_error_set(err, PONS_EENV, WHERE, "no random numbers");
    }
    if (curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_PATH, &path, 0) != CURLUE_OK) {
        curl_free(host);
        curl_free(port);
        return away(c, err, "no memory");
    }
    if (curl_url_get(url, CURLUPART_QUERY, &query, 0) == CURLUE_OK) {
        snprintf(asks, sizeof asks, "?%s", query);
    }
    if (authorization) {
        snprintf(field_line, sizeof field_line, "Authorization: %s\r\n", authorization);
    }
    const int n =
        snprintf(request, sizeof request,
                 "GET %s%s HTTP/1.1\r\nHost: %s:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
                 path, asks, host, port, key, field_line);
    curl_free(host);
    curl_free(port);
    curl_free(path);
    curl_free(query);
    int rc = n < (int)sizeof request
                 ? send_all(c, request, err)
                 : pons_error_set(err, PONS_EINVAL, WHERE, "%.120s is too long", c->url);
    rc = rc < 0 ? rc : read_head(c, &end, err);
    if (rc < 0) {
        return rc;
    }
    snprintf(wanted, sizeof wanted, "%s\r\n", accept);
    const char *field = strcasestr(c->head, "\r\nsec-websocket-accept:");
    field = field ? field + strlen("\r\nsec-websocket-accept:") : "";
    field += strspn(field, " \t");
    if (strncmp(c->head, "HTTP/1.1 101", 12) != 0 || strncmp(field, wanted, strlen(wanted)) != 0) {
        char text[160];
        snprintf(text, sizeof text, "it speaks no WebSocket: %.*s", (int)strcspn(c->head, "\r\n"),
                 c->head);
        return away(c, err, text);
    }
    c->head_at = (size_t)(end - c->head) + 4;
    return PONS_OK;
}

static int dial(ws_client *c, CURLU *url, pons_error *err)
{
    curl_easy_setopt(c->curl, CURLOPT_CURLU, url);
    curl_easy_setopt(c->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(c->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_NOPROXY, "*");
    const CURLcode rc = curl_easy_perform(c->curl);
    if (rc != CURLE_OK || curl_easy_getinfo(c->curl, CURLINFO_ACTIVESOCKET, &c->fd) != CURLE_OK) {
        return away(c, err, curl_easy_strerror(rc));
    }
    return PONS_OK;
}

// As libcurl 7.88 has it: the scheme is HTTP's.
static CURLU *url_of(const char *url)
{
    char text[512];
    const bool plain = strncmp(url, "ws://", 5) == 0, tls = strncmp(url, "wss://", 6) == 0;
    CURLU *u = plain || tls ? curl_url() : NULL;
    snprintf(text, sizeof text, "http%s", url + 2);
    if (u && curl_url_set(u, CURLUPART_URL, text, 0) != CURLUE_OK) {
        curl_url_cleanup(u);
        u = NULL;
    }
    return u;
}

int ws_connect(const char *url, const char *authorization, size_t message_max, ws_client **ret,
               pons_error *err)
{
    static const struct wslay_event_callbacks calls = {.recv_callback = receive,
                                                       .send_callback = transmit,
                                                       .genmask_callback = mask,
                                                       .on_frame_recv_start_callback = frame_began,
                                                       .on_msg_recv_callback = came};
    CURLU *u = url_of(url);
    ws_client *c = u ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        curl_url_cleanup(u);
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "policy_client.endpoint of openpi is ws://HOST:PORT or wss://");
    }
    pons_url_redacted(url, c->url, sizeof c->url);
    c->message_max = message_max;
    c->curl = curl_easy_init();
    int rc = c->curl ? dial(c, u, err) : away(c, err, "no memory");
    rc = rc < 0 ? rc : handshake(c, u, authorization, err);
    curl_url_cleanup(u);
    if (rc >= 0 && wslay_event_context_client_init(&c->frames, &calls, c) != 0) {
        rc = away(c, err, "no memory");
    }
    if (rc < 0) {
        ws_close(c);
        return rc;
    }
    wslay_event_config_set_max_recv_msg_length(c->frames, message_max);
    *ret = c;
    return PONS_OK;
}

void ws_close(ws_client *c)
{
    if (c) {
        if (c->frames) {
            wslay_event_context_free(c->frames);
        }
        curl_easy_cleanup(c->curl);
        free(c->message);
        free(c);
    }
}

// ---- messages -----------------------------------------------------------------------------------

// Takes bytes either way. The first of its turns does not wait for any: what came with the handshake, or what the TLS
// library has decrypted already, is no more in the socket.
static int turn(ws_client *c, bool first, pons_error *err)
{
    const bool in = wslay_event_want_read(c->frames), out = wslay_event_want_write(c->frames);
    if (!first) {
        const short incoming = in ? POLLIN : 0;
        wait_for(c, out ? (short)(incoming | POLLOUT) : incoming, -1);
    }
    const int read_rc = wslay_event_recv(c->frames), send_rc = wslay_event_send(c->frames);
    if (c->has) {
        return PONS_OK;
    }
    if (c->frames_n > FRAMES_MAX) {
        return pons_error_set(err, PONS_EPROTOCOL, WHERE, "%.120s: a message has over %d frames",
                              c->url, FRAMES_MAX);
    }
    if (c->gone || wslay_event_get_close_received(c->frames)) {
        return away(c, err, "it has closed the connection");
    }
    if (wslay_event_get_status_code_sent(c->frames) == WSLAY_CODE_MESSAGE_TOO_BIG) {
        return pons_error_set(err, PONS_EPROTOCOL, WHERE, "%.120s: a message has over %zu bytes",
                              c->url, c->message_max);
    }
    if (read_rc != 0 || send_rc != 0 || wslay_event_get_close_sent(c->frames)) {
        return pons_error_set(err, PONS_EPROTOCOL, WHERE, "%.120s: a frame is none of WebSocket's",
                              c->url);
    }
    return PONS_OK;
}

int ws_send(ws_client *c, const void *data, size_t n, pons_error *err)
{
    const struct wslay_event_msg m = {.opcode = WSLAY_BINARY_FRAME, .msg = data, .msg_length = n};
    int rc = wslay_event_queue_msg(c->frames, &m) == 0 ? PONS_OK : away(c, err, "no memory");
    for (bool first = true; rc >= 0 && wslay_event_want_write(c->frames); first = false) {
        rc = turn(c, first, err);
    }
    return rc;
}

int ws_receive(ws_client *c, ws_message *ret, pons_error *err)
{
    int rc = PONS_OK;
    for (bool first = true; rc >= 0 && !c->has; first = false) {
        rc = turn(c, first, err);
    }
    c->has = false;
    *ret = (ws_message){c->text, c->message, c->n};
    return rc;
}
