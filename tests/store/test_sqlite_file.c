// test_sqlite_file.c - what only a store in a file can show: it survives the death of its process
// at any moment, is shared by processes, refuses what it must not touch, and says in one line why.
//
// Holders and writers are forked children that report through pipes, so nothing here waits for a
// clock. Disk faults come from a layer put under SQLite (a default VFS) that fails a chosen write.

#include "conformance.h"
#include "graph/unsynced.h"
#include "pons/random.h"
#include "pons/store.h"
#include "rounds.h"
#include "unit.h"

#include <sqlite3.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct place {
    char dir[64];
    char path[128];
} place;

// ---- fixture ------------------------------------------------------------------------------------

static int make_place(void **state)
{
    place *p = calloc(1, sizeof *p);
    if (!p) {
        return -1;
    }
    snprintf(p->dir, sizeof p->dir, "/tmp/pons-store-XXXXXX");
    if (!mkdtemp(p->dir)) {
        return -1;
    }
    snprintf(p->path, sizeof p->path, "%s/pons.db", p->dir);
    *state = p;
    return 0;
}

static int drop_place(void **state)
{
    place *p = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", p->dir);
    int rc = system(command);
    free(p);
    return rc;
}

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

static pons_store open_store(const place *p)
{
    pons_store s = {0};
    OK(pons_store_sqlite_open(p->path, &s, &err));
    return s;
}

static pons_lease hold(pons_store s, const char *thread)
{
    pons_lease lease = {0};
    OK(s.ops->lease_acquire(s.self, thread, &lease, &err));
    return lease;
}

static void sql(const place *p, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static int number(const place *p, const char *query)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int value = sqlite3_column_int(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return value;
}

static int64_t size_of(const char *path, const char *suffix)
{
    char full[160];
    snprintf(full, sizeof full, "%s%s", path, suffix);
    struct stat st;
    return stat(full, &st) == 0 ? (int64_t)st.st_size : -1;
}

// Opening fails with this status and one line that has `part` in it.
static void refuses(const char *path, int status, const char *part)
{
    pons_store s = {0};
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_store_sqlite_open(path, &s, &err), status);
    assert_null(s.ops);
    char line[1024];
    pons_error_line(&err, line, sizeof line);
    if (!strstr(line, part) || strchr(line, '\n')) {
        fail_msg("'%s' is missing in: %s", part, line);
    }
}

static bool with_items; // each step also puts the item `step`, whose words change

// Steps "c00000", "c00001", … of thread t; each a commit with one event. Returns a status.
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
    char value[32];
    snprintf(value, sizeof value, "{\"step\":%d}", i);
    const pons_item_write item = {.what = PONS_ITEM_PUT,
                                  .row = {.ns = "n",
                                          .key = "step",
                                          .value = {value, strlen(value)},
                                          .words = i % 2 ? "odd" : "even"}};
    c.items = &item;
    c.n_items = with_items;
    return s.ops->commit(s.self, &c, err);
}

static int step_of_item(void *user, const pons_item_row *row)
{
    *(int64_t *)user = atoi((const char *)row->value.data + strlen("{\"step\":"));
    return 0;
}

// The step that the item tells, found by its words alone; -1: there is none.
static int64_t item_step(pons_store s)
{
    int64_t steps[2] = {-1, -1};
    for (int odd = 0; odd < 2; odd++) {
        const pons_item_find find = {.words = odd ? "odd" : "even"};
        OK(s.ops->items(s.self, &find, step_of_item, &steps[odd], &err));
        assert_true(steps[odd] < 0 || steps[odd] % 2 == odd);
    }
    assert_true(steps[0] < 0 || steps[1] < 0);
    return steps[0] < 0 ? steps[1] : steps[0];
}

// rows[0]: how many; rows[1]: the last one's step; rows[2]: how many did not follow their parent.
static int follow(void *user, const pons_checkpoint_row *row)
{
    int64_t *rows = user;
    if (rows[0]++ && row->step != rows[1] + 1) {
        rows[2]++;
    }
    rows[1] = row->step;
    return 0;
}

// The step of the head, -1 without one; its chain must be whole and its events there.
static int64_t head_step(pons_store s, const char *thread)
{
    int64_t rows[3] = {0, -1, 0}, seq = 0;
    pons_error why = PONS_ERROR_INIT;
    int rc = s.ops->head(s.self, thread, "n", follow, rows, &why);
    if (rc == PONS_ENOTFOUND) {
        return -1;
    }
    ok_at(rc, &why, __LINE__);
    assert_int_equal(rows[2], 0);
    assert_int_equal(rows[0], rows[1] % 20 + 1);
    OK(s.ops->event_last(s.self, thread, &seq, &err));
    assert_int_equal(seq, rows[1] + 1);
    return rows[1];
}

// ---- children -----------------------------------------------------------------------------------

typedef struct child {
    pid_t pid;
    int from; // reads what it reports
} child;

// Runs body(p, report) in a child, which ends with its return value.
static child start(const place *p, int (*body)(const place *p, int report))
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        _exit(body(p, ends[1]));
    }
    close(ends[1]);
    return (child){.pid = pid, .from = ends[0]};
}

static int hear(child *c) // the next int that it reports, -1 at its end
{
    int value;
    return read(c->from, &value, sizeof value) == sizeof value ? value : -1;
}

static void tell(int report, int value)
{
    if (write(report, &value, sizeof value) != sizeof value) {
        _exit(99);
    }
}

static int end(child *c) // its exit status; 1000 + signal
{
    int status;
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    close(c->from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Takes the thread and reports, then waits for ever.
static int hold_for_ever(const place *p, int report)
{
    pons_store s;
    pons_lease lease;
    if (pons_store_sqlite_open(p->path, &s, NULL) ||
        s.ops->lease_acquire(s.self, "t1", &lease, NULL)) {
        return 1;
    }
    tell(report, 1);
    for (;;) {
        pause();
    }
}

// Commits step after step and reports each one that was done.
static int commit_for_ever(const place *p, int report)
{
    pons_store s;
    pons_lease lease;
    if (pons_store_sqlite_open(p->path, &s, NULL) ||
        s.ops->lease_acquire(s.self, "t1", &lease, NULL)) {
        return 1;
    }
    for (int i = (int)head_step(s, "t1") + 1;; i++) {
        if (step(s, &lease, i, i % 7 == 0 ? PONS_SYNC_FULL : PONS_SYNC_NORMAL, NULL)) {
            return 2;
        }
        tell(report, i);
    }
}

// ---- death --------------------------------------------------------------------------------------

// Killed at any moment, nothing that was told to be done is lost, nothing is half there, and the
// next one takes the thread at once.
static void test_killed_while_committing(void **state)
{
    const place *p = *state;
    const uint64_t seed = 20240607;
    print_message("seed %" PRIu64 "\n", seed);
    pons_rand rand;
    pons_rand_seed(&rand, seed);
    int last = -1;
    for (int round = 0; round < 4 * rounds(ROUNDS_store_kills); round++) {
        child c = start(p, commit_for_ever);
        int wanted = 1 + (int)pons_rand_below(&rand, 60), received;
        for (int i = 0; i < wanted && (received = hear(&c)) >= 0; i++) {
            last = received;
        }
        kill(c.pid, SIGKILL);
        while ((received = hear(&c)) >= 0) {
            last = received;
        }
        assert_int_equal(end(&c), 1000 + SIGKILL);

        pons_store s = open_store(p);
        pons_lease lease = hold(s, "t1");
        int64_t head = head_step(s, "t1");
        assert_in_range(head, last, last + 1); // the one in flight may have made it
        OK(step(s, &lease, (int)head + 1, PONS_SYNC_NORMAL, &err));
        last = (int)head + 1;
        s.ops->lease_release(s.self, &lease);
        pons_store_close(&s);
    }
}

static int exit_in_pipeline(const place *p, int report)
{
    (void)report;
    pons_store s;
    pons_lease lease;
    if (pons_store_sqlite_open(p->path, &s, NULL) ||
        s.ops->lease_acquire(s.self, "t1", &lease, NULL)) {
        return 1;
    }
    for (int i = 0; i < 500; i++) {
        pons_event_row e = {.ns = "n", .ts_ms = i, .type = "tick", .payload = {"{}", 2}};
        pons_commit c = {.lease = &lease, .events = &e, .n_events = 1};
        if (s.ops->commit_async(s.self, &c, NULL)) {
            return 2;
        }
        if (i == 250 && s.ops->drain(s.self, NULL)) {
            return 3;
        }
    }
    return 0; // _exit: nothing is drained
}

static int check_order(void *user, const pons_event_row *row)
{
    int64_t *n = user;
    assert_int_equal(row->seq, *n + 1);
    assert_int_equal(row->ts_ms, *n);
    ++*n;
    return 0;
}

// What the pipeline had not written is lost, but only from the end.
static void test_exit_with_a_full_pipeline(void **state)
{
    const place *p = *state;
    child c = start(p, exit_in_pipeline);
    assert_int_equal(end(&c), 0);
    pons_store s = open_store(p);
    int64_t n = 0;
    OK(s.ops->events(s.self, "t1", 0, 0, check_order, &n, &err));
    assert_in_range(n, 251, 500);
    pons_store_close(&s);
}

// ---- leases between processes -------------------------------------------------------------------

static void test_holder(void **state)
{
    const place *p = *state;
    child c = start(p, hold_for_ever);
    assert_int_equal(hear(&c), 1);
    pons_store s = open_store(p);
    pons_lease lease = {0};
    char expected[64];
    snprintf(expected, sizeof expected, "thread t1 is held by pid %d on ", (int)c.pid);

    // Running or stopped, it keeps the thread, and is named.
    for (int i = 0; i < 2; i++) {
        pons_error why = PONS_ERROR_INIT;
        assert_int_equal(s.ops->lease_acquire(s.self, "t1", &lease, &why), PONS_EBUSY);
        assert_non_null(strstr(why.message, expected));
        assert_int_equal(s.ops->thread_delete(s.self, "t1", &why), PONS_EBUSY);
        assert_non_null(strstr(why.message, expected));
        pons_lease seen;
        OK(s.ops->lease_peek(s.self, "t1", &seen, &err));
        assert_int_equal(seen.pid, c.pid);
        assert_true(seen.epoch > 0);
        if (i == 0) {
            int status;
            kill(c.pid, SIGSTOP);
            assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
            assert_true(WIFSTOPPED(status));
        }
    }
    // Killed, it loses it at once.
    kill(c.pid, SIGKILL);
    assert_int_equal(end(&c), 1000 + SIGKILL);
    lease = hold(s, "t1");
    OK(step(s, &lease, 0, PONS_SYNC_NORMAL, &err));
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
}

// A program that the holder starts does not keep the thread when the holder is gone.
static int hold_and_spawn(const place *p, int report)
{
    pons_store s;
    pons_lease lease;
    if (pons_store_sqlite_open(p->path, &s, NULL) ||
        s.ops->lease_acquire(s.self, "t1", &lease, NULL)) {
        return 1;
    }
    // It speaks when it runs: spawn may return before the exec has closed what it must close.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        return 2;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t pid;
    char name[] = "sh", flag[] = "-c", script[] = "echo; exec sleep 600 >/dev/null";
    char *argv[] = {name, flag, script, NULL}, *env[] = {NULL};
    char word;
    if (posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, env) || read(ends[0], &word, 1) != 1) {
        return 3;
    }
    tell(report, (int)pid);
    for (;;) {
        pause();
    }
}

// One that is about to be another program has the holder's lock until then, and is slow here.
static int hold_and_fork(const place *p, int report)
{
    pons_store s;
    pons_lease lease;
    if (pons_store_sqlite_open(p->path, &s, NULL) ||
        s.ops->lease_acquire(s.self, "t1", &lease, NULL)) {
        return 1;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        poll(NULL, 0, 300);
        _exit(0);
    }
    tell(report, (int)pid);
    for (;;) {
        pause();
    }
}

static void test_left_to_a_child(void **state)
{
    const place *p = *state;
    child c = start(p, hold_and_fork);
    assert_true(hear(&c) > 0);
    kill(c.pid, SIGKILL);
    assert_int_equal(end(&c), 1000 + SIGKILL);
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
}

static void test_lock_is_not_inherited(void **state)
{
    const place *p = *state;
    child c = start(p, hold_and_spawn);
    int sleeper = hear(&c);
    assert_true(sleeper > 0);
    kill(c.pid, SIGKILL);
    assert_int_equal(end(&c), 1000 + SIGKILL);
    assert_int_equal(kill(sleeper, 0), 0); // it lives
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    kill(sleeper, SIGKILL);
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
}

// Whoever loses the lock without knowing (here: somebody deletes the lock file) is fenced by the
// epoch, and nothing of its commit is applied.
static void test_fenced_by_epoch(void **state)
{
    const place *p = *state;
    pons_store a = open_store(p), b = open_store(p);
    pons_lease first = hold(a, "t1");
    OK(step(a, &first, 0, PONS_SYNC_NORMAL, &err));
    char lock[192];
    snprintf(lock, sizeof lock, "%s-locks/t1.lock", p->path);
    assert_int_equal(unlink(lock), 0);
    pons_lease second = hold(b, "t1");
    assert_true(second.epoch > first.epoch);
    OK(step(b, &second, 1, PONS_SYNC_NORMAL, &err));
    pons_error why = PONS_ERROR_INIT;
    assert_int_equal(step(a, &first, 1, PONS_SYNC_NORMAL, &why), PONS_ESTALE);
    pons_event_row e = {.ns = "n", .type = "tick", .payload = {"{}", 2}};
    pons_commit c = {.lease = &first, .events = &e, .n_events = 1};
    int rc = a.ops->commit_async(a.self, &c, &why);
    assert_int_equal(rc ? rc : a.ops->drain(a.self, &why), PONS_ESTALE);
    assert_int_equal(head_step(a, "t1"), 1);
    OK(step(b, &second, 2, PONS_SYNC_NORMAL, &err));
    a.ops->lease_release(a.self, &first);
    b.ops->lease_release(b.self, &second);
    pons_store_close(&a);
    pons_store_close(&b);
}

// ---- many processes -----------------------------------------------------------------------------

enum { PROCESSES = 4, PROCESS_STEPS = 80 };

static int work(const place *p, int report)
{
    (void)report;
    char thread[16];
    snprintf(thread, sizeof thread, "p%d", (int)getpid());
    pons_store s;
    pons_lease lease;
    if (pons_store_sqlite_open(p->path, &s, NULL) ||
        s.ops->lease_acquire(s.self, thread, &lease, NULL)) {
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
        if (head_step(s, thread) != i) {
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

// All make the file at once, then all write; nobody is told that the database is locked.
static void test_many_processes(void **state)
{
    const place *p = *state;
    child c[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        c[i] = start(p, work);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(end(&c[i]), 0);
    }
    pons_store s = open_store(p);
    int64_t n = 0;
    OK(s.ops->inbox_read(s.self, "shared", "n", 0, mail_in_order, &n, &err));
    assert_int_equal(n, PROCESSES * PROCESS_STEPS);
    for (int i = 0; i < PROCESSES; i++) {
        char thread[16];
        snprintf(thread, sizeof thread, "p%d", (int)c[i].pid);
        assert_int_equal(head_step(s, thread), PROCESS_STEPS - 1);
    }
    pons_store_close(&s);
}

// Ten thousand threads in one file (before a release; else fewer), 64 at work at once in two processes: each takes its turn, none
// is told that the database is locked.
enum { CROWD_PROCESSES = 2, CROWD_AT_ONCE = 32, CROWD_TURNS_MAX = 157, CROWD_STEPS = 3 };

typedef struct member {
    pons_store s;
    int number, failures;
    double slowest_ms[CROWD_TURNS_MAX * CROWD_STEPS];
} member;

static int crowd_turns(void)
{
    const long n = rounds(ROUNDS_store_turns);
    return n < CROWD_TURNS_MAX ? (int)n : CROWD_TURNS_MAX;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *take_turns(void *arg)
{
    member *m = arg;
    for (int i = 0; i < crowd_turns(); i++) {
        char thread[32];
        snprintf(thread, sizeof thread, "%d-%d-%d", (int)getpid(), m->number, i);
        pons_lease lease;
        if (m->s.ops->lease_acquire(m->s.self, thread, &lease, NULL)) {
            m->failures++;
            continue;
        }
        for (int j = 0; j < CROWD_STEPS; j++) {
            double before = now_ms();
            m->failures += step(m->s, &lease, j, PONS_SYNC_NORMAL, NULL) != PONS_OK;
            m->slowest_ms[i * CROWD_STEPS + j] = now_ms() - before;
        }
        m->s.ops->lease_release(m->s.self, &lease);
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int crowd(const place *p, int report)
{
    const int of_one = crowd_turns() * CROWD_STEPS, of_all = CROWD_AT_ONCE * of_one;
    member *members = calloc(CROWD_AT_ONCE, sizeof *members);
    double *all = calloc((size_t)of_all, sizeof *all);
    pthread_t threads[CROWD_AT_ONCE];
    pons_store s;
    int failures = 0;
    if (!members || !all || pons_store_sqlite_open(p->path, &s, NULL)) {
        return 1;
    }
    for (int i = 0; i < CROWD_AT_ONCE; i++) {
        members[i].s = s;
        members[i].number = i;
        if (pthread_create(&threads[i], NULL, take_turns, &members[i])) {
            return 2;
        }
    }
    for (int i = 0; i < CROWD_AT_ONCE; i++) {
        pthread_join(threads[i], NULL);
        failures += members[i].failures;
        memcpy(all + i * of_one, members[i].slowest_ms, (size_t)of_one * sizeof *all);
    }
    qsort(all, (size_t)of_all, sizeof *all, by_size);
    tell(report, failures);
    tell(report, (int)(all[of_all * 99 / 100] * 1000));
    pons_store_close(&s);
    free(members);
    free(all);
    return 0;
}

static int count_thread(void *user, const pons_thread_info *info)
{
    int *n = user;
    *n += info->checkpoints == CROWD_STEPS && info->events == CROWD_STEPS;
    return 0;
}

static void test_ten_thousand_threads(void **state)
{
    const place *p = *state;
    child c[CROWD_PROCESSES];
    for (int i = 0; i < CROWD_PROCESSES; i++) {
        c[i] = start(p, crowd);
    }
    for (int i = 0; i < CROWD_PROCESSES; i++) {
        assert_int_equal(hear(&c[i]), 0);
        print_message("p99 of a step: %d us\n", hear(&c[i]));
        assert_int_equal(end(&c[i]), 0);
    }
    pons_store s = open_store(p);
    int n = 0;
    OK(s.ops->threads(s.self, count_thread, &n, &err));
    assert_int_equal(n, CROWD_PROCESSES * CROWD_AT_ONCE * crowd_turns());
    pons_store_close(&s);
}

// Another process reads everything while a run is going on, and disturbs nobody.
static void test_reading_along(void **state)
{
    const place *p = *state;
    child c = start(p, commit_for_ever);
    assert_int_equal(hear(&c), 0);
    pons_store s = open_store(p);
    int64_t seen = -1;
    for (int i = 0; i < 200; i++) {
        int64_t rows[3] = {0, -1, 0};
        OK(s.ops->head(s.self, "t1", "n", follow, rows, &err));
        assert_int_equal(rows[2], 0);
        assert_true(rows[1] >= seen); // never backwards
        seen = rows[1];
        if (hear(&c) < 0) {
            fail_msg("the writer was disturbed");
        }
    }
    kill(c.pid, SIGKILL);
    assert_int_equal(end(&c), 1000 + SIGKILL);
    pons_store_close(&s);
}

// ---- what is in the file ------------------------------------------------------------------------

static void test_reopened(void **state)
{
    const place *p = *state;
    pons_store memory, s = open_store(p);
    OK(pons_store_memory_open(&memory, &err));
    store_twins(memory, s, 11, 400);
    char *before[4], *after;
    for (int i = 0; i < 4; i++) {
        char name[] = {'t', (char)('0' + i), '\0'};
        before[i] = store_text(s, name);
    }
    pons_store_close(&s);
    assert_int_equal(size_of(p->path, "-wal"), -1); // a closed store is one file
    s = open_store(p);
    for (int i = 0; i < 4; i++) {
        char name[] = {'t', (char)('0' + i), '\0'};
        after = store_text(s, name);
        assert_string_equal(before[i], after);
        free(after);
        free(before[i]);
    }
    pons_store_close(&s);
    pons_store_close(&memory);
}

// Seeded stories that the store in memory and the store in a file must tell alike.
static void test_twins(void **state)
{
    const place *p = *state;
    for (uint64_t seed = 1; seed <= (uint64_t)rounds(ROUNDS_store_twins); seed++) {
        pons_store memory, s = open_store(p);
        OK(pons_store_memory_open(&memory, &err));
        store_twins(memory, s, seed, 600);
        pons_store_close(&memory);
        pons_store_close(&s);
        char command[320];
        snprintf(command, sizeof command, "rm -rf '%s' '%s-locks'", p->path, p->path);
        assert_int_equal(system(command), 0);
    }
}

// A step costs its own bytes and little more.
static void test_size(void **state)
{
    const place *p = *state;
    enum { STEPS = 1000, DATA = 100 };
    char data[DATA + 1];
    memset(data, 'x', DATA);
    data[DATA] = '\0';
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    pons_clock_manual m = {.wall_epoch_ms = 1700000000000};
    pons_rand rand;
    pons_rand_seed(&rand, 3);
    pons_id_source source;
    pons_id_source_init(&source, pons_clock_from_manual(&m), &rand);
    char id[PONS_ID_MAX], parent[PONS_ID_MAX] = "";
    for (int i = 0; i < STEPS; i++) {
        m.now_ns += PONS_NS_PER_MS;
        pons_id_make(&source, id);
        OK(commit_one(s, &lease, "kernel", id, parent, i, false, data, &err));
        strcpy(parent, id);
    }
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
    assert_in_range(size_of(p->path, ""), STEPS * DATA, STEPS * (DATA + 64) + 65536);
}

// The log is moved into the file as it grows, also while a reader sits in it now and then.
static void test_log_is_bounded(void **state)
{
    const place *p = *state;
    enum { STEPS = 3000, DATA = 16000, LIMIT = 40 << 20 };
    char *data = malloc(DATA + 1);
    memset(data, 'x', DATA);
    data[DATA] = '\0';
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    char id[32];
    for (int i = 0; i < STEPS; i++) {
        snprintf(id, sizeof id, "c%05d", i);
        OK(commit_one(s, &lease, "n", id, "", i, true, data, &err));
        if (i % 500 == 0) {
            int64_t rows[3] = {0};
            OK(s.ops->head(s.self, "t1", "n", follow, rows, &err));
            assert_in_range(size_of(p->path, "-wal"), 0, LIMIT);
        }
    }
    assert_in_range(size_of(p->path, "-wal"), 0, LIMIT);
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
    free(data);
}

// ---- pruning ------------------------------------------------------------------------------------

enum { PRUNE_STEPS = 2000 };

static void fill(const place *p)
{
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    for (int i = 0; i < PRUNE_STEPS; i++) {
        OK(step(s, &lease, i, PONS_SYNC_NORMAL, &err));
    }
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
}

static int prune_one(const place *p, int report)
{
    pons_store s;
    pons_prune what = {.keep_last = 30};
    if (pons_store_sqlite_open(p->path, &s, NULL)) {
        return 1;
    }
    tell(report, 1);
    return s.ops->prune(s.self, "t1", &what, NULL, NULL) ? 2 : 0;
}

static int readable(void *user, const pons_checkpoint_row *row)
{
    const pons_store *s = user;
    int64_t rows[3] = {0, -1, 0};
    OK(s->ops->checkpoint(s->self, "t1", "n", row->id, follow, rows, &err));
    assert_int_equal(rows[1], row->step);
    return 0;
}

// Killed at any moment, whatever is still there can be read, and a second pruning ends it.
static void test_prune_killed(void **state)
{
    const place *p = *state;
    const uint64_t seed = 77;
    print_message("seed %" PRIu64 "\n", seed);
    pons_rand rand;
    pons_rand_seed(&rand, seed);
    fill(p);
    for (int round = 0; round < rounds(ROUNDS_store_kills); round++) {
        child c = start(p, prune_one);
        assert_int_equal(hear(&c), 1);
        struct timespec nap = {.tv_nsec = (long)pons_rand_below(&rand, 8 * PONS_NS_PER_MS)};
        nanosleep(&nap, NULL); // a place to die at, nothing to wait for
        kill(c.pid, SIGKILL);
        end(&c);
        pons_store s = open_store(p);
        OK(s.ops->history(s.self, "t1", "n", "", 0, readable, &s, &err));
        assert_int_equal(head_step(s, "t1"), PRUNE_STEPS - 1);
        pons_store_close(&s);
    }
    pons_store s = open_store(p);
    pons_prune what = {.keep_last = 30};
    pons_prune_result done;
    OK(s.ops->prune(s.self, "t1", &what, &done, &err));
    int64_t rows[3] = {0, -1, 0};
    OK(s.ops->history(s.self, "t1", "n", "", 0, follow, rows, &err));
    assert_int_equal(rows[0], 40); // 30, and those of the chain of the first
    pons_store_close(&s);
}

enum { TRIM_TO = 1900, TRIM_LIMIT = 7 };

static int trim_one(const place *p, int report)
{
    pons_store s;
    pons_lease lease;
    pons_trim_result done = {.more = true};
    if (pons_store_sqlite_open(p->path, &s, NULL) ||
        s.ops->lease_acquire(s.self, "t1", &lease, NULL)) {
        return 1;
    }
    char before[16];
    snprintf(before, sizeof before, "c%05d", TRIM_TO);
    pons_trim what = {.lease = &lease, .limit = TRIM_LIMIT, .ns = "n", .before = before};
    tell(report, 1);
    while (done.more) {
        if (s.ops->trim(s.self, &what, &done, NULL)) {
            return 2;
        }
    }
    return 0;
}

static int count(void *user, const pons_checkpoint_row *row)
{
    (void)row;
    ++*(int64_t *)user;
    return 0;
}

static void say_damage(void *user, bool damage, const char *line)
{
    (void)user;
    if (damage) {
        fail_msg("%s", line);
    }
}

// The same of trimming, which begins at the other end; and no look finds anything lost.
static void test_trim_killed(void **state)
{
    const place *p = *state;
    const uint64_t seed = 78;
    print_message("seed %" PRIu64 "\n", seed);
    pons_rand rand;
    pons_rand_seed(&rand, seed);
    fill(p);
    int64_t rows[3] = {0}, left = PRUNE_STEPS, damage = 0;
    for (int round = 0; round < rounds(ROUNDS_store_kills); round++) {
        child c = start(p, trim_one);
        assert_int_equal(hear(&c), 1);
        struct timespec nap = {.tv_nsec = (long)pons_rand_below(&rand, 8 * PONS_NS_PER_MS)};
        nanosleep(&nap, NULL); // a place to die at, nothing to wait for
        kill(c.pid, SIGKILL);
        end(&c);
        pons_store s = open_store(p);
        OK(s.ops->history(s.self, "t1", "n", "", 0, readable, &s, &err));
        assert_int_equal(head_step(s, "t1"), PRUNE_STEPS - 1);
        memset(rows, 0, sizeof rows);
        OK(s.ops->history(s.self, "t1", "n", "", 0, count, rows, &err));
        assert_in_range(rows[0], 1, left);
        left = rows[0];
        pons_store_close(&s);
        OK(pons_store_check(p->path, say_damage, NULL, &damage, &err));
    }
    child c = start(p, trim_one);
    assert_int_equal(hear(&c), 1);
    assert_int_equal(end(&c), 0);
    pons_store s = open_store(p);
    memset(rows, 0, sizeof rows);
    OK(s.ops->history(s.self, "t1", "n", "", 0, count, rows, &err));
    assert_int_equal(rows[0], PRUNE_STEPS - TRIM_TO); // it is a snapshot itself
    pons_lease mine;
    pons_trim what = {.lease = &mine, .limit = 1, .ns = "n", .before = "c01999"};
    mine = hold(s, "t1");
    pons_lease stale = mine;
    s.ops->lease_release(s.self, &mine);
    what.lease = &stale; // who has let go of the thread may not
    assert_int_equal(s.ops->trim(s.self, &what, NULL, NULL), PONS_ESTALE);
    pons_store_close(&s);
    OK(pons_store_check(p->path, say_damage, NULL, &damage, &err));
}

// Others commit while a long thread is pruned.
static void test_prune_beside_others(void **state)
{
    const place *p = *state;
    fill(p);
    child c = start(p, prune_one);
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t2");
    assert_int_equal(hear(&c), 1);
    for (int i = 0; i < 200; i++) {
        OK(step(s, &lease, i, PONS_SYNC_NORMAL, &err));
    }
    assert_int_equal(end(&c), 0);
    assert_int_equal(head_step(s, "t2"), 199);
    assert_int_equal(head_step(s, "t1"), PRUNE_STEPS - 1);
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
}

// ---- files that are refused ---------------------------------------------------------------------

static void test_newer_schema(void **state)
{
    const place *p = *state;
    pons_store s = open_store(p);
    pons_store_close(&s);
    sql(p, "PRAGMA user_version=4711");
    refuses(p->path, PONS_EUNSUPPORTED, "4711");
}

// One from before the first release; the file stays as it is.
static void test_older_schema(void **state)
{
    const place *p = *state;
    pons_store s = open_store(p);
    pons_store_close(&s);
    sql(p, "PRAGMA user_version=4");
    refuses(p->path, PONS_EUNSUPPORTED, "the store has schema 4, from before the first release");
    assert_int_equal(number(p, "PRAGMA user_version"), 4);
}

static int count_item(void *user, const pons_item_row *row)
{
    (void)row;
    ++*(int *)user;
    return 0;
}

static int items_with(pons_store s, const char *words)
{
    int n = 0;
    const pons_item_find find = {.words = words};
    OK(s.ops->items(s.self, &find, count_item, &n, &err));
    return n;
}

// FTS5 has lost count of what its index holds, and calls that damage: the next write that finds out
// makes the index anew from the items.
static void test_index_of_words_mends(void **state)
{
    const place *p = *state;
    pons_store s = open_store(p);
    const pons_item_write first = {
        .what = PONS_ITEM_PUT,
        .row = {.ns = "n", .key = "a", .value = {"{}", 2}, .words = "apple", .updated_ms = 1}};
    pons_item_write second = first;
    second.row.key = "b";
    second.row.words = "pear plum";
    OK(s.ops->items_write(s.self, &first, 1, PONS_SYNC_NORMAL, &err));
    OK(s.ops->items_write(s.self, &second, 1, PONS_SYNC_NORMAL, &err));
    pons_store_close(&s);
    sql(p, "UPDATE item_words_data SET block=x'0000' WHERE id=1");
    s = open_store(p);
    second.row.words = "plum fig";
    OK(s.ops->items_write(s.self, &second, 1, PONS_SYNC_NORMAL, &err));
    assert_int_equal(items_with(s, "pear"), 0);
    assert_int_equal(items_with(s, "apple fig"), 2);
    second.what = PONS_ITEM_DELETE;
    OK(s.ops->items_write(s.self, &second, 1, PONS_SYNC_NORMAL, &err));
    assert_int_equal(items_with(s, "apple plum"), 1);
    pons_store_close(&s);
    int64_t damage = 1;
    OK(pons_store_check(p->path, NULL, NULL, &damage, &err));
    assert_int_equal(damage, 0);
}

// The checksum as docs/internals/store.md has it, bit by bit.
static uint32_t crc_slowly(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    crc = ~crc;
    for (; n > 0; at++, n--) {
        crc ^= *at;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

static uint32_t text_slowly(uint32_t crc, const char *text)
{
    const size_t n = strlen(text);
    const uint8_t head[2] = {SQLITE_TEXT | 1 << 4, (uint8_t)n}; // a length of one byte
    assert_in_range(n, 1, 255);
    return crc_slowly(crc_slowly(crc, head, sizeof head), text, n);
}

// Words of every length from 1 to 63: what the program writes is what other programs, and older and
// newer ones, read.
static void test_sums_are_the_documented_ones(void **state)
{
    const place *p = *state;
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t");
    for (int n = 1; n < PONS_NAME_MAX; n++) {
        char type[PONS_NAME_MAX] = "";
        for (int i = 0; i < n; i++) {
            type[i] = (char)('a' + (i * 7 + n) % 26);
        }
        pons_event_row e = {.ns = "", .ts_ms = n, .type = type, .payload = {"{}", 2}};
        pons_commit c = {.lease = &lease, .ns = "", .events = &e, .n_events = 1};
        OK(s.ops->commit(s.self, &c, &err));
    }
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int words = 0;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT text, sum FROM word", -1, &st, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(st) == SQLITE_ROW; words++) {
        const uint32_t sum =
            text_slowly(text_slowly(0, "word"), (const char *)sqlite3_column_text(st, 0));
        assert_int_equal(sqlite3_column_int(st, 1), (int32_t)sum);
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    assert_true(words >= PONS_NAME_MAX - 1);
}

static void test_foreign_files(void **state)
{
    const place *p = *state;
    const char text[] = "This is my diary. It is longer than the header of a database, which is "
                        "a hundred bytes, so that nobody takes it for an empty one.\n";
    FILE *f = fopen(p->path, "w");
    fputs(text, f);
    fclose(f);
    refuses(p->path, PONS_EENV, "not a pons store");
    assert_int_equal(size_of(p->path, ""), sizeof text - 1);

    assert_int_equal(unlink(p->path), 0);
    sql(p, "CREATE TABLE diary(day, text); PRAGMA user_version=1");
    int64_t size = size_of(p->path, "");
    refuses(p->path, PONS_EENV, "not a pons store");
    assert_int_equal(size_of(p->path, ""), size);

    refuses(p->dir, PONS_EENV, p->dir); // a directory
    char missing[160];
    snprintf(missing, sizeof missing, "%s/no/such/dir/pons.db", p->dir);
    refuses(missing, PONS_EENV, "No such file or directory");

    // An empty file is no store yet.
    assert_int_equal(unlink(p->path), 0);
    fclose(fopen(p->path, "w"));
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
}

static int ignore_row(void *user, const pons_checkpoint_row *row)
{
    int64_t *bytes = user;
    *bytes += (int64_t)row->data.len;
    return 0;
}

// A damaged file is told as such, by whatever meets the damage first.
static void test_damaged(void **state)
{
    const place *p = *state;
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    for (int i = 0; i < 1000; i++) {
        OK(step(s, &lease, i, PONS_SYNC_NORMAL, &err));
    }
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
    enum { KEPT = 32768 }; // bytes: the schema and the first rows
    int64_t size = size_of(p->path, "");
    assert_true(size > 2 * KEPT);
    FILE *f = fopen(p->path, "r+");
    assert_int_equal(fseek(f, KEPT, SEEK_SET), 0);
    for (int64_t i = KEPT; i < size; i++) {
        fputc(0xff, f);
    }
    fclose(f);
    s = open_store(p);
    int64_t bytes = 0;
    pons_error why = PONS_ERROR_INIT;
    int rc = s.ops->history(s.self, "t1", "n", "", 0, ignore_row, &bytes, &why);
    assert_int_equal(rc, PONS_ECORRUPT);
    assert_non_null(strstr(why.cause, "damaged"));
    pons_store_close(&s);
}

static int open_as_nobody(const place *p, int report)
{
    if (getuid() == 0 && setuid(65534) != 0) {
        return 1;
    }
    pons_store s = {0};
    pons_error err = PONS_ERROR_INIT;
    int rc = pons_store_sqlite_open(p->path, &s, &err);
    char line[1024];
    pons_error_line(&err, line, sizeof line);
    tell(report, rc);
    tell(report, strchr(line, '\n') == NULL && strstr(line, "pons.db") != NULL);
    return 0;
}

static void test_directory_not_writable(void **state)
{
    const place *p = *state;
    for (int with_file = 0; with_file < 2; with_file++) {
        if (with_file) {
            pons_store s = open_store(p);
            pons_store_close(&s);
            assert_int_equal(chmod(p->path, 0400), 0);
        }
        assert_int_equal(chmod(p->dir, 0555), 0);
        child c = start(p, open_as_nobody);
        assert_int_equal(hear(&c), PONS_EENV);
        assert_int_equal(hear(&c), 1);
        assert_int_equal(end(&c), 0);
        assert_int_equal(chmod(p->dir, 0755), 0);
    }
}

// ---- disk faults --------------------------------------------------------------------------------

// A layer under SQLite: write number `fail_at` (and, when it sticks, all after it) fails.
static sqlite3_vfs *vfs_below;
static sqlite3_vfs vfs_faulty;
static const sqlite3_io_methods *io_below;
static sqlite3_io_methods io_faulty[2]; // the database's has shared memory and locks, others' not
static int fault_writes, fault_at, fault_code;
static bool fault_sticks;

static bool fault(void)
{
    int n = ++fault_writes;
    return fault_at && (n == fault_at || (fault_sticks && n > fault_at));
}

static int faulty_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at)
{
    return fault() ? fault_code : io_below->xWrite(f, data, n, at);
}

static int faulty_sync(sqlite3_file *f, int flags)
{
    return fault() ? SQLITE_IOERR_FSYNC : io_below->xSync(f, flags);
}

static int faulty_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags,
                       int *ret_flags)
{
    (void)vfs;
    int rc = vfs_below->xOpen(vfs_below, name, f, flags, ret_flags);
    if (rc != SQLITE_OK || !f->pMethods) {
        return rc;
    }
    sqlite3_io_methods *methods = &io_faulty[flags & SQLITE_OPEN_MAIN_DB ? 0 : 1];
    io_below = f->pMethods; // writing and syncing is the same for both
    *methods = *io_below;
    methods->xWrite = faulty_write;
    methods->xSync = faulty_sync;
    f->pMethods = methods;
    return rc;
}

static void faults_on(void)
{
    vfs_below = sqlite3_vfs_find(NULL);
    vfs_faulty = *vfs_below;
    vfs_faulty.zName = "faulty";
    vfs_faulty.xOpen = faulty_open;
    fault_at = fault_writes = 0;
    sqlite3_vfs_register(&vfs_faulty, 1);
}

static void faults_off(void)
{
    fault_at = 0;
    sqlite3_vfs_unregister(&vfs_faulty);
}

static void test_disk_full(void **state)
{
    const place *p = *state;
    faults_on();
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    for (int i = 0; i <= 40; i++) {
        OK(step(s, &lease, i, PONS_SYNC_NORMAL, &err));
    }
    fault_code = SQLITE_FULL;
    fault_sticks = true;
    fault_at = fault_writes + 1;
    pons_error why = PONS_ERROR_INIT;
    assert_int_equal(step(s, &lease, 41, PONS_SYNC_NORMAL, &why), PONS_EIO);
    char line[1024];
    assert_string_equal(pons_error_line(&why, line, sizeof line),
                        "store: cannot commit step 41 of thread t1 [pons.db]: disk full "
                        "(SQLITE_FULL)");
    assert_int_equal(head_step(s, "t1"), 40);
    // Room again: it goes on where it was.
    fault_at = 0;
    OK(step(s, &lease, 41, PONS_SYNC_NORMAL, &err));
    assert_int_equal(head_step(s, "t1"), 41);
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
    faults_off();
}

// Whoever opens it first needs room for what processes share of the log's index.
static void test_disk_full_at_open(void **state)
{
    const place *p = *state;
    pons_store s = open_store(p);
    pons_store_close(&s);
    struct rlimit room, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &room), 0);
    none = (struct rlimit){.rlim_cur = 1, .rlim_max = room.rlim_max};
    void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    pons_error why = PONS_ERROR_INIT;
    const int rc = pons_store_sqlite_open(p->path, &s, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &room), 0);
    signal(SIGXFSZ, was);
    char line[1024];
    assert_int_equal(rc, PONS_EIO);
    assert_non_null(strstr(pons_error_line(&why, line, sizeof line), "disk full"));
    s = open_store(p);
    pons_store_close(&s);
}

// Write number `at` after the first step fails (0: none): whatever was told is true, also after the store is
// opened again. How many writes there were after that step.
static int fail_write(const place *p, int at)
{
    faults_on();
    fault_code = at % 2 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    fault_sticks = at % 3 == 0;
    pons_store s = open_store(p);
    pons_lease lease = hold(s, "t1");
    OK(step(s, &lease, 0, PONS_SYNC_NORMAL, &err));
    const int before = fault_writes;
    fault_at = at ? before + at : 0;
    int64_t reported = 0;
    bool stop = false;
    for (int i = 1; i <= 6 && !stop; i++) {
        int rc = step(s, &lease, i, i % 3 == 0 ? PONS_SYNC_FULL : PONS_SYNC_NORMAL, NULL);
        if (rc == PONS_OK) {
            reported = i;
        } else {
            stop = true;
        }
    }
    const int writes = fault_writes - before;
    fault_at = 0;
    assert_int_equal(head_step(s, "t1"), reported);
    assert_int_equal(item_step(s), reported);
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
    faults_off();
    s = open_store(p);
    assert_int_equal(head_step(s, "t1"), reported);
    assert_int_equal(item_step(s), reported);
    const pons_item_write gone = {.what = PONS_ITEM_DELETE, .row = {.ns = "n", .key = "step"}};
    OK(s.ops->items_write(s.self, &gone, 1, PONS_SYNC_NORMAL, &err));
    OK(s.ops->thread_delete(s.self, "t1", &err));
    pons_store_close(&s);
    return writes;
}

static void no_damage(void *user, bool damage, const char *line)
{
    (void)user;
    if (damage) {
        fail_msg("a full disk is taken for damage: %s", line);
    }
}

// Nobody has the store open, and nothing more can be written: it is read as on a disk without writing. A repair that
// cannot keep a copy leaves none.
static void test_disk_full_is_read(void **state)
{
    const place *p = *state;
    struct rlimit room, none;
    char kept[PATH_MAX];
    int64_t damage = 1;
    pons_store s = open_store(p), r = {0};
    pons_lease lease = hold(s, "t1");
    for (int i = 0; i <= 4; i++) {
        OK(step(s, &lease, i, PONS_SYNC_NORMAL, &err));
    }
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &room), 0);
    none = (struct rlimit){.rlim_cur = 1, .rlim_max = room.rlim_max};
    void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    const int opened = pons_store_open_read(p->path, &r, NULL);
    const int checked = pons_store_check(p->path, no_damage, NULL, &damage, NULL);
    const int repaired = pons_store_repair(p->path, kept, sizeof kept, NULL, NULL, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &room), 0);
    signal(SIGXFSZ, was);
    assert_int_equal(opened, PONS_OK);
    assert_int_equal(head_step(r, "t1"), 4);
    pons_store_close(&r);
    assert_int_equal(checked, PONS_OK);
    assert_int_equal(damage, 0);
    assert_true(repaired < 0);
    snprintf(kept, sizeof kept, "%s.damaged-1", p->path);
    assert_int_equal(access(kept, F_OK), -1);
}

static void test_every_write_fails_once(void **state)
{
    const place *p = *state;
    with_items = true;
    const int n = fail_write(p, 0);
    int swept = 0;
    for (int i = 0; i < n; i++) {
        if (rounds_take(ROUNDS_store_writes, i, n)) {
            assert_true(fail_write(p, i + 1) >= i + 1);
            swept++;
        }
    }
    with_items = false;
    print_message("%d of %d writes swept\n", swept, n);
    assert_true(n > 12);
}

int main(void)
{
    unsynced();
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        TEST(test_killed_while_committing),
        TEST(test_exit_with_a_full_pipeline),
        TEST(test_holder),
        TEST(test_left_to_a_child),
        TEST(test_lock_is_not_inherited),
        TEST(test_fenced_by_epoch),
        TEST(test_many_processes),
        TEST(test_ten_thousand_threads),
        TEST(test_reading_along),
        TEST(test_reopened),
        TEST(test_twins),
        TEST(test_size),
        TEST(test_log_is_bounded),
        TEST(test_newer_schema),
        TEST(test_older_schema),
        TEST(test_index_of_words_mends),
        TEST(test_prune_killed),
        TEST(test_trim_killed),
        TEST(test_prune_beside_others),
        TEST(test_sums_are_the_documented_ones),
        TEST(test_foreign_files),
        TEST(test_damaged),
        TEST(test_directory_not_writable),
        TEST(test_disk_full),
        TEST(test_disk_full_at_open),
        TEST(test_disk_full_is_read),
        TEST(test_every_write_fails_once),
    };
#undef TEST
    return cmocka_run_group_tests_name("sqlite file", tests, NULL, NULL);
}
