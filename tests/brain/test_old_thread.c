// test_old_thread.c - a thread that an earlier program left in the middle of its work is gone on with.
//
// The stores are data/thread-of-0.1-*.db, made by the program from before the state had types
// (data/README.md): when it was killed, one goal was under way, or a model, a person, or the body's word
// on a goal was waited for; a second goal waited. The body is another one by now.
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

static void copy_store(const char *name, char *path, size_t cap)
{
    char from_path[256];
    char block[4096];
    snprintf(dir, sizeof dir, "/tmp/pons-old-thread-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, cap, "%s/pons.db", dir);
    snprintf(from_path, sizeof from_path, "%s/tests/brain/data/thread-of-0.1-%s.db",
             PONS_SOURCE_DIR, name);
    FILE *from = fopen(from_path, "re");
    FILE *to = fopen(path, "we");
    assert_non_null(from);
    assert_non_null(to);
    for (size_t n; (n = fread(block, 1, sizeof block, from)) > 0;) {
        assert_int_equal(fwrite(block, 1, n, to), n);
    }
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

static void begin_with(bench *b, const char *name, const char *script, const char *asks)
{
    char path[128];
    pons_error err = PONS_ERROR_INIT;
    pons_store s;
    copy_store(name, path, sizeof path);
    bench_open(b, script);
    if (asks) {
        json_object_set_new(json_object_get(b->config, "approval"), "skills",
                            json_pack("[s]", asks));
    }
    if (pons_store_open(path, &s, &err) < 0) {
        fail_msg("%s", err.message);
    }
    bench_store(b, s);
    b->resumed = true;
    bench_brain(b);
}

static void begin(bench *b)
{
    begin_with(b, "before-types", NULL, NULL);
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

static void kill_now_and_then(bench *b, int deaths)
{
    for (int i = 0; i < deaths; i++) {
        bench_run(b, 0.2);
        bench_kill(b);
        bench_run(b, 0.6);
        bench_brain(b);
    }
}

static void both_succeed(bench *b)
{
    bench_await(b, "task.done", "status", "succeeded", SOON);
    bench_await(b, "task.done", "status", "succeeded", SOON);
    assert_int_equal(bench_count(b, "task.done", NULL, NULL), 2);
    assert_true(b->x < 4.0 && b->y < 4.0);
}

// Parked in R2: the model is asked again, or the rules are, where there is none any more.
static void a_model_is_asked_again(void **state)
{
    (void)state;
#define GO(zone)                                                                                   \
    "{'decision':{'type':'CONTINUE','reason':'go','ops':[{'op':'dispatch',"                        \
    "'skill':'navigate_to_pose','args':{'zone':'" zone "'}}]}},"                                   \
    "{'decision':{'type':'FINISH','reason':'there'}}"
    for (int how = 0; how < 4; how++) {
        bench b;
        begin_with(&b, "parked-in-r2", how % 2 ? "[" GO("kitchen") "," GO("living_room") "]" : NULL,
                   NULL);
        kill_now_and_then(&b, how / 2);
        both_succeed(&b);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
        assert_int_equal(bench_count(&b, "decision", "source", "llm") > 0, how % 2);
        end(&b);
    }
}

// Parked in R5: the very question is still open, and its answer counts.
static void the_question_is_still_open(void **state)
{
    (void)state;
    static const char id[] = "01M837HZKQWCAFNHX39NN0QZQJ";
    for (int how = 0; how < 4; how++) {
        const bool yes = how % 2;
        char answer[160];
        bench b;
        begin_with(&b, "parked-in-r5", NULL, "navigate_to_pose");
        bench_run(&b, 1.0);
        kill_now_and_then(&b, how / 2);
        pons_autovalue status = pons_brain_status(b.brain);
        const pons_value *open = pons_get(status, "approvals");
        assert_int_equal(json_array_size(open), 1);
        assert_string_equal(pons_get_str(json_array_get(open, 0), "id", ""), id);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 0);
        snprintf(answer, sizeof answer, "{'id':'%s','nonce':'a','action':'%s','by':'anna'}", id,
                 yes ? "approve" : "reject");
        bench_post(&b, "answer", answer);
        const pons_value *closed = bench_await(&b, "approval.resolved", "id", id, SOON);
        assert_string_equal(pons_get_str(closed, "by", ""), "anna");
        bench_await(&b, "task.done", "status", yes ? "succeeded" : "aborted", SOON);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), yes);
        end(&b);
    }
}

// Parked in R6, DISPATCHED, and no word of the body on it: the body of now has never heard of it.
static void what_was_sent_to_a_body_that_is_gone_is_unknown(void **state)
{
    (void)state;
    for (int deaths = 0; deaths < 2; deaths++) {
        bench b;
        begin_with(&b, "parked-in-r6", NULL, NULL);
        bench_await(&b, "effect", "state", "outcome_unknown", SOON);
        kill_now_and_then(&b, deaths);
        both_succeed(&b);
        assert_int_equal(bench_starts(&b, "navigate_to_pose"), 2);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_state_is_understood),
        cmocka_unit_test(both_goals_are_reached),
        cmocka_unit_test(a_model_is_asked_again),
        cmocka_unit_test(the_question_is_still_open),
        cmocka_unit_test(what_was_sent_to_a_body_that_is_gone_is_unknown),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("old thread", tests, NULL, NULL);
}
