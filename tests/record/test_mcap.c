// What is written is read back, whole; what is cut off at any byte gives what is whole of it; what is
// changed at random is told or read, never believed and never fatal.
#include "pons/mcap.h"
#include "pons/rand.h"
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

typedef struct heard {
    size_t n;
    uint64_t last_ns;
    char text[8][64];
} heard;

static int hear(void *user, const pons_mcap_message *m)
{
    heard *h = user;
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
    const int a = pons_mcap_schema(w, "A", "{\"type\":\"object\"}", &err);
    const int one = pons_mcap_channel(w, a, "/one", &err);
    const int two = pons_mcap_channel(w, a, "/two", &err);
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
    assert_int_equal(pons_mcap_close(w, &err), PONS_OK);
}

static void test_round_trip(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    pons_mcap_about a;
    heard h = {0};
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
        heard h = {0};
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
    size_t n = 0, told = 0;
    small(path_of("a.mcap"), 4, 4);
    char *data = bytes_of(path_of("a.mcap"), &n);
    for (size_t i = 0; i < n; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_mcap_about a;
        data[i] = (char)(data[i] ^ 0x10);
        put_bytes(path_of("bad.mcap"), data, n);
        const int rc = pons_mcap_read(path_of("bad.mcap"), NULL, NULL, &a, &err);
        if (rc >= 0 && a.whole) {
            fail_msg("byte %zu of %zu", i, n);
        }
        told += rc < 0 && err.source[0] != '\0';
        data[i] = (char)(data[i] ^ 0x10);
        pons_mcap_about_clear(&a);
    }
    assert_true(told > n / 2);
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
    for (int round = 0; round < 200; round++) {
        pons_error err = PONS_ERROR_INIT;
        pons_mcap_about a;
        heard h = {0};
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
    const int schema = pons_mcap_schema(w, "A", "{}", &err);
    const int channel = pons_mcap_channel(w, schema, "/a", &err);
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
    assert_int_equal(pons_mcap_close(w, &err), PONS_OK); // the summary had room
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
        cmocka_unit_test_setup_teardown(test_no_file_and_no_mcap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disk_full, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
