// test_text_task_killed.c - a task in words (real_execute) while somebody dies: the watchdog at each writing call that
// it makes, then the run that does the task at each of its own. The next life, or the next run, ends what was begun:
// the action is completed, and by the ledger of a body that goes on all the while each drive was made once.
// How often is in rounds.h: spread over all of its calls, by a seed that is printed.
#include "cli_bench.h"
#include "killer.h"
#include "pons/random.h"
#include "pons/workspace.h"
#include "rounds.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

typedef struct world { // a workspace, and a body that goes on
    bench b;
    proc body;
    int round;
} world;

static void world_open(world *w)
{
    *w = (world){.round = 0};
    bench_open(&w->b);
    assert_int_equal(bench_run(&w->b, "onboard"), 0);
    bench_start_body(&w->b, &w->body, FAST " --json");
}

static void world_close(world *w)
{
    bench_signal(&w->body, SIGTERM);
    bench_finish(&w->body);
    bench_free(&w->body);
    bench_close(&w->b);
}

// One drive, to the other room each time.
static void put_errand(const world *w)
{
    char text[256];
    snprintf(text, sizeof text,
             "# Mine\n\n```json\n{\"queue\": [\n{\"action_id\":\"e%d\",\"action_type\":"
             "\"real_execute\",\"params\":{\"nl_task\":\"go to the %s\"}}\n]}\n```\n\nBehind.\n",
             w->round, w->round % 2 ? "living room" : "kitchen");
    bench_put(&w->b, "ACTION.md", text);
}

static void expect_done(world *w, const char *who, long at)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    char id[32];
    size_t len;
    snprintf(id, sizeof id, "e%d", w->round);
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, w->b.workspace, PONS_WS_ACTION, &d, &err),
                     PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, "action", id);
    const char *is = r ? pons_get_str(r->value, "status", "") : "lost";
    if (strcmp(is, "completed") != 0) {
        char *why = r ? json_dumps(r->value, JSON_COMPACT) : NULL;
        fail_msg("the %s killed before call %ld: %s is %s: %s", who, at, id, is, why ? why : "");
    }
    assert_non_null(strstr(pons_ws_text(d, &len), "```\n\nBehind.\n"));
    pons_ws_destroy(d);
    bench_ledger_check(&w->b); // no goal began twice
    // A hold may cancel a drive and begin another: where the machine is slow the telemetry is old.
    const int n = bench_ledger_in(&w->b, "navigate_to_pose", "done");
    if (n != w->round + 1) {
        fail_msg("the %s killed before call %ld: %d drives were done, not %d", who, at, n,
                 w->round + 1);
    }
}

#define DOG "watchdog hal --once --json"

// at 0: it does not; filled: its calls. False: it did not come so far.
static bool dog_dies(world *w, long at, long *ret_calls)
{
    proc p = {0};
    killer k = {.at = at};
    bench_start(&w->b, &p, NULL, DOG);
    if (!killer_run(&k, p.pid)) {
        bench_signal(&p, SIGKILL);
        bench_finish(&p);
        bench_free(&p);
        skip(); // nobody may trace here
    }
    *ret_calls = k.calls;
    const bool died = WIFSIGNALED(k.status);
    p.status = died ? 128 + WTERMSIG(k.status) : WEXITSTATUS(k.status);
    bench_waited(&p);
    bench_free(&p);
    if (died) {
        bench_start(&w->b, &p, NULL, DOG);
        bench_must_exit(&p, 0);
        bench_free(&p);
    }
    return died;
}

static bool run_dies(world *w, long at, long *ret_calls)
{
    proc p = {0};
    killer k = {.at = at};
    pid_t errand = 0;
    bench_start(&w->b, &p, NULL, DOG);
    while (!(errand = bench_child(p.pid, "--new"))) { // it is pons run by now
        assert_true(bench_alive(&p));
        bench_rest(1);
    }
    const bool traced = killer_run(&k, errand);
    bench_must_exit(&p, 0);
    bench_free(&p);
    if (!traced) {
        skip();
    }
    *ret_calls = k.calls;
    return WIFSIGNALED(k.status);
}

static void at_each_call(const char *who, bool (*dies)(world *w, long at, long *ret_calls), long n)
{
    const uint64_t seed = 20261123;
    pons_rand r;
    world w;
    long calls = 0, ignored = 0;
    int deaths = 0;
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // it cannot look under a tracer
    pons_rand_seed(&r, seed);
    world_open(&w);
    for (long i = -1; i < n; i++, w.round++) { // -1: how many there are
        n = i < 0 || n < calls ? n : calls;
        const long from = 1 + i * calls / n, to = 1 + (i + 1) * calls / n;
        const long more = to > from ? (long)pons_rand_below(&r, (uint32_t)(to - from)) : 0;
        const long at = i < 0 ? 0 : from + more;
        put_errand(&w);
        deaths += dies(&w, at, i < 0 ? &calls : &ignored);
        expect_done(&w, who, at);
    }
    print_message("%s, seed %llu: %d deaths in %ld calls, 0 lost, 0 repeated\n", who,
                  (unsigned long long)seed, deaths, calls);
    assert_true(deaths > 0);
    world_close(&w);
}

static void the_watchdog(void **state)
{
    (void)state;
    at_each_call("watchdog", dog_dies, rounds(ROUNDS_errand_dog_kills));
}

static void the_run(void **state)
{
    (void)state;
    at_each_call("run", run_dies, rounds(ROUNDS_errand_run_kills));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_watchdog, bench_teardown),
        cmocka_unit_test_teardown(the_run, bench_teardown),
    };
    return bench_together("errand", tests, sizeof tests / sizeof *tests);
}
