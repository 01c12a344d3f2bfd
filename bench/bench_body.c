// bench_body.c - what the body costs and how fast it stops (docs/internals/benchmarks.md).
//
//   body.sim.*    a whole body - driver, scans, localiser, navigator, safety - stepped in this
//                 process on the virtual clock while it drives between two rooms: robot seconds in
//                 one second of the one processor that it uses.
//   body.stop.*   a body in a process of its own that drives, every core kept busy by others: from
//                 just before a datagram goes to stop.sock until the driver has taken a velocity of
//                 zero, which the acknowledgement dates on the clock that both processes share.
//   body.bare.*   what the machine has of that: before or after each stop, a datagram to a process that does
//                 nothing but wait for it, with the safety thread's priority and its memory locked,
//                 until it is awake.
//   body.pss      `pons body` with the default driver, after a goal.
//   body.plan.*   a body, and two whose heading counts (lattice, hybrid), in a map of 200 × 200 m at 5 cm that
//                 is sent from one corner to the other: until it says how far it is, the processor time of that,
//                 the longest that anybody waits for telemetry meanwhile, and its peak memory above that of one
//                 in the house.
#include "bench.h"
#include "pons/body.h"
#include "pons/drivers.h"
#include "pons/link.h"
#include "pons/module.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#define STEP_NS         (10 * PONS_NS_PER_MS) // of robot time
#define HEARTBEAT_STEPS 10
#define SIM_CPU_S       3.0
#define STOPS           2000
#define STOP_AFTER_S    0.02 // from a new goal to its stop: it is on its way
#define STOP_SETTLE_S   2.0  // for the stopped goal's result
#define EXPIRES_MS      10000
#define SAFETY_PRIORITY 80 // of body_process.c
#define START_TIMEOUT_S 20.0

static volatile sig_atomic_t quit;

// A controller: one end of a link, the epoch that the body gave it, and what it wants next.
typedef struct controller {
    pons_link *link;
    pons_clock clock;
    int64_t epoch;
    char robot_id[64];
    int goals;
    bool busy;             // a goal is under way
    bool resetting;        // and that is not done yet
    bool fifo;             // the safety thread's scheduling, from telemetry
    double heard_s, gap_s; // telemetry: when it came last, the longest time between two
    double way_s;          // when it first said how far it is; 0: not yet
} controller;

static void sim(const char *figure, const pons_robot_ops *robot);
static void sim_mujoco(const char *figure);
static void stop(void);
static int stop_socket(const char *run_dir);
static double stop_once(int fd);
static void reset(controller *c);
static pid_t start_bare(int *ret_fd);
static double bare_once(int fd);
static void print_tail(const char *name, double *values_ms);
static void settle(controller *c, bool want_busy, double most_s);
static void pss(void);
static void say(controller *c, pons_value *msg);
static void hello(controller *c);
static void goal(controller *c);
static void goal_with(controller *c, pons_value *args);
static void listen_all(controller *c);
static void plan(void);
static pons_value *house(void);
static pons_value *building(void);
static pid_t start_body(const char *dir, const pons_value *world);
static void burn(pid_t *pids, long n);
static void reap(pid_t pid);
static void await_hello(controller *c, const char *run_dir, pid_t body);

int main(int argc, char **argv)
{
    pons_value_init();
    if (bench_wants(argc, argv, "body.sim.kinematic")) {
        sim("body.sim.kinematic", &pons_robot_kinematic);
    }
    if (bench_wants(argc, argv, "body.sim.mujoco")) {
        sim_mujoco("body.sim.mujoco");
    }
    if (bench_wants(argc, argv, "body.stop.") || bench_wants(argc, argv, "body.bare.")) {
        stop();
    }
    if (bench_wants(argc, argv, "body.pss")) {
        pss();
    }
    if (bench_wants(argc, argv, "body.plan.")) {
        plan();
    }
    return 0;
}

// ---- simulation speed ---------------------------------------------------------------------------

static void sim_mujoco(const char *figure)
{
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    bench_must(pons_module_load("driver", "mujoco", &ops, &err), &err);
    sim(figure, ops);
}

static void sim(const char *figure, const pons_robot_ops *robot)
{
    pons_error err = PONS_ERROR_INIT;
    pons_clock_manual manual = {.wall_epoch_ms = 1700000000000};
    pons_body_options opts = PONS_BODY_OPTIONS_INIT;
    pons_body *body = NULL;
    pons_link *theirs = NULL;
    controller c = {.clock = pons_clock_from_manual(&manual)};

    opts.robot = robot;
    opts.world = house();
    opts.clock = c.clock;
    opts.seed = 1;
    bench_must(pons_body_create(&opts, &body, &err), &err);
    bench_must(pons_link_pair(&c.link, &theirs, &err), &err);
    bench_must(pons_body_attach(body, theirs, &err), &err);
    hello(&c);

    const double from = bench_cpu_s();
    double took = 0;
    long steps = 0;
    for (; took < SIM_CPU_S; steps++) {
        if (steps % HEARTBEAT_STEPS == 0) {
            say(&c, pons_object("type", json_string("heartbeat"), NULL));
            listen_all(&c);
            if (c.epoch > 0 && !c.busy) {
                goal(&c);
            }
            took = bench_cpu_s() - from;
        }
        manual.now_ns += STEP_NS;
        bench_must(pons_body_step(body, STEP_NS, &err), &err);
    }
    if (c.goals < 2) {
        fprintf(stderr, "bench: %s drove %d goals only\n", figure, c.goals);
    }
    bench_print(figure, (double)pons_body_robot_ns(body) / 1e9 / took, "x real time");

    pons_body_destroy(body);
    pons_link_close(c.link);
    pons_value_unref(opts.world);
}

// ---- protective stop ----------------------------------------------------------------------------

static void stop(void)
{
    char dir[256];
    static double took_ms[STOPS], bare_ms[STOPS];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pid_t *load = calloc((size_t)cores, sizeof *load);
    controller c = {.clock = pons_clock_real()};

    bench_folder(dir, sizeof dir);
    pons_value *world = house();
    const pid_t body = start_body(dir, world);
    pons_value_unref(world);
    await_hello(&c, dir, body);
    int bare_fd = -1;
    const pid_t bare = start_bare(&bare_fd);
    burn(load, cores);
    // This process's own wake-up is not what is measured: it runs below the safety thread, above
    // the load.
    const struct sched_param priority = {.sched_priority = 10};
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        fprintf(stderr,
                "bench: SCHED_FIFO is not permitted here; body.stop is the scheduler's figure\n");
    }

    const int fd = stop_socket(dir);
    for (int i = 0; i < STOPS; i++) {
        reset(&c);
        goal(&c);
        settle(&c, true, STOP_AFTER_S);
        // Whichever comes first meets what the kernel did while this process slept.
        if (i % 2 == 0) {
            took_ms[i] = stop_once(fd);
            bare_ms[i] = bare_once(bare_fd);
        } else {
            bare_ms[i] = bare_once(bare_fd);
            took_ms[i] = stop_once(fd);
        }
        settle(&c, false, STOP_SETTLE_S);
    }
    close(fd);
    close(bare_fd);
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
    if (!c.fifo) {
        fprintf(stderr, "bench: the safety thread has no SCHED_FIFO here\n");
    }
    print_tail("body.stop", took_ms);
    print_tail("body.bare", bare_ms);

    for (long i = 0; i < cores; i++) {
        reap(load[i]);
    }
    reap(body);
    reap(bare);
    pons_link_close(c.link);
    bench_remove(dir);
    free(load);
}

static void print_tail(const char *name, double *values_ms)
{
    static const struct {
        const char *word;
        double q;
    } rows[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s.%s", name, rows[i].word);
        bench_print(line, bench_quantile(values_ms, STOPS, rows[i].q), "ms");
    }
}

// A process that waits for datagrams and answers with the time at which it woke. It is to the
// machine what the safety thread is, and does nothing else.
static pid_t start_bare(int *ret_fd)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) {
        perror("bench: socketpair");
        exit(1);
    }
    const pid_t pid = fork();
    if (pid != 0) {
        close(ends[1]);
        *ret_fd = ends[0];
        return pid;
    }
    const struct sched_param priority = {.sched_priority = SAFETY_PRIORITY};
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 ||
        sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        fprintf(stderr, "bench: the bare process has no SCHED_FIFO or no locked memory\n");
    }
    while (recv(ends[1], &byte, 1, 0) == 1) {
        const double awake_s = bench_now_s();
        if (send(ends[1], &awake_s, sizeof awake_s, 0) < 0) {
            break;
        }
    }
    _exit(0);
}

static double bare_once(int fd)
{
    double awake_s = 0;
    const double from = bench_now_s();
    if (send(fd, "!", 1, 0) != 1 || recv(fd, &awake_s, sizeof awake_s, 0) != sizeof awake_s) {
        fprintf(stderr, "bench: the bare process does not answer\n");
        exit(1);
    }
    return (awake_s - from) * 1e3;
}

static int stop_socket(const char *run_dir)
{
    const struct sockaddr_un self = {.sun_family = AF_UNIX}; // no name: one is given, to answer to
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    const int n = snprintf(at.sun_path, sizeof at.sun_path, "%s/stop.sock", run_dir);
    if (fd < 0 || n < 0 || (size_t)n >= sizeof at.sun_path) {
        fprintf(stderr, "bench: no socket for %s/stop.sock\n", run_dir);
        exit(1);
    }
    if (bind(fd, (const struct sockaddr *)&self, sizeof(sa_family_t)) != 0 ||
        connect(fd, (const struct sockaddr *)&at, sizeof at) != 0) {
        perror("bench: stop.sock");
        exit(1);
    }
    return fd;
}

// One stop [ms]: from just before it is sent to the return of the driver's write of zero.
static double stop_once(int fd)
{
    char answer[64] = "";
    int64_t written_ns = 0;
    const double from = bench_now_s();
    if (send(fd, "stop bench", strlen("stop bench"), 0) < 0 ||
        recv(fd, answer, sizeof answer - 1, 0) <= 0 ||
        sscanf(answer, "stopped %" SCNd64, &written_ns) != 1) {
        fprintf(stderr, "bench: no answer to a stop: '%s'\n", answer);
        exit(1);
    }
    while (strncmp(answer, "latched", strlen("latched")) !=
           0) { // the disk's answer is not measured
        if (recv(fd, answer, sizeof answer, 0) <= 0) {
            perror("bench: stop.sock");
            exit(1);
        }
    }
    return ((double)written_ns / 1e9 - from) * 1e3;
}

// Until the wheels are free: a goal that comes before is refused.
static void reset(controller *c)
{
    const double until = bench_now_s() + STOP_SETTLE_S;
    c->resetting = true;
    say(c, pons_object("type", json_string("reset"), NULL));
    while (c->resetting && bench_now_s() < until) {
        say(c, pons_object("type", json_string("heartbeat"), NULL));
        bench_sleep_s(0.002);
        listen_all(c);
    }
}

// Keeps the body company until a goal is (not) under way, or for most_s.
static void settle(controller *c, bool want_busy, double most_s)
{
    const double until = bench_now_s() + most_s;
    do {
        say(c, pons_object("type", json_string("heartbeat"), NULL));
        bench_sleep_s(0.002);
        listen_all(c);
    } while ((want_busy || c->busy) && bench_now_s() < until);
}

static void on_term(int signal)
{
    (void)signal;
    quit = 1;
}

// A body of the kinematic robot in a process of its own.
static pid_t start_body(const char *dir, const pons_value *world)
{
    const pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    pons_error err = PONS_ERROR_INIT;
    pons_body_options opts = PONS_BODY_OPTIONS_INIT;
    char ledger[300];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, on_term);
    snprintf(ledger, sizeof ledger, "%s/body.ledger", dir);
    opts.robot = &pons_robot_kinematic;
    opts.world = world;
    opts.ledger_path = ledger;
    opts.clock = pons_clock_real();
    opts.auto_reset_sim = true;
    bench_must(pons_body_run(&opts, dir, &quit, &err), &err);
    _exit(0);
}

// One busy process a core.
static void burn(pid_t *pids, long n)
{
    for (long i = 0; i < n; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (volatile unsigned spin = 0;; spin++) {
                continue;
            }
        }
    }
}

static void reap(pid_t pid)
{
    if (pid <= 0) {
        return;
    }
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

// ---- memory -------------------------------------------------------------------------------------

static void pss(void)
{
    char dir[256];
    char run_dir[300];
    const char *program = getenv("PONS_PROGRAM");
    controller c = {.clock = pons_clock_real()};

    if (!program) {
        program = "build/pons";
    }
    bench_folder(dir, sizeof dir);
    snprintf(run_dir, sizeof run_dir, "%s/run", dir);
    const pid_t body = fork();
    if (body == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!freopen("/dev/null", "w", stdout)) {
            _exit(1);
        }
        execl(program, program, "body", "--workspace", dir, "--speed", "10", (char *)NULL);
        _exit(127);
    }
    await_hello(&c, run_dir, body);
    const double until = bench_now_s() + START_TIMEOUT_S;
    for (goal(&c); c.busy && bench_now_s() < until; bench_sleep_s(0.05)) {
        say(&c, pons_object("type", json_string("heartbeat"), NULL));
        listen_all(&c);
    }
    bench_print("body.pss", bench_pss_mib(body), "MiB");
    reap(body);
    pons_link_close(c.link);
    bench_remove(dir);
}

// ---- planning in a large map --------------------------------------------------------------------

#define SIDE_M 200.0
#define ROOM_M 10.0

static void add_box(pons_value *list, double x, double y, double sx, double sy)
{
    char id[32];
    snprintf(id, sizeof id, "b%zu", json_array_size(list));
    json_array_append_new(list, pons_object("id", json_string(id), "x", json_real(x), "y",
                                            json_real(y), "sx", json_real(sx), "sy", json_real(sy),
                                            "kind", json_string("wall"), NULL));
}

// A wall of a room with a door of 1.2 m in it, somewhere else in each.
static void add_wall(pons_value *list, double x, double y, bool upright, int number)
{
    const double door = 2.0 + number * 7 % 11 * 0.5, left = door - 0.6, right = ROOM_M - door - 0.6;
    if (upright) {
        add_box(list, x, y + 0.5 * left, 0.1, left);
        add_box(list, x, y + ROOM_M - 0.5 * right, 0.1, right);
    } else {
        add_box(list, x + 0.5 * left, y, left, 0.1);
        add_box(list, x + ROOM_M - 0.5 * right, y, right, 0.1);
    }
}

// 400 rooms of 10 × 10 m, with doors to all neighbours and two things in each.
static pons_value *building(void)
{
    pons_value *world = house(), *list = json_array();
    const int rooms = (int)(SIDE_M / ROOM_M);
    for (int k = 0; k < 4; k++) {
        const double across = k % 2 ? 0.05 : SIDE_M - 0.05;
        add_box(list, k < 2 ? 0.5 * SIDE_M : across, k < 2 ? across : 0.5 * SIDE_M,
                k < 2 ? SIDE_M : 0.1, k < 2 ? 0.1 : SIDE_M);
    }
    for (int r = 0; r < rooms * rooms; r++) {
        const int column = r % rooms, row = r / rooms;
        const double x = column * ROOM_M, y = row * ROOM_M;
        if (r % rooms > 0) {
            add_wall(list, x, y, true, r);
        }
        if (r / rooms > 0) {
            add_wall(list, x, y, false, 3 * r + 1);
        }
        add_box(list, x + 2.5 + r % 3, y + 7.0, 1.6, 0.8);
        add_box(list, x + 7.0, y + 2.5 + r % 4, 0.8, 1.6);
    }
    json_object_set_new(world, "bounds", json_pack("[i,i,f,f]", 0, 0, SIDE_M, SIDE_M));
    json_object_set_new(world, "start", json_pack("{s:f,s:f,s:f}", "x", 1.5, "y", 1.5, "yaw", 0.0));
    json_object_set_new(json_object_get(world, "map"), "boxes", list);
    json_object_del(world, "mjcf");
    return world;
}

// The most memory that a process has had [MiB].
static double peak_mib(pid_t pid)
{
    char path[64], line[256];
    double kib = 0.0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "VmHWM: %lf", &kib);
    }
    if (f) {
        fclose(f);
    }
    return kib / 1024.0;
}

// Sends a robot to (x, y) and listens until it has a path. Returns its body's peak memory.
typedef struct planned {
    double first_ms, gap_ms, cpu_ms; // cpu: of the body's process until then, all its threads
} planned;

static double cpu_ms_of(pid_t pid)
{
    clockid_t clock;
    struct timespec t = {0};
    return clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0
               ? (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6
               : 0.0;
}

static double plan_once(const pons_value *world, double x, double y, planned *ret)
{
    char dir[256];
    controller c = {.clock = pons_clock_real()};
    bench_folder(dir, sizeof dir);
    const pid_t body = start_body(dir, world);
    await_hello(&c, dir, body);
    settle(&c, false, 1.0);
    for (const double until = bench_now_s() + 1.0; bench_now_s() < until; bench_sleep_s(0.002)) {
        say(&c, pons_object("type", json_string("heartbeat"), NULL));
        listen_all(&c);
    }
    const double sent = bench_now_s(), cpu = cpu_ms_of(body);
    double beat = sent;
    ret->cpu_ms = 0.0;
    c.gap_s = 0.0;
    c.heard_s = sent;
    c.way_s = 0.0;
    goal_with(&c, json_pack("{s:{s:f,s:f}}", "pose", "x", x, "y", y));
    while (c.busy && bench_now_s() < sent + 10.0 &&
           (c.way_s == 0.0 || bench_now_s() < sent + 3.0)) {
        if (bench_now_s() > beat) {
            beat += 0.05;
            say(&c, pons_object("type", json_string("heartbeat"), NULL));
        }
        listen_all(&c);
        if (c.way_s > 0.0 && ret->cpu_ms == 0.0) {
            ret->cpu_ms = cpu_ms_of(body) - cpu;
        }
        bench_sleep_s(0.0005);
    }
    ret->first_ms = c.way_s > 0.0 ? (c.way_s - sent) * 1e3 : 1e4;
    ret->gap_ms = c.gap_s * 1e3;
    const double peak = peak_mib(body);
    reap(body);
    pons_link_close(c.link);
    bench_remove(dir);
    return peak;
}

// A world's robot, with corners or a turning radius as one that is planned for with its heading has them.
static pons_value *shaped(pons_value *world, const char *footprint, double turning_radius_m)
{
    pons_value *robot = json_object_get(world, "robot");
    if (footprint) {
        json_object_del(robot, "radius_m");
        json_object_set_new(robot, "footprint", json_string(footprint));
    }
    if (turning_radius_m > 0.0) {
        json_object_set_new(robot, "turning_radius_m", json_real(turning_radius_m));
    }
    return world;
}

static void plan_with(const char *name, const char *footprint, double turning_radius_m)
{
    char figure[64];
    planned near, far;
    pons_value *small = shaped(house(), footprint, turning_radius_m);
    const double house_mib = plan_once(small, 6.7, 6.4, &near);
    pons_value *large = shaped(building(), footprint, turning_radius_m); // not before: the other
    const double large_mib = plan_once(large, 195.0, 195.0, &far);       // body would have it, too
    const struct {
        const char *what, *unit;
        double value;
    } all[] = {{"first", "ms", far.first_ms},
               {"cpu", "ms", far.cpu_ms},
               {"gap", "ms", far.gap_ms},
               {"memory", "MiB", large_mib - house_mib}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(figure, sizeof figure, "%s.%s", name, all[i].what);
        bench_print(figure, all[i].value, all[i].unit);
    }
    pons_value_unref(small);
    pons_value_unref(large);
}

static void plan(void)
{
    static const char corners[] = "[[0.35, 0.25], [0.35, -0.25], [-0.35, -0.25], [-0.35, 0.25]]";
    plan_with("body.plan", NULL, 0.0);
    plan_with("body.plan.lattice", corners, 0.0);
    plan_with("body.plan.hybrid", corners, 0.4);
}

// ---- a controller -------------------------------------------------------------------------------

static void say(controller *c, pons_value *msg)
{
    pons_error err = PONS_ERROR_INIT;
    bench_must(pons_link_send(c->link, msg, &err), &err);
}

static void hello(controller *c)
{
    say(c, pons_object("type", json_string("hello"), "protocol", json_integer(PONS_LINK_PROTOCOL),
                       "role", json_string("controller"), "name", json_string("bench"), "pid",
                       json_integer(getpid()), NULL));
}

// Connects to a body that is just starting and waits for the epoch that it gives.
static void await_hello(controller *c, const char *run_dir, pid_t body)
{
    char path[320];
    pons_error err = PONS_ERROR_INIT;
    const double until = bench_now_s() + START_TIMEOUT_S;
    snprintf(path, sizeof path, "%s/body.sock", run_dir);
    while (pons_link_connect(path, &c->link, &err) < 0) {
        if (bench_now_s() > until || waitpid(body, NULL, WNOHANG) == body) {
            fprintf(stderr, "bench: no body at %s\n", path);
            exit(1);
        }
        bench_sleep_s(0.01);
    }
    for (hello(c); c->epoch == 0 && bench_now_s() < until; bench_sleep_s(0.005)) {
        listen_all(c);
    }
    if (c->epoch == 0) {
        fprintf(stderr, "bench: the body gave no epoch\n");
        exit(1);
    }
}

// The kitchen and the living room in turn.
static void goal(controller *c)
{
    goal_with(
        c, pons_object("zone", json_string(c->goals % 2 == 0 ? "kitchen" : "living_room"), NULL));
}

// Takes args.
static void goal_with(controller *c, pons_value *args)
{
    char id[33];
    char hash[33];
    pons_value_hash(args, hash);
    snprintf(id, sizeof id, "%08x%024x", (unsigned)getpid(), (unsigned)++c->goals);
    const int64_t boot_ms = c->clock.boot_ns(c->clock.ctx) / PONS_NS_PER_MS;
    say(c,
        pons_object("type", json_string("goal"), "goal_id", json_string(id), "epoch",
                    json_integer(c->epoch), "expires_ms", json_integer(boot_ms + EXPIRES_MS),
                    "robot_id", json_string(c->robot_id), "skill", json_string("navigate_to_pose"),
                    "args", args, "args_hash", json_string(hash), "thread", json_string("bench"),
                    "task_id", json_string("bench"), "attempt", json_integer(1), NULL));
    c->busy = true;
}

static void listen_all(controller *c)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *msg = NULL;
    int got;
    while ((got = pons_link_recv(c->link, &msg, &err)) == 1) {
        const char *type = pons_get_str(msg, "type", "");
        if (strcmp(type, "hello") == 0) {
            c->epoch = pons_get_int(msg, "epoch", 0);
            snprintf(c->robot_id, sizeof c->robot_id, "%s", pons_get_str(msg, "robot_id", ""));
        } else if (strcmp(type, "result") == 0) {
            c->busy = false;
        } else if (strcmp(type, "ok") == 0) {
            c->resetting = false;
        } else if (strcmp(type, "telemetry") == 0) {
            const double now_s = bench_now_s();
            c->fifo = pons_get_bool(msg, "fifo", false);
            c->gap_s = fmax(c->gap_s, now_s - c->heard_s);
            c->heard_s = now_s;
            if (c->way_s == 0.0 && json_is_number(pons_get(msg, "distance_remaining_m"))) {
                c->way_s = now_s;
            }
        } else if (strcmp(type, "error") == 0) {
            fprintf(stderr, "bench: the body says: %s\n", pons_get_str(msg, "message", "?"));
        } else if (strcmp(type, "rejected") == 0) {
            c->busy = false; // a busy machine: the stop was there before the body had read the goal
            fprintf(stderr, "bench: goal rejected: %s\n", pons_get_str(msg, "message", "?"));
        }
        pons_value_unref(msg);
    }
    bench_must(got, &err);
    pons_link_flush(c->link, NULL);
}

static pons_value *house(void)
{
    char path[4096];
    pons_value *world = NULL;
    pons_error err = PONS_ERROR_INIT;
    bench_must(pons_share_path("worlds/house.yaml", path, sizeof path, &err), &err);
    bench_must(pons_world_load(path, &world, &err), &err);
    return world;
}
