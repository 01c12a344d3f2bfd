// battery_reading.c - a battery that jumps.
//
// A gauge gives a wild reading now and then: nothing, -1, 3 % between two of 80 %. Whoever acts on one sends a robot to
// its charger, or ends its charging. No battery goes from 80 to 3 % between two readings, but the first may be wrong,
// and a battery may be changed. So
//
//     no number, or not 0 to 100        is passed over: the last one holds
//     within JUMP_PCT of what holds     holds at once
//     further away                      holds when CONFIRMED readings in a row, over CONFIRM_NS at least, say the same, to
//                                       JUMP_PCT; until then the last one does
//
// The first reading of a body holds at once. All that asks for the charge, in body and brain, is told what holds.
#include "body/safety/battery_reading.h"

#include "pons/clock.h"

#include <math.h>

static const double JUMP_PCT = 5.0;
#define CONFIRM_NS (2 * PONS_NS_PER_S)
enum { CONFIRMED = 3 };

static bool near(double a, double b)
{
    return fabs(a - b) <= JUMP_PCT;
}

void pons__charge_believe(pons__charge *c, pons_robot_state *state, int64_t now_ns)
{
    const double pct = state->battery_pct;
    const int64_t number = state->battery_number ? state->battery_number : state->stamp_ns;
    const bool newer = number != c->number;
    c->number = number;
    if (!(pct >= 0.0 && pct <= 100.0)) {
        c->n = newer ? 0 : c->n;
    } else if (!c->known || near(pct, c->pct)) {
        *c = (pons__charge){.known = true, .pct = pct, .number = number};
    } else if (c->n == 0 || !near(pct, c->jump_pct)) {
        c->n = 1;
        c->jump_pct = pct;
        c->since_ns = now_ns;
    } else {
        c->n += newer && c->n < CONFIRMED;
        if (c->n == CONFIRMED && now_ns - c->since_ns >= CONFIRM_NS) {
            c->pct = pct;
            c->n = 0;
        }
    }
    state->battery_pct = c->known ? c->pct : NAN;
}
