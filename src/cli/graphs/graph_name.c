// graph_name.c - which graph a thread is run by: its first event, graph.started, says it.
#include "cli/graphs/graph_run.h"

#include <stdio.h>
#include <string.h>

#define EVENTS_PER_READ 200

static int find_started(void *user, const pons_event_row *row)
{
    pons_autovalue payload = NULL;
    if (strcmp(row->type, CLI_GRAPH_STARTED) != 0 ||
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) < 0) {
        return 0;
    }
    snprintf(user, PATH_MAX, "%s", pons_get_str(payload, "graph", ""));
    return 1; // the first one: a thread keeps its graph
}

// A thread's graph, from the first page of its log: graph.started is the first event.
bool cli_graph_name(pons_store store, const char *thread, char ret[PATH_MAX])
{
    pons_error none = PONS_ERROR_INIT;
    *ret = '\0';
    store.ops->events(store.self, thread, 0, EVENTS_PER_READ, find_started, ret, &none);
    return *ret != '\0';
}

bool cli_graph_of(pons_store store, const char *thread)
{
    char name[PATH_MAX];
    return cli_graph_name(store, thread, name);
}
