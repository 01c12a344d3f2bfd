#include "graph/inner.h"

#include "graph/place.h"
#include "graph/spec.h"
#include "graph/unsynced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- graphs -------------------------------------------------------------------------------------

typedef struct caller { // a node that runs a graph, once for each of these inputs
    const pons_graph *g, *other;
    const char *inputs[3];
    pons_subgraph_mode mode;
    bool asks;    // a person, after the first
    bool ignores; // that it was parked
    bool goes_on; // from a failure
    int passes;
} caller;

static int node_calls(pons_cx *cx, void *user, pons_error *err)
{
    caller *c = user;
    const pons_value *state, *answer;
    c->passes++;
    for (int i = 0; i < 3 && c->inputs[i]; i++) {
        pons_autovalue in = json(c->inputs[i]);
        int st = pons_cx_run(cx, c->other && i == 1 ? c->other : c->g, in, c->mode, &state, err);
        if (st != PONS_OK && st != PONS_EPARKED && c->goes_on) {
            pons_cx_put(cx, "log", json_sprintf("failed: %s", err->message));
            continue;
        }
        if (st == PONS_EPARKED && c->ignores) {
            continue;
        }
        if (st != PONS_OK) {
            return st;
        }
        pons_cx_put(cx, "log", pons_value_ref(pons_get(state, "log")));
        st = c->asks && i == 0 ? pons_interrupt(cx, json_string("go on?"), &answer, err) : PONS_OK;
        if (st != PONS_OK) {
            return st;
        }
    }
    return PONS_OK;
}

static pons_graph *calling(caller *c)
{
    const pons_graph *runs[] = {c->g, c->other, NULL};
    pons_graph_builder *gb = pons_graph_builder_create("calling");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "call", node_calls, c);
    pons_graph_edge(gb, PONS_START, "call");
    pons_graph_edge(gb, "call", PONS_END);
    pons_graph_node_options(gb, "call", &(pons_node_options){.runs = runs});
    return compile(gb, NULL);
}

// ---- cases --------------------------------------------------------------------------------------

// Its state is the call's value, and nothing of it runs again when the node does.
static void a_node_runs_a_graph(void **state)
{
    for (int mode = 0; mode < 3; mode++) {
        place p;
        open_place(&p, state);
        spec_node in[] = {{"a", "see last; put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
        pons_graph *child = spec_compile(&(spec_graph){"a", in});
        caller c = {.g = child,
                    .inputs = {"{'last':1}", "{'last':2}"},
                    .mode = (pons_subgraph_mode)mode,
                    .asks = true};
        pons_graph *g = calling(&c);
        pons_run *r = run_to(&p.b, g, "", NULL, PONS_RUN_INTERRUPTED);
        assert_int_equal(in[0].runs, 1);
        pons_run_destroy(r);
        reopen(&p);
        r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
        spec_answer(&p.b, r, "'yes'", PONS_RUN_DONE);
        assert_int_equal(in[0].runs, 2);
        assert_int_equal(in[1].runs, 2);
        spec_state(&p.b, "",
                   mode == PONS_SUBGRAPH_OWN ? "{'log':[1,'a','b',1,'a','b',2,'a','b']}"
                                             : "{'log':[1,'a','b',2,'a','b']}");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        pons_graph_destroy(child);
        close_place(&p);
    }
}

// Its questions and awaits are the run's: seen from outside, pending right after a crash, answered as
// any, and it goes on where it was.
static void what_it_asks_is_asked_of_the_run(void **state)
{
    for (int mode = 0; mode < 2; mode++) {
        place p;
        open_place(&p, state);
        spec_node in[] = {{"a", "put log 'a'", "b"},
                          {"b", "ask 'who?'", "c"},
                          {"c", "await 'what?'", "END"},
                          {NULL}};
        pons_graph *child = spec_compile(&(spec_graph){"a", in});
        caller c = {.g = child, .inputs = {"{}"}, .mode = (pons_subgraph_mode)mode};
        pons_graph *g = calling(&c);
        pons_run_destroy(run_to(&p.b, g, "", NULL, PONS_RUN_INTERRUPTED));
        reopen(&p);
        pons_autovalue seen = NULL;
        assert_ok(pons_state_snapshot(
            p.store, "t1", "", &(pons_snapshot_options){.subgraphs = true}, &seen, &p.b.err));
        const pons_value *task = json_array_get(pons_get(seen, "tasks"), 0);
        assert_string_equal(
            pons_get_str(json_array_get(pons_get(seen, "interrupts"), 0), "value", ""), "who?");
        assert_json(pons_get(pons_get(pons_get(task, "state"), "values"), "log"), "['a']");
        pons_run *r = NULL;
        pons_autovalue me = json("'me'");
        assert_ok(pons_run_command(p.b.t, g, "", &(pons_command){.resume = me}, NULL, &r,
                                   &p.b.err)); // before the node has run again
        assert_ok(pons_run_advance(r, &p.b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
        pons_run_destroy(r);
        reopen(&p);
        r = resume_to(&p.b, g, "", PONS_RUN_PARKED);
        char id[64];
        spec_pending(r, 0, id);
        assert_ok(pons_run_answer(r, id, json_string("that"), &p.b.err));
        assert_ok(pons_run_advance(r, &p.b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        assert_json(pons_run_get(r, "log"), "['a','me','that']");
        assert_int_equal(in[0].runs, 1);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        pons_graph_destroy(child);
        close_place(&p);
    }
}

// One that remembers does so over runs, and a fork takes it back.
static void one_that_remembers_is_taken_back(void **state)
{
    place p;
    open_place(&p, state);
    spec_node in[] = {{"a", "put sum 1; put log 'a'", "END"}, {NULL}};
    pons_graph *child = spec_compile(&(spec_graph){"a", in});
    caller c = {.g = child, .inputs = {"{}"}, .mode = PONS_SUBGRAPH_OWN};
    pons_graph *g = calling(&c);
    char first[32];
    for (int i = 0; i < 3; i++) {
        pons_autovalue list = NULL;
        pons_run_destroy(run_to(&p.b, g, "", NULL, PONS_RUN_DONE));
        assert_ok(pons_state_history(p.store, "t1", "", 1, false, &list, &p.b.err));
        if (i == 0) {
            snprintf(first, sizeof first, "%s",
                     pons_get_str(json_array_get(list, 0), "checkpoint_id", ""));
        }
    }
    spec_state(&p.b, "call:#spec", "{'sum':3,'log':['a','a','a']}");
    pons_run *r = NULL;
    pons_autovalue none = json("{}");
    assert_ok(pons_run_fork(p.b.t, g, "", first, none, NULL, &r, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    pons_run_destroy(r);
    spec_state(&p.b, "call:#spec", "{'sum':2,'log':['a','a']}");
    pons_graph_destroy(g);
    pons_graph_destroy(child);
    close_place(&p);
}

// Its failure is what the call returns. A resume runs only what failed in it; another attempt begins
// it anew; a node that goes on finds the same failure when it is run again.
static void its_failure_is_the_calls(void **state)
{
    place p;
    open_place(&p, state);
    spec_node in[] = {
        {"a", "put log 'a'", "b"}, {"b", "failonce oh no; put log 'b'", "END"}, {NULL}};
    pons_graph *child = spec_compile(&(spec_graph){"a", in});
    caller c = {.g = child, .inputs = {"{}"}};
    pons_graph *g = calling(&c);
    pons_run *r = run_to(&p.b, g, "", NULL, PONS_RUN_FAILED);
    assert_string_equal(pons_run_error(r)->message, "oh no");
    pons_run_destroy(r);
    reopen(&p);
    r = resume_to(&p.b, g, "", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['a','b']");
    assert_int_equal(in[0].runs, 1);
    assert_int_equal(in[1].runs, 2);
    pons_run_destroy(r);
    pons_graph_destroy(g);

    in[0].runs = in[1].runs = 0;
    const pons_graph *runs[] = {child, NULL};
    pons_graph_builder *gb = pons_graph_builder_create("again");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "call", node_calls, &c);
    pons_graph_edge(gb, PONS_START, "call");
    pons_graph_edge(gb, "call", PONS_END);
    pons_graph_node_options(gb, "call",
                            &(pons_node_options){.runs = runs, .retry = {.attempts = 2}});
    g = compile(gb, NULL);
    pons_run_destroy(run_to(&p.b, g, "n", NULL, PONS_RUN_DONE));
    spec_state(&p.b, "n", "{'log':['a','b']}");
    assert_int_equal(in[0].runs, 2);
    pons_graph_destroy(g);

    spec_node bad[] = {{"a", "fail never", "END"}, {NULL}};
    spec_node ask[] = {{"a", "ask 'on?'", "END"}, {NULL}};
    pons_graph *failing = spec_compile(&(spec_graph){"a", bad});
    pons_graph_builder *ab = spec_builder(&(spec_graph){"a", ask});
    pons_graph *asking = NULL;
    assert_ok(pons_graph_compile(ab, NULL, &asking, &p.b.err));
    pons_graph_builder_destroy(ab);
    c = (caller){.g = failing, .inputs = {"{}"}, .goes_on = true, .asks = false};
    g = calling(&c);
    pons_run_destroy(run_to(&p.b, g, "m", NULL, PONS_RUN_DONE));
    spec_state(&p.b, "m", "{'log':['failed: never']}");
    pons_graph_destroy(g);
    pons_graph_destroy(asking);
    pons_graph_destroy(failing);
    pons_graph_destroy(child);
    close_place(&p);
}

static void what_can_not_be_run_is_said(void **state)
{
    place p;
    open_place(&p, state);
    spec_node in[] = {{"a", "parent {} call", "END"}, {NULL}},
              ask[] = {{"a", "ask 1", "END"}, {NULL}};
    pons_graph *child = spec_compile(&(spec_graph){"a", in});
    pons_graph *stranger = spec_compile(&(spec_graph){"a", ask});
    caller c = {.g = child, .inputs = {"{}"}};
    pons_graph *g = calling(&c);
    pons_run *r = run_to(&p.b, g, "", NULL, PONS_RUN_FAILED);
    assert_non_null(strstr(pons_run_error(r)->message, "commands the graph around it"));
    pons_run_destroy(r);
    c.g = stranger;
    r = run_to(&p.b, g, "s", NULL, PONS_RUN_FAILED);
    assert_non_null(strstr(pons_run_error(r)->message, "which its options do not name"));
    pons_run_destroy(r);
    pons_graph_destroy(g);
    c.inputs[0] = "{'ghost':1}";
    g = calling(&c);
    r = run_to(&p.b, g, "g", NULL, PONS_RUN_FAILED);
    assert_non_null(strstr(pons_run_error(r)->message, "'ghost'"));
    pons_run_destroy(r);
    // Another input when it is run again is no replay; one that goes on without the answer waits.
    c.inputs[0] = "{'last':1}";
    c.inputs[1] = "{'last':3}";
    c.ignores = true;
    r = run_to(&p.b, g, "r", NULL, PONS_RUN_INTERRUPTED);
    pons_autovalue pending = pons_run_pending(r);
    assert_int_equal(json_array_size(pending), 1);
    c.inputs[0] = "{'last':2}";
    pons_autovalue yes = json("1");
    assert_ok(pons_run_resume_value(r, yes, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ENONDETERMINISM);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    // Two of one name, or a subgraph that is given some, do not compile.
    const pons_graph *twins[] = {child, stranger, NULL};
    pons_graph_builder *gb = pons_graph_builder_create("twins");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "call", node_calls, &c);
    pons_graph_subgraph(gb, "sub", child, PONS_SUBGRAPH_INHERIT);
    pons_graph_edge(gb, PONS_START, "call");
    pons_graph_edge(gb, "call", "sub");
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph_node_options(gb, "call", &(pons_node_options){.runs = twins});
    pons_graph_node_options(gb, "sub", &(pons_node_options){.runs = twins});
    g = NULL;
    assert_int_equal(pons_graph_compile(gb, NULL, &g, &p.b.err), PONS_EINVAL);
    assert_non_null(strstr(p.b.err.message, "two graphs of the name"));
    assert_non_null(strstr(p.b.err.message, "only a function runs graphs"));
    pons_graph_builder_destroy(gb);
    pons_graph_destroy(stranger);
    pons_graph_destroy(child);
    close_place(&p);
}

// Several tasks of the node in one step, by Sends, each with a graph of its own.
static void sends_run_them_side_by_side(void **state)
{
    for (int mode = 0; mode < 3; mode++) {
        place p;
        open_place(&p, state);
        spec_node in[] = {{"a", "ask 'which?'", "END"}, {NULL}};
        pons_graph *child = spec_compile(&(spec_graph){"a", in});
        caller c = {.g = child, .inputs = {"{}"}, .mode = (pons_subgraph_mode)mode};
        const pons_graph *runs[] = {child, NULL};
        spec_node n[] = {{"split", "send call 1; send call 2", ""}, {NULL}};
        static const char *const goes[] = {"call", NULL};
        pons_graph_builder *gb = spec_builder(&(spec_graph){"split", n});
        pons_graph_node(gb, "call", node_calls, &c);
        pons_graph_edge(gb, "call", PONS_END);
        pons_graph_node_options(gb, "split", &(pons_node_options){.goes = goes});
        pons_graph_node_options(gb, "call", &(pons_node_options){.runs = runs});
        pons_graph *g = compile(gb, NULL);
        pons_run_destroy(run_to(&p.b, g, "", NULL, PONS_RUN_INTERRUPTED));
        reopen(&p);
        pons_run *r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
        for (int i = 2; i > 0; i--) {
            char id[64];
            spec_pending(r, (size_t)i - 1, id);
            assert_ok(pons_run_answer(r, id, json_integer(i), &p.b.err));
        }
        assert_ok(pons_run_advance(r, &p.b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        assert_json(pons_run_get(r, "log"), "[1,2]");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        pons_graph_destroy(child);
        close_place(&p);
    }
}

int inner_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_runs_a_graph),
        cmocka_unit_test(what_it_asks_is_asked_of_the_run),
        cmocka_unit_test(one_that_remembers_is_taken_back),
        cmocka_unit_test(its_failure_is_the_calls),
        cmocka_unit_test(what_can_not_be_run_is_said),
        cmocka_unit_test(sends_run_them_side_by_side),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}

// ---- deaths -------------------------------------------------------------------------------------

static const char *ran_file; // what each life has run, a letter a node

static int node_notes(pons_cx *cx, void *user, pons_error *err)
{
    const char *what = user;
    const pons_value *answer;
    FILE *f = fopen(ran_file, "a");
    assert_non_null(f);
    fputs(what, f);
    fclose(f);
    int st = strcmp(what, "b") == 0 ? pons_interrupt(cx, json_string("?"), &answer, err) : PONS_OK;
    return st == PONS_OK ? pons_cx_put(cx, "log", json_string(what)) : st;
}

// a, b (which asks) and c; run twice by a node, then once more by another that remembers.
static pons_graph *noting(void)
{
    static const char *const names[] = {"a", "b", "c"};
    pons_graph_builder *gb = pons_graph_builder_create("noting");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    for (int i = 0; i < 3; i++) {
        pons_graph_node(gb, names[i], node_notes, (void *)(uintptr_t)names[i]);
        pons_graph_edge(gb, i ? names[i - 1] : PONS_START, names[i]);
    }
    pons_graph_edge(gb, "c", PONS_END);
    return compile(gb, NULL);
}

static void life(const sweep_kind *k, const char *path, int exit_at, bool after)
{
    pons_graph *child = noting();
    const pons_graph *runs[] = {child, NULL};
    caller twice = {.g = child, .inputs = {"{'log':1}", "{'log':2}"}};
    caller own = {.g = child, .inputs = {"{'log':3}"}, .mode = PONS_SUBGRAPH_OWN};
    pons_graph_builder *gb = pons_graph_builder_create("outer");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "own", node_calls, &own);
    pons_graph_node(gb, "twice", node_calls, &twice);
    pons_graph_node_options(gb, "own", &(pons_node_options){.runs = runs});
    pons_graph_node_options(gb, "twice", &(pons_node_options){.runs = runs});
    pons_graph_edge(gb, PONS_START, "twice");
    pons_graph_edge(gb, "twice", "own");
    pons_graph_edge(gb, "own", PONS_END);
    pons_graph *g = compile(gb, NULL);
    fuse f = {.left = -1, .exit_at = exit_at, .exit_after = after};
    bed b;
    pons_run *r = NULL;
    const pons_run_options o = {.durability = k->durability};
    assert_ok(k->open(path, &f.inner, &b.err));
    bed_open_on(&b, fuse_store(&f));
    int st = pons_run_resume(b.t, g, "", &o, &r, &b.err);
    if (st == PONS_ENOTFOUND) {
        st = pons_run_start(b.t, g, "", NULL, &o, &r, &b.err);
    }
    assert_int_equal(st, PONS_OK);
    pons_autovalue yes = json("'yes'");
    for (;;) {
        pons_autovalue pending = pons_run_pending(r);
        if (json_array_size(pending) > 0) { // right after a crash, too
            assert_ok(pons_run_resume_value(r, yes, &b.err));
        }
        assert_ok(pons_run_advance(r, &b.err));
        if (pons_run_state_get(r) != PONS_RUN_INTERRUPTED) {
            break;
        }
    }
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    pons_run_destroy(r);
    spec_state(&b, "", "{'log':[1,'a','b','c',2,'a','b','c',3,'a','b','c']}");
    spec_state(&b, "own:#noting", "{'log':[3,'a','b','c']}");
    bed_close(&b);
    pons_store_close(&f.inner);
    pons_graph_destroy(g);
    pons_graph_destroy(child);
}

static int in_a_child(const sweep_kind *k, const char *path, int exit_at, bool after)
{
    int status = 0;
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fuse_commits = 0;
        life(k, path, exit_at, after);
        _exit(exit_at == SWEEP_COUNT ? fuse_commits : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// How often a letter stands in the file of what has run.
static int count_of(char letter)
{
    FILE *f = fopen(ran_file, "r");
    int n = 0;
    for (int c; f && (c = fgetc(f)) != EOF;) {
        n += c == letter;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

static void no_thread(const sweep_kind *k, const char *path)
{
    pons_store s;
    pons_error err = PONS_ERROR_INIT;
    assert_ok(k->open(path, &s, &err));
    s.ops->thread_delete(s.self, "t1", NULL); // of the death before
    pons_store_close(&s);
    unlink(ran_file);
}

// Three runs; b is run again with its answer. A death repeats the step under way at most, and under async
// those that were still queued.
static void assert_ran(const sweep_kind *k, int at)
{
    const int a = count_of('a'), b = count_of('b'), c = count_of('c');
    const int over = a - 3 + (b - 6) + (c - 3);
    if (a < 3 || b < 6 || c < 3 || over > (k->durability == PONS_DURABILITY_SYNC ? 1 : 2)) {
        fail_msg("%s, killed at commit %d: a ran %d times, b %d, c %d", k->name, at, a, b, c);
    }
}

void sweep_inner(const sweep_kind *k)
{
    char dir[] = "/tmp/pons-inner-XXXXXX", path[64], ran[64], command[64];
    int deaths = 0;
    unsynced();
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.db", dir);
    snprintf(ran, sizeof ran, "%s/ran", dir);
    ran_file = ran;
    no_thread(k, path);
    const int n = in_a_child(k, path, SWEEP_COUNT, false);
    assert_ran(k, n);
    for (int p = sweep_next(k, -1, n); p < 2 * n; p = sweep_next(k, p, n)) {
        no_thread(k, path);
        assert_int_equal(in_a_child(k, path, p / 2 + 1, p % 2), FUSE_EXIT);
        deaths++;
        if (k->passed) {
            k->passed();
        }
        assert_int_equal(in_a_child(k, path, 0, false), 0);
        assert_ran(k, p / 2 + 1);
    }
    print_message("  %s: %d processes killed, before and after each of %d commits\n", k->name,
                  deaths, n);
    assert_true(n > 15);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}
