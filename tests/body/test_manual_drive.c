// A person at the page steers, through a goal and the gate: what is let go of stands, whatever broke;
// and what is told for pictures goes to who asked.
#include "body_bench.h"
#include "pons/link.h"
#include "pons/link_report.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define HOUSE PONS_SOURCE_DIR "/worlds/house.yaml"

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

static pons_link *observer(const char *wants)
{
    pons_link *l = bench_join(&t);
    assert_int_equal(pons_link_send(l,
                                    pons_object("type", json_string("hello"), "protocol",
                                                json_integer(PONS_LINK_PROTOCOL), "role",
                                                json_string("observer"), wants, json_true(), NULL),
                                    NULL),
                     PONS_OK);
    bench_step(&t, 0.1);
    return l;
}

static void steer(pons_link *l, double v, double w, bool let_go)
{
    assert_int_equal(
        pons_link_send(l,
                       pons_object("type", json_string("steer"), "v", json_real(v), "w",
                                   json_real(w), "let_go", json_boolean(let_go), NULL),
                       NULL),
        PONS_OK);
}

// As the page does: ten times a second.
static void hold(pons_link *l, double v, double w, double seconds)
{
    for (int i = 0; i < (int)(seconds * 10.0 + 0.5); i++) {
        steer(l, v, w, false);
        bench_step(&t, 0.1);
    }
}

// The last message of a type that came; NULL: none. The caller's.
static pons_value *last(pons_link *l, const char *type, int *ret_n)
{
    pons_value *found = NULL, *m = NULL;
    *ret_n = 0;
    for (; pons_link_recv(l, &m, NULL) == 1; pons_value_unref(m)) {
        if (strcmp(pons_get_str(m, "type", ""), type) == 0) {
            pons_value_unref(found);
            found = pons_value_ref(m);
            ++*ret_n;
        }
    }
    return found;
}

static void a_hand_moves_it_and_letting_go_stops_it(void **state)
{
    (void)state;
    pons_pose2 from, to;
    pons_link *page = observer("tree");
    hold(page, 0.3, 0.0, 0.5); // before the goal: means nothing, then or later
    int n = 0;
    pons_autovalue no = last(page, "error", &n);
    assert_string_equal(pons_get_str(no, "code", ""), "not_by_hand");
    pons_body_truth(t.body, &from, NULL);
    bench_goal(&t, "hand", "drive_by_hand", "{}");
    bench_step(&t, 1.0);
    assert_true(bench_truth_to(&t, from.x, from.y) < 0.01);
    hold(page, 0.0, 1.0, 1.0);
    pons_body_truth(t.body, &to, NULL);
    assert_true(to.yaw - from.yaw > 0.5);
    hold(page, 0.25, 0.0, 1.5);
    assert_true(bench_speed(&t) > 0.1);
    bench_step(&t, 1.5); // the finger is up, and nobody says so
    assert_true(bench_speed(&t) < 0.01);
    pons_body_truth(t.body, &from, NULL);
    bench_step(&t, 2.0);
    assert_true(bench_truth_to(&t, from.x, from.y) < 0.01);
    steer(page, 0.3, 0.0, true); // it has finished: a velocity with that is none
    assert_string_equal(bench_until_result(&t, "hand", 1.0), "done 0");
    assert_int_equal(bench_ledger(&t, "hand", "started"), 1);
    assert_int_equal(bench_ledger(&t, "hand", "done"), 1);
    hold(page, 0.3, 0.0, 0.5);
    assert_true(bench_truth_to(&t, from.x, from.y) < 0.01);
    pons_link_close(page);
}

static void the_gate_is_between_the_hand_and_the_wall(void **state)
{
    (void)state;
    pons_link *page = observer("tree");
    bench_goal(&t, "hand", "drive_by_hand", "{}");
    bench_step(&t, 0.1);
    for (int i = 0; i < 12; i++) { // ahead for long, in many directions, faster than it may
        hold(page, 9.0, 0.0, 4.0);
        assert_true(pons_get_num(t.telemetry, "nearest_m", NAN) > 0.0);
        hold(page, 0.0, 9.0, 0.7);
    }
    assert_int_equal(t.risks, 0);
    pons_body_stop(t.body, "a test");
    assert_string_equal(bench_until_result(&t, "hand", 1.0), "failed 9902");
    assert_string_equal(pons_get_str(bench_last(&t, "result"), "skill", ""), "drive_by_hand");
    pons_link_close(page);
}

static void who_never_steers_and_who_is_gone_end_it(void **state)
{
    (void)state;
    bench_goal(&t, "never", "drive_by_hand", "{}");
    assert_string_equal(bench_until_result(&t, "never", 30.0), "failed 9903");
    pons_link *page = observer("tree");
    bench_goal(&t, "gone", "drive_by_hand", "{}");
    bench_step(&t, 0.1);
    hold(page, 0.1, 0.0, 0.5);
    pons_link_close(page);
    assert_string_equal(bench_until_result(&t, "gone", 15.0), "done 0");
}

static void a_lost_brain_holds_it_whatever_the_hand_wants(void **state)
{
    (void)state;
    pons_link *page = observer("tree");
    bench_goal(&t, "hand", "drive_by_hand", "{}");
    bench_step(&t, 0.1);
    hold(page, 0.2, 0.0, 0.5);
    bench_drop(&t);
    hold(page, 0.2, 0.0, 1.0);
    pons_pose2 from;
    pons_body_truth(t.body, &from, NULL);
    hold(page, 0.2, 0.0, 1.0);
    assert_true(bench_truth_to(&t, from.x, from.y) < 0.01);
    pons_link_close(page);
}

static void the_way_and_the_scan_go_to_who_asked(void **state)
{
    (void)state;
    int n = 0;
    pons_link *blind = observer("tree"), *eye = observer("view");
    bench_goal(&t, "drive", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    bench_step(&t, 2.0);
    assert_null(last(blind, "view", &n));
    pons_autovalue view = last(eye, "view", &n);
    assert_in_range(n, 18, 23); // ten times a second
    const pons_value *path = pons_get(view, "path"), *scan = pons_get(view, "scan");
    const size_t points = json_array_size(path);
    assert_true(points >= 4 && points % 2 == 0 && points <= 400);
    const double x = json_number_value(json_array_get(path, points - 2));
    const double y = json_number_value(json_array_get(path, points - 1));
    assert_true(hypot(x - 6.7, y - 6.4) < 1.5); // it ends in the kitchen
    assert_true(json_array_size(scan) > 100);
    bench_until_result(&t, "drive", 60.0);
    bench_step(&t, 0.5);
    pons_autovalue after = last(eye, "view", &n);
    assert_int_equal(json_array_size(pons_get(after, "path")), 0);
    pons_link_close(blind);
    pons_link_close(eye);
}

// All that odometry, transforms and scans of other software are made of.
static void the_senses_go_to_who_asked(void **state)
{
    (void)state;
    int n = 0, scans = 0;
    pons_link *blind = observer("view"), *eye = observer("senses");
    bench_goal(&t, "drive", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    bench_step(&t, 2.0);
    assert_null(last(blind, "senses", &n));
    pons_value *msg = NULL;
    int64_t stamp_ns = 0, scan_ns = 0;
    for (n = 0; pons_link_recv(eye, &msg, NULL) == 1; pons_value_unref(msg)) {
        pons_report r;
        assert_int_equal(pons_report_decode(msg, &r, NULL), PONS_OK);
        if (r.type == PONS_REPORT_SENSES) {
            const pons_report_senses *s = &r.as.senses;
            assert_true(s->stamp_ns > stamp_ns);
            stamp_ns = s->stamp_ns;
            n++;
            if (s->scan) { // each of them once
                assert_true(pons_get_int(s->scan, "stamp_ns", 0) > scan_ns);
                scan_ns = pons_get_int(s->scan, "stamp_ns", 0);
                assert_true(json_array_size(pons_get(s->scan, "ranges")) > 100);
                scans++;
            }
            if (n == 40) {
                const pons_pose2 map = {s->map_from_odom.x, s->map_from_odom.y,
                                        s->map_from_odom.yaw},
                                 odom = {s->odom_from_base.x, s->odom_from_base.y,
                                         s->odom_from_base.yaw},
                                 at = pons_pose_compose(map, odom);
                assert_true(s->placed && bench_truth_to(&t, at.x, at.y) < 0.2);
                assert_true(s->twist.v > 0.05);
                assert_int_equal(json_array_size(s->covariance), 9);
                assert_true(s->battery_pct > 1.0);
            }
        }
        pons_report_clear(&r);
    }
    assert_in_range(n, 38, 44); // after each control step
    assert_in_range(scans, 18, 22);
    pons_link_close(blind);
    pons_link_close(eye);
}

#define IN_HOUSE(fn) cmocka_unit_test_setup_teardown(fn, open_house, close_house)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_HOUSE(a_hand_moves_it_and_letting_go_stops_it),
        IN_HOUSE(the_gate_is_between_the_hand_and_the_wall),
        IN_HOUSE(who_never_steers_and_who_is_gone_end_it),
        IN_HOUSE(a_lost_brain_holds_it_whatever_the_hand_wants),
        IN_HOUSE(the_way_and_the_scan_go_to_who_asked),
        IN_HOUSE(the_senses_go_to_who_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
