// base_urdf.c - a URDF file becomes a pons_base_urdf.
//
//     urdf_xml.c's elements --> links with their shapes, joints, as the file has them
//                           --> one tree: each link carried once, one root, no circle
//                           --> each link's pose in the base, and what hangs on it rigidly
//     base_sensor.c         --> what Gazebo is told of its lidar's range
//     base_floor.c          --> the hull of what they cover, the pair's distance and radius, the lidar
#include "pons/base_urdf.h"

#include "arm/base_urdf_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE   "urdf"
#define FILE_MAX (4 << 20) // bytes of a description

static const double SIZE_MAX_M = 20.0; // of a shape

// ---- elements -----------------------------------------------------------------------------------

static int find_link(const pons__base *b, const char *name)
{
    for (int i = 0; i < b->n_links; i++) {
        if (strcmp(b->links[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static void begin_link(pons__base *b, const char **attr)
{
    char name[PONS_URDF_NAME];
    if (!pons__urdf_name(&b->xml, attr, "name", PONS_URDF_NAME, name)) {
        return;
    }
    if (find_link(b, name) >= 0) {
        URDF_FAULT(&b->xml, "there are two links %s", name);
    } else if (b->n_links == PONS__BASE_LINKS) {
        URDF_FAULT(&b->xml, "more than %d links", PONS__BASE_LINKS);
    } else {
        b->link = &b->links[b->n_links++];
        *b->link = (pons__base_link){.by = -1, .at = pons__urdf_here(&b->xml)};
        memcpy(b->link->name, name, sizeof name);
    }
}

static void begin_joint(pons__base *b, const char **attr)
{
    static const char *const types[] = {"fixed",     "continuous", "revolute",
                                        "prismatic", "floating",   "planar"};
    const char *type = pons__urdf_attribute(attr, "type");
    bool known = false;
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++) {
        known = known || strcmp(type, types[i]) == 0;
    }
    if (!known) {
        URDF_FAULT(&b->xml, "%.40s is no type of joint", type ? type : "(none)");
    } else if (b->n_joints == PONS__BASE_LINKS) {
        URDF_FAULT(&b->xml, "more than %d joints", PONS__BASE_LINKS);
    } else {
        pons__base_joint *j = &b->joints[b->n_joints];
        *j = (pons__base_joint){.where = pons__urdf_here(&b->xml),
                                .at = pons_pose3_identity(),
                                .axis = {1, 0, 0},
                                .speed_max = NAN};
        snprintf(j->type, sizeof j->type, "%s", type);
        if (pons__urdf_name(&b->xml, attr, "name", PONS_URDF_NAME, j->name)) {
            b->joint = j;
            b->n_joints++;
        }
    }
}

static void in_joint(pons__base *b, const char *name, const char **attr)
{
    pons__base_joint *j = b->joint;
    if (strcmp(name, "origin") == 0) {
        pons__urdf_origin(&b->xml, attr, &j->at);
    } else if (strcmp(name, "parent") == 0) {
        pons__urdf_name(&b->xml, attr, "link", PONS_URDF_NAME, j->parent);
    } else if (strcmp(name, "child") == 0) {
        pons__urdf_name(&b->xml, attr, "link", PONS_URDF_NAME, j->child);
    } else if (strcmp(name, "axis") == 0 && strcmp(j->type, "fixed") &&
               strcmp(j->type, "floating")) {
        pons__urdf_axis(&b->xml, attr, j->name, j->axis);
    } else if (strcmp(name, "limit") == 0) {
        pons__urdf_numbers(&b->xml, attr, "velocity", 1, &j->speed_max);
    }
}

static void add_shape(pons__base *b, const char *name, const char **attr)
{
    pons__base_shape s = {.link = (int)(b->link - b->links), .visual = b->visual, .at = b->origin};
    bool whole = true;
    if (strcmp(name, "box") == 0) {
        s.kind = PONS__BASE_BOX;
        whole = pons__urdf_numbers(&b->xml, attr, "size", 3, s.size) > 0;
    } else if (strcmp(name, "cylinder") == 0) {
        s.kind = PONS__BASE_CYLINDER;
        whole = pons__urdf_numbers(&b->xml, attr, "radius", 1, &s.size[0]) > 0 &&
                pons__urdf_numbers(&b->xml, attr, "length", 1, &s.size[1]) > 0;
        s.size[2] = s.size[1];
    } else if (strcmp(name, "sphere") == 0) {
        s.kind = PONS__BASE_SPHERE;
        whole = pons__urdf_numbers(&b->xml, attr, "radius", 1, &s.size[0]) > 0;
        s.size[1] = s.size[2] = s.size[0];
    } else if (strcmp(name, "mesh") == 0) {
        s.kind = PONS__BASE_MESH;
        s.size[0] = s.size[1] = s.size[2] = 1.0;
    } else {
        return;
    }
    for (int i = 0; i < 3; i++) {
        whole = whole && s.size[i] > 0.0 && s.size[i] <= SIZE_MAX_M;
    }
    if (!whole) {
        URDF_FAULT(&b->xml, "link %s: a <%s> needs sizes above 0 m, and at most %g m",
                   b->link->name, name, SIZE_MAX_M);
    } else if (b->n_shapes == PONS__BASE_SHAPES) {
        URDF_FAULT(&b->xml, "more than %d shapes", PONS__BASE_SHAPES);
    } else {
        b->link->collides = b->link->collides || !s.visual;
        b->shapes[b->n_shapes++] = s;
    }
}

static void in_link(pons__base *b, const char *name, const char **attr)
{
    if (strcmp(name, "collision") == 0 || strcmp(name, "visual") == 0) {
        b->in_shape = true;
        b->visual = *name == 'v';
        b->origin = pons_pose3_identity();
    } else if (b->in_shape && strcmp(name, "origin") == 0) {
        pons__urdf_origin(&b->xml, attr, &b->origin);
    } else if (b->in_shape) {
        add_shape(b, name, attr);
    }
}

static void on_start(void *user, int depth, const char *name, const char **attr)
{
    pons__base *b = user;
    if (depth == 0) {
        const char *who = pons__urdf_attribute(attr, "name");
        snprintf(b->name, sizeof b->name, "%s", who ? who : "");
    } else if (depth == 1 && strcmp(name, "link") == 0) {
        begin_link(b, attr);
    } else if (depth == 1 && strcmp(name, "joint") == 0) {
        begin_joint(b, attr);
    } else if (b->link) {
        in_link(b, name, attr);
    } else if (b->joint) {
        in_joint(b, name, attr);
    } else if (*b->gazebo.link || (depth == 1 && strcmp(name, "gazebo") == 0)) {
        pons__base_gazebo_start(b, name, attr);
    }
}

static void on_text(void *user, const char *part, size_t n)
{
    pons__base_gazebo_text(user, part, n);
}

static void on_end(void *user, int depth, const char *name)
{
    pons__base *b = user;
    if (strcmp(name, "collision") == 0 || strcmp(name, "visual") == 0) {
        b->in_shape = false;
    }
    if (*b->gazebo.link) {
        pons__base_gazebo_end(b, name);
    }
    if (depth == 1) {
        b->link = NULL;
        b->joint = NULL;
    }
}

// ---- the tree -----------------------------------------------------------------------------------

static int link_up(pons__base *b)
{
    for (int i = 0; i < b->n_joints; i++) {
        pons__base_joint *j = &b->joints[i];
        j->from = find_link(b, j->parent);
        j->to = find_link(b, j->child);
        if (j->from < 0 || j->to < 0) {
            return pons__urdf_fault(&b->xml, j->where,
                                    "joint %s joins links that are not there (%s, %s)", j->name,
                                    *j->parent ? j->parent : "none", *j->child ? j->child : "none");
        }
        if (b->links[j->to].by >= 0) {
            return pons__urdf_fault(&b->xml, j->where,
                                    "link %s is carried by two joints, %s and %s", j->child,
                                    b->joints[b->links[j->to].by].name, j->name);
        }
        b->links[j->to].by = i;
    }
    b->root = -1;
    for (int i = 0; i < b->n_links; i++) {
        if (b->links[i].by >= 0) {
            continue;
        }
        if (b->root >= 0) {
            return pons__urdf_fault(&b->xml, b->links[i].at,
                                    "two links are carried by none: %s and %s",
                                    b->links[b->root].name, b->links[i].name);
        }
        b->root = i;
    }
    if (b->n_links == 0) {
        return pons__urdf_fault(&b->xml, URDF_NOWHERE, "the robot has no links");
    }
    if (b->root < 0) {
        return pons__urdf_fault(&b->xml, URDF_NOWHERE, "the joints form a circle");
    }
    b->links[b->root].placed = true;
    b->links[b->root].pose = pons_pose3_identity();
    int placed = 1;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < b->n_joints; i++) {
            const pons__base_joint *j = &b->joints[i];
            pons__base_link *to = &b->links[j->to];
            if (!to->placed && b->links[j->from].placed) {
                to->pose = pons_pose3_compose(&b->links[j->from].pose, &j->at);
                to->placed = more = true;
                placed++;
            }
        }
    }
    return placed == b->n_links
               ? PONS_OK
               : pons__urdf_fault(&b->xml, URDF_NOWHERE, "the joints form a circle");
}

static int find_base(pons__base *b, const char *base, int *ret)
{
    static const char *const usual[] = {"base_footprint", "base_link"};
    *ret = base && *base ? find_link(b, base) : -1;
    if (base && *base && *ret < 0) {
        return pons__urdf_fault(&b->xml, URDF_NOWHERE, "there is no link %s", base);
    }
    for (int i = 0; *ret < 0 && i < 2; i++) {
        *ret = find_link(b, usual[i]);
    }
    *ret = *ret < 0 ? b->root : *ret;
    const pons_pose3 back = pons_pose3_inverse(&b->links[*ret].pose);
    for (int i = 0; i < b->n_links; i++) {
        b->links[i].pose = pons_pose3_compose(&back, &b->links[i].pose);
    }
    // Rigid with it: what fixed joints lead to, up and down.
    b->links[*ret].rigid = true;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < b->n_joints; i++) {
            const pons__base_joint *j = &b->joints[i];
            pons__base_link *from = &b->links[j->from], *to = &b->links[j->to];
            if (strcmp(j->type, "fixed") == 0 && from->rigid != to->rigid) {
                from->rigid = to->rigid = more = true;
            }
        }
    }
    return PONS_OK;
}

// ---- the whole ----------------------------------------------------------------------------------

int pons_base_urdf_load(const char *path, const char *base, pons_base_urdf *ret, pons_error *err)
{
    pons__base *b = calloc(1, sizeof *b);
    pons_base_urdf out = {0};
    int at = -1;
    if (!b) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a robot");
    }
    b->xml = (pons__urdf_xml){.module = MODULE,
                              .path = path,
                              .what = "robot",
                              .size_max = FILE_MAX,
                              .start = on_start,
                              .end = on_end,
                              .text = on_text,
                              .user = b,
                              .err = err};
    int rc = pons__urdf_read(&b->xml);
    rc = rc < 0 ? rc : link_up(b);
    rc = rc < 0 ? rc : find_base(b, base, &at);
    if (rc == PONS_OK) {
        memcpy(out.name, b->name, sizeof out.name);
        memcpy(out.base, b->links[at].name, sizeof out.base);
        out.links = b->n_links;
        out.joints = b->n_joints;
        rc = pons__base_understand(b, strstr(out.base, "footprint") != NULL, &out);
    }
    free(b);
    if (rc == PONS_OK) {
        *ret = out;
    }
    return rc;
}
