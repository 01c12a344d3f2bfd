// battery_filter.c - rejects outliers in the battery's charge.
//
// A gauge may give no number, -1, or an outlier: 3 % between two readings of 80 %. One outlier must not send a robot to
// its charger, nor end its charging. But a real charge may be far from the accepted one: the first reading was wrong, the
// battery was changed, or the gauge reports only now and then.
//
//     a reading                      is
//     no number, or not 0 to 100     ignored
//     within JUMP_PCT                accepted
//     an outlier, further away       accepted if it is still the newest after ALONE_NS
//     the third outlier in a row     if all lie on one side, over CONFIRM_NS at least: the nearest of them is accepted
//
// The first reading of a body is accepted. A driver that numbers no readings gives a new one whenever its charge changes.
// Body and brain see only the accepted charge.
#include "body/sensing/battery_filter.h"

#include "pons/clock.h"

#include <math.h>

static const double JUMP_PCT = 5.0;
#define CONFIRM_NS (2 * PONS_NS_PER_S)
#define ALONE_NS   (30 * PONS_NS_PER_S)
enum { CONFIRMED = 3 };

static void accept(pons__battery_filter *f, double pct)
{
    f->known = true;
    f->accepted = pct;
    f->outliers = 0;
}

static void take_outlier(pons__battery_filter *f, double pct, int64_t now_ns)
{
    const bool below = pct < f->accepted;
    if (f->outliers == 0 || below != f->below) {
        f->outliers = 0;
        f->below = below;
        f->nearest = pct;
        f->since_ns = now_ns;
    }
    f->nearest = below ? fmax(f->nearest, pct) : fmin(f->nearest, pct);
    f->outliers++;
}

static void take(pons__battery_filter *f, const pons_robot_state *state, int64_t now_ns)
{
    const double pct = state->battery_pct;
    const bool numbered = state->battery_number != 0;
    const bool newer = numbered ? state->battery_number != f->number : pct != f->newest;
    if (!(pct >= 0.0 && pct <= 100.0) || (f->known && !newer)) {
        return;
    }
    f->number = state->battery_number;
    f->newest = pct;
    f->newest_ns = now_ns;
    if (!f->known || fabs(pct - f->accepted) <= JUMP_PCT) {
        accept(f, pct);
    } else {
        take_outlier(f, pct, now_ns);
    }
}

void pons__battery_filter_apply(pons__battery_filter *f, pons_robot_state *state, int64_t now_ns)
{
    take(f, state, now_ns);
    if (now_ns < f->newest_ns) { // the robot's clock has gone back
        f->newest_ns = f->since_ns = now_ns;
    }
    if (f->outliers >= CONFIRMED && now_ns - f->since_ns >= CONFIRM_NS) {
        accept(f, f->nearest);
    } else if (f->outliers > 0 && now_ns - f->newest_ns >= ALONE_NS) {
        accept(f, f->newest);
    }
    state->battery_pct = f->known ? f->accepted : NAN;
}
