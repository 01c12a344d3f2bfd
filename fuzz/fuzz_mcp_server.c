// fuzz_mcp_server.c - whatever an MCP client sends, `pons mcp serve` ends by itself, and each line
// that it wrote is a JSON-RPC message: one object, an answer under an id that was asked with, or a
// request or notification of its own. A dangerous tool runs only after an approval.
//
// The input is what the client writes. "@" at its start says hello first, so that what follows is
// past `initialize`; "?" the same, by a client that can ask its person.
#include "pons/buf.h"
#include "pons/mcp.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char hello[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-06-18\",\"capabilities\":{%s},\"clientInfo\":{\"name\":\"f\",\"version\":\"1\"}}}\n";

static const char tools_text[] =
    "[{\"name\":\"safe\",\"category\":\"core\",\"description\":\"d\",\"parameters\":{\"type\":"
    "\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}},\"risk\":\"safe\",\"read_only\":true"
    "},{\"name\":\"danger\",\"category\":\"core\",\"description\":\"d\",\"parameters\":{\"type\":"
    "\"object\"},\"risk\":\"dangerous\",\"read_only\":false},{\"name\":\"never\",\"category\":"
    "\"core\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"},\"risk\":\"blocked\","
    "\"read_only\":false}]";

typedef struct calls { // a provider that answers when it is next looked at
    pons_tool_event events[EVENTS];
    size_t n;
    bool may; // a person has said yes
} calls;

static pons_value *tools;

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    pons_value_init();
    must(pons_value_parse(tools_text, strlen(tools_text), &tools, NULL) == PONS_OK);
    return 0;
}

// ---- tools --------------------------------------------------------------------------------------

static int list(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    (void)err;
    *ret = pons_value_ref(tools);
    return PONS_OK;
}

static uint64_t generation(void *self)
{
    (void)self;
    return 1;
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    calls *c = self;
    must(strcmp(tool, "never") != 0 && key && *key && json_is_object(args));
    must(strcmp(tool, "danger") != 0 || c->may);
    if (c->n == EVENTS) {
        return pons_error_set(err, PONS_EBUSY, "fuzz", "no room");
    }
    pons_tool_event *ev = &c->events[c->n++];
    *ev = (pons_tool_event){.call = call, .kind = PONS_TOOL_DONE};
    if (call % 3 == 0) {
        ev->kind = PONS_TOOL_FAILED;
        pons_error_set(&ev->error, PONS_EIO, "fuzz", "no %s", tool);
    } else {
        ev->value = pons_object("output", json_string("out"), "data", pons_value_ref(args), NULL);
    }
    return PONS_OK;
}

static void cancel(void *self, uint64_t call)
{
    calls *c = self;
    for (size_t i = 0; i < c->n; i++) {
        if (c->events[i].call == call) {
            pons_tool_event_clear(&c->events[i]);
            c->events[i] = c->events[--c->n];
            return;
        }
    }
}

static int event_fd(void *self)
{
    (void)self;
    return -1;
}

static bool next(void *self, pons_tool_event *ret)
{
    calls *c = self;
    if (c->n == 0) {
        return false;
    }
    *ret = c->events[--c->n];
    return true;
}

static void close_tools(void *self)
{
    (void)self;
}

static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                   .name = "fuzz",
                                   .close = close_tools,
                                   .list = list,
                                   .generation = generation,
                                   .start = start,
                                   .cancel = cancel,
                                   .event_fd = event_fd,
                                   .next = next};

// ---- the server's other questions ---------------------------------------------------------------

static pons_value *resources(void *user)
{
    (void)user;
    return json_array();
}

static int read_one(void *user, const char *uri, char **ret_text, pons_error *err)
{
    (void)user;
    if (strlen(uri) % 2) {
        return pons_error_set(err, PONS_ENOTFOUND, "fuzz", "no resource %s", uri);
    }
    *ret_text = strdup("{}");
    return PONS_OK;
}

static int ask(void *user, const char *tool, const pons_value *args, const char *why, char *ret_how,
               size_t cap, pons_error *err)
{
    calls *c = user;
    (void)tool;
    (void)args;
    (void)why;
    (void)ret_how;
    (void)cap;
    if (c->n % 2) {
        return pons_error_set(err, PONS_EREFUSED, "fuzz", "no");
    }
    return c->may = true;
}

static int input_of(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("client", MFD_CLOEXEC);
    pons_autobuf b = PONS_BUF_INIT;
    if (size && (*data == '@' || *data == '?')) {
        pons_buf_printf(&b, hello, *data == '?' ? "\"elicitation\":{}" : "");
        data++;
        size--;
    }
    pons_buf_bytes(&b, data, size);
    must(fd >= 0 && write(fd, b.data ? b.data : "", b.len) == (ssize_t)b.len &&
         lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static void check_lines(int fd)
{
    const off_t n = lseek(fd, 0, SEEK_END);
    char *text = malloc((size_t)n + 1);
    must(n >= 0 && text && pread(fd, text, (size_t)n, 0) == n && (n == 0 || text[n - 1] == '\n'));
    for (char *at = text; at < text + n;) {
        char *end = memchr(at, '\n', (size_t)(text + n - at));
        pons_autovalue m = NULL;
        must(pons_value_parse(at, (size_t)(end - at), &m, NULL) == PONS_OK);
        must(strcmp(pons_get_str(m, "jsonrpc", ""), "2.0") == 0);
        must((pons_get(m, "result") != NULL) + (pons_get(m, "error") != NULL) +
                 (pons_get(m, "method") != NULL) ==
             1);
        at = end + 1;
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // A client that may ask its person can say yes for them; else only `ask` does.
    calls c = {.may = size && (*data != '@' || memmem(data, size, "elicitation", 11))};
    pons_clock_manual clock = {0};
    const pons_tools provider = {.ops = &ops, .self = &c};
    static const pons_mcp_server_ops server = {
        .resources = resources, .read = read_one, .ask = ask};
    pons_error err = PONS_ERROR_INIT;
    const pons_mcp_server_options o = {.in_fd = input_of(data, size),
                                       .out_fd = memfd_create("server", MFD_CLOEXEC),
                                       .stop_fd = -1,
                                       .tools = &provider,
                                       .n_tools = 1,
                                       .clock = pons_clock_from_manual(&clock),
                                       .name = "pons",
                                       .version = "1",
                                       .ops = &server,
                                       .user = &c,
                                       .log_fd = -1};
    const int rc = pons_mcp_serve(&o, &err);
    must(rc == PONS_OK || (rc == PONS_EPROTOCOL && *err.message));
    check_lines(o.out_fd);
    for (size_t i = 0; i < c.n; i++) {
        pons_tool_event_clear(&c.events[i]);
    }
    close(o.in_fd);
    close(o.out_fd);
    return 0;
}
