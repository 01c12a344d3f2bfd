// stream_payloads.c - the payloads of what a run streams, in the shapes of LangGraph's Python library: what its
// clients and its HTTP API read. stream.c says when each is shown.
//
// A checkpoint is shown together with the tasks that come next. Their ids follow from the checkpoint's,
// so they are known before the tasks are there; once they are, and some wait, the same checkpoint is
// shown again with what they wrote and what they ask.
#include "graph/persist/stream_payloads.h"

#include "graph/core/run_accessors.h"
#include "graph/core/task_random.h"
#include "graph/util/bits.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PULL "__pregel_pull" // LangGraph's words for how a task comes to be
#define PUSH "__pregel_push"

pons_value *pons__whole(pons_value *v, bool ok)
{
    if (ok) {
        return v;
    }
    pons_value_unref(v);
    return NULL;
}

// What the program knows of the run: the outermost one's, which its subgraphs go by as well.
static const pons_value *run_metadata(const pons_run *r)
{
    while (r->parent) {
        r = r->parent;
    }
    return r->opts.metadata ? r->opts.metadata : r->ns->metadata;
}

// ---- states and updates -------------------------------------------------------------------------

pons_value *pons__shown_state(const pons_run *r)
{
    pons_value *state = json_object();
    bool ok = state != NULL;
    for (size_t i = 0; i < r->g->n_channels && ok; i++) {
        const pons_value *v = r->ns->slots[i].v;
        ok = !v || json_object_set_new(state, r->g->channels[i].name, pons_value_ref(v)) == 0;
    }
    return pons__whole(state, ok);
}

pons_value *pons__shown_update(const pons_cx *cx)
{
    if (cx->caller) {
        return cx->returned ? pons_value_ref(cx->returned) : json_null();
    }
    if (cx->n_writes == 0) {
        return json_null();
    }
    pons_value *one = json_object();
    bool twice = false, ok = one != NULL;
    for (size_t i = 0; i < cx->n_writes && ok; i++) {
        const char *name = cx->run->g->channels[cx->writes[i].ch].name;
        twice = twice || json_object_get(one, name);
        ok = json_object_set_new(one, name, pons_value_ref(cx->writes[i].v)) == 0;
    }
    if (!twice || !ok) {
        return pons__whole(one, ok);
    }
    pons_value_unref(one);
    pons_value *list = json_array();
    ok = list != NULL;
    for (size_t i = 0; i < cx->n_writes && ok; i++) {
        ok = json_array_append_new(list,
                                   pons_object_whole(cx->run->g->channels[cx->writes[i].ch].name,
                                                     pons_value_ref(cx->writes[i].v), NULL)) == 0;
    }
    return pons__whole(list, ok);
}

// The same as a task's result: {channel: value}, of several writes {"$writes": [value…]}.
static pons_value *result_of(const pons_cx *cx)
{
    if (cx->caller) {
        return pons_object_whole("__return__",
                                 cx->returned ? pons_value_ref(cx->returned) : json_null(), NULL);
    }
    pons_value *result = json_object();
    pons_autovalue times = json_object(); // channels that were written twice
    bool ok = result && times;
    for (size_t i = 0; i < cx->n_writes && ok; i++) {
        const char *name = cx->run->g->channels[cx->writes[i].ch].name;
        pons_value *had = json_object_get(result, name);
        pons_value *v = pons_value_ref(cx->writes[i].v);
        if (json_object_get(times, name)) {
            ok = json_array_append_new(json_object_get(had, "$writes"), v) == 0;
        } else if (had) {
            pons_value *both = json_pack("[Oo]", had, v);
            ok = json_object_set_new(result, name, pons_object_whole("$writes", both, NULL)) == 0 &&
                 json_object_set_new(times, name, json_true()) == 0;
        } else {
            ok = json_object_set_new(result, name, v) == 0;
        }
    }
    return pons__whole(result, ok);
}

// ---- the tasks of a checkpoint ------------------------------------------------------------------

// The open questions of a task, and of the subgraph that it is.
static bool asked_of(const pons_cx *cx, pons_value *list)
{
    bool ok = true;
    for (size_t k = 0; k < cx->n_calls && ok && cx->state == PONS__TASK_PARKED; k++) {
        const pons__call *c = &cx->calls[k];
        if (c->kind == PONS__CALL_AWAIT && !c->answer && strcmp(c->name, PONS__HUMAN) == 0) {
            ok = json_array_append_new(list, pons_object_whole("id", json_string(c->id), "value",
                                                               pons_value_ref(c->request), NULL)) ==
                 0;
        }
    }
    for (size_t i = 0; cx->child && i < cx->child->n_tasks && ok; i++) {
        ok = asked_of(cx->child->tasks[i], list);
    }
    for (size_t i = 0; cx->n_calls > 0 && i < cx->run->n_tasks && ok; i++) {
        const pons_cx *t = cx->run->tasks[i];
        ok = t->caller != cx || t->retired || asked_of(t, list);
    }
    return ok;
}

// Where the subgraph of a task is found, as task/subgraph_run.c names it; null of what is none.
static pons_value *place_of(const pons_run *r, const pons__node *n, const char *task, size_t before)
{
    char name[PONS_NAME_MAX + 64];
    const char *outer = r->ns->name;
    if (!n->sub) {
        return json_null();
    }
    int at = snprintf(name, sizeof name, "%s%s%s", outer, outer[0] ? "|" : "", n->name);
    if (n->mode != PONS_SUBGRAPH_OWN) {
        snprintf(name + at, sizeof name - (size_t)at, ":%s", task);
    } else if (before > 0) {
        snprintf(name + at, sizeof name - (size_t)at, ":#%zu", before);
    }
    return pons_object_whole("configurable",
                             pons_object_whole("thread_id", json_string(r->t->id), "checkpoint_ns",
                                               json_string(name), NULL),
                             NULL);
}

static pons_value *task_of(pons_run *r, uint32_t node, uint32_t send_ix, size_t before,
                           const pons_cx *cx)
{
    char id[PONS__TASK_ID_MAX];
    pons_value *error = PONS_ABSENT, *result = PONS_ABSENT, *asked = json_array();
    const pons__node *n = &r->g->nodes[node];
    bool ok = asked != NULL;
    pons__task_hash(r->ns->name, pons__run_cp(r), n->name, send_ix, id);
    if (cx && cx->state == PONS__TASK_FAILED) {
        error = pons_string(cx->error.message);
    } else if (cx) {
        ok = ok && asked_of(cx, asked);
        result = cx->state == PONS__TASK_DONE && cx->n_writes > 0 ? result_of(cx) : PONS_ABSENT;
    }
    return pons_object_whole("id", json_string(id), "name", json_string(n->name), "error", error,
                             "result", result, "interrupts", pons__whole(asked, ok), "state",
                             place_of(r, n, id, before), NULL);
}

// Those that come next, in task order: what is prepared of them tells how it stands.
static pons_value *tasks_of(pons_run *r)
{
    const pons__ns *ns = r->ns;
    pons_value *list = json_array();
    bool ok = list != NULL;
    size_t at = 0;
    for (uint32_t i = 0; i < r->g->n_nodes && ok; i++) {
        if (pons__bit_get(ns->next, i)) {
            ok = json_array_append_new(list,
                                       task_of(r, i, 0, 0, r->prepared ? r->tasks[at] : NULL)) == 0;
            at++;
        }
    }
    for (uint32_t i = 0; i < ns->n_sends && ok; i++, at++) {
        size_t before = pons__bit_get(ns->next, ns->sends[i].node);
        for (uint32_t k = 0; k < i; k++) {
            before += ns->sends[k].node == ns->sends[i].node;
        }
        ok = json_array_append_new(list, task_of(r, ns->sends[i].node, i + 1, before,
                                                 r->prepared ? r->tasks[at] : NULL)) == 0;
    }
    return pons__whole(list, ok);
}

// ---- checkpoints --------------------------------------------------------------------------------

// The checkpoint before the one that the run stands on; "": none.
static const char *parent_of(pons_run *r)
{
    const pons__ns *ns = r->ns;
    if (ns->exists && strcmp(ns->head, pons__run_cp(r)) == 0) {
        return ns->head_parent;
    }
    return r->input_row ? pons__run_input_id(r) : ns->exists ? ns->head : "";
}

// {"configurable": …} as LangGraph addresses a checkpoint; of a subgraph's with those around it.
static pons_value *config_of(const pons_run *r, const char *id)
{
    const pons__ns *ns = r->ns;
    pons_value *map = PONS_ABSENT;
    if (json_object_size(ns->parents) > 0) {
        map = json_copy(ns->parents);
        map = pons__whole(map, map && json_object_set_new(map, ns->name, json_string(id)) == 0);
    }
    return pons_object_whole("configurable",
                             pons_object_whole("thread_id", json_string(r->t->id), "checkpoint_ns",
                                               json_string(ns->name), "checkpoint_id",
                                               json_string(id), "checkpoint_map", map, NULL),
                             NULL);
}

static pons_value *metadata_of(const pons_run *r, bool input)
{
    const pons__ns *ns = r->ns;
    const pons_value *own = run_metadata(r);
    const char source = r->source ? r->source : ns->source;
    pons_value *m = own ? json_copy((pons_value *)(uintptr_t)own) : json_object();
    const bool ok =
        m &&
        json_object_set_new(m, "source",
                            json_string(input ? "input" : pons__source_word(source))) == 0 &&
        json_object_set_new(m, "step", json_integer(ns->step - input)) == 0 &&
        json_object_set_new(m, "parents",
                            ns->parents ? pons_value_ref(ns->parents) : json_object()) == 0;
    return pons__whole(m, ok);
}

pons_value *pons__shown_checkpoint(pons_run *r, bool input, pons_value *values)
{
    char task[PONS__TASK_ID_MAX];
    pons_value *tasks = NULL, *next = json_array();
    const char *id = input ? pons__run_input_id(r) : pons__run_cp(r);
    const char *parent = input ? r->ns->exists ? r->ns->head : "" : parent_of(r);
    if (input) {
        pons__task_hash(r->ns->name, id, PONS_START, 0, task);
        tasks = json_pack("[{s:s,s:s,s:[],s:n}]", "id", task, "name", PONS_START, "interrupts",
                          "state");
    } else {
        tasks = tasks_of(r);
    }
    bool ok = next != NULL;
    pons_each(one, tasks) {
        ok = ok && json_array_append_new(next, pons_value_ref(pons_get(one, "name"))) == 0;
    }
    return pons_object_whole("config", config_of(r, id), "parent_config",
                             parent[0] ? config_of(r, parent) : json_null(), "values", values,
                             "metadata", metadata_of(r, input), "next", pons__whole(next, ok),
                             "tasks", tasks, NULL);
}

// ---- tasks --------------------------------------------------------------------------------------

// By what a task may be triggered: a Send, an edge, each join into its node.
static pons_value *triggers_of(const pons_cx *cx)
{
    if (cx->send_ix || cx->caller) {
        return json_pack("[s]", PUSH);
    }
    const pons_graph *g = cx->run->g;
    pons_value *list = json_array();
    bool ok =
        list && json_array_append_new(list, json_sprintf("branch:to:%s", cx->node->name)) == 0;
    for (size_t j = 0; j < g->n_joins && ok; j++) {
        if (g->joins[j].to == cx->node_ix) {
            const char *label = g->joins[j].label, *to = strrchr(label, '>');
            ok = json_array_append_new(list, json_sprintf("join:%.*s:%s", (int)(to - label), label,
                                                          cx->node->name)) == 0;
        }
    }
    return pons__whole(list, ok);
}

pons_value *pons__shown_task(pons_cx *cx)
{
    const pons_value *own = run_metadata(cx->run);
    return pons_object_whole(
        "id", json_string(pons__task_id(cx)), "name", json_string(cx->node->name), "input",
        cx->arg ? pons_value_ref(cx->arg) : pons__shown_state(cx->run), "triggers", triggers_of(cx),
        "metadata", json_object_size(own) > 0 ? pons_value_ref(own) : PONS_ABSENT, NULL);
}

pons_value *pons__shown_result(pons_cx *cx, pons_value *asked)
{
    const bool failed = cx->state == PONS__TASK_FAILED;
    return pons_object_whole(
        "id", json_string(pons__task_id(cx)), "name", json_string(cx->node->name), "error",
        failed ? pons_string(cx->error.message) : json_null(), "result",
        failed || asked ? json_object() : result_of(cx), "cached", json_boolean(cx->cached),
        "interrupts", asked ? asked : json_array(), NULL);
}

pons_value *pons__shown_origin(pons_cx *cx, const pons_value *given)
{
    const pons_run *r = cx->run;
    const pons_value *own = run_metadata(r);
    const char *ns = r->ns->name;
    pons_value *place =
        json_sprintf("%s%s%s:%s", ns, ns[0] ? "|" : "", cx->node->name, pons__task_id(cx));
    pons_value *path = cx->send_ix ? json_pack("[sIb]", PUSH, (json_int_t)cx->send_ix - 1, 0)
                                   : json_pack("[ss]", PULL, cx->node->name);
    pons_value *m = pons_object_whole(
        "thread_id", json_string(r->t->id), "langgraph_step", json_integer(r->ns->step + 1),
        "langgraph_node", json_string(cx->node->name), "langgraph_triggers", triggers_of(cx),
        "langgraph_path", path, "langgraph_checkpoint_ns", place, "checkpoint_ns",
        place ? pons_value_ref(place) : NULL, NULL);
    bool ok = m != NULL;
    pons_each_member(key, v, own) {
        ok = ok && (json_object_get(m, key) || json_object_set_new(m, key, pons_value_ref(v)) == 0);
    }
    pons_each_member(key, v, given) {
        ok = ok && json_object_set_new(m, key, pons_value_ref(v)) == 0;
    }
    return pons__whole(m, ok);
}

// ---- words --------------------------------------------------------------------------------------

pons_value *pons__shown_time(int64_t wall_ms)
{
    enum { MS = 1000 };
    char day[PONS_UTC_TEXT];
    const int64_t rest = (wall_ms % MS + MS) % MS;
    pons_utc_text(wall_ms - rest, day);
    return day[0] ? json_sprintf("%.*s.%03d+00:00", (int)strlen(day) - 1, day, (int)rest)
                  : json_string("");
}

pons_value *pons__shown_namespace(const char *ns)
{
    pons_value *list = json_array();
    bool ok = list != NULL;
    while (*ns && ok) {
        size_t n = strcspn(ns, "|");
        ok = json_array_append_new(list, json_stringn(ns, n)) == 0;
        ns += n + (ns[n] == '|');
    }
    return pons__whole(list, ok);
}
