// conditions.c - the scripts of a node: its pre- and postconditions, and the code of script nodes.
#include "bt/xml/conditions.h"

#include "bt/xml/ports.h"
#include "bt/xml/script.h"
#include "bt/xml/subtree_boards.h"

#include <string.h>

typedef struct script_cx {
    pons__bt_loader *l;
    int32_t on;
} script_cx;

void pons__bt_conds_set(pons__bt_loader *l, pons__bt_element *e, uint32_t at, int32_t on)
{
    static const char *const pre[] = {"_failureIf", "_successIf", "_skipIf", "_while"};
    static const char *const post[] = {"_onSuccess", "_onFailure", "_post", "_onHalted"};
    pons__bt_conds *c = NULL;
    for (const pons__bt_attribute *a = e->attrs; a; a = a->next) {
        if (*a->name != '_') {
            continue;
        }
        for (int i = 0; i < 4; i++) {
            const bool is_pre = strcmp(a->name, pre[i]) == 0;
            if (!is_pre && strcmp(a->name, post[i]) != 0) {
                continue;
            }
            c = c ? c : pons_pool_take(&l->bt->arena, sizeof *c);
            if (!c) {
                l->nomem = true;
                return;
            }
            *(is_pre ? &c->pre[i] : &c->post[i]) =
                pons__bt_conds_compile(l, e, a->name, a->value, on);
        }
    }
    l->bt->nodes[at].conds = c;
}

static int32_t script_slot(void *cx, const char *key)
{
    const script_cx *s = cx;
    return pons__bt_board_slot(s->l, s->on, key);
}

static bool script_enum(void *cx, const char *name, double *ret)
{
    return pons__bt_ports_enum(((const script_cx *)cx)->l, name, ret);
}

const pons__bt_script *pons__bt_conds_compile(pons__bt_loader *l, pons__bt_element *e,
                                              const char *name, const char *text, int32_t on)
{
    char error[200], buf[512];
    script_cx cx = {l, on};
    if (pons__bt_board_pointer(l, text, name, buf, sizeof buf)) {
        pons__bt_loader_fault(l, e, "[%.60s] of <%.60s>: a script cannot come from the blackboard",
                              name, e->tag);
        return NULL;
    }
    char *copy = pons_pool_text(&l->bt->arena, text, strlen(text));
    const pons__bt_script *s = copy ? pons__bt_script_compile(&l->bt->arena, copy, script_slot,
                                                              script_enum, &cx, error, sizeof error)
                                    : NULL;
    l->nomem |= !copy;
    if (!s && copy) {
        pons__bt_loader_fault(l, e, "[%.60s]: %s", name, error);
    }
    return s;
}
