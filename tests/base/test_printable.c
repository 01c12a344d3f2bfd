// test_printable.c - what a person may be shown of a text from outside: every code point of Unicode and
// every byte is tried, and what comes out is compared with what the C library knows of characters.
#include "pons/buf.h"
#include "pons/printable.h"
#include "pons/value.h"
#include "rounds.h"
#include "unit.h"

#include <string.h>

static size_t encode(uint32_t cp, char out[4])
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    const size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; cp >>= 6) {
        out[i] = (char)(0x80 | (cp & 0x3F));
    }
    out[0] = (char)(lead[n] | cp);
    return n;
}

static bool clean(const char *s, size_t n, bool lines)
{
    for (size_t i = 0; i < n;) {
        const size_t k = pons_utf8_sequence(s + i, n - i);
        uint32_t cp = k == 1 ? (unsigned char)s[i] : (unsigned char)s[i] & (0x7FU >> k);
        for (size_t b = 1; b < k; b++) {
            cp = cp << 6 | ((unsigned char)s[i + b] & 0x3FU);
        }
        if (k == 0 || (pons_plain_hides(cp) && !(lines && (cp == '\n' || cp == '\t')))) {
            return false;
        }
        i += k;
    }
    return true;
}

// Named one by one, so that a table that lost a line is seen.
static void hides_what_commands_or_hides(void **state)
{
    static const uint32_t named[] = {
        0x00,   0x07,   0x08,   0x09,    0x0A,    0x0B,    0x0D,    0x1B,    0x7F,
        0x80,   0x85,   0x8D,   0x90,    0x9B,    0x9C,    0x9D,    0x9F,    0xAD,
        0x61C,  0x115F, 0x180E, 0x200B,  0x200C,  0x200D,  0x200E,  0x200F,  0x2028,
        0x2029, 0x202A, 0x202B, 0x202C,  0x202D,  0x202E,  0x2060,  0x2064,  0x2066,
        0x2067, 0x2068, 0x2069, 0x206A,  0x206F,  0x3164,  0xD800,  0xDFFF,  0xFE0F,
        0xFEFF, 0xFFF9, 0xFFFB, 0xE0000, 0xE0001, 0xE0041, 0xE007F, 0xE0100, 0x110000};
    static const uint32_t seen[] = {' ',    'a',    '~',    0xA0,   0xE9,   0x4E2D,  0x20AC,
                                    0x2713, 0x2026, 0x05D0, 0x0627, 0xFFFD, 0x1F600, 0x1F916};
    (void)state;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        assert_true(pons_plain_hides(named[i]));
    }
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        assert_false(pons_plain_hides(seen[i]));
    }
}

// Each code point between two letters, in a text and in JSON: the letters stay, nothing forbidden
// comes out, and the JSON still has it.
static void every_code_point(void **state)
{
    (void)state;
    for (uint32_t cp = 1; cp <= 0x10FFFF; cp++) {
        const bool plane_of_tags = cp >> 16 == 0xE;
        if (cp >= 0x20000 && !plane_of_tags && !rounds_take(ROUNDS_base_characters, cp, 0x110000)) {
            continue; // nothing but more of the same
        }
        char text[8] = "a", json[10] = "\"";
        const size_t n = encode(cp, text + 1);
        text[n + 1] = 'z';
        pons_autobuf b = PONS_BUF_INIT;
        pons_autobuf j = PONS_BUF_INIT;
        assert_int_equal(pons_plain(&b, text, n + 2, false), PONS_OK);
        assert_true(b.len >= 2 && b.data[0] == 'a' && b.data[b.len - 1] == 'z');
        assert_true(clean(b.data, b.len, false));
        if (!pons_plain_hides(cp)) {
            assert_true(b.len == n + 2 && memcmp(b.data, text, b.len) == 0);
        }
        if (cp < 0x20 || cp == '"' || cp == '\\' || (cp >= 0xD800 && cp < 0xE000)) {
            continue; // the writer of JSON has escaped or refused it
        }
        memcpy(json + 1, text + 1, n);
        json[n + 1] = '"';
        assert_int_equal(pons_plain_json(&j, json, n + 2), PONS_OK);
        assert_true(clean(j.data, j.len, false));
        pons_autovalue v = NULL;
        assert_int_equal(pons_value_parse(j.data, j.len, &v, NULL), PONS_OK);
        assert_int_equal(json_string_length(v), n);
        assert_memory_equal(json_string_value(v), text + 1, n);
    }
}

// Every pair of bytes, and every byte at the end of a cut character.
static void bytes_that_are_no_text(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair <= 0xFFFF; pair++) {
        const char text[] = {'a', (char)(pair >> 8), (char)pair, '\0'};
        for (int lines = 0; lines <= 1; lines++) {
            pons_autobuf b = PONS_BUF_INIT;
            assert_int_equal(pons_plain(&b, text, SIZE_MAX, lines), PONS_OK);
            assert_true(clean(b.data, b.len, lines));
        }
    }
    pons_autobuf b = PONS_BUF_INIT;
    pons_plain(&b, "\xE4\xB8\xAD", 2, true); // cut: the two bytes are no character
    assert_string_equal(b.data, "\xEF\xBF\xBD\xEF\xBF\xBD");
}

static void lines_and_symbols(void **state)
{
    (void)state;
    pons_autobuf b = PONS_BUF_INIT;
    pons_plain(&b, "a\n\tb\r\x1B[2J\xE2\x9A\xA0\xEF\xB8\x8F", SIZE_MAX, true);
    assert_string_equal(b.data, "a\n\tb\xEF\xBF\xBD\xEF\xBF\xBD[2J\xE2\x9A\xA0");
    pons_buf_clear(&b);
    pons_plain(&b, "a\n\tb", SIZE_MAX, false);
    assert_string_equal(b.data, "a\xE2\x8F\x8E b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hides_what_commands_or_hides),
        cmocka_unit_test(every_code_point),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(lines_and_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
