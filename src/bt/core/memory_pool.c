// memory_pool.c - chunks that grow with what was taken, so that a small tree takes little.
#include "bt/core/memory_pool.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_LEAST = 2 << 10, CHUNK_MOST = 64 << 10 }; // [bytes] as much again, up to the most

struct pons__bt_chunk {
    pons__bt_chunk *next;
};

void *pons__bt_alloc(pons__bt_arena *a, size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (n > a->left) {
        const size_t more = a->bytes < CHUNK_LEAST  ? CHUNK_LEAST
                            : a->bytes > CHUNK_MOST ? CHUNK_MOST
                                                    : a->bytes;
        const size_t room = n > more ? n : more;
        pons__bt_chunk *c = calloc(1, room + 16);
        if (!c) {
            a->nomem = true;
            return NULL;
        }
        c->next = a->head;
        a->head = c;
        a->at = (char *)c + 16;
        a->left = room;
        a->bytes += room + 16;
    }
    void *p = a->at;
    a->at += n;
    a->left -= n;
    return p;
}

char *pons__bt_strndup(pons__bt_arena *a, const char *s, size_t n)
{
    char *p = pons__bt_alloc(a, n + 1);
    if (p) {
        memcpy(p, s, n);
    }
    return p;
}

void pons__bt_arena_fini(pons__bt_arena *a)
{
    while (a->head) {
        pons__bt_chunk *next = a->head->next;
        free(a->head);
        a->head = next;
    }
    *a = (pons__bt_arena){0};
}
