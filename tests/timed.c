// timed.c - runs a test and writes what it used: `timed FILE NAME PROGRAM [WORD…]` ends as PROGRAM ends, and appends
// one line to FILE: name, wall time and processor time in seconds, separated by tabs. Processes that the test
// started and left belong to it: their time counts, and they are ended with it.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Ends what the test left behind. Orphans come to this process (PR_SET_CHILD_SUBREAPER).
static void end_orphans(void)
{
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (;;) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        FILE *f = fopen(path, "r");
        const char *read = f ? fgets(line, sizeof line, f) : NULL;
        if (f) {
            fclose(f);
        }
        if (!read) {
            return;
        }
        for (char *at = line, *end; *at && *at != '\n'; at = end) {
            const long pid = strtol(at, &end, 10);
            if (end == at) {
                break;
            }
            kill((pid_t)pid, SIGKILL);
            waitpid((pid_t)pid, NULL, 0);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: timed FILE NAME PROGRAM [WORD…]\n");
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const double began = now();
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that takes too long is killed through this process
        execvp(argv[3], argv + 3);
        fprintf(stderr, "%s: %s\n", argv[3], strerror(errno));
        _exit(127);
    }
    if (pid < 0) {
        perror("fork");
        return 1;
    }
    int status = 1, ended = 0;
    for (pid_t child = 0; child != pid;) { // orphans that end meanwhile are waited for too
        child = waitpid(-1, &ended, 0);
        if (child == pid) {
            status = ended;
        }
    }
    const double wall = now() - began;
    end_orphans();
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    char line[512];
    const int n = snprintf(line, sizeof line, "%s\t%.2f\t%.2f\n", argv[2], wall, seconds(used.ru_utime) + seconds(used.ru_stime));
    const int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0 || write(file, line, (size_t)n) != n) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "%s: ended by signal %d\n", argv[2], WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}
