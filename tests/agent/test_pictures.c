// test_pictures.c - pictures in a turn: messages and checkpoints name them and have nothing else of them; where the
// model's server is another machine, a person is asked before the first request that would have one, once a thread and
// server, and the request says whether they may go.
#include "agent_bench.h"

#include <stdio.h>
#include <string.h>

#define OWN   "1111111111111111111111111111111111111111111111111111111111111111"
#define THERE "models.example"

static const char *tool_at; // a look that the model wants first; NULL: none

static pons_value *answer(void *user, const pons_value *request)
{
    const pons_value *list = pons_get(request, "messages");
    const pons_value *last = json_array_get(list, json_array_size(list) - 1);
    if (tool_at && strcmp(pons_get_str(last, "role", ""), "user") == 0) {
        return json_pack("{sn s[{ss ss s{ss}}] ss}", "content", "tool_calls", "id", "c1", "name",
                         "look", "arguments", "at", tool_at, "finish_reason", "tool_calls");
    }
    return json("{'content':'I see.','tool_calls':[],'finish_reason':'stop'}");
}

static void open_bench(bench *b, const char *yaml, const char *to, const char *at)
{
    *b = (bench){.model = answer, .pictures_to = to};
    tool_at = at;
    bench_open(b, yaml, NULL);
}

static void say_with_picture(bench *b)
{
    pons_autovalue pictures =
        json_pack("[{ssssss}]", "sha256", OWN, "caption", "cup.jpg", "camera", "none");
    assert_int_equal(pons_agent_say_with_pictures(b->a, "what is it?", pictures, &b->err), PONS_OK);
    bench_settle(b);
}

static size_t requests(const bench *b)
{
    return json_array_size(b->requests);
}

// Whether the newest request names this picture in a message of this role, and lets it go.
static bool sent(const bench *b, const char *role, const char *name)
{
    const pons_value *r = json_array_get(b->requests, requests(b) - 1);
    bool named = false;
    pons_each(m, pons_get(r, "messages")) {
        const pons_value *p = json_array_get(pons_get(m, "pictures"), 0);
        named = named || (strcmp(pons_get_str(m, "role", ""), role) == 0 &&
                          strcmp(pons_get_str(p, "sha256", ""), name) == 0);
    }
    assert_true(named);
    return !b->pictures_to || pons_get_str(r, "pictures_allowed", NULL);
}

static const char *asked_about(const bench *b, size_t nth)
{
    return pons_get_str(bench_event(b, "approval_request", nth), "why", "");
}

static void a_picture_is_named_and_goes_where_nobody_is_asked(void **state)
{
    bench b;
    open_bench(&b, "", NULL, NULL);
    say_with_picture(&b);
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_true(sent(&b, "user", OWN));
    bench_say(&b, "and now?"); // the conversation has it still
    assert_true(sent(&b, "user", OWN));
    const pons_value *first = json_array_get(pons_agent_messages(b.a), 0);
    assert_string_equal(pons_get_str(json_array_get(pons_get(first, "pictures"), 0), "caption", ""),
                        "cup.jpg");
    assert_null(strstr(bench_types(&b, ""), "approval_request"));
    bench_close(&b);
}

static void a_person_is_asked_once_a_thread_and_server(void **state)
{
    bench b;
    open_bench(&b, "", THERE, NULL);
    bench_say(&b, "hello"); // no picture, no question
    assert_int_equal(requests(&b), 1);
    say_with_picture(&b);
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    assert_int_equal(requests(&b), 1); // nothing went before the answer
    assert_string_equal(asked_about(&b, 0), "pictures would leave this machine: cup.jpg");
    pons_autovalue questions = pons_agent_questions(b.a);
    const pons_value *q = json_array_get(questions, 0);
    assert_string_equal(pons_get_str(q, "tool", ""), "send_pictures");
    assert_string_equal(pons_get_str(pons_get(q, "input"), "server", ""), THERE);

    bench_kill(&b); // the question outlives the process
    bench_agent(&b);
    bench_settle(&b);
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    assert_int_equal(requests(&b), 1);
    bench_answer(&b, "{'action':'approve'}");
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_int_equal(requests(&b), 2);
    assert_true(sent(&b, "user", OWN));
    bench_check_messages(&b);

    bench_kill(&b);
    bench_agent(&b);
    say_with_picture(&b); // remembered
    assert_int_equal(requests(&b), 3);
    assert_true(sent(&b, "user", OWN));
    assert_int_equal(bench_count(&b, "approval_request", NULL, NULL), 1);

    bench_kill(&b);
    b.pictures_to = "elsewhere.example"; // of that server nothing was said
    bench_agent(&b);
    say_with_picture(&b);
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_answer(&b, "{'action':'reject','reason':'no'}");
    bench_kill(&b);
    b.pictures_to = THERE;
    bench_agent(&b);

    pons_autovalue allowed = NULL; // and it can be taken back
    assert_int_equal(pons_agent_allowed(b.store, "s1", &allowed, &b.err), PONS_OK);
    assert_int_equal(json_array_size(allowed), 1);
    const char *id = pons_get_str(json_array_get(allowed, 0), "id", "");
    assert_int_equal(pons_agent_revoke(b.store, "s1", id, &b.err), PONS_OK);
    say_with_picture(&b);
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    bench_close(&b);
}

static void without_a_yes_the_turn_goes_on_without_the_picture(void **state)
{
    static const char *const answers[] = {"{'action':'reject'}", NULL}; // NULL: nobody is there
    for (size_t i = 0; i < 2; i++) {
        bench b;
        open_bench(&b, "graph: {settings: {tool_approval_timeout_s: 30}}", THERE, "camera");
        say_with_picture(&b);
        assert_int_equal(requests(&b), 0);
        if (answers[i]) {
            bench_answer(&b, answers[i]);
        } else {
            bench_advance(&b, 31);
        }
        assert_int_equal(bench_state(&b),
                         PONS_AGENT_IDLE); // of the look's picture nobody is asked again
        assert_int_equal(requests(&b), 2);
        assert_false(sent(&b, "tool", BENCH_PICTURE));
        assert_int_equal(bench_count(&b, "approval_request", NULL, NULL), 1);
        assert_string_equal(bench_last_message(&b, "assistant"), "I see.");
        bench_check_messages(&b);
        bench_say(&b, "go on"); // nothing new to ask about
        assert_int_equal(bench_count(&b, "approval_request", NULL, NULL), 1 + (tool_at != NULL));
        bench_close(&b);
    }
}

static void a_tools_picture_is_asked_about_before_it_is_sent(void **state)
{
    bench b;
    open_bench(&b, "", THERE, "camera");
    bench_say(&b, "look around");
    assert_int_equal(bench_state(&b), PONS_AGENT_WAITING);
    assert_int_equal(requests(&b), 1); // before there was a picture
    assert_string_equal(asked_about(&b, 0), "pictures would leave this machine: camera front");
    bench_answer(&b, "{'action':'approve'}");
    assert_int_equal(requests(&b), 2);
    assert_true(sent(&b, "tool", BENCH_PICTURE));
    bench_check_messages(&b);
    bench_close(&b);
}

static void a_stop_at_the_question_ends_the_turn(void **state)
{
    bench b;
    open_bench(&b, "", THERE, NULL);
    say_with_picture(&b);
    assert_int_equal(pons_agent_stop(b.a, &b.err), PONS_OK);
    bench_settle(&b);
    assert_int_equal(pons_agent_outcome_get(b.a), PONS_AGENT_STOPPED);
    assert_int_equal(requests(&b), 0);
    bench_check_messages(&b);
    bench_close(&b);
}

// A hash looks like a key.
static void redact_leaves_the_names(void **state)
{
    bench b;
    open_bench(&b, "graph: {middleware: [{redact: {patterns: ['[0-9a-f]{20,}']}}]}", NULL,
               "camera");
    say_with_picture(&b);
    assert_true(sent(&b, "user", OWN));
    assert_true(sent(&b, "tool", BENCH_PICTURE));
    bench_close(&b);
}

static pons_value *wants_to_send(void *user, const pons_value *request)
{
    const pons_value *list = pons_get(request, "messages");
    const pons_value *last = json_array_get(list, json_array_size(list) - 1);
    return strcmp(pons_get_str(last, "role", ""), "tool") == 0
               ? json("{'content':'well','tool_calls':[],'finish_reason':'stop'}")
               : json("{'content':null,'tool_calls':[{'id':'c1','name':'send_pictures','arguments':"
                      "{'server':'" THERE "'}}],'finish_reason':'tool_calls'}");
}

static void a_model_cannot_ask_for_it(void **state)
{
    bench b = {.model = wants_to_send, .pictures_to = THERE};
    bench_open(&b, "", NULL);
    bench_say(&b, "go");
    assert_int_equal(bench_state(&b), PONS_AGENT_IDLE);
    assert_non_null(strstr(bench_last_message(&b, "tool"), "there is no tool send_pictures"));
    bench_close(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_is_named_and_goes_where_nobody_is_asked),
        cmocka_unit_test(a_person_is_asked_once_a_thread_and_server),
        cmocka_unit_test(without_a_yes_the_turn_goes_on_without_the_picture),
        cmocka_unit_test(a_tools_picture_is_asked_about_before_it_is_sent),
        cmocka_unit_test(a_stop_at_the_question_ends_the_turn),
        cmocka_unit_test(redact_leaves_the_names),
        cmocka_unit_test(a_model_cannot_ask_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
