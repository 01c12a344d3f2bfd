// seccomp.c - the system calls of a command behind the wall: those on this list, and no other.
//
// What is not named fails with EPERM; so what a later kernel brings is closed until somebody has
// looked at it. A call of another ABI (x32 and 32-bit on x86-64) ends the process. Of clone only
// what makes a process or a thread is left, not what makes a namespace; clone3, whose flags a
// filter cannot read, is said not to exist, and libc falls back to clone.
#include "tools/sandbox/seccomp.h"

#include "tools/core/core.h"

#include <seccomp.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NAMESPACES                                                                                 \
    ((scmp_datum_t)(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC |     \
                    CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_PTRACE | CLONE_UNTRACED | 0x80U))
// 0x80U: CLONE_NEWTIME

// Reading, memory, processes of one's own, time; and a file of its own in its own /tmp: everything else is read-only
// to the kernel. A name that this machine's kernel or libseccomp does not know is passed over.
static const char plain[] = {
#include "tools/sandbox/syscalls.txt.h"
};

// Programs ask for these and do without.
static const char *const without[] = {"getxattr",  "lgetxattr",  "fgetxattr",
                                      "listxattr", "llistxattr", "flistxattr"};

static int only_when(scmp_filter_ctx f, const char *name, unsigned arg, uint64_t value)
{
    const int nr = seccomp_syscall_resolve_name(name);
    return nr == __NR_SCMP_ERROR
               ? 0
               : seccomp_rule_add(f, SCMP_ACT_ALLOW, nr, 1,
                                  SCMP_CMP64(arg, SCMP_CMP_EQ, (scmp_datum_t)value));
}

static int fill(scmp_filter_ctx f)
{
    int rc = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    char names[sizeof plain], *left = NULL;
    memcpy(names, plain, sizeof plain);
    for (char *n = strtok_r(names, "\n", &left); n && rc == 0; n = strtok_r(NULL, "\n", &left)) {
        const int nr = seccomp_syscall_resolve_name(n);
        rc = nr == __NR_SCMP_ERROR ? 0 : seccomp_rule_add(f, SCMP_ACT_ALLOW, nr, 0);
    }
    for (size_t i = 0; i < sizeof without / sizeof without[0] && rc == 0; i++) {
        const int nr = seccomp_syscall_resolve_name(without[i]);
        rc = nr == __NR_SCMP_ERROR ? 0 : seccomp_rule_add(f, SCMP_ACT_ERRNO(EOPNOTSUPP), nr, 0);
    }
    rc = rc ? rc
            : seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                               SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, NAMESPACES, 0));
    rc = rc ? rc : seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    // Limits are asked for, and not set.
    rc = rc ? rc : only_when(f, "prlimit64", 2, 0);
    static const int fcntls[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL,
                                 F_SETFL, F_GETLK,         F_SETLK, F_SETLKW};
    for (size_t i = 0; i < sizeof fcntls / sizeof fcntls[0] && rc == 0; i++) {
        rc = only_when(f, "fcntl", 1, (uint64_t)fcntls[i]);
    }
    // Whether it is a terminal, and how wide. Never TIOCSTI, never a device's own.
    static const uint64_t ioctls[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX, FIONCLEX};
    for (size_t i = 0; i < sizeof ioctls / sizeof ioctls[0] && rc == 0; i++) {
        rc = only_when(f, "ioctl", 1, ioctls[i]);
    }
    rc = rc ? rc : only_when(f, "prctl", 0, PR_SET_NAME);
    rc = rc ? rc : only_when(f, "prctl", 0, PR_GET_NAME);
    return rc ? rc : only_when(f, "prctl", 0, PR_SET_PDEATHSIG);
}

int pons__filter_make(void **ret, size_t *ret_bytes, pons_error *err)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    const int fd = f ? memfd_create("filter", MFD_CLOEXEC) : -1;
    int rc = fd < 0 ? -ENOMEM : fill(f);
    rc = rc ? rc : seccomp_export_bpf(f, fd);
    const off_t n = rc ? 0 : lseek(fd, 0, SEEK_END);
    void *bytes = n > 0 ? malloc((size_t)n) : NULL;
    if (!bytes || pread(fd, bytes, (size_t)n, 0) != n) {
        free(bytes);
        bytes = NULL;
    }
    if (fd >= 0) {
        close(fd);
    }
    seccomp_release(f);
    if (!bytes) {
        return pons_error_set(err, PONS_EENV, PONS__TOOLS,
                              "cannot make a filter of system calls: %s",
                              strerror(rc ? -rc : ENOMEM));
    }
    *ret = bytes;
    *ret_bytes = (size_t)n;
    return PONS_OK;
}
