// task_observer.c - what tasks do, told to who measures (pons_thread_options.on_task). A task whose work is on a
// worker is at work until that has come back: its two passes are one.
#include "graph/core/task_observer.h"

#include "graph/core/task_random.h"

static void tell(const pons_cx *cx, pons_task_what what, int status)
{
    const pons_run *r = cx->run;
    if (cx->node_ix == PONS__END) { // START's: no node
        return;
    }
    const pons_task_seen seen = {
        .what = what,
        .thread = r->t->id,
        .ns = r->ns->name,
        .graph = r->g->name,
        .node = cx->node->name,
        .id = pons__task_id((pons_cx *)(uintptr_t)cx),
        .caller = cx->caller ? pons__task_id(cx->caller) : "",
        .superstep = (int)(r->ns->step + 1),
        .attempt = cx->attempt + 1,
        .status = status,
        .cached = cx->cached,
        .ts_ms = pons_wall_ms(&r->t->clock),
    };
    r->t->on_task(r->t->user, &seen);
}

void pons__seen_begins(const pons_cx *cx)
{
    if (cx->run->t->on_task && !cx->work) {
        tell(cx, PONS_SEEN_BEGINS, PONS_OK);
    }
}

void pons__seen_over(const pons_cx *cx, int status)
{
    if (!cx->run->t->on_task || (cx->work && cx->state == PONS__TASK_PARKED)) {
        return;
    }
    const bool waits = cx->state == PONS__TASK_PARKED && !cx->wake_ns;
    tell(cx,
         cx->state == PONS__TASK_DONE ? PONS_SEEN_ENDS
         : waits                      ? PONS_SEEN_WAITS
                                      : PONS_SEEN_FAILS,
         cx->state == PONS__TASK_DONE || waits ? PONS_OK
         : status != PONS_OK                   ? status
                                               : PONS_EINVAL);
}

void pons__seen_run(const pons_run *r)
{
    if (!r->t->on_task || r->parent || !r->ns || r->state == PONS_RUN_READY ||
        r->state == PONS_RUN_PARKED) {
        return;
    }
    const pons_task_seen seen = {
        .what = PONS_SEEN_RUN_ENDS,
        .thread = r->t->id,
        .ns = r->ns->name,
        .graph = r->g->name,
        .node = "",
        .id = "",
        .caller = "",
        .superstep = (int)r->ns->step,
        .status = r->state == PONS_RUN_FAILED ? r->error.status : PONS_OK,
        .ts_ms = pons_wall_ms(&r->t->clock),
    };
    r->t->on_task(r->t->user, &seen);
}
