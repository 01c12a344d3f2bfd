// run_request.c - a request for a run, decoded.
//
//     body + its assistant --> kwargs (config, context and metadata merged: the body's beat) --> host
//                          --> the thread's metadata: graph_id, assistant_id
#include "serve/langgraph/run_request.h"

#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/webhook.h"

#include <stdio.h>
#include <string.h>

#define BAD PONS_EINVAL, PONS__SERVE

// ---- threads ------------------------------------------------------------------------------------

static int see(void *user, const pons_thread_info *info)
{
    *(bool *)user = true;
    return 1;
}

bool pons__lg_thread_is(pons_serve *s, const char *thread)
{
    bool is = false;
    pons_error none = PONS_ERROR_INIT;
    const pons_store store = s->o.store;
    return strlen(thread) < PONS_NAME_MAX &&
           store.ops->thread_list(store.self, thread, false, see, &is, &none) >= 0 && is;
}

int pons__lg_thread_there(pons__request *r)
{
    return pons__lg_thread_is(r->s, r->args[0])
               ? PONS_OK
               : pons__reply_error(r, 404, "there is no thread %s", r->args[0]);
}

typedef struct note {
    char graph[PONS_NAME_MAX], assistant[PONS_NAME_MAX];
    bool is;
} note;

static int read_note(void *user, const pons_thread_info *info)
{
    note *n = user;
    pons_autovalue v = NULL;
    n->is = true;
    if (info->note.len && pons_value_read(info->note.data, info->note.len, &v, NULL) >= 0) {
        const pons_value *m = pons_get(v, "m");
        snprintf(n->graph, sizeof n->graph, "%s", pons_get_str(m, "graph_id", ""));
        snprintf(n->assistant, sizeof n->assistant, "%s", pons_get_str(m, "assistant_id", ""));
    }
    return 1;
}

static void note_of(pons_serve *s, const char *thread, note *n)
{
    pons_error none = PONS_ERROR_INIT;
    *n = (note){.is = false};
    if (strlen(thread) < PONS_NAME_MAX) {
        s->o.store.ops->thread_list(s->o.store.self, thread, false, read_note, n, &none);
    }
}

// A thread that `pons graph run` has begun says in its first event of which graph it is.
static int first_event(void *user, const pons_event_row *row)
{
    char *graph = user;
    pons_autovalue v = NULL;
    if (strcmp(row->type, "graph.started") == 0 &&
        pons_value_read(row->payload.data, row->payload.len, &v, NULL) >= 0) {
        snprintf(graph, PONS_NAME_MAX, "%s", pons_get_str(v, "graph", ""));
        return 1;
    }
    return 0;
}

const pons_serve_graph *pons__lg_graph_of(pons_serve *s, const char *thread)
{
    enum { LOOK_AT = 50 };
    note n;
    char graph[PONS_NAME_MAX] = "";
    pons_error none = PONS_ERROR_INIT;
    note_of(s, thread, &n);
    const pons_serve_graph *g = pons__runhost_graph(s->host, n.graph);
    if (!g && n.is) {
        s->o.store.ops->events(s->o.store.self, thread, 0, LOOK_AT, first_event, graph, &none);
        g = pons__runhost_graph(s->host, graph);
    }
    return g;
}

static int make_thread(pons_serve *s, const char *thread, const pons_value *body,
                       const char *assistant, const char *graph, pons_error *err)
{
    note n;
    const char *how = pons_get_str(body, "if_not_exists", "reject");
    note_of(s, thread, &n);
    if (!n.is && strcmp(how, "create") != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE, "there is no thread %.80s", thread);
    }
    if (!pons__thread_name(thread)) {
        return pons_error_set(err, BAD, "'%.80s' is no name of a thread", thread);
    }
    if (n.is && strcmp(n.graph, graph) == 0 && strcmp(n.assistant, assistant) == 0) {
        return PONS_OK;
    }
    pons_autovalue m =
        pons_object("graph_id", json_string(graph), "assistant_id", json_string(assistant), NULL);
    return pons_thread_metadata_set(s->o.store, thread, m, true, err);
}

// ---- the body -----------------------------------------------------------------------------------

// What both have, b's beating a's.
static pons_value *merged(const pons_value *a, const pons_value *b)
{
    pons_value *m = json_is_object(a) ? json_deep_copy(a) : json_object();
    if (json_is_object(b)) {
        json_object_update_recursive(m, (pons_value *)(uintptr_t)b);
    }
    return m;
}

static const char *const kept[] = {"input",
                                   "command",
                                   "stream_mode",
                                   "stream_subgraphs",
                                   "stream_resumable",
                                   "interrupt_before",
                                   "interrupt_after",
                                   "checkpoint",
                                   "checkpoint_id",
                                   "durability",
                                   "checkpoint_during",
                                   "webhook",
                                   "on_completion",
                                   "on_disconnect",
                                   NULL};

static pons_value *kwargs_of(const pons_value *body, const pons_value *assistant)
{
    pons_value *k = pons__lg_put_some(json_object(), body, kept);
    json_object_set_new(k, "config",
                        merged(pons_get(assistant, "config"), pons_get(body, "config")));
    const pons_value *context = pons_get(body, "context"), *own = pons_get(assistant, "context");
    if (json_object_size(context) > 0 || json_object_size(own) > 0) {
        json_object_set_new(k, "context", merged(own, context));
    }
    return k;
}

int pons__lg_submit(pons_serve *s, const char *thread, const pons_value *body, const char *run,
                    const char *own, pons_value **ret, pons_error *err)
{
    pons_autovalue assistant = NULL;
    pons__ask a = {.thread = thread, .run = run, .own = own};
    int rc = pons__lg_assistant(s, pons_get_str(body, "assistant_id", ""), &assistant, err);
    if (rc < 0) {
        return rc;
    }
    pons__multitask_of(pons_get_str(body, "multitask_strategy", "enqueue"), &a.multitask);
    a.assistant = pons_get_str(assistant, "assistant_id", "");
    a.graph = pons_get_str(assistant, "graph_id", "");
    a.after_ms = (int64_t)(pons_get_num(body, "after_seconds", 0.0) * 1000.0);
    a.keep = strcmp(pons_get_str(body, "on_completion", "delete"), "keep") == 0;
    pons_autovalue kwargs = kwargs_of(body, assistant);
    pons_autovalue metadata = merged(pons_get(assistant, "metadata"), pons_get(body, "metadata"));
    a.kwargs = kwargs;
    a.metadata = metadata;
    pons__order order;
    rc = pons__order_read(kwargs, &order, err); // before a thread is made for it
    rc = rc >= 0 && order.webhook ? pons__webhook_check(s, order.webhook, err) : rc;
    rc = rc < 0 || !thread ? rc : make_thread(s, thread, body, a.assistant, a.graph, err);
    return rc < 0 ? rc : pons__runhost_submit(s->host, &a, ret, err);
}

const char *const *pons__lg_where_of(const pons_value *run, const char *follow, pons__lg_where *w)
{
    const int n = snprintf(w->content, sizeof w->content, "Content-Location: /threads/%s/runs/%s",
                           pons_get_str(run, "thread_id", ""), pons_get_str(run, "run_id", ""));
    w->list[0] = n < (int)sizeof w->content ? w->content : NULL;
    w->list[1] = w->list[2] = NULL;
    if (follow && w->list[0]) {
        snprintf(w->location, sizeof w->location, "Location: %s/%s",
                 w->content + strlen("Content-Location: "), follow);
        w->list[1] = w->location;
    }
    return w->list;
}
