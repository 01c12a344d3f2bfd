// graph.c - the inner loop's graph: nodes R1 to R8, one run an activation.
//
//   START
//     v
//   build_observation <--------------------------+    R1  observe.c      the state as an observation
//     v                                          |
//   react_decide  --interrupted--> R1            |    R2  decide.c       a model or the rules decide
//     v                                          |
//   compile_ops_from_decision                    |    R3  compile.c      the decision as operations
//     v                                          |
//   guardrails_and_resource_check                |    R4  guardrails.c   judged; effects are intended
//     |         ^ answered                       |
//     | asks    |                                |
//     +--> human_approval_interrupt --no--> R8   |    R5  approval.c     a person answers
//     v                                          |
//   dispatch_skills                              |    R6  dispatch.c     the one node that sends
//     v                                          |
//   observe_execution_result                     |    R7  results.c      news of running skills
//     v                                          |
//   react_stop_or_loop --more--------------------+    R8  termination.c
//     v
//   END
//
// R2 awaits a model (or asks the rules, which answer at once), R5 a person, R6 the body's word on each goal, R7 news of
// running skills. Everything else is a function of the state. Only R6 sends anything that moves, through the effect
// ledger. Which way a decision goes is in the table of decision_machine.c. A kernel's preempt arrives in the inbox; the
// loop detaches whatever R2, R6 or R7 waited for, R1 reads the message, and R2's decision is then the kernel's.
#include "brain/react/nodes.h"
#include "brain/state/effect_history.h"
#include "brain/state/graphs.h"

int pons__react_graph(pons_brain *b, pons_graph **ret, pons_error *err)
{
    static const struct {
        pons__node *fn;
        const char *goes[3]; // as the table of decision_machine.c leads; none: on to the next node
    } nodes[] = {
        [PONS_R1] = {pons__build_observation, {NULL}},
        [PONS_R2] = {pons__react_decide, {PONS_NODE_R1, PONS_NODE_R3}},
        [PONS_R3] = {pons__compile_ops_from_decision, {NULL}},
        [PONS_R4] = {pons__guardrails_and_resource_check, {PONS_NODE_R5, PONS_NODE_R6}},
        [PONS_R5] = {pons__human_approval_interrupt, {PONS_NODE_R4, PONS_NODE_R8}},
        [PONS_R6] = {pons__dispatch_skills, {NULL}},
        [PONS_R7] = {pons__observe_execution_result, {NULL}},
        [PONS_R8] = {pons__react_stop_or_loop, {PONS_NODE_R1, PONS_END}},
    };
    pons_graph_builder *g = pons_graph_builder_create("react");
    const pons_channel_options last = PONS_CHANNEL_OPTIONS_INIT;
    const pons_channel_options messages = {.kind = PONS_CHANNEL_MESSAGES};
    const pons_channel_options trace = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons__trace_reduce};
    pons_graph_channel(g, "messages", &messages);
    pons_graph_channel(g, "skills", &last);
    pons_graph_channel(g, "react", &last);
    pons_graph_channel(g, "trace", &trace);
    pons_graph_edge(g, PONS_START, pons__node_names[PONS_R1]);
    for (int i = PONS_R1; i <= PONS_R8; i++) {
        pons_graph_node(g, pons__node_names[i], nodes[i].fn, b);
        if (nodes[i].goes[0]) {
            pons_graph_node_options(g, pons__node_names[i],
                                    &(pons_node_options){.goes = nodes[i].goes});
        } else {
            pons_graph_edge(g, pons__node_names[i], pons__node_names[i + 1]);
        }
    }
    const pons_graph_options opts = {.recursion_limit = b ? b->rules.recursion_limit : 400};
    const int rc = pons_graph_compile(g, &opts, ret, err);
    pons_graph_builder_destroy(g);
    return rc;
}
