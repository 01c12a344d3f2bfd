// error.c - filling an error once, in the caller's storage, cut cleanly when it does not fit.
//
// Every text is formatted into a local array first, so that an argument may point into the very
// error that is being filled ("%s", err->message).
#include "pons/error.h"

#include "base/text/utf8.h"

#include <stdio.h>
#include <string.h>

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

static void copy(char *dst, size_t cap, const char *src)
{
    const size_t n = strlen(src);
    const size_t keep = n < cap ? n : pons__utf8_cut(src, cap - 1);
    memcpy(dst, src, keep);
    dst[keep] = '\0';
}

int pons_error_set(pons_error *err, int status, const char *module, const char *fmt, ...)
{
    if (!err) {
        return status;
    }
    char message[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(message, sizeof message, fmt, ap);
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
    if (!err) {
        return PONS_EINVAL;
    }
    char source[PONS_ERROR_SOURCE_MAX];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(source, sizeof source, fmt, ap);
    va_end(ap);
    copy(err->source, sizeof err->source, source);
    return err->status;
}

int pons_error_cause(pons_error *err, const char *fmt, ...)
{
    if (!err) {
        return PONS_EINVAL;
    }
    char cause[PONS_ERROR_CAUSE_MAX];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(cause, sizeof cause, fmt, ap);
    va_end(ap);
    copy(err->cause, sizeof err->cause, cause);
    return err->status;
}

int pons_error_context(pons_error *err, const char *fmt, ...)
{
    if (!err) {
        return PONS_EINVAL;
    }
    char prefix[PONS_ERROR_MESSAGE_MAX], message[2 * PONS_ERROR_MESSAGE_MAX + 2];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(prefix, sizeof prefix, fmt, ap);
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
    if (err->module[0]) {
        n += (size_t)snprintf(line + n, max - n, "%s: ", err->module);
    }
    // An error that says nothing is still named by its status.
    const char *message = err->message[0] ? err->message : pons_status_word(err->status);
    n += (size_t)snprintf(line + n, max - n, "%s", message);
    if (err->source[0]) {
        n += (size_t)snprintf(line + n, max - n, " [%s]", err->source);
    }
    if (err->cause[0]) {
        snprintf(line + n, max - n, ": %s", err->cause);
    }
    copy(buf, cap, line);
    return buf;
}
