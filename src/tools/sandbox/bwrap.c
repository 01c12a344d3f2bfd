// bwrap.c - the same wall by bubblewrap, for machines where the kernel lets it make namespaces
// and nobody else (a setuid bwrap, or a profile of AppArmor).
//
// The plan is the same, written as options. Two things are missing that bubblewrap 0.8 has no
// option for: the workspace is not mounted noexec, and there is no Landlock. The namespaces, the
// masks and the filter of system calls are the same.
#include "tools/core/core.h"
#include "tools/sandbox/plan.h"
#include "tools/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BWRAP     "/usr/bin/bwrap"
#define ARGS_MAX  (64 + 3 * (PONS__PLAN_PLACES + PONS__PLAN_MASKS) + PONS__ARGV_MAX)
#define TEXT_MAX  ((size_t)512 * 1024)
#define MASKS_MAX 700 // each empty file is a descriptor
#define FILES_MAX 1024

typedef struct options {
    const char *argv[ARGS_MAX + 1];
    size_t n, used;
    char text[TEXT_MAX];
    int fds[MASKS_MAX + 8];
    size_t n_fds;
    bool failed;
} options;

__attribute__((format(printf, 2, 3))) static const char *keep(options *o, const char *fmt, ...)
{
    char *at = o->text + o->used;
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(at, sizeof o->text - o->used, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof o->text - o->used) {
        o->failed = true;
        return "";
    }
    o->used += (size_t)n + 1;
    return at;
}

static void add(options *o, const char *word)
{
    if (o->n < ARGS_MAX) {
        o->argv[o->n++] = word;
    } else {
        o->failed = true;
    }
}

static void add3(options *o, const char *a, const char *b, const char *c)
{
    add(o, a);
    add(o, b);
    add(o, c);
}

// A file with this text, as a descriptor that bubblewrap reads.
static void add_data(options *o, const void *bytes, size_t n, const char *path)
{
    const int fd = n ? memfd_create("data", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (n && (write(fd, bytes, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)) ||
        o->n_fds == MASKS_MAX + 8) {
        o->failed = true;
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    o->fds[o->n_fds++] = fd;
    if (path) {
        add3(o, "--ro-bind-data", keep(o, "%d", fd), path);
    } else {
        add(o, "--seccomp");
        add(o, keep(o, "%d", fd));
    }
}

static void fill(options *o, const pons__plan *p)
{
    static const char *const begin[] = {
        "bwrap",      "--unshare-all", "--unshare-user", "--die-with-parent", "--cap-drop", "ALL",
        "--hostname", "wall",          "--size",         "67108864",          "--tmpfs",    "/tmp",
        "--dir",      "/dev"};
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom",
                                          "/dev/random"};
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++) {
        add(o, begin[i]);
    }
    for (size_t i = 0; i < p->n_places; i++) {
        const pons__place *at = &p->places[i];
        if (at->link[0]) {
            add3(o, "--symlink", at->link, at->path);
        } else {
            add3(o, "--ro-bind", at->path, at->path);
        }
    }
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        add3(o, "--dev-bind", devices[i], devices[i]);
    }
    add_data(o, p->passwd, strlen(p->passwd), "/etc/passwd");
    add_data(o, p->group, strlen(p->group), "/etc/group");
    add3(o, "--ro-bind", p->workspace, p->workspace);
    for (size_t i = 0; i < p->n_masks; i++) {
        const char *path = keep(o, "%s/%s", p->workspace, p->masks[i].path);
        if (p->masks[i].dir) {
            add3(o, "--tmpfs", path, "--remount-ro");
            add(o, path);
        } else {
            add_data(o, NULL, 0, path);
        }
    }
    add_data(o, p->filter, p->filter_bytes, NULL);
    add3(o, "--remount-ro", "/", "--chdir");
    add(o,
        strcmp(p->run->cwd, ".") == 0 ? p->workspace : keep(o, "%s/%s", p->workspace, p->run->cwd));
    add(o, "--");
    add(o, p->program);
    for (size_t i = 1; p->run->argv[i]; i++) {
        add(o, p->run->argv[i]);
    }
    o->argv[o->n] = NULL;
}

static _Noreturn void become(const pons__plan *p, const options *o, pid_t parent)
{
    const struct {
        __rlimit_resource_t what;
        rlim_t most;
    } rows[] = {{RLIMIT_CORE, 0},
                {RLIMIT_FSIZE, (rlim_t)p->run->file_mb << 20},
                {RLIMIT_AS, (rlim_t)p->run->memory_mb << 20},
                {RLIMIT_NOFILE, FILES_MAX}};
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(126);
    }
    for (int s = 1; s < NSIG; s++) {
        signal(s, SIG_DFL);
    }
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    if (dup2(p->run->null, 0) < 0 || dup2(p->run->out, 1) < 0 || dup2(p->run->out, 2) < 0) {
        _exit(126);
    }
    // Everything of the host's closes at execve, but what bubblewrap is given.
    syscall(SYS_close_range, 3U, ~0U, 4U); // 4U: CLOSE_RANGE_CLOEXEC
    for (size_t i = 0; i < o->n_fds; i++) {
        fcntl(o->fds[i], F_SETFD, 0);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rlimit now;
        if (getrlimit(rows[i].what, &now) == 0) {
            now.rlim_max = rows[i].most < now.rlim_max ? rows[i].most : now.rlim_max;
            now.rlim_cur = now.rlim_max;
            setrlimit(rows[i].what, &now);
        }
    }
    execve(BWRAP, (char *const *)(uintptr_t)o->argv, p->env);
    _exit(126);
}

int pons__wall_bwrap(pons__plan *p, pid_t *ret_pid, pons_error *err)
{
    options *o = calloc(1, sizeof *o);
    int rc = PONS_OK;
    if (o) {
        fill(o, p);
    }
    if (access(BWRAP, X_OK) < 0) {
        rc = pons_error_set(err, PONS_EENV, PONS__TOOLS, "there is no " BWRAP);
    } else if (!o || o->failed) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                            "bubblewrap cannot mask so many places of %s", p->workspace);
    } else {
        const pid_t self = getpid(), pid = fork();
        if (pid == 0) {
            become(p, o, self);
        }
        if (pid < 0) {
            rc = pons_error_set(err, PONS_EENV, PONS__TOOLS, "cannot start a command: %s",
                                strerror(errno));
        } else {
            *ret_pid = pid;
        }
    }
    for (size_t i = 0; o && i < o->n_fds; i++) {
        close(o->fds[i]);
    }
    free(o);
    return rc;
}
