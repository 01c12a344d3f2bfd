// peer.h - a ROS 2 robot, played in the test's process: the kinematic robot behind its topics.
//
// It follows cmd_vel and nothing else, and publishes what a robot with AMCL does. The test is its clock:
// nothing moves and nothing is said but in peer_step and peer_say. Its DDS is this process's, or a relay's
// (relay.h): that has the topics of a robot that drives, no TwistStamped, and says no stamps other than the
// simulated robot's.
#ifndef TESTS_DRIVERS_ROS2_PEER_H
#define TESTS_DRIVERS_ROS2_PEER_H

#include "drivers/dds/dds_node.h"
#include "drivers/dds/interface_types.h"
#include "pons/clock.h"
#include "pons/ext/robot.h"
#include "relay.h"

#include <time.h>

#define PEER_STEP_NS (10 * PONS_NS_PER_MS) // of peer_wait

typedef struct peer {
    ros2_node node;
    relay *relay;      // who speaks DDS; NULL: node
    void *sim;         // a kinematic robot
    const char *ns;    // "/t17"
    bool stamped;      // TwistStamped
    int64_t shift_ns;  // of /clock and stamps against the simulated robot's time
    pons_pose2 places; // map -> odom
    dds_entity_t clock, odom, scan, battery, tf, tf_static, cmd_vel, cmd_vel_in, initialpose;
    pons_twist2 cmd;    // the newest that came
    uint64_t cmds;      // how many have
    int64_t scanned_ns; // stamp of the newest scan
    char cmd_frame[64]; // of the newest, when it is stamped
    int64_t cmd_stamp_ns;
} peer;

// Loopback alone, for this process and what it starts; a name for topics that nobody else has.
void peer_surroundings(char ret_ns[32], uint32_t *ret_domain);
// A workspace with that config/ros2.yaml below a fresh directory, in ret (64 bytes).
void peer_workspace(const char *yaml, char *ret);
void peer_workspace_remove(const char *workspace);

// Takes part in the domain while the tests run: the first of a process begins DDS's threads, and the last ends them.
void peer_stay(ros2_node *n, uint32_t domain);

// The module's driver, and the namespace that it shares with the tests of this process. They are set once it is loaded.
extern const pons_robot_ops *ros2;
extern char peer_ns[32]; // unique to this process
extern uint32_t peer_domain;
// Loads the module; negative, with a line on stderr, if it cannot. Does not join the domain yet.
int peer_load(void **state);
// Set-up and teardown of a group: loads the module, and joins the domain while the tests run.
int peer_group_open(void **state);
int peer_group_close(void **state);
// Opens it with that config/ros2.yaml. config may be NULL.
int peer_driver_open(const char *yaml, const pons_value *world, const pons_value *config,
                     void **ret, pons_error *err);
// Every interface that pons has for that release of ROS; fails the test when there are none.
ros2_types *peer_types(const char *release);

// Fails the test when it cannot be. `config` as ext/robot.h has it.
void peer_open(peer *p, const pons_value *world, const pons_value *config, const char *ns,
               uint32_t domain, bool stamped);
void peer_close(peer *p);
bool peer_matched(peer *p); // with a driver
void peer_take(peer *p);    // what has come on cmd_vel
void peer_say(peer *p);     // the senses as they are now
void peer_step(peer *p, int64_t dt_ns);
void peer_say_battery(peer *p);
void peer_wait(void *p); // one step of the peer robot, if it is open, and a millisecond

// Waits until the driver reports this as missing; "": until nothing is. Fails the test when that never happens.
void peer_until_lacks(void *driver, const char *expected, void (*wait)(void *user), void *user);
int64_t peer_clock_ns(clockid_t id);

#endif
