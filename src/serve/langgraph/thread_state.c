// thread_state.c - what a thread is, was, and is made to be.
//
//     GET  /threads/T/state?subgraphs      GET /threads/T/state/CHECKPOINT
//     POST /threads/T/state/checkpoint {checkpoint, subgraphs}
//     POST /threads/T/state {values, checkpoint, as_node}      PATCH /threads/T/state {metadata}
//     POST /threads/T/history {limit, before, metadata, checkpoint}      GET /threads/T/history
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/routes.h"
#include "serve/langgraph/run_request.h"
#include "serve/langgraph/state_supersteps.h"
#include "serve/runs/run_begin.h"

#include <string.h>

enum { LIMIT = 10 };

static const char *ns_of(const pons__request *r, const char *asked)
{
    if (asked && *asked) {
        return asked;
    }
    const pons_serve_graph *g = pons__lg_graph_of(r->s, r->args[0]);
    return g ? g->ns : "";
}

// What the thread's runs wait for has a state of its own: its channels, as they are now. Takes state.
static pons_value *with_more(const pons__request *r, pons_value *state)
{
    pons_error none = PONS_ERROR_INIT;
    const char *thread = r->args[0];
    const pons_serve_graph *own = pons__lg_graph_of(r->s, thread);
    pons_value *values = json_copy((pons_value *)(uintptr_t)pons_get(state, "values"));
    for (size_t i = 0; i < r->s->n_graphs; i++) {
        const pons_serve_graph *g = &r->s->graphs[i];
        if (g->state && (!own || strcmp(own->id, g->id) == 0)) {
            g->state(g->user, thread, values, &none); // without it the state is what is kept here
        }
    }
    json_object_set_new(state, "values", values);
    return state;
}

// A thread without a checkpoint has no state yet; one that there is not is another matter.
static void nothing(pons__request *r, const pons_error *err, bool list)
{
    if (err->status != PONS_ENOTFOUND || !pons__lg_thread_is(r->s, r->args[0])) {
        if (err->status == PONS_ENOTFOUND) {
            pons__reply_error(r, 404, "there is no thread %s", r->args[0]);
        } else {
            pons__reply_fault(r, err);
        }
        return;
    }
    if (list) {
        pons__reply_json(r, 200, json_array());
        return;
    }
    pons_value *state =
        pons_object("values", json_object(), "next", json_array(), "tasks", json_array(),
                    "metadata", json_object(), "created_at", json_null(), "checkpoint",
                    pons_object("thread_id", json_string(r->args[0]), "checkpoint_ns",
                                json_string(""), "checkpoint_id", json_null(), NULL),
                    "parent_checkpoint", json_null(), "interrupts", json_array(), "checkpoint_id",
                    json_null(), "parent_checkpoint_id", json_null(), NULL);
    pons__reply_json(r, 200, with_more(r, state));
}

static void show(pons__request *r, const char *ns, const char *checkpoint, bool subgraphs)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue snapshot = NULL;
    const pons_snapshot_options o = {.checkpoint = checkpoint, .subgraphs = subgraphs};
    if (strlen(r->args[0]) >= PONS_NAME_MAX) {
        pons__reply_error(r, 404, "there is no thread %.80s", r->args[0]);
        return;
    }
    if (pons_state_snapshot(r->s->o.store, r->args[0], ns_of(r, ns), &o, &snapshot, &err) < 0) {
        if (checkpoint && err.status == PONS_ENOTFOUND) {
            pons__reply_fault(r, &err);
        } else {
            nothing(r, &err, false);
        }
        return;
    }
    pons_value *state = pons__lg_state(snapshot);
    pons__reply_json(r, 200, checkpoint || (ns && *ns) ? state : with_more(r, state));
}

static void get(pons__request *r)
{
    show(r, NULL, NULL, pons_get_bool(r->query, "subgraphs", false));
}

static void get_at(pons__request *r)
{
    show(r, NULL, r->args[1], pons_get_bool(r->query, "subgraphs", false));
}

static void get_checkpoint(pons__request *r)
{
    const pons_value *at = pons_get(r->body, "checkpoint");
    show(r, pons_get_str(at, "checkpoint_ns", NULL), pons_get_str(at, "checkpoint_id", NULL),
         pons_get_bool(r->body, "subgraphs", false));
}

static void update(pons__request *r)
{
    char id[32] = "";
    pons_error err = PONS_ERROR_INIT;
    const pons_value *at = pons_get(r->body, "checkpoint");
    const char *checkpoint =
        pons_get_str(r->body, "checkpoint_id", pons_get_str(at, "checkpoint_id", NULL));
    const char *ns = pons_get_str(at, "checkpoint_ns", "");
    if (!pons__lg_thread_is(r->s, r->args[0])) {
        pons__reply_error(r, 404, "there is no thread %s", r->args[0]);
        return;
    }
    if (pons__lg_update(r->s, r->args[0], ns, checkpoint, pons_get(r->body, "values"),
                        pons_get_str(r->body, "as_node", NULL), id, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons_value *where = pons__lg_checkpoint(r->args[0], ns, id);
    pons__reply_json(r, 200,
                     pons_object("checkpoint", where, "configurable", pons_value_ref(where),
                                 "checkpoint_id", json_string(id), NULL));
}

static void patch(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_value *m = pons_get(r->body, "metadata");
    if (!pons__lg_thread_is(r->s, r->args[0])) {
        pons__reply_error(r, 404, "there is no thread %s", r->args[0]);
    } else if (pons_thread_metadata_set(r->s->o.store, r->args[0], m, true, &err) < 0) {
        pons__reply_fault(r, &err);
    } else {
        pons__reply_json(r, 200, json_object());
    }
}

// ---- the past -----------------------------------------------------------------------------------

// `before`: a checkpoint's id, or a checkpoint, or a config that has one.
static const char *id_in(const pons_value *v)
{
    const char *id = json_is_string(v) ? json_string_value(v) : NULL;
    id = id ? id : pons_get_str(v, "checkpoint_id", NULL);
    return id ? id : pons_get_str(pons_get(v, "configurable"), "checkpoint_id", NULL);
}

static void tell_past(pons__request *r, const char *ns, int64_t limit, const char *before,
                      const pons_value *metadata)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue list = NULL;
    pons_autovalue filter =
        json_object_size(metadata) ? json_copy((json_t *)(uintptr_t)metadata) : NULL;
    json_t *run = json_object_get(filter, "run_id");
    if (run) { // a client's runs are the host's
        json_object_set(filter, PONS__RUN_MEMBER, run);
        json_object_del(filter, "run_id");
    }
    const pons_history_query q = {.before = before, .limit = limit, .filter = filter};
    if (strlen(r->args[0]) >= PONS_NAME_MAX ||
        pons_state_history_find(r->s->o.store, r->args[0], ns_of(r, ns), &q, &list, &err) < 0) {
        nothing(r, &err, true);
        return;
    }
    if (json_array_size(list) == 0 && !pons__lg_thread_is(r->s, r->args[0])) {
        pons__reply_error(r, 404, "there is no thread %s", r->args[0]);
        return;
    }
    pons_value *shown = json_array();
    pons_each(one, list) {
        json_array_append_new(shown, pons__lg_state(one));
    }
    pons__reply_json(r, 200, shown);
}

static void history(pons__request *r)
{
    const pons_value *b = r->body;
    tell_past(r, pons_get_str(pons_get(b, "checkpoint"), "checkpoint_ns", NULL),
              pons_get_int(b, "limit", LIMIT), id_in(pons_get(b, "before")),
              pons_get(b, "metadata"));
}

static void get_history(pons__request *r)
{
    tell_past(r, NULL, pons_get_int(r->query, "limit", LIMIT),
              pons_get_str(r->query, "before", NULL), NULL);
}

const pons__route pons__lg_state_routes[] = {
    {"GET", "/threads/*/state", PONS__VIEWER, get},
    {"GET", "/threads/*/state/*", PONS__VIEWER, get_at},
    {"POST", "/threads/*/state/checkpoint", PONS__VIEWER, get_checkpoint},
    {"POST", "/threads/*/state", PONS__OPERATOR, update},
    {"PATCH", "/threads/*/state", PONS__OPERATOR, patch},
    {"POST", "/threads/*/history", PONS__VIEWER, history},
    {"GET", "/threads/*/history", PONS__VIEWER, get_history},
    {NULL, NULL, PONS__NOBODY, NULL},
};
