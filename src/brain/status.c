// status.c - `pons status`: one object from the kernel's and the inner loop's channels and the
// newest telemetry, the same for the process that runs a thread and for one that only reads its
// store.
#include "brain/brain_internal.h"

#include <string.h>

static int read_words(void *user, const pons_inbox_row *row);
static void rest(pons_value *status);
static pons_value *or_null(const pons_value *v);
static pons_value *status_queue(const pons_value *tasks);
static pons_value *status_ladder(const pons_value *tasks, const pons_value *react);
static pons_value *status_skills(const pons_value *skills);
static pons_value *status_failure(const pons_value *skills);

int pons_status_read(pons_store store, const char *thread, const pons_value *telemetry,
                     const pons_value *hello, pons_value **ret, pons_error *err)
{
    pons_autovalue kernel = NULL;
    pons_autovalue react = NULL;
    pons_lease holder = {0};
    pons_error none = PONS_ERROR_INIT;
    int rc = thread ? pons_state_read(store, thread, PONS_NS_KERNEL, &kernel, &none) : PONS_OK;
    int64_t last = 0;
    if (rc == PONS_ENOTFOUND && store.ops->event_last(store.self, thread, &last, err) >= 0 &&
        last > 0) {
        rc = PONS_OK; // it has begun, and no tick has heard anything yet
    }
    pons_autovalue unheard = json_array();
    if (rc >= 0 && thread) {
        rc = store.ops->inbox_read(store.self, thread, PONS_NS_KERNEL, 0, read_words, unheard,
                                   &none);
    }
    if (rc < 0) {
        *err = none;
        return rc;
    }
    if (thread) {
        pons_state_read(store, thread, PONS_NS_REACT, &react, &none); // none yet is no fault
    }
    pons_value *status =
        pons__status_build(thread, pons_get(kernel, "tasks"), pons_get(react, "react"),
                           pons_get(react, "skills"), telemetry, hello);
    // What the last tick of a life that is over was in is no news of now.
    const bool held = thread && store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
    json_object_set(status, "unheard", unheard);
    if (!held && json_array_size(pons_get(status, "queue")) == 0) {
        rest(status);
    }
    *ret = status;
    return PONS_OK;
}

// What people have said and no tick has taken.
static int read_words(void *user, const pons_inbox_row *row)
{
    pons_autovalue value = NULL;
    if (pons_value_parse(row->value.data, row->value.len, &value, NULL) < 0) {
        return 0;
    }
    if (strcmp(row->kind, "say") == 0 && json_is_string(pons_get(value, "text"))) {
        json_array_append(user, (json_t *)pons_get(value, "text"));
    } else if (strcmp(row->kind, "run") == 0 && json_is_array(pons_get(value, "goals"))) {
        json_array_extend(user, (json_t *)pons_get(value, "goals"));
    }
    return 0;
}

static void rest(pons_value *status)
{
    json_object_set_new(status, "mode", json_string("IDLE"));
    json_object_set_new(status, "mode_reason", json_string("no task"));
}

pons_value *pons_brain_status(pons_brain *b)
{
    pons_autovalue state = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (!b->react_run) {
        pons_state_read(b->opts.store, b->opts.thread, PONS_NS_REACT, &state, &none);
    }
    const pons_value *react =
        b->react_run ? pons_run_get(b->react_run, "react") : pons_get(state, "react");
    const pons_value *skills =
        b->react_run ? pons_run_get(b->react_run, "skills") : pons_get(state, "skills");
    return pons__status_build(b->opts.thread, b->tasks, react, skills, b->port.telemetry,
                              b->port.hello);
}

pons_value *pons__status_build(const char *thread, const pons_value *tasks, const pons_value *react,
                               const pons_value *skills, const pons_value *telemetry,
                               const pons_value *hello)
{
    const pons_value *pose = pons_get(telemetry, "pose");
    const char *zone = pose ? pons__zone_at(pons_get(hello, "world"), pons_get_num(pose, "x", 0.0),
                                            pons_get_num(pose, "y", 0.0))
                            : NULL;
    const pons_value *approval = pons_get(react, "approval");
    pons_value *approvals = json_array();
    if (json_is_object(approval)) {
        json_array_append(approvals, (json_t *)approval);
    }
    const pons_value *stop = pons_get(telemetry, "stop");
    return pons_object(
        "thread", thread ? json_string(thread) : json_null(), "mode",
        json_string(pons_get_str(tasks, "mode", "IDLE")), "mode_reason",
        json_string(pons_get_str(tasks, "mode_reason", "")), "paused",
        json_boolean(pons_get_bool(tasks, "paused", false)), "stopped",
        or_null(pons_get(tasks, "stopped")), "stop",
        stop ? pons_value_ref(stop)
             : pons_object("latched", json_null(), "reason", json_string("no body"), NULL),
        "battery_pct", or_null(pons_get(telemetry, "battery_pct")), "battery_state",
        or_null(pons_get(telemetry, "battery_state")), "pose", or_null(pose), "zone",
        zone ? json_string(zone) : json_null(), "distance_to_target",
        or_null(pons_get(telemetry, "distance_remaining_m")), "active_task",
        or_null(pons__tasks_active(tasks)), "queue", status_queue(tasks), "finished",
        or_null(pons_get(tasks, "finished")), "skills", status_skills(skills), "iter",
        json_integer(pons_get_int(react, "iter", 0)), "decision",
        or_null(pons_get(react, "decision")), "last_failure", status_failure(skills), "approvals",
        approvals, "ladder", status_ladder(tasks, react), "plan",
        pons__task_plan_brief(pons_get(react, "plan")), "body",
        hello ? pons_object("driver", or_null(pons_get(hello, "driver")), "robot_id",
                            or_null(pons_get(hello, "robot_id")), "boot_id",
                            or_null(pons_get(hello, "boot_id")), "realtime",
                            or_null(pons_get(telemetry, "realtime")), NULL)
              : json_null(),
        NULL);
}

static pons_value *or_null(const pons_value *v)
{
    return v ? pons_value_ref(v) : json_null();
}

static pons_value *status_queue(const pons_value *tasks)
{
    pons_value *list = json_array();
    size_t i;
    json_t *task;
    json_array_foreach(pons_get(tasks, "queue"), i, task)
    {
        json_array_append_new(
            list, pons_object("id", json_string(pons_get_str(task, "id", "")), "text",
                              json_string(pons_get_str(task, "text", "")), "priority",
                              json_integer(pons_get_int(task, "priority", 0)), "deadline",
                              or_null(pons_get(task, "deadline_ms")), NULL));
    }
    return list;
}

// The inner loop's own is newer than the queue's.
static pons_value *status_ladder(const pons_value *tasks, const pons_value *react)
{
    const pons_value *active = pons__tasks_active(tasks), *own = pons_get(react, "task");
    const bool same = strcmp(pons_get_str(own, "id", ""), pons_get_str(active, "id", "-")) == 0;
    return pons__ladder_brief(same ? own : active);
}

static pons_value *status_skills(const pons_value *skills)
{
    pons_value *list = json_array();
    size_t i;
    json_t *r;
    json_array_foreach(pons_get(skills, "running"), i, r)
    {
        json_array_append_new(list, pons_object("goal_id", or_null(pons_get(r, "goal_id")), "skill",
                                                or_null(pons_get(r, "skill")), "started_ms",
                                                or_null(pons_get(r, "started_ms")), "timeout_s",
                                                or_null(pons_get(r, "timeout_s")), NULL));
    }
    return list;
}

static pons_value *status_failure(const pons_value *skills)
{
    const pons_value *last = pons_get(skills, "last_result");
    const char *status = pons_get_str(last, "status", "done");
    if (strcmp(status, "done") == 0 || strcmp(status, "canceled") == 0) {
        return json_null();
    }
    return pons_object("skill", or_null(pons_get(last, "skill")), "status", json_string(status),
                       "error_code", or_null(pons_get(last, "error_code")), "error_msg",
                       or_null(pons_get(last, "error_msg")), "recovery",
                       or_null(pons_get(last, "recovery")), NULL);
}
