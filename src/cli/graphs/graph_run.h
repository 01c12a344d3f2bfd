// graph_run.h - what cmd_graph.c and graph_run.c share.
#pragma once

#include "cli/cli.h"

typedef struct graph_words { // the options of `pons graph`, as they were typed; NULL: not given
    const char *format, *thread, *input, *at, *answer, *answers, *step, *before, *after, *stream,
        *quiet, *durability, *limit, *values, *as, *xray, *rollback;
} graph_words;

int cli_graph_run(cli *c, const char *name, const graph_words *w, pons_error *err);
int cli_graph_resume(cli *c, const char *thread, const graph_words *w, pons_error *err);
int cli_graph_update(cli *c, const char *thread, const graph_words *w, pons_error *err);
int cli_graph_cancel(cli *c, const char *thread, const graph_words *w, pons_error *err);
