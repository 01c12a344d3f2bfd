// snapshot.h - looking at a thread from outside, for what looks at many checkpoints or threads.
#pragma once

#include "graph/state/checkpoint_read.h"
#include "pons/graph.h"

// The names of a thread's namespaces: a list, the caller's also on failure.
int pons__look_open(pons_store store, const char *thread, pons_value **ret, pons_error *err);
// A snapshot as pons_state_snapshot gives it, without the subgraphs' own. checkpoint NULL: the head.
int pons__look(pons_store store, const char *thread, pons_value *spaces, const char *ns,
               const char *checkpoint, bool bare, pons_value **ret, pons_error *err);
// {source, step, run_id, parents, and what the program knows}: a new reference; NULL: no memory.
pons_value *pons__metadata_of(const pons__image *im);
