// unix_socket.c - addresses and binding of Unix sockets, in one place because the details are easy to get
// wrong: long paths, and the file's mode between bind() and chmod().
#include "link/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET_MODE 0600 // rw for the owner alone

static int address_by_directory(pons__unix_address *a, const char *path, pons_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char dir[4096];
    const size_t dir_len = slash ? (size_t)(slash - path) : 0;
    if (!slash || dir_len >= sizeof dir || strlen(name) > 64) {
        pons_error_set(err, PONS_EINVAL, "link", "the socket's path is too long");
        pons_error_source(err, "%s", path);
        return PONS_EINVAL;
    }
    memcpy(dir, path, dir_len);
    dir[dir_len] = '\0';
    a->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (a->dir < 0) {
        const int rc = errno == ENOENT ? PONS_ENOTFOUND : PONS_EIO;
        pons_error_set(err, rc, "link", "cannot open the socket's directory");
        pons_error_cause(err, "%s", strerror(errno));
        pons_error_source(err, "%s", dir);
        return rc;
    }
    const int n =
        snprintf(a->sa.sun_path, sizeof a->sa.sun_path, "/proc/self/fd/%d/%s", a->dir, name);
    a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n + 1);
    return PONS_OK;
}

int pons__unix_address_init(pons__unix_address *a, const char *path, pons_error *err)
{
    memset(a, 0, sizeof *a);
    a->dir = -1;
    a->sa.sun_family = AF_UNIX;
    const size_t n = strlen(path);
    if (n == 0) {
        return pons_error_set(err, PONS_EINVAL, "link", "a socket needs a path");
    }
    if (n >= sizeof a->sa.sun_path) {
        return address_by_directory(a, path, err);
    }
    memcpy(a->sa.sun_path, path, n + 1);
    a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
    return PONS_OK;
}

void pons__unix_address_fini(pons__unix_address *a)
{
    if (a->dir >= 0) {
        close(a->dir);
    }
    a->dir = -1;
}

int pons__unix_bind(const char *path, int socket_type, pons_error *err)
{
    pons__unix_address a;
    int rc = pons__unix_address_init(&a, path, err);
    if (rc < 0) {
        return rc;
    }
    const int fd = socket(AF_UNIX, socket_type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        rc = pons_error_set(err, PONS_EIO, "link", "cannot make a socket");
        pons_error_cause(err, "%s", strerror(errno));
        goto done;
    }
    // Linux takes a new socket file's mode from the socket's own inode, so there is no moment at
    // which others could open it.
    if (fchmod(fd, SOCKET_MODE) == 0 && bind(fd, (struct sockaddr *)&a.sa, a.len) == 0) {
        rc = fd;
        goto done;
    }
    rc = errno == EADDRINUSE ? PONS_EEXIST : errno == ENOENT ? PONS_ENOTFOUND : PONS_EIO;
    pons_error_set(err, rc, "link", "cannot bind the socket");
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", strerror(errno));
    close(fd);
done:
    pons__unix_address_fini(&a);
    return rc;
}

int pons_datagram_bind(const char *path, pons_error *err)
{
    unlink(path);
    return pons__unix_bind(path, SOCK_DGRAM, err);
}

int pons_datagram_connect(const char *path, pons_error *err)
{
    pons__unix_address a;
    int rc = pons__unix_address_init(&a, path, err);
    if (rc < 0) {
        return rc;
    }
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    // Binding to no name gives the socket one (unix(7), autobind).
    const struct sockaddr_un self = {.sun_family = AF_UNIX};
    const bool connected = fd >= 0 &&
                           bind(fd, (const struct sockaddr *)&self, sizeof(sa_family_t)) == 0 &&
                           connect(fd, (const struct sockaddr *)&a.sa, a.len) == 0;
    const int why = errno;
    pons__unix_address_fini(&a);
    if (connected) {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    rc = why == ENOENT || why == ENOTDIR ? PONS_ENOTFOUND
         : why == ECONNREFUSED           ? PONS_ECLOSED
                                         : PONS_EIO;
    pons_error_set(err, rc, "link", "cannot connect to the socket");
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", strerror(why));
    return rc;
}
