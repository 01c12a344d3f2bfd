// path.c - paths that stay inside the workspace.
//
// A path from a model is hostile text. It is made normal by its letters alone (no "..", nothing
// absolute that is not the workspace's), and then opened with openat2(2)'s RESOLVE_BENEATH, so that
// the kernel itself refuses every link that leads out, also one that was swapped in a moment ago.
// Where there is no openat2, each component is opened by itself and no link is followed at all.
//
// Nothing is opened for real before it is known to be a regular file: an O_PATH descriptor is
// looked at first (opening a device or a FIFO may have effects or block), and then reopened through
// /proc/self/fd, which is the same file whatever its name points at by then.
#include "tools/core/path.h"

#include "tools/core/core.h"
#include "tools/core/read_write_guards.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RACE_TRIES 8

int pons__path_normal(const pons__core *c, const char *path, char ret[PATH_MAX], pons_error *err)
{
    const size_t root = strlen(c->workspace);
    const char *at = path;
    size_t n = 0;
    if (strlen(path) >= PATH_MAX) {
        return pons_error_set(err, PONS_EINVAL, PONS__TOOLS, "the path is longer than %d bytes",
                              PATH_MAX - 1);
    }
    if (path[0] == '/') {
        if (strncmp(path, c->workspace, root) != 0 || (path[root] != '/' && path[root] != '\0')) {
            return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                                  "%s is outside the workspace; use a path relative to it", path);
        }
        at += root;
    }
    while (*at) {
        const size_t len = strcspn(at, "/");
        if (len == 2 && memcmp(at, "..", 2) == 0) {
            if (n == 0) {
                return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                                      "%s leads out of the workspace", path);
            }
            while (n > 0 && ret[--n] != '/') {
            }
        } else if (len > 0 && !(len == 1 && *at == '.')) {
            n += (size_t)snprintf(ret + n, PATH_MAX - n, "%s%.*s", n ? "/" : "", (int)len, at);
        }
        at += len + (at[len] == '/');
    }
    ret[n] = '\0';
    if (n == 0) {
        memcpy(ret, ".", 2);
    }
    return PONS_OK;
}

// Component by component, following no link.
static int walk(const pons__core *c, const char *normal, int flags)
{
    char part[NAME_MAX + 1];
    int dir = fcntl(c->root_fd, F_DUPFD_CLOEXEC, 0);
    for (const char *at = normal; dir >= 0;) {
        const size_t len = strcspn(at, "/");
        const bool last = at[len] == '\0';
        if (len > NAME_MAX) {
            close(dir);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, at, len);
        part[len] = '\0';
        const int fd = openat(
            dir, part, (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
        const int saved = errno;
        close(dir);
        errno = saved;
        struct stat st;
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) { // O_PATH opens the link itself
            close(fd);
            errno = ELOOP;
            return -1;
        }
        if (fd < 0 || last) {
            return fd;
        }
        dir = fd;
        at += len + 1;
    }
    return dir;
}

static int open_failed(const char *normal, int error, pons_error *err)
{
    switch (error) {
    case EXDEV:
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                              "%s is a link that leads out of the workspace", normal);
    case ELOOP:
        return pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is or goes through a link",
                              normal);
    case ENOENT:
        return pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS, "there is no %s", normal);
    default:
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot open %s: %s", normal,
                              strerror(error));
    }
}

int pons__path_open(const pons__core *c, const char *normal, int flags, bool follow,
                    pons_error *err)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY)),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
                                      (follow ? 0 : RESOLVE_NO_SYMLINKS)};
    long fd = -1;
    for (int i = 0; i < RACE_TRIES; i++) { // EAGAIN: a rename beneath us, the kernel can't be sure
        fd = syscall(SYS_openat2, c->root_fd, normal, &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN) {
            break;
        }
    }
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
        fd = walk(c, normal, flags);
    }
    return fd >= 0 ? (int)fd : open_failed(normal, errno, err);
}

// Whether a folder above is what a hidden name leads to.
static bool below_hidden(const pons__core *c, const char *real)
{
    char part[PATH_MAX];
    for (size_t i = 0; i < c->n_patterns; i++) {
        struct stat own, st;
        const char *name = c->patterns[i].text;
        name += strncmp(name, "**/", 3) == 0 ? 3 : 0;
        if (c->patterns[i].guard != PONS_GUARD_HIDDEN || strchr(name, '*') ||
            fstatat(c->root_fd, name, &own, 0) < 0 || !S_ISDIR(own.st_mode)) {
            continue;
        }
        for (const char *at = strchr(real, '/'); at; at = strchr(at + 1, '/')) {
            snprintf(part, sizeof part, "%.*s", (int)(at - real), real);
            if (fstatat(c->root_fd, part, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                st.st_dev == own.st_dev && st.st_ino == own.st_ino) {
                return true;
            }
        }
    }
    return false;
}

// Takes the O_PATH descriptor: what it is may be read, and is of a kind that is. *ret_st gets its state.
static int reopen(const pons__core *c, const char *normal, int path_fd, bool folders,
                  struct stat *ret_st, pons_error *err)
{
    int rc = PONS_OK, fd = -1;
    char real[PATH_MAX];
    if (fstat(path_fd, ret_st) < 0) {
        rc = pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot look at %s: %s", normal,
                            strerror(errno));
    } else if (pons__path_hidden(c, normal, ret_st) ||
               (pons__guard_real(c, path_fd, real) && // where a link has led
                (pons__guard_of(c, real) == PONS_GUARD_HIDDEN || below_hidden(c, real)))) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is hidden by the configuration",
                            normal);
    } else if (!S_ISREG(ret_st->st_mode) && !(folders && S_ISDIR(ret_st->st_mode))) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS, "%s is %s, not a file", normal,
                            pons__mode_name(ret_st->st_mode));
    } else {
        char self[64];
        snprintf(self, sizeof self, "/proc/self/fd/%d", path_fd);
        fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0) {
            rc = open_failed(normal, errno, err);
        }
    }
    close(path_fd);
    return rc < 0 ? rc : fd;
}

int pons__path_read(const pons__core *c, const char *normal, struct stat *ret_st, pons_error *err)
{
    const int path_fd = pons__path_open(c, normal, O_PATH, true, err);
    return path_fd < 0 ? path_fd : reopen(c, normal, path_fd, false, ret_st, err);
}

int pons__path_look(const pons__core *c, const char *normal, pons_error *err)
{
    struct stat st;
    const int path_fd = pons__path_open(c, normal, O_PATH, false, err);
    return path_fd < 0 ? path_fd : reopen(c, normal, path_fd, true, &st, err);
}

// By name, and by identity: a link or another hard link of a hidden file is hidden too.
bool pons__path_hidden(const pons__core *c, const char *normal, const struct stat *st)
{
    if (pons__guard_of(c, normal) == PONS_GUARD_HIDDEN) {
        return true;
    }
    for (size_t i = 0; i < c->n_patterns && st; i++) {
        struct stat own;
        const char *name = c->patterns[i].text;
        name += strncmp(name, "**/", 3) == 0 ? 3 : 0; // in the root, at least
        if (c->patterns[i].guard == PONS_GUARD_HIDDEN && !strchr(name, '*') &&
            fstatat(c->root_fd, name, &own, 0) == 0 && own.st_dev == st->st_dev &&
            own.st_ino == st->st_ino) {
            return true;
        }
    }
    return st && pons__guard_linked(c, st);
}

bool pons__path_protected(const pons__core *c, const char *normal)
{
    return pons__guard_of(c, normal) != PONS_GUARD_NONE;
}

const char *pons__mode_name(mode_t mode)
{
    return S_ISDIR(mode)                    ? "a directory"
           : S_ISFIFO(mode)                 ? "a FIFO"
           : S_ISSOCK(mode)                 ? "a socket"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
           : S_ISLNK(mode)                  ? "a link"
                                            : "a file";
}
