// graph_thread.c - which graph a thread is run by, such a thread's fork, and the end of its run.
//
// The graph is in the thread's first event, graph.started; a thread keeps it.
#include "cli/graphs/graph_run.h"
#include "pons/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROOT            ""
#define EVENTS_PER_READ 200
#define PREFIX          "graph-"
#define SUFFIX          ".so"

// "a/graph-x.so" as its directory and "x".
bool cli_graph_module(const char *path, char *dir, size_t dir_cap, char *bare, size_t bare_cap)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const size_t n = strlen(file), around = strlen(PREFIX) + strlen(SUFFIX);
    if (strncmp(file, PREFIX, strlen(PREFIX)) != 0 || n <= around ||
        strcmp(file + n - strlen(SUFFIX), SUFFIX) != 0 || n - around >= bare_cap) {
        return false;
    }
    snprintf(bare, bare_cap, "%.*s", (int)(n - around), file + strlen(PREFIX));
    const int d = slash ? snprintf(dir, dir_cap, "%.*s", (int)(slash - path), path)
                        : snprintf(dir, dir_cap, ".");
    return d < (int)dir_cap;
}

int cli_graph_load(const char *name, const pons_graph_module **ret_module, pons_graph **ret,
                   pons_error *err)
{
    char dir[PATH_MAX], bare[PONS_NAME_MAX];
    const void *ops = NULL;
    if (strchr(name, '/') || strstr(name, SUFFIX)) {
        if (!cli_graph_module(name, dir, sizeof dir, bare, sizeof bare)) {
            return pons_error_set(err, PONS_EINVAL, "graph",
                                  "a graph's module is a file graph-NAME.so, not %s", name);
        }
        // The loader looks in directories; this one comes first from now on.
        const char *path = getenv("PONS_MODULE_PATH");
        char all[PATH_MAX * 2];
        snprintf(all, sizeof all, "%s%s%s", dir, path ? ":" : "", path ? path : "");
        setenv("PONS_MODULE_PATH", all, 1);
        name = bare;
    }
    int rc = pons_module_load("graph", name, &ops, err);
    if (rc == PONS_ENOTFOUND) { // and no word of where it was not: that is for who writes modules
        cli c = {0};
        return cli_no_such(&c, "graphs", "graph", name, err);
    }
    if (rc < 0) {
        return rc;
    }
    const pons_graph_module *module = ops;
    if (module->abi != PONS_GRAPH_MODULE_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "graph",
                              "graph %s was built for version %u of graph_module.h, this is %u",
                              name, module->abi, PONS_GRAPH_MODULE_ABI);
    }
    *ret_module = module;
    return module->build(ret, err);
}

static int no_row(void *user, const pons_checkpoint_row *row)
{
    (void)user;
    (void)row;
    return 1;
}

int cli_graph_fork(pons_store store, const char *from, const char *at, const char *to,
                   pons_error *err)
{
    char name[PATH_MAX];
    const pons_graph_module *module = NULL;
    pons_graph *graph = NULL;
    pons_thread *t = NULL;
    pons_run *run = NULL;
    cli_graph_name(store, from, name);
    if (at && store.ops->checkpoint(store.self, from, ROOT, at, no_row, NULL, err) < 0) {
        return err->status;
    }
    int rc = at ? cli_graph_load(name, &module, &graph, err) : PONS_OK;
    rc = rc < 0 ? rc : pons_state_copy(store, from, to, err);
    const bool made = rc >= 0;
    if (rc >= 0 && at) {
        rc = pons_thread_open(store, to, &(pons_thread_options){.clock = pons_clock_real()}, &t,
                              err);
        rc = rc < 0 ? rc : pons_run_fork(t, graph, ROOT, at, NULL, NULL, &run, err);
    }
    pons_run_destroy(run);
    pons_thread_close(t);
    pons_graph_destroy(graph);
    if (rc < 0 && made) {
        pons_error none = PONS_ERROR_INIT;
        store.ops->thread_delete(store.self, to, &none);
    }
    return rc;
}

// ---- another process's run ----------------------------------------------------------------------

// Asks, and waits until the thread is let go. The run ends once its node returns.
int cli_graph_cancel(cli *c, const char *thread, const graph_words *w, pons_error *err)
{
    enum { LOOK_NS = 20 * PONS_NS_PER_MS, PATIENCE = 500 };
    char known[PATH_MAX];
    pons_store store = {0};
    pons_lease holder = {0};
    int rc = cli_workspace(c, false, err);
    rc = rc < 0 ? rc : cli_store(c, &store, err);
    if (rc >= 0 && !cli_graph_name(store, thread, known)) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "graph",
                            "there is no thread %s that `pons graph run` has begun", thread);
    }
    rc = rc < 0 ? rc
                : pons_cancel_post(store, thread,
                                   w->rollback ? PONS_CANCEL_ROLLBACK : PONS_CANCEL_INTERRUPT, err);
    int held = PONS_OK;
    for (int i = 0; rc >= 0 && held == PONS_OK && i < PATIENCE; i++) {
        const struct timespec rest = {.tv_nsec = LOOK_NS};
        nanosleep(&rest, NULL);
        pons_error none = PONS_ERROR_INIT;
        held = store.ops->lease_peek(store.self, thread, &holder, &none);
    }
    if (rc >= 0 && held == PONS_OK) {
        rc = pons_error_set(err, PONS_EBUSY, "graph",
                            "thread %s was asked to end; pid %lld on %s still has it", thread,
                            (long long)holder.pid, holder.host);
    }
    if (rc >= 0 && c->json) {
        pons_autovalue out =
            pons_object("thread", json_string(thread), "canceled", json_true(), NULL);
        cli_print_json(out);
    } else if (rc >= 0) {
        cli_out("%s was canceled; `pons graph resume %s` goes on from %s\n", thread, thread,
                w->rollback ? "before it" : "its last step");
    }
    pons_store_close(&store);
    return rc < 0 ? rc : PONS_OK;
}
