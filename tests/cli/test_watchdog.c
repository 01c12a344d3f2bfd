// test_watchdog.c - `pons watchdog hal`: actions of ACTION.md done by a body, one after the other; what
// cannot be done fails and blocks nobody; killed in the middle of a drive the next life ends it, and the
// body's ledger has each goal started once; one watchdog a workspace.
#include "cli_bench.h"
#include "pons/ext/store.h"
#include "pons/object_memory.h"
#include "pons/workspace.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAST_BODY "--driver kinematic --speed 20"

#define DRIVE(id, x, y)                                                                            \
    "{\"action_id\":\"" id "\",\"action_type\":\"move_to\",\"params\":{\"target_pose\":[" x "," y  \
    ",0,0,0,0]}}"

static void put_actions(bench *b, const char *actions)
{
    char path[160];
    snprintf(path, sizeof path, "%s/ACTION.md", b->workspace);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "# Mine\n\n```json\n{\"queue\": [\n%s\n]}\n```\n\nBehind.\n", actions);
    assert_int_equal(fclose(f), 0);
}

// A member of an action: "status", "error.code".
static void expect(bench *b, const char *id, const char *status, const char *code)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, PONS_WS_ACTION, &d, &err),
                     PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, "action", id);
    assert_non_null(r);
    assert_string_equal(pons_get_str(r->value, "status", ""), status);
    assert_string_equal(pons_get_str(pons_get(r->value, "error"), "code", ""), code);
    size_t len;
    assert_non_null(strstr(pons_ws_text(d, &len), "```\n\nBehind.\n"));
    pons_ws_destroy(d);
}

static void actions_in_their_order(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    put_actions(
        &b, DRIVE("a1", "2.0",
                  "1.0") ",\n"
                         "{\"action_id\":\"a2\",\"action_type\":\"dance\"},\n"
                         "{\"action_id\":\"a3\",\"action_type\":\"target_navigation\",\"params\":"
                         "{\"target_label\":\"厨房\"}},\n"
                         "{\"action_id\":\"a4\",\"action_type\":\"target_navigation\",\"params\":"
                         "{\"target_label\":\"kitchen\",\"success_distance_m\":0.01}},\n"
                         "{\"action_id\":\"a5\",\"action_type\":\"check_connection\"},\n"
                         "{\"action_id\":\"a6\",\"action_type\":\"stop\",\"robot_id\":\"other\"}");
    bench_start(&b, &p, NULL, "watchdog hal --once --robot robot_001 --json " FAST_BODY);
    bench_must_exit(&p, 1); // one failed
    assert_int_equal(bench_count(&p, "action", "status", "completed"), 3);
    bench_free(&p);
    expect(&b, "a1", "completed", "");
    expect(&b, "a2", "failed", "ACTION_NOT_SUPPORTED");
    expect(&b, "a3", "completed", "");
    expect(&b, "a4", "failed", "BAD_PARAMS");
    expect(&b, "a5", "completed", "");
    expect(&b, "a6", "pending", ""); // another robot's
    bench_ledger_check(&b);
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b.workspace, PONS_WS_ENVIRONMENT, &d, &err),
                     PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, "robot_state", "robot_001");
    assert_non_null(r);
    assert_int_equal(json_array_size(pons_get(r->value, "pose")), 3);
    pons_ws_destroy(d);
    bench_close(&b);
}

// One action that is the whole file and has no name, as PhyAgentOS's agent writes it; written again it is another one.
static void an_action_without_a_name(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    for (int i = 1; i <= 2; i++) {
        proc p = {0};
        bench_put(&b, "ACTION.md",
                  "```json\n{\n  \"action_type\": \"wait\",\n  \"parameters\": {\"s\": 0.1},\n"
                  "  \"status\": \"pending\"\n}\n```\n");
        bench_start(&b, &p, NULL, "watchdog hal --once --json " FAST_BODY);
        bench_must_exit(&p, 0);
        assert_int_equal(bench_count(&p, "action", "status", "completed"), 1);
        bench_free(&p);
        pons_ws_doc *d = NULL;
        pons_error err = PONS_ERROR_INIT;
        size_t n;
        assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b.workspace, PONS_WS_ACTION, &d, &err),
                         PONS_OK);
        const pons_ws_record *all = pons_ws_records(d, &n);
        assert_int_equal(n, i);
        for (size_t k = 0; k < n; k++) {
            assert_string_equal(pons_get_str(all[k].value, "status", ""), "completed");
            assert_null(strstr(all[k].id, PONS_WS_UNNAMED));
        }
        pons_ws_destroy(d);
        assert_int_equal(bench_ledger_count(&b, NULL, "started"), i);
    }
    bench_close(&b);
}

// Leaves are actions; what fails is what the tree makes of it; killed in between, no leaf is begun twice.
static void a_tree(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    put_actions(
        &b,
        "{\"action_id\":\"xml\",\"action_type\":\"strategy\",\"params\":{\"tree\":"
        "\"<root BTCPP_format='4' main_tree_to_execute='T'><BehaviorTree ID='T'><Sequence>"
        "<Fallback><target_navigation target_label='nowhere'/><target_navigation "
        "target_label='kitchen'/></Fallback><navigate_to_pose zone='study'/><move_to "
        "target_pose='[2.0,1.0,0]'/></Sequence></BehaviorTree></root>\"}},\n"
        "{\"action_id\":\"mdsl\",\"action_type\":\"strategy\",\"params\":{\"tree\":"
        "\"root { sequence { action [wait, \\\"s\\\", 0.2] action [dance] } }\"}},\n"
        "{\"action_id\":\"bad\",\"action_type\":\"strategy\",\"params\":{\"tree\":\"<root>\"}},\n"
        "{\"action_id\":\"out\",\"action_type\":\"strategy\",\"params\":{\"tree\":"
        "\"trees/../config.json\"}}");
    bench_start_body(&b, &body, "--driver kinematic --seed 3 --speed 12 --json");
    bench_start(&b, &p, NULL, "watchdog hal --once --json");
    bench_ledger_await(&b, "started", 2);
    bench_signal(&p, SIGKILL);
    bench_must_exit(&p, 128 + SIGKILL);
    bench_free(&p);
    bench_start(&b, &p, NULL, "watchdog hal --once --json");
    bench_must_exit(&p, 1);
    bench_free(&p);
    expect(&b, "xml", "completed", "");
    expect(&b, "mdsl", "failed", "SKILL_FAILED");
    expect(&b, "bad", "failed", "SKILL_FAILED");
    expect(&b, "out", "failed", "SKILL_FAILED");
    bench_ledger_check(&b);
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 4); // three ways, and the wait
    bench_signal(&body, SIGTERM);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

// A cup that was seen just now, as `pons sight` keeps it.
static void remember_cup(bench *b)
{
    char path[512];
    pons_error err = PONS_ERROR_INIT;
    pons_object_memory *m = NULL;
    pons_object_memory_options o = {.items = {.clock = pons_clock_real()}, .ns = "pons-objects"};
    snprintf(path, sizeof path, "%s/pons.db", b->workspace);
    assert_int_equal(pons_store_sqlite_open(path, &o.items.store, &err), PONS_OK);
    assert_int_equal(pons_object_memory_open(&o, &m, &err), PONS_OK);
    const pons_detection cup = {
        .label = "cup", .score = 0.99, .position = {1, 0, 0.8}, .cov = {0.01, 0, 0.01, 0.01}};
    const pons_object_view v = {.detector = "d",
                                .source = "d",
                                .stamp_ns = 1,
                                .at_ms = pons_wall_ms(&o.items.clock),
                                .fov_rad = 1.5,
                                .far_m = 5,
                                .miss = 0.2};
    pons_object_seen seen;
    assert_int_equal(pons_object_memory_put(m, &v, &cup, 1, &seen, &err), PONS_OK);
    assert_int_equal(pons_object_memory_save(m, true, &err), PONS_OK);
    pons_object_memory_close(m);
    pons_store_close(&o.items.store);
    assert_int_equal(bench_run(b, "seen cup"), 0);
}

#define SEES(id, what, more)                                                                       \
    "{\"action_id\":\"" id "\",\"action_type\":\"strategy\",\"params\":{\"tree\":"                 \
    "\"<root BTCPP_format='4' main_tree_to_execute='T'><BehaviorTree ID='T'><Sequence><sees "      \
    "what='" what "' " more "/><wait s='0.1'/></Sequence></BehaviorTree></root>\"}}"

// What was seen is a condition of a tree.
static void a_tree_that_looks(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    remember_cup(&b);
    put_actions(
        &b,
        SEES("cup", "cup", "within_s='600'") ",\n" SEES("old", "cup", "within_s='0'") ",\n" SEES(
            "else", "cup", "zone='kitchen' within_s='600'") ",\n" SEES("book", "book", ""));
    bench_start(&b, &p, NULL, "watchdog hal --once --json " FAST_BODY);
    bench_must_exit(&p, 1);
    bench_free(&p);
    expect(&b, "cup", "completed", "");
    expect(&b, "old", "failed", "SKILL_FAILED");
    expect(&b, "else", "failed", "SKILL_FAILED");
    expect(&b, "book", "failed", "SKILL_FAILED");
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 1); // the wait of the first
    bench_close(&b);
}

// The watchdog looks before anything was kept here, and again when something is.
static void what_is_seen_later_counts(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    put_actions(&b, SEES("early", "cup", ""));
    bench_start(&b, &p, NULL, "watchdog hal --json " FAST_BODY);
    bench_await(&p, "action", "status", "failed");
    remember_cup(&b);
    put_actions(&b, SEES("late", "cup", ""));
    bench_await(&p, "action", "status", "completed");
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

#define FACE(id, degrees)                                                                          \
    "{\"action_id\":\"" id "\",\"action_type\":\"target_navigation\",\"params\":"                  \
    "{\"target_label\":\"kitchen\",\"success_heading_deg\":" degrees "}}"

static void how_it_stands_there(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    put_actions(&b, FACE("a1", "45") ",\n" FACE("a2", "0.000001") ",\n" FACE("a3", "0"));
    bench_start(&b, &p, NULL, "watchdog hal --once --json " FAST_BODY);
    bench_must_exit(&p, 1);
    bench_free(&p);
    expect(&b, "a1", "completed", "");
    expect(&b, "a2", "failed", "HEADING_NOT_REACHED");
    expect(&b, "a3", "failed", "BAD_PARAMS");
    bench_close(&b);
}

#define ARM(id, type, params)                                                                      \
    "{\"action_id\":\"" id "\",\"action_type\":\"" type "\",\"params\":{" params "}}"

// An arm's move_to is the tool's, its place may be a point; what others do meanwhile is known when it is judged.
static void an_arm(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    if (access(PONS_BINARY_DIR "/lib/pons/driver-mujoco.so", F_OK) < 0) {
        skip();
    }
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --world tabletop --robot arm_001"), 0);
    put_actions(
        &b,
        ARM("a1", "move_to", "\"target_pose\":[1.45,1.6,0.75,3.14159,0,0]") ",\n" ARM(
            "a2", "move_to",
            "\"target_pose\":[1.45,1.6]") ",\n" ARM("a3", "pick_up",
                                                    "\"object_id\":\"cup\"") ",\n" ARM("a4",
                                                                                       "place",
                                                                                       "\"target_"
                                                                                       "position\":"
                                                                                       "[1.45,1.62,"
                                                                                       "0."
                                                                                       "4]") ","
                                                                                             "\n" ARM(
                                                                                                 "a"
                                                                                                 "5",
                                                                                                 "p"
                                                                                                 "l"
                                                                                                 "a"
                                                                                                 "c"
                                                                                                 "e",
                                                                                                 "\"target_"
                                                                                                 "p"
                                                                                                 "o"
                                                                                                 "s"
                                                                                                 "i"
                                                                                                 "t"
                                                                                                 "i"
                                                                                                 "o"
                                                                                                 "n"
                                                                                                 "\":[1.45,"
                                                                                                 "1"
                                                                                                 "."
                                                                                                 "6"
                                                                                                 "2"
                                                                                                 "]"));
    bench_start(&b, &p, NULL, "watchdog hal --once --json --speed 20 --seed 4");
    bench_must_exit(&p, 1);
    bench_free(&p);
    expect(&b, "a1", "completed", "");
    expect(&b, "a2", "failed", "BAD_PARAMS");
    expect(&b, "a3", "completed", "");
    expect(&b, "a4", "completed", "");
    expect(&b, "a5", "failed", "BAD_PARAMS");
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b.workspace, PONS_WS_ENVIRONMENT, &d, &err),
                     PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, "robot_state", "arm_001");
    assert_non_null(r);
    assert_int_equal(json_array_size(pons_get(r->value, "pose")), 6);
    assert_int_equal(json_object_size(pons_get(r->value, "joint_state")), 7);
    assert_string_equal(pons_get_str(r->value, "gripper", ""), "open");
    const pons_value *at = pons_get(pons_ws_find(d, "object", "cup")->value, "position");
    assert_float_equal(json_number_value(json_array_get(at, 0)), 1.45, 0.03);
    assert_float_equal(json_number_value(json_array_get(at, 1)), 1.62, 0.03);
    pons_ws_destroy(d);
    bench_close(&b);
}

static void killed_in_the_middle_of_a_drive(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    put_actions(&b, "{\"action_id\":\"a1\",\"action_type\":\"target_navigation\",\"params\":"
                    "{\"target_label\":\"kitchen\"}},\n" DRIVE("a2", "2.0", "1.0"));
    bench_start_body(&b, &body, "--driver kinematic --seed 3 --speed 6 --json");
    bench_start(&b, &p, NULL, "watchdog hal --once --json");
    bench_ledger_await(&b, "started", 1);
    bench_signal(&p, SIGKILL);
    bench_must_exit(&p, 128 + SIGKILL);
    bench_free(&p);
    expect(&b, "a1", "running", "");
    bench_start(&b, &p, NULL, "watchdog hal --once --json");
    bench_must_exit(&p, 0);
    bench_free(&p);
    expect(&b, "a1", "completed", "");
    expect(&b, "a2", "completed", "");
    bench_ledger_check(&b); // no motion twice
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 2);
    bench_signal(&body, SIGTERM);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

static void one_a_workspace(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char pid[64];
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard"), 0);
    put_actions(&b, "{\"action_id\":\"a1\",\"action_type\":\"check_connection\"}");
    bench_start(&b, &p, NULL, "watchdog hal --json " FAST_BODY);
    bench_await(&p, "action", "status", "completed"); // it goes on without --once
    snprintf(pid, sizeof pid, "pid %d", (int)p.pid);
    bench_must_fail(&b, "watchdog hal --once", 3, pid);
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    // What cannot be read is told with its place.
    put_actions(&b, "{");
    bench_start(&b, &p, NULL, "watchdog hal --once " FAST_BODY);
    bench_must_exit(&p, 2);
    char *said = bench_stderr(&p);
    assert_non_null(strstr(said, "ACTION.md:"));
    free(said);
    bench_free(&p);
    bench_close(&b);
}

// Pipes that nobody writes or reads, where files are expected: each ends what needs it, and none is waited for. The
// body that a watchdog has just started when it ends goes with it.
static void a_pipe_holds_nobody(void **state)
{
    (void)state;
    static const struct {
        const char *name, *says;
        int status;
    } pipes[] = {
        {"ACTION.md", "ACTION.md", 2}, {"LOG.md", "", 1}, {"config.json", "config.json", 3}};
    for (size_t i = 0; i < sizeof pipes / sizeof pipes[0]; i++) {
        bench b;
        proc p = {0};
        char path[160];
        bench_open(&b);
        assert_int_equal(bench_run(&b, "onboard"), 0);
        put_actions(&b, "{\"action_id\":\"a\",\"action_type\":\"dance\"},{\"action_id\":\"a\"}");
        snprintf(path, sizeof path, "%s/%s", b.workspace, pipes[i].name);
        unlink(path);
        assert_int_equal(mkfifo(path, 0600), 0);
        bench_start(&b, &p, NULL, "watchdog hal --once --json " FAST_BODY);
        bench_must_exit(&p, pipes[i].status);
        char *err = bench_stderr(&p);
        assert_non_null(strstr(err, pipes[i].says));
        free(err);
        bench_free(&p);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_pipe_holds_nobody, bench_teardown),
        cmocka_unit_test_teardown(actions_in_their_order, bench_teardown),
        cmocka_unit_test_teardown(a_tree, bench_teardown),
        cmocka_unit_test_teardown(a_tree_that_looks, bench_teardown),
        cmocka_unit_test_teardown(what_is_seen_later_counts, bench_teardown),
        cmocka_unit_test_teardown(an_action_without_a_name, bench_teardown),
        cmocka_unit_test_teardown(how_it_stands_there, bench_teardown),
        cmocka_unit_test_teardown(an_arm, bench_teardown),
        cmocka_unit_test_teardown(killed_in_the_middle_of_a_drive, bench_teardown),
        cmocka_unit_test_teardown(one_a_workspace, bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
