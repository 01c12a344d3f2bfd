// Each skill, end to end, under the virtual clock with the kinematic robot in the house: what it
// does, how it says that it could not, and that the gate and the navigator do not fight.
#include "body_bench.h"
#include "pons/link.h"
#include "pons/schema.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

// Runs one goal to its end: "done 0", "failed 208", …
static const char *run(const char *skill, const char *args, double seconds)
{
    return bench_until_result(&t, bench_goal(&t, NULL, skill, args), seconds);
}

static double yaw(void)
{
    pons_pose2 p;
    assert_int_equal(pons_body_truth(t.body, &p, NULL), PONS_OK);
    return p.yaw;
}

static const pons_value *last_result(void)
{
    return bench_last(&t, "result");
}

static void it_drives_to_every_zone_by_any_of_its_names(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        double x, y;
    } table[] = {
        {"{\"zone\":\"kitchen\"}", 6.7, 6.4},  {"{\"zone\":\"Living Room\"}", 2.2, 2.7},
        {"{\"zone\":\"卧室\"}", 3.2, 6.5},     {"{\"zone\":\"书房\"}", 7.5, 2.4},
        {"{\"zone\":\"hallway\"}", 5.3, 4.65},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const char *r = run("navigate_to_pose", table[i].args, 180.0);
        if (strcmp(r, "done 0") != 0) {
            fail_msg("%s: '%s' %s", table[i].args, r, pons_get_str(last_result(), "error_msg", ""));
        }
        assert_true(bench_truth_to(&t, table[i].x, table[i].y) < 0.3);
        const pons_value *m = pons_get(last_result(), "metrics");
        assert_true(pons_get_num(m, "distance_m", 0.0) > 1.0);
        assert_true(pons_get_num(m, "duration_s", 0.0) > 1.0);
        assert_int_equal(pons_get_int(m, "recoveries", -1), 0);
    }
    assert_int_equal(t.risks, 0); // doors, walls and furniture are no surprises
}

static void it_drives_to_a_pose_with_its_heading(void **state)
{
    (void)state;
    assert_string_equal(
        run("navigate_to_pose", "{\"pose\":{\"x\":2.6,\"y\":3.2,\"yaw\":1.57}}", 60.0), "done 0");
    assert_true(bench_truth_to(&t, 2.6, 3.2) < 0.25);
    assert_true(fabs(pons_wrap_angle(yaw() - 1.57)) < 0.35);
}

static void a_place_that_cannot_be_reached_fails_with_nav2s_number(void **state)
{
    (void)state;
    assert_string_equal(run("navigate_to_pose", "{\"pose\":{\"x\":50,\"y\":50}}", 60.0),
                        "failed 204");
    assert_true(strlen(pons_get_str(last_result(), "error_msg", "")) > 0);
}

static void it_docks_charges_and_leaves_again(void **state)
{
    (void)state;
    bench_send(&t,
               pons_object("type", json_string("world.battery"), "pct", json_integer(30), NULL));
    bench_step(&t, 0.1);
    const char *r = run("dock_to_charger", "{}", 180.0);
    if (strcmp(r, "done 0") != 0) {
        fail_msg("'%s' %s", r, pons_get_str(last_result(), "error_msg", ""));
    }
    bench_step(&t, 0.1);
    assert_true(pons_get_bool(t.telemetry, "docked", false));
    assert_string_equal(pons_get_str(t.telemetry, "battery_state", ""), "charging");
    const double before = pons_get_num(t.telemetry, "battery_pct", 0.0);
    bench_step(&t, 10.0);
    assert_true(pons_get_num(t.telemetry, "battery_pct", 0.0) > before + 5.0);
    assert_string_equal(run("dock_to_charger", "{}", 10.0), "done 0"); // it is there already

    assert_string_equal(run("undock", "{}", 30.0), "done 0");
    bench_step(&t, 0.5);
    assert_false(pons_get_bool(t.telemetry, "docked", true));
    assert_string_not_equal(pons_get_str(t.telemetry, "battery_state", ""), "charging");
    assert_string_equal(run("undock", "{}", 30.0), "done 0"); // and it is off already
    assert_int_equal(t.risks, 0);
}

static void a_journey_may_begin_on_the_charger(void **state)
{
    (void)state;
    assert_string_equal(run("dock_to_charger", "{}", 180.0), "done 0");
    assert_string_equal(run("navigate_to_pose", "{\"zone\":\"bedroom\"}", 180.0), "done 0");
    assert_true(bench_truth_to(&t, 3.2, 6.5) < 0.3);
    assert_false(pons_get_bool(t.telemetry, "docked", true));
    assert_int_equal(t.risks, 0);
}

static void docking_behind_an_obstacle_fails_and_says_how(void **state)
{
    (void)state;
    // A shelf across the corridor's end, between the robot and the pad.
    bench_send(&t, pons_object("type", json_string("world.spawn"), "id", json_string("shelf"), "x",
                               json_real(1.6), "y", json_real(4.65), "sx", json_real(0.2), "sy",
                               json_real(1.3), NULL));
    bench_step(&t, 0.1);
    const char *r = run("dock_to_charger", "{}", 400.0);
    assert_true(strcmp(r, "failed 903") == 0 || strcmp(r, "failed 9903") == 0);
}

static void spin_and_back_up_move_by_as_much(void **state)
{
    (void)state;
    const double yaw0 = yaw();
    assert_string_equal(run("spin", "{\"angle_rad\":1.57}", 30.0), "done 0");
    assert_true(fabs(pons_wrap_angle(yaw() - yaw0 - 1.57)) < 0.1);
    assert_string_equal(run("spin", "{\"angle_rad\":-1.57}", 30.0), "done 0");
    pons_pose2 a, b;
    bench_step(&t, 0.5);
    pons_body_truth(t.body, &a, NULL);
    assert_string_equal(run("back_up", "{\"distance_m\":0.4}", 30.0), "done 0");
    pons_body_truth(t.body, &b, NULL);
    assert_true(fabs(hypot(a.x - b.x, a.y - b.y) - 0.4) < 0.06);
    assert_true(cos(a.yaw) * (b.x - a.x) + sin(a.yaw) * (b.y - a.y) < 0.0);
}

static void backing_into_a_wall_is_refused_by_the_gate(void **state)
{
    (void)state;
    pons_pose2 p;
    pons_body_truth(t.body, &p, NULL);
    bench_send(&t, pons_object("type", json_string("world.spawn"), "id", json_string("box"), "x",
                               json_real(p.x - 0.8), "y", json_real(p.y), "sx", json_real(0.2),
                               "sy", json_real(1.0), NULL));
    bench_step(&t, 0.3);
    assert_string_equal(run("back_up", "{\"distance_m\":1.5}", 60.0), "failed 714");
    assert_true(bench_truth_to(&t, p.x - 0.7, p.y) > 0.22); // not touched
    assert_int_equal(t.risks, 0);
}

static void what_needs_no_base_runs_beside_what_does(void **state)
{
    (void)state;
    const char *drive = bench_goal(&t, "drive", "navigate_to_pose", "{\"zone\":\"study\"}");
    bench_step(&t, 1.0);
    assert_string_equal(run("speak", "{\"text\":\"你好\"}", 5.0), "done 0");
    assert_string_equal(pons_get_str(bench_last(&t, "speak"), "text", ""), "你好");
    const int64_t before_ms = pons_get_int(t.telemetry, "robot_ms", 0);
    assert_string_equal(run("wait", "{\"s\":2}", 5.0), "done 0");
    assert_true(pons_get_int(t.telemetry, "robot_ms", 0) - before_ms >= 1900);
    assert_string_equal(run("look", "{}", 5.0), "done 0");
    assert_string_equal(bench_until_result(&t, drive, 180.0), "done 0");
}

static void stop_base_takes_the_base_and_stands(void **state)
{
    (void)state;
    bench_goal(&t, "drive", "navigate_to_pose", "{\"zone\":\"study\"}");
    bench_step(&t, 3.0);
    assert_true(bench_speed(&t) > 0.2);
    assert_string_equal(run("stop_base", "{}", 5.0), "done 0");
    bench_step(&t, 0.1);
    assert_true(bench_speed(&t) < 0.02);
    assert_string_equal(bench_until_result(&t, "drive", 0.1), "canceled 9905");
    assert_string_equal(run("stop_base", "{}", 5.0), "done 0"); // may always be repeated
}

static void a_goal_walled_in_fails_with_no_valid_path(void **state)
{
    (void)state;
    // Both ways into the bedroom: its only door is closed.
    bench_send(&t, pons_object("type", json_string("world.spawn"), "id", json_string("door"), "x",
                               json_real(3.0), "y", json_real(5.35), "sx", json_real(1.2), "sy",
                               json_real(0.2), NULL));
    const char *r = run("navigate_to_pose", "{\"zone\":\"bedroom\"}", 299.0);
    assert_true(strcmp(r, "failed 208") == 0 || strcmp(r, "failed 105") == 0);
    assert_true(bench_truth_to(&t, 3.0, 5.25) > 0.2);
}

static void an_obstacle_on_the_way_is_gone_around(void **state)
{
    (void)state;
    bench_goal(&t, "drive", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    bench_step(&t, 4.0);
    pons_pose2 p;
    pons_body_truth(t.body, &p, NULL);
    bench_send(&t, pons_object("type", json_string("world.spawn"), "id", json_string("box"), "x",
                               json_real(p.x + 0.9 * cos(p.yaw)), "y",
                               json_real(p.y + 0.9 * sin(p.yaw)), "sx", json_real(0.3), "sy",
                               json_real(0.3), NULL));
    const char *r = bench_until_result(&t, "drive", 180.0);
    if (strcmp(r, "done 0") != 0) {
        fail_msg("'%s' %s", r, pons_get_str(last_result(), "error_msg", ""));
    }
}

// Feedback by Nav2's names, and which node it is; the same node is what a watcher is told of.
static void a_navigation_says_where_its_tree_is(void **state)
{
    (void)state;
    pons_link *eye = bench_join(&t);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_link_send(eye,
                                    pons_object("type", json_string("hello"), "protocol",
                                                json_integer(PONS_LINK_PROTOCOL), "role",
                                                json_string("observer"), "tree", json_true(), NULL),
                                    &err),
                     PONS_OK);
    bench_step(&t, 0.1);
    bench_goal(&t, "drive", "navigate_through_poses", "{\"zones\":[\"corridor\",\"kitchen\"]}");
    bench_step(&t, 3.0);
    assert_int_equal(pons_get_int(t.feedback, "number_of_recoveries", -1), 0);
    assert_int_equal(pons_get_int(t.feedback, "number_of_poses_remaining", -1), 2);
    assert_true(fabs(pons_get_num(t.feedback, "navigation_time", NAN) - 3.0) < 0.3);
    assert_true(pons_get_num(t.feedback, "distance_remaining", NAN) > 3.0);
    assert_true(pons_get_num(t.feedback, "estimated_time_remaining", NAN) > 3.0);
    const char *node = pons_get_str(t.feedback, "current_node", "");
    assert_non_null(strstr(node, "Action:FollowPath"));
    bool outlined = false, began = false;
    for (pons_value *m = NULL; pons_link_recv(eye, &m, &err) == 1; pons_value_unref(m)) {
        const pons_value *nodes = pons_get(m, "nodes"), *changes = pons_get(m, "changes");
        for (size_t i = 0; i < json_array_size(nodes); i++) {
            outlined |= strcmp(pons_get_str(json_array_get(nodes, i), "path", ""), node) == 0;
        }
        for (size_t i = 0; i < json_array_size(changes); i++) {
            const pons_value *c = json_array_get(changes, i);
            began |= outlined && strcmp(pons_get_str(c, "path", ""), node) == 0 &&
                     strcmp(pons_get_str(c, "to", ""), "RUNNING") == 0;
        }
    }
    assert_true(outlined && began);
    pons_link_close(eye);
}

// The first change of each node begins in the state that the outline gave it, for each of several
// watchers, whenever they come.
static void a_watcher_who_comes_later_misses_nothing(void **state)
{
    (void)state;
    pons_link *eyes[3];
    pons_error err = PONS_ERROR_INIT;
    for (int k = 0; k < 3; k++) {
        eyes[k] = bench_join(&t);
        pons_value *hello =
            pons_object("type", json_string("hello"), "protocol", json_integer(PONS_LINK_PROTOCOL),
                        "role", json_string("observer"), "tree", json_true(), NULL);
        if (k == 1) {
            bench_goal(&t, "drive", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
        }
        assert_int_equal(pons_link_send(eyes[k], hello, &err), PONS_OK);
        bench_step(&t, k == 1 ? 2.35 : 2.2);
    }
    for (int k = 0; k < 3; k++) {
        char is[64][16];
        int changes = 0;
        for (pons_value *m = NULL; pons_link_recv(eyes[k], &m, &err) == 1; pons_value_unref(m)) {
            const pons_value *nodes = pons_get(m, "nodes"), *list = pons_get(m, "changes");
            for (size_t i = 0; i < json_array_size(nodes); i++) {
                const pons_value *n = json_array_get(nodes, i);
                assert_in_range(pons_get_int(n, "node", 99), 0, 63);
                snprintf(is[pons_get_int(n, "node", 0)], 16, "%s", pons_get_str(n, "state", ""));
            }
            for (size_t i = 0; i < json_array_size(list); i++, changes++) {
                const pons_value *c = json_array_get(list, i);
                char *now = is[pons_get_int(c, "node", 0) % 64];
                assert_string_equal(pons_get_str(c, "from", ""), now);
                snprintf(now, 16, "%s", pons_get_str(c, "to", ""));
            }
        }
        assert_true(changes > 10);
        pons_link_close(eyes[k]);
    }
}

static void a_tree_that_cannot_be_had_refuses_the_goal(void **state)
{
    (void)state;
    bench_goal(&t, "bad", "navigate_to_pose",
               "{\"zone\":\"kitchen\",\"behavior_tree\":\"scenarios/trees/broken.xml\"}");
    bench_step(&t, 0.1);
    const pons_value *no = bench_last(&t, "rejected");
    assert_string_equal(pons_get_str(no, "code", ""), "bad_args");
    assert_int_equal(pons_get_int(no, "error_code", 0), 9001);
    assert_non_null(strstr(pons_get_str(no, "message", ""), "broken.xml:7:7"));
    assert_int_equal(bench_ledger(&t, "bad", "started"), 0);
}

static void drive_on_heading_drives_and_looks_ahead(void **state)
{
    (void)state;
    pons_pose2 p;
    pons_body_truth(t.body, &p, NULL);
    assert_string_equal(run("drive_on_heading", "{\"distance_m\":0.5,\"speed_mps\":0.3}", 20.0),
                        "done 0");
    assert_true(fabs(bench_truth_to(&t, p.x, p.y) - 0.5) < 0.06);
    assert_string_equal(run("drive_on_heading", "{\"distance_m\":2.0}", 40.0), "failed 723");
    assert_string_equal(
        run("drive_on_heading", "{\"distance_m\":0.1,\"time_allowance_s\":0.2}", 5.0),
        "failed 721");
    assert_int_equal(t.risks, 0);
}

// The allowance is for the way at its speed: the last decimetres take no longer than the others.
static void drive_on_heading_keeps_its_allowance(void **state)
{
    (void)state;
    pons_pose2 p;
    assert_string_equal(run("back_up", "{\"distance_m\":0.9,\"speed_mps\":0.3}", 20.0), "done 0");
    pons_body_truth(t.body, &p, NULL);
    assert_string_equal(run("drive_on_heading",
                            "{\"distance_m\":1.2,\"speed_mps\":0.2,\"time_allowance_s\":7.5}",
                            20.0),
                        "done 0");
    bench_step(&t, 1.0);
    assert_true(fabs(bench_truth_to(&t, p.x, p.y) - 1.2) < 0.02);
    // Longer than any time-out of the skill's own, when the goal allows it.
    bench_goal(&t, "slow", "back_up",
               "{\"distance_m\":0.9,\"speed_mps\":0.01,\"time_allowance_s\":120}");
    assert_string_equal(bench_until_result(&t, "slow", 110.0), "done 0");
}

static double timeout_told(void)
{
    return pons_get_num(pons_get(t.telemetry, "goal"), "timeout_s", NAN);
}

// As the goal says, or as long as its way is worth.
static void a_journeys_time_follows_from_its_way(void **state)
{
    (void)state;
    bench_goal(&t, "short", "navigate_to_pose", "{\"zone\":\"kitchen\",\"timeout_s\":3}");
    bench_step(&t, 1.0);
    assert_true(timeout_told() == 3.0);
    assert_string_equal(bench_until_result(&t, "short", 4.0), "failed 9003");
    bench_goal(&t, "near", "navigate_to_pose", "{\"pose\":{\"x\":2.2,\"y\":2.7}}");
    bench_step(&t, 0.5);
    assert_true(timeout_told() == 180.0);
    bench_until_result(&t, "near", 60.0);
    bench_goal(&t, "far", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    bench_step(&t, 0.5);
    const double way = pons_get_num(t.telemetry, "distance_remaining_m", NAN);
    assert_true(way > 6.0);
    assert_true(fabs(timeout_told() - fmax(180.0, 120.0 + 5.0 * way / 0.6)) < 5.0);
}

static void the_registry_is_complete(void **state)
{
    (void)state;
    static const char *const names[] = {"navigate_to_pose",
                                        "navigate_through_poses",
                                        "stop_base",
                                        "dock_to_charger",
                                        "undock",
                                        "speak",
                                        "wait",
                                        "spin",
                                        "back_up",
                                        "drive_on_heading",
                                        "drive_by_hand",
                                        "look",
                                        "follow_actions"};
    const pons_value *skills = pons_get(bench_last(&t, "hello"), "skills");
    assert_int_equal(json_array_size(skills), sizeof names / sizeof names[0]);
    pons_autovalue text = json_load_file(PONS_SOURCE_DIR "/schemas/skill.json", 0, NULL);
    pons_schema *schema = NULL;
    assert_non_null(text);
    assert_int_equal(pons_schema_compile(text, &schema, NULL), PONS_OK);
    for (size_t i = 0; i < json_array_size(skills); i++) {
        const pons_value *k = json_array_get(skills, i);
        pons_error err = PONS_ERROR_INIT;
        if (pons_schema_check(schema, k, &err) < 0) {
            fail_msg("%s: %s", names[i], err.message);
        }
        assert_string_equal(pons_get_str(k, "name", ""), names[i]);
        assert_string_equal(pons_get_str(k, "interface_type", ""), "internal");
        assert_true(strlen(pons_get_str(k, "success_criteria", "")) > 0);
        assert_non_null(pons_get_str(pons_get(k, "error_map"), "default", NULL));
    }
    pons_schema_destroy(schema);
}

int main(void)
{
    pons_value_init();
#define IN_HOUSE(test) cmocka_unit_test_setup_teardown(test, open_house, close_house)
    const struct CMUnitTest tests[] = {
        IN_HOUSE(it_drives_to_every_zone_by_any_of_its_names),
        IN_HOUSE(it_drives_to_a_pose_with_its_heading),
        IN_HOUSE(a_place_that_cannot_be_reached_fails_with_nav2s_number),
        IN_HOUSE(it_docks_charges_and_leaves_again),
        IN_HOUSE(a_journey_may_begin_on_the_charger),
        IN_HOUSE(docking_behind_an_obstacle_fails_and_says_how),
        IN_HOUSE(spin_and_back_up_move_by_as_much),
        IN_HOUSE(backing_into_a_wall_is_refused_by_the_gate),
        IN_HOUSE(what_needs_no_base_runs_beside_what_does),
        IN_HOUSE(stop_base_takes_the_base_and_stands),
        IN_HOUSE(a_goal_walled_in_fails_with_no_valid_path),
        IN_HOUSE(an_obstacle_on_the_way_is_gone_around),
        IN_HOUSE(a_navigation_says_where_its_tree_is),
        IN_HOUSE(a_watcher_who_comes_later_misses_nothing),
        IN_HOUSE(a_tree_that_cannot_be_had_refuses_the_goal),
        IN_HOUSE(drive_on_heading_drives_and_looks_ahead),
        IN_HOUSE(drive_on_heading_keeps_its_allowance),
        IN_HOUSE(a_journeys_time_follows_from_its_way),
        IN_HOUSE(the_registry_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
