// event_fields.h - what the brain tells: one struct with a table of fields for each type of event (event_fields.c).
//
// A program reads them with `pons run --json`, at the API, and in the store's log; docs/reference/events.md has the tables.
#ifndef PONS_BRAIN_RECORDS_EVENT_FIELDS_H
#define PONS_BRAIN_RECORDS_EVENT_FIELDS_H

#include "brain/records/kernel_fields.h"
#include "pons/brain.h"
#include "pons/graph.h"

typedef struct pons__fork_point {
    const char *thread, *checkpoint_id;
} pons__fork_point;
extern const pons__record pons__fork_point_record;

typedef struct pons__model_cost {
    int64_t calls, tokens;
} pons__model_cost;
extern const pons__record pons__model_cost_record;

typedef struct pons__run_started {
    const pons_value *goal;
    const char *plan_id;
    const pons_value *options;
    const struct pons__fork_point *forked;
    bool kept;
} pons__run_started;
extern const pons__record pons__run_started_record;

typedef struct pons__mode_told {
    const char *mode;
    const char *reason;
    const char *from;
} pons__mode_told;
extern const pons__record pons__mode_told_record;

typedef struct pons__control_told {
    const char *word;
    const char *ignored;
} pons__control_told;
extern const pons__record pons__control_told_record;

typedef struct pons__task_queued {
    const struct pons__task *task;
} pons__task_queued;
extern const pons__record pons__task_queued_record;

typedef struct pons__task_active {
    const struct pons__task *task;
} pons__task_active;
extern const pons__record pons__task_active_record;

typedef struct pons__task_raised {
    const char *task_id;
    int64_t priority;
} pons__task_raised;
extern const pons__record pons__task_raised_record;

typedef struct pons__task_merged {
    const char *task_id;
    int64_t said;
} pons__task_merged;
extern const pons__record pons__task_merged_record;

typedef struct pons__task_switched {
    const char *from;
    const char *to;
    const char *reason;
} pons__task_switched;
extern const pons__record pons__task_switched_record;

typedef struct pons__task_overdue {
    const char *task_id;
    int64_t deadline_ms;
} pons__task_overdue;
extern const pons__record pons__task_overdue_record;

typedef struct pons__task_done {
    const char *task_id;
    const char *status;
    const char *reason;
    const char *text;
    const pons_value *verified;
} pons__task_done;
extern const pons__record pons__task_done_record;

typedef struct pons__observed {
    const pons_value *observation;
} pons__observed;
extern const pons__record pons__observed_record;

typedef struct pons__decision_told {
    const struct pons__decision *decision;
    const char *source;
    int64_t iter;
    const char *fallback;
    const struct pons__model_cost *model;
} pons__decision_told;
extern const pons__record pons__decision_told_record;

typedef struct pons__guard_refused {
    const pons_value *rules;
} pons__guard_refused;
extern const pons__record pons__guard_refused_record;

typedef struct pons__effect_told {
    const char *goal_id;
    const char *task_id;
    const char *skill;
    const pons_value *args;
    const char *state;
    const char *reason;
} pons__effect_told;
extern const pons__record pons__effect_told_record;

typedef struct pons__approval_resolved {
    const char *id;
    const char *action;
    const char *reason;
    const char *by;
    int64_t at_ms;
    const char *answer;
} pons__approval_resolved;
extern const pons__record pons__approval_resolved_record;

typedef struct pons__approval_late {
    const char *id;
    const char *action;
    const char *verdict;
    const struct pons__answer *first;
} pons__approval_late;
extern const pons__record pons__approval_late_record;

typedef struct pons__goal_replaced {
    int64_t goal_index;
    const struct pons__goal *from;
    const struct pons__goal *to;
} pons__goal_replaced;
extern const pons__record pons__goal_replaced_record;

typedef struct pons__plan_created {
    const char *kind;
    const pons_value *plan;
} pons__plan_created;
extern const pons__record pons__plan_created_record;

typedef struct pons__plan_step_told {
    const char *plan_id;
    int64_t step_id;
    const char *action;
    const char *status;
} pons__plan_step_told;
extern const pons__record pons__plan_step_told_record;

typedef struct pons__plan_status_told {
    const char *plan_id;
    const char *status;
} pons__plan_status_told;
extern const pons__record pons__plan_status_told_record;

typedef struct pons__spoken {
    const char *text;
} pons__spoken;
extern const pons__record pons__spoken_record;

typedef struct pons__stop_told {
    bool latched;
    const char *reason;
} pons__stop_told;
extern const pons__record pons__stop_told_record;

typedef struct pons__tempo_set {
    int64_t percent;
    const char *by;
} pons__tempo_set;
extern const pons__record pons__tempo_set_record;

typedef struct pons__tempo_refused {
    const char *reason;
} pons__tempo_refused;
extern const pons__record pons__tempo_refused_record;

typedef struct pons__schedule_added {
    const struct pons__scheduled *schedule;
} pons__schedule_added;
extern const pons__record pons__schedule_added_record;

typedef struct pons__schedule_refused {
    const char *text, *reason;
} pons__schedule_refused;
extern const pons__record pons__schedule_refused_record;

typedef struct pons__schedule_told {
    const char *schedule_id, *text, *reason;
    int64_t due_ms, late_ms;
} pons__schedule_told;
extern const pons__record pons__schedule_due_record, pons__schedule_missed_record;

typedef struct pons__schedule_skipped {
    const char *schedule_id, *text, *task_id;
} pons__schedule_skipped;
extern const pons__record pons__schedule_skipped_record;

typedef struct pons__place_kept {
    const struct pons__named *place;
} pons__place_kept;
extern const pons__record pons__place_kept_record;

typedef struct pons__place_told {
    const char *name, *reason;
} pons__place_told;
extern const pons__record pons__place_forgotten_record, pons__place_refused_record;

typedef struct pons__schema_failed {
    const char *schema;
    const char *message;
    const char *skill;
} pons__schema_failed;
extern const pons__record pons__schema_failed_record;

typedef struct pons__config_doubt {
    const char *path;
    const char *message;
} pons__config_doubt;
extern const pons__record pons__config_doubt_record;

typedef struct pons__run_done {
    const char *status;
    pons__list tasks; // pons__finished
    int64_t iterations;
    int64_t replans;
    double distance_m;
    double battery_pct;
} pons__run_done;
extern const pons__record pons__run_done_record;

extern const pons__record pons__approval_requested_record; // pons__question

#endif
