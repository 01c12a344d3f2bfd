// parsed_file.c - a file that was read: its records, its faults, and edits of its text.
//
// The readers (formats/file_read.c) fill it, the writers (formats/file_render.c) look at it.
#include "workspace/formats/parsed_file.h"

#include "pons/growing_list.h"
#include "pons/out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// Keys of the index may be longer than any buffer.
static char *long_key(const char *kind, const char *id)
{
    const size_t n = strlen(kind) + strlen(id) + 2;
    char *key = pons_need(n);
    snprintf(key, n, "%s %s", kind, id);
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
    pons_need_room(&d->faults, &d->cap_faults, d->n_faults + 1, sizeof *d->faults);
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

void pons__ws_doc_restore(const pons_ws_doc *d, ws_kind kind, const char *id, pons_value *value)
{
    char *key = d->kept ? long_key(pons__ws_kind_of(kind)->name, id) : NULL;
    pons__ws_record_fill(value, key ? pons_get(d->kept, key) : NULL);
    free(key);
}

// ---- changing -----------------------------------------------------------------------------------

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
