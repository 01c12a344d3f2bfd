// base_urdf.c - a URDF file becomes a pons_base_urdf.
//
//     expat's events --> links with their shapes, joints, as the file has them
//                    --> one tree: each link carried once, one root, no circle
//                    --> each link's pose in the base; what hangs on it rigidly; the wheels
//                    --> the hull of what they cover, the pair's distance and radius, the lidar
//
// A file may come from anybody: it has limits, document types (and with them entities) are refused, and so is
// xacro that nobody has expanded. `${namespace}`, which TurtleBot3's files have before their names and its launch
// files replace by nothing, is nothing here too.
#include "pons/base_urdf.h"

#include "pons/arm.h"
#include "pons/file.h"

#include <expat.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE     "urdf"
#define ORIGIN_MAX 1e4

enum {
    FILE_MAX = 4 << 20, // bytes of a description
    LINKS_MAX = 512,
    SHAPES_MAX = 1024,
    DEPTH_MAX = 32,
    ROUND = 16, // corners that stand for a circle
    POINTS_MAX = 256
};
static const double SAME_M = 0.01;     // a pair's wheels differ in x and in y by no more
static const double ALONG = 0.95;      // of an axis that counts as the base's own
static const double SIZE_MAX_M = 20.0; // of a shape

typedef struct place {
    unsigned long line, col;
} place;

typedef enum kind { BOX, CYLINDER, SPHERE, MESH } kind;

typedef struct shape {
    int link;
    kind kind;
    bool visual;
    double size[3]; // full lengths; radius, length; radius
    pons_pose3 at;
} shape;

typedef struct link {
    char name[PONS_URDF_NAME];
    place at;
    int by;          // the joint that carries it; -1
    bool placed;     // pose is there
    bool rigid;      // it hangs on the base by fixed joints alone
    bool collides;   // it has a collision shape
    pons_pose3 pose; // in the root, then in the base
} link;

typedef struct joint {
    char name[PONS_URDF_NAME], parent[PONS_URDF_NAME], child[PONS_URDF_NAME];
    char type[16];
    place where;
    pons_pose3 at;
    double axis[3], speed_max; // NAN: no limit
    int from, to;
} joint;

typedef struct reader {
    XML_Parser xml;
    const char *path;
    pons_error *err;
    int rc, depth;
    char name[PONS_URDF_NAME];
    link links[LINKS_MAX];
    joint joints[LINKS_MAX];
    shape shapes[SHAPES_MAX];
    int n_links, n_joints, n_shapes, root;
    link *link;   // that is open
    joint *joint; // that is open
    bool in_shape, visual;
    pons_pose3 origin;
} reader;

static int fault_at(reader *r, place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int fault_at(reader *r, place at, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    if (r->rc < 0) {
        return r->rc;
    }
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->rc = pons_error_set(r->err, PONS_EINVAL, MODULE, "%s", text);
    if (at.line) {
        pons_error_source(r->err, "%s:%lu:%lu", r->path, at.line, at.col);
    } else {
        pons_error_source(r->err, "%s", r->path);
    }
    if (r->xml) {
        XML_StopParser(r->xml, XML_FALSE);
    }
    return r->rc;
}

static place here(const reader *r)
{
    return (place){XML_GetCurrentLineNumber(r->xml), XML_GetCurrentColumnNumber(r->xml) + 1};
}
#define FAULT(r, ...) fault_at(r, here(r), __VA_ARGS__)

// ---- elements -----------------------------------------------------------------------------------

static const char *attribute(const char **attr, const char *key)
{
    for (; *attr; attr += 2) {
        if (strcmp(attr[0], key) == 0) {
            return attr[1];
        }
    }
    return NULL;
}

static bool numbers(reader *r, const char **attr, const char *key, int n, double *ret)
{
    const char *text = attribute(attr, key), *at = text;
    double v[3] = {0};
    for (int i = 0; text && i < n; i++) {
        char *end;
        v[i] = strtod(at, &end);
        if (strstr(at, "${")) {
            FAULT(r, "%s=\"%.60s\": this is xacro: expand it first, xacro FILE > robot.urdf", key,
                  text);
            return false;
        }
        if (end == at || !isfinite(v[i])) {
            FAULT(r, "%s=\"%.60s\": expected %d number%s", key, text, n, n > 1 ? "s" : "");
            return false;
        }
        at = end;
    }
    if (text && at[strspn(at, " \t\r\n")] != '\0') {
        FAULT(r, "%s=\"%.60s\": expected %d number%s and no more", key, text, n, n > 1 ? "s" : "");
        return false;
    }
    if (text) {
        memcpy(ret, v, (size_t)n * sizeof *v);
    }
    return text != NULL;
}

static void origin(reader *r, const char **attr, pons_pose3 *ret)
{
    double p[3] = {0}, w[3] = {0};
    numbers(r, attr, "xyz", 3, p);
    numbers(r, attr, "rpy", 3, w);
    for (int i = 0; i < 3; i++) {
        if (fabs(p[i]) > ORIGIN_MAX || fabs(w[i]) > ORIGIN_MAX) {
            FAULT(r, "an origin of more than %g m or radians", ORIGIN_MAX);
            return;
        }
    }
    *ret = pons_pose3_of(p[0], p[1], p[2], w[0], w[1], w[2]);
}

static bool take_name(reader *r, const char **attr, const char *key, char ret[PONS_URDF_NAME])
{
    static const char NAMESPACE[] = "${namespace}";
    const char *name = attribute(attr, key);
    if (name && strncmp(name, NAMESPACE, sizeof NAMESPACE - 1) == 0) {
        name += sizeof NAMESPACE - 1;
    }
    if (!name || !*name || strlen(name) >= PONS_URDF_NAME) {
        FAULT(r, "a name of 1 to %d bytes is missing (%s)", PONS_URDF_NAME - 1, key);
        return false;
    }
    if (strstr(name, "${")) {
        FAULT(r, "%.60s: this is xacro: expand it first, xacro FILE > robot.urdf", name);
        return false;
    }
    memcpy(ret, name, strlen(name) + 1);
    return true;
}

static int find_link(const reader *r, const char *name)
{
    for (int i = 0; i < r->n_links; i++) {
        if (strcmp(r->links[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static void begin_link(reader *r, const char **attr)
{
    char name[PONS_URDF_NAME];
    if (!take_name(r, attr, "name", name)) {
        return;
    }
    if (find_link(r, name) >= 0) {
        FAULT(r, "there are two links %s", name);
    } else if (r->n_links == LINKS_MAX) {
        FAULT(r, "more than %d links", LINKS_MAX);
    } else {
        r->link = &r->links[r->n_links++];
        *r->link = (link){.by = -1, .at = here(r)};
        memcpy(r->link->name, name, sizeof name);
    }
}

static void begin_joint(reader *r, const char **attr)
{
    static const char *const types[] = {"fixed",     "continuous", "revolute",
                                        "prismatic", "floating",   "planar"};
    const char *type = attribute(attr, "type");
    bool known = false;
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++) {
        known = known || strcmp(type, types[i]) == 0;
    }
    if (!known) {
        FAULT(r, "%.40s is no type of joint", type ? type : "(none)");
    } else if (r->n_joints == LINKS_MAX) {
        FAULT(r, "more than %d joints", LINKS_MAX);
    } else {
        joint *j = &r->joints[r->n_joints];
        *j = (joint){
            .where = here(r), .at = pons_pose3_identity(), .axis = {1, 0, 0}, .speed_max = NAN};
        snprintf(j->type, sizeof j->type, "%s", type);
        if (take_name(r, attr, "name", j->name)) {
            r->joint = j;
            r->n_joints++;
        }
    }
}

static void in_joint(reader *r, const char *name, const char **attr)
{
    joint *j = r->joint;
    if (strcmp(name, "origin") == 0) {
        origin(r, attr, &j->at);
    } else if (strcmp(name, "parent") == 0) {
        take_name(r, attr, "link", j->parent);
    } else if (strcmp(name, "child") == 0) {
        take_name(r, attr, "link", j->child);
    } else if (strcmp(name, "axis") == 0 && numbers(r, attr, "xyz", 3, j->axis)) {
        const double *a = j->axis, n = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        if (n < 1e-9) {
            FAULT(r, "joint %s has an axis of length 0", j->name);
            return;
        }
        for (int i = 0; i < 3; i++) {
            j->axis[i] /= n;
        }
    } else if (strcmp(name, "limit") == 0) {
        numbers(r, attr, "velocity", 1, &j->speed_max);
    }
}

static void add_shape(reader *r, const char *name, const char **attr)
{
    shape s = {.link = (int)(r->link - r->links), .visual = r->visual, .at = r->origin};
    bool whole = true;
    if (strcmp(name, "box") == 0) {
        s.kind = BOX;
        whole = numbers(r, attr, "size", 3, s.size);
    } else if (strcmp(name, "cylinder") == 0) {
        s.kind = CYLINDER;
        whole =
            numbers(r, attr, "radius", 1, &s.size[0]) && numbers(r, attr, "length", 1, &s.size[1]);
        s.size[2] = s.size[1];
    } else if (strcmp(name, "sphere") == 0) {
        s.kind = SPHERE;
        whole = numbers(r, attr, "radius", 1, &s.size[0]);
        s.size[1] = s.size[2] = s.size[0];
    } else if (strcmp(name, "mesh") == 0) {
        s.kind = MESH;
        s.size[0] = s.size[1] = s.size[2] = 1.0;
    } else {
        return;
    }
    for (int i = 0; i < 3; i++) {
        whole = whole && s.size[i] > 0.0 && s.size[i] <= SIZE_MAX_M;
    }
    if (!whole) {
        FAULT(r, "link %s: a <%s> needs sizes above 0 m, and at most %g m", r->link->name, name,
              SIZE_MAX_M);
    } else if (r->n_shapes == SHAPES_MAX) {
        FAULT(r, "more than %d shapes", SHAPES_MAX);
    } else {
        r->link->collides = r->link->collides || !s.visual;
        r->shapes[r->n_shapes++] = s;
    }
}

static void in_link(reader *r, const char *name, const char **attr)
{
    if (strcmp(name, "collision") == 0 || strcmp(name, "visual") == 0) {
        r->in_shape = true;
        r->visual = *name == 'v';
        r->origin = pons_pose3_identity();
    } else if (r->in_shape && strcmp(name, "origin") == 0) {
        origin(r, attr, &r->origin);
    } else if (r->in_shape) {
        add_shape(r, name, attr);
    }
}

static void on_start(void *user, const char *name, const char **attr)
{
    reader *r = user;
    if (r->rc < 0) {
        return;
    }
    const int depth = r->depth++;
    const char *what = attribute(attr, "name");
    const bool no_namespace = strncmp(name, "xacro:", 6) == 0 && what &&
                              strcmp(what, "namespace") == 0 &&
                              (strcmp(name + 6, "arg") == 0 || strcmp(name + 6, "property") == 0);
    if (no_namespace) {
        return;
    }
    if (strncmp(name, "xacro:", 6) == 0) {
        FAULT(r, "<%.40s>: this is xacro: expand it first, xacro FILE > robot.urdf", name);
    } else if (depth == 0 && strcmp(name, "robot") != 0) {
        FAULT(r, "expected <robot>, not <%.40s>", name);
    } else if (depth == 0) {
        const char *who = attribute(attr, "name");
        snprintf(r->name, sizeof r->name, "%.*s", PONS_URDF_NAME - 1, who ? who : "");
    } else if (depth == DEPTH_MAX) {
        FAULT(r, "more than %d elements in each other", DEPTH_MAX);
    } else if (depth == 1 && strcmp(name, "link") == 0) {
        begin_link(r, attr);
    } else if (depth == 1 && strcmp(name, "joint") == 0) {
        begin_joint(r, attr);
    } else if (r->link) {
        in_link(r, name, attr);
    } else if (r->joint) {
        in_joint(r, name, attr);
    }
}

static void on_end(void *user, const char *name)
{
    reader *r = user;
    r->depth--;
    if (strcmp(name, "collision") == 0 || strcmp(name, "visual") == 0) {
        r->in_shape = false;
    }
    if (r->depth == 1) {
        r->link = NULL;
        r->joint = NULL;
    }
}

static void on_doctype(void *user, const char *name, const char *system, const char *public_id,
                       int internal)
{
    reader *r = user;
    (void)name;
    (void)system;
    (void)public_id;
    (void)internal;
    FAULT(r, "a robot's description has no document type, and no entities");
}

// ---- the tree -----------------------------------------------------------------------------------

static int link_up(reader *r)
{
    static const place nowhere = {0, 0};
    for (int i = 0; i < r->n_joints; i++) {
        joint *j = &r->joints[i];
        j->from = find_link(r, j->parent);
        j->to = find_link(r, j->child);
        if (j->from < 0 || j->to < 0) {
            return fault_at(r, j->where, "joint %s joins links that are not there (%s, %s)",
                            j->name, *j->parent ? j->parent : "none",
                            *j->child ? j->child : "none");
        }
        if (r->links[j->to].by >= 0) {
            return fault_at(r, j->where, "link %s is carried by two joints, %s and %s", j->child,
                            r->joints[r->links[j->to].by].name, j->name);
        }
        r->links[j->to].by = i;
    }
    r->root = -1;
    for (int i = 0; i < r->n_links; i++) {
        if (r->links[i].by >= 0) {
            continue;
        }
        if (r->root >= 0) {
            return fault_at(r, r->links[i].at, "two links are carried by none: %s and %s",
                            r->links[r->root].name, r->links[i].name);
        }
        r->root = i;
    }
    if (r->n_links == 0) {
        return fault_at(r, nowhere, "the robot has no links");
    }
    if (r->root < 0) {
        return fault_at(r, nowhere, "the joints form a circle");
    }
    r->links[r->root].placed = true;
    r->links[r->root].pose = pons_pose3_identity();
    int placed = 1;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < r->n_joints; i++) {
            const joint *j = &r->joints[i];
            link *to = &r->links[j->to];
            if (!to->placed && r->links[j->from].placed) {
                to->pose = pons_pose3_compose(&r->links[j->from].pose, &j->at);
                to->placed = more = true;
                placed++;
            }
        }
    }
    return placed == r->n_links ? PONS_OK : fault_at(r, nowhere, "the joints form a circle");
}

static int find_base(reader *r, const char *base, int *ret)
{
    static const char *const usual[] = {"base_footprint", "base_link"};
    *ret = base && *base ? find_link(r, base) : -1;
    if (base && *base && *ret < 0) {
        return fault_at(r, (place){0, 0}, "there is no link %s", base);
    }
    for (int i = 0; *ret < 0 && i < 2; i++) {
        *ret = find_link(r, usual[i]);
    }
    *ret = *ret < 0 ? r->root : *ret;
    const pons_pose3 back = pons_pose3_inverse(&r->links[*ret].pose);
    for (int i = 0; i < r->n_links; i++) {
        r->links[i].pose = pons_pose3_compose(&back, &r->links[i].pose);
    }
    // Rigid with it: what fixed joints lead to, up and down.
    r->links[*ret].rigid = true;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < r->n_joints; i++) {
            link *a = &r->links[r->joints[i].from], *b = &r->links[r->joints[i].to];
            if (strcmp(r->joints[i].type, "fixed") == 0 && a->rigid != b->rigid) {
                a->rigid = b->rigid = more = true;
            }
        }
    }
    return PONS_OK;
}

// ---- what it is ---------------------------------------------------------------------------------

// A joint's axis in the base.
static void axis_of(const reader *r, const joint *j, double ret[3])
{
    const double zero[3] = {0};
    double o[3], p[3];
    pons_pose3_point(&r->links[j->to].pose, zero, o);
    pons_pose3_point(&r->links[j->to].pose, j->axis, p);
    for (int i = 0; i < 3; i++) {
        ret[i] = p[i] - o[i];
    }
}

static bool is_wheel(const reader *r, const joint *j)
{
    double axis[3];
    const bool named = strstr(j->name, "wheel") || strstr(j->child, "wheel");
    axis_of(r, j, axis);
    return r->links[j->from].rigid && fabs(axis[1]) >= ALONG &&
           (strcmp(j->type, "continuous") == 0 || (named && strcmp(j->type, "revolute") == 0));
}

// Of the round shape that a wheel's link has; else how high its middle is, if the base lies on the floor.
static double radius_of(const reader *r, int wheel, bool on_floor)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < r->n_shapes; i++) {
            const shape *s = &r->shapes[i];
            if (s->link == wheel && s->visual == (pass == 1) &&
                (s->kind == CYLINDER || s->kind == SPHERE)) {
                return s->size[0];
            }
        }
    }
    const double zero[3] = {0};
    double at[3];
    pons_pose3_point(&r->links[wheel].pose, zero, at);
    return on_floor && at[2] > 0.0 ? at[2] : NAN;
}

static void find_wheels(const reader *r, bool on_floor, bool *wheel, pons_base_urdf *ret)
{
    const double zero[3] = {0};
    ret->wheel_radius_m = ret->wheel_max_radps = NAN;
    for (int i = 0; i < r->n_joints; i++) {
        double axis[3];
        axis_of(r, &r->joints[i], axis);
        const bool steers = strcmp(r->joints[i].type, "fixed") != 0 && fabs(axis[2]) >= ALONG &&
                            strstr(r->joints[i].name, "steer");
        ret->steers = ret->steers || steers;
    }
    for (int i = 0; i < r->n_joints; i++) {
        const joint *a = &r->joints[i];
        double p[3], q[3];
        pons_pose3_point(&r->links[a->to].pose, zero, p);
        if (!is_wheel(r, a) || p[1] <= 0.0) {
            continue; // a pair is found by its left one
        }
        for (int k = 0; k < r->n_joints; k++) {
            const joint *b = &r->joints[k];
            pons_pose3_point(&r->links[b->to].pose, zero, q);
            if (!is_wheel(r, b) || fabs(p[0] - q[0]) > SAME_M || fabs(p[1] + q[1]) > SAME_M ||
                fabs(p[2] - q[2]) > SAME_M) {
                continue;
            }
            wheel[a->to] = wheel[b->to] = true;
            ret->wheels += 2;
            ret->track_m = fmax(ret->track_m, p[1] - q[1]);
            ret->wheel_radius_m = fmax(ret->wheel_radius_m, radius_of(r, a->to, on_floor));
            ret->wheel_max_radps = fmin(ret->wheel_max_radps, fmin(a->speed_max, b->speed_max));
            break;
        }
    }
}

// The corners of a shape, or of what is around it, seen from above.
static void corners(const reader *r, const shape *s, pons_value *ret)
{
    const pons_pose3 at = pons_pose3_compose(&r->links[s->link].pose, &s->at);
    const double grow = 1.0 / cos(M_PI / ROUND); // a polygon that holds the circle
    const int n = s->kind == BOX ? 8 : 2 * ROUND;
    for (int i = 0; i < n; i++) {
        const int corner = i / 2;
        const double end = i % 2 ? 0.5 : -0.5, a = 2.0 * M_PI * (corner + 0.5) / ROUND;
        double p[3] = {0}, q[3];
        if (s->kind == BOX) {
            for (int k = 0; k < 3; k++) {
                p[k] = (i >> k & 1 ? 0.5 : -0.5) * s->size[k];
            }
        } else if (s->kind == CYLINDER) {
            p[0] = s->size[0] * grow * cos(a);
            p[1] = s->size[0] * grow * sin(a);
            p[2] = end * s->size[1];
        }
        pons_pose3_point(&at, p, q);
        if (s->kind == SPHERE) {
            q[0] += s->size[0] * grow * cos(a);
            q[1] += s->size[0] * grow * sin(a);
        }
        json_array_append_new(ret, json_pack("[f,f]", q[0], q[1]));
    }
}

// The rectangle around points, where their hull has too many corners.
static pons_value *around(const pons_value *points)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    size_t i;
    json_t *p;
    json_array_foreach((json_t *)(uintptr_t)points, i, p)
    {
        for (size_t k = 0; k < 2; k++) {
            low[k] = fmin(low[k], json_number_value(json_array_get(p, k)));
            high[k] = fmax(high[k], json_number_value(json_array_get(p, k)));
        }
    }
    return json_pack("[[f,f],[f,f],[f,f],[f,f]]", low[0], low[1], high[0], low[1], high[0], high[1],
                     low[0], high[1]);
}

static int find_footprint(reader *r, const bool *wheel, pons_base_urdf *ret)
{
    pons_autovalue points = json_array();
    for (int i = 0; points && i < r->n_shapes; i++) {
        const shape *s = &r->shapes[i];
        const link *l = &r->links[s->link];
        if (!(l->rigid || wheel[s->link]) || (s->visual && l->collides)) {
            continue;
        }
        if (s->kind == MESH) {
            ret->meshes++;
            continue;
        }
        corners(r, s, points);
        if (json_array_size(points) > POINTS_MAX - 2 * ROUND) { // the hull's reader has its limit
            pons_value *fewer = around(points);
            pons_value_unref(points);
            points = fewer;
        }
    }
    if (!points) {
        return pons_error_set(r->err, PONS_ENOMEM, MODULE, "no memory for a footprint");
    }
    if (json_array_size(points) == 0) {
        return PONS_OK;
    }
    const char *bad = pons_footprint_read(points, &ret->footprint);
    if (bad) {
        pons_autovalue box = around(points);
        bad = pons_footprint_read(box, &ret->footprint);
    }
    ret->has_footprint = !bad;
    return bad ? fault_at(r, (place){0, 0}, "%s", bad) : PONS_OK;
}

static void find_lidar(const reader *r, pons_base_urdf *ret)
{
    static const char *const words[] = {"scan", "lidar", "laser"};
    for (size_t w = 0; w < 3 && !ret->has_lidar; w++) {
        for (int i = 0; i < r->n_links && !ret->has_lidar; i++) {
            const link *l = &r->links[i];
            if (l->rigid && strstr(l->name, words[w])) {
                const double zero[3] = {0};
                double rpy[3];
                pons_pose3_point(&l->pose, zero, ret->lidar_pose);
                pons_pose3_rpy(&l->pose, rpy);
                ret->lidar_pose[3] = rpy[2];
                memcpy(ret->lidar, l->name, sizeof ret->lidar);
                ret->has_lidar = true;
            }
        }
    }
}

static int understand(reader *r, const char *base, pons_base_urdf *ret)
{
    bool wheel[LINKS_MAX] = {false};
    int at = -1, rc = link_up(r);
    rc = rc < 0 ? rc : find_base(r, base, &at);
    if (rc < 0) {
        return rc;
    }
    memcpy(ret->name, r->name, sizeof ret->name);
    memcpy(ret->base, r->links[at].name, sizeof ret->base);
    ret->links = r->n_links;
    ret->joints = r->n_joints;
    find_wheels(r, strstr(ret->base, "footprint") != NULL, wheel, ret);
    find_lidar(r, ret);
    return find_footprint(r, wheel, ret);
}

static int parse(reader *r, FILE *f)
{
    char *text = malloc(FILE_MAX + 1);
    XML_Parser xml = XML_ParserCreate(NULL);
    if (!text || !xml) {
        free(text);
        if (xml) {
            XML_ParserFree(xml);
        }
        return pons_error_set(r->err, PONS_ENOMEM, MODULE, "no memory for a robot");
    }
    const size_t n = fread(text, 1, FILE_MAX + 1, f);
    r->xml = xml;
    XML_SetUserData(xml, r);
    XML_SetElementHandler(xml, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(xml, on_doctype);
    if (n > FILE_MAX) {
        r->xml = NULL;
        fault_at(r, (place){0, 0}, "the description is larger than %d bytes", FILE_MAX);
    } else if (XML_Parse(xml, text, (int)n, 1) == XML_STATUS_ERROR && r->rc == PONS_OK) {
        FAULT(r, "%s", XML_ErrorString(XML_GetErrorCode(xml)));
    }
    r->xml = NULL;
    XML_ParserFree(xml);
    free(text);
    return r->rc;
}

int pons_base_urdf_load(const char *path, const char *base, pons_base_urdf *ret, pons_error *err)
{
    FILE *f = pons_file_read(path);
    if (!f) {
        pons_error_set(err, PONS_ENOTFOUND, MODULE, "cannot read the robot's description");
        pons_error_source(err, "%s", path);
        pons_error_cause(err, "%s", pons_file_why(errno));
        return PONS_ENOTFOUND;
    }
    reader *r = calloc(1, sizeof *r);
    pons_base_urdf out = {0};
    int rc;
    if (r) {
        r->path = path;
        r->err = err;
        rc = parse(r, f);
        rc = rc < 0 ? rc : understand(r, base, &out);
    } else {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a robot");
    }
    fclose(f);
    free(r);
    if (rc == PONS_OK) {
        *ret = out;
    }
    return rc;
}
