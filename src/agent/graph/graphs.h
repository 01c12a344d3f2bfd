// graphs.h - the outer graph and the two ReAct loops in it.
#pragma once

#include "agent/session.h"

// Graphs. a NULL: for a drawing.
int pons__agent_graph(pons_agent *a, const pons_agent_config *c, pons_graph *loops[2],
                      pons_graph **ret, pons_error *err);
int pons__loop_graph(pons__role *role, pons_graph **ret, pons_error *err);
