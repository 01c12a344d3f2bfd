// task_assignment.c - which robot does which task, and which dock it goes to.
//
// Who can: has the capabilities, carries as much, has been heard of in the last 3 s, has nothing else to
// do, finds a way, and comes back to a dock with keep_pct of its battery. What it costs, in seconds: the
// way to the first stop, those who are going there too, and a dock soon when the battery is low after
// it. What is urgent costs less than anything that is not, and what has waited, less by the second.
#include "fleet/core/core.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdlib.h>

#define FRESH_MS     3000
#define QUEUE_S      25.0 // for each robot that is going to the same stop
#define CHARGE_S     60.0
#define CLASS_S      100000.0 // between two priorities
#define LATE_S       50000.0  // a deadline that is near
#define NEAR_MS      600000
#define AGE          0.3 // seconds of way for each second that it has waited
#define TASKS_MORE   16  // than robots: tasks that are looked at
#define TASKS_FACTOR 3
#define EVERY_MS     5000 // batteries and heartbeats change, too

typedef struct row {
    int32_t task;
    double urgency; // less is sooner
} row;

static int by_urgency(const void *a, const void *b, void *user)
{
    const pons_fleet *f = user;
    const row *x = a, *y = b;
    if (x->urgency < y->urgency || x->urgency > y->urgency) {
        return x->urgency < y->urgency ? -1 : 1;
    }
    const int64_t d = f->tasks[x->task].order - f->tasks[y->task].order;
    return (d > 0) - (d < 0);
}

static size_t waiting_rows(pons_fleet *f, row *rows, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_tasks; i++) {
        const pons_fleet_task *t = &f->tasks[i].is;
        if (f->tasks[i].used && t->state == PONS_FLEET_WAITING) {
            const bool late = t->deadline_ms > 0 && t->deadline_ms - f->now_ms < NEAR_MS;
            rows[n++] = (row){(int32_t)i, -CLASS_S * (double)t->priority - (late ? LATE_S : 0.0) -
                                              AGE * (double)(f->now_ms - t->created_ms) / 1000.0};
        }
    }
    qsort_r(rows, n, sizeof *rows, by_urgency, f);
    return n < most ? n : most;
}

static size_t free_robots(pons_fleet *f, int32_t *robots)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        const pons__robot *r = &f->robots[i];
        if (r->state == PONS_FLEET_IDLE && r->task < 0 && f->now_ms - r->seen_ms <= FRESH_MS &&
            !f->traffic.at[i].stuck && !r->hindered) {
            robots[n++] = (int32_t)i;
        }
    }
    return n;
}

static double cost(pons_fleet *f, const pons__task *t, int32_t robot)
{
    const pons__robot *r = &f->robots[robot];
    const pons__mover *m = &f->traffic.at[robot];
    if ((r->is.capabilities & t->is.capabilities) != t->is.capabilities ||
        r->is.payload_kg < t->is.payload_kg) {
        return INFINITY;
    }
    const size_t from = (size_t)(m->next >= 0 ? m->next : m->at);
    const double first = pons_fleet_map_way(f->map, from, (size_t)t->is.stops[0]);
    double way = first;
    for (size_t i = 1; i < t->is.n_stops; i++) {
        way += pons_fleet_map_way(f->map, (size_t)t->is.stops[i - 1], (size_t)t->is.stops[i]);
    }
    const double left = r->battery_pct - way * r->is.pct_per_m;
    const double back = pons__fleet_to_dock(f, t->is.stops[t->is.n_stops - 1]) * r->is.pct_per_m;
    if (!(left - back >= f->o.keep_pct)) { // also when there is no way
        return INFINITY;
    }
    return first / r->is.speed_mps + QUEUE_S * f->heading[t->is.stops[0]] +
           (left < f->o.low_pct ? CHARGE_S : 0.0);
}

static void take_greedily(const double *costs, size_t rows, size_t columns, int32_t *column)
{
    bool *taken = pons_need_zeroed(columns + 1, 1);
    for (size_t i = 0; i < rows; i++) {
        column[i] = -1;
        for (size_t k = 0; k < columns; k++) {
            if (!taken[k] && costs[i * columns + k] < INFINITY &&
                (column[i] < 0 ||
                 costs[i * columns + k] < costs[i * columns + (size_t)column[i]])) {
                column[i] = (int32_t)k;
            }
        }
        if (column[i] >= 0) {
            taken[column[i]] = true;
        }
    }
    free(taken);
}

void pons__fleet_match(pons_fleet *f)
{
    if (f->waiting == 0 || (!f->changed && f->now_ms - f->matched_ms < EVERY_MS)) {
        return;
    }
    int32_t *robots = pons_need((f->n + 1) * sizeof *robots);
    const size_t n_robots = free_robots(f, robots);
    f->changed = false;
    f->matched_ms = f->now_ms;
    if (n_robots > 0) {
        row *rows = pons_need((f->waiting + 1) * sizeof *rows);
        const size_t n = waiting_rows(f, rows, n_robots * TASKS_FACTOR + TASKS_MORE);
        double *costs = pons_need((n * n_robots + 1) * sizeof *costs);
        int32_t *column = pons_need((n + 1) * sizeof *column);
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < n_robots; k++) {
                costs[i * n_robots + k] =
                    cost(f, &f->tasks[rows[i].task], robots[k]) + rows[i].urgency;
            }
        }
        if (f->o.greedy) {
            take_greedily(costs, n, n_robots, column);
        } else {
            pons_fleet_match(costs, n, n_robots, column);
        }
        for (size_t i = 0; i < n; i++) {
            if (column[i] >= 0) {
                pons__task_assign(f, rows[i].task, robots[column[i]]);
            }
        }
        free(rows);
        free(costs);
        free(column);
    }
    free(robots);
}

// The way to the nearest dock that is in order. A map without docks: batteries are changed by hand.
double pons__fleet_to_dock(pons_fleet *f, int32_t zone)
{
    if (f->map->counts[PONS_FLEET_DOCK] == 0) {
        return 0.0;
    }
    if (f->dock_m[zone] < 0.0F) {
        double least = INFINITY;
        for (size_t z = f->map->lanes; z < f->map->n; z++) {
            if (f->map->zones[z].kind == PONS_FLEET_DOCK && !f->closed[z]) {
                least = fmin(least, pons_fleet_map_way(f->map, (size_t)zone, z));
            }
        }
        f->dock_m[zone] = (float)least;
    }
    return (double)f->dock_m[zone];
}

// ---- docks --------------------------------------------------------------------------------------

bool pons__fleet_low(const pons_fleet *f, const pons__robot *r)
{
    return f->map->counts[PONS_FLEET_DOCK] > 0 && r->battery_pct < f->o.low_pct;
}

// Docks are fewer than robots: the lowest battery first, the nearest dock that is free.
void pons__fleet_docks(pons_fleet *f)
{
    for (;;) {
        int32_t lowest = -1;
        for (size_t i = 0; i < f->n; i++) {
            const pons__robot *r = &f->robots[i];
            if (r->state == PONS_FLEET_IDLE && r->task < 0 && !r->hindered &&
                pons__fleet_low(f, r) &&
                (lowest < 0 || r->battery_pct < f->robots[lowest].battery_pct)) {
                lowest = (int32_t)i;
            }
        }
        if (lowest < 0) {
            return;
        }
        const pons__mover *m = &f->traffic.at[lowest];
        const size_t from = (size_t)(m->next >= 0 ? m->next : m->at);
        int32_t dock = -1;
        double least = INFINITY;
        for (size_t z = f->map->lanes; z < f->map->n; z++) {
            if (f->map->zones[z].kind == PONS_FLEET_DOCK && f->dock_of[z] < 0 && !f->closed[z]) {
                const double d = pons_fleet_map_way(f->map, from, z);
                if (d < least) {
                    least = d;
                    dock = (int32_t)z;
                }
            }
        }
        if (dock < 0) {
            return; // all are taken: it stays where it is, and may do what its battery allows
        }
        f->dock_of[dock] = lowest;
        f->robots[lowest].dock = dock;
        f->robots[lowest].state = PONS_FLEET_TO_DOCK;
        pons__traffic_send(&f->traffic, lowest, dock, f->now_ms);
        if (m->at == dock && m->next < 0) { // it stood in it
            f->robots[lowest].state = PONS_FLEET_CHARGING;
            pons__fleet_command(f, PONS_FLEET_CHARGE, lowest);
        }
    }
}
