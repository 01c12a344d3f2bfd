// test_postgres_process.c - what only a shared server can show: leases that end in time, holders
// that wake up late, a server that fails under a run, notices, versions of the schema.
//
// Holders are forked children that report through pipes. Where a lease has to end, or a server to
// come back, the test asks again until it has, so nothing depends on how fast this machine is.
// Skipped where there is no server.

#include "cluster.h"
#include "conformance.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ASK_TRIES = 3000, ASK_MS = 20 };

static char url[256];

// ---- fixture ------------------------------------------------------------------------------------

static void ok_at(int rc, const pons_error *err, int line)
{
    char text[1024];
    if (rc) {
        fail_msg("line %d: %s: %s", line, pons_status_word(rc),
                 pons_error_line(err, text, sizeof text));
    }
}
#define OK(call)                                                                                   \
    do {                                                                                           \
        pons_error err = PONS_ERROR_INIT;                                                          \
        ok_at((call), &err, __LINE__);                                                             \
    } while (0)

static void empty(const char *suffix)
{
    snprintf(url, sizeof url, "%s", cluster_empty(suffix));
}

static pons_store open_store(void)
{
    pons_store s = {0};
    OK(cluster_open(url, &s, &err));
    return s;
}

static pons_lease hold(pons_store s, const char *thread)
{
    pons_lease lease = {0};
    OK(s.ops->lease_acquire(s.self, thread, &lease, &err));
    return lease;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = ASK_MS * 1000000L}, NULL);
}

// Takes a thread as soon as its lease is over.
static pons_lease hold_when_over(pons_store s, const char *thread)
{
    pons_lease lease = {0};
    int rc = PONS_EBUSY;
    for (int i = 0; i < ASK_TRIES && rc == PONS_EBUSY; i++) {
        rc = s.ops->lease_acquire(s.self, thread, &lease, NULL);
        if (rc == PONS_EBUSY) {
            nap();
        }
    }
    assert_int_equal(rc, PONS_OK);
    return lease;
}

// Step i of thread t: a checkpoint after that of i - 1, and an event.
static int step(pons_store s, const pons_lease *lease, int i, pons_sync sync, pons_error *err)
{
    pons_checkpoint_row row = {.step = i, .snapshot = i % 20 == 0, .data = {"some data", 9}};
    snprintf(row.id, sizeof row.id, "c%05d", i);
    if (i) {
        snprintf(row.parent, sizeof row.parent, "c%05d", i - 1);
    }
    pons_event_row e = {.ns = "n", .ts_ms = i, .type = "tick", .payload = {"{}", 2}};
    pons_commit c = {.lease = lease,
                     .ns = "n",
                     .sync = sync,
                     .checkpoints = &row,
                     .n_checkpoints = 1,
                     .events = &e,
                     .n_events = 1};
    return s.ops->commit(s.self, &c, err);
}

static int follow(void *user, const pons_checkpoint_row *row)
{
    int64_t *rows = user;
    if (rows[0]++ && row->step != rows[1] + 1) {
        rows[2]++;
    }
    rows[1] = row->step;
    return 0;
}

// The step of the head, -1 without one, -2 when it can't be read; its chain must be whole.
static int64_t try_head(pons_store s, const char *thread)
{
    int64_t rows[3] = {0, -1, 0};
    int rc = s.ops->head(s.self, thread, "n", follow, rows, NULL);
    if (rc == PONS_ENOTFOUND) {
        return -1;
    }
    return rc || rows[2] || rows[0] != rows[1] % 20 + 1 ? -2 : rows[1];
}

static int64_t head_step(pons_store s, const char *thread)
{
    int64_t seq = 0, head = try_head(s, thread);
    assert_true(head > -2);
    OK(s.ops->event_last(s.self, thread, &seq, &err));
    assert_int_equal(seq, head + 1);
    return head;
}

// ---- children -----------------------------------------------------------------------------------

typedef struct child {
    pid_t pid;
    int from, to;
} child;

static child start(int (*body)(int report, int orders))
{
    int up[2], down[2];
    assert_int_equal(pipe2(up, O_CLOEXEC), 0);
    assert_int_equal(pipe2(down, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(up[0]);
        close(down[1]);
        _exit(body(up[1], down[0]));
    }
    close(up[1]);
    close(down[0]);
    return (child){.pid = pid, .from = up[0], .to = down[1]};
}

static int hear(int fd) // the next int, -1000 at the end
{
    int value;
    return read(fd, &value, sizeof value) == sizeof value ? value : -1000;
}

static void tell(int fd, int value)
{
    if (write(fd, &value, sizeof value) != sizeof value) {
        _exit(99);
    }
}

static int end(const child *c) // its exit status; 1000 + signal
{
    int status;
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    close(c->from);
    close(c->to);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void stop(const child *c)
{
    int status;
    kill(c->pid, SIGSTOP);
    assert_int_equal(waitpid(c->pid, &status, WUNTRACED), c->pid);
    assert_true(WIFSTOPPED(status));
}

// ---- leases -------------------------------------------------------------------------------------

// Holds t1, and tries everything that writes when it is told to.
static int hold_and_try(int report, int orders)
{
    pons_store s;
    pons_lease lease;
    if (cluster_open(url, &s, NULL) || s.ops->lease_acquire(s.self, "t1", &lease, NULL) ||
        step(s, &lease, 0, PONS_SYNC_FULL, NULL)) {
        return 1;
    }
    tell(report, 1);
    hear(orders);
    tell(report, step(s, &lease, 1, PONS_SYNC_NORMAL, NULL));
    pons_event_row e = {.ns = "n", .type = "late", .payload = {"{}", 2}};
    pons_commit c = {.lease = &lease, .events = &e, .n_events = 1};
    int rc = s.ops->commit_async(s.self, &c, NULL);
    tell(report, rc ? rc : s.ops->drain(s.self, NULL));
    pons_prune what = {.lease = &lease, .keep_last = 1, .events_since_ms = INT64_MAX};
    tell(report, s.ops->prune(s.self, "t1", &what, NULL, NULL));
    s.ops->lease_release(s.self, &lease); // takes nothing from the second
    pons_store_close(&s);
    return 0;
}

static void test_stopped_past_its_lease(void **state)
{
    (void)state;
    empty("#lease_ms=1500");
    child c = start(hold_and_try);
    assert_int_equal(hear(c.from), 1);
    pons_store s = open_store();
    pons_error why = PONS_ERROR_INIT;
    pons_lease lease = {0};
    char expected[64];
    snprintf(expected, sizeof expected, "thread t1 is held by pid %d on ", (int)c.pid);
    assert_int_equal(s.ops->lease_acquire(s.self, "t1", &lease, &why), PONS_EBUSY);
    assert_non_null(strstr(why.message, expected));
    assert_int_equal(s.ops->thread_delete(s.self, "t1", &why), PONS_EBUSY);
    pons_lease seen;
    OK(s.ops->lease_peek(s.self, "t1", &seen, &err));
    assert_int_equal(seen.pid, c.pid);

    stop(&c);
    lease = hold_when_over(s, "t1");
    assert_true(lease.epoch > seen.epoch);
    OK(step(s, &lease, 1, PONS_SYNC_NORMAL, &err));
    char *before = store_text(s, "t1");
    kill(c.pid, SIGCONT);
    tell(c.to, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hear(c.from), PONS_ESTALE);
    }
    assert_int_equal(end(&c), 0);
    char *after = store_text(s, "t1");
    assert_string_equal(before, after);
    free(before);
    free(after);
    OK(step(s, &lease, 2, PONS_SYNC_NORMAL, &err));
    assert_int_equal(head_step(s, "t1"), 2);
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
}

// The keeper renews: a holder that does nothing for many times its lease keeps it.
static void test_idle_holder_keeps_it(void **state)
{
    (void)state;
    empty("#lease_ms=2000");
    pons_store a = open_store(), b = open_store();
    pons_lease lease = hold(a, "t1"), other;
    for (int i = 0; i < 220; i++) { // more than two leases
        nap();
        assert_int_equal(b.ops->lease_acquire(b.self, "t1", &other, NULL), PONS_EBUSY);
    }
    OK(step(a, &lease, 0, PONS_SYNC_NORMAL, &err));
    a.ops->lease_release(a.self, &lease);
    lease = hold(b, "t1"); // at once
    b.ops->lease_release(b.self, &lease);
    // A store that is closed lets go as well.
    lease = hold(a, "t2");
    pons_store_close(&a);
    lease = hold(b, "t2");
    b.ops->lease_release(b.self, &lease);
    pons_store_close(&b);
}

static int commit_for_ever(int report, int orders)
{
    (void)orders;
    pons_store s;
    if (cluster_open(url, &s, NULL)) {
        return 1;
    }
    pons_lease lease = hold_when_over(s, "t1");
    for (int i = (int)try_head(s, "t1") + 1;; i++) {
        if (step(s, &lease, i, i % 7 == 0 ? PONS_SYNC_FULL : PONS_SYNC_NORMAL, NULL)) {
            return 2;
        }
        tell(report, i);
    }
}

static void test_killed_while_committing(void **state)
{
    (void)state;
    const uint64_t seed = 20240607;
    print_message("seed %" PRIu64 "\n", seed);
    pons_rand rand;
    pons_rand_seed(&rand, seed);
    empty("#lease_ms=300");
    int last = -1;
    for (int round = 0; round < rounds(ROUNDS_store_kills); round++) {
        child c = start(commit_for_ever);
        int wanted = 1 + (int)pons_rand_below(&rand, 60), received;
        for (int i = 0; i < wanted && (received = hear(c.from)) >= 0; i++) {
            last = received;
        }
        kill(c.pid, SIGKILL);
        while ((received = hear(c.from)) >= 0) {
            last = received;
        }
        assert_int_equal(end(&c), 1000 + SIGKILL);
        pons_store s = open_store();
        pons_lease lease = hold_when_over(s, "t1");
        int64_t head = head_step(s, "t1");
        assert_in_range(head, last, last + 1); // the one in flight may have made it
        OK(step(s, &lease, (int)head + 1, PONS_SYNC_NORMAL, &err));
        last = (int)head + 1;
        s.ops->lease_release(s.self, &lease);
        pons_store_close(&s);
    }
}

enum { PROCESSES = 3, PROCESS_STEPS = 60 };

static int work(int report, int orders)
{
    (void)report;
    (void)orders;
    char thread[16];
    snprintf(thread, sizeof thread, "p%d", (int)getpid());
    pons_store s;
    pons_lease lease;
    if (cluster_open(url, &s, NULL) || s.ops->lease_acquire(s.self, thread, &lease, NULL)) {
        return 1;
    }
    for (int i = 0; i < PROCESS_STEPS; i++) {
        pons_inbox_row mail = {.ns = "n", .kind = "k", .value = {"v", 1}};
        if (step(s, &lease, i, i % 40 == 0 ? PONS_SYNC_FULL : PONS_SYNC_NORMAL, NULL)) {
            return 2;
        }
        if (s.ops->inbox_post(s.self, "shared", &mail, NULL, NULL)) {
            return 3;
        }
        if (try_head(s, thread) != i) {
            return 4;
        }
    }
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
    return 0;
}

static int mail_in_order(void *user, const pons_inbox_row *row)
{
    int64_t *n = user;
    assert_int_equal(row->seq, ++*n);
    return 0;
}

// All make the schema at once, then all write.
static void test_many_processes(void **state)
{
    (void)state;
    empty("");
    child c[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        c[i] = start(work);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(end(&c[i]), 0);
    }
    pons_store s = open_store();
    int64_t n = 0;
    OK(s.ops->inbox_read(s.self, "shared", "n", 0, mail_in_order, &n, &err));
    assert_int_equal(n, PROCESSES * PROCESS_STEPS);
    pons_store_close(&s);
}

// ---- the server ---------------------------------------------------------------------------------

typedef struct runner {
    pons_store s;
    char thread[8];
    pons_lease lease;
    atomic_int done; // the last step that was told to be on the disk
    atomic_bool stop;
    atomic_int errors;
    int wrong;
} runner;

// Steps that are synced; after an error, the head says where it is.
static void *run_on(void *arg)
{
    runner *r = arg;
    for (int i = 0; !r->stop;) {
        int rc = step(r->s, &r->lease, i, PONS_SYNC_FULL, NULL);
        if (rc == PONS_OK) {
            r->done = i++;
            continue;
        }
        r->errors++;
        r->wrong += rc != PONS_EIO && rc != PONS_EENV;
        int64_t head;
        while ((head = try_head(r->s, r->thread)) == -2 && !r->stop) {
            nap();
        }
        r->wrong += head < r->done;
        i = (int)head + 1;
    }
    return NULL;
}

static void await_step(const runner *r, int step_wanted)
{
    for (int i = 0; i < ASK_TRIES && r->done < step_wanted; i++) {
        nap();
    }
    assert_true(r->done >= step_wanted);
}

enum { RUNNERS = 3 };

// The server fails under runs that share a store, and comes back: errors, and then they go on, with
// what was synced, and nothing twice.
static void test_server_restarted(void **state)
{
    (void)state;
    empty("#lease_ms=60000");
    pons_store s = open_store();
    runner r[RUNNERS];
    pthread_t threads[RUNNERS];
    for (int i = 0; i < RUNNERS; i++) {
        r[i] = (runner){.s = s, .done = -1};
        snprintf(r[i].thread, sizeof r[i].thread, "t%d", i);
        r[i].lease = hold(s, r[i].thread);
        assert_int_equal(pthread_create(&threads[i], NULL, run_on, &r[i]), 0);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < RUNNERS; i++) {
            await_step(&r[i], r[i].done + 20);
        }
        if (round < 2) {
            cluster_restart();
        }
    }
    for (int i = 0; i < RUNNERS; i++) {
        r[i].stop = true;
    }
    for (int i = 0; i < RUNNERS; i++) {
        pthread_join(threads[i], NULL);
        print_message("%d steps, %d errors\n", r[i].done + 1, r[i].errors);
        assert_int_equal(r[i].wrong, 0);
        assert_int_equal(head_step(s, r[i].thread), r[i].done);
    }
    // Readers find their way again, too, and the pipeline.
    pons_event_row e = {.ns = "n", .ts_ms = 1, .type = "tick", .payload = {"{}", 2}};
    pons_commit c = {.lease = &r[0].lease, .events = &e, .n_events = 1};
    cluster_restart();
    OK(s.ops->commit_async(s.self, &c, &err));
    OK(s.ops->drain(s.self, &err)); // nothing was under way: it was not even noticed
    int64_t seq;
    OK(s.ops->event_last(s.self, "t0", &seq, &err));
    assert_int_equal(seq, r[0].done + 2);
    for (int i = 0; i < RUNNERS; i++) {
        s.ops->lease_release(s.self, &r[i].lease);
    }
    pons_store_close(&s);
}

// ---- notices ------------------------------------------------------------------------------------

static void await_notice(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&look, 1, ASK_TRIES * ASK_MS), 1);
    uint64_t count;
    assert_int_equal(read(fd, &count, sizeof count), sizeof count);
}

static void test_notices(void **state)
{
    (void)state;
    empty("");
    pons_store a = open_store(), b = open_store();
    int fd = a.ops->notify_fd(a.self);
    assert_true(fd >= 0);
    await_notice(fd); // it listens from now on
    pons_inbox_row mail = {.ns = "n", .kind = "say", .value = {"hello", 5}};
    OK(b.ops->inbox_post(b.self, "t1", &mail, NULL, &err));
    await_notice(fd);
    pons_lease lease = hold(b, "t2");
    OK(step(b, &lease, 0, PONS_SYNC_NORMAL, &err));
    await_notice(fd);
    // After a restart it listens again, and says that something may have been missed.
    cluster_restart();
    await_notice(fd);
    OK(b.ops->inbox_post(b.self, "t1", &mail, NULL, &err));
    await_notice(fd);
    b.ops->lease_release(b.self, &lease);
    pons_store_close(&a);
    pons_store_close(&b);
}

// ---- versions, twins ----------------------------------------------------------------------------

static void refuses(const char *where, int status, const char *part)
{
    pons_store s = {0};
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(cluster_open(where, &s, &err), status);
    assert_null(s.ops);
    char line[1024];
    pons_error_line(&err, line, sizeof line);
    if (!strstr(line, part) || strchr(line, '\n')) {
        fail_msg("'%s' is missing in: %s", part, line);
    }
}

static void test_schemas(void **state)
{
    (void)state;
    empty("");
    pons_store s = open_store();
    pons_store_close(&s);
    cluster_sql("UPDATE pons.meta SET value=6 WHERE key='version'");
    refuses(url, PONS_EUNSUPPORTED, "the store has schema 6, from before the first release");
    cluster_sql("UPDATE pons.meta SET value=4711 WHERE key='version'");
    refuses(url, PONS_EUNSUPPORTED, "4711");
    refuses("postgresql:///postgres?host=/nowhere", PONS_EENV, "/nowhere");
    refuses("postgresql:///postgres#lease_ms=1", PONS_EINVAL, "lease_ms");
}

static void test_twins(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)rounds(ROUNDS_store_twins); seed++) {
        empty("");
        pons_store memory, s = open_store();
        OK(pons_store_memory_open(&memory, &err));
        store_twins(memory, s, seed, 400);
        pons_store_close(&memory);
        pons_store_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopped_past_its_lease),
        cmocka_unit_test(test_idle_holder_keeps_it),
        cmocka_unit_test(test_killed_while_committing),
        cmocka_unit_test(test_many_processes),
        cmocka_unit_test(test_server_restarted),
        cmocka_unit_test(test_notices),
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_twins),
    };
    if (!cluster_start()) {
        return 0;
    }
    int failed = cmocka_run_group_tests_name("postgres", tests, NULL, NULL);
    cluster_stop();
    return failed;
}
