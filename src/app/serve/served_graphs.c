// served_graphs.c - the graphs that `pons serve` lets clients run: the robot (react_graph.c), the companion
// (companion_graph.c), and the modules that `pons graph list` shows. The agent is the server's own.
//
// Each is compiled once; runs on many threads share it (pons/graph.h says what that takes). Their
// state is in the root namespace, as `pons graph run` has it, so that a thread begun by one is gone on
// with by the other.
#include "app/serve/served_graphs.h"

#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

#define ROOT ""

enum { OWN = 3 }; // the robot, the companion, the agent

int app_graphs_open(const app_context *c, const app_react_options *o, app_graphs *ret,
                    pons_error *err)
{
    pons_autovalue names = app_graph_modules(c);
    app_react_options react = *o;
    *ret = (app_graphs){.list = pons_need_zeroed(json_object_size(names) + OWN, sizeof *ret->list)};
    int rc = app_follower_open(&ret->follower, err);
    react.follower = ret->follower;
    rc = rc < 0 ? rc : app_react_open(&react, &ret->react, err);
    rc = rc < 0 ? rc : app_companion_open(o->store, ret->follower, &ret->companion, err);
    if (rc < 0) {
        return rc;
    }
    app_react_graph(ret->react, &ret->list[ret->n++]);
    app_companion_graph(ret->companion, &ret->list[ret->n++]);
    for (size_t i = 0; i < OWN; i++) { // a module cannot take their names
        json_object_del(names, i < ret->n ? ret->list[i].id : "agent");
    }
    pons_each_member(name, ignored, names) {
        const pons_graph_module *module = NULL;
        pons_graph *graph = NULL;
        pons_error fault = PONS_ERROR_INIT;
        char line[512];
        if (app_graph_load(name, &module, &graph, &fault) < 0) {
            app_tell(c, "pons: graph %s is not served: %s", name,
                     pons_error_line(&fault, line, sizeof line));
            continue;
        }
        ret->list[ret->n++] = (pons_serve_graph){.id = module->name,
                                                 .help = module->help,
                                                 .graph = graph,
                                                 .ns = ROOT,
                                                 .handlers = module->handlers,
                                                 .n_handlers = module->n_handlers};
    }
    return PONS_OK;
}

void app_graphs_serve(app_graphs *g, pons_serve *s)
{
    if (g->follower) {
        app_follower_serve(g->follower, s);
    }
}

void app_graphs_event(app_graphs *g, const pons_event *ev)
{
    if (g->follower && strcmp(ev->type, "token") == 0) {
        app_follower_token(g->follower, ev->payload);
    }
}

void app_graphs_close(app_graphs *g)
{
    for (size_t i = 2; i < g->n; i++) { // the first two are our own
        pons_graph *graph = (pons_graph *)(uintptr_t)g->list[i].graph;
        pons_graph_destroy(graph);
    }
    app_react_close(g->react);
    app_companion_close(g->companion);
    app_follower_close(g->follower);
    free(g->list);
    *g = (app_graphs){0};
}
