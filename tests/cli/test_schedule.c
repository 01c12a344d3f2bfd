// test_schedule.c - `pons schedule` as a person types it: kept, listed, paused and forgotten, done by a run that happens
// to be there, and what is no goal of a time is one clear line.
#include "cli_bench.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t listed(bench *b, char ret_id[32], bool *ret_enabled)
{
    proc p = {0};
    size_t n, i;
    json_t *row;
    bench_start(b, &p, NULL, "schedule list --json");
    bench_must_exit(&p, 0);
    n = json_array_size(p.events);
    json_array_foreach(p.events, i, row) {
        snprintf(ret_id, 32, "%s", pons_get_str(row, "id", ""));
        *ret_enabled = pons_get_bool(row, "enabled", false);
    }
    bench_free(&p);
    return n;
}

static void kept_and_forgotten(void **state)
{
    (void)state;
    bench b;
    char id[32] = "", words[96];
    bool on = false;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "schedule add 'every day at 9 go to the kitchen'"), 0);
    assert_int_equal(bench_run(&b, "schedule add 每天九点去厨房"), 0);
    assert_int_equal(
        bench_run(&b,
                  "schedule add --cron '0 9 * * mon-fri' --zone Europe/Berlin go to the kitchen"),
        0);
    assert_int_equal(listed(&b, id, &on), 3);
    assert_true(on);
    proc p = {0}; // kept, as a brain may have a model; but not without a word
    static const struct {
        const char *said, *reported;
        bool told;
    } rows[] = {{"water the plants", "the rules do not understand \"water the plants\"", true},
                {"patrol", "only a brain with a model", false},
                {"patrol the kichen", "did you mean kitchen?", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char command[96];
        snprintf(command, sizeof command, "schedule add every day at 9 %s", rows[i].said);
        bench_start(&b, &p, NULL, command);
        bench_must_exit(&p, 0);
        char *reported = bench_stderr(&p);
        assert_int_equal(strstr(reported, rows[i].reported) != NULL, rows[i].told);
        free(reported);
        bench_free(&p);
        listed(&b, id, &on);
        if (i > 0) {
            snprintf(command, sizeof command, "schedule remove %s", id);
            assert_int_equal(bench_run(&b, command), 0);
        }
    }
    assert_int_equal(bench_run(&b, "schedule add every day at 9 go slowly to the kitchen"), 0);
    listed(&b, id, &on);
    snprintf(words, sizeof words, "schedule remove %s", id);
    assert_int_equal(bench_run(&b, words), 0);
    listed(&b, id, &on);
    snprintf(words, sizeof words, "schedule remove %s", id);
    assert_int_equal(bench_run(&b, words), 0);
    assert_int_equal(listed(&b, id, &on), 3);
    snprintf(words, sizeof words, "schedule pause %s", id);
    assert_int_equal(bench_run(&b, words), 0);
    assert_int_equal(listed(&b, id, &on), 3);
    assert_false(on);
    snprintf(words, sizeof words, "schedule continue %s", id);
    assert_int_equal(bench_run(&b, words), 0);
    listed(&b, id, &on);
    assert_true(on);
    snprintf(words, sizeof words, "schedule remove %s s-nothing", id); // all or none
    bench_must_fail(&b, words, 2, "there is no s-nothing");
    assert_int_equal(listed(&b, id, &on), 3);
    snprintf(words, sizeof words, "schedule remove %s", id);
    assert_int_equal(bench_run(&b, words), 0);
    assert_int_equal(listed(&b, id, &on), 2);
    bench_close(&b);
}

static void refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"schedule add", "needs a goal"},
        {"schedule add 去厨房", "says no time"},
        {"schedule add every day at 9", "says no time"},
        {"schedule add 'every day at 9 stop'", "control word"},
        {"schedule add --at 9:00 continue", "control word"},
        {"schedule add --at 9:00 'at 10 go to the kitchen'", "says a time too"},
        {"schedule add every day at 9 faster", "only a person may say"},
        {"schedule add --at 9:00 'continue, slower'", "control word"},
        {"schedule add --at 25:00 去厨房", "no time like"},
        {"schedule add --at 'yesterday 9:00' 去厨房", "no time like"},
        {"schedule add --at '2027-02-30 9:00' 去厨房", "there is no day '2027-02-30'"},
        {"schedule add on february 30 at 9 go to the kitchen", "there is no day '02-30'"},
        {"schedule add 2月30日九点去厨房", "there is no day '02-30'"},
        {"schedule add every day at 9 and 17:30 go to the kitchen", "says no time"},
        {"schedule add tonight at 2 go to the kitchen", "says no time"},
        {"schedule add --cron '61 * * * *' 去厨房", "'61' is no minute"},
        {"schedule add --cron '0 0 30 2 *' 去厨房", "never due"},
        {"schedule add --every 10s 去厨房", "60 s"},
        {"schedule add --in 10m --at 9:00 去厨房", "one of --cron"},
        {"schedule add --in 10m --zone Mars/Base 去厨房", "no time zone 'Mars/Base'"},
        {"schedule add --in 10m --late soon 去厨房", "--late takes"},
        {"schedule add --in 10m --priority low 去厨房", "--priority takes background, user"},
        {"schedule add --in 10m --priority 0x50 去厨房", "a whole number from 0 to 1000"},
        {"schedule add --in 10m --priority 2.5 去厨房", "not '2.5'"},
        {"schedule add --in 10m --priority ' 50' 去厨房", "not ' 50'"},
        {"schedule add --in 10m --priority 1001 去厨房", "not '1001'"},
        {"run --priority 5e1 去厨房", "not '5e1'"},
        {"say --priority '' 去厨房", "--priority"},
        {"schedule remove", "needs an id"},
        {"schedule remove a..b", "there is no a..b"},
        {"schedule ad", "did you mean 'add'"},
        {"schedule add --cronn '* * * * *' x", "did you mean --cron"},
        {"shedule", "did you mean 'schedule'"},
    };
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_must_fail(&b, rows[i][0], 2, rows[i][1]);
    }
    bench_close(&b);
}

// Added by another process while a run is under way; and said as the run's own goal, which is then no task of its.
static void done_by_a_run_that_is_there(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char id[32];
    bool on;
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 等600秒");
    bench_await(&p, "effect", "state", "accepted");
    assert_int_equal(bench_run(&b, "schedule add --in 1s 等1秒"), 0);
    bench_await(&p, "schedule.due", "text", "等1秒");
    assert_int_equal(bench_run(&b, "cancel task-1"), 0);
    const pons_value *done = bench_await(&p, "task.done", "text", "等1秒");
    assert_string_equal(pons_get_str(done, "status", ""), "succeeded");
    bench_must_exit(&p, 1); // its own goal was cancelled
    assert_int_equal(bench_count(&p, "schedule.due", NULL, NULL), 1);
    bench_free(&p);
    assert_int_equal(listed(&b, id, &on), 0);
    bench_start(&b, &p, NULL, "run --json --thread u " FAST " 'go to the kitchen every day at 9'");
    bench_await(&p, "schedule.added", NULL, NULL);
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "task.queued", NULL, NULL), 0);
    bench_free(&p);
    assert_int_equal(listed(&b, id, &on), 1);
    bench_must_fail(&b, "run " FAST " 'every day at 9 go to the cellar'", 2, "cellar");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(kept_and_forgotten, bench_teardown),
        cmocka_unit_test_teardown(refused, bench_teardown),
        cmocka_unit_test_teardown(done_by_a_run_that_is_there, bench_teardown),
    };
    return bench_together("schedule", tests, sizeof tests / sizeof tests[0]);
}
