// observe.c - R1: what the inner loop sees, and whether a goal is met.
//
// R1 reads the kernel's mail: activate begins anew, preempt makes the next decision the kernel's. Then
// it builds the observation, the one structure that policies and models decide from
// (schemas/observation.json). It is a summary: no point clouds, no topics. What it says of the world is
// what the body said last.
#include "brain/react/observe.h"

#include "brain/goals/means.h"
#include "brain/ladder.h"
#include "brain/react/nodes.h"
#include "brain/task_plan.h"
#include "pons/geometry.h"

#include <math.h>
#include <string.h>

static void take_inbox(pons__turn *t, pons_error *err);
static pons__react *activated(const pons__activate *mail);
static pons_value *observed_robot(pons_brain *b, const pons__skills *skills);
static pons_value *observed_world(pons_brain *b);
static pons_value *observed_task(const pons__react *react);
static pons_value *observed_queue(const pons_brain *b);
static pons_value *observed_running(pons_brain *b, const pons__skills *skills);
static void mark_met(pons_brain *b, pons__task *task, const pons__skills *skills);

// ---- R1 build_observation -----------------------------------------------------------------------

int pons__build_observation(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__turn_begin(&t, cx, user);
    pons_brain *b = t.b;
    if (!pons_cx_get(cx, "skills")) {
        pons__record_free(&pons__skills_record, t.skills);
        t.skills = pons__skills_initial();
    }
    take_inbox(&t, err);
    pons__react *r = t.react;
    if (r->task) {
        mark_met(b, r->task, t.skills);
    }
    pons__ladder_observe(b, r, t.skills);
    pons__task_plan_mirror(b, cx, r);
    r->iter++;
    r->model_tries = b->opts.llm ? b->rules.model_attempts : 0;
    r->check_in_s = b->rules.check_in_s;
    pons_value *observation = pons__observation_build(b, r, t.skills);
    pons__json(&r->observation, pons_value_ref(observation));
    r->detached = r->no_progress = r->rollover = false;
    pons__json(&t.skills->registry, pons_value_ref(pons_get(observation, "skills")));
    t.skills_changed = true;
    pons__door_own(b, cx, PONS_DOOR_OBSERVATION, observation);
    pons_autovalue told =
        json_copy(observation); // whoever is asked now has them; the past needs none
    json_object_del(told, "means");
    pons__say_message(cx, "user", told);
    pons_cx_emit(cx, "observation",
                 pons__event(b, pons_object("observation", pons_value_ref(observation), NULL)));
    pons_value_unref(observation);
    return pons__turn_end(&t, PONS_OK);
}

static void take_inbox(pons__turn *t, pons_error *err)
{
    bool begun = pons_cx_get(t->cx, "react") != NULL;
    size_t i;
    json_t *msg;
    json_array_foreach(pons_cx_inbox(t->cx, err), i, msg)
    {
        const char *kind = pons_get_str(msg, "kind", "");
        const pons_value *value = pons_get(msg, "value");
        if (strcmp(kind, "activate") == 0) {
            pons__activate *mail = pons__record_read(&pons__activate_record, value);
            pons__react *fresh = activated(mail);
            fresh->pace = t->react->pace; // a new activation is no new patience
            t->react->pace = NULL;
            pons__record_free(&pons__react_record, t->react);
            pons__record_free(&pons__activate_record, mail);
            t->react = fresh;
            begun = true;
            // results of an earlier activation are not this one's
            pons__record_free(&pons__result_record, t->skills->last_result);
            t->skills->last_result = NULL;
        } else if (strcmp(kind, "preempt") == 0) {
            pons__preempt *mail = pons__record_read(&pons__preempt_record, value);
            if (mail->activation == t->react->activation) {
                pons__record_free(&pons__preempt_record, t->react->preempt);
                t->react->preempt = mail;
            } else {
                pons__record_free(&pons__preempt_record, mail);
            }
        }
    }
    if (!begun) {
        pons__activate none = {.mode = PONS_MODE_EXEC, .reason = ""};
        pons__record_free(&pons__react_record, t->react);
        t->react = activated(&none);
    }
}

static pons__react *activated(const pons__activate *mail)
{
    pons__react *r = pons__record_new(&pons__react_record);
    r->activation = mail->activation;
    r->mode = mail->mode;
    r->task = pons__record_copy(&pons__task_record, mail->task);
    // A step that waits with a question that was answered meanwhile is still in hand.
    r->plan = r->task && r->task->asks.n > 0
                  ? pons__record_copy(&pons__task_plan_record, r->task->plan)
                  : pons__task_plan_reopen(r->task ? r->task->plan : NULL);
    pons__json(&r->approved, json_array());
    if (mail->mode == PONS_MODE_SAFE) {
        r->preempt = pons__record_new(&pons__preempt_record);
        r->preempt->activation = mail->activation;
        r->preempt->mode = mail->mode;
        r->preempt->stop_base = true;
        pons__set_text(&r->preempt->reason, mail->reason);
    }
    return r;
}

// Goals are met in their order, and what was met once stays met: a robot that went to the kitchen and
// then left it has been there.
static void mark_met(pons_brain *b, pons__task *task, const pons__skills *skills)
{
    for (size_t i = 0; i < task->goals.n; i++) {
        pons__goal *goal = task->goals.at[i];
        goal->done = goal->done || pons__goal_met(b, goal, pons__goal_running(skills, i));
        if (!goal->done) {
            return;
        }
    }
}

// ---- goals --------------------------------------------------------------------------------------

// Goals about what can be seen are judged by the world; the others by their skill's own result, which R7
// has written into `done`.
bool pons__goal_met(const pons_brain *b, const pons__goal *goal, bool running)
{
    return !running && pons__means_met(b, goal);
}

bool pons__goal_running(const pons__skills *skills, size_t index)
{
    for (size_t i = 0; i < skills->running.n; i++) {
        if (((const pons__running *)skills->running.at[i])->goal_index == (int64_t)index) {
            return true;
        }
    }
    return false;
}

pons__skills *pons__skills_initial(void)
{
    pons__skills *s = pons__record_new(&pons__skills_record);
    pons__json(&s->registry, json_array());
    pons__json(&s->to_cancel, json_array());
    return s;
}

// ---- the observation ----------------------------------------------------------------------------

pons_value *pons__observation_build(pons_brain *b, pons__react *react, const pons__skills *skills)
{
    pons_value *names = json_array();
    size_t i;
    json_t *skill;
    json_array_foreach(b->port.greeting.as.hello.skills, i, skill)
    {
        json_array_append_new(names, json_string(pons_get_str(skill, "name", "")));
    }
    return pons_object(
        "iter", json_integer(react->iter), "mode", json_string(pons__mode_words[react->mode]),
        "task", observed_task(react), "robot", observed_robot(b, skills), "world",
        observed_world(b), "queue", observed_queue(b), "skills", names, "means",
        pons__means_told(b, react->task), "running", observed_running(b, skills), "last_result",
        pons__record_write(&pons__result_record, skills->last_result), "failures",
        json_integer(react->failures), "limits",
        pons_object("failures_max", json_integer(b->rules.failures_max), "iterations_max",
                    json_integer(b->rules.iterations_max), NULL),
        "ladder", pons__ladder_brief(react->task), "no_progress", json_boolean(react->no_progress),
        "woke", *react->woke ? json_string(react->woke) : NULL, "human",
        pons__record_write(&pons__human_record, react->human), NULL);
}

static pons_value *observed_world(pons_brain *b)
{
    pons_value *zones = json_array();
    size_t i;
    json_t *zone;
    json_array_foreach(pons_get(b->world, "zones"), i, zone)
    {
        pons__place *place = pons__record_read(&pons__place_record, zone);
        json_array_append_new(zones, json_string(place->id));
        pons__record_free(&pons__place_record, place);
    }
    return pons_object(
        "summary", json_string(pons_get_str(b->world, "summary", "")), "zones", zones, "obstacles",
        json_integer((json_int_t)json_array_size(pons_get(b->world, "obstacles"))), NULL);
}

// Whether the base is taken, and of what is counted how much is, as the body says it or by what runs.
static pons_value *observed_resources(pons_brain *b, const pons__skills *skills)
{
    const pons_value *told = b->seen ? b->seen->resources : NULL;
    pons_value *seen = told ? json_copy((json_t *)told) : json_object();
    pons_autovalue all = pons__resources(b);
    const char *name;
    json_t *amount;
    json_object_foreach(all, name, amount)
    {
        int64_t used = 0;
        for (size_t i = 0; i < skills->running.n; i++) {
            const pons__running *r = skills->running.at[i];
            used += pons_get_int(pons_get(pons__skill(b, r->skill), "resources_counted"), name, 0);
        }
        const int64_t at_body = pons_get_int(pons_get(told, "counted"), name, 0);
        json_object_set_new(seen, name,
                            pons_object("used", json_integer(used > at_body ? used : at_body), "of",
                                        pons_value_ref(amount), NULL));
    }
    json_object_del(seen, "counted");
    return seen;
}

static pons_value *observed_robot(pons_brain *b, const pons__skills *skills)
{
    const pons_value *r = b->robot;
    return pons_object(
        "pose", pons__or_null(pons_get(r, "pose")), "battery_pct",
        json_real(pons_get_num(r, "battery_pct", 0.0)), "battery_state",
        json_string(pons_get_str(r, "battery_state", "unknown")), "zone",
        pons__or_null(pons_get(r, "zone")), "docked",
        json_boolean(pons_get_bool(r, "docked", false)), "resources", observed_resources(b, skills),
        "distance_to_target", pons__or_null(pons_get(r, "distance_to_target")), "stop",
        pons_get(r, "stop") ? pons_value_ref(pons_get(r, "stop"))
                            : pons_object("latched", json_false(), "reason", json_string(""), NULL),
        "holding", pons_get(r, "holding") ? pons_value_ref(pons_get(r, "holding")) : NULL, "scene",
        pons_get(r, "scene") ? pons_value_ref(pons_get(r, "scene")) : NULL, NULL);
}

static pons_value *observed_task(const pons__react *react)
{
    const pons__task *task = react->task;
    if (!task) {
        return json_null();
    }
    pons_value *goals = pons__list_write(&pons__goal_record, &task->goals);
    size_t i;
    json_t *goal;
    json_array_foreach(goals, i, goal)
    {
        if (!pons_get(goal, "done")) {
            json_object_set_new(goal, "done", json_false());
        }
    }
    return pons_object("id", json_string(task->id), "text", json_string(task->text), "priority",
                       json_integer(task->priority), "deadline_ms",
                       task->deadline_ms ? json_integer(task->deadline_ms) : NULL, "goals", goals,
                       "goal_index", json_integer(pons__goal_open(task)), "plan",
                       react->plan ? pons__task_plan_brief(react->plan) : NULL, NULL);
}

// What waits beside the task at hand, for a decision to switch.
static pons_value *observed_queue(const pons_brain *b)
{
    pons_value *list = json_array();
    for (size_t i = 0; i < b->tasks->queue.n && json_array_size(list) < 8; i++) {
        const pons__task *task = b->tasks->queue.at[i];
        if (strcmp(task->id, b->tasks->active_task_id) != 0) {
            json_array_append_new(list, pons__record_write(&pons__waiting_record, task));
        }
    }
    return list;
}

static pons_value *observed_running(pons_brain *b, const pons__skills *skills)
{
    pons_value *list = json_array();
    for (size_t i = 0; i < skills->running.n; i++) {
        const pons__running *r = skills->running.at[i];
        const pons__body_goal *g = pons__port_goal(&b->port, r->goal_id);
        const double for_ms = (double)(pons__port_robot_ms(&b->port) - r->started_robot_ms);
        json_array_append_new(
            list,
            pons_object("goal_id", json_string(r->goal_id), "skill", json_string(r->skill), "args",
                        pons__or_null(r->args), "goal_index", json_integer(r->goal_index), "beside",
                        pons__means_beside(b, r->skill) ? json_true() : NULL, "elapsed_s",
                        json_real(for_ms / 1e3), "distance_remaining_m",
                        pons__or_null(pons_get(g ? g->feedback : NULL, "distance_remaining_m")),
                        NULL));
    }
    return list;
}
