// killer.c - see killer.h.
#include "killer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
    (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC)

static bool is_writing(const struct __ptrace_syscall_info *i)
{
    static const long calls[] = {
        SYS_write,     SYS_pwrite64, SYS_writev,  SYS_pwritev,   SYS_renameat,
        SYS_renameat2, SYS_unlinkat, SYS_fsync,   SYS_fdatasync, SYS_ftruncate,
        SYS_mkdirat,   SYS_sendto,   SYS_sendmsg, SYS_fallocate, SYS_fchmod,
#ifdef SYS_open // arm64 has those with a folder alone
        SYS_rename,    SYS_unlink,   SYS_mkdir,   SYS_link,
#endif
    };
    const long nr = (long)i->entry.nr;
#ifdef SYS_open
    if (nr == SYS_open) {
        return i->entry.args[1] & O_CREAT;
    }
#endif
    if (nr == SYS_openat) {
        return i->entry.args[2] & O_CREAT;
    }
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        if (calls[k] == nr) {
            return true;
        }
    }
    return false;
}

void killer_wait(void)
{
    raise(SIGSTOP);
}

static bool stands_before_a_write(pid_t tid)
{
    struct __ptrace_syscall_info info = {0};
    return ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof info, &info) > 0 &&
           info.op == PTRACE_SYSCALL_INFO_ENTRY && is_writing(&info);
}

bool killer_run(killer *k, pid_t pid)
{
    k->calls = 0;
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(long)OPTIONS) < 0) {
        return false;
    }
    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
    kill(pid, SIGCONT); // of killer_wait
    bool killed = false;
    for (;;) {
        int status;
        const pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno == EINTR) {
            continue;
        }
        if (tid < 0) {
            return false;
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (tid == pid) {
                k->status = status;
                return true;
            }
            continue;
        }
        long deliver = WSTOPSIG(status);
        const bool of_ptrace = status >> 16 != 0; // an event's, a group's stop
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            deliver = 0;
            if (!killed && stands_before_a_write(tid)) {
                k->calls++;
                if (k->before) {
                    k->before(k->user, k->calls);
                }
                if (k->calls == k->at) {
                    kill(pid, SIGKILL);
                    killed = true;
                    continue;
                }
            }
        } else if (of_ptrace || deliver == SIGTRAP || deliver == SIGSTOP || deliver == SIGCONT) {
            deliver = 0;
        }
        if (!killed) {
            ptrace(PTRACE_SYSCALL, tid, NULL, (void *)deliver);
        }
    }
}
