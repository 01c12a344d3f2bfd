// test_conformance.c - the rule policy held against the suite of every policy.
#include "intents/conformance.h"
#include "llm/llm_fixture.h"
#include "unit.h"

static void the_rules(void **state)
{
    (void)state;
    pons_policy rules = fixture_rules();
    policy_conformance(rules);
    pons_rules_close(&rules);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_rules)};
    return cmocka_run_group_tests_name("policy/conformance", tests, NULL, NULL);
}
