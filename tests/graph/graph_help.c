#include "graph/graph_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the bed ------------------------------------------------------------------------------------

static void on_event(void *user, const pons_event *ev)
{
    bed *b = user;
    json_array_append_new(b->events, pons_object("seq", json_integer(ev->seq), "ns",
                                                 json_string(ev->ns), "type", json_string(ev->type),
                                                 "payload", pons_value_ref(ev->payload), NULL));
}

static void ask_start(void *user, pons_run *run, const char *id, const pons_value *request,
                      bool restarted)
{
    bed *b = user;
    json_array_append_new(b->started,
                          pons_object("id", json_string(id), "request", pons_value_ref(request),
                                      "restarted", json_boolean(restarted), NULL));
    if (b->instant) {
        assert_ok(pons_run_answer(run, id, pons_value_ref(b->instant), &b->err));
    }
}

static void ask_cancel(void *user, pons_run *run, const char *id)
{
    (void)run;
    json_array_append_new(((bed *)user)->canceled, json_string(id));
}

void bed_thread(bed *b)
{
    pons_thread_close(b->t);
    b->t = NULL;
    pons_await_handler ask = {.kind = "ask", .start = ask_start, .cancel = ask_cancel, .user = b};
    pons_thread_options o = {.clock = b->clock,
                             .seed = 7,
                             .handlers = &ask,
                             .n_handlers = 1,
                             .on_event = on_event,
                             .user = b};
    int st = pons_thread_open(b->store, "t1", &o, &b->t, &b->err);
    if (st != PONS_OK) {
        fail_msg("open: %s", b->err.message);
    }
}

static void prepare(bed *b)
{
    memset(b, 0, sizeof *b);
    b->time.now_ns = PONS_NS_PER_S;
    b->time.wall_epoch_ms = 1700000000000LL;
    b->clock = pons_clock_from_manual(&b->time);
    b->events = json_array();
    b->started = json_array();
    b->canceled = json_array();
}

void bed_open(bed *b)
{
    prepare(b);
    assert_ok(pons_store_memory_open(&b->store, &b->err));
    bed_thread(b);
}

void bed_open_on(bed *b, pons_store store)
{
    prepare(b);
    b->store = store;
    b->borrowed_store = true;
    bed_thread(b);
}

void bed_open_without_store(bed *b)
{
    prepare(b);
    b->borrowed_store = true;
    bed_thread(b);
}

void bed_close(bed *b)
{
    pons_thread_close(b->t);
    if (!b->borrowed_store) {
        pons_store_close(&b->store);
    }
    pons_value_unref(b->events);
    pons_value_unref(b->started);
    pons_value_unref(b->canceled);
    pons_value_unref(b->instant);
}

size_t bed_events(const bed *b, const char *type)
{
    size_t n = 0, i;
    pons_value *e;
    json_array_foreach(b->events, i, e) {
        n += strcmp(pons_get_str(e, "type", ""), type) == 0;
    }
    return n;
}

// ---- values -------------------------------------------------------------------------------------

pons_value *json(const char *text)
{
    char buf[4096];
    snprintf(buf, sizeof buf, "%s", text);
    for (char *c = buf; *c; c++) {
        if (*c == '\'') {
            *c = '"';
        }
    }
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(buf, strlen(buf), &v, &err) != PONS_OK) {
        fail_msg("bad JSON in a test: %s", text);
    }
    return v;
}

void assert_json(const pons_value *v, const char *text)
{
    pons_autovalue want = json(text);
    if (v && json_equal((pons_value *)(uintptr_t)v, want)) {
        return;
    }
    char *have = NULL;
    if (v) {
        pons_value_dump(v, &have);
    }
    fail_msg("have %s, want %s", have ? have : "nothing", text);
}

// ---- runs ---------------------------------------------------------------------------------------

static void check_state(pons_run *r, pons_run_state want)
{
    if (pons_run_state_get(r) != want) {
        fail_msg("the run is in state %d, not %d: %s", (int)pons_run_state_get(r), (int)want,
                 pons_run_error(r)->message);
    }
}

pons_run *run_to(bed *b, const pons_graph *g, const char *ns, const char *input,
                 pons_run_state want)
{
    pons_autovalue in = input ? json(input) : NULL;
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    pons_run *r = NULL;
    int st = pons_run_start(b->t, g, ns, in, &o, &r, &b->err);
    if (st != PONS_OK) {
        fail_msg("start: %s", b->err.message);
    }
    st = pons_run_advance(r, &b->err);
    if (st != PONS_OK) {
        fail_msg("advance: %s", b->err.message);
    }
    check_state(r, want);
    return r;
}

pons_run *resume_to(bed *b, const pons_graph *g, const char *ns, pons_run_state want)
{
    pons_run_options o = {.durability = PONS_DURABILITY_SYNC};
    pons_run *r = NULL;
    int st = pons_run_resume(b->t, g, ns, &o, &r, &b->err);
    if (st != PONS_OK) {
        fail_msg("resume: %s", b->err.message);
    }
    st = pons_run_advance(r, &b->err);
    if (st != PONS_OK) {
        fail_msg("advance: %s", b->err.message);
    }
    check_state(r, want);
    return r;
}

pons_graph *compile(pons_graph_builder *b, const pons_graph_options *opts)
{
    pons_graph *g = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_graph_compile(b, opts, &g, &err) != PONS_OK) {
        fail_msg("compile: %s", err.message);
    }
    pons_graph_builder_destroy(b);
    return g;
}

void channel(pons_graph_builder *b, const char *name, pons_channel_kind kind,
             pons_reducer_fn reduce)
{
    pons_channel_options o = {.kind = kind, .reduce = reduce};
    pons_graph_channel(b, name, &o);
}

int node_log(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "log", json_string(pons_cx_node(cx)));
}

// ---- the fuse -----------------------------------------------------------------------------------

static int dead(const fuse *f, pons_error *err)
{
    return f->dead ? pons_error_set(err, PONS_EIO, "fuse", "the process is dead") : PONS_OK;
}

int fuse_commits;

static bool blown(fuse *f)
{
    fuse_commits++;
    f->commits++;
    if (f->left == 0) {
        f->dead = true;
    } else if (f->left > 0) {
        f->left--;
    }
    return f->dead;
}

#define INNER(f) (f)->inner.ops

static void f_close(void *self)
{
    (void)self;
}
static int f_acquire(void *self, const char *thread, pons_lease *ret, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->lease_acquire(f->inner.self, thread, ret, err);
}
static void f_release(void *self, pons_lease *lease)
{
    fuse *f = self;
    INNER(f)->lease_release(f->inner.self, lease);
}
static int f_commit(void *self, const pons_commit *c, pons_error *err)
{
    fuse *f = self;
    if (blown(f)) {
        return dead(f, err);
    }
    if (f->commits == f->exit_at && !f->exit_after) {
        _exit(FUSE_EXIT);
    }
    int st = INNER(f)->commit(f->inner.self, c, err);
    if (f->commits == f->exit_at) {
        _exit(FUSE_EXIT);
    }
    return st;
}
static int f_commit_async(void *self, const pons_commit *c, pons_error *err)
{
    fuse *f = self;
    if (blown(f)) {
        return dead(f, err);
    }
    if (f->commits == f->exit_at && !f->exit_after) {
        _exit(FUSE_EXIT);
    }
    int st = INNER(f)->commit_async(f->inner.self, c, err);
    if (f->commits == f->exit_at) { // once it is made: a queue may lose it, which is the other case
        INNER(f)->drain(f->inner.self, err);
        _exit(FUSE_EXIT);
    }
    return st;
}
static int f_drain(void *self, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->drain(f->inner.self, err);
}
static int f_head(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
                  pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->head(f->inner.self, thread, ns, fn, user, err);
}
static int f_checkpoint(void *self, const char *thread, const char *ns, const char *id,
                        pons_checkpoint_fn fn, void *user, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err)
                   : INNER(f)->checkpoint(f->inner.self, thread, ns, id, fn, user, err);
}
static int f_history(void *self, const char *thread, const char *ns, const char *before,
                     int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err)
                   : INNER(f)->history(f->inner.self, thread, ns, before, limit, fn, user, err);
}
static int f_records(void *self, const char *thread, const char *ns, const char *checkpoint,
                     pons_record_fn fn, void *user, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err)
                   : INNER(f)->records(f->inner.self, thread, ns, checkpoint, fn, user, err);
}
static int f_namespaces(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                        void *user, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->namespaces(f->inner.self, thread, fn, user, err);
}
static int f_inbox_post(void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                        pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->inbox_post(f->inner.self, thread, row, ret_seq, err);
}
static int f_inbox_read(void *self, const char *thread, const char *ns, int64_t after,
                        pons_inbox_fn fn, void *user, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err)
                   : INNER(f)->inbox_read(f->inner.self, thread, ns, after, fn, user, err);
}
static int f_effect_get(void *self, const char *thread, const char *id, pons_effect_fn fn,
                        void *user, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->effect_get(f->inner.self, thread, id, fn, user, err);
}
static int f_effects(void *self, const char *thread, uint32_t mask, pons_effect_fn fn, void *user,
                     pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->effects(f->inner.self, thread, mask, fn, user, err);
}
static int f_events(void *self, const char *thread, int64_t after, int64_t limit, pons_event_fn fn,
                    void *user, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err)
                   : INNER(f)->events(f->inner.self, thread, after, limit, fn, user, err);
}

static int f_items_write(void *self, const pons_item_write *items, size_t n, pons_sync sync,
                         pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->items_write(f->inner.self, items, n, sync, err);
}
static int f_item_get(void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn,
                      void *user, pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err)
                   : INNER(f)->item_get(f->inner.self, ns, key, now_ms, fn, user, err);
}
static int f_items(void *self, const pons_item_find *find, pons_item_fn fn, void *user,
                   pons_error *err)
{
    fuse *f = self;
    return f->dead ? dead(f, err) : INNER(f)->items(f->inner.self, find, fn, user, err);
}

pons_store fuse_store(fuse *f)
{
    static const pons_store_ops ops = {
        .abi = PONS_STORE_ABI,
        .name = "fuse",
        .close = f_close,
        .lease_acquire = f_acquire,
        .lease_release = f_release,
        .commit = f_commit,
        .commit_async = f_commit_async,
        .drain = f_drain,
        .head = f_head,
        .checkpoint = f_checkpoint,
        .history = f_history,
        .records = f_records,
        .namespaces = f_namespaces,
        .inbox_post = f_inbox_post,
        .inbox_read = f_inbox_read,
        .effect_get = f_effect_get,
        .effects = f_effects,
        .events = f_events,
        .items_write = f_items_write,
        .item_get = f_item_get,
        .items = f_items,
    };
    return (pons_store){&ops, f};
}
