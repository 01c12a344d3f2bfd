// doc.c - a file as a whole: read by what it is, rendered, and its stamp.
//
//     text -> page (lines, fences) -> data in a fence?  -> lists -> records
//                                  +> a page of tables and sections -> records
//
// What was read is one list of records and one of faults. Rendering collects edits of the text: a
// piece that no change names is not touched.
#include "workspace/dialect/doc.h"

#include "pons/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "workspace"

static void set_dialect(pons_ws_doc *d);

// Bytes that are no text are nobody's words: refused whole, with their place.
static int check_text(const char *text, size_t len, const char *name, pons_error *err)
{
    uint32_t line = 1, column = 1;
    for (size_t i = 0; i < len;) {
        const size_t n = pons_utf8_sequence(text + i, len - i);
        if (n == 0 || text[i] == '\0') {
            pons_error_set(err, PONS_EINVAL, WHERE, n ? "a zero byte" : "not UTF-8");
            pons_error_source(err, "%s:%u:%u", name, line, column);
            return PONS_EINVAL;
        }
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
        i += n;
    }
    return PONS_OK;
}

int pons_ws_read(pons_ws_file file, const char *text, size_t len, const char *name,
                 pons_ws_doc **ret, pons_error *err)
{
    if (check_text(text, len, name, err) < 0) {
        return PONS_EINVAL;
    }
    pons_ws_doc *d = pons_need_zeroed(1, sizeof *d);
    d->file = file;
    d->info = pons__ws_file_of(file);
    d->name = pons_need_text(name);
    d->text = pons_need(len + 1);
    memcpy(d->text, len ? text : "", len);
    d->text[len] = '\0';
    d->len = len;
    d->index = json_object();
    pons__ws_page_read(d->text, len, &d->page);
    if (d->page.kept_end > d->page.kept) {
        pons_value_parse(d->text + d->page.kept, d->page.kept_end - d->page.kept, &d->kept, NULL);
    }
    const int rc = pons__ws_data_find(d, err);
    if (rc == PONS_EINVAL) {
        pons_ws_destroy(d);
        return rc;
    }
    if (rc == PONS_OK) {
        d->data = true;
        pons__ws_data_read(d);
    } else if (d->info->page) {
        pons__ws_page_records(d);
    }
    set_dialect(d);
    *ret = d;
    return PONS_OK;
}

void pons_ws_destroy(pons_ws_doc *d)
{
    if (!d) {
        return;
    }
    for (size_t i = 0; i < d->n; i++) {
        pons_value_unref(d->records[i].value);
        pons_value_unref(d->entries[i].raw);
        free((char *)d->records[i].id);
    }
    for (size_t i = 0; i < d->n_faults; i++) {
        free((char *)d->faults[i].id);
    }
    free(d->records);
    free(d->entries);
    free(d->faults);
    free(d->lists);
    free(d->tables);
    pons_value_unref(d->index);
    pons_value_unref(d->kept);
    pons_tree_fini(&d->tree);
    pons__ws_page_fini(&d->page);
    free(d->name);
    free(d->text);
    free(d);
}

const pons_ws_record *pons_ws_records(const pons_ws_doc *doc, size_t *ret_n)
{
    *ret_n = doc->n;
    return doc->records;
}

const pons_ws_record *pons_ws_find(const pons_ws_doc *doc, const char *kind, const char *id)
{
    ws_kind k;
    const size_t at = pons__ws_kind_by_name(kind, &k) ? pons__ws_doc_find(doc, k, id) : SIZE_MAX;
    return at == SIZE_MAX ? NULL : &doc->records[at];
}

const pons_ws_fault *pons_ws_faults(const pons_ws_doc *doc, size_t *ret_n)
{
    *ret_n = doc->n_faults;
    return doc->faults;
}

pons_ws_dialect pons_ws_doc_dialect(const pons_ws_doc *doc)
{
    return doc->dialect;
}

uint64_t pons_ws_generation(const pons_ws_doc *doc)
{
    return doc->page.generation;
}

const char *pons_ws_text(const pons_ws_doc *doc, size_t *ret_len)
{
    *ret_len = doc->len;
    return doc->text;
}

// ---- filled by the readers ----------------------------------------------------------------------

void pons__ws_key(char *ret, size_t cap, const char *kind, const char *id)
{
    snprintf(ret, cap, "%s %s", kind, id);
}

// Keys of the index may be longer than any buffer.
static char *long_key(const char *kind, const char *id)
{
    const size_t n = strlen(kind) + strlen(id) + 2;
    char *key = pons_need(n);
    pons__ws_key(key, n, kind, id);
    return key;
}

size_t pons__ws_doc_find(const pons_ws_doc *d, ws_kind kind, const char *id)
{
    char *key = long_key(pons__ws_kind_of(kind)->name, id);
    const pons_value *at = pons_get(d->index, key);
    free(key);
    return at ? (size_t)json_integer_value(at) : SIZE_MAX;
}

void pons__ws_doc_fault(pons_ws_doc *d, const char *kind, const char *id, uint32_t line,
                        uint32_t column, const char *what)
{
    if (d->n_faults == d->cap_faults) {
        d->cap_faults = d->cap_faults ? 2 * d->cap_faults : 4;
        d->faults = pons_need_more(d->faults, d->cap_faults * sizeof *d->faults);
    }
    pons_ws_fault *f = &d->faults[d->n_faults++];
    *f = (pons_ws_fault){
        .line = line, .column = column, .kind = kind, .id = pons_need_text(id ? id : "")};
    snprintf(f->what, sizeof f->what, "%s", what);
}

void pons__ws_doc_add(pons_ws_doc *d, ws_entry e, pons_value *value, uint32_t line, uint32_t column)
{
    const char *kind = pons__ws_kind_of(e.kind)->name;
    char *id = pons__ws_record_id(e.kind, value);
    char what[WS_WHAT_MAX];
    const size_t twin = id ? pons__ws_doc_find(d, e.kind, id) : SIZE_MAX;
    if (!id || twin != SIZE_MAX) {
        if (id) {
            snprintf(what, sizeof what, "the id '%.60s' is given twice, first in line %u", id,
                     d->records[twin].line);
        } else {
            snprintf(what, sizeof what, "it has no id");
        }
        pons__ws_doc_fault(d, kind, id, line, column, what);
        free(id);
        pons_value_unref(value);
        pons_value_unref(e.raw);
        return;
    }
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 32;
        d->records = pons_need_more(d->records, d->cap * sizeof *d->records);
        d->entries = pons_need_more(d->entries, d->cap * sizeof *d->entries);
    }
    char *key = long_key(kind, id);
    json_object_set_new(d->index, key, json_integer((json_int_t)d->n));
    free(key);
    pons__ws_doc_restore(d, e.kind, id, value);
    d->entries[d->n] = e;
    d->records[d->n++] =
        (pons_ws_record){.kind = kind, .id = id, .value = value, .line = line, .column = column};
}

static void restore(pons_value *into, const pons_value *from)
{
    const char *key;
    const pons_value *v;
    json_object_foreach((json_t *)from, key, v)
    {
        pons_value *have = json_object_get(into, key);
        if (!have) {
            json_object_set_new(into, key, json_deep_copy(v));
        } else if (json_is_object(have) && json_is_object(v)) {
            restore(have, v);
        }
    }
}

void pons__ws_doc_restore(const pons_ws_doc *d, ws_kind kind, const char *id, pons_value *value)
{
    char *key = d->kept ? long_key(pons__ws_kind_of(kind)->name, id) : NULL;
    restore(value, key ? pons_get(d->kept, key) : NULL);
    free(key);
}

// ---- the dialect --------------------------------------------------------------------------------

// By the format that the file names, else by what its records are called like.
static void set_dialect(pons_ws_doc *d)
{
    int score[PONS_WS_DIALECTS] = {0};
    for (int i = 0; d->data && i < PONS_WS_DIALECTS; i++) {
        const char *key = d->info->format_key[i], *format = d->info->format[i];
        const size_t at = key ? pons_tree_member(&d->tree, d->base, key) : 0;
        const char *is = at ? json_string_value(d->tree.nodes[at].scalar) : NULL;
        if (is && strcmp(is, format) == 0) {
            d->dialect = (pons_ws_dialect)i;
            return;
        }
    }
    for (size_t i = 0; i < d->n_lists; i++) {
        for (int k = 0; k < PONS_WS_DIALECTS; k++) {
            const ws_place *p = d->info->places;
            while (p->kind != d->lists[i].kind) {
                p++;
            }
            const bool here = p->paths[k] && pons__ws_data_path(&d->tree, d->base, p->paths[k]) ==
                                                 d->lists[i].node;
            score[k] += here && (p->map[k] == d->lists[i].map || d->lists[i].single);
        }
    }
    for (size_t i = 0; d->data && i < d->n; i++) {
        for (int k = PONS_WS_PAOS1; k < PONS_WS_DIALECTS && d->entries[i].raw; k++) {
            score[k] += 2 * pons__ws_record_resembles(d->entries[i].kind, (pons_ws_dialect)k,
                                                      d->entries[i].raw);
        }
    }
    for (size_t i = 0; i < d->n_tables; i++) { // a page's headings
        const ws_table *t = &d->tables[i];
        ws_cell cells[WS_COLUMNS_MAX];
        const size_t n =
            pons__ws_page_cells(d->text, &d->page.lines[t->header], cells, WS_COLUMNS_MAX);
        for (size_t c = 0; c < n && c < t->n_columns; c++) {
            const ws_field *f =
                t->field[c] < 0 ? NULL : &pons__ws_kind_of(t->kind)->fields[t->field[c]];
            const size_t len = cells[c].end - cells[c].start;
            const char *paos = f && f->paos_label ? f->paos_label : NULL;
            score[PONS_WS_PAOS1] +=
                paos && strlen(paos) == len && memcmp(paos, d->text + cells[c].start, len) == 0;
            score[PONS_WS_SEED] += f && f->seed_label && strlen(f->seed_label) == len &&
                                   memcmp(f->seed_label, d->text + cells[c].start, len) == 0;
        }
    }
    if (d->file == PONS_WS_LESSONS && d->data) {
        score[PONS_WS_PAOS2]++;
    }
    if (!d->data && d->n_tables == 0 && d->info->page) {
        for (size_t i = 0; i < d->n; i++) { // sections: robots, lessons without a date
            score[PONS_WS_PAOS2] += d->entries[i].kind == WS_ROBOT;
            if (d->entries[i].kind == WS_LESSON) {
                const ws_line *l = &d->page.lines[d->entries[i].first];
                const char *failed = "Failed Action Attempt";
                const bool paos = l->text_end - l->text == strlen(failed) &&
                                  memcmp(d->text + l->text, failed, strlen(failed)) == 0;
                score[paos ? PONS_WS_PAOS1 : PONS_WS_SEED]++;
            }
        }
    }
    for (int k = 0; k < PONS_WS_DIALECTS; k++) {
        if (score[k] > score[d->dialect]) {
            d->dialect = (pons_ws_dialect)k;
        }
    }
}

// ---- rendering ----------------------------------------------------------------------------------

void pons__ws_doc_edit(const pons_ws_doc *d, ws_edits *e, size_t start, size_t end,
                       const pons_buf *by)
{
    pons_autobuf crlf = PONS_BUF_INIT;
    const pons_buf *use = by;
    if (d->page.crlf) {
        for (size_t i = 0; i < by->len; i++) {
            if (by->data[i] == '\n' && (i == 0 || by->data[i - 1] != '\r')) {
                pons_buf_byte(&crlf, '\r');
            }
            pons_buf_byte(&crlf, (uint8_t)by->data[i]);
        }
        use = &crlf;
    }
    pons__ws_edits_add(e, start, end, use->data, use->len);
}

static void put_stamp(const pons_ws_doc *d, uint64_t generation, ws_edits *e)
{
    pons_autobuf b = PONS_BUF_INIT;
    if (d->bare && d->tree.json) {
        return;
    }
    pons_buf_printf(&b, d->bare ? "# pons generation=%llu" : "<!-- pons generation=%llu -->",
                    (unsigned long long)generation);
    if (d->page.generation) {
        pons__ws_doc_edit(d, e, d->page.stamp, d->page.stamp_end, &b);
        return;
    }
    pons_buf_byte(&b, '\n');
    if (d->bare) {
        pons__ws_doc_edit(d, e, 0, 0, &b);
        return;
    }
    pons_autobuf behind = PONS_BUF_INIT;
    pons_buf_str(&behind, d->len && d->text[d->len - 1] != '\n' ? "\n" : "");
    pons_buf_bytes(&behind, b.data, b.len);
    pons__ws_doc_edit(d, e, d->len, d->len, &behind);
}

// A file without a list is given one first.
static int with_body(const pons_ws_doc *d, pons_ws_doc **ret, pons_error *err)
{
    pons_autobuf text = PONS_BUF_INIT, fresh = PONS_BUF_INIT;
    pons_buf_bytes(&text, d->text, d->len);
    pons_buf_str(&text, d->len && d->text[d->len - 1] != '\n' ? "\n\n" : "\n");
    pons_ws_template(d->file, d->dialect, &fresh);
    const char *fence = strstr(fresh.data, "```");
    pons_buf_str(&text, fence ? fence : "");
    return pons_ws_read(d->file, text.data, text.len, d->name, ret, err);
}

int pons_ws_render(const pons_ws_doc *doc, const pons_ws_change *changes, size_t n,
                   uint64_t generation, pons_buf *out, pons_error *err)
{
    if (n && !doc->data && !doc->info->page) {
        pons_ws_doc *whole = NULL;
        int rc = with_body(doc, &whole, err);
        if (rc == PONS_OK && !whole->data) {
            rc = pons_error_set(err, PONS_EINVAL, WHERE, "%s has no place for records", doc->name);
        }
        rc = rc < 0 ? rc : pons_ws_render(whole, changes, n, generation, out, err);
        pons_ws_destroy(whole);
        return rc;
    }
    ws_edits edits = {.n = 0};
    int rc = n == 0      ? PONS_OK
             : doc->data ? pons__ws_data_render(doc, changes, n, &edits, err)
                         : pons__ws_page_render(doc, changes, n, &edits, err);
    if (rc == PONS_OK && generation) {
        put_stamp(doc, generation, &edits);
    }
    if (rc == PONS_OK && !pons__ws_edits_apply(&edits, doc->text, doc->len, out)) {
        rc = pons_error_set(err, PONS_EINVAL, WHERE,
                            "%s is written in a way that cannot be changed in place", doc->name);
    }
    pons__ws_edits_fini(&edits);
    return rc;
}
