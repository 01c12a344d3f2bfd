// plan_view.c - R1, R8: a task with several goals as a plan, for people: moved along as they are met, while others
// decide; and the end of any plan with its task.
#include "brain/goals/goal_skills.h"
#include "brain/plan/task_plan.h"
#include "brain/records/record_table.h"

#include <string.h>

// What is wished, in the goal's words.
// clang-format off
static const pons__field wished_fields[] = {
    {"zone", TEXT, KEY, offsetof(pons__goal, zone), .means = "as the goal has it"},
    {"pose", JSON, KEY, offsetof(pons__goal, pose), .means = "as the goal has it"},
    {"zones", JSON, KEY, offsetof(pons__goal, zones), .means = "as the goal has it"},
    {"object", TEXT, KEY, offsetof(pons__goal, object), .means = "as the goal has it"},
    {"place", TEXT, KEY, offsetof(pons__goal, place), .means = "as the goal has it"},
};
// clang-format on
static const pons__record wished = {.name = "wished",
                                    .size = sizeof(struct pons__goal),
                                    .fields = wished_fields,
                                    .n = sizeof wished_fields / sizeof wished_fields[0]};

// One goal as a step of a plan (schemas/plan-step.json), for people: its skill where one call of one skill
// meets it, whatever the robot does meanwhile; else what is wished.
static pons_value *step_of_goal(const pons_brain *b, const pons__goal *goal, size_t i)
{
    pons__means *call = pons__means_alone(b, goal);
    // As the protocol's `speak` has its words.
    const bool says = call && pons__means_beside(b, call->skill) && pons_get(call->args, "text");
    pons_value *step =
        pons_object("step_id", json_integer((json_int_t)i + 1), "action",
                    json_string(call            ? call->skill
                                : *goal->intent ? goal->intent
                                                : "goal"),
                    "tool_call_type", json_string(says ? "speak" : "execute"), "parameters",
                    call ? json_copy((json_t *)call->args) : pons__record_write(&wished, goal),
                    "description", json_string(*goal->text ? goal->text : goal->intent), NULL);
    pons__record_free(&pons__means_record, call);
    return step;
}

static bool same_steps(const pons_brain *b, const pons_plan *p, const pons__list *goals)
{
    bool same = p->n_steps == goals->n;
    for (size_t i = 0; same && i < p->n_steps; i++) {
        pons_plan_step *step = NULL;
        pons_error ignored = PONS_ERROR_INIT;
        pons_autovalue v = step_of_goal(b, goals->at[i], i);
        same = pons_plan_step_from_value(v, &step, &ignored) >= 0 &&
               strcmp(step->action, p->steps[i].action) == 0 &&
               strcmp(step->parameters, p->steps[i].parameters) == 0;
        pons_plan_step_destroy(step);
    }
    return same;
}

static int plan_of_goals(const pons_brain *b, pons_cx *cx, const pons__task *task, pons_plan **ret,
                         pons_error *err)
{
    pons_autovalue steps = json_array();
    for (size_t i = 0; i < task->goals.n; i++) {
        json_array_append_new(steps, step_of_goal(b, task->goals.at[i], i));
    }
    pons_autovalue reply = pons_object("plan_id", json_sprintf("plan_%s", task->id), "goal",
                                       json_string(*task->text ? task->text : "several goals"),
                                       "steps", pons_value_ref(steps), NULL);
    const pons_plan_origin from = {.now_s = (double)pons_cx_wall_ms(cx) / 1e3};
    return pons_plan_from_llm_response(reply, "rule_engine", &from, ret, err);
}

static void move_step(pons_brain *b, pons_cx *cx, pons_plan *p, pons_plan_step *step,
                      pons_step_status to)
{
    pons_error ignored = PONS_ERROR_INIT;
    if (step->status != to && pons_plan_step_move(step, to, &ignored) >= 0) {
        pons__task_plan_tell(b, cx, p, step);
    }
}

static void move_plan(pons_brain *b, pons_cx *cx, pons_plan *p, pons_plan_status to)
{
    pons_error ignored = PONS_ERROR_INIT;
    if (p->status != to && pons_plan_move(p, to, &ignored) >= 0) {
        pons__task_plan_tell(b, cx, p, NULL);
    }
}

static void keep(pons__react *r, const pons_plan *p, const char *kind)
{
    pons_autovalue value = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (pons_plan_to_value(p, &value, &ignored) >= 0 &&
        !(r->plan && json_equal(value, (json_t *)r->plan->plan))) {
        pons__record_free(&pons__task_plan_record, r->plan);
        r->plan = pons__task_plan_new(kind, value);
    }
}

// The view's plan as it is, or one that is made anew for goals that were patched. NULL: none.
static pons_plan *view_of(pons_brain *b, pons_cx *cx, const pons__react *r)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_plan *p = NULL;
    if (r->plan && pons_plan_from_value(r->plan->plan, 0, &p, &ignored) >= 0 &&
        same_steps(b, p, &r->task->goals)) {
        return p;
    }
    pons_plan_destroy(p);
    p = NULL;
    if (plan_of_goals(b, cx, r->task, &p, &ignored) < 0) {
        return NULL;
    }
    pons_autovalue value = NULL;
    if (pons_plan_to_value(p, &value, &ignored) >= 0) {
        pons__task_plan *fresh = pons__task_plan_new("goals", value);
        pons__task_plan_created(b, cx, fresh);
        pons__record_free(&pons__task_plan_record, fresh);
    }
    move_plan(b, cx, p, PONS_PLAN_APPROVED);
    move_plan(b, cx, p, PONS_PLAN_EXECUTING);
    return p;
}

void pons__task_plan_mirror(pons_brain *b, pons_cx *cx, pons__react *r)
{
    const bool mine = !r->plan || strcmp(r->plan->kind, "goals") == 0;
    if (!mine || !r->task || r->task->goals.n < 2) {
        return;
    }
    pons_plan *p = view_of(b, cx, r);
    if (!p) {
        return;
    }
    bool open = false;
    for (size_t i = 0; i < p->n_steps; i++) {
        const bool done = ((const pons__goal *)r->task->goals.at[i])->done;
        if (done || !open) {
            move_step(b, cx, p, &p->steps[i], PONS_STEP_RUNNING);
        }
        if (done) {
            move_step(b, cx, p, &p->steps[i], PONS_STEP_SUCCESS);
        }
        open = open || !done;
    }
    keep(r, p, "goals");
    pons_plan_destroy(p);
}

void pons__task_plan_end(pons_brain *b, pons_cx *cx, pons__react *r, const char *status)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_plan *p = NULL;
    if (!r->plan || pons_plan_from_value(r->plan->plan, 0, &p, &ignored) < 0) {
        return;
    }
    if (!pons_machine_final(&pons_plan_machine, p->status)) {
        const bool well = strcmp(status, "succeeded") == 0;
        for (size_t i = 0; i < p->n_steps; i++) {
            pons_plan_step *step = &p->steps[i];
            const bool runs = step->status == PONS_STEP_RUNNING;
            if (!pons_machine_final(&pons_step_machine, step->status)) {
                move_step(b, cx, p, step,
                          !runs  ? PONS_STEP_SKIPPED
                          : well ? PONS_STEP_SUCCESS
                                 : PONS_STEP_FAILED);
            }
        }
        move_plan(b, cx, p, well ? PONS_PLAN_COMPLETED : PONS_PLAN_FAILED);
        move_plan(b, cx, p, PONS_PLAN_CANCELLED); // where neither may be
        char kind[32];
        snprintf(kind, sizeof kind, "%s", *r->plan->kind ? r->plan->kind : "goals");
        keep(r, p, kind);
    }
    pons_plan_destroy(p);
}
