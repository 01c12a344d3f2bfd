// bench_http.c - Stop over HTTP while others hold its port (docs/internals/benchmarks.md).
//
//   http.stop.*     POST /stop on a connection of its own, from connect to the end of the reply, beside 5,000
//                   idle connections to Stop's port and 100 that are opened anew a second
//   http.anew.*     the same beside 5,000 that are opened anew as soon as the server has closed them
//   http.bare.*     what http.stop asks, of a loop of accept, read and write beside the same connections
//
//     main: asks, 2,000 times     server: pons_serve, or the loop     crowd: the 5,000
//
// Each is a process, so that each has descriptors of its own. The server has as many as a login of Debian gives.
#include "bench.h"
#include "pons/serve.h"
#include "pons/store.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { STOPS = 2000, IDLE = 5000, NEW_HZ = 100, LOGIN_FILES = 1024, CROWD_FILES = 16384 };

#define PAUSE_S 0.003 // between two stops

typedef struct served {
    pid_t pid;
    int port;
} served;

static void allow_files(rlim_t n)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = n < files.rlim_max ? n : files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

// ---- the servers --------------------------------------------------------------------------------

static int stop(void *user, const char *reason, pons_error *err)
{
    (void)user;
    (void)reason;
    (void)err;
    return PONS_OK;
}

static void serve(int tell)
{
    char dir[200], tokens[256];
    pons_error err = PONS_ERROR_INIT;
    pons_serve *s = NULL;
    bench_folder(dir, sizeof dir);
    snprintf(tokens, sizeof tokens, "%s/tokens", dir);
    pons_serve_options o = {.clock = pons_clock_real(),
                            .host = {.stop = stop},
                            .thread = "main",
                            .stop_port = 0,
                            .token_file = tokens};
    bench_must(pons_store_memory_open(&o.store, &err), &err);
    bench_must(pons_http_server_load(&o.http, &err), &err);
    bench_must(pons_serve_open(&o, &s, &err), &err);
    bench_remove(dir);
    const int port = pons_serve_stop_port(s);
    if (write(tell, &port, sizeof port) == (ssize_t)sizeof port) {
        pause();
    }
}

static void serve_bare(int tell)
{
    static const char reply[] =
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poller = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = listener};
    allow_files(CROWD_FILES);
    if (bind(listener, (const struct sockaddr *)&a, n) < 0 || listen(listener, SOMAXCONN) < 0 ||
        getsockname(listener, (struct sockaddr *)&a, &n) < 0 ||
        epoll_ctl(poller, EPOLL_CTL_ADD, listener, &ev) < 0) {
        _exit(1);
    }
    const int port = ntohs(a.sin_port);
    if (write(tell, &port, sizeof port) != (ssize_t)sizeof port) {
        _exit(1);
    }
    for (;;) {
        char text[2048];
        if (epoll_wait(poller, &ev, 1, -1) != 1) {
            continue;
        }
        if (ev.data.fd == listener) {
            const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
            ev = (struct epoll_event){.events = EPOLLIN, .data.fd = fd};
            if (fd >= 0) {
                epoll_ctl(poller, EPOLL_CTL_ADD, fd, &ev);
            }
            continue;
        }
        if (read(ev.data.fd, text, sizeof text) > 0) {
            (void)!write(ev.data.fd, reply, sizeof reply - 1);
        }
        close(ev.data.fd);
    }
}

static served start(void (*run)(int tell))
{
    int tell[2];
    served s = {.port = 0};
    if (pipe(tell) < 0 || (s.pid = fork()) < 0) {
        exit(1);
    }
    if (s.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        allow_files(LOGIN_FILES);
        run(tell[1]);
        _exit(1);
    }
    close(tell[1]);
    if (read(tell[0], &s.port, sizeof s.port) != (ssize_t)sizeof s.port) {
        exit(1);
    }
    close(tell[0]);
    return s;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

// ---- the crowd ----------------------------------------------------------------------------------

static int connect_to(int port, bool wait)
{
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | (wait ? 0 : SOCK_NONBLOCK), 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof a) < 0 && errno != EINPROGRESS) {
        close(fd);
        return -1;
    }
    return fd;
}

// anew: what the server has closed is opened again at once, else NEW_HZ a second are.
static pid_t crowd(int port, bool anew)
{
    static int fds[IDLE];
    const pid_t pid = fork();
    if (pid != 0) {
        bench_sleep_s(2);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    allow_files(CROWD_FILES);
    for (size_t i = 0; i < IDLE; i++) {
        fds[i] = connect_to(port, false);
    }
    for (size_t i = 0;; i = (i + 1) % IDLE) {
        struct pollfd p = {.fd = fds[i], .events = POLLIN};
        if (!anew) {
            bench_sleep_s(1.0 / NEW_HZ);
        }
        if (!anew || fds[i] < 0 || poll(&p, 1, 0) != 0) {
            close(fds[i]);
            fds[i] = connect_to(port, false);
        }
    }
}

// ---- who stops ----------------------------------------------------------------------------------

static double stop_once(int port)
{
    char text[512], reply[4096];
    const double from = bench_now_s();
    const int fd = connect_to(port, true);
    const int n = snprintf(text, sizeof text,
                           "POST /stop HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
                           "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
                           port);
    ssize_t got = 0, all = 0;
    if (fd >= 0 && send(fd, text, (size_t)n, MSG_NOSIGNAL) == n) {
        do {
            got = recv(fd, reply + all, sizeof reply - 1 - (size_t)all, 0);
            all += got > 0 ? got : 0;
        } while (got > 0);
    }
    reply[all] = '\0';
    close(fd);
    if (strncmp(reply, "HTTP/1.1 200", 12) != 0) {
        fprintf(stderr, "bench: a stop got no answer after %.0f ms\n",
                1e3 * (bench_now_s() - from));
    }
    return bench_now_s() - from;
}

static void measure(int argc, char **argv, const char *family, void (*run)(int), bool anew)
{
    static const struct {
        const char *name;
        double q;
    } rows[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}};
    static double took[STOPS];
    char name[64];
    if (!bench_wants(argc, argv, family)) {
        return;
    }
    const served s = start(run);
    const pid_t many = crowd(s.port, anew);
    for (size_t i = 0; i < STOPS; i++) {
        took[i] = stop_once(s.port);
        bench_sleep_s(PAUSE_S);
    }
    end(many);
    end(s.pid);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(name, sizeof name, "%s%s", family, rows[i].name);
        bench_print(name, 1e3 * bench_quantile(took, STOPS, rows[i].q), "ms");
    }
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    pons_value_init();
    measure(argc, argv, "http.bare.", serve_bare, false);
    measure(argc, argv, "http.stop.", serve, false);
    measure(argc, argv, "http.anew.", serve, true);
    return 0;
}
