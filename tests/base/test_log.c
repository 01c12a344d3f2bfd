// test_log.c - which records reach the sink, and in what shape.
#include "pons/log.h"
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char levels[] = "DIWE";

static void test_selection(void **state)
{
    (void)state;
    // What graph, link and http show: a letter for each level that passes.
    static const struct {
        const char *spec, *graph, *link, *http;
    } cases[] = {
        {"", "WE", "WE", "WE"},
        {"graph", "DIWE", "WE", "WE"},
        {"graph,+link,-http", "DIWE", "DIWE", ""},
        {"all", "DIWE", "DIWE", "DIWE"},
        {"all,-http", "DIWE", "DIWE", ""},
        {"-http,all", "DIWE", "DIWE", ""},
        {"+graph,-graph", "", "WE", "WE"},
        {"-graph,graph", "DIWE", "WE", "WE"},
        {",,graph ,, link,", "DIWE", "DIWE", "WE"},
        {"grap,graphs,Graph", "WE", "WE", "WE"},
        {"-,+,,a_name_that_is_much_longer_than_any_module_has", "WE", "WE", "WE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_log_configure(cases[i].spec);
        const char *const names[] = {"graph", "link", "http"};
        const char *const expected[] = {cases[i].graph, cases[i].link, cases[i].http};
        for (size_t m = 0; m < 3; m++) {
            char got[5] = "";
            for (int l = PONS_LOG_DEBUG; l <= PONS_LOG_ERROR; l++) {
                if (pons_log_enabled((pons_log_level)l, names[m])) {
                    strncat(got, &levels[l], 1);
                }
            }
            if (strcmp(got, expected[m]) != 0) {
                fail_msg("'%s': %s shows '%s', not '%s'", cases[i].spec, names[m], got,
                         expected[m]);
            }
        }
    }
}

static void test_environment(void **state)
{
    (void)state;
    setenv("PONS_LOG", "link", 1);
    pons_log_configure(NULL);
    assert_true(pons_log_enabled(PONS_LOG_DEBUG, "link"));
    assert_false(pons_log_enabled(PONS_LOG_DEBUG, "graph"));
    unsetenv("PONS_LOG");
    pons_log_configure(NULL);
    assert_false(pons_log_enabled(PONS_LOG_DEBUG, "link"));
}

static void test_many_rules_are_bounded(void **state)
{
    (void)state;
    char spec[2000] = "";
    for (int i = 0; i < 200; i++) {
        const size_t used = strlen(spec);
        snprintf(spec + used, sizeof spec - used, "m%d,", i);
    }
    pons_log_configure(spec);
    assert_true(pons_log_enabled(PONS_LOG_DEBUG, "m0"));
    assert_false(pons_log_enabled(PONS_LOG_DEBUG, "m199"));
}

typedef struct seen {
    int n;
    pons_log_level level;
    char module[32], message[4096];
} seen;

static void see(void *user, const pons_log_record *r)
{
    seen *s = user;
    s->n++;
    s->level = r->level;
    snprintf(s->module, sizeof s->module, "%s", r->module);
    snprintf(s->message, sizeof s->message, "%s", r->message);
}

static void test_records(void **state)
{
    (void)state;
    seen s = {0};
    pons_log_configure("graph");
    pons_log_set_sink(see, &s);
    pons_log(PONS_LOG_DEBUG, "link", "unheard");
    assert_int_equal(s.n, 0);
    pons_log(PONS_LOG_INFO, "graph", "step %d of %s", 3, "t1");
    assert_int_equal(s.n, 1);
    assert_int_equal(s.level, PONS_LOG_INFO);
    assert_string_equal(s.module, "graph");
    assert_string_equal(s.message, "step 3 of t1");
    // A message that is too long ends between two characters.
    char text[4000] = "";
    while (strlen(text) < 3000) {
        strcat(text, "\xe4\xb8\xad");
    }
    for (int skip = 0; skip < 3; skip++) {
        pons_log(PONS_LOG_ERROR, "graph", "%.*s%s", skip, "ab", text);
        pons_value *valid = json_string(s.message);
        assert_non_null(valid);
        json_decref(valid);
        assert_true(strlen(s.message) > 2000);
    }
    pons_log_set_sink(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_many_rules_are_bounded),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
