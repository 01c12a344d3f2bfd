// ended_sessions.c - sessions that ended long ago go from the lanes, a few at a time, while others run.
//
// Old is who is not among so many of the last that came: no clock is asked, so one that leaps takes nothing
// away. What is in SESSIONS.md stays in the lanes, or a text of before that comes back would have it done anew;
// what was done under an id that is gone the body still knows by its keys. episode.json and LOG.md stay.
#include "pons/buf.h"
#include "workspace/runtime/runtime_common.h"

#define KEPT_LEAST 200   // as SESSIONS.md keeps
#define ROWS       64    // of one call
#define EVERY_MS   60000 // between two looks at all

static int64_t keep_of(int64_t asked)
{
    return asked <= 0 ? -1 : asked < KEPT_LEAST ? KEPT_LEAST : asked;
}

static void say(pons_runtime *r)
{
    pons_autobuf line = PONS_BUF_INIT;
    const int64_t all = r->gone.sessions + r->gone.failed;
    if (!all) {
        return;
    }
    pons_buf_printf(
        &line,
        "%lld sessions that ended long ago are gone from the store (store.keep), %lld of "
        "them had failed",
        (long long)all, (long long)r->gone.failed);
    pons_ws_place_log(r->o.place, PONS_WS_SESSIONS, line.data);
    if (r->o.pruned) {
        r->o.pruned(r->o.user, r->gone.sessions, r->gone.failed);
    }
    r->gone = (pons_session_trimmed){0};
}

void pons__rt_tidy(pons_runtime *r, int64_t now)
{
    pons_session_trimmed t = {0};
    pons_error err = PONS_ERROR_INIT;
    if (now < r->tidy_at_ms) {
        return;
    }
    r->old.keep = keep_of(r->o.keep);
    r->old.keep_failed = keep_of(r->o.keep_failed);
    r->old.limit = ROWS;
    if (r->o.lanes.ops->trim(r->o.lanes.self, &r->old, &t, &err) < 0) {
        t.more = false; // the store is away: at the next time
    }
    r->gone.sessions += t.sessions;
    r->gone.failed += t.failed;
    if (!t.more) {
        say(r);
        r->old.after = 0;
        r->tidy_at_ms = now + EVERY_MS;
        r->tidied = true;
    }
}
