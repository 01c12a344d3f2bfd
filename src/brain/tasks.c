// tasks.c - pure functions on the `tasks` channel, and the small helpers on values that the brain's
// nodes share. A published value is never changed: everything here returns a new one.
//
// tasks: {inbox[], queue[task…], active_task_id|null, mode, mode_reason, preempt_flag|null, paused,
//         finished[{id,text,status,reason}…], next, react{state: idle|active|stopping, activation,
//         task_id|null, mode}, safe_handled, totals{iterations, replans, distance_m},
//         stopped{…}|null (stopped.c), let_go (the activation at which a stop was let go of)}
#include "brain/brain_internal.h"

#include <string.h>

#define TRACE_KEPT 20

static int task_rank(const pons_value *task, const char *mode);

pons_value *pons__with(const pons_value *old, const char *key, pons_value *value)
{
    pons_value *fresh = old ? json_copy((json_t *)old) : json_object();
    json_object_set_new(fresh, key, value ? value : json_null());
    return fresh;
}

pons_value *pons__event(pons_brain *b, pons_value *payload)
{
    json_object_set_new(payload, "robot_ms", json_integer(pons__port_robot_ms(&b->port)));
    return payload;
}

const pons_value *pons__find(const pons_value *list, const char *key, const char *value)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *got = pons_get_str(item, key, NULL);
        if (got && strcmp(got, value) == 0) {
            return item;
        }
    }
    return NULL;
}

pons_value *pons__tasks_initial(void)
{
    return pons_object("inbox", json_array(), "queue", json_array(), "active_task_id", json_null(),
                       "mode", json_string("IDLE"), "mode_reason", json_string("start"),
                       "preempt_flag", json_null(), "paused", json_false(), "finished",
                       json_array(), "next", json_integer(1), "react",
                       pons_object("state", json_string("idle"), "activation", json_integer(0),
                                   "task_id", json_null(), "mode", json_string("IDLE"), NULL),
                       "safe_handled", json_false(), "stopped", json_null(), "totals",
                       pons_object("iterations", json_integer(0), "replans", json_integer(0),
                                   "distance_m", json_real(0.0), NULL),
                       NULL);
}

const pons_value *pons__tasks_active(const pons_value *tasks)
{
    const char *id = pons_get_str(tasks, "active_task_id", NULL);
    return id ? pons__find(pons_get(tasks, "queue"), "id", id) : NULL;
}

// The task that should be active in a mode: CHARGE takes battery tasks only, EXEC the highest
// priority, the older one among equals - and an active task keeps its place against its equals.
const pons_value *pons__tasks_pick(const pons_value *tasks, const char *mode)
{
    const pons_value *best = NULL;
    const char *active = pons_get_str(tasks, "active_task_id", "");
    size_t i;
    json_t *task;
    json_array_foreach(pons_get(tasks, "queue"), i, task)
    {
        const int rank = task_rank(task, mode);
        if (rank < 0) {
            continue;
        }
        const bool is_active = strcmp(pons_get_str(task, "id", ""), active) == 0;
        if (!best || rank > task_rank(best, mode) || (is_active && rank == task_rank(best, mode))) {
            best = task;
        }
    }
    return best;
}

static int task_rank(const pons_value *task, const char *mode)
{
    const bool battery = strcmp(pons_get_str(task, "source", ""), "battery") == 0;
    if (strcmp(mode, "CHARGE") == 0 ? !battery : strcmp(mode, "EXEC") != 0) {
        return -1;
    }
    return (int)pons_get_int(task, "priority", 0);
}

pons_value *pons__tasks_replace(const pons_value *tasks, const pons_value *task)
{
    pons_value *queue = json_array();
    const char *id = pons_get_str(task, "id", "");
    bool found = false;
    size_t i;
    json_t *old;
    json_array_foreach(pons_get(tasks, "queue"), i, old)
    {
        const bool same = strcmp(pons_get_str(old, "id", ""), id) == 0;
        json_array_append(queue, same ? (json_t *)task : old);
        found = found || same;
    }
    if (!found) {
        json_array_append(queue, (json_t *)task);
    }
    return pons__with(tasks, "queue", queue);
}

pons_value *pons__tasks_remove(const pons_value *tasks, const char *id)
{
    pons_value *queue = json_array();
    size_t i;
    json_t *task;
    json_array_foreach(pons_get(tasks, "queue"), i, task)
    {
        if (strcmp(pons_get_str(task, "id", ""), id) != 0) {
            json_array_append(queue, task);
        }
    }
    return pons__with(tasks, "queue", queue);
}

// A bounded log: the events have the whole history, this is what a person reads in the state.
int pons__trace_reduce(void *user, const pons_value *old, const pons_value *update,
                       pons_value **ret, pons_error *err)
{
    (void)user;
    (void)err;
    pons_value *list = json_array();
    const size_t n = json_array_size(old);
    for (size_t i = n >= TRACE_KEPT ? n - TRACE_KEPT + 1 : 0; i < n; i++) {
        json_array_append(list, json_array_get(old, i));
    }
    json_array_append(list, (json_t *)update);
    *ret = list;
    return PONS_OK;
}
