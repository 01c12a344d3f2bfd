// shell_process.c - a shell command with everything that it starts, ended as one.
//
//     host (pons) ---- control (socket pair) ---- subreaper ---- /bin/sh -c COMMAND ---- whatever
//                        'T', end of file -->                                |
//                        <-- wait status                                  orphans
//                                                     ^----------------------'
//
// Between pons and the shell stands a process of our own that the kernel makes the parent of every
// orphan below it (PR_SET_CHILD_SUBREAPER). A process that leaves the group and the session, forks
// twice or empties its environment is still below the subreaper, so it is found: when the shell has
// ended, or the host says so, or the host has died (all of them an event on a descriptor), the
// subreaper kills its children again and again until the kernel says that it has none.
//
// The subreaper is a fork of a process with threads: it calls only what is safe in a signal
// handler, keeps none of the host's descriptors, and never returns.
#include "tools/command/shell_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXEC_FAILED 126
#define MB          (1024L * 1024L)
#define SHELL       "/bin/sh"
#define CONTROL     3     // the subreaper's only descriptor beside the null ones
#define NAP_MS      1     // between two looks at children that are being killed
#define NAPS_MAX    10000 // what cannot be killed (another user's, or stuck in the kernel) is left

// ---- the shell ----------------------------------------------------------------------------------

static _Noreturn void become(const pons__shell_run *run, pid_t parent)
{
    char sh[] = "sh", dash_c[] = "-c";
    char *argv[] = {sh, dash_c, (char *)run->command, NULL};
    const struct rlimit none = {0, 0};
    const struct rlimit file = {(rlim_t)(run->file_mb * MB), (rlim_t)(run->file_mb * MB)};
    const struct rlimit memory = {(rlim_t)(run->memory_mb * MB), (rlim_t)(run->memory_mb * MB)};
    sigset_t empty;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXEC_FAILED); // the subreaper died meanwhile
    }
    for (int s = 1; s < NSIG; s++) {
        signal(s, SIG_DFL);
    }
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &file);
    if (run->memory_mb > 0) {
        setrlimit(RLIMIT_AS, &memory);
    }
    if (fchdir(run->cwd) < 0 || dup2(run->in, 0) < 0 || dup2(run->out, 1) < 0 ||
        dup2(run->out, 2) < 0) {
        _exit(EXEC_FAILED);
    }
    syscall(SYS_close_range, 3U, ~0U, 0U);
    execve(SHELL, argv, run->env);
    _exit(EXEC_FAILED);
}

// ---- the subreaper ------------------------------------------------------------------------------

static void kill_children(pid_t shell)
{
    char text[4096];
    long pid = 0;
    ssize_t n = 0;
    const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (pid > 1) {
                kill((pid_t)pid, SIGKILL);
            }
            pid = 0;
        }
    }
    if (fd >= 0) {
        close(fd);
    } else {
        kill(-shell, SIGKILL); // a kernel without that list: the group at least
    }
}

// Reaps what has ended. Returns false when no child is left.
static bool reap(pid_t shell, int *status)
{
    for (;;) {
        int s = 0;
        const pid_t pid = waitpid(-1, &s, WNOHANG);
        if (pid == shell) {
            *status = s;
        }
        if (pid <= 0) {
            return pid == 0 || errno == EINTR;
        }
    }
}

// Until the shell has ended, or the host says so or has died.
static void attend(pid_t shell)
{
    const int pidfd = (int)syscall(SYS_pidfd_open, shell, 0);
    for (;;) {
        struct pollfd p[] = {{.fd = CONTROL, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
        siginfo_t info = {.si_pid = 0};
        char said = 0;
        poll(p, 2, pidfd >= 0 ? -1 : 20); // without a descriptor the shell is looked for
        const ssize_t n = p[0].revents ? recv(CONTROL, &said, 1, MSG_DONTWAIT) : 1;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            break;
        }
        if (said == 'T') {
            kill(-shell, SIGTERM);
        }
        if (waitid(P_PID, (id_t)shell, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid) {
            break;
        }
    }
    if (pidfd >= 0) {
        close(pidfd);
    }
}

static _Noreturn void subreaper(const pons__shell_run *run, int control)
{
    int status = SIGKILL; // until it is known
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t self = getpid();
    const pid_t shell = _Fork();
    if (shell == 0) {
        become(run, self);
    }
    // The command's pipe must end with the command, and the host's files are none of ours.
    if (dup2(control, CONTROL) < 0) {
        _exit(EXEC_FAILED); // and with it the shell
    }
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < CONTROL; fd++) {
        if (null < 0 || dup2(null, fd) < 0) {
            close(fd);
        }
    }
    syscall(SYS_close_range, CONTROL + 1U, ~0U, 0U);
    if (shell < 0) {
        status = EXEC_FAILED << 8;
    } else {
        attend(shell);
        for (int naps = 0; naps < NAPS_MAX; naps++) {
            const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
            kill_children(shell);
            if (!reap(shell, &status)) {
                break;
            }
            nanosleep(&nap, NULL);
        }
    }
    send(CONTROL, &status, sizeof status, MSG_NOSIGNAL);
    _exit(0);
}

// ---- the host's side ----------------------------------------------------------------------------

bool pons__shell_start(const pons__shell_run *run, pons__shell *ret)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        return false;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        subreaper(run, pair[1]);
    }
    const int saved = errno;
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        errno = saved;
        return false;
    }
    *ret = (pons__shell){.pid = pid, .control = pair[0]};
    return true;
}

void pons__shell_terminate(const pons__shell *s)
{
    send(s->control, "T", 1, MSG_NOSIGNAL);
}

int pons__shell_end(pons__shell *s)
{
    int status = SIGKILL, own = 0;
    shutdown(s->control, SHUT_WR);
    while (waitpid(s->pid, &own, 0) < 0 && errno == EINTR) {
    }
    if (recv(s->control, &status, sizeof status, MSG_DONTWAIT) != (ssize_t)sizeof status) {
        status = SIGKILL; // the command has killed its subreaper, which ended the shell
    }
    close(s->control);
    *s = (pons__shell){.pid = -1, .control = -1};
    return status;
}
