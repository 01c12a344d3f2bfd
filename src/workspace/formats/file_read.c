// file_read.c - a file as a whole, read by what it is.
//
//     text -> page (lines, fences) -> data in a fence?  -> lists -> records
//                                  +> a page of tables and sections -> records
//
// What was read is one list of records and one of faults; the dialect is told by both.
#include "pons/out_of_memory.h"
#include "workspace/formats/parsed_file.h"

#include <string.h>

#define WHERE       "workspace"
#define TELLING_MAX 100 // records that are asked for the dialect
#define LINES_MAX   65536
#define ROWS_MAX    10000 // lines of a page whose lines are records

// ---- the dialect --------------------------------------------------------------------------------

// The format that the file names.
static bool named_dialect(pons_ws_doc *d)
{
    for (int i = 0; d->data && i < PONS_WS_DIALECTS; i++) {
        const char *key = d->info->format_key[i], *format = d->info->format[i];
        const size_t at = key ? pons_tree_member(&d->tree, d->base, key) : 0;
        const char *is = at ? json_string_value(d->tree.nodes[at].scalar) : NULL;
        if (is && strcmp(is, format) == 0) {
            d->dialect = (pons_ws_dialect)i;
            return true;
        }
    }
    return false;
}

static void score_data(const pons_ws_doc *d, int score[PONS_WS_DIALECTS])
{
    for (size_t i = 0; i < d->n_lists; i++) {
        const ws_place *p = d->info->places;
        while (p->kind != d->lists[i].kind) {
            p++;
        }
        for (int k = 0; k < PONS_WS_DIALECTS; k++) {
            const bool here = p->paths[k] && pons__ws_data_path(&d->tree, d->base, p->paths[k]) ==
                                                 d->lists[i].node;
            score[k] += here && (p->map[k] == d->lists[i].map || d->lists[i].single);
        }
    }
    for (size_t i = 0; d->data && i < d->n && i < TELLING_MAX; i++) {
        for (int k = PONS_WS_PAOS1; k < PONS_WS_DIALECTS && d->entries[i].raw; k++) {
            score[k] += 2 * pons__ws_record_resembles(d->entries[i].kind, (pons_ws_dialect)k,
                                                      d->entries[i].raw);
        }
    }
}

static bool is_text(const pons_ws_doc *d, size_t start, size_t end, const char *text)
{
    return text && strlen(text) == end - start && memcmp(d->text + start, text, end - start) == 0;
}

static void score_headings(const pons_ws_doc *d, int score[PONS_WS_DIALECTS])
{
    for (size_t i = 0; i < d->n_tables; i++) {
        const ws_table *t = &d->tables[i];
        ws_cell cells[WS_COLUMNS_MAX];
        const size_t n =
            pons__ws_page_cells(d->text, &d->page.lines[t->header], cells, WS_COLUMNS_MAX);
        for (size_t c = 0; c < n && c < t->n_columns; c++) {
            if (t->field[c] < 0) {
                continue;
            }
            const ws_field *f = &pons__ws_kind_of(t->kind)->fields[t->field[c]];
            score[PONS_WS_PAOS1] += is_text(d, cells[c].start, cells[c].end, f->paos_label);
            score[PONS_WS_SEED] += is_text(d, cells[c].start, cells[c].end, f->seed_label);
        }
    }
}

// Robots, and lessons without a date.
static void score_sections(const pons_ws_doc *d, int score[PONS_WS_DIALECTS])
{
    for (size_t i = 0; i < d->n; i++) {
        score[PONS_WS_PAOS2] += d->entries[i].kind == WS_ROBOT;
        if (d->entries[i].kind == WS_LESSON) {
            const ws_line *l = &d->page.lines[d->entries[i].first];
            const bool paos = is_text(d, l->text, l->text_end, "Failed Action Attempt");
            score[paos ? PONS_WS_PAOS1 : PONS_WS_SEED]++;
        }
    }
}

// By the format that the file names, else by what its records are called like.
static void set_dialect(pons_ws_doc *d)
{
    int score[PONS_WS_DIALECTS] = {0};
    if (named_dialect(d)) {
        return;
    }
    score_data(d, score);
    score_headings(d, score);
    if (d->file == PONS_WS_LESSONS && d->data) {
        score[PONS_WS_PAOS2]++;
    }
    if (!d->data && d->n_tables == 0 && d->info->page) {
        score_sections(d, score);
    }
    for (int k = 0; k < PONS_WS_DIALECTS; k++) {
        if (score[k] > score[d->dialect]) {
            d->dialect = (pons_ws_dialect)k;
        }
    }
}

static int refuse(const char *name, size_t line, const char *what, pons_error *err)
{
    pons_error_set(err, PONS_EINVAL, WHERE, "%s", what);
    pons_error_source(err, "%s:%zu:1", name, line);
    return PONS_EINVAL;
}

// Bytes that are no text are nobody's words: refused whole, with their place. So is what would hold a loop.
static int check_text(const char *text, size_t len, const char *name, pons_error *err)
{
    if (len > PONS_WS_SIZE_MAX) {
        return refuse(name, 1, "larger than 1 MiB", err);
    }
    size_t lines = 0;
    for (const char *at = text; len && (at = memchr(at, '\n', len - (size_t)(at - text))); at++) {
        if (++lines > LINES_MAX) {
            return refuse(name, lines, "more than 65536 lines", err);
        }
    }
    const size_t bad = pons_utf8_valid(text, len);
    if (bad < len) {
        uint32_t line = 1, column = 1;
        for (size_t i = 0; i < bad; i += pons_utf8_sequence(text + i, bad - i)) {
            column = text[i] == '\n' ? 1 : column + 1;
            line += text[i] == '\n';
        }
        pons_error_set(err, PONS_EINVAL, WHERE, text[bad] ? "not UTF-8" : "a zero byte");
        pons_error_source(err, "%s:%u:%u", name, line, column);
        return PONS_EINVAL;
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
    int rc = pons__ws_data_find(d, err);
    if (rc != PONS_OK && rc != PONS_EINVAL && d->info->page && d->page.n > ROWS_MAX) {
        rc = refuse(name, ROWS_MAX + 1, "a page of more than 10000 lines", err);
    }
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
