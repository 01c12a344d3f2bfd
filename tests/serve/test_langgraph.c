// LangGraph's classic API, over real sockets, on a graph that can be held anywhere: what is shown of a
// run, that a stream which is cut at any event goes on with the next one, that a server's end is not a
// run's, and what becomes of a second run on a thread that is at work.
#include "pons/buf.h"
#include "serve/access/route.h"
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph_bench.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 256 };

#define AT(buf, ...) (snprintf(buf, PATH, __VA_ARGS__), buf)

// The value of the last line "data: " of an event of that name; the caller's.
static pons_value *last(const char *stream, const char *event)
{
    char line[64];
    const char *at = NULL;
    snprintf(line, sizeof line, "event: %s\ndata: ", event);
    for (const char *p = strstr(stream, line); p; p = strstr(p + 1, line)) {
        at = p;
    }
    if (!at) {
        fail_msg("no %s in\n%s", event, stream);
    }
    at += strlen(line);
    pons_value *v = json_loadb(at, strcspn(at, "\n"), JSON_DECODE_ANY, NULL);
    assert_non_null(v);
    return v;
}

// "metadata values updates …"
static void names(const char *stream, char *ret, size_t cap)
{
    size_t n = 0;
    *ret = '\0';
    for (const char *p = strstr(stream, "event: "); p; p = strstr(p + 1, "event: ")) {
        p += strlen("event: ");
        n += (size_t)snprintf(ret + n, cap - n, "%s%.*s", n ? " " : "", (int)strcspn(p, "\n"), p);
    }
}

static size_t asked(const pons_value *v)
{
    return json_array_size(pons_get(v, "__interrupt__"));
}

// ---- one run ------------------------------------------------------------------------------------

static void test_a_run_is_streamed(void **state)
{
    (void)state;
    lg t;
    char thread[64], path[PATH], said[512];
    lg_open(&t);
    lg_thread(&t, thread);
    char *s = lg_text(&t, "POST", AT(path, "/threads/%s/runs/stream", thread), NULL,
                      "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":2},\"stream_mode\":"
                      "[\"values\",\"updates\",\"custom\",\"messages-tuple\"]}");
    names(s, said, sizeof said);
    assert_string_equal(said,
                        "metadata values custom messages updates values custom messages updates "
                        "values updates values end");
    pons_autovalue values = last(s, "values");
    pons_autovalue message = last(s, "messages");
    assert_int_equal(json_array_size(pons_get(values, "letters")), 2);
    assert_int_equal(asked(values), 1);
    assert_string_equal(pons_get_str(json_array_get(message, 0), "content", ""), "2 ");
    assert_string_equal(pons_get_str(json_array_get(message, 1), "langgraph_node", ""), "write");
    free(s);
    pons_autovalue v = lg_call(&t, 200, "GET", AT(path, "/threads/%s", thread), NULL);
    assert_string_equal(pons_get_str(v, "status", ""), "interrupted");
    pons_autovalue st = lg_call(&t, 200, "GET", AT(path, "/threads/%s/state", thread), NULL);
    const pons_value *task = json_array_get(pons_get(st, "tasks"), 0);
    assert_string_equal(pons_get_str(task, "name", ""), "ask");
    assert_string_equal(pons_get_str(json_array_get(pons_get(task, "interrupts"), 0), "value", ""),
                        "post 2 letters?");
    s = lg_text(&t, "POST", AT(path, "/threads/%s/runs/wait", thread), NULL,
                "{\"assistant_id\":\"letters\",\"command\":{\"resume\":\"yes\"}}");
    pons_autovalue end = json_loads(s, 0, NULL);
    assert_true(json_is_true(pons_get(end, "posted")));
    assert_int_equal(asked(end), 0);
    free(s);
    pons_autovalue runs = lg_call(&t, 200, "GET", AT(path, "/threads/%s/runs", thread), NULL);
    assert_int_equal(json_array_size(runs), 2);
    assert_true(pons_get(pons_get(json_array_get(runs, 0), "kwargs"), "command") != NULL); // newest
    lg_close(&t);
}

// What LangChain's callbacks would have said: "start:write" …, each with who is above it.
static void test_events_of_callbacks(void **state)
{
    (void)state;
    lg t;
    lg_open(&t);
    char *s = lg_text(&t, "POST", "/runs/stream", NULL,
                      "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":1},"
                      "\"stream_mode\":[\"events\"]}");
    pons_autobuf reported = PONS_BUF_INIT;
    pons_autovalue meta = last(s, "metadata");
    pons_autovalue begun = json_object();
    const char *run = pons_get_str(meta, "run_id", "?");
    for (const char *p = strstr(s, "event: events\ndata: "); p;
         p = strstr(p + 1, "event: events\ndata: ")) {
        const char *text = p + strlen("event: events\ndata: ");
        pons_autovalue e = json_loadb(text, strcspn(text, "\n"), 0, NULL);
        const char *id = pons_get_str(e, "run_id", ""), *what = pons_get_str(e, "event", "");
        const pons_value *above = pons_get(e, "parent_ids");
        pons_buf_printf(&reported, "%s:%s:%zu ", what, pons_get_str(e, "name", ""),
                        json_array_size(above));
        assert_true(json_is_array(pons_get(e, "tags")) && json_is_object(pons_get(e, "data")));
        if (json_array_size(above) > 0) {
            assert_string_equal(json_string_value(json_array_get(above, 0)), run);
        } else {
            assert_string_equal(id, run);
        }
        if (strstr(what, "_start")) { // an id is of one thing
            assert_null(json_object_get(begun, id));
            json_object_set_new(begun, id, json_true());
        } else {
            assert_non_null(json_object_get(begun, id));
        }
    }
    pons_buf_byte(&reported, 0);
    // The question ends the run, not its node.
    assert_string_equal(reported.data,
                        "on_chain_start:letters:0 on_chain_start:write:1 "
                        "on_chat_model_start:model:2 on_chat_model_stream:model:2 "
                        "on_chat_model_end:model:2 on_chain_stream:write:1 on_chain_end:write:1 "
                        "on_chain_start:ask:1 on_chain_end:letters:0 ");
    assert_null(strstr(s, "event: values"));
    assert_null(strstr(s, "event: tasks"));
    free(s);
    pons_autovalue no = lg_call(&t, 422, "POST", "/runs",
                                "{\"assistant_id\":\"letters\",\"feedback_keys\":[\"liked\"]}");
    assert_non_null(strstr(pons_get_str(no, "detail", ""), "feedback_keys"));
    lg_close(&t);
}

// A state that is larger than what a stream keeps for a client.
static void test_a_large_state(void **state)
{
    (void)state;
    enum { LARGE = 900 * 1024 };
    lg t;
    lg_open(&t);
    pons_autobuf body = PONS_BUF_INIT;
    pons_buf_str(&body, "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":2,\"posted\":\"");
    for (int i = 0; i < LARGE; i++) {
        pons_buf_byte(&body, 'x');
    }
    pons_buf_str(&body, "\"}}");
    pons_buf_byte(&body, 0);
    char *s = lg_text(&t, "POST", "/runs/stream", NULL, body.data);
    pons_autovalue values = last(s, "values");
    assert_int_equal(strlen(pons_get_str(values, "posted", "")), LARGE);
    assert_int_equal(json_array_size(pons_get(values, "letters")), 2);
    assert_non_null(strstr(s, "event: end"));
    free(s);
    s = lg_text(&t, "POST", "/runs/wait", NULL, body.data);
    pons_autovalue waited = json_loads(s, 0, NULL);
    assert_int_equal(strlen(pons_get_str(waited, "posted", "")), LARGE);
    free(s);
    lg_close(&t);
}

// Names that would be another file, another header, or nothing that can be seen.
static void test_names_of_threads(void **state)
{
    (void)state;
    static const char *const names_of[] = {"a%2Fb", "%2E%2E%2Fx", "a%20b", "%E2%80%AEx"};
    static const char *const ids[] = {"a/b", "../x", "", "a b", "a\\nb", "a\\u202ex"};
    lg t;
    char path[PATH], body[PATH];
    lg_open(&t);
    for (size_t i = 0; i < sizeof names_of / sizeof names_of[0]; i++) {
        snprintf(path, sizeof path, "/threads/%s/runs", names_of[i]);
        pons_autovalue no = lg_call(&t, 422, "POST", path,
                                    "{\"assistant_id\":\"letters\",\"if_not_exists\":\"create\"}");
    }
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        snprintf(body, sizeof body, "{\"thread_id\":\"%s\"}", ids[i]);
        pons_autovalue no = lg_call(&t, 422, "POST", "/threads", body);
    }
    lg_close(&t);
}

static void test_messages_grow(void **state)
{
    (void)state;
    lg t;
    char thread[64], path[PATH], said[512];
    lg_open(&t);
    lg_thread(&t, thread);
    char *s = lg_text(&t, "POST", AT(path, "/threads/%s/runs/stream", thread), NULL,
                      "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":2},\"stream_mode\":"
                      "\"messages\"}");
    names(s, said, sizeof said);
    assert_string_equal(said, "metadata messages/metadata messages/partial messages/partial end");
    pons_autovalue whole = last(s, "messages/partial");
    assert_string_equal(pons_get_str(json_array_get(whole, 0), "content", ""), "1 2 ");
    free(s);
    lg_close(&t);
}

static void test_a_failed_run_says_why(void **state)
{
    (void)state;
    lg t;
    char thread[64], path[PATH];
    lg_open(&t);
    lg_thread(&t, thread);
    char *s = lg_text(&t, "POST", AT(path, "/threads/%s/runs/stream", thread), NULL,
                      "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":2,\"broken\":true}}");
    pons_autovalue error = last(s, "error");
    assert_non_null(strstr(pons_get_str(error, "message", ""), "the pen is broken"));
    free(s);
    s = lg_text(&t, "POST", "/runs/wait", NULL,
                "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":2,\"broken\":true}}");
    pons_autovalue v = json_loads(s, 0, NULL);
    assert_non_null(strstr(pons_get_str(pons_get(v, "__error__"), "message", ""), "pen"));
    free(s);
    pons_autovalue thread_now = lg_call(&t, 200, "GET", AT(path, "/threads/%s", thread), NULL);
    assert_string_equal(pons_get_str(thread_now, "status", ""), "error");
    lg_close(&t);
}

// ---- a stream that is cut -----------------------------------------------------------------------

// Wherever a client lost its connection, what it has and what it gets then are what it would have got.
static void test_a_cut_stream_goes_on(void **state)
{
    (void)state;
    lg t;
    char thread[64], path[PATH], header[64];
    lg_open(&t);
    lg_thread(&t, thread);
    char *whole = lg_text(&t, "POST", AT(path, "/threads/%s/runs/stream", thread), NULL,
                          "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":3},\"stream_mode\":"
                          "[\"values\",\"updates\",\"custom\",\"messages\",\"messages-tuple\","
                          "\"events\"]}");
    pons_autovalue meta = last(whole, "metadata");
    char run[64];
    snprintf(run, sizeof run, "%s", pons_get_str(meta, "run_id", ""));
    snprintf(path, sizeof path, "/threads/%s/runs/%s/stream", thread, run);
    char *all = lg_text(&t, "GET", path, "Last-Event-ID: -1\r\n", NULL);
    assert_string_equal(all, whole);
    free(all);
    // Each way of saying which modes, of clients of different ages.
    static const char *const ways[] = {"?stream_mode=custom&stream_mode=updates",
                                       "?stream_mode=%5B%22custom%22,%22updates%22%5D",
                                       "?stream_mode=custom,updates"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char with[2 * PATH], said[512];
        snprintf(with, sizeof with, "%s%s", path, ways[i]);
        char *s = lg_text(&t, "GET", with, NULL, NULL);
        names(s, said, sizeof said);
        assert_string_equal(said,
                            "metadata custom updates custom updates custom updates updates end");
        free(s);
    }
    int n = 0;
    for (const char *p = strstr(whole, "id: "); p; p = strstr(p + 1, "\nid: ")) {
        const char *id = p + (*p == '\n' ? 5 : 4), *rest = strstr(p + 1, "\n\n") + 2;
        snprintf(header, sizeof header, "Last-Event-ID: %.*s\r\n", (int)strcspn(id, "\n"), id);
        char *s = lg_text(&t, "GET", path, header, NULL);
        assert_string_equal(s, rest);
        free(s);
        n++;
    }
    assert_in_range(n, 40, 200);
    free(whole);
    lg_close(&t);
}

// ---- a server that goes -------------------------------------------------------------------------

static void test_a_run_outlives_its_server(void **state)
{
    (void)state;
    lg t;
    char thread[64], path[PATH];
    lg_open(&t);
    lg_thread(&t, thread);
    pons_autovalue run =
        lg_call(&t, 200, "POST", AT(path, "/threads/%s/runs", thread),
                "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":2,\"gated\":true},"
                "\"stream_mode\":[\"values\",\"updates\"]}");
    const char *id = pons_get_str(run, "run_id", "");
    lg_wait_gate(&t, 1);
    lg_open_gate(&t);
    lg_wait_gate(&t, 2);
    lg_restart(&t);
    lg_wait_gate(&t, 3);
    assert_int_equal(t.restarted, 1);
    pons_autovalue again =
        lg_call(&t, 200, "GET", AT(path, "/threads/%s/runs/%s", thread, id), NULL);
    assert_string_equal(pons_get_str(again, "status", ""), "running");
    pons_autovalue busy = lg_call(&t, 200, "GET", AT(path, "/threads/%s", thread), NULL);
    assert_string_equal(pons_get_str(busy, "status", ""), "busy");
    lg_open_gate(&t);
    char *s = lg_text(&t, "GET", AT(path, "/threads/%s/runs/%s/stream", thread, id),
                      "Last-Event-ID: -1\r\n", NULL);
    pons_autovalue values = last(s, "values");
    assert_int_equal(json_array_size(pons_get(values, "letters")), 2);
    assert_string_equal(json_string_value(json_array_get(pons_get(values, "letters"), 1)),
                        "letter 2");
    free(s);
    pons_autovalue end =
        lg_until(&t, AT(path, "/threads/%s/runs/%s", thread, id), "status", "success");
    lg_close(&t);
}

// ---- a second run -------------------------------------------------------------------------------

#define GATED "\"assistant_id\":\"letters\",\"input\":{\"wanted\":1,\"gated\":true}"

static pons_value *submit(lg *t, int want, const char *thread, const char *strategy)
{
    char path[PATH], body[256];
    snprintf(body, sizeof body, "{" GATED ",\"multitask_strategy\":\"%s\"}", strategy);
    return lg_call(t, want, "POST", AT(path, "/threads/%s/runs", thread), body);
}

static void test_a_second_run(void **state)
{
    (void)state;
    lg t;
    char thread[64], path[PATH];
    lg_open(&t);
    lg_thread(&t, thread);
    pons_autovalue first = submit(&t, 200, thread, "enqueue");
    lg_wait_gate(&t, 1);
    pons_autovalue no = submit(&t, 409, thread, "reject");
    pons_autovalue second = submit(&t, 200, thread, "enqueue");
    assert_string_equal(pons_get_str(second, "status", ""), "pending");
    pons_autovalue third = submit(&t, 200, thread, "interrupt"); // both others give way
    lg_wait_gate(&t, 2);
    pons_autovalue a =
        lg_until(&t, AT(path, "/threads/%s/runs/%s", thread, pons_get_str(first, "run_id", "")),
                 "status", "interrupted");
    pons_autovalue b =
        lg_until(&t, AT(path, "/threads/%s/runs/%s", thread, pons_get_str(second, "run_id", "")),
                 "status", "interrupted");
    pons_autovalue fourth = submit(&t, 200, thread, "rollback");
    lg_wait_gate(&t, 3);
    pons_autovalue gone =
        lg_call(&t, 404, "GET",
                AT(path, "/threads/%s/runs/%s", thread, pons_get_str(third, "run_id", "")), NULL);
    pons_autovalue busy = lg_call(&t, 409, "POST", AT(path, "/threads/%s/state", thread),
                                  "{\"values\":{\"wanted\":5}}");
    pons_autovalue kept = lg_call(&t, 409, "DELETE", AT(path, "/threads/%s", thread), NULL);
    lg_open_gate(&t);
    pons_autovalue end =
        lg_until(&t, AT(path, "/threads/%s/runs/%s", thread, pons_get_str(fourth, "run_id", "")),
                 "status", "success");
    pons_autovalue st = lg_call(&t, 200, "GET", AT(path, "/threads/%s/state", thread), NULL);
    assert_int_equal(json_array_size(pons_get(pons_get(st, "values"), "letters")), 1);
    lg_close(&t);
}

static void test_cancel(void **state)
{
    (void)state;
    lg t;
    char thread[64], path[PATH];
    lg_open(&t);
    lg_thread(&t, thread);
    pons_autovalue one = submit(&t, 200, thread, "enqueue");
    lg_wait_gate(&t, 1);
    char *s = lg_text(&t, "POST",
                      AT(path, "/threads/%s/runs/%s/cancel?wait=1&action=interrupt", thread,
                         pons_get_str(one, "run_id", "")),
                      NULL, "{}");
    free(s);
    pons_autovalue v =
        lg_call(&t, 200, "GET",
                AT(path, "/threads/%s/runs/%s", thread, pons_get_str(one, "run_id", "")), NULL);
    assert_string_equal(pons_get_str(v, "status", ""), "interrupted");
    pons_autovalue st = lg_call(&t, 200, "GET", AT(path, "/threads/%s/state", thread), NULL);
    assert_int_equal(json_array_size(pons_get(st, "next")), 1); // where it was left
    pons_autovalue two = submit(&t, 200, thread, "enqueue");
    lg_wait_gate(&t, 2);
    s = lg_text(&t, "POST",
                AT(path, "/threads/%s/runs/%s/cancel?wait=1&action=rollback", thread,
                   pons_get_str(two, "run_id", "")),
                NULL, "{}");
    free(s);
    pons_autovalue gone =
        lg_call(&t, 404, "GET",
                AT(path, "/threads/%s/runs/%s", thread, pons_get_str(two, "run_id", "")), NULL);
    pons_autovalue was = lg_call(&t, 200, "GET", AT(path, "/threads/%s/state", thread), NULL);
    assert_string_equal(pons_get_str(pons_get(was, "metadata"), "run_id", ""),
                        pons_get_str(pons_get(st, "metadata"), "run_id", "-"));
    lg_close(&t);
}

// A client that said that its run goes with it.
// A node that is in the midst of something hears of it; what it leaves with counts, unless it is taken back.
static void test_cancel_reaches_a_node_at_work(void **state)
{
    (void)state;
    static const char *const ways[] = {"interrupt", "rollback"};
    static const char STUCK[] =
        "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":3,\"stuck\":true}}";
    for (int i = 0; i < 2; i++) {
        lg t;
        char thread[64], path[PATH];
        const int before = atomic_load(&lg_stuck);
        lg_open(&t);
        lg_thread(&t, thread);
        pons_autovalue one = lg_call(&t, 200, "POST", AT(path, "/threads/%s/runs", thread), STUCK);
        while (atomic_load(&lg_stuck) == before) {
            poll(NULL, 0, 1);
        }
        free(lg_text(&t, "POST",
                     AT(path, "/threads/%s/runs/%s/cancel?wait=1&action=%s", thread,
                        pons_get_str(one, "run_id", ""), ways[i]),
                     NULL, "{}"));
        pons_autovalue run =
            lg_call(&t, i ? 404 : 200, "GET",
                    AT(path, "/threads/%s/runs/%s", thread, pons_get_str(one, "run_id", "")), NULL);
        pons_autovalue st = lg_call(&t, 200, "GET", AT(path, "/threads/%s/state", thread), NULL);
        assert_string_equal(pons_get_str(run, "status", ""), i ? "" : "interrupted");
        assert_int_equal(json_array_size(pons_get(pons_get(st, "values"), "letters")), i ? 0 : 2);
        lg_close(&t);
    }
}

static void test_a_client_that_goes(void **state)
{
    (void)state;
    lg t;
    char thread[64], path[PATH];
    lg_open(&t);
    lg_thread(&t, thread);
    const int fd = lg_begin(&t, "POST", AT(path, "/threads/%s/runs/stream", thread), NULL,
                            "{" GATED ",\"on_disconnect\":\"cancel\"}");
    lg_wait_gate(&t, 1);
    free(bench_until(fd, "event: values"));
    close(fd);
    pons_autovalue runs = lg_call(&t, 200, "GET", AT(path, "/threads/%s/runs", thread), NULL);
    const char *id = pons_get_str(json_array_get(runs, 0), "run_id", "");
    pons_autovalue v =
        lg_until(&t, AT(path, "/threads/%s/runs/%s", thread, id), "status", "interrupted");
    lg_close(&t);
}

// ---- threads ------------------------------------------------------------------------------------

static void test_threads(void **state)
{
    (void)state;
    lg t;
    char path[PATH];
    lg_open(&t);
    pons_autovalue a =
        lg_call(&t, 200, "POST", "/threads",
                "{\"thread_id\":\"t1\",\"metadata\":{\"who\":\"mara\",\"none\":null}}");
    pons_autovalue no = lg_call(&t, 409, "POST", "/threads", "{\"thread_id\":\"t1\"}");
    pons_autovalue same =
        lg_call(&t, 200, "POST", "/threads", "{\"thread_id\":\"t1\",\"if_exists\":\"do_nothing\"}");
    assert_string_equal(pons_get_str(pons_get(same, "metadata"), "who", ""), "mara");
    assert_int_equal(json_object_size(pons_get(same, "metadata")), 1);
    pons_autovalue with = lg_call(&t, 200, "PATCH", "/threads/t1", "{\"metadata\":{\"room\":3}}");
    assert_int_equal(json_object_size(pons_get(with, "metadata")), 2);
    pons_autovalue found = lg_call(&t, 200, "POST", "/threads/search",
                                   "{\"metadata\":{\"who\":\"mara\"},\"select\":[\"thread_id\"]}");
    assert_int_equal(json_array_size(found), 1);
    assert_int_equal(json_object_size(json_array_get(found, 0)), 1);
    pons_autovalue n =
        lg_call(&t, 200, "POST", "/threads/count", "{\"metadata\":{\"who\":\"mara\"}}");
    assert_int_equal(json_integer_value(n), 1);
    pons_autovalue run =
        lg_call(&t, 404, "POST", "/threads/t2/runs", "{\"assistant_id\":\"letters\"}");
    char *s = lg_text(
        &t, "POST", "/threads/t2/runs/wait", NULL,
        "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":1},\"if_not_exists\":\"create\"}");
    free(s);
    pons_autovalue copy = lg_call(&t, 200, "POST", "/threads/t2/copy", NULL);
    const char *id = pons_get_str(copy, "thread_id", "");
    assert_string_equal(pons_get_str(copy, "status", ""), "interrupted");
    s = lg_text(&t, "POST", AT(path, "/threads/%s/runs/wait", id), NULL,
                "{\"assistant_id\":\"letters\",\"command\":{\"resume\":\"yes\"}}");
    free(s);
    pons_autovalue still = lg_call(&t, 200, "GET", "/threads/t2", NULL);
    assert_string_equal(pons_get_str(still, "status", ""), "interrupted"); // the copy went on alone
    pons_autovalue gone = lg_call(&t, 204, "DELETE", AT(path, "/threads/%s", id), NULL);
    pons_autovalue none = lg_call(&t, 404, "GET", AT(path, "/threads/%s", id), NULL);
    pons_autovalue pruned = lg_call(&t, 200, "POST", "/threads/prune",
                                    "{\"thread_ids\":[\"t1\",\"nobody\"],\"strategy\":\"delete\"}");
    assert_int_equal(pons_get_int(pruned, "pruned_count", 0), 1);
    lg_close(&t);
}

static void test_state(void **state)
{
    (void)state;
    lg t;
    lg_open(&t);
    char *s = lg_text(
        &t, "POST", "/threads/t/runs/wait", NULL,
        "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":3},\"if_not_exists\":\"create\"}");
    free(s);
    pons_autovalue past = lg_call(&t, 200, "POST", "/threads/t/history", "{\"limit\":100}");
    assert_int_equal(json_array_size(past), 5);
    const char *second = pons_get_str(json_array_get(past, 2), "checkpoint_id", "");
    char path[PATH], body[256];
    pons_autovalue at = lg_call(&t, 200, "GET", AT(path, "/threads/t/state/%s", second), NULL);
    assert_int_equal(json_array_size(pons_get(pons_get(at, "values"), "letters")), 1);
    snprintf(body, sizeof body, "{\"before\":\"%s\",\"limit\":100}", second);
    pons_autovalue older = lg_call(&t, 200, "POST", "/threads/t/history", body);
    assert_int_equal(json_array_size(older), 2);
    // A fork of it: other letters, and the question again.
    snprintf(body, sizeof body,
             "{\"values\":{\"letters\":[\"by "
             "hand\"],\"wanted\":2},\"as_node\":\"write\",\"checkpoint\":{"
             "\"checkpoint_id\":\"%s\"}}",
             second);
    pons_autovalue change = lg_call(&t, 200, "POST", "/threads/t/state", body);
    assert_non_null(pons_get(change, "checkpoint"));
    s = lg_text(&t, "POST", "/threads/t/runs/wait", NULL,
                "{\"assistant_id\":\"letters\",\"input\":null}");
    pons_autovalue end = json_loads(s, 0, NULL);
    assert_int_equal(json_array_size(pons_get(end, "letters")), 2);
    assert_string_equal(json_string_value(json_array_get(pons_get(end, "letters"), 1)), "by hand");
    assert_int_equal(asked(end), 1);
    free(s);
    // The same of a run: from a checkpoint on.
    snprintf(body, sizeof body, "{\"assistant_id\":\"letters\",\"checkpoint_id\":\"%s\"}", second);
    s = lg_text(&t, "POST", "/threads/t/runs/wait", NULL, body);
    pons_autovalue forked = json_loads(s, 0, NULL);
    assert_int_equal(json_array_size(pons_get(forked, "letters")), 3);
    free(s);
    pons_autovalue missing = lg_call(&t, 404, "GET", "/threads/t/state/nothing", NULL);
    pons_autovalue nobody = lg_call(&t, 404, "GET", "/threads/nobody/state", NULL);
    lg_close(&t);
}

// ---- assistants, items, runs without a thread ---------------------------------------------------

static void test_assistants(void **state)
{
    (void)state;
    lg t;
    char path[PATH];
    lg_open(&t);
    pons_autovalue all = lg_call(&t, 200, "POST", "/assistants/search",
                                 "{\"sort_by\":\"name\",\"sort_order\":\"asc\"}");
    assert_int_equal(json_array_size(all), 3);
    pons_autovalue other = lg_call(&t, 200, "GET", "/assistants/others", NULL);
    assert_string_equal(pons_get_str(other, "graph_id", ""), "others");
    pons_autovalue nodes = lg_call(&t, 200, "GET", "/assistants/others/graph", NULL);
    assert_int_equal(json_array_size(pons_get(nodes, "nodes")), 5);
    pons_autovalue schemas = lg_call(&t, 200, "GET", "/assistants/letters/schemas", NULL);
    assert_non_null(pons_get(pons_get(pons_get(schemas, "state_schema"), "properties"), "letters"));
    char own[64];
    snprintf(own, sizeof own, "%s", pons_get_str(json_array_get(all, 0), "assistant_id", ""));
    pons_autovalue by_name = lg_call(&t, 200, "GET", "/assistants/letters", NULL);
    assert_string_equal(pons_get_str(by_name, "assistant_id", ""), own);
    pons_autovalue mine =
        lg_call(&t, 200, "POST", "/assistants",
                "{\"graph_id\":\"letters\",\"name\":\"mine\",\"metadata\":{\"x\":1}}");
    const char *id = pons_get_str(mine, "assistant_id", "");
    snprintf(path, sizeof path, "/assistants/%s", id);
    pons_autovalue changed = lg_call(&t, 200, "PATCH", path, "{\"name\":\"ours\"}");
    assert_int_equal(pons_get_int(changed, "version", 0), 2);
    lg_restart(&t);
    pons_autovalue kept = lg_call(&t, 200, "GET", path, NULL);
    assert_string_equal(pons_get_str(kept, "name", ""), "ours");
    snprintf(path, sizeof path, "/assistants/%s/latest", id);
    pons_autovalue back = lg_call(&t, 200, "POST", path, "{\"version\":1}");
    assert_string_equal(pons_get_str(back, "name", ""), "mine");
    snprintf(path, sizeof path, "/assistants/%s/versions", id);
    pons_autovalue versions = lg_call(&t, 200, "POST", path, "{}");
    assert_int_equal(json_array_size(versions), 2);
    assert_int_equal(pons_get_int(json_array_get(versions, 0), "version", 0), 2);
    pons_autovalue n = lg_call(&t, 200, "POST", "/assistants/count", "{\"graph_id\":\"letters\"}");
    assert_int_equal(json_integer_value(n), 2);
    snprintf(path, sizeof path, "/assistants/%s", id);
    pons_autovalue gone = lg_call(&t, 204, "DELETE", path, NULL);
    pons_autovalue none = lg_call(&t, 404, "GET", path, NULL);
    pons_autovalue no = lg_call(&t, 404, "POST", "/assistants", "{\"graph_id\":\"nothing\"}");
    lg_close(&t);
}

static void test_subgraphs(void **state)
{
    (void)state;
    lg t;
    lg_open(&t);
    pons_autovalue flat = lg_call(&t, 200, "GET", "/assistants/mail/subgraphs", NULL);
    assert_int_equal(json_object_size(flat), 1);
    assert_non_null(pons_get(
        pons_get(pons_get(pons_get(flat, "office"), "state_schema"), "properties"), "wanted"));
    pons_autovalue deep = lg_call(&t, 200, "GET", "/assistants/mail/subgraphs?recurse=true", NULL);
    assert_int_equal(json_object_size(deep), 2);
    pons_autovalue one = lg_call(&t, 200, "GET", "/assistants/mail/subgraphs/office%7Cdesk", NULL);
    assert_int_equal(json_object_size(one), 1);
    assert_non_null(pons_get(
        pons_get(pons_get(pons_get(one, "office|desk"), "state_schema"), "properties"), "letters"));
    pons_autovalue none = lg_call(&t, 404, "GET", "/assistants/mail/subgraphs/desk", NULL);
    pons_autovalue leaf = lg_call(&t, 200, "GET", "/assistants/letters/subgraphs", NULL);
    assert_int_equal(json_object_size(leaf), 0);
    lg_close(&t);
}

static void test_items(void **state)
{
    (void)state;
    lg t;
    lg_open(&t);
    pons_autovalue a = lg_call(&t, 204, "PUT", "/store/items",
                               "{\"namespace\":[\"a\",\"b\"],\"key\":\"k\",\"value\":{\"v\":1}}");
    pons_autovalue one = lg_call(&t, 200, "GET", "/store/items?namespace=a.b&key=k", NULL);
    pons_autovalue b = lg_call(&t, 204, "PUT", "/store/items",
                               "{\"namespace\":[\"a\",\"b\"],\"key\":\"k\",\"value\":{\"v\":2}}");
    pons_autovalue two = lg_call(&t, 200, "GET", "/store/items?namespace=a.b&key=k", NULL);
    assert_string_equal(pons_get_str(one, "created_at", "-"), pons_get_str(two, "created_at", ""));
    assert_int_equal(pons_get_int(pons_get(two, "value"), "v", 0), 2);
    pons_autovalue made = lg_call(&t, 200, "POST", "/assistants", "{\"graph_id\":\"letters\"}");
    pons_autovalue spaces = lg_call(&t, 200, "POST", "/store/namespaces", "{}");
    assert_int_equal(json_array_size(pons_get(spaces, "namespaces")),
                     1); // what is the server's is not seen
    pons_autovalue all =
        lg_call(&t, 200, "POST", "/store/items/search", "{\"namespace_prefix\":[]}");
    assert_int_equal(json_array_size(pons_get(all, "items")), 1);
    pons_autovalue no =
        lg_call(&t, 403, "PUT", "/store/items",
                "{\"namespace\":[\"pons-serve\",\"open\"],\"key\":\"k\",\"value\":{}}");
    pons_autovalue hidden =
        lg_call(&t, 200, "GET", "/store/items?namespace=pons-serve.assistants&key=x", NULL);
    assert_true(json_is_null(hidden));
    pons_autovalue gone =
        lg_call(&t, 204, "DELETE", "/store/items", "{\"namespace\":[\"a\",\"b\"],\"key\":\"k\"}");
    pons_autovalue none = lg_call(&t, 200, "GET", "/store/items?namespace=a.b&key=k", NULL);
    assert_true(json_is_null(none));
    lg_close(&t);
}

static void test_runs_of_their_own(void **state)
{
    (void)state;
    lg t;
    lg_open(&t);
    pons_autovalue batch = lg_call(&t, 200, "POST", "/runs/batch",
                                   "[{\"assistant_id\":\"letters\",\"input\":{\"wanted\":1}},"
                                   "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":2}}]");
    assert_int_equal(json_array_size(batch), 2);
    assert_string_not_equal(pons_get_str(json_array_get(batch, 0), "thread_id", ""),
                            pons_get_str(json_array_get(batch, 1), "thread_id", ""));
    pons_autovalue bad = lg_call(&t, 404, "POST", "/runs/batch",
                                 "[{\"assistant_id\":\"letters\"},{\"assistant_id\":\"nobody\"}]");
    char *s = lg_text(&t, "POST", "/runs/wait", NULL,
                      "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":2}}");
    pons_autovalue v = json_loads(s, 0, NULL);
    assert_int_equal(json_array_size(pons_get(v, "letters")), 2);
    assert_int_equal(asked(v), 1);
    free(s);
    pons_autovalue later =
        lg_call(&t, 422, "POST", "/runs", "{\"assistant_id\":\"letters\",\"after_seconds\":-1}");
    pons_autovalue mode = lg_call(&t, 422, "POST", "/runs/stream",
                                  "{\"assistant_id\":\"letters\",\"stream_mode\":\"nothing\"}");
    lg_close(&t);
}

// A command as a Command of Python or JavaScript serializes itself, and what else these clients add.
static void test_bodies_of_clients(void **state)
{
    (void)state;
    static const struct {
        const char *body, *has; // has: in the reply
    } rows[] = {
        {"{\"assistant_id\":\"letters\",\"input\":{\"wanted\":1},\"if_not_exists\":\"create\","
         "\"command\":null,"
         "\"config\":{\"tags\":[],\"metadata\":{},\"configurable\":{}},\"langsmith_tracer\":null,"
         "\"strict_resume\":false,\"feedback_keys\":[]}",
         "post 1 letters?"},
        {"{\"assistant_id\":\"letters\",\"command\":{\"goto\":[{\"lg_name\":\"Send\",\"node\":"
         "\"write\",\"args\":"
         "{\"letters\":[1,2,3]}}],\"update\":null}}",
         "letter 2"},
        {"{\"assistant_id\":\"letters\",\"command\":{\"goto\":{\"node\":\"write\",\"input\":"
         "{\"letters\":[1,2,3,4,5]}}}}",
         "letter 3"},
        {"{\"assistant_id\":\"letters\",\"command\":{\"lg_name\":\"Command\",\"resume\":\"yes\","
         "\"goto\":[]}}",
         "\"posted\":true"},
    };
    lg t;
    lg_open(&t);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *s = lg_text(&t, "POST", "/threads/c1/runs/wait", NULL, rows[i].body);
        if (!strstr(s, rows[i].has)) {
            fail_msg("row %zu: %s", i, s);
        }
        free(s);
    }
    pons_autovalue batch = lg_call(
        &t, 200, "POST", "/runs/batch",
        "[{\"assistant_id\":\"letters\",\"assistantId\":\"letters\",\"input\":{\"wanted\":1}}]");
    pons_autovalue some =
        lg_call(&t, 200, "GET", "/threads/c1/runs?select=run_id&select=status&limit=1000", NULL);
    assert_int_equal(json_array_size(some), 4);
    assert_int_equal(json_object_size(json_array_get(some, 0)), 2);
    // A stream's modes as clients of different ages write them, and none.
    static const char *const modes[] = {
        "?stream_mode=", "?stream_mode=values,updates",
        "?stream_mode=%5B%22values%22%5D&cancel_on_disconnect=0&checkpoint_id=x",
        "?stream_mode=values&stream_mode=updates"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char path[PATH];
        char *s = lg_text(&t, "GET",
                          AT(path, "/threads/c1/runs/%s/stream%s",
                             pons_get_str(json_array_get(some, 0), "run_id", ""), modes[i]),
                          NULL, NULL);
        assert_non_null(strstr(s, "event: values"));
        free(s);
    }
    const int fd = lg_begin(&t, "GET", "/threads/c1/stream?stream_mode=run_modes", NULL, NULL);
    char *head = bench_until(fd, "\r\n\r\n");
    assert_int_equal(bench_code(head), 200);
    free(head);
    close(fd);
    lg_close(&t);
}

// ---- the document -------------------------------------------------------------------------------

// One line of routes_langgraph.txt: METHOD PATH [BODY] STATUS.
static void run_line(lg *t, char *line)
{
    char *path = strchr(line, ' '), *want = strrchr(line, ' ');
    *path++ = '\0';
    while (want > path && want[-1] == ' ') {
        want--;
    }
    *want++ = '\0';
    want += strspn(want, " ");
    char *body = strchr(path, ' ');
    if (body) {
        *body++ = '\0';
    }
    if (strcmp(want, "stream") == 0) { // it has no end
        const int fd = lg_begin(t, line, path, NULL, body);
        char *head = bench_until(fd, "\r\n\r\n");
        assert_int_equal(bench_code(head), 200);
        free(head);
        close(fd);
        return;
    }
    char *end = NULL;
    const long status = strtol(want, &end, 10);
    const int got = bench_status(
        &t->b, &(ask){line, path, NULL, bench_token(&t->b, "operator"), NULL, body, false});
    if (*end || got != status) {
        fail_msg("routes_langgraph.txt: %s %s %s: %d, not %s", line, path, body ? body : "", got,
                 want);
    }
}

static void test_the_document(void **state)
{
    (void)state;
    static const char *const methods[] = {"GET ", "POST ", "PUT ", "PATCH ", "DELETE "};
    char line[1024];
    int n = 0;
    lg t;
    lg_open(&t);
    FILE *f = fopen(PONS_SOURCE_DIR "/tests/serve/routes_langgraph.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
            if (strncmp(line, methods[i], strlen(methods[i])) == 0) {
                run_line(&t, line);
                n++;
                break;
            }
        }
    }
    fclose(f);
    assert_in_range(n, 60, 200);
    lg_close(&t);
}

// A star of a route is one segment of a line's path, which a query or a space ends.
static bool is_example(const pons__route *row, const char *line)
{
    const size_t n = strlen(row->method);
    if (strncmp(line, row->method, n) != 0 || line[n] != ' ') {
        return false;
    }
    const char *at = line + n + 1, *want = row->path;
    while (*want) {
        if (*want == '*') {
            const size_t segment = strcspn(at, "/? \n");
            if (segment == 0) {
                return false;
            }
            at += segment;
            want++;
        } else if (*at++ != *want++) {
            return false;
        }
    }
    return strchr("? \n", *at) != NULL;
}

// The lines of routes_langgraph.txt run here, those of routes_robot.txt against the program (cli/test_serve.c).
static void test_every_route_has_an_example(void **state)
{
    (void)state;
    static const char *const files[] = {"/tests/serve/routes_langgraph.txt",
                                        "/tests/serve/routes_robot.txt"};
    char path[512], line[1024];
    for (size_t t = 0; pons__serve_tables[t]; t++) {
        for (const pons__route *row = pons__serve_tables[t]; row->path; row++) {
            bool there = false;
            for (size_t i = 0; i < 2 && !there; i++) {
                snprintf(path, sizeof path, "%s%s", PONS_SOURCE_DIR, files[i]);
                FILE *f = fopen(path, "r");
                assert_non_null(f);
                while (!there && fgets(line, sizeof line, f)) {
                    there = is_example(row, line);
                }
                fclose(f);
            }
            if (!there) {
                fail_msg("%s %s has no example", row->method, row->path);
            }
        }
    }
}

// ---- who may ------------------------------------------------------------------------------------

static const struct {
    const char *method, *path, *role;
} doors[] = {
    {"GET", "/info", "viewer"},
    {"POST", "/assistants", "operator"},
    {"POST", "/assistants/search", "viewer"},
    {"POST", "/assistants/count", "viewer"},
    {"GET", "/assistants/letters", "viewer"},
    {"PATCH", "/assistants/letters", "operator"},
    {"DELETE", "/assistants/letters", "operator"},
    {"POST", "/assistants/letters/versions", "viewer"},
    {"POST", "/assistants/letters/latest", "operator"},
    {"GET", "/assistants/letters/graph", "viewer"},
    {"GET", "/assistants/letters/schemas", "viewer"},
    {"GET", "/assistants/letters/subgraphs", "viewer"},
    {"GET", "/assistants/letters/subgraphs/a", "viewer"},
    {"POST", "/threads", "operator"},
    {"POST", "/threads/search", "viewer"},
    {"POST", "/threads/count", "viewer"},
    {"POST", "/threads/prune", "operator"},
    {"GET", "/threads/t", "viewer"},
    {"PATCH", "/threads/t", "operator"},
    {"DELETE", "/threads/t", "operator"},
    {"POST", "/threads/t/copy", "operator"},
    {"GET", "/threads/t/state", "viewer"},
    {"GET", "/threads/t/state/c", "viewer"},
    {"POST", "/threads/t/state/checkpoint", "viewer"},
    {"POST", "/threads/t/state", "operator"},
    {"PATCH", "/threads/t/state", "operator"},
    {"POST", "/threads/t/history", "viewer"},
    {"GET", "/threads/t/history", "viewer"},
    {"POST", "/threads/t/runs", "operator"},
    {"POST", "/threads/t/runs/stream", "operator"},
    {"POST", "/threads/t/runs/wait", "operator"},
    {"POST", "/runs", "operator"},
    {"POST", "/runs/stream", "operator"},
    {"POST", "/runs/wait", "operator"},
    {"POST", "/runs/batch", "operator"},
    {"POST", "/runs/cancel", "operator"},
    {"GET", "/threads/t/runs", "viewer"},
    {"GET", "/threads/t/runs/r", "viewer"},
    {"DELETE", "/threads/t/runs/r", "operator"},
    {"POST", "/threads/t/runs/r/cancel", "operator"},
    {"GET", "/threads/t/runs/r/join", "viewer"},
    {"GET", "/threads/t/runs/r/stream", "viewer"},
    {"GET", "/threads/t/stream", "viewer"},
    {"PUT", "/store/items", "operator"},
    {"GET", "/store/items", "viewer"},
    {"DELETE", "/store/items", "operator"},
    {"POST", "/store/items/search", "viewer"},
    {"POST", "/store/namespaces", "viewer"},
    {"POST", "/runs/crons", "operator"},
    {"POST", "/threads/t/runs/crons", "operator"},
    {"POST", "/runs/crons/search", "viewer"},
    {"POST", "/runs/crons/count", "viewer"},
    {"GET", "/runs/crons/c", "viewer"},
    {"PATCH", "/runs/crons/c", "operator"},
    {"DELETE", "/runs/crons/c", "operator"},
    {"POST", "/threads/t/commands", "operator"},
    {"POST", "/threads/t/stream/events", "viewer"},
};

static void must_be(const lg *t, size_t i, const char *attack, const ask *a, int want)
{
    const int got = bench_status(&t->b, a);
    if (got != want) {
        fail_msg("%s %s, %s: %d", doors[i].method, doors[i].path, attack, got);
    }
}

static void test_every_route_has_its_doors(void **state)
{
    (void)state;
    static const char wrong[] = "0000000000000000000000000000000000000000000000000000000000000000";
    lg t;
    lg_open(&t);
    char deep[2048];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++) {
        const char *m = doors[i].method, *p = doors[i].path;
        const char *token = bench_token(&t.b, "admin");
        const bool writes = strcmp(m, "GET") != 0;
        must_be(&t, i, "no token", &(ask){m, p, NULL, NULL, NULL, NULL, false}, 401);
        must_be(&t, i, "a wrong token", &(ask){m, p, NULL, wrong, NULL, NULL, false}, 401);
        must_be(&t, i, "another host", &(ask){m, p, "evil.example", token, NULL, NULL, false}, 403);
        must_be(&t, i, "another page",
                &(ask){m, p, NULL, token, "Origin: http://evil.example\r\n", NULL, false}, 403);
        must_be(&t, i, "no page", &(ask){m, p, NULL, token, "Origin: null\r\n", NULL, false}, 403);
        must_be(&t, i, "another method", &(ask){"PROPFIND", p, NULL, token, NULL, NULL, false},
                405);
        if (strcmp(doors[i].role, "operator") == 0) {
            must_be(&t, i, "a viewer",
                    &(ask){m, p, NULL, bench_token(&t.b, "viewer"), NULL, NULL, false}, 403);
        }
        if (writes) {
            must_be(&t, i, "a form",
                    &(ask){m, p, NULL, token, "Content-Type: text/plain\r\n", "{}", false}, 415);
            must_be(&t, i, "half a body", &(ask){m, p, NULL, token, NULL, "{\"a\":", false}, 400);
            must_be(&t, i, "a deep body", &(ask){m, p, NULL, token, NULL, deep, false}, 400);
        }
    }
    lg_close(&t);
}

// Bodies that are JSON and make no sense are a client's fault, whatever is in them.
static void test_bodies_without_sense(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "[]",
        "[1]",
        "{}",
        "{\"assistant_id\":7}",
        "{\"namespace\":\"a\",\"key\":{}}",
        "{\"assistant_id\":\"letters\",\"input\":[1],\"config\":3,\"metadata\":[]}",
        "{\"assistant_id\":\"letters\",\"command\":\"go\",\"checkpoint\":[],\"limit\":\"x\"}",
        "{\"values\":3,\"as_node\":[],\"checkpoint\":3,\"metadata\":7,\"thread_id\":{},\"ids\":3}"};
    lg t;
    lg_open(&t);
    pons_autovalue made = lg_call(&t, 200, "POST", "/threads", "{\"thread_id\":\"t\"}");
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++) {
        for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
            if (strcmp(doors[i].method, "GET") == 0) {
                continue;
            }
            const int got =
                bench_status(&t.b, &(ask){doors[i].method, doors[i].path, NULL,
                                          bench_token(&t.b, "operator"), NULL, bodies[k], false});
            if (got < 200 || got >= 500) {
                fail_msg("%s %s %s: %d", doors[i].method, doors[i].path, bodies[k], got);
            }
        }
    }
    lg_close(&t);
}

static int64_t wall_of(void *user)
{
    return atomic_load((_Atomic int64_t *)user);
}

static int64_t now_of(void *user)
{
    (void)user;
    const pons_clock real = pons_clock_real();
    return pons_now_ns(&real);
}

// On a wall clock that the test sets; waiting goes by the real one.
static void test_crons_fire(void **state)
{
    (void)state;
    static _Atomic int64_t wall;
    lg t;
    char path[PATH];
    lg_open(&t);
    wall = 1795382560000;
    t.b.o.clock = (pons_clock){now_of, wall_of, now_of, &wall};
    lg_restart(&t);
    pons_autovalue thread = lg_call(&t, 200, "POST", "/threads", "{\"thread_id\":\"t\"}");
    pons_autovalue cron =
        lg_call(&t, 200, "POST", "/threads/t/runs/crons",
                "{\"assistant_id\":\"letters\",\"schedule\":\"* * * * *\",\"input\":"
                "{\"wanted\":1},\"metadata\":{\"why\":\"daily\"}}");
    pons_autovalue none = lg_call(&t, 200, "GET", "/threads/t/runs", NULL);
    assert_int_equal(json_array_size(none), 0);
    wall += 60000;
    size_t n = 0;
    const char *why = "";
    for (int i = 0; i < 12000 && n == 0; i++) {
        pons_autovalue runs = lg_call(&t, 200, "GET", "/threads/t/runs", NULL);
        n = json_array_size(runs);
        why = n ? pons_get_str(pons_get(json_array_get(runs, 0), "metadata"), "why", "") : "";
        assert_true(n == 0 || strcmp(why, "daily") == 0);
        poll(NULL, 0, 10);
    }
    assert_int_equal(n, 1);
    const char *id = pons_get_str(cron, "cron_id", "");
    snprintf(path, sizeof path, "/runs/crons/%s", id);
    pons_autovalue off = lg_call(&t, 200, "PATCH", path, "{\"enabled\":false}");
    assert_true(json_is_null(pons_get(off, "next_run_date")));
    lg_restart(&t);
    pons_autovalue kept = lg_call(&t, 200, "GET", path, NULL);
    assert_true(json_is_false(pons_get(kept, "enabled")));
    pons_autovalue bad = lg_call(&t, 422, "POST", "/runs/crons",
                                 "{\"assistant_id\":\"letters\",\"schedule\":\"now and then\"}");
    lg_close(&t);
}

// A server that dies between a cron's run and the cron's next time: the run is there once.
static void test_a_cron_that_was_cut_off(void **state)
{
    (void)state;
    static _Atomic int64_t wall;
    static const char *const at[] = {"/threads/t/runs/crons", "/runs/crons"};
    for (size_t own = 0; own < 2; own++) {
        lg t;
        char path[PATH];
        lg_open(&t);
        wall = 1795382560000;
        t.b.o.clock = (pons_clock){now_of, wall_of, now_of, &wall};
        lg_restart(&t);
        pons_autovalue thread = lg_call(&t, 200, "POST", "/threads", "{\"thread_id\":\"t\"}");
        pons_autovalue cron =
            lg_call(&t, 200, "POST", at[own],
                    "{\"assistant_id\":\"letters\",\"schedule\":\"* * * * *\",\"input\":"
                    "{\"wanted\":1},\"on_run_completed\":\"keep\"}");
        const char *id = pons_get_str(cron, "cron_id", "");
        const pons_items items = {.store = t.b.store, .clock = t.b.o.clock};
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue was = NULL;
        assert_int_equal(pons_items_get(&items, "pons-serve.crons", id, &was, &err), PONS_OK);
        wall += 60000;
        snprintf(path, sizeof path, "/runs/crons/%s", id);
        for (int life = 0; life < 3; life++) {
            for (int i = 0; i < 12000; i++) { // its next time has moved on
                pons_autovalue now = lg_call(&t, 200, "GET", path, NULL);
                if (!json_equal(pons_get(now, "next_run_date"), pons_get(cron, "next_run_date"))) {
                    break;
                }
                poll(NULL, 0, 10);
            }
            pons_serve_close(t.b.serve);
            assert_int_equal(pons_items_put(&items, "pons-serve.crons", id, pons_get(was, "value"),
                                            &(pons_item_put){.unsearched = true}, &err),
                             PONS_OK);
            bench_start(&t.b);
        }
        pons_autovalue threads =
            lg_call(&t, 200, "POST", "/threads/search", "{\"limit\":50,\"values\":{\"wanted\":1}}");
        assert_int_equal(json_array_size(threads), 1);
        if (own == 0) {
            pons_autovalue runs = lg_call(&t, 200, "GET", "/threads/t/runs", NULL);
            assert_int_equal(json_array_size(runs), 1);
        }
        lg_close(&t);
    }
}

static size_t past_of(lg *t, const char *history)
{
    pons_autovalue list = lg_call(t, 200, "GET", history, NULL);
    return json_array_size(list);
}

// Threads that go by themselves: not before their time, not while something happens in them.
static void test_threads_go(void **state)
{
    (void)state;
    static _Atomic int64_t wall;
    lg t;
    lg_open(&t);
    const pons_clock real = pons_clock_real();
    wall = pons_wall_ms(&real); // a store has its own
    t.b.o.clock = (pons_clock){now_of, wall_of, now_of, &wall};
    lg_restart(&t);
    pons_autovalue a = lg_call(&t, 200, "POST", "/threads", "{\"thread_id\":\"a\",\"ttl\":10}");
    assert_true(pons_get_num(pons_get(a, "ttl"), "ttl_minutes", 0) > 9.9);
    pons_autovalue b = lg_call(&t, 200, "POST", "/threads", "{\"thread_id\":\"b\"}");
    assert_null(pons_get(b, "ttl"));
    pons_autovalue c =
        lg_call(&t, 200, "POST", "/threads",
                "{\"thread_id\":\"c\",\"ttl\":{\"ttl\":10,\"strategy\":\"keep_latest\"}}");
    static const char body[] = "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":3}}";
    pons_autovalue run = lg_call(&t, 200, "POST", "/threads/c/runs/wait", body);
    const size_t past = past_of(&t, "/threads/c/history?limit=50");
    static const char *const bad[] = {
        "{\"ttl\":0}",     "{\"ttl\":-1}", "{\"ttl\":\"x\"}",
        "{\"ttl\":1e300}", "{\"ttl\":{}}", "{\"ttl\":{\"ttl\":1,\"strategy\":\"burn\"}}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pons_autovalue no = lg_call(&t, 422, "POST", "/threads", bad[i]);
        pons_autovalue nor = lg_call(&t, 422, "PATCH", "/threads/b", bad[i]);
    }
    wall += 9 * 60000;
    pons_autovalue again = lg_call(&t, 200, "POST", "/threads/a/runs/wait", body);
    wall += 9 * 60000; // a has news, c has none
    for (int i = 0; past_of(&t, "/threads/c/history?limit=50") >= past; i++) {
        assert_true(i < 12000);
        poll(NULL, 0, 10);
    }
    pons_autovalue there = lg_call(&t, 200, "GET", "/threads/a", NULL);
    wall += 2 * 60000;
    for (int i = 0;; i++) {
        char *r = NULL;
        const int fd = lg_begin(&t, "GET", "/threads/a", NULL, NULL);
        r = bench_until(fd, NULL);
        close(fd);
        const int code = bench_code(r);
        free(r);
        if (code == 404) {
            break;
        }
        assert_true(i < 12000);
        poll(NULL, 0, 10);
    }
    // Another one of the name has no such end; and what has none stays.
    pons_autovalue fresh = lg_call(&t, 200, "POST", "/threads", "{\"thread_id\":\"a\"}");
    assert_null(pons_get(fresh, "ttl"));
    pons_autovalue stays = lg_call(&t, 200, "GET", "/threads/b", NULL);
    lg_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_is_streamed),
        cmocka_unit_test(test_events_of_callbacks),
        cmocka_unit_test(test_messages_grow),
        cmocka_unit_test(test_a_large_state),
        cmocka_unit_test(test_names_of_threads),
        cmocka_unit_test(test_a_failed_run_says_why),
        cmocka_unit_test(test_a_cut_stream_goes_on),
        cmocka_unit_test(test_a_run_outlives_its_server),
        cmocka_unit_test(test_a_second_run),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_reaches_a_node_at_work),
        cmocka_unit_test(test_a_client_that_goes),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_assistants),
        cmocka_unit_test(test_subgraphs),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_runs_of_their_own),
        cmocka_unit_test(test_bodies_of_clients),
        cmocka_unit_test(test_every_route_has_an_example),
        cmocka_unit_test(test_the_document),
        cmocka_unit_test(test_every_route_has_its_doors),
        cmocka_unit_test(test_bodies_without_sense),
        cmocka_unit_test(test_crons_fire),
        cmocka_unit_test(test_a_cron_that_was_cut_off),
        cmocka_unit_test(test_threads_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
