// png.c - PNG pictures by libpng, of any depth and colour, what is transparent on white.
//
// libpng leaves by longjmp on bad data, so all that must be freed is in `reader`, which outlives the jump.
#include "picture/scaled_rows.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { RGBA = 4, CHUNK_MAX = 8 << 20, WHY_MAX = 160 };

typedef struct reader {
    png_structp png;
    png_infop info;
    const uint8_t *at, *end;
    pons__scaled_rows *rows;
    pons_error *err;
    int rc;
    char why[WHY_MAX];    // libpng's words
    uint8_t *pixels;      // a row, or all of an interlaced picture
    png_bytep *interlace; // its rows
} reader;

static void give_up(png_structp png, png_const_charp why)
{
    reader *r = png_get_error_ptr(png);
    snprintf(r->why, sizeof r->why, "%s", why);
    png_longjmp(png, 1);
}

static void not_said(png_structp png, png_const_charp why)
{
}

static void feed(png_structp png, png_bytep to, size_t n)
{
    reader *r = png_get_io_ptr(png);
    if ((size_t)(r->end - r->at) < n) {
        png_error(png, "it is cut short");
    }
    memcpy(to, r->at, n);
    r->at += n;
}

// RGBA to RGB in place.
static void give_row(reader *r, uint8_t *rgba)
{
    uint8_t *to = rgba;
    for (int x = 0; x < r->rows->w; x++, rgba += RGBA) {
        const unsigned alpha = rgba[3];
        for (int c = 0; c < 3; c++) {
            *to++ = (uint8_t)((rgba[c] * alpha + 255 * (255 - alpha) + 127) / 255);
        }
    }
    pons__scaled_rows_add(r->rows, rgba - (size_t)r->rows->w * RGBA);
}

// The size, and a change to four channels of 8 bits. Leaves by longjmp.
static int read_header(reader *r)
{
    png_set_user_limits(r->png, PONS_PICTURE_PIXELS_MAX, PONS_PICTURE_PIXELS_MAX);
    png_set_chunk_malloc_max(r->png, CHUNK_MAX);
    png_set_chunk_cache_max(r->png, 1); // no text: a small file could unpack into gigabytes
    png_read_info(r->png, r->info);
    const png_uint_32 w = png_get_image_width(r->png, r->info),
                      h = png_get_image_height(r->png, r->info);
    const int rc = pons__scaled_rows_allowed(
        w, h, png_get_interlace_type(r->png, r->info) != PNG_INTERLACE_NONE, r->err);
    png_set_expand(r->png);
    png_set_scale_16(r->png);
    png_set_gray_to_rgb(r->png);
    png_set_add_alpha(r->png, 255, PNG_FILLER_AFTER);
    return rc < 0 ? rc : pons__scaled_rows_begin(r->rows, (int)w, (int)h, r->err);
}

// Leaves by longjmp.
static int read_rows(reader *r)
{
    const bool interlaced = png_set_interlace_handling(r->png) > 1;
    const size_t h = (size_t)r->rows->h, row = (size_t)r->rows->w * RGBA;
    png_read_update_info(r->png, r->info);
    r->pixels = malloc(interlaced ? row * h : row);
    r->interlace = interlaced ? calloc(h, sizeof *r->interlace) : NULL;
    if (!r->pixels || (interlaced && !r->interlace)) {
        return pons_error_set(r->err, PONS_ENOMEM, PONS__PICTURE, "no memory for a picture");
    }
    for (size_t y = 0; interlaced && y < h; y++) {
        r->interlace[y] = r->pixels + row * y;
    }
    if (interlaced) {
        png_read_image(r->png, r->interlace);
    }
    for (size_t y = 0; y < h; y++) {
        if (!interlaced) {
            png_read_row(r->png, r->pixels, NULL);
        }
        give_row(r, interlaced ? r->interlace[y] : r->pixels);
    }
    png_read_end(r->png, NULL);
    return PONS_OK;
}

int pons__png_rows(const void *bytes, size_t n, pons__scaled_rows *rows, pons_error *err)
{
    reader *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, PONS__PICTURE, "no memory for a picture");
    }
    *r = (reader){.at = bytes, .end = (const uint8_t *)bytes + n, .rows = rows, .err = err};
    r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, give_up, not_said);
    r->info = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->info) {
        r->rc = pons_error_set(err, PONS_ENOMEM, PONS__PICTURE, "no memory for a picture");
    } else if (setjmp(png_jmpbuf(r->png)) == 0) {
        png_set_read_fn(r->png, r, feed);
        r->rc = read_header(r);
        r->rc = r->rc < 0 ? r->rc : read_rows(r);
    } else {
        r->rc = pons_error_set(err, PONS_EINVAL, PONS__PICTURE, "the PNG is damaged: %s", r->why);
    }
    const int rc = r->rc;
    png_destroy_read_struct(&r->png, &r->info, NULL);
    free(r->pixels);
    free(r->interlace);
    free(r);
    return rc;
}
