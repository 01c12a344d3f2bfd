// crons.c - runs that begin by the clock.
//
//     POST /runs/crons, /threads/T/runs/crons      GET, PATCH, DELETE /runs/crons/C
//     POST /runs/crons/search, /runs/crons/count
//
// A cron is an item with what its runs are asked with, and when the next one is due. The run host's
// watcher looks once a second: the run of what is due is submitted, then its next time is written. The
// run's id is made of the cron's and the time, and one that was taken is not taken again, so a server
// that is killed between the two begins it once. One that was due while no server ran begins at the
// next start, once.
#include "pons/log.h"
#include "pons/schedule.h"
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/list_page.h"
#include "serve/langgraph/run_request.h"
#include "serve/langgraph/thread_ttl.h"
#include "serve/runs/job_store.h"

#include <stdio.h>

#define SPACE PONS__OWN ".crons"

static pons_value *shown(const pons_value *c)
{
    static const char *const same[] = {"cron_id",  "assistant_id",     "thread_id", "schedule",
                                       "end_time", "timezone",         "payload",   "metadata",
                                       "enabled",  "on_run_completed", NULL};
    return pons__lg_put_all(
        pons_object("user_id", json_string(""), "next_run_date",
                    pons__lg_time_value(pons_get_int(c, "next_ms", 0)), "created_at",
                    pons__lg_time_value(pons_get_int(c, "created_ms", 0)), "updated_at",
                    pons__lg_time_value(pons_get_int(c, "updated_ms", 0)), NULL),
        c, same);
}

static int keep(pons_serve *s, const pons_value *c, pons_error *err)
{
    return pons__own_put(pons__runhost_items(s->host), SPACE, pons_get_str(c, "cron_id", ""), c,
                         err);
}

// When it is due after that; 0: never again.
static int next_of(const pons_value *c, int64_t after_ms, int64_t *ret, pons_error *err)
{
    pons_schedule when;
    pons_zone *zone = NULL;
    int64_t end = 0;
    const char *until = pons_get_str(c, "end_time", NULL);
    int rc = pons_zone_open(pons_get_str(c, "timezone", "UTC"), &zone, err);
    rc = rc < 0 ? rc
                : pons_schedule_read(pons_get_str(c, "schedule", ""),
                                     pons_get_int(c, "created_ms", 0), zone, &when, err);
    if (rc >= 0 && until && !pons__lg_time_read(until, &end)) {
        rc = pons_error_set(err, PONS_EINVAL, PONS__SERVE,
                            "end_time: a time like 2027-01-31T12:00:00Z");
    }
    if (rc >= 0) {
        *ret = pons_schedule_next(&when, zone, after_ms);
        *ret = (until && *ret > end) || !pons_get_bool(c, "enabled", true) ? 0 : *ret;
    }
    pons_zone_close(zone);
    return rc;
}

// ---- the clock ----------------------------------------------------------------------------------

// An id that is the same for the same words, as RFC 9562 has it: version 8.
static void id_of(const char *what, const pons_value *c, char ret[PONS__UUID])
{
    char h[33];
    pons_autovalue words =
        pons_object("what", json_string(what), "cron", pons__lg_or_null(pons_get(c, "cron_id")),
                    "due", pons__lg_or_null(pons_get(c, "next_ms")), NULL);
    pons_value_hash(words, h);
    snprintf(ret, PONS__UUID, "%.8s-%.4s-8%.3s-a%.3s-%.12s", h, h + 8, h + 13, h + 17, h + 20);
}

static int fire(pons_serve *s, const pons_value *c, pons_error *err)
{
    char id[PONS__UUID], own[PONS__UUID];
    pons_autovalue run = NULL;
    pons_autovalue body = json_copy((pons_value *)(uintptr_t)pons_get(c, "payload"));
    pons_autovalue metadata = json_copy((pons_value *)(uintptr_t)pons_get(c, "metadata"));
    json_object_set_new(metadata, "cron_id", pons__lg_or_null(pons_get(c, "cron_id")));
    json_object_set_new(body, "assistant_id", pons__lg_or_null(pons_get(c, "assistant_id")));
    json_object_set_new(body, "metadata", pons_value_ref(metadata));
    json_object_set_new(body, "on_completion", pons__lg_or_null(pons_get(c, "on_run_completed")));
    id_of("run", c, id);
    id_of("thread", c, own);
    return pons__lg_submit(s, pons_get_str(c, "thread_id", NULL), body, id, own, &run, err);
}

static void look(pons_serve *s, const pons_value *was, int64_t now)
{
    const int64_t due = pons_get_int(was, "next_ms", 0);
    pons_error err = PONS_ERROR_INIT;
    int64_t next = 0;
    if (due == 0 || due > now) {
        return;
    }
    pons_autovalue c = json_copy((pons_value *)(uintptr_t)was);
    const int began = fire(s, was, &err); // what cannot begin does not begin again each second,
    if (began == PONS_EIO) {              // but what the store cannot take stays due
        pons_log(PONS_LOG_DEBUG, PONS__SERVE, "cron %s: %s", pons_get_str(c, "cron_id", ""),
                 err.message);
        return;
    }
    int rc = next_of(c, now, &next, began < 0 ? &(pons_error)PONS_ERROR_INIT : &err);
    json_object_set_new(c, "next_ms", json_integer(next));
    rc = rc < 0 ? rc : keep(s, c, &err);
    rc = rc < 0 ? rc : began;
    if (rc < 0) {
        pons_log(PONS_LOG_WARN, PONS__SERVE, "cron %s: %s", pons_get_str(c, "cron_id", ""),
                 err.message);
    }
}

static void on_tick(pons_serve *s)
{
    pons_autovalue crons = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons__own_list(pons__runhost_items(s->host), SPACE, &crons, &err) < 0) {
        pons_log(PONS_LOG_WARN, PONS__SERVE, "%s", err.message);
        return;
    }
    pons_each(one, crons) {
        look(s, one, pons_wall_ms(&s->o.clock));
    }
    pons__ttl_sweep(s);
}

void pons__lg_crons_begin(pons_serve *s)
{
    pons__runhost_each(s->host, on_tick);
}

// ---- making -------------------------------------------------------------------------------------

// What its runs are asked with.
static const char *const asked[] = {"input",           "command",
                                    "config",          "context",
                                    "webhook",         "interrupt_before",
                                    "interrupt_after", "multitask_strategy",
                                    "stream_mode",     "stream_subgraphs",
                                    "durability",      "checkpoint_during",
                                    "if_not_exists",   NULL};

static void take_over(pons_value *payload, const pons_value *body)
{
    for (size_t i = 0; asked[i]; i++) {
        const pons_value *v = pons_get(body, asked[i]);
        if (v && !json_is_null(v)) {
            json_object_set_new(payload, asked[i], pons_value_ref(v));
        }
    }
}

// When a cron that was made or changed is due, then it is kept and shown.
static int settle(pons__request *r, pons_value *c, int64_t now)
{
    int64_t next = 0;
    pons__order order;
    int rc = pons__order_read(pons_get(c, "payload"), &order, &r->err);
    rc = rc < 0 ? rc : next_of(c, now, &next, &r->err);
    json_object_set_new(c, "next_ms", json_integer(next));
    rc = rc < 0 ? rc : keep(r->s, c, &r->err);
    return rc < 0 ? rc : pons__reply_json(r, 200, shown(c));
}

static int create(pons__request *r)
{
    pons_autovalue a = NULL;
    const char *thread = r->n_args > 0 ? r->args[0] : NULL;
    char id[PONS__UUID];
    const pons_value *m = pons_get(r->body, "metadata"), *end = pons_get(r->body, "end_time");
    const int64_t now = pons_wall_ms(&r->s->o.clock);
    if ((thread && pons__lg_thread_there(r) < 0) ||
        pons__lg_assistant(r->s, pons_get_str(r->body, "assistant_id", ""), &a, &r->err) < 0) {
        return r->err.status;
    }
    pons_value *payload = json_object();
    take_over(payload, r->body);
    pons__uuid(now, id);
    pons_autovalue c = pons_object(
        "cron_id", json_string(id), "assistant_id", pons_value_ref(pons_get(a, "assistant_id")),
        "thread_id", thread ? json_string(thread) : json_null(), "schedule",
        json_string(pons_get_str(r->body, "schedule", "")), "timezone",
        pons__lg_or_null(pons_get(r->body, "timezone")), "end_time", pons__lg_or_null(end),
        "payload", payload, "metadata", json_is_object(m) ? pons_value_ref(m) : json_object(),
        "on_run_completed", json_string(pons_get_str(r->body, "on_run_completed", "delete")),
        "enabled", json_boolean(pons_get_bool(r->body, "enabled", true)), "created_ms",
        json_integer(now), "updated_ms", json_integer(now), NULL);
    return settle(r, c, now);
}

// NULL: there is none (answered, or r->err).
static pons_value *find(pons__request *r)
{
    pons_value *c = NULL;
    if (pons__own_get(pons__runhost_items(r->s->host), SPACE, r->args[0], &c, &r->err) ==
        PONS_ENOTFOUND) {
        pons__reply_error(r, 404, "there is no cron %s", r->args[0]);
    }
    return c;
}

static int get(pons__request *r)
{
    pons_autovalue c = find(r);
    return c ? pons__reply_json(r, 200, shown(c)) : r->err.status;
}

static int change(pons__request *r)
{
    static const char *const own[] = {"schedule", "timezone",         "end_time", "metadata",
                                      "enabled",  "on_run_completed", NULL};
    pons_autovalue was = find(r);
    const int64_t now = pons_wall_ms(&r->s->o.clock);
    if (!was) {
        return r->err.status;
    }
    pons_autovalue c = pons__lg_put_some(json_deep_copy(was), r->body, own);
    take_over(json_object_get(c, "payload"), r->body);
    json_object_set_new(c, "updated_ms", json_integer(now));
    return settle(r, c, now);
}

static int forget(pons__request *r)
{
    pons_autovalue c = find(r);
    if (!c || pons_items_delete(pons__runhost_items(r->s->host), SPACE, r->args[0], &r->err) < 0) {
        return r->err.status;
    }
    return pons__reply_json(r, 200, json_object());
}

// ---- looking ------------------------------------------------------------------------------------

static bool same(const pons_value *c, const pons_value *q, const char *member)
{
    const pons_value *wanted = pons_get(q, member);
    return !wanted || json_is_null(wanted) || json_equal(pons_get(c, member), wanted);
}

static int search(pons__request *r)
{
    pons_autovalue crons = NULL;
    pons_autovalue found = json_array();
    const pons_value *m = pons_get(r->body, "metadata");
    if (pons__own_list(pons__runhost_items(r->s->host), SPACE, &crons, &r->err) < 0) {
        return r->err.status;
    }
    pons_each(c, crons) {
        if (same(c, r->body, "assistant_id") && same(c, r->body, "thread_id") &&
            same(c, r->body, "enabled") &&
            (!json_is_object(m) || pons_items_fits(pons_get(c, "metadata"), m))) {
            json_array_append_new(found, shown(c));
        }
    }
    return pons__lg_reply_asked(r, found, "created_at");
}

const pons__route pons__lg_cron_routes[] = {
    {"POST", "/runs/crons", PONS__OPERATOR, create},
    {"POST", "/threads/*/runs/crons", PONS__OPERATOR, create},
    {"POST", "/runs/crons/search", PONS__VIEWER, search},
    {"POST", "/runs/crons/count", PONS__VIEWER, search, .word = "count"},
    {"GET", "/runs/crons/*", PONS__VIEWER, get},
    {"PATCH", "/runs/crons/*", PONS__OPERATOR, change},
    {"DELETE", "/runs/crons/*", PONS__OPERATOR, forget},
    {NULL, NULL, PONS__NOBODY, NULL},
};
