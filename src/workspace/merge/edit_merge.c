// edit_merge.c - somebody's edit, and what has happened meanwhile.
//
//     base --(somebody)--> theirs     records: field by field, each change a command held against the
//       +----(pons)------> ours       matrix; words between them: line by line
//
// The result is theirs with what it lacks: so a person sees the text as they left it. A record that is
// faulty in theirs is nobody's deletion; it stays as it was written, and the old value in force.
#include "pons/growing_list.h"
#include "pons/out_of_memory.h"
#include "workspace/formats/parsed_file.h"
#include "workspace/merge/line_merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACEHOLDER '\1'

typedef struct merger {
    const pons_ws_doc *base, *ours, *theirs;
    pons_ws_merge *m;
    pons_ws_change *changes; // of theirs, to make it the result
    size_t n, cap;
    pons_value *made; // holds the values of changes
} merger;

static bool same(const pons_value *a, const pons_value *b)
{
    return a == b || (a && b && json_equal(a, b));
}

static const pons_value *value_in(const pons_ws_doc *d, const char *kind, const char *id)
{
    const pons_ws_record *r = pons_ws_find(d, kind, id);
    return r ? r->value : NULL;
}

// Field by field, and members of members: what theirs changed of base is put into ours; *clashes counts
// what both changed, where ours has the word.
static pons_value *merge_value(const pons_value *base, const pons_value *ours,
                               const pons_value *theirs, bool no_deletions, size_t *clashes)
{
    pons_value *out = json_copy((json_t *)ours);
    pons_each_member(key, v, theirs) {
        const pons_value *was = pons_get(base, key), *is = pons_get(ours, key);
        if (same(v, was) || same(v, is)) {
            continue;
        }
        if (json_is_object(v) && json_is_object(is) && (!was || json_is_object(was))) {
            json_object_set_new(out, key, merge_value(was, is, v, no_deletions, clashes));
        } else if (same(is, was)) {
            json_object_set(out, key, (json_t *)v);
        } else {
            ++*clashes;
        }
    }
    pons_each_member(key, v, base) {
        if (!no_deletions && !pons_get(theirs, key) && same(pons_get(ours, key), v)) {
            json_object_del(out, key);
        }
    }
    return out;
}

static void add_change(merger *g, const char *kind, const char *id, pons_value *take)
{
    pons_need_room(&g->changes, &g->cap, g->n + 1, sizeof *g->changes);
    if (take) {
        json_array_append_new(g->made, take);
    }
    g->changes[g->n++] = (pons_ws_change){kind, id, take};
}

// Whether a record that theirs does not have may be there all the same, in a shape that cannot be read.
static bool may_be_faulty(const pons_ws_doc *d, const char *kind, const char *id)
{
    for (size_t i = 0; i < d->n_faults; i++) {
        const pons_ws_fault *f = &d->faults[i];
        if (strcmp(f->kind, "file") == 0 ||
            (strcmp(f->kind, kind) == 0 && (!*f->id || strcmp(f->id, id) == 0))) {
            return true;
        }
    }
    return false;
}

// What theirs is an edit of: of the base, where it says what that says; else of what an edit has made of it
// that was taken in already.
static pons_value *goes_on_from(const pons_value *base, const pons_value *made,
                                const pons_value *theirs)
{
    pons_value *from = base ? json_copy((json_t *)(uintptr_t)base) : json_object();
    const pons_value *const both[] = {made, theirs};
    for (size_t k = 0; k < 2; k++) {
        pons_each_member(key, ignored, both[k]) {
            const pons_value *was = pons_get(base, key), *is = pons_get(made, key);
            if (same(pons_get(theirs, key), was) || same(is, was)) {
                continue;
            }
            if (is) {
                json_object_set(from, key, (json_t *)(uintptr_t)is);
            } else {
                json_object_del(from, key);
            }
        }
    }
    return from;
}

static const pons_value *base_of(merger *g, const char *kind, const char *id,
                                 const pons_value *ours, const pons_value *theirs)
{
    const pons_value *base = value_in(g->base, kind, id), *newest = NULL;
    if (same(base, theirs) || (g->m->no_deletions && ours)) {
        return base;
    }
    for (size_t i = json_array_size(g->m->taken); i > 0; i--) {
        const pons_value *t = json_array_get(g->m->taken, i - 1), *made = pons_get(t, "value");
        if (strcmp(pons_get_str(t, "kind", ""), kind) != 0 ||
            strcmp(pons_get_str(t, "id", ""), id) != 0) {
            continue;
        }
        newest = newest ? newest : t;
        if ((t == newest || !ours) && same(made, theirs)) {
            return theirs; // it is said again
        }
        if (g->m->no_deletions) {
            break; // of a part of a text only the newest is known to be older
        }
    }
    const pons_value *made = pons_get(newest, "value");
    if (!made || !theirs) {
        return base;
    }
    pons_value *from = goes_on_from(base, made, theirs);
    json_array_append_new(g->made, from);
    return from;
}

static void add_took(const merger *g, const char *kind, const char *id, const pons_value *theirs)
{
    json_array_append_new(g->m->took, pons_object("kind", json_string(kind), "id", json_string(id),
                                                  "value", pons_optional(theirs), NULL));
}

// One record: what it is to be, and what theirs has to become for it.
static void merge_record(merger *g, const char *kind, const char *id)
{
    const pons_value *ours = value_in(g->ours, kind, id), *theirs = value_in(g->theirs, kind, id);
    const pons_value *base = base_of(g, kind, id, ours, theirs);
    pons_value *merged = NULL;
    if (!theirs && may_be_faulty(g->theirs, kind, id)) {
        return;
    }
    const bool gone = !theirs && base && !g->m->no_deletions;
    if (theirs && ours) {
        merged = merge_value(base, ours, theirs, g->m->no_deletions, &g->m->clashes);
    } else if (theirs && (!base || !same(base, theirs))) {
        merged = json_incref((json_t *)theirs); // new, or changed by them after pons took it away
    } else if (ours && (!gone || !same(ours, base))) {
        g->m->clashes += gone; // they took away what has changed since: it stays
        merged = json_incref((json_t *)ours);
    }
    if (!same(merged, ours)) {
        pons_ws_command c = {.kind = kind, .id = id, .before = ours, .after = merged};
        pons_error why = PONS_ERROR_INIT;
        if (pons_ws_may_change(g->m->role, g->theirs->file, kind, ours, merged, &why) < 0) {
            c.refused = true;
            snprintf(c.why, sizeof c.why, "%.199s", why.message);
        }
        if (g->m->command) {
            g->m->command(g->m->user, &c);
        }
        if (c.refused) {
            json_decref(merged);
            merged = json_incref((json_t *)ours);
        } else {
            add_took(g, kind, id, theirs);
        }
    }
    if (!same(merged, theirs)) {
        add_change(g, kind, id, merged);
    } else {
        json_decref(merged);
    }
}

static void merge_records(merger *g)
{
    const pons_ws_doc *const docs[] = {g->theirs, g->ours, g->base};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < docs[k]->n; i++) {
            const pons_ws_record *r = &docs[k]->records[i];
            bool seen = false;
            for (size_t before = 0; before < k; before++) {
                seen = seen || pons_ws_find(docs[before], r->kind, r->id);
            }
            if (!seen) {
                merge_record(g, r->kind, r->id);
            }
        }
    }
}

// ---- words --------------------------------------------------------------------------------------

typedef struct frame { // a text without its records: a line of a mark for each
    ws_lines lines;
    char **marks; // owned
    size_t n_marks;
} frame;

static void add_mark(frame *f, const char *kind, const char *id)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_printf(&b, "%c%s %s", PLACEHOLDER, kind, id);
    f->marks = pons_need_more(f->marks, (f->n_marks + 1) * sizeof *f->marks);
    f->marks[f->n_marks] = pons_buf_take(&b, NULL);
    pons__ws_lines_add(&f->lines, f->marks[f->n_marks], strlen(f->marks[f->n_marks]));
    f->n_marks++;
}

static void frame_fini(frame *f)
{
    for (size_t i = 0; i < f->n_marks; i++) {
        free(f->marks[i]);
    }
    free(f->marks);
    pons__ws_lines_fini(&f->lines);
}

// The record whose lines begin at this one, or SIZE_MAX.
static size_t record_at(const pons_ws_doc *d, size_t line)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->entries[i].first == line) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void frame_of(const pons_ws_doc *d, frame *ret)
{
    *ret = (frame){.n_marks = 0};
    for (size_t i = 0; i < d->page.n; i++) {
        const ws_line *l = &d->page.lines[i];
        if (d->data && l->start >= d->body && l->start < d->body_end) {
            if (l->start == d->body) {
                add_mark(ret, "body", "");
            }
            continue;
        }
        const size_t at = d->data ? SIZE_MAX : record_at(d, i);
        if (at != SIZE_MAX) {
            add_mark(ret, d->records[at].kind, d->records[at].id);
            i = d->entries[at].last;
        } else if (!(d->page.generation && l->start == d->page.stamp)) {
            pons__ws_lines_add(&ret->lines, d->text + l->start, l->next - l->start);
        }
    }
}

static void put_record(const pons_ws_doc *d, ws_text_line mark, pons_buf *out, size_t *ret_put)
{
    if (d->data) {
        pons_buf_bytes(out, d->text + d->body, d->body_end - d->body);
        ++*ret_put;
        return;
    }
    for (size_t i = 0; i < d->n; i++) {
        const size_t kind = strlen(d->records[i].kind);
        if (mark.len == kind + strlen(d->records[i].id) + 2 &&
            memcmp(mark.s + 1, d->records[i].kind, kind) == 0 &&
            memcmp(mark.s + kind + 2, d->records[i].id, mark.len - kind - 2) == 0) {
            const ws_line *first = &d->page.lines[d->entries[i].first];
            const ws_line *last = &d->page.lines[d->entries[i].last];
            pons_buf_bytes(out, d->text + first->start, last->next - first->start);
            ++*ret_put;
            return;
        }
    }
}

static bool same_frames(const frame *a, const frame *b)
{
    bool is = a->lines.n == b->lines.n;
    for (size_t i = 0; is && i < a->lines.n; i++) {
        is = a->lines.at[i].len == b->lines.at[i].len &&
             memcmp(a->lines.at[i].s, b->lines.at[i].s, a->lines.at[i].len) == 0;
    }
    return is;
}

// Whether the text has all records of d, as they are, and no others.
static bool has_all(const pons_ws_doc *d, const pons_buf *text)
{
    pons_ws_doc *is = NULL;
    if (pons_ws_read(d->file, text->data ? text->data : "", text->len, d->name, &is, NULL) < 0) {
        return false;
    }
    bool all = is->n == d->n && is->n_faults == d->n_faults;
    for (size_t i = 0; i < d->n && all; i++) {
        all = same(value_in(is, d->records[i].kind, d->records[i].id), d->records[i].value);
    }
    pons_ws_destroy(is);
    return all;
}

// All records of the result in the text of ours.
static bool on_ours(const merger *g, const pons_ws_doc *result, pons_buf *out)
{
    pons_ws_change *changes = pons_need((result->n + 1) * sizeof *changes);
    size_t n = 0;
    for (size_t i = 0; i < result->n; i++) {
        const pons_ws_record *r = &result->records[i];
        if (!same(value_in(g->ours, r->kind, r->id), r->value)) {
            changes[n++] = (pons_ws_change){r->kind, r->id, r->value};
        }
    }
    const bool ok = pons_ws_render(g->ours, changes, n, 0, out, NULL) == PONS_OK;
    free(changes);
    return ok;
}

static void put_lines(const pons_ws_doc *result, const ws_lines *lines, pons_buf *out)
{
    size_t put = 0;
    for (size_t i = 0; i < lines->n; i++) {
        const ws_text_line *l = &lines->at[i];
        if (l->len && l->s[0] == PLACEHOLDER) {
            put_record(result, *l, out, &put);
            continue;
        }
        pons_buf_bytes(out, l->s, l->len);
        if (i + 1 < lines->n && l->len && l->s[l->len - 1] != '\n') {
            pons_buf_byte(out, '\n');
        }
    }
}

// The words of ours go into `result`, which has theirs and all records.
static void merge_words(merger *g, const pons_ws_doc *result, pons_buf *out)
{
    frame base, ours, theirs;
    ws_lines merged = {.n = 0};
    size_t clashes = 0;
    bool cut = false;
    frame_of(g->ours, &ours);
    frame_of(result, &theirs);
    if (g->m->no_deletions) {
        base = (frame){.n_marks = 0};
        const ws_text_line *last = theirs.lines.n ? &theirs.lines.at[theirs.lines.n - 1] : NULL;
        if (last && last->len && last->s[0] != PLACEHOLDER && last->s[last->len - 1] != '\n') {
            theirs.lines.n--; // half of a line is no line
            cut = true;
        }
        pons__ws_lines_common(&ours.lines, &theirs.lines, &base.lines);
    } else {
        frame_of(g->base, &base);
    }
    if (!result->bare && !same_frames(&base, &ours)) {
        pons__ws_lines_merge(&base.lines, &ours.lines, &theirs.lines, &merged, &clashes);
        put_lines(result, &merged, out);
        g->m->clashes += clashes;
    }
    const bool theirs_alone = !result->bare && !cut && same_frames(&base, &ours);
    if (merged.n == 0 || !has_all(result, out)) { // then one side's words alone
        pons_buf_clear(out);
        if (theirs_alone || !g->m->no_deletions || !on_ours(g, result, out)) {
            pons_buf_clear(out);
            pons_buf_bytes(out, result->text, result->len);
        }
    }
    pons__ws_lines_fini(&merged);
    frame_fini(&base);
    frame_fini(&ours);
    frame_fini(&theirs);
}

// ---- public -------------------------------------------------------------------------------------

int pons_ws_merge_docs(const pons_ws_doc *base, const pons_ws_doc *ours, const pons_ws_doc *theirs,
                       pons_ws_merge *m, pons_buf *out, pons_error *err)
{
    merger g = {.base = base, .ours = ours, .theirs = theirs, .m = m, .made = json_array()};
    pons_autobuf records = PONS_BUF_INIT, words = PONS_BUF_INIT;
    pons_ws_doc *with_records = NULL, *with_words = NULL;
    m->clashes = 0;
    m->took = json_array();
    merge_records(&g);
    int rc = pons_ws_render(theirs, g.changes, g.n, 0, &records, err);
    rc = rc < 0 ? rc
                : pons_ws_read(theirs->file, records.data ? records.data : "", records.len,
                               theirs->name, &with_records, err);
    if (rc == PONS_OK) {
        merge_words(&g, with_records, &words);
        rc = pons_ws_read(theirs->file, words.data ? words.data : "", words.len, theirs->name,
                          &with_words, err);
    }
    rc = rc < 0 ? rc : pons_ws_render(with_words, NULL, 0, m->generation, out, err);
    pons_ws_destroy(with_records);
    pons_ws_destroy(with_words);
    json_decref(g.made);
    free(g.changes);
    return rc;
}
