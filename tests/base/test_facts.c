// test_facts.c - whether a value shows what is wanted of it.
#include "pons/facts.h"
#include "unit.h"

#include <string.h>

static bool shows(const char *is, const char *wanted)
{
    pons_autovalue a = NULL;
    pons_autovalue b = NULL;
    assert_int_equal(pons_value_parse(is, strlen(is), &a, NULL), PONS_OK);
    assert_int_equal(pons_value_parse(wanted, strlen(wanted), &b, NULL), PONS_OK);
    return pons_value_shows(a, b);
}

static void test_shows(void **unused)
{
    (void)unused;
    assert_true(shows("\"apple\"", "\"apple\""));
    assert_false(shows("null", "\"apple\""));
    assert_true(shows("null", "null"));
    assert_true(shows("5", "4.5"));
    assert_false(shows("4", "4.5"));
    assert_false(shows("\"5\"", "4"));
    const char *scene = "[{\"id\":\"cup\",\"at\":\"table\"},{\"id\":\"apple\",\"at\":\"basket\"}]";
    assert_true(shows(scene, "{\"id\":\"apple\",\"at\":\"basket\"}"));
    assert_true(shows(scene, "{\"id\":\"apple\"}"));
    assert_false(shows(scene, "{\"id\":\"apple\",\"at\":\"table\"}")); // of one item, not of two
    assert_false(shows(scene, "{\"id\":\"pear\"}"));
    assert_false(shows("[]", "{\"id\":\"apple\"}"));
    assert_true(shows("[1,2]", "[1,2]"));
    const pons_value *none = NULL;
    pons_autovalue null = json_null();
    assert_false(pons_value_shows(none, null)); // what is not there shows nothing
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
