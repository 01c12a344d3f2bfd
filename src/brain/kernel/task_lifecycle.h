// task_lifecycle.h - a task's beginning and end (task_lifecycle.c).
#pragma once

#include "brain/records/inbox_fields.h"
#include "brain/state/self.h"
#include "brain/state/transitions.h"

typedef struct
    pons__saying { // K5 at work, and what the letter at hand says of the tasks that it makes
    pons_brain *b;
    pons_cx *cx;
    pons__tasks *t;
    const pons__said *said; // NULL: nobody says it
    bool stopped;           // a stop was said in this tick
    bool early;             // a task was wished for before a stop
} pons__saying;

typedef enum pons__task_event { // the ends as pons__task_status has them
    PONS_TASK_CHOSEN,
    PONS_TASK_LET_GO,
    PONS_TASK_ENDS,
} pons__task_event;
extern const pons__machine pons__task_machine;
void pons__task_move(pons__task *task, int event);

#define PONS__CHARGE_AGAIN_MS 60000 // from a charging that was in vain to the next

// As the letter says, a number or in the words of the config; else the usual.
int64_t pons__task_priority(const pons__saying *s, int64_t usual);
// A new one at the queue's end, or once more the one that stands there. goals are taken (NULL: none), plan not.
void pons__task_push(pons__saying *s, const char *text, pons__list *goals, const pons_value *plan,
                     const char *source, int64_t priority);
// Nothing where there is no such task. status: of pons__finished.
void pons__task_end(pons__saying *s, const char *id, const char *status, const char *reason,
                    const pons_value *verified);
