// test_language.c - a person who has set Chinese, or writes it, is shown Chinese; programs are shown values as they are.
#include "cli_bench.h"
#include "pons/language.h"
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
    must_say(&b, "run " FAST " --thread failed 'wait 1 second'", 0, "wait 1 second: 成功");
    must_say(&b, "threads", 0, "failed ");
    must_say(&b, "threads show failed", 0, "failed");
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
    setenv("PONS_LANGUAGE", "en", 1);
    must_say(&b, "run --speed x 去厨房", 2, "--speed takes a number");
    setenv("PONS_LANGUAGE", "", 1);
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
        cmocka_unit_test_teardown(without_a_catalogue, bench_teardown),
    };
    setenv("PONS_LANGUAGE", "", 1); // as if it were not set
    return cmocka_run_group_tests_name("language", tests, NULL, NULL);
}
