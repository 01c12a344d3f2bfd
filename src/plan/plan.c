// plan.c - Plan, PlanStep and ExecutionResult: made, checked, asked, changed.
//
// The protocol stands between who plans and who acts: a planner writes a plan, an executor runs it,
// and neither knows the other. This folder, file by file:
//
//     plan.c         the three structs, their checks, queries and factories
//     plan_enums.c        the enumerations, and the tables of where a status may go
//     json_tokens.c         strict JSON as a flat array of nodes; canonical text of a value
//     plan_read.c         a tape into a plan: types, defaults, paths in errors
//     plan_write.c        a plan into canonical text
//     json_repair.c  what a model wrote into JSON, telling every repair; repair_*.c are its parts
//     model_reply.c        one object of an answer that is no plan, by the same reader
//     plan_shapes.c       tool calls, wrappers and lists into the one shape of a plan
//     plan_engine.c          the engine that runs a plan step by step
//     step_text.c        what a step asks, says, looks for, and how its result is told
//
// One step from end to end: its text is one run of nodes on the tape; plan_read.c copies five or six
// strings of it into the plan's arena, the free objects as canonical text; plan_write.c copies them out
// again. Nothing else is allocated, and a plan is freed block by block.
#include "pons/plan.h"

#include "plan/internal.h"
#include "plan/json_tokens.h"
#include "pons/buf.h"
#include "pons/growing_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MIN = 8 };

typedef struct lone_step { // what pons_plan_step_from_value gives
    pons_plan_step step;
    pons_pool arena;
} lone_step;

// ---- plans --------------------------------------------------------------------------------------

pons_plan *pons__plan_new(size_t steps)
{
    pons_plan *p = calloc(1, sizeof *p);
    struct pons__plan_own *own = calloc(1, sizeof *own);
    pons_plan_step *room = steps ? malloc(steps * sizeof *room) : NULL;
    if (!p || !own || (steps && !room)) {
        free(p);
        free(own);
        free(room);
        return NULL;
    }
    own->cap = steps;
    own->max_id = -1;
    p->steps = room;
    p->own = own;
    return p;
}

void pons_plan_destroy(pons_plan *p)
{
    if (!p) {
        return;
    }
    pons_pool_fini(&p->own->arena);
    free(p->own);
    free(p->steps);
    free(p);
}

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
}

static int copy_text(pons_pool *a, const char *field, const char *s, const char *fallback,
                     const char **ret, pons_error *err)
{
    s = s ? s : fallback;
    *ret = NULL;
    if (!s) {
        return PONS_OK;
    }
    const size_t len = strlen(s);
    for (size_t i = 0, n; i < len; i += n) {
        n = pons_utf8_sequence(s + i, len - i);
        if (n == 0) {
            return pons_error_set(err, PONS_EINVAL, "plan", "%s: not UTF-8 at byte %zu", field, i);
        }
    }
    *ret = pons_pool_text(a, s, len);
    return *ret ? PONS_OK : no_memory(err);
}

// A free object that a caller gave as text, made canonical.
static int copy_object(pons_pool *a, const char *field, const char *s, const char **ret,
                       pons_error *err)
{
    if (!s || !*s || strcmp(s, "{}") == 0) {
        *ret = "{}";
        return PONS_OK;
    }
    pons__tokens tokens = {0};
    pons_error why = PONS_ERROR_INIT;
    int rc = pons__tokens_parse(&tokens, s, strlen(s), &why);
    if (rc >= 0 && tokens.nodes[0].kind != PONS__OBJECT) {
        rc = pons_error_set(&why, PONS_EINVAL, "plan", "not a JSON object");
    }
    rc = rc < 0 ? rc : pons__tokens_canonical(&tokens, tokens.nodes, a, ret, &why);
    if (rc < 0) {
        pons_error_set(err, rc, "plan", "%s: %s", field, why.message);
        pons_error_source(err, "%s", why.source);
    }
    pons__tokens_fini(&tokens);
    return rc;
}

// A number as it was given, when that is one JSON number; else as the double says.
static int copy_number(pons_pool *a, const char *field, double number, const char *text,
                       const char **ret, pons_error *err)
{
    char made[PONS__NUMBER_MAX];
    if (text) {
        pons__tokens tokens = {0};
        const bool good = pons__tokens_parse(&tokens, text, strlen(text), NULL) >= 0 &&
                          tokens.nodes[0].kind == PONS__NUMBER;
        pons__tokens_fini(&tokens);
        if (!good) {
            return pons_error_set(err, PONS_EINVAL, "plan", "%s: not a JSON number", field);
        }
    } else {
        const int rc = pons__number_text(number, field, made, err);
        if (rc < 0) {
            return rc;
        }
        text = made;
    }
    *ret = pons_pool_text(a, text, strlen(text));
    return *ret ? PONS_OK : no_memory(err);
}

static int copy_fields(pons_plan *p, const pons_plan *fields, pons_error *err)
{
    pons_pool *a = &p->own->arena;
    if (pons__is_blank(fields->plan_id)) {
        return pons_error_set(err, PONS_EINVAL, "plan", "plan_id: must not be empty");
    }
    if (pons__is_blank(fields->goal)) {
        return pons_error_set(err, PONS_EINVAL, "plan", "goal: must not be empty");
    }
    if ((unsigned)fields->risk_level >= PONS_RISK_LEVELS) {
        return pons_error_set(err, PONS_EINVAL, "plan", "risk_level: %d is none",
                              (int)fields->risk_level);
    }
    if ((unsigned)fields->status >= PONS_PLAN_STATUSES) {
        return pons_error_set(err, PONS_EINVAL, "plan", "status: %d is none", (int)fields->status);
    }
    p->risk_level = fields->risk_level;
    p->requires_confirmation = fields->requires_confirmation;
    p->status = fields->status;
    p->created_at = fields->created_at;
    int rc = copy_text(a, "plan_id", fields->plan_id, NULL, &p->plan_id, err);
    rc = rc < 0 ? rc : copy_text(a, "goal", fields->goal, NULL, &p->goal, err);
    rc = rc < 0 ? rc : copy_text(a, "reasoning", fields->reasoning, "", &p->reasoning, err);
    rc = rc < 0 ? rc
                : copy_text(a, "confirmation_message", fields->confirmation_message, NULL,
                            &p->confirmation_message, err);
    rc = rc < 0 ? rc : copy_text(a, "source", fields->source, "llm", &p->source, err);
    rc = rc < 0 ? rc : copy_object(a, "metadata", fields->metadata, &p->metadata, err);
    return rc < 0 ? rc
                  : copy_number(a, "created_at", fields->created_at, fields->created_at_text,
                                &p->created_at_text, err);
}

static int copy_step(pons_pool *a, const pons_plan_step *step, pons_plan_step *ret, pons_error *err)
{
    *ret = *step;
    int rc = copy_text(a, "action", step->action, NULL, &ret->action, err);
    rc = rc < 0 ? rc : copy_text(a, "fallback", step->fallback, NULL, &ret->fallback, err);
    rc = rc < 0 ? rc : copy_text(a, "description", step->description, "", &ret->description, err);
    rc = rc < 0 ? rc
                : copy_text(a, "confirmation_message", step->confirmation_message, NULL,
                            &ret->confirmation_message, err);
    rc = rc < 0 ? rc : copy_object(a, "parameters", step->parameters, &ret->parameters, err);
    rc = rc < 0 ? rc
                : copy_object(a, "preconditions", step->preconditions, &ret->preconditions, err);
    return rc < 0 ? rc : copy_object(a, "metadata", step->metadata, &ret->metadata, err);
}

static int append(pons_plan *p, const pons_plan_step *step, pons_error *err)
{
    pons_plan_step copy;
    int rc = pons_plan_step_check(step, err);
    rc = rc < 0 ? rc : copy_step(&p->own->arena, step, &copy, err);
    if (rc < 0) {
        return rc;
    }
    if (!pons_list_reserve(&p->steps, &p->own->cap, p->n_steps + 1, sizeof *p->steps)) {
        return no_memory(err);
    }
    p->steps[p->n_steps++] = copy;
    if (copy.step_id > p->own->max_id) {
        p->own->max_id = copy.step_id;
    }
    return PONS_OK;
}

int pons_plan_create(const pons_plan *fields, pons_plan **ret, pons_error *err)
{
    pons_plan *p = pons__plan_new(fields->n_steps);
    int rc = p ? copy_fields(p, fields, err) : no_memory(err);
    for (size_t i = 0; rc >= 0 && i < fields->n_steps; i++) {
        pons_error why = PONS_ERROR_INIT;
        rc = append(p, &fields->steps[i], &why);
        if (rc < 0) {
            pons_error_set(err, rc, "plan", "steps[%zu].%s", i, why.message);
        }
    }
    if (rc < 0) {
        pons_plan_destroy(p);
        return rc;
    }
    *ret = p;
    return PONS_OK;
}

void pons__plan_id_make(pons_rand *rand, char ret[PONS__PLAN_ID_MAX])
{
    snprintf(ret, PONS__PLAN_ID_MAX, "plan_%08x", (unsigned)(pons_rand_u64(rand) >> 32));
}

int pons_plan_create_new(const char *goal, const char *reasoning, pons_risk_level risk,
                         const char *source, const pons_plan_origin *from, pons_plan **ret,
                         pons_error *err)
{
    char id[PONS__PLAN_ID_MAX];
    pons__plan_id_make(from->rand, id);
    const pons_plan fields = {.plan_id = id,
                              .goal = goal,
                              .reasoning = reasoning,
                              .risk_level = risk,
                              .created_at = from->now_s,
                              .source = source};
    return pons_plan_create(&fields, ret, err);
}

int pons_plan_step_check(const pons_plan_step *step, pons_error *err)
{
    if (pons__is_blank(step->action)) {
        return pons_error_set(err, PONS_EINVAL, "plan", "action: must not be empty");
    }
    if (step->step_id < 0) {
        return pons_error_set(err, PONS_EINVAL, "plan", "step_id: must not be negative, found %lld",
                              (long long)step->step_id);
    }
    if ((unsigned)step->tool_call_type >= PONS_TOOL_CALL_TYPES) {
        return pons_error_set(err, PONS_EINVAL, "plan", "tool_call_type: %d is none",
                              (int)step->tool_call_type);
    }
    if ((unsigned)step->status >= PONS_STEP_STATUSES) {
        return pons_error_set(err, PONS_EINVAL, "plan", "status: %d is none", (int)step->status);
    }
    return PONS_OK;
}

int pons_plan_add_step(pons_plan *p, const pons_plan_step *step, pons_error *err)
{
    const bool may_be_there = step->step_id <= p->own->max_id;
    if (may_be_there && pons_plan_step_get(p, step->step_id)) {
        return pons_error_set(err, PONS_EEXIST, "plan",
                              "steps[%zu].step_id: %lld already exists, use a unique id",
                              p->n_steps, (long long)step->step_id);
    }
    pons_error why = PONS_ERROR_INIT;
    const int rc = append(p, step, &why);
    if (rc < 0) {
        pons_error_set(err, rc, "plan", "steps[%zu].%s", p->n_steps, why.message);
    }
    return rc;
}

int pons__number_text(double x, const char *what, char ret[PONS__NUMBER_MAX], pons_error *err)
{
    char *text = NULL;
    if (!isfinite(x)) {
        return pons_error_set(err, PONS_EINVAL, "plan", "%s: not a finite number", what);
    }
    pons_autovalue v = json_real(x);
    const long n = v ? pons_value_dump(v, &text) : PONS_ENOMEM;
    if (n < 0) {
        return no_memory(err);
    }
    snprintf(ret, PONS__NUMBER_MAX, "%s", text);
    free(text);
    return PONS_OK;
}

// ---- questions and changes ----------------------------------------------------------------------

int pons_plan_step_move(pons_plan_step *step, pons_step_status to, pons_error *err)
{
    int status = step->status;
    const int rc = pons_machine_move(&pons_step_machine, &status, to, err);
    if (rc >= 0) {
        step->status = (pons_step_status)status;
    }
    return rc;
}

int pons_plan_move(pons_plan *p, pons_plan_status to, pons_error *err)
{
    int status = p->status;
    const int rc = pons_machine_move(&pons_plan_machine, &status, to, err);
    if (rc >= 0) {
        p->status = (pons_plan_status)status;
    }
    return rc;
}

size_t pons_plan_select(const pons_plan *p, pons_step_status status, pons_plan_step **ret,
                        size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        if (p->steps[i].status != status) {
            continue;
        }
        if (n < cap) {
            ret[n] = &p->steps[i];
        }
        n++;
    }
    return n;
}

size_t pons_plan_pending_steps(const pons_plan *p, pons_plan_step **ret, size_t cap)
{
    return pons_plan_select(p, PONS_STEP_PENDING, ret, cap);
}

size_t pons_plan_waiting_steps(const pons_plan *p, pons_plan_step **ret, size_t cap)
{
    return pons_plan_select(p, PONS_STEP_WAIT_CONFIRMATION, ret, cap);
}

size_t pons_plan_failed_steps(const pons_plan *p, pons_plan_step **ret, size_t cap)
{
    return pons_plan_select(p, PONS_STEP_FAILED, ret, cap);
}

pons_plan_step *pons_plan_step_get(const pons_plan *p, int64_t step_id)
{
    for (size_t i = 0; i < p->n_steps; i++) {
        if (p->steps[i].step_id == step_id) {
            return &p->steps[i];
        }
    }
    return NULL;
}

pons_plan_step *pons_plan_current_step(const pons_plan *p)
{
    pons_plan_step *step = NULL;
    return pons_plan_select(p, PONS_STEP_RUNNING, &step, 1) > 0 ? step : NULL;
}

bool pons_plan_is_finished(const pons_plan *p)
{
    for (size_t i = 0; i < p->n_steps; i++) {
        if (!pons_machine_final(&pons_step_machine, p->steps[i].status)) {
            return false;
        }
    }
    return true;
}

bool pons_plan_is_success(const pons_plan *p)
{
    return p->n_steps > 0 && pons_plan_select(p, PONS_STEP_SUCCESS, NULL, 0) == p->n_steps;
}

int64_t pons_plan_next_step_id(const pons_plan *p)
{
    int64_t max = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        if (p->steps[i].step_id > max) {
            max = p->steps[i].step_id;
        }
    }
    return max == INT64_MAX ? INT64_MAX : max + 1;
}

int pons_plan_object(const char *text, pons_value **ret, pons_error *err)
{
    text = text && *text ? text : "{}";
    return pons_value_parse(text, strlen(text), ret, err);
}

// ---- lone steps ---------------------------------------------------------------------------------

pons_plan_step *pons__step_new(pons_pool **ret_arena)
{
    lone_step *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    *ret_arena = &s->arena;
    return &s->step;
}

void pons_plan_step_destroy(pons_plan_step *step)
{
    if (!step) {
        return;
    }
    lone_step *s = (lone_step *)step; // its first member
    pons_pool_fini(&s->arena);
    free(s);
}

// ---- execution results --------------------------------------------------------------------------

pons_execution_result *pons__result_new(void)
{
    pons_execution_result *r = calloc(1, sizeof *r);
    struct pons__plan_own *own = calloc(1, sizeof *own);
    if (!r || !own) {
        free(r);
        free(own);
        return NULL;
    }
    r->own = own;
    return r;
}

void pons_execution_result_destroy(pons_execution_result *r)
{
    if (!r) {
        return;
    }
    pons_pool_fini(&r->own->arena);
    free(r->own);
    free(r);
}

int pons__result_check(const pons_execution_result *r, pons_error *err)
{
    if (pons__is_blank(r->plan_id)) {
        return pons_error_set(err, PONS_EINVAL, "plan", "plan_id: must not be empty");
    }
    if (r->step_id < 0) {
        return pons_error_set(err, PONS_EINVAL, "plan", "step_id: must not be negative, found %lld",
                              (long long)r->step_id);
    }
    if ((unsigned)r->status >= PONS_STEP_STATUSES) {
        return pons_error_set(err, PONS_EINVAL, "plan", "status: %d is none", (int)r->status);
    }
    if (r->status == PONS_STEP_SUCCESS && !r->success) {
        return pons_error_set(err, PONS_EINVAL, "plan",
                              "success: must be true when status is success");
    }
    if (r->status == PONS_STEP_FAILED && r->success) {
        return pons_error_set(err, PONS_EINVAL, "plan",
                              "success: must be false when status is failed");
    }
    return PONS_OK;
}

int pons_execution_result_create(const pons_execution_result *fields, pons_execution_result **ret,
                                 pons_error *err)
{
    int rc = pons__result_check(fields, err);
    if (rc < 0) {
        return rc;
    }
    pons_execution_result *r = pons__result_new();
    if (!r) {
        return no_memory(err);
    }
    pons_pool *a = &r->own->arena;
    r->step_id = fields->step_id;
    r->success = fields->success;
    r->status = fields->status;
    r->timestamp = fields->timestamp;
    rc = copy_text(a, "plan_id", fields->plan_id, NULL, &r->plan_id, err);
    rc = rc < 0 ? rc : copy_text(a, "message", fields->message, "", &r->message, err);
    rc = rc < 0 ? rc : copy_object(a, "output", fields->output, &r->output, err);
    rc = rc < 0 ? rc
                : copy_number(a, "timestamp", fields->timestamp, fields->timestamp_text,
                              &r->timestamp_text, err);
    if (rc < 0) {
        pons_execution_result_destroy(r);
        return rc;
    }
    *ret = r;
    return PONS_OK;
}

static int result_of(const char *plan_id, int64_t step_id, pons_step_status status,
                     const char *message, const char *output, double now_s,
                     pons_execution_result **ret, pons_error *err)
{
    const pons_execution_result fields = {.plan_id = plan_id,
                                          .step_id = step_id,
                                          .success = status != PONS_STEP_FAILED,
                                          .status = status,
                                          .message = message,
                                          .output = output,
                                          .timestamp = now_s};
    return pons_execution_result_create(&fields, ret, err);
}

int pons_execution_result_success(const char *plan_id, int64_t step_id, const char *message,
                                  const char *output, double now_s, pons_execution_result **ret,
                                  pons_error *err)
{
    message = message && *message ? message : "执行成功";
    return result_of(plan_id, step_id, PONS_STEP_SUCCESS, message, output, now_s, ret, err);
}

int pons_execution_result_failure(const char *plan_id, int64_t step_id, const char *message,
                                  const char *output, double now_s, pons_execution_result **ret,
                                  pons_error *err)
{
    return result_of(plan_id, step_id, PONS_STEP_FAILED, message, output, now_s, ret, err);
}

int pons_execution_result_skipped(const char *plan_id, int64_t step_id, const char *message,
                                  double now_s, pons_execution_result **ret, pons_error *err)
{
    message = message ? message : "步骤已跳过";
    return result_of(plan_id, step_id, PONS_STEP_SKIPPED, message, NULL, now_s, ret, err);
}
