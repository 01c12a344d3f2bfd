// fetch.c - the module tool-fetch: one GET by libcurl, bounded in time, bytes and redirects.
//
// A page may send its reader anywhere, and a name may mean another address at the next look-up. So
// the addresses of this machine and of private networks are refused where it counts: when the
// socket is about to be opened, for the first request as for every redirect.
#include "tools/fetch.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pons/module.h"

#define WHERE      "fetch"
#define CONNECT_MS 10000L
#define AGENT      "pons/" PONS_VERSION
#define POLL_MS    1000

typedef struct transfer {
    const pons__fetch_request *request;
    pons__fetch_reply *reply;
    char refused[INET6_ADDRSTRLEN]; // a private address
} transfer;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

// ---- addresses (RFC 6890 and its registries) ----

static bool private_v4(uint32_t a)
{
    static const struct {
        uint32_t net;
        int bits;
    } nets[] = {{0x00000000, 8},  {0x0a000000, 8},  {0x64400000, 10}, {0x7f000000, 8},
                {0xa9fe0000, 16}, {0xac100000, 12}, {0xc0000000, 24}, {0xc0a80000, 16},
                {0xc6120000, 15}, {0xe0000000, 4},  {0xf0000000, 4}};
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        if (((a ^ nets[i].net) >> (32 - nets[i].bits)) == 0) {
            return true;
        }
    }
    return false;
}

static uint32_t word(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool private_v6(const uint8_t b[16])
{
    static const uint8_t zero[12] = {0}, mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
    if (memcmp(b, zero, 12) == 0 || memcmp(b, mapped, 12) == 0 || memcmp(b, nat64, 12) == 0) {
        return private_v4(word(b + 12)); // ::, ::1 and the old embedded forms as well
    }
    return (b[0] & 0xfe) == 0xfc || (b[0] == 0xfe && (b[1] & 0xc0) >= 0x80) || b[0] == 0xff ||
           (b[0] == 0x20 && b[1] == 0x02 && private_v4(word(b + 2)));
}

static bool is_private(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        return private_v4(ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr));
    }
    return a->sa_family != AF_INET6 ||
           private_v6(((const struct sockaddr_in6 *)(const void *)a)->sin6_addr.s6_addr);
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *a)
{
    transfer *t = user;
    (void)purpose;
    if (!t->request->private_ok && !*t->request->proxy && is_private(&a->addr)) {
        const void *raw =
            a->family == AF_INET
                ? (const void *)&((const struct sockaddr_in *)(const void *)&a->addr)->sin_addr
                : (const void *)&((const struct sockaddr_in6 *)(const void *)&a->addr)->sin6_addr;
        if (!inet_ntop(a->family, raw, t->refused, sizeof t->refused)) {
            snprintf(t->refused, sizeof t->refused, "a local address");
        }
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static size_t take(char *bytes, size_t one, size_t n, void *user)
{
    transfer *t = user;
    (void)one;
    const size_t room = t->request->max_bytes - t->reply->body.len;
    const size_t some = n < room ? n : room;
    if (pons_buf_bytes(&t->reply->body, bytes, some) < 0) {
        return CURL_WRITEFUNC_ERROR;
    }
    if (some < n) {
        t->reply->truncated = true;
        return CURL_WRITEFUNC_ERROR; // enough
    }
    return n;
}

static bool prepare(CURL *easy, transfer *t)
{
    const pons__fetch_request *r = t->request;
    return curl_easy_setopt(easy, CURLOPT_URL, r->url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY, r->proxy) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, r->redirects > 0 ? 1L : 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_MAXREDIRS, r->redirects) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, r->timeout_ms) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_USERAGENT, AGENT) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, t) == CURLE_OK;
}

// Runs the transfer until it ends or the host has had enough.
static int drive(CURLM *multi, int cancel_fd, CURLcode *ret)
{
    int running = 1;
    while (running > 0) {
        struct curl_waitfd extra = {.fd = cancel_fd, .events = CURL_WAIT_POLLIN};
        if (curl_multi_perform(multi, &running) != CURLM_OK) {
            return PONS_ENOMEM;
        }
        if (running > 0 && curl_multi_poll(multi, &extra, 1, POLL_MS, NULL) != CURLM_OK) {
            return PONS_ENOMEM;
        }
        if (extra.revents) {
            return PONS_ECANCELED;
        }
    }
    int left = 0;
    const CURLMsg *msg = curl_multi_info_read(multi, &left);
    *ret = msg ? msg->data.result : CURLE_FAILED_INIT;
    return PONS_OK;
}

static int judge(CURL *easy, const transfer *t, CURLcode code, const char *detail, pons_error *err)
{
    const char *url = NULL, *type = NULL;
    pons__fetch_reply *reply = t->reply;
    curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply->status);
    snprintf(reply->url, sizeof reply->url, "%s", url ? url : t->request->url);
    snprintf(reply->type, sizeof reply->type, "%s", type ? type : "");
    if (code == CURLE_OK || reply->truncated) {
        return PONS_OK;
    }
    if (t->refused[0]) {
        return pons_error_set(err, PONS_EREFUSED, WHERE,
                              "%s is at %s, an address of this machine or its network", reply->url,
                              t->refused);
    }
    const int status = code == CURLE_OPERATION_TIMEDOUT     ? PONS_ETIMEOUT
                       : code == CURLE_URL_MALFORMAT        ? PONS_EINVAL
                       : code == CURLE_UNSUPPORTED_PROTOCOL ? PONS_EREFUSED
                       : code == CURLE_TOO_MANY_REDIRECTS   ? PONS_EREFUSED
                                                            : PONS_EIO;
    return pons_error_set(err, status, WHERE, "cannot fetch %s: %s", reply->url,
                          *detail ? detail : curl_easy_strerror(code));
}

static int get(const pons__fetch_request *request, pons__fetch_reply *ret, pons_error *err)
{
    pthread_once(&once, init);
    transfer t = {.request = request, .reply = ret};
    char detail[CURL_ERROR_SIZE] = "";
    CURL *easy = curl_easy_init();
    CURLM *multi = curl_multi_init();
    CURLcode code = CURLE_OK;
    int rc = PONS_OK;
    if (!easy || !multi || !prepare(easy, &t) ||
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, detail) != CURLE_OK ||
        curl_multi_add_handle(multi, easy) != CURLM_OK) {
        rc =
            pons_error_set(err, PONS_ENOMEM, WHERE, "cannot prepare a request of %s", request->url);
    } else {
        rc = drive(multi, request->cancel_fd, &code);
        rc = rc == PONS_ECANCELED ? pons_error_set(err, rc, WHERE, "cancelled")
             : rc < 0             ? pons_error_set(err, rc, WHERE, "no room for a transfer")
                                  : judge(easy, &t, code, detail, err);
        curl_multi_remove_handle(multi, easy);
    }
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    return rc;
}

static const pons__fetch_ops ops = {.get = get};
PONS_MODULE_EXPORT(PONS__FETCH_KIND, PONS__FETCH_NAME, &ops);
