// urdf.c - a URDF file becomes a pons_arm.
//
//     elements       --> links, joints by name, in the file's order
//                    --> joints sorted from the root, names to numbers
//                    --> the chain from base to tool; balls that stand for the shapes
//
// A fault is told with the line and column of the element that it is about.
#include "arm/urdf_xml.h"
#include "pons/arm.h"

#include <math.h>
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
    pons__urdf_place where;
} raw_joint;

typedef struct reader {
    pons__urdf_xml xml;
    pons_arm *a;
    raw_joint joints[PONS_ARM_LINKS];
    int n_joints;
    pons_arm_link *link; // that is open
    raw_joint *joint;    // that is open
    bool in_inertial, in_collision;
    pons_pose3 origin; // of the collision
} reader;

// ---- elements -----------------------------------------------------------------------------------

static void begin_link(reader *r, const char **attr)
{
    char name[PONS_ARM_NAME];
    if (!pons__urdf_name(&r->xml, attr, "name", PONS_ARM_NAME, name)) {
        return;
    }
    if (pons_arm_find_link(r->a, name) >= 0) {
        URDF_FAULT(&r->xml, "there are two links %s", name);
    } else if (r->a->n_links == PONS_ARM_LINKS) {
        URDF_FAULT(&r->xml, "more than %d links", PONS_ARM_LINKS);
    } else {
        r->link = &r->a->links[r->a->n_links++];
        *r->link = (pons_arm_link){.joint = -1};
        memcpy(r->link->name, name, sizeof name);
    }
}

static void begin_joint(reader *r, const char **attr)
{
    static const char *const kinds[] = {"fixed", "revolute", "prismatic", "continuous"};
    const char *type = pons__urdf_attribute(attr, "type");
    int kind = 0;
    while (kind < 4 && strcmp(type ? type : "", kinds[kind]) != 0) {
        kind++;
    }
    if (kind == 4) {
        URDF_FAULT(&r->xml, "a joint's type is fixed, revolute, continuous or prismatic, not %.40s",
                   type ? type : "(none)");
        return;
    }
    if (r->n_joints == PONS_ARM_LINKS) {
        URDF_FAULT(&r->xml, "more than %d joints", PONS_ARM_LINKS);
        return;
    }
    r->joint = &r->joints[r->n_joints];
    *r->joint = (raw_joint){.where = pons__urdf_here(&r->xml), .continuous = kind == 3};
    pons_arm_joint *j = &r->joint->j;
    *j = (pons_arm_joint){.kind = kind == 3 ? PONS_ARM_REVOLUTE : (pons_arm_joint_kind)kind,
                          .at = pons_pose3_identity(),
                          .axis = {1, 0, 0},
                          .mimic = -1,
                          .multiplier = 1.0,
                          .place = -1};
    if (pons__urdf_name(&r->xml, attr, "name", PONS_ARM_NAME, j->name)) {
        r->n_joints++;
    }
}

static void in_joint(reader *r, const char *name, const char **attr)
{
    pons_arm_joint *j = &r->joint->j;
    if (strcmp(name, "origin") == 0) {
        pons__urdf_origin(&r->xml, attr, &j->at);
    } else if (strcmp(name, "parent") == 0) {
        pons__urdf_name(&r->xml, attr, "link", PONS_ARM_NAME, r->joint->parent);
    } else if (strcmp(name, "child") == 0) {
        pons__urdf_name(&r->xml, attr, "link", PONS_ARM_NAME, r->joint->child);
    } else if (strcmp(name, "mimic") == 0) {
        pons__urdf_name(&r->xml, attr, "joint", PONS_ARM_NAME, r->joint->mimic);
        pons__urdf_numbers(&r->xml, attr, "multiplier", 1, &j->multiplier);
    } else if (strcmp(name, "axis") == 0 && j->kind != PONS_ARM_FIXED) {
        pons__urdf_axis(&r->xml, attr, j->name, j->axis);
    } else if (strcmp(name, "limit") == 0) {
        r->joint->limited = pons__urdf_numbers(&r->xml, attr, "lower", 1, &j->lower) >= 0 &&
                            pons__urdf_numbers(&r->xml, attr, "upper", 1, &j->upper) >= 0 &&
                            pons__urdf_numbers(&r->xml, attr, "velocity", 1, &j->speed_max) >= 0 &&
                            pons__urdf_numbers(&r->xml, attr, "effort", 1, &j->effort_max) >= 0;
    }
}

static void in_shape(reader *r, const char *name, const char **attr)
{
    pons_arm_shape s = {.at = r->origin};
    double radius = 0.0, length = 0.0;
    if (strcmp(name, "sphere") == 0) {
        pons__urdf_numbers(&r->xml, attr, "radius", 1, &radius);
        s.kind = PONS_ARM_SPHERE;
        s.size[0] = length = radius;
    } else if (strcmp(name, "cylinder") == 0) {
        pons__urdf_numbers(&r->xml, attr, "radius", 1, &radius);
        pons__urdf_numbers(&r->xml, attr, "length", 1, &length);
        s.kind = PONS_ARM_CAPSULE;
        s.size[0] = radius;
        s.size[1] = length;
    } else if (strcmp(name, "box") == 0) {
        pons__urdf_numbers(&r->xml, attr, "size", 3, s.size);
        s.kind = PONS_ARM_BOX;
        radius = fmin(s.size[0], s.size[1]);
        length = s.size[2];
    } else if (strcmp(name, "mesh") == 0) {
        URDF_FAULT(&r->xml,
                   "link %s: a mesh is no collision shape here; spheres, boxes and cylinders are",
                   r->link->name);
        return;
    } else {
        return;
    }
    if (!(radius > 0.0 && length > 0.0)) {
        URDF_FAULT(&r->xml, "link %s: a shape without a size", r->link->name);
    } else if (r->link->n_shapes == PONS_ARM_SHAPES) {
        URDF_FAULT(&r->xml, "link %s has more than %d collision shapes", r->link->name,
                   PONS_ARM_SHAPES);
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
        pons__urdf_numbers(&r->xml, attr, "value", 1, &r->link->mass);
    } else if (r->in_inertial && strcmp(name, "origin") == 0) {
        pons__urdf_numbers(&r->xml, attr, "xyz", 3, r->link->com);
    } else if (r->in_inertial && strcmp(name, "inertia") == 0) {
        pons__urdf_numbers(&r->xml, attr, "ixx", 1, &r->link->inertia[0]);
        pons__urdf_numbers(&r->xml, attr, "iyy", 1, &r->link->inertia[1]);
        pons__urdf_numbers(&r->xml, attr, "izz", 1, &r->link->inertia[2]);
    } else if (r->in_collision && strcmp(name, "origin") == 0) {
        pons__urdf_origin(&r->xml, attr, &r->origin);
    } else if (r->in_collision) {
        in_shape(r, name, attr);
    }
}

static void on_start(void *user, int depth, const char *name, const char **attr)
{
    reader *r = user;
    if (depth == 0) {
        const char *who = pons__urdf_attribute(attr, "name");
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

static void on_end(void *user, int depth, const char *name)
{
    reader *r = user;
    if (strcmp(name, "inertial") == 0) {
        r->in_inertial = false;
    } else if (strcmp(name, "collision") == 0) {
        r->in_collision = false;
    }
    if (depth == 1) {
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
        return pons__urdf_fault(&r->xml, raw->where,
                                "joint %s joins links that are not there (%s, %s)", name,
                                raw->parent, raw->child);
    }
    if (moves && (!raw->limited || !(j->speed_max > 0.0) || !(j->effort_max > 0.0))) {
        return pons__urdf_fault(&r->xml, raw->where,
                                "joint %s needs a limit with velocity and effort above 0", name);
    }
    if (moves && !raw->continuous && !(j->lower < j->upper)) {
        return pons__urdf_fault(&r->xml, raw->where, "joint %s: lower %g is not below upper %g",
                                name, j->lower, j->upper);
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
            return r->xml.rc;
        }
        raw->j.parent = pons_arm_find_link(a, raw->parent);
        raw->j.child = pons_arm_find_link(a, raw->child);
        if (raw->continuous) {
            raw->j.lower = -INFINITY;
            raw->j.upper = INFINITY;
        }
        if (a->links[raw->j.child].joint != -1 || raw->j.child == raw->j.parent) {
            return pons__urdf_fault(&r->xml, raw->where, "link %s is carried by two joints",
                                    raw->child);
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
        return pons__urdf_fault(&r->xml, URDF_NOWHERE, "the joints form a circle");
    }
    for (int i = 0; i < r->n_joints; i++) {
        const raw_joint *raw = &r->joints[i];
        if (*raw->mimic) {
            const int follows = pons_arm_find_joint(a, raw->mimic);
            if (follows < 0) {
                return pons__urdf_fault(&r->xml, raw->where,
                                        "joint %s follows %s, which is not there", raw->j.name,
                                        raw->mimic);
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
        return pons__urdf_fault(&r->xml, URDF_NOWHERE, "there is no link %s",
                                a->base < 0 ? base : tool);
    }
    int back[PONS_ARM_LINKS], n = 0;
    for (int l = a->tool; l != a->base; l = a->joints[a->links[l].joint].parent) {
        if (a->links[l].joint < 0) {
            return pons__urdf_fault(&r->xml, URDF_NOWHERE, "link %s does not carry link %s", base,
                                    tool);
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
            return pons__urdf_fault(&r->xml, URDF_NOWHERE,
                                    "more than %d joints move between %s and %s", PONS_ARM_JOINTS,
                                    base, tool);
        }
        a->joints[j].place = a->n;
        a->chain[a->n++] = j;
    }
    return a->n > 0 ? PONS_OK
                    : pons__urdf_fault(&r->xml, URDF_NOWHERE, "nothing moves between %s and %s",
                                       base, tool);
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

// ---- the whole ----------------------------------------------------------------------------------

int pons_arm_load(const char *path, const char *base, const char *tool, pons_arm **ret,
                  pons_error *err)
{
    reader *r = calloc(1, sizeof *r);
    pons_arm *a = calloc(1, sizeof *a);
    if (!r || !a) {
        free(r);
        free(a);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for an arm");
    }
    *r = (reader){.xml = {.module = MODULE,
                          .path = path,
                          .what = "arm",
                          .size_max = FILE_MAX,
                          .start = on_start,
                          .end = on_end,
                          .user = r,
                          .err = err},
                  .a = a};
    int rc = pons__urdf_read(&r->xml);
    rc = rc < 0 ? rc : link_up(r);
    rc = rc < 0 ? rc : find_chain(r, base, tool);
    if (rc == PONS_OK) {
        make_samples(a);
        *ret = a;
        a = NULL;
    }
    free(a);
    free(r);
    return rc;
}

void pons_arm_destroy(pons_arm *a)
{
    free(a);
}
