// test_retention_postgres.c - a pass of store.keep on a private PostgreSQL: its connection is ended by the server at
// each write of a trim, and the brain is killed with it. No effect and no approval is lost, whatever is
// there can be read, and the next life takes away the rest. Skipped where there is no server.
//
// The server counts: triggers on what a trim alone writes end its backend at the n-th write.
#include "brain/brain_bench.h"
#include "store/cluster.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON 120.0

enum { KEPT = 3, WRITES = 14, TASKS_MAX = 40 };

static struct {
    const pons_store_ops *inner;
    bool armed, dead;
} saw;

static int sawn_trim(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err)
{
    const int rc = saw.inner->trim(self, what, ret, err);
    saw.dead = saw.dead || (saw.armed && rc < 0);
    return rc;
}

static void lease_is_over(void)
{
    cluster_sql("UPDATE pons.thread SET until=clock_timestamp()-interval '1 second'");
}

// What nothing but a trim does to these tables.
static void make_saw(void)
{
    static const char *const writes[] = {"DELETE ON pons.checkpoint", "DELETE ON pons.record",
                                         "DELETE ON pons.event", "UPDATE ON pons.event",
                                         "DELETE ON pons.effect"};
    cluster_sql("CREATE SEQUENCE pons.saw; CREATE TABLE pons.saw_at(n bigint);"
                "INSERT INTO pons.saw_at VALUES (0);"
                "CREATE FUNCTION pons.sawn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN"
                " IF nextval(''pons.saw'')=(SELECT n FROM pons.saw_at) THEN"
                "  PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60);"
                " END IF; RETURN NULL; END'");
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "CREATE TRIGGER sawn%zu AFTER %s FOR EACH STATEMENT EXECUTE FUNCTION pons.sawn()",
                 i, writes[i]);
        cluster_sql(sql);
    }
}

static void arm(int n)
{
    char sql[120];
    snprintf(sql, sizeof sql, "UPDATE pons.saw_at SET n=%d; ALTER SEQUENCE pons.saw RESTART", n);
    cluster_sql(sql);
    saw.armed = n > 0;
    saw.dead = false;
}

static int pass_over(void *user, const pons_checkpoint_row *row)
{
    (void)user;
    (void)row;
    return 0;
}

typedef struct look {
    bench *b;
    const char *ns;
    char newest[32];
} look;

static int read_row(void *user, const pons_checkpoint_row *row)
{
    look *l = user;
    pons_error err = PONS_ERROR_INIT;
    if (!*l->newest) {
        memcpy(l->newest, row->id, sizeof l->newest);
    }
    if (l->b->memory.ops->checkpoint(l->b->memory.self, "t1", l->ns, row->id, pass_over, NULL,
                                     &err) < 0) {
        fail_msg("checkpoint %s can't be read: %s", row->id, err.message);
    }
    return 0;
}

static look read_all(bench *b, const char *ns)
{
    look l = {.b = b, .ns = ns};
    pons_error err = PONS_ERROR_INIT;
    assert_true(b->memory.ops->history(b->memory.self, "t1", ns, "", 0, read_row, &l, &err) >= 0);
    return l;
}

typedef struct count {
    const char *type;
    int64_t whole;
} count;

static int see_event(void *user, const pons_event_row *row)
{
    count *c = user;
    c->whole += strcmp(row->type, c->type) == 0 && row->payload.len > strlen("{\"pruned\":true}");
    return 0;
}

static int64_t events_of(bench *b, const char *type)
{
    count c = {.type = type};
    pons_error err = PONS_ERROR_INIT;
    assert_true(b->memory.ops->events(b->memory.self, "t1", 0, 0, see_event, &c, &err) >= 0);
    return c.whole;
}

static size_t effects_of(bench *b)
{
    pons_autovalue list = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_true(pons_effects_read(b->memory, "t1", UINT32_MAX, &list, &err) >= 0);
    return json_array_size(list);
}

static int done;

static void do_task(bench *b)
{
    bench_goal_text(b, done++ % 2 ? "去客厅" : "去厨房");
    bench_await(b, "approval.requested", NULL, NULL, SOON);
    bench_post(b, "answer", "{'action':'approve'}");
    bench_await(b, "task.done", "status", "succeeded", SOON);
    b->n_goals = b->n_goals > BENCH_GOALS_MAX / 2 ? 0 : b->n_goals;
}

static void open_brain(bench *b)
{
    pons_error err = PONS_ERROR_INIT;
    pons_store pg;
    bench_open(b, NULL);
    if (cluster_open(cluster_empty(""), &pg, &err) < 0) {
        fail_msg("%s", err.message);
    }
    bench_store(b, pg);
    json_object_set_new(b->config, "store",
                        json_pack("{s:{s:i,s:f,s:f,s:f}}", "keep", "tasks", KEPT, "days", 0.0,
                                  "size_mb", 0.0, "audit_days", 0.0));
    json_object_set_new(json_object_get(b->config, "approval"), "skills",
                        json_pack("[s]", "navigate_to_pose"));
    b->keep_running = true;
    saw.inner = pg.ops;
    b->ops.trim = sawn_trim;
    bench_brain(b);
    bench_run(b, 0.5);
}

static void killed_at_each_write_of_a_trim_nothing_is_lost(void **state)
{
    (void)state;
    bench b;
    open_brain(&b);
    make_saw();
    int kills = 0;
    for (int n = 1; n <= WRITES; n++) {
        if (!bench_due(ROUNDS_brain_keep, n - 1, WRITES)) {
            continue;
        }
        kills++;
        arm(n);
        for (int i = 0; i < TASKS_MAX && !saw.dead; i++) {
            do_task(&b);
            bench_run(&b, 3.0);
        }
        assert_true(saw.dead);
        const size_t effects = effects_of(&b);
        const int64_t asked = events_of(&b, "approval.requested");
        const int64_t answered = events_of(&b, "approval.resolved");
        const look head = read_all(&b, "react");
        read_all(&b, "kernel");
        assert_int_equal(asked, done);
        assert_int_equal(answered, done);
        assert_int_equal(events_of(&b, "task.done"), done);
        bench_kill(&b);
        arm(0);
        lease_is_over();
        bench_brain(&b);
        bench_run(&b, 10.0); // what is due is taken away, and no more
        assert_string_equal(read_all(&b, "react").newest, head.newest);
        read_all(&b, "kernel");
        assert_int_equal(effects_of(&b), effects);
        assert_int_equal(events_of(&b, "approval.requested"), asked);
        assert_int_equal(events_of(&b, "approval.resolved"), answered);
    }
    print_message("%d tasks, %zu effects, %lld approvals, %d kills\n", done, effects_of(&b),
                  (long long)events_of(&b, "approval.resolved"), kills);
    assert_true(events_of(&b, "store.pruned") > 0);
    bench_close(&b);
}

int main(void)
{
    pons_value_init();
    if (!cluster_share()) {
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_each_write_of_a_trim_nothing_is_lost),
    };
    const int failed = cmocka_run_group_tests_name("keep on PostgreSQL", tests, NULL, NULL);
    cluster_stop();
    return failed;
}
