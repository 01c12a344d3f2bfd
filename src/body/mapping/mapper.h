// mapper.h - the map that grows while a robot explores. A thread gets it from a module of ext/slam.h, or from the robot's SLAM.
#pragma once

#include "body/costmap/growing_map.h"
#include "body/mapping/frontiers.h"
#include "pons/ext/slam.h"

typedef struct pons__mapper pons__mapper;

typedef struct pons__mapper_options {
    const pons_slam_ops *slam;   // NULL: the robot's own SLAM makes the map
    const pons_robot_ops *robot; // the robot whose SLAM that is
    void *robot_self;
    const pons__costmap *grid; // borrowed: its frame
    const char *map_path;      // of the YAML; the pose graph lies beside it
    double radius_m;           // of the circle about the base inside the robot's outline
    double room_m;             // clearance of the robot's middle from walls
    pons_pose2 home;           // where the robot returns to
    bool threaded;             // false: all is done within pons__mapper_scan
} pons__mapper_options;

// PONS_EINVAL, PONS_EENV: the module's; PONS_ENOMEM, PONS_EIO.
int pons__mapper_create(const pons__mapper_options *o, pons__mapper **ret, pons_error *err);
void pons__mapper_destroy(pons__mapper *m); // NULL-safe; waits for the thread

// All that follows is called by the loop thread, and does not wait for the mapper's.

typedef enum pons__mapper_state {
    PONS__MAPPER_IDLE,
    PONS__MAPPER_RUNNING, // scans are taken; the pose is the mapper's, or the robot's own
    PONS__MAPPER_SAVING,  // no more scans; the map is being written
    PONS__MAPPER_FAILED   // see pons__mapper_fault
} pons__mapper_state;

typedef struct pons__mapper_output {
    bool placed;              // map_from_odom is known,
    pons_pose2 map_from_odom; // and is this
    uint32_t maps;            // how many maps it has made
    int64_t scan_ns;          // stamp of the newest scan in it
    pons__frontiers frontiers;
} pons__mapper_output;

// Begins, or goes on, with the robot there. The pose graph that lies beside the map is read first, once.
void pons__mapper_start(pons__mapper *m, pons_pose2 base_in_map, pons_pose2 odom_from_base);
void pons__mapper_stop(pons__mapper *m); // and saves what is not saved
// The next scan; one that comes while the last is at work takes the place of others that wait.
void pons__mapper_scan(pons__mapper *m, const pons_scan *scan, pons_pose2 odom_at_scan);
// The newest map into the costmap; true: there was one.
bool pons__mapper_take(pons__mapper *m, pons__costmap *grid);
pons__mapper_state pons__mapper_state_of(const pons__mapper *m);
const pons__mapper_output *
pons__mapper_newest(const pons__mapper *m); // as of the last take; borrowed
// How long to wait at most for a map with the present scan; and whether the robot's own SLAM, which may skip scans, makes it.
double pons__mapper_wait_s(const pons__mapper *m);
bool pons__mapper_is_robots(const pons__mapper *m);
const char *pons__mapper_fault(const pons__mapper *m); // "": none
