// text_edits.c - pieces of a text replaced.
#include "workspace/text/text_edits.h"

#include "pons/growing_list.h"
#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

void pons__ws_edits_add(ws_edits *e, size_t start, size_t end, const char *by, size_t len)
{
    pons_need_room(&e->at, &e->cap, e->n + 1, sizeof *e->at);
    char *copy = pons_need(len + 1);
    memcpy(copy, len ? by : "", len);
    e->at[e->n] = (ws_edit){.start = start, .end = end, .by = copy, .len = len, .order = e->n};
    e->n++;
}

static int by_place(const void *a, const void *b)
{
    const ws_edit *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

bool pons__ws_edits_apply(ws_edits *e, const char *text, size_t len, pons_buf *out)
{
    size_t at = 0;
    if (e->n) {
        qsort(e->at, e->n, sizeof *e->at, by_place);
    }
    for (size_t i = 0; i < e->n; i++) {
        const ws_edit *x = &e->at[i];
        if (x->start < at || x->end > len || x->end < x->start) {
            return false;
        }
        pons_buf_bytes(out, text + at, x->start - at);
        pons_buf_bytes(out, x->by, x->len);
        at = x->end;
    }
    pons_buf_bytes(out, text + at, len - at);
    return true;
}

void pons__ws_edits_fini(ws_edits *e)
{
    for (size_t i = 0; i < e->n; i++) {
        free(e->at[i].by);
    }
    free(e->at);
    *e = (ws_edits){.n = 0};
}
