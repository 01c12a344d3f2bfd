// ws_help.c - what the workspace's tests share.
#include "workspace/ws_help.h"

#include "unit.h"
#include "workspace/model/record_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *help_text(const char *name, size_t *ret_len)
{
    char path[512];
    snprintf(path, sizeof path, *name == '/' ? "%s" : PONS_SOURCE_DIR "/tests/workspace/seed/%s",
             name);
    FILE *f = fopen(path, "r");
    if (!f) {
        fail_msg("cannot read %s", path);
    }
    char *text = calloc(1, 1 << 20);
    *ret_len = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

pons_ws_doc *help_read(pons_ws_file file, const char *text, size_t len)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    if (pons_ws_read(file, text, len, pons_ws_file_name(file), &d, &err) < 0) {
        fail_msg("%s in\n%.*s", pons_error_line(&err, line, sizeof line), (int)len, text);
    }
    return d;
}

pons_ws_doc *help_seed(pons_ws_file file)
{
    size_t len;
    char *text = help_text(pons_ws_file_name(file), &len);
    pons_ws_doc *d = help_read(file, text, len);
    free(text);
    return d;
}

void help_same_records(const pons_ws_doc *a, const pons_ws_doc *b, const char *what)
{
    size_t n, m, len_a, len_b, faults;
    const pons_ws_record *ra = pons_ws_records(a, &n);
    const char *ta = pons_ws_text(a, &len_a), *tb = pons_ws_text(b, &len_b);
    pons_ws_records(b, &m);
    const pons_ws_fault *f = pons_ws_faults(b, &faults);
    if (faults) {
        fail_msg("%s: %u:%u %s\n%s\n-----\n%s", what, f->line, f->column, f->what, ta, tb);
    }
    for (size_t i = 0; i < n; i++) {
        const pons_ws_record *rb = pons_ws_find(b, ra[i].kind, ra[i].id);
        if (!rb || !json_equal(rb->value, ra[i].value)) {
            char *one = NULL, *two = NULL;
            pons_value_line(ra[i].value, &one);
            pons_value_line(rb ? rb->value : json_null(), &two);
            fail_msg("%s: %s %s\n%s\n%s\n-----\n%s\n-----\n%s", what, ra[i].kind, ra[i].id, one,
                     two, ta, tb);
        }
    }
    if (n != m) {
        fail_msg("%s: %zu records became %zu\n%s\n-----\n%s", what, n, m, ta, tb);
    }
}

// ---- made up ------------------------------------------------------------------------------------

static const char *made_up_text(pons_rand *r)
{
    static const char *const texts[] = {
        "apple_01", "红苹果",      "a b", "yes",    "null",   "12",  "0x1f",  "1.5",
        "~",        "- x",         "# y", "a: b",   "{z}",    "[1]", "\"q\"", "it's",
        "a|b",      "line\nbreak", " x ", "`c`",    "--",     "-->", "🍎",    "&a",
        "*b",       "!t",          "%",   "a\\b\\", "tab\tx", "?",   "…",     "<!-- z -->"};
    return texts[pons_rand_below(r, sizeof texts / sizeof texts[0])];
}

static pons_value *made_up_value(pons_rand *r, int depth)
{
    pons_value *v;
    switch (pons_rand_below(r, depth > 0 ? 8 : 6)) {
    case 0:
        return json_integer((json_int_t)pons_rand_below(r, 1000) - 500);
    case 1:
        return json_real((double)pons_rand_below(r, 1000) / 8);
    case 2:
        return json_boolean(pons_rand_below(r, 2));
    case 3:
        return json_null();
    case 4:
    case 5:
        return json_string(made_up_text(r));
    case 6:
        v = json_array();
        for (uint64_t i = pons_rand_below(r, 4); i > 0; i--) {
            json_array_append_new(v, made_up_value(r, depth - 1));
        }
        return v;
    default:
        v = json_object();
        for (uint64_t i = pons_rand_below(r, 4); i > 0; i--) {
            char key[24];
            snprintf(key, sizeof key, pons_rand_below(r, 4) ? "k%d" : "钥匙 %d", (int)i);
            json_object_set_new(v, key, made_up_value(r, depth - 1));
        }
        return v;
    }
}

static pons_value *made_up_field(pons_rand *r, const ws_field *f)
{
    char word[40];
    switch (f->type) {
    case WS_NUMBER:
        return json_real((double)pons_rand_below(r, 4000) / 8);
    case WS_COUNT:
        return json_integer((json_int_t)pons_rand_below(r, 9) + 1);
    case WS_BOOL:
        return json_boolean(pons_rand_below(r, 2));
    case WS_MAP: {
        pons_value *v = json_object();
        json_object_set_new(v, "a", made_up_value(r, 2));
        return v;
    }
    case WS_LIST: {
        pons_value *v = json_array();
        json_array_append_new(v, made_up_value(r, 1));
        return v;
    }
    case WS_WORDS:
        return json_pack("[s,s]", "sim", "other");
    case WS_NUMBERS:
        return json_pack("[f,f,f]", 1.5, -2.0, (double)pons_rand_below(r, 9));
    case WS_WORD:
        snprintf(word, sizeof word, "%.*s", (int)strcspn(f->words, " =>"), f->words);
        return json_string(word);
    case WS_REF:
        return json_string("ref_1");
    case WS_CLIENT:
        return pons_rand_below(r, 2)
                   ? json_pack("{s:s,s:s}", "type", "http", "endpoint", "http://h:1/p")
                   : json_pack("{s:s,s:s,s:i}", "type", "local", "checkpoint", "/m", "extra", 3);
    default: {
        const char *s = made_up_text(r);
        return json_string(s);
    }
    }
}

pons_value *help_record(pons_rand *r, ws_kind kind, int n)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    pons_value *v = json_object();
    char id[32];
    for (size_t i = 0; i < k->n_fields; i++) {
        const ws_field *f = &k->fields[i];
        snprintf(id, sizeof id, "%s_%d", k->name, n);
        if ((k->id && strcmp(f->name, k->id) == 0) ||
            (f->required && !k->id && f->type == WS_STRING)) {
            pons__ws_path_set(v, f->name, json_string(id));
        } else if (f->required || f->preset || pons_rand_below(r, 2)) {
            pons__ws_path_set(v, f->name, made_up_field(r, f));
        }
    }
    if (kind == WS_LESSON) {
        snprintf(id, sizeof id, "2025-04-01 12:00:%02d", n);
        json_object_set_new(v, "at", json_string(id));
    }
    if (kind == WS_OBJECT && pons_rand_below(r, 2)) {
        json_object_set_new(v, "target", json_string("sim"));
    }
    for (uint64_t i = pons_rand_below(r, 3); i > 0; i--) {
        static const char *const keys[] = {"x_custom", "备注2",         "weird key!",
                                           "a:b",      "queue_timeout", "plain"};
        json_object_set_new(v, keys[pons_rand_below(r, 6)], made_up_value(r, 2));
    }
    return v;
}

pons_ws_doc *help_made_up(pons_rand *r, pons_ws_file file, pons_ws_dialect dialect)
{
    const ws_file_info *info = pons__ws_file_of(file);
    pons_autobuf text = PONS_BUF_INIT, out = PONS_BUF_INIT;
    pons_ws_change changes[64];
    char ids[64][96];
    size_t n = 0;
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    pons_ws_template(file, dialect, &text);
    pons_buf_str(&text, "\nA person's words, 人写的.\n");
    if (file == PONS_WS_TASK) { // its title is not added, it is there
        pons_autobuf titled = PONS_BUF_INIT;
        pons_buf_printf(&titled, "# Task: tidy up\n%s", text.data + strcspn(text.data, "\n"));
        pons_buf_clear(&text);
        pons_buf_bytes(&text, titled.data, titled.len);
    }
    pons_ws_doc *empty = help_read(file, text.data, text.len);
    for (size_t p = 0; p < info->n_places; p++) {
        const ws_kind kind = info->places[p].kind;
        if (kind == WS_TASK || file == PONS_WS_EMBODIED) {
            continue;
        }
        const bool table =
            info->page && kind != WS_LESSON && !(kind == WS_ROBOT && dialect == PONS_WS_PAOS2);
        for (int i = 0; i < (kind == WS_SCENE ? 1 : 1 + (int)pons_rand_below(r, 4)); i++) {
            pons_value *v = help_record(r, kind, i);
            if (table) { // a table holds what it has columns for
                const char *key;
                pons_value *child;
                void *next;
                json_object_foreach_safe(v, next, key, child) {
                    bool known = false;
                    for (size_t f = 0; f < pons__ws_kind_of(kind)->n_fields; f++) {
                        known = known || strcmp(pons__ws_kind_of(kind)->fields[f].name, key) == 0;
                    }
                    if (!known) {
                        json_object_del(v, key);
                    }
                }
            }
            char *id = pons__ws_record_id(kind, v);
            snprintf(ids[n], sizeof ids[n], "%s", id);
            free(id);
            changes[n] = (pons_ws_change){pons__ws_kind_of(kind)->name, ids[n], v};
            n++;
        }
    }
    if (pons_ws_render(empty, changes, n, 7, &out, &err) < 0) {
        fail_msg("%s", pons_error_line(&err, line, sizeof line));
    }
    pons_ws_doc *d = help_read(file, out.data, out.len);
    for (size_t i = 0; i < n; i++) {
        const pons_ws_record *rec = pons_ws_find(d, changes[i].kind, changes[i].id);
        if (!rec || !json_equal(rec->value, changes[i].value)) {
            char *one = NULL, *two = NULL;
            pons_value_line(changes[i].value, &one);
            pons_value_line(rec ? rec->value : json_null(), &two);
            fail_msg("%s %s was written as\n%s\nand read as\n%s\n%s", changes[i].kind,
                     changes[i].id, one, two, out.data);
        }
        json_decref((json_t *)changes[i].value);
    }
    pons_ws_destroy(empty);
    return d;
}
