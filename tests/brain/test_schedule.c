// test_schedule.c - goals of a time: said in words or put into the store, done once each at their time, whoever dies
// in between, whatever clocks do, and told where they are not done. The brain's clock is the test's; each test counts
// the goals that the body took.
#include "brain_bench.h"
#include "pons/brain_schedule.h"
#include "pons/schedule.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define NS       "test.schedules"
#define SOON     3.0
#define MINUTE   INT64_C(60000)
#define HOUR     (60 * MINUTE)
#define DAY      (24 * HOUR)
#define EARLY_MS 1700006400000 // 2023-11-15 00:00 UTC

static pons_items items(const bench *b)
{
    return (pons_items){.store = b->memory, .clock = b->clock};
}

static void wall(bench *b, int64_t ms) // what the wall clock shows now
{
    b->time.wall_epoch_ms = ms - b->time.now_ns / PONS_NS_PER_MS;
}

static void ready(bench *b)
{
    setenv("TZ", "UTC", 1);
    bench_open(b, NULL);
    b->schedules = NS;
    b->keep_running = true;
    wall(b, EARLY_MS);
    bench_brain(b);
    bench_run(b, 1.0);
}

static const char *add(bench *b, const char *schedule, const char *text, int64_t late_ms)
{
    static char id[64];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue v = NULL;
    const pons_items it = items(b);
    const pons_schedule_goal g = {
        .text = text, .schedule = schedule, .zone = "UTC", .late_ms = late_ms};
    assert_int_equal(pons_schedule_goal_make(&g, pons_wall_ms(&b->clock), &v, &err), PONS_OK);
    assert_int_equal(pons_schedule_goal_put(&it, NS, v, &err), PONS_OK);
    snprintf(id, sizeof id, "%s", pons_get_str(v, "id", ""));
    return id;
}

static pons_value *item(bench *b, const char *id) // NULL: there is none
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue row = NULL;
    const pons_items it = items(b);
    return pons_items_get(&it, NS, id, &row, &err) < 0 ? NULL
                                                       : pons_value_ref(pons_get(row, "value"));
}

static size_t kept(bench *b)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue all = NULL;
    const pons_items it = items(b);
    pons_items_search(&it, &(pons_items_query){.prefix = NS, .limit = -1}, &all, &err);
    return json_array_size(all);
}

static int ways(const bench *b)
{
    return bench_starts(b, "navigate_to_pose");
}

static void carry_away(bench *b) // out of the kitchen, so that it has to go there again
{
    b->x = b->y = 2.5;
}

static void said_in_both_languages(void **state)
{
    (void)state;
    static const struct {
        const char *text, *schedule, *goal;
    } rows[] = {{"every day at 9 go to the kitchen", "0 9 * * *", "go to the kitchen"},
                {"每天九点去厨房", "0 9 * * *", "去厨房"},
                {"go to the bedroom in 10 minutes", "in 600s", "go to the bedroom"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        ready(&b);
        bench_say(&b, rows[i].text);
        pons_autovalue kept_item = pons_value_ref(
            pons_get(bench_await(&b, "schedule.added", NULL, NULL, SOON), "schedule"));
        assert_string_equal(pons_get_str(kept_item, "schedule", ""), rows[i].schedule);
        assert_string_equal(pons_get_str(kept_item, "text", ""), rows[i].goal);
        assert_int_equal(kept(&b), 1);
        bench_run(&b, SOON);
        assert_int_equal(ways(&b), 0); // not now
        assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 0);
        wall(&b, pons_get_int(kept_item, "next_ms", 0));
        bench_await(&b, "task.done", "status", "succeeded", 20.0);
        assert_int_equal(ways(&b), 1);
        assert_int_equal(kept(&b), i < 2); // what was for one time is gone
        bench_close(&b);
    }
}

// How fast is heard when the time has come; said each day, it is slow, and not slower each day.
static void slowly_at_a_time(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.pace = 100;
    bench_run(&b, 1.0);
    bench_say(&b, "every day at 9 go slowly to the kitchen");
    bench_await(&b, "schedule.added", NULL, NULL, SOON);
    assert_int_equal(b.pace, 100);
    const double x = b.x, y = b.y;
    for (int day = 0; day < 3; day++) {
        b.x = x; // not there yet
        b.y = y;
        wall(&b, EARLY_MS + day * DAY + 9 * HOUR);
        bench_await(&b, "task.done", "status", "succeeded", 20.0);
        assert_int_equal(b.pace, 50);
        assert_int_equal(ways(&b), day + 1);
    }
    bench_close(&b);
}

static void what_is_said_and_cannot_be(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "every day at 9 go to the cellar",        "每天九点继续",
        "every day at 9 at 10 go to the kitchen", "every day at 9 faster",
        "every day at 9 continue, slower",        "on february 30 at 9 go to the kitchen",
        "today at 0:00 go to the kitchen"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bench b;
        ready(&b);
        bench_say(&b, texts[i]);
        const pons_value *p = bench_await(&b, "schedule.refused", "text", texts[i], SOON);
        assert_string_not_equal(pons_get_str(p, "reason", ""), "");
        assert_int_equal(kept(&b), 0);
        assert_int_equal(ways(&b), 0);
        bench_close(&b);
    }
}

// A stop is one, whatever time is said with it; and a model's words keep nothing.
static void who_may_not(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    bench_say(&b, "every day at 9 stop");
    bench_run(&b, SOON);
    assert_int_equal(b.stops, 1);
    assert_int_equal(kept(&b), 0);
    bench_post(&b, "wish", "{'text':'every day at 9 go to the kitchen'}");
    bench_run(&b, SOON);
    assert_int_equal(kept(&b), 0);
    bench_close(&b);
}

static void each_day_once(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    add(&b, "0 9 * * *", "去厨房", HOUR);
    for (int day = 0; day < 5; day++) {
        wall(&b, EARLY_MS + day * DAY + 9 * HOUR - 500);
        assert_int_equal(ways(&b), day);
        bench_await(&b, "task.done", "status", "succeeded", 20.0);
        bench_run(&b, 5.0);
        assert_int_equal(ways(&b), day + 1);
        carry_away(&b);
    }
    assert_int_equal(bench_count(&b, "schedule.due", NULL, NULL), 5);
    bench_close(&b);
}

// Killed at each commit around the time, before and after it was written: one goal, never two, never none.
static void a_death_at_each_commit(void **state)
{
    (void)state;
    enum { COMMITS = 12 };
    for (int at = 1; at <= COMMITS; at++) {
        for (int before = 0; before < 2; before++) {
            if (!bench_due(ROUNDS_brain_deaths, 2 * (at - 1) + before, 2 * COMMITS)) {
                continue;
            }
            bench b;
            ready(&b);
            add(&b, "at 9:00", "去厨房", HOUR);
            wall(&b, EARLY_MS + 9 * HOUR);
            b.kill_at = b.commits + at;
            b.kill_before = before;
            for (int i = 0; i < 100 && !b.dead && !b.error.status; i++) {
                pons_error err = PONS_ERROR_INIT;
                b.time.now_ns += 20 * PONS_NS_PER_MS;
                if (pons_brain_poll(b.brain, &err) < 0) {
                    break;
                }
            }
            bench_kill(&b);
            bench_brain(&b);
            bench_settle(&b, 20.0);
            assert_int_equal(ways(&b), 1);
            assert_int_equal(kept(&b), 0);
            bench_settle(&b, 20.0);
            assert_int_equal(ways(&b), 1);
            bench_close(&b);
        }
    }
}

// A process that dies once a second all around the minute.
static void many_deaths(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    add(&b, "*/5 * * * *", "去厨房", HOUR);
    wall(&b, EARLY_MS + 4 * MINUTE + 50000);
    for (int i = 0; i < 30; i++) {
        bench_kill(&b);
        bench_brain(&b);
        bench_run(&b, 0.7);
    }
    bench_run(&b, 30.0);
    assert_int_equal(ways(&b), 1);
    bench_close(&b);
}

static void what_was_missed(void **state)
{
    (void)state;
    static const struct {
        const char *schedule;
        int64_t late_ms, away_ms;
        int ways, missed;
        bool stays;
    } rows[] = {
        {"at 9:00", HOUR, 9 * HOUR + MINUTE, 1, 0, false},            // a little late
        {"at 9:00", HOUR, 11 * HOUR, 0, 1, true},                     // too late, and it is seen
        {"at 9:00", -1, 30 * DAY, 1, 0, false},                       // however late
        {"0 9 * * *", HOUR, 9 * DAY + 9 * HOUR + MINUTE, 0, 1, true}, // nine days: not nine times
        {"0 9 * * *", -1, 9 * DAY, 1, 0, true},                       // once
        {"0 9 * * *", 0, 9 * HOUR + MINUTE, 0, 1, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        ready(&b);
        const char *id = add(&b, rows[i].schedule, "去厨房", rows[i].late_ms);
        bench_kill(&b);
        wall(&b, EARLY_MS + rows[i].away_ms);
        bench_brain(&b);
        bench_run(&b, 20.0);
        assert_int_equal(ways(&b), rows[i].ways);
        assert_int_equal(bench_count(&b, "schedule.missed", NULL, NULL), rows[i].missed);
        pons_autovalue left = item(&b, id);
        assert_int_equal(left != NULL, rows[i].stays);
        assert_int_equal(pons_get_int(left, "missed", 0), rows[i].missed);
        const bool again = rows[i].schedule[0] == '0';
        assert_true(!left || (pons_get_int(left, "next_ms", 0) > pons_wall_ms(&b.clock)) == again);
        assert_true(!left || pons_get_bool(left, "enabled", false) == again);
        bench_close(&b);
    }
}

static void clocks_that_jump(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    const char *id = add(&b, "0 9 * * *", "去厨房", HOUR);
    wall(&b, EARLY_MS + 9 * HOUR);
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    wall(&b, EARLY_MS + 8 * HOUR + 59 * MINUTE); // set back by an hour: nine o'clock comes again
    carry_away(&b);
    bench_run(&b, 120.0);
    assert_int_equal(ways(&b), 1);
    wall(&b, EARLY_MS + DAY + 9 * HOUR + 30 * MINUTE); // and set forward, past the next
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    assert_int_equal(ways(&b), 2);
    carry_away(&b);
    wall(&b, EARLY_MS + 5000 * DAY); // a clock that is wrong altogether, for a while
    bench_await(&b, "schedule.missed", NULL, NULL, SOON);
    wall(&b, EARLY_MS + 2 * DAY + 8 * HOUR + 59 * MINUTE);
    bench_run(&b, 90.0);
    assert_int_equal(ways(&b), 3); // it is forgotten
    pons_autovalue left = item(&b, id);
    assert_int_equal(pons_get_int(left, "next_ms", 0), EARLY_MS + 3 * DAY + 9 * HOUR);
    bench_close(&b);
}

// Made while the clock was years ahead: done as long after it is right again as was said, not years later.
static void made_by_a_wrong_clock(void **state)
{
    static const struct {
        const char *schedule;
        int64_t next_ms; // once it is right
    } rows[] = {{"in 600s", 10 * MINUTE},
                {"every 7200s", 2 * HOUR},
                {"at +1 09:00", DAY + 9 * HOUR},
                {"0 9 * * *", 9 * HOUR}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        ready(&b);
        wall(&b, EARLY_MS + 5000 * DAY);
        const char *id = add(&b, rows[i].schedule, "去厨房", HOUR);
        wall(&b, EARLY_MS);
        bench_run(&b, 3.0);
        pons_autovalue is = item(&b, id);
        const int64_t off = pons_get_int(is, "next_ms", 0) - EARLY_MS - rows[i].next_ms;
        assert_true(off >= 0 && off <= 3000);
        wall(&b, EARLY_MS + rows[i].next_ms + off);
        bench_await(&b, "task.done", "status", "succeeded", 20.0);
        assert_int_equal(ways(&b), 1);
        bench_close(&b);
    }
}

// One that is due more often than it can be done is in the queue once.
static void not_twice_in_the_queue(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    b.base_ms = BENCH_NEVER;
    add(&b, "every 60s", "去厨房", HOUR);
    for (int i = 1; i <= 10; i++) {
        wall(&b, EARLY_MS + 1000 + i * MINUTE + 500);
        bench_run(&b, SOON);
    }
    pons_autovalue status = pons_brain_status(b.brain);
    assert_int_equal(json_array_size(pons_get(status, "queue")), 1);
    assert_true(bench_count(&b, "schedule.skipped", NULL, NULL) >= 8);
    bench_close(&b);
}

static void paused_removed_and_elsewhere(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    pons_error err = PONS_ERROR_INIT;
    const pons_items it = items(&b);
    const char *id = add(&b, "0 9 * * *", "去厨房", HOUR);
    pons_autovalue was = item(&b, id);
    pons_autovalue off = NULL;
    assert_int_equal(pons_schedule_goal_enable(was, false, pons_wall_ms(&b.clock), &off, &err), 0);
    assert_int_equal(pons_schedule_goal_put(&it, NS, off, &err), PONS_OK);
    wall(&b, EARLY_MS + 9 * HOUR);
    bench_run(&b, SOON);
    assert_int_equal(ways(&b), 0);
    pons_autovalue on = NULL; // what went by meanwhile is not made up for
    assert_int_equal(pons_schedule_goal_enable(off, true, pons_wall_ms(&b.clock), &on, &err), 0);
    assert_int_equal(pons_schedule_goal_put(&it, NS, on, &err), PONS_OK);
    bench_run(&b, SOON);
    assert_int_equal(ways(&b), 0);
    b.schedules_elsewhere = true; // another brain of the workspace looks after them
    wall(&b, EARLY_MS + DAY + 9 * HOUR);
    bench_run(&b, SOON);
    assert_int_equal(ways(&b), 0);
    b.schedules_elsewhere = false; // and dies
    bench_await(&b, "task.done", "status", "succeeded", 20.0);
    assert_int_equal(ways(&b), 1);
    assert_int_equal(pons_items_delete(&it, NS, id, &err), PONS_OK);
    wall(&b, EARLY_MS + 2 * DAY + 9 * HOUR);
    bench_run(&b, SOON);
    assert_int_equal(ways(&b), 1);
    bench_close(&b);
}

// It answers no question that happens to be open.
static void it_is_no_answer(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    json_object_set_new(json_object_get(b.config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
    bench_kill(&b);
    bench_brain(&b);
    bench_goal_text(&b, "去卧室");
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    add(&b, "at 9:00", "yes", HOUR);
    wall(&b, EARLY_MS + 9 * HOUR);
    bench_await(&b, "schedule.due", NULL, NULL, SOON);
    bench_run(&b, SOON);
    assert_int_equal(bench_count(&b, "approval.resolved", NULL, NULL), 0);
    assert_int_equal(ways(&b), 0);
    bench_close(&b);
}

static void there_is_an_end_to_them(void **state)
{
    (void)state;
    bench b;
    ready(&b);
    for (int i = 0; i < PONS_SCHEDULES_MAX; i++) {
        add(&b, "0 9 * * *", "去厨房", HOUR);
    }
    bench_say(&b, "每天九点去厨房");
    bench_await(&b, "schedule.refused", NULL, NULL, SOON);
    assert_int_equal(kept(&b), PONS_SCHEDULES_MAX);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(said_in_both_languages),
        cmocka_unit_test(what_is_said_and_cannot_be),
        cmocka_unit_test(slowly_at_a_time),
        cmocka_unit_test(who_may_not),
        cmocka_unit_test(each_day_once),
        cmocka_unit_test(a_death_at_each_commit),
        cmocka_unit_test(many_deaths),
        cmocka_unit_test(what_was_missed),
        cmocka_unit_test(clocks_that_jump),
        cmocka_unit_test(made_by_a_wrong_clock),
        cmocka_unit_test(not_twice_in_the_queue),
        cmocka_unit_test(paused_removed_and_elsewhere),
        cmocka_unit_test(it_is_no_answer),
        cmocka_unit_test(there_is_an_end_to_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
