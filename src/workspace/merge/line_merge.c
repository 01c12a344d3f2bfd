// line_merge.c - a three-way merge by lines.
//
// Lines of base that both sides still have are the frame; between two of them each side has a piece. If
// one side left it, the other's counts; if both changed it, both are kept: a person's words are never
// thrown away by a program.
#include "workspace/merge/line_merge.h"

#include "pons/growing_list.h"
#include "pons/out_of_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX ((size_t)4 << 20) // of the table of a comparison; beyond it, all between differs

void pons__ws_lines_add(ws_lines *l, const char *s, size_t len)
{
    pons_need_room(&l->at, &l->cap, l->n + 1, sizeof *l->at);
    l->at[l->n++] = (ws_text_line){s, len};
}

void pons__ws_lines_fini(ws_lines *l)
{
    free(l->at);
    *l = (ws_lines){.n = 0};
}

static bool same(ws_text_line a, ws_text_line b)
{
    return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

// For each line of a, the line of b that it is, or SIZE_MAX: a longest common subsequence.
static size_t *match(const ws_lines *a, const ws_lines *b)
{
    size_t *to = pons_need((a->n + 1) * sizeof *to), first = 0, n = a->n, m = b->n;
    for (size_t i = 0; i < a->n; i++) {
        to[i] = SIZE_MAX;
    }
    while (first < n && first < m && same(a->at[first], b->at[first])) {
        to[first] = first;
        first++;
    }
    while (n > first && m > first && same(a->at[n - 1], b->at[m - 1])) {
        to[--n] = --m;
    }
    n -= first;
    m -= first;
    if (n == 0 || m == 0 || (n + 1) * (m + 1) > CELLS_MAX) {
        return to;
    }
    uint32_t *best = pons_need_zeroed((n + 1) * (m + 1), sizeof *best);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = m; k-- > 0;) {
            const uint32_t down = best[(i + 1) * (m + 1) + k], right = best[i * (m + 1) + k + 1];
            best[i * (m + 1) + k] = same(a->at[first + i], b->at[first + k])
                                        ? best[(i + 1) * (m + 1) + k + 1] + 1
                                    : down > right ? down
                                                   : right;
        }
    }
    for (size_t i = 0, k = 0; i < n && k < m;) {
        if (same(a->at[first + i], b->at[first + k])) {
            to[first + i++] = first + k++;
        } else if (best[(i + 1) * (m + 1) + k] >= best[i * (m + 1) + k + 1]) {
            i++;
        } else {
            k++;
        }
    }
    free(best);
    return to;
}

typedef struct piece {
    const ws_lines *of;
    size_t from, to;
} piece;

static bool pieces_same(piece a, piece b)
{
    if (a.to - a.from != b.to - b.from) {
        return false;
    }
    for (size_t i = 0; i < a.to - a.from; i++) {
        if (!same(a.of->at[a.from + i], b.of->at[b.from + i])) {
            return false;
        }
    }
    return true;
}

static bool has(piece p, ws_text_line line)
{
    for (size_t i = p.from; i < p.to; i++) {
        if (same(p.of->at[i], line)) {
            return true;
        }
    }
    return false;
}

static void put(ws_lines *out, piece p)
{
    for (size_t i = p.from; i < p.to; i++) {
        pons__ws_lines_add(out, p.of->at[i].s, p.of->at[i].len);
    }
}

static void put_between(ws_lines *out, piece b, piece o, piece t, size_t *clashes)
{
    if (pieces_same(b, o) || pieces_same(o, t)) {
        put(out, t);
        return;
    }
    if (pieces_same(b, t)) {
        put(out, o);
        return;
    }
    ++*clashes;
    put(out, t);
    for (size_t i = o.from; i < o.to; i++) {
        if (!has(t, o.of->at[i]) && !has(b, o.of->at[i])) {
            pons__ws_lines_add(out, o.of->at[i].s, o.of->at[i].len);
        }
    }
}

void pons__ws_lines_merge(const ws_lines *base, const ws_lines *ours, const ws_lines *theirs,
                          ws_lines *ret, size_t *ret_clashes)
{
    size_t *to_ours = match(base, ours), *to_theirs = match(base, theirs);
    size_t b = 0, o = 0, t = 0;
    *ret_clashes = 0;
    for (size_t i = 0; i <= base->n; i++) {
        const bool end = i == base->n;
        if (!end && (to_ours[i] == SIZE_MAX || to_theirs[i] == SIZE_MAX)) {
            continue;
        }
        const size_t stop_o = end ? ours->n : to_ours[i], stop_t = end ? theirs->n : to_theirs[i];
        put_between(ret, (piece){base, b, i}, (piece){ours, o, stop_o}, (piece){theirs, t, stop_t},
                    ret_clashes);
        if (!end) {
            pons__ws_lines_add(ret, base->at[i].s, base->at[i].len);
        }
        b = i + 1;
        o = stop_o + 1;
        t = stop_t + 1;
    }
    free(to_ours);
    free(to_theirs);
}

void pons__ws_lines_common(const ws_lines *a, const ws_lines *b, ws_lines *ret)
{
    size_t *to = match(a, b);
    for (size_t i = 0; i < a->n; i++) {
        if (to[i] != SIZE_MAX) {
            pons__ws_lines_add(ret, a->at[i].s, a->at[i].len);
        }
    }
    free(to);
}
