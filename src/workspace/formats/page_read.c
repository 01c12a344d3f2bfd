// page_read.c - the records of a page: rows of tables, sections of bullets.
//
// A table is known by its headings, in any order and language that the tables of record_kinds.c have; a
// section by its heading or by what its bullets are called. What is neither is people's.
//
//     ## 2025-04-01 12:00:05 — 抓取失败          a lesson
//     - **动作**: pick_up apple_01                 a field of it
//     as seen from the door                       its "text"
#include "pons/out_of_memory.h"
#include "workspace/formats/label_words.h"
#include "workspace/formats/parsed_file.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FAILED_ATTEMPT "Failed Action Attempt"

typedef struct span {
    const char *s;
    size_t len;
} span;

static const ws_line *line_at(const pons_ws_doc *d, size_t i)
{
    return &d->page.lines[i];
}

static span text_of(const pons_ws_doc *d, const ws_line *l)
{
    return (span){d->text + l->text, l->text_end - l->text};
}

static span trimmed(const char *s, const char *end)
{
    while (s < end && strchr(" \t", *s)) {
        s++;
    }
    while (end > s && strchr(" \t", end[-1])) {
        end--;
    }
    return (span){s, (size_t)(end - s)};
}

// "**Label**: what" or "Label: what", with either colon; false: the bullet has no label.
static bool split_bullet(span text, span *ret_label, span *ret_what)
{
    const char *end = text.s + text.len, *colon = NULL;
    size_t mark = 1;
    for (const char *p = text.s; p < end && !colon; p++) {
        if (*p == ':') {
            colon = p;
        } else if (end - p >= 3 && memcmp(p, "：", 3) == 0) {
            colon = p;
            mark = 3;
        }
    }
    if (!colon || colon == text.s || *text.s == '`') {
        return false;
    }
    *ret_label = trimmed(text.s, colon);
    const char *what = colon + mark;
    while (what < end && *what == '*') { // "**Label:** what"
        what++;
    }
    *ret_what = trimmed(what, end);
    if (ret_label->len > 4 && memcmp(ret_label->s, "**", 2) == 0) {
        const size_t tail = memcmp(ret_label->s + ret_label->len - 2, "**", 2) == 0 ? 2 : 0;
        *ret_label = trimmed(ret_label->s + 2, ret_label->s + ret_label->len - tail);
    }
    return ret_label->len > 0 && ret_label->len < 64;
}

// Puts what a cell or a bullet says into the record.
static void put(pons_value *value, ws_kind kind, int field, span label, span what)
{
    const ws_field *f = field < 0 ? NULL : &pons__ws_kind_of(kind)->fields[field];
    pons_value *v = pons__ws_said(f, what.s, what.len);
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)label.len, label.s);
    const char *name = f && !pons_get(value, f->name) ? f->name : key;
    if (!f && strcmp(key, WS_EXTRA) == 0 && json_is_object(v)) {
        json_object_update_missing(value, v);
        json_decref(v);
    } else if (v && !pons_get(value, name)) { // a second word for the same stays under its own
        json_object_set_new(value, name, v);
    } else {
        json_decref(v);
    }
}

// In characters.
static uint32_t column_of(const pons_ws_doc *d, const ws_line *l, const char *at)
{
    uint32_t column = 1;
    for (const char *p = d->text + l->start; p < at; p++) {
        column += ((unsigned char)*p & 0xc0) != 0x80;
    }
    return column;
}

// Checks what was gathered, and adds it or a fault.
static void add(pons_ws_doc *d, ws_entry e, pons_value *gathered, size_t line, size_t byte)
{
    char what[WS_WHAT_MAX] = "", path[64];
    const ws_line *l = line_at(d, line);
    const uint32_t column = column_of(d, l, d->text + byte);
    if (*d->target) {
        json_object_set_new(gathered, WS_TARGET_KEY, json_string(d->target));
    }
    pons_value *value = pons__ws_record_check(e.kind, gathered, what, path);
    if (value) {
        pons__ws_doc_add(d, e, value, (uint32_t)line + 1, column);
    } else {
        const char *field = pons__ws_kind_of(e.kind)->id;
        pons__ws_doc_fault(d, pons__ws_kind_of(e.kind)->name,
                           field ? pons_get_str(gathered, field, "") : "", (uint32_t)line + 1,
                           column, what);
    }
    json_decref(gathered);
}

// ---- tables -------------------------------------------------------------------------------------

// How many headings are fields of the kind; 0 when a required one is missing.
static int match(const pons_ws_doc *d, const ws_cell *cells, size_t n, ws_kind kind, int *ret)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    int hits = 0;
    bool have[WS_COLUMNS_MAX] = {false};
    for (size_t c = 0; c < n; c++) {
        ret[c] =
            pons__ws_label_field(kind, d->text + cells[c].start, cells[c].end - cells[c].start);
        if (ret[c] >= 0 && have[ret[c]]) {
            ret[c] = -1;
        }
        if (ret[c] >= 0) {
            have[ret[c]] = true;
            hits++;
        }
    }
    for (size_t f = 0; f < k->n_fields; f++) {
        if (k->fields[f].required && !have[f]) {
            return 0;
        }
    }
    return hits;
}

static void read_row(pons_ws_doc *d, const ws_table *t, size_t table, const ws_cell *heads,
                     size_t line)
{
    ws_cell cells[WS_COLUMNS_MAX];
    const size_t n = pons__ws_page_cells(d->text, line_at(d, line), cells, WS_COLUMNS_MAX);
    pons_value *value = json_object();
    size_t worst = line_at(d, line)->start;
    for (size_t c = 0; c < n && c < t->n_columns; c++) {
        const span label = {d->text + heads[c].start, heads[c].end - heads[c].start};
        const span what = {d->text + cells[c].start, cells[c].end - cells[c].start};
        if (label.len) {
            put(value, t->kind, t->field[c], label, what);
        }
        const ws_field *f =
            t->field[c] < 0 ? NULL : &pons__ws_kind_of(t->kind)->fields[t->field[c]];
        if (f && f->type == WS_WORD) {
            worst = cells[c].start; // what can be wrong in a row is its word
        }
    }
    const ws_entry e = {.kind = t->kind, .first = line, .last = line, .table = table};
    add(d, e, value, line, worst);
}

// A table that begins at this line; returns the line behind it.
static size_t read_table(pons_ws_doc *d, size_t line)
{
    ws_cell heads[WS_COLUMNS_MAX];
    ws_table t = {.header = line, .last = line + 1};
    t.n_columns = pons__ws_page_cells(d->text, line_at(d, line), heads, WS_COLUMNS_MAX);
    int best = 0;
    for (size_t p = 0; p < d->info->n_places; p++) {
        int field[WS_COLUMNS_MAX];
        const int hits = match(d, heads, t.n_columns, d->info->places[p].kind, field);
        const ws_kind kind = d->info->places[p].kind;
        if (hits > best && kind != WS_LESSON && kind != WS_TASK && kind != WS_IDENTITY &&
            kind != WS_LIMIT && kind != WS_SENSOR) {
            best = hits;
            t.kind = kind;
            memcpy(t.field, field, sizeof field);
        }
    }
    size_t end = line + 2;
    while (end < d->page.n && line_at(d, end)->kind == WS_ROW) {
        end++;
    }
    t.last = end - 1;
    if (!best) {
        return end;
    }
    d->tables = pons_need_more(d->tables, (d->n_tables + 1) * sizeof *d->tables);
    d->tables[d->n_tables++] = t;
    for (size_t i = line + 2; i < end; i++) {
        read_row(d, &t, d->n_tables - 1, heads, i);
    }
    return end;
}

// ---- sections -----------------------------------------------------------------------------------

static bool heading_is(span text, const char *words)
{
    for (const char *at = words; *at;) {
        const size_t n = strcspn(at, "|");
        if (n == text.len && strncasecmp(at, text.s, n) == 0) {
            return true;
        }
        at += n + (at[n] == '|');
    }
    return false;
}

// The lines behind a heading, up to the next one; *ret_last: its last bullet or text.
static size_t section_end(const pons_ws_doc *d, size_t heading, size_t *ret_last)
{
    size_t i = heading + 1;
    *ret_last = heading;
    for (; i < d->page.n && line_at(d, i)->kind != WS_HEADING; i++) {
        if (line_at(d, i)->kind == WS_BULLET) {
            *ret_last = i;
        }
    }
    return i;
}

// What a bullet says, or, of a limit, the first two cells of a row; false: the line has no label.
static bool said_at(const pons_ws_doc *d, ws_kind kind, size_t i, span *ret_label, span *ret_said)
{
    const ws_line *l = line_at(d, i);
    ws_cell cells[2];
    const bool head = i + 1 < d->page.n && pons__ws_page_is_rule(d->text, line_at(d, i + 1));
    if (l->kind == WS_BULLET) {
        return split_bullet(text_of(d, l), ret_label, ret_said);
    }
    if (kind != WS_LIMIT || l->kind != WS_ROW || head || pons__ws_page_is_rule(d->text, l) ||
        pons__ws_page_cells(d->text, l, cells, 2) < 2) {
        return false;
    }
    *ret_label = (span){d->text + cells[0].start, cells[0].end - cells[0].start};
    *ret_said = (span){d->text + cells[1].start, cells[1].end - cells[1].start};
    return ret_label->len > 0;
}

bool pons__ws_page_label(const pons_ws_doc *d, ws_kind kind, size_t i, ws_cell *ret_label,
                         ws_cell *ret_said)
{
    span label, said;
    if (!said_at(d, kind, i, &label, &said)) {
        return false;
    }
    const size_t from = (size_t)(label.s - d->text), at = (size_t)(said.s - d->text);
    *ret_label = (ws_cell){from, from + label.len};
    *ret_said = (ws_cell){at, at + said.len};
    return true;
}

// A section of bullets with labels; *ret_hits: how many of the kind's.
static pons_value *gather(const pons_ws_doc *d, ws_kind kind, size_t heading, size_t last,
                          int *ret_hits)
{
    pons_value *value = json_object();
    pons_autobuf text = PONS_BUF_INIT;
    *ret_hits = 0;
    for (size_t i = heading + 1; i <= last; i++) {
        const ws_line *l = line_at(d, i);
        span label, what;
        if (said_at(d, kind, i, &label, &what)) {
            const int field = pons__ws_label_field(kind, label.s, label.len);
            put(value, kind, field, label, what);
            *ret_hits += field >= 0;
        } else if (l->kind != WS_BLANK && l->kind != WS_FENCED &&
                   !(kind == WS_LIMIT && l->kind == WS_ROW)) {
            pons_buf_printf(&text, "%s%.*s", text.len ? "\n" : "", (int)(l->end - l->start),
                            d->text + l->start);
        }
    }
    if (text.len && !pons_get(value, "text")) {
        json_object_set_new(value, "text", json_stringn(text.data, text.len));
    }
    return value;
}

static bool is_date(span t)
{
    static const char form[] = "dddd-dd-dd";
    for (size_t i = 0; i < sizeof form - 1; i++) {
        if (i >= t.len || (form[i] == 'd' ? t.s[i] < '0' || t.s[i] > '9' : t.s[i] != form[i])) {
            return false;
        }
    }
    return true;
}

// "2025-04-01 12:00:05 — what failed" into at and title.
static void put_heading(pons_value *value, span t)
{
    if (t.len > 7 && strncasecmp(t.s, "Lesson:", 7) == 0) {
        t = trimmed(t.s + 7, t.s + t.len);
    }
    if (is_date(t)) {
        size_t n = strlen("dddd-dd-dd");
        const size_t time = n + strspn(t.s + n, " T0123456789:.Z+");
        n = time < t.len ? time : t.len;
        const span at = trimmed(t.s, t.s + n);
        json_object_set_new(value, "at", json_stringn(at.s, at.len));
        t = trimmed(t.s + n, t.s + t.len);
        static const char *const dashes[] = {"—", "–", "-", ":", "："};
        for (size_t i = 0; i < sizeof dashes / sizeof dashes[0]; i++) {
            const size_t len = strlen(dashes[i]);
            if (t.len >= len && memcmp(t.s, dashes[i], len) == 0) {
                t = trimmed(t.s + len, t.s + t.len);
                break;
            }
        }
    }
    if (t.len && !heading_is(t, FAILED_ATTEMPT) && !pons_get(value, "title")) {
        json_object_set_new(value, "title", pons__ws_said(NULL, t.s, t.len));
    }
}

// A lesson or a robot: what is under a heading of the second level or lower, with a bullet of the kind's; a lesson may
// have its date alone.
static void read_section(pons_ws_doc *d, ws_kind kind, size_t heading)
{
    size_t last;
    int hits;
    const span title = text_of(d, line_at(d, heading));
    section_end(d, heading, &last);
    pons_value *value = gather(d, kind, heading, last, &hits);
    if (line_at(d, heading)->level < 2 || (!hits && !(kind == WS_LESSON && is_date(title)))) {
        json_decref(value);
        return;
    }
    if (kind == WS_LESSON) {
        put_heading(value, title);
    } else {
        json_object_set_new(value, "id", json_stringn(title.s, title.len));
    }
    const ws_entry e = {.kind = kind, .first = heading, .last = last, .table = SIZE_MAX};
    add(d, e, value, heading, 0);
}

// ---- EMBODIED -----------------------------------------------------------------------------------

// "none" and its like: what is listed so is not there.
static bool says_no(span t)
{
    static const char *const no[] = {"none",       "no",       "n/a", "not available",
                                     "not fitted", "disabled", "off", "false",
                                     "无",         "否",       "-",   "—"};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        if (t.len == strlen(no[i]) && strncasecmp(t.s, no[i], t.len) == 0) {
            return true;
        }
    }
    return false;
}

// "[x] RGB-D Camera", "**LiDAR**: all around", or both.
static void read_sensors(pons_ws_doc *d, size_t heading, size_t last)
{
    for (size_t i = heading + 1; i <= last; i++) {
        const ws_line *l = line_at(d, i);
        if (l->kind != WS_BULLET) {
            continue;
        }
        span t = text_of(d, l), label, what = {NULL, 0};
        bool present = true;
        if (t.len > 3 && t.s[0] == '[' && t.s[2] == ']') {
            present = t.s[1] == 'x' || t.s[1] == 'X';
            t = trimmed(t.s + 3, t.s + t.len);
        }
        const bool bold = t.len > 4 && memcmp(t.s, "**", 2) == 0;
        if (split_bullet(t, &label, &what) && (bold || says_no(what))) {
            t = label;
            present = present && !says_no(what);
        }
        const ws_entry e = {.kind = WS_SENSOR, .first = i, .last = i, .table = SIZE_MAX};
        add(d, e,
            pons_object("name", json_stringn(t.s, t.len), "present", json_boolean(present),
                        "description", what.len ? json_stringn(what.s, what.len) : PONS_ABSENT,
                        NULL),
            i, 0);
    }
}

// A limit that cannot be read refuses all of them: nobody should move by half of what holds. Of one that is said
// twice the lower one holds.
static void read_limits(pons_ws_doc *d, size_t heading, size_t last, const char *section)
{
    int hits;
    char what[WS_WHAT_MAX];
    pons_value *value = gather(d, WS_LIMIT, heading, last, &hits);
    pons_autovalue numbers = json_object();
    const ws_kind_info *k = pons__ws_kind_of(WS_LIMIT);
    for (size_t i = heading + 1; i <= last; i++) {
        const ws_line *l = line_at(d, i);
        span label, said;
        double number;
        const int field = said_at(d, WS_LIMIT, i, &label, &said)
                              ? pons__ws_label_field(WS_LIMIT, label.s, label.len)
                              : -1;
        if (field < 0) {
            continue;
        }
        const char *name = k->fields[field].name;
        if (!pons__ws_quantity(name, said.s, said.len, &number)) {
            snprintf(what, sizeof what, "%s is '%.*s': it must be a number with its unit", name,
                     (int)(said.len < 40 ? said.len : 40), said.s);
            pons__ws_doc_fault(d, "limits", "limits", (uint32_t)i + 1, column_of(d, l, said.s),
                               what);
            json_decref(value);
            return;
        }
        const double least = pons_get_num(numbers, name, number);
        json_object_set_new(numbers, name, json_real(number < least ? number : least));
    }
    json_object_update(value, numbers);
    if (*section) {
        json_object_set_new(value, WS_SECTION_KEY, json_string(section));
    }
    const ws_entry e = {.kind = WS_LIMIT, .first = heading, .last = last, .table = SIZE_MAX};
    add(d, e, value, heading, 0);
}

// "Target: NAME" of a heading; false: it is none.
static bool is_target(const pons_ws_doc *d, const ws_line *l, span *ret)
{
    static const char word[] = "Target:";
    const span t = text_of(d, l);
    const size_t n = sizeof word - 1;
    *ret = l->kind == WS_HEADING && t.len > n && strncasecmp(t.s, word, n) == 0
               ? trimmed(t.s + n, t.s + t.len)
               : (span){NULL, 0};
    return ret->len > 0;
}

// Where a page has sections of several robots, each record is one's; under another heading of their level, all robots'.
static void enter_target(pons_ws_doc *d, size_t heading)
{
    span name;
    const bool is = is_target(d, line_at(d, heading), &name);
    if (is && d->n_targets > 1) {
        snprintf(d->target, sizeof d->target, "%.*s", (int)name.len, name.s);
    } else if (!is && line_at(d, heading)->level <= 2) {
        d->target[0] = '\0';
    }
}

static void read_embodied(pons_ws_doc *d, size_t heading)
{
    size_t last;
    int hits;
    const span t = text_of(d, line_at(d, heading));
    enter_target(d, heading);
    const size_t end = section_end(d, heading, &last);
    if (heading_is(t, "Identity|身份|基本信息") && last > heading) {
        const ws_entry e = {.kind = WS_IDENTITY, .first = heading, .last = last, .table = SIZE_MAX};
        add(d, e, gather(d, WS_IDENTITY, heading, last, &hits), heading, 0);
    } else if (heading_is(t, "Sensors|传感器")) {
        read_sensors(d, heading, last);
    } else if (heading_is(t, "Physical Constraints|Constraints|Limits|物理约束|约束")) {
        for (size_t i = last + 1; i < end; i++) { // they may stand in a table
            last = line_at(d, i)->kind == WS_ROW ? i : last;
        }
        if (last > heading) {
            read_limits(d, heading, last, "");
        }
    } else if (heading_is(t, "Navigation Capabilities|导航能力") && last > heading) {
        read_limits(d, heading, last, "Navigation Capabilities");
    }
}

// ---- TASK ---------------------------------------------------------------------------------------

static void read_title(pons_ws_doc *d, size_t heading)
{
    static const char *const words[] = {"任务：", "任务:", "Task:", "Task Plan:", "Goal:"};
    span t = text_of(d, line_at(d, heading));
    if (line_at(d, heading)->level != 1 || pons__ws_doc_find(d, WS_TASK, "task") != SIZE_MAX) {
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t n = strlen(words[i]);
        if (t.len > n && strncasecmp(t.s, words[i], n) == 0) {
            t = trimmed(t.s + n, t.s + t.len);
            const ws_entry e = {
                .kind = WS_TASK, .first = heading, .last = heading, .table = SIZE_MAX};
            add(d, e, pons_object("title", json_stringn(t.s, t.len), NULL), heading, 0);
            return;
        }
    }
}

void pons__ws_page_records(pons_ws_doc *d)
{
    span name;
    for (size_t i = 0; d->file == PONS_WS_EMBODIED && i < d->page.n; i++) {
        d->n_targets += is_target(d, line_at(d, i), &name);
    }
    for (size_t i = 0; i < d->page.n;) {
        const ws_line *l = line_at(d, i);
        if (l->kind == WS_ROW && i + 1 < d->page.n &&
            pons__ws_page_is_rule(d->text, line_at(d, i + 1))) {
            i = read_table(d, i);
            continue;
        }
        if (l->kind == WS_HEADING && d->file == PONS_WS_LESSONS) {
            read_section(d, WS_LESSON, i);
        } else if (l->kind == WS_HEADING && d->file == PONS_WS_ROBOTS) {
            read_section(d, WS_ROBOT, i);
        } else if (l->kind == WS_HEADING && d->file == PONS_WS_EMBODIED) {
            read_embodied(d, i);
        } else if (l->kind == WS_HEADING && d->file == PONS_WS_TASK) {
            read_title(d, i);
        }
        i++;
    }
}
