// sha256.h - SHA-256 in pieces, for what is hashed while it is written. In one call: pons_sha256.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct pons__sha256 {
    uint32_t h[8];
    uint64_t total; // bytes fed
    uint8_t block[64];
    size_t fill; // bytes waiting in block
} pons__sha256;

void pons__sha256_init(pons__sha256 *s);
void pons__sha256_feed(pons__sha256 *s, const void *data, size_t n);
void pons__sha256_done(pons__sha256 *s, uint8_t ret[32]);
