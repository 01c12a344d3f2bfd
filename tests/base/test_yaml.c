// test_yaml.c - which YAML is accepted, as what value, and where each complaint points.
//
// Tables: texts with their value as a canonical dump, texts that are refused with position and
// message, positions of nodes by JSON pointer. Then limits, files, and proof that the parser below
// says nothing on stderr.
#include "pons/buf.h"
#include "pons/random.h"
#include "pons/yaml.h"
#include "pons/yaml_tree.h"
#include "rounds.h"
#include "unit.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *text, *dump;
} accepted[] = {
    {"a: 1\nb: [x, 'y', \"z\"]\n", "{\"a\":1,\"b\":[\"x\",\"y\",\"z\"]}"},
    {"a:\n  - 1\n  - b: 2\n    c: 3\n", "{\"a\":[1,{\"b\":2,\"c\":3}]}"},
    {"plain", "\"plain\""},
    {"--- a\n...\n# the end\n", "\"a\""},
    {"---\n", "null"},
    {"%YAML 1.2\n---\na: 1\n", "{\"a\":1}"},
    {"%TAG !y! tag:yaml.org,2002:\n---\na: !y!str 1\n", "{\"a\":\"1\"}"},
    {"\xef\xbb\xbf"
     "a: 1\n",
     "{\"a\":1}"},
    {"a: 1\r\nb: 2\r\n", "{\"a\":1,\"b\":2}"},
    // the core schema of YAML 1.2
    {"[null, Null, NULL, ~, ]", "[null,null,null,null]"},
    {"a:\nb: ''\n", "{\"a\":null,\"b\":\"\"}"},
    {"[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]"},
    {"[tRue, nULL, yes, no, on, off, y, n]",
     "[\"tRue\",\"nULL\",\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\"]"},
    {"[0, -0, +7, 007, 0o17, 0x1F, -9223372036854775808, 9223372036854775807]",
     "[0,0,7,7,15,31,-9223372036854775808,9223372036854775807]"},
    {"[0o8, 0xg, 0b1, 1_000, -0x1, 12:30:45, 2001-01-01, 1-, --1]",
     "[\"0o8\",\"0xg\",\"0b1\",\"1_000\",\"-0x1\",\"12:30:45\",\"2001-01-01\",\"1-\",\"--1\"]"},
    {"[0., .5, -.5, 1.5, +1.5, 1e3, 1E+3, 1.5e-3, 12.e2]",
     "[0.0,0.5,-0.5,1.5,1.5,1000.0,1000.0,0.0015,1200.0]"},
    {"[., .e3, 1e, 1e+, 1.5.2, e3, +]", "[\".\",\".e3\",\"1e\",\"1e+\",\"1.5.2\",\"e3\",\"+\"]"},
    {"['1', \"true\", 'null', '~', '.nan']", "[\"1\",\"true\",\"null\",\"~\",\".nan\"]"},
    // tags of the core schema
    {"[!!str 1, !!str true, !!str , ! 1, !!int 1, !!int '1', !!float 1, !!float '1.5']",
     "[\"1\",\"true\",\"\",\"1\",1,1,1.0,1.5]"},
    {"[!!bool true, !!bool 'false', !!null null, !!null '', !!seq [], !!map {}]",
     "[true,false,null,null,[],{}]"},
    {"!!map\n!!str a: 1\n", "{\"a\":1}"},
    // strings
    {"a: |\n  one\n  two\nb: >-\n  one\n  two\n", "{\"a\":\"one\\ntwo\\n\",\"b\":\"one two\"}"},
    {"a: \"\\u4e2d\\x41\\n\\\"\"\nb: 'it''s'\n", "{\"a\":\"\xe4\xb8\xad"
                                                 "A\\n\\\"\",\"b\":\"it's\"}"},
    {"\xe5\x8e\xa8\xe6\x88\xbf: \xe5\x8e\xa8\xe6\x88\xbf # \xe6\xb3\xa8\n",
     "{\"\xe5\x8e\xa8\xe6\x88\xbf\":\"\xe5\x8e\xa8\xe6\x88\xbf\"}"},
    {"a: word1\n  word2\n", "{\"a\":\"word1 word2\"}"},
    // keys are strings
    {"1: a\ntrue: b\nnull: c\n'': d\n\"<<\": e\n",
     "{\"\":\"d\",\"1\":\"a\",\"<<\":\"e\",\"null\":\"c\",\"true\":\"b\"}"},
    {"{a: 1, \"b\":2, ? c : 3, d}", "{\"a\":1,\"b\":2,\"c\":3,\"d\":null}"},
    {"[a: 1, b]", "[{\"a\":1},\"b\"]"},
    {"? a\n: b\n", "{\"a\":\"b\"}"},
    {"- - 1\n  - 2\n- - 3\n", "[[1,2],[3]]"},
    // JSON is YAML
    {"{\"a\": [1, 2.5, \"\\u00e9\", null, true, {}], \"b\": {}}",
     "{\"a\":[1,2.5,\"\xc3\xa9\",null,true,{}],\"b\":{}}"},
};

static void test_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        pons_yaml *y = NULL;
        pons_error err = PONS_ERROR_INIT;
        const char *text = accepted[i].text;
        if (pons_yaml_parse(text, strlen(text), "t", &y, &err) != PONS_OK) {
            fail_msg("%s [%s]: %s", err.message, err.source, text);
        }
        char *dump = NULL;
        assert_true(pons_value_dump(pons_yaml_value(y), &dump) >= 0);
        if (strcmp(dump, accepted[i].dump) != 0) {
            fail_msg("%s gives %s", text, dump);
        }
        free(dump);
        pons_yaml_destroy(y);
    }
}

#define MANY "[[[[[[[[[[[[[[[["

static const struct {
    const char *text, *source, *message; // message NULL: the parser's own words
} refused[] = {
    {"", "t:1:1", "no document: the text is empty"},
    {"# only this\n\n", "t:1:1", "no document: the text is empty"},
    // what pons leaves out of YAML
    {"a: &x 1\n", "t:1:7", "anchors are not supported"},
    {"&x a: 1\n", "t:1:4", "anchors are not supported"},
    {"a: &x\n  b: 1\n", "t:2:3", "anchors are not supported"},
    {"a: 1\nb: *x\n", "t:2:5", "aliases are not supported"},
    {"a: 1\n<<: {b: 2}\n", "t:2:1", "merge keys are not supported"},
    {"a: 1\n---\nb: 2\n", "t:2:1", "more than one document"},
    {"a: 1\n...\nb: 2\n", "t:3:1", "more than one document"},
    {"%YAML 1.1\n---\na: 1\n", "t:2:1", "YAML 1.1; only YAML 1.2 is supported"},
    // keys
    {"a: 1\nb: 2\na: 3\n", "t:3:1", "duplicate key 'a', first at line 1"},
    {"z: {a: {x: 1, y: [1, 2]}, b: 1,\n   'b': 2}\n", "t:2:4",
     "duplicate key 'b', first at line 1"},
    {"- a: 1\n  b:\n    c: [1, {d: 2}]\n  e: 1\n  b: 2\n", "t:5:3",
     "duplicate key 'b', first at line 3"},
    {"? [a]\n: b\n", "t:1:3", "a key must be a scalar"},
    {"{{a: 1}: b}\n", "t:1:2", "a key must be a scalar"},
    {": b\n", "t:1:1", "an empty key"},
    {"!!int 1: b\n", "t:1:7", "unsupported tag 'tag:yaml.org,2002:int' on a key"},
    {"\"a\\0b\": 1\n", "t:1:1", "a zero character in a string"},
    // scalars
    {"a: .nan\n", "t:1:4", ".nan is not a number that JSON can hold"},
    {"a: [1, -.inf]\n", "t:1:8", "-.inf is not a number that JSON can hold"},
    {"a: 9223372036854775808\n", "t:1:4", "integer out of range: 9223372036854775808"},
    {"a: 0xffffffffffffffff\n", "t:1:4", "integer out of range: 0xffffffffffffffff"},
    {"a: 1e999\n", "t:1:4", "number out of range: 1e999"},
    {"a: \"x\\0y\"\n", "t:1:4", "a zero character in a string"},
    // tags
    {"a: !foo 1\n", "t:1:9", "unsupported tag '!foo'"},
    {"a: !!binary aGk=\n", "t:1:13", "unsupported tag 'tag:yaml.org,2002:binary'"},
    {"a: !!int x\n", "t:1:10", "'x' is not of type int"},
    {"a: !!bool yes\n", "t:1:11", "'yes' is not of type bool"},
    {"a: !!null 0\n", "t:1:11", "'0' is not of type null"},
    {"a: !!float 0x1f\n", "t:1:12", "'0x1f' is not of type float"},
    {"!!seq {a: 1}\n", "t:1:7", "unsupported tag 'tag:yaml.org,2002:seq'"},
    {"!!set {a, b}\n", "t:1:7", "unsupported tag 'tag:yaml.org,2002:set'"},
    // encoding
    {"a: \xff\n", "t:1:4", "not UTF-8: byte 0xff"},
    {"a: 1\n\xe4\xb8\xad: \xc3(\n", "t:2:4", "not UTF-8: byte 0xc3"},
    {"\xff\xfe"
     "a",
     "t:1:1", "not UTF-8: byte 0xff"},
    {"a: \xed\xa0\x80\n", "t:1:4", "not UTF-8: byte 0xed"},
    // syntax: libfyaml's words
    {"a: [1, 2\nb: 3\n", "t:3:1", NULL},
    {"a:\n\t- b\n", "t:2:1", NULL},
    {"a: 'x", "t:1:5", NULL},
    {"a: b: c\n", "t:1:5", NULL},
    {"a: @x\n", "t:1:4", NULL},
    {"a: `x`\n", "t:1:4", NULL},
    {"a: 1\n  b: 2\n", "t:1:4", NULL},
    {"- a\nb: 1\n", "t:2:1", NULL},
    {"a: \"\\q\"\n", "t:1:5", NULL},
    {"a: }\n", "t:1:4", NULL},
    {"a: \xe4\xb8\xad\nb: [\xe4\xb8\xad\xe4\xb8\xad, }\n", "t:2:9", NULL},
    {"{a: 1\n", "t:2:1", NULL},
    {"a: %x\n", "t:1:4", NULL},
    {"a: |x\n", "t:1:5", NULL},
    {"a: 1\n b: 2\nc\n", "t:1:4", NULL},
    {"!<bad a: 1\n", "t:1:6", NULL},
    // nesting
    {MANY MANY MANY MANY "[", "t:1:65", "nested deeper than 64"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *text = refused[i].text;
        pons_yaml *y = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (pons_yaml_parse(text, strlen(text), "t", &y, &err) != PONS_EINVAL) {
            fail_msg("accepted: %s", text);
        }
        assert_null(y);
        assert_int_equal(err.status, PONS_EINVAL);
        assert_string_equal(err.module, "yaml");
        if (strcmp(err.source, refused[i].source) != 0) {
            fail_msg("at %s, not %s: %s: %s", err.source, refused[i].source, err.message, text);
        }
        if (refused[i].message && strcmp(err.message, refused[i].message) != 0) {
            fail_msg("says '%s', not '%s': %s", err.message, refused[i].message, text);
        }
        assert_true(err.message[0]);
        assert_int_equal(pons_yaml_parse(text, strlen(text), "t", &y, NULL), PONS_EINVAL);
    }
    pons_yaml *y = NULL;
    assert_int_equal(pons_yaml_parse("a: \0b", 5, "t", &y, NULL), PONS_EINVAL);
    pons_yaml_destroy(NULL);
}

static void test_positions(void **state)
{
    (void)state;
    static const char text[] = "# a house\n"
                               "name: house\n"
                               "zones:\n"
                               "  - id: kitchen\n"
                               "    names: {zh: [\xe5\x8e\xa8\xe6\x88\xbf], en: [kitchen]}\n"
                               "  -\n"
                               "    id: hall\n"
                               "    target:\n"
                               "a/b:\n"
                               "  ~: {'': 1}\n"
                               "matrix: [[1, 2], [3, 4],\n"
                               "  [5,\n"
                               "   6]]\n"
                               "last: \"x\"\n";
    static const struct {
        const char *pointer, *position;
    } cases[] = {
        {"", "house.yaml:2:1"},
        {"/name", "house.yaml:2:7"},
        {"/zones", "house.yaml:4:3"},
        {"/zones/0", "house.yaml:4:5"},
        {"/zones/0/id", "house.yaml:4:9"},
        {"/zones/0/names/zh", "house.yaml:5:17"},
        {"/zones/0/names/en/0", "house.yaml:5:28"},
        {"/zones/1/id", "house.yaml:7:9"},
        {"/zones/1/target", "house.yaml:8:5"}, // no value: where its key is
        {"/a~1b", "house.yaml:10:3"},
        {"/a~1b/~0", "house.yaml:10:6"},
        {"/a~1b/~0/", "house.yaml:10:11"},
        {"/matrix/1/1", "house.yaml:11:22"},
        {"/matrix/2/0", "house.yaml:12:4"},
        {"/matrix/2/1", "house.yaml:13:4"},
        {"/last", "house.yaml:14:7"},
        // what is not there: the nearest ancestor
        {"/zones/0/polygon", "house.yaml:4:5"},
        {"/zones/7/id", "house.yaml:4:3"},
        {"/zones/-1", "house.yaml:4:3"},
        {"/zones/x", "house.yaml:4:3"},
        {"/zones/99999999999999999999", "house.yaml:4:3"},
        {"/name/x/y", "house.yaml:2:7"},
        {"/nothing", "house.yaml:2:1"},
        {"not a pointer", "house.yaml:2:1"},
    };
    pons_yaml *y = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_yaml_parse(text, strlen(text), "house.yaml", &y, &err), PONS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char position[64];
        assert_ptr_equal(pons_yaml_position(y, cases[i].pointer, position, sizeof position),
                         position);
        if (strcmp(position, cases[i].position) != 0) {
            fail_msg("%s is at %s, not %s", cases[i].pointer, position, cases[i].position);
        }
    }
    // Of a name that does not fit, the end and the position stay.
    char small[12];
    assert_string_equal(pons_yaml_position(y, "/last", small, sizeof small), "e.yaml:14:7");
    assert_string_equal(pons_yaml_position(y, "/last", small, 4), "hou");
    pons_yaml_destroy(y);
}

static void test_limits(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    pons_yaml *y = NULL;
    pons_error err = PONS_ERROR_INIT;
    char *text = malloc(4 * MIB + 1);
    memset(text, 'x', 4 * MIB + 1);
    assert_int_equal(pons_yaml_parse(text, 4 * MIB + 1, "t", &y, &err), PONS_EINVAL);
    assert_string_equal(err.message, "larger than 4 MiB");
    memset(text, '#', 4 * MIB); // of the right size: a comment and a value
    memcpy(text, "a #", 3);
    assert_int_equal(pons_yaml_parse(text, 4 * MIB, "t", &y, &err), PONS_OK);
    pons_yaml_destroy(y);
    y = NULL;
    memset(text, '[', MIB);
    assert_int_equal(pons_yaml_parse(text, MIB, "t", &y, &err), PONS_EINVAL);
    for (int i = 0; i < 64; i++) {
        text[i] = '[';
        text[127 - i] = ']';
    }
    assert_int_equal(pons_yaml_parse(text, 128, "t", &y, &err), PONS_OK);
    pons_yaml_destroy(y);
    free(text);
}

static void says(const char *text, size_t len, const char *want, const char *at)
{
    pons_yaml *y = NULL;
    pons_tree t = {.n = 0};
    pons_error err = PONS_ERROR_INIT, of_tree = PONS_ERROR_INIT;
    const int rc = pons_yaml_parse(text, len, "t", &y, &err);
    assert_int_equal(rc, want ? PONS_EINVAL : PONS_OK);
    assert_int_equal(pons_tree_parse(text, len, &t, &of_tree), rc);
    if (want) {
        assert_string_equal(err.message, want);
        assert_string_equal(of_tree.message, want);
        assert_string_equal(err.source, at);
        assert_string_equal(of_tree.source, at + 2);
    }
    pons_yaml_destroy(y);
    pons_tree_fini(&t);
}

// What libfyaml needs the square of its length for is refused before it is given to it: 64 KB of blank lines in a block
// took it 2.7 s, a line of as many percent signs 4.8 s, and twice as much four times as long.
static void test_what_would_take_too_long(void **state)
{
    (void)state;
    static const char blank[] = "more than 256 blank lines, one after another",
                      many[] = "more than 16 directives (lines that begin with %)",
                      wide[] = "a directive (a line that begins with %) of more than 256 bytes";
    static const struct {
        const char *head, *piece;
        int n;
        const char *tail, *says, *at;
    } rows[] = {
        {"a: |\n  x\n", "\n", 256, "  y\n", NULL, NULL},
        {"a: |\n  x\n", "\n", 1 << 20, "  y\n", blank, "t:259:1"},
        {"a: x\n", " \t\r\n", 1 << 18, " y\n", blank, "t:258:1"},
        {"a: x\n", "\r", 1 << 18, " y\n", blank, "t:258:1"},
        {"%", "%", 1 << 20, "", wide, "t:1:1"},
        {"\xef\xbb\xbf%", "%", 1 << 20, "", wide, "t:1:1"},
        {"%YAML 1.2\n", "%TAG ! a\n", 1 << 16, "--- a\n", many, "t:17:1"},
        {"a: \"", "%\\n", 1 << 14, "\"\n", NULL, NULL}, // of a text
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_str(&b, rows[i].head);
        for (int k = 0; k < rows[i].n; k++) {
            pons_buf_str(&b, rows[i].piece);
        }
        pons_buf_str(&b, rows[i].tail);
        says(b.data, b.len, rows[i].says, rows[i].at);
    }
}

static void test_long_names_and_quotes_stay_valid(void **state)
{
    (void)state;
    char name[600] = "", text[3000] = "k: !!int ";
    while (strlen(name) < 500) {
        strcat(name, "\xe4\xb8\xad");
    }
    while (strlen(text) < 2500) {
        strcat(text, "\xe4\xb8\xad");
    }
    for (int skip = 0; skip < 3; skip++) {
        pons_yaml *y = NULL;
        pons_error err = PONS_ERROR_INIT;
        memmove(text + 9 + 1, text + 9, strlen(text + 9) + 1);
        text[9] = 'a';
        assert_int_equal(pons_yaml_parse(text, strlen(text), name, &y, &err), PONS_EINVAL);
        pons_value *message = json_string(err.message), *source = json_string(err.source);
        assert_non_null(message);
        assert_non_null(source);
        assert_non_null(strstr(err.source, ":1:10"));
        json_decref(message);
        json_decref(source);
    }
}

static void test_files(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-yaml-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/w.yaml", dir);
    pons_yaml *y = NULL;
    pons_error err = PONS_ERROR_INIT;
    char expected[128];

    assert_int_equal(pons_yaml_load(path, &y, &err), PONS_ENOTFOUND);
    assert_string_equal(err.source, path);
    assert_int_equal(pons_yaml_load(dir, &y, &err), PONS_EIO);
    assert_string_equal(err.source, dir);
    assert_true(err.cause[0]);

    FILE *f = fopen(path, "w");
    fputs("a: 1\nb: @\n", f);
    fclose(f);
    assert_int_equal(pons_yaml_load(path, &y, &err), PONS_EINVAL);
    snprintf(expected, sizeof expected, "%s:2:4", path);
    assert_string_equal(err.source, expected);

    f = fopen(path, "w"); // longer than one read
    for (int i = 0; i < 3000; i++) {
        fprintf(f, "key%d: {value: %d}\n", i, i);
    }
    fclose(f);
    assert_int_equal(pons_yaml_load(path, &y, &err), PONS_OK);
    assert_int_equal(json_object_size(pons_yaml_value(y)), 3000);
    char position[128];
    snprintf(expected, sizeof expected, "%s:3000:18", path);
    assert_string_equal(pons_yaml_position(y, "/key2999/value", position, sizeof position),
                        expected);
    pons_yaml_destroy(y);

    y = NULL;
    f = fopen(path, "w");
    fclose(f);
    assert_int_equal(pons_yaml_load(path, &y, &err), PONS_EINVAL);
    assert_int_equal(truncate(path, 5 << 20), 0);
    assert_int_equal(pons_yaml_load(path, &y, &err), PONS_EINVAL);
    assert_string_equal(err.message, "larger than 4 MiB");
    assert_null(y);
    unlink(path);
    rmdir(dir);
}

static void test_value_may_outlive_the_document(void **state)
{
    (void)state;
    pons_yaml *y = NULL;
    assert_int_equal(pons_yaml_parse("a: [1]", 6, "t", &y, NULL), PONS_OK);
    pons_autovalue v = pons_value_ref(pons_yaml_value(y));
    pons_yaml_destroy(y);
    assert_int_equal(json_array_size(pons_get(v, "a")), 1);
}

// Damages good texts in seeded ways: never a crash, a leak or a word on stderr.
static void test_damaged_texts(void **state)
{
    (void)state;
    const uint64_t seed = 77;
    print_message("seed %d\n", (int)seed);
    char path[] = "/tmp/pons-yaml-err-XXXXXX";
    const int file = mkstemp(path), saved = dup(STDERR_FILENO);
    assert_true(file >= 0 && saved >= 0);
    dup2(file, STDERR_FILENO);
    pons_rand r;
    pons_rand_seed(&r, seed);
    static const char marks[] = "{}[]:,-?&*!|>'\"%@`#\t\n \\0a1~<";
    int good = 0;
    const int texts = (int)rounds(ROUNDS_base_texts);
    for (int i = 0; i < texts; i++) {
        const size_t which = pons_rand_below(&r, sizeof accepted / sizeof *accepted);
        char text[512];
        snprintf(text, sizeof text, "%s", accepted[which].text);
        const size_t len = strlen(text);
        for (uint64_t n = 1 + pons_rand_below(&r, 3); n > 0; n--) {
            text[pons_rand_below(&r, len)] = marks[pons_rand_below(&r, sizeof marks - 1)];
        }
        pons_yaml *y = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int status = pons_yaml_parse(text, len, "t", &y, &err);
        if (status == PONS_OK) {
            good++;
            pons_yaml_destroy(y);
        } else if (status != PONS_EINVAL || !err.message[0] || strncmp(err.source, "t:", 2) != 0) {
            dup2(saved, STDERR_FILENO);
            fail_msg("%d %s [%s]: %s", status, err.message, err.source, text);
        }
    }
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    struct stat st;
    assert_int_equal(fstat(file, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_true(good > 0 && good < texts);
    close(file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_what_would_take_too_long),
        cmocka_unit_test(test_long_names_and_quotes_stay_valid),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_value_may_outlive_the_document),
        cmocka_unit_test(test_damaged_texts),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("base/yaml", tests, NULL, NULL);
}
