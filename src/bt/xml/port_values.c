// port_values.c - a node's ports at work: a literal, or the slot of a blackboard that the loader has
// found.
#include "bt/xml/port_values.h"

#include <string.h>

const pons__bt_port *pons__bt_port_of(const pons__bt_node *n, const char *name)
{
    for (uint32_t p = 0; p < n->n_ports; p++) {
        if (strcmp(n->ports[p].name, name) == 0) {
            return &n->ports[p];
        }
    }
    return NULL;
}

int pons__bt_input(pons_bt_tree *t, uint32_t i, const char *name, pons__bt_value *ret)
{
    const pons__bt_port *p = pons__bt_port_of(&t->nodes[i], name);
    if (!p) {
        return PONS_ENOTFOUND;
    }
    if (p->slot == PONS__BT_NONE) {
        *ret = p->literal;
        return PONS_OK;
    }
    const pons__bt_slot *s = &t->slots[p->slot];
    if (!s->exists || s->v.kind == PONS__BT_EMPTY) {
        return PONS_ENOTFOUND;
    }
    *ret = s->v;
    ret->owned = false;
    return PONS_OK;
}

int pons__bt_need_int(pons_bt_tree *t, uint32_t i, const char *name, int64_t fallback, int64_t *ret,
                      pons_error *err)
{
    pons__bt_value v, parsed = {.kind = PONS__BT_EMPTY};
    double d = 0;
    const pons__bt_port *p = pons__bt_port_of(&t->nodes[i], name);
    if (!p) {
        *ret = fallback;
        return PONS_OK;
    }
    int rc = pons__bt_input(t, i, name, &v);
    const bool text = rc >= 0 && v.kind == PONS__BT_STRING;
    if (text && (pons__bt_parse(v.s, 'd', &parsed) || pons__bt_parse(v.s, 'b', &parsed))) {
        v = parsed;
    }
    if (rc < 0 || !pons__bt_value_number(&v, &d) || !(d >= -9e15 && d <= 9e15)) {
        t->failed = i;
        return pons_error_set(err, PONS_EINVAL, "bt",
                              rc < 0 ? "port '%s' has no value: %s is empty"
                                     : "port '%s' is no number: %s",
                              name, p->text);
    }
    *ret = (int64_t)d;
    return PONS_OK;
}

double pons__bt_input_num(pons_bt_tree *t, uint32_t i, const char *name, double fallback)
{
    pons__bt_value v, parsed;
    double d;
    if (pons__bt_input(t, i, name, &v) < 0) {
        return fallback;
    }
    if (v.kind == PONS__BT_STRING && pons__bt_parse(v.s, 'd', &parsed)) {
        return parsed.d;
    }
    if (v.kind == PONS__BT_STRING && pons__bt_parse(v.s, 'b', &parsed)) {
        return (double)parsed.i;
    }
    return pons__bt_value_number(&v, &d) ? d : fallback;
}

int64_t pons__bt_input_int(pons_bt_tree *t, uint32_t i, const char *name, int64_t fallback)
{
    const double d = pons__bt_input_num(t, i, name, (double)fallback);
    return d >= -9e15 && d <= 9e15 ? (int64_t)d : fallback;
}

int pons__bt_output(pons_bt_tree *t, uint32_t i, const char *name, const pons__bt_value *v,
                    pons_error *err)
{
    const pons__bt_port *p = pons__bt_port_of(&t->nodes[i], name);
    if (!p || p->slot == PONS__BT_NONE) {
        // An output that leads nowhere is allowed.
        return PONS_OK;
    }
    const int rc = pons__bt_slot_write(t, p->slot, v, err);
    if (rc < 0) {
        t->failed = i;
    }
    return rc;
}
