// Streamable HTTP against a server of the test's own that answers by what it is asked, well or
// badly: the session and its headers, answers as JSON and as streams, a stream that breaks off and
// is taken up again, a session that is forgotten, the server's own stream, refusals, and the end of
// the session.
#include "mcp/mcp_fixture.h"
#include "unit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MAX (64 * 1024)
#define CLIENTS_MAX 200
#define JSON        "Content-Type: application/json\r\n"
#define STREAM      "Content-Type: text/event-stream\r\n"

typedef enum mode { PLAIN, STREAMED, BREAKS, LOST, FORGETS, NO_DOOR, OLD, PAGE, TALKS } mode;

static struct {
    int fd, port;
    mode mode;
    pthread_t thread, clients[CLIENTS_MAX];
    int n_clients;
    pthread_mutex_t mtx;
    // [mtx]
    int initializes, calls, resumes, deletes, streams;
    char faults[512]; // what a client should not have sent
} srv = {.mtx = PTHREAD_MUTEX_INITIALIZER};

static void fault(const char *what)
{
    pthread_mutex_lock(&srv.mtx);
    snprintf(srv.faults + strlen(srv.faults), sizeof srv.faults - strlen(srv.faults), "%s; ", what);
    pthread_mutex_unlock(&srv.mtx);
}

static int count(int *counter)
{
    pthread_mutex_lock(&srv.mtx);
    const int n = ++*counter;
    pthread_mutex_unlock(&srv.mtx);
    return n;
}

static void reply(int fd, const char *status, const char *headers, const char *body)
{
    char head[512];
    const int n =
        snprintf(head, sizeof head, "HTTP/1.1 %s\r\nConnection: close\r\n%s\r\n", status, headers);
    if (send(fd, head, (size_t)n, MSG_NOSIGNAL) == n) {
        const ssize_t sent = send(fd, body, strlen(body), MSG_NOSIGNAL);
        (void)sent;
    }
}

// The answer as the mode has it: JSON, or an event with others around it.
static void answer(int fd, bool streamed, const char *more, long long id, const char *result)
{
    char text[2048];
    if (streamed) {
        snprintf(text, sizeof text,
                 ": a comment\r\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
                 "\"notifications/progress\",\r\ndata: "
                 "\"params\":{\"progressToken\":%lld,\"progress\":1}}"
                 "\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":%s}\n\n",
                 id, id, result);
    } else {
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":%s}", id, result);
    }
    char headers[256];
    snprintf(headers, sizeof headers, "%s%s", streamed ? STREAM : JSON, more);
    reply(fd, "200 OK", headers, text);
}

static void call(int fd, long long id, const char *body)
{
    static const char done[] = "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}";
    const int n = count(&srv.calls);
    (void)body;
    switch (srv.mode) {
    case BREAKS: // the stream ends before the answer, with an id to go on from
        reply(fd, "200 OK", STREAM, "id: e1\nretry: 1\ndata: \n\n");
        break;
    case LOST: // it ends, and there is nothing to go on from
        reply(fd, "200 OK", STREAM, ": nothing\n\n");
        break;
    case FORGETS:
        if (n == 1) {
            reply(fd, "404 Not Found", JSON, "{}");
        } else {
            answer(fd, false, "", id, done);
        }
        break;
    case PAGE:
        reply(fd, "200 OK", "Content-Type: text/html\r\n", "<html>hello</html>");
        break;
    default:
        answer(fd, srv.mode == STREAMED, "", id, done);
    }
}

static void get(int fd, const char *head)
{
    char text[256];
    const char *last = strcasestr(head, "\r\nLast-Event-ID: e1\r\n");
    if (srv.mode == BREAKS && last) { // the answer, at the second try
        if (count(&srv.resumes) == 1) {
            reply(fd, "200 OK", STREAM, "id: e1\nretry: 1\ndata:\n\n");
            return;
        }
        snprintf(text, sizeof text,
                 "id: e2\ndata: "
                 "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\","
                 "\"text\":\"late\"}]}}\n\n");
        reply(fd, "200 OK", STREAM, text);
    } else if (srv.mode == TALKS && count(&srv.streams) == 1) {
        reply(fd, "200 OK", STREAM,
              "id: s1\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
              "\"notifications/tools/list_changed\"}\n\n");
    } else {
        reply(fd, "405 Method Not Allowed", "", "");
    }
}

static void serve(int fd, const char *head, const char *body)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue m = NULL;
    if (!strcasestr(head, "\r\nAuthorization: Bearer t0ken\r\n")) {
        fault("no header of the file");
    }
    if (strncmp(head, "DELETE ", 7) == 0) {
        count(&srv.deletes);
        reply(fd, "200 OK", "", "");
        return;
    }
    if (strncmp(head, "GET ", 4) == 0) {
        get(fd, head);
        return;
    }
    if (pons_value_parse(body, strlen(body), &m, &err) < 0) {
        fault(err.message);
        return;
    }
    const char *method = pons_get_str(m, "method", "");
    const long long id = (long long)pons_get_int(m, "id", 0);
    const bool first = strcmp(method, "initialize") == 0;
    if (!strcasestr(head, "application/json, text/event-stream")) {
        fault("Accept");
    }
    if (first && strcasestr(head, "\r\nMcp-Session-Id:")) {
        fault("a session before the session");
    }
    char session[64] = "";
    if (first && srv.mode != NO_DOOR && srv.mode != OLD) {
        snprintf(session, sizeof session, "Mcp-Session-Id: s%d\r\n", count(&srv.initializes));
    } else if (!first) {
        pthread_mutex_lock(&srv.mtx);
        snprintf(session, sizeof session, "\r\nMcp-Session-Id: s%d\r\n", srv.initializes);
        pthread_mutex_unlock(&srv.mtx);
        if (!strcasestr(head, session)) {
            fault("not this session");
        }
        if (!strcasestr(head, "\r\nMCP-Protocol-Version: 2025-06-18\r\n")) {
            fault("no version");
        }
    }
    if (srv.mode == NO_DOOR) {
        reply(fd, "401 Unauthorized", JSON, "{\"error\":\"invalid_token\"}");
    } else if (srv.mode == OLD) {
        reply(fd, "405 Method Not Allowed", "", "");
    } else if (first) {
        answer(fd, srv.mode == STREAMED, session, id,
               "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":"
               "{\"name\":\"web\",\"version\":\"1\"}}");
    } else if (strcmp(method, "tools/list") == 0) {
        pthread_mutex_lock(&srv.mtx);
        const bool changed = srv.streams > 0;
        pthread_mutex_unlock(&srv.mtx);
        answer(fd, srv.mode == STREAMED, "", id,
               changed ? "{\"tools\":[{\"name\":\"other\",\"inputSchema\":{\"type\":\"object\"}}]}"
                       : "{\"tools\":[{\"name\":\"do\",\"inputSchema\":{\"type\":\"object\"}}]}");
    } else if (strcmp(method, "tools/call") == 0) {
        call(fd, id, body);
    } else {
        reply(fd, "202 Accepted", "", "");
    }
}

static void *client(void *arg)
{
    const int fd = (int)(intptr_t)arg;
    char *buf = calloc(1, REQUEST_MAX);
    size_t n = 0;
    for (;;) {
        const ssize_t got = recv(fd, buf + n, REQUEST_MAX - 1 - n, 0);
        if (got <= 0) {
            break;
        }
        n += (size_t)got;
        buf[n] = '\0';
        char *end = strstr(buf, "\r\n\r\n");
        const char *length = end ? strcasestr(buf, "Content-Length:") : NULL;
        const size_t body = length && length < end ? strtoul(length + 15, NULL, 10) : 0;
        if (end && n >= (size_t)(end + 4 - buf) + body) {
            char *text = strdup(end + 4);
            end[2] = '\0'; // the head keeps its last line end
            serve(fd, buf, text);
            free(text);
            break;
        }
    }
    close(fd);
    free(buf);
    return NULL;
}

static void *listen_loop(void *arg)
{
    (void)arg;
    for (;;) {
        const int fd = accept(srv.fd, NULL, NULL);
        if (fd < 0) {
            return NULL; // shut down
        }
        if (srv.n_clients == CLIENTS_MAX ||
            pthread_create(&srv.clients[srv.n_clients], NULL, client, (void *)(intptr_t)fd) != 0) {
            close(fd);
        } else {
            srv.n_clients++;
        }
    }
}

static void start(host *h, mode m)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    char text[256];
    srv.initializes = srv.calls = srv.resumes = srv.deletes = srv.streams = srv.n_clients = 0;
    srv.faults[0] = '\0';
    srv.mode = m;
    srv.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(srv.fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(srv.fd, 64), 0);
    assert_int_equal(getsockname(srv.fd, (struct sockaddr *)&a, &len), 0);
    srv.port = ntohs(a.sin_port);
    assert_int_equal(pthread_create(&srv.thread, NULL, listen_loop, NULL), 0);
    snprintf(
        text, sizeof text,
        "{\"servers\":{\"w\":{\"url\":\"http://127.0.0.1:%d/%s\",\"headers\":{\"Authorization\":"
        "\"Bearer t0ken\"}}}}",
        srv.port, m == OLD ? "sse" : "mcp");
    host_open(h, text);
}

static void stop(host *h)
{
    host_close(h);
    shutdown(srv.fd, SHUT_RDWR);
    pthread_join(srv.thread, NULL);
    for (int i = 0; i < srv.n_clients; i++) {
        pthread_join(srv.clients[i], NULL);
    }
    close(srv.fd);
    assert_string_equal(srv.faults, "");
}

static void test_session(void **state)
{
    host h;
    (void)state;
    for (int i = 0; i < 2; i++) {
        start(&h, i == 0 ? PLAIN : STREAMED);
        host_wait_tool(&h, "w.do");
        char *out = host_output(&h, "w.do", "{}");
        assert_string_equal(out, "done");
        free(out);
        assert_int_equal(host_progress, i);
        pons_autovalue s = host_status(&h, "w");
        assert_string_equal(pons_get_str(s, "protocol", ""), "2025-06-18");
        assert_string_equal(pons_get_str(s, "transport", ""), "http");
        stop(&h);
        assert_int_equal(srv.initializes, 1);
        assert_int_equal(srv.deletes, 1); // the session was ended
    }
}

static void test_stream_is_taken_up_again(void **state)
{
    host h;
    (void)state;
    start(&h, BREAKS);
    host_wait_tool(&h, "w.do");
    char *out = host_output(&h, "w.do", "{}");
    assert_string_equal(out, "late");
    free(out);
    stop(&h);
    assert_int_equal(srv.calls, 1); // and not sent again
    assert_int_equal(srv.resumes, 2);
    start(&h, LOST);
    host_wait_tool(&h, "w.do");
    host_fails(&h, "w.do", "{}", PONS_ECLOSED, "the stream ended before the answer");
    stop(&h);
    assert_int_equal(srv.calls, 1);
}

static void test_forgotten_session(void **state)
{
    host h;
    (void)state;
    start(&h, FORGETS);
    host_wait_tool(&h, "w.do");
    host_fails(&h, "w.do", "{}", PONS_ECLOSED, "forgotten the session");
    char *out = host_output(&h, "w.do", "{}"); // waits for the new one
    assert_string_equal(out, "done");
    free(out);
    stop(&h);
    assert_int_equal(srv.initializes, 2);
    assert_int_equal(srv.calls, 2);
}

static void test_refusals(void **state)
{
    host h;
    (void)state;
    start(&h, PAGE);
    host_wait_tool(&h, "w.do");
    host_fails(&h, "w.do", "{}", PONS_ECLOSED, "not JSON");
    stop(&h);
    static const struct {
        mode m;
        const char *says, *too;
    } rows[] = {
        {NO_DOOR, "HTTP status 401: put what it wants into \"headers\"", "invalid_token"},
        {OLD, "HTTP status 405: the transport sse, of 2024, is not spoken", "streamable HTTP"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        start(&h, rows[k].m);
        for (int i = 0; i < 60000; i++) {
            pons_autovalue s = host_status(&h, "w");
            const char *error = pons_get_str(s, "error", NULL);
            if (error) {
                if (!strstr(error, rows[k].says) || !strstr(error, rows[k].too)) {
                    fail_msg("%s", error);
                }
                break;
            }
            const struct timespec nap = {.tv_nsec = 2000000};
            nanosleep(&nap, NULL);
        }
        stop(&h);
    }
}

static void test_own_stream(void **state)
{
    host h;
    (void)state;
    start(&h, TALKS);
    host_wait_tool(&h, "w.other"); // it said that its list has changed
    host_wait_gone(&h, "w.do");
    stop(&h);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session),           cmocka_unit_test(test_stream_is_taken_up_again),
        cmocka_unit_test(test_forgotten_session), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_own_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
