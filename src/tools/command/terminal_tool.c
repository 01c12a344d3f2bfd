// terminal_tool.c - terminal: a command, bounded in time and output, and ended as a whole.
//
// What nobody is asked about runs behind the wall (sandbox.c), as the words that the strict grammar
// read (safe_commands.c). What a person has approved is a line for the shell, and runs with the user's
// own rights.
//
// The latter gets a session of its own (no terminal to ask at), no input, a fresh environment
// without anybody's keys, and one pipe for what it says. It is over when the shell has ended; then,
// and on time-out or cancel, everything that it started is killed (shell_process.c), so that nothing of it
// stays behind.
//
// Of a long output the first three quarters and the end are kept: what went wrong stands at the
// end.
#include "tools/command/terminal_tool.h"

#include "pons/buf.h"
#include "pons/ext/tool.h"
#include "tools/command/command_risk.h"
#include "tools/command/safe_commands.h"
#include "tools/command/shell_process.h"
#include "tools/core/bytes_to_text.h"
#include "tools/core/call_ledger.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/core/read_write_guards.h"
#include "tools/core/whole_file.h"
#include "tools/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_S      60
#define TIMEOUT_MAX_S  600
#define TERM_GRACE_MS  500 // between SIGTERM and SIGKILL
#define DRAIN_MS       200 // for what is still in the pipe when the shell has ended
#define FILE_MB        1024
#define WALLED_MB      2048 // of memory, when the configuration says nothing
#define WALLED_FILE_MB 64   // of a file in its own /tmp
#define ENV_MAX        64
#define ENV_BYTES      4096
#define DEFAULT_PATH   "/usr/local/bin:/usr/bin:/bin"

typedef struct keeper { // the head of an output and its end
    pons_buf head;
    char *tail; // ring
    size_t head_max, tail_max, tail_at, total;
} keeper;

typedef struct child {
    pid_t pid;
    int out, pidfd;
    bool walled;       // the first of a namespace: all of it ends with it
    pons__shell shell; // when it is not
} child;

typedef enum ended { BY_ITSELF, BY_TIMEOUT, BY_CANCEL } ended;

// ---- what was promised --------------------------------------------------------------------------

// A call that the host was told is safe is not asked about; between that and its start the
// workspace may have changed. So what was promised is remembered, by a hash, and kept.
enum { PROMISES = 256 };
static struct {
    pthread_mutex_t mtx;
    uint64_t hashes[PROMISES];
    size_t n;
} promises = {.mtx = PTHREAD_MUTEX_INITIALIZER};

static uint64_t hash_call(const pons__core *c, const pons_value *args)
{
    uint64_t h = 14695981039346656037U;
    const char *const parts[] = {c->workspace, pons_get_str(args, "command", ""),
                                 pons_get_str(args, "cwd", ".")};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        for (const char *at = parts[i]; *at; at++) {
            h = (h ^ (unsigned char)*at) * 1099511628211U;
        }
        h = (h ^ 0xff) * 1099511628211U;
    }
    return h;
}

void pons__terminal_promise(const pons__core *c, const pons_value *args)
{
    pthread_mutex_lock(&promises.mtx);
    promises.hashes[promises.n++ % PROMISES] = hash_call(c, args);
    pthread_mutex_unlock(&promises.mtx);
}

// Each promise is for one start: what is asked about again may be approved.
static bool promised(const pons__core *c, const pons_value *args)
{
    const uint64_t h = hash_call(c, args);
    bool found = false;
    pthread_mutex_lock(&promises.mtx);
    for (size_t i = 0; i < PROMISES && !found; i++) {
        found = promises.hashes[i] == h;
        promises.hashes[i] = found ? 0 : promises.hashes[i];
    }
    pthread_mutex_unlock(&promises.mtx);
    return found;
}

// ---- output -------------------------------------------------------------------------------------

static void keep(keeper *k, const char *s, size_t n)
{
    k->total += n;
    const size_t room = k->head_max - k->head.len;
    const size_t first = n < room ? n : room;
    pons_buf_bytes(&k->head, s, first);
    for (size_t i = first; i < n; i++) {
        k->tail[k->tail_at++ % k->tail_max] = s[i];
    }
}

// Without the colours and cursor movements that programs write for terminals.
static void plain(pons_buf *b, const char *s, size_t n)
{
    pons_autobuf clean = PONS_BUF_INIT;
    for (size_t i = 0; i < n;) {
        if (s[i] == '\033') {
            i++;
            if (i < n && s[i] == '[') {
                for (i++; i < n && !(s[i] >= '@' && s[i] <= '~'); i++) {
                }
            } else if (i < n && s[i] == ']') {
                for (i++; i < n && s[i] != '\a' && s[i] != '\033'; i++) {
                }
            }
            i += i < n;
            continue;
        }
        if (s[i] != '\a' && !(s[i] == '\r' && i + 1 < n && s[i + 1] == '\n')) {
            pons_buf_byte(&clean, (uint8_t)s[i]);
        }
        i++;
    }
    pons__text_append(b, clean.data ? clean.data : "", clean.len, NULL);
}

static void report(pons__work *w, keeper *k)
{
    const bool cut = k->tail_at > k->tail_max;
    const size_t n = cut ? k->tail_max : k->tail_at;
    pons_autobuf rest = PONS_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        pons_buf_byte(&rest, (uint8_t)k->tail[(k->tail_at - n + i) % k->tail_max]);
    }
    if (!cut) { // one text after all
        pons_buf_bytes(&k->head, rest.data ? rest.data : "", rest.len);
        plain(&w->out, k->head.data ? k->head.data : "", k->head.len);
        return;
    }
    w->truncated = true;
    const size_t head = pons__text_cut(k->head.data, k->head.len);
    size_t from = 0;
    while (from < rest.len && ((unsigned char)rest.data[from] & 0xc0) == 0x80) {
        from++;
    }
    plain(&w->out, k->head.data, head);
    pons_buf_printf(&w->out, "\n[cut here: %zu bytes are left out]\n", k->tail_at - n);
    plain(&w->out, rest.data + from, rest.len - from);
}

// ---- while it runs ------------------------------------------------------------------------------

// Reads what is there; false at the end of the pipe.
static bool drain(const child *c, keeper *k)
{
    char buf[16384];
    for (;;) {
        const ssize_t n = read(c->out, buf, sizeof buf);
        if (n > 0) {
            keep(k, buf, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false;
        } else if (errno == EAGAIN) {
            return true;
        }
    }
}

static bool gone(const child *c)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

static ended attend(pons__work *w, const child *c, int64_t timeout_ms, keeper *k)
{
    const int64_t until = pons_now_ms(&w->core->clock) + timeout_ms;
    bool open = true;
    for (;;) {
        const int64_t left = until - pons_now_ms(&w->core->clock);
        if (pons__stopped(w)) {
            return BY_CANCEL;
        }
        if (gone(c)) {
            return BY_ITSELF;
        }
        if (left <= 0) {
            return BY_TIMEOUT;
        }
        struct pollfd p[] = {{.fd = w->cancel_fd, .events = POLLIN},
                             {.fd = c->pidfd, .events = POLLIN},
                             {.fd = open ? c->out : -1, .events = POLLIN}};
        const int nap = c->pidfd >= 0 ? 1000 : 20; // without a descriptor the shell is looked for
        poll(p, 3, left < nap ? (int)left : nap);
        if (p[2].revents) {
            open = drain(c, k);
        }
    }
}

// Ends all of it, takes the last of the output, and returns the command's status.
static int finish(child *c, keeper *k, bool gently)
{
    int status = 0;
    if (gently) {
        struct pollfd p = {.fd = c->pidfd, .events = POLLIN};
        if (c->walled) {
            kill(-c->pid, SIGTERM);
        } else {
            pons__shell_terminate(&c->shell);
        }
        poll(&p, c->pidfd >= 0, TERM_GRACE_MS);
    }
    if (c->walled) {
        kill(-c->pid, SIGKILL); // before it is reaped: its number is still its own
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
        }
    } else {
        status = pons__shell_end(&c->shell);
    }
    struct pollfd p = {.fd = c->out, .events = POLLIN};
    while (drain(c, k) && poll(&p, 1, DRAIN_MS) > 0) {
    }
    close(c->out);
    if (c->pidfd >= 0) {
        close(c->pidfd);
    }
    return status;
}

// ---- a call -------------------------------------------------------------------------------------

static void tell_end(pons__work *w, const keeper *k, ended how, int status, int64_t timeout_s)
{
    if (how == BY_TIMEOUT) {
        pons_buf_printf(&w->out, "\n[ended after %" PRId64 " s: it did not come to an end]",
                        timeout_s);
    } else if (WIFSIGNALED(status)) {
        pons_buf_printf(&w->out, "\n[ended by signal %d, %s]", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        pons_buf_printf(&w->out, "\n[exit status %d]", WEXITSTATUS(status));
    }
    w->data = pons_object(
        "exit", WIFEXITED(status) && how == BY_ITSELF ? json_integer(WEXITSTATUS(status)) : NULL,
        "signal", WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : NULL, "timed_out",
        json_boolean(how == BY_TIMEOUT), "bytes", json_integer((json_int_t)k->total), NULL);
}

static int launch(pons__work *w, const char *command, const char *path, const pons__command *safe,
                  child *ret, pons_error *err);

// Started, watched, ended.
static int run(pons__work *w, const char *command, const char *path, const pons__command *safe,
               int64_t timeout_s, pons_error *err)
{
    const size_t room = pons__conf_output(w->core);
    keeper k = {.head_max = room - room / 4, .tail_max = room / 4};
    k.tail = malloc(k.tail_max);
    child ch = {.pid = -1, .out = -1, .pidfd = -1, .walled = safe != NULL};
    char hash[65]; // not its words: a key may be among them, and the ledger outlives the chat
    pons__place_hash(command, strlen(command), hash);
    pons_autovalue what = pons_object("command_sha256", json_string(hash), NULL);
    int rc = !k.tail ? pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for output")
             : pons__stopped(w) ? pons__stopped_error(err)
                                : pons__call_ledger_begin(w->core->ledger, w->key, what, err);
    rc = rc < 0 ? rc : launch(w, command, path, safe, &ch, err);
    if (rc >= 0) {
        const ended how = attend(w, &ch, timeout_s * 1000, &k);
        const int status = finish(&ch, &k, how != BY_ITSELF);
        report(w, &k);
        if (how == BY_CANCEL) {
            rc = pons__stopped_error(err);
        } else {
            tell_end(w, &k, how, status, timeout_s);
        }
    }
    pons_buf_fini(&k.head);
    free(k.tail);
    return rc;
}

int pons__terminal(pons__work *w, pons_error *err)
{
    char path[PATH_MAX];
    const pons__core *c = w->core;
    const char *command = pons_get_str(w->args, "command", "");
    int64_t timeout_s =
        pons_get_int(w->args, "timeout_s", pons__conf(c, "terminal", "timeout_s", TIMEOUT_S));
    const int64_t most_s = pons__conf(c, "terminal", "timeout_max_s", TIMEOUT_MAX_S);
    timeout_s = timeout_s > most_s ? most_s : timeout_s;
    const char *where = pons_get_str(w->args, "cwd", ".");
    char reason[PONS__LINE_MAX];
    pons__command *safe = calloc(1, sizeof *safe);
    if (!safe) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for a command");
    }
    const bool must = promised(c, w->args);
    const pons_tool_risk risk = pons__command_risk(c, command, where, safe, reason, sizeof reason);
    int rc = PONS_OK;
    if (risk == PONS_TOOL_BLOCKED) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s", reason);
    } else if (risk != PONS_TOOL_SAFE && must) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                            "it was safe when it was looked at and is no longer: %s", reason);
    }
    rc = rc < 0 ? rc : pons__path_normal(c, where, path, err);
    rc = rc < 0 ? rc : run(w, command, path, risk == PONS_TOOL_SAFE ? safe : NULL, timeout_s, err);
    pons__command_fini(safe);
    free(safe);
    return rc;
}

// ---- starting -----------------------------------------------------------------------------------

typedef struct environment {
    char text[ENV_BYTES];
    size_t used;
    char *list[ENV_MAX + 1];
    size_t n;
} environment;

static void env_add(environment *e, const char *name, const char *value)
{
    const size_t room = sizeof e->text - e->used;
    const int n = value ? snprintf(e->text + e->used, room, "%s=%s", name, value) : -1;
    if (n > 0 && (size_t)n < room && e->n < ENV_MAX) {
        e->list[e->n++] = e->text + e->used;
        e->list[e->n] = NULL;
        e->used += (size_t)n + 1;
    }
}

// What every program expects, and what the configuration passes on. Nothing else: keys of models
// and servers are in the host's environment.
static void env_make(environment *e, const pons__core *c)
{
    static const char *const usual[] = {"HOME", "USER",     "LOGNAME", "LANG",  "LC_ALL",
                                        "TZ",   "LC_CTYPE", "TMPDIR",  "SHELL", "LANGUAGE"};
    const char *path = getenv("PATH");
    env_add(e, "PATH", path && *path ? path : DEFAULT_PATH);
    env_add(e, "TERM", "dumb");
    env_add(e, "PAGER", "cat");
    env_add(e, "GIT_TERMINAL_PROMPT", "0");
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        env_add(e, usual[i], getenv(usual[i]));
    }
    pons_each(name, pons__conf_value(c, "terminal", "pass_env")) {
        env_add(e, json_string_value(name), getenv(json_string_value(name)));
    }
}

// As somebody approved it: by a shell, with the user's own rights.
static int launch_shell(pons__work *w, const char *command, const char *path, int null, int out,
                        child *ret, pons_error *err)
{
    const pons__core *c = w->core;
    const int cwd = pons__path_open(c, path, O_RDONLY | O_DIRECTORY, true, err);
    if (cwd < 0) {
        return cwd;
    }
    environment *env = calloc(1, sizeof *env);
    bool started = false;
    if (env) {
        env_make(env, c);
        const pons__shell_run run = {.command = command,
                                     .env = env->list,
                                     .cwd = cwd,
                                     .in = null,
                                     .out = out,
                                     .file_mb = (long)pons__conf(c, "terminal", "file_mb", FILE_MB),
                                     .memory_mb = (long)pons__conf(c, "terminal", "memory_mb", 0)};
        started = pons__shell_start(&run, &ret->shell);
        ret->pid = ret->shell.pid;
    }
    const int rc = started ? PONS_OK
                           : pons_error_set(err, PONS_EENV, PONS__TOOLS,
                                            "cannot start a command: %s", strerror(errno));
    close(cwd);
    free(env);
    return rc;
}

// Behind the wall, as the words that were read.
static int launch_walled(pons__work *w, const char *path, const pons__command *safe, int null,
                         int out, child *ret, pons_error *err)
{
    const pons__core *c = w->core;
    pons__masks masks;
    int rc = pons__guards_walk(c, &masks, err);
    if (rc < 0) {
        pons__wall_lost(c, err->message); // from now on every command asks
        return rc;
    }
    const int64_t file = pons__conf(c, "terminal", "file_mb", FILE_MB);
    const pons__run plan = {.argv = (const char *const *)safe->argv,
                            .cwd = path,
                            .masks = &masks,
                            .git = safe->git,
                            .git_dir = safe->git_dir,
                            .git_top = safe->git_top,
                            .null = null,
                            .out = out,
                            .memory_mb = pons__conf(c, "terminal", "memory_mb", WALLED_MB),
                            .file_mb = file < WALLED_FILE_MB ? file : WALLED_FILE_MB};
    rc = pons__wall_start(c, &plan, &ret->pid, err);
    pons__masks_fini(&masks);
    return rc;
}

static int launch(pons__work *w, const char *command, const char *path, const pons__command *safe,
                  child *ret, pons_error *err)
{
    int pipe_fd[2] = {-1, -1};
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int rc = null < 0 || pipe2(pipe_fd, O_CLOEXEC) < 0
                 ? pons_error_set(err, PONS_EENV, PONS__TOOLS, "cannot start a command: %s",
                                  strerror(errno))
             : safe ? launch_walled(w, path, safe, null, pipe_fd[1], ret, err)
                    : launch_shell(w, command, path, null, pipe_fd[1], ret, err);
    if (rc >= 0) {
        ret->out = pipe_fd[0];
        pipe_fd[0] = -1;
        ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
        fcntl(ret->out, F_SETFL, O_NONBLOCK);
    }
    for (int i = 0; i < 2; i++) {
        if (pipe_fd[i] >= 0) {
            close(pipe_fd[i]);
        }
    }
    if (null >= 0) {
        close(null);
    }
    return rc;
}
