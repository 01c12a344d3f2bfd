// memory_pool.c - blocks that grow with what was taken, so that a small pool takes little.
#include "pons/memory_pool.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_LEAST = 2 << 10, BLOCK_MOST = 64 << 10 }; // [bytes] as much again, up to the most

struct pons__pool_block {
    struct pons__pool_block *next;
    _Alignas(16) char data[];
};

static size_t rounded(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

void *pons_pool_take(pons_pool *p, size_t n)
{
    n = rounded(n);
    if (n > p->left) {
        const size_t more = p->bytes < BLOCK_LEAST  ? BLOCK_LEAST
                            : p->bytes > BLOCK_MOST ? BLOCK_MOST
                                                    : p->bytes;
        const size_t room = n > more ? n : more;
        struct pons__pool_block *b = calloc(1, sizeof *b + room);
        if (!b) {
            p->failed = true;
            return NULL;
        }
        b->next = p->blocks;
        p->blocks = b;
        p->at = b->data;
        p->left = room;
        p->bytes += sizeof *b + room;
    }
    void *piece = p->at;
    p->at += n;
    p->left -= n;
    return piece;
}

char *pons_pool_text(pons_pool *p, const char *s, size_t n)
{
    char *copy = pons_pool_take(p, n + 1);
    return copy ? memcpy(copy, s, n) : NULL;
}

void pons_pool_trim(pons_pool *p, void *piece, size_t n, size_t used)
{
    char *const end = (char *)piece + rounded(used);
    if ((char *)piece + rounded(n) == p->at) {
        p->left += (size_t)(p->at - end);
        p->at = memset(end, 0, (size_t)(p->at - end));
    }
}

void pons_pool_fini(pons_pool *p)
{
    while (p->blocks) {
        struct pons__pool_block *b = p->blocks;
        p->blocks = b->next;
        free(b);
    }
    *p = (pons_pool){0};
}
