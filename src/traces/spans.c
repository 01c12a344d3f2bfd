// spans.c - what happens as OpenTelemetry spans, named by the conventions for generative AI.
//
//     a run of a graph    invoke_workflow     its first task … its end, a root where nothing else is one
//       a task              node NAME         begins … ends, waits or fails; of the task that called it
//     an agent's turn     invoke_agent agent   llm_start … done, a root
//       a model's call      chat MODEL         llm_start … llm_end
//       a tool's call       execute_tool NAME  by tool_end's duration
//     a task of the robot invoke_agent robot   task.active … task.done, a root
//       a decision          decide             observation … decision; chat when a model was asked
//       a skill             execute_tool NAME  effect dispatched … its end
//     what a companion does invoke_agent companion  decision … action.ended, a root; times are of its life
//       its decision        decide             the decision's minute; chat when a model was asked
//       the action          execute_tool NAME  action.started … action.ended
//
// Spans are made of the events and task notes that the host has anyway, so that no other part knows of
// traces. What is open is in a table of OPEN_MAX; a span whose end does not come is dropped when its
// place is needed. What people and models said is not in spans: names, times, counts and ends are.
#include "pons/random.h"
#include "pons/traces.h"
#include "traces/otlp_export.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MAX      256
#define KIND_INTERNAL 1
#define KIND_CLIENT   3
#define STATUS_ERROR  2

typedef enum sort { TURN, TASK, CALL, LOOK, EFFECT, RUN, NODE, LIFE, ACT } sort;

typedef struct open_span { // begun, and its end has not come
    bool used;
    sort sort;
    char thread[PONS_NAME_MAX], key[80];
    char trace[33], id[17], parent[17];
    int64_t since_ms;
    uint64_t age;
} open_span;

struct pons_traces {
    pons__export *x;
    pthread_mutex_t mtx;
    open_span open[OPEN_MAX]; // [mtx]
    uint64_t next_age;        // [mtx]
    pons_rand rand;           // [mtx]
};

// ---- what is open: under mtx --------------------------------------------------------------------

static open_span *find(pons_traces *t, const char *thread, sort of, const char *key)
{
    for (size_t i = 0; i < OPEN_MAX; i++) {
        open_span *o = &t->open[i];
        if (o->used && o->sort == of && strcmp(o->thread, thread) == 0 &&
            (!key || strcmp(o->key, key) == 0)) {
            return o;
        }
    }
    return NULL;
}

static void fresh_id(pons_traces *t, char *ret, size_t digits)
{
    for (size_t i = 0; i < digits; i += 16) {
        snprintf(ret + i, 17, "%016" PRIx64, pons_rand_u64(&t->rand));
    }
}

static open_span *root_of(pons_traces *t, const char *thread)
{
    open_span *root = find(t, thread, TURN, NULL);
    root = root ? root : find(t, thread, TASK, NULL);
    return root ? root : find(t, thread, RUN, NULL);
}

static void place(pons_traces *t, open_span *o, const char *thread)
{
    const open_span *root = root_of(t, thread);
    if (root && root != o) {
        memcpy(o->trace, root->trace, sizeof o->trace);
        memcpy(o->parent, root->id, sizeof o->parent);
    } else {
        fresh_id(t, o->trace, 32);
        o->parent[0] = '\0';
    }
    fresh_id(t, o->id, 16);
}

static open_span *begin(pons_traces *t, const pons_event *ev, sort of, const char *key)
{
    open_span *o = &t->open[0];
    for (size_t i = 0; i < OPEN_MAX && o->used; i++) {
        const open_span *other = &t->open[i];
        o = !other->used || other->age < o->age ? &t->open[i] : o;
    }
    *o = (open_span){.sort = of, .since_ms = ev->ts_ms, .age = t->next_age++};
    snprintf(o->thread, sizeof o->thread, "%s", ev->thread);
    snprintf(o->key, sizeof o->key, "%s", key);
    place(t, o, ev->thread);
    o->used = true;
    return o;
}

// ---- a span as OTLP has it ----------------------------------------------------------------------

static void put_text(pons_value *list, const char *key, const char *text)
{
    if (text && *text) {
        json_array_append_new(list, pons_object("key", json_string(key), "value",
                                                pons_object("stringValue", json_string(text), NULL),
                                                NULL));
    }
}

static void put_number(pons_value *list, const char *key, int64_t n)
{
    json_array_append_new(
        list, pons_object("key", json_string(key), "value",
                          pons_object("intValue", json_sprintf("%" PRId64, n), NULL), NULL));
}

// Takes attributes. to < since: a clock was set back; then it took no time.
static void send_span(pons_traces *t, const open_span *o, int64_t until_ms, const char *name,
                      int kind, pons_value *attributes, bool failed)
{
    const int64_t until = until_ms < o->since_ms ? o->since_ms : until_ms;
    pons__export_span(
        t->x,
        pons_object("traceId", json_string(o->trace), "spanId", json_string(o->id), "parentSpanId",
                    o->parent[0] ? json_string(o->parent) : NULL, "name", json_string(name), "kind",
                    json_integer(kind), "startTimeUnixNano",
                    json_sprintf("%" PRId64 "000000", o->since_ms), "endTimeUnixNano",
                    json_sprintf("%" PRId64 "000000", until), "attributes", attributes, "status",
                    failed ? pons_object("code", json_integer(STATUS_ERROR), NULL) : json_object(),
                    NULL));
}

static pons_value *of_operation(const char *operation, const char *thread)
{
    pons_value *a = json_array();
    put_text(a, "gen_ai.operation.name", operation);
    put_text(a, "gen_ai.conversation.id", thread);
    return a;
}

// ---- agents -------------------------------------------------------------------------------------

static void on_model_start(pons_traces *t, const pons_event *ev)
{
    if (!find(t, ev->thread, TURN, NULL)) {
        begin(t, ev, TURN, "");
    }
    begin(t, ev, CALL, pons_get_str(ev->payload, "call_id", ""));
}

static void on_model_end(pons_traces *t, const pons_event *ev)
{
    open_span *o = find(t, ev->thread, CALL, pons_get_str(ev->payload, "call_id", ""));
    const pons_value *tokens = pons_get(ev->payload, "tokens");
    const char *model = pons_get_str(ev->payload, "model", "");
    char name[128];
    if (!o) {
        return;
    }
    pons_value *a = of_operation("chat", ev->thread);
    put_text(a, "gen_ai.provider.name", "pons");
    put_text(a, "gen_ai.request.model", model);
    put_text(a, "pons.node", pons_get_str(ev->payload, "node", ""));
    if (json_is_object(tokens)) {
        put_number(a, "gen_ai.usage.input_tokens", pons_get_int(tokens, "prompt", 0));
        put_number(a, "gen_ai.usage.output_tokens", pons_get_int(tokens, "completion", 0));
    }
    snprintf(name, sizeof name, "chat%s%.100s", *model ? " " : "", model);
    send_span(t, o, ev->ts_ms, name, KIND_CLIENT, a, false);
    o->used = false;
}

static void on_tool_end(pons_traces *t, const pons_event *ev)
{
    const char *tool = pons_get_str(ev->payload, "tool", "");
    char name[128];
    open_span o = {.since_ms = ev->ts_ms - pons_get_int(ev->payload, "duration_ms", 0)};
    place(t, &o, ev->thread);
    pons_value *a = of_operation("execute_tool", ev->thread);
    put_text(a, "gen_ai.tool.name", tool);
    snprintf(name, sizeof name, "execute_tool %.100s", tool);
    send_span(t, &o, ev->ts_ms, name, KIND_INTERNAL, a, false);
}

static void end_root(pons_traces *t, open_span *o, const pons_event *ev, const char *agent)
{
    const char *status = pons_get_str(ev->payload, "status", "");
    char name[64];
    const bool good = strcmp(status, "success") == 0 || strcmp(status, "succeeded") == 0;
    pons_value *a = of_operation("invoke_agent", ev->thread);
    put_text(a, "gen_ai.agent.name", agent);
    put_text(a, "pons.status", status);
    put_text(a, "error.type", good ? NULL : status);
    snprintf(name, sizeof name, "invoke_agent %s", agent);
    send_span(t, o, ev->ts_ms, name, KIND_INTERNAL, a, !good);
    o->used = false;
}

// ---- the robot ----------------------------------------------------------------------------------

static void on_decision(pons_traces *t, const pons_event *ev)
{
    open_span *o = find(t, ev->thread, LOOK, NULL);
    const pons_value *model = pons_get(ev->payload, "model");
    if (!o) {
        return;
    }
    pons_value *a = of_operation(model ? "chat" : NULL, ev->thread);
    put_text(a, "pons.decision.type", pons_get_str(pons_get(ev->payload, "decision"), "type", ""));
    put_text(a, "pons.decision.source", pons_get_str(ev->payload, "source", ""));
    if (model) {
        put_text(a, "gen_ai.provider.name", "pons");
        put_number(a, "pons.model.calls", pons_get_int(model, "calls", 0));
        put_number(a, "pons.model.tokens", pons_get_int(model, "tokens", 0));
    }
    send_span(t, o, ev->ts_ms, model ? "chat" : "decide", model ? KIND_CLIENT : KIND_INTERNAL, a,
              false);
    o->used = false;
}

static void on_effect(pons_traces *t, const pons_event *ev)
{
    const char *id = pons_get_str(ev->payload, "goal_id", "");
    const char *state = pons_get_str(ev->payload, "state", "");
    const char *skill = pons_get_str(ev->payload, "skill", "");
    char name[128];
    if (strcmp(state, "dispatched") == 0) {
        begin(t, ev, EFFECT, id);
        return;
    }
    open_span *o = find(t, ev->thread, EFFECT, id);
    if (!o || strcmp(state, "accepted") == 0) {
        return;
    }
    const bool good = strcmp(state, "done") == 0;
    pons_value *a = of_operation("execute_tool", ev->thread);
    put_text(a, "gen_ai.tool.name", skill);
    put_text(a, "gen_ai.tool.call.id", id);
    put_text(a, "pons.effect.state", state);
    put_text(a, "error.type", good ? NULL : state);
    snprintf(name, sizeof name, "execute_tool %.100s", skill);
    send_span(t, o, ev->ts_ms, name, KIND_INTERNAL, a, !good);
    o->used = false;
}

// ---- the companion ------------------------------------------------------------------------------

// A decision for an action opens what it does; one for none is a span of its own.
static void on_life_decision(pons_traces *t, const pons_event *ev, const char *action)
{
    const open_span *root = find(t, ev->thread, LIFE, action);
    open_span o = {.since_ms = ev->ts_ms};
    const pons_value *model = pons_get(ev->payload, "model");
    fresh_id(t, o.trace, 32);
    fresh_id(t, o.id, 16);
    if (*action && !root) {
        open_span *fresh = begin(t, ev, LIFE, action);
        fresh_id(t, fresh->trace, 32);
        fresh->parent[0] = '\0';
        root = fresh;
    }
    if (root) {
        memcpy(o.trace, root->trace, sizeof o.trace);
        memcpy(o.parent, root->id, sizeof o.parent);
    }
    pons_value *a = of_operation(model ? "chat" : NULL, ev->thread);
    put_text(a, "pons.decision.type", action);
    put_text(a, "pons.decision.source", pons_get_str(ev->payload, "branch", ""));
    put_text(a, "gen_ai.provider.name", model ? "pons" : NULL);
    send_span(t, &o, ev->ts_ms, model ? "chat" : "decide", model ? KIND_CLIENT : KIND_INTERNAL, a,
              false);
}

static void end_life(pons_traces *t, const pons_event *ev, open_span *o, const char *operation,
                     const char *what, const char *status)
{
    char name[128];
    const bool good = strcmp(status, "done") == 0;
    pons_value *a = of_operation(operation, ev->thread);
    put_text(a, o->sort == LIFE ? "gen_ai.agent.name" : "gen_ai.tool.name", what);
    put_text(a, "pons.status", status);
    put_text(a, "error.type", good ? NULL : status);
    snprintf(name, sizeof name, "%s %.100s", operation, what);
    send_span(t, o, ev->ts_ms, name, KIND_INTERNAL, a, !good);
    o->used = false;
}

static void on_life(pons_traces *t, const pons_event *ev)
{
    const char *action = pons_get_str(pons_get(ev->payload, "action"), "type", "");
    const char *status = pons_get_str(ev->payload, "status", "");
    open_span *root = find(t, ev->thread, LIFE, action), *act;
    if (strcmp(ev->type, "decision") == 0) {
        if (root && !find(t, ev->thread, ACT, action)) { // what was decided before has not begun
            root->used = false;
        }
        on_life_decision(t, ev, action);
    } else if (strcmp(ev->type, "action.started") == 0) {
        act = begin(t, ev, ACT, action);
        if (root) {
            memcpy(act->trace, root->trace, sizeof act->trace);
            memcpy(act->parent, root->id, sizeof act->parent);
        }
    } else if (strcmp(ev->type, "action.ended") == 0) {
        act = find(t, ev->thread, ACT, action);
        if (act) {
            end_life(t, ev, act, "execute_tool", action, status);
        }
        if (root && act) {
            end_life(t, ev, root, "invoke_agent", "companion", status);
        }
    }
}

// ---- graphs -------------------------------------------------------------------------------------

static void end_run(pons_traces *t, const pons_task_seen *s)
{
    open_span *o = find(t, s->thread, RUN, s->ns);
    char name[PONS_NAME_MAX + 24];
    if (!o) {
        return;
    }
    pons_value *a = of_operation("invoke_workflow", s->thread);
    put_text(a, "gen_ai.workflow.name", s->graph);
    put_text(a, "error.type", s->status ? pons_status_word(s->status) : NULL);
    snprintf(name, sizeof name, "invoke_workflow %s", s->graph);
    send_span(t, o, s->ts_ms, name, KIND_INTERNAL, a, s->status != PONS_OK);
    o->used = false;
}

static void on_task(pons_traces *t, const pons_task_seen *s)
{
    const pons_event at = {.thread = s->thread, .ns = s->ns, .ts_ms = s->ts_ms};
    char name[PONS_NAME_MAX + 8];
    if (s->what == PONS_SEEN_RUN_ENDS) {
        end_run(t, s);
        return;
    }
    if (s->what == PONS_SEEN_BEGINS) {
        if (!root_of(t, s->thread)) {
            begin(t, &at, RUN, s->ns);
        }
        open_span *o = begin(t, &at, NODE, s->id);
        const open_span *above = *s->caller ? find(t, s->thread, NODE, s->caller) : NULL;
        if (above) {
            memcpy(o->parent, above->id, sizeof o->parent);
        }
        return;
    }
    open_span *o = find(t, s->thread, NODE, s->id);
    if (!o) {
        return;
    }
    pons_value *a = of_operation(NULL, s->thread);
    put_text(a, "pons.graph", s->graph);
    put_text(a, "pons.node", s->node);
    put_number(a, "pons.superstep", s->superstep);
    if (s->attempt > 1) {
        put_number(a, "pons.attempt", s->attempt);
    }
    put_text(a, "pons.outcome", s->what == PONS_SEEN_WAITS ? "waits" : s->cached ? "cached" : NULL);
    const bool failed = s->what == PONS_SEEN_FAILS;
    put_text(a, "error.type", failed ? pons_status_word(s->status) : NULL);
    snprintf(name, sizeof name, "node %s", s->node);
    send_span(t, o, s->ts_ms, name, KIND_INTERNAL, a, failed);
    o->used = false;
}

// ---- outside ------------------------------------------------------------------------------------

static void on_event(pons_traces *t, const pons_event *ev)
{
    const char *type = ev->type;
    open_span *o = NULL;
    if (strcmp(ev->ns, PONS_TRACES_LIFE) == 0) {
        on_life(t, ev);
    } else if (strcmp(type, "llm_start") == 0) {
        on_model_start(t, ev);
    } else if (strcmp(type, "llm_end") == 0) {
        on_model_end(t, ev);
    } else if (strcmp(type, "tool_end") == 0) {
        on_tool_end(t, ev);
    } else if (strcmp(type, "done") == 0 && (o = find(t, ev->thread, TURN, NULL))) {
        end_root(t, o, ev, "agent");
    } else if (strcmp(type, "task.active") == 0) {
        const char *id = pons_get_str(pons_get(ev->payload, "task"), "id", "");
        if (!find(t, ev->thread, TASK, id)) {
            begin(t, ev, TASK, id);
        }
    } else if (strcmp(type, "task.done") == 0 &&
               (o = find(t, ev->thread, TASK, pons_get_str(ev->payload, "task_id", "")))) {
        end_root(t, o, ev, "robot");
    } else if (strcmp(type, "observation") == 0) {
        o = find(t, ev->thread, LOOK, NULL);
        if (o) {
            o->used = false;
        }
        begin(t, ev, LOOK, "");
    } else if (strcmp(type, "decision") == 0) {
        on_decision(t, ev);
    } else if (strcmp(type, "effect") == 0) {
        on_effect(t, ev);
    }
}

void pons_traces_event(void *traces, const pons_event *ev)
{
    pons_traces *t = traces;
    if (t) {
        pthread_mutex_lock(&t->mtx);
        on_event(t, ev);
        pthread_mutex_unlock(&t->mtx);
    }
}

void pons_traces_task(void *traces, const pons_task_seen *seen)
{
    pons_traces *t = traces;
    if (t) {
        pthread_mutex_lock(&t->mtx);
        on_task(t, seen);
        pthread_mutex_unlock(&t->mtx);
    }
}

int pons_traces_open(const pons_traces_options *o, pons_traces **ret, pons_error *err)
{
    pons_traces_options own = *o;
    if (!own.url || !*own.url) {
        return pons_error_set(err, PONS_EINVAL, PONS__TRACES, "traces need the URL of a collector");
    }
    pons_http_url url = {0};
    int rc = own.http ? PONS_OK : pons_http_load(&own.http, err);
    rc = rc < 0 ? rc : own.http->url(own.url, "", &url, err);
    free(url.url);
    free(url.shown);
    pons_traces *t = rc < 0 ? NULL : calloc(1, sizeof *t);
    if (!t) {
        return rc < 0 ? rc : pons_error_set(err, PONS_ENOMEM, PONS__TRACES, "no memory for traces");
    }
    pthread_mutex_init(&t->mtx, NULL);
    pons_rand_seed_os(&t->rand);
    rc = pons__export_open(&own, &t->x, err);
    if (rc < 0) {
        pons_traces_close(t);
        return rc;
    }
    *ret = t;
    return PONS_OK;
}

void pons_traces_close(pons_traces *t)
{
    if (t) {
        pons__export_close(t->x);
        pthread_mutex_destroy(&t->mtx);
        free(t);
    }
}
