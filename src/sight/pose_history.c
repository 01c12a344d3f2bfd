// pose_history.c - two rings: poses at least 20 ms apart, scans at least 200 ms apart.
#include "sight/pose_history.h"

#include <math.h>
#include <stdlib.h>

static const int64_t POSE_EVERY_NS = 20000000, SCAN_EVERY_NS = 200000000, SCAN_NEAR_NS = 250000000;
static const int64_t GAP_NS = 1000000000; // between two reports: beyond, nobody knows what happened

static pons_pose2 pose_of(const pons_report_pose *p)
{
    return (pons_pose2){p->x, p->y, p->yaw};
}

static void add_scan(pons__pose_history *h, const pons_value *v)
{
    const pons_scan *last = h->n_scans ? &h->scans[(h->n_scans - 1) % PONS__SCANS] : NULL;
    const pons_value *ranges = pons_get(v, "ranges");
    const int64_t stamp = pons_get_int(v, "stamp_ns", 0);
    if (!v || json_array_size(ranges) > PONS_SCAN_MAX ||
        (last && stamp < last->stamp_ns + SCAN_EVERY_NS)) {
        return;
    }
    pons_scan *s = &h->scans[h->n_scans++ % PONS__SCANS];
    *s = (pons_scan){.stamp_ns = stamp,
                     .angle_min = (float)pons_get_num(v, "angle_min", 0.0),
                     .angle_increment = (float)pons_get_num(v, "angle_increment", 0.0),
                     .range_min = (float)pons_get_num(v, "range_min", 0.0),
                     .range_max = (float)pons_get_num(v, "range_max", 0.0),
                     .from = {pons_get_num(v, "x", 0.0), pons_get_num(v, "y", 0.0),
                              pons_get_num(v, "yaw", 0.0)}};
    pons_each(r, ranges) {
        const double range = json_number_value(r);
        s->ranges[s->n++] = range > 0.0 ? (float)range : INFINITY; // 0: no return
    }
}

void pons__pose_add(pons__pose_history *h, const pons_report_senses *r, int64_t wall_ns)
{
    const pons__pose_at *last = h->n ? &h->poses[(h->n - 1) % PONS__POSES] : NULL;
    if (last && (r->stamp_ns < last->robot_ns || wall_ns < last->wall_ns)) {
        h->n = h->n_scans = 0;
        last = NULL;
    }
    add_scan(h, r->scan);
    if (last && r->stamp_ns < last->robot_ns + POSE_EVERY_NS) {
        return;
    }
    h->poses[h->n++ % PONS__POSES] = (pons__pose_at){
        .robot_ns = r->stamp_ns,
        .wall_ns = wall_ns,
        .in_map = pons_pose_compose(pose_of(&r->map_from_odom), pose_of(&r->odom_from_base)),
        .sd_m = r->pose_std_m,
        .speed_mps = fabs(r->twist.v),
        .turn_radps = fabs(r->twist.w),
        .placed = r->placed};
}

static int64_t stamp_of(const pons__pose_at *p, bool wall)
{
    return wall ? p->wall_ns : p->robot_ns;
}

bool pons__pose_at_stamp(const pons__pose_history *h, int64_t stamp_ns, bool wall,
                         pons__pose_at *ret, bool *ret_soon, const char **why)
{
    const uint64_t first = h->n > PONS__POSES ? h->n - PONS__POSES : 0;
    uint64_t low = first, high = h->n; // the first report that is not before the stamp
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (stamp_of(&h->poses[middle % PONS__POSES], wall) < stamp_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *ret_soon = low == h->n;
    *why = "the body has not said where it was at the picture's time";
    if (low == h->n) {
        return false;
    }
    const pons__pose_at *b = &h->poses[low % PONS__POSES];
    const pons__pose_at *a = low > first ? &h->poses[(low - 1) % PONS__POSES] : b;
    const int64_t t0 = stamp_of(a, wall), t1 = stamp_of(b, wall);
    if (stamp_ns < t0 || t1 - t0 > GAP_NS) {
        return false;
    }
    const double share = t1 > t0 ? (double)(stamp_ns - t0) / (double)(t1 - t0) : 1.0;
    *ret = *b;
    ret->robot_ns = a->robot_ns + llround(share * (double)(b->robot_ns - a->robot_ns));
    ret->wall_ns = a->wall_ns + llround(share * (double)(b->wall_ns - a->wall_ns));
    ret->in_map = (pons_pose2){
        a->in_map.x + share * (b->in_map.x - a->in_map.x),
        a->in_map.y + share * (b->in_map.y - a->in_map.y),
        pons_wrap_angle(a->in_map.yaw + share * pons_wrap_angle(b->in_map.yaw - a->in_map.yaw))};
    ret->placed = a->placed && b->placed;
    ret->sd_m = fmax(a->sd_m, b->sd_m);
    *why = ret->placed ? NULL : "the robot did not know where it was at the picture's time";
    return ret->placed;
}

const pons_scan *pons__scan_at(const pons__pose_history *h, int64_t robot_ns)
{
    const pons_scan *best = NULL;
    for (uint64_t i = h->n_scans > PONS__SCANS ? h->n_scans - PONS__SCANS : 0; i < h->n_scans;
         i++) {
        const pons_scan *s = &h->scans[i % PONS__SCANS];
        if (llabs(s->stamp_ns - robot_ns) <= SCAN_NEAR_NS &&
            (!best || llabs(s->stamp_ns - robot_ns) < llabs(best->stamp_ns - robot_ns))) {
            best = s;
        }
    }
    return best;
}
