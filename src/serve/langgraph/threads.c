// threads.c - threads as wholes: made, looked for, described, copied, forgotten.
//
//     POST /threads {thread_id?, metadata, if_exists, supersteps}      GET, PATCH, DELETE /threads/T
//     POST /threads/T/copy      POST /threads/search, /count, /prune {thread_ids, strategy}
//
// Each thread of the workspace's store is one, the robot's own among them. A thread is described from
// the store and, where it is at work, by the run host.
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/list_page.h"
#include "serve/langgraph/run_request.h"
#include "serve/langgraph/state_supersteps.h"
#include "serve/langgraph/thread_ttl.h"
#include "serve/runs/run_begin.h"

#include <string.h>

static const char *ns_of(pons_serve *s, const char *thread)
{
    const pons_serve_graph *g = pons__lg_graph_of(s, thread);
    return g ? g->ns : NULL;
}

static int describe(pons_serve *s, const char *thread, pons_value **ret, pons_error *err)
{
    pons_autovalue rows = NULL;
    pons__runhost_settle(s->host, thread);
    const int rc = pons_threads_find(
        s->o.store, &(pons_threads_query){.thread = thread, .ns = ns_of(s, thread)}, &rows, err);
    if (rc == PONS_ENOTFOUND || (rc >= 0 && json_array_size(rows) == 0)) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE, "there is no thread %.80s", thread);
    }
    if (rc >= 0) {
        *ret = pons__lg_thread(json_array_get(rows, 0), pons__runhost_busy(s->host, thread));
        pons_value *ttl = pons__ttl_get(s, thread);
        if (ttl) {
            json_object_del(ttl, "pruned_ms");
            json_object_set_new(*ret, "ttl", ttl);
        }
    }
    return rc;
}

static int reply(pons__request *r, const char *thread)
{
    pons_value *shown = NULL;
    const int rc = describe(r->s, thread, &shown, &r->err);
    return pons__reply_result(r, rc, shown);
}

// ---- making -------------------------------------------------------------------------------------

// A thread's metadata without members that say nothing.
static pons_value *metadata_of(const pons_value *body)
{
    pons_value *m = json_object();
    pons_each_member(name, v, pons_get(body, "metadata")) {
        if (!json_is_null(v) && strcmp(name, PONS__THREAD_CONFIG) != 0) {
            json_object_set_new(m, name, pons_value_ref(v));
        }
    }
    return m;
}

static int create(pons__request *r)
{
    char fresh[PONS__UUID];
    const pons_value *steps = pons_get(r->body, "supersteps");
    const char *id = pons_get_str(r->body, "thread_id", NULL);
    if (id && !pons__thread_name(id)) {
        return pons__reply_error(
            r, 422, "thread_id: 1 to %d bytes, no spaces, slashes or what nobody can see",
            PONS_NAME_MAX - 1);
    }
    if (id && pons__lg_thread_is(r->s, id)) {
        return strcmp(pons_get_str(r->body, "if_exists", "raise"), "do_nothing") == 0
                   ? reply(r, id)
                   : pons__reply_error(r, 409, "there is a thread %s already", id);
    }
    pons__uuid(pons_wall_ms(&r->s->o.clock), fresh);
    id = id ? id : fresh;
    pons_autovalue metadata = metadata_of(r->body);
    int rc = pons_thread_metadata_set(r->s->o.store, id, metadata, true, &r->err);
    pons__ttl_forget(r->s, id); // of one of this name that was there before
    rc = rc < 0 ? rc : pons__ttl_set(r->s, id, pons_get(r->body, "ttl"), &r->err);
    if (rc >= 0 && json_array_size(steps) > 0) {
        rc = pons__lg_supersteps(r->s, id, steps, &r->err);
        if (rc < 0) {
            pons_error none = PONS_ERROR_INIT;
            pons__runhost_thread_delete(r->s->host, id, &none);
        }
    }
    return rc < 0 ? rc : reply(r, id);
}

static int get(pons__request *r)
{
    return reply(r, r->args[0]);
}

static int change(pons__request *r)
{
    pons_autovalue metadata = metadata_of(r->body);
    if (pons__lg_thread_there(r) < 0 ||
        pons_thread_metadata_set(r->s->o.store, r->args[0], metadata, true, &r->err) < 0 ||
        pons__ttl_set(r->s, r->args[0], pons_get(r->body, "ttl"), &r->err) < 0) {
        return r->err.status;
    }
    return reply(r, r->args[0]);
}

static int forget(pons__request *r)
{
    if (pons__lg_thread_there(r) < 0 ||
        pons__runhost_thread_delete(r->s->host, r->args[0], &r->err) < 0) {
        return r->err.status;
    }
    pons__ttl_forget(r->s, r->args[0]);
    return pons__reply_done(r);
}

static int copy(pons__request *r)
{
    char id[PONS__UUID];
    pons__uuid(pons_wall_ms(&r->s->o.clock), id);
    const char *ns = ns_of(r->s, r->args[0]);
    const pons_serve_host *host = &r->s->o.host;
    // Of the robot's two graphs what they had said to each other is said again.
    const bool robot = host->fork && ns && strcmp(ns, "react") == 0;
    const int rc = robot ? host->fork(host->user, r->args[0], NULL, id, NULL, &r->err)
                         : pons_state_copy(r->s->o.store, r->args[0], id, &r->err);
    return rc < 0 ? rc : reply(r, id);
}

// ---- looking ------------------------------------------------------------------------------------

static int search(pons__request *r)
{
    const pons_value *b = r->body, *m = pons_get(b, "metadata"), *values = pons_get(b, "values");
    const char *status = pons_get_str(b, "status", NULL);
    pons_autovalue rows = NULL;
    pons_autovalue found = json_array();
    const pons_threads_query q = {.metadata = json_object_size(m) ? m : NULL,
                                  .values = json_object_size(values) ? values : NULL,
                                  .by = PONS_THREADS_BY_UPDATED,
                                  .limit = -1};
    if (pons_threads_find(r->s->o.store, &q, &rows, &r->err) < 0) {
        return r->err.status;
    }
    const pons_value *ids = pons_get(b, "ids");
    pons_each(one, rows) {
        const char *id = pons_get_str(one, "thread_id", "");
        pons_autovalue shown = pons__lg_thread(one, pons__runhost_busy(r->s->host, id));
        if ((json_array_size(ids) == 0 || pons_list_has(ids, id)) &&
            (!status || strcmp(status, pons_get_str(shown, "status", "")) == 0)) {
            json_array_append_new(found, pons_value_ref(shown));
        }
    }
    return pons__lg_reply_asked(r, found, "updated_at");
}

// delete: the threads go. keep_latest: only what they are now stays.
static int prune(pons__request *r)
{
    const pons_value *ids = pons_get(r->body, "thread_ids");
    const char *how = pons_get_str(r->body, "strategy", "delete");
    const bool all = strcmp(how, "delete") == 0;
    int64_t n = 0;
    pons_each(one, ids) {
        const char *id = json_string_value(one);
        if (!*id || !pons__lg_thread_is(r->s, id)) {
            continue;
        }
        pons__runhost_settle(r->s->host, id);
        const int rc = all ? pons__runhost_thread_delete(r->s->host, id, &r->err)
                           : pons_state_prune(r->s->o.store, id, 1, 0, NULL, &r->err);
        if (rc < 0) {
            return r->err.status;
        }
        n++;
    }
    return pons__reply_json(r, 200, pons_object("pruned_count", json_integer(n), NULL));
}

const pons__route pons__lg_thread_routes[] = {
    {"POST", "/threads", PONS__OPERATOR, create},
    {"POST", "/threads/search", PONS__VIEWER, search},
    {"POST", "/threads/count", PONS__VIEWER, search, .word = "count"},
    {"POST", "/threads/prune", PONS__OPERATOR, prune},
    {"GET", "/threads/*", PONS__VIEWER, get},
    {"PATCH", "/threads/*", PONS__OPERATOR, change},
    {"DELETE", "/threads/*", PONS__OPERATOR, forget},
    {"POST", "/threads/*/copy", PONS__OPERATOR, copy},
    {NULL, NULL, PONS__NOBODY, NULL},
};
