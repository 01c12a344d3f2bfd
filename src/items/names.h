// names.h - namespaces of items as paths of labels.
#pragma once

#include "pons/error.h"
#include "pons/value.h"

// PONS_EINVAL for a namespace that an item can't be put into.
int pons__item_ns_check(const char *ns, pons_error *err);
// The program's own, which nobody else puts anything into or finds ("langgraph.…").
bool pons__item_ns_reserved(const char *ns);
// A path as a list of labels: a new reference; NULL: no memory. "" has none.
pons_value *pons__item_labels(const char *ns);
