// evidence.h - how detections and looks weigh: gate, fusion of places, belief.
//
// A covariance is {xx, xy, yy, zz} in the map [m²]: on the floor whole, of the height alone. Belief is kept as log odds, as
// in an occupancy grid (Moravec and Elfes), between -EVIDENCE_LEAST and EVIDENCE_MOST.
#pragma once

#include "pons/object_memory.h"

#define PONS__GATE         11.345 // chi-square, three degrees of freedom, 99 %
#define PONS__BELIEF_KNOWN 0.5
#define PONS__BELIEF_GONE  0.15

// What is wrong with a view, or with a detection; NULL: nothing.
const char *pons__view_fault(const pons_object_view *v);
const char *pons__detection_fault(const pons_object_view *v, const pons_detection *d);
// The detection's covariance with that of the robot's pose.
void pons__detection_cov(const pons_object_view *v, const pons_detection *d, double ret[4]);

// Squared Mahalanobis distance of two places, each with its covariance; sd of the worst direction.
double pons__place_distance2(const double a[3], const double cov_a[4], const double b[3],
                             const double cov_b[4]);
double pons__cov_sd(const double cov[4]);
// Moves a place towards an observation by the inverse variances. What lies far for the covariances may have been
// pushed: it is trusted less first. No place is known better than FLOOR_M.
void pons__place_fuse(double at[3], double cov[4], const double seen[3], const double cov_seen[4]);

double pons__belief_of(double log_odds);
double pons__log_odds_of(double belief);
// Belief that fades by half in half_life_s, after so many ms.
double pons__belief_faded(double belief, double half_life_s, int64_t ms);
double pons__odds_first(double score); // of what is seen for the first time
double pons__odds_seen(double odds, double miss);
double pons__odds_missed(double odds, double miss);
// Whether something at `at` should be seen in the view: well within its cone and reach, nothing in the way.
bool pons__view_covers(const pons_object_view *v, const double at[3], double sd_m);
