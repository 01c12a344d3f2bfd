// companion_graph.h - the companion as a graph that clients run: each message of a person goes to its phone.
#ifndef PONS_CLI_SERVE_COMPANION_GRAPH_H
#define PONS_CLI_SERVE_COMPANION_GRAPH_H

#include "cli/serve/store_awaits.h"

typedef struct cli_companion cli_companion;

// store and w are borrowed, and outlive it.
int cli_companion_open(pons_store store, cli_follower *w, cli_companion **ret, pons_error *err);
void cli_companion_close(cli_companion *c); // after the server that runs it; NULL-safe
void cli_companion_graph(cli_companion *c, pons_serve_graph *ret); // borrowed from c

#endif
