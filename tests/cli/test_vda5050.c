// test_vda5050.c - `pons vda5050` with Debian's mosquitto between it and a master: orders are driven by a real
// body, whatever is killed when, each motion once by the body's ledger; the broker goes and comes back; a
// stop, and a person's task, are above the master. Needs mosquitto; without it, the tests say so and pass.
#include "cli_bench.h"
#include "pons/ext/mqtt.h"
#include "pons/module.h"
#include "pons/out_of_memory.h"
#include "rounds.h"
#include "unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_S 120
#define TOPICS  "uagv/v2/pons/pons-1/"

typedef struct rig {
    bench b;
    proc p;
    pid_t broker;
    int port;
    const pons_mqtt_ops *ops;
    void *master;
    bool connected;
    pons_value *state; // newest
    char connection[32];
    int header;
} rig;

static const char *mosquitto(void)
{
    static const char *const at[] = {"/usr/sbin/mosquitto", "/usr/bin/mosquitto",
                                     "/usr/local/sbin/mosquitto"};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        if (access(at[i], X_OK) == 0) {
            return at[i];
        }
    }
    return NULL;
}

static int free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s >= 0 && bind(s, (struct sockaddr *)&a, n) == 0 &&
                getsockname(s, (struct sockaddr *)&a, &n) == 0);
    close(s);
    return ntohs(a.sin_port);
}

// A client that comes before the broker listens tries again a second later.
static void await_listening(int port)
{
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timespec a_while = {.tv_nsec = 2000000};
    for (const time_t end = time(NULL) + LIMIT_S; time(NULL) < end;) {
        const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const bool accepts = s >= 0 && connect(s, (const struct sockaddr *)&a, sizeof a) == 0;
        close(s);
        if (accepts) {
            return;
        }
        nanosleep(&a_while, NULL);
    }
    fail_msg("the broker does not listen");
}

static void start_broker_with(rig *r, const char *more)
{
    char text[1152];
    snprintf(text, sizeof text, "listener %d 127.0.0.1\n%s", r->port, more);
    const char *path = bench_file(&r->b, "mosquitto.conf", text);
    r->broker = fork();
    if (r->broker == 0) {
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) {
            _exit(126);
        }
        execl(mosquitto(), "mosquitto", "-c", path, (char *)NULL);
        _exit(127);
    }
    assert_true(r->broker > 0);
    await_listening(r->port);
}

static void end_broker(rig *r)
{
    if (r->broker > 0) {
        kill(r->broker, SIGKILL);
        waitpid(r->broker, NULL, 0);
        r->broker = 0;
    }
}

static void start_broker(rig *r)
{
    start_broker_with(r, "allow_anonymous true\n");
}

// Takes one event: a state that lasts a moment is seen however late this process is.
static bool hear(rig *r)
{
    pons_mqtt_event e;
    const bool some = r->ops->next(r->master, &e);
    if (some) {
        pons_value *v = NULL;
        pons_error err = PONS_ERROR_INIT;
        r->connected = e.kind == PONS_MQTT_CONNECTED || (r->connected && e.kind != PONS_MQTT_LOST);
        if (e.kind == PONS_MQTT_MESSAGE) {
            assert_int_equal(pons_value_parse(e.data, e.n, &v, &err), PONS_OK);
            if (strcmp(e.topic, TOPICS "state") == 0) {
                pons_value_unref(r->state);
                r->state = v;
                v = NULL;
            } else if (strcmp(e.topic, TOPICS "connection") == 0) {
                snprintf(r->connection, sizeof r->connection, "%s",
                         pons_get_str(v, "connectionState", ""));
            }
        }
        pons_value_unref(v);
        free(e.topic);
        free(e.data);
    }
    return some;
}

static void await(rig *r, bool (*is)(const rig *r, const char *word), const char *word)
{
    const time_t end = time(NULL) + LIMIT_S;
    while (time(NULL) < end) {
        if (is(r, word)) {
            return;
        }
        if (!hear(r)) {
            struct pollfd p = {.fd = r->ops->event_fd(r->master), .events = POLLIN};
            poll(&p, 1, 1000);
        }
    }
    char *text = NULL;
    pons_value_line(r->state, &text);
    char *err = bench_stderr(&r->p);
    fail_msg("waited for %s; the last state: %s\n%s", word, text ? text : "none", err ? err : "");
}

static bool is_connected(const rig *r, const char *word)
{
    (void)word;
    return r->connected;
}

static bool is_online(const rig *r, const char *word)
{
    return strcmp(r->connection, word) == 0;
}

static bool stands_at(const rig *r, const char *node)
{
    return strcmp(pons_get_str(r->state, "lastNodeId", ""), node) == 0;
}

static bool drives(const rig *r, const char *word)
{
    (void)word;
    return pons_get_bool(r->state, "driving", false);
}

static bool is_ready(const rig *r, const char *mode)
{
    return r->state && strcmp(pons_get_str(r->state, "operatingMode", ""), mode) == 0 &&
           pons_get_bool(pons_get(r->state, "agvPosition"), "positionInitialized", false);
}

static bool is_stopped(const rig *r, const char *word)
{
    return strcmp(pons_get_str(pons_get(r->state, "safetyState"), "eStop", ""), word) == 0;
}

static bool finished(const rig *r, const char *id)
{
    size_t i = 0;
    const pons_value *a = NULL;
    json_array_foreach(pons_get(r->state, "actionStates"), i, a) {
        if (strcmp(pons_get_str(a, "actionId", ""), id) == 0) {
            return strcmp(pons_get_str(a, "actionStatus", ""), "FINISHED") == 0;
        }
    }
    return false;
}

static bool has_error(const rig *r, const char *type)
{
    size_t i = 0;
    const pons_value *e = NULL;
    json_array_foreach(pons_get(r->state, "errors"), i, e) {
        if (strcmp(pons_get_str(e, "errorType", ""), type) == 0) {
            return true;
        }
    }
    return false;
}

static void start_robot(rig *r, double speed)
{
    char words[256];
    snprintf(words, sizeof words,
             "vda5050 --broker mqtt://127.0.0.1:%d --driver kinematic --seed 3 --speed %g", r->port,
             speed);
    bench_start(&r->b, &r->p, NULL, words);
}

static void open_master(rig *r)
{
    static const char *const topics[] = {TOPICS "state", TOPICS "connection", NULL};
    pons_error err = PONS_ERROR_INIT;
    const pons_mqtt_options o = {.host = "127.0.0.1",
                                 .port = (uint16_t)r->port,
                                 .client = "master",
                                 .topics = topics,
                                 .message_max = 1 << 20};
    assert_int_equal(r->ops->open(&o, &r->master, &err), PONS_OK);
    await(r, is_connected, "the broker");
}

static bool set_up(rig *r, double speed)
{
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    *r = (rig){0};
    if (!mosquitto() || pons_module_load("mqtt", "mosquitto", &ops, &err) < 0) {
        print_message("no mosquitto: nothing was tried\n");
        return false;
    }
    bench_open(&r->b);
    r->ops = ops;
    r->port = free_port();
    start_broker(r);
    open_master(r);
    start_robot(r, speed);
    await(r, is_ready, "AUTOMATIC");
    return true;
}

static void tear_down(rig *r)
{
    if (r->p.pid) {
        bench_signal(&r->p, SIGTERM);
        bench_finish(&r->p);
    }
    bench_free(&r->p);
    r->ops->close(r->master);
    end_broker(r);
    pons_value_unref(r->state);
    bench_end_body(&r->b);
    bench_close(&r->b);
}

// ---- what the master says -----------------------------------------------------------------------

static void say(rig *r, const char *topic, pons_value *m)
{
    char *text = NULL, where[64];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue head = json_pack("{s:i, s:s, s:s, s:s, s:s}", "headerId", r->header++,
                                    "timestamp", "2026-01-01T00:00:00.00Z", "version", "2.1.0",
                                    "manufacturer", "pons", "serialNumber", "pons-1");
    json_object_update_missing(m, head);
    const long n = pons_value_line(m, &text);
    snprintf(where, sizeof where, TOPICS "%s", topic);
    assert_int_equal(r->ops->publish(r->master, where, text, (size_t)n, 0, false, &err), PONS_OK);
    free(text);
    pons_value_unref(m);
}

static void instant(rig *r, const char *type, const char *id)
{
    say(r, "instantActions",
        json_pack("{s:[{s:s, s:s, s:s}]}", "actions", "actionType", type, "actionId", id,
                  "blockingType", "NONE"));
}

static pons_value *node(const char *id, int seq, double x, double y, const char *says)
{
    pons_value *n =
        json_pack("{s:s, s:i, s:b, s:[], s:{s:f, s:f, s:s}}", "nodeId", id, "sequenceId", seq,
                  "released", 1, "actions", "nodePosition", "x", x, "y", y, "mapId", "house");
    if (says) {
        json_array_append_new(json_object_get(n, "actions"),
                              json_pack("{s:s, s:s, s:s, s:[{s:s, s:s}]}", "actionType", "speak",
                                        "actionId", says, "blockingType", "HARD",
                                        "actionParameters", "key", "text", "value", says));
    }
    return n;
}

static pons_value *edge(const char *id, int seq, const char *from, const char *to)
{
    return json_pack("{s:s, s:i, s:b, s:s, s:s, s:[]}", "edgeId", id, "sequenceId", seq, "released",
                     1, "startNodeId", from, "endNodeId", to, "actions");
}

// From where the robot begins through the living room to the kitchen, with something to say on the way.
static void go(rig *r, const char *id)
{
    say(r, "order",
        json_pack("{s:s, s:i, s:[o, o, o], s:[o, o]}", "orderId", id, "orderUpdateId", 0, "nodes",
                  node("start", 0, 2.0, 1.6, NULL), node("room", 2, 2.2, 2.7, "hello"),
                  node("kitchen", 4, 6.7, 6.4, "bye"), "edges", edge("e1", 1, "start", "room"),
                  edge("e2", 3, "room", "kitchen")));
}

// ---- tests --------------------------------------------------------------------------------------

static void killed_whenever_it_drives_each_way_once(void **state)
{
    (void)state;
    rig r;
    if (!set_up(&r, 6.0)) {
        return;
    }
    go(&r, "o1");
    static bool (*const until[])(const rig *r, const char *word) = {drives, stands_at, finished,
                                                                    drives, stands_at};
    static const char *const word[] = {"driving", "room", "hello", "driving", "kitchen"};
    for (size_t i = 0; i < sizeof until / sizeof until[0]; i++) {
        await(&r, until[i], word[i]);
        bench_signal(&r.p, SIGKILL);
        bench_finish(&r.p);
        bench_free(&r.p);
        r.p = (proc){0};
        await(&r, is_online, "CONNECTIONBROKEN");
        pons_value_unref(r.state);
        r.state = NULL;
        start_robot(&r, 6.0);
        await(&r, is_online, "ONLINE");
        go(&r, "o1"); // the master says it again: it is known
    }
    await(&r, finished, "bye");
    await(&r, stands_at, "kitchen");
    assert_int_equal(json_array_size(pons_get(r.state, "nodeStates")), 0);
    assert_int_equal(bench_ledger_skill(&r.b, "navigate_to_pose"), 2);
    assert_int_equal(bench_ledger_skill(&r.b, "speak"), 2);
    bench_ledger_check(&r.b);
    tear_down(&r);
}

static bool stands(const rig *r, const char *word)
{
    (void)word;
    return !json_is_true(pons_get(r->state, "driving"));
}

static int done_count(bench *b, const char *skill)
{
    pons_autovalue rows = bench_ledger(b);
    int n = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const pons_value *row = json_array_get(rows, i);
        n += strcmp(pons_get_str(row, "state", ""), "done") == 0 &&
             strcmp(pons_get_str(row, "skill", ""), skill) == 0;
    }
    return n;
}

// A body that dies on its way: the master hears that it does not drive, the order stays, the new body drives the
// rest of it, and no motion is done twice.
static void the_body_dies_as_it_drives(void **state)
{
    (void)state;
    rig r;
    if (!set_up(&r, 6.0)) {
        return;
    }
    go(&r, "o1");
    await(&r, drives, "driving");
    bench_end_body(&r.b);
    await(&r, stands, "standing");
    assert_string_equal(pons_get_str(r.state, "orderId", ""), "o1");
    assert_true(json_array_size(pons_get(r.state, "nodeStates")) >
                0); // and not as if it were there
    await(&r, finished, "bye");
    await(&r, stands_at, "kitchen");
    assert_int_equal(json_array_size(pons_get(r.state, "nodeStates")), 0);
    assert_int_equal(done_count(&r.b, "navigate_to_pose"), 2);
    assert_int_equal(done_count(&r.b, "speak"), 2);
    assert_int_equal(bench_ledger_skill(&r.b, "speak"), 2);
    assert_true(bench_ledger_skill(&r.b, "navigate_to_pose") <=
                3); // the one that was broken off, again
    bench_ledger_check(&r.b);
    tear_down(&r);
}

static void the_broker_goes_and_comes_back(void **state)
{
    (void)state;
    rig r;
    if (!set_up(&r, 8.0)) {
        return;
    }
    go(&r, "o1");
    await(&r, drives, "driving");
    end_broker(&r);
    bench_ledger_await(&r.b, "done", 4); // what was released is done without it
    pons_value_unref(r.state);
    r.state = NULL;
    r.connection[0] = '\0';
    start_broker(&r);
    await(&r, is_online, "ONLINE");
    await(&r, stands_at, "kitchen");
    await(&r, finished, "bye");
    go(&r, "o1");
    instant(&r, "stateRequest", "s1");
    await(&r, finished, "s1");
    assert_int_equal(bench_ledger_skill(&r.b, "navigate_to_pose"), 2);
    bench_signal(&r.p, SIGTERM);
    bench_must_exit(&r.p, 0);
    r.p.pid = 0;
    await(&r, is_online, "OFFLINE");
    tear_down(&r);
}

static void a_stop_and_a_person_are_above_the_master(void **state)
{
    (void)state;
    rig r;
    if (!set_up(&r, 4.0)) {
        return;
    }
    go(&r, "o1");
    await(&r, drives, "driving");
    assert_int_equal(bench_run(&r.b, "stop"), 0);
    await(&r, is_stopped, "MANUAL");
    instant(&r, "startPause", "p1");
    await(&r, finished, "p1");
    instant(&r, "stopPause", "p2");
    await(&r, has_error, "pauseNotLifted");
    assert_true(is_stopped(&r, "MANUAL"));
    assert_int_equal(bench_run(&r.b, "reset"), 0);
    await(&r, is_stopped, "NONE");
    assert_false(drives(&r, ""));
    await(&r, has_error, "stopped"); // nothing moves before a person says so
    assert_int_equal(bench_run(&r.b, "continue --thread vda5050"), 0);
    await(&r, drives, "driving");
    char said[] = "say --thread vda5050 'go to the bedroom'";
    assert_int_equal(bench_run(&r.b, said), 0);
    await(&r, is_ready, "MANUAL");
    await(&r, has_error, "orderDropped");
    assert_int_equal(json_array_size(pons_get(r.state, "nodeStates")), 0);
    go(&r, "o2");
    await(&r, has_error, "orderError");
    await(&r, is_ready, "AUTOMATIC"); // and the person's task is done
    go(&r, "o3");
    await(&r, has_error, "noRouteError");
    tear_down(&r);
}

// A broker with a certificate and a password file: the robot's configuration has both, or it is kept out.
static void by_tls_and_a_password(void **state)
{
    (void)state;
    rig r = {0};
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    char words[1024], text[1024], ca[160];
    if (!mosquitto() || pons_module_load("mqtt", "mosquitto", &ops, &err) < 0) {
        print_message("no mosquitto: nothing was tried\n");
        return;
    }
    bench_open(&r.b);
    r.ops = ops;
    r.port = free_port();
    const char *const d = r.b.dir;
    snprintf(words, sizeof words,
             "cd %s && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out "
             "cert.pem -subj "
             "/CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null && mosquitto_passwd -b "
             "-c users robot "
             "secret && chmod 755 . && chmod 644 key.pem cert.pem users && mkdir -m 700 -p "
             "%s/config && (umask 077 && "
             "echo secret >%s/right && echo other >%s/wrong)",
             d, r.b.workspace, r.b.workspace, r.b.workspace);
    assert_int_equal(system(words), 0); // NOLINT(cert-env33-c)
    snprintf(ca, sizeof ca, "%s/cert.pem", d);
    snprintf(text, sizeof text,
             "cafile %s\ncertfile %s\nkeyfile %s/key.pem\nallow_anonymous false\npassword_file "
             "%s/users\n",
             ca, ca, d, d);
    start_broker_with(&r, text);
    for (int i = 0; i < 2; i++) { // the wrong one first
        snprintf(text, sizeof text, "user: robot\npassword_file: %s\ntls: {ca: %s}\n",
                 i ? "right" : "wrong", ca);
        snprintf(words, sizeof words, "%s/config/vda5050.yaml", r.b.workspace);
        FILE *f = fopen(words, "we");
        assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
        snprintf(words, sizeof words, "vda5050 --broker mqtts://127.0.0.1:%d --driver kinematic",
                 r.port);
        bench_start(&r.b, &r.p, NULL, words);
        bench_err_await(&r.p, i ? "connected with" : "not authorised");
        bench_signal(&r.p, SIGTERM);
        bench_finish(&r.p);
        bench_free(&r.p);
        r.p = (proc){0};
    }
    end_broker(&r);
    bench_end_body(&r.b);
    bench_close(&r.b);
}

static void flood_with(rig *r, const char *topic, const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    for (int i = 0; i < 400; i++) {
        assert_int_equal(r->ops->publish(r->master, topic, text, strlen(text), 1, false, &err),
                         PONS_OK);
    }
}

// An order that is refused, but not before it was read: 20 KB.
static char *long_order(void)
{
    pons_value *nodes = json_array();
    for (int i = 0; i < 100; i++) {
        json_array_append_new(nodes, node("somewhere", 7, 2.0, 1.6, NULL));
    }
    pons_autovalue m = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:[]}", "headerId", 1,
                                 "timestamp", "2026-01-01T00:00:00.00Z", "version", "2.1.0",
                                 "manufacturer", "pons", "serialNumber", "pons-1", "orderId",
                                 "flood", "orderUpdateId", 0, "nodes", nodes, "edges");
    char *text = NULL;
    pons_value_line(m, &text);
    return text;
}

static bool is_over(const rig *r, const char *word)
{
    (void)word;
    return json_array_size(pons_get(r->state, "nodeStates")) == 0;
}

static void stop_by(rig *r, const char *type, const char *id)
{
    pons_autovalue m = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:[{s:s, s:s, s:s}]}", "headerId", r->header++, "timestamp",
        "2026-01-01T00:00:00.00Z", "version", "2.1.0", "manufacturer", "pons", "serialNumber",
        "pons-1", "actions", "actionType", type, "actionId", id, "blockingType", "NONE");
    char *text = NULL;
    pons_error err = PONS_ERROR_INIT;
    const long n = pons_value_line(m, &text);
    assert_int_equal(
        r->ops->publish(r->master, TOPICS "instantActions", text, (size_t)n, 1, false, &err),
        PONS_OK);
    free(text);
}

// Behind any number of other messages, of both topics, what stops the robot is heard; and what was not is said.
static void what_stops_is_heard_behind_a_flood(void **state)
{
    (void)state;
    rig r;
    if (!set_up(&r, 1.0)) {
        return;
    }
    char *order = long_order();
    go(&r, "o1");
    await(&r, drives, "driving");
    flood_with(&r, TOPICS "order", order);
    stop_by(&r, "cancelOrder", "c");
    await(&r, finished, "c");
    await(&r, is_over, "the order's end");
    await(&r, has_error, "messagesDropped");
    for (long i = 0; i < rounds(ROUNDS_vda5050_floods); i++) {
        char pause[32], on[32];
        snprintf(pause, sizeof pause, "pause%ld", i);
        snprintf(on, sizeof on, "on%ld", i);
        flood_with(&r, i % 2 ? TOPICS "order" : TOPICS "instantActions", order);
        stop_by(&r, "startPause", pause);
        await(&r, finished, pause);
        stop_by(&r, "stopPause", on); // nothing else is on its way by now
        await(&r, finished, on);
    }
    free(order);
    tear_down(&r);
}

static void a_message_that_is_too_long_is_an_error(void **state)
{
    (void)state;
    rig r;
    if (!set_up(&r, 8.0)) {
        return;
    }
    const size_t n = 400 * 1024;
    char *text = malloc(n);
    pons_error err = PONS_ERROR_INIT;
    assert_non_null(text);
    memset(text, ' ', n);
    assert_int_equal(r.ops->publish(r.master, TOPICS "order", text, n, 1, false, &err), PONS_OK);
    await(&r, has_error, "validationError");
    free(text);
    tear_down(&r);
}

static void said_wrongly(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    bench_must_fail(&b, "vda5050 --broker http://x", 2, "mqtt");
    bench_must_fail(&b, "vda5050 --broker mqtt://x:0", 2, "--broker");
    bench_must_fail(&b, "vda5050 --serial a/b", 2, "serial");
    bench_must_fail(&b, "vda5050 now", 2, "now");
    bench_close(&b);
}

int main(void)
{
    pons_memory_of_a_process();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_body_dies_as_it_drives, bench_teardown),
        cmocka_unit_test_teardown(killed_whenever_it_drives_each_way_once, bench_teardown),
        cmocka_unit_test_teardown(the_broker_goes_and_comes_back, bench_teardown),
        cmocka_unit_test_teardown(a_stop_and_a_person_are_above_the_master, bench_teardown),
        cmocka_unit_test_teardown(what_stops_is_heard_behind_a_flood, bench_teardown),
        cmocka_unit_test_teardown(a_message_that_is_too_long_is_an_error, bench_teardown),
        cmocka_unit_test_teardown(by_tls_and_a_password, bench_teardown),
        cmocka_unit_test_teardown(said_wrongly, bench_teardown),
    };
    return cmocka_run_group_tests_name("vda5050: a robot under a master", tests, NULL, NULL);
}
