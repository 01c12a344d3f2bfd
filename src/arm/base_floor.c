// base_floor.c - what a base covers of the floor, what it drives on, and where its lidar looks from.
#include "arm/base_urdf_internal.h"

#include <math.h>
#include <string.h>

enum {
    ROUND = 16, // corners that stand for a circle
    POINTS_MAX = 256
};
static const double SAME_M = 0.01;       // a pair's wheels differ in x and in y by no more
static const double ALONG = 0.95;        // of an axis that counts as the base's own
static const double LIDAR_UPRIGHT = 0.9; // of its axis; else it does not look around

// A joint's axis in the base.
static void axis_of(const pons__base *b, const pons__base_joint *j, double ret[3])
{
    const double zero[3] = {0};
    double o[3], p[3];
    pons_pose3_point(&b->links[j->to].pose, zero, o);
    pons_pose3_point(&b->links[j->to].pose, j->axis, p);
    for (int i = 0; i < 3; i++) {
        ret[i] = p[i] - o[i];
    }
}

static bool is_wheel(const pons__base *b, const pons__base_joint *j)
{
    double axis[3];
    const bool named = strstr(j->name, "wheel") || strstr(j->child, "wheel");
    axis_of(b, j, axis);
    return b->links[j->from].rigid && fabs(axis[1]) >= ALONG &&
           (strcmp(j->type, "continuous") == 0 || (named && strcmp(j->type, "revolute") == 0));
}

// Of the round shape that a wheel's link has; else how high its middle is, if the base lies on the floor.
static double radius_of(const pons__base *b, int wheel, bool on_floor)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < b->n_shapes; i++) {
            const pons__base_shape *s = &b->shapes[i];
            if (s->link == wheel && s->visual == (pass == 1) &&
                (s->kind == PONS__BASE_CYLINDER || s->kind == PONS__BASE_SPHERE)) {
                return s->size[0];
            }
        }
    }
    const double zero[3] = {0};
    double at[3];
    pons_pose3_point(&b->links[wheel].pose, zero, at);
    return on_floor && at[2] > 0.0 ? at[2] : NAN;
}

static void find_wheels(const pons__base *b, bool on_floor, bool *wheel, pons_base_urdf *ret)
{
    const double zero[3] = {0};
    ret->wheel_radius_m = ret->wheel_max_radps = NAN;
    for (int i = 0; i < b->n_joints; i++) {
        double axis[3];
        axis_of(b, &b->joints[i], axis);
        const bool steers = strcmp(b->joints[i].type, "fixed") != 0 && fabs(axis[2]) >= ALONG &&
                            strstr(b->joints[i].name, "steer");
        ret->steers = ret->steers || steers;
    }
    for (int i = 0; i < b->n_joints; i++) {
        const pons__base_joint *left = &b->joints[i];
        double p[3], q[3];
        pons_pose3_point(&b->links[left->to].pose, zero, p);
        if (!is_wheel(b, left) || p[1] <= 0.0) {
            continue; // a pair is found by its left one
        }
        for (int k = 0; k < b->n_joints; k++) {
            const pons__base_joint *right = &b->joints[k];
            pons_pose3_point(&b->links[right->to].pose, zero, q);
            if (!is_wheel(b, right) || fabs(p[0] - q[0]) > SAME_M || fabs(p[1] + q[1]) > SAME_M ||
                fabs(p[2] - q[2]) > SAME_M) {
                continue;
            }
            wheel[left->to] = wheel[right->to] = true;
            ret->wheels += 2;
            ret->track_m = fmax(ret->track_m, p[1] - q[1]);
            ret->wheel_radius_m = fmax(ret->wheel_radius_m, radius_of(b, left->to, on_floor));
            ret->wheel_max_radps =
                fmin(ret->wheel_max_radps, fmin(left->speed_max, right->speed_max));
            break;
        }
    }
}

// The corners of a shape, or of what is around it, seen from above.
static void corners(const pons__base *b, const pons__base_shape *s, pons_value *ret)
{
    const pons_pose3 at = pons_pose3_compose(&b->links[s->link].pose, &s->at);
    const double grow = 1.0 / cos(M_PI / ROUND); // a polygon that holds the circle
    const int n = s->kind == PONS__BASE_BOX ? 8 : 2 * ROUND;
    for (int i = 0; i < n; i++) {
        const int corner = i / 2;
        const double end = i % 2 ? 0.5 : -0.5, a = 2.0 * M_PI * (corner + 0.5) / ROUND;
        double p[3] = {0}, q[3];
        if (s->kind == PONS__BASE_BOX) {
            for (int k = 0; k < 3; k++) {
                p[k] = (i >> k & 1 ? 0.5 : -0.5) * s->size[k];
            }
        } else if (s->kind == PONS__BASE_CYLINDER) {
            p[0] = s->size[0] * grow * cos(a);
            p[1] = s->size[0] * grow * sin(a);
            p[2] = end * s->size[1];
        }
        pons_pose3_point(&at, p, q);
        if (s->kind == PONS__BASE_SPHERE) {
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
    pons_each(p, points) {
        for (size_t k = 0; k < 2; k++) {
            low[k] = fmin(low[k], json_number_value(json_array_get(p, k)));
            high[k] = fmax(high[k], json_number_value(json_array_get(p, k)));
        }
    }
    return json_pack("[[f,f],[f,f],[f,f],[f,f]]", low[0], low[1], high[0], low[1], high[0], high[1],
                     low[0], high[1]);
}

static int find_footprint(pons__base *b, const bool *wheel, pons_base_urdf *ret)
{
    pons_autovalue points = json_array();
    for (int i = 0; points && i < b->n_shapes; i++) {
        const pons__base_shape *s = &b->shapes[i];
        const pons__base_link *l = &b->links[s->link];
        if (s->visual && l->collides) {
            continue;
        }
        const bool moves = !(l->rigid || wheel[s->link]);
        if (moves || s->kind == PONS__BASE_MESH) {
            if (ret->meshes + ret->moving == 0) {
                memcpy(ret->left_out, l->name, sizeof ret->left_out);
            }
            ret->moving += moves;
            ret->meshes += !moves;
            continue;
        }
        corners(b, s, points);
        if (json_array_size(points) > POINTS_MAX - 2 * ROUND) { // the hull's reader has its limit
            pons_value *fewer = around(points);
            pons_value_unref(points);
            points = fewer;
        }
    }
    if (!points) {
        return pons_error_set(b->xml.err, PONS_ENOMEM, b->xml.module, "no memory for a footprint");
    }
    if (ret->meshes + ret->moving > 0 || json_array_size(points) == 0) {
        return PONS_OK; // a part of the outline is none
    }
    const char *bad = pons_footprint_read(points, &ret->footprint);
    if (bad) {
        pons_autovalue box = around(points);
        bad = pons_footprint_read(box, &ret->footprint);
    }
    ret->has_footprint = !bad;
    return bad ? pons__urdf_fault(&b->xml, URDF_NOWHERE, "%s", bad) : PONS_OK;
}

// Of a link that looks around: one that stands on its side sees the floor and the ceiling. Of two, the one ahead.
static void find_lidar(const pons__base *b, pons_base_urdf *ret)
{
    static const char *const words[] = {"scan", "lidar", "laser"};
    ret->lidar_range_m[0] = ret->lidar_range_m[1] = NAN;
    for (size_t w = 0; w < 3 && !ret->has_lidar; w++) {
        for (int i = 0; i < b->n_links; i++) {
            const pons__base_link *l = &b->links[i];
            if (l->rigid && strstr(l->name, words[w])) {
                const double zero[3] = {0};
                double rpy[3], at[3];
                pons_pose3_rpy(&l->pose, rpy);
                pons_pose3_point(&l->pose, zero, at);
                if (fabs(cos(rpy[0]) * cos(rpy[1])) < LIDAR_UPRIGHT ||
                    (ret->has_lidar && at[0] <= ret->lidar_pose[0] + SAME_M)) {
                    continue;
                }
                memcpy(ret->lidar_pose, at, sizeof at);
                ret->lidar_pose[3] = rpy[2];
                memcpy(ret->lidar, l->name, sizeof ret->lidar);
                ret->has_lidar = true;
                const pons__base_sensor *s = pons__base_sensor_at(b, l->name);
                ret->lidar_range_m[0] = s ? s->range_m[0] : NAN;
                ret->lidar_range_m[1] = s ? s->range_m[1] : NAN;
            }
        }
    }
}

int pons__base_understand(pons__base *b, bool on_floor, pons_base_urdf *ret)
{
    bool wheel[PONS__BASE_LINKS] = {false};
    find_wheels(b, on_floor, wheel, ret);
    find_lidar(b, ret);
    return find_footprint(b, wheel, ret);
}
