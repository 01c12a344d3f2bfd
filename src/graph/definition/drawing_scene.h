// drawing_scene.h - a graph as it is drawn: nodes and edges, subgraphs opened as deep as is wanted.
#pragma once

#include "graph/definition/internal.h"

// {"nodes": [{"id", "sub": bool, "metadata"?}], "edges": [{"source", "target", "conditional": bool}]}.
// Nodes stand in task order between START and END, those of an opened subgraph after them, as
// "sub:node". xray: how many levels of subgraphs are opened; < 0: all. PONS_EINVAL when that is more
// than can be drawn.
int pons__scene(const pons_graph *g, int xray, pons_value **ret, pons_error *err);
