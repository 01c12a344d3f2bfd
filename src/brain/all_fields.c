// all_fields.c - all tables of fields of the brain, in the order of docs/brain.md. Any thread.
#include "brain/all_fields.h"

#include "brain/critic/critic_check.h"
#include "brain/kernel/task_lifecycle.h"
#include "brain/react/decision_machine.h"
#include "brain/records/await_fields.h"
#include "brain/records/effect_fields.h"
#include "brain/records/event_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/records/intent_fields.h"
#include "brain/records/item_fields.h"
#include "brain/records/kernel_fields.h"
#include "brain/records/observation_fields.h"
#include "brain/records/robot_fields.h"
#include "brain/recovery/recovery_steps.h"
#include "brain/state/effect_history.h"
#include "brain/state/skill_registry.h"
#include "brain/state/zones.h"
#include "brain/status.h"
#include "brain/tasks/questions.h"
#include "pons/brain.h"

#include <string.h>

// clang-format off
const pons__record *const pons__state_records[] = {
    &pons__tasks_record,
    &pons__task_record,
    &pons__goal_record,
    &pons__meets_record,
    &pons__means_record,
    &pons__recovery_state_record,
    &pons__others_record,
    &pons__spent_record,
    &pons__task_plan_record,
    &pons__pend_record,
    &pons__step_rest_record,
    &pons__waiting_record,
    &pons__registered_record,
    &pons__place_record,
    &pons__zone_record,
    &pons__finished_record,
    &pons__hci_record,
    &pons__interrupt_record,
    &pons__answer_record,
    &pons__heard_record,
    &pons__stopped_record,
    &pons__tempo_record,
    &pons__told_record,
    &pons__totals_record,
    &pons__react_record,
    &pons__decision_record,
    &pons__claim_record,
    &pons__patch_record,
    &pons__proposed_record,
    &pons__payload_record,
    &pons__asked_record,
    &pons__op_record,
    &pons__question_record,
    &pons__human_record,
    &pons__preempt_record,
    &pons__pace_record,
    &pons__message_record,
    &pons__trace_record,
    &pons__entry_record,
    &pons__metrics_record,
    &pons__skills_record,
    &pons__running_record,
    &pons__unsettled_record,
    &pons__result_record,
    &pons__mail_record,
    &pons__activate_record,
    &pons__outcome_record,
    &pons__wait_record,
    &pons__linked_record,
    &pons__word_record,
    &pons__ended_record,
    &pons__news_record,
    &pons__model_asked_record,
    &pons__model_answer_record,
    &pons__model_usage_record,
    &pons__sought_record,
    &pons__sought_in_vain_record,
    &pons__waits_record,
    &pons__confirming_record,
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
    &pons__recovery_told_record,
    &pons__broken_record,
    &pons__effect_record,
    &pons__tag_record,
    &pons__sent_record,
    &pons__rearbitrate_record,
    &pons__rearbitrated_record,
    &pons__letter_record,
    &pons__said_record,
    &pons__reply_record,
    &pons__stopping_record,
    &pons__understood_record,
    &pons__timed_record,
    &pons__naming_record,
    &pons__hurry_record,
    &pons__item_record,
    &pons__scheduled_record,
    &pons__named_record,
    &pons__status_record,
    &pons__status_task_record,
    &pons__status_skill_record,
    &pons__status_failure_record,
    &pons__status_question_record,
    &pons__status_answered_record,
    &pons__status_body_record,
    &pons__fork_point_record,
    &pons__model_cost_record,
    NULL};

const pons__record *const pons__event_records[] = {
    &pons__run_started_record,
    &pons__mode_told_record,
    &pons__control_told_record,
    &pons__tempo_set_record,
    &pons__tempo_refused_record,
    &pons__task_queued_record,
    &pons__task_active_record,
    &pons__task_raised_record,
    &pons__task_merged_record,
    &pons__task_switched_record,
    &pons__task_overdue_record,
    &pons__task_done_record,
    &pons__observed_record,
    &pons__decision_told_record,
    &pons__guard_refused_record,
    &pons__effect_told_record,
    &pons__approval_requested_record,
    &pons__approval_resolved_record,
    &pons__approval_late_record,
    &pons__goal_replaced_record,
    &pons__plan_created_record,
    &pons__plan_step_told_record,
    &pons__plan_status_told_record,
    &pons__spoken_record,
    &pons__stop_told_record,
    &pons__schedule_added_record,
    &pons__schedule_refused_record,
    &pons__schedule_due_record,
    &pons__schedule_missed_record,
    &pons__schedule_skipped_record,
    &pons__place_kept_record,
    &pons__place_forgotten_record,
    &pons__place_refused_record,
    &pons__schema_failed_record,
    &pons__config_doubt_record,
    &pons__run_done_record,
    NULL};
// clang-format on

bool pons_brain_tells(const char *type)
{
    static const char *const live[] = {"telemetry", "skill.feedback", "token"};
    bool tells = false;
    for (size_t i = 0; i < sizeof live / sizeof live[0]; i++) {
        tells = tells || strcmp(live[i], type) == 0;
    }
    for (size_t i = 0; pons__event_records[i]; i++) {
        tells = tells || strcmp(pons__event_records[i]->name, type) == 0;
    }
    return tells;
}

const pons__machine *const pons__machines[] = {
    &pons__decision_machine,
    &pons__task_machine,
    &pons__question_machine,
    &pons__recovery_machine,
    NULL,
};
