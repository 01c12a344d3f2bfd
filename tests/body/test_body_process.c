// The body as a process: its threads and sockets, in a mkdtemp directory, driven over the real
// link. pons_body_run() runs in a thread of the test, so that ThreadSanitizer sees all of it.
//
// Nothing here depends on how fast the machine is: every wait is for a message, with a limit that
// only a broken body reaches, and a goal that is held because this test was late with a heartbeat
// is adopted, as a brain would.
#include "body_bench.h"
#include "pons/body.h"
#include "pons/drivers.h"
#include "rounds.h"
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOUSE   PONS_SOURCE_DIR "/worlds/house.yaml"
#define LIMIT_S 120 // only a broken body takes this long
#define LOST_S  60  // it waits so long for a run that was killed

typedef struct host {
    char dir[64];
    pons_value *world;
    pons_body_options opts;
    pthread_t thread;
    int rc;
    pons_error err;
    pons_link *link;
    int64_t epoch;
    pons_value *telemetry;
} host;

static volatile sig_atomic_t quit; // set by the signal, on the body's own thread

static void on_signal(int number)
{
    (void)number;
    quit = 1;
}

static const char *in_dir(const host *h, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", h->dir, name);
    return path;
}

static void *run(void *arg)
{
    host *h = arg;
    h->rc = pons_body_run(&h->opts, h->dir, &quit, &h->err);
    return NULL;
}

// The disk under the ledger, in the test's hand.
static _Atomic bool disk_fails, disk_hangs, in_disk;

int fdatasync(int fd)
{
    while (disk_hangs) {
        in_disk = true;
        poll(NULL, 0, 1);
    }
    in_disk = false;
    if (disk_fails) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

// The directory that the state file is renamed in: its disk answers, fails, or hangs until it does one of these.
static _Atomic enum { DIR_WELL, DIR_FAILS, DIR_HANGS } directory;

int fsync(int fd)
{
    struct stat st;
    const bool dir = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    while (dir && directory == DIR_HANGS) {
        poll(NULL, 0, 1);
    }
    if (dir && directory == DIR_FAILS) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

static void start(host *h)
{
    quit = 0;
    assert_int_equal(pthread_create(&h->thread, NULL, run, h), 0);
}

static void prepare_host(host *h)
{
    *h = (host){.rc = 1};
    snprintf(h->dir, sizeof h->dir, "%s/pons-proc-XXXXXX", bench_disk());
    assert_non_null(mkdtemp(h->dir));
    assert_int_equal(pons_world_load(HOUSE, &h->world, NULL), PONS_OK);
    h->opts = (pons_body_options)PONS_BODY_OPTIONS_INIT;
    h->opts.robot = &pons_robot_kinematic;
    h->opts.world = h->world;
    h->opts.clock = pons_clock_real();
    h->opts.seed = 3;
    h->opts.speed = 5.0;
    h->opts.for_run = true;
}

static void open_host(host *h)
{
    prepare_host(h);
    start(h);
}

static void join(host *h)
{
    pthread_join(h->thread, NULL);
    assert_int_equal(h->rc, PONS_OK);
}

static void close_host(host *h)
{
    static const char *const files[] = {"body.ledger", "body.epoch", "sim.json"};
    pons_link_close(h->link);
    pons_value_unref(h->telemetry);
    pons_value_unref(h->world);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_int_equal(unlink(in_dir(h, files[i])), 0);
    }
    assert_int_equal(rmdir(h->dir), 0); // sockets, locks and body.json are gone
}

static int64_t now_s(void)
{
    const pons_clock c = pons_clock_real();
    return pons_now_ns(&c) / PONS_NS_PER_S;
}

static void send_msg(host *h, pons_value *msg)
{
    assert_int_equal(pons_link_send(h->link, msg, NULL), PONS_OK);
}

// The body may have said its last word and gone; what it said is still to be read.
static void try_msg(host *h, pons_value *msg)
{
    const int rc = pons_link_send(h->link, msg, NULL);
    assert_true(rc == PONS_OK || rc == PONS_ECLOSED);
}

// The next message of that type (NULL: any but telemetry), while heartbeats go out. The caller's.
static pons_value *await(host *h, const char *type)
{
    const int64_t give_up_s = now_s() + LIMIT_S;
    while (now_s() < give_up_s) {
        pons_value *m = NULL;
        const int rc = pons_link_recv(h->link, &m, NULL);
        assert_true(rc >= 0);
        if (rc == 0) {
            if (h->epoch > 0) {
                try_msg(h, pons_object("type", json_string("heartbeat"), NULL));
            }
            struct pollfd p = {.fd = pons_link_fd(h->link), .events = POLLIN};
            poll(&p, 1, 20);
            continue;
        }
        const char *got = pons_get_str(m, "type", "");
        if (strcmp(got, "telemetry") == 0) {
            pons_value_unref(h->telemetry);
            h->telemetry = pons_value_ref(m);
            const char *goal_id = pons_get_str(pons_get(m, "goal"), "goal_id", "");
            if (pons_get_bool(m, "held", false)) {
                try_msg(h,
                        pons_object("type", json_string("adopt"), "goal_id", json_string(goal_id),
                                    "epoch", json_integer(h->epoch), NULL));
            }
        }
        if (strcmp(got, type) == 0) {
            return m;
        }
        pons_value_unref(m);
    }
    fail_msg("no %s came", type);
    return NULL;
}

static void expect(host *h, const char *type)
{
    pons_value_unref(await(h, type));
}

// A goal's result; one that is told twice, because of an adoption in between, is told twice.
static pons_value *await_result(host *h, const char *goal_id)
{
    for (;;) {
        pons_value *m = await(h, "result");
        if (strcmp(pons_get_str(m, "goal_id", ""), goal_id) == 0) {
            return m;
        }
        pons_value_unref(m);
    }
}

static void hello(host *h)
{
    const int64_t give_up_s = now_s() + LIMIT_S;
    int rc;
    while ((rc = pons_link_connect(in_dir(h, "body.sock"), &h->link, NULL)) < 0) {
        assert_true(rc == PONS_ENOTFOUND || rc == PONS_ECLOSED || rc == PONS_EAGAIN);
        assert_true(now_s() < give_up_s);
        poll(NULL, 0, 5);
    }
    send_msg(h, pons_object("type", json_string("hello"), "protocol", json_integer(1), "role",
                            json_string("controller"), "name", json_string("test"), NULL));
    pons_autovalue m = await(h, "hello");
    h->epoch = pons_get_int(m, "epoch", 0);
    assert_true(h->epoch > 0);
    assert_int_equal(pons_get_int(m, "pid", 0), getpid());
}

static void goal(host *h, const char *id, const char *skill, const char *args)
{
    pons_value *value = NULL;
    assert_int_equal(pons_value_parse(args, strlen(args), &value, NULL), PONS_OK);
    const pons_clock c = pons_clock_real();
    send_msg(h, pons_object("type", json_string("goal"), "goal_id", json_string(id), "epoch",
                            json_integer(h->epoch), "expires_ms",
                            json_integer(c.boot_ns(c.ctx) / PONS_NS_PER_MS + 60000), "robot_id",
                            json_string("pons-1"), "skill", json_string(skill), "args", value,
                            "args_hash", json_string("hash"), "thread", json_string("t"), "task_id",
                            json_string("k"), "attempt", json_integer(0), NULL));
}

static void bye(host *h)
{
    send_msg(h, pons_object("type", json_string("bye"), "stop_body", json_true(), NULL));
    expect(h, "ok");
    pons_link_close(h->link);
    h->link = NULL;
    h->epoch = 0;
    join(h);
}

static int ledger_lines(const host *h, const char *what)
{
    FILE *f = fopen(in_dir(h, "body.ledger"), "r");
    assert_non_null(f);
    int n = 0;
    char line[4096];
    while (fgets(line, sizeof line, f)) {
        n += strstr(line, what) != NULL;
    }
    fclose(f);
    return n;
}

static void it_drives_over_the_socket_and_ends_with_a_bye(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    struct stat st;
    assert_int_equal(stat(in_dir(&h, "body.sock"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(in_dir(&h, "stop.sock"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(access(in_dir(&h, "body.json"), R_OK), 0);

    goal(&h, "g1", "navigate_to_pose", "{\"pose\":{\"x\":2.6,\"y\":2.6}}");
    expect(&h, "accepted");
    pons_autovalue r = await_result(&h, "g1");
    assert_string_equal(pons_get_str(r, "status", ""), "done");
    bye(&h);
    assert_int_equal(ledger_lines(&h, "\"state\":\"started\""), 1);
    assert_int_equal(ledger_lines(&h, "\"state\":\"done\""), 1);
    close_host(&h);
}

// Nobody can come any more, neither to go on nor to stop it: it does not wait for ten minutes.
static void a_body_whose_socket_is_gone_halts_and_ends(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    goal(&h, "g1", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    expect(&h, "accepted");
    assert_int_equal(unlink(in_dir(&h, "body.sock")), 0);
    goal(&h, "g2", "wait", "{\"s\":0.1}"); // whoever is there goes on
    pons_autovalue r = await_result(&h, "g2");
    assert_string_equal(pons_get_str(r, "status", ""), "done");
    pons_link_close(h.link); // the brain is killed
    h.link = NULL;
    join(&h);
    // Held before too, where this test itself was held up.
    assert_true(ledger_lines(&h, "\"state\":\"held\"") >= 1);
    assert_int_equal(ledger_lines(&h, "\"state\":\"canceled\""), 1);
    close_host(&h);
}

// A brain that is gone while the disk does not answer: an observer hears in time that the robot stands.
static void it_is_held_while_the_disk_hangs(void **state)
{
    (void)state;
    host h, o = {.epoch = 0};
    open_host(&h);
    hello(&h);
    assert_int_equal(pons_link_connect(in_dir(&h, "body.sock"), &o.link, NULL), PONS_OK);
    send_msg(&o, pons_object("type", json_string("hello"), "protocol", json_integer(1), "role",
                             json_string("observer"), "name", json_string("eyes"), NULL));
    expect(&o, "hello");
    goal(&h, "g1", "navigate_to_pose", "{\"pose\":{\"x\":2.6,\"y\":2.6}}");
    do {
        expect(&h, "telemetry");
    } while (pons_get_num(pons_get(h.telemetry, "twist"), "v", 0.0) < 0.1);
    disk_hangs = true;
    pons_link_close(h.link); // the brain is killed
    do {
        expect(&o, "telemetry");
    } while (!pons_get_bool(o.telemetry, "held", false) ||
             fabs(pons_get_num(pons_get(o.telemetry, "twist"), "v", 1.0)) > 0.001);
    disk_hangs = false;
    pons_link_close(o.link);
    pons_value_unref(o.telemetry);
    assert_int_equal(ledger_lines(&h, "\"state\":\"held\""), 1);
    h.epoch = 0;
    hello(&h);
    pons_autovalue r = await_result(&h, "g1");
    assert_string_equal(pons_get_str(r, "status", ""), "done");
    bye(&h);
    assert_int_equal(ledger_lines(&h, "\"state\":\"started\""), 1);
    close_host(&h);
}

// What a failed sync left on the disk is not known, so it takes no more goals; who resumes gets another body.
static void a_body_whose_ledger_failed_makes_room_for_another(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    disk_fails = true;
    goal(&h, "g1", "wait", "{\"s\":0.1}");
    pons_autovalue no = await(&h, "rejected");
    assert_string_equal(pons_get_str(no, "code", ""), "ledger");
    disk_fails = false;
    goal(&h, "g2", "wait", "{\"s\":0.1}");
    pons_autovalue still = await(&h, "rejected");
    assert_non_null(strstr(pons_get_str(still, "message", ""), "restart the body"));
    pons_link_close(h.link);
    h.link = NULL;
    h.epoch = 0;
    join(&h);
    start(&h);
    hello(&h);
    goal(&h, "g3", "wait", "{\"s\":0.1}");
    pons_autovalue r = await_result(&h, "g3");
    assert_string_equal(pons_get_str(r, "status", ""), "done");
    bye(&h);
    close_host(&h);
}

static void a_stop_latches_at_once_and_ends_the_goal(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    goal(&h, "g1", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    expect(&h, "accepted");
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_stop_send(h.dir, "a cat", LIMIT_S * 1000, &err), PONS_OK);
    pons_autovalue r = await_result(&h, "g1");
    assert_string_equal(pons_get_str(r, "status", ""), "failed");
    assert_int_equal(pons_get_int(r, "error_code", 0), 9902);
    do {
        expect(&h, "telemetry");
    } while (!pons_get_bool(pons_get(h.telemetry, "stop"), "latched", false));
    assert_string_equal(pons_get_str(pons_get(h.telemetry, "stop"), "reason", ""), "a cat");
    goal(&h, "g2", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    pons_autovalue no = await(&h, "rejected");
    assert_string_equal(pons_get_str(no, "code", ""), "latched");
    send_msg(&h, pons_object("type", json_string("reset"), NULL));
    expect(&h, "ok");
    goal(&h, "g3", "spin", "{\"angle_rad\":0.5}");
    expect(&h, "accepted");
    pons_autovalue done = await_result(&h, "g3");
    assert_string_equal(pons_get_str(done, "status", ""), "done");
    bye(&h);
    assert_int_equal(pons_stop_send(h.dir, "late", 10, &err), PONS_ENOTFOUND);
    close_host(&h);
}

static void the_stop_socket_does_one_thing(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_un nameless = {.sun_family = AF_UNIX};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%.*s", (int)sizeof to.sun_path - 1,
             in_dir(&h, "stop.sock"));
    assert_int_equal(bind(fd, (const struct sockaddr *)&nameless, sizeof(sa_family_t)), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    static const char *const noise[] = {"", "reset", "STOP", "\xff\xfe"};
    for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++) {
        assert_true(send(fd, noise[i], strlen(noise[i]), 0) >= 0);
    }
    expect(&h, "telemetry");
    expect(&h, "telemetry");
    assert_false(pons_get_bool(pons_get(h.telemetry, "stop"), "latched", true));

    const pons_clock c = pons_clock_real();
    const int64_t sent_ns = pons_now_ns(&c);
    assert_int_equal(send(fd, "stop \xff!", 7, 0), 7);
    char answer[64];
    const ssize_t n = recv(fd, answer, sizeof answer - 1, 0); // to the stop, not to the noise
    assert_true(n > 0);
    answer[n] = '\0';
    long long written_ns = 0;
    assert_int_equal(sscanf(answer, "stopped %lld", &written_ns), 1);
    assert_true(written_ns >= sent_ns && written_ns <= pons_now_ns(&c));
    const ssize_t more = recv(fd, answer, sizeof answer - 1, 0); // and when it is on the disk
    assert_true(more > 0);
    answer[more] = '\0';
    long long again_ns = 0;
    assert_int_equal(sscanf(answer, "latched %lld", &again_ns), 1);
    assert_true(again_ns == written_ns);
    pons_body_files f;
    assert_int_equal(pons_body_verify(h.dir, &f, NULL), PONS_OK);
    assert_true(f.boots_latched);
    close(fd);
    do {
        expect(&h, "telemetry");
    } while (!pons_get_bool(pons_get(h.telemetry, "stop"), "latched", false));
    assert_string_equal(pons_get_str(pons_get(h.telemetry, "stop"), "reason", ""), "?!");
    bye(&h);
    close_host(&h);
}

// As `echo … | socat - UNIX:run/body.sock` does: what is said, and the end of all that is said.
static void say_and_shut(const host *h, const char *bytes, size_t n, const char *wants)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%.*s", (int)sizeof to.sun_path - 1,
             in_dir(h, "body.sock"));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    for (size_t at = 0; at < n;) {
        const ssize_t done = write(fd, bytes + at, n - at);
        assert_true(done > 0);
        at += (size_t)done;
    }
    shutdown(fd, SHUT_WR);
    FILE *f = fdopen(fd, "r");
    char *line = NULL;
    size_t cap = 0;
    bool received = false;
    while (!received && getline(&line, &cap, f) > 0) { // to the end, which comes in any case
        received = strstr(line, wants) != NULL;
    }
    if (!received) {
        fail_msg("no %s for %.40s", wants, bytes);
    }
    free(line);
    fclose(f);
}

static void who_closes_his_half_is_answered(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    static const char stop[] = "{\"type\":\"stop\"}\n", reset[] = "{\"type\":\"reset\"}\n",
                      cut[] = "{\"type\":\"stop\",\"reason\":\"cut";
    say_and_shut(&h, stop, sizeof stop - 1, "\"latched\"");
    say_and_shut(&h, reset, sizeof reset - 1, "\"ok\"");
    say_and_shut(&h, cut, sizeof cut - 1, "\"latched\"");
    say_and_shut(&h, reset, sizeof reset - 1, "\"ok\"");
    // The same of a line that is too long, wherever its stop is.
    for (int behind = 0; behind <= 1; behind++) {
        const size_t n = 400000;
        char *line = malloc(n + 64);
        assert_non_null(line);
        int at = snprintf(line, 64, "{%s\"text\":\"", behind ? "" : "\"type\":\"stop\",");
        memset(line + at, 'x', n);
        at += (int)n;
        at += snprintf(line + at, 32, "\"%s}\n", behind ? ",\"type\":\"stop\"" : "");
        say_and_shut(&h, line, (size_t)at, "\"latched\"");
        free(line);
        say_and_shut(&h, reset, sizeof reset - 1, "\"ok\"");
    }
    bye(&h);
    close_host(&h);
}

static void await_durable(host *h, bool durable)
{
    do {
        expect(h, "telemetry");
    } while (pons_get_bool(h->telemetry, "latch_durable", !durable) != durable);
}

static void limit_files(rlim_t most)
{
    struct rlimit r;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
    r.rlim_cur = most < r.rlim_max ? most : r.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

// A disk without room is played by a limit on the size of this process's files.
static void a_stop_that_cannot_be_saved_says_so_and_is_saved_later(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    goal(&h, "g1", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    expect(&h, "accepted");
    pons_error err = PONS_ERROR_INIT;
    limit_files(0);
    const int rc = pons_stop_send(h.dir, "a person", LIMIT_S * 1000, &err);
    limit_files(RLIM_INFINITY);
    assert_int_equal(rc, PONS_EIO);
    assert_non_null(strstr(err.message, "stopped"));
    assert_non_null(strstr(err.cause, "body.epoch"));
    limit_files(0);
    send_msg(&h, pons_object("type", json_string("stop"), NULL));
    expect(&h, "stopped");
    limit_files(RLIM_INFINITY);
    await_durable(&h, true); // the body has gone on trying
    assert_true(pons_get_bool(pons_get(h.telemetry, "stop"), "latched", false));
    pons_body_files f;
    assert_int_equal(pons_body_verify(h.dir, &f, NULL), PONS_OK);
    assert_true(f.boots_latched);
    assert_string_equal(f.reason, "a person");
    assert_int_equal(pons_stop_send(h.dir, "again", LIMIT_S * 1000, &err), PONS_OK);
    bye(&h);
    close_host(&h);
}

static void say_pace(pons_link *link, int percent)
{
    assert_int_equal(
        pons_link_send(link, json_pack("{s:s, s:i}", "type", "pace", "percent", percent), NULL),
        PONS_OK);
}

static int64_t pace_now(host *h)
{
    expect(h, "telemetry"); // one that was on its way, and
    expect(h, "telemetry"); // one from after what was asked for
    return pons_get_int(h->telemetry, "pace_percent", -1);
}

// The file has its new name, and the disk does not say that this is durable: it is not faster, and a body that
// is killed then goes by its ledger.
static void who_is_told_that_it_is_faster_has_it_so(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    const long all = rounds(ROUNDS_body_paces);
    for (long i = 0; i < all; i++) {
        directory = DIR_FAILS;
        say_pace(h.link, 50); // the gate sees this one or does not
        say_pace(h.link, 100);
        bool faster = false;
        const int64_t give_up_s = now_s() + LIMIT_S;
        for (int answers = 0; answers < 2;) {
            assert_true(now_s() < give_up_s);
            pons_value *m = NULL;
            const int rc = pons_link_recv(h.link, &m, NULL);
            assert_true(rc >= 0);
            const bool ok = strcmp(pons_get_str(m, "type", ""), "ok") == 0;
            faster = faster || (ok && pons_get_int(m, "percent", 0) == 100);
            answers += ok || strcmp(pons_get_str(m, "type", ""), "error") == 0;
            pons_value_unref(m);
            if (rc == 0) {
                try_msg(&h, pons_object("type", json_string("heartbeat"), NULL));
                struct pollfd p = {.fd = pons_link_fd(h.link), .events = POLLIN};
                poll(&p, 1, 20);
            }
        }
        assert_int_equal(pace_now(&h), faster ? 100 : 50);
        directory = DIR_WELL;
        await_durable(&h, true);
        assert_int_equal(pace_now(&h), faster ? 100 : 50);
        say_pace(h.link, 100);
        expect(&h, "ok");
        assert_int_equal(pace_now(&h), 100);
    }
    bye(&h);
    close_host(&h);
}

// Nobody is left who could be told: what the disk had no answer for is wanted no more.
static void a_raise_whose_asker_is_gone_is_taken_back(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    say_pace(h.link, 50);
    expect(&h, "ok");
    directory = DIR_HANGS;
    pons_link *person = NULL;
    assert_int_equal(pons_link_connect(in_dir(&h, "body.sock"), &person, NULL), PONS_OK);
    say_pace(person, 100);
    while (ledger_lines(&h, "\"percent\":100") == 0) {
        expect(&h, "telemetry");
    }
    pons_link_close(person);
    const int64_t give_up_s = now_s() + LIMIT_S;
    while (ledger_lines(&h, "\"percent\":50") < 2) {
        assert_int_equal(pace_now(&h), 50);
        assert_true(now_s() < give_up_s);
    }
    directory = DIR_WELL;
    await_durable(&h, true);
    assert_int_equal(pace_now(&h), 50);
    FILE *f = fopen(in_dir(&h, "body.epoch"), "r");
    assert_non_null(f);
    char line[4096];
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_non_null(strstr(line, "\"taken_pct\":50"));
    bye(&h);
    close_host(&h);
}

static void await_pace(host *h, const char *type, int percent)
{
    pons_autovalue m = await(h, type);
    assert_string_equal(pons_get_str(m, "re", ""), "pace");
    assert_string_equal(pons_get_str(m, "code", "changed"), "changed");
    assert_int_equal(pons_get_int(m, "percent", -1), percent);
}

// A raise is not in force before the disk says so. Meanwhile one from what is in force is heard, one from what
// was only asked for is not, and what is slower than what was asked for is no raise.
static void while_a_raise_is_not_saved_the_old_one_counts(void **state)
{
    (void)state;
    static const char say[] = "{s:s, s:i, s:i}";
    host h;
    open_host(&h);
    hello(&h);
    say_pace(h.link, 50);
    expect(&h, "ok");
    directory = DIR_HANGS;
    say_pace(h.link, 60);
    send_msg(&h, json_pack(say, "type", "pace", "percent", 80, "from", 60));
    await_pace(&h, "error", 80);
    send_msg(&h, json_pack(say, "type", "pace", "percent", 80, "from", 50));
    await_pace(&h, "error", 60); // that one is overtaken
    send_msg(&h, json_pack(say, "type", "pace", "percent", 70, "from", 100));
    await_pace(&h, "error", 80);
    assert_int_equal(pace_now(&h), 50);
    directory = DIR_WELL;
    await_pace(&h, "ok", 70);
    assert_int_equal(pace_now(&h), 70);
    bye(&h);
    close_host(&h);
}

// Stops by the socket while resets come over the link: whatever wins, a stop that was answered with
// `latched` after the last reset was sent is there, in telemetry and on the disk.
static void a_reset_that_races_with_a_stop_loses(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    const int all = (int)rounds(ROUNDS_body_resets);
    for (int i = 0; i < all; i++) {
        assert_int_equal(pons_stop_send(h.dir, "first", LIMIT_S * 1000, NULL), PONS_OK);
        do { // the body has seen that one: the reset is for it
            expect(&h, "telemetry");
        } while (!pons_get_bool(pons_get(h.telemetry, "stop"), "latched", false));
        send_msg(&h, pons_object("type", json_string("reset"), NULL));
        poll(NULL, 0, i % 8); // somewhere on its way through gate and disk
        pons_error err = PONS_ERROR_INIT;
        if (pons_stop_send(h.dir, "second", LIMIT_S * 1000, &err) < 0) {
            assert_int_equal(err.status, PONS_EIO); // a slow disk; nothing is promised then
            continue;
        }
        // A reset that the body read only after that stop is meant for it too. Else it stays.
        const int64_t give_up_s = now_s() + LIMIT_S;
        pons_autovalue answer = NULL;
        while (!answer) {
            pons_value *m = NULL;
            const int rc = pons_link_recv(h.link, &m, NULL);
            assert_true(rc >= 0 && now_s() < give_up_s);
            const char *type = pons_get_str(m, "type", "");
            if (rc == 1 && (strcmp(type, "ok") == 0 || strcmp(type, "error") == 0)) {
                answer = m;
                continue;
            }
            pons_value_unref(m);
            try_msg(&h, pons_object("type", json_string("heartbeat"), NULL));
            struct pollfd p = {.fd = pons_link_fd(h.link), .events = POLLIN};
            poll(&p, 1, 20);
        }
        pons_body_files f;
        assert_int_equal(pons_body_verify(h.dir, &f, NULL), PONS_OK);
        if (strcmp(pons_get_str(answer, "type", ""), "error") == 0) {
            assert_true(f.boots_latched);
            expect(&h, "telemetry");
            expect(&h, "telemetry");
            assert_true(pons_get_bool(pons_get(h.telemetry, "stop"), "latched", false));
        }
    }
    bye(&h);
    close_host(&h);
}

// A body that ended in the midst of a goal, and latches for that at its next start.
static void leave_a_goal_open(host *h)
{
    pons_body *body = NULL;
    pons_link *theirs = NULL;
    pons_body_options opts = h->opts;
    opts.ledger_path = in_dir(h, "body.ledger");
    assert_int_equal(pons_body_create(&opts, &body, NULL), PONS_OK);
    assert_int_equal(pons_link_pair(&h->link, &theirs, NULL), PONS_OK);
    assert_int_equal(pons_body_attach(body, theirs, NULL), PONS_OK);
    send_msg(h, pons_object("type", json_string("hello"), "protocol", json_integer(1), "role",
                            json_string("controller"), "name", json_string("test"), NULL));
    assert_int_equal(pons_body_step(body, 100 * PONS_NS_PER_MS, NULL), PONS_OK);
    pons_autovalue m = await(h, "hello");
    h->epoch = pons_get_int(m, "epoch", 0);
    goal(h, "g", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    assert_int_equal(pons_body_step(body, 100 * PONS_NS_PER_MS, NULL), PONS_OK);
    expect(h, "accepted");
    pons_link_close(h->link);
    pons_body_destroy(body);
    h->link = NULL;
    h->epoch = 0;
}

// A stop that the gate has not seen yet makes the latch of an unclean end somebody's all the same.
static void stop_a_latched_body(void)
{
    host h;
    prepare_host(&h);
    leave_a_goal_open(&h);
    start(&h);
    hello(&h);
    expect(&h, "telemetry");
    assert_string_equal(pons_get_str(pons_get(h.telemetry, "stop"), "origin", ""), "boot");
    send_msg(&h, pons_object("type", json_string("stop"), NULL));
    send_msg(&h, pons_object("type", json_string("reset"), "auto", json_true(), NULL));
    pons_autovalue no = await(&h, "error");
    assert_string_equal(pons_get_str(no, "code", ""), "latched");
    const pons_value *stop = NULL;
    for (int i = 0; i < 100 && strcmp(pons_get_str(stop, "origin", "boot"), "boot") == 0; i++) {
        expect(&h, "telemetry"); // the next may have been written before the gate saw the stop
        stop = pons_get(h.telemetry, "stop");
        assert_true(pons_get_bool(stop, "latched", false));
    }
    assert_string_equal(pons_get_str(stop, "origin", ""), "stop");
    bye(&h);
    close_host(&h);
}

static void no_policy_lifts_a_stop_on_its_way(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) { // the gate may be quick
        stop_a_latched_body();
    }
}

// A body that stands still while somebody says reset, hears nothing and is told so: it stays latched when it
// goes on, for the person was not told otherwise.
static void a_reset_whose_sender_has_gone_lifts_nothing(void **state)
{
    (void)state;
    static const char reset[] = "{\"type\":\"reset\"}\n";
    static const char asks[] = "{\"type\":\"status\",\"goal_id\":\"x\"}\n";
    host h;
    open_host(&h);
    hello(&h);
    disk_hangs = true;
    assert_int_equal(pons_stop_send(h.dir, "first", LIMIT_S * 1000, NULL), PONS_OK);
    while (!in_disk) { // the loop is at its line of the ledger, and comes no further
        poll(NULL, 0, 1);
    }
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%.*s", (int)sizeof to.sun_path - 1,
             in_dir(&h, "body.sock"));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(write(fd, reset, sizeof reset - 1), (int)sizeof reset - 1);
    close(fd);
    disk_hangs = false;
    say_and_shut(&h, asks, sizeof asks - 1, "status"); // it goes on
    do { // what is older than the stop is still on its way
        expect(&h, "telemetry");
    } while (pons_get_int(pons_get(h.telemetry, "stop"), "number", 0) <= 1);
    for (int i = 0; i < 5; i++) {
        assert_true(pons_get_bool(pons_get(h.telemetry, "stop"), "latched", false));
        expect(&h, "telemetry");
    }
    say_and_shut(&h, reset, sizeof reset - 1, "\"ok\""); // of who waits for the answer
    bye(&h);
    close_host(&h);
}

// Root in a test can be somebody else; others cannot show it.
static void a_reset_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    host h;
    open_host(&h);
    hello(&h);
    assert_int_equal(pons_stop_send(h.dir, "a person", LIMIT_S * 1000, NULL), PONS_OK);
    assert_int_equal(chmod(h.dir, 0711), 0); // a mode that was loosened
    assert_int_equal(chmod(in_dir(&h, "body.sock"), 0666), 0);
    char sock[128];
    snprintf(sock, sizeof sock, "%s", in_dir(&h, "body.sock"));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { // a bare line, as somebody else
        const char line[] = "{\"type\":\"reset\"}\n";
        char text[4096];
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        snprintf(to.sun_path, sizeof to.sun_path, "%.100s", sock);
        if (setuid(65534) != 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) != 0 ||
            write(fd, line, sizeof line - 1) < 0) {
            _exit(2);
        }
        const ssize_t n = read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        _exit(strstr(text, "\"not_permitted\"") ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    do { // what was queued before the stop comes first
        expect(&h, "telemetry");
    } while (!pons_get_bool(pons_get(h.telemetry, "stop"), "latched", false));
    // The same line of the same user is a reset, without a hello.
    pons_link *l = NULL;
    assert_int_equal(pons_link_connect(sock, &l, NULL), PONS_OK);
    assert_int_equal(pons_link_send(l, pons_object("type", json_string("reset"), NULL), NULL),
                     PONS_OK);
    do {
        expect(&h, "telemetry");
    } while (pons_get_bool(pons_get(h.telemetry, "stop"), "latched", true));
    pons_link_close(l);
    bye(&h);
    close_host(&h);
}

static void one_body_serves_a_directory(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_body_run(&h.opts, h.dir, NULL, &err), PONS_EBUSY);
    char pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    assert_non_null(strstr(err.message, pid));
    // The first one has not noticed.
    send_msg(&h, pons_object("type", json_string("status"), "goal_id", json_string("x"), NULL));
    expect(&h, "status");
    // A signal ends it, and what was active is canceled in the ledger: no unclean end.
    goal(&h, "g1", "wait", "{\"s\":3000}");
    expect(&h, "accepted");
    assert_int_equal(pthread_kill(h.thread, SIGUSR1), 0);
    join(&h);
    assert_int_equal(ledger_lines(&h, "\"state\":\"canceled\""), 1);
    close_host(&h);
}

static void a_restarted_robot_stands_where_it_stood(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    goal(&h, "g1", "navigate_to_pose", "{\"pose\":{\"x\":2.6,\"y\":2.6}}");
    pons_value_unref(await_result(&h, "g1"));
    expect(&h, "telemetry");
    const double x = pons_get_num(pons_get(h.telemetry, "pose"), "x", -1.0);
    const double y = pons_get_num(pons_get(h.telemetry, "pose"), "y", -1.0);
    const int64_t epoch = h.epoch;
    bye(&h);

    start(&h);
    hello(&h);
    assert_true(h.epoch > epoch);
    expect(&h, "telemetry");
    assert_true(fabs(pons_get_num(pons_get(h.telemetry, "pose"), "x", -1.0) - x) < 0.1);
    assert_true(fabs(pons_get_num(pons_get(h.telemetry, "pose"), "y", -1.0) - y) < 0.1);
    bye(&h);
    close_host(&h);
}

static void it_leaves_when_nobody_comes(void **state)
{
    (void)state;
    host h;
    open_host(&h);
    hello(&h);
    bye(&h);
    h.opts.alone_timeout_s = 0.05;
    start(&h);
    join(&h);
    close_host(&h);
}

// Whoever started it was told to end as it started: hello and bye are there, and nobody hears the answers.
static void a_bye_of_one_who_has_gone_is_heard(void **state)
{
    (void)state;
    host h;
    struct timespec until;
    open_host(&h);
    while (pons_link_connect(in_dir(&h, "body.sock"), &h.link, NULL) < 0) {
        poll(NULL, 0, 1);
    }
    send_msg(&h, pons_object("type", json_string("hello"), "protocol", json_integer(1), "role",
                             json_string("controller"), "name", json_string("test"), NULL));
    send_msg(&h, pons_object("type", json_string("bye"), "stop_body", json_true(), NULL));
    pons_link_close(h.link);
    h.link = NULL;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOST_S / 2;
    assert_int_equal(pthread_timedjoin_np(h.thread, NULL, &until), 0);
    assert_int_equal(h.rc, PONS_OK);
    close_host(&h);
}

int main(void)
{
    pons_value_init();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGUSR1, on_signal);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_drives_over_the_socket_and_ends_with_a_bye),
        cmocka_unit_test(a_body_whose_socket_is_gone_halts_and_ends),
        cmocka_unit_test(it_is_held_while_the_disk_hangs),
        cmocka_unit_test(a_body_whose_ledger_failed_makes_room_for_another),
        cmocka_unit_test(a_stop_latches_at_once_and_ends_the_goal),
        cmocka_unit_test(the_stop_socket_does_one_thing),
        cmocka_unit_test(who_closes_his_half_is_answered),
        cmocka_unit_test(a_stop_that_cannot_be_saved_says_so_and_is_saved_later),
        cmocka_unit_test(who_is_told_that_it_is_faster_has_it_so),
        cmocka_unit_test(a_raise_whose_asker_is_gone_is_taken_back),
        cmocka_unit_test(while_a_raise_is_not_saved_the_old_one_counts),
        cmocka_unit_test(a_reset_that_races_with_a_stop_loses),
        cmocka_unit_test(no_policy_lifts_a_stop_on_its_way),
        cmocka_unit_test(a_reset_whose_sender_has_gone_lifts_nothing),
        cmocka_unit_test(a_reset_of_another_user_is_refused),
        cmocka_unit_test(one_body_serves_a_directory),
        cmocka_unit_test(a_restarted_robot_stands_where_it_stood),
        cmocka_unit_test(it_leaves_when_nobody_comes),
        cmocka_unit_test(a_bye_of_one_who_has_gone_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
