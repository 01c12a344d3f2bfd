// runs.c - runs: asked for, looked at, waited for, canceled, deleted.
//
//     POST /threads/T/runs, /runs/stream, /runs/wait         on a thread
//     POST /runs, /runs/stream, /runs/wait, /runs/batch      on a thread of their own, which goes with them
//     GET  /threads/T/runs      GET, DELETE /threads/T/runs/R
//     POST /threads/T/runs/R/cancel?wait&action     POST /runs/cancel
//     GET  /threads/T/runs/R/join      GET /threads/T/runs/R/stream      GET /threads/T/stream
//
// A run that is asked for is in the store when the answer begins.
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/run_request.h"
#include "serve/langgraph/run_stream.h"

#include <string.h>

enum { LIMIT = 10 };

// ---- asking for one -----------------------------------------------------------------------------

static const char *thread_of(const pons__request *r)
{
    return r->n_args > 0 ? r->args[0] : NULL;
}

// NULL: it was not taken (r->err).
static pons_value *submit(pons__request *r)
{
    pons_value *run = NULL;
    pons__lg_submit(r->s, thread_of(r), r->body, NULL, NULL, &run, &r->err);
    return run;
}

static bool cancels(const pons__request *r)
{
    return strcmp(pons_get_str(r->body, "on_disconnect", "continue"), "cancel") == 0;
}

// The row's word: what is answered with.
static int create(pons__request *r)
{
    pons__lg_where where;
    pons_autovalue run = submit(r);
    if (!run) {
        return r->err.status;
    }
    if (!r->word) {
        return pons__reply_value(r, pons__lg_where_of(run, NULL, &where), pons__lg_run(run));
    }
    return strcmp(r->word, "wait") == 0
               ? pons__lg_wait(r, run, cancels(r))
               : pons__lg_stream(r, &(pons__lg_follow){.run = run, .cancel = cancels(r)});
}

// All of them, or none: the first that cannot be taken ends those before it.
static int create_batch(pons__request *r)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue runs = json_array();
    int rc = PONS_OK;
    pons_each(one, r->body) {
        pons_value *run = NULL;
        rc = rc < 0 ? rc : pons__lg_submit(r->s, NULL, one, NULL, NULL, &run, &r->err);
        if (run) {
            json_array_append_new(runs, run);
        }
    }
    pons_value *shown = json_array();
    pons_each(one, runs) {
        if (rc < 0) {
            pons__runhost_cancel(r->s->host, pons_get_str(one, "thread_id", ""),
                                 pons_get_str(one, "run_id", ""), true, &none);
        }
        json_array_append_new(shown, pons__lg_run(one));
    }
    return pons__reply_result(r, rc, shown);
}

// ---- looking ------------------------------------------------------------------------------------

// NULL: there is none (r->err).
static pons_value *find(pons__request *r)
{
    pons_value *run = NULL;
    pons__runhost_run(r->s->host, r->args[0], r->args[1], &run, &r->err);
    return run;
}

static int list(pons__request *r)
{
    pons_autovalue runs = NULL;
    if (pons__lg_thread_there(r) < 0 ||
        pons__runhost_runs(r->s->host, r->args[0], pons_get_str(r->query, "status", NULL),
                           pons_get_int(r->query, "limit", LIMIT),
                           pons_get_int(r->query, "offset", 0), &runs, &r->err) < 0) {
        return r->err.status;
    }
    pons_value *shown = json_array();
    pons_each(one, runs) {
        json_array_append_new(shown, pons__lg_run(one));
    }
    return pons__reply_json(r, 200, pons__lg_select(shown, pons_get(r->query, "select")));
}

static int get(pons__request *r)
{
    pons_autovalue run = find(r);
    return run ? pons__reply_json(r, 200, pons__lg_run(run)) : r->err.status;
}

static int join(pons__request *r)
{
    const bool cancel = pons_get_bool(r->query, "cancel_on_disconnect", false);
    pons_autovalue run = find(r);
    return run ? pons__lg_wait(r, run, cancel) : r->err.status;
}

static int join_stream(pons__request *r)
{
    pons_autovalue run = find(r);
    const pons__lg_follow f = {.run = run,
                               .modes = pons_get(r->query, "stream_mode"),
                               .last_event_id = r->s->http->header(r->x, "Last-Event-ID"),
                               .cancel = pons_get_bool(r->query, "cancel_on_disconnect", false)};
    return run ? pons__lg_stream(r, &f) : r->err.status;
}

static int stream_thread(pons__request *r)
{
    const pons_value *modes = pons_get(r->query, "stream_mode");
    const char *first = json_string_value(json_array_get(modes, 0)); // run_modes: as the runs are
    pons_autovalue usual = json_pack("[sss]", "values", "updates", "messages-tuple");
    const int rc = pons__lg_thread_there(r);
    return rc < 0 ? rc
                  : pons__lg_stream_thread(r, first && strcmp(first, "run_modes") != 0 ? modes
                                                                                       : usual);
}

// ---- ending -------------------------------------------------------------------------------------

static bool rolls_back(const pons__request *r)
{
    return strcmp(pons_get_str(r->query, "action", "interrupt"), "rollback") == 0;
}

static int cancel(pons__request *r)
{
    pons_autovalue run = find(r);
    if (!run ||
        pons__runhost_cancel(r->s->host, r->args[0], r->args[1], rolls_back(r), &r->err) < 0) {
        return r->err.status;
    }
    return pons_get_bool(r->query, "wait", false) ? pons__lg_wait(r, run, false)
                                                  : pons__reply_json(r, 202, json_object());
}

// {thread_id, run_ids} or {status: pending | running | all}
static int cancel_many(pons__request *r)
{
    const char *thread = pons_get_str(r->body, "thread_id", NULL);
    const char *status = pons_get_str(r->body, "status", NULL);
    const bool rollback = rolls_back(r);
    pons_each(one, pons_get(r->body, "run_ids")) {
        const char *id = json_string_value(one);
        if (thread && pons__runhost_cancel(r->s->host, thread, id, rollback, &r->err) < 0) {
            return r->err.status;
        }
    }
    if (status) {
        pons__runhost_cancel_all(r->s->host, strcmp(status, "all") == 0 ? NULL : status, rollback);
    }
    return pons__reply_done(r);
}

static int forget(pons__request *r)
{
    pons__runhost_settle(r->s->host, r->args[0]);
    const int rc = pons__runhost_forget(r->s->host, r->args[0], r->args[1], &r->err);
    return rc < 0 ? rc : pons__reply_done(r);
}

const pons__route pons__lg_run_routes[] = {
    {"POST", "/threads/*/runs", PONS__OPERATOR, create},
    {"POST", "/threads/*/runs/stream", PONS__OPERATOR, create, .word = "stream"},
    {"POST", "/threads/*/runs/wait", PONS__OPERATOR, create, .word = "wait"},
    {"POST", "/runs", PONS__OPERATOR, create},
    {"POST", "/runs/stream", PONS__OPERATOR, create, .word = "stream"},
    {"POST", "/runs/wait", PONS__OPERATOR, create, .word = "wait"},
    {"POST", "/runs/batch", PONS__OPERATOR, create_batch},
    {"POST", "/runs/cancel", PONS__OPERATOR, cancel_many},
    {"GET", "/threads/*/runs", PONS__VIEWER, list},
    {"GET", "/threads/*/runs/*", PONS__VIEWER, get},
    {"DELETE", "/threads/*/runs/*", PONS__OPERATOR, forget},
    {"POST", "/threads/*/runs/*/cancel", PONS__OPERATOR, cancel},
    {"GET", "/threads/*/runs/*/join", PONS__VIEWER, join},
    {"GET", "/threads/*/runs/*/stream", PONS__VIEWER, join_stream},
    {"GET", "/threads/*/stream", PONS__VIEWER, stream_thread},
    {NULL, NULL, PONS__NOBODY, NULL},
};
