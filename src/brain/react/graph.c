// graph.c - the inner loop's graph: nodes R1 to R8, one run an activation.
//
//   START
//     v
//   build_observation <--------------------------+        R1  observe.c    the state as an observation
//     v                                          |
//   react_decide  --detached--> build_observation         R2  decide.c     a model or the rules decide
//     v                                          |
//   compile_ops_from_decision                    |        R3  compile.c    the decision as operations
//     v                                          |
//   guardrails_and_resource_check                |        R4  guardrails.c      the critic; effects are intended
//     |         ^ edited                         |
//     | asks    |                                |
//     +--> human_approval_interrupt --rejected---+        R5  approval.c    a person answers
//     v         v approved                       |
//   dispatch_skills                              |        R6  dispatch.c   the one node that sends
//     v                                          |
//   observe_execution_result                     |        R7  results.c     news of running skills
//     v                                          |
//   react_stop_or_loop --more--------------------+        R8  termination.c
//     v
//   END
//
// R2 awaits a model (or asks the rules, which answer at once), R5 awaits a person, R6 awaits the
// body's word on each goal, R7 awaits news of running skills. Everything else is a function of the
// state. Only R6 sends anything that moves, through the effect ledger:
//
//   R4 intends (in its own commit) → R6 re-arbitrates, commits DISPATCHED synced, sends, settles
//   what the body said → R7 settles what became of it.
//
// A kernel's preempt arrives in the inbox; the loop detaches whatever R2, R6 or R7 waited for, R1
// reads the message, and R2's decision is then the kernel's: let go of everything, and stop the
// base if asked.
#include "brain/react/nodes.h"
#include "brain/state/effect_history.h"
#include "brain/state/graphs.h"

int pons__react_graph(pons_brain *b, pons_graph **ret, pons_error *err)
{
    static const struct {
        const char *name;
        pons_node_fn fn;
    } nodes[] = {
        {"build_observation", pons__build_observation},
        {"react_decide", pons__react_decide},
        {"compile_ops_from_decision", pons__compile_ops_from_decision},
        {"guardrails_and_resource_check", pons__guardrails_and_resource_check},
        {"human_approval_interrupt", pons__human_approval_interrupt},
        {"dispatch_skills", pons__dispatch_skills},
        {"observe_execution_result", pons__observe_execution_result},
        {"react_stop_or_loop", pons__react_stop_or_loop},
    };
    pons_graph_builder *g = pons_graph_builder_create("react");
    const pons_channel_options last = PONS_CHANNEL_OPTIONS_INIT;
    const pons_channel_options messages = {.kind = PONS_CHANNEL_MESSAGES};
    const pons_channel_options trace = {.kind = PONS_CHANNEL_REDUCE, .reduce = pons__trace_reduce};
    pons_graph_channel(g, "messages", &messages);
    pons_graph_channel(g, "skills", &last);
    pons_graph_channel(g, "react", &last);
    pons_graph_channel(g, "trace", &trace);
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        pons_graph_node(g, nodes[i].name, nodes[i].fn, b);
    }
    static const char *const decide[] = {"build_observation", "compile_ops_from_decision", NULL};
    static const char *const guard[] = {"human_approval_interrupt", "dispatch_skills", NULL};
    static const char *const approval[] = {"guardrails_and_resource_check", "react_stop_or_loop",
                                           NULL};
    static const char *const loop[] = {"build_observation", PONS_END, NULL};
    pons_graph_edge(g, PONS_START, "build_observation");
    pons_graph_edge(g, "build_observation", "react_decide");
    pons_graph_router(g, "react_decide", pons__after_decide, b, decide);
    pons_graph_edge(g, "compile_ops_from_decision", "guardrails_and_resource_check");
    pons_graph_router(g, "guardrails_and_resource_check", pons__after_guard, b, guard);
    pons_graph_router(g, "human_approval_interrupt", pons__after_approval, b, approval);
    pons_graph_edge(g, "dispatch_skills", "observe_execution_result");
    pons_graph_edge(g, "observe_execution_result", "react_stop_or_loop");
    pons_graph_router(g, "react_stop_or_loop", pons__after_loop, b, loop);
    const pons_graph_options opts = {.recursion_limit = b ? b->rules.recursion_limit : 400};
    const int rc = pons_graph_compile(g, &opts, ret, err);
    pons_graph_builder_destroy(g);
    return rc;
}
