// urdf.c - a URDF file becomes a pons_arm.
//
//     expat's events --> links, joints by name, in the file's order
//                    --> joints sorted from the root, names to numbers
//                    --> the chain from base to tool; balls that stand for the shapes
//
// A fault is told with the line and column of the element that it is about.
#include "pons/arm.h"
#include "pons/file.h"

#include <expat.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE   "arm"
#define FILE_MAX (1 << 20) // bytes of a description
#define BALLS    5         // that stand for a capsule

typedef struct raw_joint { // as the file has it
    pons_arm_joint j;
    char parent[PONS_ARM_NAME], child[PONS_ARM_NAME], mimic[PONS_ARM_NAME];
    bool limited, continuous;
    unsigned long line, col;
} raw_joint;

typedef struct reader {
    XML_Parser xml;
    const char *path;
    pons_error *err;
    int rc;
    pons_arm *a;
    raw_joint joints[PONS_ARM_LINKS];
    int n_joints;
    int depth;
    pons_arm_link *link; // that is open
    raw_joint *joint;    // that is open
    bool in_inertial, in_collision, shaped;
    pons_pose3 origin; // of the collision
} reader;

static void on_start(void *user, const char *name, const char **attr);
static void on_end(void *user, const char *name);
static int link_up(reader *r);
static int find_chain(reader *r, const char *base, const char *tool);
static void make_samples(pons_arm *a);

static int fault_at(reader *r, unsigned long line, unsigned long col, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static int fault_at(reader *r, unsigned long line, unsigned long col, const char *fmt, ...)
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
    if (line) {
        pons_error_source(r->err, "%s:%lu:%lu", r->path, line, col);
    } else {
        pons_error_source(r->err, "%s", r->path);
    }
    if (r->xml) {
        XML_StopParser(r->xml, XML_FALSE);
    }
    return r->rc;
}
#define FAULT(r, ...)                                                                              \
    fault_at(r, XML_GetCurrentLineNumber((r)->xml), XML_GetCurrentColumnNumber((r)->xml) + 1,      \
             __VA_ARGS__)

int pons_arm_load(const char *path, const char *base, const char *tool, pons_arm **ret,
                  pons_error *err)
{
    FILE *f = pons_file_read(path);
    if (!f) {
        pons_error_set(err, PONS_ENOTFOUND, MODULE, "cannot read the arm's description");
        pons_error_source(err, "%s", path);
        pons_error_cause(err, "%s", pons_file_why(errno));
        return PONS_ENOTFOUND;
    }
    reader *r = calloc(1, sizeof *r);
    char *text = malloc(FILE_MAX + 1);
    pons_arm *a = calloc(1, sizeof *a);
    XML_Parser xml = XML_ParserCreate(NULL);
    if (!r || !text || !a || !xml) {
        fclose(f);
        free(r);
        free(text);
        free(a);
        if (xml) {
            XML_ParserFree(xml);
        }
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for an arm");
    }
    const size_t n = fread(text, 1, FILE_MAX + 1, f);
    fclose(f);
    *r = (reader){.xml = xml, .path = path, .err = err, .a = a};
    XML_SetUserData(xml, r);
    XML_SetElementHandler(xml, on_start, on_end);
    if (n > FILE_MAX) {
        fault_at(r, 0, 0, "the description is larger than %d bytes", FILE_MAX);
    } else if (XML_Parse(xml, text, (int)n, 1) == XML_STATUS_ERROR && r->rc == PONS_OK) {
        FAULT(r, "%s", XML_ErrorString(XML_GetErrorCode(xml)));
    }
    r->xml = NULL;
    XML_ParserFree(xml);
    int rc = r->rc;
    rc = rc < 0 ? rc : link_up(r);
    rc = rc < 0 ? rc : find_chain(r, base, tool);
    if (rc == PONS_OK) {
        make_samples(a);
        *ret = a;
        a = NULL;
    }
    free(a);
    free(text);
    free(r);
    return rc;
}

void pons_arm_destroy(pons_arm *a)
{
    free(a);
}

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

// n finite numbers; false, with the fault told, where they are not. Absent: they stay.
static bool numbers(reader *r, const char **attr, const char *key, int n, double *ret)
{
    const char *text = attribute(attr, key);
    double v[3] = {0};
    if (!text) {
        return true;
    }
    const char *at = text;
    for (int i = 0; i < n; i++) {
        char *end;
        v[i] = strtod(at, &end);
        if (end == at || !isfinite(v[i])) {
            FAULT(r, "%s=\"%.60s\": expected %d number%s", key, text, n, n > 1 ? "s" : "");
            return false;
        }
        at = end;
    }
    if (at[strspn(at, " \t\r\n")] != '\0') {
        FAULT(r, "%s=\"%.60s\": expected %d number%s and no more", key, text, n, n > 1 ? "s" : "");
        return false;
    }
    memcpy(ret, v, (size_t)n * sizeof *v);
    return true;
}

static bool origin(reader *r, const char **attr, pons_pose3 *ret)
{
    double p[3] = {0}, w[3] = {0};
    if (!numbers(r, attr, "xyz", 3, p) || !numbers(r, attr, "rpy", 3, w)) {
        return false;
    }
    *ret = pons_pose3_of(p[0], p[1], p[2], w[0], w[1], w[2]);
    return true;
}

static bool take_name(reader *r, const char **attr, const char *key, char ret[PONS_ARM_NAME])
{
    const char *name = attribute(attr, key);
    if (!name || !*name || strlen(name) >= PONS_ARM_NAME) {
        FAULT(r, "a name of 1 to %d bytes is missing (%s)", PONS_ARM_NAME - 1, key);
        return false;
    }
    memcpy(ret, name, strlen(name) + 1);
    return true;
}

static void begin_link(reader *r, const char **attr)
{
    char name[PONS_ARM_NAME];
    if (!take_name(r, attr, "name", name)) {
        return;
    }
    if (pons_arm_find_link(r->a, name) >= 0) {
        FAULT(r, "there are two links %s", name);
    } else if (r->a->n_links == PONS_ARM_LINKS) {
        FAULT(r, "more than %d links", PONS_ARM_LINKS);
    } else {
        r->link = &r->a->links[r->a->n_links++];
        *r->link = (pons_arm_link){.joint = -1};
        memcpy(r->link->name, name, sizeof name);
    }
}

static void begin_joint(reader *r, const char **attr)
{
    static const char *const kinds[] = {"fixed", "revolute", "prismatic", "continuous"};
    const char *type = attribute(attr, "type");
    int kind = 0;
    while (kind < 4 && strcmp(type ? type : "", kinds[kind]) != 0) {
        kind++;
    }
    if (kind == 4) {
        FAULT(r, "a joint's type is fixed, revolute, continuous or prismatic, not %.40s",
              type ? type : "(none)");
        return;
    }
    if (r->n_joints == PONS_ARM_LINKS) {
        FAULT(r, "more than %d joints", PONS_ARM_LINKS);
        return;
    }
    r->joint = &r->joints[r->n_joints];
    *r->joint = (raw_joint){.line = XML_GetCurrentLineNumber(r->xml),
                            .col = XML_GetCurrentColumnNumber(r->xml) + 1,
                            .continuous = kind == 3};
    pons_arm_joint *j = &r->joint->j;
    *j = (pons_arm_joint){.kind = kind == 3 ? PONS_ARM_REVOLUTE : (pons_arm_joint_kind)kind,
                          .at = pons_pose3_identity(),
                          .axis = {1, 0, 0},
                          .mimic = -1,
                          .multiplier = 1.0,
                          .place = -1};
    if (take_name(r, attr, "name", j->name)) {
        r->n_joints++;
    }
}

static void in_joint(reader *r, const char *name, const char **attr)
{
    pons_arm_joint *j = &r->joint->j;
    if (strcmp(name, "origin") == 0) {
        origin(r, attr, &j->at);
    } else if (strcmp(name, "parent") == 0) {
        take_name(r, attr, "link", r->joint->parent);
    } else if (strcmp(name, "child") == 0) {
        take_name(r, attr, "link", r->joint->child);
    } else if (strcmp(name, "mimic") == 0) {
        take_name(r, attr, "joint", r->joint->mimic);
        numbers(r, attr, "multiplier", 1, &j->multiplier);
    } else if (strcmp(name, "axis") == 0 && numbers(r, attr, "xyz", 3, j->axis)) {
        const double n =
            sqrt(j->axis[0] * j->axis[0] + j->axis[1] * j->axis[1] + j->axis[2] * j->axis[2]);
        if (n < 1e-9) {
            FAULT(r, "joint %s has an axis of length 0", j->name);
            return;
        }
        for (int i = 0; i < 3; i++) {
            j->axis[i] /= n;
        }
    } else if (strcmp(name, "limit") == 0) {
        r->joint->limited = numbers(r, attr, "lower", 1, &j->lower) &&
                            numbers(r, attr, "upper", 1, &j->upper) &&
                            numbers(r, attr, "velocity", 1, &j->speed_max) &&
                            numbers(r, attr, "effort", 1, &j->effort_max);
    }
}

static void in_shape(reader *r, const char *name, const char **attr)
{
    pons_arm_shape s = {.at = r->origin};
    double radius = 0.0, length = 0.0;
    if (strcmp(name, "sphere") == 0) {
        numbers(r, attr, "radius", 1, &radius);
        s.kind = PONS_ARM_SPHERE;
        s.size[0] = length = radius;
    } else if (strcmp(name, "cylinder") == 0) {
        numbers(r, attr, "radius", 1, &radius);
        numbers(r, attr, "length", 1, &length);
        s.kind = PONS_ARM_CAPSULE;
        s.size[0] = radius;
        s.size[1] = length;
    } else if (strcmp(name, "box") == 0) {
        numbers(r, attr, "size", 3, s.size);
        s.kind = PONS_ARM_BOX;
        radius = fmin(s.size[0], s.size[1]);
        length = s.size[2];
    } else if (strcmp(name, "mesh") == 0) {
        FAULT(r, "link %s: a mesh is no collision shape here; spheres, boxes and cylinders are",
              r->link->name);
        return;
    } else {
        return;
    }
    if (!(radius > 0.0 && length > 0.0)) {
        FAULT(r, "link %s: a shape without a size", r->link->name);
    } else if (r->link->n_shapes == PONS_ARM_SHAPES) {
        FAULT(r, "link %s has more than %d collision shapes", r->link->name, PONS_ARM_SHAPES);
    } else {
        r->link->shapes[r->link->n_shapes++] = s;
    }
}

static void in_link(reader *r, const char *name, const char **attr)
{
    if (strcmp(name, "inertial") == 0) {
        r->in_inertial = true;
    } else if (strcmp(name, "collision") == 0) {
        r->in_collision = true;
        r->origin = pons_pose3_identity();
    } else if (r->in_inertial && strcmp(name, "mass") == 0) {
        numbers(r, attr, "value", 1, &r->link->mass);
    } else if (r->in_inertial && strcmp(name, "origin") == 0) {
        numbers(r, attr, "xyz", 3, r->link->com);
    } else if (r->in_inertial && strcmp(name, "inertia") == 0) {
        numbers(r, attr, "ixx", 1, &r->link->inertia[0]);
        numbers(r, attr, "iyy", 1, &r->link->inertia[1]);
        numbers(r, attr, "izz", 1, &r->link->inertia[2]);
    } else if (r->in_collision && strcmp(name, "origin") == 0) {
        origin(r, attr, &r->origin);
    } else if (r->in_collision) {
        in_shape(r, name, attr);
    }
}

static void on_start(void *user, const char *name, const char **attr)
{
    reader *r = user;
    if (r->rc < 0) {
        return;
    }
    const int depth = r->depth++;
    if (depth == 0) {
        if (strcmp(name, "robot") != 0) {
            FAULT(r, "expected <robot>, not <%.40s>", name);
            return;
        }
        const char *who = attribute(attr, "name");
        snprintf(r->a->name, sizeof r->a->name, "%s", who ? who : "");
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
    if (strcmp(name, "inertial") == 0) {
        r->in_inertial = false;
    } else if (strcmp(name, "collision") == 0) {
        r->in_collision = false;
    }
    if (r->depth == 1) {
        r->link = NULL;
        r->joint = NULL;
    }
}

// ---- the tree -----------------------------------------------------------------------------------

static int check_joint(reader *r, const raw_joint *raw)
{
    const pons_arm_joint *j = &raw->j;
    const char *name = j->name;
    const bool moves = j->kind != PONS_ARM_FIXED;
    if (pons_arm_find_link(r->a, raw->parent) < 0 || pons_arm_find_link(r->a, raw->child) < 0) {
        return fault_at(r, raw->line, raw->col, "joint %s joins links that are not there (%s, %s)",
                        name, raw->parent, raw->child);
    }
    if (moves && (!raw->limited || !(j->speed_max > 0.0) || !(j->effort_max > 0.0))) {
        return fault_at(r, raw->line, raw->col,
                        "joint %s needs a limit with velocity and effort above 0", name);
    }
    if (moves && !raw->continuous && !(j->lower < j->upper)) {
        return fault_at(r, raw->line, raw->col, "joint %s: lower %g is not below upper %g", name,
                        j->lower, j->upper);
    }
    return PONS_OK;
}

// Joints in an order in which a parent's link is carried before its children; every link by one.
static int link_up(reader *r)
{
    pons_arm *a = r->a;
    bool used[PONS_ARM_LINKS] = {false};
    for (int i = 0; i < r->n_joints; i++) {
        raw_joint *raw = &r->joints[i];
        if (check_joint(r, raw) < 0) {
            return r->rc;
        }
        raw->j.parent = pons_arm_find_link(a, raw->parent);
        raw->j.child = pons_arm_find_link(a, raw->child);
        if (raw->continuous) {
            raw->j.lower = -INFINITY;
            raw->j.upper = INFINITY;
        }
        if (a->links[raw->j.child].joint != -1 || raw->j.child == raw->j.parent) {
            return fault_at(r, raw->line, raw->col, "link %s is carried by two joints", raw->child);
        }
        a->links[raw->j.child].joint = -2; // carried, by a number that comes
    }
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < r->n_joints; i++) {
            const raw_joint *raw = &r->joints[i];
            if (!used[i] && a->links[raw->j.parent].joint != -2) {
                used[i] = more = true;
                a->links[raw->j.child].joint = a->n_joints;
                a->joints[a->n_joints++] = raw->j;
            }
        }
    }
    if (a->n_joints != r->n_joints) {
        return fault_at(r, 0, 0, "the joints form a circle");
    }
    for (int i = 0; i < r->n_joints; i++) {
        const raw_joint *raw = &r->joints[i];
        if (*raw->mimic) {
            const int follows = pons_arm_find_joint(a, raw->mimic);
            if (follows < 0) {
                return fault_at(r, raw->line, raw->col, "joint %s follows %s, which is not there",
                                raw->j.name, raw->mimic);
            }
            a->joints[pons_arm_find_joint(a, raw->j.name)].mimic = follows;
        }
    }
    return PONS_OK;
}

static int find_chain(reader *r, const char *base, const char *tool)
{
    pons_arm *a = r->a;
    a->base = pons_arm_find_link(a, base);
    a->tool = pons_arm_find_link(a, tool);
    if (a->base < 0 || a->tool < 0) {
        return fault_at(r, 0, 0, "there is no link %s", a->base < 0 ? base : tool);
    }
    int back[PONS_ARM_LINKS], n = 0;
    for (int l = a->tool; l != a->base; l = a->joints[a->links[l].joint].parent) {
        if (a->links[l].joint < 0) {
            return fault_at(r, 0, 0, "link %s does not carry link %s", base, tool);
        }
        back[n++] = a->links[l].joint;
    }
    while (n > 0) {
        const int j = back[--n];
        a->path[a->n_path++] = j;
        if (a->joints[j].kind == PONS_ARM_FIXED) {
            continue;
        }
        if (a->n == PONS_ARM_JOINTS) {
            return fault_at(r, 0, 0, "more than %d joints move between %s and %s", PONS_ARM_JOINTS,
                            base, tool);
        }
        a->joints[j].place = a->n;
        a->chain[a->n++] = j;
    }
    return a->n > 0 ? PONS_OK : fault_at(r, 0, 0, "nothing moves between %s and %s", base, tool);
}

// ---- balls --------------------------------------------------------------------------------------

static void add_ball(pons_arm *a, int link, const pons_pose3 *at, double x, double y, double z,
                     double r)
{
    if (a->n_samples < PONS_ARM_SAMPLES) {
        pons_arm_sample *s = &a->samples[a->n_samples++];
        const double p[3] = {x, y, z};
        s->link = link;
        s->r = r;
        pons_pose3_point(at, p, s->p);
    }
}

static void make_samples(pons_arm *a)
{
    for (int l = 0; l < a->n_links; l++) {
        for (int i = 0; i < a->links[l].n_shapes; i++) {
            const pons_arm_shape *s = &a->links[l].shapes[i];
            if (s->kind == PONS_ARM_SPHERE) {
                add_ball(a, l, &s->at, 0, 0, 0, s->size[0]);
            } else if (s->kind == PONS_ARM_CAPSULE) {
                for (int k = 0; k < BALLS; k++) {
                    const double z = s->size[1] * (k / (double)(BALLS - 1) - 0.5);
                    add_ball(a, l, &s->at, 0, 0, z, s->size[0]);
                }
            } else {
                for (int k = 0; k < 8; k++) { // its corners
                    add_ball(a, l, &s->at, (k & 1 ? 0.5 : -0.5) * s->size[0],
                             (k & 2 ? 0.5 : -0.5) * s->size[1], (k & 4 ? 0.5 : -0.5) * s->size[2],
                             0.0);
                }
            }
        }
    }
}
