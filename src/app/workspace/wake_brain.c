// wake_brain.c - a datagram on run/brain.sock wakes the brain of a workspace: something is in its inbox.
#include "app/workspace/context.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// A socket, or -1; whether its address has room.
static int open_socket(const app_context *c, struct sockaddr_un *ret, bool *ret_fits)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    *ret_fits = snprintf(ret->sun_path, sizeof ret->sun_path, "%s/brain.sock", c->run_dir) <
                (int)sizeof ret->sun_path;
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

bool app_wake_brain(const app_context *c)
{
    struct sockaddr_un address;
    bool fits = false;
    const int fd = open_socket(c, &address, &fits);
    if (fd < 0) {
        return false;
    }
    const bool there = fits && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (there) {
        const ssize_t sent = send(fd, "!", 1, 0);
        (void)sent; // nobody there: the message is in the inbox all the same
    }
    close(fd);
    return there;
}

int app_wake_listen(const app_context *c)
{
    struct sockaddr_un address;
    bool fits = false;
    const int fd = open_socket(c, &address, &fits);
    if (fd < 0 || !fits) {
        return fd; // without it, the next tick looks
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        close(fd); // another brain of this workspace has it: ticks will do here
        return -1;
    }
    unlink(address.sun_path);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        close(fd);
        return -1;
    }
    chmod(address.sun_path, 0600);
    return fd;
}

void app_wake_take(int fd)
{
    char byte[16];
    while (recv(fd, byte, sizeof byte, 0) > 0) {
    }
}
