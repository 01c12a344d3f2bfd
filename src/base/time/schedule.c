// schedule.c - when something is due.
//
// A field is a list of values, ranges and steps: "*", "5", "1-5", "*/15", "8-18/2", "mon,wed". Where
// both the day and the weekday are restricted, either will do, as crontab(5) says.
//
// Times are looked for on the clock that people see: the next minute that fits, then when that is (time_zone.c). What comes
// out at or before the time asked for was there already, the first time that the clock showed it.
#include "pons/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    FIELDS = 5,
    FIELD_MAX = 64,
    YEARS = 10,
    DAYS_MAX = 3660,
    MS_PER_S = 1000,
    S_PER_MINUTE = 60,
    S_PER_H = 3600,
    S_PER_DAY = 86400
};

#define WHERE     "schedule"
#define YEAR_LAST 9000

static const char *const month_words[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                          "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const day_words[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field {
    const char *name;
    int low, high;
    const char *const *words; // of low and what follows
} fields[FIELDS] = {{"minute", 0, 59, NULL},
                    {"hour", 0, 23, NULL},
                    {"day", 1, 31, NULL},
                    {"month", 1, 12, month_words},
                    {"weekday", 0, 7, day_words}};

static bool value(const struct field *f, const char **at, int *ret)
{
    char *end = NULL;
    for (int i = 0; f->words && f->words[i]; i++) {
        if (strncasecmp(*at, f->words[i], 3) == 0) {
            *ret = f->low + i;
            *at += 3;
            return true;
        }
    }
    const long n = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;
    if (n < f->low || n > f->high) {
        return false;
    }
    *ret = (int)n;
    *at = end;
    return true;
}

static bool part(const struct field *f, const char **at, uint64_t *bits)
{
    int from = f->low, to = f->high, step = 1;
    bool one = false;
    if (**at == '*') {
        (*at)++;
    } else {
        if (!value(f, at, &from)) {
            return false;
        }
        to = from;
        one = true;
        if (**at == '-') {
            (*at)++;
            one = false;
            if (!value(f, at, &to) || to < from) {
                return false;
            }
        }
    }
    if (**at == '/') {
        char *end = NULL;
        const long n = strtol(*at + 1, &end, 10);
        if (end == *at + 1 || n < 1 || n > f->high) {
            return false;
        }
        step = (int)n;
        to = one ? f->high : to;
        *at = end;
    }
    for (int i = from; i <= to; i += step) {
        *bits |= UINT64_C(1) << i;
    }
    return true;
}

static bool read_field(const struct field *f, const char *text, uint64_t *ret)
{
    *ret = 0;
    for (const char *at = text;; at++) {
        if (!part(f, &at, ret)) {
            return false;
        }
        if (*at != ',') {
            return *at == '\0';
        }
    }
}

static int read_fields(const char *text, pons_schedule *ret, pons_error *err)
{
    char words[FIELDS][FIELD_MAX];
    uint64_t bits[FIELDS];
    int end = 0;
    if (sscanf(text, " %63s %63s %63s %63s %63s %n", words[0], words[1], words[2], words[3],
               words[4], &end) != FIELDS ||
        text[end]) {
        return pons_error_set(
            err, PONS_EINVAL, WHERE,
            "five fields, minute hour day month weekday (\"0 8 * * mon-fri\"), or "
            "\"every 90m\", \"at 9:00\", \"at tomorrow 9:00\", \"in 10m\"");
    }
    for (int i = 0; i < FIELDS; i++) {
        if (!read_field(&fields[i], words[i], &bits[i])) {
            return pons_error_set(err, PONS_EINVAL, WHERE, "'%s' is no %s", words[i],
                                  fields[i].name);
        }
    }
    *ret = (pons_schedule){.kind = PONS_SCHEDULE_FIELDS,
                           .minutes = bits[0],
                           .hours = (uint32_t)bits[1],
                           .days = (uint32_t)bits[2],
                           .months = (uint32_t)bits[3],
                           .weekdays = (uint32_t)(bits[4] | bits[4] >> 7),
                           .any_day = words[2][0] == '*',
                           .any_weekday = words[4][0] == '*'};
    return PONS_OK;
}

// "90", "90s", "10m", "2h", "1d".
static int span_ms(const char *text, int64_t least_s, int64_t *ret, pons_error *err)
{
    char *end = NULL;
    const double n = strtod(text, &end);
    const double each = *end == 'm'   ? S_PER_MINUTE
                        : *end == 'h' ? S_PER_H
                        : *end == 'd' ? S_PER_DAY
                                      : 1;
    end += *end && strchr("smhd", *end) ? 1 : 0;
    if (end == text || *end || !(n * each >= (double)least_s) ||
        !(n * each <= (double)DAYS_MAX * S_PER_DAY)) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "'%.40s' is no time from %lld s to ten years, like 90s, 10m, 2h, 1d",
                              text, (long long)least_s);
    }
    *ret = (int64_t)(n * each * MS_PER_S);
    return PONS_OK;
}

static int64_t floor_day(int64_t s)
{
    return s - ((s % S_PER_DAY) + S_PER_DAY) % S_PER_DAY;
}

static int no_time(const char *text, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, WHERE,
                          "'at %.60s' is no time like \"at 9:00\", \"at tomorrow 9:00\", \"at "
                          "2027-01-31 9:00\"",
                          text);
}

// The day of "mon" or "next-mon" (of the week after this one, which begins with its Monday); -1: it is none.
static int64_t read_weekday(const char *day, int64_t today_s, bool *ret_this_week)
{
    const bool next = strncmp(day, "next-", 5) == 0;
    day += next ? 5 : 0;
    const int64_t today =
        (today_s / S_PER_DAY + 4) % 7; // Sunday is 0, and 1970 began with a Thursday
    for (int i = 0; day_words[i]; i++) {
        if (strcmp(day, day_words[i]) == 0) {
            const int64_t monday_s = today_s - (today + 6) % 7 * S_PER_DAY;
            *ret_this_week = !next;
            return next ? monday_s + (7 + (i + 6) % 7) * (int64_t)S_PER_DAY
                        : today_s + (i - today + 7) % 7 * S_PER_DAY;
        }
    }
    return -1;
}

// The next day of "02-28", of which the clock is not over yet; -1: no year has it.
static int64_t read_month_day(int mon, int d, int64_t today_s, int64_t clock_s, int64_t shown_s)
{
    const time_t t = (time_t)today_s;
    struct tm now;
    gmtime_r(&t, &now);
    for (int i = 0; i <= 8; i++) { // from one 29th of February to another
        struct tm tm = {.tm_year = now.tm_year + i, .tm_mon = mon - 1, .tm_mday = d};
        const int64_t day_s = timegm(&tm);
        if (tm.tm_mon == mon - 1 && tm.tm_mday == d && day_s + clock_s > shown_s) {
            return day_s;
        }
    }
    return -1;
}

// When the day begins that a word says; "": today. PONS_ENOTFOUND: it is no day's word.
static int read_day(const char *day, int64_t clock_s, int64_t shown_s, int64_t *ret,
                    pons_error *err)
{
    const int64_t today_s = floor_day(shown_s);
    int y = 0, mon = 0, d = 0, ahead = 0;
    char rest;
    bool this_week = false, exists = true;
    *ret = read_weekday(day, today_s, &this_week);
    if (*ret >= 0) {
        const bool over = this_week && *ret + clock_s <= shown_s;
        *ret += over ? 7 * (int64_t)S_PER_DAY : 0;
    } else if (!*day || strcmp(day, "today") == 0) {
        *ret = today_s;
    } else if (strcmp(day, "tomorrow") == 0) {
        *ret = today_s + S_PER_DAY;
    } else if (sscanf(day, "+%4d%c", &ahead, &rest) == 1 && ahead >= 0 && ahead < DAYS_MAX) {
        *ret = today_s + (int64_t)ahead * S_PER_DAY;
    } else if (sscanf(day, "%4d-%2d-%2d%c", &y, &mon, &d, &rest) == 3 && y >= 1970 &&
               y < YEAR_LAST) {
        struct tm tm = {.tm_year = y - 1900, .tm_mon = mon - 1, .tm_mday = d};
        *ret = timegm(&tm);
        exists = tm.tm_mon == mon - 1 && tm.tm_mday == d; // the 30th of February is another day
    } else if (sscanf(day, "%2d-%2d%c", &mon, &d, &rest) == 2 && mon > 0 && d > 0) {
        *ret = read_month_day(mon, d, today_s, clock_s, shown_s);
        exists = *ret >= 0;
    } else {
        return PONS_ENOTFOUND;
    }
    return exists ? PONS_OK : pons_error_set(err, PONS_EINVAL, WHERE, "there is no day '%s'", day);
}

// "9:00", "tomorrow 9:00", "+2 9:00", "mon 9:00", "next-mon 9:00", "02-28 9:00", "2027-01-31 9:00".
static int read_at(const char *text, int64_t made_ms, const pons_zone *z, int64_t *ret,
                   pons_error *err)
{
    const int64_t made_s = made_ms / MS_PER_S, shown_s = made_s + pons_zone_offset_s(z, made_s);
    char day[16] = "", rest = '\0';
    int h = 0, m = 0;
    const bool alone = sscanf(text, "%2d:%2d %c", &h, &m, &rest) == 2;
    if (!alone && sscanf(text, "%15s %2d:%2d %c", day, &h, &m, &rest) != 3) {
        return no_time(text, err);
    }
    if (h < 0 || h > 24 || m < 0 || m > 59 || (h == 24 && m > 0)) {
        return no_time(text, err);
    }
    const int64_t clock_s = (int64_t)h * S_PER_H + (int64_t)m * S_PER_MINUTE;
    int64_t from_s;
    const int rc = read_day(day, clock_s, shown_s, &from_s, err);
    if (rc < 0) {
        return rc == PONS_ENOTFOUND ? no_time(text, err) : rc;
    }
    int64_t at_s = pons_zone_unix_s(z, from_s + clock_s);
    if (alone && at_s <= made_s) { // the next nine o'clock
        at_s = pons_zone_unix_s(z, from_s + S_PER_DAY + clock_s);
    }
    if (at_s <= made_s) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "'at %.60s' is over", text);
    }
    *ret = at_s * MS_PER_S;
    return PONS_OK;
}

int pons_schedule_read(const char *text, int64_t made_ms, const pons_zone *z, pons_schedule *ret,
                       pons_error *err)
{
    text += strspn(text, " ");
    if (strlen(text) >= PONS_SCHEDULE_TEXT_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "at most %d bytes", PONS_SCHEDULE_TEXT_MAX);
    }
    const bool every = strncmp(text, "every ", 6) == 0, in = strncmp(text, "in ", 3) == 0;
    pons_schedule s = {.kind = every ? PONS_SCHEDULE_EVERY : PONS_SCHEDULE_ONCE,
                       .made_ms = made_ms};
    int rc;
    if (every) {
        rc = span_ms(text + 6, S_PER_MINUTE, &s.every_ms, err);
    } else if (in) {
        rc = span_ms(text + 3, 1, &s.at_ms, err);
        s.at_ms += made_ms;
    } else if (strncmp(text, "at ", 3) == 0) {
        rc = read_at(text + 3, made_ms, z, &s.at_ms, err);
    } else {
        rc = read_fields(text, &s, err);
    }
    if (rc >= 0) {
        *ret = s;
    }
    return rc;
}

static bool day_fits(const pons_schedule *s, const struct tm *tm)
{
    const bool day = s->days >> tm->tm_mday & 1, weekday = s->weekdays >> tm->tm_wday & 1;
    return s->any_day || s->any_weekday ? day && weekday : day || weekday;
}

// The next minute that fits, after one, of a clock as it is shown; false: none within ten years.
static bool next_shown(const pons_schedule *s, int64_t *at)
{
    time_t t = (time_t)*at;
    struct tm tm;
    gmtime_r(&t, &tm);
    const int last = tm.tm_year + YEARS;
    while (tm.tm_year <= last) {
        if (!(s->months >> (tm.tm_mon + 1) & 1)) {
            tm.tm_mon++;
            tm.tm_mday = 1;
            tm.tm_hour = tm.tm_min = 0;
        } else if (!day_fits(s, &tm)) {
            tm.tm_mday++;
            tm.tm_hour = tm.tm_min = 0;
        } else if (!(s->hours >> tm.tm_hour & 1)) {
            tm.tm_hour++;
            tm.tm_min = 0;
        } else if (!(s->minutes >> tm.tm_min & 1)) {
            tm.tm_min++;
        } else {
            *at = timegm(&tm);
            return true;
        }
        t = timegm(&tm); // sets right what has run over
        gmtime_r(&t, &tm);
    }
    return false;
}

// The first time [Unix s] after one, of those that clocks show after shown_s; 0: none.
static int64_t next_from(const pons_schedule *s, const pons_zone *z, int64_t shown_s,
                         int64_t after_s)
{
    shown_s -= (shown_s % S_PER_MINUTE + S_PER_MINUTE) % S_PER_MINUTE;
    for (int i = 0; i <= S_PER_DAY / S_PER_MINUTE; i++) { // a zone goes back by no more than a day
        shown_s += S_PER_MINUTE;
        if (!next_shown(s, &shown_s)) {
            return 0;
        }
        const int64_t at_s = pons_zone_unix_s(z, shown_s);
        if (at_s > after_s) {
            return at_s;
        }
    }
    return 0;
}

int64_t pons_schedule_next(const pons_schedule *s, const pons_zone *z, int64_t after_ms)
{
    if (s->kind == PONS_SCHEDULE_ONCE) {
        return s->at_ms > after_ms ? s->at_ms : 0;
    }
    if (s->kind == PONS_SCHEDULE_EVERY) {
        const int64_t past = after_ms - s->made_ms;
        return s->made_ms + (past < 0 ? 1 : past / s->every_ms + 1) * s->every_ms;
    }
    // What a zone has skipped within the last day may be due still: it is looked for from where its clocks were before.
    const int64_t after_s = after_ms / MS_PER_S;
    const int32_t now = pons_zone_offset_s(z, after_s),
                  before = pons_zone_offset_s(z, after_s - S_PER_DAY);
    const int64_t due = next_from(s, z, after_s + now, after_s);
    const int64_t skipped = before < now ? next_from(s, z, after_s + before, after_s) : 0;
    return (skipped && (!due || skipped < due) ? skipped : due) * MS_PER_S;
}

void pons_schedule_show(int64_t unix_ms, const pons_zone *z, char *ret, size_t cap)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    struct tm tm;
    const int64_t unix_s = unix_ms / MS_PER_S;
    const time_t t = (time_t)(unix_s + pons_zone_offset_s(z, unix_s));
    gmtime_r(&t, &tm);
    snprintf(ret, cap, "%s %04d-%02d-%02d %02d:%02d", days[tm.tm_wday], tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min);
}
