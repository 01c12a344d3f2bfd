// thread_show.h - a thread for a person (thread_show.c).
#pragma once

#include "cli/cli.h"

// states: {namespace: channels}; brief: no more of them than a robot's brain needs.
int cli_thread_show(pons_store store, const char *thread, const pons_value *states, bool brief,
                    pons_error *err);
