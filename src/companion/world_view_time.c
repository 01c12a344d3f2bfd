// world_view_time.c - times of a world view as people write them: "2026-03-02T07:20+08:00".
#include "companion/calendar.h"
#include "companion/life.h"
#include "companion/world_view_queries.h"

#include <stdio.h>
#include <string.h>

enum { MINUTES_AN_HOUR = 60 };

char *pons_world_view_time(const pons_world_view *v, int64_t minute, char *buf, size_t cap)
{
    int y, m, d;
    const int64_t local = pons__co_local(v, minute), day = pons__co_floor_day(local);
    const int of_day = (int)(local - day * PONS__CO_MINUTES_A_DAY);
    const int off = v->offset_min < 0 ? -v->offset_min : v->offset_min;
    pons__co_date_of_day(day, &y, &m, &d);
    snprintf(buf, cap, "%04d-%02d-%02dT%02d:%02d%c%02d:%02d", y, m, d, of_day / MINUTES_AN_HOUR,
             of_day % MINUTES_AN_HOUR, v->offset_min < 0 ? '-' : '+', off / MINUTES_AN_HOUR,
             off % MINUTES_AN_HOUR);
    return buf;
}

static bool read_offset(const char *text, int *ret_min)
{
    if (strcmp(text, "Z") == 0) {
        *ret_min = 0;
        return true;
    }
    const int off =
        (*text == '+' || *text == '-') && strlen(text) == 6 ? pons__co_read_clock(text + 1) : -1;
    *ret_min = *text == '-' ? -off : off;
    return off >= 0;
}

int pons_world_view_minute(const pons_world_view *v, const char *text, int64_t near, int64_t *ret,
                           pons_error *err)
{
    const size_t len = strlen(text);
    char part[16] = "";
    int64_t day;
    int clock = 0, offset = v->offset_min;
    bool ok = true;
    if (len == 5 && (clock = pons__co_read_clock(text)) >= 0) {
        const int64_t local = pons__co_local(v, near);
        day = pons__co_floor_day(local);
        day -= day * PONS__CO_MINUTES_A_DAY + clock > local;
    } else {
        memcpy(part, text, len < 10 ? len : 10);
        ok = pons__co_read_date(part, &day);
        const char *rest = ok ? text + 10 : "";
        if (ok && *rest) {
            ok = *rest == 'T' || *rest == ' ';
            memset(part, 0, sizeof part);
            memcpy(part, rest + ok, strnlen(rest + ok, 5));
            clock = ok ? pons__co_read_clock(part) : -1;
            ok = clock >= 0;
            rest += ok ? 6 : 0;
            int s, n = 0;
            if (ok && sscanf(rest, ":%2d%n", &s, &n) == 1 && n == 3 && s >= 0 && s < 60) {
                rest += n;
            }
            ok = ok && (!*rest || read_offset(rest, &offset));
        }
    }
    if (!ok) {
        return pons_error_set(err, PONS_EINVAL, PONS__COMPANION,
                              "not a time: '%s'; write 2026-03-02T07:20, 2026-03-02 or 07:20",
                              text);
    }
    *ret = day * PONS__CO_MINUTES_A_DAY + clock - offset;
    return PONS_OK;
}
