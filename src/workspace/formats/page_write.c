// page_write.c - changed records of a page: rows, bullets and sections in their places.
#include "workspace/formats/label_words.h"
#include "workspace/formats/parsed_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WHERE "workspace"

static const ws_line *line_at(const pons_ws_doc *d, size_t i)
{
    return &d->page.lines[i];
}

// ---- rows ---------------------------------------------------------------------------------------

// A row in the order of the table's headings. Cells that did not change keep their bytes.
static void put_row(const pons_ws_doc *d, const ws_table *t, pons_buf *out, size_t line,
                    const pons_value *before, const pons_value *after)
{
    ws_cell heads[WS_COLUMNS_MAX], cells[WS_COLUMNS_MAX];
    const ws_kind_info *k = pons__ws_kind_of(t->kind);
    pons__ws_page_cells(d->text, line_at(d, t->header), heads, WS_COLUMNS_MAX);
    const size_t n = line == SIZE_MAX
                         ? 0
                         : pons__ws_page_cells(d->text, line_at(d, line), cells, WS_COLUMNS_MAX);
    pons_buf_byte(out, '|');
    for (size_t c = 0; c < t->n_columns; c++) {
        const ws_field *f = t->field[c] < 0 ? NULL : &k->fields[t->field[c]];
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)(heads[c].end - heads[c].start),
                 d->text + heads[c].start);
        const pons_value *is = pons_get(after, f ? f->name : key);
        const pons_value *was = pons_get(before, f ? f->name : key);
        pons_buf_byte(out, ' ');
        if (c < n && (is == was || (is && was && json_equal(is, was)))) {
            pons_buf_bytes(out, d->text + cells[c].start, cells[c].end - cells[c].start);
        } else if (is) {
            pons__ws_say(out, f, is, true, d->dialect == PONS_WS_SEED);
        }
        pons_buf_str(out, " |");
    }
}

// What the table has no column for would be lost: the row is refused.
static bool has_room(const pons_ws_doc *d, const ws_table *t, const pons_value *value)
{
    ws_cell heads[WS_COLUMNS_MAX];
    const ws_kind_info *k = pons__ws_kind_of(t->kind);
    const size_t n = pons__ws_page_cells(d->text, line_at(d, t->header), heads, WS_COLUMNS_MAX);
    pons_each_member(key, v, value) {
        bool room =
            t->kind == WS_ACTION_TYPE && strcmp(key, WS_TARGET_KEY) == 0; // its place says that
        for (size_t c = 0; c < n && c < t->n_columns && !room; c++) {
            const size_t len = heads[c].end - heads[c].start;
            room = t->field[c] >= 0
                       ? strcmp(k->fields[t->field[c]].name, key) == 0
                       : strlen(key) == len && memcmp(key, d->text + heads[c].start, len) == 0;
        }
        if (!room) {
            return false;
        }
    }
    return true;
}

static int write_row(const pons_ws_doc *d, size_t at, const pons_ws_change *c, ws_edits *edits,
                     pons_error *err)
{
    const ws_entry *e = &d->entries[at];
    const ws_table *t = &d->tables[e->table];
    const ws_line *l = line_at(d, e->first);
    pons_autobuf b = PONS_BUF_INIT;
    if (!c->value) {
        pons__ws_doc_edit(d, edits, l->start, l->next, &b);
        return PONS_OK;
    }
    if (!has_room(d, t, c->value)) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "%s: the table has no column for all of %s",
                              d->name, c->id);
    }
    put_row(d, t, &b, e->first, d->records[at].value, c->value);
    pons__ws_doc_edit(d, edits, l->start, l->end, &b);
    return PONS_OK;
}

static const ws_table *table_of(const pons_ws_doc *d, ws_kind kind)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        if (d->tables[i].kind == kind) {
            return &d->tables[i];
        }
    }
    return NULL;
}

// ---- sections and bullets -----------------------------------------------------------------------

static void replace_lines(const pons_ws_doc *d, ws_edits *edits, size_t first, size_t last,
                          const pons_buf *by)
{
    pons__ws_doc_edit(d, edits, line_at(d, first)->start, line_at(d, last)->next, by);
}

// A number with its unit: the unit of the field's name.
static void say_quantity(pons_buf *out, const char *field, const pons_value *v)
{
    static const struct {
        const char *ends, *unit;
    } units[] = {{"_kg", "kg"}, {"_m3", "m³"}, {"_mps", "m/s"}, {"_m", "m"}};
    char *text = NULL;
    const size_t n = strlen(field);
    if (pons_value_line(v, &text) >= 0) {
        pons_buf_str(out, text);
    }
    free(text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t tail = strlen(units[i].ends);
        if (n > tail && strcmp(field + n - tail, units[i].ends) == 0) {
            pons_buf_printf(out, " %s", units[i].unit);
            return;
        }
    }
}

// A section's bullets by their labels: each changed field in its own.
static void write_bullets(const pons_ws_doc *d, size_t at, const pons_value *after, ws_edits *edits)
{
    const ws_entry *e = &d->entries[at];
    const ws_kind_info *k = pons__ws_kind_of(e->kind);
    const pons_value *before = d->records[at].value;
    pons_autovalue written = json_object();
    for (size_t i = e->first + 1; i <= e->last; i++) {
        const ws_line *l = line_at(d, i);
        ws_cell label, said;
        char name[64];
        if (!pons__ws_page_label(d, e->kind, i, &label, &said)) {
            continue;
        }
        const int field =
            pons__ws_label_field(e->kind, d->text + label.start, label.end - label.start);
        snprintf(name, sizeof name, "%.*s", (int)(label.end - label.start), d->text + label.start);
        const ws_field *f = field < 0 ? NULL : &k->fields[field];
        const char *what = f ? f->name : name;
        const pons_value *was = pons_get(before, what), *is = pons_get(after, what);
        json_object_set_new(written, what, json_true());
        if (is == was || (is && was && json_equal(is, was))) {
            continue;
        }
        pons_autobuf b = PONS_BUF_INIT;
        if (is) {
            pons_buf_str(&b, strchr(":*", d->text[said.start - 1]) ? " " : "");
            if (json_is_number(is)) {
                say_quantity(&b, what, is);
            } else {
                pons__ws_say(&b, f, is, l->kind == WS_ROW, false);
            }
            pons__ws_doc_edit(d, edits, said.start, said.end, &b);
        } else {
            pons__ws_doc_edit(d, edits, l->start, l->next, &b);
        }
    }
    pons_autobuf more = PONS_BUF_INIT;
    pons_each_member(key, v, after) {
        const int field = pons__ws_label_field(e->kind, key, strlen(key));
        if (!pons_get(written, key) && strcmp(key, "text") != 0 && !pons_get(before, key)) {
            const ws_field *f = field < 0 ? NULL : &k->fields[field];
            pons_buf_printf(&more, "- **%s**: ", f ? pons__ws_label(f, d->dialect) : key);
            pons__ws_say(&more, f, v, false, false);
            pons_buf_byte(&more, '\n');
        }
    }
    if (more.len) {
        const size_t end = line_at(d, e->last)->next;
        pons__ws_doc_edit(d, edits, end, end, &more);
    }
}

static void put_section(const pons_ws_doc *d, const pons_ws_record *r, const ws_entry *e,
                        pons_buf *out)
{
    pons__ws_page_block(out, d->file, e->kind, d->dialect, r, e, 1);
}

static void put_sensor(pons_buf *out, const pons_value *v)
{
    const char *words = pons_get_str(v, "description", NULL), *mark = words ? "**" : "";
    pons_buf_printf(out, "- [%c] %s%s%s%s%s\n", pons_get_bool(v, "present", true) ? 'x' : ' ', mark,
                    pons_get_str(v, "name", ""), mark, words ? ": " : "", words ? words : "");
}

static void write_known(const pons_ws_doc *d, size_t at, const pons_ws_change *c, ws_edits *edits)
{
    const ws_entry *e = &d->entries[at];
    pons_autobuf b = PONS_BUF_INIT;
    if (!c->value) {
        replace_lines(d, edits, e->first, e->last, &b);
    } else if (e->kind == WS_SENSOR) {
        put_sensor(&b, c->value);
        replace_lines(d, edits, e->first, e->last, &b);
    } else if (e->kind == WS_TASK) {
        const ws_line *l = line_at(d, e->first);
        const char *was = pons_get_str(d->records[at].value, "title", "");
        const char *found = memmem(d->text + l->start, l->end - l->start, was, strlen(was));
        pons_buf_str(&b, pons_get_str(c->value, "title", was));
        if (found) {
            pons__ws_doc_edit(d, edits, (size_t)(found - d->text),
                              (size_t)(found - d->text) + strlen(was), &b);
        }
    } else if (e->kind == WS_LESSON || e->kind == WS_ROBOT) {
        const pons_ws_record r = {.kind = c->kind, .id = c->id, .value = (pons_value *)c->value};
        put_section(d, &r, e, &b);
        replace_lines(d, edits, e->first, e->last, &b);
    } else {
        write_bullets(d, at, c->value, edits);
    }
}

// Where a new section goes: the seed has the newest lesson first.
static size_t place_of_section(const pons_ws_doc *d, ws_kind kind)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->entries[i].kind == kind && kind == WS_LESSON && d->dialect == PONS_WS_SEED) {
            return line_at(d, d->entries[i].first)->start;
        }
    }
    return d->len;
}

// A title goes into the page's first heading where that says only what kind of page it is: else the heading is
// somebody's, and stays.
static void write_title(const pons_ws_doc *d, const pons_value *task, ws_edits *edits)
{
    pons_autobuf b = PONS_BUF_INIT;
    const char *title = pons_get_str(task, "title", "");
    const char *word = d->info->title[d->dialect], *colon = d->dialect == PONS_WS_SEED ? ":" : ": ";
    for (size_t i = 0; i < d->page.n; i++) {
        const ws_line *l = line_at(d, i);
        if (l->kind == WS_HEADING && l->level == 1) {
            bool bare = false;
            for (int k = 0; k < PONS_WS_DIALECTS; k++) {
                const char *kind = d->info->title[k];
                bare = bare || (strlen(kind) == l->text_end - l->text &&
                                strncasecmp(d->text + l->text, kind, strlen(kind)) == 0);
            }
            if (bare) {
                pons_buf_printf(&b, "%s%s", colon, title);
                pons__ws_doc_edit(d, edits, l->end, l->end, &b);
            }
            return;
        }
    }
    pons_buf_printf(&b, "# %s%s%s\n\n", word, colon, title);
    pons__ws_doc_edit(d, edits, 0, 0, &b);
}

static int write_new(const pons_ws_doc *d, ws_kind kind, const pons_ws_change *c, ws_edits *edits,
                     pons_error *err)
{
    const ws_table *t = table_of(d, kind);
    const pons_ws_record r = {.kind = c->kind, .id = c->id, .value = (pons_value *)c->value};
    const ws_entry e = {.kind = kind};
    pons_autobuf b = PONS_BUF_INIT;
    if (kind == WS_TASK) {
        write_title(d, c->value, edits);
        return PONS_OK;
    }
    if (t) {
        if (!has_room(d, t, c->value)) {
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "%s: the table has no column for all of %s", d->name, c->id);
        }
        const ws_line *last = line_at(d, t->last);
        pons_buf_str(&b, last->next == last->end ? "\n" : "");
        put_row(d, t, &b, SIZE_MAX, NULL, c->value);
        pons_buf_byte(&b, '\n');
        pons__ws_doc_edit(d, edits, last->next, last->next, &b);
        return PONS_OK;
    }
    const size_t at = place_of_section(d, kind);
    if (kind == WS_SENSOR) {
        put_sensor(&b, c->value);
    } else {
        pons_buf_str(&b, at == d->len && d->len && d->text[d->len - 1] != '\n' ? "\n" : "");
        if (at == d->len || kind != WS_LESSON) {
            pons_buf_byte(&b, '\n');
        }
        put_section(d, &r, &e, &b);
        if (at < d->len) {
            pons_buf_byte(&b, '\n');
        }
    }
    size_t place = at;
    for (size_t i = 0; kind == WS_SENSOR && i < d->n; i++) {
        if (d->entries[i].kind == WS_SENSOR) {
            place = line_at(d, d->entries[i].last)->next;
        }
    }
    pons__ws_doc_edit(d, edits, place, place, &b);
    return PONS_OK;
}

// "**总体进度**: 2/5 (40%)" says what the rows say.
static void write_progress(const pons_ws_doc *d, const pons_ws_change *changes, size_t n,
                           ws_edits *edits)
{
    size_t done = 0, total = 0;
    bool any = false;
    for (size_t i = 0; i < d->n; i++) {
        const pons_value *v = d->records[i].value;
        if (d->entries[i].kind != WS_SUBTASK) {
            continue;
        }
        for (size_t k = 0; k < n; k++) {
            if (strcmp(changes[k].kind, "subtask") == 0 &&
                strcmp(changes[k].id, d->records[i].id) == 0) {
                v = changes[k].value;
            }
        }
        total += v != NULL;
        done += v && strcmp(pons_get_str(v, "status", ""), "done") == 0;
    }
    for (size_t k = 0; k < n; k++) {
        const bool subtask = strcmp(changes[k].kind, "subtask") == 0;
        any = any || subtask;
        if (subtask && changes[k].value &&
            pons__ws_doc_find(d, WS_SUBTASK, changes[k].id) == SIZE_MAX) {
            total++;
            done += strcmp(pons_get_str(changes[k].value, "status", ""), "done") == 0;
        }
    }
    for (size_t i = 0; any && i < d->page.n; i++) {
        const ws_line *l = line_at(d, i);
        const char *s = d->text + l->start;
        const size_t len = l->end - l->start;
        const bool is = (memmem(s, len, "总体进度", strlen("总体进度")) ||
                         memmem(s, len, "Progress", strlen("Progress")));
        const char *colon = is && l->kind == WS_TEXT ? memchr(s, ':', len) : NULL;
        if (colon && strspn(colon + 1, " 0123456789/()%*") >= (size_t)(s + len - colon - 1)) {
            pons_autobuf b = PONS_BUF_INIT;
            pons_buf_printf(&b, " %zu/%zu (%zu%%)", done, total, total ? done * 100 / total : 0);
            pons__ws_doc_edit(d, edits, (size_t)(colon + 1 - d->text), l->end, &b);
            return;
        }
    }
}

int pons__ws_page_render(const pons_ws_doc *d, const pons_ws_change *changes, size_t n,
                         ws_edits *edits, pons_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const pons_ws_change *c = &changes[i];
        ws_kind kind;
        bool known = false;
        if (pons__ws_kind_by_name(c->kind, &kind)) {
            for (size_t p = 0; p < d->info->n_places; p++) {
                known = known || d->info->places[p].kind == kind;
            }
        }
        if (!known) {
            return pons_error_set(err, PONS_EINVAL, WHERE, "%s has no records of the kind '%s'",
                                  d->info->name, c->kind);
        }
        const size_t at = pons__ws_doc_find(d, kind, c->id);
        int rc = PONS_OK;
        if (at != SIZE_MAX && d->entries[at].table != SIZE_MAX) {
            rc = write_row(d, at, c, edits, err);
        } else if (at != SIZE_MAX) {
            write_known(d, at, c, edits);
        } else if (c->value) {
            rc = write_new(d, kind, c, edits, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    if (d->file == PONS_WS_TASK) {
        write_progress(d, changes, n, edits);
    }
    return PONS_OK;
}
