// test_companion.c - `pons companion run|status|log|why|message` as a person and a program meet it:
// a simulated week twice, a readable day, a life that is killed in its sleep and goes on, messages
// from another process, one life a workspace, a model that stalls, and what wrong words say.
//
// No test waits for a real minute: lives are simulated, as fast as they go or some minutes a second
// where something has to happen meanwhile. tests/companion has the life itself.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEEK  "companion run --days 7 --from 2026-03-02 --json"
#define NIGHT "companion run --days 1 --from 2026-03-02T22:00 --seed 4 --json"

static char *whole_week(const char *words)
{
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    char *text = strdup(p.text);
    assert_true(bench_count(&p, "tick", NULL, NULL) == 7 * 24 * 60);
    assert_true(bench_count(&p, "action.started", NULL, NULL) > 25);
    bench_free(&p);
    bench_close(&b);
    return text;
}

static void a_week_twice(void **state)
{
    (void)state;
    char *a = whole_week(WEEK " --seed 1"), *b = whole_week(WEEK " --seed 1");
    char *other = whole_week(WEEK " --seed 2");
    assert_string_equal(a, b);
    assert_string_not_equal(a, other);
    free(a);
    free(b);
    free(other);
}

static void a_readable_day(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "companion run --days 1 --from 2026-03-02 --seed 1");
    bench_must_exit(&p, 0);
    assert_true(strncmp(p.text, "2026-03-02 Monday, school\n", 26) == 0);
    assert_non_null(strstr(p.text, "  07:20 – 07:"));
    assert_non_null(strstr(p.text, "go to school         RoutineFallback.School"));
    assert_non_null(strstr(p.text, " – 16:30  study                RoutineFallback.Study"));
    bench_free(&p);
    bench_start(&b, &p, NULL, "companion why 2026-03-02T07:20");
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "go to school, by RoutineFallback.School"));
    assert_non_null(strstr(p.text, "InWindow(school_run): yes"));
    bench_free(&p);
    bench_start(&b, &p, NULL, "companion log --from 2026-03-02T07:20");
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "2026-03-02T07:20  action.started   go to school until 07:"));
    bench_free(&p);
    bench_must_fail(&b, "companion why 2026-03-05", 2, "nothing is known of 2026-03-05");
    bench_close(&b);
}

// What status says lasts, "" for nothing, and whether somebody lives it.
static void must_last(bench *b, const char *type, bool lives)
{
    pons_value *s = NULL;
    assert_int_equal(bench_run_json(b, "companion status --json", &s), 0);
    assert_string_equal(pons_get_str(pons_get(s, "activity"), "type", ""), type);
    assert_int_equal(json_is_integer(pons_get(s, "pid")), lives);
    pons_value_unref(s);
}

// What was told of that time; NULL: nothing.
static const pons_value *tick_at(const pons_value *events, const char *time)
{
    size_t i;
    const pons_value *ev;
    json_array_foreach(events, i, ev) {
        if (strcmp(pons_get_str(ev, "type", ""), "tick") == 0 &&
            strcmp(pons_get_str(ev, "time", ""), time) == 0) {
            return ev;
        }
    }
    return NULL;
}

// Goes on at its last commit: minutes without news may have been shown since, however many passed until the
// kill. They are lived again, and come out the same.
static void must_go_on_from(const proc *p, const pons_value *shown, const char *until)
{
    static const char goes_on[] = "the life goes on at ";
    const char *news = "", *first = NULL;
    int again = 0;
    size_t i;
    const pons_value *ev;
    json_array_foreach(shown, i, ev) {
        const bool tick = strcmp(pons_get_str(ev, "type", ""), "tick") == 0;
        news = tick ? news : pons_get_str(ev, "time", "");
    }
    json_array_foreach(p->events, i, ev) {
        const char *time = pons_get_str(ev, "time", "");
        const bool tick = strcmp(pons_get_str(ev, "type", ""), "tick") == 0;
        first = first || !tick ? first : time;
        const pons_value *was = tick ? tick_at(shown, time) : NULL;
        if (was) {
            assert_true(json_equal(was, ev));
            again++;
        }
    }
    assert_in_range(again, 0, 60); // what is committed together
    char *err = bench_stderr(p);
    const char *at = strstr(err, goes_on);
    assert_non_null(at);
    at += strlen(goes_on);
    assert_non_null(first);
    assert_int_equal(strncmp(at, first, strlen(first)), 0);
    assert_true(strcmp(first, news) > 0 && strcmp(first, until) < 0);
    free(err);
}

static void sleep_outlives_a_kill(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char until[40];
    bench_open(&b);
    bench_start(&b, &p, NULL, NIGHT " --speed 300"); // 5 minutes a second
    const pons_value *sleep = bench_await(&p, "action.started", NULL, NULL);
    assert_string_equal(pons_get_str(pons_get(sleep, "action"), "type", ""), "sleep");
    snprintf(until, sizeof until, "%s", pons_get_str(sleep, "until", ""));
    must_last(&b, "sleep", true);
    bench_signal(&p, SIGKILL);
    assert_int_equal(bench_finish(&p), 128 + SIGKILL);
    pons_autovalue shown = pons_value_ref(p.events);
    bench_free(&p);
    must_last(&b, "sleep", false);
    bench_start(&b, &p, NULL, NIGHT); // the same words go on with it
    const pons_value *ended = bench_await(&p, "action.ended", NULL, NULL);
    assert_string_equal(pons_get_str(pons_get(ended, "action"), "type", ""), "sleep");
    assert_string_equal(pons_get_str(ended, "time", ""), until);
    assert_string_equal(pons_get_str(ended, "status", ""), "done");
    bench_must_exit(&p, 0);
    must_go_on_from(&p, shown, until);
    bench_free(&p);
    bench_close(&b);
}

static void messages_at_night(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, NIGHT " --speed 300"); // the night is some ninety seconds
    bench_await(&p, "action.started", NULL, NULL);   // sleeps
    assert_int_equal(bench_run(&b, "companion message 'are you awake?' --sender bob"), 0);
    const pons_value *said = bench_await(&p, "external.message", "text", "are you awake?");
    assert_string_equal(pons_get_str(said, "from", ""), "bob");
    bench_await(&p, "filtered", "rule", "message_waits");
    must_last(&b, "sleep", true);
    assert_int_equal(bench_run(&b, "companion message 'come quickly' --urgent"), 0);
    bench_await(&p, "external.message", "text", "come quickly");
    const pons_value *wakes = bench_await(&p, "decision", "branch", "Emergency");
    assert_string_equal(pons_get_str(pons_get(wakes, "action"), "type", ""), "wake");
    bench_signal(&p, SIGTERM);
    assert_int_equal(bench_finish(&p), 0);
    bench_free(&p);
    bench_close(&b);
}

// In real time: the minute at hand is lived at once, and the next one is not waited for here.
static void one_life_in_real_time(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "companion run --json");
    bench_await(&p, "decision", NULL, NULL);
    bench_must_fail(&b, "companion run", 3, "is held by pid");
    bench_must_fail(&b, WEEK, 3, "lives here in real time");
    bench_signal(&p, SIGINT);
    assert_int_equal(bench_finish(&p), 0);
    bench_free(&p);
    bench_must_fail(&b, WEEK, 3, "lives here in real time");
    bench_close(&b);
}

// The world view changes while it is lived by: taken up at the next minute, and told. A wrong one, and one
// that the life in hand does not fit, are told and nothing changes.
static void a_world_view_that_changes(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "s/^timezone:.*/timezone: nowhere/",
        "s/^windows:/windowz:/",
    };
    bench b;
    proc p = {0};
    char command[1200];
    bench_open(&b);
    bench_start(&b, &p, NULL,
                "companion run --days 3 --from 2026-03-02 --seed 1 --speed 1200 --json");
    bench_await(&p, "decision", NULL, NULL);
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const bool good = i == sizeof bad / sizeof *bad;
        snprintf(command, sizeof command,
                 "mkdir -p '%s/config' && sed '%s' '" PONS_SOURCE_DIR
                 "/config/world-view.yaml' > '%s/new' && mv '%s/new' '%s/config/world-view.yaml'",
                 b.workspace, good ? "s/^  *minutes: .*/&/;s/# */# /" : bad[i], b.workspace,
                 b.workspace, b.workspace);
        assert_int_equal(system(command), 0);
        const pons_value *reported = bench_await(&p, "view.changed", NULL, NULL);
        assert_int_equal(pons_get_bool(reported, "taken_up", !good), good);
        if (!good) {
            assert_non_null(strstr(pons_get_str(reported, "reason", ""), "world-view.yaml:"));
        }
        bench_await(&p, "tick", NULL, NULL); // it lives on
    }
    assert_int_equal(bench_count(&p, "view.changed", NULL, NULL), 3);
    bench_signal(&p, SIGINT);
    assert_int_equal(bench_finish(&p), 0);
    bench_free(&p);
    bench_close(&b);
}

static void a_model_that_stalls(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char words[400];
    bench_open(&b);
    const char *replies = bench_file(&b, "m.yaml",
                                     "- content: '{}'\n  delay_ms: 3600000\n"
                                     "  repeat: true\n");
    snprintf(words, sizeof words, "%s --seed 1 --llm script:%s",
             "companion run --days 1 --from 2026-03-02 --json", replies);
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    assert_true(bench_count(&p, "filtered", "rule", "model_failed") > 0);
    // Asleep at midnight, up, to school, lessons, home, to bed: the routine's day.
    assert_int_equal(bench_count(&p, "action.started", NULL, NULL), 6);
    bench_free(&p);
    bench_close(&b);
}

// In a store that is damaged, or that something else wrote into.
static void times_that_are_missing(void **state)
{
    (void)state;
    static const char *const spoils[] = {"s/until/untix/g", "s/\"until\":\"2026-03-0/"
                                                            "\"until\":\"\",\"x\":\"-0/g"};
    static const char *const looks[] = {"companion status", "companion log"};
    bench b;
    proc p = {0};
    char command[300];
    for (size_t i = 0; i < 2; i++) {
        bench_open(&b);
        bench_start(&b, &p, NULL, NIGHT " --speed 1200");
        bench_await(&p, "action.started", NULL, NULL); // sleeps
        bench_signal(&p, SIGTERM);
        assert_int_equal(bench_finish(&p), 0);
        bench_free(&p);
        snprintf(command, sizeof command, "LC_ALL=C sed -i '%s' '%s/pons.db'", spoils[i],
                 b.workspace);
        assert_int_equal(system(command), 0);
        bench_start(&b, &p, NULL, looks[i]);
        bench_must_exit(&p, 0);
        assert_non_null(strstr(p.text, "until --:--"));
        bench_free(&p);
        bench_close(&b);
    }
}

static void wrong_words(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"companion", "use `pons companion run`"},
        {"companion dance", "it takes run, status"},
        {"companion message", "use `pons companion run`"},
        {"companion run --days 0", "--days takes a number"},
        {"companion run --days x", "--days takes a number"},
        {"companion run --from 2026-03-02", "--from needs --days"},
        {"companion run --days 1 --from tomorrow", "not a time: 'tomorrow'"},
        {"companion run --days 1 --from 2026-03-02 --llm fax:1", "fax"},
        {"companion run --days 1 --world-view nowhere.yaml", "nowhere.yaml"},
        {"companion run --days 1 --tree nowhere.mdsl", "nowhere.mdsl"},
        {"companion status", "no companion lives here yet"},
        {"companion log", "no companion lives here yet"},
        {"companion why 07:20", "no companion lives here yet"},
    };
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench_must_fail(&b, rows[i][0], 2, rows[i][1]);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_week_twice, bench_teardown),
        cmocka_unit_test_teardown(a_readable_day, bench_teardown),
        cmocka_unit_test_teardown(sleep_outlives_a_kill, bench_teardown),
        cmocka_unit_test_teardown(messages_at_night, bench_teardown),
        cmocka_unit_test_teardown(one_life_in_real_time, bench_teardown),
        cmocka_unit_test_teardown(a_world_view_that_changes, bench_teardown),
        cmocka_unit_test_teardown(a_model_that_stalls, bench_teardown),
        cmocka_unit_test_teardown(times_that_are_missing, bench_teardown),
        cmocka_unit_test_teardown(wrong_words, bench_teardown),
    };
    return bench_together("companion", tests, sizeof tests / sizeof *tests);
}
