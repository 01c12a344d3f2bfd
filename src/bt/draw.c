// draw.c - definitions for people: an indented text, graphviz' dot, or what Groot2 opens.
#include "bt/core/definition.h"
#include "bt/groot/groot.h"
#include "bt/xml/script.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>

static void put_args(pons_buf *b, const pons__bt_call_def *c)
{
    pons_each(v, c->args) {
        char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
        const char *name = json_object_size(v) == 1 ? pons_get_str(v, "$", NULL) : NULL;
        b->failed = b->failed || !text;
        pons_buf_printf(b, name ? ", $%s" : ", %s", name ? name : text ? text : "?");
        free(text);
    }
}

static void put_call(pons_buf *b, const char *word, const pons__bt_call_def *c)
{
    if (c) {
        pons_buf_printf(b, " %s(%s", word, c->name);
        put_args(b, c);
        pons_buf_str(b, ")");
    }
}

static void put_mdsl(pons_buf *b, const pons__bt_node *n, uint32_t at)
{
    if (n->call) {
        pons_buf_printf(b, " [%s", n->call->name);
        put_args(b, n->call);
        pons_buf_str(b, "]");
    } else if (n->low >= 0 && n->low != n->high) {
        pons_buf_printf(b, " [%lld, %lld]", (long long)n->low, (long long)n->high);
    } else if (n->low >= 0) {
        pons_buf_printf(b, " [%lld]", (long long)n->low);
    } else if (n->weights) {
        for (uint32_t k = 0; k < n->n_kids; k++) {
            pons_buf_printf(b, k ? ", %lld" : " [%lld", (long long)n->weights[k]);
        }
        pons_buf_str(b, "]");
    }
    if (n->guard && n->guard->node == at) {
        for (int k = AT_WHILE; k <= AT_UNTIL; k++) {
            put_call(b, pons__bt_attr_words[k], n->guard->on[k]);
            pons_buf_str(b, n->guard->on[k] && n->guard->succeed[k] ? " then succeed" : "");
        }
    }
    if (n->attrs) {
        put_call(b, "entry", n->attrs->entry);
        put_call(b, "step", n->attrs->step);
        put_call(b, "exit", n->attrs->exit);
    }
}

static void put_xml(pons_buf *b, const pons__bt_node *n)
{
    static const char *const pre[] = {"_failureIf", "_successIf", "_skipIf", "_while"};
    static const char *const post[] = {"_onSuccess", "_onFailure", "_post", "_onHalted"};
    if (n->name && n->id && strcmp(n->name, n->id) != 0) {
        pons_buf_printf(b, " \"%s\"", n->name);
    }
    for (uint32_t p = 0; p < n->n_ports; p++) {
        pons_buf_printf(b, " %s=%s", n->ports[p].name, n->ports[p].text);
    }
    for (int k = 0; n->conds && k < PONS__BT_PRE_COUNT; k++) {
        if (n->conds->pre[k]) {
            pons_buf_printf(b, " %s=%s", pre[k], n->conds->pre[k]->text);
        }
    }
    for (int k = 0; n->conds && k < PONS__BT_POST_COUNT; k++) {
        if (n->conds->post[k]) {
            pons_buf_printf(b, " %s=%s", post[k], n->conds->post[k]->text);
        }
    }
}

static void put_node(pons_buf *b, const pons_bt *bt, uint32_t at)
{
    const pons__bt_node *n = &bt->nodes[at];
    if (bt->format == PONS_BT_XML) {
        const bool leaf = n->type == X_ACTION || n->type == X_CONDITION;
        pons_buf_str(b, leaf ? n->id : pons__bt_types[n->type].word);
        if (n->type == X_SUBTREE) {
            pons_buf_printf(b, " %s", n->id);
        }
        put_xml(b, n);
    } else {
        pons_buf_str(b, pons__bt_types[n->type].word);
        put_mdsl(b, n, at);
    }
}

static void draw_text(pons_buf *b, const pons_bt *bt)
{
    for (uint32_t i = 0; i < bt->n_nodes; i++) {
        for (int k = 1; k < bt->nodes[i].depth; k++) {
            pons_buf_str(b, "  ");
        }
        put_node(b, bt, i);
        pons_buf_byte(b, '\n');
    }
}

static void draw_dot(pons_buf *b, const pons_bt *bt)
{
    pons_buf_str(b, "digraph bt {\n  node [fontname=\"sans-serif\" fontsize=11];\n");
    for (uint32_t i = 0; i < bt->n_nodes; i++) {
        const pons__bt_node *n = &bt->nodes[i];
        pons_autobuf label = PONS_BUF_INIT;
        put_node(&label, bt, i);
        b->failed = b->failed || label.failed;
        pons_buf_printf(b, "  n%u [shape=%s label=\"", i,
                        n->n_kids > 1    ? "box"
                        : n->n_kids == 1 ? "hexagon"
                                         : "ellipse");
        for (size_t k = 0; k < label.len; k++) {
            const char c = label.data[k];
            if (c == '"' || c == '\\') {
                pons_buf_byte(b, '\\');
            }
            pons_buf_byte(b, c == '\n' ? ' ' : (uint8_t)c);
        }
        pons_buf_str(b, "\"];\n");
        if (i > 0) {
            pons_buf_printf(b, "  n%u -> n%u;\n", n->parent, i);
        }
    }
    pons_buf_str(b, "}\n");
}

int pons_bt_draw(const pons_bt *bt, const char *format, char **ret, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    if (strcmp(format, "text") == 0) {
        draw_text(&b, bt);
    } else if (strcmp(format, "dot") == 0) {
        draw_dot(&b, bt);
    } else if (strncmp(format, "groot", 5) == 0 &&
               (!format[5] || strcmp(format, "groot-live") == 0)) {
        pons__groot_export(&b, bt, format[5] != '\0');
    } else {
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "a tree is drawn as text, dot or groot, not '%s'", format);
    }
    *ret = pons_buf_take(&b, NULL);
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "bt", "no memory for a drawing");
}
