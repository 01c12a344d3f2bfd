// test_picture.c - pictures are read, made smaller, blurred, written within a limit, and kept by their contents; what is
// damaged, cut short or too large is one line, and the process goes on.
#include "pons/picture.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CORPUS PONS_SOURCE_DIR "/fuzz/corpus/camera_picture/"

static char dir[] = "/tmp/pons-picture-XXXXXX";

static char *file(const char *name, size_t *ret_n)
{
    char path[512];
    char *bytes = malloc(1 << 16);
    snprintf(path, sizeof path, CORPUS "%s", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    *ret_n = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

static pons_picture_raw decoded(const char *name, int edge)
{
    pons_error err = PONS_ERROR_INIT;
    pons_picture_raw p = {0};
    size_t n = 0;
    char *bytes = file(name, &n);
    if (pons_picture_decode(bytes, n, edge, &p, &err) != PONS_OK) {
        fail_msg("%s: %s", name, err.message);
    }
    free(bytes);
    return p;
}

static const uint8_t *at(const pons_picture_raw *p, int x, int y)
{
    return p->rgb + 3 * (y * p->width + x);
}

static void near(const uint8_t *rgb, int r, int g, int b, int tolerance)
{
    const int want[] = {r, g, b};
    for (int c = 0; c < 3; c++) {
        if (abs(rgb[c] - want[c]) > tolerance) {
            fail_msg("%d %d %d instead of %d %d %d", rgb[0], rgb[1], rgb[2], r, g, b);
        }
    }
}

// A picture of noise, from a seed.
static pons_picture_raw noise(int w, int h)
{
    pons_picture_raw p = {.width = w, .height = h, .rgb = malloc((size_t)(w * h * 3))};
    uint32_t x = 7;
    for (int i = 0; i < w * h * 3; i++) {
        x = x * 1664525 + 1013904223;
        p.rgb[i] = (uint8_t)(x >> 24);
    }
    return p;
}

static void test_kinds_are_read(void **state)
{
    pons_picture_raw p = decoded("rgb.png", 0); // of x·10, y·15, x·y
    assert_int_equal(p.width, 24);
    assert_int_equal(p.height, 16);
    near(at(&p, 23, 15), 230, 225, 90, 0);
    near(at(&p, 3, 7), 30, 105, 21, 0);
    free(p.rgb);
    p = decoded("interlaced.png", 0);
    near(at(&p, 5, 6), 150, 180, 128, 0);
    free(p.rgb);
    p = decoded("grey16.png", 0);
    near(at(&p, 1, 2), 93, 93, 93, 1); // 24000 of 65535
    free(p.rgb);
    p = decoded("alpha.png", 0);
    near(at(&p, 0, 0), 255, 255, 255, 0); // nothing of it is opaque
    free(p.rgb);
    static const char *const jpegs[] = {"baseline.jpg", "progressive.jpg"};
    for (int i = 0; i < 2; i++) {
        p = decoded(jpegs[i], 0);
        assert_int_equal(p.width, 24);
        near(at(&p, 3, 7), 30, 105, 21, 40);
        free(p.rgb);
    }
}

// A JPEG with an Exif block of this orientation, in either order of bytes, behind a segment that is none; the caller's.
static uint8_t *with_exif(const char *jpeg, size_t n, int orientation, bool little, size_t *ret_n)
{
    const uint8_t o = (uint8_t)orientation;
    const uint8_t big_tiff[] = {'M',  'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01,
                                0x12, 0,   3, 0,  0, 0, 1, 0, o, 0, 0};
    const uint8_t little_tiff[] = {'I',  'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12,
                                   0x01, 3,   0,  1, 0, 0, 0, o, 0, 0, 0};
    static const uint8_t before[] = {0xff, 0xd8, 0xff, 0xe1, 0,   4,   'X', 'Y', 0xff,
                                     0xe1, 0,    30,   'E',  'x', 'i', 'f', 0,   0};
    uint8_t *all = malloc(n + sizeof before + sizeof big_tiff);
    memcpy(all, before, sizeof before);
    memcpy(all + sizeof before, little ? little_tiff : big_tiff, sizeof big_tiff);
    memcpy(all + sizeof before + sizeof big_tiff, jpeg + 2, n - 2);
    *ret_n = n + sizeof before + sizeof big_tiff - 2;
    return all;
}

// Of each of the eight ways in which a camera may be held, the picture's first pixel is where the standard has it.
static void test_a_jpeg_is_turned_upright(void **state)
{
    static const struct {
        bool swap, right, down; // where the stored first pixel is shown
    } shown[] = {{0, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1},
                 {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1}, {0, 0, 0}};
    size_t n = 0, all_n = 0;
    char *jpeg = file("baseline.jpg", &n);
    pons_picture_raw is = decoded("baseline.jpg", 0);
    for (int o = 0; o <= 9; o++) {
        for (int little = 0; little < 2; little++) {
            pons_error err = PONS_ERROR_INIT;
            pons_picture_raw p = {0};
            uint8_t *all = with_exif(jpeg, n, o, little, &all_n);
            assert_int_equal(pons_picture_decode(all, all_n, 0, &p, &err), PONS_OK);
            assert_int_equal(p.width, shown[o].swap ? is.height : is.width);
            assert_int_equal(p.height, shown[o].swap ? is.width : is.height);
            const int x = shown[o].right ? p.width - 1 : 0, y = shown[o].down ? p.height - 1 : 0;
            assert_memory_equal(at(&p, x, y), is.rgb, 3);
            // and the last pixel of the first row, which tells a turn from a mirror
            const int dx = shown[o].right ? -1 : 1, dy = shown[o].down ? -1 : 1;
            const uint8_t *end = shown[o].swap ? at(&p, x, y + dy * (p.height - 1))
                                               : at(&p, x + dx * (p.width - 1), y);
            assert_memory_equal(end, at(&is, is.width - 1, 0), 3);
            free(p.rgb);
            for (size_t k = 4; o == 6 && k < 2 + 8 + 32; k++) { // whatever stands in it
                const uint8_t was = all[k];
                for (int v = 0; v < 256; v += 51) {
                    all[k] = (uint8_t)v;
                    if (pons_picture_decode(all, all_n, 0, &p, &err) == PONS_OK) {
                        free(p.rgb);
                    }
                }
                all[k] = was;
            }
            free(all);
        }
    }
    free(is.rgb);
    free(jpeg);
}

static void test_what_is_wrong_is_one_line(void **state)
{
    static const struct {
        const char *file, *says;
    } wrong[] = {
        {"cut.jpg", "the JPEG is damaged: "},
        {"cmyk.jpg", "the JPEG is damaged: "},
        {"large.png", "the picture has 60000 × 60000 pixels, and at most 32768 are read in a row"},
        // in passes, which are decoded as a whole
        {"large_interlaced.png", "5000 × 4000 pixels, and at most 16 million are read of"},
        {"large_progressive.jpg", "5000 × 4000 pixels, and at most 16 million are read of"}};
    pons_picture_raw p = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pons_error err = PONS_ERROR_INIT;
        size_t n = 0;
        char *bytes = file(wrong[i].file, &n);
        assert_int_equal(pons_picture_decode(bytes, n, 0, &p, &err), PONS_EINVAL);
        if (!strstr(err.message, wrong[i].says) || strchr(err.message, '\n')) {
            fail_msg("%s: %s", wrong[i].file, err.message);
        }
        free(bytes);
    }
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_picture_decode("GIF89a", 6, 0, &p, &err), PONS_EINVAL);
    assert_string_equal(err.message, "it is neither a JPEG nor a PNG");
    static const char *const files[] = {"baseline.jpg", "progressive.jpg", "rgb.png", "alpha.png"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) { // cut at every length
        size_t n = 0;
        char *bytes = file(files[i], &n);
        for (size_t k = 0; k + 2 < n; k++) { // libjpeg wants no end marker
            err = (pons_error)PONS_ERROR_INIT;
            if (pons_picture_decode(bytes, k, 0, &p, &err) != PONS_EINVAL) {
                fail_msg("%s cut at %zu of %zu is read", files[i], k, n);
            }
        }
        free(bytes);
    }
}

static void test_scaling_is_the_mean(void **state)
{
    pons_error err = PONS_ERROR_INIT;
    pons_picture_raw p = {.width = 5, .height = 2, .rgb = malloc(30)};
    for (int i = 0; i < 10; i++) { // rows of 0 50 100 150 200
        memset(p.rgb + 3 * i, i % 5 * 50, 3);
    }
    assert_int_equal(pons_picture_scale(&p, 2, &err), PONS_OK);
    assert_int_equal(p.width, 2);
    assert_int_equal(p.height, 1);
    near(at(&p, 0, 0), 40, 40, 40, 0);    // (0 + 50 + half of 100) / 2.5
    near(at(&p, 1, 0), 160, 160, 160, 0); // (half of 100 + 150 + 200) / 2.5
    assert_int_equal(pons_picture_scale(&p, 100, &err), PONS_OK);
    assert_int_equal(p.width, 2); // never up
    free(p.rgb);

    p = noise(1600, 900); // a JPEG made smaller on the way is what the mean of all of it is
    void *jpeg = NULL;
    size_t n = 0;
    assert_int_equal(pons_picture_jpeg(&p, 0, &jpeg, &n, &err), PONS_OK);
    free(p.rgb);
    assert_int_equal(pons_picture_decode(jpeg, n, 160, &p, &err), PONS_OK);
    assert_int_equal(p.width, 160);
    assert_int_equal(p.height, 90);
    uint64_t sum = 0;
    for (int i = 0; i < 160 * 90 * 3; i++) {
        sum += p.rgb[i];
    }
    assert_in_range(sum / (160 * 90 * 3), 123, 132);
    free(p.rgb);
    free(jpeg);
}

static void test_a_jpeg_fits(void **state)
{
    pons_error err = PONS_ERROR_INIT;
    pons_picture_raw p = noise(320, 240), back = {0};
    void *jpeg = NULL;
    size_t free_n = 0, n = 0;
    assert_int_equal(pons_picture_jpeg(&p, 0, &jpeg, &free_n, &err), PONS_OK);
    free(jpeg);
    assert_int_equal(pons_picture_jpeg(&p, free_n / 2, &jpeg, &n, &err), PONS_OK);
    assert_in_range(n, 1000, free_n / 2);
    assert_int_equal(pons_picture_decode(jpeg, n, 0, &back, &err), PONS_OK);
    assert_int_equal(back.width, 320);
    free(back.rgb);
    free(jpeg);
    assert_int_equal(pons_picture_jpeg(&p, 500, &jpeg, &n, &err), PONS_EINVAL);
    assert_string_equal(err.message, "a picture of 320 × 240 does not fit into 500 bytes");
    free(p.rgb);
}

// Black and white stripes of two pixels, at 2 m: the blurred part has neither stripes nor a distance.
static void test_nothing_can_be_read_of_what_is_blurred(void **state)
{
    static const double rect[4] = {0.25, 0.5, 0.75, 1.5};
    pons_picture_raw p = {
        .width = 200, .height = 100, .rgb = malloc(60000), .depth = malloc(20000 * sizeof(float))};
    for (int i = 0; i < 20000; i++) {
        p.depth[i] = 2.0f;
        memset(p.rgb + 3 * i, i / 2 % 2 ? 255 : 0, 3);
    }
    pons_picture_blur(&p, rect);
    for (int y = 0; y < 100; y++) {
        for (int x = 0; x < 200; x++) {
            const bool in = x >= 50 && x < 150 && y >= 50;
            assert_true(in == isinf(p.depth[y * 200 + x]));
            if (in) {
                near(at(&p, x, y), 127, 127, 127, 12);
            } else {
                near(at(&p, x, y), x / 2 % 2 ? 255 : 0, x / 2 % 2 ? 255 : 0, x / 2 % 2 ? 255 : 0,
                     0);
            }
        }
    }
    free(p.rgb);
    free(p.depth);
}

static bool held(void *user, const char *name)
{
    return strcmp(user, name) == 0;
}

static void counted(const char *folder, size_t n, uint64_t bytes)
{
    size_t has = 0;
    uint64_t of = 0;
    pons_picture_usage(folder, &has, &of);
    assert_int_equal(has, n);
    assert_int_equal(of, bytes);
}

static void test_pictures_are_kept_by_their_contents(void **state)
{
    char folder[128], path[256];
    char a[PONS_PICTURE_NAME], again[PONS_PICTURE_NAME], b[PONS_PICTURE_NAME];
    pons_error err = PONS_ERROR_INIT;
    void *bytes = NULL;
    size_t n = 0;
    snprintf(folder, sizeof folder, "%s/pictures", dir);
    counted(folder, 0, 0);
    assert_int_equal(pons_picture_prune(folder, 1, held, a, &err), 0);
    assert_int_equal(pons_picture_put(folder, "abc", 3, a, &err), PONS_OK);
    assert_string_equal(a, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(pons_picture_put(folder, "abc", 3, again, &err), PONS_OK);
    assert_string_equal(a, again);
    assert_int_equal(pons_picture_put(folder, "other", 5, b, &err), PONS_OK);
    counted(folder, 2, 8);
    assert_int_equal(pons_picture_get(folder, a, &bytes, &n, &err), PONS_OK);
    assert_int_equal(n, 3);
    assert_memory_equal(bytes, "abc", 3);
    free(bytes);
    assert_int_equal(pons_picture_get(folder, "../../etc/passwd", &bytes, &n, &err),
                     PONS_ENOTFOUND);

    // Of another's bytes under its name nothing is given; putting it mends it.
    snprintf(path, sizeof path, "%s/%s.jpg", folder, a);
    FILE *f = fopen(path, "w");
    fputs("xyz", f);
    fclose(f);
    assert_int_equal(pons_picture_get(folder, a, &bytes, &n, &err), PONS_ECORRUPT);
    assert_int_equal(pons_picture_put(folder, "abc", 3, a, &err), PONS_OK);
    assert_int_equal(pons_picture_get(folder, a, &bytes, &n, &err), PONS_OK);
    free(bytes);

    // Both are an hour old: the one that nobody holds goes, and what a write left.
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    utimensat(AT_FDCWD, path, old, 0);
    snprintf(path, sizeof path, "%s/%s.jpg", folder, b);
    utimensat(AT_FDCWD, path, old, 0);
    snprintf(path, sizeof path, "%s/.new-aaaaaa", folder);
    fclose(fopen(path, "w"));
    utimensat(AT_FDCWD, path, old, 0);
    assert_int_equal(pons_picture_prune(folder, 1000000, held, a, &err), 0); // not older than that
    assert_int_equal(pons_picture_prune(folder, 1000001, held, a, &err), 1);
    assert_int_not_equal(access(path, F_OK), 0);
    counted(folder, 1, 3);
    assert_int_equal(pons_picture_get(folder, b, &bytes, &n, &err), PONS_ENOTFOUND);
}

static void test_a_place_that_cannot_be_written_is_said(void **state)
{
    char name[PONS_PICTURE_NAME] = "unchanged";
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_picture_put("/proc/nowhere", "abc", 3, name, &err), PONS_EIO);
    assert_string_equal(err.source, "/proc/nowhere");
    assert_string_equal(name, "unchanged");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_are_read),
        cmocka_unit_test(test_a_jpeg_is_turned_upright),
        cmocka_unit_test(test_what_is_wrong_is_one_line),
        cmocka_unit_test(test_scaling_is_the_mean),
        cmocka_unit_test(test_a_jpeg_fits),
        cmocka_unit_test(test_nothing_can_be_read_of_what_is_blurred),
        cmocka_unit_test(test_pictures_are_kept_by_their_contents),
        cmocka_unit_test(test_a_place_that_cannot_be_written_is_said),
    };
    if (!mkdtemp(dir)) {
        return 1;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 ? failed : 1;
}
