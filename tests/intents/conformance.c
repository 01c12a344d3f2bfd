// conformance.c - the one suite for decision policies; see conformance.h.
#include "intents/conformance.h"

#include "llm/llm_fixture.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

static bool one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0) {
        words++;
    }
    return *words != NULL;
}

static void what_is_understood_has_its_form(pons_policy p, const pons_value *world)
{
    static const char *const said[] = {"go to the kitchen", "stop", "yes", "charge"};
    static const char *const intents[] = {"go_to", "bring", "put",    "charge",
                                          "wait",  "say",   "patrol", NULL};
    static const char *const controls[] = {"stop", "pause", "continue", "reset", "yes", "no", NULL};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        pons_autovalue v = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (p.ops->parse(p.self, said[i], world, &v, &err) != PONS_OK) {
            fail_msg("%s: %s", said[i], err.message);
        }
        assert_int_equal(err.status, PONS_OK);
        const pons_value *goals = pons_get(v, "goals"), *control = pons_get(v, "control");
        assert_true(json_is_array(goals) && json_is_boolean(pons_get(v, "urgent")));
        assert_true(!control || json_is_null(control) ||
                    one_of(json_string_value(control), controls));
        for (size_t k = 0; k < json_array_size(goals); k++) {
            const pons_value *goal = json_array_get(goals, k);
            assert_true(one_of(pons_get_str(goal, "intent", ""), intents));
            assert_true(*pons_get_str(goal, "text", ""));
        }
    }
}

static void what_is_not_understood_is_quoted(pons_policy p, const pons_value *world)
{
    static const char *const said[] = {"", "   ", "go to the moon", "xyzzy plugh"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        pons_autovalue v = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(p.ops->parse(p.self, said[i], world, &v, &err), PONS_EINVAL);
        assert_int_equal(err.status, PONS_EINVAL);
        assert_null(v);
        assert_true(err.message[0]);
    }
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue v = NULL;
    p.ops->parse(p.self, "go to the moon", world, &v, &err);
    assert_non_null(strstr(err.message, "moon"));
    assert_non_null(strstr(err.message, "kitchen")); // what is known
}

static void a_decision_is_a_pure_one(pons_policy p)
{
    pons_autovalue seen = fixture_json(
        "{\"iter\":1,\"mode\":\"EXEC\",\"task\":{\"id\":\"t1\",\"text\":\"x\",\"priority\":50,"
        "\"goal_index\":0,\"goals\":[{\"intent\":\"go_to\",\"zone\":\"kitchen\",\"done\":false}]},"
        "\"robot\":{\"pose\":{\"x\":0,\"y\":0,\"yaw\":0},\"battery_pct\":90,"
        "\"battery_state\":\"discharging\",\"zone\":\"living_room\",\"docked\":false,"
        "\"resources\":{\"base_busy\":false},\"distance_to_target\":null,"
        "\"stop\":{\"latched\":false,\"reason\":\"\"}},\"world\":{\"summary\":\"s\","
        "\"zones\":[\"kitchen\",\"living_room\"],\"obstacles\":0},"
        "\"skills\":[\"navigate_to_pose\",\"stop_base\"],\"running\":[],\"last_result\":null,"
        "\"failures\":0,\"limits\":{\"failures_max\":3,\"iterations_max\":20},"
        "\"no_progress\":false,\"human\":null}");
    pons_autovalue before = json_deep_copy(seen);
    pons_autovalue first = NULL;
    pons_autovalue second = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(p.ops->decide(p.self, seen, &first, &err), PONS_OK);
    assert_int_equal(p.ops->decide(p.self, seen, &second, &err), PONS_OK);
    assert_true(json_equal(first, second));
    assert_true(json_equal(seen, before));
    pons_schema *schema = fixture_schema("decision");
    if (pons_schema_check(schema, first, &err) != PONS_OK) {
        fail_msg("%s", err.message);
    }
    pons_schema_destroy(schema);
}

void policy_conformance(pons_policy p)
{
    pons_autovalue world = fixture_world();
    what_is_understood_has_its_form(p, world);
    what_is_not_understood_is_quoted(p, world);
    a_decision_is_a_pure_one(p);
}
