// test_postgres_damage.c - sixteen bad bytes in a file of a PostgreSQL server that has data checksums, as
// its tables and indexes lie on the disk: what is read afterwards is what was written, or the call ends with
// PONS_ECORRUPT. Skipped where there is no server.
#include "pons/buf.h"
#include "pons/random.h"
#include "rounds.h"
#include "store/cluster.h"
#include "unit.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STEPS      200
#define FIRST_OURS 16384 // below it are the server's own relations
#define PAGE       8192

static void fill(pons_store s)
{
    pons_error err = PONS_ERROR_INIT;
    pons_lease lease = {0};
    char id[32], parent[32] = "", text[600];
    assert_int_equal(s.ops->lease_acquire(s.self, "t", &lease, &err), PONS_OK);
    for (int i = 0; i < STEPS; i++) {
        snprintf(text, sizeof text, "{\"step\":%d,\"text\":\"%*d\"}", i, 400, i * 7);
        snprintf(id, sizeof id, "01JD00000000000%011d", i);
        pons_checkpoint_row cp = {.step = i, .snapshot = i % 20 == 0, .data = {text, strlen(text)}};
        snprintf(cp.id, sizeof cp.id, "%.26s", id);
        snprintf(cp.parent, sizeof cp.parent, "%.26s", parent);
        pons_event_row ev = {
            .ns = "kernel", .ts_ms = 1000 + i, .type = "tick", .payload = {text, strlen(text)}};
        const pons_commit c = {.lease = &lease,
                               .ns = "kernel",
                               .checkpoints = &cp,
                               .n_checkpoints = 1,
                               .events = &ev,
                               .n_events = 1};
        if (s.ops->commit(s.self, &c, &err) != PONS_OK) {
            fail_msg("%s: %s", err.message, err.cause);
        }
        snprintf(parent, sizeof parent, "%s", id);
    }
    s.ops->lease_release(s.self, &lease);
}

static int add_checkpoint(void *user, const pons_checkpoint_row *row)
{
    pons_buf_printf(user, "%s %.*s\n", row->id, (int)row->data.len, (const char *)row->data.data);
    return 0;
}

static int add_event(void *user, const pons_event_row *row)
{
    pons_buf_printf(user, "%lld %.*s\n", (long long)row->seq, (int)row->payload.len,
                    (const char *)row->payload.data);
    return 0;
}

static int read_all(const char *url, pons_buf *ret)
{
    pons_error err = PONS_ERROR_INIT;
    pons_store s = {0};
    int rc = cluster_open(url, &s, &err);
    rc = rc ? rc : s.ops->history(s.self, "t", "kernel", NULL, 0, add_checkpoint, ret, &err);
    rc = rc ? rc : s.ops->events(s.self, "t", 0, 0, add_event, ret, &err);
    pons_store_close(&s);
    return rc;
}

// The bytes of one of our relations, or once more: they are as they were.
static void spoil(const char *path, int64_t at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    for (int64_t i = at; i < at + 16; i++) {
        fseek(f, (long)i, SEEK_SET);
        const int c = fgetc(f);
        fseek(f, (long)i, SEEK_SET);
        fputc(c ^ 0x5a, f);
    }
    fclose(f);
}

// A file of a relation of ours that has pages, and a place in it.
static void pick(const char *dir, pons_rand *r, char *ret, size_t cap, int64_t *ret_at)
{
    char pattern[200];
    glob_t found = {0};
    struct stat st;
    snprintf(pattern, sizeof pattern, "%s/data/base/*/[1-9]*", dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    do {
        snprintf(ret, cap, "%s", found.gl_pathv[pons_rand_below(r, found.gl_pathc)]);
        assert_int_equal(stat(ret, &st), 0);
    } while (atoi(strrchr(ret, '/') + 1) < FIRST_OURS || strchr(strrchr(ret, '/'), '_') ||
             st.st_size < 2 * PAGE);
    *ret_at = (int64_t)pons_rand_below(r, (uint64_t)st.st_size - 16);
    globfree(&found);
}

static void what_is_read_is_what_was_written(void **state)
{
    (void)state;
    if (!cluster_start()) {
        skip();
    }
    char url[320], dir[128], path[300] = "";
    int64_t at = 0;
    int named = 0;
    pons_error err = PONS_ERROR_INIT;
    pons_store s = {0};
    pons_buf was = PONS_BUF_INIT;
    snprintf(url, sizeof url, "%s", cluster_empty(""));
    const char *host = strstr(url, "host=") + 5;
    snprintf(dir, sizeof dir, "%.*s", (int)strcspn(host, "&"), host);
    assert_int_equal(cluster_open(url, &s, &err), PONS_OK);
    fill(s);
    pons_store_close(&s);
    assert_int_equal(read_all(url, &was), PONS_OK);
    cluster_sql("CHECKPOINT");
    const long n = rounds(ROUNDS_store_pages);
    for (long k = 0; k < n; k++) {
        pons_rand r;
        pons_rand_seed(&r, 341 + (uint64_t)k);
        cluster_fail();
        pick(dir, &r, path, sizeof path, &at);
        spoil(path, at);
        cluster_again();
        pons_buf is = PONS_BUF_INIT;
        const int rc = read_all(url, &is);
        named += rc == PONS_ECORRUPT;
        if (rc ? rc != PONS_ECORRUPT
               : is.len != was.len || memcmp(is.data, was.data, is.len) != 0) {
            fail_msg("round %ld, %s at byte %lld: %d", k, path, (long long)at, rc);
        }
        pons_buf_fini(&is);
        cluster_fail();
        spoil(path, at);
        cluster_again();
    }
    printf("%d of %ld damaged files are named, what was read of the others is as it was\n", named,
           n);
    pons_buf_fini(&was);
    cluster_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_what_was_written),
    };
    return cmocka_run_group_tests_name("damage of a server", tests, NULL, NULL);
}
