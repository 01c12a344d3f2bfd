// vectors.c - texts as vectors, stored as 32-bit numbers with the smallest byte first, and how near
// two of them are.
#include "items/vectors.h"

#include "items/value_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 4 };

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "items", "no memory for an item's vectors");
}

static int embed(const pons_items_options *opts, const char *const *texts, size_t n, float **ret,
                 pons_error *err)
{
    float *numbers = calloc(n * opts->dims + 1, sizeof *numbers);
    if (!numbers) {
        return no_memory(err);
    }
    int st = opts->embed(opts->embed_user, texts, n, numbers, err);
    for (size_t i = 0; !st && i < n * opts->dims; i++) {
        if (!isfinite(numbers[i])) {
            st = pons_error_set(err, PONS_EINVAL, "items",
                                "the embedding function gave a number that is none");
        }
    }
    if (st) {
        free(numbers);
        return st;
    }
    *ret = numbers;
    return PONS_OK;
}

int pons__item_embed(const pons_items_options *opts, const pons_value *value,
                     const char *const *fields, pons_buf *ret, pons_error *err)
{
    pons_autovalue list = json_array();
    int st = list ? pons__item_texts(value, fields, list) : PONS_ENOMEM;
    const size_t n = json_array_size(list);
    if (st || n == 0) {
        return st ? no_memory(err) : PONS_OK;
    }
    const char **texts = malloc(n * sizeof *texts);
    if (!texts) {
        return no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        texts[i] = json_string_value(json_array_get(list, i));
    }
    float *numbers = NULL;
    st = embed(opts, texts, n, &numbers, err);
    free(texts);
    for (size_t i = 0; !st && i < n * opts->dims; i++) {
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        const uint8_t bytes[NUMBER_BYTES] = {(uint8_t)bits, (uint8_t)(bits >> 8),
                                             (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
        st = pons_buf_bytes(ret, bytes, sizeof bytes) ? no_memory(err) : PONS_OK;
    }
    free(numbers);
    return st;
}

int pons__item_embed_text(const pons_items_options *opts, const char *text, float **ret,
                          pons_error *err)
{
    return embed(opts, &text, 1, ret, err);
}

static float number_at(const uint8_t *bytes)
{
    const uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

bool pons__item_nearness(const float *vector, size_t dims, pons_bytes stored, double *ret)
{
    const size_t row = dims * NUMBER_BYTES;
    bool any = false;
    if (row == 0 || stored.len % row != 0) { // of another function
        return false;
    }
    for (size_t at = 0; at < stored.len; at += row) {
        double dot = 0, mine = 0, its = 0;
        for (size_t i = 0; i < dims; i++) {
            const double x = (double)vector[i];
            const double y =
                (double)number_at((const uint8_t *)stored.data + at + i * NUMBER_BYTES);
            dot += x * y;
            mine += x * x;
            its += y * y;
        }
        const double cosine = mine > 0 && its > 0 ? dot / sqrt(mine * its) : 0;
        *ret = !any || cosine > *ret ? cosine : *ret;
        any = true;
    }
    return any;
}
