// test_spec_durability.c - conformance: when what is committed, and who may write. A spy between
// the engine and the memory store notes every commit; nodes note what the store has when they run.
#include "graph/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct spy {
    pons_store inner;
    pons_store_ops ops;
    pons_value *said; // "sync -1,0", "async 1", "sync effect full", "event a", "node a"…
} spy;

static void note(spy *s, const char *how, const pons_commit *c)
{
    char line[256];
    int n = snprintf(line, sizeof line, "%s", how);
    for (size_t i = 0; i < c->n_checkpoints; i++) {
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%d", i ? "," : " ",
                      (int)c->checkpoints[i].step);
    }
    for (size_t i = 0; i < c->n_effects; i++) {
        n += snprintf(line + n, sizeof line - (size_t)n, " effect %d", (int)c->effects[i].state);
    }
    if (c->n_records) {
        n += snprintf(line + n, sizeof line - (size_t)n, " records %zu", c->n_records);
    }
    if (c->sync == PONS_SYNC_FULL) {
        snprintf(line + n, sizeof line - (size_t)n, " full");
    }
    json_array_append_new(s->said, json_string(line));
}

static int spy_commit(void *self, const pons_commit *c, pons_error *err)
{
    spy *s = self;
    note(s, "sync", c);
    return s->inner.ops->commit(s->inner.self, c, err);
}

static int spy_commit_async(void *self, const pons_commit *c, pons_error *err)
{
    spy *s = self;
    note(s, "async", c);
    return s->inner.ops->commit_async(s->inner.self, c, err);
}

static int spy_flush(void *self, const pons_lease *lease, pons_error *err)
{
    spy *s = self;
    json_array_append_new(s->said, json_string("flush"));
    return s->inner.ops->flush(s->inner.self, lease, err);
}

#define PASS(name, args, call)                                                                     \
    static int spy_##name args                                                                     \
    {                                                                                              \
        spy *s = self;                                                                             \
        return s->inner.ops->name call;                                                            \
    }
PASS(lease_acquire, (void *self, const char *thread, pons_lease *ret, pons_error *err),
     (s->inner.self, thread, ret, err))
PASS(head,
     (void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
      pons_error *err),
     (s->inner.self, thread, ns, fn, user, err))
PASS(records,
     (void *self, const char *thread, const char *ns, const char *checkpoint, pons_record_fn fn,
      void *user, pons_error *err),
     (s->inner.self, thread, ns, checkpoint, fn, user, err))
PASS(effect_get,
     (void *self, const char *thread, const char *id, pons_effect_fn fn, void *user,
      pons_error *err),
     (s->inner.self, thread, id, fn, user, err))

static void spy_release(void *self, pons_lease *lease)
{
    spy *s = self;
    s->inner.ops->lease_release(s->inner.self, lease);
}

static pons_store spy_open(spy *s)
{
    pons_error err = PONS_ERROR_INIT;
    *s = (spy){.said = json_array()};
    assert_ok(pons_store_memory_open(&s->inner, &err));
    s->ops = (pons_store_ops){.abi = PONS_STORE_ABI,
                              .name = "spy",
                              .lease_acquire = spy_lease_acquire,
                              .lease_release = spy_release,
                              .commit = spy_commit,
                              .commit_async = spy_commit_async,
                              .flush = spy_flush,
                              .head = spy_head,
                              .records = spy_records,
                              .effect_get = spy_effect_get};
    return (pons_store){&s->ops, s};
}

static void spy_close(spy *s)
{
    pons_value_unref(s->said);
    pons_store_close(&s->inner);
}

static int node_noted(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    spy *s = user;
    json_array_append_new(s->said, json_sprintf("node %s", pons_cx_node(cx)));
    if (pons_cx_node(cx)[0] == 'e') {
        pons_cx_emit(cx, "shown", json_true());
    }
    return node_log(cx, NULL, err);
}

static int node_asks(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *answer;
    int st = node_noted(cx, user, err);
    return st == PONS_OK ? pons_interrupt(cx, json("'?'"), &answer, err) : st;
}

static int node_breaks(pons_cx *cx, void *user, pons_error *err)
{
    int st = node_noted(cx, user, err);
    return st == PONS_OK ? pons_error_set(err, PONS_EIO, "test", "broken") : st;
}

static int send_it(void *user, const pons_effect *e, pons_error *err)
{
    (void)e;
    (void)err;
    json_array_append_new(((spy *)user)->said, json_string("sent"));
    return PONS_OK;
}

static int node_acts(pons_cx *cx, void *user, pons_error *err)
{
    char id[40];
    pons_effect_state found;
    int st = pons_effect_intend(cx, "move", NULL, 0, NULL, id, err);
    return st == PONS_OK ? pons_effect_dispatch(cx, id, NULL, send_it, user, &found, err) : st;
}

static void shown(void *user, const pons_event *ev)
{
    char line[64];
    snprintf(line, sizeof line, "shown %d", (int)ev->seq);
    json_array_append_new(((spy *)user)->said, json_string(line));
}

// A chain a → (middle) → c; what was said, in order.
static void drive(pons_durability d, const char *middle, pons_node_fn fn, const char *want)
{
    spy s;
    bed b;
    bed_open_on(&b, spy_open(&s));
    pons_thread_close(b.t); // one that tells the spy what is shown
    pons_thread_options to = {.clock = b.clock, .seed = 7, .on_event = shown, .user = &s};
    assert_ok(pons_thread_open(b.store, "t1", &to, &b.t, &b.err));
    json_array_clear(s.said);
    pons_graph_builder *gb = pons_graph_builder_create("chain");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_noted, &s);
    pons_graph_node(gb, middle, fn, &s);
    pons_graph_node(gb, "c", node_noted, &s);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, "a", middle);
    pons_graph_edge(gb, middle, "c");
    pons_graph_edge(gb, "c", PONS_END);
    pons_graph *g = compile(gb, NULL);
    pons_run *r = NULL;
    pons_run_options o = {.durability = d};
    assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_json(s.said, want);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
    spy_close(&s);
}

// "sync: the step's checkpoint is committed before the next step begins and before its events are
// shown."
static void sync_commits_before_the_next_step(void **state)
{
    (void)state;
    drive(PONS_DURABILITY_SYNC, "event", node_noted,
          "['flush','sync -1,0','node a','sync 1','node event','sync 2','shown 1','node c',"
          "'sync 3']");
}

// "async (default): commits are pipelined in order, drained at the end." A step with an event is
// shown once it is there.
static void async_is_pipelined(void **state)
{
    (void)state;
    drive(PONS_DURABILITY_ASYNC, "b", node_noted,
          "['flush','async -1,0','node a','async 1','node b','async 2','node c','async 3',"
          "'flush']");
    drive(PONS_DURABILITY_ASYNC, "event", node_noted,
          "['flush','async -1,0','node a','async 1','node event','sync 2','shown 1','node c',"
          "'async 3','flush']");
    assert_int_equal(((pons_run_options)PONS_RUN_OPTIONS_INIT).durability, PONS_DURABILITY_ASYNC);
}

// "exit: one commit at the end, an error or an interrupt."
static void exit_commits_once(void **state)
{
    (void)state;
    drive(PONS_DURABILITY_EXIT, "b", node_noted, "['flush','node a','node b','node c','sync 3']");
    drive(PONS_DURABILITY_EXIT, "b", node_asks, "['flush','node a','node b','sync 1 records 2']");
    drive(PONS_DURABILITY_EXIT, "b", node_breaks, "['flush','node a','node b','sync 1 records 1']");
}

// "An effect always forces its own commit, synced": before it is sent, whatever the durability. 1
// is DISPATCHED.
static void an_effect_forces_its_commit(void **state)
{
    (void)state;
    assert_int_equal(PONS_EFFECT_DISPATCHED, 1);
    drive(PONS_DURABILITY_SYNC, "act", node_acts,
          "['flush','sync -1,0','node a','sync 1','sync effect 1 full','sent','sync 2','node c',"
          "'sync 3']");
    drive(PONS_DURABILITY_ASYNC, "act", node_acts,
          "['flush','async -1,0','node a','async 1','sync effect 1 full','sent','async 2','node c',"
          "'async 3','flush']");
    drive(PONS_DURABILITY_EXIT, "act", node_acts,
          "['flush','node a','sync 1 effect 1 full','sent','node c','sync 3']");
}

// "Fencing: a thread has one writer at a time; a second one is refused with the holder's pid and
// host, a stale one can't write." On a file, by two stores; processes are tests/store's.
static void the_second_is_refused(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-fence-XXXXXX", path[64], host[64] = "", pid[32], command[96];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.db", dir);
    pons_store one, two;
    pons_error err = PONS_ERROR_INIT;
    assert_ok(pons_store_sqlite_open(path, &one, &err));
    assert_ok(pons_store_sqlite_open(path, &two, &err));
    bed b;
    bed_open_on(&b, one);
    spec_node n[] = {{"a", "ask '?'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED);
    pons_thread *second = NULL;
    pons_thread_options o = {.clock = b.clock};
    assert_int_equal(pons_thread_open(two, "t1", &o, &second, &err), PONS_EBUSY);
    gethostname(host, sizeof host - 1);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    assert_non_null(strstr(err.message, pid));
    assert_non_null(strstr(err.message, host));
    // Anybody may post and read; nobody else writes checkpoints.
    pons_autovalue v = json("1");
    assert_ok(pons_inbox_post(two, "t1", "", "k", v, &err));
    pons_autovalue seen = NULL;
    assert_ok(pons_state_read(two, "t1", "", &seen, &err));
    // A lock that was lost without the holder knowing: its epoch is stale.
    snprintf(command, sizeof command, "rm -rf '%s-locks'", path);
    assert_int_equal(system(command), 0);
    assert_ok(pons_thread_open(two, "t1", &o, &second, &err));
    assert_int_equal(pons_run_resume_value(r, v, &err), PONS_ESTALE);
    pons_run_destroy(r);
    pons_thread_close(second);
    pons_graph_destroy(g);
    bed_close(&b);
    pons_store_close(&two);
    pons_store_close(&one);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync_commits_before_the_next_step),
        cmocka_unit_test(async_is_pipelined),
        cmocka_unit_test(exit_commits_once),
        cmocka_unit_test(an_effect_forces_its_commit),
        cmocka_unit_test(the_second_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
