// plan_nodes.c - the seed's graph: six nodes, routed as it draws them; and the four that are no loops.
//
//   START -> agent -> END | plan_gate       approval   -> executor | agent
//   plan_gate -> approval | executor        replanner  -> executor (continue, revise) | summarizer
//   executor  -> replanner                  summarizer -> agent
//
// A node that is switched off is not in the graph, and its neighbours are joined: without approval
// the gate leads to the executor, without the replanner the executor goes on by itself, without the
// summarizer a finished plan leads to the agent. Without the planner there is only the agent.
//
// Whoever sends the run to the executor marks the step that it is for: a stored state always says
// which step runs.
#include "agent/config.h"
#include "agent/event_output.h"
#include "agent/graph/graphs.h"
#include "agent/graph/plan_state.h"
#include "agent/graph/plan_turn.h"
#include "agent/pending_calls.h"
#include "agent/prompts.h"
#include "agent/session.h"
#include "pons/agent.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

#define REPLAN_TRIES 2

// ---- small things -------------------------------------------------------------------------------

// Writes every member of an update; takes it.
static void put_all(pons_cx *cx, pons_value *update)
{
    pons_each_member(channel, v, update) {
        pons_cx_put(cx, channel, pons_value_ref(v));
    }
    pons_value_unref(update);
}

// ---- plan_gate ----------------------------------------------------------------------------------

static int plan_gate(pons_cx *cx, void *user, pons_error *err)
{
    pons_agent *a = user;
    const pons_value *data = pons_cx_get(cx, "plan_data");
    const bool asks = pons__cfg_bool(a->config, "nodes.approval.enabled");
    pons_plan *p = NULL;
    const int rc = pons__agent_plan_load(data, &p, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *pending = json_array();
    pons__agent_emit(
        a, cx, pending, "plan_created",
        pons_object("plan",
                    pons_object("plan_id", json_string(p->plan_id), "title", json_string(p->goal),
                                "steps", pons__agent_plan_shown(p), NULL),
                    NULL));
    pons_value *update = pons_object("past_steps", pons_object("__overwrite__", json_array(), NULL),
                                     "step_response", json_string(""), "replan_action", json_null(),
                                     "current_step_index", json_integer(0), NULL);
    if (asks) {
        pons__agent_emit(a, cx, pending, "phase",
                         pons_object("phase", json_string("approval"), NULL));
        pons__agent_emit(a, cx, pending, "plan_approval_request",
                         pons_object("plan_id", json_string(p->plan_id), "title",
                                     json_string(p->goal), "steps", pons__agent_plan_asked(p),
                                     NULL));
    } else {
        pons__agent_plan_go_on(a, cx, pending, data, p, NULL, NULL, update);
    }
    json_object_set_new(update, "pending_events", pending);
    put_all(cx, update);
    pons_plan_destroy(p);
    return PONS_OK;
}

// ---- approval -----------------------------------------------------------------------------------

// {steps?, title?} of a person in place of the model's. The plan keeps its id.
static int edit_plan(pons_plan *p, const pons_value *answer, pons_plan **ret, pons_error *err)
{
    const pons_value *edit = pons_get(answer, "args"); // `pons approve T edit JSON`
    int rc = pons__agent_plan_edit_check(answer, err);
    if (rc < 0) {
        return rc;
    }
    edit = edit ? edit : answer;
    const pons_value *steps = pons_get(edit, "steps");
    pons_plan fields = *p;
    fields.goal = pons_get_str(edit, "title", p->goal);
    fields.own = NULL;
    if (steps) {
        fields.steps = NULL;
        fields.n_steps = 0;
    }
    pons_plan *next = NULL;
    rc = pons_plan_create(&fields, &next, err);
    rc = rc < 0 || !steps ? rc : pons__agent_plan_parse_steps(steps, 1, "steps", next, err);
    if (rc < 0) {
        pons_plan_destroy(next);
        return rc;
    }
    *ret = next;
    return PONS_OK;
}

static bool take_edit(pons_plan **p, const pons_value *answer, char *reason, size_t n)
{
    pons_error bad = PONS_ERROR_INIT;
    pons_plan *next = NULL;
    if (edit_plan(*p, answer, &next, &bad) < 0) {
        snprintf(reason, n, "the edited plan is not one: %s", bad.message);
        return false;
    }
    pons_plan_destroy(*p);
    *p = next;
    return true;
}

static void reject(pons_agent *a, pons_cx *cx, pons_value *pending, const pons_value *data,
                   pons_plan *p, const char *reason, pons_value *update)
{
    pons__agent_plan_end(a, cx, pending, p);
    pons_autovalue why = json_sprintf("A person rejected this plan%s%s. It was not carried out.",
                                      *reason ? ": " : "", reason);
    json_object_set_new(
        update, "messages",
        pons__agent_plan_message(data, p, NULL, why ? json_string_value(why) : "It was rejected."));
    json_object_set_new(update, "plan_data", json_null());
    pons__given_over(a, p, update);
}

// The answer: {action: approve | edit | reject, reason?, title?, steps?}. An edit is an approval of
// what it says; one that is no plan is a rejection that says why.
static int approval(pons_cx *cx, void *user, pons_error *err)
{
    pons_agent *a = user;
    const pons_value *data = pons_cx_get(cx, "plan_data"), *answer = NULL;
    const double limit_s = json_number_value(pons__cfg(a->config, "nodes.approval.timeout_s"));
    pons_plan *p = NULL;
    int rc = pons__agent_plan_load(data, &p, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *question =
        pons_object("type", json_string("plan_approval"), "request_id", json_string(p->plan_id),
                    "plan_id", json_string(p->plan_id), "title", json_string(p->goal), "steps",
                    pons__agent_plan_asked(p), NULL);
    rc = pons_await(cx, "human", question, (int64_t)(limit_s * 1e3), &answer, err);
    if (rc < 0) {
        pons_plan_destroy(p);
        return rc;
    }
    const char *action = pons_get_str(answer, "action", "reject");
    char reason[PONS_ERROR_MESSAGE_MAX + 32];
    snprintf(reason, sizeof reason, "%s", pons_get_str(answer, "reason", ""));
    bool yes = strcmp(action, "approve") == 0, edited = strcmp(action, "edit") == 0;
    if (pons_get_bool(answer, "timeout", false)) {
        snprintf(reason, sizeof reason, "nobody answered in time");
    }
    if (edited) {
        edited = yes = take_edit(&p, answer, reason, sizeof reason);
    }
    pons_value *pending = json_array(), *update = json_object();
    pons__agent_emit(
        a, cx, pending, "plan_approval_resolved",
        pons_object("plan_id", json_string(p->plan_id), "approved", json_boolean(yes), NULL));
    if (yes) {
        pons_error ignored = PONS_ERROR_INIT;
        pons_plan_move(p, PONS_PLAN_APPROVED, &ignored);
        if (edited) {
            pons__agent_emit(a, cx, pending, "plan_revised",
                             pons_object("plan_id", json_string(p->plan_id), "revised_steps",
                                         pons__agent_plan_shown(p), "keep_completed",
                                         json_integer(0), "reason",
                                         json_string("edited by a person"), NULL));
        }
        pons__agent_plan_go_on(a, cx, pending, data, p, NULL, NULL, update);
    } else {
        reject(a, cx, pending, data, p, reason, update);
        if (pons_get_bool(answer, "stopped", false)) {
            json_object_set_new(update, "agent_outcome", json_string("stopped"));
        }
    }
    // What another process posted has been looked at (pons_agent_wake).
    if (!pons_cx_inbox(cx, err)) {
        rc = err->status;
    }
    json_object_set_new(update, "pending_events", pending);
    put_all(cx, update);
    pons_plan_destroy(p);
    return rc < 0 ? rc : PONS_OK;
}

// ---- replanner ----------------------------------------------------------------------------------

// What the replanner has to judge by.
static pons_value *situation(pons_cx *cx, const pons_plan *p, const char *complaint)
{
    const pons_value *past = pons_cx_get(cx, "past_steps");
    pons_autobuf text = PONS_BUF_INIT;
    size_t ran = 0;
    pons__agent_users_words(&text, pons_cx_get(cx, "messages"));
    pons_buf_printf(&text, "Plan: %s\n", p->goal);
    for (size_t i = 0; i < p->n_steps; i++) {
        char title[512];
        const pons_plan_step *s = &p->steps[i];
        pons__agent_step_title(s, title, sizeof title);
        pons_buf_printf(&text, "%lld. [%s] %s\n", (long long)s->step_id,
                        pons__agent_step_word(s->status), title);
        if (s->status == PONS_STEP_SUCCESS || s->status == PONS_STEP_FAILED) {
            const pons_value *one = json_array_get(past, ran++);
            pons_buf_printf(&text, "   %s\n", json_string_value(json_array_get(one, 1)));
        }
    }
    if (complaint) {
        pons_buf_printf(&text, "Your last answer was refused: %s. Answer with one JSON object.\n",
                        complaint);
    }
    return text.failed ? json_string("") : json_string(text.data);
}

// {action, reason, revised_steps?} of the model; continue when it has nothing valid to say.
static int decide(pons_agent *a, pons_cx *cx, const pons_plan *p, pons_value **ret, pons_error *err)
{
    char complaint[PONS_ERROR_MESSAGE_MAX] = "";
    for (int i = 0; i < REPLAN_TRIES; i++) {
        const pons_value *answer = NULL;
        char call_id[PONS_ID_MAX];
        pons_cx_id(cx, call_id);
        int rc = pons_await(cx, PONS__MODEL_CALL,
                            pons_object("node", json_string("replanner"), "ns",
                                        json_string(pons_cx_ns(cx)), "call_id",
                                        json_string(call_id), "situation",
                                        situation(cx, p, *complaint ? complaint : NULL), NULL),
                            0, &answer, err);
        if (rc < 0) {
            return rc;
        }
        if (pons_get(answer, "shown")) {
            pons__agent_emit(a, cx, NULL, "llm_end", pons_value_ref(pons_get(answer, "shown")));
        }
        const char *content = pons_get_str(pons_get(answer, "reply"), "content", NULL);
        pons_error bad = PONS_ERROR_INIT;
        pons_value *decision = NULL;
        if (!content) {
            break; // no model to ask
        }
        if (pons_reply_object(content, strlen(content), "action", &decision, &bad) < 0) {
            snprintf(complaint, sizeof complaint, "%s", bad.message);
            continue;
        }
        const char *action = pons_get_str(decision, "action", "");
        const bool revises = strcmp(action, "revise") == 0;
        pons_plan *probe = NULL;
        rc = revises ? pons_plan_create(&(pons_plan){.plan_id = "p", .goal = "g"}, &probe, &bad)
                     : PONS_OK;
        rc = rc < 0 || !revises ? rc
                                : pons__agent_plan_parse_steps(pons_get(decision, "revised_steps"),
                                                               1, "revised_steps", probe, &bad);
        pons_plan_destroy(probe);
        if (rc >= 0 && !revises && strcmp(action, "continue") != 0 &&
            strcmp(action, "finish") != 0) {
            rc = pons_error_set(&bad, PONS_EINVAL, PONS__AGENT,
                                "action: expected continue, revise or finish");
        }
        if (rc >= 0) {
            *ret = decision;
            return PONS_OK;
        }
        snprintf(complaint, sizeof complaint, "%s", bad.message);
        pons_value_unref(decision);
    }
    *ret = pons_object("action", json_string("continue"), "reason",
                       json_string("the replanner gave no valid answer"), NULL);
    return PONS_OK;
}

// What has run stays; what had not is replaced.
static int revise(pons_agent *a, pons_cx *cx, pons_value *pending, pons_plan **p,
                  const pons_value *steps, const char *reason, pons_error *err)
{
    pons_plan fields = **p;
    pons_plan_step *kept = calloc(fields.n_steps + 1, sizeof *kept);
    pons_plan *next = NULL;
    size_t n = 0;
    if (!kept) {
        return pons_error_set(err, PONS_ENOMEM, PONS__AGENT, "no memory to revise a plan");
    }
    for (size_t i = 0; i < fields.n_steps; i++) {
        if (fields.steps[i].status != PONS_STEP_PENDING) {
            kept[n++] = fields.steps[i];
        }
    }
    const int64_t first_id = pons_plan_next_step_id(*p);
    fields.steps = kept;
    fields.n_steps = n;
    fields.own = NULL;
    int rc = pons_plan_create(&fields, &next, err);
    free(kept);
    rc = rc < 0 ? rc : pons__agent_plan_parse_steps(steps, first_id, "revised_steps", next, err);
    if (rc < 0) {
        pons_plan_destroy(next);
        return rc;
    }
    pons_value *shown = pons__agent_plan_shown(next), *revised = json_array();
    for (size_t i = n; i < json_array_size(shown); i++) {
        json_array_append(revised, json_array_get(shown, i));
    }
    pons_value_unref(shown);
    pons__agent_emit(a, cx, pending, "plan_revised",
                     pons_object("plan_id", json_string(next->plan_id), "revised_steps", revised,
                                 "keep_completed", json_integer((json_int_t)n), "reason",
                                 json_string(reason), NULL));
    pons_plan_destroy(*p);
    *p = next;
    return PONS_OK;
}

// Why the plan ends here; NULL: it goes on.
static const char *end_reason(pons_cx *cx, bool stopped, bool failed, bool finished,
                              const char *reason)
{
    if (stopped) {
        return "the user stopped it";
    }
    if (failed) {
        return json_string_value(pons_cx_get(cx, "step_response"));
    }
    if (finished) {
        return *reason ? reason : "it is done";
    }
    return NULL;
}

// The model is not asked when there is nothing to ask: nothing or only one step is left, the limit
// is reached, or the step succeeded and the configuration trusts that.
static int replanner(pons_cx *cx, void *user, pons_error *err)
{
    pons_agent *a = user;
    const pons_value *data = pons_cx_get(cx, "plan_data"), *past = pons_cx_get(cx, "past_steps");
    pons_autovalue decision = NULL;
    pons_plan *p = NULL;
    int rc = pons__agent_plan_load(data, &p, err);
    if (rc < 0) {
        return rc;
    }
    const size_t left = pons_plan_pending_steps(p, NULL, 0);
    const int64_t at = json_integer_value(pons_cx_get(cx, "current_step_index"));
    const bool ok = p->steps[at].status == PONS_STEP_SUCCESS;
    const char *outcome = json_string_value(pons_cx_get(cx, "agent_outcome"));
    const bool stopped = outcome && strcmp(outcome, "stopped") == 0;
    const bool refused = p->status == PONS_PLAN_CANCELLED; // by a person, in the step
    const bool given = pons__given(a);
    const bool full =
        pons__agent_plan_executed(p) >= pons__cfg_int(a->config, "nodes.executor.max_steps");
    const bool spent = json_integer_value(pons_cx_get(cx, "turn_calls")) >=
                       pons__cfg_int(a->config, "settings.model_calls");
    if (!given && !stopped && !refused && !full && !spent && !(left == 0 && ok) && left != 1 &&
        !(ok && pons__cfg_bool(a->config, "nodes.replanner.skip_on_success"))) {
        rc = decide(a, cx, p, &decision, err);
    }
    const char *action = pons_get_str(decision, "action", "continue");
    const char *reason = pons_get_str(decision, "reason", "");
    pons_value *pending = json_array(), *update = json_object();
    if (rc >= 0 && strcmp(action, "revise") == 0) {
        rc = revise(a, cx, pending, &p, pons_get(decision, "revised_steps"), reason, err);
    }
    if (rc >= 0) {
        const char *why = end_reason(cx, stopped, refused || (given && !ok),
                                     strcmp(action, "finish") == 0, reason);
        pons__agent_plan_go_on(a, cx, pending, data, p, past, why, update);
        if (strcmp(action, "revise") == 0 &&
            strcmp(pons_get_str(update, "replan_action", ""), "continue") == 0) {
            json_object_set_new(update, "replan_action", json_string("revise"));
        }
        json_object_set_new(update, "pending_events", pending);
        put_all(cx, update);
    } else {
        pons_value_unref(pending);
        pons_value_unref(update);
    }
    pons_plan_destroy(p);
    return rc;
}

// ---- summarizer ---------------------------------------------------------------------------------

static int summarizer(pons_cx *cx, void *user, pons_error *err)
{
    pons_agent *a = user;
    const pons_value *data = pons_cx_get(cx, "plan_data");
    pons_plan *p = NULL;
    const int rc = pons__agent_plan_load(data, &p, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *pending = json_array(), *update = json_object();
    pons__agent_plan_close(a, cx, pending, data, p, pons_cx_get(cx, "past_steps"),
                           pons_get_str(data, "ended_why", ""), update);
    json_object_set_new(update, "replan_action", json_null());
    json_object_set_new(update, "pending_events", pending);
    put_all(cx, update);
    pons_plan_destroy(p);
    return PONS_OK;
}

// ---- graph --------------------------------------------------------------------------------------

static int after_agent(pons_cx *cx, void *user, pons_error *err)
{
    const char *outcome = json_string_value(pons_cx_get(cx, "agent_outcome"));
    pons_cx_goto(cx, outcome && strcmp(outcome, "plan_create") == 0 ? "plan_gate" : PONS_END);
    return PONS_OK;
}

static int after_approval(pons_cx *cx, void *user, pons_error *err)
{
    pons_cx_goto(cx, json_is_object(pons_cx_get(cx, "plan_data")) ? "executor" : "agent");
    return PONS_OK;
}

static int after_step(pons_cx *cx, void *user, pons_error *err)
{
    const char *action = json_string_value(pons_cx_get(cx, "replan_action"));
    pons_cx_goto(cx, action && strcmp(action, "finish") == 0 ? user : "executor");
    return PONS_OK;
}

int pons__agent_graph(pons_agent *a, const pons_agent_config *c, pons_graph *loops[2],
                      pons_graph **ret, pons_error *err)
{
    static const char *const events[] = {"pending_events", "past_steps"};
    static const char *const plain[] = {
        "agent_outcome", "agent_iterations", "plan_data",  "current_step_index",
        "step_response", "replan_action",    "session_id", "system_prompt",
        "turn_calls",    "compact",          PONS__GIVEN};
    const bool plans = pons__cfg_bool(c, "nodes.planner.enabled"),
               asks = pons__cfg_bool(c, "nodes.approval.enabled"),
               replans = pons__cfg_bool(c, "nodes.replanner.enabled"),
               sums = pons__cfg_bool(c, "nodes.summarizer.enabled");
    const pons_channel_options last = PONS_CHANNEL_OPTIONS_INIT;
    const pons_channel_options messages = {.kind = PONS_CHANNEL_MESSAGES};
    const pons_channel_options append = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append};
    pons_graph_builder *g = pons_graph_builder_create("agent");
    pons_graph_channel(g, "messages", &messages);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        pons_graph_channel(g, plain[i], &last);
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        pons_graph_channel(g, events[i], &append);
    }
    const char *const ended = sums ? "summarizer" : "agent";
    const char *const from_agent[] = {plans ? "plan_gate" : PONS_END, plans ? PONS_END : NULL,
                                      NULL};
    const char *const from_approval[] = {"executor", "agent", NULL};
    const char *const from_step[] = {"executor", ended, NULL};
    pons_graph_subgraph(g, "agent", loops[0], PONS_SUBGRAPH_INHERIT);
    pons_graph_edge(g, PONS_START, "agent");
    pons_graph_router(g, "agent", after_agent, a, from_agent);
    if (plans) {
        pons_graph_node(g, "plan_gate", plan_gate, a);
        pons_graph_edge(g, "plan_gate", asks ? "approval" : "executor");
        pons_graph_subgraph(g, "executor", loops[1], PONS_SUBGRAPH_INHERIT);
    }
    if (plans && asks) {
        pons_graph_node(g, "approval", approval, a);
        pons_graph_router(g, "approval", after_approval, a, from_approval);
    }
    if (plans && replans) {
        pons_graph_node(g, "replanner", replanner, a);
        pons_graph_edge(g, "executor", "replanner");
        pons_graph_router(g, "replanner", after_step, (void *)(uintptr_t)ended, from_step);
    } else if (plans) {
        pons_graph_router(g, "executor", after_step, (void *)(uintptr_t)ended, from_step);
    }
    if (plans && sums) {
        pons_graph_node(g, "summarizer", summarizer, a);
        pons_graph_edge(g, "summarizer", "agent");
    }
    const pons_graph_options opts = {.recursion_limit =
                                         (int)pons__cfg_int(c, "settings.recursion_limit")};
    const int rc = pons_graph_compile(g, &opts, ret, err);
    pons_graph_builder_destroy(g);
    return rc;
}

int pons_agent_graph(const pons_agent_config *c, pons_graph **ret, pons_error *err)
{
    pons_agent_config *own = NULL;
    pons__role roles[2] = {{NULL, false}, {NULL, true}};
    pons_graph *loops[2] = {NULL, NULL};
    int rc = c ? PONS_OK : pons_agent_config_load(NULL, &own, err);
    for (int i = 0; i < 2 && rc >= 0; i++) {
        rc = pons__loop_graph(&roles[i], &loops[i], err);
    }
    rc = rc < 0 ? rc : pons__agent_graph(NULL, c ? c : own, loops, ret, err);
    pons_graph_destroy(loops[0]); // the outer graph keeps its own reference
    pons_graph_destroy(loops[1]);
    pons_agent_config_destroy(own);
    return rc;
}
