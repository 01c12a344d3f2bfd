// test_map.c - maps of nav2_map_server: what greys mean in each mode, where cells lie, how walls become
// rectangles, and that what is broken is told in one line with its file and place.
#include "map/map_help.h"
#include "pons/map.h"
#include "pons/random.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_up(void **state)
{
    (void)state;
    make_dir();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_dir();
    return 0;
}

static pons_map *load(const char *name)
{
    pons_error err = PONS_ERROR_INIT;
    pons_map *m = NULL;
    char line[1200];
    if (pons_map_load(in_dir(name), &m, &err) != PONS_OK) {
        fail_msg("%s", pons_error_line(&err, line, sizeof line));
    }
    return m;
}

static void refused(const char *name, const char *what, const char *where)
{
    pons_error err = PONS_ERROR_INIT;
    pons_map *m = NULL;
    const int rc = pons_map_load(in_dir(name), &m, &err);
    if (rc >= 0 || !strstr(err.message, what) || !strstr(err.source, where) ||
        strchr(err.message, '\n')) {
        fail_msg("%s: wanted '%s' at '%s', not %d '%s' at '%s'", name, what, where, rc, err.message,
                 err.source);
    }
    assert_null(m);
}

// The cells, lower row first, as text.
static void cells_are(const pons_map *m, const char *want)
{
    char text[400] = "";
    const pons_map_info *i = pons_map_about(m);
    for (int y = 0; y < i->h; y++) {
        for (int x = 0; x < i->w; x++) {
            char cell[8];
            snprintf(cell, sizeof cell, "%d ", pons_map_cells(m)[y * i->w + x]);
            strcat(text, cell);
        }
        strcat(text, "| ");
    }
    assert_string_equal(text, want);
}

// ---- what greys mean ----------------------------------------------------------------------------

// 0 black, 254 white, 205 the grey that map_saver gives the unknown, and what lies at the thresholds.
static const char PLAIN[] = "P2\n# a comment\n4 2 # width and height\n255\n0 254 205 128\n"
                            "90 89 191 192\n";

static void test_trinary(void **state)
{
    (void)state;
    write_text("a.pgm", PLAIN);
    write_map("a.yaml", "a.pgm", "free_thresh_of_others: 1\n");
    pons_map *m = load("a.yaml");
    cells_are(m, "-1 100 -1 0 | 100 0 0 -1 | ");
    const pons_map_info *i = pons_map_about(m);
    assert_int_equal(i->occupied, 2);
    assert_int_equal(i->free, 3);
    assert_int_equal(i->unknown, 3);
    pons_map_destroy(m);
    write_map("a.yaml", "a.pgm", "");
    write_text("n.yaml", "image: a.pgm\nresolution: 0.5\norigin: [0, 0, 0]\noccupied_thresh: 0.65\n"
                         "free_thresh: 0.196\nnegate: 1\nmode: trinary\n");
    m = load("n.yaml");
    cells_are(m, "-1 -1 100 100 | 0 100 100 -1 | ");
    pons_map_destroy(m);
}

static void test_scale_and_raw(void **state)
{
    (void)state;
    write_text("a.pgm", PLAIN);
    write_map("s.yaml", "a.pgm", "mode: scale\n");
    pons_map *m = load("s.yaml");
    cells_are(m, "99 100 0 0 | 100 0 0 62 | ");
    pons_map_destroy(m);
    write_map("r.yaml", "a.pgm", "mode: raw\n");
    m = load("r.yaml");
    cells_are(m, "90 89 -1 -1 | 0 -1 -1 -1 | ");
    const pons_map_info *i = pons_map_about(m);
    assert_int_equal(i->occupied, 2); // by the thresholds: 65 and more
    assert_int_equal(i->free, 1);
    pons_map_destroy(m);
}

// map_server's own computing, by its newest source (nav2_map_server/src/map_io.cpp): in floats, the occupied
// first, the free after it, what lies between rounded away from zero, what is not opaque last.
static int as_map_server(const pons_map_info *i, int grey, int alpha)
{
    if (i->mode == PONS_MAP_RAW) {
        const int8_t v = (int8_t)(grey < 128 ? grey : grey - 256);
        return v < 0 || v > 100 ? -1 : v;
    }
    const float open = (float)i->free_thresh, occupied = (float)i->occupied_thresh;
    volatile float normalized = (float)grey / 255.0F;
    if (!i->negate) {
        normalized = 1.0F - normalized;
    }
    int v = -1;
    v = normalized >= occupied ? 100 : v;
    v = normalized <= open ? 0 : v;
    if (i->mode == PONS_MAP_SCALE && normalized > open && normalized < occupied) {
        volatile float share = normalized - open;
        share = share / (float)(i->occupied_thresh - i->free_thresh);
        share = share * 100.0F;
        v = (int)roundf(share);
    }
    return alpha < 255 ? -1 : v;
}

// All greys, under thresholds drawn at random, and under those that lie on a grey.
static void test_greys_mean_what_map_server_says(void **state)
{
    (void)state;
    static const char *const modes[] = {"trinary", "Scale", "RAW"};
    static const char *const flags[] = {"0", "1", "no", "Yes", "false", "ON"};
    pons_rand r;
    pons_rand_seed(&r, 255);
    unsigned char row[2 * 256];
    for (int round = 0; round < 400; round++) {
        char text[300];
        const int low = (int)(pons_rand_unit(&r) * 254.0),
                  high = low + 1 + (int)(pons_rand_unit(&r) * (254.0 - low));
        const double open = round % 2 ? low / 255.0 : low * 0.003922;
        const double occupied = round % 2 ? high / 255.0 : high * 0.003922;
        for (int x = 0; x < 256; x++) {
            row[2 * x] = (unsigned char)x;
            row[2 * x + 1] = pons_rand_unit(&r) < 0.8 ? 255 : (unsigned char)(x * 7);
        }
        write_png("a.png", 256, 1, 2, 8, 0, row);
        snprintf(text, sizeof text,
                 "image: a.png\nresolution: 0.5\norigin: [0, 0, 0]\noccupied_thresh: %.17g\n"
                 "free_thresh: %.17g\nnegate: %s\nmode: %s\n",
                 occupied, open, flags[round % 6], modes[round % 3]);
        write_text("a.yaml", text);
        pons_map *m = load("a.yaml");
        for (int x = 0; x < 256; x++) {
            const int want = as_map_server(pons_map_about(m), x, row[2 * x + 1]);
            if (pons_map_cells(m)[x] != want) {
                fail_msg("grey %d, alpha %d: %d, and map_server's %d, with\n%s", x, row[2 * x + 1],
                         pons_map_cells(m)[x], want, text);
            }
            assert_int_equal(pons_map_is_free(m, 0.5 * x + 0.25, 0.25),
                             want >= 0 && want <= (pons_map_about(m)->mode == PONS_MAP_RAW
                                                       ? (int)floor(open * 100.0 + 1e-9)
                                                       : 0));
        }
        pons_map_destroy(m);
    }
}

// The same picture in every form that people have it in.
static void test_forms(void **state)
{
    (void)state;
    static const unsigned char p5[] = "P5 # made by hand\n2 #w\n2\n255\n\x00\xfe\xcd\x00";
    static const unsigned char p5_16[] = "P5 2 2 65535\n\x00\x00\xfe\xfe\xcd\xcd\x00\x00";
    static const unsigned char p5_100[] = "P5 2 2 100\n\x00\x64\x50\x00";
    static const unsigned char grey[] = {0, 254, 205, 0};
    static const unsigned char grey16[] = {0, 0, 254, 254, 205, 205, 0, 0};
    static const unsigned char rgb[] = {0, 0, 0, 254, 254, 254, 205, 205, 205, 0, 0, 0};
    static const unsigned char alpha[] = {0, 255, 254, 255, 0, 128, 0, 255};
    write_bytes("0", p5, sizeof p5 - 1);
    write_bytes("1", p5_16, sizeof p5_16 - 1);
    write_bytes("2", p5_100, sizeof p5_100 - 1);
    write_text("3", "P2 2 2 65535 0 65278 52685 0");
    write_png("4", 2, 2, 1, 8, 0, grey);
    write_png("5", 2, 2, 1, 16, 0, grey16);
    write_png("6", 2, 2, 3, 8, 1, rgb);
    write_png("7", 2, 2, 2, 8, 0, alpha); // what is not opaque is unknown
    for (int k = 0; k < 8; k++) {
        char image[4];
        snprintf(image, sizeof image, "\"%d\"", k);
        write_map("a.yaml", image, "");
        char plain[] = "0.yaml";
        plain[0] = (char)('0' + k);
        write_text(plain, "");
        char text[200];
        snprintf(text, sizeof text,
                 "image: \"%d\"\nresolution: 0.5\norigin: [0, 0, 0]\noccupied_thresh: 0.65\n"
                 "free_thresh: 0.19\nnegate: false\n",
                 k);
        write_text(plain, text);
        pons_map *m = load(plain);
        if (k == 2) { // 80 of 100
            assert_int_equal(pons_map_cells(m)[0], -1);
        }
        cells_are(m, "-1 100 | 100 0 | ");
        pons_map_destroy(m);
    }
}

// ---- where cells lie ----------------------------------------------------------------------------

static void test_origin(void **state)
{
    (void)state;
    write_text("a.pgm", "P2 3 2 255 255 255 0 0 255 255");
    write_map("a.yaml", "a.pgm", ""); // lower left at (-1, 2), cells of half a metre
    pons_map *m = load("a.yaml");
    assert_int_equal(pons_map_at(m, -0.75, 2.25), 100); // the last row is the lowest
    assert_int_equal(pons_map_at(m, -0.25, 2.25), 0);
    assert_int_equal(pons_map_at(m, 0.25, 2.75), 100);
    assert_int_equal(pons_map_at(m, 0.75, 2.75), -1); // beside it
    assert_int_equal(pons_map_at(m, -1.01, 2.25), -1);
    pons_map_destroy(m);
    // A quarter turn about the origin: x of the picture is y of the map.
    write_text("t.yaml", "image: a.pgm\nresolution: 0.5\norigin: [-1.0, 2.0, 1.5707963267948966]\n"
                         "occupied_thresh: 0.65\nfree_thresh: 0.25\nnegate: 0\n");
    m = load("t.yaml");
    assert_int_equal(pons_map_at(m, -1.25, 2.25), 100);
    assert_int_equal(pons_map_at(m, -1.75, 3.25), 100);
    assert_int_equal(pons_map_at(m, -1.25, 3.25), 0);
    const double *b = pons_map_about(m)->bounds;
    assert_true(fabs(b[0] + 2.0) < 1e-9 && fabs(b[1] - 2.0) < 1e-9 && fabs(b[2] + 1.0) < 1e-9 &&
                fabs(b[3] - 3.5) < 1e-9);
    pons_box2 *walls = NULL;
    size_t n = 0;
    assert_int_equal(pons_map_rects(m, PONS_MAP_OCCUPIED, 10, &walls, &n, NULL), PONS_OK);
    assert_int_equal(n, 2);
    assert_true(pons_box2_distance(&walls[0], -1.25, 2.25) < 1e-9);
    free(walls);
    pons_map_destroy(m);
}

// Every cell of a kind in one rectangle, no other in any: for pictures drawn at random.
static void test_rectangles(void **state)
{
    (void)state;
    unsigned seed = 17;
    for (int round = 0; round < 40; round++) {
        const int w = 1 + round % 13, h = 1 + round % 7;
        char text[1000];
        int at = snprintf(text, sizeof text, "P2 %d %d 2\n", w, h);
        for (int k = 0; k < w * h; k++) {
            seed = seed * 1103515245u + 12345u;
            at += snprintf(text + at, sizeof text - (size_t)at, "%u ",
                           seed >> 20 & 1   ? 0
                           : seed >> 24 & 1 ? 1u
                                            : 2u);
        }
        write_text("a.pgm", text);
        write_map("a.yaml", "a.pgm", "");
        pons_map *m = load("a.yaml");
        const pons_map_info *i = pons_map_about(m);
        for (int kind = 0; kind < 2; kind++) {
            pons_box2 *boxes = NULL;
            size_t n = 0;
            assert_int_equal(pons_map_rects(m, (pons_map_kind)kind, 1000, &boxes, &n, NULL),
                             PONS_OK);
            double area = 0.0;
            for (size_t k = 0; k < n; k++) {
                area += boxes[k].sx * boxes[k].sy;
            }
            const int64_t cells = kind == 0 ? i->occupied : i->unknown;
            assert_true(fabs(area - 0.25 * (double)cells) <
                        1e-9); // so none twice, if all are there
            for (int y = 0; y < h; y++) {
                for (int x = 0; x < w; x++) {
                    int in = 0;
                    for (size_t k = 0; k < n; k++) {
                        in += pons_box2_distance(&boxes[k], -1.0 + 0.5 * (x + 0.5),
                                                 2.0 + 0.5 * (y + 0.5)) <= 0.0;
                    }
                    const int v = pons_map_cells(m)[y * w + x];
                    assert_int_equal(in, kind == 0 ? v == 100 : v == -1);
                }
            }
            free(boxes);
        }
        pons_map_destroy(m);
    }
    write_text("a.pgm", "P2 4 1 1 0 1 0 1");
    pons_map *m = load("a.yaml");
    pons_box2 *none = NULL;
    size_t n = 0;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_map_rects(m, PONS_MAP_OCCUPIED, 1, &none, &n, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "ragged"));
    assert_null(none);
    pons_map_destroy(m);
}

// What savers and editors write: a picture by the path that it had elsewhere, numbers in quotes, lists on several lines.
static void test_yaml_of_others(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"image: a.pgm", "image: /home/user/maps/a.pgm"},
        {"image: a.pgm", "image: \"~/maps/a.pgm\""},
        {"image: a.pgm", "image: ../maps/a.pgm"},
        {"resolution: 0.5", "resolution: \"0.500000\""},
        {"resolution: 0.5", "resolution: 5.0e-01 # [m]"},
        {"origin: [-1.0, 2.0, 0.0]", "origin:\n- -1.\n- '2.0'\n- 0"},
        {"origin: [-1.0, 2.0, 0.0]", "origin: [-1.0,\n  2.0,\n  0.0,]"},
        {"negate: 0", "negate: \"0\""},
        {"negate: 0", "negate: False\nmode: Trinary\nfloor: 2"},
        {"negate: 0\n", ""},
    };
    write_text("a.pgm", PLAIN);
    static const char good[] = "image: a.pgm\nresolution: 0.5\norigin: [-1.0, 2.0, 0.0]\n"
                               "occupied_thresh: 0.65\nfree_thresh: 0.25\nnegate: 0\n";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        const char *at = strstr(good, cases[i][0]);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, cases[i][1],
                 at + strlen(cases[i][0]));
        write_text("a.yaml", text);
        pons_map *m = load("a.yaml");
        const pons_map_info *info = pons_map_about(m);
        assert_true(info->resolution_m == 0.5 && info->origin.y == 2.0 && !info->negate);
        assert_string_equal(strrchr(info->image, '/'), "/a.pgm");
        pons_map_destroy(m);
    }
}

// ---- what is broken -----------------------------------------------------------------------------

static void test_bad_yaml(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *what, *where;
    } cases[] = {
        {"resolution: 0.5", "resolution: .nan", "", "a.yaml:2:"},
        {"resolution: 0.5", "resolution: nan", "resolution should be a number", "a.yaml:2:13"},
        {"resolution: 0.5", "resolution: 0", "resolution is 0 m", "a.yaml:2:13"},
        {"resolution: 0.5", "resolution: -0.5", "resolution is -0.5 m", "a.yaml:2:13"},
        {"resolution: 0.5", "res: 0.5", "the map has no resolution", "a.yaml:1:1"},
        {"origin: [-1.0, 2.0, 0.0]", "origin: [-1.0, 2.0]", "[x, y, yaw]", "a.yaml:3:9"},
        {"origin: [-1.0, 2.0, 0.0]", "origin: [-1.0, here, 0]", "[x, y, yaw]", "a.yaml:3:16"},
        {"origin: [-1.0, 2.0, 0.0]", "origin: [1e300, 0, 0]", "[x, y, yaw]", "a.yaml:3:10"},
        {"free_thresh: 0.25", "free_thresh: 0.7", "free_thresh <", "a.yaml:5:14"},
        {"negate: 0", "negate: perhaps", "negate should be 0 or 1", "a.yaml:6:9"},
        {"negate: 0", "negate: 2", "negate should be 0 or 1", "a.yaml:6:9"},
        {"negate: 0", "negate: -1", "negate should be 0 or 1", "a.yaml:6:9"},
        {"resolution: 0.5", "resolution: \"0.5 m\"", "resolution should be a number",
         "a.yaml:2:13"},
        {"resolution: 0.5", "resolution: \"\"", "resolution should be a number", "a.yaml:2:13"},
        {"image: a.pgm", "image: /nowhere/link.pgm", "not in the map's folder", "a.yaml:1:8"},
        {"negate: 0", "negate: 0\nmode: binary", "trinary, scale or raw", "a.yaml:7:7"},
        {"image: a.pgm", "image: [a", "", "a.yaml:"},
        {"image: a.pgm", "image: 3", "the name of a PGM or PNG", "a.yaml:1:8"},
        {"image: a.pgm", "image: b.pgm", "cannot read the image b.pgm", "a.yaml:1:8"},
        {"image: a.pgm", "image: ../../etc/passwd", "not in the map's folder", "a.yaml:1:8"},
        {"image: a.pgm", "image: /etc/passwd", "not in the map's folder", "a.yaml:1:8"},
        {"image: a.pgm", "image: link.pgm", "not in the map's folder", "a.yaml:1:8"},
        {"image: a.pgm", "image: folder", "is no file", "a.yaml:1:8"},
        {"image: a.pgm", "image: pipe", "is no file", "a.yaml:1:8"},
    };
    write_text("a.pgm", PLAIN);
    assert_int_equal(symlink("/etc/passwd", in_dir("link.pgm")), 0);
    assert_int_equal(mkdir(in_dir("folder"), 0700), 0);
    assert_int_equal(mkfifo(in_dir("pipe"), 0600), 0);
    static const char good[] = "image: a.pgm\nresolution: 0.5\norigin: [-1.0, 2.0, 0.0]\n"
                               "occupied_thresh: 0.65\nfree_thresh: 0.25\nnegate: 0\n";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[600];
        const char *at = strstr(good, cases[i].from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, cases[i].to,
                 at + strlen(cases[i].from));
        write_text("a.yaml", text);
        refused("a.yaml", cases[i].what, cases[i].where);
    }
    write_text("a.yaml", "- a list\n");
    refused("a.yaml", "a map is a mapping", "a.yaml:1:1");
    write_text("a.yaml", "");
    refused("a.yaml", "", "a.yaml");
}

static void test_bad_pictures(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *what, *where;
    } cases[] = {
        {"", "the image is empty", "a.pgm"},
        {"GIF89a", "neither PGM nor PNG", "a.pgm"},
        {"P6 1 1 255 abc", "no grey picture", "a.pgm:1"},
        {"P5", "cut off: its width is missing", "a.pgm:1"},
        {"P5\n# no end", "cut off: its width is missing", "a.pgm:2"},
        {"P5\n3 x 255\n", "height of the picture should be a number", "a.pgm:2"},
        {"P5\n3 -2 255\n", "height of the picture should be a number", "a.pgm:2"},
        {"P5\n0 2 255\n", "0 × 2 pixels", "a.pgm"},
        {"P5\n2 2\n0\n", "maximum of the picture is 0", "a.pgm:3"},
        {"P5\n2 2\n65536\n", "maximum of the picture is more than 65535", "a.pgm:3"},
        {"P5\n99999999999999999999 2 255\n", "width of the picture is more than", "a.pgm:2"},
        {"P5\n1000000 1000000 255\n", "1000000 × 1000000 pixels", "a.pgm"},
        {"P5\n2 2 255\nabc", "row 2 of 2 has 1 of 2 pixels", "a.pgm"},
        {"P5\n2 2 65535\nabcdefg", "row 2 of 2 has 1 of 2 pixels", "a.pgm"},
        {"P5\n2 1 7\n\x07\x08", "pixel 2 of row 1 is 8", "a.pgm"},
        {"P2\n2 2 255\n1 2 3", "row 2 of 2 has 1 of 2 pixels", "a.pgm"},
        {"P2\n2 2 255\n1 2\n3 four", "should be a number", "a.pgm:4"},
        {"P2\n2 2 255\n1 2\n3 256", "pixel 2 of row 2 is 256", "a.pgm"},
    };
    write_map("a.yaml", "a.pgm", "");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_text("a.pgm", cases[i].bytes);
        refused("a.yaml", cases[i].what, cases[i].where);
    }
}

// A PNG that is cut anywhere, or of which any byte is another, is refused or read, and no more than
// that; also one that says it is huge.
static void test_bad_png(void **state)
{
    (void)state;
    unsigned char rows[16 * 16 * 4], bytes[4096];
    for (size_t i = 0; i < sizeof rows; i++) {
        rows[i] = (unsigned char)(i * 7);
    }
    write_map("a.yaml", "a.png", "");
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        write_png("whole.png", 16, 16, 4, 8, interlaced, rows);
        FILE *f = fopen(in_dir("whole.png"), "re");
        const size_t n = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        for (size_t cut = 4; cut + 12 < n; cut += 5) { // the end's mark may be missing
            write_bytes("a.png", bytes, cut);
            refused("a.yaml", "the picture is damaged, or cut off", "a.png");
        }
        for (size_t at = 4; at < n; at += 3) {
            pons_map *m = NULL;
            bytes[at] ^= 0x40;
            write_bytes("a.png", bytes, n);
            pons_error err = PONS_ERROR_INIT;
            if (pons_map_load(in_dir("a.yaml"), &m, &err) == PONS_OK) {
                pons_map_destroy(m);
            } else {
                assert_true(err.source[0] != '\0' && !strchr(err.message, '\n'));
            }
            bytes[at] ^= 0x40;
        }
    }
    unsigned char *wide = calloc(1, 20000);
    assert_non_null(wide);
    write_png("a.png", 20000, 1, 1, 8, 0, wide);
    pons_map *m = load("a.yaml");
    assert_int_equal(pons_map_about(m)->w, 20000);
    pons_map_destroy(m);
    free(wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trinary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scale_and_raw, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_greys_mean_what_map_server_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_origin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rectangles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_yaml_of_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_yaml, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_pictures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_png, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
