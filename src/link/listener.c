// listener.c - the listening end of the body link.
//
// Exactly one process may listen at a path. A lock file beside the socket (PATH.lock, flock) says
// who: without it two starters could each take the other's fresh socket for a stale one and remove
// it. With the lock held, a socket file that is still there belongs to a process that is gone.
//
//   lock PATH.lock --held by another--> PONS_EBUSY with its pid
//        | ours
//        v
//   bind PATH --exists--> does somebody answer? --yes--> PONS_EBUSY with its pid
//        |                        | no: stale
//        |                        +--> unlink, bind again
//        v
//   listen
#include "link/unix_socket.h"
#include "pons/link.h"
#include "pons/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG    16 // connections that wait for accept
#define LOCK_TRIES 8  // times that the lock file may vanish under us before we give up

struct pons_listener {
    int fd;
    int lock_fd;
    char *path, *lock_path;
    dev_t dev; // of the file at path
    ino_t ino;
};

static int busy(const char *path, int64_t pid, pons_error *err)
{
    pons_error_set(err, PONS_EBUSY, "link", "process %lld listens there", (long long)pid);
    pons_error_source(err, "%s", path);
    return PONS_EBUSY;
}

static int64_t lock_owner(int lock_fd)
{
    char text[32] = "";
    const ssize_t n = pread(lock_fd, text, sizeof text - 1, 0);
    return n > 0 ? strtoll(text, NULL, 10) : 0;
}

static int take_lock(pons_listener *s, pons_error *err)
{
    int left = 0;
    for (int i = 0; i < LOCK_TRIES; i++) {
        const int fd = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0) {
            const int rc = errno == ENOENT ? PONS_ENOTFOUND : PONS_EIO;
            pons_error_set(err, rc, "link", "cannot make the socket's lock file");
            pons_error_source(err, "%s", s->lock_path);
            pons_error_cause(err, "%s", strerror(errno));
            return rc;
        }
        bool held = flock(fd, LOCK_EX | LOCK_NB) < 0;
        while (held && pons_process_left_lock(lock_owner(fd), &left)) {
            held = flock(fd, LOCK_EX | LOCK_NB) < 0;
        }
        if (held) {
            const int64_t pid = lock_owner(fd);
            close(fd);
            return busy(s->path, pid, err);
        }
        // Whoever held the lock before may have removed the file as we opened it; a lock on a file
        // without a name protects nothing.
        struct stat ours, named;
        if (fstat(fd, &ours) == 0 && stat(s->lock_path, &named) == 0 &&
            ours.st_ino == named.st_ino && ours.st_dev == named.st_dev) {
            s->lock_fd = fd;
            if (ftruncate(fd, 0) < 0 || dprintf(fd, "%ld\n", (long)getpid()) < 0) {
                return pons_error_set(err, PONS_EIO, "link", "cannot write the lock file");
            }
            return PONS_OK;
        }
        close(fd);
    }
    return pons_error_set(err, PONS_EIO, "link", "the lock file does not stay");
}

static int bind_socket(pons_listener *s, pons_error *err)
{
    int fd = pons__unix_bind(s->path, SOCK_STREAM, err);
    if (fd == PONS_EEXIST) {
        pons_link *owner = NULL;
        if (pons_link_connect(s->path, &owner, NULL) == PONS_OK) {
            const int64_t pid = pons_link_peer_pid(owner);
            pons_link_close(owner);
            return busy(s->path, pid, err);
        }
        unlink(s->path);
        fd = pons__unix_bind(s->path, SOCK_STREAM, err);
    }
    if (fd < 0) {
        return fd;
    }
    struct stat st;
    if (stat(s->path, &st) == 0) {
        s->dev = st.st_dev;
        s->ino = st.st_ino;
    }
    s->fd = fd;
    return PONS_OK;
}

int pons_listener_open(const char *path, pons_listener **ret, pons_error *err)
{
    pons_listener *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a listener");
    }
    s->fd = s->lock_fd = -1;
    s->path = strdup(path);
    if (!s->path || asprintf(&s->lock_path, "%s.lock", path) < 0) {
        free(s->path);
        free(s);
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a listener");
    }
    int rc = take_lock(s, err);
    if (rc == PONS_OK) {
        rc = bind_socket(s, err);
    }
    if (rc == PONS_OK && listen(s->fd, BACKLOG) < 0) {
        rc = pons_error_set(err, PONS_EIO, "link", "cannot listen");
        pons_error_source(err, "%s", path);
        pons_error_cause(err, "%s", strerror(errno));
    }
    if (rc < 0) {
        pons_listener_close(s);
        return rc;
    }
    *ret = s;
    return PONS_OK;
}

int pons_listener_accept(pons_listener *s, pons_link **ret, pons_error *err)
{
    const int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED) {
            return 0;
        }
        pons_error_set(err, PONS_EIO, "link", "cannot accept a connection");
        pons_error_source(err, "%s", s->path);
        pons_error_cause(err, "%s", strerror(errno));
        return PONS_EIO;
    }
    pons_link *l = pons__link_served(fd);
    if (!l) {
        return pons_error_set(err, PONS_ENOMEM, "link", "no memory for a link");
    }
    *ret = l;
    return 1;
}

int pons_listener_fd(const pons_listener *s)
{
    return s->fd;
}

bool pons_listener_reachable(const pons_listener *s)
{
    struct stat st;
    return stat(s->path, &st) == 0 ? st.st_dev == s->dev && st.st_ino == s->ino
                                   : errno != ENOENT && errno != ENOTDIR;
}

void pons_listener_close(pons_listener *s)
{
    if (!s) {
        return;
    }
    if (s->fd >= 0) { // then the lock is ours, and so are both files
        unlink(s->path);
        close(s->fd);
    }
    if (s->lock_fd >= 0) {
        unlink(s->lock_path);
        close(s->lock_fd);
    }
    free(s->path);
    free(s->lock_path);
    free(s);
}
