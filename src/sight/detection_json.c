// detection_json.c - a detector's findings as a line of JSON, and back: checked on both sides, for the process may be
// anybody's module.
#include "sight/detection_json.h"

#include "pons/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 32,
    SIDE_MAX = 65536,
    LENS = 9
}; // of the depth, in each direction; pixels; numbers

static bool is_text(const char *text)
{
    const size_t n = strnlen(text, PONS_DETECTED_TEXT);
    return n < PONS_DETECTED_TEXT && pons_utf8_valid(text, n) == n;
}

static bool finite_all(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i]) || fabs(v[i]) > 1e6) {
            return false;
        }
    }
    return true;
}

static bool pose_wrong(const pons_detected *d)
{
    const double *q = d->quaternion, sd[2] = {d->sd_m, d->sd_rad};
    const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return !finite_all(d->position, 3) || !finite_all(q, 4) || !finite_all(sd, 2) ||
           d->position[2] <= 0.0 || fabs(n - 1.0) > 1e-3 || d->sd_m < 0.0 || d->sd_rad < 0.0;
}

const char *pons__detected_wrong(const pons_detected *d, int width, int height)
{
    const double *b = d->box;
    if (!*d->label || !is_text(d->label) || !is_text(d->identity)) {
        return "its label or identity is no text";
    }
    if (!(d->score >= 0.0 && d->score <= 1.0)) {
        return "its score is not within 0 … 1";
    }
    if (!finite_all(b, 4) || b[2] <= 0.0 || b[3] <= 0.0 || b[0] >= width || b[1] >= height ||
        b[0] + b[2] <= 0.0 || b[1] + b[3] <= 0.0) {
        return "its box is not in the picture";
    }
    return d->posed && pose_wrong(d) ? "its pose is none" : NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void pons__boxed_depth(pons__boxed *b, const pons_picture_raw *p)
{
    double all[SAMPLES * SAMPLES];
    size_t n = 0;
    const double *box = b->what.box;
    b->depth_m = b->depth_sd_m = NAN;
    for (int i = 0; p->depth && i < SAMPLES * SAMPLES; i++) { // the middle half, where the thing is
        const int row = i / SAMPLES, column = i % SAMPLES;
        const double x = box[0] + box[2] * (0.25 + 0.5 * (column + 0.5) / SAMPLES);
        const double y = box[1] + box[3] * (0.25 + 0.5 * (row + 0.5) / SAMPLES);
        if (x >= 0.0 && y >= 0.0 && x < p->width && y < p->height) {
            const double z = (double)p->depth[(size_t)y * (size_t)p->width + (size_t)x];
            if (isfinite(z) && z > 0.0) {
                all[n++] = z;
            }
        }
    }
    if (n > 0) {
        qsort(all, n, sizeof *all, by_size);
        b->depth_m = all[n / 2];
        b->depth_sd_m = fmax(0.01, (all[3 * n / 4] - all[n / 4]) / 1.35);
    }
}

// What is not a number is left out.
static void add_number(pons_value *v, const char *key, double number)
{
    if (isfinite(number)) {
        json_object_set_new(v, key, json_real(number));
    }
}

static pons_value *found_value(const pons__boxed *b)
{
    const pons_detected *d = &b->what;
    const double *box = d->box, *p = d->position, *q = d->quaternion;
    pons_value *v = json_pack("{ss ss sf s[ffff]}", "label", d->label, "identity", d->identity,
                              "score", d->score, "box", box[0], box[1], box[2], box[3]);
    add_number(v, "depth_m", b->depth_m);
    add_number(v, "depth_sd_m", b->depth_sd_m);
    if (v && d->posed) {
        json_object_set_new(v, "pose",
                            json_pack("[fff ffff ff]", p[0], p[1], p[2], q[0], q[1], q[2], q[3],
                                      d->sd_m, d->sd_rad));
    }
    return v;
}

#define NINE(x)                                                                                    \
    x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8] // of doubles, or of places for them

static void add_view(pons_value *line, const pons_camera_view *v)
{
    const double *eye = v->eye, *r = v->axes, *k = v->lens.distortion;
    if (v->placed) {
        json_object_set_new(line, "view",
                            json_pack("{s[fff] s[fffffffff] s[fffffffff]}", "eye", eye[0], eye[1],
                                      eye[2], "axes", NINE(r), "lens", v->lens.fx, v->lens.fy,
                                      v->lens.cx, v->lens.cy, k[0], k[1], k[2], k[3], k[4]));
    }
}

char *pons__detector_line_text(const pons__detector_line *l)
{
    pons_autovalue v = NULL;
    if (!l->stamp_ns) {
        v = *l->error ? json_pack("{ss}", "error", l->error) : json_pack("{sb}", "waits", 1);
    } else {
        pons_value *found = json_array();
        for (size_t i = 0; i < l->n; i++) {
            json_array_append_new(found, found_value(&l->found[i]));
        }
        v = json_pack("{sI sb si si sf so ss ss}", "stamp_ns", (json_int_t)l->stamp_ns, "wall",
                      l->wall, "width", l->width, "height", l->height, "took_ms", l->took_ms,
                      "found", found, "picture", l->picture, "refused", l->error);
        add_view(v, &l->view);
    }
    return v ? json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
}

static const char *read_found(pons_value *v, int width, int height, pons__boxed *ret)
{
    pons_detected *d = &ret->what;
    double *box = d->box, *p = d->position, *q = d->quaternion;
    const char *label, *identity;
    pons_value *pose = json_object_get(v, "pose");
    *ret = (pons__boxed){.depth_m = NAN, .depth_sd_m = NAN};
    d->posed = pose != NULL;
    if (json_unpack(v, "{sssssFs[FFFF]s?Fs?F}", "label", &label, "identity", &identity, "score",
                    &d->score, "box", &box[0], &box[1], &box[2], &box[3], "depth_m", &ret->depth_m,
                    "depth_sd_m", &ret->depth_sd_m) != 0 ||
        (pose && json_unpack(pose, "[FFFFFFFFF]", &p[0], &p[1], &p[2], &q[0], &q[1], &q[2], &q[3],
                             &d->sd_m, &d->sd_rad) != 0)) {
        return "a detection lacks something";
    }
    snprintf(d->label, sizeof d->label, "%s", label);
    snprintf(d->identity, sizeof d->identity, "%s", identity);
    return pons__detected_wrong(d, width, height);
}

static bool read_view(pons_value *v, pons_camera_view *ret)
{
    double eye[3], r[9], lens[9];
    *ret = (pons_camera_view){.placed = v != NULL};
    if (!v) {
        return true;
    }
    if (json_unpack(v, "{s[FFF!] s[FFFFFFFFF!] s[FFFFFFFFF!]}", "eye", &eye[0], &eye[1], &eye[2],
                    "axes", NINE(&r), "lens", NINE(&lens)) != 0 ||
        !finite_all(eye, 3) || !finite_all(r, 9) || !finite_all(lens, 9)) {
        return false;
    }
    memcpy(ret->eye, eye, sizeof eye);
    memcpy(ret->axes, r, sizeof r);
    ret->lens = (pons_lens){.fx = lens[0], .fy = lens[1], .cx = lens[2], .cy = lens[3]};
    memcpy(ret->lens.distortion, lens + 4, sizeof ret->lens.distortion);
    return ret->lens.fx > 0.0 && ret->lens.fy > 0.0;
}

int pons__detector_line_read(const char *text, size_t n, pons__detector_line *ret, pons_error *err)
{
    pons_autovalue v = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    pons_value *found = NULL;
    json_int_t stamp = 0;
    const char *error = "", *picture = "", *why = NULL;
    int wall = 0;
    ret->n = 0;
    ret->stamp_ns = 0;
    if (json_unpack(v, "{ss}", "error", &error) == 0 || pons_get(v, "waits")) {
        snprintf(ret->error, sizeof ret->error, "%s", error);
        return PONS_OK;
    }
    if (json_unpack(v, "{sIsbsisisFsos?ss?s}", "stamp_ns", &stamp, "wall", &wall, "width",
                    &ret->width, "height", &ret->height, "took_ms", &ret->took_ms, "found", &found,
                    "picture", &picture, "refused", &error) != 0 ||
        stamp <= 0 || ret->width < 1 || ret->height < 1 || ret->width > SIDE_MAX ||
        ret->height > SIDE_MAX) {
        why = "it lacks something";
    } else if (!json_is_array(found) || json_array_size(found) > PONS_DETECTED_MAX) {
        why = "it has more than 256 detections";
    } else if (!read_view(json_object_get(v, "view"), &ret->view)) {
        why = "its view is none";
    }
    for (size_t i = 0; !why && i < json_array_size(found); i++) {
        why = read_found(json_array_get(found, i), ret->width, ret->height, &ret->found[ret->n++]);
    }
    ret->wall = wall != 0;
    snprintf(ret->picture, sizeof ret->picture, "%s", picture);
    ret->stamp_ns = stamp;
    snprintf(ret->error, sizeof ret->error, "%s", error);
    return why ? pons_error_set(err, PONS_EPROTOCOL, "sight", "what it printed is no line: %s", why)
               : PONS_OK;
}
