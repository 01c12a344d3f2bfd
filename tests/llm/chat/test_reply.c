// What a chat completions server's words are taken for, without a network: every stream below goes
// through the reader of events and the assembly of the reply whole, and cut before and after each
// of its bytes, and gives the same. First what servers really send (each named), then every fault
// of a message: each is an error, and nothing of a bad message is handed on.
#include "llm/chat/chat.h"
#include "llm/llm_fixture.h"
#include "pons/sse.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY          "sk-secret-0123456789"
#define DONE         "data: [DONE]\n\n"
#define CHUNK(delta) "data: {\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define END(why)                                                                                   \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" why "\"}]}\n\n"
#define CALLS(calls) CHUNK("{\"tool_calls\":[" calls "]}")
#define FIRST(index, id, name)                                                                     \
    "{\"index\":" index ",\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name  \
    "\",\"arguments\":\"\"}}"
#define MORE(index, text) "{\"index\":" index ",\"function\":{\"arguments\":\"" text "\"}}"

static const char request_text[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"tools\":["
    "{\"name\":\"look\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"}},"
    "{\"name\":\"go\",\"parameters\":{\"type\":\"object\",\"required\":[\"to\"]}},"
    "{\"name\":\"fs.read\",\"parameters\":{\"type\":\"object\"}},"
    "{\"name\":\"fs_read\",\"parameters\":{\"type\":\"object\"}}]}";

typedef struct seen {
    char shown[4096], thought[4096];
    pons_value *value;
    pons_error error;
} seen;

static void on_piece(void *user, pons_llm_event_kind kind, const char *text)
{
    seen *s = user;
    char *into = kind == PONS_LLM_REASONING ? s->thought : s->shown;
    size_t n = strlen(into);
    snprintf(into + n, sizeof s->shown - n, "%s", text);
}

// The stream in three pieces, cut at a and b; whole where a is not below its length.
static seen read_stream(const char *request, const char *stream, size_t a, size_t b)
{
    seen s = {.shown = ""};
    pons_autovalue q = fixture_json(request);
    pons_sse sse;
    pons__reply r;
    pons_sse_init(&sse, PONS__EVENT_MAX);
    pons__reply_init(&r, q, on_piece, &s, KEY, &s.error);
    r.from = pons_get_str(q, "from", NULL);
    const size_t n = strlen(stream), cuts[] = {0, a < n ? a : n, b < n ? b : n, n};
    int rc = PONS_OK;
    for (int i = 0; rc == PONS_OK && i < 3; i++) {
        rc = pons_sse_feed(&sse, stream + cuts[i], cuts[i + 1] - cuts[i], pons__reply_event, &r);
    }
    if (rc == PONS_OK) {
        rc = pons__reply_finish(&r, 7, &s.value);
    }
    assert_int_equal(rc, s.error.status);
    pons_sse_fini(&sse);
    pons__reply_fini(&r);
    return s;
}

static void assert_same(const seen *a, const seen *b)
{
    assert_string_equal(a->shown, b->shown);
    assert_string_equal(a->thought, b->thought);
    assert_int_equal(a->error.status, b->error.status);
    assert_string_equal(a->error.message, b->error.message);
    assert_true(a->value == b->value || json_equal(a->value, b->value));
}

// Whole, and then in every way to cut it that could matter.
static seen read_every_way(const char *request, const char *stream)
{
    seen whole = read_stream(request, stream, 0, 0);
    for (size_t a = 1; a < strlen(stream); a++) {
        seen s = read_stream(request, stream, a, a + 1);
        assert_same(&whole, &s);
        pons_value_unref(s.value);
    }
    return whole;
}

static void expect_reply(const char *stream, const char *expected)
{
    seen s = read_every_way(request_text, stream);
    pons_autovalue want = fixture_json(expected);
    if (!s.value || !json_equal(s.value, want)) {
        char *text = NULL;
        if (s.value) {
            pons_value_line(s.value, &text);
        }
        print_error("%s\ngave %s%s\n", stream, text ? text : "", s.error.message);
        free(text);
        fail();
    }
    pons_value_unref(s.value);
}

#define LOOK "{\"id\":\"a\",\"name\":\"look\",\"arguments\":{}}"
#define GO   "{\"id\":\"b\",\"name\":\"go\",\"arguments\":{\"to\":\"厨房\"}}"
#define REPLY(calls)                                                                               \
    "{\"content\":null,\"tool_calls\":[" calls "],\"finish_reason\":\"tool_calls\"}"

static void test_what_servers_send(void **state)
{
    (void)state;
    static const char *const two[] = {
        // OpenAI: the id and the name first, the arguments in pieces, one call after the other
        CHUNK("{\"role\":\"assistant\",\"content\":null}") CALLS(FIRST("0", "a", "look"))
            CALLS(MORE("0", "{}")) CALLS(FIRST("1", "b", "go")) CALLS(MORE("1", "{\\\"to\\\":"))
                CALLS(MORE("1", "\\\"厨房\\\"}")) END("tool_calls") DONE,
        // interleaved, both in one chunk, and the second index first
        CALLS(FIRST("1", "b", "go") "," FIRST("0", "a", "look")) CALLS(MORE("1", "{\\\"to\\\":"))
            CALLS(MORE("0", "{") "," MORE("1", "\\\"厨房\\\"}")) CALLS(MORE("0", "}"))
                END("tool_calls") DONE,
        // Ollama: whole calls, all of index 0, or with none; "stop" for the end
        CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}")
            CALLS("{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"go\",\"arguments\":"
                  "\"{\\\"to\\\":\\\"厨房\\\"}\"}}") END("stop") DONE,
        CALLS("{\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}},"
              "{\"id\":\"b\",\"function\":{\"name\":\"go\",\"arguments\":"
              "\"{\\\"to\\\":\\\"厨房\\\"}\"}}") END("stop") DONE,
        // arguments as an object; "tool" for the end, as llama.cpp said
        CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":{}}},"
              "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"go\",\"arguments\":"
              "{\"to\":\"厨房\"}}}") END("tool") DONE,
        // vLLM once: another id in every fragment; a name of null
        CALLS(FIRST("0", "a", "look")) CALLS("{\"index\":0,\"id\":\"z1\",\"function\":{\"name\":"
                                             "null,\"arguments\":\"{}\"}}")
            CALLS(FIRST("1", "b", "go")) CALLS("{\"index\":1,\"id\":\"z2\",\"function\":{"
                                               "\"arguments\":\"{\\\"to\\\":\\\"厨房\\\"}\"}}")
                END("tool_calls") DONE,
        // the id and the name in every fragment; no arguments at all where none are needed
        CALLS(FIRST("0", "a", "look")) CALLS(FIRST("0", "a", "look")) CALLS(FIRST("1", "b", "go"))
            CALLS("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"go\",\"arguments\":"
                  "\"{\\\"to\\\":\\\"厨房\\\"}\"}}") END("tool_calls") DONE,
        // the name in pieces; fragments without an index go on with the newest call
        CALLS(FIRST("0", "a", "lo")) CALLS("{\"index\":0,\"function\":{\"name\":\"ok\"}}")
            CALLS("{\"id\":\"b\",\"function\":{\"name\":\"go\"}}")
                CALLS("{\"function\":{\"arguments\":\"{\\\"to\\\":\"}}")
                    CALLS("{\"function\":{\"arguments\":\"\\\"厨房\\\"}\"}}") END("tool_calls")
                        DONE,
        // two ids of one index, the arguments of both afterwards, by their ids; no finish_reason
        CALLS(FIRST("0", "a", "look") "," FIRST("0", "b", "go"))
            CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"{}\"}}")
                CALLS("{\"index\":0,\"id\":\"b\",\"function\":{\"arguments\":\"{\\\"to\\\":\"}}")
                    CALLS(MORE("0", "\\\"厨房\\\"}")) DONE,
        // a proxy: an index at first, then the id alone
        CALLS(FIRST("0", "a", "look")) CALLS(FIRST("1", "b", "go"))
            CALLS("{\"id\":\"a\",\"function\":{\"arguments\":\"{}\"}}")
                CALLS("{\"id\":\"b\",\"function\":{\"arguments\":\"{\\\"to\\\":\\\"厨房\\\"}\"}}")
                    END("tool_calls"),
        // Cerebras, Nebius: the index counts the fragments of one call
        CALLS(FIRST("0", "a", "look")) CALLS(MORE("1", "{")) CALLS(MORE("2", "}"))
            CALLS(FIRST("3", "b", "go")) CALLS(MORE("4", "{\\\"to\\\":\\\"厨房\\\"}")) END("stop"),
        // Gemini: whole calls of index 0 with an id each, and a last chunk of an empty text
        CALLS(
            "{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"look\","
            "\"arguments\":\"{}\"}},{\"index\":0,\"id\":\"b\",\"type\":\"function\",\"function\":{"
            "\"name\":\"go\",\"arguments\":\"{\\\"to\\\":\\\"厨房\\\"}\"}}")
            CHUNK("{\"role\":\"assistant\",\"content\":\"\"}") END("stop") DONE,
        // MiniMax: roles that are empty, and at the end the whole message once more, not as a delta
        CHUNK("{\"role\":\"\",\"content\":\"\"}") CALLS(FIRST("0", "a", "look"))
            CALLS("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"go\",\"arguments\":"
                  "\"{\\\"to\\\":\\\"厨房\\\"}\"}}") "data: "
                                                     "{\"object\":\"chat.completion\",\"choices\":["
                                                     "{\"index\":0,\"finish_reason\":"
                                                     "\"tool_calls\",\"message\":{\"content\":\"\","
                                                     "\"tool_calls\":[{\"id\":\"a\","
                                                     "\"function\":{\"name\":\"look\","
                                                     "\"arguments\":\"{}\"}}]}}]}\n\n",
    };
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        expect_reply(two[i], REPLY(LOOK "," GO));
    }
}

// Whole calls of one index without ids are as many as they have arguments.
static void test_calls_without_ids(void **state)
{
    (void)state;
    seen s = read_every_way(request_text,
                            CALLS("{\"index\":0,\"function\":{\"name\":\"look\",\"arguments\":"
                                  "\"{\\\"n\\\":1}\"}}")
                                CALLS("{\"index\":0,\"function\":{\"name\":\"look\",\"arguments\":"
                                      "\"{\\\"n\\\":2}\"}}") END("stop") DONE);
    assert_int_equal(json_array_size(pons_get(s.value, "tool_calls")), 2);
    pons_value_unref(s.value);
}

// A character that a server cut into two events is one; a half that stays alone is U+FFFD.
static void test_halves_of_characters(void **state)
{
    (void)state;
    static const struct {
        const char *stream, *content;
    } rows[] = {
        {CHUNK("{\"content\":\"a\\ud83d\"}") CHUNK("{\"content\":\"\\ude00b\"}"), "a😀b"},
        {CHUNK("{\"content\":\"a\\uD83D\"}") CHUNK("{\"content\":\"\\uDE00\"}"), "a😀"},
        {CHUNK("{\"content\":\"\\ud83d\"}") CHUNK("{\"content\":\"\\ude00\\ud83d\"}")
             CHUNK("{\"content\":\"\\ude01\"}"),
         "😀😁"},
        {CHUNK("{\"content\":\"a\\ud83d\"}") CHUNK("{\"content\":\"b\"}"), "a\uFFFDb"},
        {CHUNK("{\"content\":\"a\\ud83d\"}"), "a\uFFFD"},
        {CHUNK("{\"content\":\"a\\\\ud8zz\"}"), "a\\ud8zz"},
        {CHUNK("{\"content\":\"\\ude00a\"}"), "\uFFFDa"},
        {CHUNK("{\"content\":\"a\\ud83d b\\ude00\\\\ud83d\"}"), "a\uFFFD b\uFFFD\\ud83d"},
        {CHUNK("{\"content\":\"\\ud83d\\ude00 \\\\\\ud83d\"}") CHUNK("{\"content\":\"\\ude00\"}"),
         "😀 \\😀"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char stream[1024];
        snprintf(stream, sizeof stream, "%s%s", rows[i].stream, END("stop") DONE);
        seen s = read_every_way(request_text, stream);
        assert_string_equal(s.error.message, "");
        assert_string_equal(pons_get_str(s.value, "content", ""), rows[i].content);
        assert_string_equal(s.shown, rows[i].content);
        pons_value_unref(s.value);
    }
    expect_reply(CALLS(FIRST("0", "b", "go")) CALLS(MORE("0", "{\\\"to\\\":\\\"\\\\ud83d\\\"}"))
                     END("stop") DONE,
                 REPLY("{\"id\":\"b\",\"name\":\"go\",\"arguments\":{\"to\":\"\uFFFD\"}}"));
    expect_reply(CHUNK("{\"content\":\"[DONE] is an end\"}") DONE,
                 "{\"content\":\"[DONE] is an end\",\"tool_calls\":[],\"finish_reason\":\"stop\"}");
}

static void test_the_rest_of_a_reply(void **state)
{
    (void)state;
    // reasoning apart, as llama.cpp and vLLM, and as Ollama and OpenRouter call it; usage in a
    // chunk without choices; counts that nobody asked for are left out
    expect_reply(
        CHUNK("{\"reasoning_content\":\"hm, \"}") CHUNK("{\"reasoning\":\"so\"}")
            CHUNK("{\"content\":\"yes\"}")
                END("stop") "data: {\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,"
                            "\"completion_tokens\":2,\"queue_time\":0.5,\"prompt_tokens_details\":{"
                            "\"cached_tokens\":1}}}\n\n" DONE,
        "{\"content\":\"yes\",\"reasoning\":\"hm, so\",\"tool_calls\":[],"
        "\"finish_reason\":\"stop\",\"model\":\"m\",\"usage\":{\"prompt_tokens\":3,"
        "\"completion_tokens\":2,\"cached_tokens\":1}}");
    // Azure: a filter's chunk before, one without a delta between; Kimi: the usage in the choice;
    // SGLang: nulls
    expect_reply(
        "data: {\"choices\":[],\"model\":\"\",\"prompt_filter_results\":[{}]}\n\n" CHUNK(
            "{\"role\":null,\"content\":\"yes\",\"reasoning_content\":null,\"tool_calls\":null}")
            CHUNK(
                "null") "data: "
                        "{\"choices\":[{\"finish_reason\":null,\"content_filter_results\":{}}],"
                        "\"usage\":null}\n\n: OPENROUTER PROCESSING\n\n"
                        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\","
                        "\"matched_stop\":1,\"usage\":{\"prompt_tokens\":3}}]}\n\n" DONE,
        "{\"content\":\"yes\",\"tool_calls\":[],\"finish_reason\":\"stop\",\"usage\":{"
        "\"prompt_tokens\":3}}");
    // content as parts
    expect_reply(CHUNK("{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
                       "\"text\":\"hm\"}]},{\"type\":\"text\",\"text\":\"你\"},{\"type\":"
                       "\"output_text\",\"text\":\"好\"},{\"type\":\"image\"}]}") END("stop") DONE,
                 "{\"content\":\"你好\",\"reasoning\":\"hm\",\"tool_calls\":[],"
                 "\"finish_reason\":\"stop\"}");
    // a refusal is an answer, where no form was asked for
    expect_reply(CHUNK("{\"refusal\":\"I \"}") CHUNK("{\"refusal\":\"can't\"}") END("stop") DONE,
                 "{\"content\":null,\"refusal\":\"I can't\",\"tool_calls\":[],"
                 "\"finish_reason\":\"stop\"}");
    // words and calls
    expect_reply(CHUNK("{\"content\":\"look:\"}") CALLS(FIRST("0", "a", "look")) END("stop") DONE,
                 "{\"content\":\"look:\",\"tool_calls\":[" LOOK "],\"finish_reason\":"
                 "\"tool_calls\"}");
    // names with a dot are another on the wire, and the tool's own here
    expect_reply(CALLS(FIRST("0", "a", "fs_read_2") "," FIRST("1", "b", "fs_read") "," FIRST(
                     "2", "c", "fs.read")) END("tool_calls") DONE,
                 REPLY("{\"id\":\"a\",\"name\":\"fs.read\",\"arguments\":{}},"
                       "{\"id\":\"b\",\"name\":\"fs_read\",\"arguments\":{}},"
                       "{\"id\":\"c\",\"name\":\"fs.read\",\"arguments\":{}}"));
}

// What comes beside the words: as pieces of a stream, one row a server.
static void test_what_comes_beside(void **state)
{
    (void)state;
    static const struct {
        const char *stream, *extra;
    } rows[] = {
        // DeepSeek, Kimi; Groq says its channel in each piece; MiniMax its name
        {CHUNK("{'role':'assistant','content':null,'reasoning_content':'h'}")
             CHUNK("{'reasoning_content':'m','channel':'analysis'}")
                 CHUNK("{'content':'a','reasoning_content':null,'channel':'analysis','name':'M'}")
                     CHUNK("{'name':'M','function_call':null}"),
         "'message':{'reasoning_content':'hm','channel':'analysis','name':'M'}"},
        // OpenRouter: pieces by index, the signature in a piece without text; encrypted ones by id
        {CHUNK("{'reasoning_details':[{'type':'reasoning.text','text':'Let','format':'f','index':0}"
               "]}") CHUNK("{'reasoning_details':[{'type':'reasoning.text','text':' "
                           "me','format':'f','index':0}]}")
             CHUNK("{'content':'a','reasoning_details':[{'type':'reasoning.text','signature':'S',"
                   "'format':'f','index':0},{'type':'reasoning.encrypted','data':'X','index':0}]}")
                 CHUNK("{'reasoning_details':[{'type':'reasoning.encrypted','data':'Y','id':'i',"
                       "'index':0},{'type':'reasoning.encrypted','data':'Z','id':'k','index':0}]}"),
         "'message':{'reasoning_details':[{'type':'reasoning.text','text':'Let me','format':'f',"
         "'index':0,'signature':'S'},{'type':'reasoning.encrypted','data':'XY','id':'i','index':0},"
         "{'type':'reasoning.encrypted','data':'Z','id':'k','index':0}]}"},
        // LiteLLM: blocks without an index, closed by their signatures
        {CHUNK("{'thinking_blocks':[{'type':'thinking','thinking':'a'}]}")
             CHUNK("{'thinking_blocks':[{'type':'thinking','thinking':'b','signature':'S'}]}")
                 CHUNK("{'content':'a','thinking_blocks':[{'type':'thinking','thinking':'c'}]}"),
         "'message':{'thinking_blocks':[{'type':'thinking','thinking':'ab','signature':'S'},"
         "{'type':'thinking','thinking':'c'}]}"},
        // Gemini: a signature of each call, and of the words
        {CHUNK("{'content':'a','extra_content':{'google':{'thought_signature':'W'}}}") CALLS(
             "{'index':0,'id':'a','function':{'name':'look','arguments':'{}'},'extra_content':"
             "{'google':{'thought_signature':'S'}}},{'index':0,'id':'b','function':{'name':"
             "'look','arguments':'{}'}}"),
         "'message':{'extra_content':{'google':{'thought_signature':'W'}}},'calls':{'a':"
         "{'extra_content':{'google':{'thought_signature':'S'}}}}"},
        // Mistral: thoughts are parts of the content
        {CHUNK("{'content':[{'type':'thinking','thinking':[{'type':'text','text':'h'}]}]}")
             CHUNK("{'content':[{'type':'thinking','thinking':[{'type':'text','text':'m'}]}]}")
                 CHUNK("{'content':'a'}"),
         "'message':{'content':[{'type':'thinking','thinking':[{'type':'text','text':'hm'}]},"
         "{'type':'text','text':'a'}]}"},
        // the key is not kept here either
        {CHUNK("{'content':'a','reasoning':'" KEY "'}"), "'message':{'reasoning':'***'}"},
        {CHUNK("{'content':'a','reasoning':null}"), NULL},
    };
    pons_autovalue q = fixture_json(request_text);
    json_object_set_new(q, "from", json_string("m at u"));
    char *asked = NULL;
    assert_true(pons_value_line(q, &asked) > 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char stream[2048], extra[1024];
        snprintf(stream, sizeof stream, "%s%s", rows[i].stream, END("stop"));
        snprintf(extra, sizeof extra, "{'from':'m at u',%s}", rows[i].extra ? rows[i].extra : "");
        for (char *at = stream; (at = strchr(at, '\''));) {
            *at = '"';
        }
        for (char *at = extra; (at = strchr(at, '\''));) {
            *at = '"';
        }
        seen s = read_stream(asked, stream, 0, 0);
        assert_string_equal(s.error.message, "");
        pons_autovalue want = rows[i].extra ? fixture_json(extra) : NULL;
        if (want ? !json_equal(want, pons_get(s.value, "extra")) : !!pons_get(s.value, "extra")) {
            char *got = NULL;
            pons_value_line(s.value, &got);
            fail_msg("row %zu: %s", i, got);
        }
        pons_value_unref(s.value);
    }
    free(asked);
}

// What counts as a piece of the answer, and so moves the deadline on.
static void test_progress(void **state)
{
    (void)state;
    static const struct {
        const char *event, *data;
        bool progress;
    } events[] = {
        {"message", "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}", true},
        {"message", "{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}", true},
        {"message", "{\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"a\"}}]}", true},
        {"message", "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}", true},
        {"message", "{\"choices\":[{\"index\":0,\"delta\":{}}]}", false},
        {"message", "{\"choices\":[{\"index\":0,\"delta\":null}]}", false},
        {"message", "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"}}]}", false},
        {"message", "{\"choices\":[]}", false},
        {"message", "{}", false},
        {"ping", "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}", false},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        seen s = {.shown = ""};
        pons_autovalue q = fixture_json(request_text);
        pons__reply r;
        pons__reply_init(&r, q, on_piece, &s, KEY, &s.error);
        assert_int_equal(
            pons__reply_event(&r, events[i].event, events[i].data, strlen(events[i].data)),
            PONS_OK);
        assert_int_equal(r.progress, events[i].progress);
        pons__reply_fini(&r);
    }
}

// A call without an id gets one of its own, in every form of leaving it out.
static void test_missing_ids(void **state)
{
    (void)state;
    static const char *const streams[] = {
        CALLS("{\"index\":0,\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}},"
              "{\"index\":1,\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}") END("stop"),
        CALLS(FIRST("0", "", "look")) CALLS(FIRST("1", "", "look")) END("stop"),
        CALLS("{\"index\":0,\"id\":null,\"function\":{\"name\":\"look\"}}")
            CALLS("{\"index\":1,\"id\":null,\"function\":{\"name\":\"look\"}}") END("stop"),
        CALLS("{\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}},"
              "{\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}") END("stop"),
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        seen s = read_every_way(request_text, streams[i]);
        const pons_value *calls = pons_get(s.value, "tool_calls");
        assert_int_equal(json_array_size(calls), 2);
        const char *one = pons_get_str(json_array_get(calls, 0), "id", "");
        const char *other = pons_get_str(json_array_get(calls, 1), "id", "");
        assert_memory_equal(one, "call_", 5);
        assert_memory_equal(other, "call_", 5);
        assert_string_not_equal(one, other);
        pons_value_unref(s.value);
    }
}

static const struct {
    const char *stream, *message;
} faults[] = {
    {"", "no finish_reason"},
    {DONE, "no content"},
    {CHUNK("{\"content\":\"half\"}"), "no finish_reason"},
    {CALLS(FIRST("0", "a", "look")), "no finish_reason"},
    {CALLS(FIRST("0", "b", "go")) CALLS(MORE("0", "{\\\"to\\\":\\\"ki")) DONE,
     "the arguments of the call of go are not JSON"},
    {CHUNK("{\"content\":\"half\"}") END("length") DONE, "cut at its longest after 4 bytes"},
    {CHUNK("{\"content\":\"half\"}") END("max_tokens") DONE, "cut at its longest"},
    {CALLS(FIRST("0", "b", "go")) CALLS(MORE("0", "{\\\"to\\\":\\\"ki")) END("length") DONE,
     "cut at its longest after 0 bytes, inside a tool call"},
    {CALLS(FIRST("0", "b", "go")) CALLS(MORE("0", "{\\\"to\\\":\\\"ki")) END("tool_calls") DONE,
     "the arguments of the call of go are not JSON"},
    {CHUNK("{\"content\":\"a\"}") END("content_filter") DONE, "filter withheld"},
    {CHUNK("{\"content\":\"a\"}") END("error") DONE, "gave up in the middle"},
    {CHUNK("{\"content\":\"a\"}") END("abort") DONE, "gave up in the middle"},
    {CHUNK("{\"content\":null}") END("stop") DONE, "no content"},
    {CHUNK("{\"content\":\"\"}") END("stop") DONE, "no content"},
    {CHUNK("{\"content\":[]}") END("stop") DONE, "no content"},
    {CHUNK("{\"reasoning_content\":\"hm\"}") END("stop") DONE, "no content"},
    {CHUNK("{\"content\":\"a\\ud8zz\"}") END("stop") DONE, "not JSON"},
    {CHUNK("{\"content\":7}") END("stop") DONE, "neither text nor a list"},
    {CHUNK("{\"content\":{\"a\":1}}") END("stop") DONE, "neither text nor a list"},
    {END("tool_calls") DONE, "promises tool calls"},
    {CHUNK("{\"content\":\"a\"}") END("tool_calls") DONE, "promises tool calls"},
    {CHUNK("{\"tool_calls\":{}}") END("tool_calls") DONE, "not a list"},
    {CALLS("7") END("tool_calls") DONE, "is not {index"},
    {CALLS("{\"index\":0,\"id\":7,\"function\":{\"name\":\"look\"}}") END("tool_calls") DONE,
     "is not {index"},
    {CALLS("{\"index\":0,\"id\":\"a\",\"function\":\"look\"}") END("tool_calls") DONE,
     "is not {index"},
    {CALLS("{\"index\":-1,\"id\":\"a\",\"function\":{\"name\":\"look\"}}") END("tool_calls") DONE,
     "index is not a number from 0"},
    {CALLS("{\"index\":128,\"id\":\"a\",\"function\":{\"name\":\"look\"}}") END("tool_calls") DONE,
     "index is not a number from 0"},
    {CALLS("{\"index\":\"0\",\"id\":\"a\",\"function\":{\"name\":\"look\"}}") END("tool_calls")
         DONE,
     "index is not a number from 0"},
    {CALLS("{\"function\":{\"arguments\":\"{}\"}}") END("tool_calls") DONE, "belongs to no call"},
    {CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"{}\"}}") END("tool_calls") DONE,
     "has no name"},
    {CALLS(FIRST("0", "a", "rm")) END("tool_calls") DONE, "a tool that was not offered: rm"},
    {CALLS(FIRST("0", "a", "look") "," FIRST("1", "b", "r\\u0001m")) END("tool_calls") DONE,
     "a tool that was not offered: r m"},
    {CALLS(FIRST("0", "a", KEY)) END("tool_calls") DONE, "a tool that was not offered: ***"},
    {CALLS(FIRST("0", "a", "look") "," FIRST("1", "a", "fs_read")) END("tool_calls") DONE,
     "two tool calls have the id a"},
    {CALLS("{\"id\":\"a\",\"type\":\"custom\",\"custom\":{\"name\":\"look\"}}") END("tool_calls"),
     "of a kind that was not offered"},
    {CALLS(FIRST("0", "b", "go")) END("tool_calls") DONE, "the arguments of the call of go"},
    {CALLS(FIRST("0", "b", "go")) CALLS(MORE("0", "{\\\"to\\\":1,\\\"to\\\":2}")) END("tool_calls"),
     "the arguments of the call of go are not JSON: duplicate"},
    {CALLS(FIRST("0", "b", "go")) CALLS(MORE("0", "{\\\"to\\\":1}{}")) END("tool_calls"),
     "the arguments of the call of go are not JSON"},
    {CALLS(FIRST("0", "b", "go")) CALLS(MORE("0", "[1]")) END("tool_calls"), "are not an object"},
    {CALLS(FIRST("0", "b", "look")) CALLS(MORE("0", "null")) END("tool_calls"),
     "are not an object"},
    {CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":7}}")
         END("tool_calls"),
     "neither text nor one object"},
    {CALLS(MORE("0", "{}")) CALLS("{\"index\":0,\"function\":{\"arguments\":{}}}")
         END("tool_calls"),
     "neither text nor one object"},
    {"data: {\"choices\":[],\"choices\":[]}\n\n", "not JSON: duplicate"},
    {"data: {\"choices\":[{\"delta\":{\"content\":\"\xC3\x28\"}}]}\n\n", "not valid UTF-8"},
    {"data: {\"choices\":[{\"delta\":{\"content\":\"\\ud8\"}}]}\n\n", "not JSON"},
    {"data: {\"choices\":[{\"delta\":{\"content\":\"\xF0\x9F\x92\"}}]}\n\n", "not valid UTF-8"},
    {"data: {\"choices\": " KEY "}\n\n", "not JSON"},
    {"data: [1]\n\n", "not an object"},
    {"data: {\"error\":{\"message\":\"lost " KEY "\",\"code\":500}}\n\n", "an error: lost ***"},
    {"event: error\ndata: {\"message\":\"gone\",\"error\":{}}\n\n", "an error: gone"},
    {"data: {\"object\":\"error\",\"message\":\"gone\",\"code\":400}\n\n" DONE, "an error: gone"},
    {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}],"
     "\"error\":{\"code\":502,\"message\":\"gone\"}}\n\n",
     "an error: gone"},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        seen s = read_every_way(request_text, faults[i].stream);
        if (s.value || !strstr(s.error.message, faults[i].message)) {
            print_error("%s\ngave %s, not %s\n", faults[i].stream, s.error.message,
                        faults[i].message);
            fail();
        }
        assert_null(strstr(s.error.message, KEY));
        assert_null(strchr(s.error.message, '\n'));
    }
    // What depends on the request.
    seen s = read_stream("{\"messages\":[],\"schema\":{}}",
                         CHUNK("{\"refusal\":\"no\"}") END("stop"), 0, 0);
    assert_string_equal(s.error.message, "the model refused: no");
    s = read_stream("{\"messages\":[]}", CALLS(FIRST("0", "a", "look")) END("stop"), 0, 0);
    assert_string_equal(s.error.message, "the model called a tool that was not offered: look");
    s = read_stream("{\"messages\":[],\"tool_choice\":\"none\",\"tools\":[{\"name\":\"look\","
                    "\"parameters\":{}}]}",
                    CALLS(FIRST("0", "a", "look")) END("stop"), 0, 0);
    assert_string_equal(s.error.message, "the model called a tool where none was to be called");
}

static void test_many_calls(void **state)
{
    (void)state;
    for (int n = PONS__CALLS_MAX; n <= PONS__CALLS_MAX + 1; n++) {
        pons_autobuf b = PONS_BUF_INIT;
        for (int i = 0; i < n; i++) { // all of index 0, as a server that counts nothing sends them
            pons_buf_printf(
                &b, CALLS("{\"index\":0,\"id\":\"c%d\",\"function\":{\"name\":\"look\"}}"), i);
        }
        pons_buf_str(&b, END("tool_calls"));
        seen s = read_stream(request_text, b.data, 0, 0);
        assert_int_equal(json_array_size(pons_get(s.value, "tool_calls")),
                         n == PONS__CALLS_MAX ? n : 0);
        assert_int_equal(s.error.status, n == PONS__CALLS_MAX ? PONS_OK : PONS_EPROTOCOL);
        pons_value_unref(s.value);
    }
}

// A server that says the key, in whatever pieces: it comes neither as a token nor in the reply.
static void test_key_is_never_shown(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < strlen(KEY); cut++) {
        char stream[2048];
        snprintf(stream, sizeof stream,
                 CHUNK("{\"reasoning\":\"a %.*s\"}") CHUNK("{\"reasoning\":\"%s\"}")
                     CHUNK("{\"content\":\"s %.*s\"}") CHUNK("{\"content\":\"%s sk-se\"}")
                         CALLS("{\"index\":0,\"id\":\"%s\",\"function\":{\"name\":\"look\","
                               "\"arguments\":\"{\\\"k\\\":\\\"%s\\\"}\"}}") END("stop"),
                 (int)cut, KEY, KEY + cut, (int)cut, KEY, KEY + cut, KEY, KEY);
        seen s = read_stream(request_text, stream, 0, 0);
        assert_string_equal(s.thought, "a ***");
        assert_string_equal(s.shown, "s *** sk-se"); // nothing else is lost
        char *text;
        assert_true(pons_value_line(s.value, &text) > 0);
        assert_null(strstr(text, KEY));
        assert_non_null(strstr(text, "\"s *** sk-se\""));
        free(text);
        pons_value_unref(s.value);
    }
}

// ---- faults that a host gives back to the model -------------------------------------------------

static void test_faults_come_as_a_reply_where_they_are_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *stream, *reply;
    } rows[] = {
        {CALLS(FIRST("0", "a", "fly")) CALLS(MORE("0", "{}")) END("tool_calls"),
         "{'content':null,'tool_calls':[{'id':'a','name':'fly','arguments':{},'fault':'the model "
         "called a tool that was not offered: fly','written':'{}'}],'finish_reason':'tool_calls'}"},
        {CALLS(FIRST("0", "a", "go")) CALLS(MORE("0", "{'to': kitchen}")) END("tool_calls"), NULL},
        {CALLS(FIRST("0", "a", "go")) CALLS(MORE("0", "[1]")) END("tool_calls"),
         "{'content':null,'tool_calls':[{'id':'a','name':'go','arguments':{},'fault':'the "
         "arguments "
         "of the call of go are not an object','written':'[1]'}],'finish_reason':'tool_calls'}"},
        // cut inside a call: none of it is made, also what looks whole
        {CALLS(FIRST("0", "a", "look")) CALLS(MORE("0", "{}")) CALLS(FIRST("1", "b", "go"))
             CALLS(MORE("1", "{'to':")) END("length"),
         NULL},
        {CHUNK("{\"content\":\"half\"}") END("length"),
         "{'content':'half','tool_calls':[],'finish_reason':'length','fault':'the answer was cut "
         "at "
         "its longest after 4 bytes (finish_reason length)'}"},
        {END("stop"), "{'content':null,'tool_calls':[],'finish_reason':'stop','fault':'the answer "
                      "has no content (finish_reason stop)'}"},
    };
    pons_autovalue q = fixture_json(request_text);
    json_object_set_new(q, "faults", json_true());
    char *asked = NULL;
    assert_true(pons_value_line(q, &asked) > 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        seen plain = read_stream(request_text, rows[i].stream, 0, 0);
        assert_int_equal(plain.error.status, PONS_EPROTOCOL); // who did not ask gets an error
        seen s = read_every_way(asked, rows[i].stream);
        assert_int_equal(s.error.status, PONS_OK);
        assert_non_null(s.value);
        const pons_value *calls = pons_get(s.value, "tool_calls");
        bool fault = pons_get(s.value, "fault") != NULL;
        for (size_t k = 0; k < json_array_size(calls); k++) {
            const pons_value *c = json_array_get(calls, k);
            fault = pons_get(c, "fault") != NULL;
            assert_true(fault);
            assert_int_equal(json_object_size(pons_get(c, "arguments")), 0);
        }
        assert_true(fault);
        if (rows[i].reply) {
            char text[1024];
            snprintf(text, sizeof text, "%s", rows[i].reply);
            for (char *at = text; (at = strchr(at, '\''));) {
                *at = '"';
            }
            pons_autovalue want = fixture_json(text);
            if (!json_equal(want, s.value)) {
                char *got = NULL;
                pons_value_line(s.value, &got);
                fail_msg("row %zu: %s", i, got);
            }
        }
        pons_value_unref(s.value);
    }
    free(asked);
}

static void test_how_much_a_model_takes_is_read_where_servers_say_it(void **state)
{
    (void)state;
    static const struct {
        const char *text, *list;
    } rows[] = {
        {"{\"object\":\"list\",\"data\":[{\"id\":\"gpt\",\"object\":\"model\"}]}",
         "[{\"id\":\"gpt\"}]"},
        {"{\"data\":[{\"id\":\"a\",\"meta\":{\"n_ctx_train\":2048}},{\"id\":\"b\",\"max_model_"
         "len\":"
         "4096}]}",
         "[{\"id\":\"a\",\"context_tokens\":2048},{\"id\":\"b\",\"context_tokens\":4096}]"},
        {"{\"data\":[{\"id\":\"a\",\"context_length\":128000,\"max_context_length\":-3}]}",
         "[{\"id\":\"a\",\"context_tokens\":128000}]"},
        {"{\"models\":[{\"name\":\"llama\"}]}", "[{\"id\":\"llama\"}]"},
        {"{\"data\":[{\"id\":7},[],{\"id\":\"a\",\"n_ctx\":\"many\"}]}", "[{\"id\":\"a\"}]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autovalue v = NULL;
        pons_autovalue want = fixture_json(rows[i].list);
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons__models_read(rows[i].text, strlen(rows[i].text), &v, &err), PONS_OK);
        assert_true(json_equal(pons_get(v, "models"), want));
    }
    static const char *const bad[] = {"", "<html>", "{}", "{\"data\":3}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pons_value *v = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons__models_read(bad[i], strlen(bad[i]), &v, &err), PONS_EPROTOCOL);
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_come_as_a_reply_where_they_are_asked_for),
        cmocka_unit_test(test_how_much_a_model_takes_is_read_where_servers_say_it),
        cmocka_unit_test(test_what_servers_send),
        cmocka_unit_test(test_calls_without_ids),
        cmocka_unit_test(test_halves_of_characters),
        cmocka_unit_test(test_the_rest_of_a_reply),
        cmocka_unit_test(test_what_comes_beside),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_missing_ids),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_many_calls),
        cmocka_unit_test(test_key_is_never_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
