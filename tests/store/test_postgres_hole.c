// test_postgres_hole.c - a server that is gone without a word: between the store and a private
// PostgreSQL stands a pipe that stops passing anything on and closes nothing. Every call ends with an
// error in bounded time, a new store cannot be opened meanwhile, and when the pipe passes bytes again
// the store goes on. Skipped where there is no server.
#include "pons/clock.h"
#include "pons/value.h"
#include "store/cluster.h"
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define PAIRS_MAX 64
#define LOOK_MS   10
#define BOUND_S   60 // generous: the limits in the URL are 2 s and 500 ms

static struct {
    char dir[64], server[64];
    int listener;
    int ends[PAIRS_MAX][2]; // client, server; -1: none
    atomic_bool hole;       // nothing is passed on, nothing is accepted
    atomic_bool quit;
    pthread_t thread;
} gate;

static struct sockaddr_un address(const char *dir)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    snprintf(sa.sun_path, sizeof sa.sun_path, "%s/.s.PGSQL.5432", dir);
    return sa;
}

static void pair_close(int *ends)
{
    close(ends[0]);
    close(ends[1]);
    ends[0] = ends[1] = -1;
}

static void take_in(void)
{
    const struct sockaddr_un to = address(gate.server);
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        if (gate.ends[i][0] < 0) {
            const int mine = accept(gate.listener, NULL, NULL);
            const int theirs = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            gate.ends[i][0] = mine;
            gate.ends[i][1] = theirs;
            if (mine < 0 || connect(theirs, (const struct sockaddr *)&to, sizeof to) < 0) {
                pair_close(gate.ends[i]);
            }
            return;
        }
    }
}

static void pass(int *ends, int from)
{
    char bytes[16384];
    const ssize_t n = read(ends[from], bytes, sizeof bytes);
    if (n <= 0 || send(ends[!from], bytes, (size_t)n, MSG_NOSIGNAL) != n) {
        pair_close(ends);
    }
}

static void *gate_main(void *arg)
{
    (void)arg;
    while (!atomic_load(&gate.quit)) {
        struct pollfd look[1 + 2 * PAIRS_MAX] = {{.fd = gate.listener, .events = POLLIN}};
        const bool hole = atomic_load(&gate.hole);
        for (size_t i = 0; i < 2 * PAIRS_MAX; i++) {
            look[1 + i] = (struct pollfd){.fd = gate.ends[i / 2][i % 2], .events = POLLIN};
        }
        poll(look, hole ? 0 : 1 + 2 * PAIRS_MAX, LOOK_MS);
        for (size_t i = 0; !hole && i < 2 * PAIRS_MAX; i++) {
            if (look[1 + i].revents && gate.ends[i / 2][i % 2] == look[1 + i].fd) {
                pass(gate.ends[i / 2], (int)(i % 2));
            }
        }
        if (!hole && look[0].revents) {
            take_in();
        }
    }
    return NULL;
}

// The URL by way of the gate. The cluster's own names its directory, which is host=…
static const char *gate_open(const char *url)
{
    static char through[512];
    const char *host = strstr(url, "host=");
    assert_non_null(host);
    const size_t n = strcspn(host + 5, "&#");
    snprintf(gate.server, sizeof gate.server, "%.*s", (int)n, host + 5);
    snprintf(gate.dir, sizeof gate.dir, "/tmp/pons-hole-XXXXXX");
    assert_non_null(mkdtemp(gate.dir));
    const struct sockaddr_un at = address(gate.dir);
    gate.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(gate.listener, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(gate.listener, PAIRS_MAX), 0);
    memset(gate.ends, 0xff, sizeof gate.ends);
    assert_int_equal(pthread_create(&gate.thread, NULL, gate_main, NULL), 0);
    snprintf(through, sizeof through, "%.*s%s%.*s&connect_timeout=2#answer_ms=500",
             (int)(host + 5 - url), url, gate.dir, (int)strcspn(host + 5 + n, "#"), host + 5 + n);
    return through;
}

static void gate_close(void)
{
    atomic_store(&gate.quit, true);
    pthread_join(gate.thread, NULL);
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        if (gate.ends[i][0] >= 0) {
            pair_close(gate.ends[i]);
        }
    }
    close(gate.listener);
    unlink(address(gate.dir).sun_path);
    assert_int_equal(rmdir(gate.dir), 0);
}

static int post(pons_store store, pons_error *err)
{
    int64_t seq = 0;
    const pons_inbox_row row = {.ns = "kernel", .kind = "say", .value = {.data = "{}", .len = 2}};
    return store.ops->inbox_post(store.self, "t", &row, &seq, err);
}

static void a_server_that_is_silent_is_an_error_in_bounded_time(void **state)
{
    (void)state;
    pons_store store = {0}, other = {0};
    pons_error err = PONS_ERROR_INIT;
    const char *url = gate_open(cluster_empty(""));
    assert_int_equal(cluster_open(url, &store, &err), PONS_OK);
    assert_int_equal(post(store, &err), PONS_OK);

    atomic_store(&gate.hole, true);
    const pons_clock clock = pons_clock_real();
    const int64_t since = pons_now_ms(&clock);
    int64_t last = 0;
    err = (pons_error)PONS_ERROR_INIT;
    assert_int_equal(post(store, &err), PONS_EIO);
    assert_non_null(strstr(err.cause, "did not answer"));
    // With a new connection, which does not come about: either says that the store is away.
    const int rc = store.ops->event_last(store.self, "t", &last, &err);
    assert_true(rc == PONS_EIO || rc == PONS_EENV);
    assert_int_equal(cluster_open(url, &other, &err), PONS_EENV);
    assert_true(pons_now_ms(&clock) - since < BOUND_S * 1000);

    atomic_store(&gate.hole, false);
    int again = -1;
    for (int i = 0; i < 1000 && again < 0; i++) {
        again = post(store, &err);
    }
    assert_int_equal(again, PONS_OK);
    pons_store_close(&store);
    gate_close();
}

static void what_stands_behind_the_hash_is_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "#answer_ms=5", "#answer_ms=",         "#lease_ms=1000&",
        "#x=1",         "#answer_ms=1000&y=2", "#answer_ms=99999999999"};
    char url[512];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pons_store store = {0};
        pons_error err = PONS_ERROR_INIT;
        snprintf(url, sizeof url, "%s%s", cluster_empty(""), bad[i]);
        const int rc = cluster_open(url, &store, &err);
        if (strcmp(bad[i], "#lease_ms=1000&") == 0) { // an end that says nothing is none
            assert_int_equal(rc, PONS_OK);
            pons_store_close(&store);
            continue;
        }
        assert_int_equal(rc, PONS_EINVAL);
        assert_non_null(strstr(err.message, "answer_ms"));
    }
}

int main(void)
{
    pons_value_init();
    if (!cluster_share()) {
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_is_silent_is_an_error_in_bounded_time),
        cmocka_unit_test(what_stands_behind_the_hash_is_checked),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_stop();
    return failed;
}
