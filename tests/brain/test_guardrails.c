// test_guardrails.c - the critic: every rule that R4 holds against an operation, with its numbers.
//
// A scripted model proposes what it should not; what is read is the event guard.refused, and that
// the body was sent nothing. The states that last only until the kernel's next tick (a latch, an
// empty battery, old telemetry) are brought about while the model thinks.
#include "brain/critic/critic_check.h"
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SOON       2.0
#define CONTINUE   "{'decision':{'type':'CONTINUE','reason':'r','ops':["
#define END        "]}}"
#define REST       ",{'repeat':true,'decision':{'type':'ABORT','reason':'enough'}}]"
#define TO_KITCHEN "{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen'}}"

static void must_refuse(bench *b, const char *rule, const char *message)
{
    const pons_value *refused = bench_await(b, "guard.refused", "rule", rule, 10.0);
    const char *got = pons_get_str(json_array_get(pons_get(refused, "rules"), 0), "message", "");
    if (!strstr(got, message)) {
        fail_msg("%s: “%s” does not say “%s”", rule, got, message);
    }
}

static void what_is_wrong_in_itself(void **state)
{
    (void)state;
    static const struct {
        const char *op, *rule, *message;
    } rows[] = {
        {"{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'attic'}}", "zone",
         "unknown zone attic"},
        {"{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':7}}", "args_schema", "/zone"},
        {"{'op':'dispatch','skill':'navigate_to_pose','args':{}}", "args_schema", ""},
        {"{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'kitchen','speed':9}}",
         "args_schema", "speed"},
        {"{'op':'dispatch','skill':'navigate_to_pose','args':{'pose':{'x':50,'y':2}}}",
         "map_bounds", "[50.00, 2.00] is outside the map [0.00, 0.00] to [10.00, 10.00]"},
        {"{'op':'dispatch','skill':'navigate_to_pose','args':{'pose':{'x':5,'y':-0.01}}}",
         "map_bounds", "[5.00, -0.01]"},
        {TO_KITCHEN "," TO_KITCHEN, "resource", "base is asked for by 2 operations at once"},
        {TO_KITCHEN ",{'op':'dispatch','skill':'dock_to_charger','args':{}}", "resource",
         "base is asked for by 2"},
        // One bad operation refuses all of them: half a plan is none.
        {"{'op':'dispatch','skill':'wait','args':{}},"
         "{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'attic'}}",
         "zone", "attic"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char script[1024];
        snprintf(script, sizeof script, "[" CONTINUE "%s" END REST, rows[i].op);
        bench_open(&b, script);
        bench_brain(&b);
        bench_goal_text(&b, "去厨房");
        must_refuse(&b, rows[i].rule, rows[i].message);
        // The model sees why as its last result.
        const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
        const pons_value *last = pons_get(pons_get(seen, "observation"), "last_result");
        assert_string_equal(pons_get_str(last, "status", ""), "refused");
        assert_non_null(strstr(pons_get_str(last, "error_msg", ""), rows[i].message));
        bench_await(&b, "task.done", "status", "aborted", 10.0);
        assert_int_equal(bench_sent(&b, "goal", NULL, NULL), 0);
        assert_int_equal(bench_count(&b, "effect", NULL, NULL), 0); // nothing was even intended
        bench_close(&b);
    }
}

static void the_edge_of_the_map_is_inside(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "[" CONTINUE "{'op':'dispatch','skill':'navigate_to_pose',"
                   "'args':{'pose':{'x':10,'y':0}}}" END REST);
    bench_brain(&b);
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    assert_int_equal(bench_count(&b, "guard.refused", NULL, NULL), 0);
    bench_close(&b);
}

static void a_resource_has_one_user(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "[{'decision':{'type':'CONTINUE','reason':'r','wake_s':2,'ops':[" TO_KITCHEN
                   "]}}," CONTINUE
                   "{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'bedroom'}}" END
                   "," CONTINUE "{'op':'dispatch','skill':'speak','args':{'text':'on my way'}}" END
                   ",{'repeat':true,'decision':{'type':'CONTINUE','reason':'r'}}]");
    bench_brain(&b);
    b.base_ms = 60000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    char message[96];
    snprintf(message, sizeof message, "base is in use by navigate_to_pose (goal %.8s)",
             bench_newest(&b, "navigate_to_pose")->id);
    must_refuse(&b, "resource", message);
    bench_await(&b, "effect", "skill", "speak", 10.0); // needs no base: runs beside it
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    assert_string_equal(bench_newest(&b, "navigate_to_pose")->state, "accepted");
    bench_close(&b);
}

#define SEES(name)                                                                                 \
    "{'name':'" name "','interface_type':'internal','resources_required':[],"                      \
    "'resources_counted':{'gpu':1},'args_schema':{'type':'object'},'timeout_s':60.0,"              \
    "'error_map':{'default':'retry'}}"
#define SEE(name, ms) "{'op':'dispatch','skill':'" name "','args':{'ms':" ms "}}"
#define STAY          "{'repeat':true,'decision':{'type':'CONTINUE','reason':'r','wake_s':1}}"

// Two of the three may run at a time: at once, and one after the other.
static void a_quota_of_two_lets_two_of_three_run(void **state)
{
    (void)state;
    for (int config = 0; config <= 1; config++) { // the body's, or the config's smaller one
        bench b;
        bench_open(&b, "[" CONTINUE SEE("see_people", "900000") "," SEE("see_cups", "9000") "," SEE(
                           "see_doors", "900000") END
                   ",{'decision':{'type':'CONTINUE',"
                   "'reason':'r','wake_s':2,'ops':[" SEE("see_people", "900000") "," SEE(
                       "see_cups", "9000") "]}}," CONTINUE SEE("see_doors", "900000") END
                   ",{'decision':{'type':'CONTINUE','reason':'r'}}," CONTINUE SEE(
                       "see_doors", "900000") END "," STAY "]");
        b.skills_more = "[" SEES("see_people") "," SEES("see_cups") "," SEES("see_doors") "]";
        b.resources = config ? "{'gpu':8}" : "{'gpu':2}";
        if (config) {
            json_object_set_new(b.config, "resources", json_pack("{s:i}", "gpu", 2));
        }
        bench_brain(&b);
        bench_goal_text(&b, "去厨房");
        must_refuse(
            &b, "resource",
            "gpu: see_people needs 1, 0 are taken and 3 are asked for at once; there are 2");
        assert_int_equal(bench_sent(&b, "goal", NULL, NULL), 0);
        must_refuse(&b, "resource", "gpu: see_doors needs 1, 2 are taken and 1 are asked for");
        assert_int_equal(bench_starts(&b, "see_people") + bench_starts(&b, "see_cups"), 2);
        const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
        const pons_value *gpu = pons_get(
            pons_get(pons_get(pons_get(seen, "observation"), "robot"), "resources"), "gpu");
        assert_int_equal(pons_get_int(gpu, "used", -1), 2);
        assert_int_equal(pons_get_int(gpu, "of", -1), 2);
        bench_await(&b, "effect", "state", "done", 20.0); // see_cups
        bench_await(&b, "effect", "state", "accepted", 10.0);
        assert_int_equal(bench_starts(&b, "see_doors"), 1);
        bench_close(&b);
    }
}

static void what_is_cancelled_with_it_is_free(void **state)
{
    (void)state;
    bench b;
    bench_open(&b,
               "[{'decision':{'type':'CONTINUE','reason':'r','wake_s':2,'ops':[" TO_KITCHEN "]}}"
               ",{'decision':{'type':'REPLAN','reason':'r','ops':[{'op':'cancel','goal_id':'all'},"
               "{'op':'dispatch','skill':'navigate_to_pose','args':{'zone':'bedroom'}}]}}"
               ",{'repeat':true,'decision':{'type':'CONTINUE','reason':'r'}}]");
    bench_brain(&b);
    b.base_ms = 60000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    bench_await(&b, "effect", "state", "canceled", 10.0);
    bench_await(&b, "effect", "state", "accepted", 10.0);
    assert_int_equal(bench_count(&b, "guard.refused", NULL, NULL), 0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
    bench_close(&b);
}

// The model answers after one second; what happens just before it does is not yet a mode.
static void what_is_wrong_at_this_moment(void **state)
{
    (void)state;
    static const struct {
        const char *skill, *rule, *message;
        double battery;
        bool latched;
    } rows[] = {
        {"navigate_to_pose", "battery", "battery is 9.0 %; motion needs more than 10.0 %", 9.0,
         false},
        {"navigate_to_pose", "stop_latched", "latched (the cat); reset lifts it", 90.0, true},
        {"dock_to_charger", NULL, NULL, 9.0, false}, // the one way out
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        char script[512];
        snprintf(script, sizeof script,
                 "[{'delay_ms':3000,'decision':{'type':'CONTINUE','reason':'r','ops':[{'op':"
                 "'dispatch','skill':'%s','args':{%s}}]}}" REST,
                 rows[i].skill,
                 strcmp(rows[i].skill, "navigate_to_pose") == 0 ? "'zone':'kitchen'" : "");
        bench_open(&b, script);
        bench_brain(&b);
        bench_goal_text(&b, "去厨房");
        while (b.llm_starts == 0) {
            bench_run(&b, 0.02);
        }
        bench_run(&b, 2.98);
        assert_int_equal(bench_count(&b, "decision", NULL, NULL), 0);
        b.battery = rows[i].battery;
        b.latched = rows[i].latched;
        b.stop_reason = rows[i].latched ? "the cat" : "";
        if (rows[i].rule) {
            must_refuse(&b, rows[i].rule, rows[i].message);
            assert_int_equal(bench_starts(&b, rows[i].skill), 0);
        } else {
            bench_await(&b, "effect", "skill", rows[i].skill, SOON);
            assert_int_equal(bench_count(&b, "guard.refused", NULL, NULL), 0);
        }
        bench_close(&b);
    }
}

// The rules for a mode and for a skill that is not there are out of a model's reach (the kernel
// takes over, the parser refuses first): they are asked directly, as R4 and R6 ask.
static void rules_that_only_a_fault_would_meet(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    bench_run(&b, 0.5);
    static const struct {
        const char *mode, *skill, *args, *rule;
    } rows[] = {
        {"SAFE", "navigate_to_pose", "kitchen", "mode"},
        {"SAFE", "stop_base", NULL, NULL},
        {"SAFE", "speak", "hello", NULL},
        {"EXEC", "fly", NULL, "known_skill"},
        {"EXEC", "navigate_to_pose", "kitchen", NULL},
        {"CHARGE", "dock_to_charger", NULL, NULL},
    };
    pons_autovalue none = json_array();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool speaks = strcmp(rows[i].skill, "speak") == 0;
        pons_autovalue args = rows[i].args
                                  ? json_pack("{s:s}", speaks ? "text" : "zone", rows[i].args)
                                  : json_object();
        pons_autovalue broken =
            pons__guard_check(b.brain, pons__word_find(pons__mode_words, rows[i].mode, -1),
                              rows[i].skill, args, none, none, none);
        assert_int_equal(json_array_size(broken), rows[i].rule != NULL);
        if (rows[i].rule) {
            assert_string_equal(pons_get_str(json_array_get(broken, 0), "rule", ""), rows[i].rule);
        }
    }
    bench_close(&b);
}

// What R4 says of a body that has been silent for too long, before the kernel's next tick goes
// SAFE.
static void old_telemetry_moves_nothing(void **state)
{
    (void)state;
    bench b;
    pons_autovalue none = json_array();
    bench_open(&b, NULL);
    bench_brain(&b);
    b.base_ms = 60000;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "effect", "state", "accepted", SOON);
    b.brain->port.telemetry_ns -= 2 * PONS_NS_PER_S; // the kernel would go SAFE at its next tick
    pons_autovalue drive =
        json_pack("{s:s, s:{s:s}}", "skill", "navigate_to_pose", "args", "zone", "kitchen");
    pons_autovalue old =
        pons__guard_check(b.brain, PONS_MODE_EXEC, pons_get_str(drive, "skill", ""),
                          pons_get(drive, "args"), none, none, none);
    assert_string_equal(pons_get_str(json_array_get(old, 0), "rule", ""), "telemetry_age");
    assert_non_null(
        strstr(pons_get_str(json_array_get(old, 0), "message", ""), "ms old; at most 1000 ms"));
    pons_autovalue rest = json_pack("{s:s, s:{s:f}}", "skill", "wait", "args", "s", 1.0);
    pons_autovalue still =
        pons__guard_check(b.brain, PONS_MODE_EXEC, pons_get_str(rest, "skill", ""),
                          pons_get(rest, "args"), none, none, none);
    assert_int_equal(json_array_size(still), 0); // moves nothing
    bench_close(&b);
}

// Commits that take a third of a second each: between two of them the body is heard, so nothing is too old
// for R4, and it drives.
static void a_slow_disk_refuses_no_drive(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    bench_brain(&b);
    bench_run(&b, 1.0);
    b.base_ms = 3000;
    b.commit_ms = 320;
    bench_goal_text(&b, "去厨房");
    bench_await(&b, "task.done", "status", "succeeded", 120.0);
    assert_int_equal(bench_count(&b, "guard.refused", NULL, NULL), 0);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 1);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_in_itself),
        cmocka_unit_test(the_edge_of_the_map_is_inside),
        cmocka_unit_test(a_resource_has_one_user),
        cmocka_unit_test(a_quota_of_two_lets_two_of_three_run),
        cmocka_unit_test(what_is_cancelled_with_it_is_free),
        cmocka_unit_test(what_is_wrong_at_this_moment),
        cmocka_unit_test(rules_that_only_a_fault_would_meet),
        cmocka_unit_test(old_telemetry_moves_nothing),
        cmocka_unit_test(a_slow_disk_refuses_no_drive),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
