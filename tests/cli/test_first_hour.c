// test_first_hour.c - what a person who begins is shown: what became of what they said, how it stands, and lines that fit.
//
// A run waits at its prompt, on a pipe or on a terminal of 44 columns; other commands speak to it, as from a second
// terminal.
#include "app/workspace/shown_language.h"
#include "cli/cli.h"
#include "cli_bench.h"
#include "terminal.h"
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static terminal term;

// `pons WORDS` ends so, and shows this.
static void says(bench *b, const char *words, int status, const char *shown)
{
    proc p = {0};
    bench_start(b, &p, NULL, words);
    const int got = bench_finish(&p);
    if (got != status || !strstr(p.text ? p.text : "", shown)) {
        char *err = bench_stderr(&p);
        fail_msg("%s: exit %d, not %d; “%s” is not in\n%s%s", words, got, status, shown, p.text,
                 err);
    }
    bench_free(&p);
}

static void open_terminal(bench *b, const char *kind, int columns, const char *words)
{
    char line[512], *argv[BENCH_ARGS_MAX], type[32];
    size_t n = 0;
    snprintf(line, sizeof line, PONS_BINARY_DIR "/pons --workspace %s %s", b->workspace, words);
    bench_split(line, argv, &n);
    argv[n] = NULL;
    snprintf(type, sizeof type, "TERM=%s", kind);
    const char *const env[] = {type, NULL};
    terminal_open(&term, NULL, columns, 30, (const char *const *)argv, env);
}

// Said from another terminal: accepted, refused, the same again, cancelled, without effect; then the brain is killed.
static void what_is_said_is_answered(void **state)
{
    (void)state;
    bench b;
    pons_autovalue json = NULL;
    bench_open(&b);
    open_terminal(&b, "xterm", 80, "run --thread t " WATCHABLE);
    terminal_await(&term, "since ");
    says(&b, "say 'where are you'", 0, "I am ");
    says(&b, "say 'go to the kitchen'", 0, "accepted as task-2: go to the kitchen\n");
    says(&b, "say 'go to the atlantis'", 1, "refused: unknown zone \"atlantis\"");
    says(&b, "say 'go to the kitchen'", 0, "task-2 is the same, and was there already\n");
    says(&b, "raise task-2", 0, "task-2 has priority ");
    says(&b, "say 'remember this place as nook'", 1, "refused: the robot is moving");
    says(&b, "stop", 0, "the latch holds");
    says(&b, "say 'go to the study'", 0,
         "nothing moves for it yet: a protective stop is latched (pons stop): `pons reset`");
    says(&b, "status", 0,
         "The robot stands: a protective stop is latched (pons stop): `pons reset`");
    says(&b, "cancel", 0, "task-2 is cancelled: go to the kitchen\n");
    says(&b, "cancel", 1, "cancel did nothing: there is no task\n");
    assert_int_equal(bench_run_json(&b, "status --json", &json), 0);
    assert_true(json_is_true(pons_get(json, "brain")));
    bench_must_fail(&b, "run " WATCHABLE " 'go to the study'", 3,
                    "say it there: `pons say --thread t \"go to the study\"`");
    says(&b, "do wait s=0.1", 0, "accepted as task-");
    kill(term.pid, SIGKILL);
    terminal_close(&term);
    says(&b, "status", 0, "No brain of t runs, so nothing moves; 1 task(s) wait: `pons resume t`.");
    bench_end_body(&b);
    bench_close(&b);
}

// In a narrow terminal no word is broken, and what stands below what is typed stays where it is.
static void lines_fit_a_narrow_terminal(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    open_terminal(&b, "xterm", 44, "run --thread t " WATCHABLE);
    terminal_await(&term, "since ");
    terminal_type(&term, "/help\r");
    terminal_await(&term, "/quit");
    assert_true(terminal_ever(&term, "also    /help      this"));
    assert_true(terminal_ever(&term, "/continue  goes on after a pause,\n"
                                     "                     or after stop and reset\n"));
    terminal_type(&term, "/nothing\r");
    terminal_await(&term, "there is no /nothing");
    terminal_type(&term, "stop\r");
    terminal_await_past(&term, "latched");
    terminal_type(&term, "go to the kitchen\r");
    terminal_await(&term, "nothing moves for it yet: a protective");
    terminal_await(&term, "`pons continue`"); // on one row
    terminal_type(&term, "pons status\r");    // as it is typed elsewhere
    terminal_await(&term, "The robot stands:");
    terminal_type(&term, "half a goal");
    terminal_await(&term, "> half a goal");
    terminal_type(&term, "\003"); // drops it
    terminal_type(&term, "/sta\t\r");
    terminal_await_past(&term, "> /status");
    assert_false(terminal_ever(&term, "did not understand \"half"));
    terminal_type(&term, "\003"); // leaves
    assert_int_equal(terminal_end(&term), 4);
    assert_true(terminal_ever(&term, "left with"));
    assert_int_equal(term.breaks, 2); // of the page's address, which is one word of 105 columns
    assert_string_equal(term.bad, "");
    terminal_close(&term);
    bench_end_body(&b);
    bench_close(&b);
}

// A terminal that cannot redraw, as a screen reader's in line mode: whole lines, and no command of a terminal's.
static void a_plain_terminal_has_plain_lines(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    open_terminal(&b, "dumb", 60, "run --thread t " WATCHABLE);
    terminal_await(&term, "Say a goal");
    terminal_type(&term, "go to the kitchen\n");
    terminal_await(&term, "navigate_to_pose");
    terminal_type(&term, "\003");
    terminal_await(&term, "once more Ctrl-C leaves");
    terminal_type(&term, "\003");
    assert_int_equal(terminal_end(&term), 4);
    assert_null(memchr(term.raw, '\033', term.n_raw));
    terminal_close(&term);
    bench_end_body(&b);
    bench_close(&b);
}

// `run` where a brain has the robot: who sits there is asked.
static void a_second_run_asks(void **state)
{
    (void)state;
    bench b;
    proc run = {0};
    bench_open(&b);
    bench_start(&b, &run, NULL, "run --thread t --json " WATCHABLE " 'go to the study'");
    bench_await(&run, "effect", "state", "accepted");
    open_terminal(&b, "xterm", 60, "run " WATCHABLE " 'go to the kitchen'");
    terminal_await(&term, "has this robot already");
    terminal_type(&term, "y\r");
    assert_int_equal(terminal_end(&term), 0);
    assert_true(terminal_ever(&term, "[y/n] y\naccepted as task-2: go to the kitchen\n"));
    terminal_close(&term);
    bench_signal(&run, SIGTERM);
    bench_finish(&run);
    bench_free(&run);
    bench_end_body(&b);
    bench_close(&b);
}

// Nothing in the first second; then a line each half second, or each five where it cannot be drawn again.
static void what_takes_long_says_so(void **state)
{
    (void)state;
    pons_autobuf quiet = PONS_BUF_INIT, counted = PONS_BUF_INIT, plain = PONS_BUF_INIT;
    assert_int_equal(cli_busy_line("scenarios", 3, 40, 400, true, &quiet), 600);
    assert_int_equal(quiet.len, 0);
    assert_int_equal(cli_busy_line("scenarios", 12, 40, 9300, true, &counted), 500);
    assert_string_equal(counted.data, "scenarios: 12 of 40, 9 s");
    assert_int_equal(cli_busy_line("reading the map", 0, 0, 1000, false, &plain), 5000);
    assert_string_equal(plain.data, "reading the map: 1 s");
    pons_autobuf chinese = PONS_BUF_INIT;
    app_language_of("去厨房");
    cli_busy_line("scenarios", 12, 40, 9300, true, &chinese);
    assert_string_equal(chinese.data, "场景：12 / 40，9 秒");
    app_language_of("go");
}

// A fork's history is its own: what its parent did after that moment is not in it. Each day has its date.
static void a_forks_history_is_its_own(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char words[128], at[64] = "";
    bench_open(&b);
    assert_int_equal(bench_run(&b, "run --thread t --json " FAST " 'wait 1 second'"), 0);
    bench_start(&b, &p, NULL, "threads history t --ns kernel --json --limit 500");
    assert_int_equal(bench_finish(&p), 0);
    pons_each(row, p.events) { // newest first: the oldest that has a step behind it
        if (pons_get_int(row, "step", -1) > 0 && pons_get(row, "checkpoint_id")) {
            snprintf(at, sizeof at, "%s", pons_get_str(row, "checkpoint_id", ""));
        }
    }
    assert_true(*at);
    bench_free(&p);
    snprintf(words, sizeof words, "threads fork t other --at %s", at);
    assert_int_equal(bench_run(&b, words), 0);
    says(&b, "threads show t --why", 0, "task-1 ended as succeeded");
    bench_start(&b, &p, NULL, "threads show other --why");
    assert_int_equal(bench_finish(&p), 0);
    assert_non_null(strstr(p.text, "It was forked here, from t."));
    assert_null(strstr(p.text, "task-1 ended as succeeded"));
    assert_true(p.text[4] == '-' && p.text[7] == '-' && p.text[10] == '\n');
    bench_free(&p);
    bench_close(&b);
}

// What was asked of a fleet that nobody runs is in its status; every file that a module reads is checked.
static void nothing_that_waits_is_hidden(void **state)
{
    (void)state;
    bench b;
    bench_fleet(&b);
    says(&b, "fleet assign water --stops kitchen --needs mobile", 0, "t-");
    says(&b, "fleet status", 0, "no orchestrator has taken it yet");
    bench_shell("mkdir -p %s/config", b.workspace);
    bench_put(&b, "config/ros2.yaml", "nonsense: 1\n");
    bench_must_fail(&b, "config check ros2.yaml", 2, "nonsense");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_said_is_answered, bench_teardown),
        cmocka_unit_test_teardown(lines_fit_a_narrow_terminal, bench_teardown),
        cmocka_unit_test_teardown(a_plain_terminal_has_plain_lines, bench_teardown),
        cmocka_unit_test_teardown(a_second_run_asks, bench_teardown),
        cmocka_unit_test_teardown(what_takes_long_says_so, bench_teardown),
        cmocka_unit_test_teardown(a_forks_history_is_its_own, bench_teardown),
        cmocka_unit_test_teardown(nothing_that_waits_is_hidden, bench_teardown),
    };
    pons_value_init();
    return bench_together("first_hour", tests, sizeof tests / sizeof tests[0]);
}
