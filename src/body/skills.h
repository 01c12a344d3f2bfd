// skills.h - what the body can do, each as a step function. The essay is in skills.c.
#ifndef PONS_BODY_SKILLS_H
#define PONS_BODY_SKILLS_H

#include "body/motion.h"
#include "body/nav_internal.h"
#include "body/safety.h"

#define PONS__SKILL_MSG_MAX PONS_NAV_MSG_MAX

// Error numbers beyond Nav2's; docs/link.md lists all.
enum {
    PONS__DOCK_NOT_IN_DB = 901,
    PONS__DOCK_NOT_VALID = 902,
    PONS__DOCK_FAILED_TO_STAGE = 903,
    PONS__DOCK_FAILED_TO_DETECT = 904,
    PONS__DOCK_FAILED_TO_CONTROL = 905,
    PONS__DOCK_FAILED_TO_CHARGE = 906,
    PONS__DOCK_UNKNOWN = 999,
    PONS__BRAIN_LOST = 9901, // held for too long
    PONS__STOPPED = 9902,    // a protective stop latched
    PONS__TIMED_OUT = 9903,  // the skill's own time is over
    PONS__NO_SCAN = 9904,    // the lidar is silent
    PONS__PREEMPTED = 9905   // stop_base, or another navigation, took the base
};

// What a skill sees, and the few things it may use. Filled anew at each control step.
typedef struct pons__skill_env {
    int64_t robot_ns;
    pons_pose2 pose;       // in map, by the localiser
    pons_pose2 odom;       // odom_from_base
    pons_twist2 twist;     // measured
    const pons_scan *scan; // NULL before the first
    uint64_t scans;        // scans seen since boot
    pons_battery_state battery;
    bool on_charger;
    const pons__safety_status *safety;
    pons_nav *nav;
    pons_grid *grid;
    const pons_value *world;
    const pons_robot_caps *caps;
    const pons_robot_ops *robot;
    void *self;
    void (*speak)(void *user, const char *text);
    void *user;
} pons__skill_env;

typedef enum pons__skill_status {
    PONS__SKILL_RUNNING,
    PONS__SKILL_DONE,
    PONS__SKILL_FAILED
} pons__skill_status;

typedef struct pons__skill_run { // of one goal; the caller's storage
    const pons_value *args;      // borrowed
    int phase;
    int64_t start_ns;       // robot time at which it started
    int64_t phase_ns;       // robot time at which the phase began
    int64_t held_ns;        // robot time at which it was held; -1
    int64_t stuck_since_ns; // robot time since which the gate lets nothing through; -1
    pons_pose2 goal;        // in map
    pons_pose2 from;        // in odom, where the phase began
    double last_yaw;        // in odom
    double turned;          // [rad] so far
    uint64_t first_scan;
    int recoveries, recoveries_before; // of the navigator, now and before it was started anew
    int tries;
    int64_t away_ns;      // robot time of the last hold
    pons_twist2 last_cmd; // of the motion
    pons__motion motion;  // of spin, back_up, drive_on_heading
} pons__skill_run;

typedef struct pons__skill_output {
    pons__skill_status status;
    int error_code;
    char error_msg[PONS__SKILL_MSG_MAX];
    pons_twist2 cmd;
    bool docking;      // the command is a docking one
    double distance_m; // remaining; NAN when the skill has none
    double eta_s;      // NAN when unknown
    int recoveries;
    bool navigating;     // the rest is filled
    double nav_time_s;   // navigating, without what was spent on hold
    int poses_remaining; // of navigate_through_poses
    const char *node;    // of the tree, that runs: its path; valid until the next step
} pons__skill_output;

typedef struct pons__skill_refusal {
    int error_code; // 0: none of its own
    char text[PONS__SKILL_MSG_MAX];
} pons__skill_refusal;

typedef struct pons__skill {
    const char *name;
    const char *description; // one sentence, for whoever has to choose
    const char *args_schema; // JSON Schema
    bool needs_base;         // holds the resource "base" while it runs
    bool moves;              // refused while a stop is latched
    bool preemptible, cancel_supported, requires_approval, ask_on_unknown;
    double timeout_s;      // robot time
    int timeout_code;      // 0: PONS__TIMED_OUT
    const char *success;   // success_criteria
    const char *error_map; // JSON object
    // Says what is wrong with arguments that fit the schema; NULL: nothing can be.
    bool (*check)(const pons_value *args, const pons__skill_env *env, pons__skill_refusal *ret);
    void (*start)(pons__skill_run *r, const pons__skill_env *env);
    void (*step)(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);
    void (*stop)(pons__skill_run *r, const pons__skill_env *env);   // at any end
    void (*hold)(pons__skill_run *r, const pons__skill_env *env);   // NULL: stop
    void (*resume)(pons__skill_run *r, const pons__skill_env *env); // after a hold
} pons__skill;

const pons__skill *pons__skill_find(const char *name); // NULL: unknown
// The registry as the brain reads it; NULL on no memory.
pons_value *pons__skill_registry(void);

// The generic frame of each skill's functions: clocks, time-out, results.
void pons__skill_start(const pons__skill *k, pons__skill_run *r, const pons_value *args,
                       const pons__skill_env *env);
void pons__skill_step(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env,
                      pons__skill_output *ret);
void pons__skill_hold(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env);
void pons__skill_resume(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env);
void pons__skill_stop(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env);

// For the files that implement skills.
void pons__skill_fail(pons__skill_output *out, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void pons__skill_phase(pons__skill_run *r, const pons__skill_env *env, int phase);
double pons__skill_in_phase_s(const pons__skill_run *r, const pons__skill_env *env);
// Seconds for which the gate has let nothing of `cmd` through.
double pons__skill_stuck_s(pons__skill_run *r, const pons__skill_env *env, pons_twist2 cmd);
// The zone with that id or name, whatever its letters' case; NULL: none.
const pons_value *pons__world_zone(const pons_value *world, const char *name);
bool pons__pose_read(const pons_value *v, pons_pose2 *ret);

// skills_nav.c, skills_dock.c, skills_base.c, skills_other.c
extern const pons__skill pons__skill_navigate, pons__skill_navigate_through, pons__skill_dock,
    pons__skill_undock, pons__skill_stop_base, pons__skill_spin, pons__skill_back_up,
    pons__skill_drive, pons__skill_speak, pons__skill_wait, pons__skill_look;

// Backing off the charger, shared by undock and by a navigation that begins there. True when done.
bool pons__undock_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);

#endif
