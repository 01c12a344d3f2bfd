// run_end.c - what is left to be done with a run that has ended, and which graph it was of: for those who
// end runs, the workers and the host alike.
#include "pons/out_of_memory.h"
#include "serve/runs/internal.h"
#include "serve/runs/job_store.h"

#include <string.h>

void pons__runhost_doom(pons__runhost *h, const char *thread)
{
    pons__doomed *d = pons_need_zeroed(1, sizeof *d);
    memcpy(d->thread, thread, strlen(thread) + 1);
    d->since_ms = pons_now_ms(&h->s->o.clock);
    pthread_mutex_lock(&h->mtx);
    d->next = h->doomed;
    h->doomed = d;
    pthread_mutex_unlock(&h->mtx);
}

int pons__runhost_ended(pons__runhost *h, const pons__job *j, pons_error *err)
{
    const int rc = pons__kept_end(&h->items, j, j->rollback, err);
    if (rc >= 0 && j->temporary) {
        pons__runhost_doom(h, j->thread);
    }
    return rc;
}

const pons_serve_graph *pons__runhost_graph(const pons__runhost *h, const char *id)
{
    for (size_t i = 0; i < h->s->n_graphs; i++) {
        if (strcmp(h->s->graphs[i].id, id) == 0) {
            return &h->s->graphs[i];
        }
    }
    return NULL;
}
