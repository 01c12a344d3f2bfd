// test_language.c - whose words are Chinese.
#include "pons/language.h"
#include "unit.h"

static void a_han_character_is_chinese(void **state)
{
    (void)state;
    static const char *const chinese[] = {"去厨房", "go to 厨房", "电量?", "龥", "㐀"};
    static const char *const other[] = {
        "go to the kitchen", "",    "Küche", "«où»", "こんにちは", "한국어", "…—“”。",
        "\xE4\xB8",          "\xE9"};
    for (size_t i = 0; i < sizeof chinese / sizeof chinese[0]; i++) {
        assert_true(pons_language_chinese(chinese[i]));
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        assert_false(pons_language_chinese(other[i]));
    }
    assert_false(pons_language_chinese(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_han_character_is_chinese)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
