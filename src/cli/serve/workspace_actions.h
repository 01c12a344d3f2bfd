// workspace_actions.h - what a server's clients may do to the workspace, in the words of the command line.
#ifndef PONS_CLI_SERVE_WORKSPACE_ACTIONS_H
#define PONS_CLI_SERVE_WORKSPACE_ACTIONS_H

#include "cli/cli.h"
#include "pons/serve.h"

typedef struct cli_host { // the server's workers read it, several at once
    cli *c;
    pons_store store;
    const pons_policy *policy;
    const char *thread; // the server's own
    const char *llm;    // as --llm; NULL: the environment's
    pons_clock clock;
} cli_host;

pons_serve_host cli_host_of(cli_host *h);
// camera_child.c; user is a cli_host.
int cli_host_camera(void *user, const char *name, char **ret, size_t *ret_n, pons_error *err);

#endif
