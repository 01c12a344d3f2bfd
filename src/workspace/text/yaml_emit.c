// yaml_emit.c - writes values as a person would: short lists and maps on one line, the rest in lines.
#include "workspace/text/yaml_emit.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 76 // a list or map that is shorter stands on one line

static void spaces(pons_buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pons_buf_byte(out, ' ');
    }
}

static bool is_container(const pons_value *v)
{
    return json_is_array(v) || json_is_object(v);
}

static bool is_empty(const pons_value *v)
{
    return (json_is_array(v) && json_array_size(v) == 0) ||
           (json_is_object(v) && json_object_size(v) == 0);
}

static bool has_containers(const pons_value *v)
{
    pons_each(child, v) {
        if (is_container(child) && !is_empty(child)) {
            return true;
        }
    }
    if (json_is_object(v)) {
        pons_each_member(key, child, v) {
            if (is_container(child) && !is_empty(child)) {
                return true;
            }
        }
    }
    return false;
}

// ---- scalars ------------------------------------------------------------------------------------

static void put_json(pons_buf *out, const pons_value *v)
{
    char *text = NULL;
    const long n = pons_value_line(v, &text);
    if (n >= 0) {
        pons_buf_bytes(out, text, (size_t)n);
    }
    free(text);
}

void pons__ws_emit_text(pons_buf *out, const char *s)
{
    pons_autovalue v = json_string(s);
    put_json(out, v);
}

// Whether YAML reads the text as this string without quotes, 1.1's readers too.
static bool plain_is_safe(const char *s)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",  "on",
                                        "off",  "y",    "n",     "nan", "inf", "infinity"};
    const char c = s[0];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(s, words[i]) == 0) {
            return false;
        }
    }
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") ==
           strlen(s);
}

static void put_key(pons_buf *out, const char *key, bool yaml)
{
    if (yaml && plain_is_safe(key)) {
        pons_buf_str(out, key);
    } else {
        pons__ws_emit_text(out, key);
    }
}

// On one line, nested ones in brackets.
static void put_scalar(pons_buf *out, const pons_value *v, bool yaml)
{
    size_t n = 0;
    if (json_is_string(v) && yaml && plain_is_safe(json_string_value(v))) {
        pons_buf_str(out, json_string_value(v));
    } else if (json_is_array(v)) {
        pons_buf_byte(out, '[');
        pons_each(child, v) {
            pons_buf_str(out, child_at ? ", " : "");
            put_scalar(out, child, yaml);
        }
        pons_buf_byte(out, ']');
    } else if (json_is_object(v)) {
        pons_buf_byte(out, '{');
        pons_each_member(key, child, v) {
            pons_buf_str(out, n++ ? ", " : "");
            put_key(out, key, yaml);
            pons_buf_str(out, ": ");
            put_scalar(out, child, yaml);
        }
        pons_buf_byte(out, '}');
    } else {
        put_json(out, v);
    }
}

// Whether the value was written on one line.
static bool put_short(pons_buf *out, const pons_value *v, bool yaml)
{
    const size_t before = out->len;
    if (is_container(v) && !is_empty(v) && has_containers(v)) {
        return false;
    }
    put_scalar(out, v, yaml);
    if (!is_container(v) || out->len - before <= LINE_MAX_BYTES) {
        return true;
    }
    out->len = before;
    return false;
}

// ---- JSON ---------------------------------------------------------------------------------------

void pons__ws_emit_json(pons_buf *out, const pons_value *v, size_t indent)
{
    size_t n = 0;
    if (put_short(out, v, false)) {
        return;
    }
    const bool map = json_is_object(v);
    pons_buf_byte(out, map ? '{' : '[');
    pons_each(child, v) {
        pons_buf_str(out, child_at ? ",\n" : "\n");
        spaces(out, indent + 2);
        pons__ws_emit_json(out, child, indent + 2);
    }
    if (map) {
        pons_each_member(key, child, v) {
            pons_buf_str(out, n++ ? ",\n" : "\n");
            spaces(out, indent + 2);
            pons__ws_emit_text(out, key);
            pons_buf_str(out, ": ");
            pons__ws_emit_json(out, child, indent + 2);
        }
    }
    pons_buf_byte(out, '\n');
    spaces(out, indent);
    pons_buf_byte(out, map ? '}' : ']');
}

// ---- YAML ---------------------------------------------------------------------------------------

// A value behind "key:" or "-": " scalar\n", " []\n" or "\n" and its block.
static void put_after(pons_buf *out, const pons_value *v, size_t indent)
{
    pons_buf_byte(out, ' ');
    const size_t before = out->len;
    // A short map stays a block: people change its lines.
    if ((!json_is_object(v) || is_empty(v)) && put_short(out, v, true)) {
        pons_buf_byte(out, '\n');
        return;
    }
    out->len = before - 1;
    pons_buf_byte(out, '\n');
    pons__ws_emit_yaml(out, v, indent);
}

void pons__ws_emit_yaml_member(pons_buf *out, const char *key, const pons_value *v, size_t indent)
{
    spaces(out, indent);
    put_key(out, key, true);
    pons_buf_byte(out, ':');
    put_after(out, v, indent + 2);
}

void pons__ws_emit_yaml_item(pons_buf *out, const pons_value *v, size_t indent)
{
    spaces(out, indent);
    pons_buf_byte(out, '-');
    if (!json_is_object(v) || is_empty(v)) {
        put_after(out, v, indent + 2);
        return;
    }
    // The first member stands behind the dash.
    pons_autobuf block = PONS_BUF_INIT;
    pons__ws_emit_yaml(&block, v, indent + 2);
    pons_buf_byte(out, ' ');
    pons_buf_bytes(out, block.data + indent + 2, block.len - indent - 2);
}

void pons__ws_emit_yaml(pons_buf *out, const pons_value *v, size_t indent)
{
    if (!is_container(v) || is_empty(v)) {
        spaces(out, indent);
        put_scalar(out, v, true);
        pons_buf_byte(out, '\n');
        return;
    }
    pons_each(child, v) {
        pons__ws_emit_yaml_item(out, child, indent);
    }
    if (json_is_object(v)) {
        pons_each_member(key, child, v) {
            pons__ws_emit_yaml_member(out, key, child, indent);
        }
    }
}
