// proc_stat.c - what the kernel says of a process in /proc/PID, and what it shall not say.
#include "pons/proc_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define STAT_START    22 // proc(5): the field with the start
#define LOCK_TRIES    500
#define LOCK_PAUSE_MS 10

uint64_t pons_process_start(int64_t pid)
{
    char path[64], text[1024], state = 'X';
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    char *at = strrchr(text, ')'); // a program's name may have anything in it
    if (!at || sscanf(at + 1, " %c", &state) != 1 || state == 'Z' || state == 'X') {
        return 0;
    }
    at += 2;
    for (int field = 3; at && field < STAT_START; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    uint64_t start = 0;
    return at && sscanf(at, "%" SCNu64, &start) == 1 ? start : 0;
}

bool pons_process_left_lock(int64_t pid, int *tries)
{
    if (pid <= 0 || *tries >= LOCK_TRIES || pons_process_start(pid)) {
        return false;
    }
    ++*tries;
    poll(NULL, 0, LOCK_PAUSE_MS);
    return true;
}

void pons_process_seal(void)
{
    static char *own; // one block for all, which stays
    size_t size = 0, at = 0;
    for (size_t i = 0; environ && environ[i]; i++) {
        size += strlen(environ[i]) + 1;
    }
    char *block = own ? NULL : malloc(size + 1);
    for (size_t i = 0; block && environ && environ[i]; i++) {
        const size_t n = strlen(environ[i]) + 1;
        memcpy(block + at, environ[i], n);
        explicit_bzero(environ[i], n - 1);
        environ[i] = block + at;
        at += n;
    }
    own = block ? block : own;
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // cannot fail with these
}
