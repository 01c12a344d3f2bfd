// file.c - opening a file that a person has named.
#include "pons/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096 // bytes of the first piece of what tells no size

// A shell's: both ends were open when the name was made.
static bool is_nameless_pipe(int fd)
{
    char self[64], is[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(self, is, sizeof is);
    return n > 5 && memcmp(is, "pipe:", 5) == 0;
}

static int judge(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0) {
        return errno;
    }
    if (S_ISREG(st.st_mode)) {
        return 0;
    }
    const bool null = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
    const bool handed =
        S_ISFIFO(st.st_mode) ? is_nameless_pipe(fd) : S_ISCHR(st.st_mode) && (null || isatty(fd));
    return S_ISDIR(st.st_mode) ? EISDIR : handed ? 0 : EMEDIUMTYPE;
}

int pons_file_open(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const int why = fd < 0 ? (errno == ENXIO ? EMEDIUMTYPE : errno) : judge(fd); // ENXIO: a socket
    const int flags = why ? 0 : fcntl(fd, F_GETFL);
    if (why || flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0) {
        const int saved = why ? why : errno;
        if (fd >= 0) {
            close(fd);
        }
        return -saved;
    }
    return fd;
}

FILE *pons_file_read(const char *path)
{
    const int fd = pons_file_open(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    if (!f && fd >= 0) {
        close(fd);
    }
    errno = fd < 0 ? -fd : errno;
    return f;
}

char *pons_file_text(const char *path, size_t most, size_t *ret_n)
{
    const int fd = pons_file_open(path);
    struct stat st;
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    // As large as the file: a block for the most would teach malloc to keep that much for ever.
    const bool sized = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size <= most;
    size_t room = (sized ? (size_t)st.st_size : BLOCK) + 1, n = 0;
    char *text = malloc(room + 1);
    int why = text ? 0 : ENOMEM;
    for (ssize_t got = 1; !why && got != 0 && n <= most;) {
        if (n == room) {
            room = 2 * room <= most ? 2 * room : most + 1;
            char *more = realloc(text, room + 1);
            text = more ? more : text;
            why = more ? 0 : ENOMEM;
            continue;
        }
        got = read(fd, text + n, room - n);
        n += got > 0 ? (size_t)got : 0;
        why = got < 0 && errno != EINTR ? errno : 0;
    }
    close(fd);
    if (why) {
        free(text);
        errno = why;
        return NULL;
    }
    text[n] = '\0';
    *ret_n = n;
    return text;
}

const char *pons_file_why(int error)
{
    return error == EMEDIUMTYPE ? "it is no file, but a pipe, a socket or a device"
                                : strerror(error);
}

int pons_file_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash > path ? (size_t)(slash - path) : 1;
    char *dir = strndup(slash ? path : ".", n);
    const int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    const int rc = fd < 0 ? -1 : fsync(fd);
    const int why = errno;
    free(dir);
    if (fd >= 0) {
        close(fd);
    }
    errno = why;
    return rc;
}

int pons_file_lock(int fd, int wait_ms)
{
    const struct timespec step = {.tv_nsec = 1000000L};
    for (int left = wait_ms; flock(fd, LOCK_EX | LOCK_NB) < 0;) {
        if (errno != EINTR && (errno != EWOULDBLOCK || left-- <= 0)) {
            return -errno;
        }
        nanosleep(&step, NULL);
    }
    return 0;
}

int pons_file_replace(const char *path, const void *data, size_t n, mode_t mode)
{
    static atomic_uint count; // several threads of a process may write the same file
    char fresh[PATH_MAX + 48];
    snprintf(fresh, sizeof fresh, "%s.%ld.%u.new", path, (long)getpid(),
             atomic_fetch_add(&count, 1));
    errno = ENOSPC; // why a write is short
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    const bool ok = fd >= 0 && write(fd, data, n) == (ssize_t)n && fsync(fd) == 0;
    const bool named = ok && rename(fresh, path) == 0;
    const int why = named && pons_file_sync_folder(path) == 0 ? 0 : errno;
    if (fd >= 0) {
        close(fd);
    }
    if (!named) {
        unlink(fresh);
    }
    return -why;
}
