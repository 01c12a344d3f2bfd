// wire_log.c - what a server says beside the protocol, kept: appended to run/mcp-NAME.log, which begins
// anew when it is full; the one before stays as NAME.log.1. A log that cannot be written is silent.
#include "mcp/wire_log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOG_MAX  (1024 * 1024) // bytes; one older file is kept
#define NOTE_MAX 1024

void pons__mcp_log_open(pons__mcp_log *l, const char *path)
{
    *l = (pons__mcp_log){.fd = -1};
    snprintf(l->path, sizeof l->path, "%s", path);
    l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (l->fd >= 0) {
        const off_t size = lseek(l->fd, 0, SEEK_END);
        l->written = size > 0 ? (size_t)size : 0;
    }
}

void pons__mcp_log_bytes(pons__mcp_log *l, const char *bytes, size_t n)
{
    if (l->fd < 0) {
        return;
    }
    if (l->written + n > LOG_MAX) {
        char older[sizeof l->path + 2];
        snprintf(older, sizeof older, "%s.1", l->path);
        close(l->fd);
        rename(l->path, older);
        l->fd = open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        l->written = 0;
        n = n < LOG_MAX ? n : LOG_MAX;
    }
    const ssize_t wrote = l->fd >= 0 ? write(l->fd, bytes, n) : 0;
    l->written += wrote > 0 ? (size_t)wrote : 0;
}

void pons__mcp_log_note(pons__mcp_log *l, const char *fmt, ...)
{
    char text[NOTE_MAX] = "pons: ";
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(text + 6, sizeof text - 7, fmt, ap);
    va_end(ap);
    if (n > 0) {
        size_t len = strlen(text);
        text[len++] = '\n';
        pons__mcp_log_bytes(l, text, len);
    }
}

void pons__mcp_log_close(pons__mcp_log *l)
{
    if (l->fd >= 0) {
        close(l->fd);
    }
    l->fd = -1;
}
