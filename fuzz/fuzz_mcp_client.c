// fuzz_mcp_client.c - whatever an MCP server says, the client goes on: its list of tools holds tools
// as include/pons/ext/tool.h wants them, its status is whole, no call has two ends, and closing
// ends it.
//
// A wire of its own stands in for src/mcp/stdio/stdio.c: the server's lines are the input. "@" at its start
// answers initialize and tools/list first, so that what follows meets a server that is ready, with
// calls of its tools under the ids 3 and 4.
#include "mcp/json_rpc.h"
#include "mcp/wire.h"
#include "pons/buf.h"
#include "pons/mcp.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALLS       2
#define LONG_MS     20000
#define OPENED_ONCE 1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char ready[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":"
    "{\"tools\":{}},\"serverInfo\":{\"name\":\"f\",\"version\":\"1\"}}}\n"
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"a\",\"inputSchema\":{}},"
    "{\"name\":\"b\",\"annotations\":{\"readOnlyHint\":true},\"inputSchema\":{}}]}}\n";

static pons_clock_manual clock_now; // stands still: nothing times out
static pons_value *config;

// The server, for one input: written before it is opened, then the client's thread's.
static struct {
    const char *text;
    size_t n, at;
    size_t hold; // what comes behind this waits until calls_sent calls were sent
    int opened, calls_sent;
    int awake, done; // readable always; once the connection is over
} wire;

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

// ---- the wire -----------------------------------------------------------------------------------

static int wire_open(const pons_value *spec, const char *workspace, pons__mcp_log *log, void **ret,
                     pons_error *err)
{
    (void)spec;
    (void)workspace;
    (void)log;
    if (wire.opened++ >= OPENED_ONCE) { // after its end it does not come back
        return pons_error_set(err, PONS_EENV, "fuzz", "gone");
    }
    *ret = &wire;
    return PONS_OK;
}

static void wire_nothing(void *self)
{
    (void)self;
}

static void wire_close(void *self)
{
    (void)self;
    eventfd_write(wire.done, 1);
}

static int wire_send(void *self, const char *text, size_t n, int64_t id, pons_error *err)
{
    pons_autovalue m = NULL;
    (void)self;
    (void)err;
    must(pons_value_parse(text, n, &m, NULL) == PONS_OK && json_is_object(m));
    must(strcmp(pons_get_str(m, "jsonrpc", ""), "2.0") == 0);
    must(id == 0 || pons_get_int(m, "id", 0) == id);
    wire.calls_sent += strcmp(pons_get_str(m, "method", ""), "tools/call") == 0;
    return PONS_OK;
}

static void wire_begun(void *self, const char *version)
{
    (void)self;
    must(pons__mcp_version(version) != NULL);
}

static bool held(void)
{
    return wire.at == wire.hold && wire.hold && wire.calls_sent < CALLS;
}

static int wire_fds(void *self, struct pollfd *p)
{
    (void)self;
    p[0] = (struct pollfd){.fd = held() ? -1 : wire.awake, .events = POLLIN};
    return 1;
}

static int wire_next(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    while (wire.at < wire.n && !held()) {
        const char *line = wire.text + wire.at;
        const char *end = memchr(line, '\n', wire.n - wire.at);
        const size_t len = end ? (size_t)(end - line) : wire.n - wire.at;
        pons_error bad = PONS_ERROR_INIT;
        wire.at += len + (end != NULL);
        if (len && pons_value_parse(line, len, ret, &bad) >= 0) {
            return 1;
        }
    }
    if (held()) {
        return 0;
    }
    return pons_error_set(err, PONS_ECLOSED, "fuzz", "the end");
}

const pons__wire_ops pons__wire_stdio = {.name = "fuzz",
                                         .open = wire_open,
                                         .hang_up = wire_nothing,
                                         .close = wire_close,
                                         .send = wire_send,
                                         .begun = wire_begun,
                                         .fds = wire_fds,
                                         .next = wire_next};

// ---- one server's life --------------------------------------------------------------------------

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char workspace[] = "/tmp/fuzz-mcp-XXXXXX";
    (void)argc;
    (void)argv;
    pons_value_init();
    must(mkdtemp(workspace) != NULL && rmdir(workspace) == 0); // its log goes nowhere
    config = pons_object("workspace", json_string(workspace), "servers",
                         pons_object("s", pons_object("command", json_string("none"), NULL), NULL),
                         NULL);
    wire.awake = eventfd(1, EFD_CLOEXEC);
    wire.done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return 0;
}

static bool wait_for(int a, int b)
{
    struct pollfd p[] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
    must(poll(p, 2, LONG_MS) > 0);
    return p[0].revents != 0;
}

static void check_list(const pons_tools *t)
{
    pons_autovalue list = NULL;
    pons_autovalue status = NULL;
    size_t i;
    json_t *tool;
    must(t->ops->list(t->self, &list, NULL) == PONS_OK && json_is_array(list));
    json_array_foreach(list, i, tool) {
        const char *name = pons_get_str(tool, "name", "");
        must(*name && strlen(name) <= 64 && json_is_object(pons_get(tool, "parameters")));
        must(pons_get_str(tool, "description", NULL) && *pons_get_str(tool, "risk", ""));
        must(strcmp(pons_get_str(tool, "risk", ""), "safe") != 0); // it is not trusted
    }
    must(pons_mcp_status(t, &status, NULL) == PONS_OK && json_array_size(status) == 1);
    must(*pons_get_str(json_array_get(status, 0), "state", "") != '\0');
}

// Events of calls: each has one end.
static void drain(const pons_tools *t, int ends[CALLS])
{
    pons_tool_event ev;
    while (t->ops->next(t->self, &ev)) {
        must(ev.call >= 1 && ev.call <= CALLS && ends[ev.call - 1] == 0);
        ends[ev.call - 1] += ev.kind != PONS_TOOL_PROGRESS;
        must(ev.kind != PONS_TOOL_FAILED || *ev.error.message);
        must(ev.kind != PONS_TOOL_DONE || json_is_string(pons_get(ev.value, "output")));
        pons_tool_event_clear(&ev);
    }
}

static size_t tools_listed(const pons_tools *t)
{
    pons_autovalue list = NULL;
    must(t->ops->list(t->self, &list, NULL) == PONS_OK);
    return json_array_size(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_autobuf text = PONS_BUF_INIT;
    pons_tools t;
    pons_error err = PONS_ERROR_INIT;
    int ends[CALLS] = {0};
    eventfd_t ignored;
    const pons_clock clock = pons_clock_from_manual(&clock_now);
    const bool greeted = size && *data == '@';
    pons_buf_str(&text, greeted ? ready : "");
    pons_buf_bytes(&text, data + greeted, size - greeted);
    wire.text = text.data ? text.data : "";
    wire.n = text.len;
    wire.hold = greeted ? sizeof ready - 1 : 0;
    wire.at = 0;
    wire.opened = wire.calls_sent = 0;
    eventfd_read(wire.done, &ignored);
    must(pons_mcp_open(config, &clock, &t, &err) == PONS_OK);
    if (greeted) {
        while (tools_listed(&t) == 0) {
            wait_for(t.ops->event_fd(t.self), wire.done);
            drain(&t, ends);
        }
        pons_autovalue args = json_object();
        must(t.ops->start(t.self, 1, "s.a", args, "k1", &err) == PONS_OK);
        must(t.ops->start(t.self, 2, "s.b", args, "k2", &err) == PONS_OK);
    }
    for (bool more = true; more;) {
        struct pollfd p = {.fd = wire.done, .events = POLLIN};
        more = poll(&p, 1, 0) == 0;
        if (more) {
            wait_for(t.ops->event_fd(t.self), wire.done);
        }
        drain(&t, ends);
        check_list(&t);
    }
    t.ops->close(t.self);
    return 0;
}
