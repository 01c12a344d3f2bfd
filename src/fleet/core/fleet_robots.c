// fleet_robots.c - what all files of the core do with a robot: tell it something, hear that it lives, let it go.
#include "fleet/core/core.h"

#define GAP_MS 3000 // calls that far apart: this process was away, not the robots

void pons__fleet_command(pons_fleet *f, pons_fleet_do what, int32_t robot)
{
    const int32_t task = f->robots[robot].task;
    const pons_fleet_command c = {.what = what,
                                  .robot = robot,
                                  .zone = f->traffic.at[robot].next,
                                  .task = task >= 0 ? &f->tasks[task].is : NULL,
                                  .stop = task >= 0 ? f->tasks[task].is.stop : 0};
    f->o.command(f->o.user, &c);
}

void pons__fleet_idle(pons_fleet *f, int32_t robot)
{
    pons__robot *r = &f->robots[robot];
    if (r->dock >= 0) {
        f->dock_of[r->dock] = -1;
        r->dock = -1;
    }
    r->state = PONS_FLEET_IDLE;
    f->changed = true;
    pons__traffic_send(&f->traffic, robot, -1, f->now_ms);
}

bool pons__fleet_has(const pons_fleet *f, int32_t robot)
{
    return robot >= 0 && (size_t)robot < f->n;
}

void pons_fleet_beat(pons_fleet *f, int32_t robot, int64_t now_ms)
{
    pons__fleet_clock(f, now_ms);
    if (pons__fleet_has(f, robot) && f->robots[robot].state != PONS_FLEET_UNSEEN &&
        f->robots[robot].state != PONS_FLEET_LOST) { // these have to say where they are
        f->robots[robot].seen_ms = f->now_ms;
    }
}

// Time only goes on. When it leaps, this process was away: nobody was silent then. When it leaps back, somebody
// has set the clock: it goes on from where it was.
void pons__fleet_clock(pons_fleet *f, int64_t now_ms)
{
    if (f->now_ms > 0 && now_ms + f->set_back_ms < f->now_ms - GAP_MS) {
        f->set_back_ms = f->now_ms - now_ms;
    }
    now_ms += f->set_back_ms;
    if (now_ms <= f->now_ms) {
        return;
    }
    if (f->now_ms > 0 && now_ms - f->now_ms > GAP_MS) {
        for (size_t i = 0; i < f->n; i++) {
            f->robots[i].seen_ms += now_ms - f->now_ms;
        }
    } else if (f->now_ms == 0) {
        for (size_t i = 0; i < f->n; i++) {
            f->robots[i].seen_ms = now_ms; // whoever is not heard of from now on is lost
        }
    }
    f->now_ms = now_ms;
}
