// keyed_task.h - what a program wants of a brain, as a task that is found again by its key.
//
// The task is a plan of one step, with the critic, approvals, the effect ledger and the body's own as they are. Its goal
// is the key. The key is kept before the plan is posted, so a life that was killed between the two finds, when it begins
// again, either the key in the brain's tasks or in its inbox, or that the brain has never heard of it; only then is it
// posted.
#pragma once

#include "app/workspace/context.h"

typedef struct app_keyed_task {
    const char *id;  // of the plan
    const char *key; // its goal
    const char *skill;
    const char *args; // JSON
} app_keyed_task;

// A plan of this step. PONS_EINVAL: what it says makes none. *ret: the caller's.
int app_keyed_task_plan(const app_keyed_task *t, const pons_clock *clock, pons_plan **ret,
                        pons_error *err);
// Whether the brain has read all that it was told: else what was posted may still be in its inbox.
int app_inbox_is_read(pons_store store, const char *thread, bool *ret, pons_error *err);
// by: who wants the task cancelled.
int app_task_cancel(pons_store store, const char *thread, const char *task, const char *by,
                    pons_error *err);
