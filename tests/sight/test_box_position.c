// test_box_position.c - boxes of pictures get their places: cameras, lenses and things are made up (the seed is printed), what
// the camera, its depth or the lidar would give of them is computed here, and the place must be the thing's, within
// what the covariance says. Then the robot's poses at a picture's stamp, and the lines of a detector's process.
#include "pons/random.h"
#include "sight/box_position.h"
#include "sight/pose_history.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20261129u

static pons_value *world_of(const double at[3], const double to[3], const char *on)
{
    pons_value *w = json_pack("{s[{ss s[fff] s[fff] sf}]}", "cameras", "id", "c", "at", at[0],
                              at[1], at[2], "look_at", to[0], to[1], to[2], "fovy_deg", 50.0);
    if (on) {
        json_object_set_new(json_array_get(json_object_get(w, "cameras"), 0), "on",
                            json_string(on));
    }
    return w;
}

static void optical(const pons__camera *c, const double p[3], double ret[3])
{
    for (int i = 0; i < 3; i++) {
        ret[i] = 0.0;
        for (int k = 0; k < 3; k++) {
            ret[i] += c->axes[3 * k + i] * (p[k] - c->eye[k]);
        }
    }
}

// A standing cylinder of this radius and height, its foot at x, y: the box around its corners as the lens draws them.
static bool box_of(const pons__camera *c, const pons_lens *l, double x, double y, double r,
                   double h, double ret[4])
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < 72; i++) {
        const double a = i * M_PI / 18.0, p[3] = {x + r * cos(a), y + r * sin(a), i < 36 ? 0.0 : h};
        double o[3], at[2];
        optical(c, p, o);
        if (!pons__lens_pixel(l, o, at) || at[0] < 1 || at[1] < 1 || at[0] > 638 || at[1] > 478) {
            return false;
        }
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    ret[0] = low[0], ret[1] = low[1], ret[2] = high[0] - low[0], ret[3] = high[1] - low[1];
    return true;
}

static pons_scan scan_of(double x, double y, double r)
{
    pons_scan s = {.n = 360,
                   .angle_min = (float)-M_PI,
                   .angle_increment = (float)(2.0 * M_PI / 360),
                   .range_min = 0.05f,
                   .range_max = 10.0f,
                   .from = {0.05, -0.02, 0.1}};
    for (int i = 0; i < s.n; i++) {
        const double a = s.from.yaw + (double)s.angle_min + i * (double)s.angle_increment;
        const double dx = x - s.from.x, dy = y - s.from.y;
        const double along = dx * cos(a) + dy * sin(a), across = dy * cos(a) - dx * sin(a);
        s.ranges[i] =
            along > 0 && fabs(across) < r ? (float)(along - sqrt(r * r - across * across)) : 9.0f;
    }
    return s;
}

static double off(const pons__placed *p, double x, double y)
{
    return hypot(p->position[0] - x, p->position[1] - y);
}

// How many sigmas the level error is, by the covariance's level part.
static double sigmas(const pons__placed *p, double x, double y)
{
    const double dx = p->position[0] - x, dy = p->position[1] - y;
    const double a = p->cov[0], b = p->cov[1], d = p->cov[4], det = a * d - b * b;
    assert_true(det > 0.0);
    return sqrt((d * dx * dx - 2.0 * b * dx * dy + a * dy * dy) / det);
}

static void test_cylinders(void **state)
{
    pons_rand rand;
    pons_rand_seed(&rand, SEED);
    printf("seed %u\n", SEED);
    double worst[4] = {0}; // pose, depth, lidar, floor
    int n = 0;
    while (n < 500) {
        const double at[3] = {0.1, 0.0, 0.4 + 0.8 * pons_rand_unit(&rand)};
        const double to[3] = {2.0, pons_rand_unit(&rand) - 0.5, 0.5 * pons_rand_unit(&rand)};
        const double x = 0.8 + 3.0 * pons_rand_unit(&rand), y = 2.0 * pons_rand_unit(&rand) - 1.0;
        const double r = 0.03 + 0.1 * pons_rand_unit(&rand), h = 0.25 + 0.4 * pons_rand_unit(&rand);
        pons_autovalue w = world_of(at, to, "base");
        pons__camera c;
        assert_int_equal(pons__camera_of(w, "c", &c, NULL), PONS_OK);
        const pons_lens l = pons__camera_lens(c.entry, 640, 480);
        pons__boxed b = {
            .what = {.label = "post", .score = 0.9}, .depth_m = NAN, .depth_sd_m = NAN};
        if (!box_of(&c, &l, x, y, r, h, b.what.box)) {
            continue;
        }
        n++;
        const pons_scan s = scan_of(x, y, r);
        pons__placed p;
        const char *why;
        assert_true(pons__box_place(&c, &l, 480, &b, &s, 6.0, &p, &why));
        assert_string_equal(p.by, "lidar");
        worst[2] = fmax(worst[2], off(&p, x, y));
        assert_true(sigmas(&p, x, y) < 4.0);
        assert_true(pons__box_place(&c, &l, 480, &b, NULL, 6.0, &p, &why));
        assert_string_equal(p.by, "floor");
        worst[3] = fmax(worst[3], off(&p, x, y));
        assert_true(sigmas(&p, x, y) < 4.0);
        double ray[3] = {0.0, 0.0, 1.0}, middle[3] = {x, y, 0.5 * h}, o[3];
        optical(&c, middle, o);
        pons_lens_ray(&l, b.what.box[0] + 0.5 * b.what.box[2], b.what.box[1] + 0.5 * b.what.box[3],
                      ray);
        b.depth_m = o[2] - r;
        b.depth_sd_m = 0.01;
        assert_true(pons__box_place(&c, &l, 480, &b, &s, 6.0, &p, &why));
        assert_string_equal(p.by, "depth");
        worst[1] = fmax(worst[1], off(&p, x, y));
        assert_true(sigmas(&p, x, y) < 4.0);
        b.what.posed = true;
        memcpy(b.what.position, o, sizeof o);
        b.what.sd_m = 0.01;
        assert_true(pons__box_place(&c, &l, 480, &b, &s, 6.0, &p, &why));
        assert_string_equal(p.by, "pose");
        worst[0] = fmax(worst[0], off(&p, x, y));
        assert_true(fabs(p.position[2] - 0.5 * h) < 1e-9);
        assert_false(pons__box_place(&c, &l, 480, &b, &s, 0.5, &p, &why)); // range_m
    }
    printf("worst error: pose %.4f, depth %.3f, lidar %.3f, floor %.3f m\n", worst[0], worst[1],
           worst[2], worst[3]);
    assert_true(worst[0] < 1e-9 && worst[1] < 0.1 && worst[2] < 0.1 && worst[3] < 0.15);
}

// What says nothing of how far it is gives no place.
static void test_no_place(void **state)
{
    const double at[3] = {0.0, 0.0, 0.5}, level[3] = {1.0, 0.0, 0.5};
    pons_autovalue w = world_of(at, level, NULL);
    pons__camera c;
    pons__placed p;
    const char *why = NULL;
    assert_int_equal(pons__camera_of(w, "c", &c, NULL), PONS_OK);
    assert_false(c.on_base);
    const pons_lens l = pons__camera_lens(c.entry, 640, 480);
    const double boxes[][4] = {
        {300, 100, 40, 60},
        {300, 300, 40, 180}}; // above the horizon; its foot is below the picture
    for (size_t i = 0; i < 2; i++) {
        pons__boxed b = {.what = {.label = "x", .score = 1}, .depth_m = NAN};
        memcpy(b.what.box, boxes[i], sizeof b.what.box);
        assert_false(pons__box_place(&c, &l, 480, &b, NULL, 6.0, &p, &why));
        assert_non_null(strstr(why, "how far"));
    }
    // The beams pass under what hangs high.
    pons__boxed high = {.what = {.label = "lamp", .score = 1, .box = {310, 50, 20, 30}},
                        .depth_m = NAN};
    const pons_scan s = scan_of(2.0, 0.0, 0.2);
    assert_false(pons__box_place(&c, &l, 480, &high, &s, 6.0, &p, &why));
}

static void test_cameras(void **state)
{
    pons_error err = PONS_ERROR_INIT;
    pons__camera c;
    const double at[3] = {0, 0, 1}, down[3] = {0, 0, 0};
    pons_autovalue straight = world_of(at, down, NULL);
    assert_int_equal(pons__camera_of(straight, "c", &c, &err),
                     PONS_OK); // straight down: still three axes
    assert_true(fabs(c.axes[2]) < 1e-9 && fabs(c.axes[8] + 1.0) < 1e-9);
    assert_int_equal(pons__camera_of(straight, "d", &c, &err), PONS_ENOTFOUND);
    pons_autovalue arm = world_of(at, down, "link7");
    err = (pons_error)PONS_ERROR_INIT;
    assert_int_equal(pons__camera_of(arm, "c", &c, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "link7"));
    pons_autovalue blind = world_of(at, at, NULL);
    assert_int_equal(pons__camera_of(blind, "c", &c, NULL), PONS_EINVAL);
}

// A calibrated lens: what it bends, the ray takes back; a picture of half the size has half of its numbers.
static void test_lens(void **state)
{
    pons_autovalue entry = json_pack("{si si s{sf sf sf sf s[fffff]}}", "width", 640, "height", 480,
                                     "lens", "fx", 500.0, "fy", 510.0, "cx", 325.0, "cy", 235.0,
                                     "distortion", -0.2, 0.05, 0.001, -0.0005, 0.0);
    const pons_lens l = pons__camera_lens(entry, 640, 480),
                    half = pons__camera_lens(entry, 320, 240);
    assert_true(fabs(half.fx - 250.0) < 1e-9 && fabs(half.cy - 117.5) < 1e-9 &&
                half.distortion[0] < 0);
    for (double x = -0.5; x <= 0.5; x += 0.1) {
        for (double y = -0.4; y <= 0.4; y += 0.1) {
            const double *k = l.distortion, r2 = x * x + y * y,
                         radial = 1 + k[0] * r2 + k[1] * r2 * r2;
            const double u = x * radial + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x);
            const double v = y * radial + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y;
            double back[2];
            pons_lens_ray(&l, l.cx + l.fx * u, l.cy + l.fy * v, back);
            assert_true(hypot(back[0] - x, back[1] - y) < 1e-4);
        }
    }
}

static pons_report_senses senses(double t, double x, double yaw)
{
    return (pons_report_senses){.stamp_ns = (int64_t)(t * 1e9),
                                .odom_from_base = {x, 0, yaw},
                                .map_from_odom = {1, 2, 0},
                                .placed = true,
                                .pose_std_m = 0.02,
                                .twist = {.v = 0.5}};
}

static void test_poses(void **state)
{
    static pons__pose_history h;
    pons__pose_at at;
    bool soon;
    const char *why;
    assert_false(pons__pose_at_stamp(&h, 1, false, &at, &soon, &why));
    for (int i = 0; i <= 600;
         i++) { // a minute at 10 Hz, half a metre a second, turning through 180 degrees
        pons_report_senses r = senses(100 + 0.1 * i, 0.05 * i, pons_wrap_angle(3.0 + 0.01 * i));
        r.scan = i % 5 == 0 ? json_pack("{sI sf sf sf sf s[fff] sf sf sf}", "stamp_ns",
                                        (json_int_t)r.stamp_ns, "angle_min", 0.0, "angle_increment",
                                        0.1, "range_min", 0.1, "range_max", 5.0, "ranges", 1.0, 0.0,
                                        2.0, "x", 0.1, "y", 0.0, "yaw", 0.0)
                            : NULL;
        pons__pose_add(&h, &r, 1000000000000 + r.stamp_ns);
        pons_value_unref((pons_value *)(uintptr_t)r.scan);
    }
    assert_true(
        pons__pose_at_stamp(&h, 114250000000, false, &at, &soon, &why)); // never the newest one
    assert_true(fabs(at.in_map.x - (1 + 7.125)) < 1e-6 && fabs(at.in_map.y - 2) < 1e-9);
    assert_true(fabs(pons_wrap_angle(at.in_map.yaw - (3.0 + 1.425))) < 1e-6);
    assert_int_equal(at.wall_ns, 1114250000000);
    assert_true(pons__pose_at_stamp(&h, 1114250000000, true, &at, &soon, &why));
    assert_int_equal(at.robot_ns, 114250000000);
    assert_false(pons__pose_at_stamp(&h, 99000000000, false, &at, &soon, &why));
    assert_false(soon);
    assert_non_null(strstr(why, "where it was"));
    assert_false(pons__pose_at_stamp(&h, 161000000000, false, &at, &soon, &why));
    assert_true(soon); // the report after it may still come
    const pons_scan *s = pons__scan_at(&h, 150120000000);
    assert_non_null(s);
    assert_int_equal(s->stamp_ns, 150000000000);
    assert_true(s->n == 3 && isinf(s->ranges[1]));
    assert_null(pons__scan_at(&h, 170000000000));
    pons_report_senses later =
        senses(165, 40, 0); // nothing was heard for five seconds: nobody knows what was between
    pons__pose_add(&h, &later, 1165000000000);
    assert_false(pons__pose_at_stamp(&h, 162000000000, false, &at, &soon, &why));
    pons_report_senses lost = senses(165.1, 40, 0);
    lost.placed = false;
    pons__pose_add(&h, &lost, 1165100000000);
    assert_false(pons__pose_at_stamp(&h, 165050000000, false, &at, &soon, &why));
    assert_non_null(strstr(why, "did not know"));
    pons_report_senses again = senses(3, 0, 0); // another body
    pons__pose_add(&h, &again, 1166000000000);
    assert_false(pons__pose_at_stamp(&h, 114250000000, false, &at, &soon, &why));
    assert_true(pons__pose_at_stamp(&h, 3000000000, false, &at, &soon, &why));
}

#define VIEW(eye, axes, lens)                                                                      \
    "{\"stamp_ns\":1,\"wall\":false,\"width\":9,\"height\":9,\"took_ms\":1.0,\"found\":[],"        \
    "\"picture\":\"\",\"view\":{\"eye\":" eye ",\"axes\":" axes ",\"lens\":" lens "}}"

// A line goes out and comes back the same; what is none is refused, whatever it is.
static void test_lines(void **state)
{
    static pons__detector_line l = {.stamp_ns = 7,
                                    .wall = true,
                                    .width = 640,
                                    .height = 480,
                                    .took_ms = 3,
                                    .picture = "abc",
                                    .n = 2,
                                    .view = {.placed = true,
                                             .eye = {0.1, 0.2, 0.3},
                                             .axes = {0, 0, 1, -1, 0, 0, 0, -1, 0},
                                             .lens = {500, 501, 320, 240, {0.1, 0, 0, 0, -0.2}}}},
                               back;
    l.found[0] = (pons__boxed){.what = {.label = "杯子", .score = 0.5, .box = {-3, 1, 10, 20}},
                               .depth_m = 1.5,
                               .depth_sd_m = 0.1};
    l.found[1] = (pons__boxed){.what = {.label = "tag",
                                        .identity = "tag36h11:7",
                                        .score = 1,
                                        .box = {1, 2, 3, 4},
                                        .posed = true,
                                        .position = {0.1, 0.2, 2},
                                        .quaternion = {0, 0, 0, 1},
                                        .sd_m = 0.02,
                                        .sd_rad = 0.01},
                               .depth_m = NAN,
                               .depth_sd_m = NAN};
    char *text = pons__detector_line_text(&l);
    assert_non_null(text);
    assert_int_equal(pons__detector_line_read(text, strlen(text), &back, NULL), PONS_OK);
    assert_int_equal(back.n, 2);
    assert_string_equal(back.picture, "abc");
    assert_true(back.wall && back.stamp_ns == 7 && back.width == 640);
    assert_string_equal(back.found[0].what.label, "杯子");
    assert_true(isnan(back.found[1].depth_m) && back.found[1].what.posed &&
                fabs(back.found[0].depth_m - 1.5) < 1e-6);
    assert_true(fabs(back.found[1].what.position[2] - 2.0) < 1e-6);
    assert_true(back.view.placed && back.view.eye[2] == 0.3 && back.view.axes[3] == -1.0);
    assert_memory_equal(&back.view.lens, &l.view.lens, sizeof l.view.lens);
    for (size_t n = 0; n < strlen(text); n++) { // cut anywhere
        assert_int_equal(pons__detector_line_read(text, n, &back, NULL), PONS_EPROTOCOL);
    }
    free(text);
    static const char *const bad[] = {
        "",
        "nonsense",
        "[]",
        "{}",
        "\xff\xfe",
        "{\"stamp_ns\":0,\"wall\":false,\"width\":1,\"height\":1,\"took_ms\":1.0,\"found\":[]}",
        "{\"stamp_ns\":1,\"wall\":false,\"width\":0,\"height\":1,\"took_ms\":1.0,\"found\":[]}",
        "{\"stamp_ns\":1,\"wall\":false,\"width\":9,\"height\":9,\"took_ms\":1.0,\"found\":[{}]}",
        "{\"stamp_ns\":1,\"wall\":false,\"width\":9,\"height\":9,\"took_ms\":1.0,\"found\":[{"
        "\"label\":\"\",\"identity\":\"\",\"score\":1.0,\"box\":[1.0,1.0,1.0,1.0]}]}",
        "{\"stamp_ns\":1,\"wall\":false,\"width\":9,\"height\":9,\"took_ms\":1.0,\"found\":[{"
        "\"label\":\"a\",\"identity\":\"\",\"score\":1.1,\"box\":[1.0,1.0,1.0,1.0]}]}",
        "{\"stamp_ns\":1,\"wall\":false,\"width\":9,\"height\":9,\"took_ms\":1.0,\"found\":[{"
        "\"label\":\"a\",\"identity\":\"\",\"score\":1.0,\"box\":[9.5,1.0,1.0,1.0]}]}",
        "{\"stamp_ns\":1,\"wall\":false,\"width\":9,\"height\":9,\"took_ms\":1.0,\"found\":[{"
        "\"label\":\"a\",\"identity\":\"\",\"score\":1.0,\"box\":[1.0,1.0,1.0,1e9]}]}",
        "{\"stamp_ns\":1,\"wall\":false,\"width\":9,\"height\":9,\"took_ms\":1.0,\"found\":[{"
        "\"label\":\"a\",\"identity\":\"\",\"score\":1.0,\"box\":[1.0,1.0,1.0,1.0],\"pose\":[0.0,0."
        "0,-1.0,0.0,0.0,0.0,1.0,0.0,0.0]}]}",
        VIEW("[0,0]", "[0,0,1,-1,0,0,0,-1,0]", "[1,1,0,0,0,0,0,0,0]"),
        VIEW("[0,0,0]", "[0,0,1,-1,0,0,0,-1,0]", "[1,1,0,0,0,0,0,0,1e9]"),
        VIEW("[0,0,0]", "[0,0,1,-1,0,0,0,-1,0]", "[1,0,0,0,0,0,0,0,0]"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pons__detector_line_read(bad[i], strlen(bad[i]), &back, NULL),
                         PONS_EPROTOCOL);
    }
    pons_detected d = {.label = "a", .score = NAN, .box = {1, 1, 1, 1}};
    assert_non_null(pons__detected_wrong(&d, 9, 9));
    d.score = 0.5, d.box[2] = NAN;
    assert_non_null(pons__detected_wrong(&d, 9, 9));
    d.box[2] = 2;
    assert_null(pons__detected_wrong(&d, 9, 9));
    memset(d.label, 'a', sizeof d.label); // no end
    assert_non_null(pons__detected_wrong(&d, 9, 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cylinders), cmocka_unit_test(test_no_place),
        cmocka_unit_test(test_cameras),   cmocka_unit_test(test_lens),
        cmocka_unit_test(test_poses),     cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
