// battery_reading.c - a battery that jumps.
//
// A gauge gives a wild reading now and then: nothing, -1, 3 % between two of 80 %. Whoever acts on one sends a robot to
// its charger, or ends its charging. No battery goes from 80 to 3 % between two readings, but the first may be wrong,
// and a battery may be changed. So
//
//     no number, or not 0 to 100    is passed over: the last one holds
//     within JUMP_PCT of what holds holds at once
//     further away                  of CONFIRMED readings in a row, over CONFIRM_NS at least, that are all lower than what
//                                   holds, or all higher, the nearest one holds. One alone holds when it is still the
//                                   newest after ALONE_NS: some gauges speak only when they change
//
// The first reading of a body holds at once. All that asks for the charge, in body and brain, is told what holds. A driver
// that numbers no readings has a new one whenever the charge that it tells is another.
#include "body/safety/battery_reading.h"

#include "pons/clock.h"

#include <math.h>

static const double JUMP_PCT = 5.0;
#define CONFIRM_NS (2 * PONS_NS_PER_S)
#define ALONE_NS   (30 * PONS_NS_PER_S)
enum { CONFIRMED = 3 };

// A new reading that is far from what holds.
static void take_jump(pons__charge *c, double pct, int64_t now_ns)
{
    const bool lower = pct < c->pct;
    if (c->n == 0 || lower != c->lower) {
        c->n = 0;
        c->lower = lower;
        c->nearest = pct;
        c->since_ns = now_ns;
    }
    c->nearest = lower ? fmax(c->nearest, pct) : fmin(c->nearest, pct);
    c->n++;
}

static void hold(pons__charge *c, double pct)
{
    c->known = true;
    c->pct = pct;
    c->n = 0;
}

void pons__charge_believe(pons__charge *c, pons_robot_state *state, int64_t now_ns)
{
    const double pct = state->battery_pct;
    const bool valid = pct >= 0.0 && pct <= 100.0;
    const bool newer =
        state->battery_number ? state->battery_number != c->number : !c->known || pct != c->newest;
    if (valid && newer) {
        c->number = state->battery_number;
        c->newest = pct;
        c->newest_ns = now_ns;
        if (!c->known || fabs(pct - c->pct) <= JUMP_PCT) {
            hold(c, pct);
        } else {
            take_jump(c, pct, now_ns);
        }
    }
    if (now_ns < c->newest_ns) { // robot time has begun anew
        c->newest_ns = c->since_ns = now_ns;
    }
    if (c->n >= CONFIRMED && now_ns - c->since_ns >= CONFIRM_NS) {
        hold(c, c->nearest);
    } else if (c->n > 0 && now_ns - c->newest_ns >= ALONE_NS) {
        hold(c, c->newest);
    }
    state->battery_pct = c->known ? c->pct : NAN;
}
