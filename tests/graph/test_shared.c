// test_shared.c - what the header says may be shared between threads: one compiled graph, one value
// as its input, one store. Eight threads each open a thread of their own and run the same graph, with
// caches in the graph and in the store, schemas, a subgraph, a graph that a node runs, Sends, a
// blocking node and retries, and streams; and eight runs are ended by one cancel. ThreadSanitizer looks
// on (./dev test); the outcome is compared in any case.
#include "graph/graph_help.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, RUNS = 12 };

static const pons_graph *shared;
static pons_value *input; // one for all
static pons_store store;
static atomic_int cached_runs;

static int node_cached(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    atomic_fetch_add(&cached_runs, 1);
    return pons_cx_put(cx, "log", json_string("cached"));
}

static int node_runs(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *end = NULL;
    pons_autovalue in = json("{'sum':5}");
    int st = pons_cx_run(cx, *(pons_graph **)user, in, PONS_SUBGRAPH_NONE, &end, err);
    return st == PONS_OK ? pons_cx_put(cx, "ran", pons_value_ref(pons_get(end, "log"))) : st;
}

static int node_split(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    for (int i = 0; i < 3; i++) {
        pons_cx_send(cx, "sub", json_pack("{si}", "sum", i));
    }
    return PONS_OK;
}

static int node_work(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    if (pons_cx_attempt(cx) == 1) {
        return pons_error_set(err, PONS_EIO, "test", "the first attempt fails");
    }
    return pons_cx_put(cx, "log", pons_value_ref(pons_cx_get(cx, "sum")));
}

static int node_blocks(pons_work *w, void *user, const pons_value *in, pons_value **ret,
                       pons_error *err)
{
    (void)user;
    (void)err;
    pons_work_progress(w);
    *ret = json_pack("{si}", "sum", (int)json_array_size(pons_get(in, "log")));
    return PONS_OK;
}

static int route(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_goto(cx, json_array_size(pons_cx_get(cx, "log")) < 100 ? "last" : PONS_END);
    return PONS_OK;
}

static pons_graph *inner_graph(void)
{
    pons_graph_builder *b = pons_graph_builder_create("inner");
    channel(b, "sum", PONS_CHANNEL_REDUCE, pons_reduce_add);
    channel(b, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(b, "work", node_work, NULL);
    pons_graph_node_options(b, "work", &(pons_node_options){.retry = {.attempts = 2}});
    pons_graph_edge(b, PONS_START, "work");
    pons_graph_edge(b, "work", PONS_END);
    return compile(b, NULL);
}

static pons_graph *outer_graph(const pons_graph *inner, bool stored)
{
    static const pons_graph *runs[2];
    pons_autovalue schema = json("{'properties':{'given':{'items':{'pattern':'^(the|same)$'}}}}");
    static const char *const goes[] = {"sub", NULL}, *const log_only[] = {"given", NULL};
    static const char *const to[] = {"last", PONS_END, NULL};
    pons_graph_builder *b = pons_graph_builder_create("outer");
    channel(b, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(b, "given", PONS_CHANNEL_LAST, NULL);
    channel(b, "sum", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(b, "cached", node_cached, NULL);
    pons_graph_node_options(b, "cached", &(pons_node_options){.cache = true, .cache_on = log_only});
    pons_graph_node(b, "split", node_split, NULL);
    pons_graph_node_options(b, "split", &(pons_node_options){.goes = goes});
    pons_graph_subgraph_mapped(b, "sub", inner, PONS_SUBGRAPH_INHERIT, NULL,
                               (pons_share[]){{"log", "log"}, {NULL, NULL}});
    runs[0] = inner;
    channel(b, "ran", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(b, "runs", node_runs, runs);
    pons_graph_node_options(b, "runs", &(pons_node_options){.runs = runs});
    pons_graph_edge(b, PONS_START, "runs");
    pons_graph_edge(b, "runs", PONS_END);
    pons_graph_declare(b, &(pons_schemas){.input = schema});
    pons_graph_blocking(b, "last", node_blocks, NULL);
    pons_graph_edge(b, PONS_START, "cached");
    pons_graph_edge(b, "cached", "split");
    pons_graph_router(b, "sub", route, NULL, to);
    pons_graph_edge(b, "last", PONS_END);
    return compile(b, &(pons_graph_options){.cache_stored = stored});
}

static void *one_thread(void *arg)
{
    char id[32];
    snprintf(id, sizeof id, "t%d", (int)(intptr_t)arg);
    pons_error err = PONS_ERROR_INIT;
    pons_thread *t = NULL;
    pons_thread_options o = {.clock = pons_clock_real(), .seed = 1};
    int bad = pons_thread_open(store, id, &o, &t, &err) != PONS_OK;
    for (int i = 0; i < RUNS && !bad; i++) {
        pons_run *r = NULL;
        char *drawn = NULL;
        pons_value *schemas = NULL;
        char ns[16];
        const pons_run_options opts = {.stream = PONS_STREAM_UPDATES | PONS_STREAM_TASKS};
        snprintf(ns, sizeof ns, "n%d", i);
        bad = pons_run_start(t, shared, ns, input, &opts, &r, &err) != PONS_OK ||
              pons_run_wait(r, &err) != PONS_OK || pons_run_state_get(r) != PONS_RUN_DONE ||
              pons_graph_draw(shared, "mermaid", &drawn, &err) != PONS_OK ||
              pons_graph_schemas(shared, &schemas, &err) != PONS_OK;
        pons_autovalue want = json("['cached',0,1,2]");
        bad = bad || !json_equal((pons_value *)(uintptr_t)pons_run_get(r, "log"), want);
        bad = bad || json_integer_value(pons_run_get(r, "sum")) != 4;
        pons_autovalue five = json("[5]");
        bad = bad || !json_equal((pons_value *)(uintptr_t)pons_run_get(r, "ran"), five);
        pons_value_unref(schemas);
        free(drawn);
        pons_run_destroy(r);
    }
    pons_thread_close(t);
    return (void *)(intptr_t)(bad ? 1 : 0);
}

static void in_eight_threads(bool stored)
{
    pons_error err = PONS_ERROR_INIT;
    pons_graph *inner = inner_graph(), *outer = outer_graph(inner, stored);
    pons_graph_destroy(inner); // the outer one holds it
    shared = outer;
    atomic_store(&cached_runs, 0);
    input = json("{'given':['the','same']}");
    assert_ok(pons_store_memory_open(&store, &err));
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, one_thread, (void *)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *bad = NULL;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    assert_in_range(atomic_load(&cached_runs), 1, THREADS * RUNS);
    pons_value_unref(input);
    pons_graph_destroy(outer);
    pons_store_close(&store);
}

static void one_graph_in_eight_threads(void **state)
{
    (void)state;
    in_eight_threads(false);
}

static void one_graph_whose_cache_is_stored(void **state)
{
    (void)state;
    in_eight_threads(true);
}

// ---- canceled -----------------------------------------------------------------------------------

static pons_cancel *cancel; // one for all
static sem_t begun;

static int node_round(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const int64_t round = json_integer_value(pons_cx_get(cx, "round"));
    if (round == 3) {
        sem_post(&begun);
    }
    return pons_cx_put(cx, "round", json_integer(round + 1));
}

static int node_until_told(pons_work *w, void *user, const pons_value *in, pons_value **ret,
                           pons_error *err)
{
    (void)user;
    (void)in;
    *ret = NULL;
    sem_post(&begun);
    while (!pons_work_canceled(w)) {
        sched_yield();
    }
    return pons_error_set(err, PONS_ECANCELED, "test", "told to end");
}

// One that goes round for ever, or waits for a worker that does.
static void *one_canceled(void *arg)
{
    const intptr_t i = (intptr_t)arg;
    char id[32];
    snprintf(id, sizeof id, "t%d", (int)i);
    pons_error err = PONS_ERROR_INIT;
    pons_value *state = NULL;
    pons_autovalue in = json_pack("{si}", "which", (int)(i % 2));
    const pons_run_options o = {.cancel = cancel, .recursion_limit = INT32_MAX};
    const int st = pons_graph_invoke(shared, store, id, in, NULL, &o, &state, &err);
    pons_value_unref(state);
    return (void *)(intptr_t)(st == PONS_ECANCELED ? 0 : 1);
}

static int by_which(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_goto(cx, json_integer_value(pons_cx_get(cx, "which")) ? "round" : "worker");
    return PONS_OK;
}

static void one_cancel_for_eight_threads(void **state)
{
    (void)state;
    static const char *const to[] = {"round", "worker", NULL};
    pons_error err = PONS_ERROR_INIT;
    pons_graph_builder *b = pons_graph_builder_create("for ever");
    channel(b, "round", PONS_CHANNEL_LAST, NULL);
    channel(b, "which", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(b, "round", node_round, NULL);
    pons_graph_edge(b, "round", "round");
    pons_graph_blocking(b, "worker", node_until_told, NULL);
    pons_graph_edge(b, "worker", PONS_END);
    pons_graph_router(b, PONS_START, by_which, NULL, to);
    pons_graph *g = compile(b, NULL);
    shared = g;
    sem_init(&begun, 0, 0);
    assert_ok(pons_cancel_create(&cancel, &err));
    assert_ok(pons_store_memory_open(&store, &err));
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, one_canceled, (void *)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        sem_wait(&begun);
    }
    pons_cancel_request(cancel, PONS_CANCEL_INTERRUPT);
    for (int i = 0; i < THREADS; i++) {
        void *bad = NULL;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    pons_cancel_destroy(cancel);
    pons_graph_destroy(g);
    pons_store_close(&store);
    sem_destroy(&begun);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_graph_in_eight_threads),
        cmocka_unit_test(one_graph_whose_cache_is_stored),
        cmocka_unit_test(one_cancel_for_eight_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
