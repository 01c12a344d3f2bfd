// test_damaged_files.c - sixteen bad bytes, or a cut, anywhere in a file that a killed run left: what
// each command makes of it. The table is docs/reference/store.md's; commands that only read change no byte.
#include "cli_bench.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum damage { BYTES, CUT, GONE } damage;
static const char *const damages[] = {"16 bad bytes", "cut", "gone"};

// How commands end: threads, which reads the store, and resume, which needs all. ANY: as it stands, but
// not by a signal. LATCHED: the body starts latched, so that it waits for a person (cli/test_store_maintenance).
enum { ANY = -1, LATCHED = -2 };
static const struct row {
    const char *file;
    damage how;
    int doctor, threads, resume;
} rows[] = {
    // clang-format off
    {"pons.db-wal",     BYTES, 1, 1,   1},
    {"pons.db-wal",     CUT,   1, 1,   1},
    {"pons.db-wal",     GONE,  1, 1,   1},
    {"pons.db",         CUT,   1, ANY, ANY},
    {"run/body.ledger", BYTES, 1, 0,   1},
    {"run/body.epoch",  BYTES, 1, 0,   LATCHED},
    {"run/body.epoch",  CUT,   1, 0,   LATCHED},
    {"run/body.epoch",  GONE,  1, 0,   LATCHED},
    // clang-format on
};

// XOR with 0x5a: no byte stays, and no letter becomes a line's end.
static void spoil(const char *path, damage how, pons_rand *r, char *ret_where, size_t cap)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    const int64_t n = st.st_size, many = n < 17 ? n : 16;
    const int64_t at = how == CUT ? (int64_t)pons_rand_below(r, (uint64_t)n)
                                  : (int64_t)pons_rand_below(r, (uint64_t)(n - many));
    snprintf(ret_where, cap, "%s of %s at byte %lld of %lld", damages[how], path, (long long)at,
             (long long)n);
    if (how == GONE) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    if (how == CUT) {
        assert_int_equal(truncate(path, at), 0);
        return;
    }
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    for (int64_t i = at; i < at + many; i++) {
        fseek(f, (long)i, SEEK_SET);
        const int c = fgetc(f);
        fseek(f, (long)i, SEEK_SET);
        fputc(c ^ 0x5a, f);
    }
    fclose(f);
}

static void ends(bench *b, const char *words, int want, const char *where)
{
    const int is = bench_run(b, words);
    if (want == ANY ? is < 0 || is > 4 : is != want) {
        fail_msg("%s: `pons %s` ends with %d", where, words, is);
    }
}

static void unchanged(const bench *b, const char *where, const char *after)
{
    static const char *const files[] = {"pons.db", "pons.db-wal", "run/body.ledger",
                                        "run/body.epoch"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char command[700];
        snprintf(command, sizeof command,
                 "cd '%s' && if test -e '%s'; then cmp -s '%s' '../now/%s'; else ! test -e "
                 "'../now/%s'; fi",
                 b->workspace, files[i], files[i], files[i], files[i]);
        if (system(command) != 0) {
            fail_msg("%s: %s was changed by `pons %s`", where, files[i], after);
        }
    }
}

static void each_file_each_damage_each_command(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    bench_killed_run(&b);
    bench_shell("cp -a '%s' '%s/was'", b.workspace, b.dir);
    const long n = rounds(ROUNDS_damaged_files);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (long k = 0; k < (rows[i].how == GONE ? 1 : n); k++) {
            char path[300], where[500];
            pons_rand r;
            pons_rand_seed(&r, 340 + (uint64_t)k * 100 + i);
            bench_shell("cd '%s' && rm -rf '%s' now && cp -a was '%s'", b.dir, b.workspace,
                        b.workspace);
            snprintf(path, sizeof path, "%s/%s", b.workspace, rows[i].file);
            spoil(path, rows[i].how, &r, where, sizeof where);
            bench_shell("cd '%s' && cp -a '%s' now", b.dir, b.workspace);
            ends(&b, "threads", rows[i].threads, where);
            unchanged(&b, where, "threads");
            ends(&b, "doctor", rows[i].doctor, where);
            unchanged(&b, where, "doctor");
            ends(&b, "threads", rows[i].threads, where);
            if (k == 0 && rows[i].resume != LATCHED) {
                ends(&b, "resume t", rows[i].resume, where);
                bench_end_body(&b);
            }
        }
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_file_each_damage_each_command, bench_teardown),
    };
    return cmocka_run_group_tests_name("damaged files", tests, NULL, NULL);
}
