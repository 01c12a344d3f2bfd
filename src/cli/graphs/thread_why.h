// thread_why.h - a thread's log as prose (thread_why.c).
#pragma once

#include "cli/cli.h"

// The newest `last` lines; 0: all.
int cli_why(pons_store store, const char *thread, size_t last, pons_error *err);
