// bt.c - definitions: how they are held, loaded, and registered leaves.
//
// The whole of src/bt in one picture:
//
//     mdsl.c  mdsl_json.c ──► bt_ast ──► build.c ─┐
//     xml.c ──► elements, subtrees, boards ───────┤
//                                                 ▼
//     pons_bt: nodes in pre-order, children by index, names interned, one arena      (immutable)
//                                                 │ pons_bt_tree_create
//                                                 ▼
//     pons_bt_tree: state[], mem[], slots[] beside it       tick_mdsl.c  tick_xml.c  nav2.c
//
// The two formats share the model, the save and the drawing, and differ in how a node is ticked:
// mistreevous keeps resolved children until the whole tree is reset, BehaviorTree.CPP resets the
// children of what completes. Neither is expressed by the other; each engine is one recursive
// function over the flat array.
//
// Every fault of a text is collected, not only the first: a loader goes on as far as it can with
// what it has read, and gives up the definition at the end.
#include "bt/bt_internal.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const bt_type_info bt_types[BT_TYPE_COUNT] = {
#define BT_TYPE_INFO(sym, word, least, most) [sym] = {word, least, most},
    BT_TYPES(BT_TYPE_INFO)
#undef BT_TYPE_INFO
};

enum { CHUNK_LEAST = 2 << 10, CHUNK_MOST = 64 << 10 }; // [bytes] as much again, up to the most
struct bt_chunk {
    bt_chunk *next;
};

struct pons_bt_registry {
    pons_bt_leaf *leaves;
    size_t n, cap;
    struct enumerator {
        char *name;
        int64_t value;
    } * enums;
    size_t n_enums;
};

static int read_file(const char *path, char **ret, size_t *ret_len, pons_error *err);
static pons_bt_format format_of(const char *path);
static pons_value *faults_list(const bt_faults *f);
static int load(const char *text, size_t len, const char *file, bool is_file,
                const pons_bt_load_options *opts, pons_bt **ret, pons_value **ret_faults,
                pons_error *err);

const char *pons_bt_status_word(pons_bt_format format, pons_bt_status status)
{
    static const char *const mdsl[] = {"READY", "RUNNING", "SUCCEEDED", "FAILED", "SKIPPED"};
    static const char *const xml[] = {"IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED"};
    return (unsigned)status > PONS_BT_SKIPPED ? "?" : (format == PONS_BT_XML ? xml : mdsl)[status];
}

int pons_bt_load(const char *text, size_t len, const pons_bt_load_options *opts, pons_bt **ret,
                 pons_value **ret_faults, pons_error *err)
{
    return load(text, len, opts && opts->name ? opts->name : "text", false, opts, ret, ret_faults,
                err);
}

int pons_bt_load_file(const char *path, const pons_bt_load_options *opts, pons_bt **ret,
                      pons_value **ret_faults, pons_error *err)
{
    char *text = NULL;
    size_t len = 0;
    pons_bt_load_options o = opts ? *opts : (pons_bt_load_options){0};
    if (o.format == PONS_BT_AUTO && (o.format = format_of(path)) == PONS_BT_AUTO) {
        pons_error_set(err, PONS_EINVAL, "bt", "a tree's file ends in .mdsl, .json or .xml");
        pons_error_source(err, "%s", path);
        return PONS_EINVAL;
    }
    int rc = read_file(path, &text, &len, err);
    rc = rc < 0 ? rc : load(text, len, path, true, &o, ret, ret_faults, err);
    free(text);
    return rc;
}

pons_bt *pons_bt_ref(pons_bt *bt)
{
    __atomic_add_fetch(&bt->refs, 1, __ATOMIC_RELAXED);
    return bt;
}

void pons_bt_unref(pons_bt *bt)
{
    if (!bt || __atomic_sub_fetch(&bt->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (uint32_t i = 0; i < bt->n_values; i++) {
        pons_value_unref(bt->values[i]);
    }
    free(bt->values);
    free(bt->nodes);
    free(bt->hot);
    free(bt->kids);
    free(bt->names);
    free(bt->name_hash);
    free(bt->slots);
    bt_arena_fini(&bt->arena);
    free(bt);
}

pons_bt_format pons_bt_format_of(const pons_bt *bt)
{
    return bt->format;
}

static int calls_of(const pons_bt *bt, uint32_t i, pons_bt_calls_fn fn, void *user, pons_error *err)
{
    const bt_node *n = &bt->nodes[i];
    const bool mdsl = bt->format != PONS_BT_XML;
    const bt_guard *g = mdsl && n->guard && n->guard->node == i ? n->guard : NULL; // its own
    const bt_attrs *a = mdsl ? n->attrs : NULL;
    const bt_call_def *all[] = {g ? g->on[0] : NULL, g ? g->on[1] : NULL, a ? a->entry : NULL,
                                a ? a->step : NULL,  a ? a->exit : NULL,  n->call};
    int rc = PONS_OK;
    for (size_t k = 0; k < sizeof all / sizeof *all && rc >= 0; k++) {
        rc = all[k] ? fn(user, all[k]->name, all[k]->args, err) : rc;
    }
    if (rc < 0) {
        pons_error_source(err, "%s:%u:%u", n->pos.file, n->pos.line, n->pos.col);
    }
    return rc;
}

int pons_bt_calls(const pons_bt *bt, pons_bt_calls_fn fn, void *user, pons_error *err)
{
    int rc = PONS_OK;
    for (uint32_t i = 0; i < bt->n_nodes && rc >= 0; i++) {
        rc = calls_of(bt, i, fn, user, err);
    }
    return rc;
}

uint32_t pons_bt_nodes(const pons_bt *bt)
{
    return bt->n_nodes;
}

size_t pons_bt_bytes(const pons_bt *bt)
{
    return sizeof *bt + bt->arena.bytes + bt->cap_nodes * sizeof *bt->nodes +
           bt->n_nodes * sizeof *bt->hot + bt->n_kids * sizeof *bt->kids +
           bt->cap_names * sizeof *bt->names + ((size_t)bt->name_mask + 1) * sizeof *bt->name_hash +
           bt->cap_slots * sizeof *bt->slots + bt->cap_values * sizeof *bt->values;
}

pons_bt_registry *pons_bt_registry_create(void)
{
    return calloc(1, sizeof(pons_bt_registry));
}

void pons_bt_registry_destroy(pons_bt_registry *r)
{
    for (size_t i = 0; r && i < r->n; i++) {
        pons_bt_leaf *l = &r->leaves[i];
        for (size_t p = 0; p < l->n_ports; p++) {
            free((char *)l->ports[p].name);
            free((char *)l->ports[p].type);
            free((char *)l->ports[p].fallback);
        }
        free((void *)l->ports);
        free((char *)l->name);
    }
    if (r) {
        for (size_t i = 0; i < r->n_enums; i++) {
            free(r->enums[i].name);
        }
        free(r->enums);
        free(r->leaves);
    }
    free(r);
}

int pons_bt_register(pons_bt_registry *r, const pons_bt_leaf *leaf, pons_error *err)
{
    if (bt_leaf_of(r, leaf->name)) {
        return pons_error_set(err, PONS_EEXIST, "bt", "a leaf named '%s' is registered already",
                              leaf->name);
    }
    if (r->n == r->cap) {
        const size_t cap = r->cap ? r->cap * 2 : 16;
        pons_bt_leaf *grown = realloc(r->leaves, cap * sizeof *grown);
        if (!grown) {
            return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for leaf '%s'", leaf->name);
        }
        r->leaves = grown;
        r->cap = cap;
    }
    pons_bt_leaf *l = &r->leaves[r->n];
    *l = *leaf;
    l->name = strdup(leaf->name);
    pons_bt_port *ports = leaf->ports ? calloc(leaf->n_ports + 1, sizeof *ports) : NULL;
    bool ok = l->name && (ports || !leaf->ports);
    for (size_t i = 0; ok && ports && i < leaf->n_ports; i++) {
        ports[i] = leaf->ports[i];
        ports[i].name = strdup(leaf->ports[i].name);
        ports[i].type = strdup(leaf->ports[i].type ? leaf->ports[i].type : "any");
        ports[i].fallback = leaf->ports[i].fallback ? strdup(leaf->ports[i].fallback) : NULL;
    }
    l->ports = ports;
    if (!ok) {
        free((char *)l->name);
        free(ports);
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for leaf '%s'", leaf->name);
    }
    r->n++;
    return PONS_OK;
}

int pons_bt_register_enum(pons_bt_registry *r, const char *name, int64_t value, pons_error *err)
{
    double known;
    if (bt_enum_of(r, name, &known)) {
        return pons_error_set(err, PONS_EEXIST, "bt", "an enum named '%s' is registered already",
                              name);
    }
    struct enumerator *grown = realloc(r->enums, (r->n_enums + 1) * sizeof *grown);
    char *copy = strdup(name);
    r->enums = grown ? grown : r->enums;
    if (!grown || !copy) {
        free(copy);
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for enum '%s'", name);
    }
    r->enums[r->n_enums++] = (struct enumerator){copy, value};
    return PONS_OK;
}

bool bt_enum_of(const pons_bt_registry *r, const char *name, double *ret)
{
    for (size_t i = 0; r && i < r->n_enums; i++) {
        if (strcmp(r->enums[i].name, name) == 0) {
            *ret = (double)r->enums[i].value;
            return true;
        }
    }
    return false;
}

const pons_bt_leaf *bt_leaf_of(const pons_bt_registry *r, const char *name)
{
    for (size_t i = 0; r && i < r->n; i++) {
        if (strcmp(r->leaves[i].name, name) == 0) {
            return &r->leaves[i];
        }
    }
    return NULL;
}

// ---------------------------------------------------------------- building

pons_bt *bt_create(pons_bt_format format, const char *file)
{
    pons_bt *bt = calloc(1, sizeof *bt);
    if (bt) {
        bt->refs = 1;
        bt->format = format;
        bt->file = bt_strndup(&bt->arena, file, strlen(file));
    }
    return bt;
}

bt_node *bt_push(pons_bt *bt, bt_type type, bt_pos pos)
{
    if (bt->n_nodes == bt->cap_nodes) {
        const uint32_t cap = bt->cap_nodes ? bt->cap_nodes * 2 : 64;
        bt_node *grown =
            bt->n_nodes < BT_NODES_MAX ? realloc(bt->nodes, cap * sizeof *grown) : NULL;
        if (!grown) {
            return NULL;
        }
        bt->nodes = grown;
        bt->cap_nodes = cap;
    }
    bt_node *n = &bt->nodes[bt->n_nodes++];
    *n = (bt_node){.type = (uint8_t)type, .pos = pos, .low = -1, .high = -1};
    return n;
}

static uint32_t hash_of(const char *s)
{
    uint32_t h = 2166136261u; // FNV-1a
    for (; *s; s++) {
        h = (h ^ (uint8_t)*s) * 16777619u;
    }
    return h;
}

static int names_grow(pons_bt *bt)
{
    const uint32_t cap = bt->cap_names ? bt->cap_names * 2 : 32;
    const char **names = realloc(bt->names, cap * sizeof *names);
    if (!names) {
        return PONS_ENOMEM;
    }
    bt->names = names;
    uint32_t *table = calloc((size_t)cap * 2, sizeof *table);
    if (!table) {
        return PONS_ENOMEM;
    }
    free(bt->name_hash);
    bt->name_hash = table;
    bt->cap_names = cap;
    bt->name_mask = cap * 2 - 1;
    for (uint32_t i = 0; i < bt->n_names; i++) {
        uint32_t at = hash_of(bt->names[i]) & bt->name_mask;
        while (table[at]) {
            at = (at + 1) & bt->name_mask;
        }
        table[at] = i + 1;
    }
    return PONS_OK;
}

int32_t bt_name(pons_bt *bt, const char *name)
{
    if (bt->n_names == bt->cap_names && names_grow(bt) < 0) {
        return PONS_ENOMEM;
    }
    uint32_t at = hash_of(name) & bt->name_mask;
    for (; bt->name_hash[at]; at = (at + 1) & bt->name_mask) {
        if (strcmp(bt->names[bt->name_hash[at] - 1], name) == 0) {
            return (int32_t)bt->name_hash[at] - 1;
        }
    }
    const char *copy = bt_strndup(&bt->arena, name, strlen(name));
    if (!copy) {
        return PONS_ENOMEM;
    }
    bt->names[bt->n_names] = copy;
    bt->name_hash[at] = ++bt->n_names;
    return (int32_t)bt->n_names - 1;
}

int bt_keep(pons_bt *bt, pons_value *v)
{
    if (v && bt->n_values == bt->cap_values) {
        const uint32_t cap = bt->cap_values ? bt->cap_values * 2 : 16;
        pons_value **grown = realloc(bt->values, cap * sizeof(pons_value *));
        if (!grown) {
            pons_value_unref(v);
            return PONS_ENOMEM;
        }
        bt->values = grown;
        bt->cap_values = cap;
    }
    if (v) {
        bt->values[bt->n_values++] = v;
    }
    return PONS_OK;
}

static bt_hot hot_of(const pons_bt *bt, uint32_t i)
{
    const bt_node *n = &bt->nodes[i];
    const bool action = n->type == M_ACTION || n->type == X_ACTION;
    const bool condition = n->type == M_CONDITION || n->type == X_CONDITION;
    bt_hot h = {.type = n->type,
                .has_more = bt->format == PONS_BT_XML ? n->conds != NULL : n->guard || n->attrs,
                .all = n->end == i + 1 + n->n_kids ? BT_LEAVES : 0,
                .fn = n->fn,
                .n_kids = n->n_kids,
                .kids = n->kids,
                .call = n->call,
                .name = n->call ? n->call->name : NULL};
    if ((action || condition) && n->call && !h.has_more) {
        h.plain = action ? PONS_BT_RUNNING : PONS_BT_SUCCESS;
    }
    return h;
}

// Children by index and guards by chain, from parents; the hash of the structure.
int bt_finish(pons_bt *bt)
{
    const uint32_t n = bt->n_nodes;
    uint64_t h = 14695981039346656037ULL;
    bt->n_kids = n > 0 ? n - 1 : 0;
    bt->kids = calloc(n ? n : 1, sizeof *bt->kids);
    bt->hot = calloc(n ? n : 1, sizeof *bt->hot);
    bt_node *fitting = realloc(bt->nodes, (n ? n : 1) * sizeof *fitting); // only what is needed
    bt->nodes = fitting ? fitting : bt->nodes;
    bt->cap_nodes = fitting ? n : bt->cap_nodes;
    if (!bt->kids || !bt->hot) {
        return PONS_ENOMEM;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) { // room for each node's children
        bt->nodes[i].kids = at;
        at += bt->nodes[i].n_kids;
        bt->nodes[i].n_kids = 0;
        bt->nodes[i].end = i + 1;
    }
    for (uint32_t i = 1; i < n; i++) {
        bt_node *p = &bt->nodes[bt->nodes[i].parent];
        bt->kids[p->kids + p->n_kids++] = i;
    }
    for (uint32_t i = n; i-- > 1;) {
        bt_node *p = &bt->nodes[bt->nodes[i].parent];
        p->end = p->end > bt->nodes[i].end ? p->end : bt->nodes[i].end;
    }
    for (uint32_t i = 0; i < n; i++) {
        const bt_node *x = &bt->nodes[i];
        const char *name = x->call ? x->call->name : x->id ? x->id : "";
        bt->nodes[i].fn = x->call ? x->call->fn : 0;
        h = (h ^ x->type) * 1099511628211ULL;
        h = (h ^ x->n_kids) * 1099511628211ULL;
        h = (h ^ hash_of(name)) * 1099511628211ULL;
    }
    for (uint32_t i = n; i-- > 0;) { // the children before their parent
        bt_hot *x = &bt->hot[i];
        *x = hot_of(bt, i);
        bool plain = x->all == BT_LEAVES;
        for (uint32_t k = 1; k <= x->n_kids && plain; k++) {
            plain = x[k].plain != 0;
        }
        x->all |= plain ? BT_PLAIN : 0;
    }
    snprintf(bt->hash, sizeof bt->hash, "%u-%016llx", n, (unsigned long long)h);
    return PONS_OK;
}

// ---------------------------------------------------------------- memory, faults

void *bt_alloc(bt_arena *a, size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (n > a->left) {
        const size_t more = a->bytes < CHUNK_LEAST  ? CHUNK_LEAST
                            : a->bytes > CHUNK_MOST ? CHUNK_MOST
                                                    : a->bytes;
        const size_t room = n > more ? n : more;
        bt_chunk *c = calloc(1, room + 16);
        if (!c) {
            return NULL;
        }
        c->next = a->head;
        a->head = c;
        a->at = (char *)c + 16;
        a->left = room;
        a->bytes += room + 16;
    }
    void *p = a->at;
    a->at += n;
    a->left -= n;
    return p;
}

char *bt_strndup(bt_arena *a, const char *s, size_t n)
{
    char *p = bt_alloc(a, n + 1);
    if (p) {
        memcpy(p, s, n);
    }
    return p;
}

void bt_arena_fini(bt_arena *a)
{
    while (a->head) {
        bt_chunk *next = a->head->next;
        free(a->head);
        a->head = next;
    }
    *a = (bt_arena){0};
}

void bt_keep_utf8(char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        const size_t n = pons_utf8_sequence(text + i, len - i);
        if (n == 0) {
            text[i] = '?';
        }
        i += n ? n : 1;
    }
}

void bt_fault(bt_faults *f, bt_pos pos, const char *fmt, ...)
{
    if (f->n == BT_FAULTS_MAX) {
        return;
    }
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    bt_keep_utf8(text);
    char *file = strdup(pos.file); // the loader's own names do not outlive it
    f->message[f->n] = strdup(text);
    if (!file || !f->message[f->n]) {
        free(file);
        free(f->message[f->n]);
        f->nomem = true;
        return;
    }
    f->pos[f->n++] = (bt_pos){file, pos.line, pos.col};
}

void bt_faults_fini(bt_faults *f)
{
    while (f->n > 0) {
        free(f->message[--f->n]);
        free((char *)f->pos[f->n].file);
    }
}

static pons_value *faults_list(const bt_faults *f)
{
    pons_value *list = json_array();
    for (int i = 0; i < f->n; i++) {
        json_array_append_new(list, pons_object("file", json_string(f->pos[i].file), "line",
                                                json_integer(f->pos[i].line), "col",
                                                json_integer(f->pos[i].col), "message",
                                                json_string(f->message[i]), NULL));
    }
    return list;
}

// In the order of the text; faults found later stay behind those found earlier at the same place.
static void faults_sort(bt_faults *f)
{
    for (int i = 1; i < f->n; i++) {
        for (int j = i; j > 0; j--) {
            const bt_pos a = f->pos[j - 1], b = f->pos[j];
            if (strcmp(a.file, b.file) != 0 || a.line < b.line ||
                (a.line == b.line && a.col <= b.col)) {
                break;
            }
            char *m = f->message[j];
            f->pos[j] = a;
            f->pos[j - 1] = b;
            f->message[j] = f->message[j - 1];
            f->message[j - 1] = m;
        }
    }
}

// XML is checked by its parser. pos: where it is not, when it is not.
static bool is_utf8(const char *text, size_t len, bt_pos *pos)
{
    uint32_t line = 1, col = 1;
    for (size_t i = 0; i < len;) {
        const size_t n = (unsigned char)text[i] < 0x80 ? 1 : pons_utf8_sequence(text + i, len - i);
        if (n == 0) {
            pos->line = line;
            pos->col = col;
            return false;
        }
        line += text[i] == '\n';
        col = text[i] == '\n' ? 1 : col + (uint32_t)n;
        i += n;
    }
    return true;
}

static int load(const char *text, size_t len, const char *file, bool is_file,
                const pons_bt_load_options *opts, pons_bt **ret, pons_value **ret_faults,
                pons_error *err)
{
    const pons_bt_load_options none = {0};
    const pons_bt_load_options *o = opts ? opts : &none;
    const pons_bt_format format = o->format != PONS_BT_AUTO ? o->format : format_of(file);
    bt_faults faults = {.n = 0};
    pons_bt *bt = NULL;
    bt_pos top = {file, 1, 1};
    int rc = PONS_OK;
    if (len > BT_FILE_MAX) {
        bt_fault(&faults, top, "the file is larger than %d MiB", BT_FILE_MAX >> 20);
    } else if (memchr(text, 0, len)) {
        bt_fault(&faults, top, "a zero byte in the text");
    } else if (format != PONS_BT_XML && !is_utf8(text, len, &top)) {
        bt_fault(&faults, top, "the text is not UTF-8");
    } else if (format == PONS_BT_MDSL) {
        rc = bt_load_mdsl(text, len, file, o, &faults, &bt);
    } else if (format == PONS_BT_JSON) {
        rc = bt_load_json(text, len, file, o, &faults, &bt);
    } else if (format == PONS_BT_XML) {
        rc = bt_load_xml(text, len, file, is_file, o, &faults, &bt);
    } else {
        rc = pons_error_set(err, PONS_EINVAL, "bt", "no format is given for '%s'", file);
        return rc;
    }
    if (rc == PONS_ENOMEM || faults.nomem) {
        rc = pons_error_set(err, PONS_ENOMEM, "bt", "no memory for the tree of '%s'", file);
    } else if (faults.n > 0) {
        faults_sort(&faults);
        rc = pons_error_set(err, PONS_EINVAL, "bt", "%s%s",
                            format == PONS_BT_XML ? "" : "invalid definition: ", faults.message[0]);
        pons_error_source(err, "%s:%u:%u", faults.pos[0].file, faults.pos[0].line,
                          faults.pos[0].col);
        if (ret_faults) {
            *ret_faults = faults_list(&faults);
        }
    }
    bt_faults_fini(&faults);
    if (rc < 0) {
        pons_bt_unref(bt);
        return rc;
    }
    *ret = bt;
    return PONS_OK;
}

static pons_bt_format format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return !dot                        ? PONS_BT_AUTO
           : strcmp(dot, ".mdsl") == 0 ? PONS_BT_MDSL
           : strcmp(dot, ".json") == 0 ? PONS_BT_JSON
           : strcmp(dot, ".xml") == 0  ? PONS_BT_XML
                                       : PONS_BT_AUTO;
}

// A pipe or a device could keep its reader waiting for ever.
FILE *bt_open(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !f) {
        close(fd);
    }
    return f;
}

static int read_file(const char *path, char **ret, size_t *ret_len, pons_error *err)
{
    FILE *f = bt_open(path);
    char *text = f ? malloc(BT_FILE_MAX + 2) : NULL;
    if (!f) {
        pons_error_set(err, PONS_ENOTFOUND, "bt", "cannot read the tree's file");
        pons_error_source(err, "%s", path);
        return PONS_ENOTFOUND;
    }
    const size_t n = text ? fread(text, 1, BT_FILE_MAX + 1, f) : 0;
    const bool bad = !text || ferror(f);
    fclose(f);
    if (bad) {
        free(text);
        pons_error_set(err, text ? PONS_EIO : PONS_ENOMEM, "bt", "cannot read the tree's file");
        pons_error_source(err, "%s", path);
        return PONS_EIO;
    }
    text[n] = '\0';
    *ret = text;
    *ret_len = n;
    return PONS_OK;
}
