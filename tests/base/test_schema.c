// test_schema.c - what a schema accepts, and what it says about the rest.
//
// One table of schemas, values and expected messages (NULL: accepted), one of schemas that must not
// compile, and a few tests of what tables can't show: faults by callback, positions in YAML,
// bounds, and use by several threads.
#include "pons/schema.h"
#include "unit.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pons_value *json(const char *text)
{
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(text, strlen(text), &v, &err) < 0) {
        fail_msg("bad JSON in the test: %s: %s", err.message, text);
    }
    return v;
}

static pons_schema *schema_of(const char *text)
{
    pons_autovalue v = json(text);
    pons_schema *s = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_schema_compile(v, &s, &err) < 0) {
        fail_msg("%s: %s", err.message, text);
    }
    return s;
}

typedef struct check_case {
    const char *schema, *value;
    const char *message; // NULL: valid
} check_case;

#define OPS                                                                                        \
    "{\"type\":\"array\",\"items\":{\"oneOf\":["                                                   \
    "{\"type\":\"object\",\"properties\":{\"op\":{\"const\":\"dispatch\"},"                        \
    "\"skill\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}},"                               \
    "\"required\":[\"op\",\"skill\"],\"additionalProperties\":false},"                             \
    "{\"type\":\"object\",\"properties\":{\"op\":{\"const\":\"cancel\"},"                          \
    "\"goal_id\":{\"type\":\"string\"}},\"required\":[\"op\",\"goal_id\"]}]}}"

#define TREE                                                                                       \
    "{\"$defs\":{\"node\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\"},"      \
    "\"next\":{\"$ref\":\"#/$defs/node\"}},\"required\":[\"v\"]}},\"$ref\":\"#/$defs/node\"}"

static const check_case checks[] = {
    // booleans as schemas
    {"true", "1", NULL},
    {"false", "1", "/: not allowed, found integer 1"},
    {"{}", "null", NULL},
    // type
    {"{\"type\":\"string\"}", "\"a\"", NULL},
    {"{\"type\":\"string\"}", "3", "/: expected string, found integer 3"},
    {"{\"type\":\"integer\"}", "3", NULL},
    {"{\"type\":\"integer\"}", "3.0", NULL},
    {"{\"type\":\"integer\"}", "3.5", "/: expected integer, found number 3.5"},
    {"{\"type\":\"integer\"}", "1e300", NULL},
    {"{\"type\":\"number\"}", "3", NULL},
    {"{\"type\":\"number\"}", "\"3\"", "/: expected number, found string \"3\""},
    {"{\"type\":\"boolean\"}", "false", NULL},
    {"{\"type\":\"boolean\"}", "0", "/: expected boolean, found integer 0"},
    {"{\"type\":\"null\"}", "null", NULL},
    {"{\"type\":\"null\"}", "false", "/: expected null, found false"},
    {"{\"type\":\"object\"}", "[]", "/: expected object, found array of 0"},
    {"{\"type\":\"array\"}", "{\"a\":1}", "/: expected array, found object of 1"},
    {"{\"type\":[\"string\",\"null\"]}", "null", NULL},
    {"{\"type\":[\"string\",\"null\"]}", "true", "/: expected null or string, found true"},
    {"{\"type\":[\"string\",\"null\",\"array\"]}", "1",
     "/: expected null, string or array, found integer 1"},
    {"{\"type\":\"string\"}", "null", "/: expected string, found null"},
    // const, enum
    {"{\"const\":3}", "3.0", NULL},
    {"{\"const\":null}", "null", NULL},
    {"{\"const\":null}", "0", "/: expected null, found integer 0"},
    {"{\"const\":{\"a\":[1,2]}}", "{\"a\":[1.0,2]}", NULL},
    {"{\"const\":{\"a\":[1,2]}}", "{\"a\":[2,1]}", "/: expected object of 1, found object of 1"},
    {"{\"const\":\"a\"}", "\"b\"", "/: expected string \"a\", found string \"b\""},
    {"{\"enum\":[\"a\",1,null]}", "1.0", NULL},
    {"{\"enum\":[\"a\",1,null]}", "\"b\"", "/: expected one of \"a\", 1, null, found string \"b\""},
    {"{\"const\":9007199254740993}", "9007199254740992.0",
     "/: expected integer 9007199254740993, found number 9007199254740992.0"},
    // numbers
    {"{\"minimum\":1}", "1", NULL},
    {"{\"minimum\":1}", "0.5", "/: expected a number at least 1, found number 0.5"},
    {"{\"minimum\":1}", "\"x\"", NULL},
    {"{\"maximum\":1.5}", "2", "/: expected a number at most 1.5, found integer 2"},
    {"{\"exclusiveMinimum\":0}", "0", "/: expected a number above 0, found integer 0"},
    {"{\"exclusiveMinimum\":0}", "1e-300", NULL},
    {"{\"exclusiveMaximum\":1}", "1.0", "/: expected a number below 1, found number 1.0"},
    {"{\"exclusiveMaximum\":1}", "0.99", NULL},
    {"{\"maximum\":9223372036854775806}", "9223372036854775807",
     "/: expected a number at most 9223372036854775806, found integer 9223372036854775807"},
    {"{\"maximum\":9223372036854775807}", "9.3e18",
     "/: expected a number at most 9223372036854775807, found number 9.3e+18"},
    {"{\"minimum\":-9223372036854775808}", "-9.3e18",
     "/: expected a number at least -9223372036854775808, found number -9.3e+18"},
    {"{\"minimum\":2.5}", "2", "/: expected a number at least 2.5, found integer 2"},
    {"{\"minimum\":-2.5}", "-2", NULL},
    {"{\"multipleOf\":3}", "9", NULL},
    {"{\"multipleOf\":3}", "10", "/: expected a multiple of 3, found integer 10"},
    {"{\"multipleOf\":0.1}", "0.3", NULL},
    {"{\"multipleOf\":0.1}", "0.35", "/: expected a multiple of 0.1, found number 0.35"},
    // strings
    {"{\"minLength\":2}", "\"\xe4\xb8\xad\"", "/: expected at least 2 characters, found 1"},
    {"{\"minLength\":2}", "\"\xe4\xb8\xad\xe6\x96\x87\"", NULL},
    {"{\"maxLength\":2}", "\"abc\"", "/: expected at most 2 characters, found 3"},
    {"{\"maxLength\":2.0}", "\"ab\"", NULL},
    {"{\"pattern\":\"^[a-z_]+$\"}", "\"go_to\"", NULL},
    {"{\"pattern\":\"^[a-z_]+$\"}", "\"Go\"",
     "/: expected a match of ^[a-z_]+$, found string \"Go\""},
    {"{\"pattern\":\"b\"}", "\"abc\"", NULL},
    {"{\"pattern\":\"^a{2,3}$\"}", "\"aaaa\"",
     "/: expected a match of ^a{2,3}$, found string \"aaaa\""},
    {"{\"pattern\":\"b\"}", "3", NULL},
    {"{\"pattern\":\"^\\\\d{2}(?:-\\\\w+)?$\"}", "\"12-ab\"", NULL},
    {"{\"pattern\":\"^(?!x)\\\\u0061|\\\\/$\"}", "\"a\"", NULL},
    {"{\"pattern\":\"^[^[:space:]]+$\"}", "\"\xe4\xb8\xad\"", NULL},
    {"{\"pattern\":\"^[a-z]+$\"}", "\"a\\n\"",
     "/: expected a match of ^[a-z]+$, found string \"a \""},
    // arrays
    {"{\"items\":{\"type\":\"integer\"}}", "[1,2]", NULL},
    {"{\"items\":{\"type\":\"integer\"}}", "[1,\"x\"]", "/1: expected integer, found string \"x\""},
    {"{\"items\":false}", "[]", NULL},
    {"{\"items\":false}", "[0]", "/0: not allowed, found integer 0"},
    {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"integer\"}}", "[\"a\",1,2]",
     NULL},
    {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"integer\"}}",
     "[\"a\",1,\"b\"]", "/2: expected integer, found string \"b\""},
    {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[\"a\",1]",
     "/1: not allowed, found integer 1"},
    {"{\"minItems\":1}", "[]", "/: expected at least 1 items, found 0"},
    {"{\"maxItems\":1}", "[1,2]", "/: expected at most 1 items, found 2"},
    {"{\"maxItems\":1}", "\"not an array\"", NULL},
    {"{\"uniqueItems\":true}", "[1,2,\"1\"]", NULL},
    {"{\"uniqueItems\":true}", "[1,2,1.0]", "/: expected different items, 0 and 2 are equal"},
    {"{\"uniqueItems\":true}", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]",
     "/: expected different items, 0 and 1 are equal"},
    {"{\"uniqueItems\":true}", "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,[0],7.0]",
     "/: expected different items, 7 and 18 are equal"},
    {"{\"uniqueItems\":true}", "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,[0],{\"0\":0},{}]", NULL},
    {"{\"uniqueItems\":false}", "[1,1]", NULL},
    // objects
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", NULL},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}",
     "/a: expected string, found integer 1"},
    {"{\"properties\":{\"a/b\":{\"properties\":{\"~\":{\"type\":\"string\"}}}}}",
     "{\"a/b\":{\"~\":1}}", "/a~1b/~0: expected string, found integer 1"},
    {"{\"required\":[\"a\",\"b\"]}", "{\"a\":1}", "/: missing property 'b'"},
    {"{\"required\":[\"a\"]}", "[]", NULL},
    {"{\"properties\":{\"zone\":true,\"speed\":true},\"additionalProperties\":false}",
     "{\"zoen\":1}", "/zoen: unknown property, did you mean 'zone'?"},
    {"{\"properties\":{\"zone\":true,\"speed\":true},\"additionalProperties\":false}",
     "{\"colour\":1}", "/colour: unknown property, expected one of: speed, zone"},
    {"{\"properties\":{\"zone\":true},\"additionalProperties\":{\"type\":\"integer\"}}",
     "{\"zone\":\"a\",\"x\":1}", NULL},
    {"{\"properties\":{\"zone\":true},\"additionalProperties\":{\"type\":\"integer\"}}",
     "{\"zone\":\"a\",\"x\":\"1\"}", "/x: expected integer, found string \"1\""},
    {"{\"minProperties\":1}", "{}", "/: expected at least 1 properties, found 0"},
    {"{\"maxProperties\":1}", "{\"a\":1,\"b\":2}", "/: expected at most 1 properties, found 2"},
    // logic
    {"{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "2", NULL},
    {"{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "4",
     "/: expected a number at most 3, found integer 4"},
    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "null", NULL},
    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "1",
     "/: expected null or string, found integer 1"},
    {"{\"anyOf\":[{\"type\":\"string\",\"minLength\":3},{\"type\":\"null\"}]}", "\"a\"",
     "/: expected at least 3 characters, found 1"},
    {"{\"anyOf\":[{\"const\":\"a\"},{\"const\":\"b\"}]}", "\"c\"",
     "/: expected one of \"a\", \"b\", found string \"c\""},
    {"{\"oneOf\":[{\"multipleOf\":2},{\"multipleOf\":3}]}", "4", NULL},
    {"{\"oneOf\":[{\"multipleOf\":2},{\"multipleOf\":3}]}", "6",
     "/: matches alternatives 0 and 1, expected only one"},
    {OPS, "[{\"op\":\"dispatch\",\"skill\":\"go\"},{\"op\":\"cancel\",\"goal_id\":\"g\"}]", NULL},
    {OPS, "[{\"op\":\"dispatch\",\"skill\":3}]", "/0/skill: expected string, found integer 3"},
    {OPS, "[{\"op\":\"dispatch\",\"skill\":\"go\",\"n\":\"x\"}]",
     "/0/n: expected integer, found string \"x\""},
    {OPS, "[{\"op\":\"cancel\"}]", "/0: missing property 'goal_id'"},
    {OPS, "[{\"op\":\"cancel\",\"goal_id\":7,\"x\":1}]",
     "/0/goal_id: expected string, found integer 7"},
    {OPS, "[{\"op\":\"fly\"}]",
     "/0/op: expected one of \"dispatch\", \"cancel\", found string \"fly\""},
    {OPS, "[3]", "/0: expected object, found integer 3"},
    {"{\"not\":{\"type\":\"string\"}}", "1", NULL},
    {"{\"not\":{\"type\":\"string\"}}", "\"a\"", "/: must not match /not, found string \"a\""},
    {"{\"not\":{\"not\":{\"type\":\"string\"}}}", "\"a\"", NULL},
    {"{\"if\":{\"properties\":{\"k\":{\"const\":1}}},\"then\":{\"required\":[\"a\"]},"
     "\"else\":{\"required\":[\"b\"]}}",
     "{\"k\":1,\"a\":0}", NULL},
    {"{\"if\":{\"properties\":{\"k\":{\"const\":1}}},\"then\":{\"required\":[\"a\"]},"
     "\"else\":{\"required\":[\"b\"]}}",
     "{\"k\":1}", "/: missing property 'a'"},
    {"{\"if\":{\"properties\":{\"k\":{\"const\":1}}},\"then\":{\"required\":[\"a\"]},"
     "\"else\":{\"required\":[\"b\"]}}",
     "{\"k\":2}", "/: missing property 'b'"},
    {"{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":1}}", "3", NULL},
    {"{\"if\":true}", "3", NULL},
    // references
    {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"string\"}}}", "1",
     "/: expected string, found integer 1"},
    {"{\"$ref\":\"#/$defs/a\",\"minLength\":2,\"$defs\":{\"a\":{\"type\":\"string\"}}}", "\"x\"",
     "/: expected at least 2 characters, found 1"},
    {"{\"$ref\":\"#/$defs/a~1b%20c\",\"$defs\":{\"a/b c\":{\"type\":\"string\"}}}", "1",
     "/: expected string, found integer 1"},
    {"{\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{\"$ref\":\"#/properties/a\"}}}",
     "{\"b\":1}", "/b: expected null, found integer 1"},
    {"{\"properties\":{\"sub\":{\"$ref\":\"#\"}},\"additionalProperties\":false}",
     "{\"sub\":{\"sub\":{\"x\":1}}}", "/sub/sub/x: unknown property, expected one of: sub"},
    {TREE, "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3}}}", NULL},
    {TREE, "{\"v\":1,\"next\":{\"v\":2,\"next\":{}}}", "/next/next: missing property 'v'"},
    // annotations check nothing
    {"{\"$schema\":\"x\",\"$id\":\"y\",\"$comment\":\"z\",\"title\":\"t\",\"description\":\"d\","
     "\"default\":1,\"examples\":[1],\"format\":\"email\",\"deprecated\":true}",
     "\"not an address\"", NULL},
};

static void test_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const check_case *c = &checks[i];
        pons_schema *s = schema_of(c->schema);
        pons_autovalue v = json(c->value);
        pons_error err = PONS_ERROR_INIT;
        const int r = pons_schema_check(s, v, &err);
        if (!c->message && r != PONS_OK) {
            fail_msg("%s refuses %s: %s", c->schema, c->value, err.message);
        }
        if (c->message && r != PONS_EINVAL) {
            fail_msg("%s accepts %s", c->schema, c->value);
        }
        if (c->message && strcmp(err.message, c->message) != 0) {
            fail_msg("%s on %s says\n  %s\nnot\n  %s", c->schema, c->value, err.message,
                     c->message);
        }
        // Faults and status agree with or without a place for the error.
        assert_int_equal(pons_schema_check(s, v, NULL), r);
        pons_schema_destroy(s);
    }
}

static const struct {
    const char *schema, *message;
} refused[] = {
    {"3", "/: expected a schema: an object, true or false"},
    {"null", "/: expected a schema: an object, true or false"},
    {"{\"minLenght\":1}", "/minLenght: unknown keyword"},
    {"{\"properties\":{\"a\":{\"tpye\":\"string\"}}}", "/properties/a/tpye: unknown keyword"},
    {"{\"$defs\":{\"a/b\":{\"x\":1}}}", "/$defs/a~1b/x: unknown keyword"},
    {"{\"patternProperties\":{}}", "/patternProperties: unknown keyword"},
    {"{\"type\":\"text\"}", "/type: expected the name of a type, found string \"text\""},
    {"{\"type\":3}", "/type: expected the name of a type, found integer 3"},
    {"{\"type\":[]}", "/type: an empty list of types"},
    {"{\"type\":[\"string\",\"x\"]}", "/type: expected the name of a type, found string \"x\""},
    {"{\"enum\":[]}", "/enum: expected a list of at least one value"},
    {"{\"enum\":\"a\"}", "/enum: expected a list of at least one value"},
    {"{\"properties\":[]}", "/properties: expected an object of schemas"},
    {"{\"properties\":{\"a\":1}}", "/properties/a: expected a schema: an object, true or false"},
    {"{\"required\":\"a\"}", "/required: expected a list of names"},
    {"{\"required\":[1]}", "/required: expected a list of names"},
    {"{\"required\":[\"a\",\"a\"]}", "/required: 'a' twice"},
    {"{\"additionalProperties\":1}",
     "/additionalProperties: expected a schema: an object, true or false"},
    {"{\"items\":[{}]}", "/items: expected a schema: an object, true or false"},
    {"{\"prefixItems\":[]}", "/prefixItems: expected a list of at least one schema"},
    {"{\"anyOf\":{}}", "/anyOf: expected a list of at least one schema"},
    {"{\"allOf\":[{},{\"x\":1}]}", "/allOf/1/x: unknown keyword"},
    {"{\"minItems\":-1}", "/minItems: expected a count, 0 or more"},
    {"{\"minItems\":1.5}", "/minItems: expected a count, 0 or more"},
    {"{\"maxLength\":\"3\"}", "/maxLength: expected a count, 0 or more"},
    {"{\"minimum\":\"3\"}", "/minimum: expected a number"},
    {"{\"multipleOf\":0}", "/multipleOf: expected a number above 0"},
    {"{\"uniqueItems\":1}", "/uniqueItems: expected true or false"},
    {"{\"pattern\":3}", "/pattern: expected a regular expression"},
    {"{\"pattern\":\"[\"}", NULL},
    {"{\"pattern\":\"a)|(b\"}", "/pattern: bad pattern: unmatched closing parenthesis (at 1)"},
    {"{\"pattern\":\"((((a{1,255}){1,255}){1,255}){1,255})\"}", NULL}, // too large, said at once
    {"{\"$ref\":3}", "/$ref: expected a local reference such as \"#/$defs/name\""},
    {"{\"$ref\":\"other.json\"}", "/$ref: expected a local reference such as \"#/$defs/name\""},
    {"{\"$ref\":\"#name\"}", "/$ref: expected a local reference such as \"#/$defs/name\""},
    {"{\"$ref\":\"#/$defs/a\"}", "/: $ref names no schema: '#/$defs/a'"},
    {"{\"items\":{\"$ref\":\"#/properties\"},\"properties\":{}}",
     "/items: $ref names no schema: '#/properties'"},
    {"{\"$ref\":\"#\"}", "/: applies to itself without end"},
    {"{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"allOf\":[{\"$ref\":\"#/$defs/a\"}]}}}",
     "/$defs/a: applies to itself without end"},
    {"{\"not\":{\"if\":{\"$ref\":\"#\"}}}", "/: applies to itself without end"},
    {"{\"then\":{}}", "/: then or else without if"},
    {"{\"properties\":{\"a\":{\"else\":{}}}}", "/properties/a: then or else without if"},
};

static void test_refused_schemas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        pons_autovalue v = json(refused[i].schema);
        pons_schema *s = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (pons_schema_compile(v, &s, &err) != PONS_EINVAL) {
            fail_msg("compiles: %s", refused[i].schema);
        }
        assert_null(s);
        if (refused[i].message && strcmp(err.message, refused[i].message) != 0) {
            fail_msg("%s says\n  %s\nnot\n  %s", refused[i].schema, err.message,
                     refused[i].message);
        }
        assert_int_equal(pons_schema_compile(v, &s, NULL), PONS_EINVAL);
    }
    pons_schema_destroy(NULL);
}

// {"a":{"a":…{}}}, or the same of arrays, n deep.
static pons_value *nested(int n, bool array)
{
    pons_value *v = json_object();
    for (int i = 0; i < n; i++) {
        if (array) {
            pons_value *up = json_array();
            json_array_append_new(up, v);
            v = up;
        } else {
            v = pons_object("a", v, NULL);
        }
    }
    return v;
}

static void test_depth_is_bounded(void **state)
{
    (void)state;
    pons_schema *s = schema_of("{\"properties\":{\"a\":{\"$ref\":\"#\"}}}");
    pons_autovalue shallow = nested(60, false);
    pons_autovalue deep = nested(200, false);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_schema_check(s, shallow, &err), PONS_OK);
    assert_int_equal(pons_schema_check(s, deep, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "nested deeper than 128"));
    pons_schema_destroy(s);

    pons_autovalue endless = nested(200, true); // as a schema: {"items":{"items":…
    pons_value *schema = json_object();
    for (int i = 0; i < 200; i++) {
        schema = pons_object("items", schema, NULL);
    }
    pons_schema *none = NULL;
    assert_int_equal(pons_schema_compile(schema, &none, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "nested deeper than 128"));
    pons_value_unref(schema);
}

// Two alternatives that both go into the same member: without a bound, 2^60 visits.
static void test_work_is_bounded(void **state)
{
    (void)state;
    pons_schema *s =
        schema_of("{\"anyOf\":[{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"x\"]},"
                  "{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"y\"]}]}");
    pons_value *v = json("{\"x\":1,\"a\":{}}");
    for (int i = 0; i < 50; i++) {
        v = pons_object("x", json_integer(1), "y", json_integer(1), "a", v, NULL);
    }
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_schema_check(s, v, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "too much to check"));
    pons_value_unref(v);
    pons_schema_destroy(s);
}

static void fails(const char *schema, pons_value *v, const char *why) // takes v
{
    pons_schema *s = schema_of(schema);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_schema_check(s, v, &err), PONS_EINVAL);
    if (!strstr(err.message, why)) {
        fail_msg("%s says %s, not %s", schema, err.message, why);
    }
    pons_value_unref(v);
    pons_schema_destroy(s);
}

static pons_value *letters(char c, size_t n)
{
    char *text = malloc(n);
    memset(text, c, n);
    pons_value *v = json_stringn(text, n);
    free(text);
    return v;
}

// Patterns that a matcher which backtracks, or one that begins anew at each letter, would be at for
// longer than anybody waits. One of them is no match, wherever it stands.
static void test_patterns_are_bounded(void **state)
{
    (void)state;
    fails("{\"pattern\":\"^(a|aa|aaa)*[bc]$\"}", letters('a', 5000), "too much to check against");
    fails("{\"pattern\":\"(x+x+)+y\"}", letters('x', 5000), "too much to check against");
    fails("{\"not\":{\"pattern\":\"^(a|aa|aaa)*[bc]$\"}}", letters('a', 5000), "too much to check");
    fails("{\"pattern\":\"(a|b)*a(a|b){12}c\"}", letters('a', 100000), "too much to check against");
    pons_value *many = json_array();
    for (int i = 0; i < 10000; i++) {
        json_array_append_new(many, letters('a', 200));
    }
    fails("{\"items\":{\"pattern\":\"^(a|aa|aaa)*[bc]$\"}}", many, "too much to check against");
}

// Work that is in no rule: values that are compared.
static void test_comparisons_are_bounded(void **state)
{
    (void)state;
    enum { WORDS = 50000 };
    pons_value *words = json_array(), *items = json_array(), *chain = json_object();
    for (int i = 0; i < WORDS; i++) {
        json_array_append_new(words, json_sprintf("word%d", i));
        json_array_append_new(items, json_string("word49999"));
    }
    pons_value *v = pons_object("items", pons_object("enum", words, NULL), NULL);
    pons_schema *s = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_schema_compile(v, &s, &err), PONS_OK);
    assert_int_equal(pons_schema_check(s, items, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "too much to check"));
    pons_schema_destroy(s);
    pons_value_unref(v);
    pons_value_unref(items);
    // And names that are looked for while it is compiled.
    pons_value *names = json_array();
    for (int i = 0; i < WORDS; i++) {
        char name[16], next[32];
        snprintf(name, sizeof name, "d%d", i);
        snprintf(next, sizeof next, "#/$defs/d%d", i + 1);
        json_object_set_new(
            chain, name, pons_object("items", pons_object("$ref", json_string(next), NULL), NULL));
        json_array_append_new(names, json_string(name));
    }
    json_object_set_new(chain, "d50000", json_true());
    v = pons_object("$defs", chain, "required", names, "items",
                    pons_object("$ref", json_string("#/$defs/d0"), NULL), NULL);
    assert_int_equal(pons_schema_compile(v, &s, &err), PONS_OK);
    pons_schema_destroy(s);
    pons_value_unref(v);
}

typedef struct seen {
    int n;
    char text[4096];
} seen;

static void see(void *user, const char *pointer, const char *message)
{
    seen *s = user;
    s->n++;
    const size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof s->text - used, "%s|%s\n", pointer, message);
}

static void test_all_faults_are_told(void **state)
{
    (void)state;
    pons_schema *s = schema_of("{\"properties\":{\"a\":{\"type\":\"string\"},"
                               "\"b\":{\"minimum\":1,\"multipleOf\":2}},\"required\":[\"c\"],"
                               "\"additionalProperties\":false}");
    pons_autovalue v = json("{\"a\":1,\"b\":-1,\"q\":0}");
    seen all = {0};
    assert_int_equal(pons_schema_faults(s, v, see, &all), PONS_EINVAL);
    assert_string_equal(all.text, "|missing property 'c'\n"
                                  "/a|expected string, found integer 1\n"
                                  "/b|expected a number at least 1, found integer -1\n"
                                  "/b|expected a multiple of 2, found integer -1\n"
                                  "/q|unknown property, expected one of: a, b\n");
    pons_schema_destroy(s);

    s = schema_of("{\"items\":{\"type\":\"string\"}}");
    pons_value *many = json_array();
    for (int i = 0; i < 100; i++) {
        json_array_append_new(many, json_integer(i));
    }
    all = (seen){0};
    assert_int_equal(pons_schema_faults(s, many, see, &all), PONS_EINVAL);
    assert_int_equal(all.n, 32);
    json_array_clear(many);
    all = (seen){0};
    assert_int_equal(pons_schema_faults(s, many, see, &all), PONS_OK);
    assert_int_equal(all.n, 0);
    pons_value_unref(many);
    pons_schema_destroy(s);
}

static void test_yaml_faults_have_positions(void **state)
{
    (void)state;
    static const char text[] = "name: house\n"
                               "zones:\n"
                               "  - id: kitchen\n"
                               "    target: {x: 1, y: two}\n";
    static const struct {
        const char *schema, *source;
    } cases[] = {
        {"{\"properties\":{\"zones\":{\"items\":{\"properties\":{\"target\":{\"properties\":"
         "{\"y\":{\"type\":\"number\"}}}}}}}}",
         "house.yaml:4:23"},
        {"{\"properties\":{\"zones\":{\"items\":{\"required\":[\"polygon\"]}}}}", "house.yaml:3:5"},
        {"{\"properties\":{\"name\":{\"maxLength\":3}}}", "house.yaml:1:7"},
        {"{\"required\":[\"bounds\"]}", "house.yaml:1:1"},
    };
    pons_yaml *y = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_yaml_parse(text, strlen(text), "house.yaml", &y, &err), PONS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_schema *s = schema_of(cases[i].schema);
        assert_int_equal(pons_schema_check_yaml(s, y, &err), PONS_EINVAL);
        assert_string_equal(err.source, cases[i].source);
        pons_schema_destroy(s);
    }
    pons_schema *any = schema_of("true");
    assert_int_equal(pons_schema_check_yaml(any, y, &err), PONS_OK);
    pons_schema_destroy(any);
    pons_yaml_destroy(y);
}

static void test_a_shipped_schema_is_found(void **state)
{
    (void)state;
    pons_schema *s = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue wrong = pons_object("no_such_key", json_true(), NULL);
    assert_int_equal(pons_schema_shipped("schemas/gazebo.json", &s, &err), PONS_OK);
    assert_int_equal(pons_schema_check(s, wrong, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "no_such_key"));
    pons_schema *const was = s;
    assert_int_equal(pons_schema_shipped("schemas/none.json", &s, &err), PONS_ENOTFOUND);
    assert_non_null(strstr(err.message, "schemas/none.json"));
    assert_ptr_equal(s, was);
    pons_schema_destroy(s);
}

// The schema keeps its own reference: the caller's may go.
static void test_schema_outlives_its_source(void **state)
{
    (void)state;
    pons_value *v = json("{\"enum\":[\"a\",\"b\"],\"pattern\":\"^[ab]$\"}");
    pons_schema *s = NULL;
    assert_int_equal(pons_schema_compile(v, &s, NULL), PONS_OK);
    pons_value_unref(v);
    pons_autovalue a = json("\"a\"");
    assert_int_equal(pons_schema_check(s, a, NULL), PONS_OK);
    pons_schema_destroy(s);
}

static void test_long_texts_are_cut_at_characters(void **state)
{
    (void)state;
    pons_schema *s = schema_of("{\"additionalProperties\":{\"type\":\"integer\"}}");
    char key[1200] = "", text[1600];
    while (strlen(key) < 900) {
        strcat(key, "\xe4\xb8\xad");
    }
    snprintf(text, sizeof text, "{\"%s\":\"%.300s\"}", key, key);
    pons_autovalue v = json(text);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_schema_check(s, v, &err), PONS_EINVAL);
    pons_value *back = json_string(err.message); // NULL unless valid UTF-8
    assert_non_null(back);
    assert_non_null(strstr(err.message, ": expected integer, found string \""));
    json_decref(back);
    pons_schema_destroy(s);
}

static void *check_often(void *arg)
{
    const pons_schema *s = arg;
    pons_value *good = json("[{\"op\":\"dispatch\",\"skill\":\"go\"}]");
    pons_value *bad = json("[{\"op\":\"fly\"}]");
    size_t wrong = 0;
    for (int i = 0; i < 200; i++) {
        wrong += pons_schema_check(s, good, NULL) != PONS_OK;
        wrong += pons_schema_check(s, bad, NULL) != PONS_EINVAL;
    }
    pons_value_unref(good);
    pons_value_unref(bad);
    return wrong ? arg : NULL;
}

static void test_threads_share_a_schema(void **state)
{
    (void)state;
    pons_schema *s = schema_of(OPS);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, check_often, s), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    pons_schema_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_refused_schemas),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_work_is_bounded),
        cmocka_unit_test(test_patterns_are_bounded),
        cmocka_unit_test(test_comparisons_are_bounded),
        cmocka_unit_test(test_all_faults_are_told),
        cmocka_unit_test(test_yaml_faults_have_positions),
        cmocka_unit_test(test_a_shipped_schema_is_found),
        cmocka_unit_test(test_schema_outlives_its_source),
        cmocka_unit_test(test_long_texts_are_cut_at_characters),
        cmocka_unit_test(test_threads_share_a_schema),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("base/schema", tests, NULL, NULL);
}
