// A person wants it slower: no limit is passed by anybody, nothing times out for it, and a body that
// starts anew knows it still.
#include "body_bench.h"
#include "pons/link.h"
#include "pons/link_report.h"
#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUSE PONS_SOURCE_DIR "/worlds/house.yaml"
#define NOISE 0.02 // of the measured speed [m/s]

static bench t; // of the test that runs

static int open_house(void **state)
{
    (void)state;
    bench_open(&t, HOUSE);
    bench_hello(&t);
    return 0;
}

static int close_house(void **state)
{
    (void)state;
    bench_close(&t);
    return 0;
}

static double limit(const char *name)
{
    return pons_get_num(pons_get(bench_last(&t, "hello"), "limits"), name, NAN);
}

static void pace(int64_t percent)
{
    bench_send(&t,
               pons_object("type", json_string("pace"), "percent", json_integer(percent), NULL));
    bench_step(&t, 0.1);
}

static int64_t reported(void)
{
    return pons_get_int(t.telemetry, "pace_percent", -1);
}

static const char *ended(const char *id)
{
    return bench_until_result(&t, id, 1.0);
}

// The greatest speeds that are measured until the goal ends, or for so long.
static void fastest(const char *id, double seconds, double *ret_v, double *ret_w)
{
    *ret_v = *ret_w = 0.0;
    for (int i = 0; i < (int)(seconds * 20.0) && !pons_get(t.results, id); i++) {
        bench_step(&t, 0.05);
        const pons_value *twist = pons_get(t.telemetry, "twist");
        *ret_v = fmax(*ret_v, fabs(pons_get_num(twist, "v", 0.0)));
        *ret_w = fmax(*ret_w, fabs(pons_get_num(twist, "w", 0.0)));
    }
}

static const char *state_file(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/body.epoch", t.dir);
    return path;
}

static void no_drive_is_faster_than_the_share(void **state)
{
    (void)state;
    static const int shares[] = {100, 75, 50, 25, 10};
    const double most = limit("speed_max_mps"), turn = limit("yaw_rate_max_radps");
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double v, w;
        char id[16];
        pace(shares[i]);
        assert_string_equal(pons_get_str(bench_last(&t, "ok"), "re", ""), "pace");
        assert_int_equal(pons_get_int(bench_last(&t, "ok"), "percent", 0), shares[i]);
        assert_int_equal(reported(), shares[i]);
        snprintf(id, sizeof id, "g%zu", i);
        bench_goal(&t, id, "navigate_to_pose",
                   i % 2 ? "{\"pose\":{\"x\":2.6,\"y\":3.2}}" : "{\"zone\":\"kitchen\"}");
        fastest(id, 600.0, &v, &w);
        print_message("%d %%: %s, v %.3f of %.3f, w %.3f of %.3f\n", shares[i], ended(id), v, most,
                      w, turn);
        assert_string_equal(ended(id), "done 0");
        assert_true(v <= shares[i] / 100.0 * most + NOISE);
        assert_true(w <= shares[i] / 100.0 * turn + NOISE);
        assert_true(v >= 0.5 * shares[i] / 100.0 * most); // it is a limit, and no brake
    }
}

static void a_hand_and_a_motion_are_not_faster_either(void **state)
{
    (void)state;
    double v, w;
    const double most = limit("speed_max_mps"), turn = limit("yaw_rate_max_radps");
    pace(25);
    bench_goal(&t, "spin", "spin", "{\"angle_rad\":3.0}");
    fastest("spin", 200.0, &v, &w);
    assert_string_equal(ended("spin"), "done 0");
    assert_true(w <= 0.25 * turn + NOISE);
    bench_goal(&t, "hand", "drive_by_hand", "{}");
    for (int i = 0; i < 20; i++) {
        bench_send(&t, json_pack("{s:s, s:f, s:f}", "type", "steer", "v", 9.0, "w", 0.0));
        bench_step(&t, 0.1);
        assert_true(bench_speed(&t) <= 0.25 * most + NOISE);
    }
}

// At this pace it takes five times as long as it may take.
static void the_allowance_of_a_motion_is_of_full_speed(void **state)
{
    (void)state;
    double v, w;
    pace(10);
    bench_goal(&t, "spin", "spin", "{\"angle_rad\":6.0,\"time_allowance_s\":8.0}");
    fastest("spin", 300.0, &v, &w);
    assert_string_equal(ended("spin"), "done 0");
}

static void slower_while_it_drives_takes_effect_at_once(void **state)
{
    (void)state;
    double v, w;
    const double most = limit("speed_max_mps");
    bench_goal(&t, "g", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    bench_step(&t, 3.0);
    assert_true(bench_speed(&t) > 0.5 * most);
    pace(25);
    bench_step(&t, 1.0);
    fastest("g", 300.0, &v, &w);
    assert_string_equal(ended("g"), "done 0");
    assert_true(v <= 0.25 * most + NOISE);
}

static void it_outlives_the_brain_and_the_body(void **state)
{
    (void)state;
    double v, w;
    const double most = limit("speed_max_mps");
    pace(50);
    bench_drop(&t);
    bench_hello(&t);
    bench_step(&t, 0.2);
    assert_int_equal(reported(), 50);
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.2);
    assert_int_equal(reported(), 50);
    bench_goal(&t, "g", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    fastest("g", 300.0, &v, &w);
    assert_string_equal(ended("g"), "done 0");
    assert_true(v <= 0.5 * most + NOISE);
    pace(100);
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.2);
    assert_int_equal(reported(), 100);
}

static void what_is_no_share_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    static const int64_t bad[] = {101, 9, 0, -50, INT64_MAX, INT64_MIN};
    pace(50);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bench_forget(&t);
        pace(bad[i]);
        assert_string_equal(pons_get_str(bench_last(&t, "error"), "re", ""), "pace");
        assert_int_equal(reported(), 50);
    }
    bench_send(&t, pons_object("type", json_string("pace"), NULL));
    bench_send(&t, pons_object("type", json_string("pace"), "percent", json_string("all"), NULL));
    bench_step(&t, 0.1);
    assert_int_equal(reported(), 50);
}

// The file cannot be replaced: slower is so all the same, and faster is not.
static void on_a_full_disk_it_is_slower_but_not_faster(void **state)
{
    (void)state;
    char fresh[160];
    pace(50);
    snprintf(fresh, sizeof fresh, "%s.new", state_file());
    assert_int_equal(mkdir(fresh, 0700), 0); // in the way of the new file
    pace(25);
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "unsaved");
    assert_int_equal(reported(), 25);
    bench_forget(&t);
    pace(100);
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "unsaved");
    assert_int_equal(reported(), 25);
    assert_int_equal(rmdir(fresh), 0);
    bench_step(&t, 0.2);
    assert_int_equal(reported(), 25); // what was refused does not come later
    pace(100);
    assert_int_equal(reported(), 100);
}

static void reboot(void)
{
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.2);
}

static void limit_files(rlim_t most)
{
    struct rlimit r;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
    r.rlim_cur = most == RLIM_INFINITY ? r.rlim_max : most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

// The ledger was told of a raise before it was refused, and has no room for the word that takes it back: it
// is told so when it has, and then it is what a body without a state file goes by.
static void what_is_taken_back_is_told_to_the_ledger_when_it_can_be(void **state)
{
    (void)state;
    char fresh[160];
    struct stat before, after;
    pace(50);
    // How long a line is: one there and one back, while the disk is well.
    assert_int_equal(stat(t.opts.ledger_path, &before), 0);
    pace(100);
    assert_int_equal(stat(t.opts.ledger_path, &after), 0);
    const rlim_t line = (rlim_t)(after.st_size - before.st_size);
    assert_true(line > 50);
    pace(50);
    assert_int_equal(stat(t.opts.ledger_path, &before), 0);
    snprintf(fresh, sizeof fresh, "%s.new", state_file());
    assert_int_equal(mkdir(fresh, 0700), 0);
    limit_files((rlim_t)before.st_size + line + line / 2);
    bench_forget(&t);
    pace(100);
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "unsaved");
    assert_int_equal(reported(), 50);
    limit_files(RLIM_INFINITY);
    bench_step(&t, 2.0);
    assert_int_equal(rmdir(fresh), 0);
    assert_int_equal(unlink(state_file()), 0);
    reboot();
    assert_int_equal(reported(), 50);
}

// The ledger is a second witness.
static void a_lost_file_is_the_ledgers_last_pace(void **state)
{
    (void)state;
    pace(25);
    pace(50);
    assert_int_equal(unlink(state_file()), 0);
    reboot();
    assert_int_equal(reported(), 50);
    pace(100);
    assert_int_equal(unlink(state_file()), 0);
    reboot();
    assert_int_equal(reported(), 100);
}

static void a_torn_file_is_the_ledgers_last_pace(void **state)
{
    (void)state;
    pace(30);
    assert_int_equal(truncate(state_file(), 20), 0);
    reboot();
    assert_int_equal(reported(), 30);
    const int fd = open(state_file(), O_WRONLY | O_TRUNC);
    close(fd);
    reboot();
    assert_int_equal(reported(), 30);
}

// A death between the two: the ledger has been told, and the file is whole and older.
static void of_two_that_differ_the_slower_is_in_force(void **state)
{
    (void)state;
    char old[160];
    snprintf(old, sizeof old, "%s.old", state_file());
    pace(75);
    assert_int_equal(link(state_file(), old), 0); // it is replaced, never written to
    pace(30);
    assert_int_equal(rename(old, state_file()), 0);
    reboot();
    assert_int_equal(reported(), 30);
    pace(100);
}

static void without_either_it_is_as_fast_as_it_may_be(void **state)
{
    (void)state;
    pace(50);
    assert_int_equal(unlink(state_file()), 0);
    assert_int_equal(unlink(t.opts.ledger_path), 0);
    reboot();
    assert_int_equal(reported(), 100);
}

// The witness goes from part to part of the ledger.
static void a_sealed_ledger_carries_it_over(void **state)
{
    (void)state;
    t.opts.ledger_part_mb = 0.0005;
    reboot();
    pace(40);
    for (int i = 0; i < 6; i++) {
        char id[16];
        snprintf(id, sizeof id, "w%d", i);
        bench_goal(&t, id, "wait", "{\"s\":0.1}");
        bench_until_result(&t, id, 2.0);
    }
    char part[160];
    snprintf(part, sizeof part, "%s.1", t.opts.ledger_path);
    assert_int_equal(access(part, F_OK), 0);
    assert_int_equal(unlink(state_file()), 0);
    reboot();
    assert_int_equal(reported(), 40);
    for (int i = 1; i < 20; i++) {
        snprintf(part, sizeof part, "%s.%d", t.opts.ledger_path, i);
        unlink(part);
        snprintf(part, sizeof part, "%s.%d.ids", t.opts.ledger_path, i);
        unlink(part);
    }
}

// Who raises it says from where: another person may have lowered it meanwhile.
static void it_is_not_raised_from_where_it_is_not(void **state)
{
    (void)state;
    pace(50);
    pace(25);
    bench_forget(&t);
    bench_send(&t, pons_object("type", json_string("pace"), "percent", json_integer(100), "from",
                               json_integer(50), NULL));
    bench_step(&t, 0.1);
    assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "changed");
    assert_int_equal(reported(), 25);
    bench_send(&t, pons_object("type", json_string("pace"), "percent", json_integer(20), "from",
                               json_integer(50), NULL));
    bench_step(&t, 0.1);
    assert_int_equal(reported(), 20);
}

int main(void)
{
    pons_value_init();
    signal(SIGXFSZ, SIG_IGN);
#define ONE(test) cmocka_unit_test_setup_teardown(test, open_house, close_house)
    const struct CMUnitTest tests[] = {
        ONE(no_drive_is_faster_than_the_share),
        ONE(a_hand_and_a_motion_are_not_faster_either),
        ONE(the_allowance_of_a_motion_is_of_full_speed),
        ONE(slower_while_it_drives_takes_effect_at_once),
        ONE(it_outlives_the_brain_and_the_body),
        ONE(what_is_no_share_is_refused_and_changes_nothing),
        ONE(on_a_full_disk_it_is_slower_but_not_faster),
        ONE(what_is_taken_back_is_told_to_the_ledger_when_it_can_be),
        ONE(a_lost_file_is_the_ledgers_last_pace),
        ONE(a_torn_file_is_the_ledgers_last_pace),
        ONE(of_two_that_differ_the_slower_is_in_force),
        ONE(without_either_it_is_as_fast_as_it_may_be),
        ONE(a_sealed_ledger_carries_it_over),
        ONE(it_is_not_raised_from_where_it_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
