// fuzz_picture.c - whatever a map's picture holds, PGM or PNG, its rows come in their order and within its size, or one
// line says what is wrong and where.
//
// The sums of a PNG's chunks are put right first, so that changes reach what is behind them.
#include "map/image.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 1 << 18, PNG_HEAD = 8, CHUNK_HEAD = 8, CHUNK_SUM = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct seen {
    uint64_t w, h, rows, sum;
    int sizes;
} seen;

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static int on_size(void *user, uint64_t w, uint64_t h, pons_error *err)
{
    seen *s = user;
    must(s->sizes++ == 0 && s->rows == 0);
    if (w == 0 || h == 0 || w > CELLS_MAX || h > CELLS_MAX || w * h > CELLS_MAX) {
        pons_error_set(err, PONS_EINVAL, "map", "too large");
        return pons_error_source(err, "picture");
    }
    s->w = w;
    s->h = h;
    return PONS_OK;
}

static void on_row(void *user, int y, const uint8_t *grey, const uint8_t *alpha)
{
    seen *s = user;
    must(s->sizes == 1 && y >= 0 && (uint64_t)y == s->rows++ && s->rows <= s->h);
    for (uint64_t x = 0; x < s->w; x++) { // all of it may be read
        s->sum += grey[x] + (alpha ? alpha[x] : 255u);
    }
}

static uint32_t sum_of(const uint8_t *at, size_t n)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        }
    }
    return ~crc;
}

static void right_sums(uint8_t *png, size_t n)
{
    for (size_t at = PNG_HEAD; at + CHUNK_HEAD + CHUNK_SUM <= n;) {
        const size_t len = (size_t)png[at] << 24 | (size_t)png[at + 1] << 16 |
                           (size_t)png[at + 2] << 8 | png[at + 3];
        if (len > n - at - CHUNK_HEAD - CHUNK_SUM) {
            return;
        }
        const uint32_t crc = sum_of(png + at + 4, len + 4);
        uint8_t *sum = png + at + CHUNK_HEAD + len;
        for (int i = 0; i < CHUNK_SUM; i++) {
            sum[i] = (uint8_t)(crc >> (24 - 8 * i));
        }
        at += CHUNK_HEAD + len + CHUNK_SUM;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pons_error err = PONS_ERROR_INIT;
    seen s = {0};
    const pons__image_sink sink = {.size = on_size, .row = on_row, .user = &s};
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy || size == 0) {
        free(copy);
        return 0;
    }
    memcpy(copy, data, size);
    const bool png = *copy == 0x89;
    if (png) {
        right_sums(copy, size);
    }
    FILE *f = fmemopen(copy, size, "r");
    must(f != NULL);
    const int rc =
        png ? pons__png_read(f, "picture", &sink, &err) : pons__pgm_read(f, "picture", &sink, &err);
    fclose(f);
    free(copy);
    if (rc < 0) {
        must(rc == PONS_EINVAL && err.message[0] && err.source[0]);
    } else {
        must(s.sizes == 1 && s.rows == s.h);
    }
    return 0;
}
