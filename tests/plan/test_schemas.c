// test_schemas.c - the JSON Schemas say what the reader says.
//
// What pons writes is valid under them, and so is the least that each needs; a wrong member is not.
#include "plan/plan_help.h"
#include "pons/schema.h"

static pons_schema *schema_of(const char *name)
{
    char path[512];
    pons_schema *s = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(path, sizeof path, PONS_SOURCE_DIR "/schemas/%s.json", name);
    pons_autovalue v = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    if (!v || pons_schema_compile(v, &s, &err) < 0) {
        fail_msg("%s: %s", path, err.message);
    }
    return s;
}

static void test_schemas(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *value;
        bool valid;
    } cases[] = {
        {"plan", "{\"plan_id\":\"p\",\"goal\":\"g\"}", true},
        {"plan", "{\"plan_id\":\" \",\"goal\":\"g\"}", false},
        {"plan", "{\"plan_id\":\"p\"}", false},
        {"plan", "{\"plan_id\":\"p\",\"goal\":\"g\",\"x\":1}", false},
        {"plan", "{\"plan_id\":\"p\",\"goal\":\"g\",\"status\":\"canceled\"}", false},
        {"plan", "{\"plan_id\":\"p\",\"goal\":\"g\",\"steps\":[{\"step_id\":1}]}", false},
        {"plan-step", "{\"step_id\":0,\"action\":\"a\"}", true},
        {"plan-step", "{\"step_id\":-1,\"action\":\"a\"}", false},
        {"plan-step", "{\"step_id\":1,\"action\":\"a\",\"tool_call_type\":\"fly\"}", false},
        {"execution-result", "{\"plan_id\":\"p\",\"step_id\":1}", true},
        {"execution-result", "{\"plan_id\":\"p\",\"step_id\":1,\"status\":\"success\"}", false},
        {"execution-result", "{\"plan_id\":\"p\",\"step_id\":1,\"success\":true}", false},
        {"execution-result",
         "{\"plan_id\":\"p\",\"step_id\":1,\"status\":\"skipped\",\"success\":true}", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_schema *s = schema_of(cases[i].schema);
        pons_autovalue v = json(cases[i].value);
        pons_error err = PONS_ERROR_INIT;
        if ((pons_schema_check(s, v, &err) >= 0) != cases[i].valid) {
            fail_msg("%s: %s", cases[i].value, err.message);
        }
        pons_schema_destroy(s);
    }
}

static void test_what_is_written(void **state)
{
    (void)state;
    pons_plan *p = NULL;
    pons_execution_result *r = NULL;
    assert_int_equal(read_plan("{\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\"}]}",
                               NULL, &p, NULL, NULL),
                     PONS_OK);
    assert_int_equal(pons_execution_result_failure("p", 1, "no", NULL, 1, &r, NULL), PONS_OK);
    pons_autovalue plan = NULL;
    pons_autovalue step = NULL;
    pons_autovalue result = NULL;
    assert_int_equal(pons_plan_to_value(p, &plan, NULL), PONS_OK);
    assert_int_equal(pons_plan_step_to_value(p->steps, &step, NULL), PONS_OK);
    assert_int_equal(pons_execution_result_to_value(r, &result, NULL), PONS_OK);
    const struct {
        const char *schema;
        const pons_value *value;
    } written[] = {{"plan", plan}, {"plan-step", step}, {"execution-result", result}};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        pons_schema *s = schema_of(written[i].schema);
        pons_error err = PONS_ERROR_INIT;
        if (pons_schema_check(s, written[i].value, &err) < 0) {
            fail_msg("%s: %s", written[i].schema, err.message);
        }
        pons_schema_destroy(s);
    }
    pons_execution_result_destroy(r);
    pons_plan_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_what_is_written),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
