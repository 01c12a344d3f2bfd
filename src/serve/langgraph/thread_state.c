// thread_state.c - what a thread is, was, and is made to be.
//
//     GET  /threads/T/state?subgraphs      GET /threads/T/state/CHECKPOINT
//     POST /threads/T/state/checkpoint {checkpoint, subgraphs}
//     POST /threads/T/state {values, checkpoint, as_node}      PATCH /threads/T/state {metadata}
//     POST /threads/T/history {limit, before, metadata, checkpoint}      GET /threads/T/history
#include "serve/langgraph/langgraph_json.h"
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
static int nothing(pons__request *r, bool list)
{
    if (r->err.status != PONS_ENOTFOUND || pons__lg_thread_there(r) < 0) {
        return r->err.status;
    }
    if (list) {
        return pons__reply_json(r, 200, json_array());
    }
    pons_value *state =
        pons_object("values", json_object(), "next", json_array(), "tasks", json_array(),
                    "metadata", json_object(), "created_at", json_null(), "checkpoint",
                    pons_object("thread_id", json_string(r->args[0]), "checkpoint_ns",
                                json_string(""), "checkpoint_id", json_null(), NULL),
                    "parent_checkpoint", json_null(), "interrupts", json_array(), "checkpoint_id",
                    json_null(), "parent_checkpoint_id", json_null(), NULL);
    return pons__reply_json(r, 200, with_more(r, state));
}

static int show(pons__request *r, const char *ns, const char *checkpoint, bool subgraphs)
{
    pons_autovalue snapshot = NULL;
    const pons_snapshot_options o = {.checkpoint = checkpoint, .subgraphs = subgraphs};
    if (strlen(r->args[0]) >= PONS_NAME_MAX) {
        return pons__reply_error(r, 404, "there is no thread %.80s", r->args[0]);
    }
    if (pons_state_snapshot(r->s->o.store, r->args[0], ns_of(r, ns), &o, &snapshot, &r->err) < 0) {
        return checkpoint && r->err.status == PONS_ENOTFOUND ? r->err.status : nothing(r, false);
    }
    pons_value *state = pons__lg_state(snapshot);
    return pons__reply_json(r, 200, checkpoint || (ns && *ns) ? state : with_more(r, state));
}

static int get(pons__request *r)
{
    return show(r, NULL, r->n_args > 1 ? r->args[1] : NULL,
                pons_get_bool(r->query, "subgraphs", false));
}

static int get_checkpoint(pons__request *r)
{
    const pons_value *at = pons_get(r->body, "checkpoint");
    return show(r, pons_get_str(at, "checkpoint_ns", NULL), pons_get_str(at, "checkpoint_id", NULL),
                pons_get_bool(r->body, "subgraphs", false));
}

static int update(pons__request *r)
{
    char id[32] = "";
    const pons_value *at = pons_get(r->body, "checkpoint");
    const char *checkpoint =
        pons_get_str(r->body, "checkpoint_id", pons_get_str(at, "checkpoint_id", NULL));
    const char *ns = pons_get_str(at, "checkpoint_ns", "");
    if (pons__lg_thread_there(r) < 0 ||
        pons__lg_update(r->s, r->args[0], ns, checkpoint, pons_get(r->body, "values"),
                        pons_get_str(r->body, "as_node", NULL), id, &r->err) < 0) {
        return r->err.status;
    }
    pons_value *where = pons__lg_checkpoint(r->args[0], ns, id);
    return pons__reply_json(r, 200,
                            pons_object("checkpoint", where, "configurable", pons_value_ref(where),
                                        "checkpoint_id", json_string(id), NULL));
}

static int patch(pons__request *r)
{
    const pons_value *m = pons_get(r->body, "metadata");
    if (pons__lg_thread_there(r) < 0 ||
        pons_thread_metadata_set(r->s->o.store, r->args[0], m, true, &r->err) < 0) {
        return r->err.status;
    }
    return pons__reply_json(r, 200, json_object());
}

// ---- the past -----------------------------------------------------------------------------------

// `before`: a checkpoint's id, or a checkpoint, or a config that has one.
static const char *id_in(const pons_value *v)
{
    const char *id = json_is_string(v) ? json_string_value(v) : NULL;
    id = id ? id : pons_get_str(v, "checkpoint_id", NULL);
    return id ? id : pons_get_str(pons_get(v, "configurable"), "checkpoint_id", NULL);
}

static int tell_past(pons__request *r, const char *ns, int64_t limit, const char *before,
                     const pons_value *metadata)
{
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
        pons_state_history_find(r->s->o.store, r->args[0], ns_of(r, ns), &q, &list, &r->err) < 0) {
        return nothing(r, true);
    }
    if (json_array_size(list) == 0 && pons__lg_thread_there(r) < 0) {
        return r->err.status;
    }
    pons_value *shown = json_array();
    pons_each(one, list) {
        json_array_append_new(shown, pons__lg_state(one));
    }
    return pons__reply_json(r, 200, shown);
}

static int history(pons__request *r)
{
    const pons_value *b = r->body;
    return tell_past(r, pons_get_str(pons_get(b, "checkpoint"), "checkpoint_ns", NULL),
                     pons_get_int(b, "limit", LIMIT), id_in(pons_get(b, "before")),
                     pons_get(b, "metadata"));
}

static int get_history(pons__request *r)
{
    return tell_past(r, NULL, pons_get_int(r->query, "limit", LIMIT),
                     pons_get_str(r->query, "before", NULL), NULL);
}

const pons__route pons__lg_state_routes[] = {
    {"GET", "/threads/*/state", PONS__VIEWER, get},
    {"GET", "/threads/*/state/*", PONS__VIEWER, get},
    {"POST", "/threads/*/state/checkpoint", PONS__VIEWER, get_checkpoint},
    {"POST", "/threads/*/state", PONS__OPERATOR, update},
    {"PATCH", "/threads/*/state", PONS__OPERATOR, patch},
    {"POST", "/threads/*/history", PONS__VIEWER, history},
    {"GET", "/threads/*/history", PONS__VIEWER, get_history},
    {NULL, NULL, PONS__NOBODY, NULL},
};
