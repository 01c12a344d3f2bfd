// test_serve_disk.c - `pons serve` on a disk that is full: the robot holds, Stop latches, whoever wants
// something written is told so, runs wait, and all goes on by itself when there is room, with no event
// lost or doubled, nothing done twice, and nothing that was taken back coming again.
//
// The disk is full for the server alone: its files may not be longer than ROOM (a limit that is set from
// outside while it lives), which the store's log is from the first and its standard error never. For
// the body there is room.
#include "cli/serve_client.h"
#include "pons/buf.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANG_MS 150000 // as of a bench
#define LOOK_MS 20
#define ROOM    8192
#define LOOKS   1000 // of a client that asks again and again

static void fill(const proc *p, bool full)
{
    struct rlimit is;
    assert_int_equal(prlimit(p->pid, RLIMIT_FSIZE, NULL, &is), 0);
    is.rlim_cur = full ? ROOM : is.rlim_max;
    assert_int_equal(prlimit(p->pid, RLIMIT_FSIZE, &is, NULL), 0);
}

// Until the program has said so.
static void says(const proc *p, const char *what)
{
    for (int waited = 0; waited < HANG_MS; waited += LOOK_MS) {
        char *err = bench_stderr(p);
        const bool there = strstr(err, what) != NULL;
        free(err);
        if (there) {
            return;
        }
        poll(NULL, 0, LOOK_MS);
    }
    fail_msg("it never said: %s", what);
}

// Ids of events, one after the other.
static void no_gaps(const char *text, int64_t seen)
{
    for (const char *id = text; (id = strstr(id, "\nid: ")); id++) {
        assert_int_equal(strtoll(id + 5, NULL, 10), ++seen);
    }
}

static void the_robot_holds_and_stop_latches(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, SERVE "--driver kinematic --seed 3 --speed 4");
    const serve_at a = serve_ready(&b, &p);
    const int events = serve_ask(&a, a.port, "GET", "/v1/events?after=0", "", "");
    serve_must(&a, a.port, "POST", "/v1/say", "{\"text\":\"go to the bedroom\"}", 202, "bedroom");
    char *first = serve_hear(events, "\"state\":\"accepted\"");
    fill(&p, true);
    says(&p, "the robot holds"); // the brain has something to commit ten times a second
    static const char *const writes[][3] = {
        {"POST", "/v1/say", "{\"text\":\"go to the kitchen\"}"},
        {"POST", "/threads", "{}"},
        {"POST", "/runs", "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":1}}"},
        {"POST", "/runs/wait", "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":1}}"},
        {"POST", "/runs/crons", "{\"assistant_id\":\"letters\",\"schedule\":\"0 8 * * *\"}"},
        {"POST", "/assistants", "{\"graph_id\":\"letters\"}"},
        {"PUT", "/store/items", "{\"namespace\":[\"a\"],\"key\":\"k\",\"value\":{}}"},
        {"POST", "/threads/t4/commands",
         "{\"id\":1,\"method\":\"run.start\",\"params\":{\"assistant_id\":\"letters\","
         "\"input\":{\"wanted\":1}}}"},
    };
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        serve_must(&a, a.port, writes[i][0], writes[i][1], writes[i][2], 507, "disk full");
    }
    serve_must(&a, a.port, "GET", "/v1/state", "", 200, "\"main\"");
    serve_must(&a, a.port, "POST", "/threads/search", "{}", 200, "[");
    serve_must(&a, a.stop_port, "POST", "/stop", "{}", 200, "\"latched\":true");
    serve_must(&a, a.port, "POST", "/v1/reset", "{}", 200, "\"latched\":false");
    fill(&p, false);
    char *back = serve_hear(events, "waits for continue"); // the brain has heard of the stop
    serve_must(&a, a.port, "POST", "/v1/continue", "{}", 202, "");
    char *second = serve_hear(events, "\"type\":\"task.done\"");
    assert_non_null(strstr(second, "succeeded"));
    pons_autobuf all = PONS_BUF_INIT;
    pons_buf_str(&all, first);
    pons_buf_str(&all, back);
    pons_buf_str(&all, second);
    no_gaps(all.data, 0);
    free(back);
    free(first);
    free(second);
    close(events);
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_ledger_check(&b); // and no motion twice
    bench_close(&b);
}

#define LETTERS 400
#define MANY                                                                                       \
    "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":400},\"config\":{\"recursion_limit\":"    \
    "1000},\"stream_mode\":[\"custom\",\"values\"],\"durability\":\"%s\"}"

// Each letter is written once, and nothing is told twice, whenever the store failed.
static void a_run_waits_for_room(const char *durability)
{
    bench b;
    proc p = {0};
    char body[512], again[160];
    bench_open(&b);
    bench_start(&b, &p, NULL, SERVE FAST);
    const serve_at a = serve_ready(&b, &p);
    serve_must(&a, a.port, "POST", "/threads", "{\"thread_id\":\"t1\"}", 200, "t1");
    snprintf(body, sizeof body, MANY, durability);
    const int s = serve_ask(&a, a.port, "POST", "/threads/t1/runs/stream", "", body);
    char *first = serve_hear(s, "\"writing\":40}");
    fill(&p, true);
    says(&p, "waits for the store");
    serve_must(&a, a.port, "GET", "/threads/t1/runs", "", 200, "\"status\":\"running\"");
    serve_must(&a, a.port, "GET", "/threads/t1", "", 200, "\"status\":\"busy\"");
    fill(&p, false);
    char *second = serve_hear(s, "event: end");
    pons_autobuf all = PONS_BUF_INIT;
    pons_buf_str(&all, first);
    pons_buf_str(&all, second);
    int64_t seen = 0;
    for (const char *id = all.data; (id = strstr(id, "\nid: ")); id++) {
        const int64_t n = strtoll(id + 5, NULL, 10);
        assert_true(n > seen);
        seen = n;
    }
    // A node that had begun begins anew, as after a kill: its letter is written once.
    const char *end = strstr(all.data, "post 400 letters?");
    assert_non_null(end);
    while (*end != '\n') {
        end--;
    }
    for (int i = 1; i <= LETTERS; i++) {
        snprintf(again, sizeof again, "\"letter %d\"", i);
        const char *found = strstr(end, again);
        if (!found || strstr(found + 1, again)) {
            fail_msg("letter %d is there %s", i, found ? "twice" : "never");
        }
    }
    assert_null(strstr(all.data, "event: error"));
    serve_must(&a, a.port, "GET", "/threads/t1/runs", "", 200, "\"status\":\"success\"");
    free(first);
    free(second);
    close(s);
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

static void a_run_waits_step_by_step(void **state)
{
    (void)state;
    a_run_waits_for_room("sync");
}

static void a_run_whose_steps_are_queued_waits(void **state)
{
    (void)state;
    a_run_waits_for_room("async");
}

static void run_id(const char *reply, char ret[64])
{
    const char *at = strstr(reply, "\"run_id\":\"");
    assert_non_null(at);
    snprintf(ret, 64, "%.36s", at + strlen("\"run_id\":\""));
}

// A run that was to begin later is canceled while nothing can be written: it never begins, also not
// after a kill.
static void what_was_canceled_stays_so(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char id[64], path[160];
    bench_open(&b);
    bench_start(&b, &p, NULL, SERVE FAST);
    serve_at a = serve_ready(&b, &p);
    serve_must(&a, a.port, "POST", "/threads", "{\"thread_id\":\"t1\"}", 200, "t1");
    char *r = serve_reply(&a, a.port, "POST", "/threads/t1/runs",
                          "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":1},"
                          "\"after_seconds\":3600}");
    run_id(r, id);
    free(r);
    fill(&p, true);
    snprintf(path, sizeof path, "/threads/t1/runs/%s/cancel", id);
    serve_must(&a, a.port, "POST", path, "{}", 507, "disk full"); // not durable yet,
    snprintf(path, sizeof path, "/threads/t1/runs/%s", id);
    for (int i = 0; i < LOOKS; i++) { // but so, also while the store is tried again
        serve_must(&a, a.port, "GET", path, "", 200, "\"status\":\"interrupted\"");
    }
    fill(&p, false);
    // The next write of the same store comes after it, or the record would be missing for good.
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_start(&b, &p, NULL, SERVE FAST);
    a = serve_ready(&b, &p);
    serve_must(&a, a.port, "GET", path, "", 200, "\"status\":\"interrupted\"");
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

static void a_life_beside_it_goes_on(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL,
                "companion run --serve 0 --json --from 2026-03-02T06:00 --days 9 --speed 600"
                " --seed 1 --llm rules --driver kinematic");
    const serve_at a = serve_ready(&b, &p);
    bench_await(&p, "action.started", NULL, NULL);
    fill(&p, true);
    says(&p, "the life waits for the store");
    serve_must(&a, a.stop_port, "POST", "/stop", "{}", 200, "\"latched\":true");
    fill(&p, false);
    says(&p, "the life goes on at 2026-03-0"); // where it stood
    serve_must(&a, a.port, "POST", "/v1/reset", "{}", 200, "\"latched\":false");
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// ---- who is told of a run's end -----------------------------------------------------------------

static int listen_here(int *ret_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

// The next one who posts: what is named in the request's line ("/a", "/b"). The connection in *ret.
static char reported(int listener, int *ret)
{
    struct pollfd p = {.fd = listener, .events = POLLIN};
    assert_int_equal(poll(&p, 1, HANG_MS), 1);
    *ret = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    char *text = serve_hear(*ret, "webhook_sent_at");
    assert_memory_equal(text, "POST /", 6);
    const char who = text[6];
    free(text);
    return who;
}

static void answer(int fd, int status)
{
    char text[96];
    const int n =
        snprintf(text, sizeof text,
                 "HTTP/1.1 %d x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status);
    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    close(fd);
}

// On a thread of its own, whose run has ended for good: an answer comes a little sooner.
static void run_with_webhook(const serve_at *a, int port, char who)
{
    char body[256], path[64];
    snprintf(body, sizeof body, "{\"thread_id\":\"%c\"}", who);
    serve_must(a, a->port, "POST", "/threads", body, 200, "thread_id");
    snprintf(body, sizeof body,
             "{\"assistant_id\":\"letters\",\"input\":{\"wanted\":1},"
             "\"webhook\":\"http://127.0.0.1:%d/%c\"}",
             port, who);
    snprintf(path, sizeof path, "/threads/%c/runs/wait", who);
    serve_must(a, a->port, "POST", path, body, 200, "letter 1");
    snprintf(path, sizeof path, "/threads/%c/runs", who);
    for (bool over = false; !over;) {
        char *runs = serve_reply(a, a->port, "GET", path, "");
        over = strstr(runs, "\"status\":\"success\"") != NULL;
        free(runs);
        poll(NULL, 0, LOOK_MS);
    }
}

// Who took it while that could not be noted is not told again and again.
static void a_webhook_is_no_storm(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    int port, fd;
    const int listener = listen_here(&port);
    bench_open(&b);
    bench_start(&b, &p, NULL, SERVE FAST);
    const serve_at a = serve_ready(&b, &p);
    run_with_webhook(&a, port, 'a');
    assert_int_equal(reported(listener, &fd), 'a');
    run_with_webhook(&a, port, 'b'); // has ended, and waits until a has been told
    fill(&p, true);
    answer(fd, 204);
    assert_int_equal(reported(listener, &fd), 'b');
    answer(fd, 500); // wants it again, in some seconds
    says(&p, "refused it");
    fill(&p, false);
    assert_int_equal(reported(listener, &fd), 'b');
    answer(fd, 204);
    close(listener);
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_robot_holds_and_stop_latches, bench_teardown),
        cmocka_unit_test_teardown(a_run_waits_step_by_step, bench_teardown),
        cmocka_unit_test_teardown(a_run_whose_steps_are_queued_waits, bench_teardown),
        cmocka_unit_test_teardown(what_was_canceled_stays_so, bench_teardown),
        cmocka_unit_test_teardown(a_life_beside_it_goes_on, bench_teardown),
        cmocka_unit_test_teardown(a_webhook_is_no_storm, bench_teardown),
    };
    return bench_together("serve on a full disk", tests, sizeof tests / sizeof tests[0]);
}
