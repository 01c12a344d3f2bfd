// bits.h - sets of small numbers: bits in words.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PONS__WORD_BITS 64

static inline bool pons__bit_get(const uint64_t *w, size_t i)
{
    return (w[i / PONS__WORD_BITS] >> (i % PONS__WORD_BITS)) & 1u;
}
static inline void pons__bit_set(uint64_t *w, size_t i)
{
    w[i / PONS__WORD_BITS] |= 1ULL << (i % PONS__WORD_BITS);
}
static inline void pons__bit_clear(uint64_t *w, size_t i)
{
    w[i / PONS__WORD_BITS] &= ~(1ULL << (i % PONS__WORD_BITS));
}
static inline bool pons__bits_any(const uint64_t *w, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++) {
        if (w[i]) {
            return true;
        }
    }
    return false;
}
