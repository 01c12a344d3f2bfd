// link_report.c - what the body says: one table, by which it is read, checked, written and documented.
//
//   decode   JSON --> its type's fields (fields.h) --> struct
//   encode   struct --> its type's fields --> JSON
//   describe the table, for docs/reference/link-messages.md
//
// What is said to the body has the other table, link_message.c.
//
// A new report is a type in link_report.h, its struct, its fields here, and a row in docs/reference/link.md; a
// new field is a line here. Nothing else of pons spells a member's name of a report. What a report
// must have is little: what is done by it (whose goal it is, how it ended, whether a stop is
// latched); for the rest an older body, which does not tell it, is heard all the same. Any thread.
#include "pons/link_report.h"

#include <string.h>

#define AT(member)       offsetof(pons_report, as.member)
#define IN(type, member) offsetof(type, member)
#define REQUIRED         PONS_FIELD_REQUIRED
#define USUAL            PONS_FIELD_USUAL
#define NULLABLE         PONS_FIELD_NULLABLE
#define OPTIONAL         PONS_FIELD_OPTIONAL
#define STRING           PONS_FIELD_STRING
#define WORD             PONS_FIELD_WORD
#define INTEGER          PONS_FIELD_INTEGER
#define NUMBER           PONS_FIELD_NUMBER
#define BOOLEAN          PONS_FIELD_BOOLEAN
#define OBJECT           PONS_FIELD_OBJECT
#define LIST             PONS_FIELD_LIST
#define GROUP            PONS_FIELD_GROUP
#define ALWAYS           PONS_FIELD_ALWAYS
#define FIELDS(list)     list, sizeof(list) / sizeof((list)[0])
#define WITH(list)       .fields = list, .n_fields = sizeof(list) / sizeof((list)[0])

const char *const pons_goal_states[] = {"",     "accepted", "started",  "held", "adopted",
                                        "done", "failed",   "canceled", NULL};

// ---- the table ----------------------------------------------------------------------------------

// clang-format off
static const pons_field limits_fields[] = {
    {"radius_m",           NUMBER,  USUAL, AT(hello.limits.radius_m), .means = "of the circle about its base that holds the robot"},
    {"footprint",          LIST,    OPTIONAL, AT(hello.limits.footprint), .means = "`[[x, y], …]` in its base, of a robot that is not round"},
    {"turning_radius_m",   NUMBER,  OPTIONAL, AT(hello.limits.turning_radius_m), .means = "of the tightest arc; without it: the robot turns where it stands"},
    {"speed_max_mps",      NUMBER,  USUAL, AT(hello.limits.speed_max_mps), .means = "ahead"},
    {"reverse_max_mps",    NUMBER,  USUAL, AT(hello.limits.reverse_max_mps), .means = "back"},
    {"yaw_rate_max_radps", NUMBER,  USUAL, AT(hello.limits.yaw_rate_max_radps), .means = "turning"},
    {"brake_max_mps2",     NUMBER,  USUAL, AT(hello.limits.brake_max_mps2), .means = "braking"},
    {"heartbeat_ms",       INTEGER, USUAL, AT(hello.limits.heartbeat_ms), .means = "without a heartbeat: the brain is lost"},
    {"held_s",             INTEGER, USUAL, AT(hello.limits.held_s), .means = "for which a goal is held"},
    {"line_max",           INTEGER, USUAL, AT(hello.limits.line_max), .means = "bytes of a line"},
};

static const pons_field hello_fields[] = {
    {"protocol",   INTEGER, USUAL,    AT(hello.protocol), .means = "1"},
    {"boot_id",    STRING,  USUAL,    AT(hello.boot_id), .means = "of this process of the body"},
    {"robot_id",   STRING,  USUAL,    AT(hello.robot_id), .means = "what goals must name"},
    {"epoch",      INTEGER, USUAL,    AT(hello.epoch), .means = "the control epoch; 0 for an observer"},
    {"driver",     STRING,  USUAL,    AT(hello.driver), .means = "its name"},
    {"world_id",   STRING,  USUAL,    AT(hello.world_id), .means = "what tells its world from others: 12 digits of a hash of all that the world's file says"},
    {"started_ms", INTEGER, USUAL,    AT(hello.started_ms), .means = "when the body was started; wall clock"},
    {"speed",      NUMBER,  USUAL,    AT(hello.speed), .means = "robot seconds in a host second"},
    {"simulated",  BOOLEAN, USUAL,    AT(hello.simulated), .means = "the world may be changed"},
    {"world",      OBJECT,  USUAL,    AT(hello.world), .means = "name, bounds, zones, charger, objects, keep_out, as of the world's file"},
    {"skills",     LIST,    USUAL,    AT(hello.skills), .means = "the registry, below"},
    {"embodiment", OBJECT,  OPTIONAL, AT(hello.embodiment), .means = "what the robot is, for a plan's critic"},
    {"resources",  OBJECT,  OPTIONAL, AT(hello.resources), .means = "how much there is of each resource that is counted: `{\"gpu\": 2}`"},
    {"limits",     GROUP,   USUAL,    ALWAYS, WITH(limits_fields), .means = "of the robot, and of the link"},
    {"pid",        INTEGER, USUAL,    AT(hello.pid), .means = "of the body; 0 in process"},
};

static const pons_field answer_fields[] = { // adopted has the first two only
    {"goal_id", STRING,  REQUIRED, AT(answer.goal_id), .means = "the goal that is meant"},
    {"state",   WORD,    REQUIRED, AT(answer.state), .choices = pons_goal_states, .means = "of the goal, now"},
    {"known",   BOOLEAN, OPTIONAL, AT(answer.known), .means = "the id was there already: nothing moves"},
    {"boot_id", STRING,  OPTIONAL, AT(answer.boot_id), .means = "of the body that had it, when it is known"},
};

static const pons_field rejected_fields[] = {
    {"goal_id",    STRING,  REQUIRED, AT(rejected.goal_id), .means = "the goal that is meant"},
    {"code",       STRING,  USUAL,    AT(rejected.code), .means = "why, below"},
    {"error_code", INTEGER, OPTIONAL, AT(rejected.error_code), .means = "a skill's number for it"},
    {"message",    STRING,  USUAL,    AT(rejected.message), .any_bytes = true, .means = "for people"},
};

static const pons_field metrics_fields[] = {
    {"distance_m",           NUMBER,  USUAL,    IN(pons_report_metrics, distance_m), .means = "that was driven"},
    {"duration_s",           NUMBER,  USUAL,    IN(pons_report_metrics, duration_s), .means = "of the robot's clock"},
    {"recoveries",           INTEGER, USUAL,    IN(pons_report_metrics, recoveries), .means = "of the navigator"},
    {"distance_remaining_m", NUMBER,  NULLABLE, IN(pons_report_metrics, distance_remaining_m), .means = "of the way"},
    {"remaining",            NUMBER,  NULLABLE, IN(pons_report_metrics, remaining), .means = "of what was asked, where it stands then, in the unit of the argument that the skill's `remains` names"},
    {"obstacles",            INTEGER, OPTIONAL, IN(pons_report_metrics, obstacles), .preset = -1, .means = "that `look` has found"},
    {"answer",               OBJECT,  OPTIONAL, IN(pons_report_metrics, answer), .means = "what the robot's own software said at the end"},
};

static const pons_field status_fields[] = {
    {"goal_id",    STRING,  REQUIRED, AT(status.goal_id), .means = "the goal that is meant"},
    {"known",      BOOLEAN, REQUIRED, AT(status.known), .means = "the ledger has it"},
    {"state",      WORD,    NULLABLE, AT(status.state), .choices = pons_goal_states, .means = "of the goal"},
    {"skill",      STRING,  NULLABLE, AT(status.skill), .means = "of the goal"},
    {"boot_id",    STRING,  USUAL,    AT(status.boot_id), .means = "of the body that has last moved it; of this one when it is not known"},
    {"same_boot",  BOOLEAN, USUAL,    AT(status.same_boot), .means = "this body knows it from its own life"},
    {"started",    BOOLEAN, USUAL,    AT(status.started), .means = "it has, ever, moved anything"},
    {"error_code", INTEGER, USUAL,    AT(status.end.error_code), .means = "0: none"},
    {"error_msg",  STRING,  USUAL,    AT(status.end.error_msg), .any_bytes = true, .means = "for people"},
    {"metrics",    OBJECT,  USUAL,    AT(status.end.metrics), .means = "as of `result`"},
};

#define POSE(of) \
    {"x",   NUMBER, NULLABLE, AT(of.x), .means = "m"}, \
    {"y",   NUMBER, NULLABLE, AT(of.y), .means = "m"}, \
    {"yaw", NUMBER, NULLABLE, AT(of.yaw), .means = "rad"},
static const pons_field feedback_pose[] = {POSE(feedback.pose)};
static const pons_field telemetry_pose[] = {POSE(telemetry.pose)};

static const pons_field navigation_fields[] = {
    {"number_of_recoveries",      INTEGER, USUAL,    AT(feedback.number_of_recoveries), .means = "of a navigation, like the next ones"},
    {"navigation_time",           NUMBER,  USUAL,    AT(feedback.navigation_time), .means = "s"},
    {"distance_remaining",        NUMBER,  NULLABLE, AT(feedback.distance_remaining), .means = "m; `null` while no path is followed"},
    {"estimated_time_remaining",  NUMBER,  NULLABLE, AT(feedback.estimated_time_remaining), .means = "s"},
    {"number_of_poses_remaining", INTEGER, OPTIONAL, AT(feedback.number_of_poses_remaining), .preset = -1, .means = "of several"},
    {"current_node",              STRING,  USUAL,    AT(feedback.current_node), .any_bytes = true, .means = "the path of the tree's leaf that runs"},
};

static const pons_field feedback_fields[] = {
    {"goal_id",              STRING,  REQUIRED, AT(feedback.goal_id), .means = "the goal that is meant"},
    {"skill",                STRING,  USUAL,    AT(feedback.skill), .means = "of the goal"},
    {"robot_ms",             INTEGER, USUAL,    AT(feedback.robot_ms), .means = "the robot's clock"},
    {"distance_remaining_m", NUMBER,  NULLABLE, AT(feedback.distance_remaining_m), .means = "of the way"},
    {"remaining",            NUMBER,  NULLABLE, AT(feedback.remaining), .means = "of what was asked, where it stands then, in the unit of the argument that the skill's `remains` names"},
    {"distance_m",           NUMBER,  USUAL,    AT(feedback.distance_m), .means = "driven since the start"},
    {"eta_s",                NUMBER,  NULLABLE, AT(feedback.eta_s), .means = "to the end"},
    {"elapsed_s",            NUMBER,  USUAL,    AT(feedback.elapsed_s), .means = "since the start"},
    {"recoveries",           INTEGER, USUAL,    AT(feedback.recoveries), .means = "so far"},
    {"pose",                 GROUP,   USUAL,    ALWAYS, WITH(feedback_pose), .means = "of the robot, in the map"},
    {"",                     GROUP,   USUAL,    AT(feedback.navigates), WITH(navigation_fields)},
};

static const pons_field result_fields[] = {
    {"goal_id",    STRING,  REQUIRED, AT(result.goal_id), .means = "the goal that is meant"},
    {"skill",      STRING,  USUAL,    AT(result.skill), .means = "of the goal"},
    {"status",     WORD,    REQUIRED, AT(result.status), .choices = pons_goal_states, .means = "`done`, `failed` or `canceled`"},
    {"error_code", INTEGER, USUAL,    AT(result.end.error_code), .means = "0: none"},
    {"error_msg",  STRING,  USUAL,    AT(result.end.error_msg), .any_bytes = true, .means = "for people"},
    {"metrics",    OBJECT,  USUAL,    AT(result.end.metrics), WITH(metrics_fields), .means = "what it took"},
};

static const pons_field twist_fields[] = {
    {"v", NUMBER, NULLABLE, AT(telemetry.twist.v), .means = "m/s"},
    {"w", NUMBER, NULLABLE, AT(telemetry.twist.w), .means = "rad/s"},
};

static const pons_field localization_fields[] = {
    {"state",     STRING, USUAL,    AT(telemetry.localization.state), .words = "sure", .means = "`sure`, `doubtful`, `ambiguous`, `lost`"},
    {"agreement", NUMBER, NULLABLE, AT(telemetry.localization.agreement), .means = "share, 0 to 1, of the beams that can tell which agree with the map there"},
    {"why",       STRING, OPTIONAL, AT(telemetry.localization.why), .means = "in doubt: what is known, for people"},
};

static const pons_field active_fields[] = {
    {"goal_id",    STRING,  REQUIRED, AT(telemetry.goal.goal_id), .means = "its id"},
    {"skill",      STRING,  USUAL,    AT(telemetry.goal.skill), .means = "its skill"},
    {"state",      WORD,    USUAL,    AT(telemetry.goal.state), .choices = pons_goal_states, .means = "its state"},
    {"started_ms", INTEGER, USUAL,    AT(telemetry.goal.started_ms), .means = "since 1970"},
    {"timeout_s",  NUMBER,  USUAL,    AT(telemetry.goal.timeout_s), .means = "of the robot's clock"},
};

static const pons_field resources_fields[] = {
    {"base_busy", BOOLEAN, USUAL,    AT(telemetry.base_busy), .means = "a goal has the base"},
    {"counted",   OBJECT,  OPTIONAL, AT(telemetry.counted), .means = "how much is taken of each resource that is counted"},
};

static const pons_field stop_fields[] = {
    {"latched", BOOLEAN, REQUIRED, AT(telemetry.stop.latched), .means = "a protective stop is in force"},
    {"reason",  STRING,  USUAL,    AT(telemetry.stop.reason), .any_bytes = true, .means = "for people"},
    {"origin",  STRING,  USUAL,    AT(telemetry.stop.origin), .means = "who latched, below"},
    {"number",  INTEGER, USUAL,    AT(telemetry.stop.number), .means = "rises with every stop of this boot"},
    {"unsaved", STRING,  OPTIONAL, AT(telemetry.stop.unsaved), .any_bytes = true, .means = "why that is not on the disk"},
};

static const pons_field obstacle_fields[] = {
    {"x", NUMBER, USUAL, IN(pons_report_obstacle, x), .means = "m"},
    {"y", NUMBER, USUAL, IN(pons_report_obstacle, y), .means = "m"},
    {"r", NUMBER, USUAL, IN(pons_report_obstacle, r), .means = "m"},
};

static const pons_field arm_item_fields[] = {
    {"joints",    LIST,    USUAL, IN(pons_report_arm, joints), .means = "positions, rad or m, in the chain's order"},
    {"tool",      LIST,    USUAL, IN(pons_report_arm, tool), .means = "x, y, z, roll, pitch, yaw in the robot's base"},
    {"gripper_m", NUMBER,  USUAL, IN(pons_report_arm, gripper_m), .means = "its opening"},
    {"force_n",   NUMBER,  USUAL, IN(pons_report_arm, force_n), .means = "between its fingers"},
    {"moving",    BOOLEAN, USUAL, IN(pons_report_arm, moving), .means = "a joint is told to move"},
    {"zone",      STRING,  USUAL, IN(pons_report_arm, zone), .means = "what the arm's gate did: `clear`, `limit`, `near`, `workspace`, `force`, `held`, `stale_command`, `latched`"},
};

static const pons_field thing_fields[] = {
    {"id",       STRING, USUAL,    IN(pons_report_thing, id), .means = "of an object"},
    {"class",    STRING, USUAL,    IN(pons_report_thing, class_), .means = "what it is"},
    {"position", LIST,   USUAL,    IN(pons_report_thing, position), .means = "x, y, z of its middle in the map"},
    {"relation", STRING, NULLABLE, IN(pons_report_thing, relation), .means = "`in`, `on`, `held`"},
    {"at",       STRING, NULLABLE, IN(pons_report_thing, at), .means = "in or on which"},
    {"near",     LIST,   USUAL,    IN(pons_report_thing, near), .means = "ids of what lies within 0.15 m"},
};

static const pons_field arm_fields[] = {
    {"holding", STRING, NULLABLE, AT(telemetry.holding), .means = "with an arm: what is between its fingers, as it is seen"},
    {"arm",     OBJECT, OPTIONAL, AT(telemetry.arm), WITH(arm_item_fields), .means = "with an arm"},
    {"scene",   LIST,   OPTIONAL, AT(telemetry.scene), WITH(thing_fields), .means = "with an arm: the things that are seen"},
};

static const pons_field telemetry_fields[] = {
    {"robot_ms",             INTEGER, REQUIRED, AT(telemetry.robot_ms), .means = "the robot's clock"},
    {"pose",                 GROUP,   USUAL,    ALWAYS, WITH(telemetry_pose), .means = "of the robot, in the map"},
    {"pose_std_m",           NUMBER,  NULLABLE, AT(telemetry.pose_std_m), .means = "how sure that is"},
    {"localization",         GROUP,   USUAL,    ALWAYS, WITH(localization_fields), .means = "and whether the scans bear it out, below"},
    {"twist",                GROUP,   USUAL,    ALWAYS, WITH(twist_fields), .means = "as measured"},
    {"battery_pct",          NUMBER,  NULLABLE, AT(telemetry.battery_pct), .means = "charge, per cent"},
    {"battery_state",        STRING,  USUAL,    AT(telemetry.battery_state), .words = "unknown", .means = "`unknown`, `charging`, `discharging`, `not_charging`, `full`"},
    {"docked",               BOOLEAN, USUAL,    AT(telemetry.docked), .means = "the contacts touch"},
    {"distance_remaining_m", NUMBER,  NULLABLE, AT(telemetry.distance_remaining_m), .means = "of the way of the goal"},
    {"goal",                 GROUP,   NULLABLE, AT(telemetry.goal.active), WITH(active_fields), .means = "the one that has the base, else another active one"},
    {"resources",            GROUP,   USUAL,    ALWAYS, WITH(resources_fields), .means = "what is taken"},
    {"stop",                 GROUP,   REQUIRED, ALWAYS, WITH(stop_fields), .means = "below"},
    {"held",                 BOOLEAN, USUAL,    AT(telemetry.held), .means = "a goal is held: its brain is lost"},
    {"nearest_m",            NUMBER,  NULLABLE, AT(telemetry.nearest_m), .means = "to the nearest obstacle"},
    {"zone_of_safety",       STRING,  USUAL,    AT(telemetry.zone_of_safety), .means = "what the gate did, below"},
    {"realtime",             NUMBER,  NULLABLE, AT(telemetry.realtime), .means = "robot seconds in a host second, lately"},
    {"scan_age_ms",          INTEGER, NULLABLE, AT(telemetry.scan_age_ms), .preset = -1, .means = "of the newest scan"},
    {"fifo",                 BOOLEAN, USUAL,    AT(telemetry.fifo), .means = "the safety thread has its priority"},
    {"boot_id",              STRING,  USUAL,    AT(telemetry.boot_id), .means = "of this process of the body"},
    {"odometer_m",           NUMBER,  NULLABLE, AT(telemetry.odometer_m), .means = "driven since its start"},
    {"gaps",                 INTEGER, USUAL,    AT(telemetry.gaps), .means = "holes in the gate's clocks"},
    {"obstacles",            LIST,    USUAL,    AT(telemetry.obstacles), WITH(obstacle_fields), .means = "what stands there beside the map"},
    {"collision_risk",       BOOLEAN, USUAL,    AT(telemetry.collision_risk), .means = "a surprise ahead, below"},
    {"pace_percent",         INTEGER, USUAL,    AT(telemetry.pace_percent), .preset = 100, .means = "of every speed limit, that a person has left"},
    {"latch_durable",        BOOLEAN, USUAL,    AT(telemetry.latch_durable), .means = "the disk says what is in force"},
    {"",                     GROUP,   USUAL,    AT(telemetry.has_arm), WITH(arm_fields)},
};

static const pons_field change_fields[] = {
    {"node",     INTEGER, USUAL, IN(pons_report_change, node), .means = "its number in the tree"},
    {"path",     STRING,  USUAL, IN(pons_report_change, path), .any_bytes = true, .means = "its ancestors and itself"},
    {"from",     STRING,  USUAL, IN(pons_report_change, from), .means = "the state before"},
    {"to",       STRING,  USUAL, IN(pons_report_change, to), .means = "the state after"},
    {"robot_ms", INTEGER, USUAL, IN(pons_report_change, robot_ms), .means = "the robot's clock"},
};

static const pons_field node_fields[] = {
    {"node",  INTEGER, USUAL, IN(pons_report_node, node), .means = "its number in the tree"},
    {"path",  STRING,  USUAL, IN(pons_report_node, path), .any_bytes = true, .means = "its ancestors and itself"},
    {"state", STRING,  USUAL, IN(pons_report_node, state), .means = "now"},
};

static const pons_field tree_fields[] = {
    {"tree",     INTEGER, REQUIRED, AT(tree.tree), .means = "another number: another tree"},
    {"goal_id",  STRING,  NULLABLE, AT(tree.goal_id), .means = "the goal whose tree it is"},
    {"robot_ms", INTEGER, USUAL,    AT(tree.robot_ms), .means = "the robot's clock"},
    {"changes",  LIST,    OPTIONAL, AT(tree.changes), WITH(change_fields), .means = "of states, in order"},
    {"lost",     INTEGER, OPTIONAL, AT(tree.lost), .means = "changes for which there was no room"},
    {"nodes",    LIST,    OPTIONAL, AT(tree.nodes), WITH(node_fields), .means = "a part of the outline"},
    {"file",     STRING,  OPTIONAL, AT(tree.file), .any_bytes = true, .means = "where the tree comes from, with the outline"},
    {"of",       INTEGER, OPTIONAL, AT(tree.of), .means = "nodes in all, with the outline"},
};

static const pons_field view_fields[] = {
    {"robot_ms", INTEGER, REQUIRED, AT(view.robot_ms), .means = "the robot's clock"},
    {"path",     LIST,    USUAL,    AT(view.path), .means = "the way ahead, x and y by turns, m; empty: none is followed"},
    {"scan",     LIST,    USUAL,    AT(view.scan), .means = "where the newest scan's beams ended, the same way"},
    {"laser",    OBJECT,  OPTIONAL, AT(view.laser), .means = "the newest scan as it was measured, for who asked for it"},
};

static const pons_field senses_odom[] = {POSE(senses.odom_from_base)};
static const pons_field senses_map[] = {POSE(senses.map_from_odom)};
static const pons_field senses_twist[] = {
    {"v", NUMBER, USUAL, AT(senses.twist.v), .means = "m/s"},
    {"w", NUMBER, USUAL, AT(senses.twist.w), .means = "rad/s"},
};

static const pons_field senses_fields[] = {
    {"stamp_ns",       INTEGER, REQUIRED, AT(senses.stamp_ns), .means = "robot time of the odometry"},
    {"odom_from_base", GROUP,   USUAL,    ALWAYS, WITH(senses_odom), .means = "odometry"},
    {"twist",          GROUP,   USUAL,    ALWAYS, WITH(senses_twist), .means = "measured, in base"},
    {"covariance",     LIST,    OPTIONAL, AT(senses.covariance), .means = "of x, y, yaw, row by row"},
    {"map_from_odom",  GROUP,   USUAL,    ALWAYS, WITH(senses_map), .means = "what localisation adds"},
    {"placed",         BOOLEAN, USUAL,    AT(senses.placed), .means = "the robot knows where it is"},
    {"pose_std_m",     NUMBER,  NULLABLE, AT(senses.pose_std_m), .means = "how sure that is"},
    {"battery_pct",    NUMBER,  USUAL,    AT(senses.battery_pct), .means = "charge"},
    {"battery_state",  STRING,  USUAL,    AT(senses.battery_state), .means = "below"},
    {"scan",           OBJECT,  OPTIONAL, AT(senses.scan), .means = "a new one, as `laser` of a `view`, and its `stamp_ns`"},
};

static const pons_field detection_fields[] = {
    {"label",    STRING, REQUIRED, IN(pons_report_detection, label), .any_bytes = true, .means = "what kind of thing"},
    {"identity", STRING, OPTIONAL, IN(pons_report_detection, identity), .any_bytes = true, .means = "which one"},
    {"score",    NUMBER, USUAL,    IN(pons_report_detection, score), .means = "0 to 1"},
    {"x",        NUMBER, USUAL,    IN(pons_report_detection, x), .means = "in base, m"},
    {"y",        NUMBER, USUAL,    IN(pons_report_detection, y), .means = "m"},
    {"z",        NUMBER, USUAL,    IN(pons_report_detection, z), .means = "m"},
    {"sd_m",     NUMBER, USUAL,    IN(pons_report_detection, sd_m), .means = "1 sigma of each"},
};

static const pons_field sees_pose[] = {POSE(sees.pose)};
static const pons_field sees_fields[] = {
    {"stamp_ns",   INTEGER, REQUIRED, AT(sees.stamp_ns), .means = "robot time of the picture"},
    {"camera",     STRING,  USUAL,    AT(sees.camera), .means = "whose picture it would be"},
    {"pose",       GROUP,   USUAL,    ALWAYS, WITH(sees_pose), .means = "of the base in the map, at the stamp"},
    {"pose_std_m", NUMBER,  NULLABLE, AT(sees.pose_std_m), .means = "how sure that is"},
    {"placed",     BOOLEAN, USUAL,    AT(sees.placed), .means = "the robot knows where it is"},
    {"eye_x",      NUMBER,  USUAL,    AT(sees.eye_x), .means = "of the camera in base, m"},
    {"eye_y",      NUMBER,  USUAL,    AT(sees.eye_y), .means = "m"},
    {"eye_z",      NUMBER,  USUAL,    AT(sees.eye_z), .means = "m"},
    {"eye_yaw",    NUMBER,  USUAL,    AT(sees.eye_yaw), .means = "where it looks, in base, rad"},
    {"fov_rad",    NUMBER,  USUAL,    AT(sees.fov_rad), .means = "horizontal field of view"},
    {"near_m",     NUMBER,  USUAL,    AT(sees.near_m), .means = "from where on it sees things"},
    {"far_m",      NUMBER,  USUAL,    AT(sees.far_m), .means = "and how far"},
    {"miss",       NUMBER,  USUAL,    AT(sees.miss), .means = "share of what is in view that it does not find"},
    {"detections", LIST,    USUAL,    AT(sees.detections), WITH(detection_fields), .means = "what it found"},
};

static const pons_field speak_fields[] = {
    {"text", STRING, USUAL, AT(speak.text), .any_bytes = true, .means = "what the robot says"},
};

static const pons_field unsaved_fields[] = {
    {"message", STRING, USUAL, AT(unsaved.message), .any_bytes = true, .means = "why the latch is not on the disk"},
};

static const pons_field ok_fields[] = {
    {"re",      STRING,  REQUIRED, AT(ok.re), .means = "the type of what was done"},
    {"percent", INTEGER, OPTIONAL, AT(ok.percent), .min = 0, .max = 100, .means = "of `pace`: the one that it answers; 0: not told"},
};

static const pons_field error_fields[] = {
    {"code",    STRING, USUAL,    AT(error.code), .means = "which error"},
    {"message", STRING, USUAL,    AT(error.message), .any_bytes = true, .means = "for people"},
    {"re",      STRING, OPTIONAL, AT(error.re), .any_bytes = true, .means = "the type of what was refused"},
    {"percent", INTEGER, OPTIONAL, AT(error.percent), .min = 0, .max = 100, .means = "of `pace`: the one that it answers; 0: not told"},
};

static const struct {
    const char *word;
    const pons_field *fields;
    size_t n;
} types[PONS_REPORT_TYPES] = {
    [PONS_REPORT_HELLO]     = {"hello", FIELDS(hello_fields)},
    [PONS_REPORT_ACCEPTED]  = {"accepted", FIELDS(answer_fields)},
    [PONS_REPORT_REJECTED]  = {"rejected", FIELDS(rejected_fields)},
    [PONS_REPORT_ADOPTED]   = {"adopted", answer_fields, 2},
    [PONS_REPORT_STATUS]    = {"status", FIELDS(status_fields)},
    [PONS_REPORT_FEEDBACK]  = {"feedback", FIELDS(feedback_fields)},
    [PONS_REPORT_RESULT]    = {"result", FIELDS(result_fields)},
    [PONS_REPORT_TELEMETRY] = {"telemetry", FIELDS(telemetry_fields)},
    [PONS_REPORT_TREE]      = {"tree", FIELDS(tree_fields)},
    [PONS_REPORT_VIEW]      = {"view", FIELDS(view_fields)},
    [PONS_REPORT_SENSES]    = {"senses", FIELDS(senses_fields)},
    [PONS_REPORT_SEES]      = {"sees", FIELDS(sees_fields)},
    [PONS_REPORT_STOPPED]   = {"stopped", NULL, 0},
    [PONS_REPORT_LATCHED]   = {"latched", NULL, 0},
    [PONS_REPORT_UNSAVED]   = {"unsaved", FIELDS(unsaved_fields)},
    [PONS_REPORT_SPEAK]     = {"speak", FIELDS(speak_fields)},
    [PONS_REPORT_OK]        = {"ok", FIELDS(ok_fields)},
    [PONS_REPORT_ERROR]     = {"error", FIELDS(error_fields)},
};
// clang-format on

// ---- whole reports ------------------------------------------------------------------------------

int pons_report_decode(const pons_value *json, pons_report *ret, pons_error *err)
{
    const char *word = pons_get_str(json, "type", "");
    *ret = (pons_report){.type = PONS_REPORT_NONE};
    for (int t = PONS_REPORT_NONE + 1; t < PONS_REPORT_TYPES; t++) {
        if (strcmp(types[t].word, word) == 0) {
            ret->type = (pons_report_type)t;
        }
    }
    if (ret->type == PONS_REPORT_NONE) {
        return pons_error_set(err, PONS_ENOTFOUND, "link", "there is no report %.60s", word);
    }
    ret->held = pons_value_ref(json);
    pons_fields_decode(types[ret->type].fields, types[ret->type].n, json, ret, &ret->fault);
    return ret->fault.text[0]
               ? pons_error_set(err, PONS_EPROTOCOL, "link", "a bad %s: %s", word, ret->fault.text)
               : PONS_OK;
}

pons_report pons_report_share(const pons_report *r)
{
    pons_value_ref(r->held);
    return *r;
}

void pons_report_clear(pons_report *r)
{
    if (r) {
        pons_value_unref(r->held);
        *r = (pons_report){.type = PONS_REPORT_NONE};
    }
}

pons_value *pons_report_encode(const pons_report *r)
{
    pons_value *json = pons_object_whole("type", json_string(types[r->type].word), NULL);
    if (json && pons_fields_encode(types[r->type].fields, types[r->type].n, r, json) < 0) {
        pons_value_unref(json);
        return NULL;
    }
    return json;
}

const char *pons_report_goal_id(const pons_report *r)
{
    const char *id = NULL;
    switch (r->type) {
    case PONS_REPORT_ACCEPTED:
    case PONS_REPORT_ADOPTED:
        id = r->as.answer.goal_id;
        break;
    case PONS_REPORT_REJECTED:
        id = r->as.rejected.goal_id;
        break;
    case PONS_REPORT_STATUS:
        id = r->as.status.goal_id;
        break;
    case PONS_REPORT_FEEDBACK:
        id = r->as.feedback.goal_id;
        break;
    case PONS_REPORT_RESULT:
        id = r->as.result.goal_id;
        break;
    default:
        break;
    }
    return id ? id : "";
}

// ---- what lies in them --------------------------------------------------------------------------

void pons_report_obstacle_read(const pons_value *item, pons_report_obstacle *ret)
{
    pons_fields_decode(FIELDS(obstacle_fields), item, ret, NULL);
}

void pons_report_detection_read(const pons_value *item, pons_report_detection *ret)
{
    pons_fields_decode(FIELDS(detection_fields), item, ret, NULL);
}

void pons_report_change_read(const pons_value *item, pons_report_change *ret)
{
    pons_fields_decode(FIELDS(change_fields), item, ret, NULL);
}

void pons_report_node_read(const pons_value *item, pons_report_node *ret)
{
    pons_fields_decode(FIELDS(node_fields), item, ret, NULL);
}

pons_value *pons_report_obstacle_value(const pons_report_obstacle *o)
{
    return pons_fields_object(FIELDS(obstacle_fields), o);
}

pons_value *pons_report_detection_value(const pons_report_detection *d)
{
    return pons_fields_object(FIELDS(detection_fields), d);
}

pons_value *pons_report_change_value(const pons_report_change *c)
{
    return pons_fields_object(FIELDS(change_fields), c);
}

pons_value *pons_report_node_value(const pons_report_node *n)
{
    return pons_fields_object(FIELDS(node_fields), n);
}

pons_value *pons_report_metrics_value(const pons_report_metrics *m)
{
    return pons_fields_object(FIELDS(metrics_fields), m);
}

// ---- the table ----------------------------------------------------------------------------------

const char *pons_report_word(pons_report_type type)
{
    return type > PONS_REPORT_NONE && type < PONS_REPORT_TYPES ? types[type].word : NULL;
}

const pons_field *pons_report_fields(pons_report_type type, size_t *ret_n)
{
    *ret_n = types[type].n;
    return types[type].fields;
}

int pons_report_describe(pons_buf *out)
{
    int rc = pons_buf_str(out, "| report | field | kind | required | meaning |\n"
                               "|---|---|---|---|---|\n");
    for (int t = PONS_REPORT_NONE + 1; rc >= 0 && t < PONS_REPORT_TYPES; t++) {
        rc = types[t].n == 0
                 ? pons_buf_printf(out, "| `%s` | | | | |\n", types[t].word)
                 : pons_fields_describe(types[t].fields, types[t].n, types[t].word, out);
    }
    return rc;
}
