// bench_load.c - what the promises of safety.md take on a machine that has no time (docs/internals/benchmarks.md).
//
// A body and a brain as processes of their own (`pons body`, `pons run`, `pons resume`), and beside
// them the load: stress-ng with a processor's work for every core, one that syncs and one that maps
// memory (a busy process for every core where there is no stress-ng), a reader of the body's events a
// thousand times a second, and another brain whose model streams a token every 20 ms.
//
//   load.cyclictest.* cyclictest (rt-tests) with the safety thread's priority in the same minutes, where
//                     it is installed
//   load.machine.*   the machine itself meanwhile: a thread that sleeps until the next millisecond,
//                    and how much later it wakes - fifo: with the safety thread's priority; plain
//   load.killed.*    from kill -9 of a brain whose robot drives until telemetry says that it is held
//                    and stands; .late: how many of them took more than 500 ms
//   load.resume.*    from exec of `pons resume` until telemetry says that the goal goes on
//   load.stop.*      from exec of `pons stop` until it has ended, which is after the wheels have zero
#include "bench.h"
#include "pons/link.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define KILLS           100
#define STOPS           40
#define SETTLE_S        20.0
#define LATE_MS         500.0
#define TAIL_MAX        2000000
#define TICK_NS         1000000
#define SAFETY_PRIORITY 80 // of body_process.c
#define MOVES_MPS       0.15

typedef struct tail {
    const char *name;
    int priority; // 0: none
    double *late_us;
    size_t n;
    pthread_t thread;
} tail;

typedef struct watcher { // an observer of the body
    pons_link *link;
    bool held, latched, goal;
    double v;
} watcher;

static volatile sig_atomic_t over;
static const char *program;
static char dir[256];

static pid_t start(const char *workspace, const char *const *words)
{
    const char *args[16] = {program};
    size_t n = 1;
    for (; words[n - 1] && n < 13; n++) {
        args[n] = words[n - 1];
    }
    args[n] = "--workspace";
    args[n + 1] = workspace;
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execv(program, (char *const *)args);
        _exit(127);
    }
    return pid;
}

static void end(pid_t pid, int signal)
{
    if (pid > 0) {
        kill(pid, signal);
        waitpid(pid, NULL, 0);
    }
}

// ---- the machine's own tail ---------------------------------------------------------------------

static void *sleep_by_milliseconds(void *arg)
{
    tail *t = arg;
    struct timespec due, now;
    const struct sched_param priority = {.sched_priority = t->priority};
    if (t->priority > 0 && pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) != 0) {
        fprintf(stderr, "bench: no SCHED_FIFO here\n");
    }
    clock_gettime(CLOCK_MONOTONIC, &due);
    while (!over && t->n < TAIL_MAX) {
        due.tv_nsec += TICK_NS;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        const double late_ns =
            (double)(now.tv_sec - due.tv_sec) * 1e9 + (double)(now.tv_nsec - due.tv_nsec);
        t->late_us[t->n++] = late_ns / 1e3;
        if (late_ns > TICK_NS) { // what it slept through is not due any more
            due = now;
        }
    }
    return NULL;
}

static void begin_tail(tail *t, const char *name, int priority)
{
    *t = (tail){.name = name, .priority = priority, .late_us = malloc(TAIL_MAX * sizeof(double))};
    if (!t->late_us || pthread_create(&t->thread, NULL, sleep_by_milliseconds, t) != 0) {
        fprintf(stderr, "bench: no thread\n");
        exit(1);
    }
}

static void print_quantiles(const char *name, double *values, size_t n, const char *unit)
{
    static const struct {
        const char *word;
        double q;
    } rows[] = {{"p50", 0.5}, {"p99", 0.99}, {"max", 1.0}};
    for (size_t i = 0; i < 3 && n > 0; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s.%s", name, rows[i].word);
        bench_print(line, bench_quantile(values, n, rows[i].q), unit);
    }
}

static void end_tail(tail *t)
{
    pthread_join(t->thread, NULL);
    for (size_t i = 0; i < t->n; i++) {
        t->late_us[i] /= 1e3; // ms, as all that stands beside it
    }
    print_quantiles(t->name, t->late_us, t->n, "ms");
    free(t->late_us);
}

// ---- the body, watched --------------------------------------------------------------------------

static bool watch_open(watcher *w)
{
    char path[320];
    pons_error err = PONS_ERROR_INIT;
    const double until = bench_now_s() + SETTLE_S;
    snprintf(path, sizeof path, "%s/run/body.sock", dir);
    while (pons_link_connect(path, &w->link, &err) < 0) {
        if (bench_now_s() > until) {
            return false;
        }
        bench_sleep_s(0.02);
    }
    return pons_link_send(w->link,
                          pons_object("type", json_string("hello"), "protocol",
                                      json_integer(PONS_LINK_PROTOCOL), "role",
                                      json_string("observer"), "name", json_string("bench"), NULL),
                          &err) >= 0;
}

// false: the body is gone.
static bool watch_read(watcher *w)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *msg = NULL;
    int got;
    pons_link_flush(w->link, &err);
    while ((got = pons_link_recv(w->link, &msg, &err)) == 1) {
        if (strcmp(pons_get_str(msg, "type", ""), "telemetry") == 0) {
            w->held = pons_get_bool(msg, "held", false);
            w->latched = pons_get_bool(pons_get(msg, "stop"), "latched", false);
            w->goal = json_is_object(pons_get(msg, "goal"));
            w->v = pons_get_num(pons_get(msg, "twist"), "v", 0.0);
        }
        pons_value_unref(msg);
    }
    return got >= 0;
}

static bool drives(const watcher *w)
{
    return w->goal && !w->held && w->v > MOVES_MPS;
}

static bool halted(const watcher *w)
{
    return w->held && w->v < 0.001 && w->v > -0.001;
}

static bool goes_on(const watcher *w)
{
    return w->goal && !w->held;
}

// How long until it is so [ms]; < 0: not within the time.
static double await(watcher *w, bool (*so)(const watcher *), double most_s)
{
    const double from = bench_now_s();
    while (bench_now_s() - from < most_s && watch_read(w)) {
        if (so(w)) {
            return (bench_now_s() - from) * 1e3;
        }
        bench_sleep_s(0.001);
    }
    return -1.0;
}

// ---- the load -----------------------------------------------------------------------------------

static pid_t busy(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned spin = 0;; spin++) {
            continue;
        }
    }
    return pid;
}

// In a file of its own; they end by SIGINT, and take their own children with them.
static pid_t tool(const char *const *words, const char *out)
{
    const pid_t pid = fork();
    if (pid == 0) {
        const int to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        prctl(PR_SET_PDEATHSIG, SIGINT);
        dup2(to, STDOUT_FILENO);
        dup2(to, STDERR_FILENO);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    return pid;
}

static bool is_installed(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/usr/bin/%s", name);
    return access(path, X_OK) == 0;
}

static pid_t stress(long cores)
{
    char n[16];
    snprintf(n, sizeof n, "%ld", cores);
    const char *words[] = {"stress-ng", "--cpu",      n,     "--io",        "1", "--vm",
                           "1",         "--vm-bytes", "64M", "--temp-path", dir, "--quiet",
                           NULL};
    return tool(words, "/dev/null");
}

static pid_t cyclictest(const char *out)
{
    static const char *const words[] = {"cyclictest", "-m", "-q",   "-t", "1",      "-p",
                                        "80",         "-i", "1000", "-h", "100000", NULL};
    return tool(words, out);
}

// Its histogram: how many wake-ups were so many microseconds late.
static void print_cyclictest(const char *out)
{
    static double late_ms[TAIL_MAX];
    char line[128];
    size_t n = 0;
    long us, count;
    double worst_us = 0.0;
    FILE *f = fopen(out, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (line[0] != '#' && sscanf(line, "%ld %ld", &us, &count) == 2) {
            for (; count > 0 && n < TAIL_MAX; count--) {
                late_ms[n++] = (double)us / 1e3;
            }
        } else {
            sscanf(line, "# Max Latencies: %lf", &worst_us);
        }
    }
    if (f) {
        fclose(f);
    }
    if (n > 0 && n < TAIL_MAX && worst_us / 1e3 > late_ms[n - 1]) {
        late_ms[n++] = worst_us / 1e3; // beyond the histogram
    }
    print_quantiles("load.cyclictest", late_ms, n, "ms");
}

static pid_t reader(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        watcher w = {.held = false};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!watch_open(&w)) {
            _exit(1);
        }
        while (watch_read(&w)) {
            bench_sleep_s(0.001);
        }
        _exit(0);
    }
    return pid;
}

// Another brain, with another body, whose model says one long word.
static pid_t streaming(char *folder, size_t cap, pid_t *ret_body)
{
    static const char *const body[] = {"body", "--driver", "kinematic", NULL};
    char path[300], spec[320];
    bench_folder(folder, cap);
    *ret_body = start(folder, body);
    snprintf(path, sizeof path, "%s/long.yaml", folder);
    FILE *f = fopen(path, "w");
    if (!f || fputs("replies:\n  - decision: {type: CONTINUE, reason: so it goes}\n"
                    "    delay_ms: 18000\n    tokens: 900\n    repeat: true\n",
                    f) < 0) {
        fprintf(stderr, "bench: cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
    snprintf(spec, sizeof spec, "script:%s", path);
    const char *words[] = {"run", "--json",   "--driver", "kinematic", "--llm",
                           spec,  "--stream", "messages", "去厨房",    NULL};
    return start(folder, words);
}

// ---- the figures --------------------------------------------------------------------------------

static void kill_and_resume(watcher *w)
{
    static const char *const run[] = {"run",
                                      "--json",
                                      "--thread",
                                      "bench",
                                      "patrol the kitchen and the bedroom and the study",
                                      "去客厅",
                                      "patrol the study and the bedroom and the kitchen",
                                      "去书房",
                                      NULL};
    static const char *const resume[] = {"resume", "--json", "bench", NULL};
    static double killed_ms[KILLS], resumed_ms[KILLS];
    size_t kills = 0, resumes = 0, late = 0;
    pid_t brain = start(dir, run);
    for (int tries = 0; kills < KILLS && tries < 3 * KILLS; tries++) {
        if (await(w, drives, SETTLE_S) < 0) { // its tasks are done
            end(brain, SIGTERM);
            brain = start(dir, run);
            continue;
        }
        kill(brain, SIGKILL);
        const double took = await(w, halted, SETTLE_S);
        waitpid(brain, NULL, 0);
        if (took >= 0.0) {
            killed_ms[kills++] = took;
            late += took > LATE_MS;
        }
        brain = start(dir, resume);
        const double back = await(w, goes_on, SETTLE_S);
        if (back >= 0.0) {
            resumed_ms[resumes++] = back;
        }
    }
    end(brain, SIGTERM);
    print_quantiles("load.killed", killed_ms, kills, "ms");
    bench_print("load.killed.n", (double)kills, "kills");
    bench_print("load.killed.late", (double)late, "of them");
    print_quantiles("load.resume", resumed_ms, resumes, "ms");
}

static void stop_by_command(void)
{
    static const char *const stop[] = {"stop", "bench", NULL};
    static const char *const reset[] = {"reset", NULL};
    static double took_ms[STOPS];
    for (size_t i = 0; i < STOPS; i++) {
        const double from = bench_now_s();
        waitpid(start(dir, stop), NULL, 0);
        took_ms[i] = (bench_now_s() - from) * 1e3;
        waitpid(start(dir, reset), NULL, 0);
    }
    print_quantiles("load.stop", took_ms, STOPS, "ms");
}

int main(int argc, char **argv)
{
    static const char *const body[] = {"body", "--driver", "kinematic", NULL};
    char other[256];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pid_t load[64] = {0};
    tail fifo, plain;
    watcher w = {.held = false};
    pons_value_init();
    if (!bench_wants(argc, argv, "load.")) {
        return 0;
    }
    program = getenv("PONS_PROGRAM") ? getenv("PONS_PROGRAM") : "build/pons";
    bench_folder(dir, sizeof dir);
    const pid_t robot = start(dir, body);
    if (!watch_open(&w)) {
        fprintf(stderr, "bench: no body in %s\n", dir);
        end(robot, SIGTERM);
        return 1;
    }
    size_t n = 0;
    char out[320];
    snprintf(out, sizeof out, "%s/cyclictest", dir);
    const pid_t stressed = is_installed("stress-ng") ? stress(cores) : 0;
    const pid_t cycles = is_installed("cyclictest") ? cyclictest(out) : 0;
    for (long i = 0; !stressed && i < cores && n < 60; i++) {
        load[n++] = busy();
    }
    load[n++] = reader();
    load[n] = streaming(other, sizeof other, &load[n + 1]);
    n += 2;
    begin_tail(&fifo, "load.machine.fifo", SAFETY_PRIORITY);
    begin_tail(&plain, "load.machine.plain", 0);
    kill_and_resume(&w);
    stop_by_command();
    over = 1;
    end_tail(&fifo);
    end_tail(&plain);
    end(cycles, SIGINT);
    end(stressed, SIGINT);
    print_cyclictest(out);
    while (n > 0) {
        end(load[--n], SIGKILL);
    }
    pons_link_close(w.link);
    end(robot, SIGTERM);
    bench_remove(dir);
    bench_remove(other);
    return 0;
}
