// The OpenAI-compatible client against a server that answers exactly what the test wrote, well or
// badly: what is said on the wire, what comes back, what is tried again, and that every fault is
// one clear line without the key. Deadlines are small numbers in the configuration; what is
// asserted is what happened, never how long it took.
#include "llm/fake_server.h"
#include "llm/llm_fixture.h"
#include "pons/buf.h"
#include "pons/ext/llm.h"
#include "pons/module.h"
#include "unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEY         "sk-secret-0123456789"
#define HANG_MS     120000 // a test that waits so long has failed
#define FLOOD_BYTES ((size_t)100 * 1024 * 1024)
#define STREAM_HEAD                                                                                \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define STREAM_HEAD_99                                                                             \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n"
#define JSON_HEAD   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
#define TOKEN(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define END(why)                                                                                   \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" why "\"}]}\n\n"
#define USAGE "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n"
#define DONE  "data: [DONE]\n\n"
#define GOOD  STREAM_HEAD TOKEN("{\\\"a\\\":") TOKEN("1}") END("stop") USAGE DONE
#define STATUS(line, body)                                                                         \
    "HTTP/1.1 " line "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" body
#define BUSY STATUS("503 Service Unavailable", "{\"error\":{\"message\":\"overloaded\"}}")

static const pons_llm_ops *ops;

typedef struct answer {
    char tokens[4096];
    size_t n_tokens, n_thoughts;
    pons_value *value; // DONE
    pons_error error;  // ERROR
} answer;

typedef struct client {
    fake_server *server;
    void *self;
} client;

static const char quick[] = "{\"first_byte_s\":60,\"between_tokens_s\":60,\"backoff_s\":0.001,"
                            "\"retry_after_max_s\":0.01}";

static void *open_url(const char *url, const char *timeouts)
{
    pons_autovalue config =
        pons_object("url", json_string(url), "model", json_string("m1"), "api_key",
                    json_string(KEY), "timeouts", fixture_json(timeouts), NULL);
    pons_clock clock = pons_clock_real();
    pons_error err = PONS_ERROR_INIT;
    void *self = NULL;
    if (ops->open(config, &clock, &self, &err) != PONS_OK) {
        fixture_fail(&err, url);
    }
    return self;
}

static client open_client(const fake_step *steps, size_t n, const char *timeouts)
{
    client c = {.server = fake_server_start(steps, n)};
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", fake_server_port(c.server));
    c.self = open_url(url, timeouts);
    return c;
}

static void close_client(client *c)
{
    ops->close(c->self);
    fake_server_stop(c->server);
}

static pons_value *request(void)
{
    return fixture_json("{\"messages\":[{\"role\":\"user\",\"content\":\"你好\"}],"
                        "\"schema\":{\"type\":\"object\"},\"schema_name\":\"decision\","
                        "\"temperature\":0,\"max_tokens\":100}");
}

static void start_request(void *self, uint64_t call, pons_value *given)
{
    pons_autovalue r = given;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(ops->start(self, call, r, &err), PONS_OK);
}

static void start(void *self, uint64_t call)
{
    start_request(self, call, request());
}

// Takes the events of one call until its last.
static answer wait_answer(void *self, uint64_t call)
{
    answer a = {.tokens = ""};
    for (;;) {
        pons_llm_event ev;
        while (ops->next(self, &ev)) {
            assert_int_equal(ev.call, call);
            bool last = ev.kind == PONS_LLM_DONE || ev.kind == PONS_LLM_ERROR;
            if (ev.kind == PONS_LLM_REASONING) {
                a.n_thoughts++;
            } else if (!last) {
                if (strlen(a.tokens) + strlen(ev.text) < sizeof a.tokens) {
                    strcat(a.tokens, ev.text);
                }
                a.n_tokens++;
            }
            a.value = pons_value_ref(ev.value);
            a.error = ev.error;
            pons_llm_event_clear(&ev);
            if (last) {
                return a;
            }
        }
        struct pollfd p = {.fd = ops->event_fd(self), .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
    }
}

static answer ask(void *self)
{
    start(self, 1);
    return wait_answer(self, 1);
}

// One request against one script; the number of requests it took is checked.
static answer ask_steps(const fake_step *steps, size_t n, size_t requests)
{
    client c = open_client(steps, n, quick);
    answer a = ask(c.self);
    assert_int_equal(fake_server_requests(c.server), requests);
    close_client(&c);
    return a;
}

static answer ask_bytes(const char *bytes)
{
    const fake_step step = {.bytes = bytes};
    return ask_steps(&step, 1, 1);
}

static void expect_error(answer a, int status, const char *part)
{
    char line[1200];
    pons_error_line(&a.error, line, sizeof line);
    if (a.value || a.error.status != status || !strstr(line, part)) {
        print_error("expected status %d with \"%s\", got %d: %s\n", status, part, a.error.status,
                    line);
        fail();
    }
    assert_null(strstr(line, KEY));
    assert_null(strchr(line, '\n'));
    pons_value_unref(a.value);
}

static void expect_good(answer a, const char *content)
{
    if (!a.value) {
        char line[1200];
        print_error("%s\n", pons_error_line(&a.error, line, sizeof line));
    }
    assert_non_null(a.value);
    assert_string_equal(pons_get_str(a.value, "content", ""), content);
    assert_string_equal(pons_get_str(a.value, "finish_reason", ""), "stop");
    assert_string_equal(a.tokens, content);
    pons_value_unref(a.value);
}

// ---- what is said, and what comes back ----------------------------------------------------------

static void test_the_wire(void **state)
{
    (void)state;
    const fake_step step = {.bytes = GOOD};
    client c = open_client(&step, 1, quick);
    answer a = ask(c.self);
    assert_int_equal(a.n_tokens, 2);
    assert_int_equal(pons_get_int(pons_get(a.value, "usage"), "completion_tokens", 0), 2);
    expect_good(a, "{\"a\":1}");
    const char *head = fake_server_head(c.server, 0);
    assert_memory_equal(head, "POST /v1/chat/completions HTTP/1.1\r\n", 36);
    assert_non_null(strstr(head, "Authorization: Bearer " KEY "\r\n"));
    assert_non_null(strstr(head, "Content-Type: application/json\r\n"));
    pons_autovalue body = fixture_json(fake_server_body(c.server, 0));
    pons_autovalue expected = fixture_json(
        "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\",\"content\":\"你好\"}],"
        "\"stream\":true,\"stream_options\":{\"include_usage\":true},\"temperature\":0,"
        "\"max_tokens\":100,\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{"
        "\"name\":\"decision\",\"schema\":{\"type\":\"object\"},\"strict\":false}}}");
    assert_true(json_equal(body, expected));
    close_client(&c);
}

// A conversation with tools on the wire: the names with dots, the arguments as text, the list left
// out when it is empty, and keys that are not the wire's left out.
static void test_tools_on_the_wire(void **state)
{
    (void)state;
    const fake_step step = {
        .bytes = STREAM_HEAD
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\",\"tool_calls\":["
        "{\"index\":0,\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"fs_read\","
        "\"arguments\":\"{\\\"path\\\":\\\"b\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}"
        "\n\n" DONE};
    client c = open_client(&step, 1, quick);
    start_request(
        c.self, 1,
        fixture_json(
            "{\"messages\":[{\"role\":\"user\",\"content\":\"read\"},"
            "{\"role\":\"assistant\",\"content\":null,\"reasoning\":\"x\",\"tool_calls\":["
            "{\"id\":\"c1\",\"name\":\"fs.read\",\"arguments\":{\"path\":\"a\"}}]},"
            "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"text\"}],"
            "\"tools\":[{\"name\":\"fs.read\",\"description\":\"reads\",\"risk\":\"safe\","
            "\"parameters\":{\"type\":\"object\"}}],\"tool_choice\":{\"name\":\"fs.read\"}}"));
    answer a = wait_answer(c.self, 1);
    pons_autovalue got = a.value;
    pons_autovalue reply = fixture_json(
        "{\"content\":null,\"reasoning\":\"hm\",\"finish_reason\":\"tool_calls\",\"tool_calls\":["
        "{\"id\":\"c2\",\"name\":\"fs.read\",\"arguments\":{\"path\":\"b\"}}]}");
    json_object_del(got, "extra");
    assert_true(json_equal(got, reply));
    assert_int_equal(a.n_tokens, 0);
    assert_int_equal(a.n_thoughts, 1);
    pons_autovalue body = fixture_json(fake_server_body(c.server, 0));
    pons_autovalue expected = fixture_json(
        "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\",\"content\":\"read\"},"
        "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"fs_read\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}"
        "\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"text\"}],"
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"fs_read\",\"description\":"
        "\"reads\",\"parameters\":{\"type\":\"object\"}}}],\"tool_choice\":{\"type\":\"function\","
        "\"function\":{\"name\":\"fs_read\"}},\"stream\":true,"
        "\"stream_options\":{\"include_usage\":true}}");
    assert_true(json_equal(body, expected));
    // A request that cannot be asked is refused before anything is sent.
    static const char *const bad[] = {
        "{}", "{\"messages\":[{}]}", "{\"messages\":[],\"tools\":{}}",
        "{\"messages\":[],\"tools\":[{\"name\":\"a\"}]}",
        "{\"messages\":[],\"tools\":[{\"name\":\"a\",\"parameters\":{}},"
        "{\"name\":\"a\",\"parameters\":{}}]}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pons_autovalue q = fixture_json(bad[i]);
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(ops->start(c.self, 2, q, &err), PONS_EINVAL);
    }
    close_client(&c);
}

// What a model sent beside its words goes back to it, and to no other; an id that is too long for others
// likewise. Until the server refuses the field by its name: then it is asked without.
static void test_what_came_beside_goes_back(void **state)
{
    (void)state;
    char bytes[2048], id[301] = "";
    memset(id, 'i', sizeof id - 1);
    snprintf(
        bytes, sizeof bytes,
        STREAM_HEAD
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\",\"tool_calls\":["
        "{\"index\":0,\"id\":\"%s\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"},"
        "\"extra_content\":{\"google\":{\"thought_signature\":\"S\"}}}]},\"finish_reason\":"
        "\"stop\"}]}\n\n" DONE,
        id);
    static const char tools[] = "[{\"name\":\"a\",\"parameters\":{\"type\":\"object\"}}]";
    const fake_step steps[] = {
        {.bytes = bytes},
        {.bytes = STREAM_HEAD TOKEN("yes") END("stop") DONE},
        {.bytes = STREAM_HEAD TOKEN("yes") END("stop") DONE},
        {.bytes = STATUS(
             "400 Bad Request",
             "[{\"error\":{\"message\":\"Function call is missing a thought_signature\"}}]")},
        {.bytes = STATUS("400 Bad Request", "{\"error\":\"reasoning_content is missing\"}")},
        {.bytes = STATUS("400 Bad Request", "{\"error\":\"reasoning_content is missing\"}")},
        {.bytes = STATUS("400 Bad Request", "{\"error\":\"unknown field reasoning_content\"}")},
        {.bytes = STREAM_HEAD TOKEN("yes") END("stop") DONE}};
    client c = open_client(steps, 8, quick);
    start_request(c.self, 1,
                  pons_object("messages", json_array(), "tools", fixture_json(tools), NULL));
    answer a = wait_answer(c.self, 1);
    pons_autovalue reply = a.value;
    assert_non_null(reply);
    const pons_value *call = json_array_get(pons_get(reply, "tool_calls"), 0);
    assert_true(strlen(pons_get_str(call, "id", "")) < 64);
    for (uint64_t n = 2; n <= 5; n++) {
        pons_value *said = pons_object("role", json_string("assistant"), "content", json_null(),
                                       "tool_calls", pons_value_ref(pons_get(reply, "tool_calls")),
                                       "extra", pons_value_ref(pons_get(reply, "extra")), NULL);
        pons_value *reported =
            pons_object("role", json_string("tool"), "content", json_string("x"), "tool_call_id",
                        pons_value_ref(pons_get(call, "id")), NULL);
        start_request(c.self, n,
                      pons_object("messages", json_pack("[oo]", said, reported), "tools",
                                  fixture_json(tools), "model", n == 3 ? json_string("m2") : NULL,
                                  NULL));
        a = wait_answer(c.self, n);
        if (n ==
            4) { // which names them, but because they are missing: what lacks one gets an empty one
            expect_error(a, PONS_EIO, "HTTP 400: reasoning_content is missing");
            continue;
        }
        assert_non_null(a.value);
        pons_value_unref(a.value);
    }
    for (size_t i = 1; i < 8; i++) {
        const bool sent = i != 2 && i != 7; // to another model; after the refusal
        pons_autovalue body = fixture_json(fake_server_body(c.server, i));
        const pons_value *messages = pons_get(body, "messages"), *m = json_array_get(messages, 0);
        const pons_value *made = json_array_get(pons_get(m, "tool_calls"), 0);
        assert_string_equal(pons_get_str(m, "reasoning_content", "-"), sent    ? "hm"
                                                                       : i < 5 ? "-"
                                                                               : "");
        assert_string_equal(pons_get_str(pons_get(pons_get(made, "extra_content"), "google"),
                                         "thought_signature", "-"),
                            sent    ? "S"
                            : i < 4 ? "-"
                                    : "skip_thought_signature_validator");
        assert_string_equal(pons_get_str(made, "id", ""),
                            sent ? id : pons_get_str(call, "id", "none"));
        assert_string_equal(pons_get_str(json_array_get(messages, 1), "tool_call_id", ""),
                            pons_get_str(made, "id", ""));
        assert_null(pons_get(m, "extra"));
    }
    close_client(&c);
}

// Whatever follows the names of what a server does not take: tools whole, no choice of a tool.
static void test_tools_not_taken(void **state)
{
    (void)state;
    const fake_step steps[] = {
        {.bytes = STATUS("500 Internal Server Error",
                         "{\"error\":{\"message\":\"Cannot use tools with stream\"}}")},
        {.bytes = STATUS("400 Bad Request", "{\"error\":\"unknown field: tool_choice\"}")},
        {.bytes =
             JSON_HEAD "{\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[{\"id\":\"\","
                       "\"function\":{\"name\":\"a\",\"arguments\":\"\"}}]},"
                       "\"finish_reason\":\"tool_calls\"}]}"},
        {.bytes = STATUS("400 Bad Request", "{\"error\":\"m1 does not support tools\"}")}};
    client c = open_client(steps, 4, quick);
    for (uint64_t call = 1; call <= 2; call++) {
        start_request(c.self, call,
                      fixture_json("{\"messages\":[],\"tools\":[{\"name\":\"a\",\"parameters\":"
                                   "{\"type\":\"object\"}}],\"tool_choice\":\"required\"}"));
        answer a = wait_answer(c.self, call);
        if (call == 1) {
            assert_int_equal(json_array_size(pons_get(a.value, "tool_calls")), 1);
            pons_value_unref(a.value);
        } else {
            expect_error(a, PONS_EIO, "HTTP 400: m1 does not support tools");
        }
    }
    assert_int_equal(fake_server_requests(c.server), 4);
    pons_autovalue third = fixture_json(fake_server_body(c.server, 2));
    assert_true(json_is_false(pons_get(third, "stream")));
    assert_null(pons_get(third, "tool_choice"));
    pons_autovalue fourth = fixture_json(fake_server_body(c.server, 3));
    assert_true(json_equal(third, fourth));
    close_client(&c);
}

static void test_streams(void **state)
{
    (void)state;
    static const char *const good[] = {
        GOOD,
        STREAM_HEAD TOKEN("{\\\"a\\\":1}") END("stop"), // the connection's end for [DONE]
        STREAM_HEAD ": hi\r\n\r\ndata: {\"choices\":[{\"index\":0,\r\ndata: \"delta\":{\"content\":"
                    "\"{\\\"a\\\":1}\"},\r\ndata: \"finish_reason\":\"stop\"}]}\r\n\r\ndata: "
                    "[DONE]\r\n\r\n",
        STREAM_HEAD
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":"
        "null}}]}\n\nevent: ping\ndata: {}\n\n" TOKEN("{\\\"a\\\":1}") END("stop") DONE,
        STREAM_HEAD "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"}}]}\n\n" TOKEN(
            "{\\\"a\\\":1}") END("stop") DONE,
        // no type, or a wrong one: the bytes tell
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" TOKEN("{\\\"a\\\":1}") END("stop") DONE,
        "HTTP/1.1 100 Continue\r\n\r\n" GOOD,
        // not a stream at all
        JSON_HEAD "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
                  "\"{\\\"a\\\":1}\"},\"finish_reason\":\"stop\"}],\"usage\":{\"total_tokens\":9}}",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        for (size_t piece = 0; piece < 8; piece += 7) {
            const fake_step step = {.bytes = good[i], .piece = piece};
            expect_good(ask_steps(&step, 1, 1), "{\"a\":1}");
        }
    }
}

static void test_utf8_in_pieces(void **state)
{
    (void)state;
    const fake_step step = {.bytes = STREAM_HEAD TOKEN("你好，") TOKEN("世界💡") END("stop") DONE,
                            .piece = 1};
    expect_good(ask_steps(&step, 1, 1), "你好，世界💡");
}

// The answer is handed on when it is whole, even if the server then says nothing and hangs.
static void test_hanging_end(void **state)
{
    (void)state;
    const fake_step step = {.bytes = GOOD, .hold = true};
    expect_good(ask_steps(&step, 1, 1), "{\"a\":1}");
}

// ---- what is refused ----------------------------------------------------------------------------

static void test_bad_answers(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *message;
        int status;
    } bad[] = {
        {STREAM_HEAD TOKEN("{"), "no finish_reason", PONS_EPROTOCOL},
        {STREAM_HEAD DONE, "no content", PONS_EPROTOCOL},
        {STREAM_HEAD TOKEN("{") END("length") DONE, "cut at its longest", PONS_EPROTOCOL},
        {STREAM_HEAD TOKEN("{") END("content_filter") DONE, "filter withheld", PONS_EPROTOCOL},
        {STREAM_HEAD END("stop") DONE, "no content", PONS_EPROTOCOL},
        {STREAM_HEAD "data: {nonsense\n\n", "not JSON", PONS_EPROTOCOL},
        {STREAM_HEAD "data: [1]\n\n", "not an object", PONS_EPROTOCOL},
        {STREAM_HEAD TOKEN("\xff\xfe") END("stop") DONE, "not valid UTF-8", PONS_EPROTOCOL},
        {STREAM_HEAD "data: {\"error\":{\"message\":\"out of\\nmemory, " KEY "\"}}\n\n",
         "reported an error: out of memory, ***", PONS_EIO},
        {STREAM_HEAD "event: error\ndata: {\"error\":\"model crashed\"}\n\n", "model crashed",
         PONS_EIO},
        {STREAM_HEAD "data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"I can't.\"},"
                     "\"finish_reason\":\"stop\"}]}\n\n" DONE,
         "the model refused: I can't.", PONS_EPROTOCOL},
        {JSON_HEAD "{\"choices\":[{\"message\":{\"content\":null},\"finish_reason\":\"stop\"}]}",
         "no content", PONS_EPROTOCOL},
        {JSON_HEAD "{\"choices\":[]}", "no content", PONS_EPROTOCOL},
        {JSON_HEAD "", "not JSON", PONS_EPROTOCOL},
        {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>hi</html>",
         "a web page, not a chat completion", PONS_EPROTOCOL},
        {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
         "redirects (HTTP 302)", PONS_EIO},
        {STATUS("401 Unauthorized", "{\"error\":{\"message\":\"Incorrect key: " KEY "\"}}"),
         "HTTP 401: Incorrect key: ***", PONS_EREFUSED},
        {STATUS("404 Not Found", "{\"error\":\"model 'm1' not found\"}"),
         "HTTP 404: model 'm1' not found", PONS_EIO},
        {STATUS("404 Not Found", "<html>no</html>"), "HTTP 404", PONS_EIO},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_error(ask_bytes(bad[i].bytes), bad[i].status, bad[i].message);
    }
    // Not HTTP at all, and HTTP whose pieces do not fit.
    expect_error(ask_bytes("hello\r\n\r\n"), PONS_ECLOSED, "cannot reach the model");
    const fake_step broken = {.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\nzz\r\n"};
    expect_error(ask_steps(&broken, 1, 3), PONS_ECLOSED, "cannot reach the model");
    // Said to be packed, and is not.
    const fake_step packed = {.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                       "Content-Encoding: gzip\r\n\r\ndata: \x1f\x8b\x08\n\n"};
    expect_error(ask_steps(&packed, 1, 1), PONS_ECLOSED, "cannot read the answer: ");
    // A stream that ends like that, before anything was shown, is a lost connection.
    const fake_step empty = {.bytes = STREAM_HEAD};
    expect_error(ask_steps(&empty, 1, 3), PONS_EPROTOCOL, "no finish_reason");
    const fake_step again[] = {{.bytes = STREAM_HEAD USAGE}, {.bytes = GOOD}};
    expect_good(ask_steps(again, 2, 2), "{\"a\":1}");
    // [DONE] is an end, whether or not a finish_reason came before it.
    const fake_step ended = {.bytes = STREAM_HEAD TOKEN("{}") DONE, .hold = true};
    expect_good(ask_steps(&ended, 1, 1), "{}");
}

static void test_limits(void **state)
{
    (void)state;
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_str(&b, STREAM_HEAD "data: ");
    for (int i = 0; i < 1100; i++) {
        char block[1024];
        memset(block, 'x', sizeof block);
        pons_buf_bytes(&b, block, sizeof block);
    }
    expect_error(ask_bytes(b.data), PONS_EPROTOCOL, "an event of the answer is longer than");
    pons_buf_clear(&b);
    pons_buf_str(&b, STREAM_HEAD);
    while (b.len < 4 * 1024 * 1024 + 4096) {
        pons_buf_str(&b,
                     ": a comment of a server that never stops talking, and never says a thing\n");
    }
    expect_error(ask_bytes(b.data), PONS_EPROTOCOL, "the answer is longer than");
}

// What a server may send without end is cut off on the wire, long before it is much.
static void test_floods(void **state)
{
    (void)state;
    static const struct {
        const char *head, *again, *message;
        size_t requests;
        int status;
    } floods[] = {
        {STREAM_HEAD "data: ", "0123456789abcdef", "an event of the answer is longer than", 1,
         PONS_EPROTOCOL},
        {STREAM_HEAD, TOKEN("and so on"), "the answer is longer than", 1, PONS_EPROTOCOL},
        {STREAM_HEAD, "event: ping\ndata: {}\n\n", "the answer is longer than", 1, PONS_EPROTOCOL},
        {STREAM_HEAD, "data: 0123456789abcdef\n", "an event of the answer is longer than", 1,
         PONS_EPROTOCOL},
        {JSON_HEAD, "[[[[", "the answer is longer than", 1, PONS_EPROTOCOL},
        {"HTTP/1.1 200 OK\r\n", "X-More: and more\r\n", "the headers of the answer are longer", 1,
         PONS_EPROTOCOL},
        {"", "HTTP/1.1 100 Continue\r\n\r\n", "the headers of the answer are longer", 1,
         PONS_EPROTOCOL},
        {STATUS("401 Unauthorized", ""), "no ", "HTTP 401: no no", 1, PONS_EREFUSED},
        {STATUS("500 Internal Server Error", ""), "no ", "HTTP 500: no no", 3, PONS_EIO},
    };
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
        const fake_step step = {
            .bytes = floods[i].head, .again = floods[i].again, .again_max = FLOOD_BYTES};
        client c = open_client(&step, 1, quick);
        answer a = ask(c.self);
        expect_error(a, floods[i].status, floods[i].message);
        fake_server_wait_hangups(c.server, floods[i].requests);
        assert_int_equal(fake_server_requests(c.server), floods[i].requests);
        // What was taken: what may be read, and what lay in the sockets between.
        assert_true(fake_server_sent(c.server) < floods[i].requests * (FLOOD_BYTES / 4));
        close_client(&c);
    }
}

// ---- what is tried again ------------------------------------------------------------------------

static void test_retries(void **state)
{
    (void)state;
    static const char *const passing[] = {
        BUSY,
        STATUS("429 Too Many Requests", "{}"),
        STATUS("408 Request Timeout", "{}"),
        STATUS("409 Conflict", "{}"),
        STATUS("500 Internal Server Error", "{}"),
        "HTTP/1.1 429 Slow down\r\nRetry-After: 100\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 503 Later\r\nRetry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n"
        "Content-Length: 0\r\n\r\n",
        NULL, // closed without a word
    };
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        const fake_step steps[] = {{.bytes = passing[i]}, {.bytes = passing[i]}, {.bytes = GOOD}};
        expect_good(ask_steps(steps, 3, 3), "{\"a\":1}");
    }
    // A status has been said, however the connection ends then.
    const fake_step cut[] = {{.bytes = "HTTP/1.1 401 No\r\nContent-Length: 99\r\n\r\nno key"},
                             {.bytes = GOOD}};
    expect_error(ask_steps(cut, 2, 1), PONS_EREFUSED, "HTTP 401: no key");
    // Lost after the status, before anything was shown: nobody has seen it.
    const fake_step early[] = {{.bytes = STREAM_HEAD_99 ": hi\n\n"}, {.bytes = GOOD}};
    expect_good(ask_steps(early, 2, 2), "{\"a\":1}");
    const fake_step reset[] = {{.reset = true}, {.bytes = GOOD}};
    expect_good(ask_steps(reset, 2, 2), "{\"a\":1}");
    // Two retries, no more.
    const fake_step busy = {.bytes = BUSY};
    expect_error(ask_steps(&busy, 1, 3), PONS_EIO, "HTTP 503: overloaded");
    const fake_step gone = {.reset = true};
    expect_error(ask_steps(&gone, 1, 3), PONS_ECLOSED, "cannot reach the model");
}

// An answer whose beginning has been shown is not asked for again.
static void test_no_retry_after_a_token(void **state)
{
    (void)state;
    static const char *const shown[] = {TOKEN("{"), "data: {\"choices\":[{\"index\":0,\"delta\":{"
                                                    "\"reasoning_content\":\"hm\"}}]}\n\n"};
    for (size_t i = 0; i < 2; i++) {
        char bytes[500];
        snprintf(bytes, sizeof bytes, STREAM_HEAD_99 "%s", shown[i]);
        const fake_step steps[] = {{.bytes = bytes}, {.bytes = GOOD}};
        answer a = ask_steps(steps, 2, 1);
        assert_string_equal(a.tokens, i == 0 ? "{" : "");
        assert_int_equal(a.n_thoughts, i);
        expect_error(a, PONS_ECLOSED, "lost in the middle of the answer");
    }
    const fake_step reset = {.bytes = STREAM_HEAD_99 TOKEN("{"), .reset = true};
    expect_error(ask_steps(&reset, 1, 1), PONS_ECLOSED, "");
}

static void test_nobody_listens(void **state)
{
    (void)state;
    // Bound, so that nobody else gets the port, and not listening.
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(a.sin_port));
    void *self = open_url(url, quick);
    expect_error(ask(self), PONS_ECLOSED, "cannot reach the model");
    ops->close(self);
    close(fd);
}

// ---- what servers do not take -------------------------------------------------------------------

static void test_fallbacks(void **state)
{
    (void)state;
    const char *no = STATUS("400 Bad Request", "{\"error\":{\"message\":\"no\"}}");
    const fake_step steps[] = {{.bytes = no}, {.bytes = no}, {.bytes = GOOD}};
    client c = open_client(steps, 3, quick);
    expect_good(ask(c.self), "{\"a\":1}");
    pons_autovalue first = fixture_json(fake_server_body(c.server, 0));
    pons_autovalue second = fixture_json(fake_server_body(c.server, 1));
    pons_autovalue third = fixture_json(fake_server_body(c.server, 2));
    assert_string_equal(pons_get_str(pons_get(first, "response_format"), "type", ""),
                        "json_schema");
    assert_string_equal(pons_get_str(pons_get(second, "response_format"), "type", ""),
                        "json_object");
    assert_null(pons_get(third, "response_format"));
    // Where the server is not given the schema, the model is.
    const pons_value *lead = json_array_get(pons_get(third, "messages"), 0);
    assert_string_equal(pons_get_str(lead, "role", ""), "system");
    assert_non_null(strstr(pons_get_str(lead, "content", ""), "{\"type\":\"object\"}"));
    assert_int_equal(json_array_size(pons_get(first, "messages")), 1);
    // It is remembered: the next request begins where this one ended.
    start(c.self, 2);
    expect_good(wait_answer(c.self, 2), "{\"a\":1}");
    assert_int_equal(fake_server_requests(c.server), 4);
    pons_autovalue fourth = fixture_json(fake_server_body(c.server, 3));
    assert_true(json_equal(third, fourth));
    close_client(&c);
    // A request that is wrong in itself ends.
    const fake_step never = {.bytes = no};
    expect_error(ask_steps(&never, 1, 3), PONS_EIO, "HTTP 400: no");
}

static void test_parameters_not_taken(void **state)
{
    (void)state;
    const fake_step steps[] = {
        {.bytes = STATUS("400 Bad Request",
                         "{\"error\":{\"message\":\"'max_tokens' is not supported, use "
                         "'max_completion_tokens'\"}}")},
        {.bytes = STATUS("400 Bad Request",
                         "{\"error\":{\"message\":\"'temperature' does not support 0\"}}")},
        {.bytes = STATUS("422 Unprocessable Entity", "{\"detail\":\"extra: stream_options\"}")},
        {.bytes = GOOD}};
    client c = open_client(steps, 4, quick);
    expect_good(ask(c.self), "{\"a\":1}");
    pons_autovalue last = fixture_json(fake_server_body(c.server, 3));
    assert_null(pons_get(last, "temperature"));
    assert_null(pons_get(last, "max_tokens"));
    assert_null(pons_get(last, "stream_options"));
    assert_int_equal(pons_get_int(last, "max_completion_tokens", 0), 100);
    assert_string_equal(pons_get_str(pons_get(last, "response_format"), "type", ""), "json_schema");
    close_client(&c);
}

// ---- time ---------------------------------------------------------------------------------------

static void test_deadlines(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *timeouts, *message;
    } late[] = {
        {NULL, "{\"first_byte_s\":0.05}", "no answer began within 0.05 s"},
        {"HTTP/1.1 200 OK\r\n", "{\"first_byte_s\":0.05}", "no answer began within 0.05 s"},
        {STREAM_HEAD ": waiting\n\n", "{\"first_byte_s\":0.05}", "no answer began within 0.05 s"},
        {STREAM_HEAD TOKEN("{"), "{\"between_tokens_s\":0.05}", "no token came for 0.05 s"},
        {STREAM_HEAD TOKEN("{"), "{\"total_s\":0.05}", "the answer was not whole within 0.05 s"},
    };
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        const fake_step step = {.bytes = late[i].bytes, .hold = true};
        client c = open_client(&step, 1, late[i].timeouts);
        expect_error(ask(c.self), PONS_ETIMEOUT, late[i].message);
        fake_server_wait_hangups(c.server, 1); // given up on the wire too
        close_client(&c);
    }
}

// ---- time that is told --------------------------------------------------------------------------

// A clock that stands still until the test moves it; the client's thread reads it.
static _Atomic int64_t told_ns;

static int64_t reported_now(void *ctx)
{
    (void)ctx;
    return atomic_load(&told_ns);
}

#define TOLD_WALL_MS 1767225600000 // Thu, 01 Jan 2026 00:00:00 GMT
static int64_t told_wall(void *ctx)
{
    return TOLD_WALL_MS + reported_now(ctx) / PONS_NS_PER_MS;
}

static client open_told(const fake_step *steps, size_t n, const char *timeouts)
{
    client c = {.server = fake_server_start(steps, n)};
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", fake_server_port(c.server));
    pons_autovalue config =
        pons_object("url", json_string(url), "timeouts", fixture_json(timeouts), NULL);
    pons_clock clock = {.now_ns = reported_now, .wall_ms = told_wall};
    pons_error err = PONS_ERROR_INIT;
    atomic_store(&told_ns, 0);
    assert_int_equal(ops->open(config, &clock, &c.self, &err), PONS_OK);
    return c;
}

static void tell(void *self, double s)
{
    atomic_fetch_add(&told_ns, (int64_t)(s * (double)PONS_NS_PER_S));
    ops->cancel(self, 99); // of no call: it wakes the thread to look at the clock
}

// The deadlines that hold where none are configured.
static void test_default_deadlines(void **state)
{
    (void)state;
    const fake_step silent = {.hold = true};
    client c = open_told(&silent, 1, "{}");
    start(c.self, 1);
    fake_server_wait_requests(c.server, 1);
    tell(c.self, 30);
    expect_error(wait_answer(c.self, 1), PONS_ETIMEOUT, "no answer began within 30 s");
    close_client(&c);
    const fake_step stalls = {.bytes = STREAM_HEAD TOKEN("{"), .hold = true};
    c = open_told(&stalls, 1, "{}");
    start(c.self, 1);
    struct pollfd p = {.fd = ops->event_fd(c.self), .events = POLLIN};
    assert_int_equal(poll(&p, 1, HANG_MS), 1); // the token is there
    tell(c.self, 15);
    expect_error(wait_answer(c.self, 1), PONS_ETIMEOUT, "no token came for 15 s");
    close_client(&c);
}

// When it is tried again: what the server asks for, within reason, else a second at most. The
// second request comes when the clock says so, and the answer is whole, however long the server has
// asked to wait: that is not a part of the call's own time.
static void test_retry_after(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        double wait_s;
    } asked[] = {{"100", 100},       {"0.25", 0.25}, {"Thu, 01 Jan 2026 00:01:40 GMT", 100},
                 {"999999999", 120}, {"1e300", 120}, {"Fri, 31 Dec 2100 23:59:59 GMT", 120},
                 {"-5", 0.5},        {"0", 0.5},     {"nan", 0.5},
                 {"soon", 0.5},      {"", 0.5},      {"Wed, 31 Dec 2025 23:59:59 GMT", 0.5}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char later[200];
        snprintf(later, sizeof later,
                 "HTTP/1.1 429 Later\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n",
                 asked[i].value);
        const fake_step steps[] = {{.bytes = later}, {.bytes = GOOD}, {.bytes = GOOD}};
        client c = open_told(steps, 3, "{}");
        start(c.self, 1);
        fake_server_wait_requests(c.server, 1);
        // Nothing but the clock lets it go on: another call is asked and answered meanwhile.
        start(c.self, 2);
        expect_good(wait_answer(c.self, 2), "{\"a\":1}");
        assert_int_equal(fake_server_requests(c.server), 2);
        tell(c.self, asked[i].wait_s);
        expect_good(wait_answer(c.self, 1), "{\"a\":1}");
        assert_int_equal(fake_server_requests(c.server), 3);
        close_client(&c);
    }
}

// The whole call has an end over all its attempts: no attempt begins that could not be of use.
static void test_whole_call_ends(void **state)
{
    (void)state;
    const fake_step busy = {.bytes = BUSY};
    client c = open_told(&busy, 1, "{\"backoff_s\":8,\"total_s\":2}");
    expect_error(ask(c.self), PONS_EIO, "HTTP 503: overloaded");
    assert_int_equal(fake_server_requests(c.server), 1);
    close_client(&c);
}

static void test_cancel(void **state)
{
    (void)state;
    const fake_step steps[] = {{.bytes = STREAM_HEAD TOKEN("{"), .hold = true}, {.bytes = GOOD}};
    client c = open_client(steps, 2, quick);
    start(c.self, 7);
    struct pollfd p = {.fd = ops->event_fd(c.self), .events = POLLIN};
    assert_int_equal(poll(&p, 1, HANG_MS), 1); // the token is there, not yet taken
    ops->cancel(c.self, 7);
    fake_server_wait_hangups(c.server, 1); // aborted on the wire
    pons_llm_event ev;
    assert_false(ops->next(c.self, &ev)); // not even the token
    // The client goes on; nothing of call 7 mixes in.
    start(c.self, 8);
    expect_good(wait_answer(c.self, 8), "{\"a\":1}");
    ops->cancel(c.self, 8); // over already
    ops->cancel(c.self, 99);
    close_client(&c);
}

// A call in its back-off can be cancelled too, and close aborts what runs.
static void test_close_while_running(void **state)
{
    (void)state;
    const fake_step busy = {.bytes = BUSY};
    client c = open_client(&busy, 1, "{\"backoff_s\":1000}");
    start(c.self, 1);
    fake_server_wait_requests(c.server, 1);
    ops->cancel(c.self, 1);
    close_client(&c);
    const fake_step hold = {.bytes = STREAM_HEAD, .hold = true};
    c = open_client(&hold, 1, quick);
    start(c.self, 1);
    start(c.self, 2);
    fake_server_wait_requests(c.server, 1);
    ops->close(c.self);
    fake_server_wait_hangups(c.server, 1);
    fake_server_stop(c.server);
    ops->close(NULL);
}

static void test_two_at_once(void **state)
{
    (void)state;
    const fake_step good = {.bytes = GOOD};
    client c = open_client(&good, 1, quick);
    for (uint64_t i = 1; i <= 8; i++) {
        start(c.self, i);
    }
    uint64_t ended = 0;
    while (ended < 8) {
        struct pollfd p = {.fd = ops->event_fd(c.self), .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
        pons_llm_event ev;
        while (ops->next(c.self, &ev)) {
            assert_in_range(ev.call, 1, 8);
            assert_true(ev.kind != PONS_LLM_ERROR);
            ended += ev.kind == PONS_LLM_DONE;
            pons_llm_event_clear(&ev);
        }
    }
    close_client(&c);
}

static void test_bad_configuration(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "{\"url\":\"\"}",
        "{\"url\":\"ftp://x/v1\"}",
        "{\"url\":\"127.0.0.1\"}",
        "{\"url\":\"file:///etc/passwd\"}",
        "{\"url\":\"http://127.0.0.1/v1\",\"api_key\":\"a\\r\\nX: y\"}",
        "{\"url\":\"http://127.0.0.1/v1\",\"timeouts\":{\"total_s\":0}}",
        "{\"url\":\"http://127.0.0.1/v1\",\"timeouts\":{\"connect_s\":-1}}",
        "{\"url\":\"http://127.0.0.1/v1\",\"timeouts\":{\"connect_s\":\"5\"}}",
        "{\"url\":\"http://127.0.0.1/v1\",\"timeouts\":{\"first_token_s\":5}}"};
    pons_clock clock = pons_clock_real();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pons_autovalue config = fixture_json(bad[i]);
        pons_error err = PONS_ERROR_INIT;
        void *self = NULL;
        assert_int_equal(ops->open(config, &clock, &self, &err), PONS_EINVAL);
        assert_true(err.message[0] != '\0');
        assert_null(self);
    }
    // Where a user and password are in the address, messages show neither.
    void *self = open_url("http://user:" KEY "@127.0.0.1:1/v1?token=" KEY, quick);
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue empty = json_object();
    assert_int_equal(ops->start(self, 1, empty, &err), PONS_EINVAL);
    expect_error(ask(self), PONS_ECLOSED, "http://127.0.0.1:1/v1/chat/completions");
    ops->close(self);
}

static int setup(void **state)
{
    (void)state;
    pons_value_init();
    setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/lib/pons", 0);
    pons_error err = PONS_ERROR_INIT;
    const void *loaded = NULL;
    if (pons_module_load("llm", "openai", &loaded, &err) != PONS_OK) {
        fixture_fail(&err, "llm-openai");
    }
    ops = loaded;
    assert_int_equal(ops->abi, PONS_LLM_ABI);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_wire),
        cmocka_unit_test(test_tools_on_the_wire),
        cmocka_unit_test(test_what_came_beside_goes_back),
        cmocka_unit_test(test_tools_not_taken),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_utf8_in_pieces),
        cmocka_unit_test(test_hanging_end),
        cmocka_unit_test(test_bad_answers),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_floods),
        cmocka_unit_test(test_retries),
        cmocka_unit_test(test_no_retry_after_a_token),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_fallbacks),
        cmocka_unit_test(test_parameters_not_taken),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_default_deadlines),
        cmocka_unit_test(test_retry_after),
        cmocka_unit_test(test_whole_call_ends),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_close_while_running),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_bad_configuration),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
