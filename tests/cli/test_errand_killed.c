// test_errand_killed.c - a task in words (real_execute) while somebody dies: the watchdog at each writing call that
// it makes, then the run that does the task at each of its own. The next life, or the next run, ends what was begun:
// the action is completed, and by the ledger of a body that goes on all the while each drive was made once.
// PONS_KILL_EVERY=1: at each call; else at some of them, by a seed that is printed.
#include "cli_bench.h"
#include "killer.h"
#include "pons/rand.h"
#include "pons/workspace.h"
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

// False: it did not come so far.
static bool dog_dies(world *w, long at)
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

static bool run_dies(world *w, long at)
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
    return WIFSIGNALED(k.status);
}

static void at_each_call(const char *who, bool (*dies)(world *w, long at), uint32_t usually)
{
    const char *every = getenv("PONS_KILL_EVERY");
    const uint32_t stride = every && atoi(every) > 0 ? (uint32_t)atoi(every) : usually;
    const uint64_t seed = 20261123;
    pons_rand r;
    world w;
    long at = 1;
    int deaths = 0;
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // it cannot look under a tracer
    pons_rand_seed(&r, seed);
    world_open(&w);
    for (bool more = true; more; w.round++) {
        put_errand(&w);
        more = dies(&w, at);
        expect_done(&w, who, at);
        deaths += more;
        at += !more ? 0 : stride == 1 ? 1 : 1 + (long)pons_rand_below(&r, 2 * stride - 1);
    }
    print_message("%s, seed %llu: %d deaths up to call %ld, 0 lost, 0 repeated\n", who,
                  (unsigned long long)seed, deaths, at);
    assert_true(deaths > 0);
    world_close(&w);
}

static void the_watchdog(void **state)
{
    (void)state;
    at_each_call("watchdog", dog_dies, 20);
}

static void the_run(void **state)
{
    (void)state;
    at_each_call("run", run_dies, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_watchdog, bench_teardown),
        cmocka_unit_test_teardown(the_run, bench_teardown),
    };
    return bench_together("errand", tests, sizeof tests / sizeof *tests);
}
