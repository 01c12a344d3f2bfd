// fleet.c - the orchestrator's core: what robots say comes in, what they are to do goes out.
//
//     unseen -> idle <-> busy         a task: to each of its stops, work there (fleet_tasks.c);
//                ^                    which one: the cheapest matching (task_assignment.c)
//                +-> to_dock -> charging   when the battery asks for it and a dock is free
//     any -> lost -> as before        not heard of for lost_after_ms, and heard of again
//     any -> astray                   it says that it is where it cannot be
//
// A robot is told zones, one at a time, and what to do at a stop; it never hears of a task before it
// stands at its first stop. So a task that has not started can be given to another robot at once,
// whatever became of the first. All that must outlive this process is told before the command that
// follows from it: a task's state, and the zones in which a robot may be. After a restart these zones
// are nobody else's until the robot has said where it is.
#include "fleet/core/core.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_MS 2000 // those who wait are looked at again
#define FULL_PCT 92.0

const char *const pons_fleet_robot_states[] = {"unseen",   "idle", "busy",   "to_dock",
                                               "charging", "lost", "astray", NULL};

// ---- what goes out ------------------------------------------------------------------------------

static void on_grant(void *user, int32_t robot)
{
    pons__fleet_command(user, PONS_FLEET_MOVE, robot);
}

// Where a robot is and may be until its next leg is told.
static void on_leg(void *user, int32_t robot)
{
    pons_fleet *f = user;
    const pons__mover *m = &f->traffic.at[robot];
    if (!f->o.leg) {
        return;
    }
    int32_t zones[PONS_FLEET_STOPS_MAX * 8];
    int32_t *all =
        m->n + 2 <= sizeof zones / sizeof *zones ? zones : pons_need((m->n + 2) * sizeof *all);
    size_t n = 0;
    if (m->at >= 0) {
        all[n++] = m->at;
    }
    if (m->next >= 0) {
        all[n++] = m->next;
    }
    for (size_t i = 0; i < m->n; i++) {
        all[n++] = m->leg[i];
    }
    f->o.leg(f->o.user, robot, all, n);
    if (all != zones) {
        free(all);
    }
}

// ---- public functions ---------------------------------------------------------------------------

int pons_fleet_create(const pons_fleet_options *options, const pons_fleet_robot *robots, size_t n,
                      pons_fleet **ret, pons_error *err)
{
    const pons_fleet_map *map = options->map;
    if (n > map->counts[PONS_FLEET_PARK]) {
        return pons_error_set(err, PONS_EINVAL, "fleet",
                              "%zu robots and %zu parks on map %s: each robot needs one", n,
                              map->counts[PONS_FLEET_PARK], map->name);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i && n < 10000; k++) {
            if (strcmp(robots[i].id, robots[k].id) == 0) {
                return pons_error_set(err, PONS_EINVAL, "fleet", "robot %s is there twice",
                                      robots[i].id);
            }
        }
        if (!(robots[i].speed_mps > 0.0)) {
            return pons_error_set(err, PONS_EINVAL, "fleet", "robot %s has no speed", robots[i].id);
        }
    }
    pons_fleet *f = pons_need_zeroed(1, sizeof *f);
    f->o = *options;
    f->map = options->map;
    f->n = n;
    f->robots = pons_need_zeroed(n + 1, sizeof *f->robots);
    f->dock_of = pons_need(map->n * sizeof *f->dock_of);
    f->dock_m = pons_need(map->n * sizeof *f->dock_m);
    f->closed = pons_need_zeroed(map->n, 1);
    f->blocked = pons_need_zeroed(map->n, 1);
    f->heading = pons_need_zeroed(map->n, sizeof *f->heading);
    for (size_t z = 0; z < map->n; z++) {
        f->dock_of[z] = -1;
        f->dock_m[z] = -1.0F;
    }
    for (size_t i = 0; i < n; i++) {
        f->robots[i] = (pons__robot){
            .is = robots[i], .battery_pct = 100.0, .task = -1, .dock = -1, .said = -1};
    }
    pons__traffic_init(&f->traffic, f->map, n, options->moving_max);
    f->traffic.whole_streets = options->lanes_alone;
    f->traffic.leg = on_leg;
    f->traffic.grant = on_grant;
    f->traffic.user = f;
    *ret = f;
    return PONS_OK;
}

void pons_fleet_destroy(pons_fleet *f)
{
    if (f) {
        pons__traffic_fini(&f->traffic);
        free(f->robots);
        free(f->tasks);
        free(f->dock_of);
        free(f->dock_m);
        free(f->closed);
        free(f->blocked);
        free(f->heading);
        free(f);
    }
}

// ---- what comes in ------------------------------------------------------------------------------

// It has entered what it could not enter.
static void get_on(pons_fleet *f, int32_t robot)
{
    pons__robot *r = &f->robots[robot];
    if (r->hindered) {
        r->hindered = false;
        f->changed = true;
        pons__traffic_dead(&f->traffic, robot, false, f->now_ms);
    }
}

// Heard of for the first time, or again.
static void come_back(pons_fleet *f, const pons_fleet_report *report)
{
    pons__robot *r = &f->robots[report->robot];
    const pons__mover *m = &f->traffic.at[report->robot];
    if (m->at < 0) {
        const int32_t next = report->next == report->zone ? -1 : report->next;
        if (!pons__traffic_put(&f->traffic, report->robot, report->zone, next)) {
            r->state = PONS_FLEET_ASTRAY; // somebody else has that zone
            return;
        }
        f->again_ms = 0;          // who stands on a lane needs a leg
        on_leg(f, report->robot); // and where it is must outlive this process, before it has moved
    } else if (report->zone != m->at && report->zone != m->next) {
        r->state = PONS_FLEET_ASTRAY;
        return;
    } else {
        if (r->said >= 0) { // it was a slip of the tongue
            pons__traffic_block(&f->traffic, r->said, false, f->now_ms);
            r->said = -1;
        }
        pons__traffic_dead(&f->traffic, report->robot, false, f->now_ms);
        if (report->zone == m->next) {
            pons__traffic_entered(&f->traffic, report->robot, f->now_ms);
        } else if (m->next >= 0 && report->next < 0 && f->traffic.blocked[m->next]) {
            pons__traffic_revoke(&f->traffic, report->robot, f->now_ms);
        } else if (m->next >= 0 && report->next < 0) { // what was sent never came
            pons__fleet_command(f, PONS_FLEET_MOVE, report->robot);
        }
    }
    f->changed = true;
    r->state = r->task >= 0 ? PONS_FLEET_BUSY : PONS_FLEET_IDLE;
    if (r->task >= 0) {
        pons__task_go_on(f, report->robot);
    } else {
        pons__fleet_idle(f, report->robot);
    }
}

static void arrived(pons_fleet *f, int32_t robot)
{
    pons__robot *r = &f->robots[robot];
    const pons__mover *m = &f->traffic.at[robot];
    if (m->to < 0 || m->at != m->to || m->next >= 0) {
        return;
    }
    if (r->task >= 0) {
        pons__task_arrived(f, robot);
    } else if (r->state == PONS_FLEET_TO_DOCK && m->at == r->dock) {
        r->state = PONS_FLEET_CHARGING;
        pons__fleet_command(f, PONS_FLEET_CHARGE, robot);
    }
}

static void lose(pons_fleet *f, int32_t robot)
{
    pons__robot *r = &f->robots[robot];
    r->state = PONS_FLEET_LOST;
    r->hindered = false;
    if (r->dock >= 0 && f->traffic.at[robot].at != r->dock) {
        f->dock_of[r->dock] = -1;
        r->dock = -1;
    }
    pons__traffic_dead(&f->traffic, robot, true, f->now_ms);
    pons__task_robot_lost(f, robot);
    f->changed = true;
}

void pons_fleet_hear(pons_fleet *f, const pons_fleet_report *report)
{
    pons__fleet_clock(f, report->now_ms);
    const int32_t robot = report->robot, zones = (int32_t)f->map->n;
    if (!pons__fleet_has(f, robot) || report->zone < 0 || report->zone >= zones ||
        report->next >= zones) {
        return;
    }
    pons__robot *r = &f->robots[robot];
    const pons__mover *m = &f->traffic.at[robot];
    r->seen_ms = f->now_ms;
    if (isfinite(report->battery_pct)) {
        r->battery_pct = pons__clamp_pct(report->battery_pct);
    }
    if (r->state == PONS_FLEET_UNSEEN || r->state == PONS_FLEET_LOST ||
        r->state == PONS_FLEET_ASTRAY) {
        come_back(f, report);
        return;
    }
    if (report->zone == m->at) {
        return;
    }
    if (report->zone != m->next) { // where it cannot be: it, or what it says, is wrong
        lose(f, robot);
        r->state = PONS_FLEET_ASTRAY;
        if (f->traffic.holder[report->zone] == PONS__NOBODY) {
            r->said = report->zone;
            pons__traffic_block(&f->traffic, r->said, true, f->now_ms);
        }
        return;
    }
    get_on(f, robot);
    pons__traffic_entered(&f->traffic, robot, f->now_ms);
    arrived(f, robot);
}

void pons_fleet_hinder(pons_fleet *f, int32_t robot, bool hindered, int64_t now_ms)
{
    pons__fleet_clock(f, now_ms);
    if (!pons__fleet_has(f, robot)) {
        return;
    }
    pons__robot *r = &f->robots[robot];
    if (r->state == PONS_FLEET_UNSEEN || r->state == PONS_FLEET_LOST ||
        r->state == PONS_FLEET_ASTRAY) {
        return; // nobody counts on it anyway
    }
    if (!hindered) {
        get_on(f, robot);
    } else if (!r->hindered) {
        r->hindered = true;
        pons__traffic_dead(&f->traffic, robot, true, f->now_ms);
        if (r->task >= 0) {
            pons__task_give_back(f, robot); // one that has started stays its own
        }
    }
}

void pons_fleet_stay(pons_fleet *f, int32_t robot, int64_t now_ms)
{
    pons__fleet_clock(f, now_ms);
    if (pons__fleet_has(f, robot) &&
        f->robots[robot].hindered) { // else it is lost, or would be sent again
        pons__traffic_revoke(&f->traffic, robot, f->now_ms);
        f->changed = true;
    }
}

void pons_fleet_block(pons_fleet *f, int32_t zone, bool blocked, int64_t now_ms)
{
    pons__fleet_clock(f, now_ms);
    if (zone >= 0 && (size_t)zone < f->map->n && f->blocked[zone] != blocked) {
        f->blocked[zone] = blocked;
        pons__traffic_block(&f->traffic, zone, blocked, f->now_ms);
    }
}

void pons_fleet_clear(pons_fleet *f, int32_t robot, int64_t now_ms)
{
    pons__fleet_clock(f, now_ms);
    if (!pons__fleet_has(f, robot)) {
        return;
    }
    pons__robot *r = &f->robots[robot];
    if (r->state != PONS_FLEET_LOST && r->state != PONS_FLEET_ASTRAY &&
        r->state != PONS_FLEET_UNSEEN) {
        return; // it is there: nobody has carried it away
    }
    lose(f, robot);
    if (r->said >= 0) {
        pons__traffic_block(&f->traffic, r->said, false, f->now_ms);
        r->said = -1;
    }
    if (r->dock >= 0) {
        f->dock_of[r->dock] = -1;
        r->dock = -1;
    }
    pons__traffic_take(&f->traffic, robot, f->now_ms);
    f->traffic.at[robot].dead = false;
    r->state = PONS_FLEET_UNSEEN;
}

void pons_fleet_close_zone(pons_fleet *f, int32_t zone, bool closed, int64_t now_ms)
{
    pons__fleet_clock(f, now_ms);
    if (zone < 0 || (size_t)zone >= f->map->n || !pons__map_bay(f->map, zone)) {
        return;
    }
    f->closed[zone] = f->traffic.shut_bay[zone] = closed;
    for (size_t z = 0; z < f->map->n; z++) {
        f->dock_m[z] = -1.0F;
    }
    const int32_t robot = f->dock_of[zone];
    if (closed && robot >= 0 && f->robots[robot].state != PONS_FLEET_LOST) {
        pons__fleet_idle(f, robot); // another one, if there is one
    }
}

void pons_fleet_tick(pons_fleet *f, int64_t now_ms)
{
    pons__fleet_clock(f, now_ms);
    for (size_t i = 0; i < f->n; i++) {
        pons__robot *r = &f->robots[i];
        const bool silent = f->now_ms - r->seen_ms > f->o.lost_after_ms;
        if (silent && r->state != PONS_FLEET_LOST && r->state != PONS_FLEET_ASTRAY &&
            (r->state != PONS_FLEET_UNSEEN || r->task >= 0)) {
            const bool unseen = r->state == PONS_FLEET_UNSEEN;
            lose(f, (int32_t)i);
            r->state = unseen ? PONS_FLEET_UNSEEN : PONS_FLEET_LOST;
        }
        if (r->state == PONS_FLEET_CHARGING && r->battery_pct >= FULL_PCT) {
            pons__fleet_idle(f, (int32_t)i);
        }
        if (f->traffic.at[i].stuck && r->task >= 0) {
            pons__task_give_back(f, (int32_t)i); // somebody else gets there sooner
        }
    }
    pons__fleet_docks(f);
    pons__fleet_match(f);
    if (f->now_ms - f->again_ms >= AGAIN_MS) {
        f->again_ms = f->now_ms;
        pons__traffic_again(&f->traffic, f->now_ms);
    }
}

int pons_fleet_restore_leg(pons_fleet *f, int32_t robot, const int32_t *zones, size_t n,
                           pons_error *err)
{
    if (!pons__fleet_has(f, robot)) {
        return pons_error_set(err, PONS_EINVAL, "fleet", "no robot has number %d", robot);
    }
    for (size_t i = 0; i < n; i++) {
        if (zones[i] < 0 || (size_t)zones[i] >= f->map->n) {
            return pons_error_set(err, PONS_EINVAL, "fleet",
                                  "robot %s was left in a zone that map %s has not",
                                  f->robots[robot].is.id, f->map->name);
        }
    }
    pons__traffic_keep(&f->traffic, robot, zones, n);
    return PONS_OK;
}
