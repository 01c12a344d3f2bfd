// diff.c - a unified diff of two texts.
//
// What both begin and end with is set aside; of the lines between, the longest common subsequence
// stays. Where that would need too large a table the whole of the old lines gives way to the whole of
// the new ones: longer to read, as true, and no text makes it slow.
#include "tools/core/diff.h"

#include "pons/printable.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT   3
#define CELLS_MAX 1000000 // of the table, two bytes each

typedef struct line {
    const char *s;
    size_t n; // with its '\n', where it has one
} line;

typedef struct edit { // one line of the diff
    char tag;         // ' ', '-', '+'
    size_t a, b;      // lines of old and new that come next
} edit;

static line *lines_of(const char *text, size_t n, size_t *ret_n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += text[i] == '\n';
    }
    count += n > 0 && text[n - 1] != '\n';
    line *list = calloc(count + 1, sizeof *list);
    *ret_n = list ? count : 0;
    for (size_t i = 0, at = 0; list && i < count; i++) {
        const char *nl = memchr(text + at, '\n', n - at);
        list[i] = (line){text + at, nl ? (size_t)(nl - text) + 1 - at : n - at};
        at += list[i].n;
    }
    return list;
}

static bool same(line x, line y)
{
    return x.n == y.n && memcmp(x.s, y.s, x.n) == 0;
}

// The lines from a0 to a1 and b0 to b1 as edits. Returns how many; room for all of them is there.
static size_t compare(const line *a, size_t a0, size_t a1, const line *b, size_t b0, size_t b1,
                      edit *out)
{
    const size_t n = a1 - a0, m = b1 - b0;
    uint16_t *table =
        n && m && n <= CELLS_MAX / m ? calloc((n + 1) * (m + 1), sizeof *table) : NULL;
    size_t i = 0, j = 0, at = 0;
    if (table) {
        for (size_t x = n; x-- > 0;) {
            for (size_t y = m; y-- > 0;) {
                const uint16_t down = table[(x + 1) * (m + 1) + y],
                               right = table[x * (m + 1) + y + 1];
                table[x * (m + 1) + y] = same(a[a0 + x], b[b0 + y])
                                             ? (uint16_t)(table[(x + 1) * (m + 1) + y + 1] + 1)
                                             : (down >= right ? down : right);
            }
        }
    }
    while (i < n || j < m) {
        if (table && i < n && j < m && same(a[a0 + i], b[b0 + j])) {
            out[at++] = (edit){' ', a0 + i++, b0 + j++};
        } else if (i < n && (j == m || !table ||
                             table[(i + 1) * (m + 1) + j] >= table[i * (m + 1) + j + 1])) {
            out[at++] = (edit){'-', a0 + i++, b0 + j};
        } else {
            out[at++] = (edit){'+', a0 + i, b0 + j++};
        }
    }
    free(table);
    return at;
}

static void print_hunk(pons_buf *out, const edit *e, size_t n, const line *a, const line *b)
{
    size_t in_a = 0, in_b = 0;
    for (size_t i = 0; i < n; i++) {
        in_a += e[i].tag != '+';
        in_b += e[i].tag != '-';
    }
    pons_buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", e[0].a + (in_a > 0), in_a,
                    e[0].b + (in_b > 0), in_b);
    for (size_t i = 0; i < n; i++) {
        const line l = e[i].tag == '+' ? b[e[i].b] : a[e[i].a];
        const bool whole = l.n > 0 && l.s[l.n - 1] == '\n';
        pons_buf_byte(out, e[i].tag);
        pons__escape(out, l.s, l.n - whole, false);
        pons_buf_str(out, whole ? "\n" : "\n\\ no newline at the end\n");
    }
}

static void print_hunks(pons_buf *out, const edit *e, size_t count, const line *a, const line *b)
{
    for (size_t from = 0; from < count;) {
        size_t next = from, to = from; // to: behind the hunk's last change
        while (next < count && (to == from || next - to <= 2 * (size_t)CONTEXT)) {
            to = e[next].tag != ' ' ? next + 1 : to;
            next++;
        }
        size_t begin = from;
        while (begin < to && e[begin].tag == ' ') {
            begin++;
        }
        if (begin == to) { // no more changes
            break;
        }
        begin = begin - from > CONTEXT ? begin - CONTEXT : from;
        const size_t end = to + CONTEXT < count ? to + CONTEXT : count;
        print_hunk(out, e + begin, end - begin, a, b);
        from = end;
    }
}

void pons__diff(pons_buf *out, const char *path, const char *old, size_t n_old, bool existed,
                const char *text, size_t n)
{
    size_t n_a = 0, n_b = 0, first = 0, last = 0;
    line *a = lines_of(old, n_old, &n_a), *b = lines_of(text, n, &n_b);
    edit *e = calloc(n_a + n_b + 1, sizeof *e);
    if (!a || !b || !e || (n_old == n && memcmp(old, text, n) == 0)) {
        free(a);
        free(b);
        free(e);
        return;
    }
    while (first < n_a && first < n_b && same(a[first], b[first])) {
        first++;
    }
    while (last < n_a - first && last < n_b - first && same(a[n_a - 1 - last], b[n_b - 1 - last])) {
        last++;
    }
    size_t count = 0;
    for (size_t i = first > CONTEXT ? first - CONTEXT : 0; i < first; i++) {
        e[count++] = (edit){' ', i, i};
    }
    count += compare(a, first, n_a - last, b, first, n_b - last, e + count);
    for (size_t i = 0; i < last && i < CONTEXT; i++) {
        e[count++] = (edit){' ', n_a - last + i, n_b - last + i};
    }
    pons_buf_str(out, existed ? "--- a/" : "--- /dev/null");
    pons__escape(out, existed ? path : "", existed ? strlen(path) : 0, false);
    pons_buf_str(out, "\n+++ b/");
    pons__escape(out, path, strlen(path), false);
    pons_buf_str(out, "\n");
    print_hunks(out, e, count, a, b);
    free(a);
    free(b);
    free(e);
}

void pons__escape(pons_buf *b, const char *text, size_t n, bool lines)
{
    for (size_t i = 0; i < n;) {
        const size_t k = pons_utf8_sequence(text + i, n - i);
        const unsigned char lead = (unsigned char)text[i];
        uint32_t cp = lead;
        if (k == 0) {
            pons_buf_printf(b, "\\x%02x", lead);
            i++;
            continue;
        }
        if (k > 1) {
            cp = lead & (0x7FU >> k);
            for (size_t j = 1; j < k; j++) {
                cp = cp << 6 | ((unsigned char)text[i + j] & 0x3FU);
            }
        }
        if (!pons_plain_hides(cp) || (cp == '\t') || (lines && cp == '\n')) {
            pons_buf_bytes(b, text + i, k);
        } else if (cp == '\n' || cp == '\r') {
            pons_buf_str(b, cp == '\n' ? "\\n" : "\\r");
        } else {
            pons_buf_printf(b, cp < 0x80 ? "\\x%02x" : "\\u{%x}", (unsigned)cp);
        }
        i += k;
    }
}
