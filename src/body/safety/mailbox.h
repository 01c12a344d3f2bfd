// mailbox.h - the newest value, from one writing thread to one reading thread, without locks.
//
// Three slots: the writer fills its own, the reader reads its own, and the third lies between them.
// Publishing and taking are one atomic exchange each, so neither side ever waits, and a slot is
// never touched by both. The exchange releases what was written and acquires what is read: no
// fences, which ThreadSanitizer could not follow.
//
//     writer [back] --publish--> [middle | fresh] --take--> [front] reader
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { PONS__MAILBOX_SLOTS = 3, PONS__MAILBOX_FRESH = 4 };

typedef struct pons__mailbox {
    _Atomic uint32_t middle; // slot, and whether it is newer than the reader's
    uint32_t back;           /* writer */
    uint32_t front;          /* reader */
} pons__mailbox;

static inline void pons__mailbox_init(pons__mailbox *m)
{
    atomic_init(&m->middle, 1);
    m->back = 0;
    m->front = 2;
}

// The writer has filled slot m->back; afterwards m->back is another.
static inline void pons__mailbox_publish(pons__mailbox *m)
{
    m->back =
        atomic_exchange_explicit(&m->middle, m->back | PONS__MAILBOX_FRESH, memory_order_acq_rel) &
        ~(uint32_t)PONS__MAILBOX_FRESH;
}

// Makes m->front the newest slot; true when it has changed.
static inline bool pons__mailbox_take(pons__mailbox *m)
{
    if (!(atomic_load_explicit(&m->middle, memory_order_relaxed) & PONS__MAILBOX_FRESH)) {
        return false;
    }
    m->front = atomic_exchange_explicit(&m->middle, m->front, memory_order_acq_rel) &
               ~(uint32_t)PONS__MAILBOX_FRESH;
    return true;
}
