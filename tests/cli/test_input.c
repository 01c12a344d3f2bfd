// test_input.c - input that is not right: one line on standard error, with its place, and the exit
// status that its kind has; and help. Each row is the real program, run.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void bad_input_is_one_line_and_two(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } rows[] = {
        {"run 'go to the moon'", "moon"},
        {"run 去月球", "月球"},
        {"run ' '", "goal 1 is empty"},
        {"run 去厨房 ''", "goal 2 is empty"},
        {"run 停", "control word"},
        {"run --fly 去厨房", "--fly"},
        {"run --speed 0 去厨房", "--speed"},
        {"run --speed fast 去厨房", "fast"},
        {"run --speed 1e9 去厨房", "1e9"},
        {"run --speed nan 去厨房", "nan"},
        {"run --seed -1 去厨房", "--seed"},
        {"run 去厨房 --speed", "needs a value"},
        {"run --thread a/b 去厨房", "a/b"},
        {"run --thread '' 去厨房", "1 to 127 bytes"},
        {"run --thread 'a\xe2\x80\xae"
         "b' 去厨房",
         "cannot be seen"}, // turns the direction
        {"run --thread 'a\xc2\x9b"
         "b' 去厨房",
         "cannot be seen"}, // C1
        {"run --llm ftp://x 去厨房", "ftp://x"},
        {"run --llm script:/nonexistent.yaml 去厨房", "/nonexistent.yaml"},
        {"run --stream all 去厨房", "--stream"},
        {"run --world nowhere 去厨房", "nowhere"},
        {"run --driver --speed", "--"},
        {"body --battery 101", "--battery"},
        {"body --battery", "needs a value"},
        {"body now", "now"},
        {"body --speed 1000", "--speed"},
        {"say", "nothing to say"},
        {"scenario", "scenario"},
        {"scenario run", "scenario"},
        {"scenario run nothing-like-this", "nothing-like-this"},
        {"scenario fuzz --seeds 5", "--seeds"},
        {"scenario fuzz --seeds 1..2 --out /no/such/place", "/no/such/place"},
        {"scenario fuzz --seeds 5..1", "--seeds"},
        {"graph", "graph"},
        {"graph show cat", "cat"},
        {"graph show kernel --format png", "png"},
        {"threads eat", "eat"},
        {"threads show", "one thread"},
        {"status a b", "one thread"},
        {"resume a b", "one thread"},
        {"approve t maybe", "maybe"},
        {"dance", "dance"},
        {"help dance", "dance"},
    };
    bench b;
    bench_open(&b);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_must_fail(&b, rows[i].words, 2, rows[i].says);
    }
    bench_close(&b);
}

static void an_unknown_thread_is_bad_input(void **state)
{
    (void)state;
    static const char *const before[] = {"status", "resume", "say hello", "pause", "approve"};
    static const char *const rows[] = {
        "status ghost",          "resume ghost",     "threads show ghost",
        "threads history ghost", "threads rm ghost", "say hello --thread ghost",
        "pause --thread ghost",  "approve ghost",    "continue --thread ghost",
        "approve ghost approve"};
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        bench_must_fail(&b, before[i], 2, "no thread");
    }
    bench_start(&b, &p, NULL, "run --json --thread real " FAST " 去厨房");
    bench_must_exit(&p, 0);
    bench_free(&p);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_must_fail(&b, rows[i], 2, "ghost");
    }
    pons_autovalue s = NULL;
    assert_int_equal(bench_run_json(&b, "threads --json", &s), 0);
    assert_string_equal(pons_get_str(s, "thread", ""), "real"); // no ghost was made by asking
    bench_close(&b);
}

// Writes worlds/house.yaml with a mistake in its bounds; returns the line that it is in.
static int house_with_a_word_for_a_number(bench *b)
{
    static char text[1 << 16];
    static const char right[] = "bounds: [0, 0, 10,";
    FILE *f = fopen(PONS_SOURCE_DIR "/worlds/house.yaml", "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    char *at = strstr(text, right);
    assert_non_null(at);
    memcpy(at + strlen("bounds: [0, 0, "), "XX", strlen("XX"));
    int line = 1;
    for (const char *c = text; c < at; c++) {
        line += *c == '\n';
    }
    bench_file(b, "w.yaml", text);
    return line;
}

static void bad_files_are_named_with_their_place(void **state)
{
    (void)state;
    bench b;
    char words[512], place[64];
    bench_open(&b);
    const int line = house_with_a_word_for_a_number(&b);
    snprintf(words, sizeof words, "run --world %s/w.yaml 去厨房", b.dir);
    snprintf(place, sizeof place, "w.yaml:%d:16", line);
    bench_must_fail(&b, words, 2, place);
    snprintf(words, sizeof words, "body --driver kinematic --world %s",
             bench_file(&b, "w.yaml", "name: [w\n"));
    bench_must_fail(&b, words, 2, "w.yaml:");
    snprintf(words, sizeof words, "scenario run %s",
             bench_file(&b, "s.yaml", "name: s\ngoals: [x]\nexpect: {status: happy}\n"));
    bench_must_fail(&b, words, 2, "s.yaml:3:18");
    snprintf(words, sizeof words, "run --llm script:%s 去厨房",
             bench_file(&b, "m.yaml", "replies:\n  - contents: x\n"));
    bench_must_fail(&b, words, 2, "m.yaml:2:");
    bench_close(&b);
}

static void an_environment_that_will_not_do_is_three(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    bench_must_fail(&b, "status", 3, "no workspace"); // nothing was made by looking
    assert_int_equal(access(b.workspace, F_OK), -1);
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    bench_must_fail(&b, "stop", 3, "");
    bench_must_fail(&b, "reset", 3, "");
    bench_must_fail(&b, "run --driver gazebo9 去厨房", 2, "gazebo9");
    bench_file(&b, "ws/pons.db", "this is no database, whatever its name says\n");
    bench_must_fail(&b, "status", 3, "pons.db");
    bench_must_fail(&b, "run --driver kinematic 去厨房", 3, "pons.db");
    bench_file(&b, "file", "a file where the workspace should be\n");
    snprintf(b.workspace, sizeof b.workspace, "%s/file", b.dir);
    bench_must_fail(&b, "run --driver kinematic 去厨房", 3, "file");
    bench_must_fail(&b, "body --driver kinematic", 3, "file");
    snprintf(b.workspace, sizeof b.workspace, "%s/file/below", b.dir);
    bench_must_fail(&b, "run --driver kinematic 去厨房", 3, "file");
    bench_close(&b);
}

static void help_and_drawings(void **state)
{
    (void)state;
    static const char *const rows[] = {"help",
                                       "help run",
                                       "run --help",
                                       "--version",
                                       "help doctor",
                                       "graph show kernel",
                                       "graph show agent",
                                       "graph show react --format dot",
                                       "graph show react --format json"};
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        proc p = {0};
        bench_start(&b, &p, NULL, rows[i]);
        bench_must_exit(&p, 0);
        assert_true(p.length > 0);
        bench_free(&p);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(bad_input_is_one_line_and_two, bench_teardown),
        cmocka_unit_test_teardown(an_unknown_thread_is_bad_input, bench_teardown),
        cmocka_unit_test_teardown(bad_files_are_named_with_their_place, bench_teardown),
        cmocka_unit_test_teardown(an_environment_that_will_not_do_is_three, bench_teardown),
        cmocka_unit_test_teardown(help_and_drawings, bench_teardown),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
