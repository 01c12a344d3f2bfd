// test_error.c - what an error keeps, how it reads, and where it is cut.
#include "pons/error.h"
#include "unit.h"

#include <jansson.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_words(void **state)
{
    (void)state;
    assert_string_equal(pons_status_word(PONS_OK), "ok");
    assert_string_equal(pons_status_word(PONS_ENOTFOUND), "not found");
    assert_string_equal(pons_status_word(PONS_ERECURSION), "GRAPH_RECURSION_LIMIT");
    assert_string_equal(pons_status_word(-999), "unknown status");
    assert_string_equal(pons_status_word(7), "unknown status");
}

static void test_line(void **state)
{
    (void)state;
    char line[256];
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_error_set(&err, PONS_EIO, "store", "cannot commit step %d", 41),
                     PONS_EIO);
    assert_string_equal(pons_error_line(&err, line, sizeof line), "store: cannot commit step 41");
    assert_int_equal(pons_error_cause(&err, "disk full (%s)", "SQLITE_FULL"), PONS_EIO);
    assert_string_equal(pons_error_line(&err, line, sizeof line),
                        "store: cannot commit step 41: disk full (SQLITE_FULL)");
    assert_int_equal(pons_error_source(&err, "%s", "pons.db"), PONS_EIO);
    assert_int_equal(pons_error_context(&err, "thread %s", "t1"), PONS_EIO);
    assert_string_equal(pons_error_line(&err, line, sizeof line),
                        "store: thread t1: cannot commit step 41 [pons.db]: "
                        "disk full (SQLITE_FULL)");
    // Setting again starts afresh.
    pons_error_set(&err, PONS_EBUSY, "link", "taken");
    assert_string_equal(pons_error_line(&err, line, sizeof line), "link: taken");
    assert_int_equal(err.status, PONS_EBUSY);
    // Into what room there is.
    assert_string_equal(pons_error_line(&err, line, 6), "link:");
    assert_string_equal(pons_error_line(&err, line, 1), "");
    // An error that says nothing is named by its status.
    pons_error empty = {.status = PONS_ETIMEOUT};
    assert_string_equal(pons_error_line(&empty, line, sizeof line), "timed out");
}

static void test_null_is_safe(void **state)
{
    (void)state;
    assert_int_equal(pons_error_set(NULL, PONS_EIO, "x", "y"), PONS_EIO);
    // Nothing may make a failure look like a success.
    assert_true(pons_error_source(NULL, "y") < 0);
    assert_true(pons_error_cause(NULL, "y") < 0);
    assert_true(pons_error_context(NULL, "y") < 0);
}

static void test_arguments_may_be_the_error_itself(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_error_set(&err, PONS_EIO, "a", "first");
    pons_error_set(&err, PONS_EINVAL, err.module, "%s, then second", err.message);
    assert_string_equal(err.message, "first, then second");
    assert_string_equal(err.module, "a");
    pons_error_cause(&err, "%s", err.message);
    pons_error_context(&err, "%s", err.message);
    assert_string_equal(err.message, "first, then second: first, then second");
}

static void test_one_line(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_error_set(&err, PONS_EIO, "a", "two\nlines\tand \x1b[1mbold");
    assert_string_equal(err.message, "two lines and  [1mbold");
}

// Every length of cut, through text whose characters take one to four bytes.
static void test_cut_at_characters(void **state)
{
    (void)state;
    char text[3000] = "";
    while (strlen(text) < 2000) {
        strcat(text, "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
    }
    pons_error err = PONS_ERROR_INIT;
    for (int skip = 0; skip < 10; skip++) {
        pons_error_set(&err, PONS_EIO, "module with a long name", "%.*s%s", skip, "0123456789",
                       text);
        pons_error_source(&err, "%.*s%s", skip, "0123456789", text);
        pons_error_cause(&err, "%.*s%s", skip, "0123456789", text);
        pons_error_context(&err, "%.*s", skip, "0123456789");
        const char *const parts[] = {err.message, err.source, err.cause};
        const size_t caps[] = {sizeof err.message, sizeof err.source, sizeof err.cause};
        for (size_t i = 0; i < 3; i++) {
            json_t *valid = json_string(parts[i]); // NULL unless UTF-8
            assert_non_null(valid);
            json_decref(valid);
            assert_true(strlen(parts[i]) >= caps[i] - 4);
        }
        char line[1100];
        for (size_t cap = 1; cap < sizeof line; cap += 7) {
            json_t *valid = json_string(pons_error_line(&err, line, cap));
            assert_non_null(valid);
            json_decref(valid);
        }
    }
    assert_int_equal(strlen(err.module), PONS_ERROR_MODULE_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_null_is_safe),
        cmocka_unit_test(test_arguments_may_be_the_error_itself),
        cmocka_unit_test(test_one_line),
        cmocka_unit_test(test_cut_at_characters),
    };
    return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
