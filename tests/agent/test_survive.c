// A turn survives its model: faulty answers, too many calls, conversations that are too long.
//
// The model is a function that does what real ones do wrong. Every request it gets is checked: each
// call has its result right behind it, and where the window is known the messages fit it.
#include "agent_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct talk {
    const char *const *replies; // NULL at the end; then the last one again
    size_t at;
    size_t too_long; // bytes of messages from which on the server complains; 0: never
    size_t longest;  // bytes of the longest request so far
} talk;

static size_t bytes_of(const pons_value *request)
{
    char *text = NULL;
    const long n = pons_value_line(pons_get(request, "messages"), &text);
    free(text);
    return (size_t)n;
}

static void check_request(const pons_value *request)
{
    const pons_value *list = pons_get(request, "messages");
    const size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++) {
        const pons_value *calls = pons_get(json_array_get(list, i), "tool_calls");
        const char *role = pons_get_str(json_array_get(list, i), "role", "");
        for (size_t k = 0; k < json_array_size(calls); k++) {
            const pons_value *result = json_array_get(list, i + 1 + k);
            assert_string_equal(pons_get_str(result, "role", "none"), "tool");
            assert_string_equal(pons_get_str(result, "tool_call_id", ""),
                                pons_get_str(json_array_get(calls, k), "id", "?"));
        }
        i += json_array_size(calls);
        assert_true(strcmp(role, "tool") != 0); // one without a call
    }
    assert_true(pons_get_bool(request, "faults", false));
}

static pons_value *says(void *user, const pons_value *request)
{
    talk *t = user;
    check_request(request);
    const size_t bytes = bytes_of(request);
    t->longest = bytes > t->longest ? bytes : t->longest;
    const char *reply = t->replies[t->at];
    t->at += t->replies[t->at + 1] != NULL;
    return json(reply);
}

static const char *last_of(const bench *b, size_t request)
{
    const pons_value *list = pons_get(json_array_get(b->requests, request), "messages");
    return pons_get_str(json_array_get(list, json_array_size(list) - 1), "content", "");
}

#define SAYS(text)  "{'content':'" text "','tool_calls':[]}"
#define CALLS(list) "{'content':null,'tool_calls':[" list "]}"

static void a_faulty_answer_goes_back_to_the_model(void **state)
{
    (void)state;
    static const struct {
        const char *reply, *reported;
        bool result; // told as the call's result, not as a complaint
    } rows[] = {
        {CALLS("{'id':'1','name':'lok','arguments':{},'fault':'not offered: lok'}"),
         "there is no tool lok here; there are: look write", true},
        {CALLS("{'id':'1','name':'look','arguments':{},'fault':'the arguments are not "
               "JSON','written':"
               "'{at: '}"),
         "error: the arguments are not JSON. You wrote: {at: ", true},
        {"{'content':'I will now','tool_calls':[],'finish_reason':'length','fault':'the answer was "
         "cut "
         "at its longest'}",
         "can't be used: the answer was cut at its longest", false},
        {"{'content':null,'tool_calls':[]}", "can't be used: the model answered with nothing",
         false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const replies[] = {rows[i].reply, rows[i].reply, SAYS("done"), NULL};
        talk t = {.replies = replies};
        bench b = {.model = says, .model_user = &t};
        bench_open(&b, "", NULL);
        bench_say(&b, "go");
        assert_string_equal(bench_last_message(&b, "assistant"), "done");
        assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_SUCCEEDED);
        assert_int_equal(json_array_size(b.requests), 3);
        assert_int_equal(json_array_size(b.world.calls), 0);
        if (rows[i].result && !strstr(bench_last_message(&b, "tool"), rows[i].reported)) {
            fail_msg("row %zu: %s", i, bench_last_message(&b, "tool"));
        }
        if (!rows[i].result && !strstr(last_of(&b, 1), rows[i].reported)) {
            fail_msg("row %zu: %s", i, last_of(&b, 1));
        }
        bench_check_messages(&b);
        // A complaint is no part of the conversation.
        assert_int_equal(json_array_size(pons_agent_messages(b.a)), rows[i].result ? 6 : 2);
        bench_close(&b);
    }
}

static void so_many_faulty_answers_in_a_row_end_the_turn(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{'content':null,'tool_calls':[]}",
        CALLS("{'id':'1','name':'look','arguments':{},'fault':'the arguments are not JSON'}")};
    for (size_t i = 0; i < 2; i++) {
        const char *const replies[] = {bad[i], NULL};
        talk t = {.replies = replies};
        bench b = {.model = says, .model_user = &t};
        bench_open(&b, "graph: {settings: {faults_max: 2}}", NULL);
        bench_say(&b, "go");
        assert_int_equal(json_array_size(b.requests), 3);
        assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_FAILED);
        assert_non_null(strstr(pons_get_str(bench_event(&b, "error", 0), "content", ""),
                               "3 answers of the model in a row"));
        bench_check_messages(&b);
        bench_close(&b);
    }
    // A good answer between them begins the count anew.
    const char *const mixed[] = {
        bad[0], bad[1], CALLS("{'id':'1','name':'look','arguments':{'at':'x'}}"),
        bad[1], bad[0], SAYS("done"),
        NULL};
    talk t = {.replies = mixed};
    bench b = {.model = says, .model_user = &t};
    bench_open(&b, "graph: {settings: {faults_max: 2}}", NULL);
    bench_say(&b, "go");
    assert_string_equal(bench_last_message(&b, "assistant"), "done");
    bench_close(&b);
}

static void a_second_plan_has_its_refusal_as_a_result(void **state)
{
    (void)state;
    static const char *const replies[] = {
        CALLS("{'id':'p1','name':'plan_create','arguments':{'title':'one','steps':['a']}},"
              "{'id':'l','name':'look','arguments':{'at':'door'}},"
              "{'id':'p2','name':'plan_create','arguments':{'title':'two','steps':['b']}}"),
        SAYS("a is done"), SAYS("all is done"), NULL};
    talk t = {.replies = replies};
    bench b = {.model = says, .model_user = &t};
    bench_open(&b, "", NULL);
    bench_say(&b, "go");
    assert_string_equal(bench_last_message(&b, "assistant"), "all is done");
    assert_int_equal(bench_count(&b, "plan_created", NULL, NULL), 1);
    const pons_value *list = pons_agent_messages(b.a);
    size_t results = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *m = json_array_get(list, i);
        const char *id = pons_get_str(m, "tool_call_id", "");
        results += strcmp(pons_get_str(m, "role", ""), "tool") == 0;
        if (strcmp(id, "p2") == 0) {
            assert_non_null(strstr(pons_get_str(m, "content", ""), "one plan at a time"));
        }
    }
    assert_int_equal(results, 3);
    // A first one that is no plan does not make the second one it.
    bench_close(&b);
}

static void the_budget_of_calls_ends_with_a_summary(void **state)
{
    (void)state;
    static const char *const replies[] = {CALLS("{'id':'1','name':'look','arguments':{'at':'x'}}"),
                                          CALLS("{'id':'1','name':'look','arguments':{'at':'x'}}"),
                                          CALLS("{'id':'1','name':'look','arguments':{'at':'x'}}"),
                                          SAYS("I looked three times."), NULL};
    for (int killed = 0; killed < 2; killed++) {
        talk t = {.replies = replies};
        bench b = {.model = says, .model_user = &t};
        bench_open(&b, "graph: {settings: {model_calls: 3}}", NULL);
        if (killed) { // what a restart must not reset
            b.left = 6;
            bench_say(&b, "go");
            t.at = 1;
            bench_kill(&b);
            bench_agent(&b);
            bench_settle(&b);
        } else {
            bench_say(&b, "go");
        }
        const size_t n = json_array_size(b.requests);
        assert_string_equal(bench_last_message(&b, "assistant"), "I looked three times.");
        const pons_value *last = json_array_get(b.requests, n - 1);
        assert_string_equal(pons_get_str(last, "tool_choice", ""), "none");
        assert_non_null(strstr(last_of(&b, n - 1), "budget of 3 model calls"));
        assert_non_null(
            strstr(pons_get_str(bench_event(&b, "error", 0), "content", ""), "model_calls"));
        if (!killed) {
            assert_int_equal(n, 4);
        }
        bench_check_messages(&b);
        bench_say(&b, "go on"); // and the next turn has its own
        assert_string_equal(bench_last_message(&b, "assistant"), "I looked three times.");
        bench_close(&b);
    }
}

static void a_model_that_calls_on_ends_all_the_same(void **state)
{
    (void)state;
    static const char *const replies[] = {CALLS("{'id':'1','name':'look','arguments':{'at':'x'}}"),
                                          NULL};
    talk t = {.replies = replies};
    bench b = {.model = says, .model_user = &t};
    bench_open(&b, "graph: {settings: {model_calls: 3}}", NULL);
    bench_say(&b, "go");
    assert_int_equal(json_array_size(b.requests), 4);
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_FAILED);
    assert_int_equal(bench_starts(&b, "look"), 3);
    bench_check_messages(&b);
    bench_close(&b);
}

static void an_edited_call_is_in_the_conversation_as_it_ran(void **state)
{
    (void)state;
    static const char *const replies[] = {
        CALLS("{'id':'1','name':'erase','arguments':{'what':'disk'}},"
              "{'id':'2','name':'erase','arguments':{'what':'tape'}}"),
        SAYS("done"), NULL};
    talk t = {.replies = replies};
    bench b = {.model = says, .model_user = &t};
    bench_open(&b, "", NULL);
    bench_say(&b, "go");
    bench_answer(&b, "{'action':'edit','args':{'what':'cache'}}");
    bench_answer(&b, "{'action':'edit','args':{'what':'drum'}}");
    const pons_value *list = pons_get(json_array_get(b.requests, 1), "messages");
    const pons_value *calls = pons_get(json_array_get(list, 2), "tool_calls");
    assert_string_equal(pons_get_str(pons_get(json_array_get(calls, 0), "arguments"), "what", ""),
                        "cache");
    assert_string_equal(pons_get_str(pons_get(json_array_get(calls, 1), "arguments"), "what", ""),
                        "drum");
    assert_non_null(
        strstr(pons_get_str(json_array_get(list, 3), "content", ""), "A person changed"));
    assert_int_equal(json_array_size(list), 5);
    bench_close(&b);
}

static void a_long_output_keeps_its_end_and_says_what_is_missing(void **state)
{
    (void)state;
    static const char *const replies[] = {CALLS("{'id':'1','name':'tail','arguments':{}}"),
                                          SAYS("done"), NULL};
    talk t = {.replies = replies};
    bench b = {.model = says, .model_user = &t};
    bench_open(&b, "graph: {settings: {tool_output_max: 300}}", NULL);
    bench_say(&b, "go");
    const char *seen = bench_last_message(&b, "tool");
    assert_non_null(strstr(seen, "line 1\n"));
    assert_non_null(strstr(seen, "bytes are left out here"));
    assert_non_null(strstr(seen, "of 402 lines"));
    assert_string_equal(seen + strlen(seen) - strlen("[exit status 7]"), "[exit status 7]");
    assert_true(strlen(seen) < 420);
    bench_close(&b);
}

// A server that takes no more than so much, and does not say so beforehand.
static pons_value *complains(void *user, const pons_value *request)
{
    talk *t = user;
    return bytes_of(request) > t->too_long ? NULL : says(user, request);
}

static void too_long_a_conversation_is_asked_again_with_less(void **state)
{
    (void)state;
    static const char *const replies[] = {SAYS("yes"), NULL};
    talk t = {.replies = replies, .too_long = 6000};
    bench b = {.model = complains,
               .model_user = &t,
               .model_error = "HTTP 400: This model's maximum context length is 2048 tokens"};
    bench_open(&b, "graph: {middleware: []}", NULL);
    char words[1200];
    memset(words, 'w', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    for (int i = 0; i < 12; i++) {
        bench_say(&b, words);
        assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_SUCCEEDED);
    }
    assert_int_equal(json_array_size(pons_agent_messages(b.a)), 24); // the store has all of it
    assert_true(t.longest <= t.too_long);
    assert_int_equal(b.lists, 1); // it was asked what it takes, once
    // What can't be made shorter is an error, and an end.
    char *huge = malloc(20001);
    memset(huge, 'h', 20000);
    huge[20000] = '\0';
    bench_say(&b, huge);
    free(huge);
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_FAILED);
    bench_say(&b, "and now?"); // and the next turn goes on
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_SUCCEEDED);
    bench_close(&b);
}

// A model that calls, gets long results, plans, slips and answers, for three hundred turns.
typedef struct marathon {
    size_t requests, longest, compacted, window;
} marathon;

static pons_value *runs_on(void *user, const pons_value *request)
{
    marathon *m = user;
    const pons_value *list = pons_get(request, "messages");
    const size_t n = json_array_size(list), bytes = bytes_of(request);
    const pons_value *last = json_array_get(list, n - 1);
    const char *said = pons_get_str(last, "content", "");
    check_request(request);
    m->requests++;
    m->longest = bytes > m->longest ? bytes : m->longest;
    if (strcmp(said, "Now write the notes.") == 0) {
        m->compacted++;
        return json(SAYS("The user counts, and looks at doors."));
    }
    if (strcmp(pons_get_str(last, "role", ""), "tool") == 0) {
        return json(SAYS("There it is."));
    }
    switch (m->requests % 5) {
    case 0:
        return json(CALLS(
            "{'id':'a','name':'big','arguments':{}},{'id':'b','name':'tail','arguments':{}}"));
    case 1:
        return json(CALLS("{'id':'a','name':'write','arguments':{'text':'note'}}"));
    case 2:
        return json(CALLS("{'id':'a','name':'nothing','arguments':{}}"));
    case 3:
        return json("{'content':null,'tool_calls':[]}");
    default:
        return json(SAYS("So it is, and there is much to be said about it, as there always was."));
    }
}

static void three_hundred_turns_never_end_by_themselves(void **state)
{
    (void)state;
    marathon m = {.window = 4000};
    bench b = {.model = runs_on, .model_user = &m};
    bench_open(&b, "graph: {settings: {context_tokens: 4000}}", NULL);
    for (int i = 0; i < 300; i++) {
        char words[64];
        snprintf(words, sizeof words, "turn %d: and what is behind the next door?", i);
        if (i % 50 == 49) { // dies somewhere in the turn, and goes on
            b.left = 4;
            bench_say(&b, words);
            bench_kill(&b);
            bench_agent(&b);
            bench_settle(&b);
        } else {
            bench_say(&b, words);
        }
        if (bench_state(&b) != PONS_AGENT_IDLE ||
            (pons_agent_outcome_get(b.a) != PONS_AGENT_SUCCEEDED &&
             pons_agent_outcome_get(b.a) != PONS_AGENT_NONE)) {
            fail_msg("turn %d: %s", i, pons_get_str(bench_event(&b, "error", 0), "content", "?"));
        }
        json_array_clear(b.requests);
        json_array_clear(b.events);
    }
    assert_true(m.compacted >= 2);
    assert_true(m.longest < 4000 * 4); // three bytes to a token, and the JSON around the texts
    bench_check_messages(&b);
    pons_autovalue budget = pons_agent_budget(b.a);
    assert_int_equal(pons_get_int(budget, "context_tokens", 0), 4000);
    assert_in_range(pons_get_int(budget, "conversation_tokens", 0), 1, 4000);
    print_message("300 turns: %zu requests, the longest of %zu bytes, %zu times summed up\n",
                  m.requests, m.longest, m.compacted);
    bench_close(&b);
}

static void a_person_can_have_it_summed_up(void **state)
{
    (void)state;
    static const char *const replies[] = {SAYS("one"), SAYS("two"), SAYS("They said one and two."),
                                          SAYS("three"), NULL};
    talk t = {.replies = replies};
    bench b = {.model = says, .model_user = &t};
    bench_open(&b, "", NULL);
    assert_int_equal(pons_agent_compact(b.a, &b.err), PONS_ENOTFOUND);
    bench_say(&b, "first");
    bench_say(&b, "second");
    b.left = 1; // killed before the end: as if it had not been asked for
    pons_agent_compact(b.a, &b.err);
    bench_settle(&b);
    bench_kill(&b);
    bench_agent(&b);
    t.at = 2;
    bench_settle(&b);
    if (json_array_size(pons_agent_messages(b.a)) == 4) {
        t.at = 2;
        assert_int_equal(pons_agent_compact(b.a, &b.err), PONS_OK);
        bench_settle(&b);
    }
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    const pons_value *list = pons_agent_messages(b.a);
    assert_int_equal(json_array_size(list), 2);
    assert_non_null(
        strstr(pons_get_str(json_array_get(list, 0), "content", ""), "They said one and two."));
    bench_say(&b, "third");
    const pons_value *asked =
        pons_get(json_array_get(b.requests, json_array_size(b.requests) - 1), "messages");
    assert_int_equal(json_array_size(asked), 4); // system, notes, "Noted.", the words
    assert_string_equal(bench_last_message(&b, "assistant"), "three");
    bench_close(&b);
}

static void notes_that_fail_are_a_digest(void **state)
{
    (void)state;
    static const char *const replies[] = {SAYS("one"), "{'content':null,'tool_calls':[]}", NULL};
    talk t = {.replies = replies};
    bench b = {.model = says, .model_user = &t};
    bench_open(&b, "", NULL);
    bench_say(&b, "the first words");
    assert_int_equal(pons_agent_compact(b.a, &b.err), PONS_OK);
    bench_settle(&b);
    assert_non_null(strstr(pons_get_str(json_array_get(pons_agent_messages(b.a), 0), "content", ""),
                           "user: the first words"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faulty_answer_goes_back_to_the_model),
        cmocka_unit_test(so_many_faulty_answers_in_a_row_end_the_turn),
        cmocka_unit_test(a_second_plan_has_its_refusal_as_a_result),
        cmocka_unit_test(the_budget_of_calls_ends_with_a_summary),
        cmocka_unit_test(a_model_that_calls_on_ends_all_the_same),
        cmocka_unit_test(an_edited_call_is_in_the_conversation_as_it_ran),
        cmocka_unit_test(a_long_output_keeps_its_end_and_says_what_is_missing),
        cmocka_unit_test(too_long_a_conversation_is_asked_again_with_less),
        cmocka_unit_test(three_hundred_turns_never_end_by_themselves),
        cmocka_unit_test(a_person_can_have_it_summed_up),
        cmocka_unit_test(notes_that_fail_are_a_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
