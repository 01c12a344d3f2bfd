// observation_fields.h - the observation, as structs: what the inner loop tells whoever decides (observation_fields.c).
#pragma once

#include "brain/records/kernel_fields.h"
#include "brain/records/robot_fields.h"

typedef struct pons__plan_step_brief {
    int64_t step_id;
    const char *action, *status;
} pons__plan_step_brief;
PONS__RECORD_OF(plan_step_brief);

typedef struct pons__plan_brief { // of a task's plan
    const char *plan_id, *goal, *status, *source;
    pons__list steps; // pons__plan_step_brief
} pons__plan_brief;
PONS__RECORD_OF(plan_brief);

typedef struct pons__recovery_brief { // of a task's ladder and budget, what is left
    const char *step, *why;
    int64_t failures, tries_left, decisions_left, calls_left; // calls_left < 0: there is no limit
    double best_m;                                            // INFINITY: not measured yet
} pons__recovery_brief;
PONS__RECORD_OF(recovery_brief);

typedef struct pons__bounds {
    int64_t failures_max, iterations_max;
    double charged_pct;
} pons__bounds;
PONS__RECORD_OF(bounds);

extern const pons__record pons__goal_reported_record; // pons__goal, with `done` always

typedef struct pons__task_reported {
    const char *id, *text;
    int64_t priority, deadline_ms, goal_index;
    pons__list goals; // pons__goal
    pons__plan_brief *plan;
} pons__task_reported;
PONS__RECORD_OF(task_reported);

typedef struct pons__robot_reported {
    const pons_value *pose, *resources, *scene;
    const pons_value *holding; // null with an arm whose hand is empty; NULL: no arm
    double battery_pct, distance_to_target;
    const char *battery_state, *zone; // zone NULL: between zones
    bool docked;
    pons__latch *stop;
} pons__robot_reported;
PONS__RECORD_OF(robot_reported);

typedef struct pons__world_reported {
    const char *summary;
    const pons_value *zones; // ids
    int64_t obstacles;
} pons__world_reported;
PONS__RECORD_OF(world_reported);

typedef struct pons__running_reported {
    const char *goal_id, *skill;
    const pons_value *args;
    int64_t goal_index;
    bool beside;
    double elapsed_s, distance_remaining_m; // NAN: not told
} pons__running_reported;
PONS__RECORD_OF(running_reported);

typedef struct pons__observation {
    int64_t iter, failures;
    int mode; // pons__mode
    pons__task_reported *task;
    pons__robot_reported *robot;
    pons__world_reported *world;
    pons__list queue;   // pons__task
    pons__list running; // pons__running_reported
    const pons_value *skills, *means;
    pons__result *last_result;
    pons__list results; // pons__result
    pons__bounds *limits;
    pons__recovery_brief *recovery;
    bool no_progress;
    const char *woke;
    pons__human *human;
} pons__observation;
PONS__RECORD_OF(observation);

pons__observation *pons__observation_read(const pons_value *v); // new
// A view of a plan; NULL: there is none. New.
pons__plan_brief *pons__plan_brief_of(const pons__task_plan *state);
