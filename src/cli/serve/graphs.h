// graphs.h - the graphs that `pons serve` lets clients run.
#ifndef PONS_CLI_SERVE_GRAPHS_H
#define PONS_CLI_SERVE_GRAPHS_H

#include "cli/cli.h"
#include "pons/serve.h"

typedef struct cli_graphs {
    pons_serve_graph *list; // (n)
    size_t n;
} cli_graphs;

// Every graph module that is found. One that cannot be loaded is left out, with a line.
void cli_graphs_open(const cli *c, cli_graphs *ret);
void cli_graphs_close(cli_graphs *g); // after the server

#endif
