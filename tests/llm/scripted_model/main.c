// scripted_model - an OpenAI-compatible model server for tests and demonstrations.
//
//     scripted_model [--port 0] [--rules | SCRIPT.json] [--die-after N] [--delay-ms N]
//
// Prints its port on stdout and serves POST …/chat/completions on 127.0.0.1 until it is killed
// or dies by --die-after.
//   --rules        answers with what the rule policy decides on the observation: the JSON, fenced
//                  as "```json … ```" or not, of the last user message that has one
//   SCRIPT         a JSON list of replies, each used once, the last one for ever after:
//                  {"content": "…"} {"decision": {…}} {"error": {"status": 503, "message": "…"}}
//                  {"raw": "HTTP/1.1 …"} (exactly these bytes) {"hang": true}
//                  {"tool_calls": [{"name", "arguments": {…}, "id"?}], "content"?}
//                  {"refusal": "…"}; "reasoning" and "usage" beside any of these
//                  with "when": {"dotted.path": value} only where the observation has this, or,
//                  when there is none, the request (src/llm/script_internal.h)
//   --die-after N  answers N requests and dies in the middle of the next answer, as by kill -9
//   --delay-ms N   before the first token, and a tenth of it before each further one
#include "llm/replay/scripted_provider.h"
#include "pons/buf.h"
#include "pons/rule_policy.h"
#include "pons/yaml.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MAX (8 * 1024 * 1024)
#define PIECE_BYTES 12 // of the answer in one token
#define EXIT_BAD    2

static struct {
    pons_policy rules; // ops NULL: scripted
    pons_value *script;
    long die_after; // -1: never
    long delay_ms;
    pthread_mutex_t mtx;
    bool *used;    // [mtx] (script)
    long answered; // [mtx]
} server = {.die_after = -1, .mtx = PTHREAD_MUTEX_INITIALIZER};

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (ms > 0 && nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

static void send_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0) {
            return; // the client is gone; its handler ends soon
        }
        bytes += sent;
        n -= (size_t)sent;
    }
}

static void send_status(int fd, long status, const char *message)
{
    pons_autovalue v = pons_object(
        "error", pons_object("message", json_string(message), "type", json_string("test"), NULL),
        NULL);
    char *body;
    pons_autobuf b = PONS_BUF_INIT;
    if (pons_value_line(v, &body) >= 0) {
        pons_buf_printf(&b,
                        "HTTP/1.1 %ld Error\r\nContent-Type: application/json\r\nContent-Length: "
                        "%zu\r\nConnection: close\r\n\r\n%s",
                        status, strlen(body), body);
        send_all(fd, b.data, b.len);
        free(body);
    }
}

// ---- the observation of a request ---------------------------------------------------------------

// The JSON in a message: its last fenced block, or all from its first brace to its last.
static pons_value *json_in(const char *text)
{
    static const char fence[] = "```json";
    const char *begin = strchr(text, '{'), *last = strrchr(text, '}'), *at = text;
    const char *end = last ? last + 1 : NULL;
    while ((at = strstr(at, fence))) {
        begin = at += strlen(fence);
        const char *close = strstr(begin, "```");
        end = close ? close : text + strlen(text);
    }
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    return begin && end > begin &&
                   pons_value_parse(begin, (size_t)(end - begin), &v, &err) == PONS_OK
               ? v
               : NULL;
}

// The last user message that holds an observation: an object with a task.
static pons_value *observation_of(const pons_value *request)
{
    const pons_value *messages = pons_get(request, "messages");
    for (size_t i = json_array_size(messages); i-- > 0;) {
        const pons_value *m = json_array_get(messages, i);
        if (strcmp(pons_get_str(m, "role", ""), "user") != 0) {
            continue;
        }
        pons_value *v = json_in(pons_get_str(m, "content", ""));
        if (pons_get(v, "task")) {
            return v;
        }
        pons_value_unref(v);
    }
    return NULL;
}

static const pons_value *choose(const pons_value *observation, const pons_value *request)
{
    const pons_value *chosen = NULL;
    size_t n = json_array_size(server.script);
    pons_autovalue seen = observation
                              ? pons_object("observation", pons_value_ref(observation), NULL)
                              : pons_value_ref(request);
    pthread_mutex_lock(&server.mtx);
    for (size_t i = 0; i < n && !chosen; i++) {
        const pons_value *reply = json_array_get(server.script, i);
        bool usable = !server.used[i] || i + 1 == n || pons_get_bool(reply, "repeat", false);
        if (usable && pons__script_fits(pons_get(reply, "when"), seen)) {
            server.used[i] = true;
            chosen = reply;
        }
    }
    pthread_mutex_unlock(&server.mtx);
    return chosen;
}

// ---- answers ------------------------------------------------------------------------------------

// A chunk of the stream. Takes the delta.
static void send_chunk(int fd, pons_value *delta, const char *finish)
{
    pons_autovalue v = pons_object(
        "id", json_string("chatcmpl-test"), "object", json_string("chat.completion.chunk"), "model",
        json_string("scripted"), "choices",
        json_pack("[{s:i,s:o,s:o}]", "index", 0, "delta", delta, "finish_reason",
                  finish ? json_string(finish) : json_null()),
        NULL);
    char *line;
    pons_autobuf b = PONS_BUF_INIT;
    if (pons_value_line(v, &line) >= 0) {
        pons_buf_printf(&b, "data: %s\n\n", line);
        send_all(fd, b.data, b.len);
        free(line);
    }
}

// A text in pieces of whole characters; `wrap` makes the delta of a piece.
static void send_pieces(int fd, const char *text, pons_value *(*wrap)(const char *, size_t),
                        size_t index, bool die)
{
    for (size_t at = 0, n = strlen(text); at < n;) {
        size_t end = at + PIECE_BYTES < n ? at + PIECE_BYTES : n;
        while (end < n && ((unsigned char)text[end] & 0xC0u) == 0x80u) {
            end++;
        }
        char piece[PIECE_BYTES + 8];
        snprintf(piece, sizeof piece, "%.*s", (int)(end - at), text + at);
        send_chunk(fd, wrap(piece, index), NULL);
        at = end;
        if (die) {
            _exit(1);
        }
        pause_ms(server.delay_ms / 10);
    }
}

static pons_value *content_delta(const char *piece, size_t index)
{
    (void)index;
    return pons_object("content", json_string(piece), NULL);
}

static pons_value *reasoning_delta(const char *piece, size_t index)
{
    (void)index;
    return pons_object("reasoning_content", json_string(piece), NULL);
}

static pons_value *refusal_delta(const char *piece, size_t index)
{
    (void)index;
    return pons_object("refusal", json_string(piece), NULL);
}

static pons_value *arguments_delta(const char *piece, size_t index)
{
    return json_pack("{s:[{s:I,s:{s:s}}]}", "tool_calls", "index", (json_int_t)index, "function",
                     "arguments", piece);
}

static void send_call(int fd, const pons_value *call, size_t index, bool die)
{
    static long made; // ids differ in the server's life, as a model server's do
    char id[64];
    pthread_mutex_lock(&server.mtx);
    snprintf(id, sizeof id, "call_%ld", ++made);
    pthread_mutex_unlock(&server.mtx);
    send_chunk(fd,
               json_pack("{s:[{s:I,s:s,s:s,s:{s:s,s:s}}]}", "tool_calls", "index",
                         (json_int_t)index, "id", pons_get_str(call, "id", id), "type", "function",
                         "function", "name", pons_get_str(call, "name", ""), "arguments", ""),
               NULL);
    char *text = NULL;
    const pons_value *arguments = pons_get(call, "arguments");
    if (!arguments || pons_value_line(arguments, &text) >= 0) {
        send_pieces(fd, text ? text : "{}", arguments_delta, index, die);
    }
    free(text);
}

static void send_usage(int fd, const pons_value *usage)
{
    pons_autovalue v = pons_object("choices", json_array(), "usage", pons_value_ref(usage), NULL);
    char *line;
    pons_autobuf b = PONS_BUF_INIT;
    if (usage && pons_value_line(v, &line) >= 0) {
        pons_buf_printf(&b, "data: %s\n\n", line);
        send_all(fd, b.data, b.len);
        free(line);
    }
}

// The reply as a stream: reasoning, content, calls, the reason of the end, usage.
static void send_stream(int fd, const char *content, const pons_value *reply, bool die)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                               "Connection: close\r\n\r\n";
    static const char done[] = "data: [DONE]\n\n";
    const pons_value *calls = pons_get(reply, "tool_calls");
    pause_ms(server.delay_ms);
    send_all(fd, head, strlen(head));
    send_chunk(fd, json_pack("{ssss}", "role", "assistant", "content", ""), NULL); // as servers do
    send_pieces(fd, pons_get_str(reply, "reasoning", ""), reasoning_delta, 0, die);
    send_pieces(fd, content, content_delta, 0, die);
    send_pieces(fd, pons_get_str(reply, "refusal", ""), refusal_delta, 0, die);
    for (size_t i = 0; i < json_array_size(calls); i++) {
        send_call(fd, json_array_get(calls, i), i, die);
    }
    send_chunk(fd, json_object(), json_array_size(calls) ? "tool_calls" : "stop");
    send_usage(fd, pons_get(reply, "usage"));
    send_all(fd, done, strlen(done));
}

static void send_decision(int fd, const pons_value *decision, const pons_value *reply, bool die)
{
    char *text;
    if (pons_value_line(decision, &text) >= 0) {
        send_stream(fd, text, reply, die);
        free(text);
    }
}

static void answer_by_rules(int fd, const pons_value *observation, bool die)
{
    pons_value *decision = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (server.rules.ops->decide(server.rules.self, observation, &decision, &err) != PONS_OK) {
        send_status(fd, 400, "no observation in the last user message");
        return;
    }
    send_decision(fd, decision, NULL, die);
    pons_value_unref(decision);
}

static void answer_by_script(int fd, const pons_value *observation, const pons_value *request,
                             bool die)
{
    const pons_value *reply = choose(observation, request);
    const pons_value *error = pons_get(reply, "error");
    const char *content = pons_get_str(reply, "content", NULL);
    const char *raw = pons_get_str(reply, "raw", NULL);
    if (raw) {
        send_all(fd, raw, strlen(raw));
    } else if (pons_get(reply, "decision")) {
        send_decision(fd, pons_get(reply, "decision"), reply, die);
    } else if (content || pons_get(reply, "tool_calls") || pons_get(reply, "refusal")) {
        send_stream(fd, content ? content : "", reply, die);
    } else if (pons_get_bool(reply, "hang", false)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, -1); // until the client closes
    } else {
        send_status(fd, (long)pons_get_int(error, "status", 500),
                    pons_get_str(error, "message", "the script has no reply left"));
    }
}

static void answer(int fd, const char *head, const char *body, size_t n)
{
    if (strncmp(head, "POST ", 5) != 0 || !strstr(head, "/chat/completions ")) {
        send_status(fd, 404, "only POST /v1/chat/completions is served");
        return;
    }
    pons_value *request = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(body, n, &request, &err) != PONS_OK) {
        send_status(fd, 400, err.message);
        return;
    }
    pthread_mutex_lock(&server.mtx);
    bool die = server.die_after >= 0 && server.answered++ >= server.die_after;
    pthread_mutex_unlock(&server.mtx);
    pons_autovalue observation = observation_of(request);
    if (server.rules.ops) {
        answer_by_rules(fd, observation, die);
    } else {
        answer_by_script(fd, observation, request, die);
    }
    if (die) {
        _exit(1);
    }
    pons_value_unref(request);
}

// ---- connections --------------------------------------------------------------------------------

static void *serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    pons_autobuf b = PONS_BUF_INIT;
    char block[65536];
    ssize_t got;
    while (b.len < REQUEST_MAX && (got = recv(fd, block, sizeof block, 0)) > 0) {
        pons_buf_bytes(&b, block, (size_t)got);
        char *end = b.failed ? NULL : strstr(b.data, "\r\n\r\n");
        if (!end) {
            continue;
        }
        const char *length = strcasestr(b.data, "content-length:");
        size_t head = (size_t)(end - b.data) + 4;
        size_t body =
            length && length < end ? strtoul(length + strlen("content-length:"), NULL, 10) : 0;
        if (b.len >= head + body) {
            *end = '\0';
            answer(fd, b.data, b.data + head, body);
            break;
        }
    }
    shutdown(fd, SHUT_WR);
    close(fd);
    return NULL;
}

static int bad_usage(const char *why)
{
    fprintf(stderr,
            "scripted_model: %s\n"
            "usage: scripted_model [--port N] [--rules | SCRIPT.json] [--die-after N] "
            "[--delay-ms N]\n",
            why);
    return EXIT_BAD;
}

static int load_rules(void)
{
    pons_error err = PONS_ERROR_INIT;
    char line[1200];
    pons_yaml *y = NULL;
    int rc = pons_yaml_load(PONS_SOURCE_DIR "/config/intents.yaml", &y, &err);
    if (rc == PONS_OK) {
        rc = pons_rules_open(pons_yaml_value(y), &server.rules, &err);
    }
    pons_yaml_destroy(y);
    return rc == PONS_OK ? 0 : bad_usage(pons_error_line(&err, line, sizeof line));
}

static int load_script(const char *path)
{
    json_error_t why;
    server.script = json_load_file(path, 0, &why);
    if (!json_is_array(server.script) || json_array_size(server.script) == 0) {
        return bad_usage("the script is not a JSON list of replies");
    }
    server.used = calloc(json_array_size(server.script), sizeof *server.used);
    return server.used ? 0 : bad_usage("no memory");
}

static int listen_at(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    const int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) != 0) {
        perror("scripted_model");
        return -1;
    }
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    int port = 0, rc = 0;
    pons_value_init();
    for (int i = 1; i < argc && rc == 0; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--rules") == 0) {
            rc = load_rules();
        } else if (strcmp(argv[i], "--port") == 0 && more) {
            port = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--die-after") == 0 && more) {
            server.die_after = atol(argv[++i]);
        } else if (strcmp(argv[i], "--delay-ms") == 0 && more) {
            server.delay_ms = atol(argv[++i]);
        } else if (argv[i][0] != '-') {
            rc = load_script(argv[i]);
        } else {
            rc = bad_usage(argv[i]);
        }
    }
    if (rc == 0 && !server.rules.ops && !server.script) {
        rc = bad_usage("give --rules or a script");
    }
    const int fd = rc == 0 ? listen_at(port) : -1;
    if (fd < 0) {
        return rc ? rc : 1;
    }
    for (;;) { // until a signal ends it
        int one = accept(fd, NULL, NULL);
        pthread_t thread;
        if (one < 0) {
            continue;
        }
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)one) != 0) {
            close(one);
        } else {
            pthread_detach(thread);
        }
    }
}
