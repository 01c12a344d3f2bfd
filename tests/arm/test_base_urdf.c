// test_base_urdf.c - a base by its URDF: what it covers, its wheels, its lidar, in files as people have them;
// and files that are broken or mean: one line each, with its place.
#include "pons/base_urdf.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int load(const char *text, size_t n, const char *base, pons_base_urdf *ret, pons_error *err)
{
    char path[] = "/tmp/pons-urdf-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
    const int rc = pons_base_urdf_load(path, base, ret, err);
    unlink(path);
    return rc;
}

static void near(double a, double b, double eps)
{
    if (!(fabs(a - b) <= eps)) {
        fail_msg("%.6f, expected %.6f", a, b);
    }
}

#define HEAD "<?xml version=\"1.0\"?>\n<robot name=\"carrier\">\n"
#define BASE                                                                                       \
    "<link name=\"base_footprint\"/>"                                                              \
    "<joint name=\"base\" type=\"fixed\"><parent link=\"base_footprint\"/><child "                 \
    "link=\"base_link\"/>"                                                                         \
    "<origin xyz=\"0 0 0.1\"/></joint>"                                                            \
    "<link name=\"base_link\"><visual><geometry><mesh filename=\"hull.stl\"/></geometry></visual>" \
    "<collision><origin xyz=\"0.1 0 0\"/><geometry><box size=\"0.8 0.5 "                           \
    "0.2\"/></geometry></collision></link>"
#define WHEEL(side, y)                                                                             \
    "<link name=\"" side "_wheel\"><collision><origin rpy=\"1.5707963 0 0\"/><geometry>"           \
    "<cylinder radius=\"0.1\" length=\"0.04\"/></geometry></collision></link>"                     \
    "<joint name=\"" side "_wheel_joint\" type=\"continuous\"><parent link=\"base_link\"/>"        \
    "<child link=\"" side "_wheel\"/><origin xyz=\"0 " y " 0\"/><axis xyz=\"0 1 0\"/>"             \
    "<limit effort=\"5\" velocity=\"8\"/></joint>"
#define LIDAR                                                                                      \
    "<link name=\"laser_frame\"/><joint name=\"laser\" type=\"fixed\"><parent "                    \
    "link=\"base_link\"/>"                                                                         \
    "<child link=\"laser_frame\"/><origin xyz=\"0.3 0 0.2\" rpy=\"0 0 3.14159\"/></joint>"

static void a_carrier_is_read(void **state)
{
    (void)state;
    static const char text[] =
        HEAD BASE WHEEL("left", "0.28") WHEEL("right", "-0.28") LIDAR "</robot>";
    pons_base_urdf u;
    pons_error err = PONS_ERROR_INIT;
    if (load(text, sizeof text - 1, NULL, &u, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    assert_string_equal(u.name, "carrier");
    assert_string_equal(u.base, "base_footprint");
    assert_int_equal(u.wheels, 2);
    near(u.track_m, 0.56, 1e-9);
    near(u.wheel_radius_m, 0.1, 1e-9);
    near(u.wheel_max_radps, 8.0, 1e-9);
    assert_int_equal(u.meshes, 0); // of a link that has a collision shape the looks do not count
    near(pons_footprint_distance(&u.footprint, 1.0, 0.0), 0.5, 1e-6); // the box reaches 0.5 ahead
    near(pons_footprint_distance(&u.footprint, -1.0, 0.0), 0.7, 1e-6);
    near(pons_footprint_distance(&u.footprint, 0.0, 0.5), 0.2, 0.01); // the wheel 0.30 to the side
    assert_string_equal(u.lidar, "laser_frame");
    near(u.lidar_pose[0], 0.3, 1e-9);
    near(u.lidar_pose[2], 0.3, 1e-9);
    near(fabs(u.lidar_pose[3]), 3.14159, 1e-4);
    assert_int_equal(load(text, sizeof text - 1, "base_link", &u, &err), PONS_OK);
    near(u.lidar_pose[2], 0.2, 1e-9);
}

// What exporters write: an axis of a joint that has none, blank lines first, no inertial, a joint that mimics another,
// a lidar behind and one ahead.
static void forms_that_exporters_write_are_read(void **state)
{
    (void)state;
#define OWN(type, more)                                                                            \
    "<link name=\"x\"/><joint name=\"x\" type=\"" type "\"><parent link=\"base_link\"/>"           \
    "<child link=\"x\"/>" more "</joint>"
#define BEHIND(link)                                                                               \
    "<link name=\"" link "\"/><joint name=\"" link "\" type=\"fixed\"><parent "                    \
    "link=\"base_link\"/><child link=\"" link "\"/><origin xyz=\"-0.3 0 0.2\"/></joint>"
    static const char *const table[][2] = {
        {"", OWN("fixed", "<axis xyz=\"0 0 0\"/>")},
        {"", OWN("floating", "<axis xyz=\"0 0 0\"/>")},
        {"", OWN("fixed", "<axis/><mimic joint=\"laser\" multiplier=\"-1\"/>")},
        {"\n\n", "<!-- a -- b --->"},
        {"", BEHIND("laser_rear")},
        {"", "<transmission name=\"t\"><joint name=\"x\"/></transmission>"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[4096];
        pons_base_urdf u;
        pons_error err = PONS_ERROR_INIT;
        const int n = snprintf(text, sizeof text, "%s%s%s</robot>", table[i][0], HEAD BASE LIDAR,
                               table[i][1]);
        if (load(text, (size_t)n, NULL, &u, &err) < 0 || strcmp(u.lidar, "laser_frame") != 0) {
            fail_msg("%s%s: %s [%s], lidar %s", table[i][0], table[i][1], err.message, err.source,
                     u.lidar);
        }
    }
    // A file with the lidars the other way round has the same one.
    static const char text[] = HEAD BASE BEHIND("laser_rear") LIDAR "</robot>";
    pons_base_urdf u;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(load(text, sizeof text - 1, NULL, &u, &err), PONS_OK);
    assert_string_equal(u.lidar, "laser_frame");
}

// How far the lidar sees is what Gazebo is told of it.
#define SENSOR(link, type, range)                                                                  \
    "<gazebo reference=\"" link                                                                    \
    "\"><material>Gazebo/Grey</material><sensor name=\"s\" type=\"" type                           \
    "\"><ray><scan><horizontal><samples>360</samples><min_angle>0</min_angle></horizontal></scan>" \
    "<range>" range "<resolution>0.015</resolution></range></ray></sensor></gazebo>"
#define RANGE(a, b) "<min>" a "</min><max>" b "</max>"

static void the_range_is_that_of_the_sensor_at_its_link(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        double near, far;
    } table[] = {
        {"", NAN, NAN},
        {SENSOR("laser_frame", "ray", RANGE("0.12", "3.5")), 0.12, 3.5},
        {SENSOR("laser_frame", "gpu_ray", RANGE("0", " 12.0\n")), 0, 12},
        {SENSOR("laser_frame", "lidar", "<max>3<!-- m -->.5</max>"), NAN, 3.5},
        {SENSOR("${namespace}laser_frame", "gpu_lidar", RANGE("0.2", "8")), 0.2, 8},
        {SENSOR("sonar_frame", "ray", RANGE("0.02", "0.4"))
             SENSOR("laser_frame", "ray", RANGE("0.1", "10")),
         0.1, 10},
        {SENSOR("laser_frame", "sonar", RANGE("0.02", "0.4")), NAN, NAN},
        {SENSOR("sonar_frame", "ray", RANGE("0.02", "0.4")), NAN, NAN},
        {SENSOR("laser_frame", "depth", RANGE("far", "away")), NAN, NAN},
        {"<gazebo><range><min>x</min></range></gazebo>", NAN, NAN},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[4096];
        const int n = snprintf(text, sizeof text, "%s%s</robot>", HEAD BASE LIDAR, table[i].more);
        pons_base_urdf u;
        pons_error err = PONS_ERROR_INIT;
        if (load(text, (size_t)n, NULL, &u, &err) < 0) {
            fail_msg("%s: %s [%s]", table[i].more, err.message, err.source);
        }
        const double *r = u.lidar_range_m, want[2] = {table[i].near, table[i].far};
        for (int k = 0; k < 2; k++) {
            if (isnan(want[k]) ? !isnan(r[k]) : fabs(r[k] - want[k]) > 1e-9) {
                fail_msg("%s: from %g to %g", table[i].more, r[0], r[1]);
            }
        }
    }
}

// Shapes alone would be an outline that is smaller than the robot.
static void a_part_of_a_robot_is_no_footprint(void **state)
{
    (void)state;
#define ON(link, type, shape)                                                                      \
    "<link name=\"" link "\">" shape "</link><joint name=\"to_" link "\" type=\"" type             \
    "\"><parent link=\"base_link\"/><child link=\"" link "\"/><axis xyz=\"0 0 1\"/></joint>"
#define MESH(kind) "<" kind "><geometry><mesh filename=\"m.stl\"/></geometry></" kind ">"
#define BALL(kind) "<" kind "><geometry><sphere radius=\"0.1\"/></geometry></" kind ">"
    static const struct {
        const char *more, *left_out;
        int meshes, moving;
    } table[] = {
        {"", "", 0, 0},
        {ON("imu", "fixed", ""), "", 0, 0},
        {ON("scan", "fixed", MESH("visual") BALL("collision")), "", 0, 0},
        {ON("mast", "fixed", MESH("visual")), "mast", 1, 0},
        {ON("mast", "fixed", MESH("collision")), "mast", 1, 0},
        {ON("mast", "fixed", BALL("visual") MESH("collision")), "mast", 1, 0},
        {ON("mast", "fixed", BALL("collision") MESH("collision")), "mast", 1, 0},
        {ON("fork", "prismatic", BALL("collision")), "fork", 0, 1},
        {ON("fork", "prismatic", BALL("visual")), "fork", 0, 1},
        {ON("fork", "prismatic", MESH("collision")), "fork", 0, 1},
        {ON("fork", "prismatic", ""), "", 0, 0},
        {ON("caster", "continuous", BALL("collision")), "caster", 0, 1},
        {ON("arm", "revolute", BALL("collision")) ON("mast", "fixed", MESH("visual")), "arm", 1, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[4096];
        const int n =
            snprintf(text, sizeof text, "%s%s</robot>",
                     HEAD BASE WHEEL("left", "0.28") WHEEL("right", "-0.28"), table[i].more);
        pons_base_urdf u;
        pons_error err = PONS_ERROR_INIT;
        if (load(text, (size_t)n, NULL, &u, &err) < 0) {
            fail_msg("%s: %s [%s]", table[i].more, err.message, err.source);
        }
        if (u.meshes != table[i].meshes || u.moving != table[i].moving ||
            strcmp(u.left_out, table[i].left_out) != 0 || u.has_footprint == !!*u.left_out) {
            fail_msg("%s: %d meshes, %d moving, %s, %d", table[i].more, u.meshes, u.moving,
                     u.left_out, u.has_footprint);
        }
        assert_int_equal(u.wheels, 2);
    }
}

static void turtlebot_s_own_namespace_is_none(void **state)
{
    (void)state;
    static const char text[] =
        "<robot name=\"t\" xmlns:xacro=\"http://ros.org/wiki/xacro\"><xacro:arg name=\"namespace\" "
        "default=\"\"/><xacro:property name=\"namespace\" value=\"$(arg namespace)\"/>"
        "<link name=\"${namespace}base_link\"><collision><geometry><sphere radius=\"0.2\"/>"
        "</geometry></collision></link></robot>";
    pons_base_urdf u;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(load(text, sizeof text - 1, NULL, &u, &err), PONS_OK);
    assert_string_equal(u.base, "base_link");
    near(u.footprint.inscribed_m, 0.2, 1e-9); // never less than the circle
    assert_int_equal(u.wheels, 0);
}

static void what_is_wrong_is_one_line(void **state)
{
    (void)state;
#define LINK(n) "<link name=\"" n "\"/>"
#define JOIN(n, a, b)                                                                              \
    "<joint name=\"" n "\" type=\"fixed\"><parent link=\"" a "\"/><child link=\"" b "\"/></joint>"
#define SPACES "                                                                        "
#define SHAPE(s)                                                                                   \
    "<robot><link name=\"a\"><collision><geometry>" s "</geometry></collision></link></robot>"
    static const struct {
        const char *text, *why;
    } table[] = {
        {"", "no element found"},
        {"<robot>", "no element found"},
        {"<model/>", "expected <robot>, not <model>"},
        {"<robot/>", "has no links"},
        {"<robot>" LINK("a") LINK("a") "</robot>", "two links a"},
        {"<robot>" LINK("a") LINK("b") "</robot>", "carried by none: a and b"},
        {"<robot>" LINK("a") LINK("b") JOIN("j", "a", "b") JOIN("k", "b", "a") "</robot>",
         "form a circle"},
        {"<robot>" LINK("r") LINK("a") LINK("b") JOIN("j", "a", "b") JOIN("k", "b", "a") "</robot>",
         "form a circle"},
        {"<robot>" LINK("a") JOIN("j", "a", "a") "</robot>", "form a circle"},
        {"<robot>" LINK("a") LINK("b") LINK("c") JOIN("j", "a", "c") JOIN("k", "b", "c") "</robot>",
         "carried by two joints, j and k"},
        {"<robot>" LINK("a") JOIN("j", "a", "ghost") "</robot>", "not there (a, ghost)"},
        {"<robot>" LINK("a") "<joint name=\"j\" type=\"magic\"/></robot>", "magic is no type"},
        {"<robot><xacro:include filename=\"x\"/></robot>", "expand it first"},
        {"<robot><link name=\"${prefix}base\"/></robot>", "expand it first"},
        {"<robot><link name=\"$(arg prefix)base\"/></robot>", "expand it first"},
        {SHAPE("<origin xyz=\"$(optenv IMU_XYZ 0.1 0 0)\"/>"), "expand it first"},
        {"<robot>" LINK("a") LINK("b") "<joint name=\"j\" type=\"revolute\"><axis xyz=\"0 0 0\"/>"
                                       "</joint></robot>",
         "an axis of length 0"},
        {SHAPE("<box size=\"${w} 1 1\"/>"), "expand it first"},
        {"<!DOCTYPE robot [<!ENTITY a \"aaaa\">]><robot name=\"&a;\"/>", "no document type"},
        {"<!DOCTYPE robot SYSTEM \"file:///etc/passwd\"><robot/>", "no document type"},
        {SHAPE("<box size=\"1 1\"/>"), "expected 3 numbers"},
        {SHAPE("<box size=\"1 1 1 1\"/>"), "no more"},
        {SHAPE("<box size=\"1 -1 1\"/>"), "sizes above 0"},
        {SHAPE("<box/>"), "sizes above 0"},
        {SHAPE("<sphere radius=\"1e9\"/>"), "at most 20 m"},
        {SHAPE("<cylinder radius=\"nan\" length=\"1\"/>"), "expected 1 number"},
        {SHAPE("<origin xyz=\"1e308 0 0\"/><box size=\"1 1 1\"/>"), "an origin of more than"},
        {"<robot><link/></robot>", "a name of 1 to"},
        {"<robot>" LINK("a") SENSOR("a", "ray", RANGE("near", "3")) "</robot>",
         "min=\"near\": expected 1 number"},
        {"<robot>" LINK("a") SENSOR("a", "ray", RANGE("", "3")) "</robot>", "expected 1 number"},
        {"<robot>" LINK("a") SENSOR("a", "ray", RANGE("nan", "3")) "</robot>", "expected 1 number"},
        {"<robot>" LINK("a") SENSOR("a", "ray", RANGE("0", "inf")) "</robot>", "expected 1 number"},
        {"<robot>" LINK("a") SENSOR("a", "ray", RANGE("-1", "3")) "</robot>",
         "0 to 1000 m, not -1"},
        {"<robot>" LINK("a") SENSOR("a", "ray", RANGE("0", "1e9")) "</robot>", "0 to 1000 m"},
        {"<robot>" LINK("a") SENSOR("a", "ray", RANGE("3", "3")) "</robot>",
         "link a sees from 3 m to 3 m"},
        {"<robot>" LINK("a") SENSOR("a", "ray", RANGE("${near}", "3")) "</robot>",
         "expand it first"},
        {"<robot>" LINK("a") SENSOR("a", "ray", "<min>0<x/>" SPACES "</min>") "</robot>",
         "<min> is no number"},
        {"<robot>" LINK("a") "<gazebo reference=\"\"/></robot>", "a name of 1 to"},
        {SHAPE("<origin xyz=\"5 0 0\"/><box size=\"1 1 1\"/>") "x", "junk after"},
        {"<robot><link name=\"a\"><collision><origin xyz=\"5 0 0\"/><geometry><box size=\"1 1 1\"/>"
         "</geometry></collision></link></robot>",
         "must lie inside"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pons_base_urdf u = {.links = -7};
        pons_error err = PONS_ERROR_INIT;
        const int rc = load(table[i].text, strlen(table[i].text), NULL, &u, &err);
        if (rc != PONS_EINVAL || !strstr(err.message, table[i].why) || strchr(err.message, '\n') ||
            !*err.source) {
            fail_msg("%s: %d %s [%s]", table[i].text, rc, err.message, err.source);
        }
        assert_int_equal(u.links, -7); // untouched
    }
    pons_base_urdf u;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_base_urdf_load("/nowhere/r.urdf", NULL, &u, &err), PONS_ENOTFOUND);
}

static void what_is_too_much_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *head, *each, *tail, *why;
        size_t n;
    } table[] = {
        {"<robot>", "<x>", "", "in each other", 5000},
        {"<robot><link name=\"a\"><collision><geometry>", "<sphere radius=\"0.1\"/>",
         "</geometry></collision></link></robot>", "shapes", 2000},
        {"<robot>", "<!-- padding padding padding padding -->", "</robot>", "larger than", 120000},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const size_t each = strlen(table[i].each), head = strlen(table[i].head);
        const size_t n = head + each * table[i].n + strlen(table[i].tail);
        char *text = malloc(n + 1);
        assert_non_null(text);
        memcpy(text, table[i].head, head);
        for (size_t k = 0; k < table[i].n; k++) {
            memcpy(text + head + k * each, table[i].each, each);
        }
        strcpy(text + head + each * table[i].n, table[i].tail);
        pons_base_urdf u;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(load(text, n, NULL, &u, &err), PONS_EINVAL);
        if (!strstr(err.message, table[i].why)) {
            fail_msg("%s", err.message);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_carrier_is_read),
        cmocka_unit_test(forms_that_exporters_write_are_read),
        cmocka_unit_test(the_range_is_that_of_the_sensor_at_its_link),
        cmocka_unit_test(a_part_of_a_robot_is_no_footprint),
        cmocka_unit_test(turtlebot_s_own_namespace_is_none),
        cmocka_unit_test(what_is_wrong_is_one_line),
        cmocka_unit_test(what_is_too_much_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
