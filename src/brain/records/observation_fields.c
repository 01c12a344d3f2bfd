// observation_fields.c - the tables of the observation (schemas/observation.json). Any thread.
//
// Whoever decides may be a model, a policy of a module, or a later program that reads the thread: the names are
// the schema's.
#include "brain/records/observation_fields.h"

#include "brain/records/record_table.h"

#include <math.h>

// clang-format off
static const pons__field plan_step_brief_fields[] = {
    {"step_id", INT,  NEVER, offsetof(pons__plan_step_brief, step_id), .means = "in the plan"},
    {"action",  TEXT, NEVER, offsetof(pons__plan_step_brief, action), .means = "the skill, or what is wished"},
    {"status",  TEXT, NEVER, offsetof(pons__plan_step_brief, status), .means = "schemas/plan-step.json"},
};
TABLE(plan_step_brief, "a step of `plan_brief`");

static const pons__field plan_brief_fields[] = {
    {"plan_id", TEXT, NEVER, offsetof(pons__plan_brief, plan_id), .means = "of its own"},
    {"goal",    TEXT, NEVER, offsetof(pons__plan_brief, goal), .means = "for people"},
    {"status",  TEXT, NEVER, offsetof(pons__plan_brief, status), .means = "schemas/plan.json"},
    {"source",  TEXT, NEVER, offsetof(pons__plan_brief, source), .means = "who made it"},
    {"steps",   LIST, NEVER, offsetof(pons__plan_brief, steps), .of = &pons__plan_step_brief_record, .means = "in order"},
};
TABLE(plan_brief, "how far a task's plan is");

static const pons__field recovery_brief_fields[] = {
    {"step",           TEXT, NEVER, offsetof(pons__recovery_brief, step), .means = "of recovery"},
    {"failures",       INT,  NEVER, offsetof(pons__recovery_brief, failures), .means = "since the last progress"},
    {"tries_left",     INT,  NEVER, offsetof(pons__recovery_brief, tries_left), .means = "failures until a person is asked"},
    {"decisions_left", INT,  NEVER, offsetof(pons__recovery_brief, decisions_left), .means = "decisions until a person is asked"},
    {"best_m",         NUM,  NUL,   offsetof(pons__recovery_brief, best_m), .preset = INFINITY, .means = "the shortest rest of the way so far"},
    {"why",            TEXT, NEVER, offsetof(pons__recovery_brief, why), .means = "the last failure"},
    {"calls_left",     INT,  KEY,   offsetof(pons__recovery_brief, calls_left), .preset = -1, .means = "of the model, where they are limited"},
};
TABLE(recovery_brief, "`ladder` in the observation: how far a task is from asking a person");

static const pons__field bounds_fields[] = {
    {"failures_max",   INT, NEVER, offsetof(pons__bounds, failures_max), .means = "config/kernel.yaml"},
    {"iterations_max", INT, NEVER, offsetof(pons__bounds, iterations_max), .means = "the same"},
    {"charged_pct",    NUM, KEY,   offsetof(pons__bounds, charged_pct), .preset = NAN, .means = "the same: at it a robot on its charger is charged"},
};
TABLE(bounds, "`limits` in the observation");

static const pons__field goal_reported_fields[] = {
    {"intent",  TEXT, NEVER, offsetof(pons__goal, intent), .means = "as the goal has it"},
    {"text",    TEXT, KEY,   offsetof(pons__goal, text), .means = "the same"},
    {"zone",    TEXT, KEY,   offsetof(pons__goal, zone), .means = "the same"},
    {"object",  TEXT, KEY,   offsetof(pons__goal, object), .means = "the same"},
    {"place",   TEXT, KEY,   offsetof(pons__goal, place), .means = "the same"},
    {"pose",    JSON, KEY,   offsetof(pons__goal, pose), .means = "the same"},
    {"seconds", NUM,  KEY,   offsetof(pons__goal, seconds), .means = "the same"},
    {"zones",   JSON, KEY,   offsetof(pons__goal, zones), .means = "the same"},
    {"visited", JSON, KEY,   offsetof(pons__goal, visited), .means = "the same"},
    {"finding",    TEXT, KEY,   offsetof(pons__goal, finding), .means = "the same"},
    {"skill",   TEXT, KEY,   offsetof(pons__goal, skill), .means = "the same"},
    {"args",    JSON, KEY,   offsetof(pons__goal, args), .means = "the same"},
    {"left",    NUM,  KEY,   offsetof(pons__goal, left), .means = "the same"},
    {"done",    BOOL, NEVER, offsetof(pons__goal, done), .means = "it is met"},
    {"added",   BOOL, KEY,   offsetof(pons__goal, added), .means = "a model's own"},
};
const pons__record pons__goal_reported_record = {
    .name = "goal_told", .means = "one of `goals` in the observation",
    .size = sizeof(struct pons__goal), .fields = goal_reported_fields, .n = sizeof goal_reported_fields / sizeof goal_reported_fields[0]};

static const pons__field task_reported_fields[] = {
    {"id",          TEXT,   NEVER, offsetof(pons__task_reported, id), .means = "`task-N`"},
    {"text",        TEXT,   NEVER, offsetof(pons__task_reported, text), .means = "as it was said"},
    {"priority",    INT,    NEVER, offsetof(pons__task_reported, priority), .means = "higher goes first"},
    {"deadline_ms", INT,    KEY,   offsetof(pons__task_reported, deadline_ms), .means = "Unix time"},
    {"goals",       LIST,   NEVER, offsetof(pons__task_reported, goals), .of = &pons__goal_reported_record, .means = "in order"},
    {"goal_index",  INT,    NEVER, offsetof(pons__task_reported, goal_index), .preset = -1, .means = "the first that is not met; -1: all are"},
    {"plan",        RECORD, KEY,   offsetof(pons__task_reported, plan), .of = &pons__plan_brief_record, .means = "where it has one"},
};
TABLE(task_reported, "`task` in the observation: the task at hand");

static const pons__field robot_reported_fields[] = {
    {"pose",          JSON,   NUL,   offsetof(pons__robot_reported, pose), .means = "in the map"},
    {"battery_pct",   NUM,    NEVER, offsetof(pons__robot_reported, battery_pct), .means = "0: not told"},
    {"battery_state", TEXT,   NEVER, offsetof(pons__robot_reported, battery_state), .means = "`charging`, `full`, …"},
    {"zone",          NAME,   NUL,   offsetof(pons__robot_reported, zone), .means = "where it is"},
    {"docked",        BOOL,   NEVER, offsetof(pons__robot_reported, docked), .means = "on the charger"},
    {"resources",     JSON,   NEVER, offsetof(pons__robot_reported, resources), .means = "what is taken, and of what is counted how much"},
    {"distance_to_target", NUM, NUL, offsetof(pons__robot_reported, distance_to_target), .preset = NAN, .means = "of the way that is driven [m]"},
    {"stop",          RECORD, NEVER, offsetof(pons__robot_reported, stop), .of = &pons__latch_record, .means = "the latch"},
    {"holding",       JSON,   KEY,   offsetof(pons__robot_reported, holding), .means = "with an arm: what is in its hand, or null"},
    {"scene",         JSON,   KEY,   offsetof(pons__robot_reported, scene), .means = "with an arm: what is seen"},
};
TABLE(robot_reported, "`robot` in the observation");

static const pons__field world_reported_fields[] = {
    {"summary",   TEXT, NEVER, offsetof(pons__world_reported, summary), .means = "in a sentence"},
    {"zones",     JSON, NEVER, offsetof(pons__world_reported, zones), .means = "ids"},
    {"obstacles", INT,  NEVER, offsetof(pons__world_reported, obstacles), .means = "seen, and not on the map"},
};
TABLE(world_reported, "`world` in the observation");

static const pons__field running_reported_fields[] = {
    {"goal_id",    TEXT, NEVER, offsetof(pons__running_reported, goal_id), .means = "for a cancel"},
    {"skill",      TEXT, NEVER, offsetof(pons__running_reported, skill), .means = "of the registry"},
    {"args",       JSON, NUL,   offsetof(pons__running_reported, args), .means = "as they were sent"},
    {"goal_index", INT,  NEVER, offsetof(pons__running_reported, goal_index), .preset = -1, .means = "the goal of the task that it serves"},
    {"beside",     BOOL, KEY,   offsetof(pons__running_reported, beside), .means = "nobody waits for it"},
    {"elapsed_s",  NUM,  NEVER, offsetof(pons__running_reported, elapsed_s), .means = "of robot time"},
    {"distance_remaining_m", NUM, NUL, offsetof(pons__running_reported, distance_remaining_m), .preset = NAN, .means = "as it said last"},
};
TABLE(running_reported, "one of `running` in the observation");

static const pons__field observation_fields[] = {
    {"iter",        INT,    NEVER, offsetof(pons__observation, iter), .means = "rounds of this task"},
    {"mode",        WORD,   NEVER, offsetof(pons__observation, mode), .words = pons__mode_words, .preset = PONS_MODE_EXEC, .means = "in which it was activated"},
    {"task",        RECORD, NUL,   offsetof(pons__observation, task), .of = &pons__task_reported_record, .means = "at hand"},
    {"robot",       RECORD, NEVER, offsetof(pons__observation, robot), .of = &pons__robot_reported_record, .means = "now"},
    {"world",       RECORD, NEVER, offsetof(pons__observation, world), .of = &pons__world_reported_record, .means = "in brief"},
    {"queue",       LIST,   NEVER, offsetof(pons__observation, queue), .of = &pons__waiting_record, .means = "what waits beside it"},
    {"skills",      JSON,   NEVER, offsetof(pons__observation, skills), .means = "names"},
    {"means",       JSON,   NEVER, offsetof(pons__observation, means), .means = "a list of `means`"},
    {"running",     LIST,   NEVER, offsetof(pons__observation, running), .of = &pons__running_reported_record, .means = "under way"},
    {"last_result", RECORD, NUL,   offsetof(pons__observation, last_result), .of = &pons__result_record, .means = "the newest end that matters most"},
    {"results",     LIST,   KEY,   offsetof(pons__observation, results), .of = &pons__result_record, .means = "all ends since the observation before, where there are several"},
    {"failures",    INT,    NEVER, offsetof(pons__observation, failures), .means = "in a row, of one skill"},
    {"limits",      RECORD, NEVER, offsetof(pons__observation, limits), .of = &pons__bounds_record, .means = "of the config"},
    {"ladder",      RECORD, NUL,   offsetof(pons__observation, recovery), .of = &pons__recovery_brief_record, .means = "how far it is from asking a person"},
    {"no_progress", BOOL,   NEVER, offsetof(pons__observation, no_progress), .means = "what runs gets nowhere"},
    {"woke",        TEXT,   KEY,   offsetof(pons__observation, woke), .means = "why it is asked for now"},
    {"human",       RECORD, NUL,   offsetof(pons__observation, human), .of = &pons__human_record, .means = "what a person said last"},
};
TABLE(observation, "what whoever decides is told (schemas/observation.json)");
// clang-format on

pons__observation *pons__observation_read(const pons_value *v)
{
    return pons__record_read(&pons__observation_record, v);
}

pons__plan_brief *pons__plan_brief_of(const pons__task_plan *state)
{
    return state && json_is_object(state->plan)
               ? pons__record_read(&pons__plan_brief_record, state->plan)
               : NULL;
}
