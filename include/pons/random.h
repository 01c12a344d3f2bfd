// random.h - seeded randomness (xoshiro256**, Blackman & Vigna) and ids.
#pragma once

#include "pons/clock.h"
#include "pons/linkage.h"

#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

typedef struct pons_rand { // the caller's storage; one thread
    uint64_t s[4];
} pons_rand;

void pons_rand_seed(pons_rand *r, uint64_t seed); // same seed, same sequence, on every machine
void pons_rand_seed_os(pons_rand *r);             // from getrandom(2)
uint64_t pons_rand_u64(pons_rand *r);
double pons_rand_unit(pons_rand *r);                               // [0, 1)
double pons_rand_normal(pons_rand *r, double mean, double stddev); // Box-Muller
uint64_t pons_rand_below(pons_rand *r, uint64_t n);                // [0, n), unbiased; n ≥ 1

// A time-sortable id: 26 characters of Crockford base 32 (48 bits of wall ms, 80 random bits) and a
// zero. Ids made in the same millisecond by one pons_id_source still sort in the order they were
// made.
#define PONS_ID_MAX 27
typedef struct pons_id_source {
    pons_clock clock;
    pons_rand *rand; // borrowed
    int64_t last_ms;
    uint8_t last[10];
} pons_id_source;
void pons_id_source_init(pons_id_source *s, pons_clock clock, pons_rand *rand);
void pons_id_make(pons_id_source *s, char ret[PONS_ID_MAX]);

// SHA-256 (FIPS 180-4) of n bytes.
void pons_sha256(const void *data, size_t n, uint8_t ret[32]);

PONS_C_END
