// run_end.c - when a run is over, and how it ended.
//
// It is over when nothing waits, nothing is under way, and nobody has said anything that was not
// heard; or when only a person could let it go on and nobody comes. The worst of its tasks names it.
// The brain's loop thread.
#include "brain/kernel/run_end.h"

#include "brain/body_link/telemetry_sync.h"
#include "brain/records/event_fields.h"
#include "brain/tasks/questions.h"
#include "brain/tasks/tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool of_the_run(const pons_brain *b, const pons__finished *f)
{
    return pons__task_number(f->id) >= b->tasks->run_first;
}

// It has said that it waits for a person; and all that waited was ended without an answer: by a cancel, or by
// a deadline.
static bool waits_no_more(const pons_brain *b)
{
    return b->done_emitted && b->outcome == PONS_BRAIN_WAITING && b->tasks->queue.n == 0;
}

// The next tick puts the task that asks aside, and another one goes on.
static bool others_can_run(pons_brain *b)
{
    snprintf(b->tasks->asking, sizeof b->tasks->asking, "%s", pons__question_asking(b));
    const pons__task *pick = pons__tasks_pick(b->tasks, b->tasks->mode);
    return b->tasks->asking[0] && pick && pick != pons__queue_active(b->tasks);
}

// Only a person lifts a stop or a pause; there is work, and for options.wait_ms nobody has come.
static bool people_are_gone(pons_brain *b)
{
    const bool latched = pons__latched(b);
    const bool work = b->tasks->queue.n > 0;
    const int64_t now = pons_now_ns(&b->opts.clock);
    if (!work || (!latched && !pons__stands(b->tasks))) {
        b->people_since_ns = 0;
        return false;
    }
    if (!b->people_since_ns) {
        b->people_since_ns = now;
    }
    return b->opts.wait_ms > 0 && now - b->people_since_ns >= b->opts.wait_ms * PONS_NS_PER_MS;
}

static int emit_done(pons_brain *b, pons_brain_outcome outcome, const char *word, pons_error *err)
{
    const pons__totals *totals = b->tasks->totals;
    const pons__react *open = pons__inner_of(b); // an activation that has not been counted yet
    pons__list tasks = {0};
    for (size_t i = 0; i < b->tasks->finished.n; i++) {
        if (of_the_run(b, b->tasks->finished.at[i])) {
            pons__list_add(&tasks, b->tasks->finished.at[i]); // lent
        }
    }
    const pons__run_done done = {
        .status = word,
        .tasks = tasks,
        .iterations = totals->iterations + (open ? open->iter : 0),
        .replans = totals->replans + (open ? open->replans : 0),
        .distance_m = totals->distance_m + (open ? open->distance_m : 0.0),
        .battery_pct = b->port.telemetry ? b->port.newest.as.telemetry.battery_pct : NAN,
    };
    const int rc = pons__event_now(b, PONS_NS_KERNEL, &pons__run_done_record, &done, err);
    free((void *)tasks.at);
    if (rc >= 0) {
        b->outcome = outcome;
        b->done_emitted = true;
    }
    return rc;
}

int pons__done_check(pons_brain *b, pons_error *err)
{
    if (waits_no_more(b)) {
        b->done_emitted = false;
        b->outcome = PONS_BRAIN_RUNNING;
    }
    // A tick that a crash cut short may hold goals that are in no queue and no inbox any more.
    if (b->done_emitted || b->opts.keep_running || b->kernel_unfinished) {
        return PONS_OK;
    }
    if (people_are_gone(b)) {
        return emit_done(b, PONS_BRAIN_WAITING, "waiting", err);
    }
    if (b->tasks->speed_request) { // the body has not said yet that it has it
        return PONS_OK;
    }
    if (b->react_run) {
        if (pons_run_state_get(b->react_run) == PONS_RUN_INTERRUPTED && !pons__under_way(b) &&
            b->tasks->run_first > 0 && !others_can_run(b)) {
            return emit_done(b, PONS_BRAIN_WAITING, "waiting", err);
        }
        return PONS_OK;
    }
    int64_t mail = 0;
    const bool all_wait = pons__tasks_all_wait(b->tasks);
    if ((b->tasks->queue.n > 0 && !all_wait) || b->tasks->react->state != PONS_INNER_IDLE) {
        return PONS_OK;
    }
    const int rc = pons_thread_inbox_count(b->thread, PONS_NS_KERNEL, &mail, err);
    if (rc < 0 || mail > 0) {
        return rc;
    }
    if (all_wait) {
        return emit_done(b, PONS_BRAIN_WAITING, "waiting", err);
    }
    // The worst of the run's tasks names it.
    static const struct {
        const char *word;
        pons_brain_outcome outcome;
    } ranks[] = {{"failed", PONS_BRAIN_FAILED},
                 {"aborted", PONS_BRAIN_ABORTED},
                 {"cancelled", PONS_BRAIN_CANCELLED}};
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
        for (size_t i = 0; i < b->tasks->finished.n; i++) {
            const pons__finished *f = b->tasks->finished.at[i];
            const bool theirs = strcmp(f->source, "battery") != 0;
            if (theirs && of_the_run(b, f) && strcmp(f->status, ranks[k].word) == 0) {
                return emit_done(b, ranks[k].outcome, ranks[k].word, err);
            }
        }
    }
    return emit_done(b, PONS_BRAIN_SUCCEEDED, "succeeded", err);
}
