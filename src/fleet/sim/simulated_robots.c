// simulated_robots.c - the robots of a played fleet: they drive along lanes, work, charge, die and come back.
//
// A body knows what a real one knows: where it is, which zone it has been given, its battery, and a
// ledger of what it was asked for, so that a stop of a task is done once however often it is asked for.
// Dead, it stands where it is and hears nothing; back, it goes on. The judge counts who is in a zone by
// the bodies alone, not by what the orchestrator thinks.
#include "fleet/sim/fleet_sim.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WORK_MS          20000
#define DEAD_MIN_MS      60000
#define DEAD_MAX_MS      600000
#define PCT_PER_M        0.0028 // eight hours of driving
#define CHARGE_PCT_PER_S 0.0185 // an hour and a half
#define CHARGE_EVERY_S   10

void pons__sim_bodies_init(pons__sim *s)
{
    const size_t n = s->play->robots;
    s->robots = pons_need_zeroed(n, sizeof *s->robots);
    s->bodies = pons_need_zeroed(n, sizeof *s->bodies);
    int32_t park = (int32_t)s->map->lanes;
    const size_t parks = s->map->counts[PONS_FLEET_PARK];
    for (size_t i = 0, k = 0; i < n; park++) { // evenly over the parks
        if (s->map->zones[park].kind != PONS_FLEET_PARK) {
            continue;
        }
        if (k++ * n / parks != i) {
            continue;
        }
        pons_fleet_robot *r = &s->robots[i];
        snprintf(r->id, sizeof r->id, "r%zu", i + 1);
        r->capabilities = i % 4 == 0 ? 3 : 1;
        r->payload_kg = i % 2 == 0 ? 100.0 : 50.0;
        r->speed_mps = 1.0 + 0.4 * pons_rand_unit(&s->rand);
        r->pct_per_m = PCT_PER_M;
        r->charge_pct_per_s = CHARGE_PCT_PER_S;
        s->bodies[i] = (pons__sim_body){.zone = park,
                                        .next = -1,
                                        .alive = true,
                                        .battery_pct = 40.0 + 60.0 * pons_rand_unit(&s->rand),
                                        .speed_mps = r->speed_mps,
                                        .task = UINT32_MAX};
        s->standing[park]++;
        i++;
    }
}

static void start(pons__sim *s, int32_t robot, pons__sim_kind kind, int64_t ms)
{
    pons__sim_push(s, s->now_ms + ms, kind, robot);
}

static void tell_worked(pons__sim *s, int32_t robot)
{
    char id[PONS_FLEET_NAME_MAX];
    snprintf(id, sizeof id, "t%u", s->bodies[robot].task);
    if (s->core) {
        pons_fleet_worked(s->core, robot, id, s->bodies[robot].stop, true, s->now_ms);
    }
}

void pons__sim_obey(pons__sim *s, const pons_fleet_command *c)
{
    pons__sim_body *b = &s->bodies[c->robot];
    if (!b->alive) {
        return;
    }
    switch (c->what) {
    case PONS_FLEET_MOVE: {
        if (b->next >= 0) {
            return; // it is on its way there
        }
        const double m = pons__map_step(s->map, b->zone, c->zone);
        b->charging = false;
        b->next = c->zone;
        if (++s->standing[b->next] > 1 || s->people[b->next]) {
            s->shared++;
        }
        s->moves++;
        s->flow[b->next]++;
        s->distance_m += m;
        s->energy_pct += m * PCT_PER_M;
        b->battery_pct = fmax(b->battery_pct - m * PCT_PER_M, 0.0);
        b->move_ends_ms = s->now_ms + (int64_t)(1000.0 * m / b->speed_mps);
        start(s, c->robot, PONS__SIM_ENTER, b->move_ends_ms - s->now_ms);
        return;
    }
    case PONS_FLEET_WORK: {
        const uint32_t task = (uint32_t)strtoul(c->task->id + 1, NULL, 10);
        if (b->task == task && b->stop == c->stop) { // its ledger has that key
            if (b->done) {
                tell_worked(s, c->robot);
            }
            return;
        }
        b->task = task;
        b->stop = c->stop;
        b->done = false;
        b->working = true;
        b->work_ends_ms = s->now_ms + WORK_MS;
        start(s, c->robot, PONS__SIM_WORKED, WORK_MS);
        return;
    }
    case PONS_FLEET_CHARGE:
        b->charged_ms = s->now_ms;
        s->charges += !b->charging;
        b->charging = true;
        return;
    case PONS_FLEET_CANCEL:
        return; // it ends what it does: a load half put down is worse
    }
}

static void hear(pons__sim *s, int32_t robot)
{
    const pons__sim_body *b = &s->bodies[robot];
    const pons_fleet_report report = {.robot = robot,
                                      .now_ms = s->now_ms,
                                      .zone = b->zone,
                                      .next = b->next,
                                      .battery_pct = b->battery_pct};
    if (s->core) {
        pons_fleet_hear(s->core, &report);
    }
}

void pons__sim_enter(pons__sim *s, int32_t robot)
{
    pons__sim_body *b = &s->bodies[robot];
    s->standing[b->zone]--;
    b->zone = b->next;
    b->next = -1;
    hear(s, robot);
}

void pons__sim_worked(pons__sim *s, int32_t robot)
{
    pons__sim_body *b = &s->bodies[robot];
    b->working = false;
    b->done = true;
    const int shift = b->stop ? 4 : 0;
    if ((s->done[b->task] >> shift & 0xf) > 0) {
        s->twice++;
    }
    s->done[b->task] += (uint8_t)(1 << shift);
    tell_worked(s, robot);
}

void pons__sim_beat(pons__sim *s)
{
    for (size_t i = 0; i < s->play->robots; i++) {
        pons__sim_body *b = &s->bodies[i];
        if (!b->alive) {
            continue;
        }
        const bool tells = b->charging && s->now_ms - b->charged_ms >= CHARGE_EVERY_S * 1000;
        if (tells) {
            b->battery_pct = fmin(100.0, b->battery_pct + CHARGE_EVERY_S * CHARGE_PCT_PER_S);
            b->charged_ms = s->now_ms;
        }
        if (!s->core) {
            continue;
        }
        pons_fleet_view v;
        pons_fleet_look(s->core, (int32_t)i, &v);
        if (tells || v.state == PONS_FLEET_UNSEEN || v.state == PONS_FLEET_LOST ||
            v.state == PONS_FLEET_ASTRAY) {
            hear(s, (int32_t)i);
        } else {
            pons_fleet_beat(s->core, (int32_t)i, s->now_ms);
        }
    }
}

void pons__sim_kill(pons__sim *s)
{
    const int32_t robot = (int32_t)pons_rand_below(&s->rand, s->play->robots);
    pons__sim_body *b = &s->bodies[robot];
    const int64_t dead_ms =
        DEAD_MIN_MS + (int64_t)pons_rand_below(&s->rand, DEAD_MAX_MS - DEAD_MIN_MS);
    if (!b->alive) {
        return;
    }
    s->kills++;
    b->alive = false;
    b->life++;
    b->left_ms = b->next >= 0 ? b->move_ends_ms - s->now_ms : b->work_ends_ms - s->now_ms;
    if (s->core) {
        pons_fleet_view v;
        pons_fleet_look(s->core, robot, &v);
        s->lost_ms[robot] = v.task && v.task->state == PONS_FLEET_ASSIGNED ? s->now_ms : 0;
    }
    start(s, robot, PONS__SIM_REVIVE, dead_ms);
}

void pons__sim_revive(pons__sim *s, int32_t robot)
{
    pons__sim_body *b = &s->bodies[robot];
    b->alive = true;
    b->charged_ms = s->now_ms;
    s->lost_ms[robot] = 0;
    if (b->next >= 0) {
        b->move_ends_ms = s->now_ms + b->left_ms;
        start(s, robot, PONS__SIM_ENTER, b->left_ms);
    } else if (b->working) {
        b->work_ends_ms = s->now_ms + b->left_ms;
        start(s, robot, PONS__SIM_WORKED, b->left_ms);
    }
    hear(s, robot);
}
