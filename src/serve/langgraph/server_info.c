// server_info.c - what a client asks first.
//
//     GET /ok        {"ok":true}
//     GET /info      {"version", "flags": {"assistants", "crons"}, "graphs"}
#include "serve/access/reply.h"
#include "serve/access/route.h"

static int ok(pons__request *r)
{
    return pons__reply_json(r, 200, pons_object("ok", json_true(), NULL));
}

static int info(pons__request *r)
{
    const pons_serve *o = r->s;
    pons_value *graphs = json_array();
    for (size_t i = 0; i < o->n_graphs; i++) {
        json_array_append_new(graphs, json_string(o->graphs[i].id));
    }
    return pons__reply_json(r, 200,
                            pons_object("version", json_string(PONS_VERSION), "flags",
                                        pons_object("assistants", json_true(), "crons", json_true(),
                                                    "langsmith", json_false(), NULL),
                                        "host", pons_object("kind", json_string("pons"), NULL),
                                        "graphs", graphs, NULL));
}

static int absent(pons__request *r)
{
    return pons__reply_error(
        r, 501, "%s is of LangGraph's servers, and not here; /openapi.json has what is",
        r->s->http->path(r->x));
}

const pons__route pons__lg_info_routes[] = {
    {"GET", "/ok", PONS__NOBODY, ok},           {"GET", "/info", PONS__VIEWER, info},
    {"GET", "/docs", PONS__VIEWER, absent},     {"GET", "/threads/*/storage", PONS__VIEWER, absent},
    {"POST", "/a2a/*", PONS__OPERATOR, absent}, {"POST", "/ui/*", PONS__VIEWER, absent},
    {NULL, NULL, PONS__NOBODY, NULL},
};
