// export.c - a definition as Groot2 reads one: BehaviorTree.CPP's XML, a <BehaviorTree> for each
// tree, and a <TreeNodesModel> with what the nodes take.
//
// It is written from the flat model, so it is the tree as it runs: files that were included, defaults
// of ports, older names put into new ones. "groot" is for its editor: what BehaviorTree.CPP brings
// itself is left out of the model, and each tree stands once. "groot-live" is what its publisher sends
// to a monitor: each instance of a tree with its path and the numbers of its nodes (node 0 has _uid 1),
// and the models of built-in nodes too. Trees of MDSL have no subtrees; their kinds of nodes are
// models of their own.
#include "bt/groot/groot.h"
#include "bt/xml/builtin_nodes.h"
#include "bt/xml/script.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    pons_buf *out;
    const pons_bt *bt;
    bool live;
} writer;

// ---- text ---------------------------------------------------------------------------------------

static void put_text(pons_buf *b, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '&':
            pons_buf_str(b, "&amp;");
            break;
        case '<':
            pons_buf_str(b, "&lt;");
            break;
        case '>':
            pons_buf_str(b, "&gt;");
            break;
        case '"':
            pons_buf_str(b, "&quot;");
            break;
        case '\n':
            pons_buf_str(b, "&#10;");
            break;
        case '\t':
            pons_buf_str(b, "&#9;");
            break;
        default:
            if ((unsigned char)*s >= ' ') { // XML has no other control characters
                pons_buf_byte(b, (uint8_t)*s);
            }
        }
    }
}

static void put_attr(pons_buf *b, const char *name, const char *value)
{
    pons_buf_printf(b, " %s=\"", name);
    put_text(b, value);
    pons_buf_byte(b, '"');
}

static void indent(pons_buf *b, int depth)
{
    for (int i = 0; i < depth; i++) {
        pons_buf_str(b, "    ");
    }
}

static bool is_xml_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_' && (unsigned char)*s < 0x80) {
        return false;
    }
    for (; *s; s++) {
        if (!isalnum((unsigned char)*s) && !strchr("_-.", *s) && (unsigned char)*s < 0x80) {
            return false;
        }
    }
    return true;
}

// ---- nodes --------------------------------------------------------------------------------------

// What a node is registered as: its leaf's name, or its kind.
static const char *registered(const pons_bt *bt, const pons__bt_node *n)
{
    if (n->type == X_SUBTREE) {
        return "SubTree";
    }
    if (bt->format == PONS_BT_XML) {
        return n->id;
    }
    return n->call && n->n_kids == 0 ? n->call->name : pons__bt_types[n->type].word;
}

static const char *kind_word(const pons__bt_node *n)
{
    const pons__bt_type_info *t = &pons__bt_types[n->type];
    return n->type == X_SUBTREE                           ? "SubTree"
           : t->most != 0 && (t->most > 1 || t->most < 0) ? "Control"
           : t->most == 1                                 ? "Decorator"
           : n->type == X_CONDITION || n->type == M_CONDITION || n->type == X_SCRIPT_CONDITION ||
                   n->type == X_WAS_ENTRY_UPDATED
               ? "Condition"
               : "Action";
}

static void put_conditions(pons_buf *b, const pons__bt_conds *c)
{
    static const char *const pre[] = {"_failureIf", "_successIf", "_skipIf", "_while"};
    static const char *const post[] = {"_onSuccess", "_onFailure", "_post", "_onHalted"};
    for (int k = 0; c && k < PONS__BT_PRE_COUNT; k++) {
        if (c->pre[k]) {
            put_attr(b, pre[k], c->pre[k]->text);
        }
    }
    for (int k = 0; c && k < PONS__BT_POST_COUNT; k++) {
        if (c->post[k]) {
            put_attr(b, post[k], c->post[k]->text);
        }
    }
}

// What an MDSL node is given, in one attribute each.
static void put_mdsl(pons_buf *b, const pons__bt_node *n)
{
    char text[64];
    if (n->call && json_array_size(n->call->args) > 0) {
        char *args = json_dumps(n->call->args, JSON_COMPACT);
        put_attr(b, "args", args ? args : "");
        b->failed |= !args;
        free(args);
    }
    if (n->low >= 0) {
        snprintf(text, sizeof text, n->low == n->high ? "%lld" : "%lld,%lld", (long long)n->low,
                 (long long)n->high);
        put_attr(b, "count", text);
    }
}

static void put_node(const writer *w, uint32_t at, int depth, const char *path)
{
    const pons__bt_node *n = &w->bt->nodes[at];
    const char *id = registered(w->bt, n), *tag = is_xml_name(id) ? id : kind_word(n);
    pons_buf *b = w->out;
    indent(b, depth);
    pons_buf_printf(b, "<%s", tag);
    if (n->type == X_SUBTREE) {
        char full[PONS__GROOT_PATH_MAX];
        put_attr(b, "ID", n->id);
        if (!w->live && strcmp(n->name, n->id) != 0) { // live it is in the path
            put_attr(b, "name", n->name);
        }
        if (w->live) {
            put_attr(b, "_fullpath", pons__groot_path(w->bt, at, full, sizeof full));
        }
        if (n->autoremap) {
            put_attr(b, "_autoremap", "true");
        }
    } else {
        if (tag != id) {
            put_attr(b, "ID", id);
        }
        if (w->live || (n->name && strcmp(n->name, id) != 0)) {
            put_attr(b, "name", n->name ? n->name : id);
        }
    }
    if (w->live) {
        char uid[16];
        snprintf(uid, sizeof uid, "%u", at + 1);
        put_attr(b, "_uid", uid);
    }
    if (w->bt->format == PONS_BT_XML) {
        for (uint32_t p = 0; p < n->n_ports; p++) {
            put_attr(b, n->ports[p].name, n->ports[p].text);
        }
        put_conditions(b, n->conds);
    } else {
        put_mdsl(b, n);
    }
    if (n->n_kids == 0 || n->type == X_SUBTREE) {
        pons_buf_str(b, "/>\n");
        return;
    }
    pons_buf_str(b, ">\n");
    for (uint32_t k = 0; k < n->n_kids; k++) {
        put_node(w, w->bt->kids[n->kids + k], depth + 1, path);
    }
    indent(b, depth);
    pons_buf_printf(b, "</%s>\n", tag);
}

static void put_tree(const writer *w, uint32_t at, const char *id, const char *path)
{
    pons_buf_str(w->out, "    <BehaviorTree");
    put_attr(w->out, "ID", id);
    if (w->live) {
        put_attr(w->out, "_fullpath", path);
    }
    pons_buf_str(w->out, ">\n");
    put_node(w, at, 2, path);
    pons_buf_str(w->out, "    </BehaviorTree>\n");
}

// ---- the palette --------------------------------------------------------------------------------

static void put_port(pons_buf *b, char way, const char *name, size_t len, char type,
                     const char *fallback, size_t fallback_len)
{
    static const char *const types[] = {
        "iint",    "lint64_t", "uunsigned int", "aBT::AnyTypeAllowed",
        "ddouble", "bbool",    "sstd::string",  "tNodeStatus"};
    const char *word = way == 'o' ? "output_port" : way == 'b' ? "inout_port" : "input_port";
    char text[300];
    indent(b, 3);
    pons_buf_printf(b, "<%s", word);
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    put_attr(b, "name", text);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i][0] == type) {
            put_attr(b, "type", types[i] + 1);
        }
    }
    if (fallback) {
        snprintf(text, sizeof text, "%.*s", (int)fallback_len, fallback);
        put_attr(b, "default", text);
    }
    pons_buf_str(b, "/>\n");
}

static bool has_port(const char *line, const char *name)
{
    const size_t n = strlen(name);
    for (const char *s = line; (s = strstr(s, name)); s += n) {
        if ((s == line || strchr(" <>", s[-1])) && s[n] == ':') {
            return true;
        }
    }
    return false;
}

// By a manifest's line ("name:type=default <>name:type!"), then what the node was given besides.
static void put_ports(const writer *w, const pons__bt_node *n, const char *line)
{
    for (const char *s = line; *s;) {
        const size_t len = strcspn(s, " ");
        const char *name = s + strspn(s, "<>"), *colon = memchr(s, ':', len);
        if (colon) {
            const bool fallback = colon[2] == '=';
            put_port(w->out,
                     *s == '>'   ? 'o'
                     : *s == '<' ? 'b'
                                 : 'i',
                     name, (size_t)(colon - name), colon[1], fallback ? colon + 3 : NULL,
                     fallback ? (size_t)(s + len - colon - 3) : 0);
        }
        s += len + (s[len] == ' ');
    }
    for (uint32_t p = 0; w->bt->format == PONS_BT_XML && p < n->n_ports; p++) {
        const pons__bt_port *x = &n->ports[p];
        if (!has_port(line, x->name)) {
            put_port(w->out, 'i', x->name, strlen(x->name), x->type, NULL, 0);
        }
    }
    if (w->bt->format != PONS_BT_XML) {
        put_port(w->out, 'i', n->call ? "args" : "count", n->call ? 4 : 5, 's', NULL, 0);
    }
}

static bool is_new(const writer *w, pons_value *seen, const char *id)
{
    const bool known = pons_get(seen, id) != NULL;
    w->out->failed |= !known && json_object_set_new(seen, id, json_true()) != 0;
    return !known;
}

static void put_models(const writer *w)
{
    pons_buf *b = w->out;
    pons_autovalue seen = json_object();
    pons_buf_str(b, "    <TreeNodesModel>\n");
    for (uint32_t i = 0; i < w->bt->n_nodes; i++) {
        const pons__bt_node *n = &w->bt->nodes[i];
        const char *id = registered(w->bt, n);
        const bool xml = w->bt->format == PONS_BT_XML;
        const pons__bt_manifest *m = xml ? pons__bt_manifest_of(id) : NULL;
        if (n->type == X_SUBTREE || (!w->live && m && pons__bt_manifest_btcpp(m)) ||
            !is_new(w, seen, id)) {
            continue;
        }
        indent(b, 2);
        pons_buf_printf(b, "<%s", kind_word(n));
        put_attr(b, "ID", id);
        pons_buf_str(b, ">\n");
        put_ports(w, n, m ? m->ports : "");
        indent(b, 2);
        pons_buf_printf(b, "</%s>\n", kind_word(n));
    }
    pons_buf_str(b, "    </TreeNodesModel>\n");
}

// ---- public functions ---------------------------------------------------------------------------

void pons__groot_export(pons_buf *out, const pons_bt *bt, bool live)
{
    const writer w = {.out = out, .bt = bt, .live = live};
    const char *main_id = bt->main_id ? bt->main_id : "MainTree";
    pons_buf_str(out, "<root BTCPP_format=\"4\"");
    if (!live) {
        put_attr(out, "main_tree_to_execute", main_id);
    }
    pons_buf_str(out, ">\n");
    put_tree(&w, 0, main_id, "");
    pons_autovalue seen = json_object();
    for (uint32_t i = 0; i < bt->n_nodes; i++) {
        const pons__bt_node *n = &bt->nodes[i];
        if (n->type == X_SUBTREE && n->n_kids > 0 && (live || is_new(&w, seen, n->id))) {
            char path[PONS__GROOT_PATH_MAX];
            put_tree(&w, bt->kids[n->kids], n->id, pons__groot_path(bt, i, path, sizeof path));
        }
    }
    put_models(&w);
    pons_buf_str(out, "</root>\n");
}

// The path of the tree that a SubTree node stands for, as BehaviorTree.CPP names its instances: the
// names of the SubTree nodes from the root down, those without one as "Tree::UID".
const char *pons__groot_path(const pons_bt *bt, uint32_t subtree, char *buf, size_t cap)
{
    size_t at = cap - 1;
    buf[at] = '\0';
    for (uint32_t i = subtree;; i = bt->nodes[i].parent) {
        const pons__bt_node *n = &bt->nodes[i];
        if (n->type == X_SUBTREE) {
            char part[300];
            const bool named = n->name && strcmp(n->name, n->id) != 0;
            const int len = named ? snprintf(part, sizeof part, "%.200s", n->name)
                                  : snprintf(part, sizeof part, "%.200s::%u", n->id, i + 1);
            if ((size_t)len + 1 > at) {
                break; // deeper than a path has room for: its end tells them apart
            }
            if (buf[at]) {
                buf[--at] = '/';
            }
            at -= (size_t)len;
            memcpy(buf + at, part, (size_t)len);
        }
        if (i == 0) {
            break;
        }
    }
    return buf + at;
}
