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
                                      "你在这里充电",
                                      "this is your new charger",
                                      "This  is your charging spot!",
                                      "this is your docking place",
                                      "this is your base station",
                                      "this is your home base",
                                      "this is your bed",
                                      "this is your spot",
                                      "that's your charger",
                                      "it's your dock",
                                      "here’s your charging point",
                                      "this is where you recharge",
                                      "this is where you live",
                                      "you dock here",
                                      "you live here",
                                      "your dock is here",
                                      "your home is here",
                                      "set your charger here",
                                      "remember, this is your charger",
                                      "hello robot, this is your charger, please",
                                      "okay, this is your dock",
                                      "Pons, this is your place.",
                                      "remember this place as your charger",
                                      "call this place your charger",
                                      "charge here",
                                      "please charge here from now on",
                                      "在这里充电",
                                      "就在这充电",
                                      "你以后在这儿充电",
                                      "以后你就在这里充电吧",
                                      "这里是你的新充电桩",
                                      "这儿是您的充电底座",
                                      "这个是你的充电器",
                                      "这个地方是你的充电点",
                                      "这边是你的充电位置",
                                      "这是你的窝",
                                      "这是你的基站",
                                      "这是 你的 充电桩",
                                      "你的充电桩就在这里",
                                      "你的家在这儿",
                                      "记住，这是你的充电桩",
                                      "機器人，這是你的充電樁",
                                      "這裡是你的充電站",
                                      "这是你的充电桩哦",
                                      "这是你的新家了",
                                      "你好，这是你的位置，谢谢",
                                      "把这里记为你的充电桩"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        said(&p, own[i], "charger", NULL);
    }
    said(&p, "this is the charger room", "room", "charger room");
    said(&p, "这里是充电角", "room", "充电角");
    said(&p, "這裡是廚房", "room", "廚房");
    said(&p, "这里是车库", "room", "车库");
    said(&p, "这里是我的房间", "room", "我的房间");
    said(&p, "okay, this is the living room, thanks", "room", "living room");
    said(&p, "remember this place as the second bedroom", "remember", "the second bedroom");
    static const char *const none[] = {"this is your place?",
                                       "这是你的充电桩？",
                                       "这是你的充电桩吗",
                                       "这是你的充电桩吧",
                                       "这是你的充电桩对吧",
                                       "这是不是你的充电桩",
                                       "“这是你的充电桩”",
                                       "「這是你的充電樁」",
                                       "this is the dock?",
                                       "\"this is your place\"",
                                       "this is your charger, isn't it",
                                       "这里是书房吗？",
                                       "这里是书房吗",
                                       "这里是禁区",
                                       "这里是不是厨房",
                                       "这里是厨房对吧",
                                       "这里是厨房吧",
                                       "这里叫醒他",
                                       "这里叫车",
                                       "这里叫人",
                                       "这里是危险的，别来",
                                       "这里是对的",
                                       "this is the wrong way",
                                       "this is the kitchen, isn't it?",
                                       "this is the kitchen?",
                                       "this is the last time I tell you",
                                       "This is the second time you hit the wall.",
                                       "this is the end",
                                       "this is the police",
                                       "this is the door that never closes",
                                       "this is not your charger",
                                       "that was your charger",
                                       "这不是你的充电桩",
                                       "charge here?",
                                       "",
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
