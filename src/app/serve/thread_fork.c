// thread_fork.c - a thread of its own from a moment of another one, also with other values.
//
//     from --at--> to: its state there, nothing runs --edit {ns, values, as_node?}--> a checkpoint more
//
// What people had answered after that moment is dropped, and each effect of the first run waits for a
// person (pons_run_fork). A fork that cannot be edited is no fork: `to` is taken away again.
#include "app/agent/agent_setup.h"
#include "app/serve/workspace_actions.h"

#include <limits.h>
#include <string.h>

static int agent_graph(const app_host *h, pons_graph **ret, pons_error *err)
{
    pons_agent_config *config = NULL;
    int rc = app_agent_config(h->c, &config, err);
    rc = rc < 0 ? rc : pons_agent_graph(config, ret, err);
    pons_agent_config_destroy(config);
    return rc;
}

static int fork_agent(const app_host *h, const char *from, const char *at, const char *to,
                      pons_error *err)
{
    pons_graph *graph = NULL;
    pons_thread *t = NULL;
    pons_run *run = NULL;
    int rc = agent_graph(h, &graph, err);
    rc = rc < 0 ? rc : pons_state_copy(h->store, from, to, err);
    const bool made = rc >= 0;
    if (made && at) {
        rc = pons_thread_open(h->store, to, &(pons_thread_options){.clock = h->clock}, &t, err);
        rc = rc < 0 ? rc : pons_run_fork(t, graph, PONS_AGENT_NS, at, NULL, NULL, &run, err);
    }
    pons_run_destroy(run);
    pons_thread_close(t);
    pons_graph_destroy(graph);
    if (rc < 0 && made) {
        pons_error none = PONS_ERROR_INIT;
        h->store.ops->thread_delete(h->store.self, to, &none);
    }
    return rc;
}

static int graph_of(const app_host *h, const char *thread, const char *ns, pons_graph **ret,
                    pons_error *err)
{
    char name[PATH_MAX];
    const pons_graph_module *module = NULL;
    if (app_graph_name(h->store, thread, name)) {
        return app_graph_load(name, &module, ret, err);
    }
    return strcmp(ns, PONS_AGENT_NS) == 0 ? agent_graph(h, ret, err)
                                          : pons_brain_graph(ns, ret, err);
}

static int change(const app_host *h, const char *thread, const pons_value *edit, pons_error *err)
{
    const char *ns = pons_get_str(edit, "ns", "react");
    pons_graph *graph = NULL;
    pons_thread *t = NULL;
    int rc = graph_of(h, thread, ns, &graph, err);
    rc = rc < 0 ? rc
                : pons_thread_open(h->store, thread, &(pons_thread_options){.clock = h->clock}, &t,
                                   err);
    rc = rc < 0 ? rc
                : pons_state_update(t, graph, ns, pons_get(edit, "values"),
                                    pons_get_str(edit, "as_node", NULL), NULL, err);
    pons_thread_close(t);
    pons_graph_destroy(graph);
    return rc;
}

int app_thread_fork(const app_host *h, const char *from, const char *at, const char *to,
                    const pons_value *edit, pons_error *err)
{
    int rc = app_graph_of(h->store, from) ? app_graph_fork(h->store, from, at, to, err)
             : pons_agent_thread_is(h->store, from)
                 ? fork_agent(h, from, at, to, err)
                 : pons_brain_fork(h->store, &h->clock, from, at, to, err);
    if (rc < 0 || !edit) {
        return rc;
    }
    rc = change(h, to, edit, err);
    if (rc < 0) {
        pons_error none = PONS_ERROR_INIT;
        h->store.ops->thread_delete(h->store.self, to, &none);
    }
    return rc;
}
