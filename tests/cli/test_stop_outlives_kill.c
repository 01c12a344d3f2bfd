// A stop that was answered with `latched` outlives everything: brain and body are killed with SIGKILL
// at a random moment up to 50 ms after that answer, with a goal under way and without one, and are
// started again. The next body is latched by the same stop, and nothing moves while nobody resets,
// although a person types resume, or gives a new goal.
//
//   PONS_STOP_SEED     of the first round (default 1); the seed of each is printed
//   PONS_STOP_AFTER    latched (default), or stopped: kills after the first answer, and only counts;
//                      nothing is promised then but that the wheels stood
#include "cli_bench.h"
#include "pons/link.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define KILL_MAX_US 50000 // after the answer
#define WATCH_MS    400   // of host time, for a motion that must not be
// A simulated robot that is put back where it was also has the speed that it had, a quarter of a
// second before the kill at the most, and brakes from it: v^2 / 2a of the house's robot, and no more.
#define MOVED_M 0.10
#define SPEED   "--driver kinematic --speed 10"

typedef struct tally {
    int rounds, latched, moved;
} tally;

static int number(const char *name, int fallback)
{
    const char *text = getenv(name);
    return text && atoi(text) > 0 ? atoi(text) : fallback;
}

static const char *in_run(const bench *b, const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/run/%s", b->workspace, name);
    return path;
}

// An observer of the body, as soon as there is one that hears it: the socket of one that was killed may still take a
// call while its last thread is in the kernel, and no word after it.
static pons_link *observe(const bench *b, proc *p)
{
    for (int64_t waited = 0;; waited++) {
        pons_link *l = NULL;
        if (pons_link_connect(in_run(b, "body.sock"), &l, NULL) == PONS_OK) {
            if (pons_link_send(l,
                               pons_object("type", json_string("hello"), "protocol",
                                           json_integer(PONS_LINK_PROTOCOL), "name",
                                           json_string("test"), NULL),
                               NULL) == PONS_OK) {
                return l;
            }
            pons_link_close(l);
        }
        if (waited > (int64_t)BENCH_LIMIT_S * 1000 || !bench_alive(p)) {
            bench_must_exit(p, 0); // shows what it said
            fail_msg("no body came");
        }
        bench_rest(1);
    }
}

// The next telemetry, or NULL when none came within ms or the body is gone. The caller's.
static pons_value *telemetry(pons_link *l, int ms)
{
    for (;;) {
        pons_value *m = NULL;
        const int rc = pons_link_recv(l, &m, NULL);
        if (rc < 0) {
            return NULL;
        }
        if (rc == 1 && strcmp(pons_get_str(m, "type", ""), "telemetry") == 0) {
            return m;
        }
        pons_value_unref(m);
        struct pollfd p = {.fd = pons_link_fd(l), .events = POLLIN};
        if (rc == 0 && poll(&p, 1, ms) <= 0) {
            return NULL;
        }
    }
}

static void must_answer(int fd, const char *word)
{
    char text[256] = "";
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, BENCH_LIMIT_S * 1000), 1);
    assert_true(recv(fd, text, sizeof text - 1, 0) > 0);
    if (strncmp(text, word, strlen(word)) != 0) {
        fail_msg("the answer to a stop is '%s', not %s", text, word);
    }
}

static void stop(const bench *b, bool until_latched)
{
    const struct sockaddr_un nameless = {.sun_family = AF_UNIX};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(to.sun_path, sizeof to.sun_path, "%.*s", (int)sizeof to.sun_path - 1,
             in_run(b, "stop.sock"));
    assert_int_equal(bind(fd, (const struct sockaddr *)&nameless, sizeof(sa_family_t)), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(fd, "stop a person", 13, 0), 13);
    must_answer(fd, "stopped ");
    if (until_latched) {
        must_answer(fd, "latched ");
    }
    close(fd);
}

static void kill_both(bench *b, proc *brain, bool body_first)
{
    const pid_t body = bench_body_pid(b);
    if (body > 1 && body_first) {
        kill(body, SIGKILL);
    }
    bench_signal(brain, SIGKILL);
    bench_end_body(b);
    bench_finish(brain);
    bench_free(brain);
}

static void start(bench *b, proc *p, pons_rand *r, const char *words)
{
    char all[256];
    snprintf(all, sizeof all, "%s --seed %d", words, (int)pons_rand_below(r, 1000));
    bench_start(b, p, NULL, all);
}

// A prompt at which nobody types; its standard input ends with this process.
static void start_prompt(bench *b, proc *p, pons_rand *r)
{
    static int quiet[2] = {-1, -1};
    if (quiet[0] < 0) {
        assert_int_equal(pipe2(quiet, O_CLOEXEC), 0);
    }
    char all[256];
    const char *program = getenv("PONS_PROGRAM");
    const int keep = dup(STDIN_FILENO);
    snprintf(all, sizeof all, "--workspace %s run --json --thread k " SPEED " --seed %d",
             b->workspace, (int)pons_rand_below(r, 1000));
    assert_true(dup2(quiet[0], STDIN_FILENO) >= 0);
    p->mark = 1; // it takes over what is standard input here
    bench_start_program(b, p, program ? program : PONS_BINARY_DIR "/pons", all);
    dup2(keep, STDIN_FILENO);
    close(keep);
}

// Latched before anything could happen, and nothing moves for a while.
static void look(bench *b, proc *p, tally *t, bool must)
{
    pons_link *l = observe(b, p);
    pons_autovalue first = telemetry(l, BENCH_LIMIT_S * 1000);
    while (!first) { // that was the dead one: its last thread was still in the kernel
        pons_link_close(l);
        l = observe(b, p);
        first = telemetry(l, BENCH_LIMIT_S * 1000);
    }
    const pons_value *s = pons_get(first, "stop");
    const bool latched = pons_get_bool(s, "latched", false) &&
                         strcmp(pons_get_str(s, "origin", ""), "stop") == 0 &&
                         strcmp(pons_get_str(s, "reason", ""), "a person") == 0;
    const double from = pons_get_num(first, "odometer_m", 0.0);
    double moved = 0.0, speed = 0.0;
    bool still = latched;
    const pons_clock c = pons_clock_real();
    for (const int64_t until = pons_now_ms(&c) + WATCH_MS; pons_now_ms(&c) < until;) {
        pons_autovalue m = telemetry(l, WATCH_MS);
        if (!m) {
            break;
        }
        moved = pons_get_num(m, "odometer_m", from) - from;
        speed = pons_get_num(pons_get(m, "twist"), "v", 0.0);
        still = still && pons_get_bool(pons_get(m, "stop"), "latched", false);
    }
    pons_link_close(l);
    t->latched += latched && still;
    const bool moves = moved > MOVED_M || speed > 0.01 || speed < -0.01;
    t->moved += moves;
    if (must && (!latched || !still || moves)) {
        char *text = NULL;
        pons_value_line(first, &text);
        fail_msg("latched %d, still %d, moved %.3f m: %s", latched, still, moved, text);
    }
}

static void one_round(uint64_t seed, bool with_goal, bool until_latched, tally *t)
{
    pons_rand r;
    bench b;
    proc p = {0};
    pons_rand_seed(&r, seed);
    bench_open(&b);
    if (with_goal) {
        start(&b, &p, &r, "run --json --thread k " SPEED " 去厨房");
        bench_await(&p, "effect", "state", "accepted");
    } else { // both processes, and nothing to do yet
        start_prompt(&b, &p, &r);
        pons_link *l = observe(&b, &p);
        pons_autovalue m = telemetry(l, BENCH_LIMIT_S * 1000);
        assert_non_null(m);
        pons_link_close(l);
    }
    stop(&b, until_latched);
    const int64_t us = (int64_t)pons_rand_below(&r, KILL_MAX_US + 1);
    const struct timespec wait = {.tv_nsec = us * 1000};
    nanosleep(&wait, NULL);
    kill_both(&b, &p, pons_rand_below(&r, 2));

    if (with_goal) {
        bench_start(&b, &p, NULL, "resume --json k");
    } else {
        start(&b, &p, &r, "run --json --thread k2 " SPEED " 去厨房");
    }
    look(&b, &p, t, until_latched);
    t->rounds++;
    kill_both(&b, &p, true);
    bench_close(&b);
}

static void a_latched_stop_outlives_kills(void **state)
{
    (void)state;
    const char *after = getenv("PONS_STOP_AFTER");
    const bool until_latched = !after || strcmp(after, "stopped") != 0;
    const int n = (int)rounds(ROUNDS_latched_kills);
    const uint64_t seed = (uint64_t)number("PONS_STOP_SEED", 1);
    tally with = {0}, without = {0};
    for (int i = 0; i < n; i++) {
        print_message("\rround %d, seed %llu ", i, (unsigned long long)(seed + (uint64_t)i));
        one_round(seed + (uint64_t)i, i % 2 == 0, until_latched, i % 2 ? &without : &with);
    }
    print_message(
        "\nkilled 0-50 ms after `%s`: latched %d of %d with a goal, %d of %d without; moved %d\n",
        until_latched ? "latched" : "stopped", with.latched, with.rounds, without.latched,
        without.rounds, with.moved + without.moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_latched_stop_outlives_kills, bench_teardown),
    };
    pons_value_init();
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
