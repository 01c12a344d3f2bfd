// test_plan.c - plans: each way through the drawing, taken.
//
//   START -> agent -> END | plan_gate -> (approval) -> executor -> replanner -> … -> summarizer ->
//   agent
//
// A scripted model says what a model would; the tests follow the events (their exact order, and
// their payloads), the state's channels, and the conversation. Shown: approve, reject, edit, a
// time-out, two plans in one run; a failed step that is revised; continue and finish; limits; nodes
// switched off; steps that are tools, questions and speech of the protocol.
#include "agent_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAN(title, ...)                                                                           \
    "- tool_calls: [{name: plan_create, arguments: {title: " title ", steps: [" __VA_ARGS__ "]}}]" \
    "\n"
#define FAILS "- tool_calls: [{name: step_failed, arguments: {reason: no door}}]\n"
#define CALLS "llm_start llm_end"

static void a_plan_runs_step_by_step(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "",
               PLAN("Tea", "boil water, {title: pour, action: pour it}") //
               "- tool_calls: [{name: write, arguments: {text: boiling}}]\n"
               "- content: it boils\n"
               "- content: poured\n"
               "- content: Your tea is ready.");
    bench_say(&b, "tea please");
    assert_string_equal(bench_last_message(&b, "assistant"), "Your tea is ready.");
    const pons_value *plan = pons_get(bench_event(&b, "plan_created", 0), "plan");
    assert_string_equal(pons_get_str(plan, "title", ""), "Tea");
    assert_int_equal(strncmp(pons_get_str(plan, "plan_id", ""), "plan_", 5), 0);
    const pons_value *second = json_array_get(pons_get(plan, "steps"), 1);
    assert_string_equal(pons_get_str(second, "title", ""), "pour");
    assert_string_equal(pons_get_str(second, "status", ""), "pending");
    assert_int_equal(pons_get_int(second, "id", 0), 2);
    assert_int_equal(bench_count(&b, "plan_updated", "status", "completed"), 2);
    // The main list has one message for the plan, its summary; not what the executor said.
    assert_int_equal(json_array_size(pons_agent_messages(b.a)), 4);
    assert_non_null(strstr(bench_last_message(&b, "tool"), "[completed] pour"));
    assert_non_null(strstr(bench_last_message(&b, "tool"), "it boils"));
    assert_true(json_is_null(pons_agent_get(b.a, "plan_data"))); // cleared
    assert_int_equal(json_array_size(pons_agent_get(b.a, "past_steps")), 2);
    assert_string_equal(json_string_value(pons_agent_get(b.a, "agent_outcome")), "respond");
    bench_check_messages(&b);
    // Both steps succeeded, so nobody asked the model whether the plan still holds.
    assert_string_equal(
        bench_types(&b, ""),
        "llm_start llm_end phase plan_created plan_updated phase "
        "llm_start llm_end tool_start tool_end llm_start llm_end plan_updated phase plan_updated "
        "llm_start llm_end plan_updated phase phase phase llm_start llm_end done");
    bench_close(&b);
}

static void a_plan_waits_for_a_person(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *types, *message, *last;
        size_t steps_run;
    } rows[] = {
        {"{'action':'approve'}",
         "plan_approval_resolved plan_updated llm_start llm_end plan_updated plan_updated "
         "llm_start llm_end plan_updated llm_start llm_end done",
         "[completed] two", "did one", 2},
        {"{'action':'reject','reason':'too dear'}",
         "plan_approval_resolved plan_updated plan_updated llm_start llm_end done",
         "A person rejected this plan: too dear", "did one", 0},
        {"{'action':'edit','steps':['only this']}",
         "plan_approval_resolved plan_revised plan_updated llm_start llm_end plan_updated "
         "llm_start llm_end done",
         "[completed] only this", "did two", 1},
        {"{'action':'edit','args':{'title':'Other','steps':['a','b']}}",
         "plan_approval_resolved plan_revised plan_updated llm_start llm_end plan_updated "
         "plan_updated llm_start llm_end plan_updated llm_start llm_end done",
         "Plan \"Other\": completed", "and so on", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b = {0};
        bench_open(&b, "graph: {nodes: {approval: {enabled: true}}}",
                   PLAN("Two", "one, two") "- content: did one\n- content: did two\n"
                                           "- content: and so on\n- content: never");
        bench_say(&b, "go");
        assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
        const pons_value *request = bench_event(&b, "plan_approval_request", 0);
        assert_string_equal(pons_get_str(request, "title", ""), "Two");
        assert_int_equal(json_array_size(pons_get(request, "steps")), 2);
        assert_string_equal(bench_types(&b, ""),
                            "llm_start llm_end phase plan_created phase plan_approval_request");
        bench_kill(&b); // no approval is lost
        bench_agent(&b);
        bench_settle(&b);
        assert_string_equal(bench_types(&b, ""), "");
        bench_answer(&b, rows[i].answer);
        assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
        if (!strstr(bench_last_message(&b, "tool"), rows[i].message)) {
            fail_msg("row %zu: %s", i, bench_last_message(&b, "tool"));
        }
        const pons_value *resolved = bench_event(&b, "plan_approval_resolved", 0);
        assert_int_equal(pons_get_bool(resolved, "approved", false), rows[i].steps_run > 0);
        assert_int_equal(bench_count(&b, "plan_updated", "status", "completed"), rows[i].steps_run);
        assert_int_equal(bench_count(&b, "plan_updated", "status", "skipped"),
                         rows[i].steps_run ? 0 : 2);
        assert_string_equal(bench_types(&b, "phase"), rows[i].types);
        bench_check_messages(&b);
        bench_close(&b);
    }
}

// What a person may have meant by these is not for a program to guess: nothing is agreed to, and
// the question stays.
static void an_edit_that_is_none_answers_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *reported;
    } rows[] = {
        {"{'action':'edit','args':{'steps':[]}}", "steps: expected a list"},
        {"{'action':'edit','args':{'steps':5}}", "steps: expected a list"},
        {"{'action':'edit','args':{'steps':['a','']}}", "steps[1]"},
        {"{'action':'edit','args':{'setps':['a']}}", "setps: not a key of an edit"},
        {"{'action':'edit','args':{'steps':['a'],'reason':'x'}}", "reason: not a key"},
        {"{'action':'edit','args':{'title':'  '}}", "title: must not be empty"},
        {"{'action':'edit','args':{}}", "an edit has steps, a title, or both"},
        {"{'action':'edit','args':[]}", "an edit is {steps"},
        {"{'action':'edit'}", "an edit has steps, a title, or both"},
        {"{'action':'edit','steps':[]}", "steps: expected a list"},
        {"['approve']", "an answer is {action"},
    };
    bench b = {0};
    bench_open(&b, "graph: {nodes: {approval: {enabled: true}}}",
               PLAN("One", "one") "- content: did it\n- content: done\n");
    bench_say(&b, "go");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autovalue answer = json(rows[i].answer);
        assert_int_equal(pons_agent_answer(b.a, NULL, answer, &b.err), PONS_EINVAL);
        if (!strstr(b.err.message, rows[i].reported)) {
            fail_msg("row %zu: %s", i, b.err.message);
        }
        bench_settle(&b);
        assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    }
    bench_answer(&b, "{'action':'edit','args':{'title':'Uno'}}"); // the steps as they were
    assert_non_null(strstr(bench_last_message(&b, "tool"), "Plan \"Uno\": completed"));
    bench_close(&b);
}

static void a_yes_after_the_time_is_none(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {nodes: {approval: {enabled: true, timeout_s: 60}}}",
               PLAN("Two", "one, two") "- content: then not\n");
    bench_say(&b, "go");
    bench_kill(&b);
    b.time.now_ns += (int64_t)61e9; // nobody runs the thread when the time is over
    bench_agent(&b);
    pons_autovalue yes = json("{'action':'approve'}");
    assert_int_equal(pons_agent_answer(b.a, NULL, yes, &b.err), PONS_ETIMEOUT);
    bench_settle(&b);
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_false(pons_get_bool(bench_event(&b, "plan_approval_resolved", 0), "approved", true));
    assert_int_equal(bench_count(&b, "plan_updated", "status", "completed"), 0);
    bench_close(&b);
}

static void nobody_answers_in_time(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {nodes: {approval: {enabled: true, timeout_s: 60}}}",
               PLAN("Two", "one, two") "- content: then not\n");
    bench_say(&b, "go");
    bench_advance(&b, 59);
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_kill(&b); // the time goes on while nobody is there
    bench_agent(&b);
    bench_advance(&b, 2);
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_false(pons_get_bool(bench_event(&b, "plan_approval_resolved", 0), "approved", true));
    assert_non_null(strstr(bench_last_message(&b, "tool"), "nobody answered in time"));
    assert_string_equal(bench_last_message(&b, "assistant"), "then not");
    bench_close(&b);
}

static void two_plans_in_one_run_each_approved(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {nodes: {approval: {enabled: true}}}",
               PLAN("First", "a") "- content: did a\n" PLAN("Second", "b") "- content: did b\n"
                                                                           "- content: both done");
    bench_say(&b, "go");
    bench_answer(&b, "{'action':'approve'}");
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_answer(&b, "{'action':'approve'}");
    assert_string_equal(bench_last_message(&b, "assistant"), "both done");
    assert_int_equal(bench_count(&b, "plan_approval_request", NULL, NULL), 2);
    assert_int_equal(bench_count(&b, "plan_approval_resolved", NULL, NULL), 2);
    assert_int_equal(bench_count(&b, "done", NULL, NULL), 1);
    assert_string_not_equal(
        pons_get_str(bench_event(&b, "plan_approval_request", 0), "plan_id", ""),
        pons_get_str(bench_event(&b, "plan_approval_request", 1), "plan_id", ""));
    bench_check_messages(&b);
    bench_close(&b);
}

static void a_failed_step_is_revised(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "",
               PLAN("In", "through the door, sit down, rest") FAILS
               "- content: '{\"action\": \"revise\", \"reason\": \"the window is open\", "
               "\"revised_steps\": [\"through the window\", \"rest\"]}'\n"
               "- content: I am in\n"
               "- content: resting\n"
               "- content: I am inside.");
    bench_say(&b, "go in");
    assert_string_equal(bench_last_message(&b, "assistant"), "I am inside.");
    const pons_value *revised = bench_event(&b, "plan_revised", 0);
    assert_string_equal(pons_get_str(revised, "reason", ""), "the window is open");
    assert_int_equal(pons_get_int(revised, "keep_completed", -1), 1);
    assert_int_equal(json_array_size(pons_get(revised, "revised_steps")), 2);
    assert_int_equal(bench_count(&b, "plan_updated", "status", "failed"), 1);
    assert_int_equal(bench_count(&b, "plan_updated", "status", "completed"), 2);
    assert_non_null(strstr(bench_last_message(&b, "tool"), "[failed] through the door"));
    // A plan with a failed step is never completed, whatever came after it.
    assert_non_null(strstr(bench_last_message(&b, "tool"), "\": failed.\n"));
    assert_string_equal(bench_types(&b, "phase"),
                        CALLS " plan_created plan_updated " CALLS " plan_updated " CALLS
                              " plan_revised plan_updated " CALLS
                              " plan_updated plan_updated " CALLS " plan_updated " CALLS " done");
    bench_close(&b);
}

static void the_replanner_goes_on_or_ends_it(void **state)
{
    (void)state;
    static const struct {
        const char *says;
        size_t completed, skipped;
        const char *answer;
    } rows[] = {
        {"'{\"action\": \"continue\", \"reason\": \"the rest stands\"}'", 2, 0, "three"},
        {"'{\"action\": \"finish\", \"reason\": \"hopeless\"}'", 0, 2, "two"},
        {"'no JSON'\n- content: '{\"action\": \"dance\", \"reason\": \"\"}'", 2, 0, "three"},
        {"\"It can't be done.\\n```json\\n{action: 'finish', 'reason': 'hopeless',}\\n```\"", 0, 2,
         "two"},
        {"\"<think>{'action': 'finish'\"\n- content: '{\"action\": \"continue\", \"reason\": "
         "\"\"}'",
         2, 0, "three"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b = {0};
        char script[1024];
        snprintf(script, sizeof script,
                 "%s%s- content: %s\n- content: two\n- content: %s\n- content: three\n",
                 PLAN("Three", "a, b, c"), FAILS, rows[i].says, "three");
        bench_open(&b, "", script);
        bench_say(&b, "go");
        assert_int_equal(bench_count(&b, "plan_updated", "status", "completed"), rows[i].completed);
        assert_int_equal(bench_count(&b, "plan_updated", "status", "skipped"), rows[i].skipped);
        assert_string_equal(bench_last_message(&b, "assistant"), rows[i].answer);
        if (rows[i].skipped) {
            assert_non_null(strstr(bench_last_message(&b, "tool"), "It ended because: hopeless"));
            assert_non_null(strstr(bench_last_message(&b, "tool"), "[skipped] c"));
        }
        bench_close(&b);
    }
}

// Without skip_on_success the model is asked after every step but the last two.
static void the_replanner_is_asked_when_it_matters(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(
        &b, "graph: {nodes: {replanner: {skip_on_success: false}}}",
        PLAN("Three", "a, b, c") "- content: did a\n"
                                 "- content: '{\"action\": \"continue\", \"reason\": \"\"}'\n"
                                 "- content: did b\n- content: did c\n- content: done");
    bench_say(&b, "go");
    assert_int_equal(bench_count(&b, "llm_start", "node", "replanner"), 1);
    assert_string_equal(bench_last_message(&b, "assistant"), "done");
    bench_close(&b);
}

static void limits_end_things_and_say_so(void **state)
{
    (void)state;
    static const struct {
        const char *config, *script, *event, *text;
        pons_agent_outcome outcome;
    } rows[] = {
        {"graph: {nodes: {agent: {max_iterations: 3}}}",
         "- {tool_calls: [{name: look, arguments: {at: x}}], repeat: true}", "error",
         "agent: 3 model calls without an answer", PONS_AGENT_FAILED},
        {"graph: {nodes: {executor: {max_steps: 2}}}",
         PLAN("Three", "a, b, c") "- content: did a\n- content: did b\n- content: done", NULL,
         "2 steps have run, which is the limit", PONS_AGENT_SUCCEEDED},
        {"graph: {nodes: {executor: {max_steps: 2}, replanner: {enabled: false}}}",
         PLAN("Three", "a, b, c") "- content: did a\n- content: did b\n- content: done", NULL,
         "2 steps have run, which is the limit", PONS_AGENT_SUCCEEDED},
        {"graph: {nodes: {executor: {max_iterations: 2}}}",
         PLAN("One", "a") "- {tool_calls: [{name: look, arguments: {at: x}}]}\n"
                          "- {tool_calls: [{name: look, arguments: {at: x}}]}\n- content: '{}'\n"
                          "- content: '{}'\n- content: hm",
         NULL, "executor: 2 model calls without an answer", PONS_AGENT_SUCCEEDED},
        {"graph: {settings: {recursion_limit: 5}}",
         PLAN("Nine", "a, b, c, d, e, f, g, h, i") "- {content: did it, repeat: true}", "error",
         "GRAPH_RECURSION_LIMIT", PONS_AGENT_FAILED},
        // plan after plan: the turn's own count ends it
        {"graph: {nodes: {agent: {max_iterations: 4}}}",
         "- when: {messages.0.content: {contains: planning agent}}\n  repeat: true\n"
         "  tool_calls: [{name: plan_create, arguments: {title: again, steps: [a]}}]\n"
         "- {content: did it, repeat: true}",
         "error", "agent: 4 model calls without an answer", PONS_AGENT_FAILED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b = {0};
        bench_open(&b, rows[i].config, rows[i].script);
        bench_say(&b, "go");
        assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
        assert_int_equal(pons_agent_outcome_get(b.a), rows[i].outcome);
        const char *text = rows[i].event
                               ? pons_get_str(bench_event(&b, rows[i].event, 0), "content", "")
                               : bench_last_message(&b, "tool");
        if (!strstr(text, rows[i].text) && !strstr(text, "supersteps did not end")) {
            fail_msg("row %zu: %s", i, text);
        }
        assert_int_equal(bench_count(&b, "done", NULL, NULL), 1);
        if (!json_is_null(pons_agent_get(b.a, "plan_data"))) {
            fail_msg("row %zu: a plan is left", i);
        }
        bench_check_messages(&b); // the next turn finds a conversation in order
        bench_close(&b);
    }
}

static void nodes_are_switched_off(void **state)
{
    (void)state;
    static const struct {
        const char *config, *nodes, *gone;
    } rows[] = {
        {"graph: {nodes: {approval: {enabled: true}}}", "approval replanner summarizer", "none"},
        {"graph: {nodes: {replanner: {enabled: false}}}", "plan_gate executor summarizer",
         "replanner"},
        {"graph: {nodes: {summarizer: {enabled: false}}}", "plan_gate executor replanner",
         "summarizer"},
        {"graph: {nodes: {summarizer: {enabled: false}, replanner: {enabled: false}}}",
         "plan_gate executor", "replanner summarizer approval"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const char *const formats[] = {"mermaid", "dot", "json"};
        bench b = {0};
        bench_open(&b, rows[i].config,
                   PLAN("Two", "a, b") "- content: did a\n- content: did b\n- content: done");
        bench_say(&b, "go");
        if (bench_state(&b) == PONS_AGENT_WAITING) {
            bench_answer(&b, "{'action':'approve'}");
        }
        assert_string_equal(bench_last_message(&b, "assistant"), "done");
        assert_int_equal(bench_count(&b, "plan_updated", "status", "completed"), 2);
        assert_true(json_is_null(pons_agent_get(b.a, "plan_data")));
        bench_check_messages(&b);
        pons_graph *g = NULL;
        assert_int_equal(pons_agent_graph(b.config, &g, &b.err), PONS_OK);
        for (size_t k = 0; k < 3; k++) {
            char *drawn = NULL, words[128], *save = NULL;
            assert_int_equal(pons_graph_draw(g, formats[k], &drawn, &b.err), PONS_OK);
            snprintf(words, sizeof words, "%s", rows[i].nodes);
            for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
                assert_non_null(strstr(drawn, w));
            }
            snprintf(words, sizeof words, "%s", rows[i].gone);
            for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
                assert_null(strstr(drawn, w));
            }
            free(drawn);
        }
        pons_graph_destroy(g);
        bench_close(&b);
    }
}

static void without_the_planner_there_is_only_the_agent(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {nodes: {planner: {enabled: false}}}",
               "- when: {tools.0.name: look}\n  content: just me");
    bench_say(&b, "go"); // plan_create is not offered: the first tool is look
    assert_string_equal(bench_last_message(&b, "assistant"), "just me");
    pons_graph *g = NULL;
    char *drawn = NULL;
    assert_int_equal(pons_agent_graph(b.config, &g, &b.err), PONS_OK);
    assert_int_equal(pons_graph_draw(g, "mermaid", &drawn, &b.err), PONS_OK);
    assert_null(strstr(drawn, "executor"));
    free(drawn);
    pons_graph_destroy(g);
    bench_close(&b);
}

static void steps_of_the_protocol_need_no_model(void **state)
{
    (void)state;
    static const struct {
        const char *step, *answer, *said, *status;
    } rows[] = {
        {"{action: look, parameters: {at: moon}}", NULL, "look moon", "completed"},
        {"{action: write, parameters: {text: note}}", NULL, "write note", "completed"},
        {"{action: wait a bit, tool_call_type: noop}", NULL, "nothing to do", "completed"},
        {"{action: which, tool_call_type: ask_user, parameters: {question: Which one?}}",
         "{'action':'approve','answer':'the red one'}", "the red one", "completed"},
        {"{action: break, parameters: {a: 1}}", NULL, "it broke", "failed"},
        // its action did not happen, whatever its fallback did
        {"{action: break, parameters: {a: 1}, fallback: big}", NULL,
         "its fallback big was done: 門", "failed"},
        {"{action: break, parameters: {a: 1}, fallback: break}", NULL, "its fallback break failed",
         "failed"},
        {"{action: look, parameters: {at: sun}, requires_confirmation: true}",
         "{'action':'approve'}", "look sun", "completed"},
        {"{action: look, parameters: {at: sun}, requires_confirmation: true}",
         "{'action':'reject','reason':'too bright'}", "too bright", "skipped"},
        {"{action: erase, parameters: {what: all}}", "{'action':'reject'}", "a person refused",
         "failed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b = {0};
        char script[512];
        snprintf(script, sizeof script,
                 "- tool_calls: [{name: plan_create, arguments: {title: x, steps: [%s]}}]\n"
                 "- {content: '{\"action\": \"finish\", \"reason\": \"\"}', when: "
                 "{messages.0.content: {contains: goes on}}}\n"
                 "- content: so",
                 rows[i].step);
        bench_open(&b, "", script);
        bench_say(&b, "go");
        if (rows[i].answer) {
            assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
            assert_int_equal(bench_count(&b, "approval_request", NULL, NULL), 1);
            bench_answer(&b, rows[i].answer);
        }
        assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
        assert_string_equal(bench_last_message(&b, "assistant"), "so");
        assert_int_equal(bench_count(&b, "llm_start", "node", "executor"), 0);
        if (!strstr(bench_last_message(&b, "tool"), rows[i].said) ||
            bench_count(&b, "plan_updated", "status", rows[i].status) != 1) {
            fail_msg("row %zu: %s", i, bench_last_message(&b, "tool"));
        }
        bench_close(&b);
    }
}

static void the_executor_may_not_plan_whatever_its_list_says(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {nodes: {executor: {tools: [all, plan_create, look]}}}",
               PLAN("One", "a") "- when: {tools.0.name: step_failed}\n  content: did it\n"
                                "- content: done");
    bench_say(&b, "go");
    assert_string_equal(bench_last_message(&b, "assistant"), "done");
    assert_int_equal(bench_count(&b, "plan_updated", "status", "completed"), 1);
    bench_close(&b);
}

static char *here_and_now(void *user)
{
    (void)user;
    return strdup("It is Monday in the kitchen.");
}

static pons_value *plans_then_says(void *user, const pons_value *request)
{
    size_t *asked = user;
    const pons_value *list = pons_get(request, "messages");
    const char *system = pons_get_str(json_array_get(list, 0), "content", "");
    const char *first = pons_get_str(json_array_get(list, 1), "content", "");
    assert_non_null(strstr(system, "It is Monday in the kitchen."));
    assert_non_null(strstr(first, "no sugar")); // whoever is asked sees what the user said
    if ((*asked)++ == 0) {
        return json("{'tool_calls':[{'id':'p','name':'plan_create','arguments':{'title':'T',"
                    "'steps':['one','two','three']}}]}");
    }
    const bool replanner = pons_get(request, "schema") != NULL;
    return json_pack("{ss}", "content",
                     replanner ? "{\"action\": \"continue\", \"reason\": \"ok\"}" : "did it");
}

// The agent, an executor's steps and the replanner are told the user's words, and what is known of
// here and now.
static void everybody_sees_what_the_user_said(void **state)
{
    (void)state;
    bench b = {0};
    size_t asked = 0;
    b.model = plans_then_says;
    b.model_user = &asked;
    b.about = here_and_now;
    bench_open(&b, "graph: {nodes: {replanner: {skip_on_success: false}}}", NULL);
    bench_say(&b, "tea, and no sugar");
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_SUCCEEDED);
    assert_true(asked > 5); // the agent twice, three steps, the replanner
    bench_close(&b);
}

// What the model is told of a step is the whole protocol, and what it may say is checked by it.
static void plan_create_tells_what_a_step_has(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "", PLAN("One", "{title: t, tool_call_type: dance}") "- content: sorry\n");
    bench_say(&b, "go");
    assert_int_equal(bench_count(&b, "plan_created", NULL, NULL), 0);
    const char *reported = bench_last_message(&b, "tool");
    assert_non_null(strstr(reported, "tool_call_type"));
    assert_non_null(strstr(reported, "ask_user"));
    bench_close(&b);
}

// ---- the same step, whoever runs it -------------------------------------------------------------

typedef struct plain { // pons_plan_run with as little around it as there can be
    const pons_value *facts;
    char statuses[256];
} plain;

static int plain_look(void *user, const char *name, pons_value **ret, pons_error *err)
{
    return pons_plan_look_in((void *)(uintptr_t)(const void *)((plain *)user)->facts, name, ret,
                             err);
}

static int plain_confirm(void *user, const pons_plan *p, const pons_plan_step *step,
                         const char *question, bool *ret, pons_error *err)
{
    (void)user;
    (void)p;
    (void)step;
    (void)err;
    *ret = strstr(question, "NO") == NULL;
    return PONS_OK;
}

static int plain_do(void *user, const pons_plan_call *call, pons_plan_outcome *out, pons_error *err)
{
    (void)user;
    (void)err;
    out->success = strcmp(call->action, "break") != 0;
    return PONS_OK;
}

static int plain_words(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                       pons_error *err)
{
    (void)user;
    (void)err;
    out->success = pons_plan_call_words(call) != NULL;
    return PONS_OK;
}

static int plain_query(void *user, const pons_plan_call *call, pons_plan_outcome *out,
                       pons_error *err)
{
    pons_value *found = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    const char *query = pons_plan_call_words(call);
    (void)err;
    out->success = query && plain_look(user, query, &found, &ignored) >= 0;
    pons_value_unref(found);
    return PONS_OK;
}

static void plain_result(void *user, const pons_execution_result *r)
{
    plain *p = user;
    const size_t n = strlen(p->statuses);
    snprintf(p->statuses + n, sizeof p->statuses - n, "%lld %s ", (long long)r->step_id,
             r->status == PONS_STEP_SUCCESS ? "completed" : pons_step_status_word((int)r->status));
}

static int agent_look(void *user, const char *name, pons_value **ret, pons_error *err)
{
    return pons_plan_look_in(user, name, ret, err);
}

// What the seed's demo has, and what each step may be refused for.
static void a_step_comes_to_the_same_by_the_engine_and_by_the_agent(void **state)
{
    (void)state;
    static const char *const plans[] = {
        // the demo: a query, a confirmed question, an action with a precondition, a word
        "[{'action':'query_world_state','tool_call_type':'query_world','parameters':{'query':"
        "'temperature'}},{'action':'confirm_action','tool_call_type':'ask_user','parameters':{'"
        "prompt':"
        "'Cool?'},'requires_confirmation':true,'confirmation_message':'Too warm. Cool?'},"
        "{'action':'write','parameters':{'text':'cooler "
        "3'},'preconditions':{'temperature_above':30},"
        "'fallback':'look'},{'action':'say','tool_call_type':'speak','parameters':{'message':'on'}}"
        "]",
        "[{'action':'write','parameters':{'text':'x'},'preconditions':{'temperature_below':30}}]",
        "[{'action':'write','parameters':{'text':'x'},'preconditions':{'nobody_knows':1}}]",
        "[{'action':'write','parameters':{'text':'x'},'preconditions':{'temperature_above':'warm'}}"
        "]",
        "[{'action':'break','parameters':{'a':1},'fallback':'big'},{'action':'x','tool_call_type':'"
        "noop'},{'action':'y','tool_call_type':'noop'}]", // two are left: the replanner ends it
        "[{'action':'write','parameters':{'text':'x'},'requires_confirmation':true,"
        "'confirmation_message':'NO?'},{'action':'x','tool_call_type':'noop'},{'action':'y','tool_"
        "call_type':'noop'}]",
        "[{'action':'q','tool_call_type':'query_world','parameters':{'query':'humidity'}}]",
        "[{'action':'s','tool_call_type':'speak','parameters':{'volume':1}}]",
        "[{'action':'a','tool_call_type':'ask_user','confirmation_message':'Which?'}]",
    };
    pons_autovalue facts = json("{'temperature':35.5}");
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        pons_autovalue steps = json(plans[i]);
        // by the engine
        pons_plan *p = NULL;
        pons_error err = PONS_ERROR_INIT;
        pons_plan_cursor cursor = {0};
        pons_autovalue whole = json("{'plan_id':'p','goal':'g'}");
        for (size_t k = 0; k < json_array_size(steps); k++) {
            json_object_set_new(json_array_get(steps, k), "step_id",
                                json_integer((json_int_t)k + 1));
        }
        json_object_set(whole, "steps", steps);
        assert_int_equal(pons_plan_from_value(whole, 0, &p, &err), PONS_OK);
        plain run = {.facts = facts};
        const pons_plan_ops ops = {.executors = {[PONS_TOOL_EXECUTE] = plain_do,
                                                 [PONS_TOOL_SPEAK] = plain_words,
                                                 [PONS_TOOL_ASK_USER] = plain_words,
                                                 [PONS_TOOL_QUERY_WORLD] = plain_query},
                                   .look = plain_look,
                                   .confirm = plain_confirm,
                                   .result = plain_result,
                                   .user = &run};
        assert_int_equal(pons_plan_run(p, &cursor, &ops, &err), PONS_OK);
        // by the agent, which dies between the steps
        bench b = {.look = agent_look, .look_user = facts};
        char script[4096];
        char *text = NULL;
        assert_true(pons_value_line(steps, &text) > 0);
        snprintf(script, sizeof script,
                 "- tool_calls: [{name: plan_create, arguments: {title: x, steps: %s}}]\n"
                 "- {content: '{\"action\": \"finish\", \"reason\": \"\"}', repeat: true, when: "
                 "{messages.0.content: {contains: goes on}}}\n"
                 "- {content: so, repeat: true}",
                 text);
        free(text);
        bench_open(&b, "", script);
        bench_say(&b, "go");
        for (int asked = 0; asked < 4 && bench_state(&b) == PONS_AGENT_WAITING; asked++) {
            pons_autovalue questions = pons_agent_questions(b.a);
            char *shown = NULL;
            pons_value_line(questions, &shown);
            const bool no = strstr(shown, "NO?") != NULL;
            const bool words =
                strcmp(pons_get_str(json_array_get(questions, 0), "type", ""), "question") == 0;
            free(shown);
            bench_kill(&b);
            bench_agent(&b);
            bench_settle(&b);
            bench_answer(&b, no      ? "{'action':'reject'}"
                             : words ? "{'action':'approve','answer':'yes'}"
                                     : "{'action':'approve'}");
        }
        char seen[256] = "";
        for (size_t k = 0; k < json_array_size(b.events); k++) {
            const pons_value *e = json_array_get(b.events, k);
            const char *status = pons_get_str(e, "status", "");
            const size_t n = strlen(seen);
            if (strcmp(pons_get_str(e, "type", ""), "plan_updated") == 0 &&
                strcmp(status, "running") != 0) {
                snprintf(seen + n, sizeof seen - n, "%lld %s ",
                         (long long)pons_get_int(e, "step_id", 0), status);
            }
        }
        if (strcmp(seen, run.statuses) != 0) {
            fail_msg("plan %zu: the engine has %s, the agent %s", i, run.statuses, seen);
        }
        char headline[64];
        snprintf(headline, sizeof headline, "\": %s.", pons_plan_status_word((int)p->status));
        if (!strstr(bench_last_message(&b, "tool"), headline)) {
            fail_msg("plan %zu: %s: %s", i, headline, bench_last_message(&b, "tool"));
        }
        pons_plan_destroy(p);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_comes_to_the_same_by_the_engine_and_by_the_agent),
        cmocka_unit_test(a_plan_runs_step_by_step),
        cmocka_unit_test(a_plan_waits_for_a_person),
        cmocka_unit_test(an_edit_that_is_none_answers_nothing),
        cmocka_unit_test(a_yes_after_the_time_is_none),
        cmocka_unit_test(nobody_answers_in_time),
        cmocka_unit_test(two_plans_in_one_run_each_approved),
        cmocka_unit_test(a_failed_step_is_revised),
        cmocka_unit_test(the_replanner_goes_on_or_ends_it),
        cmocka_unit_test(the_replanner_is_asked_when_it_matters),
        cmocka_unit_test(limits_end_things_and_say_so),
        cmocka_unit_test(nodes_are_switched_off),
        cmocka_unit_test(without_the_planner_there_is_only_the_agent),
        cmocka_unit_test(steps_of_the_protocol_need_no_model),
        cmocka_unit_test(the_executor_may_not_plan_whatever_its_list_says),
        cmocka_unit_test(everybody_sees_what_the_user_said),
        cmocka_unit_test(plan_create_tells_what_a_step_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
