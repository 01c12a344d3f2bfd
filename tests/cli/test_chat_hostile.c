// test_chat_hostile.c - a chat under attack: a model that writes to the terminal wherever it can, lines without
// an end, a terminal of every size, Ctrl-C at every moment.
#include "cli_bench.h"
#include "pons/buf.h"
#include "terminal.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];
static terminal term;

static void open_chat(bench *b, const char *script, const char *config, int columns, int rows)
{
    static char llm[256], own[256];
    char path[512];
    bench_file(b, "script.yaml", script);
    snprintf(llm, sizeof llm, "script:%s/script.yaml", b->dir);
    snprintf(own, sizeof own, "%s", b->workspace);
    snprintf(folder, sizeof folder, "%s/repo", b->dir);
    mkdir(folder, 0700);
    mkdir(own, 0700);
    if (config) {
        snprintf(path, sizeof path, "%s/graph_config.yaml", own);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(config, f);
        fclose(f);
    }
    const char *argv[] = {PONS_BINARY_DIR "/pons",
                          "--workspace",
                          own,
                          "agent",
                          "--llm",
                          llm,
                          "--folder",
                          folder,
                          NULL};
    terminal_open(&term, folder, columns, rows, argv, NULL);
    terminal_await(&term, "agent >");
}

static void leave(bench *b)
{
    terminal_type(&term, "\004");
    assert_int_equal(terminal_end(&term), 0);
    assert_string_equal(term.bad, "");
    terminal_close(&term);
    bench_close(b);
}

#define EVIL "\\e[2J\\e]0;t\\a\\x9b5n\\u202eyes\\u2066\\r\\b\\u200b"

// Whatever is asked, listed or shown: the terminal gets text, and a text that runs backwards is spelled out.
static void questions_are_text(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    open_chat(&b,
              "replies:\n"
              "- tool_calls: [{name: write_file, arguments: {path: \"a" EVIL
              "z.txt\", content: \"x" EVIL "\\n\"}}]\n"
              "- tool_calls: [{name: terminal, arguments: {command: \"echo " EVIL "; rm x\"}}]\n"
              "- tool_calls: [{name: plan_create, arguments: {title: \"T" EVIL
              "\", steps: [{title: \"S" EVIL "\", description: \"D" EVIL "\", action: \"A" EVIL
              "\", tool_call_type: ask_user, parameters: {prompt: \"Q" EVIL
              "?\"}}, {title: c, action: c, tool_call_type: noop, requires_confirmation: true, "
              "confirmation_message: \"C" EVIL "?\"}]}}]\n"
              "- content: \"the end " EVIL "\"\n",
              "graph:\n  nodes:\n    approval: {enabled: true}\n", 80, 24);
    terminal_type(&term, "go \342\200\256 there\r");
    terminal_await(&term, "may it call");
    terminal_await(&term, "u{202e}");
    terminal_type(&term, "always\r");
    terminal_await(&term, "carry out this plan");
    terminal_type(&term, "y\r");
    terminal_await(&term, "ask   Q");
    terminal_type(&term, "/always\r");
    terminal_type(&term, "/plan\r");
    terminal_type(&term, "an answer\r");
    terminal_await(&term, "y, or n REASON");
    terminal_type(&term, "y\r");
    terminal_await(&term, "the end");
    terminal_type(&term, "/undo list\r");
    terminal_type(&term, "/sessions\r");
    terminal_type(&term, "/undo\r");
    terminal_await_past(&term, "removed a");
    for (size_t i = 0; i + 2 < term.n_raw; i++) { // U+202E, U+2066: as bytes they never come
        assert_false(memcmp(&term.raw[i], "\342\200\256", 3) == 0);
        assert_false(memcmp(&term.raw[i], "\342\201\246", 3) == 0);
    }
    leave(&b);
}

// An answer of one line that has no end, and a tool's: both are shown, and the chat goes on.
static void lines_without_an_end(void **state)
{
    (void)state;
    enum { BYTES = 1000000 };
    bench b;
    char *line = malloc(BYTES + 1);
    pons_autobuf script = PONS_BUF_INIT;
    assert_non_null(line);
    memset(line, 'w', BYTES);
    line[BYTES] = '\0';
    bench_open(&b);
    snprintf(folder, sizeof folder, "%s/repo", b.dir);
    mkdir(folder, 0700);
    char path[512];
    snprintf(path, sizeof path, "%s/long.txt", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(line, f);
    fclose(f);
    pons_buf_printf(&script,
                    "replies:\n- tool_calls: [{name: read_file, arguments: {path: long.txt}}]\n"
                    "- {content: \"%s the end\", tokens: 1000}\n"
                    "- content: here\n",
                    line);
    open_chat(&b, script.data, NULL, 80, 24);
    terminal_type(&term, "go\r");
    terminal_await(&term, "the end");
    terminal_type(&term, "\014are you there?\r");
    terminal_await(&term, "here");
    free(line);
    leave(&b);
}

// A terminal of every size, all the time.
static void a_storm_of_sizes(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {2, 1},    {1, 100}, {200, 1}, {3, 2},
                                   {9, 4}, {200, 99}, {5, 50},  {80, 24}};
    bench b;
    bench_open(&b);
    open_chat(
        &b,
        "replies:\n- {content: \"# 标题\\n\\n一个很长的中文列表项目，宽度是不是正确的。\\n\\n| a | "
        "b |\\n|---|---|\\n| 客厅 | free |\\n\\nlast words\", tokens: 60, delay_ms: 1500}\n"
        "- {content: \"calm\"}\n",
        NULL, 80, 24);
    terminal_type(&term, "storm 厨房 and more words than one row of a small one has\r");
    for (int round = 0; round < 12; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            terminal_resize(&term, sizes[i][0], sizes[i][1]);
            bench_rest(2);
        }
    }
    terminal_await(&term, "last words");
    terminal_type(&term, "\014still?\r");
    terminal_await(&term, "calm");
    leave(&b);
}

// Ctrl-C at every moment of a turn with a tool, a question and a plan: the chat is there afterwards.
static void ctrl_c_at_every_moment(void **state)
{
    (void)state;
    static const struct {
        const char *await, *keys;
    } moments[] = {
        {"thinking", NULL},
        {"may it call", NULL},
        {"may it call", "y\r"}, // while it runs
        {"carry out this plan", NULL},
        {"carry out this plan", "y\r"},
        {"Which?", NULL},
    };
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        bench b;
        bench_open(&b);
        open_chat(&b,
                  "replies:\n"
                  "- {when: {messages.-1.content: {contains: are you}}, content: I am here}\n"
                  "- {tool_calls: [{name: terminal, arguments: {command: 'sleep 0.2; rm -f x'}}], "
                  "delay_ms: 300}\n"
                  "- {when: {messages.-1.content: {contains: are you}}, content: I am here}\n"
                  "- tool_calls: [{name: plan_create, arguments: {title: T, steps: [{title: s, "
                  "action: a, tool_call_type: ask_user, parameters: {prompt: 'Which?'}}]}}]\n"
                  "- {content: I am here, repeat: true}\n",
                  "graph:\n  nodes:\n    approval: {enabled: true}\n", 80, 24);
        terminal_type(&term, "go\r");
        const bool late = i >= 3;
        if (late) {
            terminal_await(&term, "may it call");
            terminal_type(&term, "y\r");
        }
        if (i >= 5) {
            terminal_await(&term, "carry out this plan");
            terminal_type(&term, "y\r");
        }
        terminal_await(&term, moments[i].await);
        if (moments[i].keys) {
            terminal_type(&term, moments[i].keys);
        }
        terminal_type(&term, "\003");
        terminal_await(&term, "(stopped)");
        terminal_type(&term, "\014are you there?\r");
        terminal_await(&term, "I am here");
        terminal_type(&term, "\004");
        const int status = terminal_end(&term);
        if (status != 0 || *term.bad) {
            fail_msg("moment %zu: %d, %s", i, status, term.bad);
        }
        terminal_close(&term);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(questions_are_text, bench_teardown),
        cmocka_unit_test_teardown(lines_without_an_end, bench_teardown),
        cmocka_unit_test_teardown(a_storm_of_sizes, bench_teardown),
        cmocka_unit_test_teardown(ctrl_c_at_every_moment, bench_teardown),
    };
    pons_value_init();
    return bench_together("chat-hostile", tests, sizeof tests / sizeof tests[0]);
}
