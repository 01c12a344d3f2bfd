// test_serve.c - `pons serve` as a program and a person meet it: a goal over HTTP reaches the wheels,
// events are the store's own, Stop's port latches, a second server is told who is there, and a server
// that is killed in the midst of a drive comes back with no event lost or doubled for its client.
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HANG_MS 150000 // as of a bench

static int64_t last_id(const char *text)
{
    int64_t last = 0;
    for (const char *p = text; (p = strstr(p, "\nid: ")); p++) {
        last = strtoll(p + 5, NULL, 10);
    }
    return last;
}

static void a_goal_over_http_reaches_the_wheels(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, SERVE FAST);
    const serve_at a = serve_ready(&b, &p);
    const int events = serve_ask(&a, a.port, "GET", "/v1/events?after=0", "", "");
    serve_must(&a, a.port, "POST", "/v1/say", "{\"text\":\"去厨房\"}", 202, "\"thread\":\"main\"");
    char *r = serve_hear(events, "\"type\":\"task.done\"");
    assert_non_null(strstr(r, "succeeded"));
    free(r);
    serve_must(&a, a.port, "GET", "/v1/state", "", 200, "\"zone\":\"kitchen\"");
    serve_must(&a, a.port, "GET", "/v1/map", "", 200, "\"boxes\"");
    // A second server of the workspace learns who is there.
    char pid[32];
    snprintf(pid, sizeof pid, "%ld", (long)p.pid);
    bench_must_fail(&b, SERVE FAST, 3, pid);
    // Stop: latched, and told; the reset is the other port's.
    serve_must(&a, a.stop_port, "POST", "/stop", "{}", 200, "\"latched\":true");
    serve_must(&a, a.port, "GET", "/v1/state", "", 200, "\"latched\":true");
    serve_must(&a, a.port, "POST", "/v1/continue", "{}", 409, "reset comes first");
    serve_must(&a, a.stop_port, "POST", "/v1/reset", "{}", 404, "no such path");
    serve_must(&a, a.port, "POST", "/v1/reset", "{}", 200, "\"latched\":false");
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    free(serve_hear(events, NULL)); // the stream ends with it
    close(events);
    bench_free(&p);
    bench_ledger_check(&b);
    bench_close(&b);
}

static void killed_in_the_midst_nothing_is_lost(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char header[64];
    bench_open(&b);
    bench_start(&b, &p, NULL, SERVE "--driver kinematic --seed 3 --speed 4");
    serve_at a = serve_ready(&b, &p);
    int events = serve_ask(&a, a.port, "GET", "/v1/events?after=0", "", "");
    serve_must(&a, a.port, "POST", "/v1/say", "{\"text\":\"go to the bedroom\"}", 202, "bedroom");
    char *first = serve_hear(events, "\"state\":\"accepted\"");
    bench_signal(&p, SIGKILL);
    assert_int_equal(bench_finish(&p), 128 + SIGKILL);
    free(serve_hear(events, NULL));
    close(events);
    bench_free(&p);
    bench_start(&b, &p, NULL, SERVE "--driver kinematic --seed 3 --speed 4");
    a = serve_ready(&b, &p);
    snprintf(header, sizeof header, "Last-Event-ID: %lld\r\n", (long long)last_id(first));
    events = serve_ask(&a, a.port, "GET", "/v1/events", header, "");
    char *second = serve_hear(events, "\"type\":\"task.done\"");
    assert_non_null(strstr(second, "succeeded"));
    // One after the other, over the kill.
    int64_t seen = last_id(first);
    for (const char *id = second; (id = strstr(id, "\nid: ")); id++) {
        assert_int_equal(strtoll(id + 5, NULL, 10), ++seen);
    }
    close(events);
    free(first);
    free(second);
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_ledger_check(&b); // and no motion twice
    bench_close(&b);
}

static void run_line(const serve_at *a, char *line)
{
    char *path = strchr(line, ' '), *want = strrchr(line, ' ');
    *path++ = '\0';
    want[0] = '\0';
    want++;
    for (size_t n = strlen(path); n > 0 && path[n - 1] == ' '; n--) {
        path[n - 1] = '\0';
    }
    char *body = strchr(path, ' ');
    if (body) {
        *body++ = '\0';
    }
    const bool stops = strcmp(path, "/stop") == 0 || strcmp(path, "/ping") == 0;
    const int fd = serve_ask(a, stops ? a->stop_port : a->port, line, path,
                             "Accept: application/json, text/event-stream\r\n", body ? body : "");
    const bool stream = strcmp(want, "stream") == 0;
    char *head = serve_hear(fd, stream ? "\ndata:" : "\r\n\r\n"); // a stream has no end
    if (atoi(head + strlen("HTTP/1.1 ")) != (stream ? 200 : atoi(want)) ||
        (stream && !strstr(head, "text/event-stream"))) {
        fail_msg("tests/serve/routes_robot.txt: %s %s %s, not %s: %s", line, path, body ? body : "",
                 want, head);
    }
    if (!stream) { // the next one comes when this has been answered
        free(serve_hear(fd, NULL));
    }
    free(head);
    close(fd);
}

static void the_document_is_true(void **state)
{
    (void)state;
    static const char *const methods[] = {"GET ", "POST ", "PUT ", "PATCH ", "DELETE "};
    bench b;
    proc p = {0};
    char line[1024], words[256], path[160], role[16];
    int n = 0;
    bench_open(&b);
    snprintf(words, sizeof words, SERVE FAST " --llm script:%s",
             bench_file(&b, "script.yaml",
                        "replies:\n- when: {messages.-1.content: {contains: hello}}\n  repeat: "
                        "true\n  content: hello there\n"));
    bench_start(&b, &p, NULL, words);
    serve_at a = serve_ready(&b, &p);
    serve_must(&a, a.port, "GET", "/v1/state", "", 200, "\"thread\":\"main\""); // from the first
    bench_await(&p, "telemetry", NULL, NULL);
    snprintf(path, sizeof path, "%s/run/serve.token", b.workspace);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    do {
        assert_int_equal(fscanf(f, "%15s %64s", role, a.token), 2);
    } while (strcmp(role, "admin") != 0);
    fclose(f);
    f = fopen(PONS_SOURCE_DIR "/tests/serve/routes_robot.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
            if (strncmp(line, methods[i], strlen(methods[i])) == 0) {
                run_line(&a, line);
                n++;
                break;
            }
        }
    }
    fclose(f);
    assert_in_range(n, 40, 100);
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// A program that opens pages gets a file that only its owner reads, not an address with a token.
static void open_opens_the_page(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char program[160], text[1024] = "", path[4096], want[160];
    struct stat st;
    bench_open(&b);
    snprintf(program, sizeof program, "%s",
             bench_file(&b, "xdg-open",
                        "#!/bin/sh\ncp \"$1\" \"${0%/*}/opened.new\" && mv \"${0%/*}/opened.new\" "
                        "\"${0%/*}/opened\"\n"));
    const char *opened = bench_file(&b, "opened", "");
    assert_int_equal(chmod(program, 0700), 0);
    const char *was = getenv("PATH");
    char *kept = strdup(was ? was : "/usr/bin:/bin");
    snprintf(path, sizeof path, "%s:%s", b.dir, kept);
    setenv("PATH", path, 1);
    bench_start(&b, &p, NULL, SERVE "--open " FAST);
    setenv("PATH", kept, 1);
    free(kept);
    const serve_at a = serve_ready(&b, &p);
    for (int i = 0; i < HANG_MS / 10 && !*text; i++) {
        FILE *f = fopen(opened, "r");
        assert_non_null(f);
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        fclose(f);
        bench_rest(10);
    }
    snprintf(want, sizeof want, "location.replace('http://127.0.0.1:%d/#token=%s')", a.port,
             a.token);
    assert_non_null(strstr(text, want));
    snprintf(path, sizeof path, "%s/run/serve.html", b.workspace);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// A body that was started and has not come yet ends with who started it: nobody else needs it. Here it is stopped
// before it listens; one that was quicker is tried anew.
static void a_body_that_had_not_come_goes_too(void **state)
{
    (void)state;
    for (bool late = false; !late;) {
        bench b;
        proc p = {0};
        char path[160];
        pid_t body = 0;
        bench_open(&b);
        bench_start(&b, &p, NULL, SERVE FAST);
        while (!(body = bench_child(p.pid, "body"))) {
            assert_true(bench_alive(&p));
        }
        assert_int_equal(kill(body, SIGSTOP), 0);
        snprintf(path, sizeof path, "%s/run/body.sock", b.workspace);
        serve_ready(&b, &p);
        late = access(path, F_OK) < 0;
        if (!late) {
            kill(body, SIGCONT);
        }
        bench_signal(&p, SIGTERM);
        bench_must_exit(&p, 0);
        bench_free(&p);
        kill(body, SIGCONT);
        for (int64_t since = 0; late && kill(body, 0) == 0;) {
            bench_again(&since, "the end of a body that had not come");
        }
        bench_close(&b);
    }
}

static void bad_words_are_refused(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    bench_must_fail(&b, "serve --listen nowhere:1 --driver kinematic", 2, "no IP address");
    bench_must_fail(&b, "serve --listen 127.0.0.1:99999", 2, "--listen");
    bench_must_fail(&b, "serve --listen 0.0.0.0:0 --no-token --driver kinematic", 3,
                    "without tokens");
    bench_must_fail(&b, "serve --cert x", 2, "--key");
    bench_must_fail(&b, "serve go", 2, "no words");
    bench_close(&b);
}

// Beyond this machine it is https without being asked: with a certificate of its own, kept over starts.
static void a_certificate_of_its_own(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    struct stat st;
    char first[128] = "", line[1024], path[160], said[4096] = "";
    bench_open(&b);
    for (int i = 0; i < 2; i++) {
        p = (proc){0};
        bench_start(&b, &p, NULL, "serve --listen 0.0.0.0:0 --host 127.0.0.1 --json " FAST);
        const pons_value *r = bench_await(&p, "serve.ready", NULL, NULL);
        const char *print = pons_get_str(r, "fingerprint", "");
        int port = 0;
        assert_int_equal(strlen(print), 95);
        assert_int_equal(sscanf(pons_get_str(r, "url", ""), "https://0.0.0.0:%d", &port), 1);
        assert_true(i == 0 || strcmp(first, print) == 0);
        snprintf(first, sizeof first, "%s", print);
        snprintf(path, sizeof path, "%s/run/serve.key", b.workspace);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        // A client that trusts it is let in by its name, and it is the one that was told.
        snprintf(line, sizeof line,
                 "printf 'GET /v1/state HTTP/1.0\\r\\nHost: 127.0.0.1:%d\\r\\n\\r\\n' | openssl "
                 "s_client "
                 "-quiet -connect 127.0.0.1:%d -verify_ip 127.0.0.1 -verify_return_error -CAfile "
                 "%s/run/serve.cert 2>/dev/null; openssl x509 -in %s/run/serve.cert -noout "
                 "-fingerprint -sha256",
                 port, port, b.workspace, b.workspace);
        FILE *f = popen(line, "r");
        assert_non_null(f);
        said[fread(said, 1, sizeof said - 1, f)] = '\0';
        pclose(f);
        assert_non_null(strstr(said, "HTTP/1.1 401 "));
        assert_non_null(strstr(said, first));
        bench_signal(&p, SIGTERM);
        bench_must_exit(&p, 0);
        bench_free(&p);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_goal_over_http_reaches_the_wheels, bench_teardown),
        cmocka_unit_test_teardown(killed_in_the_midst_nothing_is_lost, bench_teardown),
        cmocka_unit_test_teardown(the_document_is_true, bench_teardown),
        cmocka_unit_test_teardown(open_opens_the_page, bench_teardown),
        cmocka_unit_test_teardown(a_certificate_of_its_own, bench_teardown),
        cmocka_unit_test_teardown(a_body_that_had_not_come_goes_too, bench_teardown),
        cmocka_unit_test_teardown(bad_words_are_refused, bench_teardown),
    };
    return bench_together("serve", tests, sizeof tests / sizeof tests[0]);
}
