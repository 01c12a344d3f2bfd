// brain_tables.h - all tables of the brain's state, and its machines, as Markdown: for the documents and the tests that
// compare them.
#ifndef PONS_TOOLS_BRAIN_TABLES_H
#define PONS_TOOLS_BRAIN_TABLES_H

#include "brain/critic/critic_check.h"
#include "brain/kernel/task_lifecycle.h"
#include "brain/react/nodes.h"
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
#include "pons/buf.h"

#include <string.h>

// In the order of docs/internals/brain-state.md.
// clang-format off
static const pons__record *const pons__state_records[] = {
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
    &pons__received_record,
    &pons__stopped_record,
    &pons__speed_request_record,
    &pons__reported_record,
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
    &pons__await_answer_record,
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
    &pons__task_reported_record,
    &pons__goal_reported_record,
    &pons__plan_brief_record,
    &pons__plan_step_brief_record,
    &pons__robot_reported_record,
    &pons__world_reported_record,
    &pons__running_reported_record,
    &pons__bounds_record,
    &pons__recovery_brief_record,
    &pons__broken_record,
    &pons__effect_record,
    &pons__tag_record,
    &pons__sent_record,
    &pons__rearbitrate_record,
    &pons__rearbitrated_record,
    &pons__inbox_message_record,
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
// clang-format on

static const pons__machine *const pons__machines[] = {
    &pons__decision_machine,
    &pons__task_machine,
    &pons__question_machine,
    &pons__recovery_machine,
    NULL,
};

static inline int pons__record_describe(const pons__record *r, pons_buf *out)
{
    static const char *const kinds[] = {"text",    "text",  "word",   "integer", "number",
                                        "boolean", "value", "record", "list"};
    static const char *const lacks[] = {"", " or null", ", may be absent"};
    pons_buf_printf(out, "| `%s` | kind | meaning |\n|---|---|---|\n", r->name);
    for (size_t i = 0; i < r->n; i++) {
        const pons__field *f = &r->fields[i];
        pons_buf_printf(out, "| `%s` | %s%s%s%s | %s |\n", f->name, kinds[f->kind],
                        f->of ? " " : "", f->of ? f->of->name : "", lacks[f->lacks],
                        f->means ? f->means : "");
    }
    return out->data ? PONS_OK : PONS_ENOMEM;
}

// As a diagram of Mermaid. A question's answers are told what became of them, also where it stays as it is.
static inline int pons__machine_draw(const pons__machine *m, pons_buf *out)
{
    const bool told = strcmp(m->name, "question") == 0;
    pons_buf_printf(out, "```mermaid\nstateDiagram-v2\n    %%%% %s: %s\n", m->name, m->means);
    for (size_t i = 0; i < m->n; i++) {
        const pons__transition *row = &m->rows[i];
        const char *from = m->states[row->from], *to = m->states[row->to];
        if (told || row->from != row->to) {
            pons_buf_printf(out, "    %s --> %s: %s%s%s\n", *from ? from : "[*]", *to ? to : "[*]",
                            m->events[row->event], told ? " / " : "", told ? row->next : "");
        }
    }
    return pons_buf_printf(out, "```\n");
}

#endif
