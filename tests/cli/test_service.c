// test_service.c - `pons body` and `pons serve` as services: what the service manager hears (the test is the socket of
// NOTIFY_SOCKET), and reads, and who may use the socket that stops.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// As long as a test may take at all; only a broken program reaches it.
static int manager(const bench *b, char *ret_path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const struct timeval most = {.tv_sec = BENCH_LIMIT_S};
    snprintf(at.sun_path, sizeof at.sun_path, "%s/notify", b->dir);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    strcpy(ret_path, at.sun_path);
    return fd;
}

// Until the manager hears this.
static void hears(int fd, const char *want)
{
    char text[128] = "";
    while (strcmp(text, want) != 0) {
        const ssize_t n = recv(fd, text, sizeof text - 1, 0);
        if (n < 0) {
            fail_msg("no %s is heard", want);
        }
        text[n] = '\0';
    }
}

static mode_t mode_of(const bench *b, const char *file)
{
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/run/%s", b->workspace, file);
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

static void a_service_tells_its_manager(void **state)
{
    (void)state;
    static const char *const words[] = {"body --driver kinematic",
                                        "serve --no-body --driver kinematic --listen 127.0.0.1:0"};
    char path[128], run[256];
    bench b;
    bench_open(&b);
    const int fd = manager(&b, path);
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "30000", 1);
    // The group may go through run/, as the unit makes it: it gets the socket that stops, and no other.
    snprintf(run, sizeof run, "%s/run", b.workspace);
    assert_true(mkdir(b.workspace, 0710) == 0 && mkdir(run, 0710) == 0 && chmod(run, 0710) == 0);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        proc p = {0};
        bench_start(&b, &p, NULL, words[i]);
        hears(fd, "READY=1");
        hears(fd, "WATCHDOG=1"); // its loop goes round, and again
        hears(fd, "WATCHDOG=1");
        if (i == 0) {
            assert_int_equal(mode_of(&b, "stop.sock"), 0660);
            assert_int_equal(mode_of(&b, "body.sock"), 0600);
        }
        assert_int_equal(mode_of(&b, "."), 0710);
        bench_signal(&p, SIGTERM);
        if (i == 0) {
            hears(fd, "STOPPING=1");
        }
        bench_must_exit(&p, 0);
        assert_null(strstr(p.text, "token=")); // it goes to the journal
        bench_free(&p);
    }
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(fd);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_service_tells_its_manager, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli/service", tests, NULL, NULL);
}
