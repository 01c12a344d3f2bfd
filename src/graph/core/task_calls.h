// task_calls.h - a task's calls: the awaits, interrupts and tasks that its node has made.
#pragma once

#include "graph/core/task.h"

#include <string.h>

static inline bool pons__call_outstanding(const pons__call *c)
{
    return c->kind == PONS__CALL_AWAIT && !c->answer;
}
static inline bool pons__call_unanswered(const pons__call *c) // an await, or a task that was called
{
    return (c->kind == PONS__CALL_AWAIT || c->kind == PONS__CALL_STEP) && !c->answer;
}
static inline bool pons__call_is_human(const pons__call *c)
{
    return strcmp(c->name, PONS__HUMAN) == 0;
}

extern const char *const pons__call_words[]; // by kind
#define PONS__CALL_FAILED "__failed__" // in the answer of a graph that failed: {status, message, …}
pons__call_kind pons__call_kind_of(const char *word);
pons__call *pons__call_add(pons_cx *cx, pons__call_kind kind, const char *name, const char *hash);
void pons__call_id(pons_cx *cx, pons__call *c, size_t n);
void pons__call_pop(pons_cx *cx);                   // forgets the last one
void pons__call_cancel(pons_run *r, pons__call *c); // tells the handler, once

bool pons__task_asks(const pons_cx *cx);       // has asked in this pass what nobody has recorded
bool pons__task_pending(const pons_cx *cx);    // has an unanswered await of its own
size_t pons__task_answered(const pons_cx *cx); // how many have an answer
bool pons__task_waits_for_people(const pons_cx *cx);
void pons__task_trim(pons_cx *cx);      // the calls that another attempt makes anew
void pons__task_cancel(pons_cx *cx);    // tells the handlers that nobody waits any more
void pons__awaits_drop(pons_cx *cx);    // a finished task wants no more answers
void pons__awaits_unasked(pons_cx *cx); // forgets what this pass asked and nobody has committed
int pons__awaits_start(pons_run *r);    // calls the handlers that are due; how many
pons_run_state pons__awaits_state(const pons_run *r);
