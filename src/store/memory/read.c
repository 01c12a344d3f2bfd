// read.c - reads take references under the lock and call back without it.
#include "store/memory/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- reading ------------------------------------------------------------------------------------

// Adds a reference to a list that is handed out after the lock; false on no memory.
static bool show(rows *list, row *x)
{
    if (!pons__mem_rows_reserve(list, 1)) {
        return false;
    }
    x->refs++;
    pons__mem_rows_push(list, x);
    return true;
}

// Ends a read: the lock is held, the list is handed to fn row by row without it.
typedef int (*any_fn)(void *user, const void *row);
static int hand_out(mem *m, rows *list, int rc, any_fn fn, void *user)
{
    pthread_mutex_unlock(&m->mtx);
    if (!rc) {
        for (size_t i = 0; i < list->n; i++) {
            if (fn(user, &list->at[i]->u)) {
                break;
            }
        }
    }
    pthread_mutex_lock(&m->mtx);
    pons__mem_rows_clear(list);
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

// The typed callbacks, called through one shape without casting a function's type.
typedef struct typed {
    pons_checkpoint_fn checkpoint;
    pons_record_fn record;
    pons_inbox_fn inbox;
    pons_event_fn event;
    pons_effect_fn effect;
    void *user;
} typed;

static int call_checkpoint(void *user, const void *r)
{
    typed *t = user;
    return t->checkpoint(t->user, r);
}
static int call_record(void *user, const void *r)
{
    typed *t = user;
    return t->record(t->user, r);
}
static int call_inbox(void *user, const void *r)
{
    typed *t = user;
    return t->inbox(t->user, r);
}
static int call_event(void *user, const void *r)
{
    typed *t = user;
    return t->event(t->user, r);
}
static int call_effect(void *user, const void *r)
{
    typed *t = user;
    return t->effect(t->user, r);
}

// The chain from the nearest snapshot to the checkpoint at `at`, oldest first.
static int chain(const mem_ns *s, size_t at, rows *list, pons_error *err)
{
    for (;;) {
        row *x = s->checkpoints.at[at];
        if (!show(list, x)) {
            return pons__mem_no_memory(err);
        }
        const pons_checkpoint_row *c = &x->u.checkpoint;
        if (c->snapshot || !c->parent[0]) {
            break;
        }
        size_t parent;
        if (!pons__mem_map_get(&s->by_id, c->parent, &parent) ||
            parent >= at) { // parents are older
            return pons_error_set(err, PONS_ECORRUPT, "store",
                                  "checkpoint %s has lost its parent %s", c->id, c->parent);
        }
        at = parent;
    }
    for (size_t i = 0, j = list->n - 1; i < j; i++, j--) {
        row *swap = list->at[i];
        list->at[i] = list->at[j];
        list->at[j] = swap;
    }
    return PONS_OK;
}

int pons__mem_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                         pons_checkpoint_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    size_t at = 0;
    int rc;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    mem_ns *s = t ? pons__mem_space_find(t, ns) : NULL;
    if (!s || !s->checkpoints.n || (id && !pons__mem_map_get(&s->by_id, id, &at))) {
        rc = pons__store_no_checkpoint(err, thread, ns, id);
    } else {
        rc = chain(s, id ? at : s->checkpoints.n - 1, &list, err);
    }
    return hand_out(m, &list, rc, call_checkpoint, &(typed){.checkpoint = fn, .user = user});
}

int pons__mem_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn,
                   void *user, pons_error *err)
{
    return pons__mem_checkpoint(self, thread, ns, NULL, fn, user, err);
}

int pons__mem_history(void *self, const char *thread, const char *ns, const char *before,
                      int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    mem_ns *s = t ? pons__mem_space_find(t, ns) : NULL;
    size_t at = s ? s->checkpoints.n : 0;
    if (before && before[0] && (!s || !pons__mem_map_get(&s->by_id, before, &at))) {
        rc = pons__store_no_checkpoint(err, thread, ns, before);
    }
    while (!rc && at > 0 && (limit <= 0 || (int64_t)list.n < limit)) {
        if (!show(&list, s->checkpoints.at[--at])) {
            rc = pons__mem_no_memory(err);
        }
    }
    return hand_out(m, &list, rc, call_checkpoint, &(typed){.checkpoint = fn, .user = user});
}

int pons__mem_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                      pons_record_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    mem_ns *s = t ? pons__mem_space_find(t, ns) : NULL;
    group *g = s ? pons__mem_group_find(s, checkpoint) : NULL;
    for (size_t i = 0; g && !rc && i < g->records.n; i++) {
        if (!show(&list, g->records.at[i])) {
            rc = pons__mem_no_memory(err);
        }
    }
    return hand_out(m, &list, rc, call_record, &(typed){.record = fn, .user = user});
}

static int name_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

int pons__mem_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                         void *user, pons_error *err)
{
    mem *m = self;
    char(*names)[PONS_NAME_MAX] = NULL;
    size_t n = 0;
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    if (t && t->n_spaces) {
        names = malloc(t->n_spaces * sizeof *names);
        if (!names) {
            rc = pons__mem_no_memory(err);
        }
        for (size_t i = 0; names && i < t->n_spaces; i++) {
            if (t->spaces[i]->checkpoints.n) {
                strcpy(names[n++], t->spaces[i]->name);
            }
        }
        if (n) {
            qsort(names, n, sizeof *names, name_order);
        }
    }
    pthread_mutex_unlock(&m->mtx);
    for (size_t i = 0; i < n; i++) {
        if (fn(user, names[i])) {
            break;
        }
    }
    free(names);
    return rc;
}

int pons__mem_inbox_post(void *self, const char *thread, const pons_inbox_row *in, int64_t *ret_seq,
                         pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_post(thread, in, err);
    if (rc) {
        return rc;
    }
    row *x = pons__mem_row_make(ROW_INBOX, in->ns, in->kind, in->value);
    if (!x) {
        return pons__mem_no_memory(err);
    }
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    if (!t) {
        t = pons__mem_thread_make(m, thread);
    }
    if (!t || !pons__mem_rows_reserve(&t->inbox, 1)) {
        pons__mem_row_unref(x);
        rc = pons__mem_no_memory(err);
    } else {
        x->u.inbox.seq = ++t->inbox_seq;
        if (ret_seq) {
            *ret_seq = x->u.inbox.seq;
        }
        pons__mem_rows_push(&t->inbox, x);
        t->bytes += pons__mem_row_bytes(x);
        t->updated_ms = pons__store_wall_ms();
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

int pons__mem_inbox_read(void *self, const char *thread, const char *ns, int64_t after,
                         pons_inbox_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    for (size_t i = 0; t && !rc && i < t->inbox.n; i++) {
        row *x = t->inbox.at[i];
        if (x->u.inbox.seq <= after || (ns && strcmp(ns, x->ns) != 0)) {
            continue;
        }
        if (!show(&list, x)) {
            rc = pons__mem_no_memory(err);
        }
    }
    return hand_out(m, &list, rc, call_inbox, &(typed){.inbox = fn, .user = user});
}

int pons__mem_effect_get(void *self, const char *thread, const char *id, pons_effect_fn fn,
                         void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    size_t at;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    if (!t || !pons__mem_map_get(&t->effect_by_id, id, &at)) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "thread %s has no effect %s", thread, id);
    } else if (!show(&list, t->effects.at[at])) {
        rc = pons__mem_no_memory(err);
    }
    return hand_out(m, &list, rc, call_effect, &(typed){.effect = fn, .user = user});
}

int pons__mem_effects(void *self, const char *thread, uint32_t state_mask, pons_effect_fn fn,
                      void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    for (size_t i = 0; t && !rc && i < t->effects.n; i++) {
        row *x = t->effects.at[i];
        if ((state_mask & (1u << x->u.effect.state)) && !show(&list, x)) {
            rc = pons__mem_no_memory(err);
        }
    }
    return hand_out(m, &list, rc, call_effect, &(typed){.effect = fn, .user = user});
}

int pons__mem_events(void *self, const char *thread, int64_t after, int64_t limit, pons_event_fn fn,
                     void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    const int64_t gone = t ? t->events_gone : 0;
    for (size_t i = after > gone ? (size_t)(after - gone) : 0; t && !rc && i < t->events.n; i++) {
        if (limit > 0 && (int64_t)list.n >= limit) {
            break;
        }
        if (!show(&list, t->events.at[i])) {
            rc = pons__mem_no_memory(err);
        }
    }
    return hand_out(m, &list, rc, call_event, &(typed){.event = fn, .user = user});
}

int pons__mem_event_last(void *self, const char *thread, int64_t *ret_seq, pons_error *err)
{
    mem *m = self;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    *ret_seq = t ? t->events_gone + (int64_t)t->events.n : 0;
    pthread_mutex_unlock(&m->mtx);
    return PONS_OK;
}
