// view_from_report.c - a simulated detector's report as a view.
//
// The report has the robot's pose at the stamp and places in its base, so the localizer's error is in what the memory
// gets; the view says how large it is.
#include "sight/view_from_report.h"

#include "pons/geometry.h"

#include <stdio.h>

static const double POSE_SD_M = 0.05, POSE_SD_RAD = 0.02; // where nobody says; at least

static void in_map(const pons_report_pose *pose, double x, double y, double ret[3])
{
    ret[0] = pose->x + x * cos(pose->yaw) - y * sin(pose->yaw);
    ret[1] = pose->y + x * sin(pose->yaw) + y * cos(pose->yaw);
}

bool pons__simulated_view_of(const pons_report_sees *r, const char *detector, const char *boot_id,
                             int64_t at_ms, pons__simulated_view *ret)
{
    if (!r->placed) {
        return false;
    }
    pons_object_view *v = &ret->view;
    snprintf(ret->source, sizeof ret->source, "%.63s/%.63s@%.63s", detector, r->camera, boot_id);
    *v = (pons_object_view){.detector = detector,
                            .source = ret->source,
                            .stamp_ns = r->stamp_ns,
                            .at_ms = at_ms,
                            .yaw = pons_wrap_angle(r->pose.yaw + r->eye_yaw),
                            .fov_rad = r->fov_rad,
                            .near_m = r->near_m,
                            .far_m = r->far_m,
                            .pose_sd_m = fmax(r->pose_std_m, POSE_SD_M), // also for NAN
                            .pose_sd_rad = POSE_SD_RAD,
                            .miss = r->miss};
    in_map(&r->pose, r->eye_x, r->eye_y, v->eye);
    v->eye[2] = r->eye_z;
    ret->n = 0;
    pons_each(item, r->detections) {
        pons_report_detection d;
        if (ret->n == PONS_OBJECT_DETECTIONS) {
            break;
        }
        pons_report_detection_read(item, &d);
        pons_detection *to = &ret->found[ret->n++];
        *to = (pons_detection){.label = d.label, .identity = d.identity, .score = d.score};
        in_map(&r->pose, d.x, d.y, to->position);
        to->position[2] = d.z;
        to->cov[0] = to->cov[2] = to->cov[3] = d.sd_m * d.sd_m;
    }
    return true;
}
