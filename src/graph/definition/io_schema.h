// io_schema.h - the JSON schemas that a graph was declared with: checked, or derived where none is given.
#pragma once

#include "graph/definition/internal.h"

// Compiles c's schema when it has one; PONS_EINVAL says what is wrong with it.
int pons__contract_compile(pons__contract *c, pons_error *err);
void pons__contract_fini(pons__contract *c);

// PONS_EINVAL names the graph, and the key that does not fit. NULL fits like an empty object.
int pons__check_input(const pons_graph *g, const pons_value *input, pons_error *err);
int pons__check_context(const pons_graph *g, const pons_value *context, pons_error *err);
// A value that comes from outside for a channel whose schema it must fit.
int pons__check_value(const pons_graph *g, uint32_t channel, const pons_value *v, pons_error *err);
// What a node is given: a Send's argument, or the state, of which it sees what its schema names.
int pons__check_node(const pons__node *n, const pons_value *input, pons_error *err);
// The names that a schema lists, NULL when it lists none.
const pons_value *pons__contract_names(const pons__contract *c);
