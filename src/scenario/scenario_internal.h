// scenario_internal.h - what scenario.c (files and running), fault.c (a store that dies on time)
// and judge.c (what must be true) share.
#ifndef PONS_SCENARIO_INTERNAL_H
#define PONS_SCENARIO_INTERNAL_H

#include "pons/body.h"
#include "pons/scenario.h"

struct pons_scenario {
    pons_value *value;
    const pons_value *world, *driver;
};

// A store that passes everything on until the n-th commit; then the process it serves is as good as
// dead: every later call fails until it is revived. `before`: that commit itself is lost.
typedef struct pons_fault_store {
    pons_store inner;
    int64_t commits; // so far
    int64_t kill_at; // 0: never
    bool before;
    bool dead;
    pons_store_ops ops;
} pons_fault_store;
pons_store pons__fault_store_wrap(pons_fault_store *f, pons_store inner);
void pons__fault_store_revive(pons_fault_store *f);

// What happened, for the judge.
typedef struct pons_story {
    pons_value *decisions; // types, in order
    pons_value *modes;
    pons_value *types;   // event types seen, {type: count}
    pons_value *effects; // "skill state" words, {…: count}
    pons_value *said;    // texts
    const char *status;  // of run.done; NULL: none
    char status_buf[16];
    int64_t kills;
} pons_story;
void pons__story_init(pons_story *s);
void pons__story_fini(pons_story *s);
void pons__story_event(pons_story *s, const pons_event *ev);

// Appends what was missed, as text, to misses. ledger_path: the body's; truth: where the robot is.
void pons__judge_expect(const pons_scenario *s, const pons_story *story, const pons_value *world,
                        pons_pose2 truth, pons_value *misses);
// Always: one `started` line a goal id; no start without the end of the task's previous goal or
// another boot; no start after the task is done.
int64_t pons__judge_ledger(const char *ledger_path, pons_value *misses);
bool pons__judge_in_zone(const pons_value *world, const char *zone, pons_pose2 p);

#endif
