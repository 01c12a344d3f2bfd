// test_foxglove.c - the robot's topics over Foxglove's WebSocket protocol: who may come, what comes,
// and what may be published.
#include "http/ws_client.h"
#include "pons/buf.h"
#include "pons/link.h"
#include "serve/access/server.h"
#include "serve/foxglove/room.h"
#include "serve/serve_bench.h"

#define SPEAKS "Sec-WebSocket-Protocol: foxglove.websocket.v1\r\n"

static void ask_for(const bench *b, int fd, const char *path, const char *headers, char ret[4096])
{
    char request[2048];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", path,
             b->port, headers);
    ws_ask(fd, request, ret);
}

static int come(const bench *b, const char *role)
{
    char path[256], reply[4096];
    const int fd = ws_connect(b->port);
    snprintf(path, sizeof path, "/foxglove?token=%s", bench_token(b, role));
    ask_for(b, fd, path, SPEAKS WS_UPGRADE, reply);
    if (!strstr(reply, " 101 ")) {
        fail_msg("%s", reply);
    }
    assert_non_null(strstr(reply, "Sec-WebSocket-Protocol: foxglove.websocket.v1\r\n"));
    return fd;
}

// The next frame that is no ping; a ping is answered, or the server takes the client for gone.
static ws_frame next(int fd)
{
    ws_frame f = ws_next(fd);
    while (f.opcode == WS_PING) {
        ws_send(fd, WS_PONG, true, f.data, f.n);
        free(f.data);
        f = ws_next(fd);
    }
    return f;
}

// Skips what comes until there is a text message with this in it; the caller's.
static pons_value *until(int fd, const char *what)
{
    for (;;) {
        pons_value *v = NULL;
        ws_frame f = next(fd);
        assert_true(f.opcode != 0 && f.opcode != WS_CLOSE);
        if (f.opcode == WS_TEXT && strstr(f.data, what)) {
            assert_int_equal(pons_value_parse(f.data, f.n, &v, NULL), PONS_OK);
            free(f.data);
            return v;
        }
        free(f.data);
    }
}

// The number of a topic's channel.
static int channel(int fd, const char *topic)
{
    char what[128];
    snprintf(what, sizeof what, "\"topic\":\"%s\"", topic);
    pons_autovalue v = until(fd, what);
    const pons_value *c = json_array_get(pons_get(v, "channels"), 0);
    pons_autovalue schema = NULL;
    const char *text = pons_get_str(c, "schema", "");
    assert_string_equal(pons_get_str(v, "op", ""), "advertise");
    assert_string_equal(pons_get_str(c, "encoding", ""), "json");
    assert_int_equal(pons_value_parse(text, strlen(text), &schema, NULL), PONS_OK);
    return (int)pons_get_int(c, "id", -1);
}

static void say(int fd, const char *text)
{
    ws_send(fd, WS_TEXT, true, text, strlen(text));
}

static void subscribe(int fd, int id, int to)
{
    char text[128];
    snprintf(text, sizeof text,
             "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":%d,\"channelId\":%d}]}", id, to);
    say(fd, text);
}

// Until the server has heard all that was said; messages that come meanwhile are skipped.
static void settle(int fd)
{
    say(fd, "{\"op\":\"well?\"}");
    pons_value_unref(until(fd, "well? is not offered"));
}

// The next message of a subscription, and its time.
static pons_value *of(int fd, int id, uint64_t *ret_ns)
{
    for (;;) {
        ws_frame f = next(fd);
        assert_true(f.opcode != 0 && f.opcode != WS_CLOSE);
        const uint8_t *m = (const uint8_t *)f.data;
        if (f.opcode != WS_BINARY || m[1] != id) {
            free(f.data);
            continue;
        }
        pons_value *v = NULL;
        assert_int_equal(m[0], 1);
        *ret_ns = 0;
        for (int i = 7; i >= 0; i--) {
            *ret_ns = *ret_ns << 8 | m[5 + i];
        }
        assert_int_equal(pons_value_parse(f.data + 13, f.n - 13, &v, NULL), PONS_OK);
        free(f.data);
        return v;
    }
}

static void publish(int fd, uint8_t to, const char *json)
{
    pons_autobuf b = PONS_BUF_INIT;
    const uint8_t head[5] = {1, to};
    pons_buf_bytes(&b, head, sizeof head);
    pons_buf_str(&b, json);
    ws_send(fd, WS_BINARY, true, b.data, b.len);
}

static pons_link *body_of(bench *b)
{
    while (!b->body_fd) {
        usleep(1000);
    }
    return pons_link_from_fd(b->body_fd);
}

static void who_may_come(void **state)
{
    static const struct {
        const char *path, *headers, *says;
    } not_so[] = {
        {"/foxglove", SPEAKS WS_UPGRADE, " 401 "},
        {"/foxglove?token=0000", SPEAKS WS_UPGRADE, " 401 "},
        {"/foxglove?token=%s", WS_UPGRADE, " 400 "},
        {"/foxglove?token=%s", "Sec-WebSocket-Protocol: foxglove.websocket.v12\r\n" WS_UPGRADE,
         " 400 "},
        {"/foxglove?token=%s", SPEAKS "Origin: http://evil.example\r\n" WS_UPGRADE, " 403 "},
        {"/foxglove?token=%s", SPEAKS, " 401 "},        // no socket: no token in an address
        {"/v1/map?token=%s", WS_UPGRADE, " 401 "},      // nor of any other
        {"/foxglove/?token=%s", SPEAKS WS_UPGRADE, ""}, // nor of this one by another name
    };
    bench b;
    char path[256], reply[4096];
    int fds[17];
    (void)state;
    bench_open(&b);
    for (size_t i = 0; i < sizeof not_so / sizeof not_so[0]; i++) {
        const int fd = ws_connect(b.port);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, not_so[i].path, bench_token(&b, "viewer"));
#pragma GCC diagnostic pop
        ask_for(&b, fd, path, not_so[i].headers, reply);
        if (!strstr(reply, not_so[i].says) || strstr(reply, " 101 ") || strstr(reply, " 200 ")) {
            fail_msg("%zu: %s", i, reply);
        }
        close(fd);
    }
    for (int i = 0; i < 16; i++) {
        fds[i] = come(&b, "viewer");
    }
    fds[16] = ws_connect(b.port);
    snprintf(path, sizeof path, "/foxglove?token=%s", bench_token(&b, "viewer"));
    ask_for(&b, fds[16], path, SPEAKS WS_UPGRADE, reply);
    assert_non_null(strstr(reply, " 503 "));
    close(fds[16]);
    close(fds[0]);
    do { // there is a place again once that is noticed
        fds[0] = ws_connect(b.port);
        ask_for(&b, fds[0], path, SPEAKS WS_UPGRADE, reply);
    } while (strstr(reply, " 503 ") && close(fds[0]) == 0);
    assert_non_null(strstr(reply, " 101 "));
    bench_close(&b); // with all of them there
    for (int i = 0; i < 16; i++) {
        close(fds[i]);
    }
}

static void what_comes(void **state)
{
    bench b;
    uint64_t ns = 0;
    (void)state;
    bench_open(&b);
    b.body = true;
    const int fd = come(&b, "viewer");
    pons_autovalue info = until(fd, "serverInfo");
    assert_int_equal(json_array_size(pons_get(info, "capabilities")), 0);
    subscribe(fd, 7, channel(fd, "/events"));
    settle(fd);
    pons_link *body = body_of(&b);
    static const char zone[] = "{\"type\":\"hello\",\"protocol\":1,\"world\":{\"name\":\"house\","
                               "\"zones\":[{\"id\":\"den\",\"polygon\":[[0,0],[1,0],[1,1]]}]}}";
    pons_value *hello = NULL;
    assert_int_equal(pons_value_parse(zone, sizeof zone - 1, &hello, NULL), PONS_OK);
    assert_int_equal(pons_link_send(body, hello, NULL), PONS_OK);
    // It was told before anybody could subscribe to it, and comes all the same.
    subscribe(fd, 1, channel(fd, "/zones"));
    pons_autovalue zones = of(fd, 1, &ns);
    assert_int_equal(json_array_size(pons_get(zones, "entities")), 1);
    assert_true(ns > 1600000000000000000U);
    static const char there[] = "{\"type\":\"telemetry\",\"pose\":{\"x\":1.5,\"y\":2,\"yaw\":0}}";
    pons_value *telemetry = NULL;
    assert_int_equal(pons_value_parse(there, sizeof there - 1, &telemetry, NULL), PONS_OK);
    assert_int_equal(pons_link_send(body, pons_value_ref(telemetry), NULL), PONS_OK);
    subscribe(fd, 2, channel(fd, "/pose"));
    settle(fd);
    assert_int_equal(pons_link_send(body, telemetry, NULL), PONS_OK);
    pons_autovalue pose = of(fd, 2, &ns);
    assert_true(pons_get_num(pons_get(pons_get(pose, "pose"), "position"), "x", 0) == 1.5);
    // Each subscription of a channel has its own; one that is given up has none.
    bench_commit(&b, 1);
    pons_autovalue event = of(fd, 7, &ns);
    assert_int_equal(pons_get_int(event, "seq", 0), 1);
    say(fd, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[7]}");
    say(fd, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[7]}");
    pons_value_unref(until(fd, "there is no subscription 7"));
    bench_commit(&b, 1);
    subscribe(fd, 8, 0);
    settle(fd);
    bench_commit(&b, 1);
    pons_autovalue later = of(fd, 8, &ns);
    assert_true(pons_get_int(later, "seq", 0) >= 2);
    pons_link_close(body);
    close(fd);
    bench_close(&b);
}

static void what_may_be_published(void **state)
{
    static const struct {
        const char *json, *says;
    } bad[] = {
        {"{\"header\":{\"frame_id\":\"odom\"}}", "frame map, not in 'odom'"},
        {"{\"header\":{\"frame_id\":\"map\"},\"pose\":{\"position\":{\"x\":1}}}", "in numbers"},
        {"{\"header\":{\"frame_id\":\"map\"},\"pose\":{\"position\":{\"x\":1,\"y\":1e300},"
         "\"orientation\":{\"z\":0,\"w\":1}}}",
         "in numbers"},
        {"{\"header\":{\"frame_id\":\"map\"},\"pose\":{\"position\":{\"x\":1,\"y\":1},"
         "\"orientation\":{\"z\":0,\"w\":0}}}",
         "in numbers"},
        {"{", "1:"},
        {"", ":"},
    };
    static const char goal[] = "{\"header\":{\"frame_id\":\"map\"},\"pose\":{\"position\":{\"x\":"
                               "1.5,\"y\":-2,\"z\":0},\"orientation\":{\"x\":0,\"y\":0,\"z\":0,"
                               "\"w\":1}}}";
    static const char place[] = "{\"header\":{\"frame_id\":\"map\"},\"pose\":{\"covariance\":[],"
                                "\"pose\":{\"position\":{\"x\":1,\"y\":2},\"orientation\":{\"z\":"
                                "0.70710678,\"w\":0.70710678}}}}";
    bench b;
    (void)state;
    bench_open(&b);
    const int viewer = come(&b, "viewer");
    say(viewer, "{\"op\":\"advertise\",\"channels\":[{\"id\":1,\"topic\":\"/goal_pose\","
                "\"encoding\":\"json\",\"schemaName\":\"PoseStamped\"}]}");
    pons_value_unref(until(viewer, "a viewer publishes nothing"));
    publish(viewer, 1, goal);
    pons_value_unref(until(viewer, "channel 1 was not advertised"));
    close(viewer);
    const int fd = come(&b, "operator");
    pons_value_unref(until(fd, "clientPublish"));
    say(fd, "{\"op\":\"advertise\",\"channels\":[{\"id\":1,\"topic\":\"/goal_pose\",\"encoding\":"
            "\"cdr\"},{\"id\":2,\"topic\":\"/goal_pose\",\"encoding\":\"json\"},{\"id\":3,"
            "\"topic\":\"/initialpose\",\"encoding\":\"json\"},{\"id\":4,\"topic\":\"/cmd_vel\","
            "\"encoding\":\"json\"}]}");
    pons_value_unref(until(fd, "taken as json"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        publish(fd, 2, bad[i].json);
        pons_value_unref(until(fd, bad[i].says));
    }
    publish(fd, 4, "{\"linear\":{\"x\":1}}"); // a velocity past the gate
    pons_value_unref(until(fd, "only poses are taken"));
    ws_send(fd, WS_BINARY, true, "\x01\x02", 2);
    pons_value_unref(until(fd, "none of a channel"));
    assert_int_equal(b.changes, 0);
    publish(fd, 2, goal);
    pons_value_unref(until(fd, "a goal: go to 1.500 -2.000"));
    assert_string_equal(b.words, "go to 1.500 -2.000");
    publish(fd, 3, place);
    pons_value_unref(until(fd, "the robot is told"));
    assert_string_equal(b.words, "at 1.00 2.00 1.57");
    assert_int_equal(b.changes, 2);
    say(fd, "{\"op\":\"unadvertise\",\"channelIds\":[2]}");
    publish(fd, 2, goal);
    pons_value_unref(until(fd, "channel 2 was not advertised"));
    assert_int_equal(b.changes, 2);
    close(fd);
    bench_close(&b);
}

static int camera(void *user, const char *name, char **ret, size_t *ret_n, pons_error *err)
{
    (void)user;
    (void)err;
    *ret = strdup("a jpeg");
    *ret_n = strcmp(name, "eye") == 0 && *ret ? strlen(*ret) : 0;
    return PONS_OK;
}

static int seen_world(void *user, const char *name, pons_value **ret, pons_error *err)
{
    static const char text[] = "{\"cameras\":[{\"name\":\"eye\"}]}";
    (void)user;
    (void)name;
    return pons_value_parse(text, sizeof text - 1, ret, err);
}

static void hello(pons_link *body)
{
    static const char text[] =
        "{\"type\":\"hello\",\"protocol\":1,\"world\":{\"name\":\"house\",\"zones\":[]}}";
    pons_value *v = NULL;
    assert_int_equal(pons_value_parse(text, sizeof text - 1, &v, NULL), PONS_OK);
    assert_int_equal(pons_link_send(body, v, NULL), PONS_OK);
}

static void cameras_are_an_operators(void **state)
{
    bench b;
    uint64_t ns = 0;
    char says[64];
    (void)state;
    bench_open(&b);
    pons_serve_close(b.serve);
    b.o.host.camera = camera;
    b.o.host.world = seen_world;
    bench_start(&b);
    b.body = true;
    const int fd = come(&b, "operator"), viewer = come(&b, "viewer");
    pons_link *body = body_of(&b);
    hello(body);
    const int eye = channel(fd, "/camera/eye");
    subscribe(fd, 1, eye);
    pons_autovalue picture = of(fd, 1, &ns);
    assert_string_equal(pons_get_str(picture, "data", ""), "YSBqcGVn"); // "a jpeg"
    subscribe(viewer, 1, eye);
    snprintf(says, sizeof says, "there is no channel %d", eye);
    pons_value_unref(until(viewer, says));
    pons_link_close(body);
    close(fd);
    close(viewer);
    bench_close(&b);
}

// One that does not read keeps nobody waiting, and hears how many messages it has missed.
static void a_slow_client_misses_messages(void **state)
{
    enum { RANGES = 20000, VIEWS = 100, HEARD = 16 }; // some 100 kB each
    bench b;
    uint64_t ns = 0;
    (void)state;
    bench_open(&b);
    b.body = true;
    const int slow = come(&b, "viewer"), quick = come(&b, "viewer");
    pons_link *body = body_of(&b);
    pons_value *ranges = json_array();
    for (int i = 0; i < RANGES; i++) {
        json_array_append_new(ranges, json_real(1.25));
    }
    pons_autovalue view = pons_object("type", json_string("view"), "path", json_array(), "laser",
                                      pons_object("ranges", ranges, NULL), NULL);
    assert_int_equal(pons_link_send(body, pons_value_ref(view), NULL), PONS_OK);
    subscribe(slow, 1, channel(slow, "/body/view"));
    subscribe(quick, 1, channel(quick, "/body/view"));
    settle(slow);
    settle(quick);
    for (int i = 0; i < VIEWS; i++) {
        assert_int_equal(pons_link_send(body, pons_value_ref(view), NULL), PONS_OK);
        pons_value_unref(of(quick, 1, &ns)); // each of them comes to who reads
        if (i % HEARD == 0) {                // it is slow, not gone
            ws_send(slow, WS_PONG, true, "", 0);
        }
    }
    pons_value_unref(until(slow, "messages were not sent: this client reads too slowly"));
    pons_link_close(body);
    close(slow);
    close(quick);
    bench_close(&b);
}

static void nonsense(void **state)
{
    static const struct {
        const char *text, *says;
    } what[] = {
        {"", ":"},
        {"[]", "has an `op`"},
        {"{\"op\":7}", "has an `op`"},
        {"{\"op\":\"subscribe\"}", "subscribe has a list"},
        {"{\"op\":\"subscribe\",\"subscriptions\":[{}]}", "an id is a number"},
        {"{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":-1,\"channelId\":0}]}", "an id is"},
        {"{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":4294967296,\"channelId\":0}]}",
         "an id is"},
        {"{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1,\"channelId\":999}]}",
         "there is no channel 999"},
        {"{\"op\":\"callService\"}", "callService is not offered"},
    };
    bench b;
    char text[128];
    (void)state;
    bench_open(&b);
    const int fd = come(&b, "operator");
    for (size_t i = 0; i < sizeof what / sizeof what[0]; i++) {
        say(fd, what[i].text);
        pons_value_unref(until(fd, what[i].says));
    }
    subscribe(fd, 1, 0);
    subscribe(fd, 1, 0);
    pons_value_unref(until(fd, "subscription 1 is there already"));
    for (int i = 2; i < 400; i++) {
        subscribe(fd, i, 0);
    }
    pons_value_unref(until(fd, "at most 256 subscriptions"));
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof text,
                 "{\"op\":\"advertise\",\"channels\":[{\"id\":%d,\"topic\":\"/goal_pose\","
                 "\"encoding\":\"json\"}]}",
                 i);
        say(fd, text);
    }
    pons_value_unref(until(fd, "at most 256 channels"));
    close(fd);
    bench_close(&b);
}

// A socket whose client reads when it likes.
static struct {
    bool room;
    int messages; // of channels
    char texts[8192];
} slow;

static int slow_send(pons_http_socket *s, bool binary, const void *data, size_t n)
{
    (void)s;
    if (!slow.room) {
        return PONS_EAGAIN;
    }
    slow.messages += binary;
    if (!binary) {
        const size_t at = strlen(slow.texts);
        snprintf(slow.texts + at, sizeof slow.texts - at, "%.*s\n", (int)n, (const char *)data);
    }
    return PONS_OK;
}

// Who reads nothing for a while knows afterwards what there is, what it has missed, and the newest of what is
// told once: nothing of that is lost for want of room.
static void who_reads_too_slowly(void **state)
{
    static const pons_http_server_ops ops = {.socket_send = slow_send};
    (void)state;
    pons_serve *serve = calloc(1, sizeof *serve);
    pons__foxglove *f = calloc(1, sizeof *f);
    pons__fox_client *c = calloc(1, sizeof *c);
    pons_autovalue map = pons_object("data", json_string("a map"), NULL);
    assert_true(serve && f && c);
    slow.room = false;
    serve->http = &ops;
    serve->o.clock = pons_clock_real();
    f->s = serve;
    f->wake = -1;
    f->clients = c;
    pthread_mutex_init(&f->mtx, NULL);
    c->f = f;
    c->s = (pons_http_socket *)(void *)&slow;
    pons__fox_put(f, "/map", "foxglove.Grid", map);
    c->subs[c->n++] = (pons__fox_subscription){.id = 1, .fresh = true};
    for (int i = 0; i < 3; i++) {
        pons__fox_put(f, "/map", "foxglove.Grid", map);
        pons__fox_see_to(c, 10000 + i);
    }
    assert_string_equal(slow.texts, "");
    slow.room = true;
    pons__fox_see_to(c, 10010);
    assert_non_null(strstr(slow.texts, "serverInfo"));
    assert_non_null(strstr(slow.texts, "/map"));
    assert_non_null(strstr(slow.texts, "3 messages were not sent"));
    assert_int_equal(slow.messages, 1);
    slow.texts[0] = '\0';
    pons__fox_see_to(c, 20000); // once
    assert_string_equal(slow.texts, "");
    assert_int_equal(slow.messages, 1);
    free(f->channels[0].topic);
    free(f->channels[0].schema);
    free(f->channels[0].json);
    pthread_mutex_destroy(&f->mtx);
    free(c);
    free(f);
    free(serve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_come),
        cmocka_unit_test(what_comes),
        cmocka_unit_test(what_may_be_published),
        cmocka_unit_test(cameras_are_an_operators),
        cmocka_unit_test(a_slow_client_misses_messages),
        cmocka_unit_test(nonsense),
        cmocka_unit_test(who_reads_too_slowly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
