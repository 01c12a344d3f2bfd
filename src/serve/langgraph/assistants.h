// assistants.h - graphs with a name, a config and metadata of their own, which runs are asked of.
#pragma once

#include "serve/access/route.h"

// By its id, or by its graph's name: {assistant_id, graph_id, config, context, metadata, …}.
// PONS_ENOTFOUND.
int pons__lg_assistant(pons_serve *s, const char *id, pons_value **ret, pons_error *err);
