// battery.c - a battery that drains by time and by motion, and a charger's contacts.
//
// The contacts touch when the robot stands within contact_m of the charger's pose, about aligned
// with it. Current flows only after charge(true), and stops when the contacts part: a robot that
// was pushed off its charger has to ask again.
#include "drivers/sim/sim.h"

#include <math.h>

#define FULL_PCT 100.0

void pons__sim_charger(pons__sim *s, pons_pose2 truth)
{
    const pons_pose2 c = s->p.charger;
    const bool near = hypot(truth.x - c.x, truth.y - c.y) <= s->p.contact_m;
    const bool aligned = fabs(pons_wrap_angle(truth.yaw - c.yaw)) <= PONS__SIM_CONTACT_YAW_RAD;
    const bool touching = near && aligned;
    if (s->v.on_charger && !touching) {
        atomic_store_explicit(&s->charge_wanted, false, memory_order_relaxed);
    }
    s->v.on_charger = touching;
}

void pons__sim_battery(pons__sim *s, double arc_m, double dt_s)
{
    s->v.battery_pct -=
        s->p.battery.idle_pct_per_s * dt_s + s->p.battery.motion_pct_per_m * fabs(arc_m);
    if (s->v.on_charger && atomic_load_explicit(&s->charge_wanted, memory_order_relaxed)) {
        s->v.battery_pct += s->p.battery.charge_pct_per_s * dt_s;
    }
    s->v.battery_pct = fmin(fmax(s->v.battery_pct, 0.0), FULL_PCT);
}

pons_battery_state pons__sim_battery_state(const pons__sim *s)
{
    if (!s->v.on_charger) {
        return PONS_BATTERY_DISCHARGING;
    }
    if (!atomic_load_explicit(&s->charge_wanted, memory_order_relaxed)) {
        return PONS_BATTERY_NOT_CHARGING;
    }
    // A step's own drain keeps the figure a hair below 100 while it is topped up.
    return s->v.battery_pct >= FULL_PCT - 0.01 ? PONS_BATTERY_FULL : PONS_BATTERY_CHARGING;
}
