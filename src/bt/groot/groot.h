// groot.h - a definition as Groot2 reads one.
#pragma once

#include "bt/core/definition.h"
#include "pons/buf.h"

enum { PONS__GROOT_PATH_MAX = 1024 };

// XML; live: with the nodes' numbers and the trees' paths. out->failed: no memory.
void pons__groot_export(pons_buf *out, const pons_bt *bt, bool live);
// The path of the instance of a tree that a SubTree node stands for, in buf.
const char *pons__groot_path(const pons_bt *bt, uint32_t subtree, char *buf, size_t cap);
