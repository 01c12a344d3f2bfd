// fuzz_request.c - whatever a client sends, `pons serve` gives it exactly one answer, and who has no
// right to it changes nothing.
//
// The HTTP of it is libmicrohttpd's; here the server is ours alone, behind the contract of
// ext/http_server.h: its handle gets an exchange that is made of the input, and what it replies is
// counted. The input is a request as text: "METHOD PATH?QUERY", headers, an empty line, a body. A token
// "V", "O" or "A" stands for that of a viewer, an operator, an admin; without a Host it is the right one.
#include "pons/out_of_memory.h"
#include "pons/serve.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HEADERS     32
#define PIECE       2048
#define ROUND       2000  // requests that one server gets
#define STREAM_MAX  65536 // bytes until a client has had enough
#define METHODS_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct pons_http_exchange {
    char method[METHODS_MAX], path[PIECE], query[PIECE];
    char names[HEADERS][64], values[HEADERS][256];
    size_t n;
    const char *body;
    size_t body_n;
    char name[PIECE], value[PIECE]; // of the query that was asked for last
    atomic_int replies;
    int status;
};

struct pons_http_stream {
    atomic_size_t written;
};

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

// ---- a server without sockets -------------------------------------------------------------------

static pons_http_server_options served; // the main port's: the last that was opened
static pons_serve *serve;
static pons_store store;
static unsigned rounds;
static atomic_int changes;

static int open_port(const pons_http_server_options *opts, void **ret, pons_error *err)
{
    (void)err;
    served = *opts;
    *ret = &served;
    return PONS_OK;
}

static void close_port(void *self)
{
    (void)self;
}

static uint16_t port(void *self)
{
    (void)self;
    return 2024;
}

static const char *method(const pons_http_exchange *x)
{
    return x->method;
}

static const char *path(const pons_http_exchange *x)
{
    return x->path;
}

static const char *query(const pons_http_exchange *x, const char *name)
{
    const size_t n = strlen(name);
    pons_http_exchange *mine = (pons_http_exchange *)(uintptr_t)x;
    for (const char *at = x->query; *at; at += strcspn(at, "&"), at += *at == '&') {
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            snprintf(mine->value, sizeof mine->value, "%.*s", (int)strcspn(at + n + 1, "&"),
                     at + n + 1);
            return mine->value;
        }
    }
    return NULL;
}

static const char *query_at(const pons_http_exchange *x, unsigned i, const char **ret_name)
{
    pons_http_exchange *mine = (pons_http_exchange *)(uintptr_t)x;
    const char *at = x->query;
    for (; *at && i > 0; i--) {
        at += strcspn(at, "&");
        at += *at == '&';
    }
    const size_t n = strcspn(at, "=&");
    if (!*at) {
        return NULL;
    }
    snprintf(mine->name, sizeof mine->name, "%.*s", (int)n, at);
    snprintf(mine->value, sizeof mine->value, "%.*s", (int)strcspn(at + n, "&"), at + n);
    *ret_name = mine->name;
    return mine->value + (mine->value[0] == '=');
}

static const char *header(const pons_http_exchange *x, const char *name)
{
    for (size_t i = 0; i < x->n; i++) {
        if (strcasecmp(x->names[i], name) == 0) {
            return x->values[i];
        }
    }
    return NULL;
}

static unsigned header_count(const pons_http_exchange *x, const char *name)
{
    unsigned n = 0;
    for (size_t i = 0; i < x->n; i++) {
        n += strcasecmp(x->names[i], name) == 0;
    }
    return n;
}

static const char *body(const pons_http_exchange *x, size_t *ret_n)
{
    *ret_n = x->body_n;
    return x->body;
}

static const char *peer(const pons_http_exchange *x)
{
    (void)x;
    return "127.0.0.1";
}

static void check_headers(const char *const *headers)
{
    for (size_t i = 0; headers && headers[i]; i++) {
        must(strchr(headers[i], ':') && !strpbrk(headers[i], "\r\n"));
    }
}

static void reply(pons_http_exchange *x, int status, const char *const *headers, const void *data,
                  size_t n)
{
    must(status >= 100 && status < 600 && (n == 0 || data));
    check_headers(headers);
    x->status = status;
    x->replies++;
}

static pons_http_stream *stream(pons_http_exchange *x, int status, const char *const *headers)
{
    check_headers(headers);
    x->status = status;
    x->replies++;
    return pons_need_zeroed(1, sizeof(pons_http_stream));
}

static int stream_write(pons_http_stream *s, const void *data, size_t n)
{
    must(s && data);
    return atomic_fetch_add(&s->written, n) > STREAM_MAX ? PONS_ECANCELED : PONS_OK;
}

static size_t stream_unsent(pons_http_stream *s)
{
    (void)s;
    return 0;
}

static void stream_end(pons_http_stream *s)
{
    free(s);
}

static const pons_http_server_ops http = {.abi = PONS_HTTP_SERVER_ABI,
                                          .name = "fuzz",
                                          .open = open_port,
                                          .close = close_port,
                                          .port = port,
                                          .method = method,
                                          .path = path,
                                          .query = query,
                                          .query_at = query_at,
                                          .header = header,
                                          .header_count = header_count,
                                          .body = body,
                                          .peer = peer,
                                          .reply = reply,
                                          .stream = stream,
                                          .stream_write = stream_write,
                                          .stream_unsent = stream_unsent,
                                          .stream_end = stream_end};

// ---- a host -------------------------------------------------------------------------------------

static int status(void *user, const char *thread, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)thread;
    (void)err;
    *ret = pons_object("mode", json_string("IDLE"), NULL);
    return PONS_OK;
}

static int say(void *user, const char *thread, const char *text, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)thread;
    (void)err;
    changes++;
    *ret = pons_object("text", json_string(text), NULL);
    return PONS_OK;
}

static int control(void *user, const char *thread, const char *word, const char *task,
                   pons_error *err)
{
    (void)user;
    (void)thread;
    (void)word;
    (void)task;
    (void)err;
    changes++;
    return PONS_OK;
}

static int answer(void *user, const char *thread, const char *question, pons_value *value,
                  const char *by, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)thread;
    (void)question;
    (void)value;
    (void)by;
    (void)err;
    changes++;
    *ret = pons_object("verdict", json_string("bound"), NULL);
    return PONS_OK;
}

static int reset(void *user, pons_error *err)
{
    (void)user;
    (void)err;
    changes++;
    return PONS_OK;
}

static int stop(void *user, const char *reason, pons_error *err)
{
    (void)user;
    (void)reason;
    (void)err;
    return PONS_OK;
}

static int away(void *user, const char *name, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)name;
    (void)ret;
    return pons_error_set(err, PONS_ENOTFOUND, "fuzz", "away");
}

static int no_body(void *user, bool laser, pons_link **ret, pons_error *err)
{
    (void)user;
    (void)laser;
    (void)ret;
    return pons_error_set(err, PONS_ENOTFOUND, "fuzz", "no body");
}

static int no_agent(void *user, const char *session, bool look, pons_event_cb on_event,
                    void *event_user, pons_serve_agent *ret, pons_error *err)
{
    (void)user;
    (void)session;
    (void)look;
    (void)on_event;
    (void)event_user;
    (void)ret;
    return pons_error_set(err, PONS_EENV, "fuzz", "no model");
}

static void no_close(void *user, pons_serve_agent *a)
{
    (void)user;
    (void)a;
}

static int config(void *user, char **ret, pons_error *err)
{
    (void)user;
    (void)err;
    *ret = strdup("graph: {}\n");
    return PONS_OK;
}

static int config_put(void *user, const char *text, size_t n, pons_error *err)
{
    (void)user;
    (void)text;
    (void)n;
    (void)err;
    changes++;
    return PONS_OK;
}

static void begin(void)
{
    static const pons_mcp_server_options tools = {
        .name = "fuzz", .version = "1", .stop_fd = -1, .log_fd = -1};
    char file[] = "/tmp/pons-fuzz-request-XXXXXX";
    pons_error err = PONS_ERROR_INIT;
    pons_mcp_server_options mcp = tools;
    mcp.clock = pons_clock_real();
    const int fd = mkstemp(file);
    must(fd >= 0 && close(fd) == 0 && unlink(file) == 0);
    must(pons_store_memory_open(&store, &err) == PONS_OK);
    const pons_serve_options o = {.http = &http,
                                  .store = store,
                                  .clock = pons_clock_real(),
                                  .host = {.status = status,
                                           .say = say,
                                           .control = control,
                                           .answer = answer,
                                           .reset = reset,
                                           .stop = stop,
                                           .world = away,
                                           .observe = no_body,
                                           .agent_open = no_agent,
                                           .agent_close = no_close,
                                           .graph_config = config,
                                           .graph_config_put = config_put},
                                  .thread = "main",
                                  .port = 2024,
                                  .token_file = file,
                                  .mcp = &mcp};
    must(pons_serve_open(&o, &serve, &err) == PONS_OK);
    unlink(file);
}

static void end(void)
{
    pons_serve_close(serve);
    pons_store_close(&store);
    serve = NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    pons_value_init();
    setenv("PONS_SHARE", ".", 0); // the page's files
    atexit(end);
    begin();
    return 0;
}

// ---- a request ----------------------------------------------------------------------------------

static const char *token(const char *shown)
{
    static const char *const roles[] = {"viewer", "operator", "admin"};
    for (size_t i = 0; i < 3; i++) {
        if (shown[0] == "VOA"[i] && shown[1] == '\0') {
            return pons_serve_token(serve, roles[i]);
        }
    }
    return shown;
}

static void add(pons_http_exchange *x, const char *name, const char *value)
{
    if (x->n < HEADERS) {
        snprintf(x->names[x->n], sizeof x->names[0], "%s", name);
        snprintf(x->values[x->n++], sizeof x->values[0], "%s",
                 strcasecmp(name, "x-api-key") == 0 ? token(value) : value);
    }
}

// A line without its end; what libmicrohttpd would not let through is not there.
static const char *line(const char *at, const char *over, char *ret, size_t cap)
{
    const char *nl = memchr(at, '\n', (size_t)(over - at));
    const size_t n = (size_t)((nl ? nl : over) - at);
    snprintf(ret, cap, "%.*s", (int)n, at);
    ret[strcspn(ret, "\r")] = '\0';
    return nl ? nl + 1 : over;
}

static void read_request(const char *text, size_t size, pons_http_exchange *x)
{
    char row[PIECE];
    const char *over = text + size;
    const char *at = line(text, over, row, sizeof row);
    char *space = strchr(row, ' ');
    snprintf(x->method, sizeof x->method, "%.*s", (int)strcspn(row, " "), row);
    const char *target = space ? space + 1 : "/";
    snprintf(x->path, sizeof x->path, "%.*s", (int)strcspn(target, "?"), target);
    snprintf(x->query, sizeof x->query, "%s", strchr(target, '?') ? strchr(target, '?') + 1 : "");
    while (at < over) {
        at = line(at, over, row, sizeof row);
        if (!*row) {
            break;
        }
        char *colon = strchr(row, ':');
        if (colon) {
            *colon = '\0';
            add(x, row, colon + 1 + strspn(colon + 1, " "));
        }
    }
    if (!header(x, "Host")) {
        add(x, "Host", "127.0.0.1:2024");
    }
    x->body = at;
    x->body_n = (size_t)(over - at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_http_exchange *x = pons_need_zeroed(1, sizeof *x);
    char *text = pons_need_zeroed(1, size + 1); // a body ends with a zero beyond n
    memcpy(text, data, size);
    read_request(text, size, x);
    const int before = changes;
    if (strcmp(x->path, "/v1/map") != 0) { // waits for a body
        served.handle(served.user, x);
        must(x->replies == 1);
        const char *shown = header(x, "x-api-key"), *bearer = header(x, "Authorization");
        const bool nobody = !shown && !bearer;
        must(changes == before || (!nobody && x->status < 400));
    }
    free(text);
    free(x);
    if (++rounds % ROUND == 0) { // what requests leave behind does not pile up
        end();
        begin();
    }
    return 0;
}
