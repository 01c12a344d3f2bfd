// The document that the server publishes, against the server: each route is in it, and what it says of a
// request is so. Everything here is made from the document itself, so a new route or member is tried, too:
// a member of another kind, one that nobody knows, one that is missing, at every depth; a query that is
// none. Each is refused with 422 and names the member; nothing of it reaches a handler.
#include "pons/buf.h"
#include "serve/access/route.h"
#include "serve/serve_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "nobody_knows"

typedef struct under { // a member's place in a body: what is around it
    const struct under *up;
    const pons_value *schema; // of what holds it
    const char *key;          // NULL: an item
} under;

static bench b;
static pons_value *doc;
static const char *method;
static char path[256];
static int asked;

// ---- values -------------------------------------------------------------------------------------

static const pons_value *resolved(const pons_value *schema)
{
    const char *ref = pons_get_str(schema, "$ref", NULL);
    return ref ? pons_get(pons_get(pons_get(doc, "components"), "schemas"), strrchr(ref, '/') + 1)
               : schema;
}

static bool is_type(const pons_value *schema, const char *type)
{
    const pons_value *types = pons_get(schema, "type");
    size_t i;
    json_t *one;
    bool is = json_is_string(types) && strcmp(json_string_value(types), type) == 0;
    json_array_foreach(types, i, one) {
        is = is || strcmp(json_string_value(one), type) == 0;
    }
    return is;
}

// The smallest value that fits.
static pons_value *sample(const pons_value *of)
{
    const pons_value *schema = resolved(of), *needed = pons_get(schema, "required");
    size_t i;
    json_t *name;
    if (pons_get(schema, "const")) {
        return pons_value_ref(pons_get(schema, "const"));
    }
    if (pons_get(schema, "enum")) {
        return pons_value_ref(json_array_get(pons_get(schema, "enum"), 0));
    }
    if (pons_get(schema, "anyOf") && !pons_get(schema, "type")) {
        return sample(json_array_get(pons_get(schema, "anyOf"), 0));
    }
    if (is_type(schema, "string")) {
        return json_string(strstr(pons_get_str(schema, "pattern", ""), "values") ? "values" : "x");
    }
    if (is_type(schema, "array") && !is_type(schema, "object")) {
        pons_value *list = json_array();
        if (pons_get_int(schema, "minItems", 0) > 0) {
            json_array_append_new(list, sample(pons_get(schema, "items")));
        }
        return list;
    }
    if (!is_type(schema, "object")) {
        return is_type(schema, "boolean") ? json_true() : json_integer(1);
    }
    pons_value *made = json_object();
    const pons_value *otherwise = pons_get(schema, "else");
    json_array_foreach(needed ? needed : pons_get(otherwise, "required"), i, name) {
        const char *text = json_string_value(name);
        json_object_set_new(made, text, sample(pons_get(pons_get(schema, "properties"), text)));
    }
    return made;
}

// A value of a kind that the schema has not; NULL: it takes all.
static pons_value *wrong(const pons_value *schema)
{
    if (pons_get(schema, "enum") || pons_get(schema, "const")) {
        return json_pack("{si}", UNKNOWN, 1);
    }
    if (pons_get(schema, "anyOf") && !pons_get(schema, "type")) {
        return json_integer(12345);
    }
    if (!pons_get(schema, "type")) {
        return NULL;
    }
    return !is_type(schema, "integer") && !is_type(schema, "number") ? json_integer(12345)
           : !is_type(schema, "string")                              ? json_string("x")
                                                                     : NULL;
}

static pons_value *wrapped(const under *at, pons_value *v)
{
    for (; at; at = at->up) {
        pons_value *outer = at->key ? sample(at->schema) : json_array();
        if (at->key) {
            json_object_set_new(outer, at->key, v);
        } else {
            json_array_append_new(outer, v);
        }
        v = outer;
    }
    return v;
}

static void pointer_of(const under *at, pons_buf *out)
{
    if (at) {
        pointer_of(at->up, out);
        pons_buf_printf(out, "/%s", at->key ? at->key : "0");
    }
}

// ---- asking -------------------------------------------------------------------------------------

static void must_refuse(const char *query, const char *body, const char *names)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", path, query);
    char *reply =
        bench_reply(&b, &(ask){method, whole, NULL, bench_token(&b, "admin"), NULL, body, false});
    const char *text = strstr(reply, "\r\n\r\n");
    if (bench_code(reply) != 422 || !text || !strstr(text, names)) {
        fail_msg("%s %s %s: no 422 that names %s but\n%s", method, whole, body ? body : "", names,
                 reply);
    }
    free(reply);
    asked++;
}

// Takes v, which is at this place, or there is no such place.
static void must_refuse_value(const under *at, pons_value *v, const char *names)
{
    char *text = NULL;
    pons_autobuf where = PONS_BUF_INIT;
    pons_autovalue body = wrapped(at, v);
    pointer_of(at, &where);
    pons_buf_printf(&where, "%s", at ? names : "body");
    pons_buf_byte(&where, 0);
    assert_true(pons_value_line(body, &text) >= 0);
    must_refuse("", text, *names == '\'' ? names : where.data);
    free(text);
}

// ---- bodies -------------------------------------------------------------------------------------

static void try_members(const under *at, const pons_value *of, int depth);

static void try_value(const under *at, const pons_value *of, int depth)
{
    const pons_value *schema = resolved(of);
    pons_value *bad = wrong(schema);
    if (bad) {
        must_refuse_value(at, bad, "");
    }
    if (depth > 0) {
        try_members(at, schema, depth - 1);
        const pons_value *items = pons_get(schema, "items");
        if (items && is_type(schema, "array") && pons_get_int(schema, "maxItems", 1) > 0) {
            try_value(&(under){at, schema, NULL}, items, depth - 1);
        }
    }
}

static void try_members(const under *at, const pons_value *schema, int depth)
{
    const pons_value *members = pons_get(schema, "properties");
    const char *name;
    json_t *one;
    size_t i;
    if (!members) {
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)members, name, one) {
        try_value(&(under){at, schema, name}, one, depth);
    }
    if (pons_get(schema, "additionalProperties")) {
        must_refuse_value(&(under){at, schema, UNKNOWN}, json_integer(1), "");
    }
    json_array_foreach(pons_get(schema, "required"), i, one) {
        char names[80];
        pons_value *less = sample(schema);
        json_object_del(less, json_string_value(one));
        snprintf(names, sizeof names, "'%s'", json_string_value(one));
        must_refuse_value(at, less, names);
    }
}

static const pons_value *body_of(const pons_value *op)
{
    const pons_value *content = pons_get(pons_get(op, "requestBody"), "content");
    return pons_get(pons_get(content, "application/json"), "schema");
}

static void try_body(const pons_value *op, pons_value *tried)
{
    const pons_value *asks = pons_get(op, "requestBody"), *of = body_of(op);
    const char *name = pons_get_str(of, "$ref", "");
    if (!asks) {
        if (strcmp(method, "GET") != 0) {
            must_refuse("", "{}", "body");
        }
        return;
    }
    if (pons_get_bool(asks, "required", false)) {
        must_refuse("", NULL, "body");
    }
    must_refuse("", "12345", "body");
    // A schema of several routes is tried in depth once.
    const bool again = pons_get(tried, name) != NULL;
    json_object_set_new(tried, name, json_true());
    if (again && !pons_get(resolved(of), "additionalProperties")) {
        return;
    }
    if (again) {
        const under at = {NULL, resolved(of), UNKNOWN};
        must_refuse_value(is_type(resolved(of), "object") ? &at : NULL, json_integer(1), "");
        return;
    }
    try_value(NULL, of, 4);
}

// ---- queries ------------------------------------------------------------------------------------

// What else is needed in the query, beside this one.
static void needed_beside(const pons_value *op, const char *name, char ret[128])
{
    size_t i, n = 0;
    json_t *p;
    ret[0] = '\0';
    json_array_foreach(pons_get(op, "parameters"), i, p) {
        const char *other = pons_get_str(p, "name", "");
        if (pons_get_bool(p, "required", false) && strcmp(other, name) != 0) {
            n += (size_t)snprintf(ret + n, 128 - n, "&%s=x", other);
        }
    }
}

static void try_query(const pons_value *op)
{
    char query[300], names[80], beside[128];
    char *body = NULL;
    pons_autovalue fits = body_of(op) ? sample(body_of(op)) : NULL;
    size_t i;
    json_t *p;
    assert_true(!fits || pons_value_line(fits, &body) >= 0);
    json_array_foreach(pons_get(op, "parameters"), i, p) {
        const char *name = pons_get_str(p, "name", "");
        const pons_value *schema = pons_get(p, "schema");
        needed_beside(op, name, beside);
        snprintf(names, sizeof names, "?%s", name);
        snprintf(query, sizeof query,
                 is_type(schema, "string") ? "?%s=a&%s=b%s" : "?%s=" UNKNOWN "%.0s%s", name, name,
                 beside);
        must_refuse(query, body, names);
        if (pons_get_bool(p, "required", false)) {
            snprintf(query, sizeof query, "?%s", *beside ? beside + 1 : "");
            snprintf(names, sizeof names, "'%s'", name);
            must_refuse(query, body, names);
        }
    }
    needed_beside(op, "", beside);
    snprintf(query, sizeof query, "?" UNKNOWN "=1%s", beside);
    must_refuse(query, body, "?" UNKNOWN);
    free(body);
}

// ---- the tests ----------------------------------------------------------------------------------

// "/threads/{thread_id}" as a path that is asked for, or, with a star, as a table's.
static void path_of(const char *from, const char *argument, char ret[256])
{
    size_t n = 0;
    for (; *from && n < 200; from++) {
        if (*from == '{') {
            n += (size_t)snprintf(ret + n, 256 - n, "%s", argument);
            from += strcspn(from, "}");
        } else {
            ret[n++] = *from;
        }
    }
    ret[n] = '\0';
}

static void fetch(void)
{
    char *reply = bench_reply(
        &b, &(ask){"GET", "/openapi.json", NULL, bench_token(&b, "viewer"), NULL, NULL, false});
    assert_int_equal(bench_code(reply), 200);
    const char *text = strstr(reply, "\r\n\r\n") + 4;
    assert_int_equal(pons_value_parse(text, strlen(text), &doc, NULL), PONS_OK);
    free(reply);
}

static bool has_row(const char *word, const char *pattern)
{
    for (size_t t = 0; pons__serve_tables[t]; t++) {
        for (const pons__route *row = pons__serve_tables[t]; row->path; row++) {
            if (strcmp(row->method, word) == 0 && strcmp(row->path, pattern) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void upper(const char *word, char ret[16])
{
    size_t n = 0;
    for (; word[n] && n < 15; n++) {
        ret[n] = (char)(word[n] & ~0x20);
    }
    ret[n] = '\0';
}

// Only the page's files are not of the API.
static void test_the_document_has_each_route(void **state)
{
    static const char *const files[] = {"/", "/ui/*", "/ui/*/*"};
    const char *name, *word;
    json_t *item, *op;
    (void)state;
    bench_open(&b);
    fetch();
    size_t rows = 0, operations = 0;
    for (size_t t = 0; pons__serve_tables[t]; t++) {
        for (const pons__route *row = pons__serve_tables[t]; row->path; row++) {
            rows++;
        }
    }
    json_object_foreach(json_object_get(doc, "paths"), name, item) {
        json_object_foreach(item, word, op) {
            char pattern[256], upper_word[16];
            if (json_is_object(op)) {
                path_of(name, "*", pattern);
                upper(word, upper_word);
                if (!has_row(upper_word, pattern)) {
                    fail_msg("%s %s is in no table", upper_word, pattern);
                }
                operations++;
            }
        }
    }
    assert_int_equal(rows, operations + sizeof files / sizeof files[0]);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_true(has_row("GET", files[i]));
    }
    pons_value_unref(doc);
    bench_close(&b);
}

static void test_what_the_document_does_not_have_is_refused(void **state)
{
    const char *name, *word;
    json_t *item, *op;
    pons_autovalue tried = json_object();
    (void)state;
    bench_open(&b);
    fetch();
    asked = 0;
    json_object_foreach(json_object_get(doc, "paths"), name, item) {
        path_of(name, "x1", path);
        json_object_foreach(item, word, op) {
            char upper_word[16];
            upper(word, upper_word);
            method = upper_word;
            if (json_is_object(op) && !pons_get(pons_get(op, "responses"), "501")) {
                try_body(op, tried);
                try_query(op);
            }
        }
    }
    print_message("%d requests\n", asked);
    assert_in_range(asked, 400, 5000);
    assert_int_equal(b.changes, 0); // nothing of it came to a handler
    pons_value_unref(doc);
    bench_close(&b);
}

// What fits the document is not refused as a wrong request, whatever becomes of it then; what is not there says so.
static void test_what_the_document_has_is_let_through(void **state)
{
    const char *name, *word;
    json_t *item, *op;
    (void)state;
    bench_open(&b);
    fetch();
    json_object_foreach(json_object_get(doc, "paths"), name, item) {
        json_object_foreach(item, word, op) {
            char upper_word[16], beside[128], whole[512], *body = NULL;
            const bool absent = pons_get(pons_get(op, "responses"), "501") != NULL;
            upper(word, upper_word);
            path_of(name, "x1", path);
            if (!json_is_object(op) ||
                (!absent && (strcmp(word, "get") == 0 || strstr(path, "stream")))) {
                continue; // some of what is only read streams for ever
            }
            needed_beside(op, "", beside);
            snprintf(whole, sizeof whole, "%s%s%s", path, *beside ? "?" : "",
                     *beside ? beside + 1 : "");
            pons_autovalue fits = body_of(op) ? sample(body_of(op)) : NULL;
            assert_true(!fits || pons_value_line(fits, &body) >= 0);
            char *reply = bench_reply(
                &b, &(ask){upper_word, whole, NULL, bench_token(&b, "admin"), NULL, body, false});
            const int code = bench_code(reply);
            if (absent ? code != 501 : code == 422 && strstr(reply, "expected")) {
                fail_msg("%s %s %s: %s", upper_word, whole, body ? body : "", reply);
            }
            free(reply);
            free(body);
        }
    }
    pons_value_unref(doc);
    bench_close(&b);
}

// Settings and marks of other servers' clients are ignored, not refused.
static void test_a_chat_may_say_more(void **state)
{
    static const char *const bodies[] = {
        "{\"model\":\"agent\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
        "\"text\":\"a\","
        "\"cache_control\":{\"type\":\"ephemeral\"}}],\"reasoning\":\"r\",\"extra_content\":{}}]}",
        "{\"model\":\"agent\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"top_k\":4,"
        "\"min_p\":0.1,"
        "\"repetition_penalty\":1.1,\"chat_template_kwargs\":{\"enable_thinking\":false}}",
    };
    (void)state;
    bench_open(&b);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const ask chat = {
            "POST", "/v1/chat/completions", NULL, bench_token(&b, "admin"), NULL, bodies[i], false};
        assert_int_not_equal(bench_status(&b, &chat), 422);
    }
    bench_close(&b);
}

// What is no JSON for us at all: one line that says so, whatever the route.
static void test_bodies_that_are_none(void **state)
{
    static const struct {
        const char *body, *headers, *says;
        int status;
    } rows[] = {
        {"{\"limit\":1,\"limit\":2}", NULL, "body:1:18: duplicate", 400},
        {"{\"limit\":", NULL, "unexpected token", 400},
        {"{\"query\":\"a\\u0000b\"}", NULL, "zero character", 400},
        {"{\"query\":\"\xff\"}", NULL, "decode", 400},
        {"{} {}", NULL, "end of file", 400},
        {"\"text\"", NULL, "body: expected object, found string", 422},
        {"null", NULL, "body: expected object, found null", 422},
        {"[]", NULL, "body: expected object, found array of 0", 422},
        {"{}", "Content-Type: application/jsonp\r\n", "application/json", 415},
        {"limit=1", "Content-Type: application/x-www-form-urlencoded\r\n", "application/json", 415},
        {"{}", NULL, "[", 200},
        {"{}", "Content-Type: application/json; charset=utf-8\r\n", "[", 200},
    };
    (void)state;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *reply =
            bench_reply(&b, &(ask){"POST", "/threads/search", NULL, bench_token(&b, "viewer"),
                                   rows[i].headers, rows[i].body, false});
        const char *text = strstr(reply, "\r\n\r\n");
        if (bench_code(reply) != rows[i].status || !text || !strstr(text, rows[i].says)) {
            fail_msg("row %zu: %s", i, reply);
        }
        assert_null(strchr(text + 4, '\n')); // one line
        free(reply);
    }
    const ask odd = {"GET", "/v1/state?thread=%ff", NULL, bench_token(&b, "viewer"), NULL, NULL,
                     false};
    assert_int_equal(bench_status(&b, &odd), 400);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_document_has_each_route),
        cmocka_unit_test(test_what_the_document_does_not_have_is_refused),
        cmocka_unit_test(test_what_the_document_has_is_let_through),
        cmocka_unit_test(test_a_chat_may_say_more),
        cmocka_unit_test(test_bodies_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
