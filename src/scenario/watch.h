// watch.h - what must hold at every step of every run, whatever the file says (watch.c).
#ifndef PONS_SCENARIO_WATCH_H
#define PONS_SCENARIO_WATCH_H

#include "pons/body.h"
#include "pons/brain.h"

typedef struct pons__watch_step { // one step of 10 ms, after body and brain have had their turn
    int64_t dt_ns;
    double robot_s;
    bool body;                 // it lives
    bool awake;                // the brain had its turn, linked to this body
    bool told;                 // telemetry came in this step, and says:
    bool latched, risk, empty; // empty: the battery is at its end, and not charging
    double battery_pct;
    pons_twist2 written; // what the gate wrote last
    pons_pose2 truth;
} pons__watch_step;

typedef struct pons__watch {  // the caller's storage
    const pons_value *always; // the file's block, or NULL; borrowed
    const pons_value *world;  // borrowed
    const pons_value *asks;   // names of skills that need a person; borrowed
    pons_value *misses;       // what was broken, once a kind
    pons_value *kinds;        // of them
    double now_s;             // robot time of this step
    pons_pose2 truth, before; // now, and a step ago
    double carried_s;         // when the robot was carried off last
    bool has_before;
    // the ledger
    const char *ledger;  // path; borrowed
    int64_t read_bytes;  // of it
    pons_value *started; // {goal id: true}
    pons_value *moving;  // {goal id: task id} that have the base in this boot
    // the latch, and what else demands SAFE
    bool said;           // a stop, which telemetry does not show yet
    bool latched;        // said, or as telemetry says
    double latched_s;    // robot time: since then
    bool stands;         // it has had its time to brake,
    pons_pose2 stood_at; // and stood here then
    bool demands;        // the newest telemetry demands SAFE
    int64_t unsafe_ns;   // for how long the brain, awake, has not been SAFE all the same
    // the committed events
    int64_t seq;
    pons_value *questions; // {id: ops} without an answer
    pons_value *sent;      // {goal id: true} that were dispatched
    int64_t granted;       // operations that people have agreed to, not dispatched yet
    bool edited;           // a person has changed an operation, sometime
    pons_value *tasks;     // {id: the zone that it ends in, or ""} without an end
} pons__watch;

void pons__watch_init(pons__watch *w, const char *ledger, const pons_value *world,
                      const pons_value *config, const pons_value *always);
void pons__watch_fini(pons__watch *w);
// brain: NULL while it is dead. store: that of the story, past every fault.
void pons__watch_look(pons__watch *w, const pons__watch_step *step, pons_brain *brain,
                      pons_store store, const char *thread);
void pons__watch_stopped(pons__watch *w); // a stop was said to the body itself, just now
void pons__watch_moved(pons__watch *w);   // the robot was carried away: where it stood is no news
void pons__watch_rebooted(pons__watch *w);

#endif
