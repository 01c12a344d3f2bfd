// bench.h - what the bench programs share: the line they print, percentiles, a folder to work in,
// processes to watch. A program bench_X.c prints figures "X.name"; bench/run.sh joins them with
// bench/goals.tsv.
#ifndef PONS_BENCH_H
#define PONS_BENCH_H

#include "pons/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Do the arguments (beginnings of names; none: all) select this figure, or a family of figures?
static inline bool bench_wants(int argc, char **argv, const char *name)
{
    const size_t m = strlen(name);
    bool wanted = argc < 2;
    for (int i = 1; i < argc; i++) {
        const size_t n = strlen(argv[i]);
        wanted = wanted || strncmp(argv[i], name, n < m ? n : m) == 0;
    }
    return wanted;
}

static inline void bench_print(const char *name, double value, const char *unit)
{
    printf("{\"bench\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"}\n", name, value, unit);
    fflush(stdout);
}

// Ends the program with the error when a status is one.
static inline void bench_must(int status, const pons_error *err)
{
    char line[1200];
    if (status >= 0) {
        return;
    }
    fprintf(stderr, "bench: %s\n", pons_error_line(err, line, sizeof line));
    exit(1);
}

static inline double bench_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Processor time of this process: a figure of one thread that others on the machine do not change.
static inline double bench_cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void bench_sleep_s(double s)
{
    const struct timespec t = {.tv_sec = (time_t)s,
                               .tv_nsec = (long)((s - (double)(time_t)s) * 1e9)};
    nanosleep(&t, NULL);
}

static inline int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

// The q-quantile (nearest rank) of n values, which it sorts.
static inline double bench_quantile(double *values, size_t n, double q)
{
    qsort(values, n, sizeof *values, bench_compare);
    const size_t rank = (size_t)(q * (double)n + 0.999999);
    return values[rank > 0 ? rank - 1 : 0];
}

// A new folder; bench_remove takes it away with all that is in it.
static inline void bench_folder(char *path, size_t cap)
{
    snprintf(path, cap, "%s/pons-bench-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(path)) {
        perror("bench: mkdtemp");
        exit(1);
    }
}

static inline void bench_remove(const char *path)
{
    const pid_t pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

// Proportional set size of a process [MiB]: shared pages count by how many share them. < 0: gone.
static inline double bench_pss_mib(pid_t pid)
{
    char path[64];
    char line[256];
    double kib = -1024;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f) {
        return -1;
    }
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "Pss: %lf", &kib) == 1) {
            break;
        }
    }
    fclose(f);
    return kib / 1024;
}

#endif
