// schedule.c - when something is due.
//
// A field is a list of values, ranges and steps: "*", "5", "1-5", "*/15", "8-18/2", "mon,wed". Where
// both the day and the weekday are restricted, either will do, as crontab(5) says.
#include "serve/langgraph/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { FIELDS = 5, FIELD_MAX = 64, YEARS = 10, MS_PER_S = 1000, S_PER_MINUTE = 60 };

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

int pons__schedule_read(const char *text, pons__schedule *ret, pons_error *err)
{
    char words[FIELDS][FIELD_MAX];
    uint64_t bits[FIELDS];
    int end = 0;
    if (sscanf(text, " %63s %63s %63s %63s %63s %n", words[0], words[1], words[2], words[3],
               words[4], &end) != FIELDS ||
        text[end]) {
        return pons_error_set(err, PONS_EINVAL, "serve",
                              "schedule: five fields, minute hour day month weekday (\"0 8 * * "
                              "mon-fri\"), in UTC");
    }
    for (int i = 0; i < FIELDS; i++) {
        if (!read_field(&fields[i], words[i], &bits[i])) {
            return pons_error_set(err, PONS_EINVAL, "serve", "schedule: '%s' is no %s", words[i],
                                  fields[i].name);
        }
    }
    *ret = (pons__schedule){.minutes = bits[0],
                            .hours = (uint32_t)bits[1],
                            .days = (uint32_t)bits[2],
                            .months = (uint32_t)bits[3],
                            .weekdays = (uint32_t)(bits[4] | bits[4] >> 7),
                            .any_day = words[2][0] == '*',
                            .any_weekday = words[4][0] == '*'};
    return PONS_OK;
}

static bool day_fits(const pons__schedule *s, const struct tm *tm)
{
    const bool day = s->days >> tm->tm_mday & 1, weekday = s->weekdays >> tm->tm_wday & 1;
    return s->any_day || s->any_weekday ? day && weekday : day || weekday;
}

int64_t pons__schedule_next(const pons__schedule *s, int64_t after_ms)
{
    time_t t = (time_t)(after_ms / MS_PER_S / S_PER_MINUTE * S_PER_MINUTE) + S_PER_MINUTE;
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
            return (int64_t)timegm(&tm) * MS_PER_S;
        }
        t = timegm(&tm); // sets right what has run over
        gmtime_r(&t, &tm);
    }
    return 0;
}
