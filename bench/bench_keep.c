// bench_keep.c - what tasks leave in the store (docs/internals/benchmarks.md).
//
//   brain.task.bytes      the file, log included, after 1,000 tasks that drive, by the task
//   brain.task.pss        what the process's memory grew by over the second half of them
//   brain.task.poll.max   the longest poll of those, in processor time: rows are taken away in them
//   brain.task.poll.slow  how many in a million took more than 5 ms
//   brain.queue300.bytes  the file after 300 goals that were said at once have been met
//   brain.year.bytes      the largest the file gets in a year of ten tasks a day (a hundredth of 1,000),
//                         when the last 10 keep everything and the rest stays for 30 days
//   brain.year.growth     its size at the end over that after a hundred days
//
// In this process: a brain with a SQLite store and the kinematic body, on the virtual clock.
#include "bench.h"
#include "bench_share.h"
#include "pons/body.h"
#include "pons/brain.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "pons/rule_policy.h"

#include <malloc.h>
#include <sys/stat.h>

#define TASKS      1000
#define QUEUE      300
#define STEP_NS    (20 * PONS_NS_PER_MS)
#define DAY_MS     (24 * 3600 * 1000LL)
#define YEAR_DAYS  365
#define YEAR_EARLY 100
#define DAY_TASKS  10
#define SLOW_MS    5.0
#define POLLS      4000000

typedef struct rig {
    char dir[256], path[300];
    pons_clock_manual clock;
    pons_value *intents, *config, *house;
    pons_store store;
    pons_policy rules;
    pons_body *body;
    pons_brain *brain;
    int ended, said;
    double poll_ms; // the longest, in processor time
    int64_t polls, slow;
} rig;

static void task(void);
static void queue(void);
static void year(void);

int main(int argc, char **argv)
{
    pons_value_init();
    if (bench_wants(argc, argv, "brain.task.")) {
        task();
    }
    if (bench_wants(argc, argv, "brain.queue300.")) {
        queue();
    }
    if (bench_wants(argc, argv, "brain.year.")) {
        year();
    }
    return 0;
}

// ---- the rig ------------------------------------------------------------------------------------

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    pons_link *theirs = NULL;
    const int status = pons_link_pair(ret, &theirs, err);
    return status < 0 ? status : pons_body_attach(((rig *)user)->body, theirs, err);
}

static void count_ends(void *user, const pons_event *ev)
{
    ((rig *)user)->ended += strcmp(ev->type, "task.done") == 0;
}

static void brain_open(rig *r);

// keep: of the config's store.keep, or NULL for what is shipped; taken.
static void rig_open(rig *r, pons_value *keep)
{
    pons_error err = PONS_ERROR_INIT;
    char world[4096];
    *r = (rig){.clock = {.wall_epoch_ms = 1700000000000}};
    bench_folder(r->dir, sizeof r->dir);
    snprintf(r->path, sizeof r->path, "%s/pons.db", r->dir);
    bench_must(pons_store_sqlite_open(r->path, &r->store, &err), &err);
    r->intents = bench_share("config/intents.yaml");
    pons_autovalue shipped = bench_share("config/kernel.yaml");
    r->config = json_deep_copy(shipped);
    if (keep) {
        json_object_set_new(json_object_get(r->config, "store"), "keep", keep);
    }
    bench_must(pons_rules_open(r->intents, &r->rules, &err), &err);
    bench_must(pons_share_path("worlds/house.yaml", world, sizeof world, &err), &err);
    bench_must(pons_world_load(world, &r->house, &err), &err);
    pons_body_options body = PONS_BODY_OPTIONS_INIT;
    body.robot = &pons_robot_kinematic;
    body.world = r->house;
    body.clock = pons_clock_from_manual(&r->clock);
    body.seed = 1;
    bench_must(pons_body_create(&body, &r->body, &err), &err);
    brain_open(r);
}

static void brain_open(rig *r)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_brain_options opts = {
        .store = r->store,
        .thread = "bench",
        .clock = pons_clock_from_manual(&r->clock),
        .seed = 1,
        .config = r->config,
        .policy = r->rules,
        .connect = connect_body,
        .on_event = count_ends,
        .user = r,
        .keep_running = true,
    };
    bench_must(pons_brain_open(&opts, &r->brain, &err), &err);
}

// How large the file is, with what is left of its log.
static double size_of(const rig *r)
{
    char log[320];
    struct stat file = {0}, wal = {0};
    snprintf(log, sizeof log, "%s-wal", r->path);
    stat(r->path, &file);
    stat(log, &wal);
    return (double)(file.st_size + wal.st_size);
}

// The robot is switched off until the next day.
static double night(rig *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_brain_close(r->brain);
    pons_store_close(&r->store);
    const double size = size_of(r);
    r->clock.wall_epoch_ms += DAY_MS;
    bench_must(pons_store_sqlite_open(r->path, &r->store, &err), &err);
    brain_open(r);
    return size;
}

// Returns how large the file is in the end.
static double rig_close(rig *r)
{
    pons_brain_close(r->brain);
    pons_body_destroy(r->body);
    pons_rules_close(&r->rules);
    pons_store_close(&r->store);
    pons_value_unref(r->house);
    pons_value_unref(r->intents);
    pons_value_unref(r->config);
    const double size = size_of(r);
    if (!getenv("BENCH_LEAVE")) {
        bench_remove(r->dir);
    } else {
        fprintf(stderr, "%s\n", r->path);
    }
    return size;
}

// Time goes on until so many tasks have ended.
static void run_until(rig *r, int ended)
{
    pons_error err = PONS_ERROR_INIT;
    for (long i = 0; r->ended < ended; i++) {
        if (i > POLLS) {
            fprintf(stderr, "bench: %d of %d tasks ended\n", r->ended, ended);
            exit(1);
        }
        r->clock.now_ns += STEP_NS;
        bench_must(pons_body_step(r->body, STEP_NS, &err), &err);
        const double from = bench_cpu_s();
        bench_must(pons_brain_poll(r->brain, &err), &err);
        const double took_ms = (bench_cpu_s() - from) * 1e3;
        r->poll_ms = took_ms > r->poll_ms ? took_ms : r->poll_ms;
        r->slow += took_ms > SLOW_MS;
        r->polls++;
    }
}

// Goals that differ: one that is said twice is one task.
static void add(rig *r, int n)
{
    char text[QUEUE][40];
    const char *goals[QUEUE];
    pons_error err = PONS_ERROR_INIT;
    for (int i = 0; i < n; i++) {
        if (n == 1) {
            snprintf(text[i], sizeof text[i], "go to the %s",
                     r->said++ % 2 ? "kitchen" : "bedroom");
        } else {
            snprintf(text[i], sizeof text[i], "wait %d.%02d seconds", 1 + i / 100, i % 100);
        }
        goals[i] = text[i];
    }
    bench_must(pons_brain_add_goals(r->brain, goals, (size_t)n, &err), &err);
    run_until(r, r->ended + n);
}

// ---- figures ------------------------------------------------------------------------------------

static void task(void)
{
    rig r;
    rig_open(&r, NULL);
    double half = 0;
    const int n = getenv("BENCH_TASKS") ? atoi(getenv("BENCH_TASKS")) : TASKS;
    for (int i = 0; i < n; i++) {
        add(&r, 1);
        half = i == n / 2 ? bench_pss_mib(getpid()) : half;
        if (getenv("BENCH_HEAP") && i % 50 == 0) {
            const struct mallinfo2 m = mallinfo2();
            fprintf(stderr, "%d tasks: %.2f MiB in use, %.2f MiB arena, pss %.2f\n", i,
                    (double)(m.uordblks + m.hblkhd) / 1048576, (double)m.arena / 1048576,
                    bench_pss_mib(getpid()));
        }
    }
    bench_print("brain.task.poll.max", r.poll_ms, "ms");
    bench_print("brain.task.poll.slow", (double)r.slow / (double)r.polls * 1e6, "ppm");
    bench_print("brain.task.pss", bench_pss_mib(getpid()) - half, "MiB");
    bench_print("brain.task.bytes", rig_close(&r) / TASKS, "B");
}

static void queue(void)
{
    rig r;
    rig_open(&r, NULL);
    add(&r, QUEUE);
    bench_print("brain.queue300.bytes", rig_close(&r), "B");
}

static void year(void)
{
    rig r;
    double largest = 0, early = 0;
    rig_open(&r, json_pack("{s:i, s:f, s:f, s:f}", "tasks", 10, "days", 30.0, "size_mb", 0.0,
                           "audit_days", 30.0));
    for (int day = 0; day < YEAR_DAYS; day++) {
        for (int i = 0; i < DAY_TASKS; i++) {
            add(&r, 1);
        }
        const double size = night(&r);
        largest = size > largest ? size : largest;
        early = day == YEAR_EARLY ? size : early;
    }
    bench_print("brain.year.bytes", largest, "B");
    bench_print("brain.year.growth", rig_close(&r) / early, "x");
}
