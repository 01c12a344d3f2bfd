// thread_fork.h - a thread of its own from a moment of another one, also with other values.
#ifndef PONS_CLI_SERVE_THREAD_FORK_H
#define PONS_CLI_SERVE_THREAD_FORK_H

#include "cli/serve/workspace_actions.h"

// As pons_serve_host.fork: of the robot's thread, an agent's, or a graph's.
int cli_serve_fork(const cli_host *h, const char *from, const char *at, const char *to,
                   const pons_value *edit, pons_error *err);

#endif
