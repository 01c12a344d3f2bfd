// invariants.h - what must hold at every step of every run, whatever the file says (invariants.c).
#pragma once

#include "pons/body.h"
#include "pons/brain.h"
#include "pons/ext/robot.h"

typedef struct pons__watch_step { // one step of 10 ms, after body and brain have had their turn
    int64_t dt_ns;
    double robot_s;
    int64_t wall_ms;
    bool body;                 // it lives
    bool frozen;               // its process does not run
    bool minded;               // the story has a brain,
    bool awake;                // and it had its turn, linked to this body,
    bool met;                  // which has run since they were linked, and so has told it all
    bool reported;             // telemetry came in this step, and says:
    bool latched, risk, empty; // empty: the battery is at its end, and not charging
    bool by_stop, durable;     // of the latch: somebody asked for it; it is on the disk
    double battery_pct;
    int64_t pace_pct;    // of every speed limit
    pons_twist2 written; // what the gate wrote last
    pons_pose2 truth;
    pons_robot_caps caps;     // of the robot
    const pons_value *skills; // the body's registry, or NULL; borrowed
    int64_t bumps; // how often it has driven into something; -1: nobody looked in this step
    bool excused;  // what it touched has come to it, or its wheels did not do as they were told
} pons__watch_step;

typedef struct pons__watch {  // the caller's storage
    const pons_value *always; // the file's block, or NULL; borrowed
    const pons_value *world;  // borrowed
    const pons_value *asks;   // names of skills that need a person; borrowed
    const pons_value *skills; // the body's registry, or NULL; borrowed for a step
    bool reset_waits;         // after a reset the tasks wait for a person's word
    bool overdue_ends;        // a task whose deadline has passed ends
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
    int64_t
        orphan_ns; // for how long one of them, under a brain awake, has been of a task that is over
    pons_value *held; // {goal id: since when}: of those, which wait for a brain to adopt them
    pons_value *open; // {goal id: skill} that have started in this boot, and not ended
    // the latch, and what else demands SAFE
    bool said;           // a stop, which telemetry does not show yet
    bool latched;        // said, or as telemetry says
    double latched_s;    // robot time: since then
    bool stands;         // it has had its time to brake,
    pons_pose2 stood_at; // and stood here then
    bool demands;        // the newest telemetry demands SAFE
    bool over_unheard;   // the newest end of a task came while the body stood still,
    int64_t thawed_ns;   // and it has run for so long since it last stood still
    int64_t silent_ns;   // how long the body has stood still under a brain that was awake
    int64_t unsafe_ns;   // for how long the brain, awake, has not been SAFE all the same
    int64_t demanded_ns; // for how long it has been demanded of a brain that was awake
    bool kept;           // a stop that somebody asked for is on the disk, and nobody has said reset
    bool resetting;      // a reset was said, and may still be heard:
    int64_t reset_ns;    // so long the brain has been awake and the robot free since then
    // words of people
    bool stop_word;         // stop was said to the brain, and telemetry shows no latch yet:
    int64_t stop_word_ns;   // so long the brain has been awake since then
    int64_t stop_seen_ns;   // how long the brain has seen a stop
    bool waits;             // a stop came in the midst of tasks, and nobody has said continue
    bool reset_since;       // the stop
    bool awake;             // in the last step, and it knows what the body has told
    int64_t new_word_ns;    // > 0: continue was said to a brain that may have died of it, unheard
    int64_t asleep_word_ns; // > 0: continue was said to a brain that slept, and may still be heard
    // the motion
    pons_twist2 wrote;     // a step ago
    int64_t lost_ns;       // how long there has been no brain
    int64_t stood_ns;      // how long it has stood in the midst of a goal that has the base,
    int64_t stood_most_ns; // and the longest that it did
    int64_t bumps;         // as of the last look; -1: never
    int64_t pace_pct;      // as telemetry says,
    double pace_s;         // robot time: since then
    int64_t over_ns;       // for how long the gate has written more than that
    // the committed events
    int64_t seq;
    pons_value *questions; // {id: ops} without an answer
    pons_value *sent;      // {goal id: state} of what was dispatched
    pons_value
        *granted; // [{skill, args}] that people have agreed to, not dispatched yet; null: as edited
    bool edited;  // a person has changed an operation, sometime
    pons_value *
        tasks; // {id: {zone: where it ends, or "", own, priority, n, begun, deadline_ms}} without an end
    int64_t queued;       // how many tasks there were
    char switched_to[64]; // the task that the last switch named: it goes first until it is over
    int64_t overdue_ns;   // how long a task whose deadline has passed was open under a brain awake
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
// A person said so, by any way: stop (to the brain), reset, continue. Other words are none of its.
void pons__watch_received(pons__watch *w, const char *word);
