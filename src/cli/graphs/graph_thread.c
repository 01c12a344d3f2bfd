// graph_thread.c - which graph a thread is run by, such a thread's fork, and the end of its run.
//
// The graph is in the thread's first event, graph.started; a thread keeps it.
#include "cli/graphs/graph_run.h"

#include <time.h>

#define EVENTS_PER_READ 200

// ---- another process's run ----------------------------------------------------------------------

// Asks, and waits until the thread is let go. The run ends once its node returns.
int cli_graph_cancel(cli *c, const char *thread, const graph_words *w, pons_error *err)
{
    enum { LOOK_NS = 20 * PONS_NS_PER_MS, PATIENCE = 500 };
    char known[PATH_MAX];
    pons_store store = {0};
    pons_lease holder = {0};
    int rc = app_workspace(&c->app, false, err);
    rc = rc < 0 ? rc : app_store(&c->app, &store, err);
    if (rc >= 0 && !app_graph_name(store, thread, known)) {
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
