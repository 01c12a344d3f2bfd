// timed.c - runs a test and writes what it used: `timed FILE NAME PROGRAM [WORD…]` ends as PROGRAM ends, and appends
// one line to FILE: name, wall time and processor time in seconds, separated by tabs. Processes that the test
// started and left belong to it: their time counts, and they are ended with it. With PONS_EXECUTED=FILE, in a tree
// that counts what is executed (PONS_SANITIZE=coverage), the sources of which some function ran are written there,
// one line a source: name, source.
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
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

// ---- which sources were executed ----------------------------------------------------------------

static char counts[] =
    "/tmp/pons-counts-XXXXXX"; // where the test's processes write their .gcda files
static FILE *executed;
static const char *test;

// A .gcda file of gcc 12: four words, then records of a tag, the bytes of its data, and these. A record of counters
// that are all zero has the bytes that it would have, negative, and no data.
static int some_function_ran(const char *path)
{
    enum { COUNTERS = 0x01a10000 };
    uint32_t head[4], tag;
    int32_t length;
    int ran = 0;
    FILE *f = fopen(path, "rb");
    if (!f) {
        return 0;
    }
    if (fread(head, sizeof head[0], 4, f) == 4) {
        while (!ran && fread(&tag, sizeof tag, 1, f) == 1 &&
               fread(&length, sizeof length, 1, f) == 1) {
            ran = tag == COUNTERS && length > 0;
            if (length > 0 && fseek(f, length, SEEK_CUR) < 0) {
                break;
            }
        }
    }
    fclose(f);
    return ran;
}

// DIR/…/CMakeFiles/TARGET.dir/src/brain/react.c.gcda
static int look_at(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)at;
    const char *source = kind == FTW_F ? strstr(path, ".dir/") : NULL;
    const char *end = source ? strstr(source, ".gcda") : NULL;
    if (end && some_function_ran(path)) {
        fprintf(executed, "%s\t%.*s\n", test, (int)(end - source) - 5, source + 5);
    }
    remove(path);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: timed FILE NAME PROGRAM [WORD…]\n");
        return 2;
    }
    test = argv[2];
    const char *into = getenv("PONS_EXECUTED");
    if (into && mkdtemp(counts)) {
        executed = fopen(into, "a");
        setenv("GCOV_PREFIX", counts, 1);
        setenv("GCOV_ERROR_FILE", "/dev/null", 1); // a process behind a wall can write none
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const double began = now();
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG,
              SIGKILL); // a test that takes too long is killed through this process
#ifdef PONS_FIXED_LAYOUT
        personality(ADDR_NO_RANDOMIZE); // where that may not be asked for, the test does without
#endif
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
    if (executed) {
        nftw(counts, look_at, 16, FTW_DEPTH | FTW_PHYS);
        fclose(executed);
    }
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    char line[512];
    const int n = snprintf(line, sizeof line, "%s\t%.2f\t%.2f\n", argv[2], wall,
                           seconds(used.ru_utime) + seconds(used.ru_stime));
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
