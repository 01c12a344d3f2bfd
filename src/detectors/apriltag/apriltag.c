// apriltag.c - the detector `apriltag`: printed tags, by libapriltag, with their poses where their size is known.
//
// A tag's frame is the library's: the origin in its middle, x to its right, y down, z into what it sticks to. A tag that
// faces the camera upright has no rotation. How well that is known comes from half a pixel at its corners: a distance
// z errs by z²/(f·size), a slant by about z/(f·size), each times that half pixel.
#include "pons/ext/detector.h"
#include "pons/module.h"

#include <apriltag/apriltag.h>
#include <apriltag/apriltag_pose.h>
#include <apriltag/tag16h5.h>
#include <apriltag/tag25h9.h>
#include <apriltag/tag36h11.h>
#include <apriltag/tagStandard41h12.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "apriltag"
enum { SMALLEST_PX = 16, FINE_PIXELS = 1024 * 1024 };
static const double CORNER_PX = 0.5, MARGIN_SURE = 30.0;
static const double SLANT_WORSE = 2.0; // a slant shows in the corners less than a distance does

static const struct family {
    const char *name;
    apriltag_family_t *(*create)(void);
    void (*destroy)(apriltag_family_t *);
    bool sure; // its codes differ in so many bits that another pattern is not taken for one
} families[] = {{"tag36h11", tag36h11_create, tag36h11_destroy, true},
                {"tag25h9", tag25h9_create, tag25h9_destroy, true},
                {"tag16h5", tag16h5_create, tag16h5_destroy, false},
                {"tagStandard41h12", tagStandard41h12_create, tagStandard41h12_destroy, true}};

static const struct family *family_of(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strlen(families[i].name) == n && strncmp(families[i].name, name, n) == 0) {
            return &families[i];
        }
    }
    return NULL;
}

typedef struct tags {
    const struct family *family;
    apriltag_family_t *codes;
    apriltag_detector_t *detector;
    double size_m; // 0: not known
    pons_value *sizes, *labels;
} tags;

static void tags_close(void *self)
{
    tags *t = self;
    if (t) {
        if (t->detector) {
            apriltag_detector_destroy(t->detector);
        }
        if (t->codes) {
            t->family->destroy(t->codes);
        }
        pons_value_unref(t->sizes);
        pons_value_unref(t->labels);
        free(t);
    }
}

static int tags_open(const pons_value *config, void **ret_self, pons_error *err)
{
    const char *name = pons_get_str(config, "family", "tag36h11");
    const struct family *family = family_of(name, strlen(name));
    const double size = pons_get_num(config, "size_m", 0.0);
    if (!family) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "there is no family '%.40s' of tags", name);
    }
    if (!(size >= 0.0) || !isfinite(size)) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "size_m is the side of a tag in metres");
    }
    tags *t = calloc(1, sizeof *t);
    if (!t) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a detector");
    }
    *t = (tags){.family = family,
                .size_m = size,
                .codes = family->create(),
                .detector = apriltag_detector_create(),
                .sizes = json_deep_copy(pons_get(config, "sizes_m")),
                .labels = json_deep_copy(pons_get(config, "labels"))};
    if (!t->codes || !t->detector) {
        tags_close(t);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a detector");
    }
    apriltag_detector_add_family_bits(t->detector, t->codes, family->sure ? 2 : 0);
    *ret_self = t;
    return PONS_OK;
}

static image_u8_t *grey_of(const pons_picture_raw *p)
{
    image_u8_t *grey = image_u8_create((unsigned)p->width, (unsigned)p->height);
    for (int y = 0; grey && y < p->height; y++) {
        const uint8_t *from = p->rgb + 3 * (size_t)y * (size_t)p->width;
        for (int x = 0; x < p->width; x++, from += 3) {
            grey->buf[y * grey->stride + x] =
                (uint8_t)((77 * from[0] + 150 * from[1] + 29 * from[2]) >> 8);
        }
    }
    return grey;
}

// What takes the square (−1, 1), (1, 1), (1, −1), (−1, −1) to the corners (Heckbert 1989, the square to a quadrilateral).
static void homography_of(double p[4][2], matd_t *ret)
{
    double m[3][3] = {{0}}, s[2], u[2], v[2];
    for (int k = 0; k < 2; k++) {
        s[k] = p[0][k] - p[1][k] + p[2][k] - p[3][k];
        u[k] = p[1][k] - p[2][k];
        v[k] = p[3][k] - p[2][k];
    }
    const double det = u[0] * v[1] - v[0] * u[1];
    m[2][0] = (s[0] * v[1] - v[0] * s[1]) / det;
    m[2][1] = (u[0] * s[1] - s[0] * u[1]) / det;
    m[2][2] = 1.0;
    for (int k = 0; k < 2; k++) {
        m[k][0] = p[1][k] - p[0][k] + m[2][0] * p[1][k];
        m[k][1] = p[3][k] - p[0][k] + m[2][1] * p[3][k];
        m[k][2] = p[0][k];
    }
    for (unsigned i = 0; i < 3; i++) {
        MATD_EL(ret, i, 0) = 0.5 * m[i][0];
        MATD_EL(ret, i, 1) = -0.5 * m[i][1];
        MATD_EL(ret, i, 2) = 0.5 * m[i][0] + 0.5 * m[i][1] + m[i][2];
    }
}

// The corners as a lens without distortion would have them.
static void undistort(apriltag_detection_t *d, const pons_lens *lens)
{
    for (int i = 0; i < 4; i++) {
        double at[2];
        pons_lens_ray(lens, d->p[i][0], d->p[i][1], at);
        d->p[i][0] = lens->cx + lens->fx * at[0];
        d->p[i][1] = lens->cy + lens->fy * at[1];
    }
    homography_of(d->p, d->H);
}

static void quaternion_of(const matd_t *m, double ret[4])
{
    double r[3][3];
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 3; k++) {
            r[i][k] = MATD_EL(m, i, k);
        }
    }
    const double four[4] = {1 + r[0][0] - r[1][1] - r[2][2], 1 - r[0][0] + r[1][1] - r[2][2],
                            1 - r[0][0] - r[1][1] + r[2][2], 1 + r[0][0] + r[1][1] + r[2][2]};
    int big = 0;
    for (int i = 1; i < 4; i++) {
        big = four[i] > four[big] ? i : big;
    }
    const double q = 0.5 * sqrt(fmax(four[big], 1e-12)), s = 0.25 / q;
    const double w[3] = {r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]};
    for (int i = 0; i < 3; i++) {
        ret[i] = s * (big == 3 ? w[i] : r[i][big] + r[big][i]);
    }
    ret[3] = s * w[big % 3];
    ret[big] = q;
}

static void pose_of(apriltag_detection_t *d, double size, const pons_lens *lens, pons_detected *ret)
{
    apriltag_pose_t pose = {0};
    bool bends = false;
    for (int i = 0; i < 5; i++) {
        bends = bends || lens->distortion[i] != 0.0;
    }
    if (bends) {
        undistort(d, lens);
    }
    apriltag_detection_info_t info = {
        .det = d, .tagsize = size, .fx = lens->fx, .fy = lens->fy, .cx = lens->cx, .cy = lens->cy};
    estimate_tag_pose(&info, &pose);
    if (pose.R && pose.t) {
        const double f = sqrt(lens->fx * lens->fy);
        for (unsigned i = 0; i < 3; i++) {
            ret->position[i] = MATD_EL(pose.t, i, 0);
        }
        quaternion_of(pose.R, ret->quaternion);
        ret->sd_m = CORNER_PX * ret->position[2] * ret->position[2] / (f * size);
        ret->sd_rad = SLANT_WORSE * CORNER_PX * ret->position[2] / (f * size);
        ret->posed = true;
    }
    free(pose.R); // a block each; Debian's library does not show matd_destroy
    free(pose.t);
}

static void detected_of(const tags *t, apriltag_detection_t *d, const pons_lens *lens,
                        pons_detected *ret)
{
    static const double by_errors[] = {0.99, 0.9, 0.7};
    char number[16];
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    snprintf(number, sizeof number, "%d", d->id);
    *ret = (pons_detected){0};
    snprintf(ret->label, sizeof ret->label, "%s", pons_get_str(t->labels, number, "tag"));
    snprintf(ret->identity, sizeof ret->identity, "%s:%d", t->family->name, d->id);
    const double margin = fmin(1.0, fmax(0.0, (double)d->decision_margin) / MARGIN_SURE);
    ret->score = by_errors[d->hamming < 2 ? d->hamming : 2] * margin;
    ret->score *= t->family->sure ? 1.0 : 0.8;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], d->p[i][k]);
            high[k] = fmax(high[k], d->p[i][k]);
        }
    }
    ret->box[0] = low[0], ret->box[1] = low[1], ret->box[2] = high[0] - low[0],
    ret->box[3] = high[1] - low[1];
    const double size = pons_get_num(t->sizes, number, t->size_m);
    if (size > 0.0) {
        pose_of(d, size, lens, ret);
    }
}

static int tags_detect(void *self, const pons_picture_raw *p, const pons_lens *lens,
                       pons_detected ret[PONS_DETECTED_MAX], size_t *ret_n, pons_error *err)
{
    tags *t = self;
    *ret_n = 0;
    if (p->width < SMALLEST_PX || p->height < SMALLEST_PX) {
        return PONS_OK; // no tag is that small, and the library wants room
    }
    image_u8_t *grey = grey_of(p);
    if (!grey) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a picture");
    }
    t->detector->quad_decimate = (int64_t)p->width * p->height > FINE_PIXELS ? 2.0f : 1.0f;
    zarray_t *found = apriltag_detector_detect(t->detector, grey);
    image_u8_destroy(grey);
    if (!found) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for what was found");
    }
    for (int i = 0; i < zarray_size(found) && *ret_n < PONS_DETECTED_MAX; i++) {
        apriltag_detection_t *d;
        zarray_get(found, i, &d);
        detected_of(t, d, lens, &ret[(*ret_n)++]);
    }
    apriltag_detections_destroy(found);
    return PONS_OK;
}

static int tags_draw(const char *identity, pons_picture_raw *ret, pons_error *err)
{
    const size_t n = strcspn(identity, ":");
    const struct family *family = family_of(identity, n);
    char *end = NULL;
    const bool numbered = family && identity[n] && isdigit((unsigned char)identity[n + 1]);
    const long id = numbered ? strtol(identity + n + 1, &end, 10) : -1;
    apriltag_family_t *codes = family ? family->create() : NULL;
    if (!codes || !end || *end || id < 0 || id >= (long)codes->ncodes) {
        const int rc =
            pons_error_set(err, PONS_ENOTFOUND, MODULE,
                           "there is no tag '%.60s'; they are called as tag36h11:7", identity);
        if (codes) {
            family->destroy(codes);
        }
        return rc;
    }
    image_u8_t *grey = apriltag_to_image(codes, (int)id);
    uint8_t *rgb = grey ? malloc(3 * (size_t)grey->width * (size_t)grey->height) : NULL;
    if (rgb) {
        for (int i = 0; i < 3 * grey->width * grey->height; i++) {
            rgb[i] = grey->buf[i / 3 / grey->width * grey->stride + i / 3 % grey->width];
        }
        *ret = (pons_picture_raw){.width = grey->width, .height = grey->height, .rgb = rgb};
    }
    if (grey) {
        image_u8_destroy(grey);
    }
    family->destroy(codes);
    return rgb ? PONS_OK : pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a picture");
}

static const pons_detector_ops ops = {.abi = PONS_DETECTOR_ABI,
                                      .open = tags_open,
                                      .detect = tags_detect,
                                      .close = tags_close,
                                      .draw = tags_draw};

PONS_MODULE_EXPORT("detector", "apriltag", &ops);
