// exif_orientation.c - turns a picture upright by the Orientation of a JPEG's Exif block, one of eight.
//
//     FF D8, then segments: FF, marker, length of 2 bytes, content. The first FF E1 with "Exif\0\0" has a TIFF file:
//     II or MM (its byte order), 42, where its list is; the list: a count, entries of 12 bytes (tag, type, count, value)
#include "picture/scaled_rows.h"

#include <stdlib.h>
#include <string.h>

enum { RGB = 3, SCAN = 0xda, APP1 = 0xe1, TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, TURNS = 8 };

typedef struct tiff {
    const uint8_t *at;
    size_t n;
    bool little;
} tiff;

// 0 beyond the end.
static uint32_t number(const tiff *t, size_t at, size_t bytes)
{
    uint32_t v = 0;
    for (size_t i = 0; at <= t->n && bytes <= t->n - at && i < bytes; i++) {
        v = v << 8 | t->at[t->little ? at + bytes - 1 - i : at + i];
    }
    return v;
}

static int orientation_of(tiff t)
{
    t.little = t.n > 0 && t.at[0] == 'I';
    const size_t list = number(&t, 4, 4), n = number(&t, list, 2);
    for (size_t i = 0; i < n && list + 2 + 12 * i < t.n; i++) {
        const size_t entry = list + 2 + 12 * i;
        if (number(&t, entry, 2) == TAG_ORIENTATION && number(&t, entry + 2, 2) == TYPE_SHORT) {
            const uint32_t is = number(&t, entry + 8, 2);
            return is >= 1 && is <= TURNS ? (int)is : 1;
        }
    }
    return 1;
}

int pons__jpeg_orientation(const void *bytes, size_t n)
{
    static const char exif[] = {'E', 'x', 'i', 'f', 0, 0};
    const tiff whole = {.at = bytes, .n = n};
    size_t at = 2;
    while (number(&whole, at, 1) == 0xff && number(&whole, at + 1, 1) != SCAN) {
        const size_t length = number(&whole, at + 2, 2), from = at + 4 + sizeof exif;
        if (number(&whole, at + 1, 1) == APP1 && length >= 2 + sizeof exif &&
            at + 2 + length <= n && memcmp(whole.at + at + 4, exif, sizeof exif) == 0) {
            return orientation_of((tiff){.at = whole.at + from, .n = at + 2 + length - from});
        }
        at += length >= 2 ? 2 + length : n; // none has less
    }
    return 1;
}

int pons__turn_upright(pons_picture_raw *p, int orientation, pons_error *err)
{
    if (orientation <= 1) {
        return PONS_OK;
    }
    const bool swap = orientation >= 5, down = strchr("\3\4\6\7", orientation),
               right = strchr("\2\3\7\10", orientation);
    const ptrdiff_t column = right ? -1 : 1; // from a pixel to its neighbour
    const ptrdiff_t row = down ? -p->width : p->width;
    const ptrdiff_t first = right * (p->width - 1) + (ptrdiff_t)down * (p->height - 1) * p->width;
    const int w = swap ? p->height : p->width;
    const int h = swap ? p->width : p->height;
    uint8_t *rgb = malloc((size_t)w * (size_t)h * RGB), *to = rgb;
    if (!rgb) {
        return pons_error_set(err, PONS_ENOMEM, PONS__PICTURE, "no memory for a picture");
    }
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++, to += RGB) {
            const ptrdiff_t at = first + (swap ? x * row + y * column : x * column + y * row);
            memcpy(to, p->rgb + at * RGB, RGB);
        }
    }
    free(p->rgb);
    p->rgb = rgb;
    p->width = w;
    p->height = h;
    return PONS_OK;
}
