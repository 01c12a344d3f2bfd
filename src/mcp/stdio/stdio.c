// stdio.c - a server that is a process: messages are lines of its standard input and output.
//
// What it writes to standard error is its log. It gets a session of its own, so that it ends with
// whatever it has started, and the environment that such servers expect: not the host's, which has
// keys in it, but the few names that every program needs, and the entry's own.
#include "mcp/json_rpc.h"
#include "mcp/wire.h"
#include "pons/buf.h"
#include "pons/surrogates.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GARBAGE_MAX  1000 // lines in a row that are no message
#define OUT_MAX      (2 * (size_t)PONS__MCP_MESSAGE_MAX)
#define END_WAIT_MS  400 // for the end of its input to be understood, and again after SIGTERM
#define READ_BYTES   65536
#define EXEC_FAILED  127
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define SHOWN_BYTES  120 // of a line that is no message

typedef struct process {
    pid_t pid;
    int in, out, errors, pidfd; // its own names: we write `in`
    pons_buf to, from;          // queued for it; read and not yet a whole line
    size_t sent, scanned;       // of `to`; of `from`: known to have no newline
    bool ended;
    unsigned garbage;
    pons__mcp_log *log;
} process;

// ---- ending -------------------------------------------------------------------------------------

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

static void drain_errors(process *p)
{
    char buf[4096];
    for (ssize_t n = 1; p->errors >= 0 && n > 0;) {
        n = read(p->errors, buf, sizeof buf);
        if (n > 0) {
            pons__mcp_log_bytes(p->log, buf, (size_t)n);
        } else if (n == 0) {
            close_fd(&p->errors);
        }
    }
}

static void stdio_hang_up(void *self)
{
    close_fd(&((process *)self)->in);
}

static void wait_end(const process *p)
{
    struct pollfd f = {.fd = p->pidfd, .events = POLLIN};
    poll(&f, p->pidfd >= 0, END_WAIT_MS);
}

// Its input ends, then it is asked, then it is killed, with all that it has started.
static void stdio_close(void *self)
{
    process *p = self;
    if (!p) {
        return;
    }
    close_fd(&p->in);
    if (p->pid > 0) {
        wait_end(p);
        kill(-p->pid, SIGTERM);
        wait_end(p);
        kill(-p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        drain_errors(p);
    }
    close_fd(&p->out);
    close_fd(&p->errors);
    close_fd(&p->pidfd);
    pons_buf_fini(&p->to);
    pons_buf_fini(&p->from);
    free(p);
}

// ---- starting -----------------------------------------------------------------------------------

static char **environment(const pons_value *own)
{
    static const char *const usual[] = {"HOME",
                                        "LOGNAME",
                                        "PATH",
                                        "SHELL",
                                        "TERM",
                                        "USER",
                                        "LANG",
                                        "LC_ALL",
                                        "TMPDIR",
                                        "TZ",
                                        "SSL_CERT_FILE",
                                        "SSL_CERT_DIR",
                                        "NODE_EXTRA_CA_CERTS"};
    const size_t n = sizeof usual / sizeof usual[0];
    char **list = calloc(n + json_object_size(own) + 2, sizeof *list);
    size_t used = 0;
    for (size_t i = 0; list && i < n; i++) {
        const char *value = getenv(usual[i]);
        value = !value && strcmp(usual[i], "PATH") == 0 ? DEFAULT_PATH : value;
        if (value && !pons_get(own, usual[i]) &&
            asprintf(&list[used], "%s=%s", usual[i], value) >= 0) {
            used++;
        }
    }
    pons_each_member(key, v, own) {
        if (list && asprintf(&list[used], "%s=%s", key, json_string_value(v)) >= 0) {
            used++;
        }
    }
    return list;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++) {
        free(list[i]);
    }
    free(list);
}

static char **arguments(const char *command, const pons_value *args)
{
    char **list = calloc(json_array_size(args) + 2, sizeof *list);
    if (list) {
        list[0] = strdup(command);
    }
    pons_each(v, args) {
        if (list) {
            list[v_at + 1] = strdup(json_string_value(v));
        }
    }
    return list;
}

static const char *path_of(char *const *env)
{
    for (size_t i = 0; env[i]; i++) {
        if (strncmp(env[i], "PATH=", 5) == 0) {
            return env[i] + 5;
        }
    }
    return DEFAULT_PATH;
}

// The program's path, looked for before the fork: after it nothing may be allocated.
static int find_program(const char *command, const char *path, const char *cwd, char *ret,
                        size_t cap)
{
    if (strchr(command, '/')) {
        const int n = command[0] == '/' ? snprintf(ret, cap, "%s", command)
                                        : snprintf(ret, cap, "%s/%s", cwd, command);
        return n < (int)cap && access(ret, X_OK) == 0 ? PONS_OK : PONS_ENOTFOUND;
    }
    while (*path) {
        const size_t len = strcspn(path, ":");
        const int n = snprintf(ret, cap, "%.*s/%s", (int)len, path, command);
        if (n < (int)cap && access(ret, X_OK) == 0) {
            return PONS_OK;
        }
        path += len + (path[len] == ':');
    }
    return PONS_ENOTFOUND;
}

static _Noreturn void become(const char *program, char *const *argv, char *const *env,
                             const char *cwd, const int fds[3], pid_t parent)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(EXEC_FAILED);
    }
    for (int s = 1; s < NSIG; s++) {
        signal(s, SIG_DFL);
    }
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    if (chdir(cwd) < 0 || dup2(fds[0], 0) < 0 || dup2(fds[1], 1) < 0 || dup2(fds[2], 2) < 0) {
        _exit(EXEC_FAILED);
    }
    syscall(SYS_close_range, 3U, ~0U, 0U);
    execve(program, argv, env);
    _exit(EXEC_FAILED);
}

static int launch(process *p, const pons_value *spec, const char *workspace, pons_error *err)
{
    char cwd[4096], program[4096];
    const char *command = pons_get_str(spec, "command", ""),
               *where = pons_get_str(spec, "cwd", ".");
    int to[2] = {-1, -1}, from[2] = {-1, -1}, errors[2] = {-1, -1};
    snprintf(cwd, sizeof cwd, "%s%s%s", where[0] == '/' ? "" : workspace,
             where[0] == '/' ? "" : "/", where);
    char **argv = arguments(command, pons_get(spec, "args"));
    char **env = environment(pons_get(spec, "env"));
    int rc = PONS_OK;
    if (!argv || !env) {
        rc = pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room to start %s", command);
    } else if (access(cwd, X_OK) < 0) {
        rc = pons_error_set(err, PONS_EENV, PONS__MCP, "cannot work in %s: %s", cwd,
                            strerror(errno));
    } else if (find_program(command, path_of(env), cwd, program, sizeof program) < 0) {
        rc = pons_error_set(err, PONS_EENV, PONS__MCP, "there is no program %s", command);
    } else if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0 ||
               pipe2(errors, O_CLOEXEC) < 0) {
        rc = pons_error_set(err, PONS_EENV, PONS__MCP, "cannot start %s: %s", command,
                            strerror(errno));
    } else {
        const int fds[3] = {to[0], from[1], errors[1]};
        const pid_t self = getpid();
        p->pid = fork();
        if (p->pid == 0) {
            become(program, argv, env, cwd, fds, self);
        }
        if (p->pid < 0) {
            rc = pons_error_set(err, PONS_EENV, PONS__MCP, "cannot start %s: %s", command,
                                strerror(errno));
        } else {
            p->in = to[1];
            p->out = from[0];
            p->errors = errors[0];
            to[1] = from[0] = errors[0] = -1;
            p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
            fcntl(p->in, F_SETFL, O_NONBLOCK);
            fcntl(p->out, F_SETFL, O_NONBLOCK);
            fcntl(p->errors, F_SETFL, O_NONBLOCK);
        }
    }
    const int left[] = {to[0], to[1], from[0], from[1], errors[0], errors[1]};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        if (left[i] >= 0) {
            close(left[i]);
        }
    }
    free_list(argv);
    free_list(env);
    return rc;
}

static int stdio_open(const pons_value *spec, const char *workspace, pons__mcp_log *log, void **ret,
                      pons_error *err)
{
    process *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a server");
    }
    *p = (process){.pid = -1, .in = -1, .out = -1, .errors = -1, .pidfd = -1, .log = log};
    const int rc = launch(p, spec, workspace, err);
    if (rc < 0) {
        stdio_close(p);
        return rc;
    }
    *ret = p;
    return PONS_OK;
}

// ---- messages -----------------------------------------------------------------------------------

static void flush(process *p)
{
    while (p->in >= 0 && p->sent < p->to.len) {
        const ssize_t n = write(p->in, p->to.data + p->sent, p->to.len - p->sent);
        if (n < 0) {
            if (errno != EAGAIN && errno != EINTR) {
                close_fd(&p->in); // its end is seen when it is read
            }
            break;
        }
        p->sent += (size_t)n;
    }
    if (p->sent == p->to.len) {
        pons_buf_clear(&p->to);
        p->sent = 0;
    }
}

static int stdio_send(void *self, const char *text, size_t n, int64_t id, pons_error *err)
{
    process *p = self;
    if (p->to.len - p->sent + n > OUT_MAX) {
        return pons_error_set(err, PONS_EBUSY, PONS__MCP,
                              "the server does not read what it is sent");
    }
    if (pons_buf_bytes(&p->to, text, n) < 0 || pons_buf_byte(&p->to, '\n') < 0) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a message");
    }
    flush(p);
    return PONS_OK;
}

static void stdio_begun(void *self, const char *version)
{
}

static int stdio_fds(void *self, struct pollfd *f)
{
    process *p = self;
    flush(p);
    f[0] = (struct pollfd){.fd = p->out, .events = POLLIN};
    f[1] = (struct pollfd){.fd = p->errors, .events = POLLIN};
    f[2] = (struct pollfd){.fd = p->to.len > p->sent ? p->in : -1, .events = POLLOUT};
    return 3;
}

static int over(process *p, pons_error *err)
{
    int status = 0;
    drain_errors(p);
    wait_end(p);
    if (waitpid(p->pid, &status, WNOHANG) != p->pid) {
        return pons_error_set(err, PONS_ECLOSED, PONS__MCP, "the server closed its output");
    }
    kill(-p->pid, SIGKILL); // what it left
    p->pid = -1;
    return WIFSIGNALED(status)
               ? pons_error_set(err, PONS_ECLOSED, PONS__MCP, "the server was killed by signal %d",
                                WTERMSIG(status))
               : pons_error_set(err, PONS_ECLOSED, PONS__MCP, "the server ended with status %d",
                                WEXITSTATUS(status));
}

// One line out of `from`: a message, or something to be noted.
static int take_line(process *p, size_t n, pons_value **ret, pons_error *err)
{
    pons_error bad = PONS_ERROR_INIT;
    const char *line = p->from.data;
    size_t len = n;
    len -= len > 0 && line[len - 1] == '\r';
    int rc = 0;
    if (len > 0 && pons_surrogates_parse(line, len, ret, &bad) >= 0) {
        p->garbage = 0;
        rc = 1;
    } else if (len > 0) {
        pons__mcp_log_note(p->log, "not a message: %.*s",
                           (int)(len < SHOWN_BYTES ? len : SHOWN_BYTES), line);
        if (++p->garbage > GARBAGE_MAX) {
            rc = pons_error_set(err, PONS_EPROTOCOL, PONS__MCP,
                                "the server wrote %d lines that are no messages", GARBAGE_MAX);
        }
    }
    memmove(p->from.data, p->from.data + n + 1, p->from.len - n - 1);
    p->from.len -= n + 1;
    p->scanned = 0;
    return rc;
}

static int stdio_next(void *self, pons_value **ret, pons_error *err)
{
    process *p = self;
    drain_errors(p);
    for (;;) {
        const char *nl = p->from.len > p->scanned
                             ? memchr(p->from.data + p->scanned, '\n', p->from.len - p->scanned)
                             : NULL;
        if (nl) {
            const int rc = take_line(p, (size_t)(nl - p->from.data), ret, err);
            if (rc != 0) {
                return rc;
            }
            continue;
        }
        p->scanned = p->from.len;
        if (p->from.len > PONS__MCP_MESSAGE_MAX) {
            return pons_error_set(err, PONS_EPROTOCOL, PONS__MCP,
                                  "the server sent a message of more than %d bytes",
                                  PONS__MCP_MESSAGE_MAX);
        }
        if (p->ended) {
            return over(p, err);
        }
        if (pons_buf_reserve(&p->from, READ_BYTES) < 0) {
            return pons_error_set(err, PONS_ENOMEM, PONS__MCP, "no room for a message");
        }
        const ssize_t n = read(p->out, p->from.data + p->from.len, READ_BYTES);
        if (n > 0) {
            p->from.len += (size_t)n;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            p->ended = true;
        } else if (errno == EAGAIN) {
            return 0;
        }
    }
}

const pons__wire_ops pons__wire_stdio = {
    .name = "stdio",
    .open = stdio_open,
    .hang_up = stdio_hang_up,
    .close = stdio_close,
    .send = stdio_send,
    .begun = stdio_begun,
    .fds = stdio_fds,
    .next = stdio_next,
};
