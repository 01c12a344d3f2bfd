// why.h - a thread's log as prose (why.c).
#ifndef PONS_CLI_ENGINE_WHY_H
#define PONS_CLI_ENGINE_WHY_H

#include "cli/cli.h"

int cli_why(pons_store store, const char *thread, pons_error *err);

#endif
