// call_kinds.c - one of a task's calls: what kinds there are, in words that are stored, and its end.
#include "graph/core/task_calls.h"
#include "pons/value.h"

#include <stdlib.h>

const char *const pons__call_words[] = {"await", "task", "graph", "step"};

pons__call_kind pons__call_kind_of(const char *word)
{
    return strcmp(word, "task") == 0    ? PONS__CALL_TASK
           : strcmp(word, "graph") == 0 ? PONS__CALL_GRAPH
           : strcmp(word, "step") == 0  ? PONS__CALL_STEP
                                        : PONS__CALL_AWAIT;
}

static void call_fini(pons__call *c)
{
    free(c->name);
    pons_value_unref(c->request);
    pons_value_unref(c->answer);
}

void pons__call_pop(pons_cx *cx)
{
    call_fini(&cx->calls[--cx->n_calls]);
}
