// fuzz_camera_picture.c - whatever a camera's or a person's picture holds, JPEG or PNG, all of its pixels are there and
// within the size that was asked for, and it can be blurred and written again; or one line says what is wrong.
//
// The sums of a PNG's chunks are put right first, so that changes reach what is behind them. A picture of more than
// PIXELS_MAX by its header is left out: libjpeg takes a minute for the largest that is read.
#include "pons/picture.h"

#include <stdlib.h>
#include <string.h>

enum { PIXELS_MAX = 1 << 18, EDGE_MAX = 64, PNG_HEAD = 8, CHUNK_HEAD = 8, CHUNK_SUM = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static uint32_t number(const uint8_t *at, int bytes)
{
    uint32_t n = 0;
    for (int i = 0; i < bytes; i++) {
        n = n << 8 | at[i];
    }
    return n;
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
        const size_t len = number(png + at, 4);
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

// Of a frame's header in a JPEG (SOF0 … SOF15) or of a PNG's: whether it is too large for a fuzzer, and is still read.
static bool slow(const uint8_t *at, size_t n)
{
    bool found = false;
    for (size_t i = 0; i + 9 < n; i++) {
        const bool frame = at[i] == 0xff && (at[i + 1] & 0xf0) == 0xc0;
        const uint64_t pixels = (uint64_t)number(at + i + 5, 2) * number(at + i + 7, 2);
        found = found || (frame && pixels > PIXELS_MAX);
    }
    const uint64_t pixels = n > 24 ? (uint64_t)number(at + 16, 4) * number(at + 20, 4) : 0;
    return *at == 0x89 ? pixels > PIXELS_MAX && pixels <= PONS_PICTURE_PIXELS_MAX : found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double middle[4] = {0.2, 0.3, 0.7, 2.0};
    pons_error err = PONS_ERROR_INIT;
    pons_picture_raw p = {0};
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy || size == 0) {
        free(copy);
        return 0;
    }
    memcpy(copy, data, size);
    if (*copy == 0x89) {
        right_sums(copy, size);
    }
    const int edge = size % 2 ? 0 : EDGE_MAX;
    const int rc = slow(copy, size) ? PONS_EBUSY : pons_picture_decode(copy, size, edge, &p, &err);
    free(copy);
    if (rc == PONS_OK) {
        void *jpeg = NULL;
        size_t n = 0;
        must(p.width > 0 && p.height > 0);
        must(edge == 0 || (p.width <= edge && p.height <= edge));
        pons_picture_blur(&p, middle);
        must(pons_picture_scale(&p, EDGE_MAX / 2, &err) == PONS_OK);
        const int made = pons_picture_jpeg(&p, 0, &jpeg, &n, &err);
        must(made == PONS_EENV || (made == PONS_OK && n > 0));
        free(jpeg);
    } else if (rc != PONS_EBUSY) {
        must((rc == PONS_EINVAL || rc == PONS_EENV) && err.message[0] && !p.rgb);
    }
    free(p.rgb);
    return 0;
}
