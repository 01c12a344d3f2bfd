// agent_graph.h - the planning agent as a graph that clients run.
#pragma once

#include "serve/access/server.h"

// The graph "agent", with the desk's sessions behind it; *ret has it to be served, borrowed.
int pons__agent_graph_open(pons_serve *s, pons__agent_graph **ret, pons_error *err);
void pons__agent_graph_close(pons__agent_graph *g); // after the runs; NULL-safe
void pons__agent_graph_served(pons__agent_graph *g, pons_serve_graph *ret);
