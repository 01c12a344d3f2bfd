// progress.h - how far something is that the robot's software was asked for: a goal at an action, a call of a
// service.
#pragma once

#include "pons/ext/outside.h"

enum { ROS2_GOALS_MAX = 8 }; // of one action or service, that nobody has ended

typedef enum ros2_end { // how it ended
    ROS2_END_NONE,      // it has not
    ROS2_END_SUCCEEDED,
    ROS2_END_ABORTED,
    ROS2_END_CANCELED,  // by somebody else
    ROS2_END_ENDED,     // canceled, as was asked
    ROS2_END_REFUSED,   // the server did not take it
    ROS2_END_NO_SERVER, // nothing was sent
    ROS2_END_BEHIND,    // nothing was sent: what was canceled before it may be under way
    ROS2_END_BAD_GOAL,  // nothing was sent
    ROS2_END_GIVEN_UP,  // by the driver, and canceled
    ROS2_END_UNKNOWN
} ros2_end;

typedef struct ros2_progress {
    ros2_end end;
    char text[PONS_OUTSIDE_TEXT_MAX]; // what is known of it
    pons_value *feedback, *result;    // the newest, the caller's to unref; NULL: none
} ros2_progress;
