// detector_line.c - a detector's findings as a line of JSON, and back: checked on both sides, for the process may be
// anybody's module.
#include "sight/detector_line.h"

#include "pons/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 32, SIDE_MAX = 65536 }; // of the depth, in each direction; pixels

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

const char *pons__detected_wrong(const pons_detected *d, int width, int height)
{
    const double *b = d->box, *q = d->quaternion;
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
    if (d->posed && (!finite_all(d->position, 3) || !finite_all(q, 4) || d->position[2] <= 0.0 ||
                     fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) > 1e-3 ||
                     !finite_all(&d->sd_m, 1) || !finite_all(&d->sd_rad, 1) || d->sd_m < 0.0 ||
                     d->sd_rad < 0.0)) {
        return "its pose is none";
    }
    return NULL;
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
        const double x = box[0] + box[2] * (0.25 + 0.5 * (i % SAMPLES + 0.5) / SAMPLES);
        const double y = box[1] + box[3] * (0.25 + 0.5 * ((double)(i / SAMPLES) + 0.5) / SAMPLES);
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

static pons_value *reals(const double *v, size_t n)
{
    pons_value *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_real(v[i]));
    }
    return list;
}

static pons_value *real_or_none(double v, bool known)
{
    return known && isfinite(v) ? json_real(v) : PONS_ABSENT;
}

static pons_value *found_value(const pons__boxed *b)
{
    const pons_detected *d = &b->what;
    return pons_object(
        "label", json_string(d->label), "identity",
        *d->identity ? json_string(d->identity) : PONS_ABSENT, "score", json_real(d->score), "box",
        reals(d->box, 4), "depth_m", real_or_none(b->depth_m, true), "depth_sd_m",
        real_or_none(b->depth_sd_m, true), "position",
        d->posed ? reals(d->position, 3) : PONS_ABSENT, "quaternion",
        d->posed ? reals(d->quaternion, 4) : PONS_ABSENT, "sd_m", real_or_none(d->sd_m, d->posed),
        "sd_rad", real_or_none(d->sd_rad, d->posed), NULL);
}

char *pons__detector_line_text(const pons__detector_line *l)
{
    pons_autovalue v = NULL;
    if (!l->stamp_ns) {
        v = *l->error ? pons_object("error", json_string(l->error), NULL)
                      : pons_object("waits", json_true(), NULL);
        return v ? json_dumps(v, JSON_COMPACT) : NULL;
    }
    pons_value *found = json_array();
    for (size_t i = 0; i < l->n; i++) {
        json_array_append_new(found, found_value(&l->found[i]));
    }
    v = pons_object("stamp_ns", json_integer(l->stamp_ns), "clock",
                    json_string(l->wall ? "wall" : "robot"), "width", json_integer(l->width),
                    "height", json_integer(l->height), "took_ms", json_real(l->took_ms), "found",
                    found, "refused", *l->error ? json_string(l->error) : PONS_ABSENT, NULL);
    return v ? json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
}

static bool read_reals(const pons_value *list, double *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pons_value *v = json_array_get(list, i);
        ret[i] = json_is_number(v) ? json_number_value(v) : NAN;
    }
    return json_array_size(list) == n;
}

static const char *read_found(const pons_value *v, int width, int height, pons__boxed *ret)
{
    pons_detected *d = &ret->what;
    *ret = (pons__boxed){.depth_m = pons_get_num(v, "depth_m", NAN),
                         .depth_sd_m = pons_get_num(v, "depth_sd_m", NAN)};
    const char *label = pons_get_str(v, "label", ""), *identity = pons_get_str(v, "identity", "");
    if (strlen(label) >= sizeof d->label || strlen(identity) >= sizeof d->identity) {
        return "its label or identity is too long";
    }
    memcpy(d->label, label, strlen(label) + 1);
    memcpy(d->identity, identity, strlen(identity) + 1);
    d->score = pons_get_num(v, "score", NAN);
    d->posed = pons_get(v, "position") != NULL;
    if (!read_reals(pons_get(v, "box"), d->box, 4) ||
        (d->posed && (!read_reals(pons_get(v, "position"), d->position, 3) ||
                      !read_reals(pons_get(v, "quaternion"), d->quaternion, 4)))) {
        return "its box or pose is none";
    }
    d->sd_m = pons_get_num(v, "sd_m", NAN);
    d->sd_rad = pons_get_num(v, "sd_rad", NAN);
    return pons__detected_wrong(d, width, height);
}

int pons__detector_line_read(const char *text, size_t n, pons__detector_line *ret, pons_error *err)
{
    pons_autovalue v = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const pons_value *found = pons_get(v, "found");
    const char *why = NULL;
    ret->stamp_ns = pons_get_int(v, "stamp_ns", 0);
    ret->wall = strcmp(pons_get_str(v, "clock", ""), "wall") == 0;
    ret->width = (int)pons_get_int(v, "width", 0);
    ret->height = (int)pons_get_int(v, "height", 0);
    ret->took_ms = pons_get_num(v, "took_ms", 0.0);
    ret->n = 0;
    snprintf(ret->error, sizeof ret->error, "%s",
             pons_get_str(v, "error", pons_get_str(v, "refused", "")));
    if (!json_is_object(v)) {
        why = "it is no JSON object";
    } else if (pons_get(v, "error") || pons_get(v, "waits")) {
        ret->stamp_ns = 0;
        return PONS_OK;
    } else if (ret->stamp_ns <= 0 || ret->width < 1 || ret->height < 1 || ret->width > SIDE_MAX ||
               ret->height > SIDE_MAX || !json_is_array(found)) {
        why = "it has no stamp, size or list of what was found";
    } else if (json_array_size(found) > PONS_DETECTED_MAX) {
        why = "it has more than 256 detections";
    }
    pons_each(item, why ? NULL : found) {
        why = why ? why : read_found(item, ret->width, ret->height, &ret->found[ret->n++]);
    }
    return why ? pons_error_set(err, PONS_EPROTOCOL, "sight", "a line is none: %s", why) : PONS_OK;
}
