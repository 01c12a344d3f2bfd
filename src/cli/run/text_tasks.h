// text_tasks.h - actions that are tasks in words: real_execute{nl_task}, each a run of its own.
#ifndef CLI_RUN_ERRANDS_H
#define CLI_RUN_ERRANDS_H

#include "cli/cli.h"
#include "pons/ext/tool.h"

// A provider of "real_execute". A call is `pons run TASK` on a thread that its key names, in this workspace and with
// its body: the rules or the model plan it, each step is judged, approved and kept as in every run. Killed, the
// next life resumes that thread. Other errands are refused by name.
int cli_errands_open(const cli *c, pons_tools *ret, pons_error *err);

#endif
