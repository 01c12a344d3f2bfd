// brain_bench.h - a brain under the virtual clock, between a store that counts (and may die) and a
// body that is played by the test: what the brain's tests share.
//
// The body is the far end of an in-process link. It answers as include/pons/link.h says, and its
// goals take as long, and end, as the test wants. Nothing here looks inside the brain: tests see
// its events, its status, its store, and what it sent.
#ifndef BRAIN_BENCH_H
#define BRAIN_BENCH_H

#include "pons/brain.h"
#include "rounds.h"

#include <stdbool.h>
#include <stdint.h>

#define BENCH_GOALS_MAX 128
#define BENCH_NEVER     (-1) // a duration

typedef struct bench_goal {
    char id[40], skill[32], boot[16];
    char state[16]; // accepted, done, failed, canceled
    pons_value *args;
    int64_t left_ms;
    int code;
    bool held;
} bench_goal;

typedef struct bench_shown { // of the newest telemetry
    double battery, x, y;
    int64_t latches;
    int hellos, pace;
    const char *battery_state, *stop_reason, *boot;
    bool flags[5];
} bench_shown;

typedef struct bench {
    pons_clock_manual time;
    pons_clock clock;
    pons_value *config; // the test's own copy of config/kernel.yaml: change it before bench_brain
    pons_policy policy;
    pons_llm llm; // ops NULL: rules
    int llm_starts, llm_cancels;
    pons_value *llm_request;                      // the newest
    int (*picture)(void *user, pons_value **ret); // of the options
    const char *pictures_to;                      // the same
    pons_value *objects;                          // of the world; NULL: none
    const char *thread;                           // NULL: t1
    pons_brain *brain;
    pons_error error; // of the poll that failed; status PONS_OK: none
    pons_value *events;
    size_t mark;
    bool keep_running, resumed;
    uint32_t stream; // PONS_STREAM_…
    const char
        *skills_more;  // JSON list with ' for ", joins the registry: {'ms':n} in their arguments is
                       // how long they take
    const char *lacks; // a skill that its registry has not
    const char *resources; // the hello's, JSON with ' for "
    const char *schedules; // the namespace of goals of a time; NULL: none
    const char *places;    // the same of places
    bool no_world_file;    // the world's file cannot be changed
    bool in_room;          // the robot is in a room that has no name
    pons_value *charger;   // the charger that was written last
    pons_value *told;      // the last world.places that the body got
    double std_m;          // of the body's pose
    const char *seen;      // the same of the memory of objects
    const pons_value *seen_words;
    const pons_value *map; // the world's file with its map; NULL: the brain has none
    bool schedules_elsewhere, schedules_kept; // another brain looks after them; this one does
    bool bad_skill;    // the body's registry has one that is not as published
    bool schemas_fail; // the test wants that; else an event schema.failed fails it at the end

    // the store
    pons_store memory, store;
    pons_store_ops ops;
    int64_t commits;
    int64_t commit_ms; // how long one takes; the body goes on meanwhile
    int kill_state;  // a commit with a goal of navigate_to_pose in this state is the last; -1: none
    int64_t kill_at; // the commit of this number is the last; 0: none
    bool kill_before; // … and it is lost
    bool dead;

    // the body: what a test may set
    bool away;   // nobody listens
    bool silent; // no telemetry
    bool mute;   // takes goals, says nothing of them
    bool deaf;   // does not even take goals
    double battery, x, y, yaw;
    const char *battery_state;
    int64_t latches;      // so far; a reset may name one
    int64_t reset_number; // that the last reset named
    bool docked, latched, risk;
    bool astray;             // the scans contradict where it says it is
    bool lifts;              // a reset lifts the latch; else the test does
    int pace;                // percent; as the body has it on its disk; 0: it knows of none
    bool pace_mute;          // it takes no pace and says nothing
    const char *pace_refuse; // the code with which it refuses; NULL: it takes it
    const char *stop_reason;
    const char *boot;
    const char *reject;     // code for every goal but stop_base; NULL: accepts
    int64_t base_ms;        // how long a skill of the base takes; BENCH_NEVER
    bool fail_zones;        // of navigate_to_pose: only those to a zone fail, poses are reached
    int fail_code;          // how navigate_to_pose ends; 0: well
    const char *fail_skill; // another skill that fails, with this code, so many times
    int fail_skill_code, fail_skill_times;
    double driven_m; // what feedback says was driven so far
    bool stuck;      // feedback never gets closer
    bench_shown shown;
    int64_t shown_ns;
    // what it has seen
    pons_link *link;
    int64_t epoch;
    int hellos, heartbeats, resets, stops;
    bool bye, bye_stop;
    pons_value *got; // every message but heartbeats, in order
    bench_goal goals[BENCH_GOALS_MAX];
    size_t n_goals;
} bench;

// script: NULL (the rules decide) or a JSON list of replies for the scripted model.
void bench_open(bench *b, const char *script);
void bench_store(bench *b,
                 pons_store s); // before bench_brain: instead of one in memory; it is the bench's
void bench_close(bench *b);
void bench_brain(bench *b); // opens the brain (again); the store is alive again
void bench_kill(bench *b);  // what kill -9 leaves
void bench_drop(bench *b);  // the link breaks; the body holds

void bench_run(bench *b, double seconds); // host and robot together, 20 ms at a time
// The same, and no longer once nothing has been committed for ROUNDS_brain_quiet seconds.
void bench_settle(bench *b, double seconds);
// Whether the i-th of n, from 0, is one of the rounds that are asked for: those are spread over all
// n, the first and the last one among them.
bool bench_due(rounds_of of, int i, int n);
// Runs until an event of this type (and with key = value anywhere on its top level, or in its
// decision or task) comes after the mark; moves the mark behind it and returns its payload. Fails
// the test when none comes within so many seconds.
const pons_value *bench_await(bench *b, const char *type, const char *key, const char *value,
                              double seconds);
int bench_count(const bench *b, const char *type, const char *key, const char *value); // of all

void bench_goal_text(bench *b, const char *text); // as `pons run TEXT`
void bench_say(bench *b, const char *text);
void bench_post(bench *b, const char *kind, const char *json); // as another process
const char *bench_mode(bench *b);
void bench_ok_pace(bench *b, int percent);                   // the body says that it has this one
void bench_no_pace(bench *b, int percent, const char *code); // that it has refused it
void bench_latch(bench *b, const char *reason); // what a stop does: the moving goal fails with 9902

int bench_sent(const bench *b, const char *type, const char *key, const char *value);
// The newest goal of a skill that the body took; NULL when none.
bench_goal *bench_newest(bench *b, const char *skill);
int bench_starts(const bench *b, const char *skill); // goals of a skill that the body took
void bench_forget(bench *b, bench_goal *g);          // the body never heard of it

#endif
