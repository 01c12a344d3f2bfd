// memory.c - the store that lives in the process.
//
// A thread is a handful of growing arrays of rows, with an index by name where rows are looked up:
//
//     thread -- namespaces[] (index by name)
//            |     +- checkpoints[] in the order they came   (index by id)
//            |     +- groups[]: records of one checkpoint, sorted by (task, idx)   (index by id)
//            +- inbox[]     unconsumed messages, by seq
//            +- events[]    seq is the place + 1 + how many were pruned
//            +- effects[]   in the order of creation          (index by id)
//
// A row is one allocation, its data behind it, counted: a reader takes references under the lock
// and calls back without it, so a callback may call the store again. A commit makes all its rows
// and all the room first, and then changes the arrays by steps that can't fail: applied whole or
// not at all.
#include "store/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const pons_store_ops memory_ops = {
    .abi = PONS_STORE_ABI,
    .name = "memory",
    .close = pons__mem_close,
    .lease_acquire = pons__mem_lease_acquire,
    .lease_release = pons__mem_lease_release,
    .lease_peek = pons__mem_lease_peek,
    .commit = pons__mem_commit,
    .commit_async = pons__mem_commit_async,
    .drain = pons__mem_drain,
    .head = pons__mem_head,
    .checkpoint = pons__mem_checkpoint,
    .history = pons__mem_history,
    .records = pons__mem_records,
    .namespaces = pons__mem_namespaces,
    .inbox_post = pons__mem_inbox_post,
    .inbox_read = pons__mem_inbox_read,
    .effect_get = pons__mem_effect_get,
    .effects = pons__mem_effects,
    .events = pons__mem_events,
    .event_last = pons__mem_event_last,
    .threads = pons__mem_threads,
    .thread_delete = pons__mem_thread_delete,
    .thread_copy = pons__mem_thread_copy,
    .prune = pons__mem_prune,
    .trim = pons__mem_trim,
    .flush = pons__mem_flush,
    .items_write = pons__mem_items_write,
    .item_get = pons__mem_item_get,
    .items = pons__mem_items,
    .item_spaces = pons__mem_item_spaces,
    .items_sweep = pons__mem_items_sweep,
    .lanes = pons__mem_lanes,
    .thread_note = pons__mem_thread_note,
    .thread_list = pons__mem_thread_list,
};

int pons_store_memory_open(pons_store *ret, pons_error *err)
{
    mem *m = calloc(1, sizeof *m);
    if (!m) {
        return pons__mem_no_memory(err);
    }
    pthread_mutex_init(&m->mtx, NULL);
    *ret = (pons_store){.ops = &memory_ops, .self = m};
    return PONS_OK;
}

void pons__mem_close(void *self)
{
    mem *m = self;
    if (!m) {
        return;
    }
    for (size_t i = 0; i < m->n_threads; i++) {
        pons__mem_thread_free(m->threads[i]);
    }
    free(m->threads);
    pons__mem_items_free(m);
    pons__mem_lanes_free(m);
    pthread_mutex_destroy(&m->mtx);
    free(m);
}

// ---- leases -------------------------------------------------------------------------------------

int pons__mem_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    char host[PONS__HOST_MAX];
    pons__store_host(host);
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
    if (!t) {
        t = pons__mem_thread_make(m, thread);
    }
    if (!t) {
        rc = pons__mem_no_memory(err);
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

void pons__mem_lease_release(void *self, pons_lease *lease)
{
    mem *m = self;
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, lease->thread);
    if (t && t->epoch == lease->epoch) {
        t->held = false;
    }
    pthread_mutex_unlock(&m->mtx);
    *lease = (pons_lease){0};
}

int pons__mem_lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_thread(thread, err);
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&m->mtx);
    mem_thread *t = pons__mem_thread_find(m, thread);
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
