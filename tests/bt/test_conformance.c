// test_conformance.c - definitions with scripted leaves, tick by tick: the states, the status and
// every call in its order. The cases are data: mdsl_cases.jsonl and xml_cases.jsonl are what
// mistreevous and BehaviorTree.CPP themselves answered to definitions made at random (with aborts,
// guards in mid-step, halts, skips, retries, parallels, subtrees, scripts); script_cases.jsonl has
// one script a line, each of which BehaviorTree.CPP also accepted or also refused (mixed operators
// of one level go from left to right, as they do there since 4.9); more_cases.jsonl was written by
// hand for what a random tree does not reach (time, queues, ports, Nav2's nodes).
#include "bt/bt_help.h"

static void play(const pons_value *c)
{
    pons_autovalue got = lines_of(pons_get_str(c, "file", "t.mdsl"), pons_get_str(c, "text", ""),
                                  pons_get(c, "script"));
    check_lines(c, got);
}

static void mdsl_as_mistreevous(void **state)
{
    (void)state;
    assert_true(each_case("mdsl_cases.jsonl", play) >= 100);
}

static void xml_as_behaviortree_cpp(void **state)
{
    (void)state;
    assert_true(each_case("xml_cases.jsonl", play) >= 100);
}

static void scripts(void **state)
{
    (void)state;
    assert_true(each_case("script_cases.jsonl", play) >= 100);
}

static void written_by_hand(void **state)
{
    (void)state;
    assert_true(each_case("more_cases.jsonl", play) >= 40);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mdsl_as_mistreevous),
        cmocka_unit_test(xml_as_behaviortree_cpp),
        cmocka_unit_test(scripts),
        cmocka_unit_test(written_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
