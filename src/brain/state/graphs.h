// graphs.h - the brain's two graphs; the user is the brain (NULL for a drawing: no node runs then).
#pragma once

#include "pons/brain.h"

int pons__kernel_graph(pons_brain *b, pons_graph **ret, pons_error *err);
int pons__react_graph(pons_brain *b, pons_graph **ret, pons_error *err);
