// retention.h - what ended tasks leave in the store, and for how long (config/kernel.yaml, store.keep).
#pragma once

#include "brain/retention/task_ends.h"
#include "pons/graph.h"

typedef struct pons__keep_rules {
    int64_t tasks;           // ended ones that keep every checkpoint and event; < 0: all
    double days, audit_days; // of the thread's life; 0: without end
    double size_mb;          // of the whole store; 0: any
} pons__keep_rules;

// What K6 knows of the tasks.
typedef struct pons__keep_facts {
    int64_t ended;      // how many have
    const char *active; // the id of the one that is at work; "": none
    bool (*waits)(const void *user, const char *task); // has it not ended?
    const void *user;
} pons__keep_facts;

typedef struct pons__keep {
    pons__keep_rules rules;
    pons_store store;   // borrowed
    const char *thread; // id; borrowed
    pons_clock clock;
    pons__ends ends;            // as the channel has it, with what has been done since
    bool known;                 // the channel was read
    const pons_value *received; // its value; NULL: it had none
    bool await_answer;          // ends has something that the channel has not
    int64_t lived_ms;           // now
    int64_t host_ns;            // at the last look
    int64_t look_ns;            // host: no pass begins before this
    int64_t measured;           // tasks that had ended when the store was measured
    int64_t tried; // tasks that had ended when the last pass found nothing more to take
    struct pons__keep_pass {
        int stage;             // 0: none
        pons__mark cut, audit; // n 0: nothing to do
        pons_value *started;   // the newest run.started, when it is going; or NULL
        int64_t checkpoints, thinned, events, effects;
        bool forced; // by the size
    } pass;
} pons__keep;

void pons__keep_init(pons__keep *k, const pons__keep_rules *rules, pons_store store,
                     const char *thread, const pons_clock *clock);
void pons__keep_forget(pons__keep *k); // the thread was let go of
// K6, each tick: the channel's next value, or NULL when nothing changed. old: its value, or NULL.
pons_value *pons__keep_note(pons__keep *k, const pons_value *old, const pons__keep_facts *facts);
// What was committed with the tick.
void pons__keep_hear(pons__keep *k, const pons_value *channel);
// A little of what is due, a few ms at most. 1: something was done, 0: nothing is due.
int pons__keep_work(pons__keep *k, pons_thread *t, pons_error *err);
