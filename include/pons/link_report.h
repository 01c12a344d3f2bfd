// link_report.h - what the body says, as structs. What is said to it: link_message.h.
//
// Like a message to the body, a report is JSON only on the link. The body fills a struct and encodes
// it; a brain, an agent, a person's command or a scenario decodes it, once, and works with the
// struct. Both go by one table (fields.h), which docs/reference/link-messages.md shows.
//
// A number that is not known is NAN in the struct and null on the link.
#pragma once

#include "pons/fields.h"
#include "pons/link.h"
#include "pons/linkage.h"

PONS_C_BEGIN

typedef enum pons_report_type {
    PONS_REPORT_NONE, // no report, or of a type that is not known
    PONS_REPORT_HELLO,
    PONS_REPORT_ACCEPTED,
    PONS_REPORT_REJECTED,
    PONS_REPORT_ADOPTED,
    PONS_REPORT_STATUS,
    PONS_REPORT_FEEDBACK,
    PONS_REPORT_RESULT,
    PONS_REPORT_TELEMETRY,
    PONS_REPORT_TREE,
    PONS_REPORT_VIEW,
    PONS_REPORT_SENSES,
    PONS_REPORT_SEES,
    PONS_REPORT_STOPPED,
    PONS_REPORT_LATCHED,
    PONS_REPORT_UNSAVED,
    PONS_REPORT_SPEAK,
    PONS_REPORT_OK,
    PONS_REPORT_ERROR,
    PONS_REPORT_TYPES
} pons_report_type;

// accepted -> started -> done | failed | canceled, and between: held -> adopted.
typedef enum pons_goal_state {
    PONS_GOAL_NONE, // never heard of
    PONS_GOAL_ACCEPTED,
    PONS_GOAL_STARTED,
    PONS_GOAL_HELD, // its brain is lost
    PONS_GOAL_ADOPTED,
    PONS_GOAL_DONE,
    PONS_GOAL_FAILED,
    PONS_GOAL_CANCELED
} pons_goal_state;
extern const char *const pons_goal_states[]; // their words; "" for none; ends with NULL
static inline bool pons_goal_over(pons_goal_state s)
{
    return s >= PONS_GOAL_DONE;
}

// Strings are never NULL after a decode. To send, NULL stands for the field's default.
typedef struct pons_report_pose { // in the map
    double x, y;                  // [m]
    double yaw;                   // [rad]
} pons_report_pose;

typedef struct pons_report_hello {
    int64_t protocol;
    const char *boot_id, *robot_id;
    int64_t epoch; // 0: the one who hears it is no controller
    const char *driver;
    const char *world_id; // pons_world_id() of the world that it was started with
    int64_t started_ms;   // of this process; wall clock
    double speed;         // robot seconds in a host second
    bool simulated;
    const pons_value
        *world; // {name, bounds, zones, charger, objects, keep_out}, of schemas/world.json
    const pons_value *skills;     // of schemas/skill.json
    const pons_value *embodiment; // NULL: not told
    const pons_value *resources;  // {name: how much there is} of what is counted; NULL: none
    struct pons_report_limits {
        double radius_m, speed_max_mps, reverse_max_mps, yaw_rate_max_radps, brake_max_mps2;
        double turning_radius_m;     // NAN: it turns where it stands
        const pons_value *footprint; // [[x, y], …] in base; NULL: the circle of radius_m
        int64_t heartbeat_ms, held_s, line_max;
    } limits;
    int64_t pid; // 0: no process of its own
} pons_report_hello;

// accepted, adopted
typedef struct pons_report_answer {
    const char *goal_id;
    int state;           // pons_goal_state
    bool known;          // accepted: the id was there already
    const char *boot_id; // of the body that had it, when it is known; else ""
} pons_report_answer;

typedef struct pons_report_rejected {
    const char *goal_id, *code, *message;
    int64_t error_code; // 0: none
} pons_report_rejected;

// How a goal ended. metrics: pons_report_metrics, as JSON; an object.
typedef struct pons_report_end {
    int64_t error_code; // 0: none
    const char *error_msg;
    const pons_value *metrics; // NULL: none
} pons_report_end;

typedef struct pons_report_metrics {
    double distance_m, duration_s;
    int64_t recoveries;
    double distance_remaining_m;
    int64_t obstacles;        // that `look` has found; -1: another skill
    const pons_value *answer; // of the robot's own software; NULL: none
    double
        remaining; // of what was asked, in the unit of the skill's argument `remains`; NAN: not told
} pons_report_metrics;

typedef struct pons_report_status {
    const char *goal_id;
    bool known;
    int state; // pons_goal_state
    const char *skill;
    const char *boot_id; // of the body that has last moved it; of this one when it is not known
    bool same_boot, started;
    pons_report_end end;
} pons_report_status;

typedef struct pons_report_feedback {
    const char *goal_id, *skill;
    int64_t robot_ms;
    double distance_remaining_m, eta_s, elapsed_s;
    double distance_m; // driven since the start
    double
        remaining; // of what was asked, in the unit of the skill's argument `remains`; NAN: not told
    int64_t recoveries;
    pons_report_pose pose;
    bool navigates; // the rest is told, by Nav2's names
    int64_t number_of_recoveries;
    double navigation_time;                              // [s]
    double distance_remaining, estimated_time_remaining; // [m], [s]
    int64_t number_of_poses_remaining;                   // -1: to one pose only
    const char *current_node;
} pons_report_feedback;

typedef struct pons_report_result {
    const char *goal_id, *skill;
    int status; // pons_goal_state: one that is over
    pons_report_end end;
} pons_report_result;

typedef struct pons_report_stop {
    bool latched;
    const char *reason;
    const char *origin;  // boot, unknown, fault, stop; "": nothing is latched
    int64_t number;      // rises with every stop of this boot, also of what is latched already
    const char *unsaved; // why what is in force is not on the disk; "": it is, or is not tried yet
} pons_report_stop;

typedef struct pons_report_telemetry {
    int64_t robot_ms;
    pons_report_pose pose;
    double pose_std_m;
    struct {
        const char *state; // sure, doubtful, ambiguous, lost
        double agreement;  // of the newest scan with the map there, 0 … 1; NAN: it cannot tell
        const char *why;   // in doubt: what is known, for people; ""
    } localization;
    struct {
        double v, w; // [m/s], [rad/s]
    } twist;
    double battery_pct;
    const char *battery_state; // unknown, charging, discharging, not_charging, full
    bool docked;
    double distance_remaining_m;
    struct {
        bool active; // there is one
        const char *goal_id, *skill;
        int state;          // pons_goal_state
        int64_t started_ms; // since 1970
        double timeout_s;
    } goal;
    bool base_busy;
    const pons_value *counted; // {name: how much is taken}; NULL: nothing is counted
    pons_report_stop stop;
    bool held;
    double nearest_m;
    const char *zone_of_safety;
    double realtime;
    int64_t scan_age_ms; // -1: there was none
    bool fifo;
    const char *boot_id;
    double odometer_m;
    int64_t gaps;
    const pons_value *obstacles; // of pons_report_obstacle
    int64_t pace_percent;        // of every speed limit, that a person has left
    bool collision_risk, latch_durable;
    bool has_arm;            // the rest is told
    const char *holding;     // the id of what is between the fingers; NULL: nothing
    const pons_value *arm;   // of pons_report_arm
    const pons_value *scene; // of pons_report_thing
} pons_report_telemetry;

typedef struct pons_report_arm {
    const pons_value *joints; // [rad or m], in the chain's order
    const pons_value *tool;   // x, y, z, roll, pitch, yaw in the robot's base
    double gripper_m, force_n;
    bool moving;
    const char *zone; // what the gate did
} pons_report_arm;

typedef struct pons_report_thing { // that is seen
    const char *id, *class_;
    const pons_value *position; // of its middle in the map: x, y, z
    const char *relation;       // in, on, held; NULL: none of these
    const char *at;             // in or on which; NULL: none
    const pons_value *near;     // ids of what lies within 0.15 m
} pons_report_thing;

typedef struct pons_report_obstacle {
    double x, y, r; // [m]
} pons_report_obstacle;

typedef struct pons_report_tree {
    int64_t tree;        // its number; another one: another tree
    const char *goal_id; // ""
    int64_t robot_ms;
    const pons_value *changes; // of pons_report_change; NULL: this is a part of the outline
    int64_t lost;              // changes for which there was no room
    const pons_value *nodes;   // of pons_report_node
    const char *file;
    int64_t of; // nodes, in all
} pons_report_tree;

// For pictures: x and y by turns, in the map [m].
typedef struct pons_report_view {
    int64_t robot_ms;
    const pons_value *path; // the way ahead; empty: none is followed
    const pons_value *scan; // where the newest scan's beams ended; empty: there is none
    // {angle_min, angle_increment, range_min, range_max, ranges}, 0: no return, and where in base they begin,
    // {x, y, yaw}; NULL: not told
    const pons_value *laser;
} pons_report_view;

// What other software makes a robot's odometry, transforms and scans of.
typedef struct pons_report_senses {
    int64_t stamp_ns; // robot time of the odometry
    pons_report_pose odom_from_base;
    struct {
        double v, w; // [m/s], [rad/s]
    } twist;
    const pons_value *covariance; // of x, y, yaw: nine numbers; NULL: not told
    pons_report_pose map_from_odom;
    bool placed; // the robot knows where it is; else map_from_odom is a guess
    double pose_std_m;
    double battery_pct;
    const char *battery_state;
    const pons_value *scan; // as a view's laser, and stamp_ns; NULL: no new one
} pons_report_senses;

// What a simulated detector has found; the pose is that of the stamp.
typedef struct pons_report_sees {
    int64_t stamp_ns; // robot time
    const char *camera;
    pons_report_pose pose;               // of the base in the map
    double pose_std_m;                   // NAN: not known
    bool placed;                         // the robot knows where it is; else the pose is a guess
    double eye_x, eye_y, eye_z, eye_yaw; // in base
    double fov_rad, near_m, far_m, miss;
    const pons_value *detections; // of pons_report_detection
} pons_report_sees;

typedef struct pons_report_detection {
    const char *label, *identity; // identity "": not known
    double score;
    double x, y, z; // in base [m]
    double sd_m;
} pons_report_detection;

typedef struct pons_report_change {
    int64_t node;
    const char *path, *from, *to;
    int64_t robot_ms;
} pons_report_change;

typedef struct pons_report_node {
    int64_t node;
    const char *path, *state;
} pons_report_node;

typedef struct pons_report {
    pons_report_type type;
    union {
        pons_report_hello hello;
        pons_report_answer answer;
        pons_report_rejected rejected;
        pons_report_status status;
        pons_report_feedback feedback;
        pons_report_result result;
        pons_report_telemetry telemetry;
        pons_report_tree tree;
        pons_report_view view;
        pons_report_senses senses;
        pons_report_sees sees;
        struct {
            const char *text;
        } speak;
        struct {
            const char *message;
        } unsaved;
        struct {
            const char *re;  // the message's type
            int64_t percent; // of `pace`: the one that it answers; 0: not told
        } ok;
        struct {
            const char *code, *message;
            const char *re;  // the message's type; "": not known
            int64_t percent; // of `pace`: the one that it answers; 0: not told
        } error;
    } as;
    pons_field_fault fault; // of a decode: the first field that is wrong
    const pons_value *held; // of a decode: what strings, lists and objects lie in
} pons_report;

// Reads a report. PONS_ENOTFOUND: its type is not in the table; *ret is of PONS_REPORT_NONE.
// PONS_EPROTOCOL: a field is missing, of another kind, or outside its limits; err and ret->fault
// name the first one; *ret is filled all the same, with defaults for what is wrong. The caller
// clears *ret.
int pons_report_decode(const pons_value *json, pons_report *ret, pons_error *err);
// One more owner of what a decode has read.
pons_report pons_report_share(const pons_report *r);
void pons_report_clear(pons_report *r); // NULL-safe; leaves PONS_REPORT_NONE

// The JSON of a report, with "type"; the caller's; NULL: no memory.
pons_value *pons_report_encode(const pons_report *r);
// Its goal_id; "": it is about no goal.
const char *pons_report_goal_id(const pons_report *r);

// ---- what lies in a report as JSON --------------------------------------------------------------

// The structs borrow from what they are read from; what is wrong has its default.
void pons_report_obstacle_read(const pons_value *item, pons_report_obstacle *ret);
void pons_report_detection_read(const pons_value *item, pons_report_detection *ret);
void pons_report_change_read(const pons_value *item, pons_report_change *ret);
void pons_report_node_read(const pons_value *item, pons_report_node *ret);
// New objects; NULL: no memory.
pons_value *pons_report_obstacle_value(const pons_report_obstacle *o);
pons_value *pons_report_detection_value(const pons_report_detection *d);
pons_value *pons_report_change_value(const pons_report_change *c);
pons_value *pons_report_node_value(const pons_report_node *n);
pons_value *pons_report_metrics_value(const pons_report_metrics *m);

// ---- the table ----------------------------------------------------------------------------------

// The word of a type, "result"; NULL for PONS_REPORT_NONE and what is no type.
const char *pons_report_word(pons_report_type type);
// The fields of a type, without "type" itself; constant.
const pons_field *pons_report_fields(pons_report_type type, size_t *ret_n);
// Appends the table as it stands in docs/reference/link-messages.md. PONS_ENOMEM.
int pons_report_describe(pons_buf *out);

PONS_C_END
