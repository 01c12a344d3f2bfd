// path_and_scan.c - the way ahead and the newest scan, for pictures: to observers whose hello asked for them,
// ten times a second.
//
// Both are thinned out: a picture needs no more points than POINTS_MAX of each, and a centimetre is
// less than a pixel. Nothing is made when nobody asked; who is behind with reading misses one.
#include "body/core/body.h"
#include "body/core/link_clients.h"
#include "body/core/telemetry.h"

#include <math.h>

#define POINTS_MAX 180

static bool wanted(const pons__client *c)
{
    return c->link && c->greeted && !c->gone && c->view && !pons_link_wants_write(c->link);
}

static void put(pons_value *list, double x, double y)
{
    json_array_append_new(list, json_real(round(x * 100.0) / 100.0));
    json_array_append_new(list, json_real(round(y * 100.0) / 100.0));
}

static pons_value *path_value(const pons_body *b)
{
    pons_pose2 at[POINTS_MAX];
    const int n = pons__nav_path(b->nav, at, POINTS_MAX);
    pons_value *list = json_array();
    for (int i = 0; list && i < n; i++) {
        put(list, at[i].x, at[i].y);
    }
    return list;
}

// Where beams ended at something; those that met nothing say nothing.
static pons_value *scan_value(const pons_body *b)
{
    const pons_scan *s = &b->scan;
    pons_value *list = json_array();
    const int each = s->n / POINTS_MAX + 1;
    const pons_pose2 eye = pons_pose_compose(b->scan_pose, s->from);
    for (int i = 0; list && b->scans > 0 && i < s->n; i += each) {
        const double r = (double)s->ranges[i];
        if (r > (double)s->range_min && r < (double)s->range_max) {
            const double a = eye.yaw + (double)s->angle_min + i * (double)s->angle_increment;
            put(list, eye.x + r * cos(a), eye.y + r * sin(a));
        }
    }
    return list;
}

// As it was measured, to the millimetre; a beam that met nothing is 0, for JSON has no infinity.
pons_value *pons__laser_value(const pons_body *b)
{
    const pons_scan *s = &b->scan;
    pons_value *ranges = json_array();
    for (int i = 0; ranges && i < s->n; i++) {
        const double r = (double)s->ranges[i];
        const bool met = isfinite(r) && r <= (double)s->range_max;
        json_array_append_new(ranges, json_real(met ? round(r * 1000.0) / 1000.0 : 0.0));
    }
    return pons_object("angle_min", json_real((double)s->angle_min), "angle_increment",
                       json_real((double)s->angle_increment), "range_min",
                       json_real((double)s->range_min), "range_max",
                       json_real((double)s->range_max), "ranges", ranges, "x", json_real(s->from.x),
                       "y", json_real(s->from.y), "yaw", json_real(s->from.yaw), NULL);
}

void pons__body_tell_view(pons_body *b)
{
    bool any = false, whole = false;
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        any = any || wanted(&b->clients[i]);
        whole = whole || (wanted(&b->clients[i]) && b->clients[i].laser);
    }
    if (!any) {
        return;
    }
    pons_autovalue path = path_value(b);
    pons_autovalue scan = scan_value(b);
    pons_autovalue laser = whole && b->scans > 0 ? pons__laser_value(b) : NULL;
    pons_report r = {
        .type = PONS_REPORT_VIEW,
        .as.view = {.robot_ms = b->robot_ns / PONS_NS_PER_MS, .path = path, .scan = scan}};
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        if (wanted(&b->clients[i])) {
            r.as.view.laser = b->clients[i].laser ? laser : NULL;
            pons__client_say(&b->clients[i], &r);
        }
    }
}
