// world.c - loads a world file: YAML, its schema, and what a schema cannot say.
//
// The checks run from the outside in, and the first fault is reported with its file:line:col: the
// text (yaml), the shape (schemas/world.json), then the sense - ids and names mean one thing each,
// places lie in the bounds and where a robot fits, references name something. Whoever gets a world
// from here may read it without ladders of checks.
#include "body/world/world_map.h"
#include "body/world/world_places.h"
#include "body/world/world_urdf.h"
#include "pons/body.h"
#include "pons/footprint.h"
#include "pons/module.h"
#include "pons/random.h"
#include "pons/schema.h"
#include "pons/yaml.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MODULE "world"

enum {
    POINTER_BYTES = 160 // of a JSON pointer into a world
};
static const char SCHEMA_FILE[] = "schemas/world.json";

typedef struct checker { // one world being checked
    const pons_yaml *yaml;
    const pons_value *world;
    double bounds[4]; // xmin, ymin, xmax, ymax
    pons_footprint footprint;
    pons_error *err;
} checker;

static void yaml_cleanup(pons_yaml **y)
{
    pons_yaml_destroy(*y);
}

static void schema_cleanup(pons_schema **s)
{
    pons_schema_destroy(*s);
}

__attribute__((format(printf, 3, 4))) static int fault(checker *c, const char *pointer,
                                                       const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char message[PONS_ERROR_MESSAGE_MAX];
    int rc = PONS_EINVAL;
    if (c->yaml) {
        rc = pons_yaml_vfault(c->yaml, pointer, MODULE, c->err, fmt, args);
    } else { // it came over the link, without a file
        vsnprintf(message, sizeof message, fmt, args);
        pons_error_set(c->err, rc, MODULE, "%s: %s", pointer, message);
    }
    va_end(args);
    return rc;
}

// A robot with a polygon has the radius of the circle that holds it too: whoever knows circles only is
// on the safe side.
static int take_robot(pons_value *world, const pons_yaml *yaml, pons_error *err)
{
    checker c = {.yaml = yaml, .world = world, .err = err};
    const pons_value *given = pons_get(world, "robot");
    const bool described = pons_get(given, "urdf") != NULL;
    if (described) {
        const int rc = pons__world_urdf(world, yaml, err);
        if (rc < 0) {
            return rc;
        }
        given = pons_get(world, "robot");
    }
    const pons_value *shape = pons_get(given, "footprint");
    pons_footprint f;
    if (!shape) {
        return pons_get(given, "radius_m")
                   ? PONS_OK
                   : fault(&c, "/robot", "the robot needs a radius_m or a footprint");
    }
    if (pons_get(given, "radius_m")) {
        return fault(&c, "/robot/radius_m", "the robot has a footprint already");
    }
    const char *bad = pons_footprint_read(shape, &f);
    if (bad) {
        return fault(&c, described ? "/robot" : "/robot/footprint", "%s", bad);
    }
    pons_value *robot = json_copy((json_t *)(uintptr_t)given);
    if (!robot || json_object_set_new(robot, "footprint", pons_footprint_value(&f)) ||
        json_object_set_new(robot, "radius_m", json_real(f.circumscribed_m)) ||
        json_object_set(world, "robot", robot)) {
        pons_value_unref(robot);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the robot's footprint");
    }
    pons_value_unref(robot);
    return PONS_OK;
}

// Boxes that people have names for are places where things are put: objects, which do not move.
static void add_surfaces(pons_value *world)
{
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    pons_value *all = json_array();
    const pons_value *objects = pons_get(world, "objects");
    json_array_extend(all, (json_t *)objects);
    const size_t before = json_array_size(all);
    for (size_t i = 0; i < json_array_size(boxes); i++) {
        const pons_value *b = json_array_get(boxes, i), *names = pons_get(b, "names");
        if (!names) {
            continue;
        }
        const bool wall = strcmp(pons_get_str(b, "kind", ""), "wall") == 0;
        json_array_append_new(
            all,
            pons_object("id", json_string(pons_get_str(b, "id", "")), "class",
                        json_string("surface"), "names", pons_value_ref(names), "position",
                        json_pack("[f,f,f]", pons_get_num(b, "x", 0.0), pons_get_num(b, "y", 0.0),
                                  pons_get_num(b, "height_m", wall ? 1.0 : 0.75)),
                        "fixed", json_true(), NULL));
    }
    if (json_array_size(all) > before) {
        json_object_set_new(world, "objects", all);
    } else {
        pons_value_unref(all);
    }
}

static int check_schema(const pons_yaml *yaml, pons_error *err)
{
    __attribute__((cleanup(schema_cleanup))) pons_schema *schema = NULL;
    const int rc = pons_schema_shipped(SCHEMA_FILE, &schema, err);
    if (rc == PONS_ENOTFOUND) { // a broken installation, not a wrong world
        if (err) {
            err->status = PONS_EENV;
        }
        return PONS_EENV;
    }
    return rc < 0 ? rc : pons_schema_check_yaml(schema, yaml, err);
}

static int check_frame(checker *c)
{
    const char *dir = pons_get_str(c->world, "dir", ".");
    if (c->bounds[0] >= c->bounds[2] || c->bounds[1] >= c->bounds[3]) {
        return fault(c, "/bounds", "bounds are xmin, ymin, xmax, ymax: %g, %g, %g, %g has no area",
                     c->bounds[0], c->bounds[1], c->bounds[2], c->bounds[3]);
    }
    const char *mjcf = pons_get_str(c->world, "mjcf", NULL);
    char path[2 * PATH_MAX];
    if (!mjcf) {
        return PONS_OK;
    }
    snprintf(path, sizeof path, "%s/%s", *mjcf == '/' ? "" : dir, mjcf);
    if (access(path, R_OK) < 0) {
        return fault(c, "/mjcf", "cannot read %s: %s", mjcf, strerror(errno));
    }
    return PONS_OK;
}

static int check_lidar(checker *c)
{
    const pons_value *l = pons_get(c->world, "lidar");
    const double low = pons_get_num(l, "angle_min", 0.0), high = pons_get_num(l, "angle_max", 0.0);
    if (high <= low || high - low > 2.0 * M_PI + 1e-6) {
        return fault(c, "/lidar/angle_max",
                     "angle_min %g to angle_max %g must span more than 0 and at most a full turn",
                     low, high);
    }
    static const char *const ranges[] = {"range_min", "range_max"};
    for (size_t i = 0; i < 2; i++) {
        if (!pons_get(l, ranges[i])) {
            return fault(c, "/lidar", "the lidar needs a %s: neither the world nor a URDF says it",
                         ranges[i]);
        }
    }
    const double near = pons_get_num(l, "range_min", 0.0), far = pons_get_num(l, "range_max", 0.0);
    if (far <= near) {
        return fault(c, "/lidar/range_max", "range_max %g must be above range_min %g", far, near);
    }
    return PONS_OK;
}

// No two members of a list have the same id.
static int check_ids(checker *c, const char *list_pointer, const pons_value *list)
{
    pons_autovalue seen = json_object();
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *id = pons_get_str(json_array_get(list, i), "id", "");
        char pointer[POINTER_BYTES];
        snprintf(pointer, sizeof pointer, "%s/%zu/id", list_pointer, i);
        if (json_object_get(seen, id)) {
            return fault(c, pointer, "the id %s is already taken", id);
        }
        if (json_object_set_new(seen, id, json_true())) {
            return pons_error_set(c->err, PONS_ENOMEM, MODULE, "cannot check ids");
        }
    }
    return PONS_OK;
}

// Areas may reach beyond the world, but one that is mistyped would keep nobody out of anything.
static int check_areas(checker *c, const char *list)
{
    const pons_value *areas = pons_get(c->world, list);
    char pointer[POINTER_BYTES];
    snprintf(pointer, sizeof pointer, "/%s", list);
    const int rc = check_ids(c, pointer, areas);
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(areas); i++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        const pons_value *area = json_array_get(areas, i);
        pons_each(corner, pons_get(area, "polygon")) {
            for (size_t k = 0; k < 2; k++) {
                low[k] = fmin(low[k], json_number_value(json_array_get(corner, k)));
                high[k] = fmax(high[k], json_number_value(json_array_get(corner, k)));
            }
        }
        if (low[0] >= c->bounds[2] || low[1] >= c->bounds[3] || high[0] <= c->bounds[0] ||
            high[1] <= c->bounds[1]) {
            snprintf(pointer, sizeof pointer, "/%s/%zu/polygon", list, i);
            return fault(c, pointer,
                         "%s lies nowhere in the world: it reaches from (%g, %g) to (%g, %g)",
                         pons_get_str(area, "id", ""), low[0], low[1], high[0], high[1]);
        }
    }
    return rc;
}

// The id of the zone before `until` that has `word` as its id or among its names; or NULL.
static const char *zone_of_word(const pons_value *zones, size_t until, const char *word)
{
    for (size_t i = 0; i < until; i++) {
        const pons_value *zone = json_array_get(zones, i);
        const char *id = pons_get_str(zone, "id", "");
        if (!strcasecmp(id, word)) {
            return id;
        }
        pons_each_member(language, words, pons_get(zone, "names")) {
            for (size_t w = 0; w < json_array_size(words); w++) {
                if (!strcasecmp(json_string_value(json_array_get(words, w)), word)) {
                    return id;
                }
            }
        }
    }
    return NULL;
}

// A person's word for a zone names one zone only, in whatever case it is written.
static int check_zone_names(checker *c, const pons_value *zones)
{
    for (size_t i = 0; i < json_array_size(zones); i++) {
        const pons_value *names = pons_get(json_array_get(zones, i), "names");
        pons_each_member(language, words, names) {
            for (size_t w = 0; w < json_array_size(words); w++) {
                const char *word = json_string_value(json_array_get(words, w));
                const char *taken = zone_of_word(zones, i, word);
                char pointer[POINTER_BYTES];
                snprintf(pointer, sizeof pointer, "/zones/%zu/names/%s/%zu", i, language, w);
                if (taken) {
                    return fault(c, pointer, "the name %s already belongs to zone %s", word, taken);
                }
            }
        }
    }
    return PONS_OK;
}

static int check_inside(checker *c, const char *pointer, double x, double y, const char *what)
{
    if (x >= c->bounds[0] && y >= c->bounds[1] && x <= c->bounds[2] && y <= c->bounds[3]) {
        return PONS_OK;
    }
    return fault(c, pointer, "%s (%g, %g) is outside the bounds %g, %g, %g, %g", what, x, y,
                 c->bounds[0], c->bounds[1], c->bounds[2], c->bounds[3]);
}

// A pose must lie within the bounds. The robot must have room there among the boxes, unless the map grows: exploring may find
// a table at a room's target, or the charger that the robot stands on, and that must not make the world invalid.
static int check_standing(checker *c, const char *pointer, const pons_value *pose, const char *what)
{
    const double x = pons_get_num(pose, "x", 0.0), y = pons_get_num(pose, "y", 0.0);
    const pons_value *boxes = pons_get(pons_get(c->world, "map"), "boxes");
    const int rc = check_inside(c, pointer, x, y, what);
    if (rc < 0 || pons_get_bool(pons_get(c->world, "map"), "grows", false)) {
        return rc;
    }
    pons_each(b, boxes) {
        const pons_box2 box = {pons_get_num(b, "x", 0.0), pons_get_num(b, "y", 0.0),
                               pons_get_num(b, "yaw", 0.0), pons_get_num(b, "sx", 0.0),
                               pons_get_num(b, "sy", 0.0)};
        const double room = pons_box2_distance(&box, x, y);
        if (c->footprint.n == 0 && room < c->footprint.circumscribed_m) {
            return fault(c, pointer, "%s (%g, %g) is %.2f m from %s, and the robot's radius is %g",
                         what, x, y, room, pons_get_str(b, "id", "a box"),
                         c->footprint.circumscribed_m);
        }
        if (c->footprint.n == 0 || room >= c->footprint.circumscribed_m) {
            continue;
        }
        // Without a heading it may stand as it likes, if only its middle has room.
        const pons_value *yaw = pons_get(pose, "yaw");
        const pons_pose2 at = {x, y, yaw ? json_number_value(yaw) : 0.0};
        if (yaw ? pons_footprint_gap(&c->footprint, at, &box) <= 0.0
                : room < c->footprint.inscribed_m) {
            return fault(c, pointer,
                         "%s (%g, %g) is %.2f m from %s, which the robot's footprint "
                         "reaches there",
                         what, x, y, room, pons_get_str(b, "id", "a box"));
        }
    }
    return PONS_OK;
}

// The robot can stand there, and is in the zone then.
static int check_in_zone(checker *c, const char *pointer, const pons_value *zone,
                         const pons_value *pose, const char *what)
{
    const double x = pons_get_num(pose, "x", 0.0), y = pons_get_num(pose, "y", 0.0);
    if (!pons_polygon_contains(pons_get(zone, "polygon"), x, y)) {
        return fault(c, pointer, "%s (%g, %g) is outside its polygon", what, x, y);
    }
    return check_standing(c, pointer, pose, what);
}

static int check_zone(checker *c, size_t index, const pons_value *zone)
{
    const char *id = pons_get_str(zone, "id", "");
    const pons_value *polygon = pons_get(zone, "polygon"), *target = pons_get(zone, "target");
    char pointer[POINTER_BYTES], what[POINTER_BYTES];
    for (size_t i = 0; i < json_array_size(polygon); i++) {
        const pons_value *point = json_array_get(polygon, i);
        snprintf(pointer, sizeof pointer, "/zones/%zu/polygon/%zu", index, i);
        snprintf(what, sizeof what, "a corner of zone %s", id);
        const int rc = check_inside(c, pointer, json_number_value(json_array_get(point, 0)),
                                    json_number_value(json_array_get(point, 1)), what);
        if (rc < 0) {
            return rc;
        }
    }
    snprintf(pointer, sizeof pointer, "/zones/%zu/target", index);
    snprintf(what, sizeof what, "the target of zone %s", id);
    int rc = check_in_zone(c, pointer, zone, target, what);
    const pons_value *approaches = pons_get(zone, "approaches");
    for (size_t i = 0; i < json_array_size(approaches) && rc >= 0; i++) {
        snprintf(pointer, sizeof pointer, "/zones/%zu/approaches/%zu", index, i);
        snprintf(what, sizeof what, "approach %zu of zone %s", i + 1, id);
        rc = check_in_zone(c, pointer, zone, json_array_get(approaches, i), what);
    }
    return rc;
}

static int check_objects(checker *c)
{
    const pons_value *objects = pons_get(c->world, "objects");
    const pons_value *boxes = pons_get(pons_get(c->world, "map"), "boxes");
    int rc = check_ids(c, "/objects", objects);
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(objects); i++) {
        const pons_value *o = json_array_get(objects, i), *at = pons_get(o, "position");
        const char *id = pons_get_str(o, "id", ""), *on = pons_get_str(o, "on", NULL);
        char pointer[POINTER_BYTES];
        snprintf(pointer, sizeof pointer, "/objects/%zu/position", i);
        rc = check_inside(c, pointer, json_number_value(json_array_get(at, 0)),
                          json_number_value(json_array_get(at, 1)), id);
        if (rc < 0 || !on) {
            continue;
        }
        bool known = false;
        for (size_t b = 0; b < json_array_size(boxes) && !known; b++) {
            known = !strcmp(pons_get_str(json_array_get(boxes, b), "id", ""), on);
        }
        snprintf(pointer, sizeof pointer, "/objects/%zu/on", i);
        if (!known) {
            rc = fault(c, pointer, "%s is on %s, but no box of the map has that id", id, on);
        }
    }
    return rc;
}

static void begin_checks(checker *c, const pons_value *world)
{
    const pons_value *robot = pons_get(world, "robot");
    c->world = world;
    for (size_t i = 0; i < 4; i++) {
        c->bounds[i] = json_number_value(json_array_get(pons_get(world, "bounds"), i));
    }
    if (!pons_get(robot, "footprint") ||
        pons_footprint_read(pons_get(robot, "footprint"), &c->footprint)) {
        c->footprint = pons_footprint_circle(pons_get_num(robot, "radius_m", 0.0));
    }
}

// Checks the zones and the charger, which a person may name while the robot runs.
static int check_places(checker *c)
{
    const pons_value *zones = pons_get(c->world, "zones"), *charger = pons_get(c->world, "charger");
    int rc = check_ids(c, "/zones", zones);
    rc = rc < 0 ? rc : check_zone_names(c, zones);
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(zones); i++) {
        rc = check_zone(c, i, json_array_get(zones, i));
    }
    return rc < 0 || !charger
               ? rc
               : check_standing(c, "/charger/pose", pons_get(charger, "pose"), "the charger");
}

static int check_sense(const pons_yaml *yaml, const pons_value *world, pons_error *err)
{
    checker c = {.yaml = yaml, .err = err};
    const pons_value *map = pons_get(pons_yaml_value(yaml), "map");
    begin_checks(&c, world);
    int rc = check_frame(&c);
    rc = rc < 0 ? rc : check_lidar(&c);
    rc = rc < 0 ? rc : check_ids(&c, "/map/boxes", pons_get(map, "boxes"));
    if (rc == PONS_OK && json_array_size(pons_get(world, "zones")) == 0 &&
        !pons_get_bool(pons_get(world, "map"), "grows", false)) {
        rc = fault(&c, "", "a world whose map does not grow needs zones");
    }
    rc = rc < 0 ? rc : check_areas(&c, "keep_out");
    rc = rc < 0 ? rc : check_areas(&c, "speed_zones");
    rc = rc < 0 ? rc : check_standing(&c, "/start", pons_get(world, "start"), "the start");
    rc = rc < 0 ? rc : check_places(&c);
    return rc < 0 ? rc : check_objects(&c);
}

static int load(const char *path, bool simulated, pons_value **ret, pons_error *err);

// The members of a world that are the robot's, whichever place it is in.
static const char *const robot_parts[] = {"robot", "lidar", "battery", "odometry", "sight"};
enum { ROBOT_PARTS = sizeof robot_parts / sizeof robot_parts[0] };

// The world that a simulated robot is really in takes the place of its file's name: its walls and what lies in it, with this
// world's robot. Which has none itself: it might lead back to this one.
static int take_simulated(pons_value *world, const pons_yaml *yaml, bool simulated, pons_error *err)
{
    const char *name = pons_get_str(world, "simulated", NULL);
    char path[2 * PATH_MAX];
    if (!name) {
        return PONS_OK;
    }
    checker c = {.yaml = yaml, .world = world, .err = err};
    if (simulated) {
        return fault(&c, "/simulated", "a world that is simulated cannot name another one");
    }
    if (!pons_get_bool(pons_get(world, "map"), "grows", false)) {
        return fault(&c, "/simulated",
                     "only a world whose map grows can be another one than is simulated");
    }
    pons_value *real = NULL;
    snprintf(path, sizeof path, "%s/%s", *name == '/' ? "" : pons_get_str(world, "dir", "."), name);
    int rc = load(path, true, &real, err);
    for (size_t i = 0; rc == PONS_OK && i < ROBOT_PARTS; i++) {
        const char *part = robot_parts[i];
        const pons_value *ours = pons_get(world, part);
        if (ours ? json_object_set(real, part, (json_t *)(uintptr_t)ours) != 0
                 : json_object_del(real, part) != 0 && pons_get(real, part)) {
            rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the world %s", name);
        }
    }
    if (rc == PONS_OK && json_object_set(world, "simulated", real)) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the world %s", name);
    }
    pons_value_unref(real);
    return rc;
}

// The absolute directory of a file: the program may change its own later.
static int dir_of(const char *path, char ret[PATH_MAX], pons_error *err)
{
    if (!realpath(path, ret)) {
        return pons_error_set(err, PONS_EIO, MODULE, "cannot resolve %s: %s", path,
                              strerror(errno));
    }
    char *slash = strrchr(ret, '/');
    slash[slash == ret ? 1 : 0] = '\0';
    return PONS_OK;
}

static int take(const char *path, const pons_yaml *yaml, bool simulated, pons_value **ret,
                pons_error *err)
{
    char dir[PATH_MAX];
    int rc = dir_of(path, dir, err);
    rc = rc < 0 ? rc : check_schema(yaml, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *world = json_copy((json_t *)pons_yaml_value(yaml)); // its members are shared
    if (!world || json_object_set_new(world, "dir", json_string(dir)) ||
        json_object_set_new(world, "path", json_string(path))) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "cannot load %s", path);
    }
    rc = rc < 0 ? rc : pons__world_map(world, yaml, err);
    rc = rc < 0 ? rc : take_robot(world, yaml, err);
    rc = rc < 0 ? rc : take_simulated(world, yaml, simulated, err);
    rc = rc < 0 ? rc : check_sense(yaml, world, err);
    if (rc < 0) {
        pons_value_unref(world);
        return rc;
    }
    add_surfaces(world);
    *ret = world;
    return PONS_OK;
}

static int load(const char *path, bool simulated, pons_value **ret, pons_error *err)
{
    __attribute__((cleanup(yaml_cleanup))) pons_yaml *yaml = NULL;
    const int rc = pons_yaml_load(path, &yaml, err);
    return rc < 0 ? rc : take(path, yaml, simulated, ret, err);
}

// A world file {of, start, robot_id}, which a fleet writes for each robot: loads the world `of`, with that world's own files.
static int load_of(const char *path, const pons_yaml *yaml, pons_value **ret, pons_error *err)
{
    const pons_value *said = pons_yaml_value(yaml), *start = pons_get(said, "start");
    const char *id = pons_get_str(said, "robot_id", NULL);
    pons_value *world = NULL;
    checker c = {.yaml = yaml, .err = err};
    const bool whole = json_is_number(pons_get(start, "x")) &&
                       json_is_number(pons_get(start, "y")) && id && json_object_size(said) == 3;
    int rc = whole ? PONS_OK : fault(&c, "", "a world with `of` has exactly start and robot_id");
    rc = rc < 0 ? rc : load(pons_get_str(said, "of", ""), false, &world, err);
    pons_autovalue robot = json_copy((json_t *)(uintptr_t)pons_get(world, "robot"));
    if (rc == PONS_OK && (!robot || json_object_set_new(robot, "id", json_string(id)) ||
                          json_object_set(world, "robot", robot) ||
                          json_object_set_new(world, "path", json_string(path)) ||
                          json_object_set(world, "start", (json_t *)(uintptr_t)start))) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the world %s", id);
    }
    if (rc == PONS_OK) {
        begin_checks(&c, world);
        rc = check_standing(&c, "/start", start, "the start");
    }
    if (rc < 0) {
        pons_value_unref(world);
        return rc;
    }
    *ret = world;
    return PONS_OK;
}

int pons_world_load(const char *path, pons_value **ret, pons_error *err)
{
    __attribute__((cleanup(yaml_cleanup))) pons_yaml *yaml = NULL;
    const int rc = pons_yaml_load(path, &yaml, err);
    if (rc < 0) {
        return rc;
    }
    return pons_get(pons_yaml_value(yaml), "of") ? load_of(path, yaml, ret, err)
                                                 : take(path, yaml, false, ret, err);
}

// Checks zones and charger with their part of the world's schema.
static int check_shape(const pons_value *places, pons_error *err)
{
    static const char *const parts[] = {"zones", "charger"};
    char path[PATH_MAX];
    pons_autovalue file = NULL;
    pons_autovalue all = json_object();
    __attribute__((cleanup(schema_cleanup))) pons_schema *schema = NULL;
    int rc = pons_share_path(SCHEMA_FILE, path, sizeof path, err);
    rc = rc < 0 ? rc : pons_value_load(path, &file, err);
    for (size_t i = 0; rc == PONS_OK && i < sizeof parts / sizeof parts[0]; i++) {
        json_object_set(all, parts[i], json_object_get(pons_get(file, "properties"), parts[i]));
    }
    pons_autovalue part = pons_object("$defs", pons_value_ref(pons_get(file, "$defs")),
                                      "properties", pons_value_ref(all), NULL);
    rc = rc < 0 ? rc : pons_schema_compile(part, &schema, err);
    return rc < 0 ? rc : pons_schema_check(schema, places, err);
}

int pons__world_with_places(const pons_value *world, const pons_value *zones,
                            const pons_value *charger, pons_value **ret, pons_error *err)
{
    checker c = {.err = err};
    const bool none = zones && json_array_size(zones) == 0; // a file leaves the key out then
    pons_autovalue with = json_copy((json_t *)(uintptr_t)world);
    pons_autovalue said = json_object();
    if (zones && !none) {
        json_object_set_new(said, "zones", pons_value_ref(zones));
    }
    if (charger) {
        json_object_set_new(said, "charger", pons_value_ref(charger));
    }
    int rc = check_shape(said, err);
    if (rc == PONS_OK && (!with || json_object_update(with, said))) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a world");
    }
    if (rc < 0) {
        return rc;
    }
    if (none) {
        json_object_del(with, "zones");
    }
    begin_checks(&c, with);
    rc = check_places(&c);
    if (rc == PONS_OK) {
        *ret = pons_value_ref(with);
    }
    return rc;
}

pons_value *pons_world_robot(const pons_value *world)
{
    static const char *const derived[] = {"urdf", "base_link", "lidar_at"};
    pons_value *all = json_object();
    pons_autovalue robot = json_copy((json_t *)(uintptr_t)pons_get(world, "robot"));
    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
        json_object_del(robot, derived[i]);
    }
    if (pons_get(robot, "footprint")) {
        json_object_del(robot, "radius_m");
    }
    json_object_set(all, "robot", robot);
    for (size_t i = 0; i < ROBOT_PARTS; i++) {
        json_t *part = (json_t *)(uintptr_t)pons_get(world, robot_parts[i]);
        if (part && !pons_get(all, robot_parts[i])) {
            json_object_set(all, robot_parts[i], part);
        }
    }
    return all;
}

int pons_world_id(const pons_value *world, char ret[PONS_WORLD_ID_MAX], pons_error *err)
{
    uint8_t hash[32];
    pons_autovalue said = json_copy((json_t *)world);
    json_object_del(said, "dir");
    json_object_del(said, "path");
    if (pons_get_bool(pons_get(said, "map"), "grows",
                      false)) { // what it has grown to is no other world
        pons_autovalue map = json_copy(json_object_get(said, "map"));
        json_object_del(map, "boxes");
        json_object_set(said, "map", map);
        json_object_del(said, "bounds");
        json_object_del(said, "simulated");
    }
    json_object_del(said, "start"); // where it began is not which world it is
    char *text = said ? json_dumps(said, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (!text) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for an id");
    }
    pons_sha256(text, strlen(text), hash);
    free(text);
    for (size_t i = 0; i < PONS_WORLD_ID_MAX / 2; i++) {
        snprintf(ret + 2 * i, 3, "%02x", hash[i]);
    }
    return PONS_OK;
}
