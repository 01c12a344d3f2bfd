// conformance.c - what a store promises, shown on any of them.
//
// Each test opens a new, empty store and uses only the contract (pons/ext/store.h). Where two
// backends could differ in something that a caller can see, a test here decides it.

#include "conformance.h"

#include "pons/random.h"
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const conformance_backend *backend;

static void collect(FILE *out, pons_store s, const char *thread);

// ---- fixture ------------------------------------------------------------------------------------

static int open_store(void **state)
{
    pons_store *s = calloc(1, sizeof *s);
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    if (!s || backend->open(s, &err)) {
        print_error("%s\n", pons_error_line(&err, line, sizeof line));
        free(s);
        return -1;
    }
    *state = s;
    return 0;
}

static int close_store(void **state)
{
    pons_store *s = *state;
    pons_store_close(s);
    free(s);
    if (backend->clean) {
        backend->clean();
    }
    return 0;
}

static void ok_at(int rc, const pons_error *err, int line)
{
    if (rc == PONS_OK) {
        return;
    }
    char text[1024];
    fail_msg("line %d: %s: %s", line, pons_status_word(rc),
             pons_error_line(err, text, sizeof text));
}
#define OK(call)                                                                                   \
    do {                                                                                           \
        pons_error err = PONS_ERROR_INIT;                                                          \
        ok_at((call), &err, __LINE__);                                                             \
    } while (0)
// The call fails with this status, and says why.
#define REFUSED(want, call)                                                                        \
    do {                                                                                           \
        sink sink_ = {.out = stderr, .left = -1}, *to = &sink_;                                    \
        pons_error err = PONS_ERROR_INIT;                                                          \
        (void)to;                                                                                  \
        assert_int_equal(call, want);                                                              \
        assert_int_equal(err.status, want);                                                        \
        assert_true(err.message[0] != '\0');                                                       \
    } while (0)

pons_bytes bytes_of(const char *text)
{
    return (pons_bytes){.data = text, .len = strlen(text)};
}

int commit_one(pons_store s, const pons_lease *lease, const char *ns, const char *id,
               const char *parent, int64_t step, bool snapshot, const char *data, pons_error *err)
{
    pons_checkpoint_row row = {.step = step, .snapshot = snapshot, .data = bytes_of(data)};
    snprintf(row.id, sizeof row.id, "%s", id);
    snprintf(row.parent, sizeof row.parent, "%s", parent);
    pons_commit c = {.lease = lease, .ns = ns, .checkpoints = &row, .n_checkpoints = 1};
    return s.ops->commit(s.self, &c, err);
}

static pons_lease hold(pons_store s, const char *thread)
{
    pons_lease lease = {0};
    OK(s.ops->lease_acquire(s.self, thread, &lease, &err));
    return lease;
}

static void let_go(pons_store s, pons_lease *lease)
{
    s.ops->lease_release(s.self, lease);
}

// ---- readers as text ----------------------------------------------------------------------------

typedef struct sink {
    FILE *out;
    int left; // rows until it stops; -1: never
} sink;

static int stop_after(sink *k)
{
    return k->left > 0 && --k->left == 0;
}

static void put_bytes(FILE *out, pons_bytes b)
{
    for (size_t i = 0; i < b.len; i++) {
        uint8_t c = ((const uint8_t *)b.data)[i];
        if (c >= ' ' && c < 127) {
            fputc(c, out);
        } else {
            fprintf(out, "\\%02x", c);
        }
    }
}

static int see_checkpoint(void *user, const pons_checkpoint_row *row)
{
    sink *k = user;
    fprintf(k->out, "%s<%s@%" PRId64 "%s=", row->id, row->parent, row->step,
            row->snapshot ? "!" : "");
    put_bytes(k->out, row->data);
    fputc(' ', k->out);
    return stop_after(k);
}

static int see_record(void *user, const pons_record_row *row)
{
    sink *k = user;
    fprintf(k->out, "%s/%s/%d=", row->checkpoint, row->task, row->idx);
    put_bytes(k->out, row->data);
    fputc(' ', k->out);
    return stop_after(k);
}

static int see_inbox(void *user, const pons_inbox_row *row)
{
    sink *k = user;
    fprintf(k->out, "%" PRId64 ":%s:%s=", row->seq, row->ns, row->kind);
    put_bytes(k->out, row->value);
    fputc(' ', k->out);
    return stop_after(k);
}

static int see_event(void *user, const pons_event_row *row)
{
    sink *k = user;
    fprintf(k->out, "%" PRId64 ":%s:%" PRId64 ":%s=", row->seq, row->ns, row->ts_ms, row->type);
    put_bytes(k->out, row->payload);
    fputc(' ', k->out);
    return stop_after(k);
}

static int see_effect(void *user, const pons_effect_row *row)
{
    sink *k = user;
    fprintf(k->out, "%s:%s:%d:%" PRId64 ":%" PRId64 "=", row->id, row->ns, row->state, row->created,
            row->updated);
    put_bytes(k->out, row->data);
    fputc(' ', k->out);
    return stop_after(k);
}

static int see_ns(void *user, const char *ns)
{
    sink *k = user;
    fprintf(k->out, "'%s' ", ns);
    return stop_after(k);
}

static int see_thread(void *user, const pons_thread_info *info)
{
    sink *k = user;
    fprintf(k->out, "%s:%" PRId64 ":%" PRId64 "%s ", info->thread, info->checkpoints, info->events,
            info->holder_pid ? "*" : "");
    return stop_after(k);
}

// rows[0]: how many; rows[1]: the last one's step.
static int count_row(void *user, const pons_checkpoint_row *row)
{
    int64_t *rows = user;
    rows[0]++;
    rows[1] = row->step;
    return 0;
}

// shows(expected, call): what a read hands out, as text, and that it went well. `to` is its sink.
#define SHOWS_STOPPED(stop, expected, call)                                                        \
    do {                                                                                           \
        char *text_ = NULL;                                                                        \
        size_t size_ = 0;                                                                          \
        sink sink_ = {.out = open_memstream(&text_, &size_), .left = (stop)}, *to = &sink_;        \
        pons_error err = PONS_ERROR_INIT;                                                          \
        int rc_ = (call);                                                                          \
        fclose(sink_.out);                                                                         \
        if (size_ && text_[size_ - 1] == ' ')                                                      \
            text_[size_ - 1] = '\0';                                                               \
        ok_at(rc_, &err, __LINE__);                                                                \
        assert_string_equal(text_, expected);                                                      \
        free(text_);                                                                               \
    } while (0)
#define SHOWS(expected, call) SHOWS_STOPPED(-1, expected, call)

#define HEAD(s, t, ns)   (s).ops->head((s).self, t, ns, see_checkpoint, to, &err)
#define AT(s, t, ns, id) (s).ops->checkpoint((s).self, t, ns, id, see_checkpoint, to, &err)
#define HISTORY(s, t, ns, before, n)                                                               \
    (s).ops->history((s).self, t, ns, before, n, see_checkpoint, to, &err)
#define RECORDS(s, t, ns, c)   (s).ops->records((s).self, t, ns, c, see_record, to, &err)
#define INBOX(s, t, ns, after) (s).ops->inbox_read((s).self, t, ns, after, see_inbox, to, &err)
#define EFFECTS(s, t, mask)    (s).ops->effects((s).self, t, mask, see_effect, to, &err)
#define EFFECT(s, t, id)       (s).ops->effect_get((s).self, t, id, see_effect, to, &err)
#define EVENTS(s, t, after, n) (s).ops->events((s).self, t, after, n, see_event, to, &err)
#define SPACES(s, t)           (s).ops->namespaces((s).self, t, see_ns, to, &err)
#define THREADS(s)             (s).ops->threads((s).self, see_thread, to, &err)
#define ALL_STATES             0xffffffffu

static int64_t event_last(pons_store s, const char *thread)
{
    int64_t seq = -1;
    OK(s.ops->event_last(s.self, thread, &seq, &err));
    return seq;
}

static int64_t post(pons_store s, const char *thread, const char *ns, const char *kind,
                    const char *value)
{
    pons_inbox_row row = {.ns = ns, .kind = kind, .value = bytes_of(value)};
    int64_t seq = -1;
    OK(s.ops->inbox_post(s.self, thread, &row, &seq, &err));
    return seq;
}

// ---- tests --------------------------------------------------------------------------------------

static void test_empty(void **state)
{
    pons_store s = *(pons_store *)*state;
    REFUSED(PONS_ENOTFOUND, HEAD(s, "t1", ""));
    REFUSED(PONS_ENOTFOUND, AT(s, "t1", "", "c1"));
    REFUSED(PONS_ENOTFOUND, EFFECT(s, "t1", "e1"));
    REFUSED(PONS_ENOTFOUND, HISTORY(s, "t1", "", "c1", 0));
    REFUSED(PONS_ENOTFOUND, s.ops->thread_delete(s.self, "t1", &err));
    pons_lease lease;
    REFUSED(PONS_ENOTFOUND, s.ops->lease_peek(s.self, "t1", &lease, &err));
    SHOWS("", THREADS(s));
    SHOWS("", HISTORY(s, "t1", "", "", 0));
    SHOWS("", RECORDS(s, "t1", "", "c1"));
    SHOWS("", INBOX(s, "t1", NULL, 0));
    SHOWS("", EFFECTS(s, "t1", ALL_STATES));
    SHOWS("", EVENTS(s, "t1", 0, 0));
    SHOWS("", SPACES(s, "t1"));
    assert_int_equal(event_last(s, "t1"), 0);
    OK(s.ops->drain(s.self, &err));
    int64_t rows[2] = {0}; // the error is not wanted: NULL is fine
    assert_int_equal(s.ops->head(s.self, "t1", "", count_row, rows, NULL), PONS_ENOTFOUND);
}

static void test_commit_whole(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    post(s, "t1", "kernel", "say", "hello");
    post(s, "t1", "kernel", "say", "again");
    const pons_checkpoint_row checkpoints[] = {
        {.id = "c1", .step = -1, .snapshot = true, .data = {"one", 3}},
        {.id = "c2", .parent = "c1", .step = 0, .data = {"two", 3}},
    };
    const pons_record_row records[] = {
        {.checkpoint = "c2", .task = "b", .idx = 0, .data = {"B0", 2}},
        {.checkpoint = "c2", .task = "a", .idx = 10, .data = {"A10", 3}},
        {.checkpoint = "c2", .task = "a", .idx = -1, .data = {"A-1", 3}},
        {.checkpoint = "c1", .task = "z", .idx = 0, .data = {"Z", 1}},
    };
    const int64_t taken[] = {1};
    const pons_inbox_row posts[] = {{.ns = "react", .kind = "goal", .value = {"{}", 2}}};
    const pons_effect_row effects[] = {
        {.id = "e2", .ns = "react", .state = 0, .created = 5, .updated = 6, .data = {"x", 1}}};
    pons_event_row events[] = {
        {.ns = "kernel", .ts_ms = 1700000000123, .type = "run.started", .payload = {"{}", 2}},
        {.ns = "react", .ts_ms = 1700000000124, .type = "node.done", .payload = {"[1]", 3}}};
    pons_commit c = {.lease = &lease,
                     .ns = "kernel",
                     .checkpoints = checkpoints,
                     .n_checkpoints = 2,
                     .records = records,
                     .n_records = 4,
                     .inbox_taken = taken,
                     .n_inbox_taken = 1,
                     .posts = posts,
                     .n_posts = 1,
                     .effects = effects,
                     .n_effects = 1,
                     .events = events,
                     .n_events = 2};
    OK(s.ops->commit(s.self, &c, &err));
    assert_int_equal(events[0].seq, 1);
    assert_int_equal(events[1].seq, 2);
    SHOWS("c1<@-1!=one c2<c1@0=two", HEAD(s, "t1", "kernel"));
    SHOWS("c2/a/-1=A-1 c2/a/10=A10 c2/b/0=B0", RECORDS(s, "t1", "kernel", "c2"));
    SHOWS("c1/z/0=Z", RECORDS(s, "t1", "kernel", "c1"));
    SHOWS("2:kernel:say=again 3:react:goal={}", INBOX(s, "t1", NULL, 0));
    SHOWS("e2:react:0:5:6=x", EFFECTS(s, "t1", ALL_STATES));
    SHOWS("1:kernel:1700000000123:run.started={} 2:react:1700000000124:node.done=[1]",
          EVENTS(s, "t1", 0, 0));
    SHOWS("'kernel'", SPACES(s, "t1"));
    assert_int_equal(event_last(s, "t1"), 2);
    let_go(s, &lease);
}

static void test_chain(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    OK(commit_one(s, &lease, "", "c1", "", -1, true, "A", &err));
    OK(commit_one(s, &lease, "", "c2", "c1", 0, false, "b", &err));
    OK(commit_one(s, &lease, "", "c3", "c2", 1, true, "C", &err));
    OK(commit_one(s, &lease, "", "c4", "c3", 2, false, "d", &err));
    OK(commit_one(s, &lease, "", "c5", "c4", 3, false, "e", &err));
    SHOWS("c3<c2@1!=C c4<c3@2=d c5<c4@3=e", HEAD(s, "t1", ""));
    SHOWS("c3<c2@1!=C", AT(s, "t1", "", "c3"));
    SHOWS("c1<@-1!=A c2<c1@0=b", AT(s, "t1", "", "c2"));
    // A fork: the newest is the last one committed, and its parent lies further back.
    OK(commit_one(s, &lease, "", "c6", "c2", 1, false, "f", &err));
    SHOWS("c1<@-1!=A c2<c1@0=b c6<c2@1=f", HEAD(s, "t1", ""));
    SHOWS("c3<c2@1!=C c4<c3@2=d c5<c4@3=e", AT(s, "t1", "", "c5"));
    // A first one that is no snapshot ends the chain as well.
    OK(commit_one(s, &lease, "n", "x", "", 0, false, "x", &err));
    SHOWS("x<@0=x", HEAD(s, "t1", "n"));
    let_go(s, &lease);
    // The same after the lease changed hands: nothing depends on what the holder remembers.
    lease = hold(s, "t1");
    OK(commit_one(s, &lease, "", "c7", "c6", 2, false, "g", &err));
    SHOWS("c1<@-1!=A c2<c1@0=b c6<c2@1=f c7<c6@2=g", HEAD(s, "t1", ""));
    SHOWS_STOPPED(2, "c1<@-1!=A c2<c1@0=b", HEAD(s, "t1", ""));
    let_go(s, &lease);
}

// A commit may bring checkpoints of several namespaces: all of them or none, in the order given.
static void test_several_namespaces(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    OK(commit_one(s, &lease, "b", "c1", "", 0, true, "B", &err));
    pons_checkpoint_row rows[] = {
        {.id = "c2", .step = 1, .snapshot = true, .data = bytes_of("main")},
        {.id = "c2", .parent = "c1", .step = 1, .data = bytes_of("b"), .ns = "b"},
        {.id = "c3", .step = 0, .snapshot = true, .data = bytes_of("new"), .ns = "c"},
        {.id = "c4", .parent = "c2", .step = 2, .data = bytes_of("more")},
        {.id = "c4", .parent = "c2", .step = 2, .data = bytes_of("b2"), .ns = "b"},
    };
    pons_record_row record = {.checkpoint = "c4", .task = "t", .data = bytes_of("mine")};
    pons_commit c = {.lease = &lease,
                     .ns = "",
                     .checkpoints = rows,
                     .n_checkpoints = 5,
                     .records = &record,
                     .n_records = 1};
    OK(s.ops->commit(s.self, &c, &err));
    SHOWS("c2<@1!=main c4<c2@2=more", HEAD(s, "t1", ""));
    SHOWS("c1<@0!=B c2<c1@1=b c4<c2@2=b2", HEAD(s, "t1", "b"));
    SHOWS("c3<@0!=new", HEAD(s, "t1", "c"));
    SHOWS("c4/t/0=mine", RECORDS(s, "t1", "", "c4"));
    SHOWS("", RECORDS(s, "t1", "b", "c4"));
    // Queued, what it refers to may go.
    char other[] = "b";
    pons_checkpoint_row two[] = {
        {.id = "c5", .parent = "c4", .step = 3, .data = bytes_of("m")},
        {.id = "c5", .parent = "c4", .step = 3, .data = bytes_of("q"), .ns = other},
    };
    c = (pons_commit){.lease = &lease, .ns = "", .checkpoints = two, .n_checkpoints = 2};
    OK(s.ops->commit_async(s.self, &c, &err));
    other[0] = 'x';
    OK(s.ops->drain(s.self, &err));
    SHOWS("c1<@0!=B c2<c1@1=b c4<c2@2=b2 c5<c4@3=q", HEAD(s, "t1", "b"));
    // One that is refused takes the others with it, whichever it is.
    for (int bad = 0; bad < 3; bad++) {
        pons_checkpoint_row some[] = {
            {.id = "d1", .parent = "c5", .step = 4, .data = bytes_of("m")},
            {.id = "d1", .parent = "c5", .step = 4, .data = bytes_of("b"), .ns = "b"},
            {.id = "d1", .parent = "c3", .step = 1, .data = bytes_of("c"), .ns = "c"},
        };
        snprintf(some[bad].id, sizeof some[bad].id, "%s", bad == 2 ? "c3" : "c5");
        c.checkpoints = some;
        c.n_checkpoints = 3;
        REFUSED(PONS_EEXIST, s.ops->commit(s.self, &c, &err));
    }
    SHOWS("c2<@1!=main c4<c2@2=more c5<c4@3=m", HEAD(s, "t1", ""));
    SHOWS("c1<@0!=B c2<c1@1=b c4<c2@2=b2 c5<c4@3=q", HEAD(s, "t1", "b"));
    SHOWS("c3<@0!=new", HEAD(s, "t1", "c"));
    OK(commit_one(s, &lease, "c", "d1", "c3", 1, false, "after", &err));
    SHOWS("c3<@0!=new d1<c3@1=after", HEAD(s, "t1", "c"));
    let_go(s, &lease);
}

static void test_lost_parent(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    OK(commit_one(s, &lease, "", "c2", "gone", 0, false, "b", &err));
    REFUSED(PONS_ECORRUPT, HEAD(s, "t1", ""));
    // As a snapshot it can be read, and still says who its parent was.
    OK(commit_one(s, &lease, "", "c3", "elsewhere", 1, true, "c", &err));
    SHOWS("c3<elsewhere@1!=c", HEAD(s, "t1", ""));
    let_go(s, &lease);
}

static void test_history(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    OK(commit_one(s, &lease, "a", "c1", "", -1, true, "A", &err));
    OK(commit_one(s, &lease, "b", "d1", "", -1, true, "other", &err));
    OK(commit_one(s, &lease, "a", "c2", "c1", 0, false, "b", &err));
    OK(commit_one(s, &lease, "a", "c3", "c1", 0, false, "c", &err));
    SHOWS("c3<c1@0=c c2<c1@0=b c1<@-1!=A", HISTORY(s, "t1", "a", "", 0));
    SHOWS("c3<c1@0=c c2<c1@0=b c1<@-1!=A", HISTORY(s, "t1", "a", NULL, 0));
    SHOWS("c3<c1@0=c c2<c1@0=b", HISTORY(s, "t1", "a", "", 2));
    SHOWS("c2<c1@0=b c1<@-1!=A", HISTORY(s, "t1", "a", "c3", 0));
    SHOWS("c2<c1@0=b", HISTORY(s, "t1", "a", "c3", 1));
    SHOWS("", HISTORY(s, "t1", "a", "c1", 0));
    SHOWS("", HISTORY(s, "t1", "nowhere", "", 0));
    SHOWS_STOPPED(1, "c3<c1@0=c", HISTORY(s, "t1", "a", "", 0));
    REFUSED(PONS_ENOTFOUND, HISTORY(s, "t1", "a", "d1", 0));
    let_go(s, &lease);
}

// A machine without a battery for its clock: ids made after a restart sort before the old ones. The
// newest is what was committed last, all the same, and everything is found.
static void test_clock_set_back(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    const char *ids[] = {"01J00000000000000000000005", "01J00000000000000000000006",
                         "01G00000000000000000000001", "01G00000000000000000000002",
                         "01K00000000000000000000001"};
    const char *parent = "";
    for (int i = 0; i < 5; i++) {
        OK(commit_one(s, &lease, "", ids[i], parent, i, false, "d", &err));
        parent = ids[i];
        if (i == 2) {
            let_go(s, &lease);
            lease = hold(s, "t1");
        }
    }
    SHOWS("01J00000000000000000000005<@0=d "
          "01J00000000000000000000006<01J00000000000000000000005@1=d "
          "01G00000000000000000000001<01J00000000000000000000006@2=d "
          "01G00000000000000000000002<01G00000000000000000000001@3=d "
          "01K00000000000000000000001<01G00000000000000000000002@4=d",
          HEAD(s, "t1", ""));
    for (int i = 0; i < 5; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "%s<%s@%d=d", ids[i], i ? ids[i - 1] : "", i);
        if (i == 0) {
            SHOWS(expected, AT(s, "t1", "", ids[i]));
        }
    }
    SHOWS("01J00000000000000000000006<01J00000000000000000000005@1=d "
          "01J00000000000000000000005<@0=d",
          HISTORY(s, "t1", "", "01G00000000000000000000001", 0));
    REFUSED(PONS_EEXIST, commit_one(s, &lease, "", ids[0], parent, 9, false, "twice", &err));
    let_go(s, &lease);
}

static void test_twice_is_refused_whole(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    OK(commit_one(s, &lease, "", "c1", "", 0, true, "A", &err));
    OK(commit_one(s, &lease, "", "c2", "c1", 1, true, "B", &err));
    const pons_checkpoint_row rows[] = {{.id = "c3", .parent = "c2", .data = {"new", 3}},
                                        {.id = "c1", .parent = "c2", .data = {"old", 3}}};
    const pons_record_row record = {.checkpoint = "c3", .task = "a", .data = {"r", 1}};
    const pons_inbox_row mail = {.ns = "n", .kind = "k", .value = {"v", 1}};
    const pons_effect_row effect = {.id = "e1", .ns = "n"};
    pons_event_row event = {.seq = -7, .ns = "n", .type = "x", .payload = {"{}", 2}};
    pons_commit c = {.lease = &lease,
                     .ns = "",
                     .checkpoints = rows,
                     .n_checkpoints = 2,
                     .records = &record,
                     .n_records = 1,
                     .posts = &mail,
                     .n_posts = 1,
                     .effects = &effect,
                     .n_effects = 1,
                     .events = &event,
                     .n_events = 1};
    char *before = store_text(s, "t1");
    REFUSED(PONS_EEXIST, s.ops->commit(s.self, &c, &err));
    assert_int_equal(event.seq, -7); // outputs are untouched
    char *after = store_text(s, "t1");
    assert_string_equal(before, after);
    free(before);
    free(after);
    // The store goes on, with the numbers that it would have used.
    c.n_checkpoints = 1;
    OK(s.ops->commit(s.self, &c, &err));
    assert_int_equal(event.seq, 1);
    SHOWS("c3<c2@0=new", HISTORY(s, "t1", "", "", 1));
    SHOWS("1:n:k=v", INBOX(s, "t1", "n", 0));
    let_go(s, &lease);
}

static void test_records_replace(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    pons_record_row row = {.checkpoint = "c1", .task = "task", .idx = 3, .data = {"old", 3}};
    pons_commit c = {.lease = &lease, .ns = "n", .records = &row, .n_records = 1};
    OK(s.ops->commit(s.self, &c, &err));
    row.data = bytes_of("newer");
    OK(s.ops->commit(s.self, &c, &err));
    SHOWS("c1/task/3=newer", RECORDS(s, "t1", "n", "c1"));
    SHOWS("", RECORDS(s, "t1", "m", "c1"));
    SHOWS("", RECORDS(s, "t2", "n", "c1"));
    SHOWS("", SPACES(s, "t1")); // records alone make no namespace with checkpoints
    let_go(s, &lease);
}

static void test_inbox(void **state)
{
    pons_store s = *(pons_store *)*state;
    // Needs no lease, makes the thread.
    assert_int_equal(post(s, "t1", "a", "say", "1"), 1);
    assert_int_equal(post(s, "t1", "b", "answer", "2"), 2);
    assert_int_equal(post(s, "t1", "a", "say", "3"), 3);
    assert_int_equal(post(s, "t2", "a", "say", "other"), 1);
    SHOWS("t1:0:0 t2:0:0", THREADS(s));
    SHOWS("1:a:say=1 2:b:answer=2 3:a:say=3", INBOX(s, "t1", NULL, 0));
    SHOWS("1:a:say=1 3:a:say=3", INBOX(s, "t1", "a", 0));
    SHOWS("3:a:say=3", INBOX(s, "t1", "a", 1));
    SHOWS("", INBOX(s, "t1", "a", 3));
    SHOWS_STOPPED(1, "1:a:say=1", INBOX(s, "t1", NULL, 0));

    pons_lease lease = hold(s, "t1");
    assert_int_equal(post(s, "t1", "a", "say", "4"), 4); // while it is held, too
    const int64_t all[] = {1, 2, 3, 4};
    pons_commit c = {.lease = &lease, .inbox_taken = all, .n_inbox_taken = 4};
    OK(s.ops->commit(s.self, &c, &err));
    SHOWS("", INBOX(s, "t1", NULL, 0));
    OK(s.ops->commit(s.self, &c, &err)); // taken already: no harm
    // A number does not come back.
    assert_int_equal(post(s, "t1", "a", "say", "5"), 5);
    const pons_inbox_row posts[] = {{.ns = "b", .kind = "k", .value = {"6", 1}},
                                    {.ns = "", .kind = "", .value = {"7", 1}}};
    c = (pons_commit){.lease = &lease, .posts = posts, .n_posts = 2};
    OK(s.ops->commit(s.self, &c, &err));
    assert_int_equal(post(s, "t1", "a", "say", "8"), 8);
    SHOWS("5:a:say=5 6:b:k=6 7::=7 8:a:say=8", INBOX(s, "t1", NULL, 0));
    let_go(s, &lease);
}

static void test_effects(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    pons_lease other = hold(s, "t2");
    // Created in this order; neither ids nor times are in it.
    pons_effect_row rows[] = {
        {.id = "ffffffffffffffffffffffffffffffff",
         .ns = "r",
         .created = 30,
         .updated = 30,
         .data = {"f", 1}},
        {.id = "00000000000000000000000000000000",
         .ns = "r",
         .created = 20,
         .updated = 20,
         .data = {"0", 1}},
        {.id = "odd id", .ns = "q", .created = 10, .updated = 10, .data = {"", 0}},
    };
    pons_commit c = {.lease = &lease, .effects = rows, .n_effects = 3};
    OK(s.ops->commit(s.self, &c, &err));
    pons_effect_row twin = {.id = "odd id", .ns = "q", .state = 7, .data = {"t2's", 4}};
    pons_commit d = {.lease = &other, .effects = &twin, .n_effects = 1};
    OK(s.ops->commit(s.self, &d, &err));

    rows[0].state = 1;
    rows[0].updated = 31;
    rows[0].data = bytes_of("F");
    c.n_effects = 1;
    OK(s.ops->commit(s.self, &c, &err));
    SHOWS("ffffffffffffffffffffffffffffffff:r:1:30:31=F", EFFECT(s, "t1", rows[0].id));
    SHOWS("odd id:q:7:0:0=t2's", EFFECT(s, "t2", "odd id"));
    SHOWS("ffffffffffffffffffffffffffffffff:r:1:30:31=F "
          "00000000000000000000000000000000:r:0:20:20=0 odd id:q:0:10:10=",
          EFFECTS(s, "t1", ALL_STATES));
    SHOWS("00000000000000000000000000000000:r:0:20:20=0 odd id:q:0:10:10=",
          EFFECTS(s, "t1", 1u << 0));
    SHOWS("ffffffffffffffffffffffffffffffff:r:1:30:31=F", EFFECTS(s, "t1", 1u << 1));
    SHOWS("", EFFECTS(s, "t1", 1u << 7));
    REFUSED(PONS_ENOTFOUND, EFFECT(s, "t2", rows[0].id));
    let_go(s, &lease);
    let_go(s, &other);
}

static void test_events(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease one = hold(s, "t1"), two = hold(s, "t2");
    for (int i = 1; i <= 5; i++) {
        pons_event_row e = {.ns = "n", .ts_ms = i, .type = "tick", .payload = {"{}", 2}};
        pons_commit c = {.lease = i == 3 ? &two : &one, .events = &e, .n_events = 1};
        OK(s.ops->commit(s.self, &c, &err));
        assert_int_equal(e.seq, i < 3 ? i : i == 3 ? 1 : i - 1);
    }
    SHOWS("1:n:1:tick={} 2:n:2:tick={} 3:n:4:tick={} 4:n:5:tick={}", EVENTS(s, "t1", 0, 0));
    SHOWS("1:n:3:tick={}", EVENTS(s, "t2", 0, 0));
    SHOWS("3:n:4:tick={} 4:n:5:tick={}", EVENTS(s, "t1", 2, 0));
    SHOWS("3:n:4:tick={}", EVENTS(s, "t1", 2, 1));
    SHOWS_STOPPED(1, "1:n:1:tick={}", EVENTS(s, "t1", 0, 0));
    SHOWS("", EVENTS(s, "t1", 4, 0));
    SHOWS("", EVENTS(s, "t1", 400, 0));
    assert_int_equal(event_last(s, "t1"), 4);
    assert_int_equal(event_last(s, "t2"), 1);
    let_go(s, &one);
    one = hold(s, "t1");
    pons_event_row e = {.ns = "n", .type = "tick", .payload = {"{}", 2}};
    pons_commit c = {.lease = &one, .events = &e, .n_events = 1};
    OK(s.ops->commit(s.self, &c, &err));
    assert_int_equal(e.seq, 5);
    let_go(s, &one);
    let_go(s, &two);
}

static void test_lease(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease first = hold(s, "t1"), other = hold(s, "t2"), second = {0}, seen;
    assert_string_equal(first.thread, "t1");
    assert_int_equal(first.pid, getpid());
    assert_true(first.host[0] != '\0');
    assert_true(first.epoch > 0);
    pons_error why = PONS_ERROR_INIT;
    assert_int_equal(s.ops->lease_acquire(s.self, "t1", &second, &why), PONS_EBUSY);
    char expected[128];
    snprintf(expected, sizeof expected, "thread t1 is held by pid %d on %s", (int)getpid(),
             first.host);
    assert_string_equal(why.message, expected);
    assert_int_equal(second.epoch, 0); // untouched
    OK(s.ops->lease_peek(s.self, "t1", &seen, &err));
    assert_int_equal(seen.pid, getpid());
    assert_int_equal(seen.epoch, first.epoch);
    assert_string_equal(seen.thread, "t1");
    assert_string_equal(seen.host, first.host);

    const pons_lease stale = first;
    uint64_t epoch = first.epoch;
    let_go(s, &first);
    REFUSED(PONS_ENOTFOUND, s.ops->lease_peek(s.self, "t1", &seen, &err));
    second = hold(s, "t1");
    assert_true(second.epoch > epoch);

    // The first one has been gone for a while, and does not know.
    REFUSED(PONS_ESTALE, commit_one(s, &stale, "", "c1", "", 0, true, "A", &err));
    REFUSED(PONS_ENOTFOUND, HEAD(s, "t1", ""));
    OK(commit_one(s, &second, "", "c1", "", 0, true, "B", &err));
    pons_lease gone = stale;
    let_go(s, &gone); // and takes nothing from the second when it goes
    OK(commit_one(s, &second, "", "c2", "c1", 1, true, "C", &err));
    REFUSED(PONS_EBUSY, s.ops->lease_acquire(s.self, "t1", &first, &err));
    let_go(s, &second);
    let_go(s, &other);
    REFUSED(PONS_ESTALE, commit_one(s, &stale, "", "c3", "c2", 2, true, "D", &err));
}

static void test_async(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    char parent[32] = "", id[32], data[32], type[16];
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof id, "c%05d", i);
        snprintf(data, sizeof data, "data %d", i);
        snprintf(type, sizeof type, "type%d", i % 7);
        pons_checkpoint_row row = {.step = i, .snapshot = i == 0, .data = bytes_of(data)};
        strcpy(row.id, id);
        strcpy(row.parent, parent);
        pons_event_row e = {.seq = -1, .ns = "n", .ts_ms = i, .type = type, .payload = {"{}", 2}};
        char ns[] = "n";
        pons_commit c = {.lease = &lease,
                         .ns = ns,
                         .checkpoints = &row,
                         .n_checkpoints = 1,
                         .events = &e,
                         .n_events = 1};
        // Every fifth waits; it comes after all that were queued before it.
        if (i % 5 == 4) {
            OK(s.ops->commit(s.self, &c, &err));
            assert_int_equal(e.seq, i + 1);
            assert_int_equal(event_last(s, "t1"), i + 1);
        } else {
            OK(s.ops->commit_async(s.self, &c, &err));
            assert_int_equal(e.seq, -1);
        }
        strcpy(parent, id);
        // Everything was copied.
        memset(&row, 'x', sizeof row);
        memset(ns, 'x', 1);
        memset(data, 'x', sizeof data);
        memset(type, 'x', sizeof type);
    }
    OK(s.ops->drain(s.self, &err));
    assert_int_equal(event_last(s, "t1"), 300);
    SHOWS("c00299<c00298@299=data 299 c00298<c00297@298=data 298", HISTORY(s, "t1", "n", "", 2));
    SHOWS("300:n:299:type5={}", EVENTS(s, "t1", 299, 0));
    let_go(s, &lease);
}

typedef struct hearer {
    pons_store s;
    int64_t seen; // the newest event that was there when it heard
    int received;
} hearer;

static void on_written(void *user)
{
    hearer *h = user;
    h->seen = event_last(h->s, "t1");
    h->received++;
}

// Whoever queued a commit hears when it is there to be read, before a flush comes back.
static void test_async_tells(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    hearer h = {.s = s};
    pons_event_row e = {.ns = "", .ts_ms = 1, .type = "said", .payload = {"{}", 2}};
    pons_commit c = {
        .lease = &lease, .events = &e, .n_events = 1, .written = on_written, .user = &h};
    for (int i = 0; i < 200; i++) {
        OK(s.ops->commit_async(s.self, &c, &err));
    }
    OK(s.ops->flush ? s.ops->flush(s.self, &lease, &err) : s.ops->drain(s.self, &err));
    assert_int_equal(h.seen, 200);
    assert_in_range(h.received, 1, 200);
    // A commit that waits takes what is queued along.
    const int before = h.received;
    OK(s.ops->commit_async(s.self, &c, &err));
    OK(commit_one(s, &lease, "", "c1", "", 0, true, "A", &err));
    OK(s.ops->drain(s.self, &err));
    assert_int_equal(h.received, before + 1);
    assert_int_equal(h.seen, 201);
    let_go(s, &lease);
}

// A failure of the pipeline shows once, at the next call, and what was queued behind it is dropped.
static void test_async_failure(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1"), other = hold(s, "t2");
    OK(commit_one(s, &lease, "", "c1", "", 0, true, "A", &err));
    pons_checkpoint_row row = {.id = "c1", .data = {"twice", 5}};
    pons_commit c = {.lease = &lease, .ns = "", .checkpoints = &row, .n_checkpoints = 1};
    int reported = s.ops->commit_async(s.self, &c, NULL) != PONS_OK;
    OK(commit_one(s, &other, "", "d1", "", 0, true, "D", &err)); // others are not concerned
    pons_error why = PONS_ERROR_INIT;
    int rc = s.ops->drain(s.self, &why);
    if (rc) {
        assert_int_equal(rc, PONS_EEXIST);
        assert_non_null(strstr(why.message, "c1"));
        reported++;
    }
    assert_int_equal(reported, 1);
    OK(s.ops->drain(s.self, &err));
    OK(commit_one(s, &lease, "", "c2", "c1", 1, false, "B", &err));
    SHOWS("c1<@0!=A c2<c1@1=B", HEAD(s, "t1", ""));
    SHOWS("d1<@0!=D", HEAD(s, "t2", ""));
    let_go(s, &lease);
    let_go(s, &other);
}

// A flush tells the failure of its own thread and leaves another's where it is: whoever stands on
// what failed must be the one to hear of it.
static void test_flush_is_of_one_thread(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1"), other = hold(s, "t2");
    OK(commit_one(s, &lease, "", "c1", "", 0, true, "A", &err));
    pons_checkpoint_row row = {.id = "c1", .data = {"twice", 5}};
    pons_commit c = {.lease = &lease, .ns = "", .checkpoints = &row, .n_checkpoints = 1};
    pons_event_row e = {.ns = "", .ts_ms = 1, .type = "mine", .payload = {"{}", 2}};
    pons_commit good = {.lease = &other, .events = &e, .n_events = 1};
    bool reported = s.ops->commit_async(s.self, &c, NULL) != PONS_OK;
    for (int i = 0; i < 20; i++) {
        OK(s.ops->commit_async(s.self, &good, &err));
    }
    OK(s.ops->flush(s.self, &other, &err));
    assert_int_equal(event_last(s, "t2"), 20);
    assert_int_equal(reported ? PONS_EEXIST : s.ops->flush(s.self, &lease, NULL), PONS_EEXIST);
    OK(s.ops->flush(s.self, &lease, &err)); // once
    OK(s.ops->drain(s.self, &err));
    pons_lease gone = lease;
    let_go(s, &lease);
    if (strcmp(s.ops->name, "memory") != 0) {
        assert_int_equal(s.ops->flush(s.self, &gone, NULL), PONS_ESTALE);
    }
    let_go(s, &other);
}

static void test_release_drains(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    for (int i = 0; i < 50; i++) {
        pons_event_row e = {.ns = "n", .ts_ms = i, .type = "tick", .payload = {"{}", 2}};
        pons_commit c = {.lease = &lease, .events = &e, .n_events = 1};
        OK(s.ops->commit_async(s.self, &c, &err));
    }
    let_go(s, &lease);
    assert_int_equal(event_last(s, "t1"), 50);
}

// A callback may use the store, for reading and for writing.
typedef struct nested {
    pons_store s;
    const pons_lease *lease;
    int rows;
} nested;

static int nested_events(void *user, const pons_event_row *row)
{
    nested *n = user;
    assert_int_equal(row->ts_ms, 1);
    n->rows++;
    return 0;
}

static int nested_checkpoint(void *user, const pons_checkpoint_row *row)
{
    nested *n = user;
    assert_int_equal(row->data.len, 1);
    pons_event_row e = {.ns = "n", .ts_ms = 1, .type = "tick", .payload = {"{}", 2}};
    pons_commit c = {.lease = n->lease, .events = &e, .n_events = 1};
    OK(n->s.ops->commit(n->s.self, &c, &err));
    post(n->s, "t1", "n", "k", "v");
    OK(n->s.ops->events(n->s.self, "t1", e.seq - 1, 0, nested_events, n, &err));
    return 0;
}

static void test_callbacks_may_call(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    OK(commit_one(s, &lease, "", "c1", "", 0, true, "A", &err));
    OK(commit_one(s, &lease, "", "c2", "c1", 1, false, "B", &err));
    nested n = {.s = s, .lease = &lease};
    OK(s.ops->head(s.self, "t1", "", nested_checkpoint, &n, &err));
    OK(s.ops->history(s.self, "t1", "", "", 0, nested_checkpoint, &n, &err));
    assert_int_equal(n.rows, 4);
    assert_int_equal(event_last(s, "t1"), 4);
    let_go(s, &lease);
}

static int see_size(void *user, const pons_thread_info *info)
{
    pons_thread_info *ret = user;
    *ret = *info;
    ret->thread = NULL;
    ret->holder_host = info->holder_host[0] ? "named" : "";
    return 1;
}

static void test_threads(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    OK(commit_one(s, &lease, "a", "c1", "", 0, true, "0123456789", &err));
    OK(commit_one(s, &lease, "b", "c1", "", 0, true, "0123456789", &err));
    pons_event_row e = {.ns = "n", .ts_ms = 1, .type = "tick", .payload = {"{}", 2}};
    pons_record_row r = {.checkpoint = "c1", .task = "t", .data = {"r", 1}};
    pons_effect_row f = {.id = "e", .ns = "a"};
    pons_commit c = {.lease = &lease,
                     .ns = "a",
                     .events = &e,
                     .n_events = 1,
                     .records = &r,
                     .n_records = 1,
                     .effects = &f,
                     .n_effects = 1};
    OK(s.ops->commit(s.self, &c, &err));
    post(s, "t2", "a", "say", "hi");
    SHOWS("t1:2:1* t2:0:0", THREADS(s));
    SHOWS("'a' 'b'", SPACES(s, "t1"));
    pons_thread_info info = {0}, bigger = {0};
    OK(s.ops->threads(s.self, see_size, &info, &err));
    assert_int_equal(info.holder_pid, getpid());
    assert_string_equal(info.holder_host, "named");
    assert_true(info.created_ms > 0 && info.updated_ms >= info.created_ms);
    assert_true(info.bytes >= 23);
    char large[5000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    OK(commit_one(s, &lease, "a", "c2", "c1", 0, true, large, &err));
    OK(s.ops->threads(s.self, see_size, &bigger, &err));
    assert_in_range(bigger.bytes - info.bytes, 4999, 6000);

    REFUSED(PONS_EBUSY, s.ops->thread_delete(s.self, "t1", &err));
    uint64_t epoch = lease.epoch;
    let_go(s, &lease);
    SHOWS("t1:3:1 t2:0:0", THREADS(s));
    OK(s.ops->thread_delete(s.self, "t1", &err));
    REFUSED(PONS_ENOTFOUND, s.ops->thread_delete(s.self, "t1", &err));
    SHOWS("t2:0:0", THREADS(s));
    SHOWS("1:a:say=hi", INBOX(s, "t2", NULL, 0));
    REFUSED(PONS_ENOTFOUND, HEAD(s, "t1", "a"));
    REFUSED(PONS_ENOTFOUND, EFFECT(s, "t1", "e"));
    SHOWS("", EVENTS(s, "t1", 0, 0));

    // A new one of that name starts from nothing; only the epoch goes on.
    lease = hold(s, "t1");
    assert_true(lease.epoch > epoch);
    SHOWS("", RECORDS(s, "t1", "a", "c1"));
    SHOWS("", SPACES(s, "t1"));
    e.seq = 0;
    c = (pons_commit){.lease = &lease, .events = &e, .n_events = 1};
    OK(s.ops->commit(s.self, &c, &err));
    assert_int_equal(e.seq, 1);
    assert_int_equal(post(s, "t1", "a", "k", "v"), 1);
    let_go(s, &lease);
}

// ---- copies, pruning ----------------------------------------------------------------------------

static void test_copy(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    OK(commit_one(s, &lease, "a", "c1", "", -1, true, "A", &err));
    OK(commit_one(s, &lease, "a", "c2", "c1", 0, false, "b", &err));
    OK(commit_one(s, &lease, "b", "c1", "gone", 0, true, "B", &err));
    const pons_record_row record = {.checkpoint = "c2", .task = "t", .data = {"r", 1}};
    const pons_effect_row effect = {.id = "e1", .ns = "b", .state = 3, .data = {"E", 1}};
    pons_event_row event = {.ns = "n", .ts_ms = 5, .type = "tick", .payload = {"{}", 2}};
    pons_commit c = {.lease = &lease,
                     .ns = "a",
                     .records = &record,
                     .n_records = 1,
                     .effects = &effect,
                     .n_effects = 1,
                     .events = &event,
                     .n_events = 1};
    OK(s.ops->commit_async(s.self, &c, &err));
    // It is copied while it is held, with what is still queued, without its messages.
    post(s, "t1", "a", "say", "for t1 alone");
    OK(s.ops->thread_copy(s.self, "t1", "t2", &err));
    SHOWS("c1<@-1!=A c2<c1@0=b", HEAD(s, "t2", "a"));
    SHOWS("c1<gone@0!=B", HEAD(s, "t2", "b"));
    SHOWS("c2/t/0=r", RECORDS(s, "t2", "a", "c2"));
    SHOWS("e1:b:3:0:0=E", EFFECTS(s, "t2", ALL_STATES));
    SHOWS("1:n:5:tick={}", EVENTS(s, "t2", 0, 0));
    SHOWS("'a' 'b'", SPACES(s, "t2"));
    SHOWS("", INBOX(s, "t2", NULL, 0));
    REFUSED(PONS_EEXIST, s.ops->thread_copy(s.self, "t1", "t2", &err));
    REFUSED(PONS_ENOTFOUND, s.ops->thread_copy(s.self, "none", "t3", &err));
    REFUSED(PONS_EINVAL, s.ops->thread_copy(s.self, "t1", "", &err));

    // They go their own ways.
    pons_lease other = hold(s, "t2");
    OK(commit_one(s, &other, "a", "c3", "c2", 1, false, "two", &err));
    OK(commit_one(s, &lease, "a", "c3", "c1", 1, false, "one", &err));
    REFUSED(PONS_EEXIST, commit_one(s, &other, "a", "c2", "c1", 1, false, "x", &err));
    c = (pons_commit){.lease = &other, .events = &event, .n_events = 1};
    OK(s.ops->commit(s.self, &c, &err));
    assert_int_equal(event.seq, 2);
    assert_int_equal(post(s, "t2", "a", "say", "x"), 1);
    SHOWS("c1<@-1!=A c2<c1@0=b c3<c2@1=two", HEAD(s, "t2", "a"));
    SHOWS("c1<@-1!=A c3<c1@1=one", HEAD(s, "t1", "a"));
    let_go(s, &lease);
    OK(s.ops->thread_delete(s.self, "t1", &err));
    SHOWS("e1:b:3:0:0=E", EFFECTS(s, "t2", ALL_STATES));
    SHOWS("c1<@-1!=A c2<c1@0=b c3<c2@1=two", HEAD(s, "t2", "a"));
    let_go(s, &other);
}

// Ten checkpoints of namespace ns, "c0" to "c9", with snapshots at 0, 3, 6 and 9, and a record
// each.
static void ten(pons_store s, const pons_lease *lease, const char *ns)
{
    for (int i = 0; i < 10; i++) {
        char id[16], parent[16];
        snprintf(id, sizeof id, "c%d", i);
        snprintf(parent, sizeof parent, i ? "c%d" : "", i - 1);
        OK(commit_one(s, lease, ns, id, parent, i, i % 3 == 0, "d", &err));
        pons_record_row record = {.task = "t", .data = {"r", 1}};
        strcpy(record.checkpoint, id);
        pons_event_row e = {.ns = "n", .ts_ms = 100 + i, .type = "tick", .payload = {"{}", 2}};
        pons_commit c = {.lease = lease,
                         .ns = ns,
                         .records = &record,
                         .n_records = 1,
                         .events = &e,
                         .n_events = 1};
        OK(s.ops->commit(s.self, &c, &err));
    }
}

static pons_prune_result prune(pons_store s, const char *thread, pons_prune what)
{
    pons_prune_result done = {0};
    OK(s.ops->prune(s.self, thread, &what, &done, &err));
    return done;
}

static void test_prune_last(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    ten(s, &lease, "a");
    ten(s, &lease, "b");
    // c8 is read from c6 on; c9 is a snapshot whose parent stays.
    pons_prune_result done =
        prune(s, "t1", (pons_prune){.lease = &lease, .ns = "a", .keep_last = 2});
    assert_int_equal(done.checkpoints, 6);
    assert_int_equal(done.events, 0);
    SHOWS("c9<c8@9!=d c8<c7@8=d c7<c6@7=d c6<c5@6!=d", HISTORY(s, "t1", "a", "", 0));
    SHOWS("c6<c5@6!=d c7<c6@7=d c8<c7@8=d", AT(s, "t1", "a", "c8"));
    SHOWS("c9<c8@9!=d", HEAD(s, "t1", "a"));
    REFUSED(PONS_ENOTFOUND, AT(s, "t1", "a", "c5"));
    SHOWS("", RECORDS(s, "t1", "a", "c5"));
    SHOWS("c6/t/0=r", RECORDS(s, "t1", "a", "c6"));
    int64_t rows[2] = {0};
    OK(s.ops->history(s.self, "t1", "b", "", 0, count_row, rows, &err));
    assert_int_equal(rows[0], 10); // another namespace
    assert_int_equal(event_last(s, "t1"), 20);
    // The run goes on, from the newest and from any other that is there.
    OK(commit_one(s, &lease, "a", "d1", "c9", 10, false, "e", &err));
    OK(commit_one(s, &lease, "a", "d2", "c7", 8, false, "f", &err));
    SHOWS("c6<c5@6!=d c7<c6@7=d d2<c7@8=f", HEAD(s, "t1", "a"));
    REFUSED(PONS_EEXIST, commit_one(s, &lease, "a", "c6", "", 0, true, "x", &err));
    let_go(s, &lease);

    // Without a lease it takes the thread itself; all namespaces; a second time there is nothing.
    done = prune(s, "t1", (pons_prune){.keep_last = 1});
    assert_int_equal(done.checkpoints, 3 + 9); // c8, c9 and d1; c0 to c8
    SHOWS("d2<c7@8=f c7<c6@7=d c6<c5@6!=d", HISTORY(s, "t1", "a", "", 0));
    SHOWS("c9<c8@9!=d", HISTORY(s, "t1", "b", "", 0));
    done = prune(s, "t1", (pons_prune){.keep_last = 1});
    assert_int_equal(done.checkpoints, 0);
    pons_lease seen;
    REFUSED(PONS_ENOTFOUND, s.ops->lease_peek(s.self, "t1", &seen, &err));
}

static void test_prune_since(void **state)
{
    pons_store s = *(pons_store *)*state;
    enum { STEPS = 12, START = 1700000000 };
    pons_lease lease = hold(s, "t1");
    pons_clock_manual m = {.wall_epoch_ms = (int64_t)START * 1000};
    pons_rand rand;
    pons_rand_seed(&rand, 7);
    pons_id_source source;
    pons_id_source_init(&source, pons_clock_from_manual(&m), &rand);
    char ids[STEPS][PONS_ID_MAX];
    for (int i = 0; i < STEPS; i++, m.now_ns += PONS_NS_PER_S) { // one a second
        pons_id_make(&source, ids[i]);
        OK(commit_one(s, &lease, "", ids[i], i ? ids[i - 1] : "", i, i % 4 == 0, "d", &err));
    }
    ten(s, &lease, "n"); // ids without a time
    const int64_t since = ((int64_t)START + 6) * 1000;
    pons_prune_result done =
        prune(s, "t1", (pons_prune){.lease = &lease, .keep_since_ms = since, .ns = ""});
    assert_int_equal(done.checkpoints, 4); // 6 is read from 4
    int64_t rows[2] = {0};
    OK(s.ops->history(s.self, "t1", "", "", 0, count_row, rows, &err));
    assert_int_equal(rows[0], 8);
    assert_int_equal(rows[1], 4);
    // Either rule keeps; without a time only the newest stays.
    done = prune(s, "t1", (pons_prune){.lease = &lease, .keep_last = 3, .keep_since_ms = since});
    assert_int_equal(done.checkpoints, 6);
    SHOWS("c9<c8@9!=d c8<c7@8=d c7<c6@7=d c6<c5@6!=d", HISTORY(s, "t1", "n", "", 0));
    done = prune(s, "t1", (pons_prune){.lease = &lease, .keep_since_ms = since + 1000000});
    assert_int_equal(done.checkpoints, 4 + 3);
    SHOWS("c9<c8@9!=d", HISTORY(s, "t1", "n", "", 0));
    OK(s.ops->head(s.self, "t1", "", count_row, rows, &err));
    let_go(s, &lease);
}

static void test_prune_events(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    ten(s, &lease, "a");
    pons_prune_result done = prune(s, "t1", (pons_prune){.lease = &lease, .events_since_ms = 107});
    assert_int_equal(done.checkpoints, 0);
    assert_int_equal(done.events, 7);
    SHOWS("8:n:107:tick={} 9:n:108:tick={} 10:n:109:tick={}", EVENTS(s, "t1", 0, 0));
    SHOWS("9:n:108:tick={}", EVENTS(s, "t1", 8, 1));
    done = prune(s, "t1", (pons_prune){.lease = &lease, .events_since_ms = 5000});
    assert_int_equal(done.events, 2);
    SHOWS("10:n:109:tick={}", EVENTS(s, "t1", 3, 0));
    SHOWS("", EVENTS(s, "t1", 10, 0));
    assert_int_equal(event_last(s, "t1"), 10);
    let_go(s, &lease);
    OK(s.ops->thread_copy(s.self, "t1", "t2", &err));
    const char *names[] = {"t1", "t2"};
    for (int i = 0; i < 2; i++) {
        lease = hold(s, names[i]);
        pons_event_row e = {.ns = "n", .ts_ms = 1, .type = "tick", .payload = {"{}", 2}};
        pons_commit c = {.lease = &lease, .events = &e, .n_events = 1};
        OK(s.ops->commit(s.self, &c, &err));
        assert_int_equal(e.seq, 11); // no number comes back
        SHOWS("10:n:109:tick={} 11:n:1:tick={}", EVENTS(s, names[i], 0, 0));
        let_go(s, &lease);
    }
}

static void test_prune_whole(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    ten(s, &lease, "a");
    ten(s, &lease, "sub|1");
    pons_prune_result done =
        prune(s, "t1", (pons_prune){.lease = &lease, .ns = "sub|1", .keep_last = -1});
    assert_int_equal(done.checkpoints, 10);
    SHOWS("'a'", SPACES(s, "t1"));
    SHOWS("", HISTORY(s, "t1", "sub|1", "", 0));
    SHOWS("", RECORDS(s, "t1", "sub|1", "c3"));
    REFUSED(PONS_ENOTFOUND, HEAD(s, "t1", "sub|1"));
    ten(s, &lease, "sub|1"); // anew
    SHOWS("c9<c8@9!=d", HEAD(s, "t1", "sub|1"));
    SHOWS("c6<c5@6!=d c7<c6@7=d", AT(s, "t1", "sub|1", "c7"));
    let_go(s, &lease);
}

static void test_prune_refused(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    ten(s, &lease, "a");
    pons_prune what = {.keep_last = 1};
    REFUSED(PONS_EBUSY, s.ops->prune(s.self, "t1", &what, NULL, &err));
    REFUSED(PONS_ENOTFOUND, s.ops->prune(s.self, "none", &what, NULL, &err));
    SHOWS("t1:10:10*", THREADS(s)); // it made none
    pons_lease stale = lease;
    let_go(s, &lease);
    lease = hold(s, "t1");
    what.lease = &stale;
    REFUSED(PONS_ESTALE, s.ops->prune(s.self, "t1", &what, NULL, &err));
    what = (pons_prune){.lease = &lease};
    REFUSED(PONS_EINVAL, s.ops->prune(s.self, "t1", &what, NULL, &err));
    what.keep_last = -1;
    REFUSED(PONS_EINVAL, s.ops->prune(s.self, "t1", &what, NULL, &err));
    SHOWS("t1:10:10*", THREADS(s));
    what = (pons_prune){.lease = &lease, .ns = "nowhere", .keep_last = 1};
    OK(s.ops->prune(s.self, "t1", &what, NULL, &err));
    SHOWS("t1:10:10*", THREADS(s));
    let_go(s, &lease);
}

// Space comes back, and is not asked of those who are left.
static pons_trim_result trim(pons_store s, pons_trim *what)
{
    pons_trim_result done = {0};
    OK(s.ops->trim(s.self, what, &done, &err));
    return done;
}

// The oldest goes first, stretch by stretch, each from its end: what is left can always be read.
static void test_trim_checkpoints(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    ten(s, &lease, "a");
    ten(s, &lease, "b");
    OK(commit_one(s, &lease, "a", "fork", "c1", 2, true, "f", &err)); // from afar
    OK(s.ops->thread_copy(s.self, "t1", "copy", &err));
    pons_trim what = {.lease = &lease, .limit = 2, .ns = "a", .before = "c8"};
    pons_trim_result done = trim(s, &what);
    assert_int_equal(done.checkpoints, 2); // c8 is read from c6; c0 to c2 go first, from their end
    assert_true(done.more);
    SHOWS("c0<@0!=d", AT(s, "t1", "a", "c0"));
    REFUSED(PONS_ENOTFOUND, AT(s, "t1", "a", "c1"));
    SHOWS("c3<c2@3!=d c4<c3@4=d", AT(s, "t1", "a", "c4"));
    SHOWS("", RECORDS(s, "t1", "a", "c2"));
    SHOWS("c0/t/0=r", RECORDS(s, "t1", "a", "c0"));
    done = trim(s, &what);
    assert_int_equal(done.checkpoints, 1);
    assert_true(done.more);
    what.limit = 100;
    done = trim(s, &what);
    assert_int_equal(done.checkpoints, 3);
    assert_false(done.more);
    done = trim(s, &what);
    assert_int_equal(done.checkpoints, 0);
    assert_false(done.more);
    SHOWS("fork<c1@2!=f c9<c8@9!=d c8<c7@8=d c7<c6@7=d c6<c5@6!=d", HISTORY(s, "t1", "a", "", 0));
    SHOWS("c6<c5@6!=d c7<c6@7=d c8<c7@8=d", AT(s, "t1", "a", "c8"));
    SHOWS("fork<c1@2!=f", HEAD(s, "t1", "a"));
    // The rest of the thread, and a copy from before, have all that they had.
    SHOWS("c0<@0!=d c1<c0@1=d c2<c1@2=d", AT(s, "t1", "b", "c2"));
    SHOWS("c0<@0!=d c1<c0@1=d c2<c1@2=d", AT(s, "copy", "a", "c2"));
    SHOWS("c2/t/0=r", RECORDS(s, "copy", "a", "c2"));
    assert_int_equal(event_last(s, "t1"), 20);
    OK(commit_one(s, &lease, "a", "d1", "fork", 3, false, "e", &err)); // the run goes on
    SHOWS("fork<c1@2!=f d1<fork@3=e", HEAD(s, "t1", "a"));
    what.before = "d1";
    done = trim(s, &what);
    assert_int_equal(done.checkpoints, 3); // a stretch a call
    assert_true(done.more);
    done = trim(s, &what);
    assert_int_equal(done.checkpoints, 1);
    SHOWS("d1<fork@3=e fork<c1@2!=f", HISTORY(s, "t1", "a", "", 0));
    let_go(s, &lease);
}

static void event_of(pons_store s, const pons_lease *lease, const char *type)
{
    static const char payload[] = "{\"words\":\"as many as there are\"}";
    pons_event_row e = {.ns = "n", .ts_ms = 5, .type = type, .payload = bytes_of(payload)};
    pons_commit c = {.lease = lease, .events = &e, .n_events = 1};
    OK(s.ops->commit(s.self, &c, &err));
}

// Events keep their numbers: some lose their payload, and later all go.
static void test_trim_events(void **state)
{
    pons_store s = *(pons_store *)*state;
    static const char *const thin[] = {"look", "stream.*", NULL};
    static const char *const types[] = {"look", "approval", "stream.x", "streams", "look", "look"};
    pons_lease lease = hold(s, "t1");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        event_of(s, &lease, types[i]);
    }
    pons_trim what = {.lease = &lease, .limit = 2, .thin_before = 6, .thin_types = thin};
    pons_trim_result done = trim(s, &what);
    assert_int_equal(done.thinned, 1);
    assert_int_equal(what.thin_at, 2);
    assert_true(done.more);
    SHOWS("1:n:5:look={\"pruned\":true} "
          "2:n:5:approval={\"words\":\"as many as there are\"} "
          "3:n:5:stream.x={\"words\":\"as many as there are\"}",
          EVENTS(s, "t1", 0, 3));
    what.limit = 10;
    done = trim(s, &what);
    assert_int_equal(done.thinned, 2);
    assert_int_equal(what.thin_at, 5);
    assert_false(done.more);
    SHOWS("3:n:5:stream.x={\"pruned\":true} "
          "4:n:5:streams={\"words\":\"as many as there are\"} 5:n:5:look={\"pruned\":true} "
          "6:n:5:look={\"words\":\"as many as there are\"}",
          EVENTS(s, "t1", 2, 0));
    what = (pons_trim){.lease = &lease, .limit = 2, .events_before = 4};
    done = trim(s, &what);
    assert_int_equal(done.events, 2);
    assert_true(done.more);
    what.events_before = INT64_MAX;
    what.limit = 10;
    done = trim(s, &what);
    assert_int_equal(done.events, 3);
    assert_false(done.more);
    SHOWS("6:n:5:look={\"words\":\"as many as there are\"}",
          EVENTS(s, "t1", 0, 0)); // numbers go on
    event_of(s, &lease, "approval");
    assert_int_equal(event_last(s, "t1"), 7);
    what = (pons_trim){
        .lease = &lease, .limit = 10, .thin_before = INT64_MAX, .thin_types = thin, .thin_at = 1};
    done = trim(s, &what);
    assert_int_equal(done.thinned, 1);
    assert_int_equal(what.thin_at, 7);
    let_go(s, &lease);
}

static void effect_of(pons_store s, const pons_lease *lease, const char *id, int state,
                      int64_t created, int64_t updated)
{
    pons_effect_row e = {.ns = "n", .state = state, .created = created, .updated = updated};
    snprintf(e.id, sizeof e.id, "%s", id);
    e.data = bytes_of("{}");
    pons_commit c = {.lease = lease, .effects = &e, .n_effects = 1};
    OK(s.ops->commit(s.self, &c, &err));
}

// What has not ended stays however old it is, and a clock that was set back takes nothing along.
static void test_trim_effects(void **state)
{
    pons_store s = *(pons_store *)*state;
    enum { OPEN = 1, DONE = 3, ENDED = 1 << DONE };
    pons_lease lease = hold(s, "t1");
    effect_of(s, &lease, "e1", DONE, 100, 110);
    effect_of(s, &lease, "e2", OPEN, 110, 110);
    effect_of(s, &lease, "e3", DONE, 120, 500); // ended late
    effect_of(s, &lease, "e4", DONE, 130, 140);
    effect_of(s, &lease, "e5", DONE, 300, 310);
    effect_of(s, &lease, "e6", DONE, 50, 60); // the clock was set back
    effect_of(s, &lease, "e7", DONE, 55, 65);
    pons_trim what = {
        .lease = &lease, .limit = 1, .effects_before_ms = 200, .effect_states = ENDED};
    pons_trim_result done = trim(s, &what);
    assert_int_equal(done.effects, 1);
    assert_true(done.more);
    what.limit = 10;
    done = trim(s, &what);
    assert_int_equal(done.effects, 1);
    assert_false(done.more);
    REFUSED(PONS_ENOTFOUND, EFFECT(s, "t1", "e1"));
    REFUSED(PONS_ENOTFOUND, EFFECT(s, "t1", "e4"));
    SHOWS("e2:n:1:110:110={} e3:n:3:120:500={} e5:n:3:300:310={} e6:n:3:50:60={} "
          "e7:n:3:55:65={}",
          EFFECTS(s, "t1", ALL_STATES));
    what.effects_before_ms = 400;
    done = trim(s, &what);
    assert_int_equal(done.effects, 2); // e5, e6; the newest stays
    SHOWS("e2:n:1:110:110={} e3:n:3:120:500={} e7:n:3:55:65={}", EFFECTS(s, "t1", ALL_STATES));
    effect_of(s, &lease, "e2", DONE, 110, 120); // those that stay go on
    effect_of(s, &lease, "e8", DONE, 600, 610);
    SHOWS("e2:n:3:110:120={} e3:n:3:120:500={} e7:n:3:55:65={} e8:n:3:600:610={}",
          EFFECTS(s, "t1", ALL_STATES));
    let_go(s, &lease);
}

static void test_trim_refused(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    ten(s, &lease, "a");
    pons_trim what = {.lease = &lease, .limit = 10, .ns = "a", .before = "none"};
    pons_trim_result done;
    REFUSED(PONS_ENOTFOUND, s.ops->trim(s.self, &what, &done, &err));
    what.ns = "nowhere";
    REFUSED(PONS_ENOTFOUND, s.ops->trim(s.self, &what, &done, &err));
    what.ns = NULL;
    REFUSED(PONS_EINVAL, s.ops->trim(s.self, &what, &done, &err));
    what = (pons_trim){.lease = &lease, .events_before = 5};
    REFUSED(PONS_EINVAL, s.ops->trim(s.self, &what, &done, &err)); // no limit
    what.limit = 5;
    pons_lease stale = lease;
    let_go(s, &lease);
    lease = hold(s, "t1");
    what.lease = &stale;
    REFUSED(PONS_ESTALE, s.ops->trim(s.self, &what, &done, &err));
    what.lease = NULL;
    REFUSED(PONS_EINVAL, s.ops->trim(s.self, &what, &done, &err));
    SHOWS("t1:10:10*", THREADS(s));
    let_go(s, &lease);
}

static void test_prune_space(void **state)
{
    pons_store s = *(pons_store *)*state;
    enum { STEPS = 300, DATA = 8000 };
    char *data = malloc(DATA + 1), id[16];
    pons_rand rand; // no store can make it smaller
    pons_rand_seed(&rand, 5);
    for (int i = 0; i < DATA; i++) {
        data[i] = (char)(' ' + pons_rand_below(&rand, 95));
    }
    data[DATA] = '\0';
    pons_lease lease = hold(s, "t1");
    for (int i = 0; i < STEPS; i++) {
        snprintf(id, sizeof id, "c%04d", i);
        OK(commit_one(s, &lease, "", id, "", i, true, data, &err));
    }
    pons_prune_result done = prune(s, "t1", (pons_prune){.lease = &lease, .keep_last = 10});
    assert_int_equal(done.checkpoints, STEPS - 10);
    assert_true(done.bytes_before >= STEPS * DATA);
    if (backend->gives_back) {
        assert_in_range(done.bytes_after, 0, done.bytes_before / 3);
    }
    pons_thread_info info = {0};
    OK(s.ops->threads(s.self, see_size, &info, &err));
    assert_in_range(info.bytes, 10 * DATA, 11 * DATA);
    OK(commit_one(s, &lease, "", "d", id, STEPS, false, "after", &err));
    int64_t rows[2] = {0};
    OK(s.ops->head(s.self, "t1", "", count_row, rows, &err));
    assert_int_equal(rows[0], 2);
    free(data);
    let_go(s, &lease);
}

static void test_names_and_bytes(void **state)
{
    pons_store s = *(pons_store *)*state;
    char longest[PONS_NAME_MAX], longer[PONS_NAME_MAX + 1];
    memset(longest, '/', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const char *names[] = {"../../etc/passwd", ".", "..",    "机器人 1",
                           "a b\tc\n'\"%;--",  "%", longest, "T1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pons_lease lease = hold(s, names[i]);
        OK(commit_one(s, &lease, names[i], "c", "", 0, true, names[i], &err));
        pons_lease again;
        REFUSED(PONS_EBUSY, s.ops->lease_acquire(s.self, names[i], &again, &err));
        let_go(s, &lease);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        sink own = {.out = out, .left = -1}, *to = &own;
        OK(HEAD(s, names[i], names[i]));
        fclose(out);
        free(text);
        OK(s.ops->thread_delete(s.self, names[i], &err));
    }
    SHOWS("", THREADS(s));

    pons_lease lease;
    REFUSED(PONS_EINVAL, s.ops->lease_acquire(s.self, "", &lease, &err));
    REFUSED(PONS_EINVAL, s.ops->lease_acquire(s.self, longer, &lease, &err));
    lease = hold(s, "t1");
    REFUSED(PONS_EINVAL, commit_one(s, &lease, longer, "c", "", 0, true, "", &err));
    REFUSED(PONS_EINVAL, commit_one(s, &lease, "n", "", "", 0, true, "", &err));

    // Bytes are bytes: none of them, zeros, ids of every form.
    const char *ids[] = {"0",
                         "01ARZ3NDEKTSV4RRFFQ69G5FAV",
                         "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
                         "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
                         "01arz3ndektsv4rrffq69g5fav",
                         "01ARZ3NDEKTSV4RRFFQ69G5FAU",
                         "a-very-long-identifier-of-31-by"};
    const char *parent = "";
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        pons_checkpoint_row row = {.step = (int64_t)1 << 40, .data = {"\0\xff\0", i % 4}};
        strcpy(row.id, ids[i]);
        strcpy(row.parent, parent);
        pons_record_row record = {.idx = INT32_MIN, .data = {NULL, 0}};
        strcpy(record.checkpoint, ids[i]);
        strcpy(record.task, ids[i]);
        pons_commit c = {.lease = &lease,
                         .ns = "bytes",
                         .checkpoints = &row,
                         .n_checkpoints = 1,
                         .records = &record,
                         .n_records = 1};
        OK(s.ops->commit(s.self, &c, &err));
        char expected[160];
        static const char *const data[] = {"", "\\00", "\\00\\ff", "\\00\\ff\\00"};
        snprintf(expected, sizeof expected, "%s<%s@1099511627776=%s", ids[i], parent, data[i % 4]);
        SHOWS(expected, HISTORY(s, "t1", "bytes", "", 1));
        snprintf(expected, sizeof expected, "%s/%s/-2147483648=", ids[i], ids[i]);
        SHOWS(expected, RECORDS(s, "t1", "bytes", ids[i]));
        parent = ids[i];
    }
    let_go(s, &lease);
}

static void test_large(void **state)
{
    pons_store s = *(pons_store *)*state;
    pons_lease lease = hold(s, "t1");
    size_t size = (size_t)3 << 20;
    char *data = malloc(size + 1);
    memset(data, 'x', size);
    data[size] = '\0';
    OK(commit_one(s, &lease, "", "c1", "", 0, true, data, &err));
    char *text = NULL;
    size_t written = 0;
    FILE *out = open_memstream(&text, &written);
    sink own = {.out = out, .left = -1}, *to = &own;
    OK(HEAD(s, "t1", ""));
    fclose(out);
    assert_int_equal(written, size + strlen("c1<@0!= "));
    free(text);
    free(data);
    let_go(s, &lease);
}

// A long thread: every checkpoint is found, and its chain ends at the nearest snapshot.
static void test_long_history(void **state)
{
    pons_store s = *(pons_store *)*state;
    enum { STEPS = 10000, INTERVAL = 100, BATCH = 50 };
    pons_lease lease = hold(s, "t1");
    pons_clock_manual m = {.wall_epoch_ms = 1700000000000};
    pons_rand rand;
    pons_rand_seed(&rand, 7);
    pons_id_source source;
    pons_id_source_init(&source, pons_clock_from_manual(&m), &rand);
    char(*ids)[32] = calloc(STEPS, sizeof *ids);
    for (int i = 0; i < STEPS; i += BATCH) {
        pons_checkpoint_row rows[BATCH] = {0};
        for (int j = 0; j < BATCH; j++) {
            m.now_ns += PONS_NS_PER_MS / 3;
            pons_id_make(&source, ids[i + j]);
            rows[j].step = i + j;
            rows[j].snapshot = (i + j) % INTERVAL == 0;
            strcpy(rows[j].id, ids[i + j]);
            strcpy(rows[j].parent, i + j ? ids[i + j - 1] : "");
        }
        pons_commit c = {.lease = &lease, .ns = "", .checkpoints = rows, .n_checkpoints = BATCH};
        OK(s.ops->commit(s.self, &c, &err));
    }
    for (int i = 0; i < STEPS; i += 997) {
        int64_t rows[2] = {0};
        OK(s.ops->checkpoint(s.self, "t1", "", ids[i], count_row, rows, &err));
        assert_int_equal(rows[0], i % INTERVAL + 1);
        assert_int_equal(rows[1], i);
    }
    int64_t rows[2] = {0};
    OK(s.ops->head(s.self, "t1", "", count_row, rows, &err));
    assert_int_equal(rows[0], INTERVAL);
    assert_int_equal(rows[1], STEPS - 1);
    free(ids);
    let_go(s, &lease);
}

// Many threads of one process at once, writing their own and reading others'.
enum { WORKERS = 6, WORK = 60 };
typedef struct worker {
    pons_store s;
    int number;
    int failures;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    char thread[16], other[16], parent[32] = "";
    snprintf(thread, sizeof thread, "w%d", w->number);
    snprintf(other, sizeof other, "w%d", (w->number + 1) % WORKERS);
    pons_lease lease;
    if (w->s.ops->lease_acquire(w->s.self, thread, &lease, NULL)) {
        w->failures++;
        return NULL;
    }
    for (int i = 0; i < WORK; i++) {
        pons_checkpoint_row row = {.step = i, .snapshot = i % 10 == 0, .data = {"data", 4}};
        snprintf(row.id, sizeof row.id, "c%04d", i);
        strcpy(row.parent, parent);
        strcpy(parent, row.id);
        pons_event_row e = {.ns = "n", .ts_ms = i, .type = "tick", .payload = {"{}", 2}};
        pons_commit c = {.lease = &lease,
                         .ns = "n",
                         .sync = i % 20 == 0 ? PONS_SYNC_FULL : PONS_SYNC_NORMAL,
                         .checkpoints = &row,
                         .n_checkpoints = 1,
                         .events = &e,
                         .n_events = 1};
        // One that is refused takes nobody of its group with it, and no number.
        if (i % 4 == 3) {
            pons_checkpoint_row twin = {.id = "c0000"};
            pons_event_row lost = {.ns = "n", .type = "lost", .payload = {"{}", 2}};
            pons_commit d = c;
            d.checkpoints = &twin;
            d.events = &lost;
            w->failures += w->s.ops->commit(w->s.self, &d, NULL) != PONS_EEXIST;
        }
        bool async = i % 3 == 1;
        int rc = async ? w->s.ops->commit_async(w->s.self, &c, NULL)
                       : w->s.ops->commit(w->s.self, &c, NULL);
        w->failures += rc != PONS_OK || (!async && e.seq != i + 1);
        pons_inbox_row mail = {.ns = "n", .kind = "k", .value = {"v", 1}};
        w->failures += w->s.ops->inbox_post(w->s.self, other, &mail, NULL, NULL) != PONS_OK;
        int64_t rows[2] = {0};
        rc = w->s.ops->head(w->s.self, other, "n", count_row, rows, NULL);
        w->failures += rc != PONS_OK && rc != PONS_ENOTFOUND;
        w->failures += rc == PONS_OK && rows[0] != rows[1] % 10 + 1;
    }
    w->s.ops->lease_release(w->s.self, &lease);
    return NULL;
}

static void test_many_threads(void **state)
{
    pons_store s = *(pons_store *)*state;
    pthread_t ids[WORKERS];
    worker workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.s = s, .number = i};
        assert_int_equal(pthread_create(&ids[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(ids[i], NULL);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(workers[i].failures, 0);
        char thread[16], last[32];
        snprintf(thread, sizeof thread, "w%d", i);
        snprintf(last, sizeof last, "%d:n:k=v", WORK);
        assert_int_equal(event_last(s, thread), WORK);
        SHOWS(last, INBOX(s, thread, "n", WORK - 1));
    }
}

static void test_close_twice(void **state)
{
    (void)state;
    pons_store none = {0};
    pons_store_close(&none);
    pons_store_close(NULL);
}

int conformance_run(const conformance_backend *b)
{
    backend = b;
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_store, close_store)
    const struct CMUnitTest tests[] = {
        TEST(test_empty),
        TEST(test_commit_whole),
        TEST(test_chain),
        TEST(test_several_namespaces),
        TEST(test_lost_parent),
        TEST(test_history),
        TEST(test_clock_set_back),
        TEST(test_twice_is_refused_whole),
        TEST(test_records_replace),
        TEST(test_inbox),
        TEST(test_effects),
        TEST(test_events),
        TEST(test_lease),
        TEST(test_async),
        TEST(test_async_tells),
        TEST(test_async_failure),
        TEST(test_flush_is_of_one_thread),
        TEST(test_release_drains),
        TEST(test_callbacks_may_call),
        TEST(test_threads),
        TEST(test_copy),
        TEST(test_prune_last),
        TEST(test_prune_since),
        TEST(test_prune_events),
        TEST(test_prune_whole),
        TEST(test_prune_refused),
        TEST(test_prune_space),
        TEST(test_trim_checkpoints),
        TEST(test_trim_events),
        TEST(test_trim_effects),
        TEST(test_trim_refused),
        TEST(test_names_and_bytes),
        TEST(test_large),
        TEST(test_long_history),
        TEST(test_many_threads),
        TEST(test_close_twice),
    };
#undef TEST
    const int failed = cmocka_run_group_tests_name(b->name, tests, NULL, NULL);
    return failed + conformance_items_run(b) + conformance_lanes_run(b);
}

// ---- two stores, one story ----------------------------------------------------------------------

typedef struct walk_ids {
    FILE *out;
    pons_store s;
    const char *thread, *ns;
} walk_ids;

static int text_of_checkpoint(void *user, const pons_checkpoint_row *row)
{
    walk_ids *w = user;
    sink own = {.out = w->out, .left = -1}, *to = &own;
    see_checkpoint(to, row);
    fputs("{ ", w->out);
    OK(w->s.ops->records(w->s.self, w->thread, w->ns, row->id, see_record, to, &err));
    int rc = w->s.ops->checkpoint(w->s.self, w->thread, w->ns, row->id, see_checkpoint, to, NULL);
    fprintf(w->out, "%d }\n", rc);
    return 0;
}

static int text_of_ns(void *user, const char *ns)
{
    walk_ids *w = user;
    walk_ids inner = {.out = w->out, .s = w->s, .thread = w->thread, .ns = ns};
    fprintf(w->out, "ns '%s'\n", ns);
    OK(w->s.ops->history(w->s.self, w->thread, ns, "", 0, text_of_checkpoint, &inner, &err));
    return 0;
}

static void collect(FILE *out, pons_store s, const char *thread)
{
    sink own = {.out = out, .left = -1}, *to = &own;
    walk_ids w = {.out = out, .s = s, .thread = thread};
    OK(s.ops->namespaces(s.self, thread, text_of_ns, &w, &err));
    fputs("\ninbox ", out);
    OK(INBOX(s, thread, NULL, 0));
    fputs("\neffects ", out);
    OK(EFFECTS(s, thread, ALL_STATES));
    fputs("\nevents ", out);
    OK(EVENTS(s, thread, 0, 0));
    fprintf(out, "\nlast %" PRId64 "\n", event_last(s, thread));
}

char *store_text(pons_store s, const char *thread)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    collect(out, s, thread);
    fclose(out);
    return text;
}

enum { TWIN_THREADS = 4, TWIN_IDS = 40 };
typedef struct twins {
    pons_store s[2];
    pons_lease lease[2][TWIN_THREADS];
    pons_rand rand;
    int64_t posted[TWIN_THREADS];
} twins;

static const char *pick(twins *t, const char *const *from, size_t n)
{
    return from[pons_rand_below(&t->rand, n)];
}

static void twin_commit(twins *t, int thread)
{
    static const char *const spaces[] = {"", "kernel", "react|x:1"};
    static const char *const words[] = {"say", "answer", "tick", "node.done"};
    static const char *const texts[] = {"", "{}", "some text", "\x01\x02"};
    pons_checkpoint_row checkpoints[2] = {0};
    pons_record_row records[3] = {0};
    pons_inbox_row posts[2] = {0};
    pons_effect_row effects[2] = {0};
    pons_event_row events[2][3] = {0};
    int64_t taken[2];
#define CHANCE(n) ((size_t)pons_rand_below(&t->rand, (n) + 1))
    pons_commit c = {.ns = pick(t, spaces, 3),
                     .checkpoints = checkpoints,
                     .n_checkpoints = CHANCE(2),
                     .records = records,
                     .n_records = CHANCE(3),
                     .inbox_taken = taken,
                     .n_inbox_taken = CHANCE(2),
                     .posts = posts,
                     .n_posts = CHANCE(2),
                     .effects = effects,
                     .n_effects = CHANCE(2),
                     .n_events = CHANCE(3)};
    for (size_t i = 0; i < c.n_checkpoints; i++) {
        // Few ids, so that some come twice, and in any order.
        snprintf(checkpoints[i].id, 32, "c%d", (int)CHANCE(TWIN_IDS * 8));
        if (CHANCE(3)) {
            snprintf(checkpoints[i].parent, 32, "c%d", (int)CHANCE(TWIN_IDS * 8));
        }
        checkpoints[i].step = (int64_t)CHANCE(100) - 1;
        checkpoints[i].snapshot = CHANCE(1);
        checkpoints[i].data = bytes_of(pick(t, texts, 4));
    }
    for (size_t i = 0; i < c.n_records; i++) {
        snprintf(records[i].checkpoint, 32, "c%d", (int)CHANCE(TWIN_IDS));
        snprintf(records[i].task, 40, "t%d", (int)CHANCE(12));
        records[i].idx = (int32_t)CHANCE(3) - 1;
        records[i].data = bytes_of(pick(t, texts, 4));
    }
    for (size_t i = 0; i < c.n_inbox_taken; i++) {
        taken[i] = (int64_t)CHANCE(20) + 1;
    }
    for (size_t i = 0; i < c.n_posts; i++) {
        posts[i] = (pons_inbox_row){.ns = pick(t, spaces, 3),
                                    .kind = pick(t, words, 4),
                                    .value = bytes_of(pick(t, texts, 4))};
    }
    for (size_t i = 0; i < c.n_effects; i++) {
        snprintf(effects[i].id, 40, "%032x", (unsigned)CHANCE(TWIN_IDS));
        effects[i].ns = pick(t, spaces, 3);
        effects[i].state = (int32_t)CHANCE(7);
        effects[i].data = bytes_of(pick(t, texts, 4));
    }
    for (size_t i = 0; i < c.n_events; i++) {
        events[0][i] = (pons_event_row){.ns = pick(t, spaces, 3),
                                        .type = pick(t, words, 4),
                                        .ts_ms = (int64_t)CHANCE(9),
                                        .payload = bytes_of(pick(t, texts, 4))};
        events[1][i] = events[0][i];
    }
    pons_item_write items[3] = {0};
    c.items = items;
    c.n_items = CHANCE(3);
    for (size_t i = 0; i < c.n_items; i++) {
        static const char *const names[] = {"a", "a.b", "ab", "a.b.c"};
        static const char *const found[] = {"", "one", "one two", "three"};
        items[i].what = CHANCE(3) ? PONS_ITEM_PUT : CHANCE(1) ? PONS_ITEM_DELETE : PONS_ITEM_TOUCH;
        const int64_t now = (int64_t)CHANCE(100);
        items[i].row = (pons_item_row){.ns = pick(t, names, 4),
                                       .key = pick(t, words, 4),
                                       .value = bytes_of(pick(t, texts, 4)),
                                       .words = pick(t, found, 4),
                                       .updated_ms = now,
                                       .expires_ms = CHANCE(2) ? 0 : now + (int64_t)CHANCE(60) + 1};
    }
#undef CHANCE
    int rc[2];
    for (int i = 0; i < 2; i++) {
        c.lease = &t->lease[i][thread];
        c.events = events[i];
        rc[i] = t->s[i].ops->commit(t->s[i].self, &c, NULL);
    }
    assert_int_equal(rc[0], rc[1]);
    for (size_t i = 0; i < c.n_events; i++) {
        assert_int_equal(events[0][i].seq, events[1][i].seq);
    }
}

static int text_of_item(void *user, const pons_item_row *row)
{
    fprintf(user, "%s/%s=", row->ns, row->key);
    put_bytes(user, row->value);
    fprintf(user, "[%s]%" PRId64 " %" PRId64 " %" PRId64 "\n", row->words, row->created_ms,
            row->updated_ms, row->expires_ms);
    return 0;
}

// Every prefix, some words, some moments.
static void twin_items(twins *t, uint64_t seed, int step)
{
    static const char *const prefixes[] = {NULL, "a", "a.b", "a.b.c", "ab", "b"};
    static const char *const words[] = {NULL, "one", "two three", "four"};
    char *text[2];
    for (int i = 0; i < 2; i++) {
        size_t len;
        FILE *out = open_memstream(&text[i], &len);
        for (size_t k = 0; k < 6 * 4 * 3; k++) {
            const pons_item_find find = {.prefix = prefixes[k % 6],
                                         .words = words[k / 6 % 4],
                                         .now_ms = (int64_t)(k / 24) * 60};
            fprintf(out, "%zu\n", k);
            OK(t->s[i].ops->items(t->s[i].self, &find, text_of_item, out, &err));
        }
        fclose(out);
    }
    if (strcmp(text[0], text[1]) != 0) {
        fail_msg("seed %" PRIu64 " step %d items:\n%s\n---\n%s", seed, step, text[0], text[1]);
    }
    free(text[0]);
    free(text[1]);
}

static void twin_step(twins *t)
{
    int thread = (int)pons_rand_below(&t->rand, TWIN_THREADS);
    char name[8];
    snprintf(name, sizeof name, "t%d", thread);
    unsigned what = (unsigned)pons_rand_below(&t->rand, 20);
    bool held = t->lease[0][thread].epoch != 0;
    int rc[2] = {0};
    int64_t seq[2] = {0};
    for (int i = 0; i < 2; i++) {
        pons_store s = t->s[i];
        pons_inbox_row mail = {.ns = "kernel", .kind = "say", .value = {"hi", 2}};
        if (what == 0 && held) {
            s.ops->lease_release(s.self, &t->lease[i][thread]);
        } else if (what <= 1) {
            rc[i] = s.ops->thread_delete(s.self, name, NULL);
        } else if (what == 2) {
            rc[i] = s.ops->inbox_post(s.self, name, &mail, &seq[i], NULL);
        } else if (!held) {
            rc[i] = s.ops->lease_acquire(s.self, name, &t->lease[i][thread], NULL);
        }
    }
    assert_int_equal(rc[0], rc[1]);
    assert_int_equal(seq[0], seq[1]);
    if (what > 2 && held) {
        twin_commit(t, thread);
    }
}

void store_twins(pons_store a, pons_store b, uint64_t seed, int steps)
{
    print_message("twins: seed %" PRIu64 "\n", seed);
    twins t = {.s = {a, b}};
    pons_rand_seed(&t.rand, seed);
    for (int i = 0; i < steps; i++) {
        twin_step(&t);
        if (i % 50 && i != steps - 1) {
            continue;
        }
        twin_items(&t, seed, i);
        for (int thread = 0; thread < TWIN_THREADS; thread++) {
            char name[8];
            snprintf(name, sizeof name, "t%d", thread);
            char *one = store_text(a, name), *two = store_text(b, name);
            if (strcmp(one, two) != 0) {
                fail_msg("seed %" PRIu64 " step %d thread %s:\n%s\n---\n%s", seed, i, name, one,
                         two);
            }
            free(one);
            free(two);
        }
    }
    for (int i = 0; i < 2; i++) {
        for (int thread = 0; thread < TWIN_THREADS; thread++) {
            if (t.lease[i][thread].epoch) {
                t.s[i].ops->lease_release(t.s[i].self, &t.lease[i][thread]);
            }
        }
    }
}
