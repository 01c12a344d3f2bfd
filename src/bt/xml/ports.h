// ports.h - what a node takes, and what its element gives it.
#pragma once

#include "bt/xml/loader.h"

enum { PONS__BT_PORTS_MAX = 64 };

typedef struct pons__bt_port_def {
    const char *name, *fallback;
    size_t len, fallback_len;
    char type;
    bool mandatory;
} pons__bt_port_def;

typedef struct pons__bt_port_defs {
    pons__bt_port_def p[PONS__BT_PORTS_MAX];
    int n;
    bool open; // other ports are accepted
} pons__bt_port_defs;

void pons__bt_ports_of_line(pons__bt_port_defs *d, const char *s); // of a manifest
void pons__bt_ports_of_model(pons__bt_port_defs *d, const pons__bt_node_model *m);
void pons__bt_ports_add(pons__bt_port_defs *d, const char *name, const char *type,
                        const char *fallback, bool mandatory);
void pons__bt_ports_set(pons__bt_loader *l, pons__bt_element *e, uint32_t at,
                        const pons__bt_port_defs *d, int32_t on);
bool pons__bt_ports_special(const char *name);                     // no port: ID, name, _...
bool pons__bt_ports_enum(void *cx, const char *name, double *ret); // cx: the loader
