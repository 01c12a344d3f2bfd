#include "graph/limits.h"

#include "graph/place.h"
#include "graph/spec.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

// Moves the clock to the run's next deadline and lets it go on; how long that was, in ms.
static int64_t to_deadline(place *p, pons_run *r)
{
    bed *b = &p->b;
    int64_t due = pons_run_deadlines(r, &b->err);
    assert_true(due != INT64_MAX);
    int64_t ms = (due - b->time.now_ns) / PONS_NS_PER_MS;
    b->time.now_ns = due;
    pons_run_deadlines(r, &b->err);
    assert_ok(pons_run_advance(r, &b->err));
    return ms;
}

// ---- retries ------------------------------------------------------------------------------------

typedef struct failing { // fails with these, one an attempt, then goes well
    int with[8];
    int calls;
} failing;

static int node_failing(pons_cx *cx, void *user, pons_error *err)
{
    failing *f = user;
    const int status = f->with[f->calls++];
    if (status != PONS_OK) {
        return pons_error_set(err, status, "test", "attempt %d", f->calls);
    }
    return pons_cx_put(cx, "log", json_integer(f->calls));
}

static bool only_refused(void *user, const pons_error *err)
{
    (void)user;
    return err->status == PONS_EREFUSED;
}

static pons_graph *one_node(pons_node_fn fn, void *user, const pons_node_options *o)
{
    pons_graph_builder *gb = pons_graph_builder_create("one");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "n", fn, user);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph_node_options(gb, "n", o);
    return compile(gb, NULL);
}

static void what_may_pass_by_itself_is_tried_again(void **state)
{
    static const struct {
        int status;
        bool again;
    } cases[] = {
        {PONS_EIO, true},        {PONS_EBUSY, true},     {PONS_EAGAIN, true},
        {PONS_ETIMEOUT, true},   {PONS_ECLOSED, true},   {PONS_EINVAL, false},
        {PONS_ENOTFOUND, false}, {PONS_EREFUSED, false}, {PONS_ECORRUPT, false},
        {PONS_ECANCELED, false}, {PONS_ENOMEM, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int any = 0; any < 2; any++) {
            place p;
            open_place(&p, state);
            failing f = {.with = {cases[i].status}};
            pons_graph *g =
                one_node(node_failing, &f,
                         &(pons_node_options){
                             .retry = {.attempts = 2, .retry_on = any ? pons_retry_any : NULL}});
            const bool again = any || cases[i].again;
            pons_run_destroy(run_to(&p.b, g, "", NULL, again ? PONS_RUN_DONE : PONS_RUN_FAILED));
            assert_int_equal(f.calls, again ? 2 : 1);
            pons_graph_destroy(g);
            close_place(&p);
        }
    }
}

// Each error finds its policy, whose waits and attempts count; what has been tried counts for all.
static void the_first_policy_that_takes_the_error_counts(void **state)
{
    static const pons_retry list[] = {
        {.attempts = 2, .initial_ms = 10, .retry_on = only_refused},
        {.attempts = 4, .initial_ms = 100, .factor = 2},
        {.attempts = 99, .retry_on = only_refused}, // never reached
    };
    const pons_node_options o = {.retries = list, .n_retries = 3};
    place p;
    open_place(&p, state);
    failing f = {.with = {PONS_EREFUSED, PONS_EIO, PONS_EIO, PONS_OK}};
    pons_graph *g = one_node(node_failing, &f, &o);
    pons_run *r = run_to(&p.b, g, "", NULL, PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&p, r), 10);
    assert_int_equal(to_deadline(&p, r), 200);
    assert_int_equal(to_deadline(&p, r), 400);
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "[4]");
    pons_run_destroy(r);
    f = (failing){.with = {PONS_EIO, PONS_EREFUSED}};
    r = run_to(&p.b, g, "", NULL, PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&p, r), 100);
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED); // its two attempts are used up
    assert_int_equal(pons_run_error(r)->status, PONS_EREFUSED);
    pons_run_destroy(r);
    f = (failing){.with = {PONS_EINVAL}}; // nobody takes it
    pons_run_destroy(run_to(&p.b, g, "", NULL, PONS_RUN_FAILED));
    assert_int_equal(f.calls, 1);
    pons_graph_destroy(g);
    close_place(&p);
}

// ---- the time of a superstep --------------------------------------------------------------------

typedef struct slow { // a graph of a node that writes, one that waits, one that takes time
    bed *b;
    int64_t takes_ms;
    int runs, quick_runs;
} slow;

static int node_quick(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    ((slow *)user)->quick_runs++;
    return pons_cx_put(cx, "log", json_string("quick"));
}

static int node_slow(pons_cx *cx, void *user, pons_error *err)
{
    slow *s = user;
    const pons_value *a = NULL;
    s->runs++;
    s->b->time.now_ns += s->takes_ms * PONS_NS_PER_MS;
    pons_cx_put(cx, "log", json_string("slow"));
    return s->takes_ms ? PONS_OK : pons_await(cx, "ask", json_null(), 0, &a, err);
}

static pons_graph *slow_graph(slow *s, const pons_node_options *o)
{
    static const char *const legs[] = {"a", "w"};
    pons_graph_builder *gb = pons_graph_builder_create("slow");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "a", node_quick, s);
    pons_graph_node(gb, "w", node_slow, s);
    pons_graph_node(gb, "z", node_quick, s);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, PONS_START, "w");
    pons_graph_join(gb, legs, 2, "z");
    pons_graph_edge(gb, "z", PONS_END);
    pons_graph_node_options(gb, "w", o);
    return compile(gb, &(pons_graph_options){.step_timeout_ms = 500});
}

static void assert_late(const pons_run *r)
{
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ETIMEOUT);
    assert_string_equal(pons_run_error(r)->message,
                        "a superstep of graph slow took longer than 500 ms; not finished: 'w'");
}

// The error names who had not finished; what the sibling wrote stays, a resume does not run it again,
// and has the whole time.
static void a_superstep_over_its_time_ends_the_run(void **state)
{
    place p;
    open_place(&p, state);
    slow s = {.b = &p.b};
    pons_graph *g = slow_graph(&s, &(pons_node_options){.retry = {.attempts = 9}});
    pons_run *r = run_to(&p.b, g, "", NULL, PONS_RUN_PARKED);
    p.b.time.now_ns += 100 * PONS_NS_PER_MS;
    assert_int_equal(to_deadline(&p, r), 400);
    assert_late(r);
    assert_int_equal(json_array_size(p.b.canceled), 1);
    pons_run_destroy(r);
    reopen(&p);
    r = resume_to(&p.b, g, "", PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&p, r), 500);
    assert_late(r);
    pons_run_destroy(r);
    r = resume_to(&p.b, g, "", PONS_RUN_PARKED);
    const pons_value *last = json_array_get(p.b.started, json_array_size(p.b.started) - 1);
    assert_ok(pons_run_answer(r, pons_get_str(last, "id", ""), json_null(), &p.b.err));
    assert_ok(pons_run_advance(r, &p.b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['quick','slow','quick']");
    assert_int_equal(s.quick_runs, 2); // a and z, each once
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// Nothing interrupts a node; when it comes back too late, what it wrote does not count.
static void a_node_that_comes_back_too_late_has_not_finished(void **state)
{
    place p;
    open_place(&p, state);
    slow s = {.b = &p.b, .takes_ms = 500};
    pons_graph *g = slow_graph(&s, &(pons_node_options){.retry = {.attempts = 9}});
    pons_run *r = run_to(&p.b, g, "", NULL, PONS_RUN_FAILED);
    assert_late(r);
    assert_int_equal(s.runs, 1);
    pons_run_destroy(r);
    s.takes_ms = 499;
    reopen(&p);
    r = resume_to(&p.b, g, "", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['quick','slow','quick']");
    assert_int_equal(s.quick_runs, 2);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// The wait for another attempt is in the step's time, and no policy gets around it.
static void a_wait_for_another_attempt_takes_the_steps_time(void **state)
{
    place p;
    open_place(&p, state);
    failing f = {.with = {PONS_EIO, PONS_OK}};
    pons_graph_builder *gb = pons_graph_builder_create("waits");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "n", node_failing, &f);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph_node_options(gb, "n",
                            &(pons_node_options){.retry = {.attempts = 3, .initial_ms = 1000}});
    pons_graph *g = compile(gb, &(pons_graph_options){.step_timeout_ms = 300});
    pons_run *r = run_to(&p.b, g, "", NULL, PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&p, r), 300);
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ETIMEOUT);
    assert_int_equal(f.calls, 1);
    pons_run_destroy(r);
    pons_run_destroy(resume_to(&p.b, g, "", PONS_RUN_DONE));
    pons_graph_destroy(g);
    close_place(&p);
}

static void people_take_none_of_a_supersteps_time(void **state)
{
    place p;
    open_place(&p, state);
    spec_node n[] = {{"a", "ask 'who?'", "END"}, {NULL}};
    pons_graph *g =
        spec_compile(&(spec_graph){"a", n, .opts = &(pons_graph_options){.step_timeout_ms = 10}});
    pons_run *r = spec_run(&p.b, g, NULL, 0, PONS_RUN_INTERRUPTED);
    assert_true(pons_run_deadlines(r, &p.b.err) == INT64_MAX);
    p.b.time.now_ns += PONS_NS_PER_S;
    spec_answer(&p.b, r, "'me'", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['me']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    close_place(&p);
}

// A subgraph that goes round and round is stopped between its own supersteps.
static void a_subgraph_is_in_its_parents_time(void **state)
{
    place p;
    open_place(&p, state);
    slow s = {.b = &p.b, .takes_ms = 100};
    pons_graph_builder *gb = pons_graph_builder_create("round");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "n", node_slow, &s);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", "n");
    pons_graph *sub = compile(gb, NULL);
    gb = pons_graph_builder_create("outer");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_subgraph(gb, "sub", sub, PONS_SUBGRAPH_INHERIT);
    pons_graph_edge(gb, PONS_START, "sub");
    pons_graph_edge(gb, "sub", PONS_END);
    pons_graph *g = compile(gb, &(pons_graph_options){.step_timeout_ms = 250});
    pons_run *r = run_to(&p.b, g, "", NULL, PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ETIMEOUT);
    assert_int_equal(s.runs, 3);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_graph_destroy(sub);
    close_place(&p);
}

// ---- cancels ------------------------------------------------------------------------------------

typedef struct hold { // a node that works until its run is to end, or once
    sem_t at_work;
    int runs, quick_runs;
    bool through;
} hold;

static int node_holds(pons_cx *cx, void *user, pons_error *err)
{
    hold *h = user;
    h->runs++;
    pons_cx_put(cx, "log", json_string("held"));
    sem_post(&h->at_work);
    while (!h->through) {
        if (pons_cx_canceled(cx)) {
            return pons_error_set(err, PONS_ECANCELED, "test", "told to end");
        }
        sched_yield();
    }
    return PONS_OK;
}

static int node_blocks(pons_work *w, void *user, const pons_value *in, pons_value **ret,
                       pons_error *err)
{
    hold *h = user;
    (void)in;
    (void)err;
    h->runs++;
    *ret = json_pack("{ss}", "log", "held");
    sem_post(&h->at_work);
    while (!h->through && !pons_work_canceled(w)) {
        sched_yield();
    }
    return PONS_OK;
}

static int node_counted(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    ((hold *)user)->quick_runs++;
    return pons_cx_put(cx, "log", json_string("quick"));
}

enum held_by { HELD_NODE, HELD_BLOCKING, HELD_SUBGRAPH, HELD_WAYS };

// first, then a beside hold (or a subgraph with it, or a blocking one), then END. Retries and an error
// handler are there to be passed over.
static pons_graph *hold_graph(hold *h, enum held_by by, pons_graph **ret_sub)
{
    const pons_node_options o = {.retry = {.attempts = 9, .retry_on = pons_retry_any},
                                 .error_handler = "a"};
    pons_graph_builder *gb = pons_graph_builder_create("held");
    *ret_sub = NULL;
    if (by == HELD_SUBGRAPH) {
        pons_graph_builder *in = pons_graph_builder_create("inside");
        channel(in, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        pons_graph_node(in, "b", node_counted, h);
        pons_graph_node(in, "hold", node_holds, h);
        pons_graph_edge(in, PONS_START, "b");
        pons_graph_edge(in, "b", "hold");
        pons_graph_edge(in, "hold", PONS_END);
        *ret_sub = compile(in, NULL);
    }
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    pons_graph_node(gb, "first", node_counted, h);
    pons_graph_node(gb, "a", node_counted, h);
    if (by == HELD_NODE) {
        pons_graph_node(gb, "hold", node_holds, h);
    } else if (by == HELD_BLOCKING) {
        pons_graph_blocking(gb, "hold", node_blocks, h);
    } else {
        pons_graph_subgraph(gb, "hold", *ret_sub, PONS_SUBGRAPH_INHERIT);
    }
    pons_graph_node_options(gb, "hold", &o);
    pons_graph_edge(gb, PONS_START, "first");
    pons_graph_edge(gb, "first", "a");
    pons_graph_edge(gb, "first", "hold");
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph_edge(gb, "hold", PONS_END);
    return compile(gb, NULL);
}

typedef struct asker {
    hold *h;
    pons_cancel *c;
    pons_cancel_how how;
} asker;

static void *ask_when_at_work(void *arg)
{
    asker *a = arg;
    sem_wait(&a->h->at_work);
    pons_cancel_request(a->c, a->how);
    pons_cancel_destroy(a->c); // its run has its own
    return NULL;
}

// Runs, and cancels from another thread once the node is at work. The run is the caller's.
static pons_run *canceled_run(place *p, const pons_graph *g, hold *h, pons_cancel_how how,
                              pons_durability durability)
{
    asker a = {.h = h, .how = how};
    pthread_t other;
    pons_run *r = NULL;
    assert_ok(pons_cancel_create(&a.c, &p->b.err));
    const pons_run_options o = {.durability = durability, .cancel = a.c};
    pons_autovalue in = json("{'log':'in'}");
    assert_ok(pons_run_start(p->b.t, g, "", in, &o, &r, &p->b.err));
    assert_int_equal(pthread_create(&other, NULL, ask_when_at_work, &a), 0);
    assert_ok(pons_run_wait(r, &p->b.err));
    pthread_join(other, NULL);
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ECANCELED);
    assert_string_equal(pons_run_error(r)->message, "the run was canceled");
    return r;
}

// The state is that of the last whole step; a resume runs what had not finished, and no more.
static void a_cancel_leaves_the_last_whole_step(void **state)
{
    for (int by = 0; by < HELD_WAYS; by++) {
        for (int d = 0; d < 3; d++) {
            place p;
            open_place(&p, state);
            hold h = {0};
            pons_graph *sub;
            sem_init(&h.at_work, 0, 0);
            pons_graph *g = hold_graph(&h, (enum held_by)by, &sub);
            pons_run *r = canceled_run(&p, g, &h, PONS_CANCEL_INTERRUPT, (pons_durability)d);
            spec_state(&p.b, "", "{'log':['in','quick']}");
            assert_json(pons_run_get(r, "log"), "['in','quick']");
            pons_run_destroy(r);
            reopen(&p);
            h.through = true;
            const int quick = h.quick_runs, runs = h.runs;
            r = resume_to(&p.b, g, "", by == HELD_BLOCKING ? PONS_RUN_PARKED : PONS_RUN_DONE);
            assert_ok(pons_run_wait(r, &p.b.err));
            assert_json(pons_run_get(r, "log"), by == HELD_SUBGRAPH
                                                    ? "['in','quick','quick','quick','held']"
                                                    : "['in','quick','quick','held']");
            assert_int_equal(h.quick_runs, quick); // a is not run again, nor b in the subgraph
            assert_int_equal(h.runs, runs + 1);
            pons_run_destroy(r);
            pons_graph_destroy(g);
            pons_graph_destroy(sub);
            sem_destroy(&h.at_work);
            close_place(&p);
        }
    }
}

// A rollback takes the run's checkpoints away, and those of what ran inside it.
static void a_rollback_leaves_what_was_before(void **state)
{
    for (int by = 0; by < HELD_WAYS; by++) {
        place p;
        open_place(&p, state);
        hold h = {.through = true};
        pons_graph *sub;
        sem_init(&h.at_work, 0, 0);
        pons_graph *g = hold_graph(&h, (enum held_by)by, &sub);
        pons_run *r = NULL;
        pons_autovalue in = json("{'log':'before'}");
        pons_autovalue was = NULL;
        pons_autovalue now = NULL;
        pons_autovalue list = NULL;
        assert_ok(pons_run_start(p.b.t, g, "", in, NULL, &r, &p.b.err));
        assert_ok(pons_run_wait(r, &p.b.err));
        pons_run_destroy(r);
        assert_ok(pons_state_read(p.store, "t1", "", &was, &p.b.err));
        h.through = false;
        while (sem_trywait(&h.at_work) == 0) {
        }
        pons_run_destroy(canceled_run(&p, g, &h, PONS_CANCEL_ROLLBACK, PONS_DURABILITY_SYNC));
        reopen(&p);
        assert_ok(pons_state_read(p.store, "t1", "", &now, &p.b.err));
        assert_true(json_equal(was, now));
        assert_ok(pons_state_history(p.store, "t1", "", 0, true, &list, &p.b.err));
        for (size_t i = 0; i < json_array_size(list); i++) { // nothing of it is to be seen
            const pons_value *log = pons_get(pons_get(json_array_get(list, i), "values"), "log");
            for (size_t k = 0; k < json_array_size(log); k++) {
                assert_string_not_equal(json_string_value(json_array_get(log, k)), "in");
            }
        }
        r = resume_to(&p.b, g, "", PONS_RUN_DONE); // nothing is left of it
        pons_run_destroy(r);
        pons_graph_destroy(g);
        pons_graph_destroy(sub);
        sem_destroy(&h.at_work);
        close_place(&p);
    }
}

// Somebody else who has the store asks, in another process or here: whoever listens ends its run.
static void *post_when_at_work(void *arg)
{
    place *p = ((void **)arg)[0];
    hold *h = ((void **)arg)[1];
    pons_error err = PONS_ERROR_INIT;
    sem_wait(&h->at_work);
    const int st = pons_cancel_post(p->store, "t1", PONS_CANCEL_INTERRUPT, &err);
    return st == PONS_OK ? NULL : arg;
}

static void whoever_holds_the_thread_is_asked(void **state)
{
    for (int by = 0; by < HELD_WAYS; by++) {
        place p;
        open_place(&p, state);
        hold h = {0};
        pons_graph *sub;
        sem_init(&h.at_work, 0, 0);
        pons_graph *g = hold_graph(&h, (enum held_by)by, &sub);
        pons_run *r = NULL;
        for (int i = 0; i < 2; i++) { // the second finds nothing of the first one's request
            pons_cancel *c = NULL;
            pthread_t other;
            void *args[] = {&p, &h}, *bad = NULL;
            assert_ok(pons_cancel_create(&c, &p.b.err));
            assert_ok(pons_cancel_listen(c, p.store, "t1", &p.b.err));
            assert_int_equal(pons_cancel_listen(c, p.store, "t1", &p.b.err), PONS_EINVAL);
            const pons_run_options o = {.cancel = c};
            assert_ok(pons_run_start(p.b.t, g, "", NULL, &o, &r, &p.b.err));
            assert_int_equal(pthread_create(&other, NULL, post_when_at_work, args), 0);
            assert_ok(pons_run_wait(r, &p.b.err));
            pthread_join(other, &bad);
            assert_null(bad);
            assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
            assert_int_equal(pons_run_error(r)->status, PONS_ECANCELED);
            int64_t waiting = -1;
            assert_ok(pons_thread_inbox_count(p.b.t, "__cancel__", &waiting, &p.b.err));
            assert_int_equal(waiting, 0);
            pons_run_destroy(r);
            pons_cancel_destroy(c);
            reopen(&p);
        }
        pons_thread_close(p.b.t);
        p.b.t = NULL;
        assert_int_equal(pons_cancel_post(p.store, "t1", PONS_CANCEL_INTERRUPT, &p.b.err),
                         PONS_ENOTPENDING);
        pons_graph_destroy(g);
        pons_graph_destroy(sub);
        sem_destroy(&h.at_work);
        close_place(&p);
    }
}

// One that waits, for the host, a person or its turn, is canceled by its next advance; one that has
// ended stays as it is.
static void a_run_that_waits_is_canceled(void **state)
{
    static const struct {
        const char *does;
        pons_run_state want;
    } cases[] = {{"await 1", PONS_RUN_PARKED},
                 {"ask 1", PONS_RUN_INTERRUPTED},
                 {"put log 1", PONS_RUN_DONE}};
    for (size_t i = 0; i < 3; i++) {
        for (int by_token = 0; by_token < 2; by_token++) {
            place p;
            open_place(&p, state);
            spec_node n[] = {{"a", cases[i].does, "END"}, {NULL}};
            pons_graph *g = spec_compile(&(spec_graph){"a", n});
            pons_cancel *c = NULL;
            pons_run *r = NULL, *queued = NULL;
            assert_ok(pons_cancel_create(&c, &p.b.err));
            const pons_run_options o = {.durability = PONS_DURABILITY_SYNC, .cancel = c};
            assert_ok(pons_run_start(p.b.t, g, "", NULL, &o, &r, &p.b.err));
            assert_ok(pons_run_advance(r, &p.b.err));
            assert_int_equal(pons_run_state_get(r), cases[i].want);
            if (cases[i].want == PONS_RUN_PARKED) {
                assert_ok(
                    pons_run_submit(p.b.t, g, "", NULL, PONS_BUSY_ENQUEUE, &o, &queued, &p.b.err));
            }
            if (by_token) {
                pons_cancel_request(c, PONS_CANCEL_INTERRUPT);
                pons_cancel_request(c, PONS_CANCEL_ROLLBACK); // the first one stays
                assert_int_equal(pons_cancel_requested(c), PONS_CANCEL_INTERRUPT);
            } else {
                pons_run_cancel(r, PONS_CANCEL_INTERRUPT);
                if (queued) {
                    pons_run_cancel(queued, PONS_CANCEL_INTERRUPT);
                }
            }
            assert_ok(pons_run_advance(r, &p.b.err));
            const bool over = cases[i].want == PONS_RUN_DONE;
            assert_int_equal(pons_run_state_get(r), over ? PONS_RUN_DONE : PONS_RUN_FAILED);
            assert_int_equal(json_array_size(p.b.canceled), queued ? 1 : 0);
            if (queued) {
                assert_ok(pons_run_advance(queued, &p.b.err));
                assert_int_equal(pons_run_state_get(queued), PONS_RUN_FAILED);
                assert_int_equal(pons_run_error(queued)->status, PONS_ECANCELED);
                pons_run_destroy(queued);
            }
            pons_run_destroy(r);
            if (!over) { // what it asked is still there to be answered
                r = resume_to(&p.b, g, "", cases[i].want);
                char id[64];
                spec_pending(r, 0, id);
                assert_ok(pons_run_answer(r, id, json_integer(1), &p.b.err));
                assert_ok(pons_run_advance(r, &p.b.err));
                assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
                pons_run_destroy(r);
            }
            spec_state(&p.b, "", "{'log':[1]}");
            pons_graph_destroy(g);
            pons_cancel_destroy(c);
            close_place(&p);
        }
    }
}

// A node that finishes all the same has finished, and the run with it when nothing is next.
static int node_cancels_itself(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_run_cancel(*(pons_run **)user, PONS_CANCEL_INTERRUPT);
    assert_true(pons_cx_canceled(cx));
    return pons_cx_put(cx, "log", json_string("done"));
}

static void a_node_that_finishes_has_finished(void **state)
{
    for (int more = 0; more < 2; more++) {
        place p;
        open_place(&p, state);
        pons_run *r = NULL;
        pons_graph_builder *gb = pons_graph_builder_create("itself");
        channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        pons_graph_node(gb, "n", node_cancels_itself, &r);
        pons_graph_node(gb, "next", node_log, NULL);
        pons_graph_edge(gb, PONS_START, "n");
        pons_graph_edge(gb, "n", more ? "next" : PONS_END);
        pons_graph_edge(gb, "next", PONS_END);
        if (!more) {
            pons_graph_edge(gb, PONS_START, "next");
        }
        pons_graph *g = compile(gb, NULL);
        assert_ok(pons_run_start(p.b.t, g, "", NULL, NULL, &r, &p.b.err));
        assert_ok(pons_run_advance(r, &p.b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
        assert_int_equal(pons_run_error(r)->status, PONS_ECANCELED);
        pons_run_destroy(r);
        spec_state(&p.b, "", more ? "{'log':['done']}" : "{}");
        r = resume_to(&p.b, g, "", PONS_RUN_DONE);
        assert_json(pons_run_get(r, "log"), "['done','next']");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

// ---- caches -------------------------------------------------------------------------------------

typedef struct counted { // a node that is to be run as seldom as possible
    int runs, keys;
    bool bad_key;
} counted;

static int node_dear(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    counted *c = user;
    c->runs++;
    pons_cx_send(cx, "leaf", json_string("sent"));
    return pons_cx_put(cx, "log", json_pack("[sO?]", "made of", pons_cx_get(cx, "in")));
}

static int node_leaf(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "log", pons_value_ref(pons_cx_arg(cx)));
}

// Only the first letter counts.
static int first_letter(void *user, const pons_value *state, const pons_value *arg,
                        pons_value **ret, pons_error *err)
{
    counted *c = user;
    c->keys++;
    assert_null(arg);
    if (c->bad_key) {
        return pons_error_set(err, PONS_EINVAL, "test", "no key");
    }
    *ret = json_stringn(pons_get_str(state, "in", "?"), 1);
    return PONS_OK;
}

static pons_graph *dear_graph(counted *c, bool stored, bool keyed, const char *name)
{
    static const char *const on[] = {"in", NULL}, *const goes[] = {"leaf", NULL};
    pons_graph_builder *gb = pons_graph_builder_create(name);
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "in", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "dear", node_dear, c);
    pons_graph_node(gb, "leaf", node_leaf, NULL);
    pons_graph_edge(gb, PONS_START, "dear");
    pons_graph_edge(gb, "leaf", PONS_END);
    pons_graph_node_options(gb, "dear",
                            &(pons_node_options){.cache = true,
                                                 .cache_ttl_ms = 1000,
                                                 .cache_on = on,
                                                 .goes = goes,
                                                 .cache_key = keyed ? first_letter : NULL,
                                                 .cache_user = c});
    return compile(gb, &(pons_graph_options){.cache_stored = stored});
}

static void dear_run(place *p, const pons_graph *g, const char *ns, const char *in,
                     const char *want)
{
    char input[64];
    snprintf(input, sizeof input, "{'in':'%s','log':{'__overwrite__':[]}}", in);
    pons_run_destroy(run_to(&p->b, g, ns, input, PONS_RUN_DONE));
    spec_state(&p->b, ns, want);
}

// What was made of the same input is given again: in other threads, and, where the store keeps it, to
// other processes and other compilations, until its time is over or it is cleared.
static void what_was_cached_is_given_again(void **state)
{
    for (int stored = 0; stored < 2; stored++) {
        place p;
        open_place(&p, state);
        counted c = {0};
        pons_graph *g = dear_graph(&c, stored, false, "dear");
        dear_run(&p, g, "", "x", "{'in':'x','log':['made of','x','sent']}");
        dear_run(&p, g, "n", "x", "{'in':'x','log':['made of','x','sent']}");
        assert_int_equal(c.runs, 1);
        dear_run(&p, g, "n", "y", "{'in':'y','log':['made of','y','sent']}");
        assert_int_equal(c.runs, 2);
        pons_graph_destroy(g);
        bed_thread(&p.b);
        g = dear_graph(&c, stored, false, "dear"); // as another process compiles it
        dear_run(&p, g, "m", "x", "{'in':'x','log':['made of','x','sent']}");
        assert_int_equal(c.runs, stored ? 2 : 3);
        c.runs = 0;
        p.b.time.now_ns += 999 * PONS_NS_PER_MS;
        dear_run(&p, g, "m", "x", "{'in':'x','log':['made of','x','sent']}");
        assert_int_equal(c.runs, 0);
        p.b.time.now_ns += 2 * PONS_NS_PER_MS;
        dear_run(&p, g, "m", "x", "{'in':'x','log':['made of','x','sent']}");
        assert_int_equal(c.runs, 1);
        pons_graph *other = dear_graph(&c, stored, false, "other"); // has its own
        dear_run(&p, other, "o", "x", "{'in':'x','log':['made of','x','sent']}");
        assert_int_equal(c.runs, 2);
        assert_ok(pons_graph_cache_clear(g, p.store, "leaf", &p.b.err));
        dear_run(&p, g, "m", "x", "{'in':'x','log':['made of','x','sent']}");
        assert_int_equal(c.runs, 2);
        for (int one = 0; one < 2; one++) {
            assert_ok(pons_graph_cache_clear(g, p.store, one ? "dear" : NULL, &p.b.err));
            dear_run(&p, g, "m", "x", "{'in':'x','log':['made of','x','sent']}");
            assert_int_equal(c.runs, 3 + one);
        }
        dear_run(&p, other, "o", "x", "{'in':'x','log':['made of','x','sent']}");
        assert_int_equal(c.runs, 4); // nobody cleared that one
        assert_int_equal(pons_graph_cache_clear(g, p.store, "ghost", &p.b.err), PONS_EINVAL);
        pons_graph_destroy(other);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

static void a_key_says_what_counts(void **state)
{
    for (int stored = 0; stored < 2; stored++) {
        place p;
        open_place(&p, state);
        counted c = {0};
        pons_graph *g = dear_graph(&c, stored, true, "dear");
        dear_run(&p, g, "", "anna", "{'in':'anna','log':['made of','anna','sent']}");
        dear_run(&p, g, "", "alf", "{'in':'alf','log':['made of','anna','sent']}");
        dear_run(&p, g, "", "bea", "{'in':'bea','log':['made of','bea','sent']}");
        assert_int_equal(c.runs, 2);
        c.bad_key = true;
        pons_run *r = run_to(&p.b, g, "", "{'in':'c'}", PONS_RUN_FAILED);
        assert_string_equal(pons_run_error(r)->message, "no key");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        close_place(&p);
    }
}

// What the store keeps for caches is nobody's memory: no search finds it, no list names it.
static void a_stored_cache_is_no_memory(void **state)
{
    place p;
    open_place(&p, state);
    counted c = {0};
    pons_graph *g = dear_graph(&c, true, false, "dear");
    dear_run(&p, g, "", "x", "{'in':'x','log':['made of','x','sent']}");
    const pons_items it = {.store = p.store, .clock = p.b.clock};
    pons_autovalue found = NULL;
    pons_autovalue spaces = NULL;
    assert_ok(pons_items_search(&it, &(pons_items_query){.limit = 10}, &found, &p.b.err));
    assert_int_equal(json_array_size(found), 0);
    assert_ok(pons_items_namespaces(&it, &(pons_items_spaces){.limit = 10}, &spaces, &p.b.err));
    assert_int_equal(json_array_size(spaces), 0);
    pons_graph_destroy(g);
    close_place(&p);
}

int limits_run(const fault_store *kind)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_pass_by_itself_is_tried_again),
        cmocka_unit_test(the_first_policy_that_takes_the_error_counts),
        cmocka_unit_test(a_superstep_over_its_time_ends_the_run),
        cmocka_unit_test(a_node_that_comes_back_too_late_has_not_finished),
        cmocka_unit_test(a_wait_for_another_attempt_takes_the_steps_time),
        cmocka_unit_test(people_take_none_of_a_supersteps_time),
        cmocka_unit_test(a_subgraph_is_in_its_parents_time),
        cmocka_unit_test(a_cancel_leaves_the_last_whole_step),
        cmocka_unit_test(a_rollback_leaves_what_was_before),
        cmocka_unit_test(whoever_holds_the_thread_is_asked),
        cmocka_unit_test(a_run_that_waits_is_canceled),
        cmocka_unit_test(a_node_that_finishes_has_finished),
        cmocka_unit_test(what_was_cached_is_given_again),
        cmocka_unit_test(a_key_says_what_counts),
        cmocka_unit_test(a_stored_cache_is_no_memory),
    };
    struct CMUnitTest of_kind[sizeof tests / sizeof *tests];
    memcpy(of_kind, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        of_kind[i].initial_state = (void *)(uintptr_t)kind;
    }
    return cmocka_run_group_tests(of_kind, NULL, NULL);
}
