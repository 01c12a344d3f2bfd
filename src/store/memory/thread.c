// thread.c - threads as a whole: listed, copied, deleted, pruned.
#include "store/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- threads ------------------------------------------------------------------------------------

typedef struct info_copy {
    pons_thread_info info;
    char name[PONS_NAME_MAX];
    row *note; // a reference, or NULL
} info_copy;

static void note_unref(row *x) // the lock is held; NULL-safe
{
    if (x) {
        pons__mem_row_unref(x);
    }
}

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
    for (size_t i = 0; i < t->n_spaces; i++) {
        ret->info.checkpoints += (int64_t)t->spaces[i]->checkpoints.n;
    }
    ret->note = t->note;
    if (t->note) {
        t->note->refs++;
        ret->info.note = t->note->u.record.data;
    }
}

int pons__mem_threads(void *self, pons_thread_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    char host[PONS__HOST_MAX];
    pons__store_host(host);
    pthread_mutex_lock(&m->mtx);
    size_t n = m->n_threads;
    info_copy *list = n ? malloc(n * sizeof *list) : NULL;
    for (size_t i = 0; list && i < n; i++) {
        describe(m->threads[i], host, &list[i]);
    }
    pthread_mutex_unlock(&m->mtx);
    if (n && !list) {
        return pons__mem_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        list[i].info.thread = list[i].name;
        if (fn(user, &list[i].info)) {
            break;
        }
    }
    pthread_mutex_lock(&m->mtx);
    for (size_t i = 0; i < n; i++) {
        note_unref(list[i].note);
    }
    pthread_mutex_unlock(&m->mtx);
    free(list);
    return PONS_OK;
}

// Here sizes cost nothing.
int pons__mem_thread_list(void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
                          pons_error *err)
{
    mem *m = self;
    if (!thread) {
        return pons__mem_threads(self, fn, user, err);
    }
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    char host[PONS__HOST_MAX];
    info_copy one = {0};
    pons__store_host(host);
    pthread_mutex_lock(&m->mtx);
    const mem_thread *t = pons__mem_thread_find(m, thread);
    if (t) {
        describe(t, host, &one);
    }
    pthread_mutex_unlock(&m->mtx);
    if (!t) {
        return pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    }
    one.info.thread = one.name;
    fn(user, &one.info);
    pthread_mutex_lock(&m->mtx);
    note_unref(one.note);
    pthread_mutex_unlock(&m->mtx);
    return PONS_OK;
}

int pons__mem_thread_note(void *self, const char *thread, pons_bytes note, const pons_bytes *was,
                          pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    row *x = note.len ? pons__mem_row_make(ROW_RECORD, NULL, NULL, note) : NULL;
    if (note.len && !x) {
        return pons__mem_no_memory(err);
    }
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    const pons_bytes have = t && t->note ? t->note->u.record.data : (pons_bytes){0};
    if (was && (was->len != have.len || (have.len && memcmp(was->data, have.data, have.len)))) {
        rc = pons__note_changed(err, thread);
    } else if (!t) {
        t = pons__mem_thread_make(m, thread);
        rc = t ? PONS_OK : pons__mem_no_memory(err);
    }
    if (!rc) {
        t->bytes += (int64_t)note.len - (int64_t)have.len;
        note_unref(t->note);
        t->note = x;
        t->updated_ms = pons__store_wall_ms();
    } else {
        note_unref(x);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

int pons__mem_thread_delete(void *self, const char *thread, pons_error *err)
{
    mem *m = self;
    int rc = PONS_OK;
    char host[PONS__HOST_MAX];
    pons__store_host(host);
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    if (!t) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    } else if (t->held) {
        rc = pons__store_held(err, thread, (int64_t)getpid(), host);
    } else {
        pons__mem_thread_remove(m, t);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

// Rows do not change, so both threads hold the same.
static bool copy_rows(const rows *from, rows *to)
{
    if (!pons__mem_rows_reserve(to, from->n)) {
        return false;
    }
    for (size_t i = 0; i < from->n; i++) {
        from->at[i]->refs++;
        pons__mem_rows_push(to, from->at[i]);
    }
    return true;
}

static bool copy_space(const mem_ns *from, mem_thread *t)
{
    mem_ns *to = pons__mem_space_make(t, from->name);
    if (!to || !copy_rows(&from->checkpoints, &to->checkpoints) ||
        !pons__mem_map_reserve(&to->by_id, to->checkpoints.n)) {
        return false;
    }
    for (size_t i = 0; i < to->checkpoints.n; i++) {
        pons__mem_map_put(&to->by_id, to->checkpoints.at[i]->u.checkpoint.id, i);
    }
    for (size_t i = 0; i < from->n_groups; i++) {
        group *g = pons__mem_group_make(to, from->groups[i]->checkpoint);
        if (!g || !copy_rows(&from->groups[i]->records, &g->records)) {
            return false;
        }
    }
    return true;
}

static bool copy_thread(const mem_thread *from, mem_thread *to)
{
    for (size_t i = 0; i < from->n_spaces; i++) {
        if (!copy_space(from->spaces[i], to)) {
            return false;
        }
    }
    if (!copy_rows(&from->events, &to->events) || !copy_rows(&from->effects, &to->effects) ||
        !pons__mem_map_reserve(&to->effect_by_id, to->effects.n)) {
        return false;
    }
    to->events_gone = from->events_gone;
    to->note = from->note;
    if (to->note) {
        to->note->refs++;
    }
    for (size_t i = 0; i < to->effects.n; i++) {
        pons__mem_map_put(&to->effect_by_id, to->effects.at[i]->u.effect.id, i);
    }
    to->bytes = from->bytes;
    for (size_t i = 0; i < from->inbox.n; i++) {
        to->bytes -= pons__mem_row_bytes(from->inbox.at[i]);
    }
    return true;
}

int pons__mem_thread_copy(void *self, const char *from, const char *to, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_thread(from, err);
    if (!rc) {
        rc = pons__store_check_thread(to, err);
    }
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&m->mtx);
    mem_thread *source = pons__mem_thread_find(m, from);
    if (!source) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", from);
    } else if (pons__mem_thread_find(m, to)) {
        rc = pons__store_exists(err, to);
    } else {
        mem_thread *t = pons__mem_thread_make(m, to);
        if (!t || !copy_thread(source, t)) {
            rc = pons__mem_no_memory(err);
        }
        if (rc && t) {
            pons__mem_thread_remove(m, t);
        }
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

// ---- pruning ------------------------------------------------------------------------------------

static bool prune_list(const mem_ns *s, prune_rows *ret)
{
    for (size_t i = 0; i < s->checkpoints.n; i++) {
        const pons_checkpoint_row *c = &s->checkpoints.at[i]->u.checkpoint;
        prune_row item = {
            .key = (int64_t)i + 1, .wall_ms = pons__id_wall_ms(c->id), .snapshot = c->snapshot};
        size_t parent;
        if (pons__mem_map_get(&s->by_id, c->parent, &parent)) {
            item.parent = (int64_t)parent + 1;
        }
        if (!pons__prune_push(ret, &item)) {
            return false;
        }
    }
    return true;
}

static void drop_groups(mem_thread *t, mem_ns *s, const prune_rows *plan)
{
    size_t left = 0;
    for (size_t i = 0; i < s->n_groups; i++) {
        group *g = s->groups[i];
        size_t at;
        if (!pons__mem_map_get(&s->by_id, g->checkpoint, &at) || plan->at[at].keep) {
            s->groups[left++] = g;
            continue;
        }
        for (size_t j = 0; j < g->records.n; j++) {
            t->bytes -= pons__mem_row_bytes(g->records.at[j]);
        }
        pons__mem_rows_clear(&g->records);
        free(g);
    }
    s->n_groups = left;
    pons__mem_map_clear(&s->group_by_id);
    for (size_t i = 0; i < left; i++) {
        pons__mem_map_put(&s->group_by_id, s->groups[i]->checkpoint, i);
    }
}

// Can't fail: nothing grows.
static void prune_space(mem_thread *t, mem_ns *s, const prune_rows *plan)
{
    drop_groups(t, s, plan);
    pons__mem_map_clear(&s->by_id);
    size_t left = 0;
    for (size_t i = 0; i < plan->n; i++) {
        row *x = s->checkpoints.at[i];
        if (plan->at[i].keep) {
            s->checkpoints.at[left] = x;
            pons__mem_map_put(&s->by_id, x->u.checkpoint.id, left++);
        } else {
            t->bytes -= pons__mem_row_bytes(x);
            pons__mem_row_unref(x);
        }
    }
    s->checkpoints.n = left;
}

static int64_t prune_events(mem_thread *t, int64_t since_ms)
{
    size_t gone = 0;
    while (gone + 1 < t->events.n && t->events.at[gone]->u.event.ts_ms < since_ms) {
        gone++;
    }
    for (size_t i = 0; i < gone; i++) {
        t->bytes -= pons__mem_row_bytes(t->events.at[i]);
        pons__mem_row_unref(t->events.at[i]);
    }
    if (gone) {
        memmove(t->events.at, t->events.at + gone, (t->events.n - gone) * sizeof *t->events.at);
    }
    t->events.n -= gone;
    t->events_gone += (int64_t)gone;
    return (int64_t)gone;
}

static int64_t all_bytes(const mem *m)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < m->n_threads; i++) {
        bytes += m->threads[i]->bytes;
    }
    return bytes;
}

static int prune_thread(mem_thread *t, const pons_prune *what, pons_prune_result *ret,
                        pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; !rc && i < t->n_spaces; i++) {
        mem_ns *s = t->spaces[i];
        if (what->ns && strcmp(what->ns, s->name) != 0) {
            continue;
        }
        prune_rows plan = {0};
        if (!prune_list(s, &plan)) {
            rc = pons__mem_no_memory(err);
        } else {
            size_t gone = pons__prune_plan(&plan, what);
            if (gone) {
                prune_space(t, s, &plan);
            }
            ret->checkpoints += (int64_t)gone;
        }
        free(plan.at);
    }
    if (!rc && what->events_since_ms) {
        ret->events = prune_events(t, what->events_since_ms);
    }
    return rc;
}

int pons__mem_prune(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                    pons_error *err)
{
    mem *m = self;
    int rc = pons__prune_check(thread, what, err);
    if (rc) {
        return rc;
    }
    char host[PONS__HOST_MAX];
    pons__store_host(host);
    pons_prune_result done = {0};
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    const pons_lease *lease = what->lease;
    if (lease && (!t || !t->held || t->epoch != lease->epoch)) {
        rc = pons__store_stale(err, thread, lease->epoch, t ? t->epoch : 0);
    } else if (!t) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "store", "there is no thread %s", thread);
    } else if (!lease && t->held) {
        rc = pons__store_held(err, thread, (int64_t)getpid(), host);
    }
    if (!rc) {
        done.bytes_before = all_bytes(m);
        rc = prune_thread(t, what, &done, err);
        done.bytes_after = all_bytes(m);
    }
    pthread_mutex_unlock(&m->mtx);
    if (!rc && ret) {
        *ret = done;
    }
    return rc;
}
