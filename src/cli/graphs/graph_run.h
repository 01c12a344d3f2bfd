// graph_run.h - what cmd_graph.c and graph_run.c share.
#ifndef PONS_CLI_GRAPH_RUN_H
#define PONS_CLI_GRAPH_RUN_H

#include "cli/cli.h"
#include "pons/graph_module.h"

typedef struct graph_words { // the options of `pons graph`, as they were typed; NULL: not given
    const char *format, *thread, *input, *at, *answer, *answers, *step, *before, *after, *stream,
        *quiet, *durability, *limit, *values, *as, *xray, *rollback;
} graph_words;

// By name, or by the path of a module graph-NAME.so. *ret: the caller's.
int cli_graph_load(const char *name, const pons_graph_module **ret_module, pons_graph **ret,
                   pons_error *err);

// The names of all modules that are found, {name: true}: the caller's.
pons_value *cli_graph_modules(const cli *c);
// "a/graph-x.so" as its directory and "x"; false: not such a file.
bool cli_graph_module(const char *path, char *dir, size_t dir_cap, char *bare, size_t bare_cap);
// A thread's graph, by name or path; false: no graph of a person's own has begun it.
bool cli_graph_name(pons_store store, const char *thread, char ret[PATH_MAX]);
#define CLI_GRAPH_STARTED "graph.started"

int cli_graph_run(cli *c, const char *name, const graph_words *w, pons_error *err);
int cli_graph_resume(cli *c, const char *thread, const graph_words *w, pons_error *err);
int cli_graph_update(cli *c, const char *thread, const graph_words *w, pons_error *err);
int cli_graph_cancel(cli *c, const char *thread, const graph_words *w, pons_error *err);

#endif
