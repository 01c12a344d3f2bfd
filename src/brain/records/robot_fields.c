// robot_fields.c - the tables of the kernel's channels `robot` and `world`. Any thread.
#include "brain/records/robot_fields.h"

#include "brain/records/record_table.h"

#include <math.h>
#include <string.h>

// clang-format off
static const pons__field latch_fields[] = {
    {"latched", BOOL, NEVER, offsetof(pons__latch, latched), .means = "a protective stop is in force"},
    {"reason",  TEXT, NEVER, offsetof(pons__latch, reason), .means = "for people"},
};
TABLE(latch, "the body's stop latch (docs/reference/link-messages.md has all)");

static const pons__field robot_fields[] = {
    {"pose",           JSON,   KEY,   offsetof(pons__robot, pose), .means = "{x, y, yaw} in the map"},
    {"twist",          JSON,   KEY,   offsetof(pons__robot, twist), .means = "{v, w}"},
    {"battery_pct",    NUM,    KEY,   offsetof(pons__robot, battery_pct), .preset = NAN, .means = "not told: no rule of the battery holds"},
    {"battery_state",  TEXT,   KEY,   offsetof(pons__robot, battery_state), .means = "`charging`, `full`, …"},
    {"docked",         BOOL,   KEY,   offsetof(pons__robot, docked), .means = "on the charger"},
    {"resources",      JSON,   KEY,   offsetof(pons__robot, resources), .means = "what is taken"},
    {"stop",           RECORD, KEY,   offsetof(pons__robot, stop), .of = &pons__latch_record, .means = "the latch"},
    {"held",           BOOL,   KEY,   offsetof(pons__robot, held), .means = "the body holds its goal: it had lost the brain"},
    {"collision_risk", BOOL,   KEY,   offsetof(pons__robot, collision_risk), .means = "of now"},
    {"pace_percent",   INT,    KEY,   offsetof(pons__robot, pace_percent), .preset = 100, .means = "of every speed limit, that a person has left"},
    {"odometer_m",     NUM,    KEY,   offsetof(pons__robot, odometer_m), .preset = NAN, .means = "driven so far"},
    {"nearest_m",      NUM,    KEY,   offsetof(pons__robot, nearest_m), .preset = NAN, .means = "the nearest that the lidar sees"},
    {"scan_age_ms",    INT,    KEY,   offsetof(pons__robot, scan_age_ms), .preset = -1, .means = "-1: there was none"},
    {"arm",            JSON,   KEY,   offsetof(pons__robot, arm), .means = "of a body that has one"},
    {"holding",        NAME,   KEY,   offsetof(pons__robot, holding), .means = "what is between the fingers"},
    {"scene",          JSON,   KEY,   offsetof(pons__robot, scene), .means = "what is seen"},
    {"zone",           NAME,   NUL,   offsetof(pons__robot, zone), .means = "by the map"},
    {"distance_to_target", NUM, NUL,  offsetof(pons__robot, distance_to_target), .preset = NAN, .means = "of the way that is driven [m]"},
};
TABLE(robot, "the kernel's channel `robot`");

static const pons__field world_fields[] = {
    {"summary",   TEXT, NEVER, offsetof(pons__world, summary), .means = "in a sentence"},
    {"zones",     JSON, NEVER, offsetof(pons__world, zones), .means = "of the map, each with its `state`: a list of `place`, and what else the map has"},
    {"objects",   JSON, NEVER, offsetof(pons__world, objects), .means = "of the map"},
    {"obstacles", JSON, NEVER, offsetof(pons__world, obstacles), .means = "seen, and not on the map"},
};
TABLE(world, "the kernel's channel `world`");
// clang-format on

bool pons__charges_now(const pons__robot *robot)
{
    return robot && (strcmp(robot->battery_state, "charging") == 0 ||
                     strcmp(robot->battery_state, "full") == 0);
}
