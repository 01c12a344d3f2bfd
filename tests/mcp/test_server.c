// The server, line by line, as a client that does not keep to the rules would meet it: what comes
// before initialize, what is no message, what is unknown, versions, a client that says it can ask
// its person and then cannot, and a message without end. Tools are the core ones, in a workspace of
// the test's own; what works is shown by cli/test_mcp with real clients.
#include "mcp/mcp_fixture.h"
#include "pons/tools.h"
#include "unit.h"

#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANG_MS 120000 // a test that waits so long has failed

// A provider of one tool that never ends and one that stops it.
static pons_value *played_list;
static int played_stops[2]; // [call number, waits]

static int played_listed(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    (void)err;
    *ret = pons_value_ref(played_list);
    return PONS_OK;
}

static int played_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                        const char *key, pons_error *err)
{
    (void)self;
    (void)args;
    (void)key;
    (void)err;
    if (strcmp(tool, "halt") == 0) {
        played_stops[0] = (int)call;
        played_stops[1] = 1;
    }
    return PONS_OK;
}

static void played_cancel(void *self, uint64_t call)
{
    (void)self;
    (void)call;
}

static int played_fd(void *self)
{
    (void)self;
    return -1;
}

static bool played_next(void *self, pons_tool_event *ret)
{
    (void)self;
    const bool some = played_stops[1] != 0;
    played_stops[1] = 0;
    *ret = (pons_tool_event){.call = (uint64_t)played_stops[0],
                             .kind = PONS_TOOL_DONE,
                             .value = some ? json_pack("{ss}", "output", "it stands") : NULL};
    return some;
}

static void played_close(void *self)
{
    (void)self;
}

typedef struct peer {
    char ws[64];
    int fd, theirs; // our end, the server's
    pthread_t thread;
    pons_tools tools;
    atomic_int asked;
    int rc; // after the end: what it returned
    pons_error err;
    char *buf;
    size_t n;
} peer;

static int ask(void *user, const char *tool, const pons_value *args, const char *why, char *ret_how,
               size_t cap, pons_error *err)
{
    peer *p = user;
    (void)args;
    (void)why;
    p->asked++;
    snprintf(ret_how, cap, "somebody says so");
    return p->asked > 1 ? 1 : pons_error_set(err, PONS_EREFUSED, "test", "not %s", tool);
}

static int check(void *user, const pons_value *tool, const pons_value *args, pons_error *err)
{
    (void)user;
    return strcmp(pons_get_str(args, "path", ""), "far") == 0
               ? pons_error_set(err, PONS_EREFUSED, "test", "%s: reach: 2.11 m away",
                                pons_get_str(tool, "name", ""))
               : PONS_OK;
}

static void *serve(void *arg)
{
    static const pons_mcp_server_ops ops = {.ask = ask, .check = check};
    peer *p = arg;
    const pons_mcp_server_options o = {.in_fd = p->theirs,
                                       .out_fd = p->theirs,
                                       .stop_fd = -1,
                                       .tools = &p->tools,
                                       .n_tools = 1,
                                       .clock = pons_clock_real(),
                                       .name = "test",
                                       .version = "1",
                                       .ops = &ops,
                                       .user = p,
                                       .log_fd = -1};
    p->rc = pons_mcp_serve(&o, &p->err);
    shutdown(p->theirs, SHUT_RDWR);
    return NULL;
}

static void peer_open_with(peer *p, pons_tools tools)
{
    int fds[2];
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    *p = (peer){.ws = "/tmp/pons-mcp-XXXXXX", .tools = tools};
    assert_non_null(mkdtemp(p->ws));
    pons_autovalue config = pons_object("workspace", json_string(p->ws), NULL);
    if (!tools.ops) {
        assert_int_equal(pons_core_tools_open(config, &clock, &p->tools, &err), PONS_OK);
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    p->fd = fds[0];
    p->theirs = fds[1];
    p->buf = calloc(1, 1 << 20);
    assert_int_equal(pthread_create(&p->thread, NULL, serve, p), 0);
}

static void peer_open(peer *p)
{
    peer_open_with(p, (pons_tools){.ops = NULL});
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void peer_close(peer *p)
{
    shutdown(p->fd, SHUT_WR);
    pthread_join(p->thread, NULL);
    p->tools.ops->close(p->tools.self);
    close(p->fd);
    close(p->theirs);
    free(p->buf);
    nftw(p->ws, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void say(const peer *p, const char *line)
{
    assert_int_equal(send(p->fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
    assert_int_equal(send(p->fd, "\n", 1, MSG_NOSIGNAL), 1);
}

// The server's next line must have this in it.
static pons_value *hear(peer *p, const char *says)
{
    char *nl;
    while (!(nl = memchr(p->buf, '\n', p->n))) {
        struct pollfd f = {.fd = p->fd, .events = POLLIN};
        assert_int_equal(poll(&f, 1, HANG_MS), 1);
        const ssize_t got = recv(p->fd, p->buf + p->n, (1 << 20) - p->n, 0);
        assert_true(got > 0);
        p->n += (size_t)got;
    }
    *nl = '\0';
    if (!strstr(p->buf, says)) {
        fail_msg("%s: expected %s", p->buf, says);
    }
    pons_value *m = mcp_json(p->buf);
    p->n -= (size_t)(nl + 1 - p->buf);
    memmove(p->buf, nl + 1, p->n);
    return m;
}

static void exchange(peer *p, const char *line, const char *says)
{
    say(p, line);
    pons_value_unref(hear(p, says));
}

static void begin(peer *p, const char *capabilities)
{
    char line[256];
    snprintf(
        line, sizeof line,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
        capabilities);
    exchange(p, line, "\"protocolVersion\":\"2025-06-18\"");
    say(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

static void test_unruly(void **state)
{
    peer p;
    (void)state;
    peer_open(&p);
    exchange(&p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "\"id\":1,\"result\":{}");
    exchange(&p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}",
             "initialize comes first");
    exchange(&p, "this is no message", "-32700");
    exchange(&p, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "a message is one object");
    exchange(&p,
             "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":"
             "\"1999-01-01\"}}",
             "\"protocolVersion\":\"2025-11-25\""); // its own newest: the client decides
    begin(&p, "{}");
    exchange(&p, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"prompts/list\"}", "-32601");
    exchange(
        &p,
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"fly\"}}",
        "there is no tool fly");
    exchange(
        &p,
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"list_dir\","
        "\"arguments\":[]}}",
        "arguments must be an object");
    exchange(&p,
             "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/"
             "call\",\"params\":{\"name\":\"read_file\","
             "\"arguments\":{\"path\":\"far\"}}}",
             "refused: read_file: reach: 2.11 m away");
    say(&p, "{\"jsonrpc\":\"2.0\",\"id\":\"q99\",\"result\":{}}"); // answers to nothing
    say(&p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "cancelled\",\"params\":{\"requestId\":77}}");
    exchange(&p, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}", "\"id\":7,\"result\":{}");
    peer_close(&p);
    assert_int_equal(p.rc, PONS_OK);
}

static const char touch_call[] =
    "{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"tools/call\",\"params\":{"
    "\"name\":\"terminal\",\"arguments\":{\"command\":\"touch x\"}}}";

static void test_questions(void **state)
{
    peer p;
    char path[96];
    (void)state;
    peer_open(&p);
    begin(&p, "{\"elicitation\":{\"form\":{}}}");
    say(&p, touch_call);
    pons_autovalue q = hear(&p, "elicitation/create");
    assert_non_null(strstr(pons_get_str(pons_get(q, "params"), "message", ""), "touch x"));
    // Canceled while the person thinks: an answer that comes later runs nothing.
    say(&p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "cancelled\",\"params\":{\"requestId\":10}}");
    char line[160];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\",\"content\":{"
             "\"allow\":"
             "true}}}",
             pons_get_str(q, "id", ""));
    say(&p, line);
    exchange(&p, "{\"jsonrpc\":\"2.0\",\"id\":11,\"method\":\"ping\"}", "\"id\":11");
    snprintf(path, sizeof path, "%s/x", p.ws);
    assert_int_equal(access(path, F_OK), -1);
    // The client cannot ask after all: the other way is taken, here and from now on.
    say(&p, touch_call);
    pons_autovalue again = hear(&p, "elicitation/create");
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"error\":{\"code\":-32601,\"message\":\"no\"}}",
             pons_get_str(again, "id", ""));
    exchange(&p, line, "not terminal");
    assert_int_equal(p.asked, 1);
    exchange(&p, touch_call, "\"isError\":false");
    assert_int_equal(access(path, F_OK), 0);
    peer_close(&p);
    assert_int_equal(p.rc, PONS_OK);
}

// As many calls as there may be do not keep a tool that stops from being called.
static void test_a_stop_has_a_place(void **state)
{
    static const pons_tools_ops played = {.abi = PONS_TOOL_ABI,
                                          .name = "played",
                                          .close = played_close,
                                          .list = played_listed,
                                          .start = played_start,
                                          .cancel = played_cancel,
                                          .event_fd = played_fd,
                                          .next = played_next};
    peer p;
    (void)state;
    played_list =
        json_pack("[{ss ss s{ss} ss}, {ss ss s{ss} ss sb}]", "name", "work", "description", "Work.",
                  "parameters", "type", "object", "risk", "safe", "name", "halt", "description",
                  "Stop.", "parameters", "type", "object", "risk", "safe", "stops", 1);
    assert_non_null(played_list);
    peer_open_with(&p, (pons_tools){.ops = &played});
    begin(&p, "{}");
    for (int i = 0; i < 129; i++) {
        char line[160];
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"work\"}}",
                 i);
        say(&p, line);
    }
    pons_value_unref(hear(&p, "128 calls run already"));
    exchange(&p,
             "{\"jsonrpc\":\"2.0\",\"id\":200,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"halt\"}}",
             "it stands");
    peer_close(&p);
    assert_int_equal(p.rc, PONS_OK);
    pons_value_unref(played_list);
}

static void test_message_without_end(void **state)
{
    peer p;
    (void)state;
    peer_open(&p);
    char *piece = malloc(1 << 16);
    memset(piece, 'x', 1 << 16);
    for (int i = 0; i < 300; i++) { // 19 MB; the server leaves before
        if (send(p.fd, piece, 1 << 16, MSG_NOSIGNAL) < 0) {
            break;
        }
    }
    free(piece);
    peer_close(&p);
    assert_int_equal(p.rc, PONS_EPROTOCOL);
    assert_non_null(strstr(p.err.message, "more than 16777216 bytes"));
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unruly),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_a_stop_has_a_place),
        cmocka_unit_test(test_message_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
