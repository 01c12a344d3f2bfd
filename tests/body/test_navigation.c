// test_navigation.c - the navigator drives the kinematic robot: it arrives, passes doors without touching
// or swinging, goes around what appears, waits out what goes away, and when it cannot, fails with
// the right number after its recoveries in order. The wheels get the navigator's command directly.
#include "body/mini_sim.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const pons__nav_params PARAMS = PONS_NAV_PARAMS_INIT;

typedef struct fixture {
    pons_value *world;
    mini_sim sim;
} fixture;

static void begin(fixture *f, const char *name, const double (*boxes)[4], int n, pons_pose2 start,
                  uint64_t seed)
{
    f->world = mini_sim_world(name, boxes, n, start);
    mini_sim_open(&f->sim, f->world, seed);
    print_message("%s, seed %llu\n", name, (unsigned long long)seed);
}

static void end(fixture *f)
{
    mini_sim_close(&f->sim);
    pons_value_unref(f->world);
}

static void assert_at(mini_sim *m, pons_pose2 goal, bool with_yaw)
{
    const pons_pose2 t = mini_sim_truth(m);
    const double off_m = hypot(t.x - goal.x, t.y - goal.y);
    const double off_rad = fabs(pons_wrap_angle(t.yaw - goal.yaw));
    if (off_m > PARAMS.xy_tolerance_m || (with_yaw && off_rad > PARAMS.yaw_tolerance_rad)) {
        fail_msg("%.3f m and %.3f rad from the goal", off_m, off_rad);
    }
}

static void arrives_everywhere_in_the_house(void **state)
{
    (void)state;
    static const pons_pose2 goals[] = {{6.7, 6.4, M_PI / 2},  {3.2, 6.5, M_PI}, {5.3, 4.65, 0.0},
                                       {7.5, 2.4, -M_PI / 2}, {2.2, 2.7, 0.0},  {0.65, 4.65, M_PI}};
    fixture f;
    begin(&f, "house.yaml", NULL, 0, (pons_pose2){2.0, 1.6, 0.0}, 7);
    mini_sim *m = &f.sim;
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        const double from_m = m->truth_m;
        const int64_t from_ns = mini_sim_now(m);
        m->reversals = 0.0;
        pons__nav_start(m->nav, goals[i], true, from_ns);
        mini_sim_tick(m);
        const double first_m = m->out.distance_remaining_m, eta_s = m->out.eta_s;
        assert_int_equal(m->out.status, PONS_NAV_RUNNING);
        double before = first_m;
        for (int k = 0; k < 20 * 60 && m->out.status == PONS_NAV_RUNNING; k++) {
            mini_sim_tick(m);
            assert_true(m->out.distance_remaining_m < before + 0.10);
            before = m->out.distance_remaining_m;
            assert_true(fabs(m->out.cmd.v) <= PARAMS.speed_max_mps + 1e-9);
            assert_true(fabs(m->out.cmd.w) <= PARAMS.yaw_rate_max_radps + 1e-9);
        }
        assert_int_equal(m->out.status, PONS_NAV_SUCCEEDED);
        assert_int_equal(m->out.error_code, PONS_NAV_OK);
        assert_at(m, goals[i], true);
        assert_int_equal(m->out.recoveries, 0);
        assert_true(m->out.cmd.v == 0.0 && m->out.cmd.w == 0.0);
        // The distance told at the start was the way taken, and the time was about right.
        assert_true(fabs(m->truth_m - from_m - first_m) < 0.1 * first_m + 0.15);
        const double took_s = (double)(mini_sim_now(m) - from_ns) / 1e9;
        assert_true(took_s < 1.7 * eta_s + 3.0 && took_s > 0.4 * eta_s);
        assert_true(m->reversals <= 8.0); // no swinging
    }
    assert_true(m->nearest_m >= PARAMS.radius_m + 0.05); // never near touching
    end(&f);
}

static void passes_a_door_of_90_cm(void **state)
{
    (void)state;
    static const double boxes[][4] = {{3.0, 2.025, 0.1, 4.05}, {3.0, 5.475, 0.1, 1.05}};
    static const pons_pose2 starts[] = {{1.5, 1.5, 0.0}, {2.6, 5.5, -2.0}, {2.5, 3.0, M_PI / 2}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        fixture f;
        begin(&f, "empty.yaml", boxes, 2, starts[i], 11 + i);
        const pons_pose2 goal = {4.8, 4.5, 0.0};
        assert_int_equal(mini_sim_go(&f.sim, goal, true, 60.0), PONS_NAV_SUCCEEDED);
        assert_at(&f.sim, goal, true);
        assert_true(f.sim.nearest_m >= 0.30);
        assert_true(f.sim.reversals <= 4.0);
        end(&f);
    }
}

static void any_heading_will_do_without_a_yaw(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, M_PI}, 3);
    const pons_pose2 goal = {4.5, 1.5, 2.0};
    assert_int_equal(mini_sim_go(&f.sim, goal, false, 60.0), PONS_NAV_SUCCEEDED);
    assert_at(&f.sim, goal, false);
    assert_true(fabs(mini_sim_truth(&f.sim).yaw) < 0.5); // as it came
    // Already there: at once, without moving.
    assert_int_equal(mini_sim_go(&f.sim, mini_sim_pose(&f.sim), true, 1.0), PONS_NAV_SUCCEEDED);
    end(&f);
}

static void goes_around_what_appears(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.0, 1.2, 0.0}, 5);
    mini_sim *m = &f.sim;
    const pons_pose2 goal = {5.0, 1.2, 0.0};
    pons__nav_start(m->nav, goal, true, mini_sim_now(m));
    mini_sim_run(m, 1.0);
    mini_sim_spawn(m, "box", 3.0, 1.2, 0.5, 0.5);
    for (int k = 0; k < 20 * 60 && m->out.status == PONS_NAV_RUNNING; k++) {
        mini_sim_tick(m);
        const pons_pose2 t = mini_sim_truth(m);
        const double dx = fmax(fabs(t.x - 3.0) - 0.25, 0.0), dy = fmax(fabs(t.y - 1.2) - 0.25, 0.0);
        assert_true(hypot(dx, dy) > PARAMS.radius_m + 0.005);
    }
    assert_int_equal(m->out.status, PONS_NAV_SUCCEEDED);
    assert_true(m->out.replans >= 1);
    assert_at(m, goal, true);
    end(&f);
}

// The only door is blocked, later it is free again: waited for, then passed.
static void blocked_then_cleared(void **state)
{
    (void)state;
    static const double boxes[][4] = {{3.0, 2.0, 0.1, 4.0}, {3.0, 5.5, 0.1, 1.0}};
    fixture f;
    begin(&f, "empty.yaml", boxes, 2, (pons_pose2){1.5, 3.5, 0.0}, 9);
    mini_sim *m = &f.sim;
    mini_sim_spawn(m, "box", 3.0, 4.5, 0.3, 0.9);
    m->idle = true;
    mini_sim_run(m, 1.0); // seen before it is asked
    m->idle = false;
    const pons_pose2 goal = {4.8, 4.5, 0.0};
    pons__nav_start(m->nav, goal, true, mini_sim_now(m));
    mini_sim_run(m, 4.0);
    assert_int_equal(m->out.status, PONS_NAV_RUNNING);
    assert_true(m->out.recoveries >= 1);
    mini_sim_remove(m, "box");
    for (int k = 0; k < 20 * 60 && m->out.status == PONS_NAV_RUNNING; k++) {
        mini_sim_tick(m);
    }
    assert_int_equal(m->out.status, PONS_NAV_SUCCEEDED);
    assert_at(m, goal, true);
    assert_true(m->nearest_m > PARAMS.radius_m);
    end(&f);
}

// What the commands of a run looked like, one letter a kind: F forwards, s spin, . still, b back.
static void note(char *kinds, size_t cap, pons_twist2 cmd)
{
    const char k = cmd.v > 0.02 ? 'F' : cmd.v < -0.02 ? 'b' : fabs(cmd.w) > 0.05 ? 's' : '.';
    const size_t n = strlen(kinds);
    if ((n == 0 || kinds[n - 1] != k) && n + 1 < cap) {
        kinds[n] = k;
        kinds[n + 1] = '\0';
    }
}

static void enclosed_ends_with_208(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){2.0, 2.0, 0.0}, 13);
    mini_sim *m = &f.sim;
    mini_sim_spawn(m, "n", 2.0, 3.0, 2.2, 0.2);
    mini_sim_spawn(m, "s", 2.0, 1.0, 2.2, 0.2);
    mini_sim_spawn(m, "w", 1.0, 2.0, 0.2, 2.2);
    mini_sim_spawn(m, "e", 3.0, 2.0, 0.2, 2.2);
    m->idle = true;
    mini_sim_run(m, 1.0);
    m->idle = false;
    char kinds[64] = "";
    pons__nav_start(m->nav, (pons_pose2){4.8, 4.8, 0.0}, true, mini_sim_now(m));
    for (int k = 0; k < 20 * 60 && (k == 0 || m->out.status == PONS_NAV_RUNNING); k++) {
        mini_sim_tick(m);
        note(kinds, sizeof kinds, m->out.cmd);
    }
    assert_int_equal(m->out.status, PONS_NAV_FAILED);
    assert_int_equal(m->out.error_code, PONS_PLAN_NO_VALID_PATH);
    assert_non_null(strstr(m->out.error_msg, "no way from"));
    // Six turns of the round robin: cleared (both costmaps), spun, waited, backed up, cleared, spun.
    assert_non_null(strstr(m->out.error_msg, "8 recoveries tried"));
    assert_non_null(strstr(m->out.error_msg, "Action:ComputePathToPose"));
    assert_int_equal(m->out.recoveries, 8);
    assert_string_equal(kinds, ".s.b.s.");
    assert_true(m->out.cmd.v == 0.0 && m->out.cmd.w == 0.0);
    end(&f);
}

static void an_occupied_goal_ends_with_206_or_beside_it(void **state)
{
    (void)state;
    const pons_pose2 goal = {4.5, 1.5, 0.0};
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0}, 14);
    mini_sim *m = &f.sim;
    mini_sim_spawn(m, "box", goal.x, goal.y, 0.5, 0.5); // nothing free within 0.3 m
    assert_int_equal(mini_sim_go(m, goal, true, 90.0), PONS_NAV_FAILED);
    assert_int_equal(m->out.error_code, PONS_PLAN_GOAL_OCCUPIED);
    assert_non_null(strstr(m->out.error_msg, "goal (4.50, 1.50)"));
    assert_int_equal(m->out.recoveries, 8);
    mini_sim_remove(m, "box");
    mini_sim_spawn(m, "small", goal.x + 0.25, goal.y, 0.15, 0.15); // a little aside is free
    assert_int_equal(mini_sim_go(m, goal, true, 90.0), PONS_NAV_SUCCEEDED);
    const pons_pose2 t = mini_sim_truth(m);
    assert_true(hypot(t.x - goal.x, t.y - goal.y) < 0.3 + 0.05);
    assert_true(t.x < goal.x + 0.25 - 0.075 - PARAMS.radius_m);
    end(&f);
}

// Both ways out are shut, out of sight of each other: it finds that out, and does not go to and fro
// for ever.
static void two_blocked_ways_end_with_208(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "house.yaml", NULL, 0, (pons_pose2){2.0, 1.6, 0.0}, 15);
    mini_sim *m = &f.sim;
    mini_sim_spawn(m, "door", 3.5, 3.95, 1.2, 0.3);       // living room to corridor
    mini_sim_spawn(m, "study_door", 7.8, 3.95, 1.2, 0.3); // study to corridor
    const pons_pose2 kitchen = {6.7, 6.4, M_PI / 2};
    assert_int_equal(mini_sim_go(m, kitchen, true, 150.0), PONS_NAV_FAILED);
    assert_int_equal(m->out.error_code, PONS_PLAN_NO_VALID_PATH);
    assert_true(m->out.recoveries >= 4 && m->out.recoveries <= 8);
    // One of them opens: the same goal succeeds.
    mini_sim_remove(m, "study_door");
    assert_int_equal(mini_sim_go(m, kitchen, true, 150.0), PONS_NAV_SUCCEEDED);
    assert_at(m, kitchen, true);
    end(&f);
}

// Where the map itself leaves no way there is nothing to recover from.
static void impossible_goals_fail_at_once(void **state)
{
    (void)state;
    static const double boxes[][4] = {{3.0, 3.0, 0.1, 6.0}};
    static const struct {
        double x, y;
        int code;
    } rows[] = {{5.0, 1.5, PONS_PLAN_NO_VALID_PATH},
                {9.0, 1.5, PONS_PLAN_GOAL_OUTSIDE_MAP},
                {NAN, NAN, PONS_PLAN_UNKNOWN}};
    fixture f;
    begin(&f, "empty.yaml", boxes, 1, (pons_pose2){1.5, 1.5, 0.0}, 17);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(mini_sim_go(&f.sim, (pons_pose2){rows[i].x, rows[i].y, 0.0}, true, 1.0),
                         PONS_NAV_FAILED);
        assert_int_equal(f.sim.out.error_code, rows[i].code);
        assert_int_equal(f.sim.out.recoveries, 0);
        assert_true(strlen(f.sim.out.error_msg) > 20);
    }
    // The next goal is not touched by that.
    assert_int_equal(mini_sim_go(&f.sim, (pons_pose2){1.5, 3.0, 0.0}, true, 30.0),
                     PONS_NAV_SUCCEEDED);
    end(&f);
}

static void stuck_ends_with_105(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0}, 19);
    mini_sim *m = &f.sim;
    m->share = 0.0;
    char kinds[64] = "";
    const int64_t from_ns = mini_sim_now(m);
    pons__nav_start(m->nav, (pons_pose2){4.5, 1.5, 0.0}, true, from_ns);
    int recoveries = 0;
    double first_s = 0.0;
    for (int k = 0; k < 20 * 180 && (k == 0 || m->out.status == PONS_NAV_RUNNING); k++) {
        mini_sim_tick(m);
        note(kinds, sizeof kinds, m->out.cmd);
        if (m->out.recoveries > 0 && recoveries == 0) {
            first_s = (double)(mini_sim_now(m) - from_ns) / 1e9;
        }
        recoveries = m->out.recoveries;
    }
    assert_int_equal(m->out.status, PONS_NAV_FAILED);
    assert_int_equal(m->out.error_code, PONS_FOLLOW_FAILED_TO_MAKE_PROGRESS);
    assert_true(first_s >= PARAMS.progress_s && first_s < PARAMS.progress_s + 0.5);
    // Ahead failed, so it would turn to go round it. What does not turn or back up in its time is followed at once by the next of the round.
    assert_int_equal(m->out.recoveries, 14);
    assert_string_equal(kinds, "Fs.sbs.s.sbs.s.s.s.");
    assert_non_null(strstr(m->out.error_msg, "moved 0.00 m in 10.0 s"));
    assert_non_null(strstr(m->out.error_msg, "14 recoveries tried"));
    assert_non_null(strstr(m->out.error_msg, "Action:FollowPath"));
    end(&f);
}

// Wheels that turn the wrong way now and then: it always moves, and gets nowhere.
static void swaying_is_no_progress(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0}, 19);
    mini_sim *m = &f.sim;
    const int64_t from_ns = mini_sim_now(m);
    pons__nav_start(m->nav, (pons_pose2){4.5, 1.5, 0.0}, false, from_ns);
    double first_s = 0.0;
    for (int k = 0; k < 20 * 90 && m->out.recoveries == 0; k++) {
        const double x = mini_sim_truth(m).x;
        m->backwards = x > 2.9 || (x > 1.9 && m->backwards);
        mini_sim_tick(m);
        first_s = (double)(mini_sim_now(m) - from_ns) / 1e9;
    }
    print_message("it gave up after %.1f s and %.1f m\n", first_s, m->truth_m);
    assert_true(m->out.recoveries > 0);
    assert_true(m->truth_m > 3.0);
    assert_true(first_s >= 3.0 * PARAMS.progress_s && first_s < 4.0 * PARAMS.progress_s);
    end(&f);
}

static void a_slow_robot_is_not_stuck(void **state)
{
    (void)state;
    // A third of what is asked reaches the wheels, as from a gate that slows down.
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0}, 23);
    mini_sim *m = &f.sim;
    m->share = 0.33;
    const pons_pose2 goal = {4.5, 1.2, 1.0};
    pons__nav_start(m->nav, goal, true, mini_sim_now(m));
    for (int k = 0; k < 20 * 120 && (k == 0 || m->out.status == PONS_NAV_RUNNING); k++) {
        mini_sim_tick(m);
    }
    assert_int_equal(m->out.status, PONS_NAV_SUCCEEDED);
    assert_int_equal(m->out.recoveries, 0);
    assert_at(m, goal, true);
    end(&f);
}

static void held_back_then_let_go(void **state)
{
    (void)state;
    // Stopped by another for seven seconds, and not stepped for half a minute: neither is stuck.
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0}, 29);
    mini_sim *m = &f.sim;
    const pons_pose2 goal = {4.8, 1.5, 0.0};
    pons__nav_start(m->nav, goal, true, mini_sim_now(m));
    mini_sim_run(m, 2.0);
    m->share = 0.0;
    mini_sim_run(m, 7.0);
    m->idle = true;
    mini_sim_run(m, 30.0);
    m->idle = false;
    m->share = 1.0;
    for (int k = 0; k < 20 * 60 && m->out.status == PONS_NAV_RUNNING; k++) {
        mini_sim_tick(m);
    }
    assert_int_equal(m->out.status, PONS_NAV_SUCCEEDED);
    assert_int_equal(m->out.recoveries, 0);
    assert_at(m, goal, true);
    end(&f);
}

static void a_new_start_preempts_and_cancel_stops(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0}, 31);
    mini_sim *m = &f.sim;
    pons_pose2 path[16];
    assert_int_equal(pons__nav_path(m->nav, path, 16), 0);
    mini_sim_tick(m);
    assert_int_equal(m->out.status, PONS_NAV_IDLE);

    pons__nav_start(m->nav, (pons_pose2){5.0, 1.5, 0.0}, true, mini_sim_now(m));
    mini_sim_run(m, 3.0);
    assert_int_equal(m->out.status, PONS_NAV_RUNNING);
    assert_int_equal(pons__nav_path(m->nav, path, 16), 16);
    assert_true(hypot(path[15].x - 5.0, path[15].y - 1.5) < 1e-9);
    assert_true(hypot(path[0].x - mini_sim_pose(m).x, path[0].y - mini_sim_pose(m).y) < 0.3);

    const pons_pose2 second = {1.2, 4.5, 2.0};
    assert_int_equal(mini_sim_go(m, second, true, 60.0), PONS_NAV_SUCCEEDED);
    assert_at(m, second, true);

    pons__nav_start(m->nav, (pons_pose2){5.0, 1.5, 0.0}, true, mini_sim_now(m));
    mini_sim_run(m, 3.0);
    pons__nav_cancel(m->nav);
    mini_sim_tick(m);
    assert_int_equal(m->out.status, PONS_NAV_IDLE);
    assert_true(m->out.cmd.v == 0.0 && m->out.cmd.w == 0.0);
    assert_int_equal(pons__nav_path(m->nav, path, 16), 0);
    mini_sim_run(m, 1.0);
    const pons_pose2 rest = mini_sim_truth(m);
    mini_sim_run(m, 2.0);
    assert_true(hypot(mini_sim_truth(m).x - rest.x, mini_sim_truth(m).y - rest.y) < 1e-6);
    end(&f);
}

static void a_pose_that_is_no_number_fails(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0}, 37);
    mini_sim *m = &f.sim;
    pons__nav_start(m->nav, (pons_pose2){5.0, 1.5, 0.0}, true, 0);
    pons__nav_output out;
    pons__nav_step(m->nav, 0, (pons_pose2){NAN, 0, 0}, (pons_twist2){0, 0}, NULL, &out);
    assert_int_equal(out.status, PONS_NAV_FAILED);
    assert_int_equal(out.error_code, PONS_NAVIGATE_TF_ERROR);
    end(&f);
}

enum { THINGS = 7 };
typedef struct thing {
    double x, y, sx, sy;
} thing;

// New places for all of them, away from the robot.
static void scatter(mini_sim *m, pons_rand *r, thing *things)
{
    const pons_pose2 at = mini_sim_truth(m);
    for (int k = 0; k < THINGS; k++) {
        thing *t = &things[k];
        do {
            t->x = 0.3 + 9.4 * pons_rand_unit(r);
            t->y = 0.3 + 7.4 * pons_rand_unit(r);
        } while (hypot(t->x - at.x, t->y - at.y) < 0.9);
        t->sx = 0.15 + 0.35 * pons_rand_unit(r);
        t->sy = 0.15 + 0.35 * pons_rand_unit(r);
        char id[32];
        snprintf(id, sizeof id, "thing_%d", k);
        mini_sim_spawn(m, id, t->x, t->y, t->sx, t->sy);
    }
}

static pons_pose2 random_goal(const mini_sim *m, pons_rand *r)
{
    pons_pose2 goal;
    do {
        goal = (pons_pose2){10.0 * pons_rand_unit(r), 8.0 * pons_rand_unit(r),
                            6.0 * pons_rand_unit(r) - 3.0};
    } while (pons__costmap_clearance(m->grid, goal.x, goal.y) < 0.35);
    return goal;
}

static void assert_untouched(mini_sim *m, const thing *things)
{
    const pons_pose2 t = mini_sim_truth(m);
    for (int k = 0; k < THINGS; k++) {
        const double dx = fmax(fabs(t.x - things[k].x) - 0.5 * things[k].sx, 0.0);
        const double dy = fmax(fabs(t.y - things[k].y) - 0.5 * things[k].sy, 0.0);
        assert_true(hypot(dx, dy) > PARAMS.radius_m + 0.002);
    }
}

// Things appear anywhere, also in the doors, before each of many goals: every navigation ends, no
// thing is touched, and what failed says why.
static void clutter(void **state)
{
    (void)state;
    enum { ROUNDS = 4, GOALS = 5 };
    int arrived = 0;
    for (uint64_t seed = 101; seed < 101 + ROUNDS; seed++) {
        fixture f;
        begin(&f, "house.yaml", NULL, 0, (pons_pose2){2.0, 1.6, 0.0}, seed);
        mini_sim *m = &f.sim;
        pons_rand r;
        pons_rand_seed(&r, seed);
        for (int i = 0; i < GOALS; i++) {
            thing things[THINGS];
            scatter(m, &r, things);
            const pons_pose2 goal = random_goal(m, &r);
            pons__nav_start(m->nav, goal, true, mini_sim_now(m));
            for (int k = 0; k < 20 * 200 && (k == 0 || m->out.status == PONS_NAV_RUNNING); k++) {
                mini_sim_tick(m);
                assert_untouched(m, things);
            }
            if (m->out.status == PONS_NAV_SUCCEEDED) {
                // A goal that something stands on is reached as nearly as can be.
                const pons_pose2 t = mini_sim_truth(m);
                assert_true(hypot(t.x - goal.x, t.y - goal.y) < 0.3 + PARAMS.xy_tolerance_m);
                arrived++;
            } else {
                assert_int_equal(m->out.status, PONS_NAV_FAILED);
                assert_in_range(m->out.error_code, PONS_PLAN_GOAL_OCCUPIED,
                                PONS_PLAN_NO_VALID_PATH);
                assert_true(strlen(m->out.error_msg) > 20);
            }
        }
        end(&f);
    }
    print_message("%d of %d arrived\n", arrived, ROUNDS * GOALS);
    assert_true(arrived >= ROUNDS * GOALS * 3 / 4);
}

static uint64_t eventful_run(uint64_t seed)
{
    fixture f;
    begin(&f, "house.yaml", NULL, 0, (pons_pose2){2.0, 1.6, 0.0}, seed);
    mini_sim *m = &f.sim;
    pons__nav_start(m->nav, (pons_pose2){6.7, 6.4, 1.57}, true, mini_sim_now(m));
    mini_sim_run(m, 2.0);
    mini_sim_spawn(m, "box", 3.5, 4.2, 1.1, 0.3); // the living room's own door
    mini_sim_run(m, 30.0);
    mini_sim_remove(m, "box");
    mini_sim_run(m, 20.0);
    const uint64_t d = m->digest;
    end(&f);
    return d;
}

static void same_inputs_same_bytes(void **state)
{
    (void)state;
    const uint64_t first = eventful_run(41);
    assert_true(eventful_run(41) == first);
    assert_true(eventful_run(42) != first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_everywhere_in_the_house),
        cmocka_unit_test(passes_a_door_of_90_cm),
        cmocka_unit_test(any_heading_will_do_without_a_yaw),
        cmocka_unit_test(goes_around_what_appears),
        cmocka_unit_test(blocked_then_cleared),
        cmocka_unit_test(enclosed_ends_with_208),
        cmocka_unit_test(an_occupied_goal_ends_with_206_or_beside_it),
        cmocka_unit_test(two_blocked_ways_end_with_208),
        cmocka_unit_test(impossible_goals_fail_at_once),
        cmocka_unit_test(stuck_ends_with_105),
        cmocka_unit_test(swaying_is_no_progress),
        cmocka_unit_test(a_slow_robot_is_not_stuck),
        cmocka_unit_test(held_back_then_let_go),
        cmocka_unit_test(a_new_start_preempts_and_cancel_stops),
        cmocka_unit_test(a_pose_that_is_no_number_fails),
        cmocka_unit_test(clutter),
        cmocka_unit_test(same_inputs_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
