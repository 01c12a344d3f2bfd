// state_answers.h - questions about the brain itself, answered at once (state_answers.c).
#pragma once

#include "brain/kernel/task_lifecycle.h"

// Answers the goals that ask, takes them out of the list, and tells the answer as a task that has ended well. Whether
// nothing else was wished for.
bool pons__state_answered(pons__saying *s, const char *text, pons__list *goals);
