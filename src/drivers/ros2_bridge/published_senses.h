// published_senses.h - what is published.
#pragma once

#include "drivers/ros2_bridge/internal.h"

int bridge_shown_open(bridge *b, pons_error *err);
void bridge_show(bridge *b, const pons_report_senses *s);
void bridge_show_map(bridge *b, const pons_value *world);
