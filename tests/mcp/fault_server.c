// fault_server - an MCP server over stdio that does what its mode and its tools say, well or badly.
// Its own few lines of protocol: nothing of what is tested is used.
#include "mcp/fault_server.h"

#include "pons/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static bool extra; // a tool that is there after `change`

static void say(const char *text)
{
    fputs(text, stdout);
    fputc('\n', stdout);
    fflush(stdout);
}

static void say_value(pons_value *v)
{
    char *text = NULL;
    if (pons_value_line(v, &text) >= 0) {
        say(text);
    }
    free(text);
    pons_value_unref(v);
}

static void result(const pons_value *id, pons_value *r)
{
    say_value(
        pons_object("jsonrpc", json_string("2.0"), "id", pons_value_ref(id), "result", r, NULL));
}

static pons_value *parse(const char *text)
{
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(text, strlen(text), &v, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        exit(9);
    }
    return v;
}

static void text_result(const pons_value *id, const char *text, bool error)
{
    pons_value *content = json_array();
    json_array_append_new(
        content, pons_object("type", json_string("text"), "text", json_string(text), NULL));
    result(id, pons_object("content", content, "isError", error ? json_true() : NULL, NULL));
}

static pons_value *tool(const char *name, const char *annotations)
{
    return pons_object("name", json_string(name), "description", json_string(name), "inputSchema",
                       parse("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":"
                             "\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},"
                             "\"at\":{\"type\":\"string\",\"format\":\"uri\"}},"
                             "\"propertyNames\":{\"pattern\":\"x\"},\"dependencies\":{}}"),
                       "annotations", parse(annotations), NULL);
}

// Two pages.
static void list(const pons_value *id, const pons_value *params)
{
    static const char *const rest[] = {"slow",  "progress", "crash",   "fail",      "image",
                                       "ping",  "garbage",  "strange", "change",    "env",
                                       "error", "big",      "data",    "odd name!", "half"};
    pons_value *tools = json_array();
    if (!pons_get(params, "cursor")) {
        json_array_append_new(tools,
                              tool("echo", "{\"readOnlyHint\":true,\"openWorldHint\":false}"));
        result(id, pons_object("tools", tools, "nextCursor", json_string("2"), NULL));
        return;
    }
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) {
        json_array_append_new(tools, tool(rest[i], i == 0 ? "{\"destructiveHint\":false}" : "{}"));
    }
    if (extra) {
        json_array_append_new(tools, tool("extra", "{}"));
    }
    result(id, pons_object("tools", tools, NULL));
}

static void touch(const char *name)
{
    FILE *f = fopen(name, "a");
    if (f) {
        fputs("x", f);
        fclose(f);
    }
}

static void call(const pons_value *id, const pons_value *params)
{
    const char *name = pons_get_str(params, "name", "");
    const pons_value *token = pons_get(pons_get(params, "_meta"), "progressToken");
    char text[256];
    if (strcmp(name, "echo") == 0) {
        snprintf(text, sizeof text, "%lld key %s",
                 (long long)pons_get_int(pons_get(params, "arguments"), "n", 0),
                 pons_get_str(pons_get(params, "_meta"), "pons/key", "none"));
        text_result(id, text, false);
    } else if (strcmp(name, "slow") == 0) {
        touch("slow");
    } else if (strcmp(name, "progress") == 0) {
        for (int i = 1; i <= 3; i++) {
            say_value(pons_object("jsonrpc", json_string("2.0"), "method",
                                  json_string("notifications/progress"), "params",
                                  pons_object("progressToken", pons_value_ref(token), "progress",
                                              json_integer(i), "total", json_integer(3), "message",
                                              json_string("at it"), NULL),
                                  NULL));
        }
        text_result(id, "done", false);
    } else if (strcmp(name, "crash") == 0) {
        touch("crashed");
        fputs("about to crash\n", stderr);
        _exit(7);
    } else if (strcmp(name, "fail") == 0) {
        text_result(id, "it did not work", true);
    } else if (strcmp(name, "error") == 0) {
        say_value(pons_object("jsonrpc", json_string("2.0"), "id", pons_value_ref(id), "error",
                              parse("{\"code\":-32602,\"message\":\"n is too large\"}"), NULL));
    } else if (strcmp(name, "image") == 0) {
        result(id, parse("{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":"
                         "\"AAAAAAAA\"},{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\","
                         "\"text\":\"words\"}},{\"type\":\"resource_link\",\"uri\":\"x://y\","
                         "\"name\":\"link\"}]}"));
    } else if (strcmp(name, "data") == 0 &&
               pons_get_int(pons_get(params, "arguments"), "n", 0) == 1) {
        result(id, parse("{\"content\":\"no list\"}"));
    } else if (strcmp(name, "data") == 0) {
        result(id, parse("{\"content\":[],\"structuredContent\":{\"t\":21.5}}"));
    } else if (strcmp(name, "ping") == 0) {
        say("{\"jsonrpc\":\"2.0\",\"id\":\"p1\",\"method\":\"ping\"}");
        say("{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"sampling/createMessage\",\"params\":{}}");
        char line[4096] = "", other[4096] = "";
        if (!fgets(line, sizeof line, stdin) || !fgets(other, sizeof other, stdin)) {
            exit(8);
        }
        text_result(id,
                    strstr(line, "\"p1\"") && strstr(line, "\"result\":{}") &&
                            strstr(other, "-32601")
                        ? "pong"
                        : line,
                    false);
    } else if (strcmp(name, "garbage") == 0) {
        say("npm WARN this is not JSON");
        say("");
        say("{\"half\":");
        say("[]");
        say("42");
        say("\xff\xfe");
        text_result(id, "still here", false);
    } else if (strcmp(name, "half") == 0) { // a text that was cut inside a character
        char cut[256], *number = NULL;
        pons_value_line(id, &number);
        snprintf(
            cut, sizeof cut,
            "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
            "\"cut \\ud83d\"}]}}",
            number);
        free(number);
        say(cut);
    } else if (strcmp(name, "strange") == 0) {
        say("{\"jsonrpc\":\"2.0\",\"id\":123456,\"result\":{}}");
        say("{\"jsonrpc\":\"2.0\",\"id\":\"abc\",\"result\":{}}");
        say("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"?\"}}");
        say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard\"}");
        say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "progress\",\"params\":{\"progressToken\":"
            "5555,\"progress\":1}}");
        say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
            "\"warning\",\"data\":\"a word for the log\"}}");
        text_result(id, "fine", false);
    } else if (strcmp(name, "change") == 0) {
        extra = true;
        say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
        text_result(id, "changed", false);
    } else if (strcmp(name, "env") == 0) {
        pons_value *all = json_array();
        for (char **e = environ; *e; e++) {
            json_array_append_new(all, json_string(*e));
        }
        char *joined = NULL;
        pons_value_line(all, &joined);
        text_result(id, joined, false);
        free(joined);
        pons_value_unref(all);
    } else if (strcmp(name, "big") == 0) {
        const size_t n = (size_t)pons_get_int(pons_get(params, "arguments"), "n", 0);
        char *big = malloc(n + 1);
        memset(big, 'x', n);
        big[n] = '\0';
        text_result(id, big, false);
        free(big);
    } else {
        text_result(id, name, false);
    }
}

int fault_server(const char *mode)
{
    char *line = NULL;
    size_t cap = 0;
    fprintf(stderr, "server %s is up\n", mode);
    touch("started");
    if (strcmp(mode, "dies") == 0) {
        return 3;
    }
    while (getline(&line, &cap, stdin) > 0) {
        pons_value *m = parse(line);
        const char *method = pons_get_str(m, "method", "");
        const pons_value *id = pons_get(m, "id"), *params = pons_get(m, "params");
        if (strcmp(mode, "silent") == 0) {
        } else if (strcmp(method, "initialize") == 0) {
            const char *version = strcmp(mode, "old") == 0      ? "2024-11-05"
                                  : strcmp(mode, "future") == 0 ? "2099-01-01"
                                                                : "2025-06-18";
            result(id, pons_object("protocolVersion", json_string(version), "capabilities",
                                   parse("{\"tools\":{\"listChanged\":true}}"), "serverInfo",
                                   parse("{\"name\":\"fault\",\"version\":\"1\"}"), NULL));
        } else if (strcmp(method, "tools/list") == 0) {
            list(id, params);
        } else if (strcmp(method, "tools/call") == 0) {
            call(id, params);
        } else if (strcmp(method, "notifications/cancelled") == 0) {
            touch("canceled");
        }
        pons_value_unref(m);
    }
    free(line);
    return 0;
}
