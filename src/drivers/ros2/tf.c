// tf.c - /tf and /tf_static as a tree.
//
// Each frame knows its parent and, unless the transform is static, the last KEPT of them in the order of
// their stamps; between two it is interpolated (positions straight, rotations along the arc). From one
// frame to another leads the way up to the nearest ancestor that they share, and down again. AMCL stamps
// map → odom a second ahead: a time after the newest sample but before now plus that is asked for as the
// newest (stamp 0), so nothing is ever guessed beyond the last sample.
#include "drivers/ros2/tf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 128, NAME = 64, KEPT = 128, DEEP = 64 };
static const int64_t OLD_NS = 10000000000; // tf2's cache

typedef struct sample {
    int64_t stamp_ns;
    ros2_transform x;
} sample;

typedef struct frame {
    char name[NAME];
    int parent; // -1: none
    bool is_static;
    int n;
    sample kept[KEPT]; // oldest first
} frame;

struct ros2_tf {
    int n;
    frame at[FRAMES];
};

static const ros2_transform IDENTITY = {.q = {0, 0, 0, 1}};

const char *ros2_frame(const char *name)
{
    return name + (*name == '/');
}

static int find(const ros2_tf *t, const char *name)
{
    name = ros2_frame(name);
    for (int i = 0; i < t->n; i++) {
        if (strcmp(t->at[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static int find_or_add(ros2_tf *t, const char *name)
{
    name = ros2_frame(name);
    const int i = find(t, name);
    if (i >= 0 || t->n == FRAMES || strlen(name) >= NAME) {
        return i;
    }
    frame *f = &t->at[t->n];
    f->parent = -1;
    f->n = 0;
    f->is_static = false;
    snprintf(f->name, sizeof f->name, "%s", name);
    return t->n++;
}

static void turn(const double q[4], const double v[3], double ret[3])
{
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]),
                 tz = 2 * (x * v[1] - y * v[0]);
    ret[0] = v[0] + w * tx + y * tz - z * ty;
    ret[1] = v[1] + w * ty + z * tx - x * tz;
    ret[2] = v[2] + w * tz + x * ty - y * tx;
}

static ros2_transform compose(const ros2_transform *a, const ros2_transform *b)
{
    ros2_transform r;
    turn(a->q, b->p, r.p);
    for (int i = 0; i < 3; i++) {
        r.p[i] += a->p[i];
    }
    const double *p = a->q, *q = b->q;
    r.q[0] = p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1];
    r.q[1] = p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0];
    r.q[2] = p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3];
    r.q[3] = p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2];
    return r;
}

static ros2_transform inverse(const ros2_transform *a)
{
    ros2_transform r = {.q = {-a->q[0], -a->q[1], -a->q[2], a->q[3]}};
    turn(r.q, a->p, r.p);
    for (int i = 0; i < 3; i++) {
        r.p[i] = -r.p[i];
    }
    return r;
}

static ros2_transform between(const ros2_transform *a, const ros2_transform *b, double s)
{
    ros2_transform r;
    double dot = 0, sign = 1, from = 1 - s, to = s, length = 0;
    for (int i = 0; i < 4; i++) {
        dot += a->q[i] * b->q[i];
    }
    if (dot < 0) { // the same rotation the short way round
        dot = -dot;
        sign = -1;
    }
    if (dot < 0.9995) {
        const double angle = acos(dot);
        from = sin((1 - s) * angle) / sin(angle);
        to = sin(s * angle) / sin(angle);
    }
    for (int i = 0; i < 4; i++) {
        r.q[i] = from * a->q[i] + sign * to * b->q[i];
        length += r.q[i] * r.q[i];
    }
    for (int i = 0; i < 4; i++) {
        r.q[i] /= sqrt(length);
    }
    for (int i = 0; i < 3; i++) {
        r.p[i] = a->p[i] + s * (b->p[i] - a->p[i]);
    }
    return r;
}

ros2_tf *ros2_tf_create(void)
{
    return calloc(1, sizeof(ros2_tf));
}

void ros2_tf_destroy(ros2_tf *t)
{
    free(t);
}

void ros2_tf_clear(ros2_tf *t)
{
    for (int i = 0; i < t->n; i++) {
        if (!t->at[i].is_static) {
            t->at[i].n = 0;
        }
    }
}

double ros2_yaw(const double q[4])
{
    return atan2(2 * (q[3] * q[2] + q[0] * q[1]), 1 - 2 * (q[1] * q[1] + q[2] * q[2]));
}

bool ros2_is_rotation(const double q[4])
{
    const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return isfinite(n) && fabs(n - 1) < 0.02;
}

bool ros2_tf_add(ros2_tf *t, const char *parent, const char *child, int64_t stamp_ns,
                 const ros2_transform *x, bool is_static, char *why, size_t cap)
{
    if (!isfinite(x->p[0] + x->p[1] + x->p[2]) || !ros2_is_rotation(x->q)) {
        snprintf(why, cap, "tf: %.60s in %.60s is no number, or no rotation", child, parent);
        return false;
    }
    const int p = find_or_add(t, parent), c = find_or_add(t, child);
    if (p < 0 || c < 0 || p == c || !*t->at[p].name || !*t->at[c].name) {
        snprintf(why, cap, "tf: '%.60s' in '%.60s' is no transform", child, parent);
        return false;
    }
    for (int up = t->at[p].parent, deep = 0; up >= 0 && deep < FRAMES;
         up = t->at[up].parent, deep++) {
        if (up == c) {
            snprintf(why, cap, "tf: %.60s would be its own ancestor, by %.60s", child, parent);
            return false;
        }
    }
    frame *f = &t->at[c];
    if (f->parent != p || is_static) {
        f->n = 0;
    }
    f->parent = p;
    f->is_static = is_static;
    if (f->n > 0 && stamp_ns < f->kept[f->n - 1].stamp_ns - OLD_NS) {
        snprintf(why, cap, "tf: the time of %.60s went back by %.0f s", child,
                 (double)(f->kept[f->n - 1].stamp_ns - stamp_ns) * 1e-9);
        return false;
    }
    if (f->n == KEPT) {
        memmove(f->kept, f->kept + 1, (KEPT - 1) * sizeof *f->kept);
        f->n--;
    }
    int i = f->n;
    while (i > 0 && f->kept[i - 1].stamp_ns > stamp_ns) {
        f->kept[i] = f->kept[i - 1];
        i--;
    }
    if (i > 0 && f->kept[i - 1].stamp_ns == stamp_ns) { // said again: several publishers do
        memmove(f->kept + i, f->kept + i + 1, (size_t)(f->n - i) * sizeof *f->kept);
        f->n--;
        i--;
    }
    f->kept[i] = (sample){stamp_ns, *x};
    f->n++;
    return true;
}

// Of a frame in its parent. false: nothing is known of that time.
static bool sampled(const frame *f, int64_t stamp_ns, ros2_transform *ret)
{
    if (f->n == 0) {
        return false;
    }
    if (f->is_static) {
        *ret = f->kept[0].x;
        return true;
    }
    for (int i = f->n - 1; i >= 0; i--) {
        const sample *a = &f->kept[i];
        if (a->stamp_ns > stamp_ns) {
            continue;
        }
        if (a->stamp_ns == stamp_ns) {
            *ret = a->x;
            return true;
        }
        if (i == f->n - 1) {
            return false; // beyond the newest
        }
        const sample *b = a + 1;
        *ret = between(&a->x, &b->x,
                       (double)(stamp_ns - a->stamp_ns) / (double)(b->stamp_ns - a->stamp_ns));
        return true;
    }
    return false;
}

// The frames from one up to its root, itself first.
static int ancestors(const ros2_tf *t, int of, int ret[DEEP])
{
    int n = 0;
    for (; of >= 0 && n < DEEP; of = t->at[of].parent) {
        ret[n++] = of;
    }
    return n;
}

bool ros2_tf_get(const ros2_tf *t, const char *target, const char *source, int64_t stamp_ns,
                 ros2_transform *ret, int64_t *ret_stamp_ns, char *why, size_t cap)
{
    const int to = find(t, target), from = find(t, source);
    if (to < 0 || from < 0) {
        snprintf(why, cap, "no frame %.60s is in /tf", to < 0 ? target : source);
        return false;
    }
    int a[DEEP], b[DEEP];
    int na = ancestors(t, to, a), nb = ancestors(t, from, b);
    if (a[na - 1] != b[nb - 1]) {
        snprintf(why, cap, "the frames %.50s and %.50s do not connect in /tf", target, source);
        return false;
    }
    while (na > 0 && nb > 0 && a[na - 1] == b[nb - 1]) { // what they share is no part of the way
        na--;
        nb--;
    }
    int64_t newest = INT64_MAX;
    for (int i = 0; i < na + nb; i++) {
        const frame *f = &t->at[i < na ? a[i] : b[i - na]];
        if (!f->is_static && f->n > 0 && f->kept[f->n - 1].stamp_ns < newest) {
            newest = f->kept[f->n - 1].stamp_ns;
        }
    }
    const int64_t at = stamp_ns == 0 ? newest : stamp_ns;
    ros2_transform up[2] = {IDENTITY, IDENTITY}; // target and source in the frame that they share
    for (int i = 0; i < na + nb; i++) {
        const frame *f = &t->at[i < na ? a[i] : b[i - na]];
        ros2_transform x;
        if (!sampled(f, at, &x)) {
            snprintf(why, cap, "/tf does not say where %.60s was at that time", f->name);
            return false;
        }
        up[i >= na] = compose(&x, &up[i >= na]);
    }
    const ros2_transform down = inverse(&up[0]);
    *ret = compose(&down, &up[1]);
    if (ret_stamp_ns) {
        *ret_stamp_ns = newest;
    }
    return true;
}
