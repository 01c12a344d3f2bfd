// test_added_skill.c - a skill is added by a body's module and nothing else: its record says which goals
// it meets, with which arguments, in which turn, and what shows that they are met. The rules then
// use it for what people say, the model is told of it, FINISH is held against it.
#include "brain_bench.h"
#include "pons/body.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SOON 10.0

static void no_step(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    (void)state;
    (void)now;
    ret->status = PONS_SKILL_DONE;
}

#define ARGS(members)                                                                              \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" members "}}"
#define TEXT(name) "\"" name "\":{\"type\":\"string\"}"
#define SKILL(what, schema, says)                                                                  \
    {                                                                                              \
        .abi = PONS_SKILL_ABI, .name = (what), .description = "Comes with a module.",              \
        .args_schema = (schema), .preemptible = true, .cancel_supported = true, .timeout_s = 30.0, \
        .success_criteria = "it ends", .error_map = "{\"default\":\"retry\"}", .step = no_step,    \
        .reported = (says)                                                                         \
    }

// What a robot with a hand would bring along.
static const pons_skill take =
    SKILL("take", ARGS(TEXT("what")),
          "{\"holds\":\"what\",\"meets\":[{\"intent\":\"bring\",\"args\":{"
          "\"what\":\"$object\"},\"step\":1,\"says\":\"take $object\"}]}");
static const pons_skill hand_over =
    SKILL("hand_over", ARGS(TEXT("what") "," TEXT("where")),
          "{\"releases\":true,\"meets\":[{\"intent\":\"bring\",\"args\":{\"what\":\"$object\","
          "\"where\":\"$place\"},\"step\":2,\"says\":\"hand $object over\"}]}");
// And one that is met by what the robot then shows, not by its end.
static const pons_skill tidy =
    SKILL("wave", ARGS(""),
          "{\"meets\":[{\"intent\":\"charge\",\"test\":{\"docked\":true},\"says\":\"wave\"}]}");

static char *registry_of(const pons_skill *const *modules, size_t n)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue all = NULL;
    pons_autovalue theirs = json_array();
    char *text = NULL;
    assert_int_equal(pons_body_skills(modules, n, &all, &err), PONS_OK);
    for (size_t i = json_array_size(all) - n; i < json_array_size(all); i++) {
        json_array_append(theirs, json_array_get(all, i));
    }
    assert_true(pons_value_dump(theirs, &text) > 0);
    return text;
}

static void begin_with(bench *b, const pons_skill *const *modules, size_t n, const char *script,
                       char **ret_text)
{
    *ret_text = registry_of(modules, n);
    bench_open(b, script);
    b->skills_more = *ret_text;
    b->objects = json_pack("[{s:s, s:s, s:{s:[s]}, s:[f,f,f]}]", "id", "apple", "class", "fruit",
                           "names", "en", "apple", "position", 7.0, 7.0, 0.8);
    bench_brain(b);
    bench_run(b, 0.5);
}

static void begin(bench *b, const char *script, char **ret_text)
{
    static const pons_skill *const modules[] = {&take, &hand_over};
    begin_with(b, modules, 2, script, ret_text);
}

static void end(bench *b, char *text)
{
    bench_close(b);
    free(text);
}

static void the_rules_use_it(void **state)
{
    (void)state;
    bench b;
    char *text;
    begin(&b, NULL, &text);
    bench_goal_text(&b, "bring the apple to the kitchen");
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    assert_int_equal(bench_starts(&b, "take"), 1);
    assert_int_equal(bench_starts(&b, "hand_over"), 1);
    assert_string_equal(pons_get_str(bench_newest(&b, "hand_over")->args, "where", ""), "kitchen");
    end(&b, text);
}

#define DO(name, args)                                                                             \
    "{'decision':{'type':'CONTINUE','reason':'r','ops':[{'op':'dispatch','skill':'" name           \
    "','args':" args ",'goal_index':0}]}}"
#define FINISH "{'decision':{'type':'FINISH','reason':'done, I say'}}"

// It sees in the observation what meets the goal, and its FINISH counts after the last step alone.
static void a_model_sees_it_and_is_held_to_it(void **state)
{
    (void)state;
    bench b;
    char *text;
    begin(&b,
          "[" DO("take", "{'what':'apple'}") "," FINISH "," DO(
              "hand_over", "{'what':'apple','where':'kitchen'}") "," FINISH "]",
          &text);
    bench_goal_text(&b, "bring the apple to the kitchen");
    const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
    const pons_value *means = json_array_get(pons_get(pons_get(seen, "observation"), "means"), 0);
    assert_string_equal(pons_get_str(means, "skill", ""), "take");
    assert_string_equal(pons_get_str(pons_get(means, "args"), "what", ""), "apple");
    bench_await(&b, "guard.refused", "rule", "goal_met", SOON);
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    assert_int_equal(bench_starts(&b, "hand_over"), 1);
    end(&b, text);
}

// What it does is told in its words, and where those have a hole by its name. One that is done for nobody's
// goal lacks all that a goal says.
static void its_words_have_no_hole(void **state)
{
    (void)state;
    static const pons_skill glance =
        SKILL("glance", ARGS(""),
              "{\"meets\":[{\"intent\":\"bring\",\"says\":\"look at $object by $seconds s\"}]}");
    static const pons_skill *const modules[] = {&glance};
    bench b;
    char *text;
    begin_with(&b, modules, 1, NULL, &text);
    bench_goal_text(&b, "bring the apple to the kitchen");
    const pons_value *seen = bench_await(&b, "observation", NULL, NULL, SOON);
    const pons_value *means = pons_get(pons_get(seen, "observation"), "means");
    bool pause = false, own = false;
    for (size_t i = 0; i < json_array_size(means); i++) {
        const pons_value *m = json_array_get(means, i);
        const char *name = pons_get_str(m, "skill", ""), *says = pons_get_str(m, "says", "");
        assert_null(strstr(says, "  "));
        pause = pause || (strcmp(name, "wait") == 0 && strcmp(says, "wait 1 s") == 0);
        own = own || (strcmp(name, "glance") == 0 && strcmp(says, "glance") == 0);
    }
    assert_true(pause);
    assert_true(own);
    end(&b, text);
}

// Without a place there is nothing to hand over at: the first step is the last.
static void a_way_that_lacks_a_member_is_none(void **state)
{
    (void)state;
    bench b;
    char *text;
    begin(&b, NULL, &text);
    bench_goal_text(&b, "bring the apple");
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    assert_int_equal(bench_starts(&b, "take"), 1);
    assert_int_equal(bench_starts(&b, "hand_over"), 0);
    end(&b, text);
}

// Facts: its own end meets nothing, what the robot shows does.
static void facts_show_that_a_goal_is_met(void **state)
{
    (void)state;
    static const pons_skill *const modules[] = {&tidy};
    bench b;
    char *text = registry_of(modules, 1);
    // The bench's own dock_to_charger meets the same goal, by its charge; the last one's test counts.
    bench_open(&b, "[" DO("wave", "{}") "," FINISH "," DO("dock_to_charger", "{}") "," FINISH "]");
    b.skills_more = text;
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.base_ms = 400;
    bench_goal_text(&b, "charge");
    bench_await(&b, "guard.refused", "rule", "goal_met", SOON);
    assert_int_equal(bench_starts(&b, "wave"), 1);
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    assert_true(b.docked);
    end(&b, text);
}

// What it charges by is called otherwise, and so is the goal: the kernel finds both in the registry, and the critic
// lets it go with an empty battery.
static const pons_skill plug_in =
    SKILL("plug_in", ARGS(""),
          "{\"meets\":[{\"intent\":\"refuel\",\"test\":\"charged\",\"says\":\"plug in\"}]}");

static void a_body_charges_by_its_own_skill(void **state)
{
    (void)state;
    static const pons_skill *const modules[] = {&plug_in};
    bench b;
    char *text = registry_of(modules, 1);
    bench_open(&b, NULL);
    b.skills_more = text;
    b.lacks = "dock_to_charger";
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.battery = 15.0;
    bench_await(&b, "effect", "skill", "plug_in", SOON);
    end(&b, text);
}

// Nothing in its registry charges it: a person is told, once, and no task is begun that nobody can do.
static void a_body_that_cannot_charge_is_a_persons(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    b.lacks = "dock_to_charger";
    b.keep_running = true;
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.battery = 15.0;
    const pons_value *mode = bench_await(&b, "mode", "mode", "IDLE", SOON);
    assert_non_null(strstr(pons_get_str(mode, "reason", ""), "no skill of this body charges it"));
    bench_run(&b, 20.0);
    assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 0);
    assert_int_equal(bench_count(&b, "mode", NULL, NULL), 1);
    bench_goal_text(&b, "去厨房"); // where somebody can charge it, maybe
    bench_await(&b, "task.done", "status", "succeeded", SOON);
    b.battery = 9.0;
    bench_await(&b, "mode", "mode", "SAFE", SOON);
    bench_close(&b);
}

// What ends in vain at once, again and again, costs one task a minute; also when the clock goes back.
static void a_charger_that_refuses_is_not_stormed(void **state)
{
    (void)state;
    static const pons_skill *const modules[] = {&plug_in};
    bench b;
    char *text = registry_of(modules, 1);
    bench_open(&b, "[{'repeat':true,'decision':{'type':'ABORT','reason':'I will not'}}]");
    b.skills_more = text;
    b.lacks = "dock_to_charger";
    b.keep_running = true;
    bench_brain(&b);
    bench_run(&b, 0.5);
    b.battery = 15.0;
    bench_await(&b, "mode", "mode", "CHARGE", SOON);
    bench_run(&b, 30.0);
    assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 1);
    bench_kill(&b);
    bench_brain(&b);
    bench_run(&b, 10.0);
    assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 1);
    bench_run(&b, 40.0);
    assert_int_equal(bench_count(&b, "task.queued", NULL, NULL), 2);
    end(&b, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_use_it),
        cmocka_unit_test(a_model_sees_it_and_is_held_to_it),
        cmocka_unit_test(a_way_that_lacks_a_member_is_none),
        cmocka_unit_test(its_words_have_no_hole),
        cmocka_unit_test(facts_show_that_a_goal_is_met),
        cmocka_unit_test(a_body_charges_by_its_own_skill),
        cmocka_unit_test(a_body_that_cannot_charge_is_a_persons),
        cmocka_unit_test(a_charger_that_refuses_is_not_stormed),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("added skill", tests, NULL, NULL);
}
