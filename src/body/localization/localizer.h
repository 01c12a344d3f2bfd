// localizer.h - where the robot is, and how sure that is: odometry corrected by matching scans to
// the static map. The essay is in localizer.c.
#pragma once

#include "body/costmap/costmap.h"

typedef enum pons__trust {
    PONS__POSE_SURE,
    PONS__POSE_DOUBTFUL,  // the scans contradict it, or it has just been found: being looked into
    PONS__POSE_AMBIGUOUS, // several places fit: nobody guesses
    PONS__POSE_LOST       // no place of the map does
} pons__trust;
const char *pons__trust_word(pons__trust t); // "sure", …

typedef struct pons__pose_watch {
    pons__trust trust;
    double agreement;  // of the newest scan with the map there, 0 … 1; NAN: it cannot tell
    bool contradicted; // by the newest scan
    bool pending;      // sure, but the newest scans are being looked into: nothing is done yet
    uint32_t jumps;    // rises when the pose turns out to be another one
    char why[120];     // in doubt: what is known, for people; "" when sure
} pons__pose_watch;

typedef struct pons__localizer pons__localizer;
pons__localizer *pons__localizer_create(const pons__costmap *grid, pons_pose2 start_in_map);
void pons__localizer_destroy(pons__localizer *l);
void pons__localizer_predict(pons__localizer *l, pons_pose2 odom_from_base); // odometry, any rate
// odom_at_scan: odometry at the scan's stamp. Corrects the map → odom transform.
void pons__localizer_correct(pons__localizer *l, const pons_scan *scan, pons_pose2 odom_at_scan);
pons_pose2 pons__localizer_pose(const pons__localizer *l); // base in map
double pons__localizer_std_m(
    const pons__localizer *l); // position, 1 sigma, about; NAN: who gives it does not say
const pons__pose_watch *pons__localizer_watch(const pons__localizer *l);
// The pose is this one, about as well as at the start.
void pons__localizer_reset(pons__localizer *l, pons_pose2 pose_in_map, pons_pose2 odom_from_base);
// A person says that it is about here: the next scans look around there, and must agree.
void pons__localizer_reported(pons__localizer *l, pons_pose2 pose_in_map,
                              pons_pose2 odom_from_base);
// Doubts the pose: the whole map is searched.
void pons__localizer_doubt(pons__localizer *l);
// The robot's own software knows: its word counts from now on, and scans correct nothing.
void pons__localizer_given(pons__localizer *l, const pons_robot_place *place);
void pons__localizer_own(pons__localizer *l,
                         pons_pose2 odom_from_base); // nobody's word counts any more
bool pons__localizer_is_given(const pons__localizer *l);
// A slice of a search, if there is one to do; lookups bounds it. True: there is more to do.
bool pons__localizer_think(pons__localizer *l, int64_t lookups);
