// functional.h - programs instead of drawings: an entrypoint that calls tasks, on the same engine.
//
//   essay (the entrypoint)                  each task runs in the superstep of the node that calls it,
//     |-- call "fetch" a --> [fetch]        beside the others; its result is kept under the same
//     |-- call "fetch" b --> [fetch]        checkpoint before the caller sees it
//     |-- result, result
//     `-- call "draft"   --> [draft] --> ends: `output`, and `previous` for the next run
//
// A graph with an entrypoint is a graph: runs, interrupts, forks, streams, stores are those of
// pons/graph.h. Its input is {"input": value}, its result the channel "output".
//
// What calls tasks is run again from its top when it has waited, like every node: a task that has a
// result gives it again and is not run, also after a kill. So what is done between the calls must be
// repeatable (time, chance and ids come from the pons_cx), and the calls come in the same order: a
// call that is another one in a replay is PONS_ENONDETERMINISM with both names.
//
// Threads: as pons/graph.h says; a blocking task is on a worker, all else on the loop thread.
#pragma once

#include "pons/graph.h"
#include "pons/linkage.h"

PONS_C_BEGIN

// ---- building -----------------------------------------------------------------------------------

// An entrypoint or a task: input is what it was called with, borrowed (JSON null for nothing). *ret is
// its result, a new reference; NULL is null. PONS_EPARKED only where an await, an interrupt, a graph
// or a future returned it. A task may call tasks, await, interrupt, write items; it has no channels to
// write and nowhere to go: those fail it.
typedef int (*pons_step_fn)(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                            pons_error *err);

// The graph's one node, of the graph's own name, with the channels "input", "output" and "previous";
// no others, no edges beside it.
void pons_graph_entrypoint(pons_graph_builder *b, pons_step_fn fn, void *user);
// A task, which any node of the graph may call; no edge leads there. Its options are those of a node
// (pons_graph_node_options): retry, time-outs, cache (by its input alone), runs, input_schema.
void pons_graph_task(pons_graph_builder *b, const char *name, pons_step_fn fn, void *user);
// The same on a worker thread, beside others: what fn gives as its update is the result.
void pons_graph_task_blocking(pons_graph_builder *b, const char *name, pons_blocking_fn fn,
                              void *user);

// ---- calling ------------------------------------------------------------------------------------

// A call, by its number in the node that made it. A plain value.
typedef struct pons_future {
    size_t call;
} pons_future;

// Asks for a task's result; nothing runs yet. Takes input (NULL: null). Identity: call order, name and
// the input's hash. A task whose call nobody takes the result of is run all the same before the caller
// has ended; its failure is then nobody's.
int pons_call(pons_cx *cx, const char *task, pons_value *input, pons_future *ret, pons_error *err);
// The result, borrowed until the caller returns. Runs first what cx has called and not run yet, so
// that what they await is asked at once. PONS_EPARKED: not there yet, return it. A task's error is
// what this returns, with err as the task left it; a caller may go on from it. What failed is run
// again when the caller is, in another attempt or a resume, unless it went on.
int pons_future_result(pons_cx *cx, pons_future f, const pons_value **ret, pons_error *err);
bool pons_future_done(const pons_cx *cx, pons_future f); // the result, or a failure, is there

// What the entrypoint's last run that ended on this thread returned, or saved; NULL at first. Borrowed
// until the node returns.
const pons_value *pons_cx_previous(pons_cx *cx);
// Saves v for the next run instead of what the entrypoint returns. Takes v.
int pons_cx_save(pons_cx *cx, pons_value *v);

// ---- for a host with threads of its own ---------------------------------------------------------

// Where a superstep has several tasks to run, fn is called for each of this node's, with its user pointer,
// before the first of them runs. The node's function is then called for each in task order, and returns
// what has become of it; until then the cx is the host's to use, on the loop thread. What a cache gives,
// or what is too late, is not begun. Of a node that has been recorded; not of a subgraph, a task or a
// blocking node.
typedef void (*pons_begin_fn)(pons_cx *cx, void *user);
void pons_graph_begin(pons_graph_builder *b, const char *name, pons_begin_fn fn);

// The other end of what was begun: fn is called, with the node's user pointer, in place of the function of
// one that is given up, because the step ended before its turn came (a command to the parent, a cancel, the
// superstep's time, a store that failed). So each that is begun ends exactly once before pons_run_step
// returns. From here on the cx is not the host's, nor is what it was lent below it (pons_future_lend), which
// is not given back: a later step, if there is one, begins it anew. fn asks nothing of the engine.
typedef void (*pons_drop_fn)(pons_cx *cx, void *user);
void pons_graph_drop(pons_graph_builder *b, const char *name, pons_drop_fn fn);

// What was begun has come to its end while another one is waited for: its node's function is called now,
// and what it has made is kept at once, so a kill of the process while others work does not run it again.
// Called within the function of another node of the superstep; does nothing for one that was not begun.
void pons_cx_ended(pons_cx *cx);

// Lends a task that was called and not run yet to the caller of this, who runs it wherever he likes in
// place of its function: *ret is its own pons_cx, for the loop thread alone. *ret is NULL when there is
// nothing to run: it has ended, waits, or its cache had the result.
int pons_future_lend(pons_cx *cx, pons_future f, pons_cx **ret, pons_error *err);
// Gives it back, on the loop thread, before the caller returns: st and its error (PONS_OK, NULL), or
// PONS_EPARKED as a function would return it; takes result. A retry that is due at once is lent anew.
int pons_future_give_back(pons_cx *lent, int st, const pons_error *said, pons_value *result,
                          pons_error *err);

PONS_C_END
