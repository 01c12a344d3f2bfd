// schedule.h - when something is due: "minute hour day month weekday", as crontab(5) has it, in UTC.
#ifndef PONS_SERVE_LANGGRAPH_SCHEDULE_H
#define PONS_SERVE_LANGGRAPH_SCHEDULE_H

#include "pons/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pons__schedule { // a bit for each value
    uint64_t minutes;
    uint32_t hours, days, months, weekdays;
    bool any_day, any_weekday;
} pons__schedule;

// PONS_EINVAL names the field.
int pons__schedule_read(const char *text, pons__schedule *ret, pons_error *err);
// The first minute after that, as wall time; 0: none within ten years.
int64_t pons__schedule_next(const pons__schedule *s, int64_t after_ms);

#endif
