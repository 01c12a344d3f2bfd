// conformance.c - the suite of detectors: they find what they must, again after whatever else they were shown, change no
// picture, write nothing that is none, and say why a configuration does not do.
#include "detectors/conformance.h"

#include "pons/module.h"
#include "pons/random.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 7u

const pons_detector_ops *detector_ops(const char *kind)
{
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_module_load("detector", kind, &ops, &err);
    if (rc == PONS_ENOTFOUND) {
        printf("left out: %s\n", err.message);
        skip();
    }
    assert_int_equal(rc, PONS_OK);
    assert_int_equal(((const pons_detector_ops *)ops)->abi, PONS_DETECTOR_ABI);
    return ops;
}

// What it writes has an end, and numbers that are some; whether the place makes sense is asked elsewhere.
static void check(const pons_detected *found, size_t n)
{
    assert_true(n <= PONS_DETECTED_MAX);
    for (size_t i = 0; i < n; i++) {
        assert_true(strnlen(found[i].label, sizeof found[i].label) < sizeof found[i].label);
        assert_true(strnlen(found[i].identity, sizeof found[i].identity) <
                    sizeof found[i].identity);
        assert_true(found[i].score >= 0 && found[i].score <= 1);
    }
}

static void finds(const pons_detector_ops *ops, void *self, const detector_subject *s)
{
    static pons_detected found[PONS_DETECTED_MAX];
    pons_error err = PONS_ERROR_INIT;
    const size_t bytes = 3 * (size_t)s->picture.width * (size_t)s->picture.height;
    uint8_t *before = malloc(bytes);
    size_t n = 999;
    memcpy(before, s->picture.rgb, bytes);
    memset(found, 0, sizeof found);
    const int rc = ops->detect(self, &s->picture, &s->lens, found, &n, &err);
    if (rc < 0) {
        fail_msg("%s: %s", s->kind, err.message);
    }
    check(found, n);
    assert_memory_equal(before, s->picture.rgb, bytes);
    free(before);
    size_t i = 0;
    while (i < n && strcmp(found[i].label, s->label) != 0) {
        i++;
    }
    if (i == n) {
        fail_msg("%s: %zu found, no %s", s->kind, n, s->label);
    }
    for (int k = 0; k < 4; k++) {
        if (fabs(found[i].box[k] - s->box[k]) > s->near_px) {
            fail_msg("%s: side %d of the box is %.2f, not %.2f", s->kind, k, found[i].box[k],
                     s->box[k]);
        }
    }
}

// Pictures of any size and of noise: a detector finds nothing in them, or something; it says so, or why not.
static void other_pictures(const pons_detector_ops *ops, void *self)
{
    static const int sizes[][2] = {{1, 1},   {1, 400}, {400, 1},   {2, 2},      {7, 3},
                                   {15, 16}, {17, 33}, {640, 480}, {3000, 2000}};
    static pons_detected found[PONS_DETECTED_MAX];
    pons_rand rand;
    pons_rand_seed(&rand, SEED);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int noise = 0; noise < (sizes[i][0] > 1000 ? 1 : 3); noise++) {
            pons_picture_raw p = {.width = sizes[i][0], .height = sizes[i][1]};
            const size_t pixels = (size_t)p.width * (size_t)p.height;
            const pons_lens lens = {.fx = 500,
                                    .fy = 500,
                                    .cx = 0.5 * p.width,
                                    .cy = 0.5 * p.height,
                                    .distortion = {noise ? -0.2 : 0}};
            pons_error err = PONS_ERROR_INIT;
            size_t n = 999;
            p.rgb = calloc(pixels, 3);
            p.depth = noise == 2 ? calloc(pixels, sizeof *p.depth) : NULL;
            for (size_t k = 0; noise && k < 3 * pixels; k++) {
                p.rgb[k] = (uint8_t)pons_rand_below(&rand, 256);
            }
            memset(found, 0, sizeof found);
            const int rc = ops->detect(self, &p, &lens, found, &n, &err);
            if (rc >= 0) {
                check(found, n);
            } else {
                assert_true(*err.message);
            }
            free(p.rgb);
            free(p.depth);
        }
    }
}

void detector_conformance(const detector_subject *s)
{
    const pons_detector_ops *ops = detector_ops(s->kind);
    pons_error err = PONS_ERROR_INIT;
    void *one = NULL, *other = NULL;
    ops->close(NULL);
    if (ops->open(s->config, &one, &err) < 0) {
        fail_msg("%s: %s", s->kind, err.message);
    }
    finds(ops, one, s);
    other_pictures(ops, one);
    finds(ops, one, s); // it is as it was
    assert_int_equal(ops->open(s->config, &other, &err), PONS_OK);
    finds(ops, other, s);
    ops->close(one);
    finds(ops, other, s);
    ops->close(other);
    for (const struct detector_refusal *r = s->refused; r->json; r++) {
        pons_autovalue config = json_loads(r->json, 0, NULL);
        void *none = NULL;
        err = (pons_error)PONS_ERROR_INIT;
        assert_non_null(config);
        assert_true(ops->open(config, &none, &err) < 0);
        assert_null(none);
        if (!strstr(err.message, r->says)) {
            fail_msg("%s: '%s' does not say '%s'", r->json, err.message, r->says);
        }
    }
}
