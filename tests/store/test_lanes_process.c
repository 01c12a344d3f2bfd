// test_lanes_process.c - three runners in processes of their own, each killed and started anew again and
// again while thousands of sessions run, on a file and on PostgreSQL: no lane has two owners, no session
// ends twice, and all of them end. Runners see of each other only beats, by clocks of their own.
#include "cluster.h"
#include "graph/unsynced.h"
#include "rounds.h"
#include "unit.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNNERS = 3, LANES = 25, BATCH = 500, EPOCHS = 8192, LEASE_MS = 400, BEAT_MS = 100 };

static struct shared {                 // of all processes
    atomic_uchar given[LANES][EPOCHS]; // a lane's epoch was given to somebody
    atomic_int ended[10000];
    atomic_int done, twice, stale;
} *shared;

static const char *url;
static int sessions;
static useconds_t
    work_us; // PONS_LANES_WORK_US: what a session takes, so that more lives share them

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

typedef struct held {
    char id[16], lane[16];
    uint64_t epoch;
    bool there;
} held;

// Whoever has a lane has an epoch of it that nobody else ever had.
static void note_owner(const held *h)
{
    if (h->epoch >= EPOCHS || atomic_exchange(&shared->given[atoi(h->lane + 1)][h->epoch], 1)) {
        atomic_fetch_add(&shared->twice, 1);
    }
}

typedef struct own { // what a runner has
    held at[LANES];
} own;

static int take(void *user, const pons_session_row *row)
{
    own *o = user;
    held *h = &o->at[atoi(row->lane + 1)];
    *h = (held){.epoch = row->epoch, .there = true};
    snprintf(h->id, sizeof h->id, "%s", row->id);
    snprintf(h->lane, sizeof h->lane, "%s", row->lane);
    note_owner(h);
    return 0;
}

typedef struct others {
    const char *self;
    struct {
        char name[32];
        int64_t beats, since_ms;
    } at[16];
    int n;
    char gone[32];
    int64_t gone_beats;
} others;

static int see(void *user, const char *name, int64_t beats)
{
    others *o = user;
    int i = 0;
    if (strcmp(name, o->self) == 0) {
        return 0;
    }
    while (i < o->n && strcmp(o->at[i].name, name) != 0) {
        i++;
    }
    if (i == 16) {
        o->n = i = 0; // forgets; it learns again
    }
    if (i == o->n) {
        o->n++;
        snprintf(o->at[i].name, sizeof o->at[i].name, "%s", name);
        o->at[i].beats = -1;
    }
    if (o->at[i].beats != beats) {
        o->at[i].beats = beats;
        o->at[i].since_ms = now_ms();
    } else if (now_ms() - o->at[i].since_ms > LEASE_MS) {
        snprintf(o->gone, sizeof o->gone, "%s", name);
        o->gone_beats = beats;
    }
    return 0;
}

static void end_one(pons_lanes l, const char *self, own *o, held *h)
{
    pons_error err = PONS_ERROR_INIT;
    const held was = *h;
    usleep(work_us);
    const pons_session_end end = {.id = was.id,
                                  .epoch = was.epoch,
                                  .state = PONS_SESSION_SUCCEEDED,
                                  .next_for = atoi(was.id + 1) % 2 ? self : NULL};
    const int rc = l.ops->finish(l.self, &end, take, o, &err);
    if (rc == PONS_OK) {
        if (atomic_fetch_add(&shared->ended[atoi(was.id + 1)], 1) != 0) {
            atomic_fetch_add(&shared->twice, 1);
        }
        atomic_fetch_add(&shared->done, 1);
        h->there = h->there && strcmp(h->id, was.id) != 0; // the next one stands there now
    } else if (rc == PONS_ESTALE) {
        atomic_fetch_add(&shared->stale, 1);
        h->there = false;
    }
}

static void run(int number, int life)
{
    char self[32];
    pons_store s;
    pons_lanes l;
    pons_error err = PONS_ERROR_INIT;
    own *o = calloc(1, sizeof *o);
    snprintf(self, sizeof self, "runner-%d-%d", number, life);
    others *seen = calloc(1, sizeof *seen);
    seen->self = self;
    while (cluster_open(url, &s, &err) != PONS_OK) {
        usleep(1000);
    }
    s.ops->lanes(s.self, &l);
    int64_t beat = 0;
    const pons_session_claim how = {.runner = self};
    for (;;) {
        if (now_ms() - beat >= BEAT_MS) {
            beat = now_ms();
            l.ops->beat(l.self, self, &err);
            seen->gone[0] = '\0';
            l.ops->runners(l.self, see, seen, &err);
            if (seen->gone[0]) {
                l.ops->reclaim(l.self, seen->gone, seen->gone_beats, self, take, o, &err);
            }
        }
        const bool some = l.ops->claim(l.self, &how, take, o, &err) == PONS_OK;
        bool any = some;
        for (int i = 0; i < LANES; i++) {
            any = any || o->at[i].there;
            if (o->at[i].there) {
                end_one(l, self, o, &o->at[i]);
            }
        }
        if (!any) {
            usleep(2000);
        }
    }
}

static pid_t start(int number, int life)
{
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        run(number, life);
        _exit(0);
    }
    return pid;
}

static void fill(void)
{
    static char ids[BATCH][16], lanes[BATCH][16];
    static pons_session_row rows[BATCH];
    pons_store s;
    pons_lanes l;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(cluster_open(url, &s, &err), PONS_OK);
    s.ops->lanes(s.self, &l);
    for (int i = 0; i < sessions;) {
        int k = 0;
        for (; k < BATCH && i < sessions; k++, i++) {
            snprintf(ids[k], sizeof ids[k], "s%d", i);
            snprintf(lanes[k], sizeof lanes[k], "l%d", i % LANES);
            rows[k] = (pons_session_row){.id = ids[k],
                                         .lane = lanes[k],
                                         .priority = i % 3,
                                         .order_ms = i,
                                         .data = {"{}", 2}};
        }
        assert_int_equal(l.ops->enqueue(l.self, rows, (size_t)k, &err), PONS_OK);
    }
    pons_store_close(&s);
}

static int count(void *user, const pons_session_row *row)
{
    (void)row;
    ++*(int *)user;
    return 0;
}

// Sessions that have not ended, by the store itself: who is killed tells nobody what it has just ended.
static int left(void)
{
    pons_store s;
    pons_lanes l;
    pons_error err = PONS_ERROR_INIT;
    int n = 0;
    const pons_session_find find = {.states = (1u << PONS_SESSION_SUCCEEDED) - 1};
    assert_int_equal(cluster_open(url, &s, &err), PONS_OK);
    s.ops->lanes(s.self, &l);
    assert_int_equal(l.ops->list(l.self, &find, count, &n, &err), PONS_OK);
    pons_store_close(&s);
    return n;
}

static void restart_until_done(const char *where, int n)
{
    pid_t pid[RUNNERS];
    unsigned seed = 20261123;
    int lives = 0, kills = 0, stops = 0;
    memset(shared, 0, sizeof *shared);
    sessions = n;
    work_us = getenv("PONS_LANES_WORK_US") ? (useconds_t)atoi(getenv("PONS_LANES_WORK_US")) : 0;
    url = where;
    fill();
    for (int i = 0; i < RUNNERS; i++) {
        pid[i] = start(i, lives++);
    }
    while (left() > 0) {
        usleep(100000 + (useconds_t)(rand_r(&seed) % 400000));
        const int i = rand_r(&seed) % RUNNERS;
        if (rand_r(&seed) % 4 == 0) { // past its lease: it wakes up among others' claims
            kill(pid[i], SIGSTOP);
            usleep(LEASE_MS * 2000);
            kill(pid[i], SIGCONT);
            stops++;
            continue;
        }
        kill(pid[i], SIGKILL);
        waitpid(pid[i], NULL, 0);
        pid[i] = start(i, lives++);
        kills++;
    }
    for (int i = 0; i < RUNNERS; i++) {
        kill(pid[i], SIGKILL);
        waitpid(pid[i], NULL, 0);
    }
    for (int i = 0; i < sessions; i++) {
        assert_true(shared->ended[i] <= 1);
    }
    print_message("%d sessions, %d kills, %d stops, %d stale claims refused, %d double owners\n",
                  sessions, kills, stops, (int)shared->stale, (int)shared->twice);
    assert_int_equal(shared->twice, 0);
}

static void on_a_file(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-lanes-XXXXXX", path[64], command[96];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/pons.db", dir);
    restart_until_done(path, (int)rounds(ROUNDS_store_sessions));
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

static void on_postgres(void **state)
{
    (void)state;
    if (!cluster_share()) {
        skip();
    }
    restart_until_done(cluster_empty(""), (int)rounds(ROUNDS_store_sessions));
    cluster_stop();
}

int main(void)
{
    unsynced();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_file),
        cmocka_unit_test(on_postgres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
