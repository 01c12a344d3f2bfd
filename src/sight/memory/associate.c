// associate.c - which detection is of which object.
//
// Each pair of a detection and an object of its label that lies within the gate, or nearer than the label's merge_m, has
// a cost; the cheapest pair is taken first, and neither takes part again: so two things of one kind that are seen in one
// picture stay two. Greedy differs from the best assignment only where things of one kind lie closer than their spread.
#include "sight/memory/evidence.h"
#include "sight/memory/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    double cost;
    int found, object;
} pair;

static int cheapest_first(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    const int order = (x->cost > y->cost) - (x->cost < y->cost);
    return order ? order : x->object - y->object;
}

// Whether it may be that one; an identity that both have decides first.
static bool fits(const pons__object *o, const pons__found *f, double merge_m, double *ret_cost)
{
    const bool named = *o->identity && f->d->identity && *f->d->identity;
    if (strcmp(o->label, f->d->label) != 0 || (named && strcmp(o->identity, f->d->identity) != 0)) {
        return false;
    }
    const double d2 = pons__place_distance2(o->position, o->cov, f->d->position, f->cov);
    const double apart =
        hypot(o->position[0] - f->d->position[0], o->position[1] - f->d->position[1]);
    if (d2 > PONS__GATE && apart > merge_m) {
        return false;
    }
    *ret_cost = fmin(d2, PONS__GATE + apart) - (named ? 2.0 * PONS__GATE : 0.0) +
                (o->state == PONS__OBJECT_KNOWN ? 0.0 : 1.0);
    return true;
}

int pons__associate(const pons_object_memory *m, pons__found *found, size_t n)
{
    pair *pairs = NULL;
    size_t used = 0, cap = 0;
    for (size_t i = 0; i < n; i++) {
        const double merge_m = pons__sight_merge_m(&m->settings, found[i].d->label);
        for (size_t k = 0; k < m->n; k++) {
            pair p = {.found = (int)i, .object = (int)k};
            if (!fits(&m->all[k], &found[i], merge_m, &p.cost)) {
                continue;
            }
            if (used == cap) {
                cap = cap ? 2 * cap : 64;
                pair *more = realloc(pairs, cap * sizeof *more);
                if (!more) {
                    free(pairs);
                    return PONS_ENOMEM;
                }
                pairs = more;
            }
            pairs[used++] = p;
        }
    }
    bool *taken = m->n ? calloc(m->n, 1) : NULL;
    if (m->n && !taken) {
        free(pairs);
        return PONS_ENOMEM;
    }
    if (used) {
        qsort(pairs, used, sizeof *pairs, cheapest_first);
    }
    for (size_t i = 0; i < used; i++) {
        const pair *p = &pairs[i];
        if (found[p->found].object < 0 && !taken[p->object]) {
            found[p->found].object = p->object;
            taken[p->object] = true;
        }
    }
    free(taken);
    free(pairs);
    return PONS_OK;
}
