// spec.h - what the test_spec_*.c files share: graphs written as text, and the exact events and
// checkpoints that a run must leave.
//
// There is one such file for each section of the engine's semantics (docs/reference/graph.md). A case builds
// a graph of nodes that follow a script, drives it, and compares everything that was streamed and
// everything that was stored with what the section says.
//
// A node's script is a list of words with ';' between them:
//
//     put CHANNEL JSON   write                    see CHANNEL       write what it sees to "log"
//     goto NODE          as a command does        send NODE JSON    the same
//     ask JSON           interrupt; the answer    await JSON        of kind "ask"; the same
//                        goes to "log"
//     task NAME JSON     a task that returns its argument; the result goes to "log"
//     arg                writes its Send's argument to "log"
//     inbox              writes the messages' values to "log"
//     emit TYPE JSON     custom JSON              post NS KIND JSON
//     fail TEXT          failonce TEXT            parent JSON NODE  commands the graph around it
//
// Every graph has the channels log (append), last, any, once (ephemeral), topic, acc (topic that
// accumulates), sum (add), obj (merge), set (union), msgs (messages), gone (untracked).
#ifndef TESTS_GRAPH_SPEC_H
#define TESTS_GRAPH_SPEC_H

#include "graph/graph_help.h"

#define SPEC_NODES_MAX 8

typedef struct spec_node {
    const char *name, *does;
    const char *to;     // static edges: "b,c"; "" none
    const char *routes; // a router: where the word in channel "last" says; "b,c"
    const pons_graph *sub;
    pons_subgraph_mode mode;
    const pons_node_options *opts; // goes is filled from the script
    int runs;                      // counted
} spec_node;

typedef struct spec_graph {
    const char *start; // "a,b"
    spec_node *nodes;  // up to one without a name
    const char *join;  // "a+b>c", or NULL
    const pons_graph_options *opts;
} spec_graph;

pons_graph *spec_compile(spec_graph *s);
pons_graph_builder *spec_builder(spec_graph *s); // the same, not compiled yet

enum {
    SPEC_VALUES = PONS_STREAM_VALUES,
    SPEC_UPDATES = PONS_STREAM_UPDATES,
    SPEC_ALL = PONS_STREAM_VALUES | PONS_STREAM_UPDATES | PONS_STREAM_CUSTOM
};

// Starts with input (NULL: none) and advances to a state.
pons_run *spec_run(bed *b, const pons_graph *g, const char *input, uint32_t modes,
                   pons_run_state want);
pons_run *spec_resume(bed *b, const pons_graph *g, uint32_t modes, pons_run_state want);
// Answers the only interrupt; advances.
void spec_answer(bed *b, pons_run *r, const char *value, pons_run_state want);
// The n-th pending await's id.
void spec_pending(pons_run *r, size_t n, char ret[64]);

// What was shown since the last call, in the shape of these modes. In JSON, an id is written '#1',
// '#2', … in the order in which they first appear; times are 0.
void spec_events(bed *b, uint32_t modes, bool subgraphs, const char *want);
// What is stored, oldest first: [[step, source, [next], values], …].
void spec_checkpoints(bed *b, const char *ns, const char *want);
// The id of the checkpoint with this step, the newest of them.
void spec_checkpoint_at(bed *b, const char *ns, int64_t step, char ret[32]);
void spec_state(bed *b, const char *ns, const char *want);

#endif
