// ext/outside.h - what a robot's own software does beside its driver: it may be missing senses, know
// where it is, and carry out whole goals (Nav2 on a ROS 2 robot). A part of the contract of
// ext/robot.h, since its version 3; errands since version 4, its map since version 7.
//
// Who drives: an errand's software never reaches the wheels by itself. What its controller asks for is
// the errand's `want`; the body takes that for the goal's wish, the gate cuts it, and write_velocity
// gets what is left. So a stop, a hold or a lost brain holds the robot, whatever the software goes on
// asking for.
//
// Threads: `lacks` and `place` as `read` (any thread; they never block, lock or allocate), the errand's
// functions from the body's loop thread, and they do not wait for the software: they hand over, and
// `look` says how far it is. `map` comes from the body's mapper thread, and may lock and allocate.
#pragma once

#include "pons/geometry.h"
#include "pons/linkage.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>

PONS_C_BEGIN

struct pons_skill; // ext/skill.h

#define PONS_OUTSIDE_TEXT_MAX 160 // bytes of a line for people, with its zero
#define PONS_ERRAND_POSES_MAX 64

typedef struct pons_robot_place { // by the robot's own localisation
    bool known;                   // it says where it is, and has said so lately
    pons_pose2 map_from_odom;     // of the newest; what it was when !known
    double std_m;                 // position, 1 sigma; NAN: it does not say
} pons_robot_place;

typedef struct
    pons_robot_map {     // as nav_msgs/OccupancyGrid has it; each may have another frame and size
    uint64_t number;     // differs from that of the map before; never 0
    int64_t stamp_ns;    // robot time of the newest scan in the map, if known
    int w, h;            // cells, at least one
    double resolution_m; // length of a cell's edge
    pons_pose2 origin;   // pose of the first cell's corner in map; rows run along its x axis
    int8_t *cells;       // (h, w) -1 unknown, 0 free … 100 occupied; malloc'ed
} pons_robot_map;

typedef enum pons_external_goal_state {
    PONS_ERRAND_NONE,
    PONS_ERRAND_RUNS, // or is on its way
    PONS_ERRAND_DONE,
    PONS_ERRAND_FAILED,
    PONS_ERRAND_UNKNOWN, // nobody knows what became of it, and nobody will
    PONS_ERRAND_CANCELED // as `end` asked for
} pons_external_goal_state;

typedef struct pons_external_goal_request {
    const char
        *goal_id;      // unique for ever: an errand of this id is begun once, also after a restart
    const char *skill; // whose goal it is
    const pons_value *args;    // as they came; they fit the skill's schema
    const char *behavior_tree; // "": the software's own
    int n;
    pons_pose2 poses[PONS_ERRAND_POSES_MAX]; // in map
} pons_external_goal_request;

typedef struct pons_external_goal {
    pons_external_goal_state state;
    int error_code; // FAILED, CANCELED: docs/reference/link.md
    char text[PONS_OUTSIDE_TEXT_MAX];
    bool docking; // it is near its charger: slow, and closer than else
    pons_value
        *answer; // DONE, FAILED: an object, what it says of it; the caller's to unref; NULL: none
    pons_twist2 want; // what its controller asks for now, in base; zero when that is old
    double distance_m, eta_s, time_s; // remaining, remaining, so far; NAN: not known
    int recoveries;
} pons_external_goal;

typedef struct pons_robot_outside_ops {
    // Something is missing without which the robot should stand ("no odometry on /odom for 0.6 s"):
    // true, and a line. It passes by itself. Required.
    bool (*lacks)(void *self, char ret_why[PONS_OUTSIDE_TEXT_MAX]);
    // false: it has no localisation, the body's own counts. NULL: the same. Constant after open.
    bool (*place)(void *self, pons_robot_place *ret);
    void (*reported)(void *self, pons_pose2 pose_in_map); // a person says it is here; NULL: no use

    // Errands, since version 4. `takes`: goals of this skill are the software's, the body's own way of
    // doing it does not count; constant after open. NULL: of none, and the others are NULL too.
    bool (*takes)(void *self, const char *skill);
    void (*begin)(void *self, const pons_external_goal_request *goal);
    void (*look)(void *self, const char *goal_id, pons_external_goal *ret); // NONE: no such errand
    // It is no longer wanted. One that is under way is canceled, and `look` has it as RUNS until the software has
    // answered what became of it, or that is not waited for any longer; one whose end `look` has told is forgotten.
    // NONE after that: it was not begun, or its software says nothing more of it.
    void (*end)(void *self, const char *goal_id);
    // Skills that only this robot has, and takes; their `step` is never called. Theirs to keep until close.
    // `interface`: what most of them are reached by, "ros2_action"; one whose `told` names another says so. NULL: none.
    const struct pons_skill *const *(*skills)(void *self, size_t *ret_n,
                                              const char **ret_interface);

    // Since version 7. For a robot that localises itself, in a world whose map grows: gets the map that the robot's SLAM makes.
    // True: there is a newer map than number `seen`; the caller frees its cells. False: there is none; ret_why is the reason
    // if no map comes at all, else "". NULL: the driver gives no maps.
    bool (*map)(void *self, uint64_t seen, pons_robot_map *ret,
                char ret_why[PONS_OUTSIDE_TEXT_MAX]);
} pons_robot_outside_ops;

PONS_C_END
