// test_gazebo.c - `pons run --driver gazebo`, whole, beside a peer that speaks Gazebo's topics
// (tests/drivers/gazebo/peer.cc): a goal is driven to in a world that pons steps, and a stop is zero on
// the wire. worlds/house.sdf is what `pons map sdf house` writes.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bench b;

static bool no_module(void)
{
    if (access(PONS_BINARY_DIR "/lib/pons/driver-gazebo.so", F_OK) == 0) {
        return false;
    }
    print_message("skipped: built without Ignition Transport\n");
    return true;
}

static int set_up(void **state)
{
    (void)state;
    char path[200];
    bench_open(&b);
    snprintf(path, sizeof path, "%s/config", b.workspace);
    mkdir(b.workspace, 0700);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/config/gazebo.yaml", b.workspace);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "clock: pons\nlimits: {step_s: 20}\n");
    fclose(f);
    snprintf(path, sizeof path, "pons-cli-%d-%d", (int)getpid(), b.procs);
    setenv("IGN_PARTITION", path, 1);
    return 0;
}

static void serve(proc *peer)
{
    bench_start_program(&b, peer, PONS_BINARY_DIR "/tests/gazebo_peer",
                        PONS_SOURCE_DIR "/worlds/house.yaml --stay");
    assert_string_equal(bench_line(peer), "ready");
}

static void end(proc *peer)
{
    bench_signal(peer, SIGKILL);
    bench_finish(peer);
    bench_free(peer);
}

static void a_goal_is_driven_to(void **state)
{
    (void)state;
    proc peer, p;
    if (no_module()) {
        return;
    }
    serve(&peer);
    bench_start(&b, &p, NULL, "run --driver gazebo --speed 4 --json 'go to the corridor'");
    bench_must_exit(&p, 0);
    bench_free(&p);
    end(&peer);
}

static void a_stop_is_zero_on_the_wire(void **state)
{
    (void)state;
    proc peer, p;
    if (no_module()) {
        return;
    }
    serve(&peer);
    bench_start(&b, &p, NULL, "run --driver gazebo --json --wait 1 'go to the kitchen'");
    for (double v = 0.0; v < 0.3;) { // it is on its way
        sscanf(bench_line(&peer), "cmd %lf", &v);
    }
    assert_int_equal(bench_run(&b, "stop"), 0);
    while (strcmp(bench_line(&peer), "cmd 0 0") != 0) {
    }
    bench_must_exit(&p, 4);
    bench_free(&p);
    end(&peer);
}

static void the_world_is_what_is_written(void **state)
{
    (void)state;
    proc p;
    char *file = NULL;
    size_t cap = 0;
    bench_start(&b, &p, NULL, "map sdf house");
    bench_must_exit(&p, 0);
    FILE *f = fopen(PONS_SOURCE_DIR "/worlds/house.sdf", "re");
    assert_non_null(f);
    assert_true(getdelim(&file, &cap, '\0', f) > 0);
    fclose(f);
    assert_string_equal(p.text, file);
    free(file);
    bench_free(&p);
    // No model has the name of another one, whatever the boxes are called.
    char words[300];
    snprintf(words, sizeof words, "map sdf %s",
             bench_file(
                 &b, "clash.yaml",
                 "name: clash\nbounds: [0, 0, 6, 6]\nstart: {x: 1.5, y: 1.5, yaw: 0}\n"
                 "robot: {radius_m: 0.22, wheel_radius_m: 0.08, track_m: 0.34, speed_max_mps: 0.6, "
                 "reverse_max_mps: 0.3, yaw_rate_max_radps: 1.5, accel_max_mps2: 1, "
                 "brake_max_mps2: 2, yaw_accel_max_radps2: 4}\n"
                 "battery: {initial_pct: 100, idle_pct_per_s: 0.01, motion_pct_per_m: 0.2, "
                 "charge_pct_per_s: 1}\n"
                 "lidar: {beams: 72, angle_min: -3.14159, angle_max: 3.14159, range_min: 0.05, "
                 "range_max: 8, hz: 10, noise_m: 0.01}\n"
                 "zones:\n  - {id: west, names: {zh: [西], en: [west]}, "
                 "polygon: [[0, 0], [3, 0], [3, 6], [0, 6]], target: {x: 1.5, y: 3, yaw: 0}}\n"
                 "charger: {pose: {x: 0.75, y: 5, yaw: 3.14}, contact_m: 0.12}\n"
                 "map:\n  resolution_m: 0.05\n  boxes:\n"
                 "    - {id: robot, x: 3, y: 0.05, sx: 6, sy: 0.1, kind: wall}\n"
                 "    - {id: zone_west, x: 3, y: 5.95, sx: 6, sy: 0.1, kind: wall}\n"
                 "    - {id: box_robot, x: 0.05, y: 3, sx: 0.1, sy: 6, kind: wall}\n"
                 "    - {id: ground, x: 5.95, y: 3, sx: 0.1, sy: 6, kind: wall}\nobjects: []\n"));
    bench_start(&b, &p, NULL, words);
    bench_must_exit(&p, 0);
    static const char *const once[] = {"robot",         "box_robot", "box_box_robot", "zone_west",
                                       "box_zone_west", "ground",    "box_ground"};
    for (size_t i = 0; i < sizeof once / sizeof once[0]; i++) {
        char model[64];
        snprintf(model, sizeof model, "<model name=\"%s\">", once[i]);
        const char *found = strstr(p.text, model);
        if (!found || strstr(found + 1, model)) {
            fail_msg("%s: not once", model);
        }
    }
    bench_free(&p);
    bench_must_fail(&b, "map sdf tabletop", 2, "has no wheels");
    bench_must_fail(&b, "map sdf", 2, "sdf WORLD");
}

int main(void)
{
    setenv("IGN_IP", "127.0.0.1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_goal_is_driven_to, set_up, bench_teardown),
        cmocka_unit_test_setup_teardown(a_stop_is_zero_on_the_wire, set_up, bench_teardown),
        cmocka_unit_test_setup_teardown(the_world_is_what_is_written, set_up, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli/gazebo", tests, NULL, NULL);
}
