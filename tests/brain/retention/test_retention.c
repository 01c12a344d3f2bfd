// test_retention.c - what ended tasks leave shrinks by itself: the last ones keep everything, the others
// what an audit needs; whatever dies, leaps or is forked meanwhile.
//
// The brain of brain_bench.h with a store.keep of the test's own. What is looked at is the store, as
// anybody who reads it sees it.
#include "brain/brain_bench.h"
#include "pons/store.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define YEAR_MS (365LL * 24 * 3600 * 1000)
#define SOON    60.0

enum { KEPT = 3, TASKS = 16, ALL = 1 << 30 };

static void keep_so(bench *b, int tasks, double days, double size_mb, double audit_days)
{
    json_object_set_new(b->config, "store",
                        json_pack("{s:{s:i,s:f,s:f,s:f}}", "keep", "tasks", tasks, "days", days,
                                  "size_mb", size_mb, "audit_days", audit_days));
    b->keep_running = true;
    bench_brain(b);
    bench_run(b, 0.5);
}

static void begin(bench *b, int tasks, double days, double audit_days)
{
    bench_open(b, NULL);
    keep_so(b, tasks, days, 0.0, audit_days);
}

static void do_tasks(bench *b, int n)
{
    for (int i = 0; i < n; i++) {
        bench_goal_text(b, i % 2 ? "去客厅" : "去厨房");
        bench_await(b, "task.done", "status", "succeeded", SOON);
        b->n_goals = b->n_goals > BENCH_GOALS_MAX / 2 ? 0 : b->n_goals; // room for the next
    }
    bench_run(b, 10.0); // what is due is taken away
}

typedef struct tally {
    int64_t rows;
    char oldest[32], newest[32];
    bench *b;
    const char *ns;
} tally;

static int see_row(void *user, const pons_checkpoint_row *row)
{
    tally *t = user;
    t->rows++;
    memcpy(t->oldest, row->id, sizeof t->oldest);
    if (t->rows == 1) {
        memcpy(t->newest, row->id, sizeof t->newest);
    }
    return 0;
}

static int pass_over(void *user, const pons_checkpoint_row *row)
{
    (void)user;
    (void)row;
    return 0;
}

static int read_row(void *user, const pons_checkpoint_row *row)
{
    const tally *t = user;
    pons_error err = PONS_ERROR_INIT;
    const int rc = t->b->memory.ops->checkpoint(t->b->memory.self, "t1", t->ns, row->id, pass_over,
                                                NULL, &err);
    if (rc < 0) {
        fail_msg("checkpoint %s can't be read: %s", row->id, err.message);
    }
    return 0;
}

static tally rows_of(bench *b, const char *thread, const char *ns)
{
    tally t = {.b = b, .ns = ns};
    pons_error err = PONS_ERROR_INIT;
    assert_true(b->memory.ops->history(b->memory.self, thread, ns, "", 0, see_row, &t, &err) >= 0);
    return t;
}

// Whatever is there can be read, in both namespaces, with its values.
static void all_can_be_read(bench *b)
{
    static const char *const spaces[] = {"kernel", "react"};
    pons_error err = PONS_ERROR_INIT;
    for (size_t i = 0; i < 2; i++) {
        tally t = {.b = b, .ns = spaces[i]};
        assert_true(b->memory.ops->history(b->memory.self, "t1", t.ns, "", 0, read_row, &t, &err) >=
                    0);
        pons_autovalue list = NULL;
        assert_true(pons_state_history(b->memory, "t1", t.ns, 0, false, &list, &err) >= 0);
        const int n = (int)json_array_size(list);
        if (rounds(ROUNDS_brain_reads) >= n) {
            pons_autovalue whole = NULL;
            assert_true(pons_state_history(b->memory, "t1", t.ns, 0, true, &whole, &err) >= 0);
            continue;
        }
        for (int k = 0; k < n; k++) {
            if (bench_due(ROUNDS_brain_reads, k, n)) { // with those that it stands on
                pons_autovalue one = NULL;
                const pons_snapshot_options at = {
                    .checkpoint =
                        pons_get_str(json_array_get(list, (size_t)k), "checkpoint_id", "")};
                assert_true(pons_state_snapshot(b->memory, "t1", t.ns, &at, &one, &err) >= 0);
            }
        }
    }
}

typedef struct events {
    int64_t n, first, pruned, kept; // of the type
    const char *type;
} events;

static int see_event(void *user, const pons_event_row *row)
{
    static const char mark[] = "{\"pruned\":true}";
    events *e = user;
    e->first = e->first ? e->first : row->seq;
    if (strcmp(row->type, e->type) == 0) {
        const bool gone = row->payload.len == strlen(mark);
        e->n++;
        e->pruned += gone;
        e->kept += !gone;
    }
    return 0;
}

static events events_of(bench *b, const char *type)
{
    events e = {.type = type};
    pons_error err = PONS_ERROR_INIT;
    assert_true(b->memory.ops->events(b->memory.self, "t1", 0, 0, see_event, &e, &err) >= 0);
    return e;
}

static size_t effects_of(bench *b)
{
    pons_autovalue list = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_effects_read(b->memory, "t1", UINT32_MAX, &list, &err) >= 0);
    return json_array_size(list);
}

// ---- what goes and what stays -------------------------------------------------------------------

static void ended_tasks_shrink_to_what_an_audit_needs(void **state)
{
    (void)state;
    bench b;
    begin(&b, -1, 0, 0); // everything stays
    do_tasks(&b, TASKS);
    const tally kernel = rows_of(&b, "t1", "kernel"), react = rows_of(&b, "t1", "react");
    const size_t effects = effects_of(&b);
    assert_int_equal(events_of(&b, "store.pruned").n, 0);
    bench_close(&b);

    begin(&b, KEPT, 0, 0);
    do_tasks(&b, TASKS);
    assert_true(rows_of(&b, "t1", "react").rows < react.rows * 3 / 4);
    assert_true(rows_of(&b, "t1", "kernel").rows < kernel.rows);
    all_can_be_read(&b);
    assert_int_equal(effects_of(&b), effects); // nothing shortens their time
    const events looks = events_of(&b, "observation"), ends = events_of(&b, "task.done"),
                 why = events_of(&b, "decision");
    assert_true(looks.pruned > 0 && looks.kept > 0);
    assert_int_equal(ends.kept, TASKS);
    assert_int_equal(why.pruned, 0);
    assert_true(events_of(&b, "store.pruned").n > 0);
    pons_autovalue gone = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_brain_pruned(b.memory, "t1", &gone, &err) >= 0);
    assert_true(pons_get_int(gone, "tasks_kept", 0) >= KEPT);
    assert_true(pons_get_int(gone, "checkpoints", 0) > 0);
    // And then it is quiet: no tick writes anything.
    const int64_t commits = b.commits;
    bench_run(&b, 5.0);
    assert_int_equal(b.commits, commits);
    bench_close(&b);
}

// ---- the size -----------------------------------------------------------------------------------

typedef struct pruning {
    int64_t n, tasks_kept, bytes;
    bool by_size;
} pruning;

// All store.pruned so far, and what the newest says.
static pruning prunings(const bench *b)
{
    pruning p = {.by_size = true};
    size_t i;
    json_t *ev;
    json_array_foreach(b->events, i, ev) {
        const pons_value *said = pons_get(ev, "payload");
        if (strcmp(pons_get_str(ev, "type", ""), "store.pruned") == 0) {
            p.n++;
            p.tasks_kept = pons_get_int(said, "tasks_kept", -1);
            p.bytes = pons_get_int(said, "bytes", -1);
            p.by_size = p.by_size && strcmp(pons_get_str(said, "by", ""), "size") == 0;
        }
    }
    return p;
}

static int see_bytes(void *user, const pons_thread_info *info)
{
    *(int64_t *)user += info->bytes;
    return 0;
}

static int64_t bytes_of(bench *b)
{
    int64_t bytes = 0;
    pons_error err = PONS_ERROR_INIT;
    assert_true(b->memory.ops->threads(b->memory.self, see_bytes, &bytes, &err) >= 0);
    return bytes;
}

// On two stores: tasks and days would keep everything, the size does not; what it takes are details,
// the oldest first, and of no other bound's time.
static void a_store_above_its_size_keeps_fewer(void **state)
{
    (void)state;
    for (int sqlite = 0; sqlite < 2; sqlite++) {
        char dir[] = "/tmp/pons-test-keep-XXXXXX", path[64], command[80];
        assert_non_null(mkdtemp(dir));
        snprintf(path, sizeof path, "%s/pons.db", dir);
        int64_t whole = 0, rows = 0;
        size_t effects = 0;
        for (int bounded = 0; bounded < 2; bounded++) {
            bench b;
            pons_store s;
            pons_error err = PONS_ERROR_INIT;
            bench_open(&b, NULL);
            if (sqlite) {
                unlink(path);
                assert_true(pons_store_sqlite_open(path, &s, &err) >= 0);
                bench_store(&b, s);
            }
            const double limit = (double)whole * 0.7; // a file has pages that no task takes
            keep_so(&b, 1000, 0, bounded ? limit / 1e6 : 0.0, 365.0);
            do_tasks(&b, 2 * TASKS);
            const pruning p = prunings(&b);
            if (!bounded) {
                assert_int_equal(p.n, 0);
                whole = bytes_of(&b);
                rows = rows_of(&b, "t1", "react").rows;
                effects = effects_of(&b);
                bench_close(&b);
                continue;
            }
            assert_true(p.n > 0);
            assert_true(p.by_size);
            assert_true((double)p.bytes <= limit);
            assert_true(p.tasks_kept >= KEPT && p.tasks_kept < 2 * TASKS);
            assert_true(rows_of(&b, "t1", "react").rows < rows);
            assert_int_equal(effects_of(&b), effects);
            assert_int_equal(events_of(&b, "task.done").kept, 2 * TASKS);
            assert_int_equal(events_of(&b, "decision").pruned, 0);
            all_can_be_read(&b);
            bench_kill(&b); // another life knows it as well
            bench_brain(&b);
            do_tasks(&b, 1);
            assert_true((double)prunings(&b).bytes <= limit);
            bench_close(&b);
        }
        snprintf(command, sizeof command, "rm -r '%s'", dir);
        assert_int_equal(system(command), 0);
    }
}

// A size that cannot be had: the last tasks keep what they have, and nobody tries all the time.
static void a_size_that_cannot_be_had_costs_nothing(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, NULL);
    keep_so(&b, 1000, 0, 0.001, 0);
    do_tasks(&b, TASKS);
    const pruning p = prunings(&b);
    assert_true(p.n > 0 && p.by_size);
    assert_true(p.tasks_kept >= KEPT);
    assert_true(events_of(&b, "observation").kept >= KEPT);
    all_can_be_read(&b);
    const int64_t commits = b.commits;
    bench_run(&b, 30.0);
    assert_int_equal(b.commits, commits);
    assert_int_equal(prunings(&b).n, p.n);
    bench_close(&b);
}

static bool is_thin(bench *b, int64_t seq)
{
    events e = {.type = "observation"};
    pons_error err = PONS_ERROR_INIT;
    assert_true(b->memory.ops->events(b->memory.self, "t1", seq - 1, 1, see_event, &e, &err) >= 0);
    assert_int_equal(e.n, 1);
    return e.pruned == 1;
}

static int newest_look(void *user, const pons_event_row *row)
{
    if (strcmp(row->type, "observation") == 0) {
        *(int64_t *)user = row->seq;
    }
    return 0;
}

// A task that was put aside keeps its details however many end meanwhile. The size is for the disk and
// wins over that; the task is none the worse, and goes on where it was.
static void only_the_size_takes_from_a_task_that_was_put_aside(void **state)
{
    (void)state;
    for (int by_size = 0; by_size < 2; by_size++) {
        bench b;
        int64_t look = 0;
        pons_error err = PONS_ERROR_INIT;
        bench_open(&b, NULL);
        keep_so(&b, by_size ? 1000 : KEPT, 0, by_size ? 0.001 : 0.0, 0);
        do_tasks(&b, 4);
        b.base_ms = BENCH_NEVER;
        bench_post(&b, "say", "{'text':'去卧室','priority':'background'}");
        bench_await(&b, "effect", "state", "accepted", SOON);
        assert_true(b.memory.ops->events(b.memory.self, "t1", 0, 0, newest_look, &look, &err) >= 0);
        b.base_ms = 1000;
        for (int i = 0; i < TASKS; i++) {
            bench_goal_text(&b, i % 2 ? "去客厅" : "去厨房");
        }
        for (int i = 0; i < TASKS; i++) {
            bench_await(&b, "task.done", "status", "succeeded", SOON);
        }
        assert_int_equal(is_thin(&b, look), by_size);
        all_can_be_read(&b);
        bench_kill(&b);
        bench_brain(&b);
        const pons_value *end = bench_await(&b, "task.done", NULL, NULL, SOON);
        assert_string_equal(pons_get_str(end, "text", ""), "去卧室");
        assert_string_equal(pons_get_str(end, "status", ""), "succeeded");
        bench_close(&b);
    }
}

// A year of the clock's is none of the thread's, forward or back; a year that it lived is.
static void a_leap_of_the_clock_takes_nothing(void **state)
{
    (void)state;
    bench b;
    begin(&b, -1, 1.0, 2.0);
    do_tasks(&b, 8);
    const int64_t rows = rows_of(&b, "t1", "react").rows;
    const size_t effects = effects_of(&b);
    for (int leap = 0; leap < 3; leap++) {
        b.time.wall_epoch_ms += leap == 1 ? -2 * YEAR_MS : YEAR_MS;
        bench_run(&b, 5.0);
        do_tasks(&b, 1);
        assert_true(rows_of(&b, "t1", "react").rows > rows);
        assert_int_equal(events_of(&b, "store.pruned").n, 0);
        assert_true(effects_of(&b) > effects);
    }
    for (int night = 0; night < 5; night++) { // nights are days of its life
        bench_kill(&b);
        b.time.wall_epoch_ms += YEAR_MS; // however long: each counts as one
        bench_brain(&b);
        bench_run(&b, 0.5);
        do_tasks(&b, 1);
    }
    assert_true(events_of(&b, "store.pruned").n > 0);
    assert_true(events_of(&b, "task.done").first > 1); // the audit's time is over, too
    assert_true(effects_of(&b) > 0 && effects_of(&b) < effects + 8);
    assert_int_equal(events_of(&b, "run.started").kept, events_of(&b, "run.started").n);
    assert_true(events_of(&b, "run.started").n > 0); // how it was begun is not left behind
    all_can_be_read(&b);
    bench_close(&b);
}

// ---- forks --------------------------------------------------------------------------------------

static void a_fork_of_what_is_gone_is_one_line(void **state)
{
    (void)state;
    bench b;
    pons_error err = PONS_ERROR_INIT;
    begin(&b, KEPT, 0, 0);
    do_tasks(&b, 2);
    char old[32];
    memcpy(old, rows_of(&b, "t1", "react").newest, sizeof old);
    assert_true(pons_brain_fork(b.memory, &b.clock, "t1", old, "before", &err) >= 0);
    const int64_t rows = rows_of(&b, "before", "react").rows;
    do_tasks(&b, TASKS);
    assert_true(strcmp(rows_of(&b, "t1", "react").oldest, old) > 0);
    assert_int_equal(pons_brain_fork(b.memory, &b.clock, "t1", old, "late", &err), PONS_ENOTFOUND);
    assert_non_null(strstr(err.message, "is pruned"));
    assert_null(strchr(err.message, '\n'));
    // It names one that can be forked.
    const char *named = strstr(err.message, "pruned: ");
    char oldest[27];
    assert_non_null(named);
    snprintf(oldest, sizeof oldest, "%s", named + strlen("pruned: "));
    pons_error again = PONS_ERROR_INIT;
    assert_true(pons_brain_fork(b.memory, &b.clock, "t1", oldest, "named", &again) >= 0);
    // The one from before has what it had, and is gone on from.
    assert_int_equal(rows_of(&b, "before", "react").rows, rows);
    pons_autovalue list = NULL;
    assert_true(pons_state_history(b.memory, "before", "react", 0, true, &list, &err) >= 0);
    bench_close(&b);
}

// ---- deaths -------------------------------------------------------------------------------------

static struct {
    const pons_store_ops *inner;
    int seen, at; // the trim of this number does not come back; 0: none
    bool before, dead;
} saw;

static int sawn_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err)
{
    saw.seen++;
    const bool now = saw.at && saw.seen >= saw.at;
    if (now && (saw.before || saw.dead)) {
        saw.dead = true;
        return pons_error_set(err, PONS_EIO, "store", "killed here");
    }
    const int rc = saw.inner->trim(self, what, ret, err);
    saw.dead = saw.dead || now;
    return now ? pons_error_set(err, PONS_EIO, "store", "killed here") : rc;
}

// The process dies just before or just after each transaction of a pass: the next one goes on, and
// in the end there is what there would have been.
static void killed_at_each_step_of_a_pass_nothing_is_lost(void **state)
{
    (void)state;
    for (int at = 1; at < 40; at += 7) {
        for (int before = 0; before < 2; before++) {
            if (!bench_due(ROUNDS_brain_keep, (at - 1) / 7 * 2 + before, 12)) {
                continue;
            }
            bench b;
            memset(&saw, 0, sizeof saw);
            bench_open(&b, NULL);
            json_object_set_new(b.config, "store",
                                json_pack("{s:{s:i,s:f,s:f,s:f}}", "keep", "tasks", KEPT, "days",
                                          0.0, "size_mb", 0.0, "audit_days", 0.0));
            b.keep_running = true;
            saw.inner = b.memory.ops;
            b.ops.trim = sawn_trim;
            saw.at = at;
            saw.before = before;
            bench_brain(&b);
            bench_run(&b, 0.5);
            for (int i = 0; i < TASKS && !saw.dead; i++) {
                bench_goal_text(&b, i % 2 ? "去客厅" : "去厨房");
                bench_await(&b, "task.done", "status", "succeeded", SOON);
            }
            const size_t effects = effects_of(&b);
            char head[32];
            memcpy(head, rows_of(&b, "t1", "react").newest, sizeof head);
            all_can_be_read(&b);
            bench_kill(&b);
            saw.at = 0;
            bench_brain(&b);
            bench_run(&b, 10.0);
            all_can_be_read(&b);
            assert_string_equal(rows_of(&b, "t1", "react").newest, head);
            assert_int_equal(effects_of(&b), effects);
            bench_goal_text(&b, "去卧室"); // and it goes on
            bench_await(&b, "task.done", "status", "succeeded", SOON);
            bench_close(&b);
        }
    }
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_tasks_shrink_to_what_an_audit_needs),
        cmocka_unit_test(a_store_above_its_size_keeps_fewer),
        cmocka_unit_test(a_size_that_cannot_be_had_costs_nothing),
        cmocka_unit_test(only_the_size_takes_from_a_task_that_was_put_aside),
        cmocka_unit_test(a_leap_of_the_clock_takes_nothing),
        cmocka_unit_test(a_fork_of_what_is_gone_is_one_line),
        cmocka_unit_test(killed_at_each_step_of_a_pass_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
