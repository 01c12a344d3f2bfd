// below.h - the namespaces below a run's, of subgraphs that keep their state.
#ifndef PONS_GRAPH_RUN_BELOW_H
#define PONS_GRAPH_RUN_BELOW_H

#include "graph/core/run.h"

// The graph of a namespace below a run's ("sub" or "sub:task|own", one name a level), or NULL.
const pons_graph *pons__below(const pons_run *r, const char *name);
// Takes every subgraph below that keeps its state back to where it was at a checkpoint of r's
// namespace, whose fork is r's head.
int pons__below_rewind(pons_run *r, const char *checkpoint, pons_error *err);
// Stores what ended runs of such subgraphs have left for the end of the outermost run (`exit`).
int pons__below_store(pons_run *root, pons_error *err);

#endif
