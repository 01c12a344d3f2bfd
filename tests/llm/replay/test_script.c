// The scripted model: which reply a request gets, when its pieces come by the injected clock, and
// what is wrong with a script, with the place in the file.
#include "llm/llm_fixture.h"
#include "pons/llm.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pons_clock_manual manual;
static uint64_t calls;

static void *open_script(const char *replies)
{
    char text[4000];
    snprintf(text, sizeof text, "{\"replies\":%s}", replies);
    pons_autovalue config = fixture_json(text);
    pons_clock clock = pons_clock_from_manual(&manual);
    pons_error err = PONS_ERROR_INIT;
    void *self;
    if (pons_llm_script.open(config, &clock, &self, &err) != PONS_OK) {
        fixture_fail(&err, replies);
    }
    return self;
}

static uint64_t start(void *self, const char *observation)
{
    pons_autovalue request =
        pons_object("messages", json_array(), "observation", fixture_json(observation), NULL);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_llm_script.start(self, ++calls, request, &err), PONS_OK);
    return calls;
}

// Everything that is there now: "a+b=whole" for tokens and the end, "!message" for an error.
static void take_all(void *self, char *out, size_t cap)
{
    pons_llm_event ev;
    out[0] = '\0';
    while (pons_llm_script.next(self, &ev)) {
        size_t n = strlen(out);
        if (ev.kind == PONS_LLM_TOKEN) {
            snprintf(out + n, cap - n, "%s+", ev.text);
        } else if (ev.kind == PONS_LLM_DONE) {
            snprintf(out + n, cap - n, "=%s", pons_get_str(ev.value, "content", "?"));
            assert_string_equal(pons_get_str(ev.value, "finish_reason", ""), "stop");
        } else {
            snprintf(out + n, cap - n, "!%s", ev.error.message);
        }
        pons_llm_event_clear(&ev);
    }
}

// A request of an agent: tools, messages, no observation. Gives its end; *ret_shown gets what was
// shown before it.
static pons_llm_event ask(void *self, const char *last_role, char *ret_shown, size_t cap)
{
    pons_autovalue request =
        fixture_json("{\"messages\":[{\"role\":\"system\",\"content\":\"You make a summary.\"}],"
                     "\"tools\":[{\"name\":\"fs.read\",\"parameters\":{}},"
                     "{\"name\":\"look\",\"parameters\":{}}]}");
    json_array_append_new((pons_value *)pons_get(request, "messages"),
                          pons_object("role", json_string(last_role), NULL));
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_llm_script.start(self, ++calls, request, &err), PONS_OK);
    pons_llm_event ev;
    ret_shown[0] = '\0';
    while (pons_llm_script.next(self, &ev)) {
        size_t n = strlen(ret_shown);
        if (ev.kind == PONS_LLM_DONE || ev.kind == PONS_LLM_ERROR) {
            return ev;
        }
        snprintf(ret_shown + n, cap - n, "%s%s|", ev.kind == PONS_LLM_REASONING ? "?" : "",
                 ev.text);
        pons_llm_event_clear(&ev);
    }
    fail();
    return ev;
}

static void test_tool_calls(void **state)
{
    (void)state;
    char shown[200];
    void *s = open_script(
        "[{\"when\":{\"messages.-1.role\":\"tool\","
        "\"messages.0.content\":{\"contains\":\"summary\"}},\"content\":\"so\",\"tokens\":1,"
        "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}},"
        "{\"when\":{\"messages.-1.role\":\"tool\"},\"content\":\"unreached\"},"
        "{\"reasoning\":\"hm\",\"content\":\"wait\",\"tokens\":2,\"tool_calls\":["
        "{\"name\":\"fs.read\",\"arguments\":{\"path\":\"a\"}},{\"name\":\"look\",\"id\":\"x\"}]},"
        "{\"tool_calls\":[{\"name\":\"rm\"}]},"
        "{\"refusal\":\"no\"}]");
    pons_llm_event ev = ask(s, "user", shown, sizeof shown);
    assert_string_equal(shown, "?hm|wa|it|");
    pons_autovalue expected =
        fixture_json("{\"content\":\"wait\",\"reasoning\":\"hm\",\"finish_reason\":\"tool_calls\","
                     "\"tool_calls\":["
                     "{\"id\":\"call_1_0\",\"name\":\"fs.read\",\"arguments\":{\"path\":\"a\"}},"
                     "{\"id\":\"x\",\"name\":\"look\",\"arguments\":{}}]}");
    json_object_set_new(json_array_get(pons_get(expected, "tool_calls"), 0), "id",
                        json_sprintf("call_%llu_0", (unsigned long long)calls));
    assert_true(json_equal(ev.value, expected));
    pons_llm_event_clear(&ev);
    ev = ask(s, "tool", shown, sizeof shown);
    assert_string_equal(shown, "so|");
    assert_string_equal(pons_get_str(ev.value, "finish_reason", ""), "stop");
    assert_int_equal(json_array_size(pons_get(ev.value, "tool_calls")), 0);
    assert_int_equal(pons_get_int(pons_get(ev.value, "usage"), "prompt_tokens", 0), 7);
    pons_llm_event_clear(&ev);
    ev = ask(s, "user", shown, sizeof shown); // what was not offered is an error, as on the wire
    assert_int_equal(ev.kind, PONS_LLM_ERROR);
    assert_string_equal(ev.error.message, "the model called a tool that was not offered: rm");
    pons_llm_event_clear(&ev);
    ev = ask(s, "user", shown, sizeof shown);
    assert_true(json_is_null(pons_get(ev.value, "content")));
    assert_string_equal(pons_get_str(ev.value, "refusal", ""), "no");
    pons_llm_event_clear(&ev);
    pons_llm_script.close(s);
}

static void expect(void *self, const char *observation, const char *events)
{
    char out[1000];
    start(self, observation);
    take_all(self, out, sizeof out);
    assert_string_equal(out, events);
}

static void test_order_and_when(void **state)
{
    (void)state;
    void *s = open_script("[{\"content\":\"one\",\"tokens\":1},"
                          "{\"when\":{\"last_result.status\":\"failed\",\"failures\":2},"
                          "\"content\":\"failed\",\"tokens\":1,\"repeat\":true},"
                          "{\"when\":{\"task.goals.0.zone\":\"kitchen\",\"human\":null},"
                          "\"content\":\"kitchen\",\"tokens\":1},"
                          "{\"decision\":{\"type\":\"FINISH\",\"reason\":\"r\"},\"tokens\":0},"
                          "{\"error\":{\"status\":503,\"message\":\"overloaded\"}},"
                          "{\"error\":{\"message\":\"gone\"}},"
                          "{\"content\":\"\"}]");
    const char *failed = "{\"last_result\":{\"status\":\"failed\"},\"failures\":2.0}";
    const char *kitchen = "{\"task\":{\"goals\":[{\"zone\":\"kitchen\"}]},\"failures\":1}";
    expect(s, "{}", "one+=one");
    expect(s, failed, "failed+=failed");
    expect(s, failed, "failed+=failed");
    expect(s, kitchen, "kitchen+=kitchen");
    expect(s, kitchen, "={\"type\":\"FINISH\",\"reason\":\"r\"}");
    expect(s, "{}", "!HTTP 503: overloaded");
    expect(s, "null", "!gone");
    expect(s, "{}", "=");
    expect(s, "{}", "!the script has no reply left for this request");
    pons_llm_script.close(s);
    pons_llm_script.close(NULL);
}

static void test_time(void **state)
{
    (void)state;
    char out[200];
    void *s = open_script("[{\"content\":\"你好，世界\",\"delay_ms\":100,\"tokens\":4},"
                          "{\"content\":\"abcd\",\"delay_ms\":100,\"tokens\":[\"ab\",\"x\"]},"
                          "{\"content\":\"never\",\"delay_ms\":100}]");
    assert_int_equal(pons_llm_script.event_fd(s), -1);
    start(s, "{}");
    take_all(s, out, sizeof out);
    assert_string_equal(out, "");
    manual.now_ns += 20 * PONS_NS_PER_MS;
    take_all(s, out, sizeof out);
    assert_string_equal(out, "你+"); // a piece holds whole characters
    manual.now_ns += 79 * PONS_NS_PER_MS;
    take_all(s, out, sizeof out);
    assert_string_equal(out, "好，+世+界+");
    manual.now_ns += 1 * PONS_NS_PER_MS;
    take_all(s, out, sizeof out);
    assert_string_equal(out, "=你好，世界");
    // Cancelled in the middle, with another call beside it.
    uint64_t second = start(s, "{}");
    start(s, "{}");
    manual.now_ns += 50 * PONS_NS_PER_MS;
    pons_llm_script.cancel(s, second);
    manual.now_ns += 50 * PONS_NS_PER_MS;
    take_all(s, out, sizeof out);
    assert_string_equal(out, "n+e+v+er+=never");
    start(s, "{}"); // what is left at close is freed
    pons_llm_script.close(s);
}

static void test_bad_scripts(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *message, *position; // position: ":line:col"
    } bad[] = {
        {"replies: 7\n", "expected a list of replies", ":1:"},
        {"replies:\n  - content: a\n    decision: {}\n", "/replies/0: expected exactly one of",
         ":2:"},
        {"replies:\n  - delay_ms: 5\n", "/replies/0: expected exactly one of", ":2:"},
        {"- content: a\n- contents: b\n", "/1/contents: unknown key", ":2:"},
        {"replies:\n  - content: 7\n", "/replies/0/content: expected a string", ":2:"},
        {"replies:\n  - error: oh\n", "/replies/0/error: expected {status, message}", ":2:"},
        {"replies:\n  - content: a\n    delay_ms: -1\n", "/replies/0/delay_ms", ":3:"},
        {"replies:\n  - content: a\n    tokens: many\n", "/replies/0/tokens", ":3:"},
        {"replies:\n  - content: a\n    when: [x]\n", "/replies/0/when: expected a mapping", ":3:"},
        {"replies:\n  - tool_calls: []\n", "/replies/0/tool_calls", ":2:"},
        {"replies:\n  - tool_calls: [{arguments: {}}]\n", "/replies/0/tool_calls", ":2:"},
        {"replies:\n  - tool_calls: [{name: a, arguments: 7}]\n", "/replies/0/tool_calls", ":2:"},
        {"replies:\n  - refusal: no\n    tool_calls: [{name: a}]\n", "/replies/0: expected", ":2:"},
        {"replies:\n  - content: a\n    reasoning: 7\n", "/replies/0/reasoning", ":3:"},
        {"replies:\n  - content: a\n    usage: 7\n", "/replies/0/usage", ":3:"},
        {"replies:\n  - {\n", "", ""},
    };
    char dir[] = "/tmp/pons-script-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/s.yaml", dir);
    pons_autovalue config = pons_object("path", json_string(path), NULL);
    pons_clock clock = pons_clock_from_manual(&manual);
    void *self = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_llm_script.open(config, &clock, &self, &err), PONS_ENOTFOUND);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(bad[i].yaml, f);
        fclose(f);
        err = (pons_error)PONS_ERROR_INIT;
        assert_int_equal(pons_llm_script.open(config, &clock, &self, &err), PONS_EINVAL);
        if (!strstr(err.message, bad[i].message) || !strstr(err.source, bad[i].position)) {
            print_error("%s  gave %s [%s]\n", bad[i].yaml, err.message, err.source);
            fail();
        }
        assert_null(self);
    }
    FILE *f = fopen(path, "w");
    fputs("replies:\n  - decision: {type: FINISH, reason: done}\n", f);
    fclose(f);
    err = (pons_error)PONS_ERROR_INIT;
    assert_int_equal(pons_llm_script.open(config, &clock, &self, &err), PONS_OK);
    pons_llm_script.close(self);
    unlink(path);
    rmdir(dir);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_when), cmocka_unit_test(test_time),
        cmocka_unit_test(test_tool_calls), cmocka_unit_test(test_bad_scripts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
