// mcp_json.c - mcp.json: the servers, as other programs write them, checked and expanded.
//
//     text --> without comments --> YAML, of which JSON is a part and which knows each node's place
//          --> the map of servers, under whichever key --> each entry by itself
//
// The file belongs to several programs: keys that pons does not know are left alone, one that it knows must
// be right. What is wrong with an entry is its `fault`, one line; the others are none the worse for it.
#include "mcp/json_rpc.h"
#include "pons/buf.h"
#include "pons/file.h"
#include "pons/mcp.h"
#include "pons/schema.h"
#include "pons/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (1 << 20)
#define NAME_MAX 48

// Of one server. `environment`, `enabled` and a command that is a list are opencode's, one that is an object
// Zed's, `httpUrl` is Gemini's, `serverUrl` Windsurf's, `envFile` VS Code's and Cursor's.
static const char rules[] = {
#include "mcp/server_entry.json.h"
};

typedef struct reading {
    const char *folder; // the workspace
    pons_yaml *y;
    pons_schema *rules;
    char at[512]; // the JSON pointer of the entry
} reading;

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

__attribute__((format(printf, 4, 5))) static int refuse(const reading *r, const char *below,
                                                        pons_error *err, const char *fmt, ...)
{
    char pointer[1024], what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    snprintf(pointer, sizeof pointer, "%s%s", r->at, below);
    return pons_yaml_fault(r->y, pointer, PONS__MCP, err, "%s: %s", pointer, what);
}

// ---- texts --------------------------------------------------------------------------------------

// What ${NAME} stands for; NULL: nothing, and why.
static const char *value_of(const reading *r, const char *name, char *why, size_t cap)
{
    const struct {
        const char *name, *value;
    } known[] = {{"workspaceFolder", r->folder},
                 {"workspaceRoot", r->folder},
                 {"userHome", getenv("HOME")},
                 {"pathSeparator", "/"},
                 {"/", "/"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].value && strcmp(known[i].name, name) == 0) {
            return known[i].value;
        }
    }
    if (strncmp(name, "input:", strlen("input:")) == 0) {
        snprintf(why, cap,
                 "${%s} is asked of a person by editors; give a ${NAME} of the environment", name);
        return NULL;
    }
    name += strncmp(name, "env:", strlen("env:")) == 0 ? strlen("env:") : 0;
    snprintf(why, cap, "the environment has no %s", name);
    return getenv(name);
}

// "$NAME" and nothing else, as Gemini has it, where the environment has such a name.
static const char *bare_name(const char *text)
{
    static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return text[0] == '$' && text[1] && text[1 + strspn(text + 1, chars)] == '\0' ? getenv(text + 1)
                                                                                  : NULL;
}

// ${NAME}, ${env:NAME}, either with :-default, and opencode's {env:NAME}. NULL: one has no value, and why.
static char *expand(const reading *r, const char *text, char *why, size_t cap)
{
    pons_autobuf b = PONS_BUF_INIT;
    const char *bare = bare_name(text);
    for (const char *at = bare ? bare : text; *at;) {
        const size_t lead = strncmp(at, "${", 2) == 0 ? 2 : strncmp(at, "{env:", 5) == 0 ? 1 : 0;
        const char *end = lead && !bare ? strchr(at, '}') : NULL;
        if (!end) {
            pons_buf_byte(&b, (uint8_t)*at++);
            continue;
        }
        char name[128];
        at += lead;
        const char *other = memmem(at, (size_t)(end - at), ":-", 2);
        snprintf(name, sizeof name, "%.*s", (int)((other ? other : end) - at), at);
        const char *value = value_of(r, name, why, cap);
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

// A text, a number or a flag as a text; the members of a list or a map likewise, without nulls.
static int expand_value(const reading *r, const pons_value *v, const char *below, pons_value **ret,
                        pons_error *err)
{
    char why[256] = "no memory", deeper[512];
    if (!json_is_array(v) && !json_is_object(v)) {
        char *own = NULL;
        const char *given = json_string_value(v);
        if (!given && pons_value_line(v, &own) < 0) {
            return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no memory");
        }
        char *text = expand(r, given ? given : own, why, sizeof why);
        free(own);
        *ret = text ? json_string(text) : NULL;
        if (text && !*ret) {
            snprintf(why, sizeof why, "the value is not valid UTF-8");
        }
        free(text);
        return *ret ? PONS_OK : refuse(r, below, err, "%s", why);
    }
    int rc = PONS_OK;
    pons_value *out = json_is_array(v) ? json_array() : json_object();
    pons_each(item, v) {
        pons_value *one = NULL;
        snprintf(deeper, sizeof deeper, "%s/%zu", below, json_array_size(out));
        rc = rc < 0 ? rc : expand_value(r, item, deeper, &one, err);
        if (one) {
            json_array_append_new(out, one);
        }
    }
    pons_each_member(key, item, v) {
        pons_value *one = NULL;
        snprintf(deeper, sizeof deeper, "%s/%s", below, key);
        rc = rc < 0 || json_is_null(item) ? rc : expand_value(r, item, deeper, &one, err);
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

// ---- a file of the environment ------------------------------------------------------------------

#define ENV_FILE_MAX ((size_t)1 << 20) // bytes

// [export ]NAME=value, with or without quotes; # begins a comment. False: the value is not UTF-8.
static bool take_line(char *line, pons_value *env)
{
    line += strspn(line, " \t");
    line += strncmp(line, "export ", strlen("export ")) == 0 ? strlen("export ") : 0;
    char *value = strchr(line, '=');
    if (*line == '#' || !value) {
        return true;
    }
    line[strcspn(line, " \t=")] = '\0';
    if (!*line) {
        return true;
    }
    value += 1 + strspn(value + 1, " \t");
    char *end = *value == '"' || *value == '\'' ? strchr(value + 1, *value) : NULL;
    if (end) {
        value++;
    } else {
        end = strstr(value, " #");
        end = end ? end : value + strlen(value);
        while (end > value && isspace((unsigned char)end[-1])) {
            end--;
        }
    }
    *end = '\0';
    return json_object_set_new(env, line, json_string(value)) == 0;
}

// What the entry itself gives goes before the file.
static int add_env_file(const reading *r, pons_value *spec, pons_error *err)
{
    const char *name = pons_get_str(spec, "envFile", NULL);
    if (!name) {
        return PONS_OK;
    }
    char path[4096], *next;
    size_t n;
    snprintf(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : r->folder,
             name[0] == '/' ? "" : "/", name);
    char *text = pons_file_text(path, ENV_FILE_MAX, &n);
    if (!text || n > ENV_FILE_MAX) {
        const char *why = text ? "it has more than 1 MiB" : pons_file_why(errno);
        free(text);
        return refuse(r, "/envFile", err, "cannot read %s: %s", path, why);
    }
    pons_value *env = json_object();
    int number = 1, bad = 0;
    for (char *line = text + pons_utf8_mark(text, n); line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        if (!take_line(line, env) && !bad) {
            bad = number;
        }
    }
    free(text);
    json_object_update(env, json_object_get(spec, "env"));
    json_object_set_new(spec, "env", env);
    return bad ? refuse(r, "/envFile", err, "%s:%d: the value is not valid UTF-8", path, bad)
               : PONS_OK;
}

// ---- one server ---------------------------------------------------------------------------------

// The words of other programs become pons's own.
static void rename_keys(pons_value *spec)
{
    static const char *const same[][2] = {
        {"httpUrl", "url"}, {"serverUrl", "url"}, {"environment", "env"}};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        pons_value *v = json_object_get(spec, same[i][0]);
        if (v && !pons_get(spec, same[i][1])) {
            json_object_set(spec, same[i][1], v);
        }
    }
    pons_value *command = json_object_get(spec, "command");
    if (json_is_object(command)) {
        pons_autovalue all = pons_value_ref(command);
        json_object_update_missing(spec, all);
        json_object_set(spec, "command", json_object_get(all, "path"));
    } else if (json_is_array(command)) {
        pons_value *args = json_copy(command);
        json_array_extend(args, json_object_get(spec, "args"));
        json_object_set(spec, "command", json_array_get(args, 0));
        json_array_remove(args, 0);
        json_object_set_new(spec, "args", args);
    }
    if (json_is_false(pons_get(spec, "enabled"))) {
        json_object_set_new(spec, "disabled", json_true());
    }
}

// A process or an address: where an entry has both, the one that its type names, else the process.
static int choose_transport(const reading *r, pons_value *spec, pons_error *err)
{
    static const char *const of_address[] = {"http",           "sse",    "streamable-http",
                                             "streamableHttp", "remote", NULL};
    const char *type = pons_get_str(spec, "type", pons_get_str(spec, "transport", ""));
    const bool process = *pons_get_str(spec, "command", ""), http = *pons_get_str(spec, "url", "");
    bool by_type = false;
    for (size_t i = 0; of_address[i]; i++) {
        by_type = by_type || strcasecmp(type, of_address[i]) == 0;
    }
    if (!process && !http) {
        return refuse(r, "", err, "a server has a command or a url");
    }
    if (strcmp(type, "ws") == 0 || strcmp(type, "websocket") == 0) {
        return refuse(r, "/type", err, "servers over WebSocket are not spoken to");
    }
    json_object_del(spec, http && (by_type || !process) ? "command" : "url");
    return PONS_OK;
}

static int take_server(const reading *r, const char *name, const pons_value *entry,
                       pons_value *spec, pons_error *err)
{
    static const char *const texts[] = {"command", "args", "env",    "envFile",
                                        "cwd",     "url",  "headers"};
    fault f = {.message = ""};
    const char *c = name;
    while ((unsigned char)*c >= ' ' && *c != 0x7F) {
        c++;
    }
    if (c == name || *c || c - name > NAME_MAX) {
        return refuse(r, "", err,
                      "a server's name is 1 to %d bytes, none of them a control character",
                      NAME_MAX);
    }
    if (!json_is_object(entry)) {
        return refuse(r, "", err, "expected object");
    }
    pons_each_member(key, v, entry) {
        if (!json_is_null(v)) {
            json_object_set(spec, key, v);
        }
    }
    if (pons_schema_faults(r->rules, spec, take_fault, &f) != 0 && f.message[0]) {
        return refuse(r, f.pointer, err, "%s", f.message);
    }
    rename_keys(spec);
    if (pons_get_bool(spec, "disabled", false)) {
        return PONS_OK; // nothing of it is needed
    }
    int rc = choose_transport(r, spec, err);
    for (size_t i = 0; rc >= 0 && i < sizeof texts / sizeof texts[0]; i++) {
        const pons_value *given = pons_get(spec, texts[i]);
        pons_value *expanded = NULL;
        char below[64];
        snprintf(below, sizeof below, "/%s", texts[i]);
        rc = given ? expand_value(r, given, below, &expanded, err) : PONS_OK;
        if (expanded) {
            json_object_set_new(spec, texts[i], expanded);
        }
    }
    const char *url = pons_get_str(spec, "url", "http://");
    if (rc >= 0 && strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
        return refuse(r, "/url", err, "an address begins with http:// or https://");
    }
    return rc < 0 ? rc : add_env_file(r, spec, err);
}

// ---- the file -----------------------------------------------------------------------------------

// Comments become spaces, so that everything stays where it was.
static void blank_comments(char *text)
{
    bool quoted = false;
    for (char *at = text; *at; at++) {
        if (quoted || *at == '"') {
            quoted = *at == '"' ? !quoted : quoted;
            at += *at == '\\' && at[1];
            continue;
        }
        const bool line = strncmp(at, "//", 2) == 0;
        if (line || strncmp(at, "/*", 2) == 0) {
            const char *end = line ? at + strcspn(at, "\n") : strstr(at + 2, "*/");
            end = end && !line ? end + 2 : end;
            for (; *at && at != end; at++) {
                *at = *at == '\n' ? '\n' : ' ';
            }
            at--;
        }
    }
}

static bool is_server(const pons_value *v)
{
    return pons_get(v, "command") || pons_get(v, "url") || pons_get(v, "httpUrl") ||
           pons_get(v, "serverUrl");
}

// The map of servers, by whoever has written the file, and where it is; NULL: there is none.
static const pons_value *find_servers(const pons_value *file, const char **ret_at)
{
    static const char *const places[][3] = {{"mcpServers", NULL, "/mcpServers"},
                                            {"servers", NULL, "/servers"},
                                            {"mcp", "servers", "/mcp/servers"},
                                            {"mcp", NULL, "/mcp"},
                                            {"context_servers", NULL, "/context_servers"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const pons_value *v = pons_get(file, places[i][0]);
        v = places[i][1] ? pons_get(v, places[i][1]) : v;
        if (json_is_object(v) && !is_server(v)) {
            *ret_at = places[i][2];
            return v;
        }
    }
    pons_each_member(name, v, file) {
        if (is_server(v)) { // the map by itself
            *ret_at = "";
            return file;
        }
    }
    return NULL;
}

static void take_servers(reading *r, const pons_value *map, const char *at, pons_value *servers)
{
    pons_each_member(name, entry, map) {
        pons_error why = PONS_ERROR_INIT;
        char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + 64];
        pons_autobuf pointer = PONS_BUF_INIT;
        pons_buf_str(&pointer, at);
        pons_buf_pointer(&pointer, name, strlen(name));
        snprintf(r->at, sizeof r->at, "%s", pointer.data ? pointer.data : "");
        pons_value *spec = json_object();
        if (take_server(r, name, entry, spec, &why) < 0) {
            json_object_set_new(spec, "fault",
                                json_string(pons_error_line(&why, line, sizeof line)));
        }
        json_object_set_new(servers, name, spec);
    }
}

int pons_mcp_load(const char *path, const char *folder, pons_value **ret, pons_error *err)
{
    size_t n = 0;
    const char *at = "";
    reading r = {.folder = folder};
    pons_autovalue schema = NULL;
    char *text = pons_file_text(path, FILE_MAX, &n);
    if (!text || n > FILE_MAX) {
        const int why = text ? EFBIG : errno, rc = why == ENOENT ? PONS_ENOTFOUND : PONS_EIO;
        free(text);
        pons_error_set(err, rc, PONS__MCP, "cannot read the file");
        pons_error_source(err, "%s", path);
        pons_error_cause(err, "%s", pons_file_why(why));
        return rc;
    }
    int rc = pons_value_parse(rules, sizeof rules - 1, &schema, err);
    rc = rc < 0 ? rc : pons_schema_compile(schema, &r.rules, err);
    if (rc >= 0) {
        blank_comments(text);
        rc = pons_yaml_parse(text, n, path, &r.y, err);
    }
    const pons_value *map = rc < 0 ? NULL : find_servers(pons_yaml_value(r.y), &at);
    if (rc >= 0 && !map) {
        const bool there = pons_get(pons_yaml_value(r.y), "mcpServers");
        rc = pons_yaml_fault(r.y, there ? "/mcpServers" : "", PONS__MCP, err,
                             there ? "/mcpServers: expected object" : "there are no mcpServers");
    }
    if (rc >= 0) {
        pons_value *servers = json_object();
        take_servers(&r, map, at, servers);
        *ret = servers;
    }
    pons_schema_destroy(r.rules);
    pons_yaml_destroy(r.y);
    free(text);
    return rc;
}
