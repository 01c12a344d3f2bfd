// tell.c - what is told to people: errors of a line of their own, and lines beside what goes on.
#include "app/workspace/context.h"

#include <stdarg.h>
#include <stdio.h>

static int own_line(pons_error *err, int status, const char *fmt, va_list ap)
{
    char line[PONS_ERROR_MESSAGE_MAX + 4]; // longer than a message: the error cuts between letters
    vsnprintf(line, sizeof line, fmt, ap);
    return pons_error_set(err, status, "", "%s", line);
}

int app_bad(pons_error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int rc = own_line(err, PONS_EINVAL, fmt, ap);
    va_end(ap);
    return rc;
}

int app_lacks(pons_error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int rc = own_line(err, PONS_EENV, fmt, ap);
    va_end(ap);
    return rc;
}

int app_unreached(pons_error *err)
{
    err->status = PONS_EENV;
    return PONS_EENV;
}

void app_tell(const app_context *c, const char *fmt, ...)
{
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + PONS_ERROR_CAUSE_MAX + 64];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (c->tell) {
        c->tell(line);
    }
}

void app_tell_error(const app_context *c, const pons_error *err)
{
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + PONS_ERROR_CAUSE_MAX + 64];
    app_tell(c, "pons: %s", pons_error_line(err, line, sizeof line));
}
