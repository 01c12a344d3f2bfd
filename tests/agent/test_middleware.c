// test_middleware.c - what stands around model and tool calls: the order, what each may do, and the
// four that come with pons.
#include "agent_bench.h"
#include "pons/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ring { // notes its own name on the way in and on the way out
    const char *name;
    char *log;
    size_t cap;
} ring;

static void note(ring *r, const char *way, const pons_agent_call *call)
{
    const size_t n = strlen(r->log);
    snprintf(r->log + n, r->cap - n, "%s%s:%s:%s", n ? " " : "", way, r->name,
             call->model ? "model" : call->name);
}

static int ring_before(void *user, const pons_agent_call *call, pons_value **request,
                       int64_t *ret_wait_ms, pons_error *err)
{
    (void)request;
    (void)ret_wait_ms;
    (void)err;
    note(user, "in", call);
    return PONS_OK;
}

static void ring_after(void *user, const pons_agent_call *call, pons_value **answer)
{
    (void)answer;
    note(user, "out", call);
}

static void they_stand_around_calls_in_order(void **state)
{
    (void)state;
    char log[1024] = "";
    ring a = {"a", log, sizeof log}, c = {"b", log, sizeof log};
    bench b = {.n_middleware = 2};
    b.middleware[0] = (pons_agent_middleware){
        .name = "a", .before = ring_before, .after = ring_after, .user = &a};
    b.middleware[1] = (pons_agent_middleware){
        .name = "b", .before = ring_before, .after = ring_after, .user = &c};
    bench_open(&b, "", "- tool_calls: [{name: write, arguments: {text: x}}]\n- content: done");
    bench_say(&b, "go");
    assert_string_equal(log, "in:a:model in:b:model out:b:model out:a:model "
                             "in:a:write in:b:write out:b:write out:a:write "
                             "in:a:model in:b:model out:b:model out:a:model");
    bench_close(&b);
}

static int change_args(void *user, const pons_agent_call *call, pons_value **request,
                       int64_t *ret_wait_ms, pons_error *err)
{
    (void)ret_wait_ms;
    if (!call->model && strcmp(call->name, "write") == 0) {
        pons_value_unref(*request);
        *request = json("{'text':'changed'}");
    } else if (!call->model && user) {
        return pons_error_set(err, PONS_EREFUSED, "policy", "not on Sundays");
    }
    return PONS_OK;
}

static void change_answer(void *user, const pons_agent_call *call, pons_value **answer)
{
    (void)user;
    if (!call->model) {
        pons_value *next = json_copy(*answer);
        json_object_set_new(next, "output", json_string("seen by nobody"));
        pons_value_unref(*answer);
        *answer = next;
    }
}

static void they_change_and_refuse_calls(void **state)
{
    (void)state;
    bench b = {.n_middleware = 1};
    b.middleware[0] = (pons_agent_middleware){.name = "change", .before = change_args, .user = &b};
    bench_open(&b, "",
               "- tool_calls: [{name: write, arguments: {text: x}}, {name: look, arguments: {at: "
               "y}}]\n- content: done");
    bench_say(&b, "go");
    assert_string_equal(
        pons_get_str(pons_get(json_array_get(b.world.calls, 0), "args"), "text", ""), "changed");
    assert_int_equal(bench_starts(&b, "look"), 0);
    assert_non_null(strstr(bench_last_message(&b, "tool"), "not on Sundays"));
    bench_close(&b);

    bench d = {.n_middleware = 1};
    d.middleware[0] = (pons_agent_middleware){.name = "change", .after = change_answer};
    bench_open(&d, "", "- tool_calls: [{name: look, arguments: {at: x}}]\n- content: done");
    bench_say(&d, "go");
    assert_string_equal(bench_last_message(&d, "tool"), "seen by nobody");
    bench_close(&d);
}

static void calls_wait_for_their_turn(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {middleware: [{rate_limit: {per_minute: 2}}]}",
               "- {content: yes, repeat: true}");
    bench_say(&b, "one");
    bench_say(&b, "two");
    bench_say(&b, "three");
    assert_int_equal(bench_state(&b), PONS_AGENT_WORKING);
    assert_true(pons_agent_next_due_ns(b.a) == 60 * PONS_NS_PER_S);
    bench_advance(&b, 59);
    assert_int_equal(bench_count(&b, "done", NULL, NULL), 2);
    bench_advance(&b, 1.1);
    assert_int_equal(bench_count(&b, "done", NULL, NULL), 3);
    bench_close(&b);
}

static pons_value *sees_secrets(void *user, const pons_value *request)
{
    char *text = NULL;
    assert_true(pons_value_dump(request, &text) >= 0);
    *(bool *)user =
        *(bool *)user || strstr(text, "sk-abcdefghijklmnop1234") || strstr(text, "hunter2-rose");
    free(text);
    const size_t n = json_array_size(pons_get(request, "messages"));
    const pons_value *last = json_array_get(pons_get(request, "messages"), n - 1);
    return strcmp(pons_get_str(last, "role", ""), "tool") == 0
               ? json("{'content':'ok','tool_calls':[]}")
               : json("{'content':null,'tool_calls':[{'id':'1','name':'write','arguments':{'text':"
                      "'sk-abcdefghijklmnop1234 and hunter2-rose'}}],'extra':{'from':'m','message':"
                      "{'signature':'sk-zyxwvutsrqponmlk9876'}}}");
}

// The tool gets what it needs; the model, the events and the store do not.
static void secrets_stay_where_they_are(void **state)
{
    (void)state;
    bool seen = false;
    bench b = {.model = sees_secrets, .model_user = &seen};
    bench_open(&b, "graph: {middleware: [{redact: {patterns: ['hunter[0-9]-[a-z]+']}}]}", NULL);
    bench_say(&b, "my key is sk-abcdefghijklmnop1234, use it");
    assert_string_equal(bench_last_message(&b, "assistant"), "ok");
    assert_string_equal(
        pons_get_str(pons_get(json_array_get(b.world.calls, 0), "args"), "text", ""),
        "sk-abcdefghijklmnop1234 and hunter2-rose");
    char *events = NULL;
    assert_true(pons_value_dump(b.events, &events) >= 0);
    assert_null(strstr(events, "sk-abc"));
    assert_null(strstr(events, "hunter2"));
    assert_non_null(strstr(events, "[redacted] and [redacted]"));
    free(events);
    assert_string_equal(bench_last_message(&b, "tool"), "write [redacted] and [redacted]");
    // What came beside its words goes back as it came.
    const pons_value *sent = pons_get(json_array_get(b.requests, 1), "messages");
    const pons_value *said = json_array_get(sent, json_array_size(sent) - 2);
    assert_string_equal(pons_get_str(pons_get(pons_get(said, "extra"), "message"), "signature", ""),
                        "sk-zyxwvutsrqponmlk9876");
    assert_false(seen); // though the user's own words, which are kept, had one
    bench_close(&b);
}

static void debug_and_timing_change_nothing(void **state)
{
    (void)state;
    bench b = {0};
    bench_open(&b, "graph: {middleware: [debug, timing]}",
               "- tool_calls: [{name: write, arguments: {text: x}}]\n- content: done");
    bench_say(&b, "go");
    assert_string_equal(bench_last_message(&b, "assistant"), "done");
    bench_close(&b);
}

static char *redact(const char *pattern, const char *text)
{
    pons_agent_middleware m = {0};
    pons_clock_manual time = {0};
    const pons_clock clock = pons_clock_from_manual(&time);
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue options = json_pack("{s[s]}", "patterns", pattern);
    assert_int_equal(pons_agent_middleware_open("redact", options, &clock, &m, &err), PONS_OK);
    char *shown = m.shown(m.user, text);
    m.close(m.user);
    return shown;
}

// A pattern that backtracks for ever, and texts that once took all of the stack.
static void redaction_is_bounded_and_hides_what_it_cannot_search(void **state)
{
    (void)state;
    enum { LONG = 1 << 16 };
    char *text = malloc(LONG + 1);
    memset(text, 'a', LONG);
    text[LONG] = '\0';
    char *shown = redact("(a+)+b", text);
    assert_non_null(strstr(shown, "could not be searched"));
    free(shown);
    shown = redact("(x|y|z)*Q", text); // nothing to find, in time
    assert_true(!shown || strstr(shown, "could not be searched"));
    free(shown);
    // More matches than anybody counts: none is left.
    for (size_t i = 0; i < LONG; i++) {
        text[i] = i % 2 ? ' ' : 's';
    }
    shown = redact("s", text);
    assert_non_null(shown);
    assert_null(strstr(shown, " s "));
    free(shown);
    free(text);
    shown = redact("x*", "abc"); // an empty match hides nothing
    assert_null(shown);
    shown = redact("钥匙[0-9]+", "on 钥匙42 off é 钥匙7");
    assert_string_equal(shown, "on [redacted] off é [redacted]");
    free(shown);
    shown = redact("k[0-9]+", "\xff k7"); // no text: nobody can look through it
    assert_non_null(strstr(shown, "could not be searched"));
    free(shown);
}

// What people are shown: keys behind telling names, wherever those stand; and words that only sound so stay.
static void what_is_shown_to_people(void **state)
{
    (void)state;
    static const char *const hidden[] = {
        "tool --token Zu7kkqPPw1 run",
        "tool --api-key 'Zu7kkqPPw1'",
        "tool --password=Zu7kkqPPw1",
        "[\"--token\", \"Zu7kkqPPw1\"]",
        "curl -u me:Zu7kkqPPw1 http://x/",
        "curl -H 'Authorization: Basic bWU6Zu7kkqPPw1=='",
        "{\"Authorization\": \"Basic Zu7kkqPPw1==\"}",
        "{\\\"authorization\\\":\\\"Digest Zu7kkqPPw1\\\"}",
        "{\"apiKey\":\"Zu7kkqPPw1\"}",
        "{\"accessToken\": \"Zu7kkqPPw1\"}",
        "{\"clientSecret\":\"Zu7kkqPPw1\"}",
        "privateKey=Zu7kkqPPw1",
        "signingKey: Zu7kkqPPw1",
        "X-Api-Key: Zu7kkqPPw1",
        "token: Zu7kkqPPw1",
        "token: Zukkqpwrtzuiopasdfgh",
        "my password: Zu7kkqPPw1",
        "https://me:Zu7kkqPPw1@host/path",
        "postgres://me:Zu7kkqPPw1@/db",
        "密码是Zu7kkqPPw1",
        "密码：Zu7kkqPPw1",
        "Bearer Zu7kkqPPw1Zu7kkqPPw1",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIkkq\nkkqPP==\n-----END RSA PRIVATE KEY-----\nand on",
        "-----BEGIN PRIVATE KEY-----\nMIIkkqPP",
        "use AIzaSyA1kkqPPw1Zu7kkqPPw1Zu7kkqPPw1Zu7k",
        "glpat-Zu7kkqPPw1Zu7kkqPPw1",
        "hf_Zu7kkqPPwZuZukkqPPwZuZukkqPPwZuZuZ",
        "npm_Zu7kkqPPw1Zu7kkqPPw1Zu7kkqPPw1Zu7kPw",
        "github_pat_11ABCDE7kkqPPw1Zu7kkq_PPw1Zu7kkqPPw1",
        "my password is Zu7kkqPPw1",
        "password=swordkkqfish",
        "{\"key\": \"Zu7kkqPPw1\"}",
        "key=Zukkqpwrtzuiopasdfgh",
        "Authorization: Basic kkqPPwXx",
        "Authorization: Custom Zu7kkqPPw1",
        "{\"said\":\"it is\\nsk-kkqabcdefghijklmnopq\"}",
        "?a=%3Dsk-kkqabcdefghijklmnopq",
    };
    static const char *const shown[] = {
        "bring the token to the kitchen",
        "put the token: blue or red, on the table",
        "the key: kitchen first",
        "go to the secret garden",
        "a basic understanding of tokens",
        "monkey: banana",
        "turnkey=banana",
        "--tokens 4000 --key-file key.pem",
        "--token-env NAME --keyboard qwerty",
        "docker run --user 1000:1000 image",
        "http://127.0.0.1:8080/a@b",
        "say that the password is lost",
        "the secret: ingredient is salt",
        "say password: please",
        "bring the key:room12 to bob",
        "密码箱在厨房",
        "去拿令牌",
        "12:30 --- 14:00",
        "{\"key\": \"kitchen\", \"value\": {\"likes\": \"tea\"}}",
        "sorted by key=created_at",
        "key=value pairs go into config/robot.yaml",
        "please bring the key: it is on the table",
        "what is the password: I forgot it again",
        "authorization: needs approval first",
        "{\"max_tokens\": 16384000, \"total_tokens\":123456789}",
        "next_token = 5, token count: 12345678",
        "do a risk-assessment-of-the-kitchen-floor",
        "go to desk-kitchen-left-window-side-2",
        "{\"task\":\"\\ntask-navigate-to-the-kitchen\"}",
        "hotkey: Ctrl+Shift+F12",
        "ssh://git@github.com:22/x",
        "bearer of bad news: the battery is at 12 %",
        "the meeting's passphrase is open sesame",
        "密码是必填的",
        "令牌：三枚，放在桌上",
        "口令为开门，密码是8位数",
        "他的密码是生日，密钥在抽屉里",
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        char *text = pons_redacted(hidden[i]);
        if (strstr(text, "kkq") || !strstr(text, "[redacted]")) {
            fail_msg("%s\n is shown as %s", hidden[i], text);
        }
        free(text);
    }
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        char *text = pons_redacted(shown[i]);
        assert_string_equal(text, shown[i]);
        free(text);
    }
}

static void a_pattern_that_is_none_is_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"{'patterns':['a)|(b']}", "{'patterns':['(']}",
                                      "{'patterns':[3]}", "{'patterns':'x'}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pons_autovalue options = json(bad[i]);
        pons_agent_middleware m = {0};
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons_agent_middleware_open("redact", options, NULL, &m, &err),
                         PONS_EINVAL);
        assert_non_null(strstr(err.message, "patterns"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redaction_is_bounded_and_hides_what_it_cannot_search),
        cmocka_unit_test(what_is_shown_to_people),
        cmocka_unit_test(a_pattern_that_is_none_is_named),
        cmocka_unit_test(they_stand_around_calls_in_order),
        cmocka_unit_test(they_change_and_refuse_calls),
        cmocka_unit_test(calls_wait_for_their_turn),
        cmocka_unit_test(secrets_stay_where_they_are),
        cmocka_unit_test(debug_and_timing_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
