// calendar.h - days and clocks, of no view.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PONS__CO_MINUTES_A_DAY = 1440 };

void pons__co_date_of_day(int64_t day, int *ret_year, int *ret_month,
                          int *ret_day);                     // from 1970-01-01
bool pons__co_read_date(const char *text, int64_t *ret_day); // "2026-03-02"
int pons__co_read_clock(const char *text);                   // "07:20" -> 440
int pons__co_weekday(int64_t day);                           // 0 Monday ... 6 Sunday
int64_t pons__co_floor_day(int64_t local_min);
