// life.c - whether the holder of a lease is a process of this host that has ended.
//
// A lease is over in its time, because nobody can know of a holder on another host. On the same one
// it can be known at once: a holder writes which process it is, by the kernel's boot, the namespace
// that its number counts in, and the moment at which it began, and so a number that was given out
// again, or another container's, is not taken for it. Whatever is not known for certain is alive.
#include "store/postgres/postgres.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAT_START                                                                                 \
    22 // proc(5): the field of /proc/PID/stat with the start, in ticks since the boot

static bool read_file(const char *path, char *ret, size_t cap)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, ret, cap - 1);
    if (fd >= 0) {
        close(fd);
    }
    ret[n > 0 ? n : 0] = '\0';
    return n > 0;
}

// Its start; 0: there is no such process, or it has ended and nobody has taken its status yet.
static uint64_t start_of(int64_t pid)
{
    char path[64], text[1024], state = 'X';
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    if (!read_file(path, text, sizeof text)) {
        return 0;
    }
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

void pons__pg_life(char ret[PG_LIFE_MAX], int64_t pid)
{
    char boot[48] = "";
    struct stat ns;
    const uint64_t start = start_of(pid);
    ret[0] = '\0';
    if (start && read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot) &&
        stat("/proc/self/ns/pid", &ns) == 0) {
        boot[strcspn(boot, "\n")] = '\0';
        snprintf(ret, PG_LIFE_MAX, "%s:%" PRIu64 ":%" PRIu64, boot, (uint64_t)ns.st_ino, start);
    }
}

bool pons__pg_dead(const char *mine, int64_t pid, const char *life)
{
    const char *my_start = strrchr(mine, ':'), *start = strrchr(life, ':');
    if (!my_start || !start || my_start - mine != start - life ||
        strncmp(mine, life, (size_t)(start - life)) != 0) {
        return false; // of another boot or another namespace: who knows
    }
    char now[PG_LIFE_MAX];
    pons__pg_life(now, pid);
    return strcmp(now, life) != 0;
}
