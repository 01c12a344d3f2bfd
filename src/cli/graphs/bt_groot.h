// bt_groot.h - `--groot` of `pons bt run` and `pons bt watch`.
#pragma once

#include "pons/groot.h"

typedef struct cli_groot cli_groot;

// at: "PORT" (of 127.0.0.1) or "ADDR:PORT"; 0 takes free ones. Says where it listens.
int cli_groot_open(const char *at, cli_groot **ret, pons_error *err);
void cli_groot_close(cli_groot *g); // NULL-safe
// Another tree is shown from now on. PONS_EINVAL: it can't be.
int cli_groot_tree(cli_groot *g, pons_bt *bt, bool hooks, pons_error *err);
void cli_groot_change(cli_groot *g, uint32_t node, pons_bt_status from, pons_bt_status to);
// Answers for so long [ms]. PONS_ECANCELED: Ctrl-C. There must be a tree.
int cli_groot_serve(cli_groot *g, int ms, pons_error *err);
// pons_bt_try with a monitor beside it.
int cli_groot_try(cli_groot *g, const char *path, const pons_value *script, pons_bt_line_fn line,
                  void *user, pons_value **ret_faults, pons_error *err);
