// conformance_lanes.c - what a store promises of lanes, shown on any of them with the contract alone:
// which session comes next, one a lane, fences, another attempt in its time, runners that died, many
// threads at once that never have the same session. The clock is the test's: times are arguments.
#include "conformance.h"
#include "conformance_ok.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const conformance_backend *backend;

typedef struct lane_store {
    pons_store s;
    pons_lanes l;
} lane_store;

static int open_store(void **state)
{
    lane_store *x = calloc(1, sizeof *x);
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    if (!x || backend->open(&x->s, &err)) {
        print_error("%s\n", pons_error_line(&err, line, sizeof line));
        free(x);
        return -1;
    }
    x->s.ops->lanes(x->s.self, &x->l);
    *state = x;
    return 0;
}

static int close_store(void **state)
{
    lane_store *x = *state;
    pons_store_close(&x->s);
    free(x);
    if (backend->clean) {
        backend->clean();
    }
    return 0;
}

// ---- sessions as the tests see them -------------------------------------------------------------

typedef struct got { // the sessions that a call gave
    int n;
    char id[64], lane[64], owner[64], data[64], note[64];
    char all[256]; // ids
    uint64_t epoch;
    int state, attempt;
    int64_t due_ms, seq;
} got;

static int take(void *user, const pons_session_row *row)
{
    got *g = user;
    g->n++;
    snprintf(g->id, sizeof g->id, "%s", row->id);
    snprintf(g->lane, sizeof g->lane, "%s", row->lane);
    snprintf(g->owner, sizeof g->owner, "%s", row->owner);
    snprintf(g->data, sizeof g->data, "%.*s", (int)row->data.len, (const char *)row->data.data);
    snprintf(g->note, sizeof g->note, "%.*s", (int)row->note.len, (const char *)row->note.data);
    const size_t at = strlen(g->all);
    snprintf(g->all + at, sizeof g->all - at, "%s%s", at ? " " : "", row->id);
    g->epoch = row->epoch;
    g->state = row->state;
    g->attempt = row->attempt;
    g->due_ms = row->due_ms;
    g->seq = row->seq;
    return 0;
}

static pons_session_row session(const char *id, const char *lane, int priority, int64_t order_ms)
{
    return (pons_session_row){
        .id = id, .lane = lane, .priority = priority, .order_ms = order_ms, .data = bytes_of("{}")};
}

static void put(const lane_store *x, const char *id, const char *lane, int priority, int64_t at)
{
    const pons_session_row row = session(id, lane, priority, at);
    OK(x->l.ops->enqueue(x->l.self, &row, 1, &err));
}

static got claim(const lane_store *x, const char *runner)
{
    got g = {0};
    pons_error err = PONS_ERROR_INIT;
    const pons_session_claim how = {.runner = runner};
    const int rc = x->l.ops->claim(x->l.self, &how, take, &g, &err);
    assert_int_equal(rc, g.n ? PONS_OK : PONS_ENOTFOUND);
    return g;
}

static got end(const lane_store *x, const got *of, int state, int64_t due_ms, const char *next_for)
{
    got g = {0};
    const pons_session_end e = {.id = of->id,
                                .epoch = of->epoch,
                                .state = state,
                                .due_ms = due_ms,
                                .note = bytes_of("ended"),
                                .next_for = next_for};
    OK(x->l.ops->finish(x->l.self, &e, take, &g, &err));
    return g;
}

static got get(const lane_store *x, const char *id)
{
    got g = {0};
    OK(x->l.ops->get(x->l.self, id, take, &g, &err));
    return g;
}

#define RAN(x, runner, want)                                                                       \
    do {                                                                                           \
        const got ran = claim(x, runner);                                                          \
        assert_string_equal(ran.id, want);                                                         \
        end(x, &ran, PONS_SESSION_SUCCEEDED, 0, NULL);                                             \
    } while (0)

// ---- which comes next ---------------------------------------------------------------------------

static void test_order(void **state)
{
    const lane_store *x = *state;
    put(x, "low", "a", 2, 1);
    put(x, "normal-late", "a", 1, 30);
    put(x, "normal-early", "a", 1, 20);
    put(x, "same-1", "a", 1, 25);
    put(x, "same-2", "a", 1, 25);
    put(x, "high", "a", 0, 99);
    RAN(x, "r", "high");
    RAN(x, "r", "normal-early");
    RAN(x, "r", "same-1");
    RAN(x, "r", "same-2");
    put(x, "high-2", "a", 0, 100); // one that comes later still goes before
    RAN(x, "r", "high-2");
    RAN(x, "r", "normal-late");
    RAN(x, "r", "low");
    assert_int_equal(claim(x, "r").n, 0);
    // Between lanes: the lane whose first session is the first of all.
    put(x, "b1", "b", 1, 5);
    put(x, "a1", "a", 1, 7);
    put(x, "c1", "c", 0, 9);
    assert_string_equal(claim(x, "r").id, "c1");
    assert_string_equal(claim(x, "r").id, "b1");
    assert_string_equal(claim(x, "r").id, "a1");
}

static void test_one_a_lane(void **state)
{
    const lane_store *x = *state;
    put(x, "a1", "a", 1, 1);
    put(x, "a2", "a", 1, 2);
    put(x, "b1", "b", 1, 3);
    const got a1 = claim(x, "r1");
    assert_string_equal(a1.id, "a1");
    assert_string_equal(a1.owner, "r1");
    assert_int_equal(a1.state, PONS_SESSION_RUNNING);
    assert_int_equal(a1.attempt, 1);
    assert_string_equal(a1.data, "{}");
    assert_string_equal(claim(x, "r2").id, "b1"); // not a2: its lane is busy
    assert_int_equal(claim(x, "r2").n, 0);
    put(x, "a0", "a", 0, 0); // however urgent
    assert_int_equal(claim(x, "r2").n, 0);
    const got next = end(x, &a1, PONS_SESSION_SUCCEEDED, 0, "r1"); // its next at once
    assert_string_equal(next.id, "a0");
    assert_true(next.epoch > a1.epoch);
    const got last = end(x, &next, PONS_SESSION_FAILED, 0, "r1");
    assert_string_equal(last.id, "a2");
    assert_int_equal(end(x, &last, PONS_SESSION_UNKNOWN, 0, "r1").n, 0);
    assert_int_equal(get(x, "a1").state, PONS_SESSION_SUCCEEDED);
    assert_int_equal(get(x, "a0").state, PONS_SESSION_FAILED);
    assert_int_equal(get(x, "a2").state, PONS_SESSION_UNKNOWN);
    assert_string_equal(get(x, "a2").note, "ended");
    assert_string_equal(get(x, "a2").owner, "");
}

static void test_only_these_lanes(void **state)
{
    const lane_store *x = *state;
    const char *const names[] = {"odd \"name\"", "back\\slash,{}"};
    put(x, "a1", "a", 0, 1);
    put(x, "q1", names[0], 1, 1);
    put(x, "s1", names[1], 2, 1);
    const pons_session_claim how = {.runner = "r", .lanes = names, .n_lanes = 2};
    const pons_session_claim nothing = {.runner = "r", .lanes = names, .n_lanes = 0};
    got g = {0};
    REFUSED(PONS_ENOTFOUND, x->l.ops->claim(x->l.self, &nothing, take, &g, &err));
    OK(x->l.ops->claim(x->l.self, &how, take, &g, &err));
    OK(x->l.ops->claim(x->l.self, &how, take, &g, &err));
    assert_string_equal(g.all, "q1 s1");
    REFUSED(PONS_ENOTFOUND, x->l.ops->claim(x->l.self, &how, take, &g, &err));
}

// ---- what is refused ----------------------------------------------------------------------------

static void test_fence(void **state)
{
    const lane_store *x = *state;
    put(x, "a1", "a", 1, 1);
    const got mine = claim(x, "r1");
    OK(x->l.ops->note(x->l.self, "a1", mine.epoch, bytes_of("half"), &err));
    assert_string_equal(get(x, "a1").note, "half");
    got theirs = {0};
    OK(x->l.ops->reclaim(x->l.self, "r1", 0, "r2", take, &theirs, &err));
    assert_string_equal(theirs.all, "a1");
    assert_true(theirs.epoch > mine.epoch);
    assert_string_equal(theirs.note, "half"); // what the dead one had noted
    assert_int_equal(theirs.attempt, 1);      // it is the same attempt
    assert_string_equal(theirs.owner, "r2");
    // The first one wakes up: nothing of it counts.
    REFUSED(PONS_ESTALE, x->l.ops->note(x->l.self, "a1", mine.epoch, bytes_of("stale"), &err));
    const pons_session_end e = {
        .id = "a1", .epoch = mine.epoch, .state = PONS_SESSION_SUCCEEDED, .next_for = "r1"};
    got none = {0};
    REFUSED(PONS_ESTALE, x->l.ops->finish(x->l.self, &e, take, &none, &err));
    assert_int_equal(none.n, 0);
    assert_string_equal(get(x, "a1").note, "half");
    end(x, &theirs, PONS_SESSION_SUCCEEDED, 0, NULL);
    // Ended is ended, also for who ended it.
    const pons_session_end again = {
        .id = "a1", .epoch = theirs.epoch, .state = PONS_SESSION_FAILED};
    REFUSED(PONS_ESTALE, x->l.ops->finish(x->l.self, &again, take, &none, &err));
    REFUSED(PONS_ESTALE, x->l.ops->note(x->l.self, "gone", 1, bytes_of(""), &err));
    assert_int_equal(get(x, "a1").state, PONS_SESSION_SUCCEEDED);
}

static void test_same_id(void **state)
{
    const lane_store *x = *state;
    put(x, "a1", "a", 1, 1);
    const pons_session_row rows[] = {session("n1", "n", 1, 1), session("a1", "z", 1, 2),
                                     session("n2", "n", 1, 3)};
    REFUSED(PONS_EEXIST, x->l.ops->enqueue(x->l.self, rows, 3, &err)); // none of them
    got none = {0};
    REFUSED(PONS_ENOTFOUND, x->l.ops->get(x->l.self, "n1", take, &none, &err));
    RAN(x, "r", "a1");
    assert_int_equal(claim(x, "r").n, 0);
    REFUSED(PONS_EEXIST, x->l.ops->enqueue(x->l.self, &rows[1], 1, &err)); // also when it ended
    const pons_session_row twice[] = {session("t", "a", 1, 1), session("t", "b", 1, 1)};
    REFUSED(PONS_EEXIST, x->l.ops->enqueue(x->l.self, twice, 2, &err));
    assert_int_equal(claim(x, "r").n, 0);
    OK(x->l.ops->enqueue(x->l.self, twice, 0, &err)); // nothing
}

static void test_bad_input(void **state)
{
    const lane_store *x = *state;
    char longer[PONS_NAME_MAX + 1];
    memset(longer, 'x', PONS_NAME_MAX);
    longer[PONS_NAME_MAX] = '\0';
    const pons_session_row bad[] = {session("", "a", 1, 1), session(NULL, "a", 1, 1),
                                    session("i", "", 1, 1), session(longer, "a", 1, 1),
                                    session("i", longer, 1, 1)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        REFUSED(PONS_EINVAL, x->l.ops->enqueue(x->l.self, &bad[i], 1, &err));
    }
    pons_session_row huge = session("huge", "a", 1, 1);
    huge.data.len = PONS_SESSION_DATA_MAX + 1;
    REFUSED(PONS_EINVAL, x->l.ops->enqueue(x->l.self, &huge, 1, &err));
    got none = {0};
    const pons_session_claim nobody = {.runner = ""};
    REFUSED(PONS_EINVAL, x->l.ops->claim(x->l.self, &nobody, take, &none, &err));
    put(x, "a1", "a", 1, 1);
    const got a1 = claim(x, "r");
    const pons_session_end bad_end = {.id = "a1", .epoch = a1.epoch, .state = PONS_SESSION_RUNNING};
    REFUSED(PONS_EINVAL, x->l.ops->finish(x->l.self, &bad_end, take, &none, &err));
    assert_int_equal(get(x, "a1").state, PONS_SESSION_RUNNING);
}

// ---- what is changed before it runs -------------------------------------------------------------

static void test_change(void **state)
{
    const lane_store *x = *state;
    put(x, "a1", "a", 1, 1);
    put(x, "a2", "a", 1, 2);
    put(x, "a3", "a", 1, 3);
    pons_session_row row = session("a3", "a", 0, 3);
    row.data = bytes_of("more");
    OK(x->l.ops->change(x->l.self, &row, &err));
    row = session("a1", "b", 1, 1); // to another lane
    OK(x->l.ops->change(x->l.self, &row, &err));
    const got first = claim(x, "r");
    assert_string_equal(first.id, "a3");
    assert_string_equal(first.data, "more");
    assert_string_equal(claim(x, "r").id, "a1");
    REFUSED(PONS_EREFUSED, x->l.ops->change(x->l.self, &row, &err)); // it runs
    OK(x->l.ops->cancel(x->l.self, "a2", bytes_of("why"), &err));
    assert_int_equal(get(x, "a2").state, PONS_SESSION_CANCELLED);
    assert_string_equal(get(x, "a2").note, "why");
    REFUSED(PONS_EREFUSED, x->l.ops->cancel(x->l.self, "a2", bytes_of(""), &err));
    REFUSED(PONS_EREFUSED, x->l.ops->cancel(x->l.self, "a3", bytes_of(""), &err));
    REFUSED(PONS_ENOTFOUND, x->l.ops->cancel(x->l.self, "a9", bytes_of(""), &err));
    row = session("a9", "a", 1, 1);
    REFUSED(PONS_ENOTFOUND, x->l.ops->change(x->l.self, &row, &err));
    assert_int_equal(end(x, &first, PONS_SESSION_SUCCEEDED, 0, "r").n, 0); // a2 was cancelled
}

static int64_t wake(const lane_store *x, int64_t now_ms)
{
    int64_t due = -1;
    OK(x->l.ops->wake(x->l.self, now_ms, &due, &err));
    return due;
}

static void test_another_attempt(void **state)
{
    const lane_store *x = *state;
    put(x, "a1", "a", 0, 1);
    put(x, "a2", "a", 1, 2);
    assert_int_equal(wake(x, 1000), 0);
    const got a1 = claim(x, "r");
    end(x, &a1, PONS_SESSION_WAITING, 5000, NULL);
    assert_int_equal(get(x, "a1").state, PONS_SESSION_WAITING);
    const got a2 = claim(x, "r"); // it holds nobody up
    assert_string_equal(a2.id, "a2");
    assert_int_equal(wake(x, 4999), 5000);
    end(x, &a2, PONS_SESSION_SUCCEEDED, 0, NULL);
    assert_int_equal(claim(x, "r").n, 0);
    assert_int_equal(wake(x, 5000), 0);
    const got again = claim(x, "r");
    assert_string_equal(again.id, "a1");
    assert_int_equal(again.attempt, 2);
    assert_string_equal(again.note, "ended");
    end(x, &again, PONS_SESSION_WAITING, 9000, NULL);
    OK(x->l.ops->cancel(x->l.self, "a1", bytes_of(""), &err)); // one that waits for its time
    assert_int_equal(wake(x, 99999), 0);
    assert_int_equal(claim(x, "r").n, 0);
}

// ---- runners ------------------------------------------------------------------------------------

typedef struct seen {
    int n;
    char all[256];
} seen;

static int see(void *user, const char *runner, int64_t beats)
{
    seen *s = user;
    const size_t at = strlen(s->all);
    snprintf(s->all + at, sizeof s->all - at, "%s%s=%d", at ? " " : "", runner, (int)beats);
    s->n++;
    return 0;
}

static seen runners(const lane_store *x)
{
    seen s = {0};
    OK(x->l.ops->runners(x->l.self, see, &s, &err));
    return s;
}

static void test_runners(void **state)
{
    const lane_store *x = *state;
    assert_int_equal(runners(x).n, 0);
    OK(x->l.ops->beat(x->l.self, "r1", &err));
    OK(x->l.ops->beat(x->l.self, "r2", &err));
    OK(x->l.ops->beat(x->l.self, "r2", &err));
    put(x, "a1", "a", 1, 1);
    put(x, "b1", "b", 1, 2);
    put(x, "c1", "c", 1, 3);
    claim(x, "r1");
    claim(x, "r0"); // never beat
    claim(x, "r1");
    assert_string_equal(runners(x).all, "r0=0 r1=1 r2=2");
    got g = {0};
    OK(x->l.ops->beat(x->l.self, "r1", &err)); // just alive
    REFUSED(PONS_ESTALE, x->l.ops->reclaim(x->l.self, "r1", 1, "r2", take, &g, &err));
    REFUSED(PONS_ESTALE, x->l.ops->reclaim(x->l.self, "r2", 2, "r2", take, &g, &err)); // oneself
    assert_int_equal(g.n, 0);
    OK(x->l.ops->reclaim(x->l.self, "r1", 2, "r2", take, &g, &err));
    assert_string_equal(g.all, "a1 c1");
    assert_string_equal(runners(x).all, "r0=0 r2=2");
    OK(x->l.ops->reclaim(x->l.self, "r1", 0, "r2", take, &g, &err)); // nothing is left
    assert_int_equal(g.n, 2);
    OK(x->l.ops->leave(x->l.self, "r2", &err)); // its lanes stay its own
    assert_string_equal(runners(x).all, "r0=0 r2=0");
    assert_string_equal(get(x, "a1").owner, "r2");
}

static void test_list(void **state)
{
    const lane_store *x = *state;
    for (int i = 0; i < 6; i++) {
        char id[8];
        snprintf(id, sizeof id, "s%d", i);
        put(x, id, i % 2 ? "odd" : "even", 1, 100 - i);
    }
    RAN(x, "r", "s5");
    claim(x, "r");
    pons_session_find f = {.states = 1u << PONS_SESSION_PENDING};
    got g = {0};
    OK(x->l.ops->list(x->l.self, &f, take, &g, &err));
    assert_string_equal(g.all, "s0 s1 s2 s3"); // as they came
    f = (pons_session_find){.states = ~0u, .lane = "odd"};
    g = (got){0};
    OK(x->l.ops->list(x->l.self, &f, take, &g, &err));
    assert_string_equal(g.all, "s1 s3 s5");
    f = (pons_session_find){.states = ~0u, .after = get(x, "s1").seq, .limit = 2};
    g = (got){0};
    OK(x->l.ops->list(x->l.self, &f, take, &g, &err));
    assert_string_equal(g.all, "s2 s3");
    f = (pons_session_find){.states = 1u << PONS_SESSION_SUCCEEDED | 1u << PONS_SESSION_RUNNING};
    g = (got){0};
    OK(x->l.ops->list(x->l.self, &f, take, &g, &err));
    assert_string_equal(g.all, "s4 s5");
}

static void test_big(void **state)
{
    const lane_store *x = *state;
    const size_t len = 1 << 20;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'p', len);
    pons_session_row row = session("big", "a", 1, 1);
    row.data = (pons_bytes){text, len};
    OK(x->l.ops->enqueue(x->l.self, &row, 1, &err));
    const got g = claim(x, "r");
    assert_string_equal(g.id, "big");
    OK(x->l.ops->note(x->l.self, "big", g.epoch, row.data, &err));
    end(x, &g, PONS_SESSION_SUCCEEDED, 0, NULL);
    free(text);
}

// ---- many at once -------------------------------------------------------------------------------

enum { WORKERS = 4, LANES = 5, EACH = 40 };

typedef struct work {
    const lane_store *x;
    int number;
    atomic_int *in_lane, *ran, *twice, *left;
} work;

static int taken(void *user, const pons_session_row *row)
{
    return take(user, row);
}

static void *worker(void *user)
{
    work *w = user;
    char runner[16];
    snprintf(runner, sizeof runner, "w%d", w->number);
    pons_error err = PONS_ERROR_INIT;
    got g = {0};
    while (*w->left > 0) {
        const pons_session_claim how = {.runner = runner};
        if (!g.n && w->x->l.ops->claim(w->x->l.self, &how, taken, &g, &err) != PONS_OK) {
            continue;
        }
        const int lane = atoi(g.lane + 1), id = atoi(g.id + 1);
        if (atomic_fetch_add(&w->in_lane[lane], 1) != 0 || atomic_fetch_add(&w->ran[id], 1) != 0) {
            atomic_fetch_add(w->twice, 1);
        }
        atomic_fetch_sub(&w->in_lane[lane], 1);
        got next = {0};
        const pons_session_end e = {.id = g.id,
                                    .epoch = g.epoch,
                                    .state = PONS_SESSION_SUCCEEDED,
                                    .next_for = id % 3 ? runner : NULL};
        if (w->x->l.ops->finish(w->x->l.self, &e, taken, &next, &err) != PONS_OK) {
            atomic_fetch_add(w->twice, 1);
        }
        atomic_fetch_sub(w->left, 1);
        g = next;
    }
    return NULL;
}

static void test_many_runners(void **state)
{
    const lane_store *x = *state;
    atomic_int in_lane[LANES] = {0}, ran[LANES * EACH] = {0}, twice = 0, left = LANES * EACH;
    pons_session_row *rows = calloc(LANES * EACH, sizeof *rows);
    char(*names)[2][16] = calloc(LANES * EACH, sizeof *names);
    for (int i = 0; i < LANES * EACH; i++) {
        snprintf(names[i][0], 16, "s%d", i);
        snprintf(names[i][1], 16, "l%d", i % LANES);
        rows[i] = session(names[i][0], names[i][1], i % 3, i);
    }
    OK(x->l.ops->enqueue(x->l.self, rows, LANES * EACH, &err));
    pthread_t threads[WORKERS];
    work w[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        w[i] = (work){x, i, in_lane, ran, &twice, &left};
        assert_int_equal(pthread_create(&threads[i], NULL, worker, &w[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(twice, 0);
    for (int i = 0; i < LANES * EACH; i++) {
        assert_int_equal(ran[i], 1);
    }
    free(rows);
    free(names);
}

// Random lives against a model that is nothing but lists: what may be claimed is the least of all that
// is pending in free lanes.
typedef struct model {
    struct {
        int lane, priority, state;
        int64_t order_ms;
        got g;
    } s[60];
    int n;
} model;

static int least(const model *m)
{
    int best = -1;
    for (int i = 0; i < m->n; i++) {
        bool free_lane = m->s[i].state == PONS_SESSION_PENDING;
        for (int k = 0; k < m->n && free_lane; k++) {
            free_lane = m->s[k].state != PONS_SESSION_RUNNING || m->s[k].lane != m->s[i].lane;
        }
        if (free_lane &&
            (best < 0 || m->s[i].priority < m->s[best].priority ||
             (m->s[i].priority == m->s[best].priority && m->s[i].order_ms < m->s[best].order_ms))) {
            best = i;
        }
    }
    return best;
}

static void test_random_lives(void **state)
{
    const lane_store *x = *state;
    unsigned seed = 20260;
    model m = {.n = 0};
    char id[16], lane[16];
    for (int step = 0; step < 400; step++) {
        const int what = rand_r(&seed) % 6;
        const int i = m.n ? rand_r(&seed) % m.n : 0;
        if (what < 2 && m.n < 60) {
            snprintf(id, sizeof id, "s%d", m.n);
            m.s[m.n].lane = rand_r(&seed) % 4;
            snprintf(lane, sizeof lane, "l%d", m.s[m.n].lane);
            m.s[m.n].priority = rand_r(&seed) % 3;
            m.s[m.n].order_ms = rand_r(&seed) % 5;
            put(x, id, lane, m.s[m.n].priority, m.s[m.n].order_ms);
            m.s[m.n++].state = PONS_SESSION_PENDING;
        } else if (what == 2) {
            const int want = least(&m);
            const got g = claim(x, "r");
            assert_int_equal(g.n, want >= 0);
            if (want >= 0) {
                snprintf(id, sizeof id, "s%d", want);
                assert_string_equal(g.id, id);
                m.s[want].state = PONS_SESSION_RUNNING;
                m.s[want].g = g;
            }
        } else if (what == 3 && m.n && m.s[i].state == PONS_SESSION_RUNNING) {
            m.s[i].state = rand_r(&seed) % 2 ? PONS_SESSION_WAITING : PONS_SESSION_FAILED;
            end(x, &m.s[i].g, m.s[i].state, step, NULL);
        } else if (what == 4 && m.n && m.s[i].state <= PONS_SESSION_WAITING) {
            snprintf(id, sizeof id, "s%d", i);
            m.s[i].lane = rand_r(&seed) % 4;
            m.s[i].priority = rand_r(&seed) % 3;
            snprintf(lane, sizeof lane, "l%d", m.s[i].lane);
            const pons_session_row row = session(id, lane, m.s[i].priority, m.s[i].order_ms);
            OK(x->l.ops->change(x->l.self, &row, &err));
        } else if (what == 5) {
            wake(x, step);
            for (int k = 0; k < m.n; k++) {
                m.s[k].state =
                    m.s[k].state == PONS_SESSION_WAITING ? PONS_SESSION_PENDING : m.s[k].state;
            }
        }
    }
}

static pons_session_trimmed trim(const lane_store *x, pons_session_trim *what)
{
    pons_session_trimmed gone = {.sessions = -1};
    OK(x->l.ops->trim(x->l.self, what, &gone, &err));
    return gone;
}

// One, whose end is as given; PENDING: it waits, in a lane of its own that nobody claims.
static void put_ended(const lane_store *x, int i, int state)
{
    char id[16];
    snprintf(id, sizeof id, "s%d", i);
    put(x, id, state == PONS_SESSION_PENDING ? "free" : "work", 1, i);
    if (state == PONS_SESSION_CANCELLED) {
        OK(x->l.ops->cancel(x->l.self, id, (pons_bytes){"", 0}, &err));
    } else if (state != PONS_SESSION_PENDING) {
        static const char *const only = "work";
        const pons_session_claim how = {.runner = "r", .lanes = &only, .n_lanes = 1};
        got g = {.n = 0};
        OK(x->l.ops->claim(x->l.self, &how, take, &g, &err));
        end(x, &g, state, 0, NULL);
    }
}

// Sixteen that ended in all ways, one in four of them pending still: what goes is what ended well and is older
// than so many that came behind it, what failed stays longer, and a little goes with each call.
static void test_trim(void **state)
{
    static const int ways[] = {PONS_SESSION_SUCCEEDED, PONS_SESSION_FAILED, PONS_SESSION_CANCELLED,
                               PONS_SESSION_PENDING};
    const lane_store *x = *state;
    for (int i = 0; i < 16; i++) {
        put_ended(x, i, ways[i % 4]);
    }
    pons_session_trim what = {.keep = -1, .keep_failed = -1, .limit = 100};
    pons_session_trimmed t = trim(x, &what);
    assert_true(t.sessions == 0 && t.failed == 0 && !t.more);
    what = (pons_session_trim){.keep = 16, .keep_failed = 100, .limit = 100};
    t = trim(x, &what);
    assert_true(t.sessions == 0 && t.failed == 0 && !t.more);

    what = (pons_session_trim){.keep = 8, .keep_failed = 12, .limit = 3};
    int64_t sessions = 0, failed = 0;
    int calls = 0;
    do {
        t = trim(x, &what);
        assert_true(t.sessions + t.failed <= 3);
        sessions += t.sessions;
        failed += t.failed;
        calls++;
    } while (t.more && calls < 10);
    assert_int_equal(sessions, 4); // s0 s2 s4 s6
    assert_int_equal(failed, 1);   // s1
    assert_int_equal(calls, 3);
    got g = {.n = 0};
    const pons_session_find all = {.states = ~0u};
    OK(x->l.ops->list(x->l.self, &all, take, &g, &err));
    assert_string_equal(g.all, "s3 s5 s7 s8 s9 s10 s11 s12 s13 s14 s15");
    g = (got){.n = 0};
    const pons_session_find behind = {.states = ~0u, .after = 8}; // seq, not a place
    OK(x->l.ops->list(x->l.self, &behind, take, &g, &err));
    assert_string_equal(g.all, "s8 s9 s10 s11 s12 s13 s14 s15");
    pons_error bad = PONS_ERROR_INIT;
    assert_int_equal(x->l.ops->get(x->l.self, "s0", take, &g, &bad), PONS_ENOTFOUND);
    OK(x->l.ops->get(x->l.self, "s15", take, &g, &err));

    put(x, "s0", "work", 1, 0); // its id is free again, and it is the newest
    g = claim(x, "r");
    assert_string_equal(g.id, "s0");
    what = (pons_session_trim){.limit = 100};
    t = trim(x, &what);
    g = (got){.n = 0};
    OK(x->l.ops->list(x->l.self, &all, take, &g, &err));
    assert_string_equal(g.all, "s3 s7 s11 s15 s0"); // what waits and what runs is never old
    what.limit = 0;
    assert_int_equal(x->l.ops->trim(x->l.self, &what, &t, &bad), PONS_EINVAL);
}

int conformance_lanes_run(const conformance_backend *b)
{
    backend = b;
#define SHOW(f) cmocka_unit_test_setup_teardown(f, open_store, close_store)
    const struct CMUnitTest tests[] = {
        SHOW(test_order),
        SHOW(test_one_a_lane),
        SHOW(test_only_these_lanes),
        SHOW(test_fence),
        SHOW(test_same_id),
        SHOW(test_bad_input),
        SHOW(test_change),
        SHOW(test_another_attempt),
        SHOW(test_runners),
        SHOW(test_list),
        SHOW(test_big),
        SHOW(test_many_runners),
        SHOW(test_random_lives),
        SHOW(test_trim),
    };
    char name[64];
    snprintf(name, sizeof name, "lanes of %s", b->name);
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}
