// whole_file.c - a whole file of the workspace, read and put in another's place: no link is followed, and
// what is there is durable or as it was.
#include "tools/core/whole_file.h"

#include "pons/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEMP_NAME    32
#define NEW_MODE     0600
#define NEW_DIR_MODE 0755

void pons__place_hash(const void *bytes, size_t n, char ret[65])
{
    uint8_t digest[32];
    pons_sha256(bytes ? bytes : "", n, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(ret + 2 * i, 3, "%02x", digest[i]);
    }
}

int pons__place_folder(const pons__core *c, const char *path, bool make, pons_error *err)
{
    char part[PATH_MAX];
    int dir = fcntl(c->root_fd, F_DUPFD_CLOEXEC, 0);
    for (const char *at = path; dir >= 0;) {
        const char *slash = strchr(at, '/');
        if (!slash) {
            break;
        }
        snprintf(part, sizeof part, "%.*s", (int)(slash - at), at);
        if (make && mkdirat(dir, part, NEW_DIR_MODE) < 0 && errno != EEXIST) {
            const int saved = errno;
            close(dir);
            dir = -1;
            errno = saved;
            break;
        }
        const int next = openat(dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int saved = errno;
        close(dir);
        dir = next;
        errno = saved;
        at = slash + 1;
    }
    if (dir < 0 && errno == ENOENT && !make) {
        return PONS_ENOTFOUND;
    }
    if (dir < 0) {
        return pons_error_set(err, errno == ELOOP || errno == ENOTDIR ? PONS_EREFUSED : PONS_EIO,
                              PONS__TOOLS, "cannot write %s: %s", path,
                              errno == ENOTDIR || errno == ELOOP
                                  ? "a part of its path is a link or not a folder"
                                  : strerror(errno));
    }
    return dir;
}

int pons__place_read(int dir, const char *path, size_t most, pons_buf *ret, struct stat *ret_st,
                     pons_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS, "there is no %s", path);
    }
    int rc = fd < 0 || fstat(fd, ret_st) < 0
                 ? pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read %s: %s", path,
                                  strerror(errno))
                 : PONS_OK;
    if (rc >= 0 && (!S_ISREG(ret_st->st_mode) || (size_t)ret_st->st_size > most)) {
        rc = pons_error_set(err, PONS_EREFUSED, PONS__TOOLS,
                            S_ISREG(ret_st->st_mode)
                                ? "%s has more than the %zu bytes of which a version can be kept"
                                : "%s is no file",
                            path, most);
    }
    while (rc >= 0 && ret->len <= most) {
        if (pons_buf_reserve(ret, PONS__CHUNK) < 0) {
            rc = pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to read %s", path);
            break;
        }
        const ssize_t n = read(fd, ret->data + ret->len, PONS__CHUNK);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            rc = pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read %s: %s", path,
                                strerror(errno));
        }
        if (n <= 0) {
            break;
        }
        ret->len += (size_t)n;
        ret->data[ret->len] = '\0';
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

static int fill(const pons__work *w, int fd, const char *text, size_t n)
{
    while (n > 0) {
        const size_t piece = n < PONS__CHUNK ? n : PONS__CHUNK;
        const ssize_t wrote = write(fd, text, piece);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0 || (w && pons__stopped(w))) {
            return wrote < 0 ? PONS_EIO : PONS_ECANCELED;
        }
        text += wrote;
        n -= (size_t)wrote;
    }
    return fsync(fd) < 0 ? PONS_EIO : PONS_OK;
}

static bool unchanged(int dir, const char *name, const struct stat *old)
{
    struct stat now;
    return fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == old->st_ino &&
           now.st_dev == old->st_dev && now.st_size == old->st_size &&
           now.st_mtim.tv_sec == old->st_mtim.tv_sec && now.st_mtim.tv_nsec == old->st_mtim.tv_nsec;
}

int pons__place_put(int dir, const char *path, const void *bytes, size_t n, const struct stat *old,
                    mode_t mode, const pons__work *w, pons_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char temp[TEMP_NAME];
    pons_rand rand;
    pons_rand_seed_os(&rand);
    snprintf(temp, sizeof temp, ".pons-%08x.tmp", (unsigned)pons_rand_u64(&rand));
    const int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          mode  ? mode
                          : old ? old->st_mode & 0777
                                : NEW_MODE);
    if (fd < 0) {
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot write %s: %s", path,
                              strerror(errno));
    }
    int rc = fill(w, fd, bytes ? bytes : "", n);
    if (rc >= 0 && old && !unchanged(dir, name, old)) {
        rc = PONS_EBUSY;
    }
    if (rc >= 0 && renameat2(dir, temp, dir, name, old ? 0 : RENAME_NOREPLACE) < 0) {
        rc = errno == EEXIST ? PONS_EEXIST : PONS_EIO;
    }
    const int saved = errno;
    close(fd);
    if (rc < 0) {
        unlinkat(dir, temp, 0);
        return rc == PONS_ECANCELED ? pons__stopped_error(err)
               : rc == PONS_EBUSY
                   ? pons_error_set(
                         err, rc, PONS__TOOLS,
                         "%s has been changed by somebody else meanwhile: it was left as "
                         "it is",
                         path)
                   : pons_error_set(err, rc, PONS__TOOLS, "cannot write %s: %s", path,
                                    strerror(saved));
    }
    const int sync = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (sync >= 0) {
        fsync(sync);
        close(sync);
    }
    return PONS_OK;
}
