// test_runtime.c - `pons watchdog runtime`: sessions of SESSIONS.md in their order, one at a time a target;
// what a skill requires is held against the target before anything moves; a policy that really computes
// drives the base to its goal, over HTTP and as a program, and one that answers nonsense moves nothing; killed
// anywhere, the next life ends what was begun, and the body's ledger has no step twice; two watchdogs share
// the queue.
#include "cli_bench.h"
#include "pons/workspace.h"
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN    "watchdog runtime --once --json --speed 10"
#define POLICY PONS_BINARY_DIR "/tests/go_to_goal"

static void put_file(bench *b, const char *name, const char *list, const char *rows)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "# Mine\n\n```yaml\n%s:\n%s```\n\nBehind.\n", list, rows);
    assert_int_equal(fclose(f), 0);
}

static void put_files(bench *b, const char *targets, const char *skills, const char *sessions)
{
    assert_int_equal(bench_run(b, "onboard"), 0);
    put_file(b, "TARGETS.md", "targets", targets);
    put_file(b, "SKILLS.md", "skills", skills);
    put_file(b, "SESSIONS.md", "sessions", sessions);
}

#define TARGET(id, more) "  - {id: " id ", type: sim, backend: kinematic" more "}\n"
#define BUILTIN(id)      "  - {id: " id ", runtime: BuiltinRuntime}\n"
#define SESSION(id, target, skill, more)                                                           \
    "  - {session_id: " id ", target_ref: " target ", skill_ref: " skill more "}\n"
#define WAIT(s) ", execution: {params: {s: " s "}}"

// A session's status and its code, of the file.
static void expect(bench *b, const char *id, const char *status, const char *code)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, PONS_WS_SESSIONS, &d, &err),
                     PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, "session", id);
    assert_non_null(r);
    const char *is = pons_get_str(r->value, "status", "");
    const char *why = pons_get_str(pons_get(r->value, "error"), "code", "");
    if (strcmp(is, status) != 0 || strcmp(why, code) != 0) {
        fail_msg("%s is %s %s, not %s %s", id, is, why, status, code);
    }
    size_t len;
    assert_non_null(strstr(pons_ws_text(d, &len), "```\n\nBehind.\n"));
    pons_ws_destroy(d);
}

static pons_value *episode(bench *b, const char *id)
{
    char path[256];
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/artifacts/sessions/%s/episode.json", b->workspace, id);
    assert_int_equal(pons_value_load(path, &v, &err), PONS_OK);
    return v;
}

// The ids of sessions that began, in their order, of one target; NULL: of all.
static void expect_begun(const proc *p, const char *target, const char *ids)
{
    char all[512] = "";
    size_t i;
    const pons_value *e;
    json_array_foreach(p->events, i, e) {
        if (strcmp(pons_get_str(e, "status", ""), "running") == 0 &&
            (!target || strcmp(pons_get_str(e, "target", ""), target) == 0)) {
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? " " : "",
                     pons_get_str(e, "id", ""));
        }
    }
    assert_string_equal(all, ids);
}

// By the body's ledger: each goal was started once, whatever its skill.
static void expect_once(bench *b)
{
    pons_autovalue all = bench_ledger(b);
    pons_autovalue started = json_object();
    size_t i;
    const pons_value *row;
    json_array_foreach(all, i, row) {
        const char *goal = pons_get_str(row, "goal_id", "");
        if (strcmp(pons_get_str(row, "state", ""), "started") == 0) {
            if (pons_get(started, goal)) {
                fail_msg("goal %s started twice", goal);
            }
            json_object_set_new(started, goal, json_true());
        }
    }
    assert_true(json_object_size(started) > 0);
}

static void order_and_one_a_target(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    put_files(&b, TARGET("t1", "") TARGET("t2", ""), BUILTIN("wait") BUILTIN("navigate_to_pose"),
              SESSION("low", "t1", "wait", WAIT("0.1") ", priority: low") SESSION(
                  "late", "t1", "wait", WAIT("0.1") ", created_at: \"2025-04-01T13:00:00Z\"")
                  SESSION("early", "t1", "wait",
                          WAIT("0.1") ", created_at: \"2025-04-01T14:00:00+02:00\"")
                      SESSION("high", "t1", "wait",
                              WAIT("0.1") ", priority: high, created_at: \"2025-04-02T00:00:00Z\"")
                          SESSION("other", "t2", "navigate_to_pose",
                                  ", execution: {params: {zone: kitchen}}"));
    bench_start(&b, &p, NULL, RUN);
    bench_must_exit(&p, 0);
    expect_begun(&p, "t1", "high early late low");
    const char *running = NULL; // one at a time, as the events tell it
    size_t i;
    const pons_value *e;
    json_array_foreach(p.events, i, e) {
        if (strcmp(pons_get_str(e, "target", ""), "t1") == 0) {
            const bool begins = strcmp(pons_get_str(e, "status", ""), "running") == 0;
            assert_true(begins == (running == NULL));
            running = begins ? pons_get_str(e, "id", "") : NULL;
        }
    }
    bench_free(&p);
    expect(&b, "high", "succeeded", "");
    expect(&b, "other", "succeeded", "");
    pons_autovalue v = episode(&b, "other");
    assert_string_equal(pons_get_str(v, "status", ""), "succeeded");
    assert_int_equal(json_array_size(pons_get(v, "steps")), 1);
    char log[160], line[512];
    snprintf(log, sizeof log, "%s/LOG.md", b.workspace);
    FILE *f = fopen(log, "r");
    assert_non_null(f);
    int lines = 0;
    while (fgets(line, sizeof line, f)) {
        lines += strstr(line, ": succeeded") != NULL;
    }
    fclose(f);
    assert_int_equal(lines, 5);
    bench_close(&b);
}

static void contracts(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    put_files(
        &b,
        TARGET("ok", "") TARGET("off", ", enabled: false")
            TARGET("few", ", supported_skills: [navigate_to_pose]")
                TARGET("real_hand", ", adapter: {class: RealRobotTargetAdapter}") TARGET(
                    "seeing",
                    ", perception: {cameras: [{name: front}]}") "  - {id: maniskill, type: sim, "
                                                                "backend: maniskill}\n"
                                                                "  - {id: isaac, type: sim, "
                                                                "backend: isaac_sim}\n"
                                                                "  - {id: lab, type: real_robot, "
                                                                "adapter: {class: "
                                                                "RealRobotTargetAdapter, "
                                                                "driver: franka}}\n",
        BUILTIN("wait") BUILTIN("dance") BUILTIN(
            "speak") "  - {id: sees, runtime: BuiltinRuntime, requires: {sensors: [rgb_camera], "
                     "strict_environment_contract: true}}\n"
                     "  - {id: scene, runtime: BuiltinRuntime, requires: {sensors: [odometry], "
                     "environment_outputs: [perception_data], strict_environment_contract: true}}\n"
                     "  - {id: navigate_to_pose, runtime: BuiltinRuntime, requires: {sensors: "
                     "[rgb_camera], "
                     "environment_outputs: [perception_data]}}\n"
                     "  - {id: real_only, runtime: BuiltinRuntime, supported_target_types: "
                     "[real_robot]}\n"
                     "  - {id: odd, runtime: DreamRuntime}\n",
        SESSION("s01", "off", "wait", WAIT("1")) SESSION("s02", "few", "wait", WAIT("1")) SESSION(
            "s03", "ok", "real_only", "") SESSION("s04", "ok", "sees", "") SESSION("s05", "ok",
                                                                                   "scene", "")
            SESSION("s06", "ok", "wait", ", execution: {params: {seconds: 1}}") SESSION(
                "s07", "ok", "dance", "") SESSION("s08", "maniskill", "wait", WAIT("1"))
                SESSION("s09", "isaac", "wait", WAIT("1")) SESSION(
                    "s10", "real_hand", "wait", WAIT("1")) SESSION("s11", "ok", "odd", "")
                    SESSION("s12", "nowhere", "wait", "") SESSION("s13", "ok", "nothing", "")
                        SESSION("s14", "ok", "wait", WAIT("1") ", routing: {skill_runtime: Mine}")
                            SESSION("s15", "lab", "speak", ", execution: {params: {text: hi}}")
                                SESSION("\"../s16\"", "ok", "wait", WAIT("1"))
                                    SESSION("s17", "ok", "navigate_to_pose",
                                            ", execution: {params: {zone: kitchen}}")
                                        SESSION("s18", "seeing", "sees", ""));
    bench_start(&b, &p, NULL, RUN);
    bench_must_exit(&p, 1);
    bench_free(&p);
    expect(&b, "s01", "failed", "TARGET_DISABLED");
    expect(&b, "s02", "failed", "SKILL_NOT_SUPPORTED_BY_TARGET");
    expect(&b, "s03", "failed", "SKILL_NOT_SUPPORTED_BY_TARGET");
    expect(&b, "s04", "failed", "REQUIRED_SENSOR_MISSING");
    expect(&b, "s05", "failed", "ENVIRONMENT_OUTPUT_MISSING");
    expect(&b, "s06", "failed", "ACTION_CONTRACT_UNSATISFIED");
    expect(&b, "s07", "failed", "SKILL_NOT_SUPPORTED_BY_TARGET");
    expect(&b, "s08", "failed", "BACKEND_NOT_AVAILABLE");
    expect(&b, "s09", "failed", "BACKEND_NOT_AVAILABLE");
    expect(&b, "s10", "failed", "ADAPTER_UNKNOWN");
    expect(&b, "s11", "failed", "RUNTIME_UNKNOWN");
    expect(&b, "s12", "failed", "TARGET_UNKNOWN");
    expect(&b, "s13", "failed", "SKILL_UNKNOWN");
    expect(&b, "s14", "failed", "RUNTIME_UNKNOWN");
    expect(&b, "s15", "failed", "BACKEND_NOT_AVAILABLE");
    expect(&b, "../s16", "failed", "SESSION_ID_INVALID");
    expect(&b, "s17", "succeeded", ""); // without strict what it lacks is only a wish
    expect(&b, "s18", "failed",
           "SKILL_NOT_SUPPORTED_BY_TARGET"); // it has the camera, no such skill
    bench_close(&b);
}

static void put_embodied(bench *b, const char *actions, const char *limits)
{
    char path[160];
    snprintf(path, sizeof path, "%s/EMBODIED.md", b->workspace);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "# EMBODIED\n\n## Target: other\n\n### Supported Actions\n| Action Type |\n|---|\n"
            "| wait |\n| target_navigation |\n\n## Target: t1\n\n### Supported Actions\n"
            "| Action Type | Description | Parameters |\n|---|---|---|\n%s\n"
            "### Physical Constraints\n%s\n",
            actions, limits);
    assert_int_equal(fclose(f), 0);
}

// What the folder's files say of its body, and not of another robot, holds for sessions too; the second time the
// lesson's name is said.
static void judged_by_the_files(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    put_files(&b, TARGET("t1", ""), BUILTIN("wait") BUILTIN("navigate_to_pose"),
              SESSION("s1", "t1", "wait", WAIT("0.1"))
                  SESSION("s2", "t1", "navigate_to_pose", ", execution: {params: {zone: kitchen}}")
                      SESSION("s3", "t1", "navigate_to_pose",
                              ", execution: {params: {zone: kitchen}}, retry: {max_attempts: 3}"));
    put_embodied(&b, "| wait | | |\n| move_to | | |\n", "- **Max Speed**: 0.5 m/s");
    bench_start(&b, &p, NULL, RUN);
    bench_must_exit(&p, 1);
    expect_begun(&p, NULL, "s1 s2 s3");
    bench_free(&p);
    expect(&b, "s1", "succeeded", "");
    expect(&b, "s2", "failed", "CRITIC_REFUSED");
    expect(&b, "s3", "failed", "CRITIC_REFUSED");
    pons_autovalue first = episode(&b, "s2");
    assert_non_null(strstr(pons_get_str(pons_get(first, "error"), "message", ""),
                           "can't do target_navigation"));
    pons_autovalue again = episode(&b, "s3");
    assert_non_null(
        strstr(pons_get_str(pons_get(again, "error"), "message", ""), "it failed before: 20"));
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 1);
    bench_start(&b, &p, NULL, "lessons search --json kitchen");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "lesson", "type", "lesson"), 1);
    bench_free(&p);
    bench_close(&b);
}

// A scene that pons cannot read is told: no other one is driven in its stead, unless a world is named.
static void a_scene_of_xml_is_told(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    put_files(&b,
              TARGET("t1", ", config: {scene_xml: /path/to/tabletop.xml}")
                  TARGET("t2", ", config: {scene_xml: /path/to/house.xml, world: house}"),
              BUILTIN("wait"),
              SESSION("s1", "t1", "wait", WAIT("1")) SESSION("s2", "t2", "wait", WAIT("1")));
    bench_start(&b, &p, NULL, RUN);
    bench_must_exit(&p, 1);
    char *said = bench_stderr(&p);
    assert_non_null(strstr(said, "target t2: config.scene_xml is not read"));
    free(said);
    bench_free(&p);
    expect(&b, "s1", "failed", "BACKEND_NOT_AVAILABLE");
    expect(&b, "s2", "succeeded", "");
    pons_autovalue v = episode(&b, "s1");
    assert_non_null(
        strstr(pons_get_str(pons_get(v, "error"), "message", ""), "config.scene_xml is not read"));
    bench_close(&b);
}

static int start_policy(bench *b, proc *server)
{
    bench_start_program(b, server, POLICY, "--serve");
    return (int)pons_get_int(bench_await(server, "listening", NULL, NULL), "port", 0);
}

static void put_policies(bench *b, int port, const char *sessions)
{
    char skills[1024];
    snprintf(
        skills, sizeof skills,
        "  - {id: by_http, runtime: VLAPolicyRuntime, policy_client: {type: http, endpoint: "
        "\"http://127.0.0.1:%d/predict\"}}\n"
        "  - {id: by_program, runtime: VLAPolicyRuntime, policy_client: {type: local, program: "
        "[%s], checkpoint: /models/none}}\n"
        "  - {id: by_stages, runtime: ReKepPolicyRuntime, policy_client: {type: local, program: "
        "%s}}\n"
        "  - {id: nobody, runtime: VLAPolicyRuntime, policy_client: {type: http, endpoint: "
        "\"http://127.0.0.1:9/\"}}\n",
        port, POLICY, POLICY);
    put_files(b, TARGET("t1", ""), skills, sessions);
}

static void a_policy_drives(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, server = {0};
    bench_open(&b);
    put_policies(&b, start_policy(&b, &server),
                 SESSION("s1", "t1", "by_http", ", execution: {params: {goal: [1.5, 1.5]}}")
                     SESSION("s2", "t1", "by_program", ", execution: {params: {goal: [1.0, 1.2]}}")
                         SESSION("s3", "t1", "by_stages",
                                 ", execution: {params: {mode: stages, goal: [1.6, 1.0]}}"));
    bench_start(&b, &p, NULL, RUN);
    bench_must_exit(&p, 0);
    bench_free(&p);
    expect(&b, "s1", "succeeded", "");
    expect(&b, "s2", "succeeded", "");
    expect(&b, "s3", "succeeded", "");
    pons_autovalue way = episode(&b, "s3");
    assert_int_equal(json_array_size(pons_get(way, "steps")), 2);
    pons_autovalue v = episode(&b, "s1");
    assert_true(json_array_size(pons_get(v, "steps")) >= 3); // chunks, each from a new look
    double way_m = 0;
    size_t i;
    const pons_value *step;
    json_array_foreach(json_object_get(v, "steps"), i, step) {
        way_m += pons_get_num(pons_get(step, "result"), "distance_m", 0);
    }
    const double is = pons_get_num(pons_get(v, "result"), "distance_m", 0);
    assert_true(way_m > 0.3 && fabs(is - way_m) < 1e-6); // the whole run's
    expect_once(&b);
    bench_signal(&server, SIGTERM);
    bench_finish(&server);
    bench_free(&server);
    bench_close(&b);
}

// Its policy thinks for 100 to 300 ms of the robot's time, and the robot does not stand while it does: chunks take over from
// those before. Not all where the machine is busy: how well that goes is body/test_follow_chunks.c's, on a virtual clock.
static void a_policy_that_thinks(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, server = {0};
    bench_open(&b);
    put_policies(&b, start_policy(&b, &server),
                 SESSION("s1", "t1", "by_http",
                         ", execution: {params: {goal: [1.5, 1.5], think_ms: [100, 300]}}"));
    bench_start(&b, &p, NULL, "watchdog runtime --once --json --speed 1");
    bench_must_exit(&p, 0);
    bench_free(&p);
    expect(&b, "s1", "succeeded", "");
    pons_autovalue v = episode(&b, "s1");
    const int steps = (int)json_array_size(pons_get(v, "steps"));
    assert_true(steps >= 3);
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), steps);
    assert_true(bench_ledger_count(&b, NULL, "canceled") > 0);
    assert_true(pons_get_num(pons_get(v, "result"), "distance_m", 0) > 0.3);
    expect_once(&b);
    bench_signal(&server, SIGTERM);
    bench_finish(&server);
    bench_free(&server);
    bench_close(&b);
}

#define BAD(id, skill, mode) SESSION(id, "t1", skill, ", execution: {params: {mode: " mode "}}")

static void a_bad_policy_moves_nothing(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, server = {0};
    bench_open(&b);
    put_policies(&b, start_policy(&b, &server),
                 BAD("not_a_number", "by_http", "\"nan\"") BAD("infinite", "by_program", "infinite")
                     BAD("width", "by_http", "width") BAD("words", "by_program", "words")
                         BAD("chunk", "by_http", "long") BAD("empty", "by_http", "empty") BAD(
                             "broken", "by_program", "broken") BAD("twice", "by_http", "twice")
                             BAD("huge", "by_program", "huge") BAD("fast", "by_http", "too_fast")
                                 BAD("error", "by_http", "error") SESSION(
                                     "silent", "t1", "by_http",
                                     ", execution: {params: {mode: silent}}, timeouts: {skill: 4}")
                                     BAD("dies", "by_program", "dies")
                                         SESSION("away", "t1", "nobody",
                                                 ", retry: {max_attempts: 3, backoff: none}"));
    bench_start(&b, &p, NULL, RUN);
    bench_must_exit(&p, 1);
    expect_begun(
        &p, NULL,
        "not_a_number infinite width words chunk empty broken twice huge fast error silent dies "
        "away away away");
    bench_free(&p);
    static const char *const refused[] = {"not_a_number", "infinite", "width", "words", "chunk",
                                          "empty",        "broken",   "twice", "huge"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        expect(&b, refused[i], "failed", "POLICY_BAD_ANSWER");
    }
    expect(&b, "fast", "failed", "BODY_REFUSED"); // more than the base can do
    expect(&b, "error", "failed", "POLICY_ERROR");
    expect(&b, "silent", "failed", "POLICY_TIMEOUT");
    expect(&b, "dies", "failed", "POLICY_UNREACHABLE");
    expect(&b, "away", "failed", "POLICY_UNREACHABLE"); // it never began: all three attempts
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 0);
    bench_signal(&server, SIGKILL);
    bench_finish(&server);
    bench_free(&server);
    bench_close(&b);
}

// It never says done: its session's time ends it, and the robot stands.
static void a_policy_that_never_ends(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, server = {0};
    bench_open(&b);
    put_policies(&b, start_policy(&b, &server),
                 SESSION("s1", "t1", "by_http",
                         ", execution: {params: {mode: circles}}, timeouts: {session: 10}, "
                         "retry: {max_attempts: 3}"));
    bench_start(&b, &p, NULL, RUN);
    bench_must_exit(&p, 1);
    expect_begun(&p, NULL, "s1"); // it has moved: not again
    bench_free(&p);
    expect(&b, "s1", "failed", "SESSION_TIMEOUT");
    expect_once(&b);
    bench_signal(&server, SIGTERM);
    bench_finish(&server);
    bench_free(&server);
    bench_close(&b);
}

static void killed_in_the_middle(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    bench_open(&b);
    put_files(&b, TARGET("t1", ""), BUILTIN("navigate_to_pose"),
              SESSION("s1", "t1", "navigate_to_pose", ", execution: {params: {zone: kitchen}}")
                  SESSION("s2", "t1", "navigate_to_pose",
                          ", execution: {params: {pose: {x: 2.0, y: 1.0, yaw: 0}}}"));
    bench_start_body(&b, &body, "--driver kinematic --seed 3 --speed 6 --json");
    bench_start(&b, &p, NULL, "watchdog runtime --once --json");
    bench_ledger_await(&b, "started", 1);
    bench_signal(&p, SIGKILL);
    bench_must_exit(&p, 128 + SIGKILL);
    bench_free(&p);
    expect(&b, "s1", "running", "");
    bench_start(&b, &p, NULL, "watchdog runtime --once --json");
    bench_must_exit(&p, 0);
    bench_free(&p);
    expect(&b, "s1", "succeeded", "");
    expect(&b, "s2", "succeeded", "");
    expect_once(&b); // no motion twice
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), 2);
    bench_signal(&body, SIGTERM);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

// The body of a second target lives in targets/ID: whoever says stop means it too.
static void a_stop_is_for_each_target(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, stop = {0};
    bench_open(&b);
    put_files(&b, TARGET("t1", "") TARGET("t2", ""), BUILTIN("navigate_to_pose") BUILTIN("wait"),
              SESSION("s1", "t1", "wait", WAIT("0.1")) SESSION(
                  "s2", "t2", "navigate_to_pose", ", execution: {params: {zone: kitchen}}"));
    bench_start(&b, &p, NULL, "watchdog runtime --once --json --speed 2");
    bench t = b;
    snprintf(t.workspace, sizeof t.workspace, "%.60s/targets/t2", b.workspace);
    bench_ledger_await(&t, "started", 1);
    bench_start(&b, &stop, NULL, "stop");
    bench_must_exit(&stop, 0);
    bench_must_exit(&p, 1);
    expect(&b, "s2", "failed", "SKILL_FAILED");
    bench_free(&stop);
    bench_free(&p);
    bench_close(&b);
}

static void two_share_the_queue(void **state)
{
    (void)state;
    bench b;
    proc p[2] = {{0}};
    char sessions[4096] = "", all[4096] = "";
    bench_open(&b);
    for (int i = 0; i < 24; i++) {
        snprintf(sessions + strlen(sessions), sizeof sessions - strlen(sessions),
                 SESSION("s%02d", "t%d", "wait", WAIT("0.5")), i, i % 3);
    }
    put_files(&b, TARGET("t0", "") TARGET("t1", "") TARGET("t2", ""), BUILTIN("wait"), sessions);
    bench_start(&b, &p[0], NULL, RUN);
    bench_start(&b, &p[1], NULL, RUN);
    bench_must_exit(&p[0], 0);
    bench_must_exit(&p[1], 0);
    for (int i = 0; i < 2; i++) {
        size_t k;
        const pons_value *e;
        json_array_foreach(p[i].events, k, e) {
            char word[32];
            snprintf(word, sizeof word, "%s;", pons_get_str(e, "id", ""));
            if (strcmp(pons_get_str(e, "status", ""), "running") == 0) {
                const pons_value *who = pons_get(e, "id");
                assert_non_null(who);
                strcat(all, word);
            }
        }
        bench_free(&p[i]);
    }
    for (int i = 0; i < 24; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%02d", i);
        expect(&b, id, "succeeded", "");
        assert_non_null(strstr(all, id));
    }
    for (int i = 0; i < 3; i++) { // each target's ledger has each step once
        bench t = b;
        snprintf(t.workspace, sizeof t.workspace, "%.60s/targets/t%d", b.workspace, i);
        expect_once(&t);
        assert_int_equal(bench_ledger_count(&t, NULL, "started"), 8);
    }
    bench_close(&b);
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    put_files(&b, TARGET("t1", ""), BUILTIN("wait"), "  - {session_id: [\n");
    bench_start(&b, &p, NULL, RUN);
    bench_must_exit(&p, 2);
    char *said = bench_stderr(&p);
    assert_non_null(strstr(said, "SESSIONS.md:"));
    free(said);
    bench_free(&p);
    bench_must_fail(&b, "watchdog sessions", 2, "it takes hal, runtime or policy");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(order_and_one_a_target, bench_teardown),
        cmocka_unit_test_teardown(contracts, bench_teardown),
        cmocka_unit_test_teardown(judged_by_the_files, bench_teardown),
        cmocka_unit_test_teardown(a_scene_of_xml_is_told, bench_teardown),
        cmocka_unit_test_teardown(a_policy_drives, bench_teardown),
        cmocka_unit_test_teardown(a_policy_that_thinks, bench_teardown),
        cmocka_unit_test_teardown(a_bad_policy_moves_nothing, bench_teardown),
        cmocka_unit_test_teardown(a_policy_that_never_ends, bench_teardown),
        cmocka_unit_test_teardown(killed_in_the_middle, bench_teardown),
        cmocka_unit_test_teardown(a_stop_is_for_each_target, bench_teardown),
        cmocka_unit_test_teardown(two_share_the_queue, bench_teardown),
        cmocka_unit_test_teardown(what_cannot_be_read, bench_teardown),
    };
    return bench_together("runtime", tests, sizeof tests / sizeof *tests);
}
