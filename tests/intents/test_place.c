// test_place.c - a place that a person names or forgets, in English and in Chinese: its name; and what names none.
#include "llm/llm_fixture.h"
#include "pons/rule_policy.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void said(const pons_policy *p, const char *text, const char *word, const char *name)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue got = NULL;
    const int rc = p->ops->place(p->self, text, &got, &err);
    if (rc != (word ? PONS_OK : PONS_ENOTFOUND)) {
        print_error("%s\n", text);
    }
    assert_int_equal(rc, word ? PONS_OK : PONS_ENOTFOUND);
    assert_string_equal(pons_get_str(got, "word", ""), word ? word : "");
    assert_string_equal(pons_get_str(got, "name", ""), name ? name : "");
}

static void names(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_policy p = {0};
    pons_autovalue doc = fixture_intents();
    assert_int_equal(pons_rules_open(doc, &p, &err), PONS_OK);
    said(&p, "remember this place as the corner", "remember", "the corner");
    said(&p, "Remember this as \"corner\".", "remember", "corner");
    said(&p, " call this place Mara's desk ", "remember", "Mara's desk");
    said(&p, "记住这里叫充电角", "remember", "充电角");
    said(&p, "记住这里叫做“充电角”。", "remember", "充电角");
    said(&p, "把这里记为窗边", "remember", "窗边");
    said(&p, "这个地方叫窗边", "remember", "窗边");
    said(&p, "Please remember this place as the corner, please.", "remember", "the corner");
    said(&p, "can you call this place den?", "remember", "den");
    said(&p, "name this place cave", "remember", "cave");
    said(&p, "请把这里命名为窗边吧。", "remember", "窗边");
    said(&p, "请你记住这里叫充电角，谢谢", "remember", "充电角");
    said(&p, "this is the kitchen", "room", "kitchen");
    said(&p, "这里是厨房", "room", "厨房");
    said(&p, "remember this place as ../../etc", "remember", "../../etc");
    said(&p, "please forget the place corner", "forget", "corner");
    said(&p, "forget the place corner", "forget", "corner");
    said(&p, "忘记地点窗边", "forget", "窗边");
    said(&p, "忘记窗边这个地方", "forget", "窗边");
    static const char *const own[] = {"this is your place",
                                      "This is your charger.",
                                      "here is your dock",
                                      "please remember that this is your place",
                                      "you charge here",
                                      "this is the charging station",
                                      "this is where you charge",
                                      "这是你的位置",
                                      "这里是你的充电桩",
                                      "请记住这里是你的充电座。",
                                      "这就是你的家",
                                      "你在这里充电"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        said(&p, own[i], "charger", NULL);
    }
    said(&p, "this is the charger room", "room", "charger room");
    said(&p, "这里是充电角", "room", "充电角");
    static const char *const none[] = {"",
                                       "remember",
                                       "go to the kitchen",
                                       "去厨房",
                                       "forget it",
                                       "remember to go to the kitchen",
                                       "这里是哪里",
                                       "这是厨房吧",
                                       "this is your place to be",
                                       "is this your place?"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        said(&p, none[i], NULL, NULL);
    }
    static const char *const nameless[] = {
        "记住这里",   "Remember this place.", "remember this place as ",
        "记住这里叫", "记住这里叫“”",         "forget the place",
        "忘记地点"};
    for (size_t i = 0; i < sizeof nameless / sizeof nameless[0]; i++) {
        pons_autovalue any = NULL;
        assert_int_equal(p.ops->place(p.self, nameless[i], &any, &err), PONS_EINVAL);
        assert_null(any);
    }
    char text[256] = "记住这里叫";
    memset(text + strlen(text), 'a', 100);
    pons_autovalue got = NULL;
    assert_int_equal(p.ops->place(p.self, text, &got, &err), PONS_EINVAL);
    for (size_t n = strlen("把这里记为“窗边”。") + 1; n-- > 0;) { // cut short at each byte
        char *cut = strndup("把这里记为“窗边”。", n);
        pons_autovalue any = NULL;
        p.ops->place(p.self, cut, &any, &err);
        free(cut);
    }
    pons_rules_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
