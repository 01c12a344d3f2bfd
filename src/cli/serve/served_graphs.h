// served_graphs.h - the graphs that `pons serve` lets clients run.
#ifndef PONS_CLI_SERVE_SERVED_GRAPHS_H
#define PONS_CLI_SERVE_SERVED_GRAPHS_H

#include "cli/cli.h"
#include "cli/serve/companion_graph.h"
#include "cli/serve/react_graph.h"
#include "pons/serve.h"

typedef struct cli_graphs {
    cli_follower *follower;
    cli_react *react;
    cli_companion *companion;
    pons_serve_graph *list; // (n)
    size_t n;
} cli_graphs;

// The robot (react), the companion, and every graph module that is found. One that cannot be loaded is left out, with
// a line.
int cli_graphs_open(const cli *c, const cli_react_options *o, cli_graphs *ret, pons_error *err);
void cli_graphs_serve(cli_graphs *g, pons_serve *s); // NULL: it goes
// A live event of the brain's. On its thread.
void cli_graphs_event(cli_graphs *g, const pons_event *ev);
void cli_graphs_close(cli_graphs *g); // after the server

#endif
