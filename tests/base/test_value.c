// test_value.c - reading, writing, hashing and sharing JSON values.
//
// Tables of bad texts with the position that the error must name; writing checked byte by byte and
// by reading back (seeded random values, both orders of keys); every allocation made to fail once;
// and threads that drop shared values together, for the sanitizers to watch.
#include "pons/buf.h"
#include "pons/random.h"
#include "pons/value.h"
#include "rounds.h"
#include "unit.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED UINT64_C(0x706f6e73)

static pons_value *json(const char *text)
{
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(text, strlen(text), &v, &err) < 0) {
        fail_msg("bad JSON in the test: %s: %s", err.message, text);
    }
    return v;
}

static void assert_dump(const pons_value *v, const char *expected)
{
    char *text = NULL;
    const long n = pons_value_dump(v, &text);
    assert_true(n >= 0);
    assert_string_equal(text, expected);
    assert_int_equal(n, strlen(expected));
    free(text);
}

static const struct {
    const char *text, *source; // source NULL: accepted
} texts[] = {
    {"{}", NULL},
    {" [1, 2.5, \"a\", null, true, false, {}] ", NULL},
    {"3", NULL},
    {"\"\\ud83d\\ude00\"", NULL},
    {"", "1:1"},
    {"   ", "1:3"},
    {"{", "1:1"},
    {"[1,2", "1:4"},
    {"[1,]", "1:4"},
    {"{\"a\":1,}", "1:8"},
    {"{\"a\" 1}", "1:6"},
    {"{a:1}", "1:2"},
    {"{\"a\":1,\"a\":2}", "1:10"},
    {"{\n\"a\":1,\n\"a\":2}", "3:3"},
    {"[1] 2", "1:5"},
    {"{}{}", "1:3"},
    {"\"abc", "1:4"},
    {"\"a\nb\"", "1:2"},
    {"\"\\x\"", "1:3"},
    {"\"\\u12\"", "1:6"},
    {"\"\\ud800\"", "1:8"},
    {"\"a\\u0000b\"", "1:10"},
    {"\"\xff\"", "1:1"},
    {"\"\xc0\xaf\"", "1:1"},
    {"nul", "1:3"},
    {"NaN", "1:3"},
    {"01", "1:1"},
    {"+1", "1:1"},
    {"1.", "1:2"},
    {"1e999", "1:5"},
    {"99999999999999999999", "1:20"},
    {"'a'", "1:1"},
    {"// a comment", "1:1"},
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pons_value *v = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int r = pons_value_parse(texts[i].text, strlen(texts[i].text), &v, &err);
        if (!texts[i].source) {
            assert_int_equal(r, PONS_OK);
        } else {
            if (r != PONS_EINVAL) {
                fail_msg("accepted: %s", texts[i].text);
            }
            assert_null(v);
            assert_int_equal(err.status, PONS_EINVAL);
            assert_true(err.message[0]);
            if (strcmp(err.source, texts[i].source) != 0) {
                fail_msg("%s: at %s, not %s", texts[i].text, err.source, texts[i].source);
            }
            assert_int_equal(pons_value_parse(texts[i].text, strlen(texts[i].text), &v, NULL), r);
        }
        pons_value_unref(v);
    }
}

static void test_length_counts_not_the_zero(void **state)
{
    (void)state;
    pons_autovalue v = NULL;
    assert_int_equal(pons_value_parse("\xef\xbb\xbf[1]garbage", 6, &v, NULL), PONS_OK);
    assert_dump(v, "[1]");
    pons_value *none = NULL;
    assert_int_equal(pons_value_parse("[1]\0", 4, &none, NULL), PONS_EINVAL);
}

static void test_depth_is_bounded(void **state)
{
    (void)state;
    char text[2 * 300 + 1];
    pons_error err = PONS_ERROR_INIT;
    for (size_t n = 256; n <= 257; n++) {
        memset(text, '[', n);
        memset(text + n, ']', n);
        pons_value *v = NULL;
        const int r = pons_value_parse(text, 2 * n, &v, &err);
        assert_int_equal(r, n == 256 ? PONS_OK : PONS_EINVAL);
        pons_value_unref(v);
    }
    assert_string_equal(err.message, "nested deeper than 256");
    assert_string_equal(err.source, "1:257");
    // Brackets in strings do not count.
    memset(text, '[', sizeof text);
    text[0] = '"';
    text[299] = '"';
    pons_autovalue s = NULL;
    assert_int_equal(pons_value_parse(text, 300, &s, &err), PONS_OK);
}

// What is dumped is read: with zero characters, and with more levels than a text from outside may have.
static void test_what_is_kept_is_read(void **state)
{
    (void)state;
    pons_value *v = json_stringn("a\0b", 3), *back = NULL;
    char *text = NULL;
    for (int i = 0; i < PONS_VALUE_DEPTH_MAX; i++) {
        v = pons_object("a", v, NULL);
    }
    assert_true(pons_value_fits(v));
    const long n = pons_value_dump(v, &text);
    assert_true(n > 0);
    assert_int_equal(pons_value_parse(text, (size_t)n, &back, NULL), PONS_EINVAL);
    assert_int_equal(pons_value_read(text, (size_t)n, &back, NULL), PONS_OK);
    assert_true(json_equal(v, back));
    pons_value_unref(back);
    free(text);
    v = pons_object("a", v, NULL);
    assert_false(pons_value_fits(v));
    pons_value_unref(v);
}

static void test_dump_is_canonical(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {" { \"b\" : 1 , \"a\" : [ ] } ", "{\"a\":[],\"b\":1}"},
        {"{\"b\":{\"d\":1,\"c\":2},\"a\":0}", "{\"a\":0,\"b\":{\"c\":2,\"d\":1}}"},
        {"{\"ab\":1,\"a\":2,\"\":3,\"\xc3\xa9\":4,\"z\":5}",
         "{\"\":3,\"a\":2,\"ab\":1,\"z\":5,\"\xc3\xa9\":4}"},
        {"\"\\u0041\\u00e9\\/\\u001f\\b\\f\\n\\r\\t\\\"\\\\\x7f\"",
         "\"A\xc3\xa9/\\u001f\\b\\f\\n\\r\\t\\\"\\\\\x7f\""},
        {"\"0123456789abcdef\\u000b0123456789\\u4e2d\\u6587 and more plain text\"",
         "\"0123456789abcdef\\u000b0123456789\xe4\xb8\xad\xe6\x96\x87 and more plain text\""},
        {"[1.0,-0.0,0.1,1e22,1E-7,123456.789,-2.5,1e5]",
         "[1.0,0.0,0.1,1e+22,1e-07,123456.789,-2.5,100000.0]"},
        {"[0.3,0.30000000000000004,1.7976931348623157e308,5e-324,100000000000000000000.0]",
         "[0.3,0.30000000000000004,1.7976931348623157e+308,5e-324,1e+20]"},
        {"[999999999.999999,1000000000.5,0.0001,0.00001,0.000123]",
         "[999999999.999999,1000000000.5,0.0001,1e-05,0.000123]"},
        {"[9223372036854775807,-9223372036854775808,0,-1]",
         "[9223372036854775807,-9223372036854775808,0,-1]"},
        {"[true,false,null,\"\",{},[]]", "[true,false,null,\"\",{},[]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_autovalue v = json(cases[i].in);
        assert_dump(v, cases[i].out);
    }
    assert_dump(NULL, "null");
}

static void test_line_keeps_order(void **state)
{
    (void)state;
    pons_autovalue v = json("{\"b\":-0.0,\"a\":{\"z\":1,\"y\":[2,3]}}");
    char *text = NULL;
    assert_int_equal(pons_value_line(v, &text), 32);
    assert_string_equal(text, "{\"b\":-0.0,\"a\":{\"z\":1,\"y\":[2,3]}}");
    free(text);
}

static void test_many_keys_are_sorted(void **state)
{
    (void)state;
    // More than fit the stack, in an order that is far from sorted.
    pons_autovalue v = json_object();
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%03d", i * 617 % 1000);
        json_object_set_new(v, key, json_integer(i));
    }
    char *text = NULL;
    assert_true(pons_value_dump(v, &text) > 0);
    const char *last = "";
    for (char *p = strtok(text, "{},"); p; p = strtok(NULL, "{},")) {
        assert_true(strcmp(last, p) < 0);
        last = p;
    }
    free(text);
}

static void test_broken_strings_become_valid(void **state)
{
    (void)state;
    pons_autovalue v = json_string_nocheck("a\xff\xe4\xb8z\xf0\x9f\x98\x80\xed\xa0\x80");
    char *text = NULL;
    assert_true(pons_value_dump(v, &text) > 0);
    pons_autovalue back = json(text);
    assert_string_equal(json_string_value(back), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"
                                                 "\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd"
                                                 "\xef\xbf\xbd");
    free(text);
}

static void test_a_cycle_ends(void **state)
{
    (void)state;
    pons_value *a = json_array(), *b = json_array();
    json_array_append(a, b);
    json_array_append(b, a);
    char *text = NULL;
    assert_int_equal(pons_value_dump(a, &text), PONS_EINVAL);
    assert_null(text);
    json_array_clear(b); // without the cycle both can go
    json_decref(a);
    json_decref(b);
}

// ---- doubles ------------------------------------------------------------------------------------

// The shortest text that reads back, as plain C finds it.
static void reference(double d, char text[40])
{
    for (int digits = fabs(d) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, d);
        if (strtod(text, NULL) == d) {
            break;
        }
    }
    if (!strpbrk(text, ".e")) {
        strcat(text, ".0");
    }
}

static void check_double(double d)
{
    pons_autovalue v = json_real(d);
    char *text = NULL, expected[40];
    reference(d, expected);
    assert_true(pons_value_line(v, &text) > 0);
    assert_string_equal(text, expected);
    assert_true(strtod(text, NULL) == d);
    pons_autovalue back = json(text);
    assert_true(json_is_real(back));
    assert_true(json_real_value(back) == d);
    free(text);
}

static void test_doubles_read_back(void **state)
{
    (void)state;
    static const double special[] = {
        0.0,    1.0,       -1.0, 0.1,         1.0 / 3, DBL_MAX, DBL_MIN,  4.9e-324,
        0x1p53, 1e15,      1e16, 999999999.5, 1e9,     1e-4,    9.999e-5, 123.456,
        2.5e-5, -0.000001, 1e21, 1e22,        1e23,    0.7,     0.000101, 4503599627370497.5};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        check_double(special[i]);
    }
    pons_rand r;
    pons_rand_seed(&r, SEED);
    print_message("seed %" PRIu64 "\n", SEED);
    for (long i = rounds(ROUNDS_base_doubles); i > 0; i--) {
        const uint64_t bits = pons_rand_u64(&r);
        double d;
        memcpy(&d, &bits, sizeof d);
        if (isfinite(d)) {
            check_double(d);
        }
        check_double(pons_rand_normal(&r, 0, 10)); // what sensors give
        check_double(round(pons_rand_normal(&r, 0, 1e4)) / 1000);
        check_double((double)pons_rand_below(&r, 2000000000) / 1e6);
        // Every size, and the edges where the distance to the next double changes.
        const double edge = ldexp(1.0, (int)pons_rand_below(&r, 80) - 20);
        check_double(pons_rand_unit(&r) * edge);
        check_double(edge);
        check_double(nextafter(edge, 0));
        check_double(nextafter(edge, INFINITY));
        // Few binary digits, many decimal ones.
        check_double((double)(pons_rand_u64(&r) >> 11) / (double)(1u << pons_rand_below(&r, 20)));
    }
}

// ---- random values ------------------------------------------------------------------------------

static pons_value *random_value(pons_rand *r, int depth)
{
    static const char *const strings[] = {
        "", "a", "kitchen", "\xe5\x8e\xa8\xe6\x88\xbf", "\x01\n\"\\", "0123456789abcdef"};
    const uint64_t kind = pons_rand_below(r, depth > 4 ? 6 : 8);
    pons_value *v = NULL;
    char key[16];
    switch (kind) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(pons_rand_below(r, 2));
    case 2:
        return json_integer((json_int_t)pons_rand_u64(r));
    case 3:
        return json_real(pons_rand_normal(r, 0, 1000));
    case 4:
        return json_integer((json_int_t)pons_rand_below(r, 100));
    case 5:
        return json_string(strings[pons_rand_below(r, sizeof strings / sizeof *strings)]);
    case 6:
        v = json_array();
        for (uint64_t n = pons_rand_below(r, 6); n > 0; n--) {
            json_array_append_new(v, random_value(r, depth + 1));
        }
        return v;
    default:
        v = json_object();
        for (uint64_t n = pons_rand_below(r, 50); n > 0; n--) {
            snprintf(key, sizeof key, "k%d", (int)pons_rand_below(r, 100));
            json_object_set_new(v, key, random_value(r, depth + 2));
        }
        return v;
    }
}

static void test_random_values_read_back(void **state)
{
    (void)state;
    pons_rand r;
    pons_rand_seed(&r, SEED);
    for (int i = 0; i < 300; i++) {
        pons_autovalue v = random_value(&r, 0);
        char *sorted = NULL, *line = NULL, *again = NULL;
        assert_true(pons_value_dump(v, &sorted) > 0);
        assert_true(pons_value_line(v, &line) > 0);
        pons_autovalue a = json(sorted);
        pons_autovalue b = json(line);
        assert_true(json_equal(a, v) && json_equal(b, v));
        // The order of insertion is gone from the canonical form.
        assert_true(pons_value_dump(b, &again) > 0);
        assert_string_equal(sorted, again);
        char h1[33], h2[33];
        pons_value_hash(v, h1);
        pons_value_hash(a, h2);
        assert_string_equal(h1, h2);
        // The hash is of those bytes.
        uint8_t digest[32];
        pons_sha256(sorted, strlen(sorted), digest);
        for (int j = 0; j < 16; j++) {
            char hex[3];
            snprintf(hex, sizeof hex, "%02x", digest[j]);
            assert_memory_equal(hex, h1 + (ptrdiff_t)2 * j, 2);
        }
        free(sorted);
        free(line);
        free(again);
    }
}

static void test_hash_of_a_long_string(void **state)
{
    (void)state;
    // Longer than the block between two feeds, behind something short.
    for (size_t n = 1000; n < 1050; n++) {
        char *s = malloc(n + 1);
        memset(s, 'x', n);
        s[n] = '\0';
        pons_autovalue v = json_pack("[s, s, s]", "short", s, "after");
        char *text = NULL, hash[33], expected[33];
        const long len = pons_value_dump(v, &text);
        uint8_t digest[32];
        pons_sha256(text, (size_t)len, digest);
        for (int i = 0; i < 16; i++) {
            snprintf(expected + (ptrdiff_t)2 * i, 3, "%02x", digest[i]);
        }
        pons_value_hash(v, hash);
        assert_string_equal(hash, expected);
        free(text);
        free(s);
    }
}

// ---- members ------------------------------------------------------------------------------------

static void test_members_with_defaults(void **state)
{
    (void)state;
    pons_autovalue v = json("{\"s\":\"x\",\"i\":3,\"r\":2.5,\"w\":4.0,\"b\":true,\"n\":null,"
                            "\"big\":1e300}");
    assert_string_equal(pons_get_str(v, "s", "d"), "x");
    assert_string_equal(pons_get_str(v, "i", "d"), "d");
    assert_null(pons_get_str(v, "zz", NULL));
    assert_true(pons_get_num(v, "i", 9) == 3 && pons_get_num(v, "r", 9) == 2.5);
    assert_true(pons_get_num(v, "s", 9) == 9 && pons_get_num(v, "n", 9) == 9);
    assert_int_equal(pons_get_int(v, "i", 9), 3);
    assert_int_equal(pons_get_int(v, "w", 9), 4);
    assert_int_equal(pons_get_int(v, "r", 9), 9);
    assert_int_equal(pons_get_int(v, "big", 9), 9);
    assert_int_equal(pons_get_int(v, "s", 9), 9);
    assert_true(pons_get_bool(v, "b", false));
    assert_true(pons_get_bool(v, "i", true));
    assert_true(json_is_null(pons_get(v, "n")));
    assert_null(pons_get(v, "zz"));
    // Without an object, and with something that is none.
    assert_string_equal(pons_get_str(NULL, "s", "d"), "d");
    assert_int_equal(pons_get_int(NULL, "s", 7), 7);
    assert_true(pons_get_num(pons_get(v, "s"), "s", 7) == 7);
    assert_false(pons_get_bool(NULL, "s", false));
    assert_null(pons_get(NULL, "s"));
}

static void test_object(void **state)
{
    (void)state;
    pons_autovalue v = pons_object("b", json_integer(1), "skip", NULL, "a", json_true(), NULL);
    char *text = NULL;
    pons_value_line(v, &text);
    assert_string_equal(text, "{\"b\":1,\"a\":true}");
    free(text);
    pons_autovalue empty = pons_object("skip", NULL, NULL);
    assert_dump(empty, "{}");
    pons_value *counted = json_array();
    pons_value_ref(counted);
    assert_null(pons_object("\xff", counted, "ok", json_integer(1), NULL));
    pons_value_ref(counted);
    assert_null(pons_object_whole("kept", counted, "lost", NULL, "more", json_integer(1), NULL));
    pons_autovalue some =
        pons_object_whole("a", json_true(), "b", PONS_ABSENT, "c", pons_optional(NULL), NULL);
    assert_int_equal(json_object_size(some), 1);
    assert_int_equal(counted->refcount, 1);
    pons_value_unref(counted);
}

// ---- failing allocations ------------------------------------------------------------------------

static struct {
    int countdown; // the allocation that fails; -1: none does
    int count;
} heap = {.countdown = -1};

static void *failing_malloc(size_t n)
{
    heap.count++;
    if (heap.countdown >= 0 && heap.countdown-- == 0) {
        return NULL;
    }
    return malloc(n);
}

static void test_parse_survives_every_failing_allocation(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,2.5,\"three\",{\"b\":null,\"c\":\"\\u00e9\"}],\"d\":{},"
                               "\"e\":[[],[[]]],\"k1\":1,\"k2\":2,\"k3\":3,\"k4\":4,\"k5\":5,"
                               "\"k6\":6,\"k7\":7,\"k8\":8,\"k9\":9}";
    json_set_alloc_funcs(failing_malloc, free);
    int failures = 0;
    for (int n = 0;; n++) {
        heap.countdown = n;
        pons_value *v = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int r = pons_value_parse(text, strlen(text), &v, &err);
        const bool failed = heap.countdown < 0;
        heap.countdown = -1;
        if (r == PONS_OK) {
            assert_false(failed);
            pons_value_unref(v);
            break;
        }
        assert_true(r == PONS_ENOMEM || r == PONS_EINVAL); // jansson does not always say which
        assert_null(v);
        assert_int_equal(err.status, r);
        failures++;
    }
    assert_true(failures > 20);
    for (int n = 0; n < 12; n++) {
        heap.countdown = -1;
        pons_value *list = json_array();
        pons_value_ref(list);
        heap.countdown = n;
        pons_value *o = pons_object("a", list, "b", json_integer(1), "c", json_string("x"), NULL);
        heap.countdown = -1;
        pons_value_unref(o);
        assert_int_equal(list->refcount, 1);
        pons_value_unref(list);
    }
    json_set_alloc_funcs(malloc, free);
}

// ---- sharing ------------------------------------------------------------------------------------

static void test_references(void **state)
{
    (void)state;
    pons_value_unref(NULL);
    assert_null(pons_value_ref(NULL));
    pons_value *n = json_null();
    assert_ptr_equal(pons_value_ref(n), n);
    pons_value_unref(n);
    pons_value_unref(n);
    assert_true(json_is_null(json_null()));

    // A child that someone else holds survives its containers, whatever the depth.
    pons_value *child = json_pack("{s:[i]}", "x", 1);
    pons_value *top = json_pack("{s:[O, {s:O}], s:O}", "a", child, "b", child, "c", child);
    assert_int_equal(child->refcount, 4);
    pons_value_unref(top);
    assert_int_equal(child->refcount, 1);
    assert_dump(child, "{\"x\":[1]}");
    pons_value_unref(child);

    // A container that holds the same child twice and is its only owner.
    pons_value *twice = json_array();
    pons_value *once = json_string("x");
    json_array_append(twice, once);
    json_array_append_new(twice, once);
    pons_value_unref(twice);
}

enum { THREADS = 4, ROUNDS = 300 };

typedef struct share {
    pthread_barrier_t barrier;
    pons_value *given[THREADS]; // one reference for each thread
} share;

typedef struct share_arg {
    share *s;
    int index;
} share_arg;

static void *use_and_drop(void *arg)
{
    const share_arg *a = arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&a->s->barrier); // values are there
        pons_value *v = a->s->given[a->index];
        char hash[33];
        pons_value_hash(v, hash);
        pons_value *more = pons_value_ref(v);
        pons_value_unref(v);
        pons_value_unref(more);
        pthread_barrier_wait(&a->s->barrier); // all dropped
    }
    return NULL;
}

static void test_threads_drop_together(void **state)
{
    (void)state;
    share s;
    pthread_t threads[THREADS];
    share_arg args[THREADS];
    pthread_barrier_init(&s.barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        args[i] = (share_arg){&s, i};
        assert_int_equal(pthread_create(&threads[i], NULL, use_and_drop, &args[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        // Odd rounds share the value itself, even rounds only what is inside of it.
        pons_value *shared = json_pack("{s:[i, f, s], s:{}}", "list", i, 0.5, "text", "empty");
        for (int t = 0; t < THREADS; t++) {
            s.given[t] =
                i % 2 ? pons_value_ref(shared) : json_pack("[{s:O}, i]", "deep", shared, t);
        }
        pons_value_unref(shared);
        pthread_barrier_wait(&s.barrier);
        pthread_barrier_wait(&s.barrier);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&s.barrier);
}

static void found_by_a_members_text(void **state)
{
    (void)state;
    pons_autovalue list = json_pack("[{s:s, s:i}, {s:i}, n, {s:s, s:i}, {s:s, s:i}]", "id", "a",
                                    "n", 1, "id", 7, "id", "b", "n", 2, "id", "b", "n", 3);
    assert_int_equal(pons_get_int(pons_find(list, "id", "b"), "n", 0), 2); // the first
    assert_null(pons_find(list, "id", "c"));
    assert_null(pons_find(list, "name", "a"));
    assert_null(pons_find(NULL, "id", "a"));
    assert_null(pons_find(json_array_get(list, 0), "id", "a")); // no array
}

// Loops over lists and members: all of them, those until a break, those not passed over, and none of NULL.
static void test_each(void **state)
{
    (void)state;
    const pons_value *none = NULL;
    pons_autovalue list = json_pack("[s,s,s]", "a", "b", "c");
    pons_autovalue map = json_pack("{s:s,s:s,s:s}", "x", "a", "y", "b", "z", "c");
    static const struct {
        const char *skip, *stop, *said;
    } cases[] = {{"", "", "abc"}, {"b", "", "ac"}, {"", "b", "a"}, {"a", "c", "b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_autobuf items = PONS_BUF_INIT, members = PONS_BUF_INIT;
        pons_each(item, list) {
            if (strcmp(json_string_value(item), cases[i].skip) == 0) {
                continue;
            }
            if (strcmp(json_string_value(item), cases[i].stop) == 0) {
                break;
            }
            pons_buf_str(&items, json_string_value(item));
        }
        pons_each_member(key, member, map) {
            if (strcmp(json_string_value(member), cases[i].skip) == 0) {
                continue;
            }
            if (strcmp(json_string_value(member), cases[i].stop) == 0) {
                break;
            }
            assert_int_equal(key[0] - 'x', json_string_value(member)[0] - 'a');
            pons_buf_str(&members, json_string_value(member));
        }
        assert_string_equal(items.data, cases[i].said);
        assert_string_equal(members.data, cases[i].said);
    }
    pons_each(item, none) {
        fail();
    }
    pons_each_member(key, member, none) {
        fail_msg("%s", key);
    }
    pons_each(outer, list) { // a break of the inner loop is none of the outer one
        pons_each(inner, list) {
            if (inner != outer) {
                break;
            }
            assert_ptr_equal(outer, json_array_get(list, 0));
        }
    }
    assert_true(pons_list_has(list, "c"));
    assert_false(pons_list_has(list, "d") || pons_list_has(NULL, "a") || pons_list_has(map, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_length_counts_not_the_zero),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_what_is_kept_is_read),
        cmocka_unit_test(test_dump_is_canonical),
        cmocka_unit_test(test_line_keeps_order),
        cmocka_unit_test(test_many_keys_are_sorted),
        cmocka_unit_test(test_broken_strings_become_valid),
        cmocka_unit_test(test_a_cycle_ends),
        cmocka_unit_test(test_doubles_read_back),
        cmocka_unit_test(test_random_values_read_back),
        cmocka_unit_test(test_hash_of_a_long_string),
        cmocka_unit_test(test_members_with_defaults),
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_parse_survives_every_failing_allocation),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_threads_drop_together),
        cmocka_unit_test(found_by_a_members_text),
        cmocka_unit_test(test_each),
    };
    pons_value_init();
    pons_value_init();
    return cmocka_run_group_tests_name("base/value", tests, NULL, NULL);
}
