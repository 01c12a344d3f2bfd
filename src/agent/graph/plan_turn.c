// plan_turn.c - a turn that carries out a plan of a person's.
//
//   pons_agent_plan --> agent --plan--> plan_gate -> executor … --> agent --what it came to--> END
//                       asks no model                               asks no model
//
// The graph is the one that a model's plan goes through, and so are risks, questions and the ledger. The conversation
// has the plan as if the agent had made it, so that a talk can follow. A person's plan is carried out as it stands:
// nobody replans it, and a failed step ends it.
#include "agent/graph/plan_turn.h"

#include "agent/graph/plan_step.h"
#include "agent/tool_registry.h"
#include "pons/language.h"

#include <string.h>

bool pons__given(const pons_agent *a)
{
    return a->run && json_is_object(pons_run_get(a->run, PONS__GIVEN));
}

// Every step is to do or done, and what is to be called is here: before anything is done.
static int check(const pons_agent *a, const pons_plan *p, pons_error *err)
{
    for (size_t i = 0; i < p->n_steps; i++) {
        const pons_plan_step *s = &p->steps[i];
        const bool done = pons_machine_final(&pons_step_machine, s->status);
        if (!done && s->status != PONS_STEP_PENDING) {
            return pons_error_set(err, PONS_EINVAL, "plan",
                                  "step %lld is %s: a plan is begun with steps that are pending",
                                  (long long)s->step_id, pons_step_status_word(s->status));
        }
        const pons__tool *t = pons__registry_find(&a->registry, s->action);
        if (!done && s->tool_call_type == PONS_TOOL_EXECUTE && !(t && t->provider)) {
            return pons_error_set(err, PONS_EENV, "plan",
                                  "step %lld, %.96s: there is no tool of that name here; nothing "
                                  "was done (skills are there while a body runs)",
                                  (long long)s->step_id, s->action);
        }
    }
    return PONS_OK;
}

// The plan asks as a whole: with its first step.
static void ask_first(pons_value *plan, const pons_plan *p)
{
    pons_each(step, json_object_get(plan, "steps")) {
        if (p->steps[step_at].status == PONS_STEP_PENDING) {
            if (!p->steps[step_at].requires_confirmation) {
                json_object_set_new(step, "requires_confirmation", json_true());
                json_object_set_new(
                    step, "confirmation_message",
                    json_string(p->confirmation_message ? p->confirmation_message : p->goal));
            }
            return;
        }
    }
}

int pons__given_begin(pons_agent *a, const pons_plan *plan, pons_value **ret_messages,
                      pons_value **ret_given, pons_error *err)
{
    pons_autovalue value = NULL;
    int rc = pons__registry_refresh(&a->registry, err);
    rc = rc < 0 ? rc : check(a, plan, err);
    rc = rc < 0 ? rc : pons_plan_to_value(plan, &value, err);
    if (rc < 0) {
        return rc;
    }
    if (plan->requires_confirmation && !pons__cfg_bool(a->config, "nodes.approval.enabled")) {
        ask_first(value, plan);
    }
    pons_autovalue call = pons_object("id", json_string(plan->plan_id), "name",
                                      json_string(PONS__PLAN_CREATE), "arguments",
                                      pons_object("title", json_string(plan->goal), "steps",
                                                  pons_value_ref(pons_get(value, "steps")), NULL),
                                      NULL);
    *ret_messages = json_pack("[{s:s, s:s}, {s:s, s:n, s:[O]}]", "role", "user", "content",
                              plan->goal, "role", "assistant", "content", "tool_calls", call);
    *ret_given = pons_object("plan", pons_value_ref(value), NULL);
    return *ret_messages && *ret_given
               ? PONS_OK
               : pons_error_set(err, PONS_ENOMEM, PONS__AGENT, "no memory for a plan");
}

// Of the steps the one that has failed, or that a person did not want; else the plan.
static pons_value *outcome(const pons_agent *a, const pons_value *plan)
{
    const char *word = pons_get_str(plan, "status", ""), *goal = pons_get_str(plan, "goal", "");
    const int status = pons_plan_status_find(word);
    const bool chinese = pons_language_chinese(goal) && status >= 0;
    const bool done = status == PONS_PLAN_COMPLETED;
    const char *said = json_string_value(pons_run_get(a->run, "step_response"));
    const char *why = !done && said && *said ? said : NULL;
    why = why && strncmp(why, PONS__RESPONSE_FAILED, strlen(PONS__RESPONSE_FAILED)) == 0
              ? why + strlen(PONS__RESPONSE_FAILED)
              : why;
    return json_sprintf(pons_translate(chinese, "the plan is %s%s%s"),
                        pons_translate(chinese, word), why ? pons_translate(chinese, ": ") : "",
                        why ? why : "");
}

pons_value *pons__given_ended(const pons_agent *a)
{
    const pons_value *given = pons_run_get(a->run, PONS__GIVEN), *plan = pons_get(given, "plan");
    const char *stopped = json_string_value(pons_run_get(a->run, "agent_outcome"));
    if (stopped && strcmp(stopped, "stopped") == 0) {
        return pons_object("status", json_string("stopped"), NULL);
    }
    if (!pons_get_bool(given, "over", false)) {
        return pons_object("status", json_string("plan"), "call_id",
                           pons_value_ref(pons_get(plan, "plan_id")), "plan", pons_value_ref(plan),
                           NULL);
    }
    const bool done =
        strcmp(pons_get_str(plan, "status", ""), pons_plan_status_word(PONS_PLAN_COMPLETED)) == 0;
    return pons_object("status", json_string(done ? "answer" : "failed"),
                       done ? "content" : "error", outcome(a, plan), NULL);
}

void pons__given_over(const pons_agent *a, const pons_plan *p, pons_value *update)
{
    pons_value *plan = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (pons__given(a) && pons_plan_to_value(p, &plan, &ignored) >= 0) {
        json_object_set_new(update, PONS__GIVEN,
                            pons_object("plan", plan, "over", json_true(), NULL));
    }
}
