// commit_copy.c - a commit that outlives its caller: everything that it refers to, in one block. The same
// walk measures it first and fills it then.
#include "store/store.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Hands out pieces of one block; with `at` NULL it only measures.
typedef struct carver {
    char *at;
    size_t used;
} carver;

// ---- helpers ------------------------------------------------------------------------------------

// align is a power of two.
static inline void *carve(carver *k, const void *from, size_t n, size_t align)
{
    k->used = (k->used + align - 1) & ~(align - 1);
    void *to = k->at ? k->at + k->used : NULL;
    if (to && n) {
        memcpy(to, from, n);
    }
    k->used += n;
    return to;
}

#define CARVE_ARRAY(k, c, field)                                                                   \
    carve(k, (c)->field, (c)->n_##field * sizeof *(c)->field, _Alignof(max_align_t))

static void carve_bytes(carver *k, pons_bytes *to, pons_bytes from)
{
    const void *data = carve(k, from.data, from.len, 1);
    if (to) {
        *to = (pons_bytes){.data = data, .len = from.len};
    }
}

static void carve_text(carver *k, const char **to, const char *from)
{
    const char *text = from ? carve(k, from, strlen(from) + 1, 1) : NULL;
    if (to) {
        *to = text;
    }
}

static pons_commit *carve_commit(carver *k, const pons_commit *c)
{
    pons_commit *mine = carve(k, c, sizeof *c, _Alignof(max_align_t));
    pons_checkpoint_row *checkpoints = CARVE_ARRAY(k, c, checkpoints);
    pons_record_row *records = CARVE_ARRAY(k, c, records);
    int64_t *taken = CARVE_ARRAY(k, c, inbox_taken);
    pons_inbox_row *posts = CARVE_ARRAY(k, c, posts);
    pons_effect_row *effects = CARVE_ARRAY(k, c, effects);
    pons_event_row *events = CARVE_ARRAY(k, c, events);
    pons_item_write *items = CARVE_ARRAY(k, c, items);
    const char *ns = NULL;
    carve_text(k, &ns, c->ns);
    for (size_t i = 0; i < c->n_checkpoints; i++) {
        carve_bytes(k, mine ? &checkpoints[i].data : NULL, c->checkpoints[i].data);
        carve_text(k, mine ? &checkpoints[i].ns : NULL, c->checkpoints[i].ns);
    }
    for (size_t i = 0; i < c->n_records; i++) {
        carve_bytes(k, mine ? &records[i].data : NULL, c->records[i].data);
    }
    for (size_t i = 0; i < c->n_posts; i++) {
        carve_bytes(k, mine ? &posts[i].value : NULL, c->posts[i].value);
        carve_text(k, mine ? &posts[i].ns : NULL, c->posts[i].ns);
        carve_text(k, mine ? &posts[i].kind : NULL, c->posts[i].kind);
    }
    for (size_t i = 0; i < c->n_effects; i++) {
        carve_bytes(k, mine ? &effects[i].data : NULL, c->effects[i].data);
        carve_text(k, mine ? &effects[i].ns : NULL, c->effects[i].ns);
    }
    for (size_t i = 0; i < c->n_events; i++) {
        carve_bytes(k, mine ? &events[i].payload : NULL, c->events[i].payload);
        carve_text(k, mine ? &events[i].ns : NULL, c->events[i].ns);
        carve_text(k, mine ? &events[i].type : NULL, c->events[i].type);
    }
    for (size_t i = 0; i < c->n_items; i++) {
        pons_item_row *to = mine ? &items[i].row : NULL;
        carve_text(k, to ? &to->ns : NULL, c->items[i].row.ns);
        carve_text(k, to ? &to->key : NULL, c->items[i].row.key);
        carve_text(k, to ? &to->words : NULL, c->items[i].row.words);
        carve_bytes(k, to ? &to->value : NULL, c->items[i].row.value);
        carve_bytes(k, to ? &to->vectors : NULL, c->items[i].row.vectors);
    }
    if (!mine) {
        return NULL;
    }
    mine->lease = NULL; // the caller has something that stands for it
    mine->ns = ns;
    mine->checkpoints = checkpoints;
    mine->records = records;
    mine->inbox_taken = taken;
    mine->posts = posts;
    mine->effects = effects;
    mine->events = events;
    mine->items = items;
    return mine;
}

void *pons__commit_copy(const pons_commit *c, size_t head, pons_commit **ret, size_t *ret_bytes)
{
    carver measure = {.used = head};
    carve_commit(&measure, c);
    carver k = {.at = malloc(measure.used), .used = head};
    if (!k.at) {
        return NULL;
    }
    memset(k.at, 0, head);
    *ret = carve_commit(&k, c);
    *ret_bytes = measure.used;
    return k.at;
}
