// discovery_probe.h - discovers the other participants of a robot's DDS domain (ext/topics.h).
#pragma once

#include "pons/ext/topics.h"

int ros2_discovery_probe(const char *workspace, int wait_ms, pons_topics_network *ret,
                         pons_error *err);
