// io_schema.c - what a graph takes and gives, as JSON schemas.
//
// A schema that was declared is compiled with the graph and checked where something comes from outside:
// an input, a context, an update; and where a node is given its own. What was not declared is derived
// from the channels, so that a client always has something to show a form for: those that are internal
// are in the state's alone, and the engine's own in none. What is derived is not checked beyond the
// channels' own schemas.
#include "graph/definition/io_schema.h"

#include "graph/engine.h"

#include <string.h>

int pons__contract_compile(pons__contract *c, pons_error *err)
{
    if (c->source && !json_is_object(c->source) && !json_is_boolean(c->source)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a schema is an object or a boolean");
    }
    return c->source ? pons_schema_compile(c->source, &c->compiled, err) : PONS_OK;
}

void pons__contract_fini(pons__contract *c)
{
    pons_schema_destroy(c->compiled);
    pons_value_unref(c->source);
    *c = (pons__contract){0};
}

const pons_value *pons__contract_names(const pons__contract *c)
{
    const pons_value *properties = pons_get(c->source, "properties");
    return json_object_size(properties) > 0 ? properties : NULL;
}

// ---- checks -------------------------------------------------------------------------------------

static int check(const pons__contract *c, const pons_value *v, const char *what, const char *of,
                 pons_error *err)
{
    if (!c->compiled) {
        return PONS_OK;
    }
    pons_autovalue nothing = v ? NULL : json_object();
    pons_error said = PONS_ERROR_INIT;
    if (!v && !nothing) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to check a schema");
    }
    if (pons_schema_check(c->compiled, v ? v : nothing, &said) == PONS_OK) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "the %s %s: %s", what, of, said.message);
}

int pons__check_input(const pons_graph *g, const pons_value *input, pons_error *err)
{
    return check(&g->input, input, "input of", g->name, err);
}

int pons__check_context(const pons_graph *g, const pons_value *context, pons_error *err)
{
    return check(&g->context, context, "context of", g->name, err);
}

int pons__check_value(const pons_graph *g, uint32_t channel, const pons_value *v, pons_error *err)
{
    const pons__channel *c = &g->channels[channel];
    return c->folds ? PONS_OK : check(&c->schema, v, "value of channel", c->name, err);
}

int pons__check_node(const pons__node *n, const pons_value *input, pons_error *err)
{
    return check(&n->input, input, "input of node", n->name, err);
}

// ---- what is known of them ----------------------------------------------------------------------

// What a channel may hold: its own schema, or what its kind says.
static pons_value *of_channel(const pons__channel *c)
{
    if (c->schema.source) {
        return pons_value_ref(c->schema.source);
    }
    if (c->kind == PONS_CHANNEL_MESSAGES) {
        return pons_object_whole("type", json_string("array"), "items",
                                 pons_object_whole("type", json_string("object"), NULL), NULL);
    }
    if (c->appends || c->kind == PONS_CHANNEL_TOPIC) {
        return pons_object_whole("type", json_string("array"), NULL);
    }
    if (c->kind == PONS_CHANNEL_REDUCE && c->reduce == pons_reduce_add) {
        return pons_object_whole("type", json_string("number"), NULL);
    }
    return c->merges ? pons_object_whole("type", json_string("object"), NULL) : json_object();
}

static pons_value *derive(const pons_graph *g, const char *what, bool internal)
{
    pons_value *properties = json_object();
    bool ok = properties != NULL;
    for (size_t i = 0; i < g->n_channels && ok; i++) {
        const pons__channel *c = &g->channels[i];
        if (c->kind < PONS_CHANNEL_IS_LAST_STEP && (internal || !c->internal)) {
            ok = json_object_set_new(properties, c->name, of_channel(c)) == 0;
        }
    }
    if (!ok) {
        pons_value_unref(properties);
        properties = NULL;
    }
    return pons_object_whole("title", json_sprintf("%s_%s", g->name, what), "type",
                             json_string("object"), "properties", properties, NULL);
}

static pons_value *given_or(const pons__contract *c, pons_value *derived)
{
    if (!c->source) {
        return derived;
    }
    pons_value_unref(derived);
    return pons_value_ref(c->source);
}

int pons_graph_schemas(const pons_graph *g, pons_value **ret, pons_error *err)
{
    if (pons__graph_given(g, err) != PONS_OK) {
        return PONS_EINVAL;
    }
    pons_value *nodes = json_object();
    bool ok = nodes != NULL;
    for (size_t i = 0; i < g->n_nodes && ok; i++) {
        const pons_value *own = g->nodes[i].input.source;
        ok = !own || json_object_set_new(nodes, g->nodes[i].name, pons_value_ref(own)) == 0;
    }
    if (!ok) {
        pons_value_unref(nodes);
        nodes = NULL;
    }
    pons_value *v = pons_object_whole(
        "input_schema", given_or(&g->input, derive(g, "input", false)), "output_schema",
        given_or(&g->output, derive(g, "output", false)), "state_schema", derive(g, "state", true),
        "context_schema", g->context.source ? pons_value_ref(g->context.source) : json_null(),
        "nodes", nodes, NULL);
    if (!v) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for schemas");
    }
    *ret = v;
    return PONS_OK;
}
