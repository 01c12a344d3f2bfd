// process_deaths.c - how bodies and brains die in a story, and which commit a brain dies at.
//
// A brain dies at a commit (failing_store.c): whatever it would still have done does not happen. A body dies
// between two steps: its links break, its goals are lost, its ledger and the world's last saved state
// stay. What comes of it is process_lives.c's.
//
// Kills are the story's own (scenario_events.c), and those that a sweep or a seed adds; the store is told of
// whichever comes first.
#include "scenario/runner.h"

#define REBIRTH_NS       (500 * PONS_NS_PER_MS) // how long a killed brain stays dead
#define FUZZ_KILLS_MAX   4
#define FUZZ_KILL_WITHIN 120 // commits

void pons__body_death(pons__runner *r, double away_s)
{
    pons__control_drop(&r->control);
    pons_body_destroy(r->body);
    r->body = NULL;
    r->linked = r->met = false;
    r->body_frozen_until_ns = 0;
    r->body_back_ns = r->manual.now_ns + (int64_t)(away_s * 1e9);
    r->story.body_kills++;
}

void pons__brain_death(pons__runner *r)
{
    pons_brain_kill(r->brain);
    r->brain = NULL;
    r->linked = r->met = false;
    r->reborn_ns = r->manual.now_ns + REBIRTH_NS;
    r->story.kills++;
    if (r->reported.at > 0 && r->fault.commits >= r->reported.at) {
        r->story.kills_reported++;
        r->reported.at = 0;
    }
    if (r->fault.commits >= r->added.at) {
        r->added.at = 0;
    }
}

// ---- kills --------------------------------------------------------------------------------------

// The story kills the brain at its next commit; one that is dead dies again when it is back.
void pons__reported_kill(pons__runner *r, bool before)
{
    if (!r->brain || r->reported.at > 0) {
        r->reported_waiting++;
        r->reported_before = before;
        return;
    }
    r->reported = (pons__kill_plan){r->fault.commits + 1, before};
    pons__kill_aim(r);
}

// Another kill at some commit not far off, while the seed has kills left.
void pons__fuzz_next(pons__runner *r)
{
    if (!r->opts->fuzz_seed || r->added.at > 0 || r->fuzz_kills >= FUZZ_KILLS_MAX) {
        return;
    }
    r->fuzz_kills++;
    r->added.at = r->fault.commits + 1 + (int64_t)pons_rand_below(&r->fuzz, FUZZ_KILL_WITHIN);
    r->added.before = pons_rand_below(&r->fuzz, 2) == 0;
}

// The store dies at whichever comes first; where both are at one commit it is the story's.
void pons__kill_aim(pons__runner *r)
{
    const bool reported = r->reported.at > 0 && (r->added.at == 0 || r->reported.at <= r->added.at);
    const pons__kill_plan next = reported ? r->reported : r->added;
    r->fault.kill_at = next.at;
    r->fault.before = next.before;
}
