// subgraph_namespaces.h - the namespaces below a run's, of subgraphs that keep their state.
#pragma once

#include "graph/persist/commit.h"

// The graph of a namespace below a run's ("sub" or "sub:task|own", one name a level), or NULL.
const pons_graph *pons__below(const pons_run *r, const char *name);
typedef struct pons__others { // namespaces whose states are stored in one commit with another's
    pons__with *v;
    size_t n, cap;
} pons__others;
// A run that stands for ns in such a commit. NULL: no memory.
pons_run *pons__others_add(pons__others *o, pons_thread *t, const pons_graph *g, pons__ns *ns,
                           const pons__loop *loop);
// Gives the namespaces back; forget: they are read from the store again.
void pons__others_end(pons__others *o, bool forget);

// Takes every subgraph below that keeps its state back to where it was at a checkpoint of r's
// namespace, whose fork r's next commit stores, with those of *o.
int pons__below_rewind(pons_run *r, const char *checkpoint, pons__others *o, pons_error *err);
// Stores what ended runs of such subgraphs have left for the end of the outermost run (`exit`), and
// its own state with it.
int pons__below_store(pons_run *root, pons_error *err);
