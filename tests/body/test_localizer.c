// test_localizer.c - the localiser against the simulated truth: over a long tour of the house, with
// furniture that has moved, after being told a wrong place, in a corridor that says nothing about
// one direction. Odometry drifts by the seed.
#include "body/mini_sim.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const double BOUND_M = 0.10, BOUND_RAD = 5.0 * M_PI / 180.0;
static const pons_pose2 START = {2.0, 1.6, 0.0};
static const pons_pose2 TOUR[] = {{6.7, 6.4, M_PI / 2},  {3.2, 6.5, M_PI}, {5.3, 4.65, 0.0},
                                  {7.5, 2.4, -M_PI / 2}, {2.2, 2.7, 0.0},  {0.65, 4.65, M_PI}};
enum { STOPS = sizeof TOUR / sizeof *TOUR };

// Rounds of the tour until `metres` are travelled.
static void tour(mini_sim *m, double metres)
{
    for (int i = 0; m->truth_m < metres; i = (i + 1) % STOPS) {
        assert_int_equal(mini_sim_go(m, TOUR[i], true, 120.0), PONS_NAV_SUCCEEDED);
    }
}

static void report(const mini_sim *m, uint64_t seed)
{
    print_message("seed %llu: %.0f m, worst %.3f m %.2f°\n", (unsigned long long)seed, m->truth_m,
                  m->worst_m, m->worst_rad * 180.0 / M_PI);
}

static void drift_is_bounded_over_a_tour(void **state)
{
    (void)state;
    pons_autovalue world = mini_sim_world("house.yaml", NULL, 0, START);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        mini_sim m;
        mini_sim_open(&m, world, seed);
        tour(&m, 60.0);
        report(&m, seed);
        assert_true(m.worst_m < BOUND_M);
        assert_true(m.worst_rad < BOUND_RAD);
        // It knows about how good it is.
        assert_true(pons__localizer_std_m(m.localizer) > 0.002);
        assert_true(pons__localizer_std_m(m.localizer) < BOUND_M);
        mini_sim_close(&m);
    }
}

// The same with wheels far worse than the world's: 3 % in scale, 5 % in turning.
static void bad_wheels_are_corrected(void **state)
{
    (void)state;
    pons_autovalue world = mini_sim_world("house.yaml", NULL, 0, START);
    json_object_set_new(world, "odometry",
                        json_pack("{s:f, s:f, s:f, s:f}", "scale_std", 0.03, "yaw_scale_std", 0.05,
                                  "noise_m", 0.02, "noise_rad", 0.03));
    for (uint64_t seed = 11; seed <= 13; seed++) {
        mini_sim m;
        mini_sim_open(&m, world, seed);
        tour(&m, 30.0);
        report(&m, seed);
        assert_true(m.worst_m < BOUND_M);
        assert_true(m.worst_rad < BOUND_RAD);
        mini_sim_close(&m);
    }
}

// Things that are not in the map take up to a third of the beams.
static void unmapped_things_are_borne(void **state)
{
    (void)state;
    pons_autovalue world = mini_sim_world("house.yaml", NULL, 0, START);
    mini_sim m;
    const uint64_t seed = 21;
    mini_sim_open(&m, world, seed);
    m.use_truth = true; // the way stays the same however good the estimate is
    mini_sim_spawn(&m, "a", 1.0, 2.0, 0.4, 0.4);
    mini_sim_spawn(&m, "b", 4.4, 3.3, 0.3, 0.5);
    mini_sim_spawn(&m, "c", 4.6, 5.05, 0.4, 0.3);
    mini_sim_spawn(&m, "d", 2.0, 4.25, 0.5, 0.3);
    mini_sim_spawn(&m, "e", 6.3, 3.0, 0.4, 0.4);
    mini_sim_spawn(&m, "f", 4.3, 6.3, 0.5, 0.4);
    mini_sim_spawn(&m, "g", 8.6, 4.3, 0.5, 0.3);
    mini_sim_spawn(&m, "h", 5.9, 7.0, 0.4, 0.6);
    tour(&m, 60.0);
    report(&m, seed);
    assert_true(m.worst_m < BOUND_M);
    assert_true(m.worst_rad < BOUND_RAD);
    mini_sim_close(&m);
}

// A scan without a return at all, n times.
static void see_nothing(mini_sim *m, float range_max, int n)
{
    pons_scan none = {.n = 180,
                      .angle_min = (float)-M_PI,
                      .angle_increment = (float)(2.0 * M_PI / 180.0),
                      .range_min = 0.05f,
                      .range_max = range_max};
    for (int k = 0; k < none.n; k++) {
        none.ranges[k] = INFINITY;
    }
    for (int i = 0; i < n; i++) {
        none.stamp_ns = m->state.stamp_ns + (i + 1) * PONS_NS_PER_MS;
        pons__localizer_correct(m->localizer, &none, m->state.odom_from_base);
    }
}

// Nothing seen where the map has walls all around bears no pose out, until it is seen again; where no wall is in
// reach it says nothing.
static void a_lidar_that_sees_nothing(void **state)
{
    (void)state;
    pons_autovalue world = mini_sim_world("house.yaml", NULL, 0, START);
    mini_sim m;
    mini_sim_open(&m, world, 5);
    mini_sim_run(&m, 1.0);
    const pons__pose_watch *w = pons__localizer_watch(m.localizer);
    assert_int_equal(w->trust, PONS__POSE_SURE);
    see_nothing(&m, 0.3f, 100);
    assert_int_equal(w->trust, PONS__POSE_SURE);
    see_nothing(&m, 8.0f, 3); // a moment is none
    mini_sim_run(&m, 0.3);
    assert_int_equal(w->trust, PONS__POSE_SURE);
    see_nothing(&m, 8.0f, 10);
    assert_int_equal(w->trust, PONS__POSE_DOUBTFUL);
    assert_non_null(strstr(w->why, "sees nothing"));
    mini_sim_run(&m, 1.0);
    assert_int_equal(w->trust, PONS__POSE_SURE);
    mini_sim_close(&m);
}

// Covered since the body began it has never seen a wall: less than half of what it promises is expected of it.
static void a_lidar_that_was_always_covered(void **state)
{
    (void)state;
    pons_autovalue world = mini_sim_world("house.yaml", NULL, 0, START);
    mini_sim m;
    mini_sim_open(&m, world, 5);
    const pons__pose_watch *w = pons__localizer_watch(m.localizer);
    see_nothing(&m, 0.3f, 100);
    assert_int_equal(w->trust, PONS__POSE_SURE);
    see_nothing(&m, 8.0f, 10);
    assert_int_equal(w->trust, PONS__POSE_DOUBTFUL);
    mini_sim_run(&m, 1.0);
    assert_int_equal(w->trust, PONS__POSE_SURE);
    mini_sim_close(&m);
}

// Told a place that is wrong by a little, it finds the right one from scans at rest and on the way.
static void a_wrong_start_is_mended(void **state)
{
    (void)state;
    static const pons_pose2 wrong[] = {{0.15, 0.0, 0.0}, {0.0, -0.2, 0.1}, {-0.15, 0.15, -0.15},
                                       {0.0, 0.0, 0.25}, {0.4, 0.0, 0.0},  {-0.3, 0.35, 0.2},
                                       {0.2, -0.4, -0.3}};
    pons_autovalue world = mini_sim_world("house.yaml", NULL, 0, START);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mini_sim m;
        mini_sim_open(&m, world, 31 + i);
        m.use_truth = true;
        mini_sim_run(&m, 0.5);
        const pons_pose2 t = mini_sim_truth(&m);
        pons__localizer_reset(
            m.localizer,
            (pons_pose2){t.x + wrong[i].x, t.y + wrong[i].y, pons_wrap_angle(t.yaw + wrong[i].yaw)},
            m.state.odom_from_base);
        mini_sim_go(&m, (pons_pose2){2.2, 2.7, 0.0}, true, 30.0);
        m.worst_m = m.worst_rad = 0.0;
        mini_sim_run(&m, 1.0);
        report(&m, 31 + i);
        assert_true(m.worst_m < 0.05);
        assert_true(m.worst_rad < 0.03);
        mini_sim_close(&m);
    }
}

static void a_correction_is_bounded(void **state)
{
    (void)state;
    pons_autovalue world = mini_sim_world("house.yaml", NULL, 0, START);
    mini_sim m;
    mini_sim_open(&m, world, 41);
    mini_sim_run(&m, 1.0);
    // A scan of another place altogether moves the estimate by a step at most, and so does the
    // next.
    const pons_pose2 before = pons__localizer_pose(m.localizer);
    pons_scan scan = mini_scan(120, 1.0f, m.scan.stamp_ns + PONS_NS_PER_S * 2);
    for (int i = 0; i < 3; i++) {
        pons__localizer_correct(m.localizer, &scan, m.state.odom_from_base);
        scan.stamp_ns += 2 * PONS_NS_PER_S;
        const pons_pose2 after = pons__localizer_pose(m.localizer);
        assert_true(hypot(after.x - before.x, after.y - before.y) <= 0.1001 * (i + 1));
        assert_true(fabs(pons_wrap_angle(after.yaw - before.yaw)) <= 0.1001 * (i + 1));
    }
    mini_sim_close(&m);
}

static void scans_without_news_change_nothing(void **state)
{
    (void)state;
    pons_autovalue world = mini_sim_world("house.yaml", NULL, 0, START);
    mini_sim m;
    mini_sim_open(&m, world, 43);
    pons__localizer_predict(m.localizer, (pons_pose2){0, 0, 0});
    const pons_pose2 before = pons__localizer_pose(m.localizer);
    static const float odd[] = {INFINITY, NAN, -1.0f, 0.0f};
    for (int i = 0; i < 4; i++) {
        const pons_scan scan = mini_scan(120, odd[i], (i + 1) * 2 * PONS_NS_PER_S);
        pons__localizer_correct(m.localizer, &scan, (pons_pose2){0, 0, 0});
    }
    const pons_scan none = mini_scan(0, 1.0f, 20 * PONS_NS_PER_S);
    pons__localizer_correct(m.localizer, &none, (pons_pose2){0, 0, 0});
    pons__localizer_predict(m.localizer, (pons_pose2){NAN, 0, 0});
    const pons_pose2 after = pons__localizer_pose(m.localizer);
    assert_memory_equal(&before, &after, sizeof before);
    mini_sim_close(&m);
}

// Without scans the estimate follows odometry, whatever frame that starts in, and says how unsure
// it becomes.
static void prediction_follows_odometry(void **state)
{
    (void)state;
    pons_autovalue world = mini_sim_world("empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0});
    pons__costmap *g = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons__costmap_from_world(world, &g, &err), PONS_OK);
    pons__localizer *l = pons__localizer_create(g, (pons_pose2){1.0, 2.0, M_PI / 2});
    assert_non_null(l);
    pons__localizer_predict(l, (pons_pose2){7.0, -3.0, 1.0});
    pons_pose2 p = pons__localizer_pose(l);
    assert_true(fabs(p.x - 1.0) < 1e-9 && fabs(p.y - 2.0) < 1e-9);
    const double std = pons__localizer_std_m(l);
    // A metre ahead in base is a metre to the north in map.
    pons__localizer_predict(l, (pons_pose2){7.0 + cos(1.0), -3.0 + sin(1.0), 1.0});
    p = pons__localizer_pose(l);
    assert_true(fabs(p.x - 1.0) < 1e-9 && fabs(p.y - 3.0) < 1e-9);
    assert_true(fabs(p.yaw - M_PI / 2) < 1e-9);
    assert_true(pons__localizer_std_m(l) > std);

    pons__localizer_reset(l, (pons_pose2){4.0, 4.0, 0.0}, (pons_pose2){0.0, 0.0, 0.5});
    p = pons__localizer_pose(l);
    assert_true(fabs(p.x - 4.0) < 1e-9 && fabs(p.y - 4.0) < 1e-9 && fabs(p.yaw) < 1e-9);
    // The robot's own software knows where it is, and not how well: that is not the same as exactly.
    pons_robot_place place = {.known = true, .map_from_odom = {1.0, 0.0, 0.0}, .std_m = NAN};
    pons__localizer_given(l, &place);
    assert_true(isnan(pons__localizer_std_m(l)));
    place.std_m = 0.5;
    pons__localizer_given(l, &place);
    assert_true(fabs(pons__localizer_std_m(l) - 0.5) < 1e-9);
    pons__localizer_destroy(l);
    pons__localizer_destroy(NULL);
    pons__costmap_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_is_bounded_over_a_tour),
        cmocka_unit_test(bad_wheels_are_corrected),
        cmocka_unit_test(unmapped_things_are_borne),
        cmocka_unit_test(a_lidar_that_sees_nothing),
        cmocka_unit_test(a_lidar_that_was_always_covered),
        cmocka_unit_test(a_wrong_start_is_mended),
        cmocka_unit_test(a_correction_is_bounded),
        cmocka_unit_test(scans_without_news_change_nothing),
        cmocka_unit_test(prediction_follows_odometry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
