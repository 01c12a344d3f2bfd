// ports.c - the ports of a node: what it takes by its manifest, its model or its program's leaf,
// and what its element gives it.
#include "bt/xml/ports.h"

#include "bt/core/registry.h"
#include "bt/xml/subtree_boards.h"
#include "bt/xml/xml_reader.h"

#include <stdio.h>
#include <string.h>

// ---- what a node takes --------------------------------------------------------------------------

void pons__bt_ports_of_line(pons__bt_port_defs *d, const char *s)
{
    while (*s) {
        const size_t n = strcspn(s, " ");
        if (*s == '*') {
            d->open = true;
        } else if (n > 0 && d->n < PONS__BT_PORTS_MAX) {
            const char *name = s;
            while (*name == '<' || *name == '>') {
                name++;
            }
            const char *colon = strchr(name, ':');
            pons__bt_port_def *p = &d->p[d->n++];
            *p = (pons__bt_port_def){.name = name,
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

static const pons__bt_port_def *find_def(const pons__bt_port_defs *d, const char *name)
{
    const size_t n = strlen(name);
    for (int i = 0; i < d->n; i++) {
        if (d->p[i].len == n && memcmp(d->p[i].name, name, n) == 0) {
            return &d->p[i];
        }
    }
    return NULL;
}

void pons__bt_ports_add(pons__bt_port_defs *d, const char *name, const char *type,
                        const char *fallback, bool mandatory)
{
    if (d->n == PONS__BT_PORTS_MAX || find_def(d, name)) {
        return;
    }
    const char letter = pons__bt_type_letter(type);
    d->p[d->n++] = (pons__bt_port_def){.name = name,
                                       .len = strlen(name),
                                       .fallback = fallback,
                                       .fallback_len = fallback ? strlen(fallback) : 0,
                                       .type = letter ? letter : 'a',
                                       .mandatory = mandatory};
}

void pons__bt_ports_of_model(pons__bt_port_defs *d, const pons__bt_node_model *m)
{
    for (const pons__bt_element *p = m->e->first; p; p = p->next) {
        if (strstr(p->tag, "_port") && pons__bt_element_attr(p, "name")) {
            pons__bt_ports_add(d, pons__bt_element_attr(p, "name"),
                               pons__bt_element_attr(p, "type"),
                               pons__bt_element_attr(p, "default"), false);
        }
    }
}

// ---- what it is given ---------------------------------------------------------------------------

static void set_type(pons__bt_loader *l, pons__bt_element *e, int32_t slot, const char *key,
                     char type)
{
    if (slot < 0) {
        return; // no memory
    }
    pons__bt_slot_def *s = &l->bt->slots[slot];
    s->declared = true;
    if (type == 'a' || type == 'k' || type == 0) {
        return;
    }
    if (!s->type) {
        s->type = type;
    } else if (pons__bt_type_kind(s->type) != pons__bt_type_kind(type) && s->type != 's') {
        char text[120];
        snprintf(text, sizeof text, "%s and now as %s",
                 pons__bt_kind_word(pons__bt_type_kind(s->type)),
                 pons__bt_kind_word(pons__bt_type_kind(type)));
        pons__bt_loader_fault(l, e, "blackboard entry [%.60s] is declared as %s", key, text);
    }
}

bool pons__bt_ports_enum(void *cx, const char *name, double *ret)
{
    const pons__bt_loader *l = cx;
    return pons__bt_enum_of(l->o->leaves, name, ret);
}

static void set_port(pons__bt_loader *l, pons__bt_element *e, pons__bt_port *p, const char *name,
                     const char *text, char type, int32_t on)
{
    char buf[512];
    const char *key = pons__bt_board_pointer(l, text, name, buf, sizeof buf);
    *p = (pons__bt_port){.slot = PONS__BT_NONE};
    p->name = pons_pool_text(&l->bt->arena, name, strlen(name));
    p->text = pons_pool_text(&l->bt->arena, text, strlen(text));
    p->type = type;
    if (!p->name || !p->text) {
        l->nomem = true;
        return;
    }
    if (key || type == 'k') {
        key = key ? key : text;
        p->slot = pons__bt_board_slot(l, on, key);
        if (type == 'k') {
            return; // an entry's name: it need not exist
        }

        set_type(l, e, p->slot, key, type);
        return;
    }
    if (!pons__bt_parse(p->text, type, &p->literal)) {
        if (!e->said) {
            pons__bt_fault(l->f, e->pos, "port [%.60s] of <%.60s>: '%.60s' does not convert to %s",
                           name, e->tag, text,
                           type == 't'   ? "a status"
                           : type == 'u' ? "unsigned"
                                         : pons__bt_kind_word(pons__bt_type_kind(type)));
        }
        p->literal = (pons__bt_value){.kind = PONS__BT_STRING, .s = (char *)p->text};
    }
    if (type == 's' && pons__bt_ports_enum(l, p->text, &p->number)) {
        p->type = 'e';
    }
}

bool pons__bt_ports_special(const char *name)
{
    return *name == '_' || (*name == 'I' && strcmp(name, "ID") == 0) ||
           (*name == 'n' && strcmp(name, "name") == 0);
}

void pons__bt_ports_set(pons__bt_loader *l, pons__bt_element *e, uint32_t at,
                        const pons__bt_port_defs *d, int32_t on)
{
    pons__bt_port ports[PONS__BT_PORTS_MAX * 2]; // the first n are set
    uint32_t n = 0;
    for (const pons__bt_attribute *a = e->attrs; a && n < PONS__BT_PORTS_MAX; a = a->next) {
        if (pons__bt_ports_special(a->name)) {
            continue;
        }
        const pons__bt_port_def *p = find_def(d, a->name);
        if (!p && !d->open) {
            pons__bt_loader_fault(l, e, "unknown port [%.60s] of <%.60s>", a->name, e->tag);
            continue;
        }
        set_port(l, e, &ports[n++], a->name, a->value, p ? p->type : 'a', on);
    }
    for (int i = 0; i < d->n; i++) {
        char name[128], text[256];
        snprintf(name, sizeof name, "%.*s", (int)d->p[i].len, d->p[i].name);
        if (pons__bt_element_attr(e, name)) {
            continue;
        }
        if (d->p[i].mandatory) {
            pons__bt_loader_fault(l, e, "missing port [%.60s] of <%.60s>", name, e->tag);
        }
        if (d->p[i].fallback) {
            snprintf(text, sizeof text, "%.*s", (int)d->p[i].fallback_len, d->p[i].fallback);
            set_port(l, e, &ports[n++], name, text, d->p[i].type, on);
        }
    }
    if (n > 0) {
        pons__bt_port *copy = pons_pool_take(&l->bt->arena, n * sizeof *copy);
        l->nomem |= !copy;
        if (copy) {
            memcpy(copy, ports, n * sizeof *copy);
            // UnsetBlackboard takes away what is the board's own, not what is remapped to it.
            if (l->bt->nodes[at].type == X_UNSET_BLACKBOARD && copy[0].slot != PONS__BT_NONE &&
                l->bt->slots[copy[0].slot].board != (uint32_t)on) {
                copy[0].slot = PONS__BT_NONE;
            }
            l->bt->nodes[at].ports = copy;
            l->bt->nodes[at].n_ports = n;
        }
    }
}
