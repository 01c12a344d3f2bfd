// test_workspace.c - `pons onboard` and `pons workspace check|show|convert` as a person and a program
// meet them: the files that are made, the line and exit status of each fault, the same records in
// every dialect, and that nothing is written where something is wrong.
#include "cli_bench.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int run(bench *b, proc *p, const char *verb, const char *more)
{
    char words[512];
    snprintf(words, sizeof words, "%s %s", verb, more);
    *p = (proc){0};
    bench_start(b, p, NULL, words);
    return bench_finish(p);
}

static void must_say(const proc *p, const char *text)
{
    char *err = bench_stderr(p);
    if (!strstr(err, text)) {
        fail_msg("no '%s' in\n%s", text, err);
    }
    free(err);
}

static void put(bench *b, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static char *get(bench *b, const char *name)
{
    char path[256];
    char *text = calloc(1, 65536);
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, 65535, f) > 0);
    fclose(f);
    return text;
}

static void files_are_made_once(void **state)
{
    (void)state;
    bench b;
    proc p;
    bench_open(&b);
    assert_int_equal(run(&b, &p, "onboard", ""), 0);
    bench_free(&p);
    char *config = get(&b, "config.json");
    assert_non_null(strstr(config, "\"dialect\": \"seed\""));
    free(config);
    put(&b, "TASK.md", "# mine\n");
    assert_int_equal(run(&b, &p, "onboard --dialect", "paos1"), 0);
    bench_free(&p);
    char *task = get(&b, "TASK.md");
    assert_string_equal(task, "# mine\n");
    free(task);
    assert_int_equal(run(&b, &p, "workspace check", ""), 0);
    assert_non_null(strstr(p.text, "ENVIRONMENT.md: seed"));
    bench_free(&p);
    put(&b, "TASK.sync-conflict-20250401-120000-ABC.md", "# somebody's\n");
    put(&b, ".#ACTION.md", "x");
    assert_int_equal(run(&b, &p, "workspace check", ""), 0); // told, and not read
    must_say(&p, "TASK.sync-conflict-20250401-120000-ABC.md: a program that copies files left");
    must_say(&p, ".#ACTION.md: an editor's lock or unsaved copy");
    bench_free(&p);
    assert_int_equal(run(&b, &p, "onboard --dialect", "klingon"), 2);
    bench_free(&p);
    bench_close(&b);
}

static void faults_by_line_and_status(void **state)
{
    (void)state;
    bench b;
    proc p;
    bench_open(&b);
    assert_int_equal(run(&b, &p, "onboard", ""), 0);
    bench_free(&p);
    put(&b, "ACTION.md",
        "```json\n{\"queue\": [{\"action_id\": \"a\", \"action_type\": 7},\n"
        "{\"action_id\": \"b\", \"action_type\": \"stop\"}]}\n```\n");
    assert_int_equal(run(&b, &p, "workspace check", ""), 1);
    must_say(&p, "ACTION.md:2:31: action a: action_type must be a string\n");
    bench_free(&p);
    assert_int_equal(run(&b, &p, "workspace show --json", "ACTION.md"), 1);
    assert_int_equal(bench_count(&p, "fault", "id", "a"), 1);
    assert_int_equal(bench_count(&p, "record", "id", "b"), 1);
    bench_free(&p);
    // Nothing is converted, also what is clean.
    assert_int_equal(run(&b, &p, "workspace convert --to", "paos2"), 1);
    bench_free(&p);
    char *environment = get(&b, "ENVIRONMENT.md");
    assert_non_null(strstr(environment, "\"v2.0\""));
    free(environment);
    put(&b, "SESSIONS.md", "```yaml\nsessions: [\n```\n");
    assert_int_equal(run(&b, &p, "workspace check", ""), 2);
    must_say(&p, "SESSIONS.md:");
    must_say(&p, "ACTION.md:2:31:");
    bench_free(&p);
    assert_int_equal(run(&b, &p, "workspace check", "/nowhere"), 2);
    bench_free(&p);
    assert_int_equal(run(&b, &p, "workspace show", "OTHER.md"), 2);
    bench_free(&p);
    bench_close(&b);
}

static void the_same_records_in_every_dialect(void **state)
{
    (void)state;
    bench b;
    proc p;
    char words[600];
    static const char *const to[] = {"paos1", "paos2", "seed"};
    bench_open(&b);
    snprintf(words, sizeof words, "cp %s/tests/workspace/seed/*.md %s/", PONS_SOURCE_DIR,
             b.workspace);
    assert_int_equal(run(&b, &p, "onboard", ""), 0);
    bench_free(&p);
    assert_int_equal(system(words), 0);
    assert_int_equal(run(&b, &p, "workspace show --json", ""), 0);
    char *before = strdup(p.text);
    bench_free(&p);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(run(&b, &p, "workspace convert --to", to[i]), 0);
        bench_free(&p);
        assert_int_equal(run(&b, &p, "workspace show --json", ""), 0);
        assert_string_equal(p.text, before);
        bench_free(&p);
        char *config = get(&b, "config.json");
        assert_non_null(strstr(config, to[i]));
        free(config);
    }
    free(before);
    bench_close(&b);
}

static void lessons_are_found_in_every_dialect(void **state)
{
    (void)state;
    static const char *const has[] = {"臂展",   "障碍", "物体超出工作空间",
                                      "Franka", "rank", "0.855"};
    static const char *const to[] = {"paos1", "paos2", "seed"};
    bench b;
    proc p;
    char words[400];
    bench_open(&b);
    assert_int_equal(run(&b, &p, "onboard", ""), 0);
    bench_free(&p);
    assert_int_equal(run(&b, &p, "lessons search", "臂展"), 1); // nothing went wrong yet
    bench_free(&p);
    snprintf(words, sizeof words, "cp %s/tests/workspace/seed/*.md %s/", PONS_SOURCE_DIR,
             b.workspace);
    assert_int_equal(system(words), 0);
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizeof has / sizeof has[0]; k++) {
            snprintf(words, sizeof words, "'%s'", has[k]);
            assert_int_equal(run(&b, &p, "lessons search --json", words), 0);
            assert_int_equal(bench_count(&p, "lesson", "type", "lesson"), 1);
            assert_non_null(strstr(p.text, strstr(has[k], "障碍") ? "kitchen_counter" : "0.855"));
            bench_free(&p);
        }
        assert_int_equal(run(&b, &p, "lessons search", "潜水艇"), 1);
        assert_string_equal(p.text, "");
        bench_free(&p);
        assert_int_equal(run(&b, &p, "workspace convert --to", to[i]), 0);
        bench_free(&p);
    }
    bench_must_fail(&b, "lessons search", 2, "lessons search WORDS");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(files_are_made_once, bench_teardown),
        cmocka_unit_test_teardown(faults_by_line_and_status, bench_teardown),
        cmocka_unit_test_teardown(the_same_records_in_every_dialect, bench_teardown),
        cmocka_unit_test_teardown(lessons_are_found_in_every_dialect, bench_teardown),
    };
    return bench_together("workspace", tests, sizeof tests / sizeof tests[0]);
}
