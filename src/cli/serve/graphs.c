// graphs.c - the graphs that `pons serve` lets clients run: the modules that `pons graph list` shows.
//
// Each is compiled once; runs on many threads share it (pons/graph.h says what that takes). Their
// state is in the root namespace, as `pons graph run` has it, so that a thread begun by one is gone on
// with by the other.
#include "cli/serve/graphs.h"

#include "cli/engine/graph_run.h"
#include "pons/memory.h"

#include <stdlib.h>

#define ROOT ""

void cli_graphs_open(const cli *c, cli_graphs *ret)
{
    pons_autovalue names = cli_graph_modules(c);
    const char *name;
    json_t *ignored;
    *ret = (cli_graphs){.list = pons_need_zeroed(json_object_size(names) + 1, sizeof *ret->list)};
    json_object_foreach(names, name, ignored)
    {
        const pons_graph_module *module = NULL;
        pons_graph *graph = NULL;
        pons_error err = PONS_ERROR_INIT;
        char line[512];
        if (cli_graph_load(name, &module, &graph, &err) < 0) {
            cli_err("pons: graph %s is not served: %s\n", name,
                    pons_error_line(&err, line, sizeof line));
            continue;
        }
        ret->list[ret->n++] = (pons_serve_graph){.id = module->name,
                                                 .help = module->help,
                                                 .graph = graph,
                                                 .ns = ROOT,
                                                 .handlers = module->handlers,
                                                 .n_handlers = module->n_handlers};
    }
}

void cli_graphs_close(cli_graphs *g)
{
    for (size_t i = 0; i < g->n; i++) {
        pons_graph *graph = (pons_graph *)(uintptr_t)g->list[i].graph;
        pons_graph_destroy(graph);
    }
    free(g->list);
    *g = (cli_graphs){0};
}
