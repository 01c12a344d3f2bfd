// task_ends.h - where tasks ended, so that what they left can be cut off there.
#pragma once

#include "pons/value.h"

#define PONS_KEEP_ID 32 // of a checkpoint

// The end of a task, as places in the store.
typedef struct pons__mark {
    int64_t n;        // how many tasks had ended, this one included
    int64_t lived_ms; // when, by the life of the thread (retention.h)
    int64_t wall_ms;  // and by the clock
    int64_t event;    // number of the newest event
    char kernel[PONS_KEEP_ID],
        react[PONS_KEEP_ID]; // the newest checkpoints; "": cut already, or none
} pons__mark;

// A task that has begun and not ended.
typedef struct pons__begun {
    char task[40];
    int64_t n; // how many had ended by then
} pons__begun;

// What the channel `keep` of the kernel's namespace holds.
typedef struct pons__ends {
    int64_t ended;             // tasks
    int64_t lived_ms, wall_ms; // at the last change
    pons__mark *marks;         // (n_marks) oldest first
    size_t n_marks;
    pons__begun *begun; // (n_begun)
    size_t n_begun;
    int64_t cut, audited; // n of the marks up to which things went
    int64_t thinned;      // events up to this number have lost what they may lose
    int64_t looked;       // events up to this number were looked at for `started`
    int64_t started;      // number of the newest run.started among them; 0: none
    // What has gone, in all.
    int64_t checkpoints, events, effects, bytes;
    int64_t pruned_ms; // wall clock of the last time; 0: never
} pons__ends;

// Reads a channel's value (NULL: nothing yet). What does not fit is left out. PONS_ENOMEM.
int pons__ends_read(const pons_value *v, pons__ends *ret);
pons_value *pons__ends_write(const pons__ends *e); // NULL: no memory
void pons__ends_fini(pons__ends *e);
// Adds a mark, and takes away those that are closer to each other than a sixteenth of their age.
// false: no memory.
bool pons__ends_mark(pons__ends *e, const pons__mark *m);
bool pons__ends_begin(pons__ends *e, const char *task); // false: no memory
// The newest mark up to n that was made before lived_ms; NULL: none.
const pons__mark *pons__ends_find(const pons__ends *e, int64_t n, int64_t lived_ms);
