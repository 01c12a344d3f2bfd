// event_fields.h - what the brain tells: one struct with a table of fields for each type of event (event_fields.c).
//
// A program reads them with `pons run --json`, at the API, and in the store's log; docs/reference/events.md has the tables.
#pragma once

#include "brain/records/kernel_fields.h"
#include "pons/brain.h"
#include "pons/graph.h"

typedef struct pons__fork_point {
    const char *thread, *checkpoint_id;
} pons__fork_point;
PONS__RECORD_OF(fork_point);

typedef struct pons__model_cost {
    int64_t calls, tokens;
} pons__model_cost;
PONS__RECORD_OF(model_cost);

typedef struct pons__run_started {
    const pons_value *goal;
    const char *plan_id;
    const pons_value *options;
    const struct pons__fork_point *forked;
    bool kept;
} pons__run_started;
PONS__RECORD_OF(run_started);

typedef struct pons__mode_reported {
    const char *mode;
    const char *reason;
    const char *from;
} pons__mode_reported;
PONS__RECORD_OF(mode_reported);

typedef struct pons__control_reported {
    const char *word;
    const char *ignored;
} pons__control_reported;
PONS__RECORD_OF(control_reported);

typedef struct pons__said_taken {
    const char *nonce;
} pons__said_taken;
PONS__RECORD_OF(said_taken);

typedef struct pons__task_queued {
    const struct pons__task *task;
} pons__task_queued;
PONS__RECORD_OF(task_queued);

typedef struct pons__task_active {
    const struct pons__task *task;
} pons__task_active;
PONS__RECORD_OF(task_active);

typedef struct pons__task_raised {
    const char *task_id;
    int64_t priority;
} pons__task_raised;
PONS__RECORD_OF(task_raised);

typedef struct pons__task_merged {
    const char *task_id;
    int64_t said;
} pons__task_merged;
PONS__RECORD_OF(task_merged);

typedef struct pons__task_switched {
    const char *from;
    const char *to;
    const char *reason;
} pons__task_switched;
PONS__RECORD_OF(task_switched);

typedef struct pons__task_overdue {
    const char *task_id;
    int64_t deadline_ms;
} pons__task_overdue;
PONS__RECORD_OF(task_overdue);

typedef struct pons__task_done {
    const char *task_id;
    const char *status;
    const char *reason;
    const char *text;
    const pons_value *verified;
} pons__task_done;
PONS__RECORD_OF(task_done);

typedef struct pons__observed {
    const pons_value *observation;
} pons__observed;
PONS__RECORD_OF(observed);

typedef struct pons__decision_reported {
    const struct pons__decision *decision;
    const char *source;
    int64_t iter;
    const char *fallback;
    const struct pons__model_cost *model;
} pons__decision_reported;
PONS__RECORD_OF(decision_reported);

typedef struct pons__guard_refused {
    const pons_value *rules;
} pons__guard_refused;
PONS__RECORD_OF(guard_refused);

typedef struct pons__effect_reported {
    const char *goal_id;
    const char *task_id;
    const char *skill;
    const pons_value *args;
    const char *state;
    const char *reason;
} pons__effect_reported;
PONS__RECORD_OF(effect_reported);

typedef struct pons__approval_resolved {
    const char *id;
    const char *action;
    const char *reason;
    const char *by;
    int64_t at_ms;
    const char *answer;
} pons__approval_resolved;
PONS__RECORD_OF(approval_resolved);

typedef struct pons__approval_late {
    const char *id;
    const char *action;
    const char *verdict;
    const struct pons__answer *first;
} pons__approval_late;
PONS__RECORD_OF(approval_late);

typedef struct pons__goal_replaced {
    int64_t goal_index;
    const struct pons__goal *from;
    const struct pons__goal *to;
} pons__goal_replaced;
PONS__RECORD_OF(goal_replaced);

typedef struct pons__plan_created {
    const char *kind;
    const pons_value *plan;
} pons__plan_created;
PONS__RECORD_OF(plan_created);

typedef struct pons__plan_step_reported {
    const char *plan_id;
    int64_t step_id;
    const char *action;
    const char *status;
} pons__plan_step_reported;
PONS__RECORD_OF(plan_step_reported);

typedef struct pons__plan_status_reported {
    const char *plan_id;
    const char *status;
} pons__plan_status_reported;
PONS__RECORD_OF(plan_status_reported);

typedef struct pons__spoken {
    const char *text;
} pons__spoken;
PONS__RECORD_OF(spoken);

typedef struct pons__stop_reported {
    bool latched;
    const char *reason;
} pons__stop_reported;
PONS__RECORD_OF(stop_reported);

typedef struct pons__speed_request_set {
    int64_t percent;
    const char *by;
} pons__speed_request_set;
PONS__RECORD_OF(speed_request_set);

typedef struct pons__speed_request_refused {
    const char *reason;
} pons__speed_request_refused;
PONS__RECORD_OF(speed_request_refused);

typedef struct pons__schedule_added {
    const struct pons__scheduled *schedule;
} pons__schedule_added;
PONS__RECORD_OF(schedule_added);

typedef struct pons__schedule_refused {
    const char *text, *reason;
} pons__schedule_refused;
PONS__RECORD_OF(schedule_refused);

typedef struct pons__schedule_reported {
    const char *schedule_id, *text, *reason, *watch;
    int64_t due_ms, late_ms;
} pons__schedule_reported;
extern const pons__record pons__schedule_due_record, pons__schedule_missed_record;

typedef struct pons__schedule_skipped {
    const char *schedule_id, *text, *task_id;
} pons__schedule_skipped;
PONS__RECORD_OF(schedule_skipped);

typedef struct pons__place_kept {
    const struct pons__named *place;
} pons__place_kept;
PONS__RECORD_OF(place_kept);

typedef struct pons__place_reported {
    const char *name, *reason;
} pons__place_reported;
extern const pons__record pons__place_forgotten_record, pons__place_refused_record,
    pons__room_named_record;

typedef struct pons__charger_kept {
    const char *world;
    double x, y, yaw, std_m;
} pons__charger_kept;
PONS__RECORD_OF(charger_kept);

typedef struct pons__schema_failed {
    const char *schema;
    const char *message;
    const char *skill;
} pons__schema_failed;
PONS__RECORD_OF(schema_failed);

typedef struct pons__config_doubt {
    const char *path;
    const char *message;
} pons__config_doubt;
PONS__RECORD_OF(config_doubt);

typedef struct pons__run_done {
    const char *status;
    pons__list tasks; // pons__finished
    int64_t iterations;
    int64_t replans;
    double distance_m;
    double battery_pct;
} pons__run_done;
PONS__RECORD_OF(run_done);

extern const pons__record pons__approval_requested_record; // pons__question

extern const pons__record
    *const pons__event_records[]; // all of them, each named as its event; NULL at the end
