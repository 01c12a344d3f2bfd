// stdio_server.c - `pons mcp serve`: providers' tools for an MCP client, a JSON message a line.
//
// One thread, one client: it polls the client's end and the providers' descriptors, and hands whole
// lines to the one session of a host (mcp_session.c), which knows what they mean.
#include "mcp/json_rpc.h"
#include "pons/buf.h"
#include "pons/mcp.h"
#include "pons/surrogates.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES    65536
#define GARBAGE_MAX   1000 // lines in a row that are no message
#define WRITE_WAIT_MS 30000
#define FDS_MAX       18

typedef struct client {
    const pons_mcp_server_options *o;
    pons_mcp_host *h;
    pons_mcp_session *session;
    pons_buf in;
    size_t scanned;
    unsigned garbage;
    bool over; // the client is gone
} client;

// ---- writing ------------------------------------------------------------------------------------

static void write_all(client *s, const char *text, size_t n)
{
    while (n > 0 && !s->over) {
        const ssize_t wrote = write(s->o->out_fd, text, n);
        if (wrote > 0) {
            text += wrote;
            n -= (size_t)wrote;
        } else if (errno == EAGAIN) {
            struct pollfd p = {.fd = s->o->out_fd, .events = POLLOUT};
            s->over = poll(&p, 1, WRITE_WAIT_MS) == 0; // it reads no more
        } else if (errno != EINTR) {
            s->over = true;
        }
    }
}

static void say(void *user, const pons_value *m, const pons_value *of)
{
    client *s = user;
    char *text = NULL;
    const long n = pons_value_line(m, &text);
    if (n >= 0) {
        text[n] = '\n'; // in place of the zero
        write_all(s, text, (size_t)n + 1);
    }
    free(text);
}

// ---- the client's lines -------------------------------------------------------------------------

static int take_line(client *s, const char *line, size_t n, pons_error *err)
{
    pons_value *m = NULL;
    pons_error bad = PONS_ERROR_INIT;
    n -= n > 0 && line[n - 1] == '\r';
    if (n == 0) {
        return PONS_OK;
    }
    if (pons_halves_parse(line, n, &m, &bad) < 0) {
        pons_autovalue fault = pons__rpc_error(NULL, PONS__RPC_PARSE, bad.message);
        say(s, fault, NULL);
        return ++s->garbage <= GARBAGE_MAX
                   ? PONS_OK
                   : pons_error_set(err, PONS_EPROTOCOL, PONS__MCP,
                                    "the client sent %d lines that are no messages", GARBAGE_MAX);
    }
    s->garbage = 0;
    pons_mcp_session_take(s->session, m);
    pons_value_unref(m);
    return PONS_OK;
}

static int take_input(client *s, pons_error *err)
{
    if (pons_buf_reserve(&s->in, READ_BYTES) < 0) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a message");
    }
    const ssize_t got = read(s->o->in_fd, s->in.data + s->in.len, READ_BYTES);
    if (got <= 0) {
        s->over = got == 0 || (errno != EAGAIN && errno != EINTR);
        return PONS_OK;
    }
    s->in.len += (size_t)got;
    size_t from = 0;
    int rc = PONS_OK;
    while (rc >= 0 && !s->over) {
        const size_t at = s->scanned > from ? s->scanned : from;
        const char *nl = memchr(s->in.data + at, '\n', s->in.len - at);
        if (!nl) {
            break;
        }
        const size_t end = (size_t)(nl - s->in.data);
        rc = take_line(s, s->in.data + from, end - from, err);
        from = end + 1;
    }
    if (from > 0) { // a long message comes in many pieces: it is not moved for each
        memmove(s->in.data, s->in.data + from, s->in.len - from);
        s->in.len -= from;
    }
    s->scanned = s->in.len;
    if (rc >= 0 && s->in.len > PONS__MCP_MESSAGE_MAX) {
        rc = pons_error_set(err, PONS_EPROTOCOL, PONS__MCP,
                            "the client sent a message of more than %d bytes",
                            PONS__MCP_MESSAGE_MAX);
    }
    return rc;
}

// ---- the loop -----------------------------------------------------------------------------------

static int turn(client *s, pons_error *err)
{
    struct pollfd p[FDS_MAX];
    int wait_ms = 0;
    p[0] = (struct pollfd){.fd = s->o->in_fd, .events = POLLIN};
    p[1] = (struct pollfd){.fd = s->o->stop_fd, .events = POLLIN};
    const size_t n = pons_mcp_host_fds(s->h, p + 2, FDS_MAX - 2, &wait_ms);
    poll(p, (nfds_t)(2 + n), wait_ms);
    s->over |= p[1].revents != 0;
    const int rc = p[0].revents ? take_input(s, err) : PONS_OK;
    if (rc >= 0) {
        pons_mcp_host_poll(s->h);
    }
    return rc;
}

int pons_mcp_serve(const pons_mcp_server_options *o, pons_error *err)
{
    client s = {.o = o};
    int rc = pons_mcp_host_open(o, &s.h, err);
    rc = rc < 0 ? rc : pons_mcp_session_open(s.h, say, &s, &s.session, err);
    while (rc >= 0 && !s.over) {
        rc = turn(&s, err);
    }
    pons_mcp_host_close(s.h);
    pons_buf_fini(&s.in);
    return rc;
}
