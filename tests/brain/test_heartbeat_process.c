// The heartbeat as a proof of life, and the body's hold when there is none.
//
// First the thread alone, with a clock that the test moves and that counts who looks at it: the
// thread beats on while a loop is busy for less than a second, and is silent from then on until the
// loop comes round.
//
// Then the ways for a brain's loop to come to a halt while the robot drives: it spins, its store
// does not answer, its whole process is stopped; and its store, a PostgreSQL server, fails and comes
// back. The brain is a process of its own (the test's
// child, so that it can be stopped), the body runs in a thread here, and what is asserted is what a
// bystander sees in the telemetry: the robot is held; and when the loop is back, the same goal goes
// on, once. Every wait is for something to happen.
#include "brain/body_link/heartbeat.h"
#include "brain/state/self.h"
#include "pons/body.h"
#include "pons/drivers.h"
#include "pons/rule_policy.h"
#include "pons/yaml.h"
#include "store/cluster.h"
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOUSE   PONS_SOURCE_DIR "/worlds/house.yaml"
#define LIMIT_S 120 // only a broken brain or body takes this long
#define LOOKS   4   // rounds of the heart's thread after which silence is silence

// ---- the thread alone ---------------------------------------------------------------------------

static _Atomic int64_t fake_ns, fake_looks;

static int64_t fake_now(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&fake_looks, 1);
    return atomic_load(&fake_ns);
}

static void await_looks(int64_t n)
{
    while (atomic_load(&fake_looks) < n) {
        poll(NULL, 0, 5);
    }
}

static int take_beats(pons_link *l)
{
    int n = 0;
    for (;;) {
        pons_autovalue m = NULL;
        const int rc = pons_link_recv(l, &m, NULL);
        assert_true(rc >= 0);
        if (rc == 0) {
            return n;
        }
        assert_string_equal(pons_get_str(m, "type", ""), "heartbeat");
        n++;
    }
}

static void await_beat(pons_link *l)
{
    while (take_beats(l) == 0) {
        poll(NULL, 0, 5);
    }
}

static void a_busy_loop_is_alive_for_a_second_and_no_longer(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    pons_link *brain = pons_link_from_fd(fds[0]), *body = pons_link_from_fd(fds[1]);
    pons_clock clock = pons_clock_real();
    clock.now_ns = fake_now;
    atomic_store(&fake_ns, 5 * PONS_NS_PER_S);
    pons__heart h;
    pons__heart_init(&h, &clock);
    pons__heart_attach(&h, brain);
    await_looks(atomic_load(&fake_looks)); // no round yet: nothing to prove
    assert_int_equal(take_beats(body), 0);

    pons__heart_tick(&h);
    await_beat(body);
    atomic_fetch_add(&fake_ns, 990 * PONS_NS_PER_MS); // the loop decides, or waits for the disk
    take_beats(body);
    await_beat(body);
    await_beat(body);

    atomic_fetch_add(&fake_ns, 10 * PONS_NS_PER_MS); // a second: it hangs
    await_looks(atomic_load(&fake_looks) + 2);       // what was under way
    take_beats(body);
    await_looks(atomic_load(&fake_looks) + LOOKS);
    assert_int_equal(take_beats(body), 0);

    pons__heart_tick(&h); // it is back
    await_beat(body);
    pons__heart_detach(&h);
    take_beats(body);
    pons__heart_tick(&h);
    await_looks(atomic_load(&fake_looks) + LOOKS);
    assert_int_equal(take_beats(body), 0); // nobody listens any more
    pons__heart_fini(&h);
    pons_link_close(brain);
    pons_link_close(body);
}

// ---- a brain that can be hung -------------------------------------------------------------------

typedef struct shared { // between the test and its child
    _Atomic bool spin, stall;
    _Atomic int hung; // how often the child has come to a halt
} shared;

static shared *sh;
static char dir[64];
static char store_url[256]; // "": a file in dir
static bool served;         // there is a PostgreSQL server, of this test's own
static pons_store inner;
static pons_store_ops hanging;

static const char *in_dir(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static int hanging_commit(void *self, const pons_commit *c, pons_error *err)
{
    (void)self;
    if (atomic_load(&sh->stall)) {
        atomic_fetch_add(&sh->hung, 1);
        while (atomic_load(&sh->stall)) {
            poll(NULL, 0, 5);
        }
    }
    return inner.ops->commit(inner.self, c, err);
}

static void spinning_event(void *user, const pons_event *ev)
{
    (void)user;
    (void)ev;
    if (atomic_load(&sh->spin)) {
        atomic_fetch_add(&sh->hung, 1);
        while (atomic_load(&sh->spin)) {
        }
    }
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    (void)user;
    return pons_link_connect(in_dir("body.sock"), ret, err) < 0 ? PONS_EAGAIN : PONS_OK;
}

static pons_value *load(const char *name)
{
    char path[256];
    pons_yaml *yaml = NULL;
    snprintf(path, sizeof path, "%s/config/%s", PONS_SOURCE_DIR, name);
    if (pons_yaml_load(path, &yaml, NULL) < 0) {
        _exit(3);
    }
    pons_value *copy = json_deep_copy(pons_yaml_value(yaml));
    pons_yaml_destroy(yaml);
    return copy;
}

// In the child: 0 when the run succeeded.
static int be_a_brain(void)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue config = load("kernel.yaml");
    pons_autovalue intents = load("intents.yaml");
    pons_policy policy = {0};
    pons_brain *b = NULL;
    const pons_clock clock = pons_clock_real();
    int rc = pons_rules_open(intents, &policy, &err);
    rc = rc < 0 ? rc : pons_store_open(*store_url ? store_url : in_dir("pons.db"), &inner, &err);
    if (rc >= 0) {
        hanging = *inner.ops;
        hanging.commit = hanging_commit;
        hanging.close = NULL;
        const pons_brain_options o = {.store = {.ops = &hanging, .self = inner.self},
                                      .thread = "t1",
                                      .clock = clock,
                                      .seed = 7,
                                      .config = config,
                                      .policy = policy,
                                      .connect = connect_body,
                                      .on_event = spinning_event,
                                      .stop_body = true};
        rc = pons_brain_open(&o, &b, &err);
    }
    const char *const goal[] = {"go to the kitchen"};
    rc = rc < 0 ? rc : pons_brain_add_goals(b, goal, 1, &err);
    while (rc >= 0 && pons_brain_outcome_get(b) == PONS_BRAIN_RUNNING) {
        struct pollfd fds[8];
        const size_t n = pons_brain_fds(b, fds, 8);
        const int64_t wait_ns = pons_brain_next_due_ns(b) - pons_now_ns(&clock);
        poll(fds, n, wait_ns > 0 ? (int)(wait_ns / PONS_NS_PER_MS) + 1 : 0);
        rc = pons_brain_poll(b, &err);
    }
    char line[1200];
    if (rc < 0) {
        fprintf(stderr, "child: %s\n", pons_error_line(&err, line, sizeof line));
    }
    const bool good = rc >= 0 && pons_brain_outcome_get(b) == PONS_BRAIN_SUCCEEDED;
    pons_brain_close(b);
    pons_rules_close(&policy);
    pons_store_close(&inner);
    return good ? 0 : 1;
}

// ---- the body, and who looks on -----------------------------------------------------------------

static volatile sig_atomic_t quit; // set by the signal, on the body's own thread

static void on_signal(int number)
{
    (void)number;
    quit = 1;
}

typedef struct scene {
    pid_t brain;
    pthread_t thread;
    pons_value *world;
    pons_body_options opts;
    int rc;
    pons_error err;
    pons_link *eye; // an observer
    char goal[64];  // that the robot drives for
} scene;

static void *run_body(void *arg)
{
    scene *s = arg;
    s->rc = pons_body_run(&s->opts, dir, &quit, &s->err);
    return NULL;
}

static int64_t now_s(void)
{
    const pons_clock c = pons_clock_real();
    return pons_now_ns(&c) / PONS_NS_PER_S;
}

static void open_scene(scene *s)
{
    *s = (scene){.rc = 1};
    snprintf(dir, sizeof dir, "/tmp/pons-heart-XXXXXX");
    assert_non_null(mkdtemp(dir));
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 0);
    memset(sh, 0, sizeof *sh);
    s->brain = fork(); // before there are threads
    assert_true(s->brain >= 0);
    if (s->brain == 0) {
        _exit(be_a_brain());
    }
    quit = 0;
    assert_int_equal(pons_world_load(HOUSE, &s->world, NULL), PONS_OK);
    s->opts = (pons_body_options)PONS_BODY_OPTIONS_INIT;
    s->opts.robot = &pons_robot_kinematic;
    s->opts.world = s->world;
    s->opts.clock = pons_clock_real();
    s->opts.seed = 3;
    s->opts.speed = 2.0;
    s->opts.for_run = true;
    assert_int_equal(pthread_create(&s->thread, NULL, run_body, s), 0);
    const int64_t end_s = now_s() + LIMIT_S;
    while (pons_link_connect(in_dir("body.sock"), &s->eye, NULL) < 0) {
        assert_true(now_s() < end_s);
        poll(NULL, 0, 10);
    }
    assert_int_equal(pons_link_send(s->eye,
                                    pons_object("type", json_string("hello"), "protocol",
                                                json_integer(1), "role", json_string("observer"),
                                                "name", json_string("test"), NULL),
                                    NULL),
                     PONS_OK);
}

static double speed_of(const pons_value *telemetry)
{
    const pons_value *twist = pons_get(telemetry, "twist");
    const double v = pons_get_num(twist, "v", 0.0), w = pons_get_num(twist, "w", 0.0);
    return (v < 0.0 ? -v : v) + (w < 0.0 ? -w : w);
}

// Until the telemetry says that the robot is held and stands, or is not held and moves.
static void await_robot(scene *s, bool held)
{
    for (const int64_t end_s = now_s() + LIMIT_S; now_s() < end_s;) {
        pons_autovalue m = NULL;
        const int rc = pons_link_recv(s->eye, &m, NULL);
        assert_true(rc >= 0);
        if (rc == 0) {
            struct pollfd p = {.fd = pons_link_fd(s->eye), .events = POLLIN};
            poll(&p, 1, 50);
            continue;
        }
        const char *id = pons_get_str(pons_get(m, "goal"), "goal_id", "");
        if (strcmp(pons_get_str(m, "type", ""), "telemetry") == 0 && *id &&
            pons_get_bool(m, "held", false) == held && (speed_of(m) < 1e-3) == held) {
            if (s->goal[0]) {
                assert_string_equal(id, s->goal);
            }
            snprintf(s->goal, sizeof s->goal, "%s", id);
            return;
        }
    }
    fail_msg("the robot was never %s", held ? "held" : "under way");
}

// Until it has come to a halt where it was told to.
static void await_hung(void)
{
    for (const int64_t end_s = now_s() + LIMIT_S; atomic_load(&sh->hung) == 0;) {
        assert_true(now_s() < end_s);
        poll(NULL, 0, 5);
    }
}

static int ledger_lines(const char *goal, const char *what)
{
    FILE *f = fopen(in_dir("body.ledger"), "r");
    assert_non_null(f);
    int n = 0;
    char line[8192];
    while (fgets(line, sizeof line, f)) {
        n += strstr(line, goal) && strstr(line, what);
    }
    fclose(f);
    return n;
}

static void leave_scene(scene *s)
{
    pthread_kill(s->thread, SIGUSR1);
    pons_link_close(s->eye);
    pthread_join(s->thread, NULL);
    assert_int_equal(s->rc, PONS_OK);
    pons_value_unref(s->world);
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

// The run succeeded, and its goal was started once.
static void close_scene(scene *s)
{
    int status = -1;
    assert_int_equal(waitpid(s->brain, &status, 0), s->brain);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(ledger_lines(s->goal, "\"state\":\"started\""), 1);
    assert_int_equal(ledger_lines(s->goal, "\"state\":\"done\""), 1);
    leave_scene(s);
}

static void a_loop_that_spins_is_a_hold(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    await_robot(&s, false);
    atomic_store(&sh->spin, true);
    await_hung();
    await_robot(&s, true);
    assert_int_equal(atomic_load(&sh->hung), 1);
    atomic_store(&sh->spin, false);
    await_robot(&s, false);
    close_scene(&s);
}

static void a_store_that_does_not_answer_is_a_hold(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    await_robot(&s, false);
    atomic_store(&sh->stall, true);
    await_hung();
    await_robot(&s, true);
    assert_int_equal(atomic_load(&sh->hung), 1);
    atomic_store(&sh->stall, false);
    await_robot(&s, false);
    close_scene(&s);
}

static void a_stopped_process_is_a_hold(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    await_robot(&s, false);
    assert_int_equal(kill(s.brain, SIGSTOP), 0);
    await_robot(&s, true);
    assert_int_equal(kill(s.brain, SIGCONT), 0);
    await_robot(&s, false);
    close_scene(&s);
}

// An immediate end of the server takes with it what was not synced. The brain's process goes on: it
// lets go, takes its thread again at once, though its lease has a minute to go, and adopts.
static void a_server_that_restarts_is_a_hold_and_no_end(void **state)
{
    (void)state;
    if (!served) {
        skip();
    }
    snprintf(store_url, sizeof store_url, "%s", cluster_empty("#lease_ms=60000"));
    scene s;
    open_scene(&s);
    for (int i = 0; i < 2; i++) {
        await_robot(&s, false);
        cluster_fail();
        await_robot(&s, true);
        cluster_again();
    }
    await_robot(&s, false);
    close_scene(&s);
    store_url[0] = '\0';
}

// A holder that was killed on this host is known to be dead: the next one waits for no lease.
static void a_killed_brains_thread_is_free_at_once(void **state)
{
    (void)state;
    if (!served) {
        skip();
    }
    snprintf(store_url, sizeof store_url, "%s", cluster_empty("#lease_ms=600000"));
    scene s;
    open_scene(&s);
    await_robot(&s, false);
    assert_int_equal(kill(s.brain, SIGKILL), 0);
    assert_int_equal(waitpid(s.brain, NULL, 0), s.brain);
    pons_store again = {0};
    pons_lease lease = {0};
    assert_int_equal(pons_store_open(store_url, &again, NULL), PONS_OK);
    assert_int_equal(again.ops->lease_acquire(again.self, "t1", &lease, NULL), PONS_OK);
    again.ops->lease_release(again.self, &lease);
    pons_store_close(&again);
    leave_scene(&s);
    store_url[0] = '\0';
}

// In a process of its own, beside the others: they wait for robots in real time.
static pid_t beside(const struct CMUnitTest *test, size_t n)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) {
        return pid;
    }
    sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    served = n > 1 && cluster_start();
    const int failed = _cmocka_run_group_tests(test->name, test, n, NULL, NULL);
    if (served) {
        cluster_stop();
    }
    exit(failed);
}

int main(void)
{
    pons_value_init();
    signal(SIGUSR1, on_signal);
    const struct CMUnitTest robots[] = {
        cmocka_unit_test(a_loop_that_spins_is_a_hold),
        cmocka_unit_test(a_store_that_does_not_answer_is_a_hold),
        cmocka_unit_test(a_stopped_process_is_a_hold),
    };
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(a_busy_loop_is_alive_for_a_second_and_no_longer),
    };
    const struct CMUnitTest with_a_server[] = {
        cmocka_unit_test(a_server_that_restarts_is_a_hold_and_no_end),
        cmocka_unit_test(a_killed_brains_thread_is_free_at_once),
    };
    enum { ROBOTS = sizeof robots / sizeof robots[0] };
    pid_t pids[ROBOTS + 1] = {
        beside(with_a_server, sizeof with_a_server / sizeof with_a_server[0])};
    for (int i = 0; i < ROBOTS; i++) {
        pids[i + 1] = beside(&robots[i], 1);
    }
    int failed = cmocka_run_group_tests(alone, NULL, NULL);
    for (int i = 0; i <= ROBOTS; i++) {
        int status = -1;
        failed += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    }
    return failed;
}
