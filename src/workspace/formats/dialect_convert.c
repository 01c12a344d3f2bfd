// dialect_convert.c - a file in another dialect, and a new one.
//
// Of data, the body is written anew and what is around it stays; of a page, the tables and sections
// are. What the dialect forbids is kept in a comment behind the body, which the reader puts back.
#include "workspace/formats/parsed_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "workspace"

// ---- what a dialect forbids ---------------------------------------------------------------------

// Whether the dialect's shape has room for this path.
static bool is_allowed(const pons_ws_doc *d, ws_kind kind, const char *path)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    const size_t len = strlen(path);
    for (size_t i = 0; i < k->n_fields; i++) {
        const char *name = pons__ws_field_name(&k->fields[i], PONS_WS_PAOS2);
        size_t n = strlen(name);
        n -= n && name[n - 1] == '-';
        if (n == len && strncmp(name, path, n) == 0) {
            return true;
        }
    }
    for (const char *at = d->info->allowed; *at;) {
        const size_t n = strcspn(at, " ");
        const bool below = n > 2 && at[n - 1] == '*';
        if (below ? (strncmp(at, path, n - 1) == 0 || (len == n - 2 && !strncmp(at, path, len)))
                  : (n == len && strncmp(at, path, n) == 0)) {
            return true;
        }
        at += n;
        at += strspn(at, " ");
    }
    return false;
}

// Whether something below the path may stand there.
static bool has_room_below(const pons_ws_doc *d, ws_kind kind, const char *path)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    const size_t len = strlen(path);
    for (size_t i = 0; i < k->n_fields; i++) {
        const char *name = pons__ws_field_name(&k->fields[i], PONS_WS_PAOS2);
        if (strncmp(name, path, len) == 0 && name[len] == '.') {
            return true;
        }
    }
    for (const char *at = d->info->allowed; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strncmp(at, path, len) == 0 && at[len] == '.') {
            return true;
        }
    }
    return false;
}

// Moves what is forbidden from raw to kept.
static void keep_aside(const pons_ws_doc *d, ws_kind kind, const char *prefix, pons_value *raw,
                       pons_value *kept)
{
    char path[256];
    const char *key;
    pons_value *v;
    void *next;
    json_object_foreach_safe(raw, next, key, v) {
        snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (is_allowed(d, kind, path)) {
            continue;
        }
        if (!*prefix && json_is_object(v) && has_room_below(d, kind, path)) {
            pons_value *inner = json_object();
            keep_aside(d, kind, path, v, inner);
            if (json_object_size(inner)) {
                json_object_set(kept, key, inner);
            }
            json_decref(inner);
            continue;
        }
        json_object_set(kept, key, v);
        json_object_del(raw, key);
    }
}

// ---- data ---------------------------------------------------------------------------------------

// What the root has beside its lists and the name of its format.
static pons_value *root_rest(const pons_ws_doc *d)
{
    pons_value *rest = d->tree.nodes[d->base].kind == PONS_NODE_MAP
                           ? pons_tree_value(&d->tree, d->base)
                           : json_object();
    for (size_t i = 0; i < d->n_lists; i++) {
        if (d->lists[i].node == d->base) {
            json_object_clear(rest);
        }
    }
    for (size_t p = 0; p < d->info->n_places; p++) {
        for (int i = 0; i < WS_PATHS_MAX && d->info->places[p].paths[i]; i++) {
            if (*d->info->places[p].paths[i]) {
                pons__ws_path_remove(rest, d->info->places[p].paths[i]);
            }
        }
    }
    for (int k = 0; k < PONS_WS_DIALECTS; k++) {
        const char *key = d->info->format_key[k];
        const char *is = key ? pons_get_str(rest, key, NULL) : NULL;
        for (int j = 0; is && j < PONS_WS_DIALECTS; j++) {
            if (d->info->format[j] && strcmp(d->info->format[j], is) == 0) {
                json_object_del(rest, key);
                break;
            }
        }
    }
    const pons_value *kept = pons_get(d->kept, "file file");
    if (json_is_object(kept)) {
        json_object_update_missing(rest, (json_t *)kept);
    }
    return rest;
}

static void put_list(const pons_ws_doc *d, const ws_place *place, pons_ws_dialect to,
                     pons_value *root, pons_value *kept)
{
    const bool map = place->map[to];
    pons_value *list = map ? json_object() : json_array();
    char name[512];
    for (size_t i = 0; i < d->n; i++) {
        if (d->entries[i].kind != place->kind) {
            continue;
        }
        pons_value *raw = pons__ws_record_write(place->kind, to, d->records[i].value);
        if (to == PONS_WS_PAOS2 && d->info->allowed) {
            pons_value *aside = json_object();
            keep_aside(d, place->kind, "", raw, aside);
            if (json_object_size(aside)) {
                snprintf(name, sizeof name, "%s %s", d->records[i].kind, d->records[i].id);
                json_object_set(kept, name, aside);
            }
            json_decref(aside);
        }
        if (map) {
            pons_autobuf key = PONS_BUF_INIT;
            pons__ws_data_keyed(place->kind, to, raw, d->records[i].id, &key);
            json_object_set_new(list, key.data, raw);
        } else {
            json_array_append_new(list, raw);
        }
    }
    pons__ws_path_set(root, place->paths[to], list);
}

static pons_value *root_of(const pons_ws_doc *d, pons_ws_dialect to, pons_value *kept)
{
    pons_value *root = json_object();
    const bool scene = d->info->places[0].kind == WS_SCENE;
    const size_t at = scene ? pons__ws_doc_find(d, WS_SCENE, "scene") : SIZE_MAX;
    if (d->info->format_key[to]) {
        json_object_set_new(root, d->info->format_key[to], json_string(d->info->format[to]));
    }
    if (at != SIZE_MAX) {
        pons_autovalue raw = pons__ws_record_write(WS_SCENE, to, d->records[at].value);
        const char *version = pons_get_str(raw, "schema_version", NULL);
        if (!version) {
            json_object_del(root, "schema_version");
        } else if (strcmp(version, d->info->format[PONS_WS_SEED]) == 0) {
            json_object_del(raw, "schema_version");
        }
        json_object_update(root, raw);
    } else if (!scene) {
        pons_autovalue rest = root_rest(d);
        if (to == PONS_WS_PAOS2 && d->info->allowed && json_object_size(rest)) {
            json_object_set(kept, "file file", rest);
        } else {
            json_object_update_missing(root, rest);
        }
    }
    for (size_t p = 0; p < d->info->n_places; p++) {
        if (d->info->places[p].kind != WS_SCENE) {
            put_list(d, &d->info->places[p], to, root, kept);
        }
    }
    return root;
}

// JSON that may stand in a comment: no "--" in it.
static void put_kept(const pons_value *kept, pons_buf *out)
{
    char *text = NULL;
    const long n = pons_value_line(kept, &text);
    pons_buf_str(out, "<!-- pons kept: ");
    for (long i = 0; i < n; i++) {
        if (text[i] == '-' && i > 0 && text[i - 1] == '-') {
            pons_buf_str(out, "\\u002d"); // only a string has two of them
        } else if (text[i] == '>') {
            pons_buf_str(out, "\\u003e");
        } else {
            pons_buf_byte(out, (uint8_t)text[i]);
        }
    }
    pons_buf_str(out, " -->\n");
    free(text);
}

static int convert_data(const pons_ws_doc *d, pons_ws_dialect to, ws_edits *edits, pons_error *err)
{
    pons_autovalue kept = json_object();
    pons_autovalue root = root_of(d, to, kept);
    if (d->base) { // a state file keeps its wrapper
        pons_value *whole = pons_tree_value(&d->tree, 0);
        json_object_set(whole, "data", root);
        pons_value_unref(root);
        root = whole;
    }
    pons_autobuf body = PONS_BUF_INIT, comment = PONS_BUF_INIT;
    pons__ws_data_body(&body, root, d->tree.json);
    if (json_object_size(kept) && d->bare) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE,
                              "%s has keys that %s forbids, and no room for a comment to keep them",
                              d->name, pons_ws_dialect_name(to));
    }
    if (d->bare && d->page.generation && !d->tree.json) {
        pons_autobuf stamped = PONS_BUF_INIT;
        pons_buf_bytes(&stamped, d->text + d->page.stamp, d->page.stamp_end - d->page.stamp);
        pons_buf_byte(&stamped, '\n');
        pons_buf_bytes(&stamped, body.data, body.len);
        pons__ws_doc_edit(d, edits, d->body, d->body_end, &stamped);
    } else {
        pons__ws_doc_edit(d, edits, d->body, d->body_end, &body);
    }
    if (json_object_size(kept)) {
        put_kept(kept, &comment);
    }
    if (d->page.kept_end) {
        pons__ws_doc_edit(d, edits, d->page.kept_start, d->page.kept_after, &comment);
    } else if (comment.len) {
        const ws_fence *f = &d->page.fences[d->fence];
        pons_autobuf b = PONS_BUF_INIT;
        pons_buf_str(&b, f->end > 0 && d->text[f->end - 1] != '\n' ? "\n" : "");
        if (!f->closed) { // by its own marks
            const size_t start = f->start + strspn(d->text + f->start, " ");
            pons_buf_printf(&b, "%.*s\n", (int)strspn(d->text + start, "`~"), d->text + start);
        }
        pons_buf_bytes(&b, comment.data, comment.len);
        pons__ws_doc_edit(d, edits, f->end, f->end, &b);
    }
    return PONS_OK;
}

// What was written is read again: a text in which a dialect's form would mean something else (an open
// fence before a table, say) is refused, not changed.
static int check_meaning(const pons_ws_doc *d, const pons_buf *out, pons_error *err)
{
    pons_ws_doc *is = NULL;
    const char *lost = NULL;
    if (pons_ws_read(d->file, out->data ? out->data : "", out->len, d->name, &is, NULL) < 0) {
        lost = "it";
    }
    for (size_t i = 0; i < d->n && !lost; i++) {
        const pons_ws_record *r = pons_ws_find(is, d->records[i].kind, d->records[i].id);
        lost = r && json_equal(r->value, d->records[i].value) ? NULL : d->records[i].id;
    }
    lost = !lost && (is->n != d->n || is->n_faults) ? "its text" : lost;
    pons_ws_destroy(is);
    return lost ? pons_error_set(err, PONS_EUNSUPPORTED, WHERE,
                                 "%s: %.80s cannot be said in this dialect where it stands",
                                 d->name, lost)
                : PONS_OK;
}

int pons_ws_convert(const pons_ws_doc *doc, pons_ws_dialect dialect, pons_buf *out, pons_error *err)
{
    if (doc->n_faults) {
        pons_error_set(err, PONS_EINVAL, WHERE, "%s", doc->faults[0].what);
        pons_error_source(err, "%s:%u:%u", doc->name, doc->faults[0].line, doc->faults[0].column);
        return PONS_EINVAL;
    }
    ws_edits edits = {.n = 0};
    pons_autobuf fresh = PONS_BUF_INIT;
    int rc = PONS_OK;
    if (dialect == doc->dialect) {
        pons_buf_bytes(out, doc->text, doc->len);
        return PONS_OK;
    }
    if (doc->example && doc->n == 0) { // prose, in which a fence shows something else
        pons_buf_bytes(out, doc->text, doc->len);
        return PONS_OK;
    }
    if (doc->data && !doc->info->page) {
        rc = convert_data(doc, dialect, &edits, err);
    } else if (doc->info->page) {
        pons__ws_page_convert(doc, dialect, &edits);
    }
    if (rc == PONS_OK && !pons__ws_edits_apply(&edits, doc->text, doc->len, &fresh)) {
        rc = pons_error_set(err, PONS_EINVAL, WHERE, "%s cannot be converted in place", doc->name);
    }
    rc = rc < 0 ? rc : check_meaning(doc, &fresh, err);
    if (rc == PONS_OK) {
        pons_buf_bytes(out, fresh.data, fresh.len);
    }
    pons__ws_edits_fini(&edits);
    return rc;
}

int pons_ws_template(pons_ws_file file, pons_ws_dialect dialect, pons_buf *out)
{
    const ws_file_info *info = pons__ws_file_of(file);
    pons_buf_printf(out, "# %s\n", info->title[dialect]);
    if (info->page) {
        if (info->text[PONS_WS_SEED]) {
            pons_buf_printf(out, "\n%s", info->text[PONS_WS_SEED]);
        }
        for (size_t p = 0; p < info->n_places && file != PONS_WS_EMBODIED; p++) {
            if (info->places[p].kind != WS_TASK) {
                pons__ws_page_heading(out, info->places[p].kind, dialect);
                pons__ws_page_block(out, file, info->places[p].kind, dialect, NULL, NULL, 0);
            }
        }
        if (file == PONS_WS_TASK) {
            pons_buf_printf(out, "\n**%s**: 0/0 (0%%)\n",
                            dialect == PONS_WS_SEED ? "总体进度" : "Progress");
        }
        return PONS_OK;
    }
    pons_autovalue root = json_object();
    if (info->format_key[dialect]) {
        json_object_set_new(root, info->format_key[dialect], json_string(info->format[dialect]));
    }
    for (size_t p = 0; p < info->n_places; p++) {
        const ws_place *place = &info->places[p];
        if (place->kind != WS_SCENE) {
            pons__ws_path_set(root, place->paths[dialect],
                              place->map[dialect] ? json_object() : json_array());
        }
    }
    pons_buf_printf(out, "\n```%s\n", info->json ? "json" : "yaml");
    pons__ws_data_body(out, root, info->json);
    pons_buf_str(out, "```\n");
    return PONS_OK;
}
