// test_goal_match.c - whether a value shows what is wanted of it.
#include "pons/goal_match.h"
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

static bool compare(bool (*as)(const pons_value *, const pons_value *), const char *is,
                    const char *wanted)
{
    pons_autovalue a = NULL;
    pons_autovalue b = NULL;
    assert_int_equal(pons_value_parse(is, strlen(is), &a, NULL), PONS_OK);
    assert_int_equal(pons_value_parse(wanted, strlen(wanted), &b, NULL), PONS_OK);
    return as(a, b);
}

// As much as rounding leaves, on either side, and of either sign.
static void test_near(void **unused)
{
    (void)unused;
    assert_true(compare(pons_value_near, "3.142", "3.14159"));
    assert_false(compare(pons_value_near, "0.1", "3.14159"));
    assert_false(compare(pons_value_near, "6.3", "3.14159"));
    assert_true(compare(pons_value_near, "-0.785", "-0.7853985"));
    assert_false(compare(pons_value_near, "0.785", "-0.7853985"));
    assert_true(compare(pons_value_near, "2", "2.0"));
    assert_true(compare(pons_value_near, "{\"x\":1.004,\"y\":2,\"v\":3}", "{\"x\":1,\"y\":2}"));
    assert_false(compare(pons_value_near, "{\"x\":1}", "{\"x\":1,\"y\":0}"));
    assert_true(compare(pons_value_near, "[[1,2],[3,4]]", "[[1,2],[3,4.001]]"));
    assert_false(compare(pons_value_near, "[[1,2]]", "[[1,2],[3,4]]"));
    assert_false(compare(pons_value_near, "\"2\"", "2"));
    assert_false(compare(pons_value_near, "{\"x\":1}", "[1]"));
    assert_false(pons_value_near(NULL, json_null()));
    assert_true(compare(pons_value_enough, "31", "30"));
    assert_true(compare(pons_value_enough, "29.9", "30"));
    assert_false(compare(pons_value_enough, "1", "30"));
    assert_false(compare(pons_value_enough, "\"31\"", "30"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shows), cmocka_unit_test(test_near)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
