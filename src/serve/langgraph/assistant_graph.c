// assistant_graph.c - the graph behind an assistant: its picture, its channels, what it has inside.
//
//     GET /assistants/A/graph?xray      GET /assistants/A/schemas
//     GET /assistants/A/subgraphs, /subgraphs/NAMESPACE
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/run_request.h"
#include "serve/runs/run_host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The graph of the assistant that the path names; NULL: there is none (answered, or r->err).
static const pons_serve_graph *find(pons__request *r)
{
    pons_autovalue a = NULL;
    if (pons__lg_assistant(r->s, r->args[0], &a, &r->err) < 0) {
        return NULL;
    }
    const char *id = pons_get_str(a, "graph_id", "");
    const pons_serve_graph *g = pons__runhost_graph(r->s->host, id);
    if (!g) {
        pons__reply_error(r, 404, "the graph %s is not served any more", id);
    }
    return g;
}

static const pons_graph *drawn(const pons_serve_graph *g)
{
    return g->drawn ? g->drawn : g->graph;
}

static int draw(const pons_serve_graph *g, int xray, pons_value **ret, pons_error *err)
{
    char *text = NULL;
    int rc = pons_graph_draw_as(drawn(g), &(pons_draw_options){"langgraph", xray}, &text, err);
    rc = rc < 0 ? rc : pons_value_parse(text, strlen(text), ret, err);
    free(text);
    return rc;
}

// true: all levels of subgraphs; a number: so many; else none.
static int xray_of(const pons__request *r)
{
    const int64_t n =
        pons_get_bool(r->query, "xray", false) ? -1 : pons_get_int(r->query, "xray", 0);
    return n > INT_MAX ? -1 : (int)n;
}

static int graph(pons__request *r)
{
    pons_value *drawn = NULL;
    const pons_serve_graph *g = find(r);
    if (!g || draw(g, xray_of(r), &drawn, &r->err) < 0) {
        return r->err.status;
    }
    return pons__reply_json(r, 200, drawn);
}

// As LangGraph names them; id NULL: of a subgraph.
static int schemas_of(const pons_graph *g, const char *id, pons_value **ret, pons_error *err)
{
    static const char *const own[] = {"input_schema", "output_schema", "state_schema",
                                      "context_schema", NULL};
    pons_autovalue s = NULL;
    const int rc = pons_graph_schemas(g, &s, err);
    if (rc >= 0) {
        *ret = pons__lg_put_all(pons_object("graph_id", id ? json_string(id) : NULL,
                                            "config_schema", json_object(), NULL),
                                s, own);
    }
    return rc;
}

static int schemas(pons__request *r)
{
    pons_value *all = NULL;
    const pons_serve_graph *g = find(r);
    if (!g || schemas_of(g->graph, g->id, &all, &r->err) < 0) {
        return r->err.status;
    }
    return pons__reply_json(r, 200, all);
}

// {"node": schemas, "node|inner": schemas}; wanted: that one alone, and what is on the way to it.
static int subs_of(const pons_graph *g, const char *before, bool deep, const char *wanted,
                   pons_value *all, pons_error *err)
{
    const char *node = "";
    const pons_graph *sub;
    for (size_t i = 0; (sub = pons_graph_sub(g, i, &node)); i++) {
        char ns[PONS_NAME_MAX];
        pons_value *one = NULL;
        const int n = snprintf(ns, sizeof ns, "%s%s%s", before, *before ? "|" : "", node);
        int rc = n < (int)sizeof ns ? PONS_OK
                                    : pons_error_set(err, PONS_EINVAL, PONS__SERVE,
                                                     "subgraphs are nested too deeply");
        if (rc >= 0 && (!wanted || strcmp(wanted, ns) == 0)) {
            rc = schemas_of(sub, NULL, &one, err);
            json_object_set_new(all, ns, one);
        }
        if (rc >= 0 && (deep || wanted)) {
            rc = subs_of(sub, ns, deep, wanted, all, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

static int subgraphs(pons__request *r)
{
    const char *wanted = r->n_args > 1 ? r->args[1] : NULL;
    const pons_serve_graph *g = find(r);
    pons_autovalue all = json_object();
    if (!g || subs_of(drawn(g), "", pons_get_bool(r->query, "recurse", false), wanted, all,
                      &r->err) < 0) {
        return r->err.status;
    }
    return wanted && json_object_size(all) == 0
               ? pons__reply_error(r, 404, "the graph %s has no subgraph %s", g->id, wanted)
               : pons__reply_json(r, 200, pons_value_ref(all));
}

const pons__route pons__lg_graph_routes[] = {
    {"GET", "/assistants/*/graph", PONS__VIEWER, graph},
    {"GET", "/assistants/*/schemas", PONS__VIEWER, schemas},
    {"GET", "/assistants/*/subgraphs", PONS__VIEWER, subgraphs},
    {"GET", "/assistants/*/subgraphs/*", PONS__VIEWER, subgraphs},
    {NULL, NULL, PONS__NOBODY, NULL},
};
