// test_memory.c - every allocation of the plan protocol made to fail once: reading (strict, and what a
// model wrote with its repairs), writing, creating, adding, moving. Each says that there is no memory or
// comes out as undisturbed, and nothing leaks.
#include "oom.h"
#include "pons/plan.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static const char strict[] =
    "{\"plan_id\":\"plan_1\",\"goal\":\"tidy up\",\"reasoning\":\"\\u4e00 "
    "\\\"quoted\\\"\",\"risk_level\":"
    "\"low\",\"requires_confirmation\":false,\"confirmation_message\":null,\"steps\":[{\"step_id\":"
    "1,"
    "\"action\":\"go\",\"tool_call_type\":\"execute\",\"parameters\":{\"b\":[1,2.5,{\"x\":null}],"
    "\"a\":"
    "\"y\"},\"preconditions\":{\"battery_above\":20},\"fallback\":\"stop\",\"status\":\"pending\","
    "\"description\":\"d\",\"requires_confirmation\":true,\"confirmation_message\":\"sure?\","
    "\"metadata\":{}}],\"status\":\"created\",\"created_at\":1700000000.25,\"source\":\"llm\","
    "\"metadata\":{\"k\":1}}";

static const char loose[] =
    "Sure! ```json\n{'goal': 'tidy up', 'steps': [{'step_id': 1, 'action': "
    "'go', 'parameters': {'zone': 'hall',},}, {'step_id': 2, 'action': 'say'"
    ", 'tool_call_type': 'speak'}\n],}\n```";

static int read_and_write(const void *user, char **ret, pons_error *err)
{
    pons_rand rand;
    pons_rand_seed(&rand, 7);
    const pons_plan_read_options o = {.from = {.now_s = 1700000000.25, .rand = &rand}};
    const char *text = user;
    pons_plan *p = NULL;
    int st = pons_plan_read(text, strlen(text), &o, &p, err);
    if (st >= 0) {
        char *out = NULL;
        const long n = pons_plan_text(p, &out);
        st = n < 0 ? (int)n : PONS_OK;
        *ret = out;
    }
    pons_plan_destroy(p);
    return st;
}

static int make_and_move(const void *user, char **ret, pons_error *err)
{
    (void)user;
    const pons_plan fields = {.plan_id = "plan_2", .goal = "g", .source = "rule_engine"};
    const pons_plan_step step = {
        .step_id = 1, .action = "go", .parameters = "{\"zone\":\"hall\"}", .description = "there"};
    pons_plan *p = NULL;
    int st = pons_plan_create(&fields, &p, err);
    st = st < 0 ? st : pons_plan_add_step(p, &step, err);
    st = st < 0 ? st : pons_plan_step_move(&p->steps[0], PONS_STEP_RUNNING, err);
    if (st >= 0) {
        char *out = NULL;
        const long n = pons_plan_text(p, &out);
        st = n < 0 ? (int)n : PONS_OK;
        *ret = out;
    }
    pons_plan_destroy(p);
    return st;
}

// An executor that fails where there is a fallback, which succeeds and tells of it in words that were
// cut inside a character.
static int execute(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err)
{
    (void)user;
    out->success = call->is_fallback;
    snprintf(out->message, sizeof out->message, "%s", call->is_fallback ? "\xe4\xb8" : "no way");
    out->output = pons_object_whole("action", json_string(call->action), NULL);
    return out->output ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "test", "out of memory");
}

static int confirm(void *user, const pons_plan *plan, const pons_plan_step *step,
                   const char *question, bool *ret_confirmed, pons_error *err)
{
    (void)user;
    (void)plan;
    (void)step;
    (void)question;
    (void)err;
    *ret_confirmed = true;
    return PONS_OK;
}

typedef struct reported {
    char *text;
    bool lost;
} reported;

static void result(void *user, const pons_execution_result *r)
{
    reported *t = user;
    char *one = NULL;
    free(t->text);
    t->text = NULL;
    t->lost |= pons_execution_result_text(r, &one) < 0;
    t->text = one;
}

// A plan run to its end, its cursor stored and read back between steps. What a result says is kept.
static int run(const void *user, char **ret, pons_error *err)
{
    (void)user;
    reported t = {0};
    pons_plan_ops ops = {
        .confirm = confirm, .result = result, .fallback_recovers = true, .user = &t};
    for (int i = 0; i < PONS_TOOL_CALL_TYPES; i++) {
        ops.executors[i] = execute;
    }
    const pons_plan_read_options o = {0};
    pons_plan *p = NULL;
    pons_plan_cursor c = {0};
    int st = pons_plan_read(strict, strlen(strict), &o, &p, err);
    while (st >= 0 && !pons_plan_is_finished(p)) {
        st = pons_plan_run_step(p, &c, &ops, err);
        pons_value *stored = st >= 0 ? pons_plan_cursor_to_value(&c) : NULL;
        st = st >= 0 && !stored ? PONS_ENOMEM : st;
        if (st >= 0) {
            pons_plan_cursor_from_value(stored, &c);
        }
        pons_value_unref(stored);
    }
    pons_value *whole = NULL;
    st = st < 0 ? st : pons_plan_to_value(p, &whole, err);
    pons_value_unref(whole);
    pons_plan_destroy(p);
    st = st >= 0 && t.lost ? PONS_ENOMEM : st;
    if (st < 0) {
        free(t.text);
        return st;
    }
    *ret = t.text;
    return st;
}

static void plans(void **state)
{
    (void)state;
    oom_sweep("a strict plan", read_and_write, strict);
    oom_sweep("what a model wrote", read_and_write, loose);
    oom_sweep("no plan", read_and_write, "{\"goal\": \"g\", \"steps\": [{\"step_id\": \"one\"}]}");
    oom_sweep("a plan made by hand", make_and_move, NULL);
    oom_sweep("a plan run to its end", run, NULL);
}

int main(void)
{
    oom_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
