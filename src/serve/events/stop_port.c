// stop_port.c - the Stop port: a server of its own, with its own thread and workers, which knows one word.
//
//     POST /stop {reason?}  ->  {"stopped":true,"latched":true}     when both have happened
//     GET  /ping            ->  {"ok":true,"ts_ms":…}
//
// A browser holds back a request when six connections to one port are in use, and six streams of
// events are six. So Stop has a port to itself, and nothing that the main port does (a client that
// is slow, a thousand that listen, a query that takes long) stands before it. Whoever may connect
// may stop, without a token: it is always allowed to make a robot stand. Whatever its body is, it stops; a reason that
// cannot be read is left out. The page of a foreign
// origin may not, since it would not even be noticed; a program has no origin.
#include "serve/events/stop_port.h"

#include "pons/buf.h"
#include "serve/access/access.h"
#include "serve/access/reply.h"
#include "serve/access/route.h"
#include "serve/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#define REASON_MAX 200

struct pons__stop_port {
    pons_serve *s;
    void *listener;
};

static int stop(pons__request *r)
{
    const pons_serve *s = r->s;
    char reason[REASON_MAX + 1], line[512];
    pons_utf8_copy(reason, sizeof reason, pons_get_str(r->body, "reason", ""));
    const int rc = s->o.host.stop(s->o.host.user, *reason ? reason : "the page", &r->err);
    if (rc < 0 && rc != PONS_EIO) {
        return rc;
    }
    return pons__reply_json(
        r, rc < 0 ? 500 : 200,
        pons_object("stopped", json_true(), "latched", json_boolean(rc >= 0), "detail",
                    json_string(rc < 0 ? pons_error_line(&r->err, line, sizeof line)
                                       : "the latch holds until a reset"),
                    NULL));
}

static int ping(pons__request *r)
{
    return pons__reply_json(r, 200,
                            pons_object("ok", json_true(), "ts_ms",
                                        json_integer((json_int_t)pons_wall_ms(&r->s->o.clock)),
                                        "boot_id", json_string(r->s->boot_id), NULL));
}

static const pons__route routes[] = {
    {"POST", "/stop", PONS__NOBODY, stop},
    {"GET", "/ping", PONS__NOBODY, ping},
    {NULL, NULL, PONS__NOBODY, NULL},
};

static void handle(void *user, pons_http_exchange *x)
{
    static const pons__route *const tables[] = {routes, NULL};
    pons__stop_port *p = user;
    pons__request r = {.s = p->s, .x = x};
    const int64_t from = pons_now_ns(&p->s->o.clock);
    pons__door_begin(&r);
    if (strcmp(p->s->http->method(x), "OPTIONS") == 0) {
        pons__door_preflight(&r);
    } else if (pons__door_look(&r) >= 0) {
        pons__route_request(&r, tables);
    }
    pons_value_unref(r.body);
    pons__metrics_request(p->s->metrics, true, r.status, pons_now_ns(&p->s->o.clock) - from);
}

int pons__stop_open(pons_serve *s, unsigned connections_max, pons__stop_port **ret, pons_error *err)
{
    pons__stop_port *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for the Stop port");
    }
    p->s = s;
    const pons_http_server_options o = {.address = s->o.address,
                                        .port = (uint16_t)s->stop_port,
                                        .certificate = s->o.certificate,
                                        .key = s->o.key,
                                        .workers = 2,
                                        .connections_max = connections_max,
                                        .body_max = 4096,
                                        .body_any = true,
                                        .head_ms = 3000,
                                        .body_ms = 3000,
                                        .idle_ms = 60000, // the page's ping keeps its way warm
                                        .handle = handle,
                                        .user = p};
    const int rc = s->http->open(&o, &p->listener, err);
    if (rc < 0) {
        free(p);
        return rc;
    }
    s->stop_port = s->http->port(p->listener);
    *ret = p;
    return PONS_OK;
}

void pons__stop_close(pons__stop_port *p)
{
    if (p) {
        p->s->http->close(p->listener);
        free(p);
    }
}
