// core.h - what the files of the orchestrator's core share.
#pragma once

#include "fleet/traffic/traffic.h"

typedef struct pons__robot {
    pons_fleet_robot is;
    pons_fleet_robot_state state;
    int64_t seen_ms;
    double battery_pct;
    int32_t task; // -1: none
    int32_t dock; // it has, or goes to; -1: none
    bool hindered;
    int32_t said; // astray: the zone where it says it is, blocked for it; -1: none
} pons__robot;

typedef struct pons__task {
    pons_fleet_task is;
    bool used;
    int64_t order; // in which they came
} pons__task;

struct pons_fleet {
    pons_fleet_options o;
    pons_fleet_map *map;
    pons__traffic traffic;
    pons__robot *robots;
    size_t n;
    pons__task *tasks;
    size_t n_tasks, cap_tasks; // used up to n_tasks
    size_t waiting, free_tasks;
    int64_t set_back_ms; // what the caller's clock has been set back by
    int64_t orders, now_ms, ticked_ms, again_ms, matched_ms;
    bool changed;      // somebody is free, or something waits, that was not
    int32_t *dock_of;  // (zones) whose dock it is
    float *dock_m;     // (zones) to the nearest dock [m]; < 0: not asked yet
    bool *closed;      // (zones)
    bool *blocked;     // (zones) by a person's or a sensor's word
    uint16_t *heading; // (zones) robots that have a task whose next stop it is
};

static inline double pons__clamp_pct(double pct)
{
    return pct < 0.0 ? 0.0 : pct > 100.0 ? 100.0 : pct;
}

// fleet_robots.c
bool pons__fleet_has(const pons_fleet *f, int32_t robot);
void pons__fleet_clock(pons_fleet *f, int64_t now_ms); // it is so late
void pons__fleet_command(pons_fleet *f, pons_fleet_do what, int32_t robot);
void pons__fleet_idle(pons_fleet *f, int32_t robot); // it has nothing to do: into a park

// fleet_tasks.c
void pons__task_assign(pons_fleet *f, int32_t task, int32_t robot);
void pons__task_arrived(pons_fleet *f, int32_t robot);    // where its next stop is
void pons__task_go_on(pons_fleet *f, int32_t robot);      // to the next stop, or at it
void pons__task_robot_lost(pons_fleet *f, int32_t robot); // back, or outcome_unknown
void pons__task_give_back(pons_fleet *f, int32_t robot);  // one that has not started
int32_t pons__task_find(const pons_fleet *f, const char *id);

// task_assignment.c
void pons__fleet_match(pons_fleet *f);
double pons__fleet_to_dock(pons_fleet *f, int32_t zone); // [m]
bool pons__fleet_low(const pons_fleet *f, const pons__robot *r);
void pons__fleet_docks(pons_fleet *f);
