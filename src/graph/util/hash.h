// hash.h - FNV-1a, and a table from names to their places.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t pons__hash64(uint64_t seed, const void *data, size_t n); // FNV-1a
#define PONS__HASH_SEED 0xcbf29ce484222325ULL
// A task's id: of the node that a namespace runs after a checkpoint; a Send's has its place + 1.
#define PONS__TASK_ID_MAX 24
void pons__task_hash(const char *ns, const char *checkpoint, const char *node, uint32_t send_ix,
                     char ret[PONS__TASK_ID_MAX]);

typedef struct pons__index { // open addressing over names that lie elsewhere
    uint32_t *slots;         // index + 1, 0 empty
    uint32_t mask;
} pons__index;
typedef const char *(*pons__name_fn)(const void *user, size_t i);
#define PONS__INDEX_NONE (UINT32_MAX - 1)

bool pons__index_build(pons__index *ix, size_t n, pons__name_fn name, const void *user);
uint32_t pons__index_find(const pons__index *ix, const char *s, pons__name_fn name,
                          const void *user); // or PONS__INDEX_NONE
