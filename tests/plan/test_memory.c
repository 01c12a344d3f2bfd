// test_memory.c - every allocation of the plan protocol made to fail once: reading (strict, and what a
// model wrote with its repairs), writing, creating, adding, moving. Each says that there is no memory or
// comes out as undisturbed, and nothing leaks.
#include "oom.h"
#include "pons/plan.h"
#include "unit.h"

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

static void plans(void **state)
{
    (void)state;
    oom_sweep("a strict plan", read_and_write, strict);
    oom_sweep("what a model wrote", read_and_write, loose);
    oom_sweep("no plan", read_and_write, "{\"goal\": \"g\", \"steps\": [{\"step_id\": \"one\"}]}");
    oom_sweep("a plan made by hand", make_and_move, NULL);
}

int main(void)
{
    oom_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
