// error.c - filling an error once, in the caller's storage, cut cleanly when it does not fit.
//
// Every text is formatted into a local array first, so that an argument may point into the very
// error that is being filled ("%s", err->message).
#include "pons/error.h"

#include <stdio.h>
#include <string.h>

static void format(char *dst, size_t cap, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
static void copy(char *dst, size_t cap, const char *src);
static size_t cut(const char *s, size_t n);

const char *pons_status_word(int status)
{
    switch (status) {
#define STATUS_WORD(sym, num, word)                                                                \
    case num:                                                                                      \
        return word;
        PONS_STATUS_TABLE(STATUS_WORD)
#undef STATUS_WORD
    default:
        return "unknown status";
    }
}

int pons_error_set(pons_error *err, int status, const char *module, const char *fmt, ...)
{
    if (!err)
        return status;
    char message[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    format(message, sizeof message, fmt, ap);
    va_end(ap);
    err->status = status;
    copy(err->module, sizeof err->module, module);
    copy(err->message, sizeof err->message, message);
    err->source[0] = '\0';
    err->cause[0] = '\0';
    return status;
}

int pons_error_source(pons_error *err, const char *fmt, ...)
{
    if (!err)
        return PONS_OK;
    char source[PONS_ERROR_SOURCE_MAX];
    va_list ap;
    va_start(ap, fmt);
    format(source, sizeof source, fmt, ap);
    va_end(ap);
    copy(err->source, sizeof err->source, source);
    return err->status;
}

int pons_error_cause(pons_error *err, const char *fmt, ...)
{
    if (!err)
        return PONS_OK;
    char cause[PONS_ERROR_CAUSE_MAX];
    va_list ap;
    va_start(ap, fmt);
    format(cause, sizeof cause, fmt, ap);
    va_end(ap);
    copy(err->cause, sizeof err->cause, cause);
    return err->status;
}

int pons_error_context(pons_error *err, const char *fmt, ...)
{
    if (!err)
        return PONS_OK;
    char prefix[PONS_ERROR_MESSAGE_MAX], message[2 * PONS_ERROR_MESSAGE_MAX + 2];
    va_list ap;
    va_start(ap, fmt);
    format(prefix, sizeof prefix, fmt, ap);
    va_end(ap);
    snprintf(message, sizeof message, "%s: %s", prefix, err->message);
    copy(err->message, sizeof err->message, message);
    return err->status;
}

char *pons_error_line(const pons_error *err, char *buf, size_t cap)
{
    char line[sizeof *err + 16]; // all texts and what stands between them
    size_t n = 0;
    const size_t max = sizeof line;
    if (err->module[0])
        n += (size_t)snprintf(line + n, max - n, "%s: ", err->module);
    // An error that says nothing is still named by its status.
    const char *message = err->message[0] ? err->message : pons_status_word(err->status);
    n += (size_t)snprintf(line + n, max - n, "%s", message);
    if (err->source[0])
        n += (size_t)snprintf(line + n, max - n, " [%s]", err->source);
    if (err->cause[0])
        snprintf(line + n, max - n, ": %s", err->cause);
    copy(buf, cap, line);
    return buf;
}

// Formats one line: what would break a terminal or a log line becomes a space.
static void format(char *dst, size_t cap, const char *fmt, va_list ap)
{
    const int n = vsnprintf(dst, cap, fmt, ap);
    if (n < 0) {
        dst[0] = '\0';
        return;
    }
    if ((size_t)n >= cap)
        dst[cut(dst, cap - 1)] = '\0';
    for (char *c = dst; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

static void copy(char *dst, size_t cap, const char *src)
{
    const size_t n = strlen(src);
    const size_t keep = n < cap ? n : cut(src, cap - 1);
    memcpy(dst, src, keep);
    dst[keep] = '\0';
}

// The longest length ≤ n that does not split a UTF-8 sequence of s, whose first n bytes are
// readable (and the byte at n too, or its terminator stands there).
static size_t cut(const char *s, size_t n)
{
    size_t start = n;
    while (start > 0 && n - start < 4 && ((unsigned char)s[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0)
        return n;
    const unsigned char lead = (unsigned char)s[start - 1];
    const size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return n - (start - 1) < want ? start - 1 : n;
}
