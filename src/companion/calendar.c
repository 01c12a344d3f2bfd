// calendar.c - days, dates and clocks.
//
// The proleptic Gregorian calendar; a day is its number since 1970-01-01. A year is counted from
// March, so that the leap day is its last one.
#include "companion/calendar.h"

#include <stdio.h>

enum { DAYS_400_YEARS = 146097, DAYS_TO_1970 = 719468, MINUTES_AN_HOUR = 60 };

static int64_t pons__co_day_of_date(int year, int month, int day)
{
    const int64_t y = month <= 2 ? year - 1 : year; // years from March on
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * DAYS_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970;
}

void pons__co_date_of_day(int64_t day, int *ret_year, int *ret_month, int *ret_day)
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

bool pons__co_read_date(const char *text, int64_t *ret_day)
{
    int y, m, d, n = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &y, &m, &d, &n) != 3 || n != 10) {
        return false;
    }
    int y2, m2, d2;
    const int64_t day = pons__co_day_of_date(y, m, d);
    pons__co_date_of_day(day, &y2, &m2, &d2); // the 30th of February comes back as another day
    if (y != y2 || m != m2 || d != d2) {
        return false;
    }
    *ret_day = day;
    return true;
}

int pons__co_read_clock(const char *text)
{
    int h, m, n = 0;
    if (sscanf(text, "%2d:%2d%n", &h, &m, &n) != 2 || n != 5 || h < 0 || h > 23 || m < 0 ||
        m > 59) {
        return -1;
    }
    return h * MINUTES_AN_HOUR + m;
}

int pons__co_weekday(int64_t day)
{
    const int thursday = 3; // 1970-01-01 was one
    return (int)(((day + thursday) % 7 + 7) % 7);
}

int64_t pons__co_floor_day(int64_t local_min)
{
    return local_min >= 0 ? local_min / PONS__CO_MINUTES_A_DAY
                          : -((-local_min + PONS__CO_MINUTES_A_DAY - 1) / PONS__CO_MINUTES_A_DAY);
}
