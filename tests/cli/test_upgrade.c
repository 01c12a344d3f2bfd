// test_upgrade.c - what earlier versions left on the disk: tests/cli/upgrade/VERSION.tar.gz is a workspace (store, ledger,
// latched stop, configuration, protocol files) that a `pons onboard`, a run to the kitchen and a stop of that version made.
// It opens whole; what is newer than the program is refused by name and left alone.
#include "cli_bench.h"
#include "unit.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void unpack(const bench *b, const char *fixture)
{
    char command[1024];
    snprintf(command, sizeof command, "rm -rf %s && mkdir -m 700 %s && tar -C %s -xzf %s",
             b->workspace, b->workspace, b->workspace, fixture);
    assert_int_equal(system(command), 0);
}

static void says(bench *b, const char *words, const char *const *want, size_t n)
{
    proc p = {0};
    bench_start(b, &p, NULL, words);
    bench_finish(&p);
    for (size_t i = 0; i < n; i++) {
        if (!strstr(p.text, want[i])) {
            fail_msg("pons %s does not say '%s':\n%s", words, want[i], p.text);
        }
    }
    bench_free(&p);
}

static void what_an_earlier_version_left_opens(void **state)
{
    (void)state;
    static const char *const doctor[] = {
        "pons.db: whole; threads: 1, checkpoints: 47, all can be read",
        "6 lines, 1 goals, 0 sealed parts", "the next body starts: latched, the fixture"};
    static const char *const threads[] = {"demo", "47 checkpoints"};
    static const char *const config[] = {"kernel.yaml        workspace  sound",
                                         "config.json        workspace  sound"};
    static const char *const show[] = {"go to the kitchen"};
    glob_t found = {0};
    assert_int_equal(glob(PONS_SOURCE_DIR "/tests/cli/upgrade/*.tar.gz", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        bench b;
        bench_open(&b);
        unpack(&b, found.gl_pathv[i]);
        says(&b, "doctor", doctor, sizeof doctor / sizeof doctor[0]);
        says(&b, "threads", threads, sizeof threads / sizeof threads[0]);
        says(&b, "threads show demo", show, sizeof show / sizeof show[0]);
        says(&b, "config check", config, sizeof config / sizeof config[0]);
        bench_close(&b);
    }
    globfree(&found);
}

// The byte of the file where a case writes.
static off_t place_of(const char *text, size_t n, const char *after)
{
    return after ? strstr(text, after) - text + (off_t)strlen(after) : (off_t)n;
}

static void refused_whatever_runs(bench *b, int status, const char *says)
{
    char had[256], has[256], command[1024];
    snprintf(had, sizeof had, "%s/had", b->dir);
    snprintf(has, sizeof has, "%s", b->workspace);
    snprintf(command, sizeof command, "cp -a %s %s", has, had);
    assert_int_equal(system(command), 0);
    bench_must_fail(b, "body --driver kinematic", status, says);
    assert_int_equal(bench_run(b, "run " FAST " 'go to the kitchen'"), status);
    assert_int_not_equal(bench_run(b, "doctor --repair"), 0);
    for (size_t i = 0; i < 3; i++) {
        static const char *const files[] = {"config.json", "run/body.ledger", "run/body.epoch"};
        snprintf(command, sizeof command, "cmp %s/%s %s/%s", had, files[i], has, files[i]);
        assert_int_equal(system(command), 0);
    }
}

static void what_is_newer_is_refused_by_name(void **state)
{
    (void)state;
    // A file of the workspace, after what it is changed (NULL: at its end), to what, and how it is refused.
    static const struct {
        const char *file, *after, *now;
        int status;
        const char *says;
    } cases[] = {
        {"config.json", "\"version\": ", "2", 2, "config.json: /version"},
        {"run/body.ledger", NULL, "{\"kind\":\"boot\",\"format\":2,\"sum\":\"e3200bcfc835c1d8\"}\n",
         3, "the ledger has format 2, this program knows up to 1"},
        {"run/body.epoch", "",
         "{\"format\":2,\"epoch\":1,\"latched\":false,\"sum\":\"73c12925c42af365\"}\n", 3,
         "the latch's state has format 2, this program knows up to 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench b;
        char path[256], text[4096] = "";
        bench_open(&b);
        unpack(&b, PONS_SOURCE_DIR "/tests/cli/upgrade/0.1.0.tar.gz");
        snprintf(path, sizeof path, "%s/%s", b.workspace, cases[i].file);
        const int fd = open(path, O_RDWR);
        const ssize_t n = read(fd, text, sizeof text - 1);
        assert_true(n > 0);
        const off_t at = place_of(text, (size_t)n, cases[i].after);
        const size_t now = strlen(cases[i].now);
        assert_int_equal(pwrite(fd, cases[i].now, now, at), now);
        assert_true(cases[i].now[now - 1] != '\n' || ftruncate(fd, at + (off_t)now) == 0);
        close(fd);
        refused_whatever_runs(&b, cases[i].status, cases[i].says);
        bench_close(&b);
    }
}

static void a_newer_store_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const says = "the store has schema 99, this program knows up to";
    bench b;
    char path[256];
    bench_open(&b);
    unpack(&b, PONS_SOURCE_DIR "/tests/cli/upgrade/0.1.0.tar.gz");
    snprintf(path, sizeof path, "%s/pons.db", b.workspace);
    const int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, "\0\0\0\143", 4, 60), 4); // SQLite's user_version
    close(fd);
    bench_must_fail(&b, "run " FAST " 'go to the kitchen'", 3, says);
    bench_must_fail(&b, "threads", 3, says);
    assert_int_not_equal(bench_run(&b, "doctor"), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_an_earlier_version_left_opens, bench_teardown),
        cmocka_unit_test_teardown(what_is_newer_is_refused_by_name, bench_teardown),
        cmocka_unit_test_teardown(a_newer_store_is_refused_by_name, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli/upgrade", tests, NULL, NULL);
}
