// task_lifecycle.c - a task's beginning and end: how one comes into the queue, and goes out of it.
#include "brain/kernel/task_lifecycle.h"

#include "brain/goals/scheduled_goals.h"
#include "brain/kernel/stop_state.h"
#include "brain/plan/task_plan.h"
#include "brain/records/event_fields.h"
#include "brain/tasks/questions.h"
#include "brain/tasks/tasks.h"

#include <stdlib.h>
#include <string.h>

enum { FINISHED_KEPT = 50, ANSWERS_KEPT = 10 }; // tasks; questions that were answered at once

static const char *const event_words[] = {"is chosen",  "is let go of", "succeeds", "fails",
                                          "is aborted", "is cancelled", NULL};

// clang-format off
#define END_OF(from, to) {PONS_TASK_##from, PONS_TASK_ENDS + PONS_TASK_##to - PONS_TASK_SUCCEEDED, PONS_TASK_##to, NULL}
#define ENDS(from) END_OF(from, SUCCEEDED), END_OF(from, FAILED), END_OF(from, ABORTED), END_OF(from, CANCELLED)
static const pons__transition rows[] = {
    {PONS_TASK_QUEUED, PONS_TASK_CHOSEN, PONS_TASK_ACTIVE, NULL},
    {PONS_TASK_ACTIVE, PONS_TASK_LET_GO, PONS_TASK_PAUSED, NULL}, // it keeps its place and what it has reached
    {PONS_TASK_PAUSED, PONS_TASK_CHOSEN, PONS_TASK_ACTIVE, NULL},
    ENDS(QUEUED), ENDS(ACTIVE), ENDS(PAUSED),
};
// clang-format on

PONS__MACHINE(task, "a task, from the queue to its end", pons__task_status_words);

void pons__task_move(pons__task *task, int event)
{
    pons__machine_move(&pons__task_machine, &task->status, event, NULL, NULL);
}

// A message may give one, as a number or in the words of the config.
int64_t pons__task_priority(const pons__saying *s, int64_t usual)
{
    const pons__rules_kernel *rules = &s->b->rules;
    const pons_value *said = s->said ? s->said->priority : NULL;
    const char *word = json_is_string(said) ? json_string_value(said) : "";
    char *end = NULL;
    const long long number = strtoll(word, &end, 10);
    return json_is_integer(said)             ? json_integer_value(said)
           : strcmp(word, "background") == 0 ? rules->priority_background
           : strcmp(word, "user") == 0       ? rules->priority_user
           : strcmp(word, "urgent") == 0     ? rules->priority_urgent
           : end && end != word && *end == 0 ? (int64_t)number
                                             : usual;
}

// The same wishes, in whatever words: where it is about a place, how it was said is no part of it.
static bool same_goals(const pons__list *a, const pons__list *b)
{
    pons__list bare[2] = {{0}, {0}};
    pons__list_copy(&pons__goal_record, &bare[0], a);
    pons__list_copy(&pons__goal_record, &bare[1], b);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < bare[i].n; k++) {
            pons__set_text(&((pons__goal *)bare[i].at[k])->text, "");
        }
    }
    const bool same = pons__list_equal(&pons__goal_record, &bare[0], &bare[1]);
    pons__list_clear(&pons__goal_record, &bare[0]);
    pons__list_clear(&pons__goal_record, &bare[1]);
    return same;
}

// Said twice in a row, and it is the same wherever the robot is: that is one task.
static bool said_again(pons__saying *s, const pons__task *task)
{
    pons__tasks *t = s->t;
    pons__task *last = t->queue.n ? t->queue.at[t->queue.n - 1] : NULL;
    if (!last || strcmp(last->source, task->source) != 0 || last->plan || task->plan ||
        task->goals.n == 0 || last->unverified != task->unverified ||
        last->priority != task->priority || last->deadline_ms != task->deadline_ms ||
        !same_goals(&last->goals, &task->goals)) {
        return false;
    }
    for (size_t i = 0; i < task->goals.n; i++) {
        if (!pons__means_once(s->b, task->goals.at[i])) {
            return false;
        }
    }
    last->said++;
    t->changed = true;
    PONS__EMIT(s->b, s->cx, task_merged, .task_id = last->id, .said = last->said);
    return true;
}

void pons__task_push(pons__saying *s, const char *text, pons__list *goals, const pons_value *plan,
                     const char *source, int64_t priority)
{
    pons__tasks *t = s->t;
    s->early = s->early || (s->said && pons__stopped_since(s->b, s->said));
    pons__task *task = pons__record_new(&pons__task_record);
    pons__set_textf(&task->id, "task-%lld", (long long)t->next);
    pons__set_text(&task->text, text);
    pons__set_text(&task->source, source);
    if (strcmp(source, "schedule") == 0) {
        pons__set_text(&task->schedule, pons__schedule_of(s->said->by));
    }
    if (goals) {
        task->goals = *goals;
        *goals = (pons__list){0};
    }
    task->priority = pons__task_priority(s, priority);
    if (task->priority <= s->b->rules.priority_background && strcmp(source, "user") == 0) {
        pons__set_text(&task->source, "background");
    }
    task->deadline_ms = s->said ? s->said->deadline_ms : 0;
    pons__json(&task->resources, json_pack("[s]", "base"));
    task->preemptible = true;
    task->created_ms = pons_cx_wall_ms(s->cx);
    task->plan = plan ? pons__task_plan_new("given", plan) : NULL;
    task->unverified = !plan && task->goals.n == 0;
    const int64_t most = s->b->rules.priority_charge - 1;
    if (strcmp(source, "battery") != 0 && task->priority > most) {
        task->priority = most; // nobody's wish goes before charging
    }
    if (said_again(s, task)) {
        pons__record_free(&pons__task_record, task);
        return;
    }
    pons__list_add(&t->queue, task);
    t->next++;
    t->changed = true;
    pons_autovalue v = pons__record_write(&pons__task_record, task);
    PONS__EMIT(s->b, s->cx, task_queued, .task = task);
    // What a person said may be more than a task can be: it is never lost, and ends at once.
    pons_error why = PONS_ERROR_INIT;
    if (pons__door_check(s->b, PONS_DOOR_TASK, v, &why) < 0) {
        pons__task_end(s, task->id, "failed", why.message, NULL);
    }
}

// Answers push out no task: each sort is kept for itself.
static void forget_old(pons__list *finished, bool answers)
{
    size_t n = 0;
    for (size_t i = finished->n; i-- > 0;) {
        const bool answer = strcmp(((pons__finished *)finished->at[i])->source, "system") == 0;
        if (answer == answers && ++n > (size_t)(answers ? ANSWERS_KEPT : FINISHED_KEPT)) {
            pons__record_free(&pons__finished_record, pons__list_take(finished, i));
        }
    }
}

void pons__task_end(pons__saying *s, const char *id, const char *status, const char *reason,
                    const pons_value *verified)
{
    pons_brain *b = s->b;
    pons_cx *cx = s->cx;
    pons__tasks *t = s->t;
    const size_t place = pons__tasks_place(t, id);
    if (place == t->queue.n) {
        return;
    }
    pons__task *task = pons__list_take(&t->queue, place);
    const int end = pons__word_find(pons__task_status_words, status, PONS_TASK_ABORTED);
    pons__task_move(task, PONS_TASK_ENDS + end - PONS_TASK_SUCCEEDED);
    pons__questions_close(b, cx, &task->asks, "the task is over");
    pons__finished *f = pons__record_new(&pons__finished_record);
    pons__set_text(&f->id, task->id);
    pons__set_text(&f->text, task->text);
    pons__set_text(&f->status, status);
    pons__set_text(&f->reason, reason);
    pons__set_text(&f->source, task->source);
    pons__json(&f->verified, pons_value_ref(verified));
    pons__list_add(&t->finished, f);
    forget_old(&t->finished, false);
    forget_old(&t->finished, true);
    if (strcmp(t->active_task_id, task->id) == 0) {
        pons__set_text(&t->active_task_id, "");
    }
    if (strcmp(t->switch_to, task->id) == 0) {
        pons__set_text(&t->switch_to, "");
    }
    if (strcmp(task->source, "battery") == 0) {
        const bool vain = strcmp(status, "succeeded") != 0;
        t->charge_again_ms = vain ? pons_cx_wall_ms(cx) + PONS__CHARGE_AGAIN_MS : 0;
    }
    t->changed = true;
    PONS__EMIT(b, cx, task_done, .task_id = f->id, .status = f->status, .reason = f->reason,
               .text = f->text, .verified = verified);
    pons__record_free(&pons__task_record, task);
}
