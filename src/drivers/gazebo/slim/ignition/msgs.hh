// ignition/msgs.hh - in the place of the library's own, which the transport's headers include: that one has all
// 150 messages, and a compiler is busy with them for half a minute and 800 MB. These are the ones that are
// spoken here.
#ifndef PONS_GAZEBO_MSGS_HH
#define PONS_GAZEBO_MSGS_HH

#include <ignition/msgs/battery_state.pb.h>
#include <ignition/msgs/boolean.pb.h>
#include <ignition/msgs/clock.pb.h>
#include <ignition/msgs/contacts.pb.h>
#include <ignition/msgs/empty.pb.h>
#include <ignition/msgs/entity.pb.h>
#include <ignition/msgs/entity_factory.pb.h>
#include <ignition/msgs/laserscan.pb.h>
#include <ignition/msgs/odometry.pb.h>
#include <ignition/msgs/pose_v.pb.h>
#include <ignition/msgs/twist.pb.h>
#include <ignition/msgs/world_control.pb.h>
#include <ignition/msgs/world_stats.pb.h>

#endif
