// violation_report.c - how what was broken is told: once a kind, with the moment. The other files of the watch stand on it.
#include "scenario/checks/invariants_internal.h"

#include <stdarg.h>
#include <stdio.h>

void pons__watch_broken(pons__watch *w, const char *kind, const char *fmt, ...)
{
    char text[256];
    va_list args;
    if (pons_get(w->kinds, kind)) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_object_set_new(w->kinds, kind, json_true());
    json_array_append_new(w->misses, json_sprintf("at %.2f s: %s", w->now_s, text));
}
