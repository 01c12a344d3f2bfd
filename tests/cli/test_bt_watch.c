// test_bt_watch.c - `pons bt watch` beside a robot that drives: which tree it is, every change of
// every node and none missed, lines for people, the end with the body and by Ctrl-C, and one clear
// line when there is nothing to watch. The watchers only listen: the drive ends as it would without
// them.
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

#define DRIVE     "run --json --thread t --driver kinematic --seed 3 --speed 5 去厨房"
#define NODES_MAX 128

// Each change begins where the one before has left its node: none was missed, and the goal's tree
// was seen to its end.
static void check_stream(const proc *p)
{
    char state[NODES_MAX][16];
    int changes = 0, follows = 0;
    int64_t robot_ms = 0;
    size_t i;
    pons_value *e;
    for (i = 0; i < NODES_MAX; i++) {
        strcpy(state[i], "IDLE");
    }
    json_array_foreach(p->events, i, e) {
        const char *type = pons_get_str(e, "type", "");
        const int64_t node = pons_get_int(e, "node", 0);
        assert_in_range(node, 0, NODES_MAX - 1);
        assert_true(pons_get_int(e, "ts_ms", 0) > 0);
        if (strcmp(type, "watching") == 0) {
            continue;
        }
        assert_int_equal(pons_get_int(e, "tree", 0), 1);
        assert_string_not_equal(type, "lost");
        if (strcmp(type, "state") == 0) {
            snprintf(state[node], sizeof state[node], "%s", pons_get_str(e, "state", ""));
        } else if (strcmp(type, "change") == 0) {
            assert_string_equal(pons_get_str(e, "from", ""), state[node]);
            snprintf(state[node], sizeof state[node], "%s", pons_get_str(e, "to", ""));
            assert_true(pons_get_int(e, "robot_ms", -1) >= robot_ms);
            robot_ms = pons_get_int(e, "robot_ms", -1);
            follows += strstr(pons_get_str(e, "path", ""), "Action:FollowPath") != NULL;
            changes++;
        }
    }
    assert_true(changes > 10 && follows >= 1);
    for (i = 0; i < NODES_MAX; i++) {
        assert_string_not_equal(state[i], "RUNNING");
    }
}

// A body that a person started outlives the runs.
static void start_body(bench *b, proc *body)
{
    bench_open(b);
    bench_start_body(b, body, "--driver kinematic --seed 3 --speed 5");
}

static void every_change_until_the_body_goes(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, json = {0}, text = {0};
    start_body(&b, &body);
    bench_start(&b, &json, NULL, "bt watch --json");
    bench_start(&b, &text, NULL, "bt watch");
    const pons_value *hello = bench_await(&json, "watching", NULL, NULL);
    assert_string_equal(pons_get_str(hello, "robot_id", ""), "pons-1");
    assert_non_null(strstr(bench_line(&text), "watching pons-1"));
    proc run = {0};
    bench_start(&b, &run, NULL, DRIVE);
    const pons_value *tree = bench_await(&json, "tree", NULL, NULL);
    assert_non_null(strstr(pons_get_str(tree, "file", ""), "navigate_to_pose.xml"));
    assert_true(pons_get_int(tree, "nodes", 0) > 20);
    assert_string_not_equal(pons_get_str(tree, "goal_id", ""), "");
    for (const pons_value *root = NULL; strcmp(pons_get_str(root, "from", ""), "SUCCESS") != 0;) {
        root = bench_await(&json, "change", "path", "RecoveryNode:Navigate");
    }
    bench_await(&run, "run.done", "status", "succeeded");
    bench_must_exit(&run, 0);
    assert_true(bench_alive(&json));
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_must_exit(&json, 0);
    bench_must_exit(&text, 0);
    check_stream(&json);
    char *err = bench_stderr(&json);
    assert_string_equal(err, "pons: the body is gone\n");
    free(err);
    assert_non_null(strstr(text.text, "  tree 1: "));
    assert_non_null(strstr(text.text, " s  RecoveryNode:Navigate: IDLE -> RUNNING\n"));
    bench_free(&run);
    bench_free(&body);
    bench_free(&json);
    bench_free(&text);
    bench_close(&b);
}

static void ctrl_c_ends_the_watcher_alone(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, watch = {0};
    start_body(&b, &body);
    bench_start(&b, &watch, NULL, "bt watch --json");
    bench_await(&watch, "watching", NULL, NULL);
    bench_signal(&watch, SIGINT);
    bench_must_exit(&watch, 0);
    assert_true(bench_alive(&body));
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&watch);
    bench_free(&body);
    bench_close(&b);
}

static void nothing_to_watch(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    bench_must_fail(&b, "bt watch", 3, "workspace");
    assert_int_equal(mkdir(b.workspace, 0700), 0);
    bench_must_fail(&b, "bt watch", 3, "no body runs in");
    bench_must_fail(&b, "bt watch it", 2, "pons bt watch");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_change_until_the_body_goes, bench_teardown),
        cmocka_unit_test_teardown(ctrl_c_ends_the_watcher_alone, bench_teardown),
        cmocka_unit_test_teardown(nothing_to_watch, bench_teardown),
    };
    return bench_together("bt_watch", tests, sizeof tests / sizeof *tests);
}
