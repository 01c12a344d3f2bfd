// picture.c - which reader reads it, scaling what is there already, and blurring.
//
//     bytes --jpeg.c, png.c: row by row--> scaled_rows.c: smaller on the way --> exif_orientation.c --> pixels --> blur --> JPEG
//     --> picture_store.c
//
// A reader looks at the header's size before it takes memory, and a large JPEG is made smaller while it is decoded: a
// picture of 50 megapixels that is wanted with an edge of 768 takes a few MB. What comes in several passes is decoded as a
// whole, at up to 8 bytes a pixel: of these PONS_PICTURE_WHOLE_MAX are read.
#include "picture/scaled_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RGB = 3, BLUR_CELLS = 4, BLUR_PART = 16 };

static int no_kind(const void *bytes, size_t n, pons__scaled_rows *r, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, PONS__PICTURE, "it is neither a JPEG nor a PNG");
}

int pons_picture_decode(const void *bytes, size_t n, int edge_max, pons_picture_raw *ret,
                        pons_error *err)
{
    static const struct {
        const char *mark;
        size_t n;
        int (*read)(const void *bytes, size_t n, pons__scaled_rows *r, pons_error *err);
    } kinds[] = {{"\xff\xd8\xff", 3, pons__jpeg_rows},
                 {"\x89PNG\r\n\x1a\n", 8, pons__png_rows},
                 {"", 0, no_kind}};
    pons__scaled_rows r = {.edge_max = edge_max};
    size_t k = 0;
    while (kinds[k].n > 0 && (n < kinds[k].n || memcmp(bytes, kinds[k].mark, kinds[k].n) != 0)) {
        k++;
    }
    int rc = kinds[k].read(bytes, n, &r, err);
    pons__scaled_rows_end(&r);
    rc = rc < 0 ? rc : pons__turn_upright(&r.to, r.orientation, err);
    if (rc == PONS_OK) {
        *ret = r.to;
    } else {
        free(r.to.rgb);
    }
    return rc;
}

int pons_picture_scale(pons_picture_raw *p, int edge_max, pons_error *err)
{
    pons__scaled_rows r = {.edge_max = edge_max};
    if (p->width <= edge_max && p->height <= edge_max) {
        return PONS_OK;
    }
    const int rc = pons__scaled_rows_begin(&r, p->width, p->height, err);
    for (int y = 0; rc == PONS_OK && y < p->height; y++) {
        pons__scaled_rows_add(&r, p->rgb + (size_t)y * (size_t)p->width * RGB);
    }
    pons__scaled_rows_end(&r);
    if (rc == PONS_OK) {
        free(p->rgb);
        p->rgb = r.to.rgb;
        p->width = r.to.width;
        p->height = r.to.height;
    } else {
        free(r.to.rgb);
    }
    return rc;
}

// at: x0, y0, x1, y1 in pixels. The depth is erased as well, because it would show the shape of what is blurred.
static void even_out(pons_picture_raw *p, const int at[4])
{
    for (int y = at[1]; p->depth && y < at[3]; y++) {
        for (int x = at[0]; x < at[2]; x++) {
            p->depth[(size_t)y * (size_t)p->width + (size_t)x] = INFINITY;
        }
    }
    uint64_t sum[RGB] = {0};
    const uint64_t n = (uint64_t)(at[2] - at[0]) * (uint64_t)(at[3] - at[1]);
    for (int pass = 0; pass < 2; pass++) { // counts, then writes
        for (int y = at[1]; y < at[3]; y++) {
            uint8_t *rgb = p->rgb + ((size_t)y * (size_t)p->width + (size_t)at[0]) * RGB;
            for (int i = 0; i < (at[2] - at[0]) * RGB; i++) {
                if (pass == 0) {
                    sum[i % RGB] += rgb[i];
                } else {
                    rgb[i] = (uint8_t)(sum[i % RGB] / n);
                }
            }
        }
    }
}

static int pixel(double fraction, int edge, bool up)
{
    const double at = fmin(fmax(fraction, 0.0), 1.0) * edge; // fmax: a NaN is 0
    return (int)(up ? ceil(at) : floor(at));
}

void pons_picture_blur(pons_picture_raw *p, const double rect[4])
{
    const int from[2] = {pixel(rect[0], p->width, false), pixel(rect[1], p->height, false)};
    const int to[2] = {pixel(rect[2], p->width, true), pixel(rect[3], p->height, true)};
    const int smallest = (p->width > p->height ? p->width : p->height) / BLUR_PART + 1;
    int cell[2];
    for (int i = 0; i < 2; i++) {
        const int part = (to[i] - from[i] + BLUR_CELLS - 1) / BLUR_CELLS;
        cell[i] = part > smallest ? part : smallest;
    }
    for (int y = from[1]; y < to[1]; y += cell[1]) {
        for (int x = from[0]; x < to[0]; x += cell[0]) {
            const int right = x + cell[0] < to[0] ? x + cell[0] : to[0];
            const int bottom = y + cell[1] < to[1] ? y + cell[1] : to[1];
            even_out(p, (const int[]){x, y, right, bottom});
        }
    }
}
