// curl_options.c - what libcurl is told of a call, and what it says.
//
//     start's thread: make -------------------------------> the shared thread's list
//     shared thread:  open_socket -> permit? a socket
//                     prereq      -> permit? connected
//                     on_header   -> the wanted lines, the limit
//                     on_body     -> the turn's bytes; stops reading while too much lies unread
//                     end of turn -> HEAD once, DATA; ends of calls before others' bytes
//
// A name that is being looked up cannot be given up without waiting for the look-up. So a call that
// was cancelled then stays with curl, unheard, until open_socket refuses it a socket.
#include "http/curl/curl_options.h"

#include "pons/clock.h"
#include "pons/out_of_memory.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define AGENT          "pons/" PONS_VERSION
#define NO_LIMIT_MS    (24 * 3600 * 1000L)
#define CURL_LATER_MS  1000 // curl's own limit of a connection comes after ours
#define SHOWN_PATH_MAX 2048

// ---- events -------------------------------------------------------------------------------------

void pons__transfer_emit(pons__transfer *t, pons_http_event ev, bool last)
{
    pons__http_queued q = {.event = ev, .of = t->client};
    q.event.call = t->id;
    q.event.user = t->user;
    t->client->unread += ev.kind == PONS_HTTP_DATA ? ev.n : 0;
    pons_event_queue_push(&t->client->events, t->id, &q, last);
    t->client->wants_turn = true;
}

static char *own_text(const char *s)
{
    char *copy = strdup(s);
    if (!copy) {
        pons_end_no_memory("a reply");
    }
    return copy;
}

static char *last_url(const pons__transfer *t)
{
    const char *url = NULL;
    curl_easy_getinfo(t->easy, CURLINFO_EFFECTIVE_URL, &url);
    return own_text(url ? url : "");
}

void pons__transfer_head(pons__transfer *t)
{
    long status = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (t->got_head || status == 0) {
        return;
    }
    t->got_head = true;
    pons__transfer_emit(t,
                        (pons_http_event){.kind = PONS_HTTP_HEAD,
                                          .status = (int)status,
                                          .url = last_url(t),
                                          .headers = own_text(t->kept.data ? t->kept.data : "")},
                        false);
}

void pons__transfer_flush(pons__transfer *t)
{
    size_t n = 0;
    if (t->turn.len == 0) {
        return;
    }
    pons__transfer_head(t);
    char *data = pons_buf_take(&t->turn, &n);
    if (!data) {
        pons_end_no_memory("a piece of a reply");
    }
    pons__transfer_emit(t, (pons_http_event){.kind = PONS_HTTP_DATA, .data = data, .n = n}, false);
}

void pons__transfer_fail(pons__transfer *t, pons_http_fault fault, const char *why)
{
    pons__transfer_emit(
        t,
        (pons_http_event){
            .kind = PONS_HTTP_FAILED, .fault = fault, .url = last_url(t), .data = own_text(why)},
        true);
}

static void found(pons__transfer *t, pons_http_fault fault)
{
    t->has_fault = true;
    t->fault = fault;
}

// ---- what libcurl says --------------------------------------------------------------------------

static void keep_header(pons__transfer *t, const char *line, size_t n, const char *name)
{
    const size_t len = strlen(name);
    if (n <= len || strncasecmp(line, name, len) != 0 || line[len] != ':') {
        return;
    }
    const char *at = line + len + 1, *end = line + n;
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    while (end > at && strchr(" \t\r\n", end[-1])) {
        end--;
    }
    pons_buf_printf(&t->kept, "%s:", name);
    pons_buf_bytes(&t->kept, at, (size_t)(end - at));
    pons_buf_byte(&t->kept, '\n');
}

static size_t on_header(char *line, size_t one, size_t n, void *user)
{
    pons__transfer *t = user;
    n *= one;
    if (t->cancelled) {
        return CURL_WRITEFUNC_ERROR;
    }
    if ((t->head_bytes += n) > PONS_HTTP_HEAD_MAX) {
        found(t, PONS_HTTP_LONG_HEAD);
        return CURL_WRITEFUNC_ERROR;
    }
    if (n > 5 && strncasecmp(line, "HTTP/", 5) == 0) { // a reply: what an interim one said is over
        pons_buf_clear(&t->kept);
        t->is_redirect = false;
    }
    for (const char *const *w = t->want; w && *w; w++) {
        keep_header(t, line, n, *w);
    }
    if (t->kept.failed) {
        pons_end_no_memory("the head of a reply");
    }
    if (t->redirects_max > 0 && n > 9 && strncasecmp(line, "location:", 9) == 0) {
        long status = 0;
        curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
        t->is_redirect = status / 100 == 3;
    }
    return n;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    pons__transfer *t = user;
    n *= one;
    if (t->cancelled) {
        return CURL_WRITEFUNC_ERROR;
    }
    if (t->is_redirect) { // of which only where it goes is of interest
        return n;
    }
    if (!t->decode && t->client->unread + t->turn.len >= PONS_HTTP_UNREAD_MAX) {
        t->paused = true;
        t->client->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    const size_t room = t->body_max ? t->body_max - t->received : n;
    const size_t some = n < room ? n : room;
    t->got_byte = true;
    t->received += some;
    pons_clock clock = pons_clock_real();
    t->last_ms = pons_now_ms(&clock);
    if (pons_buf_bytes(&t->turn, bytes, some) != PONS_OK) {
        pons_end_no_memory("a piece of a reply");
    }
    if (some < n) {
        found(t, PONS_HTTP_LONG_BODY);
        return CURL_WRITEFUNC_ERROR;
    }
    return n;
}

static bool permitted(pons__transfer *t, const struct sockaddr *a)
{
    if (!t->permit || t->permit(a)) {
        return true;
    }
    const void *at = a;
    const void *raw = a->sa_family == AF_INET
                          ? (const void *)&((const struct sockaddr_in *)at)->sin_addr
                          : (const void *)&((const struct sockaddr_in6 *)at)->sin6_addr;
    if (!inet_ntop(a->sa_family, raw, t->address, sizeof t->address)) {
        snprintf(t->address, sizeof t->address, "a local address");
    }
    found(t, PONS_HTTP_ADDRESS);
    return false;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *a)
{
    pons__transfer *t = user;
    t->resolving = false;
    if (t->cancelled || !permitted(t, &a->addr)) {
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

// A connection is there and nothing has been sent on it, however it came about.
static int prereq(void *user, char *address, char *local, int port, int local_port)
{
    pons__transfer *t = user;
    (void)local, (void)local_port;
    t->resolving = false;
    t->connected = true;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const void *at = inet_pton(AF_INET, address, &v4.sin_addr) == 1     ? (const void *)&v4
                     : inet_pton(AF_INET6, address, &v6.sin6_addr) == 1 ? (const void *)&v6
                                                                        : NULL;
    if (t->permit && !at) {
        found(t, PONS_HTTP_ADDRESS);
        snprintf(t->address, sizeof t->address, "an unknown address");
    }
    const bool ok = !t->cancelled && (!t->permit || (at && permitted(t, at)));
    return ok ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

pons_http_fault pons__transfer_fault(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return PONS_HTTP_UNREACHABLE;
    case CURLE_SSL_CONNECT_ERROR:
        return PONS_HTTP_TLS;
    case CURLE_PEER_FAILED_VERIFICATION:
        return PONS_HTTP_UNTRUSTED;
    case CURLE_OPERATION_TIMEDOUT: // of the connection: no other limit is curl's
        return PONS_HTTP_SLOW_CONNECT;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return PONS_HTTP_LOST;
    case CURLE_URL_MALFORMAT:
        return PONS_HTTP_BAD_URL;
    case CURLE_UNSUPPORTED_PROTOCOL:
        return PONS_HTTP_BAD_SCHEME;
    default:
        return PONS_HTTP_BROKEN;
    }
}

// ---- making -------------------------------------------------------------------------------------

#define SET(option, value) (curl_easy_setopt(t->easy, option, value) == CURLE_OK)

static bool add_header(pons__transfer *t, const char *line)
{
    struct curl_slist *more = curl_slist_append(t->headers, line);
    t->headers = more ? more : t->headers;
    return more != NULL;
}

static bool make_headers(pons__transfer *t, const pons_http_request *r)
{
    bool ok = !r->body || add_header(t, "Expect:"); // a body is sent at once
    for (const char *const *h = r->headers; h && *h; h++) {
        ok = ok && add_header(t, *h);
    }
    return ok;
}

// Whether the address names this machine, which a proxy cannot reach.
static bool is_loopback(const char *url)
{
    CURLU *u = curl_url();
    char *host = NULL;
    bool is = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
              curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
              (strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
               strcmp(host, "[::1]") == 0);
    curl_free(host);
    curl_url_cleanup(u);
    return is;
}

static bool set_connection(pons__transfer *t, const pons_http_request *r)
{
    const char *proxy = r->proxy ? r->proxy : is_loopback(r->url) ? "" : NULL;
    bool ok = !proxy || SET(CURLOPT_PROXY, proxy);
    if (r->ca_file) {
        ok = ok && SET(CURLOPT_CAINFO, r->ca_file) && SET(CURLOPT_CAPATH, NULL);
    }
    if (r->permit) { // a connection that somebody else was permitted is not this one's
        ok = ok && SET(CURLOPT_FRESH_CONNECT, 1L) && SET(CURLOPT_FORBID_REUSE, 1L);
    }
    return ok;
}

static bool set_request(pons__transfer *t, const pons_http_request *r)
{
    const int64_t connect = r->connect_ms ? r->connect_ms + CURL_LATER_MS : NO_LIMIT_MS;
    bool ok = SET(CURLOPT_URL, r->url) && SET(CURLOPT_HTTPHEADER, t->headers) &&
              SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(connect < NO_LIMIT_MS ? connect : NO_LIMIT_MS));
    if (r->body) {
        ok = ok && SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_n) &&
             SET(CURLOPT_COPYPOSTFIELDS, r->body);
    }
    ok = ok && (!r->method || SET(CURLOPT_CUSTOMREQUEST, r->method));
    // A server that packs what was to come as it is, is unpacked too.
    return ok && SET(CURLOPT_ACCEPT_ENCODING, r->decode ? "" : "identity") && set_connection(t, r);
}

static bool set_callbacks(pons__transfer *t)
{
    return SET(CURLOPT_PROTOCOLS_STR, "http,https") && SET(CURLOPT_FOLLOWLOCATION, 0L) &&
           SET(CURLOPT_NOSIGNAL, 1L) && SET(CURLOPT_USERAGENT, AGENT) &&
           SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) && SET(CURLOPT_PRIVATE, t) &&
           SET(CURLOPT_ERRORBUFFER, t->detail) && SET(CURLOPT_HEADERFUNCTION, on_header) &&
           SET(CURLOPT_HEADERDATA, t) && SET(CURLOPT_WRITEFUNCTION, on_body) &&
           SET(CURLOPT_WRITEDATA, t) && SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) &&
           SET(CURLOPT_OPENSOCKETDATA, t) && SET(CURLOPT_PREREQFUNCTION, prereq) &&
           SET(CURLOPT_PREREQDATA, t);
}

int pons__transfer_make(const pons_http_request *r, pons__transfer **ret, pons_error *err)
{
    const bool bare = !r->body && !r->headers && (!r->method || strcmp(r->method, "GET") == 0);
    if (!r->url || !*r->url || (r->decode && !r->body_max) || (r->redirects && !bare)) {
        return pons_error_set(err, PONS_EINVAL, PONS__HTTP, "not a request that can be made");
    }
    pons__transfer *t = calloc(1, sizeof *t);
    *ret = t;
    if (!t || !(t->easy = curl_easy_init()) || !make_headers(t, r) || !set_callbacks(t) ||
        !set_request(t, r)) {
        return pons_error_set(err, PONS_ENOMEM, PONS__HTTP, "no room for a request");
    }
    t->user = r->user;
    t->want = r->want;
    t->permit = r->permit;
    t->body_max = r->body_max;
    t->decode = r->decode;
    t->redirects_max = r->redirects;
    t->connect_ms = r->connect_ms;
    t->start_ms = r->start_ms;
    t->next_ms = r->next_ms;
    t->whole_ms = r->whole_ms;
    return PONS_OK;
}

void pons__transfer_free(pons__transfer *t)
{
    if (!t) {
        return;
    }
    curl_easy_cleanup(t->easy);
    for (struct curl_slist *h = t->headers; h; h = h->next) { // a key may be among them
        explicit_bzero(h->data, strlen(h->data));
    }
    curl_slist_free_all(t->headers);
    pons_buf_fini(&t->kept);
    pons_buf_fini(&t->turn);
    free(t);
}

// Each redirect is a request of its own, so that all that is judged of the first is judged of it.
bool pons__transfer_redirect(pons__transfer *t)
{
    char *to = NULL;
    curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &to);
    char *own = to ? strdup(to) : NULL;
    const bool ok = own && SET(CURLOPT_URL, own);
    free(own);
    t->redirects++;
    t->added = t->resolving = t->connected = t->is_redirect = false;
    t->head_bytes = 0;
    t->detail[0] = '\0';
    pons_buf_clear(&t->kept);
    return ok;
}

// ---- addresses ----------------------------------------------------------------------------------

static bool get_part(CURLU *u, CURLUPart part, char **ret)
{
    return curl_url_get(u, part, ret, 0) == CURLUE_OK;
}

// Puts the tail behind the path and takes the fragment away.
static bool lengthen(CURLU *u, const char *tail)
{
    char joined[SHOWN_PATH_MAX], *path = NULL;
    if (!get_part(u, CURLUPART_PATH, &path)) {
        return false;
    }
    size_t n = strlen(path);
    const size_t tail_n = strlen(tail);
    while (n > 0 && path[n - 1] == '/') {
        n--;
    }
    const bool whole = n >= tail_n && memcmp(path + n - tail_n, tail, tail_n) == 0;
    const bool fits = n + tail_n < sizeof joined;
    if (fits) {
        snprintf(joined, sizeof joined, "%.*s%s", (int)n, path, whole ? "" : tail);
    }
    curl_free(path);
    return fits && curl_url_set(u, CURLUPART_PATH, joined, 0) == CURLUE_OK &&
           curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK;
}

int pons__http_url(const char *url, const char *tail, pons_http_url *ret, pons_error *err)
{
    CURLU *u = curl_url();
    char *scheme = NULL, *host = NULL, *full = NULL, *shown = NULL;
    const bool ok = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
                    get_part(u, CURLUPART_SCHEME, &scheme) && get_part(u, CURLUPART_HOST, &host) &&
                    (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
                    lengthen(u, tail) && get_part(u, CURLUPART_URL, &full) &&
                    curl_url_set(u, CURLUPART_USER, NULL, 0) == CURLUE_OK &&
                    curl_url_set(u, CURLUPART_PASSWORD, NULL, 0) == CURLUE_OK &&
                    curl_url_set(u, CURLUPART_QUERY, NULL, 0) == CURLUE_OK &&
                    get_part(u, CURLUPART_URL, &shown);
    int rc =
        ok ? PONS_OK : pons_error_set(err, PONS_EINVAL, PONS__HTTP, "not an http or https address");
    if (ok) {
        *ret = (pons_http_url){.url = strdup(full), .shown = strdup(shown)};
        if (!ret->url || !ret->shown) {
            free(ret->url);
            free(ret->shown);
            rc = pons_error_set(err, PONS_ENOMEM, PONS__HTTP, "no room for an address");
        }
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(full);
    curl_free(shown);
    curl_url_cleanup(u);
    return rc;
}
