// thread.h - a thread of a store that this process may write. One loop thread owns it.
#pragma once

#include "graph/state/namespace_head.h"
#include "graph/util/worker_pool.h"
#include "pons/buf.h"

struct pons_thread {
    pons_store store; // ops NULL: none
    pons_lease lease;
    char id[PONS_NAME_MAX];
    pons_clock clock;
    pons_rand rand;
    pons_id_source ids;
    pons_await_handler *handlers;
    size_t n_handlers;
    pons_event_cb on_event;
    void (*on_stored)(void *user);
    void (*on_task)(void *user, const pons_task_seen *seen);
    void *user;
    pons__ns *namespaces;
    pons_buf buf;             // of the checkpoint being packed
    pons__pool *pool;         // of blocking nodes; NULL until there is one
    pons_items_options items; // of what nodes write; fields and user are the program's
    pons_value *mem_inbox;    // without a store: [{seq, ns, kind, value}]
    pons_value *mem_effects;  // without a store: {id: {state, ...}}
    int64_t mem_seq;
    uint64_t serial; // of the newest run
};
