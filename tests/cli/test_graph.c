// test_graph.c - `pons graph`: a graph of one's own (the module graph-letters of examples/graphs)
// on a durable thread, by the real program. Steps and what they show, holds, questions, time
// travel, updates from outside; a kill in the middle; a second process on the thread; a replay of
// the log that has every line the run has shown; and what is not right, in one line.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN(n) "graph run letters --json --thread t --input {\"wanted\":" #n "}"

static const pons_value *of_type(const proc *p, const char *type, size_t n)
{
    size_t i;
    json_t *ev;
    json_array_foreach(p->events, i, ev) {
        if (strcmp(pons_get_str(ev, "type", ""), type) == 0 && n-- == 0) {
            return ev;
        }
    }
    fail_msg("there is no line of the type %s", type);
    return NULL;
}

static void must_be(const pons_value *v, const char *text)
{
    pons_autovalue want = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_value_parse(text, strlen(text), &want, &err) >= 0);
    if (!v || !json_equal((json_t *)v, want)) {
        char *have = NULL;
        pons_value_line(v, &have);
        fail_msg("%s, not %s", have ? have : "nothing", text);
    }
}

// The checkpoint in front of a node, of thread t: the newest whose next is that node.
static void checkpoint_before(bench *b, const char *node, char ret[64])
{
    proc p = {0};
    size_t i;
    json_t *row;
    *ret = '\0';
    bench_start(b, &p, NULL, "threads history t --json");
    bench_must_exit(&p, 0);
    json_array_foreach(p.events, i, row) {
        const char *next = json_string_value(json_array_get(pons_get(row, "next"), 0));
        if (!*ret && next && strcmp(next, node) == 0) {
            snprintf(ret, 64, "%s", pons_get_str(row, "checkpoint_id", ""));
        }
    }
    assert_true(*ret);
    bench_free(&p);
}

static void the_thread_goes_through_its_life(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, RUN(2));
    bench_must_exit(&p, 4); // it asks
    must_be(pons_get(of_type(&p, "stream.updates", 0), "payload"),
            "{\"write\":{\"letters\":\"letter 1\"}}");
    assert_string_equal(pons_get_str(of_type(&p, "question", 0), "question", ""),
                        "post 2 letters?");
    assert_string_equal(pons_get_str(of_type(&p, "graph.end", 0), "status", ""), "interrupted");
    bench_free(&p);
    assert_int_equal(bench_run(&b, "graph resume t"), 4); // asks again, nothing ran
    bench_start(&b, &p, NULL, "graph resume t --json --answer yes");
    bench_must_exit(&p, 0);
    must_be(pons_get(of_type(&p, "graph.end", 0), "values"),
            "{\"wanted\":2,\"letters\":[\"letter 1\",\"letter 2\"],\"posted\":true}");
    bench_free(&p);
    assert_int_equal(bench_run(&b, "graph resume t"), 0); // done: says so again
    // A new run on the thread has the state of the last: two letters are there, one more is
    // written.
    bench_start(&b, &p, NULL, RUN(1));
    bench_must_exit(&p, 4);
    assert_string_equal(pons_get_str(of_type(&p, "question", 0), "question", ""),
                        "post 3 letters?");
    const char *id = pons_get_str(of_type(&p, "question", 0), "id", "");
    char words[256];
    snprintf(words, sizeof words, "graph resume t --answers {\"%s\":\"no\"}", id);
    bench_free(&p);
    assert_int_equal(bench_run(&b, words), 0);
    bench_close(&b);
}

static void a_step_shows_what_changed_and_what_is_next(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, "\ns\nq\n", RUN(3) " --step --quiet");
    bench_must_exit(&p, 4);
    must_be(pons_get(of_type(&p, "step", 0), "next"), "[\"write\"]");
    must_be(pons_get(of_type(&p, "step", 0), "ran"), "[]");
    must_be(pons_get(of_type(&p, "step", 1), "ran"), "[\"write\"]");
    must_be(pons_get(of_type(&p, "step", 1), "changed"), "{\"letters\":[\"letter 1\"]}");
    assert_int_equal(bench_count(&p, "step", NULL, NULL), 2);
    assert_non_null(strstr(p.text, "{\"wanted\":3,\"letters\":[\"letter 1\"]}\n")); // the word s
    assert_string_equal(pons_get_str(of_type(&p, "graph.end", 0), "status", ""), "held");
    bench_free(&p);
    // Left there, gone on from there: without anybody to say "next" it only shows.
    bench_start(&b, &p, NULL, "graph resume t --json --step --quiet");
    bench_must_exit(&p, 4);
    must_be(pons_get(of_type(&p, "step", 1), "changed"),
            "{\"letters\":[\"letter 1\",\"letter 2\"]}");
    must_be(pons_get(of_type(&p, "step", 2), "next"), "[\"ask\"]");
    bench_free(&p);
    bench_close(&b);
}

static void holds_are_before_and_after_nodes(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, RUN(3) " --after write --durability sync");
    bench_must_exit(&p, 4);
    must_be(pons_get(of_type(&p, "graph.end", 0), "next"), "[\"write\"]");
    assert_int_equal(bench_count(&p, "stream.updates", NULL, NULL), 1);
    bench_free(&p);
    bench_start(&b, &p, NULL, "graph resume t --json --before ask");
    bench_must_exit(&p, 4);
    must_be(pons_get(of_type(&p, "graph.end", 0), "next"), "[\"ask\"]");
    assert_int_equal(bench_count(&p, "question", NULL, NULL), 0);
    bench_free(&p);
    bench_close(&b);
}

// As if write had written what it did not: its router says what is next.
static void an_update_from_outside_is_routed(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, RUN(9) " --after write"), 4);
    assert_int_equal(bench_run(&b, "graph update t --values {\"wanted\":1} --as write"), 0);
    bench_start(&b, &p, NULL, "graph resume t --json");
    bench_must_exit(&p, 4);
    assert_string_equal(pons_get_str(of_type(&p, "question", 0), "question", ""),
                        "post 1 letters?");
    bench_free(&p);
    bench_close(&b);
}

static void the_past_can_be_gone_on_from(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char at[64], words[256];
    bench_open(&b);
    assert_int_equal(bench_run(&b, RUN(2)), 4);
    assert_int_equal(bench_run(&b, "graph resume t --answer yes"), 0);
    checkpoint_before(&b, "ask", at);
    // Another thread as this one was before it asked: the question is asked again.
    snprintf(words, sizeof words, "threads fork t other --at %s", at);
    assert_int_equal(bench_run(&b, words), 0);
    assert_int_equal(bench_run(&b, "graph resume other"), 4);
    bench_start(&b, &p, NULL, "graph resume other --json --answer no");
    bench_must_exit(&p, 0);
    assert_null(pons_get(pons_get(of_type(&p, "graph.end", 0), "values"), "posted"));
    bench_free(&p);
    // And the thread itself.
    snprintf(words, sizeof words, "graph run letters --thread t --at %s", at);
    assert_int_equal(bench_run(&b, words), 4);
    assert_int_equal(bench_run(&b, "threads copy t third"), 0);
    assert_int_equal(bench_run(&b, "graph resume third --answer yes"), 0);
    bench_close(&b);
}

static void a_replay_has_every_line(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, again = {0};
    char words[128];
    bench_open(&b);
    bench_start(&b, &p, NULL,
                RUN(3) " --stream values,updates,custom,tasks,checkpoints,debug,messages");
    bench_must_exit(&p, 4);
    static const char *const modes[] = {"values", "updates",     "custom",
                                        "tasks",  "checkpoints", "debug"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char type[32];
        snprintf(type, sizeof type, "stream.%s", modes[i]);
        assert_true(bench_count(&p, type, NULL, NULL) > 0);
    }
    // From the middle: the lines with higher numbers, as they were.
    const size_t all = json_array_size(p.events), half = all / 2;
    const int64_t seq = pons_get_int(json_array_get(p.events, half), "seq", 0);
    assert_true(seq > 0);
    snprintf(words, sizeof words, "threads events t --json --after %lld", (long long)seq);
    bench_start(&b, &again, NULL, words);
    bench_must_exit(&again, 0);
    size_t at = half + 1;
    for (size_t i = 0; i < json_array_size(again.events); i++, at++) {
        assert_true(json_equal(json_array_get(again.events, i), json_array_get(p.events, at)));
    }
    assert_null(pons_get(json_array_get(p.events, at), "seq")); // what is left was not an event
    bench_free(&again);
    bench_start(&b, &again, NULL, "threads events t --json --stream custom --limit 2");
    bench_must_exit(&again, 0);
    assert_int_equal(json_array_size(again.events), 2);
    must_be(pons_get(of_type(&again, "stream.custom", 1), "payload"), "{\"writing\":2}");
    bench_free(&again);
    bench_free(&p);
    bench_close(&b);
}

static void killed_and_gone_on_from(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, second = {0}, follower = {0};
    enum { WANTED = 2000 };
    bench_open(&b);
    bench_start(&b, &p, NULL, RUN(2000) " --durability sync --limit 5000");
    bench_await(&p, "stream.updates", NULL, NULL);
    bench_signal(&p, SIGSTOP); // now: it does not take long
    bench_start(&b, &follower, NULL, "threads events t --json --follow");
    bench_signal(&p, SIGCONT);
    // Stopped, so that it is still there for the second process; but not in the one instruction in
    // which SQLite's shared memory is half written, where a reader learns nothing but that.
    char pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)p.pid);
    for (int tries = 0, named = 0; !named; tries++) {
        assert_in_range(tries, 0, 4);
        bench_signal(&p, SIGSTOP);
        bench_start(&b, &second, NULL, "graph resume t");
        bench_must_exit(&second, 3);
        char *err = bench_stderr(&second);
        named = strstr(err, pid) != NULL;
        if (!named) {
            print_message("  not named: %s", err);
            bench_signal(&p, SIGCONT);
        }
        free(err);
        bench_free(&second);
    }
    assert_int_equal(bench_run(&b, "threads prune t"), 3);
    assert_int_equal(bench_run(&b, "threads rm t"), 3);
    bench_signal(&p, SIGKILL);
    assert_int_equal(bench_finish(&p), 128 + SIGKILL);
    bench_must_exit(&follower, 0); // nobody runs it any more
    assert_string_equal(pons_get_str(of_type(&follower, "graph.started", 0), "graph", ""),
                        "letters");
    assert_true(json_array_size(follower.events) >= json_array_size(p.events));
    bench_free(&follower);
    bench_free(&p);
    bench_start(&b, &p, NULL, "graph resume t --json --quiet --limit 5000");
    bench_must_exit(&p, 4);
    const pons_value *letters =
        pons_get(pons_get(of_type(&p, "graph.end", 0), "values"), "letters");
    assert_int_equal(json_array_size(letters), WANTED); // none lost, none twice
    for (size_t i = 0; i < WANTED; i++) {
        char text[32];
        snprintf(text, sizeof text, "letter %zu", i + 1);
        assert_string_equal(json_string_value(json_array_get(letters, i)), text);
    }
    bench_free(&p);
    pons_autovalue pruned = NULL;
    assert_int_equal(bench_run_json(&b, "threads prune t --keep 5 --json", &pruned), 0);
    assert_true(pons_get_int(pruned, "removed", 0) > 0);
    assert_true(pons_get_int(pruned, "bytes_after", 0) < pons_get_int(pruned, "bytes_before", 0));
    assert_int_equal(bench_run(&b, "graph resume t --answer yes"), 0);
    bench_close(&b);
}

// Another process ends a run: its last step stays, or, with --rollback, nothing of it does.
static void canceled_by_another_process(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    assert_int_not_equal(bench_run(&b, "graph cancel t"), 0); // there is no such thread
    assert_int_equal(bench_run(&b, RUN(1)), 4);
    assert_int_equal(bench_run(&b, "graph resume t --answer yes"), 0);
    for (int back = 1; back >= 0; back--) {
        proc p = {0};
        bench_must_fail(&b, "graph cancel t", 2, "nobody runs thread t");
        bench_start(&b, &p, NULL, RUN(1000000) " --quiet --limit 2000000");
        for (int tries = 0;
             bench_run(&b, back ? "graph cancel t --rollback" : "graph cancel t") != 0; tries++) {
            assert_true(bench_alive(&p)); // it has not begun
            assert_in_range(tries, 0, 600);
            bench_rest(100);
        }
        bench_must_exit(&p, 1);
        const pons_value *end = of_type(&p, "graph.end", 0);
        assert_string_equal(pons_get_str(end, "status", ""), "canceled");
        const int64_t wanted = pons_get_int(pons_get(end, "values"), "wanted", 0);
        assert_int_equal(wanted, back ? 1 : 1000000);
        bench_free(&p);
    }
    bench_close(&b);
}

static void a_module_is_found_by_its_path(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL,
                "graph run --json --thread t --input {\"wanted\":1} " PONS_BINARY_DIR
                "/lib/pons/graph-letters.so");
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "graph resume t --answer yes"), 0);
    bench_start(&b, &p, NULL, "graph show letters");
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "write -.-> ask"));
    bench_free(&p);
    bench_start(&b, &p, NULL, "graph list --json");
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "\"letters\""));
    bench_free(&p);
    bench_close(&b);
}

static void what_is_not_right_is_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } rows[] = {
        {"graph run", "use list, show NAME"},
        {"graph run cat", "no graph 'cat'"},
        {"graph run ./cat.so", "graph-NAME.so"},
        {"graph run letters --input [1]", "an object"},
        {"graph run letters --input {", "--input"},
        {"graph run letters --input @/nonexistent", "/nonexistent"},
        {"graph run letters --input {\"sea\":1}", "sea"},
        {"graph run letters --stream all", "all"},
        {"graph run letters --durability never", "never"},
        {"graph run letters --limit 0", "--limit"},
        {"graph run letters --before cat", "no node 'cat'"},
        {"graph run letters --answer yes", "resume"},
        {"graph run letters --at X", "--thread"},
        {"graph run letters --thread a/b", "a/b"},
        {"graph run letters --thread t --at nope", "nope"},
        {"graph resume ghost", "ghost"},
        {"graph resume t --answer {", "--answer"},
        {"graph resume t --answers {\"x\":1}", "x"},
        {"graph update t", "--values"},
        {"graph update t --as cat", "cat"},
        {"graph update t --values {\"sea\":1}", "sea"},
        {"resume t", "pons graph resume t"},
        {"threads fork t t", "thread t already"},
        {"threads fork t f --at nope", "thread t has no checkpoint nope"},
        {"threads fork ghost f", "ghost"},
        {"threads fork t", "a thread and the name of its fork"},
        {"threads fork t a/b", "a/b"},
        {"threads copy t a/b", "a/b"},
        {"threads history t --ns sea", "no namespace 'sea'"},
        {"threads events ghost", "ghost"},
        {"threads events t --after -1", "--after"},
        {"threads events t --stream all", "all"},
        {"threads prune t --keep 0", "--keep"},
    };
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, RUN(1)), 4);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_must_fail(&b, rows[i].words, 2, rows[i].says);
    }
    proc p = {0}; // and no thread was made by any of them
    bench_start(&b, &p, NULL, "threads --json");
    bench_must_exit(&p, 0);
    size_t k;
    json_t *row;
    json_array_foreach(p.events, k, row) {
        const char *name = pons_get_str(row, "thread", "");
        assert_true(strcmp(name, "f") != 0 && strcmp(name, "ghost") != 0);
    }
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_thread_goes_through_its_life, bench_teardown),
        cmocka_unit_test_teardown(a_step_shows_what_changed_and_what_is_next, bench_teardown),
        cmocka_unit_test_teardown(holds_are_before_and_after_nodes, bench_teardown),
        cmocka_unit_test_teardown(an_update_from_outside_is_routed, bench_teardown),
        cmocka_unit_test_teardown(the_past_can_be_gone_on_from, bench_teardown),
        cmocka_unit_test_teardown(a_replay_has_every_line, bench_teardown),
        cmocka_unit_test_teardown(killed_and_gone_on_from, bench_teardown),
        cmocka_unit_test_teardown(canceled_by_another_process, bench_teardown),
        cmocka_unit_test_teardown(a_module_is_found_by_its_path, bench_teardown),
        cmocka_unit_test_teardown(what_is_not_right_is_one_line, bench_teardown),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
