// test_prompt.c - the prompt of `pons run` on a terminal of its own: what it leaves behind when a
// person leaves it, and that stop typed there is the stop.
//
// A pseudo terminal is the person: keys go in, what is shown comes out. What is left is looked at as
// anybody would: status, resume, run/body.json.
#include "cli_bench.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct prompt {
    pid_t pid;
    int tty;
    char text[1 << 18];
    size_t length, mark;
} prompt;

// llm: NULL: none.
static void open_prompt_with(bench *b, prompt *p, const char *llm)
{
    p->length = p->mark = 0;
    p->text[0] = '\0';
    p->pid = forkpty(&p->tty, NULL, NULL, NULL);
    assert_true(p->pid >= 0);
    if (p->pid == 0) {
        setenv("TERM", "xterm", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        setenv("PONS_LANGUAGE", "en", 1);
        if (b->share[0]) {
            setenv("PONS_SHARE", b->share, 1);
        }
        unsetenv("PONS_LLM_URL");
        unsetenv("OPENAI_BASE_URL");
        execl(PONS_BINARY_DIR "/pons", "pons", "--workspace", b->workspace, "run", "--thread", "t",
              "--driver", "kinematic", "--seed", "3", "--speed", "1", llm ? "--llm" : (char *)NULL,
              llm, (char *)NULL);
        _exit(127);
    }
}

static void open_prompt(bench *b, prompt *p)
{
    open_prompt_with(b, p, NULL);
}

// Reads until this is shown after what was found before; NULL: to the end.
static void shows(prompt *p, const char *what)
{
    const time_t end = time(NULL) + BENCH_LIMIT_S;
    while (time(NULL) < end) {
        char *at = what ? strstr(p->text + p->mark, what) : NULL;
        if (at) {
            p->mark = (size_t)(at - p->text) + strlen(what);
            return;
        }
        struct pollfd fd = {.fd = p->tty, .events = POLLIN};
        if (poll(&fd, 1, 1000) <= 0) {
            continue;
        }
        const ssize_t n = read(p->tty, p->text + p->length, sizeof p->text - p->length - 1);
        if (n <= 0) {
            if (!what) {
                return;
            }
            break;
        }
        p->length += (size_t)n;
        p->text[p->length] = '\0';
    }
    fail_msg("“%s” is not shown:\n%s", what ? what : "the end", p->text);
}

static void type(prompt *p, const char *keys)
{
    assert_int_equal(write(p->tty, keys, strlen(keys)), (int)strlen(keys));
}

static void ends(prompt *p, int status)
{
    int got = -1;
    shows(p, NULL);
    assert_int_equal(waitpid(p->pid, &got, 0), p->pid);
    assert_true(WIFEXITED(got));
    if (WEXITSTATUS(got) != status) {
        fail_msg("exit %d, not %d:\n%s", WEXITSTATUS(got), status, p->text);
    }
    close(p->tty);
}

static void left_with_goals(void **state)
{
    (void)state;
    static prompt p;
    static const char *const ways[] = {"\004", "quit\r", "\003"}; // Ctrl-D, a word, Ctrl-C
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        bench b;
        proc run = {0};
        pons_autovalue status = NULL;
        bench_open(&b);
        open_prompt(&b, &p);
        shows(&p, "Say a goal");
        shows(&p, "kinematic pons-1 in house, since "); // which robot hears what is typed
        type(&p, "去厨房\r");
        shows(&p, "accepted");
        type(&p, ways[i]);
        shows(&p, "pons resume t");
        ends(&p, 4);
        assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
        assert_int_equal(json_array_size(pons_get(status, "queue")), 1);
        bench_start(&b, &run, NULL, "resume --json");
        bench_await(&run, "run.done", "status", "succeeded");
        bench_must_exit(&run, 0);
        bench_ledger_check(&b);
        bench_free(&run);
        bench_close(&b);
    }
}

static void await_done(bench *b)
{
    int64_t since = 0;
    for (bool done = false; !done;) {
        pons_autovalue status = NULL;
        bench_run_json(b, "status --json", &status);
        done = json_array_size(pons_get(status, "finished")) > 0;
        if (!done) {
            bench_again(&since, "the end of its task");
        }
    }
}

// Words from a pipe: how the run ended is the status, though its last word is quit.
static void words_from_a_pipe(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int status;
    } rows[] = {{"wait 1 second\n", 0}, {"flurb the gronk\n", 1}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        bench b;
        int in[2], got = -1;
        bench_open(&b);
        assert_int_equal(pipe2(in, O_CLOEXEC), 0);
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            dup2(in[0], STDIN_FILENO);
            execl(PONS_BINARY_DIR "/pons", "pons", "--workspace", b.workspace, "run", "--thread",
                  "t", "--driver", "kinematic", "--seed", "3", "--json", (char *)NULL);
            _exit(127);
        }
        close(in[0]);
        assert_true(write(in[1], rows[i / 2].words, strlen(rows[i / 2].words)) > 0);
        if (i % 2) { // it is done before it is left
            await_done(&b);
            assert_int_equal(write(in[1], "quit\n", 5), 5);
        }
        close(in[1]);
        assert_int_equal(waitpid(pid, &got, 0), pid);
        assert_true(WIFEXITED(got));
        assert_int_equal(WEXITSTATUS(got), rows[i / 2].status);
        bench_close(&b);
    }
}

static void left_with_nothing(void **state)
{
    (void)state;
    static prompt p;
    bench b;
    pons_autovalue status = NULL;
    bench_open(&b);
    open_prompt(&b, &p);
    shows(&p, "Say a goal");
    type(&p, "等1秒\r");
    shows(&p, "succeeded");
    const pid_t body = bench_body_pid(&b);
    assert_true(body > 0);
    type(&p, "\004");
    ends(&p, 0);
    while (kill(body, 0) == 0) { // nobody needs it
        bench_rest(10);
    }
    assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
    assert_string_equal(pons_get_str(status, "mode", ""), "IDLE");
    assert_int_equal(bench_run(&b, "say 去厨房"), 0); // to nobody: it is kept, and seen
    pons_value_unref(status);
    assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
    assert_int_equal(json_array_size(pons_get(status, "unheard")), 1);
    bench_close(&b);
}

// stop, typed: the latch, the task kept; reset and continue, typed: it goes on; cancel ends it.
static void stop_is_the_stop(void **state)
{
    (void)state;
    static prompt p;
    bench b;
    pons_autovalue status = NULL;
    bench_open(&b);
    open_prompt(&b, &p);
    shows(&p, "Say a goal");
    type(&p, "去厨房\r");
    shows(&p, "accepted");
    type(&p, "stop\r");
    const size_t said = p.mark;
    shows(&p, "latched");
    p.mark = said; // the brain may have heard the word before it hears of the latch
    shows(&p, "SAFE (");
    assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
    assert_true(pons_get_bool(pons_get(status, "stop"), "latched", false));
    assert_int_equal(json_array_size(pons_get(status, "queue")), 1);
    bench_must_fail(&b, "continue", 2, "reset");
    type(&p, "reset\r");
    shows(&p, "IDLE (stopped");
    type(&p, "continue\r");
    shows(&p, "EXEC (");
    shows(&p, "accepted");
    type(&p, "cancel\r");
    shows(&p, "cancelled");
    type(&p, "\004");
    ends(&p, 0);
    bench_ledger_check(&b);
    bench_close(&b);
}

static void status_needs_no_thread(void **state)
{
    (void)state;
    bench b;
    proc body = {0};
    bench_open(&b);
    bench_start(&b, &body, NULL, "body " FAST);
    for (;;) {
        pons_autovalue status = NULL;
        if (bench_run_json(&b, "status --json", &status) == 0) {
            assert_true(json_is_null(pons_get(status, "thread")));
            assert_string_equal(pons_get_str(status, "mode", ""), "IDLE");
            assert_true(json_is_object(pons_get(status, "pose")));
            assert_string_equal(pons_get_str(pons_get(status, "body"), "driver", ""), "kinematic");
            break;
        }
        assert_true(bench_alive(&body));
        bench_rest(10);
    }
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_close(&b);
}

// Tab: what several words share, what they are, a word in its own spelling, one of a script without
// spaces; where nothing begins so, nothing is put in. The line means what it shows.
static void tab_completes(void **state)
{
    (void)state;
    static prompt p;
    bench b;
    bench_open(&b);
    open_prompt(&b, &p);
    shows(&p, "Say a goal");
    type(&p, "go to hal\t");
    shows(&p, "go to hall");
    type(&p, "\t");
    shows(&p, "hallway  hall");
    shows(&p, "go to hall");
    type(&p, "\025xyz\t"); // Ctrl-U empties the line
    shows(&p, "xyz");
    type(&p, "\025go to KIT\t");
    shows(&p, "kitchen ");
    type(&p, "\025去厨\t\r");
    shows(&p, "accepted");
    type(&p, "sta\t\r");
    shows(&p, "It is at work on task-1: 去厨房.");
    type(&p, "qui\t\r");
    shows(&p, "pons resume t");
    ends(&p, 4);
    bench_close(&b);
}

// A number that no option has is a slip, as it is for `pons approve`; the question stays open.
static void a_slip_is_no_answer(void **state)
{
    (void)state;
    static prompt p;
    bench b;
    char llm[300];
    bench_open(&b);
    bench_file(&b, "doors.yaml",
               "replies:\n- decision: {type: ASK_HUMAN, reason: two doors, ops: [{op: approval, "
               "question: 'which door?', options: [left, right]}]}\n"
               "- decision: {type: ABORT, reason: as you wish}\n");
    snprintf(llm, sizeof llm, "script:%s/doors.yaml", b.dir);
    open_prompt_with(&b, &p, llm);
    shows(&p, "Say a goal");
    type(&p, "浇花\r");
    shows(&p, "which door?");
    type(&p, "answer 3\r");
    shows(&p, "there are 2 options, and none of number 3");
    type(&p, "answer 2\r");
    shows(&p, "the words \"right\"");
    shows(&p, "as you wish");
    type(&p, "quit\r");
    ends(&p, 0);
    bench_close(&b);
}

// Two tasks were put aside with a question each: a bare yes is for neither, --id says which.
static void a_yes_is_for_one_question(void **state)
{
    (void)state;
    static prompt p;
    bench b;
    char line[200];
    pons_autovalue open = NULL;
    bench_open(&b);
    bench_share(&b, BENCH_ASKS);
    open_prompt(&b, &p);
    shows(&p, "Say a goal");
    type(&p, "去厨房\r");
    shows(&p, "pons approve t");
    type(&p, "去卧室\r");
    shows(&p, "pons approve t");
    type(&p, "等600秒\r");
    shows(&p, "accepted");
    type(&p, "yes\r");
    shows(&p, "2 open questions");
    type(&p, "approve\r");
    shows(&p, "2 open questions");
    type(&p, "approve --id 01NOSUCHQUESTION\r");
    shows(&p, "has no question 01NOSUCHQUESTION");
    static const char *const no_id[] = {"reject --id\r", "reject  --id \r", "reject --id=\r",
                                        "approve --id\r", "approve reject --id\r"};
    for (size_t i = 0; i < sizeof no_id / sizeof no_id[0]; i++) {
        type(&p, no_id[i]);
        shows(&p, "--id needs the ID");
    }
    assert_int_equal(bench_run_json(&b, "approve t --json", &open), 4);
    assert_int_equal(json_array_size(open), 2);
    snprintf(line, sizeof line, "reject --id %s not there\r",
             pons_get_str(json_array_get(open, 1), "id", ""));
    type(&p, line);
    type(&p, "cancel task-3\r");
    shows(&p, "reject, not there");
    pons_value_unref(open);
    open = NULL;
    assert_int_equal(bench_run_json(&b, "approve t --json", &open), 4);
    assert_int_equal(json_array_size(open), 1);
    assert_string_equal(
        pons_get_str(pons_get(json_array_get(pons_get(json_array_get(open, 0), "ops"), 0), "args"),
                     "zone", ""),
        "kitchen");
    type(&p, "quit\r");
    ends(&p, 4);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(left_with_goals, bench_teardown),
        cmocka_unit_test_teardown(words_from_a_pipe, bench_teardown),
        cmocka_unit_test_teardown(left_with_nothing, bench_teardown),
        cmocka_unit_test_teardown(tab_completes, bench_teardown),
        cmocka_unit_test_teardown(a_slip_is_no_answer, bench_teardown),
        cmocka_unit_test_teardown(a_yes_is_for_one_question, bench_teardown),
        cmocka_unit_test_teardown(stop_is_the_stop, bench_teardown),
        cmocka_unit_test_teardown(status_needs_no_thread, bench_teardown),
    };
    pons_value_init();
    return bench_together("prompt", tests, sizeof tests / sizeof tests[0]);
}
