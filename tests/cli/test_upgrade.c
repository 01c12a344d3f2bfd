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
    static const char *const doctor[] = {"pons.db: whole; 1 threads, 47 checkpoints can be read",
                                         "6 lines, 1 goals, 0 sealed parts",
                                         "the next body starts latched, the fixture"};
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

static void what_is_newer_is_refused_by_name(void **state)
{
    (void)state;
    // A file of the workspace, from which byte it is changed, to what, and how it is refused.
    static const struct {
        const char *file, *after, *now;
        size_t n;
        int status;
        const char *says;
    } cases[] = {
        {"pons.db", NULL, "\0\0\0\143", 4, 3, "the store has schema 99, this program knows up to"},
        {"config.json", "\"version\": ", "2", 1, 2, "config.json: /version"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench b;
        char path[256], text[512] = "";
        bench_open(&b);
        unpack(&b, PONS_SOURCE_DIR "/tests/cli/upgrade/0.1.0.tar.gz");
        snprintf(path, sizeof path, "%s/%s", b.workspace, cases[i].file);
        const int fd = open(path, O_RDWR);
        assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
        const off_t at = cases[i].after
                             ? strstr(text, cases[i].after) - text + (off_t)strlen(cases[i].after)
                             : 60; // SQLite's user_version
        assert_int_equal(pwrite(fd, cases[i].now, cases[i].n, at), cases[i].n);
        close(fd);
        bench_must_fail(&b, "run " FAST " 'go to the kitchen'", cases[i].status, cases[i].says);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_an_earlier_version_left_opens, bench_teardown),
        cmocka_unit_test_teardown(what_is_newer_is_refused_by_name, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli/upgrade", tests, NULL, NULL);
}
