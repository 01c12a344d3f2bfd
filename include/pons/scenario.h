// scenario.h - whole-system simulation: a body, a brain and a world under one virtual clock, with
// things that happen to them, and what must be true at the end and always.
//
// Everything runs in the caller's thread. The same scenario with the same seed gives the same
// trace, byte for byte, on the same build and machine. docs/reference/scenarios.md describes the files.
#pragma once

#include "pons/brain.h"
#include "pons/ext/robot.h"
#include "pons/linkage.h"

PONS_C_BEGIN

// What the composition root lends to a run. Opened by it, closed by it.
typedef struct pons_scenario_env {
    const pons_robot_ops *robot;
    const pons_value *world;  // from pons_world_load
    const pons_value *config; // kernel.yaml
    // Makes the map of a scenario with `unmapped: true` (pons/ext/slam.h); NULL: it cannot be played.
    const struct pons_slam_ops *slam;
    pons_policy policy;
    // Opens the scripted model of a scenario ({replies[…]}); called once a run, closed by the run.
    const pons_llm_ops *script;
    // A directory of its own, for what the body keeps; an earlier run's files there are replaced.
    const char *dir;
    const char *trees; // folder of its own trees: DIR and DIR/trees; NULL: those installed
    // Every event, as it is shown; may be NULL.
    void (*on_event)(void *user, const pons_event *ev);
    // All that the body says to an observer that asked for everything, at a time of the story [ms since
    // 1970]; borrowed. NULL: nobody listens.
    void (*on_report)(void *user, const pons_value *report, int64_t wall_ms);
    void *user;
} pons_scenario_env;

typedef struct pons_scenario pons_scenario;

// Reads and checks a file: PONS_EINVAL with file:line:col.
int pons_scenario_load(const char *path, pons_scenario **ret, pons_error *err);
void pons_scenario_destroy(pons_scenario *s); // NULL-safe
// A story drawn from a seed, in the house: goals, who decides, and what happens to them. The same
// seed, the same story.
int pons_scenario_random(uint64_t seed, pons_scenario **ret, pons_error *err);
// Writes it as a file that pons_scenario_load reads.
int pons_scenario_save(const pons_scenario *s, const char *path, pons_error *err);
const pons_value *pons_scenario_value(const pons_scenario *s); // as the file says it; borrowed
const char *pons_scenario_name(const pons_scenario *s);
const char *pons_scenario_world(const pons_scenario *s);  // "house"
const char *pons_scenario_driver(const pons_scenario *s); // "kinematic"
bool pons_scenario_is_unmapped(const pons_scenario *s);   // the robot has no map of the world

// Overrides for sweeps and fuzzing.
typedef struct pons_scenario_options {
    uint64_t seed;          // 0: the file's
    int64_t kill_at_commit; // the brain dies at its n-th commit, from 1; 0: as the file says
    bool kill_before;       // that commit is lost; else it is kept and what follows is lost
    uint64_t fuzz_seed;     // 0: none; else random kills come on top
    bool as_model; // of a file without a model: the rules' decisions come over a model's wire
} pons_scenario_options;
#define PONS_SCENARIO_OPTIONS_INIT                                                                 \
    {                                                                                              \
        .seed = 0                                                                                  \
    }

// Runs to the end or the time limit. *ret_report: {name, seed, passed, misses[], status,
// decisions[], modes[], robot_s, commits, kills, starts, results[]}. Returns PONS_OK also when
// expectations are missed; an error only when the simulation itself could not run.
int pons_scenario_run(const pons_scenario *s, const pons_scenario_env *env,
                      const pons_scenario_options *opts, pons_value **ret_report, pons_error *err);

// Of a story that missed something: the least of it that still misses the same first thing.
// *ret_runs: how often it was played for that.
int pons_scenario_shrink(const pons_scenario *s, const pons_scenario_env *env,
                         const pons_scenario_options *opts, pons_scenario **ret, int64_t *ret_runs,
                         pons_error *err);

PONS_C_END
