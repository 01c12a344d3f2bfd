// buf.c - growable bytes, and bytes as text.
#include "pons/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUF_CAP_MIN = 64, // bytes of the first allocation
};

void pons_buf_init(pons_buf *b)
{
    *b = (pons_buf)PONS_BUF_INIT;
}

void pons_buf_fini(pons_buf *b)
{
    if (!b) {
        return;
    }
    free(b->data);
    pons_buf_init(b);
}

void pons_buf_clear(pons_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data) {
        b->data[0] = '\0';
    }
}

static int fail(pons_buf *b)
{
    b->failed = true;
    return PONS_ENOMEM;
}

int pons_buf_reserve(pons_buf *b, size_t n)
{
    if (b->failed) {
        return PONS_ENOMEM;
    }
    if (b->cap - b->len > n) { // one byte stays for the zero
        return PONS_OK;
    }
    if (n > SIZE_MAX / 2 - b->len - 1) {
        return fail(b);
    }
    const size_t need = b->len + n + 1;
    size_t cap = b->cap ? b->cap * 2 : BUF_CAP_MIN;
    if (cap < need) {
        cap = need;
    }
    char *data = realloc(b->data, cap);
    if (!data) {
        return fail(b);
    }
    b->data = data;
    b->cap = cap;
    return PONS_OK;
}

int pons_buf_bytes(pons_buf *b, const void *data, size_t n)
{
    const int r = pons_buf_reserve(b, n);
    if (r < 0) {
        return r;
    }
    if (n) {
        memcpy(b->data + b->len, data, n);
    }
    b->len += n;
    b->data[b->len] = '\0';
    return PONS_OK;
}

int pons_buf_str(pons_buf *b, const char *s)
{
    return pons_buf_bytes(b, s, strlen(s));
}

int pons_buf_byte(pons_buf *b, uint8_t byte)
{
    return pons_buf_bytes(b, &byte, 1);
}

int pons_buf_printf(pons_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int r = pons_buf_vprintf(b, fmt, ap);
    va_end(ap);
    return r;
}

int pons_buf_vprintf(pons_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) {
        return fail(b);
    }
    const int r = pons_buf_reserve(b, (size_t)n);
    if (r < 0) {
        return r;
    }
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    b->len += (size_t)n;
    return PONS_OK;
}

int pons_buf_pointer(pons_buf *b, const char *key, size_t n)
{
    int rc = pons_buf_byte(b, '/');
    for (size_t i = 0; i < n && rc >= 0; i++) {
        const bool tilde = key[i] == '~';
        rc = tilde || key[i] == '/' ? pons_buf_str(b, tilde ? "~0" : "~1")
                                    : pons_buf_byte(b, (uint8_t)key[i]);
    }
    return rc;
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int pons_buf_base64(pons_buf *b, const void *data, size_t n)
{
    const char *digits = base64_digits;
    const uint8_t *in = data;
    const int rc = pons_buf_reserve(b, (n + 2) / 3 * 4);
    for (size_t i = 0; rc >= 0 && i < n; i += 3) {
        const size_t left = n - i;
        const uint32_t three = (uint32_t)in[i] << 16 | (uint32_t)(left > 1 ? in[i + 1] : 0) << 8 |
                               (uint32_t)(left > 2 ? in[i + 2] : 0);
        const char four[] = {digits[three >> 18], digits[three >> 12 & 63],
                             left > 1 ? digits[three >> 6 & 63] : '=',
                             left > 2 ? digits[three & 63] : '='};
        pons_buf_bytes(b, four, sizeof four);
    }
    return rc < 0 ? rc : pons_buf_bytes(b, NULL, 0); // of nothing it is "", too
}

int pons_buf_unbase64(pons_buf *b, const char *text, size_t n)
{
    const size_t was = b->len;
    const size_t pad = n >= 4 ? (size_t)(text[n - 1] == '=') + (text[n - 2] == '=') : 0;
    int rc = n % 4 == 0 ? pons_buf_reserve(b, n / 4 * 3) : PONS_EINVAL;
    uint32_t bits = 0;
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        const char *at = memchr(base64_digits, text[i], sizeof base64_digits - 1);
        const bool padding = i + pad >= n;
        if (padding ? text[i] != '=' : !at) {
            rc = PONS_EINVAL;
        }
        bits = bits << 6 | (uint32_t)(at && !padding ? at - base64_digits : 0);
        if (rc >= 0 && i % 4 == 3) {
            const uint8_t three[] = {(uint8_t)(bits >> 16), (uint8_t)(bits >> 8), (uint8_t)bits};
            rc = pons_buf_bytes(b, three, i + 1 == n ? 3 - pad : 3);
        }
    }
    if (rc == PONS_EINVAL && b->data) {
        b->len = was;
        b->data[was] = '\0';
    }
    return rc;
}

char *pons_buf_take(pons_buf *b, size_t *ret_len)
{
    if (pons_buf_reserve(b, 0) < 0) { // an empty buffer still gives a zero-terminated string
        return NULL;
    }
    char *data = b->data;
    data[b->len] = '\0';
    if (ret_len) {
        *ret_len = b->len;
    }
    pons_buf_init(b);
    return data;
}

pons_bufread pons_bufread_of(const void *data, size_t n)
{
    return (pons_bufread){.at = data, .end = n ? (const uint8_t *)data + n : data};
}

const void *pons_bufread_bytes(pons_bufread *r, size_t n)
{
    if (r->bad || (size_t)(r->end - r->at) < n) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at += n;
    return p;
}
