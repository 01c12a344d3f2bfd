// schema_words.c - parts of a JSON schema, in the few words that makers of grammars know (answer_schema.c); and one in words.
#include "brain/model/schema_words.h"

#include "brain/state/queries.h"
#include "pons/buf.h"

#include <string.h>

pons_value *pons__form_constant(const char *text)
{
    return json_pack("{s:s}", "const", text);
}

pons_value *pons__form_one_of(pons_value *list)
{
    return pons_object("enum", list, NULL);
}

pons_value *pons__form_text(int max)
{
    return json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1, "maxLength", max);
}

// An object with exactly these members (taken).
pons_value *pons__form_exactly(pons_value *properties)
{
    pons_value *required = json_array();
    pons_each_member(name, unused, properties) {
        json_array_append_new(required, json_string(name));
    }
    return pons_object("type", json_string("object"), "properties", properties, "required",
                       required, "additionalProperties", json_false(), NULL);
}

// A list of exactly one.
pons_value *pons__form_list_of_one(pons_value *items)
{
    return json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", 1, "maxItems", 1, "items",
                     items);
}

pons_value *pons__form_pair(pons_value *first, pons_value *second)
{
    return json_pack("{s:s, s:i, s:i, s:[o,o]}", "type", "array", "minItems", 2, "maxItems", 2,
                     "prefixItems", first, second);
}

// A value as a schema: a constant, or, of an object, one that has exactly these members.
pons_value *pons__form_of(const pons_value *value)
{
    if (!json_is_object(value)) {
        return pons_object("const", pons_value_ref(value), NULL);
    }
    pons_value *properties = json_object();
    pons_each_member(key, member, value) {
        json_object_set_new(properties, key, pons__form_of(member));
    }
    return pons__form_exactly(properties);
}

// ---- as words -----------------------------------------------------------------------------------

static void write_arguments(pons_buf *out, const pons_value *schema);

static void write_argument(pons_buf *out, const char *name, const pons_value *schema, bool optional)
{
    pons_buf_printf(out, "%s", name);
    if (pons_get(schema, "properties")) {
        pons_buf_printf(out, "{");
        write_arguments(out, schema);
        pons_buf_printf(out, "}");
    } else if (strcmp(pons_get_str(schema, "type", ""), "array") == 0) {
        pons_buf_printf(out, "[…]");
    }
    pons_buf_printf(out, "%s", optional ? "?" : "");
    const pons_value *min = pons_get(schema, "minimum"), *max = pons_get(schema, "maximum");
    if (!optional && min && max) {
        pons_buf_printf(out, " %g..%g", json_number_value(min), json_number_value(max));
    }
}

// Whether every way, or one of them (some), needs an argument.
static bool is_needed(const pons_value *schema, const char *name, bool *ret_some)
{
    *ret_some = false;
    pons_each(way, pons_get(schema, "oneOf")) {
        *ret_some = *ret_some || pons__has(pons_get(way, "required"), name);
    }
    return pons__has(pons_get(schema, "required"), name);
}

// Those that are needed, those of which one is, and the others.
static void write_arguments(pons_buf *out, const pons_value *schema)
{
    const char *const before[] = {", ", " | ", ", "};
    bool any = false;
    for (int round = 0; round < 3; round++) {
        bool first = true;
        pons_each_member(name, property, pons_get(schema, "properties")) {
            bool some;
            const bool needed = is_needed(schema, name, &some);
            const int own = needed ? 0 : some ? 1 : 2;
            if (own == round) {
                pons_buf_printf(out, "%s", !any ? "" : first ? "; " : before[round]);
                write_argument(out, name, property, round == 2);
                any = true;
                first = false;
            }
        }
    }
}

char *pons__form_words(const pons_value *schema)
{
    pons_autobuf out = PONS_BUF_INIT;
    write_arguments(&out, schema);
    return strdup(out.data ? out.data : "");
}
