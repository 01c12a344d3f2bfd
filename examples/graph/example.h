// example.h - what the ten programs share: how they give up, and how they show a value.
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include "pons/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Ends the program with the error's line unless st is PONS_OK.
static inline void need(int st, const pons_error *err)
{
    char line[1200];
    if (st == PONS_OK) {
        return;
    }
    fprintf(stderr, "%s\n", pons_error_line(err, line, sizeof line));
    exit(1);
}

static inline void show(const char *what, const pons_value *v)
{
    char *text = NULL;
    printf("%s: %s\n", what, v && pons_value_line(v, &text) > 0 ? text : "nothing");
    free(text);
}

// A value from JSON text in which '…' stands for "…".
static inline pons_value *value(const char *text)
{
    char buf[512];
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(buf, sizeof buf, "%s", text);
    for (char *c = buf; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    need(pons_value_parse(buf, strlen(buf), &v, &err), &err);
    return v;
}

static inline pons_graph *compiled(pons_graph_builder *b)
{
    pons_error err = PONS_ERROR_INIT;
    pons_graph *g = NULL;
    need(pons_graph_compile(b, NULL, &g, &err), &err);
    pons_graph_builder_destroy(b);
    return g;
}

static inline pons_thread *opened(pons_store store, const char *name)
{
    pons_error err = PONS_ERROR_INIT;
    pons_thread *t = NULL;
    pons_thread_options o = {.clock = pons_clock_real(), .seed = 1};
    need(pons_thread_open(store, name, &o, &t, &err), &err);
    return t;
}

#endif
