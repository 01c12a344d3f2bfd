// status.h - what `pons status` tells, and what it reads of the body (status.c). Structs and lists are borrowed.
#pragma once

#include "brain/records/kernel_fields.h"
#include "brain/records/observation_fields.h"

typedef struct pons__status_body {
    const pons_value *driver, *robot_id, *world, *world_id, *started_ms, *boot_id, *realtime;
} pons__status_body;

typedef struct pons__status {
    const char *thread; // NULL: of no thread
    int mode;           // pons__mode
    const char *mode_reason, *zone;
    bool paused;
    const pons__stopped *stopped;
    const pons_value *stop, *pace_percent, *battery_pct, *battery_state, *pose, *distance_to_target;
    const pons__task *active_task;
    pons__list queue; // pons__task
    const pons_value *finished;
    pons__list skills; // pons__running
    int64_t iter, iter_ms, decided_ms;
    const pons__decision *decision;
    const pons__result *last_failure;
    pons__list approvals; // pons__question
    pons__list answered;  // pons__question
    const pons__recovery_brief *recovery;
    const pons__plan_brief *plan;
    const pons__status_body *body;
    const pons_value *unheard;
} pons__status;
extern const pons__record pons__status_record, pons__status_body_record, pons__status_task_record,
    pons__status_skill_record, pons__status_failure_record, pons__status_question_record,
    pons__status_answered_record;

typedef struct pons__reported_now {
    const pons_value *pose, *stop, *pace_percent, *battery_pct, *battery_state, *distance,
        *realtime;
} pons__reported_now;
PONS__RECORD_OF(reported_now);

typedef struct pons__greeted {
    const pons_value *driver, *robot_id, *boot_id, *world, *world_id, *started_ms;
} pons__greeted;
PONS__RECORD_OF(greeted);
