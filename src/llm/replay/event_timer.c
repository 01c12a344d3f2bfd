// event_timer.c - a list of events in the order in which they fall due.
#include "llm/replay/event_timer.h"

#include <stdlib.h>

typedef struct pons__due {
    struct pons__due *next;
    int64_t ns;
    pons_llm_event event;
} due;

void pons__timed_fini(pons__timed *t)
{
    while (t->first) {
        due *d = t->first;
        t->first = d->next;
        pons_llm_event_clear(&d->event);
        free(d);
    }
}

int pons__timed_push(pons__timed *t, int64_t due_ns, pons_llm_event ev)
{
    due *d = malloc(sizeof *d);
    if (!d) {
        pons_llm_event_clear(&ev);
        return PONS_ENOMEM;
    }
    due **at = &t->first;
    while (*at && (*at)->ns <= due_ns) {
        at = &(*at)->next;
    }
    *d = (due){.next = *at, .ns = due_ns, .event = ev};
    *at = d;
    return PONS_OK;
}

void pons__timed_cancel(pons__timed *t, uint64_t call)
{
    for (due **at = &t->first; *at;) {
        due *d = *at;
        if (d->event.call == call) {
            *at = d->next;
            pons_llm_event_clear(&d->event);
            free(d);
        } else {
            at = &d->next;
        }
    }
}

bool pons__timed_next(pons__timed *t, pons_llm_event *ret)
{
    due *d = t->first;
    if (!d || d->ns > pons_now_ns(&t->clock)) {
        return false;
    }
    t->first = d->next;
    *ret = d->event;
    free(d);
    return true;
}
