// data_write.c - changed records of a fence of data, in their places.
//
// A list's items and a map's members are written one by one; what lies between them stays. In
// brackets an item is its bytes and there are commas between them; in a block it is whole lines.
//
//     queue:                     {"queue": [
//       - action_id: a   <- item     {"action_id": "a"},   <- item, without its comma
//         status: pending            {"action_id": "b"}
//       # a note stays           ]}
//       - action_id: b
#include "pons/growing_list.h"
#include "pons/out_of_memory.h"
#include "workspace/formats/parsed_file.h"
#include "workspace/text/yaml_emit.h"

#include <stdlib.h>
#include <string.h>

#define WHERE "workspace"

typedef struct piece { // a child of a container, or what is added to one
    size_t node;       // of a child
    bool touched;
    const char *key;   // of a member; owned by the pieces' buffers
    pons_value *value; // NULL: it goes
} piece;

typedef struct pieces {
    piece *at;
    size_t n_children, n; // the children first, then what is added
} pieces;

typedef struct writer {
    const pons_ws_doc *d;
    ws_edits *edits;
    pons_error *err;
} writer;

static int cannot(const writer *w)
{
    return pons_error_set(w->err, PONS_EINVAL, WHERE,
                          "%s is written in a way that cannot be changed in place", w->d->name);
}

static const pons_node *node_of(const writer *w, size_t node)
{
    return &w->d->tree.nodes[node];
}

// A byte of the body's as one of the text's.
static size_t in_text(const writer *w, size_t byte)
{
    return w->d->body + byte;
}

// ---- in brackets --------------------------------------------------------------------------------

// Columns before the first letter of the line.
static size_t indent_of(const writer *w, size_t byte)
{
    const char *text = w->d->text;
    size_t start = byte;
    while (start > w->d->body && text[start - 1] != '\n') {
        start--;
    }
    return strspn(text + start, " ");
}

static void put_flow(pons_buf *out, const piece *p, bool map, size_t indent)
{
    if (map) {
        pons__ws_emit_text(out, p->key);
        pons_buf_str(out, ": ");
    }
    pons__ws_emit_json(out, p->value, indent);
}

static size_t child_start(const writer *w, const piece *p, bool map)
{
    const pons_node *n = node_of(w, p->node);
    return in_text(w, map ? n->key_start : n->start);
}

static size_t child_end(const writer *w, const piece *p)
{
    return in_text(w, node_of(w, p->node)->end);
}

static void put_added(const writer *w, pons_buf *out, const pieces *ps, bool map, size_t indent,
                      bool comma)
{
    for (size_t i = ps->n_children; i < ps->n; i++) {
        pons_buf_printf(out, "%s\n%*s", comma ? "," : "", (int)indent, "");
        put_flow(out, &ps->at[i], map, indent);
        comma = true;
    }
}

// A list in brackets that has no children now, or will have none.
static void fill_flow(const writer *w, size_t container, const pieces *ps, bool map)
{
    const pons_node *c = node_of(w, container);
    const size_t indent = indent_of(w, in_text(w, c->start));
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_byte(&b, map ? '{' : '[');
    if (ps->n > ps->n_children) {
        put_added(w, &b, ps, map, indent + 2, false);
        pons_buf_printf(&b, "\n%*s", (int)indent, "");
    }
    pons_buf_byte(&b, map ? '}' : ']');
    pons__ws_doc_edit(w->d, w->edits, in_text(w, c->start), in_text(w, c->end), &b);
}

static int write_flow(const writer *w, size_t container, const pieces *ps)
{
    const bool map = node_of(w, container)->kind == PONS_NODE_MAP;
    size_t last = SIZE_MAX; // the last child that stays
    bool gap = false;       // something went since
    for (size_t i = 0; i < ps->n_children; i++) {
        last = ps->at[i].touched && !ps->at[i].value ? last : i;
    }
    if (last == SIZE_MAX) {
        fill_flow(w, container, ps, map);
        return PONS_OK;
    }
    const size_t indent = indent_of(w, child_start(w, &ps->at[0], map));
    size_t from = SIZE_MAX; // the last one before the gap
    for (size_t i = 0; i < ps->n_children; i++) {
        const piece *p = &ps->at[i];
        pons_autobuf b = PONS_BUF_INIT;
        if (p->touched && !p->value) {
            gap = true;
            continue;
        }
        if (gap && from == SIZE_MAX) { // the first ones went
            pons__ws_doc_edit(w->d, w->edits, child_start(w, &ps->at[0], map),
                              child_start(w, p, map), &b);
        } else if (gap) {
            pons_buf_printf(&b, ",\n%*s", (int)indent, "");
            pons__ws_doc_edit(w->d, w->edits, child_end(w, &ps->at[from]), child_start(w, p, map),
                              &b);
        }
        gap = false;
        from = i;
        if (p->touched) {
            pons_buf_clear(&b);
            put_flow(&b, p, map, indent_of(w, child_start(w, p, map)));
            pons__ws_doc_edit(w->d, w->edits, child_start(w, p, map), child_end(w, p), &b);
        }
    }
    pons_autobuf b = PONS_BUF_INIT;
    put_added(w, &b, ps, map, indent, true);
    if (gap || b.len) {
        pons__ws_doc_edit(w->d, w->edits, child_end(w, &ps->at[last]),
                          child_end(w, &ps->at[ps->n_children - 1]), &b);
    }
    return PONS_OK;
}

// ---- in a block ---------------------------------------------------------------------------------

typedef struct lines { // whole ones
    size_t start, end, indent;
} lines;

// The lines of a child; false: it shares one with something else.
static bool lines_of(const writer *w, const piece *p, bool map, lines *ret)
{
    const char *text = w->d->text;
    const pons_node *n = node_of(w, p->node);
    size_t start = in_text(w, map ? n->key_start : n->start);
    size_t at = start;
    while (start > w->d->body && text[start - 1] != '\n') {
        start--;
    }
    const size_t indent = strspn(text + start, " ");
    if (map ? start + indent != at : text[start + indent] != '-') {
        return false;
    }
    if (!map && strspn(text + start + indent + 1, " ") != at - (start + indent + 1)) {
        return false;
    }
    const size_t last = in_text(w, n->end);
    const char *nl =
        last < w->d->body_end ? memchr(text + last, '\n', w->d->body_end - last) : NULL;
    *ret = (lines){start, nl ? (size_t)(nl - text) + 1 : w->d->body_end, indent};
    return true;
}

static void put_block(pons_buf *out, const piece *p, bool map, size_t indent)
{
    if (map) {
        pons__ws_emit_yaml_member(out, p->key, p->value, indent);
    } else {
        pons__ws_emit_yaml_item(out, p->value, indent);
    }
}

static int write_block(const writer *w, size_t container, const pieces *ps)
{
    const bool map = node_of(w, container)->kind == PONS_NODE_MAP;
    lines l = {.start = 0};
    for (size_t i = 0; i < ps->n_children; i++) {
        const piece *p = &ps->at[i];
        pons_autobuf b = PONS_BUF_INIT;
        const bool want = p->touched || (i + 1 == ps->n_children && ps->n > ps->n_children);
        if (want && !lines_of(w, p, map, &l)) {
            return cannot(w);
        }
        if (p->touched && p->value) {
            put_block(&b, p, map, l.indent);
        }
        if (p->touched) {
            pons__ws_doc_edit(w->d, w->edits, l.start, l.end, &b);
        }
    }
    pons_autobuf b = PONS_BUF_INIT;
    if (ps->n > ps->n_children && l.end > 0 && w->d->text[l.end - 1] != '\n') {
        pons_buf_byte(&b, '\n'); // the file's last line has no end
    }
    for (size_t i = ps->n_children; i < ps->n; i++) {
        put_block(&b, &ps->at[i], map, l.indent);
    }
    if (b.len) {
        pons__ws_doc_edit(w->d, w->edits, l.end, l.end, &b);
    }
    return PONS_OK;
}

// ---- a container --------------------------------------------------------------------------------

static void add_piece(pieces *ps, piece p)
{
    ps->at = pons_need_more(ps->at, (ps->n + 1) * sizeof *ps->at);
    ps->at[ps->n++] = p;
}

static void children_of(const writer *w, size_t container, pieces *ret)
{
    const pons_node *c = node_of(w, container);
    size_t cap = 0;
    *ret = (pieces){.n = 0};
    for (size_t i = container + 1; i < container + c->size; i += node_of(w, i)->size) {
        pons_need_room(&ret->at, &cap, ret->n + 1, sizeof *ret->at);
        ret->at[ret->n++] = (piece){.node = i, .key = node_of(w, i)->key};
    }
    ret->n_children = ret->n;
}

static void pieces_fini(pieces *ps)
{
    for (size_t i = 0; i < ps->n; i++) {
        pons_value_unref(ps->at[i].value);
        if (i >= ps->n_children) {
            free((char *)ps->at[i].key);
        }
    }
    free(ps->at);
}

// The value of a node that is to be something else as a whole, in place: of a member whose value is
// empty, "queue:" or "queue: []".
static int write_whole(const writer *w, size_t node, const pons_value *value)
{
    const pons_node *n = node_of(w, node);
    pons_autobuf b = PONS_BUF_INIT;
    if (w->d->tree.json || n->key == NULL) {
        const size_t start = in_text(w, n->start);
        if (w->d->tree.json) {
            pons__ws_emit_json(&b, value, indent_of(w, start));
        } else {
            pons__ws_emit_yaml(&b, value, 0);
        }
        pons__ws_doc_edit(w->d, w->edits, start, in_text(w, n->end), &b);
        return PONS_OK;
    }
    lines l;
    const piece p = {.node = node, .key = n->key, .value = (pons_value *)value};
    if (!lines_of(w, &p, true, &l)) {
        return cannot(w);
    }
    put_block(&b, &p, true, l.indent);
    pons__ws_doc_edit(w->d, w->edits, l.start, l.end, &b);
    return PONS_OK;
}

static int write_container(const writer *w, size_t container, const pieces *ps)
{
    const pons_node *c = node_of(w, container);
    if (c->flow || w->d->tree.json) {
        return write_flow(w, container, ps);
    }
    return write_block(w, container, ps);
}

// ---- lists --------------------------------------------------------------------------------------

void pons__ws_data_keyed(ws_kind kind, pons_ws_dialect d, pons_value *raw, const char *id,
                         pons_buf *key)
{
    const char *target = pons_get_str(raw, "target", NULL);
    const char *field = pons__ws_kind_of(kind)->id;
    if (kind == WS_OBJECT && d == PONS_WS_PAOS2 && target) {
        pons_buf_printf(key, "%s::%s", target, id);
        json_object_del(raw, "target");
    } else {
        pons_buf_str(key, id);
    }
    if (field) {
        json_object_del(raw, field);
    }
}

// The records that are new, as a list or a map of their own.
static pons_value *fresh_list(const writer *w, ws_kind kind, bool map,
                              const pons_ws_change *changes, const size_t *which, size_t n)
{
    pons_value *list = map ? json_object() : json_array();
    for (size_t i = 0; i < n; i++) {
        const pons_ws_change *c = &changes[which[i]];
        pons_value *raw = pons__ws_record_write(kind, w->d->dialect, c->value);
        if (map) {
            pons_autobuf key = PONS_BUF_INIT;
            pons__ws_data_keyed(kind, w->d->dialect, raw, c->id, &key);
            json_object_set_new(list, key.data, raw);
        } else {
            json_array_append_new(list, raw);
        }
    }
    return list;
}

// Adds a member to the innermost map that is there on the way to the path.
static int add_list(const writer *w, const char *path, pons_value *list)
{
    char name[64];
    size_t at = w->d->base;
    for (;;) {
        const size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        const size_t next = path[n] ? pons_tree_member(&w->d->tree, at, name) : 0;
        if (!next || node_of(w, next)->kind != PONS_NODE_MAP) {
            break;
        }
        at = next;
        path += n + 1;
    }
    const char *rest = path + strcspn(path, ".");
    pons_value *value = list;
    if (*rest) {
        value = json_object();
        pons__ws_path_set(value, rest + 1, list);
    }
    pieces ps;
    children_of(w, at, &ps);
    add_piece(&ps, (piece){.key = pons_need_text(name), .value = value});
    int rc;
    if (ps.n_children == 0 && !node_of(w, at)->flow) {
        pons_autovalue whole = json_object();
        json_object_set(whole, name, value);
        rc = write_whole(w, at, whole);
    } else {
        rc = write_container(w, at, &ps);
    }
    pieces_fini(&ps);
    return rc;
}

static void touch(const writer *w, pieces *ps, size_t entry, const pons_ws_change *c)
{
    const ws_entry *e = &w->d->entries[entry];
    for (size_t i = 0; i < ps->n_children; i++) {
        if (ps->at[i].node == e->node) {
            ps->at[i].touched = true;
            pons_value_unref(ps->at[i].value);
            ps->at[i].value = c->value ? pons__ws_record_patch(e->kind, w->d->dialect, e->raw,
                                                               w->d->records[entry].value, c->value)
                                       : NULL;
            return;
        }
    }
}

// All changes of one list; `fresh` are the new records, for the first list of their kind.
static int write_list(const writer *w, size_t list, const pons_ws_change *changes, size_t n,
                      const size_t *fresh, size_t n_fresh)
{
    const ws_list *l = &w->d->lists[list];
    const pons_node *c = node_of(w, l->node);
    pieces ps;
    children_of(w, l->node, &ps);
    bool any = n_fresh > 0;
    ws_kind kind;
    for (size_t i = 0; i < n; i++) {
        const size_t at = pons__ws_kind_by_name(changes[i].kind, &kind) && kind == l->kind
                              ? pons__ws_doc_find(w->d, kind, changes[i].id)
                              : SIZE_MAX;
        if (at != SIZE_MAX && w->d->entries[at].list == list) {
            touch(w, &ps, at, &changes[i]);
            any = true;
        }
    }
    int rc = PONS_OK;
    pons_autovalue more = fresh_list(w, l->kind, l->map, changes, fresh, n_fresh);
    const bool empty = c->kind == PONS_NODE_SCALAR || ps.n_children == 0;
    if (any && empty && !(c->flow && w->d->tree.json)) {
        rc = write_whole(w, l->node, more);
    } else if (any) {
        pons_each(v, more) {
            add_piece(&ps, (piece){.value = pons_value_ref(v)});
        }
        if (l->map) {
            pons_each_member(key, v, more) {
                add_piece(&ps, (piece){.key = pons_need_text(key), .value = pons_value_ref(v)});
            }
        }
        rc = write_container(w, l->node, &ps);
    }
    pieces_fini(&ps);
    return rc;
}

// A record that is the whole, or what ENVIRONMENT says beside its lists: by its members.
static int write_members(const writer *w, size_t entry, const pons_ws_change *c)
{
    const ws_entry *e = &w->d->entries[entry];
    pieces ps;
    pons_value *after = pons_value_ref(c->value);
    if (e->kind == WS_SCENE && c->value) { // the format's name is the dialect's
        after = json_deep_copy(c->value);
        pons_value_unref(c->value);
        const char *version = pons_get_str(after, "schema_version", "");
        if (strcmp(version, w->d->info->format[PONS_WS_SEED]) == 0) {
            json_object_set_new(after, "schema_version",
                                json_string(w->d->info->format[w->d->dialect]));
        }
    }
    pons_autovalue to = after;
    pons_autovalue raw =
        to ? pons__ws_record_patch(e->kind, w->d->dialect, e->raw, w->d->records[entry].value, to)
           : json_object();
    children_of(w, e->node, &ps);
    for (size_t i = 0; i < ps.n_children; i++) {
        const pons_value *was = pons_get(e->raw, ps.at[i].key);
        const pons_value *is = pons_get(raw, ps.at[i].key);
        if (was && (!is || !json_equal(was, is))) {
            ps.at[i].touched = true;
            ps.at[i].value = is ? pons_value_ref(is) : NULL;
        }
    }
    pons_each_member(key, v, raw) {
        if (!pons_get(e->raw, key) && !pons_tree_member(&w->d->tree, e->node, key)) {
            add_piece(&ps, (piece){.key = pons_need_text(key), .value = pons_value_ref(v)});
        }
    }
    const int rc = write_container(w, e->node, &ps);
    pieces_fini(&ps);
    return rc;
}

// The list that one record alone is in place of, when a change adds another; SIZE_MAX: none. *ret_of: its kind's place.
static size_t alone_and_joined(const pons_ws_doc *d, const pons_ws_change *changes, size_t n,
                               const ws_place **ret_of)
{
    for (size_t l = 0; l < d->n_lists; l++) {
        for (size_t p = 0; p < d->info->n_places; p++) {
            const ws_kind kind = d->info->places[p].kind;
            const char *name = pons__ws_kind_of(kind)->name;
            for (size_t i = 0; i < n && d->lists[l].single && d->lists[l].node == d->base &&
                               kind == d->lists[l].kind;
                 i++) {
                if (changes[i].value && strcmp(changes[i].kind, name) == 0 &&
                    pons__ws_doc_find(d, kind, changes[i].id) == SIZE_MAX) {
                    *ret_of = &d->info->places[p];
                    return l;
                }
            }
        }
    }
    return SIZE_MAX;
}

// One record that is the whole becomes a list of it and those that are added.
static int write_joined(const writer *w, size_t list, const ws_place *place,
                        const pons_ws_change *changes, size_t n)
{
    const pons_ws_doc *d = w->d;
    const char *name = pons__ws_kind_of(place->kind)->name;
    pons_value *all = json_array();
    for (size_t e = 0; e < d->n; e++) {
        const pons_ws_change *c = NULL;
        for (size_t i = 0; i < n; i++) {
            const bool same = strcmp(changes[i].kind, name) == 0;
            c = same && strcmp(changes[i].id, d->records[e].id) == 0 ? &changes[i] : c;
        }
        if (d->entries[e].list == list &&
            (!c || c->value)) { // under its own name, which a list wants
            const pons_value *is = c ? c->value : d->records[e].value;
            json_array_append_new(all, pons__ws_record_write(place->kind, d->dialect, is));
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (changes[i].value && strcmp(changes[i].kind, name) == 0 &&
            pons__ws_doc_find(d, place->kind, changes[i].id) == SIZE_MAX) {
            json_array_append_new(all,
                                  pons__ws_record_write(place->kind, d->dialect, changes[i].value));
        }
    }
    pons_autovalue whole = json_object();
    pons__ws_path_set(whole, place->paths[d->dialect], all);
    return write_whole(w, d->base, whole);
}

// ---- public -------------------------------------------------------------------------------------

// New records of a kind: into the first list of it, else a new one.
static int write_kind(const writer *w, const ws_place *place, const pons_ws_change *changes,
                      size_t n)
{
    size_t *fresh = pons_need((n + 1) * sizeof *fresh), n_fresh = 0;
    const char *name = pons__ws_kind_of(place->kind)->name;
    int rc = PONS_OK;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(changes[i].kind, name) == 0 && changes[i].value &&
            pons__ws_doc_find(w->d, place->kind, changes[i].id) == SIZE_MAX) {
            fresh[n_fresh++] = i;
        }
    }
    bool placed = n_fresh == 0;
    for (size_t l = 0; l < w->d->n_lists && rc == PONS_OK; l++) {
        const ws_list *list = &w->d->lists[l];
        if (list->kind == place->kind && !list->single) {
            rc = write_list(w, l, changes, n, fresh, placed ? 0 : n_fresh);
            placed = true;
        }
    }
    if (rc == PONS_OK && !placed && node_of(w, w->d->base)->kind == PONS_NODE_MAP) {
        const char *path = place->paths[w->d->dialect];
        rc = add_list(
            w, path,
            fresh_list(w, place->kind, place->map[w->d->dialect], changes, fresh, n_fresh));
    } else if (rc == PONS_OK && !placed) {
        rc = cannot(w);
    }
    free(fresh);
    return rc;
}

int pons__ws_data_render(const pons_ws_doc *d, const pons_ws_change *changes, size_t n,
                         ws_edits *edits, pons_error *err)
{
    const writer w = {d, edits, err};
    int rc = PONS_OK;
    const ws_place *joined = NULL;
    const size_t alone = alone_and_joined(d, changes, n, &joined);
    for (size_t i = 0; i < n && rc == PONS_OK; i++) {
        ws_kind kind;
        bool known = false;
        if (pons__ws_kind_by_name(changes[i].kind, &kind)) {
            for (size_t p = 0; p < d->info->n_places; p++) {
                known = known || d->info->places[p].kind == kind;
            }
        }
        if (!known) {
            return pons_error_set(err, PONS_EINVAL, WHERE, "%s has no records of the kind '%s'",
                                  d->info->name, changes[i].kind);
        }
        const size_t at = pons__ws_doc_find(d, kind, changes[i].id);
        const ws_entry *e = at == SIZE_MAX ? NULL : &d->entries[at];
        if (e && !joined && (e->list == SIZE_MAX || d->lists[e->list].single)) {
            rc = write_members(&w, at, &changes[i]);
        }
    }
    if (joined) {
        return rc < 0 ? rc : write_joined(&w, alone, joined, changes, n);
    }
    for (size_t p = 0; p < d->info->n_places && rc == PONS_OK; p++) {
        if (d->info->places[p].kind != WS_SCENE) {
            rc = write_kind(&w, &d->info->places[p], changes, n);
        }
    }
    return rc;
}

void pons__ws_data_body(pons_buf *out, const pons_value *root, bool json)
{
    if (json) {
        pons__ws_emit_json(out, root, 0);
        pons_buf_byte(out, '\n');
    } else {
        pons__ws_emit_yaml(out, root, 0);
    }
}
