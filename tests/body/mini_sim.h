// mini_sim.h - for tests of the navigator: the kinematic robot, a localiser and a navigator in one
// loop, without the body's gate, skills or link.
#ifndef PONS_TESTS_MINI_SIM_H
#define PONS_TESTS_MINI_SIM_H

#include "body/localization/localizer.h"
#include "body/nav/navigator.h"

typedef struct mini_sim {
    void *robot;
    pons__costmap *grid;
    pons__nav *nav;
    pons__localizer *localizer;
    pons_scan scan;
    pons_robot_state state;
    pons__nav_output out;
    bool use_truth; // navigate by the truth, not by the estimate
    double share;   // of a command that reaches the wheels: 1; 0 is stuck
    bool backwards; // both wheels turn the wrong way round
    bool idle;      // the navigator is not stepped

    double truth_m;            // way travelled, in truth
    double worst_m, worst_rad; // estimate against truth
    double nearest_m;          // smallest clearance of the truth from the static map
    double reversals;          // changes of sign of a w worth the name, while driving
    double last_w;
    uint64_t digest; // over every output of the navigator, and every estimate
} mini_sim;

// A copy of worlds/NAME with an array of boxes [[x, y, sx, sy], …] added to the static map (n may
// be 0), and the start moved. The caller's.
pons_value *mini_sim_world(const char *name, const double (*boxes)[4], int n, pons_pose2 start);

void mini_sim_open(mini_sim *m, const pons_value *world, uint64_t seed);
void mini_sim_close(mini_sim *m);
pons_pose2 mini_sim_truth(mini_sim *m);
pons_pose2 mini_sim_pose(mini_sim *m); // what the navigator is given
int64_t mini_sim_now(mini_sim *m);

// 50 ms of robot time: five steps of the robot, scans as they come, one step of the navigator.
void mini_sim_tick(mini_sim *m);
// Starts and ticks until it ends or seconds have passed; returns the status.
pons__nav_status mini_sim_go(mini_sim *m, pons_pose2 goal, bool with_yaw, double seconds);
void mini_sim_run(mini_sim *m, double seconds); // ticks
void mini_sim_spawn(mini_sim *m, const char *id, double x, double y, double sx, double sy);
void mini_sim_remove(mini_sim *m, const char *id);

// A scan of n beams over a full circle in which every range is r.
pons_scan mini_scan(int n, float r, int64_t stamp_ns);

#endif
