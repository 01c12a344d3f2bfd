// test_run.c - the engine: what runs, in which order, and where a plan ends.
//
// A scripted world stands for robot and person: executors answer from a word in the step's
// parameters ("do": ok, fail, park, error), a confirmation from a list of answers. Everything that
// happens is written to a log, and tests compare logs. A run that parks is written down as JSON,
// read back, and goes on.
#include "plan/plan_help.h"

typedef struct stage {
    pons_buf log;
    const char *answers; // y, n, p (park) for each confirmation; at its end: park
    int parked;          // how often a step with "park" still parks
    pons_value *world;
} stage;

static int act(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err)
{
    stage *s = user;
    const char *how = pons_get_str(call->parameters, call->is_fallback ? "else" : "do", "ok");
    pons_buf_printf(&s->log, "%s%s %s; ", pons_tool_call_word(call->step->tool_call_type),
                    call->is_fallback ? " fallback" : "", call->action);
    if (strcmp(how, "park") == 0 && s->parked-- > 0) {
        out->output = json_object(); // what a parked call leaves is dropped
        return pons_error_set(err, PONS_EPARKED, "test", "later");
    }
    if (strcmp(how, "error") == 0) {
        return pons_error_set(err, PONS_EIO, "test", "the wire is cut");
    }
    out->success = strcmp(how, "fail") != 0;
    snprintf(out->message, sizeof out->message, "%s", out->success ? "did it" : "could not");
    out->output = pons_object("seen", json_integer(1), NULL);
    return PONS_OK;
}

static int look(void *user, const char *name, pons_value **ret, pons_error *err)
{
    return pons_plan_look_in(((stage *)user)->world, name, ret, err);
}

static int confirm(void *user, const pons_plan *p, const pons_plan_step *step, const char *question,
                   bool *ret, pons_error *err)
{
    stage *s = user;
    assert_int_equal(p->status, PONS_PLAN_WAIT_CONFIRMATION);
    assert_true(!step || step->status == PONS_STEP_WAIT_CONFIRMATION);
    pons_buf_printf(&s->log, "ask %s; ", question);
    const char answer = *s->answers ? *s->answers++ : 'p';
    if (answer == 'p') {
        return pons_error_set(err, PONS_EPARKED, "test", "nobody is there");
    }
    *ret = answer == 'y';
    return PONS_OK;
}

static void result(void *user, const pons_execution_result *r)
{
    stage *s = user;
    assert_true(r->timestamp == 5);
    pons_buf_printf(&s->log, "%lld %s (%s) %s; ", (long long)r->step_id,
                    pons_step_status_word(r->status), r->message, r->output);
}

static void changed(void *user, const pons_plan *p, const pons_plan_step *step)
{
    stage *s = user;
    if (!step) {
        pons_buf_printf(&s->log, "[%s] ", pons_plan_status_word(p->status));
    }
}

static double five(void *user)
{
    (void)user;
    return 5;
}

static pons_plan_ops ops_of(stage *s)
{
    return (pons_plan_ops){.executors = {act, act, act, act, act, NULL},
                           .look = look,
                           .confirm = confirm,
                           .changed = changed,
                           .result = result,
                           .now_s = five,
                           .user = s};
}

static pons_plan *plan_from(const char *members)
{
    char text[2048];
    pons_plan *p = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(text, sizeof text, "{\"plan_id\":\"p\",\"goal\":\"g\",%s}", members);
    if (read_plan(text, NULL, &p, NULL, &err) < 0) {
        fail_msg("%s: %s", err.message, text);
    }
    return p;
}

typedef struct run_case {
    const char *members, *answers, *log;
    int rc;
    bool recovers;
} run_case;

#define DID   "(did it) {\"seen\":1}; "
#define COULD "(could not) {\"seen\":1}; "
#define S1    "{\"step_id\":1,\"action\":\"a\""
#define S2    "{\"step_id\":2,\"action\":\"b\"}"
#define REST  "2 skipped (a step before it failed) {}; [failed] "

static const run_case cases[] = {
    {"\"steps\":[]", "", "[approved] [executing] [completed] ", PONS_OK, false},
    {"\"steps\":[" S1 "}," S2 "]", "",
     "[approved] [executing] execute a; 1 success " DID "execute b; 2 success " DID "[completed] ",
     PONS_OK, false},
    // every executor, and noop without one
    {"\"steps\":[" S1 ",\"tool_call_type\":\"speak\"},{\"step_id\":2,\"action\":\"n\","
     "\"tool_call_type\":\"noop\"},{\"step_id\":3,\"action\":\"q\",\"tool_call_type\":"
     "\"query_world\"},{\"step_id\":4,\"action\":\"k\",\"tool_call_type\":\"query_knowledge\"},"
     "{\"step_id\":5,\"action\":\"u\",\"tool_call_type\":\"ask_user\"}]",
     "",
     "[approved] [executing] speak a; 1 success " DID
     "2 success () {}; query_world q; 3 success " DID "query_knowledge k; 4 success " DID
     "ask_user u; 5 success " DID "[completed] ",
     PONS_OK, false},
    // a failure ends the plan
    {"\"steps\":[" S1 ",\"parameters\":{\"do\":\"fail\"}}," S2 "]", "",
     "[approved] [executing] execute a; 1 failed " COULD REST, PONS_OK, false},
    // fallback: runs, the step stays failed unless fallbacks recover
    {"\"steps\":[" S1 ",\"parameters\":{\"do\":\"fail\"},\"fallback\":\"f\"}," S2 "]", "",
     "[approved] [executing] execute a; execute fallback f; 1 failed (could not) "
     "{\"failure\":\"could not\",\"fallback\":{\"action\":\"f\",\"message\":\"did it\","
     "\"output\":{\"seen\":1},\"success\":true}}; " REST,
     PONS_OK, false},
    {"\"steps\":[" S1 ",\"parameters\":{\"do\":\"fail\"},\"fallback\":\"f\"}," S2 "]", "",
     "[approved] [executing] execute a; execute fallback f; 1 success (did it) "
     "{\"failure\":\"could not\",\"fallback\":{\"action\":\"f\",\"message\":\"did it\","
     "\"output\":{\"seen\":1},\"success\":true}}; execute b; 2 success " DID "[completed] ",
     PONS_OK, true},
    {"\"steps\":[" S1 ",\"parameters\":{\"do\":\"fail\",\"else\":\"fail\"},\"fallback\":\"f\"}]",
     "",
     "[approved] [executing] execute a; execute fallback f; 1 failed (could not) "
     "{\"failure\":\"could not\",\"fallback\":{\"action\":\"f\",\"message\":\"could not\","
     "\"output\":{\"seen\":1},\"success\":false}}; [failed] ",
     PONS_OK, true},
    // preconditions
    {"\"steps\":[" S1 ",\"preconditions\":{\"temperature_above\":30}}]", "",
     "[approved] [executing] execute a; 1 success " DID "[completed] ", PONS_OK, false},
    {"\"steps\":[" S1 ",\"preconditions\":{\"temperature_above\":40}}," S2 "]", "",
     "[approved] [executing] 1 failed (precondition temperature_above: temperature is 32.5, not "
     "above 40) {}; " REST,
     PONS_OK, false},
    {"\"steps\":[" S1 ",\"preconditions\":{\"moon\":\"full\"},\"fallback\":\"f\"}]", "",
     "[approved] [executing] execute fallback f; 1 failed (precondition moon: moon is not known) "
     "{\"failure\":\"precondition moon: moon is not known\",\"fallback\":{\"action\":\"f\","
     "\"message\":\"did it\",\"output\":{\"seen\":1},\"success\":true}}; [failed] ",
     PONS_OK, false},
    // confirmations
    {"\"requires_confirmation\":true,\"confirmation_message\":\"go?\",\"steps\":[" S1 "}]", "y",
     "[wait_confirmation] ask go?; [approved] [executing] execute a; 1 success " DID "[completed] ",
     PONS_OK, false},
    {"\"requires_confirmation\":true,\"steps\":[" S1 "}]", "n",
     "[wait_confirmation] ask g; 1 skipped (the plan was not confirmed) {}; [cancelled] ", PONS_OK,
     false},
    {"\"requires_confirmation\":true,\"steps\":[" S1 "}]", "", "[wait_confirmation] ask g; ",
     PONS_EPARKED, false},
    {"\"steps\":[" S1 ",\"requires_confirmation\":true,\"confirmation_message\":\"ok?\"}," S2 "]",
     "y",
     "[approved] [executing] [wait_confirmation] ask ok?; [executing] execute a; 1 success " DID
     "execute b; 2 success " DID "[completed] ",
     PONS_OK, false},
    {"\"steps\":[" S1 ",\"requires_confirmation\":true,\"description\":\"why\"}," S2 "]", "n",
     "[approved] [executing] [wait_confirmation] ask why; 1 skipped (not confirmed) {}; 2 skipped "
     "(the plan was cancelled) {}; [cancelled] ",
     PONS_OK, false},
    // the answer to a step that asks is the confirmation itself
    {"\"steps\":[" S1 ",\"requires_confirmation\":true,\"tool_call_type\":\"ask_user\"}]", "y",
     "[approved] [executing] [wait_confirmation] ask a; [executing] 1 success (confirmed) "
     "{\"confirmed\":true}; [completed] ",
     PONS_OK, false},
    // an error leaves the step running
    {"\"steps\":[" S1 ",\"parameters\":{\"do\":\"error\"}}]", "",
     "[approved] [executing] execute a; ", PONS_EIO, false},
    // a plan that is on its way already
    {"\"status\":\"executing\",\"steps\":[" S1 ",\"status\":\"success\"}," S2 "]", "",
     "execute b; 2 success " DID "[completed] ", PONS_OK, false},
    {"\"status\":\"executing\",\"steps\":[" S1 ",\"status\":\"failed\"}," S2 "]", "", REST, PONS_OK,
     false},
    {"\"status\":\"completed\",\"steps\":[" S1 "}]", "", "", PONS_OK, false},
};

static void test_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stage s = {.answers = cases[i].answers, .world = json("{\"temperature\":32.5}")};
        pons_plan *p = plan_from(cases[i].members);
        pons_plan_ops ops = ops_of(&s);
        ops.fallback_recovers = cases[i].recovers;
        pons_plan_cursor cursor = {0};
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_plan_run(p, &cursor, &ops, &err);
        if (rc != cases[i].rc || strcmp(s.log.data ? s.log.data : "", cases[i].log) != 0) {
            fail_msg("%s\n  %d %s\n  %d %s", cases[i].members, rc, s.log.data, cases[i].rc,
                     cases[i].log);
        }
        pons_plan_destroy(p);
        pons_value_unref(s.world);
        pons_buf_fini(&s.log);
    }
}

// A run is stopped at every park, written down, and goes on from what was written: the log is the
// same as that of a run in one piece, but for the calls that are asked for again.
static void test_park_and_resume(void **state)
{
    (void)state;
    stage s = {.answers = "pypy", .parked = 2, .world = json("{}")};
    pons_plan *p = plan_from(
        "\"requires_confirmation\":true,\"steps\":[" S1 ",\"parameters\":{\"do\":\"park\"}},"
        "{\"step_id\":2,\"action\":\"b\",\"requires_confirmation\":true,\"fallback\":\"f\","
        "\"parameters\":{\"do\":\"fail\",\"else\":\"park\"}}]");
    pons_plan_cursor cursor = {0};
    pons_error err = PONS_ERROR_INIT;
    const pons_plan_ops ops = ops_of(&s);
    int parks = 0;
    for (; pons_plan_run(p, &cursor, &ops, &err) == PONS_EPARKED; parks++) {
        char *text = plan_text(p);
        pons_autovalue c = pons_plan_cursor_to_value(&cursor);
        pons_plan_destroy(p);
        assert_int_equal(read_plan(text, NULL, &p, NULL, &err), PONS_OK);
        memset(&cursor, 0xff, sizeof cursor);
        pons_plan_cursor_from_value(c, &cursor);
        free(text);
        if (parks == 3) { // one more park, in the fallback
            s.parked = 1;
        }
        assert_true(parks < 10);
    }
    assert_int_equal(p->status, PONS_PLAN_FAILED);
    assert_int_equal(parks, 5);
    assert_string_equal(
        s.log.data,
        "[wait_confirmation] ask g; ask g; [approved] [executing] execute a; execute a; execute a; "
        "1 success " DID
        "[wait_confirmation] ask b; ask b; [executing] execute b; execute fallback "
        "f; execute fallback f; 2 failed (could not) {\"failure\":\"could not\",\"fallback\":{"
        "\"action\":\"f\",\"message\":\"did it\",\"output\":{\"seen\":1},\"success\":true}}; "
        "[failed] ");
    pons_plan_destroy(p);
    pons_value_unref(s.world);
    pons_buf_fini(&s.log);
}

static void test_without_executor(void **state)
{
    (void)state;
    pons_plan *p = plan_from("\"steps\":[" S1 "}]");
    const pons_plan_ops ops = {.user = NULL};
    pons_plan_cursor cursor = {0};
    assert_int_equal(pons_plan_run(p, &cursor, &ops, NULL), PONS_OK);
    assert_int_equal(p->status, PONS_PLAN_FAILED);
    pons_plan_destroy(p);
    p = plan_from("\"requires_confirmation\":true,\"steps\":[" S1 "}]");
    assert_int_equal(pons_plan_run(p, &cursor, &ops, NULL), PONS_EPARKED);
    assert_int_equal(pons_plan_cancel(p, &ops, NULL), PONS_OK);
    assert_int_equal(p->steps[0].status, PONS_STEP_SKIPPED);
    assert_int_equal(pons_plan_cancel(p, &ops, NULL), PONS_EPROTOCOL);
    pons_plan_destroy(p);
}

static void test_conditions(void **state)
{
    (void)state;
    static const struct {
        const char *key, *wanted, *message; // NULL: holds
    } conditions[] = {
        {"t_above", "32", NULL},
        {"t_above", "32.5", "t is 32.5, not above 32.5"},
        {"t_below", "33", NULL},
        {"t_below", "32.5", "t is 32.5, not below 32.5"},
        {"t_at_least", "32.5", NULL},
        {"t_at_least", "33", "t is 32.5, not at least 33"},
        {"t_at_most", "32.5", NULL},
        {"t_at_most", "0", "t is 32.5, not at most 0"},
        {"t", "32.5", NULL},
        {"t", "1", "t is 32.5, not 1"},
        {"n", "3.0", NULL},
        {"zone", "\"kitchen\"", NULL},
        {"zone", "\"hall\"", "zone is \"kitchen\", not \"hall\""},
        {"zone_not", "\"hall\"", NULL},
        {"zone_not", "\"kitchen\"", "zone is \"kitchen\", not other than \"kitchen\""},
        {"zone_in", "[\"hall\",\"kitchen\"]", NULL},
        {"zone_in", "[\"hall\"]", "zone is \"kitchen\", not one of [\"hall\"]"},
        {"zone_in", "\"kitchen\"", "zone is \"kitchen\", not one of \"kitchen\""},
        {"zone_above", "3", "zone is \"kitchen\", not above 3"},
        {"t_above", "\"3\"", "t is 32.5, not to be compared with \"3\""},
        {"robot.battery_above", "20", NULL},
        {"robot.battery", "80", NULL},
        {"robot.arm.reach_above", "1", "robot.arm.reach is not known"},
        {"drop_in", "1", NULL}, // known as it stands
        {"moon", "1", "moon is not known"},
        {"moon_above", "1", "moon is not known"},
        {"_above", "1", "_above is not known"},
        {"", "1", " is not known"},
    };
    pons_autovalue world = json("{\"t\":32.5,\"n\":3,\"zone\":\"kitchen\",\"drop_in\":1,"
                                "\"robot\":{\"battery\":80}}");
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        pons_autovalue wanted = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(
            pons_value_parse(conditions[i].wanted, strlen(conditions[i].wanted), &wanted, NULL),
            PONS_OK);
        const int rc =
            pons_plan_condition(conditions[i].key, wanted, pons_plan_look_in, world, &err);
        assert_int_equal(rc, conditions[i].message ? PONS_EREFUSED : PONS_OK);
        if (conditions[i].message) {
            assert_string_equal(err.message, conditions[i].message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_park_and_resume),
        cmocka_unit_test(test_without_executor),
        cmocka_unit_test(test_conditions),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
