// test_arm_troubles.c - a body with an arm, in the tabletop under the virtual clock, by the link alone: what stops its
// skills, at any moment, and what becomes of that; a driver that lies or fails is seen.
//
// Without the MuJoCo module everything is skipped, with a message.
#include "arm_table.h"
#include "rounds.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

// A stop in the middle of a grasp halts the arm, it stays where it is, and what comes after the reset
// begins anew and ends well; at every half second of a pick, or as many of them as are asked for.
static void test_stop_at_every_moment(void **unused)
{
    (void)unused;
    bench whole;
    int moments = 0;
    table_open(&whole, 2);
    const char *undisturbed = bench_goal(&whole, "g", "pick", "{\"object\":\"apple\"}");
    for (bench_step(&whole, 0.3); !pons_get(whole.results, undisturbed); bench_step(&whole, 0.5)) {
        moments++;
    }
    bench_close(&whole);
    assert_true(moments >= 6);
    const int asked = (int)rounds(ROUNDS_body_stops), n = asked < moments ? asked : moments;
    for (int i = 0; i < n; i++) {
        bench t;
        table_open(&t, 2);
        const char *goal = bench_goal(&t, "g", "pick", "{\"object\":\"apple\"}");
        bench_step(&t, 0.3 + 0.5 * (i * (moments - 1) / (n > 1 ? n - 1 : 1)));
        assert_null(pons_get(t.results, goal));
        bench_send(&t,
                   pons_object("type", json_string("stop"), "reason", json_string("test"), NULL));
        bench_step(&t, 0.2);
        assert_string_equal(bench_until_result(&t, goal, 1.0), "failed 9902");
        assert_true(table_speed(&t) < 0.01);
        table_refuses(&t, "home", "{}", "latched", 0);
        bench_send(&t, pons_object("type", json_string("reset"), NULL));
        bench_step(&t, 0.3);
        assert_true(table_speed(&t) < 0.01); // nothing leaps
        table_done(&t, "pick", "{\"object\":\"apple\"}");
        assert_string_equal(table_holding(&t), "apple");
        bench_close(&t);
    }
    print_message("stopped at %d of %d moments of a pick\n", n, moments);
}

// A stop with the apple in hand drops nothing, for as long as it lasts.
static void test_stopped_with_it_in_hand(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 2);
    table_done(&t, "pick", "{\"object\":\"apple\"}");
    bench_goal(&t, "g", "place", "{\"target\":\"basket\"}");
    bench_step(&t, 1.5);
    bench_send(&t, pons_object("type", json_string("stop"), "reason", json_string("test"), NULL));
    bench_step(&t, 20.0);
    assert_string_equal(table_holding(&t), "apple");
    bench_send(&t, pons_object("type", json_string("reset"), NULL));
    bench_step(&t, 0.3);
    table_done(&t, "place", "{\"target\":\"basket\"}");
    assert_string_equal(table_where(&t, "apple"), "in basket");
    bench_close(&t);
}

// The body dies with the apple in hand: the next one sees it there, and places it.
static void test_reboot_with_it_in_hand(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 4);
    table_done(&t, "pick", "{\"object\":\"apple\"}");
    bench_goal(&t, "cut", "place", "{\"target\":\"basket\"}");
    bench_step(&t, 1.0);
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.5);
    assert_string_equal(table_holding(&t), "apple");
    const pons_value *status = bench_status(&t, "cut"); // reported, never repeated
    assert_true(pons_get_bool(status, "known", false));
    assert_false(pons_get_bool(status, "same_boot", true));
    if (pons_get_bool(pons_get(t.telemetry, "stop"), "latched", false)) {
        bench_send(&t, pons_object("type", json_string("reset"), NULL));
        bench_step(&t, 0.3);
    }
    table_done(&t, "place", "{\"target\":\"basket\"}");
    assert_string_equal(table_where(&t, "apple"), "in basket");
    bench_close(&t);
}

// What a body tells first of all is what the restored robot holds, not what an arm at home would.
static void test_first_words_after_a_reboot(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 4);
    table_done(&t, "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 0.5);
    bench_reboot(&t);
    pons_link *eye = bench_join(&t);
    pons_value *hello = pons_object("type", json_string("hello"), "protocol", json_integer(1),
                                    "role", json_string("observer"), "name", json_string("eye"),
                                    "pid", json_integer(43), NULL);
    assert_int_equal(pons_link_send(eye, hello, NULL), PONS_OK);
    assert_int_equal(pons_body_step(t.body, 10 * PONS_NS_PER_MS, NULL), PONS_OK);
    pons_value *m = NULL;
    bool reported = false;
    while (!reported && pons_link_recv(eye, &m, NULL) == 1) {
        reported = strcmp(pons_get_str(m, "type", ""), "telemetry") == 0;
        if (reported) {
            assert_string_equal(pons_get_str(m, "holding", "nothing"), "apple");
        }
        pons_value_unref(m);
    }
    assert_true(reported);
    pons_link_close(eye);
    bench_close(&t);
}

// Without its brain the arm brakes and holds; adopted, the goal goes on.
static void test_brain_lost_and_back(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 1);
    bench_goal(&t, "g", "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 1.2);
    bench_drop(&t);
    bench_step(&t, 3.0);
    bench_hello(&t);
    bench_step(&t, 0.2);
    assert_true(table_speed(&t) < 0.01);
    bench_send(&t, pons_object("type", json_string("adopt"), "goal_id", json_string("g"), "epoch",
                               json_integer(t.epoch), NULL));
    assert_string_equal(bench_until_result(&t, "g", 60.0), "done 0");
    assert_string_equal(table_holding(&t), "apple");
    bench_close(&t);
}

static void test_cancel(void **unused)
{
    (void)unused;
    bench t;
    table_open(&t, 1);
    bench_goal(&t, "g", "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 1.0);
    bench_send(&t, pons_object("type", json_string("cancel"), "goal_id", json_string("g"), "epoch",
                               json_integer(t.epoch), NULL));
    assert_string_equal(bench_until_result(&t, "g", 1.0), "canceled 0");
    bench_step(&t, 0.5);
    assert_true(table_speed(&t) < 0.01);
    bench_goal(&t, "h", "home", "{}");
    bench_step(&t, 0.5);
    assert_string_equal(table_run(&t, "stop_base", "{}"), "done 0"); // stops the arm as well
    assert_string_equal(bench_until_result(&t, "h", 1.0), "canceled 9905");
    bench_close(&t);
}

// ---- a driver that lies or fails ----------------------------------------------------------------

static struct {
    bool vanish;  // the apple is not seen any more
    double shift; // it is seen so far beside where it is
    bool jam;     // the gripper does nothing
    bool dead;    // the joints do nothing
} trouble;

static pons_robot_ops bad;
static pons_robot_arm_ops bad_arm;
static void *bad_self;

static int bad_objects(void *self, pons_robot_object *ret, int cap)
{
    int n = table_robot->arm->objects(self, ret, cap), kept = 0;
    bad_self = self;
    for (int i = 0; i < n; i++) {
        const bool apple = strcmp(ret[i].id, "apple") == 0;
        if (apple) {
            ret[i].pose.p[0] += trouble.shift;
        }
        if (!(apple && trouble.vanish)) {
            ret[kept++] = ret[i];
        }
    }
    return kept;
}

static void bad_grip(void *self, double width, double force)
{
    if (!trouble.jam) {
        table_robot->arm->grip(self, width, force);
    }
}

static void bad_write(void *self, const double *qd)
{
    static const double still[PONS_ARM_JOINTS];
    table_robot->arm->write(self, trouble.dead ? still : qd);
}

static void open_bad(bench *t)
{
    memset(&trouble, 0, sizeof trouble);
    bad = *table_robot;
    bad_arm = *table_robot->arm;
    bad_arm.objects = bad_objects;
    bad_arm.grip = bad_grip;
    bad_arm.write = bad_write;
    bad.arm = &bad_arm;
    bench_open_with(t, PONS_SOURCE_DIR "/worlds/tabletop.yaml", &bad, 2);
    bench_hello(t);
    bench_step(t, 0.5);
}

static void test_failures_are_seen(void **unused)
{
    (void)unused;
    bench t;
    open_bad(&t);
    bench_goal(&t, "gone", "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 1.0);
    trouble.vanish = true;
    assert_string_equal(bench_until_result(&t, "gone", 60.0), "failed 1009");
    table_refuses(&t, "pick", "{\"object\":\"apple\"}", "bad_args", 1004);
    trouble.vanish = false;
    bench_step(&t, 0.2);
    trouble.dead = true;
    assert_string_equal(table_run(&t, "home", "{}"), "failed 1007");
    trouble.dead = false;
    table_done(&t, "home", "{}");
    trouble.jam = true; // open: it never closes
    assert_string_equal(table_run(&t, "pick", "{\"object\":\"apple\"}"), "failed 1010");
    assert_string_equal(table_run(&t, "close_gripper", "{}"), "failed 1010");
    trouble.jam = false;
    table_done(&t, "home", "{}");
    trouble.shift = -0.09; // the fingers meet nothing there
    bench_step(&t, 0.2);
    assert_string_equal(table_run(&t, "pick", "{\"object\":\"apple\"}"), "failed 1002");
    assert_string_equal(table_holding(&t), "");
    trouble.shift = 0.0;
    bench_step(&t, 0.2);
    table_done(&t, "pick", "{\"object\":\"apple\"}"); // and after all that it works
    bench_close(&t);
}

static void test_what_falls_is_seen(void **unused)
{
    (void)unused;
    bench t;
    open_bad(&t);
    table_done(&t, "pick", "{\"object\":\"apple\"}");
    bench_goal(&t, "slip", "place", "{\"target\":\"basket\"}");
    bench_step(&t, 0.5);
    table_robot->arm->grip(bad_self, 0.08, 25.0); // somebody opens the fingers
    assert_string_equal(bench_until_result(&t, "slip", 60.0), "failed 1003");
    assert_string_equal(table_holding(&t), "");
    bench_close(&t);
}

int main(void)
{
    int code = 0;
    if (!table_load(&code)) {
        return code;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_at_every_moment),
        cmocka_unit_test(test_stopped_with_it_in_hand),
        cmocka_unit_test(test_reboot_with_it_in_hand),
        cmocka_unit_test(test_first_words_after_a_reboot),
        cmocka_unit_test(test_brain_lost_and_back),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_failures_are_seen),
        cmocka_unit_test(test_what_falls_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
