// test_turn.c - a turn without a plan: what the agent is asked, what it calls, what is said of it.
//
// A scripted model, tools that remember every start, a clock that moves when told. Shown: an
// answer; read-only calls side by side and the others in order; refusals told to the model; people
// asked about what is dangerous; limits with clear outcomes; stopping keeps what was said.
#include "agent_bench.h"

#include <stdio.h>
#include <stdlib.h>
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
        const char *call, *reported;
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
        if (!strstr(bench_last_message(&b, "tool"), rows[i].reported)) {
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

static pons_value *says_more_than_words(void *user, const pons_value *request)
{
    (void)user;
    const size_t n = json_array_size(pons_get(request, "messages"));
    const pons_value *last = json_array_get(pons_get(request, "messages"), n - 1);
    return strcmp(pons_get_str(last, "role", ""), "tool") == 0
               ? json("{'content':'I see','tool_calls':[],'extra':{'from':'m','message':{'r':1}}}")
               : json("{'content':null,'tool_calls':[{'id':'1','name':'look','arguments':{'at':'x'}"
                      "}],"
                      "'extra':{'from':'m','calls':{'1':{'s':'S'}}}}");
}

// What came beside the words is part of the conversation: in the same turn, and in another life's.
static void what_a_model_sends_beside_its_words_is_kept(void **state)
{
    (void)state;
    bench b = {.model = says_more_than_words};
    bench_open(&b, "", NULL);
    bench_say(&b, "go");
    bench_kill(&b);
    bench_agent(&b);
    bench_say(&b, "again");
    const pons_value *second = pons_get(json_array_get(b.requests, 1), "messages"),
                     *third = pons_get(json_array_get(b.requests, 2), "messages");
    pons_autovalue call = json("{'from':'m','calls':{'1':{'s':'S'}}}");
    pons_autovalue words = json("{'from':'m','message':{'r':1}}");
    const size_t n = json_array_size(second);
    assert_true(json_equal(pons_get(json_array_get(second, n - 2), "extra"), call));
    assert_int_equal(json_array_size(third), n + 2);
    assert_true(json_equal(pons_get(json_array_get(third, n - 2), "extra"), call));
    assert_true(json_equal(pons_get(json_array_get(third, n), "extra"), words));
    bench_close(&b);
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
        {"{name: erase, arguments: {what: disk}}",
         "{'action':'approve','reason':'but only this once'}",
         "said: but only this once)\nerase disk", "disk"},
        {"{name: erase, arguments: {what: disk}}", "{'action':'reject','reason':'not mine'}",
         "a person refused this call: not mine", NULL},
        {"{name: erase, arguments: {what: disk}}", "{'action':'edit','args':{'what':'cache'}}",
         "erase cache", "cache"},
        {"{name: erase, arguments: {what: disk}}",
         "{'action':'edit','args':{'what':'cache'},'reason':'the disk is full'}",
         "arguments before it ran.)\n(The person who allowed it said: the disk is full)\nerase",
         "cache"},
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

// What the model asks by an address that it made of what it read is asked about; what a person or a page gave
// it is not. Each row: what is said, the calls before, the address, and whether a person is asked.
static void an_address_that_a_model_made_is_asked_about(void **state)
{
    (void)state;
#define LOOK(text)  "- tool_calls: [{name: look, arguments: {at: '" text "'}}]\n"
#define WRITE(text) "- tool_calls: [{name: write, arguments: {text: '" text "'}}]\n"
    static const struct {
        const char *said, *before, *url;
        bool asked;
    } rows[] = {
        // given
        {"read https://a.org/x/y?q=1", LOOK("secret"), "https://a.org/x/y?q=1", false},
        {"read https://a.org/x/y?q=1.", LOOK("secret"), "https://a.org/x", false},
        {"read A.org/x", LOOK("secret"), "http://a.org/x/", false},
        // made: a query, a piece of the path, a label, a user, another case of the path, a piece cut
        {"read https://a.org/x", LOOK("secret"), "https://a.org/x?d=secret", true},
        {"read https://a.org/x", LOOK("secret"), "https://a.org/secret", true},
        {"read https://a.org/x", LOOK("secret"), "https://secret.a.org/x", true},
        {"read https://a.org/x", LOOK("secret"), "https://a.org/x#secret", true},
        {"read https://a.org/x", LOOK("secret"), "b.org/secret?x=://a.org/x", true},
        {"read https://a.org/x", LOOK("secret"), "https://secret@a.org/x", true},
        {"read https://a.org/x", LOOK("secret"), "https://a.org/X", true},
        {"read https://a.org/xyz", LOOK("secret"), "https://a.org/xy", true},
        {"read https://a.org/x", LOOK("secret"), "https://a.org:8443/x", true},
        // nothing was read
        {"how is the weather", "", "https://weather.org/?in=Paris", false},
        // found: the bench's model speaks for the tool, so what it names is its own
        {"go on", LOOK("see https://b.org/p"), "https://b.org/p", true},
        {"go on", WRITE("https://b.org/p"), "https://b.org/p", true},
        {"a.org",
         "- tool_calls: [{name: fetch, arguments: {url: 'https://a.org', page: "
         "'https://b.org/p'}}]\n",
         "https://b.org/p", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char script[1024];
        bench b = {0};
        snprintf(script, sizeof script,
                 "%s- tool_calls: [{name: fetch, arguments: {url: '%s'}}]\n- content: so be it",
                 rows[i].before, rows[i].url);
        bench_open(&b, "", script);
        bench_say(&b, rows[i].said);
        const bool asked = bench_state(&b) == PONS_AGENT_WAITING;
        if (asked != rows[i].asked) {
            fail_msg("row %zu, %s: %s", i, rows[i].url, asked ? "asked" : "not asked");
        }
        if (asked) {
            assert_non_null(strstr(pons_get_str(bench_event(&b, "approval_request", 0), "why", ""),
                                   "may go out"));
            bench_answer(&b, "{'action':'approve'}");
        }
        assert_string_equal(bench_last_message(&b, "assistant"), "so be it");
        assert_true(bench_starts(&b, "fetch") > 0);
        bench_close(&b);
    }
#undef LOOK
#undef WRITE
}

// Found in what a tool read: unasked, unless the model had a hand in it before. `news` and that
// page say https://found.org/ whatever they are asked.
static void an_address_that_was_read_is_not_asked_about(void **state)
{
    (void)state;
    static const struct {
        const char *calls;
        bool asked;
    } rows[] = {
        {"- tool_calls: [{name: news, arguments: {}}]\n", false},
        {"- tool_calls: [{name: write, arguments: {text: x}}]\n"
         "- tool_calls: [{name: news, arguments: {}}]\n",
         true},
        {"- tool_calls: [{name: write, arguments: {text: x}}]\n"
         "- tool_calls: [{name: fetch, arguments: {url: 'https://given.org/news'}}]\n",
         false},
        {"- tool_calls: [{name: look, arguments: {at: 'https://found.org/'}}]\n"
         "- tool_calls: [{name: news, arguments: {}}]\n",
         true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char script[1024];
        bench b = {0};
        snprintf(script, sizeof script,
                 "%s- tool_calls: [{name: fetch, arguments: {url: 'https://found.org'}}]\n"
                 "- content: so be it",
                 rows[i].calls);
        bench_open(&b, "", script);
        bench_say(&b, "what is new at https://given.org/news");
        if ((bench_state(&b) == PONS_AGENT_WAITING) != rows[i].asked) {
            fail_msg("row %zu: %s", i, rows[i].asked ? "not asked" : "asked");
        }
        bench_close(&b);
    }
}

static void nobody_answers_about_a_dangerous_call(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {settings: {tool_approval_timeout_s: 30}}",
               "- tool_calls: [{name: erase, arguments: {what: disk}}]\n- content: then not");
    bench_say(&b, "go");
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_advance(&b, 31);
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_non_null(strstr(bench_last_message(&b, "tool"), "nobody answered in time"));
    assert_int_equal(json_array_size(b.world.calls), 0);
    bench_close(&b);
}

static void what_a_person_approved_beforehand_is_not_asked(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {tools: {approve: [erase], risk: {look: dangerous}}}",
               "- tool_calls: [{name: erase, arguments: {what: disk}}, "
               "{name: look, arguments: {at: x}}]\n- content: ok");
    bench_say(&b, "go"); // erase is approved, look was made dangerous
    assert_int_equal(bench_starts(&b, "erase"), 1);
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_answer(&b, "{'action':'approve'}");
    assert_int_equal(bench_starts(&b, "look"), 1);
    bench_close(&b);
}

static void much_output_is_cut_where_it_is_shown(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b,
               "graph: {settings: {tool_output_max: 3000}, prices: {test-model: {prompt: 2, "
               "completion: 10}}}",
               "- {tool_calls: [{name: big, arguments: {}}], usage: {prompt_tokens: 1000000, "
               "completion_tokens: 500000}}\n- content: ok");
    bench_say(&b, "go");
    const char *shown = pons_get_str(bench_event(&b, "tool_end", 0), "output", "");
    size_t characters = 0;
    for (const char *c = shown; *c; c++) {
        characters += ((unsigned char)*c & 0xC0U) != 0x80U;
    }
    assert_true(characters > 900 && characters <= 2000);
    assert_true(strlen(bench_last_message(&b, "tool")) < 3000 * 3 + 100);
    const double cost = pons_get_num(bench_event(&b, "llm_end", 0), "cost", 0);
    assert_true(cost > 6.99 && cost < 7.01);
    bench_close(&b);
}

static void a_model_that_fails_ends_the_turn(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "",
               "- error: {status: 503, message: overloaded}\n- content: back\n- content: ''");
    bench_say(&b, "go");
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_FAILED);
    assert_non_null(strstr(pons_get_str(bench_event(&b, "error", 0), "content", ""), "overloaded"));
    assert_string_equal(bench_types(&b, ""), "llm_start llm_end error done");
    bench_say(&b, "and now?");
    assert_string_equal(bench_last_message(&b, "assistant"), "back");
    bench_say(&b, "and now?");
    assert_int_equal(pons_agent_outcome_get(b.a),
                     PONS_AGENT_FAILED); // an answer of nothing is none
    bench_close(&b);
}

static void stopping_keeps_what_was_said(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "",
               "- {content: 'one two three four', tokens: ['one ', 'two ', 'three ', four], "
               "delay_ms: 1000}\n"
               "- {content: again}");
    bench_say(&b, "go");
    bench_advance(&b, 0.5); // two tokens are there
    assert_int_equal(bench_count(&b, "token", NULL, NULL), 2);
    assert_int_equal(bench_state(&b), PONS_AGENT_WORKING);
    assert_int_equal(pons_agent_say(b.a, "me too", &b.err), PONS_EBUSY);
    assert_int_equal(pons_agent_stop(b.a, &b.err), PONS_OK);
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_STOPPED);
    assert_string_equal(bench_last_message(&b, "assistant"), "one two ");
    bench_advance(&b, 5); // nothing comes after the end
    assert_int_equal(bench_count(&b, "token", NULL, NULL), 2);
    bench_say(&b, "go on");
    assert_string_equal(bench_last_message(&b, "assistant"), "again");
    bench_check_messages(&b);
    bench_close(&b);
}

static void stopping_settles_what_runs(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "",
               "- tool_calls: [{name: write, arguments: {text: a}}, {name: slow, arguments: {}}, "
               "{name: write, arguments: {text: b}}]\n- content: later");
    bench_say(&b, "go");
    assert_int_equal(bench_state(&b), PONS_AGENT_WORKING);
    assert_int_equal(pons_agent_stop(b.a, &b.err), PONS_OK);
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_int_equal(b.world.open, 0); // canceled
    assert_int_equal(bench_starts(&b, "write"), 1);
    bench_check_messages(&b); // each of the three calls has its result
    assert_string_equal(bench_last_message(&b, "tool"), "not run: the user stopped here");
    pons_autovalue open = NULL;
    pons_effects_read(b.memory, "s1", 1U << PONS_EFFECT_DISPATCHED | 1U << PONS_EFFECT_INTENDED,
                      &open, &b.err);
    assert_int_equal(json_array_size(open), 0);
    bench_say(&b, "go on");
    assert_string_equal(bench_last_message(&b, "assistant"), "later");
    bench_close(&b);
}

static void stopping_ends_a_plan(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "",
               "- tool_calls: [{name: plan_create, arguments: {title: P, steps: [a, b, c]}}]\n"
               "- tool_calls: [{name: slow, arguments: {}}]\n- content: later");
    bench_say(&b, "go");
    assert_int_equal(bench_state(&b), PONS_AGENT_WORKING);
    assert_int_equal(pons_agent_stop(b.a, &b.err), PONS_OK);
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_STOPPED);
    assert_int_equal(bench_count(&b, "plan_updated", "status", "failed"), 1);
    assert_int_equal(bench_count(&b, "plan_updated", "status", "skipped"), 2);
    assert_true(json_is_null(pons_agent_get(b.a, "plan_data")));
    assert_int_equal(bench_count(&b, "llm_start", NULL, NULL), 2); // nobody asked a model any more
    bench_check_messages(&b);
    bench_close(&b);
}

static void new_words_take_the_place_of_a_question(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {nodes: {approval: {enabled: true}}}",
               "- tool_calls: [{name: plan_create, arguments: {title: P, steps: [a]}}]\n"
               "- content: something else");
    bench_say(&b, "go");
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_say(&b, "never mind, do that");
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_string_equal(bench_last_message(&b, "assistant"), "something else");
    assert_non_null(strstr(bench_last_message(&b, "tool"), "rejected"));
    assert_int_equal(bench_count(&b, "done", NULL, NULL), 2);
    bench_check_messages(&b);
    bench_close(&b);
}

static void an_answer_comes_from_another_process(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "", "- tool_calls: [{name: erase, arguments: {what: disk}}]\n- content: gone");
    bench_say(&b, "go");
    pons_autovalue questions = pons_agent_questions(b.a);
    pons_autovalue stale = json("{'action':'approve','id':'an older question'}");
    pons_autovalue yes = json("{'action':'approve'}");
    json_object_set_new(yes, "id",
                        pons_value_ref(pons_get(json_array_get(questions, 0), "request_id")));
    assert_int_equal(pons_inbox_post(b.memory, "s1", PONS_AGENT_NS, "answer", stale, &b.err), 0);
    pons_agent_wake(b.a);
    bench_settle(&b);
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    assert_int_equal(pons_inbox_post(b.memory, "s1", PONS_AGENT_NS, "answer", yes, &b.err), 0);
    pons_agent_wake(b.a);
    bench_settle(&b);
    assert_int_equal(bench_starts(&b, "erase"), 1);
    assert_string_equal(bench_last_message(&b, "assistant"), "gone");
    bench_close(&b);
}

static void only_one_process_has_a_session(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "", "- content: hi");
    pons_agent *second = NULL;
    const pons_agent_options opts = {
        .store = b.memory, .thread = "s1", .clock = b.clock, .offline = true};
    assert_int_equal(pons_agent_open(&opts, &second, &b.err), PONS_EBUSY);
    assert_false(pons_agent_thread_is(b.memory, "s2"));
    bench_say(&b, "hi");
    assert_true(pons_agent_thread_is(b.memory, "s1"));
    assert_int_equal(pons_agent_say(b.a, " \n", &b.err), PONS_EINVAL);
    assert_int_equal(pons_agent_say(b.a, "\xff", &b.err), PONS_EINVAL);
    pons_autovalue yes = json("{'action':'approve'}");
    assert_int_equal(pons_agent_answer(b.a, NULL, yes, &b.err), PONS_ENOTPENDING);
    bench_close(&b);
}

static pons_value *counts_messages(void *user, const pons_value *request)
{
    *(size_t *)user = json_array_size(pons_get(request, "messages"));
    const pons_value *second = json_array_get(pons_get(request, "messages"), 1);
    assert_string_equal(pons_get_str(second, "role", ""), "user"); // never half of a call
    return json("{'content':'yes','tool_calls':[]}");
}

static void a_long_history_is_sent_in_part(void **state)
{
    (void)state;
    size_t sent = 0;
    bench b = {.model = counts_messages, .model_user = &sent};
    bench_open(&b, "graph: {nodes: {agent: {history: 6}}}", NULL);
    for (int i = 0; i < 10; i++) {
        bench_say(&b, "more");
    }
    assert_int_equal(json_array_size(pons_agent_messages(b.a)), 20);
    assert_true(sent <= 7 && sent >= 5); // the system's and the newest
    bench_close(&b);
}

// A provider ends a run after its 64 calls (llm/test_factory), so each request says whose it is.
static void a_turns_requests_name_the_turn(void **state)
{
    (void)state;
    size_t sent = 0;
    bench b = {.model = counts_messages, .model_user = &sent};
    bench_open(&b, "", NULL);
    bench_say(&b, "one");
    bench_say(&b, "two");
    assert_int_equal(json_array_size(b.requests), 2);
    const char *first = pons_get_str(json_array_get(b.requests, 0), "run", "");
    assert_string_not_equal(first, "");
    assert_string_not_equal(first, pons_get_str(json_array_get(b.requests, 1), "run", ""));
    bench_close(&b);
}

static pons_value *erases(void *user, const pons_value *request)
{
    const pons_value *list = pons_get(request, "messages");
    const pons_value *last = json_array_get(list, json_array_size(list) - 1);
    if (strcmp(pons_get_str(last, "role", ""), "tool") == 0) {
        return json("{'content':'done','tool_calls':[]}");
    }
    return pons_object("content", json_null(), "tool_calls",
                       json_pack("[{ss ss s{ss}}]", "id", "1", "name", "erase", "arguments", "what",
                                 *(char **)user),
                       NULL);
}

static void what_is_always_allowed_is_asked_once(void **state)
{
    (void)state;
    static const struct {
        const char *scope;
        bool other; // whether other arguments are allowed too
    } rows[] = {{"'call'", false}, {"true", false}, {"'tool'", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *what = "disk";
        bench b = {.model = erases, .model_user = (void *)&what};
        char answer[64];
        bench_open(&b, "", NULL);
        bench_say(&b, "go");
        snprintf(answer, sizeof answer, "{'action':'approve','always':%s}", rows[i].scope);
        bench_answer(&b, answer);
        assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
        bench_kill(&b); // it is there after a restart
        bench_agent(&b);
        bench_say(&b, "again");
        assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
        assert_int_equal(bench_starts(&b, "erase"), 2);
        what = "tape";
        bench_say(&b, "and that");
        assert_int_equal(bench_state(&b), rows[i].other ? PONS_AGENT_IDLE : PONS_AGENT_WAITING);
        if (!rows[i].other) {
            bench_answer(&b, "{'action':'reject'}");
        }
        pons_autovalue list = NULL;
        pons_autovalue none = NULL;
        assert_int_equal(pons_agent_allowed(b.memory, "s1", &list, &b.err), PONS_OK);
        assert_int_equal(json_array_size(list), 1);
        assert_string_equal(pons_get_str(json_array_get(list, 0), "tool", ""), "erase");
        assert_int_equal(pons_agent_allowed(b.memory, "s2", &none, &b.err), PONS_OK);
        assert_int_equal(json_array_size(none), 0); // another session's
        const char *id = pons_get_str(json_array_get(list, 0), "id", "");
        assert_int_equal(pons_agent_revoke(b.memory, "s2", id, &b.err), PONS_ENOTFOUND);
        assert_int_equal(pons_agent_revoke(b.memory, "s1", id, &b.err), PONS_OK);
        assert_int_equal(pons_agent_revoke(b.memory, "s1", id, &b.err), PONS_ENOTFOUND);
        what = "disk";
        bench_say(&b, "once more");
        assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
        bench_close(&b);
    }
}

static pons_value *insists(void *user, const pons_value *request)
{
    const pons_value *list = pons_get(request, "messages");
    const pons_value *last = json_array_get(list, json_array_size(list) - 1);
    return strstr(pons_get_str(last, "content", ""), "refused") ? erases(user, NULL)
                                                                : erases(user, request);
}

// A model that wants the same for ever: a person's no is for the turn, and the turn has its end.
static void a_no_is_not_asked_again(void **state)
{
    (void)state;
    const char *what = "disk";
    bench b = {.model = insists, .model_user = (void *)&what};
    bench_open(&b, "", NULL);
    bench_say(&b, "go");
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_kill(&b);
    bench_agent(&b);
    bench_settle(&b);
    bench_answer(&b, "{'action':'reject','reason':'no'}");
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_int_equal(bench_count(&b, "approval_request", NULL, NULL), 1);
    assert_int_equal(bench_count(&b, "done", "status", "failed"), 1);
    assert_int_equal(bench_starts(&b, "erase"), 0);
    bench_say(&b, "do it now"); // another turn: it may be asked about
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_answer(&b, "{'action':'approve','always':'call'}");
    bench_close(&b);
}

static void answers_have_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *question, *answer, *says;
    } rows[] = {
        {"{'type':'tool_approval','tool':'terminal'}", "{'action':'approve','always':'tool'}",
         "word for word"},
        {"{'type':'tool_approval','tool':'sh','preview':{'kind':'command'}}",
         "{'action':'approve','always':'tool'}", "word for word"},
        {"{'type':'tool_approval','tool':'x'}", "{'action':'edit','args':{},'always':true}",
         "approval of a call"},
        {"{'type':'tool_approval','tool':'x'}", "{'action':'reject','always':true}",
         "approval of a call"},
        {"{'type':'plan_approval'}", "{'action':'approve','always':true}", "approval of a call"},
        {"{'type':'tool_approval','tool':'x'}", "{'action':'approve','always':'ls *'}", "expected"},
        {"{'type':'tool_approval','tool':'x'}", "{'action':'approve','always':{}}", "expected"},
        {"{'type':'tool_approval','tool':'x'}", "{'action':'approve','answer':'no'}", "no words"},
        {"{'type':'plan_approval'}", "{'action':'approve','answer':'better not'}", "no words"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autovalue q = json(rows[i].question);
        pons_autovalue answer = json(rows[i].answer);
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons_agent_answer_check(q, answer, &err), PONS_EINVAL);
        assert_non_null(strstr(err.message, rows[i].says));
    }
}

static void what_cannot_be_shown_whole_is_not_asked(void **state)
{
    (void)state;
    char *what = malloc(PONS_AGENT_QUESTION_MAX + 1);
    memset(what, 'w', PONS_AGENT_QUESTION_MAX);
    what[PONS_AGENT_QUESTION_MAX] = '\0';
    bench b = {.model = erases, .model_user = &what};
    bench_open(&b, "", NULL);
    bench_say(&b, "go");
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_int_equal(json_array_size(b.world.calls), 0);
    assert_non_null(strstr(bench_last_message(&b, "tool"), "too long to be shown"));
    free(what);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_always_allowed_is_asked_once),
        cmocka_unit_test(a_no_is_not_asked_again),
        cmocka_unit_test(answers_have_their_limits),
        cmocka_unit_test(what_cannot_be_shown_whole_is_not_asked),
        cmocka_unit_test(an_answer_is_streamed_and_kept),
        cmocka_unit_test(calls_run_side_by_side_or_in_order),
        cmocka_unit_test(what_is_not_right_is_told_to_the_model),
        cmocka_unit_test(what_a_model_sends_beside_its_words_is_kept),
        cmocka_unit_test(a_tool_that_is_blocked_or_unknown_never_runs),
        cmocka_unit_test(people_are_asked_about_what_is_dangerous),
        cmocka_unit_test(an_address_that_a_model_made_is_asked_about),
        cmocka_unit_test(an_address_that_was_read_is_not_asked_about),
        cmocka_unit_test(nobody_answers_about_a_dangerous_call),
        cmocka_unit_test(what_a_person_approved_beforehand_is_not_asked),
        cmocka_unit_test(much_output_is_cut_where_it_is_shown),
        cmocka_unit_test(a_model_that_fails_ends_the_turn),
        cmocka_unit_test(stopping_keeps_what_was_said),
        cmocka_unit_test(stopping_settles_what_runs),
        cmocka_unit_test(stopping_ends_a_plan),
        cmocka_unit_test(new_words_take_the_place_of_a_question),
        cmocka_unit_test(an_answer_comes_from_another_process),
        cmocka_unit_test(only_one_process_has_a_session),
        cmocka_unit_test(a_long_history_is_sent_in_part),
        cmocka_unit_test(a_turns_requests_name_the_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
