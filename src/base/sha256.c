// sha256.c - SHA-256 as FIPS 180-4 defines it, in one call or in pieces.
#include "base/sha256.h"

#include "pons/random.h"

#include <string.h>

enum {
    BLOCK = 64,      // bytes
    LENGTH_BYTES = 8 // of the bit count that ends the padding
};

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void pons_sha256(const void *data, size_t n, uint8_t ret[32])
{
    pons__sha256 s;
    pons__sha256_init(&s);
    pons__sha256_feed(&s, data, n);
    pons__sha256_done(&s, ret);
}

void pons__sha256_init(pons__sha256 *s)
{
    // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    *s = (pons__sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                              0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

static inline uint32_t ror(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void compress(uint32_t h[8], const uint8_t block[BLOCK])
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (int i = 16; i < 64; i++) {
        const uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    // The working variables keep their names from the standard; they move on every round.
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], hh = h[7];
    for (int i = 0; i < 64; i++) {
        const uint32_t s1 = ror(e, 6) ^ ror(e, 11) ^ ror(e, 25);
        const uint32_t t1 = hh + s1 + (g ^ (e & (f ^ g))) + k[i] + w[i]; // with Ch(e, f, g)
        const uint32_t s0 = ror(a, 2) ^ ror(a, 13) ^ ror(a, 22);
        const uint32_t t2 = s0 + ((a & b) | (c & (a | b))); // with Maj(a, b, c)
        hh = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const uint32_t v[8] = {a, b, c, d, e, f, g, hh};
    for (int i = 0; i < 8; i++) {
        h[i] += v[i];
    }
}

void pons__sha256_feed(pons__sha256 *s, const void *data, size_t n)
{
    const uint8_t *p = data;
    s->total += n;
    if (s->fill) {
        const size_t take = n < BLOCK - s->fill ? n : BLOCK - s->fill;
        if (take) {
            memcpy(s->block + s->fill, p, take);
        }
        s->fill += take;
        p += take;
        n -= take;
        if (s->fill < BLOCK) {
            return;
        }
        compress(s->h, s->block);
        s->fill = 0;
    }
    for (; n >= BLOCK; p += BLOCK, n -= BLOCK) {
        compress(s->h, p);
    }
    if (n) {
        memcpy(s->block, p, n);
    }
    s->fill = n;
}

void pons__sha256_done(pons__sha256 *s, uint8_t ret[32])
{
    // Padding: a one bit, zeros, and the message's length in bits as 64 bits, big end first.
    static const uint8_t padding[BLOCK] = {0x80};
    const uint64_t bits = s->total * 8;
    const size_t used = s->fill + 1 + LENGTH_BYTES;
    const size_t zeros = used <= BLOCK ? BLOCK - used : 2 * BLOCK - used;
    pons__sha256_feed(s, padding, 1 + zeros);
    uint8_t length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++) {
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    pons__sha256_feed(s, length, sizeof length);
    for (int i = 0; i < 32; i++) {
        ret[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
    }
}
