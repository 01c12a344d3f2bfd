// What the driver of ROS 2 robots makes of frames and of its configuration, without DDS: frames are joined
// and interpolated, what does not connect, is no number or would be a circle is named, and a configuration
// that is wrong is refused with where it is wrong. The robot itself is played in tests/ros2/.
#include "drivers/dds/config.h"
#include "drivers/ros2/tf.h"
#include "pons/clock.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t S = PONS_NS_PER_S;

static ros2_transform turned(double x, double y, double yaw)
{
    return (ros2_transform){{x, y, 0}, {0, 0, sin(0.5 * yaw), cos(0.5 * yaw)}};
}

static void add(ros2_tf *t, const char *parent, const char *child, int64_t ns, ros2_transform x,
                bool is_static)
{
    char why[200] = "";
    if (!ros2_tf_add(t, parent, child, ns, &x, is_static, why, sizeof why)) {
        fail_msg("%s", why);
    }
}

static void refuse(ros2_tf *t, const char *parent, const char *child, int64_t ns, ros2_transform x,
                   const char *expect)
{
    char why[200] = "";
    assert_false(ros2_tf_add(t, parent, child, ns, &x, false, why, sizeof why));
    assert_non_null(strstr(why, expect));
}

static void near(double a, double b)
{
    if (!(fabs(a - b) < 1e-9)) {
        fail_msg("%.12f is not %.12f", a, b);
    }
}

static void test_the_way_is_composed_and_interpolated(void **state)
{
    (void)state;
    ros2_tf *t = ros2_tf_create();
    ros2_transform r;
    int64_t newest;
    char why[200];
    add(t, "map", "odom", 2 * S, turned(1, 1, M_PI / 2), false);
    add(t, "odom", "base", 2 * S, turned(0, 0, 0), false);
    add(t, "odom", "base", 3 * S, turned(2, 0, M_PI / 2), false);
    add(t, "/base", "laser", 0, turned(0.5, 0, 0), true);
    assert_true(ros2_tf_get(t, "odom", "laser", 2 * S + S / 2, &r, NULL, why, sizeof why));
    near(r.p[0], 1 + 0.5 * cos(M_PI / 4));
    near(r.p[1], 0.5 * sin(M_PI / 4));
    near(ros2_yaw(r.q), M_PI / 4);
    // The newest of which all is known: map -> odom ends earlier.
    assert_true(ros2_tf_get(t, "map", "laser", 0, &r, &newest, why, sizeof why));
    assert_int_equal(newest, 2 * S);
    near(r.p[0], 1);
    near(r.p[1], 1.5);
    // Both ways lead to the same place.
    ros2_transform back;
    assert_true(ros2_tf_get(t, "laser", "map", 0, &back, NULL, why, sizeof why));
    near(back.p[0], -1.5);
    near(back.p[1], 1);
    // Nothing is guessed beyond the last sample, or before the first.
    assert_false(ros2_tf_get(t, "odom", "base", 4 * S, &r, NULL, why, sizeof why));
    assert_false(ros2_tf_get(t, "odom", "base", S, &r, NULL, why, sizeof why));
    ros2_tf_destroy(t);
}

static void test_late_and_repeated_samples_find_their_place(void **state)
{
    (void)state;
    ros2_tf *t = ros2_tf_create();
    ros2_transform r;
    char why[200];
    add(t, "odom", "base", 1 * S, turned(1, 0, 0), false);
    add(t, "odom", "base", 3 * S, turned(3, 0, 0), false);
    add(t, "odom", "base", 2 * S, turned(7, 0, 0), false);
    add(t, "odom", "base", 3 * S, turned(4, 0, 0), false);
    assert_true(ros2_tf_get(t, "odom", "base", 2 * S, &r, NULL, why, sizeof why));
    near(r.p[0], 7);
    assert_true(ros2_tf_get(t, "odom", "base", 0, &r, NULL, why, sizeof why));
    near(r.p[0], 4);
    for (int i = 0; i < 1000; i++) { // more than are kept
        add(t, "odom", "base", (4 + i) * S, turned(i, 0, 0), false);
    }
    assert_true(ros2_tf_get(t, "odom", "base", 1000 * S, &r, NULL, why, sizeof why));
    near(r.p[0], 996);
    ros2_tf_destroy(t);
}

static void test_what_is_wrong_is_named(void **state)
{
    (void)state;
    ros2_tf *t = ros2_tf_create();
    ros2_transform r, bad = turned(NAN, 0, 0), crooked = {.q = {0, 0, 0, 0.5}};
    char why[200];
    assert_false(ros2_tf_get(t, "map", "base", 0, &r, NULL, why, sizeof why));
    assert_non_null(strstr(why, "no frame map"));
    add(t, "map", "odom", 100 * S, turned(0, 0, 0), false);
    add(t, "base", "laser", 0, turned(0, 0, 0), true);
    assert_false(ros2_tf_get(t, "map", "laser", 0, &r, NULL, why, sizeof why));
    assert_string_equal(why, "the frames map and laser do not connect in /tf");
    refuse(t, "odom", "base", S, bad, "no number");
    refuse(t, "odom", "base", S, crooked, "no rotation");
    refuse(t, "base", "base", S, turned(0, 0, 0), "is no transform");
    refuse(t, "", "base", S, turned(0, 0, 0), "is no transform");
    add(t, "odom", "base", S, turned(0, 0, 0), false);
    refuse(t, "laser", "map", S, turned(0, 0, 0), "its own ancestor");
    refuse(t, "map", "odom", S, turned(0, 0, 0), "went back by 99 s");
    char name[32];
    bool full = false;
    for (int i = 0; i < 1000 && !full; i++) {
        const ros2_transform x = turned(0, 0, 0);
        snprintf(name, sizeof name, "f%d", i);
        full = !ros2_tf_add(t, "map", name, S, &x, true, why, sizeof why);
    }
    assert_true(full);
    assert_true(ros2_tf_get(t, "odom", "base", 0, &r, NULL, why, sizeof why));
    ros2_tf_destroy(t);
}

// ---- the configuration --------------------------------------------------------------------------

static char workspace[] = "/tmp/pons-ros2-XXXXXX";

static int load(const char *text, ros2_config *ret, pons_error *err)
{
    char path[sizeof workspace + 32];
    snprintf(path, sizeof path, "%s/config/ros2.yaml", workspace);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    *err = (pons_error)PONS_ERROR_INIT;
    return ros2_config_load(workspace, ret, err);
}

static void refused(const char *text, const char *where, const char *expect)
{
    ros2_config c;
    pons_error err;
    assert_int_equal(load(text, &c, &err), PONS_EINVAL);
    if (!strstr(err.source, where) || !strstr(err.message, expect)) {
        fail_msg("%s [%s]", err.message, err.source);
    }
}

static void test_names_and_qos(void **state)
{
    (void)state;
    ros2_config c;
    pons_error err;
    assert_int_equal(load("namespace: robot1\ntopics: {tf: tf, battery: null}\n"
                          "qos: {odom: {reliability: reliable, depth: 3}}\n",
                          &c, &err),
                     PONS_OK);
    assert_string_equal(c.t_odom.name, "/robot1/odom");
    assert_string_equal(c.t_tf.name, "/robot1/tf");
    assert_string_equal(c.t_tf_static.name, "/tf_static");
    assert_string_equal(c.t_battery.name, "");
    assert_string_equal(c.actions[ROS2_TO_POSE], "/robot1/navigate_to_pose");
    assert_string_equal(c.actions[ROS2_DOCK], "/robot1/dock_robot");
    assert_true(c.t_odom.qos.reliable);
    assert_int_equal(c.t_odom.qos.depth, 3);
    assert_false(c.t_scan.qos.reliable);
    assert_true(c.nav2 && c.place);
    assert_string_equal(c.distro, "jazzy");
}

static void test_the_environment_comes_first(void **state)
{
    (void)state;
    ros2_config c;
    pons_error err;
    setenv("ROS_DOMAIN_ID", "42", 1);
    setenv("ROS_DISTRO", "humble", 1);
    assert_int_equal(load("domain: 3\n", &c, &err), PONS_OK);
    assert_int_equal(c.domain, 42);
    assert_string_equal(c.distro, "humble");
    assert_string_equal(c.actions[ROS2_DOCK], ""); // it has none
    setenv("ROS_DOMAIN_ID", "4x", 1);
    assert_int_equal(load("domain: 3\n", &c, &err), PONS_EINVAL);
    unsetenv("ROS_DOMAIN_ID");
    static const struct {
        const char *said, *spoken;
    } distros[] = {{"foxy", "humble"},
                   {"galactic", "humble"},
                   {"iron", "jazzy"},
                   {"kilted", "kilted"},
                   {"rolling", "lyrical"}};
    unsetenv("ROS_DOMAIN_ID");
    for (size_t i = 0; i < sizeof distros / sizeof *distros; i++) {
        setenv("ROS_DISTRO", distros[i].said, 1);
        assert_int_equal(load("domain: 3\n", &c, &err), PONS_OK);
        assert_string_equal(c.distro, distros[i].spoken);
        ros2_config_fini(&c);
    }
    unsetenv("ROS_DISTRO");
}

static void test_a_wrong_configuration_is_refused_where_it_is_wrong(void **state)
{
    (void)state;
    refused("domain: 0\nframe: {}\n", "ros2.yaml:2:", "frame");
    refused("domain: 233\n", "ros2.yaml:1:", "232");
    refused("topics:\n  scan: null\n", "ros2.yaml:2:", "cannot do without it");
    refused("topics:\n  cmd_vel_in: null\n", "ros2.yaml:2:", "navigation: nav2 needs");
    refused("topics:\n  odom: odom\n  cmd_vel_in: cmd_vel\n", "ros2.yaml:3:", "past the gate");
    refused("namespace: r\ntopics: {cmd_vel_in: /r/cmd_vel}\n", "ros2.yaml:2:", "past the gate");
    refused("topics: {odom: 'a b'}\n", "ros2.yaml:1:", "");
    refused("limits: {odom_s: 0}\n", "ros2.yaml:1:", "");
}

int main(void)
{
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    char dir[sizeof workspace + 32];
    if (!mkdtemp(workspace)) {
        return 1;
    }
    snprintf(dir, sizeof dir, "%s/config", workspace);
    mkdir(dir, 0700);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_way_is_composed_and_interpolated),
        cmocka_unit_test(test_late_and_repeated_samples_find_their_place),
        cmocka_unit_test(test_what_is_wrong_is_named),
        cmocka_unit_test(test_names_and_qos),
        cmocka_unit_test(test_the_environment_comes_first),
        cmocka_unit_test(test_a_wrong_configuration_is_refused_where_it_is_wrong),
    };
    return cmocka_run_group_tests_name("drivers/ros2", tests, NULL, NULL);
}
