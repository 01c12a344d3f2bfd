// superstep.h - how runs are driven.
#ifndef PONS_GRAPH_RUN_SUPERSTEP_H
#define PONS_GRAPH_RUN_SUPERSTEP_H

#include "graph/core/run.h"

extern const pons__loop pons__supersteps;

#endif
