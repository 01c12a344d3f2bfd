// other_robots.h - robots of a fleet in each other's simulated worlds (other_robots.c).
#pragma once

#include "app/fleet/robot_unit.h"

typedef struct app_others app_others;

app_others *app_others_create(size_t n); // for n robots
void app_others_destroy(app_others *o);  // NULL-safe; worlds stay as they are
// Each simulated world is told where the others are now, as far as that has changed.
void app_others_show(app_others *o, const pons_fleet *fleet, const app_unit *units, size_t n,
                     int64_t now_ms);
