// superstep.h - how runs are driven.
#pragma once

#include "graph/core/run.h"

extern const pons__loop pons__supersteps;
