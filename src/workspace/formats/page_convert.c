// page_convert.c - a page's records as a dialect writes them: tables, sections, and LESSONS' YAML.
//
//            TASK, ORCHESTRATOR      ROBOTS                   LESSONS
//     seed   Chinese headings        a table                  ## date - title, Chinese bullets
//     paos1  English headings        a table                  ## Failed Action Attempt
//     paos2  English headings        ## a robot, bullets      a fence of YAML
//
// EMBODIED is the same in all. What a table has no column for gets one; what no label can say stands as
// JSON under the label "+".
#include "workspace/formats/label_words.h"
#include "workspace/formats/parsed_file.h"

#include <stdlib.h>
#include <string.h>

static bool is_field(const ws_kind_info *k, const char *key)
{
    for (size_t i = 0; i < k->n_fields; i++) {
        if (strcmp(k->fields[i].name, key) == 0) {
            return true;
        }
    }
    return false;
}

// Whether the key may be a label that is read back as itself.
static bool own_label(ws_kind kind, const char *key)
{
    return pons__ws_label_is_plain(key) && pons__ws_label_field(kind, key, strlen(key)) < 0;
}

// What the record has that no label of its own can say; NULL: nothing.
static pons_value *extra_of(ws_kind kind, const pons_value *value)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    pons_value *extra = NULL;
    pons_each_member(key, v, value) {
        if (!is_field(k, key) && !own_label(kind, key)) {
            extra = extra ? extra : json_object();
            json_object_set(extra, key, (json_t *)v);
        }
    }
    return extra;
}

// ---- tables -------------------------------------------------------------------------------------

static const struct {
    ws_kind kind;
    const char *seed, *paos;
} headings[] = {
    {WS_ASSIGNMENT, "活跃任务", "Active Tasks"},
    {WS_POOL, "资源池", "Resource Pool"},
    {WS_WAITING, "待分配", "Waiting"},
    {WS_SUBTASK, NULL, "Sub-Tasks"},
};

static void put_cell(pons_buf *out, const ws_field *f, const pons_value *is, bool seed)
{
    pons_buf_byte(out, ' ');
    if (is) {
        pons__ws_say(out, f, is, true, seed);
    }
    pons_buf_str(out, " |");
}

static void put_table(pons_buf *out, ws_kind kind, pons_ws_dialect to,
                      const pons_ws_record *records, const ws_entry *entries, size_t n)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    pons_autovalue more = json_object(); // columns that nobody knows
    bool extra = false;
    for (size_t i = 0; i < n; i++) {
        if (entries[i].kind != kind) {
            continue;
        }
        pons_each_member(key, v, records[i].value) {
            if (!is_field(k, key) && own_label(kind, key)) {
                json_object_set_new(more, key, json_true());
            }
        }
        pons_autovalue rest = extra_of(kind, records[i].value);
        extra = extra || rest;
    }
    pons_buf_byte(out, '|');
    for (size_t f = 0; f < k->n_fields; f++) {
        pons_buf_printf(out, " %s |", pons__ws_label(&k->fields[f], to));
    }
    pons_each_member(key, v, more) {
        pons_buf_printf(out, " %s |", key);
    }
    pons_buf_str(out, extra ? " " WS_EXTRA " |\n|" : "\n|");
    for (size_t f = 0; f < k->n_fields + json_object_size(more) + extra; f++) {
        pons_buf_str(out, "---|");
    }
    pons_buf_byte(out, '\n');
    for (size_t i = 0; i < n; i++) {
        if (entries[i].kind != kind) {
            continue;
        }
        pons_buf_byte(out, '|');
        for (size_t f = 0; f < k->n_fields; f++) {
            put_cell(out, &k->fields[f], pons_get(records[i].value, k->fields[f].name),
                     to == PONS_WS_SEED);
        }
        pons_each_member(key, v, more) {
            put_cell(out, NULL, pons_get(records[i].value, key), false);
        }
        pons_autovalue rest = extra_of(kind, records[i].value);
        if (extra) {
            put_cell(out, NULL, rest, false);
        }
        pons_buf_byte(out, '\n');
    }
}

// ---- sections -----------------------------------------------------------------------------------

static void put_bullet(pons_buf *out, const char *label, const ws_field *f, const pons_value *v)
{
    pons_buf_printf(out, "- **%s**: ", label);
    pons__ws_say(out, f, v, false, false);
    pons_buf_byte(out, '\n');
}

static void put_bullets(pons_buf *out, ws_kind kind, pons_ws_dialect to, const pons_value *value,
                        const char *const *said)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    const char *key;
    const pons_value *v;
    for (size_t f = 0; f < k->n_fields; f++) {
        v = pons_get(value, k->fields[f].name);
        bool skip = !v;
        for (const char *const *s = said; *s; s++) {
            skip = skip || strcmp(*s, k->fields[f].name) == 0;
        }
        if (!skip) {
            put_bullet(out, pons__ws_label(&k->fields[f], to), &k->fields[f], v);
        }
    }
    json_object_foreach((json_t *)value, key, v) {
        if (!is_field(k, key) && own_label(kind, key)) {
            put_bullet(out, key, NULL, v);
        }
    }
    pons_autovalue extra = extra_of(kind, value);
    if (extra) {
        put_bullet(out, WS_EXTRA, NULL, extra);
    }
}

static bool in_heading(const char *s)
{
    const size_t n = strlen(s);
    return n && !strpbrk(s, "\r\n") && s[0] != ' ' && s[n - 1] != ' ' && s[0] != '`' &&
           s[n - 1] != '#' && s[0] != '\t' && s[n - 1] != '\t' && strncmp(s, "Lesson:", 7) != 0 &&
           !strstr(s, "<!--");
}

static bool is_time(const char *s)
{
    size_t digits = 0;
    while (digits < 10 &&
           (digits == 4 || digits == 7 ? s[digits] == '-' : s[digits] >= '0' && s[digits] <= '9')) {
        digits++;
    }
    return digits == 10 && s[10 + strspn(s + 10, " T0123456789:.Z+")] == '\0' &&
           s[strlen(s) - 1] != ' ';
}

static bool begins_like_a_heading(const char *s)
{
    static const char *const marks[] = {"—", "–", "-", ":", "："};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strncmp(s, marks[i], strlen(marks[i])) == 0) {
            return true;
        }
    }
    return (*s >= '0' && *s <= '9') || strcasecmp(s, "Failed Action Attempt") == 0;
}

static void put_lesson(pons_buf *out, pons_ws_dialect to, const pons_value *v)
{
    const char *said[3] = {NULL};
    size_t n = 0;
    const char *at = pons_get_str(v, "at", NULL), *title = pons_get_str(v, "title", NULL);
    pons_buf_str(out, "## ");
    if (to == PONS_WS_SEED && at && is_time(at)) {
        pons_buf_str(out, at);
        said[n++] = "at";
    }
    if (to == PONS_WS_SEED && title && in_heading(title) && !begins_like_a_heading(title)) {
        pons_buf_printf(out, "%s%s", n ? " — " : "", title);
        said[n++] = "title";
    }
    if (n == 0) {
        pons_buf_str(out, "Failed Action Attempt");
    }
    pons_buf_byte(out, '\n');
    put_bullets(out, WS_LESSON, to, v, said);
    if (n == 0 && json_object_size(v) == 0) {
        pons_buf_byte(out, '\n');
    }
}

void pons__ws_page_heading(pons_buf *out, ws_kind kind, pons_ws_dialect to)
{
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++) {
        const char *h = to == PONS_WS_SEED ? headings[i].seed : headings[i].paos;
        if (headings[i].kind == kind && h) {
            pons_buf_printf(out, "\n## %s\n", h);
        }
    }
    pons_buf_byte(out, '\n');
}

void pons__ws_page_block(pons_buf *out, pons_ws_file file, ws_kind kind, pons_ws_dialect to,
                         const pons_ws_record *records, const ws_entry *entries, size_t n)
{
    static const char *const no[] = {"id", NULL};
    const bool sections = kind == WS_LESSON || (kind == WS_ROBOT && to == PONS_WS_PAOS2);
    if (!sections) {
        put_table(out, kind, to, records, entries, n);
        return;
    }
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        if (entries[i].kind != kind) {
            continue;
        }
        pons_buf_str(out, first ? "" : "\n");
        first = false;
        if (kind == WS_LESSON) {
            put_lesson(out, to, records[i].value);
        } else {
            pons_buf_printf(out, "## %s\n", records[i].id);
            put_bullets(out, kind, to, records[i].value, no);
        }
    }
}

// ---- a whole page -------------------------------------------------------------------------------

static void put_lessons_yaml(pons_buf *out, const pons_ws_doc *d)
{
    pons_autovalue root = json_object();
    pons_value *list = json_array();
    json_object_set_new(root, d->info->format_key[PONS_WS_PAOS2],
                        json_string(d->info->format[PONS_WS_PAOS2]));
    json_object_set_new(root, "lessons", list);
    for (size_t i = 0; i < d->n; i++) {
        json_array_append_new(list,
                              pons__ws_record_write(WS_LESSON, PONS_WS_PAOS2, d->records[i].value));
    }
    pons_buf_str(out, "```yaml\n");
    pons__ws_data_body(out, root, false);
    pons_buf_str(out, "```\n");
}

// The lines of all sections go; the first one's place is taken by what comes.
static void replace_sections(const pons_ws_doc *d, ws_kind kind, const pons_buf *by,
                             ws_edits *edits)
{
    const pons_buf nothing = PONS_BUF_INIT;
    bool first = true;
    for (size_t i = 0; i < d->n; i++) {
        const ws_entry *e = &d->entries[i];
        if (e->kind != kind) {
            continue;
        }
        // With a section goes the empty line before it.
        const bool gap = !first && e->first > 0 && d->page.lines[e->first - 1].kind == WS_BLANK;
        pons__ws_doc_edit(d, edits, d->page.lines[e->first - gap].start,
                          d->page.lines[e->last].next, first ? by : &nothing);
        first = false;
    }
    if (first && by->len) {
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_str(&b, d->len && d->text[d->len - 1] != '\n' ? "\n\n" : "\n");
        pons_buf_bytes(&b, by->data, by->len);
        pons__ws_doc_edit(d, edits, d->len, d->len, &b);
    }
}

static void convert_lessons(const pons_ws_doc *d, pons_ws_dialect to, ws_edits *edits)
{
    pons_autobuf b = PONS_BUF_INIT;
    if (to == PONS_WS_PAOS2) {
        put_lessons_yaml(&b, d);
        replace_sections(d, WS_LESSON, &b, edits);
    } else if (d->data) {
        pons__ws_page_block(&b, d->file, WS_LESSON, to, d->records, d->entries, d->n);
        const size_t start = d->bare ? 0 : d->page.fences[d->fence].start;
        const size_t end = d->bare ? d->len : d->page.fences[d->fence].end;
        pons__ws_doc_edit(d, edits, start, end, &b);
    } else {
        for (size_t i = 0; i < d->n; i++) { // each in its place, with what is between them
            const ws_entry *e = &d->entries[i];
            pons_buf_clear(&b);
            put_lesson(&b, to, d->records[i].value);
            pons__ws_doc_edit(d, edits, d->page.lines[e->first].start, d->page.lines[e->last].next,
                              &b);
        }
    }
}

void pons__ws_page_convert(const pons_ws_doc *d, pons_ws_dialect to, ws_edits *edits)
{
    if (d->file == PONS_WS_EMBODIED) {
        return;
    }
    if (d->file == PONS_WS_LESSONS) {
        convert_lessons(d, to, edits);
        return;
    }
    for (size_t i = 0; i < d->n_tables; i++) {
        const ws_table *t = &d->tables[i];
        pons_autobuf b = PONS_BUF_INIT;
        // Records of all tables of the kind stand in the first one.
        bool again = false;
        for (size_t k = 0; k < i; k++) {
            again = again || d->tables[k].kind == t->kind;
        }
        if (!again) {
            pons__ws_page_block(&b, d->file, t->kind, to, d->records, d->entries, d->n);
        }
        pons__ws_doc_edit(d, edits, d->page.lines[t->header].start, d->page.lines[t->last].next,
                          &b);
    }
    if (d->file == PONS_WS_ROBOTS && d->n_tables == 0 && d->n) {
        pons_autobuf b = PONS_BUF_INIT;
        pons__ws_page_block(&b, d->file, WS_ROBOT, to, d->records, d->entries, d->n);
        replace_sections(d, WS_ROBOT, &b, edits);
    }
}
