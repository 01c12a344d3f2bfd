// model_request.c - what a model is sent: the system's words, the conversation, the turn, tools.
//
//     conversation (store) --> the newest messages --> every call answered --> what fits (context_window.c)
//     the loop's own turn  --^                                                     |
//                                     tools, settings, a complaint about the last answer --> request
//
// How much a model takes is graph.settings.context_tokens, or what its server's list of models says,
// which is asked for once a conversation is long enough to matter; until somebody knows, a server that
// complains is asked again with less (`squeeze`). Tokens are bytes by the measure of the last answer's
// usage, three bytes to a token before there was one.
#include "agent/model_request.h"

#include "agent/config.h"
#include "agent/context_window.h"
#include "agent/session.h"
#include "agent/standing_approvals.h"
#include "agent/tool_registry.h"
#include "pons/agent.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_MATTERS  12000 // bytes of a conversation from which on the window is asked for
#define ANSWER_SHARE    4     // of the window is the answer's, at most
#define ANSWER_TOKENS   4096
#define SQUEEZE         0.6 // of what a server found too long
#define BYTES_PER_TOKEN 3.0
#define MEASURE_LOW     1.0
#define MEASURE_HIGH    5.0
#define MEASURE_CARE    0.9  // the next words may have more tokens than the last
#define MEASURE_FROM    2000 // bytes of a request that tells something
#define CROWDED         0.75 // of the window: then a conversation is summed up
#define COMPACT_NOW     "Now write the notes."
#define RUN_SPARE       16 // calls above the budget that a factory lets through: it is the last fence

static pons_value *as_sent(const pons_value *m)
{
    pons_value *out = pons_object("role", pons_value_ref(pons_get(m, "role")), "content",
                                  pons_value_ref(pons_get(m, "content")), NULL);
    static const char *const more[] = {"tool_calls", "tool_call_id", "extra", "pictures"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        if (pons_get(m, more[i])) {
            json_object_set_new(out, more[i], pons_value_ref(pons_get(m, more[i])));
        }
    }
    return out;
}

// The newest messages, from one of the user's on: never half of a call and its result.
static size_t history_start(const pons_value *messages, size_t most)
{
    const size_t n = json_array_size(messages);
    size_t start = n > most ? n - most : 0;
    while (start < n &&
           strcmp(pons_get_str(json_array_get(messages, start), "role", ""), "user") != 0) {
        start++;
    }
    for (size_t i = n; start == n && i-- > 0;) { // a long turn: all of it
        if (strcmp(pons_get_str(json_array_get(messages, i), "role", ""), "user") == 0) {
            return i;
        }
    }
    return start;
}

static pons_value *tools_for(pons_agent *a, bool executor)
{
    pons_value *list = json_array();
    const pons_value *specs =
        pons__cfg(a->config, executor ? "nodes.executor.tools" : "nodes.agent.tools");
    const bool plans = !executor && pons__cfg_bool(a->config, "nodes.planner.enabled");
    for (size_t i = 0; i < a->registry.n_tools; i++) {
        const pons__tool *t = &a->registry.tools[i];
        const bool plan = strcmp(t->name, PONS__PLAN_CREATE) == 0;
        const bool own = !t->provider;
        const bool offered = own ? (plan ? plans : executor) : pons__specs_have(specs, t);
        if (offered && strcmp(pons_get_str(t->item, "risk", ""), "blocked") != 0) {
            json_array_append_new(
                list,
                pons_object("name", json_string(t->name), "description",
                            json_string(pons_get_str(t->item, "description", "")), "parameters",
                            pons_get(t->item, "parameters")
                                ? pons_value_ref(pons_get(t->item, "parameters"))
                                : json_pack("{ss s{}}", "type", "object", "properties"),
                            NULL));
        }
    }
    if (json_array_size(list) == 0) {
        pons_value_unref(list);
        return NULL;
    }
    return list;
}

static pons_value *replan_schema(void)
{
    return json_pack("{ss s{s{s[sss]} s{ss} s{ss s{}}} s[ss]}", "type", "object", "properties",
                     "action", "enum", "continue", "revise", "finish", "reason", "type", "string",
                     "revised_steps", "type", "array", "items", "required", "action", "reason");
}

// The turn of a loop: what its node has just made, or after a restart what the store has.
static pons_value *turn_of(pons_agent *a, const char *ns)
{
    pons_error ignored = PONS_ERROR_INIT;
    if (a->draft && strcmp(a->draft_ns, ns) == 0) {
        return pons_value_ref(a->draft);
    }
    pons_autovalue state = NULL;
    if (pons_state_read(a->opts.store, a->thread_id, ns, &state, &ignored) < 0) {
        return NULL;
    }
    return pons_value_ref(pons_get(state, "turn"));
}

static _Atomic uint64_t call_numbers; // unique for every provider's life, whoever shares it

uint64_t pons__next_call(void)
{
    return atomic_fetch_add(&call_numbers, 1) + 1;
}

// ---- the window ---------------------------------------------------------------------------------

int64_t pons__model_tokens(const pons_agent *a)
{
    const int64_t given = pons__cfg_int(a->config, "settings.context_tokens");
    return given > 0 ? given : a->window;
}

double pons__model_bytes(const pons_agent *a)
{
    return a->bytes_per_token > 0 ? a->bytes_per_token : BYTES_PER_TOKEN;
}

void pons__model_measure(pons_agent *a, const pons_value *request, const pons_value *reply)
{
    const int64_t tokens = pons_get_int(pons_get(reply, "usage"), "prompt_tokens", 0);
    char *tools = NULL;
    const long n =
        pons_get(request, "tools") ? pons_value_line(pons_get(request, "tools"), &tools) : 0;
    const size_t bytes =
        pons__context_size(pons_get(request, "messages")) + (size_t)(n > 0 ? n : 0);
    free(tools);
    if (tokens > 0) {
        a->prompt_tokens = tokens;
    }
    if (tokens > 0 && bytes >= MEASURE_FROM) {
        const double m = (double)bytes / (double)tokens * MEASURE_CARE;
        a->bytes_per_token = m < MEASURE_LOW ? MEASURE_LOW : m > MEASURE_HIGH ? MEASURE_HIGH : m;
    }
}

// Asks the server for its list, once, and not for small talk.
static void ask_window(pons_agent *a, size_t bytes)
{
    if (a->window_asked || a->window > 0 || bytes < WINDOW_MATTERS || !a->llm.ops ||
        pons__cfg_int(a->config, "settings.context_tokens") > 0) {
        return;
    }
    pons_autovalue ask = pons_object("models", json_true(), NULL);
    pons_error ignored = PONS_ERROR_INIT;
    a->window_asked = true;
    a->window_call = pons__next_call();
    if (a->llm.ops->start(a->llm.self, a->window_call, ask, &ignored) < 0) {
        a->window_call = 0; // it has no list: a server that finds too much will say so
    }
}

void pons__model_window(pons_agent *a, const pons_llm_event *ev)
{
    const pons_value *list = pons_get(ev->value, "models");
    a->window_call = 0;
    for (size_t i = 0; ev->kind == PONS_LLM_DONE && i < json_array_size(list); i++) {
        const pons_value *m = json_array_get(list, i);
        const char *id = pons_get_str(m, "id", "");
        const bool this_one =
            (a->opts.model && strcmp(a->opts.model, id) == 0) || json_array_size(list) == 1;
        a->window = this_one ? pons_get_int(m, "context_tokens", 0) : a->window;
    }
}

// Bytes that the messages of a request may have; 0: nobody knows.
static size_t room_for(const pons_agent *a, const char *node, const pons_value *list,
                       const pons_value *tools, int64_t squeeze)
{
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "nodes.%s.max_tokens", node);
    const long n = tools ? pons_value_line(tools, &text) : 0;
    free(text);
    const double measure = pons__model_bytes(a);
    double room = 0;
    if (pons__model_tokens(a) > 0) {
        const int64_t window = pons__model_tokens(a), asked = pons__cfg(a->config, path)
                                                                  ? pons__cfg_int(a->config, path)
                                                                  : ANSWER_TOKENS;
        const int64_t answer = asked < window / ANSWER_SHARE ? asked : window / ANSWER_SHARE;
        room = (double)(window - answer) * measure - (double)(n > 0 ? n : 0);
        room = room < measure ? measure : room;
    }
    const double size = (double)pons__context_size(list);
    for (double part = size * SQUEEZE; squeeze > 0; squeeze--, part *= SQUEEZE) {
        room = room == 0 || part < room ? part : room;
    }
    return (size_t)room;
}

bool pons__model_crowded(const pons_agent *a, const pons_value *messages)
{
    const double room = (double)pons__model_tokens(a) * pons__model_bytes(a);
    return room > 0 && (double)pons__context_size(messages) > room * CROWDED;
}

// ---- the request --------------------------------------------------------------------------------

static void add(pons_value *list, const char *role, const char *text)
{
    json_array_append_new(list, pons_object("role", json_string(role), "content",
                                            json_string(text ? text : ""), NULL));
}

// The conversation, as it is or from where a summary of it ends.
static void add_history(pons_agent *a, pons_run *run, const pons_value *request, pons_value *list)
{
    const pons_value *history = pons_run_get(run, "messages"),
                     *summary = pons_get(request, "summary");
    const size_t most = (size_t)pons__cfg_int(a->config, "nodes.agent.history");
    const bool compacts = strcmp(pons_get_str(request, "node", ""), "compact") == 0;
    const size_t end =
        compacts ? (size_t)pons_get_int(request, "upto", 0) : json_array_size(history);
    size_t from = history_start(history, most);
    if (summary) {
        const size_t upto = (size_t)pons_get_int(summary, "upto", 0);
        from = from > upto ? from : upto;
        pons_autovalue reported = pons__summary_messages(pons_get_str(summary, "text", ""));
        for (size_t i = 0; i < json_array_size(reported); i++) {
            json_array_append_new(list, as_sent(json_array_get(reported, i)));
        }
    }
    for (size_t i = compacts ? 0 : from; i < end; i++) {
        json_array_append_new(list, as_sent(json_array_get(history, i)));
    }
}

#define SUMMARY_HEAD "(Notes of what was said and done here before:)\n"

bool pons__summary_is(const pons_value *message)
{
    return strncmp(pons_get_str(message, "content", ""), SUMMARY_HEAD, strlen(SUMMARY_HEAD)) == 0;
}

// By the user and answered: servers want the roles by turns, and the user first.
pons_value *pons__summary_messages(const char *text)
{
    return json_pack(
        "[oo]",
        pons_object("role", json_string("user"), "content", json_sprintf(SUMMARY_HEAD "%s", text),
                    NULL),
        pons_object("role", json_string("assistant"), "content", json_string("Noted."), NULL));
}

static void add_settings(const pons_agent *a, const char *node, pons_value *full)
{
    static const char *const settings[] = {"model", "temperature", "max_tokens"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char path[64];
        snprintf(path, sizeof path, "nodes.%s.%s", node, settings[i]);
        const pons_value *v = pons__cfg(a->config, path);
        if (v) {
            json_object_set_new(full, settings[i], pons_value_ref(v));
        }
    }
    if (a->opts.model_first && a->opts.model) {
        json_object_set_new(full, "model", json_string(a->opts.model));
    }
}

// The server to which a person lets pictures go; NULL: none, or none was asked for.
static pons_value *agreed_server(const pons_agent *a)
{
    return a->pictures_to && pons__pictures_allowed(a) ? json_string(a->pictures_to) : NULL;
}

pons_value *pons__model_request(pons_agent *a, pons_run *run, const pons_value *request)
{
    const char *node = pons_get_str(request, "node", "");
    const bool agent = strcmp(node, "agent") == 0, replanner = strcmp(node, "replanner") == 0;
    const bool compacts = strcmp(node, "compact") == 0;
    const char *system = json_string_value(pons_run_get(run, "system_prompt"));
    char *made = agent && system ? NULL : pons__agent_system(a, node);
    system = made ? made : system ? system : "";
    pons_value *list = json_array();
    add(list, "system", system);
    free(made);
    if (replanner) {
        add(list, "user", pons_get_str(request, "situation", ""));
    }
    if (agent || compacts) {
        add_history(a, run, request, list);
    }
    pons_autovalue turn =
        agent || strcmp(node, "executor") == 0 ? turn_of(a, pons_get_str(request, "ns", "")) : NULL;
    for (size_t i = 0; i < json_array_size(turn); i++) {
        json_array_append_new(list, as_sent(json_array_get(turn, i)));
    }
    list = pons__context_mend(list);
    const char *complaint = compacts ? COMPACT_NOW : pons_get_str(request, "complaint", NULL);
    const bool closing = pons_get_bool(request, "closing", false);
    pons_value *tools = replanner || compacts ? NULL : tools_for(a, !agent);
    ask_window(a, pons__context_size(list));
    const int64_t squeeze = pons_get_int(request, "squeeze", 0);
    list = pons__context_fit(list, room_for(a, node, list, tools, squeeze));
    if (complaint) {
        add(list, "user", complaint);
    }
    pons_value *full = pons_object(
        "messages", list, "tools", tools, "tool_choice",
        closing && tools ? json_string("none") : NULL, "schema", replanner ? replan_schema() : NULL,
        "schema_name", replanner ? json_string("replan_decision") : NULL, "faults", json_true(),
        "pictures_allowed", agreed_server(a), "run",
        json_sprintf("%s#%llu", a->thread_id, (unsigned long long)a->turns), "run_calls_max",
        json_integer(pons__cfg_int(a->config, "settings.model_calls") + RUN_SPARE), NULL);
    add_settings(a, compacts ? "agent" : node, full);
    return full;
}
