// test_agent.c - `pons agent` as a person and a program meet it: the real program, scripts for
// models, the core tools in a workspace of its own, and a body with the kinematic robot.
//
// What is shown: a turn's output for people and for programs; a session's history; exit statuses; a
// question answered by `pons approve` and gone on with by `pons resume`; a chat by lines on
// standard input; a robot that is driven by a skill of its body, the agent killed while it drives,
// and the ledger as the judge that it moved once.
#include "cli_bench.h"
#include "pons/buf.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void must_exit(proc *p, int status)
{
    const int got = bench_finish(p);
    if (got != status) {
        char *err = bench_stderr(p);
        print_error("%s\n%s\n", p->text ? p->text : "", err);
        free(err);
        fail_msg("exit status %d, not %d", got, status);
    }
}

// One command with a script of replies; *ret_text: what it printed, the caller's.
static int say(bench *b, const char *script, const char *words, char **ret_text, char **ret_err)
{
    char line[512];
    proc p;
    if (script) {
        bench_file(b, "script.yaml", script);
    }
    snprintf(line, sizeof line, "%s --llm script:%s/script.yaml", words, b->dir);
    bench_start(b, &p, NULL, line);
    const int status = bench_finish(&p);
    if (ret_text) {
        *ret_text = strdup(p.text ? p.text : "");
    }
    if (ret_err) {
        *ret_err = bench_stderr(&p);
    }
    bench_free(&p);
    return status;
}

static void a_turn_for_people(void **state)
{
    (void)state;
    bench b;
    char *text = NULL;
    bench_open(&b);
    assert_int_equal(
        say(&b,
            "replies:\n"
            "- tool_calls: [{name: write_file, arguments: {path: a.txt, content: hi}}]\n"
            "- content: I wrote it.\n",
            "agent 'write a file'", &text, NULL),
        0);
    assert_non_null(strstr(text, "write_file"));
    assert_non_null(strstr(text, "I wrote it.\n"));
    free(text);
    char path[256];
    snprintf(path, sizeof path, "%s/a.txt", b.workspace);
    assert_int_equal(access(path, F_OK), 0);
    // The session goes on: the next request has the first one's words.
    assert_int_equal(
        say(&b, "replies:\n- {when: {messages.1.content: write a file}, content: I know}\n",
            "agent 'what was it'", &text, NULL),
        0);
    assert_non_null(strstr(text, "I know"));
    free(text);
    assert_int_equal(say(&b,
                         "replies:\n- {when: {messages.1.content: hello}, content: hello you}\n",
                         "agent --session other hello", &text, NULL),
                     0);
    assert_non_null(strstr(text, "hello you"));
    free(text);
    bench_close(&b);
}

// What a person decides by is what is on the screen: a model's words must not rewrite it.
// A model is told what day it is, and to speak as it is spoken to.
static void a_model_knows_the_day_and_the_language(void **state)
{
    (void)state;
    bench b;
    char day[64], script[512], *text = NULL;
    struct tm tm;
    const time_t now = time(NULL);
    strftime(day, sizeof day, "Now it is %A, %Y-%m-%d ", localtime_r(&now, &tm));
    snprintf(script, sizeof script,
             "replies:\n- {when: {messages.0.content: {contains: \"%s\"}}, content: today}\n", day);
    bench_open(&b);
    assert_int_equal(say(&b, script, "agent 几点了", &text, NULL), 0);
    assert_non_null(strstr(text, "today\n"));
    free(text);
    assert_int_equal(say(&b,
                         "replies:\n- {when: {messages.0.content: {contains: \"in the user's "
                         "language\"}}, content: 中文}\n",
                         "agent --session other 几点了", &text, NULL),
                     0);
    assert_non_null(strstr(text, "中文\n"));
    free(text);
    bench_close(&b);
}

static void a_models_words_command_no_terminal(void **state)
{
    (void)state;
    bench b;
    char *text = NULL;
    bench_open(&b);
    assert_int_equal(
        say(&b,
            "replies:\n"
            "- tool_calls: [{name: plan_create, arguments: {title: \"a\\e[2Jb\", steps: [\"rm "
            "all\\e[2K\\rlist files\", \"x\\u202Ey\", \"two\\nlines\"]}}]\n"
            "- content: one\n- content: two\n- content: three\n- content: \"do\\e]0;t\\a "
            "ne\\n\\tnext 完\"\n",
            "agent plan", &text, NULL),
        0);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\a'));
    assert_null(strchr(text, '\r'));
    assert_null(strstr(text, "\xE2\x80\xAE"));
    assert_non_null(strstr(text, "rm all\xEF\xBF\xBD[2K\xEF\xBF\xBDlist files"));
    assert_non_null(strstr(text, "two\xE2\x8F\x8Elines"));
    assert_non_null(strstr(text, "ne\n\tnext 完"));
    free(text);
    bench_close(&b);
}

// What one session keeps another one finds, in another process; a person lists it and puts back what
// the agent forgot.
static void a_memory_outlives_its_session(void **state)
{
    (void)state;
    bench b;
    char *text = NULL;
    pons_value *item = NULL;
    bench_open(&b);
    assert_int_equal(
        say(&b,
            "replies:\n"
            "- tool_calls: [{name: save_memory, arguments: {key: food, text: Mara likes ramen}}]\n"
            "- content: kept\n",
            "agent 'remember this'", NULL, NULL),
        0);
    assert_int_equal(
        say(&b,
            "replies:\n"
            "- tool_calls: [{name: search_memory, arguments: {query: what does Mara like}}]\n"
            "- tool_calls: [{name: forget_memory, arguments: {key: food}}]\n"
            "- tool_calls: [{name: search_memory, arguments: {query: ramen}}]\n"
            "- content: asked\n",
            "agent --session other --json 'what does she eat'", &text, NULL),
        0);
    assert_non_null(strstr(text, "Mara likes ramen"));
    assert_non_null(strstr(text, "forgot food"));
    assert_non_null(strstr(text, "no memory has any of these words"));
    assert_null(strstr(text, "approval_request"));
    free(text);
    assert_int_equal(bench_run(&b, "items get agent.memories food"), 2);
    assert_int_equal(
        bench_run_json(&b, "items list agent.memory_log --filter {\"did\":\"forget\"} --json",
                       &item),
        0);
    const pons_value *line = pons_get(item, "value");
    assert_string_equal(pons_get_str(line, "session", ""), "other");
    assert_string_equal(pons_get_str(pons_get(line, "was"), "text", ""), "Mara likes ramen");
    pons_value_unref(item);
    assert_int_equal(
        bench_run(&b, "items put agent.memories food '{\"text\":\"Mara likes ramen\"}'"), 0);
    assert_int_equal(say(&b,
                         "replies:\n"
                         "- tool_calls: [{name: search_memory, arguments: {query: ramen}}]\n"
                         "- content: found\n",
                         "agent --session third --json again", &text, NULL),
                     0);
    assert_non_null(strstr(text, "Mara likes ramen"));
    free(text);
    bench_close(&b);
}

static void a_plan_for_programs(void **state)
{
    (void)state;
    bench b;
    proc p;
    char line[256];
    bench_open(&b);
    bench_file(&b, "script.yaml",
               "replies:\n"
               "- tool_calls: [{name: plan_create, arguments: {title: T, steps: [one, two]}}]\n"
               "- content: did one\n- content: did two\n- content: done\n");
    snprintf(line, sizeof line, "agent plan --json --llm script:%s/script.yaml", b.dir);
    bench_start(&b, &p, NULL, line);
    must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "plan_created", NULL, NULL), 1);
    assert_int_equal(bench_count(&p, "plan_updated", "status", "completed"), 2);
    assert_int_equal(bench_count(&p, "done", "status", "success"), 1);
    assert_int_equal(bench_count(&p, "llm_start", NULL, NULL), 4);
    bench_free(&p);
    bench_close(&b);
}

static void a_question_is_answered_from_elsewhere(void **state)
{
    (void)state;
    bench b;
    char *text = NULL, *err = NULL, path[256];
    bench_open(&b);
    mkdir(b.workspace, 0700);
    snprintf(path, sizeof path, "%s/graph_config.yaml", b.workspace);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("graph:\n  nodes:\n    approval: {enabled: true}\n", f);
    fclose(f);
    static const char *const plan =
        "replies:\n- tool_calls: [{name: plan_create, arguments: {title: T, steps: [one]}}]\n";
    assert_int_equal(say(&b, plan, "agent 'do it'", &text, &err), 4);
    assert_non_null(strstr(err, "pons approve agent"));
    free(text);
    free(err);
    bench_must_fail(&b, "approve agent always", 2, "approval of a call alone");
    bench_must_fail(&b, "approve agent --id nobody approve", 2,
                    "agent has no question nobody; `pons approve agent` shows the open one");
    assert_int_equal(bench_run(&b, "approve"), 4); // shows what it waits for
    assert_int_equal(bench_run(&b, "approve agent reject 'too much'"), 0);
    assert_int_equal(bench_run(&b, "approve agent"), 0); // nothing more is asked
    assert_int_equal(say(&b, "replies:\n- content: as you wish\n", "resume agent", &text, NULL), 0);
    assert_non_null(strstr(text, "as you wish"));
    free(text);
    assert_int_equal(say(&b, plan, "agent again", NULL, NULL), 4);
    assert_int_equal(bench_run(&b, "approve agent edit '{\"setps\":[\"only this\"]}'"), 2);
    assert_int_equal(bench_run(&b, "approve agent edit '[]'"), 2);
    assert_int_equal(bench_run(&b, "approve agent edit '{\"steps\":[\"only this\"]}'"), 0);
    assert_int_equal(
        say(&b, "replies:\n- content: did it\n- content: all done\n", "resume agent", &text, NULL),
        0);
    assert_non_null(strstr(text, "all done"));
    assert_non_null(strstr(text, "only this"));
    free(text);
    bench_close(&b);
}

// Reads what the terminal shows until it has `what`, or (NULL) to its end; false after 30 s
// without.
static bool terminal_shows(int tty, const char *what)
{
    static char shown[65536];
    size_t n = 0;
    for (;;) {
        struct pollfd fd = {.fd = tty, .events = POLLIN};
        if (poll(&fd, 1, 30000) <= 0 || n + 1 >= sizeof shown) {
            return false;
        }
        const ssize_t got = read(tty, shown + n, sizeof shown - 1 - n);
        if (got <= 0) { // Linux says EIO when the other side is gone
            return !what;
        }
        n += (size_t)got;
        shown[n] = '\0';
        if (what && strstr(shown, what)) {
            return true;
        }
    }
}

static void type(int tty, const char *keys)
{
    assert_int_equal(write(tty, keys, strlen(keys)), strlen(keys));
}

// A line that is empty again is not the end of the chat; Ctrl-D is.
static void a_chat_on_a_terminal(void **state)
{
    (void)state;
    bench b;
    char script[256];
    int tty = -1, status = -1;
    bench_open(&b);
    snprintf(script, sizeof script, "script:%s",
             bench_file(&b, "script.yaml",
                        "replies:\n- {when: {messages.1.content: 你好}, content: 你说 hi}\n"
                        "- content: second\n"));
    const pid_t pid = forkpty(&tty, NULL, NULL, NULL);
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("TERM", "xterm", 1);
        setenv("LC_ALL", "C", 1);
        execl(PONS_BINARY_DIR "/pons", "pons", "--workspace", b.workspace, "agent", "--llm", script,
              (char *)NULL);
        _exit(127);
    }
    assert_true(terminal_shows(tty, "Trust this folder?"));
    type(tty, "y\r");
    assert_true(terminal_shows(tty, "/quit leaves"));
    type(tty, "a\177");
    type(tty, "你好x\177\r");
    assert_true(terminal_shows(tty, "你说 hi"));
    type(tty, "again\r");
    assert_true(terminal_shows(tty, "second"));
    type(tty, "\004");
    assert_true(terminal_shows(tty, NULL));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(tty);
    bench_close(&b);
}

static void a_chat_by_lines(void **state)
{
    (void)state;
    bench b;
    proc p;
    char line[256];
    bench_open(&b);
    bench_file(&b, "script.yaml",
               "replies:\n- content: one\n"
               "- tool_calls: [{name: terminal, arguments: {command: 'rm -r x'}}]\n"
               "- content: left it\n- content: three\n");
    snprintf(line, sizeof line, "agent --llm script:%s/script.yaml", b.dir);
    bench_start(&b, &p, "hello\nremove x\nn I need it\nand?\n", line);
    must_exit(&p, 0);
    const char *at = p.text;
    static const char *const order[] = {"one", "may it call terminal", "left it", "three"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = strstr(at, order[i]);
        if (!at) {
            fail_msg("%s is not in its place:\n%s", order[i], p.text);
        }
    }
    bench_free(&p);
    bench_close(&b);
}

// What is asked is asked in the language of what was said.
static void a_chinese_user_is_asked_in_chinese(void **state)
{
    (void)state;
    bench b;
    proc p;
    char line[256];
    bench_open(&b);
    bench_file(&b, "script.yaml",
               "replies:\n- tool_calls: [{name: terminal, arguments: {command: 'rm -r x'}}]\n"
               "- content: left it\n");
    snprintf(line, sizeof line, "agent --llm script:%s/script.yaml", b.dir);
    bench_start(&b, &p, "删除 x\n不\n", line);
    must_exit(&p, 0);
    assert_non_null(strstr(p.text, "可以调用 terminal"));
    assert_non_null(strstr(p.text, "以后一律允许"));
    assert_null(strstr(p.text, "may it call"));
    assert_null(strstr(p.text, "approved, it"));
    bench_free(&p);
    bench_close(&b);
}

// Six answers at once to a thread that nobody runs: one is kept, the others are told that nothing
// is asked any more, and what was kept is what happens.
static void one_answer_of_six_counts(void **state)
{
    (void)state;
    enum { ANSWERS = 6 };
    bench b;
    proc p[ANSWERS];
    char path[256];
    int kept = -1;
    bench_open(&b);
    assert_int_equal(say(&b,
                         "replies:\n- tool_calls: [{name: terminal, arguments: {command: 'touch "
                         "it; true'}}]\n",
                         "agent 'do it'", NULL, NULL),
                     4);
    for (int i = 0; i < ANSWERS; i++) {
        bench_start(&b, &p[i], NULL, i % 2 ? "approve agent approve" : "approve agent reject no");
    }
    for (int i = 0; i < ANSWERS; i++) {
        const int status = bench_finish(&p[i]);
        assert_true(status == 2 || (status == 0 && kept < 0));
        kept = status == 0 ? i : kept;
        bench_free(&p[i]);
    }
    assert_true(kept >= 0);
    assert_int_equal(say(&b, "replies:\n- content: so be it\n", "resume agent", NULL, NULL), 0);
    snprintf(path, sizeof path, "%s/it", b.workspace);
    assert_int_equal(access(path, F_OK), kept % 2 ? 0 : -1);
    bench_close(&b);
}

// A yes is for all of a call and all of a plan: the end of a long command, why it asks, and what a
// step does under a harmless title are there to be read, here and in the event that `pons approve`
// shows.
static void a_question_hides_nothing(void **state)
{
    (void)state;
    bench b;
    proc p;
    char *text = NULL, line[256], long_word[3000];
    pons_autobuf script = PONS_BUF_INIT;
    bench_open(&b);
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    pons_buf_printf(&script,
                    "replies:\n- tool_calls: [{name: terminal, arguments: {command: "
                    "'echo %s; touch out-of-sight'}}]\n- content: left it\n",
                    long_word);
    assert_int_equal(say(&b, script.data, "agent 'do it'", NULL, NULL), 4);
    bench_file(&b, "script.yaml", script.data);
    snprintf(line, sizeof line, "agent --session people --llm script:%s/script.yaml", b.dir);
    bench_start(&b, &p, "do it\nn no\n", line);
    must_exit(&p, 0);
    assert_non_null(strstr(p.text, "; touch out-of-sight"));
    assert_non_null(strstr(p.text, "outside the sandbox"));
    bench_free(&p);
    snprintf(line, sizeof line,
             "agent --json --session programs 'do it' --llm script:%s/script.yaml", b.dir);
    bench_start(&b, &p, NULL, line);
    const pons_value *asked = bench_await(&p, "approval_request", NULL, NULL);
    assert_non_null(strstr(pons_get_str(asked, "why", ""), "outside the sandbox"));
    must_exit(&p, 4);
    bench_free(&p);

    snprintf(line, sizeof line, "%s/graph_config.yaml", b.workspace);
    FILE *f = fopen(line, "w");
    assert_non_null(f);
    fputs("graph:\n  nodes:\n    approval: {enabled: true}\n", f);
    fclose(f);
    bench_file(
        &b, "script.yaml",
        "replies:\n- tool_calls: [{name: plan_create, arguments: {title: Tidy, steps: [{title: "
        "Look around, action: write_file, parameters: {path: over.txt, content: gone}}]}}]\n"
        "- content: left it\n");
    snprintf(line, sizeof line, "agent --session plans --llm script:%s/script.yaml", b.dir);
    bench_start(&b, &p, "tidy up\nn no\n", line);
    must_exit(&p, 0);
    text = strstr(p.text, "Look around: {");
    assert_non_null(text);
    assert_non_null(strstr(text, "write_file"));
    assert_non_null(strstr(text, "over.txt"));
    bench_free(&p);
    bench_close(&b);
}

// Two lines in one write, with the pipe held open behind them; then one that is longer than any
// line, and one of more bytes than a read: each is one turn, or none.
static void lines_however_they_come(void **state)
{
    (void)state;
    bench b;
    proc p;
    char words[512];
    bench_open(&b);
    bench_file(&b, "script.yaml",
               "replies:\n- {when: {messages.-1.content: one}, content: to one}\n"
               "- {when: {messages.-1.content: two}, content: to two}\n"
               "- {when: {messages.-1.content: {contains: the end}}, content: to the long one}\n");
    snprintf(words, sizeof words, "--workspace %s agent --json --llm script:%s/script.yaml",
             b.workspace, b.dir);
    char *text = malloc(3 * 1024 * 1024), *at = text;
    assert_non_null(text);
    at += sprintf(at, "one\ntwo\n");
    memset(at, 'x', 2 * 1024 * 1024);
    at += 2 * 1024 * 1024;
    at += sprintf(at, " the end\n");
    for (int i = 0; i < 100000; i++) { // characters that a cut would break
        at += sprintf(at, "\xe5\x88\xb0");
    }
    sprintf(at, " the end"); // and no end of the line
    int in[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    const int keep = dup(STDIN_FILENO);
    dup2(in[0], STDIN_FILENO);
    close(in[0]);
    p.mark = 1; // it takes over our standard input
    bench_start_program(&b, &p, PONS_BINARY_DIR "/pons", words);
    p.mark = 0;
    dup2(keep, STDIN_FILENO);
    close(keep);
    assert_int_equal(write(in[1], text, strlen("one\ntwo\n")), strlen("one\ntwo\n"));
    bench_await(&p, "done", "content", "to two");
    for (at = text + strlen("one\ntwo\n"); *at;) {
        const ssize_t n = write(in[1], at, strlen(at) < 65536 ? strlen(at) : 65536);
        assert_true(n > 0);
        at += n;
    }
    close(in[1]);
    must_exit(&p, 0);
    char *err = bench_stderr(&p);
    assert_non_null(strstr(err, "a line of more than"));
    assert_int_equal(bench_count(&p, "done", NULL, NULL), 3);
    assert_int_equal(bench_count(&p, "done", "content", "to one"), 1);
    assert_int_equal(bench_count(&p, "done", "content", "to two"), 1);
    assert_int_equal(bench_count(&p, "done", "content", "to the long one"), 1);
    free(err);
    free(text);
    bench_free(&p);
    bench_close(&b);
}

static void a_turn_that_was_cut_short_comes_first(void **state)
{
    (void)state;
    bench b;
    proc p;
    char words[256];
    bench_open(&b);
    bench_file(&b, "s1.yaml", "replies:\n- {content: too late, delay_ms: 600000}\n");
    snprintf(words, sizeof words, "agent --json first --llm script:%s/s1.yaml", b.dir);
    bench_start(&b, &p, NULL, words);
    bench_await(&p, "llm_start", NULL, NULL);
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_file(&b, "s2.yaml",
               "replies:\n- {when: {messages.-1.content: first}, content: to the first}\n"
               "- {when: {messages.-1.content: second}, content: to the second}\n");
    snprintf(words, sizeof words, "agent --json second --llm script:%s/s2.yaml", b.dir);
    bench_start(&b, &p, NULL, words);
    must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "done", "content", "to the first"), 1);
    assert_int_equal(bench_count(&p, "done", "content", "to the second"), 1);
    bench_free(&p);
    bench_close(&b);
}

static void a_model_server_answers(void **state)
{
    (void)state;
    bench b;
    proc server, p;
    char path[512], words[256];
    bench_open(&b);
    snprintf(words, sizeof words, "%s",
             bench_file(&b, "model.json",
                        "[{\"tool_calls\": [{\"name\": \"write_file\", \"arguments\": "
                        "{\"path\": \"b.txt\", \"content\": \"two\\nlines\"}}, "
                        "{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\"}}]}, "
                        "{\"content\": \"Written, and seen.\"}]"));
    snprintf(path, sizeof path, "%s/tests/scripted_model", PONS_BINARY_DIR);
    bench_start_program(&b, &server, path, words);
    const int port = atoi(bench_line(&server));
    snprintf(words, sizeof words, "agent --json 'write two lines' --llm http://127.0.0.1:%d/v1",
             port);
    bench_start(&b, &p, NULL, words);
    must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "tool_end", NULL, NULL), 2);
    assert_int_equal(bench_count(&p, "done", "content", "Written, and seen."), 1);
    bench_free(&p);
    bench_signal(&server, SIGTERM);
    bench_finish(&server);
    bench_free(&server);
    bench_close(&b);
}

static void bad_input_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *words, *config;
        int status;
        const char *reported;
    } rows[] = {
        {"agent hello", NULL, 3, "no model is configured"},
        {"agent hello --llm rules", NULL, 3, "no model is configured"},
        {"agent ' ' --llm script:/dev/null", NULL, 2, "nothing to say"},
        {"agent hi --llm script:/nowhere.yaml", NULL, 2, "/nowhere.yaml"},
        {"agent hi --session 'a b' --llm script:X", NULL, 2, "no spaces"},
        {"agent hi --llm script:X", "graph:\n  nodes:\n    agnt: {}\n", 2,
         "graph_config.yaml:3:11"},
        {"agent hi --llm script:X", "graph:\n  nodes:\n    agent: {tools: [lok]}\n", 2,
         "no category named lok"},
        {"agent hi --llm script:X", "graph:\n  tools:\n    risk: {core: blocked}\n", 2,
         "there is no tool named core"},
        {"agent hi --llm script:X", "graph:\n  tools:\n    risk: {termnal: blocked}\n", 2,
         "there is no tool named termnal, did you mean 'terminal'?"},
        {"agent hi --llm script:X", "graph:\n  tools:\n    risk: {sing: dangerous}\n", 1,
         "there is no tool named sing"},
        {"agent hi --llm script:X", "graph:\n  tools:\n    approve:\n    - terminal\n    - core\n",
         2, "graph_config.yaml:5:7"},
        {"agent hi --llm script:X", "graph: {nodes: [\n", 2, "graph_config.yaml:"},
        {"graph show agent", "graph:\n  nodes:\n    planner: {enabled: 7}\n", 2,
         "graph_config.yaml:3:24"},
        {"agent hi --llm script:X", NULL, 1, "overloaded"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        proc p;
        char words[512], path[256];
        bench_open(&b);
        bench_file(&b, "s.yaml", "replies: [{error: {status: 500, message: overloaded}}]\n");
        snprintf(words, sizeof words, "%s", rows[i].words);
        char *x = strstr(words, "script:X");
        if (x) {
            snprintf(x, (size_t)(words + sizeof words - x), "script:%s/s.yaml", b.dir);
        }
        if (rows[i].config) {
            mkdir(b.workspace, 0700);
            snprintf(path, sizeof path, "%s/graph_config.yaml", b.workspace);
            FILE *f = fopen(path, "w");
            assert_non_null(f);
            fputs(rows[i].config, f);
            fclose(f);
        }
        bench_start(&b, &p, NULL, words);
        const int status = bench_finish(&p);
        char *err = bench_stderr(&p);
        if (status != rows[i].status || !strstr(err, rows[i].reported)) {
            fail_msg("row %zu: %d: %s", i, status, err);
        }
        free(err);
        bench_free(&p);
        bench_close(&b);
    }
}

static void a_robot_moves_once(void **state)
{
    (void)state;
    bench b;
    proc body, p;
    char words[256];
    bench_open(&b);
    mkdir(b.workspace, 0700);
    bench_start_body(&b, &body, "--driver kinematic --speed 4 --seed 3");
    bench_file(&b, "s1.yaml",
               "replies:\n- tool_calls: [{name: navigate_to_pose, arguments: {zone: kitchen}}]\n"
               "- content: never said\n");
    bench_file(&b, "s2.yaml",
               "replies:\n- {when: {messages.-1.content: {contains: navigate_to_pose done}}, "
               "content: I am in the kitchen}\n- content: what happened\n");
    snprintf(words, sizeof words, "agent --json 'go to the kitchen' --llm script:%s/s1.yaml",
             b.dir);
    bench_start(&b, &p, NULL, words);
    bench_ledger_await(&b, "started", 1);
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    snprintf(words, sizeof words, "resume agent --json --llm script:%s/s2.yaml", b.dir);
    bench_start(&b, &p, NULL, words);
    must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "done", "content", "I am in the kitchen"), 1);
    bench_free(&p);
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 1);
    assert_int_equal(bench_ledger_count(&b, NULL, "done"), 1);
    bench_ledger_check(&b);
    bench_signal(&body, SIGTERM);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

// What `pons approve SESSION always` allows is not asked again, of these words and no others.
static void always_from_elsewhere(void **state)
{
    (void)state;
    static const char *const touch =
                                 "replies:\n- tool_calls: [{name: terminal, arguments: {command: "
                                 "'touch x; rm x'}}]\n- content: done\n",
                             *const more =
                                 "replies:\n- tool_calls: [{name: terminal, arguments: {command: "
                                 "'touch x; rm x y'}}]\n";
    bench b;
    bench_open(&b);
    assert_int_equal(say(&b, touch, "agent go", NULL, NULL), 4);
    bench_must_fail(&b, "approve agent always tool", 2, "allowed word for word");
    assert_int_equal(bench_run(&b, "approve agent always"), 0);
    assert_int_equal(say(&b, "replies:\n- content: done\n", "resume agent", NULL, NULL), 0);
    assert_int_equal(say(&b, touch, "agent again", NULL, NULL), 0);
    assert_int_equal(say(&b, more, "agent more", NULL, NULL), 4);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(always_from_elsewhere, bench_teardown),
        cmocka_unit_test_teardown(a_turn_for_people, bench_teardown),
        cmocka_unit_test_teardown(a_model_knows_the_day_and_the_language, bench_teardown),
        cmocka_unit_test_teardown(a_models_words_command_no_terminal, bench_teardown),
        cmocka_unit_test_teardown(a_memory_outlives_its_session, bench_teardown),
        cmocka_unit_test_teardown(a_plan_for_programs, bench_teardown),
        cmocka_unit_test_teardown(a_question_is_answered_from_elsewhere, bench_teardown),
        cmocka_unit_test_teardown(a_chat_on_a_terminal, bench_teardown),
        cmocka_unit_test_teardown(a_chat_by_lines, bench_teardown),
        cmocka_unit_test_teardown(a_chinese_user_is_asked_in_chinese, bench_teardown),
        cmocka_unit_test_teardown(one_answer_of_six_counts, bench_teardown),
        cmocka_unit_test_teardown(a_question_hides_nothing, bench_teardown),
        cmocka_unit_test_teardown(lines_however_they_come, bench_teardown),
        cmocka_unit_test_teardown(a_turn_that_was_cut_short_comes_first, bench_teardown),
        cmocka_unit_test_teardown(a_model_server_answers, bench_teardown),
        cmocka_unit_test_teardown(bad_input_is_told, bench_teardown),
        cmocka_unit_test_teardown(a_robot_moves_once, bench_teardown),
    };
    return bench_together("agent", tests, sizeof tests / sizeof tests[0]);
}
