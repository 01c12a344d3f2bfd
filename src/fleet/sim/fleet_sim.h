// fleet_sim.h - what the files of the played fleet share.
#pragma once

#include "fleet/map/zone_graph.h"
#include "pons/random.h"

typedef enum pons__sim_kind {
    PONS__SIM_ENTER,  // a robot has entered its next zone
    PONS__SIM_WORKED, // and ended what it worked at
    PONS__SIM_REVIVE,
    PONS__SIM_BEAT, // all robots, each second
    PONS__SIM_TICK,
    PONS__SIM_KILL,
    PONS__SIM_KILL_CORE,
    PONS__SIM_PERSON, // steps onto a lane
    PONS__SIM_PERSON_GONE,
    PONS__SIM_START_CORE,
    PONS__SIM_TASK,
    PONS__SIM_LOOK // the judge
} pons__sim_kind;

typedef struct pons__sim_event {
    int64_t at_ms;
    uint64_t order;
    pons__sim_kind kind;
    int32_t robot; // -1: none
    int32_t zone;  // of a person
    uint32_t life; // of the robot: what another life had begun does not happen
} pons__sim_event;

typedef struct pons__sim_body {
    int32_t zone, next; // next: on its way; -1: stands
    bool alive, charging, working;
    uint32_t life;
    int64_t move_ends_ms, work_ends_ms, left_ms, charged_ms;
    double battery_pct, speed_mps;
    uint32_t task; // of its ledger: the newest key
    size_t stop;
    bool done; // it has ended
} pons__sim_body;

typedef struct pons__sim_saved { // what a store would have of a robot
    int32_t *zones;
    size_t n, cap;
} pons__sim_saved;

typedef struct pons__sim {
    const pons_fleet_play *play;
    pons_fleet_map *map;
    pons_fleet *core; // NULL: it was killed
    pons_fleet_robot *robots;
    pons__sim_body *bodies;
    pons__sim_saved *legs;
    pons_fleet_task *live; // saved tasks that have not ended, in any order
    size_t n_live, cap_live;
    pons__sim_event *heap;
    size_t n_heap, cap_heap;
    uint64_t orders;
    pons_rand rand;
    int64_t now_ms, dead_ms; // dead_ms: when a dead robot, or a person, was seen last
    int32_t *stations;
    size_t n_stations;
    uint8_t *done; // (tasks) how often each stop was done: two bits each
    uint32_t n_tasks, cap_tasks;
    // The judge's own.
    uint8_t *standing; // (zones) robots on it
    uint8_t *people;   // (zones) 1: somebody stands on it
    uint64_t *flow;    // (zones) robots that have entered it
    int64_t shared, deadlocks, unsafe;
    uint64_t moves, moves_before;
    int64_t waits[4096]; // by seconds
    int64_t n_waits;
    double wait_s, longest_s;
    char longest_why[160];
    double distance_m, energy_pct, ideal_s;
    int64_t persons, charges, tasks_done, tasks_failed, twice, kills, core_kills, reassigned;
    int64_t *lost_ms; // (robots) since when it is dead with a task that was not started; 0: not
    double reassigned_s;
} pons__sim;

void pons__sim_push(pons__sim *s, int64_t at_ms, pons__sim_kind kind, int32_t robot);
void pons__sim_push_zone(pons__sim *s, int64_t at_ms, pons__sim_kind kind, int32_t zone);
bool pons__sim_pop(pons__sim *s, pons__sim_event *ret);

// simulated_robots.c
void pons__sim_bodies_init(pons__sim *s);
void pons__sim_obey(pons__sim *s, const pons_fleet_command *c);
void pons__sim_enter(pons__sim *s, int32_t robot);
void pons__sim_worked(pons__sim *s, int32_t robot);
void pons__sim_beat(pons__sim *s);
void pons__sim_kill(pons__sim *s);
void pons__sim_revive(pons__sim *s, int32_t robot);

// fleet_report.c
pons_value *pons__sim_report(pons__sim *s);
void pons__sim_picture(pons__sim *s, pons_buf *out);
