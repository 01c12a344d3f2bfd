// test_possible_calls.c - the form of a model's answer offers what may be decided at that moment, and no more.
//
// The form is what the model's server is sent as a schema. Each test brings the brain to a moment and
// looks which decisions, skills and arguments it has there.
#include "brain_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SOON 10.0
#define GO                                                                                         \
    "{'decision':{'type':'CONTINUE','reason':'go','wake_s':2,'ops':[{'op':'dispatch','skill':"     \
    "'navigate_to_pose','args':{'zone':'kitchen'}}]}}"
#define IDLE "{'repeat':true,'decision':{'type':'CONTINUE','reason':'nothing to do','wake_s':2}}"

static const pons_value *way(const bench *b, size_t i)
{
    return pons_get(json_array_get(pons_get(pons_get(b->llm_request, "schema"), "oneOf"), i),
                    "properties");
}

// How many ways there are to decide so; NULL: at all.
static int ways(const bench *b, const char *type)
{
    int n = 0;
    for (size_t i = 0; way(b, i); i++) {
        size_t k;
        json_t *word;
        json_array_foreach(pons_get(pons_get(way(b, i), "type"), "enum"), k, word) {
            n += !type || strcmp(json_string_value(word), type) == 0;
        }
    }
    return n;
}

// The arguments that a skill may be given; NULL: it is not offered.
static const pons_value *offered(const bench *b, const char *skill)
{
    for (size_t i = 0; way(b, i); i++) {
        const pons_value *items = pons_get(pons_get(way(b, i), "ops"), "items");
        size_t k;
        json_t *op;
        json_array_foreach(pons_get(items, "oneOf"), k, op) {
            const pons_value *of = pons_get(op, "properties");
            if (strcmp(pons_get_str(pons_get(of, "skill"), "const", ""), skill) == 0) {
                return pons_get(pons_get(of, "args"), "properties");
            }
        }
    }
    return NULL;
}

static bool has(const pons_value *list, const char *text)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        if (json_is_string(item) && strcmp(json_string_value(item), text) == 0) {
            return true;
        }
    }
    return false;
}

static void begin(bench *b, const char *script, const char *goal)
{
    bench_open(b, script);
    bench_brain(b);
    b->x = b->y = 2.0; // of the living room
    bench_run(b, 0.5);
    bench_goal_text(b, goal);
}

// A goal is understood and nothing has been tried: it is neither met nor hopeless, and the way is to its
// zone.
static void at_the_start_there_is_something_to_start(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[" IDLE "]", "go to the kitchen");
    bench_await(&b, "decision", NULL, NULL, SOON);
    const pons_value *zones = pons_get(pons_get(offered(&b, "navigate_to_pose"), "zone"), "enum");
    assert_int_equal(json_array_size(zones), 1);
    assert_true(has(zones, "kitchen"));
    assert_non_null(offered(&b, "wait"));
    assert_true(ways(&b, "CONTINUE") > 0 && ways(&b, "ASK_HUMAN") > 0);
    assert_int_equal(ways(&b, "FINISH") + ways(&b, "ABORT") + ways(&b, "RETRY"), 0);
    assert_int_equal(ways(&b, "SWITCH_TASK"), 0);
    bench_close(&b);
}

// What drives may have words beside it: those two, and no other pair.
static void it_may_speak_while_it_drives(void **state)
{
    (void)state;
    bench b;
    begin(
        &b,
        "[{'decision':{'type':'CONTINUE','reason':'go','wake_s':2,'ops':[{'op':'dispatch','skill':"
        "'navigate_to_pose','args':{'zone':'kitchen'},'goal_index':0},{'op':'speak','text':'on my "
        "way'}]}}," IDLE "]",
        "go to the kitchen");
    bench_await(&b, "decision", NULL, NULL, SOON);
    int pairs = 0;
    for (size_t i = 0; way(&b, i); i++) {
        const pons_value *two = pons_get(pons_get(way(&b, i), "ops"), "prefixItems");
        size_t k;
        json_t *move;
        pairs += two != NULL;
        json_array_foreach(pons_get(json_array_get(two, 0), "oneOf"), k, move) {
            const pons_value *skill = pons_get(pons_get(move, "properties"), "skill");
            assert_string_not_equal(pons_get_str(skill, "const", ""), "wait");
            assert_string_not_equal(pons_get_str(skill, "const", ""), "speak");
        }
        const pons_value *says = pons_get(json_array_get(two, 1), "properties");
        assert_true(!two || strcmp(pons_get_str(pons_get(says, "op"), "const", ""), "speak") == 0);
    }
    assert_int_equal(pairs, 1);
    bench_await(&b, "effect", "skill", "navigate_to_pose", SOON); // and so it does
    bench_await(&b, "effect", "skill", "speak", SOON);
    assert_int_equal(bench_count(&b, "guard.refused", NULL, NULL), 0);
    bench_close(&b);
}

// While it drives no other motion can start; what runs can be cancelled by its own id.
static void while_it_drives_nothing_else_can(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[" GO "," IDLE "]", "go to the kitchen");
    b.base_ms = BENCH_NEVER;
    bench_await(&b, "decision", NULL, NULL, SOON);
    bench_await(&b, "decision", NULL, NULL, SOON);
    assert_null(offered(&b, "navigate_to_pose"));
    assert_null(offered(&b, "dock_to_charger"));
    bool cancels = false;
    for (size_t i = 0; way(&b, i); i++) {
        const pons_value *op =
            pons_get(pons_get(pons_get(way(&b, i), "ops"), "items"), "properties");
        cancels = cancels || has(pons_get(pons_get(op, "goal_id"), "enum"),
                                 bench_newest(&b, "navigate_to_pose")->id);
    }
    assert_true(cancels);
    bench_close(&b);
}

// What is met is finished, and nothing is started any more.
static void a_goal_that_is_met_can_only_be_finished(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[" GO "," IDLE "]", "go to the kitchen");
    bench_await(&b, "effect", "state", "accepted", SOON);
    b.x = b.y = 7.5;
    bench_await(&b, "effect", "state", "done", 60.0);
    bench_await(&b, "decision", NULL, NULL, SOON);
    assert_int_equal(ways(&b, "FINISH"), 1);
    assert_int_equal(ways(&b, NULL), 1);
    bench_close(&b);
}

static void after_a_failure_one_may_give_up(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[" GO "," IDLE "]", "go to the kitchen");
    b.fail_code = 106;
    bench_await(&b, "effect", "state", "failed", 60.0);
    bench_await(&b, "decision", "source", "llm", SOON);
    assert_true(ways(&b, "ABORT") > 0 && ways(&b, "RETRY") > 0);
    assert_true(
        json_array_size(pons_get(pons_get(offered(&b, "navigate_to_pose"), "zone"), "enum")) > 1);
    assert_int_equal(ways(&b, "FINISH"), 0);
    bench_close(&b);
}

// What was not understood is the model's to judge: to plan, to end, with what is true of the place.
static void what_was_not_understood_may_be_planned(void **state)
{
    (void)state;
    bench b;
    begin(&b, "[" IDLE "]", "flurb the gronk");
    bench_await(&b, "decision", NULL, NULL, SOON);
    bool plans = false, claims = false;
    for (size_t i = 0; way(&b, i); i++) {
        plans = plans || pons_get(way(&b, i), "plan_patch");
        claims = claims || pons_get(way(&b, i), "claims");
    }
    assert_true(plans && claims);
    assert_true(ways(&b, "ABORT") > 0 && ways(&b, "FINISH") > 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_start_there_is_something_to_start),
        cmocka_unit_test(it_may_speak_while_it_drives),
        cmocka_unit_test(while_it_drives_nothing_else_can),
        cmocka_unit_test(a_goal_that_is_met_can_only_be_finished),
        cmocka_unit_test(after_a_failure_one_may_give_up),
        cmocka_unit_test(what_was_not_understood_may_be_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
