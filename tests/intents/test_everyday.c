// test_everyday.c - everyday sentences, as people say them: everyday_en.jsonl and everyday_zh.jsonl have each with the
// reading that is expected, {kind, say, means}. They are read as a brain reads them: a time, a name of a place, how
// fast, and then a wish. What moves the robot or cancels and was not meant fails at once; of the rest 95 of 100 are read rightly.
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
#include "pons/language.h"
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
        const char *reading = got.data ? got.data : ""; // nothing at all is done
        const bool well = strcmp(means, "-") == 0   ? !moving
                          : strcmp(means, "?") == 0 ? strncmp(reading, "?", 1) == 0
                                                    : fits(reading, means);
        n++;
        right += well;
        wrong_motions += !well && (moving || strstr(reading, "[cancel"));
        if (!well) {
            print_message("%s %s\n    became   %s\n    expected %s\n", moving ? "MOVES" : "     ",
                          say, reading, means);
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

// What is asked, denied, told or supposed: X is a wish, and none of it is one.
static void no_wish(void **state)
{
    (void)state;
    // clang-format off
    static const char *const frames[] = {
        "don't X", "do not X", "please don't X", "never X", "you must not X", "you should not X",
        "I don't want you to X", "no need to X", "why did you X?", "did you X?", "do you X?", "should you X?",
        "when will you X?", "how often do you X?", "who told you to X?", "I X", "I will X", "I want to X",
        "if it rains, X", "if it rains X", "X?", "are you going to X?", "what happens if you X?", "he said X",
        "you were told not to X", "can I X?", "do I have to X?", "you didn't X", "I'd rather you didn't X",
        "let me X", "suppose you X", "unless it rains, X", "tomorrow X", "did I say X?", "why X",
        "please do not X now", "you are not allowed to X", "it is not allowed to X", "nobody told you to X",
        "X is not allowed", "I said don't X", "I never said X", "don't ever X", "whatever you do, don't X",
        "not now, X later", "yesterday you X", "she wants to X", "how do you X", "why would you X?",
        "stop trying to X", "we X", "they X", "don't you dare X", "could you not X", "can you not X",
        "please not X", "X, don't", "maybe you shouldn't X", "is it safe to X?", "you can't X", "you cannot X",
        "will you X tomorrow?", "have you X", "the robot must never X", "avoid to X", "refuse to X",
        "X was a mistake", "I wonder if you X", "ask before you X", "before you X, tell me", "don't X or Y",
        "不要X", "别X", "请不要X", "千万别X", "不用X", "不许X", "你别X", "先别X", "我不想让你X", "为什么X",
        "你为什么X", "你X了吗", "X了吗", "X吗", "你会X吗", "要不要X", "是不是X了", "谁让你X的", "什么时候X",
        "如果下雨就X", "我X", "我要X", "我想X", "他X", "X了没有", "你怎么X了", "你刚才X了", "没有X", "还没X",
        "不X", "X干什么", "要是X会怎样", "你想X吗", "别人X", "明天X", "不能X", "你不能X", "不可以X", "X可不行",
        "X不行", "X是不允许的", "我没让你X", "我说了不要X", "别老是X", "不要再X了", "不要X和Y", "谁要X",
        "能不能不X", "可不可以不要X", "你可以不X吗", "请你不要X好吗", "不准X", "最好不要X", "绝对不能X",
        "没必要X", "用不着X", "我们X", "她X", "昨天X", "X之前先问我", "你要是X我就生气", "X的话会怎样",
        "难道要X", "怎么X", "怎样X", "X过吗", "有没有X", "算了不X了", "现在不X", "暂时别X", "今天不X", "你敢X",
        "假如X", "除非下雨，X", "X不好", "X，不要", "X，别",
    };
    static const char *const wishes[] = {
        "go to the kitchen", "patrol", "bring me the apple", "charge", "come back", "turn left",
        "go forward 1 m", "put the cup in the basket", "do that again", "go to the kitchen and the bedroom",
        "go to the kitchen and wait", "去厨房", "巡逻", "把苹果拿过来", "去充电", "回来", "左转", "前进一米",
        "把杯子放到篮子里", "再来一次", "去厨房和卧室", "去厨房等五秒",
    };
    // clang-format on
    size_t n = 0;
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        for (size_t k = i % 5; k < sizeof wishes / sizeof wishes[0]; k += 5) { // some of them
            const bool zh = pons_language_chinese(wishes[k]);
            const char *at = strchr(frames[i], 'X');
            pons_autobuf say = PONS_BUF_INIT, got = PONS_BUF_INIT;
            if (pons_language_chinese(frames[i]) != zh) {
                continue;
            }
            pons_buf_printf(&say, "%.*s%s%s", (int)(at - frames[i]), frames[i], wishes[k], at + 1);
            if (read_as_brain(&got, say.data, false)) {
                print_error("\"%s\" became %s\n", say.data, got.data);
                n++;
            }
        }
    }
    assert_int_equal(n, 0);
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
                                       cmocka_unit_test(no_wish), cmocka_unit_test(of_ones_own)};
    return cmocka_run_group_tests(tests, open_house, close_house);
}
