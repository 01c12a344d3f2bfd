// stream_redactor.c - what may be the beginning of the secret is held until the next piece tells. Everything
// else goes on at once, so a stream is as fast as without.
#include "llm/stream_redactor.h"

#include <string.h>

void pons__redact(char *text, const char *secret)
{
    static const char stars[] = "***";
    size_t n = secret ? strlen(secret) : 0;
    if (!text || n < sizeof stars) {
        return; // nothing that short is a key, and there would be no room
    }
    for (char *at = text; (at = strstr(at, secret));) {
        memcpy(at, stars, sizeof stars - 1);
        memmove(at + sizeof stars - 1, at + n, strlen(at + n) + 1);
    }
}

void pons__redactor_fini(pons__redactor *v)
{
    pons_buf_fini(&v->held);
}

// How much of the end of the text may be the beginning of the secret.
static size_t may_be_secret(const pons_buf *text, const char *secret)
{
    size_t n = strlen(secret);
    n = n ? n - 1 : 0;
    n = n < text->len ? n : text->len;
    while (n > 0 && memcmp(text->data + text->len - n, secret, n) != 0) {
        n--;
    }
    return n;
}

int pons__redactor_pass(pons__redactor *v, const char *piece, pons_buf *ret)
{
    if (!v->secret) {
        return pons_buf_str(ret, piece);
    }
    if (pons_buf_str(&v->held, piece) != PONS_OK) {
        return PONS_ENOMEM;
    }
    pons__redact(v->held.data, v->secret);
    v->held.len = strlen(v->held.data);
    const size_t keep = may_be_secret(&v->held, v->secret), n = v->held.len - keep;
    if (pons_buf_bytes(ret, v->held.data, n) != PONS_OK) {
        return PONS_ENOMEM;
    }
    memmove(v->held.data, v->held.data + n, keep + 1);
    v->held.len = keep;
    return PONS_OK;
}

int pons__redactor_end(pons__redactor *v, pons_buf *ret)
{
    int rc = v->held.len ? pons_buf_bytes(ret, v->held.data, v->held.len) : PONS_OK;
    pons_buf_clear(&v->held);
    return rc;
}
