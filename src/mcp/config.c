// config.c - mcp.json: the servers, as other programs write them, checked and expanded.
//
// Keys that pons does not know are left alone: the file belongs to several programs. A key that it
// does know must be right.
#include "mcp/rpc.h"
#include "pons/buf.h"
#include "pons/mcp.h"
#include "pons/schema.h"
#include "pons/yaml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT       "{\"type\":\"string\"}"
#define TEXTS      "{\"type\":\"array\",\"items\":" TEXT "}"
#define TEXT_MAP   "{\"type\":\"object\",\"additionalProperties\":" TEXT "}"
#define RISK       "{\"enum\":[\"safe\",\"warn\",\"dangerous\",\"blocked\"]}"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.- "

static const char rules[] =
    "{\"type\":\"object\",\"required\":[\"mcpServers\"],\"properties\":{\"mcpServers\":{"
    "\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{"
    "\"command\":{\"type\":\"string\",\"minLength\":1},\"args\":" TEXTS ",\"env\":" TEXT_MAP
    ",\"cwd\":" TEXT ",\"url\":{\"type\":\"string\",\"pattern\":\"^https?://\"},"
    "\"headers\":" TEXT_MAP ",\"disabled\":{\"type\":\"boolean\"},"
    "\"timeout_s\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":86400},"
    "\"risk\":{\"anyOf\":[" RISK ",{\"type\":\"object\",\"additionalProperties\":" RISK "}]},"
    "\"autoApprove\":" TEXTS ",\"alwaysAllow\":" TEXTS ",\"trust\":{\"type\":\"boolean\"},"
    "\"type\":{\"type\":\"string\"}}}}}}";

typedef struct fault {
    char pointer[256], message[256];
} fault;

static void take_fault(void *user, const char *pointer, const char *message)
{
    fault *f = user;
    if (!f->message[0]) {
        snprintf(f->pointer, sizeof f->pointer, "%s", pointer);
        snprintf(f->message, sizeof f->message, "%s", message);
    }
}

// JSON is YAML: the reader of the one knows where each node of the other stands.
static int refuse(const char *path, const char *pointer, const char *message, pons_error *err)
{
    pons_yaml *y = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    char at[512];
    const int rc = pons_error_set(err, PONS_EINVAL, PONS__MCP, "%s%s%s", pointer,
                                  *pointer ? ": " : "", message);
    if (pons_yaml_load(path, &y, &ignored) >= 0) {
        pons_error_source(err, "%s", pons_yaml_position(y, pointer, at, sizeof at));
        pons_yaml_destroy(y);
    } else {
        pons_error_source(err, "%s", path);
    }
    return rc;
}

// ${NAME} and ${NAME:-default}. Returns NULL on a name without a value, which is put into
// *ret_name.
static char *expand(const char *text, char *ret_name, size_t cap)
{
    pons_autobuf b = PONS_BUF_INIT;
    for (const char *at = text; *at;) {
        const char *end = at[0] == '$' && at[1] == '{' ? strchr(at, '}') : NULL;
        if (!end) {
            pons_buf_byte(&b, (uint8_t)*at++);
            continue;
        }
        const char *other = memmem(at, (size_t)(end - at), ":-", 2);
        snprintf(ret_name, cap, "%.*s", (int)((other ? other : end) - (at + 2)), at + 2);
        const char *value = getenv(ret_name);
        if (value && (*value || !other)) {
            pons_buf_str(&b, value);
        } else if (other) {
            pons_buf_bytes(&b, other + 2, (size_t)(end - (other + 2)));
        } else {
            return NULL;
        }
        at = end + 1;
    }
    pons_buf_str(&b, "");
    return pons_buf_take(&b, NULL);
}

// Expands a text, or the texts of a list or a map, in place of the old value.
static int expand_value(const pons_value *v, const char *pointer, pons_value **ret,
                        const char *path, pons_error *err)
{
    char name[128], below[512];
    if (json_is_string(v)) {
        char *text = expand(json_string_value(v), name, sizeof name);
        if (!text) {
            char message[256];
            snprintf(message, sizeof message, "the environment has no %s", name);
            return refuse(path, pointer, message, err);
        }
        *ret = json_string(text);
        free(text);
        return PONS_OK;
    }
    int rc = PONS_OK;
    pons_value *out = json_is_array(v) ? json_array() : json_object();
    size_t i;
    const char *key;
    json_t *item;
    json_array_foreach(v, i, item)
    {
        pons_value *one = NULL;
        snprintf(below, sizeof below, "%s/%zu", pointer, i);
        rc = rc < 0 ? rc : expand_value(item, below, &one, path, err);
        if (one) {
            json_array_append_new(out, one);
        }
    }
    json_object_foreach((json_t *)v, key, item)
    {
        pons_value *one = NULL;
        snprintf(below, sizeof below, "%s/%s", pointer, key);
        rc = rc < 0 ? rc : expand_value(item, below, &one, path, err);
        if (one) {
            json_object_set_new(out, key, one);
        }
    }
    if (rc < 0) {
        pons_value_unref(out);
        return rc;
    }
    *ret = out;
    return PONS_OK;
}

static int check_server(const char *path, const char *name, pons_value *entry, pons_error *err)
{
    static const char *const texts[] = {"command", "args", "env", "cwd", "url", "headers"};
    char pointer[512];
    snprintf(pointer, sizeof pointer, "/mcpServers/%s", name);
    const bool process = pons_get(entry, "command"), http = pons_get(entry, "url");
    if (!*name || strspn(name, NAME_CHARS) != strlen(name) || strlen(name) > 48) {
        return refuse(path, pointer,
                      "a server's name is 1 to 48 letters, digits, spaces, _ . and -", err);
    }
    if (process == http) {
        return refuse(path, pointer, "a server has a command or a url, and not both", err);
    }
    if (http && strcmp(pons_get_str(entry, "type", "http"), "sse") == 0) {
        return refuse(path, pointer,
                      "the transport sse is of 2024; give the url of its streamable HTTP", err);
    }
    if (pons_get_bool(entry, "disabled", false)) {
        return PONS_OK; // nothing of it is needed
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const pons_value *v = pons_get(entry, texts[i]);
        pons_value *expanded = NULL;
        snprintf(pointer, sizeof pointer, "/mcpServers/%s/%s", name, texts[i]);
        const int rc = v ? expand_value(v, pointer, &expanded, path, err) : PONS_OK;
        if (rc < 0) {
            return rc;
        }
        if (expanded) {
            json_object_set_new(entry, texts[i], expanded);
        }
    }
    return PONS_OK;
}

int pons_mcp_load(const char *path, pons_value **ret, pons_error *err)
{
    pons_autovalue file = NULL;
    pons_autovalue schema = NULL;
    pons_schema *compiled = NULL;
    fault f = {.message = ""};
    int rc = pons_value_load(path, &file, err);
    rc = rc < 0 ? rc : pons_value_parse(rules, sizeof rules - 1, &schema, err);
    rc = rc < 0 ? rc : pons_schema_compile(schema, &compiled, err);
    if (rc >= 0 && pons_schema_faults(compiled, file, take_fault, &f) != 0 && f.message[0]) {
        rc = refuse(path, f.pointer, f.message, err);
    }
    pons_schema_destroy(compiled);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue servers = json_deep_copy(pons_get(file, "mcpServers"));
    const char *name;
    json_t *entry;
    json_object_foreach(servers, name, entry)
    {
        rc = rc < 0 ? rc : check_server(path, name, entry, err);
    }
    if (rc >= 0) {
        *ret = pons_value_ref(servers);
    }
    return rc;
}
