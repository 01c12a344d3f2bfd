// event_heap.c - what is going to happen, the soonest first; of one time, in the order in which it was made.
#include "fleet/sim/fleet_sim.h"
#include "pons/growing_list.h"

static bool sooner(const pons__sim_event *a, const pons__sim_event *b)
{
    return a->at_ms < b->at_ms || (a->at_ms == b->at_ms && a->order < b->order);
}

static void push(pons__sim *s, pons__sim_event e)
{
    pons_need_room(&s->heap, &s->cap_heap, s->n_heap + 1, sizeof *s->heap);
    e.order = ++s->orders;
    size_t at = s->n_heap++;
    while (at > 0 && sooner(&e, &s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = e;
}

void pons__sim_push(pons__sim *s, int64_t at_ms, pons__sim_kind kind, int32_t robot)
{
    push(s, (pons__sim_event){.at_ms = at_ms,
                              .kind = kind,
                              .robot = robot,
                              .zone = -1,
                              .life = robot >= 0 ? s->bodies[robot].life : 0});
}

void pons__sim_push_zone(pons__sim *s, int64_t at_ms, pons__sim_kind kind, int32_t zone)
{
    push(s, (pons__sim_event){.at_ms = at_ms, .kind = kind, .robot = -1, .zone = zone});
}

bool pons__sim_pop(pons__sim *s, pons__sim_event *ret)
{
    if (s->n_heap == 0) {
        return false;
    }
    *ret = s->heap[0];
    const pons__sim_event last = s->heap[--s->n_heap];
    size_t at = 0;
    for (size_t child = 1; child < s->n_heap; child = 2 * at + 1) {
        child += child + 1 < s->n_heap && sooner(&s->heap[child + 1], &s->heap[child]);
        if (!sooner(&s->heap[child], &last)) {
            break;
        }
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return true;
}
