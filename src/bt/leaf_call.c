// leaf_call.c - what a leaf sees of its call: arguments and ports; and the blackboard of the root.
#include "bt/core/tree.h"
#include "bt/xml/port_values.h"

#include <string.h>

// ---- a call -------------------------------------------------------------------------------------

pons_value *pons_bt_call_args(const pons_bt_call *call)
{
    const pons__bt_call_def *def = call->priv;
    if (!def->args) {
        return json_array();
    }
    if (!def->has_props) {
        return pons_value_ref(def->args);
    }
    pons_value *list = json_array();
    bool ok = list != NULL;
    pons_each(v, def->args) {
        const char *name = json_object_size(v) == 1 ? pons_get_str(v, "$", NULL) : NULL;
        pons_value *found = NULL;
        if (name) {
            const pons_bt_tree *t = call->tree;
            found = t->o.property ? t->o.property(t->o.user, name) : NULL;
        }
        ok = json_array_append_new(list, !name   ? pons_value_ref(v)
                                         : found ? found
                                                 : json_null()) == 0 &&
             ok;
    }
    if (!ok) {
        pons_value_unref(list);
        return NULL;
    }
    return list;
}

int pons_bt_call_input(const pons_bt_call *call, const char *port, pons_value **ret,
                       pons_error *err)
{
    pons__bt_value v;
    if (pons__bt_input(call->tree, call->node, port, &v) < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "bt", "port '%s' of '%s' has no value", port,
                              call->name);
    }
    pons_value *j = pons__bt_value_json(&v);
    if (!j) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for port '%s'", port);
    }
    *ret = j;
    return PONS_OK;
}

int pons_bt_call_output(const pons_bt_call *call, const char *port, pons_value *value,
                        pons_error *err)
{
    pons__bt_value v;
    int rc = pons__bt_value_of_json(value, &v);
    rc = rc < 0 ? pons_error_set(err, rc, "bt", "no memory for port '%s'", port)
                : pons__bt_output(call->tree, call->node, port, &v, err);
    pons__bt_value_fini(&v);
    pons_value_unref(value);
    return rc;
}

// ---- the root's blackboard ----------------------------------------------------------------------

static pons__bt_slot *find_slot(const pons_bt_tree *t, const char *key)
{
    const int i = pons__bt_root_slot(t->bt, key);
    if (i >= 0) {
        return &t->slots[i];
    }
    for (uint32_t k = 0; k < t->n_extra; k++) {
        if (strcmp(t->extra[k].key, key) == 0) {
            return &t->extra[k].slot;
        }
    }
    return NULL;
}

int pons_bt_get(const pons_bt_tree *t, const char *key, pons_value **ret)
{
    const pons__bt_slot *s = find_slot(t, key);
    if (!s || !s->exists || s->v.kind == PONS__BT_EMPTY) {
        return PONS_ENOTFOUND;
    }
    *ret = pons__bt_value_json(&s->v);
    return *ret ? PONS_OK : PONS_ENOMEM;
}

int pons_bt_set(pons_bt_tree *t, const char *key, pons_value *value, pons_error *err)
{
    pons__bt_slot *s = find_slot(t, key);
    pons__bt_value v = {.kind = PONS__BT_EMPTY};
    int rc = PONS_ENOMEM;
    if (!s && !(s = pons__bt_extra_slot(t, key))) {
        pons_error_set(err, rc, "bt", "no memory for key '%s'", key);
    } else if (pons__bt_value_of_json(value, &v) < 0) {
        pons_error_set(err, rc, "bt", "no memory for key '%s'", key);
    } else {
        rc = pons__bt_slot_assign(s, key, &v, true, err);
    }
    pons__bt_value_fini(&v);
    pons_value_unref(value);
    return rc;
}

pons_value *pons_bt_board(const pons_bt_tree *t)
{
    pons_value *o = json_object();
    int lost = o ? 0 : -1;
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const pons__bt_slot *s = &t->slots[i];
        if (t->bt->slots[i].board == 0 && s->exists && s->v.kind != PONS__BT_EMPTY) {
            lost |= json_object_set_new(o, t->bt->slots[i].key, pons__bt_value_json(&s->v));
        }
    }
    for (uint32_t i = 0; i < t->n_extra; i++) {
        if (t->extra[i].slot.v.kind != PONS__BT_EMPTY) {
            lost |=
                json_object_set_new(o, t->extra[i].key, pons__bt_value_json(&t->extra[i].slot.v));
        }
    }
    if (lost) {
        pons_value_unref(o);
        return NULL;
    }
    return o;
}
