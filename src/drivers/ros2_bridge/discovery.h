// discovery.h - what ros2's tools ask of a node.
#pragma once

#include "drivers/ros2_bridge/internal.h"

int bridge_graph_open(bridge *b, pons_error *err); // before other endpoints: rosout
void bridge_graph_take(bridge *b);
