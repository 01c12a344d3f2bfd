// test_chat_stop.c - "stop" in a chat with the agent, at a terminal and by lines: it reaches the wheels before any
// model, also in a turn and beside a question; and a sentence about stopping is words.
#include "cli_bench.h"
#include "terminal.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NEVER    "replies:\n- {content: never said, delay_ms: 600000, repeat: true}\n"
#define ANSWERED "replies:\n- {content: a word of the model, repeat: true}\n"

static void open_with(bench *b, proc *body)
{
    bench_open(b);
    bench_start_body(b, body, "--driver kinematic");
}

static void close_with(bench *b, proc *body)
{
    bench_end_body(b);
    bench_finish(body);
    bench_free(body);
    bench_close(b);
}

static bool latched(bench *b)
{
    pons_autovalue status = NULL;
    assert_int_equal(bench_run_json(b, "status --json", &status), 0);
    return pons_get_bool(pons_get(status, "stop"), "latched", false);
}

static int agent(bench *b, proc *p, const char *script, const char *input, const char *words)
{
    char line[320];
    snprintf(line, sizeof line, "agent --json --llm script:%s %s",
             bench_file(b, "script.yaml", script), words);
    bench_start(b, p, input, line);
    return bench_finish(p);
}

static void it_is_a_turn_of_its_own(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    open_with(&b, &body);
    static const char *const stops[] = {"stop", "停", "'Stop! the cat'", "别动", "'STOP, now'"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        assert_int_equal(bench_run(&b, "reset"), 0);
        assert_false(latched(&b));
        assert_int_equal(agent(&b, &p, ANSWERED, NULL, stops[i]), 0);
        assert_int_equal(bench_count(&p, "llm_start", NULL, NULL), 0);
        assert_int_equal(bench_count(&p, "stop", "latched", "true"), 1);
        bench_free(&p);
        assert_true(latched(&b));
    }
    assert_int_equal(bench_run(&b, "reset"), 0);
    // Words, though there is a stop in them; the line after them is a stop.
    assert_int_equal(
        agent(&b, &p, ANSWERED, "write a loop that stops at 3\nwhat is a bus stop?\n", ""), 0);
    assert_int_equal(bench_count(&p, "llm_end", NULL, NULL), 2);
    bench_free(&p);
    assert_false(latched(&b));
    assert_int_equal(agent(&b, &p, ANSWERED, "tell me more\n停下\n", ""), 0);
    assert_int_equal(bench_count(&p, "llm_end", NULL, NULL), 1);
    bench_free(&p);
    assert_true(latched(&b));
    close_with(&b, &body);
}

// Neither a model nor what is left of a turn is needed, or comes before.
static void it_waits_for_nothing(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    open_with(&b, &body);
    bench_start(&b, &p, NULL, "agent --json stop"); // no model is named
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_true(latched(&b));
    assert_int_equal(bench_run(&b, "reset"), 0);
    char line[320];
    snprintf(line, sizeof line, "agent --json --llm script:%s 'go on'",
             bench_file(&b, "script.yaml", NEVER));
    bench_start(&b, &p, NULL, line);
    bench_await(&p, "llm_start", NULL, NULL);
    bench_signal(&p, SIGKILL); // its turn is cut short
    bench_finish(&p);
    bench_free(&p);
    assert_int_equal(agent(&b, &p, NEVER, NULL, "停"), 0);
    assert_int_equal(bench_count(&p, "llm_start", NULL, NULL), 0);
    bench_free(&p);
    assert_true(latched(&b));
    close_with(&b, &body);
}

static void where_no_robot_is_it_is_a_word(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(agent(&b, &p, ANSWERED, NULL, "stop"), 0);
    assert_int_equal(bench_count(&p, "llm_end", NULL, NULL), 1);
    bench_free(&p);
    bench_close(&b);
}

// The safety thread does not answer: that is said, and the exit status is no success.
static void what_did_not_stop_is_not_said_to_have(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    open_with(&b, &body);
    bench_signal(&body, SIGSTOP);
    assert_int_equal(agent(&b, &p, ANSWERED, NULL, "stop"), 1);
    assert_int_equal(bench_count(&p, "stop", NULL, NULL), 0);
    assert_int_equal(bench_count(&p, "llm_start", NULL, NULL), 0);
    char *said = bench_stderr(&p);
    assert_non_null(strstr(said, "not acknowledged"));
    free(said);
    bench_free(&p);
    bench_signal(&body, SIGCONT);
    close_with(&b, &body);
}

#define ASKS                                                                                       \
    "replies:\n"                                                                                   \
    "- tool_calls: [{name: terminal, arguments: {command: 'rm -f x'}}]\n"                          \
    "- {content: and on, repeat: true}\n"

static void at_a_terminal(const char *script, const char *shows, const char *waits)
{
    static terminal term;
    bench b;
    proc body = {0};
    char llm[256], folder[256];
    open_with(&b, &body);
    snprintf(llm, sizeof llm, "script:%s", bench_file(&b, "script.yaml", script));
    snprintf(folder, sizeof folder, "%s/repo", b.dir);
    mkdir(folder, 0700);
    static const char program[] = PONS_BINARY_DIR "/pons";
    const char *argv[] = {program, "--workspace", b.workspace, "agent", "--llm", llm, NULL};
    terminal_open(&term, folder, 80, 24, argv, NULL);
    terminal_await(&term, "Trust this folder?");
    terminal_type(&term, "y\r");
    terminal_await(&term, "agent >");
    terminal_type(&term, "go on for ever\r");
    terminal_await(&term, shows);
    if (waits) {
        terminal_type(&term, "and then this\r"); // waits, and is given up
        terminal_await(&term, waits);
    }
    terminal_type(&term, "stop\r");
    terminal_await(&term, "the latch holds until");
    terminal_await(&term, "(stopped)");
    assert_true(latched(&b));
    terminal_type(&term, "\004");
    assert_int_equal(terminal_end(&term), 0);
    assert_string_equal(term.bad, "");
    terminal_close(&term);
    close_with(&b, &body);
}

static void a_turn_ends_with_it(void **state)
{
    (void)state;
    at_a_terminal(NEVER, "thinking", "queued: and then this");
}

static void it_is_no_answer(void **state)
{
    (void)state;
    at_a_terminal(ASKS, "may it call", NULL);
}

// The prompt beside a server, where the turn is the server's: also where nothing is asked.
static void a_word_cancels_a_turn_beside_a_server(void **state)
{
    (void)state;
    static const char *const words[] = {"cancel\r", "取消\r"};
    static const char program[] = PONS_BINARY_DIR "/pons";
    static terminal term;
    bench b;
    proc body = {0};
    char llm[256];
    open_with(&b, &body);
    snprintf(llm, sizeof llm, "script:%s", bench_file(&b, "script.yaml", NEVER));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *argv[] = {program, "--workspace", b.workspace, "agent", "--serve",
                              "0",     "--llm",       llm,         NULL};
        terminal_open(&term, b.dir, 80, 24, argv, NULL);
        terminal_await(&term, "agent >");
        terminal_type(&term, "go on for ever\r");
        terminal_await(&term, "thinking");
        terminal_type(&term, words[i]);
        terminal_await(&term, "(stopped)");
        assert_false(latched(&b)); // which a stop would have done
        terminal_type(&term, "\004");
        assert_int_equal(terminal_end(&term), 0);
        terminal_close(&term);
    }
    close_with(&b, &body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(it_is_a_turn_of_its_own, bench_teardown),
        cmocka_unit_test_teardown(it_waits_for_nothing, bench_teardown),
        cmocka_unit_test_teardown(where_no_robot_is_it_is_a_word, bench_teardown),
        cmocka_unit_test_teardown(what_did_not_stop_is_not_said_to_have, bench_teardown),
        cmocka_unit_test_teardown(a_turn_ends_with_it, bench_teardown),
        cmocka_unit_test_teardown(it_is_no_answer, bench_teardown),
        cmocka_unit_test_teardown(a_word_cancels_a_turn_beside_a_server, bench_teardown),
    };
    pons_value_init();
    return bench_together("cli", tests, sizeof tests / sizeof tests[0]);
}
