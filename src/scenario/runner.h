// runner.h - one run of a scenario: the system that is simulated, and where the story stands. Of
// scenario.c (the loop), process_lives.c (bodies and brains that are born and come back), process_deaths.c (how they
// die), scenario_events.c (what the file's events do) and name_check.c (what they name). One thread. Each uses those to
// its right:
//
//     scenario.c --> process_lives.c --> scenario_events.c --> process_deaths.c
#pragma once

#include "scenario/checks/expectations.h"
#include "scenario/checks/invariants.h"
#include "scenario/direct_control.h"
#include "scenario/failing_store.h"
#include "scenario/scenario_model.h"
#include "scenario/stuck_wheels.h"

#define PONS__STORY_THREAD    "scenario"
#define PONS__STORY_STEP_NS   (10 * PONS_NS_PER_MS)
#define PONS__MOVERS_MAX      8
#define PONS__ANSWER_HEARD_NS PONS_NS_PER_S // by then the brain has taken an answer

// One event of the file, or one that has come out of another.
typedef struct pons__happening {
    const pons_value *value;
    bool done;
    bool armed; // its condition has come; waits for after_s
    int64_t due_ns;
} pons__happening;

// A kill of the brain: at that commit (0: none).
typedef struct pons__kill_plan {
    int64_t at;
    bool before;
} pons__kill_plan;

// A box on its way.
typedef struct pons__mover {
    pons_value *box; // {id, x, y, sx, sy}; NULL: a free place
    double x, y;     // now [m]
    double to_x, to_y;
    double speed_mps;
    int64_t last_ns; // robot time
} pons__mover;

typedef struct pons__runner {
    const pons_scenario *s;
    const pons_scenario_env *env;
    const pons_scenario_options *opts;
    pons_clock_manual manual;
    pons_clock clock;
    pons_value *config;
    pons_store memory, store;
    pons__fault_store fault;
    pons__kill_plan added;            // by a sweep or a seed
    pons__kill_plan reported;         // by the story
    int reported_waiting;             // kills of the story that came while the brain was dead
    bool reported_before;             // the last of them
    pons_body *body;                  // NULL while dead
    int64_t body_back_ns;             // host: when a dead one is started again
    int64_t body_frozen_until_ns;     // host: its process does not run
    int64_t excused_until_ns;         // robot time: what it touches has come to it
    double steer_v, steer_w;          // a hand at the page: it steers so,
    int64_t steer_until_ns, steer_ns; // host: until then; and when it says so again
    int64_t looked_ns;                // robot time of the last look at its bumps
    int64_t robot_ns;                 // of the body, or of the last one
    int boots;
    pons_brain *brain; // NULL while dead, and in a story without one
    bool brainless;
    bool named;            // what the file names is there, as the first hello has shown
    bool linked;           // the brain has a link to this body,
    bool met;              // which has run since, and so has heard its hello
    pons__control control; // the controller of a story without a brain; else an observer
    pons__wheels wheels;
    pons_llm llm;      // outlives the brain
    pons__model model; // between the brain and its model, if it has one
    pons__mover movers[PONS__MOVERS_MAX];
    char ledger[512], sim_state[512];
    int64_t reborn_ns;
    int64_t paused_until_ns;
    int64_t answered_ns; // a person's newest answer; 0: none
    bool peace;          // all is well from here on (calm_end.c)
    int64_t care_ns;     // host: when the person looks again
    int agreed;          // how often they have said yes
    pons_rand fuzz;
    int fuzz_kills;
    pons__story story;
    pons__watch watch;
    pons__happening *events; // (n_events)
    size_t n_events;
} pons__runner;

// process_lives.c
int pons__body_birth(pons__runner *r, pons_error *err); // opens the body, and the hand on it
int pons__brain_birth(pons__runner *r, pons_error *err);
int pons__lives_step(pons__runner *r, pons_error *err); // who is due comes back
// A letter of a person's, in the store also while the brain is dead.
void pons__post(pons__runner *r, const char *kind, pons_value *value_taken);

// process_deaths.c
void pons__body_death(pons__runner *r, double away_s);
void pons__brain_death(pons__runner *r);
void pons__reported_kill(pons__runner *r, bool before); // the story kills at the next commit
void pons__fuzz_next(pons__runner *r);
void pons__kill_aim(pons__runner *r);

// name_check.c
int pons__story_names(const pons__runner *r, pons_error *err);

// calm_end.c
int pons__calm_end_step(pons__runner *r, pons_error *err);

// scenario_events.c
int pons__happen_fits(const pons__runner *r, pons_error *err);
int pons__happen_check(pons__runner *r, pons_error *err); // what is due happens
// An event of this type has been seen: what waits for it has its time.
void pons__happen_arm(pons__runner *r, const char *type, const pons_value *payload);
bool pons__happen_done(const pons__runner *r);
bool pons__happen_answer_to_come(const pons__runner *r);
bool pons__happen_frozen(const pons__runner *r); // the body's process does not run
bool pons__happen_kills_body(const pons__runner *r);
void pons__happen_fini(pons__runner *r);
