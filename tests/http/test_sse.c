// The reader of server-sent events gives the same events however the bytes are cut: every stream
// below is fed whole, byte by byte, and in pieces of every size up to 16.
#include "pons/sse.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *stream, *events; // events: "type=data|" each
} table[] = {
    {"data: a\n\n", "message=a|"},
    {"data: a\r\n\r\ndata: b\r\n\r\n", "message=a|message=b|"},
    {"data: a\r\rdata: b\r\r", "message=a|message=b|"},
    {"data: a\r\n\ndata: b\n\r\n", "message=a|message=b|"},
    {"data:no space\n\ndata:  two\n\n", "message=no space|message= two|"},
    {": a comment\n\n: another\ndata: a\n:more\n\n", "message=a|"},
    {"data: one\ndata: two\ndata\ndata: four\n\n", "message=one\ntwo\n\nfour|"},
    {"event: error\ndata: x\n\ndata: y\n\n", "error=x|message=y|"},
    {"event: lonely\n\ndata: y\n\n", "message=y|"},
    {"id: 7\nretry: 5\nunknown: z\ndata: a\n\n", "message=a|"},
    {"data\n\n", "message=|"},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     "message=a|"},
    {"data: 你好，世界 💡\n\n", "message=你好，世界 💡|"},
    {"data: complete\n\ndata: cut off", "message=complete|"},
    {"data: cut before its empty line\n", ""},
    {"\n\n\n", ""},
    {"", ""},
};

static int collect(void *user, const char *event, const char *data, size_t len)
{
    char *out = user;
    assert_int_equal(data[len], '\0');
    snprintf(out + strlen(out), 1024 - strlen(out), "%s=%s|", event, data);
    return PONS_OK;
}

static void feed(const char *stream, size_t piece, char *out)
{
    pons_sse s;
    pons_sse_init(&s, 4096);
    out[0] = '\0';
    for (size_t at = 0, n = strlen(stream); at < n; at += piece) {
        size_t m = n - at < piece ? n - at : piece;
        assert_int_equal(pons_sse_feed(&s, stream + at, m, collect, out), PONS_OK);
    }
    pons_sse_fini(&s);
}

static void test_pieces(void **state)
{
    (void)state;
    char out[1024];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (size_t piece = 1; piece <= 16; piece++) {
            feed(table[i].stream, piece, out);
            assert_string_equal(out, table[i].events);
        }
        feed(table[i].stream, 4096, out);
        assert_string_equal(out, table[i].events);
    }
}

static int refuse(void *user, const char *event, const char *data, size_t len)
{
    (void)user, (void)event, (void)data, (void)len;
    return PONS_EIO;
}

static void test_limits(void **state)
{
    (void)state;
    char out[1024] = "";
    pons_sse s;
    pons_sse_init(&s, 16);
    assert_int_equal(pons_sse_feed(&s, "data: 12345678901234567890", 26, collect, out),
                     PONS_EPROTOCOL);
    pons_sse_fini(&s);
    pons_sse_init(&s, 16); // many lines of one event count together
    int rc = PONS_OK;
    for (int i = 0; i < 10 && rc == PONS_OK; i++) {
        rc = pons_sse_feed(&s, "data: 123\n", 10, collect, out);
    }
    assert_int_equal(rc, PONS_EPROTOCOL);
    pons_sse_fini(&s);
    pons_sse_init(&s, 16); // many events do not
    for (int i = 0; i < 10; i++) {
        assert_int_equal(pons_sse_feed(&s, "data: 123\n\n", 11, collect, out), PONS_OK);
    }
    assert_int_equal(pons_sse_feed(&s, "data: x\n\n", 9, refuse, NULL), PONS_EIO);
    pons_sse_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
