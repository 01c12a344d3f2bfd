// astream_events.c - the log of a run as LangChain's callbacks tell it, in the shape of astream_events, v2.
//
//     run.started, run.ended      on_chain_start, on_chain_end          of the graph
//     stream.tasks                on_chain_start, _stream, _end         of a node, parent: the run
//     stream.messages             on_chat_model_start, _stream, _end    of who speaks, parent: its node
//     stream.custom of the agent  on_tool_start, on_tool_end            of a tool
//
// A node's id is its task's, a model's its task's and its message's: so whoever reads the log again says the same. What
// a model was asked is not in the log, so its start has none. A model ends when its whole message comes,
// or with its node. A task that failed or asks has no end, as in LangChain.
#include "serve/run_events/astream_events.h"

#include <stdio.h>
#include <string.h>

void pons__callbacks_fini(pons__callbacks *c)
{
    pons_value_unref(c->input);
    pons_value_unref(c->tasks);
    pons_value_unref(c->tools);
    pons_value_unref(c->models);
    c->input = c->tasks = c->tools = c->models = NULL;
}

// One of a thing, whose start is like it but for `event` and `data`. Takes data.
static void say(pons__callbacks *c, const pons_value *thing, const char *event, pons_value *data)
{
    pons_value *e = json_copy((pons_value *)(uintptr_t)thing);
    json_object_set_new(e, "event", json_string(event));
    json_object_set_new(e, "data", data);
    c->say(c->user, e);
}

// Takes metadata and parents.
static pons_value *thing(const char *name, const char *id, pons_value *metadata,
                         pons_value *parents)
{
    return pons_object("event", json_string(""), "name", pons_string(name), "run_id",
                       pons_string(id), "parent_ids", parents, "tags", json_array(), "metadata",
                       metadata, "data", json_object(), NULL);
}

static pons_value *root(const pons__callbacks *c)
{
    return thing(c->graph, c->run, json_object(), json_array());
}

// The run, and the tasks whose subgraphs these are: "outer:TASK|inner:TASK".
static pons_value *parents(const pons__callbacks *c, const char *ns)
{
    pons_value *list = json_pack("[s]", c->run);
    while (*ns) {
        const size_t n = strcspn(ns, "|"), name = strcspn(ns, ":|");
        if (name < n) {
            json_array_append_new(list, json_stringn(ns + name + 1, n - name - 1));
        }
        ns += n + (ns[n] != '\0');
    }
    return list;
}

// ---- the graph ----------------------------------------------------------------------------------

void pons__callbacks_started(pons__callbacks *c, const pons_value *started)
{
    snprintf(c->run, sizeof c->run, "%s", pons_get_str(started, "run_id", ""));
    snprintf(c->graph, sizeof c->graph, "%s", pons_get_str(started, "graph_id", ""));
    pons_value_unref(c->tasks);
    pons_value_unref(c->tools);
    pons_value_unref(c->models);
    c->tasks = json_object();
    c->tools = json_object();
    c->models = json_object();
    pons_autovalue g = root(c);
    say(c, g, "on_chain_start",
        pons_object("input", c->input ? pons_value_ref(c->input) : json_object(), NULL));
}

void pons__callbacks_ended(pons__callbacks *c, const pons_value *values, bool failed)
{
    pons_autovalue g = root(c);
    if (!failed) {
        say(c, g, "on_chain_end",
            pons_object("output", values ? pons_value_ref(values) : json_object(), NULL));
    }
}

// ---- models -------------------------------------------------------------------------------------

static void model_ends(pons__callbacks *c, const char *id, const pons_value *whole)
{
    const pons_value *m = json_object_get(c->models, id);
    pons_autovalue start = pons_value_ref(pons_get(m, "start"));
    pons_autovalue output = pons_value_ref(whole ? whole : pons_get(m, "whole"));
    json_object_del(c->models, id);
    say(c, start, "on_chat_model_end", pons_object("output", pons_value_ref(output), NULL));
}

// Those of a task; NULL: of any.
static void models_end(pons__callbacks *c, const char *task)
{
    const char *id;
    void *next;
    pons_value *m;
    json_object_foreach_safe(c->models, next, id, m) {
        if (!task || strcmp(pons_get_str(m, "task", ""), task) == 0) {
            model_ends(c, id, NULL);
        }
    }
}

static pons_value *model_of(pons__callbacks *c, const char *id, const pons_value *meta)
{
    const char *at = pons_get_str(meta, "langgraph_checkpoint_ns", "");
    const char *name = pons_get_str(meta, "ls_model_name", pons_get_str(meta, "model", "model"));
    pons_value *above = parents(c, at);
    const pons_value *task = json_array_get(above, json_array_size(above) - 1);
    // Several nodes may speak one message.
    pons_autovalue own = json_sprintf("%s:%s", json_string_value(task), id);
    pons_value *m = pons_object("task", pons_value_ref(task), "start",
                                thing(name, json_string_value(own), pons_value_ref(meta), above),
                                "whole", NULL, NULL);
    json_object_set_new(c->models, id, m);
    say(c, pons_get(m, "start"), "on_chat_model_start",
        pons_object("input", pons_object("messages", json_array(), NULL), NULL));
    return m;
}

static void grow(pons_value *m, const pons_value *chunk)
{
    pons_value *whole = json_object_get(m, "whole");
    const char *old = pons_get_str(whole, "content", ""),
               *more = pons_get_str(chunk, "content", "");
    pons_value *text = json_sprintf("%s%s", old, more);
    whole =
        json_copy((pons_value *)(uintptr_t)(whole ? whole : chunk)); // an older one is told already
    const pons_value *calls = pons_get(chunk, "tool_calls");
    if (json_is_string(json_object_get(whole, "content"))) {
        json_object_set_new(whole, "content", text);
    } else {
        pons_value_unref(text);
    }
    if (json_array_size(calls) > 0) {
        json_object_set_new(whole, "tool_calls", pons_value_ref(calls));
    }
    json_object_set_new(m, "whole", whole);
}

static void message(pons__callbacks *c, const pons_value *payload)
{
    const pons_value *chunk = json_array_get(payload, 0), *meta = json_array_get(payload, 1);
    const char *id = pons_get_str(chunk, "id", NULL), *type = pons_get_str(chunk, "type", "");
    if (!id) {
        return;
    }
    pons_value *m = json_object_get(c->models, id);
    if (strstr(type, "Chunk")) {
        m = m ? m : model_of(c, id, meta);
        grow(m, chunk);
        say(c, pons_get(m, "start"), "on_chat_model_stream",
            pons_object("chunk", pons_value_ref(chunk), NULL));
    } else if (m) {
        model_ends(c, id, chunk);
    }
}

// ---- nodes --------------------------------------------------------------------------------------

static void task_starts(pons__callbacks *c, const char *ns, const pons_value *task)
{
    const char *id = pons_get_str(task, "id", ""), *name = pons_get_str(task, "name", "");
    pons_value *meta =
        pons_object("langgraph_node", pons_string(name), "langgraph_triggers",
                    pons_value_ref(pons_get(task, "triggers")), "langgraph_checkpoint_ns",
                    json_sprintf("%s%s%s:%s", ns, *ns ? "|" : "", name, id), NULL);
    pons_value *t = thing(name, id, meta, parents(c, ns));
    json_object_set_new(t, "data",
                        pons_object("input", pons_value_ref(pons_get(task, "input")), NULL));
    json_object_set_new(c->tasks, id, t);
    say(c, t, "on_chain_start", pons_value_ref(pons_get(t, "data")));
}

static void task_ends(pons__callbacks *c, const pons_value *result)
{
    const char *id = pons_get_str(result, "id", "");
    pons_autovalue t = pons_value_ref(json_object_get(c->tasks, id));
    const pons_value *output = pons_get(result, "result");
    if (!t) {
        return;
    }
    json_object_del(c->tasks, id);
    models_end(c, id);
    if (json_is_string(pons_get(result, "error")) ||
        json_array_size(pons_get(result, "interrupts")) > 0) {
        return;
    }
    say(c, t, "on_chain_stream", pons_object("chunk", pons_value_ref(output), NULL));
    say(c, t, "on_chain_end",
        pons_object("output", pons_value_ref(output), "input",
                    pons_value_ref(pons_get(pons_get(t, "data"), "input")), NULL));
}

// The agent's own words about a tool (docs/reference/agent.md, events).
static void tool(pons__callbacks *c, const pons_value *said)
{
    const char *type = pons_get_str(said, "type", ""), *name = pons_get_str(said, "name", "");
    const bool starts = strcmp(type, "tool_start") == 0;
    if (!starts && strcmp(type, "tool_end") != 0) {
        return;
    }
    char id[128];
    if (!json_object_get(c->tools, name)) {
        json_object_set_new(c->tools, name, json_array());
    }
    pons_value *at_work = json_object_get(c->tools, name);
    if (starts) {
        snprintf(id, sizeof id, "%s:%lld", name, (long long)pons_get_int(said, "seq", 0));
        json_array_append_new(at_work, json_string(id));
    } else {
        const char *oldest = json_string_value(json_array_get(at_work, 0));
        snprintf(id, sizeof id, "%s", oldest ? oldest : name);
        json_array_remove(at_work, 0);
    }
    pons_autovalue t = thing(name, id, json_object(), parents(c, ""));
    const char *const what = starts ? "input" : "output";
    say(c, t, starts ? "on_tool_start" : "on_tool_end",
        pons_object(what, pons_value_ref(pons_get(said, what)), NULL));
}

void pons__callbacks_streamed(pons__callbacks *c, const char *mode, const char *ns,
                              const pons_value *payload)
{
    if (strcmp(mode, "messages") == 0) {
        message(c, payload);
    } else if (strcmp(mode, "custom") == 0) {
        tool(c, payload);
    } else if (strcmp(mode, "tasks") == 0 && json_object_get(payload, "input")) {
        task_starts(c, ns, payload);
    } else if (strcmp(mode, "tasks") == 0) {
        task_ends(c, payload);
    }
}
