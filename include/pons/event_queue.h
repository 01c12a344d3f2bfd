// event_queue.h - what a provider's thread says to its host: events of calls, behind a descriptor.
//
//     host                         [inside]                       the provider's threads
//     begin(7) ------------------> live calls
//     event_fd readable, next <--- events <----------------------- push(7, event)
//     end(7) --------------------> 7 is forgotten, its events too: nothing of it comes any more
//
// Every provider of a contract with `start, cancel, event_fd, next` (ext/llm.h, ext/tool.h) needs
// the same promise: after cancel has returned, no event of that call comes out. Here it is kept
// once. All functions are for any thread; none waits for anything but the others.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

struct pons__queued;

typedef struct pons_event_queue { // the caller's storage
    size_t size;                  // const: bytes of an event
    void (*clear)(void *event);   // const: frees what an event holds
    int fd;                       // const: readable while there may be an event; -1 before init
    pthread_mutex_t mtx;
    struct pons__queued *head, *tail; // [mtx]
    uint64_t *live;                   // [mtx] (n_live), ascending
    size_t n_live, cap_live;          // [mtx]
} pons_event_queue;

// An event is `size` bytes that are copied; `clear` frees what they point to. PONS_EENV without a
// descriptor.
int pons_event_queue_init(pons_event_queue *q, size_t size, void (*clear)(void *event),
                          pons_error *err);
// Clears what nobody took. Takes one that was never initialised but is all zero.
void pons_event_queue_fini(pons_event_queue *q);

// The call's events may come from now on. PONS_EEXIST when they may already, PONS_ENOMEM.
int pons_event_queue_begin(pons_event_queue *q, uint64_t call);
// No event of the call comes out any more; whether it was live.
bool pons_event_queue_end(pons_event_queue *q, uint64_t call);
// The same for all calls.
void pons_event_queue_end_all(pons_event_queue *q);
// Takes the event; clears it when the call is not live. With `last` the call's number is free
// again, though the event still comes out unless the call is ended before. Ends the process without
// memory: a lost event would leave its host waiting for ever.
void pons_event_queue_push(pons_event_queue *q, uint64_t call, const void *event, bool last);
// Makes the descriptor readable once, without an event.
void pons_event_queue_wake(pons_event_queue *q);
// The oldest event; the caller clears it. False when there is none, and the descriptor is quiet.
bool pons_event_queue_next(pons_event_queue *q, void *ret_event);

PONS_C_END
