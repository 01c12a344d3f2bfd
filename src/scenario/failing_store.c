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

static int fault_commit(void *self, const pons_commit *c, pons_error *err)
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

static int fault_commit_async(void *self, const pons_commit *c, pons_error *err)
{
    const int rc = fault_commit(self, c, err);
    if (rc >= 0 && c->written) {
        c->written(c->user);
    }
    return rc;
}

static int fault_drain(void *self, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err) : f->inner.ops->drain(f->inner.self, err);
}

static int fault_lease_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err) : f->inner.ops->lease_acquire(f->inner.self, thread, ret, err);
}

static void fault_lease_release(void *self, pons_lease *lease)
{
    pons__fault_store *f = self_of(self);
    f->inner.ops->lease_release(f->inner.self, lease); // the kernel frees a dead holder's lock
}

static int fault_lease_peek(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->inner.ops->lease_peek(f->inner.self, thread, ret, err);
}

static int fault_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn,
                      void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err) : f->inner.ops->head(f->inner.self, thread, ns, fn, user, err);
}

static int fault_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                            pons_checkpoint_fn fn, void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err)
                   : f->inner.ops->checkpoint(f->inner.self, thread, ns, id, fn, user, err);
}

static int fault_history(void *self, const char *thread, const char *ns, const char *before,
                         int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err)
                   : f->inner.ops->history(f->inner.self, thread, ns, before, limit, fn, user, err);
}

static int fault_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                         pons_record_fn fn, void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err)
                   : f->inner.ops->records(f->inner.self, thread, ns, checkpoint, fn, user, err);
}

static int fault_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                            void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err) : f->inner.ops->namespaces(f->inner.self, thread, fn, user, err);
}

static int fault_inbox_post(void *self, const char *thread, const pons_inbox_row *row,
                            int64_t *ret_seq, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err)
                   : f->inner.ops->inbox_post(f->inner.self, thread, row, ret_seq, err);
}

static int fault_inbox_read(void *self, const char *thread, const char *ns, int64_t after,
                            pons_inbox_fn fn, void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err)
                   : f->inner.ops->inbox_read(f->inner.self, thread, ns, after, fn, user, err);
}

static int fault_effect_get(void *self, const char *thread, const char *id, pons_effect_fn fn,
                            void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err)
                   : f->inner.ops->effect_get(f->inner.self, thread, id, fn, user, err);
}

static int fault_effects(void *self, const char *thread, uint32_t mask, pons_effect_fn fn,
                         void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err)
                   : f->inner.ops->effects(f->inner.self, thread, mask, fn, user, err);
}

static int fault_events(void *self, const char *thread, int64_t after, int64_t limit,
                        pons_event_fn fn, void *user, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err)
                   : f->inner.ops->events(f->inner.self, thread, after, limit, fn, user, err);
}

static int fault_event_last(void *self, const char *thread, int64_t *ret_seq, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err) : f->inner.ops->event_last(f->inner.self, thread, ret_seq, err);
}

static int fault_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err)
{
    pons__fault_store *f = self_of(self);
    return f->dead ? killed(err) : f->inner.ops->trim(f->inner.self, what, ret, err);
}

pons_store pons__fault_store_wrap(pons__fault_store *f, pons_store inner)
{
    f->inner = inner;
    f->ops = (pons_store_ops){.abi = PONS_STORE_ABI,
                              .name = "fault",
                              .lease_acquire = fault_lease_acquire,
                              .lease_release = fault_lease_release,
                              .lease_peek = fault_lease_peek,
                              .commit = fault_commit,
                              .commit_async = fault_commit_async,
                              .drain = fault_drain,
                              .head = fault_head,
                              .checkpoint = fault_checkpoint,
                              .history = fault_history,
                              .records = fault_records,
                              .namespaces = fault_namespaces,
                              .inbox_post = fault_inbox_post,
                              .inbox_read = fault_inbox_read,
                              .effect_get = fault_effect_get,
                              .effects = fault_effects,
                              .events = fault_events,
                              .event_last = fault_event_last,
                              .trim = inner.ops->trim ? fault_trim : NULL};
    return (pons_store){.ops = &f->ops, .self = f};
}

void pons__fault_store_revive(pons__fault_store *f)
{
    f->dead = false;
    f->kill_at = 0;
}
