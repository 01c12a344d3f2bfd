// workspace_scope.h - where a workspace keeps its goals of a time, and who looks after them.
#ifndef CLI_RUN_SCHEDULES_H
#define CLI_RUN_SCHEDULES_H

#include "cli/cli.h"

// A namespace of this workspace's own in its store: a server's has those of other workspaces beside it.
void cli_own_space(const cli *c, const char *name, char ret[64]);
void cli_schedules_space(const cli *c, char ret[64]);
// run/schedule.lock: who holds it reads and writes them. Opens it: a descriptor, or -1. take does not block.
int cli_schedules_open(const cli *c);
bool cli_schedules_take(int fd, bool take);

#endif
