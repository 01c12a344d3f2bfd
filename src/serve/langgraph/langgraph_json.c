// langgraph_json.c - what the engine and the run host know, as LangGraph's clients expect to read it.
//
// Names and members are LangGraph's; what it has and we do not (users, tracing) is left out or empty,
// never made up.
#include "serve/langgraph/langgraph_json.h"

#include "serve/runs/run_begin.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// ---- time ---------------------------------------------------------------------------------------

void pons__lg_time(int64_t wall_ms, char ret[PONS__TIME_TEXT])
{
    char day[PONS_UTC_TEXT];
    pons_utc_text(wall_ms, day);
    snprintf(ret, PONS__TIME_TEXT, "%.19s.%03d000+00:00", day, (int)(wall_ms % 1000));
}

pons_value *pons__lg_time_value(int64_t wall_ms)
{
    char text[PONS__TIME_TEXT];
    if (wall_ms == 0) {
        return json_null();
    }
    pons__lg_time(wall_ms, text);
    return json_string(text);
}

bool pons__lg_time_read(const char *text, int64_t *ret_ms)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    int64_t offset_s = 0, ms = 0;
    if (!end) {
        return false;
    }
    if (*end == '.') {
        int64_t unit = 100;
        for (end++; *end >= '0' && *end <= '9'; end++) {
            ms += (*end - '0') * unit;
            unit /= 10;
        }
    }
    int hours = 0, minutes = 0, n = 0;
    if (*end == '+' || *end == '-') {
        if (sscanf(end + 1, "%2d:%2d%n", &hours, &minutes, &n) != 2 || end[1 + n] != '\0') {
            return false;
        }
        offset_s = (*end == '-' ? -1 : 1) * (hours * 3600LL + minutes * 60LL);
    } else if (*end && strcmp(end, "Z") != 0) {
        return false;
    }
    *ret_ms = ((int64_t)timegm(&tm) - offset_s) * 1000 + ms;
    return true;
}

pons_value *pons__lg_or_null(const pons_value *v)
{
    return v ? pons_value_ref(v) : json_null();
}

pons_value *pons__lg_put_some(pons_value *to, const pons_value *from, const char *const *names)
{
    for (; *names; names++) {
        const pons_value *v = pons_get(from, *names);
        if (v) {
            json_object_set_new(to, *names, pons_value_ref(v));
        }
    }
    return to;
}

pons_value *pons__lg_put_all(pons_value *to, const pons_value *from, const char *const *names)
{
    for (; *names; names++) {
        json_object_set_new(to, *names, pons__lg_or_null(pons_get(from, *names)));
    }
    return to;
}

// ---- runs ---------------------------------------------------------------------------------------

pons_value *pons__lg_run(const pons_value *run)
{
    static const char *const same[] = {
        "run_id", "thread_id", "assistant_id", "status", "kwargs", "multitask_strategy", NULL};
    static const char *const of_whom[] = {"graph_id", "assistant_id", NULL};
    pons_value *metadata = json_deep_copy(pons_get(run, "metadata"));
    return pons__lg_put_all(
        pons_object("metadata", pons__lg_put_some(metadata, run, of_whom), "created_at",
                    pons__lg_time_value(pons_get_int(run, "created_ms", 0)), "updated_at",
                    pons__lg_time_value(pons_get_int(run, "updated_ms", 0)), NULL),
        run, same);
}

// ---- threads ------------------------------------------------------------------------------------

pons_value *pons__lg_thread(const pons_value *row, bool busy)
{
    const char *status = pons_get_str(row, "status", "idle");
    // Held, but by nobody who is at work on it: it was left where it is.
    status = busy ? "busy" : strcmp(status, "busy") == 0 ? "interrupted" : status;
    pons_value *updated = pons__lg_time_value(pons_get_int(row, "updated_ms", 0));
    pons_value *metadata = json_copy((pons_value *)(uintptr_t)pons_get(row, "metadata"));
    const pons_value *config = pons_get(metadata, PONS__THREAD_CONFIG);
    pons_value *shown = config ? pons_value_ref(config) : json_object();
    json_object_del(metadata, PONS__THREAD_CONFIG);
    return pons__lg_put_all(
        pons_object("created_at", pons__lg_time_value(pons_get_int(row, "created_ms", 0)),
                    "updated_at", updated, "state_updated_at", pons_value_ref(updated), "metadata",
                    metadata, "status", json_string(status), "config", shown, "error", json_null(),
                    NULL),
        row, (const char *const[]){"thread_id", "values", "interrupts", NULL});
}

// ---- state --------------------------------------------------------------------------------------

pons_value *pons__lg_checkpoint(const char *thread, const char *ns, const char *id)
{
    if (!id) {
        return json_null();
    }
    return pons_object("checkpoint_id", json_string(id), "thread_id", json_string(thread),
                       "checkpoint_ns", json_string(ns), NULL);
}

static pons_value *task(const pons_value *snapshot, const pons_value *t)
{
    const char *ns = pons_get_str(t, "ns", NULL);
    const char *thread = pons_get_str(snapshot, "thread", "");
    const pons_value *state = pons_get(t, "state");
    pons_value *checkpoint =
        ns ? pons_object("thread_id", json_string(thread), "checkpoint_ns", json_string(ns), NULL)
           : json_null();
    return pons__lg_put_all(
        pons_object("path",
                    json_pack("[ss]", pons_get(t, "arg") ? "__pregel_push" : "__pregel_pull",
                              pons_get_str(t, "name", "")),
                    "checkpoint", checkpoint, "state", state ? pons__lg_state(state) : json_null(),
                    NULL),
        t, (const char *const[]){"id", "name", "error", "interrupts", "result", NULL});
}

static pons_value *metadata(const pons_value *snapshot)
{
    pons_value *m = json_copy((pons_value *)(uintptr_t)pons_get(snapshot, "metadata"));
    const pons_value *run = pons_get(m, PONS__RUN_MEMBER);
    if (run) {
        json_object_set_new(m, "run_id", pons_value_ref(run));
        json_object_del(m, PONS__RUN_MEMBER);
    }
    return m;
}

pons_value *pons__lg_state(const pons_value *s)
{
    const char *thread = pons_get_str(s, "thread", ""), *ns = pons_get_str(s, "ns", "");
    const char *id = pons_get_str(s, "checkpoint_id", NULL);
    const char *parent = pons_get_str(s, "parent_id", NULL);
    pons_value *tasks = json_array();
    pons_each(one, pons_get(s, "tasks")) {
        json_array_append_new(tasks, task(s, one));
    }
    return pons_object("values", pons__lg_or_null(pons_get(s, "values")), "next",
                       pons__lg_or_null(pons_get(s, "next")), "tasks", tasks, "metadata",
                       metadata(s), "created_at", pons__lg_time_value(pons_get_int(s, "ts_ms", 0)),
                       "checkpoint", pons__lg_checkpoint(thread, ns, id), "parent_checkpoint",
                       pons__lg_checkpoint(thread, ns, parent), "interrupts",
                       pons__lg_or_null(pons_get(s, "interrupts")), "checkpoint_id",
                       id ? json_string(id) : json_null(), "parent_checkpoint_id",
                       parent ? json_string(parent) : json_null(), NULL);
}

pons_value *pons__lg_values(const pons_value *snapshot)
{
    pons_value *values = json_copy((pons_value *)(uintptr_t)pons_get(snapshot, "values"));
    const pons_value *asked = pons_get(snapshot, "interrupts");
    if (json_array_size(asked) > 0) {
        json_object_set_new(values, "__interrupt__", pons_value_ref(asked));
    }
    return values ? values : json_object();
}

// ---- select -------------------------------------------------------------------------------------

static pons_value *some(const pons_value *v, const pons_value *select)
{
    pons_value *out = json_object();
    pons_each(name, select) {
        const pons_value *m = json_is_string(name) ? pons_get(v, json_string_value(name)) : NULL;
        if (m) {
            json_object_set_new(out, json_string_value(name), pons_value_ref(m));
        }
    }
    return out;
}

pons_value *pons__lg_select(pons_value *v, const pons_value *select)
{
    if (json_array_size(select) == 0) {
        return v;
    }
    pons_value *out = json_is_array(v) ? json_array() : some(v, select);
    pons_each(one, v) {
        json_array_append_new(out, some(one, select));
    }
    pons_value_unref(v);
    return out;
}
