// service.c - the protocol of sd_notify(3): datagrams to the socket that NOTIFY_SOCKET names.
#include "app/service/service.h"

#include "pons/clock.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define US_PER_MS 1000

static struct {
    int fd; // connected; -1: nobody listens
    bool ready_sent;
    int64_t every_ms, fed_ms; // 0: there is no watchdog
} service = {.fd = -1};

static void send_line(const char *text)
{
    if (service.fd >= 0) {
        (void)!send(service.fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

// A model's key, where the environment has none.
static void take_credential(void)
{
    const char *dir = getenv("CREDENTIALS_DIRECTORY");
    char path[4096], key[1024];
    snprintf(path, sizeof path, "%s/openai-api-key", dir ? dir : "");
    FILE *f = dir && !getenv("OPENAI_API_KEY") ? fopen(path, "re") : NULL;
    if (f && fgets(key, sizeof key, f)) {
        key[strcspn(key, "\r\n")] = '\0';
        if (*key) {
            setenv("OPENAI_API_KEY", key, 1);
        }
        explicit_bzero(key, sizeof key);
    }
    if (f) {
        fclose(f);
    }
}

void app_service_open(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET"), *usec = getenv("WATCHDOG_USEC"),
               *pid = getenv("WATCHDOG_PID");
    const size_t n = path ? strlen(path) : 0;
    if (n >= 2 && n < sizeof to.sun_path && (*path == '/' || *path == '@')) {
        memcpy(to.sun_path, path, n);
        to.sun_path[0] = *path == '@' ? '\0' : *path; // of the abstract names
        const socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
        const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, length) == 0) {
            service.fd = fd;
        } else if (fd >= 0) {
            close(fd);
        }
    }
    if (usec && (!pid || strtol(pid, NULL, 10) == (long)getpid())) {
        service.every_ms = strtoll(usec, NULL, 10) / US_PER_MS / 3; // two may be lost
    }
    take_credential();
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

bool app_service_managed(void)
{
    return service.fd >= 0;
}

void app_service_alive(void)
{
    if (service.fd < 0) {
        return;
    }
    const pons_clock clock = pons_clock_real();
    const int64_t now_ms = pons_now_ms(&clock);
    if (!service.ready_sent) {
        service.ready_sent = true;
        send_line("READY=1");
    }
    if (service.every_ms > 0 && now_ms - service.fed_ms >= service.every_ms) {
        service.fed_ms = now_ms;
        send_line("WATCHDOG=1");
    }
}

void app_service_stopping(void)
{
    send_line("STOPPING=1");
}
