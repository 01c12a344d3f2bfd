// test_policy.c - retries, time-outs, error handlers, the cache and blocking nodes. Time is a clock
// that the tests move; deadlines are asked for and asserted to the nanosecond. A wait for another
// attempt survives a crash. Blocking nodes run on real threads, and the tests wait for them by
// their eventfd.
#include "graph/graph_help.h"

#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct flaky {
    int fails; // how many times still
    int calls;
    int tasks; // runs of its inner task
    int status;
} flaky;

static int inner_task(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    (void)args;
    (void)err;
    flaky *f = user;
    f->tasks++;
    *ret = json_string("kept");
    return PONS_OK;
}

static int node_flaky(pons_cx *cx, void *user, pons_error *err)
{
    flaky *f = user;
    const pons_value *kept;
    f->calls++;
    pons_cx_put(cx, "log", json_sprintf("attempt %d", pons_cx_attempt(cx)));
    int st = pons_task(cx, "inner", NULL, inner_task, f, &kept, err);
    if (st != PONS_OK) {
        return st;
    }
    if (f->fails-- > 0) {
        return pons_error_set(err, f->status ? f->status : PONS_EIO, "test", "flaky");
    }
    return PONS_OK;
}

static pons_graph *one(pons_node_fn fn, void *user, const pons_node_options *o)
{
    pons_graph_builder *gb = pons_graph_builder_create("one");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "in", PONS_CHANNEL_LAST, NULL);
    pons_graph_node(gb, "n", fn, user);
    pons_graph_edge(gb, PONS_START, "n");
    pons_graph_edge(gb, "n", PONS_END);
    pons_graph_node_options(gb, "n", o);
    return compile(gb, NULL);
}

// Moves the clock to the run's next deadline and lets it go on; how long that was, in ms.
static int64_t to_deadline(bed *b, pons_run *r)
{
    int64_t due = pons_run_deadlines(r, &b->err);
    assert_true(due != INT64_MAX);
    int64_t ms = (due - b->time.now_ns) / PONS_NS_PER_MS;
    b->time.now_ns = due;
    pons_run_deadlines(r, &b->err);
    assert_ok(pons_run_advance(r, &b->err));
    return ms;
}

// ---- retries ------------------------------------------------------------------------------------

static void a_retry_waits_longer_each_time(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    flaky f = {.fails = 4};
    pons_graph *g =
        one(node_flaky, &f,
            &(pons_node_options){
                .retry = {.attempts = 5, .initial_ms = 100, .factor = 3, .max_ms = 500}});
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    static const int64_t waits[] = {100, 300, 500, 500};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(to_deadline(&b, r), waits[i]);
    }
    assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['attempt 5']"); // earlier writes are gone
    assert_int_equal(f.calls, 5);
    assert_int_equal(f.tasks, 1); // what a task returned is kept
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void a_wait_survives_a_crash(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    flaky f = {.fails = 2};
    pons_graph *g =
        one(node_flaky, &f, &(pons_node_options){.retry = {.attempts = 3, .initial_ms = 1000}});
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_PARKED));
    b.time.now_ns += 400 * PONS_NS_PER_MS;
    bed_thread(&b);
    pons_run *r = resume_to(&b, g, "", PONS_RUN_PARKED);
    assert_int_equal(f.calls, 1);
    assert_int_equal(to_deadline(&b, r), 600);
    assert_int_equal(to_deadline(&b, r), 1000);
    assert_json(pons_run_get(r, "log"), "['attempt 3']");
    assert_int_equal(f.tasks, 1);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

// The machine comes up with its wall clock years behind: what was to wait for a second does so.
static void a_wait_survives_a_clock_that_went_back(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    flaky f = {.fails = 1};
    pons_graph *g =
        one(node_flaky, &f, &(pons_node_options){.retry = {.attempts = 2, .initial_ms = 1000}});
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_PARKED));
    b.time.wall_epoch_ms = 0;
    bed_thread(&b);
    pons_run *r = resume_to(&b, g, "", PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&b, r), 1000);
    assert_json(pons_run_get(r, "log"), "['attempt 2']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

// Times that no clock can reach are as none.
static void times_beyond_all_time(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    flaky f = {.fails = 1};
    const pons_node_options o = {.retry = {.attempts = 2, .initial_ms = INT64_MAX},
                                 .run_timeout_ms = INT64_MAX,
                                 .idle_timeout_ms = INT64_MAX - 1,
                                 .cache = true,
                                 .cache_ttl_ms = INT64_MAX};
    pons_graph *g = one(node_flaky, &f, &o);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    assert_true(pons_run_deadlines(r, &b.err) > b.time.now_ns);
    pons_run_destroy(r);
    bed_thread(&b);
    r = resume_to(&b, g, "", PONS_RUN_PARKED);
    assert_true(pons_run_deadlines(r, &b.err) > b.time.now_ns);
    pons_run_destroy(r);
    r = run_to(&b, g, "", "{}", PONS_RUN_DONE);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static bool only_io(void *user, const pons_error *err)
{
    (void)user;
    return err->status == PONS_EIO;
}

static void a_retry_ends(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    flaky f = {.fails = 3};
    pons_node_options o = {.retry = {.attempts = 2, .retry_on = only_io}}; // at once
    pons_graph *g = one(node_flaky, &f, &o);
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_FAILED);
    assert_int_equal(f.calls, 2);
    pons_run_destroy(r);
    r = resume_to(&b, g, "", PONS_RUN_DONE); // its attempts count anew: one fails, one goes well
    assert_int_equal(f.calls, 4);
    assert_int_equal(f.tasks, 1);
    pons_run_destroy(r);
    f = (flaky){.fails = 3, .status = PONS_EREFUSED}; // the predicate does not want it
    r = run_to(&b, g, "", NULL, PONS_RUN_FAILED);
    assert_int_equal(f.calls, 1);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static void jitter_only_adds(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    flaky f = {.fails = 20};
    pons_graph *g =
        one(node_flaky, &f,
            &(pons_node_options){.retry = {.attempts = 21, .initial_ms = 1000, .jitter = 0.5}});
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 20; i++) {
        int64_t ms = to_deadline(&b, r);
        assert_in_range(ms, 1000, 1500);
        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
    }
    assert_true(least < most);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_asks(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *who, *what;
    int st = pons_interrupt(cx, json_string("who?"), &who, err);
    if (st == PONS_OK) {
        st = pons_await(cx, "ask", json_string("what?"), 0, &what, err);
    }
    if (st != PONS_OK) {
        return st;
    }
    if (!json_is_string(what)) {
        return pons_error_set(err, PONS_EIO, "test", "no answer");
    }
    return pons_cx_put(cx, "log",
                       json_sprintf("%s %s", json_string_value(who), json_string_value(what)));
}

static void a_new_attempt_asks_the_host_again_but_not_the_person(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g =
        one(node_asks, NULL, &(pons_node_options){.retry = {.attempts = 3, .initial_ms = 10}});
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED);
    pons_autovalue me = json("'me'");
    assert_ok(pons_run_resume_value(r, me, &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    char first[64];
    snprintf(first, sizeof first, "%s", pons_get_str(json_array_get(b.started, 0), "id", ""));
    assert_ok(pons_run_answer(r, first, json_null(), &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&b, r), 10);
    assert_int_equal(json_array_size(b.started), 2);
    assert_int_equal(pons_run_answer(r, first, json_string("late"), &b.err), PONS_ENOTPENDING);
    pons_run_destroy(r); // and in another process it is the second one that is asked again
    bed_thread(&b);
    r = resume_to(&b, g, "", PONS_RUN_PARKED);
    assert_int_equal(json_array_size(b.started), 3);
    assert_string_equal(pons_get_str(json_array_get(b.started, 1), "id", "1"),
                        pons_get_str(json_array_get(b.started, 2), "id", "2"));
    assert_ok(pons_run_answer(r, pons_get_str(json_array_get(b.started, 2), "id", ""),
                              json_string("that"), &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_json(pons_run_get(r, "log"), "['me that']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

// ---- time-outs, handlers ------------------------------------------------------------------------

static int node_waits(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *a;
    int st = pons_await(cx, "ask", json_string("1"), 0, &a, err);
    return st == PONS_OK ? pons_await(cx, "ask", json_string("2"), 0, &a, err) : st;
}

static void a_run_timeout_and_an_idle_timeout(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g =
        one(node_waits, NULL, &(pons_node_options){.run_timeout_ms = 1000, .idle_timeout_ms = 700});
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    b.time.now_ns += 600 * PONS_NS_PER_MS;
    assert_ok(pons_run_answer(r, pons_get_str(json_array_get(b.started, 0), "id", ""), json_null(),
                              &b.err));
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&b, r), 400); // of the run: the answer was progress
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ETIMEOUT);
    assert_string_equal(pons_run_error(r)->message, "node 'n' took longer than 1000 ms");
    assert_int_equal(json_array_size(b.canceled), 1);
    pons_run_destroy(r);
    r = run_to(&b, g, "", NULL, PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&b, r), 700);
    assert_string_equal(pons_run_error(r)->message, "node 'n' made no progress for 700 ms");
    pons_run_destroy(r);
    pons_run_destroy(run_to(&b, g, "", NULL, PONS_RUN_PARKED));
    b.time.now_ns += 600 * PONS_NS_PER_MS;
    bed_thread(&b); // after a crash it begins again
    r = resume_to(&b, g, "", PONS_RUN_PARKED);
    assert_int_equal(to_deadline(&b, r), 700);
    assert_int_equal(pons_run_error(r)->status, PONS_ETIMEOUT);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_person(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *a;
    return pons_interrupt(cx, json_string("?"), &a, err);
}

static void waiting_for_people_takes_no_time(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    pons_graph *g = one(node_person, NULL, &(pons_node_options){.run_timeout_ms = 10});
    pons_run *r = run_to(&b, g, "", NULL, PONS_RUN_INTERRUPTED);
    assert_true(pons_run_deadlines(r, &b.err) == INT64_MAX);
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

static int node_handles(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *e = pons_cx_arg(cx);
    return pons_cx_put(
        cx, "log",
        json_sprintf("%s: %s", pons_get_str(e, "node", ""), pons_get_str(e, "message", "")));
}

static void an_error_handler_takes_over(void **state)
{
    (void)state;
    for (int crash = 0; crash < 2; crash++) {
        static const char *const stop[] = {"handler", NULL};
        bed b;
        bed_open(&b);
        flaky f = {.fails = 9};
        pons_graph_builder *gb = pons_graph_builder_create("handled");
        channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
        pons_graph_node(gb, "n", node_flaky, &f);
        pons_graph_node(gb, "next", node_log, NULL);
        pons_graph_node(gb, "sibling", node_log, NULL);
        pons_graph_node(gb, "handler", node_handles, NULL);
        pons_graph_edge(gb, PONS_START, "n");
        pons_graph_edge(gb, PONS_START, "sibling");
        pons_graph_edge(gb, "n", "next");
        pons_graph_edge(gb, "next", PONS_END);
        pons_graph_edge(gb, "sibling", PONS_END);
        pons_graph_edge(gb, "handler", PONS_END);
        pons_graph_node_options(
            gb, "n", &(pons_node_options){.error_handler = "handler", .retry = {.attempts = 2}});
        pons_graph *g = compile(gb, crash ? &(pons_graph_options){.interrupt_before = stop} : NULL);
        pons_run *r = run_to(&b, g, "", NULL, crash ? PONS_RUN_INTERRUPTED : PONS_RUN_DONE);
        if (crash) {
            pons_run_destroy(r);
            bed_thread(&b);
            r = resume_to(&b, g, "", PONS_RUN_DONE);
        }
        assert_json(pons_run_get(r, "log"), "['sibling','n: flaky']");
        assert_int_equal(f.calls, 2);
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// ---- cache --------------------------------------------------------------------------------------

static int node_counts(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    ++*(int *)user;
    return pons_cx_put(cx, "log", pons_value_ref(pons_cx_get(cx, "in")));
}

static void a_cached_task_is_not_run_again(void **state)
{
    (void)state;
    static const char *const on[] = {"in", NULL};
    bed b;
    bed_open(&b);
    int calls = 0;
    pons_graph *g = one(node_counts, &calls,
                        &(pons_node_options){.cache = true, .cache_ttl_ms = 1000, .cache_on = on});
    for (int i = 0; i < 3; i++) {
        pons_run_destroy(run_to(&b, g, "", i < 2 ? "{'in':1}" : "{'in':2}", PONS_RUN_DONE));
    }
    assert_int_equal(calls, 2);
    b.time.now_ns += 1000 * PONS_NS_PER_MS;
    pons_run *r = run_to(&b, g, "", "{'in':1}", PONS_RUN_DONE);
    assert_int_equal(calls, 3);
    assert_json(pons_run_get(r, "log"), "[1,1,2,1]");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    bed_close(&b);
}

// ---- blocking -----------------------------------------------------------------------------------

typedef struct slow {
    sem_t go, tell;
    atomic_int started, reported, canceled;
    bool wait, gated;
} slow;

static int blocks(pons_work *w, void *user, const pons_value *input, pons_value **ret,
                  pons_error *err)
{
    slow *s = user;
    atomic_fetch_add(&s->started, 1);
    if (s->gated) {
        sem_wait(&s->tell);
    }
    pons_work_progress(w);
    atomic_fetch_add(&s->reported, 1);
    if (s->wait) {
        sem_wait(&s->go);
    }
    if (pons_work_canceled(w)) {
        atomic_fetch_add(&s->canceled, 1);
        return pons_error_set(err, PONS_ECANCELED, "test", "canceled");
    }
    if (pons_get_int(input, "in", 0) < 0) {
        return pons_error_set(err, PONS_EIO, "test", "negative");
    }
    *ret = pons_object("log", json_integer(pons_get_int(input, "in", 0) * 2), NULL);
    return PONS_OK;
}

static pons_graph *blocking(slow *s, const pons_node_options *o)
{
    pons_graph_builder *gb = pons_graph_builder_create("blocking");
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "in", PONS_CHANNEL_LAST, NULL);
    pons_graph_blocking(gb, "a", blocks, s);
    pons_graph_blocking(gb, "b", blocks, s);
    pons_graph_node(gb, "quick", node_log, NULL);
    pons_graph_edge(gb, PONS_START, "a");
    pons_graph_edge(gb, PONS_START, "b");
    pons_graph_edge(gb, PONS_START, "quick");
    pons_graph_edge(gb, "a", PONS_END);
    pons_graph_edge(gb, "b", PONS_END);
    pons_graph_edge(gb, "quick", PONS_END);
    if (o) {
        pons_graph_node_options(gb, "a", o);
    }
    return compile(gb, NULL);
}

static void wait_and_deliver(bed *b, pons_run *r)
{
    while (pons_run_state_get(r) == PONS_RUN_PARKED) {
        struct pollfd p = {.fd = pons_thread_fd(b->t), .events = POLLIN};
        poll(&p, 1, -1);
        pons_thread_deliver(b->t);
        assert_ok(pons_run_advance(r, &b->err));
    }
}

static void blocking_nodes_run_at_once_and_come_back(void **state)
{
    (void)state;
    for (int store = 0; store < 2; store++) {
        bed b;
        if (store) {
            bed_open(&b);
        } else {
            bed_open_without_store(&b);
        }
        slow s = {.wait = true};
        sem_init(&s.go, 0, 0);
        pons_graph *g = blocking(&s, NULL);
        pons_run *r = run_to(&b, g, "", "{'in':21}", PONS_RUN_PARKED);
        while (atomic_load(&s.started) < 2) { // both are inside at the same time
            sched_yield();
        }
        sem_post(&s.go);
        sem_post(&s.go);
        wait_and_deliver(&b, r);
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        assert_json(pons_run_get(r, "log"), "[42,42,'quick']");
        pons_run_destroy(r);
        r = run_to(&b, g, "", "{'in':-1}", PONS_RUN_PARKED);
        sem_post(&s.go);
        sem_post(&s.go);
        wait_and_deliver(&b, r);
        assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
        assert_string_equal(pons_run_error(r)->message, "negative");
        pons_run_destroy(r);
        pons_graph_destroy(g);
        bed_close(&b);
        sem_destroy(&s.go);
    }
}

static void a_blocking_node_times_out(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    slow s = {.wait = true};
    sem_init(&s.go, 0, 0);
    pons_graph *g = blocking(&s, &(pons_node_options){.run_timeout_ms = 50});
    pons_run *r = run_to(&b, g, "", "{'in':1}", PONS_RUN_PARKED);
    while (atomic_load(&s.started) < 2) {
        sched_yield();
    }
    b.time.now_ns += 50 * PONS_NS_PER_MS;
    pons_run_deadlines(r, &b.err);
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_int_equal(pons_run_error(r)->status, PONS_ETIMEOUT);
    pons_run_destroy(r); // the other one is not wanted either
    sem_post(&s.go);
    sem_post(&s.go);
    pons_graph_destroy(g);
    bed_close(&b); // waits for both
    assert_int_equal(atomic_load(&s.canceled), 2);
    sem_destroy(&s.go);
}

static void progress_restarts_the_idle_time(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    slow s = {.wait = true, .gated = true};
    sem_init(&s.go, 0, 0);
    sem_init(&s.tell, 0, 0);
    pons_graph *g = blocking(&s, &(pons_node_options){.idle_timeout_ms = 50});
    pons_run *r = run_to(&b, g, "", "{'in':1}", PONS_RUN_PARKED);
    sem_post(&s.tell);
    sem_post(&s.tell);
    while (atomic_load(&s.reported) < 2) {
        sched_yield();
    }
    b.time.now_ns += 50 * PONS_NS_PER_MS; // the first time it looks, something was told
    assert_true(pons_run_deadlines(r, &b.err) == b.time.now_ns + 50 * PONS_NS_PER_MS);
    b.time.now_ns += 50 * PONS_NS_PER_MS;
    pons_run_deadlines(r, &b.err);
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_error(r)->status, PONS_ETIMEOUT);
    pons_run_destroy(r);
    sem_post(&s.go);
    sem_post(&s.go);
    pons_graph_destroy(g);
    bed_close(&b);
    sem_destroy(&s.go);
    sem_destroy(&s.tell);
}

static void a_wait_for_a_run_needs_no_loop(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_thread *t = NULL;
    pons_run *r = NULL;
    assert_ok(pons_thread_open((pons_store){0}, "t",
                               &(pons_thread_options){.clock = pons_clock_real(), .seed = 1}, &t,
                               &err));
    slow s = {0};
    flaky f = {.fails = 2};
    pons_graph *g = blocking(&s, NULL);
    pons_autovalue in = json("{'in':4}");
    assert_ok(pons_run_start(t, g, "", in, NULL, &r, &err));
    assert_ok(pons_run_wait(r, &err));
    assert_json(pons_run_get(r, "log"), "[8,8,'quick']");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    g = one(node_flaky, &f, &(pons_node_options){.retry = {.attempts = 3, .initial_ms = 1}});
    assert_ok(pons_run_start(t, g, "2", NULL, NULL, &r, &err));
    assert_ok(pons_run_wait(r, &err));
    assert_json(pons_run_get(r, "log"), "['attempt 3']");
    pons_run_destroy(r);
    pons_thread_close(t);
    pons_graph_destroy(g);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retry_waits_longer_each_time),
        cmocka_unit_test(a_wait_survives_a_crash),
        cmocka_unit_test(a_wait_survives_a_clock_that_went_back),
        cmocka_unit_test(times_beyond_all_time),
        cmocka_unit_test(a_retry_ends),
        cmocka_unit_test(jitter_only_adds),
        cmocka_unit_test(a_new_attempt_asks_the_host_again_but_not_the_person),
        cmocka_unit_test(a_run_timeout_and_an_idle_timeout),
        cmocka_unit_test(waiting_for_people_takes_no_time),
        cmocka_unit_test(an_error_handler_takes_over),
        cmocka_unit_test(a_cached_task_is_not_run_again),
        cmocka_unit_test(blocking_nodes_run_at_once_and_come_back),
        cmocka_unit_test(a_blocking_node_times_out),
        cmocka_unit_test(progress_restarts_the_idle_time),
        cmocka_unit_test(a_wait_for_a_run_needs_no_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
