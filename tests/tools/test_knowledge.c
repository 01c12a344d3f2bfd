// search_knowledge and search_lessons: words are found in English and in Chinese, also words of one
// and two characters; what is new, changed or gone shows in the next search; nothing that a query
// holds is taken for syntax; a broken index is made anew.
#include "tools/tools_fixture.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const bench *b, const char *relative, const char *text)
{
    bench_write(b, relative, text, strlen(text));
}

static void finds(bench *b, const char *tool, const char *query, const char *what)
{
    pons_autovalue args = pons_object("query", json_string(query), NULL);
    char *text = NULL;
    assert_true(pons_value_dump(args, &text) > 0);
    char *out = bench_output(b, tool, text);
    if (what ? !strstr(out, what) : !strstr(out, "no document") && !strstr(out, "none of")) {
        fail_msg("%s: expected %s in: %s", query, what ? what : "nothing", out);
    }
    free(out);
    free(text);
}

static void test_finds_words(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    put(&b, "ws/house.md",
        "# The house\nIntro.\n\n## Kitchen\nThe charger stands beside the "
        "fridge; it was repaired in May.\n\n## 卧室\n充电桩在床的左边。"
        "机器人每天晚上回到这里。\n");
    put(&b, "ws/docs/robot.txt", "The gripper opens to 85 mm. Motor_3 is loose.\n");
    put(&b, "ws/docs/data.csv", "gripper,secret");
    put(&b, "ws/run/log.txt", "gripper noise");
    finds(&b, "search_knowledge", "charger fridge", "house.md:4 — Kitchen\n");
    finds(&b, "search_knowledge", "CHARGER", "house.md:4");
    finds(&b, "search_knowledge", "充电桩", "house.md:7 — 卧室");
    finds(&b, "search_knowledge", "充电", "house.md:7");
    finds(&b, "search_knowledge", "床", "house.md:7");
    finds(&b, "search_knowledge", "里", "house.md:7"); // the last character of a run
    finds(&b, "search_knowledge", "卧室", "house.md:7");
    finds(&b, "search_knowledge", "桩充", NULL); // not in this order
    finds(&b, "search_knowledge", "motor_3", "docs/robot.txt:1");
    finds(&b, "search_knowledge", "gripper unheard-of", "docs/robot.txt"); // any word, then
    finds(&b, "search_knowledge", "secret", NULL);
    finds(&b, "search_knowledge", "noise", NULL);
    static const char *const hostile[] = {
        "\" OR \"",         "charger\" OR body:\"", "NEAR(charger fridge)",           "charger*",
        "heading: charger", "-charger ^fridge",     "'; DROP TABLE files; -- charger"};
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        pons_autovalue args = pons_object("query", json_string(hostile[i]), NULL);
        char *text = NULL;
        assert_true(pons_value_dump(args, &text) > 0);
        char *out = bench_output(&b, "search_knowledge", text);
        free(out);
        free(text);
    }
    bench_refused(&b, "search_knowledge", "{\"query\":\" ?! \"}", PONS_EINVAL, "no word");
    bench_close(&b);
}

static void test_follows_the_documents(void **state)
{
    bench b;
    char path[PATH_MAX];
    (void)state;
    bench_open(&b, "{\"knowledge\":{\"files\":3,\"file_kb\":4}}");
    put(&b, "ws/a.md", "alpha");
    finds(&b, "search_knowledge", "alpha", "a.md:1");
    put(&b, "ws/a.md", "beta instead");
    finds(&b, "search_knowledge", "beta", "a.md:1");
    finds(&b, "search_knowledge", "alpha", NULL);
    snprintf(path, sizeof path, "%s/a.md", b.ws);
    assert_int_equal(unlink(path), 0);
    finds(&b, "search_knowledge", "beta", NULL);
    char big[9000];
    memset(big, 'x', sizeof big);
    for (size_t i = 0; i < sizeof big; i += 60) {
        big[i] = ' ';
    }
    memcpy(big + 100, " gamma ", 7);
    memcpy(big + 8000, " delta ", 7); // beyond what is read of one document
    bench_write(&b, "ws/big.md", big, sizeof big);
    finds(&b, "search_knowledge", "gamma", "[not all documents were read");
    put(&b, "ws/1.md", "epsilon");
    put(&b, "ws/2.md", "epsilon");
    put(&b, "ws/3.md", "epsilon");
    finds(&b, "search_knowledge", "epsilon", "[not all documents were read");
    // The index is only a cache.
    bench_reopen(&b, NULL);
    put(&b, "ws/run/knowledge.db",
        "this is no database, but it is long enough to be looked at as one");
    snprintf(path, sizeof path, "%s/run/knowledge.db-wal", b.ws);
    unlink(path);
    snprintf(path, sizeof path, "%s/run/knowledge.db-shm", b.ws);
    unlink(path);
    finds(&b, "search_knowledge", "epsilon", ".md:1");
    bench_close(&b);
}

static void test_lessons(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, NULL);
    char *out = bench_output(&b, "search_lessons", "{\"query\":\"x\"}");
    assert_non_null(strstr(out, "there is no LESSONS.md yet"));
    free(out);
    put(&b, "ws/LESSONS.md",
        "# LESSONS\n\nPreface about grasping.\n\n"
        "## 2026-04-01 12:00:05 — 抓取失败:物体超出工作空间\n- **原因**: 超出最大臂展 (0.855 m)\n"
        "- **修复**: 先导航到更近位置\n\n"
        "## 2026-03-31 11:55:00 — navigation blocked\n- **cause**: a chair stood on the path to "
        "the "
        "kitchen\n\n"
        "## 2026-03-30 09:00:00 — kitchen door closed\n- **cause**: nobody opened it\n");
    finds(&b, "search_lessons", "臂展", "抓取失败");
    finds(&b, "search_lessons", "抓取", "臂展 (0.855 m)");
    out = bench_output(&b, "search_lessons", "{\"query\":\"kitchen\",\"results\":1}");
    assert_non_null(strstr(out, "kitchen door closed")); // the heading counts for more
    assert_null(strstr(out, "chair"));
    free(out);
    finds(&b, "search_lessons", "grasping", NULL); // the preface is no lesson
    bench_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_words),
        cmocka_unit_test(test_follows_the_documents),
        cmocka_unit_test(test_lessons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
