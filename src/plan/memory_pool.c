// memory_pool.c - pieces from a few blocks that are freed together. One owner, one thread.
#include "plan/memory_pool.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 << 10 };

typedef struct pons__block {
    struct pons__block *next;
    _Alignas(8) char data[];
} pons__block;

void *pons__arena_take(pons__arena *a, size_t n)
{
    const size_t rounded = (n + 7) & ~(size_t)7;
    if ((size_t)(a->end - a->at) < rounded || !a->at) {
        const size_t size = rounded > BLOCK_BYTES / 4 ? rounded : BLOCK_BYTES;
        pons__block *b = malloc(sizeof *b + size);
        if (!b) {
            return NULL;
        }
        if (size == rounded && a->blocks) { // a large piece: the room of the newest block stays
            b->next = a->blocks->next;
            a->blocks->next = b;
            return b->data;
        }
        b->next = a->blocks;
        a->blocks = b;
        a->at = b->data;
        a->end = b->data + size;
    }
    void *piece = a->at;
    a->at += rounded;
    return piece;
}

void pons__arena_trim(pons__arena *a, void *piece, size_t n, size_t used)
{
    if ((char *)piece + ((n + 7) & ~(size_t)7) == a->at) {
        a->at = (char *)piece + ((used + 7) & ~(size_t)7);
    }
}

char *pons__arena_text(pons__arena *a, const char *s, size_t len)
{
    char *copy = pons__arena_take(a, len + 1);
    if (copy) {
        memcpy(copy, s, len);
        copy[len] = '\0';
    }
    return copy;
}

void pons__arena_fini(pons__arena *a)
{
    while (a->blocks) {
        pons__block *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
    *a = (pons__arena){0};
}
