// http_get.c - one GET by the HTTP client, bounded in time, bytes and redirects.
//
// A page may send its reader anywhere, and a name may mean another address at the next look-up. So
// the addresses of this machine and of private networks are refused where it counts: when the
// socket is about to be opened, for the first request as for every redirect, and again with the
// address that was connected to.
#include "tools/web/http_get.h"

#include "pons/buf.h"
#include "pons/ext/http.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define WHERE      "fetch"
#define CONNECT_MS 10000L

// ---- addresses (RFC 6890 and its registries) ----------------------------------------------------

typedef struct net {
    uint8_t bytes[16];
    int bits;
} net;

static bool within(const uint8_t *a, const net *n)
{
    const int whole = n->bits / 8, rest = n->bits % 8;
    return memcmp(a, n->bytes, (size_t)whole) == 0 &&
           (rest == 0 || ((a[whole] ^ n->bytes[whole]) >> (8 - rest)) == 0);
}

static bool among(const uint8_t *a, const net *nets, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (within(a, &nets[i])) {
            return true;
        }
    }
    return false;
}

// This machine's, private and special networks, documentation, broadcast, multicast, reserved.
static bool private_v4(const uint8_t a[4])
{
    static const net nets[] = {{{0}, 8},
                               {{10}, 8},
                               {{100, 64}, 10},
                               {{127}, 8},
                               {{169, 254}, 16},
                               {{172, 16}, 12},
                               {{192, 0, 0}, 24},
                               {{192, 0, 2}, 24},
                               {{192, 88, 99}, 24},
                               {{192, 168}, 16},
                               {{198, 18}, 15},
                               {{198, 51, 100}, 24},
                               {{203, 0, 113}, 24},
                               {{224}, 4},
                               {{240}, 4}};
    return among(a, nets, sizeof nets / sizeof nets[0]);
}

static bool private_v6(const uint8_t a[16])
{
    static const net nets[] = {{{0x01}, 64},                   // discard
                               {{0x20, 0x01}, 23},             // protocols, Teredo
                               {{0x20, 0x01, 0x0d, 0xb8}, 32}, // documentation
                               {{0x3f, 0xff}, 20},             // the same
                               {{0x5f}, 16},                   // segment routing
                               {{0xfc}, 7},                    // unique local
                               {{0xfe, 0x80}, 10},             // link local
                               {{0xfe, 0xc0}, 10},             // site local
                               {{0xff}, 8},                    // multicast
                               {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48}};
    return among(a, nets, sizeof nets / sizeof nets[0]);
}

// The IPv4 address that is written in an IPv6 one: ::, ::1 and the old form, mapped, NAT64, 6to4.
static const uint8_t *inner_v4(const uint8_t a[16])
{
    static const net tails[] = {{{0}, 96},
                                {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},
                                {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},
                                {{0, 0x64, 0xff, 0x9b}, 96}};
    static const net to4 = {{0x20, 0x02}, 16};
    return among(a, tails, sizeof tails / sizeof tails[0]) ? a + 12
           : within(a, &to4)                               ? a + 2
                                                           : NULL;
}

// Whether an interface of this machine has the address, or it is the broadcast one of its network.
// Addresses come and go, so they are asked for each time.
static bool own_address(int family, const uint8_t *a)
{
    struct ifaddrs *all = NULL;
    bool found = false;
    if (getifaddrs(&all) < 0) {
        return true; // it cannot be known
    }
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
        const struct sockaddr *const places[] = {
            i->ifa_addr, i->ifa_flags & IFF_BROADCAST ? i->ifa_broadaddr : NULL};
        for (size_t k = 0; k < sizeof places / sizeof places[0] && !found; k++) {
            if (!places[k] || places[k]->sa_family != family) {
                continue;
            }
            const void *at = places[k];
            found = family == AF_INET
                        ? memcmp(a, &((const struct sockaddr_in *)at)->sin_addr, 4) == 0
                        : memcmp(a, &((const struct sockaddr_in6 *)at)->sin6_addr, 16) == 0;
        }
    }
    freeifaddrs(all);
    return found;
}

static bool is_public(const struct sockaddr *a)
{
    const void *at = a;
    if (a->sa_family == AF_INET) {
        const uint8_t *v4 = (const uint8_t *)&((const struct sockaddr_in *)at)->sin_addr;
        return !private_v4(v4) && !own_address(AF_INET, v4);
    }
    if (a->sa_family != AF_INET6) {
        return false;
    }
    const uint8_t *v6 = ((const struct sockaddr_in6 *)at)->sin6_addr.s6_addr, *v4 = inner_v4(v6);
    return !private_v6(v6) && !own_address(AF_INET6, v6) &&
           !(v4 && (private_v4(v4) || own_address(AF_INET, v4)));
}

// ---- the transfer -------------------------------------------------------------------------------

static int failed(const pons_http_event *ev, pons_error *err)
{
    switch (ev->fault) {
    case PONS_HTTP_ADDRESS:
        return pons_error_set(err, PONS_EREFUSED, WHERE,
                              "%s is at %s, an address of this machine or its network", ev->url,
                              ev->data);
    case PONS_HTTP_SLOW_CONNECT:
    case PONS_HTTP_SLOW_WHOLE:
        return pons_error_set(err, PONS_ETIMEOUT, WHERE, "cannot fetch %s: %s", ev->url, ev->data);
    case PONS_HTTP_BAD_URL:
        return pons_error_set(err, PONS_EINVAL, WHERE, "cannot fetch %s: %s", ev->url, ev->data);
    case PONS_HTTP_BAD_SCHEME:
    case PONS_HTTP_REDIRECTS:
        return pons_error_set(err, PONS_EREFUSED, WHERE, "cannot fetch %s: %s", ev->url, ev->data);
    default:
        return pons_error_set(err, PONS_EIO, WHERE, "cannot fetch %s: %s", ev->url, ev->data);
    }
}

// Whether that was the last event; *ret is then how it ended.
static bool take(const pons_http_event *ev, pons__fetch_reply *reply, int *ret, pons_error *err)
{
    switch (ev->kind) {
    case PONS_HTTP_HEAD:
        reply->status = ev->status;
        snprintf(reply->url, sizeof reply->url, "%s", ev->url);
        pons_http_header(ev, "Content-Type", reply->type, sizeof reply->type);
        return false;
    case PONS_HTTP_DATA:
        *ret = pons_buf_bytes(&reply->body, ev->data, ev->n);
        return *ret < 0 && pons_error_set(err, *ret, WHERE, "no room for the page");
    case PONS_HTTP_END:
        *ret = PONS_OK;
        return true;
    case PONS_HTTP_FAILED:
        reply->truncated = ev->fault == PONS_HTTP_LONG_BODY;
        *ret = reply->truncated ? PONS_OK : failed(ev, err);
        return true;
    }
    return true;
}

// Waits until the transfer ends or the host has had enough.
static int drive(const pons_http_ops *http, void *client, int cancel_fd, pons__fetch_reply *reply,
                 pons_error *err)
{
    struct pollfd p[] = {{.fd = http->event_fd(client), .events = POLLIN},
                         {.fd = cancel_fd, .events = POLLIN}};
    for (;;) {
        pons_http_event ev;
        while (http->next(client, &ev)) {
            int rc = PONS_OK;
            const bool last = take(&ev, reply, &rc, err);
            pons_http_event_clear(&ev);
            if (last) {
                return rc;
            }
        }
        poll(p, sizeof p / sizeof *p, -1);
        if (p[1].revents) {
            return pons_error_set(err, PONS_ECANCELED, WHERE, "cancelled");
        }
    }
}

int pons__fetch(const pons__fetch_request *request, pons__fetch_reply *ret, pons_error *err)
{
    static const char *const want[] = {"Content-Type", NULL};
    const pons_http_ops *http = NULL;
    void *client = NULL;
    const pons_http_request r = {
        .url = request->url,
        .want = want,
        .proxy = request->proxy,
        .decode = true,
        .body_max = request->max_bytes,
        .redirects = request->redirects > 0 ? (unsigned)request->redirects : 0,
        .connect_ms = CONNECT_MS,
        .whole_ms = request->timeout_ms,
        .permit = request->private_ok || *request->proxy ? NULL : is_public};
    int rc = pons_http_load(&http, err);
    rc = rc < 0 ? rc : http->open(NULL, NULL, &client, err);
    rc = rc < 0 ? rc : http->start(client, 1, &r, err);
    rc = rc < 0 ? rc : drive(http, client, request->cancel_fd, ret, err);
    if (client) {
        http->close(client);
    }
    return rc;
}
