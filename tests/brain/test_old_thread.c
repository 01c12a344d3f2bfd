// test_old_thread.c - a thread that an earlier program left in the middle of its work is gone on with.
//
// The store is data/thread-of-0.1-before-types.db, made by the program from before the state had types
// (data/README.md): one goal was under way when it was killed, a second one waited. The body is
// another one by now.
#include "brain_bench.h"
#include "pons/store.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOON 120.0

static char dir[64];

static void copy_store(char *path, size_t cap)
{
    char block[4096];
    snprintf(dir, sizeof dir, "/tmp/pons-old-thread-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, cap, "%s/pons.db", dir);
    FILE *from = fopen(PONS_SOURCE_DIR "/tests/brain/data/thread-of-0.1-before-types.db", "re");
    FILE *to = fopen(path, "we");
    assert_non_null(from);
    assert_non_null(to);
    for (size_t n; (n = fread(block, 1, sizeof block, from)) > 0;) {
        assert_int_equal(fwrite(block, 1, n, to), n);
    }
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

static void begin(bench *b)
{
    char path[128];
    pons_error err = PONS_ERROR_INIT;
    pons_store s;
    copy_store(path, sizeof path);
    bench_open(b, NULL);
    if (pons_store_open(path, &s, &err) < 0) {
        fail_msg("%s", err.message);
    }
    bench_store(b, s);
    b->resumed = true;
    bench_brain(b);
}

static void end(bench *b)
{
    char command[128];
    bench_close(b);
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    assert_int_equal(system(command), 0);
}

static const pons_value *task_of(const pons_value *status)
{
    return pons_get(status, "active_task");
}

// What was under way is known: its task, its place in the queue, that its outcome is not known.
static void its_state_is_understood(void **state)
{
    (void)state;
    bench b;
    begin(&b);
    b.away = true; // nothing is decided meanwhile
    pons_autovalue status = pons_brain_status(b.brain);
    assert_string_equal(pons_get_str(task_of(status), "text", ""), "去厨房");
    assert_int_equal(json_array_size(pons_get(status, "queue")), 2);
    const pons_value *running = json_array_get(pons_get(status, "skills"), 0);
    assert_string_equal(pons_get_str(running, "skill", ""), "navigate_to_pose");
    end(&b);
}

static void both_goals_are_reached(void **state)
{
    (void)state;
    for (int deaths = 0; deaths <= 2; deaths++) {
        bench b;
        begin(&b);
        bench_await(&b, "effect", "state", "outcome_unknown", SOON);
        for (int i = 0; i < deaths; i++) { // and it is no worse for a death on the way
            bench_await(&b, "effect", "state", i ? "accepted" : "intended", SOON);
            bench_kill(&b);
            bench_run(&b, 0.6);
            bench_brain(&b);
        }
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        bench_await(&b, "task.done", "status", "succeeded", SOON);
        assert_int_equal(bench_count(&b, "task.done", NULL, NULL), 2);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
        assert_true(b.x < 4.0 && b.y < 4.0); // in the living room, in the end
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_state_is_understood),
        cmocka_unit_test(both_goals_are_reached),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("old thread", tests, NULL, NULL);
}
