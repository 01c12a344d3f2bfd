// hash.c - FNV-1a, and open addressing from names to places.
#include "graph/util/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t pons__hash64(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * 0x100000001b3ULL;
    }
    return h;
}

void pons__task_hash(const char *ns, const char *checkpoint, const char *node, uint32_t send_ix,
                     char ret[PONS__TASK_ID_MAX])
{
    uint64_t h = pons__hash64(PONS__HASH_SEED, ns, strlen(ns));
    h = pons__hash64(h, checkpoint, strlen(checkpoint) + 1);
    h = pons__hash64(h, node, strlen(node));
    if (send_ix) {
        h = pons__hash64(h, &send_ix, sizeof send_ix);
    }
    snprintf(ret, PONS__TASK_ID_MAX, "%016" PRIx64, h);
}

// At most half full, so that a search ends soon.
bool pons__index_build(pons__index *ix, size_t n, pons__name_fn name, const void *user)
{
    uint32_t size = 8;
    while (size < 2 * n) {
        size *= 2;
    }
    ix->slots = calloc(size, sizeof *ix->slots);
    ix->mask = size - 1;
    if (!ix->slots) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *s = name(user, i);
        uint32_t at = (uint32_t)pons__hash64(PONS__HASH_SEED, s, strlen(s)) & ix->mask;
        while (ix->slots[at]) {
            at = (at + 1) & ix->mask;
        }
        ix->slots[at] = i + 1;
    }
    return true;
}

uint32_t pons__index_find(const pons__index *ix, const char *s, pons__name_fn name,
                          const void *user)
{
    uint32_t at = (uint32_t)pons__hash64(PONS__HASH_SEED, s, strlen(s)) & ix->mask;
    for (; ix->slots[at]; at = (at + 1) & ix->mask) {
        if (strcmp(name(user, ix->slots[at] - 1), s) == 0) {
            return ix->slots[at] - 1;
        }
    }
    return PONS__INDEX_NONE;
}
