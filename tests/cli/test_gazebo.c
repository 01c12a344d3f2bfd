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
