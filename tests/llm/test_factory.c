// Handles and recordings: what shares a client and what does not, that each handle gets its own
// events whoever takes them from the provider, that a run's calls are counted, and that a recorded
// conversation is served again, event for event at the same times of an injected clock, with a
// difference named and the key nowhere in the file.
#include "llm/fake_server.h"
#include "llm/llm_fixture.h"
#include "pons/buf.h"
#include "pons/llm.h"
#include "unit.h"

#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY     "sk-secret-0123456789"
#define HANG_MS 120000 // a test that waits so long has failed
#define GOOD                                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"              \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":"           \
    "\"stop\"}]}\n\ndata: [DONE]\n\n"

static pons_clock_manual manual;
static char dir[] = "/tmp/pons-factory-XXXXXX";

static pons_llm_factory *make_factory(void)
{
    pons_clock clock = pons_clock_from_manual(&manual);
    pons_llm_factory *f = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_llm_factory_create(&clock, &f, &err), PONS_OK);
    return f;
}

static pons_llm open_config(pons_llm_factory *f, const char *config)
{
    pons_autovalue v = fixture_json(config);
    pons_error err = PONS_ERROR_INIT;
    pons_llm llm = {0};
    if (pons_llm_factory_open(f, v, &llm, &err) != PONS_OK) {
        fixture_fail(&err, config);
    }
    return llm;
}

static int start(pons_llm llm, uint64_t call, const char *request, pons_error *err)
{
    pons_autovalue q = fixture_json(request);
    pons_error ignored = PONS_ERROR_INIT;
    return llm.ops->start(llm.self, call, q, err ? err : &ignored);
}

static void close_llm(pons_llm llm)
{
    llm.ops->close(llm.self);
}

// Everything that is there now, as "call:token", "call=content", "call!message", with a bar after.
static void take_all(pons_llm llm, char *out, size_t cap)
{
    pons_llm_event ev;
    out[0] = '\0';
    while (llm.ops->next(llm.self, &ev)) {
        size_t n = strlen(out);
        const char *text = ev.kind == PONS_LLM_DONE    ? pons_get_str(ev.value, "content", "null")
                           : ev.kind == PONS_LLM_ERROR ? ev.error.message
                                                       : ev.text;
        snprintf(out + n, cap - n, "%d%c%s|", (int)ev.call, ":=!?"[ev.kind], text);
        pons_llm_event_clear(&ev);
    }
}

static void expect_events(pons_llm llm, const char *events)
{
    char out[4000];
    take_all(llm, out, sizeof out);
    assert_string_equal(out, events);
}

// ---- the factory --------------------------------------------------------------------------------

static void test_fingerprints(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"{\"url\":\"http://h/v1\",\"model\":\"m\"}", "{\"model\":\"m\",\"url\":\"http://h/v1\"}",
         true},
        {"{\"url\":\"http://h/v1\"}", "{\"url\":\"http://h/v1//\",\"api_key\":null}", true},
        {"{\"url\":\"http://h/v1\"}", "{\"url\":\"http://h/v2\"}", false},
        {"{\"url\":\"http://h\",\"model\":\"m\"}", "{\"url\":\"http://h\",\"model\":\"n\"}", false},
        {"{\"url\":\"http://h\",\"api_key\":\"" KEY "\"}", "{\"url\":\"http://h\"}", false},
        {"{\"url\":\"http://h\",\"api_key\":\"" KEY "\"}",
         "{\"url\":\"http://h\",\"api_key\":\"" KEY "0\"}", false},
        {"{\"timeouts\":{\"total_s\":1}}", "{\"timeouts\":{\"total_s\":2}}", false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        pons_autovalue a = fixture_json(pairs[i].a);
        pons_autovalue b = fixture_json(pairs[i].b);
        char fa[PONS_LLM_FINGERPRINT_MAX], fb[PONS_LLM_FINGERPRINT_MAX];
        pons_llm_fingerprint(a, fa);
        pons_llm_fingerprint(b, fb);
        assert_int_equal(strlen(fa), 32);
        assert_int_equal(strcmp(fa, fb) == 0, pairs[i].same);
    }
}

static void test_sharing(void **state)
{
    (void)state;
    static const char one[] = "{\"replies\":[{\"content\":\"a\",\"tokens\":1},"
                              "{\"content\":\"b\",\"tokens\":1},{\"content\":\"c\",\"tokens\":1}]}";
    pons_llm_factory *f = make_factory();
    pons_llm x = open_config(f, one), y = open_config(f, one);
    pons_llm z = open_config(f, "{\"replies\":[{\"content\":\"z\",\"tokens\":0}]}");
    assert_int_equal(pons_llm_factory_clients(f), 2);
    // One script behind both: its replies are used up by both. Call numbers are each handle's own.
    start(x, 1, "{\"messages\":[]}", NULL);
    start(y, 1, "{\"messages\":[]}", NULL);
    start(z, 1, "{\"messages\":[]}", NULL);
    expect_events(y, "1:b|1=b|"); // x's were taken on the way, and kept for x
    expect_events(x, "1:a|1=a|");
    expect_events(z, "1=z|");
    // Cancelled, before and after another handle has taken it from the provider.
    start(x, 2, "{\"messages\":[]}", NULL);
    x.ops->cancel(x.self, 2);
    expect_events(x, "");
    start(x, 3, "{\"messages\":[]}", NULL);
    start(y, 3, "{\"messages\":[]}", NULL);
    expect_events(y, "3!the script has no reply left for this request|");
    x.ops->cancel(x.self, 3);
    expect_events(x, "");
    // A client ends with its last handle; the factory's owner may go before.
    close_llm(z);
    assert_int_equal(pons_llm_factory_clients(f), 1);
    close_llm(x);
    assert_int_equal(pons_llm_factory_clients(f), 1);
    pons_llm_factory_destroy(f);
    start(y, 4, "{\"messages\":[]}", NULL);
    close_llm(y);
    pons_llm_factory_destroy(NULL);
}

static void test_bad_configurations(void **state)
{
    (void)state;
    static const struct {
        const char *config, *message;
        int status;
    } bad[] = {
        {"{\"provider\":\"../x\"}", "not the name of a provider", PONS_EINVAL},
        {"{\"provider\":\"nonesuch\"}", "nonesuch", PONS_ENOTFOUND},
        {"{\"path\":\"/nowhere/s.yaml\"}", "", PONS_ENOTFOUND},
        {"{\"provider\":\"replay\"}", "the path of a recording", PONS_EINVAL},
        {"{\"provider\":\"replay\",\"path\":\"/nowhere\"}", "cannot read", PONS_ENOTFOUND},
        {"{\"provider\":\"replay\",\"path\":\"/nowhere\",\"pace\":-1}", "pace", PONS_EINVAL},
        {"{\"provider\":\"replay\",\"path\":\"/nowhere\",\"compare\":\"x\"}", "compare",
         PONS_EINVAL},
        {"{\"provider\":\"replay\",\"path\":\"/nowhere\",\"ignore\":7}", "ignore", PONS_EINVAL},
        {"{\"replies\":[],\"record\":\"/nowhere/x\"}", "cannot write the recording", PONS_EIO},
    };
    pons_llm_factory *f = make_factory();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pons_autovalue config = fixture_json(bad[i].config);
        pons_error err = PONS_ERROR_INIT;
        pons_llm llm = {0};
        assert_int_equal(pons_llm_factory_open(f, config, &llm, &err), bad[i].status);
        assert_non_null(strstr(err.message, bad[i].message));
        assert_null(llm.ops);
    }
    assert_int_equal(pons_llm_factory_clients(f), 0);
    pons_llm_factory_destroy(f);
}

// A model that calls tools without end: its run ends at the limit, whatever clients it asks, and
// nobody else's does.
static void test_endless_loop(void **state)
{
    (void)state;
    static const char config[] = "{\"replies\":[{\"tool_calls\":[{\"name\":\"look\"}],"
                                 "\"repeat\":true}]}";
    static const char ask[] = "{\"messages\":[],\"run\":\"r1\",\"tools\":[{\"name\":\"look\","
                              "\"parameters\":{}}]}";
    pons_llm_factory *f = make_factory();
    pons_llm x = open_config(f, config);
    pons_llm y = open_config(f, "{\"replies\":[{\"content\":\"y\",\"repeat\":true}]}");
    uint64_t calls = 0;
    pons_error err = PONS_ERROR_INIT;
    while (start(calls % 2 ? y : x, calls + 1, ask, &err) == PONS_OK) {
        calls++;
    }
    assert_int_equal(calls, PONS_LLM_RUN_CALLS_MAX);
    assert_int_equal(err.status, PONS_EREFUSED);
    assert_non_null(strstr(err.message, "64 calls"));
    assert_int_equal(start(y, 100, "{\"messages\":[],\"run\":\"r2\"}", NULL), PONS_OK);
    for (uint64_t i = 0; i < 2 * PONS_LLM_RUN_CALLS_MAX; i++) {
        assert_int_equal(start(y, 200 + i, "{\"messages\":[]}", NULL), PONS_OK);
    }
    // What is remembered is bounded: the runs that called last.
    for (int i = 0; i < PONS_LLM_RUNS_MAX; i++) {
        char request[100];
        snprintf(request, sizeof request, "{\"messages\":[],\"run\":\"other %d\"}", i);
        assert_int_equal(start(y, 1000 + (uint64_t)i, request, NULL), PONS_OK);
    }
    assert_int_equal(start(y, 5000, "{\"messages\":[],\"run\":\"r1\"}", NULL), PONS_OK);
    close_llm(x);
    close_llm(y);
    pons_llm_factory_destroy(f);
}

// Two handles sleep on their own descriptors over one client's: each is woken for its own events,
// also when the other one took them.
static void test_descriptors(void **state)
{
    (void)state;
    const fake_step good = {.bytes = GOOD};
    fake_server *server = fake_server_start(&good, 1);
    char config[200];
    snprintf(config, sizeof config,
             "{\"url\":\"http://127.0.0.1:%d\",\"timeouts\":{\"backoff_s\":0.001}}",
             fake_server_port(server));
    pons_clock clock = pons_clock_real();
    pons_llm_factory *f = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_llm_factory_create(&clock, &f, &err), PONS_OK);
    pons_llm h[2] = {open_config(f, config), open_config(f, config)};
    pons_llm_factory_destroy(f);
    assert_int_not_equal(h[0].ops->event_fd(h[0].self), h[1].ops->event_fd(h[1].self));
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(start(h[i % 2], i / 2, "{\"messages\":[]}", NULL), PONS_OK);
    }
    // The second is looked at only when the first has all of its own: by then the first has taken
    // most of the second's too.
    for (int k = 0; k < 2; k++) {
        for (int ended = 0; ended < 4;) {
            struct pollfd p = {.fd = h[k].ops->event_fd(h[k].self), .events = POLLIN};
            assert_int_equal(poll(&p, 1, HANG_MS), 1);
            pons_llm_event ev;
            while (h[k].ops->next(h[k].self, &ev)) {
                assert_in_range(ev.call, 0, 3);
                assert_true(ev.kind != PONS_LLM_ERROR);
                ended += ev.kind == PONS_LLM_DONE;
                pons_llm_event_clear(&ev);
            }
        }
    }
    start(h[0], 100, "{\"messages\":[]}", NULL);
    close_llm(h[0]); // with a call that runs
    close_llm(h[1]);
    fake_server_stop(server);
}

// ---- recordings ---------------------------------------------------------------------------------

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    pons_buf b = PONS_BUF_INIT;
    char block[4096];
    size_t n;
    while ((n = fread(block, 1, sizeof block, f)) > 0) {
        pons_buf_bytes(&b, block, n);
    }
    fclose(f);
    return pons_buf_take(&b, NULL);
}

static void write_all(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char *in_dir(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static pons_llm open_replay(pons_llm_factory *f, const char *more)
{
    char config[400];
    snprintf(config, sizeof config, "{\"provider\":\"replay\",\"path\":\"%s\"%s}",
             in_dir("talk.jsonl"), more);
    return open_config(f, config);
}

static const char ask_one[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"one\"}],\"run\":\"a\"}";
static const char ask_two[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"two\"}],\"run\":\"a\"}";

// Asks both and shows what comes 10, 20, … ms later.
static void converse(pons_llm llm, char *out, size_t cap)
{
    out[0] = '\0';
    assert_int_equal(start(llm, 1, ask_one, NULL), PONS_OK);
    for (int tick = 0; tick <= 12; tick++, manual.now_ns += 10 * PONS_NS_PER_MS) {
        if (tick == 3) {
            assert_int_equal(start(llm, 2, ask_two, NULL), PONS_OK);
        }
        char now[1000];
        take_all(llm, now, sizeof now);
        size_t n = strlen(out);
        snprintf(out + n, cap - n, *now ? "%d ms: %s\n" : "", tick * 10, now);
    }
}

static void test_record_and_replay(void **state)
{
    (void)state;
    char config[700], first[2000], again[2000];
    snprintf(config, sizeof config,
             "{\"record\":\"%s\",\"api_key\":\"" KEY "\",\"replies\":["
             "{\"reasoning\":\"hm\",\"content\":\"你好 world\",\"tokens\":3,\"delay_ms\":80},"
             "{\"error\":{\"status\":503,\"message\":\"no " KEY "\"},\"delay_ms\":20}]}",
             in_dir("talk.jsonl"));
    unlink(in_dir("talk.jsonl"));
    pons_llm_factory *f = make_factory();
    pons_llm llm = open_config(f, config);
    assert_string_equal(llm.ops->name, "script");
    converse(llm, first, sizeof first);
    assert_non_null(strstr(first, "1=你好 world|"));
    assert_non_null(strstr(first, "2!HTTP 503: no " KEY "|")); // the script said it
    close_llm(llm);
    char *text = read_all(in_dir("talk.jsonl"));
    assert_null(strstr(text, KEY));
    assert_non_null(strstr(text, "no ***"));
    free(text);
    struct stat st;
    assert_int_equal(stat(in_dir("talk.jsonl"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    // The same at the same times, but for the key.
    llm = open_replay(f, "");
    converse(llm, again, sizeof again);
    *strstr(first, KEY) = '\0';
    *strstr(again, "***") = '\0';
    assert_string_equal(again, first);
    close_llm(llm);
    // At once; in another order; under another run.
    llm = open_replay(f, ",\"pace\":0");
    start(llm, 7, "{\"messages\":[{\"role\":\"user\",\"content\":\"two\"}],\"run\":\"b\"}", NULL);
    start(llm, 8, ask_one, NULL);
    start(llm, 9, ask_one, NULL);
    expect_events(llm, "7!HTTP 503: no ***|8?hm|8:你好|8: w|8:orld|8=你好 world|"
                       "9!the recording has no request left: all 2 of it have been made|");
    close_llm(llm);
    pons_llm_factory_destroy(f);
}

static void test_differences(void **state)
{
    (void)state;
    static const struct {
        const char *more, *ask, *events;
    } cases[] = {
        {"", "{\"messages\":[{\"role\":\"user\",\"content\":\"ones\"}]}",
         "1!request 1 is not the recorded one: messages.0.content: recorded \"one\", now "
         "\"ones\"|"},
        {"", "{\"messages\":[]}",
         "1!request 1 is not the recorded one: messages.0: recorded "
         "{\"content\":\"one\",\"role\":\"user\"}, now nothing|"},
        {"", "{\"messages\":[{\"role\":\"user\",\"content\":\"one\"}],\"tools\":[]}",
         "1!request 1 is not the recorded one: tools: recorded nothing, now []|"},
        {"",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"The question that was asked here is much "
         "too "
         "long to be shown as a whole, so only a part of it is\"}]}",
         "1!request 1 is not the recorded one: messages.0.content: recorded \"one\", now "
         "\"The question that was asked here is much too lo…|"},
        {",\"compare\":\"order\"", "{\"messages\":[]}", "1=1|"},
        {",\"ignore\":[\"messages.*.content\"]",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}", "1=1|"},
        {",\"ignore\":[\"messages\",\"t\"]", "{\"t\":7}", "1=1|"},
        {",\"ignore\":[\"messages.1.content\",\"messages.0\"]",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}", "1=1|"},
        {",\"ignore\":[\"messages.1.content\",\"messages.0.contents\",\"\"]",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}",
         "1!request 1 is not the recorded one: messages.0.content: recorded \"one\", now \"x\"|"},
    };
    unlink(in_dir("talk.jsonl"));
    char config[300];
    snprintf(config, sizeof config,
             "{\"record\":\"%s\",\"replies\":[{\"content\":\"1\",\"tokens\":0},"
             "{\"content\":\"2\",\"tokens\":0}]}",
             in_dir("talk.jsonl"));
    pons_llm_factory *f = make_factory();
    pons_llm llm = open_config(f, config);
    start(llm, 1, ask_one, NULL);
    start(llm, 2, ask_two, NULL);
    expect_events(llm, "1=1|2=2|");
    close_llm(llm);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        llm = open_replay(f, cases[i].more);
        start(llm, 1, cases[i].ask, NULL);
        expect_events(llm, cases[i].events);
        close_llm(llm);
    }
    pons_llm_factory_destroy(f);
}

// A recorder that was killed and begun again: one file, two recordings, half a line between.
static void test_killed_recorder(void **state)
{
    (void)state;
    unlink(in_dir("talk.jsonl"));
    char config[300];
    snprintf(config, sizeof config,
             "{\"record\":\"%s\",\"replies\":[{\"content\":\"x\",\"tokens\":1,\"delay_ms\":5}]}",
             in_dir("talk.jsonl"));
    pons_llm_factory *f = make_factory();
    for (int life = 0; life < 2; life++) {
        pons_llm llm = open_config(f, config);
        start(llm, 1, life ? ask_two : ask_one, NULL);
        manual.now_ns += 3 * PONS_NS_PER_MS; // the token, not the end
        expect_events(llm, "1:x|");
        if (life == 1) {
            llm.ops->cancel(llm.self, 1);
        }
        close_llm(llm);
        FILE *file = fopen(in_dir("talk.jsonl"), "a");
        fputs("{\"call\":1,\"t_ms\":9,\"ev", file);
        fclose(file);
    }
    pons_llm llm = open_replay(f, ",\"pace\":0");
    start(llm, 1, ask_two, NULL);
    start(llm, 2, ask_one, NULL);
    expect_events(llm, "1:x|2:x|");
    manual.now_ns += PONS_NS_PER_S;
    expect_events(llm, "1!the recording has no end of this call|"
                       "2!the recording has no end of this call|");
    close_llm(llm);
    pons_llm_factory_destroy(f);
}

static void test_bad_recordings(void **state)
{
    (void)state;
#define HEADING "{\"pons_llm_recording\":1}\n"
#define ASKED   "{\"call\":1,\"t_ms\":0,\"request\":{}}\n"
    static const struct {
        const char *text, *message, *line;
    } bad[] = {
        {"", "no request", ":0"},
        {HEADING, "no request", ":1"},
        {"{}\n", "not a recording", ":1"},
        {"replies:\n", "", ":1"},
        {"{\"pons_llm_recording\":2}\n", "a version", ":1"},
        {HEADING "[1]\n", "neither a request nor an event", ":2"},
        {HEADING "{\"call\":1,\"request\":7}\n", "neither a request nor an event", ":2"},
        {HEADING ASKED "{\"call\":2,\"event\":\"token\",\"text\":\"a\"}\n", "not running", ":3"},
        {HEADING ASKED "{\"call\":1,\"event\":\"token\"}\n", "not a token", ":3"},
        {HEADING ASKED "{\"call\":1,\"event\":\"done\"}\n", "not a token", ":3"},
        {HEADING ASKED "{\"call\":1,\"event\":\"error\",\"status\":0}\n", "not a token", ":3"},
        {HEADING ASKED "{\"call\":1,\"event\":\"boo\"}\n", "not a token", ":3"},
        {HEADING ASKED "{\"call\":1,\"event\":\"done\",\"value\":{}}\n"
                       "{\"call\":1,\"event\":\"done\",\"value\":{}}\n",
         "not running", ":4"},
    };
    pons_llm_factory *f = make_factory();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_all(in_dir("talk.jsonl"), bad[i].text);
        pons_autovalue config = pons_object("provider", json_string("replay"), "path",
                                            json_string(in_dir("talk.jsonl")), NULL);
        pons_error err = PONS_ERROR_INIT;
        pons_llm llm = {0};
        if (pons_llm_factory_open(f, config, &llm, &err) != PONS_EINVAL ||
            !strstr(err.message, bad[i].message) || !strstr(err.source, bad[i].line)) {
            print_error("%s gave %s [%s]\n", bad[i].text, err.message, err.source);
            fail();
        }
    }
    pons_llm_factory_destroy(f);
}

// A provider that says the key, cut into tokens in every way.
static struct {
    pons_llm_event events[8];
    size_t n, at;
} parrot;

static int parrot_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    (void)self, (void)call, (void)request, (void)err;
    return PONS_OK;
}

static bool parrot_next(void *self, pons_llm_event *ret)
{
    (void)self;
    if (parrot.at == parrot.n) {
        return false;
    }
    *ret = parrot.events[parrot.at++];
    return true;
}

static void parrot_close(void *self)
{
    (void)self;
}

static void test_key_is_never_recorded(void **state)
{
    (void)state;
    static const pons_llm_ops parrot_ops = {.abi = PONS_LLM_ABI,
                                            .name = "parrot",
                                            .close = parrot_close,
                                            .start = parrot_start,
                                            .next = parrot_next};
    pons_clock clock = pons_clock_from_manual(&manual);
    for (size_t cut = 1; cut < strlen(KEY); cut++) {
        unlink(in_dir("talk.jsonl"));
        pons_llm llm;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons_llm_record((pons_llm){.ops = &parrot_ops}, in_dir("talk.jsonl"), KEY,
                                         &clock, &llm, &err),
                         PONS_OK);
        start(llm, 1, "{\"messages\":[{\"content\":\"my key is " KEY "\"}]}", NULL);
        parrot.n = parrot.at = 0;
        for (int k = 0; k < 2; k++) {
            pons_llm_event_kind kind = k ? PONS_LLM_TOKEN : PONS_LLM_REASONING;
            parrot.events[parrot.n++] =
                (pons_llm_event){.call = 1, .kind = kind, .text = strndup(KEY, cut)};
            parrot.events[parrot.n++] =
                (pons_llm_event){.call = 1, .kind = kind, .text = strdup(KEY + cut)};
        }
        parrot.events[parrot.n++] = (pons_llm_event){
            .call = 1, .kind = PONS_LLM_DONE, .value = fixture_json("{\"content\":\"" KEY "\"}")};
        char out[500];
        take_all(llm, out, sizeof out);
        assert_non_null(strstr(out, "1=" KEY)); // the host gets what there is
        close_llm(llm);
        char *text = read_all(in_dir("talk.jsonl"));
        assert_null(strstr(text, KEY));
        assert_null(strstr(text, KEY + cut)); // nor its other half
        free(text);
    }
}

static int setup(void **state)
{
    (void)state;
    pons_value_init();
    setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/lib/pons", 0);
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    unlink(in_dir("talk.jsonl"));
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprints),       cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_bad_configurations), cmocka_unit_test(test_endless_loop),
        cmocka_unit_test(test_descriptors),        cmocka_unit_test(test_record_and_replay),
        cmocka_unit_test(test_differences),        cmocka_unit_test(test_killed_recorder),
        cmocka_unit_test(test_bad_recordings),     cmocka_unit_test(test_key_is_never_recorded),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
