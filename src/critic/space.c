// space.c - the rules that measure: where an action goes, what it lifts, how fast it moves.
//
// Arguments say where by convention (docs/plans.md, "What the critic reads"):
//
//     zone                                      a zone of the world; the robot goes to its target
//     pose {x, y, z?}                           in map, for the base where there is no z
//     target_pose target_position position      [x, y, z, …] or {x, y, z?}, in map
//     place_position target
//     object object_id target_object            an object of the world, by id, class or name
//     target_label
//     place target (a text)                     a zone or an object
//
// An action that does not drive must reach its target from where the robot stands; one that drives
// brings the robot there, so only the map, the keep-out areas and the workspace bound it.
#include "critic/judgement.h"
#include "pons/geometry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct target {
    char what[CRITIC_WHAT_MAX]; // "target", "zone kitchen", "object apple_01"
    double at[3];               // in map
    bool has_z;
    const pons_value *object; // of the world, or NULL
} target;

typedef struct targets {
    size_t n;
    target all[CRITIC_TARGETS_MAX];
} targets;

static const char *const object_keys[] = {"object", "object_id", "target_object", "target_label"};
static const char *const position_keys[] = {"target_pose", "target_position", "position",
                                            "place_position", "target"};

static void find_targets(judgement *j, targets *ret);
static void check_map(judgement *j, const target *t);
static void check_keep_out(judgement *j, const target *t);
static void check_workspace(judgement *j, const target *t);
static void check_reach(judgement *j, const target *t);
static const char *shown(const target *t, char buf[CRITIC_WHAT_MAX]);
static bool read_point(const pons_value *v, double ret[3], bool *ret_has_z);

// Whether the robot itself goes: without a registry, an action that is given a place for the base.
static bool drives(const judgement *j)
{
    return j->skill ? j->skill->drives
                    : !j->critic->skills_value &&
                          (pons_get(j->args, "zone") || pons_get(j->args, "pose"));
}

void pons__critic_space(judgement *j)
{
    targets found = {0};
    find_targets(j, &found);
    for (size_t i = 0; i < found.n; i++) {
        check_map(j, &found.all[i]);
        check_keep_out(j, &found.all[i]);
        check_workspace(j, &found.all[i]);
        check_reach(j, &found.all[i]);
    }
}

// ---- what the arguments name --------------------------------------------------------------------

static bool named(const pons_value *names, const char *name)
{
    const char *language;
    json_t *list, *word;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)names, language, list)
    {
        json_array_foreach(list, i, word)
        {
            if (json_is_string(word) && strcasecmp(json_string_value(word), name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static const pons_value *find_named(const pons_value *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (strcasecmp(pons_get_str(item, "id", ""), name) == 0 ||
            named(pons_get(item, "names"), name)) {
            return item;
        }
    }
    return NULL;
}

const pons_value *pons__critic_zone(const pons_critic *c, const char *name)
{
    return find_named(pons_get(c->world, "zones"), name);
}

const pons_value *pons__critic_object(const pons_critic *c, const char *name)
{
    const pons_value *objects = pons_get(c->world, "objects");
    const pons_value *object = find_named(objects, name);
    for (size_t i = 0; !object && i < json_array_size(objects); i++) {
        if (strcasecmp(pons_get_str(json_array_get(objects, i), "class", ""), name) == 0) {
            object = json_array_get(objects, i);
        }
    }
    return object;
}

static target *add(targets *t, const char *kind, const char *name)
{
    if (t->n == CRITIC_TARGETS_MAX) {
        return NULL;
    }
    target *fresh = &t->all[t->n++];
    *fresh = (target){.has_z = false};
    snprintf(fresh->what, sizeof fresh->what, "%s%s%.64s", kind, *name ? " " : "", name);
    return fresh;
}

static void add_zone(judgement *j, targets *t, const pons_value *zone)
{
    const pons_value *at = pons_get(zone, "target");
    target *fresh = add(t, "zone", pons_get_str(zone, "id", ""));
    if (fresh && !read_point(at, fresh->at, &fresh->has_z)) {
        t->n--; // a zone without a target: nothing to measure
        pons__unjudged(j, "keep_out");
    }
}

static void add_object(judgement *j, targets *t, const pons_value *object)
{
    target *fresh = add(t, "object", pons_get_str(object, "id", ""));
    if (!fresh) {
        return;
    }
    fresh->object = object;
    if (!read_point(pons_get(object, "position"), fresh->at, &fresh->has_z)) {
        t->n--;
        pons__unjudged(j, "reach");
    }
}

// A name that may be of a zone or of an object. Where nothing moves it may be of anything.
static void add_name(judgement *j, targets *t, const char *key, const char *name)
{
    const pons_value *zone = pons__critic_zone(j->critic, name);
    const pons_value *object = zone ? NULL : pons__critic_object(j->critic, name);
    if (zone) {
        add_zone(j, t, zone);
    } else if (object) {
        add_object(j, t, object);
    } else if (!pons_get(j->critic->world, "zones")) {
        pons__unjudged(j, "zone");
    } else if (j->skill && j->skill->moves) {
        pons__violated(j, "zone", NAN, NAN, NULL, "%s %s is neither a zone nor an object", key,
                       name);
    }
}

static void find_targets(judgement *j, targets *ret)
{
    const pons_value *world = j->critic->world;
    const char *zone = pons_get_str(j->args, "zone", NULL);
    if (zone && !pons_get(world, "zones")) {
        pons__unjudged(j, "zone");
    } else if (zone && !pons__critic_zone(j->critic, zone)) {
        pons__violated(j, "zone", NAN, NAN, NULL, "unknown zone %s", zone);
    } else if (zone) {
        add_zone(j, ret, pons__critic_zone(j->critic, zone));
    }
    const pons_value *pose = pons_get(j->args, "pose");
    target *fresh = json_is_object(pose) || json_is_array(pose) ? add(ret, "target", "") : NULL;
    if (fresh && !read_point(pose, fresh->at, &fresh->has_z)) {
        ret->n--; // its schema says what is wrong with it
    }
    if (fresh && json_is_array(pose)) {
        fresh->has_z = false; // [x, y, yaw]
    }
    for (size_t i = 0; i < sizeof position_keys / sizeof *position_keys; i++) {
        const pons_value *v = pons_get(j->args, position_keys[i]);
        if (json_is_string(v)) {
            add_name(j, ret, position_keys[i], json_string_value(v));
        } else if (v) {
            fresh = add(ret, "target", "");
            if (fresh && !read_point(v, fresh->at, &fresh->has_z)) {
                ret->n--;
            }
        }
    }
    for (size_t i = 0; i < sizeof object_keys / sizeof *object_keys; i++) {
        const char *name = pons_get_str(j->args, object_keys[i], NULL);
        const pons_value *object = name ? pons__critic_object(j->critic, name) : NULL;
        if (name && !pons_get(world, "objects")) {
            pons__unjudged(j, "object");
        } else if (name && !object) {
            pons__violated(j, "object", NAN, NAN, NULL, "unknown object %s", name);
        } else if (name) {
            add_object(j, ret, object);
        }
    }
    const char *place = pons_get_str(j->args, "place", NULL);
    if (place) {
        add_name(j, ret, "place", place);
    }
}

// ---- the rules of space -------------------------------------------------------------------------

static void check_map(judgement *j, const target *t)
{
    const pons_value *bounds = pons_get(j->critic->world, "bounds");
    double limit[4];
    if (json_array_size(bounds) != 4) {
        pons__unjudged(j, "map_bounds");
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        limit[i] = json_number_value(json_array_get(bounds, i));
    }
    const double x = t->at[0], y = t->at[1];
    const double out = fmax(fmax(limit[0] - x, x - limit[2]), fmax(limit[1] - y, y - limit[3]));
    if (out > 0) {
        pons__violated(j, "map_bounds", out, 0, "m",
                       "%s [%.2f, %.2f] is outside the map [%.2f, %.2f] to [%.2f, %.2f]", t->what,
                       x, y, limit[0], limit[1], limit[2], limit[3]);
    }
}

// From a point to the edge of a polygon [m]; 0 inside.
static double polygon_distance(const pons_value *polygon, double x, double y)
{
    const size_t n = json_array_size(polygon);
    double best = INFINITY;
    if (pons_polygon_contains(polygon, x, y)) {
        return 0;
    }
    for (size_t i = 0, k = n - 1; i < n; k = i++) {
        const json_t *a = json_array_get(polygon, k), *b = json_array_get(polygon, i);
        const double ax = json_number_value(json_array_get(a, 0)),
                     ay = json_number_value(json_array_get(a, 1));
        const double dx = json_number_value(json_array_get(b, 0)) - ax,
                     dy = json_number_value(json_array_get(b, 1)) - ay;
        const double length2 = dx * dx + dy * dy;
        const double along = length2 > 0 ? ((x - ax) * dx + (y - ay) * dy) / length2 : 0;
        const double s = fmin(fmax(along, 0), 1);
        best = fmin(best, hypot(x - ax - s * dx, y - ay - s * dy));
    }
    return best;
}

static void check_area(judgement *j, const target *t, const pons_value *area)
{
    const char *id = pons_get_str(area, "id", "area"), *why = pons_get_str(area, "reason", "");
    const double distance = polygon_distance(pons_get(area, "polygon"), t->at[0], t->at[1]);
    const double radius = isnan(j->critic->limits.radius_m) ? 0 : j->critic->limits.radius_m;
    char at[CRITIC_WHAT_MAX];
    if (distance == 0) {
        pons__violated(j, "keep_out", 0, radius, "m", "%s %s lies in the keep-out area %s%s%s",
                       t->what, shown(t, at), id, *why ? ": " : "", why);
    } else if (distance < radius && !t->has_z) {
        pons__violated(j, "keep_out", distance, radius, "m",
                       "%s %s is %.2f m from the keep-out area %s; the robot needs %.2f m%s%s",
                       t->what, shown(t, at), distance, id, radius, *why ? ": " : "", why);
    }
}

// Areas of the world, zones that are marked, and what the policy adds: an area, or a zone's name.
static void check_keep_out(judgement *j, const target *t)
{
    const pons_critic *c = j->critic;
    const pons_value *more = pons_get(c->policy, "keep_out");
    size_t i;
    json_t *area;
    if (!c->world && !more) {
        pons__unjudged(j, "keep_out");
    }
    json_array_foreach(pons_get(c->world, "keep_out"), i, area) check_area(j, t, area);
    json_array_foreach(pons_get(c->world, "zones"), i, area)
    {
        if (pons_get_bool(area, "keep_out", false)) {
            check_area(j, t, area);
        }
    }
    json_array_foreach(more, i, area)
    {
        const pons_value *zone =
            json_is_string(area) ? pons__critic_zone(c, json_string_value(area)) : area;
        if (zone) {
            check_area(j, t, zone);
        } else {
            pons__unjudged(j, "keep_out"); // a zone that this world does not have
        }
    }
}

static void to_base(const judgement *j, const double in_map[3], double ret[3])
{
    const double *p = j->state->pose;
    const double c = cos(p[3]), s = sin(p[3]), dx = in_map[0] - p[0], dy = in_map[1] - p[1];
    ret[0] = c * dx + s * dy;
    ret[1] = c * dy - s * dx;
    ret[2] = in_map[2] - p[2];
}

static void check_workspace(judgement *j, const target *t)
{
    const critic_limits *l = &j->critic->limits;
    static const char axes[] = "xyz";
    double at[3] = {t->at[0], t->at[1], t->at[2]};
    if (!l->has_workspace || (l->workspace_in_base && drives(j))) {
        return;
    }
    if (l->workspace_in_base && !j->state->pose_known) {
        pons__unjudged(j, "workspace");
        return;
    }
    if (l->workspace_in_base) {
        to_base(j, t->at, at);
    }
    for (int i = 0; i < (t->has_z ? 3 : 2); i++) {
        const bool below = at[i] < l->low[i];
        const double limit = below ? l->low[i] : l->high[i];
        if (below || at[i] > l->high[i]) {
            pons__violated(j, "workspace", at[i], limit, "m",
                           "%s has %c = %.4g m; the workspace goes %s %.4g m", t->what, axes[i],
                           at[i], below ? "down to" : "up to", limit);
        }
    }
}

static void check_reach(judgement *j, const target *t)
{
    const critic_limits *l = &j->critic->limits;
    if (!t->has_z || drives(j)) {
        return;
    }
    if (isnan(l->reach_m) || !j->state->pose_known) {
        pons__unjudged(j, "reach");
        return;
    }
    double at[3];
    to_base(j, t->at, at);
    const double dx = at[0] - l->reach_from[0], dy = at[1] - l->reach_from[1],
                 dz = at[2] - l->reach_from[2];
    const double distance = sqrt(dx * dx + dy * dy + dz * dz);
    char where[CRITIC_WHAT_MAX];
    if (distance > l->reach_m) {
        pons__violated(j, "reach", distance, l->reach_m, "m",
                       "%s %s is %.2f m away; max reach %.4g m", t->what, shown(t, where), distance,
                       l->reach_m);
    }
}

static const char *shown(const target *t, char buf[CRITIC_WHAT_MAX])
{
    if (t->has_z) {
        snprintf(buf, CRITIC_WHAT_MAX, "[%.4g, %.4g, %.4g]", t->at[0], t->at[1], t->at[2]);
    } else {
        snprintf(buf, CRITIC_WHAT_MAX, "[%.2f, %.2f]", t->at[0], t->at[1]);
    }
    return buf;
}

// ---- what is lifted -----------------------------------------------------------------------------

// The object that a skill takes: what its `holds` names, else any argument that is an object's.
static const char *taken(const judgement *j)
{
    const critic_skill *k = j->skill;
    if (!k || !k->holds_arg) {
        return NULL;
    }
    const char *name = *k->holds_arg ? pons_get_str(j->args, k->holds_arg, NULL) : NULL;
    for (size_t i = 0; !name && i < sizeof object_keys / sizeof *object_keys; i++) {
        name = pons_get_str(j->args, object_keys[i], NULL);
    }
    return name ? name : "something";
}

static const char *id_of(const judgement *j, const char *name)
{
    const pons_value *object = pons__critic_object(j->critic, name);
    return object ? pons_get_str(object, "id", name) : name;
}

void pons__critic_load(judgement *j)
{
    const critic_state *s = j->state;
    const char *name = taken(j), *held = s->held ? s->held : "something";
    char since[48] = "";
    if (s->held_since >= 0) {
        snprintf(since, sizeof since, " since step %lld", (long long)s->held_since);
    }
    if (name && s->grip == GRIP_FULL) {
        pons__violated(j, "holding", NAN, NAN, NULL, "it holds %s%s: it can't take %s too", held,
                       since, name);
    }
    if (j->skill && j->skill->releases && s->grip == GRIP_EMPTY) {
        pons__violated(j, "holding", NAN, NAN, NULL, "it holds nothing that it could let go of");
    }
    if ((name || (j->skill && j->skill->releases)) && s->grip == GRIP_UNKNOWN) {
        pons__unjudged(j, "holding");
    }
    for (size_t i = 0; j->skill && j->skill->releases && i < 2; i++) {
        const char *wanted = pons_get_str(j->args, object_keys[i], NULL);
        if (wanted && s->grip == GRIP_FULL && s->held && strcmp(id_of(j, wanted), s->held) != 0) {
            pons__violated(j, "holding", NAN, NAN, NULL, "it holds %s%s, not %s", held, since,
                           wanted);
        }
    }
    const double limit = j->critic->limits.payload_kg;
    const pons_value *object = name ? pons__critic_object(j->critic, name) : NULL;
    const double mass = pons_get_num(j->args, "mass_kg", pons_get_num(object, "mass_kg", NAN));
    if (isnan(mass) || isnan(limit)) {
        if (name) {
            pons__unjudged(j, "payload");
        }
    } else if (mass > limit) {
        pons__violated(j, "payload", mass, limit, "kg", "%s weighs %.4g kg; max payload %.4g kg",
                       name ? name : "the load", mass, limit);
    }
}

// ---- joints and speeds --------------------------------------------------------------------------

static void check_range(judgement *j, const char *joint, const char *what, double value, double low,
                        double high)
{
    if (value < low || value > high) {
        pons__violated(j, "joint_limit", value, value < low ? low : high, "rad",
                       "%s of %s is %.4g; it goes from %.4g to %.4g", what, joint, value, low,
                       high);
    }
}

// {name: value} or [value…] in the order of the profile.
static void check_joints(judgement *j, const pons_value *asked, bool speeds)
{
    const pons_value *joints = pons_get(j->critic->embodiment, "joints");
    const char *what = speeds ? "the speed" : "the position";
    size_t i;
    json_t *value;
    const char *name;
    if (!asked) {
        return;
    }
    if (!joints) {
        pons__unjudged(j, "joint_limit");
        return;
    }
    json_array_foreach(asked, i, value)
    {
        const pons_value *joint = json_array_get(joints, i);
        const double high = pons_get_num(joint, speeds ? "speed_max" : "max", INFINITY);
        if (joint && json_is_number(value)) {
            check_range(j, pons_get_str(joint, "name", "?"), what, json_number_value(value),
                        speeds ? -high : pons_get_num(joint, "min", -INFINITY), high);
        }
    }
    if (json_array_size(asked) > json_array_size(joints)) {
        pons__violated(j, "joint_limit", (double)json_array_size(asked),
                       (double)json_array_size(joints), "joints", "%zu joints; the robot has %zu",
                       json_array_size(asked), json_array_size(joints));
    }
    json_object_foreach((json_t *)(uintptr_t)asked, name, value)
    {
        const pons_value *joint = NULL;
        for (i = 0; !joint && i < json_array_size(joints); i++) {
            if (strcmp(pons_get_str(json_array_get(joints, i), "name", ""), name) == 0) {
                joint = json_array_get(joints, i);
            }
        }
        if (!joint) {
            pons__violated(j, "joint_limit", NAN, NAN, NULL, "no joint %s on this robot", name);
            continue;
        }
        const double high = pons_get_num(joint, speeds ? "speed_max" : "max", INFINITY);
        if (json_is_number(value)) {
            check_range(j, name, what, json_number_value(value),
                        speeds ? -high : pons_get_num(joint, "min", -INFINITY), high);
        }
    }
}

// Arguments that ask for a speed or a force, and the limit that each has.
static const struct quantity {
    const char *key, *says, *unit;
    enum { SPEED, YAW_RATE, ACCEL, FORCE } of;
} quantities[] = {
    {"speed", "speed", "m/s", SPEED},
    {"speed_mps", "speed", "m/s", SPEED},
    {"max_speed", "speed", "m/s", SPEED},
    {"speed_max_mps", "speed", "m/s", SPEED},
    {"velocity", "speed", "m/s", SPEED},
    {"yaw_rate", "yaw rate", "rad/s", YAW_RATE},
    {"yaw_rate_radps", "yaw rate", "rad/s", YAW_RATE},
    {"angular_speed", "yaw rate", "rad/s", YAW_RATE},
    {"accel_mps2", "acceleration", "m/s²", ACCEL},
    {"acceleration", "acceleration", "m/s²", ACCEL},
    {"force", "force", "N", FORCE},
    {"force_n", "force", "N", FORCE},
    {"grip_force_n", "grip force", "N", FORCE},
};

static void check_quantity(judgement *j, const struct quantity *q)
{
    const critic_limits *l = &j->critic->limits;
    const double asked = pons_get_num(j->args, q->key, NAN);
    const double limits[] = {[SPEED] = asked < 0 && !isnan(l->reverse_mps) ? l->reverse_mps
                                                                           : l->speed_mps,
                             [YAW_RATE] = l->yaw_rate_radps,
                             [ACCEL] = l->accel_mps2,
                             [FORCE] = l->force_n};
    const double limit = limits[q->of];
    if (isnan(asked)) {
        return;
    }
    if (isnan(limit)) {
        pons__unjudged(j, "speed_limit");
    } else if (fabs(asked) > limit) {
        pons__violated(j, "speed_limit", fabs(asked), limit, q->unit, "%s %.4g %s; max %s%.4g %s",
                       q->says, fabs(asked), q->unit, asked < 0 ? "backwards " : "", limit,
                       q->unit);
    }
}

void pons__critic_motion(judgement *j)
{
    check_joints(j, pons_get(j->args, "joints"), false);
    check_joints(j, pons_get(j->args, "joint_positions"), false);
    check_joints(j, pons_get(j->args, "joint_velocities"), true);
    if (j->critic->skills_value && !(j->skill && j->skill->moves)) {
        return; // a fan's speed is no robot's
    }
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        check_quantity(j, &quantities[i]);
    }
}

// ---- what will be true --------------------------------------------------------------------------

void pons__critic_foresee(judgement *j)
{
    critic_state *s = j->state;
    s->foreseen = true;
    if (drives(j)) {
        const pons_value *zone = pons__critic_zone(j->critic, pons_get_str(j->args, "zone", ""));
        const pons_value *to = zone ? pons_get(zone, "target") : pons_get(j->args, "pose");
        bool has_z = false;
        s->pose_known = read_point(to, s->pose, &has_z);
        s->pose[2] = 0;
        s->pose[3] = pons_get_num(to, "yaw", 0);
        s->zone = zone ? pons_get_str(zone, "id", NULL) : NULL;
        size_t i;
        json_t *other;
        json_array_foreach(pons_get(j->critic->world, "zones"), i, other)
        {
            if (!s->zone && s->pose_known &&
                pons_polygon_contains(pons_get(other, "polygon"), s->pose[0], s->pose[1])) {
                s->zone = pons_get_str(other, "id", NULL);
            }
        }
    }
    const char *name = taken(j);
    if (name) {
        s->grip = GRIP_FULL;
        s->held = id_of(j, name);
        s->held_since = j->step_id;
    } else if (j->skill && j->skill->releases) {
        s->grip = GRIP_EMPTY;
        s->held = NULL;
        s->held_since = -1;
    }
}

void pons__critic_state_read(const pons_critic *c, const pons_value *robot, critic_state *ret)
{
    const pons_value *pose = pons_get(robot, "pose"), *held = pons_get(robot, "holding");
    bool has_z = false;
    *ret = (critic_state){.held_since = -1, .zone = pons_get_str(robot, "zone", NULL)};
    ret->pose_known = read_point(pose, ret->pose, &has_z);
    ret->pose[2] = has_z ? ret->pose[2] : 0;
    ret->pose[3] = pons_get_num(pose, "yaw", 0);
    if (!ret->pose_known && !c->limits.drives) { // it is bolted down
        memcpy(ret->pose, c->limits.base, sizeof c->limits.base);
        ret->pose[3] = 0;
        ret->pose_known = true;
    }
    if (json_is_string(held)) {
        ret->grip = GRIP_FULL;
        ret->held = json_string_value(held);
    } else if (json_is_null(held)) {
        ret->grip = GRIP_EMPTY;
    }
}

// ---- reading ------------------------------------------------------------------------------------

// [x, y, z?, …] or {x, y, z?}; false when it is neither.
static bool read_point(const pons_value *v, double ret[3], bool *ret_has_z)
{
    static const char *const axes[] = {"x", "y", "z"};
    double p[3] = {0};
    bool has[3] = {false};
    for (size_t i = 0; i < 3; i++) {
        const pons_value *n = json_is_array(v) ? json_array_get(v, i) : pons_get(v, axes[i]);
        has[i] = json_is_number(n) && isfinite(json_number_value(n));
        p[i] = has[i] ? json_number_value(n) : 0;
    }
    if (!has[0] || !has[1]) {
        return false;
    }
    memcpy(ret, p, sizeof p);
    *ret_has_z = has[2];
    return true;
}

static int read_number(const pons_value *from, const char *prefix, const char *key, double *ret,
                       pons_error *err)
{
    const pons_value *v = pons_get(from, key);
    *ret = json_is_number(v) ? json_number_value(v) : NAN;
    if (v && !json_is_null(v) && !(json_is_number(v) && *ret >= 0)) {
        return pons_error_set(err, PONS_EINVAL, "critic",
                              "embodiment: %s/%s: expected a number of at least 0", prefix, key);
    }
    return PONS_OK;
}

static int read_corner(const pons_value *box, const char *key, double ret[3], pons_error *err)
{
    bool has_z = false;
    if (!read_point(pons_get(box, key), ret, &has_z) || !has_z) {
        return pons_error_set(err, PONS_EINVAL, "critic",
                              "embodiment: /workspace/%s: expected [x, y, z]", key);
    }
    return PONS_OK;
}

int pons__critic_limits_read(const pons_value *e, critic_limits *ret, pons_error *err)
{
    const pons_value *box = pons_get(e, "workspace"), *limits = pons_get(e, "limits");
    critic_limits l = {0};
    const struct {
        const pons_value *from;
        const char *prefix, *key;
        double *to;
    } numbers[] = {{e, "", "max_reach_m", &l.reach_m},
                   {e, "", "payload_kg", &l.payload_kg},
                   {e, "", "radius_m", &l.radius_m},
                   {limits, "/limits", "speed_max_mps", &l.speed_mps},
                   {limits, "/limits", "reverse_max_mps", &l.reverse_mps},
                   {limits, "/limits", "yaw_rate_max_radps", &l.yaw_rate_radps},
                   {limits, "/limits", "accel_max_mps2", &l.accel_mps2},
                   {limits, "/limits", "force_max_n", &l.force_n}};
    if (e && !json_is_object(e)) {
        return pons_error_set(err, PONS_EINVAL, "critic", "embodiment: expected an object");
    }
    int rc = PONS_OK;
    for (size_t i = 0; rc >= 0 && i < sizeof numbers / sizeof *numbers; i++) {
        rc = read_number(numbers[i].from, numbers[i].prefix, numbers[i].key, numbers[i].to, err);
    }
    bool has_z = false;
    if (rc >= 0 && pons_get(e, "reach_from") &&
        !read_point(pons_get(e, "reach_from"), l.reach_from, &has_z)) {
        rc = pons_error_set(err, PONS_EINVAL, "critic",
                            "embodiment: /reach_from: expected [x, y, z]");
    }
    if (rc >= 0 && pons_get(e, "base") && !read_point(pons_get(e, "base"), l.base, &has_z)) {
        rc = pons_error_set(err, PONS_EINVAL, "critic", "embodiment: /base: expected [x, y, z]");
    }
    l.has_workspace = json_is_object(box);
    l.workspace_in_base = strcmp(pons_get_str(box, "frame", "map"), "base") == 0;
    if (rc >= 0 && l.has_workspace) {
        rc = read_corner(box, "min", l.low, err);
    }
    if (rc >= 0 && l.has_workspace) {
        rc = read_corner(box, "max", l.high, err);
    }
    l.drives = !e || (!isnan(l.speed_mps) && l.speed_mps > 0);
    if (rc >= 0) {
        *ret = l;
    }
    return rc;
}
