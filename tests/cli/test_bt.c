// test_bt.c - `pons bt check|show|run` as a person and a program meet it: the lines of a run, the
// stream of changes, every fault of several files at once with its place, what a wrong script of
// leaves says, exit statuses. What the trees mean is shown in tests/bt.
#include "cli_bench.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TREE[] = "root { sequence { condition [c] action [a, 1] wait [300] } }";
static const char SCRIPT[] = "{\"ticks\":3,\"leaves\":{\"a\":\"RS\",\"c\":\"T\"},\"dt_ms\":200}";

// Runs `pons bt WORDS`; the caller reads p and frees it.
static int bt(bench *b, proc *p, const char *words, const char *file)
{
    char all[600];
    snprintf(all, sizeof all, "bt %s %s/%s", words, b->dir, file);
    *p = (proc){0};
    bench_start(b, p, NULL, all);
    return bench_finish(p);
}

static int bt_run(bench *b, proc *p, const char *words, const char *file)
{
    char all[300];
    snprintf(all, sizeof all, "run %s --script %s/s.json", words, b->dir);
    return bt(b, p, all, file);
}

static void must_say(const proc *p, const char *text)
{
    char *err = bench_stderr(p);
    if (!strstr(err, text)) {
        fail_msg("no '%s' in\n%s", text, err);
    }
    free(err);
}

static void a_run_line_by_line(void **state)
{
    (void)state;
    bench b;
    proc p;
    bench_open(&b);
    bench_file(&b, "t.mdsl", TREE);
    bench_file(&b, "s.json", SCRIPT);
    assert_int_equal(bt_run(&b, &p, "--json", "t.mdsl"), 0);
    assert_string_equal(
        p.text,
        "{\"tick\":1,\"status\":\"RUNNING\",\"states\":\"R(R(SR-))\",\"calls\":[\"c\","
        "\"a+(1)\"]}\n"
        "{\"tick\":2,\"status\":\"RUNNING\",\"states\":\"R(R(SSR))\",\"calls\":[\"a(1)\"]}\n"
        "{\"tick\":3,\"status\":\"SUCCEEDED\",\"states\":\"S(S(SSS))\",\"calls\":[]}\n");
    bench_free(&p);
    assert_int_equal(bt_run(&b, &p, "", "t.mdsl"), 0);
    assert_non_null(strstr(p.text, "SUCCEEDED  S(S(SSS))"));
    bench_free(&p);
    bench_close(&b);
}

static void changes_as_they_happen(void **state)
{
    (void)state;
    bench b;
    proc p;
    bench_open(&b);
    bench_file(&b, "t.xml",
               "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\"><Sequence>"
               "<Action ID=\"a\"/><AlwaysSuccess/></Sequence></BehaviorTree></root>");
    bench_file(&b, "s.json", SCRIPT);
    assert_int_equal(bt_run(&b, &p, "--json --watch", "t.xml"), 0);
    size_t changes = 0, ticks = 0;
    const char *states[] = {"IDLE", "IDLE", "IDLE"};
    for (size_t i = 0; i < json_array_size(p.events); i++) {
        const pons_value *ev = json_array_get(p.events, i);
        ticks += pons_get(ev, "status") != NULL;
        if (pons_get(ev, "path")) { // each change begins where the one before it ended
            const size_t node = (size_t)pons_get_int(ev, "node", 9);
            assert_in_range(node, 0, 2);
            assert_string_equal(pons_get_str(ev, "from", ""), states[node]);
            states[node] = pons_get_str(ev, "to", "");
            assert_int_equal(pons_get_int(ev, "tick", 0), (int64_t)ticks + 1);
            changes++;
        }
    }
    assert_int_equal(ticks, 3);
    assert_true(changes >= 8);
    const pons_value *first = json_array_get(p.events, 0);
    assert_string_equal(pons_get_str(first, "path", ""), "Sequence");
    bench_free(&p);
    bench_close(&b);
}

static void a_tick_that_fails(void **state)
{
    (void)state;
    bench b;
    proc p;
    bench_open(&b);
    bench_file(&b, "t.mdsl", "root {\n  sequence {\n    action [missing] } }");
    bench_file(&b, "s.json", "{\"ticks\":3}");
    assert_int_equal(bt_run(&b, &p, "--json", "t.mdsl"), 1);
    assert_int_equal(json_array_size(p.events), 1);
    const pons_value *ev = json_array_get(p.events, 0);
    assert_string_equal(pons_get_str(ev, "status", ""), "ERROR");
    assert_non_null(strstr(pons_get_str(ev, "error", ""), "'missing'"));
    assert_non_null(strstr(pons_get_str(ev, "error", ""), "t.mdsl:3:5, root > sequence > action"));
    bench_free(&p);
    bench_close(&b);
}

static void every_fault_of_every_file(void **state)
{
    (void)state;
    bench b;
    proc p;
    char words[300];
    bench_open(&b);
    bench_file(&b, "good.mdsl", TREE);
    bench_file(&b, "bad.mdsl",
               "root {\n  sequence { action [] wait [-1]\n repeat [1.5] { wait } } }");
    bench_file(&b, "bad.xml",
               "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\">\n <Sequence>\n"
               "  <Nobody/>\n  <Sleep/></Sequence></BehaviorTree></root>");
    snprintf(words, sizeof words, "check %s/good.mdsl %s/bad.mdsl", b.dir, b.dir);
    assert_int_equal(bt(&b, &p, words, "bad.xml"), 2);
    assert_non_null(strstr(p.text, "good.mdsl: ok, 5 nodes"));
    must_say(&p, "bad.mdsl:2:21: missing function name");
    must_say(&p, "bad.mdsl:2:29: a wait node must have a positive duration");
    must_say(&p, "bad.mdsl:3:10: repeat node iteration counts must be integer values");
    must_say(&p, "bad.xml:3:3: unknown node <Nobody>");
    must_say(&p, "bad.xml:4:3: missing port [msec] of <Sleep>");
    bench_free(&p);
    assert_int_equal(bt(&b, &p, "check --json", "bad.xml"), 2);
    assert_int_equal(json_array_size(p.events), 2);
    assert_int_equal(pons_get_int(json_array_get(p.events, 1), "line", 0), 4);
    bench_free(&p);
    // Trees for a program that names one: check reads them all, and what is drawn is asked for.
    bench_file(&b, "library.xml",
               "<root BTCPP_format=\"4\"><BehaviorTree ID=\"A\"><SubTree ID=\"B\"/></BehaviorTree>"
               "<BehaviorTree ID=\"B\"><AlwaysSuccess/></BehaviorTree></root>");
    assert_int_equal(bt(&b, &p, "check", "library.xml"), 0);
    bench_free(&p);
    assert_int_equal(bt(&b, &p, "show", "library.xml"), 2);
    must_say(&p, "there are several trees and no main_tree_to_execute");
    bench_free(&p);
    bench_close(&b);
}

static void a_drawing(void **state)
{
    (void)state;
    bench b;
    proc p;
    bench_open(&b);
    bench_file(&b, "t.mdsl", TREE);
    assert_int_equal(bt(&b, &p, "show", "t.mdsl"), 0);
    assert_string_equal(p.text, "root\n  sequence\n    condition [c]\n    action [a, 1]\n"
                                "    wait [300]\n");
    bench_free(&p);
    assert_int_equal(bt(&b, &p, "show --format dot", "t.mdsl"), 0);
    assert_non_null(strstr(p.text, "n1 -> n3"));
    bench_free(&p);
    assert_int_equal(bt(&b, &p, "show --format png", "t.mdsl"), 2);
    bench_free(&p);
    bench_close(&b);
}

static void wrong_words_and_scripts(void **state)
{
    (void)state;
    static const char *const scripts[][2] = {
        {"[1]", "an object {leaves:"},
        {"{\"ticks\":-1}", "'ticks' is a whole number"},
        {"{\"tick\":\"often\"}", "'tick' is exactly_once"},
        {"{\"leaves\":{\"a\":\"SQ\"}}", "'a' has letters"},
        {"{\"random\":[\"x\"]}", "'random' is a list"},
        {"{\"events\":[{\"halt\":true}]}", "'events' is a list"},
        {"{\"dt_ms\":1e99}", "'dt_ms' is a number"},
        {"{\"leaves\":", "s.json:1:"},
    };
    bench b;
    char words[300];
    bench_open(&b);
    bench_file(&b, "t.mdsl", TREE);
    snprintf(words, sizeof words, "bt run %s/t.mdsl --script %s/s.json", b.dir, b.dir);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        bench_file(&b, "s.json", scripts[i][0]);
        bench_must_fail(&b, words, 2, scripts[i][1]);
    }
    bench_must_fail(&b, "bt run nowhere.xml", 2, "nowhere.xml");
    bench_must_fail(&b, "bt check tree.txt", 2, "tree.txt");
    bench_must_fail(&b, "bt", 2, "pons bt check FILE");
    bench_must_fail(&b, "bt dance x.xml", 2, "it takes check, show");
    bench_close(&b);
}

// A picture is graphviz's work; without it one line says so, and nothing else speaks.
static void a_picture_without_graphviz(void **state)
{
    (void)state;
    bench b;
    char words[200], *path = strdup(getenv("PATH"));
    bench_open(&b);
    bench_file(&b, "t.mdsl", TREE);
    assert_int_equal(setenv("PATH", b.dir, 1), 0);
    snprintf(words, sizeof words, "bt show --format svg %s/t.mdsl", b.dir);
    bench_must_fail(&b, words, 3, "graphviz");
    bench_must_fail(&b, "graph show react --format svg", 3, "graphviz");
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_run_line_by_line, bench_teardown),
        cmocka_unit_test_teardown(changes_as_they_happen, bench_teardown),
        cmocka_unit_test_teardown(a_tick_that_fails, bench_teardown),
        cmocka_unit_test_teardown(every_fault_of_every_file, bench_teardown),
        cmocka_unit_test_teardown(a_drawing, bench_teardown),
        cmocka_unit_test_teardown(wrong_words_and_scripts, bench_teardown),
        cmocka_unit_test_teardown(a_picture_without_graphviz, bench_teardown),
    };
    return bench_together("bt", tests, sizeof tests / sizeof tests[0]);
}
