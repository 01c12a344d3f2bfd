// pending_writes.h - a task's records, as rows for a commit, and read back.
#pragma once

#include "graph/core/task.h"

// A task's records, as rows for a commit.
typedef struct pons__rows {
    pons_record_row *rows;
    size_t n, cap;
} pons__rows;
#define PONS__COMMAND_TASK "command" // whose records are updates that came with a resume

void pons__rows_fini(pons__rows *r);
int pons__rows_call(pons__rows *r, pons_cx *cx, size_t call, pons_error *err);
void pons__rows_call_saved(pons_cx *cx, size_t call);             // what that wrote is committed
int pons__rows_task(pons__rows *r, pons_cx *cx, pons_error *err); // whatever is not saved yet
int pons__rows_add(pons__rows *r, pons_run *run, const char *task, int32_t idx, pons_value *v,
                   pons_error *err); // takes v
void pons__rows_saved(pons_cx *cx);  // they are committed
// Reads the records of a checkpoint into a run's tasks.
int pons__records_load(pons_run *r, pons_error *err);
