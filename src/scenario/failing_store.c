// failing_store.c - a store that dies at a chosen commit.
//
// What a kill -9 does to a brain is this, seen from its store: commits up to the n-th are there,
// the n-th is there or is not, and nothing comes after. Every later call fails, so that whatever
// the brain would still have done on this side of the kill does not happen either: nothing is sent,
// since whatever is sent is sent after a commit.
#include "scenario/failing_store.h"

static pons__fault_store *self_of(void *self)
{
    return self;
}

static int killed(pons_error *err)
{
    return pons_error_set(err, PONS_EIO, "scenario", "the brain was killed here");
}

// An op of the contract that only the living have.
#define WHILE_ALIVE(name, params, ...)                                                             \
    static int name params                                                                         \
    {                                                                                              \
        pons__fault_store *f = self_of(self);                                                      \
        return f->dead ? killed(err) : f->inner.ops->name(f->inner.self, __VA_ARGS__);             \
    }

WHILE_ALIVE(drain, (void *self, pons_error *err), err)
WHILE_ALIVE(head,
            (void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
             pons_error *err),
            thread, ns, fn, user, err)
WHILE_ALIVE(checkpoint,
            (void *self, const char *thread, const char *ns, const char *id, pons_checkpoint_fn fn,
             void *user, pons_error *err),
            thread, ns, id, fn, user, err)
WHILE_ALIVE(history,
            (void *self, const char *thread, const char *ns, const char *before, int64_t limit,
             pons_checkpoint_fn fn, void *user, pons_error *err),
            thread, ns, before, limit, fn, user, err)
WHILE_ALIVE(records,
            (void *self, const char *thread, const char *ns, const char *checkpoint,
             pons_record_fn fn, void *user, pons_error *err),
            thread, ns, checkpoint, fn, user, err)
WHILE_ALIVE(namespaces,
            (void *self, const char *thread, int (*fn)(void *user, const char *ns), void *user,
             pons_error *err),
            thread, fn, user, err)
WHILE_ALIVE(lease_acquire, (void *self, const char *thread, pons_lease *ret, pons_error *err),
            thread, ret, err)

static void lease_release(void *self, pons_lease *lease)
{
    pons__fault_store *f = self_of(self);
    f->inner.ops->lease_release(f->inner.self, lease); // the kernel frees a dead holder's lock
}

static int lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->inner.ops->lease_peek(f->inner.self, thread, ret, err);
}

WHILE_ALIVE(inbox_post,
            (void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
             pons_error *err),
            thread, row, ret_seq, err)
WHILE_ALIVE(inbox_read,
            (void *self, const char *thread, const char *ns, int64_t after, pons_inbox_fn fn,
             void *user, pons_error *err),
            thread, ns, after, fn, user, err)
WHILE_ALIVE(effect_get,
            (void *self, const char *thread, const char *id, pons_effect_fn fn, void *user,
             pons_error *err),
            thread, id, fn, user, err)
WHILE_ALIVE(effects,
            (void *self, const char *thread, uint32_t mask, pons_effect_fn fn, void *user,
             pons_error *err),
            thread, mask, fn, user, err)
WHILE_ALIVE(events,
            (void *self, const char *thread, int64_t after, int64_t limit, pons_event_fn fn,
             void *user, pons_error *err),
            thread, after, limit, fn, user, err)
WHILE_ALIVE(event_last, (void *self, const char *thread, int64_t *ret_seq, pons_error *err), thread,
            ret_seq, err)
WHILE_ALIVE(trim, (void *self, pons_trim *what, pons_trim_result *ret, pons_error *err), what, ret,
            err)

static int commit(void *self, const pons_commit *c, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    if (f->dead) {
        return killed(err);
    }
    f->commits++;
    const bool last = f->kill_at > 0 && f->commits == f->kill_at;
    if (last && f->before) {
        f->dead = true;
        return killed(err);
    }
    const int rc = f->inner.ops->commit(f->inner.self, c, err);
    if (last && rc >= 0) {
        f->dead = true;
        return killed(err);
    }
    return rc;
}

static int commit_async(void *self, const pons_commit *c, pons_error *err)
{
    const int rc = commit(self, c, err);
    if (rc >= 0 && c->written) {
        c->written(c->user);
    }
    return rc;
}

pons_store pons__fault_store_wrap(pons__fault_store *f, pons_store inner)
{
    f->inner = inner;
    f->ops = (pons_store_ops){.abi = PONS_STORE_ABI,
                              .name = "fault",
                              .lease_acquire = lease_acquire,
                              .lease_release = lease_release,
                              .lease_peek = lease_peek,
                              .commit = commit,
                              .commit_async = commit_async,
                              .drain = drain,
                              .head = head,
                              .checkpoint = checkpoint,
                              .history = history,
                              .records = records,
                              .namespaces = namespaces,
                              .inbox_post = inbox_post,
                              .inbox_read = inbox_read,
                              .effect_get = effect_get,
                              .effects = effects,
                              .events = events,
                              .event_last = event_last,
                              .trim = inner.ops->trim ? trim : NULL};
    return (pons_store){.ops = &f->ops, .self = f};
}

void pons__fault_store_revive(pons__fault_store *f)
{
    f->dead = false;
    f->kill_at = 0;
}
