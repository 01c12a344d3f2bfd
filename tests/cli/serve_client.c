// serve_client.c - a client of `pons serve` that writes bytes.
#include "cli/serve_client.h"

#include "pons/buf.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANG_MS 150000 // as of a bench

serve_at serve_ready(bench *b, proc *p)
{
    serve_at a = {.port = 0};
    char path[160], role[16];
    const pons_value *r = bench_await(p, "serve.ready", NULL, NULL);
    assert_ptr_equal(r, json_array_get(p->events, 0)); // the first line
    assert_int_equal(sscanf(pons_get_str(r, "url", ""), "http://127.0.0.1:%d", &a.port), 1);
    assert_int_equal(sscanf(pons_get_str(r, "stop_url", ""), "http://127.0.0.1:%d", &a.stop_port),
                     1);
    assert_int_equal(pons_get_int(r, "pid", 0), p->pid);
    snprintf(path, sizeof path, "%s/run/serve.token", b->workspace);
    assert_string_equal(pons_get_str(r, "token_file", ""), path);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    do {
        assert_int_equal(fscanf(f, "%15s %64s", role, a.token), 2);
    } while (strcmp(role, "operator") != 0);
    fclose(f);
    return a;
}

int serve_ask(const serve_at *a, int port, const char *method, const char *path, const char *more,
              const char *body)
{
    char text[2048];
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    const int n = snprintf(text, sizeof text,
                           "%s %s HTTP/1.0\r\nHost: 127.0.0.1:%d\r\nx-api-key: %s\r\n%s"
                           "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                           method, path, port, a->token, more, strlen(body), body);
    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    return fd;
}

// Reads until `what` is there, or the end. The caller frees.
char *serve_hear(int fd, const char *what)
{
    pons_buf b = PONS_BUF_INIT;
    pons_buf_byte(&b, 0);
    b.len = 0;
    while (!what || !strstr(b.data, what)) {
        char text[4096];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
        const ssize_t n = recv(fd, text, sizeof text, 0);
        if (n <= 0) {
            break;
        }
        pons_buf_bytes(&b, text, (size_t)n);
        pons_buf_byte(&b, 0);
        b.len--;
    }
    return pons_buf_take(&b, NULL);
}

char *serve_reply(const serve_at *a, int port, const char *method, const char *path,
                  const char *body)
{
    const int fd = serve_ask(a, port, method, path, "", body);
    char *r = serve_hear(fd, NULL);
    close(fd);
    return r;
}

void serve_must(const serve_at *a, int port, const char *method, const char *path, const char *body,
                int status, const char *what)
{
    char *r = serve_reply(a, port, method, path, body), start[32];
    snprintf(start, sizeof start, "HTTP/1.1 %d ", status);
    if (strncmp(r + 9, start + 9, 4) != 0 || !strstr(r, what)) {
        fail_msg("%s %s: %s", method, path, r);
    }
    free(r);
}
