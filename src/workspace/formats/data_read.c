// data_read.c - the records of a fence of JSON or YAML, or of a file that is nothing else.
//
// Which fence: the first that can be read and has what the file is about, else the first that can be
// read. A fence of another language is somebody's text. Where no fence can be read, the first one's
// fault is the file's; a file without fences is JSON or YAML when it looks like it.
#include "pons/out_of_memory.h"
#include "workspace/formats/parsed_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WHERE "workspace"
#define STATE_FILE_SCENE                                                                           \
    "paos.environment.v1" // what is in a state file's wrapper says what v2.0 says
#define FENCES_MAX 100    // that are looked into for the data: each costs a parse

// ---- which body ---------------------------------------------------------------------------------

size_t pons__ws_data_path(const pons_tree *t, size_t base, const char *path)
{
    char name[64];
    size_t at = base;
    while (*path) {
        const size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        at = pons_tree_member(t, at, name);
        if (!at) {
            return SIZE_MAX;
        }
        path += n + (path[n] == '.');
    }
    return at;
}

// Whether the tree has what the file is about.
static bool is_about(const pons_ws_doc *d, const pons_tree *t, size_t base)
{
    if (t->nodes[base].kind == PONS_NODE_LIST) {
        return !d->info->page;
    }
    for (size_t p = 0; p < d->info->n_places; p++) {
        const ws_place *place = &d->info->places[p];
        for (int i = 0; i < WS_PATHS_MAX && place->paths[i]; i++) {
            if (*place->paths[i] && pons__ws_data_path(t, base, place->paths[i]) != SIZE_MAX) {
                return true;
            }
        }
    }
    for (int k = 0; k < PONS_WS_DIALECTS; k++) {
        const char *key = d->info->format_key[k];
        if (key && pons_tree_member(t, base, key)) {
            return true;
        }
    }
    return (d->file == PONS_WS_ACTION && pons_tree_member(t, base, "action_type")) ||
           (d->file == PONS_WS_TARGETS && pons_tree_member(t, base, "profile_id")) ||
           (d->file == PONS_WS_ENVIRONMENT && pons_tree_member(t, base, "scene_graph"));
}

// The node that has the lists: the root, or what a wrapper has.
static size_t base_of(const pons_tree *t)
{
    const size_t inner = pons_tree_member(t, 0, "paos") ? pons_tree_member(t, 0, "data") : 0;
    return inner && t->nodes[inner].kind == PONS_NODE_MAP ? inner : 0;
}

static bool is_data_fence(const pons_ws_doc *d, const ws_fence *f)
{
    static const char *const words[] = {"json", "yaml", "yml", "jsonc", "json5"};
    const char *info = d->text + f->info;
    size_t n = 0;
    while (f->info + n < f->info_end && !strchr(" \t{}", info[n])) {
        n++;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == n && strncasecmp(info, words[i], n) == 0) {
            return true;
        }
    }
    return n == 0;
}

static void take_body(pons_ws_doc *d, pons_tree *t, size_t start, size_t end, uint32_t line)
{
    pons_tree_fini(&d->tree);
    d->tree = *t;
    *t = (pons_tree){.n = 0};
    d->body = start;
    d->body_end = end;
    d->body_line = line;
    d->base = base_of(&d->tree);
}

// Whether a line of these bytes begins with one of the words that the file's lists are called.
static bool names_a_list(const pons_ws_doc *d, size_t from, size_t to)
{
    for (size_t i = 0; i < d->page.n && d->page.lines[i].start < to; i++) {
        const ws_line *l = &d->page.lines[i];
        for (size_t p = 0; p < d->info->n_places && l->start >= from; p++) {
            for (int k = 0; k < WS_PATHS_MAX && d->info->places[p].paths[k]; k++) {
                const char *path = d->info->places[p].paths[k];
                const size_t n = strcspn(path, ".");
                if (n && l->start + n < l->end && memcmp(d->text + l->start, path, n) == 0 &&
                    d->text[l->start + n] == ':') {
                    return true;
                }
            }
        }
    }
    return false;
}

// The front matter of a page, shown in a fence: an example, and several documents to YAML.
static bool is_front_matter(const pons_ws_doc *d, const ws_fence *f)
{
    const char *body = d->text + f->body + strspn(d->text + f->body, " \t\r\n");
    const bool dashes = strncmp(body, "---", 3) == 0 && strchr(" \t\r\n", body[3]);
    return dashes && !names_a_list(d, f->body, f->body_end);
}

// Tells a fault of the text where the file has it.
static int refuse(const pons_ws_doc *d, uint32_t first_line, const pons_error *why, pons_error *err)
{
    unsigned line = 1, column = 1;
    if (sscanf(why->source, "%u:%u", &line, &column) != 2) {
        line = column = 1;
    }
    pons_error_set(err, PONS_EINVAL, WHERE, "%s", why->message);
    pons_error_source(err, "%s:%u:%u", d->name, first_line + line - 1, column);
    return PONS_EINVAL;
}

// PONS_ENOTFOUND: none of the fences is data. A fault of the first that should be is in err.
static int find_fence(pons_ws_doc *d, pons_error *err)
{
    bool found = false, faulty = false;
    size_t looked = 0;
    for (size_t i = 0; i < d->page.n_fences; i++) {
        const ws_fence *f = &d->page.fences[i];
        pons_tree t = {.n = 0};
        pons_error why = PONS_ERROR_INIT;
        if (!is_data_fence(d, f) || strspn(d->text + f->body, " \t\r\n") >= f->body_end - f->body) {
            continue;
        }
        if (++looked > FENCES_MAX) {
            if (d->info->page) {
                break; // its fences are examples
            }
            pons_error_set(&why, PONS_EINVAL, WHERE,
                           "the first %d fenced blocks have none of its data", FENCES_MAX);
            refuse(d, f->body_line, &why, err);
            return PONS_EINVAL;
        }
        if (pons_tree_parse(d->text + f->body, f->body_end - f->body, &t, &why) < 0) {
            if (!faulty && !found && f->info_end > f->info && !is_front_matter(d, f)) {
                refuse(d, f->body_line, &why, err);
                faulty = true;
            }
            continue;
        }
        const bool about = t.nodes[0].kind != PONS_NODE_SCALAR && is_about(d, &t, base_of(&t));
        if (about || (!found && t.nodes[0].kind != PONS_NODE_SCALAR && !d->info->page)) {
            take_body(d, &t, f->body, f->body_end, f->body_line);
            d->fence = i;
            d->example = !about;
            found = true;
        }
        pons_tree_fini(&t);
        if (about) {
            return PONS_OK;
        }
    }
    return found ? PONS_OK : faulty && !d->info->page ? PONS_EINVAL : PONS_ENOTFOUND;
}

static int find_bare(pons_ws_doc *d, pons_error *err)
{
    pons_tree t = {.n = 0};
    pons_error why = PONS_ERROR_INIT;
    const size_t first = strspn(d->text, " \t\r\n");
    const char c = first < d->len ? d->text[first] : '\0';
    const bool json = c == '{' || c == '[';
    if (!json && !names_a_list(d, 0, d->len)) {
        return PONS_ENOTFOUND;
    }
    if (pons_tree_parse(d->text, d->len, &t, &why) < 0) {
        return d->info->page ? PONS_ENOTFOUND : refuse(d, 1, &why, err);
    }
    if (t.nodes[0].kind == PONS_NODE_SCALAR || (d->info->page && !is_about(d, &t, 0))) {
        pons_tree_fini(&t);
        return PONS_ENOTFOUND;
    }
    take_body(d, &t, 0, d->len, 1);
    d->bare = true;
    return PONS_OK;
}

int pons__ws_data_find(pons_ws_doc *d, pons_error *err)
{
    bool lists = false;
    for (size_t p = 0; p < d->info->n_places; p++) {
        lists = lists || d->info->places[p].paths[0];
    }
    if (!lists) {
        return PONS_ENOTFOUND;
    }
    const int rc = find_fence(d, err);
    return rc == PONS_ENOTFOUND ? find_bare(d, err) : rc;
}

// ---- records ------------------------------------------------------------------------------------

static uint32_t line_of(const pons_ws_doc *d, size_t node)
{
    const uint32_t line = d->tree.nodes[node].line;
    return d->body_line + (line ? line : 1) - 1;
}

static uint32_t column_of(const pons_ws_doc *d, size_t node)
{
    const uint32_t column = d->tree.nodes[node].column;
    return column ? column : 1;
}

// What a map's key says is put into the record; false: the record says another id.
static bool add_key(ws_kind kind, const char *key, pons_value *raw, char what[WS_WHAT_MAX])
{
    const char *id_field = pons__ws_kind_of(kind)->id;
    const char *colons = kind == WS_OBJECT ? strstr(key, "::") : NULL;
    const char *id = colons ? colons + 2 : key;
    const char *said = pons_get_str(raw, id_field, NULL);
    if (!id_field) {
        return true;
    }
    if (!said && kind == WS_ROBOT_STATE) {
        said = pons_get_str(raw, "id", NULL);
    }
    if (said && strcmp(said, id) != 0 && strcmp(said, key) != 0) {
        snprintf(what, WS_WHAT_MAX, "its key is '%.60s' and its %s '%.60s'", key, id_field, said);
        return false;
    }
    if (colons && !pons_get(raw, "target")) {
        json_object_set_new(raw, "target", json_stringn(key, (size_t)(colons - key)));
    }
    if (!said || strcmp(said, id) != 0) {
        json_object_set_new(raw, id_field, json_string(id));
    }
    return true;
}

// The id that a record that is wrong would have had, for its fault; "" when none can be told.
static char *id_of(ws_kind kind, const pons_value *raw, const char *key)
{
    const char *field = pons__ws_kind_of(kind)->id;
    const char *id = field ? pons_get_str(raw, field, NULL) : NULL;
    id = id ? id : key ? key : pons_get_str(raw, "id", "");
    return pons_need_text(id);
}

// One action that is the whole file may be without a name: PhyAgentOS's agent writes it so. It is called by what it
// asks for, until who does it has given it a name of its own. Takes the value.
static pons_value *named(pons_value *take)
{
    char hash[33], id[32];
    pons_autovalue raw = take;
    pons_value *full = json_copy(raw);
    const pons_value *params = pons_get(raw, "params");
    pons_autovalue asked =
        pons_object("type", pons_optional(pons_get(raw, "action_type")), "params",
                    pons_optional(params ? params : pons_get(raw, "parameters")), NULL);
    pons_value_hash(asked, hash);
    snprintf(id, sizeof id, PONS_WS_UNNAMED "%.8s", hash);
    json_object_set_new(full, "action_id", json_string(id));
    return full;
}

// A name in backticks is code for the name, in JSON as in a table: letters, digits and _, two of them or more.
static void take_backticks_off(pons_value *action)
{
    const char *type = pons_get_str(action, "action_type", "");
    const size_t n = *type == '`' ? strspn(type + 1, "abcdefghijklmnopqrstuvwxyz_0123456789") : 0;
    if (n > 1 && strcmp(type + 1 + n, "`") == 0) {
        json_object_set_new(action, "action_type", json_stringn(type + 1, n));
    }
}

static void read_item(pons_ws_doc *d, size_t list, size_t node)
{
    const ws_list *l = &d->lists[list];
    const char *kind = pons__ws_kind_of(l->kind)->name;
    const char *key = l->map && !l->single ? d->tree.nodes[node].key : NULL;
    char what[WS_WHAT_MAX] = "", path[64] = "";
    bool faulty;
    size_t where = pons_tree_fault(&d->tree, node, &faulty);
    pons_value *raw = pons_tree_value(&d->tree, node);
    pons_value *value = NULL;
    if (faulty) {
        snprintf(what, sizeof what, "%s", d->tree.nodes[where].fault);
    } else {
        pons_autovalue full = key ? json_deep_copy(raw) : pons_value_ref(raw);
        if (l->single && l->kind == WS_ACTION && !pons_get(raw, "action_id") &&
            !pons_get(raw, "id")) {
            full = named(full);
        }
        if (!key || !json_is_object(full) || add_key(l->kind, key, full, what)) {
            value = pons__ws_record_read(l->kind, full, what, path);
        }
        if (value && l->kind == WS_ACTION) {
            take_backticks_off(value);
        }
        const size_t at = value || !*path ? SIZE_MAX : pons__ws_data_path(&d->tree, node, path);
        where = at == SIZE_MAX ? node : at;
    }
    if (!value) {
        char *id = id_of(l->kind, raw, key);
        pons__ws_doc_fault(d, kind, id, line_of(d, where), column_of(d, where), what);
        free(id);
        pons_value_unref(raw);
        return;
    }
    const ws_entry e = {.kind = l->kind, .raw = raw, .node = node, .list = list};
    pons__ws_doc_add(d, e, value, line_of(d, node), column_of(d, node));
}

// Whether the whole is one record, without a list: an action, or a target's profile.
static bool is_one_record(const pons_ws_doc *d)
{
    return (d->file == PONS_WS_ACTION && pons_tree_member(&d->tree, d->base, "action_type")) ||
           (d->file == PONS_WS_TARGETS && pons_tree_member(&d->tree, d->base, "profile_id"));
}

static void read_list(pons_ws_doc *d, ws_kind kind, size_t node, const char *path)
{
    const pons_node *n = &d->tree.nodes[node];
    const bool map = n->kind == PONS_NODE_MAP;
    char what[WS_WHAT_MAX];
    bool single = map && strcmp(path, "robot") == 0; // of v1
    single = single || (map && node == d->base && is_one_record(d));
    if (n->kind == PONS_NODE_SCALAR && !json_is_null(n->scalar)) {
        snprintf(what, sizeof what, "%s must be a list", *path ? path : "the whole");
        pons__ws_doc_fault(d, pons__ws_kind_of(kind)->name, "", line_of(d, node),
                           column_of(d, node), what);
        return;
    }
    if (n->fault) {
        pons__ws_doc_fault(d, pons__ws_kind_of(kind)->name, "", line_of(d, node),
                           column_of(d, node), n->fault);
        return;
    }
    d->lists = pons_need_more(d->lists, (d->n_lists + 1) * sizeof *d->lists);
    d->lists[d->n_lists++] = (ws_list){.kind = kind, .node = node, .map = map, .single = single};
    const size_t list = d->n_lists - 1, end = node + n->size;
    if (single) {
        read_item(d, list, node);
        return;
    }
    for (size_t i = node + 1; i < end; i += d->tree.nodes[i].size) {
        read_item(d, list, i);
    }
}

// Whether a member of the base is, or has in it, one of the lists; *ret_whole: all of it is.
static bool is_list(const pons_ws_doc *d, const char *key, bool *ret_whole)
{
    const size_t n = strlen(key);
    *ret_whole = false;
    for (size_t p = 0; p < d->info->n_places; p++) {
        for (int i = 0; i < WS_PATHS_MAX && d->info->places[p].paths[i]; i++) {
            const char *path = d->info->places[p].paths[i];
            if (strncmp(path, key, n) == 0 && (path[n] == '\0' || path[n] == '.')) {
                *ret_whole = *ret_whole || path[n] == '\0';
                return true;
            }
        }
    }
    return false;
}

// What ENVIRONMENT says beside its lists is one record.
static void read_scene(pons_ws_doc *d)
{
    pons_value *raw = pons_tree_value(&d->tree, d->base);
    char what[WS_WHAT_MAX] = "", path[64] = "";
    bool faulty = false, whole;
    size_t where = d->base;
    const size_t end = d->base + d->tree.nodes[d->base].size;
    for (size_t i = d->base + 1; i < end && !faulty; i += d->tree.nodes[i].size) {
        const char *key = d->tree.nodes[i].key;
        if (!key || !is_list(d, key, &whole)) {
            where = pons_tree_fault(&d->tree, i, &faulty);
        }
    }
    for (size_t p = 0; p < d->info->n_places; p++) {
        for (int i = 0; i < WS_PATHS_MAX && d->info->places[p].paths[i]; i++) {
            if (*d->info->places[p].paths[i]) {
                pons__ws_path_remove(raw, d->info->places[p].paths[i]);
            }
        }
    }
    pons_autovalue full = json_deep_copy(raw);
    for (int k = 0; k < PONS_WS_DIALECTS; k++) {
        const char *is = pons_get_str(full, "schema_version", "");
        if (strcmp(is, d->info->format[k]) == 0 || strcmp(is, STATE_FILE_SCENE) == 0) {
            json_object_set_new(full, "schema_version", json_string(d->info->format[PONS_WS_SEED]));
        }
    }
    pons_value *value = faulty ? NULL : pons__ws_record_read(WS_SCENE, full, what, path);
    if (value) {
        const ws_entry e = {.kind = WS_SCENE, .raw = raw, .node = d->base, .list = SIZE_MAX};
        pons__ws_doc_add(d, e, value, line_of(d, d->base), column_of(d, d->base));
        return;
    }
    if (faulty) {
        snprintf(what, sizeof what, "%s", d->tree.nodes[where].fault);
    } else {
        const size_t at = *path ? pons__ws_data_path(&d->tree, d->base, path) : SIZE_MAX;
        where = at == SIZE_MAX ? d->base : at;
    }
    pons__ws_doc_fault(d, "scene", "scene", line_of(d, where), column_of(d, where), what);
    pons_value_unref(raw);
}

// ENVIRONMENT as a map from ids to objects, and nothing else.
static bool is_bare_map(const pons_ws_doc *d)
{
    const pons_node *base = &d->tree.nodes[d->base];
    bool whole;
    for (size_t i = d->base + 1; i < d->base + base->size; i += d->tree.nodes[i].size) {
        if (d->tree.nodes[i].kind != PONS_NODE_MAP || is_list(d, d->tree.nodes[i].key, &whole) ||
            strcmp(d->tree.nodes[i].key, "perception") == 0 ||
            strcmp(d->tree.nodes[i].key, "map") == 0 || strcmp(d->tree.nodes[i].key, "tf") == 0) {
            return false;
        }
    }
    return base->kind == PONS_NODE_MAP && base->size > 1;
}

// Beside the lists, a fault is the file's, and blocks no record.
static void tell_others(pons_ws_doc *d)
{
    bool faulty, whole;
    const size_t end = d->base + d->tree.nodes[d->base].size;
    for (size_t i = d->base + 1; i < end; i += d->tree.nodes[i].size) {
        const char *key = d->tree.nodes[i].key;
        const bool list = key && is_list(d, key, &whole);
        const size_t at = list && !d->tree.nodes[i].fault ? (faulty = false, i)
                                                          : pons_tree_fault(&d->tree, i, &faulty);
        if (faulty) {
            pons__ws_doc_fault(d, "file", "", line_of(d, at), column_of(d, at),
                               d->tree.nodes[at].fault);
        }
    }
}

void pons__ws_data_read(pons_ws_doc *d)
{
    const pons_node *base = &d->tree.nodes[d->base];
    const ws_place *first = &d->info->places[0];
    if (base->kind == PONS_NODE_LIST && d->file != PONS_WS_ENVIRONMENT) {
        read_list(d, first->kind, d->base, "");
        return;
    }
    if (base->kind != PONS_NODE_MAP) {
        pons__ws_doc_fault(d, "file", "", line_of(d, d->base), column_of(d, d->base),
                           "it must be a map");
        return;
    }
    if (is_one_record(d)) {
        read_list(d, first->kind, d->base, "");
        return;
    }
    if (d->file == PONS_WS_ENVIRONMENT && is_bare_map(d)) {
        read_list(d, WS_OBJECT, d->base, "");
        return;
    }
    if (first->kind == WS_SCENE) {
        read_scene(d);
    } else {
        tell_others(d);
    }
    for (size_t p = 0; p < d->info->n_places; p++) {
        const ws_place *place = &d->info->places[p];
        size_t seen[WS_PATHS_MAX], n = 0;
        for (int i = 0; i < WS_PATHS_MAX && place->paths[i]; i++) {
            const size_t at = *place->paths[i]
                                  ? pons__ws_data_path(&d->tree, d->base, place->paths[i])
                                  : SIZE_MAX;
            bool again = at == SIZE_MAX;
            for (size_t k = 0; k < n; k++) {
                again = again || seen[k] == at;
            }
            if (!again) {
                seen[n++] = at;
                read_list(d, place->kind, at, place->paths[i]);
            }
        }
    }
}
