// body_links.h - what comes over the links, and who is in control.
#pragma once

#include "drivers/ros2_bridge/internal.h"

void bridge_body_poll(bridge *b);    // all that came over the links
void bridge_control_step(bridge *b); // lets go of what nobody wants
void bridge_body_close(bridge *b);
