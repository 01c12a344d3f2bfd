// reply.c - answers: JSON, an error, a stream of events.
//
// Every reply carries what a browser must know: what may be loaded beside it (CSP), that its type is
// what it says, that nothing is kept, who may read it (CORS, for the origins that were admitted and
// for no other), and the request's id, which stands in the log beside every refusal.
#include "serve/access/reply.h"

#include "pons/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX 20
#define HEADER_MAX  640
#define DETAIL_MAX  1024
#define FULL        "disk full" // the stores' word for it

typedef struct headers {
    char text[HEADERS_MAX][HEADER_MAX];
    const char *list[HEADERS_MAX + 1];
    size_t n;
} headers;

__attribute__((format(printf, 2, 3))) static void add(headers *h, const char *fmt, ...)
{
    va_list ap;
    if (h->n >= HEADERS_MAX) {
        return;
    }
    va_start(ap, fmt);
    const int n = vsnprintf(h->text[h->n], HEADER_MAX, fmt, ap);
    va_end(ap);
    if (n > 0 && n < HEADER_MAX && !strpbrk(h->text[h->n], "\r\n")) {
        h->list[h->n] = h->text[h->n];
        h->n++;
        h->list[h->n] = NULL;
    }
}

static void usual(headers *h, const pons__request *r, const char *type, const char *const *more)
{
    const char *ports = r->s->o.certificate ? "https" : "http";
    bool caching = false;
    h->n = 0;
    h->list[0] = NULL;
    add(h, "Content-Type: %s", type);
    add(h, "X-Request-Id: %s", r->id);
    add(h, "X-Content-Type-Options: nosniff");
    add(h, "Referrer-Policy: no-referrer");
    add(h, "X-Frame-Options: DENY");
    add(h,
        "Content-Security-Policy: default-src 'self'; connect-src 'self' %s://*:%d; img-src 'self' "
        "data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; "
        "frame-ancestors 'none'; form-action 'none'",
        ports, r->s->stop_port);
    if (r->origin) {
        add(h, "Access-Control-Allow-Origin: %s", r->origin);
        add(h, "Access-Control-Expose-Headers: Content-Location, Location, X-Request-Id, "
               "X-Pagination-Total, X-Pagination-Next, Mcp-Session-Id");
        add(h, "Vary: Origin");
    }
    for (size_t i = 0; more && more[i]; i++) {
        caching |= strncmp(more[i], "Cache-Control:", strlen("Cache-Control:")) == 0;
        add(h, "%s", more[i]);
    }
    if (!caching) {
        add(h, "Cache-Control: no-store");
    }
}

int pons__reply_bytes(pons__request *r, int status, const char *type, const char *const *more,
                      const void *data, size_t n)
{
    headers h;
    usual(&h, r, type, more);
    r->status = status;
    r->s->http->reply(r->x, status, h.list, data, n);
    return PONS_OK;
}

int pons__reply_done(pons__request *r)
{
    return pons__reply_bytes(r, 204, "application/json", NULL, "", 0);
}

// Takes the value. otherwise: what is said without memory for it; NULL: that.
static int send_value(pons__request *r, int status, const char *const *more, pons_value *value,
                      const char *otherwise)
{
    char *text = NULL;
    const long n = value ? pons_value_line(value, &text) : 0;
    pons_value_unref(value);
    if (n < 0 && !otherwise) {
        return pons__reply_error(r, 500, "no memory for the reply");
    }
    otherwise = value ? otherwise : "null";
    const char *said = n > 0 ? text : otherwise;
    pons__reply_bytes(r, status, "application/json", more, said, strlen(said));
    free(text);
    return PONS_OK;
}

int pons__reply_json(pons__request *r, int status, pons_value *value)
{
    return send_value(r, status, NULL, value, NULL);
}

int pons__reply_value(pons__request *r, const char *const *more, pons_value *value)
{
    return send_value(r, 200, more, value, NULL);
}

int pons__reply_error(pons__request *r, int status, const char *fmt, ...)
{
    static const char *const unauthorized[] = {"WWW-Authenticate: Bearer", NULL};
    char detail[DETAIL_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    pons_log(status >= 500 ? PONS_LOG_WARN : PONS_LOG_INFO, PONS__SERVE, "%s %s %s from %s: %d %s",
             r->id, r->s->http->method(r->x), r->s->http->path(r->x), r->s->http->peer(r->x),
             status, detail);
    send_value(r, status, status == 401 ? unauthorized : NULL,
               pons_object("detail", json_stringn_nocheck(detail, strlen(detail)), NULL), "{}");
    return PONS_EREFUSED;
}

int pons__reply_wrong(pons__request *r, const char *where, const char *message)
{
    return pons__reply_error(r, 422, "%s: %s", where, message);
}

int pons__reply_fault(pons__request *r)
{
    const pons_error *err = &r->err;
    static const struct {
        int rc, status;
    } map[] = {
        {PONS_EINVAL, 422},   {PONS_ENOTFOUND, 404},    {PONS_EEXIST, 409},
        {PONS_EBUSY, 409},    {PONS_ESTALE, 409},       {PONS_ENOTPENDING, 409},
        {PONS_EREFUSED, 403}, {PONS_EUNSUPPORTED, 422}, {PONS_EAMBIGUOUS, 422},
        {PONS_ETIMEOUT, 504}, {PONS_ECLOSED, 503},      {PONS_EENV, 503},
        {PONS_EAGAIN, 503},
    };
    // A store that cannot write now: the client may come again when there is room.
    const bool stored = err->status == PONS_EIO && strcmp(err->module, "store") == 0;
    const bool full = stored && strncmp(err->cause, FULL, strlen(FULL)) == 0;
    int status = full ? 507 : stored ? 503 : 500;
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++) {
        status = map[i].rc == err->status ? map[i].status : status;
    }
    char line[DETAIL_MAX];
    return pons__reply_error(r, status, "%s", pons_error_line(err, line, sizeof line));
}

int pons__reply_result(pons__request *r, int rc, pons_value *value)
{
    if (rc < 0) {
        pons_value_unref(value);
        return rc;
    }
    return pons__reply_json(r, 200, value);
}

pons_http_stream *pons__reply_events(pons__request *r, const char *const *more)
{
    return pons__reply_stream(r, "text/event-stream", more);
}

pons_http_stream *pons__reply_stream(pons__request *r, const char *type, const char *const *more)
{
    headers h;
    usual(&h, r, type, more);
    add(&h, "X-Accel-Buffering: no");
    r->status = 200;
    return r->s->http->stream(r->x, 200, h.list);
}

void pons__buf_value(pons_buf *b, const pons_value *value)
{
    char *text = NULL;
    const long n = pons_value_line(value, &text);
    b->failed |= n < 0;
    pons_buf_bytes(b, text, n < 0 ? 0 : (size_t)n);
    free(text);
}

bool pons__stream_value(const pons_serve *s, pons_http_stream *stream, const char *before,
                        pons_value *value, const char *after)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_str(&b, before);
    pons__buf_value(&b, value);
    pons_buf_str(&b, after);
    pons_value_unref(value);
    return !b.failed && s->http->stream_write(stream, b.data, b.len) >= 0;
}
