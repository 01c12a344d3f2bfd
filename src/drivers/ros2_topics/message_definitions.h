// message_definitions.h - where the texts of types come from, and the text of one with all that it needs, as recordings have it.
#pragma once

#include "drivers/dds/config.h"
#include "drivers/dds/interface_types.h"

int ros2_topic_texts(ros2_types *t, const ros2_config *c, pons_error *err);
// The shape's own text, and behind a line of 80 "=" and "MSG: package/X" that of each type in it (MCAP's "ros2msg").
// The caller's to free; NULL: no memory.
char *ros2_topic_text(ros2_types *t, const ros2_shape *s);
