// lock_file.c - one lock file a thread.
//
// The lock is an open-file-description lock (fcntl F_OFD_SETLK) on a file in "<db>-locks/": the
// kernel frees it when the last descriptor of that open file is gone, which is at once when the
// holder is killed and never while it is merely stopped. Close-on-exec keeps it from programs that
// the holder starts; a child that is just between fork and exec when the holder is killed is waited
// for. Two opens in one process exclude each other like two processes do.
//
// The file says who holds it, "PID EPOCH HOST\n", for messages; what it says counts only while it
// is locked. It stays when the lock is released, because unlinking a file that another process has
// just opened would give two processes a lock each. Only deleting the thread unlinks it, under the
// lock; so whoever gets a lock checks that the file it locked is still the one in the directory.
//
// A thread's name is the file's name when it is made of harmless characters; others are
// percent-encoded, and a name that gets too long is hashed.
#include "pons/proc_stat.h"
#include "pons/random.h"
#include "store/sqlite/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME_MAX 200 // bytes of a file name, below every file system's 255
#define LOCK_TEXT_MAX 128 // bytes of a lock file
#define LOCK_TRIES    100 // of opening a file that is being deleted

// ---- helpers ------------------------------------------------------------------------------------

static bool harmless(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

static char *lock_path(const char *dir, const char *thread)
{
    char file[LOCK_NAME_MAX + 1];
    size_t n = 0;
    bool fits = true;
    for (const char *p = thread; *p && fits; p++) {
        // A leading dot would hide the file, or be a directory.
        bool plain = harmless(*p) && !(*p == '.' && p == thread);
        fits = n + 3 < sizeof file;
        if (fits) {
            n += (size_t)snprintf(file + n, sizeof file - n, plain ? "%c" : "%%%02X",
                                  plain ? *p : (unsigned char)*p);
        }
    }
    if (!fits) {
        uint8_t hash[32];
        pons_sha256(thread, strlen(thread), hash);
        n = (size_t)snprintf(file, sizeof file, "%%h");
        for (size_t i = 0; i < sizeof hash; i++) {
            n += (size_t)snprintf(file + n, sizeof file - n, "%02x", hash[i]);
        }
    }
    char *path;
    return asprintf(&path, "%s/%s.lock", dir, file) < 0 ? NULL : path;
}

static int lock_file(int fd, short type, int cmd)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, cmd, &lock);
}

static void read_holder(int fd, lock_holder *ret)
{
    *ret = (lock_holder){0};
    char text[LOCK_TEXT_MAX];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0) {
        return;
    }
    text[n] = '\0';
    long long pid;
    unsigned long long epoch;
    char host[PONS__HOST_MAX];
    if (sscanf(text, "%lld %llu %63[^\n]", &pid, &epoch, host) != 3) {
        return;
    }
    ret->pid = pid;
    ret->epoch = epoch;
    memcpy(ret->host, host, sizeof host);
}

static bool same_file(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

int pons__lock_take(const char *dir, const char *thread, const char *host, int *ret_fd,
                    lock_holder *ret, pons_error *err)
{
    char *path = lock_path(dir, thread);
    int left = 0;
    if (!path) {
        return pons_error_set(err, PONS_ENOMEM, "store", "out of memory");
    }
    int rc = PONS_EAGAIN, fd = -1, code = 0;
    for (int i = 0; i < LOCK_TRIES && rc == PONS_EAGAIN; i++) {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 && errno == ENOENT && (mkdir(dir, 0700) == 0 || errno == EEXIST)) {
            continue;
        }
        if (fd < 0) {
            code = errno;
            break;
        }
        bool held;
        do {
            code = lock_file(fd, F_WRLCK, F_OFD_SETLK) == 0 ? 0 : errno;
            held = code == EAGAIN || code == EACCES;
            if (held) {
                read_holder(fd, ret);
            }
        } while (held && strcmp(ret->host, host) == 0 && pons_process_left_lock(ret->pid, &left));
        if (code) {
            rc = held ? PONS_EBUSY : rc;
            break;
        }
        if (same_file(fd, path)) {
            rc = PONS_OK;
        } else { // deleted between open and lock
            close(fd);
            fd = -1;
        }
    }
    if (rc == PONS_EAGAIN) {
        rc = pons_error_set(err, PONS_EENV, "store", "cannot lock thread %s", thread);
        pons_error_source(err, "%s", path);
        pons_error_cause(err, "%s", strerror(code));
    }
    if (rc && fd >= 0) {
        close(fd);
    } else if (!rc) {
        *ret_fd = fd;
    }
    free(path);
    return rc;
}

int pons__lock_write(int fd, const lock_holder *h)
{
    char text[LOCK_TEXT_MAX];
    int n = snprintf(text, sizeof text, "%lld %llu %s\n", (long long)h->pid,
                     (unsigned long long)h->epoch, h->host);
    if (pwrite(fd, text, (size_t)n, 0) != n) {
        return -1;
    }
    return ftruncate(fd, n);
}

void pons__lock_drop(int fd)
{
    if (fd < 0) {
        return;
    }
    if (ftruncate(fd, 0) != 0) {
        (void)0; // only a comment for people; the lock is what counts
    }
    close(fd);
}

void pons__lock_remove(const char *dir, const char *thread, int fd)
{
    char *path = lock_path(dir, thread);
    if (path) {
        unlink(path);
    }
    free(path);
    pons__lock_drop(fd);
}

bool pons__lock_peek(const char *dir, const char *thread, lock_holder *ret)
{
    char *path = lock_path(dir, thread);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    free(path);
    if (fd < 0) {
        return false;
    }
    struct flock probe = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    bool held = fcntl(fd, F_OFD_GETLK, &probe) == 0 && probe.l_type != F_UNLCK;
    if (held) {
        read_holder(fd, ret);
    }
    close(fd);
    return held;
}
