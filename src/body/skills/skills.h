// skills.h - what the body can do, each as a step function. The essay is in registry.c.
#pragma once

#include "body/arm/arm_state.h"
#include "body/localization/localizer.h"
#include "body/nav/navigator.h"
#include "body/nav/spin_back_up.h"
#include "body/safety/velocity_filter.h"
#include "pons/body.h"
#include "pons/ext/skill.h"
#include "pons/schema.h"

#include <stddef.h>

#define PONS__SKILL_MSG_MAX PONS_NAV_MSG_MAX
#define PONS__SKILLS_MAX    64 // of one body
#define PONS__ROBOTS_MAX    16 // of them the robot's own software's

// Error numbers beyond Nav2's; docs/reference/link.md lists all.
enum {
    PONS__DOCK_NOT_IN_DB = 901,
    PONS__DOCK_NOT_VALID = 902,
    PONS__DOCK_FAILED_TO_STAGE = 903,
    PONS__DOCK_FAILED_TO_DETECT = 904,
    PONS__DOCK_FAILED_TO_CONTROL = 905,
    PONS__DOCK_FAILED_TO_CHARGE = 906,
    PONS__DOCK_UNKNOWN = 999,
    PONS__ARM_UNREACHABLE = 1001,
    PONS__ARM_GRASP_FAILED = 1002,
    PONS__ARM_SLIPPED = 1003,
    PONS__ARM_OBJECT_UNKNOWN = 1004,
    PONS__ARM_NOT_HOLDING = 1005,
    PONS__ARM_HAND_FULL = 1006,
    PONS__ARM_BLOCKED = 1007,
    PONS__ARM_PLACE_FAILED = 1008,
    PONS__ARM_OBJECT_LOST = 1009,
    PONS__ARM_GRIPPER_STUCK = 1010,
    PONS__BRAIN_LOST = 9901,  // held for too long
    PONS__STOPPED = 9902,     // a protective stop latched
    PONS__TIMED_OUT = 9903,   // the skill's own time is over
    PONS__NO_SCAN = 9904,     // the lidar is silent
    PONS__PREEMPTED = 9905,   // stop_base, or another navigation, took the base
    PONS__SKILL_FAULT = 9906, // a module's skill answered what makes no sense
    PONS__LOCALIZATION_LOST = 9907,
    PONS__ROBOT_LACKS = 9908,    // a sense of the robot, or its wheels, did not come back
    PONS__MAPPING_FAILED = 9910, // the mapper cannot go on, or its map cannot be written
    PONS__NOTHING_SEEN = 9911,   // no free floor is seen that is large enough for the robot
    PONS__OUTCOME_UNKNOWN = 9909 // the robot's own software has lost the goal
};

// What a person's hand wants (the message steer).
typedef struct pons__steer {
    double v, w;    // [m/s, rad/s]
    uint64_t n;     // messages since boot
    int64_t age_ns; // host time since the last one
    bool let_go;    // it said that the person has finished
} pons__steer;

// What a skill sees, and the few things it may use. Filled anew at each control step.
typedef struct pons__skill_env {
    int64_t robot_ns;
    int64_t spared_ns; // of it since boot, that no time-out counts: a person wants it slower
    pons_pose2 pose;   // in map, by the localiser
    const pons__pose_watch *where; // how sure that is; NULL: quite
    pons_pose2 odom;               // odom_from_base
    pons_twist2 twist;             // measured
    const pons_scan *scan;         // NULL before the first
    uint64_t scans;                // scans seen since boot
    double battery_pct;
    pons_battery_state battery;
    bool on_charger;
    pons__steer steer;
    const pons__safety_status *safety;
    pons__limb *hand; // NULL: no arm
    pons__nav *nav;
    pons__costmap *grid;
    struct pons__mapper *mapper; // NULL: the map does not grow
    const pons_value *world;
    const pons_robot_caps *caps;
    const pons_robot_ops *robot;
    void *self;
    const char *lacks;   // what the robot should not move without; NULL: nothing
    const char *goal_id; // of the goal that starts; NULL after that
    // Of the start of a chunk: what the one that it takes over from wanted last (NULL: it takes over from none), and the
    // robot time at which the one before ended (0: there was none).
    const struct pons__skill_output *before;
    int64_t before_end_ns;
    void (*speak)(void *user, const char *text);
    void *user;
} pons__skill_env;

typedef enum pons__skill_status {
    PONS__SKILL_RUNNING,
    PONS__SKILL_DONE,
    PONS__SKILL_FAILED
} pons__skill_status;

typedef struct pons__skill pons__skill;

typedef struct pons__skill_run { // of one goal; the caller's storage
    const pons__skill *skill;
    const pons_value *args; // borrowed
    int phase;
    double timeout_s;       // robot time; the skill's, until its own functions know better
    int64_t start_ns;       // robot time at which it started
    int64_t spared_ns;      // the body's spared time by then
    int64_t phase_ns;       // robot time at which the phase began
    int64_t held_ns;        // robot time at which it was held; -1
    int64_t held_spared_ns; // and spared time
    int64_t stuck_since_ns; // robot time since which the gate lets nothing through; -1
    pons_pose2 goal;        // in map
    pons_pose2 from;        // in odom, where the phase began
    double last_yaw;        // in odom
    double turned;          // [rad] so far
    uint64_t first_scan;
    int recoveries, recoveries_before; // of the navigator, now and before it was started anew
    int tries;
    uint64_t steers;  // of drive_by_hand: messages that came before it
    int64_t away_ns;  // robot time of the last hold, less what was spared in it
    int64_t doubt_ns; // robot time since which the pose is in doubt, or something is lacking; -1
    bool undecided;   // done by its own measure, but the last scan does not believe the pose
    pons_twist2 last_cmd;    // of the motion
    pons__motion motion;     // of spin, back_up, drive_on_heading
    pons__way3 way;          // of an arm
    char external_goal[256]; // the goal, when the robot's own software has it; "": it has not
    pons_value *answer;      // of that software, at the end; owned
    struct {
        int64_t last_ns;  // robot time of the last step
        int64_t lost_ns;  // since when it is not in the hand; 0: it is
        char object[64];  // that it is about
        double seen[3];   // where that was, or is to be
        double z0, width; // before it was lifted; of the gripper
        double waited_s;
    } arm;
    struct {               // of a chunk
        int64_t joined_ns; // robot time at which it took over from the one before; -1: it did not
        pons_twist2 cmd;   // what that one wanted then,
        double qd[PONS_ARM_JOINTS]; // of the arm
        pons_pose3 tool;            // where deltas have brought it, in the frame of the arm's base
        double q[PONS_ARM_JOINTS];  // the joints for that
    } chunk;
    _Alignas(max_align_t) unsigned char state[PONS_SKILL_STATE_MAX]; // of a module's skill
} pons__skill_run;

typedef struct pons__skill_output {
    pons__skill_status status;
    int error_code;
    char error_msg[PONS__SKILL_MSG_MAX + 200]; // room for what the body adds (goals.c)
    pons_twist2 cmd;
    double qd[PONS_ARM_JOINTS]; // of the arm
    bool docking;               // the command is a docking one
    double distance_m;          // remaining; NAN when the skill has none
    double remaining;           // what the skill's left says; NAN: not told
    double eta_s;               // NAN when unknown
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

struct pons__skill {
    const char *name;
    const char *description; // one sentence, for whoever has to choose
    const char *args_schema; // JSON Schema
    bool needs_base;         // holds the resource "base" while it runs
    bool needs_arm;          // holds "arm" and "gripper"
    bool moves;              // refused while a stop is latched
    bool needs_pose;         // means places of the map: waits while the pose is in doubt
    bool chunk;              // a chunk of a policy's actions: the next one may take over from it
    bool preemptible, cancel_supported, requires_approval, ask_on_unknown;
    double timeout_s;      // robot time, unless the run has one of its own
    int timeout_code;      // 0: PONS__TIMED_OUT
    const char *success;   // success_criteria
    const char *error_map; // JSON object
    const char *reported;  // JSON object: further members of its registry item; NULL: none
    const char *phrases;   // JSON list of {say: [pattern…], args}; NULL: called by its name alone
    const pons_skill *module; // NULL: the body's own
    const char *interface;    // what carries it out elsewhere: "ros2_action"; NULL: the body
    // Says what is wrong with arguments that fit the schema; NULL: nothing can be.
    bool (*check)(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret);
    void (*start)(pons__skill_run *r, const pons__skill_env *env);
    void (*step)(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);
    void (*stop)(pons__skill_run *r, const pons__skill_env *env);   // at any end
    void (*hold)(pons__skill_run *r, const pons__skill_env *env);   // NULL: stop
    void (*resume)(pons__skill_run *r, const pons__skill_env *env); // after a hold
    // How much of the argument that its registry item calls `remains` is left, if it ended now; NULL: nobody asks.
    double (*left)(const pons__skill_run *r, const pons__skill_env *env);
};

typedef struct pons__skills { // all of one body; not to be moved
    size_t n;
    const pons__skill *at[PONS__SKILLS_MAX]; // the body's own first
    pons_schema *schemas[PONS__SKILLS_MAX];  // of their arguments
    pons_value *reported[PONS__SKILLS_MAX];  // parsed; NULL: nothing
    pons__skill modules[PONS_BODY_SKILLS_MAX];
    pons__skill robots[PONS__ROBOTS_MAX]; // that the robot's own software has
} pons__skills;

// What a body has.
enum { PONS__WITH_WHEELS = 1, PONS__WITH_ARM = 2, PONS__WITH_CHARGER = 4, PONS__WITH_MAPPER = 8 };

// The body's own, of what it has, and these. PONS_EINVAL, PONS_EEXIST (a name that there is already),
// PONS_EUNSUPPORTED (another ABI), PONS_ENOMEM; to be closed in any case.
int pons__skills_open(pons__skills *s, unsigned has, const pons_skill *const *modules, size_t n,
                      pons_error *err);
// Those of the robot's own software join them; PONS_EINVAL, PONS_EEXIST as above.
int pons__skills_join(pons__skills *s, const pons_robot_ops *robot, void *self, pons_error *err);
// After the world has got a charger: adds dock_to_charger, if the robot can use it.
int pons__skills_dock(pons__skills *s, unsigned has, pons_error *err);
void pons__skills_close(pons__skills *s);
// NULL: unknown. *ret_schema, unless NULL, is that of its arguments.
const pons__skill *pons__skills_find(const pons__skills *s, const char *name,
                                     const pons_schema **ret_schema);
// How much of a counted resource a goal of it takes; 0: none.
int64_t pons__skills_counted(const pons__skills *s, const pons__skill *k, const char *resource);
// The registry as the brain reads it; NULL on no memory.
pons_value *pons__skills_registry(const pons__skills *s);

// module_skill.c: the body's form of a module's skill, which it goes on using.
int pons__skill_adapt(const pons_skill *m, pons__skill *ret, pons_error *err);

// Whether a goal with these arguments, which fit the schema, can be; else why not.
bool pons__skill_check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                       pons__skill_refusal *ret);
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
// chunk_blending.c: a chunk of a policy's actions.
#define PONS__CHUNK_ARGS                                                                           \
    "\"hz\":{\"type\":\"number\",\"minimum\":1,\"maximum\":20},"                                   \
    "\"from_ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9000000000000}"
double pons__chunk_hz(const pons_value *args);
// Periods that have passed since what the policy saw; to be left out.
double pons__chunk_passed(const pons_value *args, const pons__skill_env *env);
void pons__chunk_start(pons__skill_run *r, const pons__skill_env *env);
// Which action is under way; -1: all have had their period.
int pons__chunk_at(const pons__skill_run *r, const pons__skill_env *env, double *ret_left_s);
// From what the chunk before wanted to what this one wants.
double pons__chunk_joined(const pons__skill_run *r, const pons__skill_env *env, double before,
                          double wants);
// The zone with that id or name, whatever its letters' case; NULL: none.
const pons_value *pons__world_zone(const pons_value *world, const char *name);
bool pons__pose_read(const pons_value *v, pons_pose2 *ret);

// navigate.c, explore.c, dock.c, base_motions.c, drive_by_hand.c, speak_wait_look.c; pick.c, place.c, arm_moves.c, follow_joints.c
extern const pons__skill pons__skill_navigate, pons__skill_navigate_through, pons__skill_dock,
    pons__skill_undock, pons__skill_stop_base, pons__skill_spin, pons__skill_back_up,
    pons__skill_drive, pons__skill_by_hand, pons__skill_speak, pons__skill_wait, pons__skill_look,
    pons__skill_pick, pons__skill_place, pons__skill_move_to, pons__skill_home,
    pons__skill_open_gripper, pons__skill_close_gripper, pons__skill_follow,
    pons__skill_follow_joints, pons__skill_explore;

// external_goal.c: goals that the robot's own software carries out (ext/outside.h).
static inline bool pons__external_goal_takes(const pons__skill *k, const pons_robot_ops *robot,
                                             void *self)
{
    const pons_robot_outside_ops *o = pons_robot_outside(robot);
    return o && robot->abi >= 4u && o->takes && o->takes(self, k->name);
}
// A motion of base_motions.c that an errand carries out: where it begins, and each step of it.
void pons__motion_follow(pons__skill_run *r, const pons__skill_env *env);
void pons__motion_followed(pons__skill_run *r, const pons__skill_env *env);
void pons__external_goal_start(pons__skill_run *r, const pons__skill_env *env);
void pons__external_goal_step(pons__skill_run *r, const pons__skill_env *env,
                              pons__skill_output *ret);
void pons__external_goal_look(pons__skill_run *r, const pons__skill_env *env,
                              pons_external_goal *ret);
void pons__external_goal_stop(pons__skill_run *r, const pons__skill_env *env);

// navigate.c: a navigation's poses and tree for the robot's own software; and the time for a way of this length,
// if it is the longest so far.
void pons__navigate_external_goal(pons__skill_run *r, const pons__skill_env *env,
                                  pons_external_goal_request *ret);
void pons__navigate_allow(pons__skill_run *r, const pons__skill_env *env, double way_m);

// Backing off the charger, shared by undock and by a navigation that begins there. True when done.
bool pons__undock_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);
