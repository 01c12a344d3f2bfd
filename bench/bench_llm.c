// bench_llm - the model client beside nobody: how soon after a server's last byte the decision is
// there, and a thousand streamed calls at once on the client's one thread. The server is a thread
// of this process with plain sockets on the loopback; it allocates nothing while it serves, so that
// the memory measured is the client's.
#include "bench.h"
#include "pons/ext/llm.h"
#include "pons/module.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define ALONE_CALLS   2000 // one after the other
#define ALONE_TOKENS  40
#define CROWD_CALLS   1000 // at once
#define CROWD_TOKENS  50
#define FD_MARGIN     200
#define REQUEST_BYTES 8192
#define STATM_PAGE    ((double)sysconf(_SC_PAGESIZE))

static const char stream_head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                  "Connection: close\r\n\r\n";
static const char token[] =
    "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{"
    "\"index\":0,\"delta\":{\"content\":\"a word \"}}]}\n\n";
static const char stream_end[] =
    "data: "
    "{\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},"
    "\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,"
    "\"completion_tokens\":40}}\n\ndata: [DONE]\n\n";
static const char request_text[] =
    "{\"messages\":[{\"role\":\"system\",\"content\":\"You decide for a robot.\"},"
    "{\"role\":\"user\",\"content\":\"Where to?\"}],\"max_tokens\":100}";

static int listener, port;
static _Atomic double last_byte_s;    // when the server sent it, of the call alone
static _Atomic long tokens_taken;     // by the host, of the calls alone
static _Atomic int arrived, released; // of the crowd

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void listen_on_loopback(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(listener, CROWD_CALLS) != 0 ||
        getsockname(listener, (struct sockaddr *)&a, &len) != 0) {
        die("bench: listen");
    }
    port = ntohs(a.sin_port);
}

static void send_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0) {
            die("bench: send");
        }
        bytes += sent;
        n -= (size_t)sent;
    }
}

// Whether the request that is read piece by piece is whole.
static bool is_whole(const char *request)
{
    const char *body = strstr(request, "\r\n\r\n"),
               *length = strcasestr(request, "content-length:");
    return body && length && strlen(body + 4) >= strtoul(length + 15, NULL, 10);
}

// ---- one call after the other -------------------------------------------------------------------

static void *serve_alone(void *arg)
{
    (void)arg;
    const int one = 1;
    for (int i = 0; i < ALONE_CALLS; i++) {
        int fd = accept(listener, NULL, NULL);
        char request[REQUEST_BYTES] = "";
        size_t n = 0;
        while (!is_whole(request)) {
            ssize_t got = recv(fd, request + n, sizeof request - 1 - n, 0);
            if (got <= 0) {
                die("bench: recv");
            }
            n += (size_t)got;
            request[n] = '\0';
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        send_all(fd, stream_head, sizeof stream_head - 1);
        for (int k = 0; k < ALONE_TOKENS; k++) {
            send_all(fd, token, sizeof token - 1);
        }
        while (atomic_load(&tokens_taken) < (long)(i + 1) * ALONE_TOKENS) {
            sched_yield(); // a model is slower than its reader: nothing is left to read by then
        }
        atomic_store(&last_byte_s, bench_now_s()); // before it is sent: the send is counted too
        send_all(fd, stream_end, sizeof stream_end - 1);
        close(fd);
    }
    return NULL;
}

static void must_be_done(const pons_llm_event *ev)
{
    if (ev->kind == PONS_LLM_ERROR) {
        bench_must(ev->error.status, &ev->error);
    }
}

static void wait_done(const pons_llm *llm)
{
    for (;;) {
        pons_llm_event ev;
        while (llm->ops->next(llm->self, &ev)) {
            const bool done = ev.kind == PONS_LLM_DONE;
            must_be_done(&ev);
            atomic_fetch_add(&tokens_taken, ev.kind == PONS_LLM_TOKEN);
            pons_llm_event_clear(&ev);
            if (done) {
                return;
            }
        }
        struct pollfd p = {.fd = llm->ops->event_fd(llm->self), .events = POLLIN};
        poll(&p, 1, -1);
    }
}

static void alone(const pons_llm *llm, const pons_value *request)
{
    static double late_ms[ALONE_CALLS];
    pthread_t server;
    pons_error err = PONS_ERROR_INIT;
    pthread_create(&server, NULL, serve_alone, NULL);
    for (int i = 0; i < ALONE_CALLS; i++) {
        bench_must(llm->ops->start(llm->self, (uint64_t)i + 1, request, &err), &err);
        wait_done(llm);
        late_ms[i] = (bench_now_s() - atomic_load(&last_byte_s)) * 1000;
    }
    pthread_join(server, NULL);
    bench_print("llm.last_byte.p50", bench_quantile(late_ms, ALONE_CALLS, 0.5), "ms");
    bench_print("llm.last_byte.p99", bench_quantile(late_ms, ALONE_CALLS, 0.99), "ms");
}

// ---- a thousand at once -------------------------------------------------------------------------

typedef struct peer {
    int fd;
    size_t n;
    char request[REQUEST_BYTES];
} peer;
static peer peers[CROWD_CALLS];

// Takes every request before it answers any; then gives each a token in turn.
static void *serve_crowd(void *arg)
{
    (void)arg;
    int poller = epoll_create1(EPOLL_CLOEXEC), accepted = 0;
    struct epoll_event listening = {.events = EPOLLIN, .data.ptr = NULL}, ready[64];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &listening);
    while (atomic_load(&arrived) < CROWD_CALLS) {
        int n = epoll_wait(poller, ready, 64, -1);
        for (int i = 0; i < n; i++) {
            peer *p = ready[i].data.ptr;
            if (!p) {
                p = &peers[accepted++];
                p->fd = accept(listener, NULL, NULL);
                struct epoll_event readable = {.events = EPOLLIN, .data.ptr = p};
                epoll_ctl(poller, EPOLL_CTL_ADD, p->fd, &readable);
                continue;
            }
            ssize_t got = recv(p->fd, p->request + p->n, sizeof p->request - 1 - p->n, 0);
            if (got <= 0) {
                die("bench: recv");
            }
            p->n += (size_t)got;
            if (is_whole(p->request)) {
                epoll_ctl(poller, EPOLL_CTL_DEL, p->fd, NULL);
                send_all(p->fd, stream_head, sizeof stream_head - 1);
                send_all(p->fd, token, sizeof token - 1);
                atomic_fetch_add(&arrived, 1);
            }
        }
    }
    while (!atomic_load(&released)) {
        bench_sleep_s(0.001);
    }
    for (int k = 1; k < CROWD_TOKENS; k++) {
        for (int i = 0; i < CROWD_CALLS; i++) {
            send_all(peers[i].fd, token, sizeof token - 1);
        }
    }
    for (int i = 0; i < CROWD_CALLS; i++) {
        send_all(peers[i].fd, stream_end, sizeof stream_end - 1);
        close(peers[i].fd);
    }
    close(poller);
    return NULL;
}

// Resident memory [B].
static double resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1) {
        die("bench: statm");
    }
    fclose(f);
    return (double)pages * STATM_PAGE;
}

// Takes events until n calls have shown a token, or have ended.
static void take_until(const pons_llm *llm, bool ended, int n, long *tokens)
{
    for (int seen = 0; seen < n;) {
        pons_llm_event ev;
        while (seen < n && llm->ops->next(llm->self, &ev)) {
            must_be_done(&ev);
            *tokens += ev.kind == PONS_LLM_TOKEN;
            seen += ended ? ev.kind == PONS_LLM_DONE : ev.kind == PONS_LLM_TOKEN;
            pons_llm_event_clear(&ev);
        }
        struct pollfd p = {.fd = llm->ops->event_fd(llm->self), .events = POLLIN};
        if (seen < n) {
            poll(&p, 1, -1);
        }
    }
}

static void crowd(const pons_llm *llm, const pons_value *request)
{
    pthread_t server;
    pons_error err = PONS_ERROR_INIT;
    long tokens = 0;
    memset(peers, 1, sizeof peers); // its pages are there before the measurement
    memset(peers, 0, sizeof peers);
    malloc_trim(0);
    const double before = resident();
    const double began = bench_now_s(), cpu = bench_cpu_s();
    pthread_create(&server, NULL, serve_crowd, NULL);
    for (int i = 0; i < CROWD_CALLS; i++) {
        bench_must(llm->ops->start(llm->self, 10000 + (uint64_t)i, request, &err), &err);
    }
    take_until(llm, false, CROWD_CALLS, &tokens); // each has its first: all are under way
    const double during = resident();
    atomic_store(&released, 1);
    take_until(llm, true, CROWD_CALLS, &tokens);
    const double took = bench_now_s() - began, worked = bench_cpu_s() - cpu;
    pthread_join(server, NULL);
    if (tokens != (long)CROWD_CALLS * CROWD_TOKENS) {
        fprintf(stderr, "bench: %ld tokens came, not %d\n", tokens, CROWD_CALLS * CROWD_TOKENS);
        exit(1);
    }
    bench_print("llm.crowd.bytes", (during - before) / CROWD_CALLS, "B/call");
    bench_print("llm.crowd.time", took, "s");
    bench_print("llm.crowd.cpu", worked * 1e6 / (double)tokens, "us/token");
}

int main(int argc, char **argv)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur =
        2 * CROWD_CALLS + FD_MARGIN < files.rlim_max ? 2 * CROWD_CALLS + FD_MARGIN : files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    // What else works on the machine is not measured: threads that are made from here on, the
    // client's too, run before it, where that is permitted.
    const struct sched_param low = {.sched_priority = 1};
    (void)pthread_setschedparam(pthread_self(), SCHED_RR, &low);
    pons_value_init();
    listen_on_loopback();
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", port);
    pons_error err = PONS_ERROR_INIT;
    const void *ops = NULL;
    bench_must(pons_module_load("llm", "openai", &ops, &err), &err);
    const pons_clock clock = pons_clock_real();
    pons_autovalue config = pons_object("url", json_string(url), NULL);
    pons_autovalue request = NULL;
    bench_must(pons_value_parse(request_text, sizeof request_text - 1, &request, &err), &err);
    pons_llm llm = {.ops = ops};
    bench_must(llm.ops->open(config, &clock, &llm.self, &err), &err);
    if (bench_wants(argc, argv, "llm.last_byte")) {
        alone(&llm, request);
    }
    if (bench_wants(argc, argv, "llm.crowd")) {
        crowd(&llm, request);
    }
    llm.ops->close(llm.self);
    close(listener);
    return 0;
}
