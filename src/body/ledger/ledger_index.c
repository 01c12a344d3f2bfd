// ledger_index.c - an open-addressed table, goal -> place of its newest line.
//
//   slot   key 64 bits: of the id's SHA-256 | place 64 bits: part 20, byte 40, state 3, started 1
//
// A slot without a state is free. Two ids of one key are one goal to the table: the ledger reads the
// line before it tells anything of it, and refuses when the line is another's. With ten million goals
// that chance is one in a million, and what it costs is a refusal.
#include "body/ledger/ledger_index.h"

#include "pons/error.h"
#include "pons/random.h"

#include <stdlib.h>
#include <string.h>

#define CAP_FIRST 64
#define AT_BITS   40
#define AT_MAX    ((UINT64_C(1) << AT_BITS) - 1)

typedef struct pons__slot {
    uint64_t key, place;
} slot;

void pons__index_fini(pons__index *ix)
{
    free(ix->slots);
    *ix = (pons__index){0};
}

uint64_t pons__index_key(const char *goal_id)
{
    uint8_t hash[32];
    uint64_t key = 0;
    pons_sha256(goal_id, strlen(goal_id), hash);
    for (size_t i = 0; i < sizeof key; i++) {
        key = key << 8 | hash[i];
    }
    return key;
}

// The key's slot, or the free one where it belongs.
static slot *slot_of(slot *slots, size_t cap, uint64_t key)
{
    size_t i = (size_t)key & (cap - 1);
    while (slots[i].place && slots[i].key != key) {
        i = (i + 1) & (cap - 1);
    }
    return &slots[i];
}

int pons__index_reserve(pons__index *ix, size_t more)
{
    size_t cap = ix->cap ? ix->cap : CAP_FIRST;
    while ((ix->n + more) > cap / 4 * 3) {
        cap *= 2;
    }
    if (cap == ix->cap) {
        return PONS_OK;
    }
    slot *slots = calloc(cap, sizeof *slots);
    if (!slots) {
        return PONS_ENOMEM;
    }
    for (size_t i = 0; i < ix->cap; i++) {
        if (ix->slots[i].place) {
            *slot_of(slots, cap, ix->slots[i].key) = ix->slots[i];
        }
    }
    free(ix->slots);
    ix->slots = slots;
    ix->cap = cap;
    return PONS_OK;
}

static pons__place unpack(uint64_t place)
{
    return (pons__place){.part = (uint32_t)(place >> (AT_BITS + 4)),
                         .at = place >> 4 & AT_MAX,
                         .state = (int)(place >> 1 & 7),
                         .started = place & 1};
}

void pons__index_put(pons__index *ix, uint64_t key, pons__place p)
{
    slot *s = slot_of(ix->slots, ix->cap, key);
    if (s->place) {
        p.started = p.started || unpack(s->place).started;
    } else {
        ix->n++;
    }
    *s = (slot){.key = key, .place = pons__index_raw(p)};
}

uint64_t pons__index_raw(pons__place p)
{
    return (uint64_t)p.part << (AT_BITS + 4) | (p.at & AT_MAX) << 4 | (uint64_t)p.state << 1 |
           (uint64_t)p.started;
}

void pons__index_put_raw(pons__index *ix, uint64_t key, uint64_t place)
{
    if (unpack(place).state) {
        pons__index_put(ix, key, unpack(place));
    }
}

bool pons__index_get(const pons__index *ix, uint64_t key, pons__place *ret)
{
    const slot *s = ix->cap ? slot_of(ix->slots, ix->cap, key) : NULL;
    if (!s || !s->place) {
        return false;
    }
    *ret = unpack(s->place);
    return true;
}

bool pons__index_next(const pons__index *ix, size_t *at, uint64_t *ret_key, pons__place *ret)
{
    while (*at < ix->cap && !ix->slots[*at].place) {
        (*at)++;
    }
    if (*at >= ix->cap) {
        return false;
    }
    *ret_key = ix->slots[*at].key;
    *ret = unpack(ix->slots[(*at)++].place);
    return true;
}
