// test_arm.c - a body with an arm, in the tabletop under the virtual clock, by the link alone: skills
// that grasp by friction and say so by what is seen, and what they are refused.
//
// Without the MuJoCo module everything is skipped, with a message.
#include "arm_table.h"
#include "rounds.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_apple_into_the_basket(void **unused)
{
    (void)unused;
    const int seeds = (int)rounds(ROUNDS_body_grasps);
    int good = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        bench t;
        table_open(&t, (uint64_t)seed);
        const char *picked = table_run(&t, "pick", "{\"object\":\"apple\"}");
        char first[64];
        snprintf(first, sizeof first, "%s", picked);
        const char *placed = table_run(&t, "place", "{\"object\":\"apple\",\"target\":\"basket\"}");
        bench_step(&t, 1.0);
        const bool in = strcmp(table_where(&t, "apple"), "in basket") == 0;
        good += in;
        if (!in) {
            print_message("seed %d: pick %s, place %s, apple %s\n", seed, first, placed,
                          table_where(&t, "apple"));
        }
        bench_close(&t);
    }
    print_message("%d of %d seeds: the apple is in the basket\n", good, seeds);
    assert_int_equal(good, seeds);
}

static void test_cup_onto_the_shelf_and_back(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 3);
    table_done(&t, "pick", "{\"object\":\"水杯\"}");
    assert_string_equal(table_holding(&t), "cup");
    assert_string_equal(table_where(&t, "cup"), "held -");
    table_done(&t, "place", "{\"target\":\"shelf\"}");
    assert_string_equal(table_where(&t, "cup"), "on shelf");
    table_done(&t, "pick", "{\"object\":\"cup\"}");
    table_done(&t, "place", "{\"at\":{\"x\":1.45,\"y\":1.45,\"z\":0.4}}");
    assert_string_equal(table_where(&t, "cup"), "on table");
    const pons_value *at = pons_get(table_thing(&t, "cup"), "position");
    assert_true(fabs(json_number_value(json_array_get(at, 0)) - 1.45) < 0.03);
    table_done(&t, "home", "{}");
    bench_close(&t);
}

static void test_put_down_anywhere(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 5);
    table_done(&t, "pick", "{\"object\":\"apple\"}");
    table_done(&t, "place", "{}");
    assert_string_equal(table_holding(&t), "");
    assert_string_equal(pons_get_str(table_thing(&t, "apple"), "relation", ""), "on");
    bench_close(&t);
}

static void test_what_is_refused(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 1);
    table_refuses(&t, "pick", "{\"object\":\"pear\"}", "bad_args", 1004);
    table_refuses(&t, "pick", "{}", "bad_args", 0);
    table_refuses(&t, "pick", "{\"object\":\"basket\"}", "bad_args",
                  1001); // wider than the gripper
    table_refuses(&t, "place", "{\"target\":\"basket\"}", "bad_args", 1005);
    table_refuses(&t, "place", "{\"object\":\"apple\"}", "bad_args", 1005);
    table_refuses(&t, "move_to", "{\"pose\":{\"x\":3.5,\"y\":1.5,\"z\":0.8}}", "bad_args", 1001);
    table_refuses(&t, "move_to", "{\"pose\":{\"x\":1.5,\"y\":1.5,\"z\":0.2}}", "bad_args",
                  1001); // in the table
    table_refuses(&t, "move_to", "{\"pose\":{\"x\":1e300,\"y\":-1e300,\"z\":1e300}}", "bad_args",
                  1001);
    table_refuses(&t, "navigate_to_pose", "{\"zone\":\"workplace\"}", "unknown_skill", 0);
    table_done(&t, "pick", "{\"object\":\"apple\"}");
    table_refuses(&t, "pick", "{\"object\":\"cup\"}", "bad_args", 1006);
    table_refuses(&t, "place", "{\"target\":\"cup\"}", "bad_args", 1001); // the apple is too large
    table_refuses(&t, "place", "{\"target\":\"apple\"}", "bad_args", 1004);
    table_refuses(&t, "place", "{\"target\":\"moon\"}", "bad_args", 1004);
    assert_string_equal(table_holding(&t), "apple");
    bench_close(&t);
}

static void test_move_to(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 1);
    table_done(&t, "move_to", "{\"pose\":{\"x\":1.5,\"y\":1.6,\"z\":0.8}}");
    const pons_value *tool = pons_get(pons_get(t.telemetry, "arm"), "tool");
    assert_true(fabs(json_number_value(json_array_get(tool, 0)) - 0.5) < 0.008);
    assert_true(fabs(json_number_value(json_array_get(tool, 1)) - 0.1) < 0.008);
    assert_true(fabs(json_number_value(json_array_get(tool, 2)) - 0.8) < 0.008);
    table_done(&t, "move_to",
               "{\"frame\":\"base\",\"pose\":{\"x\":0.4,\"y\":-0.3,\"z\":0.7,\"yaw\":1.0}}");
    bench_close(&t);
}

static void test_one_goal_has_the_arm(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 1);
    const char *first = bench_goal(&t, "first", "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 1.0);
    table_refuses(&t, "home", "{}", "busy", 0);
    table_refuses(&t, "open_gripper", "{}", "busy", 0);
    assert_string_equal(bench_until_result(&t, first, 60.0), "done 0");
    bench_close(&t);
}

int main(void)
{
    int code = 0;
    if (!table_load(&code)) {
        return code;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apple_into_the_basket),
        cmocka_unit_test(test_cup_onto_the_shelf_and_back),
        cmocka_unit_test(test_put_down_anywhere),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_move_to),
        cmocka_unit_test(test_one_goal_has_the_arm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
