// argument_templates.c - templates of arguments, filled with what a goal says.
//
//     {"zone": "$zone"}           + {intent, zone: "kitchen"}     --> {"zone": "kitchen"}
//     {"s": "$seconds|1"}         + {intent}                      --> {"s": 1}
//     "go to ($pose.x, $pose.y)"  + {pose: {x: 1.5, y: 2}}        --> "go to (1.50, 2.00)"
//
// A skill's registry entry has them; whoever wrote that knows the skill, and this file knows none. Any
// thread.
#include "brain/goals/argument_templates.h"

#include "pons/buf.h"

#include <ctype.h>
#include <string.h>

#define PATH_MAX_B 96 // bytes of a name

// The member that a path of names leads to; NULL: there is none.
static const pons_value *member(const pons_value *from, const char *path, size_t n)
{
    const pons_value *at = from;
    while (at && n > 0) {
        char name[PATH_MAX_B];
        const char *dot = memchr(path, '.', n);
        const size_t part = dot ? (size_t)(dot - path) : n;
        if (part >= sizeof name) {
            return NULL;
        }
        memcpy(name, path, part);
        name[part] = '\0';
        at = pons_get(at, name);
        path += part + (dot ? 1 : 0);
        n -= part + (dot ? 1 : 0);
    }
    return at;
}

static pons_value *fill_name(const char *text, const pons_value *from)
{
    const size_t n = strcspn(text, "|");
    const pons_value *found = member(from, text, n);
    pons_value *usual = NULL;
    if (!found && text[n] == '|') {
        pons_value_parse(text + n + 1, strlen(text + n + 1), &usual, NULL);
        return usual;
    }
    return found && !json_is_null(found) ? json_copy((json_t *)found) : NULL;
}

pons_value *pons__fill(const pons_value *template, const pons_value *from)
{
    size_t i;
    if (json_is_string(template) && json_string_value(template)[0] == '$') {
        return fill_name(json_string_value(template) + 1, from);
    }
    if (!json_is_object(template) && !json_is_array(template)) {
        return template ? json_copy((json_t *)template) : json_object();
    }
    pons_value *full = json_is_object(template) ? json_object() : json_array();
    bool good = true;
    pons_each_member(key, item, template) {
        good = good && json_object_set_new(full, key, pons__fill(item, from)) == 0;
    }
    for (i = 0; good && i < json_array_size(template); i++) {
        good = json_array_append_new(full, pons__fill(json_array_get(template, i), from)) == 0;
    }
    if (!good) {
        pons_value_unref(full);
        return NULL;
    }
    return full;
}

static void add_value(pons_buf *out, const pons_value *v)
{
    if (json_is_string(v)) {
        pons_buf_printf(out, "%s", json_string_value(v));
    } else if (json_is_integer(v)) {
        pons_buf_printf(out, "%lld", (long long)json_integer_value(v));
    } else if (json_is_real(v)) {
        pons_buf_printf(out, "%.2f", json_real_value(v));
    }
}

// How long the name is that a sentence has at its place: letters, digits, "_", and "." before a letter.
static size_t name_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' ||
           (at[n] == '.' && isalpha((unsigned char)at[n + 1]))) {
        n++;
    }
    return n;
}

pons_value *pons__fill_text(const char *template, const pons_value *from)
{
    pons_autobuf out = PONS_BUF_INIT;
    for (const char *at = template; *at;) {
        const size_t plain = strcspn(at, "$");
        pons_buf_printf(&out, "%.*s", (int)plain, at);
        at += plain;
        if (*at == '$') {
            const size_t n = name_length(at + 1);
            const char *end = at + 1 + n;
            const size_t usual = *end == '|' ? name_length(end + 1) : 0;
            const pons_value *found = member(from, at + 1, n);
            if (found && !json_is_null(found)) {
                add_value(&out, found);
            } else if (usual > 0) {
                pons_buf_printf(&out, "%.*s", (int)usual, end + 1);
            } else {
                return NULL;
            }
            at = end + (usual > 0 ? 1 + usual : 0);
        }
    }
    return json_string(out.data ? out.data : "");
}
