// tables.c - all tables of fields of the brain, in the order of docs/brain.md. Any thread.
#include "brain/tables.h"

#include "brain/letter.h"
#include "brain/observed.h"
#include "brain/robot.h"
#include "brain/state.h"

// clang-format off
const pons__record *const pons__state_records[] = {
    &pons__tasks_record,
    &pons__task_record,
    &pons__goal_record,
    &pons__meets_record,
    &pons__means_record,
    &pons__ladder_record,
    &pons__others_record,
    &pons__spent_record,
    &pons__task_plan_record,
    &pons__pend_record,
    &pons__waiting_record,
    &pons__registered_record,
    &pons__place_record,
    &pons__finished_record,
    &pons__hci_record,
    &pons__interrupt_record,
    &pons__answer_record,
    &pons__heard_record,
    &pons__stopped_record,
    &pons__told_record,
    &pons__totals_record,
    &pons__react_record,
    &pons__decision_record,
    &pons__proposed_record,
    &pons__payload_record,
    &pons__op_record,
    &pons__question_record,
    &pons__human_record,
    &pons__preempt_record,
    &pons__pace_record,
    &pons__skills_record,
    &pons__running_record,
    &pons__result_record,
    &pons__activate_record,
    &pons__outcome_record,
    &pons__robot_record,
    &pons__latch_record,
    &pons__world_record,
    &pons__observation_record,
    &pons__task_told_record,
    &pons__goal_told_record,
    &pons__plan_brief_record,
    &pons__plan_step_brief_record,
    &pons__robot_told_record,
    &pons__world_told_record,
    &pons__running_told_record,
    &pons__bounds_record,
    &pons__rungs_record,
    &pons__letter_record,
    &pons__said_record,
    &pons__reply_record,
    &pons__stopping_record,
    NULL};
// clang-format on
