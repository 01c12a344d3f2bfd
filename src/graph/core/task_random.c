// task_random.c - a task's time, randomness and ids.
//
// They are fixed at the task's first pass and kept in its header record, so that a replay sees the
// same wall clock, draws the same numbers and makes the same ids.
#include "graph/core/task_random.h"

#include "graph/core/run_accessors.h"
#include "graph/util/hash.h"

#include <inttypes.h>

// ---- helpers ------------------------------------------------------------------------------------

static int64_t fixed_wall(void *ctx)
{
    return ((pons_cx *)ctx)->wall_ms;
}

static int64_t fixed_ns(void *ctx)
{
    return ((pons_cx *)ctx)->wall_ms * PONS_NS_PER_MS;
}

static void rand_ready(pons_cx *cx)
{
    if (cx->rand_ready) {
        return;
    }
    pons__task_fix(cx);
    pons_rand_seed(&cx->rand, cx->seed);
    pons_clock fixed = {fixed_ns, fixed_wall, fixed_ns, cx};
    pons_id_source_init(&cx->ids, fixed, &cx->rand);
    cx->rand_ready = true;
}

int64_t pons_cx_wall_ms(pons_cx *cx)
{
    if (!cx->wall_fixed) {
        cx->wall_ms = pons_wall_ms(&cx->run->t->clock);
        cx->wall_fixed = true;
    }
    return cx->wall_ms;
}

uint64_t pons_cx_random(pons_cx *cx)
{
    rand_ready(cx);
    return pons_rand_u64(&cx->rand);
}

void pons_cx_id(pons_cx *cx, char ret[PONS_ID_MAX])
{
    pons__cx_make_id(cx, ret);
}

void pons__cx_make_id(pons_cx *cx, char ret[PONS_ID_MAX])
{
    rand_ready(cx);
    pons_id_make(&cx->ids, ret);
}

void pons__task_fix(pons_cx *cx)
{
    pons_cx_wall_ms(cx);
    if (!cx->seeded) {
        cx->seed = pons_rand_u64(&cx->run->t->rand);
    }
    cx->seeded = true;
}

const char *pons__task_id(pons_cx *cx)
{
    if (!cx->id[0]) {
        pons__task_hash(cx->run->ns->name, pons__run_cp(cx->run), cx->node->name, cx->send_ix,
                        cx->id);
    }
    return cx->id;
}
