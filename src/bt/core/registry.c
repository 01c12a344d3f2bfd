// registry.c - leaves by name, and the numbers that a tree's texts may name.
#include "bt/core/registry.h"

#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

struct pons_bt_registry {
    pons_bt_leaf *leaves;
    size_t n, cap;
    struct enumerator {
        char *name;
        int64_t value;
    } *enums;
    size_t n_enums;
};

pons_bt_registry *pons_bt_registry_create(void)
{
    return calloc(1, sizeof(pons_bt_registry));
}

static void leaf_fini(pons_bt_leaf *l)
{
    for (size_t p = 0; p < l->n_ports; p++) {
        free((char *)l->ports[p].name);
        free((char *)l->ports[p].type);
        free((char *)l->ports[p].fallback);
    }
    free((void *)l->ports);
    free((char *)l->name);
}

void pons_bt_registry_destroy(pons_bt_registry *r)
{
    for (size_t i = 0; r && i < r->n; i++) {
        leaf_fini(&r->leaves[i]);
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
    if (pons__bt_leaf_of(r, leaf->name)) {
        return pons_error_set(err, PONS_EEXIST, "bt", "a leaf named '%s' is registered already",
                              leaf->name);
    }
    if (!pons_list_reserve(&r->leaves, &r->cap, r->n + 1, sizeof *r->leaves)) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for leaf '%s'", leaf->name);
    }
    pons_bt_leaf *l = &r->leaves[r->n];
    *l = *leaf;
    l->name = strdup(leaf->name);
    pons_bt_port *ports = leaf->ports ? calloc(leaf->n_ports + 1, sizeof *ports) : NULL;
    bool ok = l->name && (ports || !leaf->ports);
    l->ports = ports;
    l->n_ports = ports ? leaf->n_ports : 0;
    for (size_t i = 0; ok && i < l->n_ports; i++) {
        const pons_bt_port *from = &leaf->ports[i];
        ports[i] = *from;
        ports[i].name = strdup(from->name);
        ports[i].type = strdup(from->type ? from->type : "any");
        ports[i].fallback = from->fallback ? strdup(from->fallback) : NULL;
        ok = ports[i].name && ports[i].type && (ports[i].fallback || !from->fallback);
    }
    if (!ok) {
        leaf_fini(l);
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for leaf '%s'", leaf->name);
    }
    r->n++;
    return PONS_OK;
}

int pons_bt_register_enum(pons_bt_registry *r, const char *name, int64_t value, pons_error *err)
{
    double known;
    if (pons__bt_enum_of(r, name, &known)) {
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

// ---- finding ------------------------------------------------------------------------------------

bool pons__bt_enum_of(const pons_bt_registry *r, const char *name, double *ret)
{
    for (size_t i = 0; r && i < r->n_enums; i++) {
        if (strcmp(r->enums[i].name, name) == 0) {
            *ret = (double)r->enums[i].value;
            return true;
        }
    }
    return false;
}

const pons_bt_leaf *pons__bt_leaf_of(const pons_bt_registry *r, const char *name)
{
    for (size_t i = 0; r && i < r->n; i++) {
        if (strcmp(r->leaves[i].name, name) == 0) {
            return &r->leaves[i];
        }
    }
    return NULL;
}
