// test_thread_fork.c - a thread is copied, or forked at its newest checkpoint, while its brain is dead between two
// commits: what its two graphs had said to each other is in no copy, and yet the copy goes on to the end.
#include "brain_bench.h"
#include "unit.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SOON  5.0
#define MOVES "navigate_to_pose"

typedef struct story {
    const char *name;
    bool asks, runs;           // a question is open when it begins; or a skill runs
    const char *inbox_message; // that sets the two graphs talking; NULL: the first goal does
    const char *waits;         // the skill that shows that the copy went on
    int commits;
} story;

static void until_it_begins(bench *b, const story *s)
{
    bench_open(b, NULL);
    if (s->asks) {
        json_object_set_new(json_object_get(b->config, "approval"), "skills",
                            json_pack("[s]", MOVES));
    }
    bench_brain(b);
    b->base_ms = s->runs ? BENCH_NEVER : 1000;
    bench_run(b, 0.2);
    if (s->inbox_message) {
        bench_goal_text(b, "去厨房");
        if (s->asks) {
            bench_await(b, "approval.requested", NULL, NULL, SOON);
        } else {
            bench_await(b, "effect", "state", "accepted", SOON);
        }
        bench_run(b, 0.5);
    }
}

// The newest checkpoint of either graph.
static void newest(bench *b, char ret[64])
{
    static const char *const graphs[] = {"kernel", "react"};
    pons_error err = PONS_ERROR_INIT;
    *ret = '\0';
    for (size_t i = 0; i < 2; i++) {
        pons_autovalue past = NULL;
        pons_state_history(b->memory, "t1", graphs[i], 1, false, &past, &err);
        const char *id = pons_get_str(json_array_get(past, 0), "checkpoint_id", "");
        if (strcmp(id, ret) > 0) {
            snprintf(ret, 64, "%s", id);
        }
    }
}

// In the place of the thread its copy, or its fork: the bench runs this one.
static void replace(bench *b, const char *at)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_brain_fork(b->memory, &b->clock, "t1", at, "between", &err) < 0 ||
        b->memory.ops->thread_delete(b->memory.self, "t1", &err) < 0 ||
        pons_brain_fork(b->memory, &b->clock, "between", NULL, "t1", &err) < 0) {
        fail_msg("%s", err.message);
    }
}

// Says yes to what it asks, until nothing is asked any more.
static void agree(bench *b)
{
    for (int i = 0; i < 6; i++) {
        pons_autovalue is = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_true(pons_status_read(b->memory, "t1", NULL, NULL, &is, &err) >= 0);
        const pons_value *q = json_array_get(pons_get(is, "approvals"), 0);
        if (q) {
            pons_autovalue yes =
                pons_object("id", json_string(pons_get_str(q, "id", "")), "nonce",
                            json_sprintf("n%d", i), "action", json_string("approve"), NULL);
            assert_true(pons_inbox_post(b->memory, "t1", "kernel", "answer", yes, &err) >= 0);
        }
        bench_run(b, 4.0);
    }
}

static void forked_at(const story *s, int n, bool at_a_checkpoint)
{
    bench b;
    char at[64];
    until_it_begins(&b, s);
    b.kill_at = b.commits + n;
    if (s->inbox_message) {
        bench_post(&b, "say", s->inbox_message);
    } else {
        bench_goal_text(&b, "去厨房");
    }
    bench_run(&b, 2.0);
    bench_kill(&b);
    newest(&b, at);
    replace(&b, at_a_checkpoint ? at : NULL);
    b.kill_at = 0;
    b.mark = json_array_size(b.events);
    b.base_ms = 1000;
    bench_brain(&b);
    const int64_t before = b.commits;
    agree(&b);
    const int64_t commits = b.commits - before;
    if (bench_starts(&b, s->waits) < 1 || commits > 600) {
        fail_msg("%s, %s, commit %d: %s began %d times, %lld commits", s->name,
                 at_a_checkpoint ? "forked" : "copied", n, s->waits, bench_starts(&b, s->waits),
                 (long long)commits);
    }
    bench_close(&b);
}

static void what_was_said_is_said_again(void **state)
{
    (void)state;
    static const story stories[] = {
        {"a goal", true, false, NULL, MOVES, 23},
        {"another goal while a person is asked", true, false, "{'text':'wait 1 seconds'}", "wait",
         10},
        {"an urgent one while it drives", false, true,
         "{'text':'wait 1 seconds','priority':'urgent'}", "wait", 10},
    };
    for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
        for (int n = 2; n <= stories[i].commits; n++) {
            if (!bench_due(ROUNDS_brain_deaths, n - 2, stories[i].commits - 1)) {
                continue;
            }
            forked_at(&stories[i], n, false);
            if (stories[i].inbox_message) { // a fork at the beginning has no task yet
                forked_at(&stories[i], n, true);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said_is_said_again),
    };
    return cmocka_run_group_tests_name("forked", tests, NULL, NULL);
}
