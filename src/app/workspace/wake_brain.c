// wake_brain.c - wakes the brain of a workspace: something is in its inbox.
#include "app/workspace/context.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void app_wake_brain(const app_context *c)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/brain.sock", c->run_dir);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return;
    }
    if (n < (int)sizeof address.sun_path) {
        const ssize_t sent = sendto(fd, "!", 1, 0, (struct sockaddr *)&address, sizeof address);
        (void)sent; // nobody there: the message is in the inbox all the same
    }
    close(fd);
}
