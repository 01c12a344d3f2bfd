// test_sweep_routes.c - the death of the process at every commit of a run that sends, defers,
// retries, hands over to an error handler, commands its parent and is told something by a command
// as input. As test_sweep.c does it: undisturbed once, then with a store that dies at the n-th
// commit, everything closed, opened again and gone on with. The final state is the same each time;
// so is that of a second sweep over a fork with an effect that a person confirms, which is sent at
// most once.
#include "graph/graph_help.h"
#include "graph/unsynced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int node_split(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    for (int i = 0; i < 3; i++) {
        pons_cx_send(cx, "work", json_integer(i));
    }
    pons_cx_goto(cx, "sum");
    return pons_cx_put(cx, "log", json_string("split"));
}

static int node_work(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_await(cx, "ask", pons_value_ref(pons_cx_arg(cx)), 0, &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    if (pons_cx_attempt(cx) < 2 && json_integer_value(pons_cx_arg(cx)) == 1) {
        return pons_error_set(err, PONS_EIO, "test", "once more");
    }
    return pons_cx_put(cx, "log",
                       json_sprintf("work %d", (int)json_integer_value(pons_cx_arg(cx))));
}

static int node_breaks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    pons_cx_put(cx, "log", json_string("never"));
    return pons_error_set(err, PONS_EIO, "test", "broken");
}

static int node_handles(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_interrupt(cx, json_string("and now?"), &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    return pons_cx_put(cx, "log",
                       json_sprintf("handled: %s %s", json_string_value(answer),
                                    pons_get_str(pons_cx_arg(cx), "message", "")));
}

static int node_leaves(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    static const char *const go[] = {"breaks", NULL};
    return pons_cx_command(
        cx, &(pons_command){.update = json("{'log':'left'}"), .go = go, .parent = true}, err);
}

static pons_graph *inner(void)
{
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "enter", node_log, NULL);
    pons_graph_node(gb, "leave", node_leaves, NULL);
    pons_graph_edge(gb, PONS_START, "enter");
    pons_graph_edge(gb, "enter", "leave");
    pons_graph_edge(gb, "leave", PONS_END);
    return compile(gb, NULL);
}

static pons_graph *whole(const pons_graph *sub)
{
    static const char *const goes[] = {"work", "sum", NULL}, *const leaves[] = {"breaks", NULL};
    pons_graph_builder *gb = pons_graph_builder_create("routes");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "split", node_split, NULL);
    pons_graph_node(gb, "work", node_work, NULL);
    pons_graph_node(gb, "sum", node_log, NULL);
    pons_graph_subgraph(gb, "sub", sub, PONS_SUBGRAPH_INHERIT);
    pons_graph_node(gb, "breaks", node_breaks, NULL);
    pons_graph_node(gb, "handler", node_handles, NULL);
    pons_graph_edge(gb, PONS_START, "split");
    pons_graph_edge(gb, "work", PONS_END);
    pons_graph_edge(gb, "sum", "sub");
    pons_graph_edge(gb, "breaks", PONS_END);
    pons_graph_edge(gb, "handler", PONS_END);
    pons_graph_node_options(gb, "split", &(pons_node_options){.goes = goes});
    pons_graph_node_options(gb, "sum", &(pons_node_options){.deferred = true});
    pons_graph_node_options(gb, "sub", &(pons_node_options){.goes = leaves});
    pons_graph_node_options(gb, "work",
                            &(pons_node_options){.retry = {.attempts = 3, .initial_ms = 100}});
    pons_graph_node_options(gb, "breaks", &(pons_node_options){.error_handler = "handler"});
    return compile(gb, NULL);
}

// ---- one life -----------------------------------------------------------------------------------

static bool ended(bed *b)
{
    pons_autovalue v = NULL;
    pons_autovalue history = NULL;
    return pons_state_read(b->store, "t1", "", &v, NULL) == PONS_OK &&
           pons_state_history(b->store, "t1", "", 1, false, &history, NULL) == PONS_OK &&
           json_array_size(pons_get(json_array_get(history, 0), "next")) == 0;
}

// A person's command: told once, whether or not the process dies between the telling and the
// answer.
static int person(bed *b, const pons_graph *g, pons_run **r, const pons_run_options *o)
{
    pons_autovalue yes = json("'yes'");
    pons_run_destroy(*r);
    *r = NULL;
    return pons_run_command(b->t, g, "", &(pons_command){.resume = yes}, o, r, &b->err);
}

static int live(bed *b, const pons_graph *g, pons_durability durability)
{
    pons_run *r = NULL;
    pons_run_options o = {.durability = durability};
    int st = pons_run_resume(b->t, g, "", &o, &r, &b->err);
    if (st == PONS_ENOTFOUND && ended(b)) {
        return PONS_OK;
    }
    if (st == PONS_ENOTFOUND) {
        st = pons_run_start(b->t, g, "", NULL, &o, &r, &b->err);
    }
    while (st == PONS_OK && (st = pons_run_advance(r, &b->err)) == PONS_OK) {
        if (pons_run_state_get(r) == PONS_RUN_DONE) {
            break;
        }
        if (pons_run_state_get(r) == PONS_RUN_FAILED) {
            fail_msg("a node failed: %s", pons_run_error(r)->message);
        }
        if (pons_run_state_get(r) == PONS_RUN_INTERRUPTED) {
            st = person(b, g, &r, &o);
            continue;
        }
        pons_autovalue pending = pons_run_pending(r);
        int64_t due = pons_run_deadlines(r, &b->err);
        if (json_array_size(pending) > 0) {
            st = pons_run_answer(r, pons_get_str(json_array_get(pending, 0), "id", ""), json_true(),
                                 &b->err);
        } else if (pons_run_state_get(r) == PONS_RUN_PARKED) {
            assert_true(due != INT64_MAX);
            b->time.now_ns = due > b->time.now_ns ? due : b->time.now_ns;
            pons_run_deadlines(r, &b->err);
        }
    }
    pons_run_destroy(r);
    return st;
}

typedef struct kind {
    const char *name;
    bool sqlite;
    pons_durability durability;
} kind;

static void open_inner(const kind *k, const char *path, pons_store *ret)
{
    pons_error err = PONS_ERROR_INIT;
    assert_ok(k->sqlite ? pons_store_sqlite_open(path, ret, &err)
                        : pons_store_memory_open(ret, &err));
}

// What is the same for both sweeps: dies at commit n of `act`, reopens, acts again.
typedef int (*act_fn)(bed *b, const pons_graph *g, const kind *k);

static int run_with_death(const kind *k, const char *dir, int n, const pons_graph *g, act_fn act,
                          void (*check)(bed *b))
{
    char path[256];
    fuse f = {.left = -1};
    bed b;
    snprintf(path, sizeof path, "%s/%s-%d.db", dir, k->name, n);
    open_inner(k, path, &f.inner);
    bed_open_on(&b, fuse_store(&f));
    f.left = n;
    int st = act(&b, g, k), commits = f.commits;
    if (st != PONS_OK) {
        assert_true(f.dead);
        pons_thread_close(b.t);
        b.t = NULL;
        if (k->sqlite) {
            pons_store_close(&f.inner);
            open_inner(k, path, &f.inner);
        }
        f.dead = false;
        f.left = -1;
        bed_thread(&b);
        st = act(&b, g, k);
        if (st != PONS_OK) {
            fail_msg("%s, killed at commit %d: %s", k->name, n, b.err.message);
        }
    }
    check(&b);
    bed_close(&b);
    pons_store_close(&f.inner);
    return commits;
}

static void sweep(const kind *k, const char *what, const pons_graph *g, act_fn act,
                  void (*check)(bed *b), void (*before)(void))
{
    char dir[] = "/tmp/pons-routes-XXXXXX", command[64];
    assert_non_null(mkdtemp(dir));
    before();
    int n = run_with_death(k, dir, -1, g, act, check);
    for (int i = 0; i < n; i++) {
        before();
        run_with_death(k, dir, i, g, act, check);
    }
    print_message("%s, %s: killed at each of %d commits\n", what, k->name, n);
    assert_true(n > 3);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

// ---- routes -------------------------------------------------------------------------------------

static int act_routes(bed *b, const pons_graph *g, const kind *k)
{
    return live(b, g, k->durability);
}

static void check_routes(bed *b)
{
    pons_autovalue v = NULL;
    assert_ok(pons_state_read(b->store, "t1", "", &v, &b->err));
    assert_json(pons_get(v, "log"), "['split','work 0','work 1','work 2','sum','left',"
                                    "'handled: yes broken']");
}

static void nothing(void)
{
}

static void routes_survive(void **state)
{
    pons_graph *sub = inner(), *g = whole(sub);
    sweep(*state, "routes", g, act_routes, check_routes, nothing);
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
}

// ---- a fork with an effect ----------------------------------------------------------------------

static int sent; // outside of every process

static int send_it(void *user, const pons_effect *e, pons_error *err)
{
    (void)user;
    (void)e;
    (void)err;
    sent++;
    return PONS_OK;
}

static int node_acts(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    char id[40];
    pons_effect_state found;
    int st = pons_effect_intend(cx, "move", NULL, 0, NULL, id, err);
    if (st == PONS_OK) {
        st = pons_effect_dispatch(cx, id, NULL, send_it, NULL, &found, err);
    }
    return st == PONS_OK ? pons_cx_put(cx, "log", json_string("acted")) : st;
}

static void start_over(void)
{
    sent = 0;
}

// Runs once; then forks the oldest step that acts, unless the fork is there, and lives it to its
// end.
static int act_fork(bed *b, const pons_graph *g, const kind *k)
{
    pons_autovalue history = NULL;
    pons_run *r = NULL;
    const char *at = NULL;
    bool forked = false;
    size_t i;
    pons_value *c;
    pons_run_options o = {.durability = k->durability};
    int st = live(b, g, k->durability);
    if (st == PONS_OK) {
        st = pons_state_history(b->store, "t1", "", 0, false, &history, &b->err);
    }
    json_array_foreach(history, i, c) {
        forked = forked || strcmp(pons_get_str(c, "source", ""), "fork") == 0;
        if (pons_get_int(c, "step", 0) == 0) {
            at = pons_get_str(c, "checkpoint_id", "");
        }
    }
    if (st != PONS_OK || forked) {
        return st;
    }
    st = pons_run_fork(b->t, g, "", at, NULL, &o, &r, &b->err);
    pons_run_destroy(r);
    return st == PONS_OK ? live(b, g, k->durability) : st;
}

static void check_fork(bed *b)
{
    pons_autovalue v = NULL;
    assert_ok(pons_state_read(b->store, "t1", "", &v, &b->err));
    assert_json(pons_get(v, "log"), "['acted']");
    assert_in_range(sent, 0, 2); // at most once a branch; a death after the commit may cost one
    pons_autovalue effects = NULL;
    assert_ok(pons_effects_read(b->store, "t1", UINT32_MAX, &effects, &b->err));
    assert_int_equal(json_array_size(effects), 2);
}

static void a_fork_survives(void **state)
{
    const kind *k = *state;
    pons_graph_builder *gb = pons_graph_builder_create("acts");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "act", node_acts, NULL);
    pons_graph_edge(gb, PONS_START, "act");
    pons_graph_edge(gb, "act", PONS_END);
    pons_graph *g = compile(gb, NULL);
    sweep(k, "fork", g, act_fork, check_fork, start_over);
    pons_graph_destroy(g);
}

int main(void)
{
    unsynced();
    pons_value_init();
    static kind kinds[] = {
        {"memory-sync", false, PONS_DURABILITY_SYNC},
        {"memory-async", false, PONS_DURABILITY_ASYNC},
        {"memory-exit", false, PONS_DURABILITY_EXIT},
        {"sqlite-sync", true, PONS_DURABILITY_SYNC},
        {"sqlite-async", true, PONS_DURABILITY_ASYNC},
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(routes_survive, &kinds[0]),
        cmocka_unit_test_prestate(routes_survive, &kinds[1]),
        cmocka_unit_test_prestate(routes_survive, &kinds[2]),
        cmocka_unit_test_prestate(routes_survive, &kinds[3]),
        cmocka_unit_test_prestate(routes_survive, &kinds[4]),
        cmocka_unit_test_prestate(a_fork_survives, &kinds[0]),
        cmocka_unit_test_prestate(a_fork_survives, &kinds[1]),
        cmocka_unit_test_prestate(a_fork_survives, &kinds[3]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
