// test_modules.c - modules of a person's own, in lib/ of the workspace, through the real program:
// each is built beside it (examples/modules/, tests/cli/modules/), put there, and named by an option
// or the configuration.
#include "cli_bench.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// WORKSPACE/lib/NAME.so
static void bring(const bench *b, const char *name)
{
    char command[512];
    snprintf(command, sizeof command,
             "mkdir -m 700 -p %s %s/lib && cp " PONS_BINARY_DIR "/examples/modules/%s.so %s/lib/",
             b->workspace, b->workspace, name, b->workspace);
    assert_int_equal(system(command), 0);
}

static void write_config(bench *b, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/config", b->workspace);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "ws/config/%s", file);
    bench_file(b, path, text);
}

static void a_driver_of_the_workspace_drives(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_must_fail(&b, "run --driver twin 'go to the kitchen'", 2, "no driver 'twin'");
    bring(&b, "driver-twin");
    bench_start(&b, &p, NULL,
                "run --json --thread t --driver twin --seed 3 --speed 20 'go to the kitchen'");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

#define WIGGLE(args)                                                                               \
    "{\"plan_id\":\"plan_1\",\"goal\":\"wiggle\",\"created_at\":0,\"steps\":[{\"step_id\":1,"      \
    "\"action\":"                                                                                  \
    "\"wiggle\",\"parameters\":{" args "}}]}"

// "WORDS --plan DIR/plan.json MORE"; static storage.
static const char *with_plan(bench *b, const char *words, const char *plan, const char *more)
{
    static char line[1024];
    snprintf(line, sizeof line, "%s --plan %s %s", words, bench_file(b, "plan.json", plan), more);
    return line;
}

static void must_refuse(bench *b, const char *words, int status, const char *says)
{
    proc p = {0};
    bench_start(b, &p, NULL, words);
    bench_must_exit(&p, status);
    char *said = bench_stderr(&p);
    if (!strstr(said, says)) {
        fail_msg("“%s” does not say “%s”", said, says);
    }
    free(said);
    bench_free(&p);
}

static void a_skill_of_the_workspace_moves_the_robot(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bring(&b, "skill-wiggle");
    must_refuse(&b, with_plan(&b, "run " FAST, WIGGLE(""), ""), 2, "no skill wiggle");
    must_refuse(&b, with_plan(&b, "run " FAST " --skills wiggle", WIGGLE("\"speed\":3"), ""), 2,
                "speed");
    must_refuse(&b, with_plan(&b, "run " FAST " --skills wiggle", WIGGLE("\"angle_rad\":3"), ""), 2,
                "angle_rad");
    bench_start(&b, &p, NULL,
                with_plan(&b, "run --json --thread t " FAST " --skills wiggle",
                          WIGGLE("\"angle_rad\":0.5"), ""));
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_int_equal(bench_ledger_count(&b, NULL, "done"), 1);
    bench_close(&b);
}

static const char *skills_of_the_body(bench *b)
{
    static char names[64];
    char path[256];
    snprintf(path, sizeof path, "%s/run/body.json", b->workspace);
    pons_value *about = NULL;
    pons_value_load(path, &about, NULL);
    snprintf(names, sizeof names, "%s", pons_get_str(about, "skills", ""));
    pons_value_unref(about);
    return names;
}

static void a_stop_ends_it_and_a_resume_brings_it_again(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bring(&b, "skill-wiggle");
    bench_start(&b, &p, NULL,
                with_plan(&b, "run --json --thread t " WATCHABLE " --skills wiggle",
                          WIGGLE("\"angle_rad\":1,\"times\":5"), "--wait 1"));
    bench_ledger_await(&b, "started", 1);
    assert_int_equal(bench_run(&b, "stop"), 0);
    bench_ledger_await(&b, "failed", 1);
    bench_must_exit(&p, 4);
    bench_free(&p);
    pons_value *ledger = bench_ledger(&b);
    for (size_t i = 0; i < json_array_size(ledger); i++) {
        const pons_value *line = json_array_get(ledger, i);
        if (strcmp(pons_get_str(line, "skill", ""), "wiggle") == 0) {
            assert_string_not_equal(pons_get_str(line, "state", ""), "done");
        }
    }
    pons_value_unref(ledger);
    assert_string_equal(skills_of_the_body(&b), "wiggle");
    bench_end_body(&b); // a resume starts one like it
    bench_start(&b, &p, NULL, "resume t --json --wait 1");
    bench_must_exit(&p, 4); // the stop is still in force
    bench_free(&p);
    assert_string_equal(skills_of_the_body(&b), "wiggle");
    bench_close(&b);
}

static bool doctor_said(const proc *p, const char *check, const char *state, const char *detail)
{
    size_t i;
    json_t *line;
    json_array_foreach(p->events, i, line) {
        if (strcmp(pons_get_str(line, "check", ""), check) == 0 &&
            strcmp(pons_get_str(line, "state", ""), state) == 0 &&
            strstr(pons_get_str(line, "detail", ""), detail)) {
            return true;
        }
    }
    return false;
}

static void doctor_looks_at_each(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bring(&b, "skill-wiggle");
    bring(&b, "skill-old");
    bring(&b, "tool-shelf");
    bench_file(&b, "ws/lib/llm-broken.so", "no library");
    bench_file(&b, "ws/lib/shelf.so", "of no kind");
    bench_start(&b, &p, NULL, "doctor --json");
    bench_must_exit(&p, 0);
    assert_true(doctor_said(&p, "skill wiggle", "ok", "lib/skill-wiggle.so loads, ABI 2"));
    assert_true(doctor_said(&p, "tool shelf", "ok", "lib/tool-shelf.so"));
    assert_true(doctor_said(&p, "skill old", "absent", "ABI 3"));
    assert_true(doctor_said(&p, "llm broken", "absent", "llm-broken.so"));
    assert_true(doctor_said(&p, "module", "note", "shelf.so"));
    bench_free(&p);
    bench_close(&b);
}

static void a_bad_skill_is_refused_at_the_start(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    bring(&b, "skill-wiggle");
    bring(&b, "skill-spin");
    bring(&b, "skill-old");
    bring(&b, "skill-loose");
    static const struct {
        const char *names;
        int status;
        const char *says;
    } rows[] = {
        {"dance", 2, "no skill 'dance'"},
        {"../dance", 2, "not a name"},
        {"wiggle,", 2, "not a name"},
        {"spin", 2, "there is a skill spin already"},
        {"wiggle,wiggle", 2, "there is a skill wiggle already"},
        {"loose", 2, "skill loose"},
        {"old", 3, "contract is version 3"},
        {"a,b,c,d,e,f,g,h,i", 2, "skill"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char words[256];
        snprintf(words, sizeof words, "body --driver kinematic --skills %s", rows[i].names);
        bench_must_fail(&b, words, rows[i].status, rows[i].says);
        snprintf(words, sizeof words, "run " FAST " --skills %s 'go to the kitchen'",
                 rows[i].names);
        bench_must_fail(&b, words, rows[i].status, rows[i].says);
    }
    bench_close(&b);
}

static void a_store_of_the_workspace_keeps(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char url[200], file[160];
    bench_open(&b);
    bring(&b, "store-shed");
    snprintf(file, sizeof file, "%s/shed.db", b.dir);
    snprintf(url, sizeof url, "shed:%s", file);
    setenv("PONS_STORE", url, 1);
    bench_start(&b, &p, NULL, "run --json --thread t " FAST " 'go to the kitchen'");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_start(&b, &p, NULL, "threads --json"); // which only reads
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "\"t\""));
    bench_free(&p);
    assert_int_equal(access(file, F_OK), 0);
    setenv("PONS_STORE", "barn:x", 1);
    bench_must_fail(&b, "threads", 2, "no store 'barn'");
    unsetenv("PONS_STORE");
    snprintf(file, sizeof file, "%s/pons.db", b.workspace);
    assert_int_not_equal(access(file, F_OK), 0); // nothing was written where a file would be
    bench_close(&b);
}

static void a_model_of_the_workspace_answers(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bring(&b, "llm-parrot");
    setenv("OPENAI_API_KEY", "sk-of-another", 1);
    bench_start(&b, &p, NULL, "agent --json --llm 'parrot:a pretty bird' hello");
    bench_must_exit(&p, 0);
    unsetenv("OPENAI_API_KEY");
    assert_int_equal(bench_count(&p, "done", "content", "a pretty bird"), 1);
    bench_free(&p);
    bench_must_fail(&b, "agent --llm raven:x hello", 2, "no llm 'raven'");
    bench_must_fail(&b, "agent --llm raven hello", 2, "--llm takes a URL");
    bench_must_fail(&b, "agent --llm ftp://x hello", 2, "--llm takes a URL");
    bench_close(&b);
}

static void a_tool_of_the_workspace_is_called(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char words[256];
    bench_open(&b);
    bring(&b, "tool-shelf");
    bench_file(&b, "s.yaml",
               "replies:\n"
               "- tool_calls: [{name: shelf.find, arguments: {thing: tea}}]\n"
               "- {when: {messages.-1.content: {contains: tea is in kitchen}}, tool_calls: "
               "[{name: shelf.find, arguments: {thing: unicorn}}]}\n"
               "- {when: {messages.-1.content: {contains: nobody knows where unicorn is}}, "
               "content: tea I can bring}\n"
               "- content: what happened\n");
    write_config(&b, "tools.yaml", "modules: [{name: shelf, things: {tea: kitchen}}]\n");
    snprintf(words, sizeof words, "agent --json --llm script:%s/s.yaml 'tea, please'", b.dir);
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "done", "content", "tea I can bring"), 1);
    bench_free(&p);

    static const struct {
        const char *config, *says;
    } bad[] = {
        {"modules: [cellar]\n", "no tool 'cellar'"},
        {"modules: [../shelf]\n", "/modules/0"},
        {"modules: [shelf]\n", "`things` says what is in which zone"},
        {"modules: [{things: {}}]\n", "name"},
        {"modules: shelf\n", "modules"},
        {"modules: [a, b, c, d, e, f, g, h, i]\n", "modules"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_config(&b, "tools.yaml", bad[i].config);
        bench_must_fail(&b, words, 2, bad[i].says);
    }
    bench_close(&b);
}

static void what_others_could_change_is_not_loaded(void **state)
{
    (void)state;
    bench b;
    char path[256], target[256];
    bench_open(&b);
    bring(&b, "llm-parrot");
    snprintf(path, sizeof path, "%s/lib", b.workspace);
    chmod(path, 0777);
    bench_must_fail(&b, "agent --llm parrot:x hello", 3, "lib may be written by everybody");
    chmod(path, 0700);
    snprintf(path, sizeof path, "%s/lib/llm-parrot.so", b.workspace);
    chmod(path, 0666);
    bench_must_fail(&b, "agent --llm parrot:x hello", 3, "may be written by everybody");
    chmod(path, 0600);
    // A link is judged by where it leads, and by the folders there.
    snprintf(target, sizeof target, "%s/open", b.dir);
    mkdir(target, 0700);
    snprintf(target, sizeof target, "%s/open/parrot.so", b.dir);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(bench_run(&b, "agent --llm parrot:x hello"), 0);
    snprintf(target, sizeof target, "%s/open", b.dir);
    chmod(target, 0777);
    bench_must_fail(&b, "agent --llm parrot:x hello", 3, "open may be written by everybody");
    bench_close(&b);
}

static void what_pons_brings_is_not_replaced(void **state)
{
    (void)state;
    bench b;
    char from[256], to[256];
    proc p = {0};
    bench_open(&b);
    bring(&b, "llm-parrot");
    snprintf(from, sizeof from, "%s/lib/llm-parrot.so", b.workspace);
    snprintf(to, sizeof to, "%s/lib/graph-letters.so", b.workspace);
    assert_int_equal(rename(from, to), 0);
    bench_start(&b, &p, NULL, "graph show letters"); // the installed one
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_driver_of_the_workspace_drives, bench_teardown),
        cmocka_unit_test_teardown(a_skill_of_the_workspace_moves_the_robot, bench_teardown),
        cmocka_unit_test_teardown(a_stop_ends_it_and_a_resume_brings_it_again, bench_teardown),
        cmocka_unit_test_teardown(doctor_looks_at_each, bench_teardown),
        cmocka_unit_test_teardown(a_bad_skill_is_refused_at_the_start, bench_teardown),
        cmocka_unit_test_teardown(a_store_of_the_workspace_keeps, bench_teardown),
        cmocka_unit_test_teardown(a_model_of_the_workspace_answers, bench_teardown),
        cmocka_unit_test_teardown(a_tool_of_the_workspace_is_called, bench_teardown),
        cmocka_unit_test_teardown(what_others_could_change_is_not_loaded, bench_teardown),
        cmocka_unit_test_teardown(what_pons_brings_is_not_replaced, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli/modules", tests, NULL, NULL);
}
