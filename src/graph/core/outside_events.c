// outside_events.c - events and messages of a thread outside any run: committed, then shown.
#include "graph/core/thread_lease.h"
#include "graph/engine.h"

#include <stdlib.h>
#include <string.h>

static int count_row(void *user, const pons_inbox_row *row)
{
    ++*(int64_t *)user;
    return 0;
}

int pons_thread_inbox_count(pons_thread *t, const char *name, int64_t *ret, pons_error *err)
{
    pons__ns *ns = pons__ns_get(t, name, err);
    if (!ns) {
        return PONS_EINVAL;
    }
    int64_t n = 0;
    if (!t->store.ops) {
        pons_each(m, t->mem_inbox) {
            n += strcmp(pons_get_str(m, "ns", ""), name) == 0 &&
                 pons_get_int(m, "seq", 0) > ns->inbox_after;
        }
        *ret = n;
        return PONS_OK;
    }
    int st =
        t->store.ops->inbox_read(t->store.self, t->id, name, ns->inbox_after, count_row, &n, err);
    if (st == PONS_OK) {
        *ret = n;
    }
    return st;
}

static void event_show(pons_thread *t, const char *ns, int64_t seq, int64_t ts_ms, const char *type,
                       const pons_value *payload)
{
    if (!t->on_event) {
        return;
    }
    pons_event ev = {
        .seq = seq, .thread = t->id, .ns = ns, .ts_ms = ts_ms, .type = type, .payload = payload};
    t->on_event(t->user, &ev);
}

// An event, and a message and an item's write when there are any, in one commit. Takes payload.
static int commit_event(pons_thread *t, const char *ns, const pons_inbox_row *post,
                        const char *type, pons_value *payload, const pons_item_write *item,
                        pons_error *err)
{
    pons_autovalue owned = payload;
    int64_t now_ms = pons_wall_ms(&t->clock);
    if (!owned) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "an event needs a payload");
    }
    if (!t->store.ops) {
        event_show(t, ns, 0, now_ms, type, owned);
        return PONS_OK;
    }
    char *text = NULL;
    long n = pons_value_line(owned, &text);
    if (n < 0) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for an event");
    }
    pons_event_row row = {.ns = ns, .ts_ms = now_ms, .type = type, .payload = {text, (size_t)n}};
    pons_commit c = {.lease = &t->lease,
                     .ns = ns,
                     .posts = post,
                     .n_posts = post ? 1 : 0,
                     // what a person asked for outlives a server that fails
                     .sync = post ? PONS_SYNC_FULL : PONS_SYNC_NORMAL,
                     .events = &row,
                     .n_events = 1,
                     .items = item,
                     .n_items = item ? 1 : 0};
    int st = pons__thread_commit(t, NULL, &c, false, err);
    free(text);
    if (st == PONS_OK) {
        event_show(t, ns, row.seq, now_ms, type, owned);
    }
    return st;
}

int pons_thread_emit(pons_thread *t, const char *ns, const char *type, pons_value *payload,
                     pons_error *err)
{
    return commit_event(t, ns, NULL, type, payload, NULL, err);
}

int pons_thread_post(pons_thread *t, const char *ns, const char *kind, const pons_value *value,
                     const char *type, pons_value *payload, pons_error *err)
{
    return pons_thread_post_with(t, ns, kind, value, type, payload, NULL, err);
}

int pons_thread_post_with(pons_thread *t, const char *ns, const char *kind, const pons_value *value,
                          const char *type, pons_value *payload, const pons_item_write *item,
                          pons_error *err)
{
    char *text = NULL;
    long n = t->store.ops ? pons_value_dump(value, &text) : PONS_EUNSUPPORTED;
    if (n < 0) {
        pons_value_unref(payload);
        return pons_error_set(err, (int)n, PONS__MODULE, "cannot post '%s' to %s", kind, ns);
    }
    pons_inbox_row post = {.ns = ns, .kind = kind, .value = {text, (size_t)n}};
    int st = commit_event(t, ns, &post, type, payload, item, err);
    free(text);
    return st;
}

void pons_thread_emit_live(pons_thread *t, const char *ns, const char *type, pons_value *payload)
{
    event_show(t, ns, 0, pons_wall_ms(&t->clock), type, payload);
    pons_value_unref(payload);
}
