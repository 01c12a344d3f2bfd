// base_internal.h - what the files of base share.
#ifndef PONS_BASE_INTERNAL_H
#define PONS_BASE_INTERNAL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

// SHA-256 in pieces, for what is hashed while it is written.
typedef struct pons__sha256 {
    uint32_t h[8];
    uint64_t total; // bytes fed
    uint8_t block[64];
    size_t fill; // bytes waiting in block
} pons__sha256;

void pons__sha256_init(pons__sha256 *s);
void pons__sha256_feed(pons__sha256 *s, const void *data, size_t n);
void pons__sha256_done(pons__sha256 *s, uint8_t ret[32]);

// The longest length ≤ n that does not split a sequence at the end of s's first n bytes, which may
// be cut from a longer text.
size_t pons__utf8_cut(const char *s, size_t n);

// As vsnprintf, but what does not fit is cut at a character, and what would break a terminal or a
// line becomes a space.
void pons__format(char *dst, size_t cap, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

#endif
