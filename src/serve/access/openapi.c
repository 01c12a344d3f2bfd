// openapi.c - requests are what the published document says, or they are refused.
//
//     schemas/openapi.json --> {"POST /threads/*/runs": {query, body}, …} --> one compiled schema
//     request --> {"POST /threads/*/runs": {"query": {…}, "body": …}} --> checked, before its handler
//
// A query's texts become numbers, truths and lists where the document wants some. Handlers read r->query
// and r->body without another look: members have their types, and there are no others. A route that the
// document does not have (the page's files) is not checked; tests/serve/test_openapi.c names those.
#include "serve/access/openapi.h"

#include "pons/buf.h"
#include "pons/module.h"
#include "pons/schema.h"
#include "serve/access/reply.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT "schemas/openapi.json"
#define DEFS     "#/components/schemas/"

struct pons__openapi { // const after open
    pons_value *document;
    pons_value *operations; // {"METHOD PATH": schema of {query, body}}
    pons_schema *schema;
};

// ---- the document -------------------------------------------------------------------------------

// "#/components/schemas/X" is "#/$defs/X" in a schema that stands alone.
static void localize(json_t *v)
{
    const char *ref = json_string_value(json_object_get(v, "$ref"));
    if (ref && strncmp(ref, DEFS, strlen(DEFS)) == 0) {
        json_object_set_new(v, "$ref", json_sprintf("#/$defs/%s", ref + strlen(DEFS)));
    }
    pons_each_member(name, one, v) {
        localize(one);
    }
    pons_each(one, v) {
        localize(one);
    }
}

static json_t *member_of(json_t *v, const char *const *names)
{
    for (; v && *names; names++) {
        v = json_object_get(v, *names);
    }
    return v;
}

static pons_value *operation(json_t *op)
{
    static const char *const way[] = {"requestBody", "content", "application/json", "schema", NULL};
    pons_value *names = json_object(), *needed = json_array(), *parts = json_object();
    json_t *body = member_of(op, way);
    pons_each(p, json_object_get(op, "parameters")) {
        const pons_value *name = pons_get(p, "name");
        json_object_set(names, json_string_value(name), json_object_get(p, "schema"));
        if (pons_get_bool(p, "required", false)) {
            json_array_append_new(needed, pons_value_ref(name));
        }
    }
    json_object_set_new(parts, "query",
                        pons_object("type", json_string("object"), "properties", names, "required",
                                    needed, "additionalProperties", json_false(), NULL));
    if (body) {
        json_object_set(parts, "body", body);
    }
    const bool must = pons_get_bool(pons_get(op, "requestBody"), "required", false);
    return pons_object("properties", parts, "required", must ? json_pack("[s]", "body") : NULL,
                       "additionalProperties", json_false(), NULL);
}

// "POST /threads/*/runs" of post and /threads/{thread_id}/runs.
static void key_of(const char *method, const char *path, pons_buf *key)
{
    for (; *method; method++) {
        pons_buf_byte(key, (uint8_t)(*method & ~0x20));
    }
    pons_buf_byte(key, ' ');
    for (; *path; path++) {
        pons_buf_byte(key, *path == '{' ? '*' : (uint8_t)*path);
        path += *path == '{' ? strcspn(path, "}") : 0;
    }
}

static int compile(pons__openapi *o, pons_error *err)
{
    static const char *const defs[] = {"components", "schemas", NULL};
    pons_autovalue doc = json_deep_copy(o->document);
    localize(doc);
    o->operations = json_object();
    pons_each_member(path, item, json_object_get(doc, "paths")) {
        pons_each_member(method, op, item) {
            pons_autobuf key = PONS_BUF_INIT;
            key_of(method, path, &key);
            if (json_is_object(op) &&
                (key.failed || json_object_set_new(o->operations, key.data, operation(op)) < 0)) {
                return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for " DOCUMENT);
            }
        }
    }
    pons_autovalue all = pons_object("properties", pons_value_ref(o->operations), "$defs",
                                     pons_value_ref(member_of(doc, defs)), NULL);
    return pons_schema_compile(all, &o->schema, err);
}

int pons__openapi_open(pons__openapi **ret, pons_error *err)
{
    char path[PATH_MAX];
    pons__openapi *o = calloc(1, sizeof *o);
    if (!o) {
        return pons_error_set(err, PONS_ENOMEM, PONS__SERVE, "no memory for " DOCUMENT);
    }
    int rc = pons_share_path(DOCUMENT, path, sizeof path, err);
    rc = rc < 0 ? rc : pons_value_load(path, &o->document, err);
    rc = rc < 0 ? rc : compile(o, err);
    if (rc < 0) {
        pons__openapi_close(o);
        return rc;
    }
    *ret = o;
    return PONS_OK;
}

void pons__openapi_close(pons__openapi *o)
{
    if (o) {
        pons_schema_destroy(o->schema);
        pons_value_unref(o->operations);
        pons_value_unref(o->document);
        free(o);
    }
}

// ---- a request ----------------------------------------------------------------------------------

static bool wants(const pons_value *schema, const char *type)
{
    const pons_value *types = pons_get(schema, "type");
    return pons_list_has(types, type) ||
           (json_is_string(types) && strcmp(json_string_value(types), type) == 0);
}

// What a text of a query stands for; a text that stands for nothing of the kind stays one, which the check
// tells.
static pons_value *meaning(const char *text, const pons_value *schema)
{
    static const struct {
        const char *text;
        bool is;
    } truths[] = {{"false", false}, {"False", false}, {"0", false},
                  {"true", true},   {"True", true},   {"1", true}};
    char *end = NULL;
    errno = 0;
    const long long n = wants(schema, "integer") ? strtoll(text, &end, 10) : 0;
    if (end && end != text && !*end && errno == 0) {
        return json_integer(n);
    }
    for (size_t i = 0; i < sizeof truths / sizeof truths[0] && wants(schema, "boolean"); i++) {
        if (strcmp(truths[i].text, text) == 0) {
            return json_boolean(truths[i].is);
        }
    }
    return json_string(text);
}

// ?a=1&a=2 is two of a list, ["a","b"] and a,b one value of older clients; of anything else only one is
// taken.
static void add(pons_value *query, const char *name, const char *text, const pons_value *schema)
{
    json_t *was = json_object_get(query, name);
    pons_autovalue list = NULL;
    if (!wants(schema, "array")) {
        json_object_set_new(query, name,
                            was ? json_pack("[Oo]", was, meaning(text, schema))
                                : meaning(text, schema));
        return;
    }
    if (!was) {
        json_object_set_new(query, name, was = json_array());
    }
    if (!*text) {
        return;
    }
    if (*text == '[' && pons_value_parse(text, strlen(text), &list, NULL) >= 0) {
        json_array_extend(was, list);
        return;
    }
    for (size_t n = strcspn(text, ",");; n = strcspn(text, ",")) {
        json_array_append_new(was, json_stringn(text, n));
        text += n;
        if (!*text++) {
            return;
        }
    }
}

typedef struct refusal {
    pons__request *r;
    const pons__route *row;
} refusal;

// The first fault is the answer.
static void refuse(void *user, const char *pointer, const char *message)
{
    static const char query[] = "/query";
    const refusal *f = user;
    pons_autobuf where = PONS_BUF_INIT;
    const char *at = *pointer ? strchr(pointer + 1, '/') : NULL; // behind the operation
    const char *member = at ? strchr(at + 1, '/') : NULL;        // behind query or body
    if (f->r->status) {
        return;
    }
    if (at && strncmp(at, query, sizeof query - 1) == 0) {
        pons_buf_printf(&where, "%s%s", member ? "?" : "query", member ? member + 1 : "");
    } else {
        pons_buf_str(&where, member ? member : "body");
    }
    (f->row->refuse ? f->row->refuse : pons__reply_wrong)(f->r, where.data, message);
}

int pons__openapi_admits(pons__request *r, const pons__route *row)
{
    const pons__openapi *o = r->openapi;
    const char *name, *text;
    pons_autobuf key = PONS_BUF_INIT;
    pons_buf_printf(&key, "%s %s", row->method, row->path);
    if (key.failed) {
        return pons__reply_error(r, 503, "no memory");
    }
    const pons_value *op = pons_get(o->operations, key.data);
    const pons_value *names = pons_get(pons_get(pons_get(op, "properties"), "query"), "properties");
    r->query = json_object();
    for (unsigned i = 0; (text = r->s->http->query_at(r->x, i, &name)); i++) {
        pons_autovalue readable = json_pack("[ss]", name, text);
        if (!readable) {
            return pons__reply_error(r, 400, "the query cannot be read: it is not UTF-8");
        }
        add(r->query, name, text, pons_get(names, name));
    }
    if (!op) {
        return PONS_OK;
    }
    const char *lacks = !r->body && pons_get(op, "required") ? "one is needed, of JSON" : NULL;
    if (lacks || (r->body && !pons_get(pons_get(op, "properties"), "body"))) {
        return (row->refuse ? row->refuse
                            : pons__reply_wrong)(r, "body", lacks ? lacks : "none is taken here");
    }
    pons_value *asked = pons_object("query", pons_value_ref(r->query), "body",
                                    r->body ? pons_value_ref(r->body) : NULL, NULL);
    pons_autovalue whole = json_object();
    if (json_object_set_new(whole, key.data, asked) < 0) {
        return pons__reply_error(r, 503, "no memory");
    }
    return pons_schema_faults(o->schema, whole, refuse, &(refusal){r, row});
}

static int document(pons__request *r)
{
    return pons__reply_json(r, 200, pons_value_ref(r->openapi->document));
}

const pons__route pons__openapi_routes[] = {
    {"GET", "/openapi.json", PONS__VIEWER, document, NULL},
    {NULL, NULL, PONS__NOBODY, NULL, NULL},
};
