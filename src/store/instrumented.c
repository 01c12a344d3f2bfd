// instrumented.c - a store before another one: hands everything on, and tells of each commit.
//
// Somebody who measures a program wants to know how often it commits and how long that takes, and
// the store is the one place where all commits meet. So the answer is a store again: whoever has it
// need not know. An op that the other one lacks is lacking here.
#include "pons/clock.h"
#include "pons/store.h"

#include <stdlib.h>

typedef struct watch {
    pons_store_ops ops; // const
    pons_store inner;   // const
    pons_clock clock;   // const
    pons_store_commit_fn reported;
    void *user;
} watch;

// An op of the contract that stands here is one line; one that is missing would be missing to all.
_Static_assert(sizeof(pons_store_ops) == 36 * sizeof(void *),
               "a new op of the contract: a line below, and another number here");

#define HAND_ON(name, params, ...)                                                                 \
    static int name params                                                                         \
    {                                                                                              \
        const pons_store s = ((const watch *)self)->inner;                                         \
        return s.ops->name(s.self, __VA_ARGS__);                                                   \
    }

HAND_ON(lease_acquire, (void *self, const char *thread, pons_lease *ret, pons_error *err), thread,
        ret, err)
HAND_ON(lease_peek, (void *self, const char *thread, pons_lease *ret, pons_error *err), thread, ret,
        err)
HAND_ON(drain, (void *self, pons_error *err), err)
HAND_ON(head,
        (void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
         pons_error *err),
        thread, ns, fn, user, err)
HAND_ON(checkpoint,
        (void *self, const char *thread, const char *ns, const char *id, pons_checkpoint_fn fn,
         void *user, pons_error *err),
        thread, ns, id, fn, user, err)
HAND_ON(history,
        (void *self, const char *thread, const char *ns, const char *before, int64_t limit,
         pons_checkpoint_fn fn, void *user, pons_error *err),
        thread, ns, before, limit, fn, user, err)
HAND_ON(records,
        (void *self, const char *thread, const char *ns, const char *id, pons_record_fn fn,
         void *user, pons_error *err),
        thread, ns, id, fn, user, err)
HAND_ON(namespaces,
        (void *self, const char *thread, int (*fn)(void *user, const char *ns), void *user,
         pons_error *err),
        thread, fn, user, err)
HAND_ON(inbox_post,
        (void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
         pons_error *err),
        thread, row, ret_seq, err)
HAND_ON(inbox_read,
        (void *self, const char *thread, const char *ns, int64_t after, pons_inbox_fn fn,
         void *user, pons_error *err),
        thread, ns, after, fn, user, err)
HAND_ON(effect_get,
        (void *self, const char *thread, const char *id, pons_effect_fn fn, void *user,
         pons_error *err),
        thread, id, fn, user, err)
HAND_ON(effects,
        (void *self, const char *thread, uint32_t mask, pons_effect_fn fn, void *user,
         pons_error *err),
        thread, mask, fn, user, err)
HAND_ON(events,
        (void *self, const char *thread, int64_t after, int64_t limit, pons_event_fn fn, void *user,
         pons_error *err),
        thread, after, limit, fn, user, err)
HAND_ON(event_last, (void *self, const char *thread, int64_t *ret, pons_error *err), thread, ret,
        err)
HAND_ON(threads, (void *self, pons_thread_fn fn, void *user, pons_error *err), fn, user, err)
HAND_ON(thread_delete, (void *self, const char *thread, pons_error *err), thread, err)
HAND_ON(thread_copy, (void *self, const char *from, const char *to, pons_error *err), from, to, err)
HAND_ON(prune,
        (void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
         pons_error *err),
        thread, what, ret, err)
HAND_ON(trim, (void *self, pons_trim *what, pons_trim_result *ret, pons_error *err), what, ret, err)
HAND_ON(flush, (void *self, const pons_lease *lease, pons_error *err), lease, err)
HAND_ON(items_write,
        (void *self, const pons_item_write *items, size_t n, pons_sync sync, pons_error *err),
        items, n, sync, err)
HAND_ON(item_get,
        (void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn, void *user,
         pons_error *err),
        ns, key, now_ms, fn, user, err)
HAND_ON(items,
        (void *self, const pons_item_find *find, pons_item_fn fn, void *user, pons_error *err),
        find, fn, user, err)
HAND_ON(item_spaces,
        (void *self, int64_t now_ms, int (*fn)(void *user, const char *ns), void *user,
         pons_error *err),
        now_ms, fn, user, err)
HAND_ON(items_sweep, (void *self, int64_t now_ms, int64_t *ret, pons_error *err), now_ms, ret, err)
HAND_ON(thread_note,
        (void *self, const char *thread, pons_bytes note, const pons_bytes *was, pons_error *err),
        thread, note, was, err)
HAND_ON(thread_list,
        (void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
         pons_error *err),
        thread, sizes, fn, user, err)

static void lease_release(void *self, pons_lease *lease)
{
    const pons_store s = ((const watch *)self)->inner;
    s.ops->lease_release(s.self, lease);
}

static int notify_fd(void *self)
{
    const pons_store s = ((const watch *)self)->inner;
    return s.ops->notify_fd(s.self);
}

static bool away(void *self)
{
    const pons_store s = ((const watch *)self)->inner;
    return s.ops->away(s.self);
}

static void lanes(void *self, pons_lanes *ret)
{
    const pons_store s = ((const watch *)self)->inner;
    s.ops->lanes(s.self, ret);
}

static int commit(void *self, const pons_commit *c, pons_error *err)
{
    const watch *w = self;
    const int64_t from = pons_now_ns(&w->clock);
    const int rc = w->inner.ops->commit(w->inner.self, c, err);
    w->reported(w->user, rc, pons_now_ns(&w->clock) - from);
    return rc;
}

// Only what is handed over is measured: when it is done shows at the next commit or drain.
static int commit_async(void *self, const pons_commit *c, pons_error *err)
{
    const watch *w = self;
    const int64_t from = pons_now_ns(&w->clock);
    const int rc = w->inner.ops->commit_async(w->inner.self, c, err);
    w->reported(w->user, rc, pons_now_ns(&w->clock) - from);
    return rc;
}

static void close_watch(void *self)
{
    watch *w = self;
    if (w) {
        pons_store_close(&w->inner);
        free(w);
    }
}

int pons_store_watch(pons_store *store, const pons_clock *clock, pons_store_commit_fn reported,
                     void *user, pons_error *err)
{
    const pons_store_ops *o = store->ops;
    watch *w = calloc(1, sizeof *w);
    if (!w) {
        return pons_error_set(err, PONS_ENOMEM, "store", "no memory to watch it");
    }
    w->inner = *store;
    w->clock = *clock;
    w->reported = reported;
    w->user = user;
    w->ops = (pons_store_ops){.abi = o->abi,
                              .name = o->name,
                              .close = close_watch,
                              .commit = commit,
                              .lease_release = lease_release};
#define HAS(op) w->ops.op = o->op ? op : NULL
    HAS(lease_acquire);
    HAS(lease_peek);
    HAS(commit_async);
    HAS(drain);
    HAS(head);
    HAS(checkpoint);
    HAS(history);
    HAS(records);
    HAS(namespaces);
    HAS(inbox_post);
    HAS(inbox_read);
    HAS(effect_get);
    HAS(effects);
    HAS(events);
    HAS(event_last);
    HAS(threads);
    HAS(thread_delete);
    HAS(thread_copy);
    HAS(prune);
    HAS(trim);
    HAS(notify_fd);
    HAS(flush);
    HAS(away);
    HAS(items_write);
    HAS(item_get);
    HAS(items);
    HAS(item_spaces);
    HAS(items_sweep);
    HAS(thread_note);
    HAS(thread_list);
    HAS(lanes);
#undef HAS
    *store = (pons_store){.ops = &w->ops, .self = w};
    return PONS_OK;
}
