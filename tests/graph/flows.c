// flows.c - see flows.h. Programs are C functions that count how often each task has run; a process
// that died is a thread that is opened anew, or a store that takes no more after its n-th commit.
#include "graph/flows.h"

#include "graph/place.h"
#include "graph/spec.h"
#include "pons/functional.h"

#include <pthread.h>
#include <string.h>

typedef struct flow { // what the functions of a case share
    int entered, doubled, asked, failed;
    int fail_until; // a task fails in its first runs
    bool go_on;     // the entrypoint takes a failure
    bool other;     // it calls something else
    pthread_barrier_t both;
} flow;

// ---- tasks --------------------------------------------------------------------------------------

static int twice(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                 pons_error *err)
{
    (void)cx;
    (void)err;
    ((flow *)user)->doubled++;
    *ret = json_integer(2 * json_integer_value(input));
    return PONS_OK;
}

static int ask_task(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                    pons_error *err)
{
    const pons_value *answer = NULL;
    ((flow *)user)->asked++;
    int st = pons_interrupt(cx, pons_value_ref(input), &answer, err);
    *ret = st == PONS_OK ? pons_value_ref(answer) : NULL;
    return st;
}

static int await_task(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                      pons_error *err)
{
    const pons_value *answer = NULL;
    ((flow *)user)->asked++;
    int st = pons_await(cx, "ask", pons_value_ref(input), 0, &answer, err);
    *ret = st == PONS_OK ? pons_value_ref(answer) : NULL;
    return st;
}

static int fail_task(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                     pons_error *err)
{
    (void)cx;
    flow *f = user;
    if (f->failed++ < f->fail_until) {
        return pons_error_set(err, PONS_EIO, "net", "no route to %s", json_string_value(input));
    }
    *ret = pons_value_ref(input);
    return PONS_OK;
}

// Twice of twice, by calling a task.
static int four_times(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                      pons_error *err)
{
    (void)user;
    pons_future f;
    const pons_value *v = NULL;
    int st = pons_call(cx, "twice", pons_value_ref(input), &f, err);
    st = st == PONS_OK ? pons_future_result(cx, f, &v, err) : st;
    st = st == PONS_OK ? pons_call(cx, "twice", pons_value_ref(v), &f, err) : st;
    st = st == PONS_OK ? pons_future_result(cx, f, &v, err) : st;
    *ret = st == PONS_OK ? pons_value_ref(v) : NULL;
    return st;
}

static int forever(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                   pons_error *err)
{
    (void)user;
    (void)ret;
    pons_future f;
    const pons_value *v = NULL;
    int st = pons_call(cx, "forever", pons_value_ref(input), &f, err);
    return st == PONS_OK ? pons_future_result(cx, f, &v, err) : st;
}

static int write_task(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                      pons_error *err)
{
    (void)user;
    (void)ret;
    (void)err;
    return pons_cx_put(cx, "output", pons_value_ref(input));
}

// Two of them end only together.
static int meet(pons_work *w, void *user, const pons_value *input, pons_value **ret,
                pons_error *err)
{
    (void)w;
    (void)err;
    pthread_barrier_wait(&((flow *)user)->both);
    *ret = json_deep_copy(input);
    return PONS_OK;
}

// ---- entrypoints --------------------------------------------------------------------------------

// Calls `task` with each of the inputs, then takes the results in order.
static int each(pons_cx *cx, const char *task, const pons_value *inputs, pons_value **ret,
                pons_error *err)
{
    pons_future f[16];
    pons_autovalue list = json_array();
    const size_t n = json_array_size(inputs);
    int st = PONS_OK;
    for (size_t i = 0; i < n && st == PONS_OK; i++) {
        st = pons_call(cx, task, pons_value_ref(json_array_get(inputs, i)), &f[i], err);
    }
    for (size_t i = 0; i < n && st == PONS_OK; i++) {
        const pons_value *v = NULL;
        st = pons_future_result(cx, f[i], &v, err);
        if (st == PONS_OK) {
            json_array_append_new(list, pons_value_ref(v));
        }
    }
    *ret = st == PONS_OK ? pons_value_ref(list) : NULL;
    return st;
}

static int all_doubled(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                       pons_error *err)
{
    ((flow *)user)->entered++;
    return each(cx, "twice", input, ret, err);
}

static int doubled_then_asked(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                              pons_error *err)
{
    flow *f = user;
    pons_autovalue list = NULL;
    const pons_value *answer = NULL;
    f->entered++;
    int st = each(cx, f->other ? "four" : "twice", input, &list, err);
    st = st == PONS_OK ? pons_interrupt(cx, pons_value_ref(list), &answer, err) : st;
    if (st == PONS_OK) {
        *ret = json_pack("{sOsO}", "doubled", list, "said", answer);
    }
    return st;
}

static int all_asked(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                     pons_error *err)
{
    ((flow *)user)->entered++;
    return each(cx, "ask", input, ret, err);
}

static int all_four(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                    pons_error *err)
{
    ((flow *)user)->entered++;
    return each(cx, "four", input, ret, err);
}

// Doubles, then calls what may fail, then doubles again.
static int risky(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                 pons_error *err)
{
    flow *f = user;
    pons_autovalue one = json_integer(1);
    pons_future a, b;
    const pons_value *v = NULL, *w = NULL;
    f->entered++;
    int st = pons_call(cx, "twice", pons_value_ref(one), &a, err);
    st = st == PONS_OK ? pons_call(cx, "fail", pons_value_ref(input), &b, err) : st;
    if (st == PONS_OK) {
        st = pons_future_result(cx, b, &w, err);
    }
    const bool bad = st != PONS_OK && st != PONS_EPARKED;
    if (bad && f->go_on) {
        st = PONS_OK;
        w = json_null();
    }
    st = st == PONS_OK ? pons_future_result(cx, a, &v, err) : st;
    st = st == PONS_OK ? pons_call(cx, "twice", pons_value_ref(v), &a, err) : st;
    st = st == PONS_OK ? pons_future_result(cx, a, &v, err) : st;
    if (st == PONS_OK && f->go_on) {
        const pons_value *answer = NULL;
        st = pons_interrupt(cx, json_string("go on?"), &answer, err);
    }
    if (st == PONS_OK) {
        *ret = json_pack("[OO]", v, w);
    }
    return st;
}

// Returns the sum of what it got, saves how often it was run.
static int counting(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                    pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *had = pons_cx_previous(cx);
    const json_int_t n = json_integer_value(input) + json_integer_value(had);
    *ret = json_sprintf("%s %d", had ? "had" : "new", (int)n);
    return pons_cx_save(cx, json_integer(n));
}

// Calls and looks at no result.
static int careless(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                    pons_error *err)
{
    pons_future f;
    ((flow *)user)->entered++;
    int st = pons_call(cx, "twice", json_integer(1), &f, err);
    st = st == PONS_OK ? pons_call(cx, "fail", pons_value_ref(input), &f, err) : st;
    *ret = st == PONS_OK ? json_string("done") : NULL;
    return st;
}

static int met(pons_cx *cx, void *user, const pons_value *input, pons_value **ret, pons_error *err)
{
    ((flow *)user)->entered++;
    return each(cx, "meet", input, ret, err);
}

static int calls_write(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                       pons_error *err)
{
    (void)user;
    return each(cx, "write", input, ret, err);
}

static int calls_nothing_known(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                               pons_error *err)
{
    (void)user;
    return each(cx, "ghost", input, ret, err);
}

static int digs(pons_cx *cx, void *user, const pons_value *input, pons_value **ret, pons_error *err)
{
    return forever(cx, user, input, ret, err);
}

// The host runs what was called, in its own order.
static int lends(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                 pons_error *err)
{
    enum { N = 3 };
    pons_future f[N];
    pons_cx *lent[N];
    const pons_value *v = NULL;
    ((flow *)user)->entered++;
    for (int i = 0; i < N; i++) {
        assert_ok(pons_call(cx, "twice", json_integer(i), &f[i], err));
        assert_ok(pons_future_lend(cx, f[i], &lent[i], err));
    }
    for (int i = N; i-- > 0;) {
        if (lent[i]) { // nothing of one that has its result
            assert_int_equal(pons_future_result(cx, f[i], &v, err), PONS_EPARKED);
            pons_value *made = json_integer(100 + json_integer_value(pons_cx_arg(lent[i])));
            assert_ok(pons_future_give_back(lent[i], PONS_OK, NULL, made, err));
            ((flow *)user)->doubled++;
        }
        assert_true(pons_future_done(cx, f[i]));
    }
    assert_ok(pons_future_result(cx, f[2], &v, err));
    pons_autovalue kept = pons_value_ref(v);
    int st = pons_interrupt(cx, pons_value_ref(input), &v, err);
    *ret = st == PONS_OK ? json_pack("[OO]", kept, v) : NULL;
    return st;
}

static pons_graph *flow_graph_with(pons_step_fn entry, flow *f, const char *task,
                                   const pons_node_options *opts)
{
    pons_graph_builder *b = pons_graph_builder_create("entry");
    pons_graph_entrypoint(b, entry, f);
    pons_graph_task(b, "twice", twice, f);
    pons_graph_task(b, "four", four_times, f);
    pons_graph_task(b, "ask", ask_task, f);
    pons_graph_task(b, "await", await_task, f);
    pons_graph_task(b, "fail", fail_task, f);
    pons_graph_task(b, "write", write_task, f);
    pons_graph_task(b, "forever", forever, f);
    pons_graph_task_blocking(b, "meet", meet, f);
    if (opts) {
        pons_graph_node_options(b, task, opts);
    }
    return compile(b, NULL);
}

static pons_graph *flow_graph(pons_step_fn entry, flow *f)
{
    return flow_graph_with(entry, f, NULL, NULL);
}

// A person's answer to what a run has asked.
static void say_yes(place *p, pons_run *r, pons_run_state ends)
{
    pons_autovalue yes = json("'yes'");
    assert_ok(pons_run_resume_value(r, yes, &p->b.err));
    assert_ok(pons_run_advance(r, &p->b.err));
    assert_int_equal(pons_run_state_get(r), ends);
}

static void assert_output(pons_run *r, const char *want)
{
    assert_json(pons_run_get(r, "output"), want);
}

// ---- cases --------------------------------------------------------------------------------------

static void results_come_in_the_order_of_the_calls(void **state)
{
    for (int d = 0; d < 3; d++) {
        place p;
        open_place(&p, state);
        flow f = {0};
        pons_graph *g = flow_graph(all_doubled, &f);
        pons_run *r = NULL;
        pons_autovalue input = json("{'input':[1,2,3]}");
        pons_run_options o = {.durability = (pons_durability)d};
        assert_ok(pons_run_start(p.b.t, g, "", input, &o, &r, &p.b.err));
        assert_ok(pons_run_advance(r, &p.b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        assert_output(r, "[2,4,6]");
        assert_int_equal(f.entered, 1); // nothing waited
        assert_int_equal(f.doubled, 3);
        assert_int_equal(pons_run_supersteps(r), 1);
        pons_run_destroy(r);
        spec_state(&p.b, "", "{'output':[2,4,6],'previous':[2,4,6]}");
        pons_graph_destroy(g);
        close_place(&p);
    }
}

static void a_result_is_kept_when_the_process_ends(void **state)
{
    for (int nested = 0; nested < 2; nested++) {
        place p;
        open_place(&p, state);
        flow f = {.other = nested};
        pons_graph *g = flow_graph(doubled_then_asked, &f);
        pons_run_destroy(run_to(&p.b, g, "", "{'input':[1,2]}", PONS_RUN_INTERRUPTED));
        const int runs = nested ? 4 : 2;
        assert_int_equal(f.doubled, runs);
        reopen(&p);
        pons_run *r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
        assert_int_equal(f.entered, 1); // nothing new to tell it
        say_yes(&p, r, PONS_RUN_DONE);
        assert_output(r,
                      nested ? "{'doubled':[4,8],'said':'yes'}" : "{'doubled':[2,4],'said':'yes'}");
        assert_int_equal(f.doubled, runs);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

// At whichever commit the process dies: the same end, and no task whose result was stored runs again.
static void a_death_at_any_commit(void **state)
{
    for (int d = 0; d < 2; d++) {
        int commits = 1;
        for (int at = 0; at < commits; at++) {
            place p;
            open_place(&p, state);
            flow f = {0};
            pons_graph *g = flow_graph(all_four, &f);
            fuse cut = {.inner = p.store, .left = at};
            bed b;
            pons_run *r = NULL;
            pons_thread_close(p.b.t);
            p.b.t = NULL;
            bed_open_on(&b, fuse_store(&cut));
            pons_autovalue input = json("{'input':[1,2]}");
            pons_run_options o = {.durability = d ? PONS_DURABILITY_SYNC : PONS_DURABILITY_ASYNC};
            int st = pons_run_start(b.t, g, "", input, &o, &r, &b.err);
            if (st == PONS_OK) {
                st = pons_run_advance(r, &b.err);
            }
            const bool whole = st == PONS_OK && pons_run_state_get(r) == PONS_RUN_DONE;
            pons_run_destroy(r);
            r = NULL;
            bed_close(&b);
            bed_thread(&p.b);
            st = pons_run_resume(p.b.t, g, "", &o, &r, &p.b.err);
            if (st == PONS_ENOTFOUND) { // nothing of it was there
                assert_ok(pons_run_start(p.b.t, g, "", input, &o, &r, &p.b.err));
            } else {
                assert_ok(st);
            }
            assert_ok(pons_run_advance(r, &p.b.err));
            assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
            assert_output(r, "[4,8]");
            assert_in_range(f.doubled, 4, 5); // the one whose result was on its way, once more
            commits = whole ? commits : at + 2;
            pons_run_destroy(r);
            pons_graph_destroy(g);
            close_place(&p);
        }
    }
}

static void what_tasks_wait_for_they_wait_for_side_by_side(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    pons_graph *g = flow_graph(all_asked, &f);
    pons_run_destroy(run_to(&p.b, g, "", "{'input':['a?','b?']}", PONS_RUN_INTERRUPTED));
    assert_int_equal(f.asked, 2);
    pons_autovalue snapshot = NULL;
    assert_ok(pons_state_snapshot(p.store, "t1", "", NULL, &snapshot, &p.b.err));
    assert_int_equal(json_array_size(pons_get(snapshot, "interrupts")), 2);
    assert_int_equal(json_array_size(pons_get(snapshot, "tasks")), 1); // the entrypoint's own
    assert_json(pons_get(snapshot, "next"), "['entry']");
    for (int i = 2; i-- > 0;) { // the second one first, each in another process
        reopen(&p);
        pons_run *r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
        pons_autovalue pending = pons_run_pending(r);
        assert_int_equal(json_array_size(pending), (size_t)i + 1);
        const pons_value *of = json_array_get(pending, (size_t)i);
        assert_string_equal(pons_get_str(of, "node", ""), "ask");
        pons_autovalue answers = json_object();
        json_object_set_new(answers, pons_get_str(of, "id", ""), json_integer(i));
        assert_ok(pons_run_resume_map(r, answers, &p.b.err));
        assert_ok(pons_run_advance(r, &p.b.err));
        assert_int_equal(pons_run_state_get(r), i ? PONS_RUN_INTERRUPTED : PONS_RUN_DONE);
        if (i == 0) {
            assert_output(r, "[0,1]");
        }
        pons_run_destroy(r);
    }
    assert_int_equal(f.asked, 4); // each once more, with its answer
    pons_graph_destroy(g);
    close_place(&p);
}

static int all_awaited(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                       pons_error *err)
{
    ((flow *)user)->entered++;
    return each(cx, "await", input, ret, err);
}

static void awaits_of_tasks_are_asked_at_once(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    pons_graph *g = flow_graph(all_awaited, &f);
    pons_run *r = run_to(&p.b, g, "", "{'input':[1,2,3]}", PONS_RUN_PARKED);
    assert_int_equal(json_array_size(p.b.started), 3);
    for (size_t i = 0; i < 3; i++) {
        char id[64];
        spec_pending(r, 0, id);
        assert_ok(pons_run_answer(r, id, json_integer((json_int_t)i), &p.b.err));
        assert_ok(pons_run_advance(r, &p.b.err));
    }
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_output(r, "[0,1,2]");
    assert_int_equal(f.asked, 6);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// A failure ends the run, and a resume runs what failed alone.
static void only_what_failed_runs_again(void **state)
{
    for (int again = 0; again < 2; again++) {
        place p;
        open_place(&p, state);
        flow f = {.fail_until = 1};
        pons_graph *g = flow_graph(risky, &f);
        pons_run *r = run_to(&p.b, g, "", "{'input':'there'}", PONS_RUN_FAILED);
        assert_int_equal(pons_run_error(r)->status, PONS_EIO);
        assert_string_equal(pons_run_error(r)->message, "no route to there");
        assert_string_equal(pons_run_error(r)->module, "net");
        assert_int_equal(f.doubled, 1);
        pons_run_destroy(r);
        if (again) {
            reopen(&p);
        }
        r = resume_to(&p.b, g, "", PONS_RUN_DONE);
        assert_output(r, "[4,'there']");
        assert_int_equal(f.doubled, 2); // the first one once, the second one once
        assert_int_equal(f.failed, 2);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

// A failure that the caller went on from is what another process finds, too.
static void a_failure_that_was_gone_on_from_stays(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {.fail_until = 1, .go_on = true};
    pons_graph *g = flow_graph(risky, &f);
    pons_run_destroy(run_to(&p.b, g, "", "{'input':'there'}", PONS_RUN_INTERRUPTED));
    reopen(&p);
    pons_run *r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
    say_yes(&p, r, PONS_RUN_DONE);
    assert_output(r, "[4,null]");
    assert_int_equal(f.failed, 1);
    assert_int_equal(f.doubled, 2);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static void a_task_has_its_own_retry(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {.fail_until = 2};
    const pons_node_options o = {.retry = {.attempts = 3, .initial_ms = 100}};
    pons_graph *g = flow_graph_with(risky, &f, "fail", &o);
    pons_run *r = run_to(&p.b, g, "", "{'input':'there'}", PONS_RUN_PARKED);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f.failed, i + 1);
        p.b.time.now_ns += 100 * PONS_NS_PER_MS;
        pons_run_deadlines(r, &p.b.err);
        assert_ok(pons_run_advance(r, &p.b.err));
    }
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_output(r, "[4,'there']");
    assert_int_equal(f.doubled, 2);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// Another attempt of the entrypoint has the results that there were.
static void a_retry_of_the_entrypoint_keeps_results(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {.fail_until = 1};
    const pons_node_options o = {.retry = {.attempts = 2}};
    pons_graph *g = flow_graph_with(risky, &f, "entry", &o);
    pons_run *r = run_to(&p.b, g, "", "{'input':'there'}", PONS_RUN_DONE);
    assert_output(r, "[4,'there']");
    assert_int_equal(f.entered, 2);
    assert_int_equal(f.doubled, 2);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static void a_cached_task_is_not_run(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    const pons_node_options o = {.cache = true};
    pons_graph *g = flow_graph_with(all_doubled, &f, "twice", &o);
    for (int i = 0; i < 2; i++) {
        pons_run *r = spec_run(&p.b, g, "{'input':[7,8]}", PONS_STREAM_UPDATES, PONS_RUN_DONE);
        assert_output(r, "[14,16]");
        spec_events(&p.b, PONS_STREAM_UPDATES, false,
                    i ? "[{'twice':14,'__metadata__':{'cached':true}},"
                        "{'twice':16,'__metadata__':{'cached':true}},"
                        "{'entry':{'output':[14,16],'previous':[14,16]}}]"
                      : "[{'twice':14},{'twice':16},"
                        "{'entry':{'output':[14,16],'previous':[14,16]}}]");
        pons_run_destroy(r);
    }
    assert_int_equal(f.doubled, 2);
    pons_graph_destroy(g);
    close_place(&p);
}

static int calls_twice(pons_cx *cx, void *user, pons_error *err)
{
    pons_value *made = NULL;
    ((flow *)user)->entered++;
    const int st = each(cx, "twice", pons_cx_get(cx, "in"), &made, err);
    return st == PONS_OK ? pons_cx_put(cx, "out", made) : st;
}

// Of a subgraph, cached: a task that its node calls, its node, or the subgraph as a whole.
typedef enum cached_part { CACHED_TASK, CACHED_NODE, CACHED_WHOLE, CACHED_PARTS } cached_part;

static pons_graph *inner_cached(flow *f, cached_part part)
{
    pons_graph_builder *b = pons_graph_builder_create("inner");
    channel(b, "in", PONS_CHANNEL_LAST, NULL);
    channel(b, "out", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(b, "calls", calls_twice, f);
    pons_graph_task(b, "twice", twice, f);
    if (part != CACHED_WHOLE) {
        pons_graph_node_options(b, part == CACHED_TASK ? "twice" : "calls",
                                &(pons_node_options){.cache = true});
    }
    pons_graph_edge(b, PONS_START, "calls");
    pons_graph_edge(b, "calls", PONS_END);
    return compile(b, NULL);
}

static pons_graph *outer_cached(const pons_graph *in, cached_part part, pons_subgraph_mode mode,
                                bool stored)
{
    pons_graph_builder *b = pons_graph_builder_create("outer");
    channel(b, "in", PONS_CHANNEL_LAST, NULL);
    channel(b, "out", PONS_CHANNEL_LAST, NULL);
    pons_graph_subgraph(b, "sub", in, mode);
    if (part == CACHED_WHOLE) {
        pons_graph_node_options(b, "sub", &(pons_node_options){.cache = true});
    }
    pons_graph_edge(b, PONS_START, "sub");
    pons_graph_edge(b, "sub", PONS_END);
    return compile(b, &(pons_graph_options){.cache_stored = stored});
}

// It is not run again, whatever keeps the subgraph's state; nor by another process, which compiles the
// graphs anew, where the outer graph has its caches in the store.
static void what_is_cached_in_a_subgraph_is_not_run(void **state)
{
    for (int how = 0; how < 3 * CACHED_PARTS * 2; how++) {
        place p;
        open_place(&p, state);
        flow f = {0};
        const cached_part part = (cached_part)(how % CACHED_PARTS);
        const pons_subgraph_mode mode = (pons_subgraph_mode)(how / CACHED_PARTS % 3);
        const bool stored = how >= 3 * CACHED_PARTS;
        pons_graph *in = inner_cached(&f, part), *g = outer_cached(in, part, mode, stored);
        for (int i = 0; i < 3; i++) {
            pons_run *r =
                run_to(&p.b, g, i == 2 ? "else" : "", "{'in':[7,8],'out':null}", PONS_RUN_DONE);
            assert_json(pons_run_get(r, "out"), "[14,16]");
            pons_run_destroy(r);
            if (stored) {
                pons_graph_destroy(g);
                pons_graph_destroy(in);
                in = inner_cached(&f, part);
                g = outer_cached(in, part, mode, stored);
                reopen(&p);
            }
        }
        assert_int_equal(f.doubled, 2);
        assert_int_equal(f.entered, part == CACHED_TASK ? 3 : 1);
        pons_graph_destroy(g);
        pons_graph_destroy(in);
        close_place(&p);
    }
}

static void what_was_saved_is_there_the_next_time(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    pons_graph *g = flow_graph(counting, &f);
    static const char *const want[] = {"'new 5'", "'had 10'", "'had 15'"};
    for (int i = 0; i < 3; i++) {
        pons_run *r = run_to(&p.b, g, "", "{'input':5}", PONS_RUN_DONE);
        assert_output(r, want[i]);
        pons_run_destroy(r);
        reopen(&p);
    }
    char id[32]; // back to the end of the first run
    spec_checkpoint_at(&p.b, "", 1, id);
    pons_run *r = NULL;
    pons_autovalue input = json("{'input':1}");
    assert_ok(pons_run_fork(p.b.t, g, "", id, input, NULL, &r, &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_output(r, "'had 6'");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static void another_call_in_a_replay_is_told(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    pons_graph *g = flow_graph(doubled_then_asked, &f);
    pons_run_destroy(run_to(&p.b, g, "", "{'input':[1]}", PONS_RUN_INTERRUPTED));
    reopen(&p);
    f.other = true;
    pons_run *r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
    say_yes(&p, r, PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ENONDETERMINISM);
    assert_non_null(strstr(pons_run_error(r)->message, "'twice'"));
    assert_non_null(strstr(pons_run_error(r)->message, "'four'"));
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static void tasks_that_block_are_side_by_side(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    pthread_barrier_init(&f.both, NULL, 2); // neither ends before the other one has begun
    pons_graph *g = flow_graph(met, &f);
    pons_run *r = NULL;
    pons_autovalue input = json("{'input':['a','b']}");
    assert_ok(pons_run_start(p.b.t, g, "", input, NULL, &r, &p.b.err));
    assert_ok(pons_run_wait(r, &p.b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_output(r, "['a','b']");
    pons_run_destroy(r);
    pthread_barrier_destroy(&f.both);
    pons_graph_destroy(g);
    close_place(&p);
}

static void tasks_are_streamed(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    pons_graph *g = flow_graph(all_four, &f);
    pons_run_destroy(spec_run(&p.b, g, "{'input':[1]}", PONS_STREAM_UPDATES, PONS_RUN_DONE));
    spec_events(&p.b, PONS_STREAM_UPDATES, false,
                "[{'twice':2},{'twice':4},{'four':4},"
                "{'entry':{'output':[4],'previous':[4]}}]");
    pons_graph_destroy(g);
    g = flow_graph(all_asked, &f);
    pons_run_destroy(spec_run(&p.b, g, "{'input':['?']}", PONS_STREAM_TASKS, PONS_RUN_INTERRUPTED));
    spec_events(&p.b, PONS_STREAM_TASKS, false,
                "[{'id':'#1','name':'entry','input':{'input':['?'],'output':[4],'previous':[4]},"
                "'triggers':['branch:to:entry']},"
                "{'id':'#2','name':'ask','input':'?','triggers':['__pregel_push']},"
                "{'id':'#2','name':'ask','result':{},'error':null,'cached':false,"
                "'interrupts':[{'id':'#3','value':'?'}]}]");
    pons_graph_destroy(g);
    close_place(&p);
}

static void a_call_that_nobody_looks_at_is_run(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {.fail_until = 9};
    pons_graph *g = flow_graph(careless, &f);
    pons_run *r = run_to(&p.b, g, "", "{'input':'there'}", PONS_RUN_DONE);
    assert_output(r, "'done'");
    assert_int_equal(f.doubled, 1);
    assert_int_equal(f.failed, 1); // and nobody's failure
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static void a_host_may_run_them_itself(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    pons_graph *g = flow_graph(lends, &f);
    pons_run_destroy(run_to(&p.b, g, "", "{'input':'?'}", PONS_RUN_INTERRUPTED));
    assert_int_equal(f.doubled, 3);
    reopen(&p);
    pons_run *r = resume_to(&p.b, g, "", PONS_RUN_INTERRUPTED);
    say_yes(&p, r, PONS_RUN_DONE);
    assert_output(r, "[102,'yes']");
    assert_int_equal(f.doubled, 3);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

static void what_is_wrong_is_said(void **state)
{
    place p;
    open_place(&p, state);
    flow f = {0};
    static const struct {
        pons_step_fn entry;
        int status;
        const char *says;
    } cases[] = {
        {calls_write, PONS_EINVAL, "task 'write' writes channel 'output'"},
        {calls_nothing_known, PONS_EINVAL, "calls 'ghost', which is no task of graph entry"},
        {digs, PONS_ERECURSION, "64 deep"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_graph *g = flow_graph(cases[i].entry, &f);
        pons_run *r = run_to(&p.b, g, "", "{'input':[1]}", PONS_RUN_FAILED);
        assert_int_equal(pons_run_error(r)->status, cases[i].status);
        if (!strstr(pons_run_error(r)->message, cases[i].says)) {
            fail_msg("%s", pons_run_error(r)->message);
        }
        pons_run_destroy(r);
        pons_graph_destroy(g);
    }
    pons_graph_builder *b = pons_graph_builder_create("entry");
    pons_graph_entrypoint(b, all_doubled, &f);
    pons_graph_task(b, "twice", twice, &f);
    pons_graph_edge(b, "entry", "twice");
    pons_graph *g = NULL;
    assert_int_equal(pons_graph_compile(b, NULL, &g, &p.b.err), PONS_EINVAL);
    assert_non_null(strstr(p.b.err.message, "task 'twice' has an edge"));
    pons_graph_builder_destroy(b);
    close_place(&p);
}

int flows_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_the_order_of_the_calls),
        cmocka_unit_test(a_result_is_kept_when_the_process_ends),
        cmocka_unit_test(a_death_at_any_commit),
        cmocka_unit_test(what_tasks_wait_for_they_wait_for_side_by_side),
        cmocka_unit_test(awaits_of_tasks_are_asked_at_once),
        cmocka_unit_test(only_what_failed_runs_again),
        cmocka_unit_test(a_failure_that_was_gone_on_from_stays),
        cmocka_unit_test(a_task_has_its_own_retry),
        cmocka_unit_test(a_retry_of_the_entrypoint_keeps_results),
        cmocka_unit_test(a_cached_task_is_not_run),
        cmocka_unit_test(what_is_cached_in_a_subgraph_is_not_run),
        cmocka_unit_test(what_was_saved_is_there_the_next_time),
        cmocka_unit_test(another_call_in_a_replay_is_told),
        cmocka_unit_test(tasks_that_block_are_side_by_side),
        cmocka_unit_test(tasks_are_streamed),
        cmocka_unit_test(a_call_that_nobody_looks_at_is_run),
        cmocka_unit_test(a_host_may_run_them_itself),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}
