// test_memory.c - every allocation of the engine made to fail once, one at a time: those of pons
// itself (the linker wraps malloc and its kin for this program) and those of its JSON values.
//
// A run with everything (fan-out by edges and Sends, a join, a router, an await, a task, a subgraph
// with an interrupt, an effect, the inbox, posts, events, every stream mode, retry, cache) is
// driven to its end; so is the past of it: a fork, an update, a rollback, a copy, a prune, reads.
// Whatever call is told that there is no memory, the thread is then either closed and opened again,
// or simply used on. Both must end with the state, the messages and the effects of an undisturbed
// run, and nothing may leak.
#include "graph/graph_help.h"
#include "oom.h"
#include "rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- a run that has everything ------------------------------------------------------------------

static int sent; // effects, outside of every process

static int put_text(pons_cx *cx, const char *channel, const char *text)
{
    pons_value *v = json_string(text);
    return v ? pons_cx_put(cx, channel, v) : PONS_ENOMEM;
}

static int node_left(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    pons_value *q = json_string("left?");
    int st = q ? pons_await(cx, "ask", q, 0, &answer, err) : PONS_ENOMEM;
    if (st != PONS_OK) {
        return st;
    }
    pons_cx_custom(cx, json_true());
    return pons_cx_put(cx, "log", pons_value_ref(answer));
}

static int work(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)args;
    (void)err;
    *ret = json_string("worked");
    return *ret ? PONS_OK : PONS_ENOMEM;
}

static int node_right(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *result, *in;
    int st = pons_task(cx, "work", NULL, work, NULL, &result, err);
    if (st != PONS_OK) {
        return st;
    }
    in = pons_cx_inbox(cx, err);
    if (!in) {
        return PONS_ENOMEM;
    }
    for (size_t i = 0; i < json_array_size(in) && st == PONS_OK; i++) {
        st = pons_cx_put(cx, "said", pons_value_ref(pons_get(json_array_get(in, i), "value")));
    }
    if (st == PONS_OK) {
        st = pons_cx_emit(cx, "right", json_true());
    }
    if (st == PONS_OK) {
        st = pons_cx_post(cx, "elsewhere", "note", json_true());
    }
    pons_value *msg = json_pack("{ss}", "text", "hello");
    if (st == PONS_OK) {
        st = msg ? pons_cx_put(cx, "msgs", pons_value_ref(msg)) : PONS_ENOMEM;
    }
    pons_value_unref(msg);
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(result)) : st;
}

static int send_it(void *user, const pons_effect *e, pons_error *err)
{
    (void)user;
    (void)e;
    (void)err;
    sent++;
    return PONS_OK;
}

static int node_act(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    char id[40];
    pons_effect_state was;
    int st = pons_effect_intend(cx, "go", json_object(), 1, NULL, id, err);
    if (st == PONS_OK) {
        st = pons_effect_dispatch(cx, id, NULL, send_it, NULL, &was, err);
    }
    if (st == PONS_OK) {
        st = pons_effect_settle(
            cx, id, was == PONS_EFFECT_INTENDED ? PONS_EFFECT_DONE : PONS_EFFECT_OUTCOME_UNKNOWN,
            NULL, err);
    }
    for (int i = 0; i < 2 && st == PONS_OK; i++) {
        pons_value *arg = json_integer(i);
        if (arg) {
            pons_cx_send(cx, "leaf", arg);
        } else {
            st = PONS_ENOMEM;
        }
    }
    return st == PONS_OK ? put_text(cx, "log", "acted") : st;
}

static int node_leaf(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    if (pons_cx_attempt(cx) == 1 && json_integer_value(pons_cx_arg(cx)) == 1) {
        return pons_error_set(err, PONS_EIO, "test", "once more");
    }
    return put_text(cx, "log", "leaf");
}

static int node_human(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    pons_value *q = json_string("may I?");
    int st = q ? pons_interrupt(cx, q, &answer, err) : PONS_ENOMEM;
    return st == PONS_OK ? pons_cx_put(cx, "log", pons_value_ref(answer)) : st;
}

static int node_merge(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_value *v = json_pack("{sisi}", "k", 1, "n", 2);
    return v ? pons_cx_put(cx, "obj", v) : PONS_ENOMEM;
}

static int route_log(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *log = pons_cx_get(cx, "log"); // with the node's own writes folded in
    pons_cx_goto(cx, json_array_size(log) > 100 ? "merge" : PONS_END);
    return PONS_OK;
}

static pons_graph *inner_graph(pons_error *err)
{
    pons_graph *g = NULL;
    pons_channel_options append = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append};
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    if (!gb) {
        return NULL;
    }
    pons_graph_channel(gb, "log", &append);
    pons_graph_node(gb, "human", node_human, NULL);
    pons_graph_edge(gb, PONS_START, "human");
    pons_graph_edge(gb, "human", PONS_END);
    pons_graph_compile(gb, NULL, &g, err);
    pons_graph_builder_destroy(gb);
    return g;
}

static pons_graph *whole_graph(const pons_graph *sub, pons_error *err)
{
    static const char *const legs[] = {"left", "right"}, *const leaves[] = {"leaf", NULL},
                             *const to[] = {"merge", PONS_END, NULL};
    pons_graph *g = NULL;
    pons_channel_options append = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append},
                         merge = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons_reduce_merge},
                         messages = {.kind = PONS_CHANNEL_MESSAGES};
    pons_graph_builder *gb = pons_graph_builder_create("whole");
    if (!gb) {
        return NULL;
    }
    pons_graph_channel(gb, "log", &append);
    pons_graph_channel(gb, "said", &append);
    pons_graph_channel(gb, "obj", &merge);
    pons_graph_channel(gb, "msgs", &messages);
    pons_graph_node(gb, "left", node_left, NULL);
    pons_graph_node(gb, "right", node_right, NULL);
    pons_graph_node(gb, "act", node_act, NULL);
    pons_graph_node(gb, "leaf", node_leaf, NULL);
    pons_graph_node(gb, "merge", node_merge, NULL);
    pons_graph_node(gb, "end", node_merge, NULL);
    pons_graph_subgraph(gb, "sub", sub, PONS_SUBGRAPH_INHERIT);
    pons_graph_node_options(gb, "act", &(pons_node_options){.goes = leaves});
    pons_graph_node_options(gb, "leaf", &(pons_node_options){.retry = {.attempts = 2}});
    pons_graph_node_options(gb, "merge", &(pons_node_options){.cache = true});
    pons_graph_node_options(gb, "end", &(pons_node_options){.deferred = true});
    pons_graph_edge(gb, PONS_START, "left");
    pons_graph_edge(gb, PONS_START, "right");
    pons_graph_edge(gb, PONS_START, "end");
    pons_graph_join(gb, legs, 2, "act");
    pons_graph_edge(gb, "act", "sub");
    pons_graph_edge(gb, "act", "merge");
    pons_graph_edge(gb, "leaf", PONS_END);
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph_edge(gb, "end", PONS_END);
    pons_graph_router(gb, "merge", route_log, NULL, to);
    pons_graph_compile(gb, NULL, &g, err);
    pons_graph_builder_destroy(gb);
    return g;
}

// ---- driving ------------------------------------------------------------------------------------

typedef struct world {
    pons_store store;
    pons_clock_manual time;
    pons_clock clock;
    pons_thread *t;
    pons_graph *sub, *g;
    bool started; // the run's input is stored
    int reported; // messages posted
    int durability;
    int stage; // of the past: what has been done
    pons_error err;
} world;

static int open_thread(world *w)
{
    pons_thread_options o = {.clock = w->clock, .seed = 7};
    return w->t ? PONS_OK : pons_thread_open(w->store, "t1", &o, &w->t, &w->err);
}

static int open_graphs(world *w)
{
    if (!w->sub) {
        w->sub = inner_graph(&w->err);
    }
    if (w->sub && !w->g) {
        w->g = whole_graph(w->sub, &w->err);
    }
    return w->g ? PONS_OK : PONS_ENOMEM;
}

static int tell(world *w)
{
    for (; w->reported < 2; w->reported++) {
        pons_autovalue v = json_integer(w->reported);
        int st = v ? pons_inbox_post(w->store, "t1", "", "say", v, &w->err) : PONS_ENOMEM;
        if (st != PONS_OK) {
            return st;
        }
    }
    return PONS_OK;
}

static int answer_one(world *w, pons_run *r)
{
    pons_autovalue pending = pons_run_pending(r);
    const pons_value *p = json_array_get(pending, 0);
    pons_autovalue yes = json_string("yes");
    if (!p || !yes) {
        return PONS_ENOMEM;
    }
    return strcmp(pons_get_str(p, "kind", ""), "human") == 0
               ? pons_run_resume_value(r, yes, &w->err)
               : pons_run_answer(r, pons_get_str(p, "id", ""), pons_value_ref(yes), &w->err);
}

// To the end. In place: after an error the same run is used on, as long as it lets itself.
static int live(world *w, bool in_place)
{
    pons_run *r = NULL;
    pons_run_options o = {.durability = (pons_durability)w->durability, .stream = 0x7f};
    int st = tell(w), errors = 0;
    if (st == PONS_OK) {
        st = pons_run_resume(w->t, w->g, "", &o, &r, &w->err);
    }
    if (st == PONS_ENOTFOUND && w->started) {
        pons_autovalue v = NULL; // it may be over
        st = pons_state_read(w->store, "t1", "", &v, &w->err);
        if (st == PONS_OK && pons_get(v, "obj")) {
            return PONS_OK;
        }
        st = st == PONS_OK || st == PONS_ENOTFOUND ? PONS_ENOTFOUND : st;
    }
    if (st == PONS_ENOTFOUND) {
        st = pons_run_start(w->t, w->g, "", NULL, &o, &r, &w->err);
    }
    w->started = w->started || st == PONS_OK;
    while (st == PONS_OK) {
        st = pons_run_advance(r, &w->err);
        if (st == PONS_OK && pons_run_state_get(r) == PONS_RUN_DONE) {
            break;
        }
        if (st == PONS_OK && pons_run_state_get(r) == PONS_RUN_FAILED) {
            st = PONS_ENOMEM; // the only reason there is
        } else if (st == PONS_OK) {
            st = answer_one(w, r);
        }
        if (st != PONS_OK && in_place && errors++ < 2 && pons_run_state_get(r) != PONS_RUN_FAILED) {
            st = PONS_OK; // once more
        }
    }
    pons_run_destroy(r);
    return st;
}

static void check(world *w, const char *what, long n)
{
    pons_autovalue v = NULL;
    pons_autovalue effects = NULL;
    int64_t left = -1, posted = -1;
    assert_ok(pons_state_read(w->store, "t1", "", &v, &w->err));
    assert_int_equal(json_array_size(pons_get(v, "msgs")), 1);
    json_object_del(v, "msgs"); // an id
    pons_autovalue want = json("{'log':['yes','worked','acted','yes','leaf','leaf'],"
                               "'said':[0,1],'obj':{'k':1,'n':2}}");
    if (!json_equal(v, want)) {
        char *have = NULL;
        pons_value_dump(v, &have);
        fail_msg("%s, allocation %ld: %s", what, n, have);
    }
    assert_ok(pons_effects_read(w->store, "t1", UINT32_MAX, &effects, &w->err));
    assert_int_equal(json_array_size(effects), 1);
    if (sent > 1) {
        fail_msg("%s, allocation %ld: the effect was sent %d times", what, n, sent);
    }
    assert_ok(pons_thread_inbox_count(w->t, "", &left, &w->err));
    assert_ok(pons_thread_inbox_count(w->t, "elsewhere", &posted, &w->err));
    assert_int_equal(left, 0);
    assert_int_equal(posted, 1);
}

// ---- the past -----------------------------------------------------------------------------------

static int node_count(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_value *v = json_integer(1);
    return v ? pons_cx_put(cx, "sum", v) : PONS_ENOMEM;
}

static int node_waits(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    pons_value *q = json_string("?");
    return q ? pons_await(cx, "ask", q, 0, &answer, err) : PONS_ENOMEM;
}

static int chain_graph(world *w)
{
    pons_channel_options add = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons_reduce_add};
    pons_graph_builder *gb = w->g ? NULL : pons_graph_builder_create("chain");
    if (w->g || !gb) {
        return w->g ? PONS_OK : PONS_ENOMEM;
    }
    pons_graph_channel(gb, "sum", &add);
    pons_graph_node(gb, "a", node_count, NULL);
    pons_graph_node(gb, "w", node_waits, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", "w");
    pons_graph_edge(gb, "w", PONS_END);
    int st = pons_graph_compile(gb, NULL, &w->g, &w->err);
    pons_graph_builder_destroy(gb);
    return st;
}

static int advance_and_destroy(world *w, pons_run *r, int st)
{
    if (st == PONS_OK) {
        st = pons_run_advance(r, &w->err);
    }
    if (st == PONS_OK && pons_run_state_get(r) == PONS_RUN_FAILED) {
        st = PONS_ENOMEM;
    }
    pons_run_destroy(r);
    return st;
}

static int first_checkpoint(world *w, char ret[32])
{
    pons_autovalue list = NULL;
    int st = pons_state_history(w->store, "t1", "", 0, true, &list, &w->err);
    size_t n = json_array_size(list);
    if (st == PONS_OK && n < 2) {
        st = PONS_ENOMEM; // a row that found none
    }
    if (st == PONS_OK) {
        snprintf(ret, 32, "%s", pons_get_str(json_array_get(list, n - 2), "checkpoint_id", ""));
    }
    return st;
}

// One thing after the other; `stage` says how far it has come, so that it can be called again.
static int past(world *w, bool in_place)
{
    (void)in_place;
    pons_run *r = NULL, *two = NULL;
    char at[32] = "";
    int st = PONS_OK;
    pons_run_options o = {.durability = (pons_durability)w->durability};
    pons_autovalue one = json_pack("{si}", "sum", 1);
    if (!one) {
        return PONS_ENOMEM;
    }
    if (w->stage == 0) { // a run that waits: sum 1
        st = pons_run_start(w->t, w->g, "", NULL, &o, &r, &w->err);
        st = advance_and_destroy(w, r, st);
        w->stage += st == PONS_OK;
    }
    if (st == PONS_OK && w->stage == 1) { // told as a: sum 2
        st = pons_state_update(w->t, w->g, "", one, "a", NULL, &w->err);
        w->stage += st == PONS_OK;
    }
    if (st == PONS_OK && w->stage == 2) { // the past of it: sum 1
        r = NULL;
        st = first_checkpoint(w, at);
        if (st == PONS_OK) {
            st = pons_run_fork(w->t, w->g, "", at, NULL, &o, &r, &w->err);
        }
        st = advance_and_destroy(w, r, st);
        w->stage += st == PONS_OK;
    }
    if (st == PONS_OK && w->stage == 3) { // a run gives way to another, and goes: sum 1 and 1 and 1
        r = NULL;
        st = pons_run_submit(w->t, w->g, "", one, PONS_BUSY_ENQUEUE, &o, &r, &w->err);
        if (st == PONS_OK) {
            st = pons_run_advance(r, &w->err);
        }
        if (st == PONS_OK) {
            st = pons_run_submit(w->t, w->g, "", one, PONS_BUSY_ROLLBACK, &o, &two, &w->err);
        }
        if (st == PONS_OK) {
            st = pons_run_advance(two, &w->err);
        }
        if (st == PONS_OK && pons_run_state_get(two) == PONS_RUN_FAILED) {
            st = PONS_ENOMEM;
        }
        pons_run_destroy(r);
        pons_run_destroy(two);
        w->stage += st == PONS_OK;
    }
    if (st == PONS_OK && w->stage == 4) {
        st = pons_state_copy(w->store, "t1", "copy", &w->err);
        w->stage += st == PONS_OK;
    }
    if (st == PONS_OK && w->stage == 5) {
        st = pons_thread_prune(w->t, 1, 0, NULL, &w->err);
        w->stage += st == PONS_OK;
    }
    return st;
}

static void check_past(world *w, const char *what, long n)
{
    static const char *const threads[] = {"t1", "copy"};
    for (int i = 0; i < 2; i++) {
        pons_autovalue v = NULL;
        int st = pons_state_read(w->store, threads[i], "", &v, &w->err);
        if (st != PONS_OK) {
            fail_msg("%s, allocation %ld: thread %s: %s", what, n, threads[i], w->err.message);
        }
        // What failed half-way in stage 0 or 3 may have been run twice, never half.
        assert_in_range(json_integer_value(pons_get(v, "sum")), 3, 6);
    }
}

// ---- the sweep ----------------------------------------------------------------------------------

typedef struct tale {
    const char *name;
    int (*graphs)(world *w);
    int (*act)(world *w, bool in_place);
    void (*check)(world *w, const char *what, long n);
} tale;

static void open_world(world *w, int durability)
{
    *w = (world){.durability = durability};
    w->time.now_ns = PONS_NS_PER_S;
    w->time.wall_epoch_ms = 1700000000000LL;
    w->clock = pons_clock_from_manual(&w->time);
    assert_ok(pons_store_memory_open(&w->store, &w->err));
    sent = 0;
}

// Tells its tale with the n-th allocation failing (-1: none); how many there were.
static long tell_tale(const tale *t, int durability, long n, bool in_place)
{
    world w;
    oom.off = true;
    open_world(&w, durability);
    oom.count = 0;
    oom.fail = n;
    oom.off = false;
    int st = t->graphs(&w);
    if (st == PONS_OK) {
        st = open_thread(&w);
    }
    if (st == PONS_OK) {
        st = t->act(&w, in_place);
    }
    oom.off = true;
    long count = oom.count;
    if (st != PONS_OK && n < 0) {
        fail_msg("%s: %s", t->name, w.err.message);
    }
    if (st != PONS_OK) { // and now with memory
        if (!in_place) {
            pons_thread_close(w.t);
            w.t = NULL;
        }
        assert_ok(t->graphs(&w));
        assert_ok(open_thread(&w));
        st = t->act(&w, false);
        if (st != PONS_OK) {
            fail_msg("%s, allocation %ld%s: %s", t->name, n, in_place ? ", in place" : "",
                     w.err.message);
        }
    }
    t->check(&w, t->name, n);
    pons_thread_close(w.t);
    pons_graph_destroy(w.g);
    pons_graph_destroy(w.sub);
    pons_store_close(&w.store);
    return count;
}

static void every_allocation_fails_once(void **state)
{
    const tale *t = *state;
    for (int d = 0; d < 2; d++) { // async, opened again; sync, used on
        long n = tell_tale(t, d, -1, false);
        long failed = 0;
        for (long i = 0; i < n; i++) {
            if (rounds_take(ROUNDS_allocations, i, n)) {
                tell_tale(t, d, i, d == 1);
                failed++;
            }
        }
        print_message("  %s, %s: %ld of %ld allocations failed\n", t->name,
                      d ? "sync, used on" : "async, opened again", failed, n);
        assert_true(n > 300);
    }
}

int main(void)
{
    oom_init();
    static const tale whole = {"a whole run", open_graphs, live, check},
                      before = {"the past", chain_graph, past, check_past};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_allocation_fails_once, (void *)(uintptr_t)&whole),
        cmocka_unit_test_prestate(every_allocation_fails_once, (void *)(uintptr_t)&before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
