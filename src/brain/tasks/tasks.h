// tasks.h - the kernel's channel `tasks` as a struct that stays in step with it, and its queue.
#pragma once

#include "brain/records/kernel_fields.h"
#include "pons/brain.h"
#include "pons/graph.h"

pons__tasks *pons__tasks_initial(void);
// The brain's own struct, as the channel has it (NULL: the initial one). A node that changes it sets
// `changed` and puts it.
pons__tasks *pons__tasks_of(pons_brain *b, const pons_value *channel);
int pons__tasks_put(pons_brain *b, pons_cx *cx); // where it was changed
void pons__tasks_forget(pons_brain *b);

// Who should be active in a mode: CHARGE takes battery tasks only, EXEC the highest priority. Among
// equals the active one, then the one that was switched to, then the earlier deadline, then the older. One
// that waits for a person's answer lets all others go first.
pons__task *pons__tasks_pick(const pons__tasks *t, int mode);
// Was each of them put aside with a question that nobody has answered? False of an empty queue.
bool pons__tasks_all_wait(const pons__tasks *t);
size_t pons__tasks_place(const pons__tasks *t, const char *id); // in the queue; its length: nowhere
// Whether the active task may be left for another one: NULL, or why not. id "": for the next.
const char *pons__tasks_switch(const pons__tasks *t, const char *id, const pons__task **ret_to,
                               char *why, size_t cap);
// Which of a task's goals is next, in their order; -1: all are done.
int pons__goal_open(const pons__task *task);
// Whether the rules can go on with it: a person's goal that they understand, or what a model has made of another one as
// long as it lasts. That all of the model's is done is no end of what the person said. NULL: no.
bool pons__rules_understand(const pons__task *task);
int64_t
pons__task_number(const char *id); // of "task-7"; 0 when a damaged store says something else
