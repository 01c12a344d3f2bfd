// fleet_tasks.c - a task's life.
//
//     waiting -> assigned -> started -> done | failed | cancelled
//        ^          |           +-----> outcome_unknown -> started (its robot is back) | done | failed
//        +----------+ its robot was lost, or stuck, before it did anything
//
// Started is told before the robot hears of the task, so what was not started was never heard of.
#include "fleet/core/core.h"
#include "pons/machine.h"
#include "pons/out_of_memory.h"

#include <string.h>

const char *const pons_fleet_priorities[] = {"low", "normal", "high", NULL};
const char *const pons_fleet_task_states[] = {"waiting", "assigned", "started",   "outcome_unknown",
                                              "done",    "failed",   "cancelled", NULL};

static const pons_machine machine = {
    .name = "task",
    .n = PONS_FLEET_TASK_STATES,
    .states = pons_fleet_task_states,
    .may = (const uint64_t[]){
        [PONS_FLEET_WAITING] = PONS_TO(PONS_FLEET_ASSIGNED) | PONS_TO(PONS_FLEET_CANCELLED),
        [PONS_FLEET_ASSIGNED] = PONS_TO(PONS_FLEET_WAITING) | PONS_TO(PONS_FLEET_STARTED) |
                                PONS_TO(PONS_FLEET_CANCELLED),
        [PONS_FLEET_STARTED] = PONS_TO(PONS_FLEET_STARTED) | PONS_TO(PONS_FLEET_UNKNOWN) |
                               PONS_TO(PONS_FLEET_DONE) | PONS_TO(PONS_FLEET_FAILED) |
                               PONS_TO(PONS_FLEET_CANCELLED),
        [PONS_FLEET_UNKNOWN] =
            PONS_TO(PONS_FLEET_STARTED) | PONS_TO(PONS_FLEET_DONE) | PONS_TO(PONS_FLEET_FAILED),
    }};

// ---- they are done ------------------------------------------------------------------------------

static void tell(pons_fleet *f, const pons__task *t)
{
    if (f->o.task) {
        f->o.task(f->o.user, &t->is);
    }
}

static void move_to(pons_fleet *f, pons__task *t, pons_fleet_task_state state)
{
    int now = (int)t->is.state;
    pons_error none = PONS_ERROR_INIT;
    if (pons_machine_move(&machine, &now, (int)state, &none) < 0) {
        return; // a word that came too late
    }
    f->waiting -= t->is.state == PONS_FLEET_WAITING;
    t->is.state = state;
    tell(f, t);
}

void pons__task_arrived(pons_fleet *f, int32_t robot)
{
    pons__task *t = &f->tasks[f->robots[robot].task];
    t->is.working = true;
    move_to(f, t, PONS_FLEET_STARTED);
    pons__fleet_command(f, PONS_FLEET_WORK, robot);
    if (t->is.cancelling) { // said before this life began
        pons__fleet_command(f, PONS_FLEET_CANCEL, robot);
    }
}

void pons__task_go_on(pons_fleet *f, int32_t robot)
{
    pons__task *t = &f->tasks[f->robots[robot].task];
    if (t->is.state == PONS_FLEET_UNKNOWN) {
        move_to(f, t, PONS_FLEET_STARTED);
    }
    const pons__mover *m = &f->traffic.at[robot];
    const int32_t stop = t->is.stops[t->is.stop];
    pons__traffic_send(&f->traffic, robot, stop, f->now_ms);
    if (m->at == stop && m->next < 0) { // its ledger knows whether that was done
        pons__task_arrived(f, robot);
    }
}

static void end(pons_fleet *f, pons__task *t, pons_fleet_task_state state)
{
    if (t->is.robot >= 0) {
        f->robots[t->is.robot].task = -1;
    }
    move_to(f, t, state);
    t->used = false;
    f->free_tasks++;
}

void pons_fleet_worked(pons_fleet *f, int32_t robot, const char *task, size_t stop, bool ok,
                       int64_t now_ms)
{
    pons_fleet_beat(f, robot, now_ms);
    if (robot < 0 || (size_t)robot >= f->n || f->robots[robot].task < 0) {
        return;
    }
    pons__robot *r = &f->robots[robot];
    pons__task *t = &f->tasks[r->task];
    if (!t->is.working || t->is.stop != stop || strcmp(t->is.id, task) != 0 ||
        r->state != PONS_FLEET_BUSY) {
        return;
    }
    t->is.working = false;
    f->heading[t->is.stops[stop]]--;
    t->is.stop += ok;
    if (t->is.stop == t->is.n_stops || !ok || t->is.cancelling) {
        end(f, t,
            t->is.stop == t->is.n_stops ? PONS_FLEET_DONE
            : t->is.cancelling          ? PONS_FLEET_CANCELLED
                                        : PONS_FLEET_FAILED);
        pons__fleet_idle(f, robot);
        return;
    }
    f->heading[t->is.stops[t->is.stop]]++;
    move_to(f, t, PONS_FLEET_STARTED);
    pons__task_go_on(f, robot);
}

void pons__task_robot_lost(pons_fleet *f, int32_t robot)
{
    const int32_t at = f->robots[robot].task;
    if (at < 0) {
        return;
    }
    if (f->tasks[at].is.state == PONS_FLEET_ASSIGNED) {
        pons__task_give_back(f, robot);
    } else if (f->tasks[at].is.state == PONS_FLEET_STARTED) {
        move_to(f, &f->tasks[at], PONS_FLEET_UNKNOWN);
    }
}

void pons__task_give_back(pons_fleet *f, int32_t robot)
{
    pons__robot *r = &f->robots[robot];
    pons__task *t = &f->tasks[r->task];
    if (t->is.state != PONS_FLEET_ASSIGNED) {
        return;
    }
    f->heading[t->is.stops[t->is.stop]]--;
    r->task = -1;
    t->is.robot = -1;
    f->waiting++;
    f->changed = true;
    move_to(f, t, PONS_FLEET_WAITING);
    if (r->state == PONS_FLEET_BUSY) {
        pons__fleet_idle(f, robot);
    }
}

int pons_fleet_cancel(pons_fleet *f, const char *id, int64_t now_ms, pons_error *err)
{
    const int32_t at = pons__task_find(f, id);
    if (at < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "fleet", "there is no task %s, or it has ended",
                              id);
    }
    pons__task *t = &f->tasks[at];
    pons__fleet_clock(f, now_ms);
    if (t->is.state == PONS_FLEET_UNKNOWN) {
        return pons_error_set(err, PONS_EREFUSED, "fleet",
                              "task %s: its robot is lost, nobody knows how far it got; settle it",
                              id);
    }
    const int32_t robot = t->is.robot;
    if (t->is.state == PONS_FLEET_STARTED && t->is.working) {
        t->is.cancelling = true; // its robot's word decides
        tell(f, t);
        pons__fleet_command(f, PONS_FLEET_CANCEL, robot);
        return PONS_OK;
    }
    if (robot >= 0) {
        f->heading[t->is.stops[t->is.stop]]--;
    }
    const bool there = robot >= 0 && f->robots[robot].state == PONS_FLEET_BUSY;
    end(f, t, PONS_FLEET_CANCELLED);
    if (there) {
        pons__fleet_idle(f, robot);
    }
    return PONS_OK;
}

int pons_fleet_settle(pons_fleet *f, const char *id, bool done, pons_error *err)
{
    const int32_t at = pons__task_find(f, id);
    if (at < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "fleet", "there is no task %s, or it has ended",
                              id);
    }
    pons__task *t = &f->tasks[at];
    if (t->is.state != PONS_FLEET_UNKNOWN) {
        return pons_error_set(err, PONS_EREFUSED, "fleet", "task %s is %s, not outcome_unknown", id,
                              pons_fleet_task_states[t->is.state]);
    }
    f->heading[t->is.stops[t->is.stop]]--;
    end(f, t, done ? PONS_FLEET_DONE : PONS_FLEET_FAILED);
    return PONS_OK;
}

int32_t pons__task_find(const pons_fleet *f, const char *id)
{
    for (size_t i = 0; i < f->n_tasks; i++) {
        if (f->tasks[i].used && strcmp(f->tasks[i].is.id, id) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

// ---- they come ----------------------------------------------------------------------------------

static int check(const pons_fleet *f, const pons_fleet_task *t, pons_error *err)
{
    if (!*t->id || pons__task_find(f, t->id) >= 0) {
        return pons_error_set(err, *t->id ? PONS_EEXIST : PONS_EINVAL, "fleet",
                              *t->id ? "task %s is there already" : "a task has an id%s", t->id);
    }
    if (t->n_stops < 1 || t->n_stops > PONS_FLEET_STOPS_MAX) {
        return pons_error_set(err, PONS_EINVAL, "fleet", "task %s: 1 to %d stops, not %zu", t->id,
                              PONS_FLEET_STOPS_MAX, t->n_stops);
    }
    for (size_t i = 0; i < t->n_stops; i++) {
        if (t->stops[i] < 0 || (size_t)t->stops[i] >= f->map->n ||
            f->map->zones[t->stops[i]].kind != PONS_FLEET_STATION) {
            return pons_error_set(err, PONS_EINVAL, "fleet", "task %s: stop %zu is no station",
                                  t->id, i + 1);
        }
    }
    bool able = false, strong = false, both = false;
    for (size_t i = 0; i < f->n; i++) {
        const pons_fleet_robot *r = &f->robots[i].is;
        const bool a = (r->capabilities & t->capabilities) == t->capabilities;
        const bool s = r->payload_kg >= t->payload_kg;
        able = able || a;
        strong = strong || s;
        both = both || (a && s);
    }
    if (!both) {
        return pons_error_set(err, PONS_EINVAL, "fleet", "task %s: no robot of the fleet %s", t->id,
                              !able     ? "has all of its capabilities"
                              : !strong ? "can carry as much"
                                        : "has its capabilities and can carry as much");
    }
    return PONS_OK;
}

static int32_t new_task(pons_fleet *f)
{
    size_t i = f->n_tasks;
    if (f->free_tasks > 0) {
        for (i = 0; f->tasks[i].used; i++) {
        }
        f->free_tasks--;
    } else if (f->n_tasks == f->cap_tasks) {
        f->cap_tasks = f->cap_tasks ? f->cap_tasks * 2 : 64;
        f->tasks = pons_need_more(f->tasks, f->cap_tasks * sizeof *f->tasks);
    }
    f->n_tasks += i == f->n_tasks;
    f->tasks[i] = (pons__task){.used = true, .order = ++f->orders};
    return (int32_t)i;
}

int pons_fleet_add(pons_fleet *f, const pons_fleet_task *task, pons_error *err)
{
    const int rc = check(f, task, err);
    if (rc < 0) {
        return rc;
    }
    const int32_t at = new_task(f);
    pons__task *t = &f->tasks[at];
    t->is = *task;
    t->is.state = PONS_FLEET_WAITING;
    t->is.robot = -1;
    t->is.stop = 0;
    t->is.working = t->is.cancelling = false;
    f->waiting++;
    f->changed = true;
    tell(f, t);
    return PONS_OK;
}

int pons_fleet_restore_task(pons_fleet *f, const pons_fleet_task *task, pons_error *err)
{
    if (task->state >= PONS_FLEET_DONE) {
        return PONS_OK;
    }
    const int rc = check(f, task, err);
    const bool has = task->robot >= 0 && (size_t)task->robot < f->n;
    if (rc < 0 ||
        (task->state != PONS_FLEET_WAITING && (!has || f->robots[task->robot].task >= 0)) ||
        task->stop >= task->n_stops) {
        return rc < 0 ? rc
                      : pons_error_set(err, PONS_EINVAL, "fleet", "task %s cannot be %s", task->id,
                                       pons_fleet_task_states[task->state]);
    }
    const int32_t at = new_task(f);
    pons__task *t = &f->tasks[at];
    t->is = *task;
    if (task->state == PONS_FLEET_WAITING) {
        t->is.robot = -1;
        f->waiting++;
    } else {
        f->robots[task->robot].task = at;
        f->heading[t->is.stops[t->is.stop]]++;
    }
    f->changed = true;
    return PONS_OK;
}

void pons__task_assign(pons_fleet *f, int32_t task, int32_t robot)
{
    pons__task *t = &f->tasks[task];
    pons__robot *r = &f->robots[robot];
    t->is.robot = robot;
    r->task = task;
    r->state = PONS_FLEET_BUSY;
    f->heading[t->is.stops[0]]++;
    move_to(f, t, PONS_FLEET_ASSIGNED);
    pons__task_go_on(f, robot);
}
