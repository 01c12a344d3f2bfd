// json_tokens.h - strict JSON as a flat array of nodes, and canonical text of a value; json_tokens.c has the essay.
#pragma once

#include "pons/error.h"
#include "pons/memory_pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef enum pons__kind {
    PONS__NULL,
    PONS__FALSE,
    PONS__TRUE,
    PONS__NUMBER,
    PONS__STRING,
    PONS__ARRAY,
    PONS__OBJECT
} pons__kind;

// A node of the tape. A container is followed by its children; a member of an object is the key (a
// string) and then the value. `next` is the index behind the whole subtree.
typedef struct pons__node {
    const char *s; // string: decoded, without a zero; number: its token; container: its last byte
    uint32_t len;  // bytes of s; container: elements or members
    uint32_t at;   // offset in the text
    uint32_t next;
    uint8_t kind; // pons__kind
    bool integer; // number: has no fraction and no exponent
    bool plain;   // string: needs no escape when it is written
} pons__node;

typedef struct pons__mark { // the byte at `out` of a repaired text comes from `in` of the given one
    uint32_t out, in;
} pons__mark;

// Lines and columns of a text; quick when it is asked in the order of the text.
typedef struct pons__places {
    const char *text;
    size_t len;
    size_t at, start; // where the last answer was, and where its line begins
    int line;         // from 1; 0: nothing asked yet
} pons__places;
void pons__places_find(pons__places *p, size_t at, int *ret_line, int *ret_column);

typedef struct pons__tokens {
    pons__node *nodes;
    size_t n, cap;
    const char *text; // borrowed
    size_t len;
    pons_pool strings;       // strings that had escapes
    pons__places places;     // in the text before its repair
    const pons__mark *marks; // (n_marks), by `out`; NULL: the text was not repaired
    size_t n_marks;
} pons__tokens;

// Parses one JSON text. PONS_EINVAL with line:col in the error's source.
// `t` is zero-initialised, but for `places` and `marks` of a repaired text.
int pons__tokens_parse(pons__tokens *t, const char *text, size_t len, pons_error *err);
void pons__tokens_fini(pons__tokens *t);
// Where a byte of the tape's text was in the text as it was given.
size_t pons__tokens_given(const pons__tokens *t, size_t at);
void pons__tokens_place(pons__tokens *t, size_t at, int *ret_line, int *ret_column);
// The value of a member, or NULL. Linear.
const pons__node *pons__tokens_get(const pons__tokens *t, const pons__node *object,
                                   const char *key);

// A value as canonical text in the arena. PONS_EINVAL: the key "a" is there twice.
int pons__tokens_canonical(pons__tokens *t, const pons__node *v, pons_pool *arena, const char **ret,
                           pons_error *err);

// Bytes before ", \ or a control character: what a string copies as it stands. In the header: it is
// what most of a reading and a writing consists of.
static inline size_t pons__plain_length(const char *s, size_t len)
{
    size_t i = 0;
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(0x1f);
    for (; i + 16 <= len; i += 16) {
        const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
        const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, control), x);
        const __m128i hit =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)), low);
        const int bits = _mm_movemask_epi8(hit);
        if (bits) {
            return i + (size_t)__builtin_ctz((unsigned)bits);
        }
    }
#endif
    for (; i < len; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            break;
        }
    }
    return i;
}

// Bytes before the first that is not ASCII.
static inline size_t pons__ascii_length(const char *s, size_t len)
{
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t x;
        memcpy(&x, s + i, sizeof x);
        if (x & 0x8080808080808080u) {
            break;
        }
    }
    while (i < len && (unsigned char)s[i] < 0x80) {
        i++;
    }
    return i;
}

bool pons__is_blank(const char *s); // as Python: not s.strip()
// Writes s as a JSON string (with its quotes) at p, which has room for 6·len + 2. Returns the end.
char *pons__put_string(char *p, const char *s, size_t len);
