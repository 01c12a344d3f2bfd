// test_language.c - a person who has set Chinese, or writes it, is shown Chinese; programs are shown values as they are.
#include "cli_bench.h"
#include "pons/language.h"
#include "terminal.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *output(bench *b, const char *words, int status)
{
    proc p = {0};
    bench_start(b, &p, NULL, words);
    bench_must_exit(&p, status);
    char *text = strdup(p.text ? p.text : "");
    char *err = bench_stderr(&p);
    char *both = malloc(strlen(text) + strlen(err) + 1);
    assert_non_null(both);
    strcpy(both, text);
    strcat(both, err);
    free(text);
    free(err);
    bench_free(&p);
    return both;
}

static void must_say(bench *b, const char *words, int status, const char *says)
{
    char *text = output(b, words, status);
    if (!strstr(text, says)) {
        fail_msg("%s: no '%s' in: %s", words, says, text);
    }
    free(text);
}

// A sentence of English in what is shown: three words of small letters, outside of `…`.
static const char *english_in(char *text)
{
    int words = 0;
    for (char *at = text; *at;) {
        const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        words = n > 1 && (at[n] == ' ' || at[n] == '\n' || at[n] == '\0') ? words + 1 : 0;
        if (words >= 4) {
            return at;
        }
        at += n + (at[n] != '\0');
        if (n > 0 && at[-1] != ' ') {
            words = 0;
        }
    }
    return NULL;
}

static void no_english(bench *b, const char *screen)
{
    char *text = output(b, screen, 0);
    const char *english = english_in(text);
    if (english) {
        fail_msg("%s: English before: %.60s", screen, english);
    }
    free(text);
}

static void by_the_environment(void **state)
{
    (void)state;
    static const char *const screens[] = {"help",   "help run", "help map", "help agent",
                                          "doctor", "status",   "threads"};
    bench b;
    bench_open(&b);
    setenv("LC_ALL", "zh_CN.UTF-8", 1);
    must_say(&b, "status", 3, "没有工作区");
    must_say(&b, "frobnicate", 2, "“frobnicate”");
    must_say(&b, "run " FAST " 'go to the study'", 0, "成功");
    for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++) {
        no_english(&b, screens[i]);
    }
    char *values = output(&b, "status --json", 0);
    assert_non_null(strstr(values, "The goal is done."));
    free(values);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    must_say(&b, "run --speed x", 2, "--speed takes a number");
    setenv("PONS_LANGUAGE", "zh", 1);
    must_say(&b, "run --speed x", 2, "--speed 接受 0.1 到 100 的数");
    setenv("PONS_LANGUAGE", "", 1);
    unsetenv("LC_ALL");
    bench_close(&b);
}

// What is data stays what it is: a thread's name that is a word of pons's, and a task's words that are like a message.
static void names_are_not_translated(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    setenv("LC_ALL", "zh_CN.UTF-8", 1);
    must_say(&b, "run " FAST " --thread failed 'wait 1 second'", 0, "wait 1 second：成功");
    must_say(&b, "threads", 0, "failed ");
    must_say(&b, "threads show failed", 0, "failed");
    must_say(&b, "run " FAST " --thread battery 'wait 1 second'", 0,
             "成功"); // also the name of a column
    must_say(&b, "threads", 0, "battery  ");
    must_say(&b, "threads show queued", 2, "没有线程 queued");
    unsetenv("LC_ALL");
    bench_close(&b);
}

static void by_what_is_typed(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    setenv("LC_ALL", "C.UTF-8", 1);
    must_say(&b, "run " FAST " 去厨房", 0, "目标已完成");
    must_say(&b, "seen 杯子", 1, "没有见过");
    must_say(&b, "去厨房", 2, "没有命令“去厨房”");
    // A path, an id and an option's value say nothing of who types.
    must_say(&b, "map import 地图.yaml", 2, "a world's name has letters");
    must_say(&b, "run --thread 线程 " FAST " 'go to the kitchn'", 2, "did you mean kitchen?");
    must_say(&b, "places forget 充电角", 2, "there is no");
    setenv("PONS_LANGUAGE", "en", 1);
    must_say(&b, "run --speed x 去厨房", 2, "--speed takes a number");
    setenv("PONS_LANGUAGE", "", 1);
    bench_close(&b);
}

// In 60 columns labels and what stands beside them line up, no row begins with a mark that closes, and what is shown while
// a robot works is in one language.
static void rows_of_chinese(void **state)
{
    (void)state;
    static terminal term;
    static const char *const closing[] = {"，", "。", "；", "：", "）", "”", "、", "？"};
    static const char *const env[] = {"TERM=xterm", "LC_ALL=zh_CN.UTF-8", "PONS_LANGUAGE=", NULL};
    bench b;
    bench_open(&b);
    const char *const argv[] = {PONS_BINARY_DIR "/pons",
                                "--workspace",
                                b.workspace,
                                "run",
                                "--driver",
                                "kinematic",
                                "--thread",
                                "t",
                                NULL};
    terminal_open(&term, NULL, 60, 40, argv, env);
    terminal_await(&term, "kinematic pons-1，世界 house，");
    terminal_type(&term, "/help\r");
    terminal_await(&term, "/quit");
    assert_true(terminal_ever(&term, "          /stop      立即触发保护性停止并锁存\n"));
    assert_true(terminal_ever(&term, "          /approve   同意未答的问题；也可用 reject 原因、\n"
                                     "                     edit JSON、answer 文字\n"));
    terminal_type(&term, "去厨访\r");
    terminal_await(&term, "  任务    去厨访：失败。没有叫“厨访”的地方，是不是指“厨房”？");
    terminal_type(&term, "去厨房\r");
    terminal_await(&term, "目标 1 / 1：去 kitchen。");
    terminal_type(&term, "巡逻\r");
    terminal_await(&term, "  任务    巡逻：排在正在做的任务后面");
    terminal_await(&term, "  电量 ");
    terminal_type(&term, "停\r");
    terminal_await(&term, "  停止    已锁存：有人说了停止");
    terminal_type(&term, "去书房\r");
    terminal_await(&term, "`pons continue`");
    for (const char *row = terminal_screen(&term); row; row = strchr(row, '\n')) {
        row += strspn(row, "\n ");
        for (size_t i = 0; i < sizeof closing / sizeof closing[0]; i++) {
            assert_int_not_equal(strncmp(row, closing[i], strlen(closing[i])), 0);
        }
    }
    assert_string_equal(term.bad, "");
    terminal_type(&term, "\003");
    assert_int_equal(terminal_end(&term), 4);
    terminal_close(&term);
    bench_end_body(&b);
    bench_close(&b);
}

// Without a catalogue, and with a damaged one, it is English.
static void without_a_catalogue(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    setenv("LC_ALL", "zh_CN.UTF-8", 1);
    snprintf(b.share, sizeof b.share, "%s/share", b.dir);
    char path[256];
    assert_int_equal(mkdir(b.share, 0700), 0);
    snprintf(path, sizeof path, "%s/ui", b.share);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/ui/messages.zh.json", b.share);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"a\": 1", f);
    fclose(f);
    must_say(&b, "frobnicate", 2, "there is no command 'frobnicate'");
    unsetenv("LC_ALL");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(by_the_environment, bench_teardown),
        cmocka_unit_test_teardown(names_are_not_translated, bench_teardown),
        cmocka_unit_test_teardown(by_what_is_typed, bench_teardown),
        cmocka_unit_test_teardown(rows_of_chinese, bench_teardown),
        cmocka_unit_test_teardown(without_a_catalogue, bench_teardown),
    };
    setenv("PONS_LANGUAGE", "", 1); // as if it were not set
    return cmocka_run_group_tests_name("language", tests, NULL, NULL);
}
