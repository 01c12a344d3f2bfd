// camera_view.c - a camera's place from the world's `at` and `look_at`, its lens from a calibration or its field of view.
#include "sight/camera_view.h"

#include <math.h>
#include <string.h>

#define WHERE "sight"
static const double FOVY_USUAL_DEG = 45.0;

// Its picture is level: x to the right stays in the plane of the floor, where that is possible.
static bool look_along(const double at[3], const double to[3], double axes[9])
{
    double ahead[3], n = 0.0;
    for (int i = 0; i < 3; i++) {
        ahead[i] = to[i] - at[i];
        n += ahead[i] * ahead[i];
    }
    n = sqrt(n);
    if (!(n > 1e-9) || !isfinite(n)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        ahead[i] /= n;
    }
    const double level = hypot(ahead[0], ahead[1]);
    double right[3] = {0.0, -1.0, 0.0};
    if (level >= 1e-6) {
        right[0] = ahead[1] / level;
        right[1] = -ahead[0] / level;
    }
    const double down[3] = {ahead[1] * right[2] - ahead[2] * right[1],
                            ahead[2] * right[0] - ahead[0] * right[2],
                            ahead[0] * right[1] - ahead[1] * right[0]};
    for (int i = 0; i < 3; i++) {
        axes[3 * i] = right[i];
        axes[3 * i + 1] = down[i];
        axes[3 * i + 2] = ahead[i];
    }
    return true;
}

int pons__camera_of(const pons_value *world, const char *name, pons__camera *ret, pons_error *err)
{
    const pons_value *entry = pons_find(pons_get(world, "cameras"), "id", name);
    const char *on = pons_get_str(entry, "on", "");
    const pons_value *at = pons_get(entry, "at"), *to = pons_get(entry, "look_at");
    double look[3];
    if (!entry) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE,
                              "there is no camera '%.60s' in this world", name);
    }
    *ret = (pons__camera){.on_base = *on != '\0', .entry = entry};
    if (*on && strcmp(on, "base") != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "camera %.60s is on %.60s, which moves: what it sees has no place",
                              name, on);
    }
    for (size_t i = 0; i < 3; i++) {
        ret->eye[i] = json_number_value(json_array_get(at, i));
        look[i] = json_number_value(json_array_get(to, i));
    }
    if (json_array_size(at) != 3 || json_array_size(to) != 3 ||
        !look_along(ret->eye, look, ret->axes)) {
        return pons_error_set(
            err, PONS_EINVAL, WHERE,
            "camera %.60s needs at and look_at in the world: without, what it sees has no place",
            name);
    }
    return PONS_OK;
}

pons_lens pons__camera_lens(const pons_value *entry, int width, int height)
{
    const pons_value *lens = pons_get(entry, "lens"), *k = pons_get(lens, "distortion");
    pons_lens l = {.cx = 0.5 * width, .cy = 0.5 * height};
    if (!lens) {
        l.fx = l.fy = 0.5 * height /
                      tan(0.5 * pons_get_num(entry, "fovy_deg", FOVY_USUAL_DEG) * M_PI / 180.0);
        return l;
    }
    const double sx = width / pons_get_num(entry, "width", width),
                 sy = height / pons_get_num(entry, "height", height);
    l.fx = sx * pons_get_num(lens, "fx", 1.0);
    l.fy = sy * pons_get_num(lens, "fy", 1.0);
    l.cx = sx * pons_get_num(lens, "cx", l.cx / sx);
    l.cy = sy * pons_get_num(lens, "cy", l.cy / sy);
    for (size_t i = 0; i < 5; i++) {
        l.distortion[i] = json_number_value(json_array_get(k, i));
    }
    return l;
}

bool pons__lens_pixel(const pons_lens *lens, const double p[3], double ret[2])
{
    ret[0] = lens->cx + lens->fx * p[0] / p[2];
    ret[1] = lens->cy + lens->fy * p[1] / p[2];
    return p[2] > 0.0;
}
