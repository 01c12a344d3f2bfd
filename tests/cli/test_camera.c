// test_camera.c - cameras and what they are for: `pons body camera` and its refusals; pictures in ENVIRONMENT.md; a policy
// that gets them, computes where an arm must go and moves it there; what a target cannot do is refused.
#include "cli_bench.h"
#include "pons/workspace.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_PHYSICS()                                                                               \
    if (access(PONS_BINARY_DIR "/lib/pons/driver-mujoco.so", F_OK) < 0) {                          \
        skip();                                                                                    \
    }

static void put_file(bench *b, const char *name, const char *list, const char *rows)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "# Mine\n\n```yaml\n%s:\n%s```\n", list, rows);
    assert_int_equal(fclose(f), 0);
}

static pons_value *record(bench *b, pons_ws_file file, const char *kind, const char *id)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, file, &d, &err), PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, kind, id);
    assert_non_null(r);
    pons_value *v = pons_value_ref(r->value);
    pons_ws_destroy(d);
    return v;
}

static void must_begin(const bench *b, const char *path, const char *magic, size_t n)
{
    char full[256], got[16] = "";
    snprintf(full, sizeof full, "%s/%s", b->workspace, path);
    FILE *f = fopen(full, "r");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, n, f), n);
    fclose(f);
    assert_memory_equal(got, magic, n);
}

static void at_the_command_line(void **state)
{
    (void)state;
    NO_PHYSICS();
    bench b;
    char path[256], words[512];
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --world tabletop"), 0);
    assert_int_equal(bench_run(&b, "body camera front --world tabletop --depth"), 0);
    must_begin(&b, "artifacts/camera/front.jpg", "\xff\xd8\xff", 3);
    must_begin(&b, "artifacts/camera/front.npy", "\x93NUMPY", 6);
    // A link that stands where the picture goes is replaced, and what it leads to stays.
    bench_file(&b, "precious", "mine");
    snprintf(path, sizeof path, "%s/artifacts/camera/front.jpg", b.workspace);
    snprintf(words, sizeof words, "%s/precious", b.dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(words, path), 0);
    assert_int_equal(bench_run(&b, "body camera front --world tabletop"), 0);
    must_begin(&b, "artifacts/camera/front.jpg", "\xff\xd8\xff", 3);
    struct stat is;
    assert_int_equal(stat(words, &is), 0);
    assert_int_equal(is.st_size, 4);
    bench_must_fail(&b, "body camera back --world tabletop", 2, "there are front, wrist");
    bench_must_fail(&b, "body camera ../x --device /dev/null", 2, "no name of a file");
    bench_must_fail(&b, "body camera mine --device /dev/null", 3, "/dev/null is no camera");
    bench_must_fail(&b, "body camera mine --device /dev/video77", 2, "there is no camera");
    snprintf(words, sizeof words, "body camera mine --device %s/precious", b.dir);
    bench_must_fail(&b, words, 3, "is no camera");
    bench_must_fail(&b, "body camera mine --device /dev/video77 --depth", 2, "has no depth");
    bench_must_fail(&b, "body camera mine --device /dev/video77 --size 0x1", 2, "--size takes WxH");
    bench_must_fail(&b, "body camera front --size 64x48", 2, "of a --device");
    bench_must_fail(&b, "body --device /dev/video0", 2, "--device");
    bench_close(&b);
}

#define ARM_TARGET(id, mode, cameras)                                                              \
    "  - {id: " id ", type: sim, backend: mujoco, config: {world: tabletop, control_mode: " mode   \
    "}, adapter: {class: SimTargetAdapter, obs_format: mujoco_standard}, perception: {cameras: "   \
    "[" cameras "]}}\n"
#define POLICY(id, runtime)                                                                        \
    "  - {id: " id ", runtime: " runtime                                                           \
    ", policy_client: {type: local, program: " PONS_BINARY_DIR "/tests/arm_policy, checkpoint: "   \
    "" PONS_SOURCE_DIR "/worlds/arm7.urdf}, requires: {sensors: [rgb_camera, joint_states], "      \
    "environment_outputs: [objects, map, perception_data], strict_environment_contract: true}}\n"
#define SESSION(id, target, skill, params)                                                         \
    "  - {session_id: " id ", target_ref: " target ", skill_ref: " skill                           \
    ", execution: {params: {" params "}}}\n"

static void expect(bench *b, const char *id, const char *status, const char *code)
{
    pons_autovalue r = record(b, PONS_WS_SESSIONS, "session", id);
    const char *is = pons_get_str(r, "status", ""),
               *why = pons_get_str(pons_get(r, "error"), "code", "");
    if (strcmp(is, status) != 0 || strcmp(why, code) != 0) {
        fail_msg("%s is %s %s: %s", id, is, why, pons_get_str(pons_get(r, "error"), "message", ""));
    }
}

// These sessions, until all of them are over.
static void hold(bench *b, int status, const char *rows)
{
    proc p = {0};
    put_file(b, "SESSIONS.md", "sessions", rows);
    bench_start(b, &p, NULL, "watchdog runtime --once --json --speed 3");
    bench_must_exit(&p, status);
    bench_free(&p);
}

static void a_policy_reaches(void **state)
{
    (void)state;
    NO_PHYSICS();
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --world tabletop --robot by_velocity"), 0);
    assert_int_equal(bench_run(&b, "watchdog hal --once --speed 20"), 0); // ENVIRONMENT, EMBODIED
    pons_autovalue scene = record(&b, PONS_WS_ENVIRONMENT, "scene", "scene");
    const pons_value *seen = pons_get(scene, "perception");
    assert_string_equal(pons_get_str(seen, "camera_rgb", ""), "artifacts/camera/front.jpg");
    assert_string_equal(pons_get_str(seen, "depth", ""), "artifacts/camera/front.npy");
    must_begin(&b, pons_get_str(pons_get(pons_get(seen, "cameras"), "wrist"), "rgb", ""),
               "\xff\xd8\xff", 3);
    put_file(&b, "TARGETS.md", "targets",
             ARM_TARGET("by_velocity", "joint_velocity", "{name: front}, {name: wrist}")
                 ARM_TARGET("by_position", "joint_position", "{name: wrist}")
                     ARM_TARGET("by_torque", "torque", "{name: wrist}")
                         ARM_TARGET("blind", "joint_velocity", "{name: back}"));
    put_file(&b, "SKILLS.md", "skills",
             POLICY("reach", "VLAPolicyRuntime") POLICY("rekep_place", "ReKepPolicyRuntime"));
    // Those on one target at a time: physics of every body that has begun goes on to the end of its watchdog.
    hold(&b, 1,
         SESSION("s4", "by_torque", "reach", "object_id: cup")
             SESSION("s5", "blind", "reach", "object_id: cup")
                 SESSION("s6", "by_velocity", "reach", "object_id: pear"));
    expect(&b, "s4", "failed", "ACTION_CONTRACT_UNSATISFIED");
    expect(&b, "s5", "failed", "REQUIRED_SENSOR_MISSING");
    expect(&b, "s6", "failed", "POLICY_ERROR");
    hold(&b, 0, SESSION("s3", "by_position", "reach", "object_id: cup"));
    expect(&b, "s3", "succeeded", "");
    hold(&b, 0,
         SESSION("s1", "by_velocity", "reach", "object_id: apple")
             SESSION("s2", "by_velocity", "rekep_place", "object_id: apple, target: basket"));
    expect(&b, "s1", "succeeded", "");
    expect(&b, "s2", "succeeded", "");
    // By what is seen, not by anybody's word.
    assert_int_equal(bench_run(&b, "watchdog hal --once --speed 20"), 0);
    pons_autovalue in = record(&b, PONS_WS_ENVIRONMENT, "edge", "apple in basket");
    assert_non_null(in);
    bench_close(&b);
}

int main(void)
{
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // OSMesa, which draws, keeps some bytes
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(at_the_command_line, bench_teardown),
        cmocka_unit_test_teardown(a_policy_reaches, bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
