// workspace_scope.h - where a workspace keeps its goals of a time, and who looks after them.
#pragma once

#include "app/workspace/context.h"

// A namespace of this workspace's own in its store: a server's has those of other workspaces beside it.
void app_own_space(const app_context *c, const char *name, char ret[64]);
void app_schedules_space(const app_context *c, char ret[64]);
void app_places_space(const app_context *c, char ret[64]);
// run/schedule.lock: who holds it reads and writes them. Opens it: a descriptor, or -1. take does not block.
int app_schedules_open(const app_context *c);
bool app_schedules_take(int fd, bool take);
