// twist_word.h - both speeds of a base in one word, as floats: a reader of an atomic never sees the one of
// one command with the other of the next.
#pragma once

#include "pons/geometry.h"

#include <stdint.h>
#include <string.h>

static inline uint64_t pons__pack_twist(pons_twist2 t)
{
    const float pair[2] = {(float)t.v, (float)t.w};
    uint64_t word;
    memcpy(&word, pair, sizeof word);
    return word;
}

static inline pons_twist2 pons__unpack_twist(uint64_t word)
{
    float pair[2];
    memcpy(pair, &word, sizeof pair);
    return (pons_twist2){(double)pair[0], (double)pair[1]};
}
