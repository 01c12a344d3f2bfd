// test_gazebo.c - the robot in Gazebo beside the contract of drivers (test_gazebo_conformance.c), through a peer that
// speaks Gazebo's topics (gazebo/peer.cc): what is missing is named and passes, what it publishes ends when nobody
// asks for it, an empty battery and a touched bumper do not drive, and a wrong configuration is refused where it is
// wrong.
//
// Without the module (Ignition Transport was not there at build time) everything is skipped, with a message.
#include "conformance.h"
#include "gazebo_server.h"
#include "pons/clock.h"
#include "runner.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *open_free(gazebo_server *s, const pons_value *world)
{
    pons_autovalue config = pons_object("workspace", json_string(s->workspace), NULL);
    pons_error err = PONS_ERROR_INIT;
    void *robot = NULL;
    if (gazebo_ops->open(world, config, &robot, &err) < 0) {
        fail_msg("open: %s [%s]", err.message, err.source);
    }
    return robot;
}

static void nap(void)
{
    poll(NULL, 0, 10);
}

// Until the robot lacks what the line says; "": nothing.
static void until_lacks(void *robot, const char *line)
{
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    for (int i = 0; i < WAIT_MS / 10; i++) {
        if (!gazebo_ops->outside->lacks(robot, why)) {
            why[0] = '\0';
        }
        if (*line ? strstr(why, line) != NULL : !*why) {
            return;
        }
        nap();
    }
    fail_msg("it lacks '%s', not '%s'", why, line);
}

static void test_what_is_missing_is_named_and_passes(void **unused)
{
    (void)unused;
    static const struct {
        const char *word, *line, *back;
    } all[] = {
        {"mute odom", "/model/robot/odometry: nothing comes any more", "unmute odom"},
        {"mute scan", "/model/robot/scan: nothing comes any more", "unmute scan"},
        {"spoil odom", "/model/robot/odometry: it is no number", "unspoil odom"},
        {"spoil scan", "/model/robot/scan: it is no number", "unspoil scan"},
        {"spoil empty", "/model/robot/scan: it is no number", "unspoil empty"},
        {"shift odom -2", "/model/robot/odometry: its time goes back", "shift odom 0"},
        {"shift scan -2", "/model/robot/scan: its time goes back", "shift scan 0"},
        {"shift odom 1e6", "/model/robot/odometry: its stamps are not by /clock", "shift odom 0"},
        {"shift scan -1e6", "/model/robot/scan: its stamps are not by /clock", "shift scan 0"},
        {"shift scan 1e10", "/model/robot/scan: its stamps are not by /clock", "shift scan 0"},
        {"mute clock", "/clock: nothing comes any more", "unmute clock"},
        {"pause", "house: the world is paused", "run"}};
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL},
                                    "limits: {odom_s: 0.2, scan_s: 0.3}");
    void *robot = open_free(s, world);
    until_lacks(robot, "");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gazebo_say(s, all[i].word);
        until_lacks(robot, all[i].line);
        gazebo_say(s, all[i].back);
        until_lacks(robot, "");
    }
    // A world that begins anew: robot time goes on.
    const int64_t before = gazebo_ops->time_ns(robot);
    gazebo_say(s, "reset");
    until_lacks(robot, "/clock: it went back");
    until_lacks(robot, "");
    assert_true(gazebo_ops->time_ns(robot) > before);
    gazebo_ops->close(robot);
    gazebo_unserve(s);
}

// What never comes, as it is another type, is told so.
static void test_another_type_is_told(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", "--wrong", NULL}, "");
    void *robot = open_free(s, world);
    until_lacks(robot, "/model/robot/scan: another type is published there");
    gazebo_ops->close(robot);
    gazebo_unserve(s);
    s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    gazebo_say(s, "spoil battery");
    robot = open_free(s, world);
    until_lacks(robot, "/model/robot/battery/battery/state: it is no number");
    gazebo_say(s, "unspoil battery");
    until_lacks(robot, "");
    gazebo_ops->close(robot);
    gazebo_unserve(s);
}

static bool same_scan(const pons_scan *a, const pons_scan *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++) {
        same = fabsf(a->ranges[i] - b->ranges[i]) < 0.1f || !isfinite(a->ranges[i]) ||
               !isfinite(b->ranges[i]);
    }
    return same;
}

// Of a lidar with rows the level one counts: the floor that the others see is no obstacle, and no beam is where it
// does not look.
static void test_a_lidar_with_rows(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    void *robot = open_free(s, world);
    pons_scan flat = {.n = 0}, rows = {.n = 0};
    until_lacks(robot, "");
    assert_true(gazebo_ops->scan(robot, &flat));
    gazebo_say(s, "rows 5");
    const int64_t then = gazebo_ops->time_ns(robot);
    for (int i = 0; i < WAIT_MS / 10 && !(rows.n > 0 && rows.stamp_ns > then + PONS_NS_PER_S);
         i++) {
        gazebo_ops->scan(robot, &rows);
        nap();
    }
    assert_true(rows.stamp_ns > then + PONS_NS_PER_S);
    assert_true(same_scan(&flat, &rows));
    gazebo_ops->close(robot);
    gazebo_unserve(s);
}

// A service that never answers holds nothing but itself: velocities go out, the keeper is minded, and the driver closes.
static void test_a_service_that_never_answers(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    void *robot = open_free(s, world);
    pons_error err = PONS_ERROR_INIT;
    until_lacks(robot, "");
    gazebo_say(s, "hang");
    pons_autovalue box =
        pons_object("id", json_string("box"), "x", json_real(3.0), "y", json_real(1.6), "sx",
                    json_real(0.2), "sy", json_real(0.2), NULL);
    assert_int_equal(gazebo_ops->spawn(robot, box, &err), PONS_OK);
    for (int i = 0; i < 40; i++) { // longer than a question is asked
        gazebo_ops->write_velocity(robot, (pons_twist2){i % 2 ? 0.25 : 0.125, 0.5});
        gazebo_expect(s, i % 2 ? "cmd 0.25 0.5" : "cmd 0.125 0.5");
        nap();
    }
    until_lacks(robot, "");
    gazebo_say(s, "unhang");
    gazebo_ops->close(robot);
    gazebo_expect(s, "cmd 0 0");
    gazebo_unserve(s);
}

static void test_a_server_that_dies(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    void *robot = open_free(s, world);
    until_lacks(robot, "");
    kill(s->pid, SIGKILL);
    until_lacks(robot, "nothing comes any more");
    const int64_t before = gazebo_ops->time_ns(robot);
    pons_robot_state state;
    gazebo_ops->read(robot, &state);
    assert_true(state.stamp_ns <= before);
    gazebo_ops->close(robot);
    gazebo_unserve(s);
}

static void test_velocities_end_with_who_asks(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    void *robot = open_free(s, world);
    until_lacks(robot, "");
    gazebo_ops->write_velocity(robot, (pons_twist2){0.25, 0.5});
    gazebo_expect(s, "cmd 0.25 0.5");
    gazebo_expect(s, "cmd 0 0"); // nobody has said it again
    gazebo_ops->write_velocity(robot, (pons_twist2){9.0, -9.0});
    gazebo_expect(s, "cmd 0.6 -1.5"); // what the robot can
    gazebo_ops->write_velocity(robot, (pons_twist2){0.0, 0.0});
    gazebo_expect(s, "cmd 0 0");
    gazebo_ops->write_velocity(robot, (pons_twist2){0.5, 0.0});
    gazebo_expect(s, "cmd 0.5 0");
    gazebo_ops->close(robot); // and a driver that goes leaves none behind
    gazebo_expect(s, "cmd 0 0");
    gazebo_unserve(s);
}

// ---- a driver that dies -------------------------------------------------------------------------

// What the other process does: drives for ever, or until it is killed.
static _Noreturn void drive_for_ever(const char *workspace, double v)
{
    pons_autovalue world = house_world();
    gazebo_server s;
    snprintf(s.workspace, sizeof s.workspace, "%s", workspace);
    void *robot = open_free(&s, world);
    until_lacks(robot, "");
    for (;;) {
        gazebo_ops->write_velocity(robot, (pons_twist2){v, 0.5});
        nap();
    }
}

static pid_t drive_elsewhere(const gazebo_server *s, const char *v)
{
    const char *argv[] = {"drivers_tests", "drivers/test_gazebo", "--drive", s->workspace, v, NULL};
    pid_t pid;
    assert_int_equal(
        posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *const *)(uintptr_t)argv, environ),
        0);
    return pid;
}

// Nobody says zero any more but its keeper, as the process cannot.
static void test_a_robot_whose_driver_is_killed_stands(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    static const char *const fast[] = {"0.25", "0.125", "0.375"};
    for (int i = 0; i < 3; i++) { // each finds the robot as the one before has left it
        char cmd[32];
        const pid_t pid = drive_elsewhere(s, fast[i]);
        snprintf(cmd, sizeof cmd, "cmd %s 0.5", fast[i]);
        gazebo_expect(s, cmd);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        gazebo_expect(s, "cmd 0 0");
    }
    gazebo_unserve(s);
}

static void test_a_robot_whose_driver_hangs_stands_until_it_goes_on(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    const pid_t pid = drive_elsewhere(s, "0.25");
    gazebo_expect(s, "cmd 0.25 0.5");
    assert_int_equal(kill(pid, SIGSTOP), 0);
    gazebo_expect(s, "cmd 0 0");
    assert_int_equal(kill(pid, SIGCONT), 0);
    gazebo_expect(s, "cmd 0.25 0.5");
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    gazebo_expect(s, "cmd 0 0");
    gazebo_unserve(s);
}

// The keeper of a robot of this process; 0: there is none.
static pid_t keeper(void)
{
    char path[64], line[512], mine[32];
    snprintf(mine, sizeof mine, "(gazebo-keeper) S %d ", (int)getpid());
    for (int i = 0; i < WAIT_MS / 10; i++) {
        DIR *d = opendir("/proc");
        assert_non_null(d);
        for (const struct dirent *e; (e = readdir(d));) {
            snprintf(path, sizeof path, "/proc/%.20s/stat", e->d_name);
            FILE *f = *e->d_name >= '1' && *e->d_name <= '9' ? fopen(path, "re") : NULL;
            const bool read = f && fgets(line, sizeof line, f);
            if (f) {
                fclose(f);
            }
            if (read && strstr(line, mine)) {
                closedir(d);
                return (pid_t)strtol(line, NULL, 10);
            }
        }
        closedir(d);
        nap();
    }
    return 0;
}

// One that is killed is started anew, so this is for a moment only: they are killed until it is seen.
static void kill_keepers_until_lacked(void *robot)
{
    for (int i = 0; i < WAIT_MS / 10; i++) {
        char why[PONS_OUTSIDE_TEXT_MAX] = "";
        kill(keeper(), SIGKILL);
        for (int k = 0; k < 20; k++) {
            if (gazebo_ops->outside->lacks(robot, why) &&
                strstr(why, "/model/robot/cmd_vel: its keeper is not there yet")) {
                return;
            }
            poll(NULL, 0, 1);
        }
    }
    fail_msg("it drives without a keeper");
}

static void test_it_does_not_drive_without_a_keeper(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    void *robot = open_free(s, world);
    until_lacks(robot, "");
    const pid_t first = keeper();
    assert_true(first > 0);
    kill_keepers_until_lacked(robot);
    until_lacks(robot, ""); // another one
    const pid_t next = keeper();
    assert_true(next > 0 && next != first);
    gazebo_ops->close(robot);
    assert_int_equal(kill(next, 0), -1); // and it does not outlive an orderly end
    gazebo_unserve(s);
}

// One that hangs would stop nothing: it is as if it were not there, and another one takes its place.
static void test_a_keeper_that_hangs_is_none(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    void *robot = open_free(s, world);
    until_lacks(robot, "");
    const pid_t first = keeper();
    assert_true(first > 0);
    assert_int_equal(kill(first, SIGSTOP), 0);
    until_lacks(robot, "/model/robot/cmd_vel: its keeper is not there yet");
    until_lacks(robot, "");
    assert_int_equal(kill(first, 0), -1);
    gazebo_ops->close(robot);
    gazebo_unserve(s);
}

static void test_a_bumper_lets_nothing_press_on(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(world, (const char *const[]){"--free", NULL}, "");
    void *robot = open_free(s, world);
    until_lacks(robot, "");
    bool held = false;
    for (int i = 0; i < WAIT_MS / 10 && !held;
         i++) { // the robot stands at (2, 1.6), and looks along x
        gazebo_say(s, "touch 2.3 1.6");
        gazebo_ops->write_velocity(robot, (pons_twist2){0.25, 0.125 + (i % 2) * 0.25});
        nap();
        struct pollfd fd = {.fd = s->out, .events = POLLIN};
        while (!held && poll(&fd, 1, 0) > 0) {
            const ssize_t got = read(s->out, s->text, sizeof s->text - 1);
            assert_true(got > 0);
            s->text[got] = '\0';
            held = strstr(s->text, "cmd 0 0.") != NULL;
        }
    }
    s->n = 0;
    assert_true(held);
    gazebo_ops->write_velocity(robot, (pons_twist2){-0.25, 0.0}); // away from it
    gazebo_expect(s, "cmd -0.25 0");
    gazebo_ops->close(robot);
    gazebo_unserve(s);
}

static void test_an_empty_battery_does_not_drive(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    world_set(world, "battery", "idle_pct_per_s", json_real(1.0));
    gazebo_server *s =
        gazebo_serve(world, (const char *const[]){"--free", "--battery", "0.01", NULL}, "");
    void *robot = open_free(s, world);
    until_lacks(robot, "");
    pons_robot_state state = {.battery_pct = 1.0};
    for (int i = 0; i < WAIT_MS / 10 && state.battery_pct > 0.0; i++) {
        gazebo_ops->read(robot, &state);
        nap();
    }
    assert_true(state.battery_pct <= 0.0);
    for (int i = 0; i < 50; i++) {
        gazebo_ops->write_velocity(robot, (pons_twist2){0.25, i % 2 ? 0.5 : 0.25});
        nap();
    }
    struct pollfd fd = {.fd = s->out, .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 0), 0); // the peer heard no velocity but zero
    gazebo_ops->close(robot);
    gazebo_unserve(s);
}

static void test_without_a_server(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    gazebo_server *s = gazebo_serve(
        world, NULL,
        "world: attic\nclock: pons\nlimits: {step_s: 0.1, open_s: 0.3}"); // there is no such world
    pons_autovalue config = pons_object("workspace", json_string(s->workspace), NULL);
    pons_error err = PONS_ERROR_INIT;
    void *robot = NULL;
    assert_int_equal(gazebo_ops->open(world, config, &robot, &err), PONS_EENV);
    assert_non_null(strstr(err.message, "the world attic does not answer in Gazebo"));
    gazebo_unserve(s);
}

static void test_a_wrong_configuration_is_refused_where_it_is_wrong(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *where, *says;
    } bad[] = {{"clok: pons", "gazebo.yaml:2:", "clok"},
               {"clock: mine", "gazebo.yaml:2:", "clock"},
               {"topics:\n  scan: null", "gazebo.yaml:3:", "cannot do without it"},
               {"topics: {odom: 'a b'}", "gazebo.yaml:2:", ""},
               {"model: 'a/b'", "gazebo.yaml:2:", ""},
               {"lidar: {x: 5}", "gazebo.yaml:2:", ""},
               {"limits: {odom_s: 0}", "gazebo.yaml:2:", ""}};
    pons_autovalue world = house_world();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char partition[64];
        gazebo_server *s = gazebo_set_up(bad[i].text, partition);
        pons_autovalue config = pons_object("workspace", json_string(s->workspace), NULL);
        pons_error err = PONS_ERROR_INIT;
        void *robot = NULL;
        assert_int_equal(gazebo_ops->open(world, config, &robot, &err), PONS_EINVAL);
        if (!strstr(err.source, bad[i].where) || !strstr(err.message, bad[i].says)) {
            fail_msg("%s [%s]", err.message, err.source);
        }
        free(s);
    }
}

int main(void)
{
    int code = 0;
    if (!gazebo_load(&code)) {
        return code;
    }
    if (runner_words[0]) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        drive_for_ever(runner_words[1], strtod(runner_words[2], NULL));
    }
    if (!gazebo_begin()) {
        return 1;
    }
    static const struct CMUnitTest own[] = {
        cmocka_unit_test(test_what_is_missing_is_named_and_passes),
        cmocka_unit_test(test_another_type_is_told),
        cmocka_unit_test(test_a_lidar_with_rows),
        cmocka_unit_test(test_a_service_that_never_answers),
        cmocka_unit_test(test_a_server_that_dies),
        cmocka_unit_test(test_velocities_end_with_who_asks),
        cmocka_unit_test(test_a_robot_whose_driver_is_killed_stands),
        cmocka_unit_test(test_a_robot_whose_driver_hangs_stands_until_it_goes_on),
        cmocka_unit_test(test_it_does_not_drive_without_a_keeper),
        cmocka_unit_test(test_a_keeper_that_hangs_is_none),
        cmocka_unit_test(test_a_bumper_lets_nothing_press_on),
        cmocka_unit_test(test_an_empty_battery_does_not_drive),
        cmocka_unit_test(test_without_a_server),
        cmocka_unit_test(test_a_wrong_configuration_is_refused_where_it_is_wrong),
    };
    const int failed = cmocka_run_group_tests_name("gazebo alone", own, NULL, NULL);
    return failed + gazebo_end();
}
