// test_session_schedule.c - the Runtime watchdog on a clock of the test's own, with a body that is told what to
// do: pauses between attempts, time-outs, who is first, a wall clock that goes back a day, and a watchdog that
// is stopped for a minute and goes on among what another has taken from it; chunks of a policy, which runs as a program.
#include "pons/runtime.h"
#include "pons/store.h"
#include "unit.h"
#include "workspace/ws_help.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EPOCH_MS 1775044800000 // 2026-04-01

enum { CALLS = 64 };

typedef struct body { // of a target, shared by the watchdogs that reach it
    struct {
        char key[64];
        bool over, ends_well;
    } goals[CALLS];
    int n;
    bool fails, refuses; // each goal; before it begins
    bool loses;          // each goal on its way: it never begins
    bool tells;          // once, that the goal is nearly done
    const char *words;   // with which they fail
    int starts, cancels, lost;
} body;

typedef struct robot { // a watchdog's view of it
    body *b;
    struct {
        uint64_t call;
        int goal; // -1: a look at the world, -2: unknown
    } waits[CALLS];
    int n;
} robot;

static int list(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    (void)err;
    *ret = json_pack("[{s:s},{s:s,s:{s:s}},{s:s}]", "name", "query_world", "name", "wait",
                     "parameters", "type", "object", "name", "follow_actions");
    return PONS_OK;
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    robot *r = self;
    body *b = r->b;
    const bool acts = strcmp(tool, "query_world") != 0;
    (void)args;
    if (b->refuses && acts) {
        return pons_error_set(err, PONS_EENV, "test", "no");
    }
    if (b->loses && acts) {
        b->lost++;
        return PONS_OK;
    }
    int goal = -1;
    if (acts) {
        assert_true(b->n < CALLS);
        for (int i = 0; i < b->n; i++) {
            assert_string_not_equal(b->goals[i].key, key); // once
        }
        goal = b->n++;
        snprintf(b->goals[goal].key, sizeof b->goals[goal].key, "%s", key);
        b->starts++;
    }
    r->waits[r->n].call = call;
    r->waits[r->n++].goal = goal;
    return PONS_OK;
}

static int adopt(void *self, uint64_t call, const char *tool, const char *key, pons_error *err)
{
    robot *r = self;
    (void)tool;
    for (int i = 0; i < r->b->n; i++) {
        if (strcmp(r->b->goals[i].key, key) == 0) {
            r->waits[r->n].call = call;
            r->waits[r->n++].goal = i;
            return PONS_OK;
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, "test", "never heard of it");
}

static void cancel(void *self, uint64_t call)
{
    robot *r = self;
    for (int i = 0; i < r->n; i++) {
        if (r->waits[i].call == call) {
            r->b->cancels++;
            r->waits[i] = r->waits[--r->n];
        }
    }
}

static int event_fd(void *self)
{
    (void)self;
    return -1;
}

static bool next(void *self, pons_tool_event *ret)
{
    robot *r = self;
    for (int i = 0; i < r->n; i++) {
        const int g = r->waits[i].goal;
        if (g >= 0 && r->b->tells) {
            r->b->tells = false;
            *ret = (pons_tool_event){.call = r->waits[i].call, .kind = PONS_TOOL_PROGRESS};
            ret->value = json_pack("{s:f,s:f}", "progress", 0.9, "total", 1.0);
            return true;
        }
        if (g >= 0 && !r->b->goals[g].over && !r->b->fails) {
            continue;
        }
        *ret = (pons_tool_event){.call = r->waits[i].call};
        r->waits[i] = r->waits[--r->n];
        if (g >= 0 && (r->b->fails || !r->b->goals[g].ends_well)) {
            ret->kind = PONS_TOOL_FAILED;
            pons_error_set(&ret->error, PONS_EIO, "test", "%s", r->b->words);
        } else {
            ret->kind = PONS_TOOL_DONE;
            ret->value = json_pack("{s:s,s:{s:b}}", "output", "", "data", "connected", 1);
        }
        return true;
    }
    return false;
}

static void close_robot(void *self)
{
    free(self);
}

static const pons_tools_ops robot_ops = {.abi = PONS_TOOL_ABI,
                                         .name = "test",
                                         .close = close_robot,
                                         .list = list,
                                         .start = start,
                                         .adopt = adopt,
                                         .cancel = cancel,
                                         .event_fd = event_fd,
                                         .next = next};

typedef struct bench {
    char dir[64];
    pons_clock_manual time;
    pons_store store;
    pons_lanes lanes;
    body body;
    const char *only; // a target
    int64_t keep;     // of what has ended, as store.keep; 0: all
} bench;

typedef struct dog {
    bench *b;
    pons_clock_manual own; // of a watchdog that is stopped: its own time
    pons_ws_place *place;
    pons_runtime *r;
    char begun[512];
    int64_t pruned, pruned_failed;
} dog;

static int open_body(void *user, const char *target, const pons_value *record, pons_tools *ret,
                     pons_error *err)
{
    const dog *d = user;
    (void)target;
    (void)record;
    (void)err;
    robot *r = calloc(1, sizeof *r);
    r->b = &d->b->body;
    *ret = (pons_tools){&robot_ops, r};
    return PONS_OK;
}

static void reported(void *user, const char *id, const pons_value *record)
{
    dog *d = user;
    if (strcmp(pons_get_str(record, "status", ""), "running") == 0) {
        strncat(d->begun, id, sizeof d->begun - strlen(d->begun) - 2);
        strcat(d->begun, " ");
    }
}

static void pruned(void *user, int64_t sessions, int64_t failed)
{
    dog *d = user;
    d->pruned += sessions;
    d->pruned_failed += failed;
}

static void put(const bench *b, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", b->dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void bench_open(bench *b, const char *skill, const char *sessions)
{
    char text[4096];
    pons_error err = PONS_ERROR_INIT;
    *b = (bench){.dir = "/tmp/pons-in-time-XXXXXX",
                 .body = {.words = "it failed"},
                 .time = {.now_ns = PONS_NS_PER_S, .wall_epoch_ms = EPOCH_MS}};
    assert_non_null(mkdtemp(b->dir));
    put(b, "TARGETS.md", "```yaml\ntargets:\n  - {id: t1, type: sim, backend: kinematic}\n```\n");
    snprintf(text, sizeof text,
             "```yaml\nskills:\n  - {id: wait, runtime: BuiltinRuntime%s}\n```\n", skill);
    put(b, "SKILLS.md", text);
    snprintf(text, sizeof text, "```yaml\nsessions:\n%s```\n", sessions);
    put(b, "SESSIONS.md", text);
    assert_int_equal(pons_store_open("memory:", &b->store, &err), PONS_OK);
    b->store.ops->lanes(b->store.self, &b->lanes);
}

static void bench_close(bench *b)
{
    char command[96];
    pons_store_close(&b->store);
    snprintf(command, sizeof command, "rm -r %s", b->dir);
    assert_int_equal(system(command), 0);
}

static void dog_open(dog *d, bench *b, const char *name, bool own_time)
{
    pons_error err = PONS_ERROR_INIT;
    *d = (dog){.b = b, .own = b->time};
    const pons_ws_place_options o = {.role = PONS_WS_BY_RUNTIME};
    assert_int_equal(pons_ws_place_open(b->dir, &o, &d->place, &err), PONS_OK);
    const pons_runtime_options options = {.place = d->place,
                                          .dir = b->dir,
                                          .lanes = b->lanes,
                                          .clock =
                                              pons_clock_from_manual(own_time ? &d->own : &b->time),
                                          .runner = name,
                                          .only = b->only,
                                          .seed = 7,
                                          .body = open_body,
                                          .keep = b->keep,
                                          .keep_failed = b->keep * 2,
                                          .reported = reported,
                                          .pruned = pruned,
                                          .user = d};
    assert_int_equal(pons_runtime_open(&options, &d->r, &err), PONS_OK);
}

static void dog_close(dog *d)
{
    pons_runtime_close(d->r);
    pons_ws_place_close(d->place);
}

static void pass(bench *b, dog *d, int64_t ms)
{
    for (int64_t i = 0; i < ms; i += 50) {
        b->time.now_ns += 50 * PONS_NS_PER_MS;
        pons_runtime_step(d->r);
    }
}

static void expect(const bench *b, const char *id, const char *status, const char *code)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->dir, PONS_WS_SESSIONS, &d, &err), PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, "session", id);
    assert_non_null(r);
    assert_string_equal(pons_get_str(r->value, "status", ""), status);
    assert_string_equal(pons_get_str(pons_get(r->value, "error"), "code", ""), code);
    pons_ws_destroy(d);
}

#define SESSION(id, more) "  - {session_id: " id ", target_ref: t1, skill_ref: wait" more "}\n"

// The time from one attempt's start to the next one's, each of which fails at once.
static void attempts(const char *backoff, int n, int64_t *ret_ms)
{
    bench b;
    dog d;
    char session[256];
    snprintf(session, sizeof session, SESSION("s1", ", retry: {max_attempts: %d, backoff: %s}"), n,
             backoff);
    bench_open(&b, ", idempotent: true", session);
    b.body.fails = true;
    dog_open(&d, &b, "one", false);
    int64_t last = 0;
    int seen = 0;
    for (int i = 0; i < 200000 && seen < n; i++) {
        pass(&b, &d, 50);
        if (b.body.starts > seen) {
            const int64_t now = b.time.now_ns / PONS_NS_PER_MS;
            if (seen) {
                ret_ms[seen - 1] = now - last;
            }
            last = now;
            seen++;
        }
    }
    assert_int_equal(seen, n);
    pass(&b, &d, 200000);
    assert_int_equal(b.body.starts, n); // all attempts count, and no more
    expect(&b, "s1", "failed", "SKILL_FAILED");
    dog_close(&d);
    bench_close(&b);
}

static void pauses_between_attempts(void **state)
{
    (void)state;
    int64_t ms[8];
    attempts("none", 3, ms);
    assert_true(ms[0] <= 200 && ms[1] <= 200);
    attempts("fixed", 3, ms);
    assert_true(ms[0] >= 1000 && ms[0] <= 1300 && ms[1] >= 1000 && ms[1] <= 1300);
    attempts("exponential", 9, ms);
    double wants = 2000;
    for (int i = 0; i < 8; i++) { // 2, 4, 8 … 60 s, each 20 % less or more
        assert_true((double)ms[i] >= wants * 0.8 && (double)ms[i] <= wants * 1.2 + 1200);
        wants = wants * 2 < 60000 ? wants * 2 : 60000;
    }
}

// A pause is noted by the wall clock, so that another watchdog can end it: one that is set back a day does not
// make it a day.
static void a_wall_clock_that_goes_back(void **state)
{
    (void)state;
    bench b;
    dog d;
    bench_open(&b, ", idempotent: true",
               SESSION("s1", ", retry: {max_attempts: 2, backoff: fixed}"));
    b.body.fails = true;
    dog_open(&d, &b, "one", false);
    pass(&b, &d, 500);
    assert_int_equal(b.body.starts, 1);
    b.time.wall_epoch_ms -= 86400000;
    pass(&b, &d, 5000);
    assert_int_equal(b.body.starts, 2);
    dog_close(&d);
    bench_close(&b);
}

static void what_never_began_is_tried_again_what_did_is_not(void **state)
{
    (void)state;
    bench b;
    dog d;
    bench_open(&b, "", SESSION("s1", ", retry: {max_attempts: 3, backoff: none}"));
    b.body.refuses = true;
    dog_open(&d, &b, "one", false);
    pass(&b, &d, 3000);
    b.body.refuses = false;
    pass(&b, &d, 3000);
    expect(&b, "s1", "failed", "BODY_NOT_THERE"); // three times, and none began
    assert_int_equal(b.body.starts, 0);
    dog_close(&d);
    bench_close(&b);
    bench_open(&b, "", SESSION("s1", ", retry: {max_attempts: 3, backoff: none}"));
    b.body.fails = true;
    dog_open(&d, &b, "one", false);
    pass(&b, &d, 5000);
    expect(&b, "s1", "failed", "SKILL_FAILED");
    assert_int_equal(b.body.starts, 1);
    dog_close(&d);
    bench_close(&b);
}

static void times_that_are_over(void **state)
{
    (void)state;
    bench b;
    dog d;
    bench_open(&b, "",
               SESSION("s1", ", timeouts: {session: 5, skill: 60}")
                   SESSION("s2", ", timeouts: {session: 60, skill: 3}"));
    dog_open(&d, &b, "one", false);
    pass(&b, &d, 4500);
    expect(&b, "s1", "running", "");
    pass(&b, &d, 1500);
    expect(&b, "s1", "failed", "SESSION_TIMEOUT");
    pass(&b, &d, 4500);
    expect(&b, "s2", "failed", "SKILL_TIMEOUT");
    assert_int_equal(b.body.cancels, 2); // the robot stops
    dog_close(&d);
    bench_close(&b);
}

static void first_by_priority_then_by_time(void **state)
{
    (void)state;
    bench b;
    dog d;
    bench_open(&b, "",
               SESSION("low", ", priority: low")
                   SESSION("late", ", created_at: '2025-04-01T13:00Z'")
                       SESSION("n1", ", created_at: '2025-04-01T12:00:00Z'")
                           SESSION("n2", ", created_at: '2025-04-01T12:00:00Z'")
                               SESSION("high", ", priority: high"));
    dog_open(&d, &b, "one", false);
    for (int i = 0; i < 40; i++) {
        pass(&b, &d, 500);
        for (int g = 0; g < b.body.n; g++) {
            b.body.goals[g].over = b.body.goals[g].ends_well = true;
        }
        assert_true(b.body.starts <= b.body.n);
    }
    assert_string_equal(d.begun, "high late n1 n2 low "); // a time that cannot be read: before all
    dog_close(&d);
    bench_close(&b);
}

// SIGSTOP: its clock stands for it, the others' goes on.
static void stopped_for_a_minute(void **state)
{
    (void)state;
    bench b;
    dog one, two;
    bench_open(&b, "", SESSION("s1", ", timeouts: {session: 300, skill: 300}") SESSION("s2", ""));
    dog_open(&one, &b, "one", true);
    for (int i = 0; i < 20; i++) {
        one.own.now_ns += 50 * PONS_NS_PER_MS;
        pons_runtime_step(one.r);
    }
    assert_int_equal(b.body.starts, 1);
    b.time.now_ns = one.own.now_ns;
    dog_open(&two, &b, "two", false);
    pass(&b, &two, 60000);
    assert_int_equal(b.body.starts, 1); // taken over, and asked about: not begun again
    one.own.now_ns = b.time.now_ns;     // it goes on
    for (int i = 0; i < 100; i++) {
        one.own.now_ns += 50 * PONS_NS_PER_MS;
        pons_runtime_step(one.r);
    }
    b.body.goals[0].over = b.body.goals[0].ends_well = true;
    for (int i = 0; i < 200; i++) {
        one.own.now_ns += 50 * PONS_NS_PER_MS;
        pons_runtime_step(one.r);
        pass(&b, &two, 50);
        if (b.body.n == 2) {
            b.body.goals[1].over = b.body.goals[1].ends_well = true;
        }
    }
    expect(&b, "s1", "succeeded", "");
    expect(&b, "s2", "succeeded", "");
    assert_int_equal(b.body.starts, 2);
    assert_int_equal(b.body.cancels, 0); // nobody stopped the other's
    dog_close(&one);
    dog_close(&two);
    bench_close(&b);
}

static int lines_of(const bench *b, const char *name, const char *with)
{
    char path[128], line[2048];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", b->dir, name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        n += strstr(line, with) != NULL;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

// A policy that is a program, and writes down that it was asked.
static void policy_open(bench *b)
{
    char text[512];
    bench_open(b, "", SESSION("s1", ", timeouts: {session: 9000, skill: 9000}"));
    snprintf(
        text, sizeof text,
        "```yaml\nskills:\n  - {id: wait, runtime: VLAPolicyRuntime, policy_client: {type: local, "
        "program: [sh, '%s/policy']}}\n```\n",
        b->dir);
    put(b, "SKILLS.md", text);
    snprintf(text, sizeof text,
             "while read -r question; do echo asked >> '%s/asked'\n"
             "echo '{\"actions\": [[0.1, 0], [0.1, 0], [0.1, 0], [0.1, 0]]}'; done\n",
             b->dir);
    put(b, "policy", text);
}

// The policy's answer comes when it comes.
static void until_starts(bench *b, dog *d, int n)
{
    for (int i = 0; i < 3000 && b->body.starts + b->body.lost < n; i++) {
        struct pollfd p = {.fd = pons_runtime_fd(d->r), .events = POLLIN};
        poll(&p, 1, 10);
        b->time.now_ns += PONS_NS_PER_MS;
        d->own.now_ns += PONS_NS_PER_MS;
        pons_runtime_step(d->r);
    }
    assert_int_equal(b->body.starts + b->body.lost, n);
}

// The next chunk is on its way, or begins behind the one that failed: nothing drives on when the session has ended.
static void a_chunk_fails_when_the_next_was_sent(void **state)
{
    (void)state;
    bench b;
    dog d;
    policy_open(&b);
    dog_open(&d, &b, "one", false);
    until_starts(&b, &d, 1);
    b.body.tells = true;
    until_starts(&b, &d, 2);
    assert_int_equal(b.body.cancels, 0);
    b.body.goals[0].over = true;
    pass(&b, &d, 1000);
    expect(&b, "s1", "failed", "SKILL_FAILED");
    assert_int_equal(b.body.cancels, 1);
    dog_close(&d);
    bench_close(&b);
}

// Its watchdog died before the body had the chunk: what the policy saw then is old.
static void a_chunk_that_never_began_is_asked_for_anew(void **state)
{
    (void)state;
    bench b;
    dog one, two;
    policy_open(&b);
    b.body.loses = true;
    dog_open(&one, &b, "one", true);
    until_starts(&b, &one, 1);
    assert_int_equal(lines_of(&b, "asked", "asked"), 1);
    b.body.loses = false;
    b.time.now_ns = one.own.now_ns;
    dog_open(&two, &b, "two", false);
    pass(&b, &two, 30000);
    until_starts(&b, &two, 2);
    assert_int_equal(b.body.starts, 1);
    assert_int_equal(lines_of(&b, "asked", "asked"), 2);
    dog_close(&one);
    dog_close(&two);
    bench_close(&b);
}

static int take(void *user, const pons_session_row *row)
{
    *(uint64_t *)user = row->epoch;
    return 0;
}

// Sessions that ended long ago; each tenth failed.
static void fill(const bench *b, int n)
{
    pons_error err = PONS_ERROR_INIT;
    for (int i = 0; i < n; i++) {
        char id[16];
        uint64_t epoch = 0;
        snprintf(id, sizeof id, "old%d", i);
        const pons_session_row row = {.id = id, .lane = "elsewhere", .data = {"{}", 2}};
        const pons_session_claim how = {.runner = "before"};
        assert_int_equal(b->lanes.ops->enqueue(b->lanes.self, &row, 1, &err), PONS_OK);
        assert_int_equal(b->lanes.ops->claim(b->lanes.self, &how, take, &epoch, &err), PONS_OK);
        const pons_session_end end = {.id = id,
                                      .epoch = epoch,
                                      .state =
                                          i % 10 ? PONS_SESSION_SUCCEEDED : PONS_SESSION_FAILED};
        assert_int_equal(b->lanes.ops->finish(b->lanes.self, &end, NULL, NULL, &err), PONS_OK);
    }
}

static int count(void *user, const pons_session_row *row)
{
    (void)row;
    ++*(int *)user;
    return 0;
}

static int in_lanes(const bench *b)
{
    int n = 0;
    pons_error err = PONS_ERROR_INIT;
    const pons_session_find all = {.states = ~0u};
    assert_int_equal(b->lanes.ops->list(b->lanes.self, &all, count, &n, &err), PONS_OK);
    return n;
}

// What ended long ago goes, a little at a time, while a session runs; it is said, once, and what the folder
// still has to say of sessions holds. A wall clock that leaps ten years takes nothing more.
static void what_is_old_goes(void **state)
{
    (void)state;
    bench b;
    dog d;
    char path[128], text[4096] = "";
    bench_open(&b, "", SESSION("s1", ""));
    fill(&b, 1000);
    b.keep = 10; // as 200, as those are in the file; of what failed the last 20, as 200 too
    dog_open(&d, &b, "one", false);
    pons_runtime_step(d.r);
    assert_true(in_lanes(&b) > 900); // a little
    assert_false(pons_runtime_idle(d.r));
    pass(&b, &d, 2000);
    assert_int_equal(b.body.starts, 1);
    assert_int_equal(in_lanes(&b), 200);
    assert_int_equal(d.pruned, 720);
    assert_int_equal(d.pruned_failed, 81);
    b.body.goals[0].over = b.body.goals[0].ends_well = true;
    b.time.wall_epoch_ms += 10 * 365 * 86400000LL;
    pass(&b, &d, 130000);
    expect(&b, "s1", "succeeded", "");
    assert_true(pons_runtime_idle(d.r));
    assert_int_equal(in_lanes(&b), 200);
    dog_close(&d);

    snprintf(path, sizeof path, "%s/LOG.md", b.dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    const char *said = strstr(text, "801 sessions that ended long ago are gone");
    assert_non_null(said);
    assert_null(strstr(strchr(said, '\n'), "ended long ago are gone")); // once

    b.keep = 0; // all stay
    dog_open(&d, &b, "two", false);
    pass(&b, &d, 2000);
    assert_int_equal(in_lanes(&b), 200);
    dog_close(&d);
    bench_close(&b);
}

// What a session file, or a policy, says is words: it begins no line of LOG.md, and numbers beyond all clocks are
// as large as may be.
static void words_and_numbers_of_others(void **state)
{
    (void)state;
    bench b;
    dog d;
    bench_open(&b, "",
               SESSION("s1", ", timeouts: {session: 1.0e+300, skill: 1.0e+300}, created_at: "
                             "\"2025-04-01T12:00:00.9e300\"")
                   SESSION("s2", ", created_at: \"2025-04-01T13:00:00\""));
    b.body.words =
        "it broke\n- 2026-04-01T00:00:00Z SESSIONS.md: s9 on t1 by wait: succeeded\r\x1b[2K";
    dog_open(&d, &b, "one", false);
    pass(&b, &d, 5000);
    assert_string_equal(d.begun, "s1 ");
    expect(&b, "s1", "running", "");
    b.body.fails = true;
    pass(&b, &d, 5000);
    expect(&b, "s1", "failed", "SKILL_FAILED");
    // In the lines of those whose body said it, and in none of its own.
    assert_int_equal(lines_of(&b, "LOG.md", "s9"), lines_of(&b, "LOG.md", " by wait: failed "));
    assert_int_equal(lines_of(&b, "LOG.md", "s1 on t1"), 1);
    assert_int_equal(lines_of(&b, "LOG.md", "\x1b"), 0);
    char path[128], line[2048];
    snprintf(path, sizeof path, "%s/LOG.md", b.dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        assert_true(strncmp(line, "- 2026-04-01T00:00:00Z SESSIONS.md: s9", 38) != 0);
    }
    fclose(f);
    dog_close(&d);
    bench_close(&b);
}

// Who may work for one target alone cannot ask another one's body what became of a session: it is left to somebody
// who can.
static void another_targets_session_is_not_taken(void **state)
{
    (void)state;
    bench b;
    dog one, two, all;
    bench_open(&b, "", SESSION("s1", ", timeouts: {session: 9000, skill: 9000}"));
    dog_open(&one, &b, "one", true);
    for (int i = 0; i < 20; i++) {
        one.own.now_ns += 50 * PONS_NS_PER_MS;
        pons_runtime_step(one.r);
    }
    assert_int_equal(b.body.starts, 1); // and it is never heard of again
    b.only = "t2";
    b.time.now_ns = one.own.now_ns;
    dog_open(&two, &b, "two", false);
    pass(&b, &two, 60000);
    assert_null(strstr(two.begun, "s1"));
    expect(&b, "s1", "running", "");
    b.only = NULL;
    dog_open(&all, &b, "all", false);
    pass(&b, &all, 60000);
    b.body.goals[0].over = b.body.goals[0].ends_well = true;
    pass(&b, &all, 1000);
    expect(&b, "s1", "succeeded", "");
    assert_int_equal(b.body.starts, 1);
    dog_close(&one);
    dog_close(&two);
    dog_close(&all);
    bench_close(&b);
}

// What depends on another begins when that one has succeeded, and never when it has not, whatever their order.
static void what_depends_on_a_failed_one_is_not_started(void **state)
{
    (void)state;
    bench b;
    dog d;
    bench_open(
        &b, "",
        SESSION("after", ", priority: high, depends_on: [first]") SESSION("first", "")
            SESSION("bad", ", priority: low, execution: {params: {bad: true}}")
                SESSION("never", ", depends_on: [after, 'session://bad']") SESSION(
                    "nor_this", ", depends_on: [never]") SESSION("lost", ", depends_on: [nothing]")
                    SESSION("loop_a", ", depends_on: [loop_b]")
                        SESSION("loop_b", ", depends_on: [loop_a]")
                            SESSION("behind", ", depends_on: [loop_a]") SESSION(
                                "steps",
                                ", execution: {steps: [{command: x}]}") "  - {session_id: wish, "
                                                                        "intent: tidy up}\n");
    dog_open(&d, &b, "one", false);
    pass(&b, &d, 2000);
    expect(&b, "first", "running", "");
    expect(&b, "after", "pending", "");
    expect(&b, "lost", "failed", "DEPENDENCY_UNKNOWN");
    expect(&b, "loop_a", "failed", "DEPENDENCY_CYCLE");
    expect(&b, "loop_b", "failed", "DEPENDENCY_CYCLE");
    b.body.goals[0].over = b.body.goals[0].ends_well = true;
    pass(&b, &d, 3000);
    // The next in the lane was bad's turn, as after had not been in it yet.
    for (int i = 0; i < 20; i++) {
        for (int g = 0; g < b.body.n; g++) {
            b.body.goals[g].over = true;
            b.body.goals[g].ends_well = g != 1;
        }
        pass(&b, &d, 500);
    }
    expect(&b, "first", "succeeded", "");
    expect(&b, "after", "succeeded", "");
    expect(&b, "bad", "failed", "SKILL_FAILED");
    expect(&b, "never", "failed", "DEPENDENCY_FAILED");
    expect(&b, "nor_this", "failed", "DEPENDENCY_FAILED");
    assert_int_equal(b.body.starts, 3);
    assert_string_equal(d.begun, "first steps bad after ");
    assert_true(pons_runtime_idle(d.r));
    expect(&b, "steps", "failed", "ACTION_CONTRACT_UNSATISFIED"); // not run without them
    assert_int_equal(pons_runtime_failed(d.r), 8);
    expect(&b, "wish", "pending", ""); // on no target: nobody's
    dog_close(&d);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_between_attempts),
        cmocka_unit_test(a_wall_clock_that_goes_back),
        cmocka_unit_test(what_never_began_is_tried_again_what_did_is_not),
        cmocka_unit_test(times_that_are_over),
        cmocka_unit_test(first_by_priority_then_by_time),
        cmocka_unit_test(stopped_for_a_minute),
        cmocka_unit_test(a_chunk_fails_when_the_next_was_sent),
        cmocka_unit_test(a_chunk_that_never_began_is_asked_for_anew),
        cmocka_unit_test(what_is_old_goes),
        cmocka_unit_test(words_and_numbers_of_others),
        cmocka_unit_test(another_targets_session_is_not_taken),
        cmocka_unit_test(what_depends_on_a_failed_one_is_not_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
