// together.c - see sweep.h: what several namespaces have to agree on, whenever the process ends.
//
// The outer graph counts its runs, and so do the subgraph and the one inside that, each in a channel
// of its own. Whatever was killed, once the run that is left has come to its end all three have
// counted the same.
#include "graph/sweep.h"
#include "graph/unsynced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ACTION_FORK, ACTION_ROLLBACK, ACTION_EXIT, ACTIONS };
static const char *const action_words[] = {"fork", "rollback", "exit"};

// ---- the graph ----------------------------------------------------------------------------------

static int node_count(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    return pons_cx_put(cx, user, json_integer(1));
}

// Waits when the input says so.
static int node_end(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *a = NULL;
    int st = json_is_true(pons_cx_get(cx, "hold"))
                 ? pons_await(cx, "ask", json_string("?"), 0, &a, err)
                 : PONS_OK;
    return st == PONS_OK ? pons_cx_put(cx, "runs", json_integer(1)) : st;
}

static pons_graph_builder *counter(const char *name, const char *channel_name)
{
    pons_graph_builder *gb = pons_graph_builder_create(name);
    channel(gb, channel_name, PONS_CHANNEL_REDUCE, pons_reduce_add);
    return gb;
}

typedef struct graphs {
    pons_graph *outer, *sub, *deep;
} graphs;

static graphs make(void)
{
    graphs g;
    pons_graph_builder *gb = counter("deep", "deep_runs");
    pons_graph_node(gb, "count", node_count, (void *)(uintptr_t) "deep_runs");
    pons_graph_edge(gb, PONS_START, "count");
    pons_graph_edge(gb, "count", PONS_END);
    g.deep = compile(gb, NULL);
    gb = counter("sub", "sub_runs");
    pons_graph_node(gb, "count", node_count, (void *)(uintptr_t) "sub_runs");
    pons_graph_subgraph(gb, "deep", g.deep, PONS_SUBGRAPH_OWN);
    pons_graph_edge(gb, PONS_START, "count");
    pons_graph_edge(gb, "count", "deep");
    pons_graph_edge(gb, "deep", PONS_END);
    g.sub = compile(gb, NULL);
    gb = counter("outer", "runs");
    channel(gb, "hold", PONS_CHANNEL_LAST, NULL);
    pons_graph_subgraph(gb, "sub", g.sub, PONS_SUBGRAPH_OWN);
    pons_graph_node(gb, "end", node_end, NULL);
    pons_graph_edge(gb, PONS_START, "sub");
    pons_graph_edge(gb, "sub", "end");
    pons_graph_edge(gb, "end", PONS_END);
    g.outer = compile(gb, NULL);
    return g;
}

static void unmake(graphs *g)
{
    pons_graph_destroy(g->outer);
    pons_graph_destroy(g->sub);
    pons_graph_destroy(g->deep);
}

// ---- lives --------------------------------------------------------------------------------------

static void open_store(const sweep_kind *k, const char *path, pons_store *ret)
{
    pons_error err = PONS_ERROR_INIT;
    if (k->open(path, ret, &err) != PONS_OK) {
        fail_msg("store: %s", err.message);
    }
}

static void start(bed *b, const pons_graph *g, const char *input, pons_durability d, pons_run **ret)
{
    pons_autovalue in = json(input);
    const pons_run_options o = {.durability = d};
    assert_ok(pons_run_start(b->t, g, "", in, &o, ret, &b->err));
    assert_ok(pons_run_advance(*ret, &b->err));
}

// Three runs, and the id of the checkpoint at the end of the first.
static void before(const sweep_kind *k, const char *path, char first[32])
{
    graphs g = make();
    pons_store s;
    bed b;
    open_store(k, path, &s);
    s.ops->thread_delete(s.self, "t1", NULL); // of the death before
    bed_open_on(&b, s);
    for (int i = 0; i < 3; i++) {
        pons_run *r = NULL;
        pons_autovalue list = NULL;
        start(&b, g.outer, "{}", PONS_DURABILITY_SYNC, &r);
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        pons_run_destroy(r);
        assert_ok(pons_state_history(s, "t1", "", 1, false, &list, &b.err));
        if (i == 0) {
            snprintf(first, 32, "%s", pons_get_str(json_array_get(list, 0), "checkpoint_id", ""));
        }
    }
    bed_close(&b);
    pons_store_close(&s);
    unmake(&g);
}

// What is done in the process that dies.
static void act(const sweep_kind *k, const char *path, int action, const char *first, int exit_at,
                bool after)
{
    graphs g = make();
    fuse f = {.left = -1, .exit_at = exit_at, .exit_after = after};
    bed b;
    pons_run *r = NULL;
    open_store(k, path, &f.inner);
    bed_open_on(&b, fuse_store(&f));
    if (action == ACTION_FORK) {
        pons_autovalue in = json("{}");
        const pons_run_options o = {.durability = k->durability};
        assert_ok(pons_run_fork(b.t, g.outer, "", first, in, &o, &r, &b.err));
        assert_ok(pons_run_advance(r, &b.err));
    } else {
        start(&b, g.outer, "{'hold':true}",
              action == ACTION_EXIT ? PONS_DURABILITY_EXIT : k->durability, &r);
        assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
        if (action == ACTION_ROLLBACK) {
            pons_run_cancel(r, PONS_CANCEL_ROLLBACK);
        } else {
            const pons_value *last = json_array_get(b.started, 0);
            assert_ok(
                pons_run_answer(r, pons_get_str(last, "id", ""), json_string("go on"), &b.err));
        }
        assert_ok(pons_run_advance(r, &b.err));
    }
    pons_run_destroy(r);
    bed_close(&b);
    pons_store_close(&f.inner);
    unmake(&g);
}

static int64_t counted(pons_store s, const char *ns, const char *channel_name)
{
    pons_autovalue v = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int st = pons_state_read(s, "t1", ns, &v, &err);
    assert_true(st == PONS_OK || st == PONS_ENOTFOUND);
    return pons_get_int(v, channel_name, 0);
}

// The life after it: what is left is run to its end. Returns how many runs all of them have counted.
static int64_t after_life(const sweep_kind *k, const char *path, const char *what, int at)
{
    graphs g = make();
    pons_store s;
    bed b;
    pons_run *r = NULL;
    open_store(k, path, &s);
    bed_open_on(&b, s);
    assert_ok(pons_run_resume(b.t, g.outer, "", NULL, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    for (size_t i = 0; pons_run_state_get(r) == PONS_RUN_PARKED; i++) {
        const pons_value *last = json_array_get(b.started, i);
        assert_ok(pons_run_answer(r, pons_get_str(last, "id", ""), json_string("on"), &b.err));
        assert_ok(pons_run_advance(r, &b.err));
    }
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    const int64_t runs = counted(s, "", "runs"), sub = counted(s, "sub", "sub_runs"),
                  deep = counted(s, "sub|deep", "deep_runs");
    if (runs != sub || runs != deep) {
        fail_msg("%s, %s killed at commit %d: %d runs, of the subgraph %d, of the one in it %d",
                 k->name, what, at, (int)runs, (int)sub, (int)deep);
    }
    bed_close(&b);
    pons_store_close(&s);
    unmake(&g);
    return runs;
}

// ---- deaths -------------------------------------------------------------------------------------

static int in_a_child(const sweep_kind *k, const char *path, int action, const char *first,
                      int exit_at, bool after)
{
    int status = 0;
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fuse_commits = 0;
        act(k, path, action, first, exit_at, after);
        _exit(exit_at == SWEEP_COUNT ? fuse_commits : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void sweep_action(const sweep_kind *k, const char *path, int action)
{
    char first[32] = "";
    int deaths = 0;
    before(k, path, first);
    const int n = in_a_child(k, path, action, first, SWEEP_COUNT, false);
    unsigned seen =
        1u << after_life(k, path, action_words[action], n); // how many runs there were, as bits
    for (int p = sweep_next(k, -1, n); p < 2 * n; p = sweep_next(k, p, n)) {
        before(k, path, first);
        assert_int_equal(in_a_child(k, path, action, first, p / 2 + 1, p % 2), FUSE_EXIT);
        deaths++;
        if (k->passed) {
            k->passed();
        }
        seen |= 1u << after_life(k, path, action_words[action], p / 2 + 1);
    }
    print_message("  %s, %s: %d processes killed, before and after each of %d commits\n", k->name,
                  action_words[action], deaths, n);
    // A fork goes back to the first run and makes a second; the others keep the three, or have four.
    const unsigned all = action == ACTION_FORK ? 1u << 3 | 1u << 1 | 1u << 2 : 1u << 3 | 1u << 4;
    assert_int_equal(seen & ~all, 0);
    assert_true(seen == all || deaths < n);
}

void sweep_together(const sweep_kind *k)
{
    char dir[] = "/tmp/pons-together-XXXXXX", path[64], command[64];
    unsynced();
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.db", dir);
    for (int action = 0; action < ACTIONS; action++) {
        sweep_action(k, path, action);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}
