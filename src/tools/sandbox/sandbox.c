// sandbox.c - the wall: where a command runs that nobody was asked about.
//
// It is the kernel's, not a list's. A command gets namespaces of its own for users, mounts, network,
// processes, IPC and the host's name, and in them a file system that is put together for it:
//
//     /usr/bin /usr/lib ...     the programs, read-only
//     WORKSPACE                 read-only, nothing in it executable; an empty file or folder over
//                               everything hidden, protected or configuration, over run/, pons.db*,
//                               sockets, FIFOs and devices (read_write_guards.c finds them)
//     /tmp                      its own, small, gone afterwards
//     /dev/null zero urandom    no other device; no /proc, no /sys, no /etc but names of its user
//
// Inside: no capability, no new privilege, limits, Landlock as far as the kernel has it, and a list
// of system calls (seccomp.c). Each of these stands without the others; the namespaces are the
// one that must be there. Where the kernel lets only bubblewrap make them, bubblewrap does
// (bwrap.c); where nobody may, there is no wall, every command asks, and `pons doctor` says
// why.
//
// The child does all that between clone and execve, in a copy of a process with threads: everything
// that needs memory is made before, and what fails is told through a pipe.
#include "tools/sandbox/sandbox.h"

#include "pons/tools.h"
#include "tools/core/core.h"
#include "tools/core/read_write_guards.h"
#include "tools/sandbox/plan.h"
#include "tools/sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct pons__wall {
    pthread_mutex_t mtx;
    // [mtx]
    bool tried;
    unsigned way; // PONS__WALL_OWN, PONS__WALL_BWRAP, or 0
    char why[PONS__LINE_MAX];
    void *filter; // constant once tried
    size_t filter_bytes;
};

static atomic_uint permitted = PONS__WALL_OWN | PONS__WALL_BWRAP;

void pons__wall_permit(unsigned ways)
{
    atomic_store(&permitted, ways);
}

int pons__wall_create(const pons__core *c, pons__wall **ret)
{
    pons__wall *w = calloc(1, sizeof *w);
    if (!w) {
        return PONS_ENOMEM;
    }
    pthread_mutex_init(&w->mtx, NULL);
    *ret = w;
    return PONS_OK;
}

void pons__wall_destroy(pons__wall *w)
{
    if (w) {
        pthread_mutex_destroy(&w->mtx);
        free(w->filter);
        free(w);
    }
}

// ---- a plan -------------------------------------------------------------------------------------

static const char *const programs[] = {"/usr/bin",
                                       "/usr/lib",
                                       "/usr/lib32",
                                       "/usr/lib64",
                                       "/usr/libx32",
                                       "/usr/libexec",
                                       "/usr/local/bin",
                                       "/usr/local/lib",
                                       "/usr/share/misc",
                                       "/usr/share/file",
                                       "/usr/share/git-core",
                                       "/usr/share/locale",
                                       "/usr/share/zoneinfo",
                                       "/usr/share/python3",
                                       "/etc/alternatives",
                                       "/etc/ld.so.cache",
                                       "/etc/localtime"};

// On a machine where these are not parts of /usr.
static const char *const roots[] = {"/bin", "/lib", "/lib32", "/lib64", "/libx32"};

__attribute__((format(printf, 3, 4))) static void add_env(pons__plan *p, const char *name,
                                                          const char *fmt, ...)
{
    const size_t room = sizeof p->env_text - p->env_used;
    char *at = p->env_text + p->env_used;
    int n = snprintf(at, room, "%s=", name);
    va_list ap;
    va_start(ap, fmt);
    n += n < (int)room ? vsnprintf(at + n, room - (size_t)n, fmt, ap) : 0;
    va_end(ap);
    if (n > 0 && (size_t)n < room && p->n_env < PONS__PLAN_ENV) {
        p->env[p->n_env++] = at;
        p->env_used += (size_t)n + 1;
    } else {
        p->failed = true;
    }
}

static void add_place(pons__plan *p, const char *path)
{
    struct stat st;
    pons__place *place = &p->places[p->n_places];
    char target[PATH_MAX];
    if (lstat(path, &st) < 0) {
        return;
    }
    *place = (pons__place){.path = path};
    if (S_ISLNK(st.st_mode) && strncmp(path, "/etc/", 5) != 0) {
        const ssize_t n = readlink(path, target, sizeof target - 1);
        if (n <= 0 || (size_t)n >= sizeof place->link) {
            return;
        }
        memcpy(place->link, target, (size_t)n);
    } else {
        place->dir = S_ISDIR(st.st_mode);
        place->program = strncmp(path, "/etc/", 5) != 0;
    }
    p->n_places++;
}

// The names of the user alone; nobody's password file is looked into behind the wall.
static void add_user(pons__plan *p)
{
    struct passwd pw, *found = NULL;
    char text[4096];
    const bool known = getpwuid_r(geteuid(), &pw, text, sizeof text, &found) == 0 && found;
    const char *name = known && strlen(pw.pw_name) < 64 ? pw.pw_name : "user";
    snprintf(p->passwd, sizeof p->passwd, "%s:x:%u:%u::/:/bin/false\n", name, (unsigned)geteuid(),
             (unsigned)getegid());
    snprintf(p->group, sizeof p->group, "%s:x:%u:\n", name, (unsigned)getegid());
}

static void add_environment(pons__plan *p, const pons__run *run)
{
    const char *tz = getenv("TZ");
    add_env(p, "PATH", "/usr/local/bin:/usr/bin:/bin");
    add_env(p, "HOME", "/nonexistent");
    add_env(p, "TERM", "dumb");
    add_env(p, "LC_ALL", "C.UTF-8");
    add_env(p, "TMPDIR", "/tmp");
    if (tz && strlen(tz) < 64 && tz[0] != '/' && tz[0] != ':') {
        add_env(p, "TZ", "%s", tz);
    }
    if (!run->git) {
        return;
    }
    const bool there = run->git_dir && *run->git_dir;
    add_env(p, "GIT_DIR", "%s%s%s", there ? p->workspace : "", "/",
            there ? run->git_dir : "nonexistent");
    add_env(p, "GIT_WORK_TREE", "%s%s%s", p->workspace, there && *run->git_top ? "/" : "",
            there ? run->git_top : "");
    add_env(p, "GIT_CONFIG_NOSYSTEM", "1");
    add_env(p, "GIT_CONFIG_GLOBAL", "/dev/null");
    add_env(p, "GIT_CONFIG_SYSTEM", "/dev/null");
    add_env(p, "GIT_ATTR_NOSYSTEM", "1");
    add_env(p, "GIT_OPTIONAL_LOCKS", "0");
    add_env(p, "GIT_TERMINAL_PROMPT", "0");
    add_env(p, "GIT_PAGER", "cat");
    add_env(p, "PAGER", "cat");
    add_env(p, "GIT_NO_REPLACE_OBJECTS", "1");
    add_env(p, "GIT_NO_LAZY_FETCH", "1");
    add_env(p, "GIT_ALLOW_PROTOCOL", "none");
}

static bool add_mask(pons__plan *p, const char *path, bool dir)
{
    if (p->n_masks == PONS__PLAN_MASKS) {
        return false;
    }
    char *own = strdup(path);
    p->masks[p->n_masks] = (pons__mask){.path = own, .dir = dir};
    p->n_masks += own != NULL;
    return own != NULL;
}

// The repository that git looks at is seen, without its settings, hooks and what else could name a
// program or another place.
static bool add_git_masks(pons__plan *p, const pons__core *c, const char *git_dir)
{
    static const char *const names[] = {"config",    "config.worktree", "hooks",
                                        "modules",   "worktrees",       "info/attributes",
                                        "commondir", "gitdir",          "objects/info/alternates",
                                        "remotes",   "branches"};
    bool ok = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && ok; i++) {
        char path[PATH_MAX];
        struct stat st;
        const int n = snprintf(path, sizeof path, "%s/%s", git_dir, names[i]);
        if (n < (int)sizeof path && fstatat(c->root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            // A link in its place would be followed by git: then it sees no repository.
            ok = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? add_mask(p, path, S_ISDIR(st.st_mode))
                                                            : add_mask(p, git_dir, true);
        }
    }
    return ok;
}

static int make_plan(const pons__core *c, const pons__run *run, pons__plan **ret, pons_error *err)
{
    pons__plan *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for a command");
    }
    p->run = run;
    p->workspace = c->workspace;
    p->uid = geteuid();
    p->gid = getegid();
    p->filter = c->wall->filter;
    p->filter_bytes = c->wall->filter_bytes;
    bool ok = fstat(c->root_fd, &p->root) == 0 && strcmp(c->workspace, "/") != 0;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        add_place(p, programs[i]);
    }
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        add_place(p, roots[i]);
    }
    add_user(p);
    add_environment(p, run);
    for (size_t i = 0; run->masks && i < run->masks->n && ok; i++) {
        const pons__mask *m = &run->masks->at[i];
        ok = run->git && strcmp(m->path, run->git_dir) == 0 ? add_git_masks(p, c, m->path)
                                                            : add_mask(p, m->path, m->dir);
    }
    const char *name = run->argv[0];
    static const char *const dirs[] = {"/usr/bin", "/bin", "/usr/local/bin"};
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0] && !strchr(name, '/'); i++) {
        snprintf(p->program, sizeof p->program, "%s/%s", dirs[i], name);
        if (access(p->program, X_OK) == 0) {
            break;
        }
    }
    if (!ok || p->failed) {
        pons__plan_free(p);
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                              "more than %d places of %s would have to be masked", PONS__PLAN_MASKS,
                              c->workspace);
    }
    *ret = p;
    return PONS_OK;
}

void pons__plan_free(pons__plan *p)
{
    for (size_t i = 0; i < p->n_masks; i++) {
        free(p->masks[i].path);
    }
    free(p);
}

// ---- the child ----------------------------------------------------------------------------------

static void limits(const pons__run *run)
{
    const struct {
        int what;
        rlim_t most;
    } rows[] = {{RLIMIT_CORE, 0},
                {RLIMIT_FSIZE, (rlim_t)run->file_mb << 20},
                {RLIMIT_AS, (rlim_t)run->memory_mb << 20},
                {RLIMIT_NOFILE, 256},
                {RLIMIT_NPROC, 64},
                {RLIMIT_CPU, 600},
                {RLIMIT_MEMLOCK, 0},
                {RLIMIT_MSGQUEUE, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rlimit now;
        if (getrlimit((__rlimit_resource_t)rows[i].what, &now) == 0) {
            const rlim_t most = rows[i].most < now.rlim_max ? rows[i].most : now.rlim_max;
            now = (struct rlimit){most, most};
            setrlimit((__rlimit_resource_t)rows[i].what, &now);
        }
    }
}

static _Noreturn void become(pons__plan *p, int host)
{
    setsid();
    for (int s = 1; s < NSIG; s++) {
        signal(s, SIG_DFL);
    }
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    if (dup2(p->run->null, 0) < 0 || dup2(p->run->out, 1) < 0 || dup2(p->run->out, 2) < 0) {
        pons__wall_fail(p, "its output");
    }
    pons__wall_enter(p);
    pons__wall_bolt(p);
    // The host may have died while this was made: then nobody waits for it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct pollfd gone = {.fd = host, .events = POLLIN};
    if (host >= 0 && poll(&gone, 1, 0) > 0) {
        _exit(126);
    }
    // The report's pipe closes by itself; nothing else of the host's goes along.
    if (dup2(p->report_fd, 3) < 0 || fcntl(3, F_SETFD, FD_CLOEXEC) < 0 ||
        syscall(SYS_close_range, 4U, ~0U, 0U) < 0) {
        pons__wall_fail(p, "its files");
    }
    p->report_fd = 3;
    limits(p->run); // late: a sanitizer's own memory is more than the command gets
    pons__wall_filter(p);
    execve(p->program, (char *const *)(uintptr_t)p->run->argv, p->env);
    if (errno == ENOENT) {
        static const char text[] = "it is not installed\n";
        (void)!write(2, text, sizeof text - 1);
        _exit(127);
    }
    pons__wall_fail(p, "starting it");
}

// ---- the host -----------------------------------------------------------------------------------

static int start_own(pons__plan *p, pid_t *ret_pid, pons_error *err)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) {
        return pons_error_set(err, PONS_EENV, PONS__TOOLS, "cannot start a command: %s",
                              strerror(errno));
    }
    p->report_fd = report[1];
    const int host = (int)syscall(SYS_pidfd_open, getpid(), 0);
    const unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | SIGCHLD;
    const pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        become(p, host);
    }
    const int saved = errno;
    close(report[1]);
    if (host >= 0) {
        close(host);
    }
    int rc = PONS_OK;
    pons__wall_report r = {.error = 0};
    if (pid < 0) {
        rc = pons_error_set(err, PONS_EENV, PONS__TOOLS, "the kernel gives no namespaces: %s",
                            strerror(saved));
    } else if (read(report[0], &r, sizeof r) == (ssize_t)sizeof r) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
        rc = pons_error_set(err, PONS_EENV, PONS__TOOLS, "the sandbox cannot be made (%s): %s",
                            r.what, strerror(r.error));
    } else {
        *ret_pid = pid;
    }
    close(report[0]);
    return rc;
}

static int start_way(const pons__core *c, unsigned way, const pons__run *run, pid_t *ret_pid,
                     pons_error *err)
{
    pons__plan *p = NULL;
    int rc = make_plan(c, run, &p, err);
    if (rc >= 0) {
        rc = way == PONS__WALL_OWN ? start_own(p, ret_pid, err) : pons__wall_bwrap(p, ret_pid, err);
        pons__plan_free(p);
    }
    return rc;
}

// One command is really run behind it, with the programs and the workspace of this provider.
static int try_way(const pons__core *c, unsigned way, pons_error *err)
{
    static const char *const argv[] = {"true", NULL};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const pons__run run = {.argv = argv,
                           .cwd = ".",
                           .null = null,
                           .out = null,
                           .memory_mb = 1024,
                           .file_mb = 1,
                           .git_dir = "",
                           .git_top = ""};
    pid_t pid = -1;
    int status = 0;
    int rc = null < 0 ? pons_error_set(err, PONS_EENV, PONS__TOOLS, "no /dev/null") : PONS_OK;
    rc = rc < 0 ? rc : start_way(c, way, &run, &pid, err);
    if (rc >= 0) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            rc = pons_error_set(err, PONS_EENV, PONS__TOOLS, "%s: a trial ended with status %d",
                                way == PONS__WALL_OWN ? "namespaces" : "bubblewrap", status);
        }
    }
    if (null >= 0) {
        close(null);
    }
    return rc;
}

int pons__wall_ready(const pons__core *c, pons_error *err)
{
    pons__wall *w = c->wall;
    int rc = PONS_OK;
    pthread_mutex_lock(&w->mtx);
    if (!w->tried) {
        const unsigned ways = atomic_load(&permitted);
        pons_error own = PONS_ERROR_INIT, other = PONS_ERROR_INIT;
        w->tried = true;
        if (pons__filter_make(&w->filter, &w->filter_bytes, &own) < 0) {
            snprintf(w->why, sizeof w->why, "%s", own.message);
        } else if ((ways & PONS__WALL_OWN) && try_way(c, PONS__WALL_OWN, &own) >= 0) {
            w->way = PONS__WALL_OWN;
        } else if ((ways & PONS__WALL_BWRAP) && try_way(c, PONS__WALL_BWRAP, &other) >= 0) {
            w->way = PONS__WALL_BWRAP;
        } else {
            snprintf(w->why, sizeof w->why, "%.200s; %.200s",
                     *own.message ? own.message : "no namespaces",
                     *other.message ? other.message : "no bubblewrap");
        }
    }
    if (!w->way) {
        rc = pons_error_set(err, PONS_EENV, PONS__TOOLS, "there is no sandbox here (%s)", w->why);
    }
    pthread_mutex_unlock(&w->mtx);
    return rc;
}

void pons__wall_lost(const pons__core *c, const char *why)
{
    pthread_mutex_lock(&c->wall->mtx);
    c->wall->way = 0;
    snprintf(c->wall->why, sizeof c->wall->why, "%s", why);
    pthread_mutex_unlock(&c->wall->mtx);
}

int pons__wall_start(const pons__core *c, const pons__run *run, pid_t *ret_pid, pons_error *err)
{
    const int rc = pons__wall_ready(c, err);
    pthread_mutex_lock(&c->wall->mtx);
    const unsigned way = c->wall->way;
    pthread_mutex_unlock(&c->wall->mtx);
    return rc < 0 ? rc
           : !way ? pons_error_set(err, PONS_EENV, PONS__TOOLS, "the sandbox is gone")
                  : start_way(c, way, run, ret_pid, err);
}

int pons_core_tools_wall(const char *workspace, char *detail, size_t cap)
{
    pons_error err = PONS_ERROR_INIT;
    pons__core *c = calloc(1, sizeof *c);
    int rc = PONS_OK;
    if (!c || !realpath(workspace, c->workspace)) {
        rc = pons_error_set(&err, PONS_EENV, PONS__TOOLS, "cannot open %s: %s", workspace,
                            strerror(errno));
    } else {
        c->root_fd = open(c->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
        rc = c->root_fd < 0 || pons__wall_create(c, &c->wall) < 0
                 ? pons_error_set(&err, PONS_EENV, PONS__TOOLS, "cannot open %s", workspace)
                 : pons__wall_ready(c, &err);
    }
    if (rc >= 0) {
        snprintf(detail, cap, "made of: %s",
                 c->wall->way == PONS__WALL_OWN ? "namespaces of its own"
                                                : "bubblewrap, without Landlock");
    } else {
        snprintf(detail, cap, "%s", err.message);
    }
    if (c && c->root_fd > 0) {
        close(c->root_fd);
    }
    pons__wall_destroy(c ? c->wall : NULL);
    free(c);
    return rc;
}
