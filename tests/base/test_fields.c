// test_fields.c - a struct and its JSON object by one table (src/base/json/fields.c): each kind and use, groups
// inside and among the members, defaults, limits and faults, and what stands in the document.
#include "pons/fields.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct thing {
    const char *name, *note;
    int state;
    int64_t count, age;
    double size;
    bool on;
    const pons_value *args, *list;
    bool has_place;
    double x;
    bool ended;
    int64_t code;
    const char *why;
} thing;

#define AT(member)   offsetof(thing, member)
#define FIELDS(list) list, sizeof(list) / sizeof((list)[0])
static const char *const states[] = {"", "begun", "over", NULL};
// clang-format off
static const pons_field place[] = {
    {"x", PONS_FIELD_NUMBER, PONS_FIELD_REQUIRED, AT(x), .min = -5, .max = 5, .means = "m"},
};
static const pons_field end[] = {
    {"code", PONS_FIELD_INTEGER, PONS_FIELD_USUAL, AT(code), .means = "number"},
    {"why",  PONS_FIELD_STRING,  PONS_FIELD_USUAL, AT(why), .means = "words"},
};
static const pons_field fields[] = {
    {"name",  PONS_FIELD_STRING,  PONS_FIELD_REQUIRED, AT(name), .min = 1, .max = 8, .code = "no_name", .means = "its name"},
    {"note",  PONS_FIELD_STRING,  PONS_FIELD_OPTIONAL, AT(note), .words = "none", .any_bytes = true, .means = "a note"},
    {"state", PONS_FIELD_WORD,    PONS_FIELD_NULLABLE, AT(state), .choices = states, .means = "its state"},
    {"count", PONS_FIELD_INTEGER, PONS_FIELD_USUAL,    AT(count), .preset = 7, .means = "how many"},
    {"age",   PONS_FIELD_INTEGER, PONS_FIELD_NULLABLE, AT(age), .preset = -1, .means = "how old"},
    {"size",  PONS_FIELD_NUMBER,  PONS_FIELD_NULLABLE, AT(size), .means = "how big"},
    {"on",    PONS_FIELD_BOOLEAN, PONS_FIELD_OPTIONAL, AT(on), .means = "on"},
    {"args",  PONS_FIELD_OBJECT,  PONS_FIELD_USUAL,    AT(args), .means = "more"},
    {"list",  PONS_FIELD_LIST,    PONS_FIELD_OPTIONAL, AT(list), .min = 0, .max = 2, .fields = place, .n_fields = 1, .means = "some"},
    {"place", PONS_FIELD_GROUP,   PONS_FIELD_NULLABLE, AT(has_place), .fields = place, .n_fields = 1, .means = "where"},
    {"",      PONS_FIELD_GROUP,   PONS_FIELD_USUAL,    AT(ended), .fields = end, .n_fields = 2},
};
// clang-format on

static pons_value *json_of(const char *text)
{
    pons_value *v = NULL;
    assert_int_equal(pons_value_parse(text, strlen(text), &v, NULL), PONS_OK);
    return v;
}

static void must_write(const thing *t, const char *text)
{
    char *got = NULL;
    pons_autovalue json = pons_fields_object(FIELDS(fields), t);
    assert_true(pons_value_line(json, &got) > 0);
    assert_string_equal(got, text);
    free(got);
}

static void what_is_not_said_has_its_default(void **state)
{
    (void)state;
    thing t;
    pons_field_fault fault = {.text = ""};
    pons_autovalue json = json_of("{\"name\":\"a\",\"size\":null,\"more\":1}");
    pons_fields_decode(FIELDS(fields), json, &t, &fault);
    assert_string_equal(fault.text, "");
    assert_string_equal(t.name, "a");
    assert_string_equal(t.note, "none");
    assert_int_equal(t.state, 0);
    assert_int_equal(t.count, 7);
    assert_int_equal(t.age, -1);
    assert_true(isnan(t.size) && isnan(t.x));
    assert_false(t.on || t.has_place || t.ended);
    assert_null(t.args);
    assert_string_equal(t.why, "");
    must_write(&t,
               "{\"name\":\"a\",\"state\":null,\"count\":7,\"age\":null,\"size\":null,\"args\":{},"
               "\"place\":null}");
}

static void what_is_said_comes_through(void **state)
{
    (void)state;
    static const char text[] = "{\"name\":\"a\",\"note\":\"b\",\"state\":\"over\",\"count\":1,"
                               "\"age\":2,\"size\":2.5,\"on\":true,"
                               "\"args\":{\"k\":1},\"list\":[{\"x\":1.0}],\"place\":{\"x\":-5.0},"
                               "\"code\":0,\"why\":\"c\"}";
    thing t;
    pons_field_fault fault = {.text = ""};
    pons_autovalue json = json_of(text);
    pons_fields_decode(FIELDS(fields), json, &t, &fault);
    assert_string_equal(fault.text, "");
    assert_int_equal(t.state, 2);
    assert_true(t.has_place && t.ended && t.x == -5.0);
    must_write(&t, text);
}

static void the_first_fault_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *json, *fault, *code;
    } rows[] = {
        {"{}", "name is missing", "no_name"},
        {"{\"name\":\"\"}", "name must have 1 to 8 bytes, not 0", "no_name"},
        {"{\"name\":\"123456789\"}", "name must have 1 to 8 bytes, not 9", "no_name"},
        {"{\"name\":\"a\",\"count\":1.5,\"size\":\"x\"}", "count must be an integer, not a number",
         "bad_args"},
        {"{\"name\":\"a\",\"state\":\"odd\"}", "state cannot be odd", "bad_args"},
        {"{\"name\":\"a\",\"state\":3}", "state must be a word, not an integer", "bad_args"},
        {"{\"name\":\"a\",\"list\":[1,2,3]}", "list must have 0 to 2 items, not 3", "bad_args"},
        {"{\"name\":\"a\",\"place\":{}}", "place.x is missing", "bad_args"},
        {"{\"name\":\"a\",\"place\":{\"x\":6}}", "place.x must be from -5 to 5, not 6", "bad_args"},
        {"{\"name\":\"a\",\"place\":[]}", "place must be an object, not a list", "bad_args"},
        {"{\"name\":\"a\",\"code\":true}", "code must be an integer, not true or false",
         "bad_args"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        thing t;
        pons_field_fault fault = {.text = ""};
        pons_autovalue json = json_of(rows[i].json);
        pons_fields_decode(FIELDS(fields), json, &t, &fault);
        assert_string_equal(fault.text, rows[i].fault);
        assert_string_equal(fault.code, rows[i].code);
        pons_fields_decode(FIELDS(fields), json, &t, NULL); // nobody asks
    }
}

static void bytes_that_are_no_text(void **state)
{
    (void)state;
    const thing t = {.name = "\xff", .note = "a \xff b", .count = 1, .size = NAN};
    pons_autovalue json = pons_fields_object(FIELDS(fields), &t);
    assert_null(pons_get(json, "name")); // left out: another name would be another thing
    assert_string_equal(pons_get_str(json, "note", ""), "a ? b");
    pons_autovalue cut = pons_text("到\xe5\x88"); // within a character
    assert_string_equal(json_string_value(cut), "到");
}

static void the_document_has_a_row_for_each(void **state)
{
    (void)state;
    pons_autobuf b = PONS_BUF_INIT;
    assert_int_equal(pons_fields_describe(FIELDS(fields), "thing", &b), PONS_OK);
    assert_int_equal(pons_buf_byte(&b, 0), PONS_OK);
    static const char *const rows[] = {
        "| `thing` | `name` | a string, 1–8 bytes | yes | its name |\n",
        "| `thing` | `state` | a word: `begun` `over` or `null` | – | its state |\n",
        "| `thing` | `list[].x` | a number, -5–5 | yes | m |\n",
        "| `thing` | `place.x` | a number, -5–5 | yes | m |\n",
        "| `thing` | `code` | an integer | – | number |\n",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!strstr(b.data, rows[i])) {
            fail_msg("no %s in\n%s", rows[i], b.data);
        }
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said_has_its_default),
        cmocka_unit_test(what_is_said_comes_through),
        cmocka_unit_test(the_first_fault_is_told),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(the_document_has_a_row_for_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
