// test_unknown_skill.c - all that the brain needs of a skill is its registry item. One that nobody has heard of is
// brought along by a module: the words for it, what it holds, what its failures advise, where else it can be done,
// what shows that it is done. No line of the brain, the critic or the rules names it; each test asks one of them.
#include "brain_bench.h"
#include "pons/body.h"
#include "pons/plan.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SOON   10.0
#define LONG   60.0
#define JAMS   10001 // a person must look
#define NARROW 10002 // there is no room on that side

static void no_step(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    (void)state;
    (void)now;
    ret->status = PONS_SKILL_DONE;
}

static const pons_skill fold_up = {
    .abi = PONS_SKILL_ABI,
    .name = "fold_up",
    .description = "Folds the frame to one side.",
    .args_schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"side\"],"
        "\"properties\":{\"side\":{\"type\":\"string\",\"enum\":[\"front\",\"left\",\"right\"]}}}",
    .needs_base = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 30.0,
    .success_criteria = "the frame is in its dock",
    .error_map = "{\"10001\":\"ask_human\",\"default\":\"retry\"}",
    .phrases = "[{\"say\":[\"fold [yourself] up\",\"折叠起来\"],\"args\":{\"side\":\"front\"}}]",
    .reported = "{\"meets\":[{\"intent\":\"do\",\"test\":{\"docked\":true},\"says\":\"fold to the "
                "$args.side\"}],\"no_way\":[10002],"
                "\"alternates\":[{\"side\":\"left\"},{\"side\":\"right\"}]}",
    .step = no_step,
};

static void begin(bench *b, const char *script, char **ret_text)
{
    static const pons_skill *const modules[] = {&fold_up};
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue all = NULL;
    assert_int_equal(pons_body_skills(modules, 1, &all, &err), PONS_OK);
    pons_autovalue own = json_pack("[O]", json_array_get(all, json_array_size(all) - 1));
    assert_string_equal(pons_get_str(json_array_get(own, 0), "name", ""), "fold_up");
    assert_true(pons_value_dump(own, ret_text) > 0);
    bench_open(b, script);
    b->skills_more = *ret_text;
    b->keep_running = true;
    bench_brain(b);
    bench_run(b, 0.5);
}

static void end(bench *b, char *text)
{
    bench_close(b);
    free(text);
}

static const char *side(bench *b)
{
    const bench_goal *g = bench_newest(b, "fold_up");
    return g ? pons_get_str(g->args, "side", "") : "";
}

// It is wished, and fails so many times.
static void it_fails(bench *b, int code, int times)
{
    b->fail_skill = "fold_up";
    b->fail_skill_code = code;
    b->fail_skill_times = times;
    bench_goal_text(b, "fold up");
}

// In both languages; and its end alone is not enough.
static void people_call_it_and_the_rules_finish_it(void **state)
{
    (void)state;
    static const char *const texts[] = {"fold yourself up", "折叠起来"};
    for (size_t i = 0; i < 2; i++) {
        bench b;
        char *text;
        begin(&b, NULL, &text);
        bench_goal_text(&b, texts[i]);
        bench_await(&b, "effect", "state", "done", SOON);
        assert_string_equal(side(&b), "front");
        bench_run(&b, 0.5);
        assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 0);
        b.docked = true;
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        end(&b, text);
    }
}

static void its_error_map_is_followed(void **state)
{
    (void)state;
    bench b;
    char *text;
    begin(&b, NULL, &text);
    it_fails(&b, JAMS, 1);
    bench_await(&b, "decision", "type", "ASK_HUMAN", SOON);
    bench_await(&b, "approval.requested", NULL, NULL, SOON);
    bench_run(&b, 5.0);
    assert_int_equal(bench_starts(&b, "fold_up"), 1); // not without a word
    end(&b, text);
}

static void it_is_done_elsewhere_where_there_is_no_way(void **state)
{
    (void)state;
    static const char *const sides[] = {"front", "left", "right"};
    bench b;
    char *text;
    begin(&b, NULL, &text);
    it_fails(&b, NARROW, 2);
    for (size_t i = 0; i < 3; i++) {
        bench_await(&b, "effect", "state", "accepted", SOON);
        assert_string_equal(side(&b), sides[i]);
        assert_int_equal(bench_starts(&b, "fold_up"), (int)i + 1);
    }
    b.docked = true;
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    assert_int_equal(bench_count(&b, "approval.requested", NULL, NULL), 0);
    end(&b, text);
}

// The form of the model's answer: the skill, and what each of its arguments may be.
static const pons_value *offered(const bench *b)
{
    size_t i, k;
    json_t *way, *op;
    json_array_foreach(pons_get(pons_get(b->llm_request, "schema"), "oneOf"), i, way) {
        const pons_value *ops = pons_get(pons_get(way, "properties"), "ops");
        json_array_foreach(pons_get(pons_get(ops, "items"), "oneOf"), k, op) {
            const pons_value *of = pons_get(op, "properties");
            if (strcmp(pons_get_str(pons_get(of, "skill"), "const", ""), "fold_up") == 0) {
                return pons_get(pons_get(of, "args"), "properties");
            }
        }
    }
    return NULL;
}

#define OP(name, args) "{'op':'dispatch','skill':'" name "','args':" args ",'goal_index':0}"
#define DO(ops)        "{'decision':{'type':'CONTINUE','reason':'r','ops':[" ops "]}}"
#define FINISH         "{'decision':{'type':'FINISH','reason':'done, I say'}}"

static void a_model_is_offered_it_and_held_to_it(void **state)
{
    (void)state;
    bench b;
    char *text;
    begin(&b,
          "[" DO(OP("fold_up", "{'side':'behind'}")) "," DO(OP("fold_up", "{'side':'left'}") "," OP(
              "navigate_to_pose",
              "{'zone':'kitchen'}")) "," DO(OP("fold_up",
                                               "{'side':'left'}")) "," FINISH ",{'repeat':true,'"
                                                                   "decision':{'type':"
                                                                   "'FINISH','reason':'now'}}]",
          &text);
    bench_goal_text(&b, "fold up");
    bench_await(&b, "guard.refused", "rule", "args_schema", SOON);
    const pons_value *args = offered(&b);
    assert_non_null(args);
    assert_int_equal(json_object_size(args), 1);
    assert_non_null(pons_get(args, "side"));
    bench_await(&b, "guard.refused", "rule", "resource", SOON);
    bench_await(&b, "effect", "state", "done", SOON);
    bench_await(&b, "guard.refused", "rule", "goal_met", SOON);
    assert_int_equal(bench_starts(&b, "fold_up"), 1);
    assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
    b.docked = true;
    bench_await(&b, "task.done", "status", "succeeded", LONG);
    end(&b, text);
}

static void a_plan_has_it_as_a_step(void **state)
{
    (void)state;
    static const struct {
        const char *side, *ends;
    } rows[] = {{"left", "succeeded"}, {"behind", "failed"}};
    for (size_t i = 0; i < 2; i++) {
        bench b;
        char *text;
        pons_error err = PONS_ERROR_INIT;
        pons_plan *plan = NULL;
        begin(&b, NULL, &text);
        pons_autovalue v =
            json_pack("{s:s, s:s, s:[{s:i, s:s, s:s, s:{s:s}}]}", "plan_id", "plan_1", "goal",
                      "fold", "steps", "step_id", 1, "tool_call_type", "execute", "action",
                      "fold_up", "parameters", "side", rows[i].side);
        assert_int_equal(pons_plan_from_value(v, 0, &plan, &err), PONS_OK);
        assert_int_equal(pons_brain_add_plan(b.brain, plan, &err), PONS_OK);
        pons_plan_destroy(plan);
        bench_await(&b, "task.done", "status", rows[i].ends, SOON);
        assert_int_equal(bench_starts(&b, "fold_up"), i == 0);
        end(&b, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_call_it_and_the_rules_finish_it),
        cmocka_unit_test(its_error_map_is_followed),
        cmocka_unit_test(it_is_done_elsewhere_where_there_is_no_way),
        cmocka_unit_test(a_model_is_offered_it_and_held_to_it),
        cmocka_unit_test(a_plan_has_it_as_a_step),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("skill alone", tests, NULL, NULL);
}
