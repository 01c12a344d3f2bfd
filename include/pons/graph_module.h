// graph_module.h - the contract of a graph of your own, which `pons graph` draws, runs, steps
// through, stops and resumes.
//
// A graph is a module "graph-NAME.so" (pons/module.h) that exports one pons_graph_module:
//
//     static int build(pons_graph **ret, pons_error *err) { … pons_graph_compile(b, …, ret, err); }
//     static const pons_graph_module letters = {PONS_GRAPH_MODULE_ABI, "letters", "asks first",
//     build}; PONS_MODULE_EXPORT("graph", "letters", &letters);
//
//     cc -shared -fPIC -o graph-letters.so letters.c
//     pons graph run ./graph-letters.so --thread t1 --input '{"letters":5}' --step
//
// The program has the functions of base and of the engine; a module links none of pons itself.
// examples/graphs/ has one.
#pragma once

#include "pons/graph.h"
#include "pons/linkage.h"

PONS_C_BEGIN

#define PONS_GRAPH_MODULE_ABI 2u // 2: the options of nodes and graphs grew

typedef struct pons_graph_module {
    uint32_t abi;     // PONS_GRAPH_MODULE_ABI
    const char *name; // "letters"
    const char *help; // one line
    // Compiles the graph; *ret is the caller's to destroy. Called once a process, on its loop
    // thread. Required.
    int (*build)(pons_graph **ret, pons_error *err);
    // How its awaits are served; may be NULL, and interrupts need none. A start answers before it
    // returns: what takes time is a blocking node's work.
    const pons_await_handler *handlers;
    size_t n_handlers;
} pons_graph_module;

PONS_C_END
