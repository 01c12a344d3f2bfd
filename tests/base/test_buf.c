// test_buf.c - appending, taking, and the two codings of integers read back.
#include "pons/buf.h"
#include "pons/random.h"
#include "unit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED UINT64_C(0x627566)

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
    assert_int_equal(pons_buf_varint(&b, 1), PONS_ENOMEM);
    assert_null(pons_buf_take(&b, NULL));
    assert_memory_equal(b.data, "kept", 5);
    pons_buf_clear(&b);
    assert_int_equal(pons_buf_byte(&b, 'x'), PONS_OK);
}

static void test_varint_bytes(void **state)
{
    (void)state;
    static const struct {
        uint64_t v;
        size_t n;
        const char *bytes;
    } cases[] = {
        {0, 1, "\x00"},
        {127, 1, "\x7f"},
        {128, 2, "\x80\x01"},
        {300, 2, "\xac\x02"},
        {UINT64_MAX, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_varint(&b, cases[i].v);
        assert_int_equal(b.len, cases[i].n);
        assert_memory_equal(b.data, cases[i].bytes, cases[i].n);
    }
}

static void test_integers_read_back(void **state)
{
    (void)state;
    pons_rand r;
    pons_rand_seed(&r, SEED);
    print_message("seed %" PRIu64 "\n", SEED);
    pons_autobuf b = PONS_BUF_INIT;
    uint64_t numbers[1000];
    for (size_t i = 0; i < 1000; i++) {
        numbers[i] = pons_rand_u64(&r) >> pons_rand_below(&r, 64);
        pons_buf_varint(&b, numbers[i]);
    }
    pons_bufread in = pons_bufread_of(b.data, b.len);
    for (size_t i = 0; i < 1000; i++) {
        assert_true(pons_bufread_varint(&in) == numbers[i]);
    }
    assert_false(in.bad);
    assert_ptr_equal(in.at, in.end);
}

static void test_bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {
        {"", 0},
        {"\x80", 1},                                          // goes on, but ends
        {"\x80\x00", 2},                                      // overlong
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10},     // 65 bits
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11}, // eleven bytes
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pons_bufread in = pons_bufread_of(cases[i].bytes, cases[i].n);
        assert_true(pons_bufread_varint(&in) == 0);
        assert_true(in.bad);
        assert_int_equal((int)pons_bufread_varint(&in), 0); // bad stays bad
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_failure_sticks),
        cmocka_unit_test(test_varint_bytes),
        cmocka_unit_test(test_integers_read_back),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_utf8_valid),
    };
    return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
