// test_spelling.c - slips of a hand find the word that was meant; other words find none.
#include "pons/spelling.h"
#include "unit.h"

#include <string.h>

static const char *nearest(const char *word)
{
    static const char *const known[] = {"go", "map", "stop", "status", "threads", "cancel", "厨房"};
    pons_meant m = pons_meant_of(word, strlen(word));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        pons_meant_try(&m, known[i], strlen(known[i]));
    }
    return m.best ? m.best : "";
}

static void slips_and_others(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"stop", "stop"},       // itself
        {"sotp", "stop"},       // swapped
        {"stp", "stop"},        // left out
        {"stopp", "stop"},      // put in
        {"stot", "stop"},       // changed
        {"thraeds", "threads"}, // one swap
        {"thrad", "threads"},
        {"thresdd", "threads"},
        {"statsuu", ""}, // two, in a short word
        {"dance", ""},
        {"", ""},
        {"STOP", "stop"},
        {"Thraeds", "threads"}, // of whatever size
        {"STPO", "stop"},
        {"s[op", "stop"},
        {"mp", "map"},
        {"g", "go"},
        {"thr", "threads"},
        {"canc", "cancel"}, // begun
        {"sto", "stop"},
        {"th", ""},
        {"橱房", "厨房"},
        {"房厨", "厨房"}, // of characters, and not of bytes
        {"书店", ""},
        {"halt", ""},
        {"0123456789012345678901234567890123456789", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(nearest(rows[i][0]), rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slips_and_others)};
    return cmocka_run_group_tests_name("meant", tests, NULL, NULL);
}
