// fetch_url against a server of the test's own: pages become text, in UTF-8 whatever they were in;
// addresses of this machine are refused unless allowed, also behind a redirect; what is long, slow,
// binary or goes round in circles is bounded.
#include "llm/fake_server.h"
#include "tools/tools_fixture.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: "
#define OPEN_CONF "{\"output_kb\":1,\"fetch\":{\"private\":true,\"max_kb\":4,\"redirects\":2}}"

static char args[256];

static const char *ask(const fake_server *s, const char *path)
{
    snprintf(args, sizeof args, "{\"url\":\"http://127.0.0.1:%d%s\"}", fake_server_port(s), path);
    return args;
}

static void gives(const char *reply, size_t n, const char *expect)
{
    bench b;
    const fake_step step = {.bytes = reply, .n = n};
    fake_server *s = fake_server_start(&step, 1);
    bench_open(&b, OPEN_CONF);
    char *out = bench_output(&b, "fetch_url", ask(s, "/page"));
    assert_string_equal(out, expect);
    free(out);
    bench_close(&b);
    fake_server_stop(s);
}

static void test_pages_become_text(void **state)
{
    (void)state;
    gives(OK "text/plain\r\n\r\nplain 文字\n", 0, "plain 文字\n");
    gives(OK "text/html\r\n\r\n<!doctype html><head><title>t</title><style>x{}</style></head><body>"
             "<h1>Fish &amp; chips</h1><!-- no --><script>if (a < b) alert('x')</script>"
             "<p>one\n  two<br>three &#21416;</p><p>Caf&eacute;&nbsp;&ndash; &lsquo;&yuml;&rsquo; "
             "&nosuch; &euro;5</body>",
          0, "Fish & chips\none two\nthree 厨\nCafé – ‘ÿ’ &nosuch; €5");
    gives(OK "text/html; charset=gb2312\r\n\r\n<p>\xb3\xf8\xb7\xbf</p>", 0, "厨房\n");
    gives(OK "application/json\r\n\r\n{\"a\":1}", 0, "{\"a\":1}");
    gives(OK "text/plain\r\nContent-Length: 0\r\n\r\n", 0, "");
    gives("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\nnone", 0,
          "none\n[HTTP status 404]");
}

static void test_refuses(void **state)
{
    bench b;
    (void)state;
    static const fake_step steps[] = {{.bytes = OK "image/png\r\n\r\n\x89PNG\r\n\x1a\nxxxx"},
                                      {.bytes = "HTTP/1.1 302 Found\r\nLocation: /again\r\n"
                                                "Content-Length: 0\r\nConnection: close\r\n\r\n"}};
    fake_server *s = fake_server_start(steps, 2);
    bench_open(&b, OPEN_CONF);
    bench_refused(&b, "fetch_url", ask(s, "/a.png"), PONS_EUNSUPPORTED, "a PNG image");
    bench_refused(&b, "fetch_url", ask(s, "/loop"), PONS_EREFUSED, "edirects");
    assert_true(fake_server_requests(s) <= 4);
    bench_refused(&b, "fetch_url", "{\"url\":\"file:///etc/passwd\"}", PONS_EREFUSED, "only http");
    bench_refused(&b, "fetch_url", "{\"url\":\"ftp://127.0.0.1/x\"}", PONS_EREFUSED, "only http");
    bench_close(&b);
    // By default nothing of this machine or its network is asked, by no name for it.
    bench_open(&b, NULL);
    const size_t before = fake_server_requests(s);
    bench_refused(&b, "fetch_url", ask(s, "/x"), PONS_EREFUSED, "this machine");
    static const char *const names[] = {
        "localhost",          "127.1",          "0.0.0.0",    "[::1]",
        "[::ffff:127.0.0.1]", "0x7f000001",     "2130706433", "169.254.169.254",
        "10.0.0.1",           "user@127.0.0.1", "[fe80::1]"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(args, sizeof args, "{\"url\":\"http://%s:%d/x\"}", names[i], fake_server_port(s));
        bench_refused(&b, "fetch_url", args, PONS_EREFUSED, "this machine or its network");
    }
    assert_int_equal(fake_server_requests(s), before);
    bench_close(&b);
    fake_server_stop(s);
}

static void test_bounds(void **state)
{
    bench b;
    pons_error err = PONS_ERROR_INIT;
    (void)state;
    static char big[64 * 1024];
    snprintf(big, sizeof big, OK "text/plain\r\n\r\n");
    memset(big + strlen(big), 'x', sizeof big - strlen(big));
    const fake_step steps[] = {{.bytes = big, .n = sizeof big},
                               {.bytes = OK "text/plain\r\n\r\nbegun", .hold = true}};
    fake_server *s = fake_server_start(steps, 2);
    bench_open(&b, OPEN_CONF);
    pons_tool_event ev = bench_call(&b, "fetch_url", ask(s, "/big"));
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    assert_true(pons_get_bool(ev.value, "truncated", false));
    assert_non_null(strstr(pons_get_str(ev.value, "output", ""), "[cut here"));
    assert_true(strlen(pons_get_str(ev.value, "output", "")) < 1100);
    pons_tool_event_clear(&ev);
    bench_reopen(&b, "{\"fetch\":{\"private\":true,\"timeout_s\":1}}");
    bench_refused(&b, "fetch_url", ask(s, "/slow"), PONS_ETIMEOUT, "cannot fetch");
    bench_close(&b);
    // Canceled while the server says nothing more.
    bench_open(&b, OPEN_CONF);
    pons_autovalue a = bench_json(ask(s, "/held"));
    const size_t asked = fake_server_requests(s);
    assert_int_equal(b.tools.ops->start(b.tools.self, 9, "fetch_url", a, NULL, &err), PONS_OK);
    fake_server_wait_requests(s, asked + 1);
    b.tools.ops->cancel(b.tools.self, 9);
    fake_server_wait_hangups(s, 1);
    bench_close(&b);
    fake_server_stop(s);
}

static void refused_as_local(bench *b, const char *url)
{
    char text[256];
    snprintf(text, sizeof text, "{\"url\":\"%s\"}", url);
    bench_refused(b, "fetch_url", text, PONS_EREFUSED, "address of this machine");
}

// Every address of this machine is its own, also one that looks like anybody's: here in a network
// of the test's own, in which the loopback has two of them.
static void in_a_network_of_its_own(void)
{
    const uid_t uid = geteuid();
    char map[64];
    struct ifreq r = {.ifr_name = "lo"};
    struct in6_ifreq {
        struct in6_addr address;
        uint32_t prefix;
        int index;
    } r6 = {.prefix = 128, .index = 1};
    // Root needs no user namespace, which a process with threads (a sanitizer's own) may not enter.
    const bool root = uid == 0;
    if (unshare(root ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) < 0) {
        assert_int_equal(errno, EINVAL);
        skip();
    }
    if (!root) {
        const int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
        const int n = snprintf(map, sizeof map, "0 %u 1\n", (unsigned)uid);
        assert_int_equal(write(fd, map, (size_t)n), n);
        close(fd);
    }
    const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int s6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    r.ifr_flags = IFF_UP | IFF_RUNNING;
    assert_int_equal(ioctl(s, SIOCSIFFLAGS, &r), 0);
    struct sockaddr_in a = {.sin_family = AF_INET};
    assert_int_equal(inet_pton(AF_INET, "8.8.4.4", &a.sin_addr), 1);
    memcpy(r.ifr_name, "lo:1", 5);
    memcpy(&r.ifr_addr, &a, sizeof a);
    assert_int_equal(ioctl(s, SIOCSIFADDR, &r), 0);
    assert_int_equal(inet_pton(AF_INET6, "2606:4700::1111", &r6.address), 1);
    assert_int_equal(ioctl(s6, SIOCSIFADDR, &r6), 0);
    bench b;
    bench_open(&b, NULL);
    refused_as_local(&b, "http://8.8.4.4/");
    refused_as_local(&b, "http://8.8.4.4:8080/x");
    refused_as_local(&b, "http://134743044/"); // the same as a number
    refused_as_local(&b, "http://[::ffff:8.8.4.4]/");
    refused_as_local(&b, "http://[2606:4700::1111]/");
    refused_as_local(&b, "http://[64:ff9b::808:404]/");
    refused_as_local(&b, "http://[2002:808:404::1]/");
    bench_close(&b);
}

static void test_own_addresses(void **state)
{
    int status = 0;
    (void)state;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        in_a_network_of_its_own();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_special_networks(void **state)
{
    bench b;
    (void)state;
    static const char *const urls[] = {"http://192.0.2.1/",
                                       "http://198.51.100.7/",
                                       "http://203.0.113.255/",
                                       "http://192.88.99.1/",
                                       "http://[2001:db8::1]/",
                                       "http://[3fff::1]/",
                                       "http://[2001::1]/",
                                       "http://[100::1]/",
                                       "http://[fec0::1]/",
                                       "http://[::ffff:192.0.2.1]/",
                                       "http://[::ffff:0:10.0.0.1]/",
                                       "http://[2002:c000:201::]/",
                                       "http://0x7f.1/",
                                       "http://0300.0250.1.1/",
                                       "http://255.255.255.255/",
                                       "http://[fe80::1]/",
                                       "http://[ff02::1]/",
                                       "http://0/"};
    bench_open(&b, NULL);
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        refused_as_local(&b, urls[i]);
    }
    bench_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_addresses),
        cmocka_unit_test(test_special_networks),
        cmocka_unit_test(test_pages_become_text),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
