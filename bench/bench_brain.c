// bench_brain.c - what the brain costs (docs/benchmarks.md).
//
//   brain.start   from exec of `pons run --json` in an empty workspace to its line run.started: the
//                 goal is then committed. The middle one of 20.
//   brain.pss     that process's memory at the end of a run of two goals, the last of many looks.
//   brain.tick.*  one call of pons_brain_poll in which the 10 Hz kernel tick is due, in this
//                 process: a brain with a SQLite store and a kinematic body on the virtual clock,
//                 the robot driving.
#include "bench.h"
#include "pons/body.h"
#include "pons/brain.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "pons/policy.h"
#include "pons/yaml.h"

#include <sys/prctl.h>

#define STARTS     20
#define TICKS      3000
#define STEP_NS    (10 * PONS_NS_PER_MS)
#define TICK_NS    (100 * PONS_NS_PER_MS)
#define LINE_BYTES 65536

static void start(void);
static void pss(void);
static void tick(void);
static FILE *run(const char *workspace, const char *const *words, pid_t *ret_pid);
static pons_value *load(const char *relative);
static int connect_body(void *user, pons_link **ret, pons_error *err);

int main(int argc, char **argv)
{
    pons_value_init();
    if (bench_wants(argc, argv, "brain.start")) {
        start();
    }
    if (bench_wants(argc, argv, "brain.pss")) {
        pss();
    }
    if (bench_wants(argc, argv, "brain.tick.")) {
        tick();
    }
    return 0;
}

// ---- the program --------------------------------------------------------------------------------

static void start(void)
{
    static const char *const words[] = {"--driver", "kinematic",     "--speed",
                                        "20",       "wait 1 second", NULL};
    static char line[LINE_BYTES];
    double took_ms[STARTS];
    for (int i = 0; i < STARTS; i++) {
        char dir[256];
        pid_t pid;
        bench_folder(dir, sizeof dir);
        const double from = bench_now_s();
        FILE *events = run(dir, words, &pid);
        took_ms[i] = -1;
        while (fgets(line, sizeof line, events)) {
            if (took_ms[i] < 0 && strstr(line, "\"run.started\"")) {
                took_ms[i] = (bench_now_s() - from) * 1e3;
            }
        }
        fclose(events);
        waitpid(pid, NULL, 0);
        bench_remove(dir);
        if (took_ms[i] < 0) {
            fprintf(stderr, "bench: a run did not start\n");
            exit(1);
        }
    }
    bench_print("brain.start", bench_quantile(took_ms, STARTS, 0.5), "ms");
}

static void pss(void)
{
    static const char *const words[] = {"--speed", "5", "去厨房", "go back to the living room",
                                        NULL};
    static char line[LINE_BYTES];
    char dir[256];
    pid_t pid;
    double last = -1;
    bench_folder(dir, sizeof dir);
    FILE *events = run(dir, words, &pid);
    while (fgets(line, sizeof line, events)) {
        const double now = bench_pss_mib(pid); // < 0 when the last lines are read after its end
        last = now > 0 ? now : last;
    }
    fclose(events);
    waitpid(pid, NULL, 0);
    bench_remove(dir);
    bench_print("brain.pss", last, "MiB");
}

// Starts `pons run --json --workspace …`; its events come through the returned stream.
static FILE *run(const char *workspace, const char *const *words, pid_t *ret_pid)
{
    const char *program = getenv("PONS_PROGRAM") ? getenv("PONS_PROGRAM") : "build/pons";
    const char *args[16] = {program, "run", "--json", "--workspace", workspace};
    int out[2];
    for (size_t n = 5; *words && n < 15; n++) {
        args[n] = *words++;
    }
    if (pipe(out) != 0) {
        perror("bench: pipe");
        exit(1);
    }
    *ret_pid = fork();
    if (*ret_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execv(program, (char *const *)args);
        _exit(127);
    }
    close(out[1]);
    return fdopen(out[0], "r");
}

// ---- the kernel tick ----------------------------------------------------------------------------

static void tick(void)
{
    char dir[256];
    char path[300];
    pons_error err = PONS_ERROR_INIT;
    pons_clock_manual manual = {.wall_epoch_ms = 1700000000000};
    pons_body_options body_opts = PONS_BODY_OPTIONS_INIT;
    pons_body *body = NULL;
    pons_brain *brain = NULL;
    pons_store store = {0};
    pons_policy rules = {0};
    static double took_us[TICKS];
    const char *goals[] = {"patrol the kitchen and the bedroom and the living room",
                           "go to the study", "go to the kitchen", "go to the living room"};

    bench_folder(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/pons.db", dir);
    bench_must(pons_store_sqlite_open(path, &store, &err), &err);
    pons_value *intents = load("config/intents.yaml");
    pons_value *config = load("config/kernel.yaml");
    bench_must(pons_rules_open(intents, &rules, &err), &err);

    char world[4096];
    pons_value *house = NULL;
    bench_must(pons_share_path("worlds/house.yaml", world, sizeof world, &err), &err);
    bench_must(pons_world_load(world, &house, &err), &err);
    body_opts.robot = &pons_robot_kinematic;
    body_opts.world = house;
    body_opts.clock = pons_clock_from_manual(&manual);
    body_opts.seed = 1;
    bench_must(pons_body_create(&body_opts, &body, &err), &err);

    const pons_brain_options opts = {
        .store = store,
        .thread = "bench",
        .clock = pons_clock_from_manual(&manual),
        .seed = 1,
        .config = config,
        .policy = rules,
        .connect = connect_body,
        .user = body,
        .keep_running = true,
    };
    bench_must(pons_brain_open(&opts, &brain, &err), &err);
    bench_must(pons_brain_add_goals(brain, goals, sizeof goals / sizeof *goals, &err), &err);

    int64_t due_ns = 0;
    for (int n = 0; n < TICKS;) {
        manual.now_ns += STEP_NS;
        bench_must(pons_body_step(body, STEP_NS, &err), &err);
        const double from = bench_now_s();
        bench_must(pons_brain_poll(brain, &err), &err);
        const double took = bench_now_s() - from;
        if (manual.now_ns < due_ns) {
            continue;
        }
        due_ns = manual.now_ns + TICK_NS;
        took_us[n++] = took * 1e6;
    }
    bench_print("brain.tick.p50", bench_quantile(took_us, TICKS, 0.5), "us");
    bench_print("brain.tick.p99", bench_quantile(took_us, TICKS, 0.99), "us");

    pons_brain_close(brain);
    pons_body_destroy(body);
    pons_rules_close(&rules);
    pons_store_close(&store);
    pons_value_unref(house);
    pons_value_unref(intents);
    pons_value_unref(config);
    bench_remove(dir);
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    pons_link *theirs = NULL;
    const int status = pons_link_pair(ret, &theirs, err);
    return status < 0 ? status : pons_body_attach(user, theirs, err);
}

// A configuration file as a value; the caller's.
static pons_value *load(const char *relative)
{
    char path[4096];
    pons_yaml *yaml = NULL;
    pons_error err = PONS_ERROR_INIT;
    bench_must(pons_share_path(relative, path, sizeof path, &err), &err);
    bench_must(pons_yaml_load(path, &yaml, &err), &err);
    pons_value *v = pons_value_ref(pons_yaml_value(yaml));
    pons_yaml_destroy(yaml);
    return v;
}
