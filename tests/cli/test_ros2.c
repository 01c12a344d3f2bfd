// test_ros2.c - `pons run --ros2`, whole: the body that a run starts is shown to ROS, and so is the one that a
// resume of the run starts after it; and a recording of such a run has what ROS was told. A camera of the world is the
// robot's of ROS, by its driver, that was typed or is the workspace's; what it lacks is a line.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool no_module(void)
{
    if (access(PONS_BINARY_DIR "/lib/pons/bridge-ros2.so", F_OK) == 0) {
        return false;
    }
    print_message("skipped: built without Cyclone DDS\n");
    return true;
}

// The body was told to; it would not have begun without its bridge.
static bool is_shown(bench *b)
{
    char path[64], words[4096];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)bench_body_pid(b));
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    const size_t n = fread(words, 1, sizeof words - 1, f);
    fclose(f);
    words[n] = '\0';
    for (const char *w = words; w < words + n; w += strlen(w) + 1) {
        if (strcmp(w, "--ros2") == 0) {
            return true;
        }
    }
    return false;
}

static void a_resume_shows_its_body_too(void **state)
{
    (void)state;
    static const char *const all[] = {" --ros2", ""};
    if (no_module()) {
        return;
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bench b;
        proc p = {0};
        char words[256];
        bench_open(&b);
        snprintf(words, sizeof words,
                 "run --json --thread t " WATCHABLE "%s --wait 1 'go to the kitchen'", all[i]);
        bench_start(&b, &p, NULL, words);
        bench_ledger_await(&b, "started", 1);
        assert_int_equal(is_shown(&b), *all[i] != '\0');
        assert_int_equal(bench_run(&b, "stop"), 0);
        bench_must_exit(&p, 4);
        bench_free(&p);
        bench_end_body(&b);
        bench_start(&b, &p, NULL, "resume t --json --wait 1");
        bench_must_exit(&p, 4); // the stop is still in force
        bench_free(&p);
        assert_int_equal(is_shown(&b), *all[i] != '\0');
        bench_close(&b);
    }
}

// Two that serve the same actions would contradict each other.
static void a_body_is_shown_once(void **state)
{
    (void)state;
    bench b;
    proc body = {0};
    if (no_module()) {
        return;
    }
    bench_open(&b);
    bench_start_body(&b, &body, "--driver kinematic --ros2");
    bench_must_fail(&b, "body ros2", 3, "another process shows this body to ROS 2 already");
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_start_body(&b, &body, "--driver kinematic --ros2"); // it has let go
    bench_signal(&body, SIGTERM);
    bench_must_exit(&body, 0);
    bench_free(&body);
    bench_close(&b);
}

// Of a topic in what `record info` says.
static const pons_value *recorded(const pons_value *about, const char *topic)
{
    for (size_t i = 0; i < json_array_size(pons_get(about, "topics")); i++) {
        const pons_value *t = json_array_get(pons_get(about, "topics"), i);
        if (strcmp(pons_get_str(t, "topic", ""), topic) == 0) {
            return t;
        }
    }
    return NULL;
}

static void a_recording_has_what_ros_was_told(void **state)
{
    (void)state;
    static const char *const reported[][2] = {{"/scan", "sensor_msgs/msg/LaserScan"},
                                              {"/odom", "nav_msgs/msg/Odometry"},
                                              {"/tf", "tf2_msgs/msg/TFMessage"},
                                              {"/map", "nav_msgs/msg/OccupancyGrid"}};
    if (no_module()) {
        return;
    }
    bench b;
    proc p = {0};
    char words[512], path[200];
    pons_value *about = NULL;
    bench_open(&b);
    snprintf(path, sizeof path, "%s/ros.mcap", b.dir);
    snprintf(
        words, sizeof words,
        "run --json --ros2 --driver kinematic --seed 3 --speed 5 --record %s 'go to the kitchen'",
        path);
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    bench_free(&p);
    snprintf(words, sizeof words, "record info %s --json", path);
    assert_int_equal(bench_run_json(&b, words, &about), 0);
    assert_true(pons_get_bool(about, "whole", false));
    for (size_t i = 0; i < sizeof reported / sizeof reported[0]; i++) {
        const pons_value *t = recorded(about, reported[i][0]);
        if (!t) {
            fail_msg("%s is not in it", reported[i][0]);
        }
        assert_string_equal(pons_get_str(t, "encoding", ""), "cdr");
        assert_string_equal(pons_get_str(t, "schema", ""), reported[i][1]);
        assert_true(pons_get_int(t, "messages", 0) > 0);
    }
    assert_string_equal(pons_get_str(recorded(about, "/pons/scan"), "encoding", ""), "json");
    assert_non_null(recorded(about, "/body/telemetry"));
    pons_value_unref(about);
    snprintf(words, sizeof words, "replay %s", path);
    assert_int_equal(bench_run(&b, words), 0);
    bench_close(&b);
}

static void a_camera_of_the_world_is_the_robots(void **state)
{
    (void)state;
    if (access(PONS_BINARY_DIR "/lib/pons/camera-ros2.so", F_OK) < 0) {
        skip();
    }
    bench b;
    bench_open(&b);
    bench_shell("mkdir -m 700 -p %s/config", b.workspace);
    bench_must_fail(&b, "body camera front --world tabletop --driver ros2", 2,
                    "config/ros2.yaml has no topics of camera 'front'");
    bench_put(&b, "config/ros2.yaml",
              "limits: {discovery_s: 0.1}\ncameras:\n  front: {image: /nowhere/image_raw}\n");
    bench_must_fail(&b, "body camera front --world tabletop --driver ros2", 3,
                    "camera front: /nowhere/image_raw: nobody publishes it");
    bench_must_fail(&b, "body camera front --world tabletop --driver ros2 --depth", 2,
                    "camera front has no depth");
    bench_must_fail(&b, "body camera back --world tabletop --driver ros2", 2, "there are front");
    bench_must_fail(&b, "body camera front --world tabletop --driver kinematic", 3,
                    "driver kinematic draws no pictures");
    bench_put(&b, "config.json", "{\"robot\": {\"driver\": \"ros2\", \"world\": \"tabletop\"}}");
    bench_must_fail(&b, "body camera front", 3, "/nowhere/image_raw: nobody publishes it");
    bench_put(&b, "config/ros2.yaml", "cameras:\n  front: {image: 7}\n");
    bench_must_fail(&b, "body camera front", 2, "ros2.yaml:2:18");
    bench_close(&b);
}

int main(void)
{
    char domain[8];
    setenv("CYCLONEDDS_URI",
           "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"
           "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto"
           "</ParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery></Domain>"
           "</CycloneDDS>",
           1);
    snprintf(domain, sizeof domain, "%d", 1 + (int)getpid() % 200);
    setenv("ROS_DOMAIN_ID", domain, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_resume_shows_its_body_too, bench_teardown),
        cmocka_unit_test_teardown(a_body_is_shown_once, bench_teardown),
        cmocka_unit_test_teardown(a_recording_has_what_ros_was_told, bench_teardown),
        cmocka_unit_test_teardown(a_camera_of_the_world_is_the_robots, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli/ros2", tests, NULL, NULL);
}
