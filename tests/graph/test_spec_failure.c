// test_spec_failure.c - conformance: failure with pending writes, retry, time-outs, error handlers,
// cache, drain. Each case quotes its sentence and compares events, checkpoints and times; the clock
// moves only when told.
#include "graph/spec.h"

#include <stdio.h>
#include <string.h>

static int record_row(void *user, const pons_record_row *row)
{
    pons_value *v = NULL;
    assert_ok(pons_value_parse(row->data.data, row->data.len, &v, NULL));
    const pons_value *error = pons_get(v, "error");
    if (error) {
        json_array_append((pons_value *)user, (pons_value *)(uintptr_t)error);
    }
    pons_value_unref(v);
    return 0;
}

// "Error saved for the task; siblings' completed writes stay pending; resuming with null input
// reruns only what failed."
static void siblings_stay_pending(void **state)
{
    (void)state;
    for (int reopen = 0; reopen < 2; reopen++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {{"a", "put log 'lost'; failonce broken; put log 'a'", "END"},
                         {"b", "put log 'b'; emit said 'b'", "END"},
                         {"c", "failonce broken, too; put log 'c'", "END"},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a,b,c", n});
        pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_FAILED);
        assert_string_equal(pons_run_error(r)->message, "broken"); // the first in task order
        char at[32];
        spec_checkpoint_at(&b, "", 0, at);
        pons_autovalue errors = json_array();
        assert_ok(b.store.ops->records(b.store.self, "t1", "", at, record_row, errors, &b.err));
        assert_int_equal(json_array_size(errors), 2);
        spec_checkpoints(&b, "", "[[-1,'input',['__start__'],{}],[0,'loop',['a','b','c'],{}]]");
        pons_run_destroy(r);
        if (reopen) {
            bed_thread(&b);
        }
        pons_run_destroy(spec_resume(&b, g, SPEC_UPDATES, PONS_RUN_DONE));
        assert_int_equal(n[0].runs, 2);
        assert_int_equal(n[1].runs, 1);
        assert_int_equal(n[2].runs, 2);
        // The sibling's update was shown when it had finished, its own event with its writes.
        spec_events(&b, SPEC_UPDATES, false,
                    "[{'b':{'log':'b'}},{'a':[{'log':'lost'},{'log':'a'}]},{'c':{'log':'c'}},"
                    "['said','b']]");
        spec_checkpoints(&b, "",
                         "[[-1,'input',['__start__'],{}],[0,'loop',['a','b','c'],{}],"
                         "[1,'loop',[],{'log':['lost','a','b','c']}]]");
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

static bool only_io(void *user, const pons_error *err)
{
    ++*(int *)user;
    return err->status == PONS_EIO;
}

// "Retry policy per node: initial interval, factor, maximum, attempts, jitter, predicate; writes
// are cleared per attempt."
static void retries_wait_exactly(void **state)
{
    (void)state;
    int asked = 0;
    const pons_node_options opts = {.retry = {.attempts = 5,
                                              .initial_ms = 100,
                                              .factor = 2,
                                              .max_ms = 300,
                                              .retry_on = only_io,
                                              .user = &asked}};
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'x'; fail no luck", "END", .opts = &opts}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_PARKED);
    static const int64_t waits_ms[] = {100, 200, 300, 300};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(n[0].runs, i + 1);
        int64_t due = pons_run_deadlines(r, &b.err);
        assert_int_equal(due - b.time.now_ns, waits_ms[i] * PONS_NS_PER_MS);
        b.time.now_ns = due - 1;
        pons_run_deadlines(r, &b.err);
        assert_int_equal(pons_run_state_get(r), PONS_RUN_PARKED);
        b.time.now_ns = due;
        pons_run_deadlines(r, &b.err);
        assert_ok(pons_run_advance(r, &b.err));
    }
    assert_int_equal(n[0].runs, 5);
    assert_int_equal(pons_run_state_get(r), PONS_RUN_FAILED);
    assert_int_equal(asked, 4);
    pons_run_destroy(r);
    spec_events(&b, SPEC_UPDATES, false, "[]");
    spec_checkpoints(&b, "", "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

// "writes are cleared per attempt; interrupts never retry": what waits for a person is no failed
// attempt, and an answer is kept by the next one.
static void interrupts_never_retry(void **state)
{
    (void)state;
    static const pons_node_options opts = {.retry = {.attempts = 3}};
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put sum 1; ask 'ok?'; put log 'x'", "END", .opts = &opts}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_INTERRUPTED);
    assert_int_equal(n[0].runs, 1);
    spec_answer(&b, r, "'yes'", PONS_RUN_DONE);
    assert_int_equal(n[0].runs, 2);
    pons_run_destroy(r);
    spec_node m[] = {{"a", "put sum 1; ask 'ok?'; failonce x; put log 'x'", "END", .opts = &opts},
                     {NULL}};
    pons_graph *h = spec_compile(&(spec_graph){"a", m});
    r = spec_run(&b, h, "{'sum':{'__overwrite__':0}}", 0, PONS_RUN_INTERRUPTED);
    m[0].runs = 0; // the pass that fails is the one after the answer
    spec_answer(&b, r, "'kept'", PONS_RUN_DONE);
    assert_json(pons_run_get(r, "log"), "['yes','x','kept','x']");
    assert_json(pons_run_get(r, "sum"), "1");
    pons_run_destroy(r);
    pons_graph_destroy(g);
    pons_graph_destroy(h);
    bed_close(&b);
}

// "A node may have an error handler node, a run timeout and an idle timeout."
static void handlers_and_timeouts(void **state)
{
    (void)state;
    static const pons_node_options slow = {
        .run_timeout_ms = 1000, .idle_timeout_ms = 400, .error_handler = "h"};
    static const struct {
        int64_t answer_after_ms, expires_ms;
        const char *message;
    } cases[] = {{0, 400, "node 'a' made no progress for 400 ms"},
                 {350, 750, "node 'a' made no progress for 400 ms"}};
    for (size_t i = 0; i < 2; i++) {
        bed b;
        bed_open(&b);
        const int64_t from_ns = b.time.now_ns;
        spec_node n[] = {{"a", "put log 'lost'; await 1; await 2", "END", .opts = &slow},
                         {"h", "arg", "END"},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a", n});
        pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_PARKED);
        if (cases[i].answer_after_ms) { // progress
            char id[64];
            b.time.now_ns += cases[i].answer_after_ms * PONS_NS_PER_MS;
            spec_pending(r, 0, id);
            assert_ok(pons_run_answer(r, id, json_integer(1), &b.err));
            assert_ok(pons_run_advance(r, &b.err));
        }
        int64_t due = pons_run_deadlines(r, &b.err);
        assert_int_equal(due - from_ns, cases[i].expires_ms * PONS_NS_PER_MS);
        b.time.now_ns = due;
        pons_run_deadlines(r, &b.err);
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
        const pons_value *arg = json_array_get(pons_run_get(r, "log"), 0);
        assert_string_equal(pons_get_str(arg, "node", ""), "a");
        assert_int_equal(pons_get_int(arg, "status", 0), PONS_ETIMEOUT);
        assert_string_equal(pons_get_str(arg, "message", ""), cases[i].message);
        assert_int_equal(json_array_size(b.canceled), 1);
        assert_int_equal(json_array_size(pons_run_get(r, "log")), 1);
        pons_run_destroy(r);
        char step1[32];
        spec_checkpoint_at(&b, "", 1, step1); // where the handler was next
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// "Cache policy: key = (node, hash of input), ttl; a cached update says so."
static void the_cache_says_so(void **state)
{
    (void)state;
    static const char *const on[] = {"last", NULL};
    static const pons_node_options opts = {.cache = true, .cache_ttl_ms = 1000, .cache_on = on};
    bed b;
    bed_open(&b);
    spec_node n[] = {
        {"a", "put log 'a'; send t 'sent'", "END", .opts = &opts}, {"t", "arg", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    static const struct {
        const char *input;
        int64_t later_ms;
        int runs;
    } turns[] = {{"{'last':1}", 0, 1},
                 {"{'last':1}", 999, 1},
                 {"{'last':2}", 0, 2},
                 {"{'last':1}", 1, 3},
                 {"{'last':2}", 0, 3}};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        bool cached = i && turns[i].runs == turns[i - 1].runs;
        b.time.now_ns += turns[i].later_ms * PONS_NS_PER_MS;
        pons_run_destroy(spec_run(&b, g, turns[i].input, SPEC_UPDATES, PONS_RUN_DONE));
        assert_int_equal(n[0].runs, turns[i].runs);
        spec_events(&b, SPEC_UPDATES, false,
                    cached ? "[{'a':{'log':'a'},'__metadata__':{'cached':true}},"
                             "{'t':{'log':'sent'}}]"
                           : "[{'a':{'log':'a'}},{'t':{'log':'sent'}}]");
    }
    pons_graph_destroy(g);
    bed_close(&b);
}

// "Drain: stop at a superstep boundary", from where anybody may go on.
static void a_drain_stops_at_a_boundary(void **state)
{
    (void)state;
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'", "b"}, {"b", "put log 'b'", "END"}, {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a", n});
    pons_run *r = NULL;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    assert_ok(pons_run_start(b.t, g, "", NULL, &o, &r, &b.err));
    assert_ok(pons_run_step(r, &b.err)); // a is done
    pons_run_drain(r);
    assert_ok(pons_run_advance(r, &b.err));
    assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
    assert_true(pons_run_drained(r));
    pons_run_destroy(r);
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{}],"
                     "[1,'loop',['b'],{'log':['a']}]]");
    bed_thread(&b);
    pons_run_destroy(spec_resume(&b, g, 0, PONS_RUN_DONE));
    spec_state(&b, "", "{'log':['a','b']}");
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_stay_pending),  cmocka_unit_test(retries_wait_exactly),
        cmocka_unit_test(interrupts_never_retry), cmocka_unit_test(handlers_and_timeouts),
        cmocka_unit_test(the_cache_says_so),      cmocka_unit_test(a_drain_stops_at_a_boundary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
