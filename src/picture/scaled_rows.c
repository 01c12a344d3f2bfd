// scaled_rows.c - a picture made smaller by averages over areas, exactly, in whole numbers.
//
// Along an edge of w pixels that becomes W, a pixel that comes is W wide and one that is made w: both edges are w·W
// long. A row that comes adds its part to the sums of the row that is being made, weighted by how much of both
// directions they share; the weights of a whole pixel are w·h.
#include "picture/scaled_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RGB = 3, EDGE_MAX = 32768 };

int pons__scaled_rows_allowed(uint64_t w, uint64_t h, bool whole, pons_error *err)
{
    const uint64_t most = whole ? PONS_PICTURE_WHOLE_MAX : PONS_PICTURE_PIXELS_MAX;
    if (w > EDGE_MAX || h > EDGE_MAX) {
        return pons_error_set(err, PONS_EINVAL, PONS__PICTURE,
                              "the picture has %" PRIu64 " × %" PRIu64
                              " pixels, and at most %d are read in a row or a column",
                              w, h, EDGE_MAX);
    }
    if (w == 0 || h == 0 || h > most / w) {
        return pons_error_set(err, PONS_EINVAL, PONS__PICTURE,
                              "the picture has %" PRIu64 " × %" PRIu64
                              " pixels, and at most %d million are read%s",
                              w, h, (int)(most / 1000000),
                              whole ? " of an interlaced PNG or a progressive JPEG" : "");
    }
    return PONS_OK;
}

static int part_of(int edge, int longer, int edge_max)
{
    const int scaled = (int)(((int64_t)edge * edge_max + longer / 2) / longer);
    return scaled > 0 ? scaled : 1;
}

int pons__scaled_rows_begin(pons__scaled_rows *r, int w, int h, pons_error *err)
{
    const int longer = w > h ? w : h;
    const int edge = r->edge_max > 0 && r->edge_max < longer ? r->edge_max : longer;
    r->w = w;
    r->h = h;
    r->to.width = part_of(w, longer, edge);
    r->to.height = part_of(h, longer, edge);
    r->to.rgb = malloc((size_t)r->to.width * (size_t)r->to.height * RGB);
    r->sum = calloc((size_t)r->to.width * RGB, sizeof *r->sum);
    return r->to.rgb && r->sum
               ? PONS_OK
               : pons_error_set(err, PONS_ENOMEM, PONS__PICTURE, "no memory for a picture");
}

static void add_weighted(pons__scaled_rows *r, const uint8_t *rgb, uint64_t weight)
{
    uint64_t *to = r->sum;
    uint64_t room = (uint64_t)r->w; // in the pixel that is being made
    for (int x = 0; x < r->w; x++, rgb += RGB) {
        for (uint64_t left = (uint64_t)r->to.width; left > 0;) {
            const uint64_t take = left < room ? left : room;
            for (int c = 0; c < RGB; c++) {
                to[c] += rgb[c] * take * weight;
            }
            left -= take;
            room -= take;
            if (room == 0) {
                room = (uint64_t)r->w;
                to += RGB;
            }
        }
    }
}

static void write_row(pons__scaled_rows *r)
{
    const size_t n = (size_t)r->to.width * RGB;
    const uint64_t whole = (uint64_t)r->w * (uint64_t)r->h;
    uint8_t *to = r->to.rgb + (size_t)r->out * n;
    for (size_t i = 0; i < n; i++) {
        to[i] = (uint8_t)((r->sum[i] + whole / 2) / whole);
    }
    memset(r->sum, 0, n * sizeof *r->sum);
    r->out++;
}

void pons__scaled_rows_add(pons__scaled_rows *r, const uint8_t *rgb)
{
    const uint64_t from = (uint64_t)r->in * (uint64_t)r->to.height;
    const uint64_t to = from + (uint64_t)r->to.height;
    const uint64_t border = (uint64_t)(r->out + 1) * (uint64_t)r->h;
    r->in++;
    if (r->to.width == r->w && r->to.height == r->h) {
        const size_t n = (size_t)r->w * RGB;
        memcpy(r->to.rgb + (size_t)r->out++ * n, rgb, n);
        return;
    }
    add_weighted(r, rgb, (to < border ? to : border) - from);
    if (to >= border) {
        write_row(r);
    }
    if (to > border) {
        add_weighted(r, rgb, to - border);
    }
}

void pons__scaled_rows_end(pons__scaled_rows *r)
{
    free(r->sum);
    r->sum = NULL;
}
