// graph_help.h - what the tests of the engine share: a thread on a fresh memory store, a clock that
// moves when told, nodes that note the order in which they ran, and a store that dies on demand.
#ifndef TESTS_GRAPH_HELP_H
#define TESTS_GRAPH_HELP_H

#include "pons/graph.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bed { // a thread with everything around it
    pons_store store;
    pons_clock_manual time;
    pons_clock clock;
    pons_thread *t;
    pons_value *events;   // [{seq, ns, type, payload}] as shown
    pons_value *started;  // [{id, request, restarted}] of awaits of kind "ask"
    pons_value *canceled; // [id]
    pons_value *instant;  // when set: what a handler answers inside start
    pons_error err;
    bool borrowed_store;
} bed;

void bed_open(bed *b);                      // on a new memory store
void bed_open_on(bed *b, pons_store store); // on somebody else's
void bed_open_without_store(bed *b);
void bed_thread(bed *b); // (re)opens the thread alone
void bed_close(bed *b);
size_t bed_events(const bed *b, const char *type); // how many of a type were shown

pons_value *json(const char *text); // '…' may stand for "…"
void assert_json(const pons_value *v, const char *text);
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        int st_ = (call);                                                                          \
        if (st_ != PONS_OK)                                                                        \
            fail_msg("%s: %d", #call, st_);                                                        \
    } while (0)

// Starts, advances and returns the run; the state is asserted.
pons_run *run_to(bed *b, const pons_graph *g, const char *ns, const char *input,
                 pons_run_state want);
pons_run *resume_to(bed *b, const pons_graph *g, const char *ns, pons_run_state want);

pons_graph *compile(pons_graph_builder *b, const pons_graph_options *opts); // destroys b
void channel(pons_graph_builder *b, const char *name, pons_channel_kind kind,
             pons_reducer_fn reduce);

// Appends its own name to the channel "log"; node_step is the node function.
int node_log(pons_cx *cx, void *user, pons_error *err);

// A store that refuses everything after its n-th commit: the death of the process at that commit.
typedef struct fuse {
    pons_store inner;
    int commits; // seen
    int left;    // commits that still go through; < 0: all
    bool dead;
    int exit_at;     // > 0: the process really ends at this commit,
    bool exit_after; // once it is made, or instead of making it
} fuse;
#define FUSE_EXIT 9      // the status of a process that ended so
extern int fuse_commits; // of all fuses of this process
pons_store fuse_store(fuse *f);

#endif
