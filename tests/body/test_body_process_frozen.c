// A body's process that is stopped (SIGSTOP) while its robot drives, and goes on: the simulated
// world has not lived the time in between, the gate has seen the gap, and the goal is reached.
//
// What is compared is robot time against the host's. A slow machine only makes the robot's less, so
// nothing here fails for want of speed.
#include "body_bench.h"
#include "pons/body.h"
#include "pons/drivers.h"
#include "unit.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOUSE    PONS_SOURCE_DIR "/worlds/house.yaml"
#define LIMIT_S  240 // only a broken body takes this long
#define FROZEN_S 1
#define SLACK_S  0.4 // what is made up, and what was on its way when the process stopped

typedef struct frozen {
    char dir[64];
    pid_t pid;
    double speed;
    pons_link *link;
    int64_t epoch;
    pons_value *telemetry, *result; // the newest, or NULL
} frozen;

static double now_s(void)
{
    const pons_clock c = pons_clock_real();
    return (double)pons_now_ns(&c) / 1e9;
}

static void body_process(const frozen *f)
{
    pons_value *world = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_world_load(HOUSE, &world, &err) < 0) {
        _exit(1);
    }
    pons_body_options o = PONS_BODY_OPTIONS_INIT;
    o.robot = &pons_robot_kinematic;
    o.world = world;
    o.clock = pons_clock_real();
    o.seed = 5;
    o.speed = f->speed;
    o.for_run = true;
    o.alone_timeout_s = 30.0;
    const int rc = pons_body_run(&o, f->dir, NULL, &err);
    pons_value_unref(world);
    _exit(rc == PONS_OK ? 0 : 1);
}

static void send_msg(frozen *f, pons_value *msg)
{
    assert_int_equal(pons_link_send(f->link, msg, NULL), PONS_OK);
}

// The next message of that type; the caller's. Telemetry and the result are kept, a
// held goal is adopted.
static pons_value *await(frozen *f, const char *type)
{
    const double give_up_s = now_s() + LIMIT_S;
    while (now_s() < give_up_s) {
        pons_value *m = NULL;
        const int rc = pons_link_recv(f->link, &m, NULL);
        assert_true(rc >= 0);
        if (rc == 0) {
            if (f->epoch > 0) {
                send_msg(f, pons_object("type", json_string("heartbeat"), NULL));
            }
            struct pollfd p = {.fd = pons_link_fd(f->link), .events = POLLIN};
            poll(&p, 1, 20);
            continue;
        }
        const char *got = pons_get_str(m, "type", "");
        if (strcmp(got, "telemetry") == 0) {
            pons_value_unref(f->telemetry);
            f->telemetry = pons_value_ref(m);
            if (pons_get_bool(m, "held", false)) {
                send_msg(f, pons_object("type", json_string("adopt"), "goal_id", json_string("g1"),
                                        "epoch", json_integer(f->epoch), NULL));
            }
        }
        if (strcmp(got, "result") == 0) {
            pons_value_unref(f->result);
            f->result = pons_value_ref(m);
        }
        if (strcmp(got, type) == 0) {
            return m;
        }
        pons_value_unref(m);
    }
    fail_msg("no %s came", type);
    return NULL;
}

static void setup(frozen *f, double speed)
{
    *f = (frozen){.speed = speed};
    snprintf(f->dir, sizeof f->dir, "%s/pons-frozen-XXXXXX", bench_disk());
    assert_non_null(mkdtemp(f->dir));
    f->pid = fork();
    assert_true(f->pid >= 0);
    if (f->pid == 0) {
        body_process(f);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/body.sock", f->dir);
    const double give_up_s = now_s() + LIMIT_S;
    while (pons_link_connect(path, &f->link, NULL) < 0) {
        assert_true(now_s() < give_up_s);
        poll(NULL, 0, 5);
    }
    send_msg(f, pons_object("type", json_string("hello"), "protocol", json_integer(1), "role",
                            json_string("controller"), "name", json_string("test"), NULL));
    pons_autovalue m = await(f, "hello");
    f->epoch = pons_get_int(m, "epoch", 0);
    const pons_clock c = pons_clock_real();
    send_msg(f, pons_object("type", json_string("goal"), "goal_id", json_string("g1"), "epoch",
                            json_integer(f->epoch), "expires_ms",
                            json_integer(c.boot_ns(c.ctx) / PONS_NS_PER_MS + 60000), "robot_id",
                            json_string("pons-1"), "skill", json_string("navigate_to_pose"), "args",
                            json_pack("{s:{s:f,s:f}}", "pose", "x", 2.2, "y", 2.5), "args_hash",
                            json_string("hash"), "thread", json_string("t"), "task_id",
                            json_string("k"), "attempt", json_integer(0), NULL));
    pons_value_unref(await(f, "accepted"));
}

static void teardown(frozen *f)
{
    static const char *const files[] = {"body.ledger", "body.epoch", "sim.json"};
    send_msg(f, pons_object("type", json_string("bye"), "stop_body", json_true(), NULL));
    int status = 0;
    assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pons_link_close(f->link);
    pons_value_unref(f->telemetry);
    pons_value_unref(f->result);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", f->dir, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(f->dir), 0);
}

static double robot_s(const frozen *f)
{
    return pons_get_num(f->telemetry, "robot_ms", -1.0) / 1e3;
}

static void the_time_in_between_is_lost(double speed)
{
    frozen f;
    setup(&f, speed);
    do { // until it drives
        pons_value_unref(await(&f, "telemetry"));
    } while (fabs(pons_get_num(pons_get(f.telemetry, "twist"), "v", 0.0)) < 0.3);
    const int64_t gaps = pons_get_int(f.telemetry, "gaps", 0);

    assert_int_equal(kill(f.pid, SIGSTOP), 0);
    int status = 0;
    assert_int_equal(waitpid(f.pid, &status, WUNTRACED), f.pid);
    assert_true(WIFSTOPPED(status));
    pons_value *m = NULL;
    while (pons_link_recv(f.link, &m, NULL) > 0) { // what it had said before
        if (strcmp(pons_get_str(m, "type", ""), "telemetry") == 0) {
            pons_value_unref(f.telemetry);
            f.telemetry = pons_value_ref(m);
        }
        pons_value_unref(m);
    }
    const double before_s = robot_s(&f);
    poll(NULL, 0, FROZEN_S * 1000);
    const double woken_s = now_s();
    assert_int_equal(kill(f.pid, SIGCONT), 0);

    for (int i = 0; i < 20; i++) {
        pons_value_unref(await(&f, "telemetry"));
        const double lived_s = robot_s(&f) - before_s, could_s = (now_s() - woken_s) * speed;
        if (lived_s > could_s + SLACK_S * fmax(speed, 1.0)) {
            fail_msg("%.2f s of robot time in %.2f s of host time at speed %g", lived_s,
                     now_s() - woken_s, speed);
        }
    }
    while (pons_get_int(f.telemetry, "gaps", 0) == gaps) { // the gate's tick came first
        pons_value_unref(await(&f, "telemetry"));
    }
    while (!f.result) {
        pons_value_unref(await(&f, "telemetry"));
    }
    assert_string_equal(pons_get_str(f.result, "status", ""), "done");
    teardown(&f);
}

static void at_its_own_pace(void **state)
{
    (void)state;
    the_time_in_between_is_lost(1.0);
}

static void and_at_four_times(void **state)
{
    (void)state;
    the_time_in_between_is_lost(4.0);
}

int main(void)
{
    pons_value_init();
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_its_own_pace),
        cmocka_unit_test(and_at_four_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
