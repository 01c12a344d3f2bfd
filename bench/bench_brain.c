// bench_brain.c - what the brain costs (docs/internals/benchmarks.md).
//
//   brain.start   from exec of `pons run --json` in an empty workspace to its line run.started: the
//                 goal is then committed. The middle one of 20.
//   brain.pss     that process's memory at the end of a run of two goals, the last of many looks.
//   brain.tick.*  one call of pons_brain_poll in which the 10 Hz kernel tick is due, in this
//                 process: a brain with a SQLite store and a kinematic body on the virtual clock,
//                 the robot driving.
//   brain.cancel.*  the same brain: from the poll that changes the mode to CHARGE to the end of the one
//                   after which its cancel of the motion is on the link.
//   brain.resume.*  a thread whose brain was killed in mid-motion: from its opening until it follows
//                   the motion again, all that the brain itself does.
#include "bench.h"
#include "bench_share.h"
#include "pons/body.h"
#include "pons/brain.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "pons/rule_policy.h"

#include <sys/prctl.h>

#define STARTS         20
#define TICKS          3000
#define STEP_NS        (10 * PONS_NS_PER_MS)
#define TICK_NS        (100 * PONS_NS_PER_MS)
#define LINE_BYTES     65536
#define CANCELS        200
#define RESUMES        100
#define PATIENCE       6000 // steps
#define STEPS_OF_A_WAY 80
#define LOW_PCT        18.0
#define FULL_PCT       95.0

// A brain with a SQLite store and a kinematic body, on a clock of their own.
typedef struct rig {
    char dir[256];
    pons_clock_manual manual;
    pons_body *body;
    pons_brain *brain;
    pons_link *brain_end, *body_end; // between them: what is said goes through here
    pons_store store;
    pons_policy rules;
    pons_value *intents, *config, *house;
    bool accepted, changed, cancelled, adopted; // what it has told
} rig;

static void start(void);
static void pss(void);
static void tick(void);
static void pass_on(pons_link *from, pons_link *to, bool *ret_cancelled);
static void cancel(void);
static void resume(void);
static void on_event(void *user, const pons_event *ev);
static void battery(rig *r, double pct);
static FILE *run(const char *workspace, const char *const *words, pid_t *ret_pid);
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
    if (bench_wants(argc, argv, "brain.cancel.")) {
        cancel();
    }
    if (bench_wants(argc, argv, "brain.resume.")) {
        resume();
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

static void rig_open(rig *r)
{
    char path[300], world[4096];
    pons_error err = PONS_ERROR_INIT;
    *r = (rig){.manual = {.wall_epoch_ms = 1700000000000}};
    bench_folder(r->dir, sizeof r->dir);
    snprintf(path, sizeof path, "%s/pons.db", r->dir);
    bench_must(pons_store_sqlite_open(path, &r->store, &err), &err);
    r->intents = bench_share("config/intents.yaml");
    r->config = bench_share("config/kernel.yaml");
    bench_must(pons_rules_open(r->intents, &r->rules, &err), &err);
    bench_must(pons_share_path("worlds/house.yaml", world, sizeof world, &err), &err);
    bench_must(pons_world_load(world, &r->house, &err), &err);
    pons_body_options body = PONS_BODY_OPTIONS_INIT;
    body.robot = &pons_robot_kinematic;
    body.world = r->house;
    body.clock = pons_clock_from_manual(&r->manual);
    body.seed = 1;
    bench_must(pons_body_create(&body, &r->body, &err), &err);
}

static void rig_brain(rig *r)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_brain_options opts = {
        .store = r->store,
        .thread = "bench",
        .clock = pons_clock_from_manual(&r->manual),
        .seed = (uint64_t)r->manual.now_ns + 1,
        .config = r->config,
        .policy = r->rules,
        .connect = connect_body,
        .on_event = on_event,
        .user = r,
        .keep_running = true,
    };
    bench_must(pons_brain_open(&opts, &r->brain, &err), &err);
}

// Many goals, so that the robot always has one.
static void rig_goals(rig *r, size_t times)
{
    const char *goals[] = {"patrol the kitchen and the bedroom and the living room",
                           "go to the study", "go to the kitchen", "go to the living room"};
    pons_error err = PONS_ERROR_INIT;
    for (size_t i = 0; i < times; i++) {
        bench_must(pons_brain_add_goals(r->brain, goals, sizeof goals / sizeof *goals, &err), &err);
    }
}

// 10 ms of the body, and the brain's turn: how long that took [s].
static double rig_step(rig *r)
{
    pons_error err = PONS_ERROR_INIT;
    r->manual.now_ns += STEP_NS;
    bench_must(pons_body_step(r->body, STEP_NS, &err), &err);
    const double from = bench_now_s();
    bench_must(pons_brain_poll(r->brain, &err), &err);
    const double took = bench_now_s() - from;
    pass_on(r->brain_end, r->body_end, &r->cancelled);
    pass_on(r->body_end, r->brain_end, NULL);
    return took;
}

// Everything that is said from one end to the other; notes a cancel.
static void pass_on(pons_link *from, pons_link *to, bool *ret_cancelled)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *msg = NULL;
    while (from && to && pons_link_recv(from, &msg, &err) == 1) {
        if (ret_cancelled && strcmp(pons_get_str(msg, "type", ""), "cancel") == 0) {
            *ret_cancelled = true;
        }
        pons_link_send(to, msg, &err);
        msg = NULL;
    }
}

static void rig_close(rig *r)
{
    pons_brain_close(r->brain);
    pons_link_close(r->brain_end);
    pons_link_close(r->body_end);
    pons_body_destroy(r->body);
    pons_rules_close(&r->rules);
    pons_store_close(&r->store);
    pons_value_unref(r->house);
    pons_value_unref(r->intents);
    pons_value_unref(r->config);
    bench_remove(r->dir);
}

static void tick(void)
{
    static double took_us[TICKS];
    int64_t due_ns = 0;
    rig r;
    rig_open(&r);
    rig_brain(&r);
    rig_goals(&r, 1);
    for (int n = 0; n < TICKS;) {
        const double took = rig_step(&r);
        if (r.manual.now_ns < due_ns) {
            continue;
        }
        due_ns = r.manual.now_ns + TICK_NS;
        took_us[n++] = took * 1e6;
    }
    bench_print("brain.tick.p50", bench_quantile(took_us, TICKS, 0.5), "us");
    bench_print("brain.tick.p99", bench_quantile(took_us, TICKS, 0.99), "us");
    rig_close(&r);
}

// ---- a mode that changes, a brain that died -----------------------------------------------------

// Steps until the navigation is under way.
static void drive(rig *r)
{
    r->accepted = false;
    for (int i = 0; i < PATIENCE && !r->accepted; i++) {
        rig_step(r);
    }
    for (int i = 0; i < STEPS_OF_A_WAY; i++) {
        rig_step(r);
    }
}

// The battery falls: the brain's turn from the poll that changes the mode to the one after which its
// cancel of the motion is on the link.
static void cancel(void)
{
    static double took_ms[CANCELS];
    rig r;
    rig_open(&r);
    rig_brain(&r);
    rig_goals(&r, CANCELS / 4);
    for (int n = 0; n < CANCELS; n++) {
        drive(&r);
        battery(&r, LOW_PCT);
        r.changed = r.cancelled = false;
        double spent = 0.0;
        for (int i = 0; i < PATIENCE && !r.cancelled; i++) {
            const double took = rig_step(&r);
            spent = r.changed ? spent + took : 0.0;
        }
        took_ms[n] = spent * 1e3;
        battery(&r, FULL_PCT);
        for (int i = 0; i < STEPS_OF_A_WAY; i++) {
            rig_step(&r);
        }
    }
    bench_print("brain.cancel.p50", bench_quantile(took_ms, CANCELS, 0.5), "ms");
    bench_print("brain.cancel.p99", bench_quantile(took_ms, CANCELS, 0.99), "ms");
    rig_close(&r);
}

// From the opening of a thread whose brain was killed while the robot drove to the poll after which
// it has adopted the motion, on its store: what the brain itself takes of a resume.
static void resume(void)
{
    static double took_ms[RESUMES];
    rig r;
    rig_open(&r);
    rig_brain(&r);
    rig_goals(&r, RESUMES / 4);
    for (int n = 0; n < RESUMES; n++) {
        drive(&r);
        pons_brain_kill(r.brain);
        r.adopted = false;
        double spent = bench_now_s();
        rig_brain(&r);
        spent = bench_now_s() - spent;
        for (int i = 0; i < PATIENCE && !r.adopted; i++) {
            spent += rig_step(&r);
            pons_autovalue status = pons_brain_status(r.brain);
            r.adopted = json_array_size(pons_get(status, "skills")) > 0;
        }
        took_ms[n] = spent * 1e3;
    }
    bench_print("brain.resume.p50", bench_quantile(took_ms, RESUMES, 0.5), "ms");
    bench_print("brain.resume.p99", bench_quantile(took_ms, RESUMES, 0.99), "ms");
    rig_close(&r);
}

static void battery(rig *r, double pct)
{
    pons_error err = PONS_ERROR_INIT;
    bench_must(pons_link_send(
                   r->body_end,
                   pons_object("type", json_string("world.battery"), "pct", json_real(pct), NULL),
                   &err),
               &err);
}

static void on_event(void *user, const pons_event *ev)
{
    rig *r = user;
    const char *state = pons_get_str(ev->payload, "state", "");
    const char *skill = pons_get_str(ev->payload, "skill", "");
    if (strcmp(ev->type, "mode") == 0) {
        r->changed = true;
    } else if (strcmp(ev->type, "effect") == 0) {
        r->accepted = r->accepted ||
                      (strcmp(skill, "navigate_to_pose") == 0 && strcmp(state, "accepted") == 0);
    }
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    rig *r = user;
    pons_link *theirs = NULL;
    pons_link_close(r->brain_end);
    pons_link_close(r->body_end);
    r->brain_end = r->body_end = NULL;
    int status = pons_link_pair(ret, &r->brain_end, err);
    status = status < 0 ? status : pons_link_pair(&r->body_end, &theirs, err);
    return status < 0 ? status : pons_body_attach(r->body, theirs, err);
}
