// tree.c - the arrays of a tree at work, and the slots of its blackboards.
#include "bt/core/tree.h"

#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

int pons__bt_arrays(pons_bt_tree *t)
{
    const pons_bt *bt = t->bt;
    const size_t n = bt->n_nodes;
    t->state = calloc(n, 1);
    t->mem = calloc(n, sizeof *t->mem);
    t->defer = calloc(n, 1);
    t->run = calloc(n, sizeof *t->run);
    t->slots = calloc(bt->n_slots + 1, sizeof *t->slots);
    t->n_slots = t->slots ? bt->n_slots : 0;
    if (!t->state || !t->mem || !t->defer || !t->run || !t->slots) {
        return PONS_ENOMEM;
    }
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const pons__bt_slot_def *d = &bt->slots[i];
        pons__bt_slot *s = &t->slots[i];
        s->exists = d->declared || d->initial;
        s->kind = (uint8_t)pons__bt_type_kind(d->type);
        if (d->initial) {
            pons__bt_value v = {.kind = PONS__BT_STRING, .s = (char *)d->initial};
            const char *digits = d->initial + (*d->initial == '-');
            const bool number = *digits && strspn(digits, "0123456789.eE+-") == strlen(digits);
            if (d->type) {
                (void)pons__bt_parse(d->initial, d->type, &v); // else it stays a text
            } else if (number &&
                       !pons__bt_parse(d->initial, 'l', &v)) { // so that scripts can compute
                (void)pons__bt_parse(d->initial, 'd', &v);
            }
            if (pons__bt_value_dup(&s->v, &v) < 0) {
                return PONS_ENOMEM;
            }
            s->kind = s->v.kind;
            s->seq = 1;
        }
    }
    return PONS_OK;
}

void pons__bt_free_state(pons_bt_tree *t)
{
    for (uint32_t i = 0; i < t->n_slots; i++) {
        pons__bt_value_fini(&t->slots[i].v);
    }
    free(t->state);
    free(t->mem);
    free(t->defer);
    free(t->run);
    free(t->slots);
}

size_t pons_bt_tree_bytes(const pons_bt_tree *t)
{
    return sizeof *t + t->bt->n_nodes * (2 + sizeof *t->mem + sizeof *t->run) +
           t->bt->n_names * sizeof *t->fns + (t->n_slots + 1) * sizeof *t->slots;
}

// ---- slots --------------------------------------------------------------------------------------

pons__bt_slot *pons__bt_extra_slot(pons_bt_tree *t, const char *key)
{
    for (uint32_t i = 0; i < t->n_extra; i++) {
        if (strcmp(t->extra[i].key, key) == 0) {
            return &t->extra[i].slot;
        }
    }
    if (!pons_list_reserve(&t->extra, NULL, t->n_extra + 1, sizeof *t->extra)) {
        return NULL;
    }
    t->extra[t->n_extra] = (struct pons__bt_extra){.key = strdup(key)};
    return t->extra[t->n_extra].key ? &t->extra[t->n_extra++].slot : NULL;
}

int pons__bt_slot_write(pons_bt_tree *t, int32_t slot, const pons__bt_value *v, pons_error *err)
{
    return pons__bt_slot_assign(&t->slots[slot], t->bt->slots[slot].key, v, true, err);
}
