// test_watchdog_killed.c - both watchdogs die at each writing call that they make, on both stores: the next
// life ends what was begun, nothing is lost and nothing is done twice, by the ledger of a body that goes on all
// the while. How often is in rounds.h: spread over all of its calls, by a seed that is printed.
#include "cli_bench.h"
#include "killer.h"
#include "pons/out_of_memory.h"
#include "pons/random.h"
#include "pons/workspace.h"
#include "rounds.h"
#include "store/cluster.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { EACH = 2, BATTERY = 30 }; // actions, sessions of a round; rounds of a battery

typedef struct kind { // of watchdogs
    const char *name, *command, *file, *record;
    pons_ws_file which;
    const char *ends; // well
    void (*put)(bench *b, int round);
} kind;

// Two drives, there and back a little.
static void put_actions(bench *b, int round)
{
    char text[1024];
    snprintf(text, sizeof text,
             "# Mine\n\n```json\n{\"queue\": [\n"
             "{\"action_id\":\"k%d-0\",\"action_type\":\"move_to\",\"params\":{\"target_pose\":"
             "[%.1f,1.0,0,0,0,0]}},\n"
             "{\"action_id\":\"k%d-1\",\"action_type\":\"move_to\",\"params\":{\"target_pose\":"
             "[1.5,1.0,0,0,0,0]}}\n]}\n```\n\nBehind.\n",
             round, round % 2 ? 1.2 : 1.8, round);
    bench_put(b, "ACTION.md", text);
}

static void put_sessions(bench *b, int round)
{
    char text[1024];
    snprintf(text, sizeof text,
             "# Mine\n\n```yaml\nsessions:\n"
             "  - {session_id: k%d-0, target_ref: t1, skill_ref: wait, execution: {params: {s: "
             "0.2}}}\n"
             "  - {session_id: k%d-1, target_ref: t1, skill_ref: wait, execution: {params: {s: "
             "0.2}}}\n```\n\nBehind.\n",
             round, round);
    bench_put(b, "SESSIONS.md", text);
}

static const kind hal = {
    "hal",      "watchdog hal --once --json", "ACTION.md", "action", PONS_WS_ACTION, "completed",
    put_actions};
static const kind runtime = {"runtime",        "watchdog runtime --once --json",
                             "SESSIONS.md",    "session",
                             PONS_WS_SESSIONS, "succeeded",
                             put_sessions};

static int started(bench *b)
{
    pons_autovalue all = bench_ledger(b);
    pons_autovalue once = json_object();
    size_t i;
    const pons_value *row;
    json_array_foreach(all, i, row) {
        const char *goal = pons_get_str(row, "goal_id", "");
        if (strcmp(pons_get_str(row, "state", ""), "started") == 0) {
            if (pons_get(once, goal)) {
                fail_msg("goal %s was started twice", goal);
            }
            json_object_set_new(once, goal, json_true());
        }
    }
    return (int)json_object_size(once);
}

static void expect_all(bench *b, const kind *k, long at)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, k->which, &d, &err), PONS_OK);
    for (int i = 0; i < EACH; i++) {
        char id[32];
        snprintf(id, sizeof id, "k%ld-%d", at, i);
        const pons_ws_record *r = pons_ws_find(d, k->record, id);
        const char *is = r ? pons_get_str(r->value, "status", "") : "lost";
        if (strcmp(is, k->ends) != 0) {
            char *why = r ? json_dumps(r->value, JSON_COMPACT) : NULL;
            fail_msg("the %s killed before call %ld: %s is %s: %s", k->name, at, id, is,
                     why ? why : "");
        }
    }
    size_t len;
    assert_non_null(strstr(pons_ws_text(d, &len), "```\n\nBehind.\n"));
    pons_ws_destroy(d);
}

// One life that dies at such a call (0: at none; calls -1: nobody may trace here), and one that ends. False: it did not
// come so far.
static bool dies_at(bench *b, const kind *k, int round, long at, long *ret_calls)
{
    proc p = {0};
    k->put(b, (int)at);
    killer kill_it = {.at = at};
    bench_start(b, &p, NULL, k->command);
    *ret_calls = -1;
    if (!killer_run(&kill_it, p.pid)) {
        bench_signal(&p, SIGKILL);
        bench_finish(&p);
        bench_free(&p);
        return false;
    }
    *ret_calls = kill_it.calls;
    const bool died = WIFSIGNALED(kill_it.status);
    p.status = died ? 128 + WTERMSIG(kill_it.status) : WEXITSTATUS(kill_it.status);
    bench_waited(&p);
    if (!died) {
        bench_must_exit(&p, 0);
    }
    bench_free(&p);
    if (died) {
        bench_start(b, &p, NULL, k->command);
        bench_must_exit(&p, 0);
        bench_free(&p);
    }
    expect_all(b, k, at);
    const int n = started(b);
    if (n != EACH * (round + 1)) {
        fail_msg("the %s killed before call %ld: the body did %d, not %d", k->name, at, n,
                 EACH * (round + 1));
    }
    return died;
}

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
    bench_put(&w->b, "TARGETS.md",
              "# Mine\n\n```yaml\ntargets:\n  - {id: t1, type: sim, backend: kinematic}\n```\n");
    bench_put(&w->b, "SKILLS.md",
              "# Mine\n\n```yaml\nskills:\n  - {id: wait, runtime: BuiltinRuntime}\n```\n");
    bench_start_body(&w->b, &w->body, FAST " --json");
}

static void world_close(world *w)
{
    bench_signal(&w->body, SIGTERM);
    bench_finish(&w->body);
    bench_free(&w->body);
    bench_close(&w->b);
}

static void at_each_call(const kind *k)
{
    long n = rounds(ROUNDS_watchdog_kills);
    const uint64_t seed = 20261123;
    pons_rand r;
    world w = {.round = 0};
    long calls = 0, ignored = 0;
    int deaths = 0;
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // it cannot look under a tracer
    pons_rand_seed(&r, seed);
    world_open(&w);
    dies_at(&w.b, k, w.round++, 0, &calls); // how many there are
    if (calls < 0) {
        world_close(&w);
        skip();
    }
    n = n < calls ? n : calls;
    for (long i = 0; i < n; i++) {
        const long from = 1 + i * calls / n, to = 1 + (i + 1) * calls / n;
        if (w.round == BATTERY) {
            world_close(&w);
            world_open(&w);
        }
        const long at = from + (to > from ? (long)pons_rand_below(&r, (uint32_t)(to - from)) : 0);
        deaths += dies_at(&w.b, k, w.round++, at, &ignored);
    }
    print_message("%s, seed %llu: %d deaths in %ld calls, 0 lost, 0 repeated\n", k->name,
                  (unsigned long long)seed, deaths, calls);
    world_close(&w);
    assert_true(deaths > 0);
}

static void hal_at_each_call(void **state)
{
    (void)state;
    at_each_call(&hal);
}

static void runtime_at_each_call(void **state)
{
    (void)state;
    at_each_call(&runtime);
}

static void runtime_on_postgres(void **state)
{
    (void)state;
    if (!cluster_share()) {
        skip();
    }
    setenv("PONS_STORE", cluster_empty(""), 1);
    at_each_call(&runtime);
    unsetenv("PONS_STORE");
    cluster_stop();
}

static void hal_on_postgres(void **state)
{
    (void)state;
    if (!cluster_share()) {
        skip();
    }
    setenv("PONS_STORE", cluster_empty(""), 1);
    at_each_call(&hal);
    unsetenv("PONS_STORE");
    cluster_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(hal_at_each_call, bench_teardown),
        cmocka_unit_test_teardown(hal_on_postgres, bench_teardown),
        cmocka_unit_test_teardown(runtime_at_each_call, bench_teardown),
        cmocka_unit_test_teardown(runtime_on_postgres, bench_teardown),
    };
    return bench_together("killed", tests, sizeof tests / sizeof *tests);
}
