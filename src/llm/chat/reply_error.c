// reply_error.c - what is wrong with a reply, in its error.
#include "llm/chat/chat.h"

#include <stdarg.h>
#include <stdio.h>

int pons__bad(pons__reply *r, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return pons_error_set(r->err, PONS_EPROTOCOL, "llm", "%s", text);
}

int pons__faulty(pons__reply *r, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->faulty = true;
    return pons__bad(r, "%s", text);
}

int pons__no_memory(pons__reply *r)
{
    return pons_error_set(r->err, PONS_ENOMEM, "llm", "no memory for the answer");
}
