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

static int host_and_origin(pons__request *r)
{
    const pons_http_server_ops *http = r->s->http;
    const char *host = http->header(r->x, "Host");
    const char *origin = http->header(r->x, "Origin");
    if (!atomic_load(&r->s->ready)) {
        return pons__reply_error(r, 503, "the server is about to start");
    }
    if (http->header_count(r->x, "Host") != 1 || !host || !listed(r->s->hosts, host)) {
        return pons__reply_error(r, 403, "this server is not called %s (--host NAME adds a name)",
                                 host ? host : "nothing");
    }
    if (!origin && is_foreign(r)) {
        return pons__reply_error(r, 403, "pages of other sites may not ask here");
    }
    if (!origin) {
        return PONS_OK;
    }
    if (http->header_count(r->x, "Origin") != 1 || !listed(r->s->origins, origin)) {
        return pons__reply_error(r, 403, "pages of %s may not ask here (--origin URL admits them)",
                                 origin);
    }
    r->origin = origin;
    return PONS_OK;
}

bool pons__is_loopback(const char *address)
{
    return strcmp(address, "::1") == 0 || strncmp(address, "127.", 4) == 0;
}

static int token(pons__request *r)
{
    static const char bearer[] = "Bearer ";
    const pons_http_server_ops *http = r->s->http;
    const char *shown = http->header(r->x, "x-api-key");
    const char *authorization = http->header(r->x, "Authorization");
    if (http->header_count(r->x, "x-api-key") > 1 ||
        http->header_count(r->x, "Authorization") > 1) {
        return pons__reply_error(r, 401, "one token, not several"); // who reads on may not choose
    }
    if (authorization) {
        if (strncasecmp(authorization, bearer, sizeof bearer - 1) != 0) {
            return pons__reply_error(r, 401, "Authorization is `Bearer TOKEN`");
        }
        shown = authorization + sizeof bearer - 1;
    }
    // A page's WebSocket has no headers of its own.
    if (!shown && strcmp(http->path(r->x), SOCKET) == 0 && http->header(r->x, "Upgrade")) {
        shown = http->query(r->x, "token");
    }
    r->role = pons__tokens_role(&r->s->tokens, shown);
    if (shown && *shown && r->role == PONS__NOBODY) {
        return pons__reply_error(r, 401, "the token is not one of this server's");
    }
    if (r->role == PONS__NOBODY && r->s->o.open_doors && pons__is_loopback(http->peer(r->x))) {
        r->role = PONS__OPERATOR;
    }
    return PONS_OK;
}

static int body(pons__request *r)
{
    static const char json[] = "application/json";
    const pons_http_server_ops *http = r->s->http;
    const char *method = http->method(r->x);
    size_t n = 0;
    const char *text = http->body(r->x, &n);
    if (n == 0 || (strcmp(method, "POST") != 0 && strcmp(method, "PUT") != 0 &&
                   strcmp(method, "PATCH") != 0 && strcmp(method, "DELETE") != 0)) {
        return PONS_OK;
    }
    const char *type = http->header(r->x, "Content-Type");
    const bool is_json = type && strncasecmp(type, json, sizeof json - 1) == 0 &&
                         strchr(" ;", type[sizeof json - 1]);
    if (!is_json) {
        return pons__reply_error(r, 415, "the body has to be application/json");
    }
    if (pons_value_parse(text, n, &r->body, &r->err) < 0) {
        return pons__reply_error(r, 400, "body:%s: %s", r->err.source, r->err.message);
    }
    return PONS_OK;
}

void pons__door_begin(pons__request *r)
{
    static _Atomic unsigned long numbers;
    const unsigned long n = atomic_fetch_add(&numbers, 1) + 1;
    snprintf(r->id, sizeof r->id, "%.6s-%lx", r->s->boot_id, n & 0xffffffffUL);
}

int pons__door_look(pons__request *r)
{
    size_t n = 0;
    const char *text = r->s->http->body(r->x, &n);
    const int rc = host_and_origin(r);
    if (rc >= 0 && n > 0) {
        pons_value_parse(text, n, &r->body, NULL);
    }
    return rc;
}

int pons__door_enter(pons__request *r)
{
    int rc = host_and_origin(r);
    rc = rc < 0 ? rc : token(r);
    return rc < 0 ? rc : body(r);
}

void pons__door_preflight(pons__request *r)
{
    static const char *const headers[] = {
        "Access-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers: authorization, content-type, last-event-id, x-api-key, "
        "x-auth-scheme, mcp-session-id, mcp-protocol-version",
        "Access-Control-Max-Age: 600", NULL};
    if (host_and_origin(r) >= 0) {
        pons__reply_bytes(r, 204, "text/plain", headers, "", 0);
    }
}
