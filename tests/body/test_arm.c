// test_arm.c - a body with an arm, in the tabletop under the virtual clock, by the link alone: skills
// that grasp by friction and say so by what is seen; what stops them, and what they are refused.
//
// Without the MuJoCo module everything is skipped, with a message.
#include "body_bench.h"
#include "pons/module.h"
#include "rounds.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pons_robot_ops *mujoco;

static void open_table(bench *t, uint64_t seed)
{
    bench_open_with(t, PONS_SOURCE_DIR "/worlds/tabletop.yaml", mujoco, seed);
    bench_hello(t);
    bench_step(t, 0.5);
}

static const pons_value *thing(const bench *t, const char *id)
{
    size_t i;
    json_t *o;
    json_array_foreach(pons_get(t->telemetry, "scene"), i, o)
    {
        if (strcmp(pons_get_str(o, "id", ""), id) == 0) {
            return o;
        }
    }
    return NULL;
}

static const char *where(const bench *t, const char *id)
{
    static char text[128];
    const pons_value *o = thing(t, id);
    snprintf(text, sizeof text, "%s %s", pons_get_str(o, "relation", "-"),
             pons_get_str(o, "at", "-"));
    return text;
}

static const char *holding(const bench *t)
{
    return pons_get_str(t->telemetry, "holding", "");
}

static const char *run(bench *t, const char *skill, const char *args)
{
    return bench_until_result(t, bench_goal(t, NULL, skill, args), 90.0);
}

static void done(bench *t, const char *skill, const char *args)
{
    const char *result = run(t, skill, args);
    if (strcmp(result, "done 0") != 0) {
        fail_msg("%s %s: %s, holding %s", skill, args, result, holding(t));
    }
}

static void refused(bench *t, const char *skill, const char *args, const char *code, int number)
{
    bench_forget(t);
    bench_goal(t, NULL, skill, args);
    bench_step(t, 0.05);
    const pons_value *r = bench_last(t, "rejected");
    assert_string_equal(pons_get_str(r, "code", ""), code);
    assert_int_equal(pons_get_int(r, "error_code", 0), number);
}

static void test_apple_into_the_basket(void **unused)
{
    (void)unused;
    const int seeds = (int)rounds(ROUNDS_body_grasps);
    int good = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        bench t;
        open_table(&t, (uint64_t)seed);
        const char *picked = run(&t, "pick", "{\"object\":\"apple\"}");
        char first[64];
        snprintf(first, sizeof first, "%s", picked);
        const char *placed = run(&t, "place", "{\"object\":\"apple\",\"target\":\"basket\"}");
        bench_step(&t, 1.0);
        const bool in = strcmp(where(&t, "apple"), "in basket") == 0;
        good += in;
        if (!in) {
            print_message("seed %d: pick %s, place %s, apple %s\n", seed, first, placed,
                          where(&t, "apple"));
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
    open_table(&t, 3);
    done(&t, "pick", "{\"object\":\"水杯\"}");
    assert_string_equal(holding(&t), "cup");
    assert_string_equal(where(&t, "cup"), "held -");
    done(&t, "place", "{\"target\":\"shelf\"}");
    assert_string_equal(where(&t, "cup"), "on shelf");
    done(&t, "pick", "{\"object\":\"cup\"}");
    done(&t, "place", "{\"at\":{\"x\":1.45,\"y\":1.45,\"z\":0.4}}");
    assert_string_equal(where(&t, "cup"), "on table");
    const pons_value *at = pons_get(thing(&t, "cup"), "position");
    assert_true(fabs(json_number_value(json_array_get(at, 0)) - 1.45) < 0.03);
    done(&t, "home", "{}");
    bench_close(&t);
}

static void test_put_down_anywhere(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 5);
    done(&t, "pick", "{\"object\":\"apple\"}");
    done(&t, "place", "{}");
    assert_string_equal(holding(&t), "");
    assert_string_equal(pons_get_str(thing(&t, "apple"), "relation", ""), "on");
    bench_close(&t);
}

static void test_what_is_refused(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 1);
    refused(&t, "pick", "{\"object\":\"pear\"}", "bad_args", 1004);
    refused(&t, "pick", "{}", "bad_args", 0);
    refused(&t, "pick", "{\"object\":\"basket\"}", "bad_args", 1001); // wider than the gripper
    refused(&t, "place", "{\"target\":\"basket\"}", "bad_args", 1005);
    refused(&t, "place", "{\"object\":\"apple\"}", "bad_args", 1005);
    refused(&t, "move_to", "{\"pose\":{\"x\":3.5,\"y\":1.5,\"z\":0.8}}", "bad_args", 1001);
    refused(&t, "move_to", "{\"pose\":{\"x\":1.5,\"y\":1.5,\"z\":0.2}}", "bad_args",
            1001); // in the table
    refused(&t, "move_to", "{\"pose\":{\"x\":1e300,\"y\":-1e300,\"z\":1e300}}", "bad_args", 1001);
    refused(&t, "navigate_to_pose", "{\"zone\":\"workplace\"}", "unknown_skill", 0);
    done(&t, "pick", "{\"object\":\"apple\"}");
    refused(&t, "pick", "{\"object\":\"cup\"}", "bad_args", 1006);
    refused(&t, "place", "{\"target\":\"cup\"}", "bad_args", 1001); // the apple is too large
    refused(&t, "place", "{\"target\":\"apple\"}", "bad_args", 1004);
    refused(&t, "place", "{\"target\":\"moon\"}", "bad_args", 1004);
    assert_string_equal(holding(&t), "apple");
    bench_close(&t);
}

static void test_move_to(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 1);
    done(&t, "move_to", "{\"pose\":{\"x\":1.5,\"y\":1.6,\"z\":0.8}}");
    const pons_value *tool = pons_get(pons_get(t.telemetry, "arm"), "tool");
    assert_true(fabs(json_number_value(json_array_get(tool, 0)) - 0.5) < 0.008);
    assert_true(fabs(json_number_value(json_array_get(tool, 1)) - 0.1) < 0.008);
    assert_true(fabs(json_number_value(json_array_get(tool, 2)) - 0.8) < 0.008);
    done(&t, "move_to",
         "{\"frame\":\"base\",\"pose\":{\"x\":0.4,\"y\":-0.3,\"z\":0.7,\"yaw\":1.0}}");
    bench_close(&t);
}

static void test_one_goal_has_the_arm(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 1);
    const char *first = bench_goal(&t, "first", "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 1.0);
    refused(&t, "home", "{}", "busy", 0);
    refused(&t, "open_gripper", "{}", "busy", 0);
    assert_string_equal(bench_until_result(&t, first, 60.0), "done 0");
    bench_close(&t);
}

static double speed_of(bench *t) // the fastest joint, between two looks
{
    double before[8], most = 0.0;
    const pons_value *q = pons_get(pons_get(t->telemetry, "arm"), "joints");
    for (size_t i = 0; i < 7; i++) {
        before[i] = json_number_value(json_array_get(q, i));
    }
    bench_step(t, 0.1);
    q = pons_get(pons_get(t->telemetry, "arm"), "joints");
    for (size_t i = 0; i < 7; i++) {
        most = fmax(most, fabs(json_number_value(json_array_get(q, i)) - before[i]) / 0.1);
    }
    return most;
}

// A stop in the middle of a grasp halts the arm, it stays where it is, and what comes after the reset
// begins anew and ends well; at every half second of a pick, or as many of them as are asked for.
static void test_stop_at_every_moment(void **unused)
{
    (void)unused;
    bench whole;
    int moments = 0;
    open_table(&whole, 2);
    const char *undisturbed = bench_goal(&whole, "g", "pick", "{\"object\":\"apple\"}");
    for (bench_step(&whole, 0.3); !pons_get(whole.results, undisturbed); bench_step(&whole, 0.5)) {
        moments++;
    }
    bench_close(&whole);
    assert_true(moments >= 6);
    const int asked = (int)rounds(ROUNDS_body_stops), n = asked < moments ? asked : moments;
    for (int i = 0; i < n; i++) {
        bench t;
        open_table(&t, 2);
        const char *goal = bench_goal(&t, "g", "pick", "{\"object\":\"apple\"}");
        bench_step(&t, 0.3 + 0.5 * (i * (moments - 1) / (n > 1 ? n - 1 : 1)));
        assert_null(pons_get(t.results, goal));
        bench_send(&t,
                   pons_object("type", json_string("stop"), "reason", json_string("test"), NULL));
        bench_step(&t, 0.2);
        assert_string_equal(bench_until_result(&t, goal, 1.0), "failed 9902");
        assert_true(speed_of(&t) < 0.01);
        refused(&t, "home", "{}", "latched", 0);
        bench_send(&t, pons_object("type", json_string("reset"), NULL));
        bench_step(&t, 0.3);
        assert_true(speed_of(&t) < 0.01); // nothing leaps
        done(&t, "pick", "{\"object\":\"apple\"}");
        assert_string_equal(holding(&t), "apple");
        bench_close(&t);
    }
    print_message("stopped at %d of %d moments of a pick\n", n, moments);
}

// A stop with the apple in hand drops nothing, for as long as it lasts.
static void test_stopped_with_it_in_hand(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 2);
    done(&t, "pick", "{\"object\":\"apple\"}");
    bench_goal(&t, "g", "place", "{\"target\":\"basket\"}");
    bench_step(&t, 1.5);
    bench_send(&t, pons_object("type", json_string("stop"), "reason", json_string("test"), NULL));
    bench_step(&t, 20.0);
    assert_string_equal(holding(&t), "apple");
    bench_send(&t, pons_object("type", json_string("reset"), NULL));
    bench_step(&t, 0.3);
    done(&t, "place", "{\"target\":\"basket\"}");
    assert_string_equal(where(&t, "apple"), "in basket");
    bench_close(&t);
}

// The body dies with the apple in hand: the next one sees it there, and places it.
static void test_reboot_with_it_in_hand(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 4);
    done(&t, "pick", "{\"object\":\"apple\"}");
    bench_goal(&t, "cut", "place", "{\"target\":\"basket\"}");
    bench_step(&t, 1.0);
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.5);
    assert_string_equal(holding(&t), "apple");
    const pons_value *status = bench_status(&t, "cut"); // reported, never repeated
    assert_true(pons_get_bool(status, "known", false));
    assert_false(pons_get_bool(status, "same_boot", true));
    if (pons_get_bool(pons_get(t.telemetry, "stop"), "latched", false)) {
        bench_send(&t, pons_object("type", json_string("reset"), NULL));
        bench_step(&t, 0.3);
    }
    done(&t, "place", "{\"target\":\"basket\"}");
    assert_string_equal(where(&t, "apple"), "in basket");
    bench_close(&t);
}

// What a body tells first of all is what the restored robot holds, not what an arm at home would.
static void test_first_words_after_a_reboot(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 4);
    done(&t, "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 0.5);
    bench_reboot(&t);
    pons_link *eye = bench_join(&t);
    pons_value *hello = pons_object("type", json_string("hello"), "protocol", json_integer(1),
                                    "role", json_string("observer"), "name", json_string("eye"),
                                    "pid", json_integer(43), NULL);
    assert_int_equal(pons_link_send(eye, hello, NULL), PONS_OK);
    assert_int_equal(pons_body_step(t.body, 10 * PONS_NS_PER_MS, NULL), PONS_OK);
    pons_value *m = NULL;
    bool told = false;
    while (!told && pons_link_recv(eye, &m, NULL) == 1) {
        told = strcmp(pons_get_str(m, "type", ""), "telemetry") == 0;
        if (told) {
            assert_string_equal(pons_get_str(m, "holding", "nothing"), "apple");
        }
        pons_value_unref(m);
    }
    assert_true(told);
    pons_link_close(eye);
    bench_close(&t);
}

// Without its brain the arm brakes and holds; adopted, the goal goes on.
static void test_brain_lost_and_back(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 1);
    bench_goal(&t, "g", "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 1.2);
    bench_drop(&t);
    bench_step(&t, 3.0);
    bench_hello(&t);
    bench_step(&t, 0.2);
    assert_true(speed_of(&t) < 0.01);
    bench_send(&t, pons_object("type", json_string("adopt"), "goal_id", json_string("g"), "epoch",
                               json_integer(t.epoch), NULL));
    assert_string_equal(bench_until_result(&t, "g", 60.0), "done 0");
    assert_string_equal(holding(&t), "apple");
    bench_close(&t);
}

static void test_cancel(void **unused)
{
    (void)unused;
    bench t;
    open_table(&t, 1);
    bench_goal(&t, "g", "pick", "{\"object\":\"apple\"}");
    bench_step(&t, 1.0);
    bench_send(&t, pons_object("type", json_string("cancel"), "goal_id", json_string("g"), "epoch",
                               json_integer(t.epoch), NULL));
    assert_string_equal(bench_until_result(&t, "g", 1.0), "canceled 0");
    bench_step(&t, 0.5);
    assert_true(speed_of(&t) < 0.01);
    bench_goal(&t, "h", "home", "{}");
    bench_step(&t, 0.5);
    assert_string_equal(run(&t, "stop_base", "{}"), "done 0"); // stops the arm as well
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
    int n = mujoco->arm->objects(self, ret, cap), kept = 0;
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
        mujoco->arm->grip(self, width, force);
    }
}

static void bad_write(void *self, const double *qd)
{
    static const double still[PONS_ARM_JOINTS];
    mujoco->arm->write(self, trouble.dead ? still : qd);
}

static void open_bad(bench *t)
{
    memset(&trouble, 0, sizeof trouble);
    bad = *mujoco;
    bad_arm = *mujoco->arm;
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
    refused(&t, "pick", "{\"object\":\"apple\"}", "bad_args", 1004);
    trouble.vanish = false;
    bench_step(&t, 0.2);
    trouble.dead = true;
    assert_string_equal(run(&t, "home", "{}"), "failed 1007");
    trouble.dead = false;
    done(&t, "home", "{}");
    trouble.jam = true; // open: it never closes
    assert_string_equal(run(&t, "pick", "{\"object\":\"apple\"}"), "failed 1010");
    assert_string_equal(run(&t, "close_gripper", "{}"), "failed 1010");
    trouble.jam = false;
    done(&t, "home", "{}");
    trouble.shift = -0.09; // the fingers meet nothing there
    bench_step(&t, 0.2);
    assert_string_equal(run(&t, "pick", "{\"object\":\"apple\"}"), "failed 1002");
    assert_string_equal(holding(&t), "");
    trouble.shift = 0.0;
    bench_step(&t, 0.2);
    done(&t, "pick", "{\"object\":\"apple\"}"); // and after all that it works
    bench_close(&t);
}

static void test_what_falls_is_seen(void **unused)
{
    (void)unused;
    bench t;
    open_bad(&t);
    done(&t, "pick", "{\"object\":\"apple\"}");
    bench_goal(&t, "slip", "place", "{\"target\":\"basket\"}");
    bench_step(&t, 0.5);
    mujoco->arm->grip(bad_self, 0.08, 25.0); // somebody opens the fingers
    assert_string_equal(bench_until_result(&t, "slip", 60.0), "failed 1003");
    assert_string_equal(holding(&t), "");
    bench_close(&t);
}

int main(void)
{
    pons_error err = PONS_ERROR_INIT;
    const void *loaded = NULL;
    if (pons_module_load("driver", "mujoco", &loaded, &err) < 0) {
        printf("skipped: %s\n", err.message);
        return err.status == PONS_ENOTFOUND ? 0 : 1;
    }
    mujoco = loaded;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apple_into_the_basket),
        cmocka_unit_test(test_cup_onto_the_shelf_and_back),
        cmocka_unit_test(test_put_down_anywhere),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_move_to),
        cmocka_unit_test(test_one_goal_has_the_arm),
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
