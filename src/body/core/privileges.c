// privileges.c - what a body's process gives up before it begins.
//
//   environment     only the names below stay; the others are overwritten where they are, so that
//                   /proc/PID/environ has no key, no password and no token either
//   memory          not dumpable: no core file, no ptrace, and /proc/PID is root's, also for
//                   other processes of the same user
//   capabilities    CAP_SYS_NICE (SCHED_FIFO) and CAP_IPC_LOCK (locked memory), if they were there;
//                   nothing can be gained by executing a program
//
// So a body that root starts has no right to other users' files: its workspace is root's own.
#include "pons/body.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULE "body"

static bool stays(const char *entry)
{
    static const char *const names[] = {"HOME",
                                        "PATH",
                                        "USER",
                                        "LOGNAME",
                                        "LANG",
                                        "LANGUAGE",
                                        "LC_ALL",
                                        "LC_CTYPE",
                                        "LC_MESSAGES",
                                        "TZ",
                                        "TMPDIR",
                                        "PONS_WORKSPACE",
                                        "PONS_SHARE",
                                        "PONS_MODULE_PATH",
                                        "PONS_LOG",
                                        "ROS_DOMAIN_ID",
                                        "ROS_DISTRO",
                                        "ROS_LOCALHOST_ONLY",
                                        "ROS_AUTOMATIC_DISCOVERY_RANGE",
                                        "CYCLONEDDS_URI",
                                        "ASAN_OPTIONS",
                                        "UBSAN_OPTIONS",
                                        "TSAN_OPTIONS",
                                        "LSAN_OPTIONS",
                                        "LD_LIBRARY_PATH",
                                        "XDG_CONFIG_HOME"};
    // Where Gazebo is found; the name and the password that its transport may have do not stay.
    static const char *const gazebo[] = {"IGN_PARTITION",
                                         "IGN_IP",
                                         "IGN_RELAY",
                                         "IGN_DISCOVERY_MSG_PORT",
                                         "IGN_DISCOVERY_SRV_PORT",
                                         "IGN_DISCOVERY_MULTICAST_IP"};
    const size_t n = strcspn(entry, "=");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == n && strncmp(entry, names[i], n) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof gazebo / sizeof gazebo[0]; i++) {
        if (strlen(gazebo[i]) == n && strncmp(entry, gazebo[i], n) == 0) {
            return true;
        }
    }
    return false;
}

static void clear_environment(void)
{
    size_t kept = 0;
    for (size_t i = 0; environ && environ[i]; i++) {
        if (stays(environ[i])) {
            environ[kept++] = environ[i];
        } else {
            explicit_bzero(environ[i], strlen(environ[i]));
        }
    }
    if (environ) {
        environ[kept] = NULL;
    }
}

static int drop_capabilities(pons_error *err)
{
    const uint64_t named = UINT64_C(1) << CAP_SYS_NICE | UINT64_C(1) << CAP_IPC_LOCK;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = {0};
    // The bounding set can be cut only by who has CAP_SETPCAP; without it no_new_privs does it.
    for (int c = 0; c <= CAP_LAST_CAP; c++) {
        if (!(named >> c & 1)) {
            (void)prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
        }
    }
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capget, &header, caps) == 0) {
        for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
            caps[i].permitted &= (uint32_t)(named >> (32 * i));
            caps[i].effective = caps[i].permitted;
            caps[i].inheritable = 0;
        }
        if (syscall(SYS_capset, &header, caps) == 0) {
            return PONS_OK;
        }
    }
    return pons_error_set(err, PONS_EENV, MODULE, "cannot give up capabilities: %s",
                          strerror(errno));
}

int pons_body_confine(pons_error *err)
{
    clear_environment();
    const int rc = drop_capabilities(err);
    if (rc < 0) {
        return rc;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) {
        return pons_error_set(err, PONS_EENV, MODULE, "cannot give up privileges: %s",
                              strerror(errno));
    }
    return PONS_OK;
}
