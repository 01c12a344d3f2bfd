// xml.c - BehaviorTree.CPP v4 XML into a definition.
//
// expat gives elements with their positions; no DTD is read, so there are no entities but XML's own
// five. Trees and models are collected over all included files, then the main tree is built node by
// node, each SubTree in place with its blackboard. Remapping is known by then: a key of a subtree
// is resolved to the slot of the board where it ends, so a tree at work looks nothing up.
//
// Trees that the main one does not reach are built too, and dropped, to find their faults.
#include "bt/bt_internal.h"

#include <ctype.h>
#include <expat.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { INCLUDES_MAX = 64, PORTS_MAX = 64 };

typedef struct attr {
    const char *name, *value;
    struct attr *next;
} attr;

typedef struct elem {
    const char *tag;
    attr *attrs;
    bt_pos pos;
    struct elem *first, *last, *next, *parent;
    int n;
    bool said; // its faults have been reported
} elem;

typedef struct tree {
    const char *id;
    elem *e;
    bool open, seen; // being built; built once
    bool top;        // of the file itself, not of an included one
    struct tree *next;
} tree;

typedef struct model { // of TreeNodesModel
    const char *id;
    elem *e;
    bool subtree, condition, composite;
    struct model *next;
} model;

typedef struct remap {
    const char *key;
    int32_t slot;
    struct remap *next;
} remap;

typedef struct board {
    int32_t parent;
    bool autoremap;
    remap *remaps;
} board;

enum { KINDS_CACHED = 64 }; // a power of two

typedef struct kind {
    int type; // bt_type, or BT_NONE: unknown
    const bt_manifest *m;
    const pons_bt_leaf *leaf;
    const model *model;
} kind;

typedef struct loader {
    bt_arena *arena; // of the loading
    bt_faults *f;
    const pons_bt_load_options *o;
    pons_bt *bt;
    tree *trees, *last_tree;
    int n_top;
    model *models;
    const char *main_tree;
    char *files[INCLUDES_MAX];
    int n_files;
    board *boards;
    uint32_t n_boards, cap_boards;
    uint32_t *slot_hash; // slot + 1
    uint32_t slot_mask;
    const char *way[BT_DEPTH_MAX + 1]; // trees that are open
    int n_way;
    bool nomem, full;
    bool dollar; // no BTCPP_format: "${key}" is a pointer too, as when Nav2 began
    struct {     // what kind_of found last for a name
        const char *tag, *id;
        kind k;
    } kinds[KINDS_CACHED];
} loader;

typedef struct parse {
    loader *l;
    XML_Parser p;
    elem *root, *at;
    const char *file;
    int depth;
    bool stopped;
} parse;

static elem *parse_text(loader *l, const char *text, size_t len, const char *file);
static void read_root(loader *l, const elem *root, bool top, bool is_file);
static void build_tree(loader *l, tree *tr, uint32_t parent, int depth, int32_t on, bt_pos from);
static void build_node(loader *l, elem *e, uint32_t parent, int depth, int32_t on);
static int32_t slot_of(loader *l, int32_t on, const char *key);
static int32_t new_board(loader *l, int32_t parent, bool autoremap);

int bt_load_xml(const char *text, size_t len, const char *file, bool is_file,
                const pons_bt_load_options *o, bt_faults *f, pons_bt **ret)
{
    bt_arena arena = {0};
    loader l = {.arena = &arena, .f = f, .o = o, .bt = bt_create(PONS_BT_XML, file)};
    int rc = PONS_ENOMEM;
    if (!l.bt) {
        goto out;
    }
    const elem *root = parse_text(&l, text, len, l.bt->file);
    if (root) {
        read_root(&l, root, true, is_file);
    }
    tree *main_tree = NULL;
    const char *name = o->tree ? o->tree : l.main_tree;
    for (tree *tr = l.trees; tr; tr = tr->next) {
        if (name ? strcmp(tr->id, name) == 0 : tr->top && l.n_top == 1) {
            main_tree = tr;
        }
    }
    if (root && !main_tree && (f->n == 0 || name)) {
        if (!l.trees) {
            bt_fault(f, root->pos, "there is no <BehaviorTree>");
        } else if (name) {
            bt_fault(f, root->pos, "missing tree: there is no <BehaviorTree ID=\"%.60s\">", name);
        } else {
            bt_fault(f, root->pos, "there are several trees and no main_tree_to_execute");
        }
    }
    if (main_tree) {
        build_tree(&l, main_tree, 0, 1, new_board(&l, BT_NONE, false), main_tree->e->pos);
    }
    const uint32_t n_nodes = l.bt->n_nodes, n_slots = l.bt->n_slots, n_names = l.bt->n_names;
    for (tree *tr = l.trees; tr && !l.full && !l.nomem; tr = tr->next) {
        if (!tr->seen) {
            build_tree(&l, tr, 0, 1, new_board(&l, BT_NONE, false), tr->e->pos);
        }
    }
    l.bt->n_nodes = n_nodes; // what was built for its faults alone goes
    l.bt->n_slots = n_slots;
    l.bt->n_names = n_names;
    rc = l.nomem ? PONS_ENOMEM : f->n == 0 ? bt_finish(l.bt) : PONS_OK;
    if (rc == PONS_OK && f->n == 0) {
        *ret = l.bt;
        l.bt = NULL;
    }
out:
    for (int i = 0; i < l.n_files; i++) {
        free(l.files[i]);
    }
    free(l.boards);
    free(l.slot_hash);
    pons_bt_unref(l.bt);
    bt_arena_fini(&arena);
    return rc;
}

// ---------------------------------------------------------------- elements

static char *keep(loader *l, const char *s)
{
    char *c = bt_strndup(l->arena, s, strlen(s));
    l->nomem |= !c;
    return c ? c : (char *)"";
}

static bt_pos where(const parse *p)
{
    return (bt_pos){p->file, (uint32_t)XML_GetCurrentLineNumber(p->p),
                    (uint32_t)XML_GetCurrentColumnNumber(p->p) + 1};
}

static void on_start(void *user, const XML_Char *tag, const XML_Char **attrs)
{
    parse *p = user;
    loader *l = p->l;
    elem *e = p->stopped ? NULL : bt_alloc(l->arena, sizeof *e);
    if (!e) {
        l->nomem |= !p->stopped;
        p->stopped = true;
        XML_StopParser(p->p, XML_FALSE);
        return;
    }
    e->tag = keep(l, tag);
    e->pos = where(p);
    e->parent = p->at;
    attr **tail = &e->attrs;
    for (; *attrs; attrs += 2) {
        attr *a = bt_alloc(l->arena, sizeof *a);
        if (!a) {
            l->nomem = true;
            break;
        }
        a->name = keep(l, attrs[0]);
        a->value = keep(l, attrs[1]);
        *tail = a;
        tail = &a->next;
    }
    if (p->at) {
        *(p->at->last ? &p->at->last->next : &p->at->first) = e;
        p->at->last = e;
        p->at->n++;
    } else {
        p->root = e;
    }
    p->at = e;
    if (++p->depth > BT_DEPTH_MAX + 2) { // <root> and <BehaviorTree> do not count
        bt_fault(l->f, e->pos, "nodes are nested deeper than %d", BT_DEPTH_MAX);
        p->stopped = true;
        XML_StopParser(p->p, XML_FALSE);
    }
}

static void on_end(void *user, const XML_Char *tag)
{
    parse *p = user;
    (void)tag;
    if (!p->stopped) {
        p->at = p->at->parent;
        p->depth--;
    }
}

static void on_text(void *user, const XML_Char *s, int n)
{
    parse *p = user;
    int i = 0;
    while (i < n && isspace((unsigned char)s[i])) {
        i++;
    }
    if (i < n && !p->stopped && p->at && !p->at->said &&
        strcmp(p->at->tag, "MetadataFields") != 0 && !strstr(p->at->tag, "port") &&
        strcmp(p->at->tag, "description") != 0) {
        bt_fault(p->l->f, where(p), "unexpected text '%.*s' in <%.60s>", n - i > 40 ? 40 : n - i,
                 s + i, p->at->tag);
        p->at->said = true;
    }
}

// A document type could declare entities; none is needed for a tree.
static void on_doctype(void *user, const XML_Char *name, const XML_Char *sysid,
                       const XML_Char *pubid, int internal)
{
    parse *p = user;
    (void)name;
    (void)sysid;
    (void)pubid;
    (void)internal;
    bt_fault(p->l->f, where(p), "a document type (DTD) is not allowed, nor are entities");
    p->stopped = true;
    XML_StopParser(p->p, XML_FALSE);
}

// NULL, and a fault, when the text is no XML.
static elem *parse_text(loader *l, const char *text, size_t len, const char *file)
{
    parse p = {.l = l, .p = XML_ParserCreate(NULL), .file = file};
    if (!p.p) {
        l->nomem = true;
        return NULL;
    }
    XML_SetUserData(p.p, &p);
    XML_SetHashSalt(p.p, 0x706f6e73UL);
    XML_SetElementHandler(p.p, on_start, on_end);
    XML_SetCharacterDataHandler(p.p, on_text);
    XML_SetStartDoctypeDeclHandler(p.p, on_doctype);
    const enum XML_Status s = XML_Parse(p.p, text, (int)len, 1);
    if (s == XML_STATUS_ERROR && !p.stopped) {
        bt_fault(l->f, where(&p), "XML: %s", XML_ErrorString(XML_GetErrorCode(p.p)));
    }
    XML_ParserFree(p.p);
    return s == XML_STATUS_ERROR || p.stopped ? NULL : p.root;
}

static const char *attr_of(const elem *e, const char *name)
{
    for (const attr *a = e->attrs; a; a = a->next) {
        if (a->name[0] == name[0] && strcmp(a->name, name) == 0) {
            return a->value;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------- files

static void add_tree(loader *l, elem *e, bool top)
{
    const char *id = attr_of(e, "ID");
    if (!id || !*id) {
        bt_fault(l->f, e->pos, "<BehaviorTree> needs an ID");
        id = NULL;
    }
    for (const tree *tr = l->trees; id && tr; tr = tr->next) {
        if (strcmp(tr->id, id) == 0) {
            bt_fault(l->f, e->pos, "duplicate tree '%.60s', first at line %u", id, tr->e->pos.line);
            return;
        }
    }
    if (e->n != 1) {
        bt_fault(l->f, e->n > 1 ? e->first->next->pos : e->pos,
                 "<BehaviorTree ID=\"%.60s\"> must have exactly one child, not %d", id ? id : "",
                 e->n);
    }
    tree *tr = id ? bt_alloc(l->arena, sizeof *tr) : NULL;
    if (!tr) {
        l->nomem |= id != NULL;
        return;
    }
    *tr = (tree){.id = id, .e = e, .top = top};
    *(l->last_tree ? &l->last_tree->next : &l->trees) = tr;
    l->last_tree = tr;
    l->n_top += top;
}

static void add_models(loader *l, elem *list)
{
    for (elem *e = list->first; e; e = e->next) {
        const char *id = attr_of(e, "ID");
        model *m = bt_alloc(l->arena, sizeof *m);
        if (!m) {
            l->nomem = true;
            return;
        }
        if (!id) {
            bt_fault(l->f, e->pos, "<%.60s> in <TreeNodesModel> needs an ID", e->tag);
            continue;
        }
        *m =
            (model){.id = id,
                    .e = e,
                    .subtree = strncmp(e->tag, "SubTree", 7) == 0,
                    .condition = strcmp(e->tag, "Condition") == 0,
                    .composite = strcmp(e->tag, "Control") == 0 || strcmp(e->tag, "Decorator") == 0,
                    .next = l->models};
        for (const elem *p = e->first; p; p = p->next) {
            const bool port = strcmp(p->tag, "input_port") == 0 ||
                              strcmp(p->tag, "output_port") == 0 ||
                              strcmp(p->tag, "inout_port") == 0;
            if (port && !attr_of(p, "name")) {
                bt_fault(l->f, p->pos, "<%.60s> needs a name", p->tag);
            } else if (!port && strcmp(p->tag, "description") != 0 &&
                       strcmp(p->tag, "MetadataFields") != 0) {
                bt_fault(l->f, p->pos, "unexpected <%.60s> in a node's model", p->tag);
            }
        }
        l->models = m;
    }
}

static void include(loader *l, const elem *e)
{
    const char *path = attr_of(e, "path");
    char full[PATH_MAX];
    if (!path || attr_of(e, "ros_pkg")) {
        bt_fault(l->f, e->pos,
                 path ? "<include>: ros_pkg is not supported" : "<include> needs a path");
        return;
    }
    const char *slash = strrchr(e->pos.file, '/');
    const int n = *path == '/' || !slash ? snprintf(full, sizeof full, "%s", path)
                                         : snprintf(full, sizeof full, "%.*s/%s",
                                                    (int)(slash - e->pos.file), e->pos.file, path);
    char *real = n < (int)sizeof full ? realpath(full, NULL) : NULL;
    for (int i = 0; real && i < l->n_files; i++) {
        if (strcmp(l->files[i], real) == 0) {
            free(real); // once is enough, and a circle ends here
            return;
        }
    }
    FILE *f = real ? bt_open(real) : NULL;
    char *text = f && l->n_files < INCLUDES_MAX ? malloc(BT_FILE_MAX + 2) : NULL;
    if (!text) {
        bt_fault(l->f, e->pos,
                 l->n_files == INCLUDES_MAX ? "more than 64 files are included (%.200s)"
                                            : "cannot read the included file '%.200s'",
                 path);
        free(real);
        goto out;
    }
    l->files[l->n_files++] = real;
    const size_t len = fread(text, 1, BT_FILE_MAX + 1, f);
    const char *name = bt_strndup(&l->bt->arena, full, strlen(full));
    if (ferror(f) || !name || len > BT_FILE_MAX) {
        bt_fault(l->f, e->pos, "cannot read the included file '%.200s', or it is larger than 8 MiB",
                 path);
        goto out;
    }
    const elem *root = parse_text(l, text, len, name);
    if (root) {
        read_root(l, root, false, true);
    }
out:
    free(text);
    if (f) {
        fclose(f);
    }
}

static void read_root(loader *l, const elem *root, bool top, bool is_file)
{
    const char *format = attr_of(root, "BTCPP_format");
    if (strcmp(root->tag, "root") != 0) {
        bt_fault(l->f, root->pos, "the outermost element must be <root>, not <%.60s>", root->tag);
        return;
    }
    if (format && strcmp(format, "4") != 0) {
        bt_fault(l->f, root->pos, "BTCPP_format is \"%.20s\"; only \"4\" is read", format);
    }
    if (top) {
        l->dollar = !format;
        char *real = is_file ? realpath(l->bt->file, NULL) : NULL;
        l->main_tree = attr_of(root, "main_tree_to_execute");
        if (real) {
            l->files[l->n_files++] = real;
        }
    }
    for (elem *e = root->first; e; e = e->next) {
        if (strcmp(e->tag, "BehaviorTree") == 0) {
            add_tree(l, e, top);
        } else if (strcmp(e->tag, "TreeNodesModel") == 0) {
            add_models(l, e);
        } else if (strcmp(e->tag, "include") == 0) {
            include(l, e);
        } else {
            bt_fault(l->f, e->pos, "unknown element <%.60s> in <root>", e->tag);
        }
    }
}

// ---------------------------------------------------------------- blackboards

static int32_t new_board(loader *l, int32_t parent, bool autoremap)
{
    if (l->n_boards == l->cap_boards) {
        const uint32_t cap = l->cap_boards ? l->cap_boards * 2 : 16;
        board *grown = realloc(l->boards, cap * sizeof *grown);
        if (!grown) {
            l->nomem = true;
            return 0;
        }
        l->boards = grown;
        l->cap_boards = cap;
    }
    l->boards[l->n_boards] = (board){.parent = parent, .autoremap = autoremap};
    return (int32_t)l->n_boards++;
}

static uint32_t slot_hash(uint32_t on, const char *key)
{
    uint32_t h = 2166136261u ^ (on * 2654435761u);
    for (; *key; key++) {
        h = (h ^ (uint8_t)*key) * 16777619u;
    }
    return h;
}

static bool slots_grow(loader *l)
{
    pons_bt *bt = l->bt;
    const uint32_t cap = bt->cap_slots ? bt->cap_slots * 2 : 32;
    bt_slot_def *grown = realloc(bt->slots, cap * sizeof *grown);
    uint32_t *table = calloc((size_t)cap * 2, sizeof *table);
    bt->slots = grown ? grown : bt->slots;
    if (!grown || !table) {
        free(table);
        l->nomem = true;
        return false;
    }
    free(l->slot_hash);
    l->slot_hash = table;
    l->slot_mask = cap * 2 - 1;
    bt->cap_slots = cap;
    for (uint32_t i = 0; i < bt->n_slots; i++) {
        uint32_t at = slot_hash(bt->slots[i].board, bt->slots[i].key) & l->slot_mask;
        while (table[at]) {
            at = (at + 1) & l->slot_mask;
        }
        table[at] = i + 1;
    }
    return true;
}

// The slot of a board itself, made when it is not there and `make` says so.
static int32_t local_slot(loader *l, uint32_t on, const char *key, bool make)
{
    pons_bt *bt = l->bt;
    if (bt->n_slots == bt->cap_slots && !slots_grow(l)) {
        return 0;
    }
    uint32_t at = slot_hash(on, key) & l->slot_mask;
    for (; l->slot_hash[at]; at = (at + 1) & l->slot_mask) {
        const bt_slot_def *d = &bt->slots[l->slot_hash[at] - 1];
        if (d->board == on && strcmp(d->key, key) == 0) {
            return (int32_t)l->slot_hash[at] - 1;
        }
    }
    if (!make) {
        return BT_NONE;
    }
    char *copy = bt_strndup(&bt->arena, key, strlen(key));
    if (!copy) {
        l->nomem = true;
        return 0;
    }
    bt->slots[bt->n_slots] = (bt_slot_def){.key = copy, .board = on};
    l->slot_hash[at] = ++bt->n_slots;
    return (int32_t)bt->n_slots - 1;
}

// Where a key of a board ends: its own, the remapped one, the parent's, or its own newly made.
static int32_t slot_of(loader *l, int32_t on, const char *key)
{
    if (*key == '@') {
        while (l->boards[on].parent != BT_NONE) {
            on = l->boards[on].parent;
        }
        key++;
    }
    for (;;) {
        const board *b = &l->boards[on];
        for (const remap *r = b->remaps; r; r = r->next) {
            if (strcmp(r->key, key) == 0) {
                return r->slot;
            }
        }
        if (b->parent == BT_NONE || !b->autoremap || *key == '_' ||
            local_slot(l, (uint32_t)on, key, false) >= 0) {
            return local_slot(l, (uint32_t)on, key, true);
        }
        on = b->parent;
    }
}

// "{key}" and "{=}": the key, in buf; NULL for a literal.
static const char *pointer(const loader *l, const char *text, const char *port, char *buf,
                           size_t cap)
{
    size_t n;
    while (*text == ' ') {
        text++;
    }
    text += l->dollar && text[0] == '$' && text[1] == '{';
    for (n = strlen(text); n > 0 && text[n - 1] == ' ';) {
        n--;
    }
    if (n < 3 || text[0] != '{' || text[n - 1] != '}' || n - 2 >= cap) {
        return NULL;
    }
    if (n == 3 && text[1] == '=') {
        return port;
    }
    memcpy(buf, text + 1, n - 2);
    buf[n - 2] = '\0';
    return buf;
}

// ---------------------------------------------------------------- ports

typedef struct port_def {
    const char *name, *fallback;
    size_t len, fallback_len;
    char type;
    bool mandatory;
} port_def;

typedef struct port_defs {
    port_def p[PORTS_MAX];
    int n;
    bool open; // other ports are accepted
} port_defs;

static void defs_of_line(port_defs *d, const char *s)
{
    while (*s) {
        const size_t n = strcspn(s, " ");
        if (*s == '*') {
            d->open = true;
        } else if (n > 0 && d->n < PORTS_MAX) {
            const char *name = s;
            while (*name == '<' || *name == '>') {
                name++;
            }
            const char *colon = strchr(name, ':');
            port_def *p = &d->p[d->n++];
            *p = (port_def){.name = name,
                            .len = (size_t)(colon - name),
                            .type = colon[1],
                            .mandatory = s[n - 1] == '!'};
            if (colon[2] == '=') {
                p->fallback = colon + 3;
                p->fallback_len = (size_t)(s + n - p->fallback);
            }
        }
        s += n + (s[n] == ' ');
    }
}

static const port_def *find_def(const port_defs *d, const char *name)
{
    const size_t n = strlen(name);
    for (int i = 0; i < d->n; i++) {
        if (d->p[i].len == n && memcmp(d->p[i].name, name, n) == 0) {
            return &d->p[i];
        }
    }
    return NULL;
}

static void add_def(port_defs *d, const char *name, const char *type, const char *fallback,
                    bool mandatory)
{
    if (d->n == PORTS_MAX || find_def(d, name)) {
        return;
    }
    const char letter = bt_type_letter(type);
    d->p[d->n++] = (port_def){.name = name,
                              .len = strlen(name),
                              .fallback = fallback,
                              .fallback_len = fallback ? strlen(fallback) : 0,
                              .type = letter ? letter : 'a',
                              .mandatory = mandatory};
}

static const model *model_of(const loader *l, const char *id, bool subtree)
{
    for (const model *m = l->models; m; m = m->next) {
        if (m->subtree == subtree && strcmp(m->id, id) == 0) {
            return m;
        }
    }
    return NULL;
}

static void defs_of_model(port_defs *d, const model *m)
{
    for (const elem *p = m->e->first; p; p = p->next) {
        if (strstr(p->tag, "_port") && attr_of(p, "name")) {
            add_def(d, attr_of(p, "name"), attr_of(p, "type"), attr_of(p, "default"), false);
        }
    }
}

__attribute__((format(printf, 3, 4))) static void fault_once(loader *l, elem *e, const char *fmt,
                                                             ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!e->said) {
        bt_fault(l->f, e->pos, "%s", text);
    }
}

static void set_type(loader *l, elem *e, int32_t slot, const char *key, char type)
{
    bt_slot_def *s = &l->bt->slots[slot];
    s->declared = true;
    if (type == 'a' || type == 'k' || type == 0) {
        return;
    }
    if (!s->type) {
        s->type = type;
    } else if (bt_type_kind(s->type) != bt_type_kind(type) && s->type != 's') {
        char text[120];
        snprintf(text, sizeof text, "%s and now as %s", bt_kind_word(bt_type_kind(s->type)),
                 bt_kind_word(bt_type_kind(type)));
        fault_once(l, e, "blackboard entry [%.60s] is declared as %s", key, text);
    }
}

static bool enum_value(void *cx, const char *name, double *ret)
{
    const loader *l = cx;
    return bt_enum_of(l->o->leaves, name, ret);
}

static void set_port(loader *l, elem *e, bt_port *p, const char *name, const char *text, char type,
                     int32_t on)
{
    char buf[512];
    const char *key = pointer(l, text, name, buf, sizeof buf);
    *p = (bt_port){.slot = BT_NONE};
    p->name = bt_strndup(&l->bt->arena, name, strlen(name));
    p->text = bt_strndup(&l->bt->arena, text, strlen(text));
    p->type = type;
    if (!p->name || !p->text) {
        l->nomem = true;
        return;
    }
    if (key || type == 'k') {
        key = key ? key : text;
        p->slot = slot_of(l, on, key);
        if (type == 'k') {
            return; // an entry's name: it need not exist
        }

        set_type(l, e, p->slot, key, type);
        return;
    }
    if (!bt_parse(p->text, type, &p->literal)) {
        if (!e->said) {
            bt_fault(l->f, e->pos, "port [%.60s] of <%.60s>: '%.60s' does not convert to %s", name,
                     e->tag, text,
                     type == 't'   ? "a status"
                     : type == 'u' ? "unsigned"
                                   : bt_kind_word(bt_type_kind(type)));
        }
        p->literal = (bt_value){.kind = BT_STRING, .s = (char *)p->text};
    }
    if (type == 's' && enum_value(l, p->text, &p->number)) {
        p->type = 'e';
    }
}

static bool special(const char *name)
{
    return *name == '_' || (*name == 'I' && strcmp(name, "ID") == 0) ||
           (*name == 'n' && strcmp(name, "name") == 0);
}

static void set_ports(loader *l, elem *e, uint32_t at, const port_defs *d, int32_t on)
{
    bt_port ports[PORTS_MAX * 2]; // the first n are set
    uint32_t n = 0;
    for (const attr *a = e->attrs; a && n < PORTS_MAX; a = a->next) {
        if (special(a->name)) {
            continue;
        }
        const port_def *p = find_def(d, a->name);
        if (!p && !d->open) {
            fault_once(l, e, "unknown port [%.60s] of <%.60s>", a->name, e->tag);
            continue;
        }
        set_port(l, e, &ports[n++], a->name, a->value, p ? p->type : 'a', on);
    }
    for (int i = 0; i < d->n; i++) {
        char name[128], text[256];
        snprintf(name, sizeof name, "%.*s", (int)d->p[i].len, d->p[i].name);
        if (attr_of(e, name)) {
            continue;
        }
        if (d->p[i].mandatory) {
            fault_once(l, e, "missing port [%.60s] of <%.60s>", name, e->tag);
        }
        if (d->p[i].fallback) {
            snprintf(text, sizeof text, "%.*s", (int)d->p[i].fallback_len, d->p[i].fallback);
            set_port(l, e, &ports[n++], name, text, d->p[i].type, on);
        }
    }
    if (n > 0) {
        bt_port *copy = bt_alloc(&l->bt->arena, n * sizeof *copy);
        l->nomem |= !copy;
        if (copy) {
            memcpy(copy, ports, n * sizeof *copy);
            // UnsetBlackboard takes away what is the board's own, not what is remapped to it.
            if (l->bt->nodes[at].type == X_UNSET_BLACKBOARD && copy[0].slot != BT_NONE &&
                l->bt->slots[copy[0].slot].board != (uint32_t)on) {
                copy[0].slot = BT_NONE;
            }
            l->bt->nodes[at].ports = copy;
            l->bt->nodes[at].n_ports = n;
        }
    }
}

// ---------------------------------------------------------------- scripts

typedef struct script_cx {
    loader *l;
    int32_t on;
} script_cx;

static int32_t script_slot(void *cx, const char *key)
{
    const script_cx *s = cx;
    return slot_of(s->l, s->on, key);
}

static bool script_enum(void *cx, const char *name, double *ret)
{
    return enum_value(((const script_cx *)cx)->l, name, ret);
}

static const bt_script *compile(loader *l, elem *e, const char *name, const char *text, int32_t on)
{
    char error[200], buf[512];
    script_cx cx = {l, on};
    if (pointer(l, text, name, buf, sizeof buf)) {
        fault_once(l, e, "[%.60s] of <%.60s>: a script cannot come from the blackboard", name,
                   e->tag);
        return NULL;
    }
    char *copy = bt_strndup(&l->bt->arena, text, strlen(text));
    const bt_script *s = copy ? bt_script_compile(&l->bt->arena, copy, script_slot, script_enum,
                                                  &cx, error, sizeof error)
                              : NULL;
    l->nomem |= !copy;
    if (!s && copy) {
        fault_once(l, e, "[%.60s]: %s", name, error);
    }
    return s;
}

static void set_conditions(loader *l, elem *e, uint32_t at, int32_t on)
{
    static const char *const pre[] = {"_failureIf", "_successIf", "_skipIf", "_while"};
    static const char *const post[] = {"_onSuccess", "_onFailure", "_post", "_onHalted"};
    bt_conds *c = NULL;
    for (const attr *a = e->attrs; a; a = a->next) {
        if (*a->name != '_') {
            continue;
        }
        for (int i = 0; i < 4; i++) {
            const bool is_pre = strcmp(a->name, pre[i]) == 0;
            if (!is_pre && strcmp(a->name, post[i]) != 0) {
                continue;
            }
            c = c ? c : bt_alloc(&l->bt->arena, sizeof *c);
            if (!c) {
                l->nomem = true;
                return;
            }
            *(is_pre ? &c->pre[i] : &c->post[i]) = compile(l, e, a->name, a->value, on);
        }
    }
    l->bt->nodes[at].conds = c;
}

// ---------------------------------------------------------------- nodes

static tree *tree_of(const loader *l, const char *id)
{
    for (tree *tr = l->trees; tr; tr = tr->next) {
        if (strcmp(tr->id, id) == 0) {
            return tr;
        }
    }
    return NULL;
}

static int push(loader *l, elem *e, int type, const char *id, uint32_t parent, int depth)
{
    if (depth > BT_DEPTH_MAX || !bt_push(l->bt, (bt_type)type, e->pos)) {
        if (!l->full) {
            bt_fault(l->f, e->pos,
                     depth > BT_DEPTH_MAX ? "nodes are nested deeper than %d"
                                          : "the tree has more than %d nodes",
                     depth > BT_DEPTH_MAX ? (int)BT_DEPTH_MAX : (int)BT_NODES_MAX);
        }
        l->full = true;
        return BT_NONE;
    }
    const uint32_t at = l->bt->n_nodes - 1;
    bt_node *n = &l->bt->nodes[at];
    const char *name = attr_of(e, "name");
    n->parent = parent;
    n->depth = (uint16_t)depth;
    n->id = bt_strndup(&l->bt->arena, id, strlen(id));
    n->name = name ? bt_strndup(&l->bt->arena, name, strlen(name)) : n->id;
    l->nomem |= !n->id || !n->name;
    if (depth > 1) {
        l->bt->nodes[parent].n_kids++;
    }
    return (int)at;
}

static bool truth(const char *s)
{
    return s && (strcmp(s, "true") == 0 || strcmp(s, "1") == 0);
}

// One key of a subtree: a pointer leads to the parent's slot, a literal is its first value.
static void add_remap(loader *l, int32_t outer, int32_t inner, const char *name, const char *text)
{
    char buf[512];
    const char *key = pointer(l, text, name, buf, sizeof buf);
    if (!key) {
        const int32_t slot = local_slot(l, (uint32_t)inner, name, true);
        l->bt->slots[slot].initial = bt_strndup(&l->bt->arena, text, strlen(text));
        return;
    }
    remap *r = bt_alloc(l->arena, sizeof *r);
    if (!r) {
        l->nomem = true;
        return;
    }
    r->key = keep(l, name);
    r->slot = slot_of(l, outer, key);
    r->next = l->boards[inner].remaps;
    l->boards[inner].remaps = r;
}

static void build_subtree(loader *l, elem *e, const char *id, uint32_t parent, int depth,
                          int32_t on)
{
    tree *tr = tree_of(l, id);
    if (e->n > 0) {
        fault_once(l, e, "<%s ID=\"%.60s\"> may not have children", e->tag, id);
    }
    if (!tr) {
        fault_once(l, e, "missing tree: there is no <BehaviorTree ID=\"%.60s\">", id);
        e->said = true;
        return;
    }
    const int at = push(l, e, X_SUBTREE, id, parent, depth);
    if (at < 0) {
        return;
    }
    const bool autoremap = truth(attr_of(e, "_autoremap")) || truth(attr_of(e, "__autoremap")) ||
                           truth(attr_of(e, "__shared_blackboard"));
    const int32_t inner = new_board(l, on, autoremap);
    for (const attr *a = e->attrs; a && !l->nomem; a = a->next) {
        if (!special(a->name)) {
            add_remap(l, on, inner, a->name, a->value);
        }
    }
    const model *m = model_of(l, id, true);
    for (const elem *p = m ? m->e->first : NULL; p && !l->nomem; p = p->next) {
        const char *name = attr_of(p, "name"), *fallback = attr_of(p, "default");
        if (!name || attr_of(e, name) || !strstr(p->tag, "_port")) {
            continue;
        }
        if (fallback) {
            add_remap(l, on, inner, name, fallback);
        } else if (!autoremap) {
            fault_once(l, e, "missing port [%.60s] of the subtree '%.60s'", name, id);
        }
    }
    set_conditions(l, e, (uint32_t)at, on);
    e->said = true;
    build_tree(l, tr, (uint32_t)at, depth + 1, inner, e->pos);
}

static void build_tree(loader *l, tree *tr, uint32_t parent, int depth, int32_t on, bt_pos from)
{
    if (tr->open) {
        char text[300];
        size_t at = 0;
        bool in = false;
        for (int i = 0; i < l->n_way && at + 70 < sizeof text; i++) {
            in |= strcmp(l->way[i], tr->id) == 0;
            at += in ? (size_t)snprintf(text + at, sizeof text - at, "%.60s => ", l->way[i]) : 0;
        }
        snprintf(text + at, sizeof text - at, "%.60s", tr->id);
        if (!tr->e->said) {
            bt_fault(l->f, from, "recursive trees: %s", text);
        }
        tr->e->said = true;
        return;
    }
    tr->seen = true;
    if (!tr->e->first || l->n_way >= BT_DEPTH_MAX || l->full) {
        return;
    }
    tr->open = true;
    l->way[l->n_way++] = tr->id;
    build_node(l, tr->e->first, parent, depth, on);
    l->n_way--;
    tr->open = false;
}

static kind kind_of(const loader *l, const elem *e, const char *id)
{
    static const char *const old[][2] = {
        {"SequenceStar", "SequenceWithMemory"},
        {"FallbackStar", "Fallback"},
        {"RetryUntilSuccesful", "RetryUntilSuccessful"},
        {"initialPoseReceived", "InitialPoseReceived"}, // these are Nav2's first releases'
        {"clearEntirelyCostmapServiceRequest", "ClearEntireCostmap"},
        {"globalLocalizationServiceRequest", "ReinitializeGlobalLocalization"}};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        id = strcmp(id, old[i][0]) == 0 ? old[i][1] : id;
    }
    kind k = {.type = BT_NONE,
              .m = bt_manifest_of(id),
              .leaf = bt_leaf_of(l->o->leaves, id),
              .model = model_of(l, id, false)};
    const bool may = !k.m || bt_types[k.m->type].most == 0; // what has children is ours
    if (may && k.leaf) {
        k.type = k.leaf->condition ? X_CONDITION : X_ACTION;
    } else if (k.m) {
        k.type = k.m->type;
        k.leaf = NULL;
    } else if (k.model && !k.model->composite) {
        k.type = k.model->condition ? X_CONDITION : X_ACTION;
    } else if (strcmp(e->tag, "Condition") == 0) {
        k.type = X_CONDITION;
    } else if (strcmp(e->tag, "Action") == 0 || (l->o->any_leaf && e->n == 0)) {
        k.type = X_ACTION;
    }
    return k;
}

// A file names the same few nodes over and over.
static kind cached_kind(loader *l, const elem *e, const char *id)
{
    uint32_t h = 5381;
    for (const char *c = id; *c; c++) {
        h = h * 33 + (uint8_t)*c;
    }
    const uint32_t at = h & (KINDS_CACHED - 1);
    if (l->o->any_leaf) {
        return kind_of(l, e, id); // it depends on the children, too
    }
    if (!l->kinds[at].id || strcmp(l->kinds[at].id, id) != 0 ||
        strcmp(l->kinds[at].tag, e->tag) != 0) {
        l->kinds[at].id = id;
        l->kinds[at].tag = e->tag;
        l->kinds[at].k = kind_of(l, e, id);
    }
    return l->kinds[at].k;
}

static void check_children(loader *l, elem *e, int type, const char *id)
{
    const bt_type_info *t = &bt_types[type];
    if (e->said || (e->n >= t->least && (t->most < 0 || e->n <= t->most))) {
        return;
    }
    if (t->most == 0) {
        bt_fault(l->f, e->pos, "<%.60s> may not have children, it has %d", id, e->n);
    } else if (t->most == t->least) {
        bt_fault(l->f, e->pos, "<%.60s> must have exactly %d child%s, not %d", id, t->most,
                 t->most == 1 ? "" : "ren", e->n);
    } else if (t->most > 0) {
        bt_fault(l->f, e->pos, "<%.60s> must have %d or %d children, not %d", id, t->least, t->most,
                 e->n);
    } else {
        bt_fault(l->f, e->pos, "<%.60s> must have at least %d child%s, not %d", id, t->least,
                 t->least == 1 ? "" : "ren", e->n);
    }
}

static void set_leaf(loader *l, uint32_t at, const char *id)
{
    bt_call_def *c = bt_alloc(&l->bt->arena, sizeof *c);
    const int32_t fn = bt_name(l->bt, id);
    if (!c || fn < 0) {
        l->nomem = true;
        return;
    }
    *c = (bt_call_def){.name = l->bt->names[fn], .fn = fn};
    l->bt->nodes[at].call = c;
}

static void build_known(loader *l, elem *e, const kind *k, const char *id, uint32_t parent,
                        int depth, int32_t on)
{
    port_defs d; // 3 KiB that need no zeros
    d.n = 0;
    d.open = false;
    if (k->leaf && k->leaf->ports) {
        for (size_t i = 0; i < k->leaf->n_ports; i++) {
            const pons_bt_port *p = &k->leaf->ports[i];
            add_def(&d, p->name, p->type, p->fallback, p->mandatory);
        }
    } else if (k->m) {
        defs_of_line(&d, k->m->ports);
        d.open |= k->leaf != NULL;
    } else if (k->model) {
        defs_of_model(&d, k->model);
    } else {
        d.open = true;
    }
    check_children(l, e, k->type, id);
    const int at = push(l, e, k->type, id, parent, depth);
    if (at < 0) {
        return;
    }
    set_ports(l, e, (uint32_t)at, &d, on);
    set_conditions(l, e, (uint32_t)at, on);
    if (k->type == X_SCRIPT || k->type == X_SCRIPT_CONDITION || k->type == X_PRECONDITION) {
        const char *port = k->type == X_PRECONDITION ? "if" : "code";
        const char *text = attr_of(e, port);
        l->bt->nodes[at].script = text ? compile(l, e, port, text, on) : NULL;
    } else if (k->type == X_ACTION || k->type == X_CONDITION || k->type == X_PAUSE_RESUME ||
               k->type == X_RECOVERY_MANAGER) { // the last two: refused by name, as a leaf is
        set_leaf(l, (uint32_t)at, k->m ? k->m->id : id);
    }
    e->said = true;
    for (elem *c = e->first; c && !l->full && !l->nomem; c = c->next) {
        build_node(l, c, (uint32_t)at, depth + 1, on);
    }
}

static void build_node(loader *l, elem *e, uint32_t parent, int depth, int32_t on)
{
    static const char *const generic[] = {"Action",    "Condition", "Control",
                                          "Decorator", "SubTree",   "SubTreePlus"};
    const char *id = e->tag;
    bool subtree = false;
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++) {
        if (e->tag[0] == generic[i][0] && strcmp(e->tag, generic[i]) == 0) {
            id = attr_of(e, "ID");
            subtree = i >= 4;
        }
    }
    if (!id || !*id) {
        fault_once(l, e, "<%.60s> needs an ID", e->tag);
        e->said = true;
        return;
    }
    const kind k = cached_kind(l, e, id);
    if (subtree || (k.type == BT_NONE && tree_of(l, id)) ||
        (e->tag == id && !k.m && !k.leaf && !k.model && tree_of(l, id))) {
        build_subtree(l, e, id, parent, depth, on);
        return;
    }
    if (k.type != BT_NONE) {
        build_known(l, e, &k, id, parent, depth, on);
        return;
    }
    fault_once(l, e, "unknown node <%.60s>", id);
    e->said = true;
    for (elem *c = e->first; c && !l->full; c = c->next) {
        build_node(l, c, parent, depth + 1, on);
    }
}
