// graphs.c - the graph behind an assistant: its picture, its channels, what it has inside.
//
//     GET /assistants/A/graph?xray      GET /assistants/A/schemas
//     GET /assistants/A/subgraphs, /subgraphs/NAMESPACE
#include "serve/host/host.h"
#include "serve/langgraph/ask.h"
#include "serve/langgraph/assistants.h"
#include "serve/langgraph/routes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static int draw(const pons_serve_graph *g, const char *format, int xray, pons_value **ret,
                pons_error *err)
{
    char *text = NULL;
    int rc = pons_graph_draw_as(g->graph, &(pons_draw_options){format, xray}, &text, err);
    rc = rc < 0 ? rc : pons_value_parse(text, strlen(text), ret, err);
    free(text);
    return rc;
}

// true: all levels of subgraphs; a number: so many; else none.
static int xray_of(const pons__request *r)
{
    const char *text = r->s->http->query(r->x, "xray");
    const bool all = text && strcasecmp(text, "true") == 0;
    const int64_t n = all ? -1 : pons__lg_number(r, "xray", 0);
    return n < -1 || n > INT_MAX ? -1 : (int)n;
}

static void graph(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *drawn = NULL;
    const pons_serve_graph *g = find(r);
    if (!g) {
        return;
    }
    if (draw(g, "langgraph", xray_of(r), &drawn, &err) < 0) {
        pons__lg_refuse(r, &err);
        return;
    }
    pons__reply_json(r, 200, drawn);
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
    if (draw(g, "json", 0, &drawn, &err) < 0) {
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
