// pons.c - runs random graphs for tests/graph/peer/compare.py, which makes them, runs the same
// ones in LangGraph and compares. One scenario a line comes in, its outcome goes out:
//
//   {"graph": G, "do": [OP…], "sync": bool}  -->  [{"status","state","next","asked","own"}…, history]
//
//   G     {"channels": {name: kind}, "nodes": {name: N}, "start": [name…], "joins": [[[from…], to]…],
//          "before": [name…], "after": [name…]}
//   N     {"ops": [O…], "to": [name…], "route": [name…] | null, "defer": bool}, or a subgraph:
//         {"sub": G, "mode": "inherit" | "own" | "none", "in": [channel…], "out": [channel…], …}
//         with "fail": {"times", "kind": "transient" | "wrong", "policies": [[who, attempts]…]}: it fails so
//         often at first; and with "cache": [channel…]
//   O     ["count"]: how often it ran. ["put", channel, value] ["see", channel] ["ask", k] ["arg"] ["send", node, arg]
//         ["goto", node] ["parent", node] ["custom", value] ["say", chunk]
//   OP    {"op": "input", "values"} {"op": "go"} {"op": "answer", "all": bool}
//         {"op": "update", "as", "values"} {"op": "fork", "at": n, "values" | null}
//         With "cancel": {"node", "run"}, another thread cancels it while that node runs for so many times.
//
// With "stream": [mode…], and "nodes": [name…] if it is for some only, each outcome has "events", what
// the operation streamed: [[namespace…], mode, payload].
//
// A router goes to route[min(n, last)], n being the channel "n" with the node's own writes. A node
// that asks writes what it was told; its question is "node/k".
//
// A line without a graph is a case of messages.py's (messages.c).
#include "messages.h"
#include "pons/graph.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 64, NAMES_MAX = 16, RECURSION_LIMIT = 25 };

typedef struct node { // what a node's function is given
    const char *name;
    const pons_value *spec;
    int64_t failed, runs, started; // how often
} node;
typedef struct names {
    const char *v[NAMES_MAX + 1];
} names;

static struct {
    node nodes[NODES_MAX];
    size_t n_nodes;
    pons_graph *graphs[NODES_MAX];
    size_t n_graphs;
    pons_cancel *cancel;  // of the operation under way,
    const pons_value *at; // {"node", "run"}: where somebody asks for it
} made;                   // of the scenario under way

static pons_value *part(const pons_value *v, const char *key) // to walk through
{
    return (pons_value *)(uintptr_t)pons_get(v, key);
}

// ---- nodes --------------------------------------------------------------------------------------

static names names_of(const pons_value *list)
{
    names r = {{NULL}};
    for (size_t i = 0; i < json_array_size(list) && i < NAMES_MAX; i++) {
        r.v[i] = json_string_value(json_array_get(list, i));
    }
    return r;
}

static const char *word(const pons_value *op, size_t i)
{
    return json_string_value(json_array_get(op, i));
}

static void to_log(pons_value *log, const node *n, const char *what, const pons_value *v)
{
    char text[96];
    snprintf(text, sizeof text, "%s.%s", n->name, what);
    json_array_append_new(log, json_pack("[so]", text, v ? pons_value_ref(v) : json_null()));
}

static int ask(pons_cx *cx, const node *n, const pons_value *op, pons_value *log, pons_error *err)
{
    char question[96];
    const pons_value *answer;
    snprintf(question, sizeof question, "%s/%d", n->name,
             (int)json_integer_value(json_array_get(op, 1)));
    int st = pons_interrupt(cx, json_string(question), &answer, err);
    if (st == PONS_OK) {
        to_log(log, n, question, answer);
    }
    return st;
}

static void *ask_to_cancel(void *user)
{
    pons_cancel_request(user, PONS_CANCEL_INTERRUPT);
    return NULL;
}

// Whether this is the run of a node that is canceled at its work, from another thread: it comes back
// when it hears of it.
static bool is_canceled(pons_cx *cx, node *n)
{
    pthread_t other;
    n->started++;
    if (!made.cancel || strcmp(pons_get_str(made.at, "node", ""), n->name) != 0 ||
        pons_get_int(made.at, "run", 0) != n->started) {
        return false;
    }
    if (pthread_create(&other, NULL, ask_to_cancel, made.cancel) == 0) {
        while (!pons_cx_canceled(cx)) {
            sched_yield();
        }
        pthread_join(other, NULL);
    }
    return true;
}

static int follow(pons_cx *cx, void *user, pons_error *err)
{
    node *n = user;
    if (is_canceled(cx, n)) {
        return pons_error_set(err, PONS_ECANCELED, "peer", "as it is told");
    }
    pons_value *ops = part(n->spec, "ops");
    const pons_value *fail = pons_get(n->spec, "fail");
    if (fail && n->failed < pons_get_int(fail, "times", 0)) {
        const bool wrong = strcmp(pons_get_str(fail, "kind", ""), "wrong") == 0;
        n->failed++;
        return pons_error_set(err, wrong ? PONS_EINVAL : PONS_EIO, "peer", "as it is told");
    }
    n->runs++;
    pons_autovalue log = json_pack("[s]", n->name);
    pons_value *op;
    size_t i;
    int st = PONS_OK;
    json_array_foreach(ops, i, op) {
        const char *what = word(op, 0);
        if (strcmp(what, "put") == 0) {
            st = pons_cx_put(cx, word(op, 1), pons_value_ref(json_array_get(op, 2)));
        } else if (strcmp(what, "see") == 0 && !pons_cx_arg(cx)) {
            const pons_value *v = pons_cx_get(cx, word(op, 1));
            v = json_is_integer(v) && json_integer_value(v) == 0 ? NULL : v;
            to_log(log, n, word(op, 1), v);
        } else if (strcmp(what, "count") == 0) {
            pons_autovalue runs = json_integer(n->runs);
            to_log(log, n, "runs", runs);
        } else if (strcmp(what, "arg") == 0) {
            to_log(log, n, "arg", pons_get(pons_cx_arg(cx), "_s"));
        } else if (strcmp(what, "ask") == 0) {
            st = ask(cx, n, op, log, err);
        } else if (strcmp(what, "send") == 0) {
            pons_cx_send(cx, word(op, 1), pons_value_ref(json_array_get(op, 2)));
        } else if (strcmp(what, "goto") == 0) {
            pons_cx_goto(cx, word(op, 1));
        } else if (strcmp(what, "custom") == 0) {
            pons_cx_custom(cx, pons_object("node", json_string(n->name), "said",
                                           pons_value_ref(json_array_get(op, 1)), NULL));
        } else if (strcmp(what, "say") == 0) {
            pons_cx_message(cx, pons_value_ref(json_array_get(op, 1)), NULL);
        } else if (strcmp(what, "parent") == 0) {
            const char *go[] = {word(op, 1), NULL};
            st = pons_cx_command(cx,
                                 &(pons_command){.update = json_pack("{s[s]}", "log", "escaped"),
                                                 .go = go,
                                                 .parent = true},
                                 err);
        }
        if (st != PONS_OK) {
            return st;
        }
    }
    return pons_cx_put(cx, "log", pons_value_ref(log));
}

static int route(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    const pons_value *to = pons_get(((node *)user)->spec, "route");
    size_t at = (size_t)json_integer_value(pons_cx_get(cx, "n"));
    size_t last = json_array_size(to) - 1;
    pons_cx_goto(cx, json_string_value(json_array_get(to, at < last ? at : last)));
    return PONS_OK;
}

static int reduce_max(void *user, const pons_value *old, const pons_value *update, pons_value **ret,
                      pons_error *err)
{
    (void)user;
    (void)err;
    json_int_t a = json_integer_value(old), b = json_integer_value(update);
    *ret = json_integer(a > b ? a : b);
    return PONS_OK;
}

// ---- graphs -------------------------------------------------------------------------------------

static const pons_graph *build(const pons_value *spec);

static void add_channel(pons_graph_builder *b, const char *name, const char *kind)
{
    static const struct {
        const char *word;
        pons_channel_kind kind;
    } kinds[] = {{"last", PONS_CHANNEL_LAST},
                 {"append", PONS_CHANNEL_REDUCE},
                 {"add", PONS_CHANNEL_REDUCE},
                 {"union", PONS_CHANNEL_REDUCE},
                 {"max", PONS_CHANNEL_REDUCE},
                 {"messages", PONS_CHANNEL_MESSAGES},
                 {"any", PONS_CHANNEL_ANY},
                 {"ephemeral", PONS_CHANNEL_EPHEMERAL},
                 {"loose", PONS_CHANNEL_EPHEMERAL},
                 {"topic", PONS_CHANNEL_TOPIC},
                 {"topic_acc", PONS_CHANNEL_TOPIC_ACC},
                 {"untracked", PONS_CHANNEL_UNTRACKED}};
    const pons_reducer_fn reducers[] = {NULL,
                                        pons_reduce_append,
                                        pons_reduce_add,
                                        pons_reduce_union,
                                        reduce_max,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].word, kind) == 0) {
            pons_graph_channel(b, name,
                               &(pons_channel_options){.kind = kinds[i].kind,
                                                       .reduce = reducers[i],
                                                       .several = strcmp(kind, "loose") == 0 ||
                                                                  strcmp(kind, "untracked") == 0});
        }
    }
}

static void add_subgraph(pons_graph_builder *b, const char *name, const pons_value *n)
{
    pons_share in[NAMES_MAX] = {{NULL, NULL}}, out[NAMES_MAX] = {{NULL, NULL}};
    names from = names_of(pons_get(n, "in")), to = names_of(pons_get(n, "out"));
    for (size_t i = 0; from.v[i]; i++) {
        in[i] = (pons_share){from.v[i], from.v[i]};
    }
    for (size_t i = 0; to.v[i]; i++) {
        out[i] = (pons_share){to.v[i], to.v[i]};
    }
    const char *mode = pons_get_str(n, "mode", "inherit");
    pons_graph_subgraph_mapped(b, name, build(pons_get(n, "sub")),
                               strcmp(mode, "own") == 0    ? PONS_SUBGRAPH_OWN
                               : strcmp(mode, "none") == 0 ? PONS_SUBGRAPH_NONE
                                                           : PONS_SUBGRAPH_INHERIT,
                               in, out);
}

static bool is_wrong(void *user, const pons_error *err)
{
    (void)user;
    return err->status == PONS_EINVAL;
}

static size_t policies_of(const pons_value *fail, pons_retry ret[NAMES_MAX])
{
    const pons_value *list = pons_get(fail, "policies");
    for (size_t i = 0; i < json_array_size(list) && i < NAMES_MAX; i++) {
        const pons_value *p = json_array_get(list, i);
        const char *who = word(p, 0);
        ret[i] = (pons_retry){.attempts = (int)json_integer_value(json_array_get(p, 1)),
                              .retry_on = strcmp(who, "wrong") == 0 ? is_wrong
                                          : strcmp(who, "any") == 0 ? pons_retry_any
                                                                    : NULL};
    }
    return json_array_size(list);
}

static void add_node(pons_graph_builder *b, const char *name, const pons_value *n)
{
    node *d = &made.nodes[made.n_nodes++];
    *d = (node){.name = name, .spec = n};
    if (pons_get(n, "sub")) {
        add_subgraph(b, name, n);
    } else {
        pons_graph_node(b, name, follow, d);
    }
    names goes = names_of(pons_get(n, "goes")), on = names_of(pons_get(n, "cache"));
    pons_retry retries[NAMES_MAX] = {{0}};
    pons_graph_node_options(
        b, name,
        &(pons_node_options){.deferred = pons_get_bool(n, "defer", false),
                             .goes = goes.v,
                             .retries = retries,
                             .n_retries = policies_of(pons_get(n, "fail"), retries),
                             .cache = pons_get(n, "cache") != NULL,
                             .cache_on = on.v});
    names to = names_of(pons_get(n, "to"));
    for (size_t i = 0; to.v[i]; i++) {
        pons_graph_edge(b, name, to.v[i]);
    }
    if (json_is_array(pons_get(n, "route"))) {
        names targets = names_of(pons_get(n, "route"));
        pons_graph_router(b, name, route, d, targets.v);
    }
}

static const pons_graph *build(const pons_value *spec)
{
    pons_graph_builder *b = pons_graph_builder_create("random");
    const char *name;
    pons_value *v;
    size_t i;
    json_object_foreach(part(spec, "channels"), name, v) {
        add_channel(b, name, json_string_value(v));
    }
    json_object_foreach(part(spec, "nodes"), name, v) {
        add_node(b, name, v);
    }
    json_array_foreach(part(spec, "start"), i, v) {
        pons_graph_edge(b, PONS_START, json_string_value(v));
    }
    json_array_foreach(part(spec, "joins"), i, v) {
        names from = names_of(json_array_get(v, 0));
        pons_graph_join(b, from.v, json_array_size(json_array_get(v, 0)), word(v, 1));
    }
    names before = names_of(pons_get(spec, "before")), after = names_of(pons_get(spec, "after"));
    pons_error err = PONS_ERROR_INIT;
    pons_graph *g = NULL;
    if (pons_graph_compile(
            b, &(pons_graph_options){.interrupt_before = before.v, .interrupt_after = after.v}, &g,
            &err) != PONS_OK) {
        fprintf(stderr, "a scenario does not compile: %s\n", err.message);
        exit(1);
    }
    pons_graph_builder_destroy(b);
    made.graphs[made.n_graphs++] = g;
    return g;
}

// ---- a scenario ---------------------------------------------------------------------------------

typedef struct scene {
    pons_store store;
    pons_thread *t;
    const pons_graph *g;
    pons_run *r;
    pons_run_options o;
    pons_value *events; // of the operation under way
    pons_error err;
} scene;

static void on_event(void *user, const pons_event *ev)
{
    scene *s = user;
    pons_value *shown = s->o.stream ? pons_stream_shape(ev, s->o.stream, true) : NULL;
    if (shown) {
        json_array_append_new(s->events, shown);
    }
}

static void end_run(scene *s)
{
    pons_run_destroy(s->r);
    s->r = NULL;
}

static pons_value *history(scene *s)
{
    pons_value *list = NULL;
    if (pons_state_history(s->store, "t", "", 0, true, &list, &s->err) != PONS_OK) {
        list = json_array();
    }
    return list;
}

static pons_value *questions(const pons_run *r)
{
    pons_value *list = json_array(), *p;
    pons_autovalue pending = r ? pons_run_pending(r) : json_array();
    size_t i;
    json_array_foreach(pending, i, p) {
        json_array_append_new(list, pons_value_ref(pons_get(p, "request")));
    }
    return list;
}

static int answer(scene *s, bool all)
{
    pons_autovalue pending = s->r ? pons_run_pending(s->r) : json_array();
    pons_autovalue map = json_object();
    const char *first = NULL;
    size_t i;
    pons_value *p;
    json_array_foreach(pending, i, p) {
        const char *q = json_string_value(pons_get(p, "request"));
        first = !first || strcmp(q, first) < 0 ? q : first;
    }
    json_array_foreach(pending, i, p) {
        const char *q = json_string_value(pons_get(p, "request"));
        if (all || strcmp(q, first) == 0) {
            json_object_set_new(map, pons_get_str(p, "id", ""), json_sprintf("A:%s", q));
        }
    }
    return pons_run_resume_map(s->r, map, &s->err);
}

static int resume(scene *s)
{
    end_run(s);
    return pons_run_resume(s->t, s->g, "", &s->o, &s->r, &s->err);
}

static int act(scene *s, const pons_value *op)
{
    const char *what = pons_get_str(op, "op", "");
    const pons_value *values = pons_get(op, "values");
    values = json_is_object(values) ? values : NULL;
    if (strcmp(what, "input") == 0) {
        end_run(s);
        return pons_run_start(s->t, s->g, "", values, &s->o, &s->r, &s->err);
    }
    if (strcmp(what, "go") == 0) {
        return resume(s);
    }
    if (strcmp(what, "answer") == 0) {
        int st = resume(s); // each is an invocation, with its own recursion limit
        return st == PONS_OK ? answer(s, pons_get_bool(op, "all", true)) : st;
    }
    end_run(s);
    if (strcmp(what, "update") == 0) {
        return pons_state_update(s->t, s->g, "", values, pons_get_str(op, "as", NULL), NULL,
                                 &s->err);
    }
    pons_autovalue list = history(s);
    for (size_t i = json_array_size(list); i-- > 0;) { // those are not the same there
        if (strcmp(pons_get_str(json_array_get(list, i), "source", ""), "fork") == 0) {
            json_array_remove(list, i);
        }
    }
    size_t n = json_array_size(list), at = n - 1 - (size_t)pons_get_int(op, "at", 0) % n;
    return pons_run_fork(s->t, s->g, "",
                         pons_get_str(json_array_get(list, at), "checkpoint_id", ""), values, &s->o,
                         &s->r, &s->err);
}

static int add_own(void *user, const char *ns)
{
    if (ns[0] && !strchr(ns, ':')) {
        json_array_append_new(user, json_string(ns));
    }
    return 0;
}

static pons_value *outcome(scene *s, int st)
{
    static const char *const words[] = {"ready", "parked", "interrupted", "done", "failed"};
    pons_run_state state = s->r ? pons_run_state_get(s->r) : PONS_RUN_DONE;
    const pons_error *e = st != PONS_OK ? &s->err : s->r ? pons_run_error(s->r) : &s->err;
    const char *status = st != PONS_OK ? "failed" : words[state];
    pons_autovalue list = history(s);
    pons_autovalue places = json_array();
    pons_value *own = json_object(), *name;
    size_t i;
    s->store.ops->namespaces(s->store.self, "t", add_own, places, NULL);
    json_array_foreach(places, i, name) {
        pons_value *v = NULL;
        pons_state_read(s->store, "t", json_string_value(name), &v, NULL);
        json_object_set_new(own, json_string_value(name), v);
    }
    const pons_value *head = json_array_get(list, 0);
    return pons_object_whole(
        "status", json_string(status), "error",
        strcmp(status, "failed") == 0 ? json_string(pons_status_word(e->status)) : json_null(),
        "message", strcmp(status, "failed") == 0 ? json_string(e->message) : json_null(), "state",
        pons_value_ref(head ? pons_get(head, "values") : json_null()), "next",
        head ? pons_value_ref(pons_get(head, "next")) : json_array(), "asked", questions(s->r),
        "own", own, "events", pons_value_ref(s->events), NULL);
}

static void unmake(void)
{
    while (made.n_graphs > 0) {
        pons_graph_destroy(made.graphs[--made.n_graphs]);
    }
    made.n_nodes = 0;
}

static pons_value *play(const pons_value *scenario)
{
    pons_clock clock = pons_clock_real();
    pons_value *out = json_array(), *op;
    scene s = {.o = {.durability = pons_get_bool(scenario, "sync", true) ? PONS_DURABILITY_SYNC
                                                                         : PONS_DURABILITY_ASYNC,
                     .recursion_limit = RECURSION_LIMIT}};
    size_t i;
    pons_thread_options o = {.clock = clock, .seed = 1, .on_event = on_event, .user = &s};
    names some = names_of(pons_get(scenario, "nodes"));
    s.o.stream_nodes = some.v[0] ? some.v : NULL;
    json_array_foreach(part(scenario, "stream"), i, op) {
        s.o.stream |= pons_stream_mode(json_string_value(op));
        s.o.stream_subgraphs = true;
    }
    s.g = build(pons_get(scenario, "graph"));
    if (pons_store_memory_open(&s.store, &s.err) != PONS_OK ||
        pons_thread_open(s.store, "t", &o, &s.t, &s.err) != PONS_OK) {
        fprintf(stderr, "no thread: %s\n", s.err.message);
        exit(1);
    }
    json_array_foreach(part(scenario, "do"), i, op) {
        s.err = (pons_error)PONS_ERROR_INIT;
        s.events = json_array();
        made.at = pons_get(op, "cancel");
        if (made.at && pons_cancel_create(&made.cancel, &s.err) != PONS_OK) {
            exit(1);
        }
        s.o.cancel = made.cancel;
        int st = act(&s, op);
        if (st == PONS_OK && s.r) {
            st = pons_run_wait(s.r, &s.err);
        }
        json_array_append_new(out, outcome(&s, st));
        pons_value_unref(s.events);
        s.events = NULL;
        s.o.cancel = NULL;
        pons_cancel_destroy(made.cancel);
        made.cancel = NULL;
    }
    json_array_append_new(out, history(&s));
    end_run(&s);
    s.events = json_array(); // of the thread's end
    pons_thread_close(s.t);
    pons_value_unref(s.events);
    pons_store_close(&s.store);
    unmake();
    return out;
}

// {"draw": G, "xray": n}: the graph as LangGraph's API serves it.
static pons_value *draw(const pons_value *line)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *v = NULL;
    char *text = NULL;
    const pons_draw_options o = {.format = "langgraph", .xray = (int)pons_get_int(line, "xray", 0)};
    if (pons_graph_draw_as(build(pons_get(line, "draw")), &o, &text, &err) != PONS_OK ||
        pons_value_parse(text, strlen(text), &v, &err) != PONS_OK) {
        fprintf(stderr, "no drawing: %s\n", err.message);
        exit(1);
    }
    free(text);
    unmake();
    return v;
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    pons_value_init();
    while (getline(&line, &cap, stdin) > 0) {
        pons_value *scenario = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (pons_value_parse(line, strlen(line), &scenario, &err) != PONS_OK) {
            fprintf(stderr, "a scenario is not JSON: %s\n", err.message);
            return 1;
        }
        pons_autovalue out = pons_get(scenario, "graph")  ? play(scenario)
                             : pons_get(scenario, "draw") ? draw(scenario)
                                                          : peer_messages(scenario);
        char *text = NULL;
        if (pons_value_dump(out, &text) < 0) {
            return 1;
        }
        puts(text);
        fflush(stdout);
        free(text);
        pons_value_unref(scenario);
    }
    free(line);
    return 0;
}
