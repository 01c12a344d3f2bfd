// trim.c - a little of what is old, taken away at once.
//
// Rows do not change, so an event without its payload is another row in its place.
#include "store/memory/memory.h"

#include <stdlib.h>
#include <string.h>

static void let_go(mem_thread *t, row *x)
{
    t->bytes -= pons__mem_row_bytes(x);
    pons__mem_row_unref(x);
}

// Takes n places out of an array, whose rows have been let go of.
static void close_gap(rows *r, size_t at, size_t n)
{
    memmove(r->at + at, r->at + at + n, (r->n - at - n) * sizeof *r->at);
    r->n -= n;
}

static void drop_records(mem_thread *t, mem_ns *s, const char *checkpoint)
{
    size_t at;
    if (!pons__mem_map_get(&s->group_by_id, checkpoint, &at)) {
        return;
    }
    group *g = s->groups[at];
    for (size_t i = 0; i < g->records.n; i++) {
        t->bytes -= pons__mem_row_bytes(g->records.at[i]);
    }
    pons__mem_rows_clear(&g->records);
    free(g);
    memmove(s->groups + at, s->groups + at + 1, (s->n_groups - at - 1) * sizeof *s->groups);
    s->n_groups--;
    pons__mem_map_clear(&s->group_by_id);
    for (size_t i = 0; i < s->n_groups; i++) {
        pons__mem_map_put(&s->group_by_id, s->groups[i]->checkpoint, i);
    }
}

static int trim_checkpoints(mem_thread *t, const pons_trim *what, int32_t *left,
                            pons_trim_result *ret, pons_error *err)
{
    mem_ns *s = what->before ? pons__mem_space_find(t, what->ns) : NULL;
    size_t floor, end = 1;
    if (!what->before) {
        return PONS_OK;
    }
    if (!s || !pons__mem_map_get(&s->by_id, what->before, &floor)) {
        return pons__trim_lost(what, err);
    }
    while (floor > 0 && !s->checkpoints.at[floor]->u.checkpoint.snapshot) {
        floor--;
    }
    while (end < floor && !s->checkpoints.at[end]->u.checkpoint.snapshot) {
        end++;
    }
    if (floor == 0 || *left == 0) {
        ret->more = ret->more || floor > 0;
        return PONS_OK;
    }
    const size_t n = end < (size_t)*left ? end : (size_t)*left, from = end - n;
    for (size_t i = from; i < end; i++) {
        drop_records(t, s, s->checkpoints.at[i]->u.checkpoint.id);
    }
    pons__mem_map_clear(&s->by_id);
    for (size_t i = from; i < end; i++) {
        let_go(t, s->checkpoints.at[i]);
    }
    close_gap(&s->checkpoints, from, n);
    for (size_t i = 0; i < s->checkpoints.n; i++) {
        pons__mem_map_put(&s->by_id, s->checkpoints.at[i]->u.checkpoint.id, i);
    }
    *left -= (int32_t)n;
    ret->checkpoints = (int64_t)n;
    ret->more = ret->more || floor > n;
    return PONS_OK;
}

static int thin_events(mem_thread *t, pons_trim *what, int32_t *left, pons_trim_result *ret,
                       pons_error *err)
{
    static const pons_bytes pruned = {PONS__PRUNED_JSON, sizeof PONS__PRUNED_JSON - 1};
    int64_t seq = what->thin_at > t->events_gone ? what->thin_at : t->events_gone;
    const int64_t last = t->events_gone + (int64_t)t->events.n;
    const int64_t end = what->thin_before - 1 < last ? what->thin_before - 1 : last;
    for (; seq<end && * left> 0; seq++, (*left)--) {
        row **at = &t->events.at[seq - t->events_gone], *old = *at;
        if (!pons__trim_names(what->thin_types, old->u.event.type) ||
            old->u.event.payload.len <= pruned.len) {
            continue;
        }
        row *x = pons__mem_row_make(ROW_EVENT, old->ns, old->u.event.type, pruned);
        if (!x) {
            return pons__mem_no_memory(err);
        }
        x->u.event.seq = old->u.event.seq;
        x->u.event.ts_ms = old->u.event.ts_ms;
        t->bytes += pons__mem_row_bytes(x);
        let_go(t, old);
        *at = x;
        ret->thinned++;
    }
    what->thin_at = seq > what->thin_at ? seq : what->thin_at;
    ret->more = ret->more || seq < end;
    return PONS_OK;
}

static void trim_events(mem_thread *t, const pons_trim *what, int32_t *left, pons_trim_result *ret)
{
    size_t n = 0, old = 0;
    for (; old + 1 < t->events.n && t->events.at[old]->u.event.seq < what->events_before; old++) {
        if (*left > 0) {
            let_go(t, t->events.at[old]);
            (*left)--;
            n++;
        }
    }
    if (n > 0) {
        close_gap(&t->events, 0, n);
    }
    t->events_gone += (int64_t)n;
    ret->events = (int64_t)n;
    ret->more = ret->more || old > n;
}

static void trim_effects(mem_thread *t, const pons_trim *what, int32_t *left, pons_trim_result *ret)
{
    size_t at = 0;
    while (at + 1 < t->effects.n && what->effects_before_ms) {
        const pons_effect_row *e = &t->effects.at[at]->u.effect;
        if (!(what->effect_states & (1u << e->state))) {
            at++;
            continue;
        }
        if (e->created >= what->effects_before_ms) {
            break;
        }
        if (e->updated >= what->effects_before_ms) {
            at++;
            continue;
        }
        if (*left == 0) {
            ret->more = true;
            break;
        }
        let_go(t, t->effects.at[at]);
        close_gap(&t->effects, at, 1);
        (*left)--;
        ret->effects++;
    }
    if (ret->effects > 0) {
        pons__mem_map_clear(&t->effect_by_id);
        for (size_t i = 0; i < t->effects.n; i++) {
            pons__mem_map_put(&t->effect_by_id, t->effects.at[i]->u.effect.id, i);
        }
    }
}

int pons__mem_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err)
{
    mem *m = self;
    int rc = pons__trim_check(what, err);
    if (rc) {
        return rc;
    }
    pons_trim_result done = {0};
    int32_t left = what->limit;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, what->lease->thread);
    if (!t || !t->held || t->epoch != what->lease->epoch) {
        rc = pons__store_stale(err, what->lease->thread, what->lease->epoch, t ? t->epoch : 0);
    }
    rc = rc ? rc : trim_checkpoints(t, what, &left, &done, err);
    rc = rc ? rc : thin_events(t, what, &left, &done, err);
    if (!rc) {
        trim_events(t, what, &left, &done);
        trim_effects(t, what, &left, &done);
    }
    for (size_t i = 0; !rc && i < m->n_threads; i++) {
        done.bytes += m->threads[i]->bytes;
    }
    pthread_mutex_unlock(&m->mtx);
    if (!rc && ret) {
        *ret = done;
    }
    return rc;
}
