// store_outage.c - a store that is away for now: a server that restarts under a run, a disk that is full.
//
// What is in memory may be ahead of what a server that failed has kept, and what became of the
// commit under way nobody knows. So nothing of it is believed: the brain lets go of everything, as
// if it had died here – its runs, its thread, the body's link, upon which the body brakes and
// holds – and begins again from what is stored, as a resume does: the head of both namespaces, the
// effects that are open, and the body that is asked about each of them. That path is the one that
// is killed at every commit in the tests.
//
//     at work -- a call fails, the store says that it is away --> away: holds, and tries to take
//        ^                                                            the thread, less and less often
//        +--------------------- taken, loaded ------------------------+
#include "brain/store_outage.h"

#include "brain/state/self.h"
#include "pons/log.h"

#define TRY_FIRST_MS 50
#define TRY_MAX_MS   1000
#define BUSY_TRIES   40 // some 35 s: longer than a lease that nobody renews lasts

static void try_later(pons_brain *b)
{
    const int64_t wait_ms = TRY_FIRST_MS << (b->away_tries < 5 ? b->away_tries : 5);
    b->away_tries++;
    b->next_tick_ns = pons_now_ns(&b->opts.clock) +
                      (wait_ms < TRY_MAX_MS ? wait_ms : TRY_MAX_MS) * PONS_NS_PER_MS;
}

static bool is_away(const pons_brain *b)
{
    const pons_store *s = &b->opts.store;
    return s->ops->away && s->ops->away(s->self);
}

int pons__away_or(pons_brain *b, int rc, const pons_error *err, pons__let_go_fn *let_go)
{
    if (!is_away(b)) {
        return rc;
    }
    char line[1200];
    pons_log(PONS_LOG_WARN, "brain", "the store is away, the robot holds: %s",
             pons_error_line(err, line, sizeof line));
    let_go(b);
    b->away_tries = 0;
    try_later(b);
    return PONS_OK;
}

int pons__away_poll(pons_brain *b, pons__let_go_fn *let_go, pons__take_fn *take, pons_error *err)
{
    if (pons_now_ns(&b->opts.clock) < b->next_tick_ns) {
        return PONS_OK;
    }
    const int rc = take(b, err);
    if (rc >= 0) {
        pons_log(PONS_LOG_WARN, "brain", "the store is back: going on from what it has");
        b->next_tick_ns = pons_now_ns(&b->opts.clock);
        return PONS_OK;
    }
    const bool away = is_away(b); // letting go asks it again
    let_go(b);
    // Held: perhaps by what we had ourselves when the server went once more, which it learns of only
    // when that lease is over; or another brain has it by now, which still has it then.
    if (!away && !(rc == PONS_EBUSY && b->away_tries < BUSY_TRIES)) {
        return rc;
    }
    try_later(b);
    return PONS_OK;
}
