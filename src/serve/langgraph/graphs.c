// graphs.c - the graph behind an assistant: its picture, its channels, what it has inside.
//
//     GET /assistants/A/graph?xray      GET /assistants/A/schemas
//     GET /assistants/A/subgraphs, /subgraphs/NAMESPACE
#include "serve/host/host.h"
#include "serve/langgraph/ask.h"
#include "serve/langgraph/assistants.h"
#include "serve/langgraph/routes.h"

#include <stdlib.h>
#include <string.h>

// The graph of the assistant that the path names; NULL: it is answered.
static const pons_serve_graph *find(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue a = NULL;
    if (pons__lg_assistant(r->s, r->args[0], &a, &err) < 0) {
        pons__lg_refuse(r, &err);
        return NULL;
    }
    const char *id = pons_get_str(a, "graph_id", "");
    const pons_serve_graph *g = pons__runhost_graph(r->s->host, id);
    if (!g) {
        pons__reply_error(r, 404, "the graph %s is not served any more", id);
    }
    return g;
}

static int draw(const pons_serve_graph *g, pons_value **ret, pons_error *err)
{
    char *text = NULL;
    int rc = pons_graph_draw(g->graph, "json", &text, err);
    rc = rc < 0 ? rc : pons_value_parse(text, strlen(text), ret, err);
    free(text);
    return rc;
}

static pons_value *node_of(const char *id)
{
    const bool end = strcmp(id, PONS_END) == 0;
    return pons_object(
        "id", json_string(id), "type", end ? NULL : json_string("runnable"), "data",
        end ? NULL : pons_object("id", json_string(id), "name", json_string(id), NULL), NULL);
}

static void graph(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue drawn = NULL;
    const pons_serve_graph *g = find(r);
    if (!g) {
        return;
    }
    if (draw(g, &drawn, &err) < 0) {
        pons__lg_refuse(r, &err);
        return;
    }
    pons_value *nodes = json_array(), *edges = json_array();
    size_t i;
    json_t *one;
    json_array_foreach(pons_get(drawn, "nodes"), i, one)
    {
        json_array_append_new(nodes, node_of(json_string_value(one)));
    }
    json_array_foreach(pons_get(drawn, "edges"), i, one)
    {
        json_array_append_new(
            edges,
            pons_object("source", pons_value_ref(pons_get(one, "from")), "target",
                        pons_value_ref(pons_get(one, "to")), "conditional",
                        pons_get_bool(one, "conditional", false) ? json_true() : NULL, NULL));
    }
    pons__reply_json(r, 200, pons_object("nodes", nodes, "edges", edges, NULL));
}

// Channels have no types here: a schema names them, and lets each be anything.
static pons_value *schema_of(const pons_serve_graph *g, const pons_value *drawn)
{
    pons_value *members = json_object();
    size_t i;
    json_t *one;
    json_array_foreach(pons_get(drawn, "channels"), i, one)
    {
        json_object_set_new(members, json_string_value(one),
                            pons_object("title", pons_value_ref(one), NULL));
    }
    return pons_object("title", json_sprintf("%s_state", g->id), "type", json_string("object"),
                       "properties", members, NULL);
}

static void schemas(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue drawn = NULL;
    const pons_serve_graph *g = find(r);
    if (!g) {
        return;
    }
    if (draw(g, &drawn, &err) < 0) {
        pons__lg_refuse(r, &err);
        return;
    }
    pons_value *schema = schema_of(g, drawn);
    pons__reply_json(r, 200,
                     pons_object("graph_id", json_string(g->id), "input_schema", schema,
                                 "output_schema", pons_value_ref(schema), "state_schema",
                                 pons_value_ref(schema), "config_schema", json_object(),
                                 "context_schema", json_null(), NULL));
}

static void subgraphs(pons__request *r)
{
    if (find(r)) {
        pons__reply_json(r, 200, json_object());
    }
}

const pons__route pons__lg_graph_routes[] = {
    {"GET", "/assistants/*/graph", PONS__VIEWER, graph},
    {"GET", "/assistants/*/schemas", PONS__VIEWER, schemas},
    {"GET", "/assistants/*/subgraphs", PONS__VIEWER, subgraphs},
    {"GET", "/assistants/*/subgraphs/*", PONS__VIEWER, subgraphs},
    {NULL, NULL, PONS__NOBODY, NULL},
};
