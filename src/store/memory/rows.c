// rows.c - counted rows, arrays of them, indexes from a string to a place, and the threads and
// namespaces that hold them. All under the store's lock.
#include "store/memory/memory.h"

#include <stdlib.h>
#include <string.h>

int pons__mem_no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
}

// Room for `need` items in *(T **)array; doubles.
bool pons__mem_grow(void *array, size_t *cap, size_t need, size_t item)
{
    if (need <= *cap) {
        return true;
    }
    size_t cap_new = *cap ? *cap : 4;
    while (cap_new < need) {
        cap_new *= 2;
    }
    void *old;
    memcpy(&old, array, sizeof old);
    void *bigger = realloc(old, cap_new * item);
    if (!bigger) {
        return false;
    }
    memcpy(array, &bigger, sizeof bigger);
    *cap = cap_new;
    return true;
}

bool pons__mem_rows_reserve(rows *r, size_t more)
{
    return pons__mem_grow(&r->at, &r->cap, r->n + more, sizeof *r->at);
}

void pons__mem_rows_push(rows *r, row *x)
{
    r->at[r->n++] = x;
}

void pons__mem_rows_clear(rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        pons__mem_row_unref(r->at[i]);
    }
    free(r->at);
    *r = (rows){0};
}

void pons__mem_row_unref(row *x)
{
    if (--x->refs == 0) {
        free(x);
    }
}

// One allocation: the row, its bytes, its strings. word: kind or type.
row *pons__mem_row_make(row_kind kind, const char *ns, const char *word, pons_bytes bytes)
{
    size_t ns_size = ns ? strlen(ns) + 1 : 0;
    size_t word_size = word ? strlen(word) + 1 : 0;
    row *x = malloc(sizeof *x + bytes.len + ns_size + word_size);
    if (!x) {
        return NULL;
    }
    memset(x, 0, sizeof *x);
    x->refs = 1;
    x->kind = kind;
    if (bytes.len) {
        memcpy(x->data, bytes.data, bytes.len);
    }
    pons_bytes copy = {.data = x->data, .len = bytes.len};
    char *at = x->data + bytes.len;
    if (ns) {
        x->ns = memcpy(at, ns, ns_size);
    }
    const char *w = word ? memcpy(at + ns_size, word, word_size) : NULL;
    switch (kind) {
    case ROW_CHECKPOINT:
        x->u.checkpoint.data = copy;
        break;
    case ROW_RECORD:
        x->u.record.data = copy;
        break;
    case ROW_INBOX:
        x->u.inbox = (pons_inbox_row){.ns = x->ns, .kind = w, .value = copy};
        break;
    case ROW_EVENT:
        x->u.event = (pons_event_row){.ns = x->ns, .type = w, .payload = copy};
        break;
    case ROW_EFFECT:
        x->u.effect.ns = x->ns;
        x->u.effect.data = copy;
        break;
    }
    return x;
}

int64_t pons__mem_row_bytes(const row *x)
{
    switch (x->kind) {
    case ROW_CHECKPOINT:
        return (int64_t)(sizeof *x + x->u.checkpoint.data.len);
    case ROW_RECORD:
        return (int64_t)(sizeof *x + x->u.record.data.len);
    case ROW_INBOX:
        return (int64_t)(sizeof *x + x->u.inbox.value.len);
    case ROW_EVENT:
        return (int64_t)(sizeof *x + x->u.event.payload.len);
    case ROW_EFFECT:
        return (int64_t)(sizeof *x + x->u.effect.data.len);
    }
    return 0;
}

// FNV-1a.
static uint32_t hash_of(const char *key)
{
    uint32_t h = 2166136261u;
    for (; *key; key++) {
        h = (h ^ (uint8_t)*key) * 16777619u;
    }
    return h;
}

// The slot of a key, or the free one where it goes.
static map_slot *map_slot_of(const map *m, const char *key, uint32_t hash)
{
    size_t i = hash & (m->cap - 1);
    while (m->slots[i].key && (m->slots[i].hash != hash || strcmp(m->slots[i].key, key) != 0)) {
        i = (i + 1) & (m->cap - 1);
    }
    return &m->slots[i];
}

// At most 3/4 full, so that a probe always ends.
bool pons__mem_map_reserve(map *m, size_t more)
{
    size_t cap = m->cap ? m->cap : 8;
    while ((m->n + more) * 4 > cap * 3) {
        cap *= 2;
    }
    if (cap == m->cap) {
        return true;
    }
    map bigger = {.slots = calloc(cap, sizeof *bigger.slots), .cap = cap, .n = m->n};
    if (!bigger.slots) {
        return false;
    }
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].key) {
            *map_slot_of(&bigger, m->slots[i].key, m->slots[i].hash) = m->slots[i];
        }
    }
    free(m->slots);
    *m = bigger;
    return true;
}

bool pons__mem_map_get(const map *m, const char *key, size_t *ret)
{
    if (!m->cap) {
        return false;
    }
    const map_slot *s = map_slot_of(m, key, hash_of(key));
    if (!s->key) {
        return false;
    }
    if (ret) {
        *ret = s->place;
    }
    return true;
}

// Room was reserved.
void pons__mem_map_put(map *m, const char *key, size_t place)
{
    uint32_t hash = hash_of(key);
    map_slot *s = map_slot_of(m, key, hash);
    if (!s->key) {
        m->n++;
    }
    *s = (map_slot){.key = key, .hash = hash, .place = (uint32_t)place};
}

void pons__mem_map_clear(map *m)
{
    if (m->cap) {
        memset(m->slots, 0, m->cap * sizeof *m->slots);
    }
    m->n = 0;
}

mem_thread *pons__mem_thread_find(mem *m, const char *name)
{
    for (size_t i = 0; i < m->n_threads; i++) {
        if (strcmp(m->threads[i]->name, name) == 0) {
            return m->threads[i];
        }
    }
    return NULL;
}

mem_thread *pons__mem_thread_make(mem *m, const char *name)
{
    if (!pons__mem_grow(&m->threads, &m->cap_threads, m->n_threads + 1, sizeof *m->threads)) {
        return NULL;
    }
    mem_thread *t = calloc(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    strcpy(t->name, name);
    t->created_ms = t->updated_ms = pons__store_wall_ms();
    m->threads[m->n_threads++] = t;
    return t;
}

static void space_free(mem_ns *s)
{
    pons__mem_rows_clear(&s->checkpoints);
    free(s->by_id.slots);
    for (size_t i = 0; i < s->n_groups; i++) {
        pons__mem_rows_clear(&s->groups[i]->records);
        free(s->groups[i]);
    }
    free(s->groups);
    free(s->group_by_id.slots);
    free(s);
}

void pons__mem_thread_free(mem_thread *t)
{
    for (size_t i = 0; i < t->n_spaces; i++) {
        space_free(t->spaces[i]);
    }
    free(t->spaces);
    free(t->space_by_name.slots);
    pons__mem_rows_clear(&t->inbox);
    pons__mem_rows_clear(&t->events);
    pons__mem_rows_clear(&t->effects);
    free(t->effect_by_id.slots);
    if (t->note) {
        pons__mem_row_unref(t->note);
    }
    free(t);
}

mem_ns *pons__mem_space_find(const mem_thread *t, const char *name)
{
    size_t at;
    return pons__mem_map_get(&t->space_by_name, name, &at) ? t->spaces[at] : NULL;
}

mem_ns *pons__mem_space_make(mem_thread *t, const char *name)
{
    if (!pons__mem_map_reserve(&t->space_by_name, 1) ||
        !pons__mem_grow(&t->spaces, &t->cap_spaces, t->n_spaces + 1, sizeof *t->spaces)) {
        return NULL;
    }
    mem_ns *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    strcpy(s->name, name);
    t->spaces[t->n_spaces] = s;
    pons__mem_map_put(&t->space_by_name, s->name, t->n_spaces++);
    return s;
}

group *pons__mem_group_find(const mem_ns *s, const char *checkpoint)
{
    size_t at;
    return pons__mem_map_get(&s->group_by_id, checkpoint, &at) ? s->groups[at] : NULL;
}

group *pons__mem_group_make(mem_ns *s, const char *checkpoint)
{
    if (!pons__mem_map_reserve(&s->group_by_id, 1) ||
        !pons__mem_grow(&s->groups, &s->cap_groups, s->n_groups + 1, sizeof *s->groups)) {
        return NULL;
    }
    group *g = calloc(1, sizeof *g);
    if (!g) {
        return NULL;
    }
    strcpy(g->checkpoint, checkpoint);
    s->groups[s->n_groups] = g;
    pons__mem_map_put(&s->group_by_id, g->checkpoint, s->n_groups++);
    return g;
}

void pons__mem_thread_remove(mem *m, mem_thread *t)
{
    size_t at = 0;
    while (m->threads[at] != t) {
        at++;
    }
    memmove(&m->threads[at], &m->threads[at + 1], (m->n_threads - at - 1) * sizeof *m->threads);
    m->n_threads--;
    pons__mem_thread_free(t);
}
