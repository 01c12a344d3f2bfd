// graphs.c - the graphs that `pons serve` lets clients run: the robot (react_graph.c), and
// the modules that `pons graph list` shows.
//
// Each is compiled once; runs on many threads share it (pons/graph.h says what that takes). Their
// state is in the root namespace, as `pons graph run` has it, so that a thread begun by one is gone on
// with by the other.
#include "cli/serve/graphs.h"

#include "cli/engine/graph_run.h"
#include "pons/memory.h"

#include <stdlib.h>

#define ROOT ""

int cli_graphs_open(const cli *c, const cli_react_options *o, cli_graphs *ret, pons_error *err)
{
    pons_autovalue names = cli_graph_modules(c);
    const char *name;
    json_t *ignored;
    *ret = (cli_graphs){.list = pons_need_zeroed(json_object_size(names) + 2, sizeof *ret->list)};
    const int rc = cli_react_open(o, &ret->react, err);
    if (rc < 0) {
        return rc;
    }
    cli_react_graph(ret->react, &ret->list[ret->n++]);
    json_object_del(names, ret->list[0].id); // a module cannot take the robot's name
    json_object_foreach(names, name, ignored)
    {
        const pons_graph_module *module = NULL;
        pons_graph *graph = NULL;
        pons_error fault = PONS_ERROR_INIT;
        char line[512];
        if (cli_graph_load(name, &module, &graph, &fault) < 0) {
            cli_err("pons: graph %s is not served: %s\n", name,
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

void cli_graphs_serve(cli_graphs *g, pons_serve *s)
{
    if (g->react) {
        cli_react_serve(g->react, s);
    }
}

void cli_graphs_close(cli_graphs *g)
{
    cli_react_close(g->react);
    for (size_t i = 1; i < g->n; i++) { // the first one is react's
        pons_graph *graph = (pons_graph *)(uintptr_t)g->list[i].graph;
        pons_graph_destroy(graph);
    }
    free(g->list);
    *g = (cli_graphs){0};
}
