// react.c - the inner loop: nodes R1 to R8, one run an activation.
//
//   START
//     v
//   build_observation <--------------------------+        R1  the state as an observation
//     v                                          |
//   react_decide  --detached--> react_stop_or_loop        R2  a model or the rules decide
//     v                                          ^
//   compile_ops_from_decision                    |        R3  the decision as operations
//     v                                          |
//   guardrails_and_resource_check --refused------+        R4  the critic; effects are intended
//     |         ^ edited                         |
//     | asks    |                                |
//     +--> human_approval_interrupt --rejected---+        R5  a person answers
//     v         v approved                       |
//   dispatch_skills                              |        R6  the one node that sends
//     v                                          |
//   observe_execution_result                     |        R7  news of running skills
//     v                                          |
//   react_stop_or_loop --more--------------------+        R8
//     v
//   END
//
// R2 awaits a model (or asks the rules, which answer at once), R5 awaits a person, R6 awaits the
// body's word on each goal, R7 awaits news of running skills. Everything else is a function of the
// state. Only R6 sends anything that moves, through the effect ledger:
//
//   R4 intends (in its own commit) → R6 re-arbitrates, commits DISPATCHED synced, sends, settles
//   what the body said → R7 settles what became of it.
//
// A kernel's preempt arrives in the inbox; the loop detaches whatever R2, R6 or R7 waited for, R1
// reads the message, and R2's decision is then the kernel's: let go of everything, and stop the
// base if asked.
#include "brain/brain_internal.h"

#include <math.h>
#include <string.h>

#define CANCEL_WAIT_MS 10000 // host time for a body to confirm a cancel
#define REST_MS        500   // host time between two tries that were refused at once
#define MESSAGES_KEPT  40    // older ones are removed from the channel in halves
#define ERROR_STOPPED  9902  // docs/link.md: a protective stop latched
#define PACE_BURST     20    // decisions of a model without a rest
#define PACE_MS        1000  // host time that each one takes from then on
#define STEPS_LEFT_MIN 16    // a run with fewer supersteps left hands over to a fresh one

static int build_observation(pons_cx *cx, void *user, pons_error *err);
static int react_decide(pons_cx *cx, void *user, pons_error *err);
static int compile_ops_from_decision(pons_cx *cx, void *user, pons_error *err);
static int guardrails_and_resource_check(pons_cx *cx, void *user, pons_error *err);
static int dispatch_skills(pons_cx *cx, void *user, pons_error *err);
static int observe_execution_result(pons_cx *cx, void *user, pons_error *err);
static int react_stop_or_loop(pons_cx *cx, void *user, pons_error *err);
static int after_decide(pons_cx *cx, void *user, pons_error *err);
static int after_guard(pons_cx *cx, void *user, pons_error *err);
static int after_loop(pons_cx *cx, void *user, pons_error *err);

static pons_value *take_inbox(pons_cx *cx, pons_value *react, pons_value **skills, pons_error *err);
static pons_value *activated(const pons_value *message);
static void say_message(pons_cx *cx, const char *role, const pons_value *content);
static pons_value *keep_met_goals(pons_value *react, const pons_value *observed_task);
static pons_value *kernel_decision(const pons_value *react, const pons_value *skills);
static int model_decision(pons_brain *b, pons_cx *cx, const pons_value *react, pons_value **ret,
                          pons_value **ret_fallback, pons_error *err);
static int rules_decision(pons_brain *b, const pons_value *react, pons_value **ret,
                          pons_error *err);
static pons_value *spare_task(const pons_value *observation, pons_value *decision);
static int keep_pace(pons_cx *cx, pons_value **react, bool *ret_detached, pons_error *err);
static void propose_plan(pons_brain *b, pons_cx *cx, pons_value **react, const pons_value *patch);
static pons_value *patched(const pons_value *goals, const pons_value *patch);
static pons_value *replaced_goals(const pons_value *skills, const pons_value *from,
                                  const pons_value *to);
static pons_value *moved_goal(const pons_value *entry, const pons_value *from,
                              const pons_value *to);
static bool same_goal(const pons_value *a, const pons_value *b);
static bool releases_all(const char *type);
static pons_value *judged_edit(pons_brain *b, pons_cx *cx, const pons_value *react,
                               const pons_value *skills);
static pons_value *finish_refusal(pons_brain *b, const pons_value *react, const pons_value *skills);
static int intend_all(pons_brain *b, pons_cx *cx, const pons_value *react, const pons_value *ops,
                      pons_value **ret, pons_error *err);
static int cancel_all(pons_brain *b, pons_cx *cx, pons_value **skills, pons_value **react,
                      bool *ret_clear, pons_error *err);
static int dispatch_one(pons_brain *b, pons_cx *cx, const pons_value *item, pons_value **skills,
                        pons_value **react, pons_error *err);
static pons_value *dispatch_details(pons_brain *b);
static int rearbitrate(void *user, const pons_value *args, pons_value **ret, pons_error *err);
static int send_goal(void *user, const pons_effect *e, pons_error *err);
static int settle(pons_cx *cx, const char *id, pons_effect_state to, pons_value *result,
                  pons_error *err);
static int settle_result(pons_brain *b, pons_cx *cx, const pons_value *result, pons_value **skills,
                         pons_value **react, pons_error *err);
static bool note_stop(pons_brain *b, pons_cx *cx, const pons_value *react,
                      const pons_value *result);
static pons_value *count_failure(pons_value *react, const char *skill, bool done, bool counts);
static pons_value *mark_goal(pons_value *react, const pons_value *entry);
static void effect_event(pons_brain *b, pons_cx *cx, const char *id, const char *skill,
                         const pons_value *args, const char *state, const pons_value *why);
static const char *recovery_for(pons_brain *b, const char *skill, const char *status, int64_t code);
static const char *plan_status(const pons_value *state);
static void set(pons_value **obj, const char *key, pons_value *value);
static pons_value *without(const pons_value *list, const char *goal_id);

// ---- graph --------------------------------------------------------------------------------------

int pons__react_graph(pons_brain *b, pons_graph **ret, pons_error *err)
{
    static const struct {
        const char *name;
        pons_node_fn fn;
    } nodes[] = {
        {"build_observation", build_observation},
        {"react_decide", react_decide},
        {"compile_ops_from_decision", compile_ops_from_decision},
        {"guardrails_and_resource_check", guardrails_and_resource_check},
        {"human_approval_interrupt", pons__human_approval_interrupt},
        {"dispatch_skills", dispatch_skills},
        {"observe_execution_result", observe_execution_result},
        {"react_stop_or_loop", react_stop_or_loop},
    };
    pons_graph_builder *g = pons_graph_builder_create("react");
    const pons_channel_options last = PONS_CHANNEL_OPTIONS_INIT;
    const pons_channel_options messages = {.kind = PONS_CHANNEL_MESSAGES};
    const pons_channel_options trace = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons__trace_reduce};
    pons_graph_channel(g, "messages", &messages);
    pons_graph_channel(g, "skills", &last);
    pons_graph_channel(g, "react", &last);
    pons_graph_channel(g, "trace", &trace);
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        pons_graph_node(g, nodes[i].name, nodes[i].fn, b);
    }
    static const char *const decide[] = {"build_observation", "compile_ops_from_decision", NULL};
    static const char *const guard[] = {"human_approval_interrupt", "dispatch_skills", NULL};
    static const char *const approval[] = {"guardrails_and_resource_check", "react_stop_or_loop",
                                           NULL};
    static const char *const loop[] = {"build_observation", PONS_END, NULL};
    pons_graph_edge(g, PONS_START, "build_observation");
    pons_graph_edge(g, "build_observation", "react_decide");
    pons_graph_router(g, "react_decide", after_decide, b, decide);
    pons_graph_edge(g, "compile_ops_from_decision", "guardrails_and_resource_check");
    pons_graph_router(g, "guardrails_and_resource_check", after_guard, b, guard);
    pons_graph_router(g, "human_approval_interrupt", pons__after_approval, b, approval);
    pons_graph_edge(g, "dispatch_skills", "observe_execution_result");
    pons_graph_edge(g, "observe_execution_result", "react_stop_or_loop");
    pons_graph_router(g, "react_stop_or_loop", after_loop, b, loop);
    const pons_graph_options opts = {.recursion_limit = b ? b->rules.recursion_limit : 400};
    const int rc = pons_graph_compile(g, &opts, ret, err);
    pons_graph_builder_destroy(g);
    return rc;
}

// ---- R1 build_observation -----------------------------------------------------------------------

static int build_observation(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    pons_value *skills = pons_value_ref(pons_cx_get(cx, "skills"));
    pons_value *react = take_inbox(cx, pons_value_ref(pons_cx_get(cx, "react")), &skills, err);
    if (!skills) {
        skills =
            pons_object("registry", json_array(), "running", json_array(), "last_result",
                        json_null(), "to_cancel", json_array(), "to_dispatch", json_array(), NULL);
    }
    pons_value *observation = pons__observation_build(b, react, skills);
    react = keep_met_goals(react, pons_get(observation, "task"));
    react = pons__ladder_observe(b, react, skills);
    set(&observation, "ladder", pons__ladder_brief(pons_get(react, "task")));
    react = pons__task_plan_mirror(b, cx, react);
    if (json_is_object(pons_get(react, "plan")) && json_is_object(pons_get(observation, "task"))) {
        pons_value *task = pons__with(pons_get(observation, "task"), "plan",
                                      pons__task_plan_brief(pons_get(react, "plan")));
        set(&observation, "task", task);
    }
    set(&react, "observation", pons_value_ref(observation));
    set(&react, "iter", json_integer(pons_get_int(react, "iter", 0) + 1));
    set(&react, "detached", json_false());
    set(&react, "no_progress", json_false());
    set(&react, "rollover", json_false());
    set(&skills, "registry", pons_value_ref(pons_get(observation, "skills")));
    pons__door_own(b, cx, PONS_DOOR_OBSERVATION, observation);
    say_message(cx, "user", observation);
    pons_cx_emit(cx, "observation",
                 pons__event(b, pons_object("observation", pons_value_ref(observation), NULL)));
    pons_value_unref(observation);
    pons_cx_put(cx, "skills", skills);
    return pons_cx_put(cx, "react", react);
}

// What the kernel sent: activate begins anew, preempt makes the next decision the kernel's.
static pons_value *take_inbox(pons_cx *cx, pons_value *react, pons_value **skills, pons_error *err)
{
    size_t i;
    json_t *msg;
    json_array_foreach(pons_cx_inbox(cx, err), i, msg)
    {
        const char *kind = pons_get_str(msg, "kind", "");
        const pons_value *value = pons_get(msg, "value");
        if (strcmp(kind, "activate") == 0) {
            pons_value *pace = pons_value_ref(pons_get(react, "pace"));
            pons_value_unref(react);
            react = activated(value);
            set(&react, "pace", pace); // a new activation is no new patience
            if (*skills) {             // results of an earlier activation are not this one's
                set(skills, "last_result", json_null());
            }
        } else if (strcmp(kind, "preempt") == 0 &&
                   pons_get_int(value, "activation", -1) == pons_get_int(react, "activation", 0)) {
            set(&react, "preempt", pons_value_ref(value));
        }
    }
    return react ? react : activated(NULL);
}

static pons_value *activated(const pons_value *message)
{
    const char *mode = pons_get_str(message, "mode", "EXEC");
    const pons_value *task = pons_get(message, "task");
    const bool safe = strcmp(mode, "SAFE") == 0;
    return pons_object("activation", json_integer(pons_get_int(message, "activation", 0)), "mode",
                       json_string(mode), "task", task ? pons_value_ref(task) : json_null(), "iter",
                       json_integer(0), "observation", json_null(), "decision", json_null(),
                       "source", json_null(), "proposed_ops", json_null(), "stop_reason",
                       json_null(), "failures", json_integer(0), "no_progress", json_false(),
                       "human", json_null(), "approved", json_array(), "replans", json_integer(0),
                       "distance_m", json_real(0.0), "model_retry_ms", json_integer(0), "plan",
                       pons__task_plan_reopen(pons_get(task, "plan")), "preempt",
                       safe ? pons_object("mode", json_string(mode), "reason",
                                          json_string(pons_get_str(message, "reason", "")),
                                          "stop_base", json_true(), NULL)
                            : json_null(),
                       NULL);
}

static pons_value *keep_met_goals(pons_value *react, const pons_value *observed_task)
{
    const pons_value *goals = pons_get(observed_task, "goals");
    const pons_value *task = pons_get(react, "task");
    if (json_is_object(task) && goals &&
        !json_equal((json_t *)goals, (json_t *)pons_get(task, "goals"))) {
        set(&react, "task", pons__with(task, "goals", pons_value_ref(goals)));
    }
    return react;
}

// ---- R2 react_decide ----------------------------------------------------------------------------

static int react_decide(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    const pons_value *react = pons_cx_get(cx, "react"), *skills = pons_cx_get(cx, "skills");
    pons_value *decision = NULL, *fallback = NULL;
    const char *source = "rule_engine";
    pons_value *next = pons_value_ref(react);
    if (json_is_object(pons_get(react, "preempt"))) {
        decision = kernel_decision(react, skills);
    } else if ((decision = pons__ladder_decide(b, &next, skills))) {
        source = "ladder";
    } else if (pons__task_plan_drives(pons_get(react, "plan"))) {
        const int rc = pons__task_plan_decide(b, cx, &next, skills, &decision, err);
        if (rc < 0) {
            pons_value_unref(next);
            return rc;
        }
        source = decision ? "plan" : source;
    }
    if (!decision && b->opts.llm &&
        pons_cx_wall_ms(cx) >= pons_get_int(react, "model_retry_ms", 0)) {
        bool detached = false;
        int rc = keep_pace(cx, &next, &detached, err);
        if (rc >= 0 && !detached) {
            rc = model_decision(b, cx, react, &decision, &fallback, err);
        }
        if (rc < 0) {
            pons_value_unref(next);
            return rc;
        }
        source = decision ? "llm" : source;
        if (!decision && !fallback) { // detached: look again first
            set(&next, "detached", json_true());
            return pons_cx_put(cx, "react", next);
        }
    }
    if (!decision) {
        const int rc = rules_decision(b, react, &decision, err);
        if (rc < 0) {
            pons_value_unref(fallback);
            pons_value_unref(next);
            return rc;
        }
    }
    if (fallback) {
        set(&next, "model_retry_ms",
            json_integer(pons_cx_wall_ms(cx) + (int64_t)(b->rules.model_retry_s * 1e3)));
    }
    if (strcmp(source, "rule_engine") == 0 || strcmp(source, "ladder") == 0) {
        pons__door_own(b, cx, PONS_DOOR_DECISION, decision);
    }
    const char *type = pons_get_str(decision, "type", "");
    const bool again = strcmp(type, "REPLAN") == 0 || strcmp(type, "RETRY") == 0;
    set(&next, "replans", json_integer(pons_get_int(react, "replans", 0) + again));
    if (strcmp(source, "ladder") != 0 && !json_is_object(pons_get(react, "preempt"))) {
        next = pons__ladder_decided(b, next, decision);
    }
    set(&next, "checked_in", json_false());
    pons_value *shown =
        pons_object("decision", pons_value_ref(decision), "source", json_string(source), "iter",
                    json_integer(pons_get_int(react, "iter", 0)), NULL);
    if (fallback) { // the output says that the model was lost, and why the rules decided
        json_object_set_new(shown, "fallback", fallback);
    }
    pons_cx_emit(cx, "decision", pons__event(b, shown));
    pons_cx_put(cx, "trace",
                pons_object("ts_ms", json_integer(pons_cx_wall_ms(cx)), "decision",
                            json_string(type), "reason",
                            json_string(pons_get_str(decision, "reason", "")), "source",
                            json_string(source), NULL));
    say_message(cx, "assistant", decision);
    set(&next, "decision", decision);
    set(&next, "source", json_string(source));
    return pons_cx_put(cx, "react", next);
}

// The kernel's: let go of everything that runs, and stop the base where it asked for it.
static pons_value *kernel_decision(const pons_value *react, const pons_value *skills)
{
    const pons_value *preempt = pons_get(react, "preempt");
    pons_value *ops = json_array();
    size_t i;
    json_t *running;
    json_array_foreach(pons_get(skills, "running"), i, running)
    {
        json_array_append_new(ops,
                              pons_object("op", json_string("cancel"), "goal_id",
                                          json_string(pons_get_str(running, "goal_id", "")), NULL));
    }
    if (pons_get_bool(preempt, "stop_base", false)) {
        json_array_append_new(ops,
                              pons_object("op", json_string("dispatch"), "skill",
                                          json_string("stop_base"), "args", json_object(), NULL));
    }
    return pons_object("type", json_string("SWITCH_TASK"), "reason",
                       json_sprintf("kernel: %s (%s)", pons_get_str(preempt, "reason", "preempted"),
                                    pons_get_str(preempt, "mode", "")),
                       "ops", ops, NULL);
}

// A model is asked as often as the world changes, and not more: PACE_BURST decisions as fast as
// they come, then one each PACE_MS of host time. So one that decides without end costs neither the
// loop nor the store more than that.
static int keep_pace(pons_cx *cx, pons_value **react, bool *ret_detached, pons_error *err)
{
    const pons_value *pace = pons_get(*react, "pace"), *rested = NULL;
    const int64_t now_ms = pons_cx_wall_ms(cx);
    const int64_t since_ms = pons_get_int(pace, "ms", now_ms);
    const int64_t passed_ms = now_ms > since_ms ? now_ms - since_ms : 0; // wall clocks go back
    int64_t debt_ms = pons_get_int(pace, "debt_ms", 0) - passed_ms;
    debt_ms = debt_ms > 0 ? debt_ms : 0;
    const int64_t rest_ms = debt_ms + PACE_MS - PACE_BURST * PACE_MS;
    if (rest_ms > 0) {
        pons_value *request =
            pons_object("wait", json_string("rest"), "ms", json_integer(rest_ms), NULL);
        const int rc = pons_await(cx, "body", request, 0, &rested, err);
        if (rc < 0) {
            return rc;
        }
        *ret_detached = pons_get_bool(rested, "detached", false);
        debt_ms -= rest_ms;
    }
    const int64_t at_ms = now_ms + (rest_ms > 0 ? rest_ms : 0);
    set(react, "pace",
        pons_object("ms", json_integer(at_ms), "debt_ms", json_integer(debt_ms + PACE_MS), NULL));
    return PONS_OK;
}

// *ret: a valid decision; or *ret_fallback: why the rules must decide; or neither: detached.
static int model_decision(pons_brain *b, pons_cx *cx, const pons_value *react, pons_value **ret,
                          pons_value **ret_fallback, pons_error *err)
{
    pons_autovalue complaint = NULL;
    pons_autovalue previous = NULL;
    for (int attempt = 1; attempt <= b->rules.model_attempts; attempt++) {
        const pons_value *answer = NULL;
        pons_value *request = pons_object("iter", json_integer(pons_get_int(react, "iter", 0)),
                                          "attempt", json_integer(attempt), "complaint",
                                          complaint ? pons_value_ref(complaint) : NULL, "previous",
                                          previous ? pons_value_ref(previous) : NULL, NULL);
        const int rc = pons_await(cx, "llm", request, 0, &answer, err);
        if (rc < 0) {
            return rc;
        }
        if (pons_get_bool(answer, "detached", false)) {
            return PONS_OK;
        }
        const char *lost = pons_get_str(answer, "error", NULL);
        if (lost) {
            *ret_fallback = json_sprintf("the model is lost (%s): the rules decide", lost);
            return PONS_OK;
        }
        pons_error why = PONS_ERROR_INIT;
        const char *content = pons_get_str(answer, "content", "");
        const int64_t too_long = pons_get_int(answer, "too_long", 0);
        if (too_long > 0) {
            pons_error_set(&why, PONS_EINVAL, "brain", "an answer of %lld bytes is too long",
                           (long long)too_long);
        } else if (pons__decision_parse(b, pons_get(react, "task"), content, ret, &why) >= 0) {
            return PONS_OK;
        }
        pons_value_unref(complaint);
        pons_value_unref(previous);
        complaint = json_string(why.message);
        previous = json_string(content);
    }
    *ret_fallback = json_sprintf("the model answered badly %d times (%s): the rules decide",
                                 b->rules.model_attempts, json_string_value(complaint));
    return PONS_OK;
}

static int rules_decision(pons_brain *b, const pons_value *react, pons_value **ret, pons_error *err)
{
    const pons_value *observation = pons_get(react, "observation");
    const pons_value *goals = pons_get(pons_get(observation, "task"), "goals");
    if (json_array_size(goals) == 0) {
        *ret = pons_object(
            "type", json_string("ABORT"), "reason",
            json_string("the rules do not understand this task and no model answers"), NULL);
        return PONS_OK;
    }
    const int rc = b->opts.policy.ops->decide(b->opts.policy.self, observation, ret, err);
    if (rc >= 0 && strcmp(pons_get_str(*ret, "type", ""), "ABORT") == 0) {
        *ret = spare_task(observation, *ret);
    }
    return rc;
}

// A sub-goal that a model added and the rules find impossible is dropped; it costs a person
// nothing that the person asked for. Takes and returns the decision.
static pons_value *spare_task(const pons_value *observation, pons_value *decision)
{
    const pons_value *task = pons_get(observation, "task");
    const int64_t at = pons_get_int(task, "goal_index", -1);
    const pons_value *goal = at >= 0 ? json_array_get(pons_get(task, "goals"), (size_t)at) : NULL;
    if (!pons_get_bool(goal, "added", false)) {
        return decision;
    }
    pons_value *spared = pons_object(
        "type", json_string("REPLAN"), "reason",
        json_sprintf("The model's sub-goals are dropped: %s", pons_get_str(decision, "reason", "")),
        "plan_patch", pons_object("goals", json_array(), NULL), NULL);
    pons_value_unref(decision);
    return spared;
}

static int after_decide(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const bool detached = pons_get_bool(pons_cx_get(cx, "react"), "detached", false);
    pons_cx_goto(cx, detached ? "build_observation" : "compile_ops_from_decision");
    return PONS_OK;
}

// ---- R3 compile_ops_from_decision ---------------------------------------------------------------

static int compile_ops_from_decision(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    const pons_value *react = pons_cx_get(cx, "react"), *skills = pons_cx_get(cx, "skills");
    const pons_value *decision = pons_get(react, "decision");
    const char *type = pons_get_str(decision, "type", "");
    const json_int_t goal_index =
        pons_get_int(pons_get(pons_get(react, "observation"), "task"), "goal_index", -1);
    pons_value *to_cancel = json_array(), *to_dispatch = json_array(), *to_speak = json_array();
    pons_value *question = NULL;
    size_t i;
    json_t *op, *running;
    if (releases_all(type)) {
        json_array_foreach(pons_get(skills, "running"), i, running)
        {
            json_array_append_new(to_cancel, json_string(pons_get_str(running, "goal_id", "")));
        }
    }
    json_array_foreach(pons_get(decision, "ops"), i, op)
    {
        const char *kind = pons_get_str(op, "op", "");
        if (strcmp(kind, "cancel") == 0 && !releases_all(type)) {
            json_array_append_new(to_cancel, json_string(pons_get_str(op, "goal_id", "")));
        } else if (strcmp(kind, "dispatch") == 0) {
            const pons_value *args = pons_get(op, "args");
            const pons_value *step = pons_get(op, "step_id"), *fallback = pons_get(op, "fallback");
            json_array_append_new(
                to_dispatch,
                pons_object("skill", json_string(pons_get_str(op, "skill", "")), "args",
                            args ? pons_value_ref(args) : json_object(), "goal_index",
                            json_integer(pons_get_int(op, "goal_index", goal_index)), "step_id",
                            step ? pons_value_ref(step) : NULL, "fallback",
                            fallback ? pons_value_ref(fallback) : NULL, NULL));
        } else if (strcmp(kind, "speak") == 0) {
            json_array_append_new(to_speak, json_string(pons_get_str(op, "text", "")));
        } else if (strcmp(kind, "approval") == 0 && !question) {
            question =
                json_string(pons_get_str(op, "question", pons_get_str(decision, "reason", "")));
        }
    }
    if (!question && strcmp(type, "ASK_HUMAN") == 0) {
        question = json_string(pons_get_str(decision, "reason", ""));
    }
    // Words go out like every other operation: as a goal of the skill `speak`.
    json_t *text;
    json_array_foreach(to_speak, i, text)
    {
        json_array_append_new(to_dispatch,
                              pons_object("skill", json_string("speak"), "args",
                                          pons_object("text", pons_value_ref(text), NULL),
                                          "goal_index", json_integer(-1), NULL));
    }
    pons_value *next = pons__with(
        react, "proposed_ops",
        pons_object("to_cancel", to_cancel, "to_dispatch", to_dispatch, "to_speak", to_speak,
                    "need_approval", json_boolean(question != NULL), "approval_payload",
                    question ? pons_object("question", question, NULL) : json_null(), NULL));
    const pons_value *patch = pons_get(pons_get(decision, "plan_patch"), "goals");
    if (json_is_array(patch) && json_is_object(pons_get(react, "task"))) {
        const pons_value *task = pons_get(react, "task"), *goals = pons_get(task, "goals");
        pons_value *list = patched(goals, patch);
        pons_cx_put(cx, "skills", replaced_goals(skills, goals, list));
        json_object_set_new(next, "task", pons__with(task, "goals", list));
    }
    if (json_is_array(pons_get(pons_get(decision, "plan_patch"), "steps"))) {
        propose_plan(b, cx, &next, pons_get(decision, "plan_patch"));
    }
    return pons_cx_put(cx, "react", next);
}

// A model's steps become a plan of the protocol, or the reason why not; R4 holds either against the
// rules.
static void propose_plan(pons_brain *b, pons_cx *cx, pons_value **react, const pons_value *patch)
{
    pons_value *plan = NULL, *ops = pons_value_ref(pons_get(*react, "proposed_ops"));
    pons_error why = PONS_ERROR_INIT;
    if (pons__task_plan_of_patch(b, cx, pons_get(*react, "task"), patch, &plan, &why) >= 0) {
        set(&ops, "plan", plan);
    } else {
        set(&ops, "plan_fault", json_string(why.message));
    }
    set(react, "proposed_ops", ops);
}

// A patch may add sub-goals and put goals in another order; it can neither take away a goal that a
// person gave nor say that one is met. The goals met so far, then the patch's, then what it left
// out of a person's. Sub-goals of an earlier patch that are not in this one are gone, so that
// patches without end leave no more than one does.
static pons_value *patched(const pons_value *goals, const pons_value *patch)
{
    pons_value *list = json_array();
    size_t i, k;
    json_t *goal, *asked, *placed;
    json_array_foreach(goals, i, goal)
    {
        if (pons_get_bool(goal, "done", false) && !pons_get_bool(goal, "added", false)) {
            json_array_append_new(list, pons_value_ref(goal));
        }
    }
    const size_t met = json_array_size(list);
    json_array_foreach(patch, i, asked)
    {
        pons_value *fresh = json_copy(asked);
        json_object_del(fresh, "done");
        json_object_del(fresh, "visited");
        json_object_set_new(fresh, "added", json_true()); // by a model: its end is no progress
        json_array_foreach(goals, k, goal) // one of the task's own keeps what it has reached
        {
            if (!pons_get_bool(goal, "done", false) && same_goal(goal, fresh)) {
                pons_value_unref(fresh);
                fresh = pons_value_ref(goal);
            }
        }
        json_array_append_new(list, fresh);
    }
    json_array_foreach(goals, i, goal)
    {
        bool there = pons_get_bool(goal, "done", false) || pons_get_bool(goal, "added", false);
        json_array_foreach(list, k, placed)
        {
            there = there || (k >= met && same_goal(goal, placed));
        }
        if (!there) {
            json_array_append_new(list, pons_value_ref(goal));
        }
    }
    return list;
}

// What runs, and the last result, serve a goal by its place: they follow it to its new one.
static pons_value *replaced_goals(const pons_value *skills, const pons_value *from,
                                  const pons_value *to)
{
    pons_value *running = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach(pons_get(skills, "running"), i, entry)
    {
        json_array_append_new(running, moved_goal(entry, from, to));
    }
    const pons_value *last = pons_get(skills, "last_result");
    pons_value *next = pons__with(skills, "running", running);
    if (json_is_object(last)) {
        json_object_set_new(next, "last_result", moved_goal(last, from, to));
    }
    return next;
}

static pons_value *moved_goal(const pons_value *entry, const pons_value *from, const pons_value *to)
{
    const int64_t old = pons_get_int(entry, "goal_index", -1);
    const pons_value *goal = old >= 0 ? json_array_get(from, (size_t)old) : NULL;
    json_int_t place = -1;
    for (size_t i = 0; goal && place < 0 && i < json_array_size(to); i++) {
        const pons_value *there = json_array_get(to, i);
        const bool both_open =
            pons_get_bool(goal, "done", false) == pons_get_bool(there, "done", false);
        place = both_open && same_goal(goal, there) ? (json_int_t)i : -1;
    }
    return pons__with(entry, "goal_index", json_integer(place));
}

static bool same_goal(const pons_value *a, const pons_value *b)
{
    static const char *const keys[] = {"intent", "zone", "object", "place", "seconds", "zones"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const pons_value *x = pons_get(a, keys[i]), *y = pons_get(b, keys[i]);
        if ((x || y) && !json_equal(x, y)) {
            return false;
        }
    }
    return strcmp(pons_get_str(a, "intent", ""), "say") != 0 ||
           strcmp(pons_get_str(a, "text", ""), pons_get_str(b, "text", "")) == 0;
}

static bool releases_all(const char *type)
{
    return strcmp(type, "FINISH") == 0 || strcmp(type, "ABORT") == 0 ||
           strcmp(type, "SWITCH_TASK") == 0;
}

// ---- R4 guardrails_and_resource_check -----------------------------------------------------------

static int guardrails_and_resource_check(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    const pons_value *skills = pons_cx_get(cx, "skills");
    pons_autovalue react = judged_edit(b, cx, pons_cx_get(cx, "react"), skills);
    const pons_value *ops = pons_get(react, "proposed_ops");
    const pons_value *dispatch = pons_get(ops, "to_dispatch"), *cancel = pons_get(ops, "to_cancel");
    pons_value *next = pons_value_ref(react), *skills_next = pons_value_ref(skills);
    const pons_value *preempt = pons_get(react, "preempt");
    const char *mode = pons_get_str(preempt, "mode", pons_get_str(react, "mode", "EXEC"));

    pons_autovalue rules = finish_refusal(b, react, skills);
    bool asks = pons_get_bool(ops, "need_approval", false);
    size_t i;
    json_t *op;
    json_array_foreach(dispatch, i, op)
    {
        pons_autovalue broken =
            pons__guard_check(b, mode, op, pons_get(skills, "running"), cancel, dispatch);
        json_array_extend(rules, broken);
        char hash[33];
        pons_value_hash(op, hash);
        bool approved = false;
        size_t k;
        json_t *known;
        json_array_foreach(pons_get(react, "approved"), k, known)
        {
            approved = approved || strcmp(json_string_value(known), hash) == 0;
        }
        pons_autovalue wants = pons__guard_approvals(b, op);
        asks = asks || (!approved && json_array_size(wants) > 0);
    }

    const pons_value *plan = pons_get(ops, "plan");
    if (plan) {
        pons__task_plan_judge(b, mode, plan, pons_get(skills, "running"), rules);
    } else if (pons_get(ops, "plan_fault")) {
        json_array_append_new(rules,
                              pons_object("rule", json_string("plan_patch"), "message",
                                          pons_value_ref(pons_get(ops, "plan_fault")), NULL));
    }

    set(&next, "approval", json_null());
    set(&skills_next, "to_dispatch", json_array());
    set(&skills_next, "to_cancel", cancel ? pons_value_ref(cancel) : json_array());
    int rc = PONS_OK;
    if (json_array_size(rules) > 0) {
        // Refused as a whole: the refusal is the next observation's last result.
        const pons_value *refused = json_array_get(dispatch, 0);
        set(&skills_next, "to_cancel", json_array());
        set(&skills_next, "last_result",
            pons_object("skill", json_string(pons_get_str(refused, "skill", "")), "args",
                        pons_get(refused, "args") ? pons_value_ref(pons_get(refused, "args"))
                                                  : json_object(),
                        "goal_id", json_string(""), "goal_index",
                        json_integer(pons_get_int(refused, "goal_index", -1)), "status",
                        json_string("refused"), "error_code", json_integer(0), "error_msg",
                        pons__guard_says(rules), "recovery", json_string("replan"), "metrics",
                        json_object(), NULL));
        set(&next, "decision",
            pons__with(pons_get(react, "decision"), "type", json_string("REPLAN")));
        set(&next, "refused", json_true());
        set(&next, "edit_before", json_null());
        next =
            pons__task_plan_note_result(next, refused, pons_get(skills_next, "last_result"), rules);
        pons_cx_emit(cx, "guard.refused",
                     pons__event(b, pons_object("rules", pons_value_ref(rules), NULL)));
    } else if (asks) {
        pons_value *question = pons__approval_question(b, cx, react, pons_get(skills, "running"));
        set(&next, "approval", question);
        pons_cx_emit(cx, "approval.requested", pons__event(b, json_copy(question)));
    } else {
        pons_value *intended = NULL;
        rc = intend_all(b, cx, react, dispatch, &intended, err);
        if (rc >= 0) {
            set(&skills_next, "to_dispatch", intended);
            set(&next, "refused", json_false());
            next = pons__edit_keep(b, cx, next);
            if (plan) { // it drives from the next decision on
                set(&next, "plan", pons_value_ref(plan));
                pons__task_plan_created(b, cx, plan);
            }
        }
    }
    if (rc < 0) {
        pons_value_unref(next);
        pons_value_unref(skills_next);
        return rc;
    }
    pons_cx_put(cx, "skills", skills_next);
    return pons_cx_put(cx, "react", next);
}

// A person's edit is held against the rules first: one that breaks them is no answer, and the inner
// loop is where it was when it asked. A new reference.
static pons_value *judged_edit(pons_brain *b, pons_cx *cx, const pons_value *react,
                               const pons_value *skills)
{
    const pons_value *ops = pons_get(react, "proposed_ops");
    const pons_value *dispatch = pons_get(ops, "to_dispatch");
    pons_autovalue rules = json_array();
    size_t i;
    json_t *op;
    if (!json_is_object(pons_get(react, "edit_before"))) {
        return pons_value_ref(react);
    }
    json_array_foreach(dispatch, i, op)
    {
        pons_autovalue broken =
            pons__guard_check(b, pons_get_str(react, "mode", "EXEC"), op,
                              pons_get(skills, "running"), pons_get(ops, "to_cancel"), dispatch);
        json_array_extend(rules, broken);
    }
    if (json_array_size(rules) == 0) {
        return pons_value_ref(react);
    }
    pons_cx_emit(cx, "guard.refused",
                 pons__event(b, pons_object("rules", pons_value_ref(rules), NULL)));
    return pons__edit_undo(react, rules);
}

// FINISH is held against the world: a list with one rule when a goal is not met, else an empty
// list.
static pons_value *finish_refusal(pons_brain *b, const pons_value *react, const pons_value *skills)
{
    pons_value *rules = json_array();
    const pons_value *task = pons_get(react, "task"), *goals = pons_get(task, "goals");
    if (strcmp(pons_get_str(pons_get(react, "decision"), "type", ""), "FINISH") != 0) {
        return rules;
    }
    const size_t n = json_array_size(goals);
    for (size_t i = 0; i < n; i++) {
        bool running = false;
        size_t k;
        json_t *entry;
        json_array_foreach(pons_get(skills, "running"), k, entry)
        {
            running = running || pons_get_int(entry, "goal_index", -1) == (json_int_t)i;
        }
        const pons_value *goal = json_array_get(goals, i);
        const bool place = strcmp(pons_get_str(goal, "intent", ""), "go_to") == 0;
        const bool last = i + 1 == n;
        if (pons_get_bool(goal, "done", false) && !(place && last)) {
            continue;
        }
        if (!pons__goal_met(b, goal, running)) {
            const char *zone = pons_get_str(b->robot, "zone", "no zone");
            json_array_append_new(
                rules,
                pons_object("rule", json_string("goal_met"), "message",
                            json_sprintf(
                                "goal %zu (%s) is not met: the robot is in %s", i,
                                pons_get_str(goal, "text", pons_get_str(goal, "intent", "")), zone),
                            NULL));
            break;
        }
    }
    return rules;
}

static int intend_all(pons_brain *b, pons_cx *cx, const pons_value *react, const pons_value *ops,
                      pons_value **ret, pons_error *err)
{
    pons_value *list = json_array();
    size_t i;
    json_t *op;
    json_array_foreach(ops, i, op)
    {
        char id[40];
        const char *skill = pons_get_str(op, "skill", "");
        const pons_value *args = pons_get(op, "args"), *task = pons_get(react, "task");
        pons_value *tag = pons_object(
            "task_id", json_string(pons_get_str(task, "id", "")), "goal_index",
            json_integer(pons_get_int(op, "goal_index", -1)), "step_id",
            pons_get(op, "step_id") ? pons_value_ref(pons_get(op, "step_id")) : NULL, NULL);
        const int rc = pons_effect_intend(cx, skill, pons_value_ref(args),
                                          (int)pons_get_int(task, "attempt", 1), tag, id, err);
        if (rc < 0) {
            pons_value_unref(list);
            return rc;
        }
        json_array_append_new(list, pons__with(op, "goal_id", json_string(id)));
        effect_event(b, cx, id, skill, args, "intended", NULL);
    }
    *ret = list;
    return PONS_OK;
}

static int after_guard(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const bool asks = json_is_object(pons_get(pons_cx_get(cx, "react"), "approval"));
    pons_cx_goto(cx, asks ? "human_approval_interrupt" : "dispatch_skills");
    return PONS_OK;
}

// ---- R6 dispatch_skills -------------------------------------------------------------------------

static int dispatch_skills(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    pons_value *skills = pons_value_ref(pons_cx_get(cx, "skills"));
    pons_value *react = pons_value_ref(pons_cx_get(cx, "react"));
    bool clear = true;
    int rc = cancel_all(b, cx, &skills, &react, &clear, err);
    size_t i;
    json_t *item;
    json_array_foreach(pons_get(pons_cx_get(cx, "skills"), "to_dispatch"), i, item)
    {
        if (rc < 0) {
            break;
        }
        if (!clear && strcmp(pons_get_str(item, "skill", ""), "stop_base") != 0) {
            const char *id = pons_get_str(item, "goal_id", "");
            pons_autovalue why = json_string("what it needs is not free yet");
            effect_event(b, cx, id, pons_get_str(item, "skill", ""), pons_get(item, "args"),
                         "refused", why);
            rc = settle(cx, id, PONS_EFFECT_REFUSED, NULL, err);
            continue;
        }
        rc = dispatch_one(b, cx, item, &skills, &react, err);
    }
    if (rc < 0) {
        pons_value_unref(skills);
        pons_value_unref(react);
        return rc;
    }
    const pons_value *sent = pons_get(skills, "to_dispatch"),
                     *freed = pons_get(skills, "to_cancel");
    if (json_array_size(sent) + json_array_size(freed) > 0) {
        pons_cx_put(cx, "trace",
                    pons_object("ts_ms", json_integer(pons_cx_wall_ms(cx)), "dispatched",
                                pons_value_ref(sent), "cancelled", pons_value_ref(freed), NULL));
    }
    set(&skills, "to_cancel", json_array());
    set(&skills, "to_dispatch", json_array());
    set(&react, "approved", json_array()); // an approval is for one dispatch
    set(&react, "answered", json_null());
    pons_cx_put(cx, "skills", skills);
    return pons_cx_put(cx, "react", react);
}

// Cancels are sent first and together, then each one's end is awaited: what follows may need what
// they hold. A cancel may be repeated, so running this node again does no harm.
static int cancel_all(pons_brain *b, pons_cx *cx, pons_value **skills, pons_value **react,
                      bool *ret_clear, pons_error *err)
{
    const pons_value *ids = pons_get(pons_cx_get(cx, "skills"), "to_cancel");
    size_t i;
    json_t *id;
    json_array_foreach(ids, i, id)
    {
        pons__body_goal *g = pons__port_goal(&b->port, json_string_value(id));
        if (g && !g->result) {
            pons__port_cancel(&b->port, g->id);
        }
    }
    json_array_foreach(ids, i, id)
    {
        if (!pons__find(pons_get(*skills, "running"), "goal_id", json_string_value(id))) {
            continue;
        }
        const pons_value *end = NULL;
        const int rc =
            pons_await(cx, "body",
                       pons_object("wait", json_string("end"), "goal_id", pons_value_ref(id), NULL),
                       CANCEL_WAIT_MS, &end, err);
        if (rc < 0) {
            return rc;
        }
        if (!pons_get(end, "status")) { // detached, or the body is silent: it stays where it is
            *ret_clear = false;
            continue;
        }
        const int settled = settle_result(b, cx, end, skills, react, err);
        if (settled < 0) {
            return settled;
        }
    }
    return PONS_OK;
}

static int dispatch_one(pons_brain *b, pons_cx *cx, const pons_value *item, pons_value **skills,
                        pons_value **react, pons_error *err)
{
    const char *id = pons_get_str(item, "goal_id", ""), *name = pons_get_str(item, "skill", "");
    const pons_value *args = pons_get(item, "args");
    const pons_value *link = NULL, *verdict = NULL, *word = NULL;
    int rc = pons_await(cx, "body",
                        pons_object("wait", json_string("link"), "for", json_string(id), NULL),
                        (int64_t)b->rules.link_wait_ms, &link, err);
    if (rc < 0) {
        return rc;
    }
    // Much may have happened since R4: the verdict is taken once, and recorded.
    pons_autovalue question =
        pons_object("link", pons_value_ref(link), "op", pons_value_ref(item), "mode",
                    json_string(pons_get_str(pons_get(*react, "preempt"), "mode",
                                             pons_get_str(*react, "mode", "EXEC"))),
                    NULL);
    rc = pons_task(cx, "rearbitrate", question, rearbitrate, b, &verdict, err);
    if (rc < 0) {
        return rc;
    }
    const char *refusal = pons_get_str(verdict, "refused", NULL);
    pons_autovalue outcome = NULL;
    pons_effect_state found = PONS_EFFECT_INTENDED;
    if (refusal) {
        outcome = pons_object("rejected", json_true(), "code", json_string("rearbitrated"),
                              "message", json_string(refusal), NULL);
    } else {
        rc = pons_effect_dispatch(cx, id, dispatch_details(b), send_goal, b, &found, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (!refusal && found == PONS_EFFECT_REFUSED) { // of a fork, and a person said no
        outcome = pons_object("rejected", json_true(), "code", json_string("not_confirmed"),
                              "message", json_string("a person did not confirm it"), NULL);
    } else if (!refusal) {
        rc =
            pons_await(cx, "body",
                       pons_object("wait", json_string("accept"), "goal_id", json_string(id), NULL),
                       0, &word, err);
        if (rc < 0) {
            return rc;
        }
        effect_event(b, cx, id, name, args, "dispatched", NULL);
        outcome = pons_value_ref(word);
    }
    if (pons_get_bool(outcome, "rejected", false)) {
        const char *message = pons_get_str(outcome, "message", "");
        const pons_value *veto = pons__answer_veto(b);
        if (veto) { // it was approved, and that was taken back
            set(react, "human",
                pons_object("question", json_string("may I do this?"), "answer", json_string("no"),
                            "reason", json_string(pons_get_str(veto, "reason", "")), NULL));
        }
        pons_value *last = pons_object(
            "skill", json_string(name), "args", pons_value_ref(args), "goal_id", json_string(id),
            "goal_index", json_integer(pons_get_int(item, "goal_index", -1)), "status",
            json_string("rejected"), "error_code", json_integer(0), "error_msg",
            json_sprintf("%s: %s", pons_get_str(outcome, "code", ""), message), "recovery",
            json_string(veto ? "ask_human" : "retry"), "metrics", json_object(), NULL);
        set(skills, "last_result", last);
        set(react, "refused", json_true());
        *react = pons__task_plan_note_result(*react, item, last, NULL);
        effect_event(b, cx, id, name, args, "refused", pons_get(outcome, "message"));
        return settle(cx, id, PONS_EFFECT_REFUSED, pons_value_ref(outcome), err);
    }
    const pons_value *skill = pons__skill(b, name);
    pons_value *running = json_copy((json_t *)pons_get(*skills, "running"));
    json_array_append_new(
        running,
        pons_object(
            "goal_id", json_string(id), "skill", json_string(name), "args", pons_value_ref(args),
            "goal_index", json_integer(pons_get_int(item, "goal_index", -1)), "resources",
            pons_get(skill, "resources_required")
                ? pons_value_ref(pons_get(skill, "resources_required"))
                : json_array(),
            "started_ms", json_integer(pons_cx_wall_ms(cx)), "started_robot_ms",
            json_integer(pons__port_robot_ms(&b->port)), "timeout_s",
            json_real(pons_get_num(skill, "timeout_s", 0.0)), "step_id",
            pons_get(item, "step_id") ? pons_value_ref(pons_get(item, "step_id")) : NULL,
            "fallback",
            pons_get(item, "fallback") ? pons_value_ref(pons_get(item, "fallback")) : NULL, NULL));
    set(skills, "running", running);
    // Only the body's own "accepted" is recorded as that; a result or a detachment leaves
    // DISPATCHED.
    if (pons_get(outcome, "state") && !pons_get(outcome, "status")) {
        effect_event(b, cx, id, name, args, "accepted", NULL);
        return settle(cx, id, PONS_EFFECT_ACCEPTED, NULL, err);
    }
    return PONS_OK;
}

// Of this moment, not of the recorded answer: a brain that died before DISPATCHED was durable sends
// under its next life's epoch, perhaps to another boot.
static pons_value *dispatch_details(pons_brain *b)
{
    const pons_value *hello = b->port.hello;
    const int64_t boot_ms = b->opts.clock.boot_ns(b->opts.clock.ctx) / PONS_NS_PER_MS;
    return pons_object("epoch", json_integer(pons_get_int(hello, "epoch", 0)), "boot_id",
                       json_string(pons_get_str(hello, "boot_id", "")), "robot_id",
                       json_string(pons_get_str(hello, "robot_id", "")), "expires_ms",
                       json_integer(boot_ms + (int64_t)b->rules.goal_expires_ms), NULL);
}

// A recorded task: {refused: why} or {ok}. Approvals are bound to the arguments that R4
// saw, so what remains to be asked again is the state of the robot.
static int rearbitrate(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    const pons_value *link = pons_get(args, "link"), *op = pons_get(args, "op");
    if (!pons_get_bool(link, "ready", false)) {
        const bool detached = pons_get_bool(link, "detached", false);
        *ret = pons_object(
            "refused", json_string(detached ? "the kernel took over" : "no body answers"), NULL);
        return PONS_OK;
    }
    pons_autovalue none = json_array();
    pons_autovalue broken = pons__guard_kernel(b, pons_get_str(op, "skill", ""));
    if (!broken) {
        broken = pons__guard_check(b, pons_get_str(args, "mode", "EXEC"), op, none, none, none);
    }
    if (json_array_size(broken) > 0) {
        *ret = pons_object("refused", pons__guard_says(broken), NULL);
        return PONS_OK;
    }
    *ret = pons_object("ok", json_true(), NULL);
    return PONS_OK;
}

// Called once, after DISPATCHED is on disk.
static int send_goal(void *user, const pons_effect *e, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    pons__body_goal *g = pons__port_track(&b->port, e->id);
    const pons_message_goal goal = {.goal_id = e->id,
                                    .epoch = pons_get_int(e->details, "epoch", 0),
                                    .expires_ms = pons_get_int(e->details, "expires_ms", 0),
                                    .robot_id = pons_get_str(e->details, "robot_id", ""),
                                    .skill = json_string_value(e->skill),
                                    .args = e->args,
                                    .args_hash = e->args_hash,
                                    .thread = b->opts.thread,
                                    .task_id = pons_get_str(e->tag, "task_id", ""),
                                    .attempt = e->attempt};
    pons__port_keep(g, &goal, pons_get_str(e->details, "boot_id", ""));
    // The recorded verdict may be of a life before this one: the robot is looked at once more.
    pons_autovalue broken = pons__guard_now(b, &g->message.as.goal);
    if (json_array_size(broken) > 0) {
        pons_autovalue why = pons__guard_says(broken);
        pons__port_refuse(g, json_string_value(why));
        return PONS_OK;
    }
    // A link that breaks now leaves DISPATCHED; the next hello asks about the goal.
    pons__port_send(&b->port, &g->message);
    g->recovering = b->port.link == NULL;
    return PONS_OK;
}

// ---- R7 observe_execution_result ----------------------------------------------------------------

static int observe_execution_result(pons_cx *cx, void *user, pons_error *err)
{
    pons_brain *b = user;
    const pons_value *running = pons_get(pons_cx_get(cx, "skills"), "running");
    const pons_value *react_now = pons_cx_get(cx, "react");
    const pons_value *news = NULL;
    const size_t n = json_array_size(running);
    const char *type = pons_get_str(pons_get(react_now, "decision"), "type", "");
    if (n == 0 && (!pons_get_bool(react_now, "refused", false) || releases_all(type))) {
        return PONS_OK;
    }
    pons_value *request;
    if (n == 0) { // refused at once: rest, so that trying again is no busy loop
        request = pons_object("wait", json_string("rest"), "ms", json_integer(REST_MS), NULL);
    } else {
        pons_value *ids = json_array();
        size_t i;
        json_t *r;
        json_array_foreach(running, i, r)
        {
            json_array_append_new(ids, json_string(pons_get_str(r, "goal_id", "")));
        }
        request = pons_object("wait", json_string("skill"), "goals", ids, NULL);
    }
    int rc = pons_await(cx, "body", request, 0, &news, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *skills = pons_value_ref(pons_cx_get(cx, "skills"));
    pons_value *react = pons_value_ref(react_now);
    const char *event = pons_get_str(news, "event", "detached");
    size_t i;
    json_t *result;
    json_array_foreach(pons_get(news, "results"), i, result)
    {
        if (rc >= 0) {
            rc = settle_result(b, cx, result, &skills, &react, err);
        }
    }
    if (strcmp(event, "no_progress") == 0) {
        set(&react, "no_progress", json_true());
    }
    set(&react, "checked_in", json_boolean(strcmp(event, "check_in") == 0));
    set(&react, "refused", json_false());
    if (rc < 0) {
        pons_value_unref(skills);
        pons_value_unref(react);
        return rc;
    }
    if (json_array_size(pons_get(news, "results")) > 0) {
        say_message(cx, "user", pons_get(skills, "last_result"));
    }
    pons_cx_put(cx, "skills", skills);
    return pons_cx_put(cx, "react", react);
}

// What has ended stays as it ended: in a fork the effect may have gone on in the branch that it
// comes from, and a person may have refused it. Takes result.
static int settle(pons_cx *cx, const char *id, pons_effect_state to, pons_value *result,
                  pons_error *err)
{
    pons_effect e;
    pons_error none = PONS_ERROR_INIT;
    if (pons_effect_get(cx, id, &e, &none) >= 0 && e.state >= PONS_EFFECT_DONE) {
        pons_value_unref(result);
        return PONS_OK;
    }
    return pons_effect_settle(cx, id, to, result, err);
}

// One goal has ended: the ledger, what runs, the last result, the task's goals, the counters.
static int settle_result(pons_brain *b, pons_cx *cx, const pons_value *result, pons_value **skills,
                         pons_value **react, pons_error *err)
{
    static const struct {
        const char *status;
        pons_effect_state state;
    } ends[] = {{"done", PONS_EFFECT_DONE},
                {"failed", PONS_EFFECT_FAILED},
                {"canceled", PONS_EFFECT_CANCELED},
                {"outcome_unknown", PONS_EFFECT_OUTCOME_UNKNOWN}};
    const char *id = pons_get_str(result, "goal_id", ""),
               *status = pons_get_str(result, "status", "");
    const pons_value *entry = pons__find(pons_get(*skills, "running"), "goal_id", id);
    if (!entry) {
        return PONS_OK;
    }
    pons_effect_state to = PONS_EFFECT_OUTCOME_UNKNOWN;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        to = strcmp(status, ends[i].status) == 0 ? ends[i].state : to;
    }
    const int rc = settle(cx, id, to, pons_value_ref(result), err);
    if (rc < 0) {
        return rc;
    }
    const char *skill = pons_get_str(entry, "skill", "");
    const pons_value *args = pons_get(entry, "args"), *metrics = pons_get(result, "metrics");
    const int64_t code = pons_get_int(result, "error_code", 0);
    effect_event(b, cx, id, skill, args, status, pons_get(result, "error_msg"));
    // A person has typed resume after that stop: the answer to "shall I try again?" is given.
    const bool go_on = code == ERROR_STOPPED && !note_stop(b, cx, *react, result);
    const bool done = to == PONS_EFFECT_DONE;
    const bool counts = !done && to != PONS_EFFECT_CANCELED;
    if (done) {
        *react = mark_goal(*react, entry);
    }
    *react = count_failure(*react, skill, done, counts);
    *react = pons__ladder_ended(b, *react, entry, result);
    set(react, "distance_m",
        json_real(pons_get_num(*react, "distance_m", 0.0) +
                  pons_get_num(metrics, "distance_m", 0.0)));
    pons_value *last = pons_object(
        "skill", json_string(skill), "args", pons_value_ref(args), "goal_id", json_string(id),
        "goal_index", json_integer(pons_get_int(entry, "goal_index", -1)), "status",
        json_string(status), "error_code", json_integer(code), "error_msg",
        json_string(pons_get_str(result, "error_msg", "")), "recovery",
        json_string(go_on ? "retry" : recovery_for(b, skill, status, code)), "metrics",
        metrics ? pons_value_ref(metrics) : json_object(), NULL);
    *react = pons__task_plan_note_result(*react, entry, last, NULL);
    pons_value *rest = without(pons_get(*skills, "running"), id);
    set(skills, "last_result", last);
    set(skills, "running", rest);
    return PONS_OK;
}

// The body ended it by a stop, which may be lifted again before any telemetry shows it: the kernel
// hears of it from here as well. What ended in an earlier life is over when a person typed resume.
// Whether the kernel was told.
static bool note_stop(pons_brain *b, pons_cx *cx, const pons_value *react, const pons_value *result)
{
    const pons__body_goal *g = pons__port_goal(&b->port, pons_get_str(result, "goal_id", ""));
    if (g && g->old && b->opts.resumed) {
        return false;
    }
    b->tick_now = true;
    pons_cx_post(cx, PONS_NS_KERNEL, "stopped",
                 pons_object("activation", json_integer(pons_get_int(react, "activation", 0)),
                             "reason", json_string(pons_get_str(result, "error_msg", "")), NULL));
    return true;
}

// Consecutive failures of one skill. A pause or a look between two tries ends well, and says
// nothing of what failed: only the skill itself clears its count.
static pons_value *count_failure(pons_value *react, const char *skill, bool done, bool counts)
{
    const bool same = strcmp(pons_get_str(react, "failed_skill", ""), skill) == 0;
    if (counts) {
        const int64_t before = same ? pons_get_int(react, "failures", 0) : 0;
        set(&react, "failures", json_integer(before + 1));
        set(&react, "failed_skill", json_string(skill));
    } else if (done && same) {
        set(&react, "failures", json_integer(0));
        set(&react, "failed_skill", json_null());
    }
    return react;
}

// Goals that are not about a place are met by their own skill's success.
static pons_value *mark_goal(pons_value *react, const pons_value *entry)
{
    static const struct {
        const char *intent, *skill;
    } met_by[] = {{"wait", "wait"}, {"say", "speak"}, {"bring", "place"}, {"put", "place"}};
    const pons_value *task = pons_get(react, "task"), *goals = pons_get(task, "goals");
    const int64_t index = pons_get_int(entry, "goal_index", -1);
    const pons_value *goal = index >= 0 ? json_array_get(goals, (size_t)index) : NULL;
    const char *intent = pons_get_str(goal, "intent", ""),
               *skill = pons_get_str(entry, "skill", "");
    if (!goal) {
        return react;
    }
    pons_value *marked = pons_value_ref(goal);
    for (size_t i = 0; i < sizeof met_by / sizeof met_by[0]; i++) {
        if (strcmp(intent, met_by[i].intent) == 0 && strcmp(skill, met_by[i].skill) == 0) {
            set(&marked, "done", json_true());
        }
    }
    if (strcmp(intent, "patrol") == 0 && strcmp(skill, "navigate_to_pose") == 0) {
        const pons_value *old = pons_get(goal, "visited");
        pons_value *visited = old ? json_copy((json_t *)old) : json_array();
        json_array_append_new(visited,
                              json_string(pons_get_str(pons_get(entry, "args"), "zone", "")));
        const bool all = json_array_size(visited) >= json_array_size(pons_get(goal, "zones"));
        set(&marked, "visited", visited);
        set(&marked, "done", json_boolean(all));
    }
    pons_value *list = json_copy((json_t *)goals);
    json_array_set_new(list, (size_t)index, marked);
    pons_value *task_next = pons__with(task, "goals", list);
    set(&react, "task", task_next);
    return react;
}

static const char *recovery_for(pons_brain *b, const char *skill, const char *status, int64_t code)
{
    if (strcmp(status, "done") == 0) {
        return "none";
    }
    if (strcmp(status, "outcome_unknown") == 0) {
        size_t i;
        json_t *name;
        json_array_foreach(b->rules.unknown_ask, i, name)
        {
            if (json_is_string(name) && strcmp(json_string_value(name), skill) == 0) {
                return "ask_human";
            }
        }
        return "replan";
    }
    const pons_value *map = pons_get(pons__skill(b, skill), "error_map");
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)code);
    return pons_get_str(map, key, pons_get_str(map, "default", "retry"));
}

// ---- R8 react_stop_or_loop ----------------------------------------------------------------------

static int react_stop_or_loop(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    pons_brain *b = user;
    const pons_value *react = pons_cx_get(cx, "react"), *skills = pons_cx_get(cx, "skills");
    const pons_value *decision = pons_get(react, "decision"), *task = pons_get(react, "task");
    const char *type = pons_get_str(decision, "type", ""), *status = NULL, *stop = NULL;
    pons_autovalue reason = pons_value_ref(pons_get(decision, "reason"));
    const bool still = json_array_size(pons_get(skills, "running")) == 0;
    if (json_is_object(pons_get(react, "preempt"))) {
        const bool safe = strcmp(pons_get_str(pons_get(react, "preempt"), "mode", ""), "SAFE") == 0;
        status = still ? "preempted" : NULL;
        stop = safe ? "safety_override" : "preempted";
    } else if (strcmp(type, "FINISH") == 0) {
        status = "succeeded";
        stop = "done";
    } else if (strcmp(type, "ABORT") == 0) {
        const char *of_plan = plan_status(pons_get(react, "plan"));
        status = of_plan ? of_plan : "aborted";
        stop = "impossible";
    }
    if (!status && pons_cx_remaining_steps(cx) < STEPS_LEFT_MIN) {
        // A long task outlives a run: the state stays, and a message to itself begins the next one.
        pons_cx_post(cx, PONS_NS_REACT, "go_on", json_object());
        return pons_cx_put(cx, "react", pons__with(react, "rollover", json_true()));
    }
    if (!status) {
        return PONS_OK;
    }
    pons_value *next = pons_value_ref(react);
    if (strcmp(status, "preempted") != 0) {
        next = pons__task_plan_end(b, cx, next, status);
    }
    const pons_value *plan = pons_get(next, "plan");
    pons_cx_post(
        cx, PONS_NS_KERNEL, "task_result",
        pons_object("activation", json_integer(pons_get_int(react, "activation", 0)), "task_id",
                    json_string(pons_get_str(task, "id", "")), "status", json_string(status),
                    "reason", reason ? pons_value_ref(reason) : json_string(""), "mode",
                    json_string(pons_get_str(pons_get(react, "preempt"), "mode",
                                             pons_get_str(react, "mode", ""))),
                    "iterations", json_integer(pons_get_int(react, "iter", 0)), "replans",
                    json_integer(pons_get_int(react, "replans", 0)), "distance_m",
                    json_real(pons_get_num(react, "distance_m", 0.0)), "goals",
                    pons_get(task, "goals") ? pons_value_ref(pons_get(task, "goals")) : json_null(),
                    "ladder",
                    pons_get(task, "ladder") ? pons_value_ref(pons_get(task, "ladder"))
                                             : json_null(),
                    "plan", plan ? pons_value_ref(plan) : json_null(), NULL));
    set(&next, "stop_reason", json_string(stop));
    return pons_cx_put(cx, "react", next);
}

// How a task ends whose plan it was; NULL: it was not the plan that ended it.
static const char *plan_status(const pons_value *state)
{
    const char *status = pons_get_str(pons_get(state, "plan"), "status", "");
    if (strcmp(pons_get_str(state, "kind", ""), "given") != 0) {
        return NULL;
    }
    return strcmp(status, "failed") == 0      ? "failed"
           : strcmp(status, "cancelled") == 0 ? "cancelled"
                                              : NULL;
}

static int after_loop(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const pons_value *react = pons_cx_get(cx, "react");
    const bool ended =
        json_is_string(pons_get(react, "stop_reason")) || pons_get_bool(react, "rollover", false);
    pons_cx_goto(cx, ended ? PONS_END : "build_observation");
    return PONS_OK;
}

// ---- small things -------------------------------------------------------------------------------

static void effect_event(pons_brain *b, pons_cx *cx, const char *id, const char *skill,
                         const pons_value *args, const char *state, const pons_value *why)
{
    pons_value *payload =
        pons_object("goal_id", json_string(id), "skill", json_string(skill), "args",
                    args ? pons_value_ref(args) : json_object(), "state", json_string(state), NULL);
    if (json_is_string(why) && json_string_length(why) > 0) {
        json_object_set(payload, "reason", (json_t *)why);
    }
    pons_cx_emit(cx, "effect", pons__event(b, payload));
}

// Appends to `messages` as text, and drops the older half when there are too many.
static void say_message(pons_cx *cx, const char *role, const pons_value *content)
{
    char *text = NULL;
    if (!content || pons_value_line(content, &text) < 0) {
        return;
    }
    const pons_value *old = pons_cx_get(cx, "messages");
    const size_t n = json_array_size(old);
    pons_value *update = json_array();
    for (size_t i = 0; n > MESSAGES_KEPT && i < n / 2; i++) {
        json_array_append_new(
            update, pons_object("type", json_string("remove"), "id",
                                json_string(pons_get_str(json_array_get(old, i), "id", "")), NULL));
    }
    char id[PONS_ID_MAX];
    pons_cx_id(cx, id);
    json_array_append_new(update, pons_object("id", json_string(id), "role", json_string(role),
                                              "content", json_string(text), NULL));
    free(text);
    pons_cx_put(cx, "messages", update);
}

// *obj becomes a copy with key = value (taken).
static void set(pons_value **obj, const char *key, pons_value *value)
{
    pons_value *next = pons__with(*obj, key, value);
    pons_value_unref(*obj);
    *obj = next;
}

static pons_value *without(const pons_value *list, const char *goal_id)
{
    pons_value *rest = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (strcmp(pons_get_str(item, "goal_id", ""), goal_id) != 0) {
            json_array_append(rest, item);
        }
    }
    return rest;
}
