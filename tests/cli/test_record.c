// test_record.c - `pons record`, `--record` and `pons replay` as a person uses them: a run is recorded
// whole, a file that is there is left alone, one that is cut off is told and replayed, a replay says the
// same each time.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t count(const pons_value *about, const char *topic)
{
    size_t i;
    json_t *t;
    json_array_foreach(pons_get(about, "topics"), i, t) {
        if (strcmp(pons_get_str(t, "topic", ""), topic) == 0) {
            return pons_get_int(t, "messages", 0);
        }
    }
    return 0;
}

static void test_a_run_is_recorded_and_replayed(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, one = {0}, two = {0};
    char words[512], path[256];
    pons_value *about = NULL;
    bench_open(&b);
    snprintf(path, sizeof path, "%s/run.mcap", b.dir);
    snprintf(words, sizeof words, "run --json --driver kinematic --speed 5 --record %s 去厨房",
             path);
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    snprintf(words, sizeof words, "record info %s --json", path);
    assert_int_equal(bench_run_json(&b, words, &about), 0);
    assert_true(pons_get_bool(about, "whole", false));
    assert_true(count(about, "/scan") > 0 && count(about, "/map") > 0);
    assert_int_equal(count(about, "/tf"), count(about, "/body/telemetry"));
    // Each event that was shown is in it.
    assert_int_equal(count(about, "/events"), json_array_size(p.events));
    assert_string_equal(pons_get_str(pons_get(pons_get(about, "metadata"), "pons"), "dropped", ""),
                        "0");
    pons_value_unref(about);
    // The same again is no new file.
    snprintf(words, sizeof words, "run --driver kinematic --record %s 去厨房", path);
    bench_must_fail(&b, words, 2, "the file is there already");

    snprintf(words, sizeof words, "replay %s --json", path);
    bench_start(&b, &one, NULL, words);
    bench_must_exit(&one, 0);
    bench_start(&b, &two, NULL, words);
    bench_must_exit(&two, 0);
    assert_true(json_equal(one.events, two.events));
    // K2 saw it drive, K3 says where it got to.
    const pons_value *world = NULL;
    json_t *line;
    size_t i;
    json_array_foreach(one.events, i, line) {
        world =
            strcmp(pons_get_str(line, "type", ""), "world") == 0 ? pons_get(line, "value") : world;
    }
    assert_true(json_array_size(one.events) > 20);
    assert_non_null(strstr(pons_get_str(world, "summary", ""), "robot in kitchen"));
    bench_free(&p);
    bench_free(&one);
    bench_free(&two);
    bench_close(&b);
}

// From outside, and from before there is anything: the body, the thread and the store come later. What the
// body of a goal says that takes a hundredth of a second is there too.
static void test_recorded_from_outside(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char words[512], path[256];
    pons_value *about = NULL;
    bench_open(&b);
    snprintf(path, sizeof path, "%s/outside.mcap", b.dir);
    snprintf(words, sizeof words, "record %s", path);
    bench_start(&b, &p, NULL, words);
    bench_err_await(&p, "Ctrl-C ends it");
    assert_int_equal(bench_run(&b, "do wait s=0.2 " FAST), 0);
    assert_int_equal(bench_run(&b, "run " FAST " 去厨房"), 0);
    bench_signal(&p, SIGINT);
    bench_must_exit(&p, 0);
    bench_free(&p);
    snprintf(words, sizeof words, "record info %s --json", path);
    assert_int_equal(bench_run_json(&b, words, &about), 0);
    assert_true(count(about, "/events") > 5);
    assert_int_equal(count(about, "/events"), count(about, "/log"));
    assert_true(count(about, "/tf") > 0);
    assert_int_equal(count(about, "/body/hello"), 2);
    pons_value_unref(about);
    bench_close(&b);
}

static void test_cut_off(void **state)
{
    (void)state;
    bench b;
    struct stat st;
    char words[512], path[256];
    bench_open(&b);
    snprintf(path, sizeof path, "%s/story.mcap", b.dir);
    snprintf(words, sizeof words, "scenario run 1-navigate --record %s", path);
    assert_int_equal(bench_run(&b, words), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size * 2 / 3), 0);
    snprintf(words, sizeof words, "record info %s", path);
    assert_int_equal(bench_run(&b, words), 1);
    snprintf(words, sizeof words, "replay %s", path);
    assert_int_equal(bench_run(&b, words), 0);
    bench_close(&b);
}

static void test_bad_input(void **state)
{
    (void)state;
    bench b;
    char words[512];
    bench_open(&b);
    snprintf(words, sizeof words, "record info %s", bench_file(&b, "text.mcap", "hello, world"));
    bench_must_fail(&b, words, 2, "byte 0");
    // What is damaged, and what holds no messages of a body, is bad input too, and says where.
    static const char head[] = "\x89MCAP0\r\n\1\10\0\0\0\0\0\0\0"
                               "\0\0\0\0\0\0\0\0"; // of no profile and library
    static const char channel[] = "\4\43\0\0\0\0\0\0\0\1\0\0\0\17\0\0\0/body/telemetry"
                                  "\4\0\0\0json\0\0\0\0";
    static const char message[] = "\5\30\0\0\0\0\0\0\0\1\0\7\0\0\0\1\0\0\0\0\0\0\0"
                                  "\1\0\0\0\0\0\0\0{]";
    char path[256];
    snprintf(path, sizeof path, "%s/odd.mcap", b.dir);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fwrite(head, 1, sizeof head - 1, f);
    fwrite(channel, 1, sizeof channel - 1, f);
    fwrite(message, 1, sizeof message - 1, f);
    fclose(f);
    snprintf(words, sizeof words, "replay %s", path);
    bench_must_fail(&b, words, 2, "odd.mcap: message 7 of /body/telemetry");
    f = fopen(path, "ae");
    assert_non_null(f);
    fwrite("\5\1\0\0\0\0\0\0\0x", 1, 10, f);
    fclose(f);
    snprintf(words, sizeof words, "record info %s", path);
    bench_must_fail(&b, words, 2, "odd.mcap: byte");
    bench_must_fail(&b, "record", 2, "pons record FILE.mcap");
    bench_must_fail(&b, "record info", 2, "pons record FILE.mcap");
    bench_must_fail(&b, "replay", 2, "replay takes one recording");
    bench_must_fail(&b, "replay none.mcap", 2, "none.mcap");
    bench_must_fail(&b, "scenario run all --record x.mcap", 2, "one run of one file");
    // Where nothing was run there is no file that looks as if.
    snprintf(words, sizeof words, "scenario run %s --record %s/none.mcap",
             bench_file(&b, "bad.yaml", "nane: bad\n"), b.dir);
    bench_must_fail(&b, words, 2, "bad.yaml");
    snprintf(words, sizeof words, "%s/none.mcap", b.dir);
    assert_int_equal(access(words, F_OK), -1);
    bench_must_fail(&b, "record x.mcap --every 3", 2, "--every is of --camera");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_run_is_recorded_and_replayed, bench_teardown),
        cmocka_unit_test_teardown(test_recorded_from_outside, bench_teardown),
        cmocka_unit_test_teardown(test_cut_off, bench_teardown),
        cmocka_unit_test_teardown(test_bad_input, bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
