// plan_engine.c - the engine that runs a plan: what comes next and what may become of it; what a step does
// is its executor's.
//
//     created -- confirmed? --> approved --> executing
//                                               |
//        +------------------------------------->|  the step in hand: running, waiting, else the
//        |                                      v  next pending one
//        |                                 preconditions --refused--> failed
//        |                                      v
//        |                                 confirmation ---refused--> skipped; the plan: cancelled
//        |                                      v
//        +--success-- its executor --failed--> fallback --failed--> failed
//
// Where a run stands is in the statuses of the plan and in a small cursor, so a run may stop
// anywhere, be written down as JSON, and go on in another process: whoever must wait returns
// PONS_EPARKED and is asked again. The engine changes a status before it calls and after it has an
// answer, never in between.
#include "pons/language.h"
#include "pons/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 256, SHOWN_MAX = 80 };

typedef struct run {
    pons_plan *plan;
    pons_plan_cursor *cursor;
    const pons_plan_ops *ops;
    pons_error *err;
} run;

// What a person reads of it, in the language of the plan's goal.
static const char *in_words(const run *r, const char *message)
{
    return pons_translate(pons_language_chinese(r->plan->goal), message);
}

// ---- statuses -----------------------------------------------------------------------------------

static int move_step(run *r, pons_plan_step *step, pons_step_status to)
{
    if (step->status == to) {
        return PONS_OK;
    }
    const int rc = pons_plan_step_move(step, to, r->err);
    if (rc >= 0 && r->ops->changed) {
        r->ops->changed(r->ops->user, r->plan, step);
    }
    return rc;
}

static int move_plan(run *r, pons_plan_status to)
{
    if (r->plan->status == to) {
        return PONS_OK;
    }
    const int rc = pons_plan_move(r->plan, to, r->err);
    if (rc >= 0 && r->ops->changed) {
        r->ops->changed(r->ops->user, r->plan, NULL);
    }
    return rc;
}

static bool ended(const pons_plan *p)
{
    return pons_machine_final(&pons_plan_machine, p->status);
}

// The step in hand: what runs or waits goes on before anything new begins.
static pons_plan_step *in_hand(const pons_plan *p)
{
    static const pons_step_status order[] = {PONS_STEP_RUNNING, PONS_STEP_WAIT_CONFIRMATION,
                                             PONS_STEP_PENDING};
    pons_plan_step *step = NULL;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (pons_plan_select(p, order[i], &step, 1) > 0) {
            return step;
        }
    }
    return NULL;
}

// ---- the run ------------------------------------------------------------------------------------

int pons_plan_run(pons_plan *p, pons_plan_cursor *c, const pons_plan_ops *ops, pons_error *err)
{
    while (!ended(p)) {
        const int rc = pons_plan_run_step(p, c, ops, err);
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

// The end of a step. Takes output.
// Takes output: PONS_ABSENT is none, NULL one that was lost.
static int settle(run *r, pons_plan_step *step, pons_step_status status, const char *message,
                  pons_value *output)
{
    char *text = NULL;
    const double now_s = r->ops->now_s ? r->ops->now_s(r->ops->user) : 0;
    const bool lost = !output || (output != PONS_ABSENT && pons_value_dump(output, &text) < 0);
    int rc = lost ? pons_error_set(r->err, PONS_ENOMEM, "plan", "out of memory") : PONS_OK;
    const pons_execution_result fields = {.plan_id = r->plan->plan_id,
                                          .step_id = step->step_id,
                                          .success = status != PONS_STEP_FAILED,
                                          .status = status,
                                          .message = message,
                                          .output = text,
                                          .timestamp = now_s};
    pons_execution_result *result = NULL;
    rc = rc < 0 ? rc : pons_execution_result_create(&fields, &result, r->err);
    rc = rc < 0 ? rc : move_step(r, step, status);
    if (rc >= 0) {
        *r->cursor = (pons_plan_cursor){0};
        if (r->ops->result) {
            r->ops->result(r->ops->user, result);
        }
    }
    pons_execution_result_destroy(result);
    if (output != PONS_ABSENT) {
        pons_value_unref(output);
    }
    free(text);
    return rc;
}

// A pending step: may it begin? Leaves it running, waiting, or failed.
static int hold(run *r, pons_plan_step *step)
{
    pons_autovalue conditions = NULL;
    *r->cursor = (pons_plan_cursor){0};
    int rc = pons_plan_object(step->preconditions, &conditions, r->err);
    const char *key;
    json_t *wanted;
    if (rc < 0) {
        return rc;
    }
    // In the order of the keys, so that two runs say the same.
    for (void *it = json_object_iter(conditions); it; it = json_object_iter_next(conditions, it)) {
        pons_error why = PONS_ERROR_INIT;
        key = json_object_iter_key(it);
        wanted = json_object_iter_value(it);
        rc = pons_plan_condition(key, wanted, r->ops->look, r->ops->user, &why);
        if (rc == PONS_EREFUSED) {
            snprintf(r->cursor->failure, sizeof r->cursor->failure, "precondition %.96s: %.384s",
                     key, why.message);
            r->cursor->fallback = step->fallback != NULL;
            rc = move_step(r, step, PONS_STEP_RUNNING);
            return rc < 0 || r->cursor->fallback
                       ? rc
                       : settle(r, step, PONS_STEP_FAILED, r->cursor->failure, PONS_ABSENT);
        }
        if (rc < 0) {
            if (r->err) {
                *r->err = why;
            }
            return rc;
        }
    }
    if (!step->requires_confirmation) {
        return move_step(r, step, PONS_STEP_RUNNING);
    }
    rc = move_step(r, step, PONS_STEP_WAIT_CONFIRMATION);
    return rc < 0 ? rc : move_plan(r, PONS_PLAN_WAIT_CONFIRMATION);
}

static int skip_rest(run *r, const char *why)
{
    int rc = PONS_OK;
    for (size_t i = 0; rc >= 0 && i < r->plan->n_steps; i++) {
        if (!pons_machine_final(&pons_step_machine, r->plan->steps[i].status)) {
            rc = settle(r, &r->plan->steps[i], PONS_STEP_SKIPPED, why, PONS_ABSENT);
        }
    }
    return rc;
}

// A step that waits for a person. For a step that asks the user, the answer is the step.
static int ask(run *r, pons_plan_step *step)
{
    bool yes = false;
    if (!r->ops->confirm) {
        return pons_error_set(r->err, PONS_EPARKED, "plan", "step %lld waits for a person",
                              (long long)step->step_id);
    }
    const char *question = step->confirmation_message ? step->confirmation_message
                           : *step->description       ? step->description
                                                      : step->action;
    int rc = r->ops->confirm(r->ops->user, r->plan, step, question, &yes, r->err);
    if (rc < 0) {
        return rc;
    }
    if (!yes) {
        rc = settle(r, step, PONS_STEP_SKIPPED, in_words(r, "not confirmed"), PONS_ABSENT);
        rc = rc < 0 ? rc : skip_rest(r, in_words(r, "the plan was cancelled"));
        return rc < 0 ? rc : move_plan(r, PONS_PLAN_CANCELLED);
    }
    r->cursor->confirmed = true;
    rc = move_plan(r, PONS_PLAN_EXECUTING);
    rc = rc < 0 ? rc : move_step(r, step, PONS_STEP_RUNNING);
    if (rc >= 0 && step->tool_call_type == PONS_TOOL_ASK_USER) {
        rc = settle(r, step, PONS_STEP_SUCCESS, "confirmed",
                    pons_object_whole("confirmed", json_true(), NULL));
    }
    return rc;
}

static pons_value *given(const pons_plan_outcome *out)
{
    return out->output ? out->output : PONS_ABSENT;
}

static int call(run *r, const pons_plan_step *step, bool fallback, pons_plan_outcome *out)
{
    const pons_plan_executor executor = r->ops->executors[step->tool_call_type];
    if (!executor && step->tool_call_type == PONS_TOOL_NOOP) {
        out->success = true;
        return PONS_OK;
    }
    if (!executor) {
        snprintf(out->message, sizeof out->message, "no executor for %s is connected",
                 pons_tool_call_word(step->tool_call_type));
        return PONS_OK;
    }
    pons_autovalue parameters = NULL;
    int rc = pons_plan_object(step->parameters, &parameters, r->err);
    if (rc < 0) {
        return rc;
    }
    const pons_plan_call c = {.plan = r->plan,
                              .step = step,
                              .action = fallback ? step->fallback : step->action,
                              .is_fallback = fallback,
                              .parameters = parameters};
    rc = executor(r->ops->user, &c, out, r->err);
    if (rc < 0) {
        pons_value_unref(out->output);
        out->output = NULL;
    }
    return rc;
}

// The step has failed: its fallback runs, and the result tells of both.
static int fall_back(run *r, pons_plan_step *step)
{
    pons_plan_outcome out = {0};
    const int rc = call(r, step, true, &out);
    if (rc < 0) {
        return rc;
    }
    pons_value *output = pons_object_whole(
        "fallback",
        pons_object_whole("action", pons_string(step->fallback), "success",
                          json_boolean(out.success), "message", pons_string(out.message), "output",
                          out.output ? out.output : json_object(), NULL),
        "failure", pons_string(r->cursor->failure), NULL);
    const bool recovered = out.success && r->ops->fallback_recovers;
    return settle(r, step, recovered ? PONS_STEP_SUCCESS : PONS_STEP_FAILED,
                  recovered ? out.message : r->cursor->failure, output);
}

static int perform(run *r, pons_plan_step *step)
{
    pons_plan_outcome out = {0};
    if (r->cursor->fallback) {
        return fall_back(r, step);
    }
    const int rc = call(r, step, false, &out);
    if (rc < 0) {
        return rc;
    }
    if (out.success) {
        return settle(r, step, PONS_STEP_SUCCESS, out.message, given(&out));
    }
    if (!step->fallback) {
        return settle(r, step, PONS_STEP_FAILED, *out.message ? out.message : "failed",
                      given(&out));
    }
    pons_value_unref(out.output);
    snprintf(r->cursor->failure, sizeof r->cursor->failure, "%s",
             *out.message ? out.message : "failed");
    r->cursor->fallback = true;
    return fall_back(r, step);
}

// From wherever the step stands to its end, or to where somebody is waited for.
static int carry_out(run *r, pons_plan_step *step)
{
    int rc = step->status == PONS_STEP_PENDING ? hold(r, step) : PONS_OK;
    if (rc >= 0 && step->status == PONS_STEP_WAIT_CONFIRMATION) {
        rc = ask(r, step);
    }
    if (rc >= 0 && step->status == PONS_STEP_RUNNING) {
        rc = perform(r, step);
    }
    return rc;
}

// From a new plan to one that is executed; asks when the plan says so.
static int begin(run *r)
{
    pons_plan *p = r->plan;
    int rc = PONS_OK;
    const bool step_waits = pons_plan_waiting_steps(p, NULL, 0) > 0;
    const bool fresh = pons_plan_pending_steps(p, NULL, 0) == p->n_steps;
    if (p->status == PONS_PLAN_CREATED && p->requires_confirmation) {
        rc = move_plan(r, PONS_PLAN_WAIT_CONFIRMATION);
    }
    if (rc >= 0 && p->status == PONS_PLAN_WAIT_CONFIRMATION && !step_waits && fresh) {
        bool yes = false;
        const char *question = p->confirmation_message ? p->confirmation_message : p->goal;
        if (!r->ops->confirm) {
            return pons_error_set(r->err, PONS_EPARKED, "plan", "the plan waits for a person");
        }
        rc = r->ops->confirm(r->ops->user, p, NULL, question, &yes, r->err);
        if (rc < 0) {
            return rc;
        }
        if (!yes) {
            rc = skip_rest(r, in_words(r, "the plan was not confirmed"));
            return rc < 0 ? rc : move_plan(r, PONS_PLAN_CANCELLED);
        }
        rc = move_plan(r, PONS_PLAN_APPROVED);
    }
    if (rc >= 0 && p->status == PONS_PLAN_CREATED) {
        rc = move_plan(r, PONS_PLAN_APPROVED);
    }
    if (rc >= 0 && !(p->status == PONS_PLAN_WAIT_CONFIRMATION && step_waits)) {
        rc = move_plan(r, PONS_PLAN_EXECUTING);
    }
    return rc;
}

static int finish(run *r)
{
    const bool failed = pons_plan_failed_steps(r->plan, NULL, 0) > 0;
    const int rc = failed ? skip_rest(r, in_words(r, "a step before it failed")) : PONS_OK;
    return rc < 0 ? rc : move_plan(r, failed ? PONS_PLAN_FAILED : PONS_PLAN_COMPLETED);
}

int pons_plan_run_step(pons_plan *p, pons_plan_cursor *c, const pons_plan_ops *ops, pons_error *err)
{
    run r = {.plan = p, .cursor = c, .ops = ops, .err = err};
    if (ended(p)) {
        return PONS_OK;
    }
    int rc = begin(&r);
    if (rc < 0 || ended(p)) {
        return rc;
    }
    pons_plan_step *step = in_hand(p);
    if (step && pons_plan_failed_steps(p, NULL, 0) == 0) {
        rc = carry_out(&r, step);
        if (rc < 0) {
            return rc;
        }
    }
    if (pons_machine_final(&pons_plan_machine, p->status)) {
        return PONS_OK;
    }
    const bool over = pons_plan_failed_steps(p, NULL, 0) > 0 || !in_hand(p);
    return over ? finish(&r) : PONS_OK;
}

int pons_plan_carry_out(pons_plan *p, pons_plan_step *step, pons_plan_cursor *c,
                        const pons_plan_ops *ops, pons_error *err)
{
    run r = {.plan = p, .cursor = c, .ops = ops, .err = err};
    return carry_out(&r, step);
}

int pons_plan_cancel(pons_plan *p, const pons_plan_ops *ops, pons_error *err)
{
    pons_plan_cursor cursor = {0};
    run r = {.plan = p, .cursor = &cursor, .ops = ops, .err = err};
    if (!pons_machine_may(&pons_plan_machine, p->status, PONS_PLAN_CANCELLED)) {
        return pons_plan_move(p, PONS_PLAN_CANCELLED, err);
    }
    const int rc = skip_rest(&r, in_words(&r, "the plan was cancelled"));
    return rc < 0 ? rc : move_plan(&r, PONS_PLAN_CANCELLED);
}

// ---- the cursor ---------------------------------------------------------------------------------

pons_value *pons_plan_cursor_to_value(const pons_plan_cursor *c)
{
    return pons_object_whole("confirmed", json_boolean(c->confirmed), "fallback",
                             json_boolean(c->fallback), "failure", pons_string(c->failure), NULL);
}

void pons_plan_cursor_from_value(const pons_value *v, pons_plan_cursor *ret)
{
    *ret = (pons_plan_cursor){.confirmed = pons_get_bool(v, "confirmed", false),
                              .fallback = pons_get_bool(v, "fallback", false)};
    snprintf(ret->failure, sizeof ret->failure, "%s", pons_get_str(v, "failure", ""));
}

// ---- preconditions ------------------------------------------------------------------------------

typedef enum comparison { EQUAL, ABOVE, BELOW, AT_LEAST, AT_MOST, IN, NOT } comparison;
static const struct {
    const char *suffix, *says;
    comparison how;
} comparisons[] = {{"_above", "above", ABOVE},
                   {"_below", "below", BELOW},
                   {"_at_least", "at least", AT_LEAST},
                   {"_at_most", "at most", AT_MOST},
                   {"_in", "one of", IN},
                   {"_not", "other than", NOT}};

static const char *shown(const pons_value *v, char buf[SHOWN_MAX])
{
    char *text = NULL;
    snprintf(buf, SHOWN_MAX, "?");
    if (pons_value_dump(v, &text) >= 0) {
        snprintf(buf, SHOWN_MAX, "%s", text);
    }
    free(text);
    return buf;
}

// 1 and 1.0 are one number here.
static bool same(const pons_value *a, const pons_value *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        return json_is_integer(a) && json_is_integer(b)
                   ? json_integer_value(a) == json_integer_value(b)
                   : json_number_value(a) == json_number_value(b);
    }
    return json_equal(a, b);
}

static bool holds(comparison how, const pons_value *found, const pons_value *wanted)
{
    const double x = json_number_value(found), y = json_number_value(wanted);
    switch (how) {
    case EQUAL:
        return same(found, wanted);
    case NOT:
        return !same(found, wanted);
    case ABOVE:
        return x > y;
    case BELOW:
        return x < y;
    case AT_LEAST:
        return x >= y;
    case AT_MOST:
        return x <= y;
    case IN:
        for (size_t i = 0; i < json_array_size(wanted); i++) {
            if (same(found, json_array_get(wanted, i))) {
                return true;
            }
        }
        return false;
    }
    return false;
}

static int refused(pons_error *err, const char *name, const pons_value *found, const char *says,
                   const pons_value *wanted)
{
    char a[SHOWN_MAX], b[SHOWN_MAX];
    return pons_error_set(err, PONS_EREFUSED, "plan", "%s is %s, not %s%s%s", name, shown(found, a),
                          says, *says ? " " : "", shown(wanted, b));
}

int pons_plan_condition(const char *key, const pons_value *wanted,
                        int (*look)(void *user, const char *name, pons_value **ret,
                                    pons_error *err),
                        void *user, pons_error *err)
{
    pons_autovalue found = NULL;
    pons_error why = PONS_ERROR_INIT;
    int rc = look ? look(user, key, &found, &why) : PONS_ENOTFOUND;
    if (rc >= 0) { // known as it stands
        return holds(EQUAL, found, wanted) ? PONS_OK : refused(err, key, found, "", wanted);
    }
    for (size_t i = 0; rc == PONS_ENOTFOUND && i < sizeof comparisons / sizeof *comparisons; i++) {
        char name[NAME_BYTES_MAX];
        const size_t n = strlen(key), m = strlen(comparisons[i].suffix);
        if (n <= m || n - m >= sizeof name || strcmp(key + n - m, comparisons[i].suffix) != 0) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(n - m), key);
        rc = look ? look(user, name, &found, &why) : PONS_ENOTFOUND;
        if (rc == PONS_ENOTFOUND) {
            return pons_error_set(err, PONS_EREFUSED, "plan", "%s is not known", name);
        }
        if (rc < 0) {
            break;
        }
        const comparison how = comparisons[i].how;
        const bool numbers = how != IN && how != NOT;
        if (numbers && !json_is_number(wanted)) {
            return refused(err, name, found, "to be compared with", wanted);
        }
        if ((numbers && !json_is_number(found)) || !holds(how, found, wanted)) {
            return refused(err, name, found, comparisons[i].says, wanted);
        }
        return PONS_OK;
    }
    if (rc == PONS_ENOTFOUND) {
        return pons_error_set(err, PONS_EREFUSED, "plan", "%s is not known", key);
    }
    if (err) {
        *err = why;
    }
    return rc;
}

int pons_plan_look_in(void *user, const char *name, pons_value **ret, pons_error *err)
{
    const pons_value *v = json_object_get(user, name);
    const char *part = name;
    if (!v) {
        for (v = user; v && part;) {
            const char *dot = strchr(part, '.');
            v = json_object_getn(v, part, dot ? (size_t)(dot - part) : strlen(part));
            part = dot ? dot + 1 : NULL;
        }
    }
    if (!v) {
        return pons_error_set(err, PONS_ENOTFOUND, "plan", "%s is not known", name);
    }
    *ret = pons_value_ref(v);
    return PONS_OK;
}
