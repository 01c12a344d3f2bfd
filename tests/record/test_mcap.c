// What is written is read back, whole; what is cut off at any byte gives what is whole of it; what is
// changed at random is told or read, never believed and never fatal.
#include "pons/buf.h"
#include "pons/mcap.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pons-mcap-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

typedef struct received {
    size_t n;
    uint64_t last_ns;
    char text[8][64];
} received;

static int hear(void *user, const pons_mcap_message *m)
{
    received *h = user;
    if (h->n < 8) {
        snprintf(h->text[h->n], sizeof h->text[0], "%s %s %u %.*s", m->topic, m->schema,
                 m->sequence, (int)m->n, m->data);
    }
    h->n++;
    h->last_ns = m->time_ns;
    return PONS_OK;
}

static void small(const char *path, int messages, int each_chunk)
{
    pons_mcap_writer *w = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_mcap_create(path, &w, &err), PONS_OK);
    const int a = pons_mcap_schema(w, "A", "jsonschema", "{\"type\":\"object\"}", &err);
    const int one = pons_mcap_channel(w, a, "/one", "json", &err);
    const int two = pons_mcap_channel(w, a, "/two", "json", &err);
    assert_true(a > 0 && one > 0 && two > 0);
    const char *const pairs[] = {"robot", "r1", "dropped", "0", NULL};
    for (int i = 0; i < messages; i++) {
        char text[32];
        const int n = snprintf(text, sizeof text, "{\"i\":%d}", i);
        assert_int_equal(pons_mcap_write(w, i % 2 ? two : one, 1000 + i, text, (size_t)n, &err),
                         PONS_OK);
        if (i % each_chunk == each_chunk - 1) {
            assert_int_equal(pons_mcap_flush(w, &err), PONS_OK);
        }
    }
    assert_int_equal(pons_mcap_metadata(w, "pons", pairs, &err), PONS_OK);
    assert_int_equal(pons_mcap_close(w, NULL, NULL, &err), PONS_OK);
}

static void test_round_trip(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_about a;
    received h = {0};
    small(path_of("a.mcap"), 5, 2);
    assert_int_equal(pons_mcap_read(path_of("a.mcap"), hear, &h, &a, &err), PONS_OK);
    assert_true(a.whole);
    assert_int_equal(h.n, 5);
    assert_string_equal(h.text[0], "/one A 1 {\"i\":0}");
    assert_string_equal(h.text[3], "/two A 2 {\"i\":3}");
    assert_int_equal(a.messages, 5);
    assert_int_equal(a.chunks, 3);
    assert_int_equal(a.start_ns, 1000);
    assert_int_equal(a.end_ns, 1004);
    assert_int_equal(json_array_size(a.topics), 2);
    assert_int_equal(pons_get_int(json_array_get(a.topics, 0), "messages", 0), 3);
    assert_string_equal(pons_get_str(pons_get(a.metadata, "pons"), "robot", ""), "r1");
    pons_mcap_about_clear(&a);
    // What is there is nobody's to overwrite.
    pons_mcap_writer *w = NULL;
    assert_int_equal(pons_mcap_create(path_of("a.mcap"), &w, &err), PONS_EEXIST);
    assert_null(w);
}

static char *bytes_of(const char *path, size_t *ret_n)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    char *data = malloc((size_t)st.st_size);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    *ret_n = fread(data, 1, (size_t)st.st_size, f);
    fclose(f);
    return data;
}

static void put_bytes(const char *path, const char *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void test_cut_off_at_every_byte(void **state)
{
    (void)state;
    size_t n = 0, before = 0;
    small(path_of("a.mcap"), 6, 2);
    char *data = bytes_of(path_of("a.mcap"), &n);
    for (size_t i = 0; i < n; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_mcap_about a;
        received h = {0};
        if (!rounds_take(ROUNDS_record_bytes, (long)i, (long)n)) {
            continue;
        }
        put_bytes(path_of("cut.mcap"), data, i);
        assert_int_equal(pons_mcap_read(path_of("cut.mcap"), hear, &h, &a, &err), PONS_OK);
        assert_false(a.whole);
        assert_true(a.why[0]);
        assert_true(h.n % 2 == 0 && h.n >= before && a.read <= i);
        before = h.n;
        pons_mcap_about_clear(&a);
    }
    assert_int_equal(before, 6);
    free(data);
}

// A byte of what a CRC is of: told, wherever it is.
static void test_every_changed_byte_of_messages_is_told(void **state)
{
    (void)state;
    size_t n = 0, reported = 0, tried = 0;
    small(path_of("a.mcap"), 4, 4);
    char *data = bytes_of(path_of("a.mcap"), &n);
    for (size_t i = 0; i < n; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_mcap_about a;
        if (!rounds_take(ROUNDS_record_bytes, (long)i, (long)n)) {
            continue;
        }
        tried++;
        data[i] = (char)(data[i] ^ 0x10);
        put_bytes(path_of("bad.mcap"), data, n);
        const int rc = pons_mcap_read(path_of("bad.mcap"), NULL, NULL, &a, &err);
        if (rc >= 0 && a.whole) {
            fail_msg("byte %zu of %zu", i, n);
        }
        reported += rc < 0 && err.source[0] != '\0';
        data[i] = (char)(data[i] ^ 0x10);
        pons_mcap_about_clear(&a);
    }
    assert_true(reported > tried / 2);
    free(data);
}

static void test_mutated_files(void **state)
{
    (void)state;
    size_t n = 0;
    pons_rand rand;
    pons_rand_seed(&rand, 17);
    small(path_of("a.mcap"), 200, 20);
    char *whole = bytes_of(path_of("a.mcap"), &n);
    char *data = malloc(n);
    for (int round = 0; round < rounds(ROUNDS_record_files); round++) {
        pons_error err = PONS_ERROR_INIT;
        pons_mcap_about a;
        received h = {0};
        memcpy(data, whole, n);
        const int changes = 1 + (int)(pons_rand_u64(&rand) % 8);
        for (int k = 0; k < changes; k++) {
            data[pons_rand_u64(&rand) % n] = (char)pons_rand_u64(&rand);
        }
        put_bytes(path_of("bad.mcap"), data, pons_rand_u64(&rand) % 4 ? n : n - n / 3);
        const int rc = pons_mcap_read(path_of("bad.mcap"), hear, &h, &a, &err);
        assert_true(rc >= 0 || rc == PONS_ECORRUPT || rc == PONS_EINVAL || rc == PONS_EUNSUPPORTED);
        assert_true(h.n <= 200);
        pons_mcap_about_clear(&a);
    }
    free(data);
    free(whole);
}

// ---- files that others write --------------------------------------------------------------------

static void num(pons_buf *b, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        pons_buf_byte(b, (uint8_t)(v >> (8 * i)));
    }
}

static void text(pons_buf *b, const char *s)
{
    num(b, strlen(s), 4);
    pons_buf_str(b, s);
}

static void record(pons_buf *b, uint8_t kind, const pons_buf *content)
{
    pons_buf_byte(b, kind);
    num(b, content->len, 8);
    pons_buf_bytes(b, content->data ? content->data : "", content->len);
}

static void message(pons_buf *b, uint16_t channel, uint64_t time, const char *data, size_t n)
{
    pons_autobuf c = PONS_BUF_INIT;
    num(&c, channel, 2);
    num(&c, 0, 4);
    num(&c, time, 8);
    num(&c, time, 8);
    pons_buf_bytes(&c, data, n);
    record(b, 5, &c);
}

// Magic, header, and a channel 1 without a schema.
static void begin_file(pons_buf *b)
{
    pons_autobuf header = PONS_BUF_INIT;
    pons_autobuf channel = PONS_BUF_INIT;
    pons_buf_bytes(b, "\x89MCAP0\r\n", 8);
    text(&header, "");
    text(&header, "another");
    record(b, 1, &header);
    num(&channel, 1, 2);
    num(&channel, 0, 2);
    text(&channel, "/a");
    text(&channel, "json");
    num(&channel, 0, 4);
    record(b, 4, &channel);
}

static void chunk(pons_buf *b, uint64_t from, uint64_t to, size_t unpacked, const char *packing,
                  const void *data, size_t n)
{
    pons_autobuf c = PONS_BUF_INIT;
    num(&c, from, 8);
    num(&c, to, 8);
    num(&c, unpacked, 8);
    num(&c, 0, 4);
    text(&c, packing);
    num(&c, n, 8);
    pons_buf_bytes(&c, data, n);
    record(b, 6, &c);
}

// A file that ends as it should, without a summary.
static int read_file(pons_buf *b, received *h, pons_mcap_about *a, pons_error *err)
{
    pons_autobuf end = PONS_BUF_INIT;
    num(&end, 0, 4);
    record(b, 15, &end);
    pons_buf_clear(&end);
    num(&end, 0, 8);
    num(&end, 0, 8);
    num(&end, 0, 4);
    record(b, 2, &end);
    pons_buf_bytes(b, "\x89MCAP0\r\n", 8);
    put_bytes(path_of("other.mcap"), b->data, b->len);
    return pons_mcap_read(path_of("other.mcap"), hear, h, a, err);
}

// Three messages of channel 1 at 5, 6 and 7 ns (537 bytes), by lz4.frame.compress of PyPI's lz4 4.4.5, with all of
// its checksums.
static const uint8_t by_lz4[] = {
    0x04, 0x22, 0x4d, 0x18, 0x7c, 0x40, 0x19, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe8,
    0x53, 0x00, 0x00, 0x00, 0x32, 0x05, 0x28, 0x00, 0x01, 0x00, 0x11, 0x01, 0x07, 0x00, 0x11,
    0x05, 0x06, 0x00, 0x06, 0x08, 0x00, 0xfb, 0x03, 0x7b, 0x22, 0x7a, 0x6f, 0x6e, 0x65, 0x22,
    0x3a, 0x22, 0x6b, 0x69, 0x74, 0x63, 0x68, 0x65, 0x6e, 0x22, 0x7d, 0x31, 0x00, 0x10, 0x06,
    0x2e, 0x00, 0x07, 0x08, 0x00, 0x0f, 0x31, 0x00, 0x00, 0x12, 0xae, 0x5b, 0x00, 0x12, 0x00,
    0x07, 0x00, 0x11, 0x07, 0x2f, 0x00, 0x06, 0x08, 0x00, 0x7f, 0x7b, 0x22, 0x61, 0x22, 0x3a,
    0x22, 0x78, 0x01, 0x00, 0xff, 0x7a, 0x50, 0x78, 0x78, 0x78, 0x22, 0x7d, 0x0e, 0x3f, 0x97,
    0xdf, 0x00, 0x00, 0x00, 0x00, 0x97, 0x2f, 0x25, 0xb7};

static void test_chunks_of_lz4(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_about a;
    received h = {0};
    pons_autobuf b = PONS_BUF_INIT;
    begin_file(&b);
    chunk(&b, 5, 7, 537, "lz4", by_lz4, sizeof by_lz4);
    assert_int_equal(read_file(&b, &h, &a, &err), PONS_OK);
    assert_true(a.whole);
    assert_int_equal(h.n, 3);
    assert_string_equal(h.text[1], "/a  0 {\"zone\":\"kitchen\"}");
    assert_int_equal(h.last_ns, 7);
    pons_mcap_about_clear(&a);
    // What is cut off or changed, and says more or less than it is, is told; never more than was said is written.
    for (size_t i = 0; i < sizeof by_lz4; i++) {
        uint8_t bad[sizeof by_lz4];
        memcpy(bad, by_lz4, sizeof bad);
        bad[i] ^= 0xff;
        pons_buf_clear(&b);
        begin_file(&b);
        chunk(&b, 5, 7, 537, "lz4", bad, sizeof bad);
        const int rc = read_file(&b, &h, &a, &err);
        assert_true(rc == PONS_OK || rc == PONS_ECORRUPT);
        pons_mcap_about_clear(&a);
        pons_buf_clear(&b);
        begin_file(&b);
        chunk(&b, 5, 7, 537, "lz4", by_lz4, i);
        assert_int_equal(read_file(&b, &h, &a, &err), PONS_ECORRUPT);
        pons_mcap_about_clear(&a);
    }
    static const size_t wrong[] = {0, 1, 536, 538, 60000000};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pons_buf_clear(&b);
        begin_file(&b);
        chunk(&b, 5, 7, wrong[i], "lz4", by_lz4, sizeof by_lz4);
        assert_int_equal(read_file(&b, &h, &a, &err), PONS_ECORRUPT);
        pons_mcap_about_clear(&a);
    }
}

// Three messages at 5, 6 and 7 ns (114 bytes), by a stream of PyPI's zstandard: the frame does not say its size.
static const uint8_t by_zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x75, 0x01, 0x00, 0xb8, 0x05,
                                  0x1d, 0x00, 0x01, 0x00, 0x05, 0x00, 0x7b, 0x22, 0x78, 0x22, 0x3a,
                                  0x31, 0x7d, 0x06, 0x07, 0x7b, 0x22, 0x78, 0x22, 0x3a, 0x31, 0x7d,
                                  0x0a, 0x00, 0x80, 0x00, 0xc8, 0x0e, 0xa8, 0x00, 0x04, 0x40, 0x76,
                                  0x93, 0xea, 0xb6, 0x42, 0x00, 0x18, 0x0c, 0x02, 0x1e, 0xc0, 0x10};

// Chunks without messages or without anything, frames that do not say their size, padding behind them.
static void test_chunks_that_others_write(void **state)
{
    (void)state;
    static const uint8_t nothing[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00};
    uint8_t padded_zstd[sizeof by_zstd + 9] = {0}, padded_lz4[sizeof by_lz4 + 9] = {0};
    memcpy(padded_zstd, by_zstd, sizeof by_zstd);
    memcpy(padded_lz4, by_lz4, sizeof by_lz4);
    pons_autobuf reported = PONS_BUF_INIT;
    pons_autobuf schema = PONS_BUF_INIT;
    num(&schema, 1, 2);
    text(&schema, "S");
    text(&schema, "");
    num(&schema, 0, 4);
    record(&reported, 3, &schema);
    const struct {
        const char *packing;
        const void *data;
        size_t n, unpacked, messages;
        int rc;
    } rows[] = {
        {"", reported.data, reported.len, reported.len, 0, PONS_OK},
        {"", "", 0, 0, 0, PONS_OK},
        {"zstd", "", 0, 0, 0, PONS_OK},
        {"lz4", "", 0, 0, 0, PONS_OK},
        {"zstd", nothing, sizeof nothing, 0, 0, PONS_OK},
        {"zstd", by_zstd, sizeof by_zstd, 114, 3, PONS_OK},
        {"zstd", padded_zstd, sizeof padded_zstd, 114, 3, PONS_OK},
        {"lz4", padded_lz4, sizeof padded_lz4, 537, 3, PONS_OK},
        {"zstd", by_zstd, sizeof by_zstd, 113, 0, PONS_ECORRUPT},
        {"zstd", by_zstd, sizeof by_zstd, 115, 0, PONS_ECORRUPT},
        {"zstd", by_zstd, sizeof by_zstd, 0, 0, PONS_ECORRUPT},
        {"zstd", by_zstd, sizeof by_zstd - 1, 114, 0, PONS_ECORRUPT},
        {"bz2", "", 0, 0, 0, PONS_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_mcap_about a;
        received h = {0};
        pons_autobuf b = PONS_BUF_INIT;
        const uint64_t from = rows[i].unpacked > 100 ? 5 : 0, to = from ? 7 : 0;
        begin_file(&b);
        chunk(&b, from, to, rows[i].unpacked, rows[i].packing, rows[i].data, rows[i].n);
        const int rc = read_file(&b, &h, &a, &err);
        if (rc != rows[i].rc || h.n != rows[i].messages || a.whole != (rc == PONS_OK)) {
            fail_msg("row %zu: %d, %zu messages: %s", i, rc, h.n, err.message);
        }
        pons_mcap_about_clear(&a);
    }
}

// A record may end in more than is known of it; a disk may have a file's length and not its bytes.
static void test_longer_records_and_zeros(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_about a;
    received h = {0};
    pons_autobuf b = PONS_BUF_INIT;
    pons_autobuf records = PONS_BUF_INIT;
    pons_autobuf more = PONS_BUF_INIT;
    message(&records, 1, 9, "{}", 2);
    begin_file(&b);
    chunk(&b, 9, 9, records.len, "", records.data, records.len);
    num(&more, 1, 2);
    num(&more, 16, 4);
    num(&more, 9, 8);
    num(&more, 0, 8);
    num(&more, 0xffff01, 3);
    record(&b, 7, &more);
    pons_buf_clear(&more);
    text(&more, "about");
    num(&more, 10, 4);
    text(&more, "k");
    text(&more, "v");
    num(&more, 0xffff01, 3);
    record(&b, 12, &more);
    const size_t whole = b.len;
    assert_int_equal(read_file(&b, &h, &a, &err), PONS_OK);
    assert_true(a.whole && h.n == 1);
    assert_string_equal(pons_get_str(pons_get(a.metadata, "about"), "k", ""), "v");
    pons_mcap_about_clear(&a);
    memset(b.data + whole, 0, b.len - whole);
    put_bytes(path_of("zeros.mcap"), b.data, b.len);
    assert_int_equal(pons_mcap_read(path_of("zeros.mcap"), hear, &h, &a, &err), PONS_OK);
    assert_true(!a.whole && a.read == whole && strstr(a.why, "zeros"));
    pons_mcap_about_clear(&a);
}

// A chunk whose messages are not in the order of their times, and an index that is.
static void test_an_index_by_time(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_about a;
    received h = {0};
    pons_autobuf b = PONS_BUF_INIT;
    pons_autobuf records = PONS_BUF_INIT;
    pons_autobuf index = PONS_BUF_INIT;
    message(&records, 1, 9, "{}", 2);
    const size_t second = records.len;
    message(&records, 1, 4, "{}", 2);
    begin_file(&b);
    chunk(&b, 4, 9, records.len, "", records.data, records.len);
    num(&index, 1, 2);
    num(&index, 32, 4);
    num(&index, 4, 8);
    num(&index, second, 8);
    num(&index, 9, 8);
    num(&index, 0, 8);
    record(&b, 7, &index);
    assert_int_equal(read_file(&b, &h, &a, &err), PONS_OK);
    assert_true(a.whole && h.n == 2);
    pons_mcap_about_clear(&a);
}

static void test_no_file_and_no_mcap(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_about a;
    assert_int_equal(pons_mcap_read(path_of("none"), NULL, NULL, &a, &err), PONS_ENOTFOUND);
    pons_mcap_about_clear(&a);
    put_bytes(path_of("text"), "hello, world\n", 13);
    assert_int_equal(pons_mcap_read(path_of("text"), NULL, NULL, &a, &err), PONS_EINVAL);
    assert_non_null(strstr(err.source, "text: byte 0"));
    pons_mcap_about_clear(&a);
    assert_int_equal(pons_mcap_read(folder, NULL, NULL, &a, &err), PONS_EIO);
    pons_mcap_about_clear(&a);
}

// No room: said once, the file ends with its last whole chunk and is read so.
static void test_disk_full(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_writer *w = NULL;
    struct rlimit was, little;
    pons_rand rand;
    char text[4096];
    pons_rand_seed(&rand, 3);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(pons_mcap_create(path_of("full.mcap"), &w, &err), PONS_OK);
    const int schema = pons_mcap_schema(w, "A", "jsonschema", "{}", &err);
    const int channel = pons_mcap_channel(w, schema, "/a", "json", &err);
    getrlimit(RLIMIT_FSIZE, &was);
    little = was;
    little.rlim_cur = 200000;
    setrlimit(RLIMIT_FSIZE, &little);
    int rc = PONS_OK, written = 0;
    for (int i = 0; i < 400 && rc >= 0; i++) {
        for (size_t k = 0; k < sizeof text; k++) {
            text[k] = (char)('a' + pons_rand_u64(&rand) % 26);
        }
        rc = pons_mcap_write(w, channel, i, text, sizeof text, &err);
        if (rc >= 0 && i % 10 == 9) {
            rc = pons_mcap_flush(w, &err);
            written = rc >= 0 ? i + 1 : written;
        }
    }
    assert_int_equal(rc, PONS_EIO);
    assert_non_null(strstr(err.source, "full.mcap"));
    assert_true(pons_mcap_write(w, channel, 1, "{}", 2, &err) < 0);
    assert_int_equal(pons_mcap_close(w, NULL, NULL, &err), PONS_OK); // the summary had room
    setrlimit(RLIMIT_FSIZE, &was);
    pons_mcap_about a;
    assert_int_equal(pons_mcap_read(path_of("full.mcap"), NULL, NULL, &a, &err), PONS_OK);
    assert_int_equal(a.messages, written);
    assert_true(written > 0 && a.whole);
    pons_mcap_about_clear(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut_off_at_every_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_changed_byte_of_messages_is_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_mutated_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_chunks_of_lz4, setup, teardown),
        cmocka_unit_test_setup_teardown(test_chunks_that_others_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_longer_records_and_zeros, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_index_by_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_file_and_no_mcap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disk_full, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
