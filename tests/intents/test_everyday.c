// test_everyday.c - everyday sentences, as people say them: everyday_en.jsonl and everyday_zh.jsonl have each with the
// reading that is expected, {kind, say, means}. They are read as a brain reads them: a time, a name of a place, how
// fast, and then a wish. What moves the robot and was not meant fails at once; of the rest 95 of 100 are read rightly.
//
//     means       go_to kitchen; wait 5     goals, one after the other ("*" in a reading is anything)
//                 go_to bedroom [cancel: go_to kitchen]     and what controls tasks
//                 @0 9 * * *: …    #remember: …    ~slower     a time, a place, a pace
//                 ?                it is asked back, in one sentence
//                 -                whatever it is, nothing moves
//
// PONS_SENTENCES=FILE has a file of one's own read, and tells of each that is read otherwise.
#include "llm/llm_fixture.h"
#include "pons/body.h"
#include "pons/buf.h"
#include "pons/rule_policy.h"
#include "pons/yaml.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA     PONS_SOURCE_DIR "/tests/intents/everyday_"
#define RIGHT_OF 0.95

static pons_policy rules;
static pons_value *world;

static void sum_goal(pons_buf *out, const pons_value *goal)
{
    static const char *const keys[] = {"zone", "object"};
    const char *intent = pons_get_str(goal, "intent", "?");
    const pons_value *pose = pons_get(goal, "pose"), *zones = pons_get(goal, "zones");
    pons_buf_str(out, intent);
    if (strcmp(intent, "say") == 0) {
        pons_buf_printf(out, " %s", pons_get_str(goal, "text", "?"));
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *name = pons_get_str(goal, keys[i], NULL);
        pons_buf_printf(out, name ? " %s" : "%s", name ? name : "");
    }
    if (pose) {
        pons_buf_printf(out, " (%g,%g)", pons_get_num(pose, "x", NAN),
                        pons_get_num(pose, "y", NAN));
    }
    if (pons_get(goal, "place")) {
        pons_buf_printf(out, " > %s", pons_get_str(goal, "place", "?"));
    }
    if (pons_get(goal, "seconds")) {
        pons_buf_printf(out, " %g", pons_get_num(goal, "seconds", NAN));
    }
    if (json_array_size(zones) == json_array_size(pons_get(world, "zones"))) {
        pons_buf_str(out, " all");
        zones = NULL;
    }
    for (size_t i = 0; i < json_array_size(zones); i++) {
        pons_buf_printf(out, "%s%s", i ? "," : " ", json_string_value(json_array_get(zones, i)));
    }
    if (strcmp(intent, "do") == 0) {
        pons_buf_printf(out, " %s", pons_get_str(goal, "skill", "?"));
        pons_each_member(key, value, pons_get(goal, "args")) {
            pons_buf_printf(out, " %s=%g", key, json_number_value(value));
        }
    }
}

static void sum_goals(pons_buf *out, const pons_value *goals)
{
    for (size_t i = 0; i < json_array_size(goals); i++) {
        pons_buf_str(out, i ? "; " : "");
        sum_goal(out, json_array_get(goals, i));
    }
}

// Whether any of it sets the robot in motion.
static bool moves(const pons_value *parsed)
{
    static const char *const still[] = {"where", "battery", "help", "did",  "next",
                                        "doing", "why",     "say",  "wait", NULL};
    static const char *const free[] = {"continue", "reset", "yes", NULL};
    const char *control = pons_get_str(parsed, "control", "");
    for (size_t i = 0; free[i]; i++) {
        if (strcmp(free[i], control) == 0) {
            return true;
        }
    }
    const pons_value *goals = pons_get(parsed, "goals");
    for (size_t i = 0; i < json_array_size(goals); i++) {
        const char *intent = pons_get_str(json_array_get(goals, i), "intent", "");
        size_t k = 0;
        while (still[k] && strcmp(still[k], intent) != 0) {
            k++;
        }
        if (!still[k]) {
            return true;
        }
    }
    return false;
}

static bool sum_wish(pons_buf *out, const char *text)
{
    pons_autovalue parsed = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (rules.ops->parse(rules.self, text, world, &parsed, &err) < 0) {
        assert_true(err.message[0] != '\0');
        pons_buf_printf(out, "? %s", err.message);
        return false;
    }
    const char *control = pons_get_str(parsed, "control", NULL);
    const pons_value *cancel = pons_get(parsed, "cancel");
    sum_goals(out, pons_get(parsed, "goals"));
    if (control) {
        pons_buf_printf(out, "%s[%s", out->len > 0 ? " " : "", control);
        static const char *const which[] = {"nth", "number"};
        for (size_t i = 0; i < 2; i++) {
            if (pons_get(cancel, which[i])) {
                pons_buf_printf(out, " %d", (int)pons_get_int(cancel, which[i], 0));
            }
        }
        pons_buf_str(out, pons_get(cancel, "goals") ? ": " : "");
        sum_goals(out, pons_get(cancel, "goals"));
        pons_buf_str(out, "]");
    }
    return moves(parsed);
}

// What a brain would make of it; whether something moves.
static bool read_as_brain(pons_buf *out, const char *text, bool again)
{
    pons_autovalue said = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (!again && rules.ops->when(rules.self, text, &said, &err) >= 0) {
        pons_autobuf rest = PONS_BUF_INIT;
        const bool moving = read_as_brain(&rest, pons_get_str(said, "text", ""), true);
        if (strncmp(rest.data, "?", 1) != 0) {
            pons_buf_printf(out, "@%s: ", pons_get_str(said, "schedule", ""));
        }
        pons_buf_str(out, rest.data);
        return moving;
    }
    const int rc = rules.ops->place(rules.self, text, &said, &err);
    if (rc != PONS_ENOTFOUND) {
        pons_buf_printf(out, rc < 0 ? "? %s%s" : "#%s: %s",
                        rc < 0 ? "" : pons_get_str(said, "word", ""),
                        rc < 0 ? err.message : pons_get_str(said, "name", ""));
        return false;
    }
    if (rules.ops->pace(rules.self, text, &said, &err) >= 0) {
        const char *word = pons_get_str(said, "word", ""), *rest = pons_get_str(said, "rest", NULL);
        pons_buf_printf(out, "~%s", word);
        if (pons_get_num(said, "number", 0.0) != 0.0) {
            pons_buf_printf(out, " %g", pons_get_num(said, "number", 0.0));
        }
        pons_buf_str(out, rest ? ": " : "");
        return rest && sum_wish(out, rest);
    }
    return sum_wish(out, text);
}

// "*" is anything.
static bool fits(const char *got, const char *means)
{
    for (; *means && *means != '*'; means++, got++) {
        if (*got != *means) {
            return false;
        }
    }
    if (!*means) {
        return !*got;
    }
    while (!fits(got, means + 1)) {
        if (!*got++) {
            return false;
        }
    }
    return true;
}

static void read_file(const char *path)
{
    char line[2048];
    size_t n = 0, right = 0, wrong_motions = 0;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        pons_autovalue row = fixture_json(line);
        pons_autobuf got = PONS_BUF_INIT;
        const char *say = pons_get_str(row, "say", ""), *means = pons_get_str(row, "means", "?");
        const bool moving = read_as_brain(&got, say, false);
        const bool well = strcmp(means, "-") == 0   ? !moving
                          : strcmp(means, "?") == 0 ? strncmp(got.data, "?", 1) == 0
                                                    : fits(got.data, means);
        n++;
        right += well;
        wrong_motions += !well && moving;
        if (!well) {
            print_message("%s %s\n    became   %s\n    expected %s\n", moving ? "MOVES" : "     ",
                          say, got.data, means);
        }
    }
    fclose(f);
    print_message("%s: %zu of %zu read rightly, %zu wrong motions\n", path, right, n,
                  wrong_motions);
    assert_int_equal(wrong_motions, 0);
    assert_true((double)right >= RIGHT_OF * (double)n);
}

static void english(void **state)
{
    (void)state;
    read_file(DATA "en.jsonl");
}

static void chinese(void **state)
{
    (void)state;
    read_file(DATA "zh.jsonl");
}

static void of_ones_own(void **state)
{
    (void)state;
    const char *path = getenv("PONS_SENTENCES");
    if (!path) {
        skip();
    }
    read_file(path);
}

static int open_house(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *y = NULL;
    pons_value *skills = NULL;
    pons_value_init();
    rules = fixture_rules();
    assert_int_equal(pons_yaml_load(PONS_SOURCE_DIR "/worlds/house.yaml", &y, &err), PONS_OK);
    assert_int_equal(pons_body_skills(NULL, 0, &skills, &err), PONS_OK);
    world = json_deep_copy(pons_yaml_value(y));
    json_object_set_new(world, "skills", skills);
    pons_yaml_destroy(y);
    return 0;
}

static int close_house(void **state)
{
    (void)state;
    pons_value_unref(world);
    pons_rules_close(&rules);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(english), cmocka_unit_test(chinese),
                                       cmocka_unit_test(of_ones_own)};
    return cmocka_run_group_tests(tests, open_house, close_house);
}
