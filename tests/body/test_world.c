// test_world.c - world files: the ones in worlds/ load, and each mistake that a person can make in
// one is reported with its file, line and column.
//
// A small world is kept as lines of YAML. A case replaces one line (or drops it, or adds after it),
// and says where the fault must be found, by the text that the position points at, and which words
// the message must have. So the table reads as what a person would have typed.
#include "pons/body.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const good[] = {
    "name: small",
    "bounds: [0, 0, 6, 4]",
    "start: {x: 1.0, y: 1.0, yaw: 0.0}",
    "robot: {radius_m: 0.2, wheel_radius_m: 0.08, track_m: 0.3, speed_max_mps: 0.5, "
    "reverse_max_mps: 0.2, yaw_rate_max_radps: 1.5, accel_max_mps2: 1, brake_max_mps2: 2, "
    "yaw_accel_max_radps2: 4}",
    "battery: {initial_pct: 80, idle_pct_per_s: 0, motion_pct_per_m: 0.1, charge_pct_per_s: 1}",
    "lidar: {beams: 60, angle_min: -3, angle_max: 3, range_min: 0.1, range_max: 8, hz: 10, "
    "noise_m: 0}",
    "zones:",
    "  - id: west",
    "    names: {zh: [西屋], en: [west room, den]}",
    "    polygon: [[0, 0], [3, 0], [3, 4], [0, 4]]",
    "    target: {x: 1.5, y: 2.0, yaw: 0.0}",
    "  - id: east",
    "    names: {zh: [东屋], en: [east room]}",
    "    polygon: [[3, 0], [6, 0], [6, 4], [3, 4]]",
    "    target: {x: 4.5, y: 2.0, yaw: 0.0}",
    "charger: {pose: {x: 0.5, y: 3.0, yaw: 3.14}, contact_m: 0.1}",
    "map:",
    "  resolution_m: 0.05",
    "  boxes:",
    "    - {id: wall, x: 3.0, y: 0.5, sx: 0.1, sy: 1.0, kind: wall}",
    "    - {id: table, x: 5.0, y: 3.0, sx: 0.8, sy: 0.6, yaw: 0.5, kind: furniture}",
    "objects:",
    "  - {id: apple, class: apple, names: {en: [apple]}, position: [5.0, 3.0, 0.7], on: table}",
};
enum { LINES = sizeof good / sizeof good[0] };

#define BASE_KEYS                                                                                  \
    "wheel_radius_m: 0.08, track_m: 0.3, speed_max_mps: 0.5, reverse_max_mps: 0.2, "               \
    "yaw_rate_max_radps: 1.0, accel_max_mps2: 1.0, brake_max_mps2: 2.0, yaw_accel_max_radps2: 4.0"

typedef struct mistake {
    const char *line;    // begins so: which one of the good ones
    const char *instead; // what is written there; NULL: the line is left out
    const char *at;      // what the reported position points at; NULL: any position
    const char *says;    // in the message
} mistake;

#define SEEN "{id: seen, x: 1.0, y: 1.0, sx: 0.2, sy: 0.2, kind: furniture}" // where it starts

static const mistake mistakes[] = {
    // The text.
    {"bounds", "bounds: [0, 0, 6, 4", NULL, ""},
    {"name", "name: small\nname: again", NULL, "name"},
    {"name", "name: &n small", NULL, ""},
    // The shape.
    {"name", NULL, NULL, "name"},
    {"bounds", "bounds: [0, 0, 6]", "[0, 0, 6]", "bounds"},
    {"bounds", "bounds: [0, 0, 6, wide]", "wide", "bounds"},
    {"start", "start: {x: 1.0, y: 1.0}", "{x: 1.0", "yaw"},
    {"start", "begin: {x: 1.0, y: 1.0, yaw: 0.0}", NULL, ""},
    {"robot", "robot: {radius_m: 0.2}", "{radius_m", "robot"},
    {"robot", "robot: {radius_m: 0.2, footprint: [[1, 0], [0, 1], [-1, -1]], " BASE_KEYS "}", "0.2",
     "a footprint already"},
    {"robot", "robot: {" BASE_KEYS "}", "{wheel", "radius_m or a footprint"},
    {"robot", "robot: {footprint: [[1, 1], [2, 1], [2, 2]], " BASE_KEYS "}", "[[1, 1]",
     "must lie inside"},
    {"robot", "robot: {footprint: \"[[1, 0], [0, 1]\", " BASE_KEYS "}", NULL, "text is"},
    {"robot", "robot: {footprint: [[9, 2], [9, -2], [-2, -2], [-2, 2]], " BASE_KEYS "}", NULL,
     "footprint reaches"},
    {"robot", "robot: {urdf: nowhere.urdf, " BASE_KEYS "}", "nowhere.urdf", "cannot read"},
    {"battery",
     "battery: {initial_pct: 120, idle_pct_per_s: 0, motion_pct_per_m: 0, charge_pct_per_s: 1}",
     "120", "initial_pct"},
    {"lidar",
     "lidar: {beams: 400, angle_min: -3, angle_max: 3, range_min: 0.1, range_max: 8, hz: 10, "
     "noise_m: 0}",
     "400", "beams"},
    {"  - id: west", "  - id: 7", "7", "id"},
    {"  - id: west", "  - id: west room", "west room", "id"},
    {"    names: {zh: [西屋]", "    names: {}", "{}", "names"},
    {"    names: {zh: [西屋]", "    names: {fr: [ouest]}", NULL, "names"},
    {"    polygon: [[0, 0]", "    polygon: [[0, 0], [3, 0]]", "[[0, 0]", "polygon"},
    {"    - {id: wall", "    - {id: wall, x: 3.0, y: 0.5, sx: 0, sy: 1.0, kind: wall}", "0, sy",
     "sx"},
    {"    - {id: wall", "    - {id: wall, x: 3.0, y: 0.5, sx: 1, sy: 1.0, kind: hedge}", "hedge",
     "kind"},
    {"  resolution_m", "  resolution_m: 5", "5", "resolution_m"},
    {"  - {id: apple",
     "  - {id: apple, class: apple, names: {en: [apple]}, position: [5.0, 3.0], on: table}",
     "[5.0, 3.0]", "position"},
    // The sense.
    {"bounds", "bounds: [6, 0, 0, 4]", "[6, 0", "no area"},
    {"map:", "simulated: small.yaml\nmap:\n  grows: true\n  file: small.map.yaml", "small.yaml",
     "cannot name another one"},
    {"name", "name: small\nmjcf: nowhere.xml", "nowhere.xml", "nowhere.xml"},
    {"lidar",
     "lidar: {beams: 60, angle_min: 3, angle_max: -3, range_min: 0.1, range_max: 8, hz: 10, "
     "noise_m: 0}",
     "-3", "angle_m"},
    {"lidar",
     "lidar: {beams: 60, angle_min: -3, angle_max: 6, range_min: 0.1, range_max: 8, hz: 10, "
     "noise_m: 0}",
     "6,", "full turn"},
    {"lidar",
     "lidar: {beams: 60, angle_min: -3, angle_max: 3, range_min: 9, range_max: 8, hz: 10, "
     "noise_m: 0}",
     "8,", "range_max"},
    {"start", "start: {x: 7.0, y: 1.0, yaw: 0.0}", "{x: 7.0", "outside the bounds"},
    {"start", "start: {x: 2.9, y: 1.0, yaw: 0.0}", "{x: 2.9", "from wall"},
    {"  boxes:", "  boxes:\n    - " SEEN, NULL, "from seen"},
    {"  - id: east", "  - id: west", "west", "already taken"},
    {"    names: {zh: [东屋]", "    names: {en: [east room, Den]}", "Den", "belongs to zone west"},
    {"    names: {zh: [东屋]", "    names: {en: [West]}", "West]", "belongs to zone west"},
    {"    polygon: [[3, 0]", "    polygon: [[3, 0], [6, 0], [6, 5], [3, 4]]", "[6, 5]",
     "outside the bounds"},
    {"    target: {x: 4.5", "    target: {x: 1.5, y: 2.0, yaw: 0.0}", "{x: 1.5",
     "outside its polygon"},
    {"    target: {x: 4.5", "    target: {x: 4.9, y: 2.6, yaw: 0.0}", "{x: 4.9", "from table"},
    {"charger", "charger: {pose: {x: -1, y: 3.0, yaw: 3.14}, contact_m: 0.1}", "{x: -1",
     "the charger"},
    {"charger", "charger: {pose: {x: 5.0, y: 3.0, yaw: 3.14}, contact_m: 0.1}", "{x: 5.0",
     "from table"},
    {"    - {id: table", "    - {id: wall, x: 5.0, y: 3.0, sx: 0.8, sy: 0.6, kind: furniture}",
     "wall", "already taken"},
    {"  - {id: apple",
     "  - {id: apple, class: apple, names: {en: [apple]}, position: [5.0, 3.0, 0.7], on: shelf}",
     "shelf", "no box"},
    {"  - {id: apple",
     "  - {id: apple, class: apple, names: {en: [apple]}, position: [9.0, 3.0, 0.7], on: table}",
     "[9.0", "outside the bounds"},
};

static char dir[] = "/tmp/pons-world-XXXXXX";
static char path[64];

static int make_dir(void **unused)
{
    (void)unused;
    if (!mkdtemp(dir)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/small.yaml", dir);
    return 0;
}

static int remove_dir(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(dir);
}

// The good world with one line as a mistake has it (NULL: none), as a file and as text.
static void write_world(const mistake *m, char *text, size_t cap)
{
    size_t n = 0, hits = 0;
    for (size_t i = 0; i < LINES; i++) {
        const bool hit = m && !strncmp(good[i], m->line, strlen(m->line));
        const char *line = hit ? m->instead : good[i];
        hits += hit;
        if (line) {
            n += (size_t)snprintf(text + n, cap - n, "%s\n", line);
        }
        assert_true(n < cap);
    }
    assert_int_equal(hits, m ? 1 : 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

// The text from line:col on (both from 1).
static const char *text_at(const char *text, int line, int col)
{
    for (; line > 1; line--) {
        text = strchr(text, '\n');
        assert_non_null(text);
        text++;
    }
    for (; col > 1; col--) { // columns count characters
        text++;
        while (((unsigned char)*text & 0xc0) == 0x80) {
            text++;
        }
    }
    return text;
}

static void test_a_good_world_loads(void **unused)
{
    (void)unused;
    char text[4096];
    write_world(NULL, text, sizeof text);
    pons_value *world = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_world_load(path, &world, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    assert_string_equal(pons_get_str(world, "name", ""), "small");
    assert_string_equal(pons_get_str(world, "path", ""), path);
    assert_string_equal(pons_get_str(world, "dir", ""), dir);
    assert_int_equal(json_array_size(pons_get(world, "zones")), 2);
    pons_value_unref(world);
}

// Exploring may find a dock at the start, or a table at a room's target. The world's file stays valid.
static void test_what_was_explored_is_no_mistake(void **unused)
{
    (void)unused;
    static const mistake grown = {
        "  boxes:", "  grows: true\n  file: small.map.yaml\n  boxes:\n    - " SEEN, NULL, NULL};
    char text[4096];
    pons_value *world = NULL;
    pons_error err = PONS_ERROR_INIT;
    write_world(&grown, text, sizeof text);
    if (pons_world_load(path, &world, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    pons_value_unref(world);
}

static void test_each_mistake_has_its_place(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const mistake *m = &mistakes[i];
        const char *what = m->instead ? m->instead : m->line;
        char text[4096], file[256];
        write_world(m, text, sizeof text);
        pons_value *world = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_world_load(path, &world, &err);
        if (rc != PONS_EINVAL || world) {
            fail_msg("%s: %d, not refused", what, rc);
        }
        if (!strstr(err.message, m->says)) {
            fail_msg("%s: \"%s\" does not say %s", what, err.message, m->says);
        }
        int line = 0, col = 0;
        if (sscanf(err.source, "%255[^:]:%d:%d", file, &line, &col) != 3 || line < 1 || col < 1) {
            fail_msg("%s: no file:line:col in \"%s\"", what, err.source);
        }
        assert_non_null(strstr(file, "small.yaml"));
        const char *there = text_at(text, line, col);
        if (m->at && strncmp(there, m->at, strlen(m->at)) != 0) {
            fail_msg("%s: %d:%d is \"%.20s\", not %s (%s)", what, line, col, there, m->at,
                     err.message);
        }
    }
}

// A robot by its URDF: what it covers and how fast its wheels turn, unless the file leaves it open.
#define URDF_JOINT(child, type, xyz, axis)                                                         \
    "<joint name='to_" child "' type='" type "'><parent link='base_link'/><child link='" child     \
    "'/><origin xyz='" xyz "'/><axis xyz='" axis "'/><limit effort='9' velocity='%g'/></joint>"
#define URDF_SHAPE(shape) "<collision><geometry>" shape "</geometry></collision>"
#define URDF_WHEEL(side, xyz)                                                                      \
    "<link name='" side "_wheel'><collision><origin rpy='1.5708 0 0'/><geometry><cylinder "        \
    "radius='0.1' length='0.04'/></geometry></collision></link>" URDF_JOINT(                       \
        side "_wheel", "continuous", xyz, "0 1 0")
#define SLOW         "urdf: r.urdf, accel_max_mps2: 1.0, brake_max_mps2: 2.0, yaw_accel_max_radps2: 4.0"
#define ROUND_OR_NOT "what the robot covers"

static void test_a_robot_by_its_urdf(void **unused)
{
    (void)unused;
    static const char fork[] = "<link name='fork'>" URDF_SHAPE(
        "<box size='.4 .4 .1'/>") "</link>"
                                  "<joint name='lift' type='prismatic'><parent "
                                  "link='base_link'/><child link='fork'/></joint>";
    static const char mast[] = "<link name='mast'>" URDF_SHAPE(
        "<mesh filename='mast.stl'/>") "</link>"
                                       "<joint name='on' type='fixed'><parent "
                                       "link='base_link'/><child link='mast'/></joint>";
    static const struct {
        const char *more, *keys, *says; // NULL: it loads
        double turns;                   // the wheels [rad/s]; 0.1 m/s for each
        double speed;
    } table[] = {
        {"", SLOW, NULL, 5.0, 0.5},
        {"", SLOW ", speed_max_mps: 0.3", NULL, 5.0, 0.3},
        {mast, SLOW, ROUND_OR_NOT, 5.0, 0},
        {fork, SLOW, ROUND_OR_NOT, 5.0, 0},
        {mast, SLOW ", radius_m: 0.3", NULL, 5.0, 0.5},
        {fork, SLOW ", footprint: [[.3, .3], [.3, -.3], [-.3, -.3], [-.3, .3]]", NULL, 5.0, 0.5},
        // A limit that was never meant is none: the world has to say how fast it is.
        {"", SLOW, NULL, 29.0, 2.9},
        {"", SLOW, "speed_max_mps", 31.0, 0},
        {"", SLOW, "speed_max_mps", 1000.0, 0},
        {"", SLOW ", speed_max_mps: 0.4, reverse_max_mps: 0.2", "yaw_rate_max_radps", 1000.0, 0},
        {"", SLOW ", speed_max_mps: 0.4, reverse_max_mps: 0.2, yaw_rate_max_radps: 1.0", NULL,
         1000.0, 0.4},
    };
    char file[96], robot[512], text[4096];
    snprintf(file, sizeof file, "%s/r.urdf", dir);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        fprintf(f,
                "<robot name='r'><link name='base_link'>" URDF_SHAPE(
                    "<box size='.3 .3 .2'/>") "</link>" URDF_WHEEL("left", "0 .15 0")
                    URDF_WHEEL("right", "0 -.15 0") "%s</robot>",
                table[i].turns, table[i].turns, table[i].more);
        assert_int_equal(fclose(f), 0);
        snprintf(robot, sizeof robot, "robot: {%s}", table[i].keys);
        write_world(&(mistake){"robot", robot, NULL, NULL}, text, sizeof text);
        pons_value *world = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_world_load(path, &world, &err);
        if (rc != (table[i].says ? PONS_EINVAL : PONS_OK) ||
            (table[i].says && !strstr(err.message, table[i].says))) {
            fail_msg("%zu: %d %s [%s]", i, rc, err.message, err.source);
        }
        if (table[i].says) {
            int line, col;
            char where[256];
            assert_int_equal(sscanf(err.source, "%255[^:]:%d:%d", where, &line, &col), 3);
            assert_non_null(strstr(where, "small.yaml"));
            assert_memory_equal(text_at(text, line, col), "r.urdf", 6);
            assert_null(strchr(err.message, '\n'));
        } else {
            const double speed = pons_get_num(pons_get(world, "robot"), "speed_max_mps", NAN);
            assert_true(fabs(speed - table[i].speed) < 1e-9);
        }
        pons_value_unref(world);
    }
    unlink(file);
}

// How far the lidar sees: what the world says, else what Gazebo's sensor in the URDF says, else nobody.
static void test_a_lidar_s_range_by_its_urdf(void **unused)
{
    (void)unused;
    static const char both[] = "range_min: 0.1, range_max: 8, ";
#define SENSOR(range)                                                                              \
    "<gazebo reference='scan'><sensor name='s' type='ray'><ray><range>" range                      \
    "</range></ray></sensor></gazebo>"
    static const struct {
        const char *keys, *sensor, *says; // says: NULL: it loads
        double near, far;
    } table[] = {
        {"range_min: 0.1, range_max: 8, ", SENSOR("<min>0.2</min><max>3.5</max>"), NULL, 0.1, 8.0},
        {"", SENSOR("<min>0.2</min><max>3.5</max>"), NULL, 0.2, 3.5},
        {"range_max: 2, ", SENSOR("<min>0.2</min><max>3.5</max>"), NULL, 0.2, 2.0},
        {"range_min: 4, ", SENSOR("<min>0.2</min><max>3.5</max>"), "range_max 3.5 must be above", 0,
         0},
        {"range_min: 0.1, ", SENSOR("<min>0.2</min>"), "needs a range_max", 0, 0},
        {"", "", "needs a range_min", 0, 0},
    };
    char file[96], text[4096];
    snprintf(file, sizeof file, "%s/r.urdf", dir);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        fprintf(f,
                "<robot name='r'><link name='base_link'/><link name='scan'/><joint name='to_scan' "
                "type='fixed'><parent link='base_link'/><child link='scan'/></joint>%s</robot>",
                table[i].sensor);
        assert_int_equal(fclose(f), 0);
        write_world(
            &(mistake){"robot", "robot: {urdf: r.urdf, radius_m: 0.2, " BASE_KEYS "}", NULL, NULL},
            text, sizeof text);
        char *at = strstr(text, both);
        assert_non_null(at);
        f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%.*s%s%s", (int)(at - text), text, table[i].keys, at + strlen(both));
        assert_int_equal(fclose(f), 0);
        pons_value *world = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_world_load(path, &world, &err);
        if (rc != (table[i].says ? PONS_EINVAL : PONS_OK) ||
            (table[i].says &&
             (!strstr(err.message, table[i].says) || !strstr(err.source, "small.yaml:")))) {
            fail_msg("%zu: %d %s [%s]", i, rc, err.message, err.source);
        }
        if (!table[i].says) {
            const pons_value *lidar = pons_get(world, "lidar");
            assert_true(fabs(pons_get_num(lidar, "range_min", NAN) - table[i].near) < 1e-9);
            assert_true(fabs(pons_get_num(lidar, "range_max", NAN) - table[i].far) < 1e-9);
        }
        pons_value_unref(world);
    }
    unlink(file);
}

static void test_a_missing_file(void **unused)
{
    (void)unused;
    pons_value *world = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_world_load("/nowhere/at/all.yaml", &world, &err), PONS_ENOTFOUND);
    assert_null(world);
    assert_non_null(strstr(err.source, "/nowhere/at/all.yaml"));
}

// The worlds that come with pons, and what others may rely on in them.
static void test_shipped_worlds(void **unused)
{
    (void)unused;
    static const char *const files[] = {"house", "empty"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char file[512];
        snprintf(file, sizeof file, PONS_SOURCE_DIR "/worlds/%s.yaml", files[i]);
        pons_value *world = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (pons_world_load(file, &world, &err) < 0) {
            fail_msg("%s [%s]", err.message, err.source);
        }
        assert_string_equal(pons_get_str(world, "name", ""), files[i]);
        const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
        const pons_value *zones = pons_get(world, "zones");
        for (size_t z = 0; z < json_array_size(zones); z++) {
            const pons_value *target = pons_get(json_array_get(zones, z), "target");
            for (size_t b = 0; b < json_array_size(boxes); b++) {
                const pons_value *v = json_array_get(boxes, b);
                const pons_box2 box = {pons_get_num(v, "x", 0), pons_get_num(v, "y", 0),
                                       pons_get_num(v, "yaw", 0), pons_get_num(v, "sx", 0),
                                       pons_get_num(v, "sy", 0)};
                assert_true(pons_box2_distance(&box, pons_get_num(target, "x", 0),
                                               pons_get_num(target, "y", 0)) >= 0.45);
            }
        }
        pons_value_unref(world);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_world_loads),
        cmocka_unit_test(test_what_was_explored_is_no_mistake),
        cmocka_unit_test(test_each_mistake_has_its_place),
        cmocka_unit_test(test_a_robot_by_its_urdf),
        cmocka_unit_test(test_a_lidar_s_range_by_its_urdf),
        cmocka_unit_test(test_a_missing_file),
        cmocka_unit_test(test_shipped_worlds),
    };
    return cmocka_run_group_tests_name("world", tests, make_dir, remove_dir);
}
