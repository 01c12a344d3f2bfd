// test_turn.c - a turn without a plan: what the agent is asked, what it calls, what is said of it.
//
// A scripted model, tools that remember every start, a clock that moves when told. Shown: an
// answer; read-only calls side by side and the others in order; refusals told to the model; people
// asked about what is dangerous; limits with clear outcomes; stopping keeps what was said.
#include "agent_bench.h"

#include <stdio.h>
#include <string.h>

static void an_answer_is_streamed_and_kept(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "",
               "- {content: 'Hello there.', tokens: 3, usage: {prompt_tokens: 12, "
               "completion_tokens: 3}}\n- {content: again}");
    bench_say(&b, "hi");
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_SUCCEEDED);
    assert_string_equal(bench_last_message(&b, "assistant"), "Hello there.");
    assert_int_equal(bench_count(&b, "token", NULL, NULL), 3);
    const pons_value *end = bench_event(&b, "llm_end", 0), *start = bench_event(&b, "llm_start", 0);
    assert_string_equal(pons_get_str(end, "model", ""), "test-model");
    assert_string_equal(pons_get_str(end, "call_id", "?"), pons_get_str(start, "call_id", "!"));
    assert_string_equal(pons_get_str(start, "input", ""), "hi");
    assert_int_equal(pons_get_int(pons_get(end, "tokens"), "prompt", 0), 12);
    assert_true(json_is_null(pons_get(end, "cost"))); // no price table
    assert_string_equal(bench_types(&b, ""), "llm_start llm_end done");
    bench_say(&b, "and now?");
    assert_int_equal(json_array_size(pons_agent_messages(b.a)), 4); // the history goes on
    assert_string_equal(bench_last_message(&b, "assistant"), "again");
    bench_close(&b);
}

static void calls_run_side_by_side_or_in_order(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "",
               "- tool_calls:\n"
               "  - {name: look, arguments: {at: door}}\n"
               "  - {name: look, arguments: {at: window}}\n"
               "  - {name: write, arguments: {text: one}}\n"
               "  - {name: write, arguments: {text: two}}\n"
               "  content: looking\n"
               "- {content: done}");
    bench_say(&b, "go");
    assert_string_equal(bench_last_message(&b, "assistant"), "done");
    assert_int_equal(b.world.open_most, 2); // the two looks; one write at a time
    assert_int_equal(bench_starts(&b, "look"), 2);
    assert_string_equal(
        pons_get_str(pons_get(json_array_get(b.world.calls, 3), "args"), "text", ""), "two");
    assert_string_equal(pons_get_str(bench_event(&b, "tool_start", 0), "motivation", ""),
                        "looking");
    assert_string_equal(pons_get_str(bench_event(&b, "tool_end", 1), "output", ""), "look window");
    bench_check_messages(&b);
    assert_string_equal(bench_types(&b, ""),
                        "llm_start llm_end tool_start tool_start tool_end tool_end tool_start "
                        "tool_end tool_start tool_end llm_start llm_end done");
    // What changes something is in the ledger, once each, and settled.
    pons_autovalue effects = NULL;
    assert_int_equal(pons_effects_read(b.memory, "s1", 1U << PONS_EFFECT_DONE, &effects, &b.err),
                     0);
    assert_int_equal(json_array_size(effects), 2);
    bench_close(&b);
}

static void what_is_not_right_is_told_to_the_model(void **state)
{
    (void)state;
    static const struct {
        const char *call, *told;
    } rows[] = {
        {"{name: look, arguments: {}}", "arguments are not right"},
        {"{name: look, arguments: {at: 3}}", "arguments are not right"},
        {"{name: write, arguments: {}}", "arguments are not right"},
        {"{name: break, arguments: {}}", "it broke"},
        {"{name: plan_create, arguments: {title: '', steps: [a]}}", "not a plan: title"},
        {"{name: plan_create, arguments: {title: x, steps: []}}", "at least one step"},
        {"{name: plan_create, arguments: {title: x, steps: [3]}}", "steps[0]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char script[256];
        bench b = {0};
        snprintf(script, sizeof script, "- {tool_calls: [%s]}\n- {content: sorry}", rows[i].call);
        bench_open(&b, "", script);
        bench_say(&b, "go");
        if (!strstr(bench_last_message(&b, "tool"), rows[i].told)) {
            fail_msg("row %zu: %s", i, bench_last_message(&b, "tool"));
        }
        assert_int_equal(json_array_size(b.world.calls), bench_starts(&b, "break"));
        assert_string_equal(bench_last_message(&b, "assistant"), "sorry");
        bench_check_messages(&b);
        bench_close(&b);
    }
}

static pons_value *calls_what_is_not_offered(void *user, const pons_value *request)
{
    (void)user;
    const size_t n = json_array_size(pons_get(request, "messages"));
    const pons_value *last = json_array_get(pons_get(request, "messages"), n - 1);
    return strcmp(pons_get_str(last, "role", ""), "tool") == 0
               ? json("{'content':'I see','tool_calls':[]}")
               : json("{'content':null,'tool_calls':[{'id':'1','name':'explode','arguments':{}},"
                      "{'id':'2','name':'nothing','arguments':{}},"
                      "{'id':'3','name':'step_failed','arguments':{'reason':'x'}}]}");
}

static void a_tool_that_is_blocked_or_unknown_never_runs(void **state)
{
    (void)state;
    bench b = {.model = calls_what_is_not_offered};
    bench_open(&b, "", NULL);
    bench_say(&b, "go");
    const pons_value *offered = pons_get(json_array_get(b.requests, 0), "tools");
    for (size_t i = 0; i < json_array_size(offered); i++) {
        const char *name = pons_get_str(json_array_get(offered, i), "name", "");
        assert_string_not_equal(name, "explode");
        assert_string_not_equal(name, "step_failed");
    }
    assert_int_equal(json_array_size(b.world.calls), 0);
    assert_string_equal(bench_last_message(&b, "assistant"), "I see");
    assert_non_null(strstr(pons_get_str(bench_event(&b, "tool_end", 0), "output", ""), "blocked"));
    assert_non_null(strstr(pons_get_str(bench_event(&b, "tool_end", 1), "output", ""), "no tool"));
    bench_check_messages(&b);
    bench_close(&b);
}

static void people_are_asked_about_what_is_dangerous(void **state)
{
    (void)state;
    static const struct {
        const char *call, *answer, *result, *ran_with;
    } rows[] = {
        {"{name: erase, arguments: {what: disk}}", "{'action':'approve'}", "erase disk", "disk"},
        {"{name: erase, arguments: {what: disk}}", "{'action':'reject','reason':'not mine'}",
         "a person refused this call: not mine", NULL},
        {"{name: erase, arguments: {what: disk}}", "{'action':'edit','args':{'what':'cache'}}",
         "erase cache", "cache"},
        {"{name: erase, arguments: {what: disk}}", "{'action':'edit','args':{'what':7}}",
         "as edited by a person", NULL},
        {"{name: write, arguments: {text: rm -rf /}}", "{'action':'reject'}",
         "a person refused this call", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char script[256];
        bench b = {0};
        snprintf(script, sizeof script, "- {tool_calls: [%s]}\n- {content: so be it}",
                 rows[i].call);
        bench_open(&b, "", script);
        bench_say(&b, "go");
        assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
        assert_int_equal(json_array_size(b.world.calls), 0);
        const pons_value *asked = bench_event(&b, "approval_request", 0);
        assert_string_equal(pons_get_str(asked, "risk_level", ""), "dangerous");
        assert_true(json_is_string(pons_get(asked, "request_id")));
        assert_true(json_is_object(pons_get(asked, "input")));
        bench_kill(&b); // it survives a restart
        bench_agent(&b);
        bench_settle(&b);
        assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
        assert_int_equal(bench_count(&b, "approval_request", NULL, NULL), 1);
        bench_answer(&b, rows[i].answer);
        if (!strstr(bench_last_message(&b, "tool"), rows[i].result)) {
            fail_msg("row %zu: %s", i, bench_last_message(&b, "tool"));
        }
        assert_int_equal(json_array_size(b.world.calls), rows[i].ran_with ? 1 : 0);
        if (rows[i].ran_with) {
            assert_string_equal(
                pons_get_str(pons_get(json_array_get(b.world.calls, 0), "args"), "what", ""),
                rows[i].ran_with);
        }
        assert_string_equal(bench_last_message(&b, "assistant"), "so be it");
        bench_check_messages(&b);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_streamed_and_kept),
        cmocka_unit_test(calls_run_side_by_side_or_in_order),
        cmocka_unit_test(what_is_not_right_is_told_to_the_model),
        cmocka_unit_test(a_tool_that_is_blocked_or_unknown_never_runs),
        cmocka_unit_test(people_are_asked_about_what_is_dangerous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
