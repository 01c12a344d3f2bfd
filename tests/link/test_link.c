// What the body link promises, shown on both kinds of end.
//
// The conformance tests take a pair of connected ends and run twice: over the in-process pair and
// over a Unix socket in a mkdtemp directory. What only bytes can do wrong - half lines, bad JSON,
// lines without end, a reader that does not read - is shown on a socket with a raw descriptor at
// the other side. The listener's tests show the socket's mode, the owner's pid and the replacement
// of a stale file. One thread throughout: nothing here waits for the clock.
#include "pons/buf.h"
#include "pons/link.h"
#include "pons/random.h"
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 20000 // generous: only a broken link waits this long

typedef struct ends {
    pons_link *a, *b;
} ends;

static char dir[64];
static char path[96];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/pons-link-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/body.sock", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir); // fails when a test left a file behind
}

static pons_value *message(const char *type, int n)
{
    return pons_object("type", json_string(type), "n", json_integer(n), NULL);
}

// The next message; waits for the socket when there is one.
static pons_value *must_recv(pons_link *l)
{
    pons_value *v = NULL;
    for (;;) {
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_link_recv(l, &v, &err);
        if (rc == 1) {
            return v;
        }
        assert_int_equal(rc, 0);
        assert_true(pons_link_fd(l) >= 0);
        struct pollfd p = {.fd = pons_link_fd(l), .events = POLLIN};
        assert_int_equal(poll(&p, 1, WAIT_MS), 1);
    }
}

static int recv_status(pons_link *l, pons_error *err)
{
    pons_value *v = NULL;
    const int rc = pons_link_recv(l, &v, err);
    pons_value_unref(v);
    return rc;
}

static ends connect_pair(void)
{
    ends e;
    assert_int_equal(pons_link_pair(&e.a, &e.b, NULL), PONS_OK);
    return e;
}

static ends connect_socket(void)
{
    ends e;
    pons_listener *s = NULL;
    assert_int_equal(pons_listener_open(path, &s, NULL), PONS_OK);
    assert_int_equal(pons_link_connect(path, &e.a, NULL), PONS_OK);
    assert_int_equal(pons_listener_accept(s, &e.b, NULL), 1);
    pons_listener_close(s);
    return e;
}

static ends connect_ends(void **state)
{
    const char *kind = *state;
    return strcmp(kind, "pair") == 0 ? connect_pair() : connect_socket();
}

static void close_ends(ends *e)
{
    pons_link_close(e->a);
    pons_link_close(e->b);
}

// ---- conformance --------------------------------------------------------------------------------

static void messages_arrive_in_order_both_ways(void **state)
{
    ends e = connect_ends(state);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pons_link_send(e.a, message("ping", i), NULL), PONS_OK);
        assert_int_equal(pons_link_send(e.b, message("pong", i), NULL), PONS_OK);
    }
    for (int i = 0; i < 100; i++) {
        pons_autovalue at_b = must_recv(e.b);
        pons_autovalue at_a = must_recv(e.a);
        assert_string_equal(pons_get_str(at_b, "type", ""), "ping");
        assert_string_equal(pons_get_str(at_a, "type", ""), "pong");
        assert_int_equal(pons_get_int(at_b, "n", -1), i);
        assert_int_equal(pons_get_int(at_a, "n", -1), i);
    }
    close_ends(&e);
}

static void an_empty_link_answers_zero(void **state)
{
    ends e = connect_ends(state);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(recv_status(e.a, &err), 0);
    assert_int_equal(recv_status(e.b, &err), 0);
    assert_int_equal(err.status, PONS_OK);
    assert_false(pons_link_wants_write(e.a));
    assert_int_equal(pons_link_flush(e.a, NULL), PONS_OK);
    close_ends(&e);
}

static void what_was_sent_before_the_end_still_arrives(void **state)
{
    ends e = connect_ends(state);
    assert_int_equal(pons_link_send(e.a, message("last", 1), NULL), PONS_OK);
    pons_link_close(e.a);
    pons_autovalue v = must_recv(e.b);
    assert_string_equal(pons_get_str(v, "type", ""), "last");
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(recv_status(e.b, &err), PONS_ECLOSED);
    assert_int_equal(err.status, PONS_ECLOSED);
    assert_int_equal(recv_status(e.b, NULL), PONS_ECLOSED);
    pons_link_close(e.b);
}

static void sending_to_nobody_is_closed(void **state)
{
    ends e = connect_ends(state);
    pons_link_close(e.b);
    assert_int_equal(pons_link_send(e.a, message("late", 1), NULL), PONS_ECLOSED);
    pons_link_close(e.a);
}

static void a_message_needs_a_type(void **state)
{
    ends e = connect_ends(state);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_link_send(e.a, json_pack("{s:i}", "n", 1), NULL), PONS_OK);
    assert_int_equal(pons_link_send(e.a, json_pack("[i]", 1), NULL), PONS_OK);
    assert_int_equal(pons_link_send(e.a, message("good", 1), NULL), PONS_OK);
    assert_int_equal(recv_status(e.b, &err), PONS_EPROTOCOL);
    assert_non_null(strstr(err.message, "\"type\""));
    assert_int_equal(recv_status(e.b, &err), PONS_EPROTOCOL);
    assert_non_null(strstr(err.message, "object"));
    pons_autovalue v = must_recv(e.b);
    assert_string_equal(pons_get_str(v, "type", ""), "good");
    close_ends(&e);
}

static void no_memory_for_a_message_is_an_error(void **state)
{
    ends e = connect_ends(state);
    assert_int_equal(pons_link_send(e.a, NULL, NULL), PONS_ENOMEM);
    pons_link_close(NULL);
    close_ends(&e);
}

// ---- bytes --------------------------------------------------------------------------------------

static void raw_ends(int *ret_raw, pons_link **ret_l)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    *ret_raw = fds[0];
    *ret_l = pons_link_from_fd(fds[1]);
    assert_non_null(*ret_l);
}

static void put(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void a_line_may_come_in_pieces(void **state)
{
    (void)state;
    int raw;
    pons_link *l;
    raw_ends(&raw, &l);
    const char *line = "{\"type\":\"hello\",\"text\":\"\xe5\xae\xa2\xe5\x8e\x85\"}\n";
    for (const char *c = line; *c; c++) {
        assert_int_equal(recv_status(l, NULL), 0);
        assert_int_equal(write(raw, c, 1), 1);
    }
    pons_autovalue v = must_recv(l);
    assert_string_equal(pons_get_str(v, "text", ""), "\xe5\xae\xa2\xe5\x8e\x85");
    close(raw);
    pons_link_close(l);
}

static void bad_lines_are_named_and_passed_over(void **state)
{
    (void)state;
    static const char *const bad[] = {"not json\n",
                                      "\n",
                                      "{\"type\":\"a\"} trailing\n",
                                      "{\"type\":\"a\",\n",
                                      "{\"type\":1}\n",
                                      "17\n",
                                      "\"type\"\n",
                                      "{\"type\":\"a\",\"type\":1}\n",
                                      "{\"type\":\"\xff\"}\n"};
    int raw;
    pons_link *l;
    raw_ends(&raw, &l);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(raw, bad[i]);
        put(raw, "{\"type\":\"next\"}\n");
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(recv_status(l, &err), PONS_EPROTOCOL);
        assert_int_equal(err.status, PONS_EPROTOCOL);
        assert_true(err.message[0] != '\0');
        pons_autovalue v = must_recv(l);
        assert_string_equal(pons_get_str(v, "type", ""), "next");
    }
    close(raw);
    pons_link_close(l);
}

// Seeded noise between good lines: whatever comes, each good line is found again.
static void noise_between_lines_never_hides_a_good_one(void **state)
{
    (void)state;
    const uint64_t seed = 20240607;
    print_message("seed %llu\n", (unsigned long long)seed);
    pons_rand r;
    pons_rand_seed(&r, seed);
    int raw;
    pons_link *l;
    raw_ends(&raw, &l);
    for (int round = 0; round < 2000; round++) {
        char noise[256];
        const size_t n = (size_t)pons_rand_below(&r, sizeof noise - 1);
        static const char spice[] = "{}[]\":,\\0123 \ttypenul";
        for (size_t i = 0; i < n; i++) {
            noise[i] = pons_rand_below(&r, 2) ? spice[pons_rand_below(&r, sizeof spice - 1)]
                                              : (char)pons_rand_below(&r, 256);
        }
        noise[n] = '\n';
        assert_int_equal(write(raw, noise, n + 1), (ssize_t)n + 1);
        put(raw, "{\"type\":\"good\"}\n");
        pons_value *v = NULL;
        bool found = false;
        for (int i = 0; !found && i < 300; i++) {
            const int rc = pons_link_recv(l, &v, NULL);
            assert_true(rc == 1 || rc == PONS_EPROTOCOL);
            if (rc == 1) {
                found = strcmp(pons_get_str(v, "type", ""), "good") == 0;
                pons_value_unref(v);
            }
        }
        assert_true(found);
    }
    close(raw);
    pons_link_close(l);
}

static void a_cut_off_last_line_is_reported(void **state)
{
    (void)state;
    int raw;
    pons_link *l;
    raw_ends(&raw, &l);
    put(raw, "{\"type\":\"whole\"}\n{\"type\":\"ha");
    close(raw);
    pons_autovalue v = must_recv(l);
    assert_string_equal(pons_get_str(v, "type", ""), "whole");
    assert_int_equal(recv_status(l, NULL), PONS_EPROTOCOL);
    assert_int_equal(recv_status(l, NULL), PONS_ECLOSED);
    pons_link_close(l);
}

// ---- a stop in a bad line -----------------------------------------------------------------------

typedef struct bad_line {
    const char *bytes;
    size_t n;
    bool stop;
} bad_line;
#define BAD(text, stop)                                                                            \
    {                                                                                              \
        text, sizeof(text) - 1, stop                                                               \
    }

static const bad_line bad_lines[] = {
    BAD("{\"type\":\"stop\",\"reason\":\"\0\"}", true),
    BAD("{\"type\":\"stop\",\"reason\":\"\\u0000\"}", true),
    BAD("{\"reason\":\"\xff\xfe\",\"type\":\"stop\"}", true),
    BAD("{\"type\" \t:\0 \"stop\",", true),
    BAD("{\"type\":\"stop\"", true),
    BAD("{\"type\":\"stop\"}}", true),
    BAD("\xef\xbb\xbf\xef\xbb\xbf{\"type\":\"stop\"}",
        true), // one mark is passed over, two are not
    BAD("{\"reason\":\"unclosed, \"type\":\"stop\"}", true),
    BAD("{\"type\":\"st\\u006fp\",}", true),
    BAD("{\"\\u0074ype\":\"stop\",}", true),
    BAD("{\"type\":\"goal\",\"type\":\"stop\"}", true),
    BAD("[{\"type\":\"stop\"}]", true),
    BAD("{\"a\":\"type\":\"type\":\"stop\"}", true),
    BAD("{\"type\":\"type\":\"stop\"}", true),
    BAD("{\"type\":\"\"type\":\"stop\"}", true),
    BAD("{\"type\":\"goal\",\"args\":{\"type\":\"stop\"},", true), // to be safe
    BAD("{\"type\":\"goal\",\"text\":\"say \\\"type\\\":\\\"stop\\\"\",}", false),
    BAD("{\"type\":\"stops\",}", false),
    BAD("{\"type\":\"sto\"p\",}", false),
    BAD("{\"type\":\"heartbeat\",\"reason\":\"stop\",}", false),
    BAD("{\"types\":\"stop\",}", false),
    BAD("{\"type\":\"st\\u0000p\",}", false),
    BAD("{\"type\":\"st\\nop\",}", false),
    BAD("stop", false),
    BAD("", false),
};

static void a_bad_line_that_asks_for_a_stop_is_known(void **state)
{
    (void)state;
    int raw;
    pons_link *l;
    raw_ends(&raw, &l);
    for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++) {
        const bad_line *b = &bad_lines[i];
        assert_int_equal(write(raw, b->bytes, b->n), (ssize_t)b->n);
        put(raw, "\n{\"type\":\"next\",\"reason\":\"\"}\n");
        assert_int_equal(recv_status(l, NULL), PONS_EPROTOCOL);
        if (pons_link_asks_stop(l) != b->stop) {
            fail_msg("line %zu: %s", i, b->bytes);
        }
        pons_autovalue v = must_recv(l);
        assert_string_equal(pons_get_str(v, "type", ""), "next");
        assert_false(pons_link_asks_stop(l));
    }
    // The last one is cut short by its sender's death.
    put(raw, "{\"type\":\"stop\"");
    close(raw);
    assert_int_equal(recv_status(l, NULL), PONS_EPROTOCOL);
    assert_true(pons_link_asks_stop(l));
    assert_int_equal(recv_status(l, NULL), PONS_ECLOSED);
    assert_false(pons_link_asks_stop(l));
    pons_link_close(l);
}

static void a_stop_that_is_nested_too_deep_is_known(void **state)
{
    (void)state;
    int raw;
    pons_link *l;
    raw_ends(&raw, &l);
    char deep[5000];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 2] = '\n';
    deep[sizeof deep - 1] = '\0';
    put(raw, "{\"type\":\"stop\",\"reason\":");
    put(raw, deep);
    assert_int_equal(recv_status(l, NULL), PONS_EPROTOCOL);
    assert_true(pons_link_asks_stop(l));
    close(raw);
    pons_link_close(l);
}

// How often a stop was asked for by a line with so many bytes before "type":"stop" and behind it.
static int stops_of(size_t before, size_t behind)
{
    static const char head[] = "{\"reason\":\"", stop[] = "\",\"type\":\"stop\",\"more\":\"",
                      tail[] = "\"}\n{\"type\":\"next\"}\n";
    const size_t n = sizeof head + sizeof stop + sizeof tail - 3 + before + behind;
    char *line = malloc(n), *at = line;
    assert_non_null(line);
    at = mempcpy(at, head, sizeof head - 1);
    at = (char *)memset(at, 'x', before) + before;
    at = mempcpy(at, stop, sizeof stop - 1);
    at = (char *)memset(at, 'x', behind) + behind;
    memcpy(at, tail, sizeof tail - 1);
    int raw, stops = 0, rc = 0;
    pons_link *l;
    raw_ends(&raw, &l);
    for (size_t sent = 0; rc != PONS_ECLOSED;) {
        const ssize_t done = sent < n ? send(raw, line + sent, n - sent, MSG_NOSIGNAL) : 0;
        sent += done > 0 ? (size_t)done : 0;
        for (rc = 1; rc != 0 && rc != PONS_ECLOSED;) {
            rc = recv_status(l, NULL);
            stops += pons_link_asks_stop(l);
        }
        if (sent == n) {
            shutdown(raw, SHUT_WR);
        }
    }
    free(line);
    close(raw);
    pons_link_close(l);
    return stops;
}

static void a_stop_in_a_line_that_is_too_long_is_known(void **state)
{
    (void)state;
    const size_t k = 1024;
    assert_int_equal(stops_of(0, 300 * k), 1);
    assert_int_equal(stops_of(300 * k, 0), 1);
    assert_int_equal(stops_of(3000 * k, 3000 * k), 1);
    for (size_t i = 0; i < 64; i++) { // where pieces meet
        assert_int_equal(stops_of(256 * k - i, 100), 1);
        assert_int_equal(stops_of(272 * k - i, 100), 1);
    }
    assert_int_equal(stops_of(20000 * k, 0), 0); // it is not listened to for ever
}

static void a_line_without_end_closes_the_link(void **state)
{
    (void)state;
    int raw;
    pons_link *l;
    raw_ends(&raw, &l);
    char block[4096];
    memset(block, 'x', sizeof block);
    int rc = 0;
    pons_error err = PONS_ERROR_INIT;
    for (size_t sent = 0; rc == 0; sent += sizeof block) {
        assert_true(sent <= PONS_LINK_LINE_MAX);
        assert_int_equal(write(raw, block, sizeof block), (ssize_t)sizeof block);
        rc = recv_status(l, &err);
    }
    assert_int_equal(rc, PONS_EPROTOCOL);
    assert_non_null(strstr(err.message, "longer"));
    assert_int_equal(recv_status(l, NULL), 0); // the rest of it is looked through
    assert_int_equal(write(raw, block, sizeof block), (ssize_t)sizeof block);
    assert_int_equal(recv_status(l, NULL), 0);
    put(raw, "\n{\"type\":\"next\"}\n");
    assert_int_equal(recv_status(l, NULL), PONS_ECLOSED); // and with its end all ends
    assert_int_equal(recv_status(l, NULL), PONS_ECLOSED);
    close(raw);
    pons_link_close(l);
}

// A message of exactly `line` bytes with its newline.
static pons_value *sized_message(size_t line)
{
    const size_t frame = strlen("{\"type\":\"big\",\"text\":\"\"}\n");
    char *text = malloc(line - frame + 1);
    assert_non_null(text);
    memset(text, 'y', line - frame);
    text[line - frame] = '\0';
    pons_value *v = pons_object("type", json_string("big"), "text", json_string(text), NULL);
    free(text);
    return v;
}

static void the_longest_line_passes_and_a_longer_one_is_refused(void **state)
{
    (void)state;
    ends e = connect_socket();
    assert_int_equal(pons_link_send(e.a, sized_message(PONS_LINK_LINE_MAX), NULL), PONS_OK);
    pons_value *v = NULL;
    while (!v) {
        assert_int_equal(pons_link_flush(e.a, NULL), PONS_OK);
        assert_true(pons_link_recv(e.b, &v, NULL) >= 0);
    }
    pons_value_unref(v);
    assert_int_equal(pons_link_send(e.a, sized_message(PONS_LINK_LINE_MAX + 1), NULL),
                     PONS_EPROTOCOL);
    assert_int_equal(pons_link_send(e.a, message("after", 1), NULL), PONS_OK);
    pons_autovalue after = must_recv(e.b);
    assert_string_equal(pons_get_str(after, "type", ""), "after");
    close_ends(&e);
}

static void a_reader_that_does_not_read_costs_a_bounded_buffer(void **state)
{
    (void)state;
    ends e = connect_socket();
    const size_t line = 64 * 1024;
    int accepted = 0, rc;
    pons_error err = PONS_ERROR_INIT;
    while ((rc = pons_link_send(e.a, sized_message(line), &err)) == PONS_OK) {
        accepted++;
        assert_true(accepted < 1000);
    }
    assert_int_equal(rc, PONS_EBUSY);
    assert_true(pons_link_wants_write(e.a));
    assert_true((size_t)accepted * line >= 4u * 1024 * 1024 - line);
    // Nothing that was accepted is lost, and the refused one never shows.
    for (int got = 0; got < accepted;) {
        pons_value *v = NULL;
        assert_int_equal(pons_link_flush(e.a, NULL), PONS_OK);
        const int r = pons_link_recv(e.b, &v, NULL);
        assert_true(r >= 0);
        got += r;
        pons_value_unref(v);
    }
    assert_false(pons_link_wants_write(e.a));
    assert_int_equal(recv_status(e.b, NULL), 0);
    close_ends(&e);
}

// Of many who come to a listener none costs much, whatever they send, and though they do not read.
static void who_came_to_a_listener_costs_little(void **state)
{
    (void)state;
    ends e = connect_socket();
    pons_error err = PONS_ERROR_INIT;
    pons_value *v = NULL;
    pons_autobuf line = PONS_BUF_INIT;
    pons_buf_str(&line, "{\"type\":\"goal\",\"args\":[{}");
    while (line.len < PONS_LINK_LINE_MAX - 64) {
        pons_buf_str(&line, ",{}");
    }
    pons_buf_str(&line, "],\"type\":\"stop\"}\n");
    const int fd = pons_link_fd(e.a);
    int rc = 0;
    for (size_t at = 0; at < line.len;) {
        const ssize_t n = send(fd, line.data + at, line.len - at, MSG_DONTWAIT);
        at += n > 0 ? (size_t)n : 0;
        rc = pons_link_recv(e.b, &v, &err);
        assert_true(rc == 0 || at == line.len);
    }
    while (rc == 0) {
        rc = pons_link_recv(e.b, &v, &err);
    }
    assert_int_equal(rc, PONS_EPROTOCOL);
    assert_string_equal(err.message, "a message of more than 16384 values; at most 16384 are read");
    assert_true(pons_link_asks_stop(e.b)); // and a stop in it is one all the same
    assert_int_equal(pons_link_send(e.a, message("after", 1), NULL), PONS_OK);
    pons_autovalue after = must_recv(e.b);
    assert_string_equal(pons_get_str(after, "type", ""), "after");
    const size_t each = 16 * 1024;
    size_t accepted = 0;
    while ((rc = pons_link_send(e.b, sized_message(each), &err)) == PONS_OK) {
        accepted += each;
        assert_true(accepted < 3u * 1024 * 1024);
    }
    assert_int_equal(rc, PONS_EBUSY);
    assert_true(accepted >= 512u * 1024 - each);
    close_ends(&e);
}

// ---- listener -----------------------------------------------------------------------------------

// Two threads, one end, a reader that is slow at first: what waits is appended to by both.
#define LINES_EACH 3000

static void *send_many(void *arg)
{
    char pad[600];
    memset(pad, 'x', sizeof pad);
    for (int i = 0; i < LINES_EACH; i++) {
        pons_value *m = pons_object("type", json_string("many"), "n", json_integer(i), "pad",
                                    json_stringn(pad, (size_t)(i % 7) * 99), NULL);
        if (pons_link_send(arg, m, NULL) < 0) {
            return arg;
        }
    }
    return NULL;
}

static void lines_of_two_threads_never_mix(void **state)
{
    (void)state;
    int fds[2], small = 4096;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    pons_link *from = pons_link_from_fd(fds[0]), *to = pons_link_from_fd(fds[1]);
    pthread_t second;
    assert_int_equal(pthread_create(&second, NULL, send_many, from), 0);
    assert_null(send_many(from));
    int got = 0;
    while (got < 2 * LINES_EACH) {
        pons_autovalue m = NULL;
        const int rc = pons_link_recv(to, &m, NULL);
        assert_true(rc >= 0);
        got += rc;
        if (rc == 0) {
            assert_int_equal(pons_link_flush(from, NULL), PONS_OK);
        } else {
            assert_string_equal(pons_get_str(m, "type", ""), "many");
        }
    }
    void *failed = NULL;
    pthread_join(second, &failed);
    assert_null(failed);
    pons_link_close(from);
    pons_link_close(to);
}

static void connecting_says_what_is_missing(void **state)
{
    (void)state;
    pons_link *l = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_link_connect(path, &l, &err), PONS_ENOTFOUND);
    assert_string_equal(err.source, path);
    assert_null(l);
}

static void leave_stale_socket(void)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    snprintf(sa.sun_path, sizeof sa.sun_path, "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    close(fd); // the file stays, as after kill -9
}

static void a_stale_socket_is_replaced(void **state)
{
    (void)state;
    leave_stale_socket();
    pons_link *l = NULL;
    assert_int_equal(pons_link_connect(path, &l, NULL), PONS_ECLOSED);
    ends e = connect_socket();
    close_ends(&e);
    assert_int_equal(access(path, F_OK), -1); // the listener removed it
}

static void the_socket_is_the_owners_alone(void **state)
{
    (void)state;
    const mode_t old = umask(0);
    pons_listener *s = NULL;
    assert_int_equal(pons_listener_open(path, &s, NULL), PONS_OK);
    umask(old);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    pons_link *none = NULL;
    assert_int_equal(pons_listener_accept(s, &none, NULL), 0);
    pons_listener_close(s);
    pons_listener_close(NULL);
}

static void a_second_listener_learns_the_owners_pid(void **state)
{
    (void)state;
    pons_listener *s = NULL, *t = NULL;
    assert_int_equal(pons_listener_open(path, &s, NULL), PONS_OK);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_listener_open(path, &t, &err), PONS_EBUSY);
    char pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    assert_non_null(strstr(err.message, pid));
    assert_null(t);
    // The loser has not hurt the owner.
    ends e;
    assert_int_equal(pons_link_connect(path, &e.a, NULL), PONS_OK);
    assert_int_equal(pons_listener_accept(s, &e.b, NULL), 1);
    assert_int_equal(pons_link_peer_pid(e.a), getpid());
    assert_int_equal(pons_link_peer_pid(e.b), getpid());
    close_ends(&e);
    pons_listener_close(s);
}

static void a_killed_owner_leaves_the_place_free(void **state)
{
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pons_listener *s = NULL;
        const char ok = pons_listener_open(path, &s, NULL) == PONS_OK ? 'y' : 'n';
        (void)!write(ready[1], &ok, 1);
        pause();
        _exit(0);
    }
    char answer = 0;
    assert_int_equal(read(ready[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    pons_listener *s = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_listener_open(path, &s, &err), PONS_EBUSY);
    char pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)child);
    assert_non_null(strstr(err.message, pid));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(pons_listener_open(path, &s, &err), PONS_OK);
    pons_listener_close(s);
    close(ready[0]);
    close(ready[1]);
}

static void a_path_too_long_for_an_address_still_works(void **state)
{
    (void)state;
    char deep[400], sock[512];
    snprintf(deep, sizeof deep, "%s/%0150d", dir, 7);
    assert_int_equal(mkdir(deep, 0700), 0);
    snprintf(sock, sizeof sock, "%s/body.sock", deep);
    pons_listener *s = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_listener_open(sock, &s, &err), PONS_OK);
    ends e;
    assert_int_equal(pons_link_connect(sock, &e.a, NULL), PONS_OK);
    assert_int_equal(pons_listener_accept(s, &e.b, NULL), 1);
    close_ends(&e);
    pons_listener_close(s);
    assert_int_equal(rmdir(deep), 0);
}

#define EACH(test)                                                                                 \
    {#test " [pair]", test, make_dir, remove_dir, pair_kind},                                      \
    {                                                                                              \
        #test " [socket]", test, make_dir, remove_dir, socket_kind                                 \
    }
#define ONE(test)                                                                                  \
    {                                                                                              \
        #test, test, make_dir, remove_dir, NULL                                                    \
    }

int main(void)
{
    pons_value_init();
    static char pair_kind[] = "pair", socket_kind[] = "socket";
    const struct CMUnitTest tests[] = {
        EACH(messages_arrive_in_order_both_ways),
        EACH(an_empty_link_answers_zero),
        EACH(what_was_sent_before_the_end_still_arrives),
        EACH(sending_to_nobody_is_closed),
        EACH(a_message_needs_a_type),
        EACH(no_memory_for_a_message_is_an_error),
        ONE(a_line_may_come_in_pieces),
        ONE(bad_lines_are_named_and_passed_over),
        ONE(a_bad_line_that_asks_for_a_stop_is_known),
        ONE(a_stop_that_is_nested_too_deep_is_known),
        ONE(a_stop_in_a_line_that_is_too_long_is_known),
        ONE(noise_between_lines_never_hides_a_good_one),
        ONE(a_cut_off_last_line_is_reported),
        ONE(a_line_without_end_closes_the_link),
        ONE(the_longest_line_passes_and_a_longer_one_is_refused),
        ONE(a_reader_that_does_not_read_costs_a_bounded_buffer),
        ONE(who_came_to_a_listener_costs_little),
        ONE(lines_of_two_threads_never_mix),
        ONE(connecting_says_what_is_missing),
        ONE(a_stale_socket_is_replaced),
        ONE(the_socket_is_the_owners_alone),
        ONE(a_second_listener_learns_the_owners_pid),
        ONE(a_killed_owner_leaves_the_place_free),
        ONE(a_path_too_long_for_an_address_still_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
