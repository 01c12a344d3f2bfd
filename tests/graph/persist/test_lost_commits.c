// test_lost_commits.c - queued commits that the store could not make.
//
// A store that takes an async commit and then fails it, telling so once, as a full disk does: on
// the next commit, or at the end's flush. The run must fail and say why, nothing may stand on a
// checkpoint that is not there, and a resume goes on from the last one that is.
#include "graph/graph_help.h"

#include <stdio.h>
#include <string.h>

typedef struct flaky {
    pons_store inner;
    pons_store_ops ops;
    int fail_at; // the async commit that is lost; 0: none
    int n;       // async commits so far
    bool failed; // to be told
    bool refuse; // what comes behind it on the thread is dropped
    bool at_end; // tells it only at a flush
} flaky;

static int reported(flaky *f, pons_error *err)
{
    f->failed = f->refuse = false;
    return pons_error_set(err, PONS_EIO, "store", "disk full");
}

static int f_commit(void *self, const pons_commit *c, pons_error *err)
{
    flaky *f = self;
    return f->failed ? reported(f, err) : f->inner.ops->commit(f->inner.self, c, err);
}

static int f_commit_async(void *self, const pons_commit *c, pons_error *err)
{
    flaky *f = self;
    if (f->failed && !f->at_end) {
        return reported(f, err);
    }
    if (++f->n == f->fail_at) {
        f->failed = f->refuse = true;
    }
    return f->refuse ? PONS_OK : f->inner.ops->commit(f->inner.self, c, err);
}

static int f_flush(void *self, const pons_lease *lease, pons_error *err)
{
    flaky *f = self;
    (void)lease;
    return f->failed ? reported(f, err) : PONS_OK;
}

static int f_drain(void *self, pons_error *err)
{
    return f_flush(self, NULL, err);
}

#define PASS(name, args, call)                                                                     \
    static int f_##name args                                                                       \
    {                                                                                              \
        flaky *f = self;                                                                           \
        return f->inner.ops->name call;                                                            \
    }
PASS(lease_acquire, (void *self, const char *thread, pons_lease *ret, pons_error *err),
     (f->inner.self, thread, ret, err))
PASS(head,
     (void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
      pons_error *err),
     (f->inner.self, thread, ns, fn, user, err))
PASS(records,
     (void *self, const char *thread, const char *ns, const char *checkpoint, pons_record_fn fn,
      void *user, pons_error *err),
     (f->inner.self, thread, ns, checkpoint, fn, user, err))
PASS(history,
     (void *self, const char *thread, const char *ns, const char *before, int64_t limit,
      pons_checkpoint_fn fn, void *user, pons_error *err),
     (f->inner.self, thread, ns, before, limit, fn, user, err))

static void f_release(void *self, pons_lease *lease)
{
    flaky *f = self;
    f->inner.ops->lease_release(f->inner.self, lease);
}

static pons_store flaky_open(flaky *f)
{
    pons_error err = PONS_ERROR_INIT;
    assert_ok(pons_store_memory_open(&f->inner, &err));
    f->ops = (pons_store_ops){
        .abi = PONS_STORE_ABI,
        .name = "flaky",
        .lease_acquire = f_lease_acquire,
        .lease_release = f_release,
        .commit = f_commit,
        .commit_async = f_commit_async,
        .drain = f_drain,
        .flush = f_flush,
        .head = f_head,
        .history = f_history,
        .records = f_records,
    };
    return (pons_store){&f->ops, f};
}

static int node_count(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "n", json_integer(1));
}

static int route_ten(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    pons_cx_goto(cx, json_integer_value(pons_cx_get(cx, "n")) < 10 ? "count" : PONS_END);
    return PONS_OK;
}

static pons_graph *ten(void)
{
    static const char *const to[] = {"count", PONS_END, NULL};
    pons_graph_builder *gb = pons_graph_builder_create("ten");
    channel(gb, "n", PONS_CHANNEL_REDUCE, pons_reduce_add);
    pons_graph_node(gb, "count", node_count, NULL);
    pons_graph_edge(gb, PONS_START, "count");
    pons_graph_router(gb, "count", route_ten, NULL, to);
    return compile(gb, NULL);
}

static void at_every_queued_commit(void **state)
{
    const bool inside = *(const bool *)*state;
    int cases = 0;
    for (int end = 0; end < 2; end++) {
        for (int at = 1, more = 1; more; at++) {
            flaky f = {.fail_at = at, .at_end = end};
            bed b;
            bed_open_on(&b, flaky_open(&f));
            pons_graph *in = ten(), *g = in;
            if (inside) {
                pons_graph_builder *gb = pons_graph_builder_create("outer");
                channel(gb, "n", PONS_CHANNEL_REDUCE, pons_reduce_add);
                pons_graph_subgraph(gb, "sub", in, PONS_SUBGRAPH_INHERIT);
                pons_graph_edge(gb, PONS_START, "sub");
                pons_graph_edge(gb, "sub", PONS_END);
                g = compile(gb, NULL);
            }
            pons_run *r = NULL;
            assert_ok(pons_run_start(b.t, g, "", NULL, NULL, &r, &b.err)); // async
            int st = PONS_OK;
            while (st == PONS_OK && pons_run_state_get(r) == PONS_RUN_READY) {
                st = pons_run_advance(r, &b.err);
            }
            more = f.n >= at;
            if (more) { // it was told, and nothing was said to be done
                cases++;
                assert_int_equal(pons_run_error(r)->status ? PONS_EIO : st, PONS_EIO);
                for (int i = 0; i < 3 && pons_run_state_get(r) == PONS_RUN_READY; i++) {
                    pons_run_advance(r, &b.err);
                }
                assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
                pons_run_destroy(r);
                st = pons_run_resume(b.t, g, "", NULL, &r, &b.err);
                if (st == PONS_ENOTFOUND) { // it had stored nothing at all
                    st = pons_run_start(b.t, g, "", NULL, NULL, &r, &b.err);
                }
                assert_ok(st);
                assert_ok(pons_run_advance(r, &b.err));
            }
            assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
            assert_json(pons_run_get(r, "n"), "10");
            pons_run_destroy(r);
            pons_autovalue v = NULL; // and so does everybody else see it
            assert_ok(pons_state_read(b.store, "t1", "", &v, &b.err));
            assert_json(v, "{'n':10}");
            pons_graph_destroy(g);
            if (inside) {
                pons_graph_destroy(in);
            }
            bed_close(&b);
            pons_store_close(&f.inner);
        }
    }
    print_message("  %s: %d queued commits lost\n", inside ? "with a subgraph" : "alone", cases);
    assert_true(cases >= 20);
}

int main(void)
{
    pons_value_init();
    static bool alone = false, inside = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(at_every_queued_commit, &alone),
        cmocka_unit_test_prestate(at_every_queued_commit, &inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
