// served_graphs.h - the graphs that `pons serve` lets clients run.
#pragma once

#include "app/serve/companion_graph.h"
#include "app/serve/react_graph.h"
#include "app/workspace/context.h"
#include "pons/serve.h"

typedef struct app_graphs {
    app_follower *follower;
    app_react *react;
    app_companion *companion;
    pons_serve_graph *list; // (n)
    size_t n;
} app_graphs;

// The robot (react), the companion, and every graph module that is found. One that cannot be loaded is left out, with
// a line.
int app_graphs_open(const app_context *c, const app_react_options *o, app_graphs *ret,
                    pons_error *err);
void app_graphs_serve(app_graphs *g, pons_serve *s); // NULL: it goes
// A live event of the brain's. On its thread.
void app_graphs_event(app_graphs *g, const pons_event *ev);
void app_graphs_close(app_graphs *g); // after the server
