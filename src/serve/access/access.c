// access.c - who may come in at all, before any route is looked for.
//
// In this order, for every route:
//
//     Host     exactly one, and one of ours: a page of somebody else's whose name was made to mean
//              this machine (DNS rebinding) says its own
//     Origin   none (a program), the page's own, or one that `--origin` admitted
//     Sec-Fetch-Site  where there is no Origin: none, or not another site's (a picture of a foreign
//              page that is this address); a link that a person follows is nobody's reading
//     body     only JSON, which no form of a foreign page can send without being asked about
//     token    `Authorization: Bearer` or `x-api-key`: whose role it is; none: nobody. A token that
//              is wrong is refused, also where none is needed: whoever shows one means it. A
//              WebSocket may have it in its address: `?token=`
//
// With open doors a client of this machine that shows none is an operator.
#include "serve/access/access.h"

#include "serve/access/reply.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SOCKET "/foxglove" // whose token may stand in the address

static bool listed(char *const *list, const char *what)
{
    for (; *list; list++) {
        if (strcasecmp(*list, what) == 0) {
            return true;
        }
    }
    return false;
}

// What a browser says of a request that has no Origin: another site's page made it. Ports do not tell
// sites apart, so the same site is another page, too.
static bool is_foreign(const pons__request *r)
{
    const pons_http_server_ops *http = r->s->http;
    const char *site = http->header(r->x, "Sec-Fetch-Site");
    const char *mode = http->header(r->x, "Sec-Fetch-Mode");
    const char *dest = http->header(r->x, "Sec-Fetch-Dest");
    if (!site || (http->header_count(r->x, "Sec-Fetch-Site") == 1 &&
                  (strcasecmp(site, "same-origin") == 0 || strcasecmp(site, "none") == 0))) {
        return false;
    }
    return strcmp(http->method(r->x), "GET") != 0 || !mode || strcasecmp(mode, "navigate") != 0 ||
           !dest || strcasecmp(dest, "document") != 0;
}

static bool host_and_origin(pons__request *r)
{
    const pons_http_server_ops *http = r->s->http;
    const char *host = http->header(r->x, "Host");
    const char *origin = http->header(r->x, "Origin");
    if (!atomic_load(&r->s->ready)) {
        pons__reply_error(r, 503, "the server is about to start");
        return false;
    }
    if (http->header_count(r->x, "Host") != 1 || !host || !listed(r->s->hosts, host)) {
        pons__reply_error(r, 403, "this server is not called %s (--host NAME adds a name)",
                          host ? host : "nothing");
        return false;
    }
    if (!origin && is_foreign(r)) {
        pons__reply_error(r, 403, "pages of other sites may not ask here");
        return false;
    }
    if (!origin) {
        return true;
    }
    if (http->header_count(r->x, "Origin") != 1 || !listed(r->s->origins, origin)) {
        pons__reply_error(r, 403, "pages of %s may not ask here (--origin URL admits them)",
                          origin);
        return false;
    }
    r->origin = origin;
    return true;
}

static bool is_loopback(const char *peer)
{
    return strcmp(peer, "::1") == 0 || strncmp(peer, "127.", 4) == 0;
}

static bool token(pons__request *r)
{
    static const char bearer[] = "Bearer ";
    const pons_http_server_ops *http = r->s->http;
    const char *shown = http->header(r->x, "x-api-key");
    const char *authorization = http->header(r->x, "Authorization");
    if (http->header_count(r->x, "x-api-key") > 1 ||
        http->header_count(r->x, "Authorization") > 1) {
        pons__reply_error(r, 401, "one token, not several"); // who reads on may not choose
        return false;
    }
    if (authorization) {
        if (strncasecmp(authorization, bearer, sizeof bearer - 1) != 0) {
            pons__reply_error(r, 401, "Authorization is `Bearer TOKEN`");
            return false;
        }
        shown = authorization + sizeof bearer - 1;
    }
    // A page's WebSocket has no headers of its own.
    if (!shown && strcmp(http->path(r->x), SOCKET) == 0 && http->header(r->x, "Upgrade")) {
        shown = http->query(r->x, "token");
    }
    r->role = pons__tokens_role(&r->s->tokens, shown);
    if (shown && *shown && r->role == PONS__NOBODY) {
        pons__reply_error(r, 401, "the token is not one of this server's");
        return false;
    }
    if (r->role == PONS__NOBODY && r->s->o.open_doors && is_loopback(http->peer(r->x))) {
        r->role = PONS__OPERATOR;
    }
    return true;
}

static bool body(pons__request *r)
{
    static const char json[] = "application/json";
    const pons_http_server_ops *http = r->s->http;
    const char *method = http->method(r->x);
    pons_error err = PONS_ERROR_INIT;
    size_t n = 0;
    const char *text = http->body(r->x, &n);
    if (strcmp(method, "POST") != 0 && strcmp(method, "PUT") != 0 && strcmp(method, "PATCH") != 0 &&
        strcmp(method, "DELETE") != 0) {
        return true;
    }
    if (n == 0) {
        return true;
    }
    const char *type = http->header(r->x, "Content-Type");
    const bool is_json = type && strncasecmp(type, json, sizeof json - 1) == 0 &&
                         strchr(" ;", type[sizeof json - 1]);
    if (!is_json) {
        pons__reply_error(r, 415, "the body has to be application/json");
        return false;
    }
    if (pons_value_parse(text, n, &r->body, &err) < 0) {
        pons__reply_error(r, 400, "body:%s: %s", err.source, err.message);
        return false;
    }
    return true;
}

void pons__door_begin(pons__request *r)
{
    static _Atomic unsigned long numbers;
    const unsigned long n = atomic_fetch_add(&numbers, 1) + 1;
    snprintf(r->id, sizeof r->id, "%.6s-%lx", r->s->boot_id, n & 0xffffffffUL);
}

bool pons__door_look(pons__request *r)
{
    size_t n = 0;
    const char *text = r->s->http->body(r->x, &n);
    if (!host_and_origin(r)) {
        return false;
    }
    if (n > 0) {
        pons_value_parse(text, n, &r->body, &(pons_error)PONS_ERROR_INIT);
    }
    return true;
}

bool pons__door_enter(pons__request *r)
{
    return host_and_origin(r) && token(r) && body(r);
}

void pons__door_preflight(pons__request *r)
{
    static const char *const headers[] = {
        "Access-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers: authorization, content-type, last-event-id, x-api-key, "
        "x-auth-scheme, mcp-session-id, mcp-protocol-version",
        "Access-Control-Max-Age: 600", NULL};
    if (!host_and_origin(r)) {
        return;
    }
    pons__reply_bytes(r, 204, "text/plain", headers, "", 0);
}
