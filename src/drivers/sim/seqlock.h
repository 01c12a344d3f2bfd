// seqlock.h - the newest value of a struct, from one writer to any number of readers, without
// locks.
//
// A plain sequence lock makes its readers spin while a write is under way, and a reader under
// SCHED_FIFO that has just preempted the writer on its own core would spin for ever. So there are
// SLOTS copies, and writes go round them. A reader copies the slot of the newest *finished* write;
// a writer that stands still in the middle of the next one is in another slot and disturbs nobody.
// The copy is thrown away only when SLOTS - 1 whole writes went by while it was made, and then the
// next try has a fresh slot: a reader never waits for the writer.
//
//     begun   4 ------+ a write under way goes to slot 4 % SLOTS
//     done    3 --+   | readers copy slot 3 % SLOTS
//     slots  [0] [1] [2] [3]      write n lives in slot n % SLOTS
//
// In C11's terms: payload words are stored with release and loaded with acquire, so a reader that
// has seen one word of write n also sees begun ≥ n. That needs no fences, which ThreadSanitizer
// does not understand; on x86 every one of these is a plain move.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PONS_SEQLOCK_SLOTS = 4 };

typedef struct pons__seqlock {
    size_t size;               // of the payload [bytes] /* const */
    size_t words;              // a slot's length /* const */
    _Atomic uint64_t begun;    // number of the newest write that was begun
    _Atomic uint64_t done;     // number of the newest write that is complete; 0: none yet
    _Atomic uint64_t *payload; // (SLOTS × words)
} pons__seqlock;

// false: no memory.
static inline bool pons__seqlock_init(pons__seqlock *l, size_t size)
{
    l->size = size;
    l->words = (size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    atomic_init(&l->begun, 0);
    atomic_init(&l->done, 0);
    l->payload = calloc(l->words * PONS_SEQLOCK_SLOTS, sizeof *l->payload);
    return l->payload != NULL;
}

static inline void pons__seqlock_fini(pons__seqlock *l)
{
    free(l->payload);
    l->payload = NULL;
}

// One writer at a time.
static inline void pons__seqlock_write(pons__seqlock *l, const void *value)
{
    const uint64_t n = atomic_load_explicit(&l->done, memory_order_relaxed) + 1;
    _Atomic uint64_t *slot = l->payload + (n % PONS_SEQLOCK_SLOTS) * l->words;
    atomic_store_explicit(&l->begun, n, memory_order_relaxed);
    // Each copy of a whole word is one move. __builtin_, because of memcpy _FORTIFY_SOURCE would make
    // a call with a check, for each word; what is left comes last.
    const char *from = value;
    const size_t whole = l->size / sizeof(uint64_t), left = l->size % sizeof(uint64_t);
    for (size_t i = 0; i < whole; i++, from += sizeof(uint64_t)) {
        uint64_t word;
        __builtin_memcpy(&word, from, sizeof word);
        atomic_store_explicit(&slot[i], word, memory_order_release);
    }
    if (left > 0) {
        uint64_t word = 0;
        memcpy(&word, from, left);
        atomic_store_explicit(&slot[whole], word, memory_order_release);
    }
    atomic_store_explicit(&l->done, n, memory_order_release);
}

// Any thread. false, and *ret as it was, before the first write.
static inline bool pons__seqlock_read(const pons__seqlock *lock, void *ret)
{
    pons__seqlock *l = (pons__seqlock *)lock; // C17's atomic loads take no const object
    for (;;) {
        const uint64_t n = atomic_load_explicit(&l->done, memory_order_acquire);
        if (!n) {
            return false;
        }
        _Atomic uint64_t *slot = l->payload + (n % PONS_SEQLOCK_SLOTS) * l->words;
        char *to = ret;
        const size_t whole = l->size / sizeof(uint64_t), left = l->size % sizeof(uint64_t);
        for (size_t i = 0; i < whole; i++, to += sizeof(uint64_t)) {
            const uint64_t word = atomic_load_explicit(&slot[i], memory_order_acquire);
            __builtin_memcpy(to, &word, sizeof word);
        }
        if (left > 0) {
            const uint64_t word = atomic_load_explicit(&slot[whole], memory_order_acquire);
            memcpy(to, &word, left);
        }
        if (atomic_load_explicit(&l->begun, memory_order_relaxed) - n < PONS_SEQLOCK_SLOTS) {
            return true;
        }
    }
}
