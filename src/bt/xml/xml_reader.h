// xml_reader.h - XML as elements.
#pragma once

#include "bt/xml/loader.h"

#include <string.h>

pons__bt_element *pons__bt_elements_parse(pons__bt_loader *l, const char *text, size_t len,
                                          const char *file); // NULL: said why
// NULL: none. Inline, as a load asks it a dozen times an element.
static inline const char *pons__bt_element_attr(const pons__bt_element *e, const char *name)
{
    for (const pons__bt_attribute *a = e->attrs; a; a = a->next) {
        if (a->name[0] == name[0] && strcmp(a->name, name) == 0) {
            return a->value;
        }
    }
    return NULL;
}
