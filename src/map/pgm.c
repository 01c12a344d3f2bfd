// pgm.c - netpbm's grey pictures: P5 (bytes) and P2 (numbers), of 8 or 16 bits, with comments.
//
// A P5 has one blank between its header and its bytes; numbers of more than 255 take two bytes, the
// greater first. Greys come out as bytes, whatever the file's maximum: that is how map_server sees
// them.
#include "map/image.h"

#include <stdbool.h>
#include <stdlib.h>

#define MODULE "map"

enum { GREY_MAX = 65535, EDGE_MAX = 1 << 20 };

typedef struct reader {
    FILE *f;
    const char *path;
    int line;      // of the next byte
    bool new_line; // the last one ended a line, and what is said of it is of that
    pons_error *err;
} reader;

static int fault(reader *r, const char *what)
{
    pons_error_set(r->err, PONS_EINVAL, MODULE, "%s", what);
    return pons_error_source(r->err, "%s:%d", r->path, r->line - r->new_line);
}

static int next_byte(reader *r)
{
    const int c = getc(r->f);
    r->new_line = c == '\n';
    r->line += r->new_line;
    return c;
}

static bool is_blank(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int end_of_line(reader *r, int c)
{
    while (c != '\n' && c != EOF) {
        c = next_byte(r);
    }
    return c;
}

// The next number, past blanks and comments; the byte behind it is taken too.
static int next_number(reader *r, const char *what, long most, long *ret)
{
    char message[120];
    int c = next_byte(r);
    while (c == '#' || is_blank(c)) {
        c = c == '#' ? end_of_line(r, c) : c;
        c = c == EOF ? c : next_byte(r);
    }
    if (c == EOF) {
        snprintf(message, sizeof message, "the picture is cut off: its %s is missing", what);
        return fault(r, message);
    }
    long v = 0;
    int digits = 0;
    for (; c >= '0' && c <= '9' && v <= most; digits++) {
        v = v * 10 + (c - '0');
        c = next_byte(r);
    }
    if (digits == 0) {
        snprintf(message, sizeof message, "the %s of the picture should be a number", what);
        return fault(r, message);
    }
    if (v > most) {
        snprintf(message, sizeof message, "the %s of the picture is more than %ld", what, most);
        return fault(r, message);
    }
    if (c == '#') { // right behind a number
        c = end_of_line(r, c);
    }
    if (c != EOF && !is_blank(c)) {
        snprintf(message, sizeof message, "the %s of the picture should be a number", what);
        return fault(r, message);
    }
    *ret = v;
    return PONS_OK;
}

static int cut_off(reader *r, long y, long h, long x, long w)
{
    pons_error_set(r->err, PONS_EINVAL, MODULE,
                   "the picture is cut off: row %ld of %ld has %ld of %ld pixels", y + 1, h, x, w);
    return pons_error_source(r->err, "%s", r->path);
}

static int too_bright(reader *r, long y, long x, long grey, long most)
{
    pons_error_set(r->err, PONS_EINVAL, MODULE,
                   "pixel %ld of row %ld is %ld, more than the picture's maximum of %ld", x + 1,
                   y + 1, grey, most);
    return pons_error_source(r->err, "%s", r->path);
}

static uint8_t as_byte(long grey, long most)
{
    return (uint8_t)((grey * 255 + most / 2) / most);
}

static int binary_row(reader *r, long y, long w, long h, long most, uint8_t *raw, uint8_t *ret)
{
    const size_t bytes = most > 255 ? 2 : 1;
    const size_t got = fread(raw, bytes, (size_t)w, r->f);
    if (got < (size_t)w) {
        return cut_off(r, y, h, (long)got, w);
    }
    for (long x = 0; x < w; x++) {
        const long grey = bytes == 2 ? raw[2 * x] << 8 | raw[2 * x + 1] : raw[x];
        if (grey > most) {
            return too_bright(r, y, x, grey, most);
        }
        ret[x] = as_byte(grey, most);
    }
    return PONS_OK;
}

static int plain_row(reader *r, long y, long w, long h, long most, uint8_t *ret)
{
    for (long x = 0; x < w; x++) {
        long grey = 0;
        const int rc = next_number(r, "next grey", GREY_MAX, &grey);
        if (rc < 0) {
            return feof(r->f) ? cut_off(r, y, h, x, w) : rc;
        }
        if (grey > most) {
            return too_bright(r, y, x, grey, most);
        }
        ret[x] = as_byte(grey, most);
    }
    return PONS_OK;
}

int pons__pgm_read(FILE *f, const char *path, const pons__image_sink *sink, pons_error *err)
{
    reader r = {.f = f, .path = path, .line = 1, .err = err};
    const int p = next_byte(&r), kind = next_byte(&r);
    if (p != 'P' || (kind != '5' && kind != '2')) {
        return fault(&r, "this is no grey picture of netpbm (P5 or P2)");
    }
    long w = 0, h = 0, most = 0;
    int rc = next_number(&r, "width", EDGE_MAX, &w);
    rc = rc < 0 ? rc : next_number(&r, "height", EDGE_MAX, &h);
    rc = rc < 0 ? rc : next_number(&r, "maximum", GREY_MAX, &most);
    if (rc == PONS_OK && most < 1) {
        rc = fault(&r, "the maximum of the picture is 0");
    }
    rc = rc < 0 ? rc : sink->size(sink->user, (uint64_t)w, (uint64_t)h, err);
    if (rc < 0) {
        return rc;
    }
    uint8_t *raw = malloc(2 * (size_t)w), *row = malloc((size_t)w);
    if (!raw || !row) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a row of %s", path);
    }
    for (long y = 0; rc == PONS_OK && y < h; y++) {
        rc = kind == '5' ? binary_row(&r, y, w, h, most, raw, row)
                         : plain_row(&r, y, w, h, most, row);
        if (rc == PONS_OK) {
            sink->row(sink->user, (int)y, row, NULL);
        }
    }
    free(raw);
    free(row);
    return rc;
}
