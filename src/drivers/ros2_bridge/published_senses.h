// published_senses.h - what is published.
#ifndef PONS_DRIVERS_ROS2_BRIDGE_PUBLISHED_SENSES_H
#define PONS_DRIVERS_ROS2_BRIDGE_PUBLISHED_SENSES_H

#include "drivers/ros2_bridge/internal.h"

int bridge_shown_open(bridge *b, pons_error *err);
void bridge_show(bridge *b, const pons_report_senses *s);
void bridge_show_map(bridge *b, const pons_value *world);

#endif
