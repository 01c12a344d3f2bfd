// png.c - PNG pictures by libpng: any depth and colour to a grey and an alpha of 8 bits each.
//
// Colours become grey by their luminance as map_server's library weighs it (Rec. 601). libpng leaves
// by longjmp on bad data, so all that must be freed is in `reader`, which outlives the jump.
#include "map/image.h"

#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>

#define MODULE "map"

enum { CHANNELS = 4, EDGE_MAX = 1 << 20, CHUNK_MAX = 8 << 20, WHY_MAX = 160 };

typedef struct reader {
    png_structp png;
    png_infop info;
    const pons__image_sink *sink;
    pons_error *err;
    int rc;
    char why[WHY_MAX]; // libpng's words
    uint8_t *pixels;   // a row, or all of an interlaced picture
    png_bytep *rows;   // of an interlaced one
    uint8_t *grey, *alpha;
    png_uint_32 w, h, y;
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

static void give_row(reader *r, const uint8_t *pixel)
{
    for (png_uint_32 x = 0; x < r->w; x++, pixel += CHANNELS) {
        r->grey[x] = (uint8_t)((pixel[0] * 299 + pixel[1] * 587 + pixel[2] * 114 + 500) / 1000);
        r->alpha[x] = pixel[3];
    }
    r->sink->row(r->sink->user, (int)r->y, r->grey, r->alpha);
}

// To four channels of 8 bits. Leaves by longjmp.
static void read_header(reader *r)
{
    png_set_user_limits(r->png, EDGE_MAX, EDGE_MAX);
    png_set_chunk_malloc_max(r->png, CHUNK_MAX);
    png_read_info(r->png, r->info);
    r->w = png_get_image_width(r->png, r->info);
    r->h = png_get_image_height(r->png, r->info);
    png_set_expand(r->png);
    png_set_scale_16(r->png);
    png_set_gray_to_rgb(r->png);
    png_set_add_alpha(r->png, 255, PNG_FILLER_AFTER);
}

// Leaves by longjmp.
static void read_rows(reader *r)
{
    const bool interlaced = png_set_interlace_handling(r->png) > 1;
    png_read_update_info(r->png, r->info);
    const size_t row = (size_t)r->w * CHANNELS;
    r->pixels = malloc(interlaced ? row * r->h : row);
    r->grey = malloc(r->w);
    r->alpha = malloc(r->w);
    r->rows = interlaced ? calloc(r->h, sizeof *r->rows) : NULL;
    if (!r->pixels || !r->grey || !r->alpha || (interlaced && !r->rows)) {
        r->rc = pons_error_set(r->err, PONS_ENOMEM, MODULE, "no memory for a picture");
        return;
    }
    for (r->y = 0; interlaced && r->y < r->h; r->y++) {
        r->rows[r->y] = r->pixels + row * r->y;
    }
    if (interlaced) {
        r->y = 0;
        png_read_image(r->png, r->rows);
    }
    for (r->y = 0; r->y < r->h; r->y++) {
        if (!interlaced) {
            png_read_row(r->png, r->pixels, NULL);
        }
        give_row(r, interlaced ? r->rows[r->y] : r->pixels);
    }
}

int pons__png_read(FILE *f, const char *path, const pons__image_sink *sink, pons_error *err)
{
    reader *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to read %s", path);
    }
    r->sink = sink;
    r->err = err;
    r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, give_up, not_said);
    r->info = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->info) {
        r->rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to read %s", path);
    } else if (setjmp(png_jmpbuf(r->png)) == 0) {
        png_init_io(r->png, f);
        read_header(r);
        r->rc = sink->size(sink->user, r->w, r->h, err);
        if (r->rc == PONS_OK) {
            read_rows(r);
        }
    } else {
        pons_error_set(err, PONS_EINVAL, MODULE,
                       "the picture is damaged, or cut off, in row %u: %s", (unsigned)r->y + 1,
                       r->why);
        r->rc = pons_error_source(err, "%s", path);
    }
    const int rc = r->rc;
    png_destroy_read_struct(&r->png, &r->info, NULL);
    free(r->pixels);
    free(r->rows);
    free(r->grey);
    free(r->alpha);
    free(r);
    return rc;
}
