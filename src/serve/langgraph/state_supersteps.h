// state_supersteps.h - changes of a thread's state from outside, as if its nodes had made them.
#pragma once

#include "serve/access/server.h"

// [{updates: [{values, as_node}]}], a checkpoint each. PONS_EBUSY: a run is under way.
int pons__lg_supersteps(pons_serve *s, const char *thread, const pons_value *steps,
                        pons_error *err);
// One change at a checkpoint (NULL: the newest) of a namespace (NULL: the graph's own). ret: the id of
// the checkpoint that came of it.
int pons__lg_update(pons_serve *s, const char *thread, const char *ns, const char *checkpoint,
                    const pons_value *values, const char *as_node, char ret[32], pons_error *err);
