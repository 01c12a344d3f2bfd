// plan_state.c - plan_data: a plan of the protocol (pons/plan.h), and where it stands.
//
// plan_data is {plan, call_id, message_id}: the plan as canonical JSON, the tool call of
// plan_create that made it, and the tool message that stands for it in the conversation. That
// message is written when the plan is made and replaced in place after each step, so the
// conversation stays one that every model server takes (a call is followed by its result), and all
// that the main list has of a step is its summary.
//
// Statuses move along the protocol's table only. In events a step that is `success` is "completed".
#include "agent/graph/plan_state.h"

#include "agent/config.h"
#include "agent/event_output.h"
#include "agent/graph/plan_turn.h"
#include "agent/session.h"
#include "agent/tool_registry.h"
#include "pons/agent.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

#define TITLE_MAX   400  // bytes of a step's title
#define SUMMARY_MAX 1500 // characters of a step's response in the plan's message

// ---- making -------------------------------------------------------------------------------------

int pons__agent_plan_make(const pons_value *args, const char *plan_id, double now_s,
                          pons_plan **ret, pons_error *err)
{
    const char *title = pons_get_str(args, "title", NULL);
    if (!title || title[strspn(title, " \t\r\n")] == '\0') {
        return pons_error_set(err, PONS_EINVAL, "plan", "title: must not be empty");
    }
    const int risk = pons_risk_level_find(pons_get_str(args, "risk_level", "low"));
    const pons_plan fields = {.plan_id = plan_id,
                              .goal = title,
                              .reasoning = pons_get_str(args, "reasoning", ""),
                              .risk_level = risk < 0 ? PONS_RISK_LOW : (pons_risk_level)risk,
                              .created_at = now_s,
                              .source = "llm"};
    pons_plan *p = NULL;
    int rc = pons_plan_create(&fields, &p, err);
    rc = rc < 0 ? rc : pons__agent_plan_parse_steps(pons_get(args, "steps"), 1, "steps", p, err);
    if (rc < 0) {
        pons_plan_destroy(p);
        return rc;
    }
    *ret = p;
    return PONS_OK;
}

// A step is a text, or an object of the protocol; title stands in for the action of one that has
// none, and is kept as its name.
static int parse_step(const pons_value *v, int64_t id, const char *where, pons_plan *into,
                      pons_error *err)
{
    static const char *const fields[] = {
        "tool_call_type",        "parameters", "preconditions",       "fallback", "description",
        "requires_confirmation", "metadata",   "confirmation_message"};
    static const char *const actions[] = {"action", "title", "description", "step", "task"};
    const char *action = json_string_value(v);
    for (size_t i = 0; json_is_object(v) && !action && i < sizeof actions / sizeof *actions; i++) {
        action = pons_get_str(v, actions[i], NULL);
    }
    if (!action) {
        return pons_error_set(err, PONS_EINVAL, "plan",
                              "%s: expected a text, or an object with an action or a title", where);
    }
    pons_autovalue step =
        pons_object("step_id", json_integer(id), "action", json_string(action), NULL);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const pons_value *field = pons_get(v, fields[i]);
        if (field && !json_is_null(field)) {
            json_object_set_new(step, fields[i], pons_value_ref(field));
        }
    }
    const char *title = pons_get_str(v, "title", NULL);
    if (title) {
        json_object_set_new(
            step, "metadata",
            pons__agent_put_in(pons_get(step, "metadata"), "title", json_string(title)));
    }
    pons_plan_step *made = NULL;
    int rc = pons_plan_step_from_value(step, &made, err);
    if (rc < 0) {
        return pons_error_context(err, "%s", where);
    }
    rc = pons_plan_add_step(into, made, err); // pending: a status was not taken over
    pons_plan_step_destroy(made);
    return rc;
}

int pons__agent_plan_parse_steps(const pons_value *steps, int64_t first_id, const char *where,
                                 pons_plan *into, pons_error *err)
{
    const size_t n = json_array_size(steps);
    if (!json_is_array(steps) || n == 0) {
        return pons_error_set(err, PONS_EINVAL, "plan", "%s: expected a list of at least one step",
                              where);
    }
    if (n > PONS__PLAN_STEPS_MAX) {
        return pons_error_set(err, PONS_EINVAL, "plan", "%s: %zu are too many, %d at most", where,
                              n, PONS__PLAN_STEPS_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        char at[64];
        snprintf(at, sizeof at, "%s[%zu]", where, i);
        const int rc = parse_step(json_array_get(steps, i), first_id + (int64_t)i, at, into, err);
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

// What a person means by an edit must be beyond doubt: a key that nobody reads (a slip of the pen)
// would let the model's own steps run as if they had been agreed to.
int pons__agent_plan_edit_check(const pons_value *answer, pons_error *err)
{
    static const char *const known[] = {"steps", "title", "action", "reason", "id", NULL};
    const pons_value *args = pons_get(answer, "args"), *edit = args ? args : answer;
    const pons_value *steps = pons_get(edit, "steps"), *title = pons_get(edit, "title");
    if (!json_is_object(edit)) {
        return pons_error_set(err, PONS_EINVAL, "plan", "an edit is {steps: […], title?}");
    }
    pons_each_member(key, ignored_value, edit) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0) {
            i++;
        }
        if (!known[i] || (args && i >= 2)) {
            return pons_error_set(err, PONS_EINVAL, "plan",
                                  "%s: not a key of an edit; there are steps and title", key);
        }
    }
    if (!steps && !title) {
        return pons_error_set(err, PONS_EINVAL, "plan", "an edit has steps, a title, or both");
    }
    pons_autovalue whole =
        pons_object("title", title ? pons_value_ref(title) : json_string("as before"), "steps",
                    steps ? pons_value_ref(steps) : json_pack("[s]", "as before"), NULL);
    pons_plan *p = NULL;
    const int rc = pons__agent_plan_make(whole, "edit", 0.0, &p, err);
    pons_plan_destroy(p);
    return rc;
}

// ---- in and out of the state --------------------------------------------------------------------

int pons__agent_plan_load(const pons_value *plan_data, pons_plan **ret, pons_error *err)
{
    const pons_value *plan = pons_get(plan_data, "plan");
    if (!plan) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__AGENT, "there is no plan");
    }
    return pons_plan_from_value(plan, 0.0, ret, err);
}

pons_value *pons__agent_plan_store(const pons_value *plan_data, const pons_plan *p)
{
    pons_value *plan = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (pons_plan_to_value(p, &plan, &ignored) < 0) {
        return NULL;
    }
    return pons__agent_put_in(plan_data, "plan", plan);
}

pons_value *pons__agent_plan_shown(const pons_plan *p)
{
    pons_value *list = json_array();
    for (size_t i = 0; i < p->n_steps; i++) {
        char title[TITLE_MAX];
        pons__agent_step_title(&p->steps[i], title, sizeof title);
        json_array_append_new(
            list,
            pons_object("id", json_integer(p->steps[i].step_id), "title", json_string(title),
                        "status", json_string(pons__agent_step_word(p->steps[i].status)), NULL));
    }
    return list;
}

pons_value *pons__agent_plan_asked(const pons_plan *p)
{
    static const char *const does[] = {"action",   "tool_call_type",        "parameters",
                                       "fallback", "requires_confirmation", "description"};
    pons_value *list = pons__agent_plan_shown(p);
    pons_each(shown, list) {
        pons_autovalue step = NULL;
        pons_error ignored = PONS_ERROR_INIT;
        if (pons_plan_step_to_value(&p->steps[shown_at], &step, &ignored) < 0) {
            continue; // it was read from that a moment ago
        }
        for (size_t k = 0; k < sizeof does / sizeof does[0]; k++) {
            const pons_value *v = pons_get(step, does[k]);
            const char *text = json_string_value(v);
            const bool nothing = !v || json_is_null(v) || json_is_false(v) ||
                                 (json_is_object(v) && json_object_size(v) == 0) ||
                                 (text && (!*text || strcmp(text, "execute") == 0 ||
                                           strcmp(text, pons_get_str(shown, "title", "")) == 0));
            if (!nothing) {
                json_object_set_new(shown, does[k], pons_value_ref(v));
            }
        }
    }
    return list;
}

void pons__agent_step_title(const pons_plan_step *s, char *buf, size_t cap)
{
    pons_value *metadata = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    const char *title = NULL;
    if (s->metadata && strstr(s->metadata, "\"title\"") &&
        pons_plan_object(s->metadata, &metadata, &ignored) >= 0) {
        title = pons_get_str(metadata, "title", NULL);
    }
    title = title ? title : s->description && *s->description ? s->description : s->action;
    pons_utf8_copy(buf, cap, title);
    pons_value_unref(metadata);
}

const char *pons__agent_step_word(pons_step_status s)
{
    return s == PONS_STEP_SUCCESS ? "completed" : pons_step_status_word((int)s);
}

int64_t pons__agent_plan_executed(const pons_plan *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        n += p->steps[i].status == PONS_STEP_SUCCESS || p->steps[i].status == PONS_STEP_FAILED;
    }
    return n;
}

// ---- going on and ending ------------------------------------------------------------------------

static void say_step(pons_agent *a, pons_cx *cx, pons_value *pending, const pons_plan *p,
                     const pons_plan_step *s)
{
    pons__agent_emit(a, cx, pending, "plan_updated",
                     pons_object("plan_id", json_string(p->plan_id), "step_id",
                                 json_integer(s->step_id), "status",
                                 json_string(pons__agent_step_word(s->status)), NULL));
}

bool pons__agent_plan_begin_next(pons_agent *a, pons_cx *cx, pons_value *pending, pons_plan *p,
                                 long *ret_index)
{
    pons_error ignored = PONS_ERROR_INIT;
    for (size_t i = 0; i < p->n_steps; i++) {
        if (p->steps[i].status == PONS_STEP_PENDING) {
            if (p->status != PONS_PLAN_EXECUTING) {
                pons_plan_move(p, PONS_PLAN_EXECUTING, &ignored);
            }
            pons_plan_step_move(&p->steps[i], PONS_STEP_RUNNING, &ignored);
            say_step(a, cx, pending, p, &p->steps[i]);
            *ret_index = (long)i;
            return true;
        }
    }
    return false;
}

void pons__agent_plan_end(pons_agent *a, pons_cx *cx, pons_value *pending, pons_plan *p)
{
    pons_error ignored = PONS_ERROR_INIT;
    bool skipped = false, failed = false;
    for (size_t i = 0; i < p->n_steps; i++) {
        pons_plan_step *s = &p->steps[i];
        if (s->status == PONS_STEP_PENDING) {
            pons_plan_step_move(s, PONS_STEP_SKIPPED, &ignored);
            say_step(a, cx, pending, p, s);
        }
        skipped = skipped || s->status == PONS_STEP_SKIPPED;
        failed = failed || s->status == PONS_STEP_FAILED;
    }
    if (p->status == PONS_PLAN_EXECUTING) { // one with a failed step is never completed
        pons_plan_move(p, !failed && !skipped ? PONS_PLAN_COMPLETED : PONS_PLAN_FAILED, &ignored);
    } else if (p->status == PONS_PLAN_CREATED || p->status == PONS_PLAN_APPROVED) {
        pons_plan_move(p, PONS_PLAN_CANCELLED, &ignored);
    }
}

pons_value *pons__agent_plan_message(const pons_value *plan_data, const pons_plan *p,
                                     const pons_value *past_steps, const char *last_line)
{
    pons_autobuf text = PONS_BUF_INIT;
    pons_buf_printf(&text, "Plan \"%s\": %s.\n", p->goal, pons_plan_status_word((int)p->status));
    size_t ran = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        char title[TITLE_MAX];
        const pons_plan_step *s = &p->steps[i];
        pons__agent_step_title(s, title, sizeof title);
        pons_buf_printf(&text, "%lld. [%s] %s\n", (long long)s->step_id,
                        pons__agent_step_word(s->status), title);
        if (s->status == PONS_STEP_SUCCESS || s->status == PONS_STEP_FAILED) {
            const pons_value *past = json_array_get(past_steps, ran++);
            pons_autovalue said =
                pons__agent_cut(json_string_value(json_array_get(past, 1)), SUMMARY_MAX);
            pons_buf_printf(&text, "   %s\n", json_string_value(said));
        }
    }
    if (last_line) {
        pons_buf_str(&text, last_line);
    }
    if (text.failed) {
        return NULL;
    }
    return pons_object("id", json_string(pons_get_str(plan_data, "message_id", "plan")), "role",
                       json_string("tool"), "tool_call_id",
                       json_string(pons_get_str(plan_data, "call_id", "")), "name",
                       json_string(PONS__PLAN_CREATE), "content", json_string(text.data), NULL);
}

// ---- small things -------------------------------------------------------------------------------

// What ends a plan: the conversation gets its outcome, the state forgets it.
void pons__agent_plan_close(pons_agent *a, pons_cx *cx, pons_value *pending, const pons_value *data,
                            const pons_plan *p, const pons_value *past, const char *why,
                            pons_value *update)
{
    pons_autobuf last = PONS_BUF_INIT;
    if (why && *why) {
        pons_buf_printf(&last, "It ended because: %s\n", why);
    }
    pons_buf_str(&last, "Now tell the user what came of it, in the light of these results.");
    json_object_set_new(update, "messages",
                        pons__agent_plan_message(data, p, past, last.failed ? NULL : last.data));
    json_object_set_new(update, "plan_data", json_null());
    pons__given_over(a, p, update);
    pons__agent_emit(a, cx, pending, "phase",
                     pons_object("phase", json_string("responding"), NULL));
}

void pons__agent_plan_go_on(pons_agent *a, pons_cx *cx, pons_value *pending,
                            const pons_value *plan_data, pons_plan *p, const pons_value *past_steps,
                            const char *finish_why, pons_value *update)
{
    long index = 0;
    char why[128] = "";
    const bool first = pons__agent_plan_executed(p) == 0;
    const int64_t steps_max = pons__cfg_int(a->config, "nodes.executor.max_steps");
    if (!finish_why && !pons__given(a) && pons__agent_plan_executed(p) >= steps_max &&
        pons_plan_pending_steps(p, NULL, 0) > 0) {
        snprintf(why, sizeof why, "%lld steps have run, which is the limit (executor.max_steps)",
                 (long long)steps_max);
        finish_why = why;
    }
    if (!finish_why && pons__agent_plan_begin_next(a, cx, pending, p, &index)) {
        json_object_set_new(update, "current_step_index", json_integer(index));
        json_object_set_new(update, "replan_action", json_string("continue"));
        json_object_set_new(update, "messages",
                            pons__agent_plan_message(plan_data, p, past_steps, NULL));
        json_object_set_new(update, "plan_data", pons__agent_plan_store(plan_data, p));
        if (first) {
            pons__agent_emit(a, cx, pending, "phase",
                             pons_object("phase", json_string("executing"), NULL));
        }
        return;
    }
    pons__agent_plan_end(a, cx, pending, p);
    json_object_set_new(update, "replan_action", json_string("finish"));
    if (!pons__cfg_bool(a->config, "nodes.summarizer.enabled")) {
        pons__agent_plan_close(a, cx, pending, plan_data, p, past_steps, finish_why, update);
        return;
    }
    pons_autovalue data =
        pons__agent_put_in(plan_data, "ended_why", json_string(finish_why ? finish_why : ""));
    json_object_set_new(update, "plan_data", pons__agent_plan_store(data, p));
    pons__agent_emit(a, cx, pending, "phase",
                     pons_object("phase", json_string("summarizing"), NULL));
}
