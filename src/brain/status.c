// status.c - `pons status`: one object from the kernel's and the inner loop's channels and the
// newest telemetry, the same for the process that runs a thread and for one that only reads its
// store.
#include "brain/status.h"

#include "brain/ladder.h"
#include "brain/letter.h"
#include "brain/observed.h"
#include "brain/self.h"
#include "brain/task_plan.h"

#include <string.h>

static int read_words(void *user, const pons_inbox_row *row);
static void rest(pons_value *status);
static pons_value *status_approvals(const pons__tasks *tasks, const pons__react *react);
static pons_value *status_queue(const pons__tasks *tasks);
static pons_value *status_ladder(const pons__tasks *tasks, const pons__react *react);
static pons_value *status_plan(const pons__react *react);
static pons_value *status_skills(const pons__skills *skills);
static pons_value *status_failure(const pons__skills *skills);

// The two channels of the inner loop, as structs.
typedef struct inner {
    pons__react *react;
    pons__skills *skills;
} inner;

static inner inner_read(const pons_value *react, const pons_value *skills)
{
    return (inner){react ? pons__record_read(&pons__react_record, react) : NULL,
                   skills ? pons__record_read(&pons__skills_record, skills) : NULL};
}

static void inner_free(inner *in)
{
    pons__record_free(&pons__react_record, in->react);
    pons__record_free(&pons__skills_record, in->skills);
}

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
    pons__tasks *tasks = pons_get(kernel, "tasks")
                             ? pons__record_read(&pons__tasks_record, pons_get(kernel, "tasks"))
                             : NULL;
    inner in = inner_read(pons_get(react, "react"), pons_get(react, "skills"));
    pons_value *status = pons__status_build(thread, tasks, in.react, in.skills, telemetry, hello);
    inner_free(&in);
    pons__record_free(&pons__tasks_record, tasks);
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
    if (pons_value_read(row->value.data, row->value.len, &value, NULL) < 0) {
        return 0;
    }
    pons__said *said = pons__said_read(value);
    switch (pons__word_find(pons__letter_words, row->kind, PONS_LETTER_OTHER)) {
    case PONS_LETTER_SAY:
    case PONS_LETTER_GOAL:
    case PONS_LETTER_WISH:
        if (*said->text) {
            json_array_append_new(user, json_string(said->text));
        }
        break;
    case PONS_LETTER_RUN:
        json_array_extend(user, (json_t *)said->goals);
        break;
    default:
        break;
    }
    pons__record_free(&pons__said_record, said);
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
    inner in = inner_read(react, skills);
    pons_value *status = pons__status_build(b->opts.thread, b->tasks, in.react, in.skills,
                                            b->port.telemetry, b->port.hello);
    inner_free(&in);
    return status;
}

pons_value *pons__status_build(const char *thread, const pons__tasks *tasks,
                               const pons__react *react, const pons__skills *skills,
                               const pons_value *telemetry, const pons_value *hello)
{
    const pons_value *pose = pons_get(telemetry, "pose");
    const char *zone = pose ? pons__zone_at(pons_get(hello, "world"), pons_get_num(pose, "x", 0.0),
                                            pons_get_num(pose, "y", 0.0))
                            : NULL;
    pons_value *approvals = status_approvals(tasks, react);
    const pons__task *active = tasks ? pons__queue_active(tasks) : NULL;
    const pons_value *stop = pons_get(telemetry, "stop");
    return pons_object(
        "thread", thread ? json_string(thread) : json_null(), "mode",
        json_string(pons__mode_words[tasks ? tasks->mode : PONS_MODE_IDLE]), "mode_reason",
        json_string(tasks ? tasks->mode_reason : ""), "paused",
        json_boolean(tasks && tasks->paused), "stopped",
        pons__record_write(&pons__stopped_record, tasks ? tasks->stopped : NULL), "stop",
        stop ? pons_value_ref(stop)
             : pons_object("latched", json_null(), "reason", json_string("no body"), NULL),
        "battery_pct", pons__or_null(pons_get(telemetry, "battery_pct")), "battery_state",
        pons__or_null(pons_get(telemetry, "battery_state")), "pose", pons__or_null(pose), "zone",
        zone ? json_string(zone) : json_null(), "distance_to_target",
        pons__or_null(pons_get(telemetry, "distance_remaining_m")), "active_task",
        pons__record_write(&pons__task_record, active), "queue", status_queue(tasks), "finished",
        tasks ? pons__list_write(&pons__finished_record, &tasks->finished) : json_null(), "skills",
        status_skills(skills), "iter", json_integer(react ? react->iter : 0), "decision",
        pons__record_write(&pons__decision_record, react ? react->decision : NULL), "last_failure",
        status_failure(skills), "approvals", approvals, "ladder", status_ladder(tasks, react),
        "plan", status_plan(react), "body",
        hello ? pons_object("driver", pons__or_null(pons_get(hello, "driver")), "robot_id",
                            pons__or_null(pons_get(hello, "robot_id")), "boot_id",
                            pons__or_null(pons_get(hello, "boot_id")), "realtime",
                            pons__or_null(pons_get(telemetry, "realtime")), NULL)
              : json_null(),
        NULL);
}

static void add_question(pons_value *list, const pons__question *q, const char *task)
{
    if (!q->answer) {
        pons_value *v = pons__record_write(&pons__question_record, q);
        json_object_del(v, "decision");
        json_object_del(v, "source");
        json_object_set_new(v, "task_id", json_string(task));
        json_array_append_new(list, v);
    }
}

// The inner loop's, then those of tasks that were put aside.
static pons_value *status_approvals(const pons__tasks *tasks, const pons__react *react)
{
    pons_value *list = json_array();
    const char *task = react && react->task ? react->task->id : "";
    for (size_t i = 0; react && react->approval && i <= react->also.n; i++) {
        add_question(list, i ? react->also.at[i - 1] : react->approval, task);
    }
    for (size_t i = 0; tasks && i < tasks->queue.n; i++) {
        const pons__task *aside = tasks->queue.at[i];
        for (size_t k = 0; k < aside->asks.n; k++) {
            add_question(list, aside->asks.at[k], aside->id);
        }
    }
    return list;
}

static pons_value *status_queue(const pons__tasks *tasks)
{
    pons_value *list = json_array();
    for (size_t i = 0; tasks && i < tasks->queue.n; i++) {
        const pons__task *task = tasks->queue.at[i];
        json_array_append_new(
            list,
            pons_object("id", json_string(task->id), "text", json_string(task->text), "status",
                        json_string(pons__task_status_words[task->status]), "priority",
                        json_integer(task->priority), "deadline",
                        task->deadline_ms ? json_integer(task->deadline_ms) : json_null(), NULL));
    }
    return list;
}

// The inner loop's own is newer than the queue's.
static pons_value *status_ladder(const pons__tasks *tasks, const pons__react *react)
{
    const pons__task *active = tasks ? pons__queue_active(tasks) : NULL;
    const pons__task *own = react ? react->task : NULL;
    const bool same = strcmp(own ? own->id : "", active ? active->id : "-") == 0;
    pons__rungs *rungs = pons__ladder_rungs(same ? own : active);
    pons_value *told = pons__record_write(&pons__rungs_record, rungs);
    pons__record_free(&pons__rungs_record, rungs);
    return told;
}

static pons_value *status_plan(const pons__react *react)
{
    pons__plan_brief *brief = pons__plan_brief_of(react ? react->plan : NULL);
    pons_value *told = pons__record_write(&pons__plan_brief_record, brief);
    pons__record_free(&pons__plan_brief_record, brief);
    return told;
}

static pons_value *status_skills(const pons__skills *skills)
{
    pons_value *list = json_array();
    for (size_t i = 0; skills && i < skills->running.n; i++) {
        const pons__running *r = skills->running.at[i];
        json_array_append_new(list, pons_object("goal_id", json_string(r->goal_id), "skill",
                                                json_string(r->skill), "started_ms",
                                                json_integer(r->started_ms), "timeout_s",
                                                json_real(r->timeout_s), NULL));
    }
    return list;
}

static pons_value *status_failure(const pons__skills *skills)
{
    const pons__result *last = skills ? skills->last_result : NULL;
    if (!last || last->status == PONS_END_NONE || last->status == PONS_END_DONE ||
        last->status == PONS_END_CANCELED) {
        return json_null();
    }
    return pons_object("skill", json_string(last->skill), "status",
                       json_string(pons__end_words[last->status]), "error_code",
                       json_integer(last->error_code), "error_msg", json_string(last->error_msg),
                       "recovery", json_string(pons__recovery_words[last->recovery]), NULL);
}
