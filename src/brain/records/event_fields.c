// event_fields.c - the tables of what the brain tells. The table's name is the event's type.
#include "brain/records/event_fields.h"

#include "brain/records/item_fields.h"
#include "brain/records/record_table.h"
#include "pons/brain.h"

#include <math.h>

// clang-format off
#define EVENT(noun, type, words)                                                                    \
    const pons__record pons__##noun##_record = {                                                    \
        .name = (type), .means = (words), .size = sizeof(struct pons__##noun),                      \
        .fields = noun##_fields, .n = sizeof noun##_fields / sizeof noun##_fields[0]}

static const pons__field fork_point_fields[] = {
    {"thread",        TEXT, NEVER, offsetof(pons__fork_point, thread), .means = "the thread that was forked"},
    {"checkpoint_id", TEXT, NEVER, offsetof(pons__fork_point, checkpoint_id), .means = "the checkpoint at which it was forked"},
};
TABLE(fork_point, "`forked` in `run.started`");

static const pons__field model_cost_fields[] = {
    {"calls",  INT, NEVER, offsetof(pons__model_cost, calls), .means = "calls of the model for this decision"},
    {"tokens", INT, NEVER, offsetof(pons__model_cost, tokens), .means = "tokens of these calls"},
};
TABLE(model_cost, "`model` in `decision`");

static const pons__field run_started_fields[] = {
    {"goal", JSON, NEVER, offsetof(pons__run_started, goal), .means = "what was asked for, as texts"},
    {"plan_id", NAME, KEY, offsetof(pons__run_started, plan_id), .means = "the plan of `--plan`"},
    {"options", JSON, KEY, offsetof(pons__run_started, options), .means = "how it was started, for a resume"},
    {"forked", RECORD, KEY, offsetof(pons__run_started, forked), .of = &pons__fork_point_record, .means = "of a fork: from where"},
    {"kept", BOOL, KEY, offsetof(pons__run_started, kept), .means = "repeated, because older events were pruned"},
};
EVENT(run_started, "run.started", "a run has started");

static const pons__field mode_reported_fields[] = {
    {"mode", NAME, NEVER, offsetof(pons__mode_reported, mode), .means = "the new mode"},
    {"reason", TEXT, NEVER, offsetof(pons__mode_reported, reason), .means = "for people"},
    {"from", NAME, NEVER, offsetof(pons__mode_reported, from), .means = "the mode before"},
};
EVENT(mode_reported, "mode", "the kernel has changed the mode");

static const pons__field control_reported_fields[] = {
    {"word", TEXT, NEVER, offsetof(pons__control_reported, word), .means = "as it was said"},
    {"ignored", TEXT, NEVER, offsetof(pons__control_reported, ignored), .means = "why it did nothing"},
};
EVENT(control_reported, "control", "a control word such as `continue` had no effect");

static const pons__field said_taken_fields[] = {
    {"nonce", TEXT, NEVER, offsetof(pons__said_taken, nonce), .means = "of the letter"},
};
EVENT(said_taken, "said.taken", "words whose sender waits were taken: what became of them stands before it");

static const pons__field speed_request_set_fields[] = {
    {"percent", INT, NEVER, offsetof(pons__speed_request_set, percent), .means = "of every speed limit, from now on"},
    {"by", TEXT, NEVER, offsetof(pons__speed_request_set, by), .means = "who asked for it"},
};
EVENT(speed_request_set, "tempo.set", "the body has saved a new pace");

static const pons__field speed_request_refused_fields[] = {
    {"reason", TEXT, NEVER, offsetof(pons__speed_request_refused, reason), .means = "why the pace stays"},
};
EVENT(speed_request_refused, "tempo.refused", "a pace was refused, or could not be saved");

static const pons__field task_queued_fields[] = {
    {"task", RECORD, NEVER, offsetof(pons__task_queued, task), .of = &pons__task_record, .means = "whole"},
};
EVENT(task_queued, "task.queued", "a task is in the queue");

static const pons__field task_active_fields[] = {
    {"task", RECORD, NEVER, offsetof(pons__task_active, task), .of = &pons__task_record, .means = "whole"},
};
EVENT(task_active, "task.active", "a task has become the active one");

static const pons__field task_raised_fields[] = {
    {"task_id", TEXT, NEVER, offsetof(pons__task_raised, task_id), .means = "the task"},
    {"priority", INT, NEVER, offsetof(pons__task_raised, priority), .means = "the new priority"},
};
EVENT(task_raised, "task.raised", "a person has changed the priority of a task");

static const pons__field task_merged_fields[] = {
    {"task_id", TEXT, NEVER, offsetof(pons__task_merged, task_id), .means = "the task"},
    {"said", INT, NEVER, offsetof(pons__task_merged, said), .means = "how often it was said"},
};
EVENT(task_merged, "task.merged", "the same goals were said again; no second task");

static const pons__field task_switched_fields[] = {
    {"from", TEXT, NEVER, offsetof(pons__task_switched, from), .means = "the task that is put aside"},
    {"to", TEXT, NEVER, offsetof(pons__task_switched, to), .means = "the task that becomes active"},
    {"reason", TEXT, NEVER, offsetof(pons__task_switched, reason), .means = "for people"},
};
EVENT(task_switched, "task.switched", "a decision has switched to another task");

static const pons__field task_overdue_fields[] = {
    {"task_id", TEXT, NEVER, offsetof(pons__task_overdue, task_id), .means = "the task"},
    {"deadline_ms", INT, NEVER, offsetof(pons__task_overdue, deadline_ms), .means = "Unix time"},
};
EVENT(task_overdue, "task.overdue", "the deadline of a task has passed");

static const pons__field task_done_fields[] = {
    {"task_id", TEXT, NEVER, offsetof(pons__task_done, task_id), .means = "`task-N`"},
    {"status", TEXT, NEVER, offsetof(pons__task_done, status), .means = "`succeeded`, `failed`, `aborted`, `cancelled`"},
    {"reason", TEXT, NEVER, offsetof(pons__task_done, reason), .means = "for people"},
    {"text", TEXT, NEVER, offsetof(pons__task_done, text), .means = "as it was said"},
    {"verified", JSON, KEY, offsetof(pons__task_done, verified), .means = "false: nothing could be checked"},
};
EVENT(task_done, "task.done", "a task has ended");

static const pons__field observed_fields[] = {
    {"observation", JSON, NEVER, offsetof(pons__observed, observation), .means = "schemas/observation.json"},
};
EVENT(observed, "observation", "what a decision is made from");

static const pons__field decision_reported_fields[] = {
    {"decision", RECORD, NEVER, offsetof(pons__decision_reported, decision), .of = &pons__decision_record, .means = "schemas/decision.json"},
    {"source", NAME, NEVER, offsetof(pons__decision_reported, source), .means = "`llm`, `rule_engine`, `ladder`, `plan`, `guard`"},
    {"iter", INT, NEVER, offsetof(pons__decision_reported, iter), .means = "number of the decision in the task"},
    {"fallback", NAME, KEY, offsetof(pons__decision_reported, fallback), .means = "why the rules decided, and not the model"},
    {"model", RECORD, KEY, offsetof(pons__decision_reported, model), .of = &pons__model_cost_record, .means = "what it cost"},
};
EVENT(decision_reported, "decision", "a decision, or what the guardrails made of it");

static const pons__field guard_refused_fields[] = {
    {"rules", JSON, NEVER, offsetof(pons__guard_refused, rules), .means = "[{rule, message, found?, limit?, unit?}]: every rule that was broken"},
};
EVENT(guard_refused, "guard.refused", "the guardrails refused a decision");

static const pons__field effect_reported_fields[] = {
    {"goal_id", TEXT, NEVER, offsetof(pons__effect_reported, goal_id), .means = "the goal id at the body"},
    {"task_id", NAME, KEY, offsetof(pons__effect_reported, task_id), .means = "the task that it is for"},
    {"skill", TEXT, NEVER, offsetof(pons__effect_reported, skill), .means = "of the registry"},
    {"args", JSON, NEVER, offsetof(pons__effect_reported, args), .means = "as they were sent"},
    {"state", NAME, NEVER, offsetof(pons__effect_reported, state), .means = "`intended`, `dispatched`, `accepted`, `done`, `failed`, `canceled`, `refused`, `outcome_unknown`"},
    {"reason", TEXT, KEY, offsetof(pons__effect_reported, reason), .means = "why it failed or was refused"},
};
EVENT(effect_reported, "effect", "an effect has a new state");

static const pons__field approval_requested_fields[] = {
    {"words", BOOL, KEY, offsetof(pons__question, words), .means = "any words answer it"},
    {"id", TEXT, NEVER, offsetof(pons__question, id), .means = "of the question"},
    {"question", TEXT, NEVER, offsetof(pons__question, question), .means = "for people"},
    {"reason", TEXT, NEVER, offsetof(pons__question, reason), .means = "of the decision"},
    {"ops", JSON, NEVER, offsetof(pons__question, ops), .means = "what would be sent: [{skill, args, goal_index, reason, asks}]"},
    {"cancels", JSON, KEY, offsetof(pons__question, cancels), .means = "skills that would be canceled"},
    {"options", JSON, KEY, offsetof(pons__question, options), .means = "what a person may choose"},
    {"deadline_ms", INT, KEY, offsetof(pons__question, deadline_ms), .means = "Unix time; then the answer is no"},
    {"asked_ms", INT, KEY, offsetof(pons__question, asked_ms), .means = "when it was asked, Unix time; with a deadline only"},
    {"refused", TEXT, KEY, offsetof(pons__question, refused), .means = "why the last edit was refused"},
    {"task_id", NAME, KEY, offsetof(pons__question, task_id), .means = "the task that asks"},
};
const pons__record pons__approval_requested_record = {
    .name = "approval.requested", .means = "a person is asked",
    .size = sizeof(struct pons__question), .fields = approval_requested_fields,
    .n = sizeof approval_requested_fields / sizeof approval_requested_fields[0]};

static const pons__field approval_resolved_fields[] = {
    {"id", TEXT, NEVER, offsetof(pons__approval_resolved, id), .means = "of the question"},
    {"action", TEXT, NEVER, offsetof(pons__approval_resolved, action), .means = "`approve`, `edit`, `reject`"},
    {"reason", TEXT, NEVER, offsetof(pons__approval_resolved, reason), .means = "the person's reason"},
    {"by", TEXT, NEVER, offsetof(pons__approval_resolved, by), .means = "who answered"},
    {"at_ms", INT, NEVER, offsetof(pons__approval_resolved, at_ms), .means = "when it was given, Unix time"},
    {"answer", NAME, KEY, offsetof(pons__approval_resolved, answer), .means = "in words"},
};
EVENT(approval_resolved, "approval.resolved", "a question was answered");

static const pons__field approval_late_fields[] = {
    {"id", TEXT, NEVER, offsetof(pons__approval_late, id), .means = "of the question"},
    {"action", TEXT, NEVER, offsetof(pons__approval_late, action), .means = "as it was given"},
    {"verdict", TEXT, NEVER, offsetof(pons__approval_late, verdict), .means = "`late`, `closed`"},
    {"first", RECORD, NUL, offsetof(pons__approval_late, first), .of = &pons__answer_record, .means = "the answer that counts"},
};
EVENT(approval_late, "approval.late", "an answer that does not count");

static const pons__field goal_replaced_fields[] = {
    {"goal_index", INT, NEVER, offsetof(pons__goal_replaced, goal_index), .means = "of the task"},
    {"from", RECORD, NEVER, offsetof(pons__goal_replaced, from), .of = &pons__goal_record, .means = "the goal before"},
    {"to", RECORD, NEVER, offsetof(pons__goal_replaced, to), .of = &pons__goal_record, .means = "the goal now"},
};
EVENT(goal_replaced, "goal.replaced", "a person's edit has changed the place of a goal");

static const pons__field plan_created_fields[] = {
    {"kind", TEXT, NEVER, offsetof(pons__plan_created, kind), .means = "`given`, `patch`, `goals`"},
    {"plan", JSON, NEVER, offsetof(pons__plan_created, plan), .means = "schemas/plan.json"},
};
EVENT(plan_created, "plan.created", "a task has a plan");

static const pons__field plan_step_reported_fields[] = {
    {"plan_id", TEXT, NEVER, offsetof(pons__plan_step_reported, plan_id), .means = "of the plan"},
    {"step_id", INT, NEVER, offsetof(pons__plan_step_reported, step_id), .means = "the step"},
    {"action", TEXT, NEVER, offsetof(pons__plan_step_reported, action), .means = "of the step"},
    {"status", NAME, NEVER, offsetof(pons__plan_step_reported, status), .means = "schemas/plan-step.json"},
};
EVENT(plan_step_reported, "plan.step", "a step of a plan has a new status");

static const pons__field plan_status_reported_fields[] = {
    {"plan_id", TEXT, NEVER, offsetof(pons__plan_status_reported, plan_id), .means = "of the plan"},
    {"status", NAME, NEVER, offsetof(pons__plan_status_reported, status), .means = "schemas/plan.json"},
};
EVENT(plan_status_reported, "plan.status", "a plan has a new status");

static const pons__field spoken_fields[] = {
    {"text", TEXT, NEVER, offsetof(pons__spoken, text), .means = "what it says"},
};
EVENT(spoken, "speak", "the robot says something");

static const pons__field stop_reported_fields[] = {
    {"latched", BOOL, NEVER, offsetof(pons__stop_reported, latched), .means = "a protective stop is in force"},
    {"reason", TEXT, NEVER, offsetof(pons__stop_reported, reason), .means = "for people"},
};
EVENT(stop_reported, "stop", "a protective stop was latched or reset");

#define EVENT_OF(noun, of, type, words)                                                             \
    const pons__record pons__##noun##_record = {                                                    \
        .name = (type), .means = (words), .size = sizeof(struct pons__##of),                        \
        .fields = noun##_fields, .n = sizeof noun##_fields / sizeof noun##_fields[0]}

static const pons__field schedule_added_fields[] = {
    {"schedule", RECORD, NEVER, offsetof(pons__schedule_added, schedule), .of = &pons__scheduled_record, .means = "as it is stored"},
};
EVENT(schedule_added, "schedule.added", "a goal at a time was added");

static const pons__field schedule_refused_fields[] = {
    {"text",   TEXT, NEVER, offsetof(pons__schedule_refused, text), .means = "as it was said"},
    {"reason", TEXT, NEVER, offsetof(pons__schedule_refused, reason), .means = "for people"},
};
EVENT(schedule_refused, "schedule.refused", "a goal at a time was refused");

static const pons__field schedule_due_fields[] = {
    {"schedule_id", TEXT, NEVER, offsetof(pons__schedule_reported, schedule_id), .means = "id of the schedule"},
    {"text",        TEXT, NEVER, offsetof(pons__schedule_reported, text), .means = "the goal in words"},
    {"due_ms",      INT,  NEVER, offsetof(pons__schedule_reported, due_ms), .means = "when it was due, Unix time"},
    {"late_ms",     INT,  NEVER, offsetof(pons__schedule_reported, late_ms), .means = "how much later it is now"},
    {"watch",       NAME, KEY,   offsetof(pons__schedule_reported, watch), .means = "of a watch: what was seen, as `person at door`"},
};
EVENT_OF(schedule_due, schedule_reported, "schedule.due", "the time of a goal has come");

static const pons__field schedule_missed_fields[] = {
    {"schedule_id", TEXT, NEVER, offsetof(pons__schedule_reported, schedule_id), .means = "id of the schedule"},
    {"text",        TEXT, NEVER, offsetof(pons__schedule_reported, text), .means = "the goal in words"},
    {"due_ms",      INT,  NEVER, offsetof(pons__schedule_reported, due_ms), .means = "when it was due, Unix time"},
    {"late_ms",     INT,  NEVER, offsetof(pons__schedule_reported, late_ms), .means = "how much later it is now"},
    {"reason",      TEXT, NEVER, offsetof(pons__schedule_reported, reason), .means = "for people"},
};
EVENT_OF(schedule_missed, schedule_reported, "schedule.missed", "the time of a goal has passed, and nothing was done");

static const pons__field schedule_skipped_fields[] = {
    {"schedule_id", TEXT, NEVER, offsetof(pons__schedule_skipped, schedule_id), .means = "id of the schedule"},
    {"text",        TEXT, NEVER, offsetof(pons__schedule_skipped, text), .means = "the goal in words"},
    {"task_id",     TEXT, NEVER, offsetof(pons__schedule_skipped, task_id), .means = "its last task"},
};
EVENT(schedule_skipped, "schedule.skipped", "the time of a goal has come while its last task is not over");

static const pons__field place_kept_fields[] = {
    {"place", RECORD, NEVER, offsetof(pons__place_kept, place), .of = &pons__named_record, .means = "as it is stored"},
};
EVENT(place_kept, "place.kept", "a person has named a place");

static const pons__field place_forgotten_fields[] = {
    {"name", TEXT, NEVER, offsetof(pons__place_reported, name), .means = "of the place"},
};
EVENT_OF(place_forgotten, place_reported, "place.forgotten", "a person has removed a named place");

static const pons__field room_named_fields[] = {
    {"name", TEXT, NEVER, offsetof(pons__place_reported, name), .means = "of the room"},
};
EVENT_OF(room_named, place_reported, "room.named", "a person has named the room that the robot is in");

static const pons__field place_refused_fields[] = {
    {"name",   TEXT, NEVER, offsetof(pons__place_reported, name), .means = "of the place, or the words"},
    {"reason", TEXT, NEVER, offsetof(pons__place_reported, reason), .means = "for people"},
};
EVENT_OF(place_refused, place_reported, "place.refused", "a named place was refused");

static const pons__field charger_kept_fields[] = {
    {"world", TEXT, NEVER, offsetof(pons__charger_kept, world), .means = "the world whose file has it now"},
    {"x",     NUM,  NEVER, offsetof(pons__charger_kept, x), .means = "position of the robot when it charges, in the map, m"},
    {"y",     NUM,  NEVER, offsetof(pons__charger_kept, y), .means = "m"},
    {"yaw",   NUM,  NEVER, offsetof(pons__charger_kept, yaw), .means = "its heading there, rad"},
    {"std_m", NUM,  NUL,   offsetof(pons__charger_kept, std_m), .preset = NAN, .means = "uncertainty of the position, m"},
};
EVENT(charger_kept, "charger.kept", "a person has said that the robot stands where it charges");

static const pons__field schema_failed_fields[] = {
    {"schema", NAME, NEVER, offsetof(pons__schema_failed, schema), .means = "the file"},
    {"message", TEXT, NEVER, offsetof(pons__schema_failed, message), .means = "where it is wrong, and how"},
    {"skill", NAME, KEY, offsetof(pons__schema_failed, skill), .means = "the body's skill, which is left out"},
};
EVENT(schema_failed, "schema.failed", "something does not fit its schema");

static const pons__field config_doubt_fields[] = {
    {"path",    TEXT, NEVER, offsetof(pons__config_doubt, path), .means = "where in config/kernel.yaml"},
    {"message", TEXT, NEVER, offsetof(pons__config_doubt, message), .means = "for people"},
};
EVENT(config_doubt, "config.doubt", "the configuration names a skill that this robot does not have");

static const pons__field run_done_fields[] = {
    {"status", NAME, NEVER, offsetof(pons__run_done, status), .means = "`succeeded`, `failed`, `aborted`, `cancelled`, `waiting`"},
    {"tasks", LIST, NEVER, offsetof(pons__run_done, tasks), .of = &pons__finished_record, .means = "the tasks that ended"},
    {"iterations", INT, NEVER, offsetof(pons__run_done, iterations), .means = "number of decisions"},
    {"replans", INT, NEVER, offsetof(pons__run_done, replans), .means = "how many of them were REPLAN or RETRY"},
    {"distance_m", NUM, NEVER, offsetof(pons__run_done, distance_m), .means = "distance driven [m]"},
    {"battery_pct", NUM, NUL, offsetof(pons__run_done, battery_pct), .preset = NAN, .means = "charge at the end"},
};
EVENT(run_done, "run.done", "the run is over; always last");

const pons__record *const pons__event_records[] = {
    &pons__run_started_record,
    &pons__mode_reported_record,
    &pons__control_reported_record,
    &pons__said_taken_record,
    &pons__speed_request_set_record,
    &pons__speed_request_refused_record,
    &pons__task_queued_record,
    &pons__task_active_record,
    &pons__task_raised_record,
    &pons__task_merged_record,
    &pons__task_switched_record,
    &pons__task_overdue_record,
    &pons__task_done_record,
    &pons__observed_record,
    &pons__decision_reported_record,
    &pons__guard_refused_record,
    &pons__effect_reported_record,
    &pons__approval_requested_record,
    &pons__approval_resolved_record,
    &pons__approval_late_record,
    &pons__goal_replaced_record,
    &pons__plan_created_record,
    &pons__plan_step_reported_record,
    &pons__plan_status_reported_record,
    &pons__spoken_record,
    &pons__stop_reported_record,
    &pons__schedule_added_record,
    &pons__schedule_refused_record,
    &pons__schedule_due_record,
    &pons__schedule_missed_record,
    &pons__schedule_skipped_record,
    &pons__place_kept_record,
    &pons__place_forgotten_record,
    &pons__place_refused_record,
    &pons__room_named_record,
    &pons__charger_kept_record,
    &pons__schema_failed_record,
    &pons__config_doubt_record,
    &pons__run_done_record,
    NULL};
// clang-format on

bool pons_brain_tells(const char *type)
{
    static const char *const live[] = {"telemetry", "skill.feedback", "token", NULL};
    size_t i = 0;
    while (pons__event_records[i] && strcmp(pons__event_records[i]->name, type) != 0) {
        i++;
    }
    return pons__event_records[i] || pons__word_find(live, type, -1) >= 0;
}
