// react_graph.h - the robot as a graph that clients run: each message of a person is a goal.
#ifndef PONS_CLI_SERVE_REACT_GRAPH_H
#define PONS_CLI_SERVE_REACT_GRAPH_H

#include "cli/serve/store_awaits.h"

typedef struct cli_react cli_react;

typedef struct cli_react_options {
    pons_serve_host host; // copied; what it calls is borrowed
    pons_store store;     // borrowed
    pons_clock clock;
    const char *thread;     // the robot's
    cli_follower *follower; // borrowed
} cli_react_options;

int cli_react_open(const cli_react_options *o, cli_react **ret, pons_error *err);
void cli_react_close(cli_react *r); // after the server that runs it; NULL-safe
void cli_react_graph(cli_react *r, pons_serve_graph *ret); // to be served, borrowed from r

#endif
