// webhook.c - who wants to be told by HTTP that a run has ended.
//
//     a run with a webhook ends --> an item, in the write that ends it --> POST {run, values, error?}
//                                    ^     | 2xx: it goes
//                                    +-----+ else again, after a while, TRIES times in all
//
// What is to be told is in the store before the run's end is seen, so a server that dies tells it at its
// next start; who is told may be told twice, and knows the run by its id. A thread of its own, one request
// at a time: whoever is slow delays the others, and no run.
#include "serve/langgraph/webhook.h"

#include "pons/log.h"
#include "pons/out_of_memory.h"
#include "serve/access/worker_thread.h"
#include "serve/langgraph/langgraph_json.h"
#include "serve/runs/job_store.h"
#include "serve/runs/run_host.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 500, CONNECT_MS = 5000, WHOLE_MS = 15000, TRIES = 5, AGAIN_MS = 2000 };

#define URL_MAX   2000
#define REPLY_MAX 65536

struct pons__webhooks {
    pons_serve *s;
    void *client;   // the thread
    pons__thread t; // woken once: to end
    uint64_t calls;
    pons_value *owed; // [the thread] {run: what its item is to be, or null: gone}
};

// ---- whom ---------------------------------------------------------------------------------------

int pons__webhook_check(const pons_serve *s, const char *url, pons_error *err)
{
    pons_http_url split = {0};
    const bool web = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (!s->o.client) {
        return pons_error_set(err, PONS_EINVAL, PONS__SERVE,
                              "webhook: this server has no HTTP client (module http-curl)");
    }
    if (!web || strlen(url) > URL_MAX || s->o.client->url(url, "", &split, err) < 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__SERVE,
                              "webhook: an http or https address of at most %d bytes", URL_MAX);
    }
    free(split.url);
    free(split.shown);
    return PONS_OK;
}

// Where only machines of a cloud answer nobody is told anything.
static bool permit(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const uint32_t ip =
            ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
        return ip != 0 && ip >> 16 != 0xa9fe && ip >> 28 != 0xe && ip != 0xffffffff;
    }
    const struct in6_addr *ip = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(ip)) {
        struct sockaddr_in four = {.sin_family = AF_INET};
        memcpy(&four.sin_addr, &ip->s6_addr[12], sizeof four.sin_addr);
        return permit((const struct sockaddr *)&four);
    }
    return address->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(ip) &&
           !IN6_IS_ADDR_MULTICAST(ip) && !IN6_IS_ADDR_UNSPECIFIED(ip);
}

// ---- the thread ---------------------------------------------------------------------------------

static bool ending(const pons__webhooks *w, int ms)
{
    struct pollfd p = {.fd = w->t.wake, .events = POLLIN};
    return poll(&p, 1, ms) > 0;
}

static pons_value *body_of(const pons__webhooks *w, const pons_value *kept)
{
    const char *graph = pons_get_str(kept, "graph_id", "");
    const pons_serve_graph *g = pons__runhost_graph(w->s->host, graph);
    pons_autovalue snapshot = NULL;
    pons_error none = PONS_ERROR_INIT;
    const pons_value *error = pons_get(kept, "error");
    pons_state_snapshot(w->s->o.store, pons_get_str(kept, "thread_id", ""), g ? g->ns : "", NULL,
                        &snapshot, &none);
    pons_value *body = pons__lg_run(kept);
    json_object_set_new(body, "values", snapshot ? pons__lg_values(snapshot) : json_object());
    json_object_set_new(body, "error", error ? pons_value_ref(error) : json_null());
    json_object_set_new(body, "run_ended_at",
                        pons__lg_time_value(pons_get_int(kept, "updated_ms", 0)));
    json_object_set_new(body, "webhook_sent_at", pons__lg_time_value(pons_wall_ms(&w->s->o.clock)));
    return body;
}

static int post(pons__webhooks *w, const pons_value *kept)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    char *text = NULL;
    pons_autovalue body = body_of(w, kept);
    const long n = pons_value_line(body, &text);
    const pons_http_request r = {.method = "POST",
                                 .url = pons_get_str(pons_get(kept, "kwargs"), "webhook", ""),
                                 .headers = headers,
                                 .body = text,
                                 .body_n = n > 0 ? (size_t)n : 0,
                                 .proxy = "",
                                 .body_max = REPLY_MAX,
                                 .connect_ms = CONNECT_MS,
                                 .whole_ms = WHOLE_MS,
                                 .permit = permit};
    const int status =
        n > 0 ? pons_http_status(w->s->o.client, w->client, ++w->calls, &r, w->t.wake) : 0;
    free(text);
    return status;
}

// What the store could not take of a webhook is owed to it: nobody is told again before it has it.
static int write_down(pons__webhooks *w, const char *run, const pons_value *next)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_items *items = pons__runhost_items(w->s->host);
    return next ? pons__own_put(items, PONS__HOOKS, run, next, &err)
                : pons_items_delete(items, PONS__HOOKS, run, &err);
}

static void settle(pons__webhooks *w, const char *run, const pons_value *next)
{
    const int rc = write_down(w, run, next);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        json_object_set_new(w->owed, run, next ? pons_value_ref(next) : json_null());
    }
}

static void pay(pons__webhooks *w)
{
    const char *run;
    json_t *next;
    void *rest;
    json_object_foreach_safe(w->owed, rest, run, next) {
        const int rc = write_down(w, run, json_is_null(next) ? NULL : next);
        if (rc >= 0 || rc == PONS_ENOTFOUND) {
            json_object_del(w->owed, run);
        }
    }
}

static void tell(pons__webhooks *w, const pons_value *was)
{
    const char *run = pons_get_str(was, "run_id", "");
    const int64_t now = pons_wall_ms(&w->s->o.clock), tries = pons_get_int(was, "tries", 0) + 1;
    if (pons_get_int(was, "again_ms", 0) > now || json_object_get(w->owed, run)) {
        return;
    }
    const int status = post(w, was);
    const bool reported = status >= 200 && status < 300;
    if (ending(w, 0) && !reported) {
        return;
    }
    if (reported || tries >= TRIES) {
        settle(w, run, NULL);
    } else {
        pons_autovalue next = json_copy((pons_value *)(uintptr_t)was);
        json_object_set_new(next, "tries", json_integer(tries));
        json_object_set_new(next, "again_ms", json_integer(now + ((int64_t)AGAIN_MS << tries)));
        settle(w, run, next);
    }
    if (!reported) {
        pons_log(PONS_LOG_WARN, PONS__SERVE, "run %s: its webhook %s (%d of %d)", run,
                 status ? "refused it" : "cannot be reached", (int)tries, TRIES);
    }
}

static void *run(void *user)
{
    pons__webhooks *w = user;
    while (!ending(w, LOOK_MS)) {
        pons_autovalue due = NULL;
        pons_error err = PONS_ERROR_INIT;
        pay(w);
        pons__own_list(pons__runhost_items(w->s->host), PONS__HOOKS, &due, &err);
        pons_each(one, due) {
            if (ending(w, 0)) {
                break;
            }
            tell(w, one);
        }
    }
    return NULL;
}

// ---- life ---------------------------------------------------------------------------------------

int pons__webhooks_open(pons_serve *s, pons__webhooks **ret, pons_error *err)
{
    if (!s->o.client) {
        return PONS_OK;
    }
    pons__webhooks *w = pons_need_zeroed(1, sizeof *w);
    w->s = s;
    w->owed = json_object();
    int rc = s->o.client->open(NULL, NULL, &w->client, err);
    rc = rc < 0 ? rc : pons__thread_begin(&w->t, run, w, "for webhooks", err);
    if (rc < 0) {
        pons__webhooks_close(w);
        return rc;
    }
    *ret = w;
    return PONS_OK;
}

void pons__webhooks_close(pons__webhooks *w)
{
    if (!w) {
        return;
    }
    if (w->client) {
        pons__thread_fini(&w->t);
        w->s->o.client->close(w->client);
    }
    pons_value_unref(w->owed);
    free(w);
}
