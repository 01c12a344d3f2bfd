// remote_tools.c - what a server's tools and results look like to the host: a name that is one word, a schema
// that pons's own checker knows, a result as one text of bounded length.
#include "mcp/remote_tools.h"

#include "pons/printable.h"
#include "pons/random.h"
#include "pons/schema.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_   (PONS__MCP_TOOL_NAME - 1)
#define DEPTH_MAX   32
#define BASE64_BITS 6

void pons__mcp_tool_name(const char *server, const char *tool, char ret[PONS__MCP_TOOL_NAME])
{
    char whole[512];
    uint8_t digest[32]; // two long names that begin alike stay two, and two of other letters
    bool foreign = false;
    snprintf(whole, sizeof whole, "%s.%s", server, tool);
    pons_sha256(whole, strlen(whole), digest);
    for (char *c = whole; *c; c++) {
        foreign = foreign || (unsigned char)*c > 0x7F;
        if (!isalnum((unsigned char)*c) && !strchr("_.-", *c)) {
            *c = '_';
        }
    }
    if (!foreign && strlen(whole) <= NAME_MAX_) {
        snprintf(ret, PONS__MCP_TOOL_NAME, "%s", whole);
        return;
    }
    snprintf(ret, PONS__MCP_TOOL_NAME, "%.*s_%02x%02x%02x%02x", NAME_MAX_ - 9, whole, digest[0],
             digest[1], digest[2], digest[3]);
}

static bool compiles(const pons_value *schema)
{
    pons_schema *s = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    const bool ok = pons_schema_compile(schema, &s, &ignored) >= 0;
    pons_schema_destroy(s);
    return ok;
}

static pons_value *pruned(const pons_value *schema, int depth);

static pons_value *pruned_each(const pons_value *v, int depth)
{
    if (json_is_array(v)) {
        pons_value *list = json_array();
        size_t i;
        json_t *item;
        json_array_foreach(v, i, item) {
            json_array_append_new(list, pruned(item, depth));
        }
        return list;
    }
    pons_value *map = json_object();
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)v, key, item) {
        json_object_set_new(map, key, pruned(item, depth));
    }
    return map;
}

// Only what pons's own checker knows, and of that only what is surely right: a rule that is left
// out makes the check milder, and the server still makes its own.
static pons_value *pruned(const pons_value *schema, int depth)
{
    static const char *const kept[] = {
        "type",      "enum",    "const",   "required",    "minItems", "maxItems", "minLength",
        "maxLength", "minimum", "maximum", "description", "title",    "default",  "format"};
    static const char *const inner[] = {"properties", "anyOf", "oneOf"};
    if (!json_is_object(schema) || depth > DEPTH_MAX) {
        return json_object();
    }
    pons_value *out = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const pons_value *v = pons_get(schema, kept[i]);
        if (v) {
            json_object_set_new(out, kept[i], pons_value_ref(v));
        }
    }
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
        const pons_value *v = pons_get(schema, inner[i]);
        if (v) {
            json_object_set_new(out, inner[i], pruned_each(v, depth + 1));
        }
    }
    if (json_is_object(pons_get(schema, "items"))) {
        json_object_set_new(out, "items", pruned(pons_get(schema, "items"), depth + 1));
    }
    return out;
}

pons_value *pons__mcp_parameters(const pons_value *schema)
{
    if (json_is_object(schema) && compiles(schema)) {
        return pons_value_ref(schema);
    }
    pons_value *milder = pruned(schema, 0);
    if (!pons_get(milder, "type")) {
        json_object_set_new(milder, "type", json_string("object"));
    }
    if (!compiles(milder)) {
        pons_value_unref(milder);
        return pons_object("type", json_string("object"), NULL);
    }
    return milder;
}

// ---- results ------------------------------------------------------------------------------------

static size_t decoded(const char *base64)
{
    return strlen(base64) * BASE64_BITS / 8;
}

static void add_resource(pons_buf *b, const pons_value *r)
{
    const char *text = pons_get_str(r, "text", NULL), *blob = pons_get_str(r, "blob", NULL);
    const char *uri = pons_get_str(r, "uri", "?");
    if (text) {
        pons_buf_printf(b, "[%s]\n%s", uri, text);
    } else {
        pons_buf_printf(b, "[%s: %s, %zu bytes]", uri, pons_get_str(r, "mimeType", "binary"),
                        blob ? decoded(blob) : 0);
    }
}

static void add_content(pons_buf *b, const pons_value *c)
{
    const char *type = pons_get_str(c, "type", "");
    if (b->len > 0) {
        pons_buf_byte(b, '\n');
    }
    if (strcmp(type, "text") == 0) {
        pons_buf_str(b, pons_get_str(c, "text", ""));
    } else if (strcmp(type, "image") == 0 || strcmp(type, "audio") == 0) {
        pons_buf_printf(b, "[%s: %s, %zu bytes]", type, pons_get_str(c, "mimeType", "?"),
                        decoded(pons_get_str(c, "data", "")));
    } else if (strcmp(type, "resource") == 0) {
        add_resource(b, pons_get(c, "resource"));
    } else if (strcmp(type, "resource_link") == 0) {
        const char *about = pons_get_str(c, "description", NULL);
        pons_buf_printf(b, "[%s: %s%s%s]", pons_get_str(c, "uri", "?"),
                        pons_get_str(c, "name", "a resource"), about ? ", " : "",
                        about ? about : "");
    } else {
        pons_buf_printf(b, "[%s]", *type ? type : "content without a type");
    }
}

int pons__mcp_text(const pons_value *result, pons_buf *b, bool *ret_cut)
{
    pons_each(c, pons_get(result, "content")) {
        if (b->len > PONS__MCP_OUTPUT_MAX) {
            break;
        }
        add_content(b, c);
    }
    const pons_value *data = pons_get(result, "structuredContent");
    if (b->len == 0 && data) { // a server that sends no text for it
        char *text = NULL;
        if (pons_value_line(data, &text) >= 0) {
            pons_buf_str(b, text);
        }
        free(text);
    }
    *ret_cut = b->len > PONS__MCP_OUTPUT_MAX;
    if (*ret_cut && !b->failed) {
        const size_t n = pons_text_whole(b->data, PONS__MCP_OUTPUT_MAX), all = b->len;
        b->len = n;
        pons_buf_printf(b, "\n[cut here: %zu of %zu bytes]", n, all);
    }
    return b->failed ? PONS_ENOMEM : PONS_OK;
}
