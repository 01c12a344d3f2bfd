// sweep.c - see sweep.h.
#include "graph/sweep.h"

#include "graph/unsynced.h"
#include "rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- nodes --------------------------------------------------------------------------------------

static int node_left(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_await(cx, "ask", json("'left?'"), 0, &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_cx_emit(cx, "left", pons_value_ref(answer));
    return pons_cx_put(cx, "log", pons_value_ref(answer));
}

static int work(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    (void)args;
    (void)err;
    ((world *)user)->task_runs++;
    *ret = json_string("worked");
    return PONS_OK;
}

static int node_right(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *result;
    pons_autovalue args = json("{'n':1}");
    int st = pons_task(cx, "work", args, work, user, &result, err);
    if (st != PONS_OK) {
        return st;
    }
    const pons_value *in = pons_cx_inbox(cx, err);
    if (!in) {
        return PONS_EIO;
    }
    for (size_t i = 0; i < json_array_size(in); i++) {
        pons_cx_put(cx, "said", pons_value_ref(pons_get(json_array_get(in, i), "value")));
    }
    pons_cx_emit(cx, "right", json_integer(2));
    pons_cx_post(cx, "elsewhere", "note", json("'posted'"));
    return pons_cx_put(cx, "log", pons_value_ref(result));
}

static int send_it(void *user, const pons_effect *e, pons_error *err)
{
    (void)err;
    world *w = user;
    if (w->file) { // beyond the life of this process
        FILE *f = fopen(w->file, "a");
        assert_non_null(f);
        fprintf(f, "%s\n", e->id);
        fclose(f);
    }
    json_object_set_new(w->sent, e->id, json_integer(pons_get_int(w->sent, e->id, 0) + 1));
    return PONS_OK;
}

static int node_intend(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    char id[40];
    int st = pons_effect_intend(cx, "go", json("{'to':'kitchen'}"), 1, NULL, id, err);
    return st == PONS_OK ? pons_cx_put(cx, "effect", json_string(id)) : st;
}

static int node_act(pons_cx *cx, void *user, pons_error *err)
{
    const char *id = json_string_value(pons_cx_get(cx, "effect"));
    pons_effect_state was;
    int st = pons_effect_dispatch(cx, id, NULL, send_it, user, &was, err);
    if (st != PONS_OK) {
        return st;
    }
    st = pons_effect_settle(
        cx, id, was == PONS_EFFECT_INTENDED ? PONS_EFFECT_DONE : PONS_EFFECT_OUTCOME_UNKNOWN, NULL,
        err);
    if (st != PONS_OK) {
        return st;
    }
    pons_cx_emit(cx, "acted", json_true());
    for (int i = 0; i < 2; i++) {
        pons_cx_send(cx, "leaf", json_integer(i));
    }
    return pons_cx_put(cx, "log", json_string("acted"));
}

// Done while the subgraph beside it waits for a person: its writes are pending until then.
static int node_leaf(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_emit(cx, "leaf", pons_value_ref(pons_cx_arg(cx)));
    return pons_cx_put(cx, "log",
                       json_sprintf("leaf %d", (int)json_integer_value(pons_cx_arg(cx))));
}

static int node_human(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer;
    int st = pons_interrupt(cx, json("'may I?'"), &answer, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_cx_emit(cx, "asked", pons_value_ref(answer));
    return pons_cx_put(cx, "log", pons_value_ref(answer));
}

static int route_twice(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    int64_t round = json_integer_value(pons_cx_get(cx, "round"));
    pons_cx_goto(cx, round < 2 ? "left" : PONS_END);
    if (round < 2) {
        pons_cx_goto(cx, "right");
    }
    return PONS_OK;
}

static int node_round(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "round", json_integer(1));
}

static pons_graph *inner_graph(void)
{
    pons_graph_builder *gb = pons_graph_builder_create("inner");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "enter", node_log, NULL);
    pons_graph_node(gb, "human", node_human, NULL);
    pons_graph_edge(gb, PONS_START, "enter");
    pons_graph_edge(gb, "enter", "human");
    pons_graph_edge(gb, "human", PONS_END);
    return compile(gb, NULL);
}

static pons_graph *whole_graph(world *w, const pons_graph *sub, bool quiet)
{
    static const char *const legs[] = {"left", "right"};
    static const char *const to[] = {"left", "right", PONS_END, NULL};
    static const char *const leaves[] = {"leaf", NULL};
    pons_graph_builder *gb = pons_graph_builder_create("whole");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "said", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "round", PONS_CHANNEL_REDUCE, pons_reduce_add);
    channel(gb, "effect", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "left", node_left, w);
    pons_graph_node(gb, "right", node_right, w);
    pons_graph_node(gb, "joined", node_intend, w);
    pons_graph_node(gb, "act", node_act, w);
    pons_graph_node_options(gb, "act", &(pons_node_options){.goes = leaves});
    pons_graph_node(gb, "leaf", node_leaf, NULL);
    pons_graph_edge(gb, "leaf", PONS_END);
    pons_graph_subgraph(gb, "sub", sub, PONS_SUBGRAPH_INHERIT);
    pons_graph_node(gb, "again", node_round, NULL);
    pons_graph_edge(gb, PONS_START, "left");
    pons_graph_edge(gb, PONS_START, "right");
    pons_graph_join(gb, legs, 2, "joined");
    pons_graph_edge(gb, "joined", "act");
    pons_graph_edge(gb, "act", "sub");
    pons_graph_edge(gb, "sub", "again");
    pons_graph_router(gb, "again", route_twice, NULL, to);
    return compile(gb, &(pons_graph_options){.quiet = quiet});
}

// ---- one life -----------------------------------------------------------------------------------

static bool ended(const bed *b)
{
    pons_autovalue v = NULL;
    return pons_state_read(b->store, "t1", "n", &v, NULL) == PONS_OK &&
           pons_get_int(v, "round", 0) == 2;
}

// Drives to the end, answering whatever is pending. The first error is the death.
static int live(bed *b, const pons_graph *g, pons_durability durability)
{
    pons_run *r = NULL;
    pons_run_options o = {.durability = durability};
    pons_autovalue yes = json("'yes'");
    int st = pons_run_resume(b->t, g, "n", &o, &r, &b->err);
    if (st == PONS_ENOTFOUND && ended(b)) {
        return PONS_OK; // it died after its last commit
    }
    if (st == PONS_ENOTFOUND) {
        st = pons_run_start(b->t, g, "n", NULL, &o, &r, &b->err);
    }
    while (st == PONS_OK && (st = pons_run_advance(r, &b->err)) == PONS_OK) {
        if (pons_run_state_get(r) == PONS_RUN_DONE) {
            break;
        }
        if (pons_run_state_get(r) == PONS_RUN_FAILED) {
            fail_msg("a node failed: %s", pons_run_error(r)->message);
        }
        pons_autovalue pending = pons_run_pending(r);
        assert_true(json_array_size(pending) > 0);
        const pons_value *p = json_array_get(pending, 0);
        st = strcmp(pons_get_str(p, "kind", ""), "human") == 0
                 ? pons_run_resume_value(r, yes, &b->err)
                 : pons_run_answer(r, pons_get_str(p, "id", ""), json("'answer'"), &b->err);
    }
    pons_run_destroy(r);
    return st;
}

static int event_row(void *user, const pons_event_row *row)
{
    json_array_append_new(user, json_string(row->type));
    return 0;
}

static void check(bed *b, world *w, int n)
{
    pons_autovalue v = NULL;
    pons_autovalue effects = NULL;
    pons_autovalue types = json_array();
    assert_ok(pons_state_read(b->store, "t1", "n", &v, &b->err));
    json_object_del(v, "effect"); // an id, random
    assert_json(v, "{'log':['answer','worked','acted','enter','yes','leaf 0','leaf 1',"
                   "'answer','worked','acted','enter','yes','leaf 0','leaf "
                   "1'],'round':2,'said':['one','two']}");
    assert_ok(b->store.ops->events(b->store.self, "t1", 0, 0, event_row, types, &b->err));
    assert_json(types, "['left','right','acted','asked','leaf','leaf',"
                       "'left','right','acted','asked','leaf','leaf']");
    assert_ok(pons_effects_read(b->store, "t1", UINT32_MAX, &effects, &b->err));
    assert_int_equal(json_array_size(effects), 2);
    const char *id;
    pons_value *times;
    json_object_foreach(w->sent, id, times) {
        if (json_integer_value(times) > 1) {
            fail_msg("killed at commit %d: effect %s was sent twice", n, id);
        }
    }
    assert_true(json_object_size(w->sent) <= 2);
    assert_in_range(w->task_runs, 2, 3);
    int64_t waiting = 0;
    assert_ok(pons_thread_inbox_count(b->t, "n", &waiting, &b->err));
    assert_int_equal(waiting, 0);
    assert_ok(pons_thread_inbox_count(b->t, "elsewhere", &waiting, &b->err));
    assert_int_equal(waiting, 2);
}

static void open_inner(const sweep_kind *k, const char *path, pons_store *ret)
{
    pons_error err = PONS_ERROR_INIT;
    int st = k->open ? k->open(path, ret, &err) : pons_store_memory_open(ret, &err);
    if (st != PONS_OK) {
        fail_msg("store: %s", err.message);
    }
}

// Runs with a death at commit n (n < 0: none). Returns how many commits it made, -1 when the run
// had ended before the n-th.
static int run_with_death(const sweep_kind *k, const char *path, int n)
{
    world w = {.sent = json_object()};
    pons_graph *sub = inner_graph(), *g = whole_graph(&w, sub, k->quiet);
    fuse f = {.left = -1};
    bed b;
    open_inner(k, path, &f.inner);
    pons_autovalue one = json("'one'");
    pons_autovalue two = json("'two'");
    bed_open_on(&b, fuse_store(&f));
    assert_ok(pons_inbox_post(b.store, "t1", "n", "say", one, &b.err));
    assert_ok(pons_inbox_post(b.store, "t1", "n", "say", two, &b.err));
    f.left = n;
    int st = live(&b, g, k->durability), commits = f.commits;
    bool died = st != PONS_OK;
    if (died) {
        assert_true(f.dead);
        pons_thread_close(b.t);
        b.t = NULL;
        if (k->open) {
            pons_store_close(&f.inner);
            open_inner(k, path, &f.inner);
        }
        f.dead = false;
        f.left = -1;
        bed_thread(&b);
        st = live(&b, g, k->durability);
        if (st != PONS_OK) {
            fail_msg("%s, killed at commit %d: %s", k->name, n, b.err.message);
        }
    }
    check(&b, &w, n);
    bed_close(&b);
    pons_store_close(&f.inner);
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    pons_value_unref(w.sent);
    return died || n < 0 ? commits : -1;
}

static void remove_dir(const char *dir)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

// The rows of the last life are no business of the next.
static void forget(const sweep_kind *k, const char *path)
{
    pons_store s;
    pons_error err = PONS_ERROR_INIT;
    if (!k->open) {
        return;
    }
    open_inner(k, path, &s);
    int st = s.ops->thread_delete(s.self, "t1", &err);
    assert_true(st == PONS_OK || st == PONS_ENOTFOUND);
    pons_store_close(&s);
}

void sweep_stores(const sweep_kind *k)
{
    char dir[] = "/tmp/pons-sweep-XXXXXX", path[64];
    unsynced();
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.db", dir);
    int n = run_with_death(k, path, -1), deaths = 0;
    for (int i = 0; i < n; i = k->passed ? sweep_next(k, 2 * i + 1, n) / 2 : i + 1, deaths++) {
        forget(k, path);
        run_with_death(k, path, i);
    }
    forget(k, path);
    print_message("  %s: killed at %d of %d commits\n", k->name, deaths, n);
    assert_true(n > 8);
    remove_dir(dir);
}

// ---- processes ----------------------------------------------------------------------------------

// A life in a process of its own; ends with 0, or FUSE_EXIT when it died. The last one checks.
static void child_life(const sweep_kind *k, const char *path, const char *sends, int exit_at,
                       bool after)
{
    world w = {.sent = json_object(), .file = sends};
    pons_graph *sub = inner_graph(), *g = whole_graph(&w, sub, k->quiet);
    fuse f = {.left = -1, .exit_at = exit_at, .exit_after = after};
    bed b;
    open_inner(k, path, &f.inner);
    bed_open_on(&b, fuse_store(&f));
    assert_ok(live(&b, g, k->durability));
    FILE *file = fopen(sends, "r"); // of every life together
    char line[64];
    json_object_clear(w.sent);
    while (file && fgets(line, sizeof line, file)) {
        json_object_set_new(w.sent, line, json_integer(pons_get_int(w.sent, line, 0) + 1));
    }
    if (file) {
        fclose(file);
    }
    w.task_runs = 2; // of this life alone: not asked
    check(&b, &w, exit_at);
    bed_close(&b);
    pons_store_close(&f.inner);
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    pons_value_unref(w.sent);
}

static int in_a_child(const sweep_kind *k, const char *path, const char *sends, int exit_at,
                      bool after)
{
    int status = 0;
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fuse_commits = 0;
        child_life(k, path, sends, exit_at, after);
        _exit(exit_at == SWEEP_COUNT ? fuse_commits : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void two_messages(const sweep_kind *k, const char *path)
{
    pons_error err = PONS_ERROR_INIT;
    pons_store s;
    pons_autovalue one = json("'one'");
    pons_autovalue two = json("'two'");
    open_inner(k, path, &s);
    s.ops->thread_delete(s.self, "t1", NULL); // of the death before
    assert_ok(pons_inbox_post(s, "t1", "n", "say", one, &err));
    assert_ok(pons_inbox_post(s, "t1", "n", "say", two, &err));
    pons_store_close(&s);
}

void sweep_processes(const sweep_kind *k)
{
    char dir[] = "/tmp/pons-kill-XXXXXX", path[64], sends[64];
    unsynced();
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.db", dir);
    snprintf(sends, sizeof sends, "%s/sends", dir);
    two_messages(k, path);
    const int n = in_a_child(k, path, sends, SWEEP_COUNT, false);
    int deaths = 0;
    for (int p = sweep_next(k, -1, n); p < 2 * n; p = sweep_next(k, p, n)) {
        unlink(sends);
        two_messages(k, path);
        assert_int_equal(in_a_child(k, path, sends, p / 2 + 1, p % 2), FUSE_EXIT);
        deaths++;
        if (k->passed) {
            k->passed();
        }
        assert_int_equal(in_a_child(k, path, sends, 0, false), 0);
    }
    print_message("  %s: %d processes killed, before and after each of %d commits\n", k->name,
                  deaths, n);
    assert_true(n > 8);
    remove_dir(dir);
}

int sweep_next(const sweep_kind *k, int p, int n)
{
    const rounds_of of = k->passed ? ROUNDS_sweep_deaths_server : ROUNDS_sweep_deaths;
    const long wanted = rounds(of);
    for (p++; p < 2 * n; p++) {
        const long commit = p / 2;
        const bool whole = wanted >= n || commit == 0 || commit == n - 1;
        if (rounds_take(of, commit, n) && (whole || commit * wanted / n % 2 == p % 2)) {
            break; // by turns before and after a commit, and both at the first and the last
        }
    }
    return p;
}
