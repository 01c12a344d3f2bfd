// memory_pool.h - memory with one owner: everything is freed at once.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct pons__bt_chunk pons__bt_chunk;
typedef struct pons__bt_arena { // one owner; everything is freed at once
    pons__bt_chunk *head;
    size_t left;
    char *at;
    size_t bytes;
    bool nomem; // something did not find room
} pons__bt_arena;
void *pons__bt_alloc(pons__bt_arena *a, size_t n); // zeroed, aligned to 16; NULL on no memory
char *pons__bt_strndup(pons__bt_arena *a, const char *s, size_t n);
void pons__bt_arena_fini(pons__bt_arena *a);
