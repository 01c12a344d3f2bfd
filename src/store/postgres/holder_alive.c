// holder_alive.c - whether the holder of a lease is a process of this host that has ended.
//
// A lease is over in its time, because nobody can know of a holder on another host. On the same one
// it can be known at once: a holder writes which process it is, by the kernel's boot, the namespace
// that its number counts in, and the moment at which it began, and so a number that was given out
// again, or another container's, is not taken for it. Whatever is not known for certain is alive.
#include "pons/proc_stat.h"
#include "store/postgres/postgres.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

void pons__pg_life(char ret[PG_LIFE_MAX], int64_t pid)
{
    char boot[48] = "";
    struct stat ns;
    const uint64_t start = pons_process_start(pid);
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
