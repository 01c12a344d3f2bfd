// memory.c - the store that lives in the process.
//
// A thread is a handful of growing arrays of rows, with an index by name where rows are looked up:
//
//     thread ── namespaces[] (index by name)
//            │     ├─ checkpoints[] in the order they came   (index by id)
//            │     └─ groups[]: records of one checkpoint, sorted by (task, idx)   (index by id)
//            ├─ inbox[]     unconsumed messages, by seq
//            ├─ events[]    seq is the place + 1 + how many were pruned
//            └─ effects[]   in the order of creation          (index by id)
//
// A row is one allocation, its data behind it, counted: a reader takes references under the lock
// and calls back without it, so a callback may call the store again. A commit makes all its rows
// and all the room first, and then changes the arrays by steps that can't fail: applied whole or
// not at all.

#include "store_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------- rows

typedef enum row_kind { ROW_CHECKPOINT, ROW_RECORD, ROW_INBOX, ROW_EVENT, ROW_EFFECT } row_kind;

// A counted row; strings and bytes that u points to lie in data.
typedef struct row {
    int refs; // [mtx]
    row_kind kind;
    const char *ns; // inbox, event, effect
    union {
        pons_checkpoint_row checkpoint;
        pons_record_row record;
        pons_inbox_row inbox;
        pons_event_row event;
        pons_effect_row effect;
    } u;
    char data[];
} row;

typedef struct rows { // an array of references
    row **at;
    size_t n, cap;
} rows;

// Open addressing, string → place in an array. Keys are borrowed from the rows that they name.
typedef struct map_slot {
    const char *key; // NULL: free
    uint32_t hash;
    uint32_t place;
} map_slot;

typedef struct map {
    map_slot *slots;
    size_t cap; // a power of two, or 0
    size_t n;
} map;

// ---------------------------------------------------------------- threads

typedef struct group { // the records of one checkpoint
    char checkpoint[32];
    rows records;
} group;

typedef struct mem_ns {
    char name[PONS_NAME_MAX];
    rows checkpoints;
    map by_id;
    group **groups;
    size_t n_groups, cap_groups;
    map group_by_id;
} mem_ns;

typedef struct mem_thread {
    char name[PONS_NAME_MAX];
    int64_t created_ms, updated_ms;
    int64_t bytes;
    uint64_t epoch; // of the newest lease
    bool held;
    int64_t inbox_seq;
    mem_ns **spaces;
    size_t n_spaces, cap_spaces;
    map space_by_name;
    rows inbox;
    rows events;
    int64_t events_gone; // pruned, from the front
    rows effects;
    map effect_by_id;
} mem_thread;

typedef struct mem {
    pthread_mutex_t mtx;
    uint64_t epoch;       // [mtx] of all threads: rises with each acquisition
    mem_thread **threads; // [mtx]
    size_t n_threads, cap_threads;
} mem;

// What a commit has made and not yet shown.
typedef struct staged {
    rows checkpoints, records, posts, events, effects;
    mem_ns *space; // of the checkpoints and records, NULL without any
} staged;

static const pons_store_ops memory_ops;

static bool grow(void *array, size_t *cap, size_t need, size_t item);
static bool rows_reserve(rows *r, size_t more);
static void rows_push(rows *r, row *x);
static void rows_clear(rows *r);
static void row_unref(row *x);
static row *row_make(row_kind kind, const char *ns, const char *word, pons_bytes bytes);
static uint32_t hash_of(const char *key);
static bool map_reserve(map *m, size_t more);
static bool map_get(const map *m, const char *key, size_t *ret);
static void map_put(map *m, const char *key, size_t place);
static void map_clear(map *m);
static mem_thread *thread_find(mem *m, const char *name);
static mem_thread *thread_make(mem *m, const char *name);
static void thread_free(mem_thread *t);
static void thread_remove(mem *m, mem_thread *t);
static mem_ns *space_find(const mem_thread *t, const char *name);
static mem_ns *space_make(mem_thread *t, const char *name);
static void space_free(mem_ns *s);
static group *group_find(const mem_ns *s, const char *checkpoint);
static group *group_make(mem_ns *s, const char *checkpoint);
static int stage(mem_thread *t, const pons_commit *c, staged *ret, pons_error *err);
static void apply(mem_thread *t, const pons_commit *c, staged *s);
static void unstage(staged *s);
static int no_memory(pons_error *err);
static int64_t row_bytes(const row *x);

int pons_store_memory_open(pons_store *ret, pons_error *err)
{
    mem *m = calloc(1, sizeof *m);
    if (!m)
        return no_memory(err);
    pthread_mutex_init(&m->mtx, NULL);
    *ret = (pons_store){.ops = &memory_ops, .self = m};
    return PONS_OK;
}

static void mem_close(void *self)
{
    mem *m = self;
    if (!m)
        return;
    for (size_t i = 0; i < m->n_threads; i++)
        thread_free(m->threads[i]);
    free(m->threads);
    pthread_mutex_destroy(&m->mtx);
    free(m);
}

// ---------------------------------------------------------------- leases

static int mem_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_thread(thread, err);
    if (rc)
        return rc;
    char host[PONS__HOST_MAX];
    pons__store_host(host);
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    if (!t)
        t = thread_make(m, thread);
    if (!t) {
        rc = no_memory(err);
    } else if (t->held) {
        rc = pons__store_held(err, thread, (int64_t)getpid(), host);
    } else {
        t->held = true;
        t->epoch = ++m->epoch;
        *ret = (pons_lease){.epoch = t->epoch, .pid = (int64_t)getpid()};
        strcpy(ret->thread, t->name);
        memcpy(ret->host, host, sizeof host);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

static void mem_lease_release(void *self, pons_lease *lease)
{
    mem *m = self;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, lease->thread);
    if (t && t->epoch == lease->epoch)
        t->held = false;
    pthread_mutex_unlock(&m->mtx);
    *lease = (pons_lease){0};
}

static int mem_lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_thread(thread, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    if (t && t->held) {
        *ret = (pons_lease){.epoch = t->epoch, .pid = (int64_t)getpid()};
        strcpy(ret->thread, t->name);
        pons__store_host(ret->host);
    } else {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "nobody holds thread %s", thread);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

// ---------------------------------------------------------------- commits

static int mem_commit(void *self, const pons_commit *c, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_commit(c, err);
    if (rc)
        return rc;
    staged s = {0};
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, c->lease->thread);
    if (!t || !t->held || t->epoch != c->lease->epoch)
        rc = pons__store_stale(err, c->lease->thread, c->lease->epoch, t ? t->epoch : 0);
    if (!rc)
        rc = stage(t, c, &s, err);
    if (!rc)
        apply(t, c, &s);
    else
        unstage(&s);
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

// Here nothing is slow, so nothing is queued; but the contract holds: events are the store's copy,
// the caller's seqs are not filled.
static int mem_commit_async(void *self, const pons_commit *c, pons_error *err)
{
    pons_commit copy = *c;
    pons_event_row *events = NULL;
    if (c->n_events) {
        events = malloc(c->n_events * sizeof *events);
        if (!events)
            return no_memory(err);
        memcpy(events, c->events, c->n_events * sizeof *events);
        copy.events = events;
    }
    int rc = mem_commit(self, &copy, err);
    free(events);
    return rc;
}

static int mem_drain(void *self, pons_error *err)
{
    (void)self;
    (void)err;
    return PONS_OK;
}

static int mem_flush(void *self, const pons_lease *lease, pons_error *err)
{
    (void)lease;
    return mem_drain(self, err);
}

// Makes every row and all the room that apply needs. Empty namespaces and groups may stay behind on
// failure: nobody can see them.
static int stage(mem_thread *t, const pons_commit *c, staged *ret, pons_error *err)
{
    if (c->n_checkpoints || c->n_records) {
        ret->space = space_find(t, c->ns);
        if (!ret->space)
            ret->space = space_make(t, c->ns);
        if (!ret->space)
            return no_memory(err);
    }
    if (!rows_reserve(&ret->checkpoints, c->n_checkpoints) ||
        !rows_reserve(&ret->records, c->n_records) || !rows_reserve(&ret->posts, c->n_posts) ||
        !rows_reserve(&ret->events, c->n_events) || !rows_reserve(&ret->effects, c->n_effects) ||
        !rows_reserve(&t->inbox, c->n_posts) || !rows_reserve(&t->events, c->n_events) ||
        !rows_reserve(&t->effects, c->n_effects) || !map_reserve(&t->effect_by_id, c->n_effects))
        return no_memory(err);
    if (ret->space && (!rows_reserve(&ret->space->checkpoints, c->n_checkpoints) ||
                       !map_reserve(&ret->space->by_id, c->n_checkpoints)))
        return no_memory(err);

    for (size_t i = 0; i < c->n_checkpoints; i++) {
        const pons_checkpoint_row *in = &c->checkpoints[i];
        bool twice = map_get(&ret->space->by_id, in->id, NULL);
        for (size_t j = 0; j < i && !twice; j++)
            twice = strcmp(c->checkpoints[j].id, in->id) == 0;
        if (twice)
            return pons_error_set(err, PONS_EEXIST, "store",
                                  "thread %s already has a checkpoint %s", t->name, in->id);
        row *x = row_make(ROW_CHECKPOINT, NULL, NULL, in->data);
        if (!x)
            return no_memory(err);
        const void *data = x->u.checkpoint.data.data;
        x->u.checkpoint = *in;
        x->u.checkpoint.data.data = data;
        rows_push(&ret->checkpoints, x);
    }
    for (size_t i = 0; i < c->n_records; i++) {
        const pons_record_row *in = &c->records[i];
        group *g = group_find(ret->space, in->checkpoint);
        if (!g)
            g = group_make(ret->space, in->checkpoint);
        if (!g || !rows_reserve(&g->records, c->n_records))
            return no_memory(err);
        row *x = row_make(ROW_RECORD, NULL, NULL, in->data);
        if (!x)
            return no_memory(err);
        const void *data = x->u.record.data.data;
        x->u.record = *in;
        x->u.record.data.data = data;
        rows_push(&ret->records, x);
    }
    for (size_t i = 0; i < c->n_posts; i++) {
        row *x = row_make(ROW_INBOX, c->posts[i].ns, c->posts[i].kind, c->posts[i].value);
        if (!x)
            return no_memory(err);
        rows_push(&ret->posts, x);
    }
    for (size_t i = 0; i < c->n_events; i++) {
        row *x = row_make(ROW_EVENT, c->events[i].ns, c->events[i].type, c->events[i].payload);
        if (!x)
            return no_memory(err);
        x->u.event.ts_ms = c->events[i].ts_ms;
        rows_push(&ret->events, x);
    }
    for (size_t i = 0; i < c->n_effects; i++) {
        const pons_effect_row *in = &c->effects[i];
        row *x = row_make(ROW_EFFECT, in->ns, NULL, in->data);
        if (!x)
            return no_memory(err);
        memcpy(x->u.effect.id, in->id, sizeof in->id);
        x->u.effect.state = in->state;
        x->u.effect.created = in->created;
        x->u.effect.updated = in->updated;
        rows_push(&ret->effects, x);
    }
    return PONS_OK;
}

static int record_order(const pons_record_row *a, const pons_record_row *b)
{
    int order = strcmp(a->task, b->task);
    return order ? order : (a->idx > b->idx) - (a->idx < b->idx);
}

static void apply_record(mem_thread *t, mem_ns *space, row *x)
{
    group *g = group_find(space, x->u.record.checkpoint);
    size_t at = g->records.n;
    while (at > 0 && record_order(&g->records.at[at - 1]->u.record, &x->u.record) > 0)
        at--;
    t->bytes += row_bytes(x);
    if (at > 0 && record_order(&g->records.at[at - 1]->u.record, &x->u.record) == 0) {
        t->bytes -= row_bytes(g->records.at[at - 1]);
        row_unref(g->records.at[at - 1]);
        g->records.at[at - 1] = x;
        return;
    }
    memmove(&g->records.at[at + 1], &g->records.at[at], (g->records.n - at) * sizeof(row *));
    g->records.at[at] = x;
    g->records.n++;
}

static void apply_effect(mem_thread *t, row *x)
{
    size_t at;
    t->bytes += row_bytes(x);
    if (map_get(&t->effect_by_id, x->u.effect.id, &at)) {
        row *old = t->effects.at[at];
        // The key of the index lies in the row that goes: let it lie in the new one.
        t->bytes -= row_bytes(old);
        t->effects.at[at] = x;
        map_put(&t->effect_by_id, x->u.effect.id, at);
        row_unref(old);
        return;
    }
    rows_push(&t->effects, x);
    map_put(&t->effect_by_id, x->u.effect.id, t->effects.n - 1);
}

static void inbox_remove(mem_thread *t, int64_t seq)
{
    for (size_t i = 0; i < t->inbox.n; i++) {
        if (t->inbox.at[i]->u.inbox.seq != seq)
            continue;
        t->bytes -= row_bytes(t->inbox.at[i]);
        row_unref(t->inbox.at[i]);
        memmove(&t->inbox.at[i], &t->inbox.at[i + 1], (t->inbox.n - i - 1) * sizeof(row *));
        t->inbox.n--;
        return;
    }
}

static void apply(mem_thread *t, const pons_commit *c, staged *s)
{
    for (size_t i = 0; i < s->checkpoints.n; i++) {
        row *x = s->checkpoints.at[i];
        rows_push(&s->space->checkpoints, x);
        map_put(&s->space->by_id, x->u.checkpoint.id, s->space->checkpoints.n - 1);
        t->bytes += row_bytes(x);
    }
    for (size_t i = 0; i < s->records.n; i++)
        apply_record(t, s->space, s->records.at[i]);
    for (size_t i = 0; i < c->n_inbox_taken; i++)
        inbox_remove(t, c->inbox_taken[i]);
    for (size_t i = 0; i < s->posts.n; i++) {
        s->posts.at[i]->u.inbox.seq = ++t->inbox_seq;
        rows_push(&t->inbox, s->posts.at[i]);
        t->bytes += row_bytes(s->posts.at[i]);
    }
    for (size_t i = 0; i < s->effects.n; i++)
        apply_effect(t, s->effects.at[i]);
    for (size_t i = 0; i < s->events.n; i++) {
        row *x = s->events.at[i];
        rows_push(&t->events, x);
        x->u.event.seq = c->events[i].seq = t->events_gone + (int64_t)t->events.n;
        t->bytes += row_bytes(x);
    }
    t->updated_ms = pons__store_wall_ms();
    // The references went into the thread.
    s->checkpoints.n = s->records.n = s->posts.n = s->effects.n = s->events.n = 0;
    unstage(s);
}

static void unstage(staged *s)
{
    rows_clear(&s->checkpoints);
    rows_clear(&s->records);
    rows_clear(&s->posts);
    rows_clear(&s->events);
    rows_clear(&s->effects);
}

// ---------------------------------------------------------------- reading

// Adds a reference to a list that is handed out after the lock; false on no memory.
static bool show(rows *list, row *x)
{
    if (!rows_reserve(list, 1))
        return false;
    x->refs++;
    rows_push(list, x);
    return true;
}

// Ends a read: the lock is held, the list is handed to fn row by row without it.
typedef int (*any_fn)(void *user, const void *row);
static int hand_out(mem *m, rows *list, int rc, any_fn fn, void *user)
{
    pthread_mutex_unlock(&m->mtx);
    if (!rc) {
        for (size_t i = 0; i < list->n; i++) {
            if (fn(user, &list->at[i]->u))
                break;
        }
    }
    pthread_mutex_lock(&m->mtx);
    rows_clear(list);
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
        if (!show(list, x))
            return no_memory(err);
        const pons_checkpoint_row *c = &x->u.checkpoint;
        if (c->snapshot || !c->parent[0])
            break;
        size_t parent;
        if (!map_get(&s->by_id, c->parent, &parent) || parent >= at) // parents are older
            return pons_error_set(err, PONS_ECORRUPT, "store",
                                  "checkpoint %s has lost its parent %s", c->id, c->parent);
        at = parent;
    }
    for (size_t i = 0, j = list->n - 1; i < j; i++, j--) {
        row *swap = list->at[i];
        list->at[i] = list->at[j];
        list->at[j] = swap;
    }
    return PONS_OK;
}

static int none(pons_error *err, const char *thread, const char *ns, const char *id)
{
    if (id)
        return pons_error_set(err, PONS_ENOTFOUND, "store", "thread %s has no checkpoint %s",
                              thread, id);
    return pons_error_set(err, PONS_ENOTFOUND, "store", "thread %s has no checkpoint in '%s'",
                          thread, ns);
}

static int mem_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                          pons_checkpoint_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    size_t at = 0;
    int rc;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    mem_ns *s = t ? space_find(t, ns) : NULL;
    if (!s || !s->checkpoints.n || (id && !map_get(&s->by_id, id, &at)))
        rc = none(err, thread, ns, id);
    else
        rc = chain(s, id ? at : s->checkpoints.n - 1, &list, err);
    return hand_out(m, &list, rc, call_checkpoint, &(typed){.checkpoint = fn, .user = user});
}

static int mem_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn,
                    void *user, pons_error *err)
{
    return mem_checkpoint(self, thread, ns, NULL, fn, user, err);
}

static int mem_history(void *self, const char *thread, const char *ns, const char *before,
                       int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    mem_ns *s = t ? space_find(t, ns) : NULL;
    size_t at = s ? s->checkpoints.n : 0;
    if (before && before[0] && (!s || !map_get(&s->by_id, before, &at)))
        rc = none(err, thread, ns, before);
    while (!rc && at > 0 && (limit <= 0 || (int64_t)list.n < limit)) {
        if (!show(&list, s->checkpoints.at[--at]))
            rc = no_memory(err);
    }
    return hand_out(m, &list, rc, call_checkpoint, &(typed){.checkpoint = fn, .user = user});
}

static int mem_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                       pons_record_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    mem_ns *s = t ? space_find(t, ns) : NULL;
    group *g = s ? group_find(s, checkpoint) : NULL;
    for (size_t i = 0; g && !rc && i < g->records.n; i++) {
        if (!show(&list, g->records.at[i]))
            rc = no_memory(err);
    }
    return hand_out(m, &list, rc, call_record, &(typed){.record = fn, .user = user});
}

static int name_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int mem_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                          void *user, pons_error *err)
{
    mem *m = self;
    char(*names)[PONS_NAME_MAX] = NULL;
    size_t n = 0;
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    if (t && t->n_spaces) {
        names = malloc(t->n_spaces * sizeof *names);
        if (!names)
            rc = no_memory(err);
        for (size_t i = 0; names && i < t->n_spaces; i++) {
            if (t->spaces[i]->checkpoints.n)
                strcpy(names[n++], t->spaces[i]->name);
        }
        if (n)
            qsort(names, n, sizeof *names, name_order);
    }
    pthread_mutex_unlock(&m->mtx);
    for (size_t i = 0; i < n; i++) {
        if (fn(user, names[i]))
            break;
    }
    free(names);
    return rc;
}

static int mem_inbox_post(void *self, const char *thread, const pons_inbox_row *in,
                          int64_t *ret_seq, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_thread(thread, err);
    if (!rc)
        rc = pons__store_check_ns(in->ns, err);
    if (!rc && !in->kind)
        rc = pons_error_set(err, PONS_EINVAL, "store", "an inbox message needs a kind");
    if (rc)
        return rc;
    row *x = row_make(ROW_INBOX, in->ns, in->kind, in->value);
    if (!x)
        return no_memory(err);
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    if (!t)
        t = thread_make(m, thread);
    if (!t || !rows_reserve(&t->inbox, 1)) {
        row_unref(x);
        rc = no_memory(err);
    } else {
        x->u.inbox.seq = ++t->inbox_seq;
        if (ret_seq)
            *ret_seq = x->u.inbox.seq;
        rows_push(&t->inbox, x);
        t->bytes += row_bytes(x);
        t->updated_ms = pons__store_wall_ms();
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

static int mem_inbox_read(void *self, const char *thread, const char *ns, int64_t after,
                          pons_inbox_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    for (size_t i = 0; t && !rc && i < t->inbox.n; i++) {
        row *x = t->inbox.at[i];
        if (x->u.inbox.seq <= after || (ns && strcmp(ns, x->ns) != 0))
            continue;
        if (!show(&list, x))
            rc = no_memory(err);
    }
    return hand_out(m, &list, rc, call_inbox, &(typed){.inbox = fn, .user = user});
}

static int mem_effect_get(void *self, const char *thread, const char *id, pons_effect_fn fn,
                          void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    size_t at;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    if (!t || !map_get(&t->effect_by_id, id, &at))
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "thread %s has no effect %s", thread, id);
    else if (!show(&list, t->effects.at[at]))
        rc = no_memory(err);
    return hand_out(m, &list, rc, call_effect, &(typed){.effect = fn, .user = user});
}

static int mem_effects(void *self, const char *thread, uint32_t state_mask, pons_effect_fn fn,
                       void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    for (size_t i = 0; t && !rc && i < t->effects.n; i++) {
        row *x = t->effects.at[i];
        if ((state_mask & (1u << x->u.effect.state)) && !show(&list, x))
            rc = no_memory(err);
    }
    return hand_out(m, &list, rc, call_effect, &(typed){.effect = fn, .user = user});
}

static int mem_events(void *self, const char *thread, int64_t after, int64_t limit,
                      pons_event_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    rows list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    const int64_t gone = t ? t->events_gone : 0;
    for (size_t i = after > gone ? (size_t)(after - gone) : 0; t && !rc && i < t->events.n; i++) {
        if (limit > 0 && (int64_t)list.n >= limit)
            break;
        if (!show(&list, t->events.at[i]))
            rc = no_memory(err);
    }
    return hand_out(m, &list, rc, call_event, &(typed){.event = fn, .user = user});
}

static int mem_event_last(void *self, const char *thread, int64_t *ret_seq, pons_error *err)
{
    (void)err;
    mem *m = self;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    *ret_seq = t ? t->events_gone + (int64_t)t->events.n : 0;
    pthread_mutex_unlock(&m->mtx);
    return PONS_OK;
}

// ---------------------------------------------------------------- threads

typedef struct info_copy {
    pons_thread_info info;
    char name[PONS_NAME_MAX];
} info_copy;

static void describe(const mem_thread *t, const char *host, info_copy *ret)
{
    strcpy(ret->name, t->name);
    ret->info = (pons_thread_info){
        .created_ms = t->created_ms,
        .updated_ms = t->updated_ms,
        .events = (int64_t)t->events.n,
        .bytes = t->bytes,
        .holder_pid = t->held ? (int64_t)getpid() : 0,
        .holder_host = t->held ? host : "",
    };
    for (size_t i = 0; i < t->n_spaces; i++)
        ret->info.checkpoints += (int64_t)t->spaces[i]->checkpoints.n;
}

static int mem_threads(void *self, pons_thread_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    char host[PONS__HOST_MAX];
    pons__store_host(host);
    pthread_mutex_lock(&m->mtx);
    size_t n = m->n_threads;
    info_copy *list = n ? malloc(n * sizeof *list) : NULL;
    for (size_t i = 0; list && i < n; i++)
        describe(m->threads[i], host, &list[i]);
    pthread_mutex_unlock(&m->mtx);
    if (n && !list)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        list[i].info.thread = list[i].name;
        if (fn(user, &list[i].info))
            break;
    }
    free(list);
    return PONS_OK;
}

static int mem_thread_delete(void *self, const char *thread, pons_error *err)
{
    mem *m = self;
    int rc = PONS_OK;
    char host[PONS__HOST_MAX];
    pons__store_host(host);
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    if (!t) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    } else if (t->held) {
        rc = pons__store_held(err, thread, (int64_t)getpid(), host);
    } else {
        thread_remove(m, t);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

// Rows do not change, so both threads hold the same.
static bool copy_rows(const rows *from, rows *to)
{
    if (!rows_reserve(to, from->n))
        return false;
    for (size_t i = 0; i < from->n; i++) {
        from->at[i]->refs++;
        rows_push(to, from->at[i]);
    }
    return true;
}

static bool copy_space(const mem_ns *from, mem_thread *t)
{
    mem_ns *to = space_make(t, from->name);
    if (!to || !copy_rows(&from->checkpoints, &to->checkpoints) ||
        !map_reserve(&to->by_id, to->checkpoints.n))
        return false;
    for (size_t i = 0; i < to->checkpoints.n; i++)
        map_put(&to->by_id, to->checkpoints.at[i]->u.checkpoint.id, i);
    for (size_t i = 0; i < from->n_groups; i++) {
        group *g = group_make(to, from->groups[i]->checkpoint);
        if (!g || !copy_rows(&from->groups[i]->records, &g->records))
            return false;
    }
    return true;
}

static bool copy_thread(const mem_thread *from, mem_thread *to)
{
    for (size_t i = 0; i < from->n_spaces; i++) {
        if (!copy_space(from->spaces[i], to))
            return false;
    }
    if (!copy_rows(&from->events, &to->events) || !copy_rows(&from->effects, &to->effects) ||
        !map_reserve(&to->effect_by_id, to->effects.n))
        return false;
    to->events_gone = from->events_gone;
    for (size_t i = 0; i < to->effects.n; i++)
        map_put(&to->effect_by_id, to->effects.at[i]->u.effect.id, i);
    to->bytes = from->bytes;
    for (size_t i = 0; i < from->inbox.n; i++)
        to->bytes -= row_bytes(from->inbox.at[i]);
    return true;
}

static void thread_remove(mem *m, mem_thread *t)
{
    size_t at = 0;
    while (m->threads[at] != t)
        at++;
    memmove(&m->threads[at], &m->threads[at + 1], (m->n_threads - at - 1) * sizeof *m->threads);
    m->n_threads--;
    thread_free(t);
}

static int mem_thread_copy(void *self, const char *from, const char *to, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_thread(from, err);
    if (!rc)
        rc = pons__store_check_thread(to, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&m->mtx);
    mem_thread *source = thread_find(m, from);
    if (!source) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", from);
    } else if (thread_find(m, to)) {
        rc = pons__store_exists(err, to);
    } else {
        mem_thread *t = thread_make(m, to);
        if (!t || !copy_thread(source, t))
            rc = no_memory(err);
        if (rc && t)
            thread_remove(m, t);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

// ---------------------------------------------------------------- pruning

static bool prune_list(const mem_ns *s, prune_rows *ret)
{
    for (size_t i = 0; i < s->checkpoints.n; i++) {
        const pons_checkpoint_row *c = &s->checkpoints.at[i]->u.checkpoint;
        prune_row item = {
            .key = (int64_t)i + 1, .wall_ms = pons__id_wall_ms(c->id), .snapshot = c->snapshot};
        size_t parent;
        if (map_get(&s->by_id, c->parent, &parent))
            item.parent = (int64_t)parent + 1;
        if (!pons__prune_push(ret, &item))
            return false;
    }
    return true;
}

static void drop_groups(mem_thread *t, mem_ns *s, const prune_rows *plan)
{
    size_t left = 0;
    for (size_t i = 0; i < s->n_groups; i++) {
        group *g = s->groups[i];
        size_t at;
        if (!map_get(&s->by_id, g->checkpoint, &at) || plan->at[at].keep) {
            s->groups[left++] = g;
            continue;
        }
        for (size_t j = 0; j < g->records.n; j++)
            t->bytes -= row_bytes(g->records.at[j]);
        rows_clear(&g->records);
        free(g);
    }
    s->n_groups = left;
    map_clear(&s->group_by_id);
    for (size_t i = 0; i < left; i++)
        map_put(&s->group_by_id, s->groups[i]->checkpoint, i);
}

// Can't fail: nothing grows.
static void prune_space(mem_thread *t, mem_ns *s, const prune_rows *plan)
{
    drop_groups(t, s, plan);
    map_clear(&s->by_id);
    size_t left = 0;
    for (size_t i = 0; i < plan->n; i++) {
        row *x = s->checkpoints.at[i];
        if (plan->at[i].keep) {
            s->checkpoints.at[left] = x;
            map_put(&s->by_id, x->u.checkpoint.id, left++);
        } else {
            t->bytes -= row_bytes(x);
            row_unref(x);
        }
    }
    s->checkpoints.n = left;
}

static int64_t prune_events(mem_thread *t, int64_t since_ms)
{
    size_t gone = 0;
    while (gone + 1 < t->events.n && t->events.at[gone]->u.event.ts_ms < since_ms)
        gone++;
    for (size_t i = 0; i < gone; i++) {
        t->bytes -= row_bytes(t->events.at[i]);
        row_unref(t->events.at[i]);
    }
    if (gone)
        memmove(t->events.at, t->events.at + gone, (t->events.n - gone) * sizeof *t->events.at);
    t->events.n -= gone;
    t->events_gone += (int64_t)gone;
    return (int64_t)gone;
}

static int64_t all_bytes(const mem *m)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < m->n_threads; i++)
        bytes += m->threads[i]->bytes;
    return bytes;
}

static int prune_thread(mem_thread *t, const pons_prune *what, pons_prune_result *ret,
                        pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; !rc && i < t->n_spaces; i++) {
        mem_ns *s = t->spaces[i];
        if (what->ns && strcmp(what->ns, s->name) != 0)
            continue;
        prune_rows plan = {0};
        if (!prune_list(s, &plan)) {
            rc = no_memory(err);
        } else {
            size_t gone = pons__prune_plan(&plan, what);
            if (gone)
                prune_space(t, s, &plan);
            ret->checkpoints += (int64_t)gone;
        }
        free(plan.at);
    }
    if (!rc && what->events_since_ms)
        ret->events = prune_events(t, what->events_since_ms);
    return rc;
}

static int mem_prune(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                     pons_error *err)
{
    mem *m = self;
    int rc = pons__prune_check(thread, what, err);
    if (rc)
        return rc;
    char host[PONS__HOST_MAX];
    pons__store_host(host);
    pons_prune_result done = {0};
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = thread_find(m, thread);
    const pons_lease *lease = what->lease;
    if (lease && (!t || !t->held || t->epoch != lease->epoch))
        rc = pons__store_stale(err, thread, lease->epoch, t ? t->epoch : 0);
    else if (!t)
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    else if (!lease && t->held)
        rc = pons__store_held(err, thread, (int64_t)getpid(), host);
    if (!rc) {
        done.bytes_before = all_bytes(m);
        rc = prune_thread(t, what, &done, err);
        done.bytes_after = all_bytes(m);
    }
    pthread_mutex_unlock(&m->mtx);
    if (!rc && ret)
        *ret = done;
    return rc;
}

static const pons_store_ops memory_ops = {
    .abi = PONS_STORE_ABI,
    .name = "memory",
    .close = mem_close,
    .lease_acquire = mem_lease_acquire,
    .lease_release = mem_lease_release,
    .lease_peek = mem_lease_peek,
    .commit = mem_commit,
    .commit_async = mem_commit_async,
    .drain = mem_drain,
    .head = mem_head,
    .checkpoint = mem_checkpoint,
    .history = mem_history,
    .records = mem_records,
    .namespaces = mem_namespaces,
    .inbox_post = mem_inbox_post,
    .inbox_read = mem_inbox_read,
    .effect_get = mem_effect_get,
    .effects = mem_effects,
    .events = mem_events,
    .event_last = mem_event_last,
    .threads = mem_threads,
    .thread_delete = mem_thread_delete,
    .thread_copy = mem_thread_copy,
    .prune = mem_prune,
    .flush = mem_flush,
};

// ---------------------------------------------------------------- helpers

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
}

// Room for `need` items in *(T **)array; doubles.
static bool grow(void *array, size_t *cap, size_t need, size_t item)
{
    if (need <= *cap)
        return true;
    size_t cap_new = *cap ? *cap : 4;
    while (cap_new < need)
        cap_new *= 2;
    void *old;
    memcpy(&old, array, sizeof old);
    void *bigger = realloc(old, cap_new * item);
    if (!bigger)
        return false;
    memcpy(array, &bigger, sizeof bigger);
    *cap = cap_new;
    return true;
}

static bool rows_reserve(rows *r, size_t more)
{
    return grow(&r->at, &r->cap, r->n + more, sizeof *r->at);
}

static void rows_push(rows *r, row *x)
{
    r->at[r->n++] = x;
}

static void rows_clear(rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        row_unref(r->at[i]);
    free(r->at);
    *r = (rows){0};
}

static void row_unref(row *x)
{
    if (--x->refs == 0)
        free(x);
}

// One allocation: the row, its bytes, its strings. word: kind or type.
static row *row_make(row_kind kind, const char *ns, const char *word, pons_bytes bytes)
{
    size_t ns_size = ns ? strlen(ns) + 1 : 0;
    size_t word_size = word ? strlen(word) + 1 : 0;
    row *x = malloc(sizeof *x + bytes.len + ns_size + word_size);
    if (!x)
        return NULL;
    memset(x, 0, sizeof *x);
    x->refs = 1;
    x->kind = kind;
    if (bytes.len)
        memcpy(x->data, bytes.data, bytes.len);
    pons_bytes copy = {.data = x->data, .len = bytes.len};
    char *at = x->data + bytes.len;
    if (ns)
        x->ns = memcpy(at, ns, ns_size);
    const char *w = word ? memcpy(at + ns_size, word, word_size) : NULL;
    switch (kind) {
    case ROW_CHECKPOINT:
        x->u.checkpoint.data = copy;
        break;
    case ROW_RECORD:
        x->u.record.data = copy;
        break;
    case ROW_INBOX:
        x->u.inbox = (pons_inbox_row){.ns = x->ns, .kind = w, .value = copy};
        break;
    case ROW_EVENT:
        x->u.event = (pons_event_row){.ns = x->ns, .type = w, .payload = copy};
        break;
    case ROW_EFFECT:
        x->u.effect.ns = x->ns;
        x->u.effect.data = copy;
        break;
    }
    return x;
}

static int64_t row_bytes(const row *x)
{
    switch (x->kind) {
    case ROW_CHECKPOINT:
        return (int64_t)(sizeof *x + x->u.checkpoint.data.len);
    case ROW_RECORD:
        return (int64_t)(sizeof *x + x->u.record.data.len);
    case ROW_INBOX:
        return (int64_t)(sizeof *x + x->u.inbox.value.len);
    case ROW_EVENT:
        return (int64_t)(sizeof *x + x->u.event.payload.len);
    case ROW_EFFECT:
        return (int64_t)(sizeof *x + x->u.effect.data.len);
    }
    return 0;
}

// FNV-1a.
static uint32_t hash_of(const char *key)
{
    uint32_t h = 2166136261u;
    for (; *key; key++)
        h = (h ^ (uint8_t)*key) * 16777619u;
    return h;
}

// The slot of a key, or the free one where it goes.
static map_slot *map_slot_of(const map *m, const char *key, uint32_t hash)
{
    size_t i = hash & (m->cap - 1);
    while (m->slots[i].key && (m->slots[i].hash != hash || strcmp(m->slots[i].key, key) != 0))
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

// At most 3/4 full, so that a probe always ends.
static bool map_reserve(map *m, size_t more)
{
    size_t cap = m->cap ? m->cap : 8;
    while ((m->n + more) * 4 > cap * 3)
        cap *= 2;
    if (cap == m->cap)
        return true;
    map bigger = {.slots = calloc(cap, sizeof *bigger.slots), .cap = cap, .n = m->n};
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].key)
            *map_slot_of(&bigger, m->slots[i].key, m->slots[i].hash) = m->slots[i];
    }
    free(m->slots);
    *m = bigger;
    return true;
}

static bool map_get(const map *m, const char *key, size_t *ret)
{
    if (!m->cap)
        return false;
    const map_slot *s = map_slot_of(m, key, hash_of(key));
    if (!s->key)
        return false;
    if (ret)
        *ret = s->place;
    return true;
}

// Room was reserved.
static void map_put(map *m, const char *key, size_t place)
{
    uint32_t hash = hash_of(key);
    map_slot *s = map_slot_of(m, key, hash);
    if (!s->key)
        m->n++;
    *s = (map_slot){.key = key, .hash = hash, .place = (uint32_t)place};
}

static void map_clear(map *m)
{
    if (m->cap)
        memset(m->slots, 0, m->cap * sizeof *m->slots);
    m->n = 0;
}

static mem_thread *thread_find(mem *m, const char *name)
{
    for (size_t i = 0; i < m->n_threads; i++) {
        if (strcmp(m->threads[i]->name, name) == 0)
            return m->threads[i];
    }
    return NULL;
}

static mem_thread *thread_make(mem *m, const char *name)
{
    if (!grow(&m->threads, &m->cap_threads, m->n_threads + 1, sizeof *m->threads))
        return NULL;
    mem_thread *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    strcpy(t->name, name);
    t->created_ms = t->updated_ms = pons__store_wall_ms();
    m->threads[m->n_threads++] = t;
    return t;
}

static void thread_free(mem_thread *t)
{
    for (size_t i = 0; i < t->n_spaces; i++)
        space_free(t->spaces[i]);
    free(t->spaces);
    free(t->space_by_name.slots);
    rows_clear(&t->inbox);
    rows_clear(&t->events);
    rows_clear(&t->effects);
    free(t->effect_by_id.slots);
    free(t);
}

static mem_ns *space_find(const mem_thread *t, const char *name)
{
    size_t at;
    return map_get(&t->space_by_name, name, &at) ? t->spaces[at] : NULL;
}

static mem_ns *space_make(mem_thread *t, const char *name)
{
    if (!map_reserve(&t->space_by_name, 1) ||
        !grow(&t->spaces, &t->cap_spaces, t->n_spaces + 1, sizeof *t->spaces))
        return NULL;
    mem_ns *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    strcpy(s->name, name);
    t->spaces[t->n_spaces] = s;
    map_put(&t->space_by_name, s->name, t->n_spaces++);
    return s;
}

static void space_free(mem_ns *s)
{
    rows_clear(&s->checkpoints);
    free(s->by_id.slots);
    for (size_t i = 0; i < s->n_groups; i++) {
        rows_clear(&s->groups[i]->records);
        free(s->groups[i]);
    }
    free(s->groups);
    free(s->group_by_id.slots);
    free(s);
}

static group *group_find(const mem_ns *s, const char *checkpoint)
{
    size_t at;
    return map_get(&s->group_by_id, checkpoint, &at) ? s->groups[at] : NULL;
}

static group *group_make(mem_ns *s, const char *checkpoint)
{
    if (!map_reserve(&s->group_by_id, 1) ||
        !grow(&s->groups, &s->cap_groups, s->n_groups + 1, sizeof *s->groups))
        return NULL;
    group *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    strcpy(g->checkpoint, checkpoint);
    s->groups[s->n_groups] = g;
    map_put(&s->group_by_id, g->checkpoint, s->n_groups++);
    return g;
}
