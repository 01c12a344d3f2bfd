// session_runner.h - `pons watchdog runtime`.
#ifndef PONS_CLI_RUN_SESSION_RUNNER_H
#define PONS_CLI_RUN_SESSION_RUNNER_H

#include "cli/cli.h"

typedef struct cli_sessions_options {
    bool once;
    const char *target; // NULL: all
    double speed;
    uint64_t seed;
    const volatile sig_atomic_t *ended;
} cli_sessions_options;

int cli_watch_sessions(cli *c, const cli_sessions_options *o, pons_error *err);

#endif
