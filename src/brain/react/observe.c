// observe.c - R1: what the inner loop sees, and whether a goal is met.
//
// R1 reads the kernel's mail: activate begins anew, preempt makes the next decision the kernel's. Then
// it builds the observation, the one structure that policies and models decide from
// (schemas/observation.json). It is a summary: no point clouds, no topics. What it says of the world is
// what the body said last.
#include "brain/react/observe.h"

#include "brain/body_link/body_port.h"
#include "brain/goals/goal_skills.h"
#include "brain/plan/task_plan.h"
#include "brain/react/nodes.h"
#include "brain/records/event_fields.h"
#include "brain/records/observation_fields.h"
#include "brain/recovery/recovery.h"
#include "brain/tasks/questions.h"
#include "brain/tasks/tasks.h"

#include <math.h>
#include <string.h>

#define QUEUE_TOLD    8 // tasks beside the one at hand
#define PONS_MS_PER_S 1e3

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

static pons__skills *skills_initial(void)
{
    pons__skills *s = pons__record_new(&pons__skills_record);
    pons__json(&s->registry, json_array());
    pons__json(&s->to_cancel, json_array());
    return s;
}

// ---- the inbox ----------------------------------------------------------------------------------

// What people have said to its questions since the kernel wrote the letter.
static void hear_again(const pons_brain *b, pons__task *task)
{
    for (size_t i = 0; task && i < task->asks.n; i++) {
        pons__question *q = task->asks.at[i];
        const pons_value *said = pons__question_answer(b->hci, q->id);
        if (said) {
            pons__json(&q->answer, pons_value_ref(said));
        }
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

static void take_inbox(pons__turn *t, pons_error *err)
{
    bool begun = pons_cx_get(t->cx, "react") != NULL;
    pons_each(msg, pons_cx_inbox(t->cx, err)) {
        PONS__AUTO(mail) inbox_message = pons__record_read(&pons__mail_record, msg);
        if (inbox_message->kind == PONS_MAIL_ACTIVATE) {
            PONS__AUTO(activate)
            mail = pons__record_read(&pons__activate_record, inbox_message->value);
            pons__react *fresh = activated(mail);
            hear_again(t->b, fresh->task);
            fresh->pace = t->react->pace; // a new activation is no new patience
            fresh->model_retry_ms = t->react->model_retry_ms;
            t->react->pace = NULL;
            pons__record_free(&pons__react_record, t->react);
            t->react = fresh;
            begun = true;
            // results of an earlier activation are not this one's
            pons__record_free(&pons__result_record, t->skills->last_result);
            t->skills->last_result = NULL;
            pons__list_clear(&pons__result_record, &t->skills->results);
        } else if (inbox_message->kind == PONS_MAIL_PREEMPT) {
            pons__preempt *mail = pons__record_read(&pons__preempt_record, inbox_message->value);
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

// ---- the observation ----------------------------------------------------------------------------

static pons_value *skill_names(const pons_brain *b)
{
    pons_value *names = json_array();
    pons_each(item, b->port.greeting.as.hello.skills) {
        PONS__AUTO(registered) skill = pons__record_read(&pons__registered_record, item);
        json_array_append_new(names, json_string(skill->name));
    }
    return names;
}

static pons__world_reported *reported_world(const pons_brain *b)
{
    pons__world_reported *w = pons__record_new(&pons__world_reported_record);
    pons_value *names = json_array();
    PONS__AUTO_LIST(place) zones = {0};
    pons__list_read(&pons__place_record, b->around ? b->around->zones : NULL, &zones);
    for (size_t i = 0; i < zones.n; i++) {
        json_array_append_new(names, json_string(((const pons__place *)zones.at[i])->id));
    }
    pons__json(&w->zones, names);
    if (b->around) {
        pons__set_text(&w->summary, b->around->summary);
        w->obstacles = (int64_t)json_array_size(b->around->obstacles);
    }
    return w;
}

// Whether the base is taken, and of what is counted how much is, as the body says it or by what runs.
static pons_value *resources_now(const pons_brain *b, const pons__skills *skills)
{
    const pons_value *reported = b->seen ? b->seen->resources : NULL;
    pons_value *seen = reported ? json_copy((json_t *)reported) : json_object();
    pons_autovalue all = pons__resources(b);
    pons_each_member(name, amount, all) {
        int64_t used = 0;
        for (size_t i = 0; i < skills->running.n; i++) {
            const pons__running *r = skills->running.at[i];
            const pons__registered *skill = pons__skill(b, r->skill);
            used += pons_get_int(skill ? skill->counted : NULL, name, 0);
        }
        const int64_t at_body = pons_get_int(pons_get(reported, "counted"), name, 0);
        json_object_set_new(seen, name,
                            pons_object("used", json_integer(used > at_body ? used : at_body), "of",
                                        pons_value_ref(amount), NULL));
    }
    json_object_del(seen, "counted");
    return seen;
}

static pons__robot_reported *reported_robot(const pons_brain *b, const pons__skills *skills)
{
    const pons__robot *seen = b->seen;
    pons__robot_reported *r = pons__record_new(&pons__robot_reported_record);
    pons__json(&r->resources, resources_now(b, skills));
    r->stop = pons__record_copy(&pons__latch_record, seen ? seen->stop : NULL);
    r->stop = r->stop ? r->stop : pons__record_new(&pons__latch_record);
    pons__set_text(&r->battery_state, "unknown");
    if (!seen) {
        return r;
    }
    pons__json(&r->pose, pons_value_ref(seen->pose));
    pons__json(&r->scene, pons_value_ref(seen->scene));
    pons__json(&r->holding, seen->holding ? json_string(seen->holding)
                            : seen->arm   ? json_null()
                                          : NULL);
    r->battery_pct = isnan(seen->battery_pct) ? 0.0 : seen->battery_pct;
    r->distance_to_target = seen->distance_to_target;
    r->docked = seen->docked;
    if (*seen->battery_state) {
        pons__set_text(&r->battery_state, seen->battery_state);
    }
    if (seen->zone) {
        pons__set_text(&r->zone, seen->zone);
    }
    return r;
}

static pons__task_reported *reported_task(const pons__react *react)
{
    const pons__task *task = react->task;
    if (!task) {
        return NULL;
    }
    pons__task_reported *t = pons__record_new(&pons__task_reported_record);
    pons__set_text(&t->id, task->id);
    pons__set_text(&t->text, task->text);
    t->priority = task->priority;
    t->deadline_ms = task->deadline_ms;
    t->goal_index = pons__goal_open(task);
    t->plan = pons__plan_brief_of(react->plan);
    pons__list_copy(&pons__goal_reported_record, &t->goals, &task->goals);
    return t;
}

// What waits beside the task at hand, for a decision to switch.
static pons__list reported_queue(const pons_brain *b)
{
    pons__list list = {0};
    for (size_t i = 0; i < b->tasks->queue.n && list.n < QUEUE_TOLD; i++) {
        const pons__task *task = b->tasks->queue.at[i];
        if (strcmp(task->id, b->tasks->active_task_id) != 0) {
            pons__list_add(&list, pons__record_copy(&pons__waiting_record, task));
        }
    }
    return list;
}

static pons__list reported_running(pons_brain *b, const pons__skills *skills)
{
    pons__list list = {0};
    for (size_t i = 0; i < skills->running.n; i++) {
        const pons__running *r = skills->running.at[i];
        const pons__body_goal *g = pons__port_goal(&b->port, r->goal_id);
        pons__running_reported *reported = pons__record_new(&pons__running_reported_record);
        pons__set_text(&reported->goal_id, r->goal_id);
        pons__set_text(&reported->skill, r->skill);
        pons__json(&reported->args, pons_value_ref(r->args));
        reported->goal_index = r->goal_index;
        reported->beside = pons__means_beside(b, r->skill);
        reported->elapsed_s =
            (double)(pons__port_robot_ms(&b->port) - r->started_robot_ms) / PONS_MS_PER_S;
        reported->distance_remaining_m = g ? g->left_m : NAN;
        pons__list_add(&list, reported);
    }
    return list;
}

// Structs of the stack: what they point to is borrowed, but for what is made here.
// The structured view of everything for R2 (schemas/observation.json).
static pons_value *observation_of(pons_brain *b, pons__react *react, const pons__skills *skills)
{
    pons__bounds limits = {.failures_max = b->rules.failures_max,
                           .iterations_max = b->rules.iterations_max,
                           .charged_pct = b->rules.battery_charged_pct};
    pons_autovalue names = skill_names(b);
    pons_autovalue means = pons__means_reported(b, react->task);
    pons__observation o = {.iter = react->iter,
                           .mode = react->mode,
                           .task = reported_task(react),
                           .robot = reported_robot(b, skills),
                           .world = reported_world(b),
                           .queue = reported_queue(b),
                           .skills = names,
                           .means = means,
                           .running = reported_running(b, skills),
                           .last_result = skills->last_result,
                           .results = skills->results.n > 1 ? skills->results : (pons__list){0},
                           .failures = react->failures,
                           .limits = &limits,
                           .recovery = pons__recovery_tell(react->task),
                           .no_progress = react->wake == PONS_WAKE_NO_PROGRESS,
                           .woke = react->woke,
                           .human = react->human};
    pons_value *v = pons__record_write(&pons__observation_record, &o);
    pons__record_free(&pons__task_reported_record, o.task);
    pons__record_free(&pons__robot_reported_record, o.robot);
    pons__record_free(&pons__world_reported_record, o.world);
    pons__record_free(&pons__recovery_brief_record, o.recovery);
    pons__list_clear(&pons__running_reported_record, &o.running);
    pons__list_clear(&pons__waiting_record, &o.queue);
    return v;
}

// ---- the node -----------------------------------------------------------------------------------

int pons__build_observation(pons_cx *cx, void *user, pons_error *err)
{
    pons__turn t;
    pons__turn_begin(&t, cx, user, PONS_R1, err);
    pons_brain *b = t.b;
    if (!pons_cx_get(cx, "skills")) {
        pons__record_free(&pons__skills_record, t.skills);
        t.skills = skills_initial();
    }
    take_inbox(&t, err);
    pons__react *r = t.react;
    if (r->task) {
        mark_met(b, r->task, t.skills);
    }
    pons__recovery_observe(b, r, t.skills);
    pons__task_plan_mirror(b, cx, r);
    r->iter++;
    r->iter_ms = pons__wall_ms(b);
    r->model_tries = b->opts.llm ? b->rules.model_attempts : 0;
    r->check_in_s = b->rules.check_in_s;
    pons_autovalue observation = observation_of(b, r, t.skills);
    pons__list_clear(&pons__result_record, &t.skills->results); // they are told
    pons__json(&r->observation, pons_value_ref(observation));
    r->wake = r->wake == PONS_WAKE_NO_PROGRESS ? PONS_WAKE_NONE : r->wake; // it is told
    pons__json(&t.skills->registry, pons_value_ref(pons_get(observation, "skills")));
    t.skills_changed = true;
    pons__door_own(b, cx, PONS_DOOR_OBSERVATION, observation);
    pons_autovalue reported =
        json_copy(observation); // whoever is asked now has them; the past needs none
    json_object_del(reported, "means");
    pons__say_message(cx, "user", reported);
    PONS__EMIT(b, cx, observed, .observation = observation);
    return pons__turn_end(&t, PONS_OK);
}
