// test_notify.c - who is told when the robot needs a person, by a command that writes down what it is given: a question
// once, whoever dies and asks on; a failure; again after a try that failed; and never with a key.
#include "cli_bench.h"
#include "unit.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMPOSSIBLE " 'do navigate_to_pose {\"zone\":\"kitchen\",\"pose\":{\"x\":-50,\"y\":-50}}'"
#define FAILS      "run --json --thread t --llm rules " FAST IMPOSSIBLE

static void tell_by(bench *b, const char *yaml)
{
    char path[256], command[512];
    snprintf(command, sizeof command, "mkdir -p -m 700 %s/config", b->workspace);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/config/notify.yaml", b->workspace);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(yaml, f) >= 0);
    fclose(f);
}

// The command writes its input, a line, and what it was given as words.
static void write_down(bench *b, const char *before)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "command: [sh, -c, 'cd %s; %s cat >> told; echo >> told; echo \"$1\" >> words; env >> "
             "environment', x, \"{text}\"]\n",
             b->dir, before);
    tell_by(b, yaml);
}

static size_t lines(const bench *b, const char *name, const char *with)
{
    char path[256], line[4096];
    snprintf(path, sizeof path, "%s/%s", b->dir, name);
    size_t n = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        n += strstr(line, with) != NULL;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

static void a_question_once(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_share(&b, BENCH_ASKS);
    write_down(&b, "");
    bench_start(&b, &p, NULL, "run --json --thread t " FAST " 去厨房");
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_int_equal(lines(&b, "told", "\"kind\":\"ask\""), 1);
    assert_int_equal(lines(&b, "words", "pons approve t"), 1);
    for (int i = 0; i < 3; i++) { // it asks on, and is killed
        bench_start(&b, &p, NULL, "resume t --json --wait 0");
        bench_await(&p, "run.done", "status", "waiting");
        bench_signal(&p, SIGKILL);
        bench_finish(&p);
        bench_free(&p);
    }
    assert_int_equal(lines(&b, "told", "\"kind\":\"ask\""), 1);
    assert_int_equal(bench_run(&b, "approve t approve"), 0);
    bench_start(&b, &p, NULL, "resume t --json");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_int_equal(lines(&b, "told", "{"), 1);
    bench_close(&b);
}

static void a_failure_after_a_try_that_failed(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    setenv("A_KEY_OF_MINE", "sk-a-key-of-mine", 1); // pons has it
    write_down(&b, "test -e tried || { touch tried; exit 1; };");
    // The session goes on meanwhile: one that ends has no time for a second try.
    bench_start(&b, &p, NULL, "run --json --thread t --llm rules " WATCHABLE IMPOSSIBLE " 等600秒");
    unsetenv("A_KEY_OF_MINE");
    for (int64_t since = 0; lines(&b, "environment", "PATH=") == 0;) { // the last that it writes
        bench_again(&since, "the second try");
    }
    bench_signal(&p, SIGINT);
    bench_must_exit(&p, 1);
    bench_free(&p);
    assert_int_equal(lines(&b, "told", "\"kind\":\"failure\""), 1);
    assert_int_equal(lines(&b, "words", "pons failed: do navigate_to_pose"), 1);
    assert_int_equal(lines(&b, "environment", "sk-a-key"), 0);
    assert_int_equal(lines(&b, "environment", "PATH="), 1);
    bench_close(&b);
}

static void without_words(void **state)
{
    (void)state;
    bench b;
    char yaml[512];
    bench_open(&b);
    snprintf(yaml, sizeof yaml,
             "words: false\non: [failure]\ncommand: [sh, -c, 'cat >> %s/told']\n", b.dir);
    tell_by(&b, yaml);
    assert_int_equal(bench_run(&b, FAILS), 1);
    assert_int_equal(lines(&b, "told", "a task of t"), 1);
    assert_int_equal(lines(&b, "told", "navigate"), 0);
    bench_close(&b);
}

// Nobody there to take it: the run ends all the same, and says so.
static void nobody_takes_it(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    tell_by(&b, "url: http://127.0.0.1:9/\ncommand: [/nowhere/at/all]\n");
    bench_start(&b, &p, NULL, FAILS);
    bench_must_exit(&p, 1);
    char *said = bench_stderr(&p);
    assert_non_null(strstr(said, "notify"));
    free(said);
    bench_free(&p);
    assert_true(lines(&b, "ws/run/notify.log", "/nowhere/at/all: No such file") >= 1);
    bench_close(&b);
}

// One that prints without end does not fill the disk that the store is on.
static void one_that_floods(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    struct stat st;
    char path[256];
    bench_open(&b);
    tell_by(&b, "command: [sh, -c, 'echo begins; yes floods | head -c 4000000']\n");
    bench_start(&b, &p, NULL, FAILS);
    bench_must_exit(&p, 1);
    bench_free(&p);
    snprintf(path, sizeof path, "%s/run/notify.log", b.workspace);
    assert_int_equal(stat(path, &st), 0);
    assert_in_range(st.st_size, 1, 128 * 1024);
    assert_int_equal(lines(&b, "ws/run/notify.log", "begins"), 1);
    bench_close(&b);
}

// One that hangs does not hold the session's end up, and who was not told is told by the next session.
static void one_that_hangs(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char command[512];
    bench_open(&b);
    write_down(&b, "echo x >> begun; test -e awake || exec sleep 600;");
    bench_start(&b, &p, NULL, FAILS);
    bench_must_exit(&p, 1);
    char *said = bench_stderr(&p);
    assert_null(strstr(said, "notify")); // it was left, not waited for to the end of its time
    free(said);
    bench_free(&p);
    assert_int_equal(lines(&b, "begun", "x"), 1);
    assert_int_equal(lines(&b, "told", "{"), 0);
    snprintf(command, sizeof command, "touch %s/awake", b.dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(bench_run(&b, "run --thread t --llm rules " FAST " 'wait 1 seconds'"), 0);
    assert_int_equal(lines(&b, "told", "\"kind\":\"failure\""), 1);
    bench_close(&b);
}

static int listener(char url[64])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    snprintf(url, 64, "http://127.0.0.1:%d/", ntohs(at.sin_port));
    return fd;
}

// The next request, whole; `reply` is sent for it.
static pons_value *take_post(int fd, const char *reply)
{
    char text[8192];
    size_t n = 0;
    pons_value *body = NULL;
    const int one = accept(fd, NULL, NULL);
    assert_true(one >= 0);
    while (!body) {
        const ssize_t got = recv(one, text + n, sizeof text - 1 - n, 0);
        assert_true(got > 0);
        text[n += (size_t)got] = '\0';
        const char *rest = strstr(text, "\r\n\r\n");
        if (rest) {
            pons_value_parse(rest + 4, strlen(rest + 4), &body, NULL);
        }
    }
    assert_int_equal(send(one, reply, strlen(reply), MSG_NOSIGNAL), (ssize_t)strlen(reply));
    close(one);
    return body;
}

// Nor does an address that answers nothing.
static void an_address_that_hangs(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char url[64], yaml[512];
    const int fd = listener(url);
    bench_open(&b);
    snprintf(yaml, sizeof yaml, "on: [failure]\nurl: %s\ncommand: [sh, -c, 'cat >> %s/told']\n",
             url, b.dir);
    tell_by(&b, yaml);
    bench_start(&b, &p, NULL, FAILS);
    bench_must_exit(&p, 1);
    char *said = bench_stderr(&p);
    assert_null(strstr(said, "did not take it"));
    free(said);
    bench_free(&p);
    bench_start(&b, &p, NULL, "run --json --thread t " FAST " 去厨房");
    pons_autovalue left = take_post(fd, "");
    pons_autovalue reported = take_post(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_string_equal(pons_get_str(left, "kind", ""), "failure");
    assert_true(json_equal(left, reported));
    assert_int_equal(lines(&b, "told", "{"), 1);
    close(fd);
    bench_close(&b);
}

// The next request as it came, head and all; `reply` is sent for it. The caller frees.
static char *take_whole(int fd, const char *reply)
{
    char text[8192];
    size_t n = 0, more = 0;
    const int one = accept(fd, NULL, NULL);
    assert_true(one >= 0);
    for (const char *body = NULL; !body || strlen(body) < more;) {
        const ssize_t got = recv(one, text + n, sizeof text - 1 - n, 0);
        assert_true(got > 0);
        text[n += (size_t)got] = '\0';
        body = strstr(text, "\r\n\r\n");
        body = body ? body + 4 : NULL;
        const char *length = strcasestr(text, "content-length:");
        more = length ? strtoul(length + strlen("content-length:"), NULL, 10) : 0;
    }
    assert_int_equal(send(one, reply, strlen(reply), MSG_NOSIGNAL), (ssize_t)strlen(reply));
    close(one);
    return strdup(text);
}

#define GOOD "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
#define BUSY "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// An address: told once for each need, with the token in its head and nowhere else; asked again where it was
// busy, with the same id; and no redirect takes the token, or what was said, to somebody else.
static void an_address(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char url[64], other[64], yaml[512], away[256];
    const int fd = listener(url), elsewhere = listener(other);
    bench_open(&b);
    bench_share(&b, BENCH_ASKS);
    snprintf(yaml, sizeof yaml, "on: [ask, failure]\nurl: %shook\ntoken_env: HOOK_WORD\n", url);
    tell_by(&b, yaml);
    setenv("HOOK_WORD", "a-word-for-the-hook", 1);
    snprintf(away, sizeof away,
             "HTTP/1.1 307 Go\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
             other);
    bench_start(&b, &p, NULL, "run --json --thread t " FAST " 去厨房");
    char *first = take_whole(fd, BUSY), *second = take_whole(fd, away);
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    bench_start(&b, &p, NULL, "resume t --json --wait 0"); // its third try is the next session's
    char *third = take_whole(fd, GOOD);
    bench_await(&p, "run.done", "status", "waiting");
    bench_must_exit(&p, 4);
    bench_free(&p);
    assert_non_null(strstr(first, "POST /hook HTTP/1.1\r\n"));
    assert_non_null(strstr(first, "Authorization: Bearer a-word-for-the-hook\r\n"));
    const char *body = strstr(first, "\r\n\r\n"), *again = strstr(second, "\r\n\r\n");
    assert_string_equal(body, again); // the same notice, by the same id
    assert_string_equal(body, strstr(third, "\r\n\r\n"));
    assert_null(strstr(body, "a-word"));
    assert_non_null(strstr(body, "\"kind\":\"ask\""));
    free(first);
    free(second);
    free(third);
    // The question is still open, and told: nobody is told again. What comes next is the failure.
    bench_start(&b, &p, NULL, "resume t --json --wait 0");
    bench_await(&p, "run.done", "status", "waiting");
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_start(&b, &p, NULL,
                "run --json --thread u " FAST
                " 'do arm_of_nobody {\"api_key\":\"sk-abcdefghijklmnop1234\"}'");
    char *failure = take_whole(fd, GOOD);
    bench_finish(&p);
    bench_free(&p);
    assert_non_null(strstr(failure, "\"kind\":\"failure\""));
    assert_null(strstr(failure, "sk-abc")); // somebody pasted it into the goal
    free(failure);
    unsetenv("HOOK_WORD");
    struct pollfd quiet[2] = {{.fd = fd, .events = POLLIN}, {.fd = elsewhere, .events = POLLIN}};
    assert_int_equal(poll(quiet, 2, 0), 0);
    close(fd);
    close(elsewhere);
    bench_close(&b);
}

static void faults_of_the_file(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"url: ftp://x\n", "notify.yaml:1:6"},
        {"command: notify-send\n", "notify.yaml:1:10"},
        {"command: []\n", "notify.yaml:1:"},
        {"on: [ask, lunch]\n", "notify.yaml:1:11"},
        {"token_env: a token\n", "notify.yaml:1:12"},
        {"urk: http://x\n", "notify.yaml:1:"},
    };
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tell_by(&b, rows[i][0]);
        bench_must_fail(&b, "config check notify.yaml", 2, rows[i][1]);
        bench_must_fail(&b, "run " FAST " 去厨房", 2, rows[i][1]);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_question_once, bench_teardown),
        cmocka_unit_test_teardown(a_failure_after_a_try_that_failed, bench_teardown),
        cmocka_unit_test_teardown(without_words, bench_teardown),
        cmocka_unit_test_teardown(nobody_takes_it, bench_teardown),
        cmocka_unit_test_teardown(one_that_floods, bench_teardown),
        cmocka_unit_test_teardown(one_that_hangs, bench_teardown),
        cmocka_unit_test_teardown(an_address_that_hangs, bench_teardown),
        cmocka_unit_test_teardown(an_address, bench_teardown),
        cmocka_unit_test_teardown(faults_of_the_file, bench_teardown),
    };
    return bench_together("notify", tests, sizeof tests / sizeof tests[0]);
}
