// checkpoint_pack.h - a namespace's state as the row that follows its stored head.
#pragma once

#include "graph/state/namespace_head.h"
#include "pons/buf.h"

// Packs it into buf (failed: no memory). Returns whether the row is a snapshot.
bool pons__pack(pons__ns *ns, char source, pons_buf *buf);
// The row is committed: nothing is dirty any more.
void pons__packed(pons__ns *ns, char source, const char *id, bool snapshot, size_t bytes);
