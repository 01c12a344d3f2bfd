// tasks.c - the kernel's channel `tasks` as a struct, and who of its queue should be active.
//
//     the channel's value --read once--> b->tasks --changed by a node--> written, put
//           ^                                                               |
//           +------------------ kept as what it was written as -------------+
//
// A queue may hold hundreds of tasks and the kernel ticks ten times a second, so the struct is kept
// between ticks, for as long as the channel holds the very value that it was read from or written as.
// A quiet tick reads nothing and writes nothing. The brain's loop thread.
#include "brain/tasks/tasks.h"

#include "brain/state/self.h"
#include "brain/tasks/questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pons__tasks *pons__tasks_initial(void)
{
    pons__tasks *t = pons__record_new(&pons__tasks_record);
    pons__json(&t->inbox, json_array());
    pons__set_text(&t->mode_reason, "start");
    t->react = pons__record_new(&pons__reported_record);
    t->totals = pons__record_new(&pons__totals_record);
    return t;
}

pons__tasks *pons__tasks_of(pons_brain *b, const pons_value *channel)
{
    if (b->tasks && b->tasks_of == channel && (channel || !b->tasks->changed)) {
        return b->tasks;
    }
    pons__tasks_forget(b);
    b->tasks = channel ? pons__record_read(&pons__tasks_record, channel) : pons__tasks_initial();
    b->tasks_of = pons_value_ref(channel);
    if (!b->tasks->react) { // of a damaged store
        b->tasks->react = pons__record_new(&pons__reported_record);
    }
    if (!b->tasks->totals) {
        b->tasks->totals = pons__record_new(&pons__totals_record);
    }
    return b->tasks;
}

int pons__tasks_put(pons_brain *b, pons_cx *cx)
{
    if (!b->tasks->changed) {
        return PONS_OK;
    }
    pons_value *v = pons__record_write(&pons__tasks_record, b->tasks);
    b->tasks->changed = false;
    pons_value_unref(b->tasks_of);
    b->tasks_of = pons_value_ref(v);
    return pons_cx_put(cx, "tasks", v);
}

void pons__tasks_forget(pons_brain *b)
{
    pons__record_free(&pons__tasks_record, b->tasks);
    pons_value_unref(b->tasks_of);
    b->tasks = NULL;
    b->tasks_of = NULL;
}

// ---- the queue ----------------------------------------------------------------------------------

static int64_t rank(const pons__task *task, int mode)
{
    const bool battery = strcmp(task->source, "battery") == 0;
    if (mode == PONS_MODE_CHARGE ? !battery : mode != PONS_MODE_EXEC) {
        return INT64_MIN;
    }
    return task->priority;
}

// Whether a goes before b, which is older in the queue.
static bool before(const pons__tasks *t, int mode, const pons__task *a, const pons__task *b)
{
    const int64_t x = rank(a, mode), y = rank(b, mode);
    if (x != y) {
        return x > y;
    }
    const char *const held[] = {t->active_task_id, t->switch_to};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        const bool of_a = strcmp(a->id, held[i]) == 0, of_b = strcmp(b->id, held[i]) == 0;
        if (of_a != of_b) {
            return of_a;
        }
    }
    return a->deadline_ms && (!b->deadline_ms || a->deadline_ms < b->deadline_ms);
}

// For a person's answer, with nothing of it moving.
static bool waits(const pons__tasks *t, const pons__task *task)
{
    return strcmp(task->id, t->asking) == 0 || pons__question_waits(task);
}

pons__task *pons__tasks_pick(const pons__tasks *t, int mode)
{
    pons__task *best = NULL, *active = pons__queue_active(t);
    for (size_t i = 0; i < t->queue.n; i++) {
        pons__task *task = t->queue.at[i];
        if (rank(task, mode) != INT64_MIN && !waits(t, task) &&
            (!best || before(t, mode, task, best))) {
            best = task;
        }
    }
    // Where nothing else can run, the active one waits where it is.
    const bool stays = !best && active && rank(active, mode) != INT64_MIN;
    return stays ? active : best;
}

bool pons__tasks_all_wait(const pons__tasks *t)
{
    for (size_t i = 0; i < t->queue.n; i++) {
        if (!pons__question_waits(t->queue.at[i])) {
            return false;
        }
    }
    return t->queue.n > 0;
}

size_t pons__tasks_place(const pons__tasks *t, const char *id)
{
    return pons__list_place(&t->queue, offsetof(pons__task, id), id);
}

const char *pons__tasks_switch(const pons__tasks *t, const char *id, const pons__task **ret_to,
                               char *why, size_t cap)
{
    const pons__task *active = pons__queue_active(t), *to = pons__queue_find(t, id);
    for (size_t i = 0; !*id && i < t->queue.n; i++) { // for the next
        const pons__task *task = t->queue.at[i];
        const bool other =
            task != active && strcmp(task->source, "battery") != 0 && !waits(t, task);
        if (other && (!to || before(t, PONS_MODE_EXEC, task, to))) {
            to = task;
        }
    }
    *ret_to = to;
    if (!active || t->mode != PONS_MODE_EXEC) {
        snprintf(why, cap, "there is no task to switch from");
    } else if (!to) {
        snprintf(why, cap, *id ? "there is no task %.60s in the queue" : "there is no other task%s",
                 *id ? id : "");
    } else if (to == active) {
        snprintf(why, cap, "%s is the task at hand", to->id);
    } else if (waits(t, to)) {
        snprintf(why, cap, "%s waits for a person's answer", to->id);
    } else if (to->priority < active->priority) {
        snprintf(why, cap, "%s has priority %lld, below the %lld of %s", to->id,
                 (long long)to->priority, (long long)active->priority, active->id);
    } else {
        return NULL;
    }
    return why;
}

int pons__goal_open(const pons__task *task)
{
    for (size_t i = 0; task && i < task->goals.n; i++) {
        if (!((const pons__goal *)task->goals.at[i])->done) {
            return (int)i;
        }
    }
    return -1;
}

bool pons__rules_understand(const pons__task *task)
{
    for (size_t i = 0; task && i < task->goals.n; i++) {
        const pons__goal *goal = task->goals.at[i];
        if (!goal->added || !goal->done) {
            return true;
        }
    }
    return false;
}

int64_t pons__task_number(const char *id)
{
    return strncmp(id, "task-", strlen("task-")) == 0 ? strtoll(id + strlen("task-"), NULL, 10) : 0;
}
