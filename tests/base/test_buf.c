// test_buf.c - bytes and texts: appending, taking, reading back; and the text of a time.
#include "pons/buf.h"
#include "pons/clock.h"
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_append(void **state)
{
    (void)state;
    pons_autobuf b = PONS_BUF_INIT;
    assert_int_equal(pons_buf_str(&b, "one"), PONS_OK);
    assert_int_equal(pons_buf_byte(&b, ' '), PONS_OK);
    assert_int_equal(pons_buf_bytes(&b, "two\0three", 9), PONS_OK);
    assert_int_equal(pons_buf_bytes(&b, NULL, 0), PONS_OK);
    assert_int_equal(pons_buf_printf(&b, "-%d-%s", 42, "x"), PONS_OK);
    assert_int_equal(b.len, 18);
    assert_memory_equal(b.data, "one two\0three-42-x", 19);
    pons_buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
    for (int i = 0; i < 5000; i++) {
        pons_buf_printf(&b, "%d,", i);
    }
    assert_int_equal(strlen(b.data), b.len);
    assert_string_equal(b.data + b.len - 5, "4999,");
}

static void test_take(void **state)
{
    (void)state;
    pons_buf b;
    pons_buf_init(&b);
    size_t len = 99;
    char *text = pons_buf_take(&b, &len); // nothing was ever appended
    assert_string_equal(text, "");
    assert_int_equal(len, 0);
    free(text);
    pons_buf_str(&b, "abc");
    text = pons_buf_take(&b, NULL);
    assert_string_equal(text, "abc");
    free(text);
    assert_int_equal(b.len, 0);
    assert_null(b.data);
    pons_buf_fini(&b);
    pons_buf_fini(&b);
    pons_buf_fini(NULL);
}

static void test_failure_sticks(void **state)
{
    (void)state;
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_str(&b, "kept");
    assert_int_equal(pons_buf_reserve(&b, SIZE_MAX - 2), PONS_ENOMEM);
    assert_true(b.failed);
    assert_int_equal(pons_buf_byte(&b, 'x'), PONS_ENOMEM);
    assert_int_equal(pons_buf_printf(&b, "x"), PONS_ENOMEM);
    assert_null(pons_buf_take(&b, NULL));
    assert_memory_equal(b.data, "kept", 5);
    pons_buf_clear(&b);
    assert_int_equal(pons_buf_byte(&b, 'x'), PONS_OK);
}

static void test_bad_input(void **state)
{
    (void)state;
    pons_bufread in = pons_bufread_of("abc", 3);
    assert_memory_equal(pons_bufread_bytes(&in, 2), "ab", 2);
    assert_null(pons_bufread_bytes(&in, 2));
    assert_true(in.bad);
    in = pons_bufread_of("abc", 3);
    assert_null(pons_bufread_bytes(&in, SIZE_MAX));
    in = pons_bufread_of(NULL, 0);
    assert_null(pons_bufread_bytes(&in, 1));
    assert_true(in.bad);
}

// The test vectors of RFC 4648, section 10, and digits of both ends of the alphabet.
static void test_base64(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *text;
    } cases[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"},
                 {"\xfb\xff\xbf\xff", "+/+//w=="}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pons_autobuf b = PONS_BUF_INIT;
        assert_int_equal(pons_buf_base64(&b, cases[i].bytes, strlen(cases[i].bytes)), PONS_OK);
        assert_int_equal(b.len, strlen(cases[i].text));
        assert_string_equal(b.data, cases[i].text);
        pons_buf_clear(&b);
        assert_int_equal(pons_buf_unbase64(&b, cases[i].text, strlen(cases[i].text)), PONS_OK);
        assert_int_equal(b.len, strlen(cases[i].bytes));
        assert_memory_equal(b.data ? b.data : "", cases[i].bytes, b.len);
    }
    static const char *const none[] = {
        "Z", "Zg=", "Zg", "====", "Z===", "Zm=v", "Zm9v=", "Zm 9v", "Zm9-"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_str(&b, "was");
        assert_int_equal(pons_buf_unbase64(&b, none[i], strlen(none[i])), PONS_EINVAL);
        assert_string_equal(b.data, "was");
    }
}

// Whatever stands at whatever place, behind text of one byte or more a character.
static void test_utf8_valid(void **state)
{
    (void)state;
    char text[32];
    for (size_t at = 0; at < 20; at++) {
        memset(text, 'a', sizeof text);
        assert_int_equal(pons_utf8_valid(text, at), at);
        memcpy(text + at, "\xe5\x8e\xa8", 3);
        assert_int_equal(pons_utf8_valid(text, 23), 23);
        assert_int_equal(pons_utf8_valid(text, at + 2), at); // cut
        text[22] = '\0';
        assert_int_equal(pons_utf8_valid(text, 23), at < 20 && at + 3 > 22 ? at : 22);
        text[at + 2] = 'a';
        assert_int_equal(pons_utf8_valid(text, 23), at);
        text[at] = '\x80';
        assert_int_equal(pons_utf8_valid(text, 23), at);
    }
}

// A step of a JSON pointer (RFC 6901, section 3), and a text cut between characters.
static void test_pointer_and_copy(void **state)
{
    (void)state;
    static const struct {
        const char *key, *pointer;
    } keys[] = {{"", "/"}, {"plain", "/plain"}, {"a/b", "/a~1b"}, {"m~n", "/m~0n"}, {"~1", "/~01"}};
    static const struct {
        const char *text;
        size_t cap;
        const char *copy;
    } texts[] = {{"abc", 8, "abc"}, {"abc", 3, "ab"},  {"a厨房", 5, "a厨"},
                 {"a厨房", 4, "a"}, {"x\xff", 8, "x"}, {"y", 1, ""}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        pons_autobuf b = PONS_BUF_INIT;
        assert_int_equal(pons_buf_pointer(&b, keys[i].key, strlen(keys[i].key)), PONS_OK);
        assert_string_equal(b.data, keys[i].pointer);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char copy[8];
        pons_utf8_copy(copy, texts[i].cap, texts[i].text);
        assert_string_equal(copy, texts[i].copy);
    }
}

// UTC, by seconds.
static void test_utc(void **state)
{
    (void)state;
    static const struct {
        int64_t wall_ms;
        const char *text;
    } times[] = {{0, "1970-01-01T00:00:00Z"},
                 {1795939200999, "2026-11-29T08:00:00Z"},
                 {INT64_MAX, "292278994-08-17T07:12:55Z"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[PONS_UTC_TEXT];
        pons_utc_text(times[i].wall_ms, text);
        assert_string_equal(text, times[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),           cmocka_unit_test(test_take),
        cmocka_unit_test(test_failure_sticks),   cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_base64),           cmocka_unit_test(test_utf8_valid),
        cmocka_unit_test(test_pointer_and_copy), cmocka_unit_test(test_utc),
    };
    return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
