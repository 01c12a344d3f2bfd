// test_yes_no.c - what is a yes, what is a no, and that nothing else approves.
#include "pons/yes_no.h"
#include "unit.h"

#include <string.h>

static void yes_is_nothing_but_a_yes(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "y",           "Y",           "yes",      "Yes, please.", " YES ",    "ok",
        "OK!",         "ＯＫ",        "okay",     "sure",         "ok sure",  "go ahead",
        "go  ahead",   "that's fine", "yes yes",  "no problem",   "“yes”",    "yes\r",
        "that’s fine", "是",          "好",       "可以",         "同意",     "确认",
        "是的",        "好的",        "好的好的", "对对对",       "好，可以", "是 的",
        "没问题。",    "好的，谢谢",  "行啊",     "嗯，好",       "可以！",   "我同意",
        "approve",     "confirm",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (pons_yes_no_of(rows[i], NULL, NULL) != PONS_SAID_YES) {
            fail_msg("%s is a yes", rows[i]);
        }
    }
}

static void words_around_a_yes_make_it_none(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "好像不行",
        "可以吗",
        "可以吗？",
        "is that ok",
        "is that ok?",
        "ok?",
        "好？",
        "行不行",
        "是不是",
        "可以不可以",
        "对不起",
        "好了吗",
        "yesterday never",
        "yes or no",
        "yes but slowly",
        "ok, go to the kitchen",
        "yes no",
        "可以是可以",
        "是 可以 是",
        "y?",
        "ye",
        "okyes",
        "surely",
        "不好说",
        "同意吗",
        "maybe",
        "",
        "  ",
        ",.",
        "确认一下",
        "好奇怪",
        "please",
        "谢谢",
        "yes, if it is safe",
        "可以 是 可以",
        "no yes",
        "不是，可以",
        "can you do it",
        "y/n",
        "not sure",
        "\xff yes",
        "好\xe5",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (pons_yes_no_of(rows[i], NULL, NULL) == PONS_SAID_YES) {
            fail_msg("%s is no yes", rows[i]);
        }
    }
    assert_int_equal(pons_yes_no_of(NULL, NULL, NULL), PONS_SAID_NEITHER);
}

static void a_no_has_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason; // NULL: neither
    } rows[] = {
        {"n", ""},
        {"No.", ""},
        {"no, it is hot", "it is hot"},
        {"n   use the other one", "use the other one"},
        {"不", ""},
        {"不行", ""},
        {"不行，太危险了", "太危险了"},
        {"不 太危险了", "太危险了"},
        {"不要啊", ""},
        {"不不不", ""},
        {"嗯，不用了", ""},
        {"please don't", ""},
        {"取消", ""},
        {"no problem at all", NULL},
        {"no, yes", "yes"}, // to refuse is never wrong
        {"not sure", NULL},
        {"不错", NULL},
        {"不是不行", NULL},
        {"nothing", NULL},
        {"好像不行", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *reason = NULL;
        const pons_yes_no said = pons_yes_no_of(rows[i].text, NULL, &reason);
        if ((said == PONS_SAID_NO) != (rows[i].reason != NULL) ||
            strcmp(reason, rows[i].reason ? rows[i].reason : "") != 0) {
            fail_msg("%s: %d, \"%s\"", rows[i].text, said, reason);
        }
    }
}

static void every_word_of_the_table_is_read_as_it_says(void **state)
{
    (void)state;
    pons_yes_no says = PONS_SAID_NEITHER;
    for (size_t i = 0; pons_yes_no_word(i, &says); i++) {
        assert_int_equal(pons_yes_no_of(pons_yes_no_word(i, &says), NULL, NULL), says);
    }
}

static void more_words_count_beside_the_own(void **state)
{
    (void)state;
    const char *yes[] = {"はい", "oui"}, *no[] = {"non"}, *beside[] = {"monsieur"};
    const pons_yes_no_words more = {yes, no, beside, 2, 1, 1};
    assert_int_equal(pons_yes_no_of("はい", &more, NULL), PONS_SAID_YES);
    assert_int_equal(pons_yes_no_of("Oui, Monsieur!", &more, NULL), PONS_SAID_YES);
    assert_int_equal(pons_yes_no_of("non", &more, NULL), PONS_SAID_NO);
    assert_int_equal(pons_yes_no_of("oui", NULL, NULL), PONS_SAID_NEITHER);
    assert_int_equal(pons_yes_no_of("ok", &more, NULL), PONS_SAID_YES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yes_is_nothing_but_a_yes),
        cmocka_unit_test(words_around_a_yes_make_it_none),
        cmocka_unit_test(a_no_has_its_reason),
        cmocka_unit_test(every_word_of_the_table_is_read_as_it_says),
        cmocka_unit_test(more_words_count_beside_the_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
