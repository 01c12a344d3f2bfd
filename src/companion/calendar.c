// calendar.c - days, dates and times as people write them.
//
// The proleptic Gregorian calendar; a day is its number since 1970-01-01. A year is counted from
// March, so that the leap day is its last one.
#include <stdio.h>
#include <string.h>

#include "companion/companion_internal.h"

enum { DAYS_400_YEARS = 146097, DAYS_TO_1970 = 719468, MINUTES_AN_HOUR = 60 };

static void date_of_day(int64_t day, int *ret_year, int *ret_month, int *ret_day);
static bool read_offset(const char *text, int *ret_min);

int64_t co_day_of_date(int year, int month, int day)
{
    const int64_t y = month <= 2 ? year - 1 : year; // years from March on
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * DAYS_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970;
}

static void date_of_day(int64_t day, int *ret_year, int *ret_month, int *ret_day)
{
    const int64_t z = day + DAYS_TO_1970;
    const int64_t era = (z >= 0 ? z : z - (DAYS_400_YEARS - 1)) / DAYS_400_YEARS;
    const int64_t of_era = z - era * DAYS_400_YEARS;
    const int64_t year =
        (of_era - of_era / 1460 + of_era / 36524 - of_era / (DAYS_400_YEARS - 1)) / 365;
    const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const int64_t month = (5 * of_year + 2) / 153; // 0: March
    *ret_day = (int)(of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
    *ret_year = (int)(year + era * 400 + (*ret_month <= 2));
}

bool co_read_date(const char *text, int64_t *ret_day)
{
    int y, m, d, n = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &y, &m, &d, &n) != 3 || n != 10) {
        return false;
    }
    int y2, m2, d2;
    const int64_t day = co_day_of_date(y, m, d);
    date_of_day(day, &y2, &m2, &d2); // the 30th of February comes back as another day
    if (y != y2 || m != m2 || d != d2) {
        return false;
    }
    *ret_day = day;
    return true;
}

int co_read_clock(const char *text)
{
    int h, m, n = 0;
    if (sscanf(text, "%2d:%2d%n", &h, &m, &n) != 2 || n != 5 || h < 0 || h > 23 || m < 0 ||
        m > 59) {
        return -1;
    }
    return h * MINUTES_AN_HOUR + m;
}

int co_weekday(int64_t day)
{
    const int thursday = 3; // 1970-01-01 was one
    return (int)(((day + thursday) % 7 + 7) % 7);
}

int64_t co_floor_day(int64_t local_min)
{
    return local_min >= 0 ? local_min / CO_MINUTES_A_DAY
                          : -((-local_min + CO_MINUTES_A_DAY - 1) / CO_MINUTES_A_DAY);
}

char *pons_world_view_time(const pons_world_view *v, int64_t minute, char *buf, size_t cap)
{
    int y, m, d;
    const int64_t local = co_local(v, minute), day = co_floor_day(local);
    const int of_day = (int)(local - day * CO_MINUTES_A_DAY);
    const int off = v->offset_min < 0 ? -v->offset_min : v->offset_min;
    date_of_day(day, &y, &m, &d);
    snprintf(buf, cap, "%04d-%02d-%02dT%02d:%02d%c%02d:%02d", y, m, d, of_day / MINUTES_AN_HOUR,
             of_day % MINUTES_AN_HOUR, v->offset_min < 0 ? '-' : '+', off / MINUTES_AN_HOUR,
             off % MINUTES_AN_HOUR);
    return buf;
}

int pons_world_view_minute(const pons_world_view *v, const char *text, int64_t near, int64_t *ret,
                           pons_error *err)
{
    const size_t len = strlen(text);
    char part[16] = "";
    int64_t day;
    int clock = 0, offset = v->offset_min;
    bool ok = true;
    if (len == 5 && (clock = co_read_clock(text)) >= 0) {
        const int64_t local = co_local(v, near);
        day = co_floor_day(local);
        day -= day * CO_MINUTES_A_DAY + clock > local;
    } else {
        memcpy(part, text, len < 10 ? len : 10);
        ok = co_read_date(part, &day);
        const char *rest = ok ? text + 10 : "";
        if (ok && *rest) {
            ok = *rest == 'T' || *rest == ' ';
            memset(part, 0, sizeof part);
            memcpy(part, rest + ok, strnlen(rest + ok, 5));
            clock = ok ? co_read_clock(part) : -1;
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
        return pons_error_set(err, PONS_EINVAL, COMPANION,
                              "not a time: '%s'; write 2026-03-02T07:20, 2026-03-02 or 07:20",
                              text);
    }
    *ret = day * CO_MINUTES_A_DAY + clock - offset;
    return PONS_OK;
}

static bool read_offset(const char *text, int *ret_min)
{
    if (strcmp(text, "Z") == 0) {
        *ret_min = 0;
        return true;
    }
    const int off =
        (*text == '+' || *text == '-') && strlen(text) == 6 ? co_read_clock(text + 1) : -1;
    *ret_min = *text == '-' ? -off : off;
    return off >= 0;
}
