// test_pace.c - how fast a person wants it, in English and in Chinese; what else was said in the same breath; and
// what says nothing of that.
#include "llm/llm_fixture.h"
#include "pons/rule_policy.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static pons_policy policy;

static int open_rules(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue doc = fixture_intents();
    return pons_rules_open(doc, &policy, &err);
}

static int close_rules(void **state)
{
    (void)state;
    pons_rules_close(&policy);
    return 0;
}

static void says(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
        double number;
        const char *rest;
    } rows[] = {
        {"slower", "slower", 0, ""},
        {"Slower!", "slower", 0, ""},
        {"a bit slower please", "slower", 0, ""},
        {"please go a little slower from now on", "slower", 0, ""},
        {"please, slow down", "slower", 0, ""},
        {"drive more slowly", "slower", 0, ""},
        {"not so fast", "slower", 0, ""},
        {"that's too fast", "slower", 0, ""},
        {"慢一点", "slower", 0, ""},
        {"慢点", "slower", 0, ""},
        {"请慢一点儿", "slower", 0, ""},
        {"开慢一点", "slower", 0, ""},
        {"走慢点吧", "slower", 0, ""},
        {"再慢一些", "slower", 0, ""},
        {"太快了", "slower", 0, ""},
        {"减速", "slower", 0, ""},
        {"慢一点。", "slower", 0, ""},
        {"slower, go to the kitchen", "slower", 0, "go to the kitchen"},
        {"Slow down. Go to the kitchen", "slower", 0, "Go to the kitchen"},
        {"慢一点，去厨房", "slower", 0, "去厨房"},
        {"half speed, then", "percent", 50, ""},
        {"slower, please", "slower", 0, ""},
        {"慢一点，谢谢", "slower", 0, ""},
        {"slower, please go to the kitchen", "slower", 0, "please go to the kitchen"},
        {"go slowly to the kitchen", "percent", 50, "go to the kitchen"},
        {"go to the kitchen slowly", "percent", 50, "go to the kitchen"},
        {"go to the kitchen slower", "slower", 0, "go to the kitchen"},
        {"Please drive very slowly into the kitchen.", "percent", 50,
         "Please drive into the kitchen."},
        {"slowly go to the kitchen", "percent", 50, "go to the kitchen"},
        {"go to the kitchen, slowly please", "percent", 50, "go to the kitchen"},
        {"go to the kitchen and go slowly", "percent", 50, "go to the kitchen"},
        {"go to the kitchen, not too fast", "percent", 50, "go to the kitchen"},
        {"go to the kitchen as slowly as you can", "percent", 50, "go to the kitchen"},
        {"patrol the kitchen and the bedroom slowly", "percent", 50,
         "patrol the kitchen and the bedroom"},
        {"come back slowly", "percent", 50, "come back"},
        {"go to the kitchen at half speed", "percent", 50, "go to the kitchen"},
        {"go at half speed to the kitchen", "percent", 50, "go to the kitchen"},
        {"go to the kitchen at 0.2 m/s", "mps", 0.2, "go to the kitchen"},
        {"drive to the kitchen at 30% speed, please", "percent", 30, "drive to the kitchen"},
        {"慢慢去厨房", "percent", 50, "去厨房"},
        {"慢慢地去厨房", "percent", 50, "去厨房"},
        {"请慢慢走到厨房", "percent", 50, "请走到厨房"},
        {"慢点去厨房", "slower", 0, "去厨房"},
        {"走慢点去厨房", "slower", 0, "走去厨房"},
        {"去厨房，慢一点", "slower", 0, "去厨房"},
        {"去厨房慢一点", "slower", 0, "去厨房"},
        {"去厨房的时候慢一点", "slower", 0, "去厨房"},
        {"去厨房，不要太快", "percent", 50, "去厨房"},
        {"以半速去厨房", "percent", 50, "去厨房"},
        {"以每秒0.2米的速度去厨房", "mps", 0.2, "去厨房"},
        {"don't go so fast", "slower", 0, ""},
        {"不要这么快", "slower", 0, ""},
        {"别开那么快", "slower", 0, ""},
        {"三成速度", "percent", 30, ""},
        {"double speed", "faster", 0, ""},
        {"双倍速度", "faster", 0, ""},
        {"faster", "faster", 0, ""},
        {"a bit faster", "faster", 0, ""},
        {"speed up", "faster", 0, ""},
        {"too slow", "faster", 0, ""},
        {"快一点", "faster", 0, ""},
        {"再快一点", "faster", 0, ""},
        {"加速", "faster", 0, ""},
        {"太慢了", "faster", 0, ""},
        {"normal speed", "normal", 0, ""},
        {"back to normal speed", "normal", 0, ""},
        {"正常速度", "normal", 0, ""},
        {"恢复正常速度", "normal", 0, ""},
        {"全速", "normal", 0, ""},
        {"half speed", "percent", 50, ""},
        {"drive at half speed", "percent", 50, ""},
        {"半速", "percent", 50, ""},
        {"用一半的速度", "percent", 50, ""},
        {"quarter speed", "percent", 25, ""},
        {"30% speed", "percent", 30, ""},
        {"at 30 percent speed", "percent", 30, ""},
        {"drive at 30%", "percent", 30, ""},
        {"slow down to 30%", "percent", 30, ""},
        {"slow down to 0.2 m/s", "mps", 0.2, ""},
        {"set the speed to 30%", "percent", 30, ""},
        {"set the speed to normal", "normal", 0, ""},
        {"slow", "slower", 0, ""},
        {"drive slow", "slower", 0, ""},
        {"even slower", "slower", 0, ""},
        {"走得慢一点", "slower", 0, ""},
        {"有点快", "slower", 0, ""},
        {"快了", "slower", 0, ""},
        {"走快了", "slower", 0, ""},
        {"你走得有点快", "slower", 0, ""},
        {"速度太快了", "slower", 0, ""},
        {"you are still going too fast", "slower", 0, ""},
        {"it's a bit fast", "slower", 0, ""},
        {"有点慢", "faster", 0, ""},
        {"可以快一点吗", "faster", 0, ""},
        {"a bit slow", "faster", 0, ""},
        {"速度百分之三十", "percent", 30, ""},
        {"速度30%", "percent", 30, ""},
        {"0.2 m/s", "mps", 0.2, ""},
        {"drive at 0.2 m/s", "mps", 0.2, ""},
        {"at most 0.25 metres per second", "mps", 0.25, ""},
        {"at 20 cm/s", "mps", 0.2, ""},
        {"每秒0.2米", "mps", 0.2, ""},
        {"以0.2米/秒", "mps", 0.2, ""},
    };
    static const struct {
        const char *text, *before, *word, *rest;
    } both[] = {
        {"ok, slower", "ok", "slower", ""},
        {"ok slower", "ok", "slower", ""},
        {"ok but slower", "ok", "slower", ""},
        {"行，但是慢点", "行", "slower", ""},
        {"好的，不过慢一点", "好的", "slower", ""},
        {"可以，但慢一些", "可以", "slower", ""},
        {"行，慢点", "行", "slower", ""},
        {"是，但是半速", "是", "percent", ""},
        {"yes slow down", "yes", "slower", ""},
        {"可以慢一点", "可以", "slower", ""},
        {"可以慢一点吗", "", "slower", ""},
        {"可以请你慢一点", "", "slower", ""},
        {"ok please slower", "", "slower", ""},
        {"继续慢一点", "继续", "slower", ""},
        {"恢复慢一点", "", "slower", ""},
        {"Yes, slowly!", "Yes", "slower", ""},
        {"可以，慢一点", "可以", "slower", ""},
        {"no, slower", "no", "slower", ""},
        {"yes, faster", "yes", "faster", ""},
        {"continue, slower", "continue", "slower", ""},
        {"继续，慢一点", "继续", "slower", ""},
        {"resume at half speed", "resume", "percent", ""},
        {"keep going slower", "keep going", "slower", ""},
        {"cancel. slower, go to the kitchen", "cancel", "slower", "go to the kitchen"},
        {"resume normal speed", "", "normal", ""},
        {"恢复正常速度", "", "normal", ""},
    };
    static const struct {
        const char *text, *word;
        double number;
        bool at_most;
    } limits[] = {
        {"slow down to 0.5 m/s", "mps", 0.5, true},
        {"slow to 30%", "percent", 30, true},
        {"please reduce the speed to 30%", "percent", 30, true},
        {"at most 0.5 m/s", "mps", 0.5, true},
        {"0.5 m/s at most", "mps", 0.5, true},
        {"no faster than 0.5 m/s, please", "mps", 0.5, true},
        {"减速到每秒0.5米", "mps", 0.5, true},
        {"max speed 0.3 m/s", "mps", 0.3, true},
        {"never go faster than 0.3 m/s", "mps", 0.3, true},
        {"don't drive faster than 30% speed", "percent", 30, true},
        {"go to the kitchen at most 0.3 m/s", "mps", 0.3, true},
        {"go slowly to the kitchen", "percent", 50, true}, // each time the same
        {"go to the kitchen at half speed", "percent", 50, false},
        {"放慢到30%", "percent", 30, true},
        {"最快0.5米每秒", "mps", 0.5, true},
        {"at 0.5 m/s", "mps", 0.5, false},
        {"speed 30%", "percent", 30, false},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue got = NULL;
        policy.ops->pace(policy.self, limits[i].text, &got, &err);
        if (strcmp(pons_get_str(got, "word", ""), limits[i].word) != 0 ||
            fabs(pons_get_num(got, "number", 0.0) - limits[i].number) > 1e-9 ||
            pons_get_bool(got, "at_most", false) != limits[i].at_most) {
            fail_msg("\"%s\": %s %g", limits[i].text, pons_get_str(got, "word", ""),
                     pons_get_num(got, "number", 0.0));
        }
    }
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue got = NULL;
        if (policy.ops->pace(policy.self, both[i].text, &got, &err) != PONS_OK ||
            strcmp(pons_get_str(got, "before", ""), both[i].before) != 0 ||
            strcmp(pons_get_str(got, "word", ""), both[i].word) != 0 ||
            strcmp(pons_get_str(got, "rest", ""), both[i].rest) != 0) {
            fail_msg("\"%s\": \"%s\", %s, and then \"%s\"", both[i].text,
                     pons_get_str(got, "before", ""), pons_get_str(got, "word", ""),
                     pons_get_str(got, "rest", ""));
        }
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue got = NULL;
        if (policy.ops->pace(policy.self, rows[i].text, &got, &err) != PONS_OK) {
            fail_msg("\"%s\" is not heard", rows[i].text);
        }
        if (strcmp(pons_get_str(got, "word", ""), rows[i].word) != 0 ||
            strcmp(pons_get_str(got, "rest", ""), rows[i].rest) != 0) {
            fail_msg("\"%s\": %s, and then \"%s\"", rows[i].text, pons_get_str(got, "word", ""),
                     pons_get_str(got, "rest", ""));
        }
        if (rows[i].number > 0.0) {
            assert_true(fabs(pons_get_num(got, "number", 0.0) - rows[i].number) < 1e-9);
        }
    }
}

// A hurry before a wish, a place, a number of something else: not how fast.
static void says_nothing_of_it(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        " ",
        ",",
        "go to the kitchen",
        "go",
        "a bit",
        "一点",
        "快点，去厨房",
        "快去厨房",
        "faster, go to the kitchen",
        "go to the kitchen but not slowly",
        "don't go slowly to the kitchen",
        "don't go to the kitchen slowly",
        "不要慢慢去厨房",
        "去厨房不慢",
        "去厨房太快了",
        "go to the kitchen faster",
        "go to the kitchen as fast as you can",
        "快点去厨房",
        "say hello slowly",
        "go to the kitchen and say it goes slower",
        "find the slower one",
        "find out which is slower",
        "go to where it is slower",
        "wait 5 seconds slowly",
        "in 10 minutes go slowly to the kitchen",
        "go to the kitchen slowly every day at 9",
        "go to \"the kitchen slowly\"",
        "say slower",
        "说慢一点",
        "turn 30 degrees",
        "wait 30",
        "30",
        "drive 0.2 m",
        "前进0.2米",
        "slower than the cat",
        "normal",
        "that's normal",
        "now, it is normal again",
        "it is normal speed again",
        "and it is still going faster",
        "it is much slower",
        "it's a bit slow",
        "it is still slow",
        "你走得有点慢",
        "你走得慢",
        "慢了",
        "还是慢",
        "快一点了",
        "正常速度了",
        "快了吗",
        "太快了吗",
        "太慢了吗",
        "有点慢吗",
        "太慢了，去厨房",
        "50%",
        "at 50%",
        "it's at 80%",
        "100 percent",
        "it is 5 m/s",
        "it's too slow",
        "ok",
        "ok, 50%",
        "ok 50%",
        "好慢",
        "好慢啊",
        "no slower",
        "yes, it is slower",
        "恢复一点",
        "continue",
        "do not go slower",
        "don't slow down",
        "stop",
        "慢跑者在哪",
        "m/s",
        "at m/s",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue got = NULL;
        if (policy.ops->pace(policy.self, rows[i], &got, &err) != PONS_ENOTFOUND) {
            fail_msg("\"%s\" is heard as %s", rows[i], pons_get_str(got, "word", ""));
        }
    }
}

// What is a statement gets no "try: go to ZONE": who says it is told what makes it faster.
static void what_to_say_instead(void **state)
{
    (void)state;
    static const char *const rows[] = {"it's too slow",     "it is still slow", "it's a bit slow",
                                       "it is much slower", "你走得有点慢",     "还是慢",
                                       "太慢了吗"};
    static const char *const others[] = {"it's at 80%", "it is blue", "there is a cat"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue got = NULL;
        assert_int_equal(policy.ops->parse(policy.self, rows[i], NULL, &got, &err), PONS_EINVAL);
        if (!strstr(err.message, "say \"faster\"") && !strstr(err.message, "请说“快一点”")) {
            fail_msg("\"%s\": %s", rows[i], err.message);
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue got = NULL;
        assert_int_equal(policy.ops->parse(policy.self, others[i], NULL, &got, &err), PONS_EINVAL);
        assert_null(strstr(err.message, "say \"faster\""));
    }
}

// Cut short at each byte, and far too long: an answer, whatever it is.
static void odd_texts(void **state)
{
    (void)state;
    static const char whole[] = "请慢一点，以每秒0.2米的速度去“厨房”";
    for (size_t n = sizeof whole; n-- > 0;) {
        char *cut = strndup(whole, n);
        pons_autovalue any = NULL;
        pons_error err = PONS_ERROR_INIT;
        policy.ops->pace(policy.self, cut, &any, &err);
        free(cut);
    }
    enum { LONG = 4000 };
    char *text = malloc(LONG + 1);
    for (size_t i = 0; i < LONG; i++) {
        text[i] = "go "[i % 3];
    }
    text[LONG] = '\0';
    pons_autovalue any = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(policy.ops->pace(policy.self, text, &any, &err), PONS_ENOTFOUND);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says),
        cmocka_unit_test(says_nothing_of_it),
        cmocka_unit_test(what_to_say_instead),
        cmocka_unit_test(odd_texts),
    };
    return cmocka_run_group_tests(tests, open_rules, close_rules);
}
