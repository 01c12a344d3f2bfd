// test_detectors.c - `pons sight` with detectors of pictures, in the real program: a tag in a rendered picture becomes a thing
// that is known to two centimetres; detectors that hang, die, flood and lie, and pictures that are none, are a line each
// and make nobody late.
#include "app/workspace/context.h"
#include "cli_bench.h"
#include "llm/fake_server.h"
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ROOM[] =
    "name: room\nbounds: [0, 0, 6, 4]\nstart: {x: 1, y: 2, yaw: 0}\n"
    "robot: {radius_m: 0.2, wheel_radius_m: 0.05, track_m: 0.3, speed_max_mps: 0.5, "
    "reverse_max_mps: 0.2, yaw_rate_max_radps: 1.0, "
    "accel_max_mps2: 0.5, brake_max_mps2: 1.0, yaw_accel_max_radps2: 2.0}\n"
    "battery: {initial_pct: 90, idle_pct_per_s: 0.01, motion_pct_per_m: 0.2, charge_pct_per_s: "
    "1.0}\n"
    "lidar: {beams: 120, angle_min: -3.141592653589793, angle_max: 3.141592653589793, range_min: "
    "0.05, range_max: 10.0, hz: 10, "
    "noise_m: 0.01}\n"
    "zones: [{id: room, names: {zh: [房间], en: [room]}, polygon: [[0, 0], [6, 0], [6, 4], [0, "
    "4]], target: {x: 2, y: 2, yaw: 0}}]\n"
    "map:\n  resolution_m: 0.05\n  boxes:\n"
    "    - {id: s, kind: wall, x: 3, y: 0.05, sx: 6, sy: 0.1}\n    - {id: n, kind: wall, x: 3, y: "
    "3.95, sx: 6, sy: 0.1}\n"
    "    - {id: w, kind: wall, x: 0.05, y: 2, sx: 0.1, sy: 4}\n    - {id: e, kind: wall, x: 5.95, "
    "y: 2, sx: 0.1, sy: 4}\n"
    "sight: {hz: 5, range_m: 4, noise_m: 0.02}\n"
    "objects:\n"
    "  - {id: crate, class: crate, names: {zh: [箱子], en: [crate]}, position: [3.1, 2.1, 0.4], "
    "yaw: 3.0, shape: {kind: box, size: [0.2, "
    "0.3, 0.3], rgba: '.9 .9 .9 1', anchored: true%s}}\n"
    "cameras:\n"
    "  - {id: front, \"on\": base, at: [0.1, 0, 0.5], look_at: [2, 0, 0.4], width: 1280, height: "
    "960, fovy_deg: 50}\n"
    "  - {id: corner, at: [0.2, 0.2, 1.5], look_at: [3, 2, 0], width: 640, height: 480}\n";

static void put_room(bench *b, const char *texture)
{
    char text[4096];
    snprintf(text, sizeof text, ROOM, texture);
    bench_shell("mkdir -m 700 -p %s/worlds %s/config %s/lib %s/pics", b->workspace, b->workspace,
                b->workspace, b->workspace);
    bench_put(b, "worlds/room.yaml", text);
}

// What the log of `pons sight` has, once it has these words in it.
static void await_log(const bench *b, const char *words)
{
    char path[160];
    int64_t since = 0;
    snprintf(path, sizeof path, "%s/run/sight.log", b->workspace);
    for (bool there = false; !there;) {
        char text[16384] = "";
        FILE *f = fopen(path, "r");
        if (f) {
            text[fread(text, 1, sizeof text - 1, f)] = '\0';
            fclose(f);
        }
        there = strstr(text, words) != NULL;
        if (!there) {
            bench_again(&since, words);
        }
    }
}

static int lines_with(const bench *b, const char *words)
{
    char path[160], line[1024];
    int n = 0;
    snprintf(path, sizeof path, "%s/run/sight.log", b->workspace);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        n += strstr(line, words) != NULL;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

// How often a thing was seen; 0: not yet. ret: it, NULL: not wanted.
static int64_t seen(bench *b, const char *what, pons_value **ret)
{
    char words[128];
    pons_value *v = NULL;
    snprintf(words, sizeof words, "seen %s --json --limit 1 --world room", what);
    const int64_t n = bench_run_json(b, words, &v) == 0 ? pons_get_int(v, "seen", 0) : 0;
    if (ret && n > 0) {
        *ret = v;
    } else {
        pons_value_unref(v);
    }
    return n;
}

static void await_seen(bench *b, const char *what, int64_t least)
{
    int64_t since = 0;
    while (seen(b, what, NULL) < least) {
        bench_again(&since, what);
    }
}

// Each sighting of it has its picture, and they are there.
static int pictures_of(const bench *b, const pons_value *object)
{
    int n = 0;
    pons_each(sighting, pons_get(object, "sightings")) {
        const char *name = pons_get_str(sighting, "picture", "");
        char path[256];
        snprintf(path, sizeof path, "%s/run/seen/%s.jpg", b->workspace, name);
        if (*name && access(path, R_OK) < 0) {
            fail_msg("%s is not there", path);
        }
        n += *name != '\0';
    }
    return n;
}

static int64_t gaps(const bench *b)
{
    app_context c;
    pons_value *hello = NULL, *telemetry = NULL;
    assert_int_equal(app_setup(b->workspace, NULL, &c, NULL), PONS_OK);
    assert_int_equal(app_observe(&c, 10000, &hello, &telemetry), PONS_OK);
    const int64_t n = pons_get_int(telemetry, "gaps", -1);
    pons_value_unref(hello);
    pons_value_unref(telemetry);
    return n;
}

// ---- a tag --------------------------------------------------------------------------------------

static void a_tag_becomes_a_thing(void **state)
{
    if (access(PONS_BINARY_DIR "/lib/pons/driver-mujoco.so", F_OK) < 0 ||
        access(PONS_BINARY_DIR "/lib/pons/detector-apriltag.so", F_OK) < 0) {
        skip();
    }
    bench b;
    proc run = {0};
    char words[256];
    bench_open(&b);
    put_room(&b, ", texture: tag.png, texture_m: 0.25");
    snprintf(words, sizeof words, "sight tag tag36h11:7 --out %s/worlds/tag.png", b.workspace);
    assert_int_equal(bench_run(&b, words), 0);
    bench_put(&b, "config/sight.yaml",
              "detectors:\n  - {name: tags, kind: apriltag, camera: front, period_s: 0.2, size_m: "
              "0.2, labels: {7: chest}}\n");

    // In the world's beginning: the tag is 2 m away and slanted, as the world has it.
    pons_autovalue line = NULL;
    assert_int_equal(bench_run_json(&b, "sight detect tags --once --json --world room", &line), 0);
    const pons_value *pose = pons_get(json_array_get(pons_get(line, "found"), 0), "pose");
    double q[4];
    for (size_t i = 0; i < 4; i++) {
        q[i] = json_number_value(json_array_get(pose, 3 + i));
    }
    // The tag looks along yaw 3.0, the camera along 0 and 3.0 degrees down: between them π − 3.0 about the vertical, and that.
    const double slant = 2 * acos(fmin(1.0, fabs(q[3]))), want = hypot(M_PI - 3.0, atan2(0.1, 1.9));
    printf("slant %.2f degrees, of %.2f\n", slant * 180 / M_PI, want * 180 / M_PI);
    assert_true(fabs(slant - want) * 180 / M_PI < 2.0);

    bench_start(&b, &run, NULL,
                "run --thread t --driver mujoco --seed 3 --world room 'wait 600 seconds'");
    await_seen(&b, "chest", 3);
    pons_autovalue chest = NULL;
    assert_true(seen(&b, "tag36h11:7", &chest) >= 3); // by its identity too
    const pons_value *at = pons_get(chest, "position");
    const double x = 3.1 + 0.1 * cos(3.0),
                 y = 2.1 + 0.1 * sin(3.0); // of the side that the tag is on
    const double off = hypot(hypot(json_number_value(json_array_get(at, 0)) - x,
                                   json_number_value(json_array_get(at, 1)) - y),
                             json_number_value(json_array_get(at, 2)) - 0.4);
    printf("off by %.1f mm\n", 1000 * off);
    assert_true(off < 0.02);
    assert_string_equal(pons_get_str(chest, "identity", ""), "tag36h11:7");
    assert_string_equal(pons_get_str(chest, "zone", ""), "room");
    assert_int_equal(lines_with(&b, "detector"), 0); // nothing was wrong

    // The process is killed, and another one goes on; what no row names goes, what one names stays.
    char orphan[256];
    int64_t since = 0;
    snprintf(orphan, sizeof orphan, "%s/run/seen/%064d.jpg", b.workspace, 0);
    bench_shell("touch -d '1 hour ago' %s", orphan);
    assert_int_equal(kill(bench_child(run.pid, "sight"), SIGKILL), 0);
    while (access(orphan, F_OK) == 0) {
        bench_again(&since, "the orphan's end");
    }
    await_seen(&b, "chest", pons_get_int(chest, "seen", 0) + 3);
    pons_value_unref(chest);
    assert_true(seen(&b, "chest", &chest) > 3);
    assert_true(pictures_of(&b, chest) > 0);
    bench_signal(&run, SIGINT);
    bench_finish(&run);
    bench_free(&run);
    bench_close(&b);
}

// ---- what is wrong ------------------------------------------------------------------------------

static const char FAULTY[] =
    "detectors:\n"
    "  - {name: sim}\n"
    "  - {name: slow, kind: faulty, camera: corner, pictures: pics/good.png, options: {does: "
    "slow}}\n"
    "  - {name: hang, kind: faulty, camera: corner, pictures: pics/good.png, period_s: 0.1, "
    "limit_s: 0.5, options: {does: hang}}\n"
    "  - {name: crash, kind: faulty, camera: corner, pictures: pics/good.png, options: {does: "
    "crash}}\n"
    "  - {name: nan, kind: faulty, camera: corner, pictures: pics/good.png, options: {does: nan}}\n"
    "  - {name: many, kind: faulty, camera: corner, pictures: pics/good.png, options: {does: "
    "many}}\n"
    "  - {name: flood, kind: faulty, camera: corner, pictures: pics/good.png, options: {does: "
    "flood}}\n"
    "  - {name: blind, kind: faulty, camera: front, pictures: pics/good.png}\n"
    "write_s: 0\n";

static void faults(void **state)
{
    bench b;
    proc run = {0};
    bench_open(&b);
    put_room(&b, "");
    bench_shell("cp %s/examples/modules/detector-faulty.so %s/lib/ && chmod 700 %s/lib %s",
                PONS_BINARY_DIR, b.workspace, b.workspace, b.workspace);
    bench_shell("base64 -d >%s/pics/good.png <<'END'\n"
                "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAAAAADbboAnAAAADklEQVR42mM4AQUMpDAA9OMlgZ1MieUAAA"
                "AASUVORK5CYII=\nEND",
                b.workspace);
    bench_put(&b, "config/sight.yaml", FAULTY);
    bench_start(&b, &run, NULL,
                "run --thread t --driver kinematic --seed 3 --world room 'wait 600 seconds'");
    await_seen(&b, "crate", 2); // the simulators' own detector goes on beside them
    await_log(&b, "detector hang: it took longer than limit_s");
    await_log(&b, "detector crash: its process has ended");
    await_log(&b, "detector nan: detection 1 is left out: its box is not in the picture");
    await_log(&b, "detector many: sight: the detector says that it found 10000 things");
    await_log(&b, "detector flood: a line does not end");
    await_log(&b, "detector blind: the body has not said where it was at the picture's time");
    const int64_t before = seen(&b, "crate", NULL);
    await_seen(&b, "crate", before + 5); // and so does the saving
    await_seen(&b, "thing", 1);          // what the slow one and the one with a NaN found at last
    assert_int_equal(gaps(&b), 0);       // the body was never late
    static const char *const names[] = {"slow", "hang", "crash", "nan", "many", "flood", "blind"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char words[32];
        snprintf(words, sizeof words, "detector %s:", names[i]);
        const int n = lines_with(&b, words);
        printf("%s %d\n", words, n);
        assert_true(n <= 2); // one a minute
    }
    bench_signal(&run, SIGINT);
    bench_finish(&run);
    bench_free(&run);
    bench_close(&b);
}

// Pictures that are none are a line each, and the next one is looked at.
static void pictures(void **state)
{
    bench b;
    proc p = {0};
    bench_open(&b);
    put_room(&b, "");
    bench_shell("cp %s/examples/modules/detector-faulty.so %s/lib/ && chmod 700 %s/lib %s",
                PONS_BINARY_DIR, b.workspace, b.workspace, b.workspace);
    bench_shell("cd %s/pics && printf 'no picture' >a.png && printf '\\377\\330\\377\\340junk' "
                ">b.jpg && : >c.png && "
                "base64 -d >z.png <<'END'\n"
                "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAAAAADbboAnAAAADklEQVR42mM4AQUMpDAA9OMlgZ1MieUAAA"
                "AASUVORK5CYII=\nEND\n"
                "head -c 40 z.png >d.png && " // cut short
                "{ head -c 16 z.png; printf '\\000\\000\\040\\000\\000\\000\\032\\000'; tail -c "
                "+25 z.png; } >e.png && " // 8192 × 6656
                "mkfifo f.png && mkdir g.png && echo text >notes.txt",
                b.workspace);
    bench_put(&b, "config/sight.yaml",
              "detectors: [{name: look, kind: faulty, camera: corner, pictures: pics, period_s: "
              "0.02}, {name: odd, kind: faulty, camera: corner, "
              "pictures: pics/z.png, options: {does: refuse}}, {name: none, kind: nobody, camera: "
              "corner}, {name: lost, kind: faulty, camera: hall}, "
              "{name: fail, kind: faulty, camera: corner, pictures: pics/z.png, options: {does: "
              "fail}}]\n");
    bench_start(&b, &p, NULL, "sight detect look --json --world room");
    static const char *const files[] = {"a.png", "b.jpg", "c.png", "d.png",
                                        "e.png", "f.png", "g.png"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *line = bench_line(&p);
        if (!strstr(line, "\"error\"") || !strstr(line, files[i])) {
            fail_msg("%s: %s", files[i], line);
        }
    }
    assert_non_null(strstr(bench_line(&p), "\"label\":\"thing\""));
    assert_non_null(strstr(bench_line(&p), "\"waits\":true")); // until there is another one
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_must_fail(&b, "sight detect odd --once --world room", 2, "this it never takes");
    bench_must_fail(&b, "sight detect fail --once --world room", 3,
                    "this picture it does not like");
    bench_must_fail(&b, "sight detect none --once --world room", 2, "detector-nobody");
    bench_must_fail(&b, "sight detect lost --once --world room", 2, "there are front, corner");
    bench_must_fail(&b, "sight detect mine --once", 2,
                    "no detector of pictures that is called 'mine'");
    bench_must_fail(&b, "sight tag tag36h11:7", 2, "tag IDENTITY --out FILE");
    bench_put(&b, "config/sight.yaml", "detectors: [{name: a, kind: apriltag}]\n");
    bench_must_fail(&b, "sight detect a", 2, "camera");
    bench_put(
        &b, "config/sight.yaml",
        "detectors: [{name: a, kind: x, camera: front}, {name: a, kind: y, camera: front}]\n");
    bench_must_fail(&b, "sight detect a", 2, "two detectors are called 'a'");
    bench_close(&b);
}

// The model that the program has, asked by a detector; what config/vision.yaml holds back is not asked.
static void a_model(void **state)
{
    static const fake_step step = {
        .bytes =
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"choices\":[{\"message\":{\"content\":"
            "\"{\\\"detections\\\":[{\\\"label\\\":\\\"cup\\\",\\\"score\\\":0.9,\\\"box\\\":[0,0,"
            "500,500]}]}\"},\"finish_reason\":\"stop\"}]}"};
    bench b;
    proc p = {0};
    char words[512];
    if (bench_no_model_module()) {
        skip();
    }
    bench_open(&b);
    put_room(&b, "");
    bench_shell("cp %s/fuzz/corpus/camera_picture/rgb.png %s/pics", PONS_SOURCE_DIR, b.workspace);
    bench_put(&b, "config/sight.yaml",
              "detectors: [{name: eyes, kind: model, camera: corner, pictures: pics/rgb.png, find: "
              "[cup]}]\n");
    fake_server *server = fake_server_start(&step, 1);
    static const struct {
        const char *vision, *says;
        int status, requests;
    } runs[] = {
        {"send: ask\n", "not sent: no person has allowed that pictures go to this server", 3, 0},
        {"send: allowed\n", "\"label\":\"cup\"", 0, 1}};
    for (size_t i = 0; i < 2; i++) {
        bench_put(&b, "config/vision.yaml", runs[i].vision);
        snprintf(
            words, sizeof words,
            "PONS_LLM_URL=http://127.0.0.1:%d/v1 %s/pons sight detect eyes --once --world room "
            "--workspace %s",
            fake_server_port(server), PONS_BINARY_DIR, b.workspace);
        bench_start_program(&b, &p, "/usr/bin/env", words);
        bench_must_exit(&p, runs[i].status);
        char *err = bench_stderr(&p);
        assert_non_null(strstr(i ? p.text : err, runs[i].says));
        free(err);
        bench_free(&p);
        assert_int_equal(fake_server_requests(server), runs[i].requests);
    }
    bench_must_fail(&b, "sight detect eyes --once --world room", 2, "url is missing");
    fake_server_stop(server);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_tag_becomes_a_thing, bench_teardown),
        cmocka_unit_test_teardown(faults, bench_teardown),
        cmocka_unit_test_teardown(pictures, bench_teardown),
        cmocka_unit_test_teardown(a_model, bench_teardown),
    };
    return bench_together("detectors", tests, sizeof tests / sizeof *tests);
}
