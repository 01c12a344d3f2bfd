// test_goals.c - goals that are no place by name: coordinates, moves, questions, skills by their name,
// and the words that a skill's registry entry brings along. The registry is the body's own.
#include "llm/llm_fixture.h"
#include "pons/body.h"
#include "pons/rule_policy.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *said, *expected; // the goals, canonical, without their text; "? …": a refusal
} table[] = {
    {"go to 1.5 2.0", "{\"intent\":\"go_to\",\"pose\":{\"x\":1.5,\"y\":2.0}}"},
    {"drive to (1.5, -2)", "{\"intent\":\"go_to\",\"pose\":{\"x\":1.5,\"y\":-2.0}}"},
    {"go to the point x=1 y=2", "{\"intent\":\"go_to\",\"pose\":{\"x\":1.0,\"y\":2.0}}"},
    {"去坐标 2.0，1.6", "{\"intent\":\"go_to\",\"pose\":{\"x\":2.0,\"y\":1.6}}"},
    {"请去1.5 2", "{\"intent\":\"go_to\",\"pose\":{\"x\":1.5,\"y\":2.0}}"},
    {"turn around", "{\"args\":{\"angle_rad\":3.14159},\"intent\":\"do\",\"skill\":\"spin\"}"},
    {"please turn left", "{\"args\":{\"angle_rad\":1.5708},\"intent\":\"do\",\"skill\":\"spin\"}"},
    {"掉头", "{\"args\":{\"angle_rad\":3.14159},\"intent\":\"do\",\"skill\":\"spin\"}"},
    {"go forward 1 m",
     "{\"args\":{\"distance_m\":1.0},\"intent\":\"do\",\"skill\":\"drive_on_heading\"}"},
    {"move forward by 0.5 metres",
     "{\"args\":{\"distance_m\":0.5},\"intent\":\"do\",\"skill\":\"drive_on_heading\"}"},
    {"向前走一米",
     "{\"args\":{\"distance_m\":1.0},\"intent\":\"do\",\"skill\":\"drive_on_heading\"}"},
    {"后退0.5米", "{\"args\":{\"distance_m\":0.5},\"intent\":\"do\",\"skill\":\"back_up\"}"},
    {"where are you?", "{\"intent\":\"where\"}"},
    {"你在哪里", "{\"intent\":\"where\"}"},
    {"现在电量多少?", "{\"intent\":\"battery\"}"},
    {"还有多少电", "{\"intent\":\"battery\"}"},
    {"what is your battery level?", "{\"intent\":\"battery\"}"},
    {"how much battery is left", "{\"intent\":\"battery\"}"},
    {"come back", "{\"intent\":\"come_back\"}"},
    {"回来吧", "{\"intent\":\"come_back\"}"},
    {"go to the kitchen and come back",
     "{\"intent\":\"go_to\",\"zone\":\"kitchen\"}{\"intent\":\"come_back\"}"},
    {"去厨房然后掉头", "{\"intent\":\"go_to\",\"zone\":\"kitchen\"}"
                       "{\"args\":{\"angle_rad\":3.14159},\"intent\":\"do\",\"skill\":\"spin\"}"},
    {"do look", "{\"args\":{},\"intent\":\"do\",\"skill\":\"look\"}"},
    {"do wait {\"s\": 2}", "{\"args\":{\"s\":2},\"intent\":\"do\",\"skill\":\"wait\"}"},
    {"do wait s=2", "{\"args\":{\"s\":2},\"intent\":\"do\",\"skill\":\"wait\"}"},
    {"do speak text=see you, friends",
     "{\"args\":{\"text\":\"see you, friends\"},\"intent\":\"do\",\"skill\":\"speak\"}"},
    {"do back_up distance_m=0.2 speed_mps=0.1", "{\"args\":{\"distance_m\":0.2,\"speed_mps\":0.1},"
                                                "\"intent\":\"do\",\"skill\":\"back_up\"}"},
    {"执行 wait {\"s\": 2}", "{\"args\":{\"s\":2},\"intent\":\"do\",\"skill\":\"wait\"}"},
    {"调用技能 wait s=2", "{\"args\":{\"s\":2},\"intent\":\"do\",\"skill\":\"wait\"}"},
    {"undock", "{\"args\":{},\"intent\":\"do\",\"skill\":\"undock\"}"},
    {"please undock and go to the kitchen", "{\"args\":{},\"intent\":\"do\",\"skill\":\"undock\"}"
                                            "{\"intent\":\"go_to\",\"zone\":\"kitchen\"}"},
    {"离开充电桩", "{\"args\":{},\"intent\":\"do\",\"skill\":\"undock\"}"},
    {"look around", "{\"args\":{},\"intent\":\"do\",\"skill\":\"look\"}"},
    {"环顾四周", "{\"args\":{},\"intent\":\"do\",\"skill\":\"look\"}"},
    {"Look", "{\"args\":{},\"intent\":\"do\",\"skill\":\"look\"}"},
    {"go back 30 cm", "{\"args\":{\"distance_m\":0.3},\"intent\":\"do\",\"skill\":\"back_up\"}"},
    {"前进50厘米",
     "{\"args\":{\"distance_m\":0.5},\"intent\":\"do\",\"skill\":\"drive_on_heading\"}"},
    {"转一圈", "{\"args\":{\"angle_rad\":6.28319},\"intent\":\"do\",\"skill\":\"spin\"}"},
    {"spin half a turn", "{\"args\":{\"angle_rad\":3.14159},\"intent\":\"do\",\"skill\":\"spin\"}"},
    {"转个身", "{\"args\":{\"angle_rad\":3.14159},\"intent\":\"do\",\"skill\":\"spin\"}"},
    {"rotate 100 degrees", // without a side: as angles count, to the left
     "{\"args\":{\"angle_rad\":1.74533},\"intent\":\"do\",\"skill\":\"spin\"}"},
    {"move 50 cm back", "{\"args\":{\"distance_m\":0.5},\"intent\":\"do\",\"skill\":\"back_up\"}"},
    {"go 20 cm forward",
     "{\"args\":{\"distance_m\":0.2},\"intent\":\"do\",\"skill\":\"drive_on_heading\"}"},
    {"where is the robot?", "{\"intent\":\"where\"}"},
    {"stand still for 3 seconds", "{\"intent\":\"wait\",\"seconds\":3.0}"},
    {"go back to where you were", "{\"intent\":\"come_back\"}"},
    {"回到刚才的地方", "{\"intent\":\"come_back\"}"},
    {"drive to x=2 y=1.5 yaw=0",
     "{\"intent\":\"go_to\",\"pose\":{\"x\":2.0,\"y\":1.5,\"yaw\":0.0}}"},
    {"do wait s=1 s=2", "? "},
    {"do wait 2", "? "},
    {"spin", "? "}, // it needs an angle
    {"做饭", "? "},
    {"do fly", "? unknown skill \"fly\"; known skills: navigate_to_pose"},
    {"do wait {\"s\": }", "? the arguments of wait"},
    {"go to 1.5", "? "},
    {"go to the moon 7", "? unknown zone"},
};

static pons_policy rules;
static pons_value *world;

static int open_rules(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue doc = fixture_intents();
    pons_value *skills = NULL;
    assert_int_equal(pons_rules_open(doc, &rules, &err), PONS_OK);
    assert_int_equal(pons_body_skills(NULL, 0, &skills, &err), PONS_OK);
    world = json_pack("{s:[{s:s, s:{s:[s]}}], s:o}", "zones", "id", "kitchen", "names", "zh",
                      "厨房", "skills", skills);
    return 0;
}

static int close_rules(void **state)
{
    (void)state;
    pons_rules_close(&rules);
    pons_value_unref(world);
    return 0;
}

static void words_become_goals(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        pons_autovalue parsed = NULL;
        pons_error err = PONS_ERROR_INIT;
        char got[1024] = "";
        const int rc = rules.ops->parse(rules.self, table[i].said, world, &parsed, &err);
        size_t k;
        json_t *goal;
        json_array_foreach(pons_get(parsed, "goals"), k, goal) {
            pons_autovalue bare = json_copy(goal);
            char *text = NULL;
            json_object_del(bare, "text");
            assert_true(pons_value_dump(bare, &text) > 0);
            strncat(got, text, sizeof got - strlen(got) - 1);
            free(text);
        }
        if (rc < 0) {
            snprintf(got, sizeof got, "? %s", err.message);
        }
        const bool refused = table[i].expected[0] == '?';
        if (refused ? rc >= 0 || !strstr(got, table[i].expected + 2)
                    : strcmp(got, table[i].expected) != 0) {
            print_error("\"%s\"\n  became   %s\n  expected %s\n", table[i].said, got,
                        table[i].expected);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

// A skill that nobody has heard of brings its own words.
static void a_registry_entry_brings_its_words(void **state)
{
    (void)state;
    pons_autovalue own = NULL;
    pons_autovalue parsed = NULL;
    pons_error err = PONS_ERROR_INIT;
    const char text[] = "{\"zones\":[],\"skills\":[{\"name\":\"wave\",\"phrases\":[{\"say\":"
                        "[\"wave {number} times\",\"挥{number}次手\"],\"args\":{\"hand\":\"left\","
                        "\"times\":{\"number\":1}}}]}]}";
    assert_int_equal(pons_value_parse(text, strlen(text), &own, &err), PONS_OK);
    assert_int_equal(rules.ops->parse(rules.self, "挥三次手", own, &parsed, &err), PONS_OK);
    const pons_value *goal = json_array_get(pons_get(parsed, "goals"), 0);
    assert_string_equal(pons_get_str(goal, "skill", ""), "wave");
    assert_int_equal((int)pons_get_num(pons_get(goal, "args"), "times", 0), 3);
    assert_string_equal(pons_get_str(pons_get(goal, "args"), "hand", ""), "left");
    pons_autovalue again = NULL; // and another body's are not remembered
    assert_int_equal(rules.ops->parse(rules.self, "wave 3 times", world, &again, &err),
                     PONS_EINVAL);
}

// A body is another process: what it says badly costs it those words and no others, and what it says
// too much of is left out.
static void what_is_no_phrase_is_left_out(void **state)
{
    (void)state;
    static const char many[] =
        "(a|b|c|d|e|f|g|h)(a|b|c|d|e|f|g|h)(a|b|c|d|e|f|g|h)(a|b|c|d|e|f|g|h)";
    pons_autovalue own = json_pack(
        "{s:[], s:[{s:s, s:[{s:[s,s,i,s]}, {s:s}, {s:[s]}, {s:[s]}]}, i, {s:s, s:s}]}", "zones",
        "skills", "name", "wave", "phrases", "say", "wave (at", "[wave]", 7, "wave", "say", "bow",
        "say", "wave {moon}", "say", "greet me", 3, "name", "sing", "phrases", "sing");
    static const char *const said[] = {"wave", "greet me"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        pons_autovalue parsed = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(rules.ops->parse(rules.self, said[i], own, &parsed, &err), PONS_OK);
        const pons_value *goal = json_array_get(pons_get(parsed, "goals"), 0);
        assert_string_equal(pons_get_str(goal, "skill", ""), "wave");
    }
    pons_autovalue full = json_deep_copy(own);
    pons_value *phrases =
        json_object_get(json_array_get(json_object_get(full, "skills"), 0), "phrases");
    for (int i = 0; i < 64; i++) {
        char say[192];
        snprintf(say, sizeof say, "%s x%d", many, i);
        json_array_append_new(phrases, json_pack("{s:[s]}", "say", say));
    }
    json_array_append_new(phrases, json_pack("{s:[s]}", "say", "too late"));
    pons_autovalue parsed = NULL;
    pons_autovalue late = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(rules.ops->parse(rules.self, "aaaa x1", full, &parsed, &err), PONS_OK);
    assert_int_equal(rules.ops->parse(rules.self, "too late", full, &late, &err), PONS_EINVAL);
}

// The words of the document come first: no body takes them for itself.
static void the_documents_words_come_first(void **state)
{
    (void)state;
    pons_autovalue own =
        json_pack("{s:[{s:s}], s:[{s:s, s:[{s:[s,s]}]}]}", "zones", "id", "kitchen", "skills",
                  "name", "fly", "phrases", "say", "go to the kitchen", "(go|fly) up");
    pons_autovalue parsed = NULL;
    pons_autovalue up = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(rules.ops->parse(rules.self, "go to the kitchen", own, &parsed, &err),
                     PONS_OK);
    const pons_value *goal = json_array_get(pons_get(parsed, "goals"), 0);
    assert_string_equal(pons_get_str(goal, "intent", ""), "go_to");
    assert_int_equal(rules.ops->parse(rules.self, "go up", own, &up, &err), PONS_OK);
    goal = json_array_get(pons_get(up, "goals"), 0);
    assert_string_equal(pons_get_str(goal, "skill", ""), "fly");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_goals),
        cmocka_unit_test(a_registry_entry_brings_its_words),
        cmocka_unit_test(what_is_no_phrase_is_left_out),
        cmocka_unit_test(the_documents_words_come_first),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("goals", tests, open_rules, close_rules);
}
