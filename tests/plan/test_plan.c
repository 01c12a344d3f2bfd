// test_plan.c - the protocol: every rule of the seed, each default, each error.
//
// Tables of values and what from_dict, create_plan_from_llm_response and the checking reader say of
// them; then what is asked of a plan, the factories, the tables of statuses, and that one input
// gives one text.
#include "plan/plan_help.h"

#define STEP(members)      "{\"step_id\":1,\"action\":\"a\"" members "}"
#define PLAN(members)      "{\"plan_id\":\"p\",\"goal\":\"g\"" members "}"
#define PLAN_STEP(members) PLAN(",\"steps\":[" STEP(members) "]")
#define RESULT(members)    "{\"plan_id\":\"p\",\"step_id\":1" members "}"

typedef struct fault_case {
    const char *value, *message; // NULL: accepted
} fault_case;

// ---- enumerations -------------------------------------------------------------------------------

static void test_words(void **state)
{
    (void)state;
    static const char *const risk[] = {"low", "medium", "high"};
    static const char *const step[] = {"pending", "running", "success",
                                       "failed",  "skipped", "wait_confirmation"};
    static const char *const plan[] = {"created", "approved",  "executing",        "completed",
                                       "failed",  "cancelled", "wait_confirmation"};
    static const char *const tool[] = {"execute",     "ask_user",        "speak",
                                       "query_world", "query_knowledge", "noop"};
    for (int i = 0; i < PONS_RISK_LEVELS; i++) {
        assert_string_equal(pons_risk_level_word(i), risk[i]);
        assert_int_equal(pons_risk_level_find(risk[i]), i);
    }
    for (int i = 0; i < PONS_STEP_STATUSES; i++) {
        assert_string_equal(pons_step_status_word(i), step[i]);
        assert_int_equal(pons_step_status_find(step[i]), i);
    }
    for (int i = 0; i < PONS_PLAN_STATUSES; i++) {
        assert_string_equal(pons_plan_status_word(i), plan[i]);
        assert_int_equal(pons_plan_status_find(plan[i]), i);
    }
    for (int i = 0; i < PONS_TOOL_CALL_TYPES; i++) {
        assert_string_equal(pons_tool_call_word(i), tool[i]);
        assert_int_equal(pons_tool_call_find(tool[i]), i);
    }
    assert_string_equal(pons_risk_level_word(-1), "?");
    assert_string_equal(pons_tool_call_word(PONS_TOOL_CALL_TYPES), "?");
    assert_int_equal(pons_step_status_find("PENDING"), -1);
    assert_int_equal(pons_plan_status_find(""), -1);
}

// ---- from_dict ----------------------------------------------------------------------------------

static const fault_case plan_faults[] = {
    {PLAN(""), NULL},
    {PLAN_STEP(""), NULL},
    {"[]", "plan: expected an object"},
    {"3", "plan: expected an object"},
    {"{\"goal\":\"g\"}", "plan_id: is missing"},
    {"{\"plan_id\":\"p\"}", "goal: is missing"},
    {"{\"plan_id\":\"\",\"goal\":\"g\"}", "plan_id: must not be empty"},
    {"{\"plan_id\":\" \\t\",\"goal\":\"g\"}", "plan_id: must not be empty"},
    {"{\"plan_id\":\"p\",\"goal\":\"\"}", "goal: must not be empty"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\u3000\"}", "goal: must not be empty"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\u00a0\\u2003\"}", "goal: must not be empty"},
    {"{\"plan_id\":\"p\",\"goal\":\"\\u200b\"}", NULL}, // not a space for Python
    {"{\"plan_id\":3,\"goal\":\"g\"}", "plan_id: expected a string, found integer 3"},
    {"{\"plan_id\":\"p\",\"goal\":null}", "goal: expected a string, found null"},
    {PLAN(",\"reasoning\":1.5"), "reasoning: expected a string, found number 1.5"},
    {PLAN(",\"reasoning\":null"), "reasoning: expected a string, found null"},
    {PLAN(",\"risk_level\":\"medium\""), NULL},
    {PLAN(",\"risk_level\":\"LOW\""),
     "risk_level: expected one of low, medium, high, found string \"LOW\""},
    {PLAN(",\"risk_level\":1"), "risk_level: expected one of low, medium, high, found integer 1"},
    {PLAN(",\"requires_confirmation\":true"), NULL},
    {PLAN(",\"requires_confirmation\":1"),
     "requires_confirmation: expected true or false, found integer 1"},
    {PLAN(",\"requires_confirmation\":\"true\""),
     "requires_confirmation: expected true or false, found string \"true\""},
    {PLAN(",\"confirmation_message\":null"), NULL},
    {PLAN(",\"confirmation_message\":\"?\""), NULL},
    {PLAN(",\"confirmation_message\":[]"),
     "confirmation_message: expected a string or null, found an array of 0"},
    {PLAN(",\"steps\":[]"), NULL},
    {PLAN(",\"steps\":{}"), "steps: expected an array, found an object of 0"},
    {PLAN(",\"steps\":null"), "steps: expected an array, found null"},
    {PLAN(",\"steps\":[1]"), "steps[0]: expected an object"},
    {PLAN(",\"steps\":[" STEP("") ",\"b\"]"), "steps[1]: expected an object"},
    {PLAN(",\"steps\":[" STEP("") "," STEP("") "]"), NULL}, // as the seed's from_dict
    {PLAN(",\"status\":\"cancelled\""), NULL},
    {PLAN(",\"status\":\"canceled\""),
     "status: expected one of created, approved, executing, completed, failed, cancelled, "
     "wait_confirmation, found string \"canceled\""},
    {PLAN(",\"created_at\":0"), NULL},
    {PLAN(",\"created_at\":-1.5e3"), NULL},
    {PLAN(",\"created_at\":\"now\""),
     "created_at: expected a number (Unix time in seconds), found string \"now\""},
    {PLAN(",\"created_at\":null"),
     "created_at: expected a number (Unix time in seconds), found null"},
    {PLAN(",\"source\":\"hybrid\""), NULL},
    {PLAN(",\"source\":false"), "source: expected a string, found false"},
    {PLAN(",\"metadata\":{\"a\":[1,{\"b\":null}]}"), NULL},
    {PLAN(",\"metadata\":[]"), "metadata: expected an object, found an array of 0"},
    {PLAN(",\"unknown\":1"), NULL},
    {PLAN(",\"steps\":[{\"action\":\"a\"}]"), "steps[0].step_id: is missing"},
    {PLAN(",\"steps\":[{\"step_id\":1}]"), "steps[0].action: is missing"},
    {PLAN(",\"steps\":[{\"step_id\":1,\"action\":\"\"}]"), "steps[0].action: must not be empty"},
    {PLAN(",\"steps\":[{\"step_id\":1,\"action\":\" \\n\"}]"),
     "steps[0].action: must not be empty"},
    {PLAN(",\"steps\":[{\"step_id\":1,\"action\":7}]"),
     "steps[0].action: expected a string, found integer 7"},
    {PLAN(",\"steps\":[{\"step_id\":0,\"action\":\"a\"}]"), NULL},
    {PLAN(",\"steps\":[{\"step_id\":-1,\"action\":\"a\"}]"),
     "steps[0].step_id: must not be negative, found -1"},
    {PLAN(",\"steps\":[{\"step_id\":1.0,\"action\":\"a\"}]"),
     "steps[0].step_id: expected an integer, found number 1.0"},
    {PLAN(",\"steps\":[{\"step_id\":\"1\",\"action\":\"a\"}]"),
     "steps[0].step_id: expected an integer, found string \"1\""},
    {PLAN(",\"steps\":[{\"step_id\":true,\"action\":\"a\"}]"),
     "steps[0].step_id: expected an integer, found true"},
    {PLAN(",\"steps\":[{\"step_id\":9223372036854775807,\"action\":\"a\"}]"), NULL},
    {PLAN_STEP(",\"tool_call_type\":\"noop\""), NULL},
    {PLAN_STEP(",\"tool_call_type\":\"fly\""),
     "steps[0].tool_call_type: expected one of execute, ask_user, speak, query_world, "
     "query_knowledge, noop, found string \"fly\""},
    {PLAN_STEP(",\"parameters\":[]"), "steps[0].parameters: expected an object, found an array "
                                      "of 0"},
    {PLAN_STEP(",\"parameters\":null"), "steps[0].parameters: expected an object, found null"},
    {PLAN_STEP(",\"preconditions\":\"x\""),
     "steps[0].preconditions: expected an object, found string \"x\""},
    {PLAN_STEP(",\"fallback\":null"), NULL},
    {PLAN_STEP(",\"fallback\":\"b\""), NULL},
    {PLAN_STEP(",\"fallback\":{}"),
     "steps[0].fallback: expected a string or null, found an object of 0"},
    {PLAN_STEP(",\"status\":\"skipped\""), NULL},
    {PLAN_STEP(",\"status\":\"completed\""),
     "steps[0].status: expected one of pending, running, success, failed, skipped, "
     "wait_confirmation, found string \"completed\""},
    {PLAN_STEP(",\"description\":3"), "steps[0].description: expected a string, found integer 3"},
    {PLAN_STEP(",\"requires_confirmation\":null"),
     "steps[0].requires_confirmation: expected true or false, found null"},
    {PLAN_STEP(",\"confirmation_message\":false"),
     "steps[0].confirmation_message: expected a string or null, found false"},
    {PLAN_STEP(",\"metadata\":1"), "steps[0].metadata: expected an object, found integer 1"},
};

static void test_from_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plan_faults / sizeof *plan_faults; i++) {
        const fault_case *c = &plan_faults[i];
        pons_autovalue v = json(c->value);
        pons_plan *p = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_plan_from_value(v, NOW_S, &p, &err);
        if (!c->message && rc < 0) {
            fail_msg("%s: %s", c->value, err.message);
        }
        if (c->message && (rc >= 0 || strcmp(err.message, c->message) != 0)) {
            fail_msg("%s:\n  said %s\n  not  %s", c->value, err.message, c->message);
        }
        assert_true(!c->message || (rc == PONS_EINVAL && !p));
        pons_plan_destroy(p);
    }
}

// The same faults with the reader, which also knows the position.
static void test_read_faults(void **state)
{
    (void)state;
    static const fault_case more[] = {
        {PLAN(",\"steps\":[" STEP("") ",{\"step_id\":2,\"action\":\"b\"}," STEP("") "]"),
         "steps[2].step_id: 1 already exists, use a unique id"},
        {PLAN(",\"steps\":[{\"step_id\":3,\"action\":\"a\"},{\"step_id\":1,\"action\":\"a\"},"
              "{\"step_id\":3,\"action\":\"a\"}]"),
         "steps[2].step_id: 3 already exists, use a unique id"},
        {PLAN(",\"goal\":\"h\""), "goal: is there twice"},
        {PLAN_STEP(",\"action\":\"b\""), "steps[0].action: is there twice"},
        {PLAN_STEP(",\"parameters\":{\"x\":{\"k\":1,\"k\":2}}"),
         "steps[0].parameters: the key \"k\" is there twice"},
        {PLAN(",\"steps\":[{\"step_id\":9223372036854775808,\"action\":\"a\"}]"),
         "steps[0].step_id: expected an integer of at most 9223372036854775807, found integer "
         "9223372036854775808"},
        {"", "no plan found"},
        {"   \n", "no plan found"},
        {"3", "no plan found"},
        {"null", "no plan found"},
        {"[]", "no plan found: an empty list"},
        {"{}", "goal: is missing"},
        {"hello there", "no plan found"},
        {"{\"a\":1}", "goal: is missing"},
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        pons_plan *p = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = read_plan(more[i].value, NULL, &p, NULL, &err);
        if (rc >= 0 || strcmp(err.message, more[i].message) != 0) {
            fail_msg("%s:\n  said %s\n  not  %s", more[i].value, err.message, more[i].message);
        }
        assert_true(err.source[0] != '\0');
    }
    for (size_t i = 0; i < sizeof plan_faults / sizeof *plan_faults; i++) {
        const fault_case *c = &plan_faults[i];
        pons_plan *p = NULL;
        pons_error err = PONS_ERROR_INIT;
        const bool object = c->value[0] == '{';
        const bool makes_id = c->message && strcmp(c->message, "plan_id: is missing") == 0;
        const bool twice = strstr(c->value, STEP("") "," STEP(""));
        if (!object || makes_id || twice) {
            continue;
        }
        const int rc = read_plan(c->value, NULL, &p, NULL, &err);
        if (c->message ? rc >= 0 || strcmp(err.message, c->message) != 0 : rc < 0) {
            fail_msg("%s: %s", c->value, err.message);
        }
        pons_plan_destroy(p);
    }
}

static void test_positions(void **state)
{
    (void)state;
    pons_plan *p = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(read_plan("{\"goal\": \"g\",\n \"steps\": [\n  {\"step_id\": 1, \"action\": "
                               "3}]}",
                               NULL, &p, NULL, &err),
                     PONS_EINVAL);
    assert_string_equal(err.source, "3:28");
    // The same behind repairs.
    assert_int_equal(
        read_plan("so:\n{goal: 'g',\n  steps: [{step_id: 1, action: 3,}]}", NULL, &p, NULL, &err),
        PONS_EINVAL);
    assert_string_equal(err.message, "steps[0].action: expected a string, found integer 3");
    assert_string_equal(err.source, "3:32");
}

// ---- defaults -----------------------------------------------------------------------------------

#define STEP_DEFAULTS                                                                              \
    "{\"action\":\"a\",\"confirmation_message\":null,\"description\":\"\",\"fallback\":null,"      \
    "\"metadata\":{},\"parameters\":{},\"preconditions\":{},\"requires_confirmation\":false,"      \
    "\"status\":\"pending\",\"step_id\":1,\"tool_call_type\":\"execute\"}"

static void test_defaults(void **state)
{
    (void)state;
    pons_autovalue v = json(PLAN_STEP(""));
    pons_plan *p = NULL;
    assert_int_equal(pons_plan_from_value(v, NOW_S, &p, NULL), PONS_OK);
    char *text = plan_text(p);
    assert_string_equal(
        text, "{\"confirmation_message\":null,\"created_at\":1700000000.25,\"goal\":\"g\","
              "\"metadata\":{},\"plan_id\":\"p\",\"reasoning\":\"\","
              "\"requires_confirmation\":false,\"risk_level\":\"low\",\"source\":\"llm\","
              "\"status\":\"created\",\"steps\":[" STEP_DEFAULTS "]}");
    assert_string_equal(p->steps[0].parameters, "{}");
    assert_null(p->steps[0].fallback);
    assert_true(p->created_at == NOW_S);
    free(text);
    pons_plan_destroy(p);

    pons_autovalue step = json(STEP(""));
    pons_plan_step *s = NULL;
    assert_int_equal(pons_plan_step_from_value(step, &s, NULL), PONS_OK);
    assert_true(pons_plan_step_text(s, &text) > 0);
    assert_string_equal(text, STEP_DEFAULTS);
    free(text);
    pons_plan_step_destroy(s);

    pons_autovalue result = json(RESULT(""));
    pons_execution_result *r = NULL;
    assert_int_equal(pons_execution_result_from_value(result, NOW_S, &r, NULL), PONS_OK);
    assert_true(pons_execution_result_text(r, &text) > 0);
    assert_string_equal(text, "{\"message\":\"\",\"output\":{},\"plan_id\":\"p\",\"status\":"
                              "\"failed\",\"step_id\":1,\"success\":false,"
                              "\"timestamp\":1700000000.25}");
    free(text);
    pons_execution_result_destroy(r);
}

// Every default that the checking reader fills is told, by name, and nothing else is.
static void note(void *user, const pons_plan_repair *r)
{
    pons_buf_printf(user, "%s %s\n", pons_repair_word(r->kind), r->what);
}

static void test_defaults_are_told(void **state)
{
    (void)state;
    pons_autobuf said = PONS_BUF_INIT;
    pons_rand rand;
    pons_rand_seed(&rand, 7);
    const pons_plan_read_options o = {
        .from = {.now_s = NOW_S, .rand = &rand}, .fn = note, .user = &said};
    const char *text = "{\"goal\":\"g\",\"steps\":[{\"step_id\":1,\"action\":\"a\"}],\"x\":1}";
    pons_plan *p = NULL;
    assert_int_equal(pons_plan_read(text, strlen(text), &o, &p, NULL), PONS_OK);
    pons_autobuf expected = PONS_BUF_INIT;
    pons_buf_printf(&expected,
                    "left-out x: not a field of a plan, left out\n"
                    "new-id plan_id: absent, a new one: %s\n",
                    p->plan_id);
    pons_buf_str(&expected, "default reasoning: absent, the default \"\"\n"
                            "default risk_level: absent, the default \"low\"\n"
                            "default requires_confirmation: absent, the default false\n"
                            "default confirmation_message: absent, the default null\n"
                            "default steps[0].tool_call_type: absent, the default \"execute\"\n"
                            "default steps[0].parameters: absent, the default {}\n"
                            "default steps[0].preconditions: absent, the default {}\n"
                            "default steps[0].fallback: absent, the default null\n"
                            "default steps[0].status: absent, the default \"pending\"\n"
                            "default steps[0].description: absent, the default \"\"\n"
                            "default steps[0].requires_confirmation: absent, the default false\n"
                            "default steps[0].confirmation_message: absent, the default null\n"
                            "default steps[0].metadata: absent, the default {}\n"
                            "default status: absent, the default \"created\"\n"
                            "new-time created_at: absent, now: 1700000000.25\n"
                            "default source: absent, the default \"llm\"\n"
                            "default metadata: absent, the default {}\n");
    assert_string_equal(said.data, expected.data);
    assert_int_equal(strlen(p->plan_id), strlen("plan_") + 8);
    assert_int_equal(strspn(p->plan_id + 5, "0123456789abcdef"), 8);
    char *whole = plan_text(p);
    pons_plan_destroy(p);
    // A plan with every field is told nothing, and comes out as it went in.
    pons_buf_clear(&said);
    assert_int_equal(pons_plan_read(whole, strlen(whole), &o, &p, NULL), PONS_OK);
    assert_int_equal(said.len, 0);
    char *again = plan_text(p);
    assert_string_equal(whole, again);
    free(whole);
    free(again);
    pons_plan_destroy(p);
}

static void test_numbers_as_given(void **state)
{
    (void)state;
    pons_plan *p = NULL;
    assert_int_equal(
        read_plan("{\"plan_id\":\"p\",\"goal\":\"g\",\"created_at\":1700000000,\"metadata\":{"
                  "\"z\":1.50,\"b\":1,\"a\":1.0,\"e\":1E3,\"big\":123456789012345678901234567890,"
                  "\"m\":-0.0}}",
                  NULL, &p, NULL, NULL),
        PONS_OK);
    assert_string_equal(p->metadata, "{\"a\":1.0,\"b\":1,\"big\":123456789012345678901234567890,"
                                     "\"e\":1E3,\"m\":-0.0,\"z\":1.50}");
    char *text = plan_text(p);
    assert_non_null(strstr(text, "\"created_at\":1700000000,"));
    pons_value *v = NULL;
    assert_int_equal(pons_plan_object(p->metadata, &v, NULL), PONS_EINVAL); // too big for a value
    free(text);
    pons_plan_destroy(p);
}

// ---- create_plan_from_llm_response --------------------------------------------------------------

static void test_from_llm_response(void **state)
{
    (void)state;
    pons_rand rand;
    pons_rand_seed(&rand, 1);
    const pons_plan_origin from = {.now_s = NOW_S, .rand = &rand};
    pons_autovalue v = json("{\"goal\":\"g\",\"status\":\"completed\",\"created_at\":5,"
                            "\"source\":\"other\",\"risk_level\":\"high\",\"metadata\":{\"k\":1},"
                            "\"steps\":[" STEP(",\"status\":\"success\"") "]}");
    pons_plan *p = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_plan_from_llm_response(v, NULL, &from, &p, &err), PONS_OK);
    assert_int_equal(p->status, PONS_PLAN_CREATED);
    assert_true(p->created_at == NOW_S);
    assert_string_equal(p->source, "llm");
    assert_int_equal(p->risk_level, PONS_RISK_HIGH);
    assert_string_equal(p->metadata, "{\"k\":1}");
    assert_int_equal(p->steps[0].status, PONS_STEP_SUCCESS);
    assert_int_equal(strncmp(p->plan_id, "plan_", 5), 0);
    pons_plan_destroy(p);
    assert_int_equal(pons_plan_from_llm_response(v, "hybrid", &from, &p, &err), PONS_OK);
    assert_string_equal(p->source, "hybrid");
    pons_plan_destroy(p);
    pons_autovalue own = json(PLAN(""));
    assert_int_equal(pons_plan_from_llm_response(own, NULL, &from, &p, &err), PONS_OK);
    assert_string_equal(p->plan_id, "p");
    assert_int_equal(p->n_steps, 0);
    pons_plan_destroy(p);
    pons_autovalue none = json("{\"steps\":[]}");
    assert_int_equal(pons_plan_from_llm_response(none, NULL, &from, &p, &err), PONS_EINVAL);
    assert_string_equal(err.message, "goal: is missing");
    pons_autovalue twice = json(PLAN(",\"steps\":[" STEP("") "," STEP("") "]"));
    assert_int_equal(pons_plan_from_llm_response(twice, NULL, &from, &p, &err), PONS_EEXIST);
    assert_string_equal(err.message, "steps[1].step_id: 1 already exists, use a unique id");
    pons_autovalue blank = json("{\"plan_id\":\"\",\"goal\":\"g\"}");
    assert_int_equal(pons_plan_from_llm_response(blank, NULL, &from, &p, &err), PONS_EINVAL);
    assert_string_equal(err.message, "plan_id: must not be empty");
}

// ---- a plan in memory ---------------------------------------------------------------------------

static pons_plan *plan_of(const char *steps) // a letter a step: its status
{
    static const char letters[] = "prsfkw";
    pons_plan *p = NULL;
    assert_int_equal(pons_plan_create(&(pons_plan){.plan_id = "p", .goal = "g"}, &p, NULL),
                     PONS_OK);
    for (int64_t i = 0; steps[i]; i++) {
        const pons_plan_step s = {.step_id = 10 * (i + 1),
                                  .action = "a",
                                  .status =
                                      (pons_step_status)(strchr(letters, steps[i]) - letters)};
        assert_int_equal(pons_plan_add_step(p, &s, NULL), PONS_OK);
    }
    return p;
}

static void test_questions(void **state)
{
    (void)state;
    static const struct {
        const char *steps;
        size_t pending, waiting, failed;
        int64_t current, next; // current 0: none
        bool finished, success;
    } cases[] = {
        {"", 0, 0, 0, 0, 1, true, false},      {"p", 1, 0, 0, 0, 11, false, false},
        {"s", 0, 0, 0, 0, 11, true, true},     {"ss", 0, 0, 0, 0, 21, true, true},
        {"sf", 0, 0, 1, 0, 21, true, false},   {"sk", 0, 0, 0, 0, 21, true, false},
        {"sr", 0, 0, 0, 20, 21, false, false}, {"rr", 0, 0, 0, 10, 21, false, false},
        {"sw", 0, 1, 0, 0, 21, false, false},  {"pprwwfsk", 2, 2, 1, 30, 81, false, false},
        {"kkk", 0, 0, 0, 0, 31, true, false},  {"fff", 0, 0, 3, 0, 31, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_plan *p = plan_of(cases[i].steps);
        pons_plan_step *steps[8], *current = pons_plan_current_step(p);
        assert_int_equal(pons_plan_pending_steps(p, steps, 8), cases[i].pending);
        for (size_t n = 0; n < cases[i].pending; n++) {
            assert_int_equal(steps[n]->status, PONS_STEP_PENDING);
        }
        assert_int_equal(pons_plan_waiting_steps(p, NULL, 0), cases[i].waiting);
        assert_int_equal(pons_plan_failed_steps(p, NULL, 0), cases[i].failed);
        assert_int_equal(current ? current->step_id : 0, cases[i].current);
        assert_int_equal(pons_plan_next_step_id(p), cases[i].next);
        assert_int_equal(pons_plan_is_finished(p), cases[i].finished);
        assert_int_equal(pons_plan_is_success(p), cases[i].success);
        pons_plan_destroy(p);
    }
}

static void test_add_step(void **state)
{
    (void)state;
    pons_plan *p = plan_of("pp");
    pons_error err = PONS_ERROR_INIT;
    const struct {
        pons_plan_step step;
        int rc;
        const char *message;
    } cases[] = {
        {{.step_id = 20, .action = "b"},
         PONS_EEXIST,
         "steps[2].step_id: 20 already exists, use a unique id"},
        {{.step_id = 30, .action = ""}, PONS_EINVAL, "steps[2].action: must not be empty"},
        {{.step_id = 30}, PONS_EINVAL, "steps[2].action: must not be empty"},
        {{.step_id = -1, .action = "b"},
         PONS_EINVAL,
         "steps[2].step_id: must not be negative, found -1"},
        {{.step_id = 30, .action = "b", .parameters = "[1]"},
         PONS_EINVAL,
         "steps[2].parameters: not a JSON object"},
        {{.step_id = 30, .action = "b", .metadata = "{\"a\":1,\"a\":2}"},
         PONS_EINVAL,
         "steps[2].metadata: the key \"a\" is there twice"},
        {{.step_id = 30, .action = "\xff"}, PONS_EINVAL, "steps[2].action: not UTF-8 at byte 0"},
        {{.step_id = 30, .action = "b", .status = (pons_step_status)9},
         PONS_EINVAL,
         "steps[2].status: 9 is none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pons_plan_add_step(p, &cases[i].step, &err), cases[i].rc);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(p->n_steps, 2); // as before
    }
    // Ids need no order; objects become canonical.
    const pons_plan_step good = {.step_id = 5, .action = "b", .parameters = "{ \"b\":1, \"a\":2 }"};
    assert_int_equal(pons_plan_add_step(p, &good, &err), PONS_OK);
    assert_string_equal(pons_plan_step_get(p, 5)->parameters, "{\"a\":2,\"b\":1}");
    assert_null(pons_plan_step_get(p, 6));
    pons_plan_destroy(p);
}

static void test_create(void **state)
{
    (void)state;
    const struct {
        pons_plan fields;
        const char *message;
    } cases[] = {
        {{.goal = "g"}, "plan_id: must not be empty"},
        {{.plan_id = " ", .goal = "g"}, "plan_id: must not be empty"},
        {{.plan_id = "p"}, "goal: must not be empty"},
        {{.plan_id = "p", .goal = "g", .risk_level = (pons_risk_level)7}, "risk_level: 7 is none"},
        {{.plan_id = "p", .goal = "g", .status = (pons_plan_status)8}, "status: 8 is none"},
        {{.plan_id = "p", .goal = "g", .metadata = "nope"}, "metadata: not a JSON value"},
        {{.plan_id = "p", .goal = "g", .created_at_text = "\"1\""},
         "created_at: not a JSON number"},
        {{.plan_id = "p",
          .goal = "g",
          .steps = &(pons_plan_step){.step_id = 1, .action = " "},
          .n_steps = 1},
         "steps[0].action: must not be empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_plan *p = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons_plan_create(&cases[i].fields, &p, &err), PONS_EINVAL);
        assert_string_equal(err.message, cases[i].message);
    }
    pons_rand rand;
    pons_rand_seed(&rand, 3);
    const pons_plan_origin from = {.now_s = 12, .rand = &rand};
    pons_plan *a = NULL, *b = NULL;
    assert_int_equal(pons_plan_create_new("g", NULL, PONS_RISK_MEDIUM, NULL, &from, &a, NULL),
                     PONS_OK);
    assert_int_equal(pons_plan_create_new("g", "r", PONS_RISK_LOW, "me", &from, &b, NULL), PONS_OK);
    assert_string_not_equal(a->plan_id, b->plan_id);
    assert_string_equal(a->source, "llm");
    assert_string_equal(a->reasoning, "");
    assert_int_equal(a->risk_level, PONS_RISK_MEDIUM);
    assert_string_equal(b->source, "me");
    assert_true(a->created_at == 12);
    pons_plan_destroy(a);
    pons_plan_destroy(b);
    pons_plan_destroy(NULL);
}

// ---- statuses -----------------------------------------------------------------------------------

static void test_transitions(void **state)
{
    (void)state;
    // A row: from; the columns in the order of the enumeration.
    static const char *const steps[] = {".x.xxx", "..xxxx", "......", "......", "......", ".xxxx."};
    static const char *const plans[] = {".xx..xx", "..x..x.", "...xxxx", ".......",
                                        ".......", ".......", ".xx..x."};
    for (int from = 0; from < PONS_STEP_STATUSES; from++) {
        for (int to = 0; to < PONS_STEP_STATUSES; to++) {
            pons_plan_step s = {.status = (pons_step_status)from};
            pons_error err = PONS_ERROR_INIT;
            const bool may = steps[from][to] == 'x';
            assert_int_equal(pons_plan_step_move(&s, (pons_step_status)to, &err),
                             may ? PONS_OK : PONS_EPROTOCOL);
            assert_int_equal((int)s.status, may ? to : from);
        }
    }
    for (int from = 0; from < PONS_PLAN_STATUSES; from++) {
        for (int to = 0; to < PONS_PLAN_STATUSES; to++) {
            pons_plan p = {.status = (pons_plan_status)from};
            const bool may = plans[from][to] == 'x';
            assert_int_equal(pons_plan_move(&p, (pons_plan_status)to, NULL),
                             may ? PONS_OK : PONS_EPROTOCOL);
            assert_int_equal((int)p.status, may ? to : from);
        }
    }
    pons_plan_step s = {.status = PONS_STEP_SUCCESS};
    pons_error err = PONS_ERROR_INIT;
    pons_plan_step_move(&s, PONS_STEP_RUNNING, &err);
    assert_string_equal(err.message, "success may not become running");
    assert_string_equal(err.module, "plan step");
}

// ---- results ------------------------------------------------------------------------------------

static const fault_case result_faults[] = {
    {RESULT(""), NULL},
    {RESULT(",\"success\":true,\"status\":\"success\""), NULL},
    {RESULT(",\"success\":true,\"status\":\"skipped\""), NULL},
    {RESULT(",\"success\":false,\"status\":\"running\""), NULL},
    {RESULT(",\"status\":\"success\""), "success: must be true when status is success"},
    {RESULT(",\"success\":true"), "success: must be false when status is failed"},
    {RESULT(",\"success\":1"), "success: expected true or false, found integer 1"},
    {RESULT(",\"output\":[]"), "output: expected an object, found an array of 0"},
    {RESULT(",\"message\":null"), "message: expected a string, found null"},
    {RESULT(",\"timestamp\":\"x\""),
     "timestamp: expected a number (Unix time in seconds), found string \"x\""},
    {"{\"plan_id\":\"p\"}", "step_id: is missing"},
    {"{\"step_id\":1}", "plan_id: is missing"},
    {"{\"plan_id\":\" \",\"step_id\":1}", "plan_id: must not be empty"},
    {"{\"plan_id\":\"p\",\"step_id\":-2}", "step_id: must not be negative, found -2"},
};

static void test_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof result_faults / sizeof *result_faults; i++) {
        pons_autovalue v = json(result_faults[i].value);
        pons_execution_result *r = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_execution_result_from_value(v, NOW_S, &r, &err);
        if (result_faults[i].message) {
            assert_string_equal(err.message, result_faults[i].message);
        } else {
            assert_int_equal(rc, PONS_OK);
        }
        pons_execution_result_destroy(r);
    }
    pons_execution_result *r = NULL;
    char *text = NULL;
    assert_int_equal(pons_execution_result_success("p", 1, NULL, "{\"t\":32.5}", 3, &r, NULL),
                     PONS_OK);
    assert_true(pons_execution_result_text(r, &text) > 0);
    assert_string_equal(text, "{\"message\":\"执行成功\",\"output\":{\"t\":32.5},\"plan_id\":\"p\","
                              "\"status\":\"success\",\"step_id\":1,\"success\":true,"
                              "\"timestamp\":3.0}");
    free(text);
    pons_value *v = NULL;
    assert_int_equal(pons_execution_result_to_value(r, &v, NULL), PONS_OK);
    assert_string_equal(pons_get_str(v, "status", ""), "success");
    pons_value_unref(v);
    pons_execution_result_destroy(r);
    pons_execution_result_success("p", 1, "", NULL, 3, &r, NULL);
    assert_string_equal(r->message, "执行成功");
    pons_execution_result_destroy(r);
    pons_execution_result_failure("p", 3, "no", NULL, 3, &r, NULL);
    assert_int_equal(r->status, PONS_STEP_FAILED);
    assert_false(r->success);
    assert_string_equal(r->output, "{}");
    pons_execution_result_destroy(r);
    pons_execution_result_skipped("p", 4, NULL, 3, &r, NULL);
    assert_string_equal(r->message, "步骤已跳过");
    assert_true(r->success);
    pons_execution_result_destroy(r);
    pons_execution_result_skipped("p", 4, "", 3, &r, NULL);
    assert_string_equal(r->message, "");
    pons_execution_result_destroy(r);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_execution_result_success("", 1, NULL, NULL, 3, &r, &err), PONS_EINVAL);
    assert_string_equal(err.message, "plan_id: must not be empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_from_value),
        cmocka_unit_test(test_read_faults),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_defaults_are_told),
        cmocka_unit_test(test_numbers_as_given),
        cmocka_unit_test(test_from_llm_response),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_add_step),
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_transitions),
        cmocka_unit_test(test_results),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
