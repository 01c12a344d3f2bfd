// https: a server whose certificate is signed by a CA of the test's own is trusted when the CA is
// configured (ca_file, or SSL_CERT_FILE), and refused, before the key or a word of the request has
// been sent, when it is not, or when the certificate is another host's. The server is
// `openssl s_server`, which prints what it receives and sends what is written to it.
#include "llm/llm_fixture.h"
#include "pons/buf.h"
#include "pons/ext/llm.h"
#include "pons/module.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY     "sk-secret-0123456789"
#define HANG_MS 120000 // a test that waits so long has failed
#define GOOD                                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"              \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":"           \
    "\"stop\"}]}\n\ndata: [DONE]\n\n"

static const pons_llm_ops *ops;
static char dir[] = "/tmp/pons-tls-XXXXXX";

typedef struct server {
    pid_t pid;
    int in, out;   // its standard input and output
    pons_buf said; // what it printed
    int port;
} server;

static int shell(const char *command)
{
    char text[2000];
    snprintf(text, sizeof text, "cd %s && { %s; } >log 2>&1", dir, command);
    return system(text);
}

// A CA, another CA, and two certificates signed by the first: of 127.0.0.1 and of another host.
static bool make_certificates(void)
{
    static const char ca[] = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                             "-nodes -keyout %s.key -out %s.pem -days 2 -subj /CN=%s "
                             "-addext basicConstraints=critical,CA:TRUE";
    static const char cert[] =
        "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout %s.key "
        "-out %s.csr -subj /CN=%s && printf 'subjectAltName=%s' >%s.ext && "
        "openssl x509 -req -in %s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 "
        "-extfile %s.ext -out %s.pem";
    char text[1500];
    for (int i = 0; i < 2; i++) {
        const char *n = i ? "other" : "ca";
        snprintf(text, sizeof text, ca, n, n, n);
        if (shell(text) != 0) {
            return false;
        }
    }
    for (int i = 0; i < 2; i++) {
        const char *n = i ? "wrong" : "here", *who = i ? "DNS:example.test" : "IP:127.0.0.1";
        snprintf(text, sizeof text, cert, n, n, n, who, n, n, n, n);
        if (shell(text) != 0) {
            return false;
        }
    }
    return true;
}

// Reads what the server prints until it has said this; returns where.
static const char *wait_said(server *s, const char *what)
{
    while (!s->said.data || !strstr(s->said.data, what)) {
        struct pollfd p = {.fd = s->out, .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
        char block[4096];
        ssize_t n = read(s->out, block, sizeof block);
        assert_true(n > 0);
        pons_buf_bytes(&s->said, block, (size_t)n);
    }
    return strstr(s->said.data, what);
}

static server start_server(const char *certificate)
{
    server s = {.said = PONS_BUF_INIT};
    int in[2], out[2];
    char cert[128], key[128];
    snprintf(cert, sizeof cert, "%s/%s.pem", dir, certificate);
    snprintf(key, sizeof key, "%s/%s.key", dir, certificate);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    s.pid = fork();
    if (s.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", cert, "-key",
               key, "-naccept", "1", (char *)NULL);
        _exit(127);
    }
    assert_true(s.pid > 0);
    close(in[0]);
    close(out[1]);
    s.in = in[1];
    s.out = out[0];
    static const char accept[] = "ACCEPT 127.0.0.1:";
    wait_said(&s, accept);
    const char *at = wait_said(&s, accept) + strlen(accept);
    while (!strchr(at, '\n')) { // the number may come in two pieces
        wait_said(&s, "\n");
        at = strstr(s.said.data, accept) + strlen(accept);
    }
    s.port = atoi(at);
    assert_in_range(s.port, 1, 65535);
    return s;
}

// Reads all that the server prints until it ends.
static void read_to_end(server *s)
{
    char block[4096];
    ssize_t n;
    do {
        struct pollfd p = {.fd = s->out, .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
        n = read(s->out, block, sizeof block);
        pons_buf_bytes(&s->said, block, n > 0 ? (size_t)n : 0);
    } while (n > 0);
}

static void stop_server(server *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    close(s->in);
    close(s->out);
    pons_buf_fini(&s->said);
}

static void *open_client(const server *s, const char *ca)
{
    char url[64], path[128];
    snprintf(url, sizeof url, "https://127.0.0.1:%d/v1", s->port);
    snprintf(path, sizeof path, "%s/%s", dir, ca ? ca : "");
    pons_autovalue config = pons_object("url", json_string(url), "api_key", json_string(KEY),
                                        "ca_file", ca ? json_string(path) : NULL, "timeouts",
                                        fixture_json("{\"backoff_s\":0.001}"), NULL);
    pons_clock clock = pons_clock_real();
    pons_error err = PONS_ERROR_INIT;
    void *self = NULL;
    if (ops->open(config, &clock, &self, &err) != PONS_OK) {
        fixture_fail(&err, url);
    }
    pons_autovalue request = fixture_json("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    assert_int_equal(ops->start(self, 1, request, &err), PONS_OK);
    return self;
}

// The end of the call; what is shown before it is passed over.
static pons_llm_event wait_end(void *self)
{
    for (;;) {
        pons_llm_event ev;
        while (ops->next(self, &ev)) {
            if (ev.kind == PONS_LLM_DONE || ev.kind == PONS_LLM_ERROR) {
                return ev;
            }
            pons_llm_event_clear(&ev);
        }
        struct pollfd p = {.fd = ops->event_fd(self), .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
    }
}

static void expect_trusted(const char *ca)
{
    server s = start_server("here");
    void *self = open_client(&s, ca);
    wait_said(&s, "Authorization: Bearer " KEY);
    wait_said(&s, "\"stream\":true");
    assert_int_equal(write(s.in, GOOD, strlen(GOOD)), strlen(GOOD));
    pons_llm_event ev = wait_end(self);
    if (ev.kind == PONS_LLM_ERROR) {
        fixture_fail(&ev.error, "trusted");
    }
    assert_string_equal(pons_get_str(ev.value, "content", ""), "hi");
    pons_llm_event_clear(&ev);
    ops->close(self);
    stop_server(&s);
}

static void expect_refused(const char *certificate, const char *ca)
{
    server s = start_server(certificate);
    void *self = open_client(&s, ca);
    pons_llm_event ev = wait_end(self);
    assert_int_equal(ev.kind, PONS_LLM_ERROR);
    assert_int_equal(ev.error.status, PONS_ECLOSED);
    if (!strstr(ev.error.message, "cannot trust the model's server: ")) {
        print_error("%s\n", ev.error.message);
        fail();
    }
    assert_null(strstr(ev.error.message, KEY));
    pons_llm_event_clear(&ev);
    ops->close(self);
    read_to_end(&s); // it took one connection, and is gone
    assert_null(strstr(s.said.data, KEY));
    assert_null(strstr(s.said.data, "POST"));
    stop_server(&s);
}

static void test_trust(void **state)
{
    (void)state;
    char path[128];
    unsetenv("SSL_CERT_FILE");
    expect_trusted("ca.pem");
    snprintf(path, sizeof path, "%s/ca.pem", dir);
    setenv("SSL_CERT_FILE", path, 1);
    expect_trusted(NULL);
    snprintf(path, sizeof path, "%s/other.pem", dir);
    setenv("SSL_CERT_FILE", path, 1);
    expect_trusted("ca.pem"); // what is configured goes before the environment
    expect_refused("here", NULL);
    unsetenv("SSL_CERT_FILE");
    expect_refused("here", NULL); // the system's CAs
    expect_refused("here", "other.pem");
    expect_refused("wrong", "ca.pem"); // signed well, for another host
}

static void test_bad_files(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/none.pem", dir);
    pons_autovalue config = pons_object("url", json_string("https://127.0.0.1:1/v1"), "ca_file",
                                        json_string(path), NULL);
    pons_clock clock = pons_clock_real();
    pons_error err = PONS_ERROR_INIT;
    void *self = NULL;
    assert_int_equal(ops->open(config, &clock, &self, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "none.pem"));
    // A file that is no certificate is found out by the first call.
    server s = start_server("here");
    self = open_client(&s, "here.key");
    pons_llm_event ev = wait_end(self);
    assert_int_equal(ev.kind, PONS_LLM_ERROR);
    assert_non_null(strstr(ev.error.message, "error setting certificate"));
    pons_llm_event_clear(&ev);
    ops->close(self);
    stop_server(&s);
}

static int setup(void **state)
{
    (void)state;
    pons_value_init();
    signal(SIGPIPE, SIG_IGN);
    setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/lib/pons", 0);
    pons_error err = PONS_ERROR_INIT;
    const void *loaded = NULL;
    if (pons_module_load("llm", "openai", &loaded, &err) != PONS_OK) {
        fixture_fail(&err, "llm-openai");
    }
    ops = loaded;
    if (!mkdtemp(dir) || !make_certificates()) {
        fprintf(stderr, "openssl made no certificates; see %s/log\n", dir);
        return -1;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "rm -r %s", dir);
    return system(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trust),
                                       cmocka_unit_test(test_bad_files)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
