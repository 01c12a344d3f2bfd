// moved.c - a thing that moved keeps its id.
//
// Its old place was looked at, and it was not there: gone. One of its label turned up elsewhere after that object was last
// seen: known. In whatever order the two are found out, the pair becomes one object: the older one's id and history, the newer
// one's place. Where both have an identity it decides alone, and nobody has to look at the old place first.
#include "sight/memory/evidence.h"
#include "sight/memory/internal.h"

#include <math.h>
#include <string.h>

static double apart(const pons__object *a, const pons__object *b)
{
    return hypot(a->position[0] - b->position[0], a->position[1] - b->position[1]);
}

static bool may_be_one(const pons__object *old, const pons__object *new_)
{
    const bool named = *old->identity && *new_->identity;
    if (old == new_ || new_->state != PONS__OBJECT_KNOWN || strcmp(old->label, new_->label) != 0 ||
        new_->first_ms <= old->last_ms) {
        return false;
    }
    return named
               ? strcmp(old->identity, new_->identity) == 0 && old->state != PONS__OBJECT_CANDIDATE
               : old->state == PONS__OBJECT_GONE;
}

static void join(pons__object *old, pons__object *new_)
{
    for (int i = new_->n_sightings - 1; i >= 0; i--) {
        pons__object_add_sighting(old, &new_->sightings[i]);
    }
    memcpy(old->position, new_->position, sizeof old->position);
    memcpy(old->cov, new_->cov, sizeof old->cov);
    memcpy(old->zone, new_->zone, sizeof old->zone);
    if (*new_->identity) {
        memcpy(old->identity, new_->identity, sizeof old->identity);
    }
    old->last_ms = new_->last_ms;
    old->looked_ms = new_->looked_ms;
    old->seen += new_->seen;
    old->odds = new_->odds;
    old->state = PONS__OBJECT_KNOWN;
    old->urgent = true;
    pons__object_count_zone(old);
    new_->state = PONS__OBJECT_DEAD;
}

// The nearest partner of one whose state has turned.
static pons__object *partner(pons_object_memory *m, pons__object *o)
{
    pons__object *best = NULL;
    for (size_t i = 0; i < m->n; i++) {
        pons__object *other = &m->all[i];
        if ((may_be_one(other, o) || may_be_one(o, other)) &&
            (!best || apart(o, other) < apart(o, best))) {
            best = other;
        }
    }
    return best;
}

void pons__objects_reunite(pons_object_memory *m, pons_object_seen *ret)
{
    for (size_t i = 0; i < m->n; i++) {
        pons__object *o = &m->all[i];
        if (!o->turned) {
            continue;
        }
        o->turned = false;
        pons__object *other = o->state == PONS__OBJECT_DEAD ? NULL : partner(m, o);
        if (other && may_be_one(other, o)) {
            join(other, o);
        } else if (other) {
            join(o, other);
        }
        ret->moved += other != NULL;
    }
}
