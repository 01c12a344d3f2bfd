// react_loop.c - the ReAct loop of agent and executor: think, act, think, … until there is an answer.
//
//   agent     START --> think --calls--> act --more calls--> act ...
//                         ^  |            |
//                         |  | ended      |
//                         +--|------------+
//                            v
//                          finish --> the outer graph
//
//   executor  the same behind START --> begin; a step that names a tool goes from begin to act
//
// Each loop is a subgraph of one node of the outer graph: what it says is in a list of its own
// (`turn`), stored by what was appended, so a crash repeats at most the model call in flight. The
// agent's list goes to the conversation when the loop ends; of the executor's, only a summary does.
// finish ends the loop with a command to the outer graph: its update and the loop's last events are
// one commit.
#include "agent/config.h"
#include "agent/context_window.h"
#include "agent/event_output.h"
#include "agent/graph/graphs.h"
#include "agent/graph/picture_consent.h"
#include "agent/graph/plan_state.h"
#include "agent/graph/plan_step.h"
#include "agent/graph/plan_turn.h"
#include "agent/graph/tool_calls.h"
#include "agent/pending_calls.h"
#include "agent/session.h"
#include "agent/summarize.h"
#include "agent/tool_registry.h"
#include "pons/agent.h"

#include <stdlib.h>
#include <string.h>

#define SQUEEZES_MAX 5 // times that a server may find a conversation too long

// ---- act ----------------------------------------------------------------------------------------

static void end(pons_cx *cx, const char *status, pons_value *more)
{
    json_object_set_new(more, "status", json_string(status));
    pons_cx_put(cx, "ended", more);
}

// Of the calls that have just ended: the agent's plan ends the loop (*ret_ended), what a step waited for
// goes to the step (*ret_told), and nothing after that is run.
static int looked_at(pons__role *role, pons_cx *cx, const pons_value *calls, bool *ret_ended,
                     bool *ret_reported, pons_error *err)
{
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const pons_value *c = json_array_get(calls, i), *args = pons_get(c, "arguments");
        const pons_value *was = json_array_get(pons_cx_get(cx, "calls"), i);
        const bool failed = pons_get_bool(c, "failed", false), own = pons_get_bool(c, "own", false);
        if (strcmp(pons_get_str(c, "state", ""), "done") != 0 ||
            strcmp(pons_get_str(was, "state", ""), "done") == 0) {
            continue;
        }
        if (strcmp(pons_get_str(c, "kind", ""), PONS__PICTURES_KIND) == 0) { // asked once in a loop
            pons_cx_put(cx, "consent", json_true());
            continue;
        }
        if (own && !failed && strcmp(pons_get_str(c, "name", ""), PONS__PLAN_CREATE) == 0) {
            end(cx, "plan",
                pons_object("arguments", pons_value_ref(args), "call_id",
                            pons_value_ref(pons_get(c, "id")), NULL));
            *ret_ended = true;
            return PONS_OK;
        }
        if (own && !failed) {
            *ret_reported = true;
            return pons__step_reported(role, cx, false,
                                       pons_get_str(args, "reason", "the step failed"), err);
        }
        if (pons_get(c, "kind") || pons_get_bool(c, "direct", false)) {
            *ret_reported = true;
            return pons__step_reported(role, cx, !failed, pons_get_str(c, "said", ""), err);
        }
    }
    return PONS_OK;
}

// Every call has a result, also one that was not run: servers refuse a conversation without.
static pons_value *left_undone(pons_cx *cx, const pons_value *calls)
{
    pons_value *messages = json_array();
    pons_each(c, calls) {
        if (strcmp(pons_get_str(c, "state", ""), "pending") != 0 || pons_get(c, "kind") ||
            pons_get_bool(c, "direct", false)) {
            continue;
        }
        char id[PONS_ID_MAX];
        pons_cx_id(cx, id);
        json_array_append_new(messages,
                              pons_object("id", json_string(id), "role", json_string("tool"),
                                          "tool_call_id", pons_value_ref(pons_get(c, "id")), "name",
                                          pons_value_ref(pons_get(c, "name")), "content",
                                          json_string("not run: the user stopped here"), NULL));
    }
    return messages;
}

static int act(pons_cx *cx, void *user, pons_error *err)
{
    pons__role *role = user;
    pons_value *calls = NULL, *messages = NULL;
    int rc = pons__calls_run(role, cx, pons_cx_get(cx, "calls"), &calls, &messages, err);
    if (rc < 0) {
        return rc;
    }
    bool stopped = false;
    for (size_t k = 0; k < json_array_size(calls); k++) {
        stopped = stopped || pons_get_bool(json_array_get(calls, k), "stopped", false);
    }
    if (stopped) {
        pons_value *rest = left_undone(cx, calls);
        json_array_extend(messages, rest);
        pons_value_unref(rest);
    }
    if (json_array_size(messages) > 0) {
        pons_cx_put(cx, "turn", messages);
    } else {
        pons_value_unref(messages);
    }
    if (stopped) {
        end(cx, "stopped", json_object());
        pons_cx_put(cx, "calls", json_array());
        pons_value_unref(calls);
        return PONS_OK;
    }
    bool ended = false, reported = false;
    rc = looked_at(role, cx, calls, &ended, &reported, err);
    if (rc < 0 || ended || reported) { // nothing after that is run
        pons_value_unref(calls);
        return rc < 0 || reported ? rc : pons_cx_put(cx, "calls", json_array());
    }
    pons_value *vetted = NULL;
    rc = pons__calls_vet(role, cx, calls, &vetted, err);
    return rc < 0 ? rc : pons_cx_put(cx, "calls", vetted);
}

// ---- think --------------------------------------------------------------------------------------

static pons_value *spent_line(const pons__role *role)
{
    return json_sprintf(
        "the turn's budget of %lld model calls is used up (graph.settings.model_calls)",
        (long long)pons__cfg_int(role->a->config, "settings.model_calls"));
}

// What the model says when nothing may be called any more.
static int take_last_words(pons__role *role, pons_cx *cx, const pons_value *answer)
{
    const pons_value *shown = pons_get(answer, "shown");
    const char *content =
        pons_get_str(pons_get(answer, "reply"), "content", pons_get_str(answer, "said", ""));
    pons_autovalue line = spent_line(role);
    if (shown) {
        pons__agent_emit(role->a, cx, NULL, "llm_end", pons_value_ref(shown));
    }
    if (!*content) {
        end(cx, "failed", pons_object("error", pons_value_ref(line), NULL));
        return PONS_OK;
    }
    char id[PONS_ID_MAX];
    pons_cx_id(cx, id);
    pons_cx_put(cx, "turn",
                pons_object("id", json_string(id), "role", json_string("assistant"), "content",
                            json_string(content), NULL));
    pons__agent_emit(role->a, cx, NULL, "error",
                     pons_object("content", pons_value_ref(line), NULL));
    if (pons_get_bool(answer, "stopped", false)) {
        end(cx, "stopped", json_object());
    } else {
        end(cx, "answer", pons_object("content", json_string(content), NULL));
    }
    return PONS_OK;
}

// The user stopped while a plan was under way: what comes back from it is not answered.
static bool stopped_before(const pons__role *role)
{
    const char *outcome = json_string_value(pons_run_get(role->a->run, "agent_outcome"));
    return outcome && strcmp(outcome, "stopped") == 0;
}

// The agent's count goes on when it comes back from a plan, so that plan after plan ends too.
static int64_t thought(const pons__role *role, int64_t here)
{
    return here + (role->executor
                       ? 0
                       : json_integer_value(pons_run_get(role->a->run, "agent_iterations")));
}

// An answer that is none: the model is told, so often; then the loop ends, and this is false.
static bool ask_again(pons__role *role, pons_cx *cx, const char *why)
{
    const pons_value *was = pons_cx_get(cx, "faults");
    const int64_t n = pons_get_int(was, "n", 0) + 1;
    const int64_t most = pons__cfg_int(role->a->config, "settings.faults_max");
    if (n > most) {
        end(cx, "failed",
            pons_object("error",
                        most > 0 ? json_sprintf("%lld answers of the model in a row can't be used "
                                                "(graph.settings.faults_max): %s",
                                                (long long)n, why)
                                 : json_string(why),
                        NULL));
        return false;
    }
    pons_cx_put(cx, "faults",
                pons_object("n", json_integer(n), "text", json_string(why), "squeeze",
                            json_integer(pons_get_int(was, "squeeze", 0)), NULL));
    return true;
}

// Whether no call of a reply can be made; *ret_why of the first.
static bool all_faulty(const pons_value *calls, const char **ret_why)
{
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const char *why = pons_get_str(json_array_get(calls, i), "fault", NULL);
        if (!why) {
            return false;
        }
        *ret_why = i == 0 ? why : *ret_why;
    }
    return true;
}

// Whether a person has said no to this very call in this turn.
static bool was_refused(const pons_value *turn, const pons_value *call)
{
    const char *id = NULL;
    for (size_t i = 0; i < json_array_size(turn); i++) {
        const pons_value *m = json_array_get(turn, i), *made = pons_get(m, "tool_calls");
        if (strcmp(pons_get_str(m, "role", ""), "tool") != 0) {
            id = NULL; // ids are the model's: they hold for a reply
        } else if (id && strcmp(pons_get_str(m, "tool_call_id", ""), id) == 0 &&
                   strncmp(pons_get_str(m, "content", ""), PONS__REFUSED_BY_PERSON,
                           strlen(PONS__REFUSED_BY_PERSON)) == 0) {
            return true;
        }
        pons_each(c, made) {
            if (json_equal(pons_get(c, "name"), pons_get(call, "name")) &&
                json_equal(pons_get(c, "arguments"), pons_get(call, "arguments"))) {
                id = pons_get_str(c, "id", "");
            }
        }
    }
    return false;
}

// A model that wants the same again after a no would have the person asked for as long as it may call: that
// is an answer that can't be used, and so many of them end the turn. The caller's; NULL: no such call.
static pons_value *without_refused(const pons_value *turn, const pons_value *reply)
{
    const pons_value *calls = pons_get(reply, "tool_calls");
    pons_value *marked = NULL;
    for (size_t i = 0; i < json_array_size(calls); i++) {
        if (!pons_get(json_array_get(calls, i), "fault") &&
            was_refused(turn, json_array_get(calls, i))) {
            marked = marked ? marked : json_deep_copy((pons_value *)(uintptr_t)reply);
            json_object_set_new(json_array_get(json_object_get(marked, "tool_calls"), i), "fault",
                                json_string("a person has refused this very call already: do "
                                            "something else, or say what is left undone"));
        }
    }
    return marked;
}

// Too long for the model: it is asked again with less.
static bool squeezed(pons_cx *cx, const char *error)
{
    const pons_value *was = pons_cx_get(cx, "faults");
    const int64_t n = pons_get_int(was, "squeeze", 0);
    if (n >= SQUEEZES_MAX || !pons__context_overflow(error)) {
        return false;
    }
    pons_cx_put(cx, "faults",
                pons_object("n", json_integer(pons_get_int(was, "n", 0)), "text",
                            json_string(pons_get_str(was, "text", "")), "squeeze",
                            json_integer(n + 1), NULL));
    return true;
}

// Why a call can't be made, with what the model wrote; an unknown tool is for the vetting to name.
static pons_value *refusal_of(const pons__role *role, const pons_value *c)
{
    const char *fault = pons_get_str(c, "fault", NULL), *wrote = pons_get_str(c, "written", NULL);
    if (!fault || !pons__registry_find(&role->a->registry, pons_get_str(c, "name", ""))) {
        return NULL;
    }
    return wrote ? json_sprintf("%s. You wrote: %s", fault, wrote) : json_string(fault);
}

// plan_create goes last, whatever the model's order, for what follows it would be out of place; a
// second one is refused before the first, which ends the loop.
static pons_value *calls_of(pons__role *role, const pons_value *reply)
{
    pons_value *list = json_array(), *late = json_array();
    pons_autovalue motivation = pons__agent_cut(pons_get_str(reply, "content", ""), 500);
    bool planned = false;
    pons_each(c, pons_get(reply, "tool_calls")) {
        const char *name = pons_get_str(c, "name", "");
        const bool plan = strcmp(name, PONS__PLAN_CREATE) == 0;
        pons_value *refusal = refusal_of(role, c);
        const bool second = plan && !refusal && planned;
        planned = planned || (plan && !refusal);
        pons_value *call = pons_object(
            "id", pons_value_ref(pons_get(c, "id")), "name", json_string(name), "arguments",
            pons_get(c, "arguments") ? pons_value_ref(pons_get(c, "arguments")) : json_object(),
            "motivation", pons_value_ref(motivation), "node",
            json_string(role->executor ? "executor" : "agent"), "state", json_string("pending"),
            "refusal",
            refusal                   ? refusal
            : c_at >= PONS__CALLS_MAX ? json_string("too many calls in one reply")
            : second                  ? json_string("one plan at a time: this one was left out")
                                      : NULL,
            NULL);
        json_array_append_new(plan && !second && !refusal ? late : list, call);
    }
    json_array_extend(list, late);
    pons_value_unref(late);
    return list;
}

// A message has its call's id: who heard its tokens knows which it is.
static void reply_id(pons_cx *cx, const pons_value *shown, char id[PONS_ID_MAX])
{
    const char *call = pons_get_str(shown, "call_id", NULL);
    pons_cx_id(cx, id);
    if (call) {
        snprintf(id, PONS_ID_MAX, "%s", call);
    }
}

// What was said so far is kept.
static void end_stopped(pons_cx *cx, const char *id, const char *said)
{
    if (*said) {
        pons_cx_put(cx, "turn",
                    pons_object("id", json_string(id), "role", json_string("assistant"), "content",
                                json_string(said), NULL));
    }
    end(cx, "stopped", json_object());
}

// answer: {reply, shown} or {error, shown}.
static int take_reply(pons__role *role, pons_cx *cx, const pons_value *answer, pons_error *err)
{
    const pons_value *shown = pons_get(answer, "shown"), *reply = pons_get(answer, "reply");
    const char *error = pons_get_str(answer, "error", NULL);
    if (shown) {
        pons__agent_emit(role->a, cx, NULL, "llm_end", pons_value_ref(shown));
    }
    if (error) {
        if (!squeezed(cx, error)) {
            end(cx, "failed", pons_object("error", json_string(error), NULL));
        }
        return PONS_OK;
    }
    char id[PONS_ID_MAX];
    reply_id(cx, shown, id);
    if (pons_get_bool(answer, "stopped", false)) {
        end_stopped(cx, id, pons_get_str(answer, "said", ""));
        return PONS_OK;
    }
    pons_autovalue marked = without_refused(pons_cx_get(cx, "turn"), reply);
    reply = marked ? marked : reply;
    const pons_value *calls = pons_get(reply, "tool_calls");
    const char *content = pons_get_str(reply, "content", pons_get_str(reply, "refusal", ""));
    const bool any = json_array_size(calls) > 0;
    const char *fault = pons_get_str(reply, "fault", NULL);
    if (!any && (fault || !*content)) {
        ask_again(role, cx, fault ? fault : "the model answered with nothing");
        return PONS_OK;
    }
    if (any && all_faulty(calls, &fault)) { // each is told as its call's result, too
        if (!ask_again(role, cx, fault)) {
            return PONS_OK;
        }
    } else if (pons_get_int(pons_cx_get(cx, "faults"), "n", 0) > 0) {
        pons_cx_put(cx, "faults",
                    pons_object("n", json_integer(0), "squeeze",
                                json_integer(pons_get_int(pons_cx_get(cx, "faults"), "squeeze", 0)),
                                NULL));
    }
    pons_cx_put(cx, "turn",
                pons_object("id", json_string(id), "role", json_string("assistant"), "content",
                            any && !*content ? json_null() : json_string(content), "tool_calls",
                            any ? pons_value_ref(calls) : NULL, "extra",
                            pons_value_ref(pons_get(reply, "extra")), NULL));
    if (!any) {
        if (role->executor) {
            return pons__step_reported(role, cx, true, content, err);
        }
        end(cx, "answer", pons_object("content", json_string(content), NULL));
        return PONS_OK;
    }
    pons_value *vetted = NULL;
    const int rc = pons__calls_vet(role, cx, calls_of(role, reply), &vetted, err);
    return rc < 0 ? rc : pons_cx_put(cx, "calls", vetted);
}

// Ends the loop where the model may not be asked again.
static bool must_end(pons__role *role, pons_cx *cx, int64_t here, bool spent)
{
    const char *limit_key =
        role->executor ? "nodes.executor.max_iterations" : "nodes.agent.max_iterations";
    const int64_t limit = pons__cfg_int(role->a->config, limit_key);
    if (thought(role, here) >= limit) {
        end(cx, "limit",
            pons_object("error",
                        json_sprintf("%s: %lld model calls without an answer (graph.%s)",
                                     role->executor ? "executor" : "agent", (long long)limit,
                                     limit_key),
                        NULL));
        return true;
    }
    if (stopped_before(role)) {
        end(cx, "stopped", json_object());
        return true;
    }
    if (spent && (role->executor || json_is_true(pons_cx_get(cx, "spent")))) {
        end(cx, "failed", pons_object("error", spent_line(role), NULL));
        return true;
    }
    return false;
}

// What the model is told of its last answer, or that it is the last one.
static pons_value *complaint_of(pons__role *role, const pons_value *faults, bool spent)
{
    if (spent) {
        pons_autovalue line = spent_line(role);
        return json_sprintf("%s. Call no tool any more. Tell the user in a few sentences what was "
                            "done, what was found, and what is left.",
                            json_string_value(line));
    }
    return pons_get_int(faults, "n", 0) > 0
               ? json_sprintf(
                     "Your last answer can't be used: %s. Answer again: in words, or with a call "
                     "that is whole; if it was too long, do less at a time.",
                     pons_get_str(faults, "text", ""))
               : NULL;
}

static int think(pons_cx *cx, void *user, pons_error *err)
{
    pons__role *role = user;
    pons_agent *a = role->a;
    const int64_t here = json_integer_value(pons_cx_get(cx, "iterations"));
    if (!role->executor && pons__given(a)) {
        return pons_cx_put(cx, "ended", pons__given_ended(a));
    }
    const bool spent =
        pons__calls_before(role) + here >= pons__cfg_int(a->config, "settings.model_calls");
    if (must_end(role, cx, here, spent)) {
        return PONS_OK;
    }
    pons_value *summary = NULL, *question = pons__pictures_question(role, cx);
    bool over = false;
    if (question) {
        const int asked = pons__calls_vet(role, cx, question, &question, err);
        return asked < 0 ? asked : pons_cx_put(cx, "calls", question);
    }
    int rc =
        role->executor || here > 0 ? PONS_OK : pons__loop_compact(role, cx, &summary, &over, err);
    if (rc < 0 || over) {
        return rc;
    }
    pons_autovalue known = summary ? summary : pons_value_ref(pons_cx_get(cx, "summary"));
    char call_id[PONS_ID_MAX];
    pons_cx_id(cx, call_id);
    const pons_value *turn = pons_cx_get(cx, "turn"), *answer = NULL,
                     *faults = pons_cx_get(cx, "faults");
    pons_value *complaint = complaint_of(role, faults, spent);
    pons_value_unref(a->draft);
    a->draft = pons_value_ref(turn);
    snprintf(a->draft_ns, sizeof a->draft_ns, "%s", pons_cx_ns(cx));
    pons_value *request = pons_object(
        "node", json_string(role->executor ? "executor" : "agent"), "ns",
        json_string(pons_cx_ns(cx)), "call_id", json_string(call_id), "complaint", complaint,
        "closing", spent ? json_true() : NULL, "squeeze",
        pons_get(faults, "squeeze") ? pons_value_ref(pons_get(faults, "squeeze")) : NULL, "summary",
        json_is_object(known) ? pons_value_ref(known) : NULL, NULL);
    rc = pons_await(cx, PONS__MODEL_CALL, request, 0, &answer, err);
    if (rc < 0) {
        return rc;
    }
    pons_cx_put(cx, "iterations", json_integer(here + 1 + (summary ? 1 : 0)));
    if (summary) {
        pons_cx_put(cx, "summary", pons_value_ref(summary));
    }
    if (spent) {
        pons_cx_put(cx, "spent", json_true());
        return take_last_words(role, cx, answer);
    }
    return take_reply(role, cx, answer, err);
}

// ---- the executor's beginning -------------------------------------------------------------------

static int begin(pons_cx *cx, void *user, pons_error *err)
{
    return pons__step_begin(user, cx, err);
}

// ---- the end of a loop --------------------------------------------------------------------------

static int hand_over(pons_cx *cx, pons_value *update, pons_error *err)
{
    const pons_command cmd = {.update = update, .parent = true};
    return pons_cx_command(cx, &cmd, err);
}

static int finish_agent(pons__role *role, pons_cx *cx, const pons_value *ended, pons_error *err)
{
    pons_agent *a = role->a;
    const char *status = pons_get_str(ended, "status", "");
    const pons_value *turn = pons_cx_get(cx, "turn");
    pons_value *pending = json_array();
    pons_autovalue messages = json_array();
    const int64_t total = thought(role, json_integer_value(pons_cx_get(cx, "iterations")));
    json_array_extend(messages, (pons_value *)(uintptr_t)turn);
    pons_value *update = pons_object(
        "agent_iterations", json_integer(total), "turn_calls",
        json_integer(pons__calls_before(role) + json_integer_value(pons_cx_get(cx, "iterations"))),
        "compact", json_null(), "pending_events", pending, NULL);
    if (strcmp(status, "plan") == 0) {
        pons_plan *p = NULL;
        char plan_id[24], message_id[PONS_ID_MAX];
        snprintf(plan_id, sizeof plan_id, "plan_%08x", (unsigned)pons_cx_random(cx));
        pons_cx_id(cx, message_id);
        const double now_s = (double)pons_wall_ms(&a->opts.clock) / 1e3;
        const pons_value *given = pons_get(ended, "plan");
        const int rc =
            given ? pons_plan_from_value(given, now_s, &p, err)
                  : pons__agent_plan_make(pons_get(ended, "arguments"), plan_id, now_s, &p, err);
        if (rc < 0) {
            pons_value_unref(update);
            return rc;
        }
        pons_autovalue data = pons_object("call_id", pons_value_ref(pons_get(ended, "call_id")),
                                          "message_id", json_string(message_id), NULL);
        pons_value *plan_data = pons__agent_plan_store(data, p);
        json_array_append_new(messages, pons__agent_plan_message(plan_data, p, NULL, NULL));
        json_object_set_new(update, "messages",
                            pons__compacted(role, cx, pons_value_ref(messages)));
        json_object_set_new(update, "plan_data", plan_data);
        json_object_set_new(update, "agent_outcome", json_string("plan_create"));
        pons__agent_emit(a, cx, pending, "phase",
                         pons_object("phase", json_string("planning"), NULL));
        pons_plan_destroy(p);
        return hand_over(cx, update, err);
    }
    json_object_set_new(update, "messages", pons__compacted(role, cx, pons_value_ref(messages)));
    const bool stopped = strcmp(status, "stopped") == 0;
    const char *error = pons_get_str(ended, "error", NULL);
    const char *content = error ? error : pons_get_str(ended, "content", "");
    json_object_set_new(update, "agent_outcome", json_string("respond"));
    json_object_set_new(update, PONS__GIVEN, json_null());
    if (error) {
        pons__agent_emit(a, cx, pending, "error", pons_object("content", json_string(error), NULL));
    }
    pons__agent_emit(a, cx, pending, "done",
                     pons_object("status",
                                 json_string(stopped ? "stopped"
                                             : error ? "failed"
                                                     : "success"),
                                 "content", json_string(content), NULL));
    return hand_over(cx, update, err);
}

static int end_step(pons_plan *p, int64_t at, bool refused, bool failed, pons_error *err)
{
    pons_step_status to = failed ? PONS_STEP_FAILED : PONS_STEP_SUCCESS;
    if (refused) {
        to = PONS_STEP_SKIPPED;
    }
    const int rc = pons_plan_step_move(&p->steps[at], to, err);
    // A person's no ends the plan.
    return rc >= 0 && refused ? pons_plan_move(p, PONS_PLAN_CANCELLED, err) : rc;
}

static int finish_executor(pons__role *role, pons_cx *cx, const pons_value *ended, pons_error *err)
{
    pons_agent *a = role->a;
    const pons_value *plan_data = pons_run_get(a->run, "plan_data");
    const bool stopped = strcmp(pons_get_str(ended, "status", ""), "stopped") == 0;
    const bool refused = strcmp(pons_get_str(ended, "status", ""), PONS__STEP_REFUSED) == 0;
    const bool answered = strcmp(pons_get_str(ended, "status", ""), "answer") == 0;
    const char *error = stopped    ? "stopped by the user"
                        : answered ? NULL
                                   : pons_get_str(ended, "error", "failed");
    const char *content = error ? error : pons_get_str(ended, "content", "");
    const int64_t at = json_integer_value(pons_run_get(a->run, "current_step_index"));
    pons_plan *p = NULL;
    int rc = pons__agent_plan_load(plan_data, &p, err);
    rc = rc < 0 ? rc : end_step(p, at, refused, error != NULL, err);
    if (rc < 0) {
        pons_plan_destroy(p);
        return rc;
    }
    char title[512];
    pons__agent_step_title(&p->steps[at], title, sizeof title);
    pons_value *pending = json_array();
    pons__agent_emit(a, cx, pending, "plan_updated",
                     pons_object("plan_id", json_string(p->plan_id), "step_id",
                                 json_integer(p->steps[at].step_id), "status",
                                 json_string(refused ? "skipped"
                                             : error ? "failed"
                                                     : "completed"),
                                 NULL));
    pons_value *response = error ? json_sprintf(PONS__RESPONSE_FAILED "%s", error)
                                 : pons__agent_ends(content, PONS__SHOWN_MAX * 4);
    pons_value *past = json_pack("[[so]]", title, pons_value_ref(response));
    pons_autovalue all = json_array();
    json_array_extend(all, (pons_value *)(uintptr_t)pons_run_get(a->run, "past_steps"));
    json_array_extend(all, past);
    pons_value *update = pons_object(
        "past_steps", past, "step_response", response, "pending_events", pending, "turn_calls",
        json_integer(pons__calls_before(role) + json_integer_value(pons_cx_get(cx, "iterations"))),
        NULL);
    if (stopped) {
        json_object_set_new(update, "agent_outcome", json_string("stopped"));
    }
    if (pons__cfg_bool(a->config, "nodes.replanner.enabled")) {
        json_object_set_new(update, "plan_data", pons__agent_plan_store(plan_data, p));
        json_object_set_new(update, "messages", pons__agent_plan_message(plan_data, p, all, NULL));
        pons__agent_emit(a, cx, pending, "phase",
                         pons_object("phase", json_string("replanning"), NULL));
    } else {
        pons__agent_plan_go_on(a, cx, pending, plan_data, p, all,
                               stopped || refused || pons__given(a) ? error : NULL, update);
    }
    pons_plan_destroy(p);
    return hand_over(cx, update, err);
}

static int finish(pons_cx *cx, void *user, pons_error *err)
{
    pons__role *role = user;
    const pons_value *ended = pons_cx_get(cx, "ended");
    return role->executor ? finish_executor(role, cx, ended, err)
                          : finish_agent(role, cx, ended, err);
}

// ---- graph --------------------------------------------------------------------------------------

static int where(pons_cx *cx, void *user, pons_error *err)
{
    const bool ended = json_is_object(pons_cx_get(cx, "ended"));
    const bool calls = pons__calls_pending(pons_cx_get(cx, "calls"));
    pons_cx_goto(cx, ended && !calls ? "finish" : calls ? "act" : "think");
    return PONS_OK;
}

int pons__loop_graph(pons__role *role, pons_graph **ret, pons_error *err)
{
    static const char *const from_begin[] = {"think", "act", "finish", NULL};
    static const char *const from_think[] = {"act", "think", "finish", NULL};
    static const char *const from_act[] = {"think", "act", "finish", NULL};
    const pons_channel_options last = PONS_CHANNEL_OPTIONS_INIT;
    const pons_channel_options messages = {.kind = PONS_CHANNEL_MESSAGES};
    pons_graph_builder *g = pons_graph_builder_create(role->executor ? "executor" : "agent");
    pons_graph_channel(g, "turn", &messages);
    pons_graph_channel(g, "calls", &last);
    pons_graph_channel(g, "iterations", &last);
    pons_graph_channel(g, "step", &last);
    pons_graph_channel(g, "ended", &last);
    pons_graph_channel(g, "faults",
                       &last); // {n, text, squeeze}: what was wrong with the last answers
    pons_graph_channel(g, "summary", &last); // {text, upto}: of the conversation before
    pons_graph_channel(g, "spent", &last);   // the budget is: the last words are being asked for
    pons_graph_channel(g, "consent", &last); // a person was asked about this loop's pictures
    if (role->executor) {
        pons_graph_node(g, "begin", begin, role);
        pons_graph_router(g, "begin", where, role, from_begin);
    }
    pons_graph_node(g, "think", think, role);
    pons_graph_node(g, "act", act, role);
    pons_graph_node(g, "finish", finish, role);
    pons_graph_edge(g, PONS_START, role->executor ? "begin" : "think");
    pons_graph_edge(g, "finish", PONS_END); // it leaves by its command
    pons_graph_router(g, "think", where, role, from_think);
    pons_graph_router(g, "act", where, role, from_act);
    // max_iterations is the limit that counts: one think, and an act for every call of it.
    const pons_graph_options opts = {.recursion_limit = 1 << 30};
    const int rc = pons_graph_compile(g, &opts, ret, err);
    pons_graph_builder_destroy(g);
    return rc;
}
