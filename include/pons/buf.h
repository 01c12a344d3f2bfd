// buf.h - a growable run of bytes, for text lines and packed rows.
//
// Appending never leaves half an item: it either fits or the buffer is marked `failed`, and every
// later append fails too, so a writer may append many things and look once at the end. The bytes
// are always followed by a zero that `len` does not count.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

PONS_C_BEGIN

typedef struct pons_buf { // the caller's storage; one thread
    char *data;           // NULL while nothing was ever appended
    size_t len;           // bytes in use
    size_t cap;           // bytes allocated
    bool failed;          // an append found no memory
} pons_buf;

#define PONS_BUF_INIT                                                                              \
    {                                                                                              \
        .data = NULL                                                                               \
    }

void pons_buf_init(pons_buf *b);
void pons_buf_fini(pons_buf *b);  // frees; the buffer is empty and usable afterwards
void pons_buf_clear(pons_buf *b); // empty, keeps its memory, forgets a failure

// Makes room for n more bytes. All appends return PONS_OK or PONS_ENOMEM.
int pons_buf_reserve(pons_buf *b, size_t n);
int pons_buf_bytes(pons_buf *b, const void *data, size_t n);
int pons_buf_str(pons_buf *b, const char *s); // without its zero
int pons_buf_byte(pons_buf *b, uint8_t byte);
int pons_buf_printf(pons_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int pons_buf_vprintf(pons_buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
int pons_buf_pointer(pons_buf *b, const char *key,
                     size_t n); // a step of a JSON pointer: "/a~1b" (RFC 6901)
int pons_buf_base64(pons_buf *b, const void *data, size_t n); // RFC 4648, padded, one line

// What such a text stands for; PONS_EINVAL: it is none, and the buffer is as it was.
int pons_buf_unbase64(pons_buf *b, const char *text, size_t n);

// The bytes and their zero become the caller's (free()); the buffer is empty afterwards. NULL when
// the buffer had failed or there is no memory. ret_len may be NULL.
char *pons_buf_take(pons_buf *b, size_t *ret_len);

// Reading back: a cursor over borrowed bytes. A read that runs off the end marks
// the cursor `bad`; later reads fail too.
typedef struct pons_bufread {
    const uint8_t *at, *end;
    bool bad;
} pons_bufread;

pons_bufread pons_bufread_of(const void *data, size_t n);
const void *pons_bufread_bytes(pons_bufread *r, size_t n); // borrowed; NULL when bad

static inline void pons_buf_cleanup(pons_buf *b)
{
    pons_buf_fini(b);
}
// pons_autobuf b = PONS_BUF_INIT; is freed at the end of its scope.
#define pons_autobuf __attribute__((cleanup(pons_buf_cleanup))) pons_buf

// Bytes of the UTF-8 sequence that s begins with, 1 to 4; 0 when len is 0 or it is not a valid one
// (overlong forms, surrogates and what lies beyond U+10FFFF are not). Any thread.
size_t pons_utf8_sequence(const char *s, size_t len);
// How many bytes at the beginning are UTF-8 without a zero byte: len, or where the first is that is not. Any thread.
size_t pons_utf8_valid(const char *s, size_t len);

// Copies a text, cut between characters where it is too long or no more UTF-8. cap: at least 1, the zero included.
void pons_utf8_copy(char *ret, size_t cap, const char *text);

// Bytes of the byte order mark that some editors put before a text: 3, or 0 where there is none.
static inline size_t pons_utf8_mark(const char *s, size_t len)
{
    return len >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

PONS_C_END
