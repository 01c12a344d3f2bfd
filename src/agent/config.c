// config.c - graph_config.yaml: which nodes there are, what they may use, and how far they may go.
//
// One table has every key with its type, its range and its default; reading is a walk over what
// somebody wrote, held against the table, and a merge onto the defaults. Nothing is passed over: a
// key that is not in the table is a fault with its position, and so is a value of another type.
#include "agent/config.h"

#include "pons/agent.h"

#include <stdlib.h>
#include <string.h>

#define WHERE       "graph_config"
#define POINTER_MAX 256

typedef enum key_type { BOOL, INTEGER, NUMBER, TEXT, NAMES, FREE } key_type;

typedef struct key {
    const char *path; // JSON pointer
    key_type type;
    const char *initial; // JSON
    double low, high;    // of numbers
} key;

static const key keys[] = {
    {"/graph/nodes/agent/max_iterations", INTEGER, "50", 1, 10000},
    {"/graph/nodes/agent/tools", NAMES, "[\"all\"]", 0, 0},
    {"/graph/nodes/agent/history", INTEGER, "200", 1, 100000},
    {"/graph/nodes/agent/model", TEXT, NULL, 0, 0},
    {"/graph/nodes/agent/temperature", NUMBER, NULL, 0, 2},
    {"/graph/nodes/agent/max_tokens", INTEGER, NULL, 1, 1e9},
    {"/graph/nodes/planner/enabled", BOOL, "true", 0, 0},
    {"/graph/nodes/approval/enabled", BOOL, "false", 0, 0},
    {"/graph/nodes/approval/timeout_s", NUMBER, "0", 0, 1e9},
    {"/graph/nodes/executor/max_iterations", INTEGER, "30", 1, 10000},
    {"/graph/nodes/executor/max_steps", INTEGER, "8", 1, 1000},
    {"/graph/nodes/executor/tools", NAMES, "[\"core\",\"mcp\"]", 0, 0},
    {"/graph/nodes/executor/model", TEXT, NULL, 0, 0},
    {"/graph/nodes/executor/temperature", NUMBER, NULL, 0, 2},
    {"/graph/nodes/executor/max_tokens", INTEGER, NULL, 1, 1e9},
    {"/graph/nodes/replanner/enabled", BOOL, "true", 0, 0},
    {"/graph/nodes/replanner/skip_on_success", BOOL, "true", 0, 0},
    {"/graph/nodes/replanner/model", TEXT, NULL, 0, 0},
    {"/graph/nodes/replanner/temperature", NUMBER, NULL, 0, 2},
    {"/graph/nodes/replanner/max_tokens", INTEGER, NULL, 1, 1e9},
    {"/graph/nodes/summarizer/enabled", BOOL, "true", 0, 0},
    {"/graph/settings/context_tokens", INTEGER, "0", 0, 1e9},
    {"/graph/settings/faults_max", INTEGER, "3", 0, 100},
    {"/graph/settings/model_calls", INTEGER, "64", 1, 10000},
    {"/graph/settings/recursion_limit", INTEGER, "100", 1, 1e6},
    {"/graph/settings/tool_approval_timeout_s", NUMBER, "0", 0, 1e9},
    {"/graph/settings/tool_timeout_s", NUMBER, "600", 0, 1e9},
    {"/graph/settings/tool_output_max", INTEGER, "32768", 256, 1e8},
    {"/graph/tools/approve", NAMES, "[]", 0, 0},
    {"/graph/tools/risk", FREE, "{}", 0, 0},
    {"/graph/middleware", FREE, "[]", 0, 0},
    {"/graph/prices", FREE, "{}", 0, 0},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

// ---- the walk -----------------------------------------------------------------------------------

static bool is_risk(const pons_value *v)
{
    const char *word = json_string_value(v);
#define IS_RISK(symbol, text) || strcmp(word, text) == 0
    return word && (false PONS_TOOL_RISK_TABLE(IS_RISK));
#undef IS_RISK
}

__attribute__((format(printf, 4, 5))) static int
fault(const pons_agent_config *c, const char *pointer, pons_error *err, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    // People write keys with dots, and so should they be named to them.
    char *p = text[0] == '/' ? text + 1 : text;
    for (char *q = p; *q && *q != ':'; q++) {
        *q = *q == '/' ? '.' : *q;
    }
    pons_error_set(err, PONS_EINVAL, WHERE, "%s", p);
    pons__cfg_blame(c, pointer, err);
    return PONS_EINVAL;
}

// Lists of names; {tool: risk}; {model: {prompt, completion}}; a list of middlewares.
static int check_free(pons_agent_config *c, const key *k, const pons_value *v, pons_error *err)
{
    const char *last = strrchr(k->path, '/') + 1;
    char at[POINTER_MAX];
    const bool list = k->type == NAMES || strcmp(last, "middleware") == 0;
    if (list ? !json_is_array(v) : !json_is_object(v)) {
        return fault(c, k->path, err, "%s: expected a %s", k->path, list ? "list" : "mapping");
    }
    for (size_t i = 0; list && i < json_array_size(v); i++) {
        const pons_value *item = json_array_get(v, i);
        const bool options = k->type == FREE && json_is_object(item) && json_object_size(item) == 1;
        snprintf(at, sizeof at, "%s/%zu", k->path, i);
        if (!options && !(json_is_string(item) && json_string_length(item) > 0)) {
            return fault(c, at, err, "%s: expected a name%s", at,
                         k->type == FREE ? ", or one name with its options" : "");
        }
    }
    const char *name;
    pons_value *member;
    json_object_foreach((pons_value *)(uintptr_t)v, name, member) {
        snprintf(at, sizeof at, "%s/%s", k->path, name);
        if (strcmp(last, "risk") == 0 && !is_risk(member)) {
            return fault(c, at, err, "%s: expected safe, warn, dangerous or blocked", at);
        }
        const pons_value *prompt = pons_get(member, "prompt"),
                         *completion = pons_get(member, "completion");
        if (strcmp(last, "prices") == 0 &&
            (!json_is_number(prompt) || !json_is_number(completion) ||
             json_object_size(member) != 2)) {
            return fault(c, at, err,
                         "%s: expected {prompt, completion}, prices of a million tokens", at);
        }
    }
    return PONS_OK;
}

// Sets the member at a pointer, making the objects on the way. Takes v.
static int set(pons_value *root, const char *pointer, pons_value *v)
{
    pons_value *at = root;
    for (const char *p = pointer + 1;;) {
        char name[64];
        const size_t n = strcspn(p, "/");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        if (p[n] == '\0') {
            return json_object_set_new(at, name, v) == 0 ? PONS_OK : PONS_ENOMEM;
        }
        pons_value *next = json_object_get(at, name);
        if (!next) {
            next = json_object();
            if (json_object_set_new(at, name, next) != 0) {
                pons_value_unref(v);
                return PONS_ENOMEM;
            }
        }
        at = next;
        p += n + 1;
    }
}

static int take(pons_agent_config *c, const key *k, const pons_value *v, pons_error *err)
{
    const bool number = json_is_integer(v) || (k->type == NUMBER && json_is_number(v));
    const double x = json_number_value(v);
    if (json_is_null(v) && !k->initial) {
        return PONS_OK; // not set
    }
    switch (k->type) {
    case BOOL:
        if (!json_is_boolean(v)) {
            return fault(c, k->path, err, "%s: expected true or false", k->path);
        }
        break;
    case INTEGER:
    case NUMBER:
        if (!number || !(x >= k->low && x <= k->high)) {
            return fault(c, k->path, err, "%s: expected %s, %.0f to %.0f", k->path,
                         k->type == INTEGER ? "an integer" : "a number", k->low, k->high);
        }
        break;
    case TEXT:
        if (!json_is_string(v) || json_string_length(v) == 0) {
            return fault(c, k->path, err, "%s: expected a text", k->path);
        }
        break;
    case NAMES:
    case FREE: {
        const int rc = check_free(c, k, v, err);
        if (rc < 0) {
            return rc;
        }
        break;
    }
    }
    if (set(c->value, k->path, pons_value_ref(v)) != PONS_OK) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the configuration");
    }
    return PONS_OK;
}

static bool is_section(const char *pointer)
{
    const size_t n = strlen(pointer);
    for (size_t i = 0; i < KEYS; i++) {
        if (strncmp(keys[i].path, pointer, n) == 0 && keys[i].path[n] == '/') {
            return true;
        }
    }
    return false;
}

static int walk(pons_agent_config *c, const pons_value *v, const char *pointer, pons_error *err)
{
    if (!json_is_object(v)) {
        return fault(c, pointer, err, "%s: expected a mapping", *pointer ? pointer : "/");
    }
    pons_each_member(name, member, v) {
        char at[POINTER_MAX];
        const key *found = NULL;
        const int n = snprintf(at, sizeof at, "%s/%s", pointer, name);
        for (size_t i = 0; i < KEYS && !found; i++) {
            found = strcmp(keys[i].path, at) == 0 ? &keys[i] : NULL;
        }
        int rc = PONS_OK;
        if (found) {
            rc = take(c, found, member, err);
        } else if (n < (int)sizeof at && is_section(at)) {
            rc = json_is_null(member) ? PONS_OK : walk(c, member, at, err);
        } else {
            rc = fault(c, at, err, "%s: unknown key", at);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

// ---- reading ------------------------------------------------------------------------------------

static int defaults(pons_agent_config **ret, pons_error *err)
{
    pons_agent_config *c = calloc(1, sizeof *c);
    int rc = c && (c->value = json_object()) ? PONS_OK : PONS_ENOMEM;
    for (size_t i = 0; i < KEYS && rc == PONS_OK; i++) {
        pons_value *v = NULL;
        if (keys[i].initial) {
            v = json_loads(keys[i].initial, JSON_DECODE_ANY, NULL);
            rc = v ? set(c->value, keys[i].path, v) : PONS_ENOMEM;
        }
    }
    if (rc != PONS_OK) {
        pons_agent_config_destroy(c);
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the configuration");
    }
    *ret = c;
    return PONS_OK;
}

static int merge(pons_yaml *yaml, pons_agent_config **ret, pons_error *err)
{
    pons_agent_config *c = NULL;
    int rc = defaults(&c, err);
    if (rc < 0) {
        pons_yaml_destroy(yaml);
        return rc;
    }
    c->yaml = yaml;
    const pons_value *v = pons_yaml_value(yaml);
    rc = json_is_null(v) || !v ? PONS_OK : walk(c, v, "", err);
    if (rc < 0) {
        pons_agent_config_destroy(c);
        return rc;
    }
    *ret = c;
    return PONS_OK;
}

int pons_agent_config_load(const char *path, pons_agent_config **ret, pons_error *err)
{
    if (!path) {
        return defaults(ret, err);
    }
    pons_yaml *yaml = NULL;
    const int rc = pons_yaml_load(path, &yaml, err);
    return rc < 0 ? rc : merge(yaml, ret, err);
}

int pons_agent_config_parse(const char *text, size_t len, const char *name, pons_agent_config **ret,
                            pons_error *err)
{
    pons_yaml *yaml = NULL;
    const int rc = pons_yaml_parse(text, len, name, &yaml, err);
    return rc < 0 ? rc : merge(yaml, ret, err);
}

void pons_agent_config_destroy(pons_agent_config *c)
{
    if (c) {
        pons_yaml_destroy(c->yaml);
        pons_value_unref(c->value);
        free(c);
    }
}

const pons_value *pons_agent_config_value(const pons_agent_config *c)
{
    return c->value;
}

// ---- looking ------------------------------------------------------------------------------------

const pons_value *pons__cfg(const pons_agent_config *c, const char *path)
{
    const pons_value *v = pons_get(c->value, "graph");
    char name[64];
    while (v && *path) {
        const size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        v = pons_get(v, name);
        path += n + (path[n] == '.');
    }
    return v;
}

int64_t pons__cfg_int(const pons_agent_config *c, const char *path)
{
    return json_integer_value(pons__cfg(c, path));
}

bool pons__cfg_bool(const pons_agent_config *c, const char *path)
{
    return json_is_true(pons__cfg(c, path));
}

int pons__cfg_blame(const pons_agent_config *c, const char *pointer, pons_error *err)
{
    char at[PONS_ERROR_SOURCE_MAX];
    const int status = err ? err->status : PONS_EINVAL;
    if (c->yaml) {
        pons_error_source(err, "%s", pons_yaml_position(c->yaml, pointer, at, sizeof at));
    }
    return status;
}
